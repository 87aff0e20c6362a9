/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rows that become columns of a MAT file. */
#ifndef BRAMAH_LIB_LOGS_MAT_WRITE_H
#define BRAMAH_LIB_LOGS_MAT_WRITE_H

#include <stddef.h>
#include "bramah/status.h"

typedef struct bramah__mat_columns bramah__mat_columns;

/* The number of rows is known only in the end, and a MAT file holds its columns one after the other: rows
 * wait in a nameless file beside it, so that memory does not grow with them. The disk holds them twice for a
 * while. */
bramah_status bramah__mat_columns_create(const char *path, bramah_diag *diag, bramah__mat_columns **out);
/* Before the first row. Errors: E_ARGUMENT (later), E_MEMORY. */
bramah_status bramah__mat_columns_add(bramah__mat_columns *columns, const char *name, const char *unit,
                                      bramah_diag *diag);
/* values [columns]; NaN: no sample. Errors: E_FILE. */
bramah_status bramah__mat_columns_write(bramah__mat_columns *columns, const double *values,
                                        bramah_diag *diag);
/* Write the file: a vector per column, and the structs `units` and `names` with their units and the names
 * they have here. Frees in any case. */
bramah_status bramah__mat_columns_finish(bramah__mat_columns *columns, bramah_diag *diag);

#endif
