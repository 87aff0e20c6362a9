/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The page of `bramah modes`. */
#ifndef BRAMAH_LIB_CLI_MODES_REPORT_H
#define BRAMAH_LIB_CLI_MODES_REPORT_H

#include "bramah/linear.h"
#include "lib/cli/cli.h"

/* Write it: the modes at a point, which is left as it was, as motions. where: the point in words; moves: it is no
 * equilibrium; table: the modes. */
bramah_status cli_modes_report(const char *path, const char *machine, const char *where, int moves,
                               const bramah_operating_point *point, const bramah_modes *modes,
                               const cli_table *table, bramah_diag *diag);

#endif
