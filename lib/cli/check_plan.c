/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bramah/sensor_study.h"
#include "lib/cli/check.h"
#include "lib/cli/message.h"

#include <stdio.h>

static void explain(const bramah_sensor_study *study)
{
  const bramah_sensor_study_layout *is = bramah_sensor_study_about(study);
  const bramah_plan *plan = is->plan;
  printf("plan: %s\n", plan->name);
  printf("  truth: %s, %.6g s in steps of %.6g ms\n", plan->machine_file, plan->duration,
         1e-6 * (double)is->step_ns);
  for (size_t i = 0; i < is->n_signals; i++)
    printf("  signal %s: %s, up to %.6g\n", plan->signals[i].name, plan->signals[i].output,
           bramah_sensor_study_largest(study, 0, i));
  for (size_t i = 0; i < is->n_studies; i++)
    printf("  study %s: %s, %zu sensors\n", plan->studies[i].name, is->studies[i]->name,
           is->studies[i]->n_sensors);
  for (size_t i = 0; i < is->n_filters; i++)
    printf("  filter %s: %zu changes of the studies\n", is->filters[i].name, is->filters[i].n_changes);
  for (size_t i = 0; i < is->n_scenarios; i++)
    printf("  scenario %s: %s\n", is->scenarios[i].name,
           is->scenarios[i].title ? is->scenarios[i].title : "");
  for (size_t i = 0; i < plan->n_rates; i++) printf("  rate %.6g Hz\n", plan->rates[i]);
  printf("  %zu runs with %d seeds each\n", is->n_runs * (size_t)plan->seeds, plan->seeds);
}

int cli_check_plan(const char *path)
{
  const bramah_sensor_study_options one_seed = {.seeds = 1};
  bramah_sensor_study *study = NULL;
  bramah_diag diag;
  if (bramah_sensor_study_open(path, &one_seed, &diag, &study)) {
    cli_report(&diag);
    return 1;
  }
  explain(study);
  bramah_sensor_study_free(study);
  return 0;
}
