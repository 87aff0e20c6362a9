/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/cli/parameters.h"
#include "bramah/units.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A number alone is in SI. */
static bramah_status read_quantity(const char *text, const char *unit, double *out, bramah_diag *diag)
{
  char *end;
  *out = strtod(text, &end);
  return end != text && !*end ? BRAMAH_OK : bramah_quantity_parse(text, unit, out, diag);
}

static bramah_status read_time(const char *text, const char *time, int64_t *ns, bramah_diag *diag)
{
  double seconds;
  const bramah_status status = read_quantity(time, "s", &seconds, diag);
  if (status) return status;
  if (!(seconds >= 0.0 && seconds < 9e9))
    return cli_fail(diag, BRAMAH_E_VALUE, "--parameter", 0, text, "'%s' is not a time to work with", time);
  *ns = llround(seconds * 1e9);
  return BRAMAH_OK;
}

static bramah_status check_range(const bramah_parameter_info *info, const cli_parameter *parameter,
                                 bramah_diag *diag)
{
  const int low = parameter->value < info->least;
  const char *unit = strcmp(info->unit, "1") == 0 ? "" : info->unit;
  if (!isfinite(parameter->value))
    return cli_fail(diag, BRAMAH_E_VALUE, NULL, 0, parameter->text, "is not finite");
  if (!low && !(parameter->value > info->most)) return BRAMAH_OK;
  return cli_fail(diag, BRAMAH_E_VALUE, NULL, 0, parameter->text, "must be at %s %.6g%s%s",
                  low ? "least" : "most", low ? info->least : info->most, *unit ? " " : "", unit);
}

/* NAME=VALUE[@TIME] in `copy`, which is cut into its parts. */
static bramah_status read_parts(const bramah_plant *plant, char *copy, cli_parameter *out, bramah_diag *diag)
{
  char *equals = strchr(copy, '='), *at = strrchr(copy, '@');
  bramah_parameter_info info;
  if (!equals || equals == copy || !equals[1])
    return cli_fail(diag, BRAMAH_E_SYNTAX, NULL, 0, out->text,
                    "is not of the form NAME=VALUE or NAME=VALUE@TIME");
  *equals = '\0';
  if (at) *at = '\0';
  bramah_status status = bramah_plant_parameter_index(plant, copy, &out->index, diag);
  if (status) return status;
  plant->parameter_info(plant->self, out->index, &info);
  status = read_quantity(equals + 1, info.unit, &out->value, diag);
  if (!status) status = check_range(&info, out, diag);
  return !status && at ? read_time(out->text, at + 1, &out->time_ns, diag) : status;
}

static bramah_status read_one(const bramah_plant *plant, const char *text, cli_parameter *out,
                              bramah_diag *diag)
{
  const size_t size = strlen(text) + 1;
  char *copy = malloc(size);
  if (!copy) return cli_fail(diag, BRAMAH_E_MEMORY, NULL, 0, NULL, "out of memory");
  memcpy(copy, text, size);
  *out = (cli_parameter){.text = text};
  const bramah_status status = read_parts(plant, copy, out, diag);
  free(copy);
  cli_place(diag, "--parameter", 0);
  if (!diag->thing[0]) snprintf(diag->thing, sizeof diag->thing, "%s", text);
  return status;
}

bramah_status cli_parameters_read(const cli_arguments *arguments, const bramah_plant *plant,
                                  cli_parameters *out, bramah_diag *diag)
{
  const char *text;
  bramah_status status = BRAMAH_OK;
  bramah_diag_clear(diag);
  out->list = calloc((size_t)arguments->n_given + 1, sizeof *out->list);
  if (!out->list) return cli_fail(diag, BRAMAH_E_MEMORY, NULL, 0, NULL, "out of memory");
  while (!status && (text = cli_value_again(arguments, "parameter", out->n)))
    status = read_one(plant, text, &out->list[out->n++], diag);
  return status;
}

void cli_parameters_free(cli_parameters *parameters) { free(parameters->list); }

bramah_status cli_parameters_set(cli_parameters *parameters, const bramah_plant *plant, int64_t time_ns,
                                 bramah_diag *diag)
{
  for (size_t i = 0; i < parameters->n; i++) {
    cli_parameter *p = &parameters->list[i];
    if (p->done || p->time_ns > time_ns) continue;
    const bramah_status status = plant->set_parameter(plant->self, p->index, p->value, diag);
    if (status) {
      cli_place(diag, "--parameter", 0);
      return status;
    }
    p->done = 1;
  }
  return BRAMAH_OK;
}

void cli_list_parameters(const bramah_plant *plant)
{
  printf("parameters:\n");
  for (size_t i = 0; i < plant->n_parameter; i++) {
    bramah_parameter_info info;
    plant->parameter_info(plant->self, i, &info);
    printf("  %s: %.6g", info.name, info.nominal);
    if (strcmp(info.unit, "1") != 0) printf(" %s", info.unit);
    if (info.least > -HUGE_VAL) printf(", at least %.6g", info.least);
    if (info.most < HUGE_VAL) printf(", at most %.6g", info.most);
    printf("\n");
  }
}
