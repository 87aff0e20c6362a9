/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The true motion from a file, row by row beside the replay. */
#ifndef BRAMAH_LIB_CLI_TRUTH_H
#define BRAMAH_LIB_CLI_TRUTH_H

#include <stdint.h>
#include "bramah/log.h"

typedef struct cli_truth_row {
  int64_t time_ns;
  double *values;         /* [columns] */
  unsigned char *present; /* [columns] */
} cli_truth_row;

typedef struct cli_truth {
  bramah_log_reader *reader;
  size_t time;          /* column */
  cli_truth_row row[2]; /* the present one and the one after it */
  int now, ended;
  int matched;        /* the present row belongs to the time asked for last */
  uint64_t unmatched; /* times without a partner */
} cli_truth;

/* A time of a row as whole nanoseconds. */
bramah_status cli_log_time(const bramah_log_reader *reader, size_t column, const double *values,
                           const unsigned char *present, int64_t *time_ns, bramah_diag *diag);

bramah_status cli_truth_open(cli_truth *truth, const char *path, bramah_diag *diag);
void cli_truth_close(cli_truth *truth);

/* Column of that name whose unit has the dimension of the given one. *column -1 if there is none of the name.
 * Errors: E_UNIT. */
bramah_status cli_truth_find(const cli_truth *truth, const char *name, const char *unit, long *column,
                             bramah_diag *diag);

/* Go to the row nearest to a time; times ascend. It matches if it is not further away than `tolerance`. */
bramah_status cli_truth_seek(cli_truth *truth, int64_t time_ns, int64_t tolerance_ns, bramah_diag *diag);
/* Value in a column of the matched row; NaN if nothing matched or the cell is empty. */
double cli_truth_value(const cli_truth *truth, size_t column);

#endif
