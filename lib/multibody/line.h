/* SPDX-License-Identifier: MIT */
/* The line between two points on two bodies, along which a cylinder acts: its length and derivatives. A
 * rotary actuator acts along a joint coordinate, which takes the place of the length. */
#ifndef BRAMAH_LIB_MULTIBODY_LINE_H
#define BRAMAH_LIB_MULTIBODY_LINE_H

#include "lib/multibody/tree.h"

typedef struct bramah__line {
  int body[2];        /* -1: ground */
  double point[2][3]; /* body frames */
  int is_coordinate;  /* 1: the length is that of the coordinate `joint`, which may have any sign */
  size_t joint;
} bramah__line;

/* Length s [m] and its derivative by the joint coordinates z, row [n]. A force F that pushes the points apart
 * does the work F ds: its generalised force is row' F. */
double bramah__line_length(const bramah__tree *tree, const bramah__line *line, const double *z,
                           const bramah__pose *pose, double *row);

/* Derivative of the rate s' = row z' by the joint coordinates at constant rates, out [n]. Z [n x 6]:
 * velocities. */
void bramah__line_rate_derivative(const bramah__tree *tree, const bramah__line *line,
                                  const bramah__pose *pose, const double *Z, double *out);

/* A force F(s, s') that pushes the points apart takes row' F off the joint forces M z'' - Q. Add the
 * derivative of this by positions to K, by rates to C [n x n]: F_s = dF/ds, F_v = dF/ds', row [n] as above,
 * rate_row [n] from bramah__line_rate_derivative. */
void bramah__line_add_tangent(const bramah__tree *tree, const bramah__line *line, const bramah__pose *pose,
                              double F, double F_s, double F_v, const double *row, const double *rate_row,
                              double *K, double *C);

#endif
