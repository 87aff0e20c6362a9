/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/cli/events.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bramah_status cli_events_init(cli_events *events, size_t n_sensors, bramah_diag *diag)
{
  events->n_sensors = n_sensors;
  events->lost = calloc(n_sensors + 1, sizeof *events->lost);
  events->away = calloc(n_sensors + 1, sizeof *events->away);
  if (events->lost && events->away) return BRAMAH_OK;
  return cli_fail(diag, BRAMAH_E_MEMORY, NULL, 0, NULL, "out of memory");
}

void cli_events_free(cli_events *events)
{
  free(events->lost);
  free(events->away);
}

/* Another time, or dots once the cell is full. */
static void add_time(cli_times *times, const char *before, double t)
{
  static const char more[] = ", …";
  const size_t used = strlen(times->text);
  char next[48];
  const int n = snprintf(next, sizeof next, "%s%.9g", before, t);
  if (used >= sizeof more && strcmp(times->text + used - (sizeof more - 1), more) == 0) return;
  snprintf(times->text + used, sizeof times->text - used, "%s",
           used + (size_t)n + sizeof more < sizeof times->text ? next : more);
}

static void watch_sensor(cli_events *events, const bramah_filter *filter, size_t i, double t)
{
  const int away = bramah_filter_lost(filter, i);
  cli_times *times = &events->lost[i];
  if (away == events->away[i]) return;
  events->away[i] = (unsigned char)away;
  if (away) add_time(times, times->n++ ? ", " : "", t);
  if (!away) add_time(times, " to ", t);
}

void cli_events_watch(cli_events *events, const bramah_filter *filter, double t)
{
  const bramah_filter_report report = bramah_filter_get_report(filter);
  for (size_t i = 0; i < events->n_sensors; i++) watch_sensor(events, filter, i, t);
  if (report.recoveries > events->report.recoveries)
    add_time(&events->recoveries, events->recoveries.n++ ? ", " : "", t);
  events->report = report;
}

static void add_row(cli_table *table, const char *what, uint64_t count, const char *times)
{
  if (!count) return;
  cli_table_add(table, "%s", what);
  cli_table_add(table, "%llu", (unsigned long long)count);
  cli_table_add(table, "%s", times);
}

cli_table cli_events_table(const cli_events *events, const bramah_filter *filter)
{
  static const char *const header[] = {"event", "times", "at [s]"};
  cli_table table = cli_table_make("Events", "lrl", header);
  const bramah_filter_report *report = &events->report;
  add_row(&table, "measurement held back by its gate", report->gated, "");
  add_row(&table, "measurement at an end of the sensor's range, not used", report->saturated, "");
  add_row(&table, "estimate held at its limit", report->limited, "");
  for (size_t i = 0; i < events->n_sensors; i++) {
    char name[CLI_CELL], times[CLI_CELL];
    snprintf(name, sizeof name, "sensor %s lost", bramah_filter_sensor(filter, i)->name);
    snprintf(times, sizeof times, "%.60s%s", events->lost[i].text, events->away[i] ? " to the end" : "");
    add_row(&table, name, events->lost[i].n, times);
  }
  add_row(&table, "filter found wrong, its covariance opened", report->recoveries, events->recoveries.text);
  return table;
}
