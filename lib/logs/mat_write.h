/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Formats of logs that are written. */
#ifndef BRAMAH_LIB_LOGS_MAT_WRITE_H
#define BRAMAH_LIB_LOGS_MAT_WRITE_H

#include <stddef.h>
#include "bramah/status.h"

/* A format: rows are given one by one. The sink is the format's own. */
typedef struct bramah__log_sink {
  bramah_status (*create)(const char *path, bramah_diag *diag, void **sink);
  /* Before the first row. */
  bramah_status (*add)(void *sink, const char *name, const char *unit, int digits, bramah_diag *diag);
  /* values [columns]; NaN: no sample. Errors: E_FILE. */
  bramah_status (*write)(void *sink, const double *values, bramah_diag *diag);
  bramah_status (*flush)(void *sink, bramah_diag *diag);  /* NULL: rows wait for the end */
  bramah_status (*finish)(void *sink, bramah_diag *diag); /* frees in any case */
} bramah__log_sink;

/* A vector per column, and the structs `units` and `names` with their units and the names they have here. */
extern const bramah__log_sink bramah__mat_sink;

#endif
