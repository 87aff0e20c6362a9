/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE /* locale_t */
#include "bramah/plan.h"
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

/* The count stands at key->count_offset. */
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

static bramah_status read_reference(bramah__reader *reader, const bramah__item *item, const bramah__key *key,
                                    void *object)
{
  static const bramah__key text = {.offset = offsetof(bramah_plan_name, name)};
  bramah_plan_name *name = at(object, key->offset);
  name->line = item->node->line;
  name->column = item->node->column;
  return bramah__read_name(reader, item, &text, name);
}

static bramah_status read_reference_element(bramah__reader *reader, const bramah__item *item, void *object)
{
  return read_reference(reader, item, &(bramah__key){0}, object);
}

static const bramah__table name_table = {.size = sizeof(bramah_plan_name), .read = read_reference_element};

/* ---- rates ---- */

static const bramah__key rate_key = {.name = "rate", .unit = "Hz", .range = BRAMAH__POSITIVE};

static bramah_status read_rate(bramah__reader *reader, const bramah__item *item, void *object)
{
  return bramah__read_quantity(reader, item, &rate_key, object);
}

static const bramah__table rate_table = {.size = sizeof(double), .read = read_rate};

/* In falling order: tables and findings go down them. */
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

/* ---- findings ---- */

static const bramah__word finding_kinds[] = {
    {"best-study", BRAMAH_FINDING_BEST_STUDY},       {"falls-with-rate", BRAMAH_FINDING_FALLS_WITH_RATE},
    {"as-good-as", BRAMAH_FINDING_AS_GOOD_AS},       {"saw-tooth", BRAMAH_FINDING_SAW_TOOTH},
    {"better-filter", BRAMAH_FINDING_BETTER_FILTER}, {NULL, 0}};

#define FINDING_KEYS                                                                                         \
  BRAMAH__KEY("type", bramah__read_word, bramah_plan_finding, kind, .required = 1, .words = finding_kinds),  \
      BRAMAH__KEY("signals", bramah__read_list, bramah_plan_finding, signals,                                \
                  .count_offset = offsetof(bramah_plan_finding, n_signals), .table = &name_table),           \
      BRAMAH__KEY("scenarios", bramah__read_list, bramah_plan_finding, scenarios,                            \
                  .count_offset = offsetof(bramah_plan_finding, n_scenarios), .table = &name_table)

#define FINDING_NAME(key) BRAMAH__KEY(#key, read_reference, bramah_plan_finding, key, .required = 1)

#define FINDING_RATE(need)                                                                                   \
  BRAMAH__KEY("rate", bramah__read_quantity, bramah_plan_finding, rate, .required = (need), .unit = "Hz",    \
              .range = BRAMAH__POSITIVE)

static const bramah__key best_study_keys[] = {FINDING_KEYS, FINDING_NAME(study), FINDING_RATE(0), {0}};
static const bramah__key falls_keys[] = {FINDING_KEYS, {0}};
static const bramah__key as_good_as_keys[] = {FINDING_KEYS,
                                              FINDING_NAME(study),
                                              FINDING_NAME(reference),
                                              FINDING_RATE(0),
                                              BRAMAH__KEY("within", bramah__read_quantity,
                                                          bramah_plan_finding, within, .unit = "1",
                                                          .range = BRAMAH__NOT_NEGATIVE),
                                              {0}};
static const bramah__key saw_tooth_keys[] = {FINDING_KEYS,
                                             FINDING_RATE(1),
                                             BRAMAH__KEY("least", bramah__read_quantity, bramah_plan_finding,
                                                         least, .unit = "1", .range = BRAMAH__POSITIVE),
                                             {0}};
static const bramah__key better_filter_keys[] = {
    FINDING_KEYS, FINDING_NAME(filter), FINDING_NAME(reference), FINDING_RATE(0), {0}};

static const bramah__table finding_tables[] = {[BRAMAH_FINDING_BEST_STUDY] = {.keys = best_study_keys},
                                               [BRAMAH_FINDING_FALLS_WITH_RATE] = {.keys = falls_keys},
                                               [BRAMAH_FINDING_AS_GOOD_AS] = {.keys = as_good_as_keys},
                                               [BRAMAH_FINDING_SAW_TOOTH] = {.keys = saw_tooth_keys},
                                               [BRAMAH_FINDING_BETTER_FILTER] = {.keys = better_filter_keys}};

/* The type decides which keys are allowed. */
static bramah_status read_finding(bramah__reader *reader, const bramah__item *item, void *object)
{
  static const bramah__key type_key = {.name = "type",
                                       .read = bramah__read_word,
                                       .offset = offsetof(bramah_plan_finding, kind),
                                       .words = finding_kinds};
  bramah_plan_finding *finding = object;
  bramah__item type;
  if (item->node->kind != BRAMAH__NODE_MAPPING)
    return bramah__fail_item(reader, item, BRAMAH_E_SYNTAX,
                             "keys and values ('key: value') are expected here");
  if (!bramah__item_find(item, "type", &type)) return bramah__fail_missing(reader, item, "type");
  const bramah_status status = bramah__read_word(reader, &type, &type_key, object);
  if (status) return status;
  finding->within = 0.1;
  finding->least = 1.1;
  return bramah__read_table(reader, item, &finding_tables[finding->kind], object);
}

static const bramah__table finding_table = {.size = sizeof(bramah_plan_finding), .read = read_finding};

/* ---- names the findings refer to ---- */

/* Elements of a section begin with their name. */
static bramah_status check_name(bramah__reader *reader, const bramah_plan_finding *finding,
                                const bramah_plan_name *name, const char *what, size_t n,
                                const void *elements, size_t size)
{
  const char *names[64];
  size_t known = 0;
  if (!name->name) return BRAMAH_OK;
  for (size_t i = 0; i < n; i++) {
    const bramah__named *element = (const void *)((const unsigned char *)elements + i * size);
    if (strcmp(element->name, name->name) == 0) return BRAMAH_OK;
    if (known < sizeof names / sizeof names[0]) names[known++] = element->name;
  }
  bramah__fail(reader->diag, BRAMAH_E_REFERENCE, finding->name, "the plan has no ");
  bramah__add_text(reader->diag, what);
  bramah__add_text(reader->diag, " '");
  bramah__add_text(reader->diag, name->name);
  bramah__add_text(reader->diag, "'");
  if (known) bramah__add_suggestion(reader->diag, name->name, known, names, "; it has ");
  return bramah__at(reader->diag, file_of(reader), name->line, name->column);
}

static bramah_status check_rate(bramah__reader *reader, const bramah_plan *plan,
                                const bramah_plan_finding *finding)
{
  if (finding->rate == 0.0) return BRAMAH_OK;
  for (size_t i = 0; i < plan->n_rates; i++)
    if (plan->rates[i] == finding->rate) return BRAMAH_OK;
  bramah__fail(reader->diag, BRAMAH_E_REFERENCE, finding->name, "its rate is none of the plan's 'rates'");
  return bramah__at(reader->diag, file_of(reader), finding->line, 0);
}

static bramah_status check_finding(bramah__reader *reader, const bramah_plan *plan,
                                   const bramah_plan_finding *f)
{
  const int filters = f->kind == BRAMAH_FINDING_BETTER_FILTER;
  bramah_status status =
      check_name(reader, f, &f->study, "study", plan->n_studies, plan->studies, sizeof *plan->studies);
  if (!status)
    status =
        check_name(reader, f, &f->filter, "filter", plan->n_filters, plan->filters, sizeof *plan->filters);
  if (!status && filters)
    status =
        check_name(reader, f, &f->reference, "filter", plan->n_filters, plan->filters, sizeof *plan->filters);
  if (!status && !filters)
    status =
        check_name(reader, f, &f->reference, "study", plan->n_studies, plan->studies, sizeof *plan->studies);
  for (size_t i = 0; !status && i < f->n_signals; i++)
    status = check_name(reader, f, &f->signals[i], "signal", plan->n_signals, plan->signals,
                        sizeof *plan->signals);
  for (size_t i = 0; !status && i < f->n_scenarios; i++)
    status = check_name(reader, f, &f->scenarios[i], "scenario", plan->n_scenarios, plan->scenarios,
                        sizeof *plan->scenarios);
  return status ? status : check_rate(reader, plan, f);
}

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
  bramah_status status = BRAMAH_OK;
  for (size_t i = 0; !status && i < plan->n_findings; i++)
    status = check_finding(reader, plan, &plan->findings[i]);
  return status;
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
    BRAMAH__SECTION("findings", bramah_plan, findings, n_findings, &finding_table, .required = 0),
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

bramah_status bramah_plan_load(const char *path, bramah_diag *diag, bramah_plan **out)
{
  loaded *whole = calloc(1, sizeof *whole);
  bramah__reader reader;
  if (!whole) return bramah__fail(diag, BRAMAH_E_MEMORY, NULL, "not enough memory for a plan");
  bramah_status status = bramah__reader_open(&reader, &whole->pool, path, diag);
  reader.draft = whole;
  if (!status) status = read_plan(&reader, &whole->plan);
  bramah__reader_close(&reader);
  if (status)
    bramah_plan_free(&whole->plan);
  else
    *out = &whole->plan;
  return status;
}

void bramah_plan_free(bramah_plan *plan)
{
  loaded *whole = (loaded *)plan;
  if (!whole) return;
  bramah__pool_free(&whole->pool);
  free(whole);
}
