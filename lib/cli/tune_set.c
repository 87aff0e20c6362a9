/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sets of values: as text, on their scales, and as a session. */
#include "lib/cli/tune_lab.h"
#include "bramah/units.h"
#include "lib/cli/message.h"
#include "lib/io/session.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bramah_status fail_memory(bramah_diag *diag)
{
  return cli_fail(diag, BRAMAH_E_MEMORY, NULL, 0, NULL, "out of memory");
}

/* ---- texts ---- */

void cli_tune_set_text(const cli_tune_lab *lab, const double *x, char *out)
{
  size_t used = 0;
  out[0] = '\0';
  for (size_t i = 0; i < lab->n && used < CLI_TUNE_TEXT; i++) {
    const char *unit = lab->tuned[i].unit;
    used += (size_t)snprintf(out + used, CLI_TUNE_TEXT - used, "%s%.12g%s%s", i ? "; " : "", x[i],
                             *unit ? " " : "", unit);
  }
}

static const char *next_value(const char *set)
{
  const char *end = strstr(set, "; ");
  return end ? end + 2 : set + strlen(set);
}

void cli_tune_set_numbers(const cli_tune_lab *lab, const char *set, double *x)
{
  for (size_t i = 0; i < lab->n; i++, set = next_value(set)) x[i] = strtod(set, NULL);
}

/* ---- scales ---- */

double cli_tune_scaled(const cli_tuned *t, double x)
{
  return t->linear ? (x - t->least) / (t->most - t->least) : log(x);
}

double cli_tune_unscaled(const cli_tuned *t, double z)
{
  const double x = t->linear ? t->least + z * (t->most - t->least) : exp(z);
  return fmin(fmax(x, t->least), t->most);
}

/* Small enough for a straight line, large enough not to drown in the tolerance of the step's iterations. */
static double default_step(const cli_tuned *t, double x)
{
  return t->linear ? 1e-3 * (t->most - t->least) : fmin(2e-3 * x, 0.5 * (t->most - t->least));
}

double cli_tune_neighbour(const cli_tune_lab *lab, const char *set, size_t j, char *out)
{
  const cli_tuned *t = &lab->tuned[j];
  double x[CLI_TUNE_MOST];
  cli_tune_set_numbers(lab, set, x);
  const double before = x[j];
  double step = t->step > 0.0 ? t->step : default_step(t, before);
  if (before + step > t->most) step = -step;
  x[j] = before + step;
  cli_tune_set_text(lab, x, out);
  cli_tune_set_numbers(lab, out, x);
  return cli_tune_scaled(t, x[j]) - cli_tune_scaled(t, before);
}

/* ---- sessions ---- */

/* Take the set apart: a terminated text per value. */
static char *split(const cli_tune_lab *lab, const char *set, const char **value)
{
  char *texts = malloc(strlen(set) + 1);
  if (!texts) return NULL;
  memcpy(texts, set, strlen(set) + 1);
  char *p = texts;
  for (size_t i = 0; i < lab->n; i++) {
    value[i] = p;
    char *end = strstr(p, "; ");
    p = end ? end + 2 : p + strlen(p);
    if (end) *end = '\0';
  }
  return texts;
}

/* A number as a file would have it becomes one in SI; all else is set as text. */
static bramah_study_setting setting_of(const cli_tuned *t, const bramah_study_ref *ref, const char *value)
{
  bramah_study_setting out = {.ref = ref, .text = value};
  if (!t->unit || !*t->unit || !ref->is_number) return out;
  if (bramah_quantity_parse(value, t->unit, &out.si, NULL) == BRAMAH_OK) out.text = NULL;
  return out;
}

/* A copy of the study with the values set. */
static bramah_status load(cli_tune_session *s, const cli_tune_lab *lab, const char *set, bramah_diag *diag)
{
  const char *value[CLI_TUNE_MOST];
  size_t n = lab->n, k = 0;
  for (size_t i = 0; i < lab->n; i++) n += lab->tuned[i].n_also;
  bramah_study_setting *settings = calloc(n + 1, sizeof *settings);
  char *texts = split(lab, set, value);
  for (size_t i = 0; settings && texts && i < lab->n; i++) {
    const cli_tuned *t = &lab->tuned[i];
    settings[k++] = setting_of(t, &t->ref, value[i]);
    for (size_t j = 0; j < t->n_also; j++) settings[k++] = setting_of(t, &t->also_ref[j], value[i]);
  }
  bramah_status status = settings && texts ? BRAMAH_OK : fail_memory(diag);
  if (!status) status = bramah_study_copy(lab->study, diag, &s->session->study);
  if (!status) status = bramah_study_set(s->session->study, k, settings, diag);
  if (status) cli_place(diag, lab->path, 0);
  free(settings);
  free(texts);
  return status;
}

/* The samples come at the times they were measured: nobody has to go back. */
static bramah_status take_delays(cli_tune_session *s, const cli_tune_lab *lab, bramah_diag *diag)
{
  bramah_study *study = s->session->study;
  s->delay_ns = calloc(lab->n_sensors + 1, sizeof *s->delay_ns);
  if (!s->delay_ns) return fail_memory(diag);
  if (study->n_sensors != lab->n_sensors)
    return cli_fail(diag, BRAMAH_E_UNSUPPORTED, lab->path, 0, NULL, "values must not add sensors");
  for (size_t i = 0; i < study->n_sensors; i++) {
    bramah_sensor_options *options = (bramah_sensor_options *)(uintptr_t)&study->sensors[i]; /* ours */
    s->delay_ns[i] = options->delay_ns;
    options->delay_ns = 0;
  }
  return BRAMAH_OK;
}

/* As bramah_session_new, on the lab's model. */
static bramah_status open_on_model(cli_tune_session *s, const cli_tune_lab *lab, bramah_diag *diag)
{
  bramah_session *session = s->session;
  s->shared = 1;
  session->machine.model = lab->session->machine.model;
  session->machine.machine = lab->session->machine.machine;
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
  if (offset && offset->text && bramah_study_value_get(offset, unit, &value, &ignored))
    return 0.0; /* the session has told */
  return value;
}

/* The log was read with the offsets of the lab's study. */
static bramah_status take_offsets(cli_tune_session *s, const cli_tune_lab *lab, bramah_diag *diag)
{
  s->shift = calloc(lab->n_sensors + 1, sizeof *s->shift);
  if (!s->shift) return fail_memory(diag);
  for (size_t i = 0; i < lab->n_sensors; i++) {
    const char *unit = lab->session->sensors[i].unit;
    s->shift[i] = offset_of(s->session->study, i, unit) - offset_of(lab->session->study, i, unit);
  }
  return BRAMAH_OK;
}

bramah_status cli_tune_session_open(cli_tune_session *session, const cli_tune_lab *lab, const char *set,
                                    bramah_diag *diag)
{
  *session = (cli_tune_session){.session = calloc(1, sizeof *session->session)};
  if (!session->session) return fail_memory(diag);
  bramah_status status = load(session, lab, set, diag);
  if (!status) status = take_delays(session, lab, diag);
  if (!status) status = take_offsets(session, lab, diag);
  if (status) return status;
  return lab->shared_model ? open_on_model(session, lab, diag)
                           : bramah__session_open_study(session->session, diag);
}

void cli_tune_session_close(cli_tune_session *session)
{
  if (!session->session) return;
  if (session->shared) { /* the lab's */
    session->session->machine.model = NULL;
    session->session->machine.machine = NULL;
  }
  bramah_session_close(session->session);
  free(session->delay_ns);
  free(session->shift);
  *session = (cli_tune_session){0};
}
