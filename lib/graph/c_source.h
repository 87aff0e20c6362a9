/* SPDX-License-Identifier: MIT */
/* Parts of a tape as C11: straight lines of `const double` values, one function a part, on a struct that the caller
 * declares. The same operations in the same order as the machine of tape.c runs them, so the same bits, as long as the
 * compiler contracts no products with sums (-ffp-contract=off; GCC under -std=c11 does not). What no wanted result
 * needs is not written. */
#ifndef BRAMAH_LIB_GRAPH_C_SOURCE_H
#define BRAMAH_LIB_GRAPH_C_SOURCE_H

#include "lib/graph/tape.h"

/* Text that grows as it is written. Memory that fails leaves `failed` set and the text as it was. */
typedef struct bramah__page {
  char *text; /* terminated; NULL: nothing yet; free() it */
  size_t used, room;
  int failed;
} bramah__page;

/* Append text in which %s stands for a const char *, %d for a size_t, %g for a double, which reads back to the same bits. */
void bramah__page_write(bramah__page *page, const char *format, ...);

/* A text of C in doubles as one in floats: types, constants, and the functions that the text may call. */
void bramah__page_make_single(bramah__page *page);

/* Members of the struct: `name` [n] are inputs of the tape from `first` on, or results of a part from its result `first`
 * on. */
typedef struct bramah__c_member {
  const char *name;
  size_t part; /* of a result */
  size_t first, n;
} bramah__c_member;

/* Parts that are written, in the order of the tape; with each all its ancestors. */
typedef struct bramah__c_part {
  size_t part;
  const char *name;    /* of its function, behind the prefix */
  size_t n_operations; /* out: that are left of the part */
} bramah__c_part;

typedef struct bramah__c_source {
  const char *prefix; /* of functions and of the struct, <prefix>work */
  size_t n_inputs, n_results, n_parts;
  const bramah__c_member *input, *result;
  bramah__c_part *part;
  size_t n_kept; /* out: length of the member `kept`, what one part leaves for another */
} bramah__c_source;

/* Append `static void <prefix><part>(<prefix>work *w) {...}` for each part, and find what is marked as out. The functions
 * call bramah__sincos, bramah__exp, bramah__log and bramah__tanh of elementary.h, sqrt and fabs. Allocates while it
 * works. Returns 0 where memory fails. */
int bramah__c_source_write(const bramah__tape *tape, bramah__c_source *source, bramah__page *page);

/* Append the parts from first up to end as functions on the tape's own registers, behind the text native_text.h.in: each leaves in the registers
 * that last what the machine would leave there. Returns 0 where memory fails. */
int bramah__native_write(const bramah__tape *tape, size_t first, size_t end, bramah__page *page);

#endif
