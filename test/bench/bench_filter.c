/* SPDX-License-Identifier: MIT */
/* Microseconds per step on the four-bar: the plant alone, each part of the filter, whole replays from memory, and the
 * other estimators: with adaptive noise, unscented, with the smoother's two passes. Prints what it ran on. Not a test:
 * nothing here can fail for being slow. */
#define _GNU_SOURCE
#include "bramah/adaptive.h"
#include "bramah/filter.h"
#include "bramah/replay.h"
#include "bramah/smoother.h"
#include "test/support/ukf.h"
#include "lib/plant/residual_derivative.h"
#include "test/bench/bench.h"
#include "test/support/four_bar.h"
#include "test/support/replay_run.h"

#include <math.h>

enum { STEPS = 10000, RUNS = 5, SENSORS = 5 };

static bramah_diag diag;
static double measured[STEPS + 1][SENSORS];
static const unsigned char present[SENSORS] = {1, 1, 1, 1, 1};
static double sum; /* keeps results alive */

/* ---- the four-bar ---- */

typedef struct rig {
  four_bar fb;
  const bramah_model *model;
  bramah_coupled *coupled;
  bramah_plant plant;
  bramah_sensor sensor[SENSORS];
  bramah_filter *filter;
} rig;

static void open_plant(rig *r, double friction, bramah_formulation formulation)
{
  four_bar_describe(&r->fb, friction, 1000000);
  r->fb.machine.integrator.formulation = formulation;
  must(bramah_model_new(&r->fb.machine, &diag, &r->model), &diag);
  must(bramah_coupled_new(r->model, &diag, &r->coupled), &diag);
  r->plant = bramah_coupled_plant(r->coupled);
}

static bramah_filter_options filter_options(const rig *r)
{
  static const double sp = 0.05, sv = 0.1, spr[3] = {1e5, 1e5, 1e5}, q = 0.015, qp[3] = {8e5, 6e5, 6e5};
  static size_t basis;
  basis = must_find(&r->plant, "crank.angle");
  return (bramah_filter_options){.transition = BRAMAH_TRANSITION_KINEMATIC,
                                 .basis = &basis,
                                 .position_sigma = &sp,
                                 .rate_sigma = &sv,
                                 .first_order_sigma = spr,
                                 .acceleration_noise = &q,
                                 .first_order_noise = qp};
}

static void open_rig(rig *r, bramah_transition transition, bramah_covariance_form form)
{
  open_plant(r, 1.1, BRAMAH_FORMULATION_PARTITIONING);
  for (int i = 0; i < SENSORS; i++)
    must(bramah_sensor_init(&four_bar_sensors[i], &r->plant, &diag, &r->sensor[i]), &diag);
  bramah_filter_options o = filter_options(r);
  o.transition = transition;
  o.form = form;
  must(bramah_filter_new(&r->plant, SENSORS, r->sensor, &o, &diag, &r->filter), &diag);
}

static void close_rig(rig *r)
{
  bramah_filter_free(r->filter);
  bramah_coupled_free(r->coupled);
  bramah_model_free(r->model);
  r->filter = NULL;
}

/* The command of step k. */
static void command(const rig *r, int k)
{
  const double u = four_bar_command((int64_t)k * 1000000);
  r->plant.set_inputs(r->plant.self, &u, &diag);
}

static void make_measurements(void)
{
  static const char *const name[SENSORS] = {"crank.angle", "crank.rate", "v1.pressure", "v2.pressure",
                                            "v3.pressure"};
  static const double sigma[SENSORS] = {0.01745, 9.84e-4, 5e4, 5e4, 5e4};
  static rig truth;
  unsigned seed = 1;
  open_plant(&truth, 1.0, BRAMAH_FORMULATION_PARTITIONING);
  for (int k = 0; k <= STEPS; k++) {
    command(&truth, k);
    for (int i = 0; i < SENSORS; i++)
      measured[k][i] = truth.plant.output(truth.plant.self, must_find(&truth.plant, name[i])) +
                       sigma[i] * test_normal(&seed);
    must(truth.plant.step(truth.plant.self, &diag), &diag);
  }
  close_rig(&truth);
}

/* ---- what is timed: bodies return the seconds of STEPS steps; a and b are the variant of a row ---- */

enum { PLAIN, SAVED_AND_RESTORED };

static double plant_step(int formulation, int how)
{
  static double snap[256];
  static rig r;
  open_plant(&r, 1.1, (bramah_formulation)formulation);
  const double t = bench_now();
  for (int k = 0; k < STEPS; k++) {
    command(&r, k);
    if (how == SAVED_AND_RESTORED) {
      r.plant.save(r.plant.self, snap);
      r.plant.restore(r.plant.self, snap);
    }
    must(r.plant.step(r.plant.self, &diag), &diag);
  }
  const double elapsed = bench_now() - t;
  close_rig(&r);
  return elapsed;
}

enum { TRANSITION, TANGENT, JACOBIAN, INJECTION, CORRECTION, CORRECTION_OFF_GRID };

/* One part of a step alone, over and over. */
static double part(int which, int unused)
{
  static const int64_t offset_ns[SENSORS] = {-300000, 200000, -100000, 400000, -450000};
  static rig r;
  const double dx[5] = {1e-9, 0, 0, 0, 0};
  double change[4] = {0}, f[4], F[25], N[20];
  (void)unused;
  open_rig(&r, BRAMAH_TRANSITION_KINEMATIC, BRAMAH_COVARIANCE_JOSEPH);
  if (which == TANGENT) must(bramah__step_residual(r.coupled, change, f), &diag);
  if (which == CORRECTION_OFF_GRID) must(bramah_filter_predict(r.filter, &diag), &diag);
  const double t = bench_now();
  for (int k = 0; k < STEPS; k++) {
    bramah_status status = BRAMAH_OK;
    switch (which) {
    case TRANSITION:
      command(&r, k);
      status = r.plant.step_transition(r.plant.self, F, N, 0, NULL, NULL, &diag);
      break;
    case TANGENT:
      bramah__step_tangent(r.coupled, F);
      break;
    case JACOBIAN:
      status = r.plant.acceleration_jacobian(r.plant.self, F, &diag);
      break;
    case INJECTION:
      status = r.plant.inject(r.plant.self, dx, &diag);
      break;
    case CORRECTION:
      status = bramah_filter_correct(r.filter, measured[0], present, &diag);
      break;
    default:
      status = bramah_filter_correct_at(r.filter, measured[0], present, offset_ns, &diag);
    }
    must(status, &diag);
    if (which <= JACOBIAN) sum += F[0];
  }
  const double elapsed = bench_now() - t;
  close_rig(&r);
  return elapsed;
}

static bramah_status next_sample(void *user, bramah_sample *sample, int *end, bramah_diag *d)
{
  int *k = user;
  (void)d;
  if (*k > STEPS) {
    *end = 1;
    return BRAMAH_OK;
  }
  sample->time_ns = (int64_t)*k * 1000000;
  sample->inputs[0] = four_bar_command(sample->time_ns);
  sample->has_input[0] = 1;
  memcpy(sample->y, measured[*k], sizeof measured[0]);
  memset(sample->present, 1, SENSORS);
  ++*k;
  return BRAMAH_OK;
}

/* Estimates of everything that has a sigma, as a log writer would ask for; user NULL: of nothing. */
static void look(void *user, int64_t time_ns, int corrected)
{
  const rig *r = user;
  (void)time_ns, (void)corrected;
  for (size_t i = 0; r && i < r->plant.n_output; i++) {
    bramah_output_info info;
    bramah_plant_output_info(&r->plant, i, &info);
    if (info.hidden) continue;
    sum += r->plant.output(r->plant.self, i);
    if (info.has_row) sum += bramah_filter_output_sigma(r->filter, i);
  }
}

enum { JOSEPH = BRAMAH_COVARIANCE_JOSEPH, ROOT = BRAMAH_COVARIANCE_SQUARE_ROOT, WITH_OUTPUTS = 100 };

static bramah_step_report replayed; /* by the last replay */

static double replay(int transition, int how)
{
  static rig r;
  int k = 0;
  bramah_replay *all;
  open_rig(&r, (bramah_transition)transition,
           how == ROOT ? BRAMAH_COVARIANCE_SQUARE_ROOT : BRAMAH_COVARIANCE_JOSEPH);
  must(bramah_replay_new(r.filter, NULL, next_sample, &k, &diag, &all), &diag);
  const double t = bench_now();
  must(replay_run(all, look, how == WITH_OUTPUTS ? &r : NULL, &diag), &diag);
  const double elapsed = bench_now() - t;
  replayed = bramah_coupled_report(r.coupled);
  bramah_replay_free(all);
  close_rig(&r);
  return elapsed;
}

enum { ERROR_STATE, SMOOTHER_RECORDS, SMOOTHER_BACKWARD, LIKELIHOOD, MATCHING, UNSCENTED };

/* Cycles of correction and prediction by one of the estimators; all four densities of process noise adapt. */
static double cycles(int which, int unused)
{
  static const double la = 1e-3, ma = 10, lp[3] = {1e3, 1e3, 1e3}, mp[3] = {1e8, 1e8, 1e8};
  static rig r;
  bramah_smoother *smoother = NULL;
  bramah_adaptive *adaptive = NULL;
  bramah_ukf *ukf = NULL;
  (void)unused;
  open_rig(&r, BRAMAH_TRANSITION_KINEMATIC, BRAMAH_COVARIANCE_JOSEPH);
  const bramah_filter_options options = filter_options(&r);
  const bramah_adaptive_options noise = {.method = which == MATCHING ? BRAMAH_ADAPTIVE_MATCHING
                                                                     : BRAMAH_ADAPTIVE_LIKELIHOOD,
                                         .acceleration_least = &la,
                                         .acceleration_most = &ma,
                                         .first_order_least = lp,
                                         .first_order_most = mp};
  if (which == UNSCENTED)
    must(bramah_ukf_new(&r.plant, SENSORS, r.sensor, &options, NULL, &diag, &ukf), &diag);
  if (which == LIKELIHOOD || which == MATCHING)
    must(bramah_adaptive_new(r.filter, &noise, &diag, &adaptive), &diag);
  if (which == SMOOTHER_RECORDS || which == SMOOTHER_BACKWARD)
    must(bramah_smoother_new(r.filter, STEPS + 1, &diag, &smoother), &diag);

  double t = bench_now();
  for (int k = 0; k < STEPS; k++) {
    const double u = four_bar_command((int64_t)k * 1000000), *y = measured[k];
    must(ukf ? bramah_ukf_correct(ukf, y, present, &diag)
             : bramah_filter_correct(r.filter, y, present, &diag),
         &diag);
    if (smoother) must(bramah_smoother_record(smoother, BRAMAH_FILTER_CORRECTED, r.filter, &diag), &diag);
    if (adaptive) sum += bramah_adaptive_corrected(adaptive);
    must(ukf ? bramah_ukf_set_inputs(ukf, &u, &diag) : bramah_filter_set_inputs(r.filter, &u, &diag), &diag);
    must(ukf ? bramah_ukf_predict(ukf, &diag) : bramah_filter_predict(r.filter, &diag), &diag);
    if (smoother) must(bramah_smoother_record(smoother, BRAMAH_FILTER_PREDICTED, r.filter, &diag), &diag);
    if (adaptive) bramah_adaptive_predicted(adaptive);
  }
  if (which == SMOOTHER_BACKWARD) {
    t = bench_now();
    must(bramah_smoother_run(smoother, &diag), &diag);
    sum += bramah_smoother_get_step(smoother, 0).correction[0];
  }
  const double elapsed = bench_now() - t;
  bramah_smoother_free(smoother);
  bramah_adaptive_free(adaptive);
  bramah_ukf_free(ukf);
  close_rig(&r);
  return elapsed;
}

int main(void)
{
  static const struct {
    const char *name;
    double (*body)(int a, int b);
    int a, b;
  } rows[] = {{"plant step alone", plant_step, BRAMAH_FORMULATION_PARTITIONING, PLAIN},
              {"  by augmented Lagrangian", plant_step, BRAMAH_FORMULATION_AUGMENTED_LAGRANGIAN, PLAIN},
              {"  by penalty", plant_step, BRAMAH_FORMULATION_PENALTY, PLAIN},
              {"  with the derivative of the step", part, TRANSITION, 0},
              {"plant step, state saved and restored each time", plant_step, BRAMAH_FORMULATION_PARTITIONING,
               SAVED_AND_RESTORED},
              {"  of it: tangent, once", part, TANGENT, 0},
              {"acceleration Jacobian by differences (D 3.4)", part, JACOBIAN, 0},
              {"injection of a correction", part, INJECTION, 0},
              {"correction, 5 sensors, injection included", part, CORRECTION, 0},
              {"  all measured off the step grid", part, CORRECTION_OFF_GRID, 0},
              {"whole replay from memory, 5 sensors at 1 kHz", replay, BRAMAH_TRANSITION_KINEMATIC, JOSEPH},
              {"  by paper-exact", replay, BRAMAH_TRANSITION_KINEMATIC_EXACT, JOSEPH},
              {"  by step", replay, BRAMAH_TRANSITION_STEP, JOSEPH},
              {"  by step, square root", replay, BRAMAH_TRANSITION_STEP, ROOT},
              {"  and all outputs with their sigmas read", replay, BRAMAH_TRANSITION_KINEMATIC, WITH_OUTPUTS},
              {"cycle of the error-state filter", cycles, ERROR_STATE, 0},
              {"  and the smoother's records", cycles, SMOOTHER_RECORDS, 0},
              {"  backward pass", cycles, SMOOTHER_BACKWARD, 0},
              {"unscented filter, 11 sigma points", cycles, UNSCENTED, 0},
              {"adaptive filter, likelihood", cycles, LIKELIHOOD, 0},
              {"  matching", cycles, MATCHING, 0}};
  bench_print_machine();
  make_measurements();
  printf("\nfour-bar with three pressures, 10 s at 1 kHz, one thread, median of %d\n\n%-52s %8s %14s\n", RUNS,
         "", "us/step", "x real time");
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    double t[RUNS];
    for (int run = 0; run < RUNS; run++) t[run] = rows[i].body(rows[i].a, rows[i].b);
    const double us = bench_median(t, RUNS) * 1e6 / STEPS;
    printf("%-52s %8.3f %14.0f\n", rows[i].name, us, 1000.0 / us);
  }
  printf("\nNewton iterations per step in a replay: %.2f (max %u)\n",
         (double)replayed.iterations / (double)replayed.steps, replayed.max_iterations);
  printf("for comparison (measured elsewhere, on a similar core): Exudyn 1.11 plant 14.7-21.8 us, Chrono "
         "114, MATLAB papers 2154; "
         "errorEKF in Octave 4000, estimated floor 0.45\n");
  return isnan(sum) ? EXIT_FAILURE : EXIT_SUCCESS;
}
