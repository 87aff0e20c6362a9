/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/cli/augmented.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The name of an unknown command has a dot, which no name in a file may have. */
static const char *what_of(const bramah_augmented *a)
{
  if (a->kind == BRAMAH_AUGMENTED_BIAS) return "bias of";
  return strchr(a->name, '.') ? "unknown input, parameter" : "parameter";
}

static void explain(const bramah_session *session, size_t i)
{
  const bramah_augmented *a = &bramah_session_filter_options(session).augmented[i];
  const bramah_plant *plant = bramah_session_plant(session);
  const cli_readable unit = cli_readable_unit(bramah_session_augmented_unit(session, i));
  const long p = a->kind == BRAMAH_AUGMENTED_PARAMETER ? bramah_plant_find_parameter(plant, a->at) : -1;
  printf("  estimated %s: %s %s [%s], starts at %.6g, sigma %.6g; ", a->name, what_of(a), a->at, unit.unit,
         p < 0 ? 0.0 : unit.factor * plant->parameter(plant->self, (size_t)p), unit.factor * a->sigma);
  if (a->time_constant > 0.0)
    printf("Gauss-Markov of order %d, time constant %.6g s", a->order == 2 ? 2 : 1, a->time_constant);
  else
    printf(a->noise > 0.0 ? "random walk" : "constant");
  if (a->noise > 0.0)
    printf(", noise %.6g %s/s^%s", unit.factor * a->noise, unit.unit, a->order == 2 ? "1.5" : "0.5");
  if (a->least < a->most && a->least > -HUGE_VAL) printf(", at least %.6g", unit.factor * a->least);
  if (a->least < a->most && a->most < HUGE_VAL) printf(", at most %.6g", unit.factor * a->most);
  printf("\n");
}

void cli_augmented_explain(const bramah_session *session)
{
  const bramah_filter_options options = bramah_session_filter_options(session);
  for (size_t i = 0; i < options.n_augmented; i++) explain(session, i);
  for (size_t i = 0; i < options.n_parameter_noise; i++) {
    const cli_readable unit = cli_readable_unit(bramah_session_noise_unit(session, i));
    printf("  noise on %s: %.6g %s/Hz^0.5\n", options.parameter_noise[i].at,
           unit.factor * options.parameter_noise[i].density, unit.unit);
  }
}

const char *cli_augmented_unit(const bramah_filter *filter, size_t i)
{
  const bramah_augmented *a = bramah_filter_augmented(filter, i);
  const bramah_plant *plant = bramah_filter_plant(filter);
  if (a->kind == BRAMAH_AUGMENTED_PARAMETER) {
    bramah_parameter_info info;
    plant->parameter_info(plant->self, (size_t)bramah_plant_find_parameter(plant, a->at), &info);
    return info.unit;
  }
  size_t k = 0;
  while (strcmp(bramah_filter_sensor(filter, k)->name, a->at) != 0) k++;
  return bramah_filter_sensor(filter, k)->unit;
}

cli_table cli_augmented_table(const bramah_filter *filter)
{
  static const char *const header[] = {"estimated", "", "unit", "at the end", "sigma"};
  cli_table table = cli_table_make("Estimated beside the state", "lllrr", header);
  for (size_t i = 0; i < bramah_filter_n_augmented(filter); i++) {
    const bramah_augmented *a = bramah_filter_augmented(filter, i);
    const cli_readable unit = cli_readable_unit(cli_augmented_unit(filter, i));
    cli_table_add(&table, "%s", a->name);
    cli_table_add(&table, "%s%s", a->kind == BRAMAH_AUGMENTED_BIAS ? "bias of " : "", a->at);
    cli_table_add(&table, "%s", unit.unit);
    cli_table_add(&table, "%.6g", unit.factor * bramah_filter_augmented_value(filter, i));
    cli_table_add_number(&table, unit.factor * bramah_filter_augmented_sigma(filter, i));
  }
  return table;
}
