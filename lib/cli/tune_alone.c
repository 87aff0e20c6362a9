/* SPDX-License-Identifier: GPL-3.0-or-later */
/* No other processes: the program without MPI. */
#include "lib/cli/tune.h"

const bramah_transport *cli_transport_begin(void) { return NULL; }

void cli_transport_end(void) {}
