/* SPDX-License-Identifier: GPL-3.0-or-later */
/* MCAP files as logs: topics are groups of columns, their messages rows in the order of log_time. What a file says about
 * itself in its summary is used for the channels only; where the chunks are is found by going from record to record, which
 * works for files that were cut, too. Pieces of the file (a chunk, or records that follow each other) are in memory while
 * their times are due. */
#define _GNU_SOURCE /* qsort with strings, pread, strndup */
#include "lib/logs/mcap.h"
#include "lib/logs/reader.h"

#include <string.h>

static int takes(const char *path, const unsigned char *head, size_t n)
{
  (void)path;
  return n >= BRAMAH__MCAP_MARK && memcmp(head, BRAMAH__MCAP_MAGIC, BRAMAH__MCAP_MARK) == 0;
}

#ifdef BRAMAH_ZLIB
#include "lib/logs/message.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#ifdef BRAMAH_ZSTD
#include <zstd.h>
#endif
#ifdef BRAMAH_LZ4
#include <lz4frame.h>
#endif

enum {
  WINDOW = 1 << 18,         /* bytes of the file that are looked at together */
  PIECE = 1 << 18,          /* small chunks and single messages are put together up to this, */
  PIECE_SIZE = 1 << 20,     /* or up to this, uncompressed */
  MOST_HELD = 32 << 20,     /* of pieces in memory [bytes] */
  LONGEST_RECORD = 8 << 20, /* of schemas and channels */
  MOST_SCHEMAS = 16 << 20,  /* of all schemas together [bytes] */
  MOST_COLUMNS = 10000,
  LOOKED_AT = 64, /* messages of a channel that show the length of its arrays */
  LONGEST_COMPRESSION = 16
};

/* A part of the file that is read at once: a chunk, or records that follow each other. */
typedef struct piece {
  uint64_t offset, length;
  uint64_t size;        /* of its records, uncompressed [bytes] */
  uint64_t first, last; /* log_time of its messages */
} piece;

typedef struct entry {
  uint64_t time;
  uint32_t at; /* of the record among the bytes */
} entry;

/* A piece in memory. */
typedef struct block {
  unsigned char *bytes;
  entry *entries;
  size_t n, next, size;
  uint64_t offset; /* of the piece, for the order of equal times */
  int is_cut;      /* its last record need not be whole */
} block;

typedef struct schema_record {
  int id;
  char *name, *encoding;
  unsigned char *data;
  size_t length;
  int is_compiled;
  bramah__schema schema;
} schema_record;

typedef struct channel {
  int id;
  size_t topic_of; /* the first channel with this topic */
  char *topic, *metadata;
  size_t n_metadata;
  bramah__message_encoding encoding;
  bramah__slot root;
  char *why_not; /* it gives no columns; NULL: it does */
  size_t looked_at;
  int is_empty;    /* the statistics say so */
  uint64_t in_row; /* the last row that has a message of it */
} channel;

/* What a column is called by its topic, and what is left out. */
typedef struct place {
  char *path, unit[64];
  size_t channel, number; /* as it was met */
  bramah__slot *slot;
} place;

typedef struct mcap {
  uint64_t size; /* of the file */
  unsigned char *window;
  uint64_t window_at;
  size_t window_n;

  schema_record *schemas;
  size_t n_schemas, schema_bytes;
  channel *channels;
  size_t n_channels, budget;
  int32_t of_id[65536], schema_of_id[65536]; /* channel and schema of an id; -1: none */
  uint32_t n_stated;                         /* channels of the statistics; 0: there are none */
  place *places;                             /* sorted by path, then topic */
  size_t n_places;
  size_t stamp; /* column `header.stamp`; SIZE_MAX: none */

  piece *pieces; /* sorted by time */
  size_t n_pieces, next_piece;
  int is_unchecked, is_cut; /* some of its messages have no checksum of their own */
  block *blocks;
  size_t n_blocks, held;
  uint64_t done; /* bytes of pieces that were read */
  int is_over;

  bramah__message message;
  int is_chosen;
  uint64_t row;
#ifdef BRAMAH_ZSTD
  ZSTD_DCtx *zstd;
#endif
} mcap;

static void *grow(void *list, size_t n, size_t size)
{
  return n & (n - 1) ? list : realloc(list, (n ? 2 * n : 1) * size); /* whenever n is a power of two */
}

static bramah_status damaged(bramah_log_reader *reader, uint64_t offset, const char *what)
{
  return bramah__log_fail(reader, BRAMAH_E_TRUNCATED, NULL, 0, 0, "the file is damaged at byte %llu: %s",
                          (unsigned long long)offset, what);
}

/* ---- bytes of the file ---- */

static bramah_status read_at(bramah_log_reader *reader, unsigned char *out, uint64_t offset, size_t n)
{
  for (size_t done = 0; done < n;) {
    const ssize_t got = pread(reader->fd, out + done, n - done, (off_t)(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return bramah__log_fail_system(reader, "cannot read: ", errno);
    if (got == 0) return damaged(reader, offset + done, "the file has become shorter while it was read");
    done += (size_t)got;
  }
  return BRAMAH_OK;
}

/* n <= WINDOW bytes that the file has. */
static bramah_status look(bramah_log_reader *reader, uint64_t offset, size_t n, const unsigned char **out)
{
  mcap *m = reader->source;
  if (offset < m->window_at || offset + n > m->window_at + m->window_n) {
    const uint64_t left = m->size - offset;
    m->window_at = offset;
    m->window_n = 0;
    const bramah_status status = read_at(reader, m->window, offset, left < WINDOW ? (size_t)left : WINDOW);
    if (status) return status;
    m->window_n = left < WINDOW ? (size_t)left : WINDOW;
  }
  *out = m->window + (offset - m->window_at);
  return BRAMAH_OK;
}

/* ---- content of records ---- */

typedef struct content {
  const unsigned char *at, *end;
  int is_short; /* it ended too early */
} content;

static uint64_t number(content *c, unsigned n)
{
  if ((size_t)(c->end - c->at) < n) return c->is_short = 1, 0;
  const unsigned char *at = c->at;
  c->at += n;
  return bramah__mcap_number(at, n);
}

/* Bytes after their length, which has n bytes itself. */
static const unsigned char *bytes(content *c, unsigned n, size_t *length)
{
  const uint64_t all = number(c, n);
  *length = 0;
  if (c->is_short || all > (uint64_t)(c->end - c->at)) return c->is_short = 1, c->at;
  const unsigned char *at = c->at;
  c->at += all;
  *length = (size_t)all;
  return at;
}

static char *text(content *c)
{
  size_t n;
  const unsigned char *at = bytes(c, 4, &n);
  return strndup((const char *)at, n);
}

/* ---- schemas and channels ---- */

/* Records of one id are the same: the first one counts. */
static bramah_status add_schema(bramah_log_reader *reader, const unsigned char *at, size_t n)
{
  mcap *m = reader->source;
  content c = {.at = at, .end = at + n};
  const int id = (int)number(&c, 2);
  if (!id || m->schema_of_id[id] >= 0) return BRAMAH_OK;
  schema_record *list = grow(m->schemas, m->n_schemas, sizeof *list);
  if (!list) return bramah__log_fail_memory(reader);
  m->schemas = list;
  schema_record *s = &list[m->n_schemas];
  *s = (schema_record){.id = id};
  s->name = text(&c);
  s->encoding = text(&c);
  const unsigned char *data = bytes(&c, 4, &s->length);
  s->data = malloc(s->length + 1);
  m->schema_of_id[id] = (int32_t)m->n_schemas++;
  if (!s->name || !s->encoding || !s->data) return bramah__log_fail_memory(reader);
  memcpy(s->data, data, s->length);
  m->schema_bytes += s->length;
  if (m->schema_bytes > MOST_SCHEMAS)
    return bramah__log_fail(reader, BRAMAH_E_UNSUPPORTED, NULL, 0, 0,
                            "the schemas and channels have more than 16 MiB");
  return BRAMAH_OK;
}

/* Types of a schema, once. 0: no memory. */
static int compile(schema_record *s)
{
  if (s->is_compiled) return 1;
  s->is_compiled = 1;
  const char *data = (const char *)s->data;
  int done = 1;
  if (strcmp(s->encoding, "ros2msg") == 0 || strcmp(s->encoding, "ros1msg") == 0)
    done = bramah__schema_ros(&s->schema, s->name, data, s->length);
  if (strcmp(s->encoding, "ros2idl") == 0 || strcmp(s->encoding, "omgidl") == 0)
    done = bramah__schema_idl(&s->schema, s->name, data, s->length);
  if (strcmp(s->encoding, "protobuf") == 0)
    done = bramah__schema_protobuf(&s->schema, s->name, s->data, s->length);
  return done || s->schema.why_not[0]; /* too much of it is no lack of memory */
}

static const struct {
  const char *message, *schema;
  bramah__message_encoding encoding;
} encodings[] = {
    {"json", NULL, BRAMAH__MESSAGE_JSON},      {"cdr", "ros2msg", BRAMAH__MESSAGE_CDR},
    {"cdr", "ros2idl", BRAMAH__MESSAGE_CDR},   {"cdr", "omgidl", BRAMAH__MESSAGE_CDR},
    {"ros1", "ros1msg", BRAMAH__MESSAGE_ROS1}, {"protobuf", "protobuf", BRAMAH__MESSAGE_PROTOBUF}};

/* Its slots, or why it has none. 0: no memory. */
static int prepare(mcap *m, channel *ch, schema_record *s, const char *encoding)
{
  char why[256] = "";
  size_t k = 0;
  const size_t n = sizeof encodings / sizeof encodings[0];
  while (k < n && (strcmp(encodings[k].message, encoding) != 0 ||
                   (encodings[k].schema && (!s || strcmp(encodings[k].schema, s->encoding) != 0))))
    k++;
  int done = 1;
  if (k == n && !s)
    snprintf(why, sizeof why, "has messages in '%.40s' without a schema: only JSON is read so", encoding);
  else if (k == n)
    snprintf(why, sizeof why,
             "has messages in '%.40s' with a schema in '%.40s': read are cdr (ros2msg, ros2idl), ros1, "
             "protobuf and json",
             encoding, s->encoding);
  else if (encodings[k].encoding == BRAMAH__MESSAGE_JSON)
    done = bramah__slot_json(&ch->root, s ? (const char *)s->data : "", s ? s->length : 0, &m->budget);
  else
    done = compile(s);
  if (k < n) ch->encoding = encodings[k].encoding;
  if (done && k < n && ch->encoding != BRAMAH__MESSAGE_JSON) {
    snprintf(why, sizeof why, "%s", s->schema.why_not);
    if (!why[0]) done = bramah__slot_make(&ch->root, s->schema.root, &m->budget);
  }
  if (why[0]) ch->why_not = strdup(why);
  return done && (!why[0] || ch->why_not);
}

static bramah_status add_channel(bramah_log_reader *reader, const unsigned char *at, size_t n)
{
  mcap *m = reader->source;
  content c = {.at = at, .end = at + n};
  const int id = (int)number(&c, 2), schema = (int)number(&c, 2);
  if (c.is_short || m->of_id[id] >= 0) return BRAMAH_OK;
  channel *list = grow(m->channels, m->n_channels, sizeof *list);
  if (!list) return bramah__log_fail_memory(reader);
  m->channels = list;
  channel *ch = &list[m->n_channels];
  *ch = (channel){.id = id, .topic_of = m->n_channels, .topic = text(&c)};
  char *encoding = text(&c);
  const unsigned char *metadata = bytes(&c, 4, &ch->n_metadata);
  ch->metadata = malloc(ch->n_metadata + 1);
  m->of_id[id] = (int32_t)m->n_channels++;
  schema_record *s = m->schema_of_id[schema] >= 0 ? &m->schemas[m->schema_of_id[schema]] : NULL;
  const int done = ch->topic && encoding && ch->metadata && prepare(m, ch, s, encoding);
  free(encoding);
  if (!done) return bramah__log_fail_memory(reader);
  memcpy(ch->metadata, metadata, ch->n_metadata);
  m->schema_bytes += ch->n_metadata;
  if (m->schema_bytes > MOST_SCHEMAS)
    return bramah__log_fail(reader, BRAMAH_E_UNSUPPORTED, NULL, 0, 0,
                            "the schemas and channels have more than 16 MiB");
  return BRAMAH_OK;
}

static int by_topic(const void *a, const void *b, void *user)
{
  const channel *list = user;
  const size_t x = *(const size_t *)a, y = *(const size_t *)b;
  const int topic = strcmp(list[x].topic, list[y].topic);
  return topic ? topic : (x > y) - (x < y);
}

/* Which channels have the same topic. 0: no memory. */
static int join_topics(mcap *m)
{
  size_t *order = malloc((m->n_channels + 1) * sizeof *order);
  if (!order) return 0;
  for (size_t i = 0; i < m->n_channels; i++) order[i] = i;
  qsort_r(order, m->n_channels, sizeof *order, by_topic, m->channels);
  for (size_t i = 1; i < m->n_channels; i++) {
    const channel *before = &m->channels[order[i - 1]];
    if (strcmp(before->topic, m->channels[order[i]].topic) == 0)
      m->channels[order[i]].topic_of = before->topic_of;
  }
  free(order);
  return 1;
}

/* How many channels there are, and which have no message. */
static void read_statistics(mcap *m, const unsigned char *at, size_t n)
{
  content c = {.at = at, .end = at + n};
  size_t length;
  number(&c, 8), number(&c, 2);
  const uint32_t n_channels = (uint32_t)number(&c, 4);
  number(&c, 8), number(&c, 4), number(&c, 8), number(&c, 8);
  const unsigned char *counts = bytes(&c, 4, &length);
  if (c.is_short) return;
  m->n_stated = n_channels;
  for (size_t i = 0; length && i < m->n_channels; i++) m->channels[i].is_empty = 1;
  for (size_t k = 0; k + 10 <= length; k += 10) {
    const int32_t of = m->of_id[bramah__mcap_number(counts + k, 2)];
    if (of >= 0 && bramah__mcap_number(counts + k + 2, 8)) m->channels[of].is_empty = 0;
  }
}

/* ---- which pieces the file has ---- */

static bramah_status add_piece(bramah_log_reader *reader, const piece *p)
{
  mcap *m = reader->source;
  piece *last = m->n_pieces ? &m->pieces[m->n_pieces - 1] : NULL;
  const uint64_t end = p->offset + p->length;
  if (last && end - last->offset <= PIECE && last->size + p->size <= PIECE_SIZE) { /* one after the other */
    last->length = end - last->offset;
    last->size += p->size;
    if (p->first < last->first) last->first = p->first;
    if (p->last > last->last) last->last = p->last;
    return BRAMAH_OK;
  }
  piece *list = grow(m->pieces, m->n_pieces, sizeof *list);
  if (!list) return bramah__log_fail_memory(reader);
  m->pieces = list;
  list[m->n_pieces++] = *p;
  return BRAMAH_OK;
}

/* A chunk, as its first bytes have it; 0: it is too short. */
typedef struct chunk {
  uint64_t first, last, size;
  uint32_t crc;
  char compression[LONGEST_COMPRESSION];
  const unsigned char *records;
  uint64_t n; /* bytes of the records, compressed */
} chunk;

static int read_chunk(const unsigned char *at, size_t n, chunk *out)
{
  content c = {.at = at, .end = at + n};
  size_t length;
  out->first = number(&c, 8);
  out->last = number(&c, 8);
  out->size = number(&c, 8);
  out->crc = (uint32_t)number(&c, 4);
  const unsigned char *name = bytes(&c, 4, &length);
  snprintf(out->compression, sizeof out->compression, "%.*s", (int)(length < 15 ? length : 15),
           (const char *)name);
  out->n = number(&c, 8);
  out->records = c.at;
  return !c.is_short;
}

enum { CHUNK_HEAD = 8 + 8 + 8 + 4 + 4 + 64 + 8 };

/* A record that holds messages. `left`: what the file has of its content. */
static bramah_status take_data(bramah_log_reader *reader, int code, uint64_t offset, uint64_t left)
{
  mcap *m = reader->source;
  const unsigned char *at;
  const uint64_t begin = offset + BRAMAH__MCAP_TAG;
  piece p = {.offset = offset, .length = BRAMAH__MCAP_TAG + left, .size = BRAMAH__MCAP_TAG + left};
  if (code == BRAMAH__MCAP_MESSAGE) {
    if (left < BRAMAH__MCAP_MESSAGE_HEAD) return BRAMAH_OK;
    const bramah_status status = look(reader, begin, BRAMAH__MCAP_MESSAGE_HEAD, &at);
    if (status) return status;
    p.first = p.last = bramah__mcap_number(at + 6, 8);
    m->is_unchecked = 1;
    return add_piece(reader, &p);
  }
  chunk c;
  const size_t n = left < CHUNK_HEAD ? (size_t)left : CHUNK_HEAD;
  const bramah_status status = look(reader, begin, n, &at);
  if (status) return status;
  if (!read_chunk(at, n, &c))
    return left < CHUNK_HEAD && left + begin == m->size
               ? BRAMAH_OK
               : damaged(reader, offset, "there is no chunk of messages in its record");
  m->is_unchecked |= !c.crc;
  p.first = c.first;
  p.last = c.last;
  p.size = c.size;
  return add_piece(reader, &p);
}

/* A record whose content is needed whole. */
static bramah_status take_record(bramah_log_reader *reader, int code, uint64_t offset, uint64_t length)
{
  mcap *m = reader->source;
  const unsigned char *at = NULL;
  unsigned char *copy = NULL;
  bramah_status status = BRAMAH_OK;
  if (length > LONGEST_RECORD)
    return bramah__log_fail(
        reader, BRAMAH_E_UNSUPPORTED, NULL, 0, 0,
        "the record at byte %llu has %llu bytes: schemas and channels of at most 8 MiB are read",
        (unsigned long long)offset, (unsigned long long)length);
  if (length <= WINDOW) {
    status = look(reader, offset + BRAMAH__MCAP_TAG, (size_t)length, &at);
  } else {
    at = copy = malloc((size_t)length);
    status = copy ? read_at(reader, copy, offset + BRAMAH__MCAP_TAG, (size_t)length)
                  : bramah__log_fail_memory(reader);
  }
  if (!status && code == BRAMAH__MCAP_SCHEMA) status = add_schema(reader, at, (size_t)length);
  if (!status && code == BRAMAH__MCAP_CHANNEL) status = add_channel(reader, at, (size_t)length);
  if (!status && code == BRAMAH__MCAP_STATISTICS) read_statistics(m, at, (size_t)length);
  free(copy);
  return status;
}

/* CRC-32 of a part of the file. */
static bramah_status check_sum(bramah_log_reader *reader, uint64_t begin, uint64_t end, uint32_t *crc)
{
  uLong sum = crc32(0, NULL, 0);
  for (uint64_t at = begin; at < end;) {
    const unsigned char *from;
    const size_t n = end - at < WINDOW ? (size_t)(end - at) : WINDOW;
    const bramah_status status = look(reader, at, n, &from);
    if (status) return status;
    sum = crc32(sum, from, (uInt)n);
    at += n;
  }
  *crc = (uint32_t)sum;
  return BRAMAH_OK;
}

/* What is between DataEnd and the end of the file is used if its checksum is right. */
static bramah_status check_summary(bramah_log_reader *reader, uint64_t begin, int *is_good)
{
  const mcap *m = reader->source;
  const uint64_t tail = BRAMAH__MCAP_TAG + BRAMAH__MCAP_FOOTER_SIZE + BRAMAH__MCAP_MARK;
  const unsigned char *at;
  uint32_t is;
  *is_good = 0;
  if (m->size < begin + tail) return BRAMAH_OK;
  const uint64_t footer = m->size - tail;
  bramah_status status = look(reader, footer, (size_t)tail, &at);
  if (status || at[0] != BRAMAH__MCAP_FOOTER) return status;
  at += BRAMAH__MCAP_TAG;
  const uint64_t start = bramah__mcap_number(at, 8);
  const uint32_t crc = (uint32_t)bramah__mcap_number(at + 16, 4);
  *is_good = start ? start >= begin && start <= footer : 1;
  if (!crc || !*is_good) return BRAMAH_OK;
  status = check_sum(reader, start ? start : footer, footer + BRAMAH__MCAP_TAG + 16, &is);
  *is_good = is == crc;
  return status;
}

/* The end of the data. Chunks may have checksums of their own; where one has not, that of all of the data counts. */
static bramah_status end_data(bramah_log_reader *reader, uint64_t offset, int *goes_on)
{
  const mcap *m = reader->source;
  const unsigned char *at;
  uint32_t is;
  bramah_status status = look(reader, offset + BRAMAH__MCAP_TAG, 4, &at);
  const uint32_t crc = status ? 0 : (uint32_t)bramah__mcap_number(at, 4);
  if (crc && m->is_unchecked) {
    status = check_sum(reader, 0, offset, &is);
    if (!status && is != crc) status = damaged(reader, offset, "the checksum of its data is wrong");
  }
  return status ? status : check_summary(reader, offset, goes_on);
}

/* Once through the file, from record to record. */
static bramah_status scan(bramah_log_reader *reader)
{
  mcap *m = reader->source;
  uint64_t offset = BRAMAH__MCAP_MARK;
  bramah_status status = BRAMAH_OK;
  int goes_on = 1, in_data = 1;
  const unsigned char *magic = NULL;
  if (m->size >= BRAMAH__MCAP_MARK) status = look(reader, 0, BRAMAH__MCAP_MARK, &magic);
  if (!status && (!magic || memcmp(magic, BRAMAH__MCAP_MAGIC, BRAMAH__MCAP_MARK) != 0))
    return bramah__log_fail(reader, BRAMAH_E_SYNTAX, NULL, 0, 0,
                            "this is no MCAP file, whatever its name says: it does not begin as one");
  m->is_cut = 1;
  while (!status && goes_on && m->size - offset >= BRAMAH__MCAP_TAG) {
    const unsigned char *at;
    status = look(reader, offset, BRAMAH__MCAP_TAG, &at);
    if (status) break;
    const int code = at[0];
    const uint64_t length = bramah__mcap_number(at + 1, 8), left = m->size - offset - BRAMAH__MCAP_TAG;
    const int is_whole = length <= left,
              has_data = code == BRAMAH__MCAP_MESSAGE || code == BRAMAH__MCAP_CHUNK;
    if (code == 0) return damaged(reader, offset, "there is no record");
    if (has_data && in_data && (is_whole || code == BRAMAH__MCAP_CHUNK))
      status = take_data(reader, code, offset, is_whole ? length : left);
    if (!is_whole || status) break;
    if (code == BRAMAH__MCAP_SCHEMA || code == BRAMAH__MCAP_CHANNEL || code == BRAMAH__MCAP_STATISTICS)
      status = take_record(reader, code, offset, length);
    if (code == BRAMAH__MCAP_DATA_END && in_data && length >= 4) {
      status = end_data(reader, offset, &goes_on);
      in_data = m->is_cut = 0;
    }
    if (code == BRAMAH__MCAP_FOOTER) {
      m->is_cut = 0;
      break;
    }
    offset += BRAMAH__MCAP_TAG + length;
  }
  return status;
}

/* ---- pieces in memory ---- */

/* Records of a chunk, uncompressed, into out [size]. *got: how many bytes; fewer only if the chunk was cut. */
static bramah_status unpack(bramah_log_reader *reader, const chunk *c, uint64_t left, unsigned char *out,
                            size_t *got)
{
  const size_t n = (size_t)(c->n < left ? c->n : left), size = (size_t)c->size;
  *got = 0;
  if (!c->compression[0]) {
    *got = n < size ? n : size;
    memcpy(out, c->records, *got);
    return BRAMAH_OK;
  }
#ifdef BRAMAH_ZSTD
  if (strcmp(c->compression, "zstd") == 0) {
    mcap *m = reader->source;
    if (!m->zstd) m->zstd = ZSTD_createDCtx();
    if (!m->zstd) return bramah__log_fail_memory(reader);
    ZSTD_DCtx_reset(m->zstd, ZSTD_reset_session_and_parameters);
    if (n == c->n) {
      const size_t done = ZSTD_decompressDCtx(m->zstd, out, size, c->records, n);
      *got = ZSTD_isError(done) ? 0 : done;
      return BRAMAH_OK;
    }
    ZSTD_DCtx_setParameter(m->zstd, ZSTD_d_windowLogMax, 23);
    ZSTD_inBuffer from = {c->records, n, 0};
    ZSTD_outBuffer to = {out, size, 0};
    for (size_t before = 1; from.pos < from.size && before != from.pos + to.pos;) {
      before = from.pos + to.pos;
      if (ZSTD_isError(ZSTD_decompressStream(m->zstd, &to, &from))) break;
    }
    *got = to.pos;
    return BRAMAH_OK;
  }
#endif
#ifdef BRAMAH_LZ4
  if (strcmp(c->compression, "lz4") == 0) {
    LZ4F_dctx *lz4;
    if (LZ4F_isError(LZ4F_createDecompressionContext(&lz4, LZ4F_VERSION)))
      return bramah__log_fail_memory(reader);
    for (size_t from = 0; from < n;) {
      size_t in = n - from, room = size - *got;
      const size_t hint = LZ4F_decompress(lz4, out + *got, &room, c->records + from, &in, NULL);
      if (LZ4F_isError(hint)) break;
      from += in;
      *got += room;
      if (!in && !room) break;
    }
    LZ4F_freeDecompressionContext(lz4);
    return BRAMAH_OK;
  }
#endif
  const int is_known = strcmp(c->compression, "zstd") == 0 || strcmp(c->compression, "lz4") == 0;
  return bramah__log_fail(
      reader, BRAMAH_E_UNSUPPORTED, NULL, 0, 0,
      is_known ? "chunks of the file are compressed with %s, without which bramah was built: build it "
                 "again with lib%s-dev installed, or write the file without compression"
               : "chunks of the file are compressed with '%s': read are zstd and lz4",
      c->compression, c->compression);
}

/* Equal times stay in the order of the file. */
static int by_entry(const void *a, const void *b)
{
  const entry *x = a, *y = b;
  if (x->time != y->time) return x->time < y->time ? -1 : 1;
  return (x->at > y->at) - (x->at < y->at);
}

/* The messages of the records of a block, in the order of time; with `all` schemas and channels are taken, else only
 * messages with columns that are used, and the others make room. */
static bramah_status list_messages(bramah_log_reader *reader, block *b, const piece *p, int all)
{
  mcap *m = reader->source;
  size_t kept = 0, room = 0;
  int is_sorted = 1;
  for (size_t at = 0; b->size - at >= BRAMAH__MCAP_TAG;) {
    unsigned char *record = b->bytes + at;
    const uint64_t length = bramah__mcap_number(record + 1, 8);
    if (length > b->size - at - BRAMAH__MCAP_TAG) {
      if (b->is_cut) break;
      return damaged(reader, p->offset, "a record is longer than the chunk that holds it");
    }
    const size_t n = BRAMAH__MCAP_TAG + (size_t)length;
    const unsigned char *data = record + BRAMAH__MCAP_TAG;
    at += n;
    bramah_status status = BRAMAH_OK;
    if (all && record[0] == BRAMAH__MCAP_SCHEMA) status = add_schema(reader, data, (size_t)length);
    if (all && record[0] == BRAMAH__MCAP_CHANNEL) status = add_channel(reader, data, (size_t)length);
    if (status) return status;
    if (record[0] != BRAMAH__MCAP_MESSAGE || length < BRAMAH__MCAP_MESSAGE_HEAD) continue;
    const int32_t of = m->of_id[bramah__mcap_number(data, 2)];
    if (of < 0 || (!all && !m->channels[of].root.is_wanted)) continue;
    const uint64_t time = bramah__mcap_number(data + 6, 8);
    if (time < p->first || time > p->last)
      return damaged(reader, p->offset, "a chunk holds a message from outside the times it states");
    if (b->n == room) {
      room = room ? 2 * room : 1024;
      entry *entries = realloc(b->entries, room * sizeof *entries);
      if (!entries) return bramah__log_fail_memory(reader);
      b->entries = entries;
    }
    if (b->n && b->entries[b->n - 1].time > time) is_sorted = 0;
    b->entries[b->n++] = (entry){.time = time, .at = (uint32_t)kept};
    if (b->bytes + kept != record) memmove(b->bytes + kept, record, n);
    kept += n;
  }
  if (!is_sorted) qsort(b->entries, b->n, sizeof *b->entries, by_entry);
  if (kept < b->size / 2) {
    unsigned char *less = realloc(b->bytes, kept + 1);
    if (less) b->bytes = less;
    b->size = kept;
  }
  return BRAMAH_OK;
}

/* The uncompressed records of a piece, which is in memory. */
static bramah_status unpack_piece(bramah_log_reader *reader, const unsigned char *from, const piece *p,
                                  block *b)
{
  for (uint64_t at = 0; p->length - at >= BRAMAH__MCAP_TAG;) {
    const int code = from[at];
    const uint64_t length = bramah__mcap_number(from + at + 1, 8), left = p->length - at - BRAMAH__MCAP_TAG;
    const uint64_t has = length < left ? length : left;
    const unsigned char *data = from + at + BRAMAH__MCAP_TAG;
    const size_t room = (size_t)p->size - b->size;
    chunk c;
    size_t got;
    if (code == BRAMAH__MCAP_MESSAGE && length <= left && room >= BRAMAH__MCAP_TAG + length) {
      memcpy(b->bytes + b->size, from + at, BRAMAH__MCAP_TAG + (size_t)length);
      b->size += BRAMAH__MCAP_TAG + (size_t)length;
    }
    if (code == BRAMAH__MCAP_CHUNK && read_chunk(data, (size_t)has, &c)) {
      const uint64_t bytes_left = has - (uint64_t)(c.records - data);
      const int is_whole = length <= left && c.n <= bytes_left;
      if (c.size > room) return damaged(reader, p->offset + at, "a chunk is longer than it states");
      const bramah_status status = unpack(reader, &c, bytes_left, b->bytes + b->size, &got);
      if (status) return status;
      if (is_whole && got != c.size)
        return damaged(reader, p->offset + at, "a chunk cannot be decompressed to what it states");
      if (is_whole && c.crc && (uint32_t)crc32(crc32(0, NULL, 0), b->bytes + b->size, (uInt)got) != c.crc)
        return damaged(reader, p->offset + at, "the checksum of a chunk is wrong");
      b->size += got;
      b->is_cut |= !is_whole;
    }
    if (length > left) break;
    at += BRAMAH__MCAP_TAG + length;
  }
  return BRAMAH_OK;
}

static void release(block *b)
{
  free(b->bytes);
  free(b->entries);
  *b = (block){0};
}

static bramah_status load(bramah_log_reader *reader, const piece *p, int all, block *b)
{
  const mcap *m = reader->source;
  *b = (block){.offset = p->offset};
  if (p->length > MOST_HELD || p->size > MOST_HELD || p->length + p->size + m->held > MOST_HELD)
    return bramah__log_fail(
        reader, BRAMAH_E_UNSUPPORTED, NULL, 0, 0,
        "more than 32 MiB of the file must be in memory at the same time, because of %s at byte %llu: "
        "write it anew with chunks of a few MiB in the order of time (mcap sort IN -o OUT)",
        m->n_blocks ? "chunks that overlap in time" : "a long chunk", (unsigned long long)p->offset);
  unsigned char *from = malloc((size_t)p->length);
  b->bytes = malloc((size_t)p->size + 1);
  bramah_status status = from && b->bytes ? read_at(reader, from, p->offset, (size_t)p->length)
                                          : bramah__log_fail_memory(reader);
  if (!status) status = unpack_piece(reader, from, p, b);
  free(from);
  if (!status) status = list_messages(reader, b, p, all);
  if (status) release(b);
  return status;
}

/* ---- what the messages show of their channels ---- */

static int is_satisfied(const channel *ch)
{
  /* A JSON Schema need not say all of its messages. */
  const int is_open = ch->encoding == BRAMAH__MESSAGE_JSON || bramah__slot_is_open(&ch->root);
  return ch->why_not || ch->is_empty || ch->looked_at || !is_open;
}

/* 1 if no other piece need be looked at. */
static int is_complete(const mcap *m)
{
  if (m->n_stated != m->n_channels || !m->n_stated) return 0;
  for (size_t i = 0; i < m->n_channels; i++)
    if (!is_satisfied(&m->channels[i])) return 0;
  return 1;
}

static bramah_status read_message(bramah__message_encoding encoding, bramah__slot *root,
                                  const unsigned char *data, size_t length, bramah__message *message)
{
  message->at = message->base = data;
  message->end = data + length;
  message->depth = 0;
  message->n_names = 0;
  if (encoding == BRAMAH__MESSAGE_PROTOBUF) return bramah__message_protobuf(message, root);
  if (encoding == BRAMAH__MESSAGE_JSON) return bramah__message_json(message, root);
  return bramah__message_cdr(message, root, encoding == BRAMAH__MESSAGE_ROS1);
}

/* Pieces in the order of the file, until all channels and the lengths of their arrays are known. */
static bramah_status examine(bramah_log_reader *reader)
{
  mcap *m = reader->source;
  bramah__message look_at = {.budget = &m->budget};
  for (size_t i = 0; i < m->n_pieces && !is_complete(m); i++) {
    block b;
    bramah_status status = load(reader, &m->pieces[i], 1, &b);
    if (status == BRAMAH_E_TRUNCATED && reader->format.skip_bad_rows) { /* told when its rows are due */
      bramah_diag_clear(&reader->failure);
      continue;
    }
    if (status) return status;
    for (size_t k = 0; k < b.n; k++) {
      const unsigned char *record = b.bytes + b.entries[k].at;
      const size_t n = (size_t)bramah__mcap_number(record + 1, 8) - BRAMAH__MCAP_MESSAGE_HEAD;
      record += BRAMAH__MCAP_TAG;
      channel *ch = &m->channels[m->of_id[bramah__mcap_number(record, 2)]];
      if (ch->why_not || ch->looked_at++ >= LOOKED_AT) continue;
      read_message(ch->encoding, &ch->root, record + BRAMAH__MCAP_MESSAGE_HEAD, n, &look_at);
    }
    release(&b);
  }
  return BRAMAH_OK;
}

/* ---- columns ---- */

typedef struct naming {
  mcap *m;
  size_t channel;
} naming;

/* What the metadata of a channel says of a field: "unit." and "name."; 0: nothing. */
static int find_stated(const channel *ch, const char *prefix, const char *path, char *out, size_t room)
{
  content c = {.at = (const unsigned char *)ch->metadata};
  c.end = c.at + ch->n_metadata;
  const size_t before = strlen(prefix), length = strlen(path);
  while (c.at < c.end && !c.is_short) {
    size_t n, k;
    const char *key = (const char *)bytes(&c, 4, &n), *value = (const char *)bytes(&c, 4, &k);
    const int is_it = !c.is_short && n == before + length && strncmp(key, prefix, before) == 0 &&
                      strncmp(key + before, path, length) == 0;
    if (is_it && k > 0 && k < room && !memchr(value, 0, k))
      return snprintf(out, room, "%.*s", (int)k, value) > 0;
  }
  return 0;
}

static int add_place(void *user, bramah__slot *slot, const char *path)
{
  naming *n = user;
  mcap *m = n->m;
  place *list = grow(m->places, m->n_places, sizeof *list);
  if (!list) return 0;
  m->places = list;
  char name[512];
  const int is_named = find_stated(&m->channels[n->channel], BRAMAH__MCAP_NAME, path, name, sizeof name);
  list[m->n_places] = (place){.path = strdup(is_named && !strpbrk(name, "[]") ? name : path),
                              .channel = n->channel,
                              .number = m->n_places,
                              .slot = slot};
  if (!list[m->n_places].path) return 0;
  find_stated(&m->channels[n->channel], BRAMAH__MCAP_UNIT, path, list[m->n_places].unit, sizeof list[0].unit);
  m->n_places++;
  return 1;
}

static int by_path(const void *a, const void *b, void *user)
{
  const mcap *m = user;
  const place *x = a, *y = b;
  const int path = strcmp(x->path, y->path);
  if (path) return path;
  const size_t i = m->channels[x->channel].topic_of, k = m->channels[y->channel].topic_of;
  return i != k ? (i < k ? -1 : 1) : (x->channel > y->channel) - (x->channel < y->channel);
}

static int by_number(const void *a, const void *b)
{
  const place *const *x = a, *const *y = b;
  return ((*x)->number > (*y)->number) - ((*x)->number < (*y)->number);
}

/* Is it a name that several topics have, or one of ours? */
static int is_shared(const mcap *m, size_t i)
{
  const char *path = m->places[i].path;
  const size_t topic = m->channels[m->places[i].channel].topic_of;
  for (size_t k = i; k-- > 0 && strcmp(m->places[k].path, path) == 0;)
    if (m->channels[m->places[k].channel].topic_of != topic) return 1;
  for (size_t k = i + 1; k < m->n_places && strcmp(m->places[k].path, path) == 0; k++)
    if (m->channels[m->places[k].channel].topic_of != topic) return 1;
  return strcmp(path, "t") == 0 || strcmp(path, "publish_time") == 0 || strcmp(path, "header.stamp") == 0;
}

static bramah_status add_column(bramah_log_reader *reader, size_t i)
{
  mcap *m = reader->source;
  const place *p = &m->places[i];
  const channel *ch = &m->channels[p->channel];
  char name[1024];
  if (strcmp(p->path, "header.stamp") == 0 &&
      p->slot->kind == BRAMAH__MESSAGE_TIME) { /* one column for all */
    p->slot->column = m->stamp;
    return BRAMAH_OK;
  }
  /* Another channel of the topic has it already. */
  for (size_t k = i; k-- > 0 && strcmp(m->places[k].path, p->path) == 0;)
    if (m->channels[m->places[k].channel].topic_of == ch->topic_of && m->places[k].slot->column != SIZE_MAX)
      return p->slot->column = m->places[k].slot->column, BRAMAH_OK;
  if (reader->n_columns >= MOST_COLUMNS)
    return p->slot->why_not = "is beyond the first 10000 columns", BRAMAH_OK;
  snprintf(name, sizeof name, "%.500s.%.500s", ch->topic, p->path);
  const char *called = is_shared(m, i) ? name : p->path;
  const int is_time = p->slot->kind == BRAMAH__MESSAGE_TIME;
  if (bramah__log_index(reader, called) != SIZE_MAX)
    return p->slot->why_not = "has the name of another field", BRAMAH_OK;
  p->slot->column = reader->n_columns;
  const bramah_status status = bramah__log_add_column(reader, called, is_time ? "s" : p->unit, 0);
  if (!status && is_time) reader->units[p->slot->column].may_be_date = reader->units[0].may_be_date;
  return status;
}

/* Log times are dates if they are since 1970, and not since a computer was started. */
static int is_date(uint64_t ns) { return ns > UINT64_C(100000000000000000); /* March 1973 */ }

static bramah_status add_columns(bramah_log_reader *reader)
{
  mcap *m = reader->source;
  bramah_status status = BRAMAH_OK;
  int has_stamp = 0;
  for (size_t i = 0; i < m->n_channels; i++) {
    naming n = {m, i};
    bramah__slot_settle(&m->channels[i].root);
    if (!m->channels[i].why_not && !bramah__slot_each(&m->channels[i].root, add_place, &n))
      return bramah__log_fail_memory(reader);
  }
  if (m->n_places) qsort_r(m->places, m->n_places, sizeof *m->places, by_path, m);
  const place **order = calloc(m->n_places + 1, sizeof *order);
  if (!order) return bramah__log_fail_memory(reader);
  for (size_t i = 0; i < m->n_places; i++) {
    order[i] = &m->places[i];
    has_stamp |=
        strcmp(m->places[i].path, "header.stamp") == 0 && m->places[i].slot->kind == BRAMAH__MESSAGE_TIME;
  }
  qsort(order, m->n_places, sizeof *order, by_number);
  status = bramah__log_add_column(reader, "t", "s", 0);
  if (!status) status = bramah__log_add_column(reader, "publish_time", "s", 0);
  m->stamp = has_stamp ? 2 : SIZE_MAX;
  if (!status && has_stamp) status = bramah__log_add_column(reader, "header.stamp", "s", 0);
  for (size_t i = 0; !status && i < reader->n_columns; i++)
    reader->units[i].may_be_date = m->n_pieces && is_date(m->pieces[m->n_pieces - 1].last) ? 2 : 0;
  for (size_t i = 0; !status && i < m->n_places; i++)
    if (!order[i]->slot->why_not) status = add_column(reader, (size_t)(order[i] - m->places));
  free(order);
  return status;
}

/* Without columns: why. */
static bramah_status fail_empty(bramah_log_reader *reader)
{
  const mcap *m = reader->source;
  bramah_diag *diag = &reader->failure;
  if (m->is_cut && !m->n_channels)
    return bramah__log_fail(reader, BRAMAH_E_TRUNCATED, NULL, 0, 0,
                            "the file was cut before its first whole chunk: nothing of it can be read");
  bramah__log_fail(reader, BRAMAH_E_EMPTY, NULL, 0, 0,
                   m->n_channels ? "no message of the file has a number" : "the file has no channel");
  for (size_t i = 0, said = 0; i < m->n_channels && said < 3; i++) {
    const channel *ch = &m->channels[i];
    const size_t used = strlen(diag->message);
    if (ch->why_not)
      snprintf(diag->message + used, sizeof diag->message - used, "%s '%.80s' %s", said++ ? ";" : ":",
               ch->topic, ch->why_not);
  }
  return BRAMAH_E_EMPTY;
}

/* ---- opening ---- */

static int by_time(const void *a, const void *b)
{
  const piece *x = a, *y = b;
  if (x->first != y->first) return x->first < y->first ? -1 : 1;
  return (x->offset > y->offset) - (x->offset < y->offset);
}

static bramah_status open_mcap(bramah_log_reader *reader)
{
  struct stat info;
  mcap *m = reader->source = calloc(1, sizeof *m);
  if (!m) return bramah__log_fail_memory(reader);
  m->window = malloc(WINDOW);
  if (!m->window) return bramah__log_fail_memory(reader);
  if (fstat(reader->fd, &info) != 0) return bramah__log_fail_system(reader, "cannot read: ", errno);
  m->size = (uint64_t)info.st_size;
  m->budget = BRAMAH__MESSAGE_SLOTS;
  memset(m->of_id, -1, sizeof m->of_id);
  memset(m->schema_of_id, -1, sizeof m->schema_of_id);
  reader->format.delimiter = ',';
  reader->format.decimal = '.';
  reader->format.no_header = reader->format.skip = 0;
  reader->format.units = BRAMAH_LOG_UNITS_HEADER;
  bramah_status status = scan(reader);
  if (!status) status = examine(reader);
  if (status) return status;
  if (!join_topics(m)) return bramah__log_fail_memory(reader);
  if (m->n_pieces) qsort(m->pieces, m->n_pieces, sizeof *m->pieces, by_time);
  status = add_columns(reader);
  if (status) return status;
  m->message = (bramah__message){.reader = reader, .c_locale = reader->c_locale};
  return m->n_places || m->stamp != SIZE_MAX ? BRAMAH_OK : fail_empty(reader);
}

static void close_mcap(bramah_log_reader *reader)
{
  mcap *m = reader->source;
  if (!m) return;
  for (size_t i = 0; i < m->n_schemas; i++) {
    free(m->schemas[i].name);
    free(m->schemas[i].encoding);
    free(m->schemas[i].data);
    bramah__schema_free(&m->schemas[i].schema);
  }
  for (size_t i = 0; i < m->n_channels; i++) {
    free(m->channels[i].topic);
    free(m->channels[i].metadata);
    free(m->channels[i].why_not);
    bramah__slot_free(&m->channels[i].root);
  }
  for (size_t i = 0; i < m->n_places; i++) free(m->places[i].path);
  for (size_t i = 0; i < m->n_blocks; i++) release(&m->blocks[i]);
#ifdef BRAMAH_ZSTD
  ZSTD_freeDCtx(m->zstd);
#endif
  free(m->schemas);
  free(m->channels);
  free(m->places);
  free(m->pieces);
  free(m->blocks);
  free(m->window);
  free(m);
}

/* ---- rows ---- */

/* The block with the earliest message; NULL: there is none. Pieces that may hold an earlier one are loaded before. */
static bramah_status find_next(bramah_log_reader *reader, block **out)
{
  mcap *m = reader->source;
  for (;;) {
    block *first = NULL;
    for (size_t i = 0; i < m->n_blocks;) { /* what is done goes; the order of the others does not matter */
      block *b = &m->blocks[i];
      if (b->next < b->n) {
        i++;
        continue;
      }
      m->held -= b->size + b->n * sizeof(entry);
      release(b);
      *b = m->blocks[--m->n_blocks];
    }
    for (size_t i = 0; i < m->n_blocks; i++) {
      block *b = &m->blocks[i];
      const uint64_t time = b->entries[b->next].time;
      const uint64_t least = first ? first->entries[first->next].time : 0;
      if (!first || time < least || (time == least && b->offset < first->offset)) first = b;
    }
    *out = first;
    if (m->next_piece == m->n_pieces) return BRAMAH_OK;
    const piece *p = &m->pieces[m->next_piece];
    if (first && p->first > first->entries[first->next].time) return BRAMAH_OK;
    m->next_piece++;
    m->done += p->length;
    block *blocks = grow(m->blocks, m->n_blocks, sizeof *blocks);
    if (!blocks) return bramah__log_fail_memory(reader);
    m->blocks = blocks;
    const bramah_status status = load(reader, p, 0, &m->blocks[m->n_blocks]);
    if (status) return status;
    const block *b = &m->blocks[m->n_blocks++];
    m->held += b->size + b->n * sizeof(entry);
  }
}

/* A time of the record itself. */
static void put_record_time(mcap *m, size_t column, uint64_t ns)
{
  const bramah__slot slot = {.column = column};
  if (ns / 1000000000 >= UINT64_C(9000000000)) ns = UINT64_C(9000000000000000000);
  bramah__message_put_time(&m->message, &slot, (int64_t)(ns / 1000000000), (int64_t)(ns % 1000000000));
}

static bramah_status take_message(bramah_log_reader *reader, channel *ch, const unsigned char *record)
{
  mcap *m = reader->source;
  const size_t n = (size_t)bramah__mcap_number(record + 1, 8) - BRAMAH__MCAP_MESSAGE_HEAD;
  record += BRAMAH__MCAP_TAG;
  put_record_time(m, 0, bramah__mcap_number(record + 6, 8));
  put_record_time(m, 1, bramah__mcap_number(record + 14, 8));
  if (!read_message(ch->encoding, &ch->root, record + BRAMAH__MCAP_MESSAGE_HEAD, n, &m->message))
    return BRAMAH_OK;
  return bramah__log_fail(
      reader, BRAMAH_E_SYNTAX, ch->topic, reader->row_line, 0, "a message is not what its %s",
      ch->encoding == BRAMAH__MESSAGE_JSON ? "encoding says: it is no JSON" : "schema says");
}

/* Before the first row: channels without a column that is used are passed over. */
static void choose(bramah_log_reader *reader)
{
  mcap *m = reader->source;
  size_t n_used = 0;
  for (size_t i = 0; i < m->n_channels; i++)
    if (!m->channels[i].why_not) n_used += (size_t)bramah__slot_choose(&m->channels[i].root, reader);
  reader->is_sparse = n_used > 1;
  m->is_chosen = 1;
}

static bramah_status next_row(bramah_log_reader *reader, int *end)
{
  mcap *m = reader->source;
  block *b;
  reader->row_done = 1;
  if (!m->is_chosen) choose(reader);
  m->row++;
  reader->row_line = m->row < INT_MAX ? (int)m->row : INT_MAX;
  bramah_status status = find_next(reader, &b);
  *end = !status && !b;
  m->is_over |= *end;
  if (status || *end) return status;
  for (size_t i = 0; i < reader->n_columns; i++) reader->values[i] = NAN;
  memset(reader->present, 0, reader->n_columns);
  const uint64_t time = b->entries[b->next].time;
  int is_joined = reader->time_column == 0 || reader->time_column == SIZE_MAX;
  for (size_t i = 1; i < 3 && i < reader->n_columns; i++) /* what every message has of its own */
    if (i == 1 || i == m->stamp) is_joined &= reader->columns[i].ignored;
  do { /* messages of the same time are a row, if that is the time that counts */
    const unsigned char *record = b->bytes + b->entries[b->next].at;
    channel *ch = &m->channels[m->of_id[bramah__mcap_number(record + BRAMAH__MCAP_TAG, 2)]];
    if (m->channels[ch->topic_of].in_row == m->row) break;
    b->next++;
    m->channels[ch->topic_of].in_row = m->row;
    status = take_message(reader, ch, record);
    if (!status) status = find_next(reader, &b);
  } while (!status && is_joined && b && b->entries[b->next].time == time);
  return status;
}

/* ---- what is known ---- */

static size_t stand_in(const bramah_log_reader *reader, const char *name)
{
  const mcap *m = reader->source;
  if (strcmp(name, "log_time") == 0) return 0;
  for (size_t i = 0; i < m->n_places; i++) {
    const place *p = &m->places[i];
    const char *topic = m->channels[p->channel].topic;
    if (p->slot->column == SIZE_MAX) continue;
    for (int k = 0; k < 2; k++) { /* with and without the slash ROS puts first */
      const char *called = topic + (k && topic[0] == '/');
      const size_t n = strlen(called);
      if (strncmp(name, called, n) == 0 && name[n] == '.' && strcmp(name + n + 1, p->path) == 0)
        return p->slot->column;
    }
  }
  return SIZE_MAX;
}

static const char *why_not(const bramah_log_reader *reader, const char *name)
{
  const mcap *m = reader->source;
  for (size_t i = 0; i < m->n_channels; i++) {
    const channel *ch = &m->channels[i];
    const char *topic = ch->topic + (ch->topic[0] == '/' && name[0] != '/');
    const size_t n = strlen(topic);
    if (strncmp(name, topic, n) == 0 && (name[n] == '.' || !name[n]) && ch->why_not) return ch->why_not;
  }
  for (size_t i = 0; i < m->n_places; i++) {
    const place *p = &m->places[i];
    const char *topic = m->channels[p->channel].topic;
    topic += topic[0] == '/' && name[0] != '/';
    const size_t n = strlen(topic), length = strlen(p->path);
    const char *path = strncmp(name, topic, n) == 0 && name[n] == '.' ? name + n + 1 : name;
    if (p->slot->why_not && strncmp(path, p->path, length) == 0 &&
        (!path[length] || strchr(".[", path[length])))
      return p->slot->why_not;
    const size_t given = strlen(path);
    if (strncmp(path, p->path, given) == 0 && p->path[given] == '[')
      return "is an array: write which element, as in [0]";
    if (strcmp(path, p->path) == 0 && is_shared(m, i))
      return "is a field of several topics: write TOPIC.FIELD";
  }
  return NULL;
}

static void describe(const bramah_log_reader *reader, bramah_log_info *info)
{
  const mcap *m = reader->source;
  info->kind = "MCAP file";
  info->bytes = m->is_over ? m->size : m->done;
  info->is_cut = m->is_cut && m->is_over;
}

#else

static bramah_status open_mcap(bramah_log_reader *reader)
{
  return bramah__log_fail(
      reader, BRAMAH_E_UNSUPPORTED, NULL, 0, 0,
      "bramah was built without zlib and cannot read MCAP files: build it again with zlib1g-dev "
      "installed, or save the messages as CSV");
}

static void close_mcap(bramah_log_reader *reader) { (void)reader; }

#endif

const bramah__log_kind bramah__log_mcap = {.names = "*.mcap",
                                           .what = "MCAP file",
                                           .record = "row",
                                           .sink = &bramah__mcap_sink,
                                           .takes = takes,
                                           .open = open_mcap,
                                           .close = close_mcap,
#ifdef BRAMAH_ZLIB
                                           .next = next_row,
                                           .describe = describe,
                                           .stand_in = stand_in,
                                           .why_not = why_not,
#endif
                                           .no_rows = "no message of the log has a column that is used"};
