/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Logs of messages, whatever holds them (MCAP files, bags of ROS 1): topics are groups of columns, their messages rows in
 * the order of log time. topics.c: schemas, channels and their columns; pieces.c: parts of the file in memory, and rows.
 * A container finds its pieces, schemas and channels, then calls bramah__topics_settle; the rest of its functions as a
 * bramah__log_kind are those from here. */
#ifndef BRAMAH_LIB_LOGS_TOPICS_H
#define BRAMAH_LIB_LOGS_TOPICS_H

#include "lib/logs/message.h"

enum {
  BRAMAH__TOPICS_WINDOW = 1 << 18, /* bytes of the file that are looked at together */
  BRAMAH__TOPICS_HELD = 32 << 20,  /* of pieces in memory [bytes] */
  BRAMAH__TOPICS_IDS = 65536       /* of channels and schemas */
};

/* A part of the file that is read at once: a chunk, or records that follow each other. */
typedef struct bramah__piece {
  uint64_t offset, length;
  uint64_t size;        /* of its records, uncompressed [bytes] */
  uint64_t first, last; /* log_time of its messages [ns] */
} bramah__piece;

typedef struct bramah__entry {
  uint64_t time, sent;     /* when it was logged, and sent [ns] */
  uint32_t at, n, channel; /* its data among the bytes of the block */
} bramah__entry;

/* A piece in memory. */
typedef struct bramah__block {
  bramah__piece piece;
  unsigned char *bytes;   /* records, of which the data of messages are kept */
  size_t size, n_kept;    /* records; what is kept of them [bytes] */
  bramah__entry *entries; /* in the order of time */
  size_t n, room, next;
  int is_cut; /* its last record need not be whole */
} bramah__block;

typedef struct bramah__schema_record {
  char *name, *encoding;
  unsigned char *data;
  size_t length;
  int is_compiled;
  bramah__schema schema;
} bramah__schema_record;

typedef struct bramah__channel {
  size_t topic_of; /* the first channel with this topic */
  char *topic;
  unsigned char *metadata; /* keys and values, each after its length of four bytes */
  size_t n_metadata;
  bramah__message_encoding encoding;
  bramah__slot root;
  char *why_not; /* it gives no columns; NULL: it does */
  size_t looked_at;
  int is_empty;    /* it is known to have no messages */
  uint64_t in_row; /* the last row that has a message of it */
} bramah__channel;

/* What a column is called by its topic, and what is left out. */
typedef struct bramah__named_place {
  char *path, unit[64];
  size_t channel, number; /* as it was met */
  size_t leader;          /* the first place of this topic with this path */
  size_t column;          /* of leaders */
  int is_shared;          /* several topics have this path, or it is a name of ours */
  bramah__slot *slot;
} bramah__named_place;

/* Numbers of ids below BRAMAH__TOPICS_IDS, from 1; 0: none. Most files have a few: a table of all would cost more than
 * reading a small file. */
typedef struct bramah__ids {
  uint32_t *of[256]; /* by the high byte of the id: [256], NULL: none */
} bramah__ids;

static inline uint32_t bramah__ids_find(const bramah__ids *ids, unsigned id)
{
  return ids->of[id >> 8] ? ids->of[id >> 8][id & 255] : 0;
}

/* The source of such a reader. */
typedef struct bramah__topics {
  /* The records of a piece, unpacked into the bytes of the block [piece.size]; then its messages among them
   * (bramah__block_add), and with `all` its schemas and channels. */
  bramah_status (*unpack)(bramah_log_reader *reader, const unsigned char *from, bramah__block *block);
  bramah_status (*list)(bramah_log_reader *reader, bramah__block *block, int all);
  const char *how_to_sort; /* such a file */
  int has_sent;            /* messages have a time at which they were sent */

  uint64_t size; /* of the file */
  unsigned char *window;
  uint64_t window_at;
  size_t window_n;

  bramah__schema_record *schemas;
  size_t n_schemas, schema_bytes;
  bramah__channel *channels;
  size_t n_channels, budget;
  bramah__ids of_id, schema_of_id; /* channel and schema of an id */
  size_t n_stated;                 /* channels the file says to have; 0: it does not say */
  bramah__named_place *places;     /* sorted by path, then topic */
  size_t n_places;
  size_t sent, stamp; /* columns `publish_time` and `header.stamp`; SIZE_MAX: none */

  bramah__piece *pieces; /* sorted by time */
  size_t n_pieces, next_piece;
  int is_cut, is_unchecked; /* MCAP: some of its messages have no checksum of their own */
  bramah__block *blocks;    /* a heap: the first one has the earliest message */
  size_t n_blocks, held;
  uint64_t done; /* bytes of pieces that were read */
  int is_over;

  bramah__message message;
  int is_chosen;
  uint64_t row;
  void *zstd;
} bramah__topics;

/* ---- the file ---- */

/* The source. Errors: E_MEMORY, E_FILE. */
bramah_status bramah__topics_open(bramah_log_reader *reader);
void bramah__topics_close(bramah_log_reader *reader);
bramah_status bramah__topics_damaged(bramah_log_reader *reader, uint64_t offset, const char *what);
bramah_status bramah__topics_read(bramah_log_reader *reader, unsigned char *out, uint64_t offset, size_t n);
/* n <= BRAMAH__TOPICS_WINDOW bytes that the file has; they are there until the next call. */
bramah_status bramah__topics_look(bramah_log_reader *reader, uint64_t offset, size_t n,
                                  const unsigned char **out);

/* Numbers, and bytes after their length (of n bytes), of a record. */
typedef struct bramah__content {
  const unsigned char *at, *end;
  int is_short; /* it ended too early */
} bramah__content;

uint64_t bramah__content_number(bramah__content *c, unsigned n);
const unsigned char *bramah__content_bytes(bramah__content *c, unsigned n, size_t *length);

/* ---- what the file has ---- */

/* A text that is given with its length. */
typedef struct bramah__span {
  const unsigned char *at;
  size_t n;
} bramah__span;

/* Records of one id are the same: the first one counts. Errors: E_MEMORY, E_UNSUPPORTED (more than 16 MiB). */
bramah_status bramah__topics_add_schema(bramah_log_reader *reader, unsigned id, bramah__span name,
                                        bramah__span encoding, bramah__span data);
bramah_status bramah__topics_add_channel(bramah_log_reader *reader, unsigned id, unsigned schema,
                                         bramah__span topic, bramah__span encoding, bramah__span metadata);
bramah_status bramah__topics_add_piece(bramah_log_reader *reader, const bramah__piece *piece);
/* All pieces are there: looks at messages, and adds the columns. */
bramah_status bramah__topics_settle(bramah_log_reader *reader);
/* Of topics.c, for pieces.c: the columns. */
bramah_status bramah__topics_add_columns(bramah_log_reader *reader);

/* ---- pieces ---- */

/* n bytes, all if is_whole, into out [size]; *got: how many bytes came of them. Errors: E_UNSUPPORTED. */
bramah_status bramah__topics_unpack(bramah_log_reader *reader, const char *compression,
                                    const unsigned char *from, size_t n, int is_whole, unsigned char *out,
                                    size_t size, size_t *got);
bramah_status bramah__topics_load(bramah_log_reader *reader, const bramah__piece *piece, int all,
                                  bramah__block *block);
void bramah__block_free(bramah__block *block);
/* A message, if it is of a channel that is used; its n bytes are among those of the block. */
bramah_status bramah__block_add(bramah_log_reader *reader, bramah__block *block, int all, unsigned id,
                                uint64_t time, uint64_t sent, const unsigned char *data, size_t n);

/* ---- of bramah__log_kind ---- */

bramah_status bramah__topics_next(bramah_log_reader *reader, int *end);
void bramah__topics_describe(const bramah_log_reader *reader, bramah_log_info *info);
size_t bramah__topics_stand_in(const bramah_log_reader *reader, const char *name);
const char *bramah__topics_why_not(const bramah_log_reader *reader, const char *name);

#endif
