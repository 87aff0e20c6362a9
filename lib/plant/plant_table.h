/* SPDX-License-Identifier: MIT */
/* What filters, sensors and analyses ask any plant through its table, the built-in one or somebody else's. */
#ifndef BRAMAH_LIB_PLANT_PLANT_TABLE_H
#define BRAMAH_LIB_PLANT_PLANT_TABLE_H

#include "bramah/plant.h"

/* Can this table be worked with? Errors: see bramah_plant. */
bramah_status bramah__plant_check(const bramah_plant *plant, bramah_diag *diag);

/* The table in full length: what one that has passed bramah__plant_check lacks is NULL. */
bramah_plant bramah__plant_copy(const bramah_plant *plant);

/* Name of error state i < n; valid until the next call. */
const char *bramah__plant_state_name(const bramah_plant *plant, size_t i);

/* d = a - b [n], differences of two vectors of bramah_plant_coordinates, the shorter distance where a state
 * wraps; d may be a. */
void bramah__plant_subtract(const bramah_plant *plant, const double *a, const double *b, double *d);

/* Displacement of error state i by which differences are made: 1e-6 of its scale. */
double bramah__plant_difference_step(const bramah_plant *plant, size_t i);

/* Derivative of output i by the error state, row [n]: the plant's own or, where it has none, central
 * differences through inject, for which `snap` [snapshot_size] and `dx` [n] are scratch. The plant is left as
 * it was. */
bramah_status bramah__plant_output_row(const bramah_plant *plant, size_t i, double *row, void *snap,
                                       double *dx, bramah_diag *diag);

/* Derivative of the independent accelerations, J [n_dof x n]: the plant's own, or differences through
 * inject. Scratch as above, and zdd [2 n_dof]. Errors: E_UNSUPPORTED (the plant does not give its
 * accelerations). */
bramah_status bramah__plant_acceleration_jacobian(const bramah_plant *plant, double *J, void *snap,
                                                  double *dx, double *zdd, bramah_diag *diag);

#endif
