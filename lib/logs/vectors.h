/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Logs that hold whole vectors, each group of them with a time of its own: MAT files and HDF5. The format finds the
 * vectors and reads blocks of them; what is a column, what its time is, and rows by time are here (vectors.c). */
#ifndef BRAMAH_LIB_LOGS_VECTORS_H
#define BRAMAH_LIB_LOGS_VECTORS_H

#include "lib/logs/reader.h"

#include <stdint.h>

enum { BRAMAH__WIDEST = 256, BRAMAH__BLOCK = 8192 }; /* columns of a matrix; rows read at once */

typedef enum bramah__element {
  BRAMAH__F64,
  BRAMAH__F32,
  BRAMAH__I8,
  BRAMAH__U8,
  BRAMAH__I16,
  BRAMAH__U16,
  BRAMAH__I32,
  BRAMAH__U32,
  BRAMAH__I64,
  BRAMAH__U64
} bramah__element;

/* A column: a variable, a field of a struct, a column of a matrix. */
typedef struct bramah__vector {
  char *name, *unit; /* unit "": none is stated */
  void *source;      /* the format's own */
  size_t group;
  size_t first, stride, n; /* elements of the source */
  bramah__element element;
  int whole;     /* it can be read as a whole only */
  int is_time;   /* of its group */
  char *why_not; /* it is no column; NULL: it is one */
  /* The rows that are in memory. */
  unsigned char *raw;
  size_t begin, count;
} bramah__vector;

/* Vectors of one length that share a time. */
typedef struct bramah__vector_group {
  char *name;
  size_t time; /* index of its vector; SIZE_MAX: none was found */
  size_t n;    /* rows */
  size_t row;  /* the next one */
} bramah__vector_group;

/* The beginning of the reader's source. */
typedef struct bramah__vectors {
  bramah__vector *list;
  size_t n;
  bramah__vector_group *group;
  size_t n_groups;
  unsigned char *here; /* [groups] they have the present row */
  size_t *of_column;   /* [columns] its vector; SIZE_MAX: the time of several groups */
  int row;             /* given last */
  uint64_t rows, all_rows;
  /* Elements first + (begin + i) * stride, for i below count, into raw; 0: they cannot be read. */
  int (*read)(bramah_log_reader *reader, bramah__vector *v);
} bramah__vectors;

size_t bramah__element_size(bramah__element element);
/* Room for one more: NULL where there is none. */
void *bramah__vectors_grow(void *list, size_t n, size_t size);
/* Names of times in the order in which they are looked for, NULL behind the last one. */
const char *bramah__time_name(size_t k);
/* Is a vector of this name (its last part) taken for the time of its group? */
int bramah__is_time_name(const char *name);
/* "seconds" is "s", as units of time are written out; other texts are as they are. */
const char *bramah__unit_of_time(const char *text);
/* NULL: no memory. */
bramah__vector *bramah__vectors_add(bramah__vectors *all, const char *name, const char *unit, void *source,
                                    size_t group);
/* It is no column; the first reason counts. */
void bramah__vectors_refuse(bramah__vector *v, const char *format, ...) BRAMAH__PRINTF(2, 3);
/* SIZE_MAX: no memory. */
size_t bramah__vectors_new_group(bramah__vectors *all, const char *name);
/* All vectors are there: find the times of groups that have none, and make the columns. Errors: E_MEMORY, E_KEY, E_UNIT,
 * E_EMPTY. */
bramah_status bramah__vectors_settle(bramah_log_reader *reader);
void bramah__vectors_free(bramah__vectors *all);
/* Share of the rows that were given. */
double bramah__vectors_share(const bramah__vectors *all);

/* Of the kind: next, stand_in, why_not. */
bramah_status bramah__vectors_next(bramah_log_reader *reader, int *end);
size_t bramah__vectors_stand_in(const bramah_log_reader *reader, const char *name);
const char *bramah__vectors_why_not(const bramah_log_reader *reader, const char *name);

/* HDF5 is used between these two. It prints what it does not like unless it is asked not to, and may be built without
 * safety for threads: then, and always, one of ours uses it at a time (hdf5.c). */
typedef struct bramah__hdf5_use {
  void (*print)(void); /* an H5E_auto2_t */
  void *to;
} bramah__hdf5_use;
void bramah__hdf5_begin(bramah__hdf5_use *use);
void bramah__hdf5_end(const bramah__hdf5_use *use);
/* Objects of MATLAB in a file of version 7.3. */
void bramah__hdf5_find_objects(const bramah_log_reader *reader, bramah__mat_about *about);

#endif
