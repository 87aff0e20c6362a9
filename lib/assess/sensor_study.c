/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sensor studies: from a plan to what its runs need, the runs of filters over noise by several threads, and from
 * their metrics to means. Runs only read the study and write their own metrics, so that any number of threads may
 * work at once and the results do not depend on how many. */
#include "bramah/assess.h"
#include "bramah/batch.h"
#include "bramah/log.h"
#include "bramah/sensor_study.h"
#include "bramah/session.h"
#include "lib/assess/statistics.h"
#include "lib/base/arena.h"
#include "lib/base/text.h"
#include "lib/io/fail.h"
#include "lib/io/worker_pool.h"
#include "lib/io/session.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef char failure_text[256];
typedef char verdict_text[512];

/* The arrays of a study, cut from one arena: type, name, how many, what they hold. */
#define STUDY_ARRAYS(X)                                                                                      \
  X(bramah_plan_scenario, scenarios, is->n_scenarios, "those wanted")                                        \
  X(bramah_plan_filter, filters, is->n_filters, "of the plan")                                               \
  X(double, rates, is->n_rates, "of the plan")                                                               \
  X(double, sampled, is->n_rates, "nearest to them")                                                         \
  X(bramah_study *, studies, is->n_studies, "as their files say")                                            \
  X(size_t, first_sensor, is->n_studies + 1, "of a study among the sensors of all")                          \
  X(double *, truth, is->n_scenarios, "[rows x (signals, sensors of all studies without noise)]")            \
  X(bramah_sensor_study_signal, signals, is->n_scenarios * is->n_signals, "without any filter")              \
  X(bramah_session *, sessions, n_sets, "of a scenario, study and filter: what its runs share")              \
  X(size_t, outputs, n_sets * is->n_signals, "of the signals, by session")                                   \
  X(bramah_sensor_study_outcome, runs, is->n_runs, "of runs")                                                \
  X(failure_text, why, is->n_runs, "runs failed")                                                            \
  X(verdict_text, verdicts, is->n_runs / is->n_seeds, "on the first seed of each case")                      \
  X(double, metrics, is->n_runs * is->n_signals * BRAMAH_N_METRICS, "of runs and signals")

struct bramah_sensor_study {
  bramah_sensor_study_layout is;
  bramah_plan *plan;
  bramah_machine_plant machine; /* of the truth */
  size_t settled;               /* first row from `settle` on */
  size_t width;                 /* of a row of the truth */
  int (*stopped)(void *user);   /* NULL: never */
  void *stopped_user;           /* its argument */
  void *memory;                 /* of the arrays */
  STUDY_ARRAYS(BRAMAH__FIELD_MEMBER)
};

static double seconds(int64_t ns) { return (double)ns / 1e9; }

/* Whether it is to go on, asked at some of the rows. */
static bramah_status go_on(const bramah_sensor_study *study, size_t row, bramah_diag *diag)
{
  if (row % 64 || !study->stopped || !study->stopped(study->stopped_user)) return BRAMAH_OK;
  return bramah__failf(diag, BRAMAH_E_TIME, NULL, 0, NULL, "interrupted");
}

/* Number of the session of a scenario, study and filter. */
static size_t set_of(const bramah_sensor_study *study, const bramah_sensor_study_case *at)
{
  const bramah_sensor_study_layout *is = &study->is;
  return (at->scenario * is->n_studies + at->study) * is->n_filters + at->filter;
}

/* Steps from one sample of a sensor to the next: the nearest multiple of the step. rate 0: the sensor's own
 * period. */
static uint64_t steps_between(double rate, int64_t period_ns, int64_t step_ns)
{
  const int64_t period = rate > 0.0 ? llround(1e9 / rate) : period_ns;
  return period > step_ns ? (uint64_t)((period + step_ns / 2) / step_ns) : 1;
}

/* ---- what the plan says ---- */

static void cut_arrays(bramah_sensor_study *s, bramah__arena *arena)
{
  const bramah_sensor_study_layout *is = &s->is;
  const size_t n_sets = is->n_scenarios * is->n_studies * is->n_filters;
  bramah_sensor_study *fields = s;
  STUDY_ARRAYS(BRAMAH__FIELD_TAKE)
}

/* Its scenarios, filters, rates and seeds, as far as they are wanted, and memory for all runs. */
static bramah_status take_plan(bramah_sensor_study *s, const bramah_sensor_study_options *options,
                               bramah_diag *diag)
{
  const bramah_plan *plan = s->plan;
  bramah_sensor_study_layout *is = &s->is;
  const size_t n_wanted = options->n_scenarios ? options->n_scenarios : plan->n_scenarios;
  *is = (bramah_sensor_study_layout){.plan = plan,
                                     .n_scenarios = n_wanted ? n_wanted : 1,
                                     .n_filters = plan->n_filters ? plan->n_filters : 1,
                                     .n_rates = plan->n_rates ? plan->n_rates : 1,
                                     .n_studies = plan->n_studies,
                                     .n_signals = plan->n_signals,
                                     .n_seeds = options->seeds ? options->seeds : (size_t)plan->seeds};
  is->n_runs = is->n_scenarios * is->n_studies * is->n_filters * is->n_rates;
  if (is->n_seeds > 100000000 / is->n_runs)
    return bramah__failf(diag, BRAMAH_E_VALUE, plan->file, 0, "seeds", "these are more than 1e8 runs");
  is->n_runs *= is->n_seeds;
  bramah__arena arena = bramah__arena_make(NULL, 0);
  cut_arrays(s, &arena);
  const bramah_status status = bramah__arena_new("sensor study", arena.used, &arena, diag);
  if (status) return status;
  s->memory = arena.base;
  cut_arrays(s, &arena);
  is->scenarios = s->scenarios, is->filters = s->filters, is->rates = s->rates, is->sampled = s->sampled;
  is->studies = s->studies, is->runs = s->runs, is->signals = s->signals;
  s->stopped = options->stopped, s->stopped_user = options->user;

  s->filters[0].name = "study";
  for (size_t i = 0; i < plan->n_filters; i++) s->filters[i] = plan->filters[i];
  for (size_t i = 0; i < plan->n_rates; i++) s->rates[i] = plan->rates[i];
  for (size_t run = 0; run < is->n_runs; run++) {
    const size_t rate = run / is->n_seeds, filter = rate / is->n_rates, set = filter / is->n_filters;
    s->runs[run].at = (bramah_sensor_study_case){.seed = run % is->n_seeds,
                                                 .rate = rate % is->n_rates,
                                                 .filter = filter % is->n_filters,
                                                 .study = set % is->n_studies,
                                                 .scenario = set / is->n_studies};
    s->runs[run].failure = "it was not run";
  }

  /* Scenarios by name, or all; one of no changes where the plan has none. */
  s->scenarios[0].name = "own";
  for (size_t w = 0; w < n_wanted; w++) {
    const char *name = options->n_scenarios ? options->scenarios[w] : plan->scenarios[w].name, *names[64];
    size_t i = 0, n = 0;
    while (i < plan->n_scenarios && strcmp(plan->scenarios[i].name, name) != 0) i++;
    if (i < plan->n_scenarios) {
      s->scenarios[w] = plan->scenarios[i];
      continue;
    }
    for (i = 0; i < plan->n_scenarios && n < sizeof names / sizeof names[0]; i++)
      names[n++] = plan->scenarios[i].name;
    const char *nearest = bramah__nearest(name, n, names);
    return bramah__failf(diag, BRAMAH_E_REFERENCE, plan->file, 0, name,
                         "the plan has no scenario of this name%s%s%s", nearest ? "; did you mean '" : "",
                         nearest ? nearest : "", nearest ? "'?" : "");
  }
  return BRAMAH_OK;
}

/* ---- sensor sets and filters ---- */

/* The study of a plan as its file and these changes have it, but for the sensors that the plan leaves out. */
static bramah_status load_study(const bramah_sensor_study *s, size_t i, size_t n_changes,
                                const bramah_change *changes, bramah_diag *diag, bramah_study **out)
{
  const bramah_plan_study *of = &s->plan->studies[i];
  bramah_status status = bramah_study_load(of->file, n_changes, changes, diag, out);
  if (status) return bramah__place(diag, of->file, 0);
  for (size_t w = 0; !status && w < of->n_without; w++)
    status = bramah__study_leave_out(*out, of->without[w], diag);
  return status ? bramah__place(diag, s->plan->file, of->line) : BRAMAH_OK;
}

/* What the runs of a plan leave out must not pass for done, be it of the file or of a filter's changes. */
static bramah_status check_knows(const bramah_study *study, const char *path, bramah_diag *diag)
{
  if (study->n_unknown_inputs)
    return bramah__failf(diag, BRAMAH_E_UNSUPPORTED, path, study->augmented[0].line,
                         study->augmented[0].input, "a study by plan knows no unknown inputs");
  if (study->adapt.line)
    return bramah__failf(diag, BRAMAH_E_UNSUPPORTED, path, study->adapt.line, "adapt",
                         "a study by plan knows no noise that adapts by itself");
  for (size_t i = 0; i < study->n_sensors; i++)
    if (study->sensors[i].delay_ns)
      return bramah__failf(diag, BRAMAH_E_UNSUPPORTED, path, study->sensors[i].line, study->sensors[i].name,
                           "a study by plan knows no sensors with a delay");
  return BRAMAH_OK;
}

static bramah_status find_signals(const bramah_sensor_study *s, const bramah_plant *plant, size_t *out,
                                  bramah_diag *diag)
{
  for (size_t i = 0; i < s->is.n_signals; i++) {
    const bramah_plan_signal *signal = &s->plan->signals[i];
    const long output = bramah_plant_find_output(plant, signal->output);
    if (output < 0)
      return bramah__failf(diag, BRAMAH_E_REFERENCE, s->plan->file, signal->line, signal->name,
                           "the machine has no output '%s'", signal->output);
    out[i] = (size_t)output;
  }
  return BRAMAH_OK;
}

/* The session of a scenario, study and filter: the study file as the filter changes it, with what the scenario says
 * is wrong with its model in place of what the file says. */
static bramah_status open_set(bramah_sensor_study *s, const bramah_sensor_study_case *at, bramah_diag *diag)
{
  const bramah_plan_filter *filter = &s->filters[at->filter];
  const bramah_plan_scenario *scenario = &s->scenarios[at->scenario];
  const bramah_study *file = s->studies[at->study];
  const char *path = s->plan->studies[at->study].file;
  const size_t set = set_of(s, at);
  bramah_study *study = NULL;
  bramah_status status = load_study(s, at->study, filter->n_changes, filter->changes, diag, &study);
  if (!status) status = check_knows(study, path, diag);

  /* A filter may assume something else of the sensors, not have others: the truth has those of the file. */
  int same = !status && study->n_sensors == file->n_sensors;
  for (size_t i = 0; same && i < file->n_sensors; i++)
    same = strcmp(study->sensors[i].name, file->sensors[i].name) == 0;
  if (!status && !same)
    status = bramah__failf(diag, BRAMAH_E_UNSUPPORTED, file->file, 0, NULL,
                           "the changes of a filter must not add sensors");
  if (status) {
    bramah_study_free(study);
    return status;
  }
  if (filter->transition) study->transition = filter->transition;
  if (filter->transition && filter->transition != BRAMAH_TRANSITION_STEP && !study->uncertainty.is_stated)
    study->uncertainty.is_on = 0;
  if (s->plan->n_scenarios) {
    study->n_changes = scenario->n_changes;
    study->changes = scenario->changes;
  }
  status = bramah_session_new(study, s->is.step_ns, diag, &s->sessions[set]);
  if (!status) status = bramah__refuse_fmu(bramah_session_study(s->sessions[set]), "a sensor study", diag);
  if (!status)
    status = bramah__refuse_hypotheses(bramah_session_study(s->sessions[set]), "a sensor study", diag);
  if (status) return status;
  return find_signals(s, bramah_session_plant(s->sessions[set]), &s->outputs[set * s->is.n_signals], diag);
}

/* ---- truth ---- */

/* Simulate the truth of a scenario. output [signals] of its plant, sensors of all studies on it. */
static bramah_status simulate(bramah_sensor_study *s, size_t scenario, const size_t *output,
                              const bramah_sensor *sensors, bramah_diag *diag)
{
  const bramah_plant *plant = &s->machine.plant;
  const bramah_plan_scenario *wrong = &s->scenarios[scenario];
  const size_t n = s->is.n_signals;
  bramah_schedule *schedule = NULL;
  double *out = s->truth[scenario] = calloc(s->is.rows * s->width, sizeof *out);
  if (!out) return bramah__fail_memory(diag);
  bramah_status status = bramah_schedule_new(s->machine.machine, s->machine.model, diag, &schedule);
  if (!status) status = bramah_coupled_reset(s->machine.coupled, diag);
  for (size_t i = 0; !status && i < wrong->n_parameters; i++) {
    const bramah_change *p = &wrong->parameters[i];
    bramah_parameter_info info;
    size_t index;
    double value = 0.0;
    bramah_diag_clear(diag);
    status = bramah_plant_parameter_index(plant, p->path, &index, diag);
    if (!status) plant->parameter_info(plant->self, index, &info);
    if (!status) status = bramah_quantity_parse(p->value, info.unit, &value, diag);
    if (!status) status = plant->set_parameter(plant->self, index, value, diag);
    if (status) bramah__place(diag, p->file, p->line);
  }

  bramah_status stopped = BRAMAH_OK;
  for (size_t row = 0; !status && row < s->is.rows; row++, out += s->width) {
    stopped = go_on(s, row, diag);
    if (stopped) break;
    const int64_t now = (int64_t)row * plant->step_ns;
    status = plant->set_inputs(plant->self, bramah_schedule_at(schedule, now), diag);
    if (status) break;
    for (size_t i = 0; i < n; i++) {
      double *largest = &s->signals[scenario * n + i].largest;
      out[i] = plant->output(plant->self, output[i]);
      *largest = fmax(*largest, fabs(out[i]));
    }
    for (size_t k = n; k < s->width; k++) out[k] = bramah_sensor_predict(&sensors[k - n], plant);
    if (row + 1 == s->is.rows) break;
    status = plant->step(plant->self, diag);
    if (!status) continue;
    const size_t used = strlen(diag->message);
    snprintf(diag->message + used, sizeof diag->message - used, " (truth after t = %.9g s)", seconds(now));
  }
  bramah_schedule_free(schedule);
  return status ? bramah__place(diag, s->plan->machine_file, 0) : stopped;
}

/* The model of the first study and filter without corrections, against that truth. It may come to an
 * early end; then it has no metrics. */
static bramah_status run_alone(bramah_sensor_study *s, size_t scenario, bramah_diag *diag)
{
  const size_t set = set_of(s, &(bramah_sensor_study_case){.scenario = scenario}), n = s->is.n_signals;
  const bramah_machine_plant *machine = bramah_session_about(s->sessions[set])->machine;
  const bramah_plant *plant = bramah_session_plant(s->sessions[set]);
  bramah__rmse all[BRAMAH_PLAN_MOST_SIGNALS] = {{0}}, settled[BRAMAH_PLAN_MOST_SIGNALS] = {{0}};
  bramah_schedule *schedule = NULL;
  bramah_status status = bramah_schedule_new(s->machine.machine, machine->model, diag, &schedule);
  bramah_status stopped = BRAMAH_OK;
  if (status) return status;
  status = bramah_session_start(s->sessions[set], machine->coupled, diag);
  for (size_t k = 0; !status && k < s->is.rows; k++) {
    stopped = go_on(s, k, diag);
    if (stopped) break;
    const int64_t now = (int64_t)k * plant->step_ns;
    status = plant->set_inputs(plant->self, bramah_schedule_at(schedule, now), diag);
    for (size_t i = 0; !status && i < n; i++) {
      const double is = s->truth[scenario][k * s->width + i];
      const double has = plant->output(plant->self, s->outputs[set * n + i]);
      bramah__rmse_add(&all[i], is, has, NAN);
      if (k >= s->settled) bramah__rmse_add(&settled[i], is, has, NAN);
    }
    if (!status && k + 1 < s->is.rows) status = plant->step(plant->self, diag);
  }
  for (size_t i = 0; i < n; i++) {
    bramah_sensor_study_signal *signal = &s->signals[scenario * n + i];
    const double percent = status ? (double)NAN : 100.0 / signal->largest;
    signal->model_alone = percent * bramah__rmse_of(&all[i]).value;
    signal->model_alone_settled = percent * bramah__rmse_of(&settled[i]).value;
  }
  bramah_schedule_free(schedule);
  return stopped;
}

/* The truth of every scenario. */
static bramah_status make_truths(bramah_sensor_study *s, bramah_diag *diag)
{
  const bramah_sensor_study_layout *is = &s->is;
  s->width = is->n_signals + s->first_sensor[is->n_studies];
  bramah_sensor *sensors = calloc(s->width + 1, sizeof *sensors); /* of all studies, on its plant */
  size_t *output = calloc(is->n_signals + 1, sizeof *output);
  bramah_status status = sensors && output ? BRAMAH_OK : bramah__fail_memory(diag);
  if (!status) status = find_signals(s, &s->machine.plant, output, diag);
  for (size_t i = 0; !status && i < is->n_studies; i++) {
    const bramah_study *study = s->studies[i];
    for (size_t k = 0; !status && k < study->n_sensors; k++) {
      bramah_diag_clear(diag);
      status =
          bramah_sensor_init(&study->sensors[k], &s->machine.plant, diag, &sensors[s->first_sensor[i] + k]);
      if (status) bramah__place(diag, study->file, study->sensors[k].line);
    }
  }
  for (size_t i = 0; !status && i < is->n_scenarios; i++) status = simulate(s, i, output, sensors, diag);
  for (size_t i = 0; !status && i < is->n_scenarios; i++) status = run_alone(s, i, diag);
  free(sensors);
  free(output);
  return status;
}

/* ---- the whole ---- */

void bramah_sensor_study_options_default(bramah_sensor_study_options *options)
{
  *options = (bramah_sensor_study_options){0};
}

bramah_status bramah_sensor_study_open(const char *plan, const bramah_sensor_study_options *options,
                                       bramah_diag *diag, bramah_sensor_study **out)
{
  const bramah_sensor_study_options standard = {0};
  bramah_sensor_study *s = calloc(1, sizeof *s);
  if (!s) return bramah__fail_memory(diag);
  bramah_sensor_study_layout *is = &s->is;
  bramah_diag_clear(diag);
  bramah_status status = bramah__plan_load(plan, diag, &s->plan);
  if (status) bramah__place(diag, plan, 0);
  if (!status) status = take_plan(s, options ? options : &standard, diag);

  /* The machine of the truth gives the step. */
  if (!status)
    status = bramah_machine_plant_open(&s->machine, s->plan->machine_file, s->plan->n_changes,
                                       s->plan->changes, llround(1e9 * s->plan->step), diag);
  if (!status) status = bramah_machine_plant_dig(&s->machine, diag); /* a truth has soil that moves */
  if (!status) {
    is->step_ns = s->machine.plant.step_ns;
    is->rows = (size_t)(llround(1e9 * s->plan->duration) / is->step_ns) + 1;
    s->settled = (size_t)((llround(1e9 * s->plan->settle) + is->step_ns - 1) / is->step_ns);
    for (size_t i = 0; i < s->plan->n_rates; i++)
      s->sampled[i] = 1e9 / (double)((int64_t)steps_between(s->rates[i], 0, is->step_ns) * is->step_ns);
  }

  /* The sensors as the files describe them: what a filter assumes of them may be something else. */
  for (size_t i = 0; !status && i < is->n_studies; i++) {
    const char *path = s->plan->studies[i].file;
    status = load_study(s, i, 0, NULL, diag, &s->studies[i]);
    if (!status) status = check_knows(s->studies[i], path, diag);
    if (!status) s->first_sensor[i + 1] = s->first_sensor[i] + s->studies[i]->n_sensors;
  }
  for (bramah_sensor_study_case c = {0}; c.scenario < is->n_scenarios; c.scenario++)
    for (c.study = 0; c.study < is->n_studies; c.study++)
      for (c.filter = 0; !status && c.filter < is->n_filters; c.filter++) status = open_set(s, &c, diag);
  if (!status) status = make_truths(s, diag);
  if (status)
    bramah_sensor_study_free(s);
  else
    *out = s;
  return status;
}

void bramah_sensor_study_free(bramah_sensor_study *s)
{
  if (!s) return;
  const bramah_sensor_study_layout *is = &s->is;
  for (size_t i = 0; s->memory && i < is->n_scenarios * is->n_studies * is->n_filters; i++)
    bramah_session_close(s->sessions[i]);
  for (size_t i = 0; s->memory && i < is->n_scenarios; i++) free(s->truth[i]);
  for (size_t i = 0; s->memory && i < is->n_studies; i++) bramah_study_free(s->studies[i]);
  bramah_machine_plant_close(&s->machine);
  bramah__aligned_free(s->memory);
  bramah__plan_free(s->plan);
  free(s);
}

/* ---- runs ---- */

/* Runs of one session go together in one batch, whose filters go in lanes where they can: at most so many. */
enum { TOGETHER = 16 };

typedef struct sampled {
  bramah_noise *noise; /* a stream of its own, as in `simulate --noise` */
  uint64_t every;      /* steps between samples */
} sampled;

typedef struct watched {
  bramah__rmse all, settled, noise, sigma;
  double saw_sum;
  size_t saw_n;
} watched;

/* What one run has to itself: its session is a clone. */
typedef struct running {
  bramah_session *session;
  sampled *sampled; /* [n_sensors] */
  watched watched[BRAMAH_PLAN_MOST_SIGNALS];
  bramah__nis nis;
  bramah_status status;
  bramah_diag diag;
  size_t row; /* where it failed */
} running;

typedef struct unit {
  bramah_sensor_study *study;
  bramah_sensor_study_case at; /* but for rate and seed */
  size_t first, n;             /* runs */
  const double *truth;         /* of its scenario */
  const size_t *output;        /* [signals] */
  size_t n_sensors;
  const bramah_sensor_options *sensors;    /* of the truth */
  const bramah_sensor *assumed;            /* [n_sensors] by the filters */
  long measures[BRAMAH_PLAN_MOST_SIGNALS]; /* sensor that measures just this signal; -1: none */
  running running[TOGETHER];
  bramah_batch *batch;
  bramah_schedule *schedule;
  void *memory;
  double *y;                       /* [n x n_sensors] */
  double *value, *sigma, *before;  /* [n x signals]; sigma before the correction */
  unsigned char *present;          /* [n x n_sensors] */
  unsigned char *going, *sampling; /* [n] not failed, and something is measured */
} unit;

static void cut_unit(unit *w, bramah__arena *arena)
{
  const size_t n = w->n, n_signals = w->study->is.n_signals;
  w->y = BRAMAH__TAKE(arena, double, n * w->n_sensors);
  w->value = BRAMAH__TAKE(arena, double, n *n_signals);
  w->sigma = BRAMAH__TAKE(arena, double, n *n_signals);
  w->before = BRAMAH__TAKE(arena, double, n *n_signals);
  w->present = BRAMAH__TAKE(arena, unsigned char, n * w->n_sensors);
  w->going = BRAMAH__TAKE(arena, unsigned char, n);
  w->sampling = BRAMAH__TAKE(arena, unsigned char, n);
  for (size_t i = 0; i < n; i++) w->running[i].sampled = BRAMAH__TAKE(arena, sampled, w->n_sensors);
}

static bramah_status open_run(unit *w, size_t i, bramah_filter **filter, bramah_diag *diag)
{
  const bramah_sensor_study *s = w->study;
  const bramah_sensor_study_case *at = &s->runs[w->first + i].at;
  running *r = &w->running[i];
  bramah_status status = bramah_session_clone(s->sessions[set_of(s, at)], diag, &r->session);
  if (status) return status;
  *filter = bramah_session_filter(r->session);
  w->assumed = bramah_session_about(r->session)->sensors;
  w->going[i] = 1;
  for (size_t k = 0; !status && k < w->n_sensors; k++) {
    r->sampled[k].every = steps_between(s->rates[at->rate], w->assumed[k].period_ns, s->is.step_ns);
    status = bramah_noise_new(at->seed + 1, w->sensors[k].name, diag, &r->sampled[k].noise);
  }
  return status;
}

static bramah_status open_unit(unit *w, bramah_diag *diag)
{
  const bramah_sensor_study *s = w->study;
  bramah_filter *filter[TOGETHER];
  bramah__arena arena = bramah__arena_make(NULL, 0);
  cut_unit(w, &arena);
  bramah_status status = bramah__arena_new("sensor study", arena.used, &arena, diag);
  if (status) return status;
  w->memory = arena.base;
  cut_unit(w, &arena);
  for (size_t i = 0; !status && i < w->n; i++) status = open_run(w, i, &filter[i], diag);
  if (!status) status = bramah_batch_of(w->n, filter, diag, &w->batch);
  if (status) return status;
  const bramah_session *session = w->running[0].session;
  for (size_t i = 0; i < s->is.n_signals; i++)
    w->measures[i] = bramah__session_sensor_of_output(session, w->output[i]);
  return bramah_schedule_new(s->machine.machine, bramah_session_about(session)->machine->model, diag,
                             &w->schedule);
}

static void close_unit(unit *w)
{
  bramah_batch_free(w->batch);
  bramah_schedule_free(w->schedule);
  for (size_t i = 0; i < w->n; i++) {
    running *r = &w->running[i];
    for (size_t k = 0; r->sampled && k < w->n_sensors; k++) bramah_noise_free(r->sampled[k].noise);
    bramah_session_close(r->session);
  }
  bramah__aligned_free(w->memory);
}

/* What run i measures at row k; 1: something. */
static int measure(unit *w, size_t i, size_t k)
{
  const bramah_sensor_study *s = w->study;
  const double *measured = w->truth + k * s->width + s->is.n_signals + s->first_sensor[w->at.study];
  const sampled *of = w->running[i].sampled;
  double *y = w->y + i * w->n_sensors;
  unsigned char *present = w->present + i * w->n_sensors;
  int any = 0;
  for (size_t j = 0; w->going[i] && j < w->n_sensors; j++) {
    present[j] = k % of[j].every == 0;
    any |= present[j];
    if (!present[j]) continue;
    const double noise = bramah_noise_gaussian(of[j].noise, w->sensors[j].sigma);
    y[j] = bramah_sensor_digitize(&w->assumed[j], measured[j] + noise);
  }
  return any;
}

/* How run i stands at row k: errors, and by how much a correction lowers the sigmas once everything has settled. */
static void look_at(unit *w, size_t i, size_t k)
{
  const size_t n = w->study->is.n_signals;
  const double *truth = w->truth + k * w->study->width, *y = w->y + i * w->n_sensors;
  const int settled = k >= w->study->settled;
  for (size_t j = 0; j < n; j++) {
    watched *to = &w->running[i].watched[j];
    const double is = truth[j], has = w->value[i * n + j], sigma = w->sigma[i * n + j],
                 ratio = w->before[i * n + j] / sigma;
    const long sensor = w->measures[j];
    if (w->sampling[i] && settled && isfinite(ratio)) {
      to->saw_sum += ratio;
      to->saw_n++;
    }
    bramah__rmse_add(&to->all, is, has, sigma);
    if (settled) bramah__rmse_add(&to->settled, is, has, NAN);
    if (settled && isfinite(sigma)) bramah__rmse_add(&to->sigma, 0.0, sigma, NAN);
    if (sensor >= 0 && w->sampling[i] && w->present[i * w->n_sensors + (size_t)sensor])
      bramah__rmse_add(&to->noise, is, y[sensor], NAN);
  }
}

/* Those that have failed at row k go no further; how many go on. */
static size_t note_failures(unit *w, size_t k)
{
  size_t going = 0;
  for (size_t i = 0; i < w->n; i++) {
    running *r = &w->running[i];
    if (!w->going[i]) continue;
    const bramah_batch_result result = bramah_batch_get(w->batch, i);
    w->going[i] = result.status == BRAMAH_OK;
    going += w->going[i];
    if (w->going[i]) continue;
    r->status = result.status;
    r->diag = *result.diag;
    r->row = k;
  }
  return going;
}

/* A row holds what was corrected at its time and the command from then on, as the truth does. */
static void run_row(unit *w, size_t k, size_t *going)
{
  const size_t n = w->study->is.n_signals;
  size_t sampling = 0, left = *going;
  for (size_t i = 0; i < w->n; i++) sampling += w->sampling[i] = (unsigned char)measure(w, i, k);
  if (sampling && k >= w->study->settled)
    bramah_batch_outputs(w->batch, w->sampling, n, w->output, NULL, w->before);
  if (sampling)
    bramah_batch_correct(w->batch, &(bramah_batch_cycle){
                                       .n_y = w->n, .y = w->y, .present = w->present, .taking = w->sampling});
  for (size_t i = 0; i < w->n && sampling; i++) {
    if (!w->sampling[i]) continue;
    const bramah_batch_result result = bramah_batch_get(w->batch, i);
    if (!result.status) bramah__nis_add(&w->running[i].nis, result.nis, (double)result.nis_dof);
  }

  const double *u = bramah_schedule_at(w->schedule, (int64_t)k * w->study->is.step_ns);
  left = bramah_batch_inputs(w->batch, &(bramah_batch_cycle){.n_u = 1, .u = u});
  bramah_batch_outputs(w->batch, w->going, n, w->output, w->value, w->sigma);
  for (size_t i = 0; i < w->n; i++)
    if (w->going[i]) look_at(w, i, k);
  if (k + 1 < w->study->is.rows) left = bramah_batch_predict(w->batch, &(bramah_batch_cycle){0});
  if (left < *going) *going = note_failures(w, k);
}

/* Only what belongs to this run is written. */
static void finish_run(const unit *w, size_t i)
{
  bramah_sensor_study *s = w->study;
  const running *r = &w->running[i];
  const size_t n = s->is.n_signals, run = w->first + i;
  double *metrics = &s->metrics[run * n * BRAMAH_N_METRICS];
  s->runs[run].failure = r->status ? s->why[run] : NULL;
  if (r->status)
    snprintf(s->why[run], sizeof s->why[run], "%.60s%s%.140s (at t = %.9g s)", r->diag.thing,
             r->diag.thing[0] ? ": " : "", r->diag.message, seconds((int64_t)r->row * s->is.step_ns));
  for (size_t j = 0; !r->status && j < n; j++, metrics += BRAMAH_N_METRICS) {
    const watched *of = &r->watched[j];
    const double percent = 100.0 / s->signals[w->at.scenario * n + j].largest;
    metrics[BRAMAH_METRIC_RMSE] = percent * bramah__rmse_of(&of->all).value;
    metrics[BRAMAH_METRIC_SETTLED] = percent * bramah__rmse_of(&of->settled).value;
    metrics[BRAMAH_METRIC_INSIDE] = bramah__rmse_of(&of->all).inside;
    metrics[BRAMAH_METRIC_SAW_TOOTH] = of->saw_n ? of->saw_sum / (double)of->saw_n : (double)NAN;
    metrics[BRAMAH_METRIC_NOISE] = percent * bramah__rmse_of(&of->noise).value;
    metrics[BRAMAH_METRIC_NIS] = bramah__nis_mean(&r->nis);
    metrics[BRAMAH_METRIC_SIGMA] = percent * bramah__rmse_of(&of->sigma).value;
  }
}

/* ---- verdicts ---- */

/* The log of a run, row by row. */
typedef struct run_log {
  unit *of;
  size_t row;
} run_log;

static bramah_status next_row(void *user, bramah_sample *sample, int *end, bramah_diag *diag)
{
  run_log *log = user;
  unit *w = log->of;
  const size_t k = log->row++;
  *end = k >= w->study->is.rows;
  if (*end) return BRAMAH_OK;
  sample->time_ns = (int64_t)k * w->study->is.step_ns;
  const double *u = bramah_schedule_at(w->schedule, sample->time_ns);
  const size_t n_input = bramah_session_plant(w->running[0].session)->n_input;
  memcpy(sample->inputs, u, n_input * sizeof *u);
  memset(sample->has_input, 1, n_input);
  measure(w, 0, k);
  memcpy(sample->y, w->y, w->n_sensors * sizeof *w->y);
  memcpy(sample->present, w->present, w->n_sensors);
  return go_on(w->study, k, diag);
}

/* What a replay of that run's log says of its filter. What goes wrong in it is its verdict. */
static void assess_run(bramah_sensor_study *s, size_t run)
{
  unit w = {.study = s, .first = run, .n = 1, .at = s->runs[run].at};
  char *text = s->verdicts[run / s->is.n_seeds];
  bramah_assess *assess = NULL;
  bramah_diag diag;
  bramah_diag_clear(&diag);
  const bramah_study *study = s->studies[w.at.study];
  w.truth = s->truth[w.at.scenario];
  w.output = &s->outputs[set_of(s, &w.at) * s->is.n_signals];
  w.sensors = study->sensors;
  w.n_sensors = study->n_sensors;
  bramah_status status = open_unit(&w, &diag);
  run_log log = {&w, 0};
  if (!status) status = bramah_assess_new(w.running[0].session, next_row, &log, NULL, &diag, &assess);
  if (!status) status = bramah_assess_run(assess, &diag);
  if (status)
    snprintf(text, sizeof(verdict_text), "none: %.400s", diag.message);
  else
    bramah_verdict_text(&bramah_assess_get_results(assess)->verdict, text, sizeof(verdict_text));
  bramah_assess_free(assess);
  close_unit(&w);
  s->runs[run].verdict = text;
}

/* Those of a unit that have the first seed; shorter runs than 2 s say nothing of their filter. */
static bramah_status assess_runs(const unit *w, bramah_diag *diag)
{
  bramah_sensor_study *s = w->study;
  const int is_long = (int64_t)(s->is.rows - 1) * s->is.step_ns >= 2000000000;
  for (size_t run = w->first; is_long && run < w->first + w->n; run++)
    if (s->runs[run].at.seed == 0 && !s->runs[run].failure) assess_run(s, run);
  return go_on(s, 0, diag);
}

/* ---- all runs ---- */

typedef struct all_runs {
  bramah_sensor_study *study;
  bramah_sensor_study_progress progress;
  void *user;
  size_t units; /* of the runs of a session */
  size_t done;
} all_runs;

/* Runs of unit i of all: the first of them, and how many. */
static size_t runs_of(const all_runs *all, size_t i, size_t *n)
{
  const bramah_sensor_study_layout *is = &all->study->is;
  const size_t of_session = is->n_rates * is->n_seeds, session = i / all->units, u = i % all->units,
               first = u * of_session / all->units;
  *n = (u + 1) * of_session / all->units - first;
  return session * of_session + first;
}

static bramah_status run_unit(void *user, size_t i, bramah__worker_pool *pool, bramah_diag *outer)
{
  const all_runs *all = user;
  bramah_sensor_study *s = all->study;
  unit w = {.study = s};
  bramah_diag diag;
  (void)pool;
  bramah_diag_clear(&diag);
  w.first = runs_of(all, i, &w.n);
  w.at = s->runs[w.first].at;
  w.truth = s->truth[w.at.scenario];
  w.output = &s->outputs[set_of(s, &w.at) * s->is.n_signals];
  w.sensors = s->studies[w.at.study]->sensors;
  w.n_sensors = s->studies[w.at.study]->n_sensors;
  const bramah_status status = open_unit(&w, &diag);
  for (size_t k = 0; status && k < w.n; k++) {
    w.running[k].status = status;
    w.running[k].diag = diag;
  }
  bramah_status stopped = BRAMAH_OK;
  size_t going = status ? 0 : w.n;
  for (size_t k = 0; going && !stopped && k < s->is.rows; k++) {
    stopped = go_on(s, k, outer);
    if (!stopped) run_row(&w, k, &going);
  }
  for (size_t k = 0; !stopped && k < w.n; k++) finish_run(&w, k);
  close_unit(&w);
  return stopped ? stopped : assess_runs(&w, outer);
}

static bramah_status unit_done(void *user, size_t i, bramah_diag *diag)
{
  all_runs *all = user;
  size_t n;
  (void)diag;
  runs_of(all, i, &n);
  all->done += n;
  if (all->progress) all->progress(all->user, all->done);
  return BRAMAH_OK;
}

bramah_status bramah_sensor_study_run(bramah_sensor_study *study, size_t n_threads,
                                      bramah_sensor_study_progress progress, void *user, bramah_diag *diag)
{
  const bramah_sensor_study_layout *is = &study->is;
  const size_t of_session = is->n_rates * is->n_seeds, n_sessions = is->n_runs / of_session;
  size_t most = is->n_runs / (n_threads ? n_threads : 1);
  if (most > TOGETHER) most = TOGETHER;
  if (most == 0) most = 1;
  all_runs all = {
      .study = study, .progress = progress, .user = user, .units = (of_session + most - 1) / most};
  const bramah__worker_jobs work = {
      .n = n_sessions * all.units, .user = &all, .job = run_unit, .done = unit_done};
  return bramah__worker_pool_run(&work, n_threads, diag);
}

/* ---- results ---- */

const bramah_sensor_study_layout *bramah_sensor_study_about(const bramah_sensor_study *study)
{
  return &study->is;
}

bramah_sensor_study_average bramah_sensor_study_mean(const bramah_sensor_study *study,
                                                     const bramah_sensor_study_case *at, size_t signal,
                                                     bramah_metric metric)
{
  bramah_sensor_study_average m = {0};
  double sum = 0.0, squares = 0.0;
  const size_t first = (set_of(study, at) * study->is.n_rates + at->rate) * study->is.n_seeds,
               stride = study->is.n_signals * BRAMAH_N_METRICS;
  const double *x = &study->metrics[first * stride + signal * BRAMAH_N_METRICS + metric];
  for (size_t i = 0; i < study->is.n_seeds; i++) {
    if (study->runs[first + i].failure || isnan(x[i * stride])) continue;
    sum += x[i * stride];
    m.n++;
  }
  m.mean = m.n ? sum / (double)m.n : (double)NAN;
  for (size_t i = 0; i < study->is.n_seeds; i++) {
    if (study->runs[first + i].failure || isnan(x[i * stride])) continue;
    squares += (x[i * stride] - m.mean) * (x[i * stride] - m.mean);
  }
  m.error = m.n > 1 ? sqrt(squares / ((double)m.n * (double)(m.n - 1))) : (double)NAN;
  return m;
}

/* Advance index *i of n if it is one of those that run through all; 0 at the end, when it begins anew. */
static int next_of(size_t *i, size_t wanted, size_t n)
{
  if (wanted != BRAMAH_SENSOR_STUDY_ALL) return 0;
  *i = *i + 1 < n ? *i + 1 : 0;
  return *i != 0;
}

bramah_sensor_study_ratio bramah_sensor_study_compare(const bramah_sensor_study *study, bramah_metric metric,
                                                      size_t signal, const bramah_sensor_study_case *a,
                                                      const bramah_sensor_study_case *b)
{
  const size_t all = BRAMAH_SENSOR_STUDY_ALL;
  const bramah_sensor_study_layout *is = &study->is;
  bramah_sensor_study_case i = {0}; /* of the cases */
  size_t k = 0;                     /* of the signals */
  bramah_sensor_study_ratio r = {0};
  double sum = 0.0;
  do {
    double value[2];
    for (int side = 0; side < 2; side++) {
      const bramah_sensor_study_case *of = side && b ? b : a;
      const bramah_sensor_study_case c = {.scenario = of->scenario == all ? i.scenario : of->scenario,
                                          .study = of->study == all ? i.study : of->study,
                                          .filter = of->filter == all ? i.filter : of->filter,
                                          .rate = of->rate == all ? i.rate : of->rate};
      value[side] = bramah_sensor_study_mean(study, &c, signal == all ? k : signal, metric).mean;
    }
    const double ratio = b ? value[0] / value[1] : value[0];
    if (!(ratio > 0.0) || isinf(ratio)) continue;
    sum += log(ratio);
    r.smaller += ratio < 1.0;
    r.n++;
  } while (next_of(&k, signal, is->n_signals) || next_of(&i.rate, a->rate, is->n_rates) ||
           next_of(&i.filter, a->filter, is->n_filters) || next_of(&i.study, a->study, is->n_studies) ||
           next_of(&i.scenario, a->scenario, is->n_scenarios));
  r.mean = r.n ? exp(sum / (double)r.n) : (double)NAN;
  return r;
}
