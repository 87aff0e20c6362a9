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

typedef struct change_list {
  size_t n;
  bramah_change *items;
} change_list;

static void put(change_list *list, const char *path, const char *value, const cli_tune_lab *lab, int line)
{
  for (size_t i = 0; i < list->n; i++)
    if (strcmp(list->items[i].path, path) == 0) {
      list->items[i].value = value;
      return;
    }
  list->items[list->n++] = (bramah_change){.path = path, .value = value, .file = lab->path, .line = line};
}

static void put_named(change_list *study, change_list *machine, const char *name, const char *value,
                      const cli_tune_lab *lab, int line)
{
  const int in_machine = strncmp(name, "machine.", 8) == 0;
  put(in_machine ? machine : study, in_machine ? name + 8 : name, value, lab, line);
}

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

static size_t count_places(const cli_tune_lab *lab)
{
  size_t n = lab->n;
  for (size_t i = 0; i < lab->n; i++) n += lab->tuned[i].n_also;
  return n;
}

static void sort_changes(const cli_tune_lab *lab, const char *const *value, change_list *study,
                         change_list *machine)
{
  for (size_t i = 0; i < lab->n; i++) {
    const cli_tuned *t = &lab->tuned[i];
    put_named(study, machine, t->name, value[i], lab, t->line);
    for (size_t k = 0; k < t->n_also; k++) put_named(study, machine, t->also[k], value[i], lab, t->line);
  }
}

/* Of the study's own changes of the machine those that are tuned are left out. */
static void prepend_own(const bramah_study *study, change_list *machine, bramah_change *room)
{
  change_list all = {.items = room};
  for (size_t i = 0; i < study->n_changes; i++) all.items[all.n++] = study->changes[i];
  for (size_t i = 0; i < machine->n; i++) {
    size_t k = 0;
    while (k < all.n && strcmp(all.items[k].path, machine->items[i].path) != 0) k++;
    all.items[k] = machine->items[i];
    if (k == all.n) all.n++;
  }
  *machine = all;
}

static bramah_status change_machine(cli_tune_session *s, change_list *machine, bramah_diag *diag)
{
  bramah_study *study = s->session->study;
  s->changes = calloc(study->n_changes + machine->n + 1, sizeof *s->changes);
  if (!s->changes) return fail_memory(diag);
  prepend_own(study, machine, s->changes);
  study->n_changes = machine->n;
  study->changes = s->changes;
  return BRAMAH_OK;
}

static bramah_status load(cli_tune_session *s, const cli_tune_lab *lab, const char *set, bramah_diag *diag)
{
  const char *value[CLI_TUNE_MOST];
  const size_t places = count_places(lab);
  bramah_change *room = calloc(2 * places + 1, sizeof *room);
  s->values = split(lab, set, value);
  bramah_status status = room && s->values ? BRAMAH_OK : fail_memory(diag);
  if (!status) {
    change_list study = {.items = room}, machine = {.items = room + places};
    sort_changes(lab, value, &study, &machine);
    bramah_diag_clear(diag);
    status = bramah_study_load_changed(lab->path, study.n, study.items, diag, &s->session->study);
    if (status) cli_place(diag, lab->path, 0);
    if (!status) status = change_machine(s, &machine, diag);
  }
  free(room);
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
  const char *text = study->sensor_columns ? study->sensor_columns[i].offset.text : NULL;
  if (text && bramah_quantity_parse(text, unit, &value, &ignored)) return 0.0; /* the session has told */
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
  free(session->changes);
  free(session->values);
  free(session->delay_ns);
  free(session->shift);
  *session = (cli_tune_session){0};
}
