/* SPDX-License-Identifier: MIT */
/* Coming to rest by pseudo-transient continuation. The step grows twofold as long as the state moves little
 * in it and shrinks fourfold where it would leap; at steps far longer than anything in the machine it is
 * Newton's. */
#include "lib/linear/rest_internal.h"
#include "lib/base/diag.h"
#include "lib/math/dense.h"

#include <math.h>
#include <string.h>

enum { MOST_STEPS = 600 };
static const double first_step = 1e-4, long_step = 1e3, longest_step = 1e6; /* [s] */
static const double leap = 0.3;                                             /* in sizes of the state */
static const double little = 1e-9; /* a step no longer than that ends the search */

typedef struct search {
  bramah_linearization *l;
  bramah_coupled *c;
  double *M, *dx, *snap;
  int *pivot;
} search;

size_t bramah_equilibrium_work(const bramah_linearization *l, size_t n_held, size_t n_free)
{
  const size_t n = l->system.n, rows = l->system.n_position + l->system.n_pressure + n_held,
               columns = l->system.n_position + l->system.n_pressure + n_free, all = rows + columns;
  bramah__state state;
  bramah__arena counted = bramah__arena_make(NULL, 0);
  bramah__state_layout(l->model, &counted, &state);
  const size_t snap = (state.size + 7) / 8, settle = n * n + 2 * n + snap,
               trim = 2 * snap + rows * columns + all * columns + all + 2 * columns + 2 * rows + n +
                      bramah__least_squares_work(all, columns);
  return settle > trim ? settle : trim;
}

/* Step dx of length dt; its size in sizes of the state, or -1. */
static double euler_step(const search *s, double dt)
{
  const bramah_linear_system *sys = &s->l->system;
  const size_t n = sys->n;
  for (size_t i = 0; i < n; i++) {
    const double size = bramah__state_size(s->l, i);
    for (size_t j = 0; j < n; j++)
      s->M[i * n + j] = (i == j) / dt - sys->A[i * n + j] * bramah__state_size(s->l, j) / size;
    s->dx[i] = sys->xd[i] / size;
  }
  if (bramah__lu_factor(n, s->M, s->pivot)) return -1.0;
  bramah__lu_solve(n, s->M, s->pivot, s->dx);
  double largest = 0.0;
  for (size_t i = 0; i < n; i++) {
    const int velocity = i >= sys->n_position && i < 2 * sys->n_position;
    if (!velocity) largest = fmax(largest, fabs(s->dx[i]));
    s->dx[i] *= bramah__state_size(s->l, i);
  }
  return isfinite(largest) ? largest : -1.0;
}

/* Of what moves on, the fastest in sizes of the state. */
static bramah_status still_moving(const search *s, bramah_diag *diag)
{
  const bramah_linear_system *sys = &s->l->system;
  size_t worst = 0;
  double most = -1.0;
  for (size_t i = 0; i < 2 * sys->n_position + sys->n_pressure; i++) {
    if (i >= sys->n_position && i < 2 * sys->n_position) continue;
    const double speed = fabs(sys->xd[i]) / bramah__state_size(s->l, i);
    if (speed > most) most = speed, worst = i;
  }
  return bramah__out_of_balance(s->l, s->c, worst, "does not come to rest: ", diag);
}

static bramah_status iterate(search *s, int *iterations, bramah_diag *diag)
{
  double dt = first_step;
  bramah_status status = bramah_linearization_run(s->l, s->c, diag);
  for (*iterations = 0; status == BRAMAH_OK && *iterations < MOST_STEPS; ++*iterations) {
    const double size = euler_step(s, dt);
    int failed = size < 0.0 || size > leap;
    if (!failed) failed = bramah__move_state(s->l, s->c, s->dx, diag) != BRAMAH_OK;
    if (failed) {
      dt *= 0.25;
      continue;
    }
    bramah__update_basis(s->c);
    status = bramah_linearization_run(s->l, s->c, diag);
    if (dt >= long_step && size < little) return status;
    dt = fmin(2.0 * dt, longest_step);
  }
  return status != BRAMAH_OK ? status : still_moving(s, diag);
}

bramah_status bramah_settle(bramah_linearization *l, bramah_coupled *plant, double *work,
                            bramah_equilibrium_report *report, bramah_diag *diag)
{
  const size_t n = l->system.n;
  if (plant->base != l->model)
    return bramah__fail(diag, BRAMAH_E_ARGUMENT, l->model->name, "the plant is of another model");
  if (l->roll.rows)
    return bramah__fail(diag, BRAMAH_E_UNSUPPORTED, l->model->rolling[0].name,
                        "equilibria of rolling machines are not searched for: give the steady motion");
  search s = {.l = l, .c = plant, .M = work, .dx = work + n * n, .snap = work + n * n + 2 * n};
  s.pivot = (int *)(void *)(s.dx + n);
  bramah__keep_state(plant, s.snap);
  int iterations;
  bramah_status status = iterate(&s, &iterations, diag);
  if (status == BRAMAH_OK) status = bramah__halt(plant, diag);
  if (status != BRAMAH_OK) {
    bramah__return_state(plant, s.snap);
    return status;
  }
  bramah__rest_report(l, plant, iterations, report);
  return BRAMAH_OK;
}
