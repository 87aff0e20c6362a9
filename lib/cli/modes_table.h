/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What `bramah modes` says of modes, as tables and as a file. */
#ifndef BRAMAH_LIB_CLI_MODES_TABLE_H
#define BRAMAH_LIB_CLI_MODES_TABLE_H

#include "bramah/linear.h"
#include "lib/cli/operating_point.h"
#include "lib/cli/table.h"

/* Modes and how their energy is shared: kinetic energy of the bodies, energy in oil and walls of the
 * volumes. */
typedef struct cli_modes {
  bramah_modes *modes;
  size_t n_bodies, n_volumes;
  double *share; /* [n_modes x (n_bodies + n_volumes)] sum 1, or all 0 where nothing holds energy */
} cli_modes;

bramah_status cli_modes_find(cli_operating_point *point, cli_modes *out, bramah_diag *diag);
void cli_modes_free(cli_modes *modes);

/* "unstable: 1 eigenvalue of 8 grows" */
void cli_modes_verdict(const cli_modes *modes, char *out, size_t size);

const char *cli_stability_name(bramah_stability stability);

cli_table cli_modes_table(const cli_operating_point *point, const cli_modes *modes);
/* Positions, pressures and spools of mode k: amplitude against the largest of its kind, and phase. */
cli_table cli_shape_table(const cli_operating_point *point, const cli_modes *modes, size_t k, char *title,
                          size_t size);

/* The eigenvalues by the three approaches of Gonzalez et al. (2017), each against the modes. */
bramah_status cli_approaches_table(cli_operating_point *point, const cli_modes *modes, cli_table *out,
                                   bramah_diag *diag);

/* CSV: a row per mode with its participations. */
bramah_status cli_modes_write(const cli_operating_point *point, const cli_modes *modes, const char *path,
                              bramah_diag *diag);

#endif
