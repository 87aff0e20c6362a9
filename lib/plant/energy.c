/* SPDX-License-Identifier: MIT */
/* Energy that a step exchanges with all that is neither mass, gravity nor spring.
 *
 * Work is summed as mean force times stroke: the sum for which the trapezoidal rule balances kinetic energy
 * exactly in the linear case (v'(k+1)^2 - v'(k)^2 = (a(k) + a(k+1)) dz). The sum of powers is as exact but
 * misses that balance. */
#include "lib/plant/coupled_internal.h"
#include "lib/math/vector3.h"

/* Taken by the dampers between points and in joints. */
static double dampers(bramah_coupled *c)
{
  const bramah_model *model = c->model;
  const bramah__forces *forces = &model->forces;
  const bramah__state *state[2] = {&c->state, &c->next};
  const bramah__eval *eval[2] = {c->now, c->trial};
  double *row = c->derivative.row, sum = 0.0;
  for (size_t i = 0; i < forces->n_springs; i++) {
    const bramah__spring *spring = &forces->spring[i];
    double length[2], rate[2] = {0.0, 0.0};
    if (spring->damping == 0.0) continue;
    for (int e = 0; e < 2; e++) {
      length[e] = bramah__line_length(&model->tree, &spring->line, state[e]->z, eval[e]->pose, row);
      for (size_t j = 0; j < model->n; j++) rate[e] += row[j] * state[e]->zd[j];
    }
    sum += 0.5 * spring->damping * (rate[0] + rate[1]) * (length[1] - length[0]);
  }
  for (size_t i = 0; i < forces->n_joint_springs; i++) {
    const bramah__joint_spring *spring = &forces->joint_spring[i];
    const size_t j = spring->joint;
    sum += 0.5 * spring->damping * (state[0]->zd[j] + state[1]->zd[j]) * (state[1]->z[j] - state[0]->z[j]);
  }
  return sum;
}

/* Work of loads at points, along joints and along the lines of actuators. */
static double loads(const bramah_coupled *c)
{
  const bramah_model *model = c->model;
  const bramah__eval *eval[2] = {c->now, c->trial};
  double sum = 0.0;
  for (size_t i = 0; i < model->forces.n_loads; i++) {
    const bramah__load *load = &model->forces.load[i];
    const int axes = load->turns ? load->body : -1;
    double place[2][3], force[2][3], torque[3], way[3];
    for (int e = 0; e < 2 && load->body >= 0; e++) {
      bramah__point(eval[e]->pose, load->body, load->point, place[e]);
      bramah__direction(eval[e]->pose, axes, load->force, force[e]);
      bramah__direction(eval[e]->pose, axes, load->torque, torque);
      sum += 0.5 * model->h * bramah__dot3(torque, eval[e]->Z + 6 * load->body + 3);
    }
    if (load->body < 0) continue;
    bramah__sub3(place[1], place[0], way);
    sum += 0.5 * (bramah__dot3(force[0], way) + bramah__dot3(force[1], way));
  }
  for (size_t j = 0; model->forces.joint_load && j < model->n; j++)
    sum += model->forces.joint_load[j] * (c->next.z[j] - c->state.z[j]);
  for (size_t i = 0; i < model->circuit.n_cylinders; i++)
    sum += model->circuit.cylinder[i].load * (c->trial->s[i] - c->now->s[i]);
  return sum;
}

void bramah__exchange_energy(bramah_coupled *c)
{
  const bramah_model *model = c->model;
  bramah__state *next = &c->next;
  for (size_t i = 0; i < model->circuit.n_cylinders; i++) {
    const double load = model->circuit.cylinder[i].load; /* not the cylinder's work */
    const double ds = c->trial->s[i] - c->now->s[i];
    next->work[i] += 0.5 * (c->now->force[i] - load + (c->trial->force[i] - load)) * ds;
    next->exchange[BRAMAH__FRICTION] += 0.5 * (c->now->friction[i] + c->trial->friction[i]) * ds;
    next->exchange[BRAMAH__STOPS] -= 0.5 * (c->now->stop[i] + c->trial->stop[i]) * ds;
  }
  bramah__drive_forces(model, next, c->trial, next->drive);
  for (size_t i = 0; i < model->n_motions; i++) {
    const size_t j = model->motion[i].joint;
    next->drive_work[i] += 0.5 * (c->state.drive[i] + next->drive[i]) * (next->z[j] - c->state.z[j]);
  }
  next->exchange[BRAMAH__DAMPERS] += dampers(c);
  next->exchange[BRAMAH__LOADS] += loads(c);
}
