/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The plant noise a study assumes, acting on a simulated machine: what a filter of that study expects is then
 * true. */
#ifndef BRAMAH_LIB_CLI_PLANT_NOISE_H
#define BRAMAH_LIB_CLI_PLANT_NOISE_H

#include "bramah/session.h"

typedef struct cli_plant_noise cli_plant_noise;

/* Densities of accelerations and pressures from the study, for the machine as it stands now; its augmented
 * states and the noise of parameters are left out. The machine must outlive it. Errors: those of a
 * session. */
bramah_status cli_plant_noise_new(const char *study_path, uint64_t seed, const bramah_machine_plant *machine,
                                  bramah_diag *diag, cli_plant_noise **out);
void cli_plant_noise_free(cli_plant_noise *noise); /* NULL allowed */

/* A step of the machine's plant, then a displacement drawn from the covariance that a filter would add. */
bramah_status cli_plant_noise_step(cli_plant_noise *noise, bramah_diag *diag);

#endif
