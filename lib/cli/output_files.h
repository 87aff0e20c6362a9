/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files the program writes. */
#ifndef BRAMAH_LIB_CLI_OUTPUT_FILES_H
#define BRAMAH_LIB_CLI_OUTPUT_FILES_H

#include <stdio.h>
#include "bramah/log.h"
#include "bramah/plant.h"

/* Refuse to write onto a file that is read in the same run, or twice onto one. Paths may be NULL or "-". */
bramah_status cli_check_output(const char *output, size_t n_others, const char *const *others,
                               bramah_diag *diag);

/* Can a file be made or replaced there? To be told before a long run, not after it. NULL and "-": yes. */
bramah_status cli_check_place(const char *output, bramah_diag *diag);

/* Where the summary goes: standard output, unless one of the files does. */
FILE *cli_summary_stream(size_t n_outputs, const char *const *outputs);

/* 1 for a file that can be read twice: no pipe, no device. */
int cli_is_regular(const char *path);

/* Indices of the plant's outputs that go into files, in its order: out [n_output]; returns how many. */
size_t cli_visible_outputs(const bramah_plant *plant, size_t *out);

/* What is printed of a time: seconds for files [s]. */
double cli_seconds(int64_t ns);

#endif
