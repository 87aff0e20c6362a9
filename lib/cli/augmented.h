/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the filter of a study estimates beside the state, in words and tables. */
#ifndef BRAMAH_LIB_CLI_AUGMENTED_H
#define BRAMAH_LIB_CLI_AUGMENTED_H

#include "bramah/session.h"
#include "lib/cli/table.h"

/* A line for each augmented state and each noise on a parameter, in plain words. */
void cli_augmented_explain(const bramah_session *session);

/* Unit of augmented state i of a filter; a table of what they are estimated to be. */
const char *cli_augmented_unit(const bramah_filter *filter, size_t i);
cli_table cli_augmented_table(const bramah_filter *filter);

#endif
