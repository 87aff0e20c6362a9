/* SPDX-License-Identifier: MIT */
#include "lib/base/arena.h"
#include "lib/base/diag.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

bramah__arena bramah__arena_make(void *mem, size_t size)
{
  return (bramah__arena){.base = mem, .size = size, .used = 0, .overflow = 0};
}

void *bramah__arena_take(bramah__arena *arena, size_t n, size_t size)
{
  if (size && n > (SIZE_MAX - BRAMAH__ALIGN) / size) {
    arena->overflow = 1;
    return NULL;
  }
  size_t bytes = (n * size + BRAMAH__ALIGN - 1) / BRAMAH__ALIGN * BRAMAH__ALIGN;
  size_t start = arena->used;
  if (bytes > SIZE_MAX - start) {
    arena->overflow = 1;
    return NULL;
  }
  arena->used = start + bytes;
  if (!arena->base) return NULL;
  if (arena->used > arena->size) {
    arena->overflow = 1;
    return NULL;
  }
  memset(arena->base + start, 0, bytes);
  return arena->base + start;
}

const char *bramah__arena_text(bramah__arena *arena, const char *text)
{
  size_t n = strlen(text) + 1;
  char *copy = bramah__arena_take(arena, n, 1);
  if (copy) memcpy(copy, text, n);
  return copy;
}

uint64_t bramah__mark_of(const void *mem)
{
  return UINT64_C(0xb4a3a8e57c01d6f9) ^ ((uint64_t)(uintptr_t)mem * UINT64_C(0x9e3779b97f4a7c15));
}

void *bramah__aligned_new(size_t size)
{
  /* By malloc, for aligned_alloc is not everywhere (newlib): what it gave is kept before the aligned memory. */
  const size_t extra = BRAMAH__ALIGN - 1 + sizeof(void *);
  unsigned char *raw = size > SIZE_MAX - extra ? NULL : malloc(size + extra), *mem = raw;
  if (!raw) return NULL;
  mem += extra - ((uintptr_t)raw + extra) % BRAMAH__ALIGN;
  memset(mem, 0, size);
  memcpy(mem - sizeof raw, &raw, sizeof raw);
  return mem;
}

void bramah__aligned_free(void *mem)
{
  void *raw = NULL;
  if (mem) memcpy(&raw, (unsigned char *)mem - sizeof raw, sizeof raw);
  free(raw);
}

bramah_status bramah__arena_new(const char *what, size_t size, bramah__arena *arena, bramah_diag *diag)
{
  void *mem = bramah__aligned_new(size);
  if (!mem) return bramah__fail(diag, BRAMAH_E_MEMORY, what, "out of memory");
  *arena = bramah__arena_make(mem, size);
  return BRAMAH_OK;
}

bramah_status bramah__arena_in(const char *what, void *mem, size_t size, size_t needed, bramah__arena *arena,
                               bramah_diag *diag)
{
  uint64_t found;
  if ((uintptr_t)mem % BRAMAH__ALIGN)
    return bramah__fail(diag, BRAMAH_E_ARGUMENT, what, "memory is not aligned to 64 bytes");
  if (!mem || size < needed) return bramah__fail(diag, BRAMAH_E_ARGUMENT, what, "memory is too small");
  memcpy(&found, mem, sizeof found);
  if (found == bramah__mark_of(mem)) {
    bramah__fail(diag, BRAMAH_E_ARGUMENT, what, "this memory holds a ");
    bramah__add_text(diag, what);
    bramah__add_text(diag, ": free that one first");
    return BRAMAH_E_ARGUMENT;
  }
  *arena = bramah__arena_make(mem, size);
  return BRAMAH_OK;
}
