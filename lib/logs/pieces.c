/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Logs of messages: parts of the file are in memory while their times are due, and give rows in the order of log time. */
#define _GNU_SOURCE /* pread */
#include "lib/logs/topics.h"

#include "lib/logs/mcap.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#ifdef BRAMAH_ZSTD
#include <zstd.h>
#endif
#ifdef BRAMAH_LZ4
#include <lz4frame.h>
#endif
#ifdef BRAMAH_BZIP2
#include <bzlib.h>
#endif

enum {
  WINDOW = BRAMAH__TOPICS_WINDOW,
  PIECE = 1 << 18,      /* small chunks and single messages are put together up to this, */
  PIECE_SIZE = 1 << 20, /* or up to this, uncompressed */
  LOOKED_AT = 64        /* messages of a channel that show the length of its arrays */
};

/* ---- the file ---- */

void bramah__topics_close(bramah_log_reader *reader)
{
  bramah__topics *t = reader->source;
  if (!t) return;
  for (size_t i = 0; i < t->n_schemas; i++) {
    free(t->schemas[i].name);
    free(t->schemas[i].encoding);
    free(t->schemas[i].data);
    bramah__schema_free(&t->schemas[i].schema);
  }
  for (size_t i = 0; i < t->n_channels; i++) {
    free(t->channels[i].topic);
    free(t->channels[i].metadata);
    free(t->channels[i].why_not);
    bramah__slot_free(&t->channels[i].root);
  }
  for (size_t i = 0; i < t->n_places; i++) free(t->places[i].path);
  for (size_t i = 0; i < t->n_blocks; i++) bramah__block_free(&t->blocks[i]);
  for (size_t i = 0; i < 256; i++) free(t->of_id.of[i]), free(t->schema_of_id.of[i]);
#ifdef BRAMAH_ZSTD
  ZSTD_freeDCtx(t->zstd);
#endif
  free(t->schemas);
  free(t->channels);
  free(t->places);
  free(t->pieces);
  free(t->blocks);
  free(t->window);
  free(t);
}

bramah_status bramah__topics_damaged(bramah_log_reader *reader, uint64_t offset, const char *what)
{
  return bramah__log_fail(reader, BRAMAH_E_TRUNCATED, NULL, 0, 0, "the file is damaged at byte %llu: %s",
                          (unsigned long long)offset, what);
}

bramah_status bramah__topics_read(bramah_log_reader *reader, unsigned char *out, uint64_t offset, size_t n)
{
  for (size_t done = 0; done < n;) {
    const ssize_t got = pread(reader->fd, out + done, n - done, (off_t)(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return bramah__log_fail_system(reader, "cannot read: ", errno);
    if (got == 0)
      return bramah__topics_damaged(reader, offset + done, "the file has become shorter while it was read");
    done += (size_t)got;
  }
  return BRAMAH_OK;
}

bramah_status bramah__topics_look(bramah_log_reader *reader, uint64_t offset, size_t n,
                                  const unsigned char **out)
{
  bramah__topics *t = reader->source;
  if (offset < t->window_at || offset + n > t->window_at + t->window_n) {
    const uint64_t left = t->size - offset;
    const size_t more = left < WINDOW ? (size_t)left : WINDOW;
    t->window_at = offset;
    t->window_n = 0;
    const bramah_status status = bramah__topics_read(reader, t->window, offset, more);
    if (status) return status;
    t->window_n = more;
  }
  *out = t->window + (offset - t->window_at);
  return BRAMAH_OK;
}

/* Where the power went, zeros stand for what was not written yet: the file ends before them. A cut one may end with a few of
 * its own. */
static bramah_status leave_zeros(bramah_log_reader *reader)
{
  enum { MOST = 64 };
  bramah__topics *t = reader->source;
  const unsigned char *at;
  uint64_t end = t->size;
  for (size_t n = 0; end && !n;) {
    n = end < WINDOW ? (size_t)end : WINDOW;
    const bramah_status status = bramah__topics_look(reader, end - n, n, &at);
    if (status) return status;
    end -= n;
    while (n && !at[n - 1]) n--;
    end += n;
  }
  if (t->size - end >= MOST) t->size = end;
  return BRAMAH_OK;
}

bramah_status bramah__topics_open(bramah_log_reader *reader)
{
  struct stat info;
  bramah__topics *t = reader->source = calloc(1, sizeof *t);
  if (!t) return bramah__log_fail_memory(reader);
  if (fstat(reader->fd, &info) != 0) return bramah__log_fail_system(reader, "cannot read: ", errno);
  t->size = (uint64_t)info.st_size;
  t->window = malloc(t->size < WINDOW ? (size_t)t->size + 1 : WINDOW);
  if (!t->window) return bramah__log_fail_memory(reader);
  const bramah_status status = leave_zeros(reader);
  if (status) return status;
  t->budget = BRAMAH__MESSAGE_SLOTS;
  reader->format.delimiter = ',';
  reader->format.decimal = '.';
  reader->format.no_header = reader->format.skip = 0;
  reader->format.units = BRAMAH_LOG_UNITS_HEADER;
  return BRAMAH_OK;
}

/* ---- which pieces the file has ---- */

bramah_status bramah__topics_add_piece(bramah_log_reader *reader, const bramah__piece *piece)
{
  bramah__topics *t = reader->source;
  bramah__piece *last = t->n_pieces ? &t->pieces[t->n_pieces - 1] : NULL;
  const uint64_t end = piece->offset + piece->length;
  if (last && end - last->offset <= PIECE &&
      last->size + piece->size <= PIECE_SIZE) { /* one after the other */
    last->length = end - last->offset;
    last->size += piece->size;
    if (piece->first < last->first) last->first = piece->first;
    if (piece->last > last->last) last->last = piece->last;
    return BRAMAH_OK;
  }
  bramah__piece *list = bramah__list_grow(t->pieces, t->n_pieces, sizeof *list);
  if (!list) return bramah__log_fail_memory(reader);
  t->pieces = list;
  list[t->n_pieces++] = *piece;
  return BRAMAH_OK;
}

/* ---- compression ---- */

/* What stands at `from` as `out`. Returns 0 where there is no memory; *got: as far as it is right, more than `size` where all of it
 * (is_whole) is longer or does not end as it must. */
typedef int unpacker(bramah__topics *t, const unsigned char *from, size_t n, int is_whole, unsigned char *out,
                     size_t size, size_t *got);

static int copy(bramah__topics *t, const unsigned char *from, size_t n, int is_whole, unsigned char *out,
                size_t size, size_t *got)
{
  (void)t;
  *got = is_whole || n < size ? n : size;
  memcpy(out, from, n < size ? n : size);
  return 1;
}

#ifdef BRAMAH_ZSTD
static int unpack_zstd(bramah__topics *t, const unsigned char *from, size_t n, int is_whole,
                       unsigned char *out, size_t size, size_t *got)
{
  if (!t->zstd) t->zstd = ZSTD_createDCtx();
  if (!t->zstd) return 0;
  ZSTD_DCtx_reset(t->zstd, ZSTD_reset_session_and_parameters);
  if (is_whole) {
    const size_t done = ZSTD_decompressDCtx(t->zstd, out, size, from, n);
    if (!ZSTD_isError(done)) *got = done;
    return 1;
  }
  ZSTD_DCtx_setParameter(t->zstd, ZSTD_d_windowLogMax, 23);
  ZSTD_inBuffer in = {from, n, 0};
  ZSTD_outBuffer to = {out, size, 0};
  for (size_t before = 1; in.pos < in.size && before != in.pos + to.pos;) {
    before = in.pos + to.pos;
    if (ZSTD_isError(ZSTD_decompressStream(t->zstd, &to, &in))) break;
  }
  *got = to.pos;
  return 1;
}
#else
#define unpack_zstd NULL
#endif

#ifdef BRAMAH_LZ4
static int unpack_lz4(bramah__topics *t, const unsigned char *from, size_t n, int is_whole,
                      unsigned char *out, size_t size, size_t *got)
{
  LZ4F_dctx *lz4;
  size_t hint = 0;
  (void)t;
  if (LZ4F_isError(LZ4F_createDecompressionContext(&lz4, LZ4F_VERSION))) return 0;
  for (size_t at = 0; at < n;) {
    size_t in = n - at, room = size - *got;
    hint = LZ4F_decompress(lz4, out + *got, &room, from + at, &in, NULL);
    if (LZ4F_isError(hint)) break;
    at += in;
    *got += room;
    if (!in && !room) break;
  }
  if (is_whole && hint) *got = SIZE_MAX; /* not at the end of a frame */
  LZ4F_freeDecompressionContext(lz4);
  return 1;
}
#else
#define unpack_lz4 NULL
#endif

#ifdef BRAMAH_BZIP2
static int unpack_bz2(bramah__topics *t, const unsigned char *from, size_t n, int is_whole,
                      unsigned char *out, size_t size, size_t *got)
{
  bz_stream b = {0};
  int done = BZ_OK;
  (void)t;
  if (BZ2_bzDecompressInit(&b, 0, 0) != BZ_OK) return 0;
  b.next_in = (char *)(uintptr_t)from;
  b.avail_in = (unsigned)n;
  b.next_out = (char *)out;
  b.avail_out = (unsigned)size;
  for (unsigned before = UINT_MAX; b.avail_in + b.avail_out != before;) {
    before = b.avail_in + b.avail_out;
    if ((done = BZ2_bzDecompress(&b)) != BZ_OK) break;
  }
  *got = is_whole && n && done != BZ_STREAM_END ? SIZE_MAX
                                                : size - b.avail_out; /* a wrong checksum comes last */
  BZ2_bzDecompressEnd(&b);
  return 1;
}
#else
#define unpack_bz2 NULL
#endif

static const struct {
  const char *name, *package;
  unpacker *unpack; /* NULL: not built in */
} compressions[] = {{"", "", copy},
                    {"none", "", copy},
                    {"zstd", "libzstd-dev", unpack_zstd},
                    {"lz4", "liblz4-dev", unpack_lz4},
                    {"bz2", "libbz2-dev", unpack_bz2}};

bramah_status bramah__topics_unpack(bramah_log_reader *reader, const char *compression,
                                    const unsigned char *from, size_t n, int is_whole, unsigned char *out,
                                    size_t size, size_t *got)
{
  *got = 0;
  for (size_t i = 0; i < sizeof compressions / sizeof *compressions; i++) {
    if (strcmp(compressions[i].name, compression) != 0) continue;
    if (compressions[i].unpack)
      return compressions[i].unpack(reader->source, from, n, is_whole, out, size, got)
                 ? BRAMAH_OK
                 : bramah__log_fail_memory(reader);
    return bramah__log_fail(reader, BRAMAH_E_UNSUPPORTED, NULL, 0, 0,
                            "chunks of the file are compressed with %s, without which bramah was built: "
                            "build it again with %s installed, or write the file without compression",
                            compression, compressions[i].package);
  }
  return bramah__log_fail(reader, BRAMAH_E_UNSUPPORTED, NULL, 0, 0,
                          "chunks of the file are compressed with '%s': read are zstd, lz4 and bz2",
                          compression);
}

/* ---- pieces in memory ---- */

void bramah__block_free(bramah__block *block)
{
  free(block->bytes);
  free(block->entries);
  *block = (bramah__block){0};
}

/* A piece that asks for too much memory. */
static bramah_status fail_held(bramah_log_reader *reader, const bramah__piece *piece)
{
  const bramah__topics *t = reader->source;
  return bramah__log_fail(
      reader, BRAMAH_E_UNSUPPORTED, NULL, 0, 0,
      "more than 32 MiB of the file must be in memory at the same time, because of %s at byte %llu: "
      "write it anew with chunks of a few MiB in the order of time (%s)",
      t->n_blocks ? "chunks that overlap in time" : "a long chunk", (unsigned long long)piece->offset,
      t->how_to_sort);
}

/* A message of which nobody knows what it is. */
static bramah_status fail_unknown(bramah_log_reader *reader, const bramah__block *block, unsigned id)
{
  char what[128];
  if (reader->format.skip_bad_rows) {
    if (!reader->skipped_rows++) reader->first_skipped = reader->row_line;
    return BRAMAH_OK;
  }
  snprintf(what, sizeof what, "there is a message of the %s %u, which no record describes",
           reader->kind == &bramah__log_bag ? "connection" : "channel", id);
  return bramah__topics_damaged(reader, block->piece.offset, what);
}

bramah_status bramah__block_add(bramah_log_reader *reader, bramah__block *block, int all, unsigned id,
                                uint64_t time, uint64_t sent, const unsigned char *data, size_t n)
{
  const bramah__topics *t = reader->source;
  const uint32_t of = bramah__ids_find(&t->of_id, id);
  if (!of) return all ? BRAMAH_OK : fail_unknown(reader, block, id);
  if (!all && !t->channels[of - 1].root.is_wanted) return BRAMAH_OK;
  if (time < block->piece.first || time > block->piece.last)
    return bramah__topics_damaged(reader, block->piece.offset,
                                  "a chunk holds a message from outside the times it states");
  if (block->n == block->room) {
    const size_t room = block->room ? 2 * block->room : 64;
    if (block->size + room * sizeof *block->entries + t->held > BRAMAH__TOPICS_HELD)
      return fail_held(reader, &block->piece);
    bramah__entry *entries = realloc(block->entries, room * sizeof *entries);
    if (!entries) return bramah__log_fail_memory(reader);
    block->entries = entries;
    block->room = room;
  }
  block->entries[block->n++] = (bramah__entry){
      .time = time, .sent = sent, .at = (uint32_t)block->n_kept, .n = (uint32_t)n, .channel = of - 1};
  if (n) memmove(block->bytes + block->n_kept, data, n);
  block->n_kept += n;
  return BRAMAH_OK;
}

/* Equal times stay in the order of the file, which that of the data is, but for empty ones. */
static int by_entry(const void *a, const void *b)
{
  const bramah__entry *x = a, *y = b;
  if (x->time != y->time) return x->time < y->time ? -1 : 1;
  if (x->at != y->at) return x->at < y->at ? -1 : 1;
  return x->n != y->n ? (x->n < y->n ? -1 : 1) : (x->channel > y->channel) - (x->channel < y->channel);
}

static void sort_entries(bramah__block *block)
{
  size_t i = 1;
  while (i < block->n && block->entries[i - 1].time <= block->entries[i].time) i++;
  if (i < block->n) qsort(block->entries, block->n, sizeof *block->entries, by_entry);
}

static size_t size_of(const bramah__block *block)
{
  return block->size + block->room * sizeof *block->entries;
}

bramah_status bramah__topics_load(bramah_log_reader *reader, const bramah__piece *p, int all,
                                  bramah__block *block)
{
  const bramah__topics *t = reader->source;
  *block = (bramah__block){.piece = *p};
  if (p->length > BRAMAH__TOPICS_HELD || p->size > BRAMAH__TOPICS_HELD ||
      p->length + p->size + t->held > BRAMAH__TOPICS_HELD)
    return fail_held(reader, p);
  unsigned char *from = malloc((size_t)p->length + 1);
  block->bytes = malloc((size_t)p->size + 1);
  bramah_status status = from && block->bytes
                             ? bramah__topics_read(reader, from, p->offset, (size_t)p->length)
                             : bramah__log_fail_memory(reader);
  if (!status) status = t->unpack(reader, from, block);
  free(from);
  if (!status) status = t->list(reader, block, all);
  if (status) return bramah__block_free(block), status;
  sort_entries(block);
  if (block->n_kept < block->size / 2) {
    unsigned char *less = realloc(block->bytes, block->n_kept + 1);
    if (less) block->bytes = less, block->size = block->n_kept;
  }
  return BRAMAH_OK;
}

/* ---- what the messages show of their channels ---- */

/* 1 if no other piece need be looked at. A JSON Schema need not say all of its messages. */
static int is_complete(const bramah__topics *t)
{
  if (t->n_stated != t->n_channels || !t->n_stated) return 0;
  for (size_t i = 0; i < t->n_channels; i++) {
    const bramah__channel *ch = &t->channels[i];
    const int is_open = ch->encoding == BRAMAH__MESSAGE_JSON || bramah__slot_is_open(&ch->root);
    if (!ch->why_not && !ch->is_empty && !ch->looked_at && is_open) return 0;
  }
  return 1;
}

static bramah_status read_message(bramah__channel *ch, const unsigned char *data, size_t length,
                                  bramah__message *message)
{
  message->at = message->base = data;
  message->end = data + length;
  message->depth = 0;
  message->n_names = 0;
  if (ch->encoding == BRAMAH__MESSAGE_PROTOBUF) return bramah__message_protobuf(message, &ch->root);
  if (ch->encoding == BRAMAH__MESSAGE_JSON) return bramah__message_json(message, &ch->root);
  return bramah__message_cdr(message, &ch->root, ch->encoding == BRAMAH__MESSAGE_ROS1);
}

/* Pieces in the order of the file, until all channels and the lengths of their arrays are known. */
static bramah_status examine(bramah_log_reader *reader)
{
  bramah__topics *t = reader->source;
  bramah__message look_at = {.budget = &t->budget};
  for (size_t i = 0; i < t->n_pieces && !is_complete(t); i++) {
    bramah__block b;
    bramah_status status = bramah__topics_load(reader, &t->pieces[i], 1, &b);
    if (status == BRAMAH_E_TRUNCATED && reader->format.skip_bad_rows) { /* told when its rows are due */
      bramah_diag_clear(&reader->failure);
      continue;
    }
    if (status) return status;
    for (size_t k = 0; k < b.n; k++) {
      bramah__channel *ch = &t->channels[b.entries[k].channel];
      if (ch->why_not || ch->looked_at++ >= LOOKED_AT) continue;
      read_message(ch, b.bytes + b.entries[k].at, b.entries[k].n, &look_at);
    }
    bramah__block_free(&b);
  }
  return BRAMAH_OK;
}

static int by_time(const void *a, const void *b)
{
  const bramah__piece *x = a, *y = b;
  if (x->first != y->first) return x->first < y->first ? -1 : 1;
  return (x->offset > y->offset) - (x->offset < y->offset);
}

bramah_status bramah__topics_settle(bramah_log_reader *reader)
{
  bramah__topics *t = reader->source;
  const bramah_status status = examine(reader);
  if (status) return status;
  if (t->n_pieces) qsort(t->pieces, t->n_pieces, sizeof *t->pieces, by_time);
  t->message = (bramah__message){.reader = reader, .c_locale = reader->c_locale};
  return bramah__topics_add_columns(reader);
}

/* ---- rows: blocks are a heap ---- */

static int is_earlier(const bramah__block *a, const bramah__block *b)
{
  const uint64_t x = a->entries[a->next].time, y = b->entries[b->next].time;
  return x != y ? x < y : a->piece.offset < b->piece.offset;
}

static void exchange(bramah__block *a, bramah__block *b)
{
  const bramah__block c = *a;
  *a = *b;
  *b = c;
}

/* The first block has come to another message, or is another one: down with it until it is in its place. */
static void sink(bramah__topics *t)
{
  for (size_t i = 0, k; (k = 2 * i + 1) < t->n_blocks; i = k) {
    if (k + 1 < t->n_blocks && is_earlier(&t->blocks[k + 1], &t->blocks[k])) k++;
    if (!is_earlier(&t->blocks[k], &t->blocks[i])) return;
    exchange(&t->blocks[k], &t->blocks[i]);
  }
}

/* The first message was read. */
static void drop_first(bramah__topics *t)
{
  bramah__block *first = t->blocks;
  if (++first->next == first->n) {
    t->held -= size_of(first);
    bramah__block_free(first);
    exchange(first, &t->blocks[--t->n_blocks]);
  }
  sink(t);
}

static bramah_status add_block(bramah_log_reader *reader, const bramah__piece *piece)
{
  bramah__topics *t = reader->source;
  bramah__block *blocks = bramah__list_grow(t->blocks, t->n_blocks, sizeof *blocks);
  if (!blocks) return bramah__log_fail_memory(reader);
  t->blocks = blocks;
  size_t i = t->n_blocks;
  const bramah_status status = bramah__topics_load(reader, piece, 0, &blocks[i]);
  if (status) return status;
  if (!blocks[i].n) return bramah__block_free(&blocks[i]), BRAMAH_OK;
  t->held += size_of(&blocks[i]);
  t->n_blocks++;
  for (size_t above; i && is_earlier(&blocks[i], &blocks[above = (i - 1) / 2]); i = above)
    exchange(&blocks[i], &blocks[above]);
  return BRAMAH_OK;
}

/* The earliest message; NULL: there is none. Pieces that may hold an earlier one are loaded before. */
static bramah_status find_next(bramah_log_reader *reader, const bramah__entry **out)
{
  bramah__topics *t = reader->source;
  for (;;) {
    const bramah__entry *first = t->n_blocks ? &t->blocks->entries[t->blocks->next] : NULL;
    *out = first;
    if (t->next_piece == t->n_pieces) return BRAMAH_OK;
    const bramah__piece *p = &t->pieces[t->next_piece];
    if (first && p->first > first->time) return BRAMAH_OK;
    t->next_piece++;
    t->done += p->length;
    const bramah_status status = add_block(reader, p);
    if (status) return status;
  }
}

/* A time of the record itself. */
static void put_record_time(bramah__topics *t, size_t column, uint64_t ns)
{
  const bramah__slot slot = {.column = column};
  if (ns / 1000000000 >= UINT64_C(9000000000)) ns = UINT64_C(9000000000000000000);
  bramah__message_put_time(&t->message, &slot, (int64_t)(ns / 1000000000), (int64_t)(ns % 1000000000));
}

static bramah_status take_message(bramah_log_reader *reader, const bramah__entry *e)
{
  bramah__topics *t = reader->source;
  bramah__channel *ch = &t->channels[e->channel];
  put_record_time(t, 0, e->time);
  put_record_time(t, t->sent, e->sent);
  if (!read_message(ch, t->blocks->bytes + e->at, e->n, &t->message)) return BRAMAH_OK;
  return bramah__log_fail(
      reader, BRAMAH_E_SYNTAX, ch->topic, reader->row_line, 0, "a message is not what its %s",
      ch->encoding == BRAMAH__MESSAGE_JSON ? "encoding says: it is no JSON" : "schema says");
}

/* Before the first row: channels without a column that is used are passed over. */
static void choose(bramah_log_reader *reader)
{
  bramah__topics *t = reader->source;
  size_t n_used = 0;
  for (size_t i = 0; i < t->n_channels; i++)
    if (!t->channels[i].why_not) n_used += (size_t)bramah__slot_choose(&t->channels[i].root, reader);
  reader->is_sparse = n_used > 1;
  t->is_chosen = 1;
}

/* Messages of the same time are a row, if that is the time that counts and they have none of their own that is used. */
static int is_joined(const bramah_log_reader *reader)
{
  const bramah__topics *t = reader->source;
  return (reader->time_column == 0 || reader->time_column == SIZE_MAX) &&
         (t->sent == SIZE_MAX || reader->columns[t->sent].ignored) &&
         (t->stamp == SIZE_MAX || reader->columns[t->stamp].ignored);
}

bramah_status bramah__topics_next(bramah_log_reader *reader, int *end)
{
  bramah__topics *t = reader->source;
  const bramah__entry *e;
  reader->row_done = 1;
  if (!t->is_chosen) choose(reader);
  t->row++;
  reader->row_line = t->row < INT_MAX ? (int)t->row : INT_MAX;
  bramah_status status = find_next(reader, &e);
  *end = !status && !e;
  t->is_over |= *end;
  if (status || *end) return status;
  for (size_t i = 0; i < reader->n_columns; i++) reader->values[i] = NAN;
  memset(reader->present, 0, reader->n_columns);
  const uint64_t time = e->time;
  const int joined = is_joined(reader);
  do {
    uint64_t *in_row = &t->channels[t->channels[e->channel].topic_of].in_row;
    if (*in_row == t->row) break;
    *in_row = t->row;
    status = take_message(reader, e);
    drop_first(t);
    if (!status) status = find_next(reader, &e);
  } while (!status && joined && e && e->time == time);
  return status;
}

void bramah__topics_describe(const bramah_log_reader *reader, bramah_log_info *info)
{
  const bramah__topics *t = reader->source;
  info->kind = reader->kind->what;
  info->bytes = t->is_over ? t->size : t->done;
  info->is_cut = t->is_cut && t->is_over;
}
