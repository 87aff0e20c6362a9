/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The scenario of a display file bound to outputs and gauges, its memory, and its texts. */
#define _GNU_SOURCE /* lib/io/yaml.h */
#include "lib/assess/assess_internal.h"
#include "lib/base/arena.h"
#include "lib/base/diag.h"
#include "lib/display/scenario.h"
#include "lib/io/fail.h"
#include "lib/io/session.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- binding ---- */

typedef struct binder {
  bramah__scenario *s;
  const bramah_display_file *file;
  const size_t *gauge; /* [n_gauges of the file] bound as; SIZE_MAX: left out */
  bramah_diag *diag;
  int missing; /* an output was not there */
} binder;

static const char *keep_text(binder *b, const char *text)
{
  return text ? bramah__pool_text(&b->s->pool, text, strlen(text)) : NULL;
}

static size_t use(bramah__scenario *s, size_t output)
{
  for (size_t k = 0; k < s->n_used; k++)
    if (s->used[k] == output) return k;
  s->used[s->n_used] = output;
  return s->n_used++;
}

/* An output of the machine, or a gauge. */
static bramah_status find(binder *b, const bramah_scenario_condition *of, const char *thing,
                          bramah__limit *out, const char **unit)
{
  const bramah_display *display = b->s->display;
  const bramah_assess *a = display->assess;
  *out = (bramah__limit){.scale = 1.0};
  for (size_t k = 0; k < a->n_outputs; k++) {
    if (strcmp(a->outputs[k].name, of->name) != 0) continue;
    *unit = a->outputs[k].unit;
    out->used = use(b->s, k);
    return BRAMAH_OK;
  }
  for (size_t g = 0; g < b->file->n_gauges; g++) {
    if (strcmp(b->file->gauges[g].name, of->name) != 0) continue;
    if (b->gauge[g] == SIZE_MAX) break;
    const bramah__bound_gauge *gauge = &display->gauge[b->gauge[g]];
    *unit = b->file->gauges[g].unit;
    *out = (bramah__limit){.used = use(b->s, gauge->output), .offset = gauge->offset, .scale = gauge->scale};
    return BRAMAH_OK;
  }
  const char **names = calloc(a->n_outputs + b->file->n_gauges + 1, sizeof *names);
  for (size_t k = 0; names && k < a->n_outputs; k++) names[k] = a->outputs[k].name;
  for (size_t g = 0; names && g < b->file->n_gauges; g++) names[a->n_outputs + g] = b->file->gauges[g].name;
  b->missing = 1;
  bramah__failf(b->diag, BRAMAH_E_REFERENCE, b->file->file, of->line, thing,
                "there is no output or gauge '%s'", of->name);
  bramah__add_suggestion(b->diag, of->name, names ? a->n_outputs + b->file->n_gauges : 0, names, "");
  free(names);
  return BRAMAH_E_REFERENCE;
}

static bramah_status bind_limit(binder *b, const bramah_scenario_condition *of, const char thing[120],
                                bramah__limit *out)
{
  const char *unit = "";
  bramah_status status = find(b, of, thing, out, &unit);
  if (status) return status;
  const bramah_study_value *values[3] = {&of->above, &of->below, &of->beyond};
  double si[3] = {-INFINITY, INFINITY, INFINITY};
  for (int k = 0; k < 3; k++) {
    if (!values[k]->text) continue;
    status = bramah__study_value_get(values[k], *unit ? unit : "1", &si[k], b->diag);
    if (!status) continue;
    bramah__place(b->diag, b->file->file, values[k]->line);
    b->diag->column = values[k]->column;
    snprintf(b->diag->thing, sizeof b->diag->thing, "%s.%s", thing, of->name);
    return status;
  }
  out->is_outside = of->beyond.text != NULL;
  out->least = out->is_outside ? -si[2] : si[0];
  out->most = out->is_outside ? si[2] : si[1];
  if (out->least <= out->most) return BRAMAH_OK;
  return bramah__failf(b->diag, BRAMAH_E_VALUE, b->file->file, of->line, thing,
                       "'%s' cannot be above the one and below the other value", of->name);
}

static bramah_status bind_limits(binder *b, size_t n, const bramah_scenario_condition *from,
                                 const char *thing, const char *section, bramah__limits *out)
{
  const bramah_assess *a = b->s->display->assess;
  char place[120];
  bramah__limit *list = bramah__pool_take(&b->s->pool, n, sizeof *list);
  bramah_status status = list ? BRAMAH_OK : bramah__fail_memory(b->diag);
  snprintf(place, sizeof place, "scenario.%s.%s", thing, section);
  *out = (bramah__limits){.n = n, .of = list};
  for (size_t i = 0; !status && i < n; i++) {
    status = bind_limit(b, &from[i], place, &list[i]);
    if (status) break;
    const bramah_assess_output *of = &a->outputs[b->s->used[list[i].used]];
    const char *end = strrchr(of->name, '.');
    out->is_unsure |= !of->has_sigma && !(end && strcmp(end, ".command") == 0);
  }
  return status;
}

static bramah_status bind_after(binder *b, const bramah_scenario_task *from, size_t i, bramah__task *out)
{
  size_t *after = bramah__pool_take(&b->s->pool, from->n_after + 1, sizeof *after);
  if (!after) return bramah__fail_memory(b->diag);
  out->after = after;
  if (!from->n_after && i) after[out->n_after++] = i - 1;
  for (size_t k = 0; k < from->n_after; k++)
    for (size_t j = 0; j < i; j++)
      if (strcmp(b->s->task[j].name, from->after[k]) == 0) after[out->n_after++] = j;
  return BRAMAH_OK;
}

static int64_t to_ns(double s) { return (int64_t)llround(1e9 * fmin(s, 1e9)); }

static bramah_status bind_task(binder *b, const bramah_scenario_task *from, size_t i)
{
  bramah__task *out = &b->s->task[i];
  *out = (bramah__task){.name = keep_text(b, from->name),
                        .instruction = keep_text(b, from->instruction),
                        .hold_ns = to_ns(from->hold),
                        .most_ns = to_ns(from->time_limit),
                        .points = from->points,
                        .late = from->late};
  if (!out->name || !out->instruction) return bramah__fail_memory(b->diag);
  b->s->most += from->points;
  bramah_status status = bind_limits(b, from->n_begin, from->begin, from->name, "begin", &out->begin);
  if (!status) status = bind_limits(b, from->n_end, from->end, from->name, "end", &out->end);
  if (!status)
    status = bind_limits(b, from->n_forbidden, from->forbidden, from->name, "forbidden", &out->forbidden);
  return status ? status : bind_after(b, from, i, out);
}

static bramah_status bind_rules(binder *b, size_t n, const bramah_scenario_rule *from, int is_breakdown)
{
  bramah_status status = BRAMAH_OK;
  for (size_t i = 0; !status && i < n; i++) {
    bramah__rule *out = &b->s->rule[b->s->n_rules];
    *out = (bramah__rule){.name = keep_text(b, from[i].name),
                          .text = keep_text(b, from[i].text ? from[i].text : from[i].name),
                          .hold_ns = to_ns(from[i].hold),
                          .points = from[i].points,
                          .per_second = from[i].per_second,
                          .probability = from[i].probability,
                          .most = (uint64_t)from[i].most,
                          .is_breakdown = is_breakdown,
                          .goes_on = from[i].goes_on};
    if (!out->name || !out->text) return bramah__fail_memory(b->diag);
    b->missing = 0;
    status = bind_limits(b, from[i].n_when, from[i].when, from[i].name, "when", &out->when);
    b->s->n_rules += !status;
    if (status && b->missing && from[i].is_optional) status = BRAMAH_OK, bramah_diag_clear(b->diag);
  }
  return status;
}

/* ---- its memory ---- */

static const bramah__watch not_watched = {INT64_MIN, INT64_MIN, 0.0, 0.0, 0.0};

/* What changes, in one piece. */
static void lay_out(bramah__scenario *s, bramah__arena *arena)
{
  const bramah_display *d = s->display;
  for (int k = 0; k < 2; k++)
    s->course[k] = (bramah__course){.at = BRAMAH__TAKE(arena, bramah__course_state, 1),
                                    .task = BRAMAH__TAKE(arena, bramah__task_state, s->n_tasks),
                                    .rule = BRAMAH__TAKE(arena, bramah__rule_state, s->n_rules)};
  s->looks.next_ns = BRAMAH__TAKE(arena, int64_t, 1);
  s->looks.sensor = BRAMAH__TAKE(arena, bramah__watched_sensor, d->n_sensors);
  s->looks.critical = BRAMAH__TAKE(arena, unsigned char, d->n_gauges);
  s->looks.lost = BRAMAH__TAKE(arena, unsigned char, d->n_sensors);
}

static bramah_status begin(bramah__scenario *s, bramah_diag *diag)
{
  bramah__arena arena = bramah__arena_make(NULL, 0);
  lay_out(s, &arena);
  s->state_size = arena.used;
  const bramah_status status = bramah__arena_new("scenario", arena.used, &arena, diag);
  if (status) return status;
  s->state = arena.base;
  lay_out(s, &arena);
  *s->looks.next_ns = INT64_MIN;
  bramah_display_begin_anew(s->display);
  return BRAMAH_OK;
}

void bramah_display_begin_anew(bramah_display *display)
{
  bramah__scenario *s = display->scenario;
  for (int k = 0; s && k < 2; k++) {
    *s->course[k].at = (bramah__course_state){0};
    for (size_t i = 0; i < s->n_tasks; i++)
      s->course[k].task[i] =
          (bramah__task_state){.begun_ns = INT64_MIN, .ended_ns = INT64_MIN, .watch = not_watched};
    for (size_t i = 0; i < s->n_rules; i++)
      s->course[k].rule[i] =
          (bramah__rule_state){.first_ns = INT64_MIN, .since_ns = INT64_MIN, .watch = not_watched};
  }
}

bramah_status bramah__scenario_results_new(const bramah__scenario *s, bramah_scenario_result *out,
                                           bramah_diag *diag)
{
  *out = (bramah_scenario_result){.most = s->most,
                                  .n_tasks = s->n_tasks,
                                  .n_penalties = s->n_penalties,
                                  .n_breakdowns = s->n_rules - s->n_penalties,
                                  .task = calloc(s->n_tasks, sizeof *out->task),
                                  .penalty = calloc(s->n_rules + 1, sizeof *out->penalty)};
  if (!out->task || !out->penalty) return bramah__fail_memory(diag);
  out->breakdown = out->penalty + s->n_penalties;
  return BRAMAH_OK;
}

void bramah__scenario_results_free(bramah_scenario_result *results)
{
  free(results->task);
  free(results->penalty);
}

/* Is the truth known of all that is asked for? Commands are known anyway. */
static int knows_truth(const bramah__scenario *s)
{
  const bramah_assess *a = s->display->assess;
  int known = a->options.truth != NULL;
  for (size_t k = 0; k < s->n_used; k++)
    known &= a->outputs[s->used[k]].has_truth || !a->outputs[s->used[k]].has_sigma;
  return known;
}

/* Room for all that one file can ask for. */
static bramah_status take_room(bramah__scenario *s, const bramah_scenario *from, bramah_diag *diag)
{
  const bramah_display *d = s->display;
  const size_t n_rules = from->n_penalties + from->n_breakdowns;
  s->task = bramah__pool_take(&s->pool, from->n_tasks, sizeof *s->task);
  s->rule = bramah__pool_take(&s->pool, n_rules, sizeof *s->rule);
  s->used = bramah__pool_take(&s->pool, d->assess->n_outputs, sizeof *s->used);
  s->value = bramah__pool_take(&s->pool, d->assess->n_outputs, sizeof *s->value);
  s->sigma = bramah__pool_take(&s->pool, d->assess->n_outputs, sizeof *s->sigma);
  s->shown = bramah__pool_take(&s->pool, 3 * from->n_tasks + 2 * n_rules + d->n_gauges + d->n_sensors + 4,
                               sizeof *s->shown);
  return s->task && s->rule && s->used && s->value && s->sigma && s->shown ? BRAMAH_OK
                                                                           : bramah__fail_memory(diag);
}

bramah_status bramah__scenario_new(bramah_display *display, const bramah_display_file *file,
                                   const size_t *gauge, bramah_diag *diag)
{
  const bramah_scenario *from = &file->scenario;
  bramah__scenario *s = display->scenario = calloc(1, sizeof *s);
  if (!s) return bramah__fail_memory(diag);
  binder b = {s, file, gauge, diag, 0};
  *s = (bramah__scenario){.display = display,
                          .confidence = from->confidence,
                          .most_ns = to_ns(from->time_limit),
                          .by_truth = from->by_truth};
  bramah_status status = take_room(s, from, diag);
  for (; !status && s->n_tasks < from->n_tasks; s->n_tasks += !status)
    status = bind_task(&b, &from->tasks[s->n_tasks], s->n_tasks);
  if (!status) status = bind_rules(&b, from->n_penalties, from->penalties, 0);
  s->n_penalties = s->n_rules;
  if (!status) status = bind_rules(&b, from->n_breakdowns, from->breakdowns, 1);
  if (!status) s->has_truth = knows_truth(s);
  if (!status) status = begin(s, diag);
  for (int k = 0; !status && k < 2; k++) status = bramah__scenario_results_new(s, &s->result[k], diag);
  if (status) return status;
  bramah__assess_carry(display->assess,
                       &(bramah__passenger){bramah__scenario_step, s, s->state, s->state_size});
  return BRAMAH_OK;
}

bramah_status bramah_display_simulated(bramah_display *display, const bramah_simulation *simulation,
                                       const bramah_plant *plant, bramah_diag *diag)
{
  bramah__scenario *s = display->scenario;
  if (!s) return BRAMAH_OK;
  s->output = bramah__pool_take(&s->pool, s->n_used, sizeof *s->output);
  for (int k = 0; k < 2; k++) s->row[k] = bramah__pool_take(&s->pool, s->n_used, sizeof *s->row[k]);
  if (!s->output || !s->row[0] || !s->row[1]) return bramah__fail_memory(diag);
  for (size_t k = 0; k < s->n_used; k++) {
    const long found = bramah_plant_find_output(plant, display->assess->outputs[s->used[k]].name);
    if (found < 0) return BRAMAH_OK; /* the machine that is simulated is another one */
    s->output[k] = (size_t)found;
  }
  s->simulation = simulation;
  s->simulated = plant;
  s->row_ns[0] = s->row_ns[1] = INT64_MIN;
  s->has_truth = 1;
  return BRAMAH_OK;
}

void bramah__scenario_free(bramah__scenario *s)
{
  if (!s) return;
  bramah__assess_carry(s->display->assess, &(bramah__passenger){NULL, NULL, NULL, 0});
  for (int k = 0; k < 2; k++) bramah__scenario_results_free(&s->result[k]);
  bramah__aligned_free(s->state);
  bramah__pool_free(&s->pool);
  free(s);
}

/* ---- texts ---- */

static void put_rules(bramah__json *json, const char *name, size_t n, const bramah__rule *rules)
{
  bramah__json_open(json, name, '[');
  for (size_t i = 0; i < n; i++) {
    bramah__json_open(json, NULL, '{');
    bramah__json_text(json, "name", rules[i].name);
    bramah__json_text(json, "text", rules[i].text);
    bramah__json_close(json, '}');
  }
  bramah__json_close(json, ']');
}

static bramah_status put_gauges(bramah__json *json, const bramah_display_file *file, const size_t *gauge,
                                const bramah_scenario_task *of, bramah_diag *diag)
{
  bramah__json_open(json, "gauges", '[');
  for (size_t k = 0; k < of->n_gauges; k++) {
    const char *names[64];
    size_t g = 0;
    for (; g < file->n_gauges && strcmp(file->gauges[g].name, of->gauges[k]) != 0; g++)
      if (g < 64) names[g] = file->gauges[g].name;
    if (g == file->n_gauges) {
      bramah__failf(diag, BRAMAH_E_REFERENCE, file->file, of->line, of->name, "there is no gauge '%s'",
                    of->gauges[k]);
      bramah__add_suggestion(diag, of->gauges[k], g < 64 ? g : 64, names, "");
      return BRAMAH_E_REFERENCE;
    }
    if (gauge[g] != SIZE_MAX) bramah__json_number(json, NULL, (double)gauge[g]);
  }
  bramah__json_close(json, ']');
  return BRAMAH_OK;
}

bramah_status bramah__scenario_describe(const bramah__scenario *s, const bramah_display_file *file,
                                        const size_t *gauge, bramah__json *json, bramah_diag *diag)
{
  const bramah_scenario *from = &file->scenario;
  bramah_status status = BRAMAH_OK;
  bramah__json_open(json, "scenario", '{');
  bramah__json_text(json, "title", from->title ? from->title : file->title);
  bramah__json_number(json, "confidence", s->confidence);
  bramah__json_number(json, "most", s->most);
  bramah__json_open(json, "tasks", '[');
  for (size_t i = 0; !status && i < s->n_tasks; i++) {
    bramah__json_open(json, NULL, '{');
    bramah__json_text(json, "name", s->task[i].name);
    bramah__json_text(json, "instruction", s->task[i].instruction);
    bramah__json_number(json, "points", s->task[i].points);
    bramah__json_number(json, "hold", bramah__seconds(s->task[i].hold_ns));
    status = put_gauges(json, file, gauge, &from->tasks[i], diag);
    bramah__json_close(json, '}');
  }
  bramah__json_close(json, ']');
  put_rules(json, "penalties", s->n_penalties, s->rule);
  put_rules(json, "breakdowns", s->n_rules - s->n_penalties, s->rule + s->n_penalties);
  bramah__json_close(json, '}');
  return status;
}

size_t bramah__scenario_text_size(const bramah__scenario *s)
{
  return s ? 320 + 160 * (s->n_tasks + s->n_rules) : 0;
}

static void put_results(bramah__json *json, const char *name, size_t n, const bramah_rule_result *results)
{
  bramah__json_open(json, name, '[');
  for (size_t i = 0; i < n; i++) {
    bramah__json_open(json, NULL, '{');
    bramah__json_number(json, "on", results[i].is_on);
    bramah__json_number(json, "times", (double)results[i].times);
    bramah__json_number(json, "since", results[i].since);
    bramah__json_number(json, "now", results[i].now);
    bramah__json_number(json, "lost", results[i].lost);
    bramah__json_close(json, '}');
  }
  bramah__json_close(json, ']');
}

void bramah__scenario_text(const bramah_scenario_result *result, bramah__json *json)
{
  static const char *const states[] = {"runs", "over", "late", "broken"};
  static const char *const of_tasks[] = {"waiting", "active", "done", "failed"};
  bramah__json_open(json, "scenario", '{');
  bramah__json_text(json, "judge", result->judge == BRAMAH_JUDGE_TRUTH ? "truth" : "estimate");
  bramah__json_text(json, "is", states[result->is]);
  bramah__json_number(json, "left", result->left);
  bramah__json_number(json, "ended", result->ended);
  bramah__json_number(json, "score", result->score);
  bramah__json_number(json, "expected", result->expected);
  bramah__json_number(json, "sigma", result->sigma);
  bramah__json_open(json, "tasks", '[');
  for (size_t i = 0; i < result->n_tasks; i++) {
    const bramah_task_result *of = &result->task[i];
    bramah__json_open(json, NULL, '{');
    bramah__json_text(json, "is", of_tasks[of->is]);
    if (of->is == BRAMAH_TASK_ACTIVE) bramah__json_number(json, "now", of->now);
    if (of->is == BRAMAH_TASK_ACTIVE) bramah__json_number(json, "left", of->left);
    if (of->is >= BRAMAH_TASK_DONE) bramah__json_number(json, "ended", of->ended);
    bramah__json_number(json, "sure", of->sure);
    bramah__json_number(json, "lost", of->lost);
    bramah__json_close(json, '}');
  }
  bramah__json_close(json, ']');
  put_results(json, "penalties", result->n_penalties, result->penalty);
  put_results(json, "breakdowns", result->n_breakdowns, result->breakdown);
  bramah__json_close(json, '}');
}
