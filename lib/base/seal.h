/* SPDX-License-Identifier: MIT */
/* What tells a snapshot from other memory: it begins with a seal, and all of it is checked before any of it is
 * believed. */
#ifndef BRAMAH_LIB_BASE_SEAL_H
#define BRAMAH_LIB_BASE_SEAL_H

#include <stddef.h>
#include <stdint.h>

#include "bramah/status.h"

typedef struct bramah__seal {
  uint64_t format;   /* a new one whenever what is in a snapshot changes */
  uint64_t computer; /* its type of processor: another one rounds and lays out in its own manner */
  uint64_t identity; /* of the object: its kind, its sizes, its names */
  uint64_t size;     /* of all of it [bytes] */
  uint64_t checksum; /* of the four above and all that follows */
} bramah__seal;

/* The type of this processor, such as "x86-64". */
const char *bramah__processor(void);

/* A hash with a word or a text more. For a given word each hash leads to another one and for a given hash each
 * word too, so that one wrong word is never overlooked. */
uint64_t bramah__mix(uint64_t hash, uint64_t word);
uint64_t bramah__mix_text(uint64_t hash, const char *text);

/* Seal snap [size bytes, whole words, 8-byte aligned], whose first sizeof(bramah__seal) bytes it takes. */
void bramah__seal_put(void *snap, uint64_t identity, size_t size);

/* Is snap [size bytes] one of this identity and of `wanted` bytes? Errors: E_ARGUMENT (another size), E_SYNTAX
 * (no snapshot, or of another version or type of computer), E_REFERENCE (of another object), E_VALUE
 * (corrupted). Of what is another object's only the seal is read. */
bramah_status bramah__seal_check(const void *snap, size_t size, uint64_t identity, size_t wanted,
                                 bramah_diag *diag);

/* A sealed snapshot that yet cannot have been taken: the same message. */
bramah_status bramah__seal_broken(bramah_diag *diag);

#endif
