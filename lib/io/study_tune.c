/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a study file says of its tuning. */
#define _GNU_SOURCE /* locale_t */
#include "lib/io/study_file.h"

#include <string.h>

static const bramah__word criteria[] = {{"likelihood", BRAMAH_TUNE_LIKELIHOOD},
                                        {"nis", BRAMAH_TUNE_NIS},
                                        {"rmse", BRAMAH_TUNE_RMSE},
                                        {"prediction", BRAMAH_TUNE_PREDICTION},
                                        {NULL, 0}};

static const bramah__word methods[] = {
    {"scoring", BRAMAH_TUNE_SCORING}, {"simplex", BRAMAH_TUNE_SIMPLEX}, {NULL, 0}};

static const bramah__word scales[] = {{"log", 0}, {"linear", 1}, {NULL, 0}};

/* ---- lists of words ---- */

static bramah_status read_word_of_list(bramah__reader *reader, const bramah__item *item, void *object)
{
  return bramah__read_text(reader, item, &(bramah__key){0}, object);
}

static const bramah__table word_table = {.size = sizeof(const char *), .read = read_word_of_list};

/* ---- parameters ---- */

static bramah_status quantity_of(bramah__reader *reader, const bramah__item *mapping, const char *name,
                                 bramah__item *item, bramah__quantity *q)
{
  const bramah__key key = {.name = name};
  if (!bramah__item_find(mapping, name, item)) return BRAMAH_E_KEY;
  return bramah__item_quantity(reader, item, &key, NULL, q);
}

/* Up or down, one of the two must stay within the bounds from wherever between them. */
static bramah_status check_step(bramah__reader *reader, const bramah__item *item,
                                const bramah__quantity *least, const bramah__quantity *most)
{
  bramah__item at;
  bramah__quantity step;
  if (!bramah__item_find(item, "step", &at)) return BRAMAH_OK;
  const bramah_status status = quantity_of(reader, item, "step", &at, &step);
  if (status) return status;
  if (!(step.si > 0.0) || !bramah__same_dimension(step.dimension, least->dimension))
    return bramah__fail_item(reader, &at, BRAMAH_E_VALUE,
                             "the step must be positive and have the unit of the bounds");
  if (step.si <= 0.5 * (most->si - least->si)) return BRAMAH_OK;
  return bramah__fail_item(reader, &at, BRAMAH_E_VALUE,
                           "the step must not be longer than half the way from 'least' to 'most'");
}

static bramah_status finish_tuned(bramah__reader *reader, const bramah__item *item, void *object)
{
  const bramah_study_tuned *tuned = object;
  bramah__item low, high;
  bramah__quantity least, most;
  bramah_status status = quantity_of(reader, item, "least", &low, &least);
  if (!status) status = quantity_of(reader, item, "most", &high, &most);
  if (status) return status;
  if (!bramah__same_dimension(least.dimension, most.dimension))
    return bramah__fail_item(reader, &high, BRAMAH_E_UNIT, "the two bounds have different units");
  if (!(least.si < most.si))
    return bramah__fail_item(reader, &high, BRAMAH_E_VALUE,
                             "the bounds are inverted: 'most' must be larger than 'least'");
  if (!tuned->linear && !(least.si > 0.0))
    return bramah__fail_item(reader, &low, BRAMAH_E_VALUE,
                             "on a logarithmic scale bounds must be positive; give 'scale: linear'");
  return check_step(reader, item, &least, &most);
}

static const bramah__key tuned_keys[] = {
    BRAMAH__KEY("least", bramah__read_figure, bramah_study_tuned, least, .required = 1),
    BRAMAH__KEY("most", bramah__read_figure, bramah_study_tuned, most, .required = 1),
    BRAMAH__KEY("step", bramah__read_figure, bramah_study_tuned, step, .required = 0),
    BRAMAH__KEY("scale", bramah__read_word, bramah_study_tuned, linear, .words = scales),
    BRAMAH__KEY("also", bramah__read_list, bramah_study_tuned, also, .table = &word_table,
                .count_offset = offsetof(bramah_study_tuned, n_also)),
    {0}};

static const bramah__table tuned_table = {
    .keys = tuned_keys, .size = sizeof(bramah_study_tuned), .finish = finish_tuned, .names_with_dots = 1};

/* ---- the section ---- */

static bramah_status finish_tune(bramah__reader *reader, const bramah__item *item, void *object)
{
  bramah_study_tune *tune = object;
  bramah__item at;
  tune->line = bramah__item_line(item);
  if (!bramah__item_find(item, "penalty", &at)) tune->penalty = -1.0;
  if (tune->method != BRAMAH_TUNE_SCORING || tune->criterion == BRAMAH_TUNE_LIKELIHOOD) return BRAMAH_OK;
  bramah__item_find(item, "method", &at);
  return bramah__fail_item(reader, &at, BRAMAH_E_VALUE,
                           "scoring is for the likelihood; other criteria want simplex");
}

static const bramah__key tune_keys[] = {
    BRAMAH__KEY("criterion", bramah__read_word, bramah_study_tune, criterion, .words = criteria),
    BRAMAH__KEY("method", bramah__read_word, bramah_study_tune, method, .words = methods),
    BRAMAH__KEY("penalty", bramah__read_quantity, bramah_study_tune, penalty, .unit = "1",
                .range = BRAMAH__NOT_NEGATIVE),
    BRAMAH__KEY("settle", bramah__read_quantity, bramah_study_tune, settle, .unit = "s",
                .range = BRAMAH__NOT_NEGATIVE),
    BRAMAH__KEY("ahead", bramah__read_integer, bramah_study_tune, ahead, .required = 0),
    BRAMAH__KEY("outputs", bramah__read_list, bramah_study_tune, outputs, .table = &word_table,
                .count_offset = offsetof(bramah_study_tune, n_outputs)),
    BRAMAH__SECTION("parameters", bramah_study_tune, parameters, n_parameters, &tuned_table, .required = 1),
    {0}};

const bramah__table bramah__tune_table = {.keys = tune_keys, .finish = finish_tune};
