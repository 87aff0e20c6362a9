/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the plan claims of the outcome, judged by the figures. */
#ifndef BRAMAH_LIB_CLI_STUDY_FINDINGS_H
#define BRAMAH_LIB_CLI_STUDY_FINDINGS_H

#include <stdio.h>
#include "lib/cli/study_lab.h"

/* A paragraph for every claim and filter: whether it holds, and by what figures. Cases are single pairs or
 * rows of means over the seeds; figures over many cases are geometric means of ratios of errors. */
void cli_findings_print(const cli_lab *lab, FILE *out);

#endif
