/* SPDX-License-Identifier: MIT */
/* Energy that a step exchanges with all that is neither mass, gravity nor spring, and what it makes from nothing.
 *
 * Work is summed as mean force times stroke: the sum for which the trapezoidal rule balances kinetic energy
 * exactly in the linear case (v'(k+1)^2 - v'(k)^2 = (a(k) + a(k+1)) dz). The sum of powers is as exact but
 * misses that balance. */
#include "lib/plant/compiled.h"
#include "lib/plant/definitions.h"
#include "lib/math/vector3.h"

#include <math.h>

/* What engines and commanded torques do on their joints. */
static double shafts(const bramah_coupled *c)
{
  const bramah_model *model = c->model;
  double sum = 0.0;
  for (size_t i = 0; i < model->n_shafts; i++) {
    const bramah__shaft *shaft = &model->shaft[i];
    for (size_t a = 0; a < shaft->n_joints; a++) {
      const size_t j = shaft->joint[a];
      sum +=
          0.5 * (c->now->shaft[i].torque[a] + c->trial->shaft[i].torque[a]) * (c->next.z[j] - c->state.z[j]);
    }
  }
  return sum;
}

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

/* Work of loads at points, along joints and along the lines of actuators; of engines and commanded torques. */
static double loads(const bramah_coupled *c)
{
  const bramah_model *model = c->model;
  const bramah__eval *eval[2] = {c->now, c->trial};
  double sum = shafts(c);
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

/* By a point between two bodies: mean force and moment, and mean velocity of the one body against the other, both about the inertial
 * origin, so that the points of a touch may be taken together (step_mechanics.c). */
static double taken_between(const bramah_coupled *c, const bramah__contact *contact, size_t i)
{
  const bramah__eval *eval[2] = {c->now, c->trial};
  const int body[2] = {contact->body, bramah__base_of(contact)};
  double wrench[6] = {0.0}, twist[6] = {0.0}, sum = 0.0;
  for (int e = 0; e < 2; e++) {
    const double *force = eval[e]->contact + 3 * i;
    double place[3];
    bramah__pair_place(contact, eval[e]->pose, place);
    bramah__axpy3(0.5, force, wrench);
    for (int k = 0; k < 3; k++) place[k] *= 0.5;
    bramah__add_cross3(place, force, wrench + 3);
    for (int b = 0; b < 2; b++)
      for (int k = 0; body[b] >= 0 && k < 6; k++) twist[k] += (b ? -0.5 : 0.5) * eval[e]->Z[6 * body[b] + k];
  }
  for (int k = 0; k < 6; k++) sum += wrench[k] * twist[k];
  return -c->model->h * sum;
}

/* Taken by a brake or clutch, along the joints where it rubs. */
static double taken_by_rubbing(const bramah_coupled *c, const bramah__contact *brake, size_t i)
{
  const bramah__eval *eval[2] = {c->now, c->trial};
  double sum = 0.0;
  for (size_t a = 0; a < bramah__n_rubbed(brake); a++) {
    const size_t j = bramah__rubbed_joint(brake, a);
    double torque = 0.0;
    for (int e = 0; e < 2; e++)
      torque += 0.5 * eval[e]->contact[3 * i] *
                bramah__rubbed_weight(brake, eval[e]->gear + BRAMAH__MOST_SHAFT_JOINTS * i, a);
    sum -= torque * (c->next.z[j] - c->state.z[j]);
  }
  return sum;
}

/* Taken by points on the ground and between bodies, by brakes and by clutches. */
static double contacts(const bramah_coupled *c)
{
  const bramah_model *model = c->model;
  const bramah__eval *eval[2] = {c->now, c->trial};
  double sum = 0.0;
  for (size_t i = 0; i < model->n_contact_points; i++) {
    const bramah__contact *contact = &model->contact_point[i];
    double place[2][3], way[3];
    if (contact->pressed > 0.0) {
      sum += taken_by_rubbing(c, contact, i);
      continue;
    }
    if (bramah__in_the_air(contact)) continue;
    if (contact->meets) {
      sum += taken_between(c, contact, i);
      continue;
    }
    for (int e = 0; e < 2; e++) bramah__point(eval[e]->pose, contact->body, contact->point, place[e]);
    bramah__sub3(place[1], place[0], way);
    for (int e = 0; e < 2; e++) {
      const double *force = eval[e]->contact + 3 * i;
      double moment[3];
      sum -= 0.5 * bramah__dot3(force, way);
      if (!(contact->radius > 0.0)) continue;
      bramah__disc_moment(contact, eval[e]->pose, force, moment);
      sum -= 0.5 * model->h * bramah__dot3(moment, eval[e]->Z + 6 * contact->body + 3);
    }
  }
  return sum;
}

/* In masses, gravity and springs. */
static double stored(const bramah_model *model, const bramah__state *state, const bramah__eval *eval,
                     double *kinetic)
{
  *kinetic = bramah__tree_kinetic(&model->tree, eval->pose, eval->Z);
  return *kinetic + bramah__tree_potential(&model->tree, eval->pose) +
         bramah__forces_potential(&model->forces, eval->pose, state->z);
}

/* Of actuators and motions. */
static double work(const bramah_model *model, const bramah__state *state)
{
  double sum = 0.0;
  for (size_t i = 0; i < model->circuit.n_cylinders; i++) sum += state->work[i];
  for (size_t i = 0; i < model->n_motions; i++) sum += state->drive_work[i];
  return sum;
}

/* What has come from outside and has not gone into dampers, contacts and stops of joints. */
static double received(const bramah_model *model, const bramah__state *state)
{
  const double *exchange = state->exchange;
  return work(model, state) + exchange[BRAMAH__LOADS] - exchange[BRAMAH__DAMPERS] -
         exchange[BRAMAH__CONTACTS] - exchange[BRAMAH__LIMITS];
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
  bramah__work_of_drives(c->model, &c->state, &c->next);
  next->exchange[BRAMAH__DAMPERS] += dampers(c);
  next->exchange[BRAMAH__LOADS] += loads(c);
  for (size_t i = 0; i < model->n_definitions; i++) {
    const bramah__definition *of = &model->definition[i];
    if (of->is_summed)
      next->exchange[BRAMAH__N_EXCHANGES + of->sum] += 0.5 * model->h *
                                                       (bramah__defined_value(model, &c->state, c->now, of) +
                                                        bramah__defined_value(model, next, c->trial, of));
  }
  next->exchange[BRAMAH__CONTACTS] += contacts(c);
  for (size_t i = 0; i < model->forces.n_limits; i++) {
    const size_t j = model->forces.limit[i].joint;
    next->exchange[BRAMAH__LIMITS] -=
        0.5 * (c->now->limit[i].force + c->trial->limit[i].force) * (next->z[j] - c->state.z[j]);
  }

  double before[2], after[2];
  before[1] = stored(model, &c->state, c->now, &before[0]);
  after[1] = stored(model, next, c->trial, &after[0]);
  bramah__balance_energy(c, before, after);
}

void bramah__balance_energy(bramah_coupled *c, const double *before, const double *after)
{
  const double came = received(c->model, &c->next) - received(c->model, &c->state);
  /* Corrections that are linearised leave loops open, and what their closing costs is no error of the step. */
  c->error.energy =
      c->injection == BRAMAH_INJECTION_LINEARISED && c->model->m ? 0.0 : after[1] - before[1] - came;
  c->error.moved = fmax(before[0], after[0]) + fabs(came);
  c->next.exchange[BRAMAH__FROM_NOTHING] += c->error.energy;
}

void bramah_energy_add(bramah_energy *e, bramah_coupled *c, int64_t time_ns)
{
  static const double limit = 0.01, least = 1e-6; /* of what is turned over; [J] */
  const bramah_model *model = c->model;
  const double *exchange = c->state.exchange;
  const double before = e->error;
  double kinetic, now;
  if (!bramah__compiled_energy(c, &kinetic, &now)) {
    if (bramah__refresh(c, NULL) != BRAMAH_OK) return;
    now = stored(model, &c->state, c->now, &kinetic);
  }
  if (e->rows++ == 0) {
    e->start = now;
    e->before = exchange[BRAMAH__FROM_NOTHING];
  }
  e->work = work(model, &c->state);
  e->loads = exchange[BRAMAH__LOADS];
  e->dampers = exchange[BRAMAH__DAMPERS];
  e->friction = exchange[BRAMAH__FRICTION];
  e->stops = exchange[BRAMAH__STOPS] + exchange[BRAMAH__LIMITS];
  e->contacts = exchange[BRAMAH__CONTACTS];
  e->error = exchange[BRAMAH__FROM_NOTHING] - e->before;

  const double parts[] = {kinetic, now - e->start, e->work, e->dampers, e->loads};
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) e->turnover = fmax(e->turnover, fabs(parts[i]));
  e->largest = fmax(e->largest, fabs(e->error));
  e->limit = fmax(limit * e->turnover, least);
  if (fabs(e->error - before) <= fabs(e->leap)) return;
  e->leap = e->error - before;
  e->leap_ns = time_ns;
}
