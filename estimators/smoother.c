/* SPDX-License-Identifier: MIT */
#include "bramah/smoother.h"
#include "estimators/filter_internal.h"
#include "estimators/update.h"
#include "lib/base/diag.h"
#include "lib/math/dense.h"

#include <math.h>
#include <string.h>

/* Records lie one after the other, each of them
 *   | time | F | P- | P+, later Ps | dx | d | means of augmented states | snapshot of the plant | */
typedef struct record {
  int64_t *time_ns;
  double *F, *P_minus, *P; /* [n x n] */
  double *dx, *d;          /* [n] */
  double *mean;            /* [n - n_plant] of the filter, with the corrections */
  void *snap;
} record;

#define SMOOTHER_ARRAYS(ARRAY)                                                                               \
  ARRAY(double, L, s->n * s->n, "factor of P-")                                                              \
  ARRAY(double, C, s->n * s->n, "gain of the smoother")                                                      \
  ARRAY(double, X, s->n * s->n)                                                                              \
  ARRAY(double, Y, s->n * s->n)                                                                              \
  ARRAY(double, scale, s->n)                                                                                 \
  ARRAY(double, column, s->n)                                                                                \
  ARRAY(double, row, s->n)

struct bramah_smoother {
  bramah_filter *filter; /* whose plant and parameters show the smoothed steps */
  bramah_plant plant;
  size_t n, n_plant, count, capacity, stride;
  int ran;
  size_t shown; /* step that the plant shows */
  SMOOTHER_ARRAYS(BRAMAH__FIELD_MEMBER)
  unsigned char *records; /* [capacity] of stride bytes */
};

static bramah_smoother *layout(const bramah_filter *filter, size_t capacity, bramah__arena *arena)
{
  const bramah_filter_info info = bramah_filter_get_info(filter);
  bramah_smoother *object = BRAMAH__TAKE(arena, bramah_smoother, 1), counted = {0};
  bramah_smoother *s = object ? object : &counted, *fields = s;
  s->plant = *info.plant;
  s->n = info.n_error;
  s->n_plant = bramah_plant_n_error(info.plant);
  s->capacity = capacity;
  s->stride = sizeof(int64_t) + (3 * s->n * s->n + 3 * s->n - s->n_plant) * sizeof(double) +
              bramah__whole_words(s->plant.snapshot_size);
  SMOOTHER_ARRAYS(BRAMAH__FIELD_TAKE)
  s->records = bramah__arena_take(arena, capacity, s->stride);
  return object;
}

size_t bramah_smoother_size(const bramah_filter *filter, size_t capacity)
{
  bramah__arena arena = bramah__arena_make(NULL, 0);
  layout(filter, capacity, &arena);
  return arena.overflow ? SIZE_MAX : arena.used;
}

bramah_status bramah_smoother_new(bramah_filter *filter, size_t capacity, bramah_diag *diag,
                                  bramah_smoother **out)
{
  const bramah_filter_info info = bramah_filter_get_info(filter);
  for (size_t i = 0; i < info.n_augmented; i++)
    if (info.augmented[i].role != BRAMAH_AUGMENTED_ESTIMATED)
      return bramah__fail(diag, BRAMAH_E_UNSUPPORTED, info.augmented[i].name,
                          "a state that is only considered makes the backward pass diverge: estimate it");
  bramah__arena arena;
  const bramah_status status =
      bramah__arena_new("smoother", bramah_smoother_size(filter, capacity), &arena, diag);
  if (status != BRAMAH_OK) return status;
  *out = layout(filter, capacity, &arena);
  (*out)->filter = filter;
  return BRAMAH_OK;
}

void bramah_smoother_free(bramah_smoother *smoother) { bramah__aligned_free(smoother); }

static record at(const bramah_smoother *s, size_t k)
{
  unsigned char *base = s->records + k * s->stride;
  double *F = (double *)(void *)(base + sizeof(int64_t));
  const size_t n = s->n, nn = n * n;
  double *dx = F + 3 * nn, *mean = dx + 2 * n;
  return (record){(int64_t *)(void *)base, F, F + nn, F + 2 * nn, dx, dx + n, mean, mean + n - s->n_plant};
}

/* ---- forward ---- */

static bramah_status no_record(const char *message, bramah_diag *diag)
{
  return bramah__fail(diag, BRAMAH_E_TIME, "smoother", message);
}

bramah_status bramah_smoother_record(bramah_smoother *smoother, bramah_filter_event event,
                                     const bramah_filter *filter, bramah_diag *diag)
{
  bramah_smoother *s = smoother;
  const bramah_filter_last last = bramah_filter_get_last(filter);
  const int64_t now = bramah_filter_time_ns(filter);
  const int first = event == BRAMAH_FILTER_CORRECTED && !s->count;
  if (s->ran)
    return bramah__fail(diag, BRAMAH_E_ARGUMENT, "smoother",
                        "the backward pass has been run, nothing can be added");

  /* The record it goes to: one more, or the last one. After a step nothing is left of this time and later,
   * after a restore nothing of later. */
  if (event != BRAMAH_FILTER_CORRECTED) {
    const int64_t end = event == BRAMAH_FILTER_PREDICTED ? now - 1 : now;
    while (s->count && *at(s, s->count - 1).time_ns > end) s->count--;
  }
  const int64_t before = s->count ? *at(s, s->count - 1).time_ns : INT64_MIN;
  if (event == BRAMAH_FILTER_PREDICTED && s->count && before != now - s->plant.step_ns)
    return no_record("the record of the step before is missing", diag);
  if (event == BRAMAH_FILTER_RESTORED && before != now)
    return no_record("there is no record of the time the filter was restored to", diag);
  if (event == BRAMAH_FILTER_CORRECTED && !first && before != now)
    return no_record("the correction does not belong to the present record", diag);
  if (event == BRAMAH_FILTER_PREDICTED || first) {
    if (s->count == s->capacity)
      return bramah__fail(diag, BRAMAH_E_MEMORY, "smoother", "there are more steps than there is room for");
    s->count++;
  }

  const record r = at(s, s->count - 1);
  *r.time_ns = now;
  memcpy(r.P, bramah_filter_covariance(filter), s->n * s->n * sizeof(double));
  memcpy(r.mean, filter->mean, (s->n - s->n_plant) * sizeof(double));
  s->plant.save(s->plant.self, r.snap);
  if (event == BRAMAH_FILTER_CORRECTED && !first) {
    for (size_t i = 0; i < s->n; i++) r.dx[i] += last.correction[i];
    return BRAMAH_OK;
  }
  memset(r.dx, 0, s->n * sizeof(double));
  memset(r.d, 0, s->n * sizeof(double));
  if (event == BRAMAH_FILTER_PREDICTED) {
    memcpy(r.F, last.transition, s->n * s->n * sizeof(double));
    memcpy(r.P_minus, r.P, s->n * s->n * sizeof(double));
  }
  return BRAMAH_OK;
}

/* ---- backward ---- */

static bramah_status fail_state(const bramah_smoother *s, size_t i, const char *message, bramah_diag *diag)
{
  return bramah__fail(diag, BRAMAH_E_NOT_SPD,
                      i < s->n_plant ? bramah__plant_state_name(&s->plant, i) : "smoother", message);
}

/* d and Ps of step k from those of the one after it. P- is factored as D^-1 P- D^-1 with D the standard
 * deviations: they span as many decades as radians and pascals do, their correlations do not. */
static bramah_status step_back(bramah_smoother *s, size_t k, bramah_diag *diag)
{
  const size_t n = s->n;
  const record r = at(s, k), next = at(s, k + 1);
  size_t bad = bramah__bad_variance(n, next.P_minus);
  if (bad < n) return fail_state(s, bad, "the predicted variance of this state is not positive", diag);
  for (size_t i = 0; i < n; i++) s->scale[i] = sqrt(next.P_minus[i * n + i]);
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j < n; j++) s->L[i * n + j] = next.P_minus[i * n + j] / (s->scale[i] * s->scale[j]);
  bad = bramah__cholesky_factor(n, s->L);
  if (bad)
    return fail_state(s, bad - 1, "the predicted covariance is singular here; give this state some noise",
                      diag);

  /* the gain C = P+ F' (P-)^-1, row by row: (P-)^-1 (F P+) transposed */
  bramah__multiply(n, n, n, next.F, r.P, s->X);
  for (size_t j = 0; j < n; j++) {
    double *row = s->C + j * n;
    for (size_t i = 0; i < n; i++) row[i] = s->X[i * n + j] / s->scale[i];
    bramah__cholesky_solve(n, s->L, row);
    for (size_t i = 0; i < n; i++) row[i] /= s->scale[i];
  }

  for (size_t i = 0; i < n; i++) s->column[i] = next.d[i] + next.dx[i];
  bramah__apply(n, n, s->C, s->column, r.d);
  for (size_t i = 0; i < n * n; i++) s->X[i] = next.P[i] - next.P_minus[i];
  bramah__multiply(n, n, n, s->C, s->X, s->Y);
  bramah__multiply_transposed(n, n, n, s->Y, s->C, s->X);
  for (size_t i = 0; i < n * n; i++) r.P[i] += s->X[i];
  bramah__symmetrise(n, r.P);
  bad = bramah__bad_variance(n, r.P);
  return bad < n ? fail_state(s, bad, "the smoothed variance of this state is not positive", diag)
                 : BRAMAH_OK;
}

bramah_status bramah_smoother_run(bramah_smoother *smoother, bramah_diag *diag)
{
  bramah_status status = BRAMAH_OK;
  if (smoother->ran)
    return bramah__fail(diag, BRAMAH_E_ARGUMENT, "smoother", "the backward pass has been run already");
  smoother->ran = 1;
  for (size_t k = smoother->count; status == BRAMAH_OK && k > 1; k--)
    status = step_back(smoother, k - 2, diag);
  return status;
}

/* ---- results ---- */

size_t bramah_smoother_count(const bramah_smoother *smoother) { return smoother->count; }

bramah_smoother_step bramah_smoother_get_step(const bramah_smoother *smoother, size_t k)
{
  const record r = at(smoother, k);
  return (bramah_smoother_step){.time_ns = *r.time_ns, .correction = r.d, .covariance = r.P};
}

bramah_status bramah_smoother_show(bramah_smoother *smoother, size_t k, bramah_diag *diag)
{
  const bramah_plant *plant = &smoother->plant;
  if (!smoother->ran || k >= smoother->count)
    return bramah__fail(diag, BRAMAH_E_ARGUMENT, "smoother", "there is no smoothed estimate of this step");
  const record r = at(smoother, k);
  plant->restore(plant->self, r.snap);
  memcpy(smoother->filter->mean, r.mean, (smoother->n - smoother->n_plant) * sizeof(double));
  smoother->shown = k;
  bramah_status status = plant->inject(plant->self, r.d, diag);

  /* Its augmented states, too: outputs and what sensors show depend on them. */
  bramah_filter *f = smoother->filter;
  const unsigned char *considered = f->considered;
  f->considered = NULL;
  if (status == BRAMAH_OK) status = bramah__augmented_inject(f, r.d, diag);
  f->considered = considered;
  return status;
}

double bramah_smoother_output_sigma(bramah_smoother *smoother, size_t i)
{
  bramah_smoother *s = smoother;
  if (!bramah__filter_output_row(s->filter, i, s->row)) return NAN;
  return sqrt(bramah__variance(s->n, s->row, at(s, s->shown).P));
}
