/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A warning before a run: states that the sensors do not see. */
#ifndef BRAMAH_LIB_CLI_OBSERVABLE_H
#define BRAMAH_LIB_CLI_OBSERVABLE_H

#include "bramah/session.h"

/* Look a short time ahead from where the filter of the session starts, on a plant of its own, and name the
 * states of which the sensors would tell nothing. Says nothing where all is well. */
void cli_warn_unobservable(const bramah_session *session);

#endif
