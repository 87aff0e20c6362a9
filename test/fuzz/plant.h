/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A machine that was loaded, taken as far as a plant that steps. */
#ifndef BRAMAH_TEST_FUZZ_PLANT_H
#define BRAMAH_TEST_FUZZ_PLANT_H

#include "bramah/machine.h"

/* Compile the machine and, if that goes, make a few steps: what fails says why and leaves the plant as it
 * was, what succeeds is finite, and a step made again from a saved state gives the same bits. Machines too
 * large to be fuzzed at a useful rate are passed over. */
void fuzz_run_machine(bramah_machine *machine, const char *path, int lines);

#endif
