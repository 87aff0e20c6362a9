/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Normalised estimation error squared over a run: errors of the state against the truth, by the filter's own
 * covariance. */
#ifndef BRAMAH_LIB_CLI_NEES_H
#define BRAMAH_LIB_CLI_NEES_H

#include "bramah/assess.h"
#include "lib/cli/estimate.h"
#include "lib/cli/truth.h"

enum { CLI_STATE_NAME = 128 };

typedef struct cli_nees {
  size_t n;                     /* error states of the plant; 0: not wanted */
  bramah_nis sum;               /* of the times at which the truth has every state */
  uint64_t missing;             /* times at which it had not */
  char (*name)[CLI_STATE_NAME]; /* [n] of the independent coordinates at the last time, pressures */
  long *column;                 /* [n] of the truth, -1: none */
  double *e, *P, *work, *x;     /* [n], [n x n], [n (n + 2)], [n] */
} cli_nees;

/* Released by cli_nees_free in any case. */
bramah_status cli_nees_init(cli_nees *nees, const cli_estimate *estimate, bramah_diag *diag);
void cli_nees_free(cli_nees *nees);

/* Add the present time. */
void cli_nees_add(cli_nees *nees, const cli_estimate *estimate, const cli_truth *truth);

#endif
