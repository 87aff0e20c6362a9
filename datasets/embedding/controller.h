/* SPDX-License-Identifier: MIT */
#ifndef EMBEDDING_CONTROLLER_H
#define EMBEDDING_CONTROLLER_H

#include "gains.h"
#include "simulator.h"

/* The controller process: estimates, law, snapshots. `again`: it takes the place of one that was shot.
 * Returns 0 or 1. */
int control_machine(const bramah_study *study, const gains *g, const run_options *o, int socket, shared *s,
                    int again);

#endif
