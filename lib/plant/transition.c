/* SPDX-License-Identifier: MIT */
/* Transition of the error state over one implicit step: the derivative of the step itself. The residual
 * f(x_k+1, x_k) = 0 of the trapezoidal rule gives F = -J^-1 f_xk, with the accelerations and pressure rates
 * carried over from step k differentiated through, as functions of the state there (spec equations 5). Also
 * the accelerations' derivative, of which D 3.4 is made. */
#include "lib/plant/residual_derivative.h"
#include "lib/base/diag.h"
#include "lib/hydraulics/metering.h"
#include "lib/math/dense.h"

#include <math.h>
#include <string.h>

/* ---- parameters: differences of the equations at a held state ---- */

/* The tables of the plant for theta [n_parameters], and the masses and forces of `now` with them. An offset of a
 * command lasts, so the spools have followed it: by the lag alone a step would show a tenth of what it does, and the
 * rest nobody would see, as spools are no error states. */
static void use_parameters(bramah_coupled *c, const double *theta)
{
  const bramah__circuit *circuit = &c->model->circuit;
  double *shift = c->transition.shift;
  bramah__apply_parameters(c, c->state.theta);
  for (size_t i = 0; i < bramah__n_spools(circuit); i++)
    shift[i] = -bramah__spool_reference(&circuit->valve[i], c->state.u[circuit->valve[i].input]);
  bramah__apply_parameters(c, theta);
  for (size_t i = 0; i < bramah__n_spools(circuit); i++)
    shift[i] += bramah__spool_reference(&circuit->valve[i], c->state.u[circuit->valve[i].input]);
  bramah__tree_pose(&c->model->tree, c->state.base, c->state.z, c->now->pose);
  bramah__evaluate_forces(c->model, c->state.p, c->state.U, c->state.x, c->transition.xd, c->now);
  c->now->factored = 0;
}

/* As if parameter i were displaced by a step that is neither lost in rounding nor felt as a change, which
 * is returned: parameters enter smoothly. */
static double displace_parameter(bramah_coupled *c, size_t i)
{
  const bramah_parameter_info *info = &c->model->parameter[i].info;
  const double value = c->state.theta[i], size = fmax(fabs(value), fabs(info->nominal));
  const int has_size =
      info->nominal != 0.0 || size > 1e-6; /* a load or an offset passing through zero does not */
  double step = 1e-6 * (has_size ? size : 1.0), *theta = c->transition.theta;
  if (value + step > info->most) step = -step;
  memcpy(theta, c->state.theta, c->model->n_parameters * sizeof *theta);
  theta[i] = value + step;
  use_parameters(c, theta);
  return step;
}

/* What acts at once by spools: quasistatic actuators, commanded brakes and power trains. Contacts at the end of a step that began
 * with these rates of bristles, unless that is NULL. */
static void act_by_spools(bramah_coupled *c, const double *U, const double *xd_start)
{
  const bramah_model *model = c->model;
  if (model->circuit.n_metered || model->n_shafts || model->circuit.n_driven)
    bramah__update_forces(model, c->state.p, U, c->now);
  if (xd_start)
    bramah__evaluate_contacts(model, U, 0.5 * model->h, c->transition.start.x, xd_start, c->transition.x,
                              c->transition.xd, c->now);
  else if (model->n_commanded)
    bramah__evaluate_contacts(model, U, 0.0, c->state.x, NULL, NULL, c->transition.xd, c->now);
}

/* Independent accelerations and pressure rates at the present tables. */
static bramah_status rates_now(bramah_coupled *c, double *zdd, double *pd)
{
  const bramah_model *model = c->model;
  double *U = c->transition.U;
  for (size_t i = 0; i < bramah__n_spools(&model->circuit); i++)
    U[i] = c->state.U[i] + c->transition.shift[i];
  bramah__place_direct_spools(model, c->state.u, U);
  act_by_spools(c, U, NULL);
  if (bramah__accelerations(model, &c->state, c->now, zdd) != BRAMAH_OK) return BRAMAH_E_SINGULAR;
  bramah__evaluate_rates(model, c->state.p, U, c->now, pd);
  return BRAMAH_OK;
}

/* Columns of A_par [n_dof x n_par] and S_par [n_first_order x n_par]: accelerations and pressure rates by
 * parameters. */
static bramah_status rates_by_parameters(bramah_coupled *c, size_t n_par, const size_t *par, double *A_par,
                                         double *S_par)
{
  const size_t n_dof = c->model->n_independent, n_first_order = c->model->n_first_order;
  bramah__transition *t = &c->transition;
  double *zdd = t->f, *pd = t->f + n_dof, *zdd0 = t->f0, *pd0 = t->f0 + n_dof;
  const size_t nq = c->model->n_friction_states;
  if (n_par == 0) return BRAMAH_OK;
  if (S_par && nq) bramah__evaluate_forces(c->model, c->state.p, c->state.U, c->state.x, t->xd_start, c->now);
  memset(t->shift, 0, bramah__n_spools(&c->model->circuit) * sizeof *t->shift);
  bramah_status status = rates_now(c, zdd0, pd0);
  for (size_t k = 0; k < n_par && status == BRAMAH_OK; k++) {
    const double step = displace_parameter(c, par[k]);
    for (size_t q = 0; S_par && q < nq; q++) t->xd_par[k * nq + q] = (t->xd[q] - t->xd_start[q]) / step;
    status = rates_now(c, zdd, pd);
    for (size_t f = 0; f < n_dof; f++) A_par[f * n_par + k] = (zdd[f] - zdd0[f]) / step;
    for (size_t i = 0; S_par && i < n_first_order; i++) S_par[i * n_par + k] = (pd[i] - pd0[i]) / step;
  }
  use_parameters(c, c->state.theta);
  return status;
}

/* X [n_dof x n_error] gains what friction at the end of the step has of the bristles at its start and of their rates there. */
static void add_bristles(bramah_coupled *c, double *X)
{
  const bramah_model *model = c->model;
  const size_t n_dof = model->n_independent, n_error = bramah__n_error(model);
  const double half = 0.5 * model->h, *yields = c->transition.yields;
  const double *rates = c->transition.bristle_rates, *arm = c->derivative.contact_arms;
  for (size_t i = 0; i < model->n_contact_points; i++, rates += 4 * n_dof) {
    const bramah__contact *contact = &model->contact_point[i];
    const double by = c->derivative.contact[i].by_bristle, by_rate = half * by;
    double *own = X + 2 * n_dof + model->n_first_order + contact->first_error;
    if (by_rate == 0.0) continue;
    bramah__contact_arms(model, c->now, &c->derivative, i);
    for (size_t a = 0; a < 2; a++)
      for (size_t f = 0; f < n_dof; f++)
        for (size_t k = 0; k < 2 * n_dof; k++)
          X[f * n_error + k] += arm[a * n_dof + f] * by_rate * rates[a * 2 * n_dof + k];
    for (size_t a = 0; a < contact->n_errors; a++)
      for (size_t f = 0; f < n_dof; f++)
        own[f * n_error + a] += arm[a * n_dof + f] * by * (1.0 - half * yields[i]);
  }
}

/* What of the start of the step its end will be differentiated by. G [n_error x n_par] keeps the rates by
 * parameters: the accelerations' in its first rows, the pressures' behind them. */
static bramah_status keep_start(bramah_coupled *c, size_t n_par, const size_t *par, double *G)
{
  bramah__transition *t = &c->transition;
  const size_t n_dof = c->model->n_independent, nc = c->model->circuit.n_cylinders;
  bramah_status status = rates_by_parameters(c, n_par, par, G, n_par ? G + n_dof * n_par : NULL);
  if (status == BRAMAH_OK) status = bramah__rates_by_state(c);
  if (status != BRAMAH_OK) return status;
  for (size_t q = 0; q < nc; q++)
    for (size_t f = 0; f < n_dof; f++) {
      t->V[q * 2 * n_dof + f] = c->derivative.v_zi[q * n_dof + f];
      t->V[q * 2 * n_dof + n_dof + f] = c->now->row_i[q * n_dof + f];
    }
  bramah__bristles_by_state(c, t->bristle_rates);
  for (size_t i = 0; i < c->model->n_contact_points && c->model->n_bristles; i++)
    t->yields[i] = -c->derivative.contact[i].rate_by_bristle;
  bramah__state_copy(&c->state, &t->start);
  memcpy(t->v, c->now->v, nc * sizeof(double));
  return BRAMAH_OK;
}

/* ---- the end of the step, which c->state and c->now hold ---- */

/* Factors of J, and the blocks r_v, r_a, s_v. Newton's last tangent was taken one correction before the
 * end, less than the tolerances away: its factors and what c->derivative holds serve here too, both of them, for
 * rates by positions are 2/h times what J and the blocks differ by. Other formulations and sweeps have none of this kind. */
static bramah_status derive_end(bramah_coupled *c)
{
  const bramah_model *model = c->model;
  bramah__transition *t = &c->transition;
  const size_t n_dof = model->n_independent;
  bramah__inverse_dynamics(model, &c->state, c->now, c->state.zdd);
  bramah__step_slopes(c, c->now, c->state.U, t->v, &t->start, t->by_start);
  if (bramah__all_unknown(c) || c->sweeps) {
    bramah__step_slopes(c, c->now, c->state.U, t->v, &t->start, NULL);
    bramah__independent_tangent(c, &c->state, c->now, c->newton.J);
    const bramah_status status = bramah__factor_tangent(c, n_dof);
    if (status != BRAMAH_OK) return status;
  }
  for (size_t f = 0; f < n_dof; f++) {
    bramah__derivative_column(model, c->now, &c->derivative, f, 0.0, 1.0, 0.0, t->r_v + f, n_dof);
    bramah__derivative_column(model, c->now, &c->derivative, f, 0.0, 0.0, 1.0, t->r_a + f, n_dof);
  }
  bramah__rates_by_motion(model, &c->derivative, bramah__independent_arms(model, c->now, &c->derivative), 0.0,
                          1.0, t->s_v, n_dof);
  if (model->n_bristles) bramah__bristles_by_state(c, t->bristle_ends);
  memcpy(c->now->D, c->derivative.D,
         model->n * n_dof * sizeof(double)); /* the rows of sensors will ask for it */
  c->now->D_known = 1;
  return BRAMAH_OK;
}

/* Rows of the bristles, out [n_bristles x n], as positions z and rates zd [n_dof x n] at the end of the step move, what they began
 * with held: x = x_0 + h/2 (x'_0 + x'). */
static void bristles_by_motion(const bramah_coupled *c, size_t n, const double *z, const double *zd,
                               double *out)
{
  const bramah_model *model = c->model;
  const size_t n_dof = model->n_independent;
  const double half = 0.5 * model->h, *ends = c->transition.bristle_ends;
  for (size_t i = 0; i < model->n_contact_points && model->n_bristles; i++, ends += 4 * n_dof) {
    const bramah__contact *contact = &model->contact_point[i];
    for (size_t a = 0; a < contact->n_errors; a++)
      for (size_t k = 0; k < n; k++) {
        const double *by = ends + a * 2 * n_dof;
        double sum = 0.0;
        for (size_t f = 0; f < n_dof; f++) sum += by[f] * z[f * n + k] + by[n_dof + f] * zd[f * n + k];
        out[(contact->first_error + a) * n + k] = half * sum;
      }
  }
}

/* F's rows of the bristles: as the motion, and as they began. */
static void bristles_by_start(const bramah_coupled *c, double *F)
{
  const bramah_model *model = c->model;
  const size_t n_dof = model->n_independent, n = bramah__n_error(model),
               first = 2 * n_dof + model->n_first_order;
  const double half = 0.5 * model->h, *rates = c->transition.bristle_rates;
  bristles_by_motion(c, n, F, F + n_dof * n, F + first * n);
  for (size_t i = 0; i < model->n_contact_points && model->n_bristles; i++, rates += 4 * n_dof) {
    const bramah__contact *contact = &model->contact_point[i];
    const double keeps = c->derivative.contact[i].keeps;
    for (size_t a = 0; a < contact->n_errors; a++) {
      const size_t at = first + contact->first_error + a;
      for (size_t k = 0; k < 2 * n_dof; k++) F[at * n + k] += keeps * half * rates[a * 2 * n_dof + k];
      F[at * n + at] += keeps * (1.0 - half * c->transition.yields[i]);
    }
  }
}

/* Solve J X = X [nx x n_columns] in place. */
static bramah_status solve_columns(bramah_coupled *c, size_t n_columns, double *X)
{
  const size_t n_dof = c->model->n_independent, nx = n_dof + c->model->n_first_order;
  double *column = c->transition.column;
  for (size_t k = 0; k < n_columns; k++) {
    for (size_t r = 0; r < nx; r++) column[r] = X[r * n_columns + k];
    bramah__solve_tangent(c, n_dof, column);
    for (size_t r = 0; r < nx; r++) {
      if (!isfinite(column[r])) return BRAMAH_E_NOT_FINITE;
      X[r * n_columns + k] = column[r];
    }
  }
  return BRAMAH_OK;
}

/* Right-hand sides of bristles that are bent by one, X [n_dof x n_bristles] `ld` apart. */
static void bend_by_noise(bramah_coupled *c, double *X, size_t ld)
{
  const bramah_model *model = c->model;
  const size_t n_dof = model->n_independent;
  for (size_t i = 0; i < model->n_contact_points && model->n_bristles; i++) {
    const bramah__contact *contact = &model->contact_point[i];
    if (contact->n_errors == 0) continue;
    bramah__contact_arms(model, c->now, &c->derivative, i);
    for (size_t a = 0; a < contact->n_errors; a++)
      for (size_t f = 0; f < n_dof; f++)
        X[f * ld + contact->first_error + a] =
            c->derivative.contact_arms[a * n_dof + f] * c->derivative.contact[i].by_bristle;
  }
}

/* The resolvent (I - h/2 A)^-1 of the trapezoidal rule on unit velocities and pressures: J [z; p] = 2/h [r_a;
 * 1], z' = 2/h z. For a stiff mode of rate a it leaves the variance q / 2a that the continuous mode has,
 * whatever the step. */
static bramah_status noise_response(bramah_coupled *c, double *N)
{
  bramah__transition *t = &c->transition;
  const size_t n_dof = c->model->n_independent, n_first_order = c->model->n_first_order,
               nx = n_dof + n_first_order, n = nx + c->model->n_bristles;
  const double c1 = 2.0 / c->model->h;
  double *X = N + n_dof * n; /* solved in the rows of z' and p, then moved */
  memset(N, 0, (n_dof + n) * n * sizeof *N);
  for (size_t f = 0; f < n_dof; f++)
    for (size_t g = 0; g < n_dof; g++) X[f * n + g] = c1 * t->r_a[f * n_dof + g];
  for (size_t i = 0; i < n_first_order; i++) X[(n_dof + i) * n + n_dof + i] = c1;
  bend_by_noise(c, X + nx, n);
  const bramah_status status = solve_columns(c, n, X);
  for (size_t k = 0; k < n_dof * n; k++) {
    N[k] = X[k];
    X[k] *= c1;
  }
  bristles_by_motion(c, n, N, X, X + nx * n);
  for (size_t i = 0; i < c->model->n_contact_points && c->model->n_bristles; i++) {
    const bramah__contact *contact = &c->model->contact_point[i];
    for (size_t a = 0; a < contact->n_errors; a++) {
      const size_t at = nx + contact->first_error + a;
      const double keeps = c->derivative.contact[i].keeps;
      X[at * n + at] += keeps > 0.0 ? keeps : 1.0; /* in the air, so that a variance is left */
    }
  }
  return status;
}

/* Residual of the step's equations at its end as the tables are, f [nx]: what of it a parameter changes; unless xd_start is NULL with
 * bristles that began with these rates. */
static void end_residual(bramah_coupled *c, const double *xd_start, double *f)
{
  const bramah_model *model = c->model;
  const size_t n_dof = model->n_independent;
  const bramah__state *start = &c->transition.start;
  double *U = c->transition.U;
  for (size_t i = 0; i < bramah__n_spools(&model->circuit); i++) {
    const bramah__valve *valve = &model->circuit.valve[i];
    U[i] = bramah__spool_step(valve, start->U[i] + c->transition.shift[i], start->u[valve->input], model->h);
  }
  act_by_spools(c, U, xd_start);
  bramah__imbalance(model, &c->state, c->now, c->state.zdd, f);
  bramah__evaluate_rates(model, c->state.p, U, c->now, f + n_dof);
  for (size_t i = 0; i < model->n_first_order; i++) f[n_dof + i] = -f[n_dof + i];
}

/* The same where parameter i, number k of those asked for, changes the rates of bristles: into t->column and t->f, without and with
 * it, displaced by the step that is returned; and where its row of xd_par held what it does to these rates, what it does to the
 * bristles at the end. */
static double residual_by_bristles(bramah_coupled *c, size_t k, size_t i)
{
  bramah__transition *t = &c->transition;
  const size_t nq = c->model->n_friction_states;
  double *xd_par = t->xd_par + k * nq, *before = t->xd_start;
  use_parameters(c, c->state.theta);
  end_residual(c, t->start.xd, t->column);
  for (size_t q = 0; q < nq; q++) before[q] = t->x[q];
  const double step = displace_parameter(c, i);
  for (size_t q = 0; q < nq; q++) xd_par[q] = t->start.xd[q] + step * xd_par[q];
  end_residual(c, xd_par, t->f);
  for (size_t q = 0; q < nq; q++) xd_par[q] = (t->x[q] - before[q]) / step;
  return step;
}

/* Rows of the bristles that are error states. */
static void bristles_by_parameter(const bramah_coupled *c, size_t n_par, size_t k, double *G)
{
  const bramah_model *model = c->model;
  const size_t first = 2 * model->n_independent + model->n_first_order, nq = model->n_friction_states;
  for (size_t i = 0; i < model->n_contact_points && model->n_bristles; i++) {
    const bramah__contact *contact = &model->contact_point[i];
    for (size_t a = 0; a < contact->n_errors; a++)
      G[(first + contact->first_error + a) * n_par + k] +=
          c->transition.xd_par[k * nq + contact->first_state + a];
  }
}

/* G [n_error x n_par] with the factors of J. */
static bramah_status store_parameters(bramah_coupled *c, size_t n_par, const size_t *par, double *G)
{
  const size_t n_dof = c->model->n_independent, n_first_order = c->model->n_first_order;
  const double c1 = 2.0 / c->model->h;
  if (n_par == 0) return BRAMAH_OK;
  double *X = c->transition.X_par;

  /* X [nx x n_par] = -f_theta, that of the carried rates included: G holds these. */
  bramah__transition *t = &c->transition;
  const size_t nx = n_dof + c->model->n_first_order;
  end_residual(c, NULL, t->f0);
  for (size_t k = 0; k < n_par; k++) {
    const int bends = bramah__bends_bristles(&c->model->parameter[par[k]]);
    const double *before = bends ? t->column : t->f0,
                 step = bends ? residual_by_bristles(c, k, par[k]) : displace_parameter(c, par[k]);
    if (!bends) end_residual(c, NULL, t->f);
    for (size_t r = 0; r < nx; r++) X[r * n_par + k] = -(t->f[r] - before[r]) / step;
    for (size_t f = 0; f < n_dof; f++)
      for (size_t g = 0; g < n_dof; g++) X[f * n_par + k] += t->r_a[f * n_dof + g] * G[g * n_par + k];
    for (size_t r = n_dof; r < nx; r++) X[r * n_par + k] += G[r * n_par + k];
  }
  use_parameters(c, c->state.theta);
  const bramah_status status = solve_columns(c, n_par, X);
  memcpy(G, X, n_dof * n_par * sizeof *G);
  for (size_t k = 0; k < n_dof * n_par; k++) G[n_dof * n_par + k] = c1 * X[k];
  memcpy(G + 2 * n_dof * n_par, X + n_dof * n_par, n_first_order * n_par * sizeof *G);
  bristles_by_motion(c, n_par, G, G + n_dof * n_par, G + (2 * n_dof + n_first_order) * n_par);
  for (size_t k = 0; k < n_par; k++)
    if (bramah__bends_bristles(&c->model->parameter[par[k]])) bristles_by_parameter(c, n_par, k, G);
  return status;
}

/* F and N from the end of the step, whose derivatives are there. */
static bramah_status end_of_step(bramah_coupled *c, double *F, double *N)
{
  /* -f_xk [nx x n_error]. Rows of virtual volumes take the change of the stroke where the others take its
   * velocities. */
  const bramah_model *model = c->model;
  bramah__transition *t = &c->transition;
  const size_t n_dof = model->n_independent, n_first_order = model->n_first_order,
               nc = model->circuit.n_cylinders, n_error = bramah__n_error(model);
  const double c1 = 2.0 / model->h;
  double *X = t->rhs, *S = X + n_dof * n_error;
  bramah__multiply(n_dof, n_dof, n_error, t->r_a, c->A, X);
  for (size_t f = 0; f < n_dof; f++)
    for (size_t g = 0; g < n_dof; g++) {
      X[f * n_error + g] += c1 * (t->r_v[f * n_dof + g] + c1 * t->r_a[f * n_dof + g]);
      X[f * n_error + n_dof + g] += t->r_v[f * n_dof + g] + 2.0 * c1 * t->r_a[f * n_dof + g];
    }
  for (size_t q = 0; q < nc; q++)
    for (size_t f = 0; f < n_dof && t->by_start[q] != 0.0; f++)
      for (size_t k = 0; k < 2 * n_dof; k++)
        X[f * n_error + k] -= c->now->row_i[q * n_dof + f] * t->by_start[q] * t->V[q * 2 * n_dof + k];
  add_bristles(c, X);
  memcpy(S, c->A + n_dof * n_error, n_first_order * n_error * sizeof *S);
  for (size_t i = 0; i < n_first_order; i++) {
    S[i * n_error + 2 * n_dof + i] += c1;
    for (size_t f = 0; f < n_dof; f++) {
      S[i * n_error + f] += c1 * t->s_v[i * n_dof + f];
      S[i * n_error + n_dof + f] += t->s_v[i * n_dof + f];
    }
  }
  for (size_t i = 0; i < model->circuit.n_metered; i++) {
    const bramah__metered_port *port = &model->circuit.metered_port[i];
    const double K = bramah__load_stiffness(&model->circuit, i);
    const double *start = t->V + port->cylinder * 2 * n_dof, *end = c->now->row_i + port->cylinder * n_dof;
    double *row = S + port->volume * n_error;
    for (size_t f = 0; f < n_dof; f++) {
      row[f] += K * (c1 * (start[n_dof + f] - end[f]) + start[f]);
      row[n_dof + f] += K * (start[n_dof + f] - end[f]);
    }
  }
  const bramah_status status = solve_columns(c, n_error, X);
  if (status != BRAMAH_OK) return status;

  /* F: z' at the end follows positions and rates by the trapezoidal rule. */
  memcpy(F, X, n_dof * n_error * sizeof(double));
  for (size_t f = 0; f < n_dof; f++) {
    for (size_t k = 0; k < n_error; k++)
      F[(n_dof + f) * n_error + k] = c1 * (X[f * n_error + k] - (k == f ? 1.0 : 0.0));
    F[(n_dof + f) * n_error + n_dof + f] -= 1.0;
  }
  memcpy(F + 2 * n_dof * n_error, S, n_first_order * n_error * sizeof(double));
  bristles_by_start(c, F);
  return N ? noise_response(c, N) : BRAMAH_OK;
}

bramah_status bramah__step_with_transition(bramah_coupled *c, const bramah__wanted *w, bramah_diag *diag)
{
  bramah_status status = bramah__refresh(c, diag);
  if (status != BRAMAH_OK) return status;
  if (keep_start(c, w->n_par, w->par, w->G) != BRAMAH_OK)
    return bramah__fail(diag, BRAMAH_E_SINGULAR, c->model->name, "the mass matrix is singular");
  status = bramah__trapezoidal_step(c, 1, diag);
  if (status == BRAMAH_OK) status = bramah__refresh(c, diag);
  if (status != BRAMAH_OK) return status;
  status = derive_end(c);
  if (status == BRAMAH_OK && w->F) status = end_of_step(c, w->F, w->N);
  if (status == BRAMAH_OK) status = store_parameters(c, w->n_par, w->par, w->G);
  if (status == BRAMAH_OK) return status;
  bramah__state_copy(&c->transition.start, &c->state);
  c->now_valid = 0;
  return bramah__fail(diag, status, c->model->name, "the derivative of the step cannot be formed");
}

bramah_status bramah__acceleration_derivative(void *self, double *J, size_t n_par, const size_t *par,
                                              double *Jp, bramah_diag *diag)
{
  bramah_coupled *c = self;
  bramah_status status = bramah__refresh(c, diag);
  if (status != BRAMAH_OK) return status;
  status = rates_by_parameters(c, n_par, par, Jp, NULL);
  if (status == BRAMAH_OK) status = bramah__rates_by_state(c);
  if (status == BRAMAH_OK) {
    const size_t n_dof = c->model->n_independent;
    memcpy(J, c->A, n_dof * bramah__n_error(c->model) * sizeof *J);
    return BRAMAH_OK;
  }
  return bramah__fail(diag, status, c->model->name, "the mass matrix is singular");
}

/* Derivative of the independent accelerations by the error state, by forward differences as the papers do it
 * (below D 3.4). A pressure reaches the forces only, a velocity the motion and the forces, a position
 * everything. */

static const double position_step = 1e-7; /* rad or m */
static const double velocity_step = 1e-7; /* rad/s or m/s */

static void store(const bramah_coupled *c, size_t column, double step, double *J)
{
  const size_t n_dof = c->model->n_independent, n = bramah__n_error(c->model);
  for (size_t r = 0; r < n_dof; r++) J[r * n + column] = (c->zdd_i[r] - c->zdd_base[r]) / step;
}

bramah_status bramah__acceleration_jacobian(void *self, double *J, bramah_diag *diag)
{
  bramah_coupled *c = self;
  const bramah_model *model = c->model;
  const size_t n_dof = model->n_independent, n_first_order = model->n_first_order;
  bramah__state *probe = &c->probe_state;
  bramah_status status = bramah__refresh(c, diag);
  if (status != BRAMAH_OK) return status;
  if (bramah__accelerations(model, &c->state, c->now, c->zdd_base) != BRAMAH_OK)
    return bramah__fail(diag, BRAMAH_E_SINGULAR, model->name, "the mass matrix is singular");

  /* Pressures: linear, so a large step costs nothing and rounds less. */
  for (size_t i = 0; i < n_first_order; i++) {
    memcpy(probe->p, c->state.p, n_first_order * sizeof(double));
    const double step = 1e-4 * fmax(1e5, fabs(probe->p[i]));
    probe->p[i] += step;
    bramah__update_forces(model, probe->p, c->state.U, c->now);
    bramah__solve_acceleration(model, c->now, c->zdd_i);
    store(c, 2 * n_dof + i, step, J);
  }

  /* Positions, with the loops closed. */
  for (size_t f = 0; f < n_dof; f++) {
    bramah__state_copy(&c->state, probe);
    for (size_t j = 0; j < model->n; j++) probe->z[j] += c->now->Rz[j * n_dof + f] * position_step;
    status = bramah__evaluate_position(model, probe, c->probe, BRAMAH__LOOPS_CLOSED);
    if (status == BRAMAH_OK) {
      bramah__set_motion(model, probe, c->probe);
      bramah__evaluate_forces(model, probe->p, probe->U, probe->x, probe->xd, c->probe);
      status = bramah__accelerations(model, probe, c->probe, c->zdd_i);
    }
    if (status != BRAMAH_OK)
      return bramah__fail(diag, status, model->name, "the loops cannot be closed near this state");
    store(c, f, position_step, J);
  }

  /* Rates. */
  for (size_t f = 0; f < n_dof; f++) {
    bramah__state_copy(&c->state, probe);
    probe->zd[c->state.index[model->n_dependent + f]] += velocity_step;
    bramah__set_motion(model, probe, c->now);
    bramah__evaluate_forces(model, c->state.p, c->state.U, probe->x, probe->xd, c->now);
    bramah__evaluate_rhs(model, probe, c->now);
    bramah__solve_acceleration(model, c->now, c->zdd_i);
    store(c, n_dof + f, velocity_step, J);
  }
  bramah__evaluate_motion(model, &c->state, c->now); /* as it was */

  /* Bristles. */
  for (size_t i = 0; i < model->n_contact_points && model->n_bristles; i++)
    for (size_t a = 0; a < model->contact_point[i].n_errors; a++) {
      const bramah__contact *contact = &model->contact_point[i];
      const double step = 1e-4 * contact->static_friction / contact->bristles;
      bramah__state_copy(&c->state, probe);
      probe->x[contact->first_state + a] += step;
      bramah__evaluate_forces(model, c->state.p, c->state.U, probe->x, probe->xd, c->now);
      bramah__evaluate_rhs(model, &c->state, c->now);
      bramah__solve_acceleration(model, c->now, c->zdd_i);
      store(c, 2 * n_dof + n_first_order + contact->first_error + a, step, J);
    }
  bramah__evaluate_forces(model, c->state.p, c->state.U, c->state.x, c->state.xd, c->now);
  return BRAMAH_OK;
}
