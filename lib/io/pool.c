/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/io/pool.h"

#include <stdalign.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK_SIZE = 16384 };

/* newest -> older -> ... -> NULL; pieces are cut from the newest only. */
typedef struct bramah__pool_block {
  struct bramah__pool_block *older;
  size_t size, used;
  alignas(max_align_t) unsigned char bytes[];
} bramah__pool_block;

static bramah__pool_block *add_block(bramah__pool *pool, size_t least)
{
  size_t size = least > BLOCK_SIZE ? least : BLOCK_SIZE;
  bramah__pool_block *block = calloc(1, sizeof *block + size);
  if (!block) return NULL;
  block->size = size;
  block->older = pool->newest;
  pool->newest = block;
  return block;
}

void *bramah__pool_take(bramah__pool *pool, size_t n, size_t size)
{
  size_t align = alignof(max_align_t);
  if (size && n > (SIZE_MAX / 2) / size) return NULL;
  size_t bytes = (n * size + align - 1) / align * align;
  if (pool->most && bytes > pool->most - pool->taken) {
    pool->full = 1;
    return NULL;
  }
  pool->taken += bytes;
  bramah__pool_block *block = pool->newest;
  if (!block || block->size - block->used < bytes) block = add_block(pool, bytes);
  if (!block) return NULL;
  void *piece = block->bytes + block->used;
  block->used += bytes;
  return piece;
}

char *bramah__pool_text(bramah__pool *pool, const char *text, size_t length)
{
  char *copy = bramah__pool_take(pool, length + 1, 1);
  if (copy && length) memcpy(copy, text, length);
  return copy;
}

void bramah__pool_free(bramah__pool *pool)
{
  while (pool->newest) {
    bramah__pool_block *older = pool->newest->older;
    free(pool->newest);
    pool->newest = older;
  }
}
