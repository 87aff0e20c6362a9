/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What tuning and sweeping write. */
#ifndef BRAMAH_LIB_CLI_TUNE_OUTPUT_H
#define BRAMAH_LIB_CLI_TUNE_OUTPUT_H

#include "lib/cli/tune_certainty.h"

/* The study with the figures found in place of its own, each with a comment on its interval, and `head` in
 * front. Figures of the machine become changes. certainty NULL: no intervals. */
bramah_status cli_tune_write_study(const char *path, const cli_tune_lab *lab, const char *set,
                                   const cli_tune_certainty *certainty, const char *head, bramah_diag *diag);

/* All sets tried, in their order. */
bramah_status cli_tune_write_evaluations(const char *path, const cli_tune_search *search, bramah_diag *diag);

#endif
