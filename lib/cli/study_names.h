/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Columns of the log, by what a study and its machine call them. */
#ifndef BRAMAH_LIB_CLI_STUDY_NAMES_H
#define BRAMAH_LIB_CLI_STUDY_NAMES_H

#include "bramah/session.h"

/* Name of the log's column for an input of the machine: "<input>.command" unless the study (NULL: none) says
 * otherwise. *line of the study, 0 for the default. */
void cli_input_column(const bramah_study *study, const char *input, char *out, size_t n, int *line);

#endif
