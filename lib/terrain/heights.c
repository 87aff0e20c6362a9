/* SPDX-License-Identifier: MIT */
#include "lib/terrain/heights.h"

#include <math.h>

/* Index and weight of the lower of two centres along an axis. */
static size_t lower_centre(double u, size_t n, double *weight)
{
  const double last = (double)n - 1.0, at = u > 0.0 ? (u < last ? u : last) : 0.0;
  size_t i = (size_t)at;
  if (i + 1 >= n && n > 1) i = n - 2;
  *weight = n > 1 ? 1.0 - (at - (double)i) : 1.0;
  return i;
}

void bramah__heights_corners(const bramah__heights *f, double x, double y, size_t cell[4], double weight[4])
{
  double a, b;
  const size_t i = lower_centre((x - f->origin[0]) / f->cell - 0.5, f->nx, &a);
  const size_t j = lower_centre((y - f->origin[1]) / f->cell - 0.5, f->ny, &b);
  const size_t right = f->nx > 1 ? f->ny : 0, up = f->ny > 1 ? 1 : 0;
  cell[0] = i * f->ny + j;
  cell[1] = cell[0] + right;
  cell[2] = cell[0] + up;
  cell[3] = cell[1] + up;
  weight[0] = a * b;
  weight[1] = (1.0 - a) * b;
  weight[2] = a * (1.0 - b);
  weight[3] = (1.0 - a) * (1.0 - b);
}

double bramah__heights_at(const bramah__heights *f, double x, double y, double normal[3])
{
  double a, b;
  const double u = (x - f->origin[0]) / f->cell - 0.5, v = (y - f->origin[1]) / f->cell - 0.5;
  const size_t i = lower_centre(u, f->nx, &a), j = lower_centre(v, f->ny, &b);
  const size_t right = f->nx > 1 ? f->ny : 0, up = f->ny > 1 ? 1 : 0;
  const double *h = f->h + i * f->ny + j;
  const double h00 = h[0], h10 = h[right], h01 = h[up], h11 = h[right + up];
  if (normal) {
    const int beyond_x = u < 0.0 || u > (double)f->nx - 1.0, beyond_y = v < 0.0 || v > (double)f->ny - 1.0;
    const double sx = beyond_x ? 0.0 : (b * (h00 - h10) + (1.0 - b) * (h01 - h11)) / f->cell;
    const double sy = beyond_y ? 0.0 : (a * (h00 - h01) + (1.0 - a) * (h10 - h11)) / f->cell;
    const double scale = 1.0 / sqrt(1.0 + sx * sx + sy * sy);
    normal[0] = sx * scale;
    normal[1] = sy * scale;
    normal[2] = scale;
  }
  return b * (a * h00 + (1.0 - a) * h10) + (1.0 - b) * (a * h01 + (1.0 - a) * h11);
}
