/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Many replays at once: by threads of this process and, where the program was built for it, by other
 * processes through MPI. What comes out does not depend on how many there are or who is done first. Every
 * result goes into the journal as it comes; what the journal knows is not replayed again. */
#ifndef BRAMAH_LIB_CLI_TUNE_CREW_H
#define BRAMAH_LIB_CLI_TUNE_CREW_H

#include "bramah/journal.h"
#include "lib/cli/tune_replay.h"

typedef struct cli_tune_crew {
  const cli_tune_lab *lab;
  size_t n_threads;
  bramah_journal *journal;
  uint64_t replays;   /* made in this run; a neighbour counts as one */
  double log_seconds; /* of log replayed in this run */
  size_t n_ranks;     /* 1: no other processes */
} cli_tune_crew;

/* Do the jobs; figures [n] pointers to room for cli_tune_n_figures each. Errors: E_MEMORY; E_FILE (the
 * journal cannot take more: what was done before is in it); E_TIME (interrupted). */
bramah_status cli_tune_crew_work(cli_tune_crew *crew, size_t n, const cli_tune_job *jobs,
                                 double *const *figures, bramah_diag *diag);

/* ---- other processes: tune_alone.c, or tune_mpi.c in bramah-mpi ---- */

/* Is this process the first one, with others in its service? rank 0: this one leads. */
void cli_tune_ranks_begin(size_t *rank, size_t *n_ranks);
void cli_tune_ranks_end(void);
/* After reading, with what came of it: do all have the same study, machine and logs? Asked on all ranks.
 * Where the first one failed the others return its status with an empty diag: it says it for all. */
bramah_status cli_tune_ranks_agree(const cli_tune_lab *lab, bramah_status status, bramah_diag *diag);
/* Hand a job to worker 1 <= rank < n_ranks; fetch an answer: 1 and whose with its figures, 0 if none has
 * come. `number` comes back with the answer. */
void cli_tune_ranks_give(size_t rank, size_t number, const cli_tune_job *job);
int cli_tune_ranks_fetch(const cli_tune_lab *lab, size_t *rank, size_t *number, double *figures);
/* What a worker does: jobs until it is dismissed. */
bramah_status cli_tune_ranks_serve(const cli_tune_lab *lab, bramah_diag *diag);
void cli_tune_ranks_dismiss(void); /* all workers */

#endif
