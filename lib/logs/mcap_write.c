/* SPDX-License-Identifier: GPL-3.0-or-later */
/* MCAP files: a message of Protobuf per row, in compressed chunks with an index. The schema has a double per column; as
 * its names allow letters, digits and _ only, the metadata of the channel has the names that columns have here, and units. */
#define _POSIX_C_SOURCE 200809L /* strerror_r that returns an int */
#include "lib/logs/mcap.h"

#include "lib/logs/reader.h"

#ifdef BRAMAH_ZLIB
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>
#ifdef BRAMAH_ZSTD
#include <zstd.h>
#endif

enum { CHUNK = 1 << 18 };

/* Bytes that grow. */
typedef struct buffer {
  unsigned char *bytes;
  size_t n, room;
  int no_memory;
} buffer;

/* A chunk that was written. */
typedef struct chunk_index {
  uint64_t first, last, offset, length, index_offset, index_length, packed, size;
} chunk_index;

typedef struct mcap_file {
  int fd;
  uint64_t written;
  uLong crc; /* of all that was written; of the summary from its beginning */
  buffer head, schema, channel, chunk, times, out;
  unsigned char *row; /* a message record, whose numbers are put in their places */
  size_t n_row;
  size_t *at; /* [n_columns] places in the row; of the time none */
  uint64_t n_rows, file_first, file_last;
  uint64_t first, last; /* of the chunk */
  chunk_index *chunks;
  size_t n_chunks;
} mcap_file;

static void fail_system(bramah_log_writer *writer, const char *what)
{
  char reason[128];
  if (strerror_r(errno, reason, sizeof reason) != 0) reason[0] = '\0';
  bramah__failf(&writer->failure, BRAMAH_E_FILE, writer->path, 0, NULL, "%s: %s", what, reason);
}

/* ---- bytes ---- */

static void put(buffer *b, const void *bytes, size_t n)
{
  if (b->n + n > b->room) {
    const size_t room = 2 * b->room + n + 256;
    unsigned char *more = realloc(b->bytes, room);
    if (!more) b->no_memory = 1;
    if (!more) return;
    b->bytes = more;
    b->room = room;
  }
  if (n) memcpy(b->bytes + b->n, bytes, n);
  b->n += n;
}

static void put_number(buffer *b, uint64_t value, unsigned n)
{
  unsigned char bytes[8];
  for (unsigned i = 0; i < n; i++) bytes[i] = (unsigned char)(value >> (8 * i));
  put(b, bytes, n);
}

static void put_text(buffer *b, const char *text)
{
  put_number(b, strlen(text), 4);
  put(b, text, strlen(text));
}

static void put_varint(buffer *b, uint64_t value)
{
  for (; value >= 0x80; value >>= 7) put_number(b, (value & 0x7F) | 0x80, 1);
  put_number(b, value, 1);
}

/* A field of Protobuf with bytes. */
static void put_field(buffer *b, int number, const void *bytes, size_t n)
{
  put_varint(b, (uint64_t)number << 3 | 2);
  put_varint(b, n);
  put(b, bytes, n);
}

static void put_record(buffer *b, int code, const buffer *content)
{
  put_number(b, (uint64_t)code, 1);
  put_number(b, content->n, 8);
  put(b, content->bytes, content->n);
  b->no_memory |= content->no_memory;
}

/* What is in `out`, into the file; if not all of it, the file ends where it did before. */
static void flush(bramah_log_writer *writer)
{
  mcap_file *f = writer->file;
  size_t done = 0;
  if (f->out.no_memory || f->chunk.no_memory || f->times.no_memory) bramah__fail_memory(&writer->failure);
  while (!writer->failure.status && done < f->out.n) {
    const ssize_t n = write(f->fd, f->out.bytes + done, f->out.n - done);
    if (n > 0) done += (size_t)n;
    if (n >= 0 || errno == EINTR) continue;
    fail_system(writer, "cannot write");
    if (ftruncate(f->fd, (off_t)f->written) != 0) return;
  }
  if (writer->failure.status) return;
  f->crc = crc32(f->crc, f->out.bytes, (uInt)f->out.n);
  f->written += f->out.n;
  f->out.n = 0;
}

/* ---- the head ---- */

/* Numbers 19000 to 19999 are not for users. */
static int number_of(size_t column) { return (int)(column < 19000 ? column : column + 1000); }

static void put_schema(const bramah_log_writer *writer, bramah__mat_field *names, buffer *out)
{
  buffer message = {0}, field = {0}, file = {0}, set = {0};
  put_field(&message, 1, "Row", 3);
  for (size_t i = 1; i < writer->n_columns; i++) {
    field.n = 0;
    put_field(&field, 1, names[i], strlen(names[i]));
    put_varint(&field, 3 << 3), put_varint(&field, (uint64_t)number_of(i));
    put_varint(&field, 4 << 3), put_varint(&field, 1); /* one of it, */
    put_varint(&field, 5 << 3), put_varint(&field, 1); /* a double */
    put_field(&message, 2, field.bytes, field.n);
  }
  put_field(&file, 1, "bramah.proto", 12);
  put_field(&file, 2, "bramah", 6);
  put_field(&file, 4, message.bytes, message.n);
  put_field(&file, 12, "proto3", 6);
  put_field(&set, 1, file.bytes, file.n);
  put_number(out, 1, 2);
  put_text(out, "bramah.Row");
  put_text(out, "protobuf");
  put_number(out, set.n, 4);
  put(out, set.bytes, set.n);
  out->no_memory |= message.no_memory || field.no_memory || file.no_memory || set.no_memory;
  free(message.bytes);
  free(field.bytes);
  free(file.bytes);
  free(set.bytes);
}

/* The topic is called like the file, without folder and ending. */
static void put_channel(const bramah_log_writer *writer, bramah__mat_field *names, buffer *out)
{
  char topic[256], key[BRAMAH__MAT_NAME + 300];
  const char *slash = strrchr(writer->path, '/'), *name = slash ? slash + 1 : writer->path;
  const char *dot = strrchr(name, '.');
  snprintf(topic, sizeof topic, "/%.*s", (int)(dot && dot > name && dot - name < 250 ? dot - name : 250),
           name);
  put_number(out, 1, 2);
  put_number(out, 1, 2);
  put_text(out, topic);
  put_text(out, "protobuf");
  buffer map = {0};
  for (size_t i = 1; i < writer->n_columns; i++) {
    const bramah__log_title *c = &writer->columns[i];
    snprintf(key, sizeof key, BRAMAH__MCAP_NAME "%s", names[i]);
    if (strcmp(names[i], c->name) != 0) put_text(&map, key), put_text(&map, c->name);
    snprintf(key, sizeof key, BRAMAH__MCAP_UNIT "%s", names[i]);
    if (*c->unit) put_text(&map, key), put_text(&map, c->unit);
  }
  put_number(out, map.n, 4);
  put(out, map.bytes, map.n);
  out->no_memory |= map.no_memory;
  free(map.bytes);
}

/* A message without its times and numbers. */
static void make_row(bramah_log_writer *writer)
{
  mcap_file *f = writer->file;
  buffer row = {0};
  put_number(&row, BRAMAH__MCAP_MESSAGE, 1);
  put_number(&row, 0, 8);
  put_number(&row, 1, 2);
  put_number(&row, 0, 4);
  put_number(&row, 0, 8);
  put_number(&row, 0, 8);
  f->at = calloc(writer->n_columns + 1, sizeof *f->at);
  for (size_t i = 1; f->at && i < writer->n_columns; i++) {
    put_varint(&row, (uint64_t)number_of(i) << 3 | 1);
    f->at[i] = row.n;
    put_number(&row, 0, 8);
  }
  if (row.no_memory || !f->at) bramah__fail_memory(&writer->failure);
  f->row = row.bytes;
  f->n_row = row.n;
  if (writer->failure.status) return;
  const uint64_t length = row.n - BRAMAH__MCAP_TAG;
  for (unsigned i = 0; i < 8; i++) f->row[1 + i] = (unsigned char)(length >> (8 * i));
}

static void create_mcap(bramah_log_writer *writer)
{
  mcap_file *f = writer->file = calloc(1, sizeof *f);
  if (!f) {
    bramah__fail_memory(&writer->failure);
    return;
  }
  f->fd = -1;
  if (strcmp(writer->columns[0].name, "t") != 0 || strcmp(writer->columns[0].unit, "s") != 0) {
    bramah__failf(&writer->failure, BRAMAH_E_UNSUPPORTED, writer->path, 0, NULL,
                  "rows of an MCAP file have times: this has no column t[s]; write CSV or a MAT file");
    return;
  }
  f->fd = open(writer->path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (f->fd < 0) fail_system(writer, "cannot create");
}

static void begin_mcap(bramah_log_writer *writer)
{
  mcap_file *f = writer->file;
  bramah__mat_field *names = calloc(writer->n_columns + 1, sizeof *names);
  if (!names) {
    bramah__fail_memory(&writer->failure);
    return;
  }
  bramah__mat_names(writer, names);
  put_text(&f->head, "");
  put_text(&f->head, "bramah " BRAMAH_VERSION);
  put_schema(writer, names, &f->schema);
  put_channel(writer, names, &f->channel);
  free(names);
  f->crc = crc32(0, NULL, 0);
  put(&f->out, BRAMAH__MCAP_MAGIC, BRAMAH__MCAP_MARK);
  put_record(&f->out, BRAMAH__MCAP_HEADER, &f->head);
  put_record(&f->out, BRAMAH__MCAP_SCHEMA, &f->schema);
  put_record(&f->out, BRAMAH__MCAP_CHANNEL, &f->channel);
  flush(writer);
  if (!writer->failure.status) make_row(writer);
}

/* ---- chunks ---- */

/* The records of the chunk, compressed if that makes them shorter. Returns the name of the compression. */
static const char *pack(mcap_file *f, buffer *out)
{
#ifdef BRAMAH_ZSTD
  const size_t room = ZSTD_compressBound(f->chunk.n);
  out->bytes = malloc(room);
  const size_t n = out->bytes ? ZSTD_compress(out->bytes, room, f->chunk.bytes, f->chunk.n, 1) : 0;
  if (n && !ZSTD_isError(n) && n < f->chunk.n) return out->n = n, "zstd";
#endif
  out->n = 0;
  put(out, f->chunk.bytes, f->chunk.n);
  return "";
}

static void end_chunk(bramah_log_writer *writer)
{
  mcap_file *f = writer->file;
  if (!f->chunk.n || writer->failure.status) return;
  chunk_index *chunks = f->n_chunks & (f->n_chunks - 1)
                            ? f->chunks
                            : realloc(f->chunks, (f->n_chunks ? 2 * f->n_chunks : 1) * sizeof *chunks);
  if (chunks) f->chunks = chunks;
  buffer packed = {0};
  const char *compression = pack(f, &packed);
  if (!chunks || packed.no_memory) {
    free(packed.bytes);
    bramah__fail_memory(&writer->failure);
    return;
  }
  chunk_index c = {
      .first = f->first, .last = f->last, .offset = f->written, .packed = packed.n, .size = f->chunk.n};
  const uint64_t length = 8 + 8 + 8 + 4 + 4 + strlen(compression) + 8 + packed.n;
  put_number(&f->out, BRAMAH__MCAP_CHUNK, 1);
  put_number(&f->out, length, 8);
  put_number(&f->out, f->first, 8);
  put_number(&f->out, f->last, 8);
  put_number(&f->out, f->chunk.n, 8);
  put_number(&f->out, crc32(crc32(0, NULL, 0), f->chunk.bytes, (uInt)f->chunk.n), 4);
  put_text(&f->out, compression);
  put_number(&f->out, packed.n, 8);
  put(&f->out, packed.bytes, packed.n);
  free(packed.bytes);
  c.length = f->out.n;
  c.index_offset = f->written + f->out.n;
  put_number(&f->out, BRAMAH__MCAP_MESSAGE_INDEX, 1);
  put_number(&f->out, 2 + 4 + f->times.n, 8);
  put_number(&f->out, 1, 2);
  put_number(&f->out, f->times.n, 4);
  put(&f->out, f->times.bytes, f->times.n);
  c.index_length = f->out.n - c.length;
  flush(writer);
  f->chunk.n = f->times.n = 0;
  f->chunks[f->n_chunks++] = c;
}

static void store(unsigned char *at, uint64_t value, unsigned n)
{
  for (unsigned i = 0; i < n; i++) at[i] = (unsigned char)(value >> (8 * i));
}

static void write_row(bramah_log_writer *writer, const double *values)
{
  mcap_file *f = writer->file;
  if (!(values[0] >= 0.0 && values[0] < 9e9)) {
    bramah__failf(&writer->failure, BRAMAH_E_VALUE, writer->path, 0, "t",
                  "an MCAP file cannot hold a row at %.9g s: its times begin with 0; write CSV or a MAT file",
                  values[0]);
    return;
  }
  const uint64_t time = (uint64_t)llround(values[0] * 1e9);
  unsigned char *head = f->row + BRAMAH__MCAP_TAG;
  store(head + 2, f->n_rows, 4);
  store(head + 6, time, 8);
  store(head + 14, time, 8);
  for (size_t i = 1; i < writer->n_columns; i++) {
    uint64_t raw;
    memcpy(&raw, &values[i], 8);
    store(f->row + f->at[i], raw, 8);
  }
  if (!f->chunk.n || time < f->first) f->first = time;
  if (!f->chunk.n || time > f->last) f->last = time;
  if (!f->n_rows || time < f->file_first) f->file_first = time;
  if (!f->n_rows || time > f->file_last) f->file_last = time;
  f->n_rows++;
  put_number(&f->times, time, 8);
  put_number(&f->times, f->chunk.n, 8);
  put(&f->chunk, f->row, f->n_row);
  if (f->chunk.n >= CHUNK || f->chunk.no_memory) end_chunk(writer);
}

static void sync_mcap(bramah_log_writer *writer)
{
  const mcap_file *f = writer->file;
  end_chunk(writer);
  if (!writer->failure.status && fsync(f->fd) != 0 && errno != EINVAL && errno != EROFS && errno != ENOTSUP)
    fail_system(writer, "cannot write");
}

/* ---- the summary ---- */

static void put_statistics(mcap_file *f)
{
  buffer b = {0};
  put_number(&b, f->n_rows, 8);
  put_number(&b, 1, 2);
  put_number(&b, 1, 4);
  put_number(&b, 0, 4);
  put_number(&b, 0, 4);
  put_number(&b, f->n_chunks, 4);
  put_number(&b, f->file_first, 8);
  put_number(&b, f->file_last, 8);
  put_number(&b, 10, 4);
  put_number(&b, 1, 2);
  put_number(&b, f->n_rows, 8);
  put_record(&f->out, BRAMAH__MCAP_STATISTICS, &b);
  free(b.bytes);
}

static void put_chunk_index(mcap_file *f, const chunk_index *c)
{
  buffer b = {0};
  put_number(&b, c->first, 8);
  put_number(&b, c->last, 8);
  put_number(&b, c->offset, 8);
  put_number(&b, c->length, 8);
  put_number(&b, 10, 4);
  put_number(&b, 1, 2);
  put_number(&b, c->index_offset, 8);
  put_number(&b, c->index_length, 8);
  put_text(&b, c->packed < c->size ? "zstd" : "");
  put_number(&b, c->packed, 8);
  put_number(&b, c->size, 8);
  put_record(&f->out, BRAMAH__MCAP_CHUNK_INDEX, &b);
  free(b.bytes);
}

static void end_file(bramah_log_writer *writer)
{
  mcap_file *f = writer->file;
  buffer b = {0};
  size_t groups[5];
  put_number(&b, f->crc, 4);
  put_record(&f->out, BRAMAH__MCAP_DATA_END, &b);
  flush(writer);
  const uint64_t start = f->written;
  f->crc = crc32(0, NULL, 0);
  groups[0] = f->out.n;
  put_record(&f->out, BRAMAH__MCAP_SCHEMA, &f->schema);
  groups[1] = f->out.n;
  put_record(&f->out, BRAMAH__MCAP_CHANNEL, &f->channel);
  groups[2] = f->out.n;
  put_statistics(f);
  groups[3] = f->out.n;
  for (size_t i = 0; i < f->n_chunks; i++) put_chunk_index(f, &f->chunks[i]);
  groups[4] = f->out.n;
  const uint64_t offsets = start + f->out.n;
  static const int codes[] = {BRAMAH__MCAP_SCHEMA, BRAMAH__MCAP_CHANNEL, BRAMAH__MCAP_STATISTICS,
                              BRAMAH__MCAP_CHUNK_INDEX};
  for (size_t i = 0; i < 4; i++) {
    if (groups[i + 1] == groups[i]) continue;
    b.n = 0;
    put_number(&b, (uint64_t)codes[i], 1);
    put_number(&b, start + groups[i], 8);
    put_number(&b, groups[i + 1] - groups[i], 8);
    put_record(&f->out, BRAMAH__MCAP_SUMMARY_OFFSET, &b);
  }
  put_number(&f->out, BRAMAH__MCAP_FOOTER, 1);
  put_number(&f->out, BRAMAH__MCAP_FOOTER_SIZE, 8);
  put_number(&f->out, start, 8);
  put_number(&f->out, offsets, 8);
  put_number(&f->out, crc32(f->crc, f->out.bytes, (uInt)f->out.n), 4);
  put(&f->out, BRAMAH__MCAP_MAGIC, BRAMAH__MCAP_MARK);
  f->out.no_memory |= b.no_memory;
  free(b.bytes);
  flush(writer);
}

static void finish_mcap(bramah_log_writer *writer)
{
  mcap_file *f = writer->file;
  if (!f) return;
  end_chunk(writer);
  if (!writer->failure.status && f->row) end_file(writer);
  if (f->fd >= 0 && close(f->fd) != 0 && errno != EINTR && !writer->failure.status)
    fail_system(writer, "cannot write");
  free(f->head.bytes);
  free(f->schema.bytes);
  free(f->channel.bytes);
  free(f->chunk.bytes);
  free(f->times.bytes);
  free(f->out.bytes);
  free(f->row);
  free(f->at);
  free(f->chunks);
  free(f);
}

const bramah__log_sink bramah__mcap_sink = {
    .create = create_mcap, .begin = begin_mcap, .write = write_row, .sync = sync_mcap, .finish = finish_mcap};

#else

static void create_mcap(bramah_log_writer *writer)
{
  bramah__failf(&writer->failure, BRAMAH_E_UNSUPPORTED, writer->path, 0, NULL,
                "bramah was built without zlib and cannot write MCAP files: write CSV or a MAT file");
}

static void finish_mcap(bramah_log_writer *writer) { (void)writer; }

const bramah__log_sink bramah__mcap_sink = {.create = create_mcap, .finish = finish_mcap};

#endif
