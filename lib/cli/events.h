/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What befell the filter during a run: measurements left out, sensors lost, the filter found wrong. */
#ifndef BRAMAH_LIB_CLI_EVENTS_H
#define BRAMAH_LIB_CLI_EVENTS_H

#include "bramah/filter.h"
#include "lib/cli/table.h"

/* When something happened, as many times as a cell of a table holds. */
typedef struct cli_times {
  uint64_t n;
  char text[CLI_CELL];
} cli_times;

typedef struct cli_events {
  size_t n_sensors;
  cli_times *lost;     /* [n_sensors] */
  unsigned char *away; /* [n_sensors] 1: lost at present */
  cli_times recoveries;
  bramah_filter_report report; /* of the latest step */
} cli_events;

/* Released by cli_events_free in any case. */
bramah_status cli_events_init(cli_events *events, size_t n_sensors, bramah_diag *diag);
void cli_events_free(cli_events *events);

/* Look at the filter after the step of time t [s]. */
void cli_events_watch(cli_events *events, const bramah_filter *filter, double t);

/* What was not zero; a table without rows if nothing happened. */
cli_table cli_events_table(const cli_events *events, const bramah_filter *filter);

#endif
