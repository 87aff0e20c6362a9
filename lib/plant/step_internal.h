/* SPDX-License-Identifier: MIT */
/* What the files of one step share. The candidate c->next with its evaluation c->trial belongs to changes
 * [nx] over the step; probes of it use c->probe_state and c->probe. */
#ifndef BRAMAH_LIB_PLANT_STEP_INTERNAL_H
#define BRAMAH_LIB_PLANT_STEP_INTERNAL_H

#include "lib/plant/formulation.h"

static inline size_t bramah__n_mechanical(const bramah_coupled *c)
{
  return c->formulation->n_mechanical(c->model);
}

static inline size_t bramah__n_unknowns(const bramah_coupled *c)
{
  return bramah__n_mechanical(c) + c->model->circuit.n_volumes;
}

/* Candidate positions as the change says; coordinates that are no unknowns follow the correction. */
void bramah__set_positions(const bramah_coupled *c, const bramah__eval *eval, const double *change,
                           const double *correction, bramah__state *next);

/* Place, move and load the candidate. */
bramah_status bramah__place_candidate(bramah_coupled *c, const double *change, bramah__state *next,
                                      bramah__eval *eval);

/* Accelerations of the candidate by the trapezoidal rule. */
void bramah__set_accelerations(const bramah_coupled *c, const double *change, bramah__state *next,
                               const bramah__eval *eval);

/* Mechanical part of the residual: accelerations of the trapezoidal rule put into the equations of motion. */
void bramah__mechanical_residual(bramah_coupled *c, const double *change, bramah__state *next,
                                 bramah__eval *eval, double *f);

/* Hydraulic part: pd of the trapezoidal rule minus u0(p, z, z'). */
void bramah__hydraulic_residual(bramah_coupled *c, const double *change, const double *p, bramah__state *next,
                                bramah__eval *eval, double *f);

/* Factor the tangent at the candidate, whose residual must have been evaluated; x = -J^-1 f with it [nx]. */
bramah_status bramah__tangent_factor(bramah_coupled *c);
void bramah__tangent_solve(bramah_coupled *c, const double *f, double *x);

#endif
