/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Bags of ROS 1 as logs (wiki.ros.org/Bags/Format/2.0, topics.h). A record is a header of fields `name=value` after its
 * length, then data after theirs; chunks of messages are followed by their index, which says when they are. Where the
 * chunks are is found by going from record to record, which works for bags that were cut or never closed, too. */
#include "lib/logs/topics.h"

#include <stdio.h>
#include <string.h>

enum {
  MARK = 13, /* bytes of the first line */
  LONGEST_HEADER = 1 << 17,
  OP_MESSAGE = 2,
  OP_BAG = 3,
  OP_INDEX = 4,
  OP_CHUNK = 5,
  OP_CHUNK_INFO = 6,
  OP_CONNECTION = 7
};

static int takes(const char *path, const unsigned char *head, size_t n)
{
  (void)path;
  return n >= 9 && memcmp(head, "#ROSBAG V", 9) == 0;
}

/* The value of a field; at NULL: there is none. */
static bramah__span field(bramah__span header, const char *name)
{
  bramah__content c = {.at = header.at, .end = header.at + header.n};
  const size_t length = strlen(name);
  while (c.at < c.end) {
    size_t n;
    const unsigned char *at = bramah__content_bytes(&c, 4, &n);
    if (c.is_short) break;
    if (n > length && memcmp(at, name, length) == 0 && at[length] == '=')
      return (bramah__span){at + length + 1, n - length - 1};
  }
  return (bramah__span){NULL, 0};
}

/* A field of so many bytes as a number. 0: there is none. */
static int number_of(bramah__span header, const char *name, size_t n, uint64_t *out)
{
  const bramah__span s = field(header, name);
  *out = 0;
  if (!s.at || s.n != n) return 0;
  bramah__content c = {.at = s.at, .end = s.at + n};
  *out = bramah__content_number(&c, (unsigned)n);
  return 1;
}

/* Seconds and nanoseconds, of four bytes each, as ns. */
static uint64_t time_of(const unsigned char *at)
{
  bramah__content c = {.at = at, .end = at + 8};
  const uint64_t seconds = bramah__content_number(&c, 4);
  return seconds * 1000000000 + bramah__content_number(&c, 4);
}

/* A record: what it is, its header, and where its data are. */
typedef struct record {
  uint64_t op;
  bramah__span header;
  uint64_t data, n, end; /* from the beginning of the record */
} record;

/* Of the n bytes at `at`. Returns 0 where they end within the header or the data's length, -1 where it is none. */
static int read_record(const unsigned char *at, uint64_t n, record *out)
{
  bramah__content c = {.at = at, .end = at + n};
  const uint64_t length = bramah__content_number(&c, 4);
  if (length > LONGEST_HEADER) return -1;
  if (c.is_short || (uint64_t)(c.end - c.at) < length + 4) return 0;
  out->header = (bramah__span){c.at, (size_t)length};
  c.at += length;
  out->n = bramah__content_number(&c, 4);
  out->data = (uint64_t)(c.at - at);
  out->end = out->data + out->n;
  return number_of(out->header, "op", 1, &out->op) ? 1 : -1;
}

/* ---- connections: the channels ---- */

static bramah_status add_connection(bramah_log_reader *reader, bramah__span header, bramah__span data)
{
  uint64_t id;
  static const bramah__span encoding = {(const unsigned char *)"ros1", 4},
                            schema = {(const unsigned char *)"ros1msg", 7}, none = {NULL, 0};
  const bramah__span type = field(data, "type"), definition = field(data, "message_definition");
  const bramah__span topic = field(header, "topic");
  if (!number_of(header, "conn", 4, &id) || !topic.at || !type.at || !definition.at) return BRAMAH_OK;
  if (id >= BRAMAH__TOPICS_IDS)
    return bramah__log_fail(reader, BRAMAH_E_UNSUPPORTED, NULL, 0, 0,
                            "a connection has the number %llu: read are those below 65536",
                            (unsigned long long)id);
  const bramah_status status = bramah__topics_add_schema(reader, (unsigned)id, type, schema, definition);
  return status ? status
                : bramah__topics_add_channel(reader, (unsigned)id, (unsigned)id, topic, encoding, none);
}

/* ---- pieces in memory ---- */

/* The messages of the records of a block, and its connections. */
static bramah_status list_messages(bramah_log_reader *reader, bramah__block *b, int all)
{
  for (size_t at = 0; at < b->size;) {
    const unsigned char *from = b->bytes + at;
    record r;
    uint64_t id;
    const int is_record = read_record(from, b->size - at, &r);
    if (is_record <= 0 || r.end > b->size - at) {
      if (b->is_cut) break;
      return bramah__topics_damaged(reader, b->piece.offset,
                                    "a record is longer than the chunk that holds it");
    }
    bramah_status status = BRAMAH_OK;
    const bramah__span time = field(r.header, "time");
    if (all && r.op == OP_CONNECTION)
      status = add_connection(reader, r.header, (bramah__span){from + r.data, (size_t)r.n});
    if (r.op == OP_MESSAGE &&
        (time.n != 8 || !number_of(r.header, "conn", 4, &id) || id >= BRAMAH__TOPICS_IDS))
      return bramah__topics_damaged(reader, b->piece.offset,
                                    "a message does not say when it came, or from where");
    if (r.op == OP_MESSAGE)
      status =
          bramah__block_add(reader, b, all, (unsigned)id, time_of(time.at), 0, from + r.data, (size_t)r.n);
    if (status) return status;
    at += (size_t)r.end;
  }
  return BRAMAH_OK;
}

static const char no_chunk[] = "a chunk does not say how long it is, or how it is compressed";

/* The uncompressed records of a piece, which is in memory. */
static bramah_status unpack_piece(bramah_log_reader *reader, const unsigned char *from, bramah__block *b)
{
  const bramah__piece *p = &b->piece;
  for (uint64_t at = 0; at < p->length;) {
    record r;
    uint64_t size;
    size_t got;
    if (read_record(from + at, p->length - at, &r) <= 0) break;
    const int is_whole = r.end <= p->length - at;
    const bramah__span compression = field(r.header, "compression");
    if (r.op == OP_CHUNK && (!compression.at || !number_of(r.header, "size", 4, &size)))
      return bramah__topics_damaged(reader, p->offset + at, no_chunk);
    if (r.op == OP_CHUNK) {
      char name[16];
      snprintf(name, sizeof name, "%.*s", (int)(compression.n < 15 ? compression.n : 15),
               (const char *)compression.at);
      if (size > p->size - b->size)
        return bramah__topics_damaged(reader, p->offset + at, "a chunk is longer than it states");
      const bramah_status status = bramah__topics_unpack(reader, name, from + at + r.data,
                                                         (size_t)(is_whole ? r.n : p->length - at - r.data),
                                                         is_whole, b->bytes + b->size, (size_t)size, &got);
      if (status) return status;
      if (is_whole && got != size)
        return bramah__topics_damaged(reader, p->offset + at,
                                      "a chunk cannot be decompressed to what it states");
      b->size += got;
      b->is_cut |= !is_whole;
    }
    at += r.end;
  }
  return BRAMAH_OK;
}

/* ---- which pieces the bag has ---- */

/* A chunk whose index has not come is read for its times. */
static bramah_status add_chunk(bramah_log_reader *reader, bramah__piece *p, int has_times)
{
  bramah__block b;
  if (!p->length) return BRAMAH_OK;
  if (!has_times) {
    p->first = 0;
    p->last = UINT64_MAX;
    const bramah_status status = bramah__topics_load(reader, p, 1, &b);
    if (status) return status;
    if (b.n) p->first = b.entries[0].time, p->last = b.entries[b.n - 1].time;
    const size_t n = b.n;
    bramah__block_free(&b);
    if (!n) return p->length = 0, BRAMAH_OK;
  }
  const bramah_status status = bramah__topics_add_piece(reader, p);
  p->length = 0;
  return status;
}

/* The times of an index: of each message eight bytes, and its place. */
static bramah_status take_index(bramah_log_reader *reader, uint64_t offset, uint64_t n, bramah__piece *p)
{
  const unsigned char *at;
  for (uint64_t done = 0; done + 12 <= n; done += 12) {
    const bramah_status status = bramah__topics_look(reader, offset + done, 12, &at);
    if (status) return status;
    const uint64_t time = time_of(at);
    if (time < p->first) p->first = time;
    if (time > p->last) p->last = time;
  }
  return BRAMAH_OK;
}

/* The head of the bag. */
static bramah_status check_head(bramah_log_reader *reader, bramah__span header)
{
  const bramah__span encryptor = field(header, "encryptor");
  uint64_t n;
  bramah__topics *t = reader->source;
  if (number_of(header, "conn_count", 4, &n)) t->n_stated = (size_t)n;
  return !encryptor.n
             ? BRAMAH_OK
             : bramah__log_fail(reader, BRAMAH_E_UNSUPPORTED, NULL, 0, 0,
                                "the bag is encrypted (%.*s): decrypt it first (rosbag decrypt)",
                                (int)(encryptor.n < 80 ? encryptor.n : 80), (const char *)encryptor.at);
}

/* Once through the bag, from record to record. */
static bramah_status scan(bramah_log_reader *reader)
{
  bramah__topics *t = reader->source;
  bramah__piece p = {0};
  int has_times = 0;
  uint64_t offset = MARK;
  bramah_status status = BRAMAH_OK;
  while (!status && offset < t->size) {
    const unsigned char *at;
    record r;
    const uint64_t left = t->size - offset;
    const size_t n = left < BRAMAH__TOPICS_WINDOW ? (size_t)left : BRAMAH__TOPICS_WINDOW;
    size_t near = n < 512 ? n : 512; /* most headers are short: so the window moves seldom */
    status = bramah__topics_look(reader, offset, near, &at);
    int is_record = status ? 0 : read_record(at, near, &r);
    if (!status && !is_record && near < n) {
      status = bramah__topics_look(reader, offset, n, &at);
      is_record = status ? 0 : read_record(at, n, &r);
    }
    if (status) break;
    if (is_record < 0) return bramah__topics_damaged(reader, offset, "there is no record");
    const int is_whole = is_record && r.end <= left;
    uint64_t size;
    if (!is_record || (!is_whole && r.op != OP_CHUNK)) {
      t->is_cut = 1;
      break;
    }
    if (r.op == OP_MESSAGE)
      return bramah__topics_damaged(reader, offset, "there is a message outside of the chunks");
    if (r.op != OP_INDEX) status = add_chunk(reader, &p, has_times);
    if (r.op != OP_INDEX) has_times = 0;
    if (!status && r.op != OP_INDEX && r.op != OP_CHUNK && r.data + r.n <= BRAMAH__TOPICS_WINDOW) {
      status = bramah__topics_look(reader, offset, (size_t)r.end, &at);
      if (!status) read_record(at, r.end, &r);
    }
    if (status) break;
    if (r.op == OP_BAG) status = check_head(reader, r.header);
    if (r.op == OP_CONNECTION && r.end <= BRAMAH__TOPICS_WINDOW)
      status = add_connection(reader, r.header, (bramah__span){at + r.data, (size_t)r.n});
    if (r.op == OP_CHUNK && !number_of(r.header, "size", 4, &size))
      return bramah__topics_damaged(reader, offset, no_chunk);
    if (r.op == OP_CHUNK)
      p = (bramah__piece){
          .offset = offset, .length = is_whole ? r.end : left, .size = size, .first = UINT64_MAX};
    if (r.op == OP_INDEX && p.length) has_times = 1, status = take_index(reader, offset + r.data, r.n, &p);
    t->is_cut = !is_whole;
    offset += is_whole ? r.end : left;
  }
  if (p.length) t->is_cut = 1; /* what closes a bag is behind its chunks; the last index need not be whole */
  return status ? status : add_chunk(reader, &p, 0);
}

static bramah_status open_bag(bramah_log_reader *reader)
{
  const unsigned char *at;
  bramah_status status = bramah__topics_open(reader);
  if (status) return status;
  bramah__topics *t = reader->source;
  t->unpack = unpack_piece;
  t->list = list_messages;
  t->how_to_sort = "mcap convert IN.bag OUT.mcap, then mcap sort";
  if (t->size >= MARK) status = bramah__topics_look(reader, 0, MARK, &at);
  if (status) return status;
  if (t->size < MARK || memcmp(at, "#ROSBAG V2.0\n", MARK) != 0)
    return bramah__log_fail(
        reader, BRAMAH_E_UNSUPPORTED, NULL, 0, 0,
        "this is no bag of ROS 1 in format 2.0, which is what is read: convert an older one "
        "(rosbag fix, or mcap convert IN.bag OUT.mcap)");
  status = scan(reader);
  return status ? status : bramah__topics_settle(reader);
}

const bramah__log_kind bramah__log_bag = {.names = "*.bag",
                                          .what = "bag of ROS 1",
                                          .record = "row",
                                          .takes = takes,
                                          .open = open_bag,
                                          .close = bramah__topics_close,
                                          .next = bramah__topics_next,
                                          .describe = bramah__topics_describe,
                                          .stand_in = bramah__topics_stand_in,
                                          .why_not = bramah__topics_why_not,
                                          .no_rows = "no message of the log has a column that is used"};
