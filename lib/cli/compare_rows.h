/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rows of two files in pairs. A row and the row of the other file that has the same time are a pair; with a
 * distance allowed, the nearest one within it. Every row is used once at most. Nothing is interpolated, held
 * or averaged: a row without a partner is counted and left out. */
#ifndef BRAMAH_LIB_CLI_COMPARE_ROWS_H
#define BRAMAH_LIB_CLI_COMPARE_ROWS_H

#include <stdint.h>
#include "bramah/log.h"

typedef struct cli_side_row {
  int64_t time_ns;
  double *values;         /* [columns] */
  unsigned char *present; /* [columns] */
} cli_side_row;

/* One file. */
typedef struct cli_side {
  bramah_log_reader *reader;
  size_t time; /* column */
  cli_side_row row[2];
  int now;        /* the present row */
  int here, more; /* there is a present row, and one after it */
  int64_t first_ns, last_ns;
  uint64_t rows;                   /* within the window */
  uint64_t before, between, after; /* alone, by the range of the other file */
} cli_side;

typedef struct cli_pairs {
  cli_side side[2];
  int64_t from_ns, to_ns;
  uint64_t within_ns;
  int paired; /* the present rows were given */
  uint64_t n;
  uint64_t furthest_ns; /* rows of a pair from each other */
} cli_pairs;

/* Open both; `time` is the name of the time column. Limits may be set until the first pair is taken. Released
 * by cli_pairs_close in any case. Errors: those of bramah_log_open, E_COLUMN, E_UNIT. */
bramah_status cli_pairs_open(cli_pairs *pairs, const char *const *paths, const char *time, bramah_diag *diag);
void cli_pairs_close(cli_pairs *pairs);

/* Next pair; *end = 1 at the end of both. Errors: those of bramah_log_next, E_TIME (time does not go
 * forward). */
bramah_status cli_pairs_next(cli_pairs *pairs, int *end, bramah_diag *diag);

/* Value in a column of the present pair; NaN where the cell is empty. */
double cli_pairs_value(const cli_pairs *pairs, int side, size_t column);
int64_t cli_pairs_time(const cli_pairs *pairs); /* of the first file */

#endif
