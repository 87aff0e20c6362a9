/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Logs in MAT files, behind the reader of logs: what is a column (mat_layout.c), rows (log_mat.c), whether
 * the file is whole (mat_whole.c). Without matio only bramah__mat_open is there, and says so. */
#ifndef BRAMAH_LIB_LOGS_LOG_MAT_H
#define BRAMAH_LIB_LOGS_LOG_MAT_H

#include "lib/logs/log_internal.h"

/* Find the columns of the file. Errors: E_FILE, E_TRUNCATED, E_SYNTAX (no MAT file), E_EMPTY (no column),
 * E_KEY (two of a name), E_UNIT (times that do not go together), E_UNSUPPORTED (built without matio). */
bramah_status bramah__mat_open(bramah_log_reader *reader);
/* The next row into the reader: values, present, fault, row_line. */
bramah_status bramah__mat_row(bramah_log_reader *reader, int *end);
void bramah__mat_close(bramah__mat_log *mat); /* NULL allowed */

/* Column that is meant by a name that is none: "time" or "tout" for "t". SIZE_MAX: none. */
size_t bramah__mat_stand_in(const bramah_log_reader *reader, const char *name);
/* Why the variable of this name is no column; NULL: there is none of this name. */
const char *bramah__mat_why_not(const bramah__mat_log *mat, const char *name);
/* Bytes of the file that belong to the rows given. */
uint64_t bramah__mat_bytes(const bramah__mat_log *mat);
/* "MAT file of version 7.3" and how it is read. */
const char *bramah__mat_kind(const bramah__mat_log *mat);

/* Elements of versions 4 and 5 against the length of the file [bytes]. Version 7.3: HDF5 finds that
 * itself. */
bramah_status bramah__mat_check_whole(bramah_log_reader *reader, uint64_t *size);

/* From log_header.c. */
bramah_status bramah__log_keep_column(bramah_log_reader *reader, const char *name, const char *unit);

#endif
