/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE /* locale_t */
#include "lib/io/session.h"
#include "lib/base/diag.h"
#include "lib/io/schema.h"

#include <stdlib.h>

#define CHANGES(key, type, member)                                                                           \
  BRAMAH__KEY(key, bramah__read_changes, type, member, .count_offset = offsetof(type, n_##member))

/* ---- rates ---- */

static const bramah__key rate_key = {
    .name = "rate", .read = bramah__read_quantity, .unit = "Hz", .range = BRAMAH__POSITIVE};
static const bramah__table rate_table = {.size = sizeof(double), .value = &rate_key};

/* In falling order: tables go down them. */
static bramah_status read_rates(bramah__reader *reader, const bramah__item *item, const bramah__key *key,
                                void *object)
{
  const size_t mistakes = reader->mistakes;
  const bramah_status status = bramah__read_list(reader, item, key, object);
  const bramah_plan *plan = object;
  for (size_t i = 1; !status && reader->mistakes == mistakes && i < plan->n_rates; i++)
    if (!(plan->rates[i] < plan->rates[i - 1])) {
      const bramah__item wrong = bramah__item_at(item, i);
      return bramah__fail_item(reader, &wrong, BRAMAH_E_VALUE, "rates must fall from the first to the last");
    }
  return status;
}

/* ---- signals, studies, filters, scenarios ---- */

static const bramah__key signal_key = {.read = bramah__read_text,
                                       .offset = offsetof(bramah_plan_signal, output)};
static const bramah__table signal_table = {.size = sizeof(bramah_plan_signal), .value = &signal_key};

static const bramah__key sensor_key = {.read = bramah__read_text};
static const bramah__table sensor_table = {.size = sizeof(const char *), .value = &sensor_key};

static const bramah__key study_keys[] = {
    BRAMAH__KEY("file", bramah__read_path, bramah_plan_study, file, .required = 1),
    BRAMAH__KEY("without", bramah__read_list, bramah_plan_study, without,
                .count_offset = offsetof(bramah_plan_study, n_without), .table = &sensor_table),
    {0}};
static const bramah__table study_table = {
    .keys = study_keys, .size = sizeof(bramah_plan_study), .value = &study_keys[0]};

static const bramah__word transitions[] = {{"paper", BRAMAH_TRANSITION_KINEMATIC},
                                           {"paper-exact", BRAMAH_TRANSITION_KINEMATIC_EXACT},
                                           {"step", BRAMAH_TRANSITION_STEP},
                                           {NULL, 0}};

static const bramah__key filter_keys[] = {
    BRAMAH__KEY("transition", bramah__read_word, bramah_plan_filter, transition, .words = transitions),
    CHANGES("changes", bramah_plan_filter, changes),
    {0}};

static const bramah__table filter_table = {.keys = filter_keys, .size = sizeof(bramah_plan_filter)};

static const bramah__key scenario_keys[] = {
    BRAMAH__KEY("title", bramah__read_text, bramah_plan_scenario, title, .required = 0),
    CHANGES("changes", bramah_plan_scenario, changes),
    CHANGES("parameters", bramah_plan_scenario, parameters),
    {0}};

static const bramah__table scenario_table = {.keys = scenario_keys, .size = sizeof(bramah_plan_scenario)};

/* ---- the whole ---- */

static bramah_status finish_plan(bramah__reader *reader, const bramah__item *item, void *object)
{
  const bramah_plan *plan = object;
  bramah__item wrong;
  if (plan->n_signals > BRAMAH_PLAN_MOST_SIGNALS && bramah__item_find(item, "signals", &wrong))
    return bramah__fail_key(reader, &wrong, BRAMAH_E_VALUE, "a plan has 12 signals at most");
  if (plan->n_studies > BRAMAH_PLAN_MOST_STUDIES && bramah__item_find(item, "studies", &wrong))
    return bramah__fail_key(reader, &wrong, BRAMAH_E_VALUE, "a plan has 64 studies at most");
  if (plan->n_rates > BRAMAH_PLAN_MOST_RATES && bramah__item_find(item, "rates", &wrong))
    return bramah__fail_key(reader, &wrong, BRAMAH_E_VALUE, "a plan has 64 rates at most");
  if (plan->duration > 1e6 && bramah__item_find(item, "duration", &wrong))
    return bramah__fail_item(reader, &wrong, BRAMAH_E_VALUE, "duration must not be longer than 1e6 s");
  if (!(plan->settle < plan->duration) && bramah__item_find(item, "settle", &wrong))
    return bramah__fail_item(reader, &wrong, BRAMAH_E_VALUE, "settle must be shorter than the duration");
  return BRAMAH_OK;
}

static const bramah__key plan_keys[] = {
    BRAMAH__KEY("plan", bramah__read_text, bramah_plan, name, .required = 1),
    BRAMAH__KEY("machine", bramah__read_path, bramah_plan, machine_file, .required = 1),
    CHANGES("changes", bramah_plan, changes),
    BRAMAH__KEY("duration", bramah__read_quantity, bramah_plan, duration, .required = 1, .unit = "s",
                .range = BRAMAH__POSITIVE),
    BRAMAH__KEY("step", bramah__read_quantity, bramah_plan, step, .unit = "s", .range = BRAMAH__POSITIVE),
    BRAMAH__KEY("settle", bramah__read_quantity, bramah_plan, settle, .unit = "s",
                .range = BRAMAH__NOT_NEGATIVE),
    BRAMAH__KEY("seeds", bramah__read_integer, bramah_plan, seeds, .required = 1),
    BRAMAH__KEY("rates", read_rates, bramah_plan, rates, .shape = BRAMAH__SHAPE_LIST,
                .count_offset = offsetof(bramah_plan, n_rates), .table = &rate_table),
    BRAMAH__SECTION("signals", bramah_plan, signals, n_signals, &signal_table, .required = 1),
    BRAMAH__SECTION("studies", bramah_plan, studies, n_studies, &study_table, .required = 1),
    BRAMAH__SECTION("filters", bramah_plan, filters, n_filters, &filter_table, .required = 0),
    BRAMAH__SECTION("scenarios", bramah_plan, scenarios, n_scenarios, &scenario_table, .required = 0),
    {0}};

const bramah__table bramah__plan_table = {.keys = plan_keys, .finish = finish_plan};

const bramah__file_of bramah__plan_file = {"plan", &bramah__plan_table, sizeof(bramah_plan),
                                           offsetof(bramah_plan, file), NULL};

bramah_status bramah__plan_load(const char *path, bramah_diag *diag, bramah_plan **out)
{
  void *plan = NULL;
  const bramah_status status = bramah__read_file_of(path, &bramah__plan_file, NULL, NULL, diag, &plan);
  if (!status) *out = plan;
  return status;
}

void bramah__plan_free(bramah_plan *plan) { bramah__file_free(plan); }
