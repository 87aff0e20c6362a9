/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sessions on the shipped four-bar, with one line of the study changed for each mistake. */
#define _XOPEN_SOURCE 700 /* temporary files */
#include <math.h>

#include "lib/io/session.h"
#include "test/support/run.h"
#include "test/support/text_file.h"

#define DEG (3.14159265358979323846 / 180.0)

enum { N_LINES = 18 };

static const char *source_root(void)
{
  const char *root = getenv("BRAMAH_SOURCE_ROOT");
  return root ? root : ".";
}

static const char *const small_study[N_LINES] = {
    /*  1 */ "study: session",
    /*  2 */ "machine: four-bar.yaml",
    /*  3 */ "changes:",
    /*  4 */ "  bodies.crank.mass: 150 kg",
    /*  5 */ "inputs: {valve: volts}",
    /*  6 */ "sensors:",
    /*  7 */ "  angle: {type: encoder, joint: crank, sigma: 1 deg}",
    /*  8 */ "  p2: {type: pressure, volume: v2, sigma: 0.5 bar}",
    /*  9 */ "filter: {transition: step}",
    /* 10 */ "augmented:",
    /* 11 */ "  zero: {bias_of: angle, sigma: 1 deg, noise: 0.1 deg/s^0.5}",
    /* 12 */ "joints:",
    /* 13 */
    ("  crank: {position: 63 deg, rate: 0 rad/s, position_sigma: 3 deg, rate_sigma: 0.1 rad/s, "
     "acceleration_noise: 0.002 rad/s^2/Hz^0.5}"),
    /* 14 */ "volumes:",
    /* 15 */ "  v1: {sigma: 1 bar, noise: 0.5 bar/s^0.5}",
    /* 16 */ "  v2: {sigma: 2 bar, noise: 0.5 bar/s^0.5}",
    /* 17 */ "  v3: {sigma: 3 bar, noise: 0.7 bar/s^0.5}",
    /* 18 */ "",
};

/* The study lies in a scratch file; the machine it names, in the tree. */
static void write_session(int line, const char *with)
{
  static char machine[1024];
  const char *lines[N_LINES];
  snprintf(machine, sizeof machine, "machine: %s/datasets/four-bar/four-bar.yaml", source_root());
  for (int i = 0; i < N_LINES; i++) lines[i] = i == 1 ? machine : small_study[i];
  write_lines(lines, N_LINES, line, with);
}

static bramah_session *open_well(void)
{
  bramah_session *session;
  bramah_diag diag;
  const bramah_status status = bramah_session_open(path, &diag, &session);
  ck_assert_msg(status == BRAMAH_OK, "%d:%d: %s: %s", diag.line, diag.column, diag.thing, diag.message);
  return session;
}

TEST(the_filter_stands_where_the_study_says)
{
  bramah_session *s;
  write_session(0, NULL);
  s = open_well();
  const bramah_plant *plant = bramah_session_plant(s);
  const size_t angle = (size_t)bramah_plant_find_output(plant, "crank.angle");
  ck_assert_double_eq_tol(plant->output(plant->self, angle), 63.0 * DEG, 1e-12);
  ck_assert_double_eq_tol(bramah_filter_output_sigma(bramah_session_filter(s), angle), 3.0 * DEG, 1e-12);
  const size_t p3 = (size_t)bramah_plant_find_output(plant, "v3.pressure");
  ck_assert_double_eq_tol(bramah_filter_output_sigma(bramah_session_filter(s), p3), 3e5, 1e-6);
  ck_assert_uint_eq(bramah_filter_get_info(bramah_session_filter(s)).n_sensors, 2);
  ck_assert_uint_eq(bramah_filter_get_info(bramah_session_filter(s)).n_augmented,
                    1 + bramah_session_about(s)->n_budget);
  ck_assert_double_eq_tol(bramah_filter_get_augmented(bramah_session_filter(s), 0).sigma, DEG, 1e-15);
  ck_assert_str_eq(bramah_session_about(s)->augmented_unit[0], "rad");
  ck_assert_int_eq(bramah_filter_time_ns(bramah_session_filter(s)), 0);
  bramah_session_close(s);
}

TEST(changes_of_the_study_are_in_the_machine)
{
  bramah_session *s;
  write_session(0, NULL);
  s = open_well();
  double mass = 0.0;
  for (size_t i = 0; i < bramah_session_about(s)->machine->machine->n_bodies; i++)
    if (strcmp(bramah_session_about(s)->machine->machine->bodies[i].name, "crank") == 0)
      mass = bramah_session_about(s)->machine->machine->bodies[i].mass;
  ck_assert_double_eq(mass, 150.0);
  bramah_session_close(s);
}

/* Two of one file are two: what one estimates does not move the other; a new filter on the options of one
 * says the same to the bit. */
TEST(sessions_share_nothing)
{
  bramah_session *a, *b;
  bramah_diag diag;
  write_session(0, NULL);
  a = open_well();
  b = open_well();
  const double u = 1.0, y[2] = {61.0 * DEG, 60e5};
  const unsigned char present[2] = {1, 1};
  const size_t angle = (size_t)bramah_plant_find_output(bramah_session_plant(a), "crank.angle");
  for (int64_t k = 1; k <= 5; k++) {
    const bramah_filter_cycle cycle = {k * bramah_session_plant(a)->step_ns, 1, &u, 2, y, present, NULL};
    ck_assert_int_eq(bramah_filter_step(bramah_session_filter(a), &cycle, NULL, &diag), BRAMAH_OK);
  }
  ck_assert_double_lt(bramah_session_plant(a)->output(bramah_session_plant(a)->self, angle), 62.0 * DEG);
  ck_assert_double_eq_tol(bramah_session_plant(b)->output(bramah_session_plant(b)->self, angle), 63.0 * DEG,
                          1e-12);
  for (int64_t k = 1; k <= 5; k++) {
    const bramah_filter_cycle cycle = {k * bramah_session_plant(b)->step_ns, 1, &u, 2, y, present, NULL};
    ck_assert_int_eq(bramah_filter_step(bramah_session_filter(b), &cycle, NULL, &diag), BRAMAH_OK);
  }
  ck_assert_double_eq(bramah_session_plant(a)->output(bramah_session_plant(a)->self, angle),
                      bramah_session_plant(b)->output(bramah_session_plant(b)->self, angle));
  bramah_session_close(b);
  bramah_session_close(a);
}

/* A plant of the same model put to the start, and another filter on it. */
TEST(another_filter_comes_from_the_options)
{
  bramah_session *s;
  bramah_diag diag;
  bramah_coupled *coupled;
  bramah_filter *filter;
  write_session(0, NULL);
  s = open_well();
  ck_assert_int_eq(bramah_coupled_new(bramah_session_about(s)->machine->model, &diag, &coupled), BRAMAH_OK);
  ck_assert_int_eq(bramah_session_start(s, coupled, &diag), BRAMAH_OK);
  const bramah_plant plant = bramah_coupled_plant(coupled);
  bramah_filter_options options = bramah_session_about(s)->options;
  options.form = BRAMAH_COVARIANCE_SQUARE_ROOT;
  ck_assert_int_eq(bramah_filter_new(&plant, 2, bramah_session_about(s)->sensors, &options, &diag, &filter),
                   BRAMAH_OK);
  const size_t angle = (size_t)bramah_plant_find_output(&plant, "crank.angle");
  ck_assert_double_eq(plant.output(plant.self, angle),
                      bramah_session_plant(s)->output(bramah_session_plant(s)->self, angle));
  ck_assert_double_eq_tol(bramah_filter_output_sigma(filter, angle), 3.0 * DEG, 1e-9);
  bramah_filter_free(filter);
  bramah_coupled_free(coupled);
  bramah_session_close(s);
}

/* A clone begins at the start whatever the first one has seen, and what it sees moves only itself. */
TEST(a_clone_has_plant_and_filter_of_its_own)
{
  bramah_session *s, *clone;
  bramah_diag diag;
  write_session(0, NULL);
  s = open_well();
  const bramah_plant *plant = bramah_session_plant(s);
  const double u = 1.0, y[2] = {61.0 * DEG, 60e5};
  const unsigned char present[2] = {1, 1};
  const bramah_filter_cycle cycle = {plant->step_ns, 1, &u, 2, y, present, NULL};
  const size_t angle = bramah_session_about(s)->joint_output[0];
  ck_assert_int_eq(bramah_filter_step(bramah_session_filter(s), &cycle, NULL, &diag), BRAMAH_OK);
  const double first = plant->output(plant->self, angle);
  ck_assert_int_eq(bramah_session_clone(s, &diag, &clone), BRAMAH_OK);
  const bramah_plant *own = bramah_session_plant(clone);
  ck_assert_ptr_eq(bramah_session_about(clone)->machine->model, bramah_session_about(s)->machine->model);
  ck_assert_double_eq(own->output(own->self, angle), bramah_session_about(s)->joint_start[0]);
  ck_assert_int_eq(bramah_filter_step(bramah_session_filter(clone), &cycle, NULL, &diag), BRAMAH_OK);
  ck_assert_double_eq(own->output(own->self, angle), first);
  ck_assert_int_eq(bramah_filter_step(bramah_session_filter(clone),
                                      &(bramah_filter_cycle){2 * plant->step_ns, 1, &u, 2, y, present, NULL},
                                      NULL, &diag),
                   BRAMAH_OK);
  ck_assert_double_eq(plant->output(plant->self, angle), first);
  bramah_session_close(clone);
  bramah_session_close(s);
}

TEST(sensors_are_found_by_what_they_show)
{
  write_session(0, NULL);
  bramah_session *s = open_well();
  ck_assert_str_eq(bramah_session_about(s)->sensors[1].name, "p2");
  ck_assert_int_eq(bramah__session_sensor_of_output(s, bramah_session_about(s)->joint_output[0]), 0);
  ck_assert_int_eq(bramah__session_sensor_of_output(s, bramah_session_about(s)->joint_output[0] + 1), -1);
  bramah_session_close(s);
}

static const struct {
  int line;
  const char *with;
  bramah_status status;
  const char *thing, *message;
} mistakes[] = {
    {2, "machine: nowhere.yaml", BRAMAH_E_FILE, NULL, NULL},
    {4, "  bodies.crank.mas: 150 kg", BRAMAH_E_KEY, NULL, "mass"},
    {5, "inputs: {valv: volts}", BRAMAH_E_REFERENCE, "valv", "did you mean 'valve'?"},
    {7, "  angle: {type: encoder, joint: crunk, sigma: 1 deg}", BRAMAH_E_REFERENCE, NULL, "crank"},
    {9, "filter: {transition: paper}", BRAMAH_OK, NULL, NULL},
    {11, "  zero: {bias_of: angle, sigma: 1 bar, noise: 0.1 deg/s^0.5}", BRAMAH_E_UNIT,
     "augmented.zero.sigma", NULL},
    {11, "  zero: {parameter: hydraulics.oil.bulk, sigma: 1 bar}", BRAMAH_E_REFERENCE,
     "augmented.zero.parameter", NULL},
    {13,
     "  crank: {position: 63 mm, rate: 0 m/s, position_sigma: 3 mm, rate_sigma: 1 mm/s, acceleration_noise: "
     "0.002 m/s^2/Hz^0.5}",
     BRAMAH_E_UNIT, "crank", "this joint turns"},
    {13,
     "  wheel: {position: 63 deg, rate: 0 rad/s, position_sigma: 3 deg, rate_sigma: 0.1 rad/s, "
     "acceleration_noise: 0.002 rad/s^2/Hz^0.5}",
     BRAMAH_E_REFERENCE, "wheel", "it has: "},
    {16, "", BRAMAH_E_KEY, "volumes", "volume 'v2' of the machine is missing"},
    {16, "  v9: {sigma: 2 bar, noise: 0.5 bar/s^0.5}", BRAMAH_E_REFERENCE, "v9", "did you mean"},
};

enum { N_MISTAKES = sizeof mistakes / sizeof mistakes[0] };

EACH_TEST(mistakes_are_told_with_their_place, 0, N_MISTAKES)
{
  bramah_session *s;
  bramah_diag diag;
  write_session(mistakes[_i].line, mistakes[_i].with);
  const bramah_status status = bramah_session_open(path, &diag, &s);
  ck_assert_msg(status == mistakes[_i].status, "status %d: %s: %s", status, diag.thing, diag.message);
  if (status) {
    ck_assert_ptr_null(s);
    ck_assert_str_ne(diag.file, "");
    if (mistakes[_i].thing) ck_assert_str_eq(diag.thing, mistakes[_i].thing);
    if (mistakes[_i].message) ck_assert_msg(strstr(diag.message, mistakes[_i].message), "%s", diag.message);
  }
  bramah_session_close(s);
}

static void count(void *user, const bramah_diag *diag)
{
  ck_assert_str_ne(diag->message, "");
  ++*(int *)user;
}

/* The check finds what opening finds, and goes on. */
EACH_TEST(the_check_tells_mistakes, 0, N_MISTAKES)
{
  int n = 0;
  write_session(mistakes[_i].line, mistakes[_i].with);
  bramah_file_kind kind;
  ck_assert_int_eq(bramah_file_check(path, count, &n, &kind), mistakes[_i].status);
  ck_assert_int_eq(kind, BRAMAH_FILE_STUDY);
  if (mistakes[_i].status)
    ck_assert_int_ge(n, 1);
  else
    ck_assert_int_eq(n, 0);
}

TEST(the_check_tells_all_mistakes)
{
  int n = 0;
  write_session(5, "inputs: {valv: volts}\nparameter_noise: {hydraulics.oil.bulk: 1 bar/Hz^0.5}");
  ck_assert_int_eq(bramah_file_check(path, count, &n, NULL), BRAMAH_E_REFERENCE);
  ck_assert_int_eq(n, 2);
}

/* The caller may not care why. */
EACH_TEST(a_diagnostic_is_not_needed, 0, N_MISTAKES)
{
  bramah_session *s;
  write_session(mistakes[_i].line, mistakes[_i].with);
  ck_assert_int_eq(bramah_session_open(path, NULL, &s), mistakes[_i].status);
  bramah_session_close(s);
}

TEST(noise_adapts_where_the_study_asks)
{
  bramah_session *s;
  bramah_diag diag;
  bramah_adaptive *adaptive;
  write_session(0, NULL);
  s = open_well();
  ck_assert_int_eq(bramah_session_new_adaptive(s, &diag, &adaptive), BRAMAH_OK);
  ck_assert_ptr_null(adaptive);
  bramah_session_close(s);
  write_session(18, "adapt: {accelerations: [0.1, 10], sensors: [0.5, 2], window: 100}");
  s = open_well();
  ck_assert_int_eq(bramah_session_new_adaptive(s, &diag, &adaptive), BRAMAH_OK);
  ck_assert_uint_eq(bramah_adaptive_get_report(adaptive).n_values, 3); /* one acceleration, two sensors */
  bramah_adaptive_free(adaptive);
  bramah_session_close(s);
}

/* With these densities of the pressures, which are asked to adapt. */
static bramah_status adapt_pressures(const char *volumes, size_t *count, bramah_diag *diag)
{
  const char *lines[15];
  static char machine[1024];
  bramah_session *s;
  bramah_adaptive *adaptive;
  snprintf(machine, sizeof machine, "machine: %s/datasets/four-bar/four-bar.yaml", source_root());
  for (int i = 0; i < 13; i++) lines[i] = i == 1 ? machine : small_study[i];
  lines[13] = volumes;
  lines[14] = "adapt: {pressures: [0.1, 10]}";
  write_lines(lines, 15, 0, NULL);
  s = open_well();
  const bramah_status status = bramah_session_new_adaptive(s, diag, &adaptive);
  *count = adaptive ? bramah_adaptive_get_report(adaptive).n_values : 0;
  bramah_adaptive_free(adaptive);
  bramah_session_close(s);
  return status;
}

TEST(noise_of_zero_does_not_adapt)
{
  bramah_diag diag;
  size_t count;
  ck_assert_int_eq(adapt_pressures("volumes: {v1: {sigma: 1 bar, noise: 0 bar/s^0.5}, v2: {sigma: 1 bar, "
                                   "noise: 1 bar/s^0.5}, v3: {sigma: 1 bar, noise: 1 bar/s^0.5}}",
                                   &count, &diag),
                   BRAMAH_OK);
  ck_assert_uint_eq(count, 2);
  ck_assert_int_eq(adapt_pressures("volumes: {v1: {sigma: 1 bar, noise: 0 bar/s^0.5}, v2: {sigma: 1 bar, "
                                   "noise: 0 bar/s^0.5}, v3: {sigma: 1 bar, noise: 0 bar/s^0.5}}",
                                   &count, &diag),
                   BRAMAH_E_VALUE);
  ck_assert_uint_eq(count, 0);
  ck_assert_int_eq(diag.line, 15);
  ck_assert_str_eq(diag.file, path);
}

TEST(a_missing_study_is_told)
{
  bramah_session *s;
  bramah_diag diag;
  ck_assert_int_eq(bramah_session_open(beside_path("no-such-study.yaml"), &diag, &s), BRAMAH_E_FILE);
  ck_assert_ptr_nonnull(strstr(diag.file, "no-such-study.yaml"));
  bramah_session_close(s);
}

int main(void) { return run_tests_with("session", make_path, remove_path); }
