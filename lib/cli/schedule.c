/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/cli/schedule.h"
#include "lib/cli/message.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct cli_schedule {
  size_t n;
  const bramah_input **input; /* [n] in the model's order; NULL: none is planned */
  size_t *next;               /* [n] first point that has not come yet */
  double *u;                  /* [n] */
};

static const bramah_input *find_input(const bramah_machine *machine, const char *name)
{
  for (size_t i = 0; i < machine->n_inputs; i++)
    if (strcmp(machine->inputs[i].name, name) == 0) return &machine->inputs[i];
  return NULL;
}

bramah_status cli_schedule_new(const bramah_machine *machine, const bramah_model *model, bramah_diag *diag,
                               cli_schedule **out)
{
  const size_t n = bramah_model_n_inputs(model);
  cli_schedule *schedule = calloc(1, sizeof *schedule);
  if (schedule) {
    schedule->input = calloc(n + 1, sizeof *schedule->input);
    schedule->next = calloc(n + 1, sizeof *schedule->next);
    schedule->u = calloc(n + 1, sizeof *schedule->u);
  }
  if (!schedule || !schedule->input || !schedule->next || !schedule->u) {
    cli_schedule_free(schedule);
    return cli_fail(diag, BRAMAH_E_MEMORY, NULL, 0, NULL, "out of memory");
  }
  schedule->n = n;
  for (size_t i = 0; i < n; i++) schedule->input[i] = find_input(machine, bramah_model_input_name(model, i));
  *out = schedule;
  return BRAMAH_OK;
}

void cli_schedule_free(cli_schedule *schedule)
{
  if (!schedule) return;
  free(schedule->input);
  free(schedule->next);
  free(schedule->u);
  free(schedule);
}

/* Whole nanoseconds: a point at 2.5 s is reached in the step that ends there, whatever the rounding of sums.
 */
static int has_come(const bramah_input *input, size_t point, int64_t time_ns)
{
  return point < input->n_points && input->times[point] * 1e9 < (double)time_ns + 0.5;
}

const double *cli_schedule_at(cli_schedule *schedule, int64_t time_ns)
{
  for (size_t i = 0; i < schedule->n; i++) {
    const bramah_input *input = schedule->input[i];
    while (input && has_come(input, schedule->next[i], time_ns))
      schedule->u[i] = input->values[schedule->next[i]++];
  }
  return schedule->u;
}
