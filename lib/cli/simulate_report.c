/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The page of a simulation: positions, first-order states and what soil puts on tools over time, the machine's pose, and the
 * ground in the end with the tracks of wheels and tools. */
#include "lib/cli/simulate_report.h"
#include "lib/cli/ground_page.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct shown {
  size_t output, plot;
} shown;

struct cli_simulate_page {
  const bramah_machine_plant *machine;
  bramah_report *report;
  size_t n_shown;
  shown *shown;
  cli_ground *ground;
};

/* ---- plots ---- */

static const char *section_of(const bramah_output_info *info)
{
  static const char *const of_tools[] = {".carried", ".cutting_force", ".force_x", ".force_y", ".force_z"};
  for (size_t k = 0; k < sizeof of_tools / sizeof *of_tools; k++) {
    const size_t n = strlen(info->name), end = strlen(of_tools[k]);
    if (n > end && strcmp(info->name + n - end, of_tools[k]) == 0) return "Soil on tools";
  }
  if (info->kind == BRAMAH_OUTPUT_FIRST_ORDER) return "Circuit";
  return info->kind == BRAMAH_OUTPUT_POSITION ? "Joints" : NULL;
}

static bramah_status add_plots(cli_simulate_page *page, bramah_diag *diag)
{
  const bramah_plant *plant = &page->machine->plant;
  page->shown = calloc(plant->n_output + 1, sizeof *page->shown);
  if (!page->shown) return cli_no_memory(diag);
  for (size_t i = 0; i < plant->n_output; i++) {
    bramah_output_info info;
    bramah_plant_output_info(plant, i, &info);
    const char *section = info.hidden ? NULL : section_of(&info);
    if (!section) continue;
    const cli_readable unit = cli_readable_unit(info.unit);
    const bramah_report_plot plot = {.section = section,
                                     .title = info.name,
                                     .unit = unit.unit,
                                     .factor = unit.factor,
                                     .names = {"simulated"}};
    page->shown[page->n_shown].output = i;
    const bramah_status status = bramah_report_add(page->report, &plot, &page->shown[page->n_shown].plot);
    if (status) return status == BRAMAH_E_MEMORY ? cli_no_memory(diag) : status;
    page->n_shown++;
  }
  return BRAMAH_OK;
}

/* ---- the page ---- */

bramah_status cli_simulate_page_new(const bramah_machine_plant *machine, bramah_diag *diag,
                                    cli_simulate_page **out)
{
  const char *name = bramah_model_get_info(machine->model).name;
  cli_simulate_page *page = *out = calloc(1, sizeof *page);
  if (!page) return cli_no_memory(diag);
  page->machine = machine;
  bramah_status status = bramah_report_new(name, diag, &page->report);
  if (!status) status = add_plots(page, diag);
  return status || !machine->site ? status : cli_ground_new(machine, diag, &page->ground);
}

bramah_status cli_simulate_page_row(cli_simulate_page *page, double time, bramah_diag *diag)
{
  const bramah_plant *plant = &page->machine->plant;
  bramah_status status = BRAMAH_OK;
  for (size_t k = 0; k < page->n_shown && !status; k++)
    status = bramah_report_point(page->report, page->shown[k].plot, BRAMAH_REPORT_ESTIMATE, time,
                                 plant->output(plant->self, page->shown[k].output), (double)NAN, (double)NAN);
  if (!status) status = bramah_report_pose(page->report, time, page->machine->coupled);
  cli_ground_follow(page->ground);
  return status == BRAMAH_E_MEMORY ? cli_no_memory(diag) : status;
}

bramah_status cli_simulate_page_write(cli_simulate_page *page, const char *path_of, const char *doubt,
                                      bramah_diag *diag)
{
  const bramah_report_answer answer = {
      .level = doubt ? BRAMAH_REPORT_WRONG : BRAMAH_REPORT_FINE,
      .headline = doubt ? "This motion is not to be trusted." : "This is a motion that a machine makes.",
      .reason = doubt ? doubt : "Energies add up, and nothing is beyond a physical limit.",
      .begin = (double)NAN,
      .end = (double)NAN};
  bramah_status status = bramah_report_say(page->report, &answer);
  if (!status) status = cli_ground_add(page->ground, page->report, diag);
  if (!status) status = bramah_report_write(page->report, BRAMAH_REPORT_PAGE, path_of, diag);
  return status;
}

void cli_simulate_page_free(cli_simulate_page *page)
{
  if (!page) return;
  cli_ground_free(page->ground);
  free(page->shown);
  bramah_report_free(page->report);
  free(page);
}
