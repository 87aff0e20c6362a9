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

/* The section of that title, made if need be. */
static bramah_status find_section(bramah_report *report, const char *title, size_t *section)
{
  for (*section = 0; *section < report->n_sections; ++*section)
    if (strcmp(report->sections[*section].title, title) == 0) return BRAMAH_OK;
  bramah__section *sections = with_room(report->sections, report->n_sections, sizeof *sections);
  if (!sections) return BRAMAH_E_MEMORY;
  report->sections = sections;
  sections[report->n_sections] = (bramah__section){strdup(title), NULL};
  if (!sections[report->n_sections].title) return BRAMAH_E_MEMORY;
  report->n_sections++;
  return BRAMAH_OK;
}

bramah_status bramah_report_explain(bramah_report *report, const char *section, const char *text)
{
  size_t i;
  const bramah_status status = find_section(report, section, &i);
  char *copy = status ? NULL : strdup(text);
  if (!copy) return BRAMAH_E_MEMORY;
  free(report->sections[i].text);
  report->sections[i].text = copy;
  return BRAMAH_OK;
}

/* A copy of a text that may be missing. */
static char *copy_of(const char *text, int *complete)
{
  char *copy = text ? strdup(text) : NULL;
  *complete &= !text || copy;
  return copy;
}

bramah_status bramah_report_add(bramah_report *report, const bramah_report_plot *plot, size_t *number)
{
  int complete = 1;
  if (!isfinite(plot->factor)) return BRAMAH_E_VALUE;
  bramah__plot *plots = with_room(report->plots, report->n_plots, sizeof *plots);
  if (!plots) return BRAMAH_E_MEMORY;
  report->plots = plots;
  bramah__plot made = {.title = copy_of(plot->title, &complete),
                       .unit = copy_of(plot->unit, &complete),
                       .band = copy_of(plot->band, &complete),
                       .x = copy_of(plot->x, &complete),
                       .factor = plot->factor,
                       .symmetric = plot->symmetric,
                       .axis = plot->axis};
  for (int s = 0; s < BRAMAH__N_SERIES; s++) made.names[s] = copy_of(plot->names[s], &complete);
  bramah_status status = complete ? BRAMAH_OK : BRAMAH_E_MEMORY;
  if (!status) status = find_section(report, plot->section ? plot->section : "Plots", &made.section);
  if (status) {
    free_plot(&made);
    return status;
  }
  plots[report->n_plots] = made;
  *number = report->n_plots++;
  return BRAMAH_OK;
}

/* In the unit of the plot already; the band NaN for none. */
static bramah_status add_point(bramah__plot *p, bramah_report_series series, double t, double value,
                               double low, double high)
{
  if (!(fabs(t) < LARGEST)) return BRAMAH_E_TIME;
  if (!(fabs(value) < LARGEST)) return BRAMAH_OK;
  if (!p->curve[series]) p->curve[series] = calloc(1, sizeof(bramah__curve));
  bramah__curve *c = p->curve[series];
  if (!c) return BRAMAH_E_MEMORY;
  if (c->series.n_bins && t < c->series.t_last) return BRAMAH_E_TIME;
  if (!(fabs(low) < LARGEST) || !(fabs(high) < LARGEST)) low = high = (double)NAN;
  const bramah_status status = bramah__samples_add(&c->samples, t, value, low, high);
  if (!status) bramah__series_add(&c->series, t, value, low, high);
  return status;
}

static bramah__plot *find_plot(bramah_report *report, size_t plot, bramah_report_series series)
{
  if (plot >= report->n_plots || (int)series < 0 || (int)series >= BRAMAH__N_SERIES) return NULL;
  return &report->plots[plot];
}

bramah_status bramah_report_point(bramah_report *report, size_t plot, bramah_report_series series, double t,
                                  double value, double half_width)
{
  bramah__plot *p = find_plot(report, plot, series);
  if (!p) return BRAMAH_E_ARGUMENT;
  value *= p->factor;
  double half = fabs(half_width * p->factor), centre = p->symmetric ? 0.0 : value;
  if (series != BRAMAH_REPORT_ESTIMATE) half = (double)NAN;
  return add_point(p, series, t, value, centre - half, centre + half);
}

bramah_status bramah_report_band_point(bramah_report *report, size_t plot, bramah_report_series series,
                                       double t, double value, double low, double high)
{
  bramah__plot *p = find_plot(report, plot, series);
  if (!p) return BRAMAH_E_ARGUMENT;
  return add_point(p, series, t, value * p->factor, low * p->factor, high * p->factor);
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

bramah_status bramah_report_machine(bramah_report *report, size_t n_parts, const bramah_skeleton_part *parts)
{
  bramah__machine *m = &report->machine;
  if (m->n_parts || !n_parts) return BRAMAH_E_ARGUMENT;
  m->parts = calloc(n_parts, sizeof *m->parts);
  m->t = calloc(BRAMAH__POSES, sizeof *m->t);
  m->points = calloc(BRAMAH__POSES * n_parts * 6, sizeof *m->points);
  int complete = m->parts && m->t && m->points;
  m->n_parts = m->parts ? n_parts : 0;
  m->stride = 1;
  for (size_t i = 0; complete && i < n_parts; i++) {
    m->parts[i] = (bramah__part){parts[i].kind, strdup(parts[i].name)};
    complete = m->parts[i].name != NULL;
  }
  if (complete) return BRAMAH_OK;
  free_machine(m);
  return BRAMAH_E_MEMORY;
}

int bramah_report_wants_pose(bramah_report *report)
{
  bramah__machine *m = &report->machine;
  return m->n_parts && m->asked++ % m->stride == 0;
}

bramah_status bramah_report_pose(bramah_report *report, double t, const double *points)
{
  bramah__machine *m = &report->machine;
  if (!m->n_parts) return BRAMAH_E_ARGUMENT;
  if (!isfinite(t) || (m->n_poses && t < m->t[m->n_poses - 1])) return BRAMAH_E_TIME;
  if (m->n_poses == BRAMAH__POSES) {
    /* Every other pose goes. The next one that is asked for is the one after the last. */
    const size_t size = 6 * m->n_parts;
    for (size_t i = 1; 2 * i < m->n_poses; i++) {
      m->t[i] = m->t[2 * i];
      memcpy(m->points + i * size, m->points + 2 * i * size, size * sizeof *m->points);
    }
    m->n_poses = (m->n_poses + 1) / 2;
    m->stride *= 2;
  }
  m->t[m->n_poses] = t;
  for (size_t i = 0; i < 6 * m->n_parts; i++) m->points[m->n_poses * 6 * m->n_parts + i] = (float)points[i];
  m->n_poses++;
  return BRAMAH_OK;
}

/* ---- events ---- */

static bramah_status find_kind(bramah__events *events, const char *name, size_t *kind)
{
  for (*kind = 0; *kind < events->n_kinds; ++*kind)
    if (strcmp(events->kinds[*kind].name, name) == 0) return BRAMAH_OK;
  bramah__event_kind *kinds = realloc(events->kinds, (events->n_kinds + 1) * sizeof *kinds);
  if (!kinds) return BRAMAH_E_MEMORY;
  events->kinds = kinds;
  kinds[events->n_kinds] = (bramah__event_kind){strdup(name), 0};
  if (!kinds[events->n_kinds].name) return BRAMAH_E_MEMORY;
  events->n_kinds++;
  return BRAMAH_OK;
}

bramah_status bramah_report_event(bramah_report *report, double t, const char *kind, const char *text)
{
  bramah__events *events = &report->events;
  size_t k;
  if (!isfinite(t)) return BRAMAH_E_TIME;
  const bramah_status status = find_kind(events, kind, &k);
  if (status != BRAMAH_OK) return status;
  if (events->kinds[k].n++ >= BRAMAH__EVENTS_OF_KIND) return BRAMAH_OK;
  if (events->n == events->room) {
    const size_t room = events->room ? 2 * events->room : 32;
    bramah__event *at = realloc(events->at, room * sizeof *at);
    if (!at) return BRAMAH_E_MEMORY;
    events->at = at;
    events->room = room;
  }
  const bramah__event event = {t, k, events->n, strdup(text)};
  if (!event.text) return BRAMAH_E_MEMORY;
  events->at[events->n++] = event;
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
