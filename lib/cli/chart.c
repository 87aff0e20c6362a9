/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/cli/chart.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 760, HEIGHT = 380, LEFT = 84, RIGHT = 16, TOP = 14, BOTTOM = 46 };
enum { INNER_WIDTH = WIDTH - LEFT - RIGHT, INNER_HEIGHT = HEIGHT - TOP - BOTTOM };

static const char *const style =
    ":root{color-scheme:light "
    "dark;--bg:#fff;--fg:#1c2024;--dim:#5b6570;--line:#d9dee3;--grid:#e8ebee;--axis:#8a949e;"
    "--c0:#0072b2;--c1:#d55e00;--c2:#009e73;--c3:#cc79a7}\n"
    "@media "
    "(prefers-color-scheme:dark){:root{--bg:#121518;--fg:#e6e9ec;--dim:#9aa5b0;--line:#30373e;--grid:#272d33;"
    "--axis:#6c7782;--c0:#56b4e9;--c1:#f07b3f;--c2:#3fc79a;--c3:#e09cc2}}\n"
    "body{margin:0;background:var(--bg);color:var(--fg);font:15px/1.5 system-ui,sans-serif}\n"
    "main{max-width:1640px;margin:0 auto;padding:28px 24px 40px}h1{font-size:26px;margin:0 0 14px}\n"
    "h2{font-size:17px;margin:0 0 8px}dl{display:grid;grid-template-columns:max-content 1fr;gap:2px 18px}\n"
    "dt{color:var(--dim)}dd{margin:0}section{margin:0 0 24px;overflow-x:auto}\n"
    "table{border-collapse:collapse;font-size:14px;font-variant-numeric:tabular-nums}\n"
    "th,td{padding:4px 14px;text-align:left;white-space:nowrap;border-bottom:1px solid var(--line)}\n"
    "th{color:var(--dim);border-bottom:1.5px solid var(--axis)}.r{text-align:right}\n"
    ".row{display:flex;flex-wrap:wrap;gap:20px 40px;margin:0 0 24px}.row section{margin:0}\n"
    "figure{flex:1 1 600px;max-width:800px}\n"
    "figure{margin:0;padding:12px 14px 8px;border:1px solid var(--line);border-radius:8px}\n"
    "figcaption span{margin-left:16px;font-size:13px}svg{display:block;width:100%;height:auto}\n"
    "svg text{font-size:12.5px;fill:var(--dim)}.g{stroke:var(--grid)}.z{stroke:var(--axis)}\n"
    ".f{fill:none;stroke:var(--axis)}.c{fill:none;stroke-width:1.8;stroke-linejoin:round}\n"
    "footer{margin-top:26px;color:var(--dim);font-size:13px}\n";

/* ---- text ---- */

static void put(FILE *file, const char *text)
{
  for (; *text; text++) switch (*text) {
    case '&':
      fputs("&amp;", file);
      break;
    case '<':
      fputs("&lt;", file);
      break;
    case '>':
      fputs("&gt;", file);
      break;
    case '"':
      fputs("&quot;", file);
      break;
    default:
      fputc(*text, file);
    }
}

void cli_page_begin(FILE *file, const char *title)
{
  fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
        "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n<title>",
        file);
  put(file, title);
  fprintf(file, "</title>\n<style>\n%s</style>\n</head>\n<body>\n<main>\n<h1>", style);
  put(file, title);
  fputs("</h1>\n", file);
}

void cli_page_note(FILE *file, const char *name, const char *value)
{
  fputs("<dl><dt>", file);
  put(file, name);
  fputs("</dt><dd>", file);
  put(file, value);
  fputs("</dd></dl>\n", file);
}

static void put_cells(FILE *file, const cli_table *table, const char *tag, size_t first)
{
  fputs("<tr>", file);
  for (size_t c = 0; c < table->n_columns; c++) {
    fprintf(file, "<%s%s>", tag, table->align[c] == 'r' ? " class=\"r\"" : "");
    put(file, *tag == 't' && tag[1] == 'h' ? table->header[c] : table->cells[first + c]);
    fprintf(file, "</%s>", tag);
  }
  fputs("</tr>\n", file);
}

void cli_page_table(FILE *file, const cli_table *table)
{
  fputs("<section><h2>", file);
  put(file, table->title);
  fputs("</h2>\n<table>\n", file);
  put_cells(file, table, "th", 0);
  for (size_t i = 0; i + table->n_columns <= table->n_cells; i += table->n_columns)
    put_cells(file, table, "td", i);
  fputs("</table></section>\n", file);
}

void cli_page_open(FILE *file) { fputs("<div class=\"row\">\n", file); }

void cli_page_close(FILE *file) { fputs("</div>\n", file); }

void cli_page_end(FILE *file)
{
  fprintf(file, "<footer>bramah %s</footer>\n</main>\n</body>\n</html>\n", bramah_version());
}

/* ---- scales ---- */

typedef struct scale {
  cli_axis_kind kind;
  double least; /* magnitude from which a signed axis is logarithmic */
  double low, high;
} scale;

static double to_scale(const scale *s, double v)
{
  if (s->kind == CLI_AXIS_LINEAR) return v;
  if (s->kind == CLI_AXIS_LOG) return v > 0.0 ? log10(v) : (double)NAN;
  return copysign(log10(1.0 + fabs(v) / s->least), v);
}

static void widen(scale *s, double v)
{
  const double t = to_scale(s, v);
  if (!isfinite(t)) return;
  s->low = fmin(s->low, t);
  s->high = fmax(s->high, t);
}

/* A signed axis begins a decade below the smallest value that is not nearly zero next to the largest. */
static double least_magnitude(const cli_chart *chart, int y)
{
  double largest = 0.0, least = (double)INFINITY;
  for (size_t c = 0; c < chart->n; c++)
    for (size_t i = 0; i < chart->curve[c].n; i++) {
      const double v = fabs(y ? chart->curve[c].y[i] : chart->curve[c].x[i]);
      if (isfinite(v)) largest = fmax(largest, v);
    }
  for (size_t c = 0; c < chart->n; c++)
    for (size_t i = 0; i < chart->curve[c].n; i++) {
      const double v = fabs(y ? chart->curve[c].y[i] : chart->curve[c].x[i]);
      if (v > 1e-7 * largest) least = fmin(least, v);
    }
  return isfinite(least) && least > 0.0 ? pow(10.0, floor(log10(least)) - 1.0) : 1.0;
}

static scale scale_of(const cli_chart *chart, int y)
{
  scale s = {.kind = y ? chart->y.kind : chart->x.kind, .low = (double)INFINITY, .high = -(double)INFINITY};
  s.least = least_magnitude(chart, y);
  for (size_t c = 0; c < chart->n; c++)
    for (size_t i = 0; i < chart->curve[c].n; i++) widen(&s, y ? chart->curve[c].y[i] : chart->curve[c].x[i]);
  if (s.kind == CLI_AXIS_SIGNED) widen(&s, 0.0);
  if (!(s.low <= s.high)) s.low = 0.0, s.high = 1.0;
  const double air = s.high > s.low ? 0.05 * (s.high - s.low) : 0.5;
  s.low -= air;
  s.high += air;
  return s;
}

static double x_place(const scale *s, double v)
{
  return LEFT + INNER_WIDTH * (to_scale(s, v) - s->low) / (s->high - s->low);
}
static double y_place(const scale *s, double v)
{
  return TOP + INNER_HEIGHT * (1.0 - (to_scale(s, v) - s->low) / (s->high - s->low));
}

/* Logarithmic: powers of ten and, over few of them, twice and five times these. */
static size_t decade_ticks(const scale *s, double *out)
{
  const double parts[] = {1.0, 2.0, 5.0};
  const size_t n_parts = s->high - s->low < 5.0 ? 3 : 1;
  size_t n = 0;
  for (int sign = -1; sign <= 1; sign += 2)
    for (int e = -30; e <= 30; e++)
      for (size_t k = 0; k < n_parts; k++) {
        const double v = sign * parts[k] * pow(10.0, e), t = to_scale(s, v);
        if (s->kind == CLI_AXIS_SIGNED && fabs(v) < 9.0 * s->least) continue;
        if (isfinite(t) && t >= s->low && t <= s->high && n < 60) out[n++] = v;
      }
  if (s->kind == CLI_AXIS_SIGNED) out[n++] = 0.0;
  return n;
}

/* Values [at most 64] that get a line. */
static size_t ticks_of(const scale *s, double *out)
{
  if (s->kind != CLI_AXIS_LINEAR) return decade_ticks(s, out);
  const double rough = (s->high - s->low) / 6.0, power = pow(10.0, floor(log10(rough)));
  const double step = power * (rough / power < 2.0 ? 2.0 : rough / power < 5.0 ? 5.0 : 10.0);
  size_t n = 0;
  for (double k = ceil(s->low / step); k * step <= s->high && n < 64; k++)
    out[n++] = k * step + 0.0; /* no -0 */
  return n;
}

/* ---- drawing ---- */

static void put_x_ticks(FILE *file, const scale *s)
{
  double tick[64];
  const size_t n = ticks_of(s, tick), every = n > 12 ? 2 : 1;
  for (size_t k = 0; k < n; k++) {
    const double x = x_place(s, tick[k]);
    fprintf(file, "<path class=\"%s\" d=\"M%.1f %dv%d\"/>", tick[k] == 0.0 ? "z" : "g", x, TOP, INNER_HEIGHT);
    if (k % every == 0)
      fprintf(file, "<text text-anchor=\"middle\" x=\"%.1f\" y=\"%d\">%.4g</text>\n", x, HEIGHT - BOTTOM + 17,
              tick[k]);
  }
}

static void put_y_ticks(FILE *file, const scale *s)
{
  double tick[64];
  const size_t n = ticks_of(s, tick), every = n > 14 ? 2 : 1;
  for (size_t k = 0; k < n; k++) {
    const double y = y_place(s, tick[k]);
    fprintf(file, "<path class=\"%s\" d=\"M%d %.1fh%d\"/>", tick[k] == 0.0 ? "z" : "g", LEFT, y, INNER_WIDTH);
    if (k % every == 0)
      fprintf(file, "<text text-anchor=\"end\" x=\"%d\" y=\"%.1f\">%.4g</text>\n", LEFT - 7, y + 4.0,
              tick[k]);
  }
}

static void put_line(FILE *file, const cli_curve *curve, const scale *sx, const scale *sy)
{
  int down = 0;
  fprintf(file, "<path class=\"c\" style=\"stroke:var(--c%d)\" d=\"", curve->colour & 3);
  for (size_t i = 0; i < curve->n; i++) {
    const double x = x_place(sx, curve->x[i]), y = y_place(sy, curve->y[i]);
    if (!isfinite(x) || !isfinite(y)) {
      down = 0;
      continue;
    }
    fprintf(file, "%c%.1f %.1f", down ? 'L' : 'M', x, y);
    down = 1;
  }
  fputs("\"/>\n", file);
}

static void put_dots(FILE *file, const cli_curve *curve, const scale *sx, const scale *sy)
{
  for (size_t i = 0; i < curve->n; i++) {
    const double x = x_place(sx, curve->x[i]), y = y_place(sy, curve->y[i]);
    if (isfinite(x) && isfinite(y))
      fprintf(file, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3.4\" style=\"fill:var(--c%d)\"/>\n", x, y,
              curve->colour & 3);
  }
}

static void put_caption(FILE *file, const cli_chart *chart)
{
  fputs("<figure><figcaption><strong>", file);
  put(file, chart->title);
  fputs("</strong>", file);
  for (size_t c = 0; c < chart->n; c++)
    if (chart->curve[c].name) {
      fprintf(file, "<span style=\"color:var(--c%d)\">", chart->curve[c].colour & 3);
      put(file, chart->curve[c].name);
      fputs("</span>", file);
    }
  fputs("</figcaption>\n", file);
}

void cli_page_chart(FILE *file, const cli_chart *chart)
{
  const scale sx = scale_of(chart, 0), sy = scale_of(chart, 1);
  put_caption(file, chart);
  fprintf(file, "<svg viewBox=\"0 0 %d %d\">\n", WIDTH, HEIGHT);
  put_x_ticks(file, &sx);
  put_y_ticks(file, &sy);
  fprintf(file, "<rect class=\"f\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"/>\n", LEFT, TOP, INNER_WIDTH,
          INNER_HEIGHT);
  for (size_t c = 0; c < chart->n; c++)
    if (chart->curve[c].dots)
      put_dots(file, &chart->curve[c], &sx, &sy);
    else
      put_line(file, &chart->curve[c], &sx, &sy);
  fprintf(file, "<text text-anchor=\"middle\" x=\"%d\" y=\"%d\">", LEFT + INNER_WIDTH / 2, HEIGHT - 8);
  put(file, chart->x.name);
  fprintf(file, "</text><text transform=\"rotate(-90)\" text-anchor=\"middle\" x=\"%d\" y=\"14\">",
          -(TOP + INNER_HEIGHT / 2));
  put(file, chart->y.name);
  fputs("</text>\n</svg></figure>\n", file);
}
