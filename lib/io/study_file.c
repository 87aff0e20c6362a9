/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE /* locale_t */
#include "bramah/files.h"
#include "lib/base/diag.h"
#include "lib/io/changes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The study while it is being read; the pool holds everything it points to. */
typedef struct loaded {
  bramah_study study; /* first: the caller's pointer is ours */
  bramah__pool pool;
  struct sensor_draft *sensors; /* [study.n_sensors] */
  struct input_draft *inputs;   /* [study.n_inputs] */
} loaded;

/* A sensor with its column, to be taken apart into the two arrays of the study. */
typedef struct sensor_draft {
  bramah_sensor_options options; /* first: begins with name and line */
  const char *column;
  const char *body, *joint; /* gyro: one of them */
} sensor_draft;

/* ---- changes ---- */

static bramah_status read_changes(bramah__reader *reader, const bramah__item *item, const bramah__key *key,
                                  void *object)
{
  bramah_study *study = &((loaded *)object)->study;
  (void)key;
  return bramah__read_changes(reader, item, study->file, &study->n_changes, &study->changes);
}

/* ---- sensors ---- */

static const bramah__word sensor_kinds[] = {{"encoder", BRAMAH_SENSOR_ENCODER},
                                            {"gyro", BRAMAH_SENSOR_GYRO},
                                            {"pressure", BRAMAH_SENSOR_PRESSURE},
                                            {NULL, 0}};

static bramah_status read_rate(bramah__reader *reader, const bramah__item *item, const bramah__key *key,
                               void *object)
{
  sensor_draft *sensor = object;
  bramah__quantity q;
  bramah_status status = bramah__item_quantity(reader, item, key, NULL, &q);
  if (status) return status;
  if (q.si > 1e9 || q.si < 1e-6)
    return bramah__fail_item(reader, item, BRAMAH_E_VALUE, "rate must lie between 1e-6 Hz and 1e9 Hz");
  sensor->options.period_ns = llround(1e9 / q.si);
  return BRAMAH_OK;
}

static bramah_status read_delay(bramah__reader *reader, const bramah__item *item, const bramah__key *key,
                                void *object)
{
  sensor_draft *sensor = object;
  bramah__quantity q;
  bramah_status status = bramah__item_quantity(reader, item, key, NULL, &q);
  if (status) return status;
  if (q.si > 10.0)
    return bramah__fail_item(reader, item, BRAMAH_E_VALUE, "delay must not be longer than 10 s");
  sensor->options.delay_ns = llround(1e9 * q.si);
  return BRAMAH_OK;
}

#define SENSOR_KEYS                                                                                          \
  BRAMAH__KEY("type", bramah__read_word, sensor_draft, options.kind, .required = 1, .words = sensor_kinds),  \
      BRAMAH__KEY("rate", read_rate, sensor_draft, options.period_ns, .unit = "Hz",                          \
                  .range = BRAMAH__POSITIVE),                                                                \
      BRAMAH__KEY("delay", read_delay, sensor_draft, options.delay_ns, .unit = "s",                          \
                  .range = BRAMAH__NOT_NEGATIVE),                                                            \
      BRAMAH__KEY("column", bramah__read_text, sensor_draft, column, .required = 0)

#define SENSOR_SIGMA(unit1, unit2)                                                                           \
  BRAMAH__KEY("sigma", bramah__read_quantity, sensor_draft, options.sigma, .required = 1, .unit = (unit1),   \
              .other_unit = (unit2), .range = BRAMAH__POSITIVE)

static const bramah__key encoder_keys[] = {
    SENSOR_KEYS,
    SENSOR_SIGMA("rad", "m"),
    BRAMAH__KEY("joint", bramah__read_name, sensor_draft, options.at, .required = 1),
    {0}};

static const bramah__table encoder_table = {.keys = encoder_keys};

static const bramah__key pressure_keys[] = {
    SENSOR_KEYS,
    SENSOR_SIGMA("Pa", NULL),
    BRAMAH__KEY("volume", bramah__read_name, sensor_draft, options.at, .required = 1),
    {0}};

static const bramah__table pressure_table = {.keys = pressure_keys};

/* On a body with an axis, or on a joint; only a joint may slide, so only there sigma may be a speed. */
static bramah_status finish_gyro(bramah__reader *reader, const bramah__item *item, void *object)
{
  sensor_draft *sensor = object;
  bramah__item axis, sigma, joint;
  bramah__quantity q;
  bramah__key angular = {.name = "sigma", .unit = "rad/s"};
  int has_axis = bramah__item_find(item, "axis", &axis);
  if (sensor->body && sensor->joint) {
    bramah__item_find(item, "joint", &joint);
    return bramah__fail_key(reader, &joint, BRAMAH_E_KEY, "'body' and 'joint' exclude each other");
  }
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
    SENSOR_SIGMA("rad/s", "m/s"),
    BRAMAH__KEY("body", bramah__read_name, sensor_draft, body, .required = 0),
    BRAMAH__KEY("joint", bramah__read_name, sensor_draft, joint, .required = 0),
    BRAMAH__KEY("axis", bramah__read_direction, sensor_draft, options.axis, .required = 0),
    {0}};

static const bramah__table gyro_table = {.keys = gyro_keys, .finish = finish_gyro};

/* The type decides which keys are allowed. */
static bramah_status read_sensor(bramah__reader *reader, const bramah__item *item, void *object)
{
  static const bramah__key type_key = {.name = "type",
                                       .read = bramah__read_word,
                                       .offset = offsetof(sensor_draft, options.kind),
                                       .words = sensor_kinds};
  sensor_draft *sensor = object;
  bramah__item type;
  if (item->node->kind != BRAMAH__NODE_MAPPING)
    return bramah__fail_item(reader, item, BRAMAH_E_SYNTAX,
                             "keys and values ('key: value') are expected here");
  if (!bramah__item_find(item, "type", &type)) return bramah__fail_missing(reader, item, "type");
  bramah_status status = bramah__read_word(reader, &type, &type_key, object);
  if (status) return status;
  const bramah__table *table = sensor->options.kind == BRAMAH_SENSOR_ENCODER ? &encoder_table
                               : sensor->options.kind == BRAMAH_SENSOR_GYRO  ? &gyro_table
                                                                             : &pressure_table;
  status = bramah__read_table(reader, item, table, object);
  if (!sensor->column) sensor->column = sensor->options.name;
  return status;
}

static const bramah__table sensor_table = {.size = sizeof(sensor_draft), .read = read_sensor};

static bramah_status split_sensors(bramah__reader *reader, loaded *draft)
{
  bramah_study *study = &draft->study;
  bramah_sensor_options *sensors = bramah__pool_take(reader->keep, study->n_sensors, sizeof *sensors);
  bramah_study_column *columns = bramah__pool_take(reader->keep, study->n_sensors, sizeof *columns);
  if (!sensors || !columns) return bramah__no_memory(reader);
  for (size_t i = 0; i < study->n_sensors; i++) {
    const sensor_draft *from = &draft->sensors[i];
    sensors[i] = from->options;
    columns[i] =
        (bramah_study_column){.name = from->column, .target = from->options.name, .line = from->options.line};
  }
  study->sensors = sensors;
  study->sensor_columns = columns;
  return BRAMAH_OK;
}

/* ---- inputs ---- */

/* Input and column; the members of bramah_study_column stand in another order than a section wants them. */
typedef struct input_draft {
  const char *name;
  int line;
  const char *column;
} input_draft;

static bramah_status read_input(bramah__reader *reader, const bramah__item *item, void *object)
{
  const bramah__key key = {.name = "column", .offset = offsetof(input_draft, column)};
  return bramah__read_text(reader, item, &key, object);
}

static const bramah__table input_table = {.size = sizeof(input_draft), .read = read_input};

static bramah_status convert_inputs(bramah__reader *reader, loaded *draft)
{
  bramah_study *study = &draft->study;
  bramah_study_column *columns = bramah__pool_take(reader->keep, study->n_inputs, sizeof *columns);
  if (!columns) return bramah__no_memory(reader);
  for (size_t i = 0; i < study->n_inputs; i++) {
    const input_draft *from = &draft->inputs[i];
    columns[i] = (bramah_study_column){.name = from->column, .target = from->name, .line = from->line};
  }
  study->inputs = columns;
  return BRAMAH_OK;
}

/* ---- start values ---- */

/* The standard deviation of the position is read first and says whether the joint turns or slides. */
static bramah_status read_position_sigma(bramah__reader *reader, const bramah__item *item,
                                         const bramah__key *key, void *object)
{
  bramah_joint_start *start = object;
  bramah__quantity q;
  bramah_dimension dimension;
  double factor;
  bramah_status status = bramah__item_quantity(reader, item, key, NULL, &q);
  if (!status) status = bramah_unit_parse(key->unit, &factor, &dimension, reader->diag);
  if (status) return status;
  start->position_sigma = q.si;
  start->revolute_unit = bramah__same_dimension(q.dimension, dimension);
  return BRAMAH_OK;
}

static bramah_status read_by_unit(bramah__reader *reader, const bramah__item *item, const bramah__key *key,
                                  void *object)
{
  const bramah_joint_start *start = object;
  bramah__key by_unit = *key;
  if (!start->revolute_unit) by_unit.unit = key->other_unit;
  by_unit.other_unit = NULL;
  return bramah__read_quantity(reader, item, &by_unit, object);
}

static bramah_status read_position(bramah__reader *reader, const bramah__item *item, const bramah__key *key,
                                   void *object)
{
  bramah_joint_start *start = object;
  start->has_position = 1;
  return read_by_unit(reader, item, key, object);
}

static const bramah__key joint_keys[] = {
    {.name = "position_sigma",
     .read = read_position_sigma,
     .required = 1,
     .unit = "rad",
     .other_unit = "m",
     .range = BRAMAH__POSITIVE},
    BRAMAH__KEY("position", read_position, bramah_joint_start, position, .unit = "rad", .other_unit = "m"),
    BRAMAH__KEY("rate", read_by_unit, bramah_joint_start, rate, .unit = "rad/s", .other_unit = "m/s"),
    BRAMAH__KEY("rate_sigma", read_by_unit, bramah_joint_start, rate_sigma, .required = 1, .unit = "rad/s",
                .other_unit = "m/s", .range = BRAMAH__POSITIVE),
    BRAMAH__KEY("acceleration_noise", read_by_unit, bramah_joint_start, acceleration_noise, .required = 1,
                .unit = "rad/s^2/Hz^0.5", .other_unit = "m/s^2/Hz^0.5", .range = BRAMAH__NOT_NEGATIVE),
    {0}};

static const bramah__table joint_table = {.keys = joint_keys, .size = sizeof(bramah_joint_start)};

static bramah_status read_pressure(bramah__reader *reader, const bramah__item *item, const bramah__key *key,
                                   void *object)
{
  bramah_volume_start *start = object;
  start->has_pressure = 1;
  return bramah__read_quantity(reader, item, key, object);
}

static const bramah__key volume_keys[] = {
    BRAMAH__KEY("pressure", read_pressure, bramah_volume_start, pressure, .unit = "Pa",
                .range = BRAMAH__NOT_NEGATIVE),
    BRAMAH__KEY("sigma", bramah__read_quantity, bramah_volume_start, sigma, .required = 1, .unit = "Pa",
                .range = BRAMAH__POSITIVE),
    BRAMAH__KEY("noise", bramah__read_quantity, bramah_volume_start, noise, .required = 1, .unit = "Pa/s^0.5",
                .range = BRAMAH__NOT_NEGATIVE),
    {0}};

static const bramah__table volume_table = {.keys = volume_keys, .size = sizeof(bramah_volume_start)};

/* ---- the whole ---- */

static bramah_status read_machine_path(bramah__reader *reader, const bramah__item *item,
                                       const bramah__key *key, void *object)
{
  loaded *draft = object;
  (void)key;
  return bramah__read_file_path(reader, item, &draft->study.machine_file);
}

static const bramah__word transitions[] = {{"paper", BRAMAH_TRANSITION_PAPER}, {NULL, 0}};

static const bramah__key filter_keys[] = {
    BRAMAH__KEY("transition", bramah__read_word, loaded, study.transition, .words = transitions), {0}};

static const bramah__table filter_table = {.keys = filter_keys};

static const bramah__key study_keys[] = {
    BRAMAH__KEY("study", bramah__read_text, loaded, study.name, .required = 1),
    {.name = "machine", .read = read_machine_path, .required = 1},
    {.name = "changes", .read = read_changes},
    BRAMAH__KEY("time", bramah__read_text, loaded, study.time_column, .required = 0),
    BRAMAH__SECTION("inputs", loaded, inputs, study.n_inputs, &input_table, .required = 0),
    BRAMAH__SECTION("sensors", loaded, sensors, study.n_sensors, &sensor_table, .required = 1),
    {.name = "filter", .read = bramah__read_child, .table = &filter_table},
    BRAMAH__SECTION("joints", loaded, study.joints, study.n_joints, &joint_table, .required = 1),
    BRAMAH__SECTION("volumes", loaded, study.volumes, study.n_volumes, &volume_table, .required = 0),
    {0}};

static const bramah__table study_table = {.keys = study_keys};

static bramah_status read_study(bramah__reader *reader, size_t n_changes, const bramah_change *changes,
                                loaded *out)
{
  bramah__node *root;
  bramah_status status = bramah__yaml_load(reader, &root);
  if (!status) status = bramah__changes_apply(reader, n_changes, changes, &root);
  if (status) return status;
  bramah__item item = {.node = root};
  out->study.transition = BRAMAH_TRANSITION_PAPER;
  out->study.time_column = "t";
  out->study.file = bramah__pool_text(reader->keep, reader->file, strlen(reader->file));
  if (!out->study.file) return bramah__no_memory(reader);
  status = bramah__read_table(reader, &item, &study_table, out);
  if (!status && reader->told) return reader->first;
  if (!status) status = convert_inputs(reader, out);
  return status ? status : split_sensors(reader, out);
}

bramah_status bramah_study_check(const char *path, bramah_mistake tell, void *user)
{
  bramah_diag diag;
  bramah__reader reader;
  loaded *study = calloc(1, sizeof *study);
  bramah_status status = study ? bramah__reader_open(&reader, &study->pool, path, &diag)
                               : bramah__fail(&diag, BRAMAH_E_MEMORY, NULL, "not enough memory for a study");
  if (study) {
    reader.draft = study;
    reader.tell = tell;
    reader.tell_user = user;
    if (!status) status = read_study(&reader, 0, NULL, study);
    bramah__reader_close(&reader);
    bramah_study_free(&study->study);
  }
  if (status && !(study && reader.told)) tell(user, &diag);
  return status;
}

bramah_status bramah_study_load(const char *path, bramah_diag *diag, bramah_study **out)
{
  return bramah_study_load_changed(path, 0, NULL, diag, out);
}

bramah_status bramah_study_load_changed(const char *path, size_t n_changes, const bramah_change *changes,
                                        bramah_diag *diag, bramah_study **out)
{
  loaded *study = calloc(1, sizeof *study);
  bramah__reader reader;
  if (!study) return bramah__fail(diag, BRAMAH_E_MEMORY, NULL, "not enough memory for a study");
  bramah_status status = bramah__reader_open(&reader, &study->pool, path, diag);
  reader.draft = study;
  if (!status) status = read_study(&reader, n_changes, changes, study);
  bramah__reader_close(&reader);
  if (status)
    bramah_study_free(&study->study);
  else
    *out = &study->study;
  return status;
}

void bramah_study_free(bramah_study *study)
{
  loaded *whole = (loaded *)study;
  if (!whole) return;
  bramah__pool_free(&whole->pool);
  free(whole);
}
