/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the report shows of the filter as a whole: NIS, conditioning of its covariance, time per step, the
 * machine's pose, and what befell it. */
#ifndef BRAMAH_LIB_CLI_FILTER_REPORT_H
#define BRAMAH_LIB_CLI_FILTER_REPORT_H

#include "bramah/report.h"
#include "lib/cli/durations.h"
#include "lib/cli/estimate.h"

enum { CLI_NIS_BANDS = 64 };

typedef struct cli_filter_report {
  bramah_report *report; /* borrowed */
  const bramah_session *session;
  size_t nis, conditioning, timing; /* plots */
  double nis_mean;                  /* running */
  uint64_t nis_n, rows, limit_row;  /* limit_row: the last one with an estimate at its limit, plus 1 */
  double low[CLI_NIS_BANDS], high[CLI_NIS_BANDS]; /* by degrees of freedom; 0: not looked up yet */
  int told_covariance;                            /* that it lost its positive definiteness */
  double *work;                                   /* [n_error x n_error] */
  double *points;                                 /* of a pose */
  unsigned char *away;                            /* [n_sensors] lost at present */
  bramah_filter_report counts;                    /* before the present row */
  uint32_t basis_changes;
  cli_durations durations;
} cli_filter_report;

/* Make the plots. Released by cli_filter_report_free in any case. */
bramah_status cli_filter_report_init(cli_filter_report *filter, bramah_report *report,
                                     const bramah_session *session, bramah_diag *diag);
void cli_filter_report_free(cli_filter_report *filter);

/* The present time t [s], after a step that took so many seconds of the clock (NaN: unknown). */
bramah_status cli_filter_report_add(cli_filter_report *filter, double t, const bramah_replay *replay,
                                    double seconds);

/* At the end: how long the steps took. */
bramah_status cli_filter_report_finish(cli_filter_report *filter);

#endif
