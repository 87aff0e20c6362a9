/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bramah check: read files, say in plain words what they mean, report every mistake. */
#include "bramah/sensor_study.h"
#include "lib/cli/check.h"
#include "lib/cli/cli.h"
#include "lib/cli/replay.h"
#include "bramah/tune.h"
#include "bramah/work_cycles.h"

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

/* What is certain is a mistake like others; returns how many. */
static int report_doubts(const bramah_plausibility *p, size_t *doubts)
{
  fflush(stdout);
  for (size_t i = 0; i < p->n; i++) {
    char text[1024];
    bramah_diag_format(&p->doubt[i].diag, text, sizeof text);
    fprintf(stderr, "bramah: %s%s\n", p->doubt[i].certain ? "" : "doubtful: ", text);
  }
  *doubts += p->n - p->n_certain;
  return (int)p->n_certain;
}

/* ---- study ---- */

/* Machines that it may be, with values as they are written. */
static void explain_hypotheses(const bramah_study *study)
{
  for (size_t i = 0; i < study->hypotheses.n; i++) {
    const bramah_study_hypothesis *h = &study->hypotheses.list[i];
    printf("  hypothesis %s: prior %.4g %%", h->name, 100.0 * h->prior);
    for (size_t k = 0; k < h->n; k++) {
      const bramah_study_parameter *p = &h->parameters[k];
      if (p->value.text)
        printf(", %s %s", p->name, p->value.text);
      else
        printf(", %s %+.6g %%", p->name, 100.0 * p->share);
    }
    printf("%s\n", h->n ? "" : ", the machine as it is stated");
  }
}

/* What the filter reckons with besides noise. */
static void explain_budget(const bramah_session *session)
{
  const bramah_session_parts *parts = bramah_session_about(session);
  const bramah_plant *plant = bramah_session_plant(session);
  const bramah_augmented *all = parts->options.augmented;
  const size_t n = parts->options.n_augmented, first = n - parts->n_budget;
  if (!parts->study->uncertainty.is_on) {
    double sigma;
    int stated = 0;
    for (size_t i = 0; i < plant->n_parameter; i++)
      stated += bramah_machine_plant_uncertainty(parts->machine, i, &sigma) == BRAMAH_UNCERTAINTY_STATED;
    for (size_t i = 0; i < parts->study->n_sensors; i++) {
      const bramah_study_sensor_errors *e = &parts->study->errors[i];
      stated += (e->bias.sigma.text != NULL) + (e->gain.sigma.text || e->gain.share > 0.0) +
                (e->delay.sigma.text != NULL);
    }
    if (stated)
      cli_note(
          "%d uncertainties are stated, but the study does not reckon with them: 'uncertainty: default' does",
          stated);
    return;
  }
  printf("  uncertainty, one sigma; %s:\n",
         parts->study->hypotheses.n ? "estimated from the start, as likelihoods want it"
                                    : "considered, and estimated once the measurements tell enough");
  for (size_t i = first; i < n; i++) {
    size_t p;
    double nominal = 0.0;
    if (all[i].kind == BRAMAH_AUGMENTED_PARAMETER &&
        !bramah_plant_parameter_index(plant, all[i].at, &p, NULL))
      nominal = plant->parameter(plant->self, p);
    printf("    %s: ", all[i].name);
    cli_print_sigma(all[i].sigma, parts->augmented_unit[i], nominal);
    const cli_readable unit = cli_readable_unit(parts->augmented_unit[i]);
    if (all[i].kind == BRAMAH_AUGMENTED_BIAS && all[i].noise > 0.0)
      printf(", drifts by %.6g %s/s^0.5", unit.factor * all[i].noise, unit.unit);
    if (all[i].role == BRAMAH_AUGMENTED_CONSIDERED) printf(", considered to the end");
    printf("%s\n", parts->is_stated[i - first] ? "" : " (default)");
  }
  printf("    known exactly:");
  const char *separator = "";
  for (size_t k = 0; k < plant->n_parameter + parts->study->n_sensors; k++) {
    const int bias = k >= plant->n_parameter;
    bramah_parameter_info info = {.name = ""};
    if (!bias) plant->parameter_info(plant->self, k, &info);
    const char *name = bias ? parts->study->sensors[k - plant->n_parameter].name : info.name;
    size_t i = 0;
    while (i < n && !((all[i].kind == BRAMAH_AUGMENTED_BIAS) == bias && strcmp(all[i].at, name) == 0)) i++;
    if (i < n) continue;
    printf("%s %s%s", separator, bias ? "bias of " : "", name);
    separator = ",";
  }
  printf("%s\n", *separator ? "" : " nothing");
}

void cli_warn_unobservable(const bramah_session *session)
{
  bramah_diag diag;
  char names[512];
  size_t n = 0;
  double horizon;
  if (bramah_assess_unseen(session, names, sizeof names, &n, &horizon, &diag))
    cli_note("what the sensors see could not be looked at: %s", diag.message);
  else if (n)
    cli_note("warning: the sensors do not see %s: in %.3g s they tell no more of %s than is known at the "
             "start, and errors there do not die out",
             names, horizon, n == 1 ? "it" : "them");
}

void cli_protection(const bramah_session *session, char *text, size_t size)
{
  static const char *const transitions[] = {"", "paper", "paper-exact", "step"};
  const bramah_study *study = bramah_session_study(session);
  const bramah_session_parts *parts = bramah_session_about(session);
  const bramah_augmented *budget = parts->options.augmented + parts->options.n_augmented - parts->n_budget;
  double least = HUGE_VAL, most = 0.0;
  size_t of_sensors = 0;
  for (size_t i = 0; i < study->n_sensors; i++) {
    least = fmin(least, study->gate[i]);
    most = fmax(most, study->gate[i]);
  }
  for (size_t i = 0; i < parts->n_budget; i++) of_sensors += budget[i].kind != BRAMAH_AUGMENTED_PARAMETER;

  int n = snprintf(text, size, "transition %s, ", transitions[study->transition]);
  if (most == 0.0)
    n += snprintf(text + n, size - (size_t)n, "no gates%s, ",
                  study->n_unknown_inputs ? " (unknown inputs may leap)" : "");
  else if (least < most)
    n += snprintf(text + n, size - (size_t)n, "gates of %.6g to %.6g sigma, ", least, most);
  else
    n += snprintf(text + n, size - (size_t)n, "gate %.6g sigma, ", most);
  if (most > 0.0 && study->drift_gate > 0.0)
    n += snprintf(text + n, size - (size_t)n, "drift gate %.6g sigma, ", study->drift_gate);
  if (study->uncertainty.is_on)
    snprintf(text + n, size - (size_t)n, "uncertain values: %zu of the machine, %zu of sensors",
             parts->n_budget - of_sensors, of_sensors);
  else
    snprintf(text + n, size - (size_t)n, "parameters and sensors taken as exact (%s)",
             study->uncertainty.is_stated                  ? "uncertainty: fixed"
             : study->transition == BRAMAH_TRANSITION_STEP ? "preset papers"
                                                           : "so it is with this transition");
}

static void explain_conditions(const bramah_session *session, const char *word, const char *between, size_t n,
                               const bramah_condition *condition)
{
  const bramah_plant *plant = bramah_session_plant(session);
  for (size_t i = 0; i < n; i++) {
    const bramah_condition *c = &condition[i];
    printf("%s", i ? between : word);
    if (c->kind == BRAMAH_CONDITION_SAMPLE) {
      printf("%s was measured within %.6g s", bramah_session_study(session)->sensors[c->at].name, c->most);
      continue;
    }
    bramah_output_info info;
    bramah_plant_output_info(plant, c->at, &info);
    const cli_readable unit = cli_readable_unit(info.unit);
    printf("%s", info.name);
    if (c->least > -HUGE_VAL) printf(" above %.6g", unit.factor * c->least);
    if (c->least > -HUGE_VAL && c->most < HUGE_VAL) printf(" and");
    if (c->most < HUGE_VAL) printf(" below %.6g", unit.factor * c->most);
    printf(" %s", unit.unit);
  }
}

static void explain_process(const bramah_session *session, const bramah_phase_process *of)
{
  const bramah_session_parts *parts = bramah_session_about(session);
  if (of->kind == BRAMAH_PHASE_AUGMENTED) {
    const cli_readable unit = cli_readable_unit(parts->augmented_unit[of->at]);
    const bramah_augmented *a = &parts->options.augmented[of->at];
    printf("; %s has noise %.6g %s/s^%s", a->name, unit.factor * of->noise, unit.unit,
           a->order == 2 ? "1.5" : "0.5");
    if (of->time_constant > 0.0) printf(" and time constant %.6g s", of->time_constant);
    return;
  }
  const bramah_plant *plant = bramah_session_plant(session);
  bramah_state_info state;
  if (of->kind == BRAMAH_PHASE_ACCELERATION) {
    const bramah_joint_start *joint = &bramah_session_study(session)->joints[of->at];
    const cli_readable unit = cli_readable_unit(joint->slides ? "m/s^2" : "rad/s^2");
    printf("; %s has acceleration noise %.6g %s/Hz^0.5", joint->joint, unit.factor * of->noise, unit.unit);
  } else {
    bramah_plant_state_info(plant, 2 * plant->n_dof + of->at, &state);
    const cli_readable unit = cli_readable_unit(state.unit);
    printf("; %s has noise %.6g %s/s^0.5", state.name, unit.factor * of->noise, unit.unit);
  }
}

static void explain_phases(const bramah_session *session)
{
  const bramah_session_parts *parts = bramah_session_about(session);
  for (size_t i = 0; i < parts->options.n_phases; i++) {
    const bramah_phase *p = &parts->options.phases[i];
    printf("  phase %s:", p->name);
    explain_conditions(session, p->n_end ? " from when " : " while ", " and ", p->n_begin, p->begin);
    explain_conditions(session, ", until ", " or ", p->n_end, p->end);
    if (p->off_delay > 0.0) printf(", and %.6g s longer", p->off_delay);
    for (size_t k = 0; k < p->n_processes; k++) explain_process(session, &p->processes[k]);
    printf("\n");
  }
}

/* The filter, its augmented states and the noises on parameters. */
static void explain_filter(const bramah_session *session)
{
  const bramah_study *study = bramah_session_study(session);
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
  char protection[256];
  cli_protection(session, protection, sizeof protection);
  printf("  protection: %s\n", protection);
  const bramah_filter_options options = bramah_session_about(session)->options;
  for (size_t i = 0; i < study->n_augmented; i++) {
    const bramah_augmented *a = &options.augmented[i];
    const bramah_plant *plant = bramah_session_plant(session);
    const char *what = a->kind == BRAMAH_AUGMENTED_BIAS   ? "bias of"
                       : a->kind == BRAMAH_AUGMENTED_GAIN ? "gain of"
                       : i < study->n_unknown_inputs      ? "unknown input, parameter"
                                                          : "parameter";
    const cli_readable unit = cli_readable_unit(bramah_session_about(session)->augmented_unit[i]);
    size_t p = 0;
    const int is_parameter = a->kind == BRAMAH_AUGMENTED_PARAMETER &&
                             bramah_plant_parameter_index(plant, a->at, &p, NULL) == BRAMAH_OK;
    printf("  estimated %s: %s %s [%s], starts at %.6g, sigma %.6g; ", a->name, what, a->at, unit.unit,
           is_parameter ? unit.factor * plant->parameter(plant->self, p) : 0.0, unit.factor * a->sigma);
    const int oscillates = a->frequency > 0.0 || a->signal_period > 0.0;
    if (a->frequency > 0.0) printf("oscillation of %.6g Hz", a->frequency);
    if (a->signal_period > 0.0) printf("ripple of period %.6g %s", unit.factor * a->signal_period, unit.unit);
    if (oscillates && a->time_constant > 0.0) printf(", time constant %.6g s", a->time_constant);
    if (!oscillates && a->time_constant > 0.0)
      printf("Gauss-Markov of order %d, time constant %.6g s", a->order == 2 ? 2 : 1, a->time_constant);
    if (!oscillates && !(a->time_constant > 0.0)) printf(a->noise > 0.0 ? "random walk" : "constant");
    if (a->noise > 0.0)
      printf(", noise %.6g %s/s^%s", unit.factor * a->noise, unit.unit,
             a->order == 2 && !oscillates ? "1.5" : "0.5");
    if (a->least < a->most && a->least > -HUGE_VAL) printf(", at least %.6g", unit.factor * a->least);
    if (a->least < a->most && a->most < HUGE_VAL) printf(", at most %.6g", unit.factor * a->most);
    printf("\n");
  }
  explain_phases(session);
  explain_budget(session);
  explain_hypotheses(bramah_session_study(session));
  for (size_t i = 0; i < options.n_parameter_noise; i++) {
    const cli_readable unit = cli_readable_unit(bramah_session_about(session)->noise_unit[i]);
    printf("  noise on %s: %.6g %s/Hz^0.5\n", options.parameter_noise[i].at,
           unit.factor * options.parameter_noise[i].density, unit.unit);
  }
}

/* Contacts whose bristles are error states, by the first bristle of each. */
static void print_bristles(const bramah_session *session)
{
  const bramah_session_parts *about = bramah_session_about(session);
  const bramah_plant *plant = &about->machine->plant;
  for (size_t i = 0; i < about->study->n_contacts; i++) {
    const char *name = about->study->contacts[i].contact;
    for (size_t v = 0; v < plant->n_first_order; v++) {
      bramah_state_info state;
      bramah_plant_state_info(plant, 2 * plant->n_dof + v, &state);
      if (strncmp(state.name, name, strlen(name)) != 0 ||
          strcmp(state.name + strlen(name), ".bristle_x_1") != 0)
        continue;
      const cli_readable unit = cli_readable_unit(state.unit);
      printf("  contact %s: bristles estimated, sigma %.6g %s, noise %.6g %s/s^0.5; they slide at %.6g %s\n",
             name, unit.factor * about->options.first_order_sigma[v], unit.unit,
             unit.factor * about->options.first_order_noise[v], unit.unit, unit.factor * state.scale,
             unit.unit);
    }
  }
}

/* An FMU with what its variables mean. */
static void explain_fmu(const bramah_session *session)
{
  const bramah_study_plant *p = &bramah_session_study(session)->plant;
  const bramah_machine_plant *machine = bramah_session_about(session)->machine;
  const bramah_plant *plant = &machine->plant;
  printf("plant: %s (%s), steps of %.6g ms\n", machine->machine->name, p->fmu, 1e-6 * (double)plant->step_ns);
  cli_print_fmu(machine->fmu, "  how", stdout);
  for (size_t i = 0; i < bramah_plant_n_error(plant); i++) {
    bramah_state_info info;
    bramah_plant_state_info(plant, i, &info);
    const cli_readable unit = cli_readable_unit(info.unit);
    printf("  state %s [%s], scale %.6g", info.name, unit.unit, unit.factor * info.scale);
    if (info.period > 0.0) printf(", period %.6g %s", info.period, info.unit);
    if (i >= 2 * plant->n_dof) {
      const bramah_study_state *s = &p->states[i - 2 * plant->n_dof];
      printf(": starts at %.6g, sigma %s, noise %s, variable %s", unit.factor * plant->output(plant->self, i),
             s->sigma.text, s->noise.text, s->variable);
    }
    printf("\n");
  }
  for (size_t i = 0; i < plant->n_input; i++)
    printf("  input %s [%s], variable %s\n", plant->input_name(plant->self, i),
           plant->input_unit(plant->self, i), p->inputs[i].variable);
  for (size_t i = 0; i < p->n_outputs; i++) {
    bramah_output_info info;
    bramah_plant_output_info(plant, plant->n_output - p->n_outputs + i, &info);
    printf("  output %s [%s], variable %s\n", info.name, info.unit, p->outputs[i].variable);
  }
  for (size_t i = 0; i < plant->n_parameter; i++) {
    bramah_parameter_info info;
    plant->parameter_info(plant->self, i, &info);
    printf("  parameter %s [%s]: %.6g\n", info.name, info.unit, plant->parameter(plant->self, i));
  }
}

static void explain_study(const bramah_session *session, int parameters)
{
  const bramah_study *study = bramah_session_study(session);
  if (study->plant.line)
    explain_fmu(session);
  else
    cli_explain_machine(bramah_session_about(session)->machine, parameters);
  printf("study: %s\n", study->name);
  for (size_t i = 0; i < study->n_changes; i++)
    printf("  the filter's model has %s: %s\n", study->changes[i].path, study->changes[i].value);
  for (size_t i = 0; i < study->n_sensors; i++) {
    const bramah_sensor *sensor = &bramah_session_about(session)->sensors[i];
    const bramah_sensor_options *o = &study->sensors[i];
    const cli_readable unit = cli_readable_unit(sensor->unit);
    printf("  sensor %s: %s at ", o->name, bramah_sensor_kind_name(o->kind));
    /* "v1 less v2", "port a of valve" */
    if (o->kind == BRAMAH_SENSOR_PRESSURE_DIFFERENCE)
      printf("%s less %s", o->at, o->less);
    else if (o->port)
      printf("port %c of %s", o->port == BRAMAH_SENSOR_PORT_A ? 'a' : 'b', o->at);
    else
      printf("%s", o->at);
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
  explain_filter(session);
  for (size_t i = 0; i < study->n_joints; i++) {
    const bramah_joint_start *j = &study->joints[i];
    const cli_readable position = cli_readable_unit(j->slides ? "m" : "rad");
    const cli_readable rate = cli_readable_unit(j->slides ? "m/s" : "rad/s");
    printf("  joint %s: starts at %.6g %s%s, sigma %.6g %s; rate %.6g %s, sigma %.6g %s; acceleration noise "
           "%.6g %s/s^2/Hz^0.5\n",
           j->joint, position.factor * bramah_session_about(session)->joint_start[i], position.unit,
           j->has_position     ? ""
           : study->plant.line ? " (the FMU's)"
                               : " (the machine's)",
           position.factor * j->position_sigma, position.unit,
           rate.factor * bramah_session_about(session)->joint_start_rate[i], rate.unit,
           rate.factor * j->rate_sigma, rate.unit, j->acceleration_noise, j->slides ? "m" : "rad");
  }
  for (size_t i = 0; i < study->n_volumes; i++) {
    const bramah_volume_start *v = &study->volumes[i];
    printf("  volume %s: sigma %.6g bar, noise %.6g bar/s^0.5", v->volume, 1e-5 * v->sigma, 1e-5 * v->noise);
    if (v->has_pressure) printf(", starts at %.6g bar", 1e-5 * v->pressure);
    printf("\n");
  }
  print_bristles(session);
  cli_warn_unobservable(session);
}

/* The tuning a study asks for. */
static int check_tune(const char *path)
{
  bramah_tuning *tuning;
  bramah_diag diag;
  if (bramah_tune_check(path, &diag, &tuning)) {
    fflush(stdout);
    cli_report(&diag);
    return 1;
  }
  const bramah_tune_result *result = bramah_tuning_result(tuning);
  for (size_t i = 0; i < result->n; i++) {
    const bramah_tuned_value *v = &result->values[i];
    printf("  to be tuned: %s, now %s, from %.6g to %.6g%s%s", v->path, v->text, v->least, v->most,
           *v->unit ? " " : "", v->unit);
    for (size_t k = 0; k < v->n_also; k++) printf("%s %s", k ? "," : "; the same for", v->also[k]);
    putchar('\n');
  }
  bramah_tuning_free(tuning);
  return 0;
}

/* After mistakes in a study the log is held against what can be understood of it; without machine or study
 * nothing is known of what the log should contain, but its rows can be read. */
static int check_log_alone(const char *study_path, check_logs logs)
{
  bramah_machine_plant machine = {0};
  bramah_study *study = NULL;
  bramah_sensor *sensors = NULL;
  bramah_diag diag;
  if (!logs.n) return 0;
  bramah_diag_clear(&diag);
  int known = study_path && !bramah_study_load(study_path, 0, NULL, &diag, &study);
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

static bramah_status no_rows(void *user, bramah_sample *sample, int *end, bramah_diag *diag)
{
  (void)user, (void)sample, (void)diag;
  return *end = 1, BRAMAH_OK;
}

/* Does the display of a study fit its machine? */
static int check_display_of(bramah_session *session)
{
  bramah_assess *assess = NULL;
  bramah_display *display = NULL;
  bramah_diag diag;
  int wrong = 0;
  bramah_status status = bramah_assess_new(session, no_rows, NULL, NULL, &diag, &assess);
  if (!status) status = bramah_display_new(NULL, assess, &diag, &display);
  if (status) wrong = report(&diag);
  bramah_display_free(display);
  bramah_assess_free(assess);
  return wrong;
}

/* `wrong`: mistakes found in the file so far; returns how many there are in all. */
static int check_study(const char *path, int wrong, check_logs logs, int parameters, size_t *doubts)
{
  bramah_session *session = NULL;
  bramah_diag diag;
  if (!wrong && bramah_session_open(path, &diag, &session)) wrong = report(&diag);
  if (!session) return wrong + check_log_alone(path, logs);
  explain_study(session, parameters);
  if (logs.n)
    wrong = cli_explain_log(logs.n, logs.names, bramah_session_about(session)->machine,
                            bramah_session_study(session), bramah_session_about(session)->sensors);
  int files = !wrong;
  for (size_t i = 0; i < logs.n; i++) files &= strcmp(logs.names[i], "-") != 0; /* it can be read once only */
  bramah_plausibility *plausibility = NULL;
  if (!bramah_plausibility_new(session, files ? logs.n : 0, logs.names, NULL, &diag, &plausibility))
    wrong += report_doubts(plausibility, doubts);
  else
    wrong += report(&diag);
  bramah_plausibility_free(plausibility);
  if (!wrong && bramah_session_study(session)->display_file) wrong = check_display_of(session);
  if (!wrong && bramah_session_study(session)->tune.line) wrong = check_tune(path);
  bramah_session_close(session);
  return wrong;
}

/* ---- machine ---- */

static int check_machine(const char *path, int wrong, check_logs logs, int parameters, size_t *doubts)
{
  bramah_machine_plant machine = {0};
  bramah_diag diag;
  if (!wrong && bramah_machine_plant_open(&machine, path, 0, NULL, 0, &diag)) wrong = report(&diag);
  if (wrong) {
    wrong += check_log_alone(NULL, logs);
  } else {
    cli_explain_machine(&machine, parameters);
    if (logs.n) wrong += cli_explain_log(logs.n, logs.names, &machine, NULL, NULL);
    bramah_plausibility *plausibility = NULL;
    if (!bramah_plausibility_of_machine(&machine, &diag, &plausibility))
      wrong += report_doubts(plausibility, doubts);
    else
      wrong += report(&diag);
    bramah_plausibility_free(plausibility);
  }
  bramah_machine_plant_close(&machine);
  return wrong;
}

/* ---- plan ---- */

/* Everything a sensor study needs, as far as the first mistake; the truth is simulated, nothing else is run. */
static int check_plan(const char *path)
{
  const bramah_sensor_study_options one_seed = {.seeds = 1};
  bramah_sensor_study *study = NULL;
  bramah_diag diag;
  if (bramah_sensor_study_open(path, &one_seed, &diag, &study)) return report(&diag);
  const bramah_sensor_study_layout *is = bramah_sensor_study_about(study);
  const bramah_plan *plan = is->plan;
  printf("plan: %s\n", plan->name);
  printf("  truth: %s, %.6g s in steps of %.6g ms\n", plan->machine_file, plan->duration,
         1e-6 * (double)is->step_ns);
  for (size_t i = 0; i < is->n_signals; i++)
    printf("  signal %s: %s, up to %.6g\n", plan->signals[i].name, plan->signals[i].output,
           is->signals[i].largest);
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
  bramah_sensor_study_free(study);
  return 0;
}

/* ---- work ---- */

static int check_work(const char *path)
{
  bramah_work *work = NULL;
  bramah_diag diag;
  if (bramah_work_load(path, &diag, &work)) return report(&diag);
  printf("work: %s\n", work->name);
  printf("  load: column %s; swing rate: column %s\n", work->payload, work->swing_rate);
  printf("  arm: %s; fuel rate: %s; power: %s\n", work->arm, work->fuel_rate, work->power);
  for (size_t i = 0; i < work->n_cylinders; i++)
    printf("  cylinder %s: %d of bore %.6g mm, rod %.6g mm\n", work->cylinders[i].name,
           work->cylinders[i].number, 1e3 * work->cylinders[i].bore, 1e3 * work->cylinders[i].rod);
  printf("  %zu runs\n", work->n_runs);
  bramah_work_free(work);
  return 0;
}

static void explain_scenario(const bramah_scenario *scenario)
{
  double most = 0.0;
  for (size_t i = 0; i < scenario->n_tasks; i++) most += scenario->tasks[i].points;
  printf("  scenario: %zu tasks for %.6g points, %zu penalties, %zu breakdowns; what has %.4g %% counts%s\n",
         scenario->n_tasks, most, scenario->n_penalties, scenario->n_breakdowns, 100.0 * scenario->confidence,
         scenario->by_truth ? ", by the truth where it is known" : "");
  for (size_t i = 0; i < scenario->n_tasks; i++)
    printf("  task %s: %s\n", scenario->tasks[i].name, scenario->tasks[i].instruction);
}

static int check_display(const char *path)
{
  bramah_display_file *display = NULL;
  bramah_diag diag;
  if (bramah_display_load(path, &diag, &display)) return report(&diag);
  printf("display: %s\n", display->title);
  for (size_t i = 0; i < display->n_gauges; i++) {
    const bramah_gauge *gauge = &display->gauges[i];
    printf("  gauge %s: %s [%s]", gauge->name, gauge->output, gauge->unit);
    if (gauge->has_below) printf(", critical below %.6g", gauge->below / gauge->factor);
    if (gauge->has_above) printf(", critical above %.6g", gauge->above / gauge->factor);
    if (gauge->has_below || gauge->has_above)
      printf(" from a probability of %.4g %%", 100.0 * gauge->probability);
    printf("\n");
  }
  if (display->scenario.n_tasks) explain_scenario(&display->scenario);
  printf("  %zu plots; shapes of %zu bodies\n  whether the machine has these outputs is checked with a study "
         "that names this file\n",
         display->n_plots, display->n_bodies);
  bramah_display_file_free(display);
  return 0;
}

static int run(const cli_arguments *arguments)
{
  const char *path = arguments->operands[0];
  const check_logs logs = {(size_t)arguments->n_operands - 1, arguments->operands + 1};
  const int parameters = cli_value(arguments, "parameters") != NULL;
  bramah_file_kind kind;
  int wrong = 0;
  size_t doubts = 0;
  bramah_file_check(path, tell, &wrong, &kind);
  if (kind == BRAMAH_FILE_STUDY) wrong = check_study(path, wrong, logs, parameters, &doubts);
  if (kind == BRAMAH_FILE_PLAN && !wrong) wrong = check_plan(path);
  if (kind == BRAMAH_FILE_WORK && !wrong) wrong = check_work(path);
  if (kind == BRAMAH_FILE_DISPLAY && !wrong) wrong = check_display(path);
  if (kind == BRAMAH_FILE_MACHINE) wrong = check_machine(path, wrong, logs, parameters, &doubts);
  if (wrong) {
    fflush(stdout);
    fprintf(stderr, "bramah: %d mistake%s found\n", wrong, wrong == 1 ? "" : "s");
    return CLI_FAILED;
  }
  if (doubts) {
    printf("no mistakes found, but %zu doubtful thing%s\n", doubts, doubts == 1 ? "" : "s");
    return CLI_UNTRUSTED;
  }
  printf("no mistakes found\n");
  return CLI_OK;
}

static const cli_option options[] = {
    {"parameters", NULL,
     "also list the parameters of the machine\nTheir names, nominal values, units and uncertainty.", 0, 0},
    {0}};

const cli_command cli_check = {
    .name = "check",
    .operands = "MACHINE|STUDY|PLAN|WORK [LOG...]",
    .summary = "Read a machine, study, plan, work or log, and say what it means",
    .details =
        "Says in plain words what was understood: of a machine bodies, joints and where they start, loops,\n"
        "degrees of freedom, hydraulics; of a study sensors, noise, filter; of a log how it is written, its\n"
        "columns, times, samples, and what was dropped, joined or put in order.\n\n"
        "Mistakes are reported with file, line and the thing at fault; then the exit code is 1. After a\n"
        "mistake in one file the others are still read. What is no mistake by itself but what a colleague "
        "would\n"
        "doubt (units, signs, places, steps) is said with what to write instead; then the exit code is 3.\n",
    .example = "bramah check sensors-2.yaml log.csv",
    .min_operands = 1,
    .max_operands = INT_MAX,
    .options = options,
    .run = run};
