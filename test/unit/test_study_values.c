/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A study in memory: its values are found, set and copied, and its files are read once. */
#define _XOPEN_SOURCE 700 /* temporary files */
#include <math.h>

#include "lib/io/session.h"
#include "test/support/run.h"
#include "test/support/text_file.h"

enum { N_LINES = 14 };

static const char *const small_study[N_LINES] = {
    /*  1 */ "study: values",
    /*  2 */ "machine: four-bar.yaml",
    /*  3 */ "changes: {bodies.crank.mass: 150 kg}",
    /*  4 */ "sensors:",
    /*  5 */ "  angle: {type: encoder, joint: crank, sigma: 1 deg, rate: 1 kHz}",
    /*  6 */ "  p2: {type: pressure, volume: v2, sigma: 0.5 bar}",
    /*  7 */ "filter: {transition: step, iterations: 2}",
    /*  8 */ "augmented: {zero: {bias_of: angle, sigma: 1 deg, noise: 0.1 deg/s^0.5}}",
    /*  9 */ "joints:",
    /* 10 */
    ("  crank: {position: 63 deg, position_sigma: 3 deg, rate_sigma: 0.1 rad/s, "
     "acceleration_noise: 0.002 rad/s^2/Hz^0.5}"),
    /* 11 */ "volumes:",
    /* 12 */ "  v1: {sigma: 1 bar, noise: 0.5 bar/s^0.5}",
    /* 13 */ "  v2: {sigma: 2 bar, noise: 0.5 bar/s^0.5}",
    /* 14 */ "  v3: {sigma: 3 bar, noise: 0.7 bar/s^0.5}",
};

static void write_study(int line, const char *with)
{
  static char machine[1024];
  const char *lines[N_LINES], *root = getenv("BRAMAH_SOURCE_ROOT");
  snprintf(machine, sizeof machine, "machine: %s/datasets/four-bar/four-bar.yaml", root ? root : ".");
  for (int i = 0; i < N_LINES; i++) lines[i] = i == 1 ? machine : small_study[i];
  write_lines(lines, N_LINES, line, with);
}

static bramah_study *load(void)
{
  bramah_diag diag;
  bramah_study *study = NULL;
  ck_assert_msg(bramah_study_load(path, 0, NULL, &diag, &study) == BRAMAH_OK, "%s", diag.message);
  return study;
}

static bramah_study_ref find(bramah_study *study, const char *place)
{
  bramah_diag diag;
  bramah_study_ref ref;
  ck_assert_msg(bramah_study_find(study, place, &ref, &diag) == BRAMAH_OK, "%s", diag.message);
  return ref;
}

static bramah_status set(bramah_study *study, const bramah_study_ref *ref, double si, bramah_diag *diag)
{
  return bramah_study_set(study, 1, &(bramah_study_setting){.ref = ref, .si = si}, diag);
}

TEST(a_reference_says_what_is_there)
{
  write_study(0, NULL);
  bramah_study *study = load();
  const bramah_study_ref noise = find(study, "volumes.v1.noise");
  ck_assert_str_eq(noise.text, "0.5 bar/s^0.5");
  ck_assert_str_eq(noise.unit, "bar/s^0.5");
  ck_assert_double_eq(noise.number, 0.5);
  ck_assert_double_eq(noise.factor, 1e5);
  ck_assert_int_eq(noise.is_number, 1);
  ck_assert_int_eq(noise.line, 12);
  ck_assert_int_eq(noise.dimension.m, -2);
  const bramah_study_ref word = find(study, "filter.transition");
  ck_assert_int_eq(word.is_number, 0);
  const bramah_study_ref mass = find(study, "machine.bodies.crank.mass"); /* the study's change */
  ck_assert_str_eq(mass.text, "150 kg");
  ck_assert_int_eq(mass.in_machine, 1);
  bramah_study_free(study);
}

/* The state of the uncertainty budget with this name. */
static const bramah_augmented *budget_of(const bramah_session *session, const char *name)
{
  const bramah_session_parts *parts = bramah_session_about(session);
  const bramah_augmented *states = parts->options.augmented, *found = NULL;
  for (size_t i = parts->options.n_augmented - parts->n_budget; i < parts->options.n_augmented; i++)
    if (strcmp(states[i].name, name) == 0) found = &states[i];
  return found;
}

TEST(a_value_that_is_set_keeps_its_share)
{
  bramah_session *session;
  bramah_diag diag;
  write_study(
      3, "changes: {bodies.crank.mass: 150 kg ± 10 %, bodies.rocker.mass: 30 ± 2 kg}\nuncertainty: default");
  bramah_study *study = load();
  const bramah_study_ref mass = find(study, "machine.bodies.crank.mass");
  ck_assert_str_eq(mass.text, "150 kg");
  ck_assert_double_eq(mass.number, 150.0);
  ck_assert_int_eq(set(study, &mass, 200.0, &diag), BRAMAH_OK);
  ck_assert_int_eq(bramah_session_new(study, 0, &diag, &session), BRAMAH_OK);
  ck_assert_double_eq(bramah_session_about(session)->machine->machine->bodies[0].mass, 200.0);
  ck_assert_double_eq_tol(budget_of(session, "crank.payload")->sigma, 20.0, 1e-12);
  ck_assert_double_eq_tol(budget_of(session, "rocker.payload")->sigma, 2.0, 1e-12);
  ck_assert_double_eq_tol(budget_of(session, "coupler.payload")->sigma, 0.1 * 64.0, 1e-12);

  /* Behind what the study lists, which is not listed twice. */
  const bramah_session_parts *parts = bramah_session_about(session);
  const bramah_augmented *p2 = budget_of(session, "p2.bias");
  ck_assert_uint_eq(parts->options.n_augmented, parts->n_budget + 1);
  ck_assert_str_eq(parts->options.augmented[0].name, "zero");
  ck_assert_int_eq(parts->options.augmented[0].role, BRAMAH_AUGMENTED_ESTIMATED);
  ck_assert_ptr_null(budget_of(session, "angle.bias"));
  ck_assert_int_eq(p2->role, BRAMAH_AUGMENTED_AUTO);
  ck_assert_str_eq(p2->at, "p2");
  ck_assert(p2->sigma == 0.5e5 && p2->noise == 0.1e5);
  ck_assert_str_eq(parts->augmented_unit[p2 - parts->options.augmented], "Pa");
  ck_assert_int_eq(parts->is_stated[p2 - parts->options.augmented - 1], 0);
  ck_assert_int_eq(parts->is_stated[budget_of(session, "crank.payload") - parts->options.augmented - 1], 1);
  bramah_session_close(session);
}

static const struct {
  const char *place;
  bramah_status status;
  const char *message;
} wrong_places[] = {{"volumes.v1.nose", BRAMAH_E_KEY, "did you mean 'noise'?"},
                    {"volumes.v1", BRAMAH_E_VALUE, "a single value"},
                    {"volumes..noise", BRAMAH_E_KEY, "keys joined by dots"},
                    {"machine.bodies.crank.mas", BRAMAH_E_KEY, "did you mean 'mass'?"},
                    {"volumes.v1.noise.x", BRAMAH_E_KEY, "the file has no 'x'"}};

EACH_TEST(wrong_places_are_told, 0, sizeof wrong_places / sizeof wrong_places[0])
{
  bramah_diag diag;
  bramah_study_ref ref;
  write_study(0, NULL);
  bramah_study *study = load();
  ck_assert_int_eq(bramah_study_find(study, wrong_places[_i].place, &ref, &diag), wrong_places[_i].status);
  ck_assert_msg(strstr(diag.message, wrong_places[_i].message), "%s", diag.message);
  bramah_study_free(study);
}

/* All kinds of readers: plain, nanoseconds, whole numbers, units that the machine knows. */
TEST(values_are_set)
{
  bramah_diag diag;
  bramah_session *session;
  write_study(0, NULL);
  bramah_study *study = load();
  const bramah_study_ref noise = find(study, "volumes.v1.noise"), rate = find(study, "sensors.angle.rate"),
                         count = find(study, "filter.iterations"), word = find(study, "filter.transition"),
                         zero = find(study, "augmented.zero.sigma"),
                         mass = find(study, "machine.bodies.crank.mass");
  const bramah_study_setting settings[] = {{.ref = &noise, .si = 7e4}, {.ref = &rate, .si = 500.0},
                                           {.ref = &count, .si = 3.0}, {.ref = &word, .text = "paper"},
                                           {.ref = &zero, .si = 0.25}, {.ref = &mass, .si = 99.0},
                                           {.ref = &noise, .si = 8e4}};
  ck_assert_msg(bramah_study_set(study, 7, settings, &diag) == BRAMAH_OK, "%s", diag.message);
  ck_assert_double_eq(study->volumes[0].noise, 8e4);
  ck_assert_int_eq(study->sensors[0].period_ns, 2000000);
  ck_assert_int_eq(study->iterations, 3);
  ck_assert_int_eq(study->transition, BRAMAH_TRANSITION_KINEMATIC);
  ck_assert_double_eq(study->volumes[1].noise, 0.5e5); /* all else as it was */
  ck_assert_msg(bramah_session_new(study, 0, &diag, &session) == BRAMAH_OK, "%s", diag.message);
  const bramah_machine *machine = bramah_session_about(session)->machine->machine;
  for (size_t i = 0; i < machine->n_bodies; i++)
    if (strcmp(machine->bodies[i].name, "crank") == 0) ck_assert_double_eq(machine->bodies[i].mass, 99.0);
  ck_assert_double_eq(bramah_session_about(session)->options.augmented[0].sigma, 0.25);
  bramah_session_close(session);
}

static const struct {
  const char *place;
  double si;
  const char *message;
} wrong_values[] = {{"volumes.v1.sigma", -1.0, "must be positive"},
                    {"filter.iterations", 2.5, "whole number"},
                    {"filter.transition", 1.0, "no number can be set here"},
                    {"sensors.p2.volume", 1.0, "no number can be set here"}};

/* A value that cannot be leaves the study as it was, and is told with its line. */
EACH_TEST(wrong_values_change_nothing, 0, sizeof wrong_values / sizeof wrong_values[0])
{
  bramah_diag diag;
  write_study(0, NULL);
  bramah_study *study = load();
  const bramah_study_ref ref = find(study, wrong_values[_i].place), noise = find(study, "volumes.v1.noise");
  const bramah_study_setting settings[] = {{.ref = &noise, .si = 1.0},
                                           {.ref = &ref, .si = wrong_values[_i].si}};
  ck_assert_int_eq(bramah_study_set(study, 2, settings, &diag), BRAMAH_E_VALUE);
  ck_assert_msg(strstr(diag.message, wrong_values[_i].message), "%s", diag.message);
  ck_assert_int_eq(diag.line, ref.line);
  ck_assert_double_eq(study->volumes[0].noise, 0.5e5);
  ck_assert_double_eq(study->volumes[0].sigma, 1e5);
  ck_assert_int_eq(set(study, &noise, 2e4, &diag), BRAMAH_OK); /* and can be set again */
  ck_assert_double_eq(study->volumes[0].noise, 2e4);
  bramah_study_free(study);
}

TEST(copies_have_values_of_their_own)
{
  bramah_diag diag;
  bramah_study *copy;
  write_study(0, NULL);
  bramah_study *study = load();
  const bramah_study_ref noise = find(study, "volumes.v1.noise"), sigma = find(study, "volumes.v1.sigma");
  ck_assert_int_eq(set(study, &noise, 2e4, &diag), BRAMAH_OK);
  ck_assert_int_eq(bramah_study_copy(study, &diag, &copy), BRAMAH_OK);
  ck_assert_double_eq(copy->volumes[0].noise, 2e4);
  ck_assert_int_eq(set(copy, &sigma, 3e5, &diag), BRAMAH_OK);
  ck_assert_double_eq(copy->volumes[0].sigma, 3e5);
  ck_assert_double_eq(study->volumes[0].sigma, 1e5);
  bramah_study_free(copy);
  bramah_study_free(study);
}

/* What happens to the files after they were read does not matter; what is in memory has a number. */
TEST(files_are_read_once)
{
  bramah_diag diag;
  bramah_study *copy;
  uint64_t before, after, other;
  write_study(0, NULL);
  bramah_study *study = load();
  const bramah_study_ref noise = find(study, "volumes.v1.noise");
  ck_assert_int_eq(bramah__study_hash(study, &before, &diag), BRAMAH_OK);
  write_study(7, "filter: {transition: paper}");
  ck_assert_int_eq(bramah_study_copy(study, &diag, &copy), BRAMAH_OK);
  ck_assert_int_eq(set(copy, &noise, 2e4, &diag), BRAMAH_OK);
  ck_assert_int_eq(copy->transition, BRAMAH_TRANSITION_STEP);
  ck_assert_int_eq(bramah__study_hash(study, &after, &diag), BRAMAH_OK);
  ck_assert_uint_eq(before, after);
  ck_assert_int_eq(bramah__study_hash(copy, &other, &diag), BRAMAH_OK);
  ck_assert_uint_ne(before, other);
  remove_path();
  bramah_study_free(copy);
  ck_assert_int_eq(bramah_study_copy(study, &diag, &copy), BRAMAH_OK);
  bramah_study_free(copy);
  bramah_study_free(study);
  make_path();
}

int main(void) { return run_tests_with("study values", make_path, remove_path); }
