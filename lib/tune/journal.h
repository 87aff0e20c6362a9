/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A file to which results are appended as they come, so that a run that was killed goes on where it was. One
 * line per result: key, numbers exact to the bit, checksum. */
#ifndef BRAMAH_LIB_TUNE_JOURNAL_H
#define BRAMAH_LIB_TUNE_JOURNAL_H

#include "bramah/status.h"

typedef struct bramah__journal bramah__journal;

/* Open and read; a file that is not there is made; path NULL: in memory only. A last line that was cut off is
 * taken away; lines whose checksum is wrong are left out and counted. Errors: E_FILE (also: another run
 * writes it), E_SYNTAX (the file is no journal), E_MEMORY. */
bramah_status bramah__journal_open(const char *path, bramah_diag *diag, bramah__journal **out);
void bramah__journal_close(bramah__journal *journal); /* NULL allowed */

/* Numbers of a key, and how many; NULL where it is not known. They stay where they are until the journal is
 * closed. */
const double *bramah__journal_find(const bramah__journal *journal, const char *key, size_t *n);

/* Append a result; the key has no tabs or line ends. A key that is known is left as it is. The result is
 * there even where the file cannot take it. Errors: E_FILE (the disk is full), E_ARGUMENT, E_MEMORY. */
bramah_status bramah__journal_add(bramah__journal *journal, const char *key, size_t n, const double *values,
                                  bramah_diag *diag);

/* Results; of them read from the file; lines of the file that were damaged. */
size_t bramah__journal_count(const bramah__journal *journal);
size_t bramah__journal_count_read(const bramah__journal *journal);
size_t bramah__journal_count_damaged(const bramah__journal *journal);

#endif
