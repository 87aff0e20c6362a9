/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How far two files of estimates, or estimates and truth, differ. Part of libbramah-tools.
 *
 * Columns of the same name are compared, whatever their order and units. A row and the row of the other file
 * that has the same time are a pair; with a distance allowed, the nearest one within it. Every row is used
 * once at most. Nothing is interpolated, held or averaged: a row without a partner is counted and left out. */
#ifndef BRAMAH_COMPARE_H
#define BRAMAH_COMPARE_H

#include "bramah/log.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A difference allowed in one column: "0.1 deg". */
typedef struct bramah_tolerance {
  const char *column, *value;
} bramah_tolerance;

/* What one of the two files holds. */
typedef struct bramah_compared_file {
  const char *path;
  uint64_t rows;                   /* within the window */
  int64_t first_ns, last_ns;       /* of these */
  uint64_t before, between, after; /* rows without a partner, by the range of the other file */
  size_t n_alone;                  /* columns that only this file has */
  const char **alone;
} bramah_compared_file;

/* A pair of values that differ, in SI. */
typedef struct bramah_compared_pair {
  int64_t time_ns;
  double value[2], difference;
  double tolerance;
} bramah_compared_pair;

/* A column of both files; values in SI. */
typedef struct bramah_compared_column {
  const char *name, *unit; /* of A */
  double factor;           /* of that unit to SI */
  uint64_t n;              /* pairs that have both values */
  uint64_t alone[2];       /* pairs in which only this file has one */
  double rms;              /* of the differences; NaN: n is 0 */
  bramah_compared_pair largest;
  uint64_t n_sigma;               /* pairs with a standard deviation */
  double rms_sigmas, most_sigmas; /* differences in standard deviations; NaN: n_sigma is 0 */
  int64_t most_sigmas_ns;
  int judged;                 /* 0: standard deviations judge, and this column has none */
  uint64_t beyond;            /* the tolerance */
  bramah_compared_pair first; /* of these */
} bramah_compared_column;

/* Of several tolerances of a column the largest counts; without any, every difference does. */
typedef struct bramah_compare_options {
  const char *time; /* name of the time column of both files; "t" */
  size_t n_columns; /* compare these only; 0: all that both files have */
  const char *const *columns;
  size_t n_tolerances;
  const bramah_tolerance *tolerances;
  double relative; /* tolerance for all columns: of the largest magnitude of each; reads both files twice */
  double sigmas;   /* and: of the value of column <name>.sigma, of A or, where it has none, of B */
  int turns;       /* 1: angles that differ by whole turns are the same */
  int64_t from_ns, to_ns; /* only rows between these times */
  int64_t within_ns;      /* pair rows whose times differ by so much; 0: equal times only */
  /* Called for every pair of values, in the order of their times, with the number of its column, the column (whose name and
   * unit are there, its results not yet) and its standard deviation, NaN where there is none. NULL: not wanted. */
  void (*listener)(void *user, size_t column, const bramah_compared_column *of,
                   const bramah_compared_pair *pair, double sigma);
  void *listener_user;
} bramah_compare_options;
/* Columns, times and tolerances of their own: none. */
BRAMAH_API void bramah_compare_options_default(bramah_compare_options *options);

/* What comparing two files found. */
typedef struct bramah_comparison {
  bramah_compared_file file[2]; /* A, B */
  uint64_t pairs;
  int64_t furthest_ns; /* rows of a pair from each other */
  size_t n_columns;
  bramah_compared_column *columns; /* in the order of A, or of options.columns */
  /* The earliest and, of several at that time, first column beyond its tolerance; NULL: none. */
  const bramah_compared_column *first;
  int lacks; /* 1: A has rows, cells or columns that B lacks */
} bramah_comparison;

/* Compare. options NULL: the default. Release *out with bramah_comparison_free. Errors: those of
 * bramah_log_open and bramah_log_next; E_COLUMN (a name is not in both files, or they share none), E_UNIT
 * (other dimensions), E_TIME (time does not go forward; no row has a partner), E_EMPTY (no row in the window),
 * E_ARGUMENT (a tolerance that is no value of its column, or of a column that is not compared), E_MEMORY. */
BRAMAH_API bramah_status bramah_compare(const char *a, const char *b, const bramah_compare_options *options,
                                        bramah_diag *diag, bramah_comparison **out);
BRAMAH_API void bramah_comparison_free(bramah_comparison *comparison); /* NULL allowed */

#ifdef __cplusplus
}
#endif
#endif
