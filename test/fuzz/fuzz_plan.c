/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Any bytes as a plan of a study, and as a display file with its scenario, which is then bound to a four-bar. What was loaded keeps the limits that its
 * header states. */
#include "bramah/display.h"
#include "lib/io/session.h"
#include "test/fuzz/fuzz.h"

#include <math.h>

static void check_changes(size_t n, const bramah_change *changes)
{
  for (size_t i = 0; i < n; i++) FUZZ_CHECK(changes[i].path && changes[i].value, "a change without text");
}

static void check_plan(const bramah_plan *plan)
{
  FUZZ_CHECK(plan->name && *plan->name && plan->machine_file && plan->file, "a plan without names");
  FUZZ_CHECK(plan->duration > 0.0 && plan->duration <= 1e6 && plan->seeds >= 1, "no duration or seeds");
  FUZZ_CHECK(plan->step >= 0.0 && isfinite(plan->step) && plan->settle >= 0.0, "step or settle");
  FUZZ_CHECK(plan->settle < plan->duration, "settle beyond the duration");
  FUZZ_CHECK(plan->n_signals <= BRAMAH_PLAN_MOST_SIGNALS && plan->n_studies <= BRAMAH_PLAN_MOST_STUDIES &&
                 plan->n_rates <= BRAMAH_PLAN_MOST_RATES,
             "too many");
  for (size_t i = 0; i < plan->n_rates; i++)
    FUZZ_CHECK(plan->rates[i] > 0.0 && (!i || plan->rates[i] < plan->rates[i - 1]), "rates");
  check_changes(plan->n_changes, plan->changes);
  for (size_t i = 0; i < plan->n_filters; i++)
    check_changes(plan->filters[i].n_changes, plan->filters[i].changes);
  for (size_t i = 0; i < plan->n_scenarios; i++) {
    check_changes(plan->scenarios[i].n_changes, plan->scenarios[i].changes);
    check_changes(plan->scenarios[i].n_parameters, plan->scenarios[i].parameters);
  }
}

static void check_rules(size_t n, const bramah_scenario_rule *rules)
{
  for (size_t i = 0; i < n; i++) {
    const bramah_scenario_rule *rule = &rules[i];
    FUZZ_CHECK(rule->name && rule->n_when && rule->hold >= 0.0 && rule->points >= 0.0, "a rule");
    FUZZ_CHECK(rule->probability > 0.0 && rule->probability < 1.0 && rule->most >= 0, "its limits");
  }
}

static void check_scenario(const bramah_scenario *s)
{
  FUZZ_CHECK(s->n_tasks <= 64 && s->n_penalties <= 64 && s->n_breakdowns <= 64, "too many");
  FUZZ_CHECK(!s->n_tasks || (s->confidence >= 0.5 && s->confidence < 1.0), "confidence");
  for (size_t i = 0; i < s->n_tasks; i++) {
    const bramah_scenario_task *task = &s->tasks[i];
    FUZZ_CHECK(task->name && task->instruction && task->n_end, "a task");
    FUZZ_CHECK(task->hold >= 0.0 && isfinite(task->time_limit) && task->points >= 0.0, "its limits");
    for (size_t k = 0; k < task->n_end; k++)
      FUZZ_CHECK(task->end[k].name &&
                     (task->end[k].above.text || task->end[k].below.text || task->end[k].beyond.text),
                 "a condition");
  }
  check_rules(s->n_penalties, s->penalties);
  check_rules(s->n_breakdowns, s->breakdowns);
}

static bramah_status no_rows(void *user, bramah_sample *sample, int *end, bramah_diag *diag)
{
  (void)user, (void)sample, (void)diag;
  return *end = 1, BRAMAH_OK;
}

static void check_display(const bramah_display_file *file, int lines)
{
  static bramah_session *session;
  static bramah_assess *assess;
  bramah_display *display = NULL;
  bramah_diag diag;
  if (!session)
    FUZZ_CHECK(!bramah_session_open(FUZZ_SOURCE_ROOT "/datasets/four-bar/sensors-2.yaml", &diag, &session) &&
                   !bramah_assess_new(session, no_rows, NULL, NULL, &diag, &assess),
               "%s", diag.message);
  FUZZ_CHECK(file->title && *file->title && file->n_gauges, "a display without title or gauges");
  check_scenario(&file->scenario);
  const bramah_status status = bramah_display_new(file, assess, &diag, &display);
  FUZZ_CHECK((status == BRAMAH_OK) == (display != NULL), "%s", bramah_status_name(status));
  if (status) fuzz_check_diag(&diag, status, file->file, lines);
  if (display) FUZZ_CHECK(bramah_display_description(display)[0] == '{', "no description");
  bramah_display_free(display);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  const char *path = fuzz_file(data, size);
  bramah_diag diag, again;
  for (int i = 0; i < 2; i++) {
    bramah_display_file *file = NULL;
    const bramah_status status = bramah_display_load(path, i ? &again : &diag, &file);
    FUZZ_CHECK((status == BRAMAH_OK) == (file != NULL), "%s", bramah_status_name(status));
    if (status) fuzz_check_diag(i ? &again : &diag, status, path, fuzz_lines(data, size));
    if (file) check_display(file, fuzz_lines(data, size));
    bramah_display_file_free(file);
    if (i) fuzz_check_same_diag(&diag, &again);
  }
  for (int i = 0; i < 2; i++) {
    bramah_plan *plan = NULL;
    const bramah_status status = bramah__plan_load(path, i ? &again : &diag, &plan);
    FUZZ_CHECK((status == BRAMAH_OK) == (plan != NULL), "%s", bramah_status_name(status));
    if (status) fuzz_check_diag(i ? &again : &diag, status, path, fuzz_lines(data, size));
    if (plan) check_plan(plan);
    bramah__plan_free(plan);
    if (i) fuzz_check_same_diag(&diag, &again);
  }
  return 0;
}
