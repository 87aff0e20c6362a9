/* SPDX-License-Identifier: MIT */
/* With x = estimate of all states less that of the filter, P its covariance and K = P H' / S its gain:
 *
 *   prediction   x = F x,  P = F P F' + Q
 *   sample       rest = nu - H x, white with the variance S = H P H' + r;  x = x + K rest
 *   then         x = x - what the filter injected
 *
 * An offset of sensor i that began with a window has moved the estimate by V theta: V = F V; U = D - H V, D = 1 for samples
 * of i; V = V + K U. The sum of U rest / S has the variance J = sum of U U / S, and theta = sum / J.
 *
 * What a state changes by in a window, the sum of its corrections, has the variance P_0 + Q - P: increments of an optimal
 * estimate are not correlated with what it does not know yet.
 *
 * Started from the filter's own P with x = 0 all of this holds at once; so it does again after a recovery. */
#include "bramah/monitor.h"
#include "estimators/filter_internal.h"
#include "estimators/update.h"
#include "lib/base/diag.h"
#include "lib/base/processors.h"
#include "lib/base/seal.h"

#include <math.h>

enum { LENGTHS = 4, SECOND = 2, ALL = 3 };
typedef enum subject { STATE, SENSOR, SUBJECTS } subject;
static const int64_t length[LENGTHS] = {100000000, 300000000, 1000000000, INT64_MAX};
static const int64_t settle_ns = 100000000;      /* of a start that may be wrong */
static const int64_t white_ns = 900000000;       /* after that, until correlations count */
static const double furthest = 3.0;              /* sigmas that an innovation counts at most */
static const double surely = 1.6448536269514722; /* beyond a limit by so much: 95 times of 100 */
static const double slowness = 0.1;              /* [s] */
static const double doubt =
    0.3; /* so large a part of H x, and of a stated sigma, may be what is not linear */

/* In the open window of a length: of a state the sum of its corrections, and P_0 + Q; of a sensor the score and J. */
typedef struct sums {
  double sum, variance;
} sums;

/* Of a sensor's innovations over their sigmas. */
typedef struct white_sums {
  uint64_t n;
  double last, sum, squares, products; /* products with the one before */
} white_sums;

typedef struct monitor_progress {
  uint64_t has_start, is_open, recoveries;
  int64_t from_ns, now_ns, begin_ns[LENGTHS];
} monitor_progress;

/* Arrays that a snapshot holds; those of subjects by length, states first, then sensors. */
#define MONITOR_STATE(X)                                                                                     \
  X(double, P, m->n * m->n)                                                                                  \
  X(double, moved, m->n * m->width) /* row by row: V by length and sensor, then x */                         \
  X(double, slow, m->n_sensors)     /* predicted readings, 0: none yet */                                    \
  X(sums, sum, LENGTHS *(m->n_augmented + m->n_sensors))                                                     \
  X(bramah_monitor_worst, worst, LENGTHS *(m->n_augmented + m->n_sensors))                                   \
  X(white_sums, white, m->n_sensors)                                                                         \
  X(bramah_monitor_hidden, hidden, m->n_output)
#define MONITOR_REST(X)                                                                                      \
  X(double, square, m->n *(m->n > m->width ? m->n : m->width))                                               \
  X(double, H, m->n)                                                                                         \
  X(double, row, m->n + m->width)                                                                            \
  X(int64_t, past_ns, m->n_past)                                                                             \
  X(unsigned char, past, m->n_past * m->past_size)

struct bramah_monitor {
  uint64_t mark;
  int own_memory;
  bramah_filter *filter;
  size_t n, n_sensors, n_augmented, n_output, width;
  size_t n_past, past_size; /* steps that late samples may go back, 0: none are late */
  monitor_progress progress;
  MONITOR_STATE(BRAMAH__FIELD_MEMBER)
  MONITOR_REST(BRAMAH__FIELD_MEMBER)
};

/* ---- making one ---- */

static size_t state_size(const bramah_monitor *m)
{
  size_t size = bramah__whole_words(sizeof m->progress);
  MONITOR_STATE(BRAMAH__FIELD_ADD)
  return size;
}

static bramah_monitor *layout(const bramah_filter *filter, bramah__arena *arena)
{
  const bramah_filter_info info = bramah_filter_get_info(filter);
  bramah_monitor *object = BRAMAH__TAKE(arena, bramah_monitor, 1), counted = {0};
  bramah_monitor *m = object ? object : &counted, *fields = m;
  int64_t latest = 0;
  m->n = info.n_error;
  m->n_sensors = info.n_sensors;
  m->n_augmented = info.n_augmented;
  m->n_output = info.plant->n_output;
  m->width = LENGTHS * m->n_sensors + 1;
  for (size_t i = 0; i < m->n_sensors; i++)
    latest = info.sensor[i].delay_ns > latest ? info.sensor[i].delay_ns : latest;
  m->n_past = latest > 0 ? (size_t)(latest / info.plant->step_ns) + 4 : 0;
  m->past_size = state_size(m);
  MONITOR_STATE(BRAMAH__FIELD_TAKE)
  MONITOR_REST(BRAMAH__FIELD_TAKE)
  return object;
}

size_t bramah_monitor_size(const bramah_filter *filter)
{
  bramah__arena arena = bramah__arena_make(NULL, 0);
  layout(filter, &arena);
  return arena.used;
}

bramah_status bramah_monitor_init(bramah_filter *filter, void *mem, size_t size, bramah_diag *diag,
                                  bramah_monitor **out)
{
  bramah__arena arena;
  const bramah_status status =
      bramah__arena_in("monitor", mem, size, bramah_monitor_size(filter), &arena, diag);
  if (status != BRAMAH_OK) return status;
  bramah_monitor *m = layout(filter, &arena);
  m->filter = filter;
  for (size_t k = 0; k < m->n_past; k++) m->past_ns[k] = INT64_MIN;
  *out = m;
  return BRAMAH_OK;
}

bramah_status bramah_monitor_new(bramah_filter *filter, bramah_diag *diag, bramah_monitor **out)
{
  BRAMAH__MAKE_IN_OWN("monitor", bramah_monitor_size(filter),
                      bramah_monitor_init(filter, mem, size, diag, out));
}

void bramah_monitor_free(bramah_monitor *monitor)
{
  if (monitor && monitor->own_memory) bramah__aligned_free(monitor);
}

/* ---- windows ---- */

static size_t count(const bramah_monitor *m, subject of)
{
  return of == STATE ? m->n_augmented : m->n_sensors;
}

/* Place of a subject among sums and worst windows. */
static size_t place(const bramah_monitor *m, subject of, size_t l, size_t k)
{
  return (of == STATE ? 0 : LENGTHS * m->n_augmented) + l * count(m, of) + k;
}

static void open_window(bramah_monitor *m, size_t l)
{
  m->progress.begin_ns[l] = m->progress.now_ns;
  for (size_t k = 0; k < m->n_augmented; k++)
    m->sum[place(m, STATE, l, k)] = (sums){.variance = m->P[m->filter->self_state[k].state * (m->n + 1)]};
  for (size_t i = 0; i < m->n_sensors; i++) {
    m->sum[place(m, SENSOR, l, i)] = (sums){0};
    for (size_t j = 0; j < m->n; j++) m->moved[j * m->width + l * m->n_sensors + i] = 0.0;
  }
}

/* The open window of a subject: how far it is from what is stated; 0: it is not judged. */
static bramah_monitor_worst judge(const bramah_monitor *m, subject of, size_t l, size_t k)
{
  const bramah_filter *f = m->filter;
  const sums *s = &m->sum[place(m, of, l, k)];
  bramah_monitor_worst out = {.begin_ns = m->progress.begin_ns[l], .end_ns = m->progress.now_ns};
  if (out.end_ns <= out.begin_ns) return out;
  if (of == STATE) {
    const bramah_augmented *a = &f->augmented[k];
    if (a->role == BRAMAH_AUGMENTED_ESTIMATED || a->kind == BRAMAH_AUGMENTED_PARAMETER) return out;
    const double P = m->P[f->self_state[k].state * (m->n + 1)];
    out.size = fabs(s->sum) / sqrt(fmax(s->variance - P, doubt * doubt * a->sigma * a->sigma));
    out.amount = s->sum;
    return out;
  }
  if (!(s->variance > 0.0)) return out;
  out.size = fabs(s->sum) / sqrt(s->variance);
  out.amount = s->sum / s->variance;
  return out;
}

/* Windows that begin with the first sample are not judged, but that of all time. */
static int is_settled(const bramah_monitor *m, size_t l)
{
  return l == ALL || m->progress.begin_ns[l] >= m->progress.from_ns;
}

/* The worst window so far, or the open one if that is worse. */
static bramah_monitor_worst worse(const bramah_monitor *m, subject of, size_t l, size_t k)
{
  bramah_monitor_worst worst = m->worst[place(m, of, l, k)];
  if (!m->progress.is_open || !is_settled(m, l)) return worst;
  bramah_monitor_worst now = judge(m, of, l, k);
  if (!(now.size > 0.0)) return worst;
  now.tests = ++worst.tests;
  return now.tests == 1 || now.size > worst.size ? now : worst;
}

static void close_window(bramah_monitor *m, size_t l)
{
  for (int of = 0; of < SUBJECTS; of++)
    for (size_t k = 0; k < count(m, (subject)of); k++)
      m->worst[place(m, (subject)of, l, k)] = worse(m, (subject)of, l, k);
}

/* What an offset of a sensor in the open window of a length could hide of an output with row H and this sigma, if it is more
 * than what is known. */
static void look_hidden(const bramah_monitor *m, size_t l, double sigma, bramah_monitor_hidden *worst)
{
  for (size_t i = 0; i < m->n_sensors; i++) {
    const double J = m->sum[place(m, SENSOR, l, i)].variance,
                 found = (BRAMAH_MONITOR_LIMIT + surely) / sqrt(J);
    double by = 0.0;
    for (size_t j = 0; j < m->n; j++) by += m->H[j] * m->moved[j * m->width + l * m->n_sensors + i];
    if (!(J > 0.0 && fabs(by) * found > worst->sigmas * sigma)) continue;
    *worst = (bramah_monitor_hidden){.sensor = i,
                                     .offset = found,
                                     .effect = fabs(by) * found,
                                     .sigmas = fabs(by) * found / sigma,
                                     .begin_ns = m->progress.begin_ns[l],
                                     .end_ns = m->progress.now_ns};
  }
}

/* Of all outputs, when a window of a second ends. */
static void close_hidden(bramah_monitor *m)
{
  bramah_filter *f = m->filter;
  for (size_t o = 0; o < m->n_output; o++) {
    bramah_monitor_hidden worst = {.sigmas = BRAMAH_MONITOR_BAND}, *kept = &m->hidden[o];
    if (!bramah__filter_output_row(f, o, m->H)) continue;
    const double sigma = sqrt(bramah__variance(m->n, m->H, f->P));
    for (size_t l = SECOND; l < LENGTHS; l++) look_hidden(m, l, sigma, &worst);
    const uint64_t windows = kept->windows + 1, open = kept->open + (worst.effect > 0.0);
    if (worst.effect > 0.0 && worst.sigmas > kept->sigmas) *kept = worst;
    kept->windows = windows;
    kept->open = open;
  }
}

/* ---- with the filter ---- */

/* out = F X, X [n x width]: most rows of F have few entries. */
BRAMAH__FOR_PROCESSORS static void carry(size_t n, size_t width, const double *F, const double *X,
                                         double *restrict out)
{
  memset(out, 0, n * width * sizeof *out);
  for (size_t i = 0; i < n; i++)
    for (size_t k = 0; k < n; k++) {
      const double by = F[i * n + k];
      if (by == 0.0) continue;
      for (size_t j = 0; j < width; j++) out[i * width + j] += by * X[k * width + j];
    }
}

static void predicted(bramah_monitor *m)
{
  const bramah_filter *f = m->filter;
  const size_t n = m->n, width = m->width;
  bramah__kernel_propagate(&f->shape, f->F, f->Gamma, m->P, f->work.wide);
  carry(n, width, f->F, m->moved, m->square);
  memcpy(m->moved, m->square, n * width * sizeof(double));
  for (size_t k = 0; k < m->n_augmented; k++) {
    const size_t i = f->self_state[k].state;
    const double phi = f->F[i * (n + 1)];
    double q = 0.0;
    for (size_t c = 0; c < f->nq; c++) q += f->Gamma[i * f->nq + c] * f->Gamma[i * f->nq + c];
    for (size_t l = 0; l < LENGTHS; l++) {
      sums *s = &m->sum[place(m, STATE, l, k)];
      s->sum *= phi;
      s->variance = phi * phi * s->variance + q;
    }
  }
}

/* What a gain is the factor of: what the sensor is predicted to show, but slowly, without the noise of the last samples.
 * With it, where the noise of the process is overestimated and each innovation takes back a part of the one before, gains
 * would drift without end. */
static double slow_reading(bramah_monitor *m, size_t i, double predicted)
{
  const double period = fmax(1e-9 * (double)m->filter->sensor[i].period_ns, bramah__step_seconds(m->filter));
  m->slow[i] += (m->slow[i] == 0.0 ? 1.0 : fmin(period / slowness, 1.0)) * (predicted - m->slow[i]);
  return m->slow[i];
}

/* moved [n x width] += K U, P [n x n] -= K PH' of a sample. */
BRAMAH__FOR_PROCESSORS static void add_products(size_t n, size_t width, const double *restrict PH,
                                                double inverse, const double *restrict U,
                                                double *restrict moved, double *restrict P)
{
  for (size_t k = 0; k < n; k++) {
    const double K = PH[k] * inverse;
    for (size_t c = 0; c < width; c++) moved[k * width + c] += K * U[c];
    for (size_t j = 0; j < n; j++) P[k * n + j] -= PH[k] * PH[j] * inverse;
  }
}

/* One more innovation of sensor i, over its sigma. */
static void add_white(bramah_monitor *m, size_t i, double x)
{
  white_sums *w = &m->white[i];
  if (m->progress.now_ns < m->progress.from_ns + white_ns) return;
  w->products += w->n++ ? x * w->last : 0.0;
  w->last = x;
  w->sum += x;
  w->squares += x * x;
}

/* A sample of sensor i into x, P and all windows. */
static void add_sample(bramah_monitor *m, size_t i)
{
  const bramah_filter *f = m->filter;
  const size_t n = m->n, width = m->width, x = width - 1;
  double *H = m->H;
  memcpy(H, f->H + i * n, n * sizeof *H);
  for (size_t k = 0; k < m->n_augmented; k++)
    if (f->augmented[k].kind == BRAMAH_AUGMENTED_GAIN && f->self_state[k].target == i)
      H[f->self_state[k].state] = slow_reading(m, i, H[f->self_state[k].state]);
  double *PH = m->row, *U = PH + n, S = 0.0; /* U: of x, what it predicts */
  memset(PH, 0, (n + width) * sizeof *PH);
  for (size_t k = 0; k < n; k++) {
    if (H[k] == 0.0) continue;
    for (size_t j = 0; j < n; j++) PH[j] += H[k] * m->P[k * n + j];
    for (size_t c = 0; c < width; c++) U[c] -= H[k] * m->moved[k * width + c];
  }
  for (size_t k = 0; k < n; k++) S += H[k] * PH[k];
  S += f->r[i] + doubt * doubt * U[x] * U[x];
  if (!(S > 0.0) || !isfinite(S)) return;
  const double most = furthest * sqrt(S), rest = fmin(fmax(f->y[i] + U[x], -most), most), inverse = 1.0 / S,
               share = rest * inverse;
  for (size_t l = 0; l < LENGTHS; l++) {
    U[l * m->n_sensors + i] += 1.0;
    for (size_t k = 0; k < m->n_augmented; k++)
      m->sum[place(m, STATE, l, k)].sum += PH[f->self_state[k].state] * share;
    for (size_t k = 0; k < m->n_sensors; k++) {
      sums *s = &m->sum[place(m, SENSOR, l, k)];
      const double u = U[l * m->n_sensors + k];
      s->sum += u * share;
      s->variance += u * u * inverse;
    }
  }
  add_white(m, i, rest * sqrt(inverse));
  U[x] = rest;
  add_products(n, width, PH, inverse, U, m->moved, m->P);
}

static void corrected(bramah_monitor *m)
{
  const bramah_filter *f = m->filter;
  const monitor_progress *p = &m->progress;
  for (size_t l = 0; l < LENGTHS; l++) {
    if (is_settled(m, l) ? p->now_ns - p->begin_ns[l] < length[l] : p->now_ns < p->from_ns) continue;
    close_window(m, l);
    if (l == SECOND && is_settled(m, l)) close_hidden(m);
    open_window(m, l);
  }
  for (size_t i = 0; i < m->n_sensors; i++)
    if (f->innovation[i].accepted) add_sample(m, i);
  for (size_t j = 0; j < m->n; j++) m->moved[(j + 1) * m->width - 1] -= f->dx[j];
}

/* Begin where the filter is, or was before the first call of all. */
static void start(bramah_monitor *m, const double *P)
{
  memcpy(m->P, P, m->n * m->n * sizeof(double));
  memset(m->moved, 0, m->n * m->width * sizeof(double));
  for (size_t l = 0; l < LENGTHS; l++) open_window(m, l);
  m->progress.is_open = 1;
}

/* ---- its past, for late samples; snapshots ---- */

static void put_state(const bramah_monitor *m, unsigned char *out)
{
  const bramah_monitor *fields = m;
  out = bramah__put(out, &m->progress, sizeof m->progress);
  MONITOR_STATE(BRAMAH__FIELD_PUT)
}

static void get_state(bramah_monitor *m, const unsigned char *in)
{
  bramah_monitor *fields = m;
  in = bramah__get(&m->progress, in, sizeof m->progress);
  MONITOR_STATE(BRAMAH__FIELD_GET)
}

/* Where its state of before the corrections at this time is kept. */
static size_t slot_of(const bramah_monitor *m, int64_t t)
{
  return (size_t)(t / m->filter->plant.step_ns) % m->n_past;
}

void bramah_monitor_watch(bramah_monitor *m, bramah_filter_event event)
{
  monitor_progress *p = &m->progress;
  const int64_t t = p->now_ns = m->filter->progress.time_ns;
  const uint64_t recoveries = m->filter->progress.report.recoveries;
  if (event == BRAMAH_FILTER_RESTORED) {
    const size_t slot = m->n_past ? slot_of(m, t) : 0;
    if (m->n_past && m->past_ns[slot] == t)
      get_state(m, m->past + slot * m->past_size);
    else
      p->is_open = 0;
    p->now_ns = t;
    return;
  }
  if (!p->has_start && m->filter->progress.report.predictions + m->filter->progress.report.corrections <= 1) {
    start(m, m->filter->P_initial);
    p->has_start = 1;
    p->recoveries = recoveries;
    p->from_ns = t + settle_ns;
  } else if (!p->has_start || recoveries != p->recoveries) {
    for (size_t l = 0; l < LENGTHS; l++) close_window(m, l);
    p->is_open = 0;
    p->has_start = 1;
    p->recoveries = recoveries;
    p->from_ns = t + settle_ns;
  }
  if (event == BRAMAH_FILTER_PREDICTED) {
    if (p->is_open) predicted(m);
    if (!m->n_past) return;
    const size_t slot = slot_of(m, t);
    put_state(m, m->past + slot * m->past_size);
    m->past_ns[slot] = t;
  } else if (p->is_open) {
    corrected(m);
  } else if (t >= p->from_ns) {
    start(m, m->filter->P);
  }
}

static uint64_t identity(const bramah_monitor *m)
{
  return bramah__mix(bramah__mix_text(0, "monitor"), m->filter->identity);
}

size_t bramah_monitor_snapshot_size(const bramah_monitor *m)
{
  return sizeof(bramah__seal) + m->past_size + m->n_past * (m->past_size + sizeof(int64_t));
}

void bramah_monitor_save(const bramah_monitor *m, void *snap)
{
  unsigned char *out = (unsigned char *)snap + sizeof(bramah__seal);
  put_state(m, out);
  out = bramah__put(out + m->past_size, m->past_ns, m->n_past * sizeof *m->past_ns);
  bramah__put(out, m->past, m->n_past * m->past_size);
  bramah__seal_put(snap, identity(m), bramah_monitor_snapshot_size(m));
}

bramah_status bramah_monitor_restore(bramah_monitor *m, const void *snap)
{
  const bramah_status status = bramah__seal_check(snap, bramah_monitor_snapshot_size(m), identity(m),
                                                  bramah_monitor_snapshot_size(m), NULL);
  if (status != BRAMAH_OK) return status;
  const unsigned char *in = (const unsigned char *)snap + sizeof(bramah__seal);
  get_state(m, in);
  in = bramah__get(m->past_ns, in + m->past_size, m->n_past * sizeof *m->past_ns);
  bramah__get(m->past, in, m->n_past * m->past_size);
  return BRAMAH_OK;
}

/* ---- results ---- */

static bramah_monitor_worst worst_of(const bramah_monitor *m, subject of, size_t k, double limit)
{
  bramah_monitor_worst worst = {0};
  uint64_t tests = 0;
  for (size_t l = 0; l < LENGTHS && k < count(m, of); l++) {
    const bramah_monitor_worst at = worse(m, of, l, k);
    tests += at.tests;
    if (at.tests && (!worst.tests || (at.size > worst.size && !(worst.size > limit)))) worst = at;
  }
  worst.tests = tests;
  return worst;
}

bramah_monitor_whiteness bramah_monitor_correlation(const bramah_monitor *m, size_t i)
{
  const white_sums *w = &m->white[i];
  const double n = (double)w->n, mean = w->n ? w->sum / n : 0.0;
  bramah_monitor_whiteness out = {.n = w->n, .sum = w->sum, .squares = w->squares, .products = w->products};
  if (w->n < 50 || !(w->squares > n * mean * mean)) return out;
  out.correlation = (w->products - (n - 1.0) * mean * mean) / (w->squares - n * mean * mean);
  out.size = (out.correlation + 1.0 / n) * sqrt(n);
  return out;
}

bramah_monitor_hidden bramah_monitor_hidden_of(const bramah_monitor *m, size_t output)
{
  return output < m->n_output ? m->hidden[output] : (bramah_monitor_hidden){0};
}

bramah_monitor_worst bramah_monitor_state(const bramah_monitor *m, size_t k, double limit)
{
  return worst_of(m, STATE, k, limit);
}

bramah_monitor_worst bramah_monitor_offset(const bramah_monitor *m, size_t i, double limit)
{
  return worst_of(m, SENSOR, i, limit);
}
