/* SPDX-License-Identifier: MIT */
/* What rolls and glides. */
#include "lib/linear/linearization_internal.h"
#include "lib/base/diag.h"
#include "lib/math/dense.h"
#include "lib/math/vector3.h"

#include <string.h>

/* Where a wheel touches, or an edge cuts: place p, and the directions u in which velocities count. */
typedef struct contact {
  double centre[3], axis[3]; /* inertial axes */
  double down[3];            /* from the centre to the lowest point, unit length */
  double sine;               /* of the angle between axis and vertical */
  double p[3];
  double u[3][3];
} contact;

static void scale3(double s, double *v)
{
  for (int i = 0; i < 3; i++) v[i] *= s;
}

static void find_contact(const bramah_model *model, const bramah__pose *pose, const bramah__rolling *r,
                         contact *c)
{
  bramah__point(pose, r->body, r->point, c->centre);
  bramah__direction(pose, r->body, r->axis, c->axis);
  bramah__copy3(c->centre, c->p);
  if (!r->is_wheel) {
    bramah__copy3(c->axis, c->u[0]);
    return;
  }
  /* Across the plane, and two directions along it. */
  const double *g = model->tree.gravity, size = sqrt(bramah__dot3(g, g));
  for (int i = 0; i < 3; i++) c->u[0][i] = size > 0.0 ? -g[i] / size : (i == 2);
  const int least = fabs(c->u[0][0]) <= fabs(c->u[0][1]) && fabs(c->u[0][0]) <= fabs(c->u[0][2]) ? 0
                    : fabs(c->u[0][1]) <= fabs(c->u[0][2])                                       ? 1
                                                                                                 : 2;
  double e[3] = {0};
  e[least] = 1.0;
  bramah__cross3(c->u[0], e, c->u[1]);
  scale3(1.0 / sqrt(bramah__dot3(c->u[1], c->u[1])), c->u[1]);
  bramah__cross3(c->u[0], c->u[1], c->u[2]);
  bramah__copy3(c->u[0], c->down); /* m = k - (k.a) a */
  bramah__axpy3(-bramah__dot3(c->u[0], c->axis), c->axis, c->down);
  c->sine = sqrt(bramah__dot3(c->down, c->down));
  scale3(-1.0 / fmax(c->sine, 1e-12), c->down);
  bramah__axpy3(r->radius, c->down, c->p);
}

size_t bramah__count_rolling_rows(const bramah_model *model)
{
  size_t rows = 0;
  for (size_t i = 0; i < model->n_rolling; i++) rows += bramah__rolling_rows(&model->rolling[i]);
  return rows;
}

double bramah__rolling_height(const bramah_model *model, const bramah__pose *pose,
                              const bramah__rolling *wheel)
{
  contact c;
  find_contact(model, pose, wheel, &c);
  return bramah__dot3(c.u[0], c.p);
}

void bramah__rolling_jacobian(const bramah_model *model, const bramah__pose *pose, double *B)
{
  const size_t n = model->n;
  memset(B, 0, bramah__count_rolling_rows(model) * n * sizeof *B);
  for (size_t i = 0; i < model->n_rolling; i++) {
    const bramah__rolling *r = &model->rolling[i];
    contact c;
    find_contact(model, pose, r, &c);
    for (int j = r->body; j >= 0; j = model->tree.link[j].parent) {
      double v[3];
      bramah__point_derivative(&model->tree, pose, (size_t)j, c.p, v);
      for (size_t k = 0; k < bramah__rolling_rows(r); k++) B[k * n + (size_t)j] = bramah__dot3(c.u[k], v);
    }
    B += bramah__rolling_rows(r) * n;
  }
}

void bramah__rolling_acceleration(const bramah_model *model, const bramah__pose *pose, const double *Z,
                                  const double *Zd, double *out)
{
  for (size_t i = 0; i < model->n_rolling; i++) {
    const bramah__rolling *r = &model->rolling[i];
    const double *z = Z + 6 * r->body, *zd = Zd + 6 * r->body;
    contact c;
    double wander[3], a[3], turn[3];
    find_contact(model, pose, r, &c);
    bramah__cross3(z + 3, c.axis, turn);

    /* The contact point wanders over plane and rim: with the centre, and with the lowest direction. */
    bramah__point_velocity(Z, r->body, c.centre, wander);
    if (r->is_wheel) {
      double m_rate[3] = {0};
      bramah__axpy3(-bramah__dot3(c.u[0], turn), c.axis, m_rate);
      bramah__axpy3(-bramah__dot3(c.u[0], c.axis), turn, m_rate);
      bramah__axpy3(-bramah__dot3(c.down, m_rate), c.down, m_rate);
      bramah__axpy3(-r->radius / fmax(c.sine, 1e-12), m_rate, wander);
    }
    bramah__cross3(zd + 3, c.p, a);
    bramah__axpy3(1.0, zd, a);
    bramah__add_cross3(z + 3, wander, a); /* d(s' + w x p)/dt */
    for (size_t k = 0; k < bramah__rolling_rows(r); k++) *out++ = bramah__dot3(c.u[k], a);

    if (r->is_wheel) continue;
    double v[3];
    bramah__point_velocity(Z, r->body, c.p, v); /* the normal turns with the body */
    out[-1] += bramah__dot3(turn, v);
  }
}

/* Nonholonomic constraints in the linearized equations: with the independent coordinates xi of the plant,
 * which know its loops, and the rows B xi' = 0 of what rolls, heights among them,
 *
 *   r(xi, xi', xi'') + B' lambda = 0      r = Rz' (M z'' - Q)
 *
 * xi = N a for positions a that the heights leave, xi' = V w + S a for velocities w that all rows leave, S
 * as the rows turn with the positions; accelerations alike. The order is 2n - 2m - l (+ r + u), l the
 * nonholonomic rows.
 *
 * r is differentiated on paper (residual_derivative.c); B and its rate are differenced along the coordinates, to fourth
 * order.
 *
 * Source: Agundez et al. 2023, equations 31-64, with the coordinates of the tree. */

static const double step = 2e-3, rank_tolerance = 1e-9, close_enough = 1e-6, noise = 1e-12;

void bramah__roll_layout(const bramah_model *model, bramah__arena *arena, size_t order, bramah__roll *r)
{
  const size_t n = model->n, n_dof = model->n_independent, rows = bramah__count_rolling_rows(model),
               square = rows ? n_dof * n_dof : 0;
  bramah__roll *fields = r;
  *r = (bramah__roll){.rows = rows};
  BRAMAH__ROLL_FIELDS(BRAMAH__FIELD_TAKE)
}

/* ---- bases ---- */

/* out [n_dof x (n_dof - rank)] with B out = 0: unit in the rows of the columns without a pivot. Leaves the factors
 * of the dependent block. Returns the rank. */
static size_t null_basis(bramah__roll *r, size_t n_dof, size_t rows, const double *B, double *out)
{
  memcpy(r->copy, B, rows * n_dof * sizeof *B);
  const size_t rank = bramah__eliminate(rows, n_dof, r->copy, rank_tolerance, NULL, r->row, r->column),
               rest = n_dof - rank;
  for (size_t i = 0; i < rank; i++)
    for (size_t k = 0; k < rank; k++)
      r->LU[i * rank + k] = B[(size_t)r->row[i] * n_dof + (size_t)r->column[k]];
  bramah__lu_factor(rank, r->LU, r->pivot);
  memset(out, 0, n_dof * rest * sizeof *out);
  for (size_t k = 0; k < rest; k++) {
    const size_t j = (size_t)r->column[rank + k];
    for (size_t i = 0; i < rank; i++) r->rhs[i] = -B[(size_t)r->row[i] * n_dof + j];
    bramah__lu_solve(rank, r->LU, r->pivot, r->rhs);
    for (size_t i = 0; i < rank; i++) out[(size_t)r->column[i] * rest + k] = r->rhs[i];
    out[j * rest + k] = 1.0;
  }
  return rank;
}

/* out [n_dof x k] = what dependent velocities do so that B out + X = 0, X [rows x k]. */
static void follow(bramah__roll *r, size_t n_dof, size_t k, const double *X, double *out)
{
  memset(out, 0, n_dof * k * sizeof *out);
  for (size_t j = 0; j < k; j++) {
    for (size_t i = 0; i < r->rank; i++) r->rhs[i] = -X[(size_t)r->row[i] * k + j];
    bramah__lu_solve(r->rank, r->LU, r->pivot, r->rhs);
    for (size_t i = 0; i < r->rank; i++) out[(size_t)r->column[i] * k + j] = r->rhs[i];
  }
}

bramah_status bramah__roll_bases(bramah_linearization *l, bramah_coupled *c, bramah_diag *diag)
{
  bramah__roll *r = &l->roll;
  const bramah_model *model = c->model;
  const size_t n = model->n, n_dof = model->n_independent;
  bramah__rolling_jacobian(model, c->now->pose, r->B);
  bramah__multiply(r->rows, n, n_dof, r->B, c->now->Rz, r->Bx);

  /* Positions that the heights alone leave, */
  size_t n_heights = 0, row = 0;
  for (size_t i = 0; i < model->n_rolling; i++) {
    if (model->rolling[i].is_wheel)
      memcpy(r->work + n_dof * n_heights++, r->Bx + row * n_dof, n_dof * sizeof *r->work);
    row += bramah__rolling_rows(&model->rolling[i]);
  }
  r->n_a = n_dof - null_basis(r, n_dof, n_heights, r->work, r->N);
  for (size_t i = 0; i < r->n_a; i++) r->position[i] = r->column[n_dof - r->n_a + i];

  /* and velocities that all rows leave. */
  r->rank = null_basis(r, n_dof, r->rows, r->Bx, r->V);
  r->n_w = n_dof - r->rank;
  if (r->n_w == 0)
    return bramah__fail(diag, BRAMAH_E_SINGULAR, model->name, "wheels and knife edges leave no motion");
  return BRAMAH_OK;
}

/* ---- the point ---- */

static bramah_status check_contacts(const bramah_linearization *l, const bramah_coupled *c, bramah_diag *diag)
{
  const bramah_model *model = c->model;
  const size_t n = model->n;
  for (size_t i = 0, row = 0; i < model->n_rolling; i++) {
    const bramah__rolling *r = &model->rolling[i];
    const double height = r->is_wheel ? bramah__rolling_height(model, c->now->pose, r) : 0.0;
    double slip = 0.0;
    for (size_t k = 0; k < bramah__rolling_rows(r); k++, row++) {
      double v = 0.0;
      for (size_t j = 0; j < n; j++) v += l->roll.B[row * n + j] * c->state.zd[j];
      slip = sqrt(slip * slip + v * v);
    }
    if (fabs(height) <= close_enough && slip <= close_enough) continue;
    const int is_off = fabs(height) > close_enough;
    bramah__fail(diag, BRAMAH_E_VALUE, r->name,
                 is_off        ? "does not touch the plane; its height is "
                 : r->is_wheel ? "does not roll; it slips by "
                               : "does not glide; it is pushed across its blade by ");
    bramah__add_number(diag, is_off ? height : slip, 4);
    bramah__add_text(diag, is_off ? " m" : " m/s");
    return BRAMAH_E_VALUE;
  }
  return BRAMAH_OK;
}

/* M, and xi'' and lambda of [M B'; B 0] in rows with a pivot; then the derivatives of r at this motion with the
 * constraint forces, which the multipliers of the loops feel. */
static bramah_status solve_motion(bramah_linearization *l, bramah_coupled *c, bramah_diag *diag)
{
  bramah__roll *r = &l->roll;
  const bramah_model *model = c->model;
  const size_t n = model->n, n_dof = model->n_independent, N = n_dof + r->rank;
  bramah__inverse_dynamics(model, &c->state, c->now, c->state.zdd);
  bramah__derive_independent(model, &c->state, c->now, &c->derivative);
  for (size_t f = 0; f < n_dof; f++)
    bramah__derivative_column(model, c->now, &c->derivative, f, 0.0, 0.0, 1.0, r->M + f, n_dof);

  /* What is left of the equations at xi'' = 0. */
  memset(r->K, 0, N * N * sizeof *r->K);
  memset(r->x, 0, n_dof * sizeof *r->x);
  bramah__expand_acceleration(model, c->now, r->x, r->zdd);
  bramah__imbalance(model, &c->state, c->now, r->zdd, r->rhs);
  bramah__tree_acceleration(&model->tree, c->now->pose, c->now->Z, c->state.zd, r->zdd, c->now->Zd);
  bramah__rolling_acceleration(model, c->now->pose, c->now->Z, c->now->Zd, r->e);
  for (size_t f = 0; f < n_dof; f++) {
    memcpy(r->K + f * N, r->M + f * n_dof, n_dof * sizeof *r->K);
    r->rhs[f] = -r->rhs[f];
  }
  for (size_t k = 0; k < r->rank; k++) {
    const size_t row = (size_t)r->row[k];
    for (size_t f = 0; f < n_dof; f++)
      r->K[(n_dof + k) * N + f] = r->K[f * N + n_dof + k] = r->Bx[row * n_dof + f];
    r->rhs[n_dof + k] = -r->e[row];
  }
  if (bramah__lu_factor(N, r->K, r->pivot))
    return bramah__fail(diag, BRAMAH_E_SINGULAR, model->name,
                        "the equations of the rolling motion are singular");
  bramah__lu_solve(N, r->K, r->pivot, r->rhs);
  memcpy(r->x, r->rhs, n_dof * sizeof *r->x); /* xi'' */
  memset(r->lambda, 0, r->rows * sizeof *r->lambda);
  for (size_t k = 0; k < r->rank; k++) r->lambda[r->row[k]] = r->rhs[n_dof + k];

  /* Derivatives there. */
  bramah__expand_acceleration(model, c->now, r->x, r->zdd);
  bramah__inverse_dynamics(model, &c->state, c->now, r->zdd);
  bramah__apply_transposed(r->rows, n, r->B, r->lambda, r->force);
  for (size_t j = 0; j < n; j++) c->now->tau[j] += r->force[j];
  bramah__state_slopes(c);
  if (model->circuit.n_metered) bramah__derive_circuit(model, c->state.p, c->state.U, c->now, &c->derivative);
  bramah__derive_independent(model, &c->state, c->now, &c->derivative);
  for (size_t f = 0; f < n_dof; f++) {
    bramah__derivative_column(model, c->now, &c->derivative, f, 1.0, 0.0, 0.0, r->rz + f, n_dof);
    bramah__derivative_column(model, c->now, &c->derivative, f, 0.0, 1.0, 0.0, r->rv + f, n_dof);
  }
  return BRAMAH_OK;
}

/* Difference of what four points gave, element i of n. */
static double central(const double *v, size_t n, size_t i)
{
  return (v[i] - 8.0 * v[n + i] + 8.0 * v[2 * n + i] - v[3 * n + i]) / (12.0 * step);
}

/* Derivatives of B z', of its rate at the held xi'' and of the force B' lambda by each coordinate and its rate. */
static bramah_status differentiate_rows(bramah_linearization *l, bramah_coupled *c)
{
  static const double at[4] = {-2.0, -1.0, 1.0, 2.0};
  bramah__roll *r = &l->roll;
  const bramah_model *model = c->model;
  const size_t n = model->n, n_dof = model->n_independent, rows = r->rows;
  bramah__state *state = &c->probe_state;
  bramah__eval *probe = c->probe;
  for (size_t i = 0; i < 2 * n_dof; i++) {
    const size_t f = i / 2;
    const int by_rate = i % 2 == 1;
    for (size_t side = 0; side < 4; side++) {
      const double d = at[side] * step;
      bramah__state_copy(&c->state, state);
      for (size_t j = 0; j < n; j++) state->z[j] += c->now->Rz[j * n_dof + f] * (by_rate ? 0.0 : d);
      state->zd[state->index[model->n_dependent + f]] += by_rate ? d : 0.0;
      const bramah_status status = bramah__evaluate_position(model, state, probe, BRAMAH__LOOPS_CLOSED);
      if (status != BRAMAH_OK) return status;
      bramah__set_motion(model, state, probe);
      bramah__expand_acceleration(model, probe, r->x, probe->column);
      bramah__tree_acceleration(&model->tree, probe->pose, probe->Z, state->zd, probe->column, probe->Zd);
      bramah__rolling_jacobian(model, probe->pose, r->B);
      bramah__apply(rows, n, r->B, state->zd, r->c + side * rows);
      bramah__apply_transposed(rows, n, r->B, r->lambda, r->g + side * n);
      bramah__rolling_acceleration(model, probe->pose, probe->Z, probe->Zd, r->e + side * rows);
    }
    for (size_t k = 0; k < rows; k++) {
      (by_rate ? r->Ev : r->Ez)[k * n_dof + f] = central(r->e, rows, k);
      if (!by_rate) r->Cz[k * n_dof + f] = central(r->c, rows, k);
    }
    for (size_t h = 0; h < n_dof && !by_rate; h++) { /* Rz' d(B' lambda) */
      double sum = 0.0;
      for (size_t j = 0; j < n; j++) sum += c->now->Rz[j * n_dof + h] * central(r->g, n, j);
      r->G[h * n_dof + f] = sum;
    }
  }
  bramah__rolling_jacobian(model, c->now->pose, r->B);
  return BRAMAH_OK;
}

/* ---- the equations ---- */

/* y [nw x k] = V' X, X [n_dof x k] */
static void project(const bramah__roll *r, size_t n_dof, size_t k, const double *X, double *y)
{
  for (size_t i = 0; i < r->n_w; i++)
    for (size_t j = 0; j < k; j++) {
      double sum = 0.0;
      for (size_t f = 0; f < n_dof; f++) sum += r->V[f * r->n_w + i] * X[f * k + j];
      y[i * k + j] = sum;
    }
}

/* Columns of A for w' from forces X [n_dof x k]: -(V' M V)^-1 V' X into A from column `first` on. */
static void put_accelerations(bramah__roll *r, size_t n_dof, size_t order, size_t k, const double *X,
                              size_t first)
{
  project(r, n_dof, k, X, r->Y);
  for (size_t j = 0; j < k; j++) {
    for (size_t i = 0; i < r->n_w; i++) r->rhs[i] = -r->Y[i * k + j];
    bramah__cholesky_solve(r->n_w, r->K, r->rhs);
    for (size_t i = 0; i < r->n_w; i++) r->A[(r->n_a + i) * order + first + j] = r->rhs[i];
  }
}

/* X [n_dof x k] += A B of [n_dof x n_dof] [n_dof x k] */
static void add_product(size_t n_dof, size_t k, const double *A, const double *B, double *X)
{
  for (size_t i = 0; i < n_dof; i++)
    for (size_t f = 0; f < n_dof; f++) {
      const double a = A[i * n_dof + f];
      for (size_t j = 0; j < k && a != 0.0; j++) X[i * k + j] += a * B[f * k + j];
    }
}

/* Rows of a' and w' by a and w. */
static bramah_status motion_block(bramah__roll *r, size_t n_dof, size_t order)
{
  const size_t na = r->n_a, nw = r->n_w, m = na + nw;

  /* How velocities and accelerations follow a and w: S, U_a, U_w. */
  bramah__multiply(r->rows, n_dof, na, r->Cz, r->N, r->work);
  follow(r, n_dof, na, r->work, r->S);
  bramah__multiply(r->rows, n_dof, na, r->Ez, r->N, r->work);
  bramah__multiply(r->rows, n_dof, na, r->Ev, r->S, r->copy);
  for (size_t i = 0; i < r->rows * na; i++) r->work[i] += r->copy[i];
  follow(r, n_dof, na, r->work, r->Ua);
  bramah__multiply(r->rows, n_dof, nw, r->Ev, r->V, r->work);
  follow(r, n_dof, nw, r->work, r->Uw);

  /* V' M V, which r->K holds from now on. */
  bramah__multiply(n_dof, n_dof, nw, r->M, r->V, r->T);
  project(r, n_dof, nw, r->T, r->K);
  if (bramah__cholesky_factor(nw, r->K)) return BRAMAH_E_SINGULAR;

  memset(r->A, 0, order * order * sizeof *r->A);
  for (size_t i = 0; i < na; i++) {
    const size_t f = (size_t)r->position[i];
    for (size_t j = 0; j < na; j++) r->A[i * order + j] = r->S[f * na + j];
    for (size_t j = 0; j < nw; j++) r->A[i * order + na + j] = r->V[f * nw + j];
  }
  for (size_t i = 0; i < n_dof * n_dof; i++) r->rz[i] += r->G[i];
  memset(r->T, 0, n_dof * n_dof * sizeof *r->T);
  add_product(n_dof, na, r->rz, r->N, r->T);
  add_product(n_dof, na, r->rv, r->S, r->T);
  add_product(n_dof, na, r->M, r->Ua, r->T);
  put_accelerations(r, n_dof, order, na, r->T, 0);
  memset(r->T, 0, n_dof * n_dof * sizeof *r->T);
  add_product(n_dof, nw, r->rv, r->V, r->T);
  add_product(n_dof, nw, r->M, r->Uw, r->T);
  put_accelerations(r, n_dof, order, nw, r->T, na);

  /* What differences cannot separate from nothing is nothing: positions on which nothing depends (along the plane,
   * about the axles, the heading) must not come back into rates by their rounding, which would split their
   * zeros. */
  double largest = 0.0;
  for (size_t i = 0; i < m; i++)
    for (size_t j = 0; j < m; j++) largest = fmax(largest, fabs(r->A[i * order + j]));
  for (size_t i = 0; i < m; i++)
    for (size_t j = 0; j < m; j++)
      if (fabs(r->A[i * order + j]) < noise * largest) r->A[i * order + j] = 0.0;
  return BRAMAH_OK;
}

/* A row by the plant's coordinates, [2 n_dof + rest], in those that roll. */
static void turn_row(const bramah__roll *r, size_t n_dof, size_t rest, const double *row, double *out)
{
  for (size_t j = 0; j < r->n_a; j++) {
    out[j] = 0.0;
    for (size_t f = 0; f < n_dof; f++)
      out[j] += row[f] * r->N[f * r->n_a + j] + row[n_dof + f] * r->S[f * r->n_a + j];
  }
  for (size_t j = 0; j < r->n_w; j++) {
    out[r->n_a + j] = 0.0;
    for (size_t f = 0; f < n_dof; f++) out[r->n_a + j] += row[n_dof + f] * r->V[f * r->n_w + j];
  }
  memcpy(out + r->n_a + r->n_w, row + 2 * n_dof, rest * sizeof *out);
}

/* Accelerations of the free plant, column `from` of X [. x width] in rows n_dof ..., as they are when it rolls:
 * M times them is the force behind them. */
static void turn_acceleration(bramah__roll *r, size_t n_dof, const double *X, size_t width, size_t from,
                              double *out, size_t out_width)
{
  for (size_t i = 0; i < n_dof; i++) {
    r->T[i] = 0.0;
    for (size_t f = 0; f < n_dof; f++) r->T[i] += r->M[i * n_dof + f] * X[(n_dof + f) * width + from];
  }
  project(r, n_dof, 1, r->T, r->rhs);
  bramah__cholesky_solve(r->n_w, r->K, r->rhs);
  for (size_t i = 0; i < r->n_w; i++) out[i * out_width] = r->rhs[i];
}

/* All that is beyond the motion: other states, C, B, names and values; r->A becomes A. Rows of B move up: what is read
 * lies behind what is written. */
static void turn_equations(bramah_linearization *l, const bramah_coupled *c, size_t n_dof, size_t rest)
{
  bramah__roll *r = &l->roll;
  const bramah_model *model = c->model;
  const size_t nu = l->system.n_u, full = 2 * n_dof + rest, first = r->n_a + r->n_w, order = first + rest;
  for (size_t i = 0; i < rest; i++)
    turn_row(r, n_dof, rest, l->A + (2 * n_dof + i) * full, r->A + (first + i) * order);
  for (size_t j = 0; j < rest; j++)
    turn_acceleration(r, n_dof, l->A, full, 2 * n_dof + j, r->A + r->n_a * order + first + j, order);
  memcpy(l->A, r->A, order * order * sizeof *l->A);

  for (size_t i = 0; i < l->system.n_y; i++) {
    turn_row(r, n_dof, rest, l->C + i * full, r->A);
    memcpy(l->C + i * order, r->A, order * sizeof *l->C);
  }
  for (size_t u = 0; u < nu; u++) {
    turn_acceleration(r, n_dof, l->B, nu, u, r->Y, 1);
    for (size_t i = 0; i < r->n_a; i++) l->B[i * nu + u] = 0.0;
    for (size_t i = 0; i < r->n_w; i++) l->B[(r->n_a + i) * nu + u] = r->Y[i];
    for (size_t i = 0; i < rest; i++) l->B[(first + i) * nu + u] = l->B[(2 * n_dof + i) * nu + u];
  }

  /* Positions, then velocities of those that are independent: column holds these behind the rank. */
  for (size_t i = 0; i < first; i++) {
    const int velocity = i >= r->n_a;
    const size_t f = velocity ? (size_t)r->column[r->rank + i - r->n_a] : (size_t)r->position[i];
    const size_t joint = (size_t)c->state.index[model->n_dependent + f];
    const bramah_output_info *info = &model->output[3 * joint + (velocity ? 1 : 0)].info;
    l->x_name[i] = info->name;
    l->x_unit[i] = info->unit;
    l->x[i] = velocity ? c->state.zd[joint] : c->state.z[joint];
    l->xd[i] = velocity ? r->zdd[joint] : c->state.zd[joint];
  }
  for (size_t i = 0; i < rest; i++) {
    l->x_name[first + i] = l->x_name[2 * n_dof + i];
    l->x_unit[first + i] = l->x_unit[2 * n_dof + i];
    l->x[first + i] = l->x[2 * n_dof + i];
    l->xd[first + i] = l->xd[2 * n_dof + i];
  }
}

bramah_status bramah__roll_on(bramah_linearization *l, bramah_coupled *c, bramah_diag *diag)
{
  bramah__roll *r = &l->roll;
  const char *name = c->model->name;
  const size_t n_dof = c->model->n_independent, rest = l->system.n - 2 * n_dof;
  bramah_status status = bramah__roll_bases(l, c, diag);
  if (status == BRAMAH_OK) status = check_contacts(l, c, diag);
  if (status == BRAMAH_OK) status = solve_motion(l, c, diag);
  if (status != BRAMAH_OK) return status;
  if (differentiate_rows(l, c) != BRAMAH_OK)
    return bramah__fail(diag, BRAMAH_E_SINGULAR, name, "the rolling motion cannot be differentiated");

  /* Its factors anew: the motion was solved in between. */
  r->rank = null_basis(r, n_dof, r->rows, r->Bx, r->V);
  const size_t order = r->n_a + r->n_w + rest;
  if (motion_block(r, n_dof, order) != BRAMAH_OK)
    return bramah__fail(diag, BRAMAH_E_SINGULAR, name, "the mass matrix of the rolling motion is singular");
  turn_equations(l, c, n_dof, rest);
  l->system.n = order;
  l->system.n_position = r->n_a;
  l->system.n_velocity = r->n_w;
  return BRAMAH_OK;
}

void bramah__unroll(const bramah_linearization *l, const double *dx, double *out)
{
  const bramah__roll *r = &l->roll;
  const size_t n_dof = l->model->n_independent;
  for (size_t f = 0; f < n_dof; f++) {
    out[f] = out[n_dof + f] = 0.0;
    for (size_t i = 0; i < r->n_a; i++) {
      out[f] += r->N[f * r->n_a + i] * dx[i];
      out[n_dof + f] += r->S[f * r->n_a + i] * dx[i];
    }
    for (size_t i = 0; i < r->n_w; i++) out[n_dof + f] += r->V[f * r->n_w + i] * dx[r->n_a + i];
  }
  memcpy(out + 2 * n_dof, dx + r->n_a + r->n_w, l->system.n_pressure * sizeof *out);
}
