/* SPDX-License-Identifier: MIT */
/* One block of memory cut into aligned pieces. Sizes are found by running the same cutting on a block of no
 * memory:
 *
 *   |<- 64-byte aligned base
 *   | object header | array 0 | pad | array 1 | pad | ... | end
 *
 * every piece starts on a 64-byte line and is zero-filled. */
#ifndef BRAMAH_LIB_BASE_ARENA_H
#define BRAMAH_LIB_BASE_ARENA_H

#include <stddef.h>
#include <stdint.h>

#include "bramah/status.h"
#include "lib/base/diag.h"

#define BRAMAH__ALIGN 64u

typedef struct bramah__arena {
  unsigned char *base; /* NULL: only count */
  size_t size;
  size_t used;
  int overflow; /* 1: a piece did not fit */
} bramah__arena;

bramah__arena bramah__arena_make(void *mem, size_t size);

/* Cut n items of `size` bytes; NULL when counting or when it does not fit. n = 0 gives a valid, empty piece.
 */
void *bramah__arena_take(bramah__arena *arena, size_t n, size_t size);

/* Copy a string into the arena. */
const char *bramah__arena_text(bramah__arena *arena, const char *text);

#define BRAMAH__TAKE(arena, type, n) ((type *)bramah__arena_take((arena), (n), sizeof(type)))

/* One list of fields gives the members of an object, its layout, and with it its size:
 *
 *   #define FILTER_FIELDS(X)                     type, name, how many, and what else the list is to say
 *     X(double, P, n * n, "covariance")
 *     X(int, pivot, n, "of its factors")
 *
 *   typedef struct filter {
 *     FILTER_FIELDS(BRAMAH__FIELD_MEMBER)        double *P; int *pivot;
 *   } filter;
 *
 *   filter *fields = ...;                        in a function that knows `arena` and n
 *   FILTER_FIELDS(BRAMAH__FIELD_TAKE)            fields->P = ...; fields->pivot = ...;
 */
#define BRAMAH__FIELD_MEMBER(type, name, ...) type *name;
#define BRAMAH__FIELD_TAKE(type, name, ...)                                                                  \
  fields->name = BRAMAH__TAKE(arena, type, BRAMAH__FIRST(__VA_ARGS__, 0));
#define BRAMAH__FIRST(first, ...) (first)

/* An object in memory of the caller begins with its mark, which depends on the address. While it is there
 * another object is not made in the same memory. Clearing it releases the memory; memory that never held an
 * object has it by chance once in 2^64. */
uint64_t bramah__mark_of(const void *mem);

/* Aligned memory of its own, zero-filled, and its release. */
void *bramah__aligned_new(size_t size);
void bramah__aligned_free(void *mem);

/* The body of a creator that takes memory once and has `make` put the object there, which finds it as `mem` with `size` bytes;
 * the creator knows diag and out, the object a member own_memory. */
#define BRAMAH__MAKE_IN_OWN(what, bytes, make)                                                               \
  const size_t size = (bytes);                                                                               \
  void *mem = size ? bramah__aligned_new(size) : NULL;                                                       \
  if (!mem) return bramah__fail(diag, BRAMAH_E_MEMORY, what, "out of memory");                               \
  const bramah_status made = (make);                                                                         \
  if (made == BRAMAH_OK)                                                                                     \
    (*out)->own_memory = 1;                                                                                  \
  else                                                                                                       \
    bramah__aligned_free(mem);                                                                               \
  return made

/* An arena in memory of its own, to be released by bramah__aligned_free(arena->base): that is where the object
 * is cut first. `what` is named by E_MEMORY. */
bramah_status bramah__arena_new(const char *what, size_t size, bramah__arena *arena, bramah_diag *diag);

/* An arena in memory of the caller for an object of `needed` bytes, which is called `what`. Errors: E_ARGUMENT (not
 * aligned to 64 bytes, too small, or a marked object lives there). */
bramah_status bramah__arena_in(const char *what, void *mem, size_t size, size_t needed, bramah__arena *arena,
                               bramah_diag *diag);

#endif
