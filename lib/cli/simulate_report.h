/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The page of `bramah simulate`: the machine's motion, and the ground that it leaves. */
#ifndef BRAMAH_LIB_CLI_SIMULATE_REPORT_H
#define BRAMAH_LIB_CLI_SIMULATE_REPORT_H

#include "bramah/simulation.h"
#include "lib/cli/cli.h"

typedef struct cli_simulate_page cli_simulate_page;

/* A page for a machine, which must outlive it. Errors: E_MEMORY. */
bramah_status cli_simulate_page_new(const bramah_machine_plant *machine, bramah_diag *diag,
                                    cli_simulate_page **out);
/* The row at that time. */
bramah_status cli_simulate_page_row(cli_simulate_page *page, double time, bramah_diag *diag);
/* Write it; doubt: why the motion is not to be trusted, NULL: it is. */
bramah_status cli_simulate_page_write(cli_simulate_page *page, const char *path, const char *doubt,
                                      bramah_diag *diag);
void cli_simulate_page_free(cli_simulate_page *page); /* NULL allowed */

#endif
