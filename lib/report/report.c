/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bramah/report.h"
#include "lib/report/report_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Nothing that large can be drawn: the width of the axis would not be finite. */
#define LARGEST 1e300

const char *bramah__report_keep(bramah_report *report, const char *text)
{
  if (!text) return NULL;
  const size_t size = strlen(text) + 1;
  bramah__text *kept = malloc(sizeof *kept + size);
  if (!kept) return report->failed = 1, NULL;
  kept->next = report->texts;
  report->texts = kept;
  return memcpy(kept->text, text, size);
}

/* Room for one item more than the n it has; 0 (and the array as it was) if there is no memory. */
static int make_room(void *items, size_t n, size_t size)
{
  void *old, *more;
  memcpy(&old, items, sizeof old);
  more = realloc(old, (n + 1) * size);
  if (more) memcpy(items, &more, sizeof more);
  return more != NULL;
}

bramah_status bramah_report_new(const char *title, bramah_diag *diag, bramah_report **out)
{
  bramah_report *report = calloc(1, sizeof *report);
  if (report) report->title = bramah__report_keep(report, title);
  if (!report || report->failed) {
    free(report);
    return bramah__fail_memory(diag);
  }
  *out = report;
  return BRAMAH_OK;
}

static void free_motion(bramah__motion *motion)
{
  free(motion->parts);
  free(motion->t);
  free(motion->pose);
  free(motion->points);
}

void bramah__map_free(bramah__map *map)
{
  free(map->bytes);
  free(map->tracks);
  free(map->points);
}

void bramah_report_free(bramah_report *report)
{
  if (!report) return;
  for (size_t i = 0; i < report->n_plots * BRAMAH__N_SERIES; i++) {
    bramah__samples *curve = report->plots[i / BRAMAH__N_SERIES].curve[i % BRAMAH__N_SERIES];
    if (curve) free(curve->at);
    free(curve);
  }
  for (size_t i = 0; i < report->n_plots; i++) free(report->plots[i].labels);
  for (size_t i = 0; i < report->n_tables; i++) free(report->tables[i].texts);
  for (bramah__text *text = report->texts, *next; text; text = next) {
    next = text->next;
    free(text);
  }
  for (size_t i = 0; i < report->n_maps; i++) bramah__map_free(&report->maps[i]);
  free(report->maps);
  for (size_t i = 0; i < report->n_motions; i++) free_motion(&report->motions[i]);
  free(report->motions);
  free(report->events.at);
  free(report->events.kinds);
  free(report->sections);
  free(report->notes);
  free(report->plots);
  free(report->tables);
  free(report);
}

bramah_status bramah_report_say(bramah_report *report, const bramah_report_answer *answer)
{
  bramah_report_answer kept = *answer;
  kept.headline = bramah__report_keep(report, answer->headline);
  kept.reason = bramah__report_keep(report, answer->reason);
  kept.advice = bramah__report_keep(report, answer->advice);
  if (report->failed) return BRAMAH_E_MEMORY;
  report->answer = kept;
  return BRAMAH_OK;
}

bramah_status bramah_report_note(bramah_report *report, const char *name, const char *value)
{
  const bramah__note note = {bramah__report_keep(report, name), bramah__report_keep(report, value)};
  if (report->failed || !make_room(&report->notes, report->n_notes, sizeof note)) return BRAMAH_E_MEMORY;
  report->notes[report->n_notes++] = note;
  return BRAMAH_OK;
}

/* ---- plots ---- */

bramah_status bramah_report_add(bramah_report *report, const bramah_report_plot *plot, size_t *number)
{
  if (!isfinite(plot->factor)) return BRAMAH_E_VALUE;

  /* Its section, a new one if need be. */
  const char *title = plot->section ? plot->section : "Plots";
  size_t s = 0;
  while (s < report->n_sections && strcmp(report->sections[s].title, title) != 0) s++;
  bramah__plot made = {.title = bramah__report_keep(report, plot->title),
                       .unit = bramah__report_keep(report, plot->unit),
                       .band = bramah__report_keep(report, plot->band),
                       .x = bramah__report_keep(report, plot->x),
                       .factor = plot->factor,
                       .symmetric = plot->symmetric,
                       .logarithmic = plot->logarithmic,
                       .axis = plot->axis,
                       .section = s};
  const bramah__section section = {bramah__report_keep(report, title),
                                   bramah__report_keep(report, plot->text)};
  for (int i = 0; i < BRAMAH__N_SERIES; i++) made.names[i] = bramah__report_keep(report, plot->names[i]);
  if (report->failed || !make_room(&report->plots, report->n_plots, sizeof made) ||
      !make_room(&report->sections, report->n_sections, sizeof section))
    return BRAMAH_E_MEMORY;
  if (s == report->n_sections) report->sections[report->n_sections++] = section;
  if (!report->sections[s].text) report->sections[s].text = section.text;
  if (plot->n_labels) {
    made.labels = calloc(plot->n_labels, sizeof *made.labels);
    if (!made.labels) return BRAMAH_E_MEMORY;
    for (; made.n_labels < plot->n_labels; made.n_labels++)
      made.labels[made.n_labels] = bramah__report_keep(report, plot->labels[made.n_labels]);
  }
  report->plots[report->n_plots] = made;
  *number = report->n_plots++;
  return BRAMAH_OK;
}

bramah_status bramah_report_weigh(bramah_report *report, size_t plot, double weight)
{
  if (plot >= report->n_plots) return BRAMAH_E_ARGUMENT;
  report->plots[plot].weight = fmax(report->plots[plot].weight, weight);
  return BRAMAH_OK;
}

bramah_status bramah_report_point(bramah_report *report, size_t plot, bramah_report_series series, double t,
                                  double value, double low, double high)
{
  if (plot >= report->n_plots || (int)series < 0 || (int)series >= BRAMAH__N_SERIES) return BRAMAH_E_ARGUMENT;
  bramah__plot *p = &report->plots[plot];
  value *= p->factor, low *= p->factor, high *= p->factor;
  if (!(fabs(t) < LARGEST)) return BRAMAH_E_TIME;
  if (!(fabs(value) < LARGEST) || (p->logarithmic && !(value > 0.0))) return BRAMAH_OK;
  if (!p->curve[series]) p->curve[series] = calloc(1, sizeof(bramah__samples));
  bramah__samples *c = p->curve[series];
  if (!c) return BRAMAH_E_MEMORY;
  if (c->n && t < c->last) return BRAMAH_E_TIME;
  if (series != BRAMAH_REPORT_ESTIMATE || !(fabs(low) < LARGEST) || !(fabs(high) < LARGEST) ||
      (p->logarithmic && !(low > 0.0)))
    low = high = (double)NAN;
  return bramah__samples_add(c, t, value, low, high);
}

/* ---- tables ---- */

bramah_status bramah_report_add_table(bramah_report *report, const char *title, size_t n_rows,
                                      size_t n_columns, const char *const *header, const char *const *cells)
{
  bramah__table table = {bramah__report_keep(report, title), n_rows, n_columns, NULL};
  if (!n_columns) return BRAMAH_E_ARGUMENT;
  if (!make_room(&report->tables, report->n_tables, sizeof table)) return BRAMAH_E_MEMORY;
  table.texts = calloc((n_rows + 1) * n_columns, sizeof *table.texts);
  for (size_t i = 0; table.texts && i < (n_rows + 1) * n_columns; i++) {
    const char *text = i < n_columns ? header[i] : cells[i - n_columns];
    table.texts[i] = bramah__report_keep(report, text ? text : "");
  }
  if (report->failed || !table.texts) {
    free(table.texts);
    return BRAMAH_E_MEMORY;
  }
  report->tables[report->n_tables++] = table;
  return BRAMAH_OK;
}

/* ---- poses ---- */

bramah_status bramah_report_motion(bramah_report *report, const char *name, const char *text)
{
  const bramah__motion motion = {
      .name = bramah__report_keep(report, name), .text = bramah__report_keep(report, text), .stride = 1};
  if (report->failed || !make_room(&report->motions, report->n_motions, sizeof motion))
    return BRAMAH_E_MEMORY;
  report->motions[report->n_motions++] = motion;
  return BRAMAH_OK;
}

/* Room for poses, and the names of the parts: at the first pose. */
static bramah_status make_parts(bramah_report *report, bramah__motion *m, bramah_coupled *plant)
{
  bramah_skeleton all = {.n = 0};
  bramah_status status = bramah_coupled_skeleton(plant, &all, NULL);
  const size_t n = all.n;
  if (status || !n) return status;
  bramah_skeleton_part *part = all.part = calloc(n, sizeof *part);
  if (!m->parts) m->parts = calloc(n, sizeof *m->parts);
  if (!m->t) m->t = calloc(BRAMAH__POSES, sizeof *m->t);
  if (!m->points) m->points = calloc(BRAMAH__POSES * n * 6, sizeof *m->points);
  if (!m->pose) m->pose = calloc(n * 6, sizeof *m->pose);
  if (!part || !m->parts || !m->t || !m->points || !m->pose) status = BRAMAH_E_MEMORY;
  if (!status) status = bramah_coupled_skeleton(plant, &all, NULL);
  for (size_t i = 0; !status && i < n; i++)
    m->parts[i] = (bramah__part){part[i].kind, bramah__report_keep(report, part[i].name)};
  free(part);
  if (report->failed) status = BRAMAH_E_MEMORY;
  if (!status) m->n_parts = n;
  return status;
}

bramah_status bramah_report_pose(bramah_report *report, double t, bramah_coupled *plant)
{
  bramah_status status = report->n_motions ? BRAMAH_OK : bramah_report_motion(report, NULL, NULL);
  if (status) return status;
  bramah__motion *m = &report->motions[report->n_motions - 1];
  if (!isfinite(t) || (m->n_poses && t < m->t[m->n_poses - 1])) return BRAMAH_E_TIME;
  if (!m->n_parts) status = make_parts(report, m, plant);
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
  if (!isfinite(t)) return BRAMAH_E_TIME;
  while (k < events->n_kinds && strcmp(events->kinds[k].name, kind) != 0) k++;
  if (k == events->n_kinds) {
    const bramah__event_kind made = {bramah__report_keep(report, kind), 0};
    if (report->failed || !make_room(&events->kinds, k, sizeof made)) return BRAMAH_E_MEMORY;
    events->kinds[events->n_kinds++] = made;
  }
  if (events->kinds[k].n++ >= BRAMAH__EVENTS_OF_KIND) return BRAMAH_OK;
  const bramah__event event = {t, k, events->n, bramah__report_keep(report, text)};
  if (report->failed || !make_room(&events->at, events->n, sizeof event)) return BRAMAH_E_MEMORY;
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

bramah__range bramah__report_time(const bramah_report *report)
{
  bramah__range range = bramah__range_empty();
  for (size_t p = 0; p < report->n_plots; p++)
    for (int s = 0; s < BRAMAH__N_SERIES; s++) {
      const bramah__samples *curve = report->plots[p].curve[s];
      if (!curve || report->plots[p].axis != BRAMAH_REPORT_TIME) continue;
      bramah__range_include(&range, curve->first);
      bramah__range_include(&range, curve->last);
    }
  if (bramah__range_is_empty(range)) return (bramah__range){0.0, 1.0};
  const double smallest = 1e-9 + 1e-9 * (range.high < 0.0 ? -range.low : range.high);
  if (range.high - range.low < smallest) return (bramah__range){range.low - 0.5, range.low + 0.5};
  return bramah__range_snap(range);
}
