/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The numbers of all plots as CSV. */
#include "lib/report/report_parts.h"

#include <math.h>
#include <string.h>

/* In quotes where need be. */
static void put_text(bramah__page *page, const char *text)
{
  if (!strpbrk(text, ",\"\n\r")) {
    bramah__page_put(page, text);
    return;
  }
  bramah__page_put(page, "\"");
  for (; *text; text++) {
    if (*text == '"') bramah__page_put(page, "\"");
    bramah__page_put_bytes(page, text, 1);
  }
  bramah__page_put(page, "\"");
}

static void put_cell(bramah__page *page, double value, int digits)
{
  bramah__page_put(page, ",");
  if (!isnan(value)) bramah__page_put_number(page, value, digits);
}

static void put_series(bramah__page *page, const bramah__plot *plot, bramah_report_series series)
{
  const bramah__samples *samples = &plot->curve[series]->samples;
  for (size_t i = 0; i < samples->n; i++) {
    const bramah__sample *s = &samples->at[i];
    put_text(page, plot->title);
    bramah__page_put(page, ",");
    put_text(page, plot->unit);
    bramah__page_put(page, ",");
    put_text(page, bramah__series_name(plot, series));
    put_cell(page, s->t, 15);
    bramah__page_put(page, ",");
    bramah__page_put_integer(page, (int64_t)(i + 1 < samples->n ? samples->steps : samples->in_last));
    const float values[] = {s->min, s->mean, s->max, s->low, s->high};
    for (size_t k = 0; k < 5; k++) put_cell(page, (double)values[k], 8);
    bramah__page_put(page, "\n");
  }
}

bramah_status bramah_report_write_data(const bramah_report *report, const char *path, bramah_diag *diag)
{
  bramah__page *page;
  const bramah_status status = bramah__page_open(path, diag, &page);
  if (status) return status;
  bramah__page_put(page, "plot,unit,series,x,steps,min,mean,max,low,high\n");
  for (size_t p = 0; p < report->n_plots; p++)
    for (size_t k = 0; k < BRAMAH__N_SERIES; k++)
      if (report->plots[p].curve[bramah__drawn[k]]) put_series(page, &report->plots[p], bramah__drawn[k]);
  return bramah__page_close(page, path, diag);
}
