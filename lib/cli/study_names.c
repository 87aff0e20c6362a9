/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/cli/study_names.h"

#include <stdio.h>
#include <string.h>

void cli_input_column(const bramah_study *study, const char *input, char *out, size_t n, int *line)
{
  *line = 0;
  snprintf(out, n, "%s.command", input);
  for (size_t i = 0; study && i < study->n_inputs; i++) {
    if (strcmp(study->inputs[i].target, input) != 0) continue;
    snprintf(out, n, "%s", study->inputs[i].name);
    *line = study->inputs[i].line;
  }
}
