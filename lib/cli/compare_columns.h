/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Columns that two files share, and how far their values are apart. */
#ifndef BRAMAH_LIB_CLI_COMPARE_COLUMNS_H
#define BRAMAH_LIB_CLI_COMPARE_COLUMNS_H

#include "lib/cli/compare_rows.h"

/* Values in SI. */
typedef struct cli_shared {
  const char *name, *unit; /* of the first file */
  const char *expected;    /* "1" where that is no unit */
  double factor;           /* of its unit to SI */
  int is_angle;
  size_t column[2];
  int sigma_side;   /* whose <name>.sigma is used: 0, 1; -1: there is none */
  size_t sigma;     /* its column */
  double tolerance; /* given for this column; NaN: none */
  double scale;
  uint64_t n;       /* pairs that have both values */
  uint64_t only[2]; /* pairs in which only this file has one */
  double squares;
  double most, most_values[2]; /* largest difference */
  int64_t most_ns;
  uint64_t judged; /* those with a sigma */
  double sigma_squares, most_sigmas;
  int64_t most_sigmas_ns;
  uint64_t beyond; /* the tolerance */
  double first_values[2], first_difference, first_tolerance;
  int64_t first_ns;
} cli_shared;

typedef struct cli_columns {
  size_t n;
  cli_shared *shared;
  size_t n_only[2];
  const char **only[2]; /* names of columns that one file alone has */
  double relative;      /* of the largest magnitude of the column */
  double sigmas;
  int turns; /* 1: angles that differ by whole turns are the same */
} cli_columns;

/* Find the shared columns; with names, those only. Released by cli_columns_free in any case. Errors: E_COLUMN
 * (a name is not in both files), E_UNIT (other dimensions), E_MEMORY. */
bramah_status cli_columns_init(cli_columns *columns, const cli_pairs *pairs, size_t n_names,
                               const char *const *names, bramah_diag *diag);
void cli_columns_free(cli_columns *columns);

/* Largest magnitude of each column, in either file, of the rows from now on: for relative tolerances. */
void cli_columns_measure(cli_columns *columns, const cli_pairs *pairs);
/* Compare the present pair. */
void cli_columns_add(cli_columns *columns, const cli_pairs *pairs);

/* 0: standard deviations are to judge, this column has none, and no other tolerance holds for it. */
int cli_columns_judge(const cli_columns *columns, const cli_shared *shared);

cli_shared *cli_columns_find(const cli_columns *columns, const char *name);
/* Earliest and, of several at that time, first in the file that is beyond its tolerance; NULL: none. */
const cli_shared *cli_columns_first(const cli_columns *columns);

double cli_shared_rms(const cli_shared *shared);        /* NaN without values */
double cli_shared_rms_sigmas(const cli_shared *shared); /* NaN without sigmas */

#endif
