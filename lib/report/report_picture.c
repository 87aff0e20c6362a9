/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Plots for papers: one SVG file, or PNG by librsvg where the build found it. */
#include "lib/report/report_parts.h"
#include "lib/base/diag.h"
#include "lib/base/text.h"

#include <stdlib.h>
#include <string.h>

enum { PNG_SCALE = 2 };

static int ends_with(const char *text, const char *end)
{
  const size_t n = strlen(text), m = strlen(end);
  return n >= m && strcmp(text + n - m, end) == 0;
}

static const bramah__plot *find_plot(const bramah_report *report, const char *title, bramah_diag *diag)
{
  const char **titles = malloc((report->n_plots + 1) * sizeof *titles);
  for (size_t p = 0; p < report->n_plots; p++) {
    if (titles) titles[p] = report->plots[p].title;
    if (strcmp(report->plots[p].title, title) != 0) continue;
    free(titles);
    return &report->plots[p];
  }
  const char *near = titles ? bramah__nearest(title, report->n_plots, titles) : NULL;
  bramah__fail(diag, BRAMAH_E_REFERENCE, title, "there is no plot '");
  bramah__add_text(diag, title);
  bramah__add_text(diag, near ? "'; did you mean '" : "'");
  if (near) bramah__add_text(diag, near);
  if (near) bramah__add_text(diag, "'?");
  free(titles);
  return NULL;
}

/* What shall be drawn, [n] to be freed. */
static bramah_status choose(const bramah_report *report, size_t *n, const char *const *titles,
                            const bramah__plot ***out, bramah_diag *diag)
{
  const size_t most = *n ? *n : report->n_plots;
  const bramah__plot **plots = calloc(most + 1, sizeof *plots);
  if (!plots) return bramah__fail(diag, BRAMAH_E_MEMORY, NULL, "out of memory");
  for (size_t i = 0; i < most; i++) {
    plots[i] = *n ? find_plot(report, titles[i], diag) : &report->plots[i];
    if (plots[i]) continue;
    free(plots);
    return BRAMAH_E_REFERENCE;
  }
  *n = most;
  *out = plots;
  return BRAMAH_OK;
}

static void put_svg(bramah__page *page, const bramah_report *report, size_t n,
                    const bramah__plot *const *plots)
{
  const int64_t height = (int64_t)(n ? n : 1) * BRAMAH__PICTURE_HEIGHT + 6;
  bramah__page_put(page, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"");
  bramah__page_put_integer(page, BRAMAH__PICTURE_WIDTH);
  bramah__page_put(page, "\" height=\"");
  bramah__page_put_integer(page, height);
  bramah__page_put(page, "\" viewBox=\"0 0 ");
  bramah__page_put_integer(page, BRAMAH__PICTURE_WIDTH);
  bramah__page_put(page, " ");
  bramah__page_put_integer(page, height);
  bramah__page_put(page, "\">\n<title>");
  bramah__page_put_escaped(page, report->title);
  bramah__page_put(page, "</title>\n<style>\n");
  bramah__page_put(page, bramah__paper_css);
  bramah__page_put(page, "</style>\n<rect class=\"paper\" width=\"100%\" height=\"100%\"/>\n");
  for (size_t i = 0; i < n; i++)
    bramah__plot_picture(page, plots[i], bramah__report_time(report), (int64_t)i * BRAMAH__PICTURE_HEIGHT);
  bramah__page_put(page, "</svg>\n");
}

static bramah_status write_svg(const bramah_report *report, const char *path, size_t n,
                               const bramah__plot *const *plots, bramah_diag *diag)
{
  bramah__page *page;
  const bramah_status status = bramah__page_open(path, diag, &page);
  if (status) return status;
  put_svg(page, report, n, plots);
  return bramah__page_close(page, path, diag);
}

static bramah_status write_png(const bramah_report *report, const char *path, size_t n,
                               const bramah__plot *const *plots, bramah_diag *diag)
{
  bramah__page *page;
  bramah_status status = bramah__page_open(NULL, diag, &page);
  if (status) return status;
  put_svg(page, report, n, plots);
  bramah__page_flush(page);
  char *memory = page->memory;
  const size_t length = page->length;
  status = bramah__page_close(page, NULL, diag);
  if (!status) status = bramah__png_write(memory, length, PNG_SCALE, path, diag);
  free(memory);
  return status;
}

bramah_status bramah_report_write_picture(const bramah_report *report, const char *path, size_t n,
                                          const char *const *titles, bramah_diag *diag)
{
  const int png = ends_with(path, ".png");
  const bramah__plot **plots = NULL;
  if (!png && !ends_with(path, ".svg")) {
    bramah__fail(diag, BRAMAH_E_VALUE, NULL, "plots are written as .svg or .png");
    return bramah__at(diag, path, 0, 0), BRAMAH_E_VALUE;
  }
  bramah_status status = choose(report, &n, titles, &plots, diag);
  if (status) return status;
  status = png ? write_png(report, path, n, plots, diag) : write_svg(report, path, n, plots, diag);
  free(plots);
  return status;
}
