/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files that are replaced whole or not at all, and files that are named by users and may be anything. */
#ifndef BRAMAH_LIB_IO_FILES_H
#define BRAMAH_LIB_IO_FILES_H

#include <stdint.h>
#include <stdio.h>

#include "bramah/status.h"

/* Written under a name that nobody can guess, in the same folder, and renamed when it is on the disk. */
typedef struct bramah__new_file {
  FILE *file;
  const char *path; /* kept by reference */
  char *part;       /* its name until it is complete */
} bramah__new_file;

/* Errors, which name the path: E_FILE (it cannot be created, or what is there is no plain file: a link is not
 * followed, a device not replaced), E_MEMORY. */
bramah_status bramah__new_file_open(const char *path, bramah__new_file *out, bramah_diag *diag);

/* Put it in its place if `good` and all of it was written, else take it away; releases it. Errors: E_FILE. */
bramah_status bramah__new_file_finish(bramah__new_file *file, int good, bramah_diag *diag);

/* A number for the contents of a file, 0 where it cannot be read. */
uint64_t bramah__hash_file(const char *path);

/* Open for reading: the descriptor, or -1 with errno. A named pipe is waited for until somebody writes to it, but
 * not for ever: ETIMEDOUT, for which bramah__open_reason has the words. */
int bramah__open_input(const char *path);

/* Why that failed, and of a missing file the one beside it that may be meant; `reason` [size] is room. */
const char *bramah__open_reason(const char *path, int error, char *reason, size_t size);

#endif
