/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Several models over one log: their probabilities, and what they estimate together. Each runs some steps ahead by itself,
 * on a thread of its own where there is one; what it estimated waits in its slots until the others are there too. */
#include "bramah/hypotheses.h"
#include "lib/assess/assess_internal.h"
#include "lib/base/diag.h"
#include "lib/io/worker_pool.h"
#include "lib/math/elementary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Estimates that a model is ahead, at most; and from what probability on one of them leads. */
enum { AHEAD = 256 };
static const double leading_from = 0.95;

/* From where two are told apart: standard deviations of their difference, or this difference whatever its deviation. */
static const double told_apart = 3.0, beyond_doubt = 100.0;

/* An estimate that waits. */
typedef struct slot {
  int64_t time_ns;
  int corrected;
  size_t dof;
  double nis, nis_low, nis_high, log_likelihood;
} slot;

typedef struct member {
  bramah_assess *assess;
  slot *slots;     /* [AHEAD] */
  double *numbers; /* [AHEAD x n_numbers] value and sigma of outputs, then of augmented states; measured */
  bramah_innovation *innovation; /* [AHEAD x n_sensors] */
  double second;                 /* its log-likelihood when the present second began */
  size_t n;                      /* slots in use */
  int is_over;
  bramah_hypothesis_result result;
} member;

struct bramah_hypotheses {
  bramah_hypotheses_options options;
  size_t n, n_output, n_augmented, n_sensors, n_numbers;
  size_t next; /* slot */
  size_t leading;
  member *member;               /* [n] */
  double *probability;          /* [n] */
  int64_t second_ns;            /* when the present second began */
  uint64_t seconds;             /* that are over, and of differences of their log-likelihoods: */
  double *sum, *sum_of_squares; /* [n x n] */
  double *value, *sigma, *none, *measured;
  bramah_innovation *innovation;
  bramah_augmented_estimate *augmented;
  bramah_estimate estimate;
};

void bramah_hypotheses_options_default(bramah_hypotheses_options *options)
{
  *options = (bramah_hypotheses_options){.n_threads = 1};
}

/* ---- making and releasing ---- */

static void cut(bramah_hypotheses *h, bramah__arena *arena)
{
  h->member = BRAMAH__TAKE(arena, member, h->n);
  h->probability = BRAMAH__TAKE(arena, double, h->n);
  h->sum = BRAMAH__TAKE(arena, double, h->n * h->n);
  h->sum_of_squares = BRAMAH__TAKE(arena, double, h->n * h->n);
  h->value = BRAMAH__TAKE(arena, double, h->n_output);
  h->sigma = BRAMAH__TAKE(arena, double, h->n_output);
  h->none = BRAMAH__TAKE(arena, double, h->n_output);
  h->measured = BRAMAH__TAKE(arena, double, h->n_sensors);
  h->innovation = BRAMAH__TAKE(arena, bramah_innovation, h->n_sensors);
  h->augmented = BRAMAH__TAKE(arena, bramah_augmented_estimate, h->n_augmented);
  for (size_t k = 0; k < h->n; k++) {
    member counted, *m = h->member ? &h->member[k] : &counted;
    m->slots = BRAMAH__TAKE(arena, slot, AHEAD);
    m->numbers = BRAMAH__TAKE(arena, double, AHEAD * h->n_numbers);
    m->innovation = BRAMAH__TAKE(arena, bramah_innovation, AHEAD * h->n_sensors);
  }
}

bramah_status bramah_hypotheses_new(size_t n, bramah_assess *const *assess,
                                    const bramah_hypotheses_options *options, bramah_diag *diag,
                                    bramah_hypotheses **out)
{
  bramah_diag_clear(diag);
  const bramah_study_hypotheses *of = n ? &assess[0]->study->hypotheses : NULL;
  if (!of || of->n != n)
    return bramah__fail(diag, BRAMAH_E_ARGUMENT, "hypotheses",
                        "the study has not as many hypotheses as there are assessments");
  bramah_hypotheses counted = {.n = n,
                               .n_output = assess[0]->plant->n_output,
                               .n_augmented = assess[0]->n_augmented,
                               .n_sensors = assess[0]->n_sensors};
  counted.n_numbers = 2 * (counted.n_output + counted.n_augmented) + counted.n_sensors;
  bramah__arena arena = bramah__arena_make(NULL, 0);
  BRAMAH__TAKE(&arena, bramah_hypotheses, 1);
  cut(&counted, &arena);
  const bramah_status status = bramah__arena_new("hypotheses", arena.used, &arena, diag);
  if (status) return status;
  bramah_hypotheses *h = BRAMAH__TAKE(&arena, bramah_hypotheses, 1);
  *h = counted;
  cut(h, &arena);
  h->next = AHEAD; /* all slots are used up */
  h->second_ns = INT64_MIN;

  if (options)
    h->options = *options;
  else
    bramah_hypotheses_options_default(&h->options);
  for (size_t k = 0; k < n; k++) {
    h->member[k].assess = assess[k];
    h->member[k].result = (bramah_hypothesis_result){.name = of->list[k].name,
                                                     .prior = of->list[k].prior,
                                                     .probability = of->list[k].prior,
                                                     .leads_from_ns = INT64_MAX,
                                                     .first_led_ns = INT64_MAX};
    h->probability[k] = of->list[k].prior;
    if (h->probability[k] > h->probability[h->leading]) h->leading = k;
  }
  memcpy(h->augmented, bramah_assess_estimate(assess[0])->augmented, h->n_augmented * sizeof *h->augmented);
  for (size_t i = 0; i < h->n_output; i++) h->value[i] = h->sigma[i] = h->none[i] = NAN;
  h->estimate = (bramah_estimate){.value = h->value,
                                  .sigma = h->sigma,
                                  .truth = h->none,
                                  .model = h->none,
                                  .measured = h->measured,
                                  .innovation = h->innovation,
                                  .augmented = h->augmented};
  *out = h;
  return BRAMAH_OK;
}

void bramah_hypotheses_free(bramah_hypotheses *hypotheses) { bramah__aligned_free(hypotheses); }

/* ---- each by itself ---- */

static void keep(const bramah_hypotheses *h, member *m)
{
  const bramah_estimate *e = bramah_assess_estimate(m->assess);
  double *to = m->numbers + m->n * h->n_numbers;
  m->slots[m->n] = (slot){.time_ns = e->time_ns,
                          .corrected = e->corrected,
                          .dof = e->dof,
                          .nis = e->nis,
                          .nis_low = e->nis_low,
                          .nis_high = e->nis_high,
                          .log_likelihood = bramah_filter_log_likelihood(m->assess->filter)};
  for (size_t i = 0; i < h->n_output; i++) *to++ = e->value[i], *to++ = e->sigma[i];
  for (size_t i = 0; i < h->n_augmented; i++) *to++ = e->augmented[i].value, *to++ = e->augmented[i].sigma;
  memcpy(to, e->measured, h->n_sensors * sizeof *to);
  memcpy(m->innovation + m->n * h->n_sensors, e->innovation, h->n_sensors * sizeof *e->innovation);
  m->n++;
}

/* Fill the slots of member k; its mistakes are its own. */
static bramah_status run_ahead(void *user, size_t k, bramah__worker_pool *pool, bramah_diag *diag)
{
  bramah_hypotheses *h = user;
  member *m = &h->member[k];
  (void)pool;
  (void)diag;
  m->n = 0;
  while (!m->is_over && m->n < AHEAD) {
    bramah_hypothesis_result *r = &m->result;
    r->status = bramah_assess_next(m->assess, &m->is_over, &r->diag);
    if (!r->status && !m->is_over && h->options.each)
      r->status = h->options.each(h->options.user, k, &r->diag);
    m->is_over |= r->status != BRAMAH_OK;
    if (!m->is_over) keep(h, m);
  }
  return BRAMAH_OK;
}

/* ---- together ---- */

/* Bayes' rule on the members that have the slot. */
static void weigh(bramah_hypotheses *h, size_t at)
{
  double largest = -HUGE_VAL, sum = 0.0;
  for (size_t k = 0; k < h->n; k++) {
    member *m = &h->member[k];
    if (m->n <= at) continue;
    m->result.log_likelihood = m->slots[at].log_likelihood;
    h->probability[k] = bramah__log(m->result.prior) + m->result.log_likelihood;
    largest = fmax(largest, h->probability[k]);
  }
  for (size_t k = 0; k < h->n; k++) {
    h->probability[k] = h->member[k].n > at ? bramah__exp(fmax(h->probability[k] - largest, -700.0)) : 0.0;
    sum += h->probability[k];
  }
  h->leading = 0;
  for (size_t k = 0; k < h->n; k++) {
    bramah_hypothesis_result *r = &h->member[k].result;
    r->probability = h->probability[k] /= sum;
    if (h->probability[k] > h->probability[h->leading]) h->leading = k;
    if (!(r->probability > leading_from))
      r->leads_from_ns = INT64_MAX;
    else if (r->leads_from_ns == INT64_MAX)
      r->leads_from_ns = h->estimate.time_ns;
    if (r->leads_from_ns < r->first_led_ns) r->first_led_ns = r->leads_from_ns;
  }
}

/* At the end of each second, those that have dropped out left as they were. */
static void count_second(bramah_hypotheses *h)
{
  if (h->second_ns == INT64_MIN) h->second_ns = h->estimate.time_ns;
  if (h->estimate.time_ns - h->second_ns < 1000000000) return;
  for (size_t i = 0; i < h->n; i++)
    for (size_t k = 0; k < h->n; k++) {
      const member *a = &h->member[i], *b = &h->member[k];
      const double d = (a->result.log_likelihood - a->second) - (b->result.log_likelihood - b->second);
      h->sum[i * h->n + k] += d;
      h->sum_of_squares[i * h->n + k] += d * d;
    }
  for (size_t k = 0; k < h->n; k++) h->member[k].second = h->member[k].result.log_likelihood;
  h->second_ns = h->estimate.time_ns;
  h->seconds++;
}

/* Mean and standard deviation of number i and the one behind it, by the members that have the slot. */
static void mix(const bramah_hypotheses *h, size_t at, size_t i, double *mean, double *sigma)
{
  double variance = 0.0;
  *mean = 0.0;
  for (size_t k = 0; k < h->n; k++)
    if (h->member[k].n > at) *mean += h->probability[k] * h->member[k].numbers[at * h->n_numbers + i];
  for (size_t k = 0; k < h->n; k++) {
    if (h->member[k].n <= at) continue;
    const double *of = &h->member[k].numbers[at * h->n_numbers + i], apart = of[0] - *mean;
    variance += h->probability[k] * (of[1] * of[1] + apart * apart);
  }
  *sigma = sqrt(variance);
}

static void combine(bramah_hypotheses *h, size_t at)
{
  const member *m = &h->member[h->leading];
  const slot *of = &m->slots[at];
  for (size_t i = 0; i < h->n_output; i++) mix(h, at, 2 * i, &h->value[i], &h->sigma[i]);
  for (size_t i = 0; i < h->n_augmented; i++)
    mix(h, at, 2 * (h->n_output + i), &h->augmented[i].value, &h->augmented[i].sigma);
  memcpy(h->measured, m->numbers + (at + 1) * h->n_numbers - h->n_sensors,
         h->n_sensors * sizeof *h->measured);
  memcpy(h->innovation, m->innovation + at * h->n_sensors, h->n_sensors * sizeof *h->innovation);
  h->estimate.corrected = of->corrected;
  h->estimate.dof = of->dof;
  h->estimate.nis = of->nis;
  h->estimate.nis_low = of->nis_low;
  h->estimate.nis_high = of->nis_high;
}

bramah_status bramah_hypotheses_next(bramah_hypotheses *h, int *end, bramah_diag *diag)
{
  bramah_diag_clear(diag);
  if (h->next == AHEAD) {
    const bramah__worker_jobs work = {.n = h->n, .user = h, .job = run_ahead};
    const bramah_status status = bramah__worker_pool_run(&work, h->options.n_threads, diag);
    if (status) return status;
    h->next = 0;
  }

  /* All at one time but those that are over. */
  const member *first = NULL;
  for (size_t k = 0; k < h->n && !first; k++)
    if (h->member[k].n > h->next) first = &h->member[k];
  *end = !first;
  if (first) {
    h->estimate.time_ns = first->slots[h->next].time_ns;
    weigh(h, h->next);
    count_second(h);
    combine(h, h->next++);
    return BRAMAH_OK;
  }
  const bramah_hypothesis_result *leader = &h->member[h->leading].result;
  if (leader->status && diag) *diag = leader->diag;
  return leader->status;
}

/* ---- results ---- */

const bramah_estimate *bramah_hypotheses_estimate(const bramah_hypotheses *h) { return &h->estimate; }
const double *bramah_hypotheses_probability(const bramah_hypotheses *h) { return h->probability; }
size_t bramah_hypotheses_leading(const bramah_hypotheses *h) { return h->leading; }

bramah_hypothesis_result bramah_hypotheses_get_result(const bramah_hypotheses *h, size_t k)
{
  bramah_hypothesis_result result = h->member[k].result;
  const double n = (double)h->seconds, sum = h->sum[h->leading * h->n + k];
  const double squares = h->sum_of_squares[h->leading * h->n + k] - sum * sum / fmax(n, 1.0);
  result.apart = n < 2.0 ? (double)NAN : k == h->leading ? 0.0 : sum / sqrt(n / (n - 1.0) * squares);
  result.is_told_apart = k == h->leading || result.apart >= told_apart ||
                         h->member[h->leading].result.log_likelihood - result.log_likelihood >= beyond_doubt;
  if (result.probability > 0.0) result.status = BRAMAH_OK; /* if there is a mistake, then later than now */
  return result;
}
