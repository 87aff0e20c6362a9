/* SPDX-License-Identifier: GPL-3.0-or-later */
/* No other processes: the plain program. */
#include "lib/cli/tune_crew.h"

void cli_tune_ranks_begin(size_t *rank, size_t *n_ranks)
{
  *rank = 0;
  *n_ranks = 1;
}

void cli_tune_ranks_end(void) {}
void cli_tune_ranks_dismiss(void) {}

bramah_status cli_tune_ranks_agree(const cli_tune_lab *lab, bramah_status status, bramah_diag *diag)
{
  (void)lab, (void)diag;
  return status;
}

void cli_tune_ranks_give(size_t rank, size_t number, const cli_tune_job *job)
{
  (void)rank, (void)number, (void)job;
}

int cli_tune_ranks_fetch(const cli_tune_lab *lab, size_t *rank, size_t *number, double *figures)
{
  (void)lab, (void)rank, (void)number, (void)figures;
  return 0;
}

bramah_status cli_tune_ranks_serve(const cli_tune_lab *lab, bramah_diag *diag)
{
  (void)lab, (void)diag;
  return BRAMAH_OK;
}
