/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sensor studies: from a plan to what its runs need, the runs of filters over noise by several threads, and from
 * their metrics to means. Runs only read the study and write their own metrics, so that any number of threads may
 * work at once and the results do not depend on how many. */
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
  X(double, metrics, is->n_runs * is->n_signals * BRAMAH_N_METRICS, "of runs and signals")

struct bramah_sensor_study {
  bramah_sensor_study_layout is;
  bramah_plan *plan;
  bramah_machine_plant machine; /* of the truth */
  size_t settled;               /* first row from `settle` on */
  size_t width;                 /* of a row of the truth */
  void *memory;                 /* of the arrays */
  STUDY_ARRAYS(BRAMAH__FIELD_MEMBER)
};

static double seconds(int64_t ns) { return (double)ns / 1e9; }

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
  bramah_status status = bramah_study_load(path, filter->n_changes, filter->changes, diag, &study);
  if (status) return bramah__place(diag, path, 0);
  status = check_knows(study, path, diag);

  /* A filter may assume something else of the sensors, not have others: the truth has those of the file. */
  int same = study->n_sensors == file->n_sensors;
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

  for (size_t row = 0; !status && row < s->is.rows; row++, out += s->width) {
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
  return status ? bramah__place(diag, s->plan->machine_file, 0) : BRAMAH_OK;
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
  if (status) return status;
  status = bramah_session_start(s->sessions[set], machine->coupled, diag);
  for (size_t k = 0; !status && k < s->is.rows; k++) {
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
  return BRAMAH_OK;
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
    status = bramah_study_load(path, 0, NULL, diag, &s->studies[i]);
    if (status) bramah__place(diag, path, 0);
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

/* ---- one run ---- */

typedef struct sampled {
  bramah_noise *noise; /* a stream of its own, as in `simulate --noise` */
  uint64_t every;      /* steps between samples */
} sampled;

typedef struct watched {
  bramah__rmse all, settled, noise;
  long sensor;   /* that measures just this; -1: none */
  double before; /* sigma before the correction */
  double saw_sum;
  size_t saw_n;
} watched;

/* What one run has to itself: its session is a clone. */
typedef struct running {
  const bramah_sensor_study *study;
  bramah_sensor_study_case at;
  const double *truth;                  /* of its scenario */
  const size_t *output;                 /* [signals] */
  const bramah_sensor_options *sensors; /* of the truth */
  size_t n_sensors;
  bramah_session *session;
  bramah_filter *filter;
  const bramah_plant *plant;
  const bramah_sensor *assumed; /* [n_sensors] by the filter */
  bramah_schedule *schedule;
  sampled *sampled;       /* [n_sensors] */
  double *y;              /* [n_sensors] */
  unsigned char *present; /* [n_sensors] */
  watched watched[BRAMAH_PLAN_MOST_SIGNALS];
  bramah__nis nis;
} running;

static double sigma_of(const running *b, size_t signal)
{
  return bramah_filter_output_sigma(b->filter, b->output[signal]);
}

/* A row holds what was corrected at its time and the command from then on, as the truth does. */
static bramah_status run_row(running *b, size_t k, bramah_diag *diag)
{
  const bramah_plant *plant = b->plant;
  const size_t n = b->study->is.n_signals;
  const double *truth = b->truth + k * b->study->width;
  const double *measured = truth + n + b->study->first_sensor[b->at.study];
  int any = 0;
  for (size_t i = 0; i < b->n_sensors; i++) {
    b->present[i] = k % b->sampled[i].every == 0;
    any |= b->present[i];
    if (!b->present[i]) continue;
    const double noise = bramah_noise_gaussian(b->sampled[i].noise, b->sensors[i].sigma);
    b->y[i] = bramah_sensor_digitize(&b->assumed[i], measured[i] + noise);
  }

  /* A correction, and by how much it lowers the sigmas once everything has settled. */
  const int settled = k >= b->study->settled;
  bramah_status status = BRAMAH_OK;
  for (size_t i = 0; any && settled && i < n; i++) b->watched[i].before = sigma_of(b, i);
  if (any) status = bramah_filter_correct(b->filter, b->y, b->present, diag);
  if (any && !status) {
    const bramah_filter_last last = bramah_filter_get_last(b->filter);
    bramah__nis_add(&b->nis, last.nis, (double)last.nis_dof);
    for (size_t i = 0; settled && i < n; i++) {
      const double ratio = b->watched[i].before / sigma_of(b, i);
      if (!isfinite(ratio)) continue;
      b->watched[i].saw_sum += ratio;
      b->watched[i].saw_n++;
    }
  }

  const double *u = bramah_schedule_at(b->schedule, (int64_t)k * plant->step_ns);
  if (!status) status = bramah_filter_set_inputs(b->filter, u, diag);
  for (size_t i = 0; !status && i < n; i++) {
    watched *w = &b->watched[i];
    const double is = truth[i], has = plant->output(plant->self, b->output[i]);
    bramah__rmse_add(&w->all, is, has, sigma_of(b, i));
    if (settled) bramah__rmse_add(&w->settled, is, has, NAN);
    if (w->sensor >= 0 && b->present[w->sensor]) bramah__rmse_add(&w->noise, is, b->y[w->sensor], NAN);
  }
  return !status && k + 1 < b->study->is.rows ? bramah_filter_predict(b->filter, diag) : status;
}

typedef struct all_runs {
  bramah_sensor_study *study;
  bramah_sensor_study_progress progress;
  void *user;
  size_t done;
} all_runs;

/* Only what belongs to this run is written. */
static bramah_status run_job(void *user, size_t run, bramah__worker_pool *pool, bramah_diag *ignored)
{
  bramah_sensor_study *s = ((all_runs *)user)->study;
  bramah_sensor_study_outcome *outcome = &s->runs[run];
  const bramah_sensor_study_case at = outcome->at;
  const size_t set = set_of(s, &at), n = s->is.n_signals;
  running b = {.study = s,
               .at = at,
               .truth = s->truth[at.scenario],
               .output = &s->outputs[set * n],
               .sensors = s->studies[at.study]->sensors,
               .n_sensors = s->studies[at.study]->n_sensors};
  bramah_diag diag;
  size_t k = 0;
  (void)pool, (void)ignored;
  bramah_diag_clear(&diag);
  b.sampled = calloc(b.n_sensors + 1, sizeof *b.sampled);
  b.y = calloc(b.n_sensors + 1, sizeof *b.y);
  b.present = calloc(b.n_sensors + 1, 1);
  bramah_status status = b.sampled && b.y && b.present ? BRAMAH_OK : bramah__fail_memory(&diag);
  if (!status) status = bramah_session_clone(s->sessions[set], &diag, &b.session);
  if (!status) {
    const bramah_session_parts *parts = bramah_session_about(b.session);
    b.filter = bramah_session_filter(b.session);
    b.plant = bramah_session_plant(b.session);
    b.assumed = parts->sensors;
    status = bramah_schedule_new(s->machine.machine, parts->machine->model, &diag, &b.schedule);
  }
  for (size_t i = 0; !status && i < b.n_sensors; i++) {
    b.sampled[i].every = steps_between(s->rates[at.rate], b.assumed[i].period_ns, b.plant->step_ns);
    status = bramah_noise_new(at.seed + 1, b.sensors[i].name, &diag, &b.sampled[i].noise);
  }
  for (size_t i = 0; !status && i < n; i++)
    b.watched[i].sensor = bramah__session_sensor_of_output(b.session, b.output[i]);
  for (; !status && k < s->is.rows; k++) status = run_row(&b, k, &diag);

  double *metrics = &s->metrics[run * n * BRAMAH_N_METRICS];
  for (size_t i = 0; !status && i < n; i++, metrics += BRAMAH_N_METRICS) {
    const watched *w = &b.watched[i];
    const double percent = 100.0 / s->signals[at.scenario * n + i].largest;
    metrics[BRAMAH_METRIC_RMSE] = percent * bramah__rmse_of(&w->all).value;
    metrics[BRAMAH_METRIC_SETTLED] = percent * bramah__rmse_of(&w->settled).value;
    metrics[BRAMAH_METRIC_INSIDE] = bramah__rmse_of(&w->all).inside;
    metrics[BRAMAH_METRIC_SAW_TOOTH] = w->saw_n ? w->saw_sum / (double)w->saw_n : (double)NAN;
    metrics[BRAMAH_METRIC_NOISE] = percent * bramah__rmse_of(&w->noise).value;
    metrics[BRAMAH_METRIC_NIS] = bramah__nis_mean(&b.nis);
  }
  outcome->failure = status ? s->why[run] : NULL;
  if (status)
    snprintf(s->why[run], sizeof s->why[run], "%.60s%s%.140s (at t = %.9g s)", diag.thing,
             diag.thing[0] ? ": " : "", diag.message, k ? seconds((int64_t)(k - 1) * s->is.step_ns) : 0.0);

  for (size_t i = 0; b.sampled && i < b.n_sensors; i++) bramah_noise_free(b.sampled[i].noise);
  free(b.sampled);
  free(b.y);
  free(b.present);
  bramah_schedule_free(b.schedule);
  bramah_session_close(b.session);
  return BRAMAH_OK;
}

static bramah_status run_done(void *user, size_t run, bramah_diag *diag)
{
  all_runs *all = user;
  (void)run, (void)diag;
  all->done++;
  if (all->progress) all->progress(all->user, all->done);
  return BRAMAH_OK;
}

bramah_status bramah_sensor_study_run(bramah_sensor_study *study, size_t n_threads,
                                      bramah_sensor_study_progress progress, void *user, bramah_diag *diag)
{
  all_runs all = {.study = study, .progress = progress, .user = user};
  const bramah__worker_jobs work = {.n = study->is.n_runs, .user = &all, .job = run_job, .done = run_done};
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
