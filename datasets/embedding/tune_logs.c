/* SPDX-License-Identifier: MIT */
/* The noise of a study from logs: tune_logs STUDY TUNED LOG... writes the tuned study to TUNED. */
#include <bramah/tune.h>
#include <stdio.h>

int main(int argc, char **argv)
{
  bramah_diag d = {.message = "usage: tune_logs STUDY TUNED LOG..."};
  bramah_tuning *tuning = NULL;
  if (argc < 4 || bramah_tune(argv[1], (size_t)argc - 3, (const char *const *)argv + 3, NULL, &d, &tuning) ||
      bramah_tuning_write(tuning, argv[2], NULL, &d))
    return fprintf(stderr, "%s:%d: %s %s\n", d.file, d.line, d.thing, d.message), 1;
  const bramah_tune_result *found = bramah_tuning_result(tuning);
  for (size_t i = 0; i < found->n; i++) {
    const bramah_tuned_value *v = &found->values[i];
    printf("%s: %.6g %s, was %.6g, 95 %%: %.4g to %.4g%s\n", v->path, v->found, v->unit, v->before, v->low,
           v->high,
           v->flat       ? ", poorly determined"
           : v->at_bound ? ", at its bound"
                         : "");
  }
  for (size_t i = 0; i < found->n_warnings; i++) printf("warning: %s\n", found->warnings[i]);
  printf("%s, mean NIS of the first log %.4f, was %.4f\n", found->converged ? "converged" : "stopped",
         found->nis_after[0], found->nis_before[0]);
  bramah_tuning_free(tuning);
  return 0;
}
