/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a study file says of the filter: its variants, what it estimates beside the state, noise on
 * parameters. */
#define _GNU_SOURCE /* locale_t */
#include "lib/io/study_file.h"
#include "bramah/adaptive.h"
#include "bramah/coupled.h"
#include "lib/base/diag.h"

#include <string.h>

/* ---- variants ---- */

static const bramah__word transitions[] = {{"paper", BRAMAH_TRANSITION_PAPER},
                                           {"paper-exact", BRAMAH_TRANSITION_PAPER_EXACT},
                                           {"step", BRAMAH_TRANSITION_STEP},
                                           {NULL, 0}};

static const bramah__word discretisations[] = {{"published", BRAMAH_DISCRETISATION_PUBLISHED},
                                               {"resolvent", BRAMAH_DISCRETISATION_RESOLVENT},
                                               {NULL, 0}};

static const bramah__word forms[] = {
    {"joseph", BRAMAH_COVARIANCE_JOSEPH}, {"square-root", BRAMAH_COVARIANCE_SQUARE_ROOT}, {NULL, 0}};

static const bramah__word fusions[] = {
    {"sequential", BRAMAH_FUSION_SEQUENTIAL}, {"block", BRAMAH_FUSION_BLOCK}, {NULL, 0}};

static const bramah__word injections[] = {
    {"exact", BRAMAH_INJECTION_EXACT}, {"linearised", BRAMAH_INJECTION_LINEARISED}, {NULL, 0}};

static bramah_status read_iterations(bramah__reader *reader, const bramah__item *item, const bramah__key *key,
                                     void *object)
{
  const bramah__study_draft *draft = object;
  const bramah_status status = bramah__read_integer(reader, item, key, object);
  if (status || draft->study.iterations <= 100) return status;
  return bramah__fail_item(reader, item, BRAMAH_E_VALUE, "the update is iterated 1 to 100 times");
}

/* Sensors have been read before. */
static int has_gates(const bramah__study_draft *draft)
{
  int any = draft->gate > 0.0;
  for (size_t i = 0; i < draft->study.n_sensors; i++) any |= draft->sensors[i].gate > 0.0;
  return any;
}

static bramah_status finish_filter(bramah__reader *reader, const bramah__item *item, void *object)
{
  const bramah_study *study = &((bramah__study_draft *)object)->study;
  bramah__item drift;
  if (study->drift_gate > 0.0 && !has_gates(object)) {
    bramah__item_find(item, "drift_gate", &drift);
    return bramah__fail_item(reader, &drift, BRAMAH_E_VALUE,
                             "the drift gate is for sensors with a 'gate': give one here or there");
  }
  bramah__item noise;
  if (study->discretisation != BRAMAH_DISCRETISATION_RESOLVENT || study->transition == BRAMAH_TRANSITION_STEP)
    return BRAMAH_OK;
  bramah__item_find(item, "noise", &noise);
  return bramah__fail_item(reader, &noise, BRAMAH_E_VALUE, "the resolvent needs 'transition: step'");
}

static const bramah__key filter_keys[] = {
    BRAMAH__KEY("transition", bramah__read_word, bramah__study_draft, study.transition, .words = transitions),
    BRAMAH__KEY("noise", bramah__read_word, bramah__study_draft, study.discretisation,
                .words = discretisations),
    BRAMAH__KEY("covariance", bramah__read_word, bramah__study_draft, study.form, .words = forms),
    BRAMAH__KEY("fusion", bramah__read_word, bramah__study_draft, study.fusion, .words = fusions),
    BRAMAH__KEY("position_problem", bramah__read_word, bramah__study_draft, study.injection,
                .words = injections),
    BRAMAH__KEY("iterations", read_iterations, bramah__study_draft, study.iterations, .required = 0),
    BRAMAH__KEY("gate", bramah__read_quantity, bramah__study_draft, gate, .unit = "1",
                .range = BRAMAH__POSITIVE),
    BRAMAH__KEY("drift_gate", bramah__read_quantity, bramah__study_draft, study.drift_gate, .unit = "1",
                .range = BRAMAH__POSITIVE),
    BRAMAH__KEY("patience", bramah__read_integer, bramah__study_draft, study.patience, .required = 0),
    {0}};

const bramah__table bramah__filter_table = {.keys = filter_keys, .finish = finish_filter};

/* ---- adaptive noise ---- */

static const bramah__word methods[] = {
    {"likelihood", BRAMAH_ADAPTIVE_LIKELIHOOD}, {"matching", BRAMAH_ADAPTIVE_MATCHING}, {NULL, 0}};

/* [least, most], factors on what the study states. */
static bramah_status read_factors(bramah__reader *reader, const bramah__item *item, const bramah__key *key,
                                  void *object)
{
  const double *pair = (const double *)(const void *)((const char *)object + key->offset);
  const bramah_status status = bramah__read_vector(reader, item, key, object);
  if (status) return status;
  if (pair[0] > 0.0 && pair[0] < pair[1]) return BRAMAH_OK;
  return bramah__fail_item(reader, item, BRAMAH_E_VALUE,
                           "two factors are expected, the smaller first, both positive: [0.1, 10]");
}

static bramah_status finish_adapt(bramah__reader *reader, const bramah__item *item, void *object)
{
  bramah_study_adapt *adapt = object;
  adapt->line = bramah__item_line(item);
  if (adapt->accelerations[1] > 0.0 || adapt->pressures[1] > 0.0 || adapt->sensors[1] > 0.0) return BRAMAH_OK;
  return bramah__fail_key(reader, item, BRAMAH_E_KEY,
                          "nothing adapts: give 'accelerations', 'pressures' or 'sensors' two factors");
}

static const bramah__key adapt_keys[] = {
    BRAMAH__KEY("method", bramah__read_word, bramah_study_adapt, method, .words = methods),
    BRAMAH__KEY("window", bramah__read_integer, bramah_study_adapt, window, .required = 0),
    BRAMAH__KEY("accelerations", read_factors, bramah_study_adapt, accelerations, .unit = "1", .count = 2),
    BRAMAH__KEY("pressures", read_factors, bramah_study_adapt, pressures, .unit = "1", .count = 2),
    BRAMAH__KEY("sensors", read_factors, bramah_study_adapt, sensors, .unit = "1", .count = 2),
    {0}};

const bramah__table bramah__adapt_table = {.keys = adapt_keys, .finish = finish_adapt};

/* ---- figures of a unit not known yet ---- */

bramah_status bramah__read_figure(bramah__reader *reader, const bramah__item *item, const bramah__key *key,
                                  void *object)
{
  bramah_study_value *figure = (bramah_study_value *)(void *)((unsigned char *)object + key->offset);
  bramah__quantity q;
  const bramah_status status = bramah__item_quantity(reader, item, key, NULL, &q);
  if (status) return status;
  figure->text = bramah__pool_text(reader->keep, item->node->text, strlen(item->node->text));
  figure->line = item->node->line;
  figure->column = item->node->column;
  figure->is_set = item->node->is_set;
  figure->si = item->node->si;
  figure->dimension = item->node->dimension;
  return figure->text ? BRAMAH_OK : bramah__no_memory(reader);
}

/* ---- augmented states ---- */

static bramah_status check_sensor(bramah__reader *reader, const bramah__item *item,
                                  const bramah__study_draft *draft, const char *name)
{
  const char *names[64];
  size_t n = 0;
  for (size_t i = 0; i < draft->study.n_sensors; i++) {
    const char *sensor = draft->sensors[i].options.name;
    if (sensor && strcmp(sensor, name) == 0) return BRAMAH_OK;
    if (sensor && n < sizeof names / sizeof names[0]) names[n++] = sensor;
  }
  bramah__fail_item(reader, item, BRAMAH_E_REFERENCE, "there is no sensor '");
  bramah__add_text(reader->diag, name);
  bramah__add_text(reader->diag, "'");
  bramah__add_suggestion(reader->diag, name, n, names, "; there are ");
  return BRAMAH_E_REFERENCE;
}

static bramah_status check_estimated_once(bramah__reader *reader, const bramah__item *item,
                                          const bramah__study_draft *draft,
                                          const bramah__augmented_draft *one)
{
  for (const bramah__augmented_draft *other = draft->augmented; other < one; other++) {
    if (!other->parameter || strcmp(other->parameter, one->parameter) != 0) continue;
    bramah__fail_item(reader, item, BRAMAH_E_VALUE, "this parameter is estimated by '");
    bramah__add_text(reader->diag, other->augmented.name);
    bramah__add_text(reader->diag, "' already");
    return BRAMAH_E_VALUE;
  }
  return BRAMAH_OK;
}

/* A parameter or a bias; order 2 with a time constant. */
static bramah_status finish_augmented(bramah__reader *reader, const bramah__item *item, void *object)
{
  bramah__augmented_draft *draft = object;
  bramah_study_augmented *out = &draft->augmented;
  bramah__item parameter, bias;
  bramah__item_find(item, "parameter", &parameter);
  bramah__item_find(item, "bias_of", &bias);
  if (draft->parameter && draft->bias_of)
    return bramah__fail_key(reader, &bias, BRAMAH_E_KEY, "'parameter' and 'bias_of' exclude each other");
  if (!draft->parameter && !draft->bias_of)
    return bramah__fail_key(reader, item, BRAMAH_E_KEY, "'parameter' or 'bias_of' is needed");
  if (out->order == 2 && out->time_constant == 0.0)
    return bramah__fail_key(reader, item, BRAMAH_E_KEY, "order 2 needs a 'time_constant'");
  out->kind = draft->parameter ? BRAMAH_AUGMENTED_PARAMETER : BRAMAH_AUGMENTED_BIAS;
  out->at = draft->parameter ? draft->parameter : draft->bias_of;
  out->at_line = (draft->parameter ? &parameter : &bias)->node->line;
  if (draft->bias_of) return check_sensor(reader, &bias, reader->draft, draft->bias_of);
  return check_estimated_once(reader, &parameter, reader->draft, draft);
}

static const bramah__word orders[] = {{"1", 1}, {"2", 2}, {NULL, 0}};

/* Of every process. */
#define PROCESS_KEYS                                                                                         \
  BRAMAH__KEY("order", bramah__read_word, bramah__augmented_draft, augmented.order, .words = orders),        \
      BRAMAH__KEY("time_constant", bramah__read_quantity, bramah__augmented_draft, augmented.time_constant,  \
                  .unit = "s", .range = BRAMAH__POSITIVE),                                                   \
      BRAMAH__KEY("sigma", bramah__read_figure, bramah__augmented_draft, augmented.sigma, .required = 1,     \
                  .range = BRAMAH__POSITIVE),                                                                \
      BRAMAH__KEY("least", bramah__read_figure, bramah__augmented_draft, augmented.least, .required = 0),    \
      BRAMAH__KEY("most", bramah__read_figure, bramah__augmented_draft, augmented.most, .required = 0)

static const bramah__key augmented_keys[] = {
    BRAMAH__KEY("parameter", bramah__read_text, bramah__augmented_draft, parameter, .required = 0),
    BRAMAH__KEY("bias_of", bramah__read_name, bramah__augmented_draft, bias_of, .required = 0),
    PROCESS_KEYS,
    BRAMAH__KEY("noise", bramah__read_figure, bramah__augmented_draft, augmented.noise,
                .range = BRAMAH__NOT_NEGATIVE),
    {0}};

const bramah__table bramah__augmented_table = {
    .keys = augmented_keys, .size = sizeof(bramah__augmented_draft), .finish = finish_augmented};

/* ---- unknown commands ---- */

static bramah_status finish_unknown(bramah__reader *reader, const bramah__item *item, void *object)
{
  const bramah__augmented_draft *draft = object;
  if (draft->augmented.order == 2 && draft->augmented.time_constant == 0.0)
    return bramah__fail_key(reader, item, BRAMAH_E_KEY, "order 2 needs a 'time_constant'");
  return BRAMAH_OK;
}

/* Without noise a command would be a constant. */
static const bramah__key unknown_keys[] = {PROCESS_KEYS,
                                           BRAMAH__KEY("noise", bramah__read_figure, bramah__augmented_draft,
                                                       augmented.noise, .required = 1,
                                                       .range = BRAMAH__POSITIVE),
                                           {0}};

const bramah__table bramah__unknown_table = {
    .keys = unknown_keys, .size = sizeof(bramah__augmented_draft), .finish = finish_unknown};

/* a + b in the pool */
static const char *joined(bramah__reader *reader, const char *a, const char *b)
{
  const size_t n = strlen(a), m = strlen(b);
  char *out = bramah__pool_take(reader->keep, n + m + 1, 1);
  if (!out) return NULL;
  memcpy(out, a, n);
  memcpy(out + n, b, m);
  return out;
}

/* The command is held at 0, and what it really is becomes its offset. */
static bramah_status take_unknown(bramah__reader *reader, const bramah__input_draft *input,
                                  bramah_study_augmented *out)
{
  *out = input->unknown.augmented;
  out->name = joined(reader, input->name, ".command");
  out->at = joined(reader, input->name, ".offset");
  out->input = input->name;
  out->kind = BRAMAH_AUGMENTED_PARAMETER;
  out->line = out->at_line = input->line;
  return out->name && out->at ? BRAMAH_OK : bramah__no_memory(reader);
}

/* An offset cannot be told from an unknown command. */
static bramah_status check_known(bramah__reader *reader, const bramah_study_augmented *unknown, size_t n,
                                 const bramah_study_augmented *one)
{
  for (size_t i = 0; i < n; i++) {
    if (one->kind != BRAMAH_AUGMENTED_PARAMETER || strcmp(unknown[i].at, one->at) != 0) continue;
    bramah__fail(reader->diag, BRAMAH_E_VALUE, one->name,
                 "this parameter is estimated as the unknown command of the input already");
    return bramah__at(reader->diag, reader->file, one->at_line, 0);
  }
  return BRAMAH_OK;
}

bramah_status bramah__split_augmented(bramah__reader *reader, bramah__study_draft *draft)
{
  bramah_study *study = &draft->study;
  const size_t room = study->n_augmented + draft->n_inputs;
  bramah_study_augmented *out = bramah__pool_take(reader->keep, room, sizeof *out);
  bramah_status status = BRAMAH_OK;
  size_t n = 0;
  if (!out) return bramah__no_memory(reader);
  for (size_t i = 0; !status && i < draft->n_inputs; i++)
    if (draft->inputs[i].is_unknown) status = take_unknown(reader, &draft->inputs[i], &out[n++]);
  const size_t n_unknown = n;
  for (size_t i = 0; !status && i < study->n_augmented; i++) {
    out[n++] = draft->augmented[i].augmented;
    status = check_known(reader, out, n_unknown, &out[n - 1]);
  }
  study->augmented = out;
  study->n_augmented = n;
  study->n_unknown_inputs = n_unknown;
  return status;
}

/* ---- noise on parameters ---- */

static bramah_status read_density(bramah__reader *reader, const bramah__item *item, void *object)
{
  const bramah__key key = {.offset = offsetof(bramah_study_parameter_noise, density),
                           .range = BRAMAH__POSITIVE};
  return bramah__read_figure(reader, item, &key, object);
}

const bramah__table bramah__parameter_noise_table = {
    .size = sizeof(bramah_study_parameter_noise), .read = read_density, .names_with_dots = 1};
