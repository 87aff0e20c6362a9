/* SPDX-License-Identifier: MIT */
/* Transition of the error state over one implicit step: the derivative of the step itself. The residual
 * f(x_k+1, x_k) = 0 of the trapezoidal rule gives F = -f_x^-1 f_xk, with the accelerations and pressure rates
 * carried over from step k differentiated through, as functions of the state there (spec equations 5). Also
 * the accelerations' derivative, of which D 3.4 is made. */
#include "lib/plant/step_internal.h"
#include "lib/base/diag.h"
#include "lib/hydraulics/metering.h"
#include "lib/math/dense.h"

#include <math.h>
#include <string.h>

void bramah__transition_layout(const bramah_model *model, bramah__arena *arena, bramah__transition *t)
{
  const size_t n = model->n, np = model->circuit.n_volumes, nc = model->circuit.n_cylinders, ne = 2 * n + np;
  t->A = BRAMAH__TAKE(arena, double, n *ne);
  t->S = BRAMAH__TAKE(arena, double, np *ne);
  t->V = BRAMAH__TAKE(arena, double, nc * 2 * n);
  bramah__state_layout(model, arena, &t->start);
  t->v = BRAMAH__TAKE(arena, double, nc);
  t->by_start = BRAMAH__TAKE(arena, double, nc);
  t->r_v = BRAMAH__TAKE(arena, double, n *n);
  t->r_a = BRAMAH__TAKE(arena, double, n *n);
  t->J = BRAMAH__TAKE(arena, double, (n + np) * (n + np));
  t->X = BRAMAH__TAKE(arena, double, (n + np) * ne);
  t->X_par = BRAMAH__TAKE(arena, double, (n + np) * model->n_parameters);
  t->theta = BRAMAH__TAKE(arena, double, model->n_parameters);
  t->xd = BRAMAH__TAKE(arena, double, model->circuit.n_friction_states);
  t->U = BRAMAH__TAKE(arena, double, bramah__n_spools(&model->circuit));
  t->f = BRAMAH__TAKE(arena, double, n + np);
  t->f0 = BRAMAH__TAKE(arena, double, n + np);
  t->column = BRAMAH__TAKE(arena, double, n + np);
  t->scale = BRAMAH__TAKE(arena, double, n + np);
  t->weight = BRAMAH__TAKE(arena, double, n + np);
  t->pivot = BRAMAH__TAKE(arena, int, n + np);
}

/* Derivative of the independent imbalance by the pressures, columns 2 nf ... of out [nf x ne]. */
static void pressure_columns(const bramah_model *model, const bramah__eval *eval,
                             const bramah__linear *linear, double *out, size_t ne)
{
  const size_t nf = model->n_independent, np = model->circuit.n_volumes;
  for (size_t f = 0; f < nf; f++)
    for (size_t i = 0; i < np; i++) out[f * ne + ne - np + i] = 0.0;
  for (size_t q = 0; q < model->circuit.n_cylinders; q++) {
    const bramah__cylinder *cylinder = &model->circuit.cylinder[q];
    for (size_t f = 0; f < nf; f++) {
      const double arm = eval->row_i[q * nf + f];
      out[f * ne + ne - np + cylinder->piston] -= arm * cylinder->piston_area;
      out[f * ne + ne - np + cylinder->rod] += arm * cylinder->rod_area;
    }
  }
  for (size_t i = 0; i < model->circuit.n_metered; i++)
    for (size_t f = 0; f < nf; f++)
      bramah__metered_by_pressure(model, linear, i,
                                  -eval->row_i[model->circuit.metered_port[i].cylinder * nf + f],
                                  out + f * ne + ne - np);
}

/* A = -r_a^-1 [r_z r_v r_p] */
bramah_status bramah__accelerations_by_state(bramah_coupled *c, double *A)
{
  const bramah_model *model = c->model;
  bramah__eval *now = c->now;
  const size_t nf = model->n_independent, ne = 2 * nf + model->circuit.n_volumes;
  bramah__inverse_dynamics(model, &c->state, now, c->state.zdd);
  for (size_t i = 0; i < model->circuit.n_cylinders; i++)
    bramah__force_slopes(c, i, &c->linear.F_s[i], &c->linear.F_v[i]);
  if (model->circuit.n_metered) bramah__linear_circuit(model, c->state.p, c->state.U, now, &c->linear);
  bramah__linear_reduce(model, &c->state, now, &c->linear);
  if (bramah__factor_mass(model, now) != BRAMAH_OK) return BRAMAH_E_SINGULAR;
  for (size_t f = 0; f < nf; f++) {
    bramah__linear_column(model, now, &c->linear, f, 1.0, 0.0, 0.0, A + f, ne);
    bramah__linear_column(model, now, &c->linear, f, 0.0, 1.0, 0.0, A + nf + f, ne);
  }
  pressure_columns(model, now, &c->linear, A, ne);
  for (size_t k = 0; k < ne; k++) {
    double *column = c->transition.column;
    for (size_t f = 0; f < nf; f++) column[f] = -A[f * ne + k];
    bramah__cholesky_solve(nf, now->Mi, column);
    for (size_t f = 0; f < nf; f++) A[f * ne + k] = column[f];
  }
  return BRAMAH_OK;
}

/* V [nc x 2 nf]: stroke velocities by positions and rates; S [np x ne]: pressure rates by the error state. */
static void rates_by_state(bramah_coupled *c)
{
  const bramah_model *model = c->model;
  const bramah__linear *linear = &c->linear;
  bramah__transition *t = &c->transition;
  const size_t nf = model->n_independent, np = model->circuit.n_volumes, nc = model->circuit.n_cylinders,
               ne = 2 * nf + np;
  bramah__linear_circuit(model, c->state.p, c->state.U, c->now, &c->linear);
  for (size_t q = 0; q < nc; q++)
    for (size_t f = 0; f < nf; f++) {
      t->V[q * 2 * nf + f] = linear->v_zi[q * nf + f];
      t->V[q * 2 * nf + nf + f] = c->now->row_i[q * nf + f];
    }
  for (size_t i = 0; i < np; i++) {
    double *row = t->S + i * ne;
    for (size_t k = 0; k < 2 * nf; k++) {
      row[k] = 0.0;
      for (size_t q = 0; q < nc; q++) {
        row[k] += linear->pd_v[i * nc + q] * t->V[q * 2 * nf + k];
        if (k < nf) row[k] += linear->pd_s[i * nc + q] * c->now->row_i[q * nf + k];
      }
    }
    for (size_t j = 0; j < np; j++) row[2 * nf + j] = linear->pd_p[i * np + j];
  }
}

/* ---- parameters: differences of the equations at a held state ---- */

/* A difference that is neither lost in rounding nor felt as a change: parameters enter smoothly. */
static double parameter_step(const bramah_parameter_info *info, double value)
{
  const double size = fmax(fabs(value), fabs(info->nominal));
  const int tells =
      info->nominal != 0.0 || size > 1e-6; /* a load or an offset on its way through zero does not */
  const double step = 1e-6 * (tells ? size : 1.0);
  return value + step > info->most ? -step : step;
}

/* The tables of the plant as if parameter i had another value, and the masses of `now` with them. */
static void try_parameter(bramah_coupled *c, size_t i, double value)
{
  double *theta = c->transition.theta;
  memcpy(theta, c->state.theta, c->model->n_parameters * sizeof *theta);
  theta[i] = value;
  bramah__apply_parameters(c, theta);
  bramah__tree_pose(&c->model->tree, c->state.base, c->state.z, c->now->pose);
  bramah__evaluate_forces(c->model, c->state.p, c->state.U, c->state.x, c->transition.xd, c->now);
  c->now->factored = 0;
}

/* As the state has them. */
static void leave_parameters(bramah_coupled *c)
{
  bramah__apply_parameters(c, c->state.theta);
  bramah__tree_pose(&c->model->tree, c->state.base, c->state.z, c->now->pose);
  bramah__evaluate_forces(c->model, c->state.p, c->state.U, c->state.x, c->transition.xd, c->now);
  c->now->factored = 0;
}

/* Independent accelerations and pressure rates at the present tables. */
static bramah_status rates_now(bramah_coupled *c, double *zdd, double *pd)
{
  const bramah_model *model = c->model;
  double *U = c->transition.U;
  if (bramah__factor_mass(model, c->now) != BRAMAH_OK) return BRAMAH_E_SINGULAR;
  memcpy(U, c->state.U, bramah__n_spools(&model->circuit) * sizeof *U);
  bramah__place_direct_spools(model, c->state.u, U);
  if (model->circuit.n_metered) bramah__update_forces(model, c->state.p, U, c->now);
  bramah__evaluate_rhs(model, &c->state, c->now);
  bramah__solve_acceleration(model, c->now, zdd);
  bramah__evaluate_rates(model, c->state.p, U, c->now, pd);
  return BRAMAH_OK;
}

/* Columns of A_par [nf x n_par] and S_par [np x n_par]: accelerations and pressure rates by parameters. */
static bramah_status rates_by_parameters(bramah_coupled *c, size_t n_par, const size_t *par, double *A_par,
                                         double *S_par)
{
  const size_t nf = c->model->n_independent, np = c->model->circuit.n_volumes;
  bramah__transition *t = &c->transition;
  double *zdd = t->f, *pd = t->f + nf, *zdd0 = t->f0, *pd0 = t->f0 + nf;
  if (n_par == 0) return BRAMAH_OK;
  bramah_status status = rates_now(c, zdd0, pd0);
  for (size_t k = 0; k < n_par && status == BRAMAH_OK; k++) {
    const double value = c->state.theta[par[k]],
                 step = parameter_step(&c->model->parameter[par[k]].info, value);
    try_parameter(c, par[k], value + step);
    status = rates_now(c, zdd, pd);
    for (size_t f = 0; f < nf; f++) A_par[f * n_par + k] = (zdd[f] - zdd0[f]) / step;
    for (size_t i = 0; S_par && i < np; i++) S_par[i * n_par + k] = (pd[i] - pd0[i]) / step;
  }
  leave_parameters(c);
  return status;
}

/* What of the start of the step its end will be differentiated by. G [ne x n_par] keeps the rates by
 * parameters: the accelerations' in its first rows, the pressures' behind them. */
static bramah_status keep_start(bramah_coupled *c, size_t n_par, const size_t *par, double *G)
{
  bramah__transition *t = &c->transition;
  bramah_status status =
      rates_by_parameters(c, n_par, par, G, n_par ? G + c->model->n_independent * n_par : NULL);
  if (status == BRAMAH_OK) status = bramah__accelerations_by_state(c, t->A);
  if (status != BRAMAH_OK) return status;
  rates_by_state(c);
  bramah__state_copy(&c->state, &t->start);
  memcpy(t->v, c->now->v, c->model->circuit.n_cylinders * sizeof(double));
  return BRAMAH_OK;
}

/* ---- the end of the step, which stands in c->state and c->now ---- */

/* Slopes of the forces at the end, and by the velocity at the start. */
static void step_slopes(bramah_coupled *c)
{
  const bramah__circuit *circuit = &c->model->circuit;
  bramah__transition *t = &c->transition;
  for (size_t i = 0; i < circuit->n_cylinders; i++) {
    const bramah__cylinder *cylinder = &circuit->cylinder[i];
    const size_t first = cylinder->first_state;
    double friction, by_s, by_v;
    bramah__friction_step_slopes(&cylinder->friction, c->model->h, c->now->v[i], t->v[i], t->start.x + first,
                                 t->start.xd + first, &friction, &t->by_start[i]);
    bramah__stop_slopes(circuit, i, c->now->s[i], c->now->v[i], &by_s, &by_v);
    t->by_start[i] *= cylinder->friction_scale;
    c->linear.F_s[i] = by_s;
    c->linear.F_v[i] = by_v - cylinder->friction_scale * friction;
  }
}

/* r_v and r_a [nf x nf]. */
static void rate_blocks(bramah_coupled *c)
{
  bramah__transition *t = &c->transition;
  const size_t nf = c->model->n_independent;
  for (size_t f = 0; f < nf; f++) {
    bramah__linear_column(c->model, c->now, &c->linear, f, 0.0, 1.0, 0.0, t->r_v + f, nf);
    bramah__linear_column(c->model, c->now, &c->linear, f, 0.0, 0.0, 1.0, t->r_a + f, nf);
  }
}

/* The mechanical block of J, rows nx long. */
static void mechanical_blocks(bramah_coupled *c, size_t nx)
{
  const bramah_model *model = c->model;
  bramah__transition *t = &c->transition;
  const size_t nf = model->n_independent;
  const double c1 = 2.0 / model->h;
  for (size_t f = 0; f < nf; f++)
    bramah__linear_column(model, c->now, &c->linear, f, 1.0, 0.0, 0.0, t->J + f, nx);
  for (size_t f = 0; f < nf; f++)
    for (size_t g = 0; g < nf; g++) t->J[f * nx + g] += c1 * (t->r_v[f * nf + g] + c1 * t->r_a[f * nf + g]);
  pressure_columns(model, c->now, &c->linear, t->J, nx);
}

static void hydraulic_blocks(bramah_coupled *c, size_t nx)
{
  const bramah_model *model = c->model;
  const bramah__linear *linear = &c->linear;
  const size_t nf = model->n_independent, np = model->circuit.n_volumes, nc = model->circuit.n_cylinders;
  const double c1 = 2.0 / model->h;
  for (size_t i = 0; i < np; i++) {
    double *row = c->transition.J + (nf + i) * nx;
    for (size_t f = 0; f < nf; f++) {
      row[f] = 0.0;
      for (size_t q = 0; q < nc; q++) {
        const double arm = c->now->row_i[q * nf + f];
        row[f] -=
            linear->pd_s[i * nc + q] * arm + linear->pd_v[i * nc + q] * (linear->v_zi[q * nf + f] + c1 * arm);
      }
    }
    for (size_t j = 0; j < np; j++) row[nf + j] = (i == j ? c1 : 0.0) - linear->pd_p[i * np + j];
  }
  for (size_t i = 0; i < model->circuit.n_metered; i++) {
    const bramah__metered_port *port = &model->circuit.metered_port[i];
    for (size_t f = 0; f < nf; f++)
      c->transition.J[(nf + port->volume) * nx + f] -=
          bramah__load_stiffness(&model->circuit, i) * linear->v_zi[port->cylinder * nf + f];
  }
}

/* Rows of virtual volumes take the change of the stroke where the others take its velocities. */
static void add_load_rows(bramah_coupled *c, double *X, size_t ne)
{
  const bramah_model *model = c->model;
  const size_t nf = model->n_independent;
  const double c1 = 2.0 / model->h;
  for (size_t i = 0; i < model->circuit.n_metered; i++) {
    const bramah__metered_port *port = &model->circuit.metered_port[i];
    const double K = bramah__load_stiffness(&model->circuit, i);
    const double *start = c->transition.V + port->cylinder * 2 * nf,
                 *end = c->now->row_i + port->cylinder * nf;
    double *row = X + port->volume * ne;
    for (size_t f = 0; f < nf; f++) {
      row[f] += K * (c1 * (start[nf + f] - end[f]) + start[f]);
      row[nf + f] += K * (start[nf + f] - end[f]);
    }
  }
}

/* -f_xk [nx x ne]. */
static void fill_right_side(bramah_coupled *c)
{
  const bramah_model *model = c->model;
  const bramah__linear *linear = &c->linear;
  bramah__transition *t = &c->transition;
  const size_t nf = model->n_independent, np = model->circuit.n_volumes, nc = model->circuit.n_cylinders,
               ne = 2 * nf + np;
  const double c1 = 2.0 / model->h;
  bramah__multiply(nf, nf, ne, t->r_a, t->A, t->X);
  for (size_t f = 0; f < nf; f++)
    for (size_t g = 0; g < nf; g++) {
      t->X[f * ne + g] += c1 * (t->r_v[f * nf + g] + c1 * t->r_a[f * nf + g]);
      t->X[f * ne + nf + g] += t->r_v[f * nf + g] + 2.0 * c1 * t->r_a[f * nf + g];
    }
  for (size_t q = 0; q < nc; q++)
    for (size_t f = 0; f < nf && t->by_start[q] != 0.0; f++)
      for (size_t k = 0; k < 2 * nf; k++)
        t->X[f * ne + k] -= c->now->row_i[q * nf + f] * t->by_start[q] * t->V[q * 2 * nf + k];
  memcpy(t->X + nf * ne, t->S, np * ne * sizeof(double));
  for (size_t i = 0; i < np; i++) {
    double *row = t->X + (nf + i) * ne;
    row[2 * nf + i] += c1;
    for (size_t q = 0; q < nc; q++)
      for (size_t f = 0; f < nf; f++) {
        const double by_rate = linear->pd_v[i * nc + q] * c->now->row_i[q * nf + f];
        row[f] -= c1 * by_rate;
        row[nf + f] -= by_rate;
      }
  }
  add_load_rows(c, t->X + nf * ne, ne);
}

/* Solve J X = X in place: rows of J were scaled by `weight`, its columns by `scale`. */
static bramah_status solve_columns(bramah__transition *t, size_t nx, size_t n_columns, double *X)
{
  for (size_t k = 0; k < n_columns; k++) {
    for (size_t r = 0; r < nx; r++) t->column[r] = X[r * n_columns + k] * t->factors.weight[r];
    bramah__lu_solve(nx, t->factors.LU, t->factors.pivot, t->column);
    for (size_t r = 0; r < nx; r++) {
      if (!isfinite(t->column[r])) return BRAMAH_E_NOT_FINITE;
      X[r * n_columns + k] = t->column[r] * t->factors.scale[r];
    }
  }
  return BRAMAH_OK;
}

static bramah_status factor(bramah_coupled *c, size_t nx)
{
  bramah__transition *t = &c->transition;
  for (size_t k = 0; k < nx; k++) t->scale[k] = k < c->model->n_independent ? 1.0 : 1e6;
  for (size_t r = 0; r < nx; r++) {
    double largest = 0.0, *row = t->J + r * nx;
    for (size_t k = 0; k < nx; k++) {
      row[k] *= t->scale[k];
      largest = fmax(largest, fabs(row[k]));
    }
    t->weight[r] = largest > 0.0 ? 1.0 / largest : 1.0;
    for (size_t k = 0; k < nx; k++) row[k] *= t->weight[r];
  }
  t->factors = (bramah__factors){t->J, t->weight, t->scale, t->pivot};
  return bramah__lu_factor(nx, t->J, t->pivot) ? BRAMAH_E_SINGULAR : BRAMAH_OK;
}

/* z' at the end follows positions and rates by the trapezoidal rule. */
static void store_transition(const bramah_coupled *c, double *F)
{
  const bramah__transition *t = &c->transition;
  const size_t nf = c->model->n_independent, np = c->model->circuit.n_volumes, ne = 2 * nf + np;
  const double c1 = 2.0 / c->model->h;
  memcpy(F, t->X, nf * ne * sizeof(double));
  for (size_t f = 0; f < nf; f++) {
    for (size_t k = 0; k < ne; k++) F[(nf + f) * ne + k] = c1 * (t->X[f * ne + k] - (k == f ? 1.0 : 0.0));
    F[(nf + f) * ne + nf + f] -= 1.0;
  }
  memcpy(F + 2 * nf * ne, t->X + nf * ne, np * ne * sizeof(double));
}

/* The resolvent (I - h/2 A)^-1 of the trapezoidal rule on unit velocities and pressures: J [z; p] = 2/h [r_a;
 * 1], z' = 2/h z. For a stiff mode of rate a it leaves the variance q / 2a that the continuous mode has,
 * whatever the step. */
static bramah_status noise_response(bramah_coupled *c, double *N)
{
  bramah__transition *t = &c->transition;
  const size_t nf = c->model->n_independent, np = c->model->circuit.n_volumes, nx = nf + np;
  const double c1 = 2.0 / c->model->h;
  double *X = N + nf * nx; /* solved in the rows of z' and p, then moved */
  memset(N, 0, (2 * nf + np) * nx * sizeof *N);
  for (size_t f = 0; f < nf; f++)
    for (size_t g = 0; g < nf; g++) X[f * nx + g] = c1 * t->r_a[f * nf + g];
  for (size_t i = 0; i < np; i++) X[(nf + i) * nx + nf + i] = c1;
  const bramah_status status = solve_columns(t, nx, nx, X);
  for (size_t k = 0; k < nf * nx; k++) {
    N[k] = X[k];
    X[k] *= c1;
  }
  return status;
}

/* Residual of the step's equations at its end as the tables are, f [nx]: what of it a parameter changes. */
static void end_residual(bramah_coupled *c, double *f)
{
  const bramah_model *model = c->model;
  const size_t nf = model->n_independent;
  const bramah__state *start = &c->transition.start;
  double *U = c->transition.U;
  for (size_t i = 0; i < bramah__n_spools(&model->circuit); i++) {
    const bramah__valve *valve = &model->circuit.valve[i];
    U[i] = bramah__spool_step(valve, start->U[i], start->u[valve->input], model->h);
  }
  if (model->circuit.n_metered) bramah__update_forces(model, c->state.p, U, c->now);
  bramah__imbalance(model, &c->state, c->now, c->state.zdd, f);
  bramah__evaluate_rates(model, c->state.p, U, c->now, f + nf);
  for (size_t i = 0; i < model->circuit.n_volumes; i++) f[nf + i] = -f[nf + i];
}

/* X [nx x n_par] = -f_theta, that of the carried rates included: G holds these. */
static void parameter_right_side(bramah_coupled *c, size_t n_par, const size_t *par, const double *G,
                                 double *X)
{
  bramah__transition *t = &c->transition;
  const size_t nf = c->model->n_independent, nx = nf + c->model->circuit.n_volumes;
  end_residual(c, t->f0);
  for (size_t k = 0; k < n_par; k++) {
    const double value = c->state.theta[par[k]],
                 step = parameter_step(&c->model->parameter[par[k]].info, value);
    try_parameter(c, par[k], value + step);
    end_residual(c, t->f);
    for (size_t r = 0; r < nx; r++) X[r * n_par + k] = -(t->f[r] - t->f0[r]) / step;
    for (size_t f = 0; f < nf; f++)
      for (size_t g = 0; g < nf; g++) X[f * n_par + k] += t->r_a[f * nf + g] * G[g * n_par + k];
    for (size_t r = nf; r < nx; r++) X[r * n_par + k] += G[r * n_par + k];
  }
  leave_parameters(c);
}

/* G [ne x n_par] with the factors of J. */
static bramah_status store_parameters(bramah_coupled *c, size_t n_par, const size_t *par, double *G)
{
  const size_t nf = c->model->n_independent, np = c->model->circuit.n_volumes;
  const double c1 = 2.0 / c->model->h;
  if (n_par == 0) return BRAMAH_OK;
  double *X = c->transition.X_par;
  parameter_right_side(c, n_par, par, G, X);
  const bramah_status status = solve_columns(&c->transition, nf + np, n_par, X);
  memcpy(G, X, nf * n_par * sizeof *G);
  for (size_t k = 0; k < nf * n_par; k++) G[nf * n_par + k] = c1 * X[k];
  memcpy(G + 2 * nf * n_par, X + nf * n_par, np * n_par * sizeof *G);
  return status;
}

/* Newton's last tangent was taken one correction before the end, less than the tolerances away: its factors
 * and what `linear` holds serve here too. Other formulations and tangents have none of this kind. */
static int has_newton_factors(const bramah_coupled *c)
{
  return c->formulation == &bramah__partitioning && c->model->tangent == BRAMAH_TANGENT_ANALYTIC &&
         !c->sweeps;
}

static bramah_status take_newton_factors(bramah_coupled *c)
{
  bramah__newton *newton = &c->newton;
  c->transition.factors = (bramah__factors){newton->J, newton->weight, newton->scale, newton->pivot};
  rate_blocks(c);
  return BRAMAH_OK;
}

static bramah_status factor_anew(bramah_coupled *c)
{
  const bramah_model *model = c->model;
  const size_t nf = model->n_independent, nx = nf + model->circuit.n_volumes;
  bramah__linear_circuit(model, c->state.p, c->state.U, c->now, &c->linear);
  bramah__linear_reduce(model, &c->state, c->now, &c->linear);
  rate_blocks(c);
  mechanical_blocks(c, nx);
  hydraulic_blocks(c, nx);
  return factor(c, nx);
}

static bramah_status end_of_step(bramah_coupled *c, double *F, double *N)
{
  const bramah_model *model = c->model;
  bramah__transition *t = &c->transition;
  const size_t nf = model->n_independent, np = model->circuit.n_volumes, ne = 2 * nf + np;
  bramah__inverse_dynamics(model, &c->state, c->now, c->state.zdd);
  step_slopes(c);
  bramah_status status = has_newton_factors(c) ? take_newton_factors(c) : factor_anew(c);
  if (status != BRAMAH_OK) return status;
  memcpy(c->now->D, c->linear.D, model->n * nf * sizeof(double)); /* the rows of sensors will ask for it */
  c->now->D_known = 1;
  fill_right_side(c);
  status = solve_columns(t, nf + np, ne, t->X);
  if (status == BRAMAH_OK) store_transition(c, F);
  if (status == BRAMAH_OK && N) status = noise_response(c, N);
  return status;
}

bramah_status bramah__step_with_transition(bramah_coupled *c, double *F, double *N, size_t n_par,
                                           const size_t *par, double *G, bramah_diag *diag)
{
  bramah_status status = bramah__refresh(c, diag);
  if (status != BRAMAH_OK) return status;
  if (keep_start(c, n_par, par, G) != BRAMAH_OK)
    return bramah__fail(diag, BRAMAH_E_SINGULAR, c->model->name, "the mass matrix is singular");
  status = bramah__trapezoidal_step(c, diag);
  if (status != BRAMAH_OK) return status;
  status = end_of_step(c, F, N);
  if (status == BRAMAH_OK) status = store_parameters(c, n_par, par, G);
  if (status == BRAMAH_OK) return status;
  bramah__state_copy(&c->transition.start, &c->state);
  c->now_valid = 0;
  return bramah__fail(diag, status, c->model->name, "the derivative of the step cannot be formed");
}

bramah_status bramah__acceleration_derivative(bramah_coupled *c, double *J, size_t n_par, const size_t *par,
                                              double *Jp, bramah_diag *diag)
{
  bramah_status status = bramah__refresh(c, diag);
  if (status != BRAMAH_OK) return status;
  status = rates_by_parameters(c, n_par, par, Jp, NULL);
  if (status == BRAMAH_OK) status = bramah__accelerations_by_state(c, J);
  if (status == BRAMAH_OK) return BRAMAH_OK;
  return bramah__fail(diag, status, c->model->name, "the mass matrix is singular");
}
