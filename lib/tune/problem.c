/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The problem: a study, the values that vary, the logs; and candidates: on their scales, as texts, as
 * sessions. */
#include "lib/tune/tune_internal.h"
#include "lib/assess/statistics.h"
#include "lib/io/fail.h"
#include "lib/io/session.h"
#include "bramah/units.h"
#include "lib/math/elementary.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- values ---- */

static const char *after(const char *text, const char *prefix)
{
  const size_t n = strlen(prefix);
  return strncmp(text, prefix, n) == 0 ? text + n : NULL;
}

/* What a value of the study is, by its path. */
static void find_kind(const bramah_study *study, bramah__tune_parameter *t)
{
  static const struct {
    const char *front, *back;
    bramah__tune_kind kind;
  } kinds[] = {{"joints.", ".acceleration_noise", BRAMAH__TUNE_ACCELERATION},
               {"volumes.", ".noise", BRAMAH__TUNE_PRESSURE},
               {"parameter_noise.", "", BRAMAH__TUNE_NOISE},
               {"augmented.", ".noise", BRAMAH__TUNE_NOISE},
               {"inputs.", ".unknown.noise", BRAMAH__TUNE_NOISE}};
  if (t->ref.in_machine) return;
  for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
    const size_t n = strlen(t->name), m = strlen(kinds[i].back);
    if (after(t->name, kinds[i].front) && n > m && strcmp(t->name + n - m, kinds[i].back) == 0)
      t->kind = kinds[i].kind;
  }
  for (size_t i = 0; i < study->n_sensors; i++) {
    const char *p = after(t->name, "sensors.");
    p = p ? after(p, study->sensors[i].name) : NULL;
    if (!p || strcmp(p, ".sigma") != 0) continue;
    t->kind = BRAMAH__TUNE_SENSOR;
    t->index = i;
  }
}

/* Logs are read once: what says how to read them cannot vary, but for an offset, which is easily added. What is
 * believed of an unknown input is not read. */
static int says_how_to_read(const char *path)
{
  static const char *const keys[] = {"column", "unit", "scale", "sign", "wrap", "gauge", "file"};
  const char *key = strrchr(path, '.');
  if (after(path, "log.") || after(path, "time")) return 1;
  if (after(path, "inputs.") && !strstr(path, ".unknown.")) return 1;
  for (size_t i = 0; after(path, "sensors.") && i < sizeof keys / sizeof keys[0]; i++)
    if (strcmp(key + 1, keys[i]) == 0) return 1;
  return 0;
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

/* Nothing that says how logs are read; no place twice; one dimension for all places of a value. */
static bramah_status check_places(const bramah__tune_problem *problem, const bramah__tune_parameter *t,
                                  bramah_diag *diag)
{
  const char *file = t->line ? problem->path : "--vary";
  int reads = says_how_to_read(t->name);
  for (size_t k = 0; k < t->n_also; k++) reads |= says_how_to_read(t->also[k]);
  if (reads)
    return bramah__failf(diag, BRAMAH_E_UNSUPPORTED, file, t->line, t->name,
                         "logs are read once: what says how to read them cannot vary");

  const char *place = t->name;
  const bramah__tune_parameter *owner = owner_of(problem, t, place);
  for (size_t k = 0; !owner && k < t->n_also; k++) {
    place = t->also[k];
    owner = strcmp(place, t->name) == 0 ? t : owner_of(problem, t, place);
  }
  if (owner && strcmp(owner->name, place) == 0)
    return bramah__failf(diag, BRAMAH_E_VALUE, file, t->line, place, "this value is given twice");
  if (owner)
    return bramah__failf(diag, BRAMAH_E_VALUE, file, t->line, place, "this value follows '%s' already",
                         owner->name);

  for (size_t i = 0; t->ref.is_number && i < t->n_also; i++) {
    const bramah_dimension a = t->ref.dimension, b = t->also_ref[i].dimension;
    const int same = a.m == b.m && a.kg == b.kg && a.s == b.s && a.volt == b.volt && a.rad == b.rad;
    if (t->also_ref[i].is_number && !same)
      return bramah__failf(diag, BRAMAH_E_UNIT, problem->path, t->line, t->also[i],
                           "its value '%s' has another unit than '%s' of %s", t->also_ref[i].text, t->text,
                           t->name);
  }
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
  const size_t size = strlen(name) + 1;
  *t = (bramah__tune_parameter){.name = malloc(size), .line = line, .n_also = n_also, .also = also};
  t->also_ref = calloc(n_also + 1, sizeof *t->also_ref);
  if (!t->name || !t->also_ref) return bramah__fail_memory(diag);
  memcpy(t->name, name, size);

  /* Where they are, and what is there. */
  bramah_diag_clear(diag);
  bramah_status status = bramah_study_find(problem->study, t->name, &t->ref, diag);
  for (size_t i = 0; !status && i < n_also; i++)
    status = bramah_study_find(problem->study, also[i], &t->also_ref[i], diag);
  if (status) { /* not where the name leads to nothing, but where it is asked for */
    snprintf(diag->file, sizeof diag->file, "%s", line ? problem->path : "--vary");
    diag->line = line;
    diag->column = 0;
    return status;
  }
  t->text = t->ref.text;
  t->start = t->ref.number;
  t->factor = t->ref.factor;
  t->unit = t->ref.is_number ? t->ref.unit : NULL;
  find_kind(bramah_session_study(problem->session), t);
  *out = t;
  return check_places(problem, t, diag);
}

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
    if (status) break;
    if (!t->unit)
      return bramah__failf(diag, BRAMAH_E_VALUE, problem->path, from->line, t->name,
                           "'%s' is no number: only numbers can be tuned", t->text);

    /* Bounds, and the start within them. */
    status = convert(problem, t, &from->least, &t->least, diag);
    if (!status) status = convert(problem, t, &from->most, &t->most, diag);
    if (!status && from->step.text) status = convert(problem, t, &from->step, &t->step, diag);
    if (status) break;
    t->linear = from->linear;
    const double inside = fmin(fmax(t->start, t->least), t->most);
    if (inside != t->start && problem->run.tell) {
      char line[512];
      snprintf(line, sizeof line, "%s: '%s' lies outside its bounds; tuning begins at %.6g %s", t->name,
               t->text, inside, t->unit);
      problem->run.tell(problem->run.user, line);
    }
    t->start = inside;
  }
  return status;
}

/* ---- the problem ---- */

bramah_status bramah__tune_problem_open(bramah__tune_problem *problem, const char *path,
                                        const bramah_tune_run *run, bramah_diag *diag)
{
  bramah_study *copied = NULL;
  const size_t length = strlen(path) + 1;
  problem->path = malloc(length);
  if (run) problem->run = *run;
  problem->tuned = calloc(BRAMAH__TUNE_MOST, sizeof *problem->tuned);
  if (!problem->path || !problem->tuned) return bramah__fail_memory(diag);
  memcpy(problem->path, path, length);
  bramah_status status = bramah_study_load(path, 0, NULL, diag, &problem->study);
  if (!status) status = bramah_study_copy(problem->study, diag, &copied);
  if (status) bramah__place(diag, path, 0);
  if (!status) status = bramah_session_new(copied, 0, diag, &problem->session);
  if (status) return status;
  const bramah_study *study = bramah_session_study(problem->session);
  problem->n_sensors = study->n_sensors;
  problem->settle_ns = llround(1e9 * study->tune.settle);
  problem->ahead = study->tune.ahead;
  status = bramah__refuse_hypotheses(study, "tuning", diag);
  if (status) return status;
  if (study->adapt.line)
    return bramah__failf(diag, BRAMAH_E_UNSUPPORTED, path, study->adapt.line, "adapt",
                         "noise that adapts by itself cannot be tuned: take this section out");
  return BRAMAH_OK;
}

void bramah__tune_problem_close(bramah__tune_problem *problem)
{
  for (size_t i = 0; i < problem->n; i++) {
    bramah__tune_parameter *t = &problem->tuned[i];
    for (size_t k = 0; k < t->n_listed; k++) free(t->listed[k]);
    free(t->listed);
    free(t->name);
    free(t->also_ref);
  }
  for (size_t i = 0; i < problem->n_logs; i++) bramah__tune_log_free(&problem->logs[i]);
  free(problem->path);
  free(problem->tuned);
  free(problem->logs);
  free(problem->left_out);
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
    const size_t position = bramah_session_about(problem->session)->joint_output[i];
    problem->outputs[problem->n_outputs++] = position;
    problem->outputs[problem->n_outputs++] = position + 1; /* its rate follows */
  }
  for (size_t i = 0; i < plant->n_output; i++) {
    bramah_output_info info;
    bramah_plant_output_info(plant, i, &info);
    if (info.kind == BRAMAH_OUTPUT_FIRST_ORDER && !info.hidden) problem->outputs[problem->n_outputs++] = i;
  }
  return BRAMAH_OK;
}

/* Edges between bins of chi-square that as many fall into, by bisection: a bin more or less does not need
 * more. */
static bramah_status make_bins(bramah__tune_problem *problem, bramah_diag *diag)
{
  double *edge = problem->edges = calloc(problem->n_sensors * (BRAMAH__TUNE_BINS - 1) + 1, sizeof *edge);
  if (!edge) return bramah__fail_memory(diag);
  for (size_t m = 1; m <= problem->n_sensors; m++)
    for (size_t b = 1; b < BRAMAH__TUNE_BINS; b++) {
      const double dof = (double)m, share = 1.0 - (double)b / BRAMAH__TUNE_BINS;
      double low = 0.0, high = 20.0 * dof + 100.0;
      for (int i = 0; i < 60; i++) {
        const double middle = 0.5 * (low + high);
        if (bramah__chi_square_above(middle, dof) > share)
          low = middle;
        else
          high = middle;
      }
      *edge++ = high;
    }
  return BRAMAH_OK;
}

void bramah__tune_leave_out(bramah__tune_problem *problem, const char *log, const bramah_diag *why)
{
  char line[2048];
  problem->left_out[problem->n_left_out++] = (bramah_tune_left_out){log, *why};
  int used = snprintf(line, sizeof line, "%.300s is left out: ", log);
  if (strcmp(why->file, log) != 0)
    used += snprintf(line + used, sizeof line - (size_t)used, "%s: ", why->file);
  if (why->line) used += snprintf(line + used, sizeof line - (size_t)used, "line %d: ", why->line);
  snprintf(line + used, sizeof line - (size_t)used, "%s%s%s", why->thing, why->thing[0] ? ": " : "",
           why->message);
  if (problem->run.tell) problem->run.tell(problem->run.user, line);
}

/* Logs as they are read, with what was wrong. */
typedef struct reading {
  bramah__tune_problem *problem;
  const char *const *paths;
  bramah_status *status; /* [n] */
  bramah_diag *diag;     /* [n] */
} reading;

static bramah_status read_log(void *user, size_t i, bramah__worker_pool *pool, bramah_diag *diag)
{
  reading *r = user;
  bramah__tune_log *log = &r->problem->logs[i];
  (void)pool;
  (void)diag;
  *log = (bramah__tune_log){.number = i};
  r->status[i] = bramah__tune_log_read(log, r->paths[i], r->problem->session, &r->problem->run, &r->diag[i]);
  return BRAMAH_OK;
}

size_t bramah__tune_threads(const bramah_tune_run *run)
{
  const long processors = sysconf(_SC_NPROCESSORS_ONLN);
  const int several = run->transport && run->transport->size > 1;
  if (run->n_threads) return run->n_threads;
  return several || processors < 1 ? 1 : (size_t)processors;
}

/* All of them; several at once if they are CSV files: the readers of others are not made for that. */
static bramah_status read_all(reading *r, size_t n, bramah_diag *diag)
{
  const bramah__worker_jobs work = {.n = n, .user = r, .job = read_log};
  size_t n_threads = bramah__tune_threads(&r->problem->run);
  for (size_t i = 0; i < n; i++) {
    const size_t length = strlen(r->paths[i]);
    if (length < 4 || strcmp(r->paths[i] + length - 4, ".csv") != 0) n_threads = 1;
  }
  return bramah__worker_pool_run(&work, n_threads < n ? n_threads : n, diag);
}

/* Those that can be used, with their truths. */
static bramah_status keep_logs(reading *r, size_t n, size_t n_held, bramah_diag *diag)
{
  bramah__tune_problem *problem = r->problem;
  const bramah_tune_run *run = &problem->run;
  const bramah_plant *plant = bramah_session_plant(problem->session);
  bramah_status first = BRAMAH_OK, status = BRAMAH_OK;
  size_t *bad = calloc(n + 1, sizeof *bad), n_bad = 0;
  if (!bad) status = bramah__fail_memory(diag);
  for (size_t i = 0; i < n; i++) {
    bramah__tune_log *log = &problem->logs[problem->n_logs++];
    *log = problem->logs[i];
    if (status) continue; /* kept to be freed */
    status = r->status[i];
    if (status) *diag = r->diag[i];
    if (status && !run->strict && status != BRAMAH_E_MEMORY && status != BRAMAH_E_FILE &&
        !(run->stopped && run->stopped(run->user))) {
      if (!first) first = status;
      bad[n_bad++] = i;
      bramah__tune_log_free(log);
      problem->n_logs--;
      status = BRAMAH_OK;
      continue;
    }
    if (!status && i < run->n_truths)
      status =
          bramah__tune_log_read_truth(log, run->truths[i], plant, problem->n_outputs, problem->outputs, diag);
    problem->n_held += !status && i >= n - n_held;
  }
  if (!status && problem->n_logs == problem->n_held) { /* none to tune on */
    *diag = r->diag[bad[0]];
    status = first;
  }
  for (size_t k = 0; !status && k < n_bad; k++)
    bramah__tune_leave_out(problem, r->paths[bad[k]], &r->diag[bad[k]]);
  free(bad);
  return status;
}

static bramah_status read_logs(bramah__tune_problem *problem, size_t n, const char *const *paths,
                               size_t n_held, bramah_diag *diag)
{
  reading r = {.problem = problem, .paths = paths};
  r.status = calloc(n + 1, sizeof *r.status);
  r.diag = calloc(n + 1, sizeof *r.diag);
  bramah_status status = r.status && r.diag ? read_all(&r, n, diag) : bramah__fail_memory(diag);
  if (!status) status = keep_logs(&r, n, n_held, diag);
  free(r.status);
  free(r.diag);
  return status;
}

/* ---- values of the machine that are parameters of its plant ---- */

/* A value in SI: 0 if it is no number. */
static int si_of(const bramah__tune_parameter *t, double x, double *si)
{
  char text[256];
  bramah__tune_value_text(t, x, text);
  return t->unit && bramah_quantity_parse(text, *t->unit ? t->unit : "1", si, NULL) == BRAMAH_OK;
}

/* Do two plants show the same for a while, up to rounding, where commands push them about? */
static int move_alike(const bramah_plant *a, const bramah_plant *b)
{
  enum { STEPS = 50, SETS = 10 };
  int alike = 1;
  double *u = calloc(a->n_input + 2 * a->n_output + 1, sizeof *u);
  double *size = u + a->n_input, *apart = size + a->n_output;
  for (int k = 0; u && alike && k <= STEPS; k++) {
    for (size_t i = 0; i < a->n_output; i++) {
      const double x = a->output(a->self, i), y = b->output(b->self, i);
      size[i] += fabs(x);
      apart[i] += fabs(x - y);
    }
    for (size_t i = 0; i < a->n_input; i++) u[i] = (k / SETS + (int)i) % 2 ? -3.0 : 3.0;
    alike = !a->set_inputs(a->self, u, NULL) && !b->set_inputs(b->self, u, NULL) && !a->step(a->self, NULL) &&
            !b->step(b->self, NULL);
  }
  for (size_t i = 0; u && i < a->n_output; i++) alike = alike && apart[i] <= 1e-6 * size[i] + 1e-12;
  free(u);
  return u && alike;
}

/* The machine with this value changed a little against the problem's with that parameter changed so. */
static bramah_status try_parameter(const bramah__tune_problem *problem, const bramah__tune_parameter *t,
                                   size_t parameter, double si, int *alike, bramah_diag *diag)
{
  const bramah_study_setting setting = {.ref = &t->ref, .si = si};
  bramah_study *study = NULL;
  bramah_machine *machine = NULL;
  const bramah_model *model = NULL;
  bramah_coupled *changed = NULL, *set = NULL;
  *alike = 0;
  bramah_status status = bramah_study_copy(problem->study, diag, &study);
  if (!status) status = bramah_study_set(study, 1, &setting, diag);
  if (!status) status = bramah__study_load_machine(study, diag, &machine);
  if (!status) status = bramah_model_new(machine, diag, &model);
  if (!status) status = bramah_coupled_new(model, diag, &changed);
  if (!status) status = bramah_coupled_new(problem->session->machine.model, diag, &set);
  if (!status) {
    const bramah_plant a = bramah_coupled_plant(changed), b = bramah_coupled_plant(set);
    status = b.set_parameter(b.self, parameter, si, diag);
    *alike = !status && a.n_output == b.n_output && move_alike(&a, &b);
  }
  bramah_coupled_free(set);
  bramah_coupled_free(changed);
  bramah_model_free(model);
  bramah_machine_free(machine);
  bramah_study_free(study);
  return status == BRAMAH_E_MEMORY ? status : BRAMAH_OK;
}

/* Parameters of a plant are called like the end of what they are in the machine's file,
 * "hydraulics.oil.bulk_modulus". A candidate that differs in nothing else of the machine needs no model of its own. Where the
 * study goes by the parameter itself it stays a value of the machine. */
static bramah_status find_parameter(const bramah__tune_problem *problem, bramah__tune_parameter *t,
                                    bramah_diag *diag)
{
  const bramah_study *study = bramah_session_study(problem->session);
  const bramah_plant *plant = bramah_session_plant(problem->session);
  const char *name = t->name + strlen(t->name);
  for (int dots = 0; name > t->name && (dots += name[-1] == '.') < 2;) name--;
  const double si = t->ref.number * t->factor;
  bramah_parameter_info info;
  double listed;
  if (!t->ref.in_machine || !t->ref.is_number || t->n_also || study->uncertainty.is_on ||
      bramah_plant_parameter_index(plant, name, &t->parameter, NULL))
    return BRAMAH_OK;
  plant->parameter_info(plant->self, t->parameter, &info);
  if (!(fabs(info.nominal - si) <= 1e-12 * fabs(si)) || si == 0.0) return BRAMAH_OK;
  for (size_t i = 0; i < study->n_augmented; i++)
    if (strcmp(study->augmented[i].at, name) == 0) return BRAMAH_OK;
  for (size_t i = 0; i < study->n_parameter_noise; i++)
    if (strcmp(study->parameter_noise[i].at, name) == 0) return BRAMAH_OK;
  for (size_t i = 0; i < t->n_listed; i++)
    if (!si_of(t, (double)i, &listed)) return BRAMAH_OK;
  return try_parameter(problem, t, t->parameter, 1.01 * si, &t->is_parameter, diag);
}

bramah_status bramah__tune_problem_read(bramah__tune_problem *problem, size_t n, const char *const *paths,
                                        size_t n_held, bramah_diag *diag)
{
  const bramah_tune_run *run = &problem->run;
  bramah_status status = BRAMAH_OK;
  if (run->opened) status = run->opened(run->user, bramah_session_study(problem->session), diag);
  if (status) return status;

  problem->logs = calloc(n + 1, sizeof *problem->logs);
  problem->left_out = calloc(n + 1, sizeof *problem->left_out);
  if (!problem->logs || !problem->left_out) return bramah__fail_memory(diag);
  if (run->n_truths > n)
    return bramah__failf(diag, BRAMAH_E_VALUE, run->truths[n], 0, NULL, "there are more truths than logs");
  if (run->n_truths) status = choose_outputs(problem, diag);
  if (!status) status = read_logs(problem, n, paths, n_held, diag);

  /* All that results depend on, but for the logs and the candidate. */
  uint64_t of_study;
  if (!status) status = bramah__study_hash(problem->study, &of_study, diag);
  if (status) return status;
  uint64_t hash = bramah__fnv(0, bramah_version(), strlen(bramah_version()));
  hash = bramah__fnv(hash, &of_study, sizeof of_study);
  const bramah_machine_terrain *field =
      &problem->session->machine.machine->terrain; /* may come from a file */
  if (field->heights)
    hash = bramah__fnv(hash, field->heights, field->options.nx * field->options.ny * sizeof *field->heights);
  hash = bramah__fnv(hash, &problem->ahead, sizeof problem->ahead);
  hash = bramah__fnv(hash, &problem->settle_ns, sizeof problem->settle_ns);
  hash = bramah__fnv(hash, problem->outputs, problem->n_outputs * sizeof *problem->outputs);
  problem->shared_model = 1;
  for (size_t i = 0; !status && i < problem->n; i++) {
    bramah__tune_parameter *t = &problem->tuned[i];
    status = find_parameter(problem, t, diag);
    for (size_t k = 0; k <= t->n_also; k++) {
      const char *place = k ? t->also[k - 1] : t->name;
      hash = bramah__fnv(hash, place, strlen(place) + 1);
      if (!t->is_parameter && (after(place, "machine.") || after(place, "changes.") ||
                               strcmp(place, "machine") == 0 || after(place, "plant.values.") ||
                               strcmp(place, "plant.fmu") == 0 || strcmp(place, "plant.step") == 0))
        problem->shared_model = 0;
    }
  }
  if (status) return status;
  problem->identity = hash;
  return make_bins(problem, diag);
}

/* ---- candidates ---- */

void bramah__tune_round(const bramah__tune_problem *problem, double *x)
{
  for (size_t i = 0; i < problem->n; i++) {
    char text[64];
    snprintf(text, sizeof text, "%.12g", x[i]);
    x[i] = strtod(text, NULL);
  }
}

void bramah__tune_value_text(const bramah__tune_parameter *t, double x, char *out)
{
  if (t->n_listed)
    snprintf(out, 256, "%s", t->listed[(size_t)x]);
  else
    snprintf(out, 256, "%.12g%s%s", x, *t->unit ? " " : "", t->unit);
}

void bramah__tune_candidate_text(const bramah__tune_problem *problem, const double *x, char *out)
{
  size_t used = 0;
  out[0] = '\0';
  for (size_t i = 0; i < problem->n && used < BRAMAH__TUNE_TEXT; i++) {
    char value[256];
    bramah__tune_value_text(&problem->tuned[i], x[i], value);
    used += (size_t)snprintf(out + used, BRAMAH__TUNE_TEXT - used, "%s%s", i ? "; " : "", value);
  }
}

double bramah__tune_scaled(const bramah__tune_parameter *t, double x)
{
  return t->linear ? (x - t->least) / (t->most - t->least) : bramah__log(x);
}

double bramah__tune_unscaled(const bramah__tune_parameter *t, double z)
{
  const double x = t->linear ? t->least + z * (t->most - t->least) : bramah__exp(z);
  return fmin(fmax(x, t->least), t->most);
}

double bramah__tune_neighbour(const bramah__tune_problem *problem, const double *x, size_t j, double *out)
{
  const bramah__tune_parameter *t = &problem->tuned[j];
  /* Small enough for a straight line, large enough not to drown in the tolerance of the step's iterations. */
  double step = t->step;
  if (!(step > 0.0))
    step = t->linear ? 1e-3 * (t->most - t->least) : fmin(2e-3 * x[j], 0.5 * (t->most - t->least));
  if (x[j] + step > t->most) step = -step;
  memcpy(out, x, problem->n * sizeof *out);
  out[j] += step;
  bramah__tune_round(problem, out);
  return bramah__tune_scaled(t, out[j]) - bramah__tune_scaled(t, x[j]);
}

/* ---- sessions ---- */

/* A copy of the study with the values of the candidate. A number with a unit, as a file would have it,
 * becomes one in SI; all else is set as text. */
static bramah_status load(bramah_session *session, const bramah__tune_problem *problem, const double *x,
                          bramah_diag *diag)
{
  size_t n = problem->n, k = 0;
  for (size_t i = 0; i < problem->n; i++) n += problem->tuned[i].n_also;
  bramah_study_setting *settings = calloc(n + 1, sizeof *settings);
  char(*texts)[256] = calloc(problem->n + 1, sizeof *texts);
  bramah_status status = settings && texts ? BRAMAH_OK : bramah__fail_memory(diag);
  for (size_t i = 0; !status && i < problem->n; i++) {
    const bramah__tune_parameter *t = &problem->tuned[i];
    bramah__tune_value_text(t, x[i], texts[i]);
    for (size_t j = 0; j <= t->n_also; j++) {
      const bramah_study_ref *ref = j ? &t->also_ref[j - 1] : &t->ref;
      bramah_study_setting *setting = &settings[k++];
      *setting = (bramah_study_setting){.ref = ref, .text = texts[i]};
      if (t->unit && *t->unit && ref->is_number &&
          bramah_quantity_parse(texts[i], t->unit, &setting->si, NULL) == BRAMAH_OK)
        setting->text = NULL;
    }
  }
  if (!status) status = bramah_study_copy(problem->study, diag, &session->study);
  if (!status) status = bramah_study_set(session->study, k, settings, diag);
  if (status) bramah__place(diag, problem->path, 0);
  free(settings);
  free(texts);
  return status;
}

static double offset_of(const bramah_study *study, size_t i, const char *unit)
{
  double value = 0.0;
  bramah_diag ignored;
  const bramah_study_value *offset = study->sensor_columns ? &study->sensor_columns[i].offset : NULL;
  if (offset && offset->text && bramah__study_value_get(offset, unit, &value, &ignored))
    return 0.0; /* the session says it */
  return value;
}

bramah_status bramah__tune_session_open(bramah__tune_session *s, const bramah__tune_problem *problem,
                                        const double *x, bramah_diag *diag)
{
  *s = (bramah__tune_session){.session = calloc(1, sizeof *s->session)};
  if (!s->session) return bramah__fail_memory(diag);
  bramah_session *session = s->session;
  bramah_status status = load(session, problem, x, diag);
  if (status) return status;
  if (session->study->n_sensors != problem->n_sensors)
    return bramah__failf(diag, BRAMAH_E_UNSUPPORTED, problem->path, 0, NULL, "values must not add sensors");
  s->delay_ns = calloc(problem->n_sensors + 1, sizeof *s->delay_ns);
  s->shift = calloc(problem->n_sensors + 1, sizeof *s->shift);
  if (!s->delay_ns || !s->shift) return bramah__fail_memory(diag);

  /* Samples come at the times they were measured: nobody has to go back. And the log was read with the
   * offsets of the problem's study. */
  for (size_t i = 0; i < problem->n_sensors; i++) {
    bramah_sensor_options *sensor =
        (bramah_sensor_options *)(uintptr_t)&session->study->sensors[i]; /* ours */
    const char *unit = problem->session->sensors[i].unit;
    s->delay_ns[i] = sensor->delay_ns;
    sensor->delay_ns = 0;
    s->shift[i] = offset_of(session->study, i, unit) - offset_of(problem->session->study, i, unit);
  }
  session->study->fusion =
      BRAMAH_FUSION_SEQUENTIAL; /* the same but for rounding; it says what each sample adds */
  if (!problem->shared_model) return bramah__session_open_study(session, diag);

  /* As bramah_session_new, on the problem's model or FMU. */
  s->shared = 1;
  session->machine.model = problem->session->machine.model;
  session->machine.machine = problem->session->machine.machine;
  session->machine.program = problem->session->machine.program;
  session->fixed = calloc(problem->n + 1, sizeof *session->fixed);
  session->holds = 1;
  if (!session->fixed) return bramah__fail_memory(diag);
  for (size_t i = 0; i < problem->n; i++) {
    const bramah__tune_parameter *t = &problem->tuned[i];
    bramah__fixed *fixed = &session->fixed[session->n_fixed];
    if (!t->is_parameter) continue;
    *fixed = (bramah__fixed){.parameter = t->parameter};
    session->n_fixed += (size_t)si_of(t, x[i], &fixed->value);
  }
  session->machine.fmu = problem->session->machine.fmu;
  bramah_another_plant other;
  status = bramah__machine_another(&session->machine, diag, &other);
  if (status) return status;
  session->machine.coupled = other.coupled;
  session->machine.instance = other.instance;
  session->machine.plant = other.plant;
  return bramah__session_open_on_machine(session, diag);
}

void bramah__tune_session_close(bramah__tune_session *session)
{
  if (!session->session) return;
  if (session->shared) { /* the problem's */
    session->session->machine.model = NULL;
    session->session->machine.program = NULL;
    session->session->machine.machine = NULL;
    session->session->machine.fmu = NULL;
  }
  bramah_session_close(session->session);
  free(session->delay_ns);
  free(session->shift);
  *session = (bramah__tune_session){0};
}
