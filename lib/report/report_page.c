/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The page around the plots: one file without network, font or anything else from outside, which its policy
 * forbids. It holds static plots for print and where no script runs; the script (report_page.js) puts
 * plots that can be zoomed in their place. */
#include "lib/report/report_parts.h"

#include <stdlib.h>
#include <string.h>

static void put_element(bramah__page *page, const char *open, const char *text, const char *close)
{
  bramah__page_put(page, open);
  bramah__page_put_escaped(page, text);
  bramah__page_put(page, close);
}

/* ---- tables ---- */

/* A column of numbers, perhaps with units or nothing, is set flush right. */
static int is_numeric(const bramah__table *table, size_t column)
{
  int found = 0;
  for (size_t r = 1; r <= table->n_rows; r++) {
    const char *cell = table->texts[r * table->n_columns + column];
    const char first = cell[strspn(cell, " +-.")];
    if (first && (first < '0' || first > '9')) return 0;
    found |= *cell != '\0';
  }
  return found;
}

static void put_row(bramah__page *page, const bramah__table *table, size_t row)
{
  const char *close = row ? "</td>" : "</th>";
  bramah__page_put(page, "<tr>");
  for (size_t c = 0; c < table->n_columns; c++) {
    bramah__page_put(page, row ? "<td" : "<th scope=\"col\"");
    put_element(page, is_numeric(table, c) ? " class=\"r\">" : ">", table->texts[row * table->n_columns + c],
                close);
  }
  bramah__page_put(page, "</tr>\n");
}

/* ---- events and contents ---- */

static void put_link(bramah__page *page, const char *prefix, size_t n, const char *text)
{
  bramah__page_format(page, "<li><a href=\"#%s%zu\">", prefix, n);
  /* The contents do without what a title adds in brackets. */
  const char *end = strstr(text, " (");
  for (; *text && text != end; text++) bramah__page_put_escaped(page, (char[]){*text, '\0'});
  bramah__page_put(page, "</a></li>\n");
}

/* The machine, for the script; events in the order of their times; the contents. */
static void put_aside(bramah__page *page, const bramah_report *report)
{
  const bramah__events *events = &report->events;
  const bramah__event **sorted = bramah__events_sorted(events);
  bramah__page_put(page, "<aside>\n<section id=\"machine\" hidden=\"hidden\"></section>\n");
  if (sorted && events->n) {
    bramah__page_put(page,
                     "<section id=\"events\"><h2>Events</h2>\n<ol tabindex=\"0\" aria-label=\"Events\">\n");
    for (size_t i = 0; i < events->n; i++) {
      bramah__page_put(page, "<li><b>");
      bramah__page_put_number(page, sorted[i]->t, 9);
      put_element(page, " s</b> <i>", events->kinds[sorted[i]->kind].name, "</i> ");
      put_element(page, "", sorted[i]->text, "</li>\n");
    }
    bramah__page_put(page, "</ol>\n");
    for (size_t k = 0; k < events->n_kinds; k++) {
      if (events->kinds[k].n <= BRAMAH__EVENTS_OF_KIND) continue;
      bramah__page_format(page, "<p class=\"more\">%llu",
                          (unsigned long long)events->kinds[k].n - BRAMAH__EVENTS_OF_KIND);
      put_element(page, " more of the kind \xE2\x80\x9C", events->kinds[k].name, "\xE2\x80\x9D</p>\n");
    }
    bramah__page_put(page, "</section>\n");
  }
  free(sorted);
  bramah__page_put(page, "<nav aria-label=\"Contents\"><h2>Contents</h2>\n<ol>\n");
  for (size_t i = 0; i < report->n_tables; i++) put_link(page, "table", i, report->tables[i].title);
  for (size_t i = 0; i < report->n_sections; i++) put_link(page, "section", i, report->sections[i].title);
  bramah__page_put(page, "</ol></nav>\n</aside>\n");
}

/* ---- the page ---- */

/* Notes, tables, plots by sections, and a footer: the licence of what is embedded travels with it. */
static void put_main(bramah__page *page, const bramah_report *report)
{
  const bramah__range time = bramah__report_time(report);
  const int is_interactive = bramah__dygraphs_js[0] != '\0';
  bramah__page_put(page, "<main id=\"main\" tabindex=\"-1\">\n");
  if (report->n_notes) bramah__page_put(page, "<dl>\n");
  for (size_t i = 0; i < report->n_notes; i++) {
    put_element(page, "<dt>", report->notes[i].name, "</dt>");
    put_element(page, "<dd>", report->notes[i].value, "</dd>\n");
  }
  if (report->n_notes) bramah__page_put(page, "</dl>\n");
  if (!is_interactive)
    bramah__page_put(page,
                     "<p class=\"text\">This bramah was built without dygraphs: the plots are static.</p>\n");

  if (report->n_tables) bramah__page_put(page, "<div class=\"tables\">\n");
  for (size_t i = 0; i < report->n_tables; i++) {
    const bramah__table *table = &report->tables[i];
    bramah__page_format(page, "<section id=\"table%zu", i);
    put_element(page, "\"><h2>", table->title, "</h2>\n<div class=\"scroll\"><table>\n<thead>");
    put_row(page, table, 0);
    bramah__page_put(page, "</thead>\n<tbody>\n");
    for (size_t r = 1; r <= table->n_rows; r++) put_row(page, table, r);
    bramah__page_put(page, "</tbody></table></div></section>\n");
  }
  if (report->n_tables) bramah__page_put(page, "</div>\n");

  for (size_t i = 0; i < report->n_sections; i++) {
    bramah__page_format(page, "<section id=\"section%zu", i);
    put_element(page, "\"><h2>", report->sections[i].title, "</h2>\n");
    if (report->sections[i].text) put_element(page, "<p class=\"text\">", report->sections[i].text, "</p>\n");
    bramah__page_put(page, "<div class=\"plots\">\n");
    for (size_t k = 0; k < report->n_plots; k++)
      if (report->plots[k].section == i) bramah__plot_write(page, &report->plots[k], time, k);
    bramah__page_put(page, "</div></section>\n");
  }

  put_element(page, "<footer><p>bramah ", bramah_version(), "</p>");
  if (is_interactive)
    put_element(page, "\n<details><summary>This page includes dygraphs (MIT licence)</summary><pre>",
                bramah__dygraphs_licence, "</pre></details>");
  bramah__page_put(page, "</footer>\n</main>\n");
}

static void put_script(bramah__page *page, const char *script)
{
  if (!*script) return;
  bramah__page_put(page, "<script>\n");
  bramah__page_put(page, script);
  bramah__page_put(page, "</script>\n");
}

static void put_page(bramah__page *page, const bramah_report *report)
{
  bramah__page_put(page,
                   "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                   "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n"
                   "<meta name=\"color-scheme\" content=\"light dark\">\n"
                   "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
                   "'unsafe-inline'; script-src 'unsafe-inline'; img-src data:\">\n<title>");
  bramah__page_put_escaped(page, report->title);
  bramah__page_put(page, "</title>\n<style>\n");
  bramah__page_put(page, bramah__dygraphs_css);
  bramah__page_put(page, bramah__page_css);
  bramah__page_put(page, "</style>\n</head>\n<body>\n<a class=\"skip\" href=\"#main\">Skip to the plots</a>\n"
                         "<header><h1>");
  bramah__page_put_escaped(page, report->title);
  bramah__page_put(page, "</h1>\n<div id=\"tools\" hidden=\"hidden\"></div></header>\n");
  bramah__page_put(page, "<div class=\"page\">\n");
  put_aside(page, report);
  put_main(page, report);
  bramah__page_put(page, "</div>\n");
  bramah__data_write(page, report);
  put_script(page, bramah__dygraphs_js);
  put_script(page, bramah__page_js);
  bramah__page_put(page, "</body>\n</html>\n");
}

bramah_status bramah_report_write(const bramah_report *report, bramah_report_format format, const char *path,
                                  bramah_diag *diag)
{
  static void (*const put[])(bramah__page * page,
                             const bramah_report *report) = {[BRAMAH_REPORT_PAGE] = put_page,
                                                             [BRAMAH_REPORT_PICTURE] = bramah__picture_write,
                                                             [BRAMAH_REPORT_DATA] = bramah__csv_write};
  bramah__page *page;
  const size_t length = strlen(path);
  if (format == BRAMAH_REPORT_PICTURE && (length < 4 || strcmp(path + length - 4, ".svg") != 0))
    return bramah__failf(diag, BRAMAH_E_VALUE, path, 0, NULL, "plots are written as .svg");
  const bramah_status status = bramah__page_open(path, diag, &page);
  if (status) return status;
  put[format](page, report);
  return bramah__page_close(page, path, diag);
}
