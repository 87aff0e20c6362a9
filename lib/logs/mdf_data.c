/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The data of MDF 4 as a stream of bytes: DT, DV, DI and DZ blocks, alone or in lists (HL, DL, LD). Deflate is undone by pieces; a
 * block that was transposed before is undone whole, as its first row needs bytes of all of it. */
#define _GNU_SOURCE /* pread */
#include "lib/logs/mdf.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

/* Bytes read at once, and of all data at a time. deflate makes at most so many bytes of one ("zlib Technical Details"). */
enum { PIECE = 1 << 16, MOST_MEMORY = 56 << 20, MOST_EXPANSION = 1032 };

static const char no_block[] = "a block of data is damaged, or is none";
static const char circle[] = "its blocks of data lead in a circle: the file is damaged";
static const char too_large[] = "its compressed blocks take more than 56 MiB of memory at once: save the "
                                "file again with smaller ones, or uncompressed";

int bramah__mdf_get(const bramah__mdf_file *file, uint64_t at, void *out, size_t n)
{
  unsigned char *to = out;
  if (at > file->size || n > file->size - at) return 0;
  while (n) {
    const ssize_t got = pread(file->fd, to, n, (off_t)at);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return 0;
    to += got, at += (uint64_t)got, n -= (size_t)got;
  }
  return 1;
}

static int stop(bramah__mdf_data *d, bramah_status status, const char *why)
{
  d->wrong = why;
  d->status = status;
  return 0;
}

/* The file ends here: what came before is whole. */
static int stop_cut(bramah__mdf_data *d)
{
  d->is_cut = 1;
  d->n_links = d->next_list = d->left = d->to_come = 0;
  return 0;
}

/* ---- memory ---- */

/* More of it, within what all data may have. NULL: a failure of the data. */
static unsigned char *grow(bramah__mdf_data *d, unsigned char *old, size_t had, size_t n)
{
  if (n > had && n - had > MOST_MEMORY - d->file->memory)
    return stop(d, BRAMAH_E_UNSUPPORTED, too_large), NULL;
  unsigned char *out = realloc(old, n);
  if (!out) return stop(d, BRAMAH_E_MEMORY, "out of memory"), NULL;
  d->file->memory += n - had;
  return out;
}

/* Room for n more bytes behind those that wait. */
static int make_room(bramah__mdf_data *d, size_t n)
{
  if (d->begin) memmove(d->buffer, d->buffer + d->begin, d->end - d->begin);
  d->end -= d->begin;
  d->begin = 0;
  if (d->end + n <= d->room) return 1;
  unsigned char *larger = grow(d, d->buffer, d->room, d->end + n);
  if (!larger) return 0;
  d->buffer = larger;
  d->room = d->end + n;
  return 1;
}

void bramah__mdf_data_begin(bramah__mdf_data *data, bramah__mdf_file *file, uint64_t block, int second)
{
  *data = (bramah__mdf_data){.file = file, .second = second};
  data->next_list = block; /* of one block or of a list */
}

/* ---- deflate ---- */

#ifdef BRAMAH_ZLIB
#include <zlib.h>

static int begin_packed(bramah__mdf_data *d)
{
  if (d->zlib) {
    ((z_stream *)d->zlib)->avail_in = 0; /* what may stand behind the end of the block before */
    return inflateReset(d->zlib) == Z_OK;
  }
  d->packed = grow(d, NULL, 0, PIECE);
  if (!d->packed) return 0;
  z_stream *z = d->zlib = calloc(1, sizeof *z);
  if (!z || inflateInit(z) != Z_OK) return stop(d, BRAMAH_E_MEMORY, "out of memory");
  return 1;
}

/* Bytes of the block, at most n; 0: a failure. */
static size_t unpack(bramah__mdf_data *d, unsigned char *out, size_t n)
{
  z_stream *z = d->zlib;
  z->next_out = out;
  z->avail_out = (uInt)n;
  while (z->avail_out) {
    if (!z->avail_in) {
      const size_t some = d->left < PIECE ? (size_t)d->left : PIECE;
      if (!some || !bramah__mdf_get(d->file, d->at, d->packed, some)) break;
      z->next_in = d->packed;
      z->avail_in = (uInt)some;
      d->at += some;
      d->left -= some;
    }
    const int done = inflate(z, Z_NO_FLUSH);
    if (done != Z_OK && done != Z_BUF_ERROR) break; /* its end, too, comes with all bytes that are wanted */
  }
  const size_t got = n - z->avail_out;
  d->to_come -= got;
  if (got == n) return got;
  d->to_come = 0;
  if (d->is_cut) return d->n_links = d->next_list = 0, got;
  return stop(d, BRAMAH_E_SYNTAX, "a compressed block is damaged"), got;
}

void bramah__mdf_data_end(bramah__mdf_data *data)
{
  if (data->zlib) inflateEnd(data->zlib);
  free(data->zlib);
  free(data->packed);
  free(data->buffer);
  if (data->file) data->file->memory -= data->room + (data->packed ? PIECE : 0);
  *data = (bramah__mdf_data){0};
}

/* Whole: byte k of its n / columns rows is byte k / rows of row k mod rows; what is left over stays as it is. */
static int take_transposed(bramah__mdf_data *d)
{
  unsigned char piece[4096];
  const size_t n = (size_t)d->to_come, columns = (size_t)d->columns, rows = n / columns;
  if (!make_room(d, n)) return 0;
  unsigned char *out = d->buffer + d->end;
  size_t row = 0, column = 0, done = 0;
  while (done < n) {
    const size_t want = n - done < sizeof piece ? n - done : sizeof piece, got = unpack(d, piece, want);
    if (got < want) return 0; /* no row of it is whole */
    for (size_t i = 0; i < got; i++) {
      if (column == columns || !rows) {
        out[done + i] = piece[i];
        continue;
      }
      out[row * columns + column] = piece[i];
      if (++row == rows) row = 0, column++;
    }
    done += got;
  }
  d->end += n;
  return 1;
}

static int open_packed(bramah__mdf_data *d, uint64_t at, uint64_t length)
{
  static const char *const kinds[] = {
      "", "",
      "it is compressed by Zstandard (MDF 4.3), which is not read: save it with deflate, or uncompressed",
      "it is compressed by LZ4 (MDF 4.3), which is not read: save it with deflate, or uncompressed"};
  unsigned char head[24];
  if (!bramah__mdf_get(d->file, at, head, sizeof head)) return stop_cut(d);
  const unsigned type = head[2];
  d->columns = type & 1u ? (int)(bramah__mdf_word(head + 4, 4) & 0x7fffffff) : 1;
  d->to_come = bramah__mdf_word(head + 8, 8);
  d->left = bramah__mdf_word(head + 16, 8);
  d->at = at + sizeof head;
  if (length < sizeof head || type > 5 || d->left > length - sizeof head || !d->columns ||
      d->to_come / MOST_EXPANSION > d->left)
    return stop(d, BRAMAH_E_SYNTAX, no_block);
  if (type > 1) return stop(d, BRAMAH_E_UNSUPPORTED, kinds[type / 2 == 1 ? 2 : 3]);
  if (d->left > d->file->size - d->at) d->left = d->file->size - d->at, d->is_cut = 1;
  if (d->columns > 1 && d->to_come > MOST_MEMORY) return stop(d, BRAMAH_E_UNSUPPORTED, too_large);
  d->is_packed = 1;
  return begin_packed(d);
}

#else

static size_t unpack(bramah__mdf_data *d, unsigned char *out, size_t n)
{
  (void)d, (void)out, (void)n;
  return 0;
}

static int take_transposed(bramah__mdf_data *d) { return (void)d, 0; }

static int open_packed(bramah__mdf_data *d, uint64_t at, uint64_t length)
{
  (void)at, (void)length;
  return stop(d, BRAMAH_E_UNSUPPORTED,
              "it is compressed, and bramah was built without zlib: build it again with zlib1g-dev "
              "installed, or save it uncompressed");
}

void bramah__mdf_data_end(bramah__mdf_data *data)
{
  free(data->buffer);
  if (data->file) data->file->memory -= data->room;
  *data = (bramah__mdf_data){0};
}

#endif

/* ---- blocks ---- */

/* DL: next list, blocks; flags [1], reserved [3], their number [4]. LD: the same with flags [4]; if the highest flag is set, as many
 * blocks of invalidation bits follow the blocks. */
static int open_list(bramah__mdf_data *d, uint64_t at, uint64_t length, uint64_t n_links, int with_values)
{
  unsigned char word[8];
  if (!n_links || length < MDF_HEAD + 8 * n_links + 8) return stop(d, BRAMAH_E_SYNTAX, no_block);
  if (!bramah__mdf_get(d->file, at + MDF_HEAD, word, 8)) return stop_cut(d);
  d->next_list = bramah__mdf_word(word, 8);
  if (!bramah__mdf_get(d->file, at + MDF_HEAD + 8 * n_links, word, 8)) return stop_cut(d);
  const int twice = with_values && word[3] & 0x80;
  const uint64_t most = (n_links - 1) / (twice ? 2 : 1), stated = bramah__mdf_word(word + 4, 4);
  d->n_links = stated < most ? stated : most;
  d->link_at = at + MDF_HEAD + 8;
  if (d->second) d->link_at += 8 * most;
  if (d->second && !twice) d->n_links = 0;
  return 1;
}

static int open_block(bramah__mdf_data *d, uint64_t at)
{
  unsigned char head[MDF_HEAD];
  const bramah__mdf_file *file = d->file;
  const int open_end = file->unfinished & MDF_NO_DATA_LENGTH && at >= file->last;
  if (!bramah__mdf_get(file, at, head, sizeof head)) return stop_cut(d);
  uint64_t length = bramah__mdf_word(head + 8, 8);
  const uint64_t n_links = bramah__mdf_word(head + 16, 8);
  if (file->unfinished && memcmp(head, "##", 2) != 0) return stop_cut(d); /* a list that was begun */
  if (open_end && length <= MDF_HEAD) length = file->size - at;
  if (length < MDF_HEAD || n_links > (length - MDF_HEAD) / 8) return stop(d, BRAMAH_E_SYNTAX, no_block);
  d->seen += length < file->size - at ? length : file->size - at;
  if (d->seen > file->size) return stop(d, BRAMAH_E_SYNTAX, circle);
  if (memcmp(head, "##DL", 4) == 0) return open_list(d, at, length, n_links, 0);
  if (memcmp(head, "##LD", 4) == 0) return open_list(d, at, length, n_links, 1);
  const uint64_t data_at = at + MDF_HEAD + 8 * n_links, n = length - MDF_HEAD - 8 * n_links;
  if (memcmp(head, "##HL", 4) == 0) {
    unsigned char link[8];
    if (!n_links) return stop(d, BRAMAH_E_SYNTAX, no_block);
    if (!bramah__mdf_get(file, at + MDF_HEAD, link, 8)) return stop_cut(d);
    d->next_list = bramah__mdf_word(link, 8);
    return 1;
  }
  if (memcmp(head, "##DZ", 4) == 0) return open_packed(d, data_at, n);
  if (memcmp(head, "##DT", 4) != 0 && memcmp(head, "##DV", 4) != 0 && memcmp(head, "##DI", 4) != 0)
    return stop(d, BRAMAH_E_SYNTAX, no_block);
  d->is_packed = 0;
  d->at = data_at;
  d->left = n;
  if (data_at > file->size) return stop_cut(d);
  if (n > file->size - data_at) d->left = file->size - data_at, d->is_cut = !open_end;
  d->to_come = d->left;
  return 1;
}

/* The next block of the list, or the next list; 0: none. */
static int go_on(bramah__mdf_data *d)
{
  unsigned char link[8];
  if (d->is_cut) return 0;
  if (d->n_links) {
    d->n_links--;
    if (!bramah__mdf_get(d->file, d->link_at, link, 8)) return stop_cut(d);
    d->link_at += 8;
    const uint64_t at = bramah__mdf_word(link, 8);
    return at ? open_block(d, at) : 1;
  }
  const uint64_t list = d->next_list;
  d->next_list = 0;
  return list ? open_block(d, list) : 0;
}

/* More bytes behind those that wait; 0: there are none. */
static int take(bramah__mdf_data *d)
{
  while (!d->wrong && !d->to_come)
    if (!go_on(d)) return 0;
  if (d->wrong) return 0;
  if (d->is_packed && d->columns > 1) return take_transposed(d);
  const size_t n = d->to_come < PIECE ? (size_t)d->to_come : PIECE;
  if (!make_room(d, n)) return 0;
  if (d->is_packed) {
    const size_t got = unpack(d, d->buffer + d->end, n);
    d->end += got;
    return got > 0;
  }
  if (!bramah__mdf_get(d->file, d->at, d->buffer + d->end, n)) return stop_cut(d);
  d->at += n;
  d->to_come -= n;
  d->left -= n;
  d->end += n;
  return 1;
}

const unsigned char *bramah__mdf_data_look(bramah__mdf_data *data, size_t n)
{
  while (data->end - data->begin < n)
    if (!take(data)) return NULL;
  return data->buffer + data->begin;
}

int bramah__mdf_data_pass(bramah__mdf_data *data, uint64_t n)
{
  while (data->end - data->begin < n) {
    n -= data->end - data->begin;
    data->begin = data->end;
    if (!take(data)) return 0;
  }
  data->begin += (size_t)n;
  return 1;
}
