/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE /* locale_t */
#include "lib/io/study_file.h"
#include "lib/base/diag.h"
#include "lib/io/changes.h"

#include <stdlib.h>
#include <string.h>

/* ---- changes ---- */

static bramah_status read_changes(bramah__reader *reader, const bramah__item *item, const bramah__key *key,
                                  void *object)
{
  bramah_study *study = &((bramah__study_draft *)object)->study;
  (void)key;
  return bramah__read_changes(reader, item, study->file, &study->n_changes, &study->changes);
}

/* ---- inputs ---- */

static bramah_status read_input(bramah__reader *reader, const bramah__item *item, void *object)
{
  const bramah__key key = {.name = "column", .offset = offsetof(bramah__input_draft, column)};
  return bramah__read_text(reader, item, &key, object);
}

static const bramah__table input_table = {.size = sizeof(bramah__input_draft), .read = read_input};

static bramah_status convert_inputs(bramah__reader *reader, bramah__study_draft *draft)
{
  bramah_study *study = &draft->study;
  bramah_study_column *columns = bramah__pool_take(reader->keep, study->n_inputs, sizeof *columns);
  if (!columns) return bramah__no_memory(reader);
  for (size_t i = 0; i < study->n_inputs; i++) {
    const bramah__input_draft *from = &draft->inputs[i];
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
  bramah__study_draft *draft = object;
  (void)key;
  return bramah__read_file_path(reader, item, &draft->study.machine_file);
}

static const bramah__key study_keys[] = {
    BRAMAH__KEY("study", bramah__read_text, bramah__study_draft, study.name, .required = 1),
    {.name = "machine", .read = read_machine_path, .required = 1},
    {.name = "changes", .read = read_changes},
    BRAMAH__KEY("time", bramah__read_text, bramah__study_draft, study.time_column, .required = 0),
    BRAMAH__SECTION("inputs", bramah__study_draft, inputs, study.n_inputs, &input_table, .required = 0),
    BRAMAH__SECTION("sensors", bramah__study_draft, sensors, study.n_sensors, &bramah__sensor_table,
                    .required = 1),
    {.name = "filter", .read = bramah__read_child, .table = &bramah__filter_table},
    BRAMAH__KEY("adapt", bramah__read_child, bramah__study_draft, study.adapt, .table = &bramah__adapt_table),
    BRAMAH__KEY("tune", bramah__read_child, bramah__study_draft, study.tune, .table = &bramah__tune_table),
    BRAMAH__SECTION("augmented", bramah__study_draft, augmented, study.n_augmented, &bramah__augmented_table,
                    .required = 0),
    BRAMAH__SECTION("parameter_noise", bramah__study_draft, study.parameter_noise, study.n_parameter_noise,
                    &bramah__parameter_noise_table, .required = 0),
    BRAMAH__SECTION("joints", bramah__study_draft, study.joints, study.n_joints, &joint_table, .required = 1),
    BRAMAH__SECTION("volumes", bramah__study_draft, study.volumes, study.n_volumes, &volume_table,
                    .required = 0),
    {0}};

static const bramah__table study_table = {.keys = study_keys};

static bramah_status read_study(bramah__reader *reader, size_t n_changes, const bramah_change *changes,
                                bramah__study_draft *out)
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
  if (!status) status = bramah__split_augmented(reader, out);
  return status ? status : bramah__split_sensors(reader, out);
}

bramah_status bramah_study_check(const char *path, bramah_mistake tell, void *user)
{
  bramah_diag diag;
  bramah__reader reader;
  bramah__study_draft *study = calloc(1, sizeof *study);
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
  bramah__study_draft *study = calloc(1, sizeof *study);
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
  bramah__study_draft *whole = (bramah__study_draft *)study;
  if (!whole) return;
  bramah__pool_free(&whole->pool);
  free(whole);
}
