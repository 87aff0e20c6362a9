/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The HTML page of a tuning run: tables, and how the search went. */
#ifndef BRAMAH_LIB_CLI_TUNE_REPORT_H
#define BRAMAH_LIB_CLI_TUNE_REPORT_H

#include "lib/cli/cli.h"
#include "lib/tune/tune_internal.h"

typedef struct cli_tune_note {
  const char *name, *value;
} cli_tune_note;

/* Plots: criterion and values over the evaluations of the search, and profiles (NULL: none). certainty NULL:
 * no bands. */
bramah_status cli_tune_write_report(const char *path, const bramah__tune_search *search,
                                    const bramah__tune_certainty *certainty,
                                    const bramah__tune_profile *profiles, size_t n_notes,
                                    const cli_tune_note *notes, size_t n_tables, const cli_table *tables,
                                    bramah_diag *diag);

#endif
