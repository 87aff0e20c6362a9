/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sensors of a study file: one table of keys for each type. */
#define _GNU_SOURCE /* locale_t */
#include "lib/io/study_file.h"
#include "lib/base/diag.h"

#include <math.h>

static const bramah__word sensor_kinds[] = {{"encoder", BRAMAH_SENSOR_ENCODER},
                                            {"gyro", BRAMAH_SENSOR_GYRO},
                                            {"pressure", BRAMAH_SENSOR_PRESSURE},
                                            {"accelerometer", BRAMAH_SENSOR_ACCELEROMETER},
                                            {"inclinometer", BRAMAH_SENSOR_INCLINOMETER},
                                            {"stroke", BRAMAH_SENSOR_STROKE},
                                            {"pressure-difference", BRAMAH_SENSOR_PRESSURE_DIFFERENCE},
                                            {"flow", BRAMAH_SENSOR_FLOW},
                                            {"load-pin", BRAMAH_SENSOR_LOAD_PIN},
                                            {NULL, 0}};

static bramah_status read_rate(bramah__reader *reader, const bramah__item *item, const bramah__key *key,
                               void *object)
{
  bramah__sensor_draft *sensor = object;
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
  bramah__sensor_draft *sensor = object;
  bramah__quantity q;
  bramah_status status = bramah__item_quantity(reader, item, key, NULL, &q);
  if (status) return status;
  if (q.si > 10.0)
    return bramah__fail_item(reader, item, BRAMAH_E_VALUE, "delay must not be longer than 10 s");
  sensor->options.delay_ns = llround(1e9 * q.si);
  return BRAMAH_OK;
}

/* Of two possible units sigma chooses, for itself, resolution and range. */
static bramah_status read_sigma(bramah__reader *reader, const bramah__item *item, const bramah__key *key,
                                void *object)
{
  bramah__sensor_draft *sensor = object;
  bramah__quantity q;
  bramah_dimension dimension;
  double factor;
  bramah_status status = bramah__item_quantity(reader, item, key, NULL, &q);
  if (!status) status = bramah_unit_parse(key->unit, &factor, &dimension, reader->diag);
  if (status) return status;
  sensor->options.sigma = q.si;
  sensor->second_unit = !bramah__same_dimension(q.dimension, dimension);
  return BRAMAH_OK;
}

static bramah__key unit_of_sigma(const bramah__sensor_draft *sensor, const bramah__key *key)
{
  bramah__key one = *key;
  if (sensor->second_unit) one.unit = key->other_unit;
  one.other_unit = NULL;
  return one;
}

static bramah_status read_resolution(bramah__reader *reader, const bramah__item *item, const bramah__key *key,
                                     void *object)
{
  const bramah__key one = unit_of_sigma(object, key);
  return bramah__read_quantity(reader, item, &one, object);
}

static bramah_status read_range(bramah__reader *reader, const bramah__item *item, const bramah__key *key,
                                void *object)
{
  bramah__sensor_draft *sensor = object;
  bramah__key one = unit_of_sigma(object, key);
  double range[2];
  one.offset = 0;
  const bramah_status status = bramah__read_vector(reader, item, &one, range);
  if (status) return status;
  if (!(range[0] < range[1]))
    return bramah__fail_item(reader, item, BRAMAH_E_VALUE, "range must end above its begin: [least, most]");
  sensor->options.least = range[0];
  sensor->options.most = range[1];
  return BRAMAH_OK;
}

/* 0: none, whatever the others have. */
static bramah_status read_gate(bramah__reader *reader, const bramah__item *item, const bramah__key *key,
                               void *object)
{
  bramah__sensor_draft *sensor = object;
  sensor->has_gate = 1;
  return bramah__read_quantity(reader, item, key, object);
}

#define SENSOR_KEYS                                                                                          \
  BRAMAH__KEY("type", bramah__read_word, bramah__sensor_draft, options.kind, .required = 1,                  \
              .words = sensor_kinds),                                                                        \
      BRAMAH__KEY("rate", read_rate, bramah__sensor_draft, options.period_ns, .unit = "Hz",                  \
                  .range = BRAMAH__POSITIVE),                                                                \
      BRAMAH__KEY("delay", read_delay, bramah__sensor_draft, options.delay_ns, .unit = "s",                  \
                  .range = BRAMAH__NOT_NEGATIVE),                                                            \
      BRAMAH__KEY("gate", read_gate, bramah__sensor_draft, gate, .unit = "1",                                \
                  .range = BRAMAH__NOT_NEGATIVE),                                                            \
      BRAMAH__KEY("column", bramah__read_text, bramah__sensor_draft, column.name, .required = 0),            \
      BRAMAH__COLUMN_KEYS(bramah__sensor_draft, column)

#define SENSOR_UNIT(unit1, unit2)                                                                            \
  BRAMAH__KEY("sigma", read_sigma, bramah__sensor_draft, options.sigma, .required = 1, .unit = (unit1),      \
              .other_unit = (unit2), .range = BRAMAH__POSITIVE),                                             \
      BRAMAH__KEY("resolution", read_resolution, bramah__sensor_draft, options.resolution, .unit = (unit1),  \
                  .other_unit = (unit2), .range = BRAMAH__POSITIVE),                                         \
      BRAMAH__KEY("range", read_range, bramah__sensor_draft, options.least, .unit = (unit1),                 \
                  .other_unit = (unit2), .count = 2)

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
    SENSOR_UNIT("rad/s", "m/s"),
    BRAMAH__KEY("body", bramah__read_name, bramah__sensor_draft, body, .required = 0),
    BRAMAH__KEY("joint", bramah__read_name, bramah__sensor_draft, joint, .required = 0),
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

static const bramah__table *const tables_of_kinds[] = {[BRAMAH_SENSOR_ENCODER] = &encoder_table,
                                                       [BRAMAH_SENSOR_GYRO] = &gyro_table,
                                                       [BRAMAH_SENSOR_PRESSURE] = &pressure_table,
                                                       [BRAMAH_SENSOR_ACCELEROMETER] = &accelerometer_table,
                                                       [BRAMAH_SENSOR_INCLINOMETER] = &inclinometer_table,
                                                       [BRAMAH_SENSOR_STROKE] = &stroke_table,
                                                       [BRAMAH_SENSOR_PRESSURE_DIFFERENCE] =
                                                           &pressure_difference_table,
                                                       [BRAMAH_SENSOR_FLOW] = &flow_table,
                                                       [BRAMAH_SENSOR_LOAD_PIN] = &load_pin_table};

/* The type decides which keys are allowed. */
static bramah_status read_sensor(bramah__reader *reader, const bramah__item *item, void *object)
{
  static const bramah__key type_key = {.name = "type",
                                       .read = bramah__read_word,
                                       .offset = offsetof(bramah__sensor_draft, options.kind),
                                       .words = sensor_kinds};
  bramah__sensor_draft *sensor = object;
  bramah__item type;
  if (item->node->kind != BRAMAH__NODE_MAPPING)
    return bramah__fail_item(reader, item, BRAMAH_E_SYNTAX,
                             "keys and values ('key: value') are expected here");
  if (!bramah__item_find(item, "type", &type)) return bramah__fail_missing(reader, item, "type");
  bramah_status status = bramah__read_word(reader, &type, &type_key, object);
  if (status) return status;
  status = bramah__read_table(reader, item, tables_of_kinds[sensor->options.kind], object);
  if (!sensor->column.name) sensor->column.name = sensor->options.name;
  return status;
}

const bramah__table bramah__sensor_table = {.size = sizeof(bramah__sensor_draft), .read = read_sensor};

bramah_status bramah__split_sensors(bramah__reader *reader, bramah__study_draft *draft)
{
  bramah_study *study = &draft->study;
  bramah_sensor_options *sensors = bramah__pool_take(reader->keep, study->n_sensors, sizeof *sensors);
  bramah_study_column *columns = bramah__pool_take(reader->keep, study->n_sensors, sizeof *columns);
  double *gate = bramah__pool_take(reader->keep, study->n_sensors, sizeof *gate);
  if (!sensors || !columns || !gate) return bramah__no_memory(reader);
  for (size_t i = 0; i < study->n_sensors; i++) {
    const bramah__sensor_draft *from = &draft->sensors[i];
    sensors[i] = from->options;
    gate[i] = from->has_gate ? from->gate : draft->gate;
    columns[i] = from->column;
    columns[i].target = from->options.name;
    columns[i].line = from->options.line;
  }
  study->sensors = sensors;
  study->gate = gate;
  study->sensor_columns = columns;
  return BRAMAH_OK;
}
