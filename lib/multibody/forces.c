/* SPDX-License-Identifier: MIT */
#include "lib/graph/equation.h"
#include "lib/multibody/contact_law.h"
#include "lib/multibody/forces.h"
#include "lib/multibody/closure.h"

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
  int at[2] = {line->body[0], line->body[1]};
  while (at[0] != at[1]) { /* joints that carry both ends do not change it */
    const int e = at[1] > at[0], j = at[e];
    double move[3];
    bramah__point_derivative(tree, pose, (size_t)j, place[e], move);
    row[j] = (e ? 1.0 : -1.0) * bramah__dot3(d, move) / s;
    at[e] = tree->link[j].parent;
  }
  return s;
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
      bramah__velocity_derivative(tree, pose, Z, (size_t)j, place[e], v[e], move, turn);
      const double along = bramah__dot3(d, move) / s;
      out[j] += (e ? 1.0 : -1.0) * ((bramah__dot3(move, dd) + bramah__dot3(d, turn)) / s - rate * along / s);
    }
}

void bramah__line_add_tangent(const bramah__tree *tree, const bramah__line *line, const bramah__pose *pose,
                              double F, double F_s, double F_v, const double *row, const double *rate_row,
                              double *K, double *C)
{
  const size_t n = tree->n;
  if (!line->is_coordinate && F != 0.0) {
    /* row = d . move / s: its derivative, times -F. */
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
  for (size_t j = 0; j < n; j++) {
    if (row[j] == 0.0) continue;
    for (size_t k = 0; k < n; k++) {
      K[j * n + k] -= row[j] * (F_s * row[k] + F_v * rate_row[k]);
      C[j * n + k] -= row[j] * F_v * row[k];
    }
  }
}

bramah__expr bramah__limit_force(const bramah__limit *limit, bramah__expr z, bramah__expr zd)
{
  const bramah__expr l[2] = {e_sub(z, e_number(limit->range[0])), e_sub(e_number(limit->range[1]), z)};
  return both_stops(&limit->stop, l, zd);
}

void bramah__evaluate_limits(const bramah__forces *forces, const double *z, const double *zd,
                             bramah__limit_force_at *out)
{
  for (size_t i = 0; i < forces->n_limits; i++) {
    const bramah__limit *limit = &forces->limit[i];
    const double at = z[limit->joint], rate = zd[limit->joint];
    const bramah__expr by_z = bramah__limit_force(limit, e_variable(at), e_number(rate)),
                       by_zd = bramah__limit_force(limit, e_number(at), e_variable(rate));
    out[i] = (bramah__limit_force_at){by_z.value, by_z.slope, by_zd.slope};
  }
}

/* Where a load acts, its force and torque in inertial axes. */
static void place_load(const bramah__load *load, const bramah__pose *pose, double *place, double *force,
                       double *torque)
{
  const int axes = load->turns ? load->body : -1;
  bramah__point(pose, load->body, load->point, place);
  bramah__direction(pose, axes, load->force, force);
  bramah__direction(pose, axes, load->torque, torque);
}

/* tau -= (motion of a place on body by each joint) . force */
static void subtract_point_force(const bramah__tree *tree, const bramah__pose *pose, int body,
                                 const double *place, const double *force, double *tau)
{
  for (int j = body; j >= 0; j = tree->link[j].parent) {
    double move[3];
    bramah__point_derivative(tree, pose, (size_t)j, place, move);
    tau[j] -= bramah__dot3(move, force);
  }
}

void bramah__forces_subtract(const bramah__tree *tree, const bramah__forces *forces, const bramah__pose *pose,
                             const double *Z, const double *z, const double *zd, double *tau)
{
  for (size_t i = 0; i < forces->n_springs; i++) {
    const bramah__spring *spring = &forces->spring[i];
    double place[2][3], d[3], v[2][3], vd[3], pull[3] = {0, 0, 0};
    const double s = span(&spring->line, pose, place, d);
    if (!(s > 0.0)) continue; /* points that coincide have no direction */
    for (int e = 0; e < 2; e++) bramah__point_velocity(Z, spring->line.body[e], place[e], v[e]);
    bramah__sub3(v[1], v[0], vd);
    const double rate = bramah__dot3(d, vd) / s;
    const double tension = spring->stiffness * (s - spring->free_length) + spring->damping * rate;
    bramah__axpy3(tension / s, d, pull);
    subtract_point_force(tree, pose, spring->line.body[0], place[0], pull, tau);
    for (int k = 0; k < 3; k++) pull[k] = -pull[k];
    subtract_point_force(tree, pose, spring->line.body[1], place[1], pull, tau);
  }
  for (size_t i = 0; i < forces->n_joint_springs; i++) {
    const bramah__joint_spring *spring = &forces->joint_spring[i];
    const size_t j = spring->joint;
    tau[j] += spring->stiffness * (z[j] - spring->free_position) + spring->damping * zd[j];
  }
  for (size_t i = 0; i < forces->n_loads; i++) {
    const bramah__load *load = &forces->load[i];
    double place[3], force[3], torque[3];
    place_load(load, pose, place, force, torque);
    subtract_point_force(tree, pose, load->body, place, force, tau);
    for (int j = load->body; j >= 0; j = tree->link[j].parent)
      if (tree->link[j].revolute) tau[j] -= bramah__dot3(pose[j].n, torque);
  }
  for (size_t j = 0; forces->joint_load && j < tree->n; j++) tau[j] -= forces->joint_load[j];
}

double bramah__forces_potential(const bramah__forces *forces, const bramah__pose *pose, const double *z)
{
  double energy = 0.0, place[2][3], d[3];
  for (size_t i = 0; i < forces->n_springs; i++) {
    const bramah__spring *spring = &forces->spring[i];
    const double stretch = span(&spring->line, pose, place, d) - spring->free_length;
    energy += 0.5 * spring->stiffness * stretch * stretch;
  }
  for (size_t i = 0; i < forces->n_joint_springs; i++) {
    const bramah__joint_spring *spring = &forces->joint_spring[i];
    const double turn = z[spring->joint] - spring->free_position;
    energy += 0.5 * spring->stiffness * turn * turn;
  }
  return energy;
}

/* What moves with joint j is (motion of the place) . force + n . torque. */
static void add_load_tangent(const bramah__tree *tree, const bramah__load *load, const bramah__pose *pose,
                             double *K)
{
  const size_t n = tree->n;
  double place[3], force[3], torque[3];
  place_load(load, pose, place, force, torque);
  bramah__add_curvature(tree, pose, &(bramah__mark){load->body, 0, place}, force, -1.0, K);
  for (int j = load->body; j >= 0; j = tree->link[j].parent) {
    double move[3], arm[3], moment[3] = {0, 0, 0};
    bramah__point_derivative(tree, pose, (size_t)j, place, move);
    bramah__cross3(force, move, arm); /* move . (n x force) = n . (force x move) */
    if (tree->link[j].revolute) bramah__cross3(torque, pose[j].n, moment);
    for (int k = load->body; k >= 0; k = tree->link[k].parent) {
      if (!tree->link[k].revolute) continue;
      double *entry = &K[(size_t)j * n + (size_t)k];
      if (load->turns) *entry -= bramah__dot3(pose[k].n, arm) + bramah__dot3(pose[k].n, moment);
      if (k < j) *entry += bramah__dot3(pose[k].n, moment); /* (n_k x n_j) . torque */
    }
  }
}

void bramah__forces_add_tangent(const bramah__tree *tree, const bramah__forces *forces,
                                const bramah__pose *pose, const double *Z, double *row, double *rate_row,
                                double *K, double *C)
{
  for (size_t i = 0; i < forces->n_springs; i++) {
    const bramah__spring *spring = &forces->spring[i];
    double place[2][3], d[3], v[2][3], vd[3];
    const double s = span(&spring->line, pose, place, d);
    if (!(s > 0.0)) continue;
    for (int e = 0; e < 2; e++) bramah__point_velocity(Z, spring->line.body[e], place[e], v[e]);
    bramah__sub3(v[1], v[0], vd);
    const double tension =
        spring->stiffness * (s - spring->free_length) + spring->damping * bramah__dot3(d, vd) / s;
    bramah__line_length(tree, &spring->line, NULL, pose, row);
    bramah__line_rate_derivative(tree, &spring->line, pose, Z, rate_row);
    bramah__line_add_tangent(tree, &spring->line, pose, -tension, -spring->stiffness, -spring->damping, row,
                             rate_row, K, C);
  }
  for (size_t i = 0; i < forces->n_joint_springs; i++) {
    const bramah__joint_spring *spring = &forces->joint_spring[i];
    K[spring->joint * tree->n + spring->joint] += spring->stiffness;
    C[spring->joint * tree->n + spring->joint] += spring->damping;
  }
  for (size_t i = 0; i < forces->n_loads; i++) add_load_tangent(tree, &forces->load[i], pose, K);
}
