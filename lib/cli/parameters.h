/* SPDX-License-Identifier: GPL-3.0-or-later */
/* --parameter NAME=VALUE[@TIME]: parameters of the plant set at the start of a run or during it. */
#ifndef BRAMAH_LIB_CLI_PARAMETERS_H
#define BRAMAH_LIB_CLI_PARAMETERS_H

#include "bramah/plant.h"
#include "lib/cli/cli.h"

typedef struct cli_parameter {
  const char *text; /* of the command line */
  size_t index;
  double value;
  int64_t time_ns;
  int done;
} cli_parameter;

typedef struct cli_parameters {
  size_t n;
  cli_parameter *list; /* [n] in the order of the command line */
} cli_parameters;

/* Values with the unit of the parameter or in SI without one; times in seconds or with a unit. *out is
 * released by cli_parameters_free, also after an error. */
bramah_status cli_parameters_read(const cli_arguments *arguments, const bramah_plant *plant,
                                  cli_parameters *out, bramah_diag *diag);
void cli_parameters_free(cli_parameters *parameters);

/* Set what is due at this time and has not been set. */
bramah_status cli_parameters_set(cli_parameters *parameters, const bramah_plant *plant, int64_t time_ns,
                                 bramah_diag *diag);

/* Names, nominal values and units on standard output. */
void cli_list_parameters(const bramah_plant *plant);

#endif
