/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The model of a study started like its filter and driven by the same commands, but never corrected: what
 * estimates are compared with. */
#ifndef BRAMAH_LIB_CLI_MODEL_ALONE_H
#define BRAMAH_LIB_CLI_MODEL_ALONE_H

#include "bramah/session.h"

typedef struct cli_model_alone {
  bramah_coupled *coupled;
  bramah_plant plant;
  int running; /* 0: not started, or it could not be integrated any further */
} cli_model_alone;

bramah_status cli_model_alone_start(cli_model_alone *alone, bramah_session *session, bramah_diag *diag);
/* One step to time t [s] with the commands that the filter's plant had during its last step. */
void cli_model_alone_step(cli_model_alone *alone, const double *inputs, double t);

#endif
