/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sensors and logs of a study file: what is measured, in which columns, with which times, in files of which form. */
#define _GNU_SOURCE /* locale_t */
#include "lib/io/study_file.h"
#include "lib/base/diag.h"
#include "lib/io/fail.h"
#include "lib/io/session.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void *member(void *object, size_t offset) { return (unsigned char *)object + offset; }

/* ---- values ---- */

bramah_status bramah__read_value(bramah__reader *reader, const bramah__item *item, const bramah__key *key,
                                 void *object)
{
  bramah_study_value *value = member(object, key->offset);
  bramah__quantity q;
  const bramah_status status = bramah__item_quantity(reader, item, key, NULL, &q);
  if (status) return status;
  value->text = bramah__pool_text(reader->keep, item->node->text, strlen(item->node->text));
  value->line = item->node->line;
  value->column = item->node->column;
  value->is_set = item->node->is_set;
  value->si = item->node->si;
  value->dimension = item->node->dimension;
  return value->text ? BRAMAH_OK : bramah__no_memory(reader);
}

bramah_status bramah__read_uncertain(bramah__reader *reader, const bramah__item *item, const bramah__key *key,
                                     void *object)
{
  bramah_study_uncertain *out = member(object, key->offset);
  const bramah__key sigma = {.name = key->name, .range = key->range};
  bramah_status status = BRAMAH_OK;
  out->is_stated = 1;
  out->line = item->node->line;
  const char *text = item->node->is_set ? item->node->text : bramah__item_text(reader, item, &status);
  if (!text) return status;
  const int is_share = !item->node->is_set && bramah__uncertainty_share(reader, text, &out->share);
  if (strcmp(item->name, "others") == 0 && strcmp(text, "fixed") != 0)
    return bramah__fail_item(reader, item, BRAMAH_E_VALUE, "'others' can only be 'fixed'");
  if (!is_share) return bramah__read_value(reader, item, &sigma, &out->sigma);
  if (!(out->share >= 0.0 && isfinite(out->share)))
    return bramah__fail_item(reader, item, BRAMAH_E_VALUE, "must not be negative");
  return BRAMAH_OK;
}

/* ---- columns ---- */

/* Kept as text; that it is a unit is known here, whether it fits only with the sensor. */
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

/* A factor, or two points [column, value] of a straight line. */
bramah_status bramah__read_scale(bramah__reader *reader, const bramah__item *item, const bramah__key *key,
                                 void *object)
{
  const size_t points = key->offset + offsetof(bramah_study_column, points);
  bramah__key one = {.name = key->name, .offset = key->offset + offsetof(bramah_study_column, scale)};
  if (item->node->kind != BRAMAH__NODE_LIST) return bramah__read_value(reader, item, &one, object);
  bramah_status status = BRAMAH_OK;
  one.element = bramah__read_value;
  one.stride = sizeof(bramah_study_value);
  if (item->node->n != 2)
    return bramah__fail_item(
        reader, item, BRAMAH_E_SYNTAX,
        "a factor or two points are expected, such as [[4 mA, 0 bar], [20 mA, 400 bar]]");
  for (size_t i = 0; !status && i < 2; i++) {
    const bramah__item point = bramah__item_at(item, i);
    one.offset = points + 2 * i * one.stride;
    status = bramah__read_pair(reader, &point, &one, object);
  }
  return status;
}

/* ---- times ---- */

/* "first", a time or a date: kept as text. */
static bramah_status read_origin(bramah__reader *reader, const bramah__item *item, const bramah__key *key,
                                 void *object)
{
  bramah_study_value *value = member(object, key->offset);
  const bramah__key text = {.name = "origin", .offset = offsetof(bramah_study_value, text)};
  const bramah_status status = bramah__read_text(reader, item, &text, value);
  double seconds;
  int64_t ns;
  if (status) return status;
  value->line = item->node->line;
  value->column = item->node->column;
  if (strcmp(value->text, "first") == 0 || bramah_log_read_time(value->text, &ns) == BRAMAH_OK ||
      bramah_quantity_parse(value->text, "s", &seconds, reader->diag) == BRAMAH_OK)
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
    BRAMAH__KEY("rate", bramah__read_value, bramah_study_time, rate, .unit = "Hz", .range = BRAMAH__POSITIVE),
    BRAMAH__KEY("wrap", bramah__read_value, bramah_study_time, wrap, .unit = "s", .other_unit = "1",
                .range = BRAMAH__POSITIVE),
    BRAMAH__KEY("offset", bramah__read_value, bramah_study_time, offset, .unit = "s"),
    BRAMAH__KEY("drift", bramah__read_quantity, bramah_study_time, drift, .unit = "1", .least = -0.0999999,
                .most = 0.0999999,
                .bounds = "drift is a small number: what the clock gains per second, as in 30 ppm"),
    BRAMAH__KEY("origin", read_origin, bramah_study_time, origin, .shape = BRAMAH__SHAPE_TEXT),
    {0}};

static const bramah__key time_column = {
    .name = "time", .read = bramah__read_text, .offset = offsetof(bramah_study_time, column)};

const bramah__table bramah__time_table = {.keys = time_keys, .value = &time_column, .finish = finish_time};

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

static const bramah__word decimals[] = {{"point", '.'}, {"comma", ','}, {NULL, 0}};

static bramah_status read_decimal(bramah__reader *reader, const bramah__item *item, const bramah__key *key,
                                  void *object)
{
  const bramah__key word = {.name = "decimal", .words = key->words};
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

/* FILE or CHANNEL=FILE, or a list of them, as one text with a line each; files as seen from the study's folder. */
static bramah_status read_dbc(bramah__reader *reader, const bramah__item *item, const bramah__key *key,
                              void *object)
{
  const char *const *texts;
  const char **out = member(object, key->offset);
  const char *end = strrchr(reader->file, '/');
  const int folder = end ? (int)(end - reader->file) + 1 : 0;
  size_t n, room = 1, used = 0;
  const bramah_status status = bramah__read_texts(reader, item, key, bramah__read_text, &n, &texts);
  if (status) return status;
  for (size_t i = 0; i < n; i++) room += strlen(texts[i]) + (size_t)folder + 1;
  char *all = bramah__pool_take(reader->keep, room, 1);
  if (!all) return bramah__no_memory(reader);
  for (size_t i = 0; i < n; i++) {
    const char *equals = strchr(texts[i], '='), *slash = strchr(texts[i], '/');
    const int channel = equals && (!slash || slash > equals) ? (int)(equals - texts[i]) + 1 : 0;
    const char *path = texts[i] + channel;
    used += (size_t)snprintf(all + used, room - used, "%s%.*s%.*s%s", i ? "\n" : "", channel, texts[i],
                             *path == '/' ? 0 : folder, reader->file, path);
  }
  *out = all;
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
  BRAMAH__KEY("delimiter", read_delimiter, type, format.delimiter, .shape = BRAMAH__SHAPE_TEXT),             \
      BRAMAH__KEY("decimal", read_decimal, type, format.decimal, .shape = BRAMAH__SHAPE_WORD,                \
                  .words = decimals),                                                                        \
      BRAMAH__KEY("comment", read_comment, type, format.comment, .shape = BRAMAH__SHAPE_TEXT),               \
      BRAMAH__KEY("missing", bramah__read_text, type, format.missing, .required = 0),                        \
      BRAMAH__KEY("dbc", read_dbc, type, format.dbc, .shape = BRAMAH__SHAPE_NAMES),                          \
      BRAMAH__KEY("skip", bramah__read_integer, type, format.skip, .required = 0),                           \
      BRAMAH__KEY("header", bramah__read_word, type, format.no_header, .words = headers),                    \
      BRAMAH__KEY("units", bramah__read_word, type, format.units, .words = unit_places)

static const bramah__key file_keys[] = {
    BRAMAH__KEY("match", bramah__read_text, bramah_study_file, match, .required = 1),
    FORMAT_KEYS(bramah_study_file),
    BRAMAH__KEY("time", bramah__read_child, bramah_study_file, time, .table = &bramah__time_table,
                .line = offsetof(bramah_study_file, time.line)),
    {0}};

static const bramah__table file_table = {.keys = file_keys, .size = sizeof(bramah_study_file)};

/* What a file does not say the log has said; what to do about bad ones is said once. */
static bramah_status finish_log(bramah__reader *reader, const bramah__item *item, void *object)
{
  bramah_study_log *log = object;
  bramah_study_file *files = (bramah_study_file *)(uintptr_t)log->files; /* ours, const for the user */
  const bramah_log_format *from = &log->format;
  (void)reader;
  (void)item;
  for (size_t i = 0; i < log->n_files; i++) {
    bramah_log_format *to = &files[i].format;
    if (!to->delimiter) to->delimiter = from->delimiter;
    if (!to->decimal) to->decimal = from->decimal;
    if (!to->comment) to->comment = from->comment;
    if (!to->missing) to->missing = from->missing;
    if (!to->dbc) to->dbc = from->dbc;
    if (!to->skip) to->skip = from->skip;
    to->no_header = (to->no_header ? to->no_header : from->no_header) > 0;
    if (!to->units) to->units = from->units;
    to->skip_bad_cells = from->skip_bad_cells;
    to->skip_bad_rows = from->skip_bad_rows;
  }
  log->format.no_header = log->format.no_header > 0;
  return BRAMAH_OK;
}

static const bramah__key log_keys[] = {
    FORMAT_KEYS(bramah_study_log),
    BRAMAH__KEY("bad_cells", bramah__read_word, bramah_study_log, format.skip_bad_cells, .words = policies),
    BRAMAH__KEY("bad_rows", bramah__read_word, bramah_study_log, format.skip_bad_rows, .words = policies),
    BRAMAH__KEY("reorder", bramah__read_duration, bramah_study_log, reorder_ns, .unit = "s",
                .range = BRAMAH__NOT_NEGATIVE, .most = 1e9, .bounds = "must not be longer than 1e9 s"),
    BRAMAH__KEY("resets", bramah__read_word, bramah_study_log, resets, .words = reset_policies),
    BRAMAH__KEY("longest_gap", bramah__read_duration, bramah_study_log, longest_gap_ns, .unit = "s",
                .range = BRAMAH__POSITIVE, .most = 1e9, .bounds = "must not be longer than 1e9 s"),
    BRAMAH__KEY("atmosphere", bramah__read_quantity, bramah_study_log, atmosphere, .unit = "Pa",
                .range = BRAMAH__NOT_NEGATIVE),
    BRAMAH__SECTION("files", bramah_study_log, files, n_files, &file_table, .required = 0),
    {0}};

const bramah__table bramah__log_table = {.keys = log_keys, .finish = finish_log};

bramah_status bramah__check_log_files(bramah__reader *reader, const bramah_study *study)
{
  const struct {
    size_t n;
    const bramah_study_column *columns;
  } all[] = {{study->n_inputs, study->inputs}, {study->n_sensors, study->sensor_columns}};
  for (size_t k = 0; k < 2; k++)
    for (size_t i = 0; i < all[k].n; i++) {
      const bramah_study_column *column = &all[k].columns[i];
      size_t f = 0;
      while (column->file && f < study->log.n_files && strcmp(study->log.files[f].name, column->file) != 0)
        f++;
      if (!column->file || f < study->log.n_files) continue;
      return bramah__failf(reader->diag, BRAMAH_E_REFERENCE, study->file, column->line, column->target,
                           "there is no file '%s' in log.files", column->file);
    }
  return BRAMAH_OK;
}

/* ---- sensors: a table of keys for each type ---- */

static const bramah__word sensor_kinds[] = {{"encoder", BRAMAH_SENSOR_ENCODER},
                                            {"gyro", BRAMAH_SENSOR_GYRO},
                                            {"pressure", BRAMAH_SENSOR_PRESSURE},
                                            {"accelerometer", BRAMAH_SENSOR_ACCELEROMETER},
                                            {"inclinometer", BRAMAH_SENSOR_INCLINOMETER},
                                            {"stroke", BRAMAH_SENSOR_STROKE},
                                            {"pressure-difference", BRAMAH_SENSOR_PRESSURE_DIFFERENCE},
                                            {"flow", BRAMAH_SENSOR_FLOW},
                                            {"load-pin", BRAMAH_SENSOR_LOAD_PIN},
                                            {"output", BRAMAH_SENSOR_OUTPUT},
                                            {NULL, 0}};

const bramah__word bramah__word_off[] = {{"off", 0}, {NULL, 0}},
                   bramah__word_fixed[] = {{"fixed", 0}, {NULL, 0}};

/* How well the sensor is known. */
#define ERROR_KEY(name, member)                                                                              \
  BRAMAH__KEY(name, bramah__read_uncertain, bramah__sensor_draft, errors.member,                             \
              .words = bramah__word_fixed, .range = BRAMAH__NOT_NEGATIVE)

bramah_status bramah__read_gate(bramah__reader *reader, const bramah__item *item, const bramah__key *key,
                                void *object)
{
  if (item->node->kind != BRAMAH__NODE_SCALAR || strcmp(item->node->text, "off") != 0)
    return bramah__read_quantity(reader, item, key, object);
  *(double *)member(object, key->offset) = 0.0;
  return BRAMAH_OK;
}

#define SENSOR_KEYS                                                                                          \
  BRAMAH__KEY("type", bramah__read_word, bramah__sensor_draft, options.kind, .required = 1,                  \
              .words = sensor_kinds),                                                                        \
      BRAMAH__KEY("rate", bramah__read_period, bramah__sensor_draft, options.period_ns, .unit = "Hz",        \
                  .range = BRAMAH__POSITIVE, .least = 1e-6, .most = 1e9,                                     \
                  .bounds = "rate must lie between 1e-6 Hz and 1e9 Hz"),                                     \
      BRAMAH__KEY("delay", bramah__read_duration, bramah__sensor_draft, options.delay_ns, .unit = "s",       \
                  .range = BRAMAH__NOT_NEGATIVE, .most = 10.0,                                               \
                  .bounds = "delay must not be longer than 10 s"), /* 0: none, whatever the others have. */  \
      BRAMAH__KEY("gate", bramah__read_gate, bramah__sensor_draft, gate, .words = bramah__word_off,          \
                  .unit = "1", .range = BRAMAH__NOT_NEGATIVE,                                                \
                  .given = offsetof(bramah__sensor_draft, has_gate)),                                        \
      ERROR_KEY("bias", bias), ERROR_KEY("bias_drift", drift), ERROR_KEY("gain", gain),                      \
      ERROR_KEY("delay_sigma", delay),                                                                       \
      BRAMAH__KEY("column", bramah__read_text, bramah__sensor_draft, column.name, .required = 0),            \
      BRAMAH__COLUMN_KEYS(bramah__sensor_draft, column)

/* The two limits of a range are read as one list. */
_Static_assert(offsetof(bramah_sensor_options, most) ==
                   offsetof(bramah_sensor_options, least) + sizeof(double),
               "limits of a range must follow each other");

/* Of two possible units sigma chooses, for itself, resolution and range. */
#define SENSOR_UNIT(unit1, unit2)                                                                            \
  BRAMAH__KEY("sigma", bramah__read_quantity, bramah__sensor_draft, options.sigma, .required = 1,            \
              .unit = (unit1), .other_unit = (unit2), .range = BRAMAH__POSITIVE,                             \
              .choice = offsetof(bramah__sensor_draft, second_unit), .chooses = 1),                          \
      BRAMAH__KEY("resolution", bramah__read_quantity, bramah__sensor_draft, options.resolution,             \
                  .unit = (unit1), .other_unit = (unit2), .range = BRAMAH__POSITIVE,                         \
                  .choice = offsetof(bramah__sensor_draft, second_unit)),                                    \
      BRAMAH__KEY("range", bramah__read_vector, bramah__sensor_draft, options.least, .unit = (unit1),        \
                  .other_unit = (unit2), .count = 2, .choice = offsetof(bramah__sensor_draft, second_unit),  \
                  .ascends = "range must end above its begin: [least, most]")

static const bramah__key encoder_keys[] = {
    SENSOR_KEYS,
    SENSOR_UNIT("rad", "m"),
    BRAMAH__KEY("joint", bramah__read_name, bramah__sensor_draft, options.at, .required = 1),
    {0}};

static const bramah__table encoder_table = {.keys = encoder_keys};

static const bramah__word references[] = {{"absolute", 0}, {"gauge", 1}, {NULL, 0}};

static const bramah__key pressure_keys[] = {
    SENSOR_KEYS,
    SENSOR_UNIT("Pa", NULL),
    BRAMAH__KEY("reference", bramah__read_word, bramah__sensor_draft, column.gauge, .words = references),
    BRAMAH__KEY("volume", bramah__read_name, bramah__sensor_draft, options.at, .required = 1),
    {0}};

static const bramah__table pressure_table = {.keys = pressure_keys};

/* On a body with an axis, or on a joint; only a joint may slide, so only there sigma may be a speed. */
static bramah_status finish_gyro(bramah__reader *reader, const bramah__item *item, void *object)
{
  bramah__sensor_draft *sensor = object;
  bramah__item axis, sigma;
  bramah__quantity q;
  bramah__key angular = {.name = "sigma", .unit = "rad/s"};
  int has_axis = bramah__item_find(item, "axis", &axis);
  if (!sensor->body && !sensor->joint)
    return bramah__fail_key(reader, item, BRAMAH_E_KEY, "'body' or 'joint' is needed");
  if (sensor->body && !has_axis) return bramah__fail_missing(reader, item, "axis");
  if (sensor->joint && has_axis)
    return bramah__fail_key(reader, &axis, BRAMAH_E_KEY, "'axis' belongs to a gyro on a 'body'");
  sensor->options.at = sensor->body ? sensor->body : sensor->joint;
  bramah__item_find(item, "sigma", &sigma);
  return sensor->body ? bramah__item_quantity(reader, &sigma, &angular, NULL, &q) : BRAMAH_OK;
}

static const bramah__key gyro_keys[] = {
    SENSOR_KEYS,
    SENSOR_UNIT("rad/s", "m/s"),
    BRAMAH__KEY("body", bramah__read_name, bramah__sensor_draft, body, .required = 0),
    BRAMAH__KEY("joint", bramah__read_name, bramah__sensor_draft, joint, .excludes = "body"),
    BRAMAH__KEY("axis", bramah__read_direction, bramah__sensor_draft, options.axis, .required = 0),
    {0}};

static const bramah__table gyro_table = {.keys = gyro_keys, .finish = finish_gyro};

static const bramah__key accelerometer_keys[] = {
    SENSOR_KEYS,
    SENSOR_UNIT("m/s^2", NULL),
    BRAMAH__KEY("body", bramah__read_name, bramah__sensor_draft, options.at, .required = 1),
    BRAMAH__KEY("point", bramah__read_vector, bramah__sensor_draft, options.point, .unit = "m", .count = 3),
    BRAMAH__KEY("axis", bramah__read_direction, bramah__sensor_draft, options.axis, .required = 1),
    {0}};

static const bramah__table accelerometer_table = {.keys = accelerometer_keys};

static const bramah__key inclinometer_keys[] = {
    SENSOR_KEYS,
    SENSOR_UNIT("rad", NULL),
    BRAMAH__KEY("body", bramah__read_name, bramah__sensor_draft, options.at, .required = 1),
    BRAMAH__KEY("axis", bramah__read_direction, bramah__sensor_draft, options.axis, .required = 1),
    BRAMAH__KEY("about", bramah__read_direction, bramah__sensor_draft, options.about, .required = 0),
    {0}};

static const bramah__table inclinometer_table = {.keys = inclinometer_keys};

static const bramah__key stroke_keys[] = {
    SENSOR_KEYS,
    SENSOR_UNIT("m", NULL),
    BRAMAH__KEY("cylinder", bramah__read_name, bramah__sensor_draft, options.at, .required = 1),
    {0}};

static const bramah__table stroke_table = {.keys = stroke_keys};

static const bramah__key load_pin_keys[] = {
    SENSOR_KEYS,
    SENSOR_UNIT("N", NULL),
    BRAMAH__KEY("cylinder", bramah__read_name, bramah__sensor_draft, options.at, .required = 1),
    {0}};

static const bramah__table load_pin_table = {.keys = load_pin_keys};

static const bramah__key pressure_difference_keys[] = {
    SENSOR_KEYS,
    SENSOR_UNIT("Pa", NULL),
    BRAMAH__KEY("a", bramah__read_name, bramah__sensor_draft, options.at, .required = 1),
    BRAMAH__KEY("b", bramah__read_name, bramah__sensor_draft, options.less, .required = 1),
    {0}};

static const bramah__table pressure_difference_table = {.keys = pressure_difference_keys};

static const bramah__word ports[] = {{"a", BRAMAH_SENSOR_PORT_A}, {"b", BRAMAH_SENSOR_PORT_B}, {NULL, 0}};

static const bramah__key flow_keys[] = {
    SENSOR_KEYS,
    SENSOR_UNIT("m^3/s", NULL),
    BRAMAH__KEY("element", bramah__read_name, bramah__sensor_draft, options.at, .required = 1),
    BRAMAH__KEY("port", bramah__read_word, bramah__sensor_draft, options.port, .words = ports),
    {0}};

static const bramah__table flow_table = {.keys = flow_keys};

/* What the output shows only the machine knows: until then the unit of sigma says it, read before the others. */
static bramah_status read_sigma_of_output(bramah__reader *reader, const bramah__item *item,
                                          const bramah__key *key, void *object)
{
  bramah__sensor_draft *sensor = object;
  bramah__quantity q;
  const bramah_status status = bramah__item_quantity(reader, item, key, NULL, &q);
  if (status) return status;
  sensor->options.sigma = q.si;
  sensor->column.measured =
      bramah__pool_text(reader->keep, *q.unit ? q.unit : "1", *q.unit ? strlen(q.unit) : 1);
  return sensor->column.measured ? BRAMAH_OK : bramah__no_memory(reader);
}

static bramah_status read_as_sigma(bramah__reader *reader, const bramah__item *item, const bramah__key *key,
                                   void *object)
{
  const bramah__sensor_draft *sensor = object;
  bramah__key in_unit = *key;
  in_unit.unit = sensor->column.measured;
  if (!in_unit.unit) return BRAMAH_OK; /* sigma is wrong, which was told */
  return (key->count ? bramah__read_vector : bramah__read_quantity)(reader, item, &in_unit, object);
}

static const bramah__key output_keys[] = {
    SENSOR_KEYS,
    BRAMAH__KEY("sigma", read_sigma_of_output, bramah__sensor_draft, options.sigma, .required = 1,
                .shape = BRAMAH__SHAPE_QUANTITY, .range = BRAMAH__POSITIVE),
    BRAMAH__KEY("resolution", read_as_sigma, bramah__sensor_draft, options.resolution,
                .shape = BRAMAH__SHAPE_QUANTITY, .range = BRAMAH__POSITIVE),
    BRAMAH__KEY("range", read_as_sigma, bramah__sensor_draft, options.least, .shape = BRAMAH__SHAPE_ANYTHING,
                .count = 2, .ascends = "range must end above its begin: [least, most]"),
    BRAMAH__KEY("output", bramah__read_text, bramah__sensor_draft, options.at, .required = 1),
    {0}};

static const bramah__table output_table = {.keys = output_keys};

static const bramah__table *const tables_of_kinds[] = {[BRAMAH_SENSOR_ENCODER] = &encoder_table,
                                                       [BRAMAH_SENSOR_GYRO] = &gyro_table,
                                                       [BRAMAH_SENSOR_PRESSURE] = &pressure_table,
                                                       [BRAMAH_SENSOR_ACCELEROMETER] = &accelerometer_table,
                                                       [BRAMAH_SENSOR_INCLINOMETER] = &inclinometer_table,
                                                       [BRAMAH_SENSOR_STROKE] = &stroke_table,
                                                       [BRAMAH_SENSOR_PRESSURE_DIFFERENCE] =
                                                           &pressure_difference_table,
                                                       [BRAMAH_SENSOR_FLOW] = &flow_table,
                                                       [BRAMAH_SENSOR_LOAD_PIN] = &load_pin_table,
                                                       [BRAMAH_SENSOR_OUTPUT] = &output_table};

/* The type, the first key of each kind, decides which keys are allowed. */
static bramah_status read_sensor(bramah__reader *reader, const bramah__item *item, void *object)
{
  bramah__sensor_draft *sensor = object;
  bramah__item type;
  if (item->node->kind != BRAMAH__NODE_MAPPING)
    return bramah__fail_item(reader, item, BRAMAH_E_SYNTAX,
                             "keys and values ('key: value') are expected here");
  if (!bramah__item_find(item, "type", &type)) return bramah__fail_missing(reader, item, "type");
  bramah_status status = bramah__read_word(reader, &type, &encoder_keys[0], object);
  if (status) return status;
  status = bramah__read_table(reader, item, tables_of_kinds[sensor->options.kind], object);
  if (!sensor->column.name) sensor->column.name = sensor->options.name;
  return status;
}

const bramah__table bramah__sensor_table = {
    .size = sizeof(bramah__sensor_draft), .read = read_sensor, .kinds = tables_of_kinds};

bramah_status bramah__split_sensors(bramah__reader *reader, bramah__study_draft *draft)
{
  bramah_study *study = &draft->study;
  bramah_sensor_options *sensors = bramah__pool_take(reader->keep, study->n_sensors, sizeof *sensors);
  bramah_study_column *columns = bramah__pool_take(reader->keep, study->n_sensors, sizeof *columns);
  double *gate = bramah__pool_take(reader->keep, study->n_sensors, sizeof *gate);
  bramah_study_sensor_errors *errors = bramah__pool_take(reader->keep, study->n_sensors, sizeof *errors);
  if (!sensors || !columns || !gate || !errors) return bramah__no_memory(reader);
  for (size_t i = 0; i < study->n_sensors; i++) {
    const bramah__sensor_draft *from = &draft->sensors[i];
    sensors[i] = from->options;
    gate[i] = from->has_gate ? from->gate : draft->gate;
    errors[i] = from->errors;
    columns[i] = from->column;
    columns[i].target = from->options.name;
    columns[i].line = from->options.line;
  }
  study->sensors = sensors;
  study->gate = gate;
  study->sensor_columns = columns;
  study->errors = errors;
  return BRAMAH_OK;
}

/* ---- a sensor less ---- */

bramah_status bramah__study_leave_out(bramah_study *study, const char *sensor, bramah_diag *diag)
{
  const size_t n = study->n_sensors;
  size_t i = 0;
  while (i < n && strcmp(study->sensors[i].name, sensor) != 0) i++;
  if (i == n) return bramah__failf(diag, BRAMAH_E_REFERENCE, NULL, 0, sensor, "the study has no such sensor");
  if (n == 1) return bramah__failf(diag, BRAMAH_E_VALUE, NULL, 0, sensor, "a study needs a sensor");

  /* The arrays are the study's own. */
  const struct {
    const void *array;
    size_t size;
  } all[] = {{study->sensors, sizeof *study->sensors},
             {study->sensor_columns, sizeof *study->sensor_columns},
             {study->errors, sizeof *study->errors},
             {study->gate, sizeof *study->gate}};
  for (size_t a = 0; a < sizeof all / sizeof all[0]; a++) {
    unsigned char *at = (unsigned char *)all[a].array + i * all[a].size;
    memmove(at, at + all[a].size, (n - i - 1) * all[a].size);
  }
  study->n_sensors--;

  bramah_study_augmented *kept = (bramah_study_augmented *)(uintptr_t)study->augmented;
  const size_t n_augmented = study->n_augmented;
  study->n_augmented = 0;
  for (size_t k = 0; k < n_augmented; k++)
    if (kept[k].kind == BRAMAH_AUGMENTED_PARAMETER || strcmp(kept[k].at, sensor) != 0)
      kept[study->n_augmented++] = kept[k];
  return BRAMAH_OK;
}
