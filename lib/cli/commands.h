/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The subcommands, one file each. */
#ifndef BRAMAH_LIB_CLI_COMMANDS_H
#define BRAMAH_LIB_CLI_COMMANDS_H

#include "lib/cli/arguments.h"

extern const cli_command cli_simulate, cli_replay, cli_study, cli_check, cli_linearize, cli_modes_command;

#endif
