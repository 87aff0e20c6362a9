/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Parts of bramah/mapping.h: mapping_log.c reads the log, mapping.c finds what its columns are. */
#ifndef BRAMAH_LIB_ASSESS_MAPPING_H
#define BRAMAH_LIB_ASSESS_MAPPING_H

#include "bramah/mapping.h"
#include "bramah/units.h"

/* The log is looked at in bins of time. What is compared are changes over `lag` bins of means over 2 half + 1. */
typedef struct bramah__bins {
  size_t n, lag, half;
  double length; /* [s] */
} bramah__bins;

/* A column of numbers, as far as it was read. */
typedef struct bramah__channel {
  char *name, *unit;
  int is_known; /* 1: its unit is; values are in SI */
  bramah_dimension dimension;
  double *value; /* [n_rows] NaN: no cell */
  uint64_t n;    /* cells */
  double least, most;
  double held;        /* share of cells that repeat the one before */
  double scatter;     /* standard deviation from sample to sample */
  double lowest;      /* 5 % are below it */
  double mean, first; /* of the first 0.1 s */
  int64_t interval_ns;
  double *change; /* [bins.n - bins.lag] */
} bramah__channel;

typedef struct bramah__channels {
  size_t n, n_rows, time;   /* time: its number */
  size_t n_more;            /* columns that are not looked at */
  size_t stated_time;       /* called so, with a unit or dates; SIZE_MAX: none */
  bramah__channel *channel; /* [n] */
  double time_factor;       /* [s] 1 of its column as read */
  const char *time_unit;    /* NULL: the header says it */
  double *t;                /* [n_rows] s from the first row on */
  bramah__bins bins;
} bramah__channels;

bramah_status bramah__channels_read(const char *path, const char *dbc, bramah__channels *out,
                                    bramah_diag *diag);
void bramah__channels_free(bramah__channels *channels);

/* Changes over bins.lag of means of x [bins.n], for the first n_bins of them: out [n_bins - lag]; sum [bins.n + 1] is scratch. */
void bramah__changes(const bramah__bins *bins, size_t n_bins, const double *x, double *sum, double *out);

/* The assignment of n rows to m >= n columns whose sum of gain [n x m] is largest: to [n]. work [4 (m + 1)], used [2 (m + 1)]. */
void bramah__assign(size_t n, size_t m, const double *gain, double *work, size_t *used, size_t *to);

#endif
