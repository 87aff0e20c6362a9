/* SPDX-License-Identifier: GPL-3.0-or-later */
/* No other processes: the plain program. */
#include "lib/cli/tune_ranks.h"

void cli_tune_ranks_begin(size_t *rank, size_t *n_ranks)
{
  *rank = 0;
  *n_ranks = 1;
}

void cli_tune_ranks_end(void) {}
void cli_tune_ranks_dismiss(void) {}

bramah_status cli_tune_ranks_agree(const bramah__tune_problem *problem, bramah_status status,
                                   bramah_diag *diag)
{
  (void)problem, (void)diag;
  return status;
}

static void give(size_t rank, size_t number, const bramah__tune_job *job)
{
  (void)rank, (void)number, (void)job;
}

static int fetch(const bramah__tune_problem *problem, size_t *rank, size_t *number, double *scores)
{
  (void)problem, (void)rank, (void)number, (void)scores;
  return 0;
}

bramah_status cli_tune_ranks_serve(const bramah__tune_problem *problem, bramah_diag *diag)
{
  (void)problem, (void)diag;
  return BRAMAH_OK;
}

const bramah__tune_ranks cli_tune_ranks = {.give = give, .fetch = fetch};
