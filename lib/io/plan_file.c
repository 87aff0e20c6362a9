/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE /* locale_t */
#include "lib/io/plan_file.h"
#include "lib/base/diag.h"
#include "lib/io/changes.h"

#include <stdlib.h>
#include <string.h>

/* The plan while it is being read; the pool holds everything it points to. */
typedef struct loaded {
  bramah_plan plan; /* first: the caller's pointer is ours */
  bramah__pool pool;
} loaded;

static const char *file_of(const bramah__reader *reader)
{
  return ((const loaded *)reader->draft)->plan.file;
}

static void *at(void *object, size_t offset) { return (unsigned char *)object + offset; }

/* ---- pieces ---- */

/* The count is at key->count_offset. */
static bramah_status read_changes(bramah__reader *reader, const bramah__item *item, const bramah__key *key,
                                  void *object)
{
  size_t n = 0;
  const bramah_change *changes = NULL;
  const bramah_status status = bramah__read_changes(reader, item, file_of(reader), &n, &changes);
  memcpy(at(object, key->offset), &changes, sizeof changes);
  memcpy(at(object, key->count_offset), &n, sizeof n);
  return status;
}

#define CHANGES(key, type, member)                                                                           \
  BRAMAH__KEY(key, read_changes, type, member, .count_offset = offsetof(type, n_##member))

static bramah_status read_path(bramah__reader *reader, const bramah__item *item, const bramah__key *key,
                               void *object)
{
  const char *path = NULL;
  const bramah_status status = bramah__read_file_path(reader, item, &path);
  memcpy(at(object, key->offset), &path, sizeof path);
  return status;
}

/* ---- rates ---- */

static const bramah__key rate_key = {.name = "rate", .unit = "Hz", .range = BRAMAH__POSITIVE};

static bramah_status read_rate(bramah__reader *reader, const bramah__item *item, void *object)
{
  return bramah__read_quantity(reader, item, &rate_key, object);
}

static const bramah__table rate_table = {.size = sizeof(double), .read = read_rate};

/* In falling order: tables go down them. */
static bramah_status read_rates(bramah__reader *reader, const bramah__item *item, const bramah__key *key,
                                void *object)
{
  const bramah_status status = bramah__read_list(reader, item, key, object);
  const bramah_plan *plan = object;
  for (size_t i = 1; !status && i < plan->n_rates; i++)
    if (!(plan->rates[i] < plan->rates[i - 1])) {
      const bramah__item wrong = bramah__item_at(item, i);
      return bramah__fail_item(reader, &wrong, BRAMAH_E_VALUE, "rates must fall from the first to the last");
    }
  return status;
}

/* ---- signals, studies, filters, scenarios ---- */

static bramah_status read_signal(bramah__reader *reader, const bramah__item *item, void *object)
{
  const bramah__key key = {.offset = offsetof(bramah_plan_signal, output)};
  return bramah__read_text(reader, item, &key, object);
}

static const bramah__table signal_table = {.size = sizeof(bramah_plan_signal), .read = read_signal};

static bramah_status read_study(bramah__reader *reader, const bramah__item *item, void *object)
{
  const bramah__key key = {.offset = offsetof(bramah_plan_study, file)};
  return read_path(reader, item, &key, object);
}

static const bramah__table study_table = {.size = sizeof(bramah_plan_study), .read = read_study};

static const bramah__word transitions[] = {{"paper", BRAMAH_TRANSITION_PAPER},
                                           {"paper-exact", BRAMAH_TRANSITION_PAPER_EXACT},
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
    BRAMAH__KEY("machine", read_path, bramah_plan, machine_file, .required = 1),
    CHANGES("changes", bramah_plan, changes),
    BRAMAH__KEY("duration", bramah__read_quantity, bramah_plan, duration, .required = 1, .unit = "s",
                .range = BRAMAH__POSITIVE),
    BRAMAH__KEY("step", bramah__read_quantity, bramah_plan, step, .unit = "s", .range = BRAMAH__POSITIVE),
    BRAMAH__KEY("settle", bramah__read_quantity, bramah_plan, settle, .unit = "s",
                .range = BRAMAH__NOT_NEGATIVE),
    BRAMAH__KEY("seeds", bramah__read_integer, bramah_plan, seeds, .required = 1),
    BRAMAH__KEY("rates", read_rates, bramah_plan, rates, .count_offset = offsetof(bramah_plan, n_rates),
                .table = &rate_table),
    BRAMAH__SECTION("signals", bramah_plan, signals, n_signals, &signal_table, .required = 1),
    BRAMAH__SECTION("studies", bramah_plan, studies, n_studies, &study_table, .required = 1),
    BRAMAH__SECTION("filters", bramah_plan, filters, n_filters, &filter_table, .required = 0),
    BRAMAH__SECTION("scenarios", bramah_plan, scenarios, n_scenarios, &scenario_table, .required = 0),
    {0}};

static const bramah__table plan_table = {.keys = plan_keys, .finish = finish_plan};

static bramah_status read_plan(bramah__reader *reader, bramah_plan *plan)
{
  bramah__node *root;
  bramah_status status = bramah__yaml_load(reader, &root);
  if (status) return status;
  const bramah__item item = {.node = root};
  plan->file = bramah__pool_text(reader->keep, reader->file, strlen(reader->file));
  if (!plan->file) return bramah__no_memory(reader);
  return bramah__read_table(reader, &item, &plan_table, plan);
}

/* tell NULL: the first mistake ends the reading. */
static bramah_status load(const char *path, bramah_mistake tell, void *user, bramah_diag *diag, loaded **out)
{
  loaded *whole = *out = calloc(1, sizeof *whole);
  bramah__reader reader;
  if (!whole) return bramah__fail(diag, BRAMAH_E_MEMORY, NULL, "not enough memory for a plan");
  bramah_status status = bramah__reader_open(&reader, &whole->pool, path, diag);
  reader.draft = whole;
  reader.tell = tell;
  reader.tell_user = user;
  if (!status) status = read_plan(&reader, &whole->plan);
  if (!status && reader.told)
    status = reader.first;
  else if (status && tell && !reader.told)
    tell(user, reader.diag);
  bramah__reader_close(&reader);
  if (status) bramah__plan_free(&whole->plan);
  return status;
}

bramah_status bramah__plan_load(const char *path, bramah_diag *diag, bramah_plan **out)
{
  loaded *whole;
  const bramah_status status = load(path, NULL, NULL, diag, &whole);
  if (!status) *out = &whole->plan;
  return status;
}

void bramah__plan_check(const char *path, bramah_mistake tell, void *user)
{
  loaded *whole;
  bramah_diag diag;
  if (load(path, tell, user, &diag, &whole) == BRAMAH_OK) bramah__plan_free(&whole->plan);
}

void bramah__plan_free(bramah_plan *plan)
{
  loaded *whole = (loaded *)plan;
  if (!whole) return;
  bramah__pool_free(&whole->pool);
  free(whole);
}
