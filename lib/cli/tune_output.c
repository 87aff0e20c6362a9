/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _XOPEN_SOURCE 700 /* realpath */
#include "lib/cli/tune_output.h"
#include "bramah/study.h"
#include "lib/cli/message.h"
#include "lib/cli/tune_validate.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the study ---- */

static void write_comment(const cli_tuned *t, const cli_tune_certainty *c, size_t i, char *out, size_t room)
{
  const char *gap = *t->unit ? " " : "";
  if (!c)
    snprintf(out, room, "tuned; was %s", t->text);
  else
    snprintf(out, room, "tuned: 95 %% interval %.4g to %.4g%s%s%s; was %s", c->low[i], c->high[i], gap,
             t->unit,
             c->held[i] == CLI_TUNE_FREE   ? ""
             : c->held[i] == CLI_TUNE_FLAT ? ", the logs hardly tell it"
                                           : ", at its bound",
             t->text);
}

static bramah_status set_place(bramah_edit *edit, const char *name, const char *value, const char *comment,
                               bramah_diag *diag)
{
  char path[512];
  const int in_machine = strncmp(name, "machine.", 8) == 0;
  snprintf(path, sizeof path, "%s%s", in_machine ? "changes." : "", in_machine ? name + 8 : name);
  return bramah_edit_set(edit, path, value, comment, diag);
}

static bramah_status set_figure(bramah_edit *edit, const cli_tune_lab *lab, size_t i, double x,
                                const cli_tune_certainty *certainty, bramah_diag *diag)
{
  const cli_tuned *t = &lab->tuned[i];
  char value[128], comment[256];
  snprintf(value, sizeof value, "%.6g%s%s", x, *t->unit ? " " : "", t->unit);
  write_comment(t, certainty, i, comment, sizeof comment);
  bramah_status status = set_place(edit, t->name, value, comment, diag);
  for (size_t k = 0; !status && k < t->n_also; k++) {
    snprintf(comment, sizeof comment, "tuned together with %.200s", t->name);
    status = set_place(edit, t->also[k], value, comment, diag);
  }
  return status;
}

static size_t folder_length(const char *path)
{
  const char *slash = strrchr(path, '/');
  return slash ? (size_t)(slash - path) + 1 : 0;
}

/* The study names its machine from its own folder: in another one the whole path must stand. */
static bramah_status carry_machine(bramah_edit *edit, const cli_tune_lab *lab, const char *path,
                                   bramah_diag *diag)
{
  const size_t n = folder_length(path);
  if (strcmp(path, "-") == 0 || (n == folder_length(lab->path) && strncmp(path, lab->path, n) == 0))
    return BRAMAH_OK;
  char *whole = realpath(bramah_session_study(lab->session)->machine_file, NULL);
  if (!whole) return BRAMAH_OK;
  const bramah_status status = bramah_edit_set(edit, "machine", whole, NULL, diag);
  free(whole);
  return status;
}

bramah_status cli_tune_write_study(const char *path, const cli_tune_lab *lab, const char *set,
                                   const cli_tune_certainty *certainty, const char *head, bramah_diag *diag)
{
  bramah_edit *edit = NULL;
  double x[CLI_TUNE_MOST];
  cli_tune_set_numbers(lab, set, x);
  bramah_diag_clear(diag);
  bramah_status status = bramah_edit_study(lab->study, diag, &edit);
  if (!status) status = carry_machine(edit, lab, path, diag);
  for (size_t i = 0; !status && i < lab->n; i++) status = set_figure(edit, lab, i, x[i], certainty, diag);
  if (!status) status = bramah_edit_write(edit, path, head, diag);
  bramah_edit_free(edit);
  return status;
}

/* ---- evaluations ---- */

static void put_number(double x, FILE *file)
{
  fputc(',', file);
  if (isfinite(x)) fprintf(file, "%.9g", x);
}

static void put_row(const cli_tune_search *s, size_t i, int on_front, FILE *file)
{
  const cli_tune_tried *t = &s->tried[i];
  const cli_tune_verdict *v = &t->verdict;
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
  for (size_t k = 0; k < s->lab->n; k++) put_number(t->x[k], file);
  fputc('\n', file);
}

bramah_status cli_tune_write_evaluations(const char *path, const cli_tune_search *search, bramah_diag *diag)
{
  const cli_tune_lab *lab = search->lab;
  const int own = strcmp(path, "-") != 0;
  unsigned char *front = calloc(search->n_tried + 1, 1);
  if (!front) return cli_fail(diag, BRAMAH_E_MEMORY, NULL, 0, NULL, "out of memory");
  cli_tune_find_front(search, front);
  FILE *file = own ? fopen(path, "w") : stdout;
  if (!file) {
    free(front);
    return cli_fail(diag, BRAMAH_E_FILE, path, 0, NULL, "cannot be created: %s", strerror(errno));
  }
  fputs("evaluation,phase,slope,outcome,criterion,cost,nis,nis_distance,rmse,prediction,innovations,gated,"
        "front",
        file);
  for (size_t k = 0; k < lab->n; k++)
    fprintf(file, *lab->tuned[k].unit ? ",%s[%s]" : ",%s%s", lab->tuned[k].name, lab->tuned[k].unit);
  fputc('\n', file);
  for (size_t i = 0; i < search->n_tried; i++) put_row(search, i, front[i], file);
  free(front);
  const int bad = ferror(file) != 0, unclosed = own ? fclose(file) != 0 : fflush(file) != 0;
  return bad || unclosed ? cli_fail(diag, BRAMAH_E_FILE, path, 0, NULL, "cannot be written completely")
                         : BRAMAH_OK;
}
