/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/cli/operating_point.h"
#include "lib/cli/cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* All values of an option, into list [n_given], which moves on. */
static const char *const *take(const cli_arguments *arguments, const char *option, const char ***list,
                               size_t *n)
{
  const char **first = *list, *text;
  for (*n = 0; (text = cli_value_again(arguments, option, *n)); ++*n) *(*list)++ = text;
  return first;
}

static const char *const lists[] = {"set", "parameter", "command", "hold", "free", "input"};

bramah_status cli_operating_point(const cli_arguments *arguments, bramah_operating_point **out,
                                  bramah_diag *diag)
{
  const char **list = calloc((size_t)arguments->n_given + 1, sizeof *list), **next = list;
  bramah_operating_point_options o;
  bramah_operating_point_options_default(&o);
  *out = NULL;
  bramah_diag_clear(diag);
  if (!list) return cli_no_memory(diag);
  if (cli_value(arguments, "at")) o.at = cli_value(arguments, "at");
  o.set = take(arguments, "set", &next, &o.n_set);
  o.parameter = take(arguments, "parameter", &next, &o.n_parameter);
  o.command = take(arguments, "command", &next, &o.n_command);
  o.hold = take(arguments, "hold", &next, &o.n_hold);
  o.free = take(arguments, "free", &next, &o.n_free);
  o.input = take(arguments, "input", &next, &o.n_input);
  o.sensors = cli_value(arguments, "sensors");
  const bramah_status status = bramah_operating_point_new(arguments->operands[0], &o, diag, out);
  free(list);
  if (status && strcmp(diag->file, "at") == 0) snprintf(diag->file, sizeof diag->file, "--at");
  for (size_t i = 0; status && i < sizeof lists / sizeof lists[0]; i++)
    if (strcmp(diag->file, lists[i]) == 0) snprintf(diag->file, sizeof diag->file, "--%s", lists[i]);
  return status;
}

void cli_say_where(const cli_arguments *arguments, const bramah_operating_point *point, char *out,
                   size_t size)
{
  const char *at = cli_value(arguments, "at");
  const int trims = cli_value(arguments, "hold") || cli_value(arguments, "free");
  size_t used = (size_t)snprintf(out, size, "%s, linearized at ", bramah_model_get_info(point->model).name);
  if (used >= size) return;
  if (at && strchr(at, '@'))
    used += (size_t)snprintf(out + used, size - used, "the row of a log at %.9g s", point->time);
  else if (point->time > 0.0)
    used += (size_t)snprintf(out + used, size - used, "%.9g s", point->time);
  else
    used += (size_t)snprintf(out + used, size - used, "%s", at ? at : "the start");
  if (trims && used < size) snprintf(out + used, size - used, ", then in equilibrium");
}
