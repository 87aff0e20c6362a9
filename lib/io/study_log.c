/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a study says of its logs: how they are written, their times, and how columns become measurements. */
#define _GNU_SOURCE /* locale_t */
#include "lib/base/diag.h"
#include "lib/io/study_file.h"

#include <math.h>
#include <string.h>

static void *member(void *object, size_t offset) { return (unsigned char *)object + offset; }

/* ---- columns ---- */

/* Kept as it stands; that it is a unit can be told here, whether it fits only with the sensor. */
bramah_status bramah__read_log_unit(bramah__reader *reader, const bramah__item *item, const bramah__key *key,
                                    void *object)
{
  bramah_dimension dimension;
  double factor;
  const char **unit = member(object, key->offset);
  bramah_status status = bramah__read_text(reader, item, key, object);
  if (status || strcmp(*unit, "counts") == 0 || strcmp(*unit, "iso8601") == 0) return status;
  status = bramah_unit_parse(*unit, &factor, &dimension, reader->diag);
  if (!status) return BRAMAH_OK;
  char message[sizeof reader->diag->message];
  memcpy(message, reader->diag->message, sizeof message);
  return bramah__fail_item(reader, item, status, "%s", message);
}

bramah_status bramah__read_sign(bramah__reader *reader, const bramah__item *item, const bramah__key *key,
                                void *object)
{
  bramah_status status = bramah__read_quantity(reader, item, key, object);
  const double *sign = member(object, key->offset);
  if (!status && fabs(*sign) != 1.0)
    return bramah__fail_item(reader, item, BRAMAH_E_VALUE, "sign is 1 or -1; other factors are a scale");
  return status;
}

/* ---- times ---- */

static bramah_status read_drift(bramah__reader *reader, const bramah__item *item, const bramah__key *key,
                                void *object)
{
  const bramah_status status = bramah__read_quantity(reader, item, key, object);
  const double *drift = member(object, key->offset);
  if (!status && !(fabs(*drift) < 0.1))
    return bramah__fail_item(reader, item, BRAMAH_E_VALUE,
                             "drift is a small number: what the clock gains per second, as in 30 ppm");
  return status;
}

/* "first", a time or a date: kept as text. */
static bramah_status read_origin(bramah__reader *reader, const bramah__item *item, const bramah__key *key,
                                 void *object)
{
  bramah_study_value *figure = member(object, key->offset);
  const bramah__key text = {.name = "origin", .offset = offsetof(bramah_study_value, text)};
  const bramah_status status = bramah__read_text(reader, item, &text, figure);
  double seconds;
  int64_t ns;
  if (status) return status;
  figure->line = item->node->line;
  figure->column = item->node->column;
  if (strcmp(figure->text, "first") == 0 || bramah_log_read_time(figure->text, &ns) == BRAMAH_OK ||
      bramah_quantity_parse(figure->text, "s", &seconds, reader->diag) == BRAMAH_OK)
    return BRAMAH_OK;
  return bramah__fail_item(reader, item, BRAMAH_E_VALUE,
                           "origin is 'first', a time ('12 s') or a date ('2024-03-05T12:00:00Z')");
}

static bramah_status finish_time(bramah__reader *reader, const bramah__item *item, void *object)
{
  const bramah_study_time *time = object;
  if (time->rate.text && time->unit && strcmp(time->unit, "counts") != 0)
    return bramah__fail_item(reader, item, BRAMAH_E_KEY, "a counter with a 'rate' has no 'unit'");
  if (time->unit && strcmp(time->unit, "iso8601") == 0 && time->wrap.text)
    return bramah__fail_item(reader, item, BRAMAH_E_KEY, "times with a date have no 'wrap'");
  if (time->unit && strcmp(time->unit, "counts") == 0 && !time->rate.text)
    return bramah__fail_missing(reader, item, "rate");
  return BRAMAH_OK;
}

static const bramah__key time_keys[] = {
    BRAMAH__KEY("column", bramah__read_text, bramah_study_time, column, .required = 0),
    BRAMAH__KEY("unit", bramah__read_log_unit, bramah_study_time, unit, .required = 0),
    BRAMAH__KEY("rate", bramah__read_figure, bramah_study_time, rate, .unit = "Hz",
                .range = BRAMAH__POSITIVE),
    BRAMAH__KEY("wrap", bramah__read_figure, bramah_study_time, wrap, .unit = "s", .other_unit = "1",
                .range = BRAMAH__POSITIVE),
    BRAMAH__KEY("offset", bramah__read_figure, bramah_study_time, offset, .unit = "s"),
    BRAMAH__KEY("drift", read_drift, bramah_study_time, drift, .unit = "1"),
    BRAMAH__KEY("origin", read_origin, bramah_study_time, origin, .required = 0),
    {0}};

static const bramah__table time_table = {.keys = time_keys, .finish = finish_time};

bramah_status bramah__read_time(bramah__reader *reader, const bramah__item *item, const bramah__key *key,
                                void *object)
{
  bramah_study_time *time = member(object, key->offset);
  const bramah__key column = {.name = "time", .offset = offsetof(bramah_study_time, column)};
  time->line = bramah__item_line(item);
  return item->node->kind == BRAMAH__NODE_SCALAR ? bramah__read_text(reader, item, &column, time)
                                                 : bramah__read_table(reader, item, &time_table, time);
}

/* ---- how files are written ---- */

static bramah_status read_delimiter(bramah__reader *reader, const bramah__item *item, const bramah__key *key,
                                    void *object)
{
  static const struct {
    const char *word;
    char mark;
  } words[] = {{"comma", ','}, {"semicolon", ';'}, {"tab", '\t'}, {"blank", ' '}};
  bramah_status status;
  const char *text = bramah__item_text(reader, item, &status);
  char *mark = member(object, key->offset);
  if (!text) return status;
  for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
    if (strcmp(text, words[i].word) == 0) return *mark = words[i].mark, BRAMAH_OK;
  const char c = text[0];
  if (text[1] || c < '!' || c > '~' || strchr("\"#.+-[]", c) || (c >= '0' && c <= '9') ||
      ((c | 0x20) >= 'a' && (c | 0x20) <= 'z'))
    return bramah__fail_item(reader, item, BRAMAH_E_VALUE,
                             "delimiter is comma, semicolon, tab, blank, or a character that no number has");
  *mark = c;
  return BRAMAH_OK;
}

static bramah_status read_decimal(bramah__reader *reader, const bramah__item *item, const bramah__key *key,
                                  void *object)
{
  static const bramah__word words[] = {{"point", '.'}, {"comma", ','}, {NULL, 0}};
  const bramah__key word = {.name = "decimal", .words = words};
  int mark = 0;
  const bramah_status status = bramah__read_word(reader, item, &word, &mark);
  *(char *)member(object, key->offset) = (char)mark;
  return status;
}

/* Marks of comments must not look like numbers. */
static bramah_status read_comment(bramah__reader *reader, const bramah__item *item, const bramah__key *key,
                                  void *object)
{
  const bramah_status status = bramah__read_text(reader, item, key, object);
  const char *const *text = member(object, key->offset);
  if (status) return status;
  for (const char *c = *text; *c; c++)
    if ((c == *text || c[-1] == ' ') && strchr("0123456789+-.", *c))
      return bramah__fail_item(reader, item, BRAMAH_E_VALUE, "a comment does not begin like a number");
  return BRAMAH_OK;
}

/* Until a file has what the log says: 0 not said. */
enum { HAS_HEADER = -1 };
static const bramah__word headers[] = {{"yes", HAS_HEADER}, {"none", 1}, {NULL, 0}};
static const bramah__word unit_places[] = {
    {"header", BRAMAH_LOG_UNITS_HEADER}, {"row", BRAMAH_LOG_UNITS_ROW}, {NULL, 0}};
static const bramah__word policies[] = {{"error", 0}, {"skip", 1}, {NULL, 0}};
static const bramah__word reset_policies[] = {
    {"error", BRAMAH_LOG_RESETS_ERROR}, {"join", BRAMAH_LOG_RESETS_JOIN}, {NULL, 0}};

#define FORMAT_KEYS(type)                                                                                    \
  BRAMAH__KEY("delimiter", read_delimiter, type, format.delimiter, .required = 0),                           \
      BRAMAH__KEY("decimal", read_decimal, type, format.decimal, .required = 0),                             \
      BRAMAH__KEY("comment", read_comment, type, format.comment, .required = 0),                             \
      BRAMAH__KEY("missing", bramah__read_text, type, format.missing, .required = 0),                        \
      BRAMAH__KEY("skip", bramah__read_integer, type, format.skip, .required = 0),                           \
      BRAMAH__KEY("header", bramah__read_word, type, format.no_header, .words = headers),                    \
      BRAMAH__KEY("units", bramah__read_word, type, format.units, .words = unit_places)

static const bramah__key file_keys[] = {
    BRAMAH__KEY("match", bramah__read_text, bramah_study_file, match, .required = 1),
    FORMAT_KEYS(bramah_study_file),
    BRAMAH__KEY("time", bramah__read_time, bramah_study_file, time, .required = 0),
    {0}};

static const bramah__table file_table = {.keys = file_keys, .size = sizeof(bramah_study_file)};

static bramah_status read_duration(bramah__reader *reader, const bramah__item *item, const bramah__key *key,
                                   void *object)
{
  bramah__quantity q;
  const bramah_status status = bramah__item_quantity(reader, item, key, NULL, &q);
  if (status) return status;
  if (q.si > 1e9) return bramah__fail_item(reader, item, BRAMAH_E_VALUE, "must not be longer than 1e9 s");
  *(int64_t *)member(object, key->offset) = llround(1e9 * q.si);
  return BRAMAH_OK;
}

/* What a file does not say the log has said; what to do about bad ones is said once. */
static void inherit_format(bramah_log_format *to, const bramah_log_format *from)
{
  if (!to->delimiter) to->delimiter = from->delimiter;
  if (!to->decimal) to->decimal = from->decimal;
  if (!to->comment) to->comment = from->comment;
  if (!to->missing) to->missing = from->missing;
  if (!to->skip) to->skip = from->skip;
  to->no_header = (to->no_header ? to->no_header : from->no_header) > 0;
  if (!to->units) to->units = from->units;
  to->skip_bad_cells = from->skip_bad_cells;
  to->skip_bad_rows = from->skip_bad_rows;
}

static bramah_status finish_log(bramah__reader *reader, const bramah__item *item, void *object)
{
  bramah_study_log *log = object;
  bramah_study_file *files = (bramah_study_file *)(uintptr_t)log->files; /* ours, const for the user */
  (void)reader;
  log->line = bramah__item_line(item);
  for (size_t i = 0; i < log->n_files; i++) inherit_format(&files[i].format, &log->format);
  log->format.no_header = log->format.no_header > 0;
  return BRAMAH_OK;
}

static const bramah__key log_keys[] = {
    FORMAT_KEYS(bramah_study_log),
    BRAMAH__KEY("bad_cells", bramah__read_word, bramah_study_log, format.skip_bad_cells, .words = policies),
    BRAMAH__KEY("bad_rows", bramah__read_word, bramah_study_log, format.skip_bad_rows, .words = policies),
    BRAMAH__KEY("reorder", read_duration, bramah_study_log, reorder_ns, .unit = "s",
                .range = BRAMAH__NOT_NEGATIVE),
    BRAMAH__KEY("resets", bramah__read_word, bramah_study_log, resets, .words = reset_policies),
    BRAMAH__KEY("longest_gap", read_duration, bramah_study_log, longest_gap_ns, .unit = "s",
                .range = BRAMAH__POSITIVE),
    BRAMAH__KEY("atmosphere", bramah__read_quantity, bramah_study_log, atmosphere, .unit = "Pa",
                .range = BRAMAH__NOT_NEGATIVE),
    BRAMAH__SECTION("files", bramah_study_log, files, n_files, &file_table, .required = 0),
    {0}};

const bramah__table bramah__log_table = {.keys = log_keys, .finish = finish_log};

static bramah_status check_file(bramah__reader *reader, const bramah_study *study,
                                const bramah_study_column *column)
{
  if (!column->file) return BRAMAH_OK;
  for (size_t i = 0; i < study->log.n_files; i++)
    if (strcmp(study->log.files[i].name, column->file) == 0) return BRAMAH_OK;
  bramah__fail(reader->diag, BRAMAH_E_REFERENCE, column->target, "there is no file '");
  bramah__add_text(reader->diag, column->file);
  bramah__add_text(reader->diag, "' in log.files");
  return bramah__at(reader->diag, study->file, column->line, 0), BRAMAH_E_REFERENCE;
}

bramah_status bramah__check_log_files(bramah__reader *reader, const bramah_study *study)
{
  bramah_status status = BRAMAH_OK;
  for (size_t i = 0; !status && i < study->n_inputs; i++)
    status = check_file(reader, study, &study->inputs[i]);
  for (size_t i = 0; !status && i < study->n_sensors; i++)
    status = check_file(reader, study, &study->sensor_columns[i]);
  return status;
}
