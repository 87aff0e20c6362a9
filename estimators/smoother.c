/* SPDX-License-Identifier: MIT */
#include "bramah/smoother.h"
#include "estimators/update.h"
#include "lib/base/arena.h"
#include "lib/base/diag.h"
#include "lib/math/dense.h"
#include "lib/plant/plant_table.h"

#include <math.h>
#include <string.h>

/* Records lie one after the other, each of them
 *   | time | F | P- | P+, later Ps | dx | d | snapshot of the plant | */
typedef struct record {
  int64_t *time_ns;
  double *F, *P_minus, *P; /* [n x n] */
  double *dx, *d;          /* [n] */
  void *snap;
} record;

#define SMOOTHER_ARRAYS(ARRAY)                                                                               \
  ARRAY(double, L, n *n, "factor of P-")                                                                     \
  ARRAY(double, C, n *n, "gain of the smoother")                                                             \
  ARRAY(double, X, n *n)                                                                                     \
  ARRAY(double, Y, n *n)                                                                                     \
  ARRAY(double, scale, n)                                                                                    \
  ARRAY(double, column, n)                                                                                   \
  ARRAY(double, row, n_plant)                                                                                \
  ARRAY(double, dx, n_plant)                                                                                 \
  ARRAY(unsigned char, row_snap, fields->plant.snapshot_size, "scratch of finite-difference rows")           \
  ARRAY(unsigned char, records, capacity * fields->stride)

struct bramah_smoother {
  bramah_plant plant;
  size_t n, count, capacity, stride;
  int ran;
  size_t shown; /* step that the plant shows */
  SMOOTHER_ARRAYS(BRAMAH__FIELD_MEMBER)
};

static size_t stride_of(const bramah_filter *filter)
{
  const size_t n = bramah_filter_n_error(filter), snap = bramah_filter_plant(filter)->snapshot_size;
  return sizeof(int64_t) + (3 * n * n + 2 * n) * sizeof(double) + (snap + 7) / 8 * 8;
}

static bramah_smoother *layout(const bramah_filter *filter, size_t capacity, bramah__arena *arena)
{
  const bramah_plant *plant = bramah_filter_plant(filter);
  const size_t n = bramah_filter_n_error(filter), n_plant = bramah_plant_n_error(plant);
  bramah_smoother *object = BRAMAH__TAKE(arena, bramah_smoother, 1), counted = {0};
  bramah_smoother *fields = object ? object : &counted;
  fields->plant = *plant;
  fields->n = n;
  fields->capacity = capacity;
  fields->stride = stride_of(filter);
  SMOOTHER_ARRAYS(BRAMAH__FIELD_TAKE)
  return object;
}

size_t bramah_smoother_size(const bramah_filter *filter, size_t capacity)
{
  if (capacity > SIZE_MAX / 2 / stride_of(filter)) return SIZE_MAX;
  bramah__arena arena = bramah__arena_make(NULL, 0);
  layout(filter, capacity, &arena);
  return arena.used;
}

bramah_status bramah_smoother_new(const bramah_filter *filter, size_t capacity, bramah_diag *diag,
                                  bramah_smoother **out)
{
  const size_t size = bramah_smoother_size(filter, capacity);
  bramah__arena arena;
  const bramah_status status = bramah__arena_new("smoother", size, &arena, diag);
  if (status == BRAMAH_OK) *out = layout(filter, capacity, &arena);
  return status;
}

void bramah_smoother_free(bramah_smoother *smoother) { bramah__aligned_free(smoother); }

static record at(const bramah_smoother *s, size_t k)
{
  unsigned char *base = s->records + k * s->stride;
  double *F = (double *)(void *)(base + sizeof(int64_t));
  const size_t n = s->n, nn = n * n;
  return (record){(int64_t *)(void *)base, F, F + nn, F + 2 * nn, F + 3 * nn, F + 3 * nn + n,
                  F + 3 * nn + 2 * n};
}

/* ---- forward ---- */

static bramah_status check_open(const bramah_smoother *s, bramah_diag *diag)
{
  if (!s->ran) return BRAMAH_OK;
  return bramah__fail(diag, BRAMAH_E_ARGUMENT, "smoother",
                      "the backward pass has been run, nothing can be added");
}

/* Copy what the filter and its plant are now. */
static void take_state(const bramah_smoother *s, const record *r, const bramah_filter *filter)
{
  *r->time_ns = bramah_filter_time_ns(filter);
  memcpy(r->P, bramah_filter_covariance(filter), s->n * s->n * sizeof(double));
  s->plant.save(s->plant.self, r->snap);
}

static bramah_status begin(bramah_smoother *s, const bramah_filter *filter, bramah_diag *diag)
{
  if (s->count == s->capacity)
    return bramah__fail(diag, BRAMAH_E_MEMORY, "smoother", "there are more steps than there is room for");
  const record r = at(s, s->count++);
  take_state(s, &r, filter);
  memset(r.dx, 0, s->n * sizeof(double));
  memset(r.d, 0, s->n * sizeof(double));
  return BRAMAH_OK;
}

bramah_status bramah_smoother_predicted(bramah_smoother *smoother, const bramah_filter *filter,
                                        bramah_diag *diag)
{
  bramah_smoother *s = smoother;
  const int64_t now = bramah_filter_time_ns(filter);
  bramah_status status = check_open(s, diag);
  if (status != BRAMAH_OK) return status;
  while (s->count && *at(s, s->count - 1).time_ns >= now) s->count--;
  if (s->count && *at(s, s->count - 1).time_ns != now - s->plant.step_ns)
    return bramah__fail(diag, BRAMAH_E_TIME, "smoother", "the record of the step before is missing");
  status = begin(s, filter, diag);
  if (status != BRAMAH_OK) return status;
  const record r = at(s, s->count - 1);
  memcpy(r.F, bramah_filter_last_transition(filter), s->n * s->n * sizeof(double));
  memcpy(r.P_minus, r.P, s->n * s->n * sizeof(double));
  return BRAMAH_OK;
}

bramah_status bramah_smoother_corrected(bramah_smoother *smoother, const bramah_filter *filter,
                                        bramah_diag *diag)
{
  bramah_smoother *s = smoother;
  const bramah_status status = check_open(s, diag);
  if (status != BRAMAH_OK) return status;
  if (s->count == 0) return begin(s, filter, diag);
  const record r = at(s, s->count - 1);
  if (*r.time_ns != bramah_filter_time_ns(filter))
    return bramah__fail(diag, BRAMAH_E_TIME, "smoother",
                        "the correction does not belong to the present record");
  const double *dx = bramah_filter_last_correction(filter);
  for (size_t i = 0; i < s->n; i++) r.dx[i] += dx[i];
  take_state(s, &r, filter);
  return BRAMAH_OK;
}

bramah_status bramah_smoother_restored(bramah_smoother *smoother, const bramah_filter *filter,
                                       bramah_diag *diag)
{
  bramah_smoother *s = smoother;
  const int64_t now = bramah_filter_time_ns(filter);
  const bramah_status status = check_open(s, diag);
  if (status != BRAMAH_OK) return status;
  while (s->count && *at(s, s->count - 1).time_ns > now) s->count--;
  if (!s->count || *at(s, s->count - 1).time_ns != now)
    return bramah__fail(diag, BRAMAH_E_TIME, "smoother",
                        "there is no record of the time the filter was restored to");
  const record r = at(s, s->count - 1);
  memset(r.dx, 0, s->n * sizeof(double));
  take_state(s, &r, filter);
  return BRAMAH_OK;
}

/* ---- backward ---- */

static bramah_status fail_state(const bramah_smoother *s, size_t i, const char *message, bramah_diag *diag)
{
  const size_t n_plant = bramah_plant_n_error(&s->plant);
  return bramah__fail(diag, BRAMAH_E_NOT_SPD,
                      i < n_plant ? bramah__plant_state_name(&s->plant, i) : "smoother", message);
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
  bramah_status status = check_open(smoother, diag);
  if (status != BRAMAH_OK) return status;
  smoother->ran = 1;
  for (size_t k = smoother->count; status == BRAMAH_OK && k > 1; k--)
    status = step_back(smoother, k - 2, diag);
  return status;
}

/* ---- results ---- */

size_t bramah_smoother_count(const bramah_smoother *smoother) { return smoother->count; }

int64_t bramah_smoother_time_ns(const bramah_smoother *smoother, size_t k)
{
  return *at(smoother, k).time_ns;
}

const double *bramah_smoother_correction(const bramah_smoother *smoother, size_t k)
{
  return at(smoother, k).d;
}

const double *bramah_smoother_covariance(const bramah_smoother *smoother, size_t k)
{
  return at(smoother, k).P;
}

bramah_status bramah_smoother_show(bramah_smoother *smoother, size_t k, bramah_diag *diag)
{
  const bramah_plant *plant = &smoother->plant;
  if (!smoother->ran || k >= smoother->count)
    return bramah__fail(diag, BRAMAH_E_ARGUMENT, "smoother", "there is no smoothed estimate of this step");
  const record r = at(smoother, k);
  plant->restore(plant->self, r.snap);
  smoother->shown = k;
  return plant->inject(plant->self, r.d, diag);
}

/* h Ps h' with h known for the states of the plant, zero for others. */
double bramah_smoother_output_sigma(bramah_smoother *smoother, size_t i)
{
  bramah_smoother *s = smoother;
  const size_t n = s->n, n_plant = bramah_plant_n_error(&s->plant);
  const double *P = at(s, s->shown).P;
  bramah_output_info info;
  double sum = 0.0;
  bramah_plant_output_info(&s->plant, i, &info);
  if (!info.has_row || bramah__plant_output_row(&s->plant, i, s->row, s->row_snap, s->dx, NULL) != BRAMAH_OK)
    return NAN;
  for (size_t a = 0; a < n_plant; a++)
    for (size_t b = 0; b < n_plant; b++) sum += s->row[a] * P[a * n + b] * s->row[b];
  return sqrt(sum);
}
