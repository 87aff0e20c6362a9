/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Exact derivatives and finite differences on the shipped machines, along their planned motions: those of accelerations (the
 * transition of the papers) and those of whole steps, which are what a plant without derivatives gets. Transitions
 * agree to 1e-6, and the estimates of the two filters to 1e-4 of their standard deviations, uncertainty budget and gates
 * included. (Quasistatic cylinders, whose ideal valves make kinks: test/jacobian/test_transition.c.) */
#include "bramah/log.h"
#include "bramah/session.h"
#include "test/support/four_bar.h"
#include "test/support/run.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { STEPS = 1100, EVERY = 50, MOST_SENSORS = 16 };

/* The last one states an uncertainty, which the transition of the papers refuses. */
static const char *const studies[] = {"four-bar/sensors-1.yaml",   "four-bar/sensors-3.yaml",
                                      "crane/gripper-load.yaml",   "lifting-four-bar/sensors.yaml",
                                      "quick-return/sensors.yaml", "manipulator/imus.yaml"};

static bramah_diag diag;

/* Newton's iteration ends where rounding does: what it leaves would be in the differences. */
static const bramah_change tight[] = {{.path = "integrator.position_tolerance", .value = "1e-12"},
                                      {.path = "integrator.pressure_tolerance", .value = "1e-6 Pa"}};

static bramah_session *open_study(const char *name, const char *preset)
{
  const char *root = getenv("BRAMAH_SOURCE_ROOT");
  const bramah_change change = {.path = "filter.preset", .value = preset};
  char path[512];
  bramah_study *study;
  bramah_session *session;
  snprintf(path, sizeof path, "%s/datasets/%s", root ? root : ".", name);
  must(bramah_study_load(path, 1, &change, &diag, &study), &diag);
  study->n_changes = sizeof tight / sizeof tight[0];
  study->changes = tight;
  must(bramah_session_new(study, 0, &diag, &session), &diag);
  return session;
}

/* The filter of a study with exact derivatives or with differences; of steps the noise is that of a plant without derivatives
 * for both. */
static bramah_filter *filter_of(const bramah_session *session, bramah_transition transition, int exact)
{
  bramah_filter_options options = bramah_session_about(session)->options;
  bramah_plant plant = *bramah_session_plant(session);
  bramah_filter *filter;
  options.transition = transition;
  options.discretisation = BRAMAH_DISCRETISATION_PUBLISHED;
  if (transition == BRAMAH_TRANSITION_STEP && !exact) plant.step_transition = NULL;
  if (transition == BRAMAH_TRANSITION_KINEMATIC && exact)
    options.transition = BRAMAH_TRANSITION_KINEMATIC_EXACT;
  must(bramah_filter_new(&plant, bramah_session_study(session)->n_sensors,
                         bramah_session_about(session)->sensors, &options, &diag, &filter),
       &diag);
  return filter;
}

/* Entries in units of the standard deviations that the states have at the start. */
static void compare_transitions(bramah_filter *const *filter, const double *sigma, double tolerance)
{
  const size_t n = bramah_filter_get_info(filter[0]).n_error;
  const double *exact = bramah_filter_get_last(filter[0]).transition,
               *differenced = bramah_filter_get_last(filter[1]).transition;
  for (size_t r = 0; r < n; r++)
    for (size_t k = 0; k < n; k++) {
      const double scale = sigma[k] / sigma[r], a = exact[r * n + k] * scale,
                   b = differenced[r * n + k] * scale;
      ck_assert_msg(fabs(a - b) <= tolerance * fmax(1.0, fabs(a)), "F[%zu, %zu]: %.10g and %.10g at %g s", r,
                    k, a, b, 1e-9 * (double)bramah_filter_time_ns(filter[0]));
    }
}

/* Every output that has a standard deviation, and the augmented states. */
static void compare_estimates(bramah_filter *const *filter, double tolerance)
{
  const bramah_plant *plant[2] = {bramah_filter_get_info(filter[0]).plant,
                                  bramah_filter_get_info(filter[1]).plant};
  size_t compared = 0;
  for (size_t i = 0; i < plant[0]->n_output; i++) {
    bramah_output_info info;
    bramah_plant_output_info(plant[0], i, &info);
    if (info.kind != BRAMAH_OUTPUT_POSITION && info.kind != BRAMAH_OUTPUT_RATE &&
        info.kind != BRAMAH_OUTPUT_FIRST_ORDER)
      continue;
    const double sigma = bramah_filter_output_sigma(filter[0], i);
    const double apart = plant[0]->output(plant[0]->self, i) - plant[1]->output(plant[1]->self, i);
    ck_assert_msg(fabs(apart) <= tolerance * sigma, "%s: %g sigma apart", info.name, apart / sigma);
    ck_assert_double_eq_tol(bramah_filter_output_sigma(filter[1], i) / sigma, 1.0, tolerance);
    compared++;
  }
  ck_assert_uint_ge(compared, 4);
  for (size_t i = 0; i < bramah_filter_get_info(filter[0]).n_augmented; i++) {
    const bramah_filter_augmented a = bramah_filter_get_augmented(filter[0], i),
                                  b = bramah_filter_get_augmented(filter[1], i);
    ck_assert_msg(fabs(a.value - b.value) <= tolerance * a.sigma && a.is_estimated == b.is_estimated,
                  "%s: %g sigma apart", bramah_filter_get_info(filter[0]).augmented[i].name,
                  (a.value - b.value) / a.sigma);
  }
}

static void run_both(const char *name, const char *preset, bramah_transition transition)
{
  bramah_session *session[3]; /* of the truth, the exact filter, the other */
  bramah_filter *filter[2];
  bramah_schedule *schedule;
  bramah_noise *noise[MOST_SENSORS];
  double sigma[64], y[MOST_SENSORS];
  unsigned char present[MOST_SENSORS];
  session[0] = open_study(name, preset);
  const bramah_session_parts *parts = bramah_session_about(session[0]);
  const bramah_plant *truth = bramah_session_plant(session[0]);
  const size_t n_sensors = bramah_session_study(session[0])->n_sensors;
  for (int i = 0; i < 2; i++) {
    must(bramah_session_clone(session[0], &diag, &session[1 + i]), &diag);
    filter[i] = filter_of(session[1 + i], transition, i == 0);
  }
  must(bramah_schedule_new(parts->machine->machine, parts->machine->model, &diag, &schedule), &diag);
  for (size_t i = 0; i < n_sensors; i++)
    must(bramah_noise_new(1, parts->sensors[i].name, &diag, &noise[i]), &diag);
  const size_t n = bramah_filter_get_info(filter[0]).n_error;
  for (size_t k = 0; k < n; k++) sigma[k] = sqrt(bramah_filter_covariance(filter[0])[k * n + k]);

  for (int step = 0; step < STEPS; step++) {
    const double *u = bramah_schedule_at(schedule, (int64_t)step * truth->step_ns);
    must(truth->set_inputs(truth->self, u, &diag), &diag);
    must(truth->step(truth->self, &diag), &diag);
    for (size_t i = 0; i < n_sensors; i++) {
      y[i] = bramah_sensor_predict(&parts->sensors[i], truth) +
             bramah_noise_gaussian(noise[i], parts->sensors[i].sigma);
      present[i] = 1;
    }
    for (int i = 0; i < 2; i++) {
      must(bramah_filter_set_inputs(filter[i], u, &diag), &diag);
      must(bramah_filter_predict(filter[i], &diag), &diag);
    }
    if (step % EVERY == 0) compare_transitions(filter, sigma, 1e-6);
    for (int i = 0; i < 2; i++) must(bramah_filter_correct(filter[i], y, present, &diag), &diag);
    if (step % EVERY == 0) compare_estimates(filter, 1e-4);
  }
  for (size_t i = 0; i < n_sensors; i++) bramah_noise_free(noise[i]);
  for (int i = 0; i < 2; i++) bramah_filter_free(filter[i]);
  for (int i = 2; i >= 0; i--) bramah_session_close(session[i]);
  bramah_schedule_free(schedule);
}

EACH_TEST(test_steps, 0, sizeof studies / sizeof studies[0])
{
  run_both(studies[_i], "default", BRAMAH_TRANSITION_STEP);
}

EACH_TEST(test_accelerations, 0, sizeof studies / sizeof studies[0] - 1)
{
  run_both(studies[_i], "papers", BRAMAH_TRANSITION_KINEMATIC);
}

int main(void) { return run_tests("differences"); }
