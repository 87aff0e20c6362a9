/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Other processes: tune_alone.c, or tune_mpi.c in bramah-mpi. */
#ifndef BRAMAH_LIB_CLI_TUNE_RANKS_H
#define BRAMAH_LIB_CLI_TUNE_RANKS_H

#include "lib/tune/tune_internal.h"

extern const bramah__tune_ranks cli_tune_ranks;

/* Is this process the first one, with others in its service? rank 0: this one leads. */
void cli_tune_ranks_begin(size_t *rank, size_t *n_ranks);
void cli_tune_ranks_end(void);
/* After reading, with what came of it: do all have the same study, machine and logs? Asked on all ranks.
 * Where the first one failed the others return its status with an empty diag: it says it for all. */
bramah_status cli_tune_ranks_agree(const bramah__tune_problem *problem, bramah_status status,
                                   bramah_diag *diag);
/* What a worker does: jobs until it is dismissed. */
bramah_status cli_tune_ranks_serve(const bramah__tune_problem *problem, bramah_diag *diag);
void cli_tune_ranks_dismiss(void); /* all workers */

/* For tune and sweep: notes to standard error, and E_TIME with the signal that came. */
void cli_tune_tell(void *user, const char *line);
int cli_tune_stopped(void *user);
bramah_status cli_tune_name_signal(bramah_status status, bramah_diag *diag);

#endif
