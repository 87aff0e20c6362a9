/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the filter of a study estimates beside the state, and noise on parameters, bound to a machine: names
 * are found and units checked. */
#ifndef BRAMAH_LIB_CLI_AUGMENTED_H
#define BRAMAH_LIB_CLI_AUGMENTED_H

#include "bramah/files.h"
#include "bramah/filter.h"
#include "lib/cli/table.h"

typedef struct cli_augmented {
  bramah_augmented *states;      /* [study->n_augmented] */
  const char **unit;             /* [study->n_augmented] of their values */
  bramah_parameter_noise *noise; /* [study->n_parameter_noise] */
  const char **noise_unit;       /* [study->n_parameter_noise] of the parameters */
} cli_augmented;

/* Room for those of the study; released by cli_augmented_free in any case. */
bramah_status cli_augmented_make_room(cli_augmented *augmented, const bramah_study *study, bramah_diag *diag);
void cli_augmented_free(cli_augmented *augmented);

/* Bind augmented state i; noise i. sensors [study->n_sensors] must be bound. Errors: E_REFERENCE, E_UNIT,
 * E_VALUE, with their place in the study. */
bramah_status cli_augmented_bind(cli_augmented *augmented, const bramah_study *study,
                                 const bramah_plant *plant, const bramah_sensor *sensors, size_t i,
                                 bramah_diag *diag);
bramah_status cli_parameter_noise_bind(cli_augmented *augmented, const bramah_study *study,
                                       const bramah_plant *plant, size_t i, bramah_diag *diag);

/* The sensor whose bias state i of the study is; study->n_sensors for a parameter. */
size_t cli_augmented_sensor(const bramah_study *study, size_t i);

/* One line each, in plain words. */
void cli_augmented_explain(const cli_augmented *augmented, const bramah_plant *plant, size_t i);
void cli_parameter_noise_explain(const cli_augmented *augmented, size_t i);

/* Unit of augmented state i of a filter; a table of what they are estimated to be. */
const char *cli_augmented_unit(const bramah_filter *filter, size_t i);
cli_table cli_augmented_table(const bramah_filter *filter);

#endif
