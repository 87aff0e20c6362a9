/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A scenario followed estimate by estimate, by both judges, and what it came to. All that changes is one piece of memory, which goes
 * into snapshots of the assessment. */
#define _GNU_SOURCE /* lib/io/yaml.h */
#include "lib/assess/assess_internal.h"
#include "lib/display/scenario.h"

#include <math.h>

/* ---- probabilities ---- */

double bramah__seconds(int64_t ns) { return ns == INT64_MIN ? (double)NAN : (double)ns / 1e9; }

static double of_limit(const bramah__scenario *s, const bramah__limit *l)
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
static double at_least(const bramah__scenario *s, const bramah__limits *all)
{
  double missing = 0.0;
  for (size_t i = 0; i < all->n; i++) missing += 1.0 - of_limit(s, &all->of[i]);
  return isnan(missing) ? missing : fmax(0.0, 1.0 - missing);
}

static double at_most(const bramah__scenario *s, const bramah__limits *all)
{
  double p = 1.0;
  for (size_t i = 0; i < all->n; i++) {
    const double one = of_limit(s, &all->of[i]);
    if (isnan(one)) return one;
    p = fmin(p, one);
  }
  return p;
}

/* 1: it has held with the confidence for so long. */
static int watch_step(bramah__watch *w, double p, double confidence, int64_t hold_ns, int64_t now_ns)
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
                 const bramah__limits *of, double probability)
{
  const bramah_assess *a = s->display->assess;
  bramah_shown *row = &s->shown[s->n_shown++];
  *row = (bramah_shown){.t = bramah__seconds(a->totals.last_ns),
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

/* ---- results ---- */

static void sum_up(bramah__scenario *s, const bramah__course *c, bramah_scenario_result *out)
{
  double variance = 0.0, together = 0.0;
  const int runs = c->at->is == BRAMAH_SCENARIO_RUNS;
  out->judge = c == &s->course[BRAMAH_JUDGE_TRUTH] ? BRAMAH_JUDGE_TRUTH : BRAMAH_JUDGE_ESTIMATE;
  out->is = c->at->is;
  out->begun = c->at->has_begun ? bramah__seconds(c->at->begun_ns) : (double)NAN;
  out->ended = runs ? (double)NAN : bramah__seconds(c->at->ended_ns);
  out->left = s->most_ns && runs && c->at->has_begun
                  ? bramah__seconds(s->most_ns - (c->at->now_ns - c->at->begun_ns))
                  : (double)NAN;
  out->score = out->expected = 0.0;
  for (size_t i = 0; i < s->n_tasks; i++) {
    const bramah__task *of = &s->task[i];
    const bramah__task_state *t = &c->task[i];
    const double points = of->points - t->lost, p = t->watch.best;
    if (t->is == BRAMAH_TASK_DONE) out->score += points;
    out->expected += p * points;
    variance += p * (1.0 - p) * points * points;
    const int is_active = t->is == BRAMAH_TASK_ACTIVE;
    out->task[i] = (bramah_task_result){
        .name = of->name,
        .is = t->is,
        .begun = bramah__seconds(t->begun_ns),
        .ended = bramah__seconds(t->ended_ns),
        .now = is_active && !of->end.is_unsure ? t->now : (double)NAN,
        .sure = p,
        .left = is_active && of->most_ns ? bramah__seconds(of->most_ns - (c->at->now_ns - t->begun_ns))
                                         : (double)NAN,
        .points = of->points,
        .lost = t->lost};
  }
  for (size_t i = 0; i < s->n_rules; i++) {
    const bramah__rule *of = &s->rule[i];
    const bramah__rule_state *r = &c->rule[i];
    const double p = r->watch.best;
    out->score -= r->lost;
    out->expected -= r->expected + p * of->points;
    variance += r->variance + p * (1.0 - p) * of->points * of->points;
    together += r->together;
    out->penalty[i] = (bramah_rule_result){.name = of->name,
                                           .is_on = r->is_on,
                                           .times = r->times,
                                           .first = bramah__seconds(r->first_ns),
                                           .since = bramah__seconds(r->since_ns),
                                           .now = of->when.is_unsure ? (double)NAN : r->now,
                                           .lost = r->lost};
  }
  out->sigma = sqrt(variance) + together;
  if (out->judge == BRAMAH_JUDGE_TRUTH) out->expected = out->score, out->sigma = 0.0;
}

/* ---- one judge, one estimate ---- */

static int is_over(const bramah__task_state *t)
{
  return t->is == BRAMAH_TASK_DONE || t->is == BRAMAH_TASK_FAILED;
}

static int may_begin(const bramah__scenario *s, const bramah__course *c, const bramah__task *of)
{
  for (size_t k = 0; k < of->n_after; k++)
    if (!is_over(&c->task[of->after[k]])) return 0;
  return at_least(s, &of->begin) >= s->confidence;
}

static void end_task(bramah__scenario *s, const bramah__course *c, size_t i, bramah_task_is is,
                     const char *why, const bramah__limits *of, double p, int is_shown)
{
  bramah__task_state *t = &c->task[i];
  t->is = is;
  t->ended_ns = c->at->now_ns;
  t->is_watched = is == BRAMAH_TASK_DONE;
  if (is == BRAMAH_TASK_FAILED) t->watch.best = 0.0;
  if (is_shown)
    show(s, is == BRAMAH_TASK_DONE ? BRAMAH_SHOWN_DONE : BRAMAH_SHOWN_FAILED, s->task[i].name, why, of, p);
}

static void step_task(bramah__scenario *s, bramah__course *c, size_t i, int is_shown)
{
  const bramah__task *of = &s->task[i];
  bramah__task_state *t = &c->task[i];
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
  if (is_late) t->lost = fmin(of->points, of->late * bramah__seconds(taken - of->most_ns));
  if (forbidden >= s->confidence)
    end_task(s, c, i, BRAMAH_TASK_FAILED, "what is forbidden was done", &of->forbidden, forbidden, is_shown);
  else if (watch_step(&t->watch, t->now, s->confidence, of->hold_ns, c->at->now_ns))
    end_task(s, c, i, BRAMAH_TASK_DONE, NULL, &of->end, t->watch.least, is_shown);
  else if (is_late && !(of->late > 0.0))
    end_task(s, c, i, BRAMAH_TASK_FAILED, "its time is up", &of->end, t->now, is_shown);
}

/* A task that was done may become more certain while its conditions go on to hold. */
static void watch_done(const bramah__scenario *s, bramah__course *c)
{
  for (size_t i = 0; i < s->n_tasks; i++) {
    bramah__task_state *t = &c->task[i];
    if (!t->is_watched || t->ended_ns == c->at->now_ns) continue;
    t->now = at_least(s, &s->task[i].end);
    t->is_watched = watch_step(&t->watch, t->now, s->confidence, s->task[i].hold_ns, c->at->now_ns);
  }
}

static void end_course(bramah__scenario *s, bramah__course *c, bramah_scenario_is is, const char *text,
                       int is_shown)
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

static void step_rule(bramah__scenario *s, bramah__course *c, size_t i, double dt, int is_shown)
{
  const bramah__rule *of = &s->rule[i];
  bramah__rule_state *r = &c->rule[i];
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

static void step_course(bramah__scenario *s, bramah__course *c, int64_t now_ns, int is_shown)
{
  const double dt = c->at->has_begun ? bramah__seconds(now_ns - c->at->now_ns) : 0.0;
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
  bramah__course *e = &s->course[BRAMAH_JUDGE_ESTIMATE], *t = &s->course[BRAMAH_JUDGE_TRUTH];
  for (size_t i = 0; i < s->n_tasks; i++) {
    if (e->task[i].is_compared || !is_over(&e->task[i]) || !is_over(&t->task[i])) continue;
    e->task[i].is_compared = 1;
    if (e->task[i].is != t->task[i].is)
      show(s, BRAMAH_SHOWN_DIFFERS, s->task[i].name, texts[e->task[i].is == BRAMAH_TASK_FAILED], NULL,
           e->task[i].watch.best);
  }
  /* A second later it is not a matter of when. */
  const int by_estimate = e->at->is == BRAMAH_SCENARIO_BROKEN, by_truth = t->at->is == BRAMAH_SCENARIO_BROKEN;
  const bramah__course *broken = by_estimate ? e : t;
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
  if (now_ns < *s->looks.next_ns) return;
  *s->looks.next_ns = now_ns + INT64_C(33333333);
  for (size_t g = 0; g < display->n_gauges; g++) {
    const bramah__bound_gauge *gauge = &display->gauge[g];
    double sigma;
    const double value = bramah__assess_value(a, gauge->output, &sigma);
    const double p = bramah__gauge_probability(gauge, value, sigma);
    const unsigned char is = !isnan(p) && p >= gauge->probability;
    if (is != s->looks.critical[g]) {
      show(s, is ? BRAMAH_SHOWN_CRITICAL : BRAMAH_SHOWN_OVER, gauge->name, NULL, NULL, p);
      s->shown[s->n_shown - 1] = (bramah_shown){.t = bramah__seconds(now_ns),
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

void bramah__scenario_step(void *user)
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
void bramah__scenario_take(bramah_display *display, bramah_scenario_result *out)
{
  bramah__scenario *s = display->scenario;
  if (s) sum_up(s, &s->course[bramah_display_judge(display)], out);
}
