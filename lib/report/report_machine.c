/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Poses of the machine and events of a report. */
#define _POSIX_C_SOURCE 200809L /* strdup */
#include "lib/report/report_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- poses ---- */

void bramah__machine_free(bramah__machine *machine)
{
  for (size_t i = 0; i < machine->n_parts; i++) free(machine->parts[i].name);
  free(machine->parts);
  free(machine->t);
  free(machine->points);
  *machine = (bramah__machine){0};
}

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
  bramah__machine_free(m);
  return BRAMAH_E_MEMORY;
}

int bramah_report_wants_pose(bramah_report *report)
{
  bramah__machine *m = &report->machine;
  return m->n_parts && m->asked++ % m->stride == 0;
}

/* Every other pose goes. The next one that is asked for is the one after the last. */
static void thin_out(bramah__machine *m)
{
  const size_t size = 6 * m->n_parts;
  for (size_t i = 1; 2 * i < m->n_poses; i++) {
    m->t[i] = m->t[2 * i];
    memcpy(m->points + i * size, m->points + 2 * i * size, size * sizeof *m->points);
  }
  m->n_poses = (m->n_poses + 1) / 2;
  m->stride *= 2;
}

bramah_status bramah_report_pose(bramah_report *report, double t, const double *points)
{
  bramah__machine *m = &report->machine;
  if (!m->n_parts) return BRAMAH_E_ARGUMENT;
  if (!isfinite(t) || (m->n_poses && t < m->t[m->n_poses - 1])) return BRAMAH_E_TIME;
  if (m->n_poses == BRAMAH__POSES) thin_out(m);
  m->t[m->n_poses] = t;
  for (size_t i = 0; i < 6 * m->n_parts; i++) m->points[m->n_poses * 6 * m->n_parts + i] = (float)points[i];
  m->n_poses++;
  return BRAMAH_OK;
}

/* ---- events ---- */

void bramah__events_free(bramah__events *events)
{
  for (size_t i = 0; i < events->n; i++) free(events->at[i].text);
  for (size_t i = 0; i < events->n_kinds; i++) free(events->kinds[i].name);
  free(events->at);
  free(events->kinds);
}

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
