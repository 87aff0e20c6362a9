/* SPDX-License-Identifier: MIT */
/* What the formulations of a closed-loop step do differently. The Newton iteration (step.c), the hydraulics
 * and the rule of integration are common. Mechanical unknowns are changes over the step of the independent joint
 * coordinates (partitioning), or of all (augmented Lagrangian, penalty). */
#ifndef BRAMAH_LIB_PLANT_FORMULATION_H
#define BRAMAH_LIB_PLANT_FORMULATION_H

#include "lib/plant/coupled_internal.h"

struct bramah__formulation {
  int all; /* 1: all joint coordinates are unknowns; 0: the others follow the independent ones */
  /* Position stage at the candidate; moves the coordinates that are no unknowns so that the loops close. */
  bramah_status (*place)(const bramah_model *model, bramah__state *next, bramah__eval *eval);
  /* Out-of-balance f of the unknowns at accelerations zdd [n]. */
  void (*imbalance)(const bramah_model *model, const bramah__state *next, bramah__eval *eval,
                    const double *zdd, double *f);
  /* What the constraint forces add to the tangent of the open tree at the candidate: to c->derivative.K, or NULL;
   * and to the leading block of J, whose rows are nx long. Where all coordinates are unknowns. */
  void (*add_stiffness)(bramah_coupled *c);
  void (*add_tangent)(const bramah_coupled *c, double *J, size_t nx);
  /* After a correction: update multipliers; returns 1 if the constraints hold well enough to end. May be
   * NULL. */
  int (*update)(bramah_coupled *c);
  /* After the iteration, on the candidate with rates and accelerations set: projections. May be NULL. */
  bramah_status (*finish)(bramah_coupled *c);
};

extern const bramah__formulation bramah__partitioning;
extern const bramah__formulation bramah__augmented_lagrangian;
extern const bramah__formulation bramah__penalty;

static inline size_t bramah__n_mechanical(const bramah_coupled *c)
{
  return c->formulation->all ? c->model->n : c->model->n_independent;
}

static inline size_t bramah__n_unknowns(const bramah_coupled *c)
{
  return bramah__n_mechanical(c) + c->model->n_first_order;
}

/* The joint of mechanical unknown k. */
static inline size_t bramah__unknown_joint(const bramah_coupled *c, size_t k)
{
  return c->formulation->all ? k : (size_t)c->state.index[c->model->n_dependent + k];
}

#endif
