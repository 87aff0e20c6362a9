/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A log of an excavator or loader is cut into cycles by a hidden Markov model of four phases in a circle. */
#include "bramah/work_cycles.h"
#include "lib/io/fail.h"
#include "lib/math/elementary.h"

#include <gsl/gsl_sort.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A phase is a chain of STAGES alike, so that its duration has a hump (Erlang) and very short phases are improbable; state
 * s is of the phase s / STAGES, after the last stage of a phase comes the first of the next one. */
enum { N = BRAMAH_WORK_N_PHASES, STAGES = 4, STATES = N * STAGES, HALF_SLOPE = 3, PASSES = 8 };
static const double grid = 0.05;  /* [s] */
static const double counts = 0.4; /* of a sample: its neighbours say the same */
static const double gap = 0.5;    /* [s] that is bridged; in longer ones nothing is seen */

/* What is seen at a time of the grid; NaN: nothing. */
typedef struct sight {
  double load;  /* 0 empty, 1 full */
  double slope; /* of the load [1/s] */
  double swing; /* magnitude, 1: the usual one */
} sight;

/* What the phases look like. */
typedef struct look {
  double level[N], spread[N]; /* of the load in swings; spread 0: digging and dumping have none */
  double steady;              /* standard deviation of the load's rate in swings [1/s] */
  double rest;                /* of the swing rate at rest */
  double stay[N];             /* probability to be in a stage of a phase at the next time, too */
} look;

typedef struct cutting {
  bramah_work_cut result; /* first: the caller's pointer is ours */
  bramah_work_cycle *cycles;

  double start;                /* [s] time 0 of the grid */
  size_t n;                    /* times */
  double *raw, *sigma, *swing; /* [n] of the grid, in the units of the log */
  sight *seen;                 /* [n] */
  double *weight;              /* [n x N] likelihoods, forward sums */
  double *forward, *backward;
  double *certainty;          /* [n] of the path */
  unsigned char *from, *path; /* [n x STATES] of states, [n] of phases */
  look look;
} cutting;

/* ---- the grid ---- */

/* Means of x in cells of the grid; bridges short gaps, returns the longest [s]. */
static double resample(const cutting *c, size_t n, const double *t, const double *x, double *out)
{
  double longest = 0.0;
  size_t i = 0, last = c->n;
  for (size_t g = 0; g < c->n; g++) {
    const double end = c->start + ((double)g + 0.5) * grid;
    double sum = 0.0, samples = 0.0;
    for (; i < n && t[i] < end; i++)
      if (!isnan(x[i])) sum += x[i], samples += 1.0;
    out[g] = samples > 0.0 ? sum / samples : (double)NAN;
    if (!(samples > 0.0)) continue;
    const double wide = (double)(last < c->n ? g - last : g) * grid;
    longest = fmax(longest, wide > grid ? wide : 0.0);
    for (size_t k = last + 1; last < c->n && wide <= gap && k < g; k++)
      out[k] = out[last] + (out[g] - out[last]) * (double)(k - last) / (double)(g - last);
    last = g;
  }
  return fmax(longest, last < c->n ? (double)(c->n - 1 - last) * grid : (double)c->n * grid);
}

/* Of x [n], which are sorted; n 0: 0 */
static double quantile(size_t n, double *x, double share)
{
  gsl_sort(x, 1, n);
  return n ? x[(size_t)(share * (double)(n - 1) + 0.5)] : 0.0;
}

/* Those of x [n] that are there and lie, by magnitude, within limits; into out. */
static size_t pick(size_t n, const double *x, const double *by, double low, double high, double *out)
{
  size_t m = 0;
  for (size_t i = 0; i < n; i++)
    if (!isnan(x[i]) && fabs(by[i]) >= low && fabs(by[i]) < high) out[m++] = x[i];
  return m;
}

/* ---- first guesses: how fast swings are, and the two levels of the load in them ---- */

static const char *guess(cutting *c, double *work)
{
  bramah_work_cut *r = &c->result;
  const double huge = (double)INFINITY;
  size_t m = pick(c->n, c->swing, c->swing, 0.0, huge, work);
  for (size_t i = 0; i < m; i++) work[i] = fabs(work[i]);
  const double fastest = quantile(m, work, 0.995);
  m = pick(c->n, c->swing, c->swing, 0.25 * fastest, huge, work);
  for (size_t i = 0; i < m; i++) work[i] = fabs(work[i]);
  r->usual_rate = quantile(m, work, 0.5);
  if (!(r->usual_rate > 0.0) || m == c->n) return "it never swings, or never rests";
  m = pick(c->n, c->swing, c->swing, 0.0, 0.2 * r->usual_rate, work);
  double squares = 0.0;
  for (size_t i = 0; i < m; i++) squares += work[i] * work[i];
  c->look.rest = fmin(fmax(0.05, m ? 1.5 * sqrt(squares / (double)m) / r->usual_rate : 0.0), 0.12);

  m = pick(c->n, c->raw, c->swing, 0.4 * r->usual_rate, huge, work);
  if (m < 20) return "there is hardly any load known while it swings";
  double low = quantile(m, work, 0.1), high = quantile(m, work, 0.9);
  for (int pass = 0; pass < 20; pass++) { /* two means */
    double sum[2] = {0.0, 0.0}, n[2] = {0.0, 0.0};
    for (size_t i = 0; i < m; i++) {
      const int k = work[i] > 0.5 * (low + high);
      sum[k] += work[i], n[k] += 1.0;
    }
    if (n[0] > 0.0) low = sum[0] / n[0];
    if (n[1] > 0.0) high = sum[1] / n[1];
  }
  r->empty = low;
  r->full = high;
  if (!(high - low > 1e-9 * fmax(fabs(high), fabs(low)))) return "its load is the same in all swings";
  for (int k = BRAMAH_WORK_SWING_LOADED; k < N; k += 2) {
    c->look.level[k] = k == BRAMAH_WORK_SWING_LOADED;
    c->look.spread[k] = 0.12;
  }
  c->look.steady = 0.06;
  for (int k = 0; k < N; k++) c->look.stay[k] = 1.0 - STAGES * grid / 5.0;
  return NULL;
}

static void normalise(cutting *c)
{
  const bramah_work_cut *r = &c->result;
  for (size_t g = 0; g < c->n; g++) {
    c->seen[g].load = (c->raw[g] - r->empty) / (r->full - r->empty);
    c->seen[g].swing = fabs(c->swing[g]) / r->usual_rate;
  }
  for (size_t g = 0; g < c->n; g++) {
    const int inside = g >= HALF_SLOPE && g + HALF_SLOPE < c->n;
    c->seen[g].slope =
        inside ? (c->seen[g + HALF_SLOPE].load - c->seen[g - HALF_SLOPE].load) / (2.0 * HALF_SLOPE * grid)
               : (double)NAN;
  }
}

/* ---- the model ---- */

static double normal(double x, double sigma)
{
  return 0.3989422804014327 / sigma * bramah__exp(-0.5 * (x / sigma) * (x / sigma));
}

static double two_sided(double x, double scale) { return 0.5 / scale * bramah__exp(-fabs(x) / scale); }

/* Likelihood of what is seen in a phase. Digging and dumping have moments in which the load does not change, full or empty,
 * and others in which it may be any: of digging the estimate may be of anything, the ground holds the bucket; of
 * dumping it becomes less. */
static double likelihood(const look *l, int phase, const sight *s)
{
  static const double swings[N] = {0.07, 0.98, 0.2, 0.98},
                      waits[N] = {0.4, 0.97, 0.4, 0.97}; /* of the time */
  const int steady = phase == BRAMAH_WORK_SWING_LOADED || phase == BRAMAH_WORK_SWING_EMPTY;
  double calm = waits[phase], changes = 1.0 - calm, p = 1.0;
  if (!isnan(s->load)) {
    const double far = (s->load - 0.5) / 0.7, full = normal(s->load - l->level[1], l->spread[1]),
                 empty = normal(s->load - l->level[3], l->spread[3]);
    calm *= steady ? (phase == BRAMAH_WORK_SWING_LOADED ? full : empty) : 0.5 * (full + empty);
    changes *= 0.3183098861837907 / 0.7 / (1.0 + far * far);
  }
  if (!isnan(s->slope)) {
    const double one_sided = phase != BRAMAH_WORK_DUMP ? 1.0 : s->slope < 0.0 ? 1.9 : 0.1;
    calm *= normal(s->slope, l->steady);
    changes *= one_sided * two_sided(s->slope, 0.6);
  }
  if (!isnan(s->swing)) {
    const double rests = 2.0 * normal(s->swing, l->rest),
                 moves = s->swing < 1.4 ? 0.65 : 0.65 * bramah__exp(-(s->swing - 1.4) / 0.14);
    p = (1.0 - swings[phase]) * rests + swings[phase] * moves;
  }
  return bramah__exp(counts * bramah__log(fmax(p * (calm + changes), 1e-30)));
}

static void weigh(cutting *c)
{
  for (size_t g = 0; g < c->n; g++)
    for (int k = 0; k < N; k++) c->weight[g * N + (size_t)k] = likelihood(&c->look, k, &c->seen[g]);
}

static int state_after(int state) { return (state + 1) % STATES; }
static int state_before(int state) { return (state + STATES - 1) % STATES; }

/* Forward and backward sums, each scaled to sum 1 at its time. */
static void sum_paths(cutting *c)
{
  const double *stay = c->look.stay;
  for (size_t g = 0; g < c->n; g++) {
    double *now = c->forward + g * STATES, sum = 0.0;
    for (int s = 0; s < STATES; s++) {
      const int before = state_before(s);
      now[s] =
          g ? now[s - STATES] * stay[s / STAGES] + now[before - STATES] * (1.0 - stay[before / STAGES]) : 1.0;
      sum += now[s] *= c->weight[g * N + (size_t)(s / STAGES)];
    }
    for (int s = 0; s < STATES; s++) now[s] /= sum;
  }
  for (size_t g = c->n; g-- > 0;) {
    double *now = c->backward + g * STATES, sum = 0.0;
    const double *w = c->weight + (g + 1) * N;
    for (int s = 0; s < STATES; s++) {
      const int after = state_after(s), k = s / STAGES;
      now[s] = g + 1 < c->n ? now[STATES + s] * stay[k] * w[k] +
                                  now[STATES + after] * (1.0 - stay[k]) * w[after / STAGES]
                            : 1.0;
      sum += now[s];
    }
    for (int s = 0; s < STATES; s++) now[s] /= sum;
  }
}

/* Probabilities of the phases at a time. */
static void posterior(const cutting *c, size_t g, double at[N])
{
  double sum = 0.0;
  for (int k = 0; k < N; k++) at[k] = 0.0;
  for (int s = 0; s < STATES; s++) {
    const double p = c->forward[g * STATES + (size_t)s] * c->backward[g * STATES + (size_t)s];
    at[s / STAGES] += p;
    sum += p;
  }
  for (int k = 0; k < N; k++) at[k] /= sum;
}

/* Probabilities that between a time and the next one a stage of each phase is left, and (last) the phase itself. */
static void moves_of(const cutting *c, size_t g, double stages[N], double last[N])
{
  const double *f = c->forward + g * STATES, *b = c->backward + (g + 1) * STATES,
               *w = c->weight + (g + 1) * N;
  double all = 0.0;
  for (int k = 0; k < N; k++) stages[k] = last[k] = 0.0;
  for (int s = 0; s < STATES; s++) {
    const int after = state_after(s), k = s / STAGES;
    const double move = f[s] * (1.0 - c->look.stay[k]) * w[after / STAGES] * b[after];
    all += f[s] * c->look.stay[k] * w[k] * b[s] + move;
    stages[k] += move;
    if (after / STAGES != k) last[k] = move;
  }
  for (int k = 0; k < N; k++) stages[k] /= all, last[k] /= all;
}

/* One pass of Baum and Welch over levels, spreads and mean durations. */
static void learn(cutting *c)
{
  look *l = &c->look;
  double time[N] = {0.0}, left[N] = {0.0}, sum[N] = {0.0}, squares[N] = {0.0}, weight[N] = {0.0};
  double slopes = 0.0, slope_weight = 0.0;
  for (size_t g = 0; g < c->n; g++) {
    double at[N], move[N] = {0.0}, last[N];
    posterior(c, g, at);
    if (g + 1 < c->n) moves_of(c, g, move, last);
    for (int k = 0; k < N; k++) {
      const sight *s = &c->seen[g];
      time[k] += at[k];
      left[k] += move[k];
      if (k % 2 == 0) continue;
      const double off = s->load - l->level[k];
      if (fabs(off) < 4.0 * l->spread[k])
        weight[k] += at[k], sum[k] += at[k] * off, squares[k] += at[k] * off * off;
      if (fabs(s->slope) < 4.0 * l->steady) slope_weight += at[k], slopes += at[k] * s->slope * s->slope;
    }
  }
  for (int k = 0; k < N; k++) {
    l->stay[k] = 1.0 - fmin(fmax((left[k] + STAGES) / (time[k] + 5.0 / grid), grid / 60.0), 0.5);
    if (k % 2 == 0 || !(weight[k] > 1.0)) continue;
    const double mean = sum[k] / weight[k];
    l->level[k] += mean;
    l->spread[k] = fmin(fmax(sqrt(fmax(squares[k] / weight[k] - mean * mean, 0.0)), 0.02), 0.3);
  }
  if (slope_weight > 1.0) l->steady = fmin(fmax(sqrt(slopes / slope_weight), 0.02), 0.3);
}

/* The most probable path (Viterbi). */
static void find_path(cutting *c)
{
  double best[STATES], next[STATES], on[N], move[N];
  for (int k = 0; k < N; k++)
    on[k] = bramah__log(c->look.stay[k]), move[k] = bramah__log(1.0 - c->look.stay[k]);
  for (int s = 0; s < STATES; s++) best[s] = bramah__log(c->weight[s / STAGES]);
  for (size_t g = 1; g < c->n; g++) {
    for (int s = 0; s < STATES; s++) {
      const int before = state_before(s);
      const double stays = best[s] + on[s / STAGES], comes = best[before] + move[before / STAGES];
      c->from[g * STATES + (size_t)s] = (unsigned char)(comes > stays ? before : s);
      next[s] = fmax(stays, comes) + bramah__log(c->weight[g * N + (size_t)(s / STAGES)]);
    }
    memcpy(best, next, sizeof best);
  }
  int s = 0;
  for (int i = 1; i < STATES; i++)
    if (best[i] > best[s]) s = i;
  for (size_t g = c->n; g-- > 0;) {
    c->path[g] = (unsigned char)(s / STAGES);
    s = c->from[g * STATES + (size_t)s];
  }
}

/* ---- cycles ---- */

/* The border between the phases of [begin, middle) and [middle, end): the posterior of the move from one to the other, from the
 * middle of the first to that of the second. */
static bramah_work_border border_of(const cutting *c, size_t begin, size_t middle, size_t end)
{
  const size_t low = begin + (middle - begin) / 2, high = middle + (end - middle + 1) / 2;
  const int phase = c->path[middle - 1];
  const double place[3] = {0.025, 0.5, 0.975},
               half = 0.5 * grid; /* no border is known better than the grid */
  double stages[N], move[N], total = 0.0, sum = 0.0,
                             found[3] = {(double)low, (double)middle - 0.5, (double)high};
  for (size_t g = low; g < high && g + 1 < c->n; g++) moves_of(c, g, stages, move), total += move[phase];
  size_t g = low;
  for (int k = 0; k < 3 && total > 0.0; k++) {
    for (; g + 1 < high && g + 2 < c->n; g++) {
      moves_of(c, g, stages, move);
      if (sum + move[phase] >= place[k] * total) break;
      sum += move[phase];
    }
    moves_of(c, g, stages, move);
    found[k] = (double)g + fmin((place[k] * total - sum) / move[phase], 1.0);
  }
  return (bramah_work_border){c->start + found[1] * grid, c->start + found[0] * grid - half,
                              c->start + found[2] * grid + half, fmin(total, 1.0)};
}

/* Mean load of a swing and its sigma: errors of an estimate last as long as a swing, so the mean is no better than its
 * samples; what it wavers about comes on top. */
static double load_of(const cutting *c, double begin, double end, double *variance)
{
  double n = 0.0, sum = 0.0, squares = 0.0, sigmas = 0.0;
  for (size_t g = (size_t)ceil(fmax((begin - c->start) / grid - 1.0, 0.0)); g < c->n; g++) {
    const double t = c->start + (double)g * grid;
    if (t > end) break;
    if (t < begin || isnan(c->raw[g])) continue;
    const double off = c->raw[g] - c->result.empty;
    n += 1.0, sum += off, squares += off * off;
    sigmas += c->sigma ? c->sigma[g] * c->sigma[g] : 0.0;
  }
  const double mean = sum / n, seconds = fmax(1.0, n * grid);
  *variance += sigmas / n + fmax(squares / n - mean * mean, 0.0) / seconds;
  return c->result.empty + mean;
}

static void judge_cycle(const cutting *c, bramah_work_cycle *cycle, double usual)
{
  double least = 1.0;
  for (int k = 0; k <= N; k++) least = fmin(least, cycle->begin[k].probability);
  const double time = cycle->begin[N].t - cycle->begin[0].t;
  cycle->doubt = isnan(cycle->load) ? "its load is not known"
                 : least < 0.8      ? "a border of its phases is uncertain"
                 : cycle->load < 0.3 * (c->result.full - c->result.empty) ? "it carries little"
                 : cycle->complete && time > 2.0 * usual
                     ? "it takes twice the usual time: a pause, or two cycles"
                     : NULL;
}

/* Where a phase begins that the log begins with, or ends that it ends with: known. */
static bramah_work_border end_of_log(const cutting *c, size_t g)
{
  const double t = c->start + (double)(g ? g - 1 : 0) * grid;
  return (bramah_work_border){t, t, t, 1.0};
}

static bramah_status collect(cutting *c, double *work, bramah_diag *diag)
{
  size_t n = 0, *begin = malloc((c->n + 2) * sizeof *begin), m = 0;
  if (!begin) return bramah__fail_memory(diag);
  for (size_t g = 0; g < c->n; g++)
    if (g == 0 || c->path[g] != c->path[g - 1]) begin[n++] = g;
  begin[n] = c->n;
  c->cycles = calloc(n / N + 2, sizeof *c->cycles);
  if (!c->cycles) return free(begin), bramah__fail_memory(diag);
  for (size_t i = 0; i + 2 < n; i++) {
    if (c->path[begin[i]] != BRAMAH_WORK_DIG) continue;
    bramah_work_cycle *cycle = &c->cycles[c->result.n_cycles++];
    for (size_t k = 0; k <= N; k++) {
      const size_t at = i + k < n ? i + k : n;
      cycle->begin[k] = at == 0 || at == n ? end_of_log(c, begin[at])
                                           : border_of(c, begin[at - 1], begin[at], begin[at + 1]);
    }
    cycle->complete = i > 0 && i + N < n;
    double variance = 0.0;
    const bramah_work_border *b = cycle->begin;
    cycle->load = load_of(c, b[1].t, b[2].t, &variance);
    cycle->load -= b[4].t > b[3].t ? load_of(c, b[3].t, b[4].t, &variance) : c->result.empty;
    cycle->load_sigma = c->sigma ? sqrt(variance) : (double)NAN;
    if (cycle->complete) work[m++] = b[N].t - b[0].t;
  }
  const double usual = quantile(m, work, 0.5);
  for (size_t i = 0; i < c->result.n_cycles; i++) judge_cycle(c, &c->cycles[i], usual);
  free(begin);
  return BRAMAH_OK;
}

/* ---- does the model fit? ---- */

static void judge(cutting *c)
{
  bramah_work_cut *r = &c->result;
  const look *l = &c->look;
  double certain = 0.0, off = 0.0, doubtful = 0.0;
  for (size_t g = 0; g < c->n; g++) {
    double at[N], most = 0.0;
    const sight *s = &c->seen[g];
    const int k = c->path[g];
    posterior(c, g, at);
    for (int i = 0; i < N; i++) most = fmax(most, at[i]);
    certain += most >= 0.9;
    c->certainty[g] = at[k];
    off += k % 2 == 0 ? s->swing > 0.3
                      : s->swing < 0.1 || fabs(s->load - l->level[k]) > 4.0 * l->spread[k] ||
                            fabs(s->slope) > 4.0 * l->steady;
  }
  const double scale = r->full - r->empty, empty = r->empty;
  r->certain = certain / (double)c->n;
  r->unexplained = off / (double)c->n;
  r->separation =
      (l->level[1] - l->level[3]) / sqrt(l->spread[1] * l->spread[1] + l->spread[3] * l->spread[3]);
  r->empty_spread = scale * l->spread[3];
  r->full_spread = scale * l->spread[1];
  r->empty = empty + scale * l->level[3];
  r->full = empty + scale * l->level[1];
  for (size_t i = 0; i < r->n_cycles; i++) doubtful += c->cycles[i].doubt != NULL;
  r->doubt = !r->n_cycles             ? "no cycle was found"
             : !(r->separation > 4.0) ? "loaded and empty swings are hardly told apart by their load"
             : r->certain < 0.8       ? "for more than a fifth of the time no phase is certain"
             : r->unexplained > 0.1
                 ? "for more than a tenth of the time load and swing rate are not those of work cycles"
             : doubtful > 0.25 * (double)r->n_cycles + 1.0 ? "more than a quarter of the cycles are doubtful"
             : r->longest_gap > 2.0                        ? "samples are missing for more than 2 s"
                                                           : NULL;
}

/* ---- the whole ---- */

static bramah_status make_room(cutting *c, const bramah_work_signals *s, bramah_diag *diag)
{
  double last = -(double)INFINITY;
  if (s->n < 2) return bramah__failf(diag, BRAMAH_E_VALUE, NULL, 0, NULL, "there are fewer than two samples");
  for (size_t i = 0; i < s->n; i++) {
    if (!isfinite(s->t[i]))
      return bramah__failf(diag, BRAMAH_E_NOT_FINITE, NULL, 0, NULL, "time is not finite in row %zu", i + 1);
    if (!(s->t[i] > last))
      return bramah__failf(diag, BRAMAH_E_TIME, NULL, 0, NULL, "time does not go forward in row %zu", i + 1);
    last = s->t[i];
    if (isinf(s->load[i]) || isinf(s->swing[i]) || (s->load_sigma && isinf(s->load_sigma[i])))
      return bramah__failf(diag, BRAMAH_E_NOT_FINITE, NULL, 0, NULL, "a value is infinite in row %zu", i + 1);
  }
  const double duration = last - s->t[0];
  if (!(duration < 1e5))
    return bramah__failf(diag, BRAMAH_E_TIME, NULL, 0, NULL, "a run of more than 1e5 s: divide the log");
  c->start = s->t[0];
  c->n = (size_t)(duration / grid + 0.5) + 1;
  c->raw = calloc(c->n, sizeof *c->raw);
  c->swing = calloc(c->n, sizeof *c->swing);
  if (s->load_sigma) c->sigma = calloc(c->n, sizeof *c->sigma);
  c->seen = calloc(c->n, sizeof *c->seen);
  c->weight = calloc((c->n + 1) * N, sizeof *c->weight);
  c->forward = calloc(c->n * STATES, sizeof *c->forward);
  c->backward = calloc((c->n + 1) * STATES, sizeof *c->backward);
  c->from = calloc(c->n * STATES, 1);
  c->path = calloc(c->n, 1);
  c->certainty = calloc(c->n, sizeof *c->certainty);
  if (!c->raw || !c->swing || (s->load_sigma && !c->sigma) || !c->seen || !c->weight || !c->forward ||
      !c->backward || !c->from || !c->path || !c->certainty)
    return bramah__fail_memory(diag);
  return BRAMAH_OK;
}

/* What the result does not show. */
static void free_work(cutting *c)
{
  void *all[] = {c->seen, c->weight, c->forward, c->backward, c->from};
  for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) free(all[i]);
}

bramah_status bramah_work_cut_new(const bramah_work_signals *signals, bramah_diag *diag,
                                  bramah_work_cut **out)
{
  cutting *c = calloc(1, sizeof *c);
  if (!c) return bramah__fail_memory(diag);
  bramah_work_cut *r = &c->result;
  double *work = NULL;
  bramah_status status = make_room(c, signals, diag);
  if (!status && !(work = malloc(c->n * sizeof *work))) status = bramah__fail_memory(diag);
  if (!status) {
    const size_t n = signals->n;
    if (c->sigma) resample(c, n, signals->t, signals->load_sigma, c->sigma);
    r->longest_gap = fmax(resample(c, n, signals->t, signals->load, c->raw),
                          resample(c, n, signals->t, signals->swing, c->swing));
    r->doubt = guess(c, work);
  }
  if (!status && !r->doubt) {
    normalise(c);
    for (int pass = 0; pass <= PASSES; pass++) {
      weigh(c);
      sum_paths(c);
      if (pass < PASSES) learn(c);
    }
    find_path(c);
    status = collect(c, work, diag);
    if (!status) judge(c);
  }
  free(work);
  free_work(c);
  r->cycles = c->cycles;
  r->n = c->n;
  r->start = c->start;
  r->step = grid;
  r->load = c->raw, r->load_sigma = c->sigma, r->swing = c->swing;
  r->phase = c->path;
  r->probability = c->certainty;
  if (status)
    bramah_work_cut_free(r);
  else
    *out = r;
  return status;
}

void bramah_work_cut_free(bramah_work_cut *cut)
{
  cutting *c = (cutting *)cut;
  if (!c) return;
  void *all[] = {c->cycles, c->raw, c->sigma, c->swing, c->path, c->certainty};
  for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) free(all[i]);
  free(c);
}
