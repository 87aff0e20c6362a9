/* SPDX-License-Identifier: MIT */
/* The equations in all joint coordinates, constraints as equations of their own: the derivatives of the open tree, the
 * geometric stiffness of the constraint forces, and the circuit by strokes. And the energies of a small motion. */
#include "lib/linear/linearization_internal.h"
#include "lib/hydraulics/metering.h"
#include "lib/base/diag.h"
#include "lib/math/dense.h"
#include "lib/math/vector3.h"
#include "lib/multibody/closure.h"

#include <string.h>

/* A force along cylinder q by state `column`. */
static void push(const bramah_coupled *c, size_t q, double by, size_t k, size_t column, double *P)
{
  const size_t n = c->model->n;
  for (size_t j = 0; j < n; j++) P[j * k + column] -= by * c->now->row[q * n + j];
}

/* What spools and friction states do, k states in all: rates of pressures by the spools, and the drags of quasistatic
 * actuators that follow them; rates of friction states, and their forces. */
static void add_spools_and_friction(bramah_linearization *l, bramah_coupled *c, size_t k, double *P,
                                    double *Xq, double *Xv, double *Xx)
{
  const bramah__circuit *circuit = &c->model->circuit;
  const size_t n = c->model->n, n_pressure = circuit->n_volumes, ns = bramah__n_spools(circuit),
               first = n_pressure + l->system.n_spool;
  bramah__circuit_columns(l, c);
  bramah__torques_by_spools(c, l->torque_by_U);
  for (size_t j = 0; j < l->system.n_spool; j++) {
    const size_t spool = l->spool[j];
    for (size_t i = 0; i < n && c->model->n_commanded; i++)
      P[i * k + n_pressure + j] -= l->torque_by_U[i * ns + spool];
    for (size_t i = 0; i < n_pressure; i++) Xx[i * k + n_pressure + j] = l->by_U[i * ns + spool];
    Xx[(n_pressure + j) * k + n_pressure + j] = -1.0 / circuit->valve[spool].time_constant;
    for (size_t i = 0; i < circuit->n_metered; i++) {
      const bramah__metered_port *port = &circuit->metered_port[i];
      push(c, port->cylinder, bramah__drag_per_rate(circuit, i) * l->by_U[port->volume * ns + spool], k,
           n_pressure + j, P);
    }
  }

  for (size_t q = 0; q < circuit->n_cylinders; q++) {
    const bramah__cylinder *cylinder = &circuit->cylinder[q];
    const size_t states = bramah__friction_states(cylinder->friction.kind),
                 at = first + cylinder->first_state;
    bramah__friction_partials by;
    if (states == 0) continue;
    bramah__friction_derivatives(&cylinder->friction, c->now->v[q], c->state.x + cylinder->first_state, &by);
    for (size_t i = 0; i < states; i++) {
      for (size_t j = 0; j < n; j++) {
        Xq[(at + i) * n + j] += by.rate_by_v[i] * c->derivative.v_z[q * n + j];
        Xv[(at + i) * n + j] += by.rate_by_v[i] * c->now->row[q * n + j];
      }
      for (size_t j = 0; j < states; j++) Xx[(at + i) * k + at + j] = by.rate_by_x[i][j];
      push(c, q, -cylinder->friction_scale * by.force_by_x[i], k, at + i, P);
    }
  }
}

/* Bristles of contacts, likewise. */
static void add_bristles(const bramah_linearization *l, bramah_coupled *c, size_t k, double *P, double *Xq,
                         double *Xv, double *Xx)
{
  const bramah_model *model = c->model;
  const size_t n = model->n, first = l->system.n_pressure + l->system.n_spool;
  const double *G = c->derivative.contact_rows, *H = G + 4 * n;
  for (size_t i = 0; i < model->n_contact_points; i++) {
    const bramah__contact *contact = &model->contact_point[i];
    const bramah__contact_slope *slope = &c->derivative.contact[i];
    if (contact->n_states == 0) continue;
    bramah__contact_arms(model, c->now, &c->derivative, i);
    for (size_t a = 0; a < contact->n_states; a++) {
      const size_t at = first + contact->first_state + a;
      Xx[at * k + at] = slope->rate_by_bristle;
      for (int joint = (int)model->n; (joint = bramah__contact_joint(&model->tree, contact, joint)) >= 0;) {
        const size_t j = (size_t)joint;
        P[j * k + at] -= slope->by_bristle * G[a * n + j];
        for (size_t b = 0; b < 2; b++) {
          Xq[at * n + j] += slope->rate_by_velocity[2 * a + b] * H[b * n + j];
          Xv[at * n + j] += slope->rate_by_velocity[2 * a + b] * G[b * n + j];
        }
        Xq[at * n + j] += slope->rate_by_roll[a] * H[3 * n + j];
        Xv[at * n + j] += slope->rate_by_roll[a] * G[3 * n + j];
      }
    }
  }
}

bramah_status bramah_linearization_constrained(bramah_linearization *l, bramah_coupled *plant,
                                               bramah_constrained *out, bramah_diag *diag)
{
  bramah_status status =
      bramah__check_plant(l, plant, "rolling wheels and knife edges have no place in these equations", diag);
  if (status == BRAMAH_OK) status = bramah__check_pose(plant, diag);
  if (status != BRAMAH_OK) return status;
  const bramah_model *model = plant->model;
  const bramah__derivative *d = &plant->derivative;
  const bramah_linear_system *s = &l->system;
  const size_t n = model->n, m = model->n_dependent, n_pressure = s->n_pressure,
               k = n_pressure + s->n_spool + s->n_friction;
  double *M = l->constrained, *C = M + n * n, *K = C + n * n, *Phi = K + n * n, *P = Phi + m * n,
         *Xq = P + n * k, *Xv = Xq + k * n, *Xx = Xv + k * n;
  memset(M, 0, (size_t)(Xx + k * k - M) * sizeof *M);

  /* Motion of the open tree, with the stiffness of the constraint forces. */
  bramah__inverse_dynamics(model, &plant->state, plant->now, plant->state.zdd);
  bramah__state_slopes(plant);
  bramah__derive_circuit(model, plant->state.p, plant->state.U, plant->now, &plant->derivative);
  bramah__derive_all(model, plant->now, &plant->derivative);
  bramah__add_constraint_stiffness(model, &plant->state, plant->now, &plant->derivative);
  memcpy(M, d->M, n * n * sizeof *M);
  memcpy(C, d->C, n * n * sizeof *C);
  memcpy(K, d->K, n * n * sizeof *K);
  for (size_t r = 0; r < m; r++)
    memcpy(Phi + r * n, plant->now->Phi_z + (size_t)plant->state.row[r] * n, n * sizeof *Phi);

  /* Pressures; the rates are of the residual, and belong to the other side here. */
  const bramah__arms arms = bramah__all_arms(model, plant->now, d);
  bramah__force_by_pressures(model, d, arms, P, k);
  bramah__rates_by_motion(model, d, arms, 1.0, 0.0, Xq, n);
  bramah__rates_by_motion(model, d, arms, 0.0, 1.0, Xv, n);
  for (size_t i = 0; i < n_pressure * n; i++) {
    Xq[i] = 0.0 - Xq[i];
    Xv[i] = 0.0 - Xv[i];
  }
  for (size_t i = 0; i < n_pressure; i++)
    memcpy(Xx + i * k, d->pd_p + i * n_pressure, n_pressure * sizeof *Xx);

  add_spools_and_friction(l, plant, k, P, Xq, Xv, Xx);
  add_bristles(l, plant, k, P, Xq, Xv, Xx);
  *out = (bramah_constrained){
      .n = n, .m = m, .k = k, .M = M, .C = C, .K = K, .Phi = Phi, .P = P, .Xq = Xq, .Xv = Xv, .Xx = Xx};
  return BRAMAH_OK;
}

/* Energies of a real motion dx, added to `energy` of bodies, then volumes. */
static void add_energies(bramah_linearization *l, bramah_coupled *plant, const double *dx, double *energy)
{
  const bramah_model *model = plant->model;
  const bramah__circuit *circuit = &model->circuit;
  const size_t n = model->n, n_dof = model->n_independent, n_pressure = circuit->n_volumes;
  if (l->roll.rows) {
    bramah__unroll(l, dx, l->dx);
    dx = l->dx;
  }

  /* Kinetic, of the velocities of all joints. */
  double *zd = plant->probe_state.zd, *volume = energy + n;
  bramah__rate_derivative(model, &plant->state, plant->now);
  for (size_t j = 0; j < n; j++) {
    zd[j] = 0.0;
    for (size_t f = 0; f < n_dof; f++)
      zd[j] += plant->now->Rz[j * n_dof + f] * dx[n_dof + f] + plant->now->D[j * n_dof + f] * dx[f];
  }
  bramah__tree_velocity(&model->tree, plant->now->pose, zd, plant->derivative.Y);
  for (size_t j = 0; j < n; j++) {
    const bramah__pose *pose = &plant->now->pose[j];
    const double *v = plant->derivative.Y + 6 * j, *w = v + 3;
    double gd[3], Jw[3];
    bramah__cross3(w, pose->g, gd);
    bramah__axpy3(1.0, v, gd); /* velocity of the centre of mass */
    bramah__rotate3(pose->J, w, Jw);
    energy[j] += 0.5 * (model->tree.link[j].mass * bramah__dot3(gd, gd) + bramah__dot3(w, Jw));
  }

  /* Oil and walls; quasistatic actuators have the element between actuator and rod instead. */
  bramah__circuit_columns(l, plant);
  for (size_t i = 0; i < n_pressure; i++) {
    double compliance = plant->derivative.circuit[n_pressure + i];
    for (size_t k = 0; k < circuit->n_metered; k++)
      if (circuit->metered_port[k].volume == i)
        compliance = circuit->metered[k].A_h / bramah__load_stiffness(circuit, k);
    volume[i] += 0.5 * compliance * dx[2 * n_dof + i] * dx[2 * n_dof + i];
  }
}

bramah_status bramah_linearization_energies(bramah_linearization *l, bramah_coupled *plant, const double *re,
                                            const double *im, bramah_energies *out, bramah_diag *diag)
{
  const bramah_model *model = l->model;
  const size_t n = model->n, n_volumes = model->circuit.n_volumes;
  bramah_status status = bramah__check_plant(l, plant, NULL, diag);
  if (status == BRAMAH_OK) status = bramah__check_pose(plant, diag);
  if (status != BRAMAH_OK) return status;
  memset(l->energy, 0, (n + n_volumes) * sizeof *l->energy);
  add_energies(l, plant, re, l->energy);
  if (im) add_energies(l, plant, im, l->energy);
  *out = (bramah_energies){.n_bodies = n,
                           .n_volumes = n_volumes,
                           .body_name = model->body_name,
                           .volume_name = model->volume_name,
                           .body = l->energy,
                           .volume = l->energy + n};
  return BRAMAH_OK;
}
