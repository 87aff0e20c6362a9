/* SPDX-License-Identifier: MIT */
#include "lib/plant/residual_derivative.h"
#include "lib/hydraulics/metering.h"
#include "lib/math/dense.h"
#include "lib/multibody/closure.h"

#include <math.h>
#include <string.h>

/* ---- the motion ---- */

/* How stroke velocities change with positions at held rates. */
static void stroke_rate_rows(const bramah_model *model, const bramah__eval *eval, bramah__derivative *d)
{
  for (size_t i = 0; i < model->circuit.n_cylinders; i++)
    bramah__line_rate_derivative(&model->tree, &model->line[i], eval->pose, eval->Z, d->v_z + i * model->n);
}

double bramah__metered_by_velocity(const bramah_model *model, const bramah__derivative *d, size_t i, size_t k)
{
  const bramah__circuit *circuit = &model->circuit;
  return bramah__drag_per_rate(circuit, i) *
         d->pd_v[circuit->metered_port[i].volume * circuit->n_cylinders + circuit->metered_port[k].cylinder];
}

void bramah__metered_by_pressure(const bramah_model *model, const bramah__derivative *d, size_t i,
                                 double factor, double *by_p)
{
  const bramah__circuit *circuit = &model->circuit;
  const double *row = d->pd_p + circuit->metered_port[i].volume * circuit->n_volumes;
  const double per_rate = factor * bramah__drag_per_rate(circuit, i);
  for (size_t j = circuit->n_volumes - circuit->n_metered; j < circuit->n_volumes; j++)
    by_p[j] += per_rate * row[j];
}

/* What is not hydraulic, into K and C. */
static void add_forces(const bramah_model *model, const bramah__eval *eval, bramah__derivative *d)
{
  bramah__forces_add_tangent(&model->tree, &model->forces, eval->pose, eval->Z, d->row, d->rate_row, d->K,
                             d->C);
  bramah__contacts_add_tangent(&model->tree, model->n_contact_points, model->contact_point, eval->pose,
                               eval->Z, eval->contact, eval->gear, d->contact, d->contact_rows, d->K, d->C);
  bramah__shafts_add_tangent(&model->tree, model->n_shafts, model->shaft, eval->shaft, d->C);
  for (size_t i = 0; i < model->forces.n_limits; i++) {
    const size_t diagonal = model->forces.limit[i].joint * (model->n + 1);
    d->K[diagonal] -= eval->limit[i].by_z;
    d->C[diagonal] -= eval->limit[i].by_zd;
  }
}

void bramah__derive_all(const bramah_model *model, const bramah__eval *eval, bramah__derivative *d)
{
  const bramah__tree *tree = &model->tree;
  const size_t n = model->n;
  bramah__tree_moving(tree, eval->pose, eval->Z, eval->Zd, d->moving);
  bramah__tree_tangent(tree, eval->pose, d->moving, eval->Z, eval->W, d->K, d->C, d->M);
  add_forces(model, eval, d);
  stroke_rate_rows(model, eval, d);
  for (size_t i = 0; i < model->circuit.n_cylinders; i++)
    bramah__line_add_tangent(tree, &model->line[i], eval->pose, eval->force[i], d->F_s[i], d->F_v[i],
                             eval->row + i * n, d->v_z + i * n, d->K, d->C);
  if (model->circuit.n_metered) {
    /* K, C of the drags of quasistatic actuators, which see the stroke velocities of all on their line. */
    const bramah__metered_port *port = model->circuit.metered_port;
    for (size_t i = 0; i < model->circuit.n_metered; i++)
      for (size_t k = 0; k < model->circuit.n_metered; k++) {
        const double slope = bramah__metered_by_velocity(model, d, i, k);
        const double *row = eval->row + port[i].cylinder * n, *moved = eval->row + port[k].cylinder * n,
                     *turned = d->v_z + port[k].cylinder * n;
        for (size_t a = 0; a < n && slope != 0.0; a++)
          for (size_t b = 0; b < n; b++) {
            d->K[a * n + b] -= slope * row[a] * turned[b];
            d->C[a * n + b] -= slope * row[a] * moved[b];
          }
      }
  }
}

/* Dependent entries of column f of out [n x n_dof] = -factor (Phi_z^d)^-1 (change of Phi'' under dz, dz' in
 * d). */
static void dependent_column(const bramah_model *model, const bramah__state *state, bramah__eval *eval,
                             bramah__derivative *d, double factor, size_t f, double *out)
{
  const size_t n_dependent = model->n_dependent, n_dof = model->n_independent;
  bramah__vary_tree(&model->tree, eval->pose, d->moving, d->dz, d->dzd, d->dzdd, &d->variation);
  bramah__vary_closure(model->n_loops, model->loop, eval->pose, eval->Z, eval->Zd, &d->variation, d->used,
                       eval->gamma);
  for (size_t i = 0; i < model->n_motions; i++) eval->gamma[model->motion[i].row] = 0.0; /* z_j is given */
  for (size_t k = 0; k < n_dependent; k++) eval->column[k] = -factor * eval->gamma[state->row[k]];
  bramah__lu_solve(n_dependent, eval->LU, eval->pivot, eval->column);
  for (size_t k = 0; k < n_dependent; k++) out[(size_t)state->index[k] * n_dof + f] = eval->column[k];
}

void bramah__add_constraint_stiffness(const bramah_model *model, const bramah__state *state,
                                      bramah__eval *eval, bramah__derivative *d)
{
  const size_t n = model->n, n_dependent = model->n_dependent;
  for (size_t k = 0; k < n_dependent; k++) {
    const size_t j = (size_t)state->index[k];
    double g = eval->tau[j];
    for (size_t c = 0; c < model->circuit.n_cylinders; c++) g -= eval->row[c * n + j] * eval->force[c];
    eval->column[k] = -g;
  }
  bramah__lu_solve_transposed(n_dependent, eval->LU, eval->pivot, eval->column);
  for (size_t k = 0; k < model->m; k++) d->mu[k] = 0.0, d->used[k] = 0;
  for (size_t k = 0; k < n_dependent; k++) d->mu[state->row[k]] = eval->column[k], d->used[state->row[k]] = 1;
  bramah__closure_add_stiffness(&model->tree, model->n_loops, model->loop, eval->pose, d->mu, d->K);
}

void bramah__derive_independent(const bramah_model *model, const bramah__state *state, bramah__eval *eval,
                                bramah__derivative *d)
{
  if (eval->Rz_is_identity) {
    bramah__derive_all(model, eval, d);
    memset(d->D, 0, model->n * model->n * sizeof(double));
    memset(d->E, 0, model->n * model->n * sizeof(double));
    memcpy(d->v_zi, d->v_z, model->circuit.n_cylinders * model->n * sizeof(double));
    return;
  }
  bramah__tree_moving(&model->tree, eval->pose, eval->Z, eval->Zd, d->moving);

  /* K, C: what is left apart from the inertia: springs and loads, and the constraint forces. */
  const size_t nn = model->n * model->n;
  memset(d->K, 0, nn * sizeof(double));
  memset(d->C, 0, nn * sizeof(double));
  add_forces(model, eval, d);
  bramah__add_constraint_stiffness(model, state, eval, d);
  stroke_rate_rows(model, eval, d);

  /* D from the acceleration that a change of rates alone makes, 2 Phi_z' Rz; then E. */
  const size_t n = model->n, n_dof = model->n_independent;
  memset(d->D, 0, n * n_dof * sizeof(double));
  memset(d->E, 0, n * n_dof * sizeof(double));
  memset(d->dzdd, 0, n * sizeof(double));
  for (size_t f = 0; f < n_dof; f++) {
    memset(d->dz, 0, n * sizeof(double));
    for (size_t j = 0; j < n; j++) d->dzd[j] = eval->Rz[j * n_dof + f];
    dependent_column(model, state, eval, d, 0.5, f, d->D);
    for (size_t j = 0; j < n; j++) {
      d->dz[j] = eval->Rz[j * n_dof + f];
      d->dzd[j] = d->D[j * n_dof + f];
    }
    dependent_column(model, state, eval, d, 1.0, f, d->E);
  }
  for (size_t c = 0; c < model->circuit.n_cylinders; c++)
    for (size_t f = 0; f < n_dof; f++) {
      double sum = 0.0;
      for (size_t j = 0; j < n; j++)
        sum += d->v_z[c * n + j] * eval->Rz[j * n_dof + f] + eval->row[c * n + j] * d->D[j * n_dof + f];
      d->v_zi[c * n_dof + f] = sum;
    }
}

/* The motion of all joints as an independent one moves by c0, c1, c2. */
static void direction(const bramah_model *model, const bramah__eval *eval, bramah__derivative *d, size_t f,
                      double c0, double c1, double c2)
{
  const size_t n_dof = model->n_independent;
  for (size_t j = 0; j < model->n; j++) {
    const double Rz = eval->Rz[j * n_dof + f], D = d->D[j * n_dof + f];
    d->dz[j] = c0 * Rz;
    d->dzd[j] = c0 * D + c1 * Rz;
    d->dzdd[j] = c0 * d->E[j * n_dof + f] + 2.0 * c1 * D + c2 * Rz;
  }
  bramah__vary_tree(&model->tree, eval->pose, d->moving, d->dz, d->dzd, d->dzdd, &d->variation);
}

/* A cylinder's force changes, and so does its direction: the second derivatives of its length are symmetric,
 * so that what bramah__line_rate_derivative gives for the velocities pi is the change of its row. */
static void subtract_cylinders(const bramah_model *model, const bramah__eval *eval, bramah__derivative *d,
                               int displaced)
{
  const size_t n = model->n;
  for (size_t c = 0; c < model->circuit.n_cylinders; c++) {
    const double *row = eval->row + c * n, *v_z = d->v_z + c * n;
    double stroke = 0.0, velocity = 0.0;
    for (size_t j = 0; j < n; j++) {
      stroke += row[j] * d->dz[j];
      velocity += row[j] * d->dzd[j] + v_z[j] * d->dz[j];
    }
    const double change = d->F_s[c] * stroke + d->F_v[c] * velocity;
    for (size_t j = 0; j < n; j++) d->dtau[j] -= row[j] * change;
    if (!displaced) continue;
    bramah__line_rate_derivative(&model->tree, &model->line[c], eval->pose, d->variation.pi, d->rate_row);
    for (size_t j = 0; j < n; j++) d->dtau[j] -= d->rate_row[j] * eval->force[c];
  }
}

void bramah__derivative_column(const bramah_model *model, const bramah__eval *eval, bramah__derivative *d,
                               size_t f, double c0, double c1, double c2, double *column, size_t stride)
{
  const size_t n = model->n, n_dof = model->n_independent;
  if (eval->Rz_is_identity) {
    for (size_t j = 0; j < n; j++)
      column[j * stride] = c0 * d->K[j * n + f] + c1 * d->C[j * n + f] + c2 * d->M[j * n + f];
    return;
  }
  direction(model, eval, d, f, c0, c1, c2);
  bramah__vary_force(&model->tree, eval->pose, d->moving, eval->Z, eval->W, d->dz, &d->variation, d->Y,
                     d->dtau);
  const bramah__forces *forces = &model->forces;
  const int damped = forces->n_springs + forces->n_joint_springs + forces->n_limits +
                         model->n_contact_points + model->n_shafts >
                     0;
  for (size_t j = 0; j < n; j++) {
    double sum = 0.0;
    for (size_t k = 0; k < n; k++) sum += d->K[j * n + k] * d->dz[k];
    for (size_t k = 0; damped && k < n; k++) sum += d->C[j * n + k] * d->dzd[k];
    d->dtau[j] += sum;
  }
  subtract_cylinders(model, eval, d, c0 != 0.0);
  if (model->circuit.n_metered) {
    /* The same of the drags of quasistatic actuators. */
    const bramah__metered_port *port = model->circuit.metered_port;
    for (size_t k = 0; k < model->circuit.n_metered; k++) {
      const double *moved = eval->row + port[k].cylinder * n, *turned = d->v_z + port[k].cylinder * n;
      double velocity = 0.0;
      for (size_t j = 0; j < n; j++) velocity += moved[j] * d->dzd[j] + turned[j] * d->dz[j];
      for (size_t i = 0; i < model->circuit.n_metered; i++) {
        const double change = velocity * bramah__metered_by_velocity(model, d, i, k);
        for (size_t j = 0; j < n; j++) d->dtau[j] -= eval->row[port[i].cylinder * n + j] * change;
      }
    }
  }
  for (size_t g = 0; g < n_dof; g++) {
    double sum = 0.0;
    for (size_t j = 0; j < n; j++) sum += eval->Rz[j * n_dof + g] * d->dtau[j];
    column[g * stride] = sum;
  }
}

/* ---- the circuit ---- */

void bramah__derive_circuit(const bramah_model *model, const double *p, const double *U,
                            const bramah__eval *eval, bramah__derivative *d)
{
  bramah__fluid_derivatives(&model->circuit, p, eval->s, eval->v, U, d->circuit, d->pd, d->pd_p, d->pd_s,
                            d->pd_v, NULL, NULL);
  memcpy(d->pump_by_p, eval->pump_by_p,
         model->circuit.n_driven * model->n_first_order * sizeof *d->pump_by_p);
  if (model->circuit.n_metered)
    bramah__metered_derivatives(&model->circuit, p, eval->v, U, eval->w, eval->P, d->pd, d->pd_p, d->pd_v,
                                NULL);
}

void bramah__rates_by_motion(const bramah_model *model, const bramah__derivative *d, bramah__arms arms,
                             double c0, double c1, double *X, size_t ld)
{
  const size_t nc = model->circuit.n_cylinders;
  for (size_t i = 0; i < model->n_first_order; i++) {
    double *row = X + i * ld;
    memset(row, 0, arms.n * sizeof *row);
    for (size_t q = 0; q < nc; q++) {
      const double by_s = d->pd_s[i * nc + q], by_v = d->pd_v[i * nc + q];
      if (by_s == 0.0 && by_v == 0.0) continue;
      const double *stroke = arms.stroke + q * arms.n, *rate = arms.rate + q * arms.n;
      for (size_t k = 0; k < arms.n; k++)
        row[k] -= by_s * c0 * stroke[k] + by_v * (c0 * rate[k] + c1 * stroke[k]);
    }
  }
}

void bramah__force_by_pressures(const bramah_model *model, const bramah__derivative *d, bramah__arms arms,
                                double *X, size_t ld)
{
  for (size_t k = 0; k < arms.n; k++) memset(X + k * ld, 0, model->n_first_order * sizeof *X);
  for (size_t q = 0; q < model->circuit.n_cylinders; q++) {
    const bramah__cylinder *cylinder = &model->circuit.cylinder[q];
    for (size_t k = 0; k < arms.n; k++) {
      const double arm = arms.stroke[q * arms.n + k];
      X[k * ld + cylinder->piston] -= arm * cylinder->piston_area;
      X[k * ld + cylinder->rod] += arm * cylinder->rod_area;
    }
  }
  for (size_t q = 0; q < model->circuit.n_driven; q++)
    for (size_t k = 0; k < arms.n; k++) {
      const double arm = arms.stroke[model->circuit.driven[q].cylinder * arms.n + k];
      for (size_t i = 0; i < model->n_first_order && arm != 0.0; i++)
        X[k * ld + i] -= arm * d->pump_by_p[q * model->n_first_order + i];
    }
  for (size_t i = 0; i < model->circuit.n_metered; i++)
    for (size_t k = 0; k < arms.n; k++)
      bramah__metered_by_pressure(
          model, d, i, -arms.stroke[model->circuit.metered_port[i].cylinder * arms.n + k], X + k * ld);
}

/* ---- first use: the accelerations and rates of a state ---- */

/* What stops and cushions add to the force, by stroke and velocity [N/m, N s/m]. */
static void stop_slopes(const bramah__cylinder *cylinder, double s, double v, double *by_s, double *by_v)
{
  *by_s = bramah__stop_force(cylinder, e_variable(s), e_number(v)).slope;
  *by_v = bramah__stop_force(cylinder, e_number(s), e_variable(v)).slope;
}

/* Of the torque that a driven pump takes, where cylinder i is its joint, by the joint's rate. */
static double driven_slope(const bramah_model *model, const bramah__eval *eval, size_t i)
{
  for (size_t k = 0; k < model->circuit.n_driven; k++)
    if (model->circuit.driven[k].cylinder == i) return eval->pump_by_v[k];
  return 0.0;
}

void bramah__force_slopes(const bramah_coupled *c, size_t i, double *by_s, double *by_v)
{
  const bramah__cylinder *cylinder = &c->model->circuit.cylinder[i];
  const double *x = c->state.x + cylinder->first_state;
  stop_slopes(cylinder, c->now->s[i], c->now->v[i], by_s, by_v);
  *by_v -= cylinder->friction_scale * bramah__friction_slope(&cylinder->friction, c->now->v[i], x);
  *by_v += driven_slope(c->model, c->now, i);
}

void bramah__state_slopes(bramah_coupled *c)
{
  for (size_t i = 0; i < c->model->circuit.n_cylinders; i++)
    bramah__force_slopes(c, i, &c->derivative.F_s[i], &c->derivative.F_v[i]);
  bramah__contact_slopes(c->model->n_contact_points, c->model->contact_point, c->now->pose, c->now->Z,
                         c->state.U, 0.0, c->state.x, NULL, c->derivative.contact);
}

/* Mechanical rows by the bristles that are error states, X [n_dof x n_bristles] `ld` apart. */
static void imbalance_by_bristles(bramah_coupled *c, double *X, size_t ld)
{
  const bramah_model *model = c->model;
  const size_t n_dof = model->n_independent;
  const double *arm = c->derivative.contact_arms;
  for (size_t i = 0; i < model->n_contact_points; i++) {
    const bramah__contact *contact = &model->contact_point[i];
    if (contact->n_errors == 0) continue;
    bramah__contact_arms(model, c->now, &c->derivative, i);
    for (size_t a = 0; a < contact->n_errors; a++)
      for (size_t f = 0; f < n_dof; f++)
        X[f * ld + contact->first_error + a] = -arm[a * n_dof + f] * c->derivative.contact[i].by_bristle;
  }
}

bramah_status bramah__rates_by_state(bramah_coupled *c)
{
  const bramah_model *model = c->model;
  bramah__eval *now = c->now;
  bramah__derivative *d = &c->derivative;
  const size_t n_dof = model->n_independent, n_first_order = model->n_first_order,
               n_error = bramah__n_error(model);
  double *A = c->A, *S = A + n_dof * n_error;
  bramah__inverse_dynamics(model, &c->state, now, c->state.zdd);
  bramah__state_slopes(c);
  bramah__derive_circuit(model, c->state.p, c->state.U, now, d);
  bramah__derive_independent(model, &c->state, now, d);
  if (bramah__factor_mass(model, &c->state, now) != BRAMAH_OK) return BRAMAH_E_SINGULAR;
  const bramah__arms arms = bramah__independent_arms(model, now, d);
  for (size_t f = 0; f < n_dof; f++) {
    bramah__derivative_column(model, now, d, f, 1.0, 0.0, 0.0, A + f, n_error);
    bramah__derivative_column(model, now, d, f, 0.0, 1.0, 0.0, A + n_dof + f, n_error);
  }
  bramah__force_by_pressures(model, d, arms, A + 2 * n_dof, n_error);
  if (model->n_bristles) imbalance_by_bristles(c, A + 2 * n_dof + n_first_order, n_error);
  for (size_t k = 0; k < n_error; k++) {
    double *column = d->dz;
    for (size_t f = 0; f < n_dof; f++) column[f] = -A[f * n_error + k];
    bramah__cholesky_solve(n_dof, now->Mi, column);
    for (size_t f = 0; f < n_dof; f++) A[f * n_error + k] = column[f];
  }
  bramah__rates_by_motion(model, d, arms, 1.0, 0.0, S, n_error);
  bramah__rates_by_motion(model, d, arms, 0.0, 1.0, S + n_dof, n_error);
  for (size_t i = 0; i < n_first_order; i++) {
    for (size_t k = 0; k < 2 * n_dof; k++) S[i * n_error + k] = 0.0 - S[i * n_error + k];
    memcpy(S + i * n_error + 2 * n_dof, d->pd_p + i * n_first_order, n_first_order * sizeof *S);
    memset(S + i * n_error + 2 * n_dof + n_first_order, 0, model->n_bristles * sizeof *S);
  }
  return BRAMAH_OK;
}

void bramah__contact_arms(const bramah_model *model, const bramah__eval *eval, bramah__derivative *d,
                          size_t i)
{
  const size_t n = model->n, n_dof = model->n_independent;
  const bramah__contact *contact = &model->contact_point[i];
  const double *G = d->contact_rows;
  bramah__contact_rows(&model->tree, contact, eval->gear + BRAMAH__MOST_SHAFT_JOINTS * i, eval->pose, eval->Z,
                       d->contact_rows);
  memset(d->contact_arms, 0, 2 * n_dof * sizeof *d->contact_arms);
  for (int j = (int)model->n; (j = bramah__contact_joint(&model->tree, contact, j)) >= 0;)
    for (size_t a = 0; a < 2; a++)
      for (size_t f = 0; f < n_dof; f++)
        d->contact_arms[a * n_dof + f] += G[a * n + (size_t)j] * eval->Rz[(size_t)j * n_dof + f];
}

void bramah__torques_by_spools(const bramah_coupled *c, double *out)
{
  const bramah_model *model = c->model;
  const size_t ns = bramah__n_spools(&model->circuit);
  memset(out, 0, model->n * ns * sizeof *out);
  for (size_t i = 0; i < model->n_contact_points && model->n_commanded; i++) {
    const bramah__contact *brake = &model->contact_point[i];
    const double *gear = c->now->gear + BRAMAH__MOST_SHAFT_JOINTS * i;
    if (!brake->is_commanded) continue;
    const double by = bramah__brake_by_spool(brake, c->now->pose, c->now->Z, c->state.U, c->state.x);
    for (size_t a = 0; a < bramah__n_rubbed(brake); a++)
      out[bramah__rubbed_joint(brake, a) * ns + brake->spool] += bramah__rubbed_weight(brake, gear, a) * by;
  }
  for (size_t q = 0; q < model->circuit.n_driven; q++)
    for (size_t k = 0; k < ns; k++)
      out[model->line[model->circuit.driven[q].cylinder].joint * ns + k] += c->now->pump_by_U[q * ns + k];
  for (size_t i = 0; i < model->n_shafts; i++) { /* commands move the torque on the first joint alone */
    const bramah__shaft *shaft = &model->shaft[i];
    double by_rate[BRAMAH__MOST_SHAFT_JOINTS], by_command[BRAMAH__SHAFT_COMMANDS];
    bramah__shaft_shows(&model->tree, shaft, BRAMAH__SHAFT_TORQUE, c->now->pose, c->now->Z, c->state.U,
                        by_rate, by_command);
    for (size_t k = 0; k < BRAMAH__SHAFT_COMMANDS; k++)
      if (shaft->is_commanded[k]) out[shaft->joint[0] * ns + shaft->spool[k]] += by_command[k];
  }
}

void bramah__bristles_by_state(bramah_coupled *c, double *out)
{
  const bramah_model *model = c->model;
  const bramah__derivative *d = &c->derivative;
  const size_t n = model->n, n_dof = model->n_independent;
  const double *G = d->contact_rows, *H = G + 4 * n, *Rz = c->now->Rz;
  for (size_t i = 0; i < model->n_contact_points; i++, out += 4 * n_dof) {
    const bramah__contact *contact = &model->contact_point[i];
    const double *by = d->contact[i].rate_by_velocity, *by_roll = d->contact[i].rate_by_roll;
    memset(out, 0, 4 * n_dof * sizeof *out);
    if (d->contact[i].rate_by_bristle == 0.0) continue; /* in the air */
    bramah__contact_arms(model, c->now, &c->derivative, i);
    for (size_t f = 0; f < n_dof; f++) {
      double w[2] = {0.0, 0.0}, roll[2] = {0.0, 0.0}; /* by the position; of the rolling also by the rate */
      for (int j = (int)model->n; (j = bramah__contact_joint(&model->tree, contact, j)) >= 0;) {
        const size_t at = (size_t)j * n_dof + f;
        for (size_t b = 0; b < 2; b++)
          w[b] += H[b * n + (size_t)j] * Rz[at] + G[b * n + (size_t)j] * d->D[at];
        roll[0] += H[3 * n + (size_t)j] * Rz[at] + G[3 * n + (size_t)j] * d->D[at];
        roll[1] += G[3 * n + (size_t)j] * Rz[at];
      }
      for (size_t a = 0; a < 2; a++) {
        double *row = out + a * 2 * n_dof;
        row[f] = by[2 * a] * w[0] + by[2 * a + 1] * w[1] + by_roll[a] * roll[0];
        row[n_dof + f] = by[2 * a] * d->contact_arms[f] + by[2 * a + 1] * d->contact_arms[n_dof + f] +
                         by_roll[a] * roll[1];
      }
    }
  }
}

/* The dependent accelerations gain E dz and 2 D dz' where the independent ones are held. The bytes of the
 * state say whether the last answer still holds. */
bramah_status bramah__joint_acceleration_rows(bramah_coupled *c)
{
  const bramah_model *model = c->model;
  const size_t n_dof = model->n_independent, n_error = bramah__n_error(model);
  if (c->Q_valid && memcmp(c->Q_state, c->state.block, c->state.size) == 0) return BRAMAH_OK;
  c->Q_valid = 0;
  const bramah_status status = bramah__rates_by_state(c);
  if (status != BRAMAH_OK) return status;
  bramah__multiply(model->n, n_dof, n_error, c->now->Rz, c->A, c->Q);
  for (size_t j = 0; j < model->n; j++)
    for (size_t f = 0; f < n_dof; f++) {
      c->Q[j * n_error + f] += c->derivative.E[j * n_dof + f];
      c->Q[j * n_error + n_dof + f] += 2.0 * c->derivative.D[j * n_dof + f];
    }
  memcpy(c->Q_state, c->state.block, c->state.size);
  c->Q_valid = 1;
  return BRAMAH_OK;
}

/* ---- second use: the tangent of a step ---- */

void bramah__step_slopes(bramah_coupled *c, const bramah__eval *end, const double *U, const double *v,
                         const bramah__state *start, double *by_start)
{
  const bramah__circuit *circuit = &c->model->circuit;
  for (size_t i = 0; i < circuit->n_cylinders; i++) {
    const bramah__cylinder *cylinder = &circuit->cylinder[i];
    const size_t first = cylinder->first_state;
    double friction, at_start, by_s, by_v;
    bramah__friction_step_slopes(&cylinder->friction, c->model->h, end->v[i], v[i], start->x + first,
                                 start->xd + first, &friction, &at_start);
    if (by_start) {
      by_start[i] = cylinder->friction_scale * at_start;
      continue;
    }
    stop_slopes(cylinder, end->s[i], end->v[i], &by_s, &by_v);
    c->derivative.F_s[i] = by_s;
    c->derivative.F_v[i] = by_v - cylinder->friction_scale * friction + driven_slope(c->model, end, i);
  }
  bramah__contact_slopes(c->model->n_contact_points, c->model->contact_point, end->pose, end->Z, U,
                         0.5 * c->model->h, start->x, start->xd, c->derivative.contact);
}

/* All of J but its mechanical block. Rows of virtual volumes take the change of the stroke itself, which
 * leaves the change of its velocity at held rates. */
static void first_order_blocks(const bramah_coupled *c, bramah__arms arms, double *J)
{
  const bramah_model *model = c->model;
  const bramah__circuit *circuit = &model->circuit;
  const bramah__derivative *d = &c->derivative;
  const size_t nm = arms.n, n_first_order = model->n_first_order, nx = nm + n_first_order;
  const double c1 = 2.0 / model->h;
  bramah__force_by_pressures(model, d, arms, J + nm, nx);
  bramah__rates_by_motion(model, d, arms, 1.0, c1, J + nm * nx, nx);
  for (size_t i = 0; i < n_first_order; i++)
    for (size_t j = 0; j < n_first_order; j++)
      J[(nm + i) * nx + nm + j] = (i == j ? c1 : 0.0) - d->pd_p[i * n_first_order + j];
  for (size_t i = 0; i < circuit->n_metered; i++) {
    const double *rate = arms.rate + circuit->metered_port[i].cylinder * nm;
    double *row = J + (nm + circuit->metered_port[i].volume) * nx;
    for (size_t k = 0; k < nm; k++) row[k] -= bramah__load_stiffness(circuit, i) * rate[k];
  }
}

void bramah__independent_tangent(bramah_coupled *c, const bramah__state *state, bramah__eval *eval, double *J)
{
  const bramah_model *model = c->model;
  const size_t n_dof = model->n_independent, nx = n_dof + model->n_first_order;
  const double c1 = 2.0 / model->h;
  bramah__derive_circuit(model, state->p, state->U, eval, &c->derivative);
  bramah__derive_independent(model, state, eval, &c->derivative);
  for (size_t f = 0; f < n_dof; f++)
    bramah__derivative_column(model, eval, &c->derivative, f, 1.0, c1, 4.0 / (model->h * model->h), J + f,
                              nx);
  first_order_blocks(c, bramah__independent_arms(model, eval, &c->derivative), J);
}

void bramah__step_tangent(bramah_coupled *c, double *J)
{
  const bramah_model *model = c->model;
  bramah__derivative *d = &c->derivative;
  bramah__eval *eval = c->trial;
  const size_t n = model->n, nx = n + model->n_first_order;
  const double c1 = 2.0 / model->h, c2 = 4.0 / (model->h * model->h);
  bramah__step_slopes(c, eval, c->next.U, c->now->v, &c->state, NULL);
  if (!bramah__all_unknown(c)) {
    bramah__independent_tangent(c, &c->next, eval, J);
    return;
  }

  /* The open tree. The last accelerations may have been those with z'' = 0, for the constraints. */
  bramah__derive_circuit(model, c->next.p, c->next.U, eval, d);
  bramah__tree_acceleration(&model->tree, eval->pose, eval->Z, c->next.zd, c->next.zdd, eval->Zd);
  bramah__derive_all(model, eval, d);

  /* The constraint forces Phi_z' (alpha Phi + lambda) also turn with the machine: small against alpha
   * Phi_z' Phi_z, but known. */
  const int lagrangian = model->formulation == BRAMAH_FORMULATION_AUGMENTED_LAGRANGIAN;
  if (lagrangian) {
    for (size_t k = 0; k < model->m; k++) d->mu[k] = model->penalty_factor * eval->Phi[k] + c->next.lambda[k];
    bramah__closure_add_stiffness(&model->tree, model->n_loops, model->loop, eval->pose, d->mu, d->K);
  }
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j < n; j++)
      J[i * nx + j] = d->K[i * n + j] + c1 * d->C[i * n + j] + c2 * d->M[i * n + j];

  /* J += stiffness Phi_z' Phi_z; of the penalty method z'' and z' follow z by 4/h^2 and 2/h. What the
   * change of Phi_z adds is smaller by the ratio of constraint forces to alpha. */
  const double Omega = model->penalty_frequency, h = model->h;
  const double per_position = 4.0 / (h * h) + 4.0 * model->penalty_damping * Omega / h + Omega * Omega;
  const double stiffness = lagrangian ? model->penalty_factor : model->penalty_factor * per_position;
  for (size_t k = 0; k < model->m; k++) {
    const double *row = eval->Phi_z + k * n;
    for (size_t i = 0; i < n; i++)
      for (size_t j = 0; j < n; j++) J[i * nx + j] += stiffness * row[i] * row[j];
  }
  first_order_blocks(c, bramah__all_arms(model, eval, d), J);
}

void bramah__coarse_tangent(bramah_coupled *c, double *J)
{
  const bramah_model *model = c->model;
  bramah__derivative *d = &c->derivative;
  bramah__eval *eval = c->trial;
  const size_t n = model->n, n_dof = model->n_independent, nx = n_dof + model->n_first_order;
  const size_t nc = model->circuit.n_cylinders;
  const double c1 = 2.0 / model->h, c2 = 4.0 / (model->h * model->h);
  bramah__step_slopes(c, eval, c->next.U, c->now->v, &c->state, NULL);
  bramah__derive_circuit(model, c->next.p, c->next.U, eval, d);

  /* The open tree */
  memset(d->K, 0, n * n * sizeof(double));
  memset(d->C, 0, n * n * sizeof(double));
  add_forces(model, eval, d);
  bramah__tree_mass(&model->tree, eval->pose, eval->composite, d->M);
  for (size_t k = 0; k < n * n; k++) d->M[k] = d->K[k] + c1 * d->C[k] + c2 * d->M[k];
  bramah__project_matrix(model, c->next.index, eval->Rz, d->M, eval->MR, J, nx);

  /* Cylinders, by their strokes */
  const bramah__metered_port *port = model->circuit.metered_port;
  for (size_t q = 0; q < nc; q++)
    for (size_t f = 0; f < n_dof; f++) {
      const double by = (d->F_s[q] + c1 * d->F_v[q]) * eval->row_i[q * n_dof + f];
      for (size_t g = 0; g < n_dof && by != 0.0; g++) J[f * nx + g] -= by * eval->row_i[q * n_dof + g];
    }
  for (size_t i = 0; i < model->circuit.n_metered; i++)
    for (size_t k = 0; k < model->circuit.n_metered; k++) {
      const double slope = c1 * bramah__metered_by_velocity(model, d, i, k);
      const double *row = eval->row_i + port[i].cylinder * n_dof,
                   *moved = eval->row_i + port[k].cylinder * n_dof;
      for (size_t f = 0; f < n_dof && slope != 0.0; f++)
        for (size_t g = 0; g < n_dof; g++) J[f * nx + g] -= slope * row[f] * moved[g];
    }
  memset(d->v_zi, 0, nc * n_dof * sizeof(double));
  first_order_blocks(c, bramah__independent_arms(model, eval, d), J);
}
