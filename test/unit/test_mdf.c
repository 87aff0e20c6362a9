/* SPDX-License-Identifier: GPL-3.0-or-later */
/* MDF 4 files: every way in which records are stored gives the same rows, conversions, names, several clocks, what is
 * refused, cut and damaged files, and that written files come back. The files are put together here, block by block. */
#define _GNU_SOURCE
#include "lib/logs/mdf.h"
#include "test/support/run.h"
#include "test/support/scratch.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>
#ifdef BRAMAH_ZSTD
#include <zstd.h>
#endif
#ifdef BRAMAH_LZ4
#include <lz4frame.h>
#endif

static char folder[SCRATCH_NAME], path[SCRATCH_NAME + 8], other[SCRATCH_NAME + 8];

static void make_folder(void)
{
  ck_assert(scratch_folder(folder));
  snprintf(path, sizeof path, "%s/a.mf4", folder);
  snprintf(other, sizeof other, "%s/b.mf4", folder);
}

static void remove_folder(void)
{
  unlink(path);
  unlink(other);
  ck_assert_int_eq(rmdir(folder), 0);
}

/* ---- blocks ---- */

static unsigned char bytes[1 << 20];
static size_t used;

static void put(size_t at, uint64_t x, int n)
{
  for (int i = 0; i < n; i++) bytes[at + (size_t)i] = (unsigned char)(x >> 8 * i);
}

static void put_number(size_t at, double x)
{
  uint64_t bits;
  memcpy(&bits, &x, 8);
  put(at, bits, 8);
}

/* A block with so many links of zero and bytes of data; its place. */
static size_t block(const char *kind, size_t n_links, const void *data, size_t n)
{
  const size_t at = used;
  memset(bytes + at, 0, MDF_HEAD + 8 * n_links + n + 8);
  memcpy(bytes + at, "##", 2);
  memcpy(bytes + at + 2, kind, 2);
  put(at + 8, MDF_HEAD + 8 * n_links + n, 8);
  put(at + 16, n_links, 8);
  if (data) memcpy(bytes + at + MDF_HEAD + 8 * n_links, data, n);
  used += (MDF_HEAD + 8 * n_links + n + 7) / 8 * 8;
  return at;
}

static size_t data_of(size_t at) { return at + MDF_HEAD + 8 * bramah__mdf_word(bytes + at + 16, 8); }

static void put_link(size_t at, size_t i, size_t to) { put(at + MDF_HEAD + 8 * i, to, 8); }

static size_t text(const char *t) { return block("TX", 0, t, strlen(t) + 1); }

static void begin_file(void)
{
  memset(bytes, 0, 64);
  memcpy(bytes, "MDF     4.10    test    ", 24);
  put(28, 410, 2);
  used = 64;
  const size_t hd = block("HD", 6, NULL, 32);
  put(data_of(hd), UINT64_C(1700000000000000000), 8);
}

static void end_file(void)
{
  FILE *f = fopen(path, "wb");
  ck_assert_ptr_nonnull(f);
  ck_assert_uint_eq(fwrite(bytes, 1, used, f), used);
  ck_assert_int_eq(fclose(f), 0);
}

/* The last of a chain whose next is link 0, from the first one on. */
static void append(size_t of, size_t link, size_t to)
{
  size_t next = bramah__mdf_word(bytes + of + MDF_HEAD + 8 * link, 8);
  if (!next) {
    put_link(of, link, to);
    return;
  }
  while (bramah__mdf_word(bytes + next + MDF_HEAD, 8)) next = bramah__mdf_word(bytes + next + MDF_HEAD, 8);
  put_link(next, 0, to);
}

static size_t data_group(size_t data, int id_size)
{
  const size_t dg = block("DG", 4, NULL, 8);
  put_link(dg, 2, data);
  put(data_of(dg), (uint64_t)id_size, 1);
  append(64, 0, dg);
  return dg;
}

static size_t group(size_t dg, const char *name, uint64_t cycles, size_t n_data, size_t n_bits)
{
  const size_t cg = block("CG", 6, NULL, 32);
  if (name) put_link(cg, 2, text(name));
  put(data_of(cg) + 8, cycles, 8);
  put(data_of(cg) + 24, n_data, 4);
  put(data_of(cg) + 28, n_bits, 4);
  append(dg, 1, cg);
  return cg;
}

/* type 0: of the data type; shift and bits in the record. */
static size_t channel(size_t cg, const char *name, int data_type, size_t at, int shift, size_t bits)
{
  const size_t cn = block("CN", 8, NULL, 72);
  put_link(cn, 2, text(name));
  bytes[data_of(cn) + 2] = (unsigned char)data_type;
  bytes[data_of(cn) + 3] = (unsigned char)shift;
  put(data_of(cn) + 4, at, 4);
  put(data_of(cn) + 8, bits, 4);
  append(cg, 1, cn);
  return cn;
}

static size_t master(size_t cg, const char *name, int data_type, size_t at, size_t bits)
{
  const size_t cn = channel(cg, name, data_type, at, 0, bits);
  bytes[data_of(cn)] = MDF_CHANNEL_MASTER;
  bytes[data_of(cn) + 1] = MDF_SYNC_TIME;
  return cn;
}

static void put_invalid(size_t cn, size_t bit)
{
  put(data_of(cn) + 12, 2, 4);
  put(data_of(cn) + 16, bit, 4);
}

/* Parameters are numbers; references follow by `refer`. */
static size_t conversion(int type, size_t n_refs, size_t n, const double *values)
{
  const size_t cc = block("CC", 4 + n_refs, NULL, 24 + 8 * n), at = data_of(cc);
  bytes[at] = (unsigned char)type;
  put(at + 4, n_refs, 2);
  put(at + 6, n, 2);
  for (size_t i = 0; i < n; i++) put_number(at + 24 + 8 * i, values[i]);
  return cc;
}

/* ---- ways to store the same records ---- */

enum { ROWS = 100, RECORD = 8 + 2 + 4 + 8 + 2 + 3 + 1, BITS = 1, WHOLE = RECORD + BITS };

static unsigned char records[ROWS][WHOLE];

static double clock_of(int i) { return i / 1000.0; }

/* t; 12 bits from the third on, signed; float of 4 bytes; big-endian double; big-endian integer; half; one bit. */
static void make_records(void)
{
  memset(records, 0, sizeof records);
  for (int i = 0; i < ROWS; i++) {
    unsigned char *r = records[i];
    const double t = clock_of(i), big = -1.5 * i;
    const float single = 0.25f * (float)i;
    const unsigned twelve = (unsigned)(i - 50) & 0xfffu;
    unsigned char turned[8];
    memcpy(r, &t, 8);
    r[8] = (unsigned char)(twelve << 3 & 0xff);
    r[9] = (unsigned char)(twelve << 3 >> 8);
    memcpy(r + 10, &single, 4);
    memcpy(turned, &big, 8);
    for (int k = 0; k < 8; k++) r[14 + k] = turned[7 - k];
    r[22] = (unsigned char)((1000 + i) >> 8);
    r[23] = (unsigned char)(1000 + i);
    r[24] = 0, r[25] = (unsigned char)(0x3c + i % 2 * 4); /* 1 or 2 */
    r[27] = (unsigned char)(i % 2 << 7);
    r[28] = i % 3 == 0 ? 4 : 0; /* bit 2: the integer is invalid */
  }
}

static size_t describe(size_t dg, uint64_t cycles)
{
  const size_t cg = group(dg, "main", cycles, RECORD, BITS);
  master(cg, "time", MDF_FLOAT, 0, 64);
  channel(cg, "twelve", MDF_SIGNED, 8, 3, 12);
  put_link(channel(cg, "single", MDF_FLOAT, 10, 0, 32), 6, text("bar"));
  channel(cg, "big", MDF_FLOAT + 1, 14, 0, 64);
  put_invalid(channel(cg, "integer", MDF_UNSIGNED + 1, 22, 0, 16), 2);
  channel(cg, "half", MDF_FLOAT, 24, 0, 16);
  channel(cg, "bit", MDF_UNSIGNED, 27, 7, 1);
  return cg;
}

static const unsigned char *flat(void) { return records[0]; }

enum { DEFLATE, ZSTD, LZ4 };
static int packing; /* of blocks made by packed() */

/* deflate where the other ways are not built in. */
static size_t pack(unsigned char *out, size_t room, const unsigned char *data, size_t n)
{
  uLongf size = room;
#ifdef BRAMAH_ZSTD
  if (packing == ZSTD) return ZSTD_compress(out, room, data, n, 3);
#endif
#ifdef BRAMAH_LZ4
  if (packing == LZ4) return LZ4F_compressFrame(out, room, data, n, NULL);
#endif
  packing = DEFLATE;
  ck_assert_int_eq(compress(out, &size, data, n), Z_OK);
  return size;
}

/* Rows of `columns` bytes are turned into columns where that is more than 1. */
static size_t packed(const unsigned char *data, size_t n, size_t columns, const char *kind)
{
  static unsigned char turned[1 << 16], out[24 + (1 << 16)];
  const size_t rows = n / columns;
  memcpy(turned, data, n);
  for (size_t k = 0; k < rows * columns; k++) turned[k] = data[k % rows * columns + k / rows];
  const size_t size = pack(out + 24, 1 << 16, turned, n);
  memset(out, 0, 24);
  memcpy(out, kind, 2);
  out[2] = (unsigned char)(2 * packing + (columns > 1));
  for (int i = 0; i < 4; i++) out[4 + i] = (unsigned char)(columns >> 8 * i);
  for (int i = 0; i < 8; i++)
    out[8 + i] = (unsigned char)(n >> 8 * i), out[16 + i] = (unsigned char)(size >> 8 * i);
  return block("DZ", 0, out, 24 + size);
}

static size_t list(size_t n, const size_t *blocks, size_t next)
{
  const size_t dl = block("DL", 1 + n, NULL, 8 + 8 * n);
  put_link(dl, 0, next);
  for (size_t i = 0; i < n; i++) put_link(dl, 1 + i, blocks[i]);
  put(data_of(dl) + 4, n, 4);
  return dl;
}

/* Descriptions first, as who writes while it measures. */
static void store_plain(void)
{
  const size_t dg = data_group(0, 0);
  describe(dg, ROWS);
  put_link(dg, 2, block("DT", 0, flat(), sizeof records));
}

static void store_deflated(void) { describe(data_group(packed(flat(), sizeof records, 1, "DT"), 0), ROWS); }

static void store_transposed(void)
{
  describe(data_group(packed(flat(), sizeof records, WHOLE, "DT"), 0), ROWS);
}

/* Blocks end within records; one is empty; two lists; a list that says how they are compressed. */
static void store_lists(void)
{
  const size_t cuts[] = {0, 100, 101, 1700, sizeof records};
  size_t blocks[4];
  for (size_t i = 0; i < 4; i++) {
    const unsigned char *from = flat() + cuts[i];
    const size_t n = cuts[i + 1] - cuts[i];
    blocks[i] = i == 3   ? packed(from, n, WHOLE, "DT")
                : i == 2 ? packed(from, n, 1, "DT")
                         : block("DT", 0, from, n);
  }
  const size_t nothing = block("DT", 0, NULL, 0), second[] = {nothing, blocks[2], blocks[3]};
  const size_t hl = block("HL", 1, NULL, 8);
  put_link(hl, 0, list(2, blocks, list(3, second, 0)));
  describe(data_group(hl, 0), ROWS);
}

/* Numbers before records of three groups, one of which has texts of any length. */
static void store_unsorted(void)
{
  static unsigned char mixed[ROWS * (WHOLE + 32)];
  size_t n = 0;
  for (int i = 0; i < ROWS; i++) {
    mixed[n] = 7, mixed[n + 1] = 1; /* 263: texts */
    memcpy(mixed + n + 2, "\5\0\0\0hello", 9);
    n += 11;
    mixed[n] = 9, mixed[n + 1] = 0;
    memcpy(mixed + n + 2, "123", 3);
    n += 5;
    mixed[n] = 3, mixed[n + 1] = 0;
    memcpy(mixed + n + 2, records[i], WHOLE);
    n += 2 + WHOLE;
  }
  const size_t dg = data_group(packed(mixed, n, 1, "DT"), 2), cg = describe(dg, ROWS);
  put(data_of(cg), 3, 8);
  const size_t texts = group(dg, NULL, ROWS, 5, 0), third = group(dg, "third", ROWS, 3, 0);
  put(data_of(texts), 263, 8);
  put(data_of(texts) + 16, 1, 2);
  put(data_of(third), 9, 8);
}

/* Values and bits apart, as version 4.20 has it. */
static void store_columns(void)
{
  static unsigned char values[ROWS][RECORD], bits[ROWS];
  for (int i = 0; i < ROWS; i++) memcpy(values[i], records[i], RECORD), bits[i] = records[i][RECORD];
  const size_t dv[2] = {packed(values[0], 30 * RECORD, RECORD, "DV"),
                        block("DV", 0, values[30], sizeof values - 30 * RECORD)};
  const size_t di[2] = {block("DI", 0, bits, 50), packed(bits + 50, ROWS - 50, 1, "DI")};
  const size_t ld = block("LD", 5, NULL, 8 + 16);
  for (size_t i = 0; i < 2; i++) put_link(ld, 1 + i, dv[i]), put_link(ld, 3 + i, di[i]);
  put(data_of(ld), UINT32_C(0x80000000), 4);
  put(data_of(ld) + 4, 2, 4);
  describe(data_group(ld, 0), ROWS);
}

/* Its writer died: no number of records, a block of data without length, half a record. */
static void store_unfinished(void)
{
  memcpy(bytes, "UnFinMF ", 8);
  put(MDF_UNFINISHED_AT, MDF_NO_CYCLES | MDF_NO_DATA_LENGTH, 2);
  const size_t dg = data_group(0, 0);
  describe(dg, 0);
  const size_t dt = block("DT", 0, flat(), sizeof records);
  put_link(dg, 2, dt);
  put(dt + 8, MDF_HEAD, 8);
  used = dt + MDF_HEAD + sizeof records;
}

/* MDF 4.30: other ways of packing, mixed. */
static void store_packed(void)
{
  const size_t step = sizeof records / 8;
  size_t blocks[8];
  for (size_t i = 0; i < 8; i++) {
    packing = (int)i % 4 < 2 ? ZSTD : LZ4;
    blocks[i] = packed(flat() + i * step, i < 7 ? step : sizeof records - 7 * step, i % 2 ? WHOLE : 1, "DT");
  }
  packing = DEFLATE;
  describe(data_group(list(8, blocks, 0), 0), ROWS);
}

static void (*const ways[])(void) = {store_plain,    store_deflated, store_transposed, store_lists,
                                     store_unsorted, store_columns,  store_unfinished, store_packed};

/* ---- reading ---- */

static bramah_log_reader *open_log(void)
{
  bramah_diag diag = {0};
  bramah_log_reader *reader = NULL;
  const bramah_status status = bramah_log_open(path, NULL, &diag, &reader);
  ck_assert_msg(status == BRAMAH_OK, "open: %s: %s", diag.thing, diag.message);
  for (size_t i = 0; i < reader->n_columns; i++) reader->units[i].factor = 1.0;
  return reader;
}

static double values[64];
static unsigned char present[64];

static int next(bramah_log_reader *reader)
{
  bramah_diag diag = {0};
  int end = 0;
  ck_assert_uint_le(reader->n_columns, 64);
  const bramah_status status = bramah_log_next(reader, values, present, &end, &diag);
  ck_assert_msg(!status, "%s: %s", diag.thing, diag.message);
  return !end;
}

static double cell(const bramah_log_reader *reader, const char *name)
{
  size_t i = 0;
  bramah_diag diag = {0};
  ck_assert_msg(!bramah_log_find(reader, name, NULL, &i, &diag), "%s", diag.message);
  ck_assert_int_eq(present[i], !isnan(values[i]));
  return values[i];
}

static void is_row(const bramah_log_reader *reader, int i)
{
  ck_assert_int_eq(reader->time, INT64_C(1000000) * i);
  ck_assert_double_eq(cell(reader, "t"), clock_of(i));
  ck_assert_double_eq(cell(reader, "twelve"), i - 50);
  ck_assert_double_eq(cell(reader, "single"), 0.25 * i);
  ck_assert_double_eq(cell(reader, "main.big"), -1.5 * i);
  ck_assert(i % 3 == 0 ? isnan(cell(reader, "integer")) : cell(reader, "integer") == 1000 + i);
  ck_assert_double_eq(cell(reader, "half"), 1.0 + i % 2);
  ck_assert_double_eq(cell(reader, "bit"), i % 2);
}

EACH_TEST(reads_all_ways_of_storing, 0, sizeof ways / sizeof ways[0])
{
  make_records();
  begin_file();
  ways[_i]();
  end_file();
  bramah_log_reader *reader = open_log();
  ck_assert_int_eq(bramah__log_set_time(reader, 0, NULL, 0, NULL), BRAMAH_OK);
  for (int i = 0; i < ROWS; i++) {
    ck_assert(next(reader));
    is_row(reader, i);
    ck_assert_int_eq(bramah_log_get_info(reader).line, i + 1);
  }
  ck_assert(!next(reader));
  const bramah_log_info info = bramah_log_get_info(reader);
  ck_assert_uint_eq(info.bytes, used);
  ck_assert_int_eq(info.is_cut, ways[_i] == store_unfinished);
  ck_assert_str_eq(reader->columns[2].unit, "bar");
  ck_assert_ptr_nonnull(strstr(info.kind, ways[_i] == store_unfinished ? "4.10, which was not finished"
                                                                       : "MDF file of version 4.10"));
  bramah_log_close(reader);
}

/* What a cut leaves is read as far as it goes, or refused; and damage anywhere is no more than wrong values. */
EACH_TEST(survives_cuts_and_damage, 0, sizeof ways / sizeof ways[0])
{
  make_records();
  begin_file();
  ways[_i]();
  const size_t whole = used;
  int opened = 0, cut = 0;
  for (size_t k = 0; k < 2 * whole; k += k < whole ? 157 : 61) {
    bramah_diag diag = {0};
    bramah_log_reader *reader;
    int end = 0;
    const unsigned char was = bytes[k % whole];
    if (k < whole)
      used = k;
    else
      used = whole, bytes[k - whole] ^= (unsigned char)(1u << k % 8);
    end_file();
    bytes[k % whole] = was;
    if (bramah_log_open(path, NULL, &diag, &reader)) {
      ck_assert_msg(*diag.message, "cut at %zu", k);
      continue;
    }
    opened++;
    bramah_status status = BRAMAH_OK;
    while (reader->n_columns <= 64 && !status && !end)
      status = bramah_log_next(reader, values, present, &end, &diag);
    if (!status && k < whole && !end) ck_abort_msg("no end");
    cut += bramah_log_get_info(reader).is_cut;
    bramah_log_close(reader);
  }
  ck_assert_int_gt(opened, 10);
  if (ways[_i] == store_plain) ck_assert_int_gt(cut, 10);
}

/* ---- conversions ---- */

static const struct {
  int type;
  size_t n;
  double parameters[10], raw[6], wanted[6];
} conversions[] = {
    {0, 0, {0}, {0, 1, 2, 3, 4, 5}, {0, 1, 2, 3, 4, 5}},
    {1, 2, {-3, 0.5}, {0, 1, 2, 3, 4, 5}, {-3, -2.5, -2, -1.5, -1, -0.5}},
    {2, 6, {0, 1, 2, 0, 0, 4}, {0, 1, 2, 3, 4, 5}, {0.5, 0.75, 1, 1.25, 1.5, 1.75}},
    {4, 6, {1, 10, 3, 20, 4, 0}, {0, 1, 2, 3, 3.5, 9}, {10, 10, 15, 20, 10, 0}},
    {5, 6, {1, 10, 3, 20, 4, 0}, {0, 1, 2, 2.5, 3.5, 9}, {10, 10, 10, 20, 20, 0}},
    {6, 7, {0, 1, 10, 2, 4, 20, -1}, {0, 1, 2, 3.9, 4, -1}, {10, -1, 20, 20, -1, -1}},
};

EACH_TEST(converts, 0, sizeof conversions / sizeof conversions[0])
{
  double rows[6][2];
  for (int i = 0; i < 6; i++) rows[i][0] = i, rows[i][1] = conversions[_i].raw[i];
  begin_file();
  const size_t cg = group(data_group(block("DT", 0, rows, sizeof rows), 0), "g", 6, 16, 0);
  master(cg, "t", MDF_FLOAT, 0, 64);
  const size_t cc = conversion(conversions[_i].type, 0, conversions[_i].n, conversions[_i].parameters);
  put_link(cc, 1, text("V"));
  put_link(channel(cg, "x", MDF_FLOAT, 8, 0, 64), 4, cc);
  end_file();
  bramah_log_reader *reader = open_log();
  ck_assert_str_eq(reader->columns[1].unit, "V");
  for (int i = 0; i < 6; i++) {
    ck_assert(next(reader));
    ck_assert_double_eq(cell(reader, "x"), conversions[_i].wanted[i]);
  }
  bramah_log_close(reader);
}

/* Texts alone: the number that stands for them. Among numbers a text is no sample. Ends of ranges belong to them. */
TEST(converts_states)
{
  unsigned char rows[5][2];
  const double keys[] = {0, 1}, ranges[] = {0, 1, 2, 3}, lower[] = {0, 1, 5, 2, 3, 6, 9}, line[] = {100, 10};
  for (int i = 0; i < 5; i++) rows[i][0] = rows[i][1] = (unsigned char)i;
  begin_file();
  const size_t cg = group(data_group(block("DT", 0, rows, sizeof rows), 0), "g", 5, 2, 0);
  master(cg, "t", MDF_UNSIGNED, 0, 8);
  const size_t states = conversion(7, 3, 2, keys), mixed = conversion(7, 3, 2, keys),
               parts = conversion(8, 3, 4, ranges);
  const size_t off = text("off"), linear = conversion(1, 0, 2, line);
  for (size_t i = 0; i < 3; i++) put_link(states, 4 + i, off);
  put_link(mixed, 4, off);
  put_link(mixed, 5, off);
  put_link(mixed, 6, linear);
  put_link(parts, 4, linear);
  put_link(parts, 5, off);
  const size_t all[] = {states, mixed, parts, conversion(6, 0, 7, lower)};
  const char *const names[] = {"states", "mixed", "parts", "ranges"};
  const double wanted[4][5] = {
      {0, 1, 2, 3, 4}, {NAN, NAN, 120, 130, 140}, {100, 110, NAN, NAN, NAN}, {5, 5, 6, 6, 9}};
  for (size_t i = 0; i < 4; i++) put_link(channel(cg, names[i], MDF_UNSIGNED, 1, 0, 8), 4, all[i]);
  end_file();
  bramah_log_reader *reader = open_log();
  for (int row = 0; row < 5; row++) {
    ck_assert(next(reader));
    for (size_t i = 0; i < 4; i++) {
      const double is = cell(reader, names[i]), should = wanted[i][row];
      ck_assert_msg(isnan(is) ? isnan(should) : is == should, "%s, row %d: %g", names[i], row, is);
    }
  }
  bramah_log_close(reader);
}

static void fails(bramah_status code, const char *column, const char *part);

/* ---- several clocks and names ---- */

static void put_two_groups(void)
{
  unsigned char fast[4][16], slow[2][10];
  for (int i = 0; i < 4; i++) {
    const double x = 10.0 + i;
    const uint64_t ns =
        UINT64_C(1000000000000000000) + 10 * (uint64_t)i; /* counts of a double would not do */
    memcpy(fast[i], &ns, 8);
    memcpy(fast[i] + 8, &x, 8);
  }
  for (int i = 0; i < 2; i++) {
    const double t = 0.0;
    memcpy(slow[i], &t, 8);
    slow[i][8] = (unsigned char)(5 + i);
    slow[i][9] = (unsigned char)(7 + i);
  }
  begin_file();
  const double line[] = {-1e9, 1e-9}, step[] = {15e-9, 5e-9};
  const size_t a = group(data_group(block("DT", 0, fast, sizeof fast), 0), "fast", 4, 16, 0);
  put_link(master(a, "count", MDF_UNSIGNED, 0, 64), 4, conversion(1, 0, 2, line));
  channel(a, "x", MDF_FLOAT, 8, 0, 64);
  channel(a, "only", MDF_FLOAT, 8, 0, 64);
  const size_t b = group(data_group(block("DT", 0, slow, sizeof slow), 0), "slow", 2, 10, 0);
  const size_t index = master(b, "index", MDF_UNSIGNED, 0, 0);
  bytes[data_of(index)] = MDF_CHANNEL_VIRTUAL_MASTER;
  put_link(index, 4, conversion(1, 0, 2, step));
  channel(b, "x", MDF_UNSIGNED, 8, 0, 8);
  channel(b, "t", MDF_UNSIGNED, 9, 0, 8);
  end_file();
}

TEST(merges_groups_by_time)
{
  static const struct {
    int64_t time;
    double fast, slow;
  } wanted[] = {{0, 10, NAN}, {10, 11, NAN}, {15, NAN, 5}, {20, 12, 6}, {30, 13, NAN}};
  put_two_groups();
  bramah_log_reader *reader = open_log();
  ck_assert_int_eq(bramah__log_set_time(reader, 0, NULL, 0, NULL), BRAMAH_OK);
  for (size_t i = 0; i < 5; i++) {
    ck_assert(next(reader));
    const double fast = cell(reader, "fast.x"), slow = cell(reader, "slow.x");
    ck_assert_int_eq(reader->time, wanted[i].time);
    ck_assert(isnan(wanted[i].fast) ? isnan(fast) : fast == wanted[i].fast);
    ck_assert(isnan(wanted[i].slow) ? isnan(slow) : slow == wanted[i].slow);
    ck_assert(isnan(slow) || cell(reader, "slow.t") == slow + 2);
    ck_assert(isnan(fast) || cell(reader, "fast.only") == fast);
    ck_assert_double_eq(cell(reader, "count"), cell(reader, "t")); /* a master's own name means the time */
  }
  ck_assert(!next(reader));
  bramah_log_close(reader);
}

/* Of a group without a column that is wanted there are no rows. */
TEST(reads_only_what_is_wanted)
{
  put_two_groups();
  bramah_log_reader *reader = open_log();
  size_t wanted;
  ck_assert_int_eq(bramah_log_find(reader, "slow.x", NULL, &wanted, NULL), BRAMAH_OK);
  for (size_t i = 1; i < reader->n_columns; i++) reader->columns[i].ignored = i != wanted;
  ck_assert(next(reader));
  ck_assert_double_eq(values[wanted], 5);
  ck_assert(next(reader));
  ck_assert(!next(reader));
  bramah_log_close(reader);
}

/* Thousands of groups at once: each has a little memory, and their rows come in order of time. */
TEST(merges_many_groups)
{
  enum { MANY = 1500 };
  int rows = 0, end = 0;
  bramah_diag diag = {0};
  bramah_log_reader *reader = NULL;
  begin_file();
  for (int i = 0; i < MANY; i++) {
    unsigned char two[2][3];
    for (int k = 0; k < 2; k++) {
      const int t = 7919 * i % MANY + k * MANY;
      two[k][0] = (unsigned char)t, two[k][1] = (unsigned char)(t >> 8), two[k][2] = (unsigned char)k;
    }
    const size_t cg = group(data_group(block("DT", 0, two, sizeof two), 0), NULL, 2, 3, 0);
    master(cg, "t", MDF_UNSIGNED, 0, 16);
    channel(cg, "x", MDF_UNSIGNED, 2, 0, 8);
  }
  end_file();
  ck_assert_int_eq(bramah_log_open(path, NULL, &diag, &reader), BRAMAH_OK);
  ck_assert_uint_eq(reader->n_columns, 1 + MANY);
  static double all[1 + MANY];
  static unsigned char has[1 + MANY];
  for (; !bramah_log_next(reader, all, has, &end, &diag) && !end; rows++) {
    int n = 0;
    for (size_t i = 1; i <= MANY; i++) n += has[i];
    ck_assert_int_eq(n, 1);
    ck_assert_double_eq(all[0], rows);
  }
  ck_assert_msg(end, "%s", diag.message);
  ck_assert_int_eq(rows, 2 * MANY);
  bramah_log_close(reader);
}

/* Dates of the header's start where the study asks for dates. */
TEST(gives_dates_if_asked)
{
  put_two_groups();
  bramah_log_reader *reader = open_log();
  ck_assert_int_eq(bramah__log_set_time(reader, 0, "iso8601", 0, NULL), BRAMAH_OK);
  for (int i = 0; i < 2; i++) ck_assert(next(reader));
  ck_assert_int_eq(reader->time, INT64_C(1700000000000000010));
  bramah_log_close(reader);
}

/* ---- CAN frames ---- */

enum { IN_RECORD, IN_BLOCK, AMONG_RECORDS, AMONG_RECORDS_UNFINISHED, AS_ARRAY, N_PLACES };
enum { FRAMES = 6, FRAME = 22 };

/* Time, identifier and its kind, channel, length, and bytes or their place. */
static size_t describe_frames(size_t dg, int how, size_t bytes_at)
{
  const size_t cg = group(dg, "bus", FRAMES, FRAME, 0);
  master(cg, "t", MDF_FLOAT, 0, 64);
  const size_t whole = channel(cg, "CAN_DataFrame", 10, 8, 0, 8 * (FRAME - 8));
  channel(whole, "CAN_DataFrame.ID", MDF_UNSIGNED, 8, 0, 29);
  channel(whole, "CAN_DataFrame.IDE", MDF_UNSIGNED, 11, 7, 1);
  channel(whole, "BusChannel", MDF_UNSIGNED, 12, 0, 8);
  channel(whole, "CAN_DataFrame.DataLength", MDF_UNSIGNED, 13, 0, 8);
  const size_t data =
      channel(whole, "CAN_DataFrame.DataBytes", how == AS_ARRAY ? 0 : 10, 14, 0, how == AS_ARRAY ? 8 : 64);
  if (how == AS_ARRAY) {
    const size_t ca = block("CA", 1, NULL, 24);
    put(data_of(ca) + 2, 1, 2);
    put(data_of(ca) + 8, 1, 4);
    put(data_of(ca) + 16, 8, 8);
    put_link(data, 1, ca);
  } else if (how != IN_RECORD) {
    bytes[data_of(data)] = MDF_CHANNEL_VLSD;
    put_link(data, 5, bytes_at);
  }
  return data;
}

static void store_frames(int how)
{
  static const uint32_t ids[] = {0x123, 0x98ff1234, 0x55};
  const int among = how == AMONG_RECORDS || how == AMONG_RECORDS_UNFINISHED;
  unsigned char rows[FRAMES][FRAME] = {{0}}, block_of[FRAMES][12] = {{0}}, mixed[FRAMES][1 + 12 + 1 + FRAME];
  begin_file();
  for (int i = 0; i < FRAMES; i++) {
    const double t = 0.01 * i;
    memcpy(rows[i], &t, 8);
    for (int k = 0; k < 4; k++) rows[i][8 + k] = (unsigned char)(ids[i % 3] >> 8 * k);
    rows[i][12] = 2;
    rows[i][13] = 8;
    block_of[i][0] = 8;
    block_of[i][4] = (unsigned char)i;
    if (how == IN_RECORD || how == AS_ARRAY)
      memcpy(rows[i] + 14, block_of[i] + 4, 8);
    else if (how != AMONG_RECORDS_UNFINISHED)
      rows[i][14] = (unsigned char)(12 * i);
    mixed[i][0] = 2, mixed[i][13] = 1;
    memcpy(mixed[i] + 1, block_of[i], 12);
    memcpy(mixed[i] + 14, rows[i], FRAME);
  }
  const size_t at = how == IN_BLOCK ? block("SD", 0, block_of, sizeof block_of) : 0;
  const size_t dg = among ? data_group(0, 1) : data_group(block("DT", 0, rows, sizeof rows), 0);
  const size_t data = describe_frames(dg, how, at);
  if (!among) return;
  const size_t bus = bramah__mdf_word(bytes + dg + MDF_HEAD + 8, 8), texts = group(dg, NULL, FRAMES, 0, 0);
  put(data_of(bus), 1, 8);
  put(data_of(texts), 2, 8);
  put(data_of(texts) + 16, 1, 2);
  put_link(data, 5, texts);
  put_link(dg, 2, block("DT", 0, mixed, sizeof mixed));
  if (how != AMONG_RECORDS_UNFINISHED) return;
  memcpy(bytes, "UnFinMF ", 8);
  put(MDF_UNFINISHED_AT, MDF_NO_CYCLES | MDF_NO_PLACES, 2);
}

/* Signals of a DBC file are columns besides those of the file, wherever the bytes of the frames are. */
EACH_TEST(decodes_frames, 0, N_PLACES)
{
  static const unsigned char slow[2][2] = {{0, 7}, {1, 8}};
  static const struct {
    double t, x, y, p;
  } wanted[] = {{0, 0, NAN, NAN},        {0, NAN, NAN, 7},    {0.01, NAN, 1, NAN},
                {0.03, 1.5e5, NAN, NAN}, {0.04, NAN, 4, NAN}, {1, NAN, NAN, 8}};
  const bramah_log_format format = {.dbc = other};
  bramah_log_reader *reader = NULL;
  bramah_diag diag = {0};
  size_t i;
  store_frames(_i);
  const size_t cg = group(data_group(block("DT", 0, slow, sizeof slow), 0), "slow", 2, 2, 0);
  master(cg, "t", MDF_UNSIGNED, 0, 8);
  channel(cg, "p", MDF_UNSIGNED, 1, 0, 8);
  end_file();
  FILE *f = fopen(other, "w");
  fputs("BO_ 291 A: 8 X\n SG_ x : 0|16@1+ (0.5,0) [0|0] \"bar\" X\n"
        "BO_ 2566853172 B: 8 X\n SG_ y : 0|8@1- (1,0) [0|0] \"\" X\n",
        f);
  ck_assert_int_eq(fclose(f), 0);
  ck_assert_msg(!bramah_log_open(path, &format, &diag, &reader), "%s", diag.message);
  for (i = 1; i < reader->n_columns; i++)
    reader->columns[i].ignored = strncmp(reader->columns[i].name, "CAN_DataFrame", 13) == 0;
  for (i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
    const double is[] = {wanted[i].t, wanted[i].x, wanted[i].y, wanted[i].p};
    const char *const names[] = {"t", "A.x", "y", "p"};
    ck_assert(next(reader));
    for (int k = 0; k < 4; k++) {
      const double has = cell(reader, names[k]);
      ck_assert_msg(isnan(is[k]) ? isnan(has) : has == is[k], "row %zu, %s: %g", i, names[k], has);
    }
  }
  ck_assert(!next(reader));
  bramah_log_close(reader);
  fails(BRAMAH_E_COLUMN, "x", "which has CAN frames: if it is one of their signals");
}

/* Members of structures and elements of arrays. */
TEST(reads_parts)
{
  unsigned char rows[2][8];
  for (int i = 0; i < 2; i++)
    for (int k = 0; k < 8; k++) rows[i][k] = (unsigned char)(10 * i + k);
  begin_file();
  const size_t cg = group(data_group(block("DT", 0, rows, sizeof rows), 0), NULL, 2, 8, 0);
  master(cg, "t", MDF_UNSIGNED, 0, 8);
  const size_t whole = channel(cg, "joint", 10, 0, 0, 64),
               angle = channel(whole, "angle", MDF_UNSIGNED, 1, 0, 8);
  const size_t array = channel(cg, "a", MDF_UNSIGNED, 2, 0, 8), ca = block("CA", 1, NULL, 16 + 16);
  put_link(array, 1, ca);
  put(data_of(ca) + 2, 2, 2);
  put(data_of(ca) + 8, 1, 4);
  put(data_of(ca) + 16, 2, 8);
  put(data_of(ca) + 24, 3, 8);
  ck_assert_uint_gt(angle, 0);
  end_file();
  bramah_log_reader *reader = open_log();
  for (int i = 0; i < 2; i++) {
    ck_assert(next(reader));
    ck_assert_double_eq(cell(reader, "joint.angle"), 10 * i + 1);
    ck_assert_double_eq(cell(reader, "a(1,1)"), 10 * i + 2);
    ck_assert_double_eq(cell(reader, "g1.a(1,3)"), 10 * i + 4);
    ck_assert_double_eq(cell(reader, "a(2,1)"), 10 * i + 5);
  }
  bramah_log_close(reader);
}

/* Bytes behind the end of a compressed block are no part of the next one. */
TEST(passes_what_follows_a_compressed_block)
{
  make_records();
  begin_file();
  size_t blocks[2];
  for (size_t i = 0; i < 2; i++) {
    blocks[i] = packed(flat() + i * sizeof records / 2, sizeof records / 2, 1, "DT");
    const size_t at = data_of(blocks[i]) + 16, n = bramah__mdf_word(bytes + at, 8);
    put(at, n + 16, 8);
    put(blocks[i] + 8, MDF_HEAD + 24 + n + 16, 8);
    memset(bytes + used, 0, 24);
    used += 24;
  }
  describe(data_group(list(2, blocks, 0), 0), ROWS);
  end_file();
  bramah_log_reader *reader = open_log();
  ck_assert_int_eq(bramah__log_set_time(reader, 0, NULL, 0, NULL), BRAMAH_OK);
  for (int i = 0; i < ROWS; i++) {
    ck_assert(next(reader));
    is_row(reader, i);
  }
  bramah_log_close(reader);
}

/* The clock of another group, in whose records bits of validity stand behind the values. */
TEST(takes_the_clock_of_another_group)
{
  unsigned char clocks[3][3], rows[3] = {7, 8, 9};
  for (int i = 0; i < 3; i++) clocks[i][0] = (unsigned char)(10 * i), clocks[i][1] = 99, clocks[i][2] = 0;
  begin_file();
  const size_t cg = group(data_group(block("DT", 0, clocks, sizeof clocks), 0), "clock", 3, 1, 2);
  master(cg, "t", MDF_UNSIGNED, 0, 8);
  const size_t dg = data_group(block("DT", 0, rows, sizeof rows), 0), cn = block("CG", 7, NULL, 32);
  put(data_of(cn) + 8, 3, 8);
  put(data_of(cn) + 16, 8, 2);
  put(data_of(cn) + 24, 1, 4);
  put_link(cn, 6, cg);
  append(dg, 1, cn);
  channel(cn, "x", MDF_UNSIGNED, 0, 0, 8);
  end_file();
  bramah_log_reader *reader = open_log();
  for (int i = 0; i < 3; i++) {
    ck_assert(next(reader));
    ck_assert_double_eq(cell(reader, "t"), 10 * i);
    ck_assert_double_eq(cell(reader, "x"), 7 + i);
  }
  bramah_log_close(reader);
}

/* Names that several channels have, or another one has as it stands; and `missing` with blanks too many. */
TEST(tells_equal_names_apart)
{
  static const unsigned char rows[2][5] = {{0, 1, 2, 3, 4}, {1, 1, 2, 3, 4}};
  static const char *const names[] = {"x", "x", "x", "g.x"}, *const wanted[] = {"g.x(1)", "g.x(2)", "g.x(3)",
                                                                                "g.x"};
  const bramah_log_format format = {.missing = "     2      7"};
  bramah_log_reader *reader = NULL;
  begin_file();
  const size_t cg = group(data_group(block("DT", 0, rows, sizeof rows), 0), "g", 2, 5, 0);
  master(cg, "t", MDF_UNSIGNED, 0, 8);
  for (size_t i = 0; i < 4; i++) channel(cg, names[i], MDF_UNSIGNED, 1 + i, 0, 8);
  end_file();
  ck_assert_int_eq(bramah_log_open(path, &format, NULL, &reader), BRAMAH_OK);
  ck_assert(next(reader));
  for (size_t i = 0; i < 4; i++) {
    ck_assert_str_eq(reader->columns[1 + i].name, wanted[i]);
    ck_assert(i == 1 ? isnan(cell(reader, wanted[i])) : cell(reader, wanted[i]) == 1.0 + (double)i);
  }
  bramah_log_close(reader);
}

/* ---- what is refused ---- */

static void fails(bramah_status code, const char *column, const char *part)
{
  bramah_diag diag = {0};
  bramah_log_reader *reader = NULL;
  size_t i;
  int end = 0;
  bramah_status status = bramah_log_open(path, NULL, &diag, &reader);
  if (!status && column) status = bramah_log_find(reader, column, NULL, &i, &diag);
  while (!status && !end) status = bramah_log_next(reader, values, present, &end, &diag);
  ck_assert_msg(status == code, "%s: %s", bramah_status_name(status), diag.message);
  ck_assert_msg(strstr(diag.message, part), "message is: %s", diag.message);
  bramah_log_close(reader);
}

TEST(says_why_a_channel_is_no_column)
{
  static const unsigned char rows[2][16];
  static const struct {
    int data_type;
    size_t at, bits;
    const char *says;
  } bad[] = {
      {7, 8, 64, "is text"},       {16, 0, 64, "is complex"},       {10, 8, 64, "is a string of bytes"},
      {0, 12, 64, "lies outside"}, {MDF_FLOAT, 8, 48, "of a kind"}, {MDF_SIGNED, 0, 96, "more than 64 bits"}};
  begin_file();
  const size_t cg = group(data_group(block("DT", 0, rows, sizeof rows), 0), "g", 2, 16, 0);
  master(cg, "t", MDF_FLOAT, 0, 64);
  put_link(channel(cg, "formula", MDF_UNSIGNED, 8, 0, 8), 4, conversion(3, 1, 0, NULL));
  channel(cg, "good", MDF_UNSIGNED, 8, 0, 8);
  const size_t virtual = channel(cg, "virtual", MDF_UNSIGNED, 0, 0, 0);
  bytes[data_of(virtual)] = MDF_CHANNEL_VIRTUAL;
  put_invalid(virtual, 1u << 31);
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    char name[8];
    snprintf(name, sizeof name, "bad%zu", i);
    channel(cg, name, bad[i].data_type, bad[i].at, 0, bad[i].bits);
  }
  const size_t alone = group(data_group(block("DT", 0, rows, sizeof rows), 0), "alone", 2, 16, 0);
  channel(alone, "timeless", MDF_UNSIGNED, 0, 0, 8);
  channel(group(data_group(0, 0), "empty", 0, 16, 0), "none", MDF_UNSIGNED, 0, 0, 8);
  end_file();
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    char name[8];
    snprintf(name, sizeof name, "bad%zu", i);
    fails(BRAMAH_E_COLUMN, name, bad[i].says);
  }
  fails(BRAMAH_E_COLUMN, "formula",
        "by a formula, which is not evaluated: save the log with physical values");
  fails(BRAMAH_E_COLUMN, "virtual", "has its bit of validity outside of its record");
  fails(BRAMAH_E_COLUMN, "timeless", "has no time");
  fails(BRAMAH_E_COLUMN, "none", "has no samples in this file");
  fails(BRAMAH_E_COLUMN, "goood", "did you mean 'good'");
  put_two_groups();
  fails(BRAMAH_E_COLUMN, "x", "is in several groups of the file: say which, as GROUP.CHANNEL");
}

static void store_one(const char *name, size_t data)
{
  const size_t cg = group(data_group(data, 0), "g", 4, 8, 0);
  master(cg, "t", MDF_FLOAT, 0, 64);
  channel(cg, name, MDF_UNSIGNED, 0, 0, 8);
}

TEST(refuses_files)
{
  static const unsigned char rows[4][8];
  static const unsigned char strange[32] = {'D', 'T', 6, 0, 0, 0, 0, 0, 32, 0, 0, 0, 0, 0, 0, 0, 8};
  begin_file();
  store_one("a", block("DT", 0, rows, sizeof rows));
  put(28, 330, 2);
  end_file();
  fails(BRAMAH_E_UNSUPPORTED, NULL,
        "this is an MDF file of version 3.30, versions 4 are read: save it as MDF 4.10");
  memcpy(bytes, "nonsense", 8);
  end_file();
  fails(BRAMAH_E_SYNTAX, NULL, "this is no MDF file, whatever its name says");
  begin_file();
  store_one("a", block("DZ", 0, strange, sizeof strange));
  end_file();
  fails(BRAMAH_E_UNSUPPORTED, "a", "compressed in a way that is not known");
  begin_file();
  const size_t dl = list(1, (const size_t[]){0}, 0);
  put_link(dl, 0, dl);
  store_one("a", dl);
  end_file();
  fails(BRAMAH_E_SYNTAX, "a", "circle");
  begin_file();
  store_one("a", block("XX", 0, rows, sizeof rows));
  end_file();
  fails(BRAMAH_E_SYNTAX, "a", "a block of data is damaged");
  begin_file();
  end_file();
  fails(BRAMAH_E_EMPTY, NULL, "the file holds no series of numbers");
  begin_file();
  store_one("a", block("DT", 0, NULL, 0));
  end_file();
  fails(BRAMAH_E_EMPTY, NULL, "no samples");
  begin_file();
  const size_t cg = group(data_group(block("DT", 0, rows, sizeof rows), 0), "g", 4, 8, 0);
  put_link(master(cg, "clock", MDF_FLOAT, 0, 64), 6, text("ms"));
  channel(cg, "a", MDF_UNSIGNED, 0, 0, 8);
  end_file();
  fails(BRAMAH_E_UNIT, "a", "this clock is in ms, where MDF files have seconds");
}

/* ---- writing ---- */

static bramah_log_writer *begin_copy(const bramah_log_reader *from)
{
  bramah_log_writer *writer = NULL;
  bramah_diag diag;
  ck_assert_msg(!bramah_log_create(path, &diag, &writer), "%s", diag.message);
  for (size_t i = 0; i < from->n_columns; i++)
    ck_assert_int_eq(bramah_log_add_column(writer, from->columns[i].name, from->columns[i].unit, 17, NULL),
                     BRAMAH_OK);
  return writer;
}

/* A log of a machine and its copy have the same bits, also where the copy was not finished. */
EACH_TEST(writes_what_it_reads, 0, 2)
{
  char log[512];
  const char *root = getenv("BRAMAH_SOURCE_ROOT");
  double a[64], b[64];
  unsigned char has_a[64], has_b[64];
  int end = 0, rows = 0;
  bramah_log_reader *from = NULL;
  snprintf(log, sizeof log, "%s/datasets/four-bar/log.csv", root ? root : ".");
  ck_assert_int_eq(bramah_log_open(log, NULL, NULL, &from), BRAMAH_OK);
  bramah_log_writer *writer = begin_copy(from);
  for (; rows < 900 && !bramah_log_next(from, a, has_a, &end, NULL) && !end; rows++) {
    for (size_t i = 0; i < from->n_columns; i++) a[i] = has_a[i] ? a[i] : NAN;
    ck_assert_int_eq(bramah_log_write(writer, a, NULL), BRAMAH_OK);
  }
  if (_i)
    ck_assert_int_eq(bramah_log_flush(writer, NULL), BRAMAH_OK);
  else
    ck_assert_int_eq(bramah_log_finish(writer, NULL), BRAMAH_OK);
  bramah_log_close(from);
  from = NULL;

  ck_assert_int_eq(bramah_log_open(log, NULL, NULL, &from), BRAMAH_OK);
  bramah_log_reader *back = open_log();
  ck_assert_int_eq(bramah__log_set_time(from, 0, NULL, 0, NULL), BRAMAH_OK);
  ck_assert_int_eq(bramah__log_set_time(back, 0, NULL, 0, NULL), BRAMAH_OK);
  ck_assert_uint_eq(back->n_columns, from->n_columns);
  for (size_t i = 0; i < from->n_columns; i++) {
    ck_assert_str_eq(back->columns[i].name, from->columns[i].name);
    ck_assert_str_eq(back->columns[i].unit, from->columns[i].unit);
  }
  for (int row = 0; row < rows; row++) {
    ck_assert_int_eq(bramah_log_next(from, a, has_a, &end, NULL), BRAMAH_OK);
    ck_assert_int_eq(bramah_log_next(back, b, has_b, &end, NULL), BRAMAH_OK);
    ck_assert_mem_eq(has_a, has_b, from->n_columns);
    ck_assert_int_eq(from->time, back->time);
    for (size_t i = 0; i < from->n_columns; i++)
      if (has_a[i]) ck_assert_mem_eq(&a[i], &b[i], sizeof a[i]);
  }
  ck_assert_int_eq(bramah_log_next(back, b, has_b, &end, NULL), BRAMAH_OK);
  ck_assert(end);
  ck_assert_ptr_nonnull(strstr(bramah_log_get_info(back).kind, _i ? "not finished" : "version 4.10"));
  bramah_log_close(from);
  bramah_log_close(back);
  if (_i) ck_assert_int_eq(bramah_log_finish(writer, NULL), BRAMAH_OK);
}

TEST(says_what_it_cannot_write)
{
  bramah_log_writer *writer;
  bramah_diag diag;
  const double one = 1.0;
  ck_assert_int_eq(bramah_log_create("/nowhere/a.mf4", NULL, &writer), BRAMAH_OK);
  ck_assert_int_eq(bramah_log_add_column(writer, "t", "s", 6, NULL), BRAMAH_OK);
  ck_assert_int_eq(bramah_log_write(writer, &one, &diag), BRAMAH_E_FILE);
  ck_assert_ptr_nonnull(strstr(diag.message, "cannot create: No such file"));
  ck_assert_int_eq(bramah_log_finish(writer, NULL), BRAMAH_E_FILE);
}

int main(void) { return run_tests_with("mdf", make_folder, remove_folder); }
