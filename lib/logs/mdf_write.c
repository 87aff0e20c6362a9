/* SPDX-License-Identifier: GPL-3.0-or-later */
/* MDF 4.10: one group, sorted, its first column the clock, numbers of 64 bits. All blocks that describe it come first and the records, as
 * one block of data, last: the file only grows, and what a run that dies leaves is an unfinished file that can be read as far as it goes
 * (its number of records and the length of its data are not known). */
#define _POSIX_C_SOURCE 200809L /* strerror_r that returns an int, pwrite */
#include "lib/base/text.h"
#include "lib/logs/mdf.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { FLUSH_AT = 1 << 16 };
enum { HD_SIZE = 104, FH_SIZE = 56, DG_SIZE = 64, CG_SIZE = 104, CN_SIZE = 160 };

typedef struct mdf_file {
  int fd;
  unsigned char *buffer; /* of bytes that follow those in the file */
  size_t used, room;
  uint64_t written;
  uint64_t cycles_at, data_at; /* places to be filled in the end */
  uint64_t rows;
} mdf_file;

static void fail_system(bramah_log_writer *writer, const char *what)
{
  char reason[128];
  if (strerror_r(errno, reason, sizeof reason) != 0) reason[0] = '\0';
  bramah__failf(&writer->failure, BRAMAH_E_FILE, writer->path, 0, NULL, "%s: %s", what, reason);
}

static void create_mdf(bramah_log_writer *writer)
{
  mdf_file *file = writer->file = calloc(1, sizeof *file);
  if (!file) {
    bramah__fail_memory(&writer->failure);
    return;
  }
  file->fd = open(writer->path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file->fd < 0) fail_system(writer, "cannot create");
}

static void put_at(bramah_log_writer *writer, uint64_t at, const unsigned char *bytes, size_t n)
{
  const mdf_file *file = writer->file;
  while (n && !writer->failure.status) {
    const ssize_t done = pwrite(file->fd, bytes, n, (off_t)at);
    if (done < 0 && errno != EINTR) fail_system(writer, "cannot write");
    if (done > 0) bytes += done, at += (uint64_t)done, n -= (size_t)done;
  }
}

static void flush(bramah_log_writer *writer)
{
  mdf_file *file = writer->file;
  put_at(writer, file->written, file->buffer, file->used);
  file->written += file->used;
  file->used = 0;
}

/* ---- blocks ---- */

static void set(unsigned char *at, uint64_t x, int n)
{
  for (int i = 0; i < n; i++) at[i] = (unsigned char)(x >> 8 * i);
}

/* A block of zeros but for its head; its place. The bytes, from its links on, are to be filled before the next one. */
static uint64_t put_block(bramah_log_writer *writer, const char *kind, uint64_t length, size_t n_links,
                          unsigned char **out)
{
  mdf_file *file = writer->file;
  const size_t n = (size_t)(length + 7) / 8 * 8;
  const uint64_t at = file->written + file->used;
  if (file->used + n > file->room && !writer->failure.status) {
    const size_t room = 2 * (file->used + n);
    unsigned char *larger = realloc(file->buffer, room);
    if (!larger) bramah__fail_memory(&writer->failure);
    if (larger) file->buffer = larger, file->room = room;
  }
  if (writer->failure.status) return *out = NULL, at;
  unsigned char *b = file->buffer + file->used;
  memset(b, 0, n);
  memcpy(b, "##", 2);
  memcpy(b + 2, kind, 2);
  set(b + 8, length, 8);
  set(b + 16, n_links, 8);
  file->used += n;
  *out = b + MDF_HEAD;
  return at;
}

/* 0: there is none. */
static uint64_t put_text(bramah_log_writer *writer, const char *kind, const char *text)
{
  unsigned char *b;
  const size_t n = strlen(text);
  if (!n) return 0;
  const uint64_t at = put_block(writer, kind, MDF_HEAD + n + 1, 0, &b);
  if (b) memcpy(b, text, n);
  return at;
}

/* The first one; offset: in the record. */
static uint64_t put_channels(bramah_log_writer *writer)
{
  const size_t n = writer->n_columns;
  uint64_t next = 0;
  for (size_t i = n; i-- > 0 && !writer->failure.status;) {
    unsigned char *b;
    const uint64_t name = put_text(writer, "TX", writer->columns[i].name),
                   unit = put_text(writer, "TX", writer->columns[i].unit);
    const uint64_t at = put_block(writer, "CN", CN_SIZE, 8, &b);
    if (!b) return 0;
    set(b, next, 8);
    set(b + 16, name, 8);
    set(b + 48, unit, 8);
    b += 64;
    b[0] = i ? MDF_CHANNEL_VALUE : MDF_CHANNEL_MASTER;
    b[1] = i ? 0 : MDF_SYNC_TIME;
    b[2] = MDF_FLOAT;
    set(b + 4, 8 * i, 4);
    set(b + 8, 64, 4);
    next = at;
  }
  return next;
}

static void begin_mdf(bramah_log_writer *writer)
{
  static const char history[] = "<FHcomment><TX>estimates</TX><tool_id>bramah</tool_id><tool_vendor>bramah</"
                                "tool_vendor><tool_version>" BRAMAH_VERSION "</tool_version></FHcomment>";
  mdf_file *file = writer->file;
  unsigned char *b;
  const size_t room = FLUSH_AT + 8 * writer->n_columns;
  file->buffer = calloc(1, room);
  file->room = room;
  if (!file->buffer) {
    bramah__fail_memory(&writer->failure);
    return;
  }
  memcpy(file->buffer, "UnFinMF 4.10    bramah  ", 24);
  set(file->buffer + 28, 410, 2);
  set(file->buffer + MDF_UNFINISHED_AT, MDF_NO_CYCLES | MDF_NO_DATA_LENGTH, 2);
  file->used = MDF_ID_SIZE;

  /* The header comes at once, what it leads to after it. The start is not known: 0, and times are as they are. */
  const size_t header = file->used;
  put_block(writer, "HD", HD_SIZE, 6, &b);
  const uint64_t comment = put_text(writer, "MD", history);
  const uint64_t made = put_block(writer, "FH", FH_SIZE, 2, &b);
  if (b) set(b + 8, comment, 8);
  const uint64_t channels = put_channels(writer);
  const uint64_t group = put_block(writer, "CG", CG_SIZE, 6, &b);
  if (b) set(b + 8, channels, 8);
  if (b) set(b + 48 + 24, 8 * writer->n_columns, 4);
  const uint64_t data_group = put_block(writer, "DG", DG_SIZE, 4, &b), data = data_group + DG_SIZE;
  if (b) set(b + 8, group, 8);
  if (b) set(b + 16, data, 8);
  put_block(writer, "DT", MDF_HEAD, 0, &b);
  if (writer->failure.status) return;
  set(file->buffer + header + MDF_HEAD, data_group, 8);
  set(file->buffer + header + MDF_HEAD + 8, made, 8);
  file->cycles_at = group + MDF_HEAD + 48 + 8;
  file->data_at = data;
  flush(writer);
  if (file->room >= room || writer->failure.status) return;
  bramah__fail_memory(&writer->failure);
}

/* ---- records ---- */

static void write_mdf(bramah_log_writer *writer, const double *values)
{
  mdf_file *file = writer->file;
  for (size_t i = 0; i < writer->n_columns; i++, file->used += 8) {
    uint64_t bits;
    memcpy(&bits, &values[i], 8);
    set(file->buffer + file->used, bits, 8);
  }
  file->rows++;
  if (file->used >= FLUSH_AT) flush(writer);
}

static void sync_mdf(bramah_log_writer *writer)
{
  const mdf_file *file = writer->file;
  flush(writer);
  if (!writer->failure.status && fsync(file->fd) != 0 && errno != EINVAL && errno != EROFS &&
      errno != ENOTSUP)
    fail_system(writer, "cannot write");
}

/* Only now it says that it is whole. */
static void finish_mdf(bramah_log_writer *writer)
{
  mdf_file *file = writer->file;
  unsigned char bytes[8];
  if (!file) return;
  if (!writer->failure.status && file->data_at) {
    flush(writer);
    set(bytes, file->rows, 8);
    put_at(writer, file->cycles_at, bytes, 8);
    set(bytes, MDF_HEAD + 8 * writer->n_columns * file->rows, 8);
    put_at(writer, file->data_at + 8, bytes, 8);
    set(bytes, 0, 8);
    put_at(writer, MDF_UNFINISHED_AT, bytes, 2);
    put_at(writer, 0, (const unsigned char *)"MDF     ", 8);
  }
  if (file->fd >= 0 && close(file->fd) != 0 && errno != EINTR && !writer->failure.status)
    fail_system(writer, "cannot write");
  free(file->buffer);
  free(file);
}

const bramah__log_sink bramah__mdf_sink = {
    .create = create_mdf, .begin = begin_mdf, .write = write_mdf, .sync = sync_mdf, .finish = finish_mdf};
