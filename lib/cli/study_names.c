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

long cli_sensor_of(const bramah_session *session, size_t output)
{
  for (size_t i = 0; i < session->study->n_sensors; i++) {
    const bramah_sensor *sensor = &session->sensors[i];
    if (sensor->shape == BRAMAH_SENSOR_SUM && sensor->n_terms == 1 && sensor->output[0] == output &&
        sensor->weight[0] == 1.0)
      return (long)i;
  }
  return -1;
}
