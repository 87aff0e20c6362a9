/* SPDX-License-Identifier: MIT */
/* Raw data: the four-bar with a command that nobody recorded. The filter holds it at a base value and
 * estimates what is missing as a random walk; its valve has no lag. */
#include "bramah/filter.h"
#include "test/support/four_bar.h"
#include "test/support/replay_run.h"
#include "test/support/run.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { SENSORS = 4, N = 6, RUNS = 30, STEPS = 300 };

static bramah_diag diag;

static const bramah_sensor_options sensor_options[SENSORS] = {
    {.name = "encoder", .kind = BRAMAH_SENSOR_ENCODER, .at = "crank", .sigma = 0.01745},
    {.name = "p1", .kind = BRAMAH_SENSOR_PRESSURE, .at = "v1", .sigma = 5e4},
    {.name = "p2", .kind = BRAMAH_SENSOR_PRESSURE, .at = "v2", .sigma = 5e4},
    {.name = "p3", .kind = BRAMAH_SENSOR_PRESSURE, .at = "v3", .sigma = 5e4}};

static const double sigmas[N] = {0.02, 0.05, 5e4, 5e4, 5e4, 0.5};

typedef struct side {
  four_bar fb;
  const bramah_model *model;
  bramah_coupled *coupled;
  bramah_plant plant;
  bramah_sensor sensor[SENSORS];
  bramah_filter *filter;
  size_t offset;
} side;

static void open_side(side *s, double time_constant, double dead_band)
{
  four_bar_describe(&s->fb, 1.0, 1000000);
  s->fb.valves[0].dead_band = dead_band;
  s->fb.valves[0].time_constant = time_constant;
  must(bramah_model_new(&s->fb.machine, &diag, &s->model), &diag);
  must(bramah_coupled_new(s->model, &diag, &s->coupled), &diag);
  s->plant = bramah_coupled_plant(s->coupled);
  for (int i = 0; i < SENSORS; i++)
    must(bramah_sensor_init(&sensor_options[i], &s->plant, &diag, &s->sensor[i]), &diag);
  s->offset = must_find_parameter(&s->plant, "valve.offset");
}

static void make_filter(side *s, double command_noise, double acceleration_noise, double pressure_noise)
{
  const double qp[3] = {pressure_noise, pressure_noise, pressure_noise};
  const size_t basis = must_find(&s->plant, "crank.angle");
  const bramah_augmented command = {.name = "command",
                                    .kind = BRAMAH_AUGMENTED_PARAMETER,
                                    .at = "valve.offset",
                                    .sigma = sigmas[5],
                                    .noise = command_noise,
                                    .least = -9.999,
                                    .most = 9.999};
  const bramah_filter_options o = {.transition = BRAMAH_TRANSITION_STEP,
                                   .basis = &basis,
                                   .position_sigma = &sigmas[0],
                                   .rate_sigma = &sigmas[1],
                                   .first_order_sigma = &sigmas[2],
                                   .acceleration_noise = &acceleration_noise,
                                   .first_order_noise = qp,
                                   .n_augmented = command_noise > 0.0,
                                   .augmented = &command};
  must(bramah_filter_new(&s->plant, SENSORS, s->sensor, &o, &diag, &s->filter), &diag);
}

static void close_side(side *s)
{
  bramah_filter_free(s->filter);
  bramah_coupled_free(s->coupled);
  bramah_model_free(s->model);
}

static void measure(side *truth, unsigned *seed, double *y)
{
  for (int i = 0; i < SENSORS; i++)
    y[i] =
        bramah_sensor_predict(&truth->sensor[i], &truth->plant) + truth->sensor[i].sigma * test_normal(seed);
}

/* x' P^-1 x by Cholesky; P [N x N]. */
static double mahalanobis(const double *P, const double *x)
{
  double L[N * N] = {0}, z[N], sum = 0.0;
  for (int i = 0; i < N; i++)
    for (int j = 0; j <= i; j++) {
      double rest = P[i * N + j];
      for (int k = 0; k < j; k++) rest -= L[i * N + k] * L[j * N + k];
      L[i * N + j] = i == j ? sqrt(rest) : rest / L[j * N + j];
    }
  for (int i = 0; i < N; i++) {
    z[i] = x[i];
    for (int k = 0; k < i; k++) z[i] -= L[i * N + k] * z[k];
    z[i] /= L[i * N + i];
    sum += z[i] * z[i];
  }
  return sum;
}

/* One run with a command that is what the filter believes: `base` [V] and a random walk. NEES at the end. */
static double matched_run(unsigned seed, double base, double dead_band, double *nis)
{
  const double noise = 2.0;
  side truth = {0}, estimate = {0};
  double dx[N], x[2][N], y[SENSORS], walk;
  unsigned char present[SENSORS];
  size_t dof;
  memset(present, 1, sizeof present);
  open_side(&truth, 0.0, dead_band);
  open_side(&estimate, 0.0, dead_band);
  for (int i = 0; i < N; i++) dx[i] = sigmas[i] * test_normal(&seed);
  must(truth.plant.inject(truth.plant.self, dx, &diag), &diag);
  walk = dx[5];
  must(truth.plant.set_parameter(truth.plant.self, truth.offset, walk, &diag), &diag);
  must(truth.plant.set_inputs(truth.plant.self, &base, &diag), &diag);
  make_filter(&estimate, noise, 0.0, 0.0);
  must(bramah_filter_set_inputs(estimate.filter, &base, &diag), &diag);
  for (int k = 0; k < STEPS; k++) {
    must(truth.plant.step(truth.plant.self, &diag), &diag);
    walk += noise * sqrt(1e-3) * test_normal(&seed);
    must(truth.plant.set_parameter(truth.plant.self, truth.offset, walk, &diag), &diag);
    must(bramah_filter_predict(estimate.filter, &diag), &diag);
    measure(&truth, &seed, y);
    must(bramah_filter_correct(estimate.filter, y, present, &diag), &diag);
    *nis += filter_nis(estimate.filter, &dof) / (double)dof / STEPS / RUNS;
  }
  truth.plant.coordinates(truth.plant.self, x[0]);
  estimate.plant.coordinates(estimate.plant.self, x[1]);
  x[0][5] = walk;
  x[1][5] = bramah_filter_get_augmented(estimate.filter, 0).value;
  for (int i = 0; i < N; i++) dx[i] = x[0][i] - x[1][i];
  ck_assert_uint_eq(bramah_filter_get_info(estimate.filter).n_error, N);
  const double nees = mahalanobis(bramah_filter_covariance(estimate.filter), dx);
  close_side(&truth);
  close_side(&estimate);
  return nees;
}

/* The mean NEES of 30 runs per degree of freedom is within 0.67 and 1.38 in all but one of a thousand cases
 * (chi-square with 180 degrees of freedom). */
TEST(test_consistent)
{
  double nees = 0.0, nis = 0.0;
  for (unsigned run = 0; run < RUNS; run++) nees += matched_run(100 + run, 3.0, 0.0, &nis) / N / RUNS;
  printf("command unknown, as assumed: NEES %.3f, NIS %.3f per degree of freedom\n", nees, nis);
  ck_assert_double_ge(nees, 0.67);
  ck_assert_double_le(nees, 1.38);
  ck_assert_double_eq_tol(nis, 1.0, 0.03);
}

/* What a filter makes of the work cycle, whose valve has its lag. */
typedef struct outcome {
  double command_rmse, inside; /* [V]; share of steps within 1.96 sigma */
  double angle_rmse, angle_sigma, pressure_sigma;
  double angle_held, pressure_held, command_held; /* share of steps within 3.92 sigma */
} outcome;

static outcome work_cycle(int known, double dead_band)
{
  enum { CYCLE = 9000 };
  side truth = {0}, estimate = {0};
  outcome out = {0};
  unsigned seed = 7;
  unsigned char present[SENSORS];
  const double nothing = 0.0;
  memset(present, 1, sizeof present);
  open_side(&truth, 4.5e-3, dead_band);
  open_side(&estimate, known ? 4.5e-3 : 0.0, dead_band);
  make_filter(&estimate, known ? 0.0 : 5.0, 0.015, 2e5);
  const size_t angle = must_find(&truth.plant, "crank.angle"), p1 = must_find(&truth.plant, "v1.pressure"),
               spool = must_find(&truth.plant, "valve.spool");
  for (int k = 0; k < CYCLE; k++) {
    const double u = four_bar_command((int64_t)k * 1000000);
    double y[SENSORS];
    must(truth.plant.set_inputs(truth.plant.self, &u, &diag), &diag);
    must(bramah_filter_set_inputs(estimate.filter, known ? &u : &nothing, &diag), &diag);
    must(truth.plant.step(truth.plant.self, &diag), &diag);
    must(bramah_filter_predict(estimate.filter, &diag), &diag);
    measure(&truth, &seed, y);
    must(bramah_filter_correct(estimate.filter, y, present, &diag), &diag);
    const double e =
        estimate.plant.output(estimate.plant.self, angle) - truth.plant.output(truth.plant.self, angle);
    out.angle_rmse += e * e;
    out.angle_held += fabs(e) < 3.92 * bramah_filter_output_sigma(estimate.filter, angle);
    const double ep =
        estimate.plant.output(estimate.plant.self, p1) - truth.plant.output(truth.plant.self, p1);
    out.pressure_held += fabs(ep) < 3.92 * bramah_filter_output_sigma(estimate.filter, p1);
    out.angle_sigma += bramah_filter_output_sigma(estimate.filter, angle) / CYCLE;
    out.pressure_sigma += bramah_filter_output_sigma(estimate.filter, p1) / CYCLE;
    if (known) continue;
    const double c =
        bramah_filter_get_augmented(estimate.filter, 0).value - truth.plant.output(truth.plant.self, spool);
    out.command_rmse += c * c;
    out.command_held += fabs(c) < 3.92 * bramah_filter_get_augmented(estimate.filter, 0).sigma;
    out.inside += fabs(c) < 1.96 * bramah_filter_get_augmented(estimate.filter, 0).sigma;
  }
  out.angle_rmse = sqrt(out.angle_rmse / CYCLE);
  out.command_rmse = sqrt(out.command_rmse / CYCLE);
  out.inside /= CYCLE;
  out.angle_held /= CYCLE;
  out.pressure_held /= CYCLE;
  out.command_held /= CYCLE;
  close_side(&truth);
  close_side(&estimate);
  return out;
}

/* Commands that leap by 10 V are followed within half a volt, and not knowing them costs a factor of about
 * two. */
TEST(test_work_cycle_is_followed)
{
  const outcome unknown = work_cycle(0, 0.0), known = work_cycle(1, 0.0);
  printf("work cycle: spool within %.3f V (RMSE), %.1f %% inside 1.96 sigma; angle sigma %.2g, known %.2g; "
         "v1 %.3g, "
         "known %.3g Pa\n",
         unknown.command_rmse, 100.0 * unknown.inside, unknown.angle_sigma, known.angle_sigma,
         unknown.pressure_sigma, known.pressure_sigma);
  ck_assert_double_le(unknown.command_rmse, 0.4);
  ck_assert_double_ge(unknown.inside, 0.95);
  ck_assert_double_le(unknown.angle_rmse, 1.5e-3);
  ck_assert_double_ge(unknown.angle_sigma, 1.3 * known.angle_sigma);
  ck_assert_double_le(unknown.angle_sigma, 4.0 * known.angle_sigma);
  ck_assert_double_ge(unknown.pressure_sigma, 1.2 * known.pressure_sigma);
}

/* A valve with a dead band, in which its command shows nowhere, while the command leaps from band to stroke and back:
 * by the derivative at the estimate alone nothing would be learned in the band and the covariance would not grow
 * (11 % of the angles within their bands). */
EACH_TEST(test_dead_band, 0, 4)
{
  static const double bands[] = {0.2, 0.5, 1.0, 2.0};
  const outcome out = work_cycle(0, bands[_i]);
  printf(
      "dead band %.1f V: angle off by %.3g rad (sigma %.2g), spool by %.2f V; within 3.92 sigma: angle %.1f, "
      "v1 %.1f, command %.1f %%\n",
      bands[_i], out.angle_rmse, out.angle_sigma, out.command_rmse, 100.0 * out.angle_held,
      100.0 * out.pressure_held, 100.0 * out.command_held);
  ck_assert_double_ge(out.angle_held, 0.99);
  ck_assert_double_ge(out.pressure_held, 0.95);
  ck_assert_double_ge(out.command_held, 0.95);
  ck_assert_double_le(out.angle_rmse, 1.5e-3);
}

/* The command wanders into and out of a dead band: what no straight line through its edges fits counts as noise, for
 * as long as it lasts. By the slope alone the mean NEES of these is up to 6e14. */
EACH_TEST(test_edge, 0, 8)
{
  static const double bands[] = {0.2, 0.5, 1.0, 2.0};
  const double band = bands[_i / 2], base = _i % 2 ? 0.5 * band : 0.0;
  double nees = 0.0, nis = 0.0, most = 0.0;
  for (unsigned run = 0; run < RUNS; run++) {
    const double own = matched_run(100 + run, base, band, &nis) / N;
    nees += own / RUNS;
    most = fmax(most, own);
  }
  printf("command wanders from %.2f V, dead band %.1f V: NEES %.2f, at most %.1f, NIS %.2f per degree of "
         "freedom\n",
         base, band, nees, most, nis);
  ck_assert_double_ge(nees, 0.5);
  ck_assert_double_le(nees, 1.38);
  ck_assert_double_le(most, 6.0);
  ck_assert_double_le(nis, 1.03);
}

int main(void) { return run_tests("raw"); }
