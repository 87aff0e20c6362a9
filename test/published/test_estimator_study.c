/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The estimator study of the case studies (publication III, scenario A: friction 10 % wrong, start 3 deg
 * wrong), four sensor sets at 1 kHz, with the machine and studies that are shipped: no worse than the
 * yardstick in any column, bands that hold the truth, better than sensors and model alone. And the two sets without the gyro
 * and one end's pressure, which it calls difficult. */
#include "bramah/coupled.h"
#include "bramah/study.h"
#include "bramah/log.h"
#include "lib/assess/statistics.h"
#include "test/support/four_bar.h"
#include "test/support/run.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { STEPS = 10001, SIGNALS = 5, MAX_SENSORS = 5 };

static const char *const signal_name[SIGNALS] = {"crank.angle", "crank.rate", "v1.pressure", "v2.pressure",
                                                 "v3.pressure"};
/* RMSE in % of the absolute maximum, spec/cases/README.md: scenario A at 1 kHz. */
static const double yardstick[4][SIGNALS] = {{0.10, 1.6, 0.62, 0.51, 0.51},
                                             {0.06, 0.19, 0.59, 0.45, 0.48},
                                             {0.055, 0.20, 0.60, 0.46, 0.46},
                                             {0.056, 0.21, 0.57, 0.38, 0.49}};
static const double model_alone[SIGNALS] = {4.85, 3.3, 1.2, 1.2, 1.0};
static const double sensor_alone[SIGNALS] = {1.40, 0.27, 0.90, 0.89, 0.92};

static bramah_diag diag;
static double truth[STEPS][SIGNALS];

static const char *root(void)
{
  const char *r = getenv("BRAMAH_SOURCE_ROOT");
  return r ? r : ".";
}

typedef struct rig {
  bramah_study *study;
  bramah_machine *machine;
  const bramah_model *model;
  bramah_coupled *coupled;
  bramah_plant plant;
  size_t output[SIGNALS];
} rig;

static void open_machine(rig *r, const char *path, size_t n_changes, const bramah_change *changes)
{
  must(bramah_machine_load(path, n_changes, changes, &diag, &r->machine), &diag);
  must(bramah_model_new(r->machine, &diag, &r->model), &diag);
  must(bramah_coupled_new(r->model, &diag, &r->coupled), &diag);
  r->plant = bramah_coupled_plant(r->coupled);
  for (int i = 0; i < SIGNALS; i++) r->output[i] = must_find(&r->plant, signal_name[i]);
}

static void close_machine(rig *r)
{
  bramah_coupled_free(r->coupled);
  bramah_model_free(r->model);
  bramah_machine_free(r->machine);
  bramah_study_free(r->study);
}

static void make_truth(void)
{
  rig r = {0};
  char path[1024];
  snprintf(path, sizeof path, "%s/datasets/four-bar/four-bar.yaml", root());
  open_machine(&r, path, 0, NULL);
  for (int k = 0; k < STEPS; k++) {
    const double u = four_bar_command((int64_t)k * 1000000);
    must(r.plant.set_inputs(r.plant.self, &u, &diag), &diag);
    for (int i = 0; i < SIGNALS; i++) truth[k][i] = r.plant.output(r.plant.self, r.output[i]);
    must(r.plant.step(r.plant.self, &diag), &diag);
  }
  close_machine(&r);
}

static void start(rig *r)
{
  const bramah_joint_start *crank = &r->study->joints[0];
  const size_t joint = 0;
  ck_assert_str_eq(crank->joint, bramah_model_get_info(r->model).joint_names[joint]);
  must(bramah_coupled_start(r->coupled, 1, &joint, &crank->position, &crank->rate, NULL, &diag), &diag);
}

static bramah_filter *make_filter(rig *r, bramah_sensor *sensors)
{
  const bramah_study *study = r->study;
  double sigma[3], noise[3];
  for (size_t i = 0; i < 3; i++) {
    ck_assert_str_eq(study->volumes[i].volume, bramah_model_get_info(r->model).volume_names[i]);
    sigma[i] = study->volumes[i].sigma;
    noise[i] = study->volumes[i].noise;
  }
  for (size_t i = 0; i < study->n_sensors; i++)
    must(bramah_sensor_init(&study->sensors[i], &r->plant, &diag, &sensors[i]), &diag);
  const bramah_joint_start *crank = &study->joints[0];
  const bramah_filter_options options = {.transition = study->transition,
                                         .basis = &r->output[0],
                                         .position_sigma = &crank->position_sigma,
                                         .rate_sigma = &crank->rate_sigma,
                                         .first_order_sigma = sigma,
                                         .acceleration_noise = &crank->acceleration_noise,
                                         .first_order_noise = noise};
  bramah_filter *filter;
  must(bramah_filter_new(&r->plant, study->n_sensors, sensors, &options, &diag, &filter), &diag);
  return filter;
}

/* Which signal a sensor of the study measures. */
static int signal_of(const bramah_sensor *sensor, const bramah_plant *plant)
{
  if (sensor->kind == BRAMAH_SENSOR_GYRO) return 1; /* the crank's parent is the ground */
  bramah_output_info info;
  bramah_plant_output_info(plant, sensor->output[0], &info);
  for (int i = 0; i < SIGNALS; i++)
    if (strcmp(info.name, signal_name[i]) == 0) return i;
  ck_abort_msg("sensor %s measures none of the signals", sensor->name);
}

static void run_once(rig *r, uint64_t seed, bramah__rmse *rmse, bramah__rmse *free_run)
{
  bramah_sensor sensors[MAX_SENSORS];
  bramah_noise *noise[MAX_SENSORS];
  int measured[MAX_SENSORS];
  start(r);
  for (int k = 0; free_run && k < STEPS; k++) { /* the model alone */
    const double u = four_bar_command((int64_t)k * 1000000);
    must(r->plant.set_inputs(r->plant.self, &u, &diag), &diag);
    for (int i = 0; i < SIGNALS; i++)
      bramah__rmse_add(&free_run[i], truth[k][i], r->plant.output(r->plant.self, r->output[i]), NAN);
    must(r->plant.step(r->plant.self, &diag), &diag);
  }
  start(r);
  bramah_filter *filter = make_filter(r, sensors);
  const size_t n = r->study->n_sensors;
  for (size_t i = 0; i < n; i++) {
    measured[i] = signal_of(&sensors[i], &r->plant);
    must(bramah_noise_new(seed, sensors[i].name, &diag, &noise[i]), &diag);
  }
  for (int k = 0; k < STEPS; k++) {
    double y[MAX_SENSORS];
    const unsigned char present[MAX_SENSORS] = {1, 1, 1, 1, 1};
    const double u = four_bar_command((int64_t)k * 1000000);
    for (size_t i = 0; i < n; i++)
      y[i] = truth[k][measured[i]] + bramah_noise_gaussian(noise[i], sensors[i].sigma);
    must(bramah_filter_correct(filter, y, present, &diag), &diag);
    must(bramah_filter_set_inputs(filter, &u, &diag), &diag);
    for (int i = 0; i < SIGNALS; i++)
      bramah__rmse_add(&rmse[i], truth[k][i], r->plant.output(r->plant.self, r->output[i]),
                       bramah_filter_output_sigma(filter, r->output[i]));
    if (k + 1 < STEPS) must(bramah_filter_predict(filter, &diag), &diag);
  }
  for (size_t i = 0; i < n; i++) bramah_noise_free(noise[i]);
  bramah_filter_free(filter);
}

static void print_row(int set, const bramah__rmse *rmse)
{
  printf("set %d, RMSE %%:", set + 1);
  for (int i = 0; i < SIGNALS; i++) printf(" %6.3f", bramah__rmse_of(&rmse[i]).percent);
  printf("   inside +-1.96 sigma:");
  for (int i = 0; i < SIGNALS; i++) printf(" %.3f", bramah__rmse_of(&rmse[i]).inside);
  printf("\n");
}

/* What makes of a study one by the filter of the papers, which needs more noise where there is no gyro; the transition comes last. */
static const bramah_change by_papers[] = {
    {.path = "filter.preset", .value = "papers"},
    {.path = "joints.crank.acceleration_noise", .value = "0.015 rad/s^2/Hz^0.5"},
    {.path = "volumes.v1.noise", .value = "8 bar/s^0.5"},
    {.path = "volumes.v2.noise", .value = "6 bar/s^0.5"},
    {.path = "volumes.v3.noise", .value = "6 bar/s^0.5"},
    {.path = "filter.transition", .value = "step"}};
enum { WITH_GYRO = 1, WITHOUT_GYRO = 5, BY_STEP = 6 }; /* how many of them */

EACH_TEST(test_sensor_set, 0, 4)
{
  const char *asked = getenv("BRAMAH_SEEDS"); /* fewer under valgrind */
  const uint64_t seeds = asked ? strtoull(asked, NULL, 10) : 20;
  rig r = {0};
  char path[1024];
  bramah__rmse rmse[SIGNALS] = {{0}}, free_run[SIGNALS] = {{0}};
  snprintf(path, sizeof path, "%s/datasets/four-bar/sensors-%d.yaml", root(), _i + 1);
  must(bramah_study_load(path, _i == 0 ? WITHOUT_GYRO : WITH_GYRO, by_papers, &diag, &r.study), &diag);
  open_machine(&r, r.study->machine_file, r.study->n_changes, r.study->changes);
  for (uint64_t seed = 1; seed <= seeds; seed++) run_once(&r, seed, rmse, seed == 1 ? free_run : NULL);
  print_row(_i, rmse);
  for (int i = 0; i < SIGNALS; i++) {
    const double percent = bramah__rmse_of(&rmse[i]).percent;
    ck_assert_double_le(percent, 1.1 * yardstick[_i][i]);
    ck_assert_double_lt(percent, bramah__rmse_of(&free_run[i]).percent);
    const int has_sensor = i != 1 || _i != 0; /* set 1 has no gyro: its rate need not beat one */
    if (has_sensor) ck_assert_double_lt(percent, sensor_alone[i]);
    ck_assert_double_eq_tol(bramah__rmse_of(&free_run[i]).percent, model_alone[i], 0.1 * model_alone[i]);
  }
  if (seeds >= 20)
    for (int i = 0; i < 2; i++) ck_assert_double_ge(bramah__rmse_of(&rmse[i]).inside, 0.90);
  close_machine(&r);
}

/* Errors of a shipped sensor set with so many of these changes. */
static void errors_of(int set, size_t n_changes, bramah__rmse *rmse)
{
  rig r = {0};
  char path[1024];
  snprintf(path, sizeof path, "%s/datasets/four-bar/sensors-%d.yaml", root(), set + 1);
  must(bramah_study_load(path, n_changes, by_papers, &diag, &r.study), &diag);
  open_machine(&r, r.study->machine_file, r.study->n_changes, r.study->changes);
  run_once(&r, 1, rmse, NULL);
  print_row(set, rmse);
  close_machine(&r);
}

/* "... enabled the removal of a pressure sensor from either end of the hydraulic cylinder, which would otherwise have been
 * difficult": it is by the transition of the publication, under which errors of pressures last: the rate is worse than that of the
 * model alone, and the bands do not hold the pressures. By that of the step, where they relax within milliseconds, the two do as
 * well as all three. */
EACH_TEST(test_removal_of_a_pressure_without_gyro, 4, 6)
{
  bramah__rmse paper[SIGNALS] = {{0}}, step[SIGNALS] = {{0}}, all[SIGNALS] = {{0}};
  errors_of(_i, WITHOUT_GYRO, paper);
  errors_of(_i, BY_STEP, step);
  errors_of(0, BY_STEP, all);
  ck_assert_double_gt(bramah__rmse_of(&paper[1]).percent, model_alone[1]);
  ck_assert_double_lt(bramah__rmse_of(&paper[2]).inside, 0.8);
  for (int i = 0; i < SIGNALS; i++)
    ck_assert_double_lt(bramah__rmse_of(&step[i]).percent, 1.3 * bramah__rmse_of(&all[i]).percent);
  for (int i = 0; i < SIGNALS; i++) ck_assert_double_ge(bramah__rmse_of(&step[i]).inside, 0.90);
}

int main(void)
{
  make_truth();
  return run_tests("estimator study");
}
