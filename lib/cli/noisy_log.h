/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The log a machine with the sensors of a study would have written. */
#ifndef BRAMAH_LIB_CLI_NOISY_LOG_H
#define BRAMAH_LIB_CLI_NOISY_LOG_H

#include <stdio.h>
#include "bramah/session.h"

typedef struct cli_noisy_log cli_noisy_log;

/* Bind the sensors of the study to the plant; the study's changes are what the filter has wrong and are not
 * applied. Sampling periods and delays are taken to the nearest multiple of the step, with a note where that
 * is not exact. A sample stands in the row of its arrival. */
bramah_status cli_noisy_log_new(const char *study_path, uint64_t seed, const bramah_machine_plant *machine,
                                bramah_diag *diag, cli_noisy_log **out);
void cli_noisy_log_free(cli_noisy_log *log);

bramah_status cli_noisy_log_create(cli_noisy_log *log, const char *path, bramah_diag *diag);
/* The row of step k, at which the commands u hold from now on. */
bramah_status cli_noisy_log_row(cli_noisy_log *log, uint64_t k, int64_t time_ns, const double *u,
                                bramah_diag *diag);
/* Flush and close the file. */
bramah_status cli_noisy_log_finish(cli_noisy_log *log, bramah_diag *diag);

size_t cli_noisy_log_n_sensors(const cli_noisy_log *log);

/* A line for each sensor that was driven to the ends of its range. */
void cli_noisy_log_print_saturated(const cli_noisy_log *log, FILE *out);

#endif
