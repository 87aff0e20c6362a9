/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Models over one log: Bayes' rule and moments of the mixture, against the members run alone. */
#include "bramah/hypotheses.h"
#include "test/support/four_bar.h"
#include "test/support/run.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { N = 3, ROWS = 600, SENSORS = 5, RIGHT = 1 };

static bramah_diag diag;

/* What a machine of hypothesis RIGHT shows while its valve opens. */
static double shown[ROWS][SENSORS], command[ROWS];

/* Rows of a member, up to one that fails. */
typedef struct rows {
  int next, fails;
} rows;

static bramah_status next_row(void *user, bramah_sample *sample, int *end, bramah_diag *d)
{
  rows *r = user;
  *end = r->next == ROWS;
  if (*end) return BRAMAH_OK;
  if (r->next == r->fails) {
    *d = (bramah_diag){.status = BRAMAH_E_VALUE, .message = "broken"};
    return BRAMAH_E_VALUE;
  }
  sample->time_ns = (int64_t)r->next * 1000000;
  sample->inputs[0] = command[r->next];
  sample->has_input[0] = 1;
  memcpy(sample->y, shown[r->next++], sizeof shown[0]);
  memset(sample->present, 1, SENSORS);
  return BRAMAH_OK;
}

typedef struct members {
  bramah_session *base, *session[N];
  bramah_assess *assess[N];
  rows rows[N];
} members;

static void open_members(members *m)
{
  char path[1024];
  snprintf(path, sizeof path, "%s/datasets/four-bar/hypotheses.yaml", getenv("BRAMAH_SOURCE_ROOT"));
  must(bramah_session_open(path, &diag, &m->base), &diag);
  for (size_t k = 0; k < N; k++) {
    m->rows[k] = (rows){.fails = -1};
    must(bramah_session_of_hypothesis(m->base, k, &diag, &m->session[k]), &diag);
    must(bramah_assess_new(m->session[k], next_row, &m->rows[k], NULL, &diag, &m->assess[k]), &diag);
  }
}

static void close_members(members *m)
{
  for (size_t k = 0; k < N; k++) {
    bramah_assess_free(m->assess[k]);
    bramah_session_close(m->session[k]);
  }
  bramah_session_close(m->base);
}

static void make_rows(void)
{
  members m;
  unsigned seed = 3;
  open_members(&m);
  const bramah_plant *plant = bramah_session_plant(m.session[RIGHT]);
  const bramah_sensor *sensor = bramah_session_about(m.base)->sensors;
  for (int k = 0; k < ROWS; k++) {
    command[k] = k < 300 ? 0.0 : 5.0;
    for (size_t s = 0; s < SENSORS; s++)
      shown[k][s] = bramah_sensor_predict(&sensor[s], plant) + sensor[s].sigma * test_normal(&seed);
    must(plant->set_inputs(plant->self, &command[k], &diag), &diag);
    must(plant->step(plant->self, &diag), &diag);
  }
  close_members(&m);
}

static double relative(double a, double b) { return fabs(a - b) / fmax(fabs(b), 1e-12); }

/* Probabilities and the mixture are what their formulas make of the members alone. */
TEST(test_against_members)
{
  static members alone, together;
  bramah_hypotheses *h;
  make_rows();
  open_members(&alone);
  open_members(&together);
  must(bramah_hypotheses_new(N, together.assess, NULL, &diag, &h), &diag);
  const bramah_assess_results *results = bramah_assess_get_results(alone.assess[0]);
  double least = 1.0;
  int end = 0;
  for (int row = 0; row < ROWS; row++) {
    double weight[N], sum = 0.0, largest = -INFINITY;
    const bramah_estimate *e[N], *mixed = bramah_hypotheses_estimate(h);
    must(bramah_hypotheses_next(h, &end, &diag), &diag);
    for (size_t k = 0; k < N; k++) {
      must(bramah_assess_next(alone.assess[k], &end, &diag), &diag);
      e[k] = bramah_assess_estimate(alone.assess[k]);
      weight[k] = log(k ? 0.25 : 0.5) + bramah_filter_log_likelihood(bramah_session_filter(alone.session[k]));
      largest = fmax(largest, weight[k]);
    }
    for (size_t k = 0; k < N; k++) sum += weight[k] = exp(weight[k] - largest);
    for (size_t k = 0; k < N; k++) {
      weight[k] /= sum;
      ck_assert_double_le(fabs(bramah_hypotheses_probability(h)[k] - weight[k]), 1e-9);
      least = fmin(least, fabs(weight[k] - 0.5));
    }
    ck_assert_int_eq(mixed->time_ns, e[0]->time_ns);
    for (size_t c = 0; c < results->n_outputs; c++) {
      const size_t i = results->output[c].output;
      double mean = 0.0, variance = 0.0;
      for (size_t k = 0; k < N; k++) mean += weight[k] * e[k]->value[i];
      for (size_t k = 0; k < N; k++)
        variance += weight[k] * (pow(e[k]->sigma[i], 2.0) + pow(e[k]->value[i] - mean, 2.0));
      ck_assert_double_le(relative(mixed->value[i], mean), 1e-7);
      if (results->output[c].has_sigma) ck_assert_double_le(relative(mixed->sigma[i], sqrt(variance)), 1e-5);
    }
  }
  ck_assert_double_lt(least, 0.3); /* there was something to mix */
  ck_assert_uint_eq(bramah_hypotheses_leading(h), RIGHT);
  const bramah_hypothesis_result right = bramah_hypotheses_get_result(h, RIGHT),
                                 wrong = bramah_hypotheses_get_result(h, 0);
  ck_assert_double_gt(right.probability, 0.999);
  ck_assert_int_lt(right.leads_from_ns, (int64_t)ROWS * 1000000);
  ck_assert_double_lt(wrong.log_likelihood, right.log_likelihood);
  ck_assert_int_eq(wrong.leads_from_ns, INT64_MAX);
  ck_assert_str_eq(right.name, "loaded");
  must(bramah_hypotheses_next(h, &end, &diag), &diag);
  ck_assert_int_eq(end, 1);
  bramah_hypotheses_free(h);
  close_members(&alone);
  close_members(&together);
}

/* With any number of threads the same bits; one that fails drops out and leaves the others as they would be. */
TEST(test_threads_and_failure)
{
  enum { FAILS = 350 };
  static members one, several;
  bramah_hypotheses *a, *b;
  int end = 0;
  make_rows();
  open_members(&one);
  open_members(&several);
  several.rows[2].fails = FAILS;
  must(bramah_hypotheses_new(N, one.assess, NULL, &diag, &a), &diag);
  must(bramah_hypotheses_new(N, several.assess, &(bramah_hypotheses_options){.n_threads = 3}, &diag, &b),
       &diag);
  const size_t angle = must_find(bramah_session_plant(one.base), "crank.angle");
  int rows_before = 0;
  for (int row = 0; row < ROWS; row++) {
    must(bramah_hypotheses_next(a, &end, &diag), &diag);
    must(bramah_hypotheses_next(b, &end, &diag), &diag);
    const double *p = bramah_hypotheses_probability(a), *q = bramah_hypotheses_probability(b);
    ck_assert_int_eq(bramah_hypotheses_estimate(a)->time_ns, bramah_hypotheses_estimate(b)->time_ns);
    if (q[2] > 0.0) { /* rows are read ahead of the estimates */
      rows_before++;
      ck_assert_int_eq(memcmp(p, q, N * sizeof *p), 0);
      ck_assert_double_eq(bramah_hypotheses_estimate(a)->value[angle],
                          bramah_hypotheses_estimate(b)->value[angle]);
      ck_assert_double_eq(bramah_hypotheses_estimate(a)->sigma[angle],
                          bramah_hypotheses_estimate(b)->sigma[angle]);
      continue;
    }
    ck_assert_double_eq_tol(q[0], p[0] / (p[0] + p[1]), 1e-9);
    ck_assert_int_eq(bramah_hypotheses_get_result(b, 2).status, BRAMAH_E_VALUE);
  }
  ck_assert_int_gt(rows_before, FAILS - 5);
  ck_assert_int_lt(rows_before, FAILS + 5);
  ck_assert_int_eq(bramah_hypotheses_get_result(a, 2).status, BRAMAH_OK);
  bramah_hypotheses_free(a);
  bramah_hypotheses_free(b);
  close_members(&one);
  close_members(&several);
}

/* Where all fail the mistake is told; what is asked for must fit the study. */
TEST(test_mistakes)
{
  static members m;
  bramah_hypotheses *h;
  bramah_session *none;
  int end = 0;
  bramah_status status = BRAMAH_OK;
  make_rows();
  open_members(&m);
  ck_assert_int_eq(bramah_hypotheses_new(2, m.assess, NULL, &diag, &h), BRAMAH_E_ARGUMENT);
  ck_assert_int_eq(bramah_session_of_hypothesis(m.base, N, &diag, &none), BRAMAH_E_ARGUMENT);
  for (size_t k = 0; k < N; k++) m.rows[k].fails = 20;
  must(bramah_hypotheses_new(N, m.assess, NULL, &diag, &h), &diag);
  while (!status && !end) status = bramah_hypotheses_next(h, &end, &diag);
  ck_assert_int_eq(status, BRAMAH_E_VALUE);
  ck_assert_ptr_nonnull(strstr(diag.message, "broken"));
  ck_assert_int_gt(bramah_hypotheses_estimate(h)->time_ns, 15000000);
  bramah_hypotheses_free(h);
  close_members(&m);
}

int main(void) { return run_tests("hypotheses"); }
