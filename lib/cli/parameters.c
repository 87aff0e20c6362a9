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

/* NAME=VALUE[@TIME] */
static bramah_status read_one(const bramah_plant *plant, const char *text, cli_parameter *out,
                              bramah_diag *diag)
{
  char parts[1024];
  *out = (cli_parameter){.text = text};
  snprintf(parts, sizeof parts, "%s", text);
  char *equals = strchr(parts, '='), *at = strrchr(parts, '@');
  if (!equals || equals == parts || !equals[1] || strlen(text) >= sizeof parts)
    return cli_fail(diag, BRAMAH_E_SYNTAX, NULL, 0, text, "is not of the form NAME=VALUE or NAME=VALUE@TIME");
  *equals = '\0';
  if (at) *at = '\0';
  bramah_parameter_info info;
  bramah_status status = bramah_plant_parameter_index(plant, parts, &out->index, diag);
  if (status) return status;
  plant->parameter_info(plant->self, out->index, &info);
  status = read_quantity(equals + 1, info.unit, &out->value, diag);
  if (status) return status;
  if (!isfinite(out->value)) return cli_fail(diag, BRAMAH_E_VALUE, NULL, 0, text, "is not finite");
  const int low = out->value < info.least;
  const char *unit = strcmp(info.unit, "1") == 0 ? "" : info.unit;
  if (low || out->value > info.most)
    return cli_fail(diag, BRAMAH_E_VALUE, NULL, 0, text, "must be at %s %.6g%s%s", low ? "least" : "most",
                    low ? info.least : info.most, *unit ? " " : "", unit);

  double seconds = 0.0;
  if (at) status = read_quantity(at + 1, "s", &seconds, diag);
  if (status) return status;
  if (!(seconds >= 0.0 && seconds < 9e9))
    return cli_fail(diag, BRAMAH_E_VALUE, "--parameter", 0, text, "'%s' is not a time to work with", at + 1);
  out->time_ns = llround(seconds * 1e9);
  return BRAMAH_OK;
}

bramah_status cli_parameters_read(const cli_arguments *arguments, const bramah_plant *plant,
                                  cli_parameters *out, bramah_diag *diag)
{
  const char *text;
  bramah_status status = BRAMAH_OK;
  bramah_diag_clear(diag);
  out->list = calloc((size_t)arguments->n_given + 1, sizeof *out->list);
  if (!out->list) return cli_fail(diag, BRAMAH_E_MEMORY, NULL, 0, NULL, "out of memory");
  while (!status && (text = cli_value_again(arguments, "parameter", out->n))) {
    status = read_one(plant, text, &out->list[out->n++], diag);
    if (!status) continue;
    cli_place(diag, "--parameter", 0);
    if (!diag->thing[0]) snprintf(diag->thing, sizeof diag->thing, "%s", text);
  }
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
