/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The data of MDF 4 as a stream of bytes: DT, DV, DI, SD and DZ blocks, alone or in lists (HL, DL, LD). Compression is undone by pieces; a
 * block that was transposed before is undone whole, as its first row needs bytes of all of it. */
#define _GNU_SOURCE /* pread */
#include "lib/logs/mdf.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

/* Bytes of all data at a time. */
enum { MOST_MEMORY = 56 << 20 };

static const char no_block[] = "a block of data is damaged, or is none";
static const char circle[] = "its blocks of data lead in a circle: the file is damaged";
static const char too_large[] =
    "with the other groups that are used it takes more than 56 MiB of memory: use columns of fewer groups, "
    "or save the file again with smaller compressed blocks, or uncompressed";

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

/* ---- compressed blocks ---- */

/* A way of packing; undo NULL: it is not built in. begin: a block, whose first packed bytes wait; 0: a failure. undo: makes at most
 * *n_out bytes of at most *n_in and says how many; 0: these were the last ones, or the block is damaged. */
typedef struct bramah__mdf_packing {
  const char *without;
  uint64_t most; /* bytes that can be made of one */
  int (*begin)(bramah__mdf_data *d);
  int (*undo)(bramah__mdf_data *d, unsigned char *out, size_t *n_out, const unsigned char *in, size_t *n_in);
  void (*end)(void *unpacker);
} packing;

/* Of its own, within what all data may have. */
static int count_memory(bramah__mdf_data *d, size_t n)
{
  if (n > d->taken && n - d->taken > MOST_MEMORY - d->file->memory)
    return stop(d, BRAMAH_E_UNSUPPORTED, too_large);
  d->file->memory += n - d->taken;
  d->taken = n;
  return 1;
}

static int has_unpacker(bramah__mdf_data *d)
{
  return d->unpacker ? 1 : stop(d, BRAMAH_E_MEMORY, "out of memory");
}

#ifdef BRAMAH_ZLIB
#include <zlib.h>

enum { ZLIB_MEMORY = 48 << 10 }; /* its window of 32 KiB, its tables, buffers of its user */

static int begin_zlib(bramah__mdf_data *d)
{
  if (d->unpacker) return inflateReset(d->unpacker) == Z_OK;
  if (!count_memory(d, ZLIB_MEMORY)) return 0;
  z_stream *z = d->unpacker = calloc(1, sizeof *z);
  if (z && inflateInit(z) != Z_OK) free(z), d->unpacker = NULL;
  return has_unpacker(d);
}

static int undo_zlib(bramah__mdf_data *d, unsigned char *out, size_t *n_out, const unsigned char *in,
                     size_t *n_in)
{
  z_stream *z = d->unpacker;
  z->next_out = out;
  z->avail_out = (uInt)*n_out;
  z->next_in = (Bytef *)(uintptr_t)in;
  z->avail_in = (uInt)*n_in;
  const int done = inflate(z, Z_NO_FLUSH);
  *n_out -= z->avail_out;
  *n_in -= z->avail_in;
  return done == Z_OK || done == Z_BUF_ERROR;
}

static void end_zlib(void *unpacker)
{
  inflateEnd(unpacker);
  free(unpacker);
}

#define ZLIB begin_zlib, undo_zlib, end_zlib
#else
#define ZLIB NULL, NULL, NULL
#endif

#ifdef BRAMAH_ZSTD
#include <zstd.h>

enum { ZSTD_WINDOW = 23 }; /* 8 MiB: no writer that MDF is made for takes more */

static int begin_zstd(bramah__mdf_data *d)
{
  if (!d->unpacker) d->unpacker = ZSTD_createDCtx();
  if (!has_unpacker(d)) return 0;
  ZSTD_DCtx_reset(d->unpacker, ZSTD_reset_session_only);
  ZSTD_DCtx_setParameter(d->unpacker, ZSTD_d_windowLogMax, ZSTD_WINDOW);
  return 1;
}

static int undo_zstd(bramah__mdf_data *d, unsigned char *out, size_t *n_out, const unsigned char *in,
                     size_t *n_in)
{
  ZSTD_inBuffer from = {in, *n_in, 0};
  ZSTD_outBuffer to = {out, *n_out, 0};
  const size_t left = ZSTD_decompressStream(d->unpacker, &to, &from);
  *n_in = from.pos;
  *n_out = to.pos;
  return count_memory(d, ZSTD_sizeof_DCtx(d->unpacker)) && left && !ZSTD_isError(left);
}

static void end_zstd(void *unpacker) { ZSTD_freeDCtx(unpacker); }

#define ZSTD begin_zstd, undo_zstd, end_zstd
#else
#define ZSTD NULL, NULL, NULL
#endif

#ifdef BRAMAH_LZ4
#include <lz4frame.h>

static void end_lz4(void *unpacker) { LZ4F_freeDecompressionContext(unpacker); }

/* "LZ4 Frame Format Description": four bytes of magic, flags, then bits 4 to 6 say how large its blocks are. Two are kept, and what
 * they refer to. */
static int begin_lz4(bramah__mdf_data *d)
{
  LZ4F_dctx *lz4 = NULL;
  if (d->n_packed < 6 && d->is_cut) return stop_cut(d);
  if (d->n_packed < 6 || bramah__mdf_word(d->packed, 4) != 0x184d2204)
    return stop(d, BRAMAH_E_SYNTAX, no_block);
  const size_t block = (size_t)1 << (2 * (d->packed[5] >> 4 & 7) + 8);
  end_lz4(d->unpacker);
  d->unpacker = NULL;
  if (!count_memory(d, 2 * block + (128 << 10))) return 0;
  if (!LZ4F_isError(LZ4F_createDecompressionContext(&lz4, LZ4F_VERSION))) d->unpacker = lz4;
  return has_unpacker(d);
}

static int undo_lz4(bramah__mdf_data *d, unsigned char *out, size_t *n_out, const unsigned char *in,
                    size_t *n_in)
{
  const size_t left = LZ4F_decompress(d->unpacker, out, n_out, in, n_in, NULL);
  return left && !LZ4F_isError(left);
}

#define LZ4 begin_lz4, undo_lz4, end_lz4
#else
#define LZ4 NULL, NULL, NULL
#endif

#define WITHOUT(name, package)                                                                               \
  "it is compressed by " name ", without which bramah was built: build it again with " package               \
  " installed, or save it uncompressed"

/* In the order of the numbers that blocks have for them. deflate: "zlib Technical Details". */
static const packing packings[] = {{WITHOUT("deflate (zlib)", "zlib1g-dev"), 1032, ZLIB},
                                   {WITHOUT("Zstandard", "libzstd-dev"), 1 << 17, ZSTD},
                                   {WITHOUT("LZ4", "liblz4-dev"), 255, LZ4}};
enum { N_PACKINGS = sizeof packings / sizeof packings[0] };

static void end_unpacker(bramah__mdf_data *d)
{
  if (d->unpacker) d->packing->end(d->unpacker);
  d->unpacker = NULL;
  if (d->taken) count_memory(d, 0);
}

/* Packed bytes, when none wait. */
static void refill(bramah__mdf_data *d)
{
  const size_t some = d->left < d->file->piece ? (size_t)d->left : d->file->piece;
  if (d->packed_at < d->n_packed || !some) return;
  d->packed_at = d->n_packed = 0;
  if (!bramah__mdf_get(d->file, d->at, d->packed, some)) return;
  d->n_packed = some;
  d->at += some;
  d->left -= some;
}

/* Bytes of the block, at most n; fewer: a failure. */
static size_t unpack(bramah__mdf_data *d, unsigned char *out, size_t n)
{
  size_t got = 0;
  for (int goes_on = 1; got < n && goes_on;) {
    refill(d);
    size_t in = d->n_packed - d->packed_at, some = n - got;
    goes_on = d->packing->undo(d, out + got, &some, d->packed + d->packed_at, &in) && (in || some);
    d->packed_at += in;
    got += some;
  }
  d->to_come -= got;
  if (got == n) return got;
  d->to_come = 0;
  if (d->is_cut) return d->n_links = d->next_list = 0, got;
  if (!d->wrong) stop(d, BRAMAH_E_SYNTAX, "a compressed block is damaged");
  return got;
}

void bramah__mdf_data_end(bramah__mdf_data *data)
{
  if (data->file) {
    end_unpacker(data);
    data->file->memory -= data->room + (data->packed ? data->file->piece : 0);
  }
  free(data->packed);
  free(data->buffer);
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
  unsigned char head[24];
  if (!bramah__mdf_get(d->file, at, head, sizeof head)) return stop_cut(d);
  const unsigned type = head[2];
  if (type / 2 >= N_PACKINGS)
    return stop(d, BRAMAH_E_UNSUPPORTED,
                "it is compressed in a way that is not known: save it with deflate, or uncompressed");
  const packing *how = &packings[type / 2];
  d->columns = type & 1u ? (int)(bramah__mdf_word(head + 4, 4) & 0x7fffffff) : 1;
  d->to_come = bramah__mdf_word(head + 8, 8);
  d->left = bramah__mdf_word(head + 16, 8);
  d->at = at + sizeof head;
  if (length < sizeof head || d->left > length - sizeof head || !d->columns ||
      d->to_come / how->most > d->left)
    return stop(d, BRAMAH_E_SYNTAX, no_block);
  if (!how->undo) return stop(d, BRAMAH_E_UNSUPPORTED, how->without);
  if (d->left > d->file->size - d->at) d->left = d->file->size - d->at, d->is_cut = 1;
  if (d->columns > 1 && d->to_come > MOST_MEMORY) return stop(d, BRAMAH_E_UNSUPPORTED, too_large);
  if (d->packing != how) end_unpacker(d);
  d->packing = how;
  d->is_packed = 1;
  if (!d->packed && !(d->packed = grow(d, NULL, 0, d->file->piece))) return 0;
  d->packed_at = d->n_packed = 0;
  refill(d);
  return !d->to_come || how->begin(d);
}

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
  if (memcmp(head, "##DT", 4) != 0 && memcmp(head, "##DV", 4) != 0 && memcmp(head, "##DI", 4) != 0 &&
      memcmp(head, "##SD", 4) != 0)
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
  const size_t n = d->to_come < d->file->piece ? (size_t)d->to_come : d->file->piece;
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
