/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Columns of the log and sensors, by what a study and its machine call them. */
#ifndef BRAMAH_LIB_CLI_STUDY_NAMES_H
#define BRAMAH_LIB_CLI_STUDY_NAMES_H

#include "bramah/session.h"

/* Name of the log's column for an input of the machine: "<input>.command" unless the study (NULL: none) says
 * otherwise. *line of the study, 0 for the default. */
void cli_input_column(const bramah_study *study, const char *input, char *out, size_t n, int *line);

/* The sensor of the session that measures this output and nothing else with weight 1, or -1. */
long cli_sensor_of(const bramah_session *session, size_t output);

#endif
