/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/cli/tune_output.h"
#include "lib/cli/cli.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void put_number(double x, FILE *file)
{
  fputc(',', file);
  if (isfinite(x)) fprintf(file, "%.9g", x);
}

static void put_row(const bramah__tune_search *s, size_t i, int on_front, FILE *file)
{
  const bramah__tune_tried *t = &s->tried[i];
  const bramah__tune_verdict *v = &t->verdict;
  const int whole = !v->status && !v->stopped;
  fprintf(file, "%zu,%s,%d,%s", i + 1, t->phase, t->slope,
          v->status    ? bramah_status_name(v->status)
          : v->stopped ? "given up"
                       : "ok");
  put_number(t->value, file);
  put_number(whole ? v->cost : (double)NAN, file);
  put_number(whole ? v->nis : (double)NAN, file);
  put_number(whole ? v->distance : (double)NAN, file);
  put_number(whole ? v->rmse : (double)NAN, file);
  put_number(whole ? v->prediction : (double)NAN, file);
  put_number(whole ? v->used : (double)NAN, file);
  put_number(whole ? v->gated : (double)NAN, file);
  fprintf(file, ",%d", on_front);
  for (size_t k = 0; k < s->problem->n; k++) put_number(t->x[k], file);
  fputc('\n', file);
}

bramah_status cli_tune_write_evaluations(const char *path, const bramah__tune_search *search,
                                         bramah_diag *diag)
{
  const bramah__tune_problem *problem = search->problem;
  const int own = strcmp(path, "-") != 0;
  unsigned char *front = calloc(search->n_tried + 1, 1);
  if (!front) return cli_fail(diag, BRAMAH_E_MEMORY, NULL, 0, NULL, "out of memory");
  bramah__tune_find_front(search, front);
  FILE *file = own ? fopen(path, "w") : stdout;
  if (!file) {
    free(front);
    return cli_fail(diag, BRAMAH_E_FILE, path, 0, NULL, "cannot be created: %s", strerror(errno));
  }
  fputs("evaluation,phase,slope,outcome,criterion,cost,nis,nis_distance,rmse,prediction,innovations,gated,"
        "front",
        file);
  for (size_t k = 0; k < problem->n; k++)
    fprintf(file, *problem->tuned[k].unit ? ",%s[%s]" : ",%s%s", problem->tuned[k].name,
            problem->tuned[k].unit);
  fputc('\n', file);
  for (size_t i = 0; i < search->n_tried; i++) put_row(search, i, front[i], file);
  free(front);
  const int bad = ferror(file) != 0, unclosed = own ? fclose(file) != 0 : fflush(file) != 0;
  return bad || unclosed ? cli_fail(diag, BRAMAH_E_FILE, path, 0, NULL, "cannot be written completely")
                         : BRAMAH_OK;
}
