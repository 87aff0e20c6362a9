/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _POSIX_C_SOURCE 200809L /* strdup, strerror_r that returns an int */
#include "bramah/report.h"
#include "lib/base/diag.h"
#include "lib/tools/report_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Nothing that large can be drawn: the width of the axis would not be finite. */
#define LARGEST 1e300

bramah_status bramah_report_new(const char *title, bramah_diag *diag, bramah_report **out)
{
  bramah_report *report = calloc(1, sizeof *report);
  if (report) report->title = strdup(title);
  if (!report || !report->title) {
    free(report);
    return bramah__fail(diag, BRAMAH_E_MEMORY, NULL, "out of memory");
  }
  *out = report;
  return BRAMAH_OK;
}

static void free_texts(char **texts, size_t n)
{
  for (size_t i = 0; texts && i < n; i++) free(texts[i]);
  free(texts);
}

static void free_plot(bramah__plot *plot)
{
  free(plot->title);
  free(plot->unit);
  for (int s = 0; s < BRAMAH__N_SERIES; s++) free(plot->series[s]);
}

static void free_table(bramah__table *table)
{
  free(table->title);
  free_texts(table->texts, (table->n_rows + 1) * table->n_columns);
}

void bramah_report_free(bramah_report *report)
{
  if (!report) return;
  for (size_t i = 0; i < report->n_notes; i++) {
    free(report->notes[i].name);
    free(report->notes[i].value);
  }
  for (size_t i = 0; i < report->n_plots; i++) free_plot(&report->plots[i]);
  for (size_t i = 0; i < report->n_tables; i++) free_table(&report->tables[i]);
  free(report->notes);
  free(report->plots);
  free(report->tables);
  free(report->title);
  free(report);
}

/* Array with room for one item more than the n it has; NULL (and the array as it was) if there is no memory.
 */
static void *with_room(void *items, size_t n, size_t size) { return realloc(items, (n + 1) * size); }

bramah_status bramah_report_note(bramah_report *report, const char *name, const char *value)
{
  bramah__note *notes = with_room(report->notes, report->n_notes, sizeof *notes);
  if (!notes) return BRAMAH_E_MEMORY;
  report->notes = notes;
  bramah__note note = {strdup(name), strdup(value)};
  if (note.name && note.value) {
    notes[report->n_notes++] = note;
    return BRAMAH_OK;
  }
  free(note.name);
  free(note.value);
  return BRAMAH_E_MEMORY;
}

bramah_status bramah_report_add_plot(bramah_report *report, const char *title, const char *unit,
                                     double factor, int symmetric, size_t *plot)
{
  if (!isfinite(factor)) return BRAMAH_E_VALUE;
  bramah__plot *plots = with_room(report->plots, report->n_plots, sizeof *plots);
  if (!plots) return BRAMAH_E_MEMORY;
  report->plots = plots;
  bramah__plot new_plot = {
      .title = strdup(title), .unit = strdup(unit), .factor = factor, .symmetric = symmetric};
  if (!new_plot.title || !new_plot.unit) {
    free_plot(&new_plot);
    return BRAMAH_E_MEMORY;
  }
  plots[report->n_plots] = new_plot;
  *plot = report->n_plots++;
  return BRAMAH_OK;
}

bramah_status bramah_report_point(bramah_report *report, size_t plot, bramah_report_series series, double t,
                                  double value, double half_width)
{
  if (plot >= report->n_plots || (int)series < 0 || (int)series >= BRAMAH__N_SERIES) return BRAMAH_E_ARGUMENT;
  bramah__plot *p = &report->plots[plot];
  if (!(fabs(t) < LARGEST)) return BRAMAH_E_TIME;
  value *= p->factor;
  if (!(fabs(value) < LARGEST)) return BRAMAH_OK;
  if (!p->series[series]) p->series[series] = calloc(1, sizeof(bramah__series));
  bramah__series *s = p->series[series];
  if (!s) return BRAMAH_E_MEMORY;
  if (s->n_bins && t < s->t_last) return BRAMAH_E_TIME;
  double half = fabs(half_width * p->factor), centre = p->symmetric ? 0.0 : value;
  if (!(half < LARGEST) || series != BRAMAH_REPORT_ESTIMATE) half = (double)NAN;
  bramah__series_add(s, t, value, centre - half, centre + half);
  return BRAMAH_OK;
}

static int copy_texts(char **out, const char *const *texts, size_t n)
{
  int complete = 1;
  for (size_t i = 0; i < n; i++) {
    out[i] = strdup(texts[i] ? texts[i] : "");
    complete &= out[i] != NULL;
  }
  return complete;
}

bramah_status bramah_report_add_table(bramah_report *report, const char *title, size_t n_rows,
                                      size_t n_columns, const char *const *header, const char *const *cells)
{
  if (!n_columns) return BRAMAH_E_ARGUMENT;
  bramah__table *tables = with_room(report->tables, report->n_tables, sizeof *tables);
  if (!tables) return BRAMAH_E_MEMORY;
  report->tables = tables;
  bramah__table table = {strdup(title), n_rows, n_columns, calloc((n_rows + 1) * n_columns, sizeof(char *))};
  int complete = table.title && table.texts;
  complete = complete && copy_texts(table.texts, header, n_columns);
  complete = complete && copy_texts(table.texts + n_columns, cells, n_rows * n_columns);
  if (!complete) {
    free_table(&table);
    return BRAMAH_E_MEMORY;
  }
  tables[report->n_tables++] = table;
  return BRAMAH_OK;
}

static bramah_status fail_system(bramah_diag *diag, const char *path, const char *what, int error)
{
  char reason[128];
  if (strerror_r(error, reason, sizeof reason) != 0) reason[0] = '\0';
  bramah__fail(diag, BRAMAH_E_FILE, NULL, what);
  bramah__at(diag, path, 0, 0);
  bramah__add_text(diag, reason);
  return BRAMAH_E_FILE;
}

bramah_status bramah_report_write(const bramah_report *report, const char *path, bramah_diag *diag)
{
  bramah__page *page = malloc(sizeof *page);
  if (!page) return bramah__fail(diag, BRAMAH_E_MEMORY, NULL, "out of memory");
  page->error = 0;
  page->used = 0;
  page->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (page->fd < 0) {
    int reason = errno;
    free(page);
    return fail_system(diag, path, "cannot create: ", reason);
  }
  bramah__page_write(page, report);
  int error = page->error;
  if (close(page->fd) != 0 && !error && errno != EINTR) error = errno;
  free(page);
  return error ? fail_system(diag, path, "cannot write: ", error) : BRAMAH_OK;
}
