/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The commands of a machine file over time: each value holds from its time until the next; before the first,
 * 0. */
#ifndef BRAMAH_LIB_CLI_SCHEDULE_H
#define BRAMAH_LIB_CLI_SCHEDULE_H

#include <stdint.h>
#include "bramah/model.h"

typedef struct cli_schedule cli_schedule;

bramah_status cli_schedule_new(const bramah_machine *machine, const bramah_model *model, bramah_diag *diag,
                               cli_schedule **out);
void cli_schedule_free(cli_schedule *schedule);

/* Commands u [inputs of the model] from this time on. Times must not decrease from call to call. */
const double *cli_schedule_at(cli_schedule *schedule, int64_t time_ns);

#endif
