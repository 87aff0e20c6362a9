/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The plots of a replay in the HTML report. */
#ifndef BRAMAH_LIB_CLI_REPLAY_REPORT_H
#define BRAMAH_LIB_CLI_REPLAY_REPORT_H

#include "bramah/report.h"
#include "lib/cli/estimate.h"
#include "lib/cli/filter_report.h"
#include "lib/cli/sensors_report.h"
#include "lib/cli/truth.h"

/* An output with its plot; the truth may be missing. */
typedef struct cli_plotted {
  size_t output, plot;
  size_t error_plot; /* where there is a truth */
  long truth;        /* column, -1: none */
  long sensor;       /* that measures just this, -1: none */
} cli_plotted;

typedef struct cli_replay_report {
  bramah_report *report;
  size_t n;
  cli_plotted *plotted;
  size_t n_augmented;
  size_t *augmented_plot; /* [n_augmented] */
  cli_sensors_report sensors;
  cli_filter_report filter;
} cli_replay_report;

/* Begin the report: angles and rates of the joints the study starts from, every pressure, errors (truth may
 * be NULL), then sensors and filter. Released by cli_replay_report_free in any case. */
bramah_status cli_replay_report_init(cli_replay_report *report, const bramah_session *session,
                                     const cli_estimate *estimate, const cli_truth *truth, bramah_diag *diag);
void cli_replay_report_free(cli_replay_report *report);

/* Add a sample measured at t [s]. */
bramah_status cli_replay_report_innovation(cli_replay_report *report, double t, const bramah_rewind_use *use);

/* Add the present time, after a step of so many seconds of the clock; other arguments as for
 * cli_accuracy_add. */
bramah_status cli_replay_report_add(cli_replay_report *report, double t, const cli_estimate *estimate,
                                    const cli_truth *truth, const bramah_plant *model, const double *measured,
                                    double seconds);

/* At the end, before it is written. */
bramah_status cli_replay_report_finish(cli_replay_report *report);

#endif
