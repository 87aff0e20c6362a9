/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A scenario: tasks, penalties and breakdowns bound to outputs, followed estimate by estimate, and what it came to. All that
 * changes is one piece of memory, which goes into snapshots of the assessment. */
#define _GNU_SOURCE /* lib/io/yaml.h */
#include "lib/assess/assess_internal.h"
#include "lib/base/diag.h"
#include "lib/display/display_parts.h"
#include "lib/io/fail.h"
#include "lib/io/session.h"
#include "lib/io/yaml.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- as bound ---- */

/* offset + scale x value lies between `least` and `most`, or outside of them. */
typedef struct limit {
  size_t used; /* place in the list of outputs that are used */
  double offset, scale, least, most;
  int is_outside;
} limit;

typedef struct limits {
  size_t n;
  const limit *of; /* [n] all hold */
  int is_unsure;   /* an output has no standard deviation, and is no command */
} limits;

typedef struct task {
  const char *name, *instruction;
  limits begin, end, forbidden;
  size_t n_after;
  const size_t *after;      /* [n_after] */
  int64_t hold_ns, most_ns; /* most_ns 0: no limit */
  double points, late;
} task;

typedef struct rule {
  const char *name, *text;
  limits when;
  int64_t hold_ns;
  double points, per_second, probability;
  uint64_t most;
  int is_breakdown, goes_on;
} rule;

/* ---- what changes ---- */

/* Whether something holds with enough probability for long enough. Of the probability that it did so at all the largest of those that
 * were not undercut for that long counts. */
typedef struct watch {
  int64_t since_ns, block_ns; /* INT64_MIN: it does not hold; no block has begun */
  double least, block, best;
} watch;

typedef struct task_state {
  bramah_task_is is;
  int is_watched, is_compared; /* it was done and holds since; with the other judge */
  int64_t begun_ns, ended_ns;
  double now, lost;
  watch watch;
} task_state;

typedef struct rule_state {
  int is_on;
  uint64_t times;
  int64_t first_ns, since_ns;
  double now, lost;
  watch watch;
  double expected, variance,
      together; /* of what is lost; `together` [points] is one standard deviation of what goes on in time */
} rule_state;

typedef struct course_state {
  bramah_scenario_is is;
  int has_begun, is_compared;
  int64_t begun_ns, ended_ns, now_ns;
} course_state;

/* By one judge. */
typedef struct course {
  course_state *at;
  task_state *task; /* [n_tasks] */
  rule_state *rule; /* [n_rules] */
} course;

struct bramah__scenario {
  bramah__pool pool;
  bramah_display *display;
  double confidence;
  int64_t most_ns; /* 0: no limit */
  size_t n_tasks, n_rules, n_penalties, n_used;
  task *task;
  rule *rule;            /* [n_rules] penalties first */
  size_t *used;          /* [n_used] columns of bramah_assess_results.output */
  double *value, *sigma; /* [n_used] by the present judge */
  bramah_judge judge;
  int by_truth, has_truth;
  double most; /* points */
  course course[2];
  void *state; /* [state_size] all that changes */
  size_t state_size;
  struct looks { /* for gauges and sensors */
    int64_t next_ns;
    unsigned char *critical;        /* [n_gauges] */
    unsigned char *lost;            /* [n_sensors] */
    bramah__watched_sensor *sensor; /* [n_sensors] */
  } looks;
  int64_t *looks_ns;
  /* A machine that is simulated along, which may be a row ahead: its outputs at its last two rows. */
  const bramah_simulation *simulation; /* NULL: none */
  const bramah_plant *simulated;
  size_t *output; /* [n_used] of that plant; */
  double *row[2]; /* [n_used] */
  int64_t row_ns[2];
  int last;
  size_t n_shown;
  bramah_shown *shown;
  bramah_scenario_result result[2];
};

/* ---- probabilities ---- */

static double seconds(int64_t ns) { return ns == INT64_MIN ? (double)NAN : (double)ns / 1e9; }

static double of_limit(const bramah__scenario *s, const limit *l)
{
  const double value = l->offset + l->scale * s->value[l->used], sigma = fabs(l->scale) * s->sigma[l->used];
  if (isnan(value)) return NAN;
  if (isinf(l->most)) return 1.0 - bramah__beyond(l->least - value, sigma);
  if (isinf(l->least)) return 1.0 - bramah__beyond(value - l->most, sigma);
  const double outside =
      fmin(1.0, bramah__beyond(l->least - value, sigma) + bramah__beyond(value - l->most, sigma));
  return l->is_outside ? outside : 1.0 - outside;
}

/* That all hold, at least; at most. Nothing is asked for: certain. */
static double at_least(const bramah__scenario *s, const limits *all)
{
  double missing = 0.0;
  for (size_t i = 0; i < all->n; i++) missing += 1.0 - of_limit(s, &all->of[i]);
  return isnan(missing) ? missing : fmax(0.0, 1.0 - missing);
}

static double at_most(const bramah__scenario *s, const limits *all)
{
  double p = 1.0;
  for (size_t i = 0; i < all->n; i++) {
    const double one = of_limit(s, &all->of[i]);
    if (isnan(one)) return one;
    p = fmin(p, one);
  }
  return p;
}

static const watch not_watched = {INT64_MIN, INT64_MIN, 0.0, 0.0, 0.0};

/* 1: it has held with the confidence for so long. */
static int watch_step(watch *w, double p, double confidence, int64_t hold_ns, int64_t now_ns)
{
  if (isnan(p)) p = 0.0; /* nobody knows: not for certain */
  w->block = w->block_ns == INT64_MIN ? p : fmin(w->block, p);
  if (w->block_ns == INT64_MIN) w->block_ns = now_ns;
  if (now_ns - w->block_ns >= hold_ns) {
    w->best = fmax(w->best, w->block);
    w->block_ns = INT64_MIN;
  }
  if (!(p >= confidence)) {
    w->since_ns = INT64_MIN;
    return 0;
  }
  w->least = w->since_ns == INT64_MIN ? p : fmin(w->least, p);
  if (w->since_ns == INT64_MIN) w->since_ns = now_ns;
  if (now_ns - w->since_ns < hold_ns) return 0;
  w->best = fmax(w->best, w->least);
  return 1;
}

/* ---- what is shown ---- */

static void show(bramah__scenario *s, bramah_shown_kind kind, const char *name, const char *text,
                 const limits *of, double probability)
{
  const bramah_assess *a = s->display->assess;
  bramah_shown *row = &s->shown[s->n_shown++];
  *row = (bramah_shown){.t = seconds(a->totals.last_ns),
                        .kind = kind,
                        .judge = s->judge,
                        .name = name,
                        .text = text,
                        .probability = of && of->is_unsure ? (double)NAN : probability,
                        .value = NAN,
                        .sigma = NAN};
  if (!of || !of->n) return;
  size_t k = of->of[0].used;
  double least = 2.0; /* what it hinges on */
  for (size_t i = 0; i < of->n; i++) {
    const double p = of_limit(s, &of->of[i]);
    if (p < least) least = p, k = of->of[i].used;
  }
  row->output = a->outputs[s->used[k]].name;
  row->unit = a->outputs[s->used[k]].unit;
  row->value = s->value[k];
  row->sigma = s->sigma[k];
}

/* ---- one judge, one estimate ---- */

static void sum_up(bramah__scenario *s, const course *c, bramah_scenario_result *out);

static int is_over(const task_state *t) { return t->is == BRAMAH_TASK_DONE || t->is == BRAMAH_TASK_FAILED; }

static int may_begin(const bramah__scenario *s, const course *c, const task *of)
{
  for (size_t k = 0; k < of->n_after; k++)
    if (!is_over(&c->task[of->after[k]])) return 0;
  return at_least(s, &of->begin) >= s->confidence;
}

static void end_task(bramah__scenario *s, const course *c, size_t i, bramah_task_is is, const char *why,
                     const limits *of, double p, int is_shown)
{
  task_state *t = &c->task[i];
  t->is = is;
  t->ended_ns = c->at->now_ns;
  t->is_watched = is == BRAMAH_TASK_DONE;
  if (is == BRAMAH_TASK_FAILED) t->watch.best = 0.0;
  if (is_shown)
    show(s, is == BRAMAH_TASK_DONE ? BRAMAH_SHOWN_DONE : BRAMAH_SHOWN_FAILED, s->task[i].name, why, of, p);
}

static void step_task(bramah__scenario *s, course *c, size_t i, int is_shown)
{
  const task *of = &s->task[i];
  task_state *t = &c->task[i];
  if (t->is == BRAMAH_TASK_WAITING && may_begin(s, c, of)) {
    t->is = BRAMAH_TASK_ACTIVE;
    t->begun_ns = c->at->now_ns;
    if (is_shown)
      show(s, BRAMAH_SHOWN_INSTRUCTION, of->name, of->instruction, &of->end, at_least(s, &of->end));
  }
  if (t->is != BRAMAH_TASK_ACTIVE) return;
  t->now = at_least(s, &of->end);
  const int64_t taken = c->at->now_ns - t->begun_ns;
  const int is_late = of->most_ns && taken > of->most_ns;
  const double forbidden = of->forbidden.n ? at_least(s, &of->forbidden) : 0.0;
  if (is_late) t->lost = fmin(of->points, of->late * seconds(taken - of->most_ns));
  if (forbidden >= s->confidence)
    end_task(s, c, i, BRAMAH_TASK_FAILED, "what is forbidden was done", &of->forbidden, forbidden, is_shown);
  else if (watch_step(&t->watch, t->now, s->confidence, of->hold_ns, c->at->now_ns))
    end_task(s, c, i, BRAMAH_TASK_DONE, NULL, &of->end, t->watch.least, is_shown);
  else if (is_late && !(of->late > 0.0))
    end_task(s, c, i, BRAMAH_TASK_FAILED, "its time is up", &of->end, t->now, is_shown);
}

/* A task that was done may become more certain while its conditions go on to hold. */
static void watch_done(const bramah__scenario *s, course *c)
{
  for (size_t i = 0; i < s->n_tasks; i++) {
    task_state *t = &c->task[i];
    if (!t->is_watched || t->ended_ns == c->at->now_ns) continue;
    t->now = at_least(s, &s->task[i].end);
    t->is_watched = watch_step(&t->watch, t->now, s->confidence, s->task[i].hold_ns, c->at->now_ns);
  }
}

static void end_course(bramah__scenario *s, course *c, bramah_scenario_is is, const char *text, int is_shown)
{
  for (size_t i = 0; i < s->n_tasks; i++)
    if (c->task[i].is == BRAMAH_TASK_ACTIVE) end_task(s, c, i, BRAMAH_TASK_FAILED, NULL, NULL, 0.0, 0);
  c->at->is = is;
  c->at->ended_ns = c->at->now_ns;
  if (!is_shown) return;
  bramah_scenario_result *result = &s->result[s->judge];
  show(s, BRAMAH_SHOWN_END, "scenario", text, NULL, NAN);
  sum_up(s, c, result);
  s->shown[s->n_shown - 1].output = "score";
  s->shown[s->n_shown - 1].value = result->score;
  s->shown[s->n_shown - 1].sigma = result->sigma;
}

static void step_rule(bramah__scenario *s, course *c, size_t i, double dt, int is_shown)
{
  const rule *of = &s->rule[i];
  rule_state *r = &c->rule[i];
  const double p = of->is_breakdown ? at_most(s, &of->when) : at_least(s, &of->when);
  const double confidence = of->is_breakdown ? of->probability : s->confidence, known = isnan(p) ? 0.0 : p;
  const int holds = watch_step(&r->watch, p, confidence, of->hold_ns, c->at->now_ns);
  r->now = p;
  if (r->is_on && known < fmin(0.5, confidence)) r->is_on = 0;
  if (r->is_on) r->lost += of->per_second * dt;
  r->expected += known * of->per_second * dt;
  r->together += sqrt(known * (1.0 - known)) * of->per_second * dt;
  /* What was more likely than not, and is over, counts; of all that was less likely the likeliest one, once. */
  const double was = r->watch.best;
  if (known < 0.05 && was >= 0.5) {
    r->expected += was * of->points;
    r->variance += was * (1.0 - was) * of->points * of->points;
    r->watch.best = 0.0;
  }
  if (!holds || r->is_on) return;
  r->is_on = 1;
  if (!r->times++) r->first_ns = c->at->now_ns;
  r->since_ns = c->at->now_ns;
  r->lost += of->points;
  const int is_end = of->is_breakdown ? !of->goes_on : of->most && r->times > of->most;
  if (is_shown)
    show(s, of->is_breakdown || is_end ? BRAMAH_SHOWN_BREAKDOWN : BRAMAH_SHOWN_PENALTY, of->name, of->text,
         &of->when, p);
  if (is_end && c->at->is == BRAMAH_SCENARIO_RUNS)
    end_course(s, c, BRAMAH_SCENARIO_BROKEN, of->text, is_shown);
}

static void step_course(bramah__scenario *s, course *c, int64_t now_ns, int is_shown)
{
  const double dt = c->at->has_begun ? seconds(now_ns - c->at->now_ns) : 0.0;
  if (!c->at->has_begun) c->at->begun_ns = now_ns;
  c->at->has_begun = 1;
  c->at->now_ns = now_ns;
  watch_done(s, c);
  if (c->at->is != BRAMAH_SCENARIO_RUNS) return;
  for (size_t i = 0; i < s->n_tasks; i++) step_task(s, c, i, is_shown);
  for (size_t i = 0; i < s->n_rules && c->at->is == BRAMAH_SCENARIO_RUNS; i++)
    step_rule(s, c, i, dt, is_shown);
  if (c->at->is != BRAMAH_SCENARIO_RUNS) return;
  size_t left = 0, failed = 0;
  for (size_t i = 0; i < s->n_tasks; i++) {
    left += !is_over(&c->task[i]);
    failed += c->task[i].is == BRAMAH_TASK_FAILED;
  }
  if (!left)
    end_course(s, c, BRAMAH_SCENARIO_OVER, failed ? "not all tasks were done" : "all tasks are done",
               is_shown);
  else if (s->most_ns && now_ns - c->at->begun_ns > s->most_ns)
    end_course(s, c, BRAMAH_SCENARIO_LATE, "the time is up", is_shown);
}

/* ---- both judges ---- */

static void compare(bramah__scenario *s)
{
  static const char *const texts[2] = {"done by the estimate, failed by the truth",
                                       "failed by the estimate, done by the truth"};
  course *e = &s->course[BRAMAH_JUDGE_ESTIMATE], *t = &s->course[BRAMAH_JUDGE_TRUTH];
  for (size_t i = 0; i < s->n_tasks; i++) {
    if (e->task[i].is_compared || !is_over(&e->task[i]) || !is_over(&t->task[i])) continue;
    e->task[i].is_compared = 1;
    if (e->task[i].is != t->task[i].is)
      show(s, BRAMAH_SHOWN_DIFFERS, s->task[i].name, texts[e->task[i].is == BRAMAH_TASK_FAILED], NULL,
           e->task[i].watch.best);
  }
  /* A second later it is not a matter of when. */
  const int by_estimate = e->at->is == BRAMAH_SCENARIO_BROKEN, by_truth = t->at->is == BRAMAH_SCENARIO_BROKEN;
  const course *broken = by_estimate ? e : t;
  if (by_estimate == by_truth || e->at->is_compared ||
      e->at->now_ns - broken->at->ended_ns < INT64_C(1000000000))
    return;
  e->at->is_compared = 1;
  show(s, BRAMAH_SHOWN_DIFFERS, "scenario",
       by_estimate ? "broken down by the estimate, not by the truth"
                   : "broken down by the truth, not by the estimate",
       NULL, NAN);
}

/* Gauges that become critical, sensors that are lost. */
static void look(bramah__scenario *s, int64_t now_ns)
{
  bramah_display *display = s->display;
  bramah_assess *a = display->assess;
  if (now_ns < *s->looks_ns) return;
  *s->looks_ns = now_ns + INT64_C(33333333);
  for (size_t g = 0; g < display->n_gauges; g++) {
    const bramah__bound_gauge *gauge = &display->gauge[g];
    double sigma;
    const double value = bramah__assess_value(a, gauge->output, &sigma);
    const double p = bramah__gauge_probability(gauge, value, sigma);
    const unsigned char is = !isnan(p) && p >= gauge->probability;
    if (is != s->looks.critical[g]) {
      show(s, is ? BRAMAH_SHOWN_CRITICAL : BRAMAH_SHOWN_OVER, gauge->name, NULL, NULL, p);
      s->shown[s->n_shown - 1] = (bramah_shown){.t = seconds(now_ns),
                                                .kind = is ? BRAMAH_SHOWN_CRITICAL : BRAMAH_SHOWN_OVER,
                                                .name = gauge->name,
                                                .probability = p,
                                                .output = a->outputs[gauge->output].name,
                                                .unit = a->outputs[gauge->output].unit,
                                                .value = value,
                                                .sigma = sigma};
    }
    s->looks.critical[g] = is;
  }
  for (size_t i = 0; i < display->n_sensors; i++) {
    const unsigned char is =
        bramah__look_at_sensor(display, &s->looks.sensor[i], i, now_ns) == BRAMAH_SENSOR_LOST;
    if (is != s->looks.lost[i])
      show(s, is ? BRAMAH_SHOWN_LOST : BRAMAH_SHOWN_BACK, a->study->sensors[i].name, NULL, NULL, NAN);
    s->looks.lost[i] = is;
  }
}

/* 0: the simulation is at another time. */
static int take_simulated(bramah__scenario *s)
{
  const int64_t now_ns = s->display->assess->totals.last_ns;
  s->last = !s->last;
  s->row_ns[s->last] = bramah_simulation_get_result(s->simulation).time_ns;
  for (size_t k = 0; k < s->n_used; k++)
    s->row[s->last][k] = s->simulated->output(s->simulated->self, s->output[k]);
  const int which = s->row_ns[s->last] == now_ns ? s->last : !s->last;
  for (size_t k = 0; k < s->n_used; k++) {
    s->value[k] = s->row[which][k];
    s->sigma[k] = 0.0;
  }
  return s->row_ns[which] == now_ns;
}

/* Values of the outputs that are used; 0: the truth is not known at this time. */
static int take_values(bramah__scenario *s, bramah_judge judge)
{
  bramah_assess *a = s->display->assess;
  int all = 1;
  s->judge = judge;
  if (judge == BRAMAH_JUDGE_TRUTH && s->simulation) return take_simulated(s);
  for (size_t k = 0; k < s->n_used; k++) {
    const bramah_assess_output *of = &a->outputs[s->used[k]];
    s->value[k] = bramah__assess_value(a, s->used[k], &s->sigma[k]);
    if (judge == BRAMAH_JUDGE_ESTIMATE || !of->has_truth) continue;
    s->value[k] = a->truth[of->output];
    s->sigma[k] = 0.0;
    all &= !isnan(s->value[k]);
  }
  return all;
}

static void step(void *user)
{
  bramah__scenario *s = user;
  const bramah_judge shown = bramah_display_judge(s->display);
  const int64_t now_ns = s->display->assess->totals.last_ns;
  s->n_shown = 0;
  for (int k = 0; k <= s->has_truth; k++)
    if (take_values(s, (bramah_judge)k)) step_course(s, &s->course[k], now_ns, (bramah_judge)k == shown);
  s->judge = shown;
  if (s->has_truth) compare(s);
  s->judge = BRAMAH_JUDGE_ESTIMATE;
  look(s, now_ns);
}

/* ---- results ---- */

static void sum_up(bramah__scenario *s, const course *c, bramah_scenario_result *out)
{
  double variance = 0.0, together = 0.0;
  const int runs = c->at->is == BRAMAH_SCENARIO_RUNS;
  out->judge = c == &s->course[BRAMAH_JUDGE_TRUTH] ? BRAMAH_JUDGE_TRUTH : BRAMAH_JUDGE_ESTIMATE;
  out->is = c->at->is;
  out->begun = c->at->has_begun ? seconds(c->at->begun_ns) : (double)NAN;
  out->ended = runs ? (double)NAN : seconds(c->at->ended_ns);
  out->left = s->most_ns && runs && c->at->has_begun ? seconds(s->most_ns - (c->at->now_ns - c->at->begun_ns))
                                                     : (double)NAN;
  out->score = out->expected = 0.0;
  for (size_t i = 0; i < s->n_tasks; i++) {
    const task *of = &s->task[i];
    const task_state *t = &c->task[i];
    const double points = of->points - t->lost, p = t->watch.best;
    if (t->is == BRAMAH_TASK_DONE) out->score += points;
    out->expected += p * points;
    variance += p * (1.0 - p) * points * points;
    const int is_active = t->is == BRAMAH_TASK_ACTIVE;
    out->task[i] = (bramah_task_result){
        .name = of->name,
        .is = t->is,
        .begun = seconds(t->begun_ns),
        .ended = seconds(t->ended_ns),
        .now = is_active && !of->end.is_unsure ? t->now : (double)NAN,
        .sure = p,
        .left = is_active && of->most_ns ? seconds(of->most_ns - (c->at->now_ns - t->begun_ns)) : (double)NAN,
        .points = of->points,
        .lost = t->lost};
  }
  for (size_t i = 0; i < s->n_rules; i++) {
    const rule *of = &s->rule[i];
    const rule_state *r = &c->rule[i];
    const double p = r->watch.best;
    out->score -= r->lost;
    out->expected -= r->expected + p * of->points;
    variance += r->variance + p * (1.0 - p) * of->points * of->points;
    together += r->together;
    out->penalty[i] = (bramah_rule_result){.name = of->name,
                                           .is_on = r->is_on,
                                           .times = r->times,
                                           .first = seconds(r->first_ns),
                                           .since = seconds(r->since_ns),
                                           .now = of->when.is_unsure ? (double)NAN : r->now,
                                           .lost = r->lost};
  }
  out->sigma = sqrt(variance) + together;
  if (out->judge == BRAMAH_JUDGE_TRUTH) out->expected = out->score, out->sigma = 0.0;
}

bramah_judge bramah_display_judge(const bramah_display *display)
{
  const bramah__scenario *s = display->scenario;
  return s && s->has_truth && s->by_truth ? BRAMAH_JUDGE_TRUTH : BRAMAH_JUDGE_ESTIMATE;
}

const bramah_scenario_result *bramah_display_scenario(bramah_display *display, bramah_judge judge)
{
  bramah__scenario *s = display->scenario;
  if (!s || (judge == BRAMAH_JUDGE_TRUTH && !s->has_truth)) return NULL;
  sum_up(s, &s->course[judge], &s->result[judge]);
  return &s->result[judge];
}

size_t bramah_display_shown(const bramah_display *display, const bramah_shown **out)
{
  *out = display->scenario ? display->scenario->shown : NULL;
  return display->scenario ? display->scenario->n_shown : 0;
}

const char *bramah_shown_kind_text(bramah_shown_kind kind)
{
  static const char *const texts[] = {
      "instruction",        "done", "failed", "penalty",           "breakdown", "end", "critical",
      "no longer critical", "lost", "back",   "judged differently"};
  return texts[kind];
}

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
static bramah_status find(binder *b, const bramah_scenario_condition *of, const char *thing, limit *out,
                          const char **unit)
{
  const bramah_display *display = b->s->display;
  const bramah_assess *a = display->assess;
  *out = (limit){.scale = 1.0};
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
    *out = (limit){.used = use(b->s, gauge->output), .offset = gauge->offset, .scale = gauge->scale};
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
                                limit *out)
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
                                 const char *thing, const char *section, limits *out)
{
  const bramah_assess *a = b->s->display->assess;
  char place[120];
  limit *list = bramah__pool_take(&b->s->pool, n, sizeof *list);
  bramah_status status = list ? BRAMAH_OK : bramah__fail_memory(b->diag);
  snprintf(place, sizeof place, "scenario.%s.%s", thing, section);
  *out = (limits){.n = n, .of = list};
  for (size_t i = 0; !status && i < n; i++) {
    status = bind_limit(b, &from[i], place, &list[i]);
    if (status) break;
    const bramah_assess_output *of = &a->outputs[b->s->used[list[i].used]];
    const char *end = strrchr(of->name, '.');
    out->is_unsure |= !of->has_sigma && !(end && strcmp(end, ".command") == 0);
  }
  return status;
}

static bramah_status bind_after(binder *b, const bramah_scenario_task *from, size_t i, task *out)
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
  task *out = &b->s->task[i];
  *out = (task){.name = keep_text(b, from->name),
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
    rule *out = &b->s->rule[b->s->n_rules];
    *out = (rule){.name = keep_text(b, from[i].name),
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

/* What changes, in one piece. */
static void lay_out(bramah__scenario *s, bramah__arena *arena)
{
  const bramah_display *d = s->display;
  for (int k = 0; k < 2; k++)
    s->course[k] = (course){.at = BRAMAH__TAKE(arena, course_state, 1),
                            .task = BRAMAH__TAKE(arena, task_state, s->n_tasks),
                            .rule = BRAMAH__TAKE(arena, rule_state, s->n_rules)};
  s->looks_ns = BRAMAH__TAKE(arena, int64_t, 1);
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
  *s->looks_ns = INT64_MIN;
  for (int k = 0; k < 2; k++) {
    for (size_t i = 0; i < s->n_tasks; i++)
      s->course[k].task[i] = (task_state){.begun_ns = INT64_MIN, .ended_ns = INT64_MIN, .watch = not_watched};
    for (size_t i = 0; i < s->n_rules; i++)
      s->course[k].rule[i] = (rule_state){.first_ns = INT64_MIN, .since_ns = INT64_MIN, .watch = not_watched};
  }
  return BRAMAH_OK;
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
  bramah__assess_carry(display->assess, &(bramah__passenger){step, s, s->state, s->state_size});
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

static void put_rules(bramah__json *json, const char *name, size_t n, const rule *rules)
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
    bramah__json_number(json, "hold", seconds(s->task[i].hold_ns));
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

void bramah__scenario_take(bramah_display *display, bramah_scenario_result *out)
{
  bramah__scenario *s = display->scenario;
  if (s) sum_up(s, &s->course[bramah_display_judge(display)], out);
}
