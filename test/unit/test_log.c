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
  int n;
  double last[16];
  unsigned char present[16];
  int line;
  bramah_diag diag;
} rows;

static bramah_status read_all(rows *r)
{
  int end = 0;
  memset(r, 0, sizeof *r);
  bramah_log_reader *reader = NULL;
  bramah_status status = bramah_log_open(path, NULL, &r->diag, &reader);
  while (!status) {
    status = bramah_log_next(reader, r->last, r->present, &end, &r->diag);
    if (end || status) break;
    r->n++;
    r->line = reader->given_line;
  }
  bramah_log_close(reader);
  return status;
}

#define ASSERT_FAILS(text, code, at_line, at_column, part)                                                   \
  do {                                                                                                       \
    rows r_;                                                                                                 \
    put(text);                                                                                               \
    ck_assert_str_eq(bramah_status_name(read_all(&r_)), #code);                                              \
    ck_assert_msg(strstr(r_.diag.message, part) != NULL, "message is: %s", r_.diag.message);                 \
    ck_assert_int_eq(r_.diag.line, at_line);                                                                 \
    ck_assert_int_eq(r_.diag.column, at_column);                                                             \
    ck_assert_str_eq(r_.diag.file, path);                                                                    \
    ck_assert_int_eq(r_.diag.status, BRAMAH_##code);                                                         \
  } while (0)

/* ---- what is read ---- */

START_TEST(reads_units_as_si)
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
END_TEST

START_TEST(tolerates_what_other_programs_write)
{
  rows r;
  put("\xEF\xBB\xBF# a comment\r\n\r\n  t [s] ,\tp1 [ bar ]\r\n# one more\r\n 1 ,\t2 \r\n\r\n\"3\",\" 4.5 "
      "\"\r\n \t\r\n5,\"\"");
  ck_assert_int_eq(read_all(&r), BRAMAH_OK);
  ck_assert_int_eq(r.n, 3);
  ck_assert_int_eq(r.line, 9);
  ck_assert_double_eq(r.last[0], 5.0);
  ck_assert_int_eq(r.present[1], 0);
  bramah_log_reader *reader = open_log();
  ck_assert_str_eq(reader->columns[0].name, "t");
  ck_assert_str_eq(reader->columns[1].name, "p1");
  ck_assert_str_eq(reader->columns[1].unit, "bar");
  bramah_log_close(reader);
}
END_TEST

START_TEST(accepts_a_last_line_without_line_end)
{
  rows r;
  put("t,a\n1,2\n3,4.25");
  ck_assert_int_eq(read_all(&r), BRAMAH_OK);
  ck_assert_int_eq(r.n, 2);
  ck_assert_double_eq(r.last[1], 4.25);
}
END_TEST

START_TEST(counts_lines_inside_quotes)
{
  rows r;
  put("t,\"a\n[s]\"\n\"1\n\",2\n\"\n3\",\"\n\n4\"\n5,6\n");
  ck_assert_int_eq(read_all(&r), BRAMAH_OK);
  ck_assert_int_eq(r.n, 3);
  ck_assert_int_eq(r.line, 9);
  ck_assert_double_eq(r.last[0], 5.0);
  /* a comment sign or an empty line inside quotes belongs to the cell, which opened on line 4 */
  ASSERT_FAILS("t,a\n1,2\n3,4\n1,\" \n#\n\n5\"\n6,7\n", E_SYNTAX, 4, 3, "'#??5' is not a number");
  /* a bad cell that opens and closes on the second line of its row */
  ASSERT_FAILS("t,a,b\n\"1\n\", \"x\",3\n", E_SYNTAX, 3, 4, "'x' is not a number");
}
END_TEST

/* Numbers must be those of strtod, bit for bit, whichever way they are read. */
static void random_number_text(char *out, size_t n)
{
  int digits = 1 + (int)(lrand48() % 19), exponent = (int)(lrand48() % 60) - 30;
  double value = (drand48() - 0.5) * pow(10.0, exponent);
  if (lrand48() % 2)
    snprintf(out, n, "%.*e", digits, value);
  else
    snprintf(out, n, "%.*f", digits, fmod(value, 1e9));
}

START_TEST(reads_numbers_as_strtod_does)
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
END_TEST

START_TEST(reads_odd_numbers)
{
  rows r;
  put("a,b,c,d,e,f\n+.5,5.,-0,1E+2,9007199254740993,4.9e-324\n");
  ck_assert_int_eq(read_all(&r), BRAMAH_OK);
  ck_assert_double_eq(r.last[0], 0.5);
  ck_assert_double_eq(r.last[1], 5.0);
  ck_assert(signbit(r.last[2]));
  ck_assert_double_eq(r.last[3], 100.0);
  ck_assert_double_eq(r.last[4], 9007199254740992.0);
  ck_assert(r.last[5] > 0.0);
}
END_TEST

START_TEST(does_not_depend_on_the_locale)
{
  static const char *const names[] = {"de_DE.UTF-8", "de_DE", "fr_FR.UTF-8", "fi_FI.UTF-8"};
  for (size_t i = 0; i < 4; i++)
    if (setlocale(LC_ALL, names[i])) break;
  rows r;
  put("t\n0.12345678901234567890\n");
  ck_assert_int_eq(read_all(&r), BRAMAH_OK);
  ck_assert_double_eq(r.last[0], 0.12345678901234567890);
  setlocale(LC_ALL, "C");
}
END_TEST

/* ---- what is refused ---- */

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

START_TEST(mistakes_have_their_place)
{
  rows r;
  put(mistakes[_i].text);
  ck_assert_int_eq(read_all(&r), mistakes[_i].status);
  ck_assert_msg(strstr(r.diag.message, mistakes[_i].message) != NULL, "%s", r.diag.message);
  ck_assert_int_eq(r.diag.line, mistakes[_i].line);
  ck_assert_int_eq(r.diag.column, mistakes[_i].column);
  ck_assert_str_eq(r.diag.file, path);
  ck_assert_int_eq(r.diag.status, mistakes[_i].status);
}
END_TEST

START_TEST(names_the_column_of_a_bad_cell)
{
  rows r;
  put("t,p1,p2\n\"\xC3\xA4\",1,\n");
  ck_assert_int_eq(read_all(&r), BRAMAH_E_SYNTAX);
  ck_assert_str_eq(r.diag.thing, "t");
}
END_TEST

START_TEST(cuts_and_cleans_what_it_quotes)
{
  rows r;
  put("t\n\x1b[31mAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\n");
  ck_assert_int_eq(read_all(&r), BRAMAH_E_SYNTAX);
  ck_assert_ptr_null(strchr(r.diag.message, '\x1b'));
  ck_assert_ptr_nonnull(strstr(r.diag.message, "AAA...'"));
  ck_assert_uint_lt(strlen(r.diag.message), 80);
}
END_TEST

START_TEST(refuses_files_that_are_not_text)
{
  rows r;
  put_bytes("t,p1\n0,1\n1,\0\n", 13);
  ck_assert_int_eq(read_all(&r), BRAMAH_E_SYNTAX);
  ck_assert_int_eq(r.n, 1);
  ck_assert_int_eq(r.diag.line, 3);
  ck_assert_int_eq(r.diag.column, 3);
  ck_assert_ptr_nonnull(strstr(r.diag.message, "not a text file"));
  static char zeros[600000];
  put_bytes(zeros, sizeof zeros);
  ck_assert_int_eq(read_all(&r), BRAMAH_E_SYNTAX);
  ck_assert_ptr_nonnull(strstr(r.diag.message, "not a text file"));
  memset(zeros, 'x', sizeof zeros);
  put_bytes(zeros, sizeof zeros);
  ck_assert_int_eq(read_all(&r), BRAMAH_E_SYNTAX);
  ck_assert_ptr_nonnull(strstr(r.diag.message, "longer than"));
  memset(zeros, '\n', sizeof zeros);
  memcpy(zeros, "t,a\n1,2\n\"3", 10);
  put_bytes(zeros, sizeof zeros);
  ck_assert_int_eq(read_all(&r), BRAMAH_E_SYNTAX);
  ck_assert_int_eq(r.diag.line, 3);
  ck_assert_ptr_nonnull(strstr(r.diag.message, "never closed"));
  put_bytes("t,p1\r1,2\r3,4\r", 13);
  ck_assert_int_eq(read_all(&r), BRAMAH_E_SYNTAX);
  ck_assert_ptr_nonnull(strstr(r.diag.message, "carriage return"));
}
END_TEST

START_TEST(an_unknown_unit_matters_where_it_is_wanted)
{
  put("t[s],p1[furlong]\n1,2\n"); /* of no interest until it is asked for */
  bramah_log_reader *reader = open_log();
  bramah_diag d = {0};
  size_t column;
  ck_assert_int_eq(bramah_log_find(reader, "p1", "Pa", &column, &d), BRAMAH_E_UNIT);
  ck_assert_int_eq(d.line, 1);
  ck_assert_int_eq(d.column, 6);
  ck_assert_str_eq(d.thing, "p1");
  ck_assert_ptr_nonnull(strstr(d.message, "furlong"));
  bramah_log_close(reader);
}
END_TEST

START_TEST(names_files_that_cannot_be_read)
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
END_TEST

START_TEST(errors_are_sticky)
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
  ck_assert_int_eq(second.line, 3);
  ck_assert_int_eq(end, 0);
  ck_assert_int_eq(reader->given_line, 2); /* of the row given last */
  ck_assert_int_eq(bramah_log_next(reader, v, present, &end, NULL), BRAMAH_E_SYNTAX);
  bramah_log_close(reader);
}
END_TEST

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

START_TEST(finds_dialects)
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
END_TEST

/* What cannot be told is asked for; what was decided stays. */
START_TEST(refuses_what_may_mean_two_things)
{
  ASSERT_FAILS("t,a;b\n1,2;3\n", E_SYNTAX, 1, 0, "state the delimiter");
  ASSERT_FAILS("t;a\n0,5;1\n0.6;2\n", E_SYNTAX, 3, 1, "the numbers before have decimal commas");
  ASSERT_FAILS("t;a\n0.5;1\n0,6;2\n", E_SYNTAX, 3, 1, "the numbers before have decimal points");
  ASSERT_FAILS("t,a\n0,1,5\n", E_SYNTAX, 2, 0, "3 cells where the header has 2");
  ASSERT_FAILS("0.1,0.2\n0.3,0.4\n", E_SYNTAX, 1, 1, "a number where the header should name a column");
}
END_TEST

START_TEST(leaves_out_what_may_be_left_out)
{
  const bramah_log_format format = {.missing = "NaN -", .skip_bad_cells = 1, .skip_bad_rows = 1};
  double v[3];
  unsigned char present[3];
  int end, n = 0, cells = 0;
  put("t,a,b\n0,nan,-\n1,x,2\n2,3\n3,4,5,6\n4,inf,7\n5,8,9\n6,1");
  bramah_log_reader *reader = open_as(&format);
  while (!bramah_log_next(reader, v, present, &end, NULL) && !end) {
    n++;
    for (int i = 0; i < 3; i++) cells += present[i];
  }
  ck_assert_int_eq(end, 1);
  ck_assert_int_eq(n, 4);
  ck_assert_int_eq(cells, 4 + 3 + 1); /* times, b, a */
  const bramah_log_info info = bramah_log_get_info(reader);
  ck_assert_uint_eq(info.columns[1].bad_cells, 2);
  ck_assert_int_eq(info.columns[1].first_bad, 3);
  ck_assert_uint_eq(info.columns[2].bad_cells, 0);
  ck_assert_uint_eq(info.bad_rows, 3);
  ck_assert_int_eq(info.first_bad_row, 4);
  ck_assert_int_eq(info.is_cut, 1);
  bramah_log_close(reader);
}
END_TEST

/* Nothing is left: that is no log without rows. */
START_TEST(says_when_every_row_is_left_out)
{
  const bramah_log_format format = {.skip_bad_rows = 1};
  double v[2];
  unsigned char present[2];
  int end;
  bramah_diag d = {0};
  put("t,a\n# c\n0,x\n1\n");
  bramah_log_reader *reader = open_as(&format);
  ck_assert_int_eq(bramah_log_next(reader, v, present, &end, &d), BRAMAH_E_EMPTY);
  ck_assert_str_eq(d.message, "every row of the log is bad: 2 were left out, from here on");
  ck_assert_int_eq(d.line, 3);
  bramah_log_close(reader);
}
END_TEST

/* The points of a word are no decimal points. */
START_TEST(words_do_not_decide_on_decimal_commas)
{
  const bramah_log_format format = {.skip_bad_cells = 1};
  double v[3];
  unsigned char present[3];
  int end;
  put("t;a;b\n0;n.a.;1,5\n1;2,5;v1.2\n");
  bramah_log_reader *reader = open_as(&format);
  ck_assert_int_eq(bramah_log_next(reader, v, present, &end, NULL), BRAMAH_OK);
  ck_assert(!present[1] && present[2] && v[2] == 1.5);
  ck_assert_int_eq(bramah_log_next(reader, v, present, &end, NULL), BRAMAH_OK);
  ck_assert(present[1] && v[1] == 2.5 && !present[2]);
  ck_assert_int_eq(reader->format.decimal, ',');
  ck_assert_uint_eq(reader->columns[1].bad_cells, 1);
  bramah_log_close(reader);
}
END_TEST

/* ---- times ---- */

static const struct {
  const char *text, *unit;
  int counter;
  int64_t time;
} times[] = {{"t[s]\n0.1\n", NULL, 0, 100000000},
             {"t[ms]\n-0.0000015\n", NULL, 0, -2},
             {"t[ms]\n86400000.000001\n", NULL, 0, INT64_C(86400000000001)},
             {"t\n1.5e3\n", "us", 0, 1500000},
             {"t;a\n1,5;1\n", "s", 0, 1500000000},
             {"n\n4294967296\n", NULL, 1, INT64_C(4294967296)},
             {"t\n1970-01-02T00:00:00Z\n", NULL, 0, INT64_C(86400000000000)},
             {"t,a\n\"2024-03-05 12:34:56,789\",1\n", NULL, 0, INT64_C(1709642096789000000)},
             {"t\n2024-03-05T12:34:56.123456789+01:30\n", "iso8601", 0, INT64_C(1709636696123456789)}};

START_TEST(reads_times_exactly)
{
  double v[2];
  unsigned char present[2];
  int end;
  bramah_diag d = {0};
  put(times[_i].text);
  bramah_log_reader *reader = open_log();
  ck_assert_msg(!bramah__log_set_time(reader, 0, times[_i].unit, times[_i].counter, &d), "%s", d.message);
  ck_assert_msg(!bramah_log_next(reader, v, present, &end, &d) && !end, "%s", d.message);
  ck_assert_msg(reader->time == times[_i].time, "%lld", (long long)reader->time);
  bramah_log_close(reader);
}
END_TEST

static const struct {
  const char *text, *unit;
  int counter, line;
  const char *message;
} bad_times[] = {
    {"t[s]\n1\n1e12\n", NULL, 0, 3, "'1e12' does not fit into nanoseconds"},
    {"n\n1\n1.5\n", NULL, 1, 3, "'1.5' is not a whole number"},
    {"t[s]\nnoon\n", NULL, 0, 2, "'noon' is not a number"},
    {"t\n2024-02-30T00:00:00Z\n", "iso8601", 0, 2, "is not a time like"},
    {"t\n2024-02-28T00:00:00Z\n2024-02-28T00:00:01\n", NULL, 0, 3, "has no time zone where rows before"}};

START_TEST(refuses_bad_times)
{
  double v[2];
  unsigned char present[2];
  int end;
  bramah_diag d = {0};
  put(bad_times[_i].text);
  bramah_log_reader *reader = open_log();
  ck_assert_msg(!bramah__log_set_time(reader, 0, bad_times[_i].unit, bad_times[_i].counter, &d), "%s",
                d.message);
  while (!bramah_log_next(reader, v, present, &end, &d)) ck_assert(!end);
  ck_assert_int_eq(d.line, bad_times[_i].line);
  ck_assert_msg(strstr(d.message, bad_times[_i].message) != NULL, "%s", d.message);
  bramah_log_close(reader);
}
END_TEST

START_TEST(writes_times_as_it_reads_them)
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
END_TEST

START_TEST(finds_columns)
{
  put("time[s],p1[bar],p2[deg],x\n");
  bramah_log_reader *reader = open_log();
  bramah_diag d = {0};
  size_t i = 99;
  ck_assert_int_eq(bramah_log_find(reader, "p1", "Pa", &i, &d), BRAMAH_OK);
  ck_assert_uint_eq(i, 1);
  ck_assert_int_eq(bramah_log_find(reader, "x", "1", &i, &d), BRAMAH_OK);
  ck_assert_uint_eq(i, 3);
  ck_assert_int_eq(bramah_log_find(reader, "p4", "Pa", &i, &d), BRAMAH_E_COLUMN);
  ck_assert_ptr_nonnull(strstr(d.message, "the log has no column 'p4'; did you mean 'p"));
  ck_assert_int_eq(bramah_log_find(reader, "frobnicate", "Pa", &i, &d), BRAMAH_E_COLUMN);
  ck_assert_ptr_nonnull(strstr(d.message, "it has time, p1, p2, x"));
  ck_assert_int_eq(bramah_log_find(reader, "p2", "Pa", &i, &d), BRAMAH_E_UNIT);
  ck_assert_ptr_nonnull(strstr(d.message, "the column is in deg; expected a unit like Pa, written p2[Pa]"));
  ck_assert_int_eq(d.column, 17);
  ck_assert_int_eq(bramah_log_find(reader, "x", "Pa", &i, &d), BRAMAH_E_UNIT);
  ck_assert_ptr_nonnull(strstr(d.message, "no unit"));
  ck_assert_int_eq(bramah_log_find(reader, "p1", "1", &i, &d), BRAMAH_E_UNIT);
  ck_assert_ptr_nonnull(strstr(d.message, "without unit"));
  ck_assert_int_eq(bramah_log_find(reader, "nothing", "1", &i, NULL), BRAMAH_E_COLUMN);
  ck_assert_uint_eq(i, 3); /* unchanged by failures */
  bramah_log_close(reader);
}
END_TEST

START_TEST(reads_a_pipe_row_by_row)
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
END_TEST

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

START_TEST(writes_what_is_read_back)
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
END_TEST

/* A byte-order mark in front of the first name is the name's, not the file's. */
START_TEST(writes_a_name_with_a_byte_order_mark)
{
  static const char name[] = "\xEF\xBB\xBFx";
  bramah_log_writer *writer = NULL;
  bramah_log_reader *reader = NULL;
  ck_assert_int_eq(bramah_log_create(path, NULL, &writer), BRAMAH_OK);
  ck_assert_int_eq(bramah_log_add_column(writer, name, "m", 9, NULL), BRAMAH_OK);
  ck_assert_int_eq(bramah_log_finish(writer, NULL), BRAMAH_OK);
  ck_assert_int_eq(bramah_log_open(path, NULL, NULL, &reader), BRAMAH_OK);
  ck_assert_str_eq(reader->columns[0].name, name);
  bramah_log_close(reader);
}
END_TEST

/* The mark between cells is found in the header, so a name that holds one is put in quotes. */
START_TEST(writes_names_that_hold_marks)
{
  static const char *const names[] = {"a b", "a;b", "a\tb", "a, b", "\xFF\xFE"};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    bramah_log_writer *writer = NULL;
    bramah_log_reader *reader = NULL;
    ck_assert_int_eq(bramah_log_create(path, NULL, &writer), BRAMAH_OK);
    ck_assert_int_eq(bramah_log_add_column(writer, names[i], "m", 9, NULL), BRAMAH_OK);
    ck_assert_int_eq(bramah_log_finish(writer, NULL), BRAMAH_OK);
    ck_assert_int_eq(bramah_log_open(path, NULL, NULL, &reader), BRAMAH_OK);
    ck_assert_uint_eq(reader->n_columns, 1);
    ck_assert_str_eq(reader->columns[0].name, i == 2 ? "a b" : names[i]);
    ck_assert_str_eq(reader->columns[0].unit, "m");
    bramah_log_close(reader);
  }
}
END_TEST

/* Two thousand million lines to be skipped of a file with one: told at once. */
START_TEST(skips_no_line_beyond_the_end)
{
  const bramah_log_format format = {.skip = 2147483647};
  bramah_log_reader *reader = NULL;
  bramah_diag d;
  put("a\n1\n");
  ck_assert_int_eq(bramah_log_open(path, &format, &d, &reader), BRAMAH_E_EMPTY);
}
END_TEST

/* Also where the last line has no end. */
START_TEST(counts_the_bytes_used)
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
END_TEST

/* Times are whole nanoseconds in 64 bits: a unit of years is refused, not wrapped. */
START_TEST(refuses_times_in_huge_units)
{
  bramah_log_reader *reader = NULL;
  bramah_diag d;
  put("t[MPa/Pa*s]\n0.9999\n");
  ck_assert_int_eq(bramah_log_open(path, NULL, NULL, &reader), BRAMAH_OK);
  ck_assert_int_eq(bramah__log_set_time(reader, 0, NULL, 0, &d), BRAMAH_E_UNIT);
  bramah_log_close(reader);
}
END_TEST

START_TEST(refuses_endless_headers)
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
END_TEST

START_TEST(writes_a_header_without_rows)
{
  ck_assert_int_eq(bramah_log_finish(create_log(path), NULL), BRAMAH_OK);
  ck_assert_str_eq(file_text(), "time[s],\"crank, angle[deg]\",count\n");
  ck_assert_int_eq(bramah_log_finish(NULL, NULL), BRAMAH_OK);
}
END_TEST

START_TEST(an_empty_cell_alone_is_still_a_row)
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
END_TEST

START_TEST(long_files_come_back_exactly)
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
END_TEST

START_TEST(files_hold_whole_rows_at_any_time)
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
END_TEST

START_TEST(refuses_bad_columns)
{
  bramah_diag d = {0};
  bramah_log_writer *writer = create_log(path);
  ck_assert_int_eq(bramah_log_add_column(writer, "a", "", 0, &d), BRAMAH_E_ARGUMENT);
  ck_assert_int_eq(bramah_log_add_column(writer, "a", "", 18, &d), BRAMAH_E_ARGUMENT);
  ck_assert_int_eq(bramah_log_add_column(writer, "", "", 5, &d), BRAMAH_E_ARGUMENT);
  ck_assert_int_eq(bramah_log_add_column(writer, "a[0]", "", 5, &d), BRAMAH_E_ARGUMENT);
  ck_assert_int_eq(bramah_log_finish(writer, NULL), BRAMAH_OK);
}
END_TEST

START_TEST(reports_a_full_disk)
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
  ck_assert_int_eq(bramah_log_create("/nonexistent/x.csv", &d, &writer), BRAMAH_E_FILE);
  ck_assert_ptr_nonnull(strstr(d.message, "No such file"));
}
END_TEST

/* A disk that fills up in the middle of a row, here a limit to the size of the file. */
START_TEST(a_full_disk_leaves_whole_rows)
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
END_TEST

START_TEST(writes_to_standard_output)
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
END_TEST

/* No damage to a small file may crash the reader or make it run on for ever. */
START_TEST(survives_damaged_files)
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
END_TEST

int main(void)
{
  Suite *suite = suite_create("log");
  TCase *t = one_case(suite, "log");
  tcase_add_checked_fixture(t, make_folder, remove_folder);
  tcase_add_test(t, reads_units_as_si);
  tcase_add_test(t, tolerates_what_other_programs_write);
  tcase_add_test(t, accepts_a_last_line_without_line_end);
  tcase_add_test(t, counts_lines_inside_quotes);
  tcase_add_test(t, reads_numbers_as_strtod_does);
  tcase_add_test(t, reads_odd_numbers);
  tcase_add_test(t, does_not_depend_on_the_locale);
  tcase_add_test(t, cuts_and_cleans_what_it_quotes);
  tcase_add_test(t, refuses_files_that_are_not_text);
  tcase_add_loop_test(t, mistakes_have_their_place, 0, (int)(sizeof mistakes / sizeof mistakes[0]));
  tcase_add_test(t, names_the_column_of_a_bad_cell);
  tcase_add_test(t, an_unknown_unit_matters_where_it_is_wanted);
  tcase_add_test(t, names_files_that_cannot_be_read);
  tcase_add_test(t, errors_are_sticky);
  tcase_add_test(t, finds_columns);
  tcase_add_test(t, reads_a_pipe_row_by_row);
  if (long_double_is_as_promised()) tcase_add_test(t, writes_what_is_read_back);
  tcase_add_test(t, writes_a_name_with_a_byte_order_mark);
  tcase_add_test(t, writes_names_that_hold_marks);
  tcase_add_test(t, skips_no_line_beyond_the_end);
  tcase_add_test(t, counts_the_bytes_used);
  tcase_add_test(t, refuses_times_in_huge_units);
  tcase_add_test(t, refuses_endless_headers);
  tcase_add_test(t, writes_a_header_without_rows);
  tcase_add_test(t, an_empty_cell_alone_is_still_a_row);
  if (long_double_is_as_promised()) tcase_add_test(t, long_files_come_back_exactly);
  tcase_add_test(t, files_hold_whole_rows_at_any_time);
  tcase_add_test(t, refuses_bad_columns);
  tcase_add_loop_test(t, finds_dialects, 0, (int)(sizeof dialects / sizeof dialects[0]));
  tcase_add_test(t, refuses_what_may_mean_two_things);
  tcase_add_test(t, leaves_out_what_may_be_left_out);
  tcase_add_test(t, says_when_every_row_is_left_out);
  tcase_add_test(t, words_do_not_decide_on_decimal_commas);
  tcase_add_loop_test(t, reads_times_exactly, 0, (int)(sizeof times / sizeof times[0]));
  tcase_add_loop_test(t, refuses_bad_times, 0, (int)(sizeof bad_times / sizeof bad_times[0]));
  tcase_add_test(t, writes_times_as_it_reads_them);
  tcase_add_test(t, reports_a_full_disk);
  tcase_add_test(t, a_full_disk_leaves_whole_rows);
  tcase_add_test(t, writes_to_standard_output);
  tcase_add_test(t, survives_damaged_files);
  return run_suite(suite);
}
