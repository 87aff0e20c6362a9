/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What `bramah check` says of the tuning a study asks for. */
#include "lib/cli/check.h"
#include "lib/cli/message.h"
#include "lib/tune/tune_internal.h"

#include <stdio.h>

int cli_check_tune(const char *path)
{
  bramah__tune_problem problem = {0};
  bramah_diag diag;
  bramah_status status = bramah__tune_problem_open(&problem, path, &diag);
  if (!status) status = bramah__tune_problem_add_parameters(&problem, &diag);
  for (size_t i = 0; !status && i < problem.n; i++) {
    const bramah__tune_parameter *t = &problem.tuned[i];
    printf("  to be tuned: %s, now %s, from %.6g to %.6g%s%s", t->name, t->text, t->least, t->most,
           *t->unit ? " " : "", t->unit);
    for (size_t k = 0; k < t->n_also; k++) printf("%s %s", k ? "," : "; the same for", t->also[k]);
    putchar('\n');
  }
  bramah__tune_problem_close(&problem);
  if (!status) return 0;
  fflush(stdout);
  cli_report(&diag);
  return 1;
}
