/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Noise that adapts while a log is replayed, as the section `adapt` of the study asks. */
#ifndef BRAMAH_LIB_CLI_ADAPT_H
#define BRAMAH_LIB_CLI_ADAPT_H

#include "bramah/replay.h"
#include "bramah/session.h"
#include "lib/cli/table.h"

typedef struct cli_adapt {
  bramah_adaptive *adaptive; /* NULL: the study asks for none */
  double *stated;            /* figures that the limits are factors on */
} cli_adapt;

/* Watch the replay of the session's filter; released by cli_adapt_close in any case. Errors: E_VALUE
 * (nothing is left to adapt; delays), with their place in the study. */
bramah_status cli_adapt_open(cli_adapt *adapt, const bramah_session *session, bramah_replay *replay,
                             bramah_diag *diag);
void cli_adapt_close(cli_adapt *adapt);

/* What the figures have become. */
cli_table cli_adapt_table(const cli_adapt *adapt, const bramah_filter *filter);

#endif
