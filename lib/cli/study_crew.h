/* SPDX-License-Identifier: GPL-3.0-or-later */
/* All runs of a planned study, by several threads. */
#ifndef BRAMAH_LIB_CLI_STUDY_CREW_H
#define BRAMAH_LIB_CLI_STUDY_CREW_H

#include "lib/cli/study_lab.h"

/* Processors that are there to be used. */
size_t cli_crew_processors(void);

/* Do all runs; says on standard error how many there are and about how long it will take. Returns how many
 * failed. */
size_t cli_crew_work(cli_lab *lab, size_t n_threads);

#endif
