/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A file to which results are appended as they come, so that a run that was killed goes on where it was. One
 * line per result: key, numbers exact to the bit, checksum. */
#ifndef BRAMAH_LIB_TUNE_JOURNAL_H
#define BRAMAH_LIB_TUNE_JOURNAL_H

#include "bramah/status.h"

typedef struct bramah__journal {
  size_t n;       /* results */
  size_t read;    /* of them from the file */
  size_t damaged; /* lines of the file that were */
  char *path;
  int file;                              /* -1: none */
  size_t room;                           /* of the following */
  struct bramah__journal_entry *entries; /* [n] in the order of the file */
  size_t *table;                         /* [slots] 1 + index of an entry by the hash of its key; 0: free */
  size_t slots;
} bramah__journal;

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

#endif
