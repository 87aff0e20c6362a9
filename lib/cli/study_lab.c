/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/cli/study_lab.h"
#include "bramah/assess.h"
#include "bramah/units.h"
#include "lib/cli/message.h"
#include "lib/cli/output_files.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bramah_status fail_memory(bramah_diag *diag)
{
  return cli_fail(diag, BRAMAH_E_MEMORY, NULL, 0, NULL, "out of memory");
}

/* ---- places ---- */

size_t cli_lab_index(const cli_lab *lab, const cli_lab_place *p)
{
  const size_t set = (p->scenario * lab->n_studies + p->study) * lab->n_filters + p->filter;
  return (set * lab->n_rates + p->rate) * lab->n_seeds + p->seed;
}

cli_lab_place cli_lab_place_of(const cli_lab *lab, size_t index)
{
  cli_lab_place p;
  p.seed = index % lab->n_seeds;
  index /= lab->n_seeds;
  p.rate = index % lab->n_rates;
  index /= lab->n_rates;
  p.filter = index % lab->n_filters;
  index /= lab->n_filters;
  p.study = index % lab->n_studies;
  p.scenario = index / lab->n_studies;
  return p;
}

const cli_lab_set *cli_lab_set_of(const cli_lab *lab, const cli_lab_place *p)
{
  return &lab->sets[(p->scenario * lab->n_studies + p->study) * lab->n_filters + p->filter];
}

uint64_t cli_lab_every(const bramah_sensor *sensor, double rate, int64_t step_ns)
{
  const int64_t period = rate > 0.0 ? llround(1e9 / rate) : sensor->period_ns;
  return period > step_ns ? (uint64_t)((period + step_ns / 2) / step_ns) : 1;
}

cli_lab_mean cli_lab_average(const cli_lab *lab, const cli_lab_place *place, size_t signal, cli_figure figure)
{
  cli_lab_mean m = {0};
  cli_lab_place p = *place;
  double sum = 0.0, squares = 0.0;
  p.seed = 0;
  const size_t first = cli_lab_index(lab, &p), stride = lab->n_signals * CLI_N_FIGURES;
  const double *x = &lab->figures[first * stride + signal * CLI_N_FIGURES + figure];
  for (size_t i = 0; i < lab->n_seeds; i++) {
    if (lab->runs[first + i].status || isnan(x[i * stride])) continue;
    sum += x[i * stride];
    m.n++;
  }
  m.mean = m.n ? sum / (double)m.n : (double)NAN;
  for (size_t i = 0; i < lab->n_seeds; i++) {
    if (lab->runs[first + i].status || isnan(x[i * stride])) continue;
    squares += (x[i * stride] - m.mean) * (x[i * stride] - m.mean);
  }
  m.error = m.n > 1 ? sqrt(squares / ((double)m.n * (double)(m.n - 1))) : (double)NAN;
  return m;
}

/* ---- what the plan says ---- */

static bramah_status choose_scenario(cli_lab *lab, const char *name, bramah_diag *diag)
{
  const bramah_plan *plan = lab->plan;
  const char *names[64];
  size_t n = 0;
  for (size_t i = 0; i < plan->n_scenarios; i++) {
    if (strcmp(plan->scenarios[i].name, name) == 0) {
      lab->scenarios[lab->n_scenarios++] = plan->scenarios[i];
      return BRAMAH_OK;
    }
    if (n < sizeof names / sizeof names[0]) names[n++] = plan->scenarios[i].name;
  }
  const char *nearest = cli_nearest(name, n, names);
  if (nearest)
    return cli_fail(diag, BRAMAH_E_REFERENCE, plan->file, 0, name,
                    "the plan has no scenario of this name; did you mean '%s'?", nearest);
  return cli_fail(diag, BRAMAH_E_REFERENCE, plan->file, 0, name, "the plan has no scenario of this name");
}

static bramah_status choose_scenarios(cli_lab *lab, size_t n, const char *const *wanted, bramah_diag *diag)
{
  const bramah_plan *plan = lab->plan;
  bramah_status status = BRAMAH_OK;
  for (size_t i = 0; !status && i < n; i++) status = choose_scenario(lab, wanted[i], diag);
  if (n) return status;
  if (!plan->n_scenarios) lab->scenarios[lab->n_scenarios++] = (bramah_plan_scenario){.name = "own"};
  for (size_t i = 0; i < plan->n_scenarios; i++) lab->scenarios[lab->n_scenarios++] = plan->scenarios[i];
  return BRAMAH_OK;
}

/* A plan without filters or rates has one of each: the study's. */
static bramah_status take_lists(cli_lab *lab, size_t n_wanted, const char *const *wanted, bramah_diag *diag)
{
  const bramah_plan *plan = lab->plan;
  lab->scenarios = calloc(plan->n_scenarios + n_wanted + 1, sizeof *lab->scenarios);
  lab->filters = calloc(plan->n_filters + 1, sizeof *lab->filters);
  lab->rates = calloc(plan->n_rates + 1, sizeof *lab->rates);
  if (!lab->scenarios || !lab->filters || !lab->rates) return fail_memory(diag);
  lab->n_filters = plan->n_filters ? plan->n_filters : 1;
  lab->filters[0].name = "study";
  for (size_t i = 0; i < plan->n_filters; i++) lab->filters[i] = plan->filters[i];
  lab->n_rates = plan->n_rates ? plan->n_rates : 1;
  for (size_t i = 0; i < plan->n_rates; i++) lab->rates[i] = plan->rates[i];
  lab->n_studies = plan->n_studies;
  lab->n_signals = plan->n_signals;
  return choose_scenarios(lab, n_wanted, wanted, diag);
}

/* ---- truth ---- */

static bramah_status open_machine(cli_lab *lab, bramah_diag *diag)
{
  const bramah_plan *plan = lab->plan;
  const bramah_status status = bramah_machine_plant_open(&lab->machine, plan->machine_file, plan->n_changes,
                                                         plan->changes, llround(1e9 * plan->step), diag);
  if (status) return status;
  const int64_t step = lab->machine.plant.step_ns;
  lab->rows = (size_t)(llround(1e9 * plan->duration) / step) + 1;
  lab->settled = (size_t)((llround(1e9 * plan->settle) + step - 1) / step);
  return BRAMAH_OK;
}

/* What runs of a plan leave out must not pass for done, be it of the file or of a filter's changes. */
static bramah_status check_knows(const bramah_study *study, const char *path, bramah_diag *diag)
{
  if (bramah_study_n_unknown_inputs(study))
    return cli_fail(diag, BRAMAH_E_UNSUPPORTED, path, study->augmented[0].line, study->augmented[0].input,
                    "a study by plan knows no unknown inputs");
  if (study->adapt.line)
    return cli_fail(diag, BRAMAH_E_UNSUPPORTED, path, study->adapt.line, "adapt",
                    "a study by plan knows no noise that adapts by itself");
  for (size_t s = 0; s < study->n_sensors; s++)
    if (study->sensors[s].delay_ns)
      return cli_fail(diag, BRAMAH_E_UNSUPPORTED, path, study->sensors[s].line, study->sensors[s].name,
                      "a study by plan knows no sensors with a delay");
  return BRAMAH_OK;
}

/* The sensors as the files describe them: what a filter believes of them may be something else. */
static bramah_status open_studies(cli_lab *lab, bramah_diag *diag)
{
  lab->studies = calloc(lab->n_studies + 1, sizeof *lab->studies);
  if (!lab->studies) return fail_memory(diag);
  for (size_t i = 0; i < lab->n_studies; i++) {
    const char *path = lab->plan->studies[i].file;
    bramah_status status = bramah_study_load(path, diag, &lab->studies[i]);
    if (status) return cli_place(diag, path, 0), status;
    status = check_knows(lab->studies[i], path, diag);
    if (status) return status;
  }
  return BRAMAH_OK;
}

static bramah_status find_signals(const cli_lab *lab, const bramah_plant *plant, size_t *out,
                                  bramah_diag *diag)
{
  for (size_t i = 0; i < lab->n_signals; i++) {
    const bramah_plan_signal *signal = &lab->plan->signals[i];
    const long output = bramah_plant_find_output(plant, signal->output);
    if (output < 0)
      return cli_fail(diag, BRAMAH_E_REFERENCE, lab->plan->file, signal->line, signal->name,
                      "the machine has no output '%s'", signal->output);
    out[i] = (size_t)output;
  }
  return BRAMAH_OK;
}

static bramah_status set_parameters(const cli_lab *lab, const bramah_plan_scenario *scenario,
                                    bramah_diag *diag)
{
  const bramah_plant *plant = &lab->machine.plant;
  for (size_t i = 0; i < scenario->n_parameters; i++) {
    const bramah_change *p = &scenario->parameters[i];
    bramah_parameter_info info;
    size_t index;
    double value = 0.0;
    bramah_diag_clear(diag);
    bramah_status status = bramah_plant_parameter_index(plant, p->path, &index, diag);
    if (!status) plant->parameter_info(plant->self, index, &info);
    if (!status) status = bramah_quantity_parse(p->value, info.unit, &value, diag);
    if (!status) status = plant->set_parameter(plant->self, index, value, diag);
    if (status) {
      cli_place(diag, p->file, p->line);
      return status;
    }
  }
  return BRAMAH_OK;
}

/* Sensors of all studies on the truth's plant: [study][sensor]. */
static bramah_status bind_sensors(const cli_lab *lab, bramah_sensor **sensors, bramah_diag *diag)
{
  for (size_t i = 0; i < lab->n_studies; i++) {
    const bramah_study *study = lab->studies[i];
    sensors[i] = calloc(study->n_sensors + 1, sizeof **sensors);
    if (!sensors[i]) return fail_memory(diag);
    for (size_t s = 0; s < study->n_sensors; s++) {
      bramah_diag_clear(diag);
      const bramah_status status =
          bramah_sensor_init(&study->sensors[s], &lab->machine.plant, diag, &sensors[i][s]);
      if (status) return cli_place(diag, study->file, study->sensors[s].line), status;
    }
  }
  return BRAMAH_OK;
}

static bramah_status make_truth_room(const cli_lab *lab, cli_lab_truth *truth, bramah_diag *diag)
{
  truth->signal = calloc(lab->rows * lab->n_signals, sizeof *truth->signal);
  truth->largest = calloc(lab->n_signals, sizeof *truth->largest);
  truth->alone = calloc(2 * lab->n_signals, sizeof *truth->alone);
  truth->measured = calloc(lab->n_studies, sizeof *truth->measured);
  if (!truth->signal || !truth->largest || !truth->alone || !truth->measured) return fail_memory(diag);
  for (size_t i = 0; i < lab->n_studies; i++) {
    truth->measured[i] = calloc(lab->rows * lab->studies[i]->n_sensors, sizeof **truth->measured);
    if (!truth->measured[i]) return fail_memory(diag);
  }
  return BRAMAH_OK;
}

static void record(const cli_lab *lab, cli_lab_truth *truth, size_t row, const size_t *output,
                   bramah_sensor *const *sensors)
{
  const bramah_plant *plant = &lab->machine.plant;
  for (size_t i = 0; i < lab->n_signals; i++) {
    const double value = plant->output(plant->self, output[i]);
    truth->signal[row * lab->n_signals + i] = value;
    truth->largest[i] = fmax(truth->largest[i], fabs(value));
  }
  for (size_t i = 0; i < lab->n_studies; i++) {
    const size_t n = lab->studies[i]->n_sensors;
    for (size_t s = 0; s < n; s++)
      truth->measured[i][row * n + s] = bramah_sensor_predict(&sensors[i][s], plant);
  }
}

static bramah_status simulate_rows(const cli_lab *lab, cli_lab_truth *truth, const size_t *output,
                                   bramah_sensor *const *sensors, bramah_schedule *schedule,
                                   bramah_diag *diag)
{
  const bramah_plant *plant = &lab->machine.plant;
  bramah_status status = BRAMAH_OK;
  for (size_t k = 0; !status && k < lab->rows; k++) {
    const int64_t now = (int64_t)k * plant->step_ns;
    status = plant->set_inputs(plant->self, bramah_schedule_at(schedule, now), diag);
    if (status) break;
    record(lab, truth, k, output, sensors);
    if (k + 1 == lab->rows) break;
    status = plant->step(plant->self, diag);
    if (!status) continue;
    const size_t used = strlen(diag->message);
    snprintf(diag->message + used, sizeof diag->message - used, " (truth after t = %.9g s)",
             cli_seconds(now));
  }
  if (status) cli_place(diag, lab->plan->machine_file, 0);
  return status;
}

static bramah_status simulate_truth(const cli_lab *lab, size_t scenario, const size_t *output,
                                    bramah_sensor *const *sensors, bramah_diag *diag)
{
  bramah_schedule *schedule = NULL;
  cli_lab_truth *truth = &lab->truth[scenario];
  bramah_status status = make_truth_room(lab, truth, diag);
  if (!status) status = bramah_schedule_new(lab->machine.machine, lab->machine.model, diag, &schedule);
  if (!status) status = bramah_coupled_reset(lab->machine.coupled, diag);
  if (!status) status = set_parameters(lab, &lab->scenarios[scenario], diag);
  if (!status) status = simulate_rows(lab, truth, output, sensors, schedule, diag);
  bramah_schedule_free(schedule);
  return status;
}

static bramah_status make_truths(cli_lab *lab, bramah_diag *diag)
{
  bramah_sensor **sensors = calloc(lab->n_studies + 1, sizeof *sensors);
  size_t *output = calloc(lab->n_signals + 1, sizeof *output);
  lab->truth = calloc(lab->n_scenarios, sizeof *lab->truth);
  bramah_status status = sensors && output && lab->truth ? BRAMAH_OK : fail_memory(diag);
  if (!status) status = find_signals(lab, &lab->machine.plant, output, diag);
  if (!status) status = bind_sensors(lab, sensors, diag);
  for (size_t i = 0; !status && i < lab->n_scenarios; i++)
    status = simulate_truth(lab, i, output, sensors, diag);
  for (size_t i = 0; sensors && i < lab->n_studies; i++) free(sensors[i]);
  free(sensors);
  free(output);
  return status;
}

/* ---- filters ---- */

/* Changes of a filter may say what it believes of the sensors, not exchange them: the truth has those of the
 * file. */
static bramah_status check_sensors(const bramah_study *changed, const bramah_study *file, bramah_diag *diag)
{
  int same = changed->n_sensors == file->n_sensors;
  for (size_t i = 0; same && i < file->n_sensors; i++)
    same = strcmp(changed->sensors[i].name, file->sensors[i].name) == 0;
  return same ? BRAMAH_OK
              : cli_fail(diag, BRAMAH_E_UNSUPPORTED, file->file, 0, NULL,
                         "the changes of a filter must not add sensors");
}

/* The scenarios of the plan come instead of what the study says is wrong with its model. */
static bramah_status load_study(const cli_lab *lab, const cli_lab_place *p, bramah_study **out,
                                bramah_diag *diag)
{
  const bramah_plan_filter *filter = &lab->filters[p->filter];
  const bramah_plan_scenario *scenario = &lab->scenarios[p->scenario];
  const char *path = lab->plan->studies[p->study].file;
  bramah_diag_clear(diag);
  bramah_status status = bramah_study_load_changed(path, filter->n_changes, filter->changes, diag, out);
  if (status) return cli_place(diag, path, 0), status;
  bramah_study *study = *out;
  status = check_knows(study, path, diag);
  if (status) return status;
  if (filter->transition) study->transition = filter->transition;
  if (lab->plan->n_scenarios) {
    study->n_changes = scenario->n_changes;
    study->changes = scenario->changes;
  }
  return check_sensors(study, lab->studies[p->study], diag);
}

static bramah_status open_set(cli_lab *lab, const cli_lab_place *p, bramah_diag *diag)
{
  cli_lab_set *set = &lab->sets[(p->scenario * lab->n_studies + p->study) * lab->n_filters + p->filter];
  bramah_study *study = NULL;
  set->output = calloc(lab->n_signals + 1, sizeof *set->output);
  if (!set->output) return fail_memory(diag);
  bramah_status status = load_study(lab, p, &study, diag);
  if (status)
    bramah_study_free(study);
  else
    status = bramah_session_new(study, lab->machine.plant.step_ns, diag, &set->session);
  return status ? status : find_signals(lab, bramah_session_plant(set->session), set->output, diag);
}

static bramah_status open_sets(cli_lab *lab, bramah_diag *diag)
{
  lab->sets = calloc(lab->n_scenarios * lab->n_studies * lab->n_filters, sizeof *lab->sets);
  if (!lab->sets) return fail_memory(diag);
  bramah_status status = BRAMAH_OK;
  cli_lab_place p = {0};
  for (p.scenario = 0; p.scenario < lab->n_scenarios; p.scenario++)
    for (p.study = 0; p.study < lab->n_studies; p.study++)
      for (p.filter = 0; !status && p.filter < lab->n_filters; p.filter++) status = open_set(lab, &p, diag);
  return status;
}

static void note_rates(const cli_lab *lab)
{
  const int64_t step = lab->machine.plant.step_ns;
  const bramah_sensor any = {0};
  for (size_t i = 0; i < lab->n_rates; i++) {
    const double real = 1e9 / (double)((int64_t)cli_lab_every(&any, lab->rates[i], step) * step);
    if (lab->rates[i] > 0.0 && fabs(real - lab->rates[i]) > 1e-6 * real)
      cli_note("rate %.9g Hz: sampled at %.9g Hz instead, the nearest that the step allows", lab->rates[i],
               real);
  }
}

/* ---- model alone ---- */

/* The first set of each scenario; without corrections it may end early and then has no figures. */
static void run_alone(const cli_lab *lab, size_t scenario)
{
  const cli_lab_set *set = cli_lab_set_of(lab, &(cli_lab_place){.scenario = scenario});
  const bramah_plant *plant = bramah_session_plant(set->session);
  cli_lab_truth *truth = &lab->truth[scenario];
  bramah_rmse all[BRAMAH_PLAN_MOST_SIGNALS] = {{0}}, settled[BRAMAH_PLAN_MOST_SIGNALS] = {{0}};
  bramah_schedule *schedule = NULL;
  bramah_diag diag;
  bramah_status status = bramah_session_start(set->session, bramah_session_coupled(set->session), &diag);
  if (!status)
    status = bramah_schedule_new(lab->machine.machine, bramah_session_model(set->session), &diag, &schedule);
  for (size_t k = 0; !status && k < lab->rows; k++) {
    status = plant->set_inputs(plant->self, bramah_schedule_at(schedule, (int64_t)k * plant->step_ns), &diag);
    for (size_t i = 0; !status && i < lab->n_signals; i++) {
      const double is = truth->signal[k * lab->n_signals + i],
                   has = plant->output(plant->self, set->output[i]);
      bramah_rmse_add(&all[i], is, has, NAN);
      if (k >= lab->settled) bramah_rmse_add(&settled[i], is, has, NAN);
    }
    if (!status && k + 1 < lab->rows) status = plant->step(plant->self, &diag);
  }
  for (size_t i = 0; i < lab->n_signals; i++) {
    const double percent = status ? (double)NAN : 100.0 / truth->largest[i];
    truth->alone[2 * i] = percent * bramah_rmse_value(&all[i]);
    truth->alone[2 * i + 1] = percent * bramah_rmse_value(&settled[i]);
  }
  bramah_schedule_free(schedule);
}

/* ---- the whole ---- */

static bramah_status make_run_room(cli_lab *lab, uint64_t seeds, bramah_diag *diag)
{
  lab->n_seeds = seeds ? (size_t)seeds : (size_t)lab->plan->seeds;
  lab->n_runs = lab->n_scenarios * lab->n_studies * lab->n_filters * lab->n_rates;
  if (lab->n_seeds > 100000000 / lab->n_runs)
    return cli_fail(diag, BRAMAH_E_VALUE, lab->plan->file, 0, "seeds", "these are more than 1e8 runs");
  lab->n_runs *= lab->n_seeds;
  lab->runs = calloc(lab->n_runs, sizeof *lab->runs);
  lab->figures = calloc(lab->n_runs * lab->n_signals * CLI_N_FIGURES, sizeof *lab->figures);
  return lab->runs && lab->figures ? BRAMAH_OK : fail_memory(diag);
}

bramah_status cli_lab_open(cli_lab *lab, const char *path, uint64_t seeds, size_t n_wanted,
                           const char *const *wanted, bramah_diag *diag)
{
  bramah_diag_clear(diag);
  bramah_status status = bramah_plan_load(path, diag, &lab->plan);
  if (status) return cli_place(diag, path, 0), status;
  status = take_lists(lab, n_wanted, wanted, diag);
  if (!status) status = make_run_room(lab, seeds, diag);
  if (!status) status = open_machine(lab, diag);
  if (!status) status = open_studies(lab, diag);
  if (!status) status = open_sets(lab, diag);
  if (!status) status = make_truths(lab, diag);
  if (status) return status;
  note_rates(lab);
  for (size_t i = 0; i < lab->n_scenarios; i++) run_alone(lab, i);
  return BRAMAH_OK;
}

static void free_truth(const cli_lab *lab, cli_lab_truth *truth)
{
  for (size_t i = 0; truth->measured && i < lab->n_studies; i++) free(truth->measured[i]);
  free(truth->measured);
  free(truth->signal);
  free(truth->largest);
  free(truth->alone);
}

void cli_lab_close(cli_lab *lab)
{
  const size_t n_sets = lab->n_scenarios * lab->n_studies * lab->n_filters;
  for (size_t i = 0; lab->sets && i < n_sets; i++) {
    bramah_session_close(lab->sets[i].session);
    free(lab->sets[i].output);
  }
  for (size_t i = 0; lab->truth && i < lab->n_scenarios; i++) free_truth(lab, &lab->truth[i]);
  for (size_t i = 0; lab->studies && i < lab->n_studies; i++) bramah_study_free(lab->studies[i]);
  bramah_machine_plant_close(&lab->machine);
  free(lab->sets);
  free(lab->truth);
  free(lab->studies);
  free(lab->scenarios);
  free(lab->filters);
  free(lab->rates);
  free(lab->runs);
  free(lab->figures);
  bramah_plan_free(lab->plan);
}
