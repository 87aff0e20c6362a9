/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/cli/replay_report.h"
#include "lib/cli/augmented.h"
#include "lib/cli/message.h"
#include "lib/cli/study_names.h"
#include "lib/cli/table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const double band = 1.96; /* half width of 95 % in standard deviations */

/* A plot of one output, its name in the title, its unit as people read it. */
static bramah_status add_plot(cli_replay_report *r, const char *section, const char *name, const char *what,
                              const char *si, int symmetric, size_t *plot, bramah_diag *diag)
{
  const cli_readable unit = cli_readable_unit(si);
  char title[256];
  snprintf(title, sizeof title, "%s%s", name, what);
  const bramah_report_plot look = {.section = section,
                                   .title = title,
                                   .unit = unit.unit,
                                   .factor = unit.factor,
                                   .symmetric = symmetric,
                                   .names = {symmetric ? "error" : "estimate"}};
  const bramah_status status = bramah_report_add(r->report, &look, plot);
  if (status) return cli_fail(diag, status, NULL, 0, title, "the plot cannot be made");
  return BRAMAH_OK;
}

static bramah_status add_output(cli_replay_report *r, size_t i, const bramah_session *session,
                                const cli_truth *truth, bramah_diag *diag)
{
  const bramah_plant *plant = bramah_session_plant(session);
  cli_plotted *p = &r->plotted[r->n++];
  bramah_output_info info;
  plant->output_info(plant->self, i, &info);
  *p = (cli_plotted){.output = i, .truth = -1, .sensor = bramah_session_sensor_of_output(session, i)};
  bramah_status status = BRAMAH_OK;
  if (truth) status = cli_truth_find(truth, info.name, info.unit, &p->truth, diag);
  return status ? status : add_plot(r, "Estimated states", info.name, "", info.unit, 0, &p->plot, diag);
}

static bramah_status add_error_plots(cli_replay_report *r, const bramah_plant *plant, bramah_diag *diag)
{
  bramah_status status = BRAMAH_OK;
  for (size_t k = 0; !status && k < r->n; k++) {
    bramah_output_info info;
    plant->output_info(plant->self, r->plotted[k].output, &info);
    if (r->plotted[k].truth >= 0)
      status = add_plot(r, "Errors against the truth", info.name, ": estimate minus truth", info.unit, 1,
                        &r->plotted[k].error_plot, diag);
  }
  return status;
}

static bramah_status add_augmented_plots(cli_replay_report *r, const bramah_filter *filter, bramah_diag *diag)
{
  bramah_status status = BRAMAH_OK;
  for (size_t i = 0; !status && i < r->n_augmented; i++)
    status = add_plot(r, "Estimated parameters and inputs", bramah_filter_augmented(filter, i)->name, "",
                      cli_augmented_unit(filter, i), 0, &r->augmented_plot[i], diag);
  return status;
}

bramah_status cli_replay_report_init(cli_replay_report *report, const bramah_session *session,
                                     const cli_estimate *estimate, const cli_truth *truth, bramah_diag *diag)
{
  const bramah_plant *plant = bramah_session_plant(session);
  const bramah_study *study = bramah_session_study(session);
  bramah_diag_clear(diag);
  bramah_status status = bramah_report_new(study->name, diag, &report->report);
  if (status) return status;
  report->plotted = calloc(plant->n_output + 1, sizeof *report->plotted);
  report->n_augmented = study->n_augmented;
  report->augmented_plot = calloc(study->n_augmented + 1, sizeof *report->augmented_plot);
  if (!report->plotted || !report->augmented_plot)
    return cli_fail(diag, BRAMAH_E_MEMORY, NULL, 0, NULL, "out of memory");
  /* The rate of a joint is the output behind its position: so the plant interface promises. */
  for (size_t j = 0; !status && j < study->n_joints; j++)
    for (size_t k = 0; !status && k < 2; k++)
      status = add_output(report, bramah_session_joint_output(session, j) + k, session, truth, diag);
  for (size_t c = 0; !status && c < estimate->n_outputs; c++) {
    bramah_output_info info;
    plant->output_info(plant->self, estimate->outputs[c], &info);
    if (info.kind == BRAMAH_OUTPUT_FIRST_ORDER)
      status = add_output(report, estimate->outputs[c], session, truth, diag);
  }
  if (!status) status = add_augmented_plots(report, bramah_session_filter(session), diag);
  if (!status) status = add_error_plots(report, plant, diag);
  if (!status) status = cli_sensors_report_init(&report->sensors, report->report, session, diag);
  return status ? status : cli_filter_report_init(&report->filter, report->report, session, diag);
}

void cli_replay_report_free(cli_replay_report *report)
{
  bramah_report_free(report->report);
  free(report->plotted);
  cli_sensors_report_free(&report->sensors);
  cli_filter_report_free(&report->filter);
  free(report->augmented_plot);
}

static bramah_status add_points(bramah_report *report, const cli_plotted *p, double t, double estimate,
                                double sigma, double truth)
{
  bramah_status status =
      bramah_report_point(report, p->plot, BRAMAH_REPORT_ESTIMATE, t, estimate, band * sigma);
  if (status || isnan(truth)) return status;
  status = bramah_report_point(report, p->plot, BRAMAH_REPORT_TRUTH, t, truth, NAN);
  if (status) return status;
  return bramah_report_point(report, p->error_plot, BRAMAH_REPORT_ESTIMATE, t, estimate - truth,
                             band * sigma);
}

bramah_status cli_replay_report_innovation(cli_replay_report *report, double t, const bramah_rewind_use *use)
{
  return cli_sensors_report_add(&report->sensors, use->sensor, t, use->y, &use->innovation);
}

bramah_status cli_replay_report_add(cli_replay_report *report, double t, const cli_estimate *estimate,
                                    const cli_truth *truth, const bramah_plant *model, const double *measured,
                                    double seconds)
{
  bramah_status status = BRAMAH_OK;
  for (size_t k = 0; !status && k < report->n; k++) {
    const cli_plotted *p = &report->plotted[k];
    const double true_value = p->truth >= 0 ? cli_truth_value(truth, (size_t)p->truth) : NAN;
    status =
        add_points(report->report, p, t, estimate->value[p->output], estimate->sigma[p->output], true_value);
    if (!status && p->sensor >= 0)
      status =
          bramah_report_point(report->report, p->plot, BRAMAH_REPORT_MEASURED, t, measured[p->sensor], NAN);
    if (!status && model)
      status = bramah_report_point(report->report, p->plot, BRAMAH_REPORT_MODEL, t,
                                   model->output(model->self, p->output), NAN);
  }
  for (size_t i = 0; !status && i < report->n_augmented; i++)
    status = bramah_report_point(report->report, report->augmented_plot[i], BRAMAH_REPORT_ESTIMATE, t,
                                 bramah_filter_augmented_value(estimate->filter, i),
                                 band * bramah_filter_augmented_sigma(estimate->filter, i));
  return status ? status : cli_filter_report_add(&report->filter, t, estimate->replay, seconds);
}

bramah_status cli_replay_report_finish(cli_replay_report *report)
{
  const bramah_status status = cli_sensors_report_finish(&report->sensors);
  return status ? status : cli_filter_report_finish(&report->filter);
}
