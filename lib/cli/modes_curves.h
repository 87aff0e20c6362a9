/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Frequency responses and root loci of `bramah modes`. */
#ifndef BRAMAH_LIB_CLI_MODES_CURVES_H
#define BRAMAH_LIB_CLI_MODES_CURVES_H

#include "lib/cli/chart.h"
#include "lib/cli/modes_table.h"

/* Responses of --response INPUT:OUTPUT over frequencies that cover the modes. */
typedef struct cli_response {
  char name[256];
  size_t u, y, n;
  double *w, *re, *im, *hz, *magnitude, *phase; /* [n]; phase [deg] without leaps */
} cli_response;

bramah_status cli_response_make(const cli_operating_point *point, const cli_modes *modes, const char *text,
                                cli_response *out, bramah_diag *diag);
void cli_response_free(cli_response *response);
void cli_response_charts(FILE *page, const cli_operating_point *point, const cli_response *response);

/* Eigenvalues over a parameter of the plant, --locus NAME=FROM:TO[:N]. The plant stands where it stood afterwards. */
typedef struct cli_locus {
  char name[256];
  const char *unit;
  size_t n, order;                  /* values; eigenvalues of each */
  double *value, *re, *im, *growth; /* [n], [n x order], [n x order], [n] largest real part */
  size_t *n_unstable;               /* [n] */
} cli_locus;

bramah_status cli_locus_make(cli_operating_point *point, const char *text, cli_locus *out, bramah_diag *diag);
void cli_locus_free(cli_locus *locus);
cli_table cli_locus_table(const cli_locus *locus);
void cli_locus_charts(FILE *page, const cli_locus *locus);

/* Both as CSV: kind,name,parameter or frequency, re, im. */
bramah_status cli_curves_write(const char *path, size_t n_responses, const cli_response *responses,
                               const cli_locus *locus, bramah_diag *diag);

#endif
