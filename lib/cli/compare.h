/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One comparison: what was asked for and what came out. compare.c knows the options and runs it,
 * compare_tell.c tells. */
#ifndef BRAMAH_LIB_CLI_COMPARE_H
#define BRAMAH_LIB_CLI_COMPARE_H

#include "lib/cli/compare_columns.h"
#include "lib/cli/json.h"

#include <stdio.h>

typedef struct cli_comparison {
  const char *path[2], *time, *json_path;
  int all; /* what the first file alone has is a difference */
  int64_t from_ns, to_ns, within_ns;
  cli_pairs pairs;
  cli_columns columns;
  cli_json json;
  int different;
} cli_comparison;

/* 1: the first file has rows, cells or columns that the second one lacks. */
int cli_comparison_lacks(const cli_comparison *comparison);

void cli_comparison_print(const cli_comparison *comparison, FILE *out);
void cli_comparison_write(cli_comparison *comparison, int code);

#endif
