/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/tune/tune_internal.h"
#include "lib/io/fail.h"
#include "lib/io/session.h"
#include "bramah/study.h"
#include "lib/assess/statistics.h"
#include "bramah/units.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *copy(const char *text)
{
  char *out = malloc(strlen(text) + 1);
  if (out) memcpy(out, text, strlen(text) + 1);
  return out;
}

/* ---- values ---- */

static const char *after(const char *text, const char *prefix)
{
  const size_t n = strlen(prefix);
  return strncmp(text, prefix, n) == 0 ? text + n : NULL;
}

/* The name between two parts of a path, "v1" of "volumes.v1.noise". */
static int is_between(const char *path, const char *front, const char *name, const char *back)
{
  const char *p = after(path, front);
  p = p ? after(p, name) : NULL;
  return p && strcmp(p, back) == 0;
}

static void find_kind(const bramah__tune_problem *problem, bramah__tune_parameter *t)
{
  const bramah_study *study = bramah_session_study(problem->session);
  const size_t n = strlen(t->name);
  if (t->ref.in_machine) return;
  for (size_t i = 0; i < study->n_sensors; i++) {
    if (is_between(t->name, "sensors.", study->sensors[i].name, ".sigma"))
      t->kind = BRAMAH__TUNE_SENSOR, t->index = i;
    if (is_between(t->name, "sensors.", study->sensors[i].name, ".delay"))
      t->kind = BRAMAH__TUNE_DELAY, t->index = i;
  }
  for (size_t i = 0; i < study->n_joints; i++)
    if (is_between(t->name, "joints.", study->joints[i].joint, ".acceleration_noise"))
      t->kind = BRAMAH__TUNE_ACCELERATION, t->index = i;
  for (size_t i = 0; i < study->n_volumes; i++)
    if (is_between(t->name, "volumes.", study->volumes[i].volume, ".noise"))
      t->kind = BRAMAH__TUNE_PRESSURE, t->index = i;
  if (after(t->name, "parameter_noise.") ||
      (after(t->name, "augmented.") && n > 6 && strcmp(t->name + n - 6, ".noise") == 0))
    t->kind = BRAMAH__TUNE_NOISE;
}

static int same_dimension(const bramah_study_ref *a, const bramah_study_ref *b)
{
  const bramah_dimension x = a->dimension, y = b->dimension;
  return x.m == y.m && x.kg == y.kg && x.s == y.s && x.volt == y.volt && x.rad == y.rad;
}

/* The places and the value as it is. Without a number (a word) the unit is NULL. */
static bramah_status look_up(bramah__tune_problem *problem, bramah__tune_parameter *t, bramah_diag *diag)
{
  bramah_status status = bramah_study_find(problem->study, t->name, &t->ref, diag);
  t->also_ref = calloc(t->n_also + 1, sizeof *t->also_ref);
  if (!t->also_ref) return bramah__fail_memory(diag);
  for (size_t i = 0; !status && i < t->n_also; i++)
    status = bramah_study_find(problem->study, t->also[i], &t->also_ref[i], diag);
  if (status) return status;
  t->text = t->ref.text;
  t->start = t->ref.number;
  t->factor = t->ref.factor;
  t->unit = t->ref.is_number ? t->ref.unit : NULL;
  return BRAMAH_OK;
}

/* Logs are read once: what says how to read them cannot vary, but for an offset, which is easily added. */
static int says_how_to_read(const char *path)
{
  static const char *const keys[] = {"column", "unit", "scale", "sign", "wrap", "gauge", "file"};
  const char *key = strrchr(path, '.');
  if (after(path, "log.") || after(path, "inputs.") || after(path, "time")) return 1;
  for (size_t i = 0; after(path, "sensors.") && i < sizeof keys / sizeof keys[0]; i++)
    if (strcmp(key + 1, keys[i]) == 0) return 1;
  return 0;
}

static bramah_status check_logs_stay(const bramah__tune_problem *problem, const bramah__tune_parameter *t,
                                     bramah_diag *diag)
{
  int bad = says_how_to_read(t->name);
  for (size_t k = 0; k < t->n_also; k++) bad |= says_how_to_read(t->also[k]);
  if (!bad) return BRAMAH_OK;
  return bramah__failf(diag, BRAMAH_E_UNSUPPORTED, t->line ? problem->path : "--vary", t->line, t->name,
                       "logs are read once: what says how to read them cannot vary");
}

/* The value before t that a place belongs to already, or NULL. */
static const bramah__tune_parameter *owner_of(const bramah__tune_problem *problem,
                                              const bramah__tune_parameter *t, const char *place)
{
  for (const bramah__tune_parameter *other = problem->tuned; other < t; other++) {
    if (strcmp(other->name, place) == 0) return other;
    for (size_t i = 0; i < other->n_also; i++)
      if (strcmp(other->also[i], place) == 0) return other;
  }
  return NULL;
}

/* Two values may not say different things of one place. */
static bramah_status check_once(const bramah__tune_problem *problem, const bramah__tune_parameter *t,
                                bramah_diag *diag)
{
  const char *file = t->line ? problem->path : "--vary", *place = t->name;
  const bramah__tune_parameter *owner = owner_of(problem, t, place);
  for (size_t k = 0; !owner && k < t->n_also; k++) {
    place = t->also[k];
    owner = owner_of(problem, t, place);
    if (strcmp(place, t->name) == 0) owner = t;
  }
  if (!owner) return BRAMAH_OK;
  if (strcmp(owner->name, place) == 0)
    return bramah__failf(diag, BRAMAH_E_VALUE, file, t->line, place, "this value is given twice");
  return bramah__failf(diag, BRAMAH_E_VALUE, file, t->line, place, "this value follows '%s' already",
                       owner->name);
}

/* What takes the value of another must have its dimension. */
static bramah_status check_units(const bramah__tune_problem *problem, const bramah__tune_parameter *t,
                                 bramah_diag *diag)
{
  for (size_t i = 0; t->ref.is_number && i < t->n_also; i++)
    if (t->also_ref[i].is_number && !same_dimension(&t->ref, &t->also_ref[i]))
      return bramah__failf(diag, BRAMAH_E_UNIT, problem->path, t->line, t->also[i],
                           "its value '%s' has another unit than '%s' of %s", t->also_ref[i].text, t->text,
                           t->name);
  return BRAMAH_OK;
}

bramah_status bramah__tune_problem_add(bramah__tune_problem *problem, const char *name, int line,
                                       size_t n_also, const char *const *also, bramah__tune_parameter **out,
                                       bramah_diag *diag)
{
  if (problem->n == BRAMAH__TUNE_MOST)
    return bramah__failf(diag, BRAMAH_E_VALUE, problem->path, line, name, "more than %d values",
                         (int)BRAMAH__TUNE_MOST);
  bramah__tune_parameter *t = &problem->tuned[problem->n++];
  *t = (bramah__tune_parameter){.name = copy(name), .line = line, .n_also = n_also, .also = also};
  if (!t->name) return bramah__fail_memory(diag);
  bramah_diag_clear(diag);
  bramah_status status = look_up(problem, t, diag);
  if (status) { /* not where the name leads to nothing, but where it is asked for */
    snprintf(diag->file, sizeof diag->file, "%s", line ? problem->path : "--vary");
    diag->line = line;
    diag->column = 0;
    return status;
  }
  find_kind(problem, t);
  *out = t;
  status = check_logs_stay(problem, t, diag);
  if (!status) status = check_once(problem, t, diag);
  return status ? status : check_units(problem, t, diag);
}

/* ---- bounds ---- */

/* A bound in the unit of the value. */
static bramah_status convert(const bramah__tune_problem *problem, const bramah__tune_parameter *t,
                             const bramah_study_value *from, double *out, bramah_diag *diag)
{
  double si;
  bramah_diag_clear(diag);
  const bramah_status status = bramah_quantity_parse(from->text, *t->unit ? t->unit : "1", &si, diag);
  if (!status) return *out = si / t->factor, BRAMAH_OK;
  diag->line = 0;
  bramah__place(diag, problem->path, from->line);
  if (!*t->unit) {
    const size_t used = strlen(diag->message);
    snprintf(diag->message + used, sizeof diag->message - used, "; the value '%s' has no unit: give it one",
             t->text);
  }
  return status;
}

static bramah_status set_bounds(const bramah__tune_problem *problem, const bramah_study_tuned *from,
                                bramah__tune_parameter *t, bramah_diag *diag)
{
  if (!t->unit)
    return bramah__failf(diag, BRAMAH_E_VALUE, problem->path, from->line, t->name,
                         "'%s' is no number: only numbers can be tuned", t->text);
  bramah_status status = convert(problem, t, &from->least, &t->least, diag);
  if (!status) status = convert(problem, t, &from->most, &t->most, diag);
  if (!status && from->step.text) status = convert(problem, t, &from->step, &t->step, diag);
  if (status) return status;
  t->linear = from->linear;
  const double inside = fmin(fmax(t->start, t->least), t->most);
  if (inside != t->start && problem->tell) {
    char line[512];
    snprintf(line, sizeof line, "%s: '%s' lies outside its bounds; tuning begins at %.6g %s", t->name,
             t->text, inside, t->unit);
    problem->tell(problem->tell_user, line);
  }
  t->start = inside;
  return BRAMAH_OK;
}

bramah_status bramah__tune_problem_add_parameters(bramah__tune_problem *problem, bramah_diag *diag)
{
  const bramah_study *study = bramah_session_study(problem->session);
  const bramah_study_tune *tune = &study->tune;
  bramah_status status = BRAMAH_OK;
  if (!tune->line || !tune->n_parameters)
    return bramah__failf(diag, BRAMAH_E_KEY, study->file, tune->line, "tune",
                         "the study does not say what to tune: give it a section 'tune' with 'parameters'");
  for (size_t i = 0; !status && i < tune->n_parameters; i++) {
    const bramah_study_tuned *from = &tune->parameters[i];
    bramah__tune_parameter *t;
    status = bramah__tune_problem_add(problem, from->path, from->line, from->n_also, from->also, &t, diag);
    if (!status) status = set_bounds(problem, from, t, diag);
  }
  return status;
}

/* ---- the problem ---- */

bramah_status bramah__tune_problem_open(bramah__tune_problem *problem, const char *path, bramah_diag *diag)
{
  problem->path = path;
  problem->tuned = calloc(BRAMAH__TUNE_MOST, sizeof *problem->tuned);
  if (!problem->tuned) return bramah__fail_memory(diag);
  bramah_study *copied = NULL;
  bramah_status status = bramah_study_load(path, 0, NULL, diag, &problem->study);
  if (!status) status = bramah_study_copy(problem->study, diag, &copied);
  if (status) bramah__place(diag, path, 0);
  if (!status) status = bramah_session_new(copied, 0, diag, &problem->session);
  if (status) return status;
  const bramah_study *study = bramah_session_study(problem->session);
  problem->n_sensors = study->n_sensors;
  problem->settle_ns = llround(1e9 * study->tune.settle);
  if (study->adapt.line)
    return bramah__failf(diag, BRAMAH_E_UNSUPPORTED, path, study->adapt.line, "adapt",
                         "noise that adapts by itself cannot be tuned: take this section out");
  return BRAMAH_OK;
}

void bramah__tune_problem_close(bramah__tune_problem *problem)
{
  for (size_t i = 0; i < problem->n; i++) {
    free(problem->tuned[i].name);
    free(problem->tuned[i].also_ref);
  }
  for (size_t i = 0; i < problem->n_logs; i++) bramah__tune_log_free(&problem->logs[i]);
  free(problem->tuned);
  free(problem->logs);
  free(problem->outputs);
  free(problem->edges);
  bramah_session_close(problem->session);
  bramah_study_free(problem->study);
}

/* Outputs compared with the truth: those of the section, or positions and rates of the study's joints and
 * all pressures. */
static bramah_status choose_outputs(bramah__tune_problem *problem, bramah_diag *diag)
{
  const bramah_study *study = bramah_session_study(problem->session);
  const bramah_plant *plant = bramah_session_plant(problem->session);
  problem->outputs = calloc(plant->n_output + study->tune.n_outputs + 1, sizeof *problem->outputs);
  if (!problem->outputs) return bramah__fail_memory(diag);
  for (size_t i = 0; i < study->tune.n_outputs; i++) {
    const long output = bramah_plant_find_output(plant, study->tune.outputs[i]);
    if (output < 0)
      return bramah__failf(diag, BRAMAH_E_REFERENCE, study->file, study->tune.line, study->tune.outputs[i],
                           "the machine has no such output");
    problem->outputs[problem->n_outputs++] = (size_t)output;
  }
  if (problem->n_outputs) return BRAMAH_OK;
  for (size_t i = 0; i < study->n_joints; i++) {
    problem->outputs[problem->n_outputs++] = bramah_session_about(problem->session)->joint_output[i];
    problem->outputs[problem->n_outputs++] =
        bramah_session_about(problem->session)->joint_output[i] + 1; /* its rate follows */
  }
  for (size_t i = 0; i < plant->n_output; i++) {
    bramah_output_info info;
    bramah_plant_output_info(plant, i, &info);
    if (info.kind == BRAMAH_OUTPUT_FIRST_ORDER && !info.hidden) problem->outputs[problem->n_outputs++] = i;
  }
  return BRAMAH_OK;
}

bramah_status bramah__tune_problem_read(bramah__tune_problem *problem, size_t n, const char *const *paths,
                                        size_t n_truths, const char *const *truths, bramah_diag *diag)
{
  problem->logs = calloc(n + 1, sizeof *problem->logs);
  if (!problem->logs) return bramah__fail_memory(diag);
  if (n_truths > n)
    return bramah__failf(diag, BRAMAH_E_VALUE, truths[n], 0, NULL, "there are more truths than logs");
  bramah_status status = n_truths ? choose_outputs(problem, diag) : BRAMAH_OK;
  for (size_t i = 0; !status && i < n; i++) {
    problem->n_logs = i + 1;
    status = bramah__tune_log_read(&problem->logs[i], paths[i], problem->session, diag);
    if (!status && i < n_truths)
      status =
          bramah__tune_log_read_truth(&problem->logs[i], truths[i], bramah_session_plant(problem->session),
                                      problem->n_outputs, problem->outputs, diag);
  }
  return status;
}

/* By bisection: a bin more or less does not need more. */
static double exceeded_by(double share, double dof)
{
  double low = 0.0, high = 20.0 * dof + 100.0;
  for (int i = 0; i < 60; i++) {
    const double middle = 0.5 * (low + high);
    if (bramah__chi_square_above(middle, dof) > share)
      low = middle;
    else
      high = middle;
  }
  return high;
}

static void fill_edges(bramah__tune_problem *problem)
{
  for (size_t m = 1; m <= problem->n_sensors; m++)
    for (size_t b = 1; b < BRAMAH__TUNE_BINS; b++)
      problem->edges[(m - 1) * (BRAMAH__TUNE_BINS - 1) + b - 1] =
          exceeded_by(1.0 - (double)b / BRAMAH__TUNE_BINS, (double)m);
}

static int moves_machine(const char *name)
{
  return after(name, "machine.") || after(name, "changes.") || strcmp(name, "machine") == 0;
}

bramah_status bramah__tune_problem_seal(bramah__tune_problem *problem, bramah_diag *diag)
{
  const char *version = bramah_version();
  uint64_t hash = bramah__fnv(0, version, strlen(version)), of_study;
  const bramah_status status = bramah__study_hash(problem->study, &of_study, diag);
  if (status) return status;
  hash = bramah__fnv(hash, &of_study, sizeof of_study);
  hash = bramah__fnv(hash, &problem->ahead, sizeof problem->ahead);
  hash = bramah__fnv(hash, &problem->settle_ns, sizeof problem->settle_ns);
  hash = bramah__fnv(hash, problem->outputs, problem->n_outputs * sizeof *problem->outputs);
  problem->shared_model = 1;
  for (size_t i = 0; i < problem->n; i++) {
    const bramah__tune_parameter *t = &problem->tuned[i];
    hash = bramah__fnv(hash, t->name, strlen(t->name) + 1);
    if (moves_machine(t->name)) problem->shared_model = 0;
    for (size_t k = 0; k < t->n_also; k++) {
      hash = bramah__fnv(hash, t->also[k], strlen(t->also[k]) + 1);
      if (moves_machine(t->also[k])) problem->shared_model = 0;
    }
  }
  problem->identity = hash;
  problem->edges = calloc(problem->n_sensors * (BRAMAH__TUNE_BINS - 1) + 1, sizeof *problem->edges);
  if (!problem->edges) return bramah__fail_memory(diag);
  fill_edges(problem);
  return BRAMAH_OK;
}
