/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _POSIX_C_SOURCE 200809L /* strdup */
#include "bramah/report.h"
#include "lib/base/diag.h"
#include "lib/report/report_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Nothing that large can be drawn: the width of the axis would not be finite. */
#define LARGEST 1e300

bramah_status bramah_report_new(const char *title, bramah_diag *diag, bramah_report **out)
{
  bramah_report *report = calloc(1, sizeof *report);
  if (report) report->title = strdup(title);
  if (!report || !report->title) {
    free(report);
    return bramah__fail(diag, BRAMAH_E_MEMORY, NULL, "out of memory");
  }
  *out = report;
  return BRAMAH_OK;
}

static void free_plot(bramah__plot *plot)
{
  free(plot->title);
  free(plot->unit);
  free(plot->band);
  free(plot->x);
  for (int s = 0; s < BRAMAH__N_SERIES; s++) {
    free(plot->names[s]);
    if (plot->curve[s]) free(plot->curve[s]->samples.at);
    free(plot->curve[s]);
  }
}

static void free_table(bramah__table *table)
{
  free(table->title);
  for (size_t i = 0; table->texts && i < (table->n_rows + 1) * table->n_columns; i++) free(table->texts[i]);
  free(table->texts);
}

static void free_machine(bramah__machine *machine)
{
  for (size_t i = 0; i < machine->n_parts; i++) free(machine->parts[i].name);
  free(machine->parts);
  free(machine->t);
  free(machine->pose);
  free(machine->points);
  *machine = (bramah__machine){0};
}

void bramah_report_free(bramah_report *report)
{
  if (!report) return;
  for (size_t i = 0; i < report->n_notes; i++) {
    free(report->notes[i].name);
    free(report->notes[i].value);
  }
  for (size_t i = 0; i < report->n_plots; i++) free_plot(&report->plots[i]);
  for (size_t i = 0; i < report->n_tables; i++) free_table(&report->tables[i]);
  for (size_t i = 0; i < report->n_sections; i++) {
    free(report->sections[i].title);
    free(report->sections[i].text);
  }
  free_machine(&report->machine);
  for (size_t i = 0; i < report->events.n; i++) free(report->events.at[i].text);
  for (size_t i = 0; i < report->events.n_kinds; i++) free(report->events.kinds[i].name);
  free(report->events.at);
  free(report->events.kinds);
  free(report->sections);
  free(report->notes);
  free(report->plots);
  free(report->tables);
  free(report->title);
  free(report);
}

/* Array with room for one item more than the n it has; NULL (and the array as it was) if there is no memory.
 */
static void *with_room(void *items, size_t n, size_t size) { return realloc(items, (n + 1) * size); }

/* A copy of a text that may be missing. */
static char *copy_of(const char *text, int *complete)
{
  char *copy = text ? strdup(text) : NULL;
  *complete &= !text || copy;
  return copy;
}

bramah_status bramah_report_note(bramah_report *report, const char *name, const char *value)
{
  bramah__note *notes = with_room(report->notes, report->n_notes, sizeof *notes);
  if (!notes) return BRAMAH_E_MEMORY;
  report->notes = notes;
  bramah__note note = {strdup(name), strdup(value)};
  if (note.name && note.value) {
    notes[report->n_notes++] = note;
    return BRAMAH_OK;
  }
  free(note.name);
  free(note.value);
  return BRAMAH_E_MEMORY;
}

/* ---- plots ---- */

bramah_status bramah_report_add(bramah_report *report, const bramah_report_plot *plot, size_t *number)
{
  int complete = 1;
  if (!isfinite(plot->factor)) return BRAMAH_E_VALUE;
  bramah__plot *plots = with_room(report->plots, report->n_plots, sizeof *plots);
  if (!plots) return BRAMAH_E_MEMORY;
  report->plots = plots;

  /* Its section, a new one if need be. */
  const char *title = plot->section ? plot->section : "Plots";
  size_t s = 0;
  while (s < report->n_sections && strcmp(report->sections[s].title, title) != 0) s++;
  if (s == report->n_sections) {
    bramah__section *sections = with_room(report->sections, s, sizeof *sections);
    if (!sections) return BRAMAH_E_MEMORY;
    report->sections = sections;
    sections[s] = (bramah__section){copy_of(title, &complete), NULL};
    if (!complete) return BRAMAH_E_MEMORY;
    report->n_sections++;
  }
  if (!report->sections[s].text) report->sections[s].text = copy_of(plot->text, &complete);

  bramah__plot made = {.title = copy_of(plot->title, &complete),
                       .unit = copy_of(plot->unit, &complete),
                       .band = copy_of(plot->band, &complete),
                       .x = copy_of(plot->x, &complete),
                       .factor = plot->factor,
                       .symmetric = plot->symmetric,
                       .axis = plot->axis,
                       .section = s};
  for (int i = 0; i < BRAMAH__N_SERIES; i++) made.names[i] = copy_of(plot->names[i], &complete);
  if (!complete) {
    free_plot(&made);
    return BRAMAH_E_MEMORY;
  }
  plots[report->n_plots] = made;
  *number = report->n_plots++;
  return BRAMAH_OK;
}

bramah_status bramah_report_point(bramah_report *report, size_t plot, bramah_report_series series, double t,
                                  double value, double low, double high)
{
  if (plot >= report->n_plots || (int)series < 0 || (int)series >= BRAMAH__N_SERIES) return BRAMAH_E_ARGUMENT;
  bramah__plot *p = &report->plots[plot];
  value *= p->factor, low *= p->factor, high *= p->factor;
  if (!(fabs(t) < LARGEST)) return BRAMAH_E_TIME;
  if (!(fabs(value) < LARGEST)) return BRAMAH_OK;
  if (!p->curve[series]) p->curve[series] = calloc(1, sizeof(bramah__curve));
  bramah__curve *c = p->curve[series];
  if (!c) return BRAMAH_E_MEMORY;
  if (c->series.n_bins && t < c->series.t_last) return BRAMAH_E_TIME;
  if (series != BRAMAH_REPORT_ESTIMATE || !(fabs(low) < LARGEST) || !(fabs(high) < LARGEST))
    low = high = (double)NAN;
  const bramah_status status = bramah__samples_add(&c->samples, t, value, low, high);
  if (!status) bramah__series_add(&c->series, t, value, low, high);
  return status;
}

/* ---- tables ---- */

static int copy_texts(char **out, const char *const *texts, size_t n)
{
  int complete = 1;
  for (size_t i = 0; i < n; i++) {
    out[i] = strdup(texts[i] ? texts[i] : "");
    complete &= out[i] != NULL;
  }
  return complete;
}

bramah_status bramah_report_add_table(bramah_report *report, const char *title, size_t n_rows,
                                      size_t n_columns, const char *const *header, const char *const *cells)
{
  if (!n_columns) return BRAMAH_E_ARGUMENT;
  bramah__table *tables = with_room(report->tables, report->n_tables, sizeof *tables);
  if (!tables) return BRAMAH_E_MEMORY;
  report->tables = tables;
  bramah__table table = {strdup(title), n_rows, n_columns, calloc((n_rows + 1) * n_columns, sizeof(char *))};
  int complete = table.title && table.texts;
  complete = complete && copy_texts(table.texts, header, n_columns);
  complete = complete && copy_texts(table.texts + n_columns, cells, n_rows * n_columns);
  if (!complete) {
    free_table(&table);
    return BRAMAH_E_MEMORY;
  }
  tables[report->n_tables++] = table;
  return BRAMAH_OK;
}

/* ---- poses ---- */

/* Room for poses, and the names of the parts: at the first pose. */
static bramah_status make_machine(bramah__machine *m, bramah_coupled *plant)
{
  bramah_skeleton all = {.n = 0};
  bramah_status status = bramah_coupled_skeleton(plant, &all, NULL);
  const size_t n = all.n;
  if (status || !n) return status;
  all.part = calloc(n, sizeof *all.part);
  m->parts = calloc(n, sizeof *m->parts);
  m->t = calloc(BRAMAH__POSES, sizeof *m->t);
  m->points = calloc(BRAMAH__POSES * n * 6, sizeof *m->points);
  m->pose = calloc(n * 6, sizeof *m->pose);
  int complete = all.part && m->parts && m->t && m->points && m->pose;
  if (complete) status = bramah_coupled_skeleton(plant, &all, NULL);
  for (size_t i = 0; !status && complete && i < n; i++)
    m->parts[m->n_parts++] = (bramah__part){all.part[i].kind, copy_of(all.part[i].name, &complete)};
  free(all.part);
  m->stride = 1;
  if (!complete) status = BRAMAH_E_MEMORY;
  if (status) free_machine(m);
  return status;
}

bramah_status bramah_report_pose(bramah_report *report, double t, bramah_coupled *plant)
{
  bramah__machine *m = &report->machine;
  if (!isfinite(t) || (m->n_poses && t < m->t[m->n_poses - 1])) return BRAMAH_E_TIME;
  const bramah_status status = m->n_parts ? BRAMAH_OK : make_machine(m, plant);
  if (status || !m->n_parts || m->asked++ % m->stride != 0) return status;
  bramah_skeleton pose = {.n = m->n_parts, .points = m->pose};
  if (bramah_coupled_skeleton(plant, &pose, NULL)) return BRAMAH_OK; /* no pose now: perhaps later */
  const size_t size = 6 * m->n_parts;
  if (m->n_poses == BRAMAH__POSES) {
    /* Every other pose goes. The next one that is kept is the one after the last. */
    for (size_t i = 1; 2 * i < m->n_poses; i++) {
      m->t[i] = m->t[2 * i];
      memcpy(m->points + i * size, m->points + 2 * i * size, size * sizeof *m->points);
    }
    m->n_poses = (m->n_poses + 1) / 2;
    m->stride *= 2;
  }
  m->t[m->n_poses] = t;
  for (size_t i = 0; i < size; i++) m->points[m->n_poses * size + i] = (float)m->pose[i];
  m->n_poses++;
  return BRAMAH_OK;
}

/* ---- events ---- */

bramah_status bramah_report_event(bramah_report *report, double t, const char *kind, const char *text)
{
  bramah__events *events = &report->events;
  size_t k = 0;
  int complete = 1;
  if (!isfinite(t)) return BRAMAH_E_TIME;
  while (k < events->n_kinds && strcmp(events->kinds[k].name, kind) != 0) k++;
  if (k == events->n_kinds) {
    bramah__event_kind *kinds = with_room(events->kinds, k, sizeof *kinds);
    if (!kinds) return BRAMAH_E_MEMORY;
    events->kinds = kinds;
    kinds[k] = (bramah__event_kind){copy_of(kind, &complete), 0};
    if (!complete) return BRAMAH_E_MEMORY;
    events->n_kinds++;
  }
  if (events->kinds[k].n++ >= BRAMAH__EVENTS_OF_KIND) return BRAMAH_OK;
  bramah__event *at = with_room(events->at, events->n, sizeof *at);
  if (!at) return BRAMAH_E_MEMORY;
  events->at = at;
  at[events->n] = (bramah__event){t, k, events->n, copy_of(text, &complete)};
  if (!complete) return BRAMAH_E_MEMORY;
  events->n++;
  return BRAMAH_OK;
}

static int by_time(const void *a, const void *b)
{
  const bramah__event *x = *(bramah__event *const *)a, *y = *(bramah__event *const *)b;
  if (x->t < y->t || x->t > y->t) return x->t < y->t ? -1 : 1;
  return (x->number > y->number) - (x->number < y->number);
}

const bramah__event **bramah__events_sorted(const bramah__events *events)
{
  const bramah__event **sorted = malloc((events->n + 1) * sizeof *sorted);
  for (size_t i = 0; sorted && i < events->n; i++) sorted[i] = &events->at[i];
  if (sorted) qsort(sorted, events->n, sizeof *sorted, by_time);
  return sorted;
}

/* ---- time ---- */

static bramah__range whole_time(const bramah_report *report)
{
  bramah__range range = bramah__range_empty();
  for (size_t p = 0; p < report->n_plots; p++)
    for (int s = 0; s < BRAMAH__N_SERIES; s++) {
      const bramah__curve *curve = report->plots[p].curve[s];
      if (!curve || report->plots[p].axis != BRAMAH_REPORT_TIME) continue;
      bramah__range_include(&range, curve->series.start);
      bramah__range_include(&range, curve->series.t_last);
    }
  return range;
}

double bramah__report_start(const bramah_report *report)
{
  const bramah__range range = whole_time(report);
  return bramah__range_is_empty(range) ? 0.0 : range.low;
}

bramah__range bramah__report_time(const bramah_report *report)
{
  const bramah__range range = whole_time(report);
  if (bramah__range_is_empty(range)) return (bramah__range){0.0, 1.0};
  const double smallest = 1e-9 + 1e-9 * (range.high < 0.0 ? -range.low : range.high);
  if (range.high - range.low < smallest) return (bramah__range){range.low - 0.5, range.low + 0.5};
  return bramah__range_snap(range);
}
