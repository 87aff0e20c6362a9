/* SPDX-License-Identifier: MIT */
/* Heights of columns on a square grid, bilinear between their centres: what a terrain and a machine that stands on it share. */
#ifndef BRAMAH_LIB_TERRAIN_HEIGHTS_H
#define BRAMAH_LIB_TERRAIN_HEIGHTS_H

#include <stddef.h>

/* Column (i, j) has its centre at (origin + (i + 1/2) cell, ...) and the height h[i ny + j]; outside, heights go on as at the border. */
typedef struct bramah__heights {
  size_t nx, ny;
  double cell, origin[2]; /* [m] */
  const double *h;        /* [nx x ny, m] */
} bramah__heights;

/* The nearest four columns of a place and their weights, which add up to one. */
void bramah__heights_corners(const bramah__heights *field, double x, double y, size_t cell[4],
                             double weight[4]);

/* Height at a place, and unless NULL the unit normal there. */
double bramah__heights_at(const bramah__heights *field, double x, double y, double normal[3]);

#endif
