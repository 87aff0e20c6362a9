/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Parts of tuning by hand: penalty, standard errors, what the innovations of a sensor say, and what a replay adds
 * up. */
#include "lib/tune/tune_internal.h"
#include "test/support/run.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { N = 2 };

static bramah_diag diag;

/* ---- a search whose scores are set by hand ---- */

static bramah__tune_parameter values[N] = {
    {.name = "a", .unit = "", .least = 0.01, .most = 100.0},
    {.name = "b", .unit = "", .least = -5.0, .most = 5.0, .linear = 1}};
static bramah__tune_problem problem = {.n = N, .tuned = values, .n_logs = 1};

TEST(penalty_by_hand)
{
  double white[N] = {2.0, 2.0}, samples[N] = {10.0, 20.0}, x[N] = {3.0, 1.9}, g[N] = {0}, I[N * N] = {0};
  const bramah__tune_search s = {.problem = &problem, .white = white, .samples = samples, .penalty = 0.5};

  /* Only what is larger than it was is pulled back. */
  const double over = log(1.5);
  ck_assert_double_eq_tol(bramah__tune_penalty(&s, x, g, I), 5.0 * over * over, 1e-14);
  ck_assert_double_eq_tol(g[0], 10.0 * over, 1e-14);
  ck_assert_double_eq_tol(I[0], 10.0, 1e-14);
  ck_assert_double_eq(fabs(g[1]) + fabs(I[1]) + fabs(I[3]), 0.0);

  /* The slope on each value's scale is that of the penalty itself. */
  x[1] = 4.0;
  memset(g, 0, sizeof g);
  bramah__tune_penalty(&s, x, g, I);
  for (size_t i = 0; i < N; i++) {
    double there[N] = {x[0], x[1]}, cost[2];
    for (int side = 0; side < 2; side++) {
      there[i] =
          bramah__tune_unscaled(&values[i], bramah__tune_scaled(&values[i], x[i]) + (side ? 1e-5 : -1e-5));
      cost[side] = bramah__tune_penalty(&s, there, NULL, NULL);
    }
    ck_assert_double_eq_tol((cost[1] - cost[0]) / 2e-5, g[i], 1e-6 * g[i]);
  }
}

/* Standard errors by the information, with the penalty's; by the slopes of the twentieths where these scatter more,
 * about their mean: a slope that all of them have is none of scatter. */
TEST(standard_errors_by_hand)
{
  double x[N] = {3.0, 1.0}, white[N] = {2.0, 0.0}, samples[N] = {100.0, 0.0}, gradient[N] = {0};
  double information[N * N] = {400.0, 0.0, 0.0, 1e4}, at[BRAMAH__TUNE_CHECKS * N];
  bramah__replay_score score = {.gradient = gradient, .information = information, .gradient_at = at};
  for (int scatters = 0; scatters < 2; scatters++) {
    bramah__tune_search s = {.problem = &problem,
                             .white = white,
                             .samples = samples,
                             .penalty = 1.0,
                             .n_logs = 1,
                             .scores = &score};
    bramah__tune_certainty c;
    double sum = 0.0;
    for (size_t k = 0; k < BRAMAH__TUNE_CHECKS; k++) { /* 30 in each, and twice 10 more or less */
      sum += 30.0 + (scatters ? (k % 2 ? 10.0 : -10.0) : 0.0);
      at[k * N] = sum;
      at[k * N + 1] = 0.0;
    }
    ck_assert_int_eq(bramah__tune_certainty_find(&c, &s, x, &diag), BRAMAH_OK);
    ck_assert_double_eq_tol(c.information[0], 600.0, 1e-9);
    ck_assert_double_eq_tol(c.fisher[0], 1.0 / sqrt(600.0), 1e-12);
    ck_assert_double_eq_tol(c.sigma[0], (scatters ? sqrt(2000.0) / 600.0 : 1.0 / sqrt(600.0)), 1e-9);
    ck_assert_double_eq_tol(c.sigma[1], 0.01, 1e-12);
    ck_assert_double_eq_tol(log(c.high[0] / 3.0), 1.959964 * c.sigma[0], 1e-6);
    ck_assert_double_eq_tol(1.0 - c.low[1], 1.959964 * 0.01 * 10.0, 1e-6); /* a share of the range */
    ck_assert_int_eq(c.cut, 0);
    bramah__tune_certainty_free(&c);
  }
}

/* ---- the four-bar ---- */

static const char *four_bar(const char *file)
{
  static char paths[2][512];
  static int next;
  const char *root = getenv("BRAMAH_SOURCE_ROOT");
  char *path = paths[next++ % 2];
  snprintf(path, sizeof paths[0], "%s/datasets/four-bar/%s", root ? root : ".", file);
  return path;
}

/* Correlations count by how many tests there are, and the part without memory is what a parabola through the lags
 * leaves. */
TEST(innovations_by_hand)
{
  bramah__tune_problem p = {0};
  ck_assert_int_eq(bramah__tune_problem_open(&p, four_bar("tuning.yaml"), NULL, &diag), BRAMAH_OK);
  bramah__sensor_score sensors[8] = {{.n = 400.0, .nis = 400.0, .squares = 1600.0}};
  const bramah__replay_score score = {.sensor = sensors};
  sensors[0].lag[0] = 0.225 * 400.0; /* 4.5 of its standard deviations: by chance in 7 of a million */
  bramah_tune_colour c = bramah__tune_colour_of(&p, 1, &score, 0, 1);
  ck_assert_int_eq(c.coloured, 1);
  ck_assert_double_eq_tol(c.lag[0], 0.225, 1e-12);
  c = bramah__tune_colour_of(&p, 1, &score, 0, 100);
  ck_assert_int_eq(c.coloured, 0);
  const double narrow = bramah__tune_colour_of(&p, 1, &score, 0, 1).high;
  ck_assert_double_gt(c.high, narrow);
  ck_assert_double_gt(narrow, 1.0 + 1.96 * sqrt(2.0 / 400.0));
  sensors[0].lag[0] = -0.225 * 400.0;
  ck_assert_int_eq(bramah__tune_colour_of(&p, 1, &score, 0, 1).coloured, 1);

  sensors[0].lag[0] = 0.3 * 400.0;
  sensors[0].lag[1] = 0.2 * 400.0;
  sensors[0].lag[2] = 0.15 * 400.0;
  c = bramah__tune_colour_of(&p, 1, &score, 0, 1);
  ck_assert_double_eq_tol(c.white_sigma, 2.0 * sqrt(1.0 - (0.9 - 0.6 + 0.15)), 1e-12);
  bramah__tune_problem_close(&p);
}

/* Sums of a replay: those at its half are the sums of its first half; what lies before `settle` is not judged. */
TEST(sums_of_a_replay)
{
  const char *log = four_bar("log.csv");
  bramah__tune_problem p = {0};
  ck_assert_int_eq(bramah__tune_problem_open(&p, four_bar("tuning.yaml"), NULL, &diag), BRAMAH_OK);
  ck_assert_int_eq(bramah__tune_problem_add_parameters(&p, &diag), BRAMAH_OK);
  ck_assert_int_eq(bramah__tune_problem_read(&p, 1, &log, 0, &diag), BRAMAH_OK);
  bramah__replay_score *half = bramah__replay_scores_new(&p, 2, 1), *quarter = half + 1;
  bramah__tune_job job = {.slope = 1, .thousandths = 200};
  const bramah__tune_job *one = &job;
  p.ahead = 100;
  for (size_t i = 0; i < p.n; i++) job.x[i] = p.tuned[i].start;
  ck_assert_int_eq(bramah__tune_replay(&p, 1, &one, NULL, &half, &diag), BRAMAH_OK);
  job.thousandths = 100;
  ck_assert_int_eq(bramah__tune_replay(&p, 1, &one, NULL, &quarter, &diag), BRAMAH_OK);
  ck_assert_int_eq(half->status + quarter->status, 0);

  /* 2 s at 1 kHz from 0 on, the first 0.5 s of them settle. */
  ck_assert_double_eq(half->sensor[0].n + half->sensor[0].gated, 1501.0);
  ck_assert_double_eq(half->sensor[0].ahead_n, 16.0); /* every 0.1 s from 0.5 to 2 s */
  ck_assert_double_eq(half->cost[9], quarter->cost[BRAMAH__TUNE_CHECKS - 1]);
  for (size_t i = 0; i < p.n; i++) {
    ck_assert_double_ne(quarter->gradient[i], 0.0);
    ck_assert_double_eq(half->gradient_at[9 * p.n + i], quarter->gradient[i]);
    ck_assert_double_eq(half->gradient_at[(BRAMAH__TUNE_CHECKS - 1) * p.n + i], half->gradient[i]);
  }
  free(half);
  bramah__tune_problem_close(&p);
}

/* Errors as a share of the largest truth of all logs, whichever has it. */
TEST(errors_by_hand)
{
  static const size_t which[2] = {0, 1};
  double largest[2] = {4.0, 1.0};
  bramah__tune_log logs[2] = {{.largest = &largest[0]}, {.largest = &largest[1]}};
  const bramah__tune_problem p = {.n_logs = 2, .logs = logs, .n_outputs = 1};
  bramah__output_score output[2] = {{.squares = 6.0, .n = 10.0}, {.squares = 34.0, .n = 30.0}};
  const bramah__replay_score scores[2] = {{.output = &output[0]}, {.output = &output[1]}};
  ck_assert_double_eq_tol(bramah__tune_judge(&p, 2, which, scores).rmse, 0.25, 1e-12);
  ck_assert_double_eq_tol(bramah__tune_judge(&p, 1, which + 1, scores + 1).rmse, sqrt(34.0 / 30.0), 1e-12);
}

/* Of three candidates each of two is best by one criterion, the third beaten by both; a fold's does not count. */
TEST(criteria_by_hand)
{
  bramah_tune_tried tried[4] = {{.phase = "search", .verdict = {.cost = 1.0, .distance = 2.0, .used = 9.0}},
                                {.phase = "search", .verdict = {.cost = 2.0, .distance = 1.0, .used = 9.0}},
                                {.phase = "search", .verdict = {.cost = 3.0, .distance = 2.5, .used = 9.0}},
                                {.phase = "fold", .verdict = {.cost = 0.5, .distance = 0.5, .used = 9.0}}};
  bramah__tune_search s = {.problem = &problem, .n_tried = 4, .tried = tried, .most_used = 9.0};
  size_t best[BRAMAH_TUNE_CRITERIA];
  for (size_t i = 0; i < 4; i++) tried[i].verdict.rmse = tried[i].verdict.prediction = (double)NAN;
  bramah__tune_compare_criteria(&s, best);
  const int front[4] = {1, 1, 0, 0};
  for (size_t i = 0; i < 4; i++) ck_assert_int_eq(tried[i].front, front[i]);
  ck_assert_uint_eq(best[BRAMAH_TUNE_LIKELIHOOD], 0);
  ck_assert_uint_eq(best[BRAMAH_TUNE_NIS], 1);
  ck_assert_uint_eq(best[BRAMAH_TUNE_RMSE], 4);
}

/* A value of the machine, in the unit of its file. */
static bramah__tune_parameter *add_machine_value(bramah__tune_problem *p, const char *name, double least,
                                                 double most)
{
  bramah__tune_parameter *t;
  ck_assert_int_eq(bramah__tune_problem_add(p, name, 0, 0, NULL, &t, &diag), BRAMAH_OK);
  t->least = least;
  t->most = most;
  return t;
}

/* Replays that go in lockstep give the numbers of each alone, to the bit: candidates and neighbours that differ by noise and
 * by a parameter of the plant, more of them than go together; one fails on the way. */
TEST(replays_together_as_alone)
{
  enum { JOBS = 5, FAILS = 3 };
  const char *log = four_bar("log.csv");
  bramah__tune_problem p = {0};
  ck_assert_int_eq(bramah__tune_problem_open(&p, four_bar("tuning.yaml"), NULL, &diag), BRAMAH_OK);
  ck_assert_int_eq(bramah__tune_problem_add_parameters(&p, &diag), BRAMAH_OK);
  const bramah__tune_parameter *bulk =
      add_machine_value(&p, "machine.hydraulics.oil.bulk_modulus", 1e-9, 2000.0);
  ck_assert_int_eq(bramah__tune_problem_read(&p, 1, &log, 0, &diag), BRAMAH_OK);
  ck_assert(bulk->is_parameter && p.shared_model);
  for (int slope = 0; slope < 2; slope++) {
    const size_t length = bramah__replay_score_length(&p, slope);
    double *one = calloc(2 * length, sizeof *one), *other = one + length;
    bramah__replay_score *block = bramah__replay_scores_new(&p, JOBS + 1, slope), *scores[JOBS],
                         *alone = block + JOBS;
    bramah__tune_job job[JOBS];
    const bramah__tune_job *jobs[JOBS];
    for (size_t k = 0; k < JOBS; k++) {
      job[k] = (bramah__tune_job){.slope = slope, .thousandths = 20 + 5 * (int)k};
      for (size_t i = 0; i < p.n; i++) job[k].x[i] = p.tuned[i].start * (1.0 + 0.05 * (double)k);
      jobs[k] = &job[k];
      scores[k] = &block[k];
    }
    job[FAILS].x[p.n - 1] = 1e-9; /* oil as soft as that is no machine any more */
    ck_assert_int_eq(bramah__tune_replay(&p, JOBS, jobs, NULL, scores, &diag), BRAMAH_OK);
    for (size_t k = 0; k < JOBS; k++) {
      ck_assert_int_eq(bramah__tune_replay(&p, 1, &jobs[k], NULL, &alone, &diag), BRAMAH_OK);
      bramah__replay_score_transfer(&p, slope, BRAMAH__SCORE_PACK, scores[k], one);
      bramah__replay_score_transfer(&p, slope, BRAMAH__SCORE_PACK, alone, other);
      ck_assert_int_eq(memcmp(one, other, length * sizeof *one), 0);
      ck_assert_int_eq(scores[k]->status != BRAMAH_OK, k == FAILS);
      ck_assert(k == FAILS || scores[k]->steps > 100.0);
    }
    free(block);
    free(one);
  }
  bramah__tune_problem_close(&p);

  /* What is no parameter of a plant makes a machine of its own. */
  p = (bramah__tune_problem){0};
  ck_assert_int_eq(bramah__tune_problem_open(&p, four_bar("tuning.yaml"), NULL, &diag), BRAMAH_OK);
  const bramah__tune_parameter *coulomb =
      add_machine_value(&p, "machine.hydraulics.cylinders.lift.friction.coulomb", 200.0, 250.0);
  log = four_bar("log.csv");
  ck_assert_int_eq(bramah__tune_problem_read(&p, 1, &log, 0, &diag), BRAMAH_OK);
  ck_assert(!coulomb->is_parameter && !p.shared_model);
  bramah__tune_problem_close(&p);
}

int main(void) { return run_tests("tune_parts"); }
