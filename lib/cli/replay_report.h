/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The plots of a replay: estimates and errors; of each sensor its measurements over their predictions, its
 * innovations, how near they came to the gate, their autocorrelation; of the filter NIS, condition of its
 * covariance, time per step, the machine's pose; and events. */
#ifndef BRAMAH_LIB_CLI_REPLAY_REPORT_H
#define BRAMAH_LIB_CLI_REPLAY_REPORT_H

#include "bramah/assess.h"
#include "bramah/report.h"

typedef struct cli_replay_report cli_replay_report;

/* Begin the report of a study: released by cli_replay_report_free in any case (NULL allowed). The assessment is
 * given before the first sample. */
bramah_status cli_replay_report_new(const bramah_session *session, bramah_diag *diag,
                                    cli_replay_report **out);
void cli_replay_report_free(cli_replay_report *report);
bramah_status cli_replay_report_begin(cli_replay_report *report, bramah_assess *assess, bramah_diag *diag);

/* Listener of the assessment; user is the report. */
void cli_replay_report_sample(void *report, const bramah_rewind_use *use);

/* Add the present estimate. Errors: E_MEMORY. */
bramah_status cli_replay_report_estimate(cli_replay_report *report, bramah_diag *diag);

/* At the end, before it is written: autocorrelations, and how long the steps took. Errors: E_MEMORY. */
bramah_status cli_replay_report_finish(cli_replay_report *report);
bramah_report *cli_replay_report_page(const cli_replay_report *report);

#endif
