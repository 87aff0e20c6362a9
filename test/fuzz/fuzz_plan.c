/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Any bytes as a plan of a study. What was loaded keeps the limits that its header states. */
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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  const char *path = fuzz_file(data, size);
  bramah_diag diag, again;
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
