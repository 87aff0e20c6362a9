/* SPDX-License-Identifier: GPL-3.0-or-later */
/* MAT files: layouts that are read as logs, what is refused, damaged files, and that written files come
 * back. The files are made by matio, not by the writer that is tested. */
#define _GNU_SOURCE
#include "lib/logs/reader.h"
#include "test/support/run.h"
#include "test/support/scratch.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static char folder[SCRATCH_NAME], path[SCRATCH_NAME + 8], other[SCRATCH_NAME + 8];

static void make_folder(void)
{
  ck_assert(scratch_folder(folder));
  snprintf(path, sizeof path, "%s/a.mat", folder);
  snprintf(other, sizeof other, "%s/b.mat", folder);
}

static void remove_folder(void)
{
  unlink(path);
  unlink(other);
  ck_assert_int_eq(rmdir(folder), 0); /* nothing is left behind */
}

#ifdef BRAMAH_MATIO
#include <matio.h>
#include <stdarg.h>
#include <zlib.h>

static bramah_log_reader *open_as(const bramah_log_format *format)
{
  bramah_diag diag = {0};
  bramah_log_reader *reader = NULL;
  const bramah_status status = bramah_log_open(path, format, &diag, &reader);
  ck_assert_msg(status == BRAMAH_OK, "open: %s: %s", diag.thing, diag.message);
  return reader;
}

/* ---- files made by matio ---- */

typedef struct kind {
  enum mat_ft version;
  enum matio_compression compression;
  const char *says;
} kind;

static const kind kinds[] = {{MAT_FT_MAT5, MAT_COMPRESSION_NONE, "version 5"},
                             {MAT_FT_MAT5, MAT_COMPRESSION_ZLIB, "version 7: compressed"},
                             {MAT_FT_MAT73, MAT_COMPRESSION_NONE, "version 7.3"},
                             {MAT_FT_MAT73, MAT_COMPRESSION_ZLIB, "version 7.3"},
                             {MAT_FT_MAT4, MAT_COMPRESSION_NONE, "version 4"}};
enum { KINDS = 4 }; /* that hold structs */

/* A file with these variables; the last one is NULL. */
static void put_file(const kind *k, ...)
{
  va_list list;
  mat_t *file = Mat_CreateVer(path, NULL, k->version);
  ck_assert_ptr_nonnull(file);
  va_start(list, k);
  for (matvar_t *v; (v = va_arg(list, matvar_t *));) {
    ck_assert_int_eq(Mat_VarWrite(file, v, k->compression), 0);
    Mat_VarFree(v);
  }
  va_end(list);
  Mat_Close(file);
}

static matvar_t *matrix(const char *name, const double *values, size_t rows, size_t columns)
{
  size_t size[2] = {rows, columns};
  return Mat_VarCreate(name, MAT_C_DOUBLE, MAT_T_DOUBLE, 2, size, (void *)(uintptr_t)values, 0);
}

static matvar_t *vector(const char *name, const double *values, size_t n)
{
  return matrix(name, values, n, 1);
}

static matvar_t *text(const char *name, const char *value)
{
  size_t size[2] = {1, strlen(value)};
  return Mat_VarCreate(name, MAT_C_CHAR, MAT_T_UTF8, 2, size, (void *)(uintptr_t)value, 0);
}

/* A struct, or an array of them, with n_fields that are called as these variables. */
static matvar_t *structure(const char *name, size_t n, size_t n_fields, ...)
{
  const char *fields[8];
  matvar_t *values[32];
  size_t size[2] = {1, n};
  va_list list;
  va_start(list, n_fields);
  for (size_t i = 0; i < n * n_fields; i++) values[i] = va_arg(list, matvar_t *);
  va_end(list);
  for (size_t i = 0; i < n_fields; i++) fields[i] = values[i]->name;
  matvar_t *v = Mat_VarCreateStruct(name, 2, size, fields, (unsigned)n_fields);
  for (size_t i = 0; i < n * n_fields; i++)
    Mat_VarSetStructFieldByName(v, values[i]->name, i / n_fields, values[i]);
  return v;
}

/* ---- rows ---- */

static double cell(const double *values, const unsigned char *present, size_t i)
{
  return present[i] ? values[i] : NAN;
}

/* All rows of a log with these columns equal what is wanted [n x columns]; NaN: no sample. */
static void rows_are(size_t n, const char *const *names, const char *const *units, const double *wanted)
{
  bramah_log_reader *reader = open_as(NULL);
  size_t columns = 0, at[8];
  double values[16];
  unsigned char present[16];
  int end = 0;
  ck_assert_uint_le(reader->n_columns, 16);
  for (; names[columns]; columns++) {
    bramah_diag diag;
    const bramah_status status = bramah_log_find(reader, names[columns], NULL, &at[columns], &diag);
    ck_assert_msg(!status, "%s: %s", names[columns], diag.message);
    ck_assert_str_eq(reader->columns[at[columns]].unit, units[columns]);
    reader->units[at[columns]].factor = 1.0;
  }
  for (size_t row = 0; row < n; row++) {
    ck_assert_int_eq(bramah_log_next(reader, values, present, &end, NULL), BRAMAH_OK);
    ck_assert_int_eq(end, 0);
    ck_assert_int_eq(reader->given_line, (int)row + 1);
    for (size_t i = 0; i < columns; i++) {
      const double is = cell(values, present, at[i]), should = wanted[row * columns + i];
      ck_assert_msg(isnan(is) ? isnan(should) : is == should, "row %zu, %s: %g is not %g", row + 1, names[i],
                    is, should);
    }
  }
  ck_assert_int_eq(bramah_log_next(reader, values, present, &end, NULL), BRAMAH_OK);
  ck_assert_int_eq(end, 1);
  bramah_log_close(reader);
}

/* The message of opening, finding a column, or reading to the end. */
static void fails(bramah_status code, const char *column, const char *part)
{
  bramah_diag diag = {0};
  bramah_log_reader *reader = NULL;
  double values[16];
  unsigned char present[16];
  size_t i;
  int end = 0;
  bramah_status status = bramah_log_open(path, NULL, &diag, &reader);
  if (!status && column) status = bramah_log_find(reader, column, "Pa", &i, &diag);
  while (!status && !end) status = bramah_log_next(reader, values, present, &end, &diag);
  ck_assert_msg(status == code, "%s: %s", bramah_status_name(status), diag.message);
  ck_assert_msg(strstr(diag.message, part), "message is: %s", diag.message);
  ck_assert_str_eq(diag.file, path);
  bramah_log_close(reader);
}

static const double t4[] = {0.0, 0.1, 0.2, 0.3}, a4[] = {1.0, NAN, 3.0, 4.5}, b4[] = {-1.0, -2.0, -3.0, -4.0};

/* ---- layouts ---- */

static const double both8[] = {1, 10, 2, 20, 3, 30, 4, 40}, slow[] = {0.1, 0.25},
                    p4[] = {7.0, 8.0, 70.0, 80.0};

static void put_vectors(const kind *k) /* a row does as well as a column */
{
  put_file(k, vector("t", t4, 4), vector("a", a4, 4), matrix("b", b4, 1, 4), NULL);
}

/* Structs give names with dots, as inputs have them; units are next to the values, or above. */
static void put_structs(const kind *k)
{
  matvar_t *units = structure("units", 1, 3, text("time", "ms"), text("p1", "bar"),
                              structure("valve", 1, 1, text("command", "V")));
  put_file(k,
           structure("log", 1, 5, vector("time", t4, 4), structure("valve", 1, 1, vector("command", a4, 4)),
                     vector("p1", b4, 4), text("note", "second run"), units),
           NULL);
}

static matvar_t *time_series(const char *name, const double *t, const double *values, size_t n,
                             size_t columns, const char *unit)
{
  return structure(name, 1, 3, vector("Time", t, n), matrix("Data", values, n, columns),
                   structure("DataInfo", 1, 1, text("Units", unit)));
}

/* Each has times of its own: rows of all are put together by time. */
static void put_two_series(const kind *k)
{
  put_file(k, time_series("a", t4, a4, 4, 1, "rad"), time_series("p", slow, p4, 2, 2, "bar"), NULL);
}

static void put_one_series(const kind *k) { put_file(k, time_series("a", t4, a4, 4, 1, "rad"), NULL); }

/* Values that go on along the rows of a matrix: the length of the time says so. */
static void put_series_of_rows(const kind *k)
{
  put_file(k, structure("a", 1, 2, vector("time", t4, 4), matrix("data", both8, 2, 4)), NULL);
}

/* Simulink, "structure with time": signals are called by their labels; values [n x 1], or [m x 1 x n]. */
static void put_simulink(const kind *k)
{
  size_t deep[3] = {2, 1, 4};
  matvar_t *two = Mat_VarCreate("values", MAT_C_DOUBLE, MAT_T_DOUBLE, 3, deep, (void *)(uintptr_t)both8, 0);
  matvar_t *signals = structure("signals", 3, 2, vector("values", a4, 4), text("label", "angle"), two,
                                text("label", "pressures"), vector("values", b4, 4), text("label", ""));
  put_file(k, structure("simout", 1, 3, vector("time", t4, 4), signals, text("blockName", "plant/scope")),
           NULL);
}

/* What version 4 has: the sizes of the classes add up to that of the file. */
static void put_classes(const kind *k)
{
  static const uint8_t a[] = {0, 255};
  static const int16_t b[] = {-32768, 32767};
  static const uint16_t c[] = {0, 65535};
  static const int32_t d[] = {INT32_MIN, INT32_MAX};
  static const float e[] = {0.5f, -2.25f};
  size_t size[2] = {2, 1};
  put_file(k, Mat_VarCreate("a", MAT_C_UINT8, MAT_T_UINT8, 2, size, (void *)(uintptr_t)a, 0),
           Mat_VarCreate("b", MAT_C_INT16, MAT_T_INT16, 2, size, (void *)(uintptr_t)b, 0),
           Mat_VarCreate("c", MAT_C_UINT16, MAT_T_UINT16, 2, size, (void *)(uintptr_t)c, 0),
           Mat_VarCreate("d", MAT_C_INT32, MAT_T_INT32, 2, size, (void *)(uintptr_t)d, 0),
           Mat_VarCreate("e", MAT_C_SINGLE, MAT_T_SINGLE, 2, size, (void *)(uintptr_t)e, 0),
           vector("t", t4, 2), NULL);
}

static const struct {
  void (*put)(const kind *k);
  int kinds; /* from the first one on */
  const char *names[7], *units[6];
  size_t n;
  double wanted[24];
} layouts[] = {
    {put_vectors,
     KINDS + 1,
     {"t", "a", "b"},
     {"", "", ""},
     4,
     {0.0, 1.0, -1.0, 0.1, NAN, -2.0, 0.2, 3.0, -3.0, 0.3, 4.5, -4.0}},
    {put_structs,
     KINDS,
     {"time", "valve.command", "p1"},
     {"ms", "V", "bar"},
     4,
     {0.0, 1.0, -1.0, 0.1, NAN, -2.0, 0.2, 3.0, -3.0, 0.3, 4.5, -4.0}},
    {put_structs, KINDS, {"t", "valve.command"}, {"ms", "V"}, 4, {0.0, 1.0, 0.1, NAN, 0.2, 3.0, 0.3, 4.5}},
    {put_two_series,
     KINDS,
     {"t", "a", "p(1)", "p(2)"},
     {"s", "rad", "bar", "bar"},
     5,
     {0.0, 1.0, NAN, NAN, 0.1, NAN, 7.0, 70.0, 0.2, 3.0, NAN, NAN, 0.25, NAN, 8.0, 80.0, 0.3, 4.5, NAN, NAN}},
    {put_one_series, KINDS, {"t", "a"}, {"s", "rad"}, 4, {0.0, 1.0, 0.1, NAN, 0.2, 3.0, 0.3, 4.5}},
    {put_series_of_rows,
     KINDS,
     {"t", "a(1)", "a(2)"},
     {"s", "", ""},
     4,
     {0.0, 1, 10, 0.1, 2, 20, 0.2, 3, 30, 0.3, 4, 40}},
    {put_simulink,
     KINDS,
     {"t", "angle", "pressures(1)", "pressures(2)", "simout(3)"},
     {"s", "", "", "", ""},
     4,
     {0.0, 1.0, 1, 10, -1.0, 0.1, NAN, 2, 20, -2.0, 0.2, 3.0, 3, 30, -3.0, 0.3, 4.5, 4, 40, -4.0}},
    {put_classes,
     KINDS + 1,
     {"t", "a", "b", "c", "d", "e"},
     {"", "", "", "", "", ""},
     2,
     {0.0, 0, -32768, 0, INT32_MIN, 0.5, 0.1, 255, 32767, 65535, INT32_MAX, -2.25}},
};

EACH_TEST(reads_layouts, 0, sizeof layouts / sizeof layouts[0])
{
  for (int i = 0; i < layouts[_i].kinds; i++) {
    layouts[_i].put(&kinds[i]);
    rows_are(layouts[_i].n, layouts[_i].names, layouts[_i].units, layouts[_i].wanted);
    bramah_log_reader *reader = open_as(NULL);
    ck_assert_ptr_nonnull(strstr(bramah_log_get_info(reader).kind, kinds[i].says));
    bramah_log_close(reader);
  }
}

/* Times as counters of 64 bits are exact, and so are numbers of other classes. */
EACH_TEST(reads_whole_numbers, 0, KINDS)
{
  const kind *k = &kinds[_i];
  const int64_t t[] = {INT64_C(1700000000000000001), INT64_C(1700000000000000003)};
  const uint8_t a[] = {0, 255};
  const int16_t b[] = {-32768, 32767};
  const float c[] = {0.5f, -2.25f};
  const uint32_t d[] = {7, UINT32_MAX};
  size_t size[2] = {2, 1}, column;
  double values[8];
  unsigned char present[8];
  int end;
  put_file(k, Mat_VarCreate("t", MAT_C_INT64, MAT_T_INT64, 2, size, (void *)(uintptr_t)t, 0),
           Mat_VarCreate("a", MAT_C_UINT8, MAT_T_UINT8, 2, size, (void *)(uintptr_t)a, MAT_F_LOGICAL),
           Mat_VarCreate("b", MAT_C_INT16, MAT_T_INT16, 2, size, (void *)(uintptr_t)b, 0),
           Mat_VarCreate("c", MAT_C_SINGLE, MAT_T_SINGLE, 2, size, (void *)(uintptr_t)c, 0),
           Mat_VarCreate("d", MAT_C_UINT32, MAT_T_UINT32, 2, size, (void *)(uintptr_t)d, 0), NULL);
  bramah_log_reader *reader = open_as(NULL);
  const char *names[] = {"a", "b", "c", "d"};
  const double wanted[2][4] = {{0, -32768, 0.5, 7}, {255, 32767, -2.25, UINT32_MAX}};
  ck_assert_int_eq(bramah_log_find(reader, "t", NULL, &column, NULL), BRAMAH_OK);
  ck_assert_int_eq(bramah__log_set_time(reader, column, "ns", 0, NULL), BRAMAH_OK);
  for (int row = 0; row < 2; row++) {
    ck_assert_int_eq(bramah_log_next(reader, values, present, &end, NULL), BRAMAH_OK);
    ck_assert_int_eq(reader->time, t[row]);
    for (int i = 0; i < 4; i++) {
      ck_assert_int_eq(bramah_log_find(reader, names[i], NULL, &column, NULL), BRAMAH_OK);
      ck_assert_double_eq(values[column], wanted[row][i]);
    }
  }
  bramah_log_close(reader);
}

/* Blocks of rows, and none of a column nobody wants. */
EACH_TEST(reads_long_vectors, 0, KINDS + 1)
{
  enum { N = 50001 };
  const kind *k = &kinds[_i];
  static double t[N], a[N], values[2];
  unsigned char present[2];
  int end = 0, rows = 0;
  for (int i = 0; i < N; i++) t[i] = 1e-3 * i, a[i] = sin(i);
  put_file(k, vector("t", t, N), vector("a", a, N), NULL);
  bramah_log_reader *reader = open_as(NULL);
  for (;; rows++) {
    ck_assert_int_eq(bramah_log_next(reader, values, present, &end, NULL), BRAMAH_OK);
    if (end) break;
    size_t column;
    bramah_log_find(reader, "a", NULL, &column, NULL);
    ck_assert_double_eq(values[column], a[rows]);
    ck_assert_double_eq(values[1 - column], t[rows]);
  }
  ck_assert_int_eq(rows, N);
  bramah_log_close(reader);
}

/* ---- what is refused ---- */

static void put_contents(const void *bytes, size_t n)
{
  FILE *f = fopen(path, "wb");
  ck_assert_uint_eq(fwrite(bytes, 1, n, f), n);
  fclose(f);
}

static void put_no_columns(const kind *k)
{
  size_t size[2] = {4, 1}, three[2] = {3, 3};
  mat_complex_split_t both = {(void *)(uintptr_t)a4, (void *)(uintptr_t)b4};
  mat_uint32_t ir[] = {0, 2}, jc[] = {0, 2};
  mat_sparse_t sparse = {
      .nzmax = 2, .ir = ir, .nir = 2, .jc = jc, .njc = 2, .ndata = 2, .data = (void *)(uintptr_t)a4};
  double nine[9] = {0};
  put_file(k, vector("t", t4, 4), vector("a", a4, 4),
           Mat_VarCreate("z", MAT_C_DOUBLE, MAT_T_DOUBLE, 2, size, &both, MAT_F_COMPLEX),
           Mat_VarCreate("s", MAT_C_SPARSE, MAT_T_DOUBLE, 2, size, &sparse, 0),
           Mat_VarCreate("m", MAT_C_DOUBLE, MAT_T_DOUBLE, 2, three, nine, 0), vector("short", t4, 3),
           vector("one", t4, 1), vector("nothing", t4, 0), text("words", "abcd"), NULL);
}

static void put_words(const kind *k)
{
  put_file(k, vector("t", t4, 4), text("words", "abcd"), vector("nothing", t4, 0), NULL);
}

static void put_times_of_two_units(const kind *k)
{
  put_file(k, time_series("a", t4, a4, 4, 1, "rad"), vector("t", t4, 4), vector("b", b4, 4), NULL);
}

static void put_nameless(const kind *k) { put_file(k, vector("", b4, 4), NULL); }

static void put_a_name_twice(const kind *k)
{
  put_file(k, structure("names", 1, 1, text("a", "b")), vector("t", t4, 4), vector("a", a4, 4),
           vector("b", b4, 4), NULL);
}

static const struct {
  void (*put)(const kind *k);
  bramah_status status;
  const char *column, *message; /* column NULL: none is asked for */
} refusals[] = {
    {put_no_columns, BRAMAH_E_COLUMN, "z", "the variable 'z' is complex"},
    {put_no_columns, BRAMAH_E_COLUMN, "s",
     "the variable 's' is sparse: a column is a full vector, as full(...) gives it"},
    {put_no_columns, BRAMAH_E_COLUMN, "m(1)", "has 3 rows where 't' has 4"},
    {put_no_columns, BRAMAH_E_COLUMN, "short", "the variable 'short' has 3 rows where 't' has 4"},
    {put_no_columns, BRAMAH_E_COLUMN, "one", "the variable 'one' has 1 rows where 't' has 4"},
    {put_no_columns, BRAMAH_E_COLUMN, "nothing", "the variable 'nothing' is empty"},
    {put_no_columns, BRAMAH_E_COLUMN, "words", "the variable 'words' is text"},
    {put_no_columns, BRAMAH_E_COLUMN, "b", "the log has no column 'b'; it has t, a"},
    {put_no_columns, BRAMAH_E_UNIT, "a",
     "the column has no unit; expected a unit like Pa: state it in the study (column: a, unit: Pa), or in a "
     "struct 'units' of the file (units.a = 'Pa')"},
    {put_structs, BRAMAH_E_COLUMN, "note", "the variable 'note' is text: a column is a vector of numbers"},
    {put_words, BRAMAH_E_EMPTY, NULL,
     "the file holds no vectors of numbers: 'words' is text: a column is a vector of numbers; 'nothing' is "
     "empty"},
    {put_times_of_two_units, BRAMAH_E_UNIT, NULL, "these times are in 's', others of the file have no unit"},
    {put_nameless, BRAMAH_E_EMPTY, NULL, "the file holds no vectors of numbers: '' has no name"},
    {put_a_name_twice, BRAMAH_E_KEY, NULL, "two variables of the file have this name"},
};

EACH_TEST(says_why_a_variable_is_no_column, 0, sizeof refusals / sizeof refusals[0])
{
  refusals[_i].put(&kinds[0]);
  fails(refusals[_i].status, refusals[_i].column, refusals[_i].message);
}

EACH_TEST(asks_for_the_unit_of_times, 0, KINDS + 1)
{
  const kind *k = &kinds[_i];
  bramah_diag diag;
  put_file(k, vector("time", t4, 4), vector("a", a4, 4), NULL);
  bramah_log_reader *reader = open_as(NULL);
  size_t column;
  ck_assert_int_eq(bramah_log_find(reader, "t", NULL, &column, &diag), BRAMAH_OK);
  ck_assert_int_eq(bramah__log_set_time(reader, column, NULL, 0, &diag), BRAMAH_E_UNIT);
  ck_assert_ptr_nonnull(
      strstr(diag.message, "(time: {column: time, unit: s}), or in a struct 'units' of the file"));
  ck_assert_int_eq(bramah__log_set_time(reader, column, "iso8601", 0, &diag), BRAMAH_E_UNIT);
  bramah_log_close(reader);
}

TEST(refuses_files_without_columns)
{
  put_contents("t[s],a[V]\n0,1\n", 14);
  fails(BRAMAH_E_TRUNCATED, NULL, "the file ends in the middle of a variable");
  put_contents("t[s],a[V]\n0,1\n0.1,2\n0.2,3\n", 26);
  fails(BRAMAH_E_SYNTAX, NULL, "this is no MAT file, or it is damaged");
  ck_assert_int_eq(truncate(path, 0), 0);
  fails(BRAMAH_E_EMPTY, NULL, "the file is empty");
  unlink(path);
  fails(BRAMAH_E_FILE, NULL, "cannot open");
}

/* Infinite values, and texts of `missing` that are numbers. */
TEST(treats_bad_values_as_csv_does)
{
  const double a[] = {1.0, INFINITY, -999.0, 4.0};
  bramah_log_format format = {.missing = "- -999", .skip_bad_cells = 1};
  bramah_diag diag = {0};
  double values[2];
  unsigned char present[2];
  int end;
  put_file(&kinds[0], vector("t", t4, 4), vector("a", a, 4), NULL);
  fails(BRAMAH_E_NOT_FINITE, NULL, "'inf' is not a finite number");
  bramah_log_reader *reader = open_as(&format);
  const int wanted[] = {1, 0, 0, 1};
  for (int row = 0; row < 4; row++) {
    ck_assert_int_eq(bramah_log_next(reader, values, present, &end, &diag), BRAMAH_OK);
    ck_assert_int_eq(present[1], wanted[row]);
  }
  ck_assert_uint_eq(reader->columns[1].bad_cells, 1);
  ck_assert_int_eq(reader->columns[1].first_bad, 2);
  bramah_log_close(reader);
  reader = open_as(NULL);
  for (int row = 0; row < 1; row++) bramah_log_next(reader, values, present, &end, &diag);
  ck_assert_int_eq(bramah_log_next(reader, values, present, &end, &diag), BRAMAH_E_NOT_FINITE);
  ck_assert_str_eq(diag.thing, "a");
  ck_assert_int_eq(diag.line, 2);
  bramah_log_close(reader);
}

/* ---- damaged files ---- */

static size_t contents(unsigned char *out, size_t n)
{
  FILE *f = fopen(path, "rb");
  const size_t got = fread(out, 1, n, f);
  fclose(f);
  return got;
}

/* Read to the end; returns the status and how many rows came. */
static bramah_status read_all(int *rows)
{
  bramah_diag diag = {0};
  bramah_log_reader *reader = NULL;
  double values[64];
  unsigned char present[64];
  int end = 0;
  *rows = 0;
  bramah_status status = bramah_log_open(path, NULL, &diag, &reader);
  if (!status && reader->n_columns > 64) status = BRAMAH_E_ARGUMENT;
  while (!status) {
    status = bramah_log_next(reader, values, present, &end, &diag);
    if (end) break;
    *rows += !status;
  }
  if (status) ck_assert_int_ne(diag.message[0], 0);
  bramah_log_close(reader);
  return status;
}

static void put_sample(const kind *k)
{
  const int plain = k->version == MAT_FT_MAT4;
  put_file(k, vector("t", t4, 4), vector("a", b4, 4), plain ? NULL : time_series("b", t4, b4, 4, 1, "rad"),
           NULL);
}

/* A file that was cut is never taken for a shorter log, unless whole variables are gone. */
EACH_TEST(finds_files_that_were_cut, 0, KINDS + 1)
{
  static unsigned char bytes[1 << 16];
  const kind *k = &kinds[_i];
  put_sample(k);
  const size_t n = contents(bytes, sizeof bytes);
  const size_t step = k->version == MAT_FT_MAT73 ? n / 12 : 3;
  int rows, whole = 0;
  for (size_t length = 0; length < n; length += step) {
    put_contents(bytes, length);
    const bramah_status status = read_all(&rows);
    whole += !status;
    if (!status) ck_assert_int_eq(rows, 4);
  }
  ck_assert_int_le(whole, 2);
}

static uint32_t draw(uint32_t *state) { return *state = *state * 1664525u + 1013904223u, *state >> 8; }

/* matio asks for as much memory as a damaged file says, and takes no for an answer. */
const char *__asan_default_options(void);
const char *__asan_default_options(void) { return "allocator_may_return_null=1"; }

/* Simulink's To File [signals x times], and a scope's [times x signals]: one matrix, whose first signal is the time. */
EACH_TEST(reads_a_matrix_alone, 0, 2 * (KINDS + 1))
{
  enum { N = 300 };
  static double down[3][N], rows[N][3];
  for (int i = 0; i < N; i++)
    for (int k = 0; k < 3; k++) down[k][i] = rows[i][k] = k ? 10.0 * i + k : 0.01 * i;
  const int flat = _i % 2; /* matrices lie in columns */
  put_file(&kinds[_i / 2], flat ? matrix("ans", rows[0], 3, N) : matrix("ScopeData", down[0], N, 3), NULL);
  const char *const names[] = {"t", flat ? "ans(1)" : "ScopeData(1)", flat ? "ans(3)" : "ScopeData(3)", NULL};
  static const char *const units[] = {"s", "s", ""};
  static double wanted[N][3];
  for (int i = 0; i < N; i++) {
    wanted[i][0] = wanted[i][1] = rows[i][0];
    wanted[i][2] = rows[i][2];
  }
  rows_are(N, names, units, wanted[0]);
}

/* "Structure" of Simulink: its time is empty, tout is that of the model; a matrix lies as tout has it. */
EACH_TEST(tout_is_the_time_of_what_has_none, 0, KINDS)
{
  static const double t[] = {0, 0.5}, p[] = {7, 8}, many[] = {1, 2, 3, 4, 5, 6};
  matvar_t *signals = structure("signals", 1, 2, vector("values", p, 2), text("label", "p1"));
  put_file(&kinds[_i], vector("tout", t, 2), structure("simout", 1, 2, matrix("time", NULL, 0, 0), signals),
           matrix("yout", many, 2, 3), NULL);
  static const char *const names[] = {"t", "p1", "yout(3)", NULL}, *const units[] = {"s", "", ""};
  rows_are(2, names, units, (const double[]){0, 7, 5, 0.5, 8, 6});
}

/* An object as MATLAB writes it: flags, name, "MCOS", class, and a number that leads to its values. */
TEST(says_what_to_do_with_objects)
{
  static const unsigned char object[] = {
      14, 0, 0, 0, 112, 0, 0, 0, 6,   0,   0,   0,   8,   0,   0,   0,   17,  0,   0,   0,
      0,  0, 0, 0, 1,   0, 2, 0, 't', 's', 0,   0,   1,   0,   4,   0,   'M', 'C', 'O', 'S',
      1,  0, 0, 0, 10,  0, 0, 0, 't', 'i', 'm', 'e', 's', 'e', 'r', 'i', 'e', 's', 0,   0,
      0,  0, 0, 0, 14,  0, 0, 0, 48,  0,   0,   0,   6,   0,   0,   0,   8,   0,   0,   0,
      13, 0, 0, 0, 0,   0, 0, 0, 5,   0,   0,   0,   8,   0,   0,   0,   1,   0,   0,   0,
      1,  0, 0, 0, 1,   0, 0, 0, 0,   0,   0,   0,   6,   0,   4,   0,   0,   0,   0,   0xdd};
  static const double t[] = {0, 0.5};
  put_file(&kinds[0], vector("t", t, 2), vector("p1", t, 2), NULL);
  FILE *file = fopen(path, "ab");
  ck_assert_ptr_nonnull(file);
  ck_assert_uint_eq(fwrite(object, 1, sizeof object, file), sizeof object);
  fclose(file);
  bramah_log_reader *reader = open_as(NULL);
  bramah_diag diag = {0};
  size_t at;
  ck_assert_int_eq(bramah_log_find(reader, "p1", NULL, &at, &diag), BRAMAH_OK);
  ck_assert_int_eq(bramah_log_find(reader, "ts", NULL, &at, &diag), BRAMAH_E_COLUMN);
  ck_assert_msg(
      strstr(diag.message,
             "the variable 'ts' is an object (timeseries), which only MATLAB can read: save its numbers as "
             "vectors there: t = ts.Time; x = squeeze(ts.Data); save('log.mat', 't', 'x')") != NULL,
      "%s", diag.message);
  bramah_log_close(reader);
}

#ifdef __SANITIZE_ADDRESS__
enum { SANITIZED = 1 };
#elif defined __has_feature
#if __has_feature(address_sanitizer)
enum { SANITIZED = 1 };
#else
enum { SANITIZED = 0 };
#endif
#else
enum { SANITIZED = 0 };
#endif

/* Here it gets none beyond half a gigabyte. Sanitizers need more for themselves. */
static void limit_memory(void)
{
  const struct rlimit limit = {(rlim_t)1 << 29, (rlim_t)1 << 29};
  if (!SANITIZED) ck_assert_int_eq(setrlimit(RLIMIT_AS, &limit), 0);
}

/* Bytes changed anywhere: an error or other numbers, but nothing is read beyond what is there. Not so for
 * version 7.3: HDF5 1.10 itself does not survive all of them. */
EACH_TEST(survives_damaged_files, 0, KINDS + 1)
{
  static unsigned char bytes[1 << 16];
  const kind *k = &kinds[_i];
  if (k->version == MAT_FT_MAT73) return;
  put_sample(k);
  const size_t n = contents(bytes, sizeof bytes);
  uint32_t state = 17;
  if (long_double_is_as_promised()) limit_memory(); /* not under valgrind */
  for (int run = 0; run < 200; run++) {
    unsigned char *changed = malloc(n);
    int rows;
    memcpy(changed, bytes, n);
    for (uint32_t i = 0; i <= draw(&state) % 3; i++) changed[draw(&state) % n] = (unsigned char)draw(&state);
    put_contents(changed, n);
    read_all(&rows);
    ck_assert_int_le(rows, 100000);
    free(changed);
  }
}

/* Files of version 5 that say they hold more than they can: an array in `depth` cells, alone in its file. */
static const struct {
  uint32_t class_type, rows;
  uint32_t claimed; /* bytes of the names of a struct, or of numbers */
  uint32_t outer;   /* more bytes that the outermost one claims */
  size_t members;   /* empty fields and cells that it has */
  int depth;
  bramah_status status;
  const char *message;
} sizes[] = {
    {6, 1, 8, 0, 0, 2, BRAMAH_E_EMPTY, "holds no vectors of numbers"}, /* nothing is wrong with these */
    {1, 99999, 0, 0, 99999, 0, BRAMAH_E_EMPTY, "holds no vectors of numbers"},
    {2, 1, 0x40404040, 0, 4, 0, BRAMAH_E_SYNTAX, "holds more than its bytes can"},
    {2, 1u << 31, 64, 0, 4, 0, BRAMAH_E_SYNTAX, "holds more than its bytes can"},
    {1, 1u << 30, 0, 0, 4, 0, BRAMAH_E_SYNTAX, "holds more than its bytes can"},
    {1, 1u << 30, 0, 0, 4, 3, BRAMAH_E_SYNTAX, "holds more than its bytes can"},
    {6, 1u << 30, 8, 0, 0, 0, BRAMAH_E_SYNTAX, "holds more than its bytes can"},
    {6, 9, 8, 0, 0, 3, BRAMAH_E_SYNTAX, "holds more than its bytes can"},
    {6, 1, 1u << 30, 0, 0, 0, BRAMAH_E_SYNTAX, "holds more than its bytes can"},
    {6, 1, 8, 1u << 30, 0, 0, BRAMAH_E_SYNTAX,
     "holds more than its bytes can"}, /* compressed; else it is cut */
    {1, 100001, 0, 0, 100001, 0, BRAMAH_E_SYNTAX, "more than 100000 fields and cells"},
    {6, 1, 8, 0, 0, 40, BRAMAH_E_SYNTAX, "deeper than 32"},
};

static unsigned char made[1 << 20];
static size_t n_made;

static void put_u32(size_t n, const uint32_t *words)
{
  ck_assert_uint_le(n_made + 4 * n, sizeof made);
  memcpy(made + n_made, words, 4 * n);
  n_made += 4 * n;
}

/* Its tag [8 bytes], flags, dimensions, and no name. */
static void put_array(uint32_t class_type, uint32_t rows)
{
  put_u32(14, (const uint32_t[]){14, 0, 6, 8, class_type, 0, 5, 8, rows, 1, 1, 0, 0, 0});
  n_made -= 8;
}

EACH_TEST(refuses_sizes_that_do_not_fit, 0, sizeof sizes / sizeof sizes[0])
{
  static unsigned char file[1 << 21];
  uLongf n_file = sizeof file - 136;
  size_t begin[64];
  n_made = 0;
  for (int i = 0; i <= sizes[_i].depth; i++) {
    begin[i] = n_made;
    const int is_inner = i == sizes[_i].depth;
    put_array(is_inner ? sizes[_i].class_type : 1, is_inner ? sizes[_i].rows : 1);
  }
  if (sizes[_i].class_type == 2) put_u32(4, (const uint32_t[]){4u << 16 | 5, 32, 1, sizes[_i].claimed});
  if (sizes[_i].class_type == 2 && sizes[_i].claimed == 64) put_u32(16, (const uint32_t[16]){0x61});
  if (sizes[_i].class_type == 6) put_u32(4, (const uint32_t[]){9, sizes[_i].claimed, 0, 0});
  for (size_t i = 0; i < sizes[_i].members; i++) put_u32(2, (const uint32_t[]){14, 0});
  for (int i = 0; i <= sizes[_i].depth; i++) {
    const uint32_t bytes = (uint32_t)(n_made - begin[i] - 8) + (i ? 0 : sizes[_i].outer);
    memcpy(made + begin[i] + 4, &bytes, 4);
  }
  if (long_double_is_as_promised()) limit_memory(); /* not under valgrind */
  for (int packed = sizes[_i].outer > 0; packed < 2; packed++) {
    memset(file, 0, 136);
    memcpy(file, "MATLAB 5.0 MAT-file", 19);
    memcpy(file + 124, "\0\1IM", 4);
    if (packed) ck_assert_int_eq(compress(file + 136, &n_file, made, n_made), Z_OK);
    const uint32_t tag[] = {15, (uint32_t)n_file};
    memcpy(file + 128, packed ? (const void *)tag : made, 8);
    if (!packed) memcpy(file + 136, made + 8, n_made - 8);
    put_contents(file, packed ? 136 + n_file : 128 + n_made);
    fails(sizes[_i].status, NULL, sizes[_i].message);
  }
}

/* ---- what is written ---- */

static matvar_t *read_variable(const char *name)
{
  mat_t *file = Mat_Open(path, MAT_ACC_RDONLY);
  ck_assert_ptr_nonnull(file);
  matvar_t *v = Mat_VarRead(file, name);
  ck_assert_ptr_nonnull(v);
  Mat_Close(file);
  return v;
}

static void holds_text(const matvar_t *v, const char *wanted)
{
  ck_assert_ptr_nonnull(v);
  ck_assert_int_eq(v->class_type, MAT_C_CHAR);
  ck_assert_uint_eq(v->dims[1], strlen(wanted));
  for (size_t i = 0; i < strlen(wanted); i++)
    ck_assert_uint_eq(((const uint16_t *)v->data)[i], (unsigned char)wanted[i]);
}

/* As matio reads it: matrices by columns, cells with texts. */
TEST(writes_matrices_and_texts)
{
  const double a[] = {1, 2, 3, 4, 5, 6}, by_columns[] = {1, 4, 2, 5, 3, 6};
  const char *states[] = {"crank.angle", "v1.pressure", ""};
  const bramah_mat_variable all[] = {
      {"A", 2, 3, a, NULL}, {"none", 0, 3, a, NULL}, {"states", 3, 1, NULL, states}};
  ck_assert_int_eq(bramah_mat_write(path, 3, all, NULL), BRAMAH_OK);
  matvar_t *v = read_variable("A");
  ck_assert_uint_eq(v->dims[0], 2);
  ck_assert_uint_eq(v->dims[1], 3);
  ck_assert_mem_eq(v->data, by_columns, sizeof by_columns);
  Mat_VarFree(v);
  v = read_variable("none");
  ck_assert_uint_eq(v->dims[0], 0);
  ck_assert_uint_eq(v->dims[1], 3);
  Mat_VarFree(v);
  v = read_variable("states");
  ck_assert_int_eq(v->class_type, MAT_C_CELL);
  ck_assert_uint_eq(v->dims[0], 3);
  holds_text(Mat_VarGetCell(v, 0), "crank.angle");
  holds_text(Mat_VarGetCell(v, 1), "v1.pressure");
  Mat_VarFree(v);
}

/* Rows become columns and rows again, with all their bits, more than one block of them, names and units
 * too. */
TEST(logs_come_back)
{
  enum { N = 10007 };
  const char *names[] = {"t", "crank.angle", "crank_angle", "units", "1 \xc2\xb5"},
             *units[] = {"s", "rad", "deg", "", "V"};
  bramah_log_writer *writer;
  double row[5], values[5];
  unsigned char present[5];
  size_t at[5];
  int end;
  ck_assert_int_eq(bramah_log_create(path, NULL, &writer), BRAMAH_OK);
  for (int i = 0; i < 5; i++)
    ck_assert_int_eq(bramah_log_add_column(writer, names[i], units[i], 6, NULL), BRAMAH_OK);
  for (int k = 0; k < N; k++) {
    for (int i = 0; i < 5; i++) row[i] = i && (k + i) % 7 == 0 ? NAN : 0.1 * k + i * sqrt(2.0);
    ck_assert_int_eq(bramah_log_write(writer, row, NULL), BRAMAH_OK);
    ck_assert_int_eq(bramah_log_flush(writer, NULL), BRAMAH_OK);
  }
  ck_assert_int_eq(bramah_log_add_column(writer, "late", "V", 6, NULL), BRAMAH_E_ARGUMENT);
  ck_assert_int_eq(bramah_log_finish(writer, NULL), BRAMAH_OK);
  matvar_t *about = read_variable("units");
  holds_text(Mat_VarGetStructFieldByName(about, "crank_angle_2", 0), "deg");
  holds_text(Mat_VarGetStructFieldByName(about, "units_2", 0), "");
  Mat_VarFree(about);
  about = read_variable("names");
  holds_text(Mat_VarGetStructFieldByName(about, "crank_angle", 0), "crank.angle");
  Mat_VarFree(about);
  bramah_log_reader *reader = open_as(NULL);
  ck_assert_uint_eq(reader->n_columns, 5);
  for (size_t i = 0; i < 5; i++) {
    ck_assert_int_eq(bramah_log_find(reader, names[i], NULL, &at[i], NULL), BRAMAH_OK);
    ck_assert_str_eq(reader->columns[at[i]].unit, units[i]);
    reader->units[at[i]].factor = 1.0;
  }
  for (int k = 0; k < N; k++) {
    ck_assert_int_eq(bramah_log_next(reader, values, present, &end, NULL), BRAMAH_OK);
    for (int i = 0; i < 5; i++) {
      const double wanted = i && (k + i) % 7 == 0 ? NAN : 0.1 * k + i * sqrt(2.0);
      ck_assert_int_eq(present[at[i]], !isnan(wanted));
      if (!isnan(wanted)) ck_assert_double_eq(values[at[i]], wanted);
    }
  }
  ck_assert_int_eq(bramah_log_next(reader, values, present, &end, NULL), BRAMAH_OK);
  ck_assert_int_eq(end, 1);
  bramah_log_close(reader);
}

/* The same log in both formats: the same bits of values and times. */
TEST(the_same_log_as_csv_and_as_mat)
{
  const char *root = getenv("BRAMAH_SOURCE_ROOT");
  char csv[512];
  snprintf(csv, sizeof csv, "%s/datasets/four-bar/log.csv", root ? root : ".");
  bramah_log_reader *from, *back;
  bramah_log_writer *writer;
  double a[16], b[16];
  unsigned char has_a[16], has_b[16];
  int end = 0;
  ck_assert_int_eq(bramah_log_open(csv, NULL, NULL, &from), BRAMAH_OK);
  const size_t n = from->n_columns;
  ck_assert_int_eq(bramah_log_create(path, NULL, &writer), BRAMAH_OK);
  for (size_t i = 0; i < n; i++) {
    from->units[i].factor = 1.0;
    bramah_log_add_column(writer, from->columns[i].name, from->columns[i].unit, 17, NULL);
  }
  while (!bramah_log_next(from, a, has_a, &end, NULL) && !end)
    ck_assert_int_eq(bramah_log_write(writer, a, NULL), BRAMAH_OK);
  bramah_log_close(from);
  ck_assert_int_eq(bramah_log_finish(writer, NULL), BRAMAH_OK);
  ck_assert_int_eq(bramah_log_open(csv, NULL, NULL, &from), BRAMAH_OK);
  back = open_as(NULL);
  ck_assert_int_eq(bramah__log_set_time(from, 0, NULL, 0, NULL), BRAMAH_OK);
  ck_assert_int_eq(bramah__log_set_time(back, 0, NULL, 0, NULL), BRAMAH_OK);
  int rows = 0;
  for (;; rows++) {
    ck_assert_int_eq(bramah_log_next(from, a, has_a, &end, NULL), BRAMAH_OK);
    ck_assert_int_eq(bramah_log_next(back, b, has_b, &end, NULL), BRAMAH_OK);
    if (end) break;
    ck_assert_int_eq(from->time, back->time);
    ck_assert_mem_eq(has_a, has_b, n);
    for (size_t i = 0; i < n; i++)
      if (has_a[i]) ck_assert_mem_eq(&a[i], &b[i], sizeof a[i]);
  }
  ck_assert_int_gt(rows, 1000);
  bramah_log_close(from);
  bramah_log_close(back);
}

#else

TEST(says_that_matio_is_missing)
{
  bramah_diag diag;
  bramah_log_reader *reader;
  bramah_log_writer *writer;
  const double one = 1.0;
  ck_assert_int_eq(bramah_log_create(path, NULL, &writer), BRAMAH_OK);
  ck_assert_int_eq(bramah_log_add_column(writer, "t", "s", 6, NULL), BRAMAH_OK);
  ck_assert_int_eq(bramah_log_write(writer, &one, NULL), BRAMAH_OK);
  ck_assert_int_eq(bramah_log_finish(writer, NULL), BRAMAH_OK);
  ck_assert_int_eq(bramah_log_open(path, NULL, &diag, &reader), BRAMAH_E_UNSUPPORTED);
  ck_assert_ptr_nonnull(strstr(diag.message, "built without matio"));
}

#endif

TEST(refuses_what_no_file_can_hold)
{
  bramah_diag diag;
  const double one = 1.0;
  const char *text = "x";
  const bramah_mat_variable big = {"big", 1u << 20, 1u << 10, &one, NULL}, good = {"a", 1, 1, &one, NULL};
  const char *bad[] = {"", "1a", "a.b", "a b", "_a"};
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    const bramah_mat_variable v = {bad[i], 1, 1, NULL, &text};
    ck_assert_int_eq(bramah_mat_write(path, 1, &v, &diag), BRAMAH_E_ARGUMENT);
    ck_assert_str_eq(diag.thing, bad[i]);
  }
  ck_assert_int_eq(bramah_mat_write(path, 1, &big, &diag), BRAMAH_E_VALUE);
  ck_assert_int_eq(bramah_mat_write("/nowhere/a.mat", 1, &good, &diag), BRAMAH_E_FILE);
  ck_assert_ptr_nonnull(strstr(diag.message, "cannot create: No such file"));
  ck_assert_int_eq(bramah_mat_write("/dev/full", 1, &good, &diag), BRAMAH_E_FILE);
  ck_assert_ptr_nonnull(strstr(diag.message, "cannot write: No space"));
}

TEST(makes_names)
{
  static const char *const cases[][2] = {
      {"crank.angle", "crank_angle"}, {"1", "x1"}, {"_a", "x_a"}, {"", "x"}, {"p\xc3\xa4 [x]", "p___x_"}};
  char name[BRAMAH__MAT_NAME], endless[200];
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    bramah__mat_name(cases[i][0], name);
    ck_assert_str_eq(name, cases[i][1]);
  }
  memset(endless, 'a', sizeof endless);
  endless[sizeof endless - 1] = '\0';
  bramah__mat_name(endless, name);
  ck_assert_uint_eq(strlen(name), BRAMAH__MAT_NAME - 1);
}

int main(void) { return run_tests_with("mat", make_folder, remove_folder); }
