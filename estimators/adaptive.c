/* SPDX-License-Identifier: MIT */
/* Adaptive noise knows the filter by its public functions alone. Every correction leaves a record in the
 * window: what it says of the variances, linearised about those the filter had
 * (include/bramah/adaptive.h). */
#include "bramah/adaptive.h"
#include "estimators/filter_internal.h"
#include "estimators/update.h"
#include "lib/base/diag.h"
#include "lib/base/seal.h"
#include "lib/math/dense.h"

#include <math.h>
#include <string.h>

enum { WINDOW = 200, LEAST_WINDOW = 10, MOST_WINDOW = 1000000, MOST_SWEEPS = 200 };

static const double settled = 1e-9; /* of a variance, relative */

/* A variance may change by this factor at once: the records hold near the variances they were made with. */
static const double stride = 4.0;

/* A mean counts as a bias, a correlation as colour, beyond so many of its standard deviations. The short memory is
 * that of a window, but of so many samples at least, the long one that of so many windows. */
static const double beyond = BRAMAH_ADAPTIVE_BIASED;
enum { LEAST_MEMORY = 200, LONG_MEMORY = 50 };

/* Innovations over their sigmas, with weights that fall off: sums of the weights, of their squares, of the
 * innovations, of their squares, of products of neighbours. */
typedef struct bramah__memory {
  double weight, weight2, sum, squares, neighbours;
} bramah__memory;

/* What is remembered of a sensor. */
typedef struct bramah__remembered {
  double last;
  bramah__memory of[2]; /* a window; fifty of them */
} bramah__remembered;

/* What changes besides the arrays; copied whole into snapshots. */
typedef struct bramah__adaptive_progress {
  bramah_adaptive_report report;
  uint64_t recoveries; /* of the filter, seen so far */
  uint64_t last;       /* slot of the newest record */
  uint64_t count;      /* records in the window */
  uint64_t since;      /* records since the last change */
} bramah__adaptive_progress;

/* Arrays that a snapshot holds, of words of eight bytes all. */
#define ADAPTIVE_STATE(X)                                                                                    \
  X(double, theta, a->m, "variances of the filter")                                                          \
  X(double, sigma, a->m, "standard deviations of the values")                                                \
  X(double, at, a->m, "1: at a limit")                                                                       \
  X(double, before, a->n * a->n, "P before the coming correction")                                           \
  X(double, D, a->m * a->n * a->n, "derivative of it by the variances")                                      \
  X(double, E, a->m * a->n, "derivative of the estimate by the variances")                                   \
  X(double, ring, a->window *bramah__window_record(a->m), "records")                                         \
  X(bramah__remembered, remembered, a->ns, "innovations")                                                    \
  X(bramah_adaptive_bias, bias, a->ns, "as users see it")

/* What is set once, and scratch. */
#define ADAPTIVE_WORK(X)                                                                                     \
  X(bramah_adaptive_kind, kind, a->m)                                                                        \
  X(bramah_adaptive_value, value, a->m, "as users see them")                                                 \
  X(size_t, index, a->m, "of its kind")                                                                      \
  X(double, given, a->m, "variances at first")                                                               \
  X(double, least, a->m, "variances")                                                                        \
  X(double, most, a->m)                                                                                      \
  X(double, work, a->n * a->n)                                                                               \
  X(double, work2, a->n * a->n)                                                                              \
  X(double, H, a->ns * a->n, "rows of the sensors fused")                                                    \
  X(double, HP, a->ns * a->n, "H P-")                                                                        \
  X(double, S, a->ns * a->ns, "covariance of the innovations")                                               \
  X(double, Y, a->m * a->ns * a->ns, "S^-1 S_j, transposed")                                                 \
  X(double, K, a->n * a->ns, "Kalman gain")                                                                  \
  X(double, v, a->ns, "innovations")                                                                         \
  X(double, s, a->ns, "S^-1 v")                                                                              \
  X(double, dv, a->m * a->ns, "derivatives of the innovations")                                              \
  X(double, sdv, a->m * a->ns, "S^-1 times them")                                                            \
  X(double, term, a->n)                                                                                      \
  X(double, term2, a->n)                                                                                     \
  X(size_t, fused, a->ns, "sensors")                                                                         \
  X(double, A, a->m * a->m)                                                                                  \
  X(double, b, a->m)                                                                                         \
  X(double, low, a->m)                                                                                       \
  X(double, high, a->m)                                                                                      \
  X(double, x, a->m)                                                                                         \
  X(double, acceleration, a->n_dof, "for the filter")                                                        \
  X(double, first_order, a->n_first_order)

struct bramah_adaptive {
  bramah_filter *filter;
  bramah_adaptive_method method;
  size_t n, n_dof, n_first_order, ns, m; /* m: values that adapt */
  size_t window, every;
  double forgetting, smoothing;
  bramah__adaptive_progress progress;
  ADAPTIVE_STATE(BRAMAH__FIELD_MEMBER)
  ADAPTIVE_WORK(BRAMAH__FIELD_MEMBER)
};

/* ---- options ---- */

void bramah_adaptive_options_default(bramah_adaptive_options *options)
{
  *options =
      (bramah_adaptive_options){.method = BRAMAH_ADAPTIVE_LIKELIHOOD, .window = WINDOW, .forgetting = 1.0};
}

/* Between which limits the values of one kind are to adapt. */
typedef struct limits {
  bramah_adaptive_kind kind;
  size_t n;
  const double *least, *most; /* [n] or NULL */
  size_t first_state;         /* that they are named by; sensors by their own names */
} limits;

static int asked(const limits *l, size_t i)
{
  return l->least && l->most && (l->least[i] != 0.0 || l->most[i] != 0.0);
}

/* How many values adapt. */
static size_t count_values(const limits all[3])
{
  size_t count = 0;
  for (const limits *l = all; l < all + 3; l++)
    for (size_t i = 0; i < l->n; i++) count += (size_t)asked(l, i);
  return count;
}

static bramah_status check_options(const bramah_filter *filter, const bramah_adaptive_options *o,
                                   const limits all[3], bramah_diag *diag)
{
  const bramah_filter_info info = bramah_filter_get_info(filter);
  const size_t window = o->window ? o->window : WINDOW;
  const char *wrong = NULL;
  if ((int)o->method < 0 || o->method > BRAMAH_ADAPTIVE_MATCHING)
    wrong = "this method of adaptation is unknown";
  else if (window < LEAST_WINDOW || window > MOST_WINDOW)
    wrong = "the window must be 10 to 1e6 corrections long";
  else if (o->every > window)
    wrong = "changes must not be further apart than the window";
  else if (!(o->forgetting >= 0.0) || o->forgetting > 1.0)
    wrong = "the forgetting must be within 0 and 1";
  else if (!(o->smoothing >= 0.0) || o->smoothing >= 1.0)
    wrong = "the smoothing must be at least 0 and below 1";
  for (const limits *l = all; !wrong && l < all + 3; l++)
    if (!l->least != !l->most) wrong = "limits come in pairs";
  if (!wrong && count_values(all) == 0) wrong = "nothing is to adapt";
  if (wrong) return bramah__fail(diag, BRAMAH_E_VALUE, "adaptive", wrong);

  for (const limits *l = all; l < all + 3; l++)
    for (size_t i = 0; i < l->n; i++) {
      if (!asked(l, i) || (l->least[i] > 0.0 && l->least[i] < l->most[i] && isfinite(l->most[i]))) continue;
      const char *name = l->kind == BRAMAH_ADAPTIVE_SENSOR
                             ? info.sensor[i].name
                             : bramah__plant_state_name(info.plant, l->first_state + i);
      return bramah__fail(diag, BRAMAH_E_VALUE, name,
                          "the limits of adaptive noise must be positive, finite and in order");
    }
  return BRAMAH_OK;
}

/* ---- making and releasing ---- */

static bramah_adaptive *layout(const bramah_filter *filter, const bramah_adaptive_options *o, size_t n_values,
                               bramah__arena *arena)
{
  const bramah_filter_info info = bramah_filter_get_info(filter);
  bramah_adaptive *object = BRAMAH__TAKE(arena, bramah_adaptive, 1), counted = {0};
  bramah_adaptive *a = object ? object : &counted, *fields = a;
  a->n = info.n_error;
  a->n_dof = info.plant->n_dof;
  a->n_first_order = info.plant->n_first_order;
  a->ns = info.n_sensors;
  a->m = n_values;
  a->method = o->method;
  a->window = o->window ? o->window : WINDOW;
  a->every = o->every ? o->every : (a->window + 9) / 10;
  a->forgetting = o->forgetting > 0.0 ? o->forgetting : 1.0;
  a->smoothing = o->smoothing;
  ADAPTIVE_STATE(BRAMAH__FIELD_TAKE)
  ADAPTIVE_WORK(BRAMAH__FIELD_TAKE)
  return object;
}

static double square(double x) { return x * x; }

/* Give the filter the present variances, and tell the values. The variances lie within limits that were
 * checked, so the filter cannot refuse. */
static void give_noise(bramah_adaptive *a)
{
  const bramah_filter_info now = bramah_filter_get_info(a->filter);
  for (size_t i = 0; i < a->n_dof; i++) a->acceleration[i] = now.acceleration_noise[i];
  for (size_t i = 0; i < a->n_first_order; i++) a->first_order[i] = now.first_order_noise[i];
  for (size_t k = 0; k < a->m; k++) {
    const double value = sqrt(a->theta[k]);
    a->value[k] = (bramah_adaptive_value){a->kind[k],       a->index[k], value,          sqrt(a->least[k]),
                                          sqrt(a->most[k]), a->sigma[k], a->at[k] != 0.0};
    if (a->kind[k] == BRAMAH_ADAPTIVE_ACCELERATION)
      a->acceleration[a->index[k]] = value;
    else if (a->kind[k] == BRAMAH_ADAPTIVE_FIRST_ORDER)
      a->first_order[a->index[k]] = value;
    else
      bramah_filter_set_sensor_sigma(a->filter, a->index[k], value, NULL);
  }
  bramah_filter_set_noise(a->filter, a->acceleration, a->first_order, NULL);
}

static void keep_covariance(bramah_adaptive *a)
{
  memcpy(a->before, bramah_filter_covariance(a->filter), a->n * a->n * sizeof(double));
}

bramah_status bramah_adaptive_new(bramah_filter *filter, const bramah_adaptive_options *o, bramah_diag *diag,
                                  bramah_adaptive **out)
{
  const bramah_filter_info info = bramah_filter_get_info(filter);
  const size_t nf = info.plant->n_dof, np = info.plant->n_first_order;
  const limits all[3] = {{BRAMAH_ADAPTIVE_ACCELERATION, nf, o->acceleration_least, o->acceleration_most, nf},
                         {BRAMAH_ADAPTIVE_FIRST_ORDER, np, o->first_order_least, o->first_order_most, 2 * nf},
                         {BRAMAH_ADAPTIVE_SENSOR, info.n_sensors, o->sensor_least, o->sensor_most, 0}};
  bramah_status status = check_options(filter, o, all, diag);
  if (status != BRAMAH_OK) return status;
  bramah__arena arena = bramah__arena_make(NULL, 0);
  layout(filter, o, count_values(all), &arena);
  status = bramah__arena_new("adaptive", arena.used, &arena, diag);
  if (status != BRAMAH_OK) return status;
  bramah_adaptive *a = layout(filter, o, count_values(all), &arena);
  a->filter = filter;
  a->progress.recoveries = bramah_filter_get_report(filter).recoveries;

  /* what adapts, and the variances that the filter has, within the limits */
  size_t k = 0;
  for (const limits *l = all; l < all + 3; l++)
    for (size_t i = 0; i < l->n; i++) {
      if (!asked(l, i)) continue;
      const double present = l->kind == BRAMAH_ADAPTIVE_ACCELERATION  ? info.acceleration_noise[i]
                             : l->kind == BRAMAH_ADAPTIVE_FIRST_ORDER ? info.first_order_noise[i]
                                                                      : info.sensor[i].sigma;
      a->kind[k] = l->kind;
      a->index[k] = i;
      a->least[k] = square(l->least[i]);
      a->most[k] = square(l->most[i]);
      a->theta[k] = a->given[k] = fmin(fmax(square(present), a->least[k]), a->most[k]);
      a->sigma[k++] = NAN;
    }
  give_noise(a);
  keep_covariance(a);
  *out = a;
  return BRAMAH_OK;
}

void bramah_adaptive_free(bramah_adaptive *adaptive) { bramah__aligned_free(adaptive); }

/* ---- prediction ---- */

void bramah_adaptive_predicted(bramah_adaptive *adaptive)
{
  bramah_adaptive *a = adaptive;
  const bramah_filter_last last = bramah_filter_get_last(a->filter);
  const size_t n = a->n, nq = bramah_filter_get_info(a->filter).n_noise;
  for (size_t k = 0; k < a->m; k++) {
    double *D = a->D + k * n * n, *E = a->E + k * n;
    bramah__propagate(n, last.transition, D, a->work);
    memcpy(a->term, E, n * sizeof(double));
    bramah__apply(n, n, last.transition, a->term, E);

    /* D += the value's columns of Gamma, over the square root of its variance, times themselves */
    const int acceleration = a->kind[k] == BRAMAH_ADAPTIVE_ACCELERATION;
    const size_t first = acceleration ? 2 * a->index[k] : 2 * a->n_dof + a->index[k];
    const size_t columns = acceleration ? 2 : a->kind[k] == BRAMAH_ADAPTIVE_FIRST_ORDER;
    for (size_t q = first; q < first + columns; q++)
      for (size_t r = 0; r < n; r++)
        for (size_t c = 0; c < n; c++)
          D[r * n + c] += last.noise[r * nq + q] * last.noise[c * nq + q] / a->theta[k];
  }
  keep_covariance(a);
}

/* ---- what a correction says ---- */

/* S = H P- H' + R of the sensors fused, its factor in place; K = P- H' S^-1; s = S^-1 v. 0 if S is not
 * positive definite. */
static int gains(bramah_adaptive *a, size_t ms, const bramah_filter_last *last)
{
  const bramah_sensor *sensor = bramah_filter_get_info(a->filter).sensor;
  const size_t n = a->n;
  bramah__multiply(ms, n, n, a->H, a->before, a->HP);
  bramah__multiply_transposed(ms, n, ms, a->HP, a->H, a->S);
  for (size_t i = 0; i < ms; i++) { /* of a sensor, and what a sample off the step grid has more */
    const bramah_sensor *of = &sensor[a->fused[i]];
    a->S[i * ms + i] += square(of->sigma) + (last->variances[a->fused[i]] - bramah_sensor_variance(of));
  }
  if (bramah__cholesky_factor(ms, a->S)) return 0;
  for (size_t r = 0; r < n; r++) {
    double *row = a->K + r * ms;
    for (size_t i = 0; i < ms; i++) row[i] = a->HP[i * n + r];
    bramah__cholesky_solve(ms, a->S, row);
  }
  memcpy(a->s, a->v, ms * sizeof(double));
  bramah__cholesky_solve(ms, a->S, a->s);
  return 1;
}

/* Place of the sensor of value k among those fused, or ms. */
static size_t place_of(const bramah_adaptive *a, size_t k, size_t ms)
{
  if (a->kind[k] != BRAMAH_ADAPTIVE_SENSOR) return ms;
  for (size_t i = 0; i < ms; i++)
    if (a->fused[i] == a->index[k]) return i;
  return ms;
}

static double dot(size_t n, const double *x, const double *y)
{
  double sum = 0.0;
  for (size_t i = 0; i < n; i++) sum += x[i] * y[i];
  return sum;
}

/* A = Fisher's information, b = score + A theta. */
static void likelihood_record(bramah_adaptive *a, size_t ms, double *record)
{
  const size_t n = a->n, m = a->m, size = a->ns * a->ns;
  for (size_t k = 0; k < m; k++) {
    /* Y_k = (S^-1 S_k)', S_k = dS/dtheta_k; its share of the score, (v' S^-1 S_k S^-1 v - tr(S^-1 S_k)) / 2 */
    double *Y = a->Y + k * size, score = 0.0;
    const size_t own = place_of(a, k, ms);
    bramah__multiply(ms, n, n, a->H, a->D + k * n * n, a->HP);
    bramah__multiply_transposed(ms, n, ms, a->HP, a->H, Y);
    if (own < ms) Y[own * ms + own] += 1.0;
    for (size_t i = 0; i < ms; i++)
      for (size_t j = 0; j < ms; j++) score += a->s[i] * Y[i * ms + j] * a->s[j];
    for (size_t i = 0; i < ms; i++) {
      bramah__cholesky_solve(ms, a->S, Y + i * ms);
      score -= Y[i * ms + i];
    }

    /* dv_k = -H E_k and S^-1 dv_k; their share, -v' S^-1 dv_k */
    double *dv = a->dv + k * a->ns, *sdv = a->sdv + k * a->ns;
    bramah__apply(ms, n, a->H, a->E + k * n, dv);
    for (size_t i = 0; i < ms; i++) dv[i] = -dv[i];
    memcpy(sdv, dv, ms * sizeof(double));
    bramah__cholesky_solve(ms, a->S, sdv);
    a->b[k] = 0.5 * score + -dot(ms, a->v, sdv);
  }

  for (size_t i = 0; i < m; i++)
    for (size_t j = 0; j <= i; j++) {
      const double *Yi = a->Y + i * size, *Yj = a->Y + j * size;
      double trace = 0.0;
      for (size_t r = 0; r < ms; r++)
        for (size_t c = 0; c < ms; c++) trace += Yi[r * ms + c] * Yj[c * ms + r];
      record[bramah__window_place(i, j)] = 0.5 * trace + dot(ms, a->dv + i * a->ns, a->sdv + j * a->ns);
    }
}

/* Least squares on the diagonals of Q and of R. */
static void matching_record(bramah_adaptive *a, size_t ms, const bramah_filter_last *last, double *record)
{
  const size_t n = a->n, m = a->m;
  const double *P = bramah_filter_covariance(a->filter);
  memset(record, 0, bramah__window_record(m) * sizeof *record);
  memset(a->b, 0, m * sizeof *a->b);

  /* Diagonal r of Q less what the filter had: dx^2 + P+ - P-, weighted by its variance were it Gaussian; a
   * state that no sensor moves says: stay. */
  for (size_t r = 0; r < n; r++) {
    const size_t at = r * n + r;
    const double learnt = a->before[at] - P[at], miss = square(last->correction[r]) - learnt;
    double noise = 0.0;
    for (size_t k = 0; k < m; k++)
      if (a->kind[k] != BRAMAH_ADAPTIVE_SENSOR) noise += a->D[k * n * n + at] * a->theta[k];
    if (!(noise > 0.0)) continue;
    const double weight = 0.5 / square(fmax(learnt, 0.0) + noise);
    for (size_t i = 0; i < m; i++) {
      if (a->kind[i] == BRAMAH_ADAPTIVE_SENSOR) continue;
      a->b[i] += weight * a->D[i * n * n + at] * miss;
      for (size_t j = 0; j <= i; j++)
        if (a->kind[j] != BRAMAH_ADAPTIVE_SENSOR)
          record[bramah__window_place(i, j)] += weight * a->D[i * n * n + at] * a->D[j * n * n + at];
    }
  }

  /* v^2 - S of one sensor alone is what its variance is off. */
  for (size_t k = 0; k < m; k++) {
    const size_t i = place_of(a, k, ms);
    if (i == ms) continue;
    const double variance = square(last->innovation[a->index[k]].sigma), weight = 0.5 / square(variance);
    record[bramah__window_place(k, k)] += weight;
    a->b[k] += weight * (square(a->v[i]) - variance);
  }
}

static void write_record(bramah_adaptive *a, size_t ms, const bramah_filter_last *last)
{
  bramah__adaptive_progress *p = &a->progress;
  const uint64_t slot = (p->last + 1) % a->window;
  double *record = a->ring + slot * bramah__window_record(a->m);
  if (a->method == BRAMAH_ADAPTIVE_LIKELIHOOD)
    likelihood_record(a, ms, record);
  else
    matching_record(a, ms, last, record);
  const size_t m = a->m; /* behind A goes b = a->b + A theta */
  for (size_t i = 0; i < m; i++) {
    double sum = a->b[i];
    for (size_t j = 0; j < m; j++)
      sum += record[i >= j ? bramah__window_place(i, j) : bramah__window_place(j, i)] * a->theta[j];
    record[m * (m + 1) / 2 + i] = sum;
  }
  p->last = slot;
  p->count += p->count < a->window;
  p->since++;
  p->report.corrections++;
}

/* D and E after the correction: E_k = (I - K H) E_k + K_k v, K_k = ((I - K H) D_k H' - K dR/dtheta_k) S^-1. */
static void correct_derivatives(bramah_adaptive *a, size_t ms)
{
  const size_t n = a->n;
  double *rest = a->work2; /* I - K H */
  bramah__multiply(n, ms, n, a->K, a->H, rest);
  for (size_t k = 0; k < n * n; k++) rest[k] = -rest[k];
  for (size_t r = 0; r < n; r++) rest[r * n + r] += 1.0;
  for (size_t k = 0; k < a->m; k++) {
    double *D = a->D + k * n * n, *E = a->E + k * n;
    const size_t own = place_of(a, k, ms);
    bramah__apply_transposed(ms, n, a->H, a->s, a->term);
    bramah__apply(n, n, D, a->term, a->term2);
    for (size_t r = 0; r < n; r++) a->term2[r] += E[r];
    bramah__apply(n, n, rest, a->term2, E);
    for (size_t r = 0; r < n && own < ms; r++) E[r] -= a->K[r * ms + own] * a->s[own];
    bramah__propagate(n, rest, D, a->work);
    for (size_t r = 0; r < n && own < ms; r++)
      for (size_t c = 0; c < n; c++) D[r * n + c] += a->K[r * ms + own] * a->K[c * ms + own];
  }
}

/* ---- new noise ---- */

/* Summed anew each time: running sums would lose their digits when a great record leaves the window. */
void bramah__window_sum(size_t m, const double *ring, size_t size, size_t last, size_t count,
                        double forgetting, double *A, double *b)
{
  double weight = 1.0;
  memset(A, 0, m * m * sizeof *A);
  memset(b, 0, m * sizeof *b);
  for (size_t k = 0; k < count; k++) {
    const double *record = ring + (last + size - k) % size * bramah__window_record(m);
    for (size_t i = 0; i < m; i++) {
      for (size_t j = 0; j <= i; j++) A[i * m + j] += weight * record[bramah__window_place(i, j)];
      b[i] += weight * record[m * (m + 1) / 2 + i];
    }
    weight *= forgetting;
  }
  for (size_t i = 0; i < m; i++)
    for (size_t j = 0; j < i; j++) A[j * m + i] = A[i * m + j];
}

void bramah__window_solve(size_t m, double *A, const double *b, const double *theta, const double *least,
                          const double *most, double *x)
{
  for (size_t i = 0; i < m; i++) {
    A[i * m + i] += 0.5 / (theta[i] * theta[i]); /* Fisher information of one sample */
    x[i] = fmin(fmax(theta[i], least[i]), most[i]);
  }
  for (int sweep = 0; sweep < MOST_SWEEPS; sweep++) {
    double moved = 0.0;
    for (size_t i = 0; i < m; i++) { /* the best value of variance i while the others stay */
      double right = b[i] + 0.5 / theta[i];
      for (size_t j = 0; j < m; j++)
        if (j != i) right -= A[i * m + j] * x[j];
      const double next = fmin(fmax(right / A[i * m + i], least[i]), most[i]);
      moved = fmax(moved, fabs(next - x[i]) / theta[i]);
      x[i] = next;
    }
    if (moved < settled) return;
  }
}

/* ---- biases ---- */

static double memory_of(const bramah_adaptive *a)
{
  return (double)(a->window > LEAST_MEMORY ? a->window : LEAST_MEMORY);
}

static void remember(bramah_adaptive *a, size_t sensor, double e)
{
  bramah__remembered *r = &a->remembered[sensor];
  for (int k = 0; k < 2; k++) {
    const double keep = 1.0 - 1.0 / (k ? LONG_MEMORY * memory_of(a) : memory_of(a));
    bramah__memory *m = &r->of[k];
    m->weight = keep * m->weight + 1.0;
    m->weight2 = keep * keep * m->weight2 + 1.0;
    m->sum = keep * m->sum + e;
    m->squares = keep * m->squares + e * e;
    m->neighbours = keep * m->neighbours + e * r->last;
  }
  r->last = e;
}

/* The mean in its standard deviations, and the correlation at lag 1 in its own. Innovations of wrong noise
 * scatter otherwise than they should, and those alike count as fewer, as in a first-order process. Where all
 * scatter less than a tenth of their sigma a mean of that size does not matter. */
static double bias_of(const bramah__memory *m, double length, double *colour)
{
  *colour = 0.0;
  if (m->weight2 < 0.4 * length) return 0.0; /* four fifths of the short memory are not there yet */
  const double mean = m->sum / m->weight, variance = fmax(m->squares / m->weight - square(mean), 1e-2);
  const double lag = (m->neighbours / m->weight - square(mean)) / variance,
               alike = fmin(fmax(lag, 0.0), 0.95);
  *colour = lag * m->weight / sqrt(m->weight2);
  return m->sum / sqrt(m->weight2 * variance * (1.0 + alike) / (1.0 - alike));
}

/* Does a sensor have a bias now? Counts. */
static int look_for_bias(bramah_adaptive *a)
{
  int any = 0;
  for (size_t i = 0; i < a->ns; i++) {
    bramah_adaptive_bias *b = &a->bias[i];
    double colour, ignored;
    const double near = bias_of(&a->remembered[i].of[0], memory_of(a), &colour);
    const double far = bias_of(&a->remembered[i].of[1], memory_of(a), &ignored);
    b->now = fabs(near) > fabs(far) ? near : far;
    if (fabs(b->now) > fabs(b->worst)) b->worst = b->now;
    b->windows += fabs(b->now) > beyond;
    b->coloured += fabs(colour) > beyond;
    any |= fabs(b->now) > beyond;
  }
  return any;
}

/* Innovations of noise that was much too small are alike for longer than can be told from a bias: where the
 * window says so beyond doubt they are forgotten. x: the new variances, s: their standard deviations. */
static int was_too_small(bramah_adaptive *a, const double *x, const double *s)
{
  int any = 0;
  for (size_t k = 0; k < a->m; k++) any |= x[k] > 2.0 * a->theta[k] && !(x[k] - a->theta[k] < 3.0 * s[k]);
  if (any) memset(a->remembered, 0, a->ns * sizeof *a->remembered);
  return any;
}

/* ---- the change ---- */

static void change_noise(bramah_adaptive *a)
{
  bramah__adaptive_progress *p = &a->progress;
  for (size_t k = 0; k < a->m; k++) {
    a->low[k] = fmax(a->least[k], a->theta[k] / stride);
    a->high[k] = fmin(a->most[k], a->theta[k] * stride);
  }
  bramah__window_sum(a->m, a->ring, a->window, (size_t)p->last, (size_t)p->count, a->forgetting, a->A, a->b);
  bramah__window_solve(a->m, a->A, a->b, a->theta, a->low, a->high, a->x);

  /* standard deviation of each variance, by the inverse of A */
  const int bad = a->method != BRAMAH_ADAPTIVE_LIKELIHOOD || bramah__cholesky_factor(a->m, a->A);
  for (size_t k = 0; k < a->m; k++) {
    for (size_t j = 0; j < a->m; j++) a->b[j] = j == k ? 1.0 : 0.0;
    if (!bad) bramah__cholesky_solve(a->m, a->A, a->b);
    a->sigma[k] = bad ? NAN : sqrt(a->b[k]);
  }

  /* With a bias nothing gets smaller, and what had got smaller than it was given goes back to that. */
  const int biased = !was_too_small(a, a->x, a->sigma) && look_for_bias(a);
  p->report.windows++;
  p->report.biased += (uint64_t)biased;
  for (size_t k = 0; k < a->m; k++) {
    if (biased) a->x[k] = fmax(a->x[k], fmax(a->theta[k], a->given[k]));
    a->at[k] = a->x[k] <= a->least[k] || a->x[k] >= a->most[k];
    a->theta[k] = a->smoothing * a->theta[k] + (1.0 - a->smoothing) * a->x[k];
    a->sigma[k] *= 0.5 / sqrt(a->theta[k]); /* of the root */
  }
  give_noise(a);
  p->since = 0;
  p->report.changes++;
}

/* ---- correction ---- */

int bramah_adaptive_corrected(bramah_adaptive *adaptive)
{
  bramah_adaptive *a = adaptive;
  bramah__adaptive_progress *p = &a->progress;
  const bramah_filter_last last = bramah_filter_get_last(a->filter);
  const uint64_t recoveries = bramah_filter_get_report(a->filter).recoveries;

  /* Rows and innovations of the sensors that were fused. */
  size_t ms = 0;
  for (size_t i = 0; i < a->ns; i++) {
    if (!last.innovation[i].accepted) continue;
    a->fused[ms] = i;
    a->v[ms] = last.innovation[i].innovation;
    memcpy(a->H + ms++ * a->n, last.rows + i * a->n, a->n * sizeof(double));
  }
  if (ms == 0) return 0;

  const int usable = recoveries == p->recoveries && gains(a, ms, &last);
  p->recoveries = recoveries;
  if (usable) {
    for (size_t i = 0; i < ms; i++) remember(a, a->fused[i], a->v[i] / last.innovation[a->fused[i]].sigma);
    write_record(a, ms, &last);
    correct_derivatives(a, ms);
  }
  p->report.skipped += !usable;
  if (!usable || a->method == BRAMAH_ADAPTIVE_MATCHING) {
    memset(a->D, 0, a->m * a->n * a->n * sizeof(double));
    memset(a->E, 0, a->m * a->n * sizeof(double));
  }
  keep_covariance(a);
  if (p->count < a->window || p->since < a->every) return 0;
  change_noise(a);
  return 1;
}

/* ---- results ---- */

bramah_adaptive_report bramah_adaptive_get_report(const bramah_adaptive *adaptive)
{
  bramah_adaptive_report report = adaptive->progress.report;
  report.n_values = adaptive->m;
  report.value = adaptive->value;
  report.n_sensors = adaptive->ns;
  report.bias = adaptive->bias;
  return report;
}

/* ---- snapshots: | seal | progress | arrays of ADAPTIVE_STATE | ---- */

static uint64_t identity(const bramah_adaptive *a)
{
  const size_t size[] = {(size_t)a->method, a->window, a->every, a->n, a->m};
  uint64_t hash = bramah__mix(bramah__mix_text(0, "adaptive"), a->filter->identity);
  for (size_t i = 0; i < sizeof size / sizeof *size; i++) hash = bramah__mix(hash, size[i]);
  for (size_t k = 0; k < a->m; k++) hash = bramah__mix(bramah__mix(hash, (uint64_t)a->kind[k]), a->index[k]);
  return hash;
}

size_t bramah_adaptive_snapshot_size(const bramah_adaptive *adaptive)
{
  const bramah_adaptive *a = adaptive;
  size_t size = sizeof(bramah__seal) + sizeof a->progress;
  ADAPTIVE_STATE(BRAMAH__FIELD_ADD)
  return size;
}

void bramah_adaptive_save(const bramah_adaptive *adaptive, void *snap)
{
  const bramah_adaptive *a = adaptive, *fields = a;
  unsigned char *out = (unsigned char *)snap + sizeof(bramah__seal);
  out = bramah__put(out, &a->progress, sizeof a->progress);
  ADAPTIVE_STATE(BRAMAH__FIELD_PUT)
  bramah__seal_put(snap, identity(a), bramah_adaptive_snapshot_size(a));
}

bramah_status bramah_adaptive_check_snapshot(const bramah_adaptive *adaptive, const void *snap, size_t size,
                                             bramah_diag *diag)
{
  bramah_adaptive there = *adaptive, *a = &there, *fields = a;
  const bramah_status status =
      bramah__seal_check(snap, size, identity(a), bramah_adaptive_snapshot_size(a), diag);
  if (status != BRAMAH_OK) return status;
  const unsigned char *in = (const unsigned char *)snap + sizeof(bramah__seal);
  in = bramah__get(&a->progress, in, sizeof a->progress);
  ADAPTIVE_STATE(BRAMAH__FIELD_LOOK)
  int good = a->progress.last < a->window && a->progress.count <= a->window;
  for (size_t k = 0; k < a->m; k++) good &= a->theta[k] >= a->least[k] && a->theta[k] <= a->most[k];
  return good ? BRAMAH_OK : bramah__seal_broken(diag);
}

bramah_status bramah_adaptive_restore(bramah_adaptive *adaptive, const void *snap)
{
  bramah_adaptive *a = adaptive, *fields = a;
  const bramah_status status =
      bramah_adaptive_check_snapshot(a, snap, bramah_adaptive_snapshot_size(a), NULL);
  if (status != BRAMAH_OK) return status;
  const unsigned char *in = (const unsigned char *)snap + sizeof(bramah__seal);
  in = bramah__get(&a->progress, in, sizeof a->progress);
  ADAPTIVE_STATE(BRAMAH__FIELD_GET)
  give_noise(a);
  return BRAMAH_OK;
}
