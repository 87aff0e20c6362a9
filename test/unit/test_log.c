/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Logs: what a reader accepts, what it says where it does not, and that the writer's files come back. */
#define _GNU_SOURCE
#include "lib/logs/reader.h"
#include "test/support/run.h"
#include "test/support/scratch.h"

#include <fcntl.h>
#include <locale.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static char folder[SCRATCH_NAME], path[SCRATCH_NAME + 8];

static void make_folder(void)
{
  ck_assert(scratch_folder(folder));
  snprintf(path, sizeof path, "%s/a.csv", folder);
}

static void remove_folder(void)
{
  unlink(path);
  rmdir(folder);
}

static void put_bytes(const void *bytes, size_t n)
{
  FILE *f = fopen(path, "wb");
  ck_assert_ptr_nonnull(f);
  ck_assert_uint_eq(fwrite(bytes, 1, n, f), n);
  ck_assert_int_eq(fclose(f), 0);
}

static void put(const char *text) { put_bytes(text, strlen(text)); }

static bramah_log_reader *open_log(void)
{
  bramah_diag diag = {0};
  bramah_log_reader *reader = NULL;
  bramah_status status = bramah_log_open(path, NULL, &diag, &reader);
  ck_assert_msg(status == BRAMAH_OK, "open: %s", diag.message);
  return reader;
}

/* Read all rows; returns how the file ends. Keeps the last row. */
typedef struct rows {
  int n, line;
  size_t n_columns;
  double last[16];
  unsigned char present[16];
  bramah_diag diag;
} rows;

static bramah_status read_all(rows *r)
{
  int end = 0;
  memset(r, 0, sizeof *r);
  bramah_log_reader *reader = NULL;
  bramah_status status = bramah_log_open(path, NULL, &r->diag, &reader);
  if (!status) r->n_columns = reader->n_columns;
  while (!status) {
    status = bramah_log_next(reader, r->last, r->present, &end, &r->diag);
    if (end || status) break;
    r->n++;
    r->line = reader->given_line;
  }
  bramah_log_close(reader);
  return status;
}

/* ---- what is read ---- */

TEST(reads_units_as_si)
{
  put("time[s],p1[MPa],angle[deg],count\n0,7.6,180,3\n0.5,-1e-3,,4\n");
  bramah_log_reader *reader = open_log();
  double v[4];
  unsigned char present[4];
  int end;
  ck_assert_uint_eq(reader->n_columns, 4);
  ck_assert_str_eq(reader->columns[1].name, "p1");
  ck_assert_str_eq(reader->columns[1].unit, "MPa");
  ck_assert_str_eq(reader->columns[3].unit, "");
  ck_assert_int_eq(bramah_log_next(reader, v, present, &end, NULL), BRAMAH_OK);
  ck_assert_double_eq_tol(v[1], 7.6e6, 1e-8);
  ck_assert_double_eq_tol(v[2], 3.14159265358979, 1e-14);
  ck_assert_double_eq(v[3], 3.0);
  ck_assert_int_eq(bramah_log_next(reader, v, present, &end, NULL), BRAMAH_OK);
  ck_assert_double_eq(v[0], 0.5);
  ck_assert_double_eq_tol(v[1], -1000.0, 1e-11);
  ck_assert_int_eq(present[2], 0);
  ck_assert(isnan(v[2]));
  ck_assert_int_eq(present[3], 1);
  ck_assert_int_eq(end, 0);
  for (int i = 0; i < 2; i++) { /* the end stays the end */
    ck_assert_int_eq(bramah_log_next(reader, v, present, &end, NULL), BRAMAH_OK);
    ck_assert_int_eq(end, 1);
  }
  ck_assert_int_eq(reader->given_line, 3);
  ck_assert_str_eq(reader->path, path);
  bramah_log_close(reader);
}

static const struct {
  const char *text;
  int n, line;    /* rows, line of the last */
  double last[6]; /* NaN: no sample */
} logs[] = {
    /* what other programs write */
    {"\xEF\xBB\xBF# a comment\r\n\r\n  t [s] ,\tp1 [ bar ]\r\n# one more\r\n 1 ,\t2 \r\n\r\n\"3\",\" 4.5 "
     "\"\r\n \t\r\n5,\"\"",
     3,
     9,
     {5.0, NAN}},
    {"t,a\n1,2\n3,4.25", 2, 3, {3.0, 4.25}}, /* no line end */
    /* lines inside quotes */
    {"t,\"a\n[s]\"\n\"1\n\",2\n\"\n3\",\"\n\n4\"\n5,6\n", 3, 9, {5.0, 6.0}},
    /* odd numbers */
    {"a,b,c,d,e,f\n+.5,5.,-0,1E+2,9007199254740993,4.9e-324\n",
     1,
     2,
     {0.5, 5.0, -0.0, 100.0, 9007199254740992.0, 4.9e-324}},
    {"t\n0.12345678901234567890\n", 1, 2, {0.12345678901234567890}},
};

/* In whatever locale. */
EACH_TEST(reads_logs, 0, sizeof logs / sizeof logs[0])
{
  static const char *const locales[] = {"C", "de_DE.UTF-8", "de_DE", "fr_FR.UTF-8", "fi_FI.UTF-8"};
  rows r;
  put(logs[_i].text);
  for (size_t k = 0; k < sizeof locales / sizeof locales[0]; k++) {
    if (!setlocale(LC_ALL, locales[k])) continue;
    ck_assert_int_eq(read_all(&r), BRAMAH_OK);
    ck_assert_int_eq(r.n, logs[_i].n);
    ck_assert_int_eq(r.line, logs[_i].line);
    for (size_t i = 0; i < r.n_columns; i++) {
      ck_assert_int_eq(r.present[i], !isnan(logs[_i].last[i]));
      if (r.present[i]) ck_assert_mem_eq(&r.last[i], &logs[_i].last[i], sizeof r.last[i]);
    }
  }
  setlocale(LC_ALL, "C");
}

/* Numbers must be those of strtod, bit for bit, whichever branch reads them. */
static void random_number_text(char *out, size_t n)
{
  int digits = 1 + (int)(lrand48() % 19), exponent = (int)(lrand48() % 60) - 30;
  double value = (drand48() - 0.5) * pow(10.0, exponent);
  if (lrand48() % 2)
    snprintf(out, n, "%.*e", digits, value);
  else
    snprintf(out, n, "%.*f", digits, fmod(value, 1e9));
}

TEST(reads_numbers_as_strtod_does)
{
  enum { N = 20000 };
  static double expected[N];
  char text[96];
  srand48(7);
  FILE *f = fopen(path, "w");
  fputs("x,y\n", f);
  for (int i = 0; i < N; i++) {
    random_number_text(text, sizeof text);
    expected[i] = strtod(text, NULL);
    fprintf(f, "%s, %s \n", text, text);
  }
  fclose(f);
  bramah_log_reader *reader = open_log();
  for (int i = 0; i < N; i++) {
    double v[2];
    unsigned char present[2];
    int end;
    ck_assert_int_eq(bramah_log_next(reader, v, present, &end, NULL), BRAMAH_OK);
    ck_assert_msg(memcmp(&v[0], &expected[i], sizeof(double)) == 0, "%.17g read as %.17g", expected[i], v[0]);
    ck_assert_double_eq(v[1], expected[i]);
  }
  bramah_log_close(reader);
}

/* ---- what is refused ---- */

#define FIFTY "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"

static const struct {
  const char *text;
  bramah_status status;
  int line, column;
  const char *message;
} mistakes[] = {
    /* text in numbers */
    {"t,p1\n0,1\n1,abc\n", BRAMAH_E_SYNTAX, 3, 3, "'abc' is not a number"},
    {"t,p1,p2\n0,1,2\n1,  1.2.3,4\n", BRAMAH_E_SYNTAX, 3, 5, "'1.2.3'"},
    {"t,p1\n0x10,1\n", BRAMAH_E_SYNTAX, 2, 1, "'0x10'"},
    {"t,p1\n-,1\n", BRAMAH_E_SYNTAX, 2, 1, "'-'"},
    {"t,p1\n1e,1\n", BRAMAH_E_SYNTAX, 2, 1, "'1e'"},
    {"t,p1\n\"1,5\",x\n", BRAMAH_E_SYNTAX, 2, 1, "'1,5'"},
    {"t,p1\n\"1\",\"\xC3\xA4\xC3\xB6\",3\n", BRAMAH_E_SYNTAX, 2, 0, "3 cells where the header has 2"},
    {"t,p1,p2\n\"\xC3\xA4\",1,\n", BRAMAH_E_SYNTAX, 2, 1, "'\xC3\xA4'"},
    {"t\n\x1b[31m" FIFTY FIFTY FIFTY "\n", BRAMAH_E_SYNTAX, 2, 1, "AAA...'"}, /* cut and cleaned */
    /* not finite */
    {"t,p1\n0,1\n1,nan\n", BRAMAH_E_NOT_FINITE, 3, 3, "'nan' is not a finite number"},
    {"t,p1\n0,1\n-inf,0\n", BRAMAH_E_NOT_FINITE, 3, 1, "'-inf'"},
    {"t,p1\n0,1e999\n", BRAMAH_E_NOT_FINITE, 2, 3, "'1e999'"},
    {"t,p1[MPa]\n0,1e305\n", BRAMAH_E_NOT_FINITE, 2, 3, "'1e305'"}, /* only in SI */
    /* rows of another length */
    {"t,p1,p2\n0,1,2\n1,2\n3,4,5\n", BRAMAH_E_SYNTAX, 3, 0, "2 cells where the header has 3"},
    {"t,p1,p2\n1\n", BRAMAH_E_SYNTAX, 2, 0, "1 cell where the header has 3"},
    {"t,p1,p2\n1,2,3,\n", BRAMAH_E_SYNTAX, 2, 0, "4 cells where the header has 3"},
    {"t,p1\n1,x,2\n", BRAMAH_E_SYNTAX, 2, 0, "3 cells"}, /* the count is the better hint than the x */
    /* truncated files */
    {"t,p1,p2\n0,1,2\n1,2", BRAMAH_E_TRUNCATED, 3, 0, "the file ends in the middle of line 3"},
    {"t,p1,p2\n0,1,2\n1,-", BRAMAH_E_TRUNCATED, 3, 0, "line 3"},
    {"t,p1,p2\n0,1,2\n1,2,3,4", BRAMAH_E_SYNTAX, 3, 0, "4 cells"}, /* too many: not cut off */
    {"t,p1,p2\n0,1,2\n1,2\n", BRAMAH_E_SYNTAX, 3, 0, "2 cells"},   /* has its line end */
    /* quotes */
    {"t,p1\n1,2\"3\n", BRAMAH_E_SYNTAX, 2, 4, "quote"},
    {"t,p1\n\"1\"2,3\n", BRAMAH_E_SYNTAX, 2, 4, "quote"},
    {"t,p1\n1,2\n3,\"4\n5,6\n7,8\n", BRAMAH_E_SYNTAX, 3, 3, "never closed"},
    {"t,a\n1,2\n3,4\n1,\" \n#\n\n5\"\n6,7\n", BRAMAH_E_SYNTAX, 4, 3, "'#??5' is not a number"},
    {"t,a,b\n\"1\n\", \"x\",3\n", BRAMAH_E_SYNTAX, 3, 4, "'x' is not a number"},
    {"t,p1\r1,2\r3,4\r", BRAMAH_E_SYNTAX, 1, 0, "carriage return"},
    /* what may mean two things: what was decided stays */
    {"t,a;b\n1,2;3\n", BRAMAH_E_SYNTAX, 1, 0, "state the delimiter"},
    {"t;a\n0,5;1\n0.6;2\n", BRAMAH_E_SYNTAX, 3, 1, "the numbers before have decimal commas"},
    {"t;a\n0.5;1\n0,6;2\n", BRAMAH_E_SYNTAX, 3, 1, "the numbers before have decimal points"},
    {"t,a\n0,1,5\n", BRAMAH_E_SYNTAX, 2, 0, "3 cells where the header has 2"},
    {"0.1,0.2\n0.3,0.4\n", BRAMAH_E_SYNTAX, 1, 1, "a number where the header should name a column"},
    /* headers */
    {"", BRAMAH_E_EMPTY, 0, 0, "no header"},
    {"# only\n\n# comments", BRAMAH_E_EMPTY, 0, 0, "no header"},
    {"t[s],p1[Pa]\n# c\n", BRAMAH_E_EMPTY, 0, 0, "no rows"},
    {"t,p1,t\n1,2,3\n", BRAMAH_E_KEY, 1, 6, "twice"},
    {"\n\nt,,p1\n1,2,3\n", BRAMAH_E_SYNTAX, 3, 3, "no name"},
    {"t,p1,\n1,2,3\n", BRAMAH_E_SYNTAX, 1, 6, "no name"},
    {"t,p1[Pa\n1,2\n", BRAMAH_E_SYNTAX, 1, 3, "name[unit]"},
    {"t,p1]\n1,2\n", BRAMAH_E_SYNTAX, 1, 3, "name[unit]"},
    {"t,[Pa]\n1,2\n", BRAMAH_E_SYNTAX, 1, 3, "no name"},
    {"# t,p1\n0.0,1e5\n", BRAMAH_E_SYNTAX, 2, 1, "number where the header"},
    {"t[s];p1[Pa],x\n0,5;1\n", BRAMAH_E_SYNTAX, 1, 0, "both ',' and ';'"},
};

EACH_TEST(mistakes_have_their_place, 0, sizeof mistakes / sizeof mistakes[0])
{
  rows r;
  put(mistakes[_i].text);
  ck_assert_int_eq(read_all(&r), mistakes[_i].status);
  ck_assert_msg(strstr(r.diag.message, mistakes[_i].message) != NULL, "%s", r.diag.message);
  ck_assert_int_eq(r.diag.line, mistakes[_i].line);
  ck_assert_int_eq(r.diag.column, mistakes[_i].column);
  ck_assert_str_eq(r.diag.file, path);
  ck_assert_int_eq(r.diag.status, mistakes[_i].status);
  ck_assert_ptr_null(strchr(r.diag.message, '\x1b'));
  ck_assert_uint_lt(strlen(r.diag.message), 120);
}

/* A beginning, and the same byte up to the size. */
static const struct {
  const char *begin;
  size_t n, size;
  char fill;
  int rows, line, column;
  const char *message;
} no_texts[] = {{"t,p1\n0,1\n1,\0\n", 13, 13, 0, 1, 3, 3, "not a text file"},
                {"", 0, 600000, 0, 0, 1, 0, "not a text file"},
                {"", 0, 600000, 'x', 0, 1, 0, "longer than"},
                {"t,a\n1,2\n\"3", 10, 600000, '\n', 1, 3, 1, "never closed"}};

EACH_TEST(refuses_files_that_are_not_text, 0, sizeof no_texts / sizeof no_texts[0])
{
  static char bytes[600000];
  rows r;
  memset(bytes, no_texts[_i].fill, sizeof bytes);
  memcpy(bytes, no_texts[_i].begin, no_texts[_i].n);
  put_bytes(bytes, no_texts[_i].size);
  ck_assert_int_eq(read_all(&r), BRAMAH_E_SYNTAX);
  ck_assert_int_eq(r.n, no_texts[_i].rows);
  ck_assert_int_eq(r.diag.line, no_texts[_i].line);
  ck_assert_int_eq(r.diag.column, no_texts[_i].column);
  ck_assert_ptr_nonnull(strstr(r.diag.message, no_texts[_i].message));
}

/* Known by their content, whatever they are called. */
static const struct {
  size_t at;
  const char *bytes;
  size_t n;
  const char *message;
} strangers[] = {{0, "PAR1\x15\0", 6, "a Parquet file, which is not read as a log: save it as CSV"},
                 {0, "SQLite format 3\0\x10", 17, "(.db3)"},
                 {0, ";$FILEVERSION=2.1\n", 18, "a trace of PCAN"},
                 {0, "# Created by Octave 8.4.0\n", 26, "save -v7"},
                 {0, "{\"t\": 1}\n", 9, "JSON"},
                 {0, "\x1f\x8b\x08", 3, "compressed (gzip)"},
                 {0, "PK\3\4\24", 5, "an archive (zip), which is not read as a log: unpack it first"},
                 {30, "[Content_Types].xml", 19, "a workbook of Excel"},
                 {0, "MDF     3.30    TGT 15.0", 24, "an MDF file of version 3"},
                 {8, "AVI LIST", 8, "a film (AVI)"}};

EACH_TEST(says_what_a_strange_file_is, 0, sizeof strangers / sizeof strangers[0])
{
  char bytes[300] = {0};
  rows r;
  memcpy(bytes + strangers[_i].at, strangers[_i].bytes, strangers[_i].n);
  if (strangers[_i].at == 30) memcpy(bytes, "PK\3\4", 4);
  put_bytes(bytes, sizeof bytes);
  ck_assert_int_eq(read_all(&r), BRAMAH_E_UNSUPPORTED);
  ck_assert_msg(strstr(r.diag.message, strangers[_i].message) != NULL, "%s", r.diag.message);
  /* Its beginning alone is a text without rows, or it too. */
  for (size_t n = 0; n < strangers[_i].at + strangers[_i].n; n++) {
    put_bytes(bytes, n);
    ck_assert_int_ne(read_all(&r), BRAMAH_OK);
  }
}

static const struct {
  const char *name, *expected;
  bramah_status status;
  size_t at;
  int column;
  const char *message;
} finds[] = {
    {"p1", "Pa", BRAMAH_OK, 1, 0, ""},
    {"x", "1", BRAMAH_OK, 3, 0, ""},
    {"odd", NULL, BRAMAH_OK, 4, 0, ""}, /* of no interest until the unit is asked for */
    {"odd", "Pa", BRAMAH_E_UNIT, 0, 27, "furlong"},
    {"p4", "Pa", BRAMAH_E_COLUMN, 0, 0, "the log has no column 'p4'; did you mean 'p"},
    {"frobnicate", "Pa", BRAMAH_E_COLUMN, 0, 0, "it has time, p1, p2, x, odd"},
    {"p2", "Pa", BRAMAH_E_UNIT, 0, 17, "the column is in deg; expected a unit like Pa, written p2[Pa]"},
    {"x", "Pa", BRAMAH_E_UNIT, 0, 25, "the column has no unit"},
    {"p1", "1", BRAMAH_E_UNIT, 0, 9, "where a number without unit is expected"},
};

TEST(finds_columns)
{
  put("time[s],p1[bar],p2[deg],x,odd[furlong]\n");
  bramah_log_reader *reader = open_log();
  for (size_t i = 0; i < sizeof finds / sizeof finds[0]; i++) {
    bramah_diag d = {0};
    size_t at = 99;
    ck_assert_int_eq(bramah_log_find(reader, finds[i].name, finds[i].expected, &at, &d), finds[i].status);
    ck_assert_uint_eq(at, finds[i].status ? 99 : finds[i].at); /* unchanged by failures */
    ck_assert_int_eq(bramah_log_find(reader, finds[i].name, finds[i].expected, &at, NULL), finds[i].status);
    if (!finds[i].status) continue;
    ck_assert_msg(strstr(d.message, finds[i].message) != NULL, "%s", d.message);
    ck_assert_int_eq(d.line, 1);
    ck_assert_int_eq(d.column, finds[i].column);
    ck_assert_str_eq(d.thing, finds[i].name);
    ck_assert_str_eq(d.file, path);
  }
  bramah_log_close(reader);
}

TEST(names_files_that_cannot_be_read)
{
  bramah_diag diag = {0};
  bramah_log_reader *reader = NULL;
  ck_assert_int_eq(bramah_log_open("/nonexistent/x.csv", NULL, &diag, &reader), BRAMAH_E_FILE);
  ck_assert_ptr_nonnull(strstr(diag.message, "No such file"));
  ck_assert_str_eq(diag.file, "/nonexistent/x.csv");
  ck_assert_int_eq(bramah_log_open(folder, NULL, &diag, &reader), BRAMAH_E_FILE);
  ck_assert_ptr_nonnull(strstr(diag.message, "directory"));
  ck_assert_int_eq(bramah_log_open("/nonexistent/x.csv", NULL, NULL, &reader), BRAMAH_E_FILE);
  ck_assert_ptr_null(reader);
}

TEST(errors_are_sticky)
{
  put("t,a\n1,2\n3,x\n5,6\n");
  bramah_log_reader *reader = open_log();
  double v[2];
  unsigned char present[2];
  int end;
  bramah_diag first = {0}, second = {0};
  ck_assert_int_eq(bramah_log_next(reader, v, present, &end, &first), BRAMAH_OK);
  ck_assert_int_eq(bramah_log_next(reader, v, present, &end, &first), BRAMAH_E_SYNTAX);
  ck_assert_int_eq(bramah_log_next(reader, v, present, &end, &second), BRAMAH_E_SYNTAX);
  ck_assert_str_eq(first.message, second.message);
  ck_assert_str_eq(first.thing, "a");
  ck_assert_int_eq(second.line, 3);
  ck_assert_int_eq(end, 0);
  ck_assert_int_eq(reader->given_line, 2); /* of the row given last */
  ck_assert_int_eq(bramah_log_next(reader, v, present, &end, NULL), BRAMAH_E_SYNTAX);
  bramah_log_close(reader);
}

/* ---- dialects ---- */

static bramah_log_reader *open_as(const bramah_log_format *format)
{
  bramah_diag diag = {0};
  bramah_log_reader *reader = NULL;
  const bramah_status status = bramah_log_open(path, format, &diag, &reader);
  ck_assert_msg(status == BRAMAH_OK, "open: %s", diag.message);
  return reader;
}

static const struct {
  const char *text;
  bramah_log_format stated;
  char delimiter, decimal;
} dialects[] = {{"t[s],p[bar]\n0.5,2.25\n", {0}, ',', '.'},
                {"\xEF\xBB\xBFt[s];p[bar]\r\n0.5;2.25\r\n", {0}, ';', '.'},
                {"t[s];p[bar]\n0,5;2,25\n", {0}, ';', ','},
                {"t[s]\tp[bar]\n0,5\t2,25\n", {0}, '\t', ','},
                {"  t [s]   p[bar]\n 0.5  2.25 \n", {0}, ' ', '.'},
                {"t[s] p[bar]\n5e-1 225e-2\n", {0}, ' ', 0},
                {"t|p\ns|bar\n0.5|2.25\n", {.delimiter = '|'}, '|', '.'},
                {"t,p\n[s],[bar]\n0.5,2.25\n", {0}, ',', '.'},
                {"prose; and more, of it\nt[s],p[bar]\n0.5,2.25\n", {.skip = 1}, ',', '.'},
                {"% all\n//well\nt[s],p[bar]\n%\n0.5,2.25\n", {.comment = "% //"}, ',', '.'},
                {"\"t[s]\",\"p[bar]\"\n\"0,5\",\"2,25\"\n", {.decimal = ','}, ',', ','}};

EACH_TEST(finds_dialects, 0, sizeof dialects / sizeof dialects[0])
{
  double v[2];
  unsigned char present[2];
  int end;
  bramah_diag d = {0};
  put(dialects[_i].text);
  bramah_log_reader *reader = open_as(&dialects[_i].stated);
  ck_assert_uint_eq(reader->n_columns, 2);
  ck_assert_str_eq(reader->columns[1].name, "p");
  ck_assert_str_eq(reader->columns[1].unit, "bar");
  ck_assert_msg(!bramah_log_next(reader, v, present, &end, &d) && !end, "%s", d.message);
  ck_assert(v[0] == 0.5 && v[1] == 225000.0 && present[0] && present[1]);
  ck_assert_int_eq(reader->format.delimiter, dialects[_i].delimiter);
  ck_assert_int_eq(reader->format.decimal, dialects[_i].decimal);
  ck_assert_int_eq(bramah_log_next(reader, v, present, &end, &d), BRAMAH_OK);
  ck_assert_int_eq(end, 1);
  bramah_log_close(reader);
}

/* Bad cells and rows that may be left out. */
static const struct {
  bramah_log_format format;
  const char *text;
  int n, cells; /* rows given, cells present in them */
  uint64_t bad_1, bad_2;
  int first_1; /* line of the first bad cell of the second column */
  uint64_t bad_rows;
  int first_row, is_cut;
  char decimal;
  const char *message; /* that ends it; NULL: none */
  int line;
} skips[] = {
    {{.missing = "NaN -", .skip_bad_cells = 1, .skip_bad_rows = 1},
     "t,a,b\n0,nan,-\n1,x,2\n2,3\n3,4,5,6\n4,inf,7\n5,8,9\n6,1",
     4,
     4 + 3 + 1, /* times, b, a */
     2,
     0,
     3,
     3,
     4,
     1,
     '.',
     NULL,
     0},
    {{.skip_bad_rows = 1},
     "t,a\n# c\n0,x\n1\n",
     0,
     0,
     0,
     0,
     0,
     2,
     3,
     0,
     '.',
     "every row of the log is bad: 2 were left out, from here on",
     3},
    /* the points of a word are no decimal points */
    {{.skip_bad_cells = 1}, "t;a;b\n0;n.a.;1,5\n1;2,5;v1.2\n", 2, 4, 1, 1, 2, 0, 0, 0, ',', NULL, 0},
    /* a quote that opens behind a carriage return, and is left out, does not take the next row in */
    {{.skip_bad_rows = 1}, "t,a\n0,5\r\"1\n1,2\n2,\"3\"\n", 2, 4, 0, 0, 0, 1, 2, 0, '.', NULL, 0},
    /* two thousand million lines to be skipped of a file with one */
    {{.skip = 2147483647}, "a\n1\n", -1, 0, 0, 0, 0, 0, 0, 0, 0, "the file has no header line", 0},
};

EACH_TEST(leaves_out_what_may_be_left_out, 0, sizeof skips / sizeof skips[0])
{
  double v[3];
  unsigned char present[3];
  int end = 0, n = 0, cells = 0;
  bramah_diag d = {0};
  bramah_log_reader *reader = NULL;
  put(skips[_i].text);
  bramah_status status = bramah_log_open(path, &skips[_i].format, &d, &reader);
  ck_assert_int_eq(reader == NULL, skips[_i].n < 0);
  while (!status && !(status = bramah_log_next(reader, v, present, &end, &d)) && !end) {
    n++;
    for (size_t i = 0; i < reader->n_columns; i++) cells += present[i];
  }
  ck_assert_int_eq(status, skips[_i].message ? BRAMAH_E_EMPTY : BRAMAH_OK);
  if (skips[_i].message) ck_assert_str_eq(d.message, skips[_i].message);
  ck_assert_int_eq(d.line, skips[_i].line);
  if (!reader) return;
  const bramah_log_info info = bramah_log_get_info(reader);
  ck_assert_int_eq(n, skips[_i].n);
  ck_assert_int_eq(cells, skips[_i].cells);
  ck_assert_uint_eq(info.columns[1].bad_cells, skips[_i].bad_1);
  ck_assert_int_eq(info.columns[1].first_bad, skips[_i].first_1);
  if (info.n_columns > 2) ck_assert_uint_eq(info.columns[2].bad_cells, skips[_i].bad_2);
  ck_assert_uint_eq(info.bad_rows, skips[_i].bad_rows);
  ck_assert_int_eq(info.first_bad_row, skips[_i].first_row);
  ck_assert_int_eq(info.is_cut, skips[_i].is_cut);
  ck_assert_int_eq(info.format.decimal, skips[_i].decimal);
  bramah_log_close(reader);
}

/* ---- times ---- */

static const struct {
  const char *text, *unit;
  int counter;
  int64_t time;
  int line;            /* of a mistake */
  const char *message; /* NULL: none */
} times[] = {
    {"t[s]\n0.1\n", NULL, 0, 100000000, 0, NULL},
    {"t[ms]\n-0.0000015\n", NULL, 0, -2, 0, NULL},
    {"t[ms]\n86400000.000001\n", NULL, 0, INT64_C(86400000000001), 0, NULL},
    {"t\n1.5e3\n", "us", 0, 1500000, 0, NULL},
    {"t;a\n1,5;1\n", "s", 0, 1500000000, 0, NULL},
    {"n\n4294967296\n", NULL, 1, INT64_C(4294967296), 0, NULL},
    {"t\n1970-01-02T00:00:00Z\n", NULL, 0, INT64_C(86400000000000), 0, NULL},
    {"t,a\n\"2024-03-05 12:34:56,789\",1\n", NULL, 0, INT64_C(1709642096789000000), 0, NULL},
    {"t\n2024-03-05T12:34:56.123456789+01:30\n", "iso8601", 0, INT64_C(1709636696123456789), 0, NULL},
    {"t[s]\n1\n1e12\n", NULL, 0, 0, 3, "'1e12' does not fit into nanoseconds"},
    {"n\n1\n1.5\n", NULL, 1, 0, 3, "'1.5' is not a whole number"},
    {"t[s]\nnoon\n", NULL, 0, 0, 2, "'noon' is not a number"},
    {"t\n2024-02-30T00:00:00Z\n", "iso8601", 0, 0, 2, "is not a time like"},
    {"t\n2024-02-28T00:00:00Z\n2024-02-28T00:00:01\n", NULL, 0, 0, 3, "has no time zone where rows before"},
    /* whole nanoseconds in 64 bits: a unit of years is refused, not wrapped */
    {"t[MPa/Pa*s]\n0.9999\n", NULL, 0, 0, 1, "the column is in MPa/Pa*s"}};

EACH_TEST(reads_times_exactly, 0, sizeof times / sizeof times[0])
{
  double v[2];
  unsigned char present[2];
  int end = 0;
  bramah_diag d = {0};
  put(times[_i].text);
  bramah_log_reader *reader = open_log();
  bramah_status status = bramah__log_set_time(reader, 0, times[_i].unit, times[_i].counter, &d);
  do
    if (!status) status = bramah_log_next(reader, v, present, &end, &d);
  while (times[_i].message && !status && !end);
  ck_assert_msg((status != BRAMAH_OK) == (times[_i].message != NULL) && !end, "%s", d.message);
  if (status) {
    ck_assert_int_eq(d.line, times[_i].line);
    ck_assert_msg(strstr(d.message, times[_i].message) != NULL, "%s", d.message);
  } else {
    ck_assert_msg(reader->time == times[_i].time, "%lld", (long long)reader->time);
  }
  bramah_log_close(reader);
}

TEST(writes_times_as_it_reads_them)
{
  static const int64_t ns[] = {0, -1, INT64_C(951782399999999999), INT64_C(4107542400000000000), 500000000};
  char text[36];
  int64_t back;
  for (size_t i = 0; i < sizeof ns / sizeof ns[0]; i++) {
    bramah_log_time_text(ns[i], text, sizeof text);
    ck_assert_int_eq(bramah_log_read_time(text, &back), BRAMAH_OK);
    ck_assert_msg(back == ns[i], "%s", text);
  }
  bramah_log_time_text(INT64_C(951782400000000000), text, sizeof text);
  ck_assert_str_eq(text, "2000-02-29T00:00:00Z");
}

TEST(reads_a_pipe_row_by_row)
{
  int ends[2];
  ck_assert_int_eq(pipe(ends), 0);
  int saved = dup(0);
  dup2(ends[0], 0);
  double v[2];
  unsigned char present[2];
  int end;
  bramah_log_reader *reader = NULL;
  ck_assert_int_eq(write(ends[1], "t,a\n1,2\n3", 9), 9);
  ck_assert_int_eq(bramah_log_open("-", NULL, NULL, &reader), BRAMAH_OK);
  ck_assert_int_eq(bramah_log_next(reader, v, present, &end, NULL), BRAMAH_OK); /* does not wait for more */
  ck_assert_int_eq(write(ends[1], ",4\n", 3), 3);
  close(ends[1]);
  ck_assert_int_eq(bramah_log_next(reader, v, present, &end, NULL), BRAMAH_OK);
  ck_assert_double_eq(v[1], 4.0);
  ck_assert_int_eq(bramah_log_next(reader, v, present, &end, NULL), BRAMAH_OK);
  ck_assert_int_eq(end, 1);
  bramah_log_close(reader);
  dup2(saved, 0);
  close(saved);
  close(ends[0]);
}

/* ---- writing ---- */

static bramah_log_writer *create_log(const char *where)
{
  bramah_log_writer *writer = NULL;
  ck_assert_int_eq(bramah_log_create(where, NULL, &writer), BRAMAH_OK);
  ck_assert_int_eq(bramah_log_add_column(writer, "time", "s", 9, NULL), BRAMAH_OK);
  ck_assert_int_eq(bramah_log_add_column(writer, "crank, angle", "deg", 17, NULL), BRAMAH_OK);
  ck_assert_int_eq(bramah_log_add_column(writer, "count", "", 3, NULL), BRAMAH_OK);
  return writer;
}

static char *file_text(void)
{
  static char text[4096];
  FILE *f = fopen(path, "rb");
  ck_assert_ptr_nonnull(f);
  text[fread(text, 1, sizeof text - 1, f)] = '\0';
  fclose(f);
  return text;
}

EACH_TEST(writes_what_is_read_back, 0, long_double_is_as_promised())
{
  bramah_log_writer *writer = create_log(path);
  ck_assert_int_eq(bramah_log_write(writer, (double[]){0.001, 0.1, NAN}, NULL), BRAMAH_OK);
  ck_assert_int_eq(bramah_log_write(writer, (double[]){1234.56789012, NAN, 1.5e10}, NULL), BRAMAH_OK);
  ck_assert_int_eq(bramah_log_add_column(writer, "late", "", 3, NULL), BRAMAH_E_ARGUMENT);
  ck_assert_int_eq(bramah_log_finish(writer, NULL), BRAMAH_OK);
  ck_assert_str_eq(file_text(),
                   "time[s],\"crank, angle[deg]\",count\n0.001,0.10000000000000001,\n1234.56789,,1.5e+10\n");
  rows r;
  ck_assert_int_eq(read_all(&r), BRAMAH_OK);
  ck_assert_int_eq(r.n, 2);
  ck_assert_double_eq(r.last[2], 1.5e10);
}

/* The mark between cells is found in the header, so a name that holds one is put in quotes; a byte-order mark in front of
 * the first name is the name's, not the file's. */
TEST(writes_names_that_hold_marks)
{
  static const char *const names[][2] = {{"a b", "a b"},           {"a;b", "a;b"},
                                         {"a\tb", "a b"},          {"a, b", "a, b"},
                                         {"\xFF\xFE", "\xFF\xFE"}, {"\xEF\xBB\xBFx", "\xEF\xBB\xBFx"}};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    bramah_log_writer *writer = NULL;
    ck_assert_int_eq(bramah_log_create(path, NULL, &writer), BRAMAH_OK);
    ck_assert_int_eq(bramah_log_add_column(writer, names[i][0], "m", 9, NULL), BRAMAH_OK);
    ck_assert_int_eq(bramah_log_finish(writer, NULL), BRAMAH_OK);
    bramah_log_reader *reader = open_log();
    ck_assert_uint_eq(reader->n_columns, 1);
    ck_assert_str_eq(reader->columns[0].name, names[i][1]);
    ck_assert_str_eq(reader->columns[0].unit, "m");
    bramah_log_close(reader);
  }
}

/* Also where the last line has no end. */
TEST(counts_the_bytes_used)
{
  double value;
  unsigned char present;
  int end;
  bramah_log_reader *reader = NULL;
  put("a\n1\n23");
  ck_assert_int_eq(bramah_log_open(path, NULL, NULL, &reader), BRAMAH_OK);
  for (uint64_t used = 4; used <= 6; used += 2) {
    ck_assert_int_eq(bramah_log_next(reader, &value, &present, &end, NULL), BRAMAH_OK);
    ck_assert_uint_eq(bramah_log_get_info(reader).bytes, used);
  }
  bramah_log_close(reader);
}

TEST(refuses_endless_headers)
{
  bramah_log_reader *reader = NULL;
  bramah_diag d;
  FILE *f = fopen(path, "w");
  ck_assert_ptr_nonnull(f);
  for (int i = 0; i <= 10000; i++) fprintf(f, "%sc%d", i ? "," : "", i);
  fputs("\n1\n", f);
  fclose(f);
  ck_assert_int_eq(bramah_log_open(path, NULL, &d, &reader), BRAMAH_E_SYNTAX);
  ck_assert_str_eq(d.message, "more than 10000 columns");
}

TEST(writes_a_header_without_rows)
{
  ck_assert_int_eq(bramah_log_finish(create_log(path), NULL), BRAMAH_OK);
  ck_assert_str_eq(file_text(), "time[s],\"crank, angle[deg]\",count\n");
  ck_assert_int_eq(bramah_log_finish(NULL, NULL), BRAMAH_OK);
}

TEST(an_empty_cell_alone_is_still_a_row)
{
  bramah_log_writer *writer = NULL;
  ck_assert_int_eq(bramah_log_create(path, NULL, &writer), BRAMAH_OK);
  ck_assert_int_eq(bramah_log_add_column(writer, "#x", "", 17, NULL), BRAMAH_OK);
  for (int i = 0; i < 3; i++)
    ck_assert_int_eq(bramah_log_write(writer, (double[]){i == 1 ? (double)NAN : i}, NULL), BRAMAH_OK);
  ck_assert_int_eq(bramah_log_finish(writer, NULL), BRAMAH_OK);
  rows r;
  ck_assert_int_eq(read_all(&r), BRAMAH_OK);
  ck_assert_int_eq(r.n, 3);
}

EACH_TEST(long_files_come_back_exactly, 0, long_double_is_as_promised())
{
  enum { N = 30000 };
  srand48(3);
  static double x[N];
  bramah_log_writer *writer = create_log(path);
  for (int i = 0; i < N; i++) {
    x[i] = (drand48() - 0.5) * pow(10.0, (double)(lrand48() % 40 - 20));
    ck_assert_int_eq(bramah_log_write(writer, (double[]){i, x[i], NAN}, NULL), BRAMAH_OK);
  }
  ck_assert_int_eq(bramah_log_finish(writer, NULL), BRAMAH_OK);
  bramah_log_reader *reader = open_log();
  double factor = acos(-1.0) / 180.0;
  for (int i = 0; i < N; i++) {
    double v[3];
    unsigned char present[3];
    int end;
    ck_assert_int_eq(bramah_log_next(reader, v, present, &end, NULL), BRAMAH_OK);
    ck_assert_double_eq(v[0], i);
    ck_assert_double_eq_tol(v[1] / factor, x[i], 5e-16 * fabs(x[i]));
  }
  bramah_log_close(reader);
}

TEST(files_hold_whole_rows_at_any_time)
{
  bramah_log_writer *writer = create_log(path);
  for (int i = 0; i < 20000; i++)
    ck_assert_int_eq(bramah_log_write(writer, (double[]){i, 1.0 / 3, 7}, NULL), BRAMAH_OK);
  rows r; /* the writer is still open: as after a crash */
  ck_assert_int_eq(read_all(&r), BRAMAH_OK);
  ck_assert_int_gt(r.n, 10000);
  ck_assert_int_lt(r.n, 20000);
  ck_assert_int_eq(bramah_log_finish(writer, NULL), BRAMAH_OK);
}

TEST(refuses_bad_columns)
{
  bramah_diag d = {0};
  bramah_log_writer *writer = create_log(path);
  ck_assert_int_eq(bramah_log_add_column(writer, "a", "", 0, &d), BRAMAH_E_ARGUMENT);
  ck_assert_int_eq(bramah_log_add_column(writer, "a", "", 18, &d), BRAMAH_E_ARGUMENT);
  ck_assert_int_eq(bramah_log_add_column(writer, "", "", 5, &d), BRAMAH_E_ARGUMENT);
  ck_assert_int_eq(bramah_log_add_column(writer, "a[0]", "", 5, &d), BRAMAH_E_ARGUMENT);
  ck_assert_int_eq(bramah_log_finish(writer, NULL), BRAMAH_OK);
}

TEST(reports_a_full_disk)
{
  bramah_diag d = {0};
  bramah_log_writer *writer = create_log("/dev/full");
  ck_assert_int_eq(bramah_log_write(writer, (double[]){1, 2, 3}, &d), BRAMAH_OK);
  ck_assert_int_eq(bramah_log_finish(writer, &d), BRAMAH_E_FILE);
  ck_assert_ptr_nonnull(strstr(d.message, "No space left"));
  ck_assert_str_eq(d.file, "/dev/full");
  writer = create_log("/dev/full");
  bramah_status status = BRAMAH_OK;
  for (int i = 0; i < 100000 && !status; i++) status = bramah_log_write(writer, (double[]){1, 2, 3}, &d);
  ck_assert_int_eq(status, BRAMAH_E_FILE);
  ck_assert_int_eq(bramah_log_write(writer, (double[]){1, 2, 3}, NULL), BRAMAH_E_FILE); /* sticky */
  ck_assert_int_eq(bramah_log_finish(writer, &d), BRAMAH_E_FILE);
  ck_assert_int_eq(bramah_log_create("/nonexistent/x.csv", &d, &writer), BRAMAH_OK);
  ck_assert_int_eq(bramah_log_flush(writer, &d), BRAMAH_E_FILE);
  ck_assert_int_eq(bramah_log_finish(writer, &d), BRAMAH_E_FILE);
  ck_assert_ptr_nonnull(strstr(d.message, "No such file"));
}

/* A disk that fills up in the middle of a row, here a limit to the size of the file. */
TEST(a_full_disk_leaves_whole_rows)
{
  bramah_diag d = {0};
  rows r;
  bramah_status status = BRAMAH_OK;
  bramah_log_writer *writer = create_log(path);
  signal(SIGXFSZ, SIG_IGN);
  setrlimit(RLIMIT_FSIZE, &(struct rlimit){100003, RLIM_INFINITY});
  for (int i = 0; i < 100000 && !status; i++)
    status = bramah_log_write(writer, (double[]){i, 1.0 / 3, 7}, &d);
  ck_assert_int_eq(status, BRAMAH_E_FILE);
  ck_assert_ptr_nonnull(strstr(d.message, "too large"));
  ck_assert_int_eq(bramah_log_finish(writer, NULL), BRAMAH_E_FILE);
  ck_assert_int_eq(read_all(&r), BRAMAH_OK);
  ck_assert_int_gt(r.n, 3000);
  ck_assert_double_eq(r.last[0], r.n - 1);
}

TEST(writes_to_standard_output)
{
  fflush(NULL);
  int saved = dup(1), fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  dup2(fd, 1);
  bramah_log_writer *writer = create_log("-");
  bramah_log_write(writer, (double[]){1, 2, 3}, NULL);
  bramah_status status = bramah_log_finish(writer, NULL);
  ssize_t still_open = write(1, "#\n", 2);
  dup2(saved, 1);
  close(saved);
  close(fd);
  ck_assert_int_eq(status, BRAMAH_OK);
  ck_assert_int_eq(still_open, 2);
  ck_assert_str_eq(file_text(), "time[s],\"crank, angle[deg]\",count\n1,2,3\n#\n");
}

/* No damage to a small file may crash the reader or make it run on for ever. */
TEST(survives_damaged_files)
{
  static const char whole[] = "# c\nt[s],\"p1[Pa]\",x\n1,2,3\n\"4\n\",,6\r\n7,8.5e3,9\n";
  static const char odd[] = "\0\n\r\",#[]\xC3\xFF 9e-";
  char bytes[sizeof whole];
  rows r;
  srand48(11);
  for (int i = 0; i < 3000; i++) {
    size_t n = (size_t)lrand48() % sizeof whole;
    memcpy(bytes, whole, sizeof whole);
    for (int k = 0; k < 3; k++)
      bytes[(size_t)lrand48() % sizeof whole] = odd[(size_t)lrand48() % (sizeof odd - 1)];
    put_bytes(bytes, n);
    bramah_status status = read_all(&r);
    ck_assert_int_le(r.n, 20);
    ck_assert(status == BRAMAH_OK || r.diag.message[0]);
  }
}

int main(void) { return run_tests_with("log", make_folder, remove_folder); }
