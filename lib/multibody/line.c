/* SPDX-License-Identifier: MIT */
#include "lib/multibody/line.h"
#include "lib/math/vector3.h"
#include "lib/multibody/stiffness.h"

#include <math.h>

/* From point 0 to point 1. */
static double span(const bramah__line *line, const bramah__pose *pose, double place[2][3], double *d)
{
  for (int e = 0; e < 2; e++) bramah__point(pose, line->body[e], line->point[e], place[e]);
  bramah__sub3(place[1], place[0], d);
  return sqrt(bramah__dot3(d, d));
}

double bramah__line_length(const bramah__tree *tree, const bramah__line *line, const double *z,
                           const bramah__pose *pose, double *row)
{
  double place[2][3], d[3];
  for (size_t j = 0; j < tree->n; j++) row[j] = 0.0;
  if (line->is_coordinate) {
    row[line->joint] = 1.0;
    return z[line->joint];
  }
  const double s = span(line, pose, place, d);
  for (int e = 0; e < 2; e++)
    for (int j = line->body[e]; j >= 0; j = tree->link[j].parent) {
      double move[3];
      bramah__point_derivative(tree, pose, (size_t)j, place[e], move);
      row[j] += (e ? 1.0 : -1.0) * bramah__dot3(d, move) / s;
    }
  return s;
}

/* Derivative by z_j of the velocity of a point of body: what joint j moves (its own motion included) is felt
 * at the displaced place, what moves behind it turns with it. */
static void velocity_derivative(const bramah__tree *tree, const bramah__pose *pose, const double *Z, int j,
                                const double *place, const double *velocity, const double *move, double *out)
{
  const double *wj = Z + 6 * j + 3;
  bramah__cross3(wj, move, out);
  if (!tree->link[j].revolute) return;
  double carried[3], behind[3];
  bramah__point_velocity(Z, j, place, carried);
  bramah__sub3(velocity, carried, behind);
  bramah__add_cross3(pose[j].n, behind, out);
}

void bramah__line_rate_derivative(const bramah__tree *tree, const bramah__line *line,
                                  const bramah__pose *pose, const double *Z, double *out)
{
  double place[2][3], d[3], v[2][3], dd[3];
  for (size_t j = 0; j < tree->n; j++) out[j] = 0.0;
  if (line->is_coordinate) return;
  const double s = span(line, pose, place, d);
  for (int e = 0; e < 2; e++) bramah__point_velocity(Z, line->body[e], place[e], v[e]);
  bramah__sub3(v[1], v[0], dd);
  const double rate = bramah__dot3(d, dd) / s;
  for (int e = 0; e < 2; e++)
    for (int j = line->body[e]; j >= 0; j = tree->link[j].parent) {
      double move[3], turn[3];
      bramah__point_derivative(tree, pose, (size_t)j, place[e], move);
      velocity_derivative(tree, pose, Z, j, place[e], v[e], move, turn);
      const double along = bramah__dot3(d, move) / s;
      out[j] += (e ? 1.0 : -1.0) * ((bramah__dot3(move, dd) + bramah__dot3(d, turn)) / s - rate * along / s);
    }
}

/* row = d . move / s: its derivative, times -F. */
static void add_geometric_stiffness(const bramah__tree *tree, const bramah__line *line,
                                    const bramah__pose *pose, double F, const double *row, double *K)
{
  double place[2][3], d[3];
  const double s = span(line, pose, place, d);
  const bramah__mark ends[2] = {{line->body[0], 0, place[0]}, {line->body[1], 0, place[1]}};
  for (int e = 0; e < 2; e++) {
    bramah__add_curvature(tree, pose, &ends[e], d, (e ? -F : F) / s, K);
    bramah__add_products(tree, pose, &ends[e], &ends[e], -F / s, K);
    bramah__add_products(tree, pose, &ends[e], &ends[1 - e], F / s, K);
  }
  for (size_t j = 0; j < tree->n; j++)
    for (size_t k = 0; row[j] != 0.0 && k < tree->n; k++) K[j * tree->n + k] += F / s * row[j] * row[k];
}

void bramah__line_add_tangent(const bramah__tree *tree, const bramah__line *line, const bramah__pose *pose,
                              double F, double F_s, double F_v, const double *row, const double *rate_row,
                              double *K, double *C)
{
  const size_t n = tree->n;
  if (!line->is_coordinate && F != 0.0) add_geometric_stiffness(tree, line, pose, F, row, K);
  for (size_t j = 0; j < n; j++) {
    if (row[j] == 0.0) continue;
    for (size_t k = 0; k < n; k++) {
      K[j * n + k] -= row[j] * (F_s * row[k] + F_v * rate_row[k]);
      C[j * n + k] -= row[j] * F_v * row[k];
    }
  }
}
