/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files of ASAM MDF 4 ("ASAM MDF 4.2 Base Standard"; version 4.3 where blocks are those of before): everything is a block of an
 * identifier, its length, links to other blocks (places in the file, 0: none) and data, in little endian. */
#ifndef BRAMAH_LIB_LOGS_MDF_H
#define BRAMAH_LIB_LOGS_MDF_H

#include "lib/logs/reader.h"

#include <string.h>

enum {
  MDF_ID_SIZE = 64,
  MDF_HEAD = 24
}; /* bytes of the first block, and before the links of every other one */
/* The first block ends with two words of 16 bits: what was left undone by who wrote an unfinished file. */
enum {
  MDF_UNFINISHED_AT = 60,
  MDF_NO_CYCLES = 1,
  MDF_NO_DATA_LENGTH = 4,
  MDF_NO_LIST_LENGTH = 16,
  MDF_NO_PLACES = 64 /* of data of any length among the records */
};
enum {
  MDF_CHANNEL_VALUE = 0,
  MDF_CHANNEL_VLSD = 1,
  MDF_CHANNEL_MASTER = 2,
  MDF_CHANNEL_VIRTUAL_MASTER = 3,
  MDF_CHANNEL_MLSD = 5,
  MDF_CHANNEL_VIRTUAL = 6
};
enum { MDF_SYNC_TIME = 1 };
enum { MDF_UNSIGNED = 0, MDF_SIGNED = 2, MDF_FLOAT = 4 }; /* odd ones: big endian */

static inline uint64_t bramah__mdf_word(const unsigned char *b, int n)
{
  uint64_t x = 0;
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
  if (n == 8) return memcpy(&x, b, 8), x; /* what nearly all numbers of logs are */
  if (n == 4) return memcpy(&x, b, 4), x;
#endif
  for (int i = n; i-- > 0;) x = x << 8 | b[i];
  return x;
}

static inline double bramah__mdf_double(const unsigned char *b)
{
  const uint64_t bits = bramah__mdf_word(b, 8);
  double x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

/* ---- data (mdf_data.c): records that lie in one block, or in many of a list, plain or compressed ---- */

typedef struct bramah__mdf_file {
  int fd;
  uint64_t size;
  int unfinished; /* flags of its first block; 0: it is finished */
  uint64_t last;  /* the place of the last block that is known */
  size_t memory;  /* that all data have asked for [bytes] */
  size_t piece;   /* bytes that each of them reads at once */
} bramah__mdf_file;

/* Bytes of the file; 0 if it does not have them. */
int bramah__mdf_get(const bramah__mdf_file *file, uint64_t at, void *out, size_t n);

/* The bytes of a group's records one after the other, in memory that does not grow with them. */
typedef struct bramah__mdf_data {
  bramah__mdf_file *file;
  int second; /* 1: of lists of values and invalidation bits the latter */
  /* The list of blocks: its next one, and what is left of this one. */
  uint64_t next_list, link_at, second_at, n_links;
  uint64_t seen; /* bytes of the file that were visited: more than it has is a circle */
  /* The block that is being read: bytes of the file, and what they make. */
  int is_packed, columns;
  uint64_t at, left, to_come;
  /* What undoes a compression: its kind, its own state and the bytes counted for it, packed bytes that wait. */
  const struct bramah__mdf_packing *packing;
  void *unpacker;
  size_t taken;
  unsigned char *packed;
  size_t packed_at, n_packed;
  /* Bytes that wait. */
  unsigned char *buffer;
  size_t room, begin, end;
  int is_cut;        /* the file ends within a block, or before it */
  const char *wrong; /* why no more can be had, NULL: they ended */
  bramah_status status;
} bramah__mdf_data;

void bramah__mdf_data_begin(bramah__mdf_data *data, bramah__mdf_file *file, uint64_t block, int second);
void bramah__mdf_data_end(bramah__mdf_data *data);
/* The next n bytes, which stay until the next call; NULL: there are fewer (see `wrong`). They are not passed. */
const unsigned char *bramah__mdf_data_look(bramah__mdf_data *data, size_t n);
/* Pass n bytes; 0 if there are fewer. */
int bramah__mdf_data_pass(bramah__mdf_data *data, uint64_t n);

#endif
