/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A file of named pieces of memory, to go on later:
 *
 *   | "BRAMAHSN" | format, byte order | length |
 *   | { name [24] | size | bytes, to a multiple of 8 } ... | FNV-1a |
 *
 * The check sum at the end is over all before it. Numbers are those of the machine that wrote it: a snapshot
 * is for the same program on the same kind of computer, not for archives. */
#ifndef BRAMAH_LIB_ASSESS_SNAPSHOT_H
#define BRAMAH_LIB_ASSESS_SNAPSHOT_H

#include <stddef.h>
#include <stdint.h>
#include "bramah/status.h"

typedef struct bramah__snapshot {
  unsigned char *bytes; /* NULL: none */
  size_t size, room;
  int failed; /* memory was out */
} bramah__snapshot;

void bramah__snapshot_free(bramah__snapshot *snapshot);
/* Begin anew, in the memory there is. */
void bramah__snapshot_clear(bramah__snapshot *snapshot);
/* A new piece of n bytes, zeroed and 8-byte aligned, to be filled before the next one; NULL when memory is
 * out; bramah__snapshot_write then fails. */
void *bramah__snapshot_add(bramah__snapshot *snapshot, const char *name, size_t n);
void bramah__snapshot_put(bramah__snapshot *snapshot, const char *name, const void *from, size_t n);
/* A piece and its size; NULL if there is none of the name. */
const void *bramah__snapshot_find(const bramah__snapshot *snapshot, const char *name, size_t *n);
/* Copy a piece that must have n bytes; 0 if there is none, or of another size. */
int bramah__snapshot_get(const bramah__snapshot *snapshot, const char *name, void *out, size_t n);

/* Write it to a file of its own and rename that, so that the path always holds a whole snapshot. Errors:
 * E_FILE, E_MEMORY. */
bramah_status bramah__snapshot_write(bramah__snapshot *snapshot, const char *path, bramah_diag *diag);
/* Read and check it. Errors: E_FILE, E_SYNTAX (no snapshot, or damaged), E_TRUNCATED, E_MEMORY. */
bramah_status bramah__snapshot_read(bramah__snapshot *snapshot, const char *path, bramah_diag *diag);

/* FNV-1a hash (64 bits) of n bytes, begun with the number below or gone on with; of a file: 0 if it cannot be
 * read. */
#define BRAMAH__HASH_START UINT64_C(14695981039346656037)
uint64_t bramah__hash(const void *bytes, size_t n, uint64_t hash);
uint64_t bramah__hash_file(const char *path);

#endif
