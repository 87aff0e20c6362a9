/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE /* locale_t */
#include "lib/io/study_file.h"
#include "lib/base/diag.h"
#include "lib/base/text.h"
#include "lib/io/changes.h"
#include "lib/io/session.h"

#include <stdio.h>
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

static const bramah__key input_keys[] = {
    BRAMAH__KEY("column", bramah__read_text, bramah__input_draft, column.name, .required = 0),
    BRAMAH__COLUMN_KEYS(bramah__input_draft, column),
    BRAMAH__KEY("unknown", bramah__read_child, bramah__input_draft, unknown, .table = &bramah__unknown_table),
    {0}};

/* What is known of a column, or what is believed of a command that nobody wrote down: not both. */
static bramah_status finish_input(bramah__reader *reader, const bramah__item *item, void *object)
{
  bramah__input_draft *draft = object;
  bramah__item unknown, other;
  char what[96];
  draft->is_unknown = bramah__item_find(item, "unknown", &unknown);
  for (const bramah__key *key = input_keys; draft->is_unknown && key->name; key++) {
    if (strcmp(key->name, "unknown") == 0 || !bramah__item_find(item, key->name, &other)) continue;
    snprintf(what, sizeof what, "'%s' and 'unknown' exclude each other", key->name);
    return bramah__fail_key(reader, &unknown, BRAMAH_E_KEY, "%s", what);
  }
  return BRAMAH_OK;
}

static const bramah__table input_mapping = {.keys = input_keys, .finish = finish_input};

/* The name of the column alone, or keys. */
static bramah_status read_input(bramah__reader *reader, const bramah__item *item, void *object)
{
  if (item->node->kind == BRAMAH__NODE_MAPPING)
    return bramah__read_table(reader, item, &input_mapping, object);
  return bramah__read_text(reader, item, &input_keys[0], object);
}

static const bramah__table input_table = {.size = sizeof(bramah__input_draft), .read = read_input};

/* "<input>.command" where the study has scaled the column but not named it. */
static const char *default_column(bramah__reader *reader, const char *input)
{
  char name[256];
  const size_t used = bramah__append(name, sizeof name, 0, input);
  return bramah__pool_text(reader->keep, name, bramah__append(name, sizeof name, used, ".command"));
}

static bramah_status convert_inputs(bramah__reader *reader, bramah__study_draft *draft)
{
  bramah_study *study = &draft->study;
  bramah_study_column *columns = bramah__pool_take(reader->keep, study->n_inputs, sizeof *columns);
  size_t n = 0;
  if (!columns) return bramah__no_memory(reader);
  draft->n_inputs = study->n_inputs;
  for (size_t i = 0; i < draft->n_inputs; i++) {
    const bramah__input_draft *from = &draft->inputs[i];
    if (from->is_unknown) continue;
    bramah_study_column *column = &columns[n++];
    *column = from->column;
    column->target = from->name;
    column->line = from->line;
    if (!column->name) column->name = default_column(reader, from->name);
    if (!column->name) return bramah__no_memory(reader);
  }
  study->inputs = columns;
  study->n_inputs = n;
  return BRAMAH_OK;
}

/* ---- start values ---- */

/* A quantity of one of two units; *first: which. */
static bramah_status read_either(bramah__reader *reader, const bramah__item *item, const bramah__key *key,
                                 double *out, int *first)
{
  bramah__quantity q;
  bramah_dimension dimension;
  double factor;
  bramah_status status = bramah__item_quantity(reader, item, key, NULL, &q);
  if (!status) status = bramah_unit_parse(key->unit, &factor, &dimension, reader->diag);
  if (status) return status;
  *out = q.si;
  *first = bramah__same_dimension(q.dimension, dimension);
  return BRAMAH_OK;
}

/* The standard deviation of the position is read first and says whether the joint turns or slides. */
static bramah_status read_position_sigma(bramah__reader *reader, const bramah__item *item,
                                         const bramah__key *key, void *object)
{
  bramah_joint_start *start = object;
  int turns = 1;
  const bramah_status status = read_either(reader, item, key, &start->position_sigma, &turns);
  start->slides = !turns;
  return status;
}

/* That of a volume or line says which of them it is. */
static bramah_status read_volume_sigma(bramah__reader *reader, const bramah__item *item,
                                       const bramah__key *key, void *object)
{
  bramah_volume_start *start = object;
  int pressure = 1;
  const bramah_status status = read_either(reader, item, key, &start->sigma, &pressure);
  start->flow_unit = !pressure;
  return status;
}

static bramah_status read_volume_noise(bramah__reader *reader, const bramah__item *item,
                                       const bramah__key *key, void *object)
{
  const bramah_volume_start *start = object;
  bramah__key by_unit = *key;
  if (start->flow_unit) by_unit.unit = key->other_unit;
  by_unit.other_unit = NULL;
  return bramah__read_quantity(reader, item, &by_unit, object);
}

static bramah_status read_by_unit(bramah__reader *reader, const bramah__item *item, const bramah__key *key,
                                  void *object)
{
  const bramah_joint_start *start = object;
  bramah__key by_unit = *key;
  if (start->slides) by_unit.unit = key->other_unit;
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
    {.name = "sigma",
     .read = read_volume_sigma,
     .required = 1,
     .unit = "Pa",
     .other_unit = "m^3/s",
     .range = BRAMAH__POSITIVE},
    BRAMAH__KEY("noise", read_volume_noise, bramah_volume_start, noise, .required = 1, .unit = "Pa/s^0.5",
                .other_unit = "m^3/s^1.5", .range = BRAMAH__NOT_NEGATIVE),
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
    BRAMAH__KEY("time", bramah__read_time, bramah__study_draft, study.time, .required = 0),
    BRAMAH__KEY("log", bramah__read_child, bramah__study_draft, study.log, .table = &bramah__log_table),
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

static bramah_status read_study(bramah__reader *reader, const bramah__node *root, bramah__study_draft *out)
{
  bramah__item item = {.node = root};
  out->study.transition = BRAMAH_TRANSITION_PAPER;
  out->study.time.column = "t";
  out->study.log.longest_gap_ns = INT64_C(10000000000);
  out->study.log.atmosphere = 101325.0;
  out->study.file = bramah__pool_text(reader->keep, reader->file, strlen(reader->file));
  if (!out->study.file) return bramah__no_memory(reader);
  bramah_status status = bramah__read_table(reader, &item, &study_table, out);
  if (!status && reader->told) return reader->first;
  out->study.time_column = out->study.time.column;
  if (!status) status = convert_inputs(reader, out);
  if (!status) status = bramah__split_augmented(reader, out);
  if (!status) status = bramah__split_sensors(reader, out);
  return status ? status : bramah__check_log_files(reader, &out->study);
}

bramah_status bramah__study_check(const char *path, bramah_mistake tell, void *user)
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
    bramah__node *root;
    if (!status) status = bramah__yaml_load(&reader, &root);
    if (!status) status = read_study(&reader, root, study);
    bramah__reader_close(&reader);
    bramah_study_free(&study->study);
  }
  if (study && reader.told) return reader.first;
  if (status) tell(user, &diag);
  return status;
}

/* The tree with the changes, which belongs to the source from now on. */
static bramah_status change_source(bramah__study_draft *draft, size_t n, const bramah_change *changes,
                                   bramah_diag *diag)
{
  bramah__reader reader;
  bramah__source *source = draft->own;
  bramah_status status = bramah__reader_open(&reader, &source->names, source->file, diag);
  reader.scratch = source->tree;
  draft->root = source->root;
  for (size_t i = 0; !status && i < n; i++) {
    bramah_change own = changes[i]; /* its file is told of after the caller's has gone */
    if (own.file) own.file = bramah__pool_text(&source->names, own.file, strlen(own.file));
    status = bramah__changes_apply(&reader, 1, &own, &draft->root);
    draft->changes_hash = bramah__fnv(draft->changes_hash, own.path, strlen(own.path) + 1);
    draft->changes_hash = bramah__fnv(draft->changes_hash, own.value, strlen(own.value) + 1);
  }
  source->tree = reader.scratch;
  reader.scratch = (bramah__pool){0};
  bramah__reader_close(&reader);
  return status;
}

bramah_status bramah__study_read(bramah__study_draft *draft, bramah_diag *diag)
{
  bramah__reader reader;
  bramah__node *root = draft->root;
  bramah_status status = bramah__reader_open(&reader, &draft->pool, draft->source->file, diag);
  reader.draft = draft;
  if (!status) status = bramah__apply_settings(&reader, draft->n_settings, draft->settings, 0, &root);
  if (!status) status = read_study(&reader, root, draft);
  bramah__reader_close(&reader);
  return status;
}

bramah_status bramah_study_load(const char *path, size_t n_changes, const bramah_change *changes,
                                bramah_diag *diag, bramah_study **out)
{
  bramah__study_draft *draft = calloc(1, sizeof *draft);
  if (!draft) return bramah__fail(diag, BRAMAH_E_MEMORY, NULL, "not enough memory for a study");
  bramah_status status = bramah__source_open(path, diag, &draft->own);
  draft->source = draft->own;
  if (!status) status = change_source(draft, n_changes, changes, diag);
  if (!status) status = bramah__study_read(draft, diag);
  if (status)
    bramah_study_free(&draft->study);
  else
    *out = &draft->study;
  return status;
}

void bramah_study_free(bramah_study *study)
{
  bramah__study_draft *draft = (bramah__study_draft *)study;
  if (!draft) return;
  bramah__pool_free(&draft->pool);
  bramah__pool_free(&draft->refs);
  bramah__source_free(draft->own);
  bramah__source_free(draft->own_machine);
  free(draft);
}
