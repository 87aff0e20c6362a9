/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "test/fuzz/read_log.h"
#include "lib/logs/reader.h"
#include "bramah/units.h"
#include "test/fuzz/fuzz.h"

#include <math.h>
#include <string.h>

enum { MOST_COLUMNS = 4096, LONGEST_KEPT = 250 };

/* What a reading found, as numbers. */
typedef struct finding {
  bramah_status status;
  int opened;
  size_t rows;
  uint64_t header, values, times;
  bramah_log_format found;
  bramah_diag diag;
} finding;

static void mix(uint64_t *hash, const void *bytes, size_t n)
{
  const unsigned char *b = bytes;
  for (size_t i = 0; i < n; i++) *hash = (*hash ^ b[i]) * UINT64_C(0x100000001b3) + 1;
}

static void mix_text(uint64_t *hash, const char *text) { mix(hash, text, strlen(text) + 1); }

static int is_no_unit(const char *unit)
{
  return !*unit || strcmp(unit, "-") == 0 || strcmp(unit, "1") == 0 || strcmp(unit, "counts") == 0;
}

/* A column is found under its name; an unknown unit is an error only now. */
static void check_column(const bramah_log_reader *reader, size_t i)
{
  const char *name = reader->columns[i].name, *unit = reader->columns[i].unit;
  bramah_dimension dimension;
  bramah_diag diag;
  size_t at = reader->n_columns;
  double factor = 0.0;
  bramah_diag_clear(&diag);
  FUZZ_CHECK(name && *name && unit, "column %zu has no name", i);
  FUZZ_CHECK(!bramah_log_find(reader, name, NULL, &at, &diag) && at == i, "'%s' not found", name);
  const bramah_status known = bramah__log_unit_of(reader, i, &factor, &dimension, &diag);
  FUZZ_CHECK(known ? known == BRAMAH_E_UNIT && diag.message[0] : isfinite(factor) && factor > 0.0,
             "unit '%s': %s, %g", unit, bramah_status_name(known), factor);
  const bramah_status found = bramah_log_find(reader, name, is_no_unit(unit) ? "1" : unit, &at, &diag);
  FUZZ_CHECK(known ? found == BRAMAH_E_UNIT : found == BRAMAH_OK && at == i, "column '%s' [%s]: %s", name,
             unit, diag.message);
}

static void check_header(const bramah_log_reader *reader, finding *t)
{
  const size_t n = reader->n_columns;
  bramah_diag diag;
  size_t at = n;
  FUZZ_CHECK(n > 0, "a header without columns");
  for (size_t i = 0; i < n; i++) {
    check_column(reader, i);
    mix_text(&t->header, reader->columns[i].name);
    mix_text(&t->header, reader->columns[i].unit);
  }
  /* Which a column of MDF may be called, if somebody looks for it. */
  FUZZ_CHECK(bramah__log_column_of(reader, "no[such") != SIZE_MAX ||
                 (bramah_log_find(reader, "no[such", "m", &at, &diag) == BRAMAH_E_COLUMN && diag.message[0]),
             "found");
}

static void check_row(const double *values, const unsigned char *present, size_t n)
{
  for (size_t i = 0; i < n; i++) {
    FUZZ_CHECK(present[i] <= 1, "present is %d", present[i]);
    FUZZ_CHECK(present[i] ? isfinite(values[i]) : isnan(values[i]), "%g where present is %d", values[i],
               present[i]);
  }
}

/* Its value is the time, and one with a date comes back from its text. */
static void check_time(const bramah_log_reader *reader, double value)
{
  char text[64];
  int64_t back = 0;
  const int64_t time = reader->time;
  if (!reader->clock.iso) return;
  FUZZ_CHECK(value == 1e-9 * (double)time, "%g of %lld ns", value, (long long)time);
  bramah_log_time_text(time, text, sizeof text);
  FUZZ_CHECK(!bramah_log_read_time(text, &back) && back == time, "%lld ns is '%s', that is %lld ns",
             (long long)time, text, (long long)back);
}

/* Counts of what was skipped, and how far the file was read. */
static void check_counts(const bramah_log_reader *reader, const finding *t, const bramah_log_format *format,
                         const fuzz_log *log)
{
  const bramah_log_info info = bramah_log_get_info(reader);
  const uint64_t bytes = info.bytes;
  FUZZ_CHECK(bytes <= log->size && (bytes == log->size || t->status || !t->opened), "%zu bytes of %zu",
             (size_t)bytes, log->size);
  for (size_t i = 0; i < reader->n_columns; i++) {
    const uint64_t n = info.columns[i].bad_cells;
    const int first = info.columns[i].first_bad;
    FUZZ_CHECK((n > 0) == (first > 0) && first <= log->lines && (!n || format->skip_bad_cells), "bad cells");
  }
  const uint64_t n = info.bad_rows;
  const int first = info.first_bad_row;
  FUZZ_CHECK((n > 0) == (first > 0) && first <= log->lines && (!n || format->skip_bad_rows), "bad rows");
}

static void check_end(bramah_log_reader *reader, const finding *t, double *values, unsigned char *present)
{
  bramah_diag again = {0};
  int end = 0;
  const bramah_status status = bramah_log_next(reader, values, present, &end, &again);
  FUZZ_CHECK(status == t->status, "the end was %s, then %s", bramah_status_name(t->status),
             bramah_status_name(status));
  FUZZ_CHECK(end == (t->status == BRAMAH_OK), "the end is no end");
  if (status) fuzz_check_same_diag(&again, &t->diag);
}

/* time: the column of the times, or n_columns. `writer` may be NULL: where each row goes to. */
static void read_rows(bramah_log_reader *reader, size_t time, int lines, finding *t,
                      bramah_log_writer *writer)
{
  static double values[MOST_COLUMNS];
  static unsigned char present[MOST_COLUMNS];
  const size_t n = reader->n_columns;
  int line = 0, end = 0;
  while (!(t->status = bramah_log_next(reader, values, present, &end, &t->diag)) && !end) {
    check_row(values, present, n);
    if (time < n && present[time]) {
      const int64_t ns = reader->time;
      mix(&t->times, &ns, sizeof ns);
      check_time(reader, values[time]);
    }
    FUZZ_CHECK(reader->given_line > line && reader->given_line <= lines, "line %d after %d of %d",
               reader->given_line, line, lines);
    line = reader->given_line;
    mix(&t->values, values, n * sizeof *values);
    t->rows++;
    if (writer) FUZZ_CHECK(!bramah_log_write(writer, values, NULL), "not written");
  }
  check_end(reader, t, values, present);
}

/* A writer with the columns of the reader, without their units: values are in SI. */
static bramah_log_writer *open_copy(const bramah_log_reader *reader, const char *path)
{
  bramah_log_writer *writer = NULL;
  bramah_diag diag;
  FUZZ_CHECK(!bramah_log_create(path, &diag, &writer), "%s", diag.message);
  for (size_t i = 0; i < reader->n_columns; i++)
    FUZZ_CHECK(!bramah_log_add_column(writer, reader->columns[i].name, "", 17, &diag), "%s: %s", diag.thing,
               diag.message);
  return writer;
}

/* What the writer wrote is read without an error, with the same names and bits. */
static void check_copy(const char *path, const finding *first, const bramah_log_reader *original)
{
  bramah_log_reader *reader = NULL;
  bramah_diag diag;
  finding t = {0};
  uint64_t names = 0;
  FUZZ_CHECK(!bramah_log_open(path, NULL, &diag, &reader), "the copy cannot be opened: %s", diag.message);
  FUZZ_CHECK(reader->n_columns == original->n_columns, "columns of the copy");
  for (size_t i = 0; i < original->n_columns; i++) {
    mix_text(&names, original->columns[i].name);
    mix_text(&t.header, reader->columns[i].name);
  }
  FUZZ_CHECK(t.header == names, "names of the copy");
  read_rows(reader, SIZE_MAX, INT32_MAX, &t, NULL);
  FUZZ_CHECK(t.rows == first->rows && t.values == first->values, "%zu rows of %zu, or other values", t.rows,
             first->rows);
  FUZZ_CHECK(t.status == BRAMAH_OK || (t.status == BRAMAH_E_EMPTY && !t.rows), "%s", t.diag.message);
  bramah_log_close(reader);
}

static void read_with_copy(bramah_log_reader *reader, size_t time, const fuzz_log *log, finding *t)
{
  bramah_diag diag;
  bramah_log_writer *writer = open_copy(reader, log->copy);
  read_rows(reader, time, log->lines, t, writer);
  FUZZ_CHECK(!bramah_log_finish(writer, &diag), "%s", diag.message);
  /* A MAT file of no rows has no vectors. */
  if (t->rows || !bramah_log_is_mat(log->copy)) check_copy(log->copy, t, reader);
}

/* A copy has a header, which cannot name columns by number. A MAT file can have names that its writer does
 * not keep as they are. */
static int can_be_copied(const bramah_log_reader *reader, const fuzz_dialect *dialect)
{
  if (!bramah_log_get_info(reader).kind) return !dialect->format.no_header;
  for (size_t i = 0; i < reader->n_columns; i++) {
    const char *name = reader->columns[i].name;
    const size_t n = strlen(name);
    if (n > LONGEST_KEPT || name[n - 1] == ' ') return 0;
    for (size_t k = 0; k < n; k++)
      if (name[k] < ' ' || name[k] > '~' || strchr("[]", name[k])) return 0;
  }
  return 1;
}

/* What a caller asks for before the first row. *time: the column of the times. */
static bramah_status prepare(bramah_log_reader *reader, const fuzz_dialect *dialect, size_t *time,
                             bramah_diag *diag)
{
  const size_t n = reader->n_columns;
  *time = n;
  if (dialect->restate) reader->units[0].factor = 1.0;
  if (dialect->ignore) reader->columns[n / 2].ignored = 1;
  if (!dialect->has_time) return BRAMAH_OK;
  *time = dialect->last ? n - 1 : 0;
  bramah_diag_clear(diag);
  return bramah__log_set_time(reader, *time, dialect->has_unit ? dialect->unit : NULL, dialect->counter,
                              diag);
}

static void read_log(const fuzz_log *log, const fuzz_dialect *dialect, int copy, finding *t)
{
  bramah_log_reader *reader = NULL;
  size_t time = 0;
  t->status = bramah_log_open(log->path, &dialect->format, &t->diag, &reader);
  FUZZ_CHECK((t->status == BRAMAH_OK) == (reader != NULL), "%s", bramah_status_name(t->status));
  if (t->status) return;
  check_header(reader, t);
  t->status = prepare(reader, dialect, &time, &t->diag);
  if (!t->status && reader->n_columns <= MOST_COLUMNS) {
    if (copy && log->copy && can_be_copied(reader, dialect))
      read_with_copy(reader, time, log, t);
    else
      read_rows(reader, time, log->lines, t, NULL);
    t->opened = 1;
  }
  t->found = reader->format;
  check_counts(reader, t, &dialect->format, log);
  bramah_log_close(reader);
}

/* State what was found; texts are those of the dialect, as the reader is gone. */
static void state_dialect(fuzz_dialect *dialect, const finding *t)
{
  const bramah_log_format stated = dialect->format;
  if (!t->opened) return;
  dialect->format = t->found;
  dialect->format.comment = stated.comment;
  dialect->format.missing = stated.missing;
  dialect->format.dbc = stated.dbc;
  FUZZ_CHECK(t->found.delimiter && (t->found.units || stated.no_header), "nothing found");
}

void fuzz_check_log(const fuzz_log *log, fuzz_dialect *dialect)
{
  finding first = {0}, second = {0};
  read_log(log, dialect, 1, &first);
  if (first.status) fuzz_check_diag(&first.diag, first.status, log->path, log->lines);
  state_dialect(dialect, &first);
  read_log(log, dialect, 0, &second);
  FUZZ_CHECK(first.status == second.status && first.rows == second.rows && first.header == second.header &&
                 first.values == second.values && first.times == second.times,
             "read twice, not the same");
  if (first.status) fuzz_check_same_diag(&first.diag, &second.diag);
}
