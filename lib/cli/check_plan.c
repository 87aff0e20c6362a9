/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/cli/check.h"
#include "lib/cli/message.h"
#include "lib/cli/study_lab.h"

#include <stdio.h>

static void explain(const cli_lab *lab)
{
  const bramah_plan *plan = lab->plan;
  printf("plan: %s\n", plan->name);
  printf("  truth: %s, %.6g s in steps of %.6g ms\n", plan->machine_file, plan->duration,
         1e-6 * (double)lab->machine.plant.step_ns);
  for (size_t i = 0; i < lab->n_signals; i++)
    printf("  signal %s: %s, up to %.6g\n", plan->signals[i].name, plan->signals[i].output,
           lab->truth[0].largest[i]);
  for (size_t i = 0; i < lab->n_studies; i++)
    printf("  study %s: %s, %zu sensors\n", plan->studies[i].name, lab->studies[i]->name,
           lab->studies[i]->n_sensors);
  for (size_t i = 0; i < lab->n_filters; i++)
    printf("  filter %s: %zu changes of the studies\n", lab->filters[i].name, lab->filters[i].n_changes);
  for (size_t i = 0; i < lab->n_scenarios; i++)
    printf("  scenario %s: %s\n", lab->scenarios[i].name,
           lab->scenarios[i].title ? lab->scenarios[i].title : "");
  for (size_t i = 0; i < plan->n_rates; i++) printf("  rate %.6g Hz\n", plan->rates[i]);
  printf("  findings to judge: %zu\n", plan->n_findings);
  printf("  %zu runs with %d seeds each\n", lab->n_runs * (size_t)plan->seeds, plan->seeds);
}

int cli_check_plan(const char *path)
{
  cli_lab lab = {0};
  bramah_diag diag;
  const bramah_status status = cli_lab_open(&lab, path, 1, 0, NULL, &diag);
  if (status)
    cli_report(&diag);
  else
    explain(&lab);
  cli_lab_close(&lab);
  return status != BRAMAH_OK;
}
