/* SPDX-License-Identifier: MIT */
#include "lib/base/diag.h"
#include "lib/hydraulics/circuit_graph.h"
#include "lib/plant/step_builder.h"

#include <stdlib.h>
#include <string.h>

/* What all parts at a point build on. */
static int point_part(const bramah__step_builder *b)
{
  return b->out->nw ? BRAMAH__PART_SPEEDS : BRAMAH__PART_STEP;
}

static void give_pivots(bramah__step_builder *b, const bramah__elimination *e, double **typical)
{
  *typical = calloc(e->n + 1, sizeof **typical);
  for (size_t k = 0; k < e->n; k++) {
    const bramah__expr pivot = e_inv(e->LU[k * e->n + k]);
    bramah__give(b, 1, &pivot, 1);
    if (*typical) (*typical)[k] = e->pivot[k];
  }
  if (!*typical) bramah__graph_fail(b->graph);
}

static void give_pivots_again(bramah__step_builder *b, const bramah__elimination *e)
{
  double *again;
  give_pivots(b, e, &again);
  free(again);
}

/* Factors of a matrix [count x count] of the unknowns, which have typical sizes: pressures and load signals go in steps of 1e6 Pa. */
static bramah_status factor_unknowns(bramah__step_builder *b, size_t count, const bramah__expr *A,
                                     const char *what, bramah__elimination *out)
{
  BRAMAH__STEP_SIZES(b->out);
  double *scale = calloc(count + 1, sizeof *scale);
  if (!scale) return BRAMAH_E_MEMORY;
  for (size_t k = 0; k < count; k++)
    scale[k] = k < nf ? 1e-3 : k < nx ? b->model->first_order_scale[k - nf] : 1e6;
  const bramah_status status = bramah__factor_block(b, count, A, scale, what, out);
  free(scale);
  return status;
}

static void hold_signals(bramah__step_builder *b)
{
  for (size_t l = 0; l < b->out->nl; l++) bramah__seed(b, b->signal[l], e_number(0.0));
}

/* The step's tangent: unknowns are changes over the step, z' follows them by 2/h and z'' by 4/h^2; then load signals, whose rows
 * say what they are. */
static bramah_status set_tangent(bramah__step_builder *b)
{
  BRAMAH__STEP_SIZES(b->out);
  bramah__set_force_tangent(b, e_number(1.0), b->c1, b->c2);
  for (size_t f = 0; f < nf; f++) {
    bramah__seed_joints(b, b->Rz + f, nr);
    bramah__seed(b, b->in_zd[f], b->c1);
    bramah__seed(b, b->in_zdd[f], b->c2);
    bramah__seed_forces(b, f);
    hold_signals(b);
    bramah__derive_along(b, nx, b->f, b->column);
    bramah__put_column(nx, b->column, b->J + f, nt);
  }
  for (size_t i = 0; i < np; i++) {
    bramah__seed(b, b->in_p[i], e_number(1.0));
    bramah__seed(b, b->in_pd[i], b->c1);
    hold_signals(b);
    bramah__derive_along(b, nx, b->f, b->column);
    bramah__put_column(nx, b->column, b->J + nf + i, nt);
    bramah__seed(b, b->in_p[i], e_number(-1.0));
    bramah__derive_along(b, nl, b->signal, b->column);
    bramah__put_column(nl, b->column, b->J + nx * nt + nf + i, nt);
  }
  for (size_t l = 0; l < nl; l++) {
    hold_signals(b);
    b->along[l] = e_number(1.0);
    bramah__derive_along(b, nx, b->f, b->column);
    bramah__put_column(nx, b->column, b->J + nx + l, nt);
    b->J[(nx + l) * nt + nx + l] = e_number(1.0);
  }
  return factor_unknowns(b, nt, b->J, "step", &b->tangent);
}

/* Corrections of unknowns and dependent coordinates by factors of a tangent. */
static void give_correction(bramah__step_builder *b, const bramah__elimination *tangent)
{
  BRAMAH__STEP_SIZES(b->out);
  for (size_t r = 0; r < nt; r++) b->column[r] = r < nx ? e_neg(b->f[r]) : e_number(0.0);
  bramah__back_substitute(tangent, 1, b->column, b->column);
  bramah__give(b, nx, b->column, 1);
  for (size_t k = 0; k < nd; k++) {
    const bramah__expr *row = b->Rz + (size_t)b->out->index[k] * nr;
    const bramah__expr move = e_add(b->closing[k], e_sum_products(nf, row, 1, b->column, 1));
    bramah__give(b, 1, &move, 1);
  }
}

/* Newton's correction of unknowns and dependent coordinates together. The residual does not see in advance what closes
 * the loops, which would cost half as much again and, this being the square of a step's length, saves no iterate. */
static void add_iterate(bramah__step_builder *b)
{
  BRAMAH__STEP_SIZES(b->out);
  bramah__begin_part(b, point_part(b));
  give_correction(b, &b->tangent);
  give_pivots(b, &b->loops, &b->out->closure_pivot);
  give_pivots(b, &b->tangent, &b->out->pivot);
  for (size_t i = 0; i < nt * nt; i++) {
    if (e_is_number(b->tangent.LU[i])) continue;
    bramah__give(b, 1, &b->tangent.LU[i], 1);
    b->out->n_factors++;
  }
}

/* How forces that resist, and rates of the circuit, follow independent coordinate f, as arms stay: `pull` and behind it f of the
 * circuit, into out. */
static void vary_pulls(bramah__step_builder *b, size_t f, bramah__expr *out)
{
  BRAMAH__STEP_SIZES(b->out);
  for (size_t j = 0; j < n; j++) {
    bramah__seed(b, b->in_z[j], b->Rz_f[j]);
    bramah__seed(b, b->q_d[j], e_mul(b->c1, b->Rz_f[j]));
  }
  for (size_t c = 0; c < nc; c++) {
    bramah__seed(b, b->s[c], b->s_i[c * nr + f]);
    bramah__seed(b, b->v[c], e_mul(b->c1, b->s_i[c * nr + f]));
  }
  hold_signals(b);
  bramah__derive_along(b, b->n_arms + np, b->pull, out);
}

/* A tangent of the step without what turns as the machine moves, where there are loops, whose turning costs most. 1: there is one. */
static int set_coarse(bramah__step_builder *b)
{
  BRAMAH__STEP_SIZES(b->out);
  bramah__expr *tau = b->column, *pull = b->rhs;
  if (nd == 0 || ng > 0) return 0;
  memcpy(b->pull + b->n_arms, b->f + nf, np * sizeof *b->f);
  for (size_t f = 0; f < nf; f++) {
    for (size_t j = 0; j < n; j++) b->Rz_f[j] = b->Rz[j * nr + f];
    bramah__vary_held(b, b->Rz_f, tau);
    vary_pulls(b, f, pull);
    for (size_t g = 0; g < nf; g++) {
      const bramah__expr held =
          e_add(e_sum_products(n, b->Rz + g, nr, tau, 1), e_sum_products(b->n_arms, b->arm + g, nr, pull, 1));
      b->J[g * nt + f] = e_add(held, e_mul(b->c2, b->mass[g * nf + f]));
    }
    bramah__put_column(np, pull + b->n_arms, b->J + nf * nt + f, nt);
  }
  return bramah__eliminate_like(&b->tangent, b->J, &b->coarse);
}

/* The same with these factors as inputs. */
static void add_again(bramah__step_builder *b)
{
  const size_t nt = b->out->nx + b->out->nl;
  bramah__elimination given = b->tangent;
  bramah__begin_part(b, point_part(b));
  given.LU = calloc(nt * nt + 1, sizeof *given.LU);
  if (!given.LU) {
    bramah__graph_fail(b->graph);
    return;
  }
  for (size_t i = 0; i < nt * nt; i++)
    given.LU[i] =
        e_is_number(b->tangent.LU[i]) ? b->tangent.LU[i] : bramah__graph_input(b->graph, BRAMAH__RATE_POINT);
  give_correction(b, &given);
  free(given.LU);
  give_pivots_again(b, &b->loops);
}

/* Does independent coordinate f move no dependent one? */
static int moves_alone(const bramah__step_builder *b, size_t f)
{
  const size_t nr = b->out->nf + b->out->nm;
  for (size_t k = 0; k < b->out->nd; k++)
    if (!e_is(b->Rz[(size_t)b->out->index[k] * nr + f], 0.0)) return 0;
  return 1;
}

/* The mass matrix. Where there are loops, coordinates that move no other joint carry all behind them as one body, which costs less than
 * to go through the tree for each; what moves loops has their rows, too. */
static void set_mass(bramah__step_builder *b)
{
  const size_t nf = b->out->nf, nd = b->out->nd;
  const int *joint = b->out->index + nd;
  const bramah__expr zero = e_number(0.0), one = e_number(1.0);
  bramah__mass_graph composite[BRAMAH__MOST_BODIES];
  bramah__tree_graph_composites(&b->model->tree, b->body, composite);
  bramah__set_force_tangent(b, zero, zero, one);
  for (size_t f = 0; f < nf; f++) {
    const int alone = nd > 0 && moves_alone(b, f);
    if (alone) {
      bramah__tree_graph_accelerate(&b->model->tree, b->body, composite, (size_t)joint[f], b->Rz_f);
    } else {
      bramah__seed(b, b->in_zdd[f], one);
      bramah__seed_forces(b, f);
      bramah__derive_along(b, nf, b->r, b->column);
    }
    for (size_t g = 0; g < nf; g++) {
      const int is_rider = nd > 0 && moves_alone(b, g);
      if (!alone) b->mass[g * nf + f] = b->column[g];
      if (!alone && is_rider) b->mass[f * nf + g] = b->column[g];
      if (alone && is_rider && !e_is(b->Rz_f[joint[g]], 0.0))
        b->mass[g * nf + f] = b->mass[f * nf + g] = b->Rz_f[joint[g]];
    }
  }
}

/* An iterate with the coarse tangent; its factors are those that one with the exact tangent has. */
static void add_coarse(bramah__step_builder *b)
{
  BRAMAH__STEP_SIZES(b->out);
  bramah__begin_part(b, point_part(b));
  if (!set_coarse(b)) return;
  give_correction(b, &b->coarse);
  give_pivots_again(b, &b->loops);
  give_pivots_again(b, &b->coarse);
  for (size_t i = 0; i < nt * nt; i++)
    if (!e_is_number(b->tangent.LU[i])) bramah__give(b, 1, &b->coarse.LU[i], 1);
  b->out->n_coarse = n_factors;
}

/* r = M z''_i + r(0): at a state the accelerations are those at which it vanishes. */
static bramah_status set_state(bramah__step_builder *b)
{
  BRAMAH__STEP_SIZES(b->out);
  const bramah_status status = bramah__factor_block(b, nf, b->mass, NULL, "mass matrix", &b->inertia);
  if (status != BRAMAH_OK) return status;
  memset(b->column, 0, nf * sizeof *b->column);
  memcpy(b->state_zdd, b->r, nf * sizeof *b->r);
  bramah__substitute(b->graph, nf, b->in_zdd, b->column, nf, b->state_zdd);
  for (size_t f = 0; f < nf; f++) b->state_zdd[f] = e_neg(b->state_zdd[f]);
  bramah__back_substitute(&b->inertia, 1, b->state_zdd, b->state_zdd);
  memcpy(b->state_q_dd, b->q_dd, n * sizeof *b->q_dd);
  bramah__substitute(b->graph, nf, b->in_zdd, b->state_zdd, n, b->state_q_dd);
  return BRAMAH_OK;
}

/* Accelerations and rates there by the error state: by the derivatives of f at these accelerations. What follows a load signal does
 * so by the derivative of the signal. */
static void set_slopes(bramah__step_builder *b)
{
  BRAMAH__STEP_SIZES(b->out);
  bramah__expr *X = b->slopes, *signal = b->rhs, *by_signal = signal + nl;
  for (size_t l = 0; l < nl; l++) {
    hold_signals(b);
    b->along[l] = e_number(1.0);
    bramah__derive_along(b, nx, b->f_state, by_signal + l * nx);
  }
  for (size_t k = 0; k < ne; k++) {
    if (k % nf == 0 && k < 2 * nf)
      bramah__set_force_tangent(b, e_number(k == 0), e_number(k > 0), e_number(0.0));
    bramah__seed_state(b, k);
    bramah__derive(b->graph, b->n_seeds, b->at, b->along, nl, b->signal, signal);
    if (k < 2 * nf) bramah__seed_forces(b, k % nf);
    hold_signals(b);
    bramah__derive_along(b, nx, b->f_state, b->column);
    for (size_t r = 0; r < nx; r++)
      X[r * ne + k] = e_neg(e_add(b->column[r], e_sum_products(nl, signal, 1, by_signal + r, nx)));
  }
  bramah__substitute(b->graph, nf, b->in_zdd, b->state_zdd, nx * ne, X);
  bramah__back_substitute(&b->inertia, ne, X, X);
}

/* The slopes at the start of a step, which are inputs there: what is zero or a number always is so there too, and what is a
 * multiple of another one in its row. */
static void set_slopes_before(bramah__step_builder *b)
{
  BRAMAH__STEP_SIZES(b->out);
  bramah__expr *base = b->rhs;
  double scale[4 * BRAMAH__MOST_UNKNOWNS];
  for (size_t r = 0; r < nx; r++)
    for (size_t k = 0; k < ne; k++) {
      const size_t at = r * ne + k;
      size_t l = 0;
      base[k] = b->slopes[at];
      b->slopes_before[at] = b->slopes[at];
      if (e_is_number(base[k])) continue;
      scale[k] = bramah__expr_factor(&base[k]);
      while (e_is_number(base[l]) || base[l].node != base[k].node) l++;
      b->slopes_before[at] = e_scale(scale[k] / scale[l], b->in_A[r * ne + l]);
    }
}

static void set_damping(bramah__step_builder *b)
{
  BRAMAH__STEP_SIZES(b->out);
  const bramah__expr zero = e_number(0.0), one = e_number(1.0);
  bramah__set_force_tangent(b, zero, one, zero);
  for (size_t f = 0; f < nf; f++) {
    bramah__seed(b, b->in_zd[f], one);
    bramah__seed_forces(b, f);
    bramah__derive_along(b, nf, b->r, b->column);
    bramah__put_column(nf, b->column, b->r_v + f, nf);
    bramah__seed(b, b->in_zd[f], one);
    bramah__derive_along(b, np, b->f + nf, b->column);
    for (size_t i = 0; i < np; i++) b->pd_v[i * nf + f] = e_neg(b->column[i]);
  }
}

/* 1 + h/2 dx'/dx at the start: what a bristle, bent there, and its rate give the step. */
static bramah__expr goes_on(const bramah__step_builder *b, size_t i)
{
  return e_add(e_number(1.0), e_mul(b->in_half[0], b->in_xd_yield[i]));
}

/* What the residual at the end lacks as the state at the start moves, and by noise, which moves z'' and pressure rates at the end:
 * z' and z'' there follow the start by -(2/h, 1) and -(4/h^2, 4/h, A), pressure rates by -(2/h, A). */
static void set_sides(bramah__step_builder *b, bramah__expr *X)
{
  BRAMAH__STEP_SIZES(b->out);
  const size_t width = ne + nn;
  const bramah__expr twice = e_scale(2.0, b->c1);
  memset(X, 0, nt * width * sizeof *X);
  for (size_t a = 0; a < nf; a++) {
    bramah__expr *row = X + a * width;
    for (size_t k = 0; k < ne; k++)
      row[k] = e_sum_products(nf, b->mass + a * nf, 1, b->slopes_before + k, ne);
    for (size_t g = 0; g < nf; g++) {
      const bramah__expr m = b->mass[a * nf + g], v = b->r_v[a * nf + g], inert = e_mul(b->c1, m);
      row[g] = e_add(row[g], e_mul(b->c1, e_add(v, inert)));
      row[nf + g] = e_add(row[nf + g], e_add(v, e_mul(twice, m)));
      row[ne + g] = inert;
    }
  }
  for (size_t i = 0; i < np; i++) {
    bramah__expr *row = X + (nf + i) * width;
    memcpy(row, b->slopes_before + (nf + i) * ne, ne * sizeof *row);
    row[2 * nf + i] = e_add(row[2 * nf + i], b->c1);
    for (size_t g = 0; g < nf; g++) {
      row[g] = e_sub(row[g], e_mul(b->c1, b->pd_v[i * nf + g]));
      row[nf + g] = e_sub(row[nf + g], b->pd_v[i * nf + g]);
    }
    row[ne + nf + i] = b->c1;
  }
  for (size_t i = 0; i < nw; i++) {
    bramah__expr *row = X + (nf + b->model->circuit.metered_port[i].volume) * width;
    const double K = bramah__load_stiffness(&b->model->circuit, i);
    for (size_t k = 0; k < 2 * nf; k++) row[k] = e_add(row[k], e_scale(K, b->in_drawn_by[i * 2 * nf + k]));
  }
  for (size_t k = 0; nq && k < 2 * nf; k++) {
    for (size_t q = 0; q < nq; q++) bramah__seed(b, b->in_xd[q], b->in_xd_by[q * 2 * nf + k]);
    bramah__derive_along(b, nf, b->r, b->column);
    for (size_t r = 0; r < nf; r++) X[r * width + k] = e_sub(X[r * width + k], b->column[r]);
  }
  for (size_t i = 0; i < nh; i++) {
    const size_t k = 2 * nf + np + i;
    bramah__seed_state(b, k);
    bramah__derive_along(b, nf, b->r, b->column);
    for (size_t r = 0; r < nf; r++) {
      X[r * width + k] = e_sub(X[r * width + k], e_mul(goes_on(b, i), b->column[r]));
      X[r * width + ne + nx + i] = e_neg(b->column[r]);
    }
  }
}

/* How bristles at the end of a step follow what changes over it, at 2/h the rates, and what they began with. */
static void set_bristles(bramah__step_builder *b)
{
  BRAMAH__STEP_SIZES(b->out);
  const size_t *state = b->model->bristle_state;
  for (size_t f = 0; f < nf; f++) {
    bramah__seed(b, b->in_zd[f], b->c1);
    bramah__derive_along(b, nq, b->x_end, b->column);
    for (size_t i = 0; i < nh; i++) b->x_by_rate[i * nf + f] = b->column[state[i]];
    bramah__seed_joints(b, b->Rz + f, nr);
    bramah__derive_along(b, nq, b->x_end, b->column);
    for (size_t i = 0; i < nh; i++)
      b->x_by_move[i * nf + f] = e_add(b->x_by_rate[i * nf + f], b->column[state[i]]);
  }
  for (size_t i = 0; i < nh; i++) {
    bramah__seed_state(b, 2 * nf + np + i);
    bramah__derive_along(b, 1, &b->x_end[state[i]], &b->x_by_x[i]);
  }
}

/* Bristle i at the end as the changes X [nf x ...] of the independent coordinates over the step move it. */
static bramah__expr moved_bristle(const bramah__step_builder *b, size_t i, const bramah__expr *X, size_t ld)
{
  return e_sum_products(b->out->nf, b->x_by_move + i * b->out->nf, 1, X, ld);
}

/* Its rows of F, where rates at the start take from those at the end; and of N: noise bends it, in the air too, so that a variance is
 * left. */
static void give_bristle(bramah__step_builder *b, size_t i, const bramah__expr *X, int noise)
{
  BRAMAH__STEP_SIZES(b->out);
  const size_t width = ne + nn, own = 2 * nf + np + i, state = b->model->bristle_state[i];
  const bramah__expr kept = b->x_by_x[i], one = e_number(1.0);
  for (size_t k = 0; k < (noise ? nn : ne); k++) {
    bramah__expr x = moved_bristle(b, i, X + (noise ? ne : 0) + k, width);
    if (noise) {
      if (k == nx + i) x = e_add(x, e_select(kept, kept, one));
    } else if (k < 2 * nf) {
      const bramah__expr rate = b->x_by_rate[i * nf + k % nf],
                         before = e_mul(kept, e_mul(b->in_half[0], b->in_xd_by[state * 2 * nf + k]));
      x = e_add(e_sub(x, k < nf ? rate : e_div(rate, b->c1)), before);
    } else if (k == own) {
      x = e_add(x, e_mul(kept, goes_on(b, i)));
    }
    bramah__give(b, 1, &x, 1);
  }
}

/* As the pressures of an actuator's two chambers move, so do the accelerations, but for a number. Such columns are solved without
 * their own rows, whose part of the solution the noise there has already: where[i] is what it takes of it, 0: all is in X. */
static void split_columns(const bramah__step_builder *b, bramah__expr *X, bramah__expr *where)
{
  BRAMAH__STEP_SIZES(b->out);
  const size_t width = ne + nn;
  for (size_t i = 0; i < np; i++) {
    size_t others = 0, twins = 0;
    for (size_t j = 0; j < np; j++) {
      const double ratio =
          i == j ? 0.0 : bramah__column_ratio(nf, ne, b->slopes_before, 2 * nf + i, 2 * nf + j);
      others += i != j && !e_is(X[(nf + j) * width + 2 * nf + i], 0.0);
      twins += ratio != 0.0;
      for (size_t g = 0; g < nf && ratio != 0.0 && j < i; g++)
        X[g * width + 2 * nf + i] = e_scale(ratio, X[g * width + 2 * nf + j]);
    }
    where[i] = e_number(0.0);
    if (!twins || others) continue;
    where[i] = e_div(X[(nf + i) * width + 2 * nf + i], b->c1);
    X[(nf + i) * width + 2 * nf + i] = e_number(0.0);
  }
}

static void add_inertia(bramah__step_builder *b)
{
  const size_t nf = b->out->nf;
  bramah__begin_part(b, BRAMAH__PART_ITERATE);
  if (b->out->scope != BRAMAH_PROGRAM_STEPS) bramah__give(b, nf * nf, b->mass, 1);
}

/* Derivatives of the end of the step by its start, on the factors of the last iterate. */
static void add_transition(bramah__step_builder *b)
{
  BRAMAH__STEP_SIZES(b->out);
  const size_t width = ne + nn;
  bramah__expr *X = b->rhs, where[BRAMAH__MOST_UNKNOWNS];
  bramah__begin_part(b, BRAMAH__PART_INERTIA);
  if (b->out->scope == BRAMAH_PROGRAM_STEPS) return;
  set_slopes_before(b);
  set_damping(b);
  set_sides(b, X);
  split_columns(b, X, where);
  set_bristles(b);
  bramah__back_substitute(&b->tangent, width, X, X);
  for (size_t r = 0; r < nx; r++)
    for (size_t i = 0; i < np; i++) {
      bramah__expr *x = X + r * width + 2 * nf + i;
      *x = e_add(*x, e_mul(where[i], X[r * width + ne + nf + i]));
    }

  for (size_t noise = 0; noise < 2; noise++) {
    const size_t first = noise ? ne : 0, count = noise ? nn : ne;
    for (size_t f = 0; f < nf; f++) bramah__give(b, count, X + f * width + first, 1);
    for (size_t f = 0; f < nf; f++)
      for (size_t k = 0; k < count; k++) {
        bramah__expr rate = X[f * width + first + k];
        if (!noise && k == f) rate = e_sub(rate, e_number(1.0));
        rate = e_mul(b->c1, rate);
        if (!noise && k == nf + f) rate = e_sub(rate, e_number(1.0));
        bramah__give(b, 1, &rate, 1);
      }
    for (size_t i = 0; i < np; i++) bramah__give(b, count, X + (nf + i) * width + first, 1);
    for (size_t i = 0; i < nh; i++) give_bristle(b, i, X, (int)noise);
  }
}

/* Rates of the bristles of one contact at the start of a step, which go on as the parameter has them there. */
static void seed_bristles(bramah__step_builder *b, const bramah__parameter *p)
{
  const bramah_model *model = b->model;
  if (!bramah__bends_bristles(p) || p->index >= model->n_contacts) return;
  for (size_t i = model->first_point[p->index]; i < model->first_point[p->index + 1]; i++)
    for (size_t a = 0; a < model->contact_point[i].n_states; a++) {
      const size_t q = model->contact_point[i].first_state + a;
      bramah__seed(b, b->in_xd[q], b->in_carried[b->out->nx + q]);
    }
}

/* Their derivatives there. */
static void give_bristles(bramah__step_builder *b, size_t k)
{
  const size_t count = b->out->nv - b->out->nx;
  for (size_t q = 0; q < count; q++) b->column[q] = e_number(0.0);
  if (bramah__bends_bristles(&b->model->parameter[k])) {
    bramah__seed_parameter(b, k);
    bramah__derive_along(b, count, b->xd_end, b->column);
  }
  bramah__give(b, count, b->column, 1);
}

static void add_parameter(bramah__step_builder *b, size_t k)
{
  BRAMAH__STEP_SIZES(b->out);
  bramah__expr *X = b->rhs;
  if (!b->out->follows[k]) { /* nothing in its two parts */
    bramah__begin_part(b, BRAMAH__PART_INERTIA);
    bramah__begin_part(b, BRAMAH__PART_RATES);
    return;
  }
  bramah__seed_parameter(b, k);
  seed_bristles(b, &b->model->parameter[k]);
  bramah__derive_along(b, nx, b->f, X);
  for (size_t r = 0; r < nx; r++) {
    const bramah__expr carried =
        r < nf ? e_sum_products(nf, b->mass + r * nf, 1, b->in_carried, 1) : b->in_carried[r];
    X[r] = e_sub(carried, X[r]);
  }
  for (size_t l = 0; l < nl; l++) X[nx + l] = e_number(0.0);
  bramah__back_substitute(&b->tangent, 1, X, X);
  bramah__begin_part(b, BRAMAH__PART_INERTIA);
  bramah__give(b, nf, X, 1);
  for (size_t f = 0; f < nf; f++) {
    const bramah__expr rate = e_mul(b->c1, X[f]);
    bramah__give(b, 1, &rate, 1);
  }
  bramah__give(b, np, X + nf, 1);
  if (nh) {
    bramah__seed_parameter(b, k);
    seed_bristles(b, &b->model->parameter[k]);
    bramah__derive_along(b, nq, b->x_end, b->column);
  }
  for (size_t i = 0; i < nh; i++) {
    const bramah__expr x = e_add(moved_bristle(b, i, X, 1), b->column[b->model->bristle_state[i]]);
    bramah__give(b, 1, &x, 1);
  }

  /* The same of the accelerations and rates at the start. */
  bramah__seed_parameter(b, k);
  bramah__derive_along(b, nx, b->f, X);
  for (size_t r = 0; r < nx; r++) X[r] = e_neg(X[r]);
  bramah__substitute(b->graph, nf, b->in_zdd, b->state_zdd, nf, X);
  bramah__back_substitute(&b->inertia, 1, X, X);
  bramah__begin_part(b, BRAMAH__PART_RATES);
  bramah__give(b, nx, X, 1);
  give_bristles(b, k);
}

static void add_place(bramah__step_builder *b)
{
  bramah__begin_part(b, BRAMAH__PART_STEP);
  bramah__give(b, b->out->nd, b->closing, 1);
  give_pivots_again(b, &b->loops);
}

static void add_pose(bramah__step_builder *b)
{
  BRAMAH__STEP_SIZES(b->out);
  bramah__begin_part(b, point_part(b));
  bramah__give(b, n, b->q_d, 1);
  for (size_t j = 0; j < n; j++) bramah__give(b, nf, b->Rz + j * nr, 1);
  bramah__give(b, nc, b->s, 1);
  bramah__give(b, nc, b->v, 1);
  bramah__give(b, nc, b->force, 1);
  bramah__give(b, nc, b->friction, 1);
  bramah__give(b, nc, b->stop, 1);
  bramah__give(b, nu, b->opens, 1);
  bramah__give(b, 2 * nu, b->yields, 1);
  bramah__give(b, nq, b->x_end, 1);
  bramah__give(b, nq, b->xd_end, 1);
  bramah__give(b, 6 * nk, b->stand, 1);
  bramah__give(b, 2, b->energy, 1);
  bramah__give(b, n_works, b->work_force, 1);
  bramah__give(b, n_works, b->work_path, 1);
  bramah__begin_part(b, BRAMAH__PART_POSE);
  bramah__give(b, n, b->q_dd, 1);
  bramah__give(b, nm, b->r + nf, 1);
}

static void add_rates(bramah__step_builder *b)
{
  BRAMAH__STEP_SIZES(b->out);
  bramah__begin_part(b, BRAMAH__PART_POSE);
  bramah__give(b, np, b->rates, 1);
  bramah__begin_part(b, BRAMAH__PART_FLOWS);
  bramah__give(b, n, b->state_q_dd, 1);
  give_pivots(b, &b->inertia, &b->out->mass_pivot);
  bramah__expr *drive = b->column;
  memcpy(drive, b->r + nf, nm * sizeof *drive);
  bramah__substitute(b->graph, nf, b->in_zdd, b->state_zdd, nm, drive);
  bramah__give(b, nm, drive, 1);
}

/* Rates of the bristles of contacts by what these see. */
static void derive_bristles(const bramah__step_builder *b, bramah__expr *rates)
{
  for (size_t i = 0; i < b->model->n_contact_points; i++) {
    const bramah__contact *contact = &b->model->contact_point[i];
    const bramah__expr *by = b->by_touch + (i * BRAMAH__RUBBED + 3) * BRAMAH__TOUCHES;
    for (size_t k = 0; contact->pressed == 0.0 && !contact->meets && k < contact->n_states;
         k++, by += BRAMAH__TOUCHES)
      rates[contact->first_state + k] =
          e_sum_products(BRAMAH__TOUCHES, by, 1, b->touch_change + i * BRAMAH__TOUCHES, 1);
  }
}

static void add_slopes(bramah__step_builder *b)
{
  BRAMAH__STEP_SIZES(b->out);
  bramah__expr *others = b->rhs;
  bramah__begin_part(b, BRAMAH__PART_RATES);
  if (b->out->scope == BRAMAH_PROGRAM_STEPS) return;
  bramah__give(b, nx * ne, b->slopes, 1);
  for (size_t k = 0; nw && k < 2 * nf; k++) {
    bramah__seed_state(b, k);
    bramah__derive_along(b, nw, b->drawn, b->column);
    bramah__put_column(nw, b->column, others + k, 2 * nf);
  }
  bramah__give(b, nw * 2 * nf, others, 1);
  for (size_t k = 0; nq && k < 2 * nf; k++) {
    if (k % nf == 0) bramah__set_force_tangent(b, e_number(k == 0), e_number(k > 0), e_number(0.0));
    bramah__seed_state(b, k);
    bramah__seed_forces(b, k % nf);
    bramah__derive_along(b, nq, b->xd_end, b->column);
    derive_bristles(b, b->column);
    bramah__put_column(nq, b->column, others + k, 2 * nf);
  }
  bramah__give(b, nq * 2 * nf, others, 1);
  for (size_t i = 0; i < nh; i++) {
    bramah__expr yield;
    bramah__seed_state(b, 2 * nf + np + i);
    bramah__derive_along(b, 1, &b->xd_end[b->model->bristle_state[i]], &yield);
    bramah__give(b, 1, &yield, 1);
  }
}

/* The changes over a step of the equations linearised at its start, with slopes A: with z' = 2/h dz - z'_0 and
 * z'' = 4/h^2 dz - 4/h z'_0 - z''_0 at the end,
 *   z'' = z''_0 + A_z dz + A_z' (z' - z'_0) + A_p dp, and 2/h dp - p'_0 likewise.
 * It is Newton's iterate from the start of the step, with commands and motions held, and costs a tenth of one: nothing is
 * evaluated. Dependent coordinates follow, to second order. Where friction has states it is left out: their stiffness shows
 * in a step alone. */
static bramah_status add_guess(bramah__step_builder *b)
{
  BRAMAH__STEP_SIZES(b->out);
  const bramah__expr *A = b->slopes, twice = e_number(2.0);
  bramah__expr *matrix = b->J, *change = b->column;
  bramah__begin_part(b, BRAMAH__PART_SLOPES);
  if (b->out->scope == BRAMAH_PROGRAM_STEPS || nq > 0) return BRAMAH_OK;
  for (size_t r = 0; r < nx; r++) {
    const bramah__expr *slope = A + r * ne, *by_rate = slope + nf;
    for (size_t k = 0; k < nx; k++) {
      const bramah__expr own = r != k ? e_number(0.0) : k < nf ? b->c2 : b->c1;
      const bramah__expr by = k < nf ? e_add(slope[k], e_mul(b->c1, by_rate[k])) : slope[nf + k];
      matrix[r * nx + k] = e_sub(own, by);
    }
    bramah__expr side = r < nf ? e_add(b->state_zdd[r], e_mul(b->c1, b->in_zd[r])) : b->rates[r - nf];
    side = e_sub(side, e_sum_products(nf, by_rate, 1, b->in_zd, 1));
    change[r] = e_mul(twice, side);
  }
  const bramah_status status = factor_unknowns(b, nx, matrix, "guess", &b->guess);
  if (status != BRAMAH_OK) return status;
  bramah__back_substitute(&b->guess, 1, change, change);
  bramah__give(b, nx, change, 1);
  for (size_t k = 0; k < nd; k++) {
    const bramah__expr *row = b->Rz + (size_t)b->out->index[k] * nr;
    const bramah__expr rate = e_sum_products(nm, row + nf, 1, b->in_motion + 1, 3),
                       bend = e_add(b->gamma[k], e_sum_products(nm, row + nf, 1, b->in_motion + 2, 3)),
                       drift = e_mul(b->in_h[0], e_add(rate, e_mul(e_inv(b->c1), bend))),
                       move = e_add(e_sum_products(nf, row, 1, change, 1), drift);
    bramah__give(b, 1, &move, 1);
  }
  return BRAMAH_OK;
}

/* Beyond that a graph takes longer than most runs. */
enum { MOST_NODES = 400000 };

static bramah_status check_size(const bramah__step_builder *b)
{
  if (bramah__graph_size(b->graph) <= MOST_NODES) return BRAMAH_OK;
  return bramah__fail(b->diag, BRAMAH_E_UNSUPPORTED, b->model->name,
                      "this machine is too large to be compiled");
}

/* Those of parts that are empty in the program's scope are NULL. */
static void find_results(bramah_program *out)
{
  BRAMAH__STEP_SIZES(out);
  const uint16_t *next;
#define FIND(name, count) out->out.name = next, next = next ? next + (count) : NULL;
#define FIND_PART(number, results)                                                                           \
  next = out->tape.part[number].n_results ? bramah__tape_results(&out->tape, number) : NULL;                 \
  results(FIND)
  FIND_PART(BRAMAH__PART_SPEEDS, BRAMAH__SPEEDS_RESULTS)
  FIND_PART(BRAMAH__PART_ITERATE, BRAMAH__ITERATE_RESULTS)
  FIND_PART(BRAMAH__PART_AGAIN, BRAMAH__AGAIN_RESULTS)
  FIND_PART(BRAMAH__PART_COARSE, BRAMAH__COARSE_RESULTS)
  FIND_PART(BRAMAH__PART_INERTIA, BRAMAH__INERTIA_RESULTS)
  FIND_PART(BRAMAH__PART_TRANSITION, BRAMAH__TRANSITION_RESULTS)
  FIND_PART(BRAMAH__PART_PLACE, BRAMAH__PLACE_RESULTS)
  FIND_PART(BRAMAH__PART_POSE, BRAMAH__POSE_RESULTS)
  FIND_PART(BRAMAH__PART_ENDS, BRAMAH__ENDS_RESULTS)
  FIND_PART(BRAMAH__PART_FLOWS, BRAMAH__FLOWS_RESULTS)
  FIND_PART(BRAMAH__PART_RATES, BRAMAH__RATES_RESULTS)
  FIND_PART(BRAMAH__PART_SLOPES, BRAMAH__SLOPES_RESULTS)
  FIND_PART(BRAMAH__PART_GUESS, BRAMAH__GUESS_RESULTS)
}

static void add_speeds(bramah__step_builder *b)
{
  const bramah__valve *valve = b->model->circuit.valve;
  bramah__begin_part(b, BRAMAH__PART_STEP);
  if (b->out->nw == 0) return;
  bramah__give(b, b->out->nc, b->v, 1);
  for (size_t i = 0; i < b->out->ns; i++) {
    bramah__expr open[BRAMAH__N_PATHS];
    bramah__openings(&valve[i].opening, b->in_U[i], open);
    bramah__give(b, BRAMAH__N_PATHS, open, 1);
  }
}

static bramah_status build(bramah__step_builder *b)
{
  bramah_program *out = b->out;
  if (!bramah__take_expressions(b)) return BRAMAH_E_MEMORY;
  b->n_follow = out->nw;
  bramah_status status = bramah__add_mechanics(b);
  if (status == BRAMAH_OK) status = set_tangent(b);
  if (status == BRAMAH_OK) status = check_size(b);
  if (status != BRAMAH_OK) return status;
  add_speeds(b);
  add_iterate(b);
  add_again(b);
  set_mass(b);
  add_coarse(b);
  status = set_state(b);
  if (status != BRAMAH_OK) return status;
  if (out->scope != BRAMAH_PROGRAM_STEPS) set_slopes(b);
  add_inertia(b);
  add_transition(b);
  add_place(b);
  add_pose(b);
  add_rates(b);
  add_slopes(b);
  status = add_guess(b);
  for (size_t k = 0; k < bramah__n_columns(out) && status == BRAMAH_OK; k++) {
    status = check_size(b);
    add_parameter(b, k);
  }
  if (status != BRAMAH_OK) return status;
  bramah__add_readings(b);
  if (!bramah__tape_make(b->graph, b->n_parts, b->part, &out->tape)) return BRAMAH_E_MEMORY;

  out->n_nodes = bramah__graph_size(b->graph);
  find_results(out);
  return BRAMAH_OK;
}

bramah_status bramah__step_graph_build(const bramah__state *at, bramah_program *program, bramah_diag *diag)
{
  bramah__step_builder *b = calloc(1, sizeof *b);
  bramah_status status = BRAMAH_E_MEMORY;
  if (!b) return status;
  *b = (bramah__step_builder){
      .model = program->model, .usual = at, .graph = bramah__graph_new(), .out = program, .diag = diag};
  if (b->graph) status = build(b);
  bramah__graph_free(b->graph);
  bramah__elimination_free(&b->loops);
  bramah__elimination_free(&b->tangent);
  bramah__elimination_free(&b->coarse);
  bramah__elimination_free(&b->inertia);
  bramah__elimination_free(&b->guess);
  free(b->all);
  free(b->typical);
  free(b->value);
  free(b->part);
  free(b);
  return status;
}
