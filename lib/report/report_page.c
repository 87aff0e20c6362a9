/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The page: the answer first, what contradicts, then the plots by sections, the tables folded. One file without network,
 * font or anything else from outside, which its policy forbids; the script (report_page.js) moves what is there. */
#include "lib/report/report_parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

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
  bramah__page_put(page, "<tr>");
  for (size_t c = 0; c < table->n_columns; c++) {
    bramah__page_put(page, row ? "<td" : "<th scope=\"col\"");
    bramah__page_put(page, is_numeric(table, c) ? " class=\"r\">" : ">");
    bramah__page_format(page, row ? "%s</td>" : "%s</th>", table->texts[row * table->n_columns + c]);
  }
  bramah__page_put(page, "</tr>\n");
}

/* ---- the answer ---- */

/* The answer with its reason; beside it the machine, for the script; what was run. */
static void put_answer(bramah__page *page, const bramah_report *report, size_t n_first)
{
  static const char *const levels[] = {"fine", "unsure", "wrong"};
  static const char *const marks[] = {"\xE2\x9C\x93", "?", "\xE2\x9C\x97"};
  const bramah_report_answer *a = &report->answer;
  bramah__page_format(page,
                      "<section id=\"answer\" class=\"%s\" aria-label=\"Answer\"><div class=\"says\">\n",
                      a->headline ? levels[a->level] : "none");
  if (a->headline) {
    bramah__page_format(
        page,
        "<p class=\"headline\"><span class=\"mark\" aria-hidden=\"true\">%s</span><strong>%s</strong></p>\n",
        marks[a->level], a->headline);
    if (a->reason) bramah__page_format(page, "<p class=\"reason\">%s</p>\n", a->reason);
    if (a->advice)
      bramah__page_format(
          page, a->level ? "<p class=\"advice\"><b>What to do</b> %s</p>\n" : "<p class=\"advice\">%s</p>\n",
          a->advice);
    if (a->end > a->begin)
      bramah__page_format(page,
                          "<p class=\"window\"><a id=\"window\" href=\"#%s\" data-begin=\"%.9g\" "
                          "data-end=\"%.9g\">Look at it: %.6g to %.6g s</a></p>\n",
                          n_first              ? "first"
                          : report->n_sections ? "section0"
                                               : "main",
                          a->begin, a->end, a->begin, a->end);
  }
  if (report->n_notes) bramah__page_put(page, "<dl class=\"notes\">\n");
  for (size_t i = 0; i < report->n_notes; i++)
    bramah__page_format(page, "<div><dt>%s</dt><dd>%s</dd></div>\n", report->notes[i].name,
                        report->notes[i].value);
  if (report->n_notes) bramah__page_put(page, "</dl>\n");
  bramah__page_put(page, "</div>\n<div id=\"machine\" hidden=\"hidden\"></div>\n</section>\n");
}

/* ---- events and contents ---- */

/* In the order of their times. */
static void put_events(bramah__page *page, const bramah_report *report)
{
  const bramah__events *events = &report->events;
  const bramah__event **sorted = bramah__events_sorted(events);
  if (sorted && events->n) {
    bramah__page_put(page,
                     "<section id=\"events\"><h2>Events</h2>\n<ol tabindex=\"0\" aria-label=\"Events\">\n");
    for (size_t i = 0; i < events->n; i++)
      bramah__page_format(page, "<li><b>%.9g s</b> <i>%s</i> %s</li>\n", sorted[i]->t,
                          events->kinds[sorted[i]->kind].name, sorted[i]->text);
    bramah__page_put(page, "</ol>\n");
    for (size_t k = 0; k < events->n_kinds; k++) {
      if (events->kinds[k].n <= BRAMAH__EVENTS_OF_KIND) continue;
      bramah__page_format(page, "<p class=\"more\">%zu more of the kind \xE2\x80\x9C%s\xE2\x80\x9D</p>\n",
                          (size_t)events->kinds[k].n - BRAMAH__EVENTS_OF_KIND, events->kinds[k].name);
    }
    bramah__page_put(page, "</section>\n");
  }
  free(sorted);
}

static void put_contents(bramah__page *page, const bramah_report *report, size_t n_first)
{
  bramah__page_put(page, "<nav aria-label=\"Contents\"><ol>\n");
  if (n_first) bramah__page_put(page, "<li><a href=\"#first\">Look here first</a></li>\n");
  if (report->events.n) bramah__page_put(page, "<li><a href=\"#events\">Events</a></li>\n");
  if (report->n_maps) bramah__page_put(page, "<li><a href=\"#ground\">Ground</a></li>\n");
  for (size_t i = 0; i < report->n_sections; i++)
    bramah__page_format(page, "<li><a href=\"#section%zu\">%s</a></li>\n", i, report->sections[i].title);
  if (report->n_tables) bramah__page_put(page, "<li><a href=\"#tables\">Tables</a></li>\n");
  bramah__page_put(page, "</ol></nav>\n");
}

/* ---- plots by sections, tables ---- */

enum { MOST_FIRST = 4 };

/* The heaviest plot not yet taken, of a section or ((size_t)-1) of all that contradict; n_plots: none. */
static size_t heaviest(const bramah_report *report, size_t section, const unsigned char *taken)
{
  size_t best = report->n_plots;
  for (size_t k = 0; k < report->n_plots; k++) {
    const bramah__plot *plot = &report->plots[k];
    if (taken[k] || (section == (size_t)-1 ? !(plot->weight >= 1.0) : plot->section != section)) continue;
    if (best == report->n_plots || plot->weight > report->plots[best].weight) best = k;
  }
  return best;
}

static void put_sections(bramah__page *page, const bramah_report *report, unsigned char *taken)
{
  for (size_t i = 0; i < report->n_sections; i++) {
    const bramah__section *section = &report->sections[i];
    bramah__page_format(page, "<section id=\"section%zu\"><h2>%s</h2>\n", i, section->title);
    if (section->text) bramah__page_format(page, "<p class=\"text\">%s</p>\n", section->text);
    bramah__page_put(page, "<div class=\"plots\">\n");
    size_t n = 0;
    for (size_t k; (k = heaviest(report, i, taken)) < report->n_plots; n++) {
      taken[k] = 1;
      bramah__plot_write(page, report, k);
    }
    bramah__page_put(page, n ? "</div></section>\n" : "<p class=\"text\">Shown above.</p></div></section>\n");
  }
}

static void put_tables(bramah__page *page, const bramah_report *report)
{
  if (!report->n_tables) return;
  bramah__page_put(page, "<section id=\"tables\"><h2>Tables</h2>\n");
  for (size_t i = 0; i < report->n_tables; i++) {
    const bramah__table *table = &report->tables[i];
    bramah__page_format(
        page, "<details><summary>%s</summary>\n<div class=\"scroll\" tabindex=\"0\"><table>\n<thead>",
        table->title);
    put_row(page, table, 0);
    bramah__page_put(page, "</thead>\n<tbody>\n");
    for (size_t r = 1; r <= table->n_rows; r++) put_row(page, table, r);
    bramah__page_put(page, "</tbody></table></div></details>\n");
  }
  bramah__page_put(page, "</section>\n");
}

/* ---- the page ---- */

static void put_main(bramah__page *page, const bramah_report *report)
{
  unsigned char *taken = calloc(report->n_plots + 1, 1);
  size_t first[MOST_FIRST], n_first = 0;
  if (!taken) {
    if (!page->error) page->error = ENOMEM;
    return;
  }
  for (size_t k; n_first < MOST_FIRST && (k = heaviest(report, (size_t)-1, taken)) < report->n_plots;) {
    taken[k] = 1;
    first[n_first++] = k;
  }
  bramah__page_put(page, "<main id=\"main\" tabindex=\"-1\">\n");
  put_answer(page, report, n_first);
  put_contents(page, report, n_first);
  if (n_first)
    bramah__page_put(page, "<section id=\"first\"><h2>Look here first</h2>\n<div class=\"plots\">\n");
  for (size_t k = 0; k < n_first; k++) bramah__plot_write(page, report, first[k]);
  if (n_first) bramah__page_put(page, "</div></section>\n");
  put_events(page, report);
  bramah__maps_write(page, report);
  put_sections(page, report, taken);
  put_tables(page, report);
  bramah__page_format(page, "<footer><p>bramah %s</p></footer>\n</main>\n", bramah_version());
  free(taken);
}

static void put_page(bramah__page *page, const bramah_report *report)
{
  bramah__page_format(
      page,
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n"
      "<meta name=\"color-scheme\" content=\"light dark\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
      "'unsafe-inline'; script-src 'unsafe-inline'; img-src data:\">\n<title>%s</title>\n<style>\n",
      report->title);
  bramah__page_put(page, bramah__page_css);
  bramah__page_format(page,
                      "</style>\n</head>\n<body>\n<a class=\"skip\" href=\"#main\">Skip to the answer</a>\n"
                      "<header><h1>%s</h1>\n<div id=\"tools\" hidden=\"hidden\"></div></header>\n",
                      report->title);
  put_main(page, report);
  bramah__data_write(page, report);
  bramah__page_put(page, "<script>\n");
  bramah__page_put(page, bramah__page_js);
  bramah__page_put(page, "</script>\n</body>\n</html>\n");
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
