/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bramah check: read files, say in plain words what they mean, report every mistake.
 */
#include "bramah/sensor_study.h"
#include "lib/cli/cli.h"
#include "lib/cli/check.h"
#include "lib/cli/parameters.h"
#include "lib/cli/replay.h"
#include "lib/cli/tune_lab.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Files and folders of a log. */
typedef struct check_logs {
  size_t n;
  const char *const *names;
} check_logs;

static int report(const bramah_diag *diag)
{
  cli_report(diag);
  return 1;
}

static void tell(void *user, const bramah_diag *diag)
{
  int *wrong = user;
  *wrong += report(diag);
}

/* ---- which kind of file ---- */

/* A key at the beginning of a line. */
static int begins_with_key(const char *line, const char *key)
{
  const size_t n = strlen(key);
  if (*line == '"' || *line == '\'') line++;
  if (strncmp(line, key, n) != 0) return 0;
  line += n;
  line += strspn(line, "\"' \t");
  return *line == ':';
}

/* Beyond that the readers refuse a description; some files never end. */
enum { LONGEST_LOOK = 1 << 24 };

/* A study has the key `study`, a plan `plan`; everything else is taken for a machine, whose reader finds the
 * words for it. */
static int has_key(const char *path, const char *key)
{
  char line[256];
  long pieces = LONGEST_LOOK / (long)sizeof line;
  int found = 0, begin = 1;
  FILE *file = fopen(path, "r");
  if (!file) return 0;
  while (!found && pieces-- > 0 && fgets(line, sizeof line, file)) {
    found = begin && begins_with_key(line, key);
    begin = strchr(line, '\n') != NULL;
  }
  fclose(file);
  return found;
}

/* ---- study ---- */

/* "v1 less v2", "port a of valve" */
static void explain_place(const bramah_sensor_options *o)
{
  if (o->kind == BRAMAH_SENSOR_PRESSURE_DIFFERENCE)
    printf("%s less %s", o->at, o->less);
  else if (o->port)
    printf("port %c of %s", o->port == BRAMAH_SENSOR_PORT_A ? 'a' : 'b', o->at);
  else
    printf("%s", o->at);
}

static void explain_sensor(const bramah_study *study, size_t i, const bramah_sensor *sensor)
{
  const bramah_sensor_options *o = &study->sensors[i];
  const cli_readable unit = cli_readable_unit(sensor->unit);
  printf("  sensor %s: %s at ", o->name, bramah_sensor_kind_name(o->kind));
  explain_place(o);
  printf(", sigma %.6g %s, ", unit.factor * o->sigma, unit.unit);
  if (o->resolution > 0.0) printf("in steps of %.6g %s, ", unit.factor * o->resolution, unit.unit);
  if (o->least < o->most)
    printf("from %.6g to %.6g %s, ", unit.factor * o->least, unit.factor * o->most, unit.unit);
  if (o->period_ns)
    printf("%.6g samples per second", 1e9 / (double)o->period_ns);
  else
    printf("a sample at every step");
  if (o->delay_ns) printf(", delay %.6g ms", 1e-6 * (double)o->delay_ns);
  if (study->gate[i] > 0.0) printf(", gate %.6g sigma", study->gate[i]);
  printf(", column %s\n", study->sensor_columns[i].name);
}

static void explain_joint(const bramah_session *session, size_t i)
{
  const bramah_joint_start *j = &bramah_session_study(session)->joints[i];
  const cli_readable position = cli_readable_unit(j->revolute_unit ? "rad" : "m");
  const cli_readable rate = cli_readable_unit(j->revolute_unit ? "rad/s" : "m/s");
  printf(
      "  joint %s: starts at %.6g %s%s, sigma %.6g %s; rate %.6g %s, sigma %.6g %s; acceleration noise %.6g "
      "%s/s^2/Hz^0.5\n",
      j->joint, position.factor * bramah_session_joint_start(session, i), position.unit,
      j->has_position ? "" : " (the machine's)", position.factor * j->position_sigma, position.unit,
      rate.factor * j->rate, rate.unit, rate.factor * j->rate_sigma, rate.unit, j->acceleration_noise,
      j->revolute_unit ? "rad" : "m");
}

static void explain_volume(const bramah_volume_start *v)
{
  printf("  volume %s: sigma %.6g bar, noise %.6g bar/s^0.5", v->volume, 1e-5 * v->sigma, 1e-5 * v->noise);
  if (v->has_pressure) printf(", starts at %.6g bar", 1e-5 * v->pressure);
  printf("\n");
}

static void explain_filter(const bramah_study *study)
{
  static const char *const transitions[] = {"", "paper", "paper-exact", "step"};
  const int resolvent = study->discretisation == BRAMAH_DISCRETISATION_DEFAULT
                            ? study->transition == BRAMAH_TRANSITION_STEP
                            : study->discretisation == BRAMAH_DISCRETISATION_RESOLVENT;
  const int iterations = study->iterations > 1 ? study->iterations : 1;
  printf("  filter: transition %s, noise %s, covariance %s, fusion %s, %d iteration%s\n",
         transitions[study->transition], resolvent ? "resolvent" : "published",
         study->form == BRAMAH_COVARIANCE_SQUARE_ROOT ? "square-root" : "joseph",
         study->fusion == BRAMAH_FUSION_BLOCK ? "block" : "sequential", iterations,
         iterations == 1 ? "" : "s");
  if (study->drift_gate > 0.0) printf("  drift gate: %.6g sigma of the running mean\n", study->drift_gate);
}

/* The name of an unknown command has a dot, which no name in a file may have. */
static const char *what_of(const bramah_augmented *a)
{
  if (a->kind == BRAMAH_AUGMENTED_BIAS) return "bias of";
  return strchr(a->name, '.') ? "unknown input, parameter" : "parameter";
}

static void explain_augmented(const bramah_session *session, size_t i)
{
  const bramah_augmented *a = &bramah_session_filter_options(session).augmented[i];
  const bramah_plant *plant = bramah_session_plant(session);
  const cli_readable unit = cli_readable_unit(bramah_session_augmented_unit(session, i));
  const long p = a->kind == BRAMAH_AUGMENTED_PARAMETER ? bramah_plant_find_parameter(plant, a->at) : -1;
  printf("  estimated %s: %s %s [%s], starts at %.6g, sigma %.6g; ", a->name, what_of(a), a->at, unit.unit,
         p < 0 ? 0.0 : unit.factor * plant->parameter(plant->self, (size_t)p), unit.factor * a->sigma);
  if (a->time_constant > 0.0)
    printf("Gauss-Markov of order %d, time constant %.6g s", a->order == 2 ? 2 : 1, a->time_constant);
  else
    printf(a->noise > 0.0 ? "random walk" : "constant");
  if (a->noise > 0.0)
    printf(", noise %.6g %s/s^%s", unit.factor * a->noise, unit.unit, a->order == 2 ? "1.5" : "0.5");
  if (a->least < a->most && a->least > -HUGE_VAL) printf(", at least %.6g", unit.factor * a->least);
  if (a->least < a->most && a->most < HUGE_VAL) printf(", at most %.6g", unit.factor * a->most);
  printf("\n");
}

/* A line for each augmented state and each noise on a parameter. */
static void explain_augmented_states(const bramah_session *session)
{
  const bramah_filter_options options = bramah_session_filter_options(session);
  for (size_t i = 0; i < options.n_augmented; i++) explain_augmented(session, i);
  for (size_t i = 0; i < options.n_parameter_noise; i++) {
    const cli_readable unit = cli_readable_unit(bramah_session_noise_unit(session, i));
    printf("  noise on %s: %.6g %s/Hz^0.5\n", options.parameter_noise[i].at,
           unit.factor * options.parameter_noise[i].density, unit.unit);
  }
}

static void explain_study(const bramah_session *session, int parameters)
{
  const bramah_study *study = bramah_session_study(session);
  cli_explain_machine(bramah_session_machine(session));
  if (parameters) cli_list_parameters(bramah_session_plant(session));
  printf("study: %s\n", study->name);
  for (size_t i = 0; i < study->n_changes; i++)
    printf("  the filter's model has %s: %s\n", study->changes[i].path, study->changes[i].value);
  for (size_t i = 0; i < study->n_sensors; i++) explain_sensor(study, i, &bramah_session_sensors(session)[i]);
  explain_filter(study);
  explain_augmented_states(session);
  for (size_t i = 0; i < study->n_joints; i++) explain_joint(session, i);
  for (size_t i = 0; i < study->n_volumes; i++) explain_volume(&study->volumes[i]);
  cli_warn_unobservable(session);
}

/* The tuning a study asks for. */
static int check_tune(const char *path)
{
  cli_tune_lab lab = {.quiet = 1};
  bramah_diag diag;
  bramah_status status = cli_tune_lab_open(&lab, path, &diag);
  if (!status) status = cli_tune_lab_add_parameters(&lab, &diag);
  for (size_t i = 0; !status && i < lab.n; i++) {
    const cli_tuned *t = &lab.tuned[i];
    printf("  to be tuned: %s, now %s, from %.6g to %.6g%s%s", t->name, t->text, t->least, t->most,
           *t->unit ? " " : "", t->unit);
    for (size_t k = 0; k < t->n_also; k++) printf("%s %s", k ? "," : "; the same for", t->also[k]);
    putchar('\n');
  }
  cli_tune_lab_close(&lab);
  if (!status) return 0;
  fflush(stdout);
  cli_report(&diag);
  return 1;
}

/* After mistakes in a study the log is held against what can be understood of it; without machine or study
 * nothing is known of what the log should hold, but its rows can be read. */
static int check_log_alone(const char *study_path, check_logs logs)
{
  bramah_machine_plant machine = {0};
  bramah_study *study = NULL;
  bramah_sensor *sensors = NULL;
  bramah_diag diag;
  if (!logs.n) return 0;
  bramah_diag_clear(&diag);
  int known = study_path && !bramah_study_load(study_path, &diag, &study);
  if (known)
    known = !bramah_machine_plant_open(&machine, study->machine_file, study->n_changes, study->changes, 0,
                                       &diag) &&
            (sensors = calloc(study->n_sensors + 1, sizeof *sensors)) != NULL;
  for (size_t i = 0; known && i < study->n_sensors; i++)
    if (bramah_sensor_init(&study->sensors[i], &machine.plant, &diag, &sensors[i]))
      sensors[i] = (bramah_sensor){.name = study->sensors[i].name};
  if (!known) {
    bramah_machine_plant_close(&machine);
    machine = (bramah_machine_plant){.plant = {.step_ns = 1000000}};
  }
  const int wrong = cli_explain_log(logs.n, logs.names, &machine, known ? study : NULL, sensors);
  if (known) bramah_machine_plant_close(&machine);
  bramah_study_free(study);
  free(sensors);
  return wrong;
}

static int check_study(const char *path, check_logs logs, int parameters)
{
  bramah_session *session = NULL;
  bramah_diag diag;
  int wrong = 0;
  bramah_session_check(path, tell, &wrong);
  if (!wrong && bramah_session_open(path, &diag, &session)) wrong = report(&diag);
  if (!session) return wrong + check_log_alone(path, logs);
  explain_study(session, parameters);
  if (logs.n)
    wrong = cli_explain_log(logs.n, logs.names, bramah_session_machine(session),
                            bramah_session_study(session), bramah_session_sensors(session));
  if (!wrong && bramah_session_study(session)->tune.line) wrong = check_tune(path);
  bramah_session_close(session);
  return wrong;
}

/* ---- machine ---- */

static int check_machine(const char *path, check_logs logs, int parameters)
{
  bramah_machine_plant machine = {0};
  bramah_diag diag;
  int wrong = 0;
  bramah_machine_check(path, 0, NULL, tell, &wrong);
  if (!wrong && bramah_machine_plant_open(&machine, path, 0, NULL, 0, &diag)) wrong = report(&diag);
  if (wrong) {
    wrong += check_log_alone(NULL, logs);
  } else {
    cli_explain_machine(&machine);
    if (parameters) cli_list_parameters(&machine.plant);
    if (logs.n) wrong += cli_explain_log(logs.n, logs.names, &machine, NULL, NULL);
  }
  bramah_machine_plant_close(&machine);
  return wrong;
}

/* ---- plan ---- */

static void explain_plan(const bramah_sensor_study *study)
{
  const bramah_sensor_study_layout *is = bramah_sensor_study_about(study);
  const bramah_plan *plan = is->plan;
  printf("plan: %s\n", plan->name);
  printf("  truth: %s, %.6g s in steps of %.6g ms\n", plan->machine_file, plan->duration,
         1e-6 * (double)is->step_ns);
  for (size_t i = 0; i < is->n_signals; i++)
    printf("  signal %s: %s, up to %.6g\n", plan->signals[i].name, plan->signals[i].output,
           bramah_sensor_study_get_signal(study, 0, i).largest);
  for (size_t i = 0; i < is->n_studies; i++)
    printf("  study %s: %s, %zu sensors\n", plan->studies[i].name, is->studies[i]->name,
           is->studies[i]->n_sensors);
  for (size_t i = 0; i < is->n_filters; i++)
    printf("  filter %s: %zu changes of the studies\n", is->filters[i].name, is->filters[i].n_changes);
  for (size_t i = 0; i < is->n_scenarios; i++)
    printf("  scenario %s: %s\n", is->scenarios[i].name,
           is->scenarios[i].title ? is->scenarios[i].title : "");
  for (size_t i = 0; i < plan->n_rates; i++) printf("  rate %.6g Hz\n", plan->rates[i]);
  printf("  %zu runs with %d seeds each\n", is->n_runs * (size_t)plan->seeds, plan->seeds);
}

/* Everything a sensor study needs, as far as the first mistake; the truth is simulated, nothing else is run. */
static int check_plan(const char *path)
{
  const bramah_sensor_study_options one_seed = {.seeds = 1};
  bramah_sensor_study *study = NULL;
  bramah_diag diag;
  if (bramah_sensor_study_open(path, &one_seed, &diag, &study)) {
    return report(&diag);
  }
  explain_plan(study);
  bramah_sensor_study_free(study);
  return 0;
}

static int run(const cli_arguments *arguments)
{
  const char *path = arguments->operands[0];
  const check_logs logs = {(size_t)arguments->n_operands - 1, arguments->operands + 1};
  const int parameters = cli_value(arguments, "parameters") != NULL;
  const int wrong = has_key(path, "study")  ? check_study(path, logs, parameters)
                    : has_key(path, "plan") ? check_plan(path)
                                            : check_machine(path, logs, parameters);
  if (wrong) {
    fflush(stdout);
    fprintf(stderr, "bramah: %d mistake%s found\n", wrong, wrong == 1 ? "" : "s");
    return CLI_FAILED;
  }
  printf("no mistakes found\n");
  return CLI_OK;
}

static const cli_option options[] = {
    {"parameters", NULL, "also list the parameters of the machine: names, nominal values, units", 0, 0}, {0}};

const cli_command cli_check = {
    .name = "check",
    .operands = "MACHINE|STUDY|PLAN [LOG...]",
    .summary = "Read a machine file, study file or plan, and a log, and say what they mean",
    .details =
        "Tells in plain words what was understood: bodies, joints and where they start, loops, degrees of\n"
        "freedom, hydraulics, sensors, noise, and of a log how it is written, its columns, times, samples, "
        "and what\n"
        "was dropped, joined or put in order. Mistakes are\n"
        "reported with file, line and the thing at fault; then the exit code is 1. After a mistake in\n"
        "one file the others are still read.\n",
    .example = "bramah check sensors-2.yaml log.csv",
    .min_operands = 1,
    .max_operands = INT_MAX,
    .options = options,
    .run = run};
