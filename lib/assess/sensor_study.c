/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sensor studies: from a plan to what its runs need, and from their metrics to means. The runs themselves are
 * in sensor_study_run.c. */
#include "lib/assess/sensor_study.h"
#include "lib/base/text.h"
#include "lib/io/fail.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- what the plan says ---- */

static bramah_status choose_scenarios(bramah_sensor_study *s, const bramah_sensor_study_options *options,
                                      bramah_diag *diag)
{
  const bramah_plan *plan = s->plan;
  for (size_t w = 0; w < options->n_scenarios; w++) {
    const char *name = options->scenarios[w], *names[64];
    size_t i = 0;
    while (i < plan->n_scenarios && strcmp(plan->scenarios[i].name, name) != 0) i++;
    if (i < plan->n_scenarios) {
      s->scenarios[s->is.n_scenarios++] = plan->scenarios[i];
      continue;
    }
    size_t n = 0;
    for (i = 0; i < plan->n_scenarios && n < sizeof names / sizeof names[0]; i++)
      names[n++] = plan->scenarios[i].name;
    const char *nearest = bramah__nearest(name, n, names);
    return bramah__failf(diag, BRAMAH_E_REFERENCE, plan->file, 0, name,
                         "the plan has no scenario of this name%s%s%s", nearest ? "; did you mean '" : "",
                         nearest ? nearest : "", nearest ? "'?" : "");
  }
  if (options->n_scenarios) return BRAMAH_OK;
  if (!plan->n_scenarios) s->scenarios[s->is.n_scenarios++] = (bramah_plan_scenario){.name = "own"};
  for (size_t i = 0; i < plan->n_scenarios; i++) s->scenarios[s->is.n_scenarios++] = plan->scenarios[i];
  return BRAMAH_OK;
}

static bramah_status take_lists(bramah_sensor_study *s, const bramah_sensor_study_options *options,
                                bramah_diag *diag)
{
  const bramah_plan *plan = s->plan;
  bramah_sensor_study_layout *is = &s->is;
  s->scenarios = calloc(plan->n_scenarios + options->n_scenarios + 1, sizeof *s->scenarios);
  s->filters = calloc(plan->n_filters + 1, sizeof *s->filters);
  s->rates = calloc(plan->n_rates + 1, sizeof *s->rates);
  s->sampled = calloc(plan->n_rates + 1, sizeof *s->sampled);
  s->studies = calloc(plan->n_studies + 1, sizeof *s->studies);
  if (!s->scenarios || !s->filters || !s->rates || !s->sampled || !s->studies)
    return bramah__fail_memory(diag);
  is->plan = plan;
  is->n_filters = plan->n_filters ? plan->n_filters : 1;
  s->filters[0].name = "study";
  for (size_t i = 0; i < plan->n_filters; i++) s->filters[i] = plan->filters[i];
  is->n_rates = plan->n_rates ? plan->n_rates : 1;
  for (size_t i = 0; i < plan->n_rates; i++) s->rates[i] = plan->rates[i];
  is->n_studies = plan->n_studies;
  is->n_signals = plan->n_signals;
  const bramah_status status = choose_scenarios(s, options, diag);
  is->scenarios = s->scenarios;
  is->filters = s->filters;
  is->rates = s->rates;
  is->sampled = s->sampled;
  is->studies = s->studies;
  return status;
}

static bramah_status make_run_room(bramah_sensor_study *s, size_t seeds, bramah_diag *diag)
{
  bramah_sensor_study_layout *is = &s->is;
  is->n_seeds = seeds ? seeds : (size_t)s->plan->seeds;
  is->n_runs = is->n_scenarios * is->n_studies * is->n_filters * is->n_rates;
  if (is->n_seeds > 100000000 / is->n_runs)
    return bramah__failf(diag, BRAMAH_E_VALUE, s->plan->file, 0, "seeds", "these are more than 1e8 runs");
  is->n_runs *= is->n_seeds;
  s->runs = calloc(is->n_runs, sizeof *s->runs);
  s->metrics = calloc(is->n_runs * is->n_signals * BRAMAH_N_METRICS, sizeof *s->metrics);
  return s->runs && s->metrics ? BRAMAH_OK : bramah__fail_memory(diag);
}

static bramah_status open_machine(bramah_sensor_study *s, bramah_diag *diag)
{
  const bramah_plan *plan = s->plan;
  const bramah_status status = bramah_machine_plant_open(&s->machine, plan->machine_file, plan->n_changes,
                                                         plan->changes, llround(1e9 * plan->step), diag);
  if (status) return status;
  const int64_t step = s->machine.plant.step_ns;
  s->is.step_ns = step;
  s->is.rows = (size_t)(llround(1e9 * plan->duration) / step) + 1;
  s->settled = (size_t)((llround(1e9 * plan->settle) + step - 1) / step);
  for (size_t i = 0; i < plan->n_rates; i++)
    s->sampled[i] = 1e9 / (double)((int64_t)bramah__study_every(s->rates[i], 0, step) * step);
  return BRAMAH_OK;
}

/* ---- sensor sets and filters ---- */

/* What the runs of a plan leave out must not pass for done, be it of the file or of a filter's changes. */
static bramah_status check_knows(const bramah_study *study, const char *path, bramah_diag *diag)
{
  if (bramah_study_n_unknown_inputs(study))
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

/* The sensors as the files describe them: what a filter assumes of them may be something else. */
static bramah_status open_studies(bramah_sensor_study *s, bramah_diag *diag)
{
  bramah_status status = BRAMAH_OK;
  for (size_t i = 0; !status && i < s->is.n_studies; i++) {
    const char *path = s->plan->studies[i].file;
    status = bramah_study_load(path, diag, &s->studies[i]);
    if (status) return bramah__place(diag, path, 0);
    status = check_knows(s->studies[i], path, diag);
  }
  return status;
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

/* Changes of a filter may say what it assumes of the sensors, not exchange them: the truth has those of the
 * file. */
static bramah_status check_sensors(const bramah_study *changed, const bramah_study *file, bramah_diag *diag)
{
  int same = changed->n_sensors == file->n_sensors;
  for (size_t i = 0; same && i < file->n_sensors; i++)
    same = strcmp(changed->sensors[i].name, file->sensors[i].name) == 0;
  return same ? BRAMAH_OK
              : bramah__failf(diag, BRAMAH_E_UNSUPPORTED, file->file, 0, NULL,
                              "the changes of a filter must not add sensors");
}

/* The study file as a filter of the plan changes it. The scenarios of the plan replace what it says is wrong
 * with its model. */
static bramah_status load_changed(const bramah_sensor_study *s, const bramah_sensor_study_case *at,
                                  bramah_study **out, bramah_diag *diag)
{
  const bramah_plan_filter *filter = &s->filters[at->filter];
  const bramah_plan_scenario *scenario = &s->scenarios[at->scenario];
  const char *path = s->plan->studies[at->study].file;
  bramah_status status = bramah_study_load_changed(path, filter->n_changes, filter->changes, diag, out);
  if (status) return bramah__place(diag, path, 0);
  status = check_knows(*out, path, diag);
  if (!status) status = check_sensors(*out, s->studies[at->study], diag);
  if (filter->transition) (*out)->transition = filter->transition;
  if (s->plan->n_scenarios) {
    (*out)->n_changes = scenario->n_changes;
    (*out)->changes = scenario->changes;
  }
  return status;
}

static bramah_status open_set(bramah_sensor_study *s, const bramah_sensor_study_case *at, bramah_diag *diag)
{
  bramah__study_set *set = bramah__study_set_of(s, at);
  bramah_study *study = NULL;
  set->output = calloc(s->is.n_signals + 1, sizeof *set->output);
  if (!set->output) return bramah__fail_memory(diag);
  bramah_status status = load_changed(s, at, &study, diag);
  if (status)
    bramah_study_free(study);
  else
    status = bramah_session_new(study, s->is.step_ns, diag, &set->session);
  return status ? status : find_signals(s, bramah_session_plant(set->session), set->output, diag);
}

static bramah_status open_sets(bramah_sensor_study *s, bramah_diag *diag)
{
  const bramah_sensor_study_layout *is = &s->is;
  s->sets = calloc(is->n_scenarios * is->n_studies * is->n_filters, sizeof *s->sets);
  if (!s->sets) return bramah__fail_memory(diag);
  bramah_status status = BRAMAH_OK;
  bramah_sensor_study_case c = {0};
  for (c.scenario = 0; c.scenario < is->n_scenarios; c.scenario++)
    for (c.study = 0; c.study < is->n_studies; c.study++)
      for (c.filter = 0; !status && c.filter < is->n_filters; c.filter++) status = open_set(s, &c, diag);
  return status;
}

/* ---- truth ---- */

static bramah_status make_truth_room(bramah_sensor_study *s, bramah__truth *truth, bramah_diag *diag)
{
  const bramah_sensor_study_layout *is = &s->is;
  truth->signal = calloc(is->rows * is->n_signals, sizeof *truth->signal);
  truth->largest = calloc(is->n_signals, sizeof *truth->largest);
  truth->alone = calloc(2 * is->n_signals, sizeof *truth->alone);
  truth->measured = calloc(is->n_studies, sizeof *truth->measured);
  int complete = truth->signal && truth->largest && truth->alone && truth->measured;
  for (size_t i = 0; complete && i < is->n_studies; i++) {
    truth->measured[i] = calloc(is->rows * s->studies[i]->n_sensors, sizeof **truth->measured);
    complete = truth->measured[i] != NULL;
  }
  return complete ? BRAMAH_OK : bramah__fail_memory(diag);
}

/* Sensors of all studies on the truth's plant: [study][sensor]. */
static bramah_status bind_sensors(const bramah_sensor_study *s, bramah_sensor **sensors, bramah_diag *diag)
{
  for (size_t i = 0; i < s->is.n_studies; i++) {
    const bramah_study *study = s->studies[i];
    sensors[i] = calloc(study->n_sensors + 1, sizeof **sensors);
    if (!sensors[i]) return bramah__fail_memory(diag);
    for (size_t k = 0; k < study->n_sensors; k++) {
      bramah_diag_clear(diag);
      if (bramah_sensor_init(&study->sensors[k], &s->machine.plant, diag, &sensors[i][k]))
        return bramah__place(diag, study->file, study->sensors[k].line);
    }
  }
  return BRAMAH_OK;
}

static bramah_status make_truths(bramah_sensor_study *s, bramah_diag *diag)
{
  const bramah_sensor_study_layout *is = &s->is;
  bramah_sensor **sensors = calloc(is->n_studies + 1, sizeof *sensors);
  size_t *output = calloc(is->n_signals + 1, sizeof *output);
  s->truth = calloc(is->n_scenarios, sizeof *s->truth);
  bramah_status status = sensors && output && s->truth ? BRAMAH_OK : bramah__fail_memory(diag);
  if (!status) status = find_signals(s, &s->machine.plant, output, diag);
  if (!status) status = bind_sensors(s, sensors, diag);
  for (size_t i = 0; !status && i < is->n_scenarios; i++) {
    status = make_truth_room(s, &s->truth[i], diag);
    if (!status) status = bramah__study_simulate(s, i, output, sensors, diag);
  }
  for (size_t i = 0; !status && i < is->n_scenarios; i++) status = bramah__study_run_alone(s, i, diag);
  for (size_t i = 0; sensors && i < is->n_studies; i++) free(sensors[i]);
  free(sensors);
  free(output);
  return status;
}

/* ---- the whole ---- */

bramah_sensor_study_options bramah_sensor_study_options_default(void)
{
  return (bramah_sensor_study_options){0};
}

bramah_status bramah_sensor_study_open(const char *plan, const bramah_sensor_study_options *options,
                                       bramah_diag *diag, bramah_sensor_study **out)
{
  const bramah_sensor_study_options standard = bramah_sensor_study_options_default();
  bramah_sensor_study *s = calloc(1, sizeof *s);
  if (!s) return bramah__fail_memory(diag);
  if (!options) options = &standard;
  bramah_diag_clear(diag);
  bramah_status status = bramah_plan_load(plan, diag, &s->plan);
  if (status) bramah__place(diag, plan, 0);
  if (!status) status = take_lists(s, options, diag);
  if (!status) status = make_run_room(s, options->seeds, diag);
  if (!status) status = open_machine(s, diag);
  if (!status) status = open_studies(s, diag);
  if (!status) status = open_sets(s, diag);
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
  for (size_t i = 0; s->sets && i < is->n_scenarios * is->n_studies * is->n_filters; i++) {
    bramah_session_close(s->sets[i].session);
    free(s->sets[i].output);
  }
  for (size_t i = 0; s->truth && i < is->n_scenarios; i++) {
    bramah__truth *truth = &s->truth[i];
    for (size_t k = 0; truth->measured && k < is->n_studies; k++) free(truth->measured[k]);
    free(truth->measured);
    free(truth->signal);
    free(truth->largest);
    free(truth->alone);
  }
  for (size_t i = 0; s->studies && i < is->n_studies; i++) bramah_study_free(s->studies[i]);
  bramah_machine_plant_close(&s->machine);
  free(s->sets);
  free(s->truth);
  free(s->studies);
  free(s->scenarios);
  free(s->filters);
  free(s->rates);
  free(s->sampled);
  free(s->runs);
  free(s->metrics);
  bramah_plan_free(s->plan);
  free(s);
}

/* ---- results ---- */

const bramah_sensor_study_layout *bramah_sensor_study_about(const bramah_sensor_study *study)
{
  return &study->is;
}

const char *bramah_sensor_study_failure(const bramah_sensor_study *study, size_t run)
{
  return study->runs[run].status ? study->runs[run].why : NULL;
}

double bramah_sensor_study_largest(const bramah_sensor_study *study, size_t scenario, size_t signal)
{
  return study->truth[scenario].largest[signal];
}

double bramah_sensor_study_model_alone(const bramah_sensor_study *study, size_t scenario, size_t signal,
                                       bramah_metric metric)
{
  return metric == BRAMAH_METRIC_RMSE || metric == BRAMAH_METRIC_SETTLED
             ? study->truth[scenario].alone[2 * signal + metric]
             : (double)NAN;
}

bramah_sensor_study_average bramah_sensor_study_mean(const bramah_sensor_study *study,
                                                     const bramah_sensor_study_case *at, size_t signal,
                                                     bramah_metric metric)
{
  bramah_sensor_study_average m = {0};
  bramah_sensor_study_case c = *at;
  double sum = 0.0, squares = 0.0;
  c.seed = 0;
  const size_t first = bramah__study_run_of(study, &c), stride = study->is.n_signals * BRAMAH_N_METRICS;
  const double *x = &study->metrics[first * stride + signal * BRAMAH_N_METRICS + metric];
  for (size_t i = 0; i < study->is.n_seeds; i++) {
    if (study->runs[first + i].status || isnan(x[i * stride])) continue;
    sum += x[i * stride];
    m.n++;
  }
  m.mean = m.n ? sum / (double)m.n : (double)NAN;
  for (size_t i = 0; i < study->is.n_seeds; i++) {
    if (study->runs[first + i].status || isnan(x[i * stride])) continue;
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
