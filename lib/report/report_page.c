/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The page: the answer first, what contradicts, then the plots by sections, the tables folded. One file without network,
 * font or anything else from outside, which its policy forbids; the script (report_page.js) moves what is there. */
#include "lib/report/report_parts.h"

#include <errno.h>
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

/* ---- the answer ---- */

static void put_number_attribute(bramah__page *page, const char *name, double value)
{
  bramah__page_format(page, " %s=\"", name);
  bramah__page_put_number(page, value, 9);
  bramah__page_put(page, "\"");
}

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
    bramah__page_format(page, "<p class=\"headline\"><span class=\"mark\" aria-hidden=\"true\">%s</span>",
                        marks[a->level]);
    put_element(page, "<strong>", a->headline, "</strong></p>\n");
    if (a->reason) put_element(page, "<p class=\"reason\">", a->reason, "</p>\n");
    if (a->advice)
      put_element(page, a->level ? "<p class=\"advice\"><b>What to do</b> " : "<p class=\"advice\">",
                  a->advice, "</p>\n");
    if (a->end > a->begin) {
      bramah__page_format(page, "<p class=\"window\"><a id=\"window\" href=\"#%s\"",
                          n_first              ? "first"
                          : report->n_sections ? "section0"
                                               : "main");
      put_number_attribute(page, "data-begin", a->begin);
      put_number_attribute(page, "data-end", a->end);
      bramah__page_put(page, ">Look at it: ");
      bramah__page_put_number(page, a->begin, 6);
      bramah__page_put(page, " to ");
      bramah__page_put_number(page, a->end, 6);
      bramah__page_put(page, " s</a></p>\n");
    }
  }
  if (report->n_notes) bramah__page_put(page, "<dl class=\"notes\">\n");
  for (size_t i = 0; i < report->n_notes; i++) {
    put_element(page, "<div><dt>", report->notes[i].name, "</dt>");
    put_element(page, "<dd>", report->notes[i].value, "</dd></div>\n");
  }
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
}

static void put_contents(bramah__page *page, const bramah_report *report, size_t n_first)
{
  bramah__page_put(page, "<nav aria-label=\"Contents\"><ol>\n");
  if (n_first) bramah__page_put(page, "<li><a href=\"#first\">Look here first</a></li>\n");
  if (report->events.n) bramah__page_put(page, "<li><a href=\"#events\">Events</a></li>\n");
  if (report->n_maps) bramah__page_put(page, "<li><a href=\"#ground\">Ground</a></li>\n");
  for (size_t i = 0; i < report->n_sections; i++) {
    bramah__page_format(page, "<li><a href=\"#section%zu\">", i);
    put_element(page, "", report->sections[i].title, "</a></li>\n");
  }
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
    bramah__page_format(page, "<section id=\"section%zu", i);
    put_element(page, "\"><h2>", report->sections[i].title, "</h2>\n");
    if (report->sections[i].text) put_element(page, "<p class=\"text\">", report->sections[i].text, "</p>\n");
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
    put_element(page, "<details><summary>", table->title,
                "</summary>\n<div class=\"scroll\" tabindex=\"0\"><table>\n<thead>");
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
  put_element(page, "<footer><p>bramah ", bramah_version(), "</p></footer>\n</main>\n");
  free(taken);
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
  bramah__page_put(page, bramah__page_css);
  bramah__page_put(page,
                   "</style>\n</head>\n<body>\n<a class=\"skip\" href=\"#main\">Skip to the answer</a>\n"
                   "<header><h1>");
  bramah__page_put_escaped(page, report->title);
  bramah__page_put(page, "</h1>\n<div id=\"tools\" hidden=\"hidden\"></div></header>\n");
  put_main(page, report);
  bramah__data_write(page, report);
  bramah__page_put(page, "<script>\n");
  bramah__page_put(page, bramah__page_js);
  bramah__page_put(page, "</script>\n");
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
