/* SPDX-License-Identifier: MIT */
/* The work cycle of publication II, with Brown-McPhee and Bengisu-Akay friction, against the independent
 * reference of the case studies, at three steps: within the error a correct implicit trapezoidal step must
 * show, second order, closed loops, balanced energy. */
#include "bramah/coupled.h"
#include "test/support/four_bar.h"
#include "test/support/run.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { N_SIGNALS = 9, N_COLUMNS = 19, N_ROWS = 1001 };

/* Columns of the reference and our outputs. */
static const struct signal {
  int column;
  const char *output;
  double limit; /* largest deviation of a correct 1 ms step (trapezoidal-step-error.json) */
} signals[N_SIGNALS] = {
    {13, "crank.angle", 3.4761544899342134e-05}, {14, "crank.rate", 0.005902035946173927},
    {3, "v1.pressure", 42875.33664493123},       {4, "v2.pressure", 42836.865774700884},
    {5, "v3.pressure", 31820.700477073435},      {2, "valve.spool", 0.015129878130000662},
    {9, "lift.friction", 231.07938743588738},    {10, "energy.kinetic", 0.07732621473132628},
    {12, "lift.work", 0.07831047277402536},
};

static double reference[N_ROWS][N_COLUMNS];
static bramah_diag diag;

static int read_reference(const char *model)
{
  const char *folder = getenv("BRAMAH_SPEC");
  char path[1024], line[1024];
  snprintf(path, sizeof path, "%s/four-bar-friction-study.%s.reference.csv", folder ? folder : ".", model);
  FILE *file = fopen(path, "r");
  if (!file) return 0;
  int rows = -1; /* header */
  while (fgets(line, sizeof line, file) && rows < N_ROWS) {
    char *next = line;
    for (int k = 0; rows >= 0 && k < N_COLUMNS; k++, next++) reference[rows][k] = strtod(next, &next);
    rows++;
  }
  fclose(file);
  return rows == N_ROWS;
}

typedef struct outcome {
  double deviation[N_SIGNALS];
  double drift, violation, max_work;
} outcome;

static void compare(const bramah_plant *p, const double *row, outcome *out)
{
  for (int i = 0; i < N_SIGNALS; i++) {
    const double d = fabs(p->output(p->self, must_find(p, signals[i].output)) - row[signals[i].column]);
    out->deviation[i] = fmax(out->deviation[i], d);
  }
}

static outcome run(int64_t step_ns, bramah_friction_model friction)
{
  outcome out = {0};
  four_bar fb;
  const bramah_model *model;
  bramah_coupled *c;
  four_bar_describe(&fb, 1.0, step_ns);
  four_bar_set_friction(&fb, friction);
  must(bramah_model_new(&fb.machine, &diag, &model), &diag);
  must(bramah_coupled_new(model, &diag, &c), &diag);
  const bramah_plant p = bramah_coupled_plant(c);
  const size_t work = must_find(&p, "lift.work"), kinetic = must_find(&p, "energy.kinetic"),
               potential = must_find(&p, "energy.potential");
  for (int64_t t = 0;; t += step_ns) {
    const double u = four_bar_command(t), W = p.output(p.self, work);
    must(p.set_inputs(p.self, &u, &diag), &diag);
    if (t % 10000000 == 0) compare(&p, reference[t / 10000000], &out);
    out.drift = fmax(out.drift, fabs(p.output(p.self, kinetic) + p.output(p.self, potential) - W));
    out.max_work = fmax(out.max_work, fabs(W));
    out.violation = fmax(out.violation, bramah_coupled_constraint_violation(c));
    if (t == INT64_C(10000000000)) break;
    must(p.step(p.self, &diag), &diag);
  }
  bramah_coupled_free(c);
  bramah_model_free(model);
  return out;
}

START_TEST(test_cycle)
{
  static const bramah_friction_model model[2] = {BRAMAH_FRICTION_BROWN_MCPHEE, BRAMAH_FRICTION_BENGISU_AKAY};
  static const double largest_work[2] = {121.002, 121.033};
  ck_assert_int_eq(read_reference(_i ? "bengisu-akay" : "brown-mcphee"), 1);
  const outcome one = run(1000000, model[_i]), half = run(500000, model[_i]),
                quarter = run(250000, model[_i]);
  /* The error table is for Brown-McPhee; the corner of Bengisu-Akay at v_s costs a little more. */
  const double slack = _i ? 1.3 : 1.02;
  for (int i = 0; i < N_SIGNALS; i++) {
    ck_assert_msg(one.deviation[i] <= signals[i].limit * slack, "%s deviates by %g at 1 ms, allowed %g",
                  signals[i].output, one.deviation[i], signals[i].limit);
    const double first = one.deviation[i] / half.deviation[i],
                 second = half.deviation[i] / quarter.deviation[i];
    ck_assert_msg(first > 3.6 && first < 4.6, "%s: %g from 1 to 0.5 ms", signals[i].output, first);
    ck_assert_msg(second > 3.6 && second < 4.6, "%s: %g from 0.5 to 0.25 ms", signals[i].output, second);
  }
  ck_assert_double_lt(one.violation, 1e-10);
  ck_assert_double_lt(one.drift, 1e-3);
  if (_i == 0)
    ck_assert_double_eq_tol(one.max_work, 121.00069470629859, 1e-3); /* what a correct 1 ms step gives */
  ck_assert_double_eq_tol(quarter.max_work, largest_work[_i], 1e-3); /* the reference */
}
END_TEST

/* The four friction models: largest work within 0.02 J of the reference, balanced energy, Newton counted
 * against the paper's figures (a correction below 1e-7 rad and 1e-2 Pa ends the iteration; LuGre states need
 * no unknowns of their own). */
static const struct friction_case {
  bramah_friction_model model;
  const char *name;
  double max_work;      /* [J] of the reference */
  double paper_average; /* iterations */
  unsigned paper_max;
} friction_cases[4] = {{BRAMAH_FRICTION_BENGISU_AKAY, "Bengisu-Akay", 121.033, 1.43, 3},
                       {BRAMAH_FRICTION_BROWN_MCPHEE, "Brown-McPhee", 121.002, 1.42, 3},
                       {BRAMAH_FRICTION_LUGRE, "LuGre", 120.953, 1.60, 3},
                       {BRAMAH_FRICTION_MODIFIED_LUGRE, "modified LuGre", 120.979, 1.62, 5}};

START_TEST(test_friction_models)
{
  const struct friction_case *expected = &friction_cases[_i];
  four_bar fb;
  const bramah_model *model;
  bramah_coupled *c;
  four_bar_describe(&fb, 1.0, 1000000);
  four_bar_set_friction(&fb, expected->model);
  must(bramah_model_new(&fb.machine, &diag, &model), &diag);
  must(bramah_coupled_new(model, &diag, &c), &diag);
  const bramah_plant p = bramah_coupled_plant(c);
  const size_t work = must_find(&p, "lift.work"), kinetic = must_find(&p, "energy.kinetic"),
               potential = must_find(&p, "energy.potential");
  double max_work = 0.0, drift = 0.0;
  for (int64_t k = 0; k < 10000; k++) {
    const double u = four_bar_command(k * 1000000);
    must(p.set_inputs(p.self, &u, &diag), &diag);
    must(p.step(p.self, &diag), &diag);
    const double W = p.output(p.self, work);
    max_work = fmax(max_work, fabs(W));
    drift = fmax(drift, fabs(p.output(p.self, kinetic) + p.output(p.self, potential) - W));
  }
  const bramah_step_report report = bramah_coupled_report(c);
  const double average = (double)report.iterations / (double)report.steps;
  printf("%-15s max |W| %.4f J (reference %.3f), drift %.1e J, Newton %.2f/%u (paper %.2f/%u)\n",
         expected->name, max_work, expected->max_work, drift, average, report.max_iterations,
         expected->paper_average, expected->paper_max);
  ck_assert_double_eq_tol(max_work, expected->max_work, 0.02);
  ck_assert_double_lt(drift, 1e-3);
  ck_assert_double_lt(average, 2.5);
  bramah_coupled_free(c);
  bramah_model_free(model);
}
END_TEST

/* Virtual work gives -386.005 N at rest in the printed pose. */
START_TEST(test_equilibrium)
{
  four_bar fb;
  const bramah_model *model;
  bramah_coupled *c;
  four_bar_describe(&fb, 1.0, 1000000);
  fb.volumes[0].initial = fb.volumes[1].initial = BRAMAH_PRESSURE_EQUILIBRIUM;
  must(bramah_model_new(&fb.machine, &diag, &model), &diag);
  must(bramah_coupled_new(model, &diag, &c), &diag);
  const bramah_plant p = bramah_coupled_plant(c);
  ck_assert_double_eq_tol(bramah_model_get_info(model).initial_pressures[0], 2753284.892633369, 1e-3);
  ck_assert_double_eq_tol(bramah_model_get_info(model).initial_pressures[1], 2753284.892633369, 1e-3);
  ck_assert_double_eq(bramah_model_get_info(model).initial_pressures[2], 3.5e6);
  ck_assert_double_eq_tol(p.output(p.self, must_find(&p, "lift.force")), -386.00488743747553, 1e-6);
  for (int i = 0; i < 1000; i++) must(p.step(p.self, &diag), &diag);
  ck_assert_double_eq_tol(p.output(p.self, must_find(&p, "crank.angle")), 1.0471975511965976,
                          1e-9); /* it rests */
  bramah_coupled_free(c);
  bramah_model_free(model);
}
END_TEST

/* The printed angles close exactly. */
START_TEST(test_initial_angles)
{
  four_bar fb;
  const bramah_model *model;
  bramah_coupled *c;
  four_bar_describe(&fb, 1.0, 1000000);
  must(bramah_model_new(&fb.machine, &diag, &model), &diag);
  must(bramah_coupled_new(model, &diag, &c), &diag);
  const bramah_plant p = bramah_coupled_plant(c);
  ck_assert_double_eq_tol(p.output(p.self, must_find(&p, "crank.angle")), 1.0471975511965976, 1e-15);
  ck_assert_double_eq_tol(p.output(p.self, must_find(&p, "coupler.angle")), -0.6615563037892267, 1e-12);
  ck_assert_double_eq_tol(p.output(p.self, must_find(&p, "rocker.angle")), -1.633337088591388, 1e-12);
  bramah_coupled_free(c);
  bramah_model_free(model);
}
END_TEST

/* With the argument `reference`: the comparison that needs the case studies; without: the rest. */
int main(int argc, char **argv)
{
  const int compare_cycle = argc > 1 && strcmp(argv[1], "reference") == 0;
  if (compare_cycle && !(read_reference("brown-mcphee") && read_reference("bengisu-akay"))) {
    printf("skipped: the reference trajectories of the case studies are not here (BRAMAH_SPEC)\n");
    return 77;
  }
  Suite *suite = suite_create("published four-bar");
  TCase *cases = one_case(suite, "publication II");
  if (compare_cycle) {
    tcase_add_loop_test(cases, test_cycle, 0, 2);
  } else {
    tcase_add_test(cases, test_equilibrium);
    tcase_add_loop_test(cases, test_friction_models, 0, 4);
    tcase_add_test(cases, test_initial_angles);
  }
  return run_suite(suite);
}
