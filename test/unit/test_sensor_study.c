/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A simulation and a sensor study from C: the same for any number of threads, ratios against the means they are made
 * of, mistakes. */
#define _XOPEN_SOURCE 700 /* temporary files */
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bramah/sensor_study.h"
#include "bramah/simulation.h"
#include "test/support/run.h"
#include "test/support/text_file.h"

static bramah_diag diag;

static void write_plan(void)
{
  const char *root = getenv("BRAMAH_SOURCE_ROOT");
  FILE *file = fopen(path, "w");
  ck_assert_ptr_nonnull(file);
  char folder[1024];
  snprintf(folder, sizeof folder, "%s/datasets/four-bar", root ? root : ".");
  fprintf(file,
          "plan: short\nmachine: %s/four-bar.yaml\nduration: 0.1 s\nsettle: 0.05 s\nseeds: 2\n"
          "rates: [1 kHz, 300 Hz]\nsignals: {angle: crank.angle, p1: v1.pressure}\n"
          "studies: {one: %s/sensors-1.yaml, two: %s/sensors-2.yaml}\n"
          "scenarios: {A: {}, B: {changes: {gravity: '[0, -9, 0 m/s^2]'}}}\n",
          folder, folder, folder);
  fclose(file);
}

static bramah_sensor_study *open_study(size_t n_threads)
{
  bramah_sensor_study *s = NULL;
  ck_assert_msg(bramah_sensor_study_open(path, NULL, &diag, &s) == BRAMAH_OK, "%s: %s", diag.thing,
                diag.message);
  ck_assert_int_eq(bramah_sensor_study_run(s, n_threads, NULL, NULL, &diag), BRAMAH_OK);
  return s;
}

TEST(threads_do_not_matter)
{
  write_plan();
  bramah_sensor_study *one = open_study(1), *many = open_study(8); /* in lanes; too many for that */
  const bramah_sensor_study_layout *is = bramah_sensor_study_about(one);
  ck_assert_uint_eq(is->n_runs, 2 * 2 * 2 * 2);
  ck_assert_double_eq_tol(is->sampled[1], 1000.0 / 3.0, 1e-9);
  ck_assert_uint_eq(is->rows, 101);
  for (size_t run = 0; run < is->n_runs; run++) {
    const bramah_sensor_study_case c = is->runs[run].at;
    ck_assert_ptr_null(is->runs[run].failure);
    for (size_t i = 0; i < is->n_signals; i++)
      for (int metric = 0; metric < BRAMAH_N_METRICS; metric++) {
        const double x = bramah_sensor_study_mean(one, &c, i, (bramah_metric)metric).mean,
                     y = bramah_sensor_study_mean(many, &c, i, (bramah_metric)metric).mean;
        ck_assert(memcmp(&x, &y, sizeof x) == 0 || (isnan(x) && isnan(y)));
      }
  }
  ck_assert_uint_eq(bramah_sensor_study_mean(one, &(bramah_sensor_study_case){0}, 0, BRAMAH_METRIC_RMSE).n,
                    2);
  ck_assert(is->signals[1].model_alone != is->signals[is->n_signals + 1].model_alone);
  bramah_sensor_study_free(one);
  bramah_sensor_study_free(many);
  bramah_sensor_study_free(NULL);
}

TEST(ratio_is_that_of_the_means)
{
  const size_t all = BRAMAH_SENSOR_STUDY_ALL;
  write_plan();
  bramah_sensor_study *s = open_study(2);
  double sum = 0.0;
  size_t smaller = 0, n = 0;
  bramah_sensor_study_case c = {0};
  for (c.scenario = 0; c.scenario < 2; c.scenario++)
    for (c.rate = 0; c.rate < 2; c.rate++)
      for (size_t i = 0; i < 2; i++) {
        double rmse[2];
        for (c.study = 0; c.study < 2; c.study++)
          rmse[c.study] = bramah_sensor_study_mean(s, &c, i, BRAMAH_METRIC_RMSE).mean;
        sum += log(rmse[1] / rmse[0]);
        smaller += rmse[1] < rmse[0];
        n++;
      }
  const bramah_sensor_study_case a = {.scenario = all, .study = 1, .rate = all},
                                 b = {.scenario = all, .study = 0, .rate = all};
  const bramah_sensor_study_ratio r = bramah_sensor_study_compare(s, BRAMAH_METRIC_RMSE, all, &a, &b),
                                  back = bramah_sensor_study_compare(s, BRAMAH_METRIC_RMSE, all, &b, &a);
  ck_assert_double_eq_tol(r.mean, exp(sum / (double)n), 1e-12);
  ck_assert(r.smaller == smaller && r.n == n && back.smaller == n - smaller);
  ck_assert_double_eq_tol(r.mean * back.mean, 1.0, 1e-12);
  bramah_sensor_study_free(s);
}

/* Asked so often, it says yes. */
static int is_enough(void *left) { return --*(int *)left <= 0; }

/* Stopped while opened, nothing is left; while run, what is not done has no numbers; run again, it is all there. */
TEST(stops_in_the_middle)
{
  bramah_sensor_study_options options;
  bramah_sensor_study *s = NULL;
  int left = 1;
  bramah_sensor_study_options_default(&options);
  options.stopped = is_enough;
  options.user = &left;
  write_plan();
  ck_assert_int_eq(bramah_sensor_study_open(path, &options, &diag, &s), BRAMAH_E_TIME);
  ck_assert_ptr_null(s);
  left = INT_MAX;
  ck_assert_int_eq(bramah_sensor_study_open(path, &options, &diag, &s), BRAMAH_OK);
  const bramah_sensor_study_layout *is = bramah_sensor_study_about(s);
  size_t done = 0;
  left =
      4; /* twice for the four runs of the first session, whose 101 rows go together; in the midst of the second's */
  ck_assert_int_eq(bramah_sensor_study_run(s, 1, NULL, NULL, &diag), BRAMAH_E_TIME);
  ck_assert_str_eq(diag.message, "interrupted");
  for (size_t i = 0; i < is->n_runs; i++) done += is->runs[i].failure == NULL;
  ck_assert_uint_eq(done, 4);
  ck_assert_str_eq(is->runs[is->n_runs - 1].failure, "it was not run");
  ck_assert(bramah_sensor_study_mean(s, &is->runs[4].at, 0, BRAMAH_METRIC_RMSE).n == 0);
  left = INT_MAX;
  ck_assert_int_eq(bramah_sensor_study_run(s, 1, NULL, NULL, &diag), BRAMAH_OK);
  for (size_t i = 0; i < is->n_runs; i++) ck_assert_ptr_null(is->runs[i].failure);
  bramah_sensor_study_free(s);
}

TEST(unknown_scenario_is_refused)
{
  static const char *const wanted[] = {"b"};
  bramah_sensor_study_options options;
  bramah_sensor_study *s = NULL;
  bramah_sensor_study_options_default(&options);
  options.n_scenarios = 1;
  options.scenarios = wanted;
  write_plan();
  ck_assert_int_eq(bramah_sensor_study_open(path, &options, &diag, &s), BRAMAH_E_REFERENCE);
  ck_assert_ptr_null(s);
  ck_assert_ptr_nonnull(strstr(diag.message, "did you mean 'B'?"));
}

/* Rows as the plant steps, and energies that add up. */
TEST(simulation_shows_the_plant)
{
  const char *root = getenv("BRAMAH_SOURCE_ROOT");
  char file[1024];
  bramah_machine_plant machine, alone;
  bramah_simulation_options options;
  bramah_simulation *s = NULL;
  snprintf(file, sizeof file, "%s/datasets/four-bar/four-bar.yaml", root ? root : ".");
  ck_assert_int_eq(bramah_machine_plant_open(&machine, file, 0, NULL, 0, &diag), BRAMAH_OK);
  ck_assert_int_eq(bramah_machine_plant_open(&alone, file, 0, NULL, 0, &diag), BRAMAH_OK);
  bramah_simulation_options_default(&options);
  options.truth = path;
  ck_assert_int_eq(bramah_simulation_new(&machine, &options, &diag, &s), BRAMAH_OK);
  for (int k = 0; k <= 20; k++) ck_assert_int_eq(bramah_simulation_next(s, &diag), BRAMAH_OK);
  const bramah_simulation_result r = bramah_simulation_get_result(s);
  ck_assert_int_eq(bramah_simulation_close(s, &diag), BRAMAH_OK);
  ck_assert_uint_eq(r.rows, 21);
  ck_assert_int_eq(r.time_ns, 20 * machine.plant.step_ns);
  ck_assert(r.energy.largest < 1e-3 * r.energy.turnover && r.violation < 1e-9);
  bramah_schedule *schedule = NULL;
  ck_assert_int_eq(bramah_schedule_new(alone.machine, alone.model, &diag, &schedule), BRAMAH_OK);
  for (int k = 0; k < 20; k++) {
    const double *u = bramah_schedule_at(schedule, k * alone.plant.step_ns);
    ck_assert_int_eq(alone.plant.set_inputs(alone.plant.self, u, &diag), BRAMAH_OK);
    ck_assert_int_eq(alone.plant.step(alone.plant.self, &diag), BRAMAH_OK);
  }
  const long angle = bramah_plant_find_output(&alone.plant, "crank.angle");
  ck_assert(machine.plant.output(machine.plant.self, (size_t)angle) ==
            alone.plant.output(alone.plant.self, (size_t)angle));
  bramah_schedule_free(schedule);
  bramah_machine_plant_close(&machine);
  bramah_machine_plant_close(&alone);
}

int main(void) { return run_tests_with("sensor study", make_path, remove_path); }
