/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/cli/cli.h"
#define cli_crew_processors cli_processors
