/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The page around the plots. It needs no script, no font and no network, and follows the reader's choice of
 * light or dark; the colours are those of M. Okabe and K. Ito, which the colour-blind can tell apart. */
#include "lib/tools/report_parts.h"
#include "lib/base/text.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/* ---- into the file ---- */

void bramah__page_flush(bramah__page *page)
{
  size_t done = 0;
  while (done < page->used && !page->error) {
    ssize_t n = write(page->fd, page->buffer + done, page->used - done);
    if (n > 0) done += (size_t)n;
    if (n < 0 && errno != EINTR) page->error = errno;
  }
  page->used = 0;
}

static void put_bytes(bramah__page *page, const char *bytes, size_t n)
{
  while (n) {
    size_t room = sizeof page->buffer - page->used, part = n < room ? n : room;
    memcpy(page->buffer + page->used, bytes, part);
    page->used += part;
    bytes += part;
    n -= part;
    if (page->used == sizeof page->buffer) bramah__page_flush(page);
  }
}

void bramah__page_put(bramah__page *page, const char *text) { put_bytes(page, text, strlen(text)); }

void bramah__page_put_integer(bramah__page *page, int64_t value)
{
  char digits[BRAMAH__NUMBER_SIZE];
  put_bytes(page, digits, bramah__format_integer(digits, value));
}

static const char *escape(char c)
{
  switch (c) {
  case '&':
    return "&amp;";
  case '<':
    return "&lt;";
  case '>':
    return "&gt;";
  case '"':
    return "&quot;";
  case '\'':
    return "&#39;";
  default:
    return (unsigned char)c < 0x20u || c == 0x7f ? " " : NULL;
  }
}

void bramah__page_put_escaped(bramah__page *page, const char *text)
{
  for (; *text; text++) {
    const char *escaped = escape(*text);
    if (escaped)
      bramah__page_put(page, escaped);
    else
      put_bytes(page, text, 1);
  }
}

/* ---- how it looks ---- */

static const char *const style[] = {
    ":root{color-scheme:light "
    "dark;--bg:#fff;--card:#fff;--fg:#1c2024;--dim:#5b6570;--line:#d9dee3;--grid:#e8ebee;",
    "--axis:#8a949e;--e:#0072b2;--m:#e69f00;--a:#d55e00;--t:#1c2024;--band:.2}\n",
    "@media "
    "(prefers-color-scheme:dark){:root{--bg:#121518;--card:#181c20;--fg:#e6e9ec;--dim:#9aa5b0;--line:#"
    "30373e;",
    "--grid:#272d33;--axis:#6c7782;--e:#56b4e9;--m:#e69f00;--a:#f07b3f;--t:#f4f6f8;--band:.25}}\n",
    "*{box-sizing:border-box}\n",
    "body{margin:0;background:var(--bg);color:var(--fg);font:15px/1.5 system-ui,-apple-system,\"Segoe "
    "UI\",Roboto,",
    "\"Noto Sans\",\"DejaVu Sans\",sans-serif}\n",
    "main{max-width:1640px;margin:0 auto;padding:28px 24px 40px}\n",
    "h1{font-size:26px;line-height:1.2;margin:0 0 14px;overflow-wrap:anywhere}\n",
    "h2{font-size:17px;margin:0 0 8px}\n",
    "dl{display:grid;grid-template-columns:max-content 1fr;gap:2px 18px;margin:0 0 26px}\n",
    "dt{color:var(--dim)}dd{margin:0;overflow-wrap:anywhere}\n",
    ".tables{display:flex;flex-wrap:wrap;gap:20px 40px;margin:0 0 28px}\n",
    ".tables section{min-width:0;max-width:100%}.scroll{overflow-x:auto}\n",
    "table{border-collapse:collapse;font-size:14px;font-variant-numeric:tabular-nums}\n",
    "th,td{padding:4px 14px 4px 0;text-align:left;white-space:nowrap;border-bottom:1px solid var(--line)}\n",
    "th{color:var(--dim);font-weight:600;border-bottom:1.5px solid var(--axis)}\n",
    ".r{text-align:right}th+th,td+td{padding-left:14px}th:last-child,td:last-child{padding-right:2px}\n",
    ".plots{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,600px),1fr));gap:20px}\n",
    "figure{margin:0;padding:12px 14px 8px;background:var(--card);border:1px solid "
    "var(--line);border-radius:8px;",
    "min-width:0;break-inside:avoid;display:flex;flex-direction:column}\n",
    "figcaption{display:flex;flex-wrap:wrap;align-items:baseline;gap:2px 18px;font-size:13px}\n",
    "figcaption strong{font-size:15px}figcaption em{color:var(--dim)}\n",
    ".l{margin-left:auto;display:flex;flex-wrap:wrap;gap:2px 16px;color:var(--dim)}\n",
    ".l span{white-space:nowrap}.k{width:26px;height:10px;margin-right:6px}\n",
    ".p{display:block;width:100%;height:auto;margin-top:auto}.p text{font-size:12.5px;fill:var(--dim)}\n",
    ".x{text-anchor:middle}.y,.u{text-anchor:end}.p .n{text-anchor:middle;font-size:16px}\n",
    ".f{fill:none;stroke:var(--axis)}.g,.z{stroke:var(--grid);stroke-width:10;fill:none}.z{stroke:var(--axis)"
    "}\n",
    ".e,.m,.a,.t{fill:none;stroke-linejoin:round;stroke-linecap:round}\n",
    ".e{stroke:var(--e);stroke-width:24}.s{stroke-width:9;stroke-opacity:.8}.a{stroke:var(--a);stroke-width:"
    "16;stroke-dasharray:70 45}\n",
    ".t{stroke:var(--t);stroke-width:10}.m{stroke:var(--m);stroke-width:12;stroke-opacity:.5}\n",
    ".o{fill:none;stroke:var(--t);stroke-width:9}.bo{stroke:var(--t);stroke-width:9}\n",
    ".d{stroke-width:46;stroke-opacity:.75}.b{fill:var(--e);fill-opacity:var(--band)}\n",
    "footer{margin-top:26px;color:var(--dim);font-size:13px}\n",
    "@media "
    "print{:root{color-scheme:light;--bg:#fff;--card:#fff;--fg:#000;--dim:#444;--line:#ccc;--grid:#e4e4e4;",
    "--axis:#777;--e:#0072b2;--m:#e69f00;--a:#d55e00;--t:#000;--band:.2}",
    "main{max-width:none;padding:0}.plots{display:block}figure{margin:0 0 12px}",
    "body,svg{print-color-adjust:exact;-webkit-print-color-adjust:exact}table{break-inside:avoid}}\n",
};

static void put_head(bramah__page *page, const bramah_report *report)
{
  bramah__page_put(page, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                         "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n"
                         "<meta name=\"color-scheme\" content=\"light dark\">\n<title>");
  bramah__page_put_escaped(page, report->title);
  bramah__page_put(page, "</title>\n<style>\n");
  for (size_t i = 0; i < sizeof style / sizeof *style; i++) bramah__page_put(page, style[i]);
  bramah__page_put(page, "</style>\n</head>\n<body>\n<main>\n<h1>");
  bramah__page_put_escaped(page, report->title);
  bramah__page_put(page, "</h1>\n");
}

static void put_element(bramah__page *page, const char *open, const char *text, const char *close)
{
  bramah__page_put(page, open);
  bramah__page_put_escaped(page, text);
  bramah__page_put(page, close);
}

static void put_notes(bramah__page *page, const bramah_report *report)
{
  if (!report->n_notes) return;
  bramah__page_put(page, "<dl>\n");
  for (size_t i = 0; i < report->n_notes; i++) {
    put_element(page, "<dt>", report->notes[i].name, "</dt>");
    put_element(page, "<dd>", report->notes[i].value, "</dd>\n");
  }
  bramah__page_put(page, "</dl>\n");
}

/* ---- tables ---- */

/* Does the cell hold a number, perhaps with a unit, or nothing? */
static int looks_numeric(const char *cell)
{
  while (*cell == ' ' || *cell == '+' || *cell == '-' || *cell == '.') cell++;
  return (*cell >= '0' && *cell <= '9') || *cell == '\0';
}

/* A column of numbers is set flush right. */
static int is_numeric(const bramah__table *table, size_t column)
{
  int found = 0;
  for (size_t r = 1; r <= table->n_rows; r++) {
    const char *cell = table->texts[r * table->n_columns + column];
    if (!looks_numeric(cell)) return 0;
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

static void put_table(bramah__page *page, const bramah__table *table)
{
  put_element(page, "<section><h2>", table->title, "</h2>\n<div class=\"scroll\"><table>\n<thead>");
  put_row(page, table, 0);
  bramah__page_put(page, "</thead>\n<tbody>\n");
  for (size_t r = 1; r <= table->n_rows; r++) put_row(page, table, r);
  bramah__page_put(page, "</tbody></table></div></section>\n");
}

/* ---- all of it ---- */

/* All plots show the same stretch of time, so that they can be compared. */
static bramah__range time_range(const bramah_report *report)
{
  bramah__range range = bramah__range_empty();
  for (size_t p = 0; p < report->n_plots; p++)
    for (int s = 0; s < BRAMAH__N_SERIES; s++) {
      const bramah__series *series = report->plots[p].series[s];
      if (!series || !series->n_bins) continue;
      bramah__range_include(&range, series->start);
      bramah__range_include(&range, series->t_last);
    }
  if (bramah__range_is_empty(range)) return (bramah__range){0.0, 1.0};
  double smallest = 1e-9 + 1e-9 * (range.high < 0.0 ? -range.low : range.high);
  if (range.high - range.low < smallest) return (bramah__range){range.low - 0.5, range.low + 0.5};
  return bramah__range_snap(range);
}

void bramah__page_write(bramah__page *page, const bramah_report *report)
{
  bramah__range time = time_range(report);
  put_head(page, report);
  put_notes(page, report);
  if (report->n_tables) bramah__page_put(page, "<div class=\"tables\">\n");
  for (size_t i = 0; i < report->n_tables; i++) put_table(page, &report->tables[i]);
  if (report->n_tables) bramah__page_put(page, "</div>\n");
  if (report->n_plots) bramah__page_put(page, "<div class=\"plots\">\n");
  for (size_t i = 0; i < report->n_plots; i++) bramah__plot_write(page, &report->plots[i], time);
  if (report->n_plots) bramah__page_put(page, "</div>\n");
  put_element(page, "<footer>bramah ", bramah_version(), "</footer>\n</main>\n</body>\n</html>\n");
  bramah__page_flush(page);
}
