/* SPDX-License-Identifier: MIT */
/* Is the filter as good as it says? The truth is simulated with exactly the plant noise and the measurement
 * noise that the filter assumes; then the normalised estimation error squared (NEES) must be chi-square and
 * the errors as large as the posterior Cramer-Rao bound, the covariance of a filter linearised about the
 * truth. BRAMAH_RUNS sets the number of runs. The valve is opened to 7 V: at 10 V the orifice works so near
 * the kink of its characteristic at 2 bar that the noise crosses it, and no linearisation is right. */
#include "estimators/filter_internal.h"
#include "estimators/update.h"
#include "lib/math/dense.h"
#include "test/support/four_bar.h"
#include "test/support/run.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { N = 5, SENSORS = 5, STEPS = 1000, FIRST = 300 };

static bramah_diag diag;
static four_bar fb;

static const double position_sigma = 0.01, rate_sigma = 0.02, pressure_sigma[3] = {1e5, 1e5, 1e5},
                    acceleration_noise = 0.3, pressure_noise[3] = {1e6, 1e6, 1e6};

/* A plant and a filter on it. Of the truth, the filter is the one that gives the bound. */
typedef struct side {
  bramah_coupled *coupled;
  bramah_plant plant;
  bramah_sensor sensor[SENSORS];
  bramah_filter *filter;
  size_t output[N];
} side;

static void make(side *s, const bramah_model *model, bramah_transition transition)
{
  static const char *const name[N] = {"crank.angle", "crank.rate", "v1.pressure", "v2.pressure",
                                      "v3.pressure"};
  must(bramah_coupled_new(model, &diag, &s->coupled), &diag);
  s->plant = bramah_coupled_plant(s->coupled);
  for (int i = 0; i < SENSORS; i++)
    must(bramah_sensor_init(&four_bar_sensors[i], &s->plant, &diag, &s->sensor[i]), &diag);
  for (int i = 0; i < N; i++) s->output[i] = must_find(&s->plant, name[i]);
  const bramah_filter_options o = {.transition = transition,
                                   .basis = s->output,
                                   .position_sigma = &position_sigma,
                                   .rate_sigma = &rate_sigma,
                                   .first_order_sigma = pressure_sigma,
                                   .acceleration_noise = &acceleration_noise,
                                   .first_order_noise = pressure_noise};
  must(bramah_filter_new(&s->plant, SENSORS, s->sensor, &o, &diag, &s->filter), &diag);
}

static void discard(side *s)
{
  bramah_filter_free(s->filter);
  bramah_coupled_free(s->coupled);
}

static void start_truth(side *truth, unsigned *seed)
{
  double dx[N];
  test_draw(N, truth->filter->P, seed, dx);
  must(truth->plant.inject(truth->plant.self, dx, &diag), &diag);
}

/* The truth moves on with the noise of the step that its own linearisation gives: the filter on it makes the
 * step and leaves Gamma. Its covariance is the bound. */
static void advance_truth(side *truth, unsigned *seed)
{
  double dx[N];
  must(bramah_filter_predict(truth->filter, &diag), &diag);
  test_normals(N, truth->filter->nq, truth->filter->Gamma, seed, dx);
  must(truth->plant.inject(truth->plant.self, dx, &diag), &diag);
}

/* Only the covariance learns from the measurements: their innovations are zero. */
static void bound_correct(side *truth, const unsigned char *present)
{
  double y[SENSORS];
  for (int i = 0; i < SENSORS; i++) y[i] = bramah_sensor_predict(&truth->sensor[i], &truth->plant);
  must(bramah_filter_correct(truth->filter, y, present, &diag), &diag);
}

static double nees(const bramah_filter *f, const double *e)
{
  double L[N * N], x[N], sum = 0.0;
  memcpy(L, f->P, sizeof L);
  memcpy(x, e, sizeof x);
  ck_assert_uint_eq(bramah__cholesky_factor(N, L), 0);
  bramah__cholesky_solve(N, L, x);
  for (int k = 0; k < N; k++) sum += x[k] * e[k];
  return sum;
}

typedef struct sums {
  double nees[STEPS], squares[STEPS][N], bound[STEPS][N];
} sums;

static void run_once(side *truth, side *estimate, unsigned seed, sums *out)
{
  unsigned char present[SENSORS];
  memset(present, 1, sizeof present);
  start_truth(truth, &seed);
  for (int k = 0; k < STEPS; k++) {
    const double u = k < 200 ? 0.0 : 7.0;
    double y[SENSORS], e[N];
    must(truth->plant.set_inputs(truth->plant.self, &u, &diag), &diag);
    must(estimate->plant.set_inputs(estimate->plant.self, &u, &diag), &diag);
    advance_truth(truth, &seed);
    must(bramah_filter_predict(estimate->filter, &diag), &diag);
    for (int i = 0; i < SENSORS; i++)
      y[i] = bramah_sensor_predict(&truth->sensor[i], &truth->plant) +
             truth->sensor[i].sigma * test_normal(&seed);
    must(bramah_filter_correct(estimate->filter, y, present, &diag), &diag);
    bound_correct(truth, present);
    for (int i = 0; i < N; i++) {
      e[i] = truth->plant.output(truth->plant.self, truth->output[i]) -
             estimate->plant.output(estimate->plant.self, estimate->output[i]);
      out->squares[k][i] += e[i] * e[i];
      out->bound[k][i] += pow(bramah_filter_output_sigma(truth->filter, truth->output[i]), 2);
    }
    /* The basis of the error state is a dependent joint: compare in its own coordinates. */
    double x[2][N];
    truth->plant.coordinates(truth->plant.self, x[0]);
    estimate->plant.coordinates(estimate->plant.self, x[1]);
    for (int i = 0; i < N; i++) e[i] = x[0][i] - x[1][i];
    out->nees[k] += nees(estimate->filter, e);
  }
}

static int number_of_runs(void)
{
  const char *text = getenv("BRAMAH_RUNS");
  const int n = text ? atoi(text) : 0;
  return n > 0 ? n : 40;
}

/* Share of steps at which the mean NEES lies in its 95 % band, and RMSE over bound after the transient. */
static double band_share(const sums *s, int runs)
{
  const double half = 1.96 * sqrt(2.0 * N / runs);
  int inside = 0;
  for (int k = 0; k < STEPS; k++) inside += fabs(s->nees[k] / runs - N) <= half;
  return (double)inside / STEPS;
}

static void campaign(bramah_transition transition, sums *out, double *share, double ratio[N])
{
  const bramah_model *model;
  const int runs = number_of_runs();
  four_bar_describe(&fb, 1.0, 1000000);
  must(bramah_model_new(&fb.machine, &diag, &model), &diag);
  memset(out, 0, sizeof *out);
  for (int r = 0; r < runs; r++) {
    side truth, estimate;
    make(&truth, model, BRAMAH_TRANSITION_STEP);
    make(&estimate, model, transition);
    run_once(&truth, &estimate, 1000u + (unsigned)r * 7919u, out);
    discard(&truth);
    discard(&estimate);
  }
  *share = band_share(out, runs);
  for (int i = 0; i < N; i++) {
    double squares = 0.0, bound = 0.0;
    for (int k = FIRST; k < STEPS; k++) squares += out->squares[k][i], bound += out->bound[k][i];
    ratio[i] = sqrt(squares / bound);
  }
  bramah_model_free(model);
}

static double mean_nees(const sums *s, int runs)
{
  double sum = 0.0;
  for (int k = FIRST; k < STEPS; k++) sum += s->nees[k] / runs;
  return sum / (STEPS - FIRST);
}

static sums result;

TEST(test_step_is_consistent)
{
  double share, ratio[N];
  campaign(BRAMAH_TRANSITION_STEP, &result, &share, ratio);
  printf("step: mean NEES in its 95 %% band %.1f %% of the time, mean %.3f of %d; RMSE over bound %.3f %.3f "
         "%.3f %.3f "
         "%.3f\n",
         100 * share, mean_nees(&result, number_of_runs()), N, ratio[0], ratio[1], ratio[2], ratio[3],
         ratio[4]);
  ck_assert_double_ge(share, number_of_runs() >= 400 ? 0.95 : 0.85);
  for (int i = 0; i < N; i++) ck_assert_double_le(ratio[i], 1.10);
}

TEST(test_paper_as_it_comes)
{
  double share, ratio[N];
  campaign(BRAMAH_TRANSITION_KINEMATIC, &result, &share, ratio);
  printf("paper: mean NEES in its 95 %% band %.1f %% of the time, mean %.3f of %d; RMSE over bound %.3f %.3f "
         "%.3f %.3f "
         "%.3f\n",
         100 * share, mean_nees(&result, number_of_runs()), N, ratio[0], ratio[1], ratio[2], ratio[3],
         ratio[4]);
}

int main(void) { return run_tests("consistency"); }
