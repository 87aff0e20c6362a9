/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A display file: gauges, plots, scenario and shapes of a machine's display (bramah/display.h). */
#define _GNU_SOURCE /* locale_t */
#include "bramah/display.h"
#include "lib/base/diag.h"
#include "lib/io/machine_file.h"
#include "lib/io/schema.h"
#include "lib/io/session.h"
#include "lib/io/study_file.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void *member(void *object, size_t offset) { return (unsigned char *)object + offset; }

/* ---- values of a gauge: in its unit, which a number alone has ---- */

static bramah_status read_unit(bramah__reader *reader, const bramah__item *item, const bramah__key *key,
                               void *object)
{
  bramah_dimension dimension;
  bramah_gauge *gauge = object;
  const bramah_status status = bramah__read_text(reader, item, key, object);
  if (status) return status;
  if (!bramah_unit_parse(gauge->unit, &gauge->factor, &dimension, reader->diag)) return BRAMAH_OK;
  return bramah__fail_item(reader, item, BRAMAH_E_UNIT, "%s", reader->diag->message);
}

static bramah_status gauge_value(bramah__reader *reader, const bramah__item *item, const bramah__key *key,
                                 const bramah_gauge *gauge, double *out)
{
  bramah__key own = *key;
  bramah__quantity q;
  own.unit = gauge->unit;
  const bramah_status status = bramah__item_quantity(reader, item, &own, own.unit, &q);
  if (!status) *out = !*q.unit && strcmp(own.unit, "%") == 0 ? gauge->factor * q.si : q.si;
  return status;
}

static bramah_status read_scaled(bramah__reader *reader, const bramah__item *item, const bramah__key *key,
                                 void *object)
{
  const bramah_gauge *gauge = object;
  if (!gauge->unit) return BRAMAH_OK; /* that it has none is said */
  return gauge_value(reader, item, key, gauge, member(object, key->offset));
}

static bramah_status read_pair_of(bramah__reader *reader, const bramah__item *item, const bramah__key *key,
                                  void *object)
{
  const bramah_gauge *gauge = object;
  double *out = member(object, key->offset);
  bramah_status status = BRAMAH_OK;
  if (!gauge->unit) return BRAMAH_OK;
  if (item->node->kind != BRAMAH__NODE_LIST || item->node->n != 2)
    return bramah__fail_item(reader, item, BRAMAH_E_SYNTAX, "a list of 2 values is expected");
  for (size_t i = 0; !status && i < 2; i++) {
    const bramah__item element = bramah__item_at(item, i);
    status = gauge_value(reader, &element, key, gauge, &out[i]);
  }
  if (status || out[0] < out[1]) return status;
  return bramah__fail_item(reader, item, BRAMAH_E_VALUE, "the second value must be the larger one");
}

static bramah_status read_marks(bramah__reader *reader, const bramah__item *item, const bramah__key *key,
                                void *object)
{
  bramah_gauge *gauge = object;
  if (!gauge->unit) return BRAMAH_OK;
  if (item->node->kind != BRAMAH__NODE_LIST)
    return bramah__fail_item(reader, item, BRAMAH_E_SYNTAX, "a list of values is expected");
  double *marks = bramah__pool_take(reader->keep, item->node->n, sizeof *marks);
  if (!marks) return bramah__no_memory(reader);
  for (size_t i = 0; i < item->node->n; i++) {
    const bramah__item element = bramah__item_at(item, i);
    const bramah_status status = gauge_value(reader, &element, key, gauge, &marks[i]);
    if (status) return status;
  }
  gauge->n_marks = item->node->n;
  gauge->marks = marks;
  return BRAMAH_OK;
}

/* Of any dimension, which is kept: a scale, or a tank, from which it follows. */
static bramah_status read_scale(bramah__reader *reader, const bramah__item *item, const bramah__key *key,
                                void *object)
{
  bramah_gauge *gauge = object;
  bramah__quantity q;
  const bramah_status status = bramah__item_quantity(reader, item, key, NULL, &q);
  if (status) return status;
  if (q.si == 0.0) return bramah__fail_item(reader, item, BRAMAH_E_VALUE, "a scale must not be zero");
  *(double *)member(object, key->offset) = q.si;
  gauge->scale_dimension = q.dimension;
  if (!(gauge->tank > 0.0)) return BRAMAH_OK;
  gauge->scale = -1.0 / q.si;
  gauge->scale_dimension = (bramah_dimension){(signed char)-q.dimension.m, (signed char)-q.dimension.kg,
                                              (signed char)-q.dimension.s, (signed char)-q.dimension.volt,
                                              (signed char)-q.dimension.rad};
  return BRAMAH_OK;
}

/* A text or a list of them, with their number. */
static bramah_status read_names(bramah__reader *reader, const bramah__item *item, const bramah__key *key,
                                void *object)
{
  return bramah__read_texts(reader, item, key, bramah__read_text, member(object, key->count_offset),
                            member(object, key->offset));
}

static bramah_status read_plots(bramah__reader *reader, const bramah__item *item, const bramah__key *key,
                                void *object)
{
  bramah_display_file *file = object;
  file->plots_line = bramah__item_line(item);
  return bramah__read_texts(reader, item, key, bramah__read_text, &file->n_plots, &file->plots);
}

/* ---- gauges ---- */

static const bramah__word gauge_kinds[] = {{"dial", BRAMAH_GAUGE_DIAL},
                                           {"bar", BRAMAH_GAUGE_BAR},
                                           {"tilt", BRAMAH_GAUGE_TILT},
                                           {"number", BRAMAH_GAUGE_NUMBER},
                                           {"lamp", BRAMAH_GAUGE_LAMP},
                                           {"text", BRAMAH_GAUGE_TEXT},
                                           {NULL, 0}};
static const char a_probability[] = "a probability lies between 0 and 100 %";
static const bramah__word answers[] = {{"no", 0}, {"yes", 1}, {NULL, 0}};

static bramah_status finish_gauge(bramah__reader *reader, const bramah__item *item, void *object)
{
  bramah_gauge *gauge = object;
  bramah__item at;
  const int is_scale = gauge->kind <= BRAMAH_GAUGE_TILT, has_range = gauge->range[0] < gauge->range[1];
  if (!gauge->has_probability) gauge->probability = 0.05;
  if (!gauge->has_most_sigma) gauge->most_sigma = INFINITY;
  if (!gauge->has_below) gauge->below = -INFINITY;
  if (!gauge->has_above) gauge->above = INFINITY;
  if (!gauge->has_filled) gauge->filled = 1.0;
  if (is_scale && gauge->unit && !has_range && !bramah__item_find(item, "range", &at))
    return bramah__fail_missing(reader, item, "range");
  if (gauge->has_probability && !gauge->has_below && !gauge->has_above)
    return bramah__fail_key(reader, item, BRAMAH_E_KEY,
                            "a critical_probability needs critical_below or critical_above");
  if (gauge->kind == BRAMAH_GAUGE_LAMP && !gauge->has_below && !gauge->has_above)
    return bramah__fail_key(reader, item, BRAMAH_E_KEY,
                            "a lamp needs critical_below or critical_above: it shows nothing else");
  if (gauge->has_below && gauge->has_above && !(gauge->below < gauge->above))
    return bramah__fail_key(reader, item, BRAMAH_E_VALUE,
                            "critical_below must be less than critical_above: all values would be critical");
  if (gauge->kind == BRAMAH_GAUGE_TEXT && !gauge->n_texts) return bramah__fail_missing(reader, item, "texts");
  return BRAMAH_OK;
}

#define NAMES(key, type, member_)                                                                            \
  BRAMAH__KEY(key, read_names, type, member_, .count_offset = offsetof(type, n_##member_),                   \
              .shape = BRAMAH__SHAPE_NAMES)
#define IN_UNIT(key, member_, ...)                                                                           \
  BRAMAH__KEY(key, read_scaled, bramah_gauge, member_, .shape = BRAMAH__SHAPE_QUANTITY, __VA_ARGS__)
static const bramah__key gauge_keys[] = {
    BRAMAH__KEY("kind", bramah__read_word, bramah_gauge, kind, .required = 1, .words = gauge_kinds),
    BRAMAH__KEY("output", bramah__read_text, bramah_gauge, output, .required = 1,
                .line = offsetof(bramah_gauge, output_line)),
    BRAMAH__KEY("unit", read_unit, bramah_gauge, unit, .required = 1, .shape = BRAMAH__SHAPE_TEXT),
    BRAMAH__KEY("label", bramah__read_text, bramah_gauge, label, .required = 0),
    BRAMAH__KEY("range", read_pair_of, bramah_gauge, range, .shape = BRAMAH__SHAPE_VECTOR, .count = 2),
    BRAMAH__KEY("recommended", read_pair_of, bramah_gauge, recommended, .shape = BRAMAH__SHAPE_VECTOR,
                .count = 2),
    BRAMAH__KEY("marks", read_marks, bramah_gauge, marks, .shape = BRAMAH__SHAPE_ANYTHING),
    IN_UNIT("critical_below", below, .given = offsetof(bramah_gauge, has_below)),
    IN_UNIT("critical_above", above, .given = offsetof(bramah_gauge, has_above)),
    BRAMAH__KEY("critical_probability", bramah__read_quantity, bramah_gauge, probability, .unit = "1",
                .least = 1e-6, .most = 0.999999, .bounds = a_probability,
                .given = offsetof(bramah_gauge, has_probability)),
    IN_UNIT("uncertain", most_sigma, .range = BRAMAH__POSITIVE,
            .given = offsetof(bramah_gauge, has_most_sigma)),
    NAMES("sensors", bramah_gauge, sensors),
    NAMES("texts", bramah_gauge, texts),
    BRAMAH__KEY("scale", read_scale, bramah_gauge, scale, .shape = BRAMAH__SHAPE_QUANTITY),
    BRAMAH__KEY("tank", read_scale, bramah_gauge, tank, .excludes = "scale", .range = BRAMAH__POSITIVE,
                .shape = BRAMAH__SHAPE_QUANTITY),
    BRAMAH__KEY("filled", bramah__read_quantity, bramah_gauge, filled, .unit = "1", .least = 0.0, .most = 1.0,
                .bounds = "a tank is filled to between 0 and 100 %",
                .given = offsetof(bramah_gauge, has_filled)),
    BRAMAH__KEY("place", bramah__read_pair, bramah_gauge, place, .element = bramah__read_integer,
                .stride = sizeof(int), .least = 1, .most = 12, .bounds = "columns and rows are 1 to 12"),
    BRAMAH__KEY("size", bramah__read_integer, bramah_gauge, size, .least = 1, .most = 3,
                .bounds = "a gauge has the size 1, 2 or 3"),
    BRAMAH__KEY("optional", bramah__read_word, bramah_gauge, is_optional, .words = answers),
    {0}};
static const bramah__table gauge_table = {
    .keys = gauge_keys, .size = sizeof(bramah_gauge), .finish = finish_gauge};

/* ---- scenarios ---- */

static const bramah__word judges[] = {{"estimate", 0}, {"truth", 1}, {NULL, 0}};
static const bramah__word ends[] = {{"yes", 0}, {"no", 1}, {NULL, 0}};

static bramah_status finish_condition(bramah__reader *reader, const bramah__item *item, void *object)
{
  const bramah_scenario_condition *c = object;
  if (c->beyond.text ? !c->above.text && !c->below.text : c->above.text || c->below.text) return BRAMAH_OK;
  return bramah__fail_key(reader, item, BRAMAH_E_KEY,
                          c->beyond.text ? "'beyond' goes alone: it is above a value or below its negative"
                                         : "'above', 'below' or 'beyond' is needed");
}

static const bramah__key condition_keys[] = {
    BRAMAH__KEY("above", bramah__read_value, bramah_scenario_condition, above, .required = 0),
    BRAMAH__KEY("below", bramah__read_value, bramah_scenario_condition, below, .required = 0),
    BRAMAH__KEY("beyond", bramah__read_value, bramah_scenario_condition, beyond, .range = BRAMAH__POSITIVE),
    {0}};
static const bramah__table condition_table = {.keys = condition_keys,
                                              .size = sizeof(bramah_scenario_condition),
                                              .finish = finish_condition,
                                              .names_with_dots = 1};

#define NUMBER(key, type, member_, unit_)                                                                    \
  BRAMAH__KEY(key, bramah__read_quantity, type, member_, .unit = (unit_), .range = BRAMAH__NOT_NEGATIVE)
#define CONDITIONS(key, type, member_, ...)                                                                  \
  BRAMAH__SECTION(key, type, member_, n_##member_, &condition_table, __VA_ARGS__)

static bramah_status finish_task(bramah__reader *reader, const bramah__item *item, void *object)
{
  const bramah_scenario_task *task = object;
  if (!(task->late > 0.0) || task->time_limit > 0.0) return BRAMAH_OK;
  return bramah__fail_key(reader, item, BRAMAH_E_KEY, "'late' costs points beyond a time_limit");
}

static const bramah__key task_keys[] = {
    BRAMAH__KEY("instruction", bramah__read_text, bramah_scenario_task, instruction, .required = 1),
    CONDITIONS("begin", bramah_scenario_task, begin, .required = 0),
    CONDITIONS("end", bramah_scenario_task, end, .required = 1),
    CONDITIONS("forbidden", bramah_scenario_task, forbidden, .required = 0),
    NAMES("after", bramah_scenario_task, after),
    NAMES("gauges", bramah_scenario_task, gauges),
    NUMBER("hold", bramah_scenario_task, hold, "s"),
    NUMBER("time_limit", bramah_scenario_task, time_limit, "s"),
    NUMBER("points", bramah_scenario_task, points, "1"),
    NUMBER("late", bramah_scenario_task, late, "1"),
    {0}};
static const bramah__table task_table = {
    .keys = task_keys, .size = sizeof(bramah_scenario_task), .finish = finish_task};

static bramah_status finish_rule(bramah__reader *reader, const bramah__item *item, void *object)
{
  bramah_scenario_rule *rule = object;
  (void)reader;
  (void)item;
  if (!rule->has_probability) rule->probability = 0.5;
  return BRAMAH_OK;
}

#define RULE_KEYS                                                                                            \
  CONDITIONS("when", bramah_scenario_rule, when, .required = 1),                                             \
      NUMBER("hold", bramah_scenario_rule, hold, "s"),                                                       \
      BRAMAH__KEY("optional", bramah__read_word, bramah_scenario_rule, is_optional, .words = answers)
static const bramah__key penalty_keys[] = {
    RULE_KEYS,
    BRAMAH__KEY("text", bramah__read_text, bramah_scenario_rule, text, .required = 0),
    NUMBER("points", bramah_scenario_rule, points, "1"),
    NUMBER("per_second", bramah_scenario_rule, per_second, "1"),
    BRAMAH__KEY("most", bramah__read_integer, bramah_scenario_rule, most, .required = 0),
    {0}};
static const bramah__key breakdown_keys[] = {
    RULE_KEYS,
    BRAMAH__KEY("message", bramah__read_text, bramah_scenario_rule, text, .required = 1),
    BRAMAH__KEY("probability", bramah__read_quantity, bramah_scenario_rule, probability, .unit = "1",
                .least = 1e-6, .most = 0.999999, .bounds = a_probability,
                .given = offsetof(bramah_scenario_rule, has_probability)),
    BRAMAH__KEY("ends", bramah__read_word, bramah_scenario_rule, goes_on, .words = ends),
    {0}};
static const bramah__table penalty_table = {
    .keys = penalty_keys, .size = sizeof(bramah_scenario_rule), .finish = finish_rule};
static const bramah__table breakdown_table = {
    .keys = breakdown_keys, .size = sizeof(bramah_scenario_rule), .finish = finish_rule};

enum { MOST_PARTS = 64 };

/* A task follows tasks that stand before it: there is no circle. */
static bramah_status finish_after(bramah__reader *reader, const bramah__item *tasks,
                                  const bramah_scenario *scenario, size_t i)
{
  const bramah_scenario_task *task = &scenario->tasks[i];
  const bramah__item at = bramah__item_at(tasks, i);
  bramah__item key;
  for (size_t k = 0; k < task->n_after; k++) {
    const char *names[MOST_PARTS + 1] = {"start"};
    size_t j = 0;
    for (; j < i && strcmp(scenario->tasks[j].name, task->after[k]) != 0; j++)
      names[j + 1] = scenario->tasks[j].name;
    if (j < i || strcmp(task->after[k], "start") == 0) continue;
    bramah__item_find(&at, "after", &key);
    const bramah_status status = bramah__fail_item(reader, &key, BRAMAH_E_REFERENCE,
                                                   "there is no task '%s' before this one", task->after[k]);
    if (status) bramah__add_suggestion(reader->diag, task->after[k], i + 1, names, "");
    return status;
  }
  return BRAMAH_OK;
}

static bramah_status finish_scenario(bramah__reader *reader, const bramah__item *item, void *object)
{
  bramah_scenario *scenario = object;
  bramah_status status = BRAMAH_OK;
  bramah__item tasks;
  scenario->line = bramah__item_line(item);
  if (!scenario->has_confidence) scenario->confidence = 0.95;
  if (!bramah__item_find(item, "tasks", &tasks)) return BRAMAH_OK; /* that it has none is said */
  if (scenario->n_tasks > MOST_PARTS || scenario->n_penalties > MOST_PARTS ||
      scenario->n_breakdowns > MOST_PARTS)
    return bramah__fail_key(reader, item, BRAMAH_E_VALUE,
                            "a scenario has at most %d tasks, penalties and breakdowns each",
                            (int)MOST_PARTS);
  for (size_t i = 0; !status && i < scenario->n_tasks; i++)
    status = finish_after(reader, &tasks, scenario, i);
  return status;
}

static const bramah__key scenario_keys[] = {
    BRAMAH__KEY("title", bramah__read_text, bramah_scenario, title, .required = 0),
    BRAMAH__KEY("judge_by", bramah__read_word, bramah_scenario, by_truth, .words = judges),
    BRAMAH__KEY("confidence", bramah__read_quantity, bramah_scenario, confidence, .unit = "1", .least = 0.5,
                .most = 0.999999, .bounds = "what counts is so with 50 to 99.9999 %",
                .given = offsetof(bramah_scenario, has_confidence)),
    NUMBER("time_limit", bramah_scenario, time_limit, "s"),
    BRAMAH__SECTION("tasks", bramah_scenario, tasks, n_tasks, &task_table, .required = 1),
    BRAMAH__SECTION("penalties", bramah_scenario, penalties, n_penalties, &penalty_table, .required = 0),
    BRAMAH__SECTION("breakdowns", bramah_scenario, breakdowns, n_breakdowns, &breakdown_table, .required = 0),
    {0}};
static const bramah__table scenario_table = {
    .keys = scenario_keys, .size = sizeof(bramah_scenario), .finish = finish_scenario};

/* ---- shapes, as those of a machine's bodies but for drawing only ---- */

static const bramah__key shape_list = {.name = "shapes",
                                       .read = bramah__read_list,
                                       .offset = offsetof(bramah_display_body, shapes),
                                       .count_offset = offsetof(bramah_display_body, n_shapes),
                                       .table = &bramah__shape_table};
static const bramah__table drawn_table = {
    .size = sizeof(bramah_display_body), .names_with_dots = 1, .value = &shape_list};

/* ---- levers ---- */

static bramah_status read_keys(bramah__reader *reader, const bramah__item *item, const bramah__key *key,
                               void *object)
{
  bramah_display_lever *lever = object;
  const bramah_status status =
      bramah__read_texts(reader, item, key, bramah__read_text, &lever->n_keys, &lever->keys);
  if (status || lever->n_keys == 2) return status;
  return bramah__fail_item(reader, item, BRAMAH_E_VALUE, "two keys are expected: for less and for more");
}

static bramah_status finish_lever(bramah__reader *reader, const bramah__item *item, void *object)
{
  const bramah_display_lever *lever = object;
  const double low = lever->range[0], high = lever->range[1];
  if (!(low < high))
    return bramah__fail_key(reader, item, BRAMAH_E_VALUE,
                            "the second value of the range must be the larger one");
  if (lever->neutral < low || lever->neutral > high)
    return bramah__fail_key(reader, item, BRAMAH_E_VALUE, "the neutral position lies outside the range");
  if (!lever->n_keys && !lever->stick)
    return bramah__fail_key(reader, item, BRAMAH_E_KEY, "a lever needs keys or a stick");
  return BRAMAH_OK;
}

static const bramah__word sticks[] = {{"left_x", 1},    {"left_y", 2},    {"right_x", 3},
                                      {"right_y", 4},   {"-left_x", -1},  {"-left_y", -2},
                                      {"-right_x", -3}, {"-right_y", -4}, {NULL, 0}};
static const bramah__key lever_keys[] = {
    BRAMAH__KEY("label", bramah__read_text, bramah_display_lever, label, .required = 0),
    BRAMAH__KEY("range", bramah__read_pair, bramah_display_lever, range, .required = 1, .unit = "V",
                .element = bramah__read_quantity, .stride = sizeof(double)),
    BRAMAH__KEY("neutral", bramah__read_quantity, bramah_display_lever, neutral, .unit = "V"),
    BRAMAH__KEY("keys", read_keys, bramah_display_lever, keys, .shape = BRAMAH__SHAPE_NAMES),
    BRAMAH__KEY("stick", bramah__read_word, bramah_display_lever, stick, .words = sticks),
    BRAMAH__KEY("held", bramah__read_word, bramah_display_lever, is_held, .words = answers),
    BRAMAH__KEY("step", bramah__read_quantity, bramah_display_lever, step, .unit = "V",
                .range = BRAMAH__POSITIVE),
    {0}};
static const bramah__table lever_table = {
    .keys = lever_keys, .size = sizeof(bramah_display_lever), .finish = finish_lever};

static const bramah__key display_keys[] = {
    BRAMAH__KEY("display", bramah__read_text, bramah_display_file, title, .required = 1),
    BRAMAH__SECTION("gauges", bramah_display_file, gauges, n_gauges, &gauge_table, .required = 1),
    BRAMAH__KEY("plots", read_plots, bramah_display_file, plots, .shape = BRAMAH__SHAPE_NAMES),
    BRAMAH__KEY("scenario", bramah__read_child, bramah_display_file, scenario, .table = &scenario_table),
    BRAMAH__SECTION("shapes", bramah_display_file, bodies, n_bodies, &drawn_table, .required = 0),
    BRAMAH__SECTION("drive", bramah_display_file, levers, n_levers, &lever_table, .required = 0),
    {0}};

const bramah__table bramah__display_table = {.keys = display_keys};

const bramah__file_of bramah__display_file = {"display", &bramah__display_table, sizeof(bramah_display_file),
                                              offsetof(bramah_display_file, file), NULL};

bramah_status bramah_display_load(const char *path, bramah_diag *diag, bramah_display_file **out)
{
  void *display = NULL;
  const bramah_status status = bramah__read_file_of(path, &bramah__display_file, NULL, NULL, diag, &display);
  if (!status) *out = display;
  return status;
}

void bramah_display_file_free(bramah_display_file *display) { bramah__file_free(display); }
