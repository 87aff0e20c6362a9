/* SPDX-License-Identifier: MIT */
/* Outputs that the machine defines, at a state: their shapes of sums, values and derivatives. */
#ifndef BRAMAH_LIB_PLANT_DEFINITIONS_H
#define BRAMAH_LIB_PLANT_DEFINITIONS_H

#include "lib/graph/expr.h"
#include "lib/plant/coupled_internal.h"

/* What the shape makes of the sums q [3], numbers or nodes. Where a length or an angle has no derivative, that is NaN. */
bramah__expr bramah__shape_sums(bramah__sums_shape shape, const bramah__expr *q);

/* Value at a state and its evaluation; of what is summed over time, what is summed. */
double bramah__defined_value(const bramah_model *model, const bramah__state *state, const bramah__eval *eval,
                             const bramah__definition *definition);

/* Derivative by the error state at the present state, which is evaluated, added to row [n_error]. */
void bramah__defined_row(const bramah_coupled *c, const bramah__definition *definition, double *row);

/* The same by the spools, added to by_U [n_spools]. */
void bramah__defined_by_spools(const bramah_coupled *c, const bramah__definition *definition, double *by_U);

#endif
