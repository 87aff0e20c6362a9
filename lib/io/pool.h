/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Memory that only grows and goes at once: what belongs to a loaded file, whose size nobody knows beforehand.
 */
#ifndef BRAMAH_LIB_IO_POOL_H
#define BRAMAH_LIB_IO_POOL_H

#include <stddef.h>

typedef struct bramah__pool {
  struct bramah__pool_block *newest;
  size_t most;  /* bytes that may be taken in all; 0: any number */
  size_t taken; /* so far */
  int full;     /* 1: something was refused because of `most` */
} bramah__pool;

/* n items of `size` bytes, zero-filled, for any type; NULL when memory is short or the pool is full. n = 0
 * gives a valid, empty piece. */
void *bramah__pool_take(bramah__pool *pool, size_t n, size_t size);

/* Copy of `length` characters, terminated. */
char *bramah__pool_text(bramah__pool *pool, const char *text, size_t length);

void bramah__pool_free(bramah__pool *pool);

#endif
