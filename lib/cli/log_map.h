/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From what a column holds to what a sensor measured: value = offset + sign * scale * column, and back. */
#ifndef BRAMAH_LIB_CLI_LOG_MAP_H
#define BRAMAH_LIB_CLI_LOG_MAP_H

#include "bramah/study.h"

typedef struct cli_log_map {
  int plain;             /* 1: the column holds the value */
  double factor, offset; /* value [SI] = offset + factor * column, as its numbers stand in the file */
  double wrap;           /* the column jumps by this much; 0: it does not */
  double last, turns;    /* the column's last value, and how often it has jumped since the first */
} cli_log_map;

/* By what the study says (from NULL: nothing) of a column with the unit `unit` ("": none), for something in
 * `si_unit`. Errors, with the line of the study: E_UNIT, E_VALUE. */
bramah_status cli_log_map_make(cli_log_map *map, const bramah_study *study, const bramah_study_column *from,
                               const char *unit, const char *si_unit, bramah_diag *diag);

/* The same for a column of a log: finds its unit and how the reader shall give it. */
bramah_status cli_log_map_bind(cli_log_map *map, const bramah_study *study, const bramah_study_column *from,
                               bramah_log_reader *reader, size_t column, const char *si_unit,
                               bramah_diag *diag);

/* The unit a device would write into the header, "" for none. */
const char *cli_log_map_unit(const bramah_study_column *from, const char *si_unit);

/* 1 if the study says anything about the column but its name. */
int cli_log_map_is_needed(const bramah_study_column *from);

double cli_log_map_value(cli_log_map *map, double column);
/* What the column holds for a value; of a column that jumps, within [0, wrap). */
double cli_log_map_column(const cli_log_map *map, double value);

#endif
