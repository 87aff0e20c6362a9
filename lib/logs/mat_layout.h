/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which vectors of a MAT file are columns of a log, and which times they have. */
#ifndef BRAMAH_LIB_LOGS_MAT_LAYOUT_H
#define BRAMAH_LIB_LOGS_MAT_LAYOUT_H

#include <matio.h>
#include <stdint.h>
#include "lib/logs/reader.h"

/* Rows read at once. */
enum { BRAMAH__MAT_BLOCK = 8192 };

/* A vector: a variable, a field of a struct, or a column of a matrix. */
typedef struct bramah__mat_series {
  char *name, *unit; /* unit "": none is stated */
  matvar_t *variable;
  size_t group;
  size_t first, stride, n; /* elements of the variable */
  int is_time;             /* of its group */
  char *why_not;           /* it is no column; NULL: it is one */
  /* The rows that are in memory. */
  unsigned char *raw;
  size_t begin, count;
} bramah__mat_series;

/* Vectors of one length that share a time. */
typedef struct bramah__mat_group {
  char *name;
  size_t time; /* index of its series; SIZE_MAX: none was found */
  size_t n;    /* rows */
  size_t row;  /* the next one */
} bramah__mat_group;

typedef struct bramah__mat_log {
  mat_t *file;
  uint64_t size;       /* of the file [bytes] */
  matvar_t **variable; /* all of the first level, without their data */
  size_t n_variables;
  bramah__mat_series *series;
  size_t n_series;
  bramah__mat_group *group;
  size_t n_groups;
  unsigned char *here; /* [groups] they have the present row */
  size_t *of_column;   /* [columns] its series; SIZE_MAX: the time of several groups */
  double *missing;     /* numbers that mean no sample */
  size_t n_missing;
  int row; /* given last */
  uint64_t rows, all_rows;
  int compressed;
} bramah__mat_log;

/* Fill series and groups. Errors: E_MEMORY. */
bramah_status bramah__mat_find_series(bramah__mat_log *mat);

#endif
