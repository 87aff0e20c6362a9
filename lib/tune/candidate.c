/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sets of values: as text, on their scales, and as a session. */
#include "lib/tune/tune_internal.h"
#include "lib/io/fail.h"
#include "bramah/units.h"
#include "lib/io/session.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- texts ---- */

void bramah__tune_set_text(const bramah__tune_problem *problem, const double *x, char *out)
{
  size_t used = 0;
  out[0] = '\0';
  for (size_t i = 0; i < problem->n && used < BRAMAH__TUNE_TEXT; i++) {
    const char *unit = problem->tuned[i].unit;
    used += (size_t)snprintf(out + used, BRAMAH__TUNE_TEXT - used, "%s%.12g%s%s", i ? "; " : "", x[i],
                             *unit ? " " : "", unit);
  }
}

static const char *next_value(const char *set)
{
  const char *end = strstr(set, "; ");
  return end ? end + 2 : set + strlen(set);
}

void bramah__tune_set_numbers(const bramah__tune_problem *problem, const char *set, double *x)
{
  for (size_t i = 0; i < problem->n; i++, set = next_value(set)) x[i] = strtod(set, NULL);
}

/* ---- scales ---- */

double bramah__tune_scaled(const bramah__tune_parameter *t, double x)
{
  return t->linear ? (x - t->least) / (t->most - t->least) : log(x);
}

double bramah__tune_unscaled(const bramah__tune_parameter *t, double z)
{
  const double x = t->linear ? t->least + z * (t->most - t->least) : exp(z);
  return fmin(fmax(x, t->least), t->most);
}

/* Small enough for a straight line, large enough not to drown in the tolerance of the step's iterations. */
static double default_step(const bramah__tune_parameter *t, double x)
{
  return t->linear ? 1e-3 * (t->most - t->least) : fmin(2e-3 * x, 0.5 * (t->most - t->least));
}

double bramah__tune_neighbour(const bramah__tune_problem *problem, const char *set, size_t j, char *out)
{
  const bramah__tune_parameter *t = &problem->tuned[j];
  double x[BRAMAH__TUNE_MOST];
  bramah__tune_set_numbers(problem, set, x);
  const double before = x[j];
  double step = t->step > 0.0 ? t->step : default_step(t, before);
  if (before + step > t->most) step = -step;
  x[j] = before + step;
  bramah__tune_set_text(problem, x, out);
  bramah__tune_set_numbers(problem, out, x);
  return bramah__tune_scaled(t, x[j]) - bramah__tune_scaled(t, before);
}

/* ---- sessions ---- */

/* Take the set apart: a terminated text per value. */
static char *split(const bramah__tune_problem *problem, const char *set, const char **value)
{
  char *texts = malloc(strlen(set) + 1);
  if (!texts) return NULL;
  memcpy(texts, set, strlen(set) + 1);
  char *p = texts;
  for (size_t i = 0; i < problem->n; i++) {
    value[i] = p;
    char *end = strstr(p, "; ");
    p = end ? end + 2 : p + strlen(p);
    if (end) *end = '\0';
  }
  return texts;
}

/* A number as a file would have it becomes one in SI; all else is set as text. */
static bramah_study_setting setting_of(const bramah__tune_parameter *t, const bramah_study_ref *ref,
                                       const char *value)
{
  bramah_study_setting out = {.ref = ref, .text = value};
  if (!t->unit || !*t->unit || !ref->is_number) return out;
  if (bramah_quantity_parse(value, t->unit, &out.si, NULL) == BRAMAH_OK) out.text = NULL;
  return out;
}

/* A copy of the study with the values set. */
static bramah_status load(bramah__tune_session *s, const bramah__tune_problem *problem, const char *set,
                          bramah_diag *diag)
{
  const char *value[BRAMAH__TUNE_MOST];
  size_t n = problem->n, k = 0;
  for (size_t i = 0; i < problem->n; i++) n += problem->tuned[i].n_also;
  bramah_study_setting *settings = calloc(n + 1, sizeof *settings);
  char *texts = split(problem, set, value);
  for (size_t i = 0; settings && texts && i < problem->n; i++) {
    const bramah__tune_parameter *t = &problem->tuned[i];
    settings[k++] = setting_of(t, &t->ref, value[i]);
    for (size_t j = 0; j < t->n_also; j++) settings[k++] = setting_of(t, &t->also_ref[j], value[i]);
  }
  bramah_status status = settings && texts ? BRAMAH_OK : bramah__fail_memory(diag);
  if (!status) status = bramah_study_copy(problem->study, diag, &s->session->study);
  if (!status) status = bramah_study_set(s->session->study, k, settings, diag);
  if (status) bramah__place(diag, problem->path, 0);
  free(settings);
  free(texts);
  return status;
}

/* The samples come at the times they were measured: nobody has to go back. */
static bramah_status take_delays(bramah__tune_session *s, const bramah__tune_problem *problem,
                                 bramah_diag *diag)
{
  bramah_study *study = s->session->study;
  s->delay_ns = calloc(problem->n_sensors + 1, sizeof *s->delay_ns);
  if (!s->delay_ns) return bramah__fail_memory(diag);
  if (study->n_sensors != problem->n_sensors)
    return bramah__failf(diag, BRAMAH_E_UNSUPPORTED, problem->path, 0, NULL, "values must not add sensors");
  for (size_t i = 0; i < study->n_sensors; i++) {
    bramah_sensor_options *options = (bramah_sensor_options *)(uintptr_t)&study->sensors[i]; /* ours */
    s->delay_ns[i] = options->delay_ns;
    options->delay_ns = 0;
  }
  return BRAMAH_OK;
}

/* As bramah_session_new, on the problem's model. */
static bramah_status open_on_model(bramah__tune_session *s, const bramah__tune_problem *problem,
                                   bramah_diag *diag)
{
  bramah_session *session = s->session;
  s->shared = 1;
  session->machine.model = problem->session->machine.model;
  session->machine.machine = problem->session->machine.machine;
  const bramah_status status = bramah_coupled_new(session->machine.model, diag, &session->machine.coupled);
  if (status) return status;
  session->machine.plant = bramah_coupled_plant(session->machine.coupled);
  return bramah__session_open_on_machine(session, diag);
}

static double offset_of(const bramah_study *study, size_t i, const char *unit)
{
  double value = 0.0;
  bramah_diag ignored;
  const bramah_study_value *offset = study->sensor_columns ? &study->sensor_columns[i].offset : NULL;
  if (offset && offset->text && bramah__study_value_get(offset, unit, &value, &ignored))
    return 0.0; /* the session has told */
  return value;
}

/* The log was read with the offsets of the problem's study. */
static bramah_status take_offsets(bramah__tune_session *s, const bramah__tune_problem *problem,
                                  bramah_diag *diag)
{
  s->shift = calloc(problem->n_sensors + 1, sizeof *s->shift);
  if (!s->shift) return bramah__fail_memory(diag);
  for (size_t i = 0; i < problem->n_sensors; i++) {
    const char *unit = problem->session->sensors[i].unit;
    s->shift[i] = offset_of(s->session->study, i, unit) - offset_of(problem->session->study, i, unit);
  }
  return BRAMAH_OK;
}

bramah_status bramah__tune_session_open(bramah__tune_session *session, const bramah__tune_problem *problem,
                                        const char *set, bramah_diag *diag)
{
  *session = (bramah__tune_session){.session = calloc(1, sizeof *session->session)};
  if (!session->session) return bramah__fail_memory(diag);
  bramah_status status = load(session, problem, set, diag);
  if (!status) status = take_delays(session, problem, diag);
  if (!status) status = take_offsets(session, problem, diag);
  if (status) return status;
  return problem->shared_model ? open_on_model(session, problem, diag)
                               : bramah__session_open_study(session->session, diag);
}

void bramah__tune_session_close(bramah__tune_session *session)
{
  if (!session->session) return;
  if (session->shared) { /* the problem's */
    session->session->machine.model = NULL;
    session->session->machine.machine = NULL;
  }
  bramah_session_close(session->session);
  free(session->delay_ns);
  free(session->shift);
  *session = (bramah__tune_session){0};
}
