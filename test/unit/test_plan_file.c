/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _XOPEN_SOURCE 700 /* temporary files */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/io/session.h"
#include "test/support/run.h"
#include "test/support/text_file.h"

#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

enum { N_LINES = 16 };

/* A correct plan; each error case replaces one line of it. */
static const char *const small_plan[N_LINES] = {
    /*  1 */ "plan: small plan",
    /*  2 */ "machine: machines/small.yaml",
    /*  3 */ "changes: {bodies.crank.mass: 18 kg}",
    /*  4 */ "duration: 2500 ms",
    /*  5 */ "step: 0.5 ms",
    /*  6 */ "settle: 1 s",
    /*  7 */ "seeds: 7",
    /*  8 */ "rates: [1 kHz, 200 Hz]",
    /*  9 */ "signals: {angle: crank.angle, p1: v1.pressure}",
    /* 10 */ "studies: {one: a.yaml, two: /b.yaml}",
    /* 11 */ "filters:",
    /* 12 */ "  own: {}",
    /* 13 */ "  exact: {transition: step, changes: {volumes.v1.noise: 2 bar/s^0.5}}",
    /* 14 */ "scenarios:",
    /* 15 */ "  A: {title: heavy, changes: {bodies.crank.mass: 20 kg, gravity: '[0, -8.81, 0 m/s^2]'}}",
    /* 16 */ "  B: {parameters: {crank.payload: 5 kg}}",
};

static int write_plan(int line, const char *with) { return write_lines(small_plan, N_LINES, line, with); }

static bramah_plan *load(void)
{
  bramah_diag diag;
  bramah_plan *plan = NULL;
  bramah_status status = bramah__plan_load(path, &diag, &plan);
  ck_assert_msg(status == BRAMAH_OK, "%d:%d: %s: %s", diag.line, diag.column, diag.thing, diag.message);
  return plan;
}

TEST(what_is_to_be_done_is_read)
{
  write_plan(0, NULL);
  bramah_plan *p = load();
  ck_assert_str_eq(p->name, "small plan");
  ck_assert_str_eq(p->file, path);
  ck_assert_str_eq(p->machine_file, beside_path("machines/small.yaml"));
  ck_assert_uint_eq(p->n_changes, 1);
  ck_assert_str_eq(p->changes[0].value, "18 kg");
  ck_assert(p->duration == 2.5 && p->step == 0.5e-3 && p->settle == 1.0 && p->seeds == 7);
  ck_assert(p->n_rates == 2 && p->rates[0] == 1000.0 && p->rates[1] == 200.0);
  ck_assert_uint_eq(p->n_signals, 2);
  ck_assert_str_eq(p->signals[1].name, "p1");
  ck_assert_str_eq(p->signals[1].output, "v1.pressure");
  ck_assert_uint_eq(p->n_studies, 2);
  ck_assert_str_eq(p->studies[0].file, beside_path("a.yaml"));
  ck_assert_str_eq(p->studies[1].file, "/b.yaml");
  bramah__plan_free(p);
}

TEST(filters_and_scenarios_are_read)
{
  write_plan(0, NULL);
  bramah_plan *p = load();
  ck_assert_uint_eq(p->n_filters, 2);
  ck_assert(p->filters[0].transition == 0 && p->filters[0].n_changes == 0);
  ck_assert_int_eq(p->filters[1].transition, BRAMAH_TRANSITION_STEP);
  ck_assert_str_eq(p->filters[1].changes[0].path, "volumes.v1.noise");
  ck_assert_int_eq(p->filters[1].changes[0].line, 13);
  ck_assert_uint_eq(p->n_scenarios, 2);
  ck_assert_str_eq(p->scenarios[0].title, "heavy");
  ck_assert_uint_eq(p->scenarios[0].n_changes, 2);
  ck_assert_str_eq(p->scenarios[0].changes[1].value, "[0, -8.81, 0 m/s^2]");
  ck_assert_uint_eq(p->scenarios[0].n_parameters, 0);
  ck_assert_ptr_null(p->scenarios[1].title);
  ck_assert_uint_eq(p->scenarios[1].n_parameters, 1);
  ck_assert_str_eq(p->scenarios[1].parameters[0].path, "crank.payload");
  ck_assert_str_eq(p->scenarios[1].parameters[0].file, path);
  bramah__plan_free(p);
}

/* '@' marks the place the message must name. */
static const bad_line bad_lines[] = {
    {4, "duration: @-1 s", BRAMAH_E_VALUE, "duration", "duration must be positive"},
    {4, "duration: @2e6 s", BRAMAH_E_VALUE, "duration", "duration must not be longer than 1e6 s"},
    {6, "settle: @2.5 s", BRAMAH_E_VALUE, "settle", "settle must be shorter than the duration"},
    {7, "seeds: @0", BRAMAH_E_VALUE, "seeds", "'0' is not a whole number from 1 on"},
    {8, "rates: [200 Hz, @200 Hz]", BRAMAH_E_VALUE, "rates.1", "rates must fall from the first to the last"},
    {8, "rates: @200 Hz", BRAMAH_E_SYNTAX, "rates", "a list is expected here"},
    {9, "@signals: {}", BRAMAH_E_VALUE, "signals", "at least one is needed here"},
    {13, "  exact: {transition: @stepp}", BRAMAH_E_VALUE, "filters.exact.transition",
     "'stepp' is not known here; did you mean 'step'?"},
    {13, "  exact: {changes: {a: 1, @a: 2}}", BRAMAH_E_KEY, NULL, NULL},
    {16, "  B: {@parameter: {crank.payload: 5 kg}}", BRAMAH_E_KEY, "scenarios.B.parameter",
     "unknown key 'parameter'; did you mean 'parameters'?"},
    {16, "@findings: {}", BRAMAH_E_KEY, "findings", NULL},
};

EACH_TEST(error_is_exact, 0, COUNT(bad_lines))
{
  const bad_line *bad = &bad_lines[_i];
  bramah_diag diag;
  bramah_plan *plan = (bramah_plan *)path;
  const int column = write_plan(bad->line, bad->with);
  check_mistake(bad, column, bramah__plan_load(path, &diag, &plan), &diag);
  ck_assert_ptr_eq(plan, (bramah_plan *)path); /* untouched */
  ck_assert_int_eq(bramah__plan_load(path, NULL, &plan), bad->status);
}

TEST(too_many_signals_are_told)
{
  bramah_diag diag;
  bramah_plan *plan = NULL;
  write_plan(9,
             "signals: {p1: b, a1: b, a2: b, a3: b, a4: b, a5: b, a6: b, a7: b, a8: b, a9: b, c: d, e: f}");
  plan = load();
  ck_assert_uint_eq(plan->n_signals, BRAMAH_PLAN_MOST_SIGNALS);
  bramah__plan_free(plan);
  write_plan(
      9, "signals: {p1: b, a1: b, a2: b, a3: b, a4: b, a5: b, a6: b, a7: b, a8: b, a9: b, c: d, e: f, g: h}");
  ck_assert_int_eq(bramah__plan_load(path, &diag, &plan), BRAMAH_E_VALUE);
  ck_assert_int_eq(diag.line, 9);
}

/* What a filter changes stands in the study as if its file said so. */
TEST(study_takes_changes)
{
  const char *root = getenv("BRAMAH_SOURCE_ROOT");
  char file[1024];
  bramah_diag diag;
  bramah_study *study = NULL;
  const bramah_change changes[] = {{"volumes.v2.noise", "3 bar/s^0.5", "here.yaml", 5},
                                   {"joints.crank.position", "1 rad", "here.yaml", 6}};
  snprintf(file, sizeof file, "%s/datasets/four-bar/sensors-2.yaml", root ? root : ".");
  ck_assert_int_eq(bramah_study_load(file, 2, changes, &diag, &study), BRAMAH_OK);
  ck_assert(study->volumes[1].noise == 3e5 && study->volumes[0].noise == 0.5e5);
  ck_assert(study->joints[0].position == 1.0 && study->n_changes == 3);
  bramah_study_free(study);
  const bramah_change wrong = {"volumes.v9.noise", "3 bar/s^0.5", "here.yaml", 5};
  ck_assert_int_eq(bramah_study_load(file, 1, &wrong, &diag, &study), BRAMAH_E_KEY);
  ck_assert_str_eq(diag.file, "here.yaml");
  ck_assert_int_eq(diag.line, 5);

  /* Names of parameters have dots themselves. */
  const bramah_change dotted = {"uncertainty.oil.bulk_modulus", "7 %", "here.yaml", 7};
  snprintf(file, sizeof file, "%s/datasets/excavator/tracks.yaml", root ? root : ".");
  ck_assert_int_eq(bramah_study_load(file, 1, &dotted, &diag, &study), BRAMAH_OK);
  const bramah_study_uncertain *oil = study->uncertainty.parameters;
  while (strcmp(oil->name, "oil.bulk_modulus") != 0) oil++;
  ck_assert_double_eq_tol(oil->share, 0.07, 1e-15);
  bramah_study_free(study);
}

TEST(shipped_plan_is_read)
{
  const char *root = getenv("BRAMAH_SOURCE_ROOT");
  char file[1024];
  bramah_diag diag;
  bramah_plan *plan = NULL;
  snprintf(file, sizeof file, "%s/datasets/four-bar/estimator-study.yaml", root ? root : ".");
  ck_assert_int_eq(bramah__plan_load(file, &diag, &plan), BRAMAH_OK);
  ck_assert(plan->n_scenarios == 5 && plan->n_studies == 6 && plan->n_rates == 4 && plan->seeds == 50);
  bramah__plan_free(plan);
  bramah__plan_free(NULL);
}

int main(void) { return run_tests_with("plan file", make_path, remove_path); }
