/* SPDX-License-Identifier: MIT */
/* What the searches for an equilibrium share. */
#ifndef BRAMAH_LIB_LINEAR_REST_INTERNAL_H
#define BRAMAH_LIB_LINEAR_REST_INTERNAL_H

#include "bramah/linear.h"
#include "lib/linear/linearization_internal.h"

/* Sizes that steps are measured by: rad or m, their rates, MPa, full command, bristle and film. */
double bramah__state_size(const bramah_linearization *l, size_t i);

/* Move the state by dx [n] in the order of the linearization; friction states too. */
bramah_status bramah__move_state(bramah_linearization *l, bramah_coupled *c, const double *dx,
                                 bramah_diag *diag);

/* Velocities to zero, spools to where the commands hold them. */
bramah_status bramah__halt(bramah_coupled *c, bramah_diag *diag);

/* The state as a block, to go back to. */
void bramah__keep_state(const bramah_coupled *c, double *snap);
void bramah__return_state(bramah_coupled *c, const double *snap);
size_t bramah__snap_size(const bramah_coupled *c); /* in doubles */

/* Say which joint or volume is out of balance: element k of xd [n], and by how much. */
bramah_status bramah__out_of_balance(const bramah_linearization *l, const bramah_coupled *c, size_t k,
                                     const char *what, bramah_diag *diag);

void bramah__rest_report(const bramah_linearization *l, const bramah_coupled *c, int iterations,
                         bramah_equilibrium_report *report);

#endif
