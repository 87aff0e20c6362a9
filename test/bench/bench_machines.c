/* SPDX-License-Identifier: MIT */
/* Microseconds per plant step: each shipped machine by each formulation over its own planned commands, and
 * open chains of growing length. Prints what it ran on. Nothing here can fail for being slow; it fails when a
 * machine cannot be read or stepped. */
#define _GNU_SOURCE
#include "bramah/coupled.h"
#include "bramah/study.h"
#include "test/bench/bench.h"
#include "test/support/four_bar.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { RUNS = 5, MOST_INPUTS = 8, LONGEST = 1000 };
static const int64_t duration_ns = INT64_C(10000000000);

static bramah_diag diag;

/* ---- the shipped machines ---- */

static const bramah_change firm = {.path = "joints.undercarriage.type", .value = "fixed"};
static const struct {
  const char *name;
  const bramah_change *change;
} shipped[] = {{"four-bar", NULL},    {"lifting-four-bar", NULL}, {"quick-return", NULL},
               {"crane", NULL},       {"metered-crane", NULL},    {"metered-arm", NULL},
               {"manipulator", NULL}, {"excavator", &firm}};
static const char *const formulations[] = {"partitioning", "augmented-lagrangian", "penalty"};
enum { N_SHIPPED = sizeof shipped / sizeof shipped[0] };

typedef struct rig {
  bramah_machine *machine;
  const bramah_model *model;
  bramah_coupled *coupled;
  bramah_plant plant;
  size_t next[MOST_INPUTS]; /* point of the planned command that comes next */
  double u[MOST_INPUTS];
} rig;

/* Seconds of a run from the start under the planned commands; *violation: the largest one of the loops on it, unless
 * NULL, which takes time. */
static double run(rig *r, double *violation)
{
  must(bramah_coupled_reset(r->coupled, &diag), &diag);
  memset(r->next, 0, sizeof r->next);
  memset(r->u, 0, sizeof r->u);
  const double start = bench_now();
  for (int64_t t = 0; t < duration_ns; t += r->plant.step_ns) {
    for (size_t i = 0; i < r->machine->n_inputs; i++) {
      const bramah_input *in = &r->machine->inputs[i];
      while (r->next[i] < in->n_points && llround(in->times[r->next[i]] * 1e9) <= t)
        r->u[i] = in->values[r->next[i]++];
    }
    must(r->plant.set_inputs(r->plant.self, r->u, &diag), &diag);
    must(r->plant.step(r->plant.self, &diag), &diag);
    if (violation) *violation = fmax(*violation, bramah_coupled_constraint_violation(r->coupled));
  }
  return bench_now() - start;
}

static void print_machines(void)
{
  printf("\nplant step over the planned commands, 10 s at the machine's step, one thread, median of %d\n\n"
         "%-18s %-21s %8s %11s %8s %4s  %s\n",
         RUNS, "machine", "formulation", "us/step", "x real time", "Newton", "max", "loops to");
  for (size_t i = 0; i < 3 * N_SHIPPED; i++) {
    const char *name = shipped[i / 3].name;
    const bramah_change *change = shipped[i / 3].change;
    double t[RUNS], violation = 0.0;
    rig r;
    const char *root = getenv("BRAMAH_SOURCE_ROOT");
    char path[1024];
    snprintf(path, sizeof path, "%s/datasets/%s/%s.yaml", root ? root : ".", name, name);
    must(bramah_machine_load(path, change != NULL, change, &diag, &r.machine), &diag);
    r.machine->integrator.formulation = (bramah_formulation)(i % 3);
    must(bramah_model_new(r.machine, &diag, &r.model), &diag);
    must(bramah_coupled_new(r.model, &diag, &r.coupled), &diag);
    r.plant = bramah_coupled_plant(r.coupled);
    if (r.plant.n_input > MOST_INPUTS) exit(EXIT_FAILURE);

    for (int k = 0; k < RUNS; k++) t[k] = run(&r, NULL);
    const bramah_step_report report = bramah_coupled_report(r.coupled);
    const double steps = (double)report.steps, us = bench_median(t, RUNS) * 1e6 / steps;
    char loops[16] = "-";
    if (r.machine->n_loops) {
      run(&r, &violation);
      snprintf(loops, sizeof loops, "%.1e", violation);
    }
    printf("%-18s %-21s %8.2f %11.0f %8.2f %4u  %s\n", name, formulations[i % 3], us,
           (double)r.plant.step_ns * 1e-3 / us, (double)report.iterations / steps, report.max_iterations,
           loops);
    bramah_coupled_free(r.coupled);
    bramah_model_free(r.model);
    bramah_machine_free(r.machine);
  }
  printf(
      "\nThe crane has no loop: its three rows are the same computation but for the bookkeeping.\n"
      "Others on lifting-four-bar at 1 kHz, measured on a Xeon of about 3 GHz (two pressures; this machine "
      "file "
      "has\n"
      "three): Exudyn 1.11 14.7 us (modified Newton), 18.1 (full), 21.8 (state read and written each step);\n"
      "Chrono 114 (HHT), 289 (Newmark); the papers in MATLAB (three pressures) 2154 (penalty), 2745\n"
      "(double-step).\n");
}

/* ---- the tractor's work cycle ---- */

enum { MOST_ROWS = 100, MOST_COLUMNS = 16 };
typedef struct schedule {
  size_t n_rows, n_columns;
  double t[MOST_ROWS], value[MOST_ROWS][MOST_COLUMNS];
  int is_input[MOST_COLUMNS];
  size_t number[MOST_COLUMNS]; /* of the input or parameter */
} schedule;

static void read_schedule(const char *path, const rig *r, schedule *s)
{
  char line[1024];
  FILE *f = fopen(path, "r");
  if (!f || !fgets(line, sizeof line, f)) exit(EXIT_FAILURE);
  s->n_rows = s->n_columns = 0;
  strtok(line, ",\n");
  for (char *name; (name = strtok(NULL, ",\n")) && s->n_columns < MOST_COLUMNS; s->n_columns++) {
    size_t i = 0, *number = &s->number[s->n_columns];
    name[strcspn(name, "[")] = '\0';
    while (i < r->machine->n_inputs && strcmp(r->machine->inputs[i].name, name) != 0) i++;
    s->is_input[s->n_columns] = i < r->machine->n_inputs;
    *number = i;
    if (i == r->machine->n_inputs) must(bramah_plant_parameter_index(&r->plant, name, number, &diag), &diag);
  }
  while (s->n_rows < MOST_ROWS && fgets(line, sizeof line, f)) {
    char *at = line;
    s->t[s->n_rows] = strtod(at, &at);
    for (size_t i = 0; i < s->n_columns; i++) s->value[s->n_rows][i] = strtod(at + 1, &at);
    s->n_rows++;
  }
  fclose(f);
}

/* Commands hold, what is no input follows straight lines. */
static void follow(rig *r, const schedule *s, double t)
{
  size_t k = 0;
  while (k + 1 < s->n_rows && s->t[k + 1] <= t + 1e-9) k++;
  for (size_t i = 0; i < s->n_columns; i++) {
    const double from = s->value[k][i],
                 part = k + 1 < s->n_rows ? (t - s->t[k]) / (s->t[k + 1] - s->t[k]) : 0.0;
    const double value =
        s->is_input[i] || k + 1 == s->n_rows ? from : from + part * (s->value[k + 1][i] - from);
    if (s->is_input[i])
      r->u[s->number[i]] = value;
    else if (value != r->plant.parameter(r->plant.self, s->number[i]))
      must(r->plant.set_parameter(r->plant.self, s->number[i], value, &diag), &diag);
  }
  must(r->plant.set_inputs(r->plant.self, r->u, &diag), &diag);
}

static void print_cycle(void)
{
  static const struct {
    const char *name;
    double from, to;
  } phases[] = {{"drop", 0.0, 1.52},   {"lift, tilt", 1.52, 4.10}, {"forward", 4.88, 10.12},
                {"dig", 10.12, 12.41}, {"reverse", 15.09, 34.60},  {"raise, dump", 34.88, 40.28},
                {"all", 0.0, 44.0}};
  enum { N_PHASES = sizeof phases / sizeof phases[0] };
  static const bramah_change low[] = {
      {.path = "joints.frame.initial", .value = "[0 m, 0 m, 1.1028 m, 0 deg, 0.0164 deg, 0 deg]"},
      {.path = "joints.boom.initial", .value = "-34 deg"},
      {.path = "joints.bucket.initial", .value = "38 deg"}};
  static schedule s;
  const char *root = getenv("BRAMAH_SOURCE_ROOT");
  char path[1024], csv[1024];
  snprintf(path, sizeof path, "%s/datasets/tractor/tractor.yaml", root ? root : ".");
  snprintf(csv, sizeof csv, "%s/datasets/tractor/publication-v.csv", root ? root : ".");
  printf("\nthe tractor's work cycle (publication V), interpreted, us/step by phases; the paper's multibody "
         "system with hydraulics took 260 to "
         "430 us\n\n%-21s",
         "formulation");
  for (size_t i = 0; i < N_PHASES; i++) printf(" %11s", phases[i].name);
  printf("\n");
  for (size_t k = 0; k < 3; k++) {
    rig r;
    double spent[N_PHASES] = {0};
    size_t steps[N_PHASES] = {0};
    must(bramah_machine_load(path, 3, low, &diag, &r.machine), &diag);
    r.machine->integrator.formulation = (bramah_formulation)k;
    must(bramah_model_new(r.machine, &diag, &r.model), &diag);
    must(bramah_coupled_new(r.model, &diag, &r.coupled), &diag);
    r.plant = bramah_coupled_plant(r.coupled);
    memset(r.u, 0, sizeof r.u);
    read_schedule(csv, &r, &s);
    for (int64_t ns = 0; ns < INT64_C(44000000000); ns += r.plant.step_ns) {
      const double t = 1e-9 * (double)ns;
      follow(&r, &s, t);
      const double start = bench_now();
      must(r.plant.step(r.plant.self, &diag), &diag);
      const double took = bench_now() - start;
      for (size_t i = 0; i < N_PHASES; i++)
        if (t >= phases[i].from && t < phases[i].to) spent[i] += took, steps[i]++;
    }
    printf("%-21s", formulations[k]);
    for (size_t i = 0; i < N_PHASES; i++) printf(" %11.1f", spent[i] * 1e6 / (double)steps[i]);
    printf("\n");
    bramah_coupled_free(r.coupled);
    bramah_model_free(r.model);
    bramah_machine_free(r.machine);
  }
}

/* ---- open chains ---- */

static bramah_body bodies[LONGEST];
static bramah_joint joints[LONGEST];
static char names[LONGEST][12];

/* Slender rods of 1 m and 1 kg in a zigzag, let go from about the horizontal. Median over runs of `steps` steps from the
 * start; *iterations: Newton's mean count. */
static double chain_us(size_t n, int steps, double *iterations)
{
  for (size_t i = 0; i < n; i++) {
    snprintf(names[i], sizeof names[i], "rod%u", (unsigned)(i % LONGEST));
    bodies[i] = (bramah_body){
        .name = names[i], .mass = 1.0, .centre_of_mass = {0.5, 0, 0}, .inertia = {0, 1.0 / 12, 1.0 / 12}};
    joints[i] = (bramah_joint){.name = names[i],
                               .type = BRAMAH_JOINT_REVOLUTE,
                               .parent = i ? names[i - 1] : "ground",
                               .child = names[i],
                               .position = {i ? 1.0 : 0.0, 0, 0},
                               .axis = {0, 0, 1},
                               .initial_position = i == 0  ? -0.5
                                                   : i % 2 ? 1.0
                                                           : -1.0,
                               .initial = BRAMAH_INITIAL_GIVEN};
  }
  const bramah_machine machine = {.name = "chain",
                                  .gravity = {0, -9.81, 0},
                                  .n_bodies = n,
                                  .bodies = bodies,
                                  .n_joints = n,
                                  .joints = joints,
                                  .integrator = {.step_ns = 1000000}};
  const bramah_model *model;
  bramah_coupled *c;
  must(bramah_model_new(&machine, &diag, &model), &diag);
  must(bramah_coupled_new(model, &diag, &c), &diag);

  double us[RUNS];
  const bramah_plant p = bramah_coupled_plant(c);
  for (int i = 0; i < RUNS; i++) {
    must(bramah_coupled_reset(c, &diag), &diag);
    const double start = bench_now();
    for (int k = 0; k < steps; k++) must(p.step(p.self, &diag), &diag);
    us[i] = (bench_now() - start) * 1e6 / steps;
  }
  const bramah_step_report report = bramah_coupled_report(c);
  *iterations = (double)report.iterations / (double)report.steps;
  bramah_coupled_free(c);
  bramah_model_free(model);
  return bench_median(us, RUNS);
}

static void print_chains(void)
{
  static const size_t lengths[] = {1, 2, 4, 8, 16, 32, 64, 125, 250, 500, 1000};
  enum { STEPS = 50, COUNT = sizeof lengths / sizeof lengths[0] };
  double x = 0, y = 0, xx = 0, xy = 0;
  printf("\nopen chain of n rods on revolute joints, a falling zigzag; the first %d steps of 1 ms\n\n"
         "%5s %12s %16s %8s\n",
         STEPS, "n", "us/step", "us/step/body", "Newton");
  for (size_t i = 0; i < COUNT; i++) {
    double iterations;
    const double n = (double)lengths[i], us = chain_us(lengths[i], STEPS, &iterations);
    printf("%5.0f %12.2f %16.3f %8.2f\n", n, us, us / n, iterations);
    x += log(n), y += log(us);
    xx += log(n) * log(n), xy += log(n) * log(us);
  }
  printf("\ncost grows as n^%.2f over all lengths (least squares).\n",
         (COUNT * xy - x * y) / (COUNT * xx - x * x));
}

int main(void)
{
  setvbuf(stdout, NULL, _IOLBF, BUFSIZ); /* a row at once when it is measured */
  bench_print_machine();
  print_cycle();
  print_machines();
  print_chains();
  return EXIT_SUCCESS;
}
