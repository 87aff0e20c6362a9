/* SPDX-License-Identifier: GPL-3.0-or-later */
/* MCAP files as logs (topics.h). What a file says about itself in its summary is used for the channels only; where the
 * chunks are is found by going from record to record, which works for files that were cut, too. */
#include "lib/logs/mcap.h"
#include "lib/logs/topics.h"

#include <string.h>

static int takes(const char *path, const unsigned char *head, size_t n)
{
  (void)path;
  return n >= BRAMAH__MCAP_MARK && memcmp(head, BRAMAH__MCAP_MAGIC, BRAMAH__MCAP_MARK) == 0;
}

#ifdef BRAMAH_ZLIB
#include <stdio.h>
#include <stdlib.h>
#include <zlib.h>

enum { WINDOW = BRAMAH__TOPICS_WINDOW, LONGEST_RECORD = 8 << 20 /* of schemas and channels */ };

/* ---- schemas and channels ---- */

static bramah__span span(bramah__content *c)
{
  bramah__span s;
  s.at = bramah__content_bytes(c, 4, &s.n);
  return s;
}

static bramah_status add_schema(bramah_log_reader *reader, const unsigned char *at, size_t n)
{
  bramah__content c = {.at = at, .end = at + n};
  const unsigned id = (unsigned)bramah__content_number(&c, 2);
  const bramah__span name = span(&c), encoding = span(&c), data = span(&c);
  return id ? bramah__topics_add_schema(reader, id, name, encoding, data) : BRAMAH_OK;
}

static bramah_status add_channel(bramah_log_reader *reader, const unsigned char *at, size_t n)
{
  bramah__content c = {.at = at, .end = at + n};
  const unsigned id = (unsigned)bramah__content_number(&c, 2),
                 schema = (unsigned)bramah__content_number(&c, 2);
  if (c.is_short) return BRAMAH_OK;
  const bramah__span topic = span(&c), encoding = span(&c), metadata = span(&c);
  return bramah__topics_add_channel(reader, id, schema, topic, encoding, metadata);
}

/* How many channels there are, and which have no message. */
static void read_statistics(bramah__topics *t, const unsigned char *at, size_t n)
{
  bramah__content c = {.at = at, .end = at + n};
  size_t length;
  bramah__content_number(&c, 8), bramah__content_number(&c, 2);
  const uint32_t n_channels = (uint32_t)bramah__content_number(&c, 4);
  bramah__content_number(&c, 8), bramah__content_number(&c, 4), bramah__content_number(&c, 8),
      bramah__content_number(&c, 8);
  const unsigned char *counts = bramah__content_bytes(&c, 4, &length);
  if (c.is_short) return;
  t->n_stated = n_channels;
  for (size_t i = 0; length && i < t->n_channels; i++) t->channels[i].is_empty = 1;
  for (size_t k = 0; k + 10 <= length; k += 10) {
    const uint32_t of = bramah__ids_find(&t->of_id, (unsigned)bramah__mcap_number(counts + k, 2));
    if (of && bramah__mcap_number(counts + k + 2, 8)) t->channels[of - 1].is_empty = 0;
  }
}

/* ---- which pieces the file has ---- */

/* A chunk, as its first bytes have it; 0: it is too short. */
typedef struct chunk {
  uint64_t first, last, size;
  uint32_t crc;
  char compression[16];
  const unsigned char *records;
  uint64_t n; /* bytes of the records, compressed */
} chunk;

static int read_chunk(const unsigned char *at, size_t n, chunk *out)
{
  bramah__content c = {.at = at, .end = at + n};
  size_t length;
  out->first = bramah__content_number(&c, 8);
  out->last = bramah__content_number(&c, 8);
  out->size = bramah__content_number(&c, 8);
  out->crc = (uint32_t)bramah__content_number(&c, 4);
  const unsigned char *name = bramah__content_bytes(&c, 4, &length);
  snprintf(out->compression, sizeof out->compression, "%.*s", (int)(length < 15 ? length : 15),
           (const char *)name);
  out->n = bramah__content_number(&c, 8);
  out->records = c.at;
  return !c.is_short;
}

enum { CHUNK_HEAD = 8 + 8 + 8 + 4 + 4 + 64 + 8 };

/* A record that holds messages. `left`: what the file has of its content. */
static bramah_status take_data(bramah_log_reader *reader, int code, uint64_t offset, uint64_t left)
{
  bramah__topics *t = reader->source;
  const unsigned char *at;
  const uint64_t begin = offset + BRAMAH__MCAP_TAG;
  bramah__piece p = {.offset = offset, .length = BRAMAH__MCAP_TAG + left, .size = BRAMAH__MCAP_TAG + left};
  if (code == BRAMAH__MCAP_MESSAGE) {
    if (left < BRAMAH__MCAP_MESSAGE_HEAD) return BRAMAH_OK;
    const bramah_status status = bramah__topics_look(reader, begin, BRAMAH__MCAP_MESSAGE_HEAD, &at);
    if (status) return status;
    p.first = p.last = bramah__mcap_number(at + 6, 8);
    t->is_unchecked = 1;
    return bramah__topics_add_piece(reader, &p);
  }
  chunk c;
  const size_t n = left < CHUNK_HEAD ? (size_t)left : CHUNK_HEAD;
  const bramah_status status = bramah__topics_look(reader, begin, n, &at);
  if (status) return status;
  if (!read_chunk(at, n, &c))
    return left < CHUNK_HEAD && left + begin == t->size
               ? BRAMAH_OK
               : bramah__topics_damaged(reader, offset, "there is no chunk of messages in its record");
  t->is_unchecked |= !c.crc;
  p.first = c.first;
  p.last = c.last;
  p.size = c.size;
  return bramah__topics_add_piece(reader, &p);
}

/* A record whose content is needed whole. */
static bramah_status take_record(bramah_log_reader *reader, int code, uint64_t offset, uint64_t length)
{
  bramah__topics *t = reader->source;
  const unsigned char *at = NULL;
  unsigned char *copy = NULL;
  bramah_status status = BRAMAH_OK;
  if (length > LONGEST_RECORD)
    return bramah__log_fail(
        reader, BRAMAH_E_UNSUPPORTED, NULL, 0, 0,
        "the record at byte %llu has %llu bytes: schemas and channels of at most 8 MiB are read",
        (unsigned long long)offset, (unsigned long long)length);
  if (length <= WINDOW) {
    status = bramah__topics_look(reader, offset + BRAMAH__MCAP_TAG, (size_t)length, &at);
  } else {
    at = copy = malloc((size_t)length);
    status = copy ? bramah__topics_read(reader, copy, offset + BRAMAH__MCAP_TAG, (size_t)length)
                  : bramah__log_fail_memory(reader);
  }
  if (!status && code == BRAMAH__MCAP_SCHEMA) status = add_schema(reader, at, (size_t)length);
  if (!status && code == BRAMAH__MCAP_CHANNEL) status = add_channel(reader, at, (size_t)length);
  if (!status && code == BRAMAH__MCAP_STATISTICS) read_statistics(t, at, (size_t)length);
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
    const bramah_status status = bramah__topics_look(reader, at, n, &from);
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
  const bramah__topics *t = reader->source;
  const uint64_t tail = BRAMAH__MCAP_TAG + BRAMAH__MCAP_FOOTER_SIZE + BRAMAH__MCAP_MARK;
  const unsigned char *at;
  uint32_t is;
  *is_good = 0;
  if (t->size < begin + tail) return BRAMAH_OK;
  const uint64_t footer = t->size - tail;
  bramah_status status = bramah__topics_look(reader, footer, (size_t)tail, &at);
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
  const bramah__topics *t = reader->source;
  const unsigned char *at;
  uint32_t is;
  bramah_status status = bramah__topics_look(reader, offset + BRAMAH__MCAP_TAG, 4, &at);
  const uint32_t crc = status ? 0 : (uint32_t)bramah__mcap_number(at, 4);
  if (crc && t->is_unchecked) {
    status = check_sum(reader, 0, offset, &is);
    if (!status && is != crc)
      status = bramah__topics_damaged(reader, offset, "the checksum of its data is wrong");
  }
  return status ? status : check_summary(reader, offset, goes_on);
}

/* Once through the file, from record to record. */
static bramah_status scan(bramah_log_reader *reader)
{
  bramah__topics *t = reader->source;
  uint64_t offset = BRAMAH__MCAP_MARK;
  bramah_status status = BRAMAH_OK;
  int goes_on = 1, in_data = 1;
  const unsigned char *magic = NULL;
  if (t->size >= BRAMAH__MCAP_MARK) status = bramah__topics_look(reader, 0, BRAMAH__MCAP_MARK, &magic);
  if (!status && (!magic || memcmp(magic, BRAMAH__MCAP_MAGIC, BRAMAH__MCAP_MARK) != 0))
    return bramah__log_fail(reader, BRAMAH_E_SYNTAX, NULL, 0, 0,
                            "this is no MCAP file, whatever its name says: it does not begin as one");
  t->is_cut = 1;
  while (!status && goes_on && t->size - offset >= BRAMAH__MCAP_TAG) {
    const unsigned char *at;
    status = bramah__topics_look(reader, offset, BRAMAH__MCAP_TAG, &at);
    if (status) break;
    const int code = at[0];
    const uint64_t length = bramah__mcap_number(at + 1, 8), left = t->size - offset - BRAMAH__MCAP_TAG;
    const int is_whole = length <= left,
              has_data = code == BRAMAH__MCAP_MESSAGE || code == BRAMAH__MCAP_CHUNK;
    if (code == 0) return bramah__topics_damaged(reader, offset, "there is no record");
    if (has_data && in_data && (is_whole || code == BRAMAH__MCAP_CHUNK))
      status = take_data(reader, code, offset, is_whole ? length : left);
    if (!is_whole || status) break;
    if (code == BRAMAH__MCAP_SCHEMA || code == BRAMAH__MCAP_CHANNEL || code == BRAMAH__MCAP_STATISTICS)
      status = take_record(reader, code, offset, length);
    if (code == BRAMAH__MCAP_DATA_END && in_data && length >= 4) {
      status = end_data(reader, offset, &goes_on);
      in_data = t->is_cut = 0;
    }
    if (code == BRAMAH__MCAP_FOOTER) {
      t->is_cut = 0;
      break;
    }
    offset += BRAMAH__MCAP_TAG + length;
  }
  return status;
}

/* ---- pieces in memory ---- */

static bramah_status list_messages(bramah_log_reader *reader, bramah__block *b, int all)
{
  for (size_t at = 0; b->size - at >= BRAMAH__MCAP_TAG;) {
    const unsigned char *record = b->bytes + at, *data = record + BRAMAH__MCAP_TAG;
    const int code = record[0];
    const uint64_t length = bramah__mcap_number(record + 1, 8);
    if (length > b->size - at - BRAMAH__MCAP_TAG) {
      if (b->is_cut) break;
      return bramah__topics_damaged(reader, b->piece.offset,
                                    "a record is longer than the chunk that holds it");
    }
    const size_t n = (size_t)length;
    at += BRAMAH__MCAP_TAG + n;
    bramah_status status = BRAMAH_OK;
    if (all && code == BRAMAH__MCAP_SCHEMA) status = add_schema(reader, data, n);
    if (all && code == BRAMAH__MCAP_CHANNEL) status = add_channel(reader, data, n);
    if (code == BRAMAH__MCAP_MESSAGE && n < BRAMAH__MCAP_MESSAGE_HEAD)
      return bramah__topics_damaged(reader, b->piece.offset,
                                    "a message does not say when it came, or from where");
    if (code == BRAMAH__MCAP_MESSAGE)
      status = bramah__block_add(reader, b, all, (unsigned)bramah__mcap_number(data, 2),
                                 bramah__mcap_number(data + 6, 8), bramah__mcap_number(data + 14, 8),
                                 data + BRAMAH__MCAP_MESSAGE_HEAD, n - BRAMAH__MCAP_MESSAGE_HEAD);
    if (status) return status;
  }
  return BRAMAH_OK;
}

/* The uncompressed records of a piece, which is in memory. */
static bramah_status unpack_piece(bramah_log_reader *reader, const unsigned char *from, bramah__block *b)
{
  const bramah__piece *p = &b->piece;
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
      if (c.size > room)
        return bramah__topics_damaged(reader, p->offset + at, "a chunk is longer than it states");
      const bramah_status status =
          bramah__topics_unpack(reader, c.compression, c.records, (size_t)(is_whole ? c.n : bytes_left),
                                is_whole, b->bytes + b->size, (size_t)c.size, &got);
      if (status) return status;
      if (is_whole && got != c.size)
        return bramah__topics_damaged(reader, p->offset + at,
                                      "a chunk cannot be decompressed to what it states");
      if (is_whole && c.crc && (uint32_t)crc32(crc32(0, NULL, 0), b->bytes + b->size, (uInt)got) != c.crc)
        return bramah__topics_damaged(reader, p->offset + at, "the checksum of a chunk is wrong");
      b->size += got;
      b->is_cut |= !is_whole;
    }
    if (length > left) break;
    at += BRAMAH__MCAP_TAG + length;
  }
  return BRAMAH_OK;
}

static bramah_status open_mcap(bramah_log_reader *reader)
{
  bramah_status status = bramah__topics_open(reader);
  if (status) return status;
  bramah__topics *t = reader->source;
  t->unpack = unpack_piece;
  t->list = list_messages;
  t->how_to_sort = "mcap sort IN -o OUT";
  t->has_sent = 1;
  status = scan(reader);
  return status ? status : bramah__topics_settle(reader);
}

#else

static bramah_status open_mcap(bramah_log_reader *reader)
{
  return bramah__log_fail(
      reader, BRAMAH_E_UNSUPPORTED, NULL, 0, 0,
      "bramah was built without zlib and cannot read MCAP files: build it again with zlib1g-dev "
      "installed, or save the messages as CSV");
}

#endif

const bramah__log_kind bramah__log_mcap = {.names = "*.mcap",
                                           .what = "MCAP file",
                                           .record = "row",
                                           .sink = &bramah__mcap_sink,
                                           .takes = takes,
                                           .open = open_mcap,
                                           .close = bramah__topics_close,
#ifdef BRAMAH_ZLIB
                                           .next = bramah__topics_next,
                                           .describe = bramah__topics_describe,
                                           .stand_in = bramah__topics_stand_in,
                                           .why_not = bramah__topics_why_not,
#endif
                                           .no_rows = "no message of the log has a column that is used"};
