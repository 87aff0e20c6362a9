/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One run of a planned study: the filter over one noise of one truth. */
#ifndef BRAMAH_LIB_CLI_STUDY_RUN_H
#define BRAMAH_LIB_CLI_STUDY_RUN_H

#include "lib/cli/study_lab.h"

/* Do run number `index` and store its figures, or why it failed. Only what belongs to this run is written. */
void cli_study_run(cli_lab *lab, size_t index);

#endif
