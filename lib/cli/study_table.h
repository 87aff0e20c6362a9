/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The outcome of a planned study: tables for people, and all of it as CSV. */
#ifndef BRAMAH_LIB_CLI_STUDY_TABLE_H
#define BRAMAH_LIB_CLI_STUDY_TABLE_H

#include <stdio.h>
#include "lib/cli/study_lab.h"

/* A table for every scenario and rate: filters and studies down, signals across. */
void cli_study_print_tables(const cli_lab *lab, FILE *out);

/* Runs that failed: how many, and the first of them by name. */
void cli_study_print_failures(const cli_lab *lab, size_t failed, FILE *out);

/* A line for every scenario, filter, study, rate and signal. Path "-": standard output. Errors: E_FILE. */
bramah_status cli_study_write_csv(const cli_lab *lab, const char *path, bramah_diag *diag);

#endif
