/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What was found in a log: rows, and all that was dropped, put in order, joined, taken for empty or held. */
#ifndef BRAMAH_LIB_CLI_LOG_TABLE_H
#define BRAMAH_LIB_CLI_LOG_TABLE_H

#include "lib/cli/json.h"
#include "bramah/log.h"
#include "bramah/machine.h"
#include "lib/cli/cli.h"

/* A line for each kind of thing and device; of its inputs, those of the plant. */
cli_table cli_log_table(const bramah_log_stream *log, const bramah_plant *plant);

/* The same for programs: an array "devices" with an object per device. */
void cli_log_json(const bramah_log_stream *log, cli_json *json);

#endif
