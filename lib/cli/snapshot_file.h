/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A file of named pieces of memory, to go on later:
 *
 *   | "BRAMAHSN" | format, byte order | length |
 *   | { name [24] | size | bytes, to a multiple of 8 } ... | FNV-1a |
 *
 * The check sum at the end is over all before it. Numbers are those of the machine that wrote it: a snapshot
 * is for the same program on the same kind of computer, not for archives. */
#ifndef BRAMAH_LIB_CLI_SNAPSHOT_FILE_H
#define BRAMAH_LIB_CLI_SNAPSHOT_FILE_H

#include <stddef.h>
#include <stdint.h>
#include "bramah/status.h"

typedef struct cli_snapshot {
  unsigned char *bytes; /* NULL: none */
  size_t size, room;
  int failed; /* memory was out */
} cli_snapshot;

void cli_snapshot_free(cli_snapshot *snapshot);
/* Begin anew, in the memory there is. */
void cli_snapshot_clear(cli_snapshot *snapshot);
/* A new piece of n bytes, zeroed and 8-byte aligned, to be filled before the next one; NULL when memory is
 * out, which cli_snapshot_write tells. */
void *cli_snapshot_add(cli_snapshot *snapshot, const char *name, size_t n);
void cli_snapshot_put(cli_snapshot *snapshot, const char *name, const void *from, size_t n);
/* A piece and its size; NULL if there is none of the name. */
const void *cli_snapshot_find(const cli_snapshot *snapshot, const char *name, size_t *n);

/* Write it beside the path and rename it there, so that the path always holds a whole snapshot. Errors:
 * E_FILE, E_MEMORY. */
bramah_status cli_snapshot_write(cli_snapshot *snapshot, const char *path, bramah_diag *diag);
/* Read and check it. Errors: E_FILE, E_SYNTAX (no snapshot, or damaged), E_MEMORY. */
bramah_status cli_snapshot_read(cli_snapshot *snapshot, const char *path, bramah_diag *diag);

/* FNV-1a hash (64 bits) of n bytes, and of a file; 0 if that cannot be read. */
uint64_t cli_hash(const void *bytes, size_t n, uint64_t hash);
uint64_t cli_hash_file(const char *path);
#define CLI_HASH_START UINT64_C(14695981039346656037)

#endif
