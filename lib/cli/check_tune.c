/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What `bramah check` says of the tuning a study asks for. */
#include "lib/cli/check.h"
#include "lib/cli/message.h"
#include "lib/cli/tune_lab.h"

#include <stdio.h>

int cli_check_tune(const char *path)
{
  cli_tune_lab lab = {.quiet = 1};
  bramah_diag diag;
  bramah_status status = cli_tune_lab_open(&lab, path, &diag);
  if (!status) status = cli_tune_lab_add_parameters(&lab, &diag);
  for (size_t i = 0; !status && i < lab.n; i++) {
    const cli_tuned *t = &lab.tuned[i];
    printf("  to be tuned: %s, now %s, from %.6g to %.6g%s%s", t->name, t->text, t->least, t->most,
           *t->unit ? " " : "", t->unit);
    for (size_t k = 0; k < t->n_also; k++) printf("%s %s", k ? "," : "; the same for", t->also[k]);
    putchar('\n');
  }
  cli_tune_lab_close(&lab);
  if (!status) return 0;
  fflush(stdout);
  cli_report(&diag);
  return 1;
}
