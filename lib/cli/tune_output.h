/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What `bramah tune` writes of its result. */
#ifndef BRAMAH_LIB_CLI_TUNE_OUTPUT_H
#define BRAMAH_LIB_CLI_TUNE_OUTPUT_H

#include "bramah/tune.h"
#include "lib/cli/cli.h"

/* Tables of a result, tables [CLI_TUNE_MOST_TABLES]; returns how many. */
enum { CLI_TUNE_MOST_TABLES = 6 };
size_t cli_tune_tables(const bramah_tune_result *result, cli_table *tables);

/* All sets tried, in their order. */
bramah_status cli_tune_write_evaluations(const char *path, const bramah_tune_result *result,
                                         bramah_diag *diag);

typedef struct cli_tune_note {
  const char *name, *value;
} cli_tune_note;

/* The HTML page; plots: criterion and values over the evaluations of the search, and profiles. name: of the
 * study. */
bramah_status cli_tune_write_report(const char *path, const char *name, const bramah_tune_result *result,
                                    size_t n_notes, const cli_tune_note *notes, size_t n_tables,
                                    const cli_table *tables, bramah_diag *diag);

#endif
