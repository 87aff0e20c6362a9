/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The ground below a machine, for the page of a run (ground_page.c). */
#ifndef BRAMAH_LIB_CLI_GROUND_PAGE_H
#define BRAMAH_LIB_CLI_GROUND_PAGE_H

#include "bramah/report.h"
#include "bramah/worksite.h"
#include "lib/cli/cli.h"

typedef struct cli_ground cli_ground;

/* NULL through *out where the machine has no terrain; NULL is allowed below. The machine must outlive it. */
bramah_status cli_ground_new(const bramah_machine_plant *machine, bramah_diag *diag, cli_ground **out);
void cli_ground_follow(cli_ground *ground); /* wheels and tools are where the plant has them now */
bramah_status cli_ground_add(cli_ground *ground, bramah_report *report, bramah_diag *diag); /* in the end */
void cli_ground_free(cli_ground *ground);

#endif
