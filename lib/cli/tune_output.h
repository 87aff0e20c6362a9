/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What tuning and sweeping write. */
#ifndef BRAMAH_LIB_CLI_TUNE_OUTPUT_H
#define BRAMAH_LIB_CLI_TUNE_OUTPUT_H

#include "lib/tune/tune_internal.h"

/* All sets tried, in their order. */
bramah_status cli_tune_write_evaluations(const char *path, const bramah__tune_search *search,
                                         bramah_diag *diag);

#endif
