/* SPDX-License-Identifier: MIT */
/* The local error of a step, and steps in parts where it is too large or the iteration does not converge.
 *
 * The trapezoidal rule is off by -h/12 (f(k+1) - 2 f(k) + f(k-1)) in what has the rate f, h^3/12 of the third
 * derivative. Of positions this is seen in the step alone (Milne's device, predictor and corrector): Taylor's guess
 * z + h z' + h^2/2 z'' and the rule differ by h^2/4 (z''(k+1) - z''(k)), three times the error. A step is divided by
 * that and by the energy that it makes from nothing (energy.c), so that it depends on nothing but the state: what leaps
 * where loops are nearly singular is seen by the second. Errors of rates and first-order states are only shown. */
#include "lib/plant/compiled.h"
#include "lib/base/diag.h"
#include "lib/math/elementary.h"

#include <math.h>
#include <string.h>

enum { MOST_PARTS = 64 };

double bramah_coupled_step_error(const bramah_coupled *c, size_t output)
{
  const bramah__output *o = &c->model->output[output];
  if (o->code == BRAMAH__VOLUME_PRESSURE) return c->error.first_order[o->index];
  if (o->code == BRAMAH__JOINT_POSITION) return c->error.position[o->index];
  return o->code == BRAMAH__JOINT_RATE ? c->error.rate[o->index] : (double)NAN;
}

/* One step of the length that the model has now, with its derivatives where some are wanted. */
static bramah_status one_step(bramah_coupled *c, const bramah__wanted *w, bramah_diag *diag)
{
  if (bramah__step_by_program(c, w)) return BRAMAH_OK;
  return bramah__wants_any(w) ? bramah__step_with_transition(c, w, diag)
                              : bramah__trapezoidal_step(c, 0, diag);
}

/* X [n x width] = F X + part Y */
static void chain(size_t n, size_t width, const double *F, double part, const double *Y, double *column,
                  double *X)
{
  for (size_t k = 0; k < width; k++) {
    for (size_t r = 0; r < n; r++) {
      column[r] = part * Y[r * width + k];
      for (size_t l = 0; l < n; l++) column[r] += F[r * n + l] * X[l * width + k];
    }
    for (size_t r = 0; r < n; r++) X[r * width + k] = column[r];
  }
}

/* The step from `start` in equal parts; the errors are then the largest of these. */
static bramah_status in_parts(bramah_coupled *c, size_t parts, const bramah__wanted *w, bramah_diag *diag)
{
  const bramah_model *model = c->model;
  const size_t n_error = bramah__n_error(model), n_noise = n_error - model->n_independent;
  const int64_t step_ns = model->step_ns, start_ns = *c->start.time_ns;
  const double h = model->h;
  bramah__step_error *e = &c->error;
  const int any = bramah__wants_any(w);
  const bramah__wanted part = {any ? c->part_F : NULL, w->N ? c->part_N : NULL, w->n_par, w->par, c->part_G};
  double largest = 0.0, energy = 0.0, moved = 0.0;
  size_t worst = 0;
  bramah_status status = BRAMAH_OK;
  bramah__state_copy(&c->start, &c->state);
  c->now_valid = 0;
  if (w->F) memset(w->F, 0, n_error * n_error * sizeof(double));
  for (size_t r = 0; w->F && r < n_error; r++) w->F[r * n_error + r] = 1.0;
  if (w->N) memset(w->N, 0, n_error * n_noise * sizeof(double));
  if (w->n_par) memset(w->G, 0, n_error * w->n_par * sizeof(double));
  for (size_t i = 0; status == BRAMAH_OK && i < parts; i++) {
    c->own.model.step_ns = start_ns + step_ns * (int64_t)(i + 1) / (int64_t)parts - *c->state.time_ns;
    c->own.model.h = (double)c->own.model.step_ns * 1e-9;
    status = one_step(c, &part, diag);
    if (e->largest > largest) worst = e->worst;
    largest = fmax(largest, e->largest);
    energy += e->energy;
    moved = fmax(moved, e->moved);
    if (status != BRAMAH_OK || !any) continue;
    /* White noise that comes evenly over the step comes evenly over its parts. */
    if (w->N) chain(n_error, n_noise, c->part_F, 1.0 / (double)parts, c->part_N, c->column, w->N);
    if (w->n_par) chain(n_error, w->n_par, c->part_F, 1.0, c->part_G, c->column, w->G);
    if (w->F) chain(n_error, n_error, c->part_F, 0.0, c->part_F, c->column, w->F);
  }
  c->own.model.step_ns = step_ns;
  c->own.model.h = h;
  e->largest = largest;
  e->worst = worst;
  e->energy = energy;
  e->moved = moved;
  return status;
}

static double excess(const bramah_coupled *c)
{
  const bramah__step_error *e = &c->error;
  return bramah__step_excess(c->model->tolerance, e->largest, e->energy, e->moved);
}

/* What a shorter step may cure. */
static int is_too_long(bramah_status status)
{
  return status == BRAMAH_E_NO_CONVERGENCE || status == BRAMAH_E_NOT_FINITE || status == BRAMAH_E_CLOSURE ||
         status == BRAMAH_E_SINGULAR;
}

/* What came of a step from `start` as a whole, if it will do; else in parts. before: the counts at its start. */
static bramah_status divide(bramah_coupled *c, const bramah__wanted *w, bramah_step_report before,
                            bramah_status whole, bramah_diag *diag)
{
  bramah_status status = whole;
  if (status == BRAMAH_OK ? excess(c) <= 1.0 : !is_too_long(status)) return status;

  /* So many parts that each keeps it; where the error does not fall with the third power, as many as there may be. Four
   * times as many as long as one of them does not converge. */
  const double wanted = status == BRAMAH_OK ? ceil(bramah__cbrt(excess(c))) : 2.0;
  size_t parts = 2;
  while (parts < MOST_PARTS && (double)parts < wanted) parts *= 2;
  for (;;) {
    if (diag) bramah_diag_clear(diag);
    status = in_parts(c, parts, w, diag);
    if (status == BRAMAH_OK ? excess(c) <= 1.0 : !is_too_long(status)) break;
    if (parts == MOST_PARTS) break;
    parts = status == BRAMAH_OK || 4 * parts > MOST_PARTS ? MOST_PARTS : 4 * parts;
  }
  c->report.steps = before.steps;
  c->report.partitioned = before.partitioned + (c->report.partitioned > before.partitioned);
  if (status != BRAMAH_OK) {
    bramah__add_text(diag, ", one of 64 parts");
    bramah__state_copy(&c->start, &c->state);
    c->now_valid = 0;
    return status;
  }
  c->report.steps++;
  c->report.divided++;
  c->report.unconverged += whole != BRAMAH_OK;
  c->report.coarse += c->error.largest > c->model->tolerance;
  if (parts > c->report.most_parts) c->report.most_parts = (uint32_t)parts;
  return BRAMAH_OK;
}

bramah_status bramah__controlled_step(bramah_coupled *c, const bramah__wanted *w, bramah_diag *diag)
{
  const bramah_step_report before = c->report;
  const bramah_status status = bramah__renew_planes(c, diag);
  if (status != BRAMAH_OK) return status;
  bramah__state_copy(&c->state, &c->start);
  return divide(c, w, before, one_step(c, w, diag), diag);
}
