/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Plots as SVG, the same in the page and in a picture for papers. The curves are in an inner picture with twenty units to
 * a pixel, so that coordinates are short integers, and are drawn with relative steps; points that a straight line passes by
 * a tenth of a pixel are left out. Axes and labels are placed by shares of the width: the page may be narrow. */
#include "lib/report/report_parts.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 760, HEIGHT = 270, LEFT = 68, RIGHT = 14, TOP = 26, BOTTOM = 42, NAMES = 70 };
enum { INNER_WIDTH = WIDTH - LEFT - RIGHT, INNER_HEIGHT = HEIGHT - TOP - BOTTOM, UNITS = 20 };
enum { X_UNITS = INNER_WIDTH * UNITS, Y_UNITS = INNER_HEIGHT * UNITS };
enum { X_TICKS = 8, Y_TICKS = 5 };
enum { TITLE_HEIGHT = 32 };  /* of a plot in a picture: title and legend */
enum { COLUMN = 8 };         /* [units] width of a column of points */
enum { NEAR = 2, BAND = 8 }; /* [units] what a line and the edge of a band may pass them by */
enum { FINE_COLUMNS = 400 }; /* about, of the window to look at */

const bramah_report_series bramah__drawn[BRAMAH__N_SERIES] = {BRAMAH_REPORT_MEASURED, BRAMAH_REPORT_MODEL,
                                                              BRAMAH_REPORT_TRUTH, BRAMAH_REPORT_ESTIMATE};

static const char *css_of(bramah_report_series series)
{
  static const char *const css[BRAMAH__N_SERIES] = {[BRAMAH_REPORT_ESTIMATE] = "e",
                                                    [BRAMAH_REPORT_TRUTH] = "t",
                                                    [BRAMAH_REPORT_MEASURED] = "m",
                                                    [BRAMAH_REPORT_MODEL] = "a"};
  return css[series];
}

/* ---- axes ---- */

/* A plot's ranges; that of the values in decades if its axis is logarithmic. */
typedef struct frame {
  bramah__range x, y;
  int logarithmic, has_values;
  int fine_from, fine_to, fine; /* [units] there columns are so wide */
} frame;

static double on_axis(const bramah__plot *plot, double value)
{
  return plot->logarithmic ? log10(value) : value;
}

static int place(double value, bramah__range range, double length)
{
  double share = (value - range.low) / (range.high - range.low);
  share = fmin(fmax(share, -1.0), 2.0); /* what lies far outside is cut off anyway */
  return (int)floor(share * length + 0.5);
}

static int place_x(const frame *f, double t) { return place(t, f->x, (double)X_UNITS); }

static int place_y(const frame *f, double value) { return Y_UNITS - place(value, f->y, (double)Y_UNITS); }

/* Range of all series of the plot. Returns 0 if there is nothing to show (or no memory to find out). */
static int find_values(const bramah__plot *plot, bramah__range *range)
{
  enum { GROUPS = 1200 };
  size_t n = 0;
  double *values = malloc(((size_t)BRAMAH__N_SERIES * 4 * (GROUPS + 1) + 1) * sizeof *values);
  if (!values) return 0;
  for (int s = 0; s < BRAMAH__N_SERIES; s++) {
    const bramah__samples *all = plot->curve[s];
    const size_t group = all ? (all->n + GROUPS - 1) / GROUPS : 1;
    for (size_t i = 0; all && i < all->n; i += group) {
      bramah__range found = bramah__range_empty(), band = found;
      for (size_t k = i; k < i + group && k < all->n; k++) {
        bramah__range_include(&found, on_axis(plot, (double)all->at[k].min));
        bramah__range_include(&found, on_axis(plot, (double)all->at[k].max));
        bramah__range_include(&band, on_axis(plot, (double)all->at[k].low)); /* leaves NaN out */
        bramah__range_include(&band, on_axis(plot, (double)all->at[k].high));
      }
      values[n++] = found.low;
      values[n++] = found.high;
      if (bramah__range_is_empty(band)) continue;
      values[n++] = band.low;
      values[n++] = band.high;
    }
  }
  if (n && plot->symmetric) values[n++] = 0.0;
  if (n && plot->axis != BRAMAH_REPORT_TIME) { /* of stems and curves nothing is cut off */
    bramah__range all = bramah__range_empty();
    for (size_t i = 0; i < n; i++) bramah__range_include(&all, values[i]);
    values[0] = all.low;
    values[1] = all.high;
    n = 2;
  }
  if (n) *range = bramah__range_of(values, n);
  free(values);
  return n > 0;
}

static frame frame_of(const bramah_report *report, const bramah__plot *plot)
{
  frame f = {.x = bramah__report_time(report), .logarithmic = plot->logarithmic};
  const bramah_report_answer *answer = &report->answer;
  f.has_values = find_values(plot, &f.y);
  if (plot->axis == BRAMAH_REPORT_TIME) {
    const double width = answer->end - answer->begin;
    if (!(width > 0.0) || !answer->headline) return f;
    f.fine_from = place_x(&f, answer->begin - 0.25 * width);
    f.fine_to = place_x(&f, answer->end + 0.25 * width);
    f.fine = (f.fine_to - f.fine_from) / FINE_COLUMNS;
    f.fine = f.fine < 1 ? 1 : f.fine < COLUMN ? f.fine : COLUMN;
    return f;
  }
  /* Stems and curves have an axis of their own, with room for half a stem's distance at both ends. */
  f.x = bramah__range_empty();
  size_t n = plot->n_labels;
  for (size_t s = 0; s < BRAMAH__N_SERIES; s++) {
    const bramah__samples *all = plot->curve[s];
    if (!all) continue;
    bramah__range_include(&f.x, all->first);
    bramah__range_include(&f.x, all->last);
    if (all->n > n) n = all->n;
  }
  if (plot->n_labels) f.x = (bramah__range){1.0, (double)n};
  if (bramah__range_is_empty(f.x)) f.x = (bramah__range){0.0, 1.0};
  const double half = n > 1 ? 0.5 * (f.x.high - f.x.low) / (double)(n - 1) : 1.0;
  f.x = (bramah__range){f.x.low - half, f.x.high + half};
  return f;
}

/* ---- columns of points ---- */

typedef struct column {
  size_t n;
  double t, t_last;
  int x, x_last;    /* of the first and of the last point */
  int top, bottom;  /* of the values */
  int upper, lower; /* of the band, if it has one */
  int banded;
} column;

/* The points of a series by columns, [n] to be freed; NULL without memory. */
static column *columns_of(const bramah__plot *plot, const frame *f, const bramah__samples *all, size_t *n)
{
  column *out = calloc(all->n + 1, sizeof *out);
  int place = 0;
  *n = 0;
  for (size_t i = 0; out && i < all->n; i++) {
    const bramah__sample *s = &all->at[i];
    const int x = place_x(f, s->t),
              here = x >= f->fine_from && x < f->fine_to ? -1 - x / f->fine : x / COLUMN;
    const int banded = !isnan(s->low) && !isnan(s->high);
    const column one = {.n = 1,
                        .t = s->t,
                        .t_last = s->t,
                        .x = x,
                        .x_last = x,
                        .top = place_y(f, on_axis(plot, (double)s->max)),
                        .bottom = place_y(f, on_axis(plot, (double)s->min)),
                        .banded = banded,
                        .upper = banded ? place_y(f, on_axis(plot, (double)s->high)) : 0,
                        .lower = banded ? place_y(f, on_axis(plot, (double)s->low)) : 0};
    column *c = *n ? &out[*n - 1] : NULL;
    if (!c || here != place || plot->axis != BRAMAH_REPORT_TIME || c->banded != banded) {
      out[(*n)++] = one;
      place = here;
      continue;
    }
    c->n++;
    c->t_last = s->t;
    c->x_last = x;
    if (one.top < c->top) c->top = one.top;
    if (one.bottom > c->bottom) c->bottom = one.bottom;
    if (one.upper < c->upper) c->upper = one.upper;
    if (one.lower > c->lower) c->lower = one.lower;
  }
  return out;
}

/* ---- paths ---- */

/* Draws a line, and keeps the last point back as long as the line from the one before passes all between near enough. */
typedef struct pen {
  bramah__page *page;
  int x, y, held_x, held_y, holds;
  double low, high; /* slopes of such lines */
  int near;         /* [units] */
  char command;     /* the one in force: a repeated letter may be left out; 0: not begun */
} pen;

static void put_step(pen *p, int value)
{
  if (value >= 0) bramah__page_put_bytes(p->page, " ", 1);
  bramah__page_put_integer(p->page, value);
}

static void put_command(pen *p, char command)
{
  if (p->command != command) bramah__page_put_bytes(p->page, &command, 1);
  p->command = command;
}

/* From where the last path ended. */
static void put_move(pen *p, char command, int x, int y)
{
  put_command(p, command);
  put_step(p, x - p->x);
  put_step(p, y - p->y);
  p->x = x;
  p->y = y;
}

static void put_held(pen *p)
{
  if (p->holds) put_move(p, 'l', p->held_x, p->held_y);
  p->holds = 0;
}

static void begin_at(pen *p, int x, int y)
{
  put_held(p);
  p->command = '\0'; /* a pair of numbers after m would be a line */
  put_move(p, 'm', x, y);
}

static void draw_to(pen *p, int x, int y)
{
  if (p->holds ? x == p->held_x && y == p->held_y : x == p->x && y == p->y) return;
  double width = (double)abs(x - p->x);
  const double slope = width > 0.0 ? (double)(y - p->y) / width : 0.0;
  const int goes_on = p->holds && (x - p->held_x) * (p->held_x - p->x) > 0;
  if (!(goes_on && slope >= p->low && slope <= p->high)) put_held(p);
  width = (double)abs(x - p->x);
  const double low = ((double)(y - p->y) - p->near) / width, high = ((double)(y - p->y) + p->near) / width;
  p->low = !(width > 0.0) ? 1.0 : p->holds ? fmax(p->low, low) : low; /* upright lines end here */
  p->high = !(width > 0.0) ? -1.0 : p->holds ? fmin(p->high, high) : high;
  p->held_x = x;
  p->held_y = y;
  p->holds = 1;
}

static pen open_path(bramah__page *page, int near, const char *css)
{
  bramah__page_format(page, "<path class=\"%s\" d=\"", css);
  return (pen){.page = page, .near = near};
}

static void close_path(pen *p)
{
  put_held(p);
  bramah__page_put(p->page, "\"/>\n");
}

/* A line through the extremes of its columns; it does not go on over a gap of `gap` seconds. */
static void draw_line(bramah__page *page, const column *c, size_t n, double gap, const char *css)
{
  pen p = open_path(page, NEAR, css);
  int before = 0;
  for (size_t i = 0; i < n; i++) {
    /* From the end that is nearer to where the line comes from; the first column, away from where it goes. */
    const int up = i ? abs(c[i].top - before) < abs(c[i].bottom - before)
                     : n > 1 && c[1].top + c[1].bottom > c[0].top + c[0].bottom;
    const int first = up ? c[i].top : c[i].bottom, last = up ? c[i].bottom : c[i].top;
    if (i && c[i].t - c[i - 1].t_last < gap)
      draw_to(&p, c[i].x, first);
    else
      begin_at(&p, c[i].x, first);
    draw_to(&p, c[i].x_last, last);
    before = last;
    if (n == 1) bramah__page_put(page, "h0\" style=\"stroke-width:7\" stroke-linecap=\"round"); /* a dot */
  }
  close_path(&p);
}

/* Upright lines: over each column, or, as stems, from zero to each value. A dot where both are the same. */
static void draw_upright(bramah__page *page, const column *c, size_t n, const int *zero, const char *css)
{
  pen p = open_path(page, NEAR, css);
  for (size_t i = 0; i < n; i++) {
    const int from = zero ? *zero : c[i].top, to = zero ? c[i].top : c[i].bottom;
    put_move(&p, 'm', (c[i].x + c[i].x_last) / 2, from);
    put_command(&p, to == from ? 'h' : 'v');
    put_step(&p, to - from);
    p.y = to;
  }
  close_path(&p);
}

/* Along the upper edge and back along the lower; gaps and columns without a band interrupt it. */
static void draw_band(bramah__page *page, const column *c, size_t n, double gap, const char *css)
{
  pen p = open_path(page, BAND, css);
  for (size_t begin = 0, end; begin < n; begin = end) {
    for (end = begin + 1; end < n && c[end].banded && c[end].t - c[end - 1].t_last < gap;) end++;
    const size_t last = end - 1;
    if (!c[begin].banded) continue;
    begin_at(&p, c[begin].x, c[begin].upper);
    for (size_t i = begin; i <= last; i++) draw_to(&p, i == last ? c[i].x_last : c[i].x, c[i].upper);
    put_held(&p);
    for (size_t i = last + 1; i-- > begin;) draw_to(&p, i == last ? c[i].x_last : c[i].x, c[i].lower);
    put_held(&p);
    bramah__page_put(page, "z");
    p.x = c[begin].x;
    p.y = c[begin].upper;
  }
  close_path(&p);
}

/* ---- title and legend: the kinds of curves differ in stroke and colour ---- */

/* A symmetric plot shows an error or an innovation: its title says which. */
const char *bramah__series_name(const bramah__plot *plot, bramah_report_series series)
{
  static const char *const names[2][BRAMAH__N_SERIES] = {{"estimate", "truth", "measured", "model alone"},
                                                         {"value", "truth", "left out", "model alone"}};
  return plot->names[series] ? plot->names[series] : names[plot->symmetric != 0][series];
}

static const char *band_name(const bramah__plot *plot)
{
  return plot->band ? plot->band
                    : "\xC2\xB1"
                      "1.96 \xCF\x83";
}

static const char *x_name(const bramah__plot *plot)
{
  if (plot->axis == BRAMAH_REPORT_TIME) return "time [s]";
  return plot->x ? plot->x : "lag [samples]";
}

/* One entry: class and outline of its key in 260 x 100 units, and its name. */
typedef struct entry {
  const char *css, *path, *name;
  const char *role; /* e t m a, b: the band */
} entry;

enum { MOST = BRAMAH__N_SERIES + 1 };

/* From front to back. */
static size_t entries(const bramah__plot *plot, entry *out)
{
  size_t n = 0;
  for (size_t k = BRAMAH__N_SERIES; k-- > 0;) {
    const bramah_report_series s = bramah__drawn[k];
    const char *css = css_of(s), *name = bramah__series_name(plot, s);
    if (!plot->curve[s]) continue;
    if (s == BRAMAH_REPORT_MEASURED)
      out[n++] = (entry){"m d", "M60 30v40M130 20v60M200 40v30", name, css};
    else if (plot->axis == BRAMAH_REPORT_LAG && s == BRAMAH_REPORT_ESTIMATE)
      out[n++] = (entry){"e st", "M60 95v-90M130 95v-50M200 95v-25", name, css};
    else
      out[n++] = (entry){css, "M10 50h240", name, css};
    if (s == BRAMAH_REPORT_ESTIMATE && bramah__samples_banded(plot->curve[s]))
      out[n++] = (entry){plot->symmetric ? "b bo" : "b", "M5 5h250v90h-250z", band_name(plot), "b"};
  }
  return n;
}

/* What the picture cannot show: values beyond the axis; a band that is thinner than its line. */
static void put_remarks(bramah__page *page, const bramah__plot *plot, const frame *f)
{
  const bramah__samples *estimate = plot->curve[BRAMAH_REPORT_ESTIMATE];
  const double pixel = (f->y.high - f->y.low) / INNER_HEIGHT;
  double widest = 0.0;
  int beyond = 0;
  for (int s = 0; s < BRAMAH__N_SERIES; s++)
    for (size_t i = 0; plot->curve[s] && i < plot->curve[s]->n; i++)
      beyond |= on_axis(plot, (double)plot->curve[s]->at[i].min) < f->y.low ||
                on_axis(plot, (double)plot->curve[s]->at[i].max) > f->y.high;
  if (beyond) bramah__page_put(page, "<em class=\"cut\">some values lie beyond the axis</em>\n");
  if (!estimate || plot->logarithmic || plot->symmetric || plot->axis != BRAMAH_REPORT_TIME) return;
  for (size_t i = estimate->n / 20; i < estimate->n; i++) { /* the start is wide, and seen */
    const double half = 0.5 * ((double)estimate->at[i].high - (double)estimate->at[i].low);
    if (half > widest) widest = half;
  }
  if (!(widest > 0.0) || widest > 1.5 * pixel) return;
  const int has_unit = strcmp(plot->unit, "1") != 0;
  bramah__page_format(page,
                      "<em>%s is at most \xC2\xB1%.2g%s%s after the start: thinner than its line</em>\n",
                      band_name(plot), widest, has_unit ? " " : "", has_unit ? plot->unit : "");
}

static void put_caption(bramah__page *page, const bramah__plot *plot, const frame *f)
{
  entry e[MOST];
  const size_t n = entries(plot, e);
  bramah__page_format(page, "<figcaption><strong>%s</strong>\n", plot->title);
  if (f->has_values) put_remarks(page, plot, f);
  bramah__page_put(page, "<span class=\"l\">\n");
  for (size_t i = 0; i < n; i++)
    bramah__page_format(
        page,
        "<span data-role=\"%s\"><svg class=\"k\" viewBox=\"0 0 260 100\" aria-hidden=\"true\">"
        "<path class=\"%s\" d=\"%s\"/></svg>%s</span>\n",
        e[i].role, e[i].css, e[i].path, e[i].name);
  bramah__page_put(page, "</span>\n</figcaption>\n");
}

/* About how wide a text is [px]: there is nobody to ask. Continuation bytes of UTF-8 take no room. */
static int width_of(const char *text)
{
  int tenths = 0;
  for (; *text; text++) {
    if (((unsigned char)*text & 0xc0u) == 0x80u) continue;
    if (strchr("mwMW%", *text))
      tenths += 124;
    else
      tenths += strchr("fijlrt.,:;'|! ", *text) ? 46 : 81;
  }
  return tenths / 10;
}

/* ---- around the curves ---- */

/* "10^-3" with a superscript exponent. */
static void put_power(bramah__page *page, int exponent)
{
  static const char *const superscript[] = {"\xE2\x81\xB0", "\xC2\xB9",     "\xC2\xB2",     "\xC2\xB3",
                                            "\xE2\x81\xB4", "\xE2\x81\xB5", "\xE2\x81\xB6", "\xE2\x81\xB7",
                                            "\xE2\x81\xB8", "\xE2\x81\xB9"};
  const int magnitude = abs(exponent);
  bramah__page_put(page, "10");
  if (exponent < 0) bramah__page_put(page, "\xE2\x81\xBB");
  if (magnitude >= 100) bramah__page_put(page, superscript[magnitude / 100]);
  if (magnitude >= 10) bramah__page_put(page, superscript[magnitude / 10 % 10]);
  bramah__page_put(page, superscript[magnitude % 10]);
}

/* "x10^-3 rad" */
static void put_unit(bramah__page *page, int exponent, const char *unit)
{
  if (exponent) {
    bramah__page_put(page, "\xC3\x97");
    put_power(page, exponent);
    bramah__page_put(page, " ");
  }
  if (strcmp(unit, "1") != 0) bramah__page_format(page, "%s", unit);
}

/* A place in per cent of the axis, to a hundredth. */
static void put_share(bramah__page *page, const char *name, int units, int length)
{
  const int share = (int)((int64_t)units * 10000 / length);
  bramah__page_format(page, " %s=\"%d.%d%d%%\"", name, share / 100, abs(share) / 10 % 10, abs(share) % 10);
}

/* Grid line and label of a tick: `at` in units; upright: of the time axis. */
static void open_tick(bramah__page *page, int at, int upright, int zero)
{
  static const char *const names[2][2] = {{"y1", "y2"}, {"x1", "x2"}};
  bramah__page_put(page, zero ? "<line class=\"z\"" : "<line class=\"g\"");
  for (int i = 0; i < 2; i++) put_share(page, names[upright][i], at, upright ? X_UNITS : Y_UNITS);
  bramah__page_put(page, upright ? " y1=\"0\" y2=\"100%\"/><text class=\"x\""
                                 : " x1=\"0\" x2=\"100%\"/><text class=\"y\"");
  put_share(page, upright ? "x" : "y", at, upright ? X_UNITS : Y_UNITS);
  bramah__page_format(page, upright ? " y=\"%d\">" : " x=\"-7\" dy=\"4\">", INNER_HEIGHT + 17);
}

static void put_linear_ticks(bramah__page *page, const frame *f, int upright, const bramah__ticks *ticks)
{
  for (int64_t k = ticks->first; k <= ticks->last; k++) {
    char label[BRAMAH__LABEL_SIZE];
    const double value = bramah__tick_value(ticks, k);
    bramah__tick_label(label, ticks, k);
    const int at = upright ? place_x(f, value) : place_y(f, f->logarithmic ? log10(value) : value);
    open_tick(page, at, upright, !upright && k == 0);
    bramah__page_format(page, "%s</text>\n", label);
  }
}

/* Powers of ten, or where there are not two of them 1, 2 and 5 times these. */
static void put_decades(bramah__page *page, const frame *f)
{
  const int first = (int)floor(f->y.low), last = (int)ceil(f->y.high), fine = f->y.high - f->y.low < 2.0;
  const int each = fine ? 1 : 1 + (last - first) / (Y_TICKS + 1);
  for (int power = first - first % each; power <= last; power += each)
    for (int mantissa = 1; mantissa <= (fine ? 5 : 1); mantissa += mantissa == 2 ? 3 : 1) {
      const double at = power + log10(mantissa);
      if (at < f->y.low || at > f->y.high) continue;
      open_tick(page, place_y(f, at), 0, 0);
      char label[BRAMAH__LABEL_SIZE];
      const bramah__ticks as_text = {.mantissa = mantissa, .power = power};
      bramah__tick_label(label, &as_text, 1);
      if (abs(power) > 4 && !fine)
        put_power(page, power);
      else
        bramah__page_put(page, label);
      bramah__page_put(page, "</text>\n");
    }
}

static void put_names(bramah__page *page, const bramah__plot *plot, const frame *f)
{
  for (size_t k = 0; k < plot->n_labels; k++) {
    bramah__page_put(page, "<svg class=\"tag\" overflow=\"visible\"");
    put_share(page, "x", place_x(f, (double)k + 1.0), X_UNITS);
    bramah__page_format(page, " y=\"%d\"><text class=\"n\" transform=\"rotate(-35)\">%s</text></svg>\n",
                        INNER_HEIGHT + 16, plot->labels[k]);
  }
}

/* Frame, grid and labels. */
static void put_axes(bramah__page *page, const bramah__plot *plot, const frame *f)
{
  bramah__page_format(page,
                      "<svg class=\"g\" y=\"%d\" width=\"100%%\" height=\"%d\" overflow=\"visible\">\n<g>\n",
                      TOP, INNER_HEIGHT);
  const bramah__ticks x = bramah__ticks_of(f->x, X_TICKS);
  const int few = f->y.high - f->y.low < 0.8; /* less than a decade has round values */
  const bramah__range values = {pow(10.0, f->y.low), pow(10.0, f->y.high)};
  const bramah__ticks y = !f->logarithmic ? bramah__ticks_of(f->y, Y_TICKS)
                          : few           ? bramah__ticks_of(values, Y_TICKS)
                                          : (bramah__ticks){0};
  if (plot->n_labels)
    put_names(page, plot, f);
  else
    put_linear_ticks(page, f, 1, &x);
  if (f->logarithmic && !few)
    put_decades(page, f);
  else
    put_linear_ticks(page, f, 0, &y);
  bramah__page_put(page, "<text class=\"u\" x=\"-58\" y=\"-11\">");
  put_unit(page, y.exponent, plot->unit);
  bramah__page_put(page, "</text></g>\n<rect class=\"f\" width=\"100%\" height=\"100%\"/>\n");
  bramah__page_format(page, "<text class=\"x\" x=\"50%%\" y=\"%d\">",
                      INNER_HEIGHT + 36 + (plot->n_labels ? NAMES : 0));
  if (x.exponent && !plot->n_labels) {
    put_unit(page, x.exponent, "1");
    bramah__page_put(page, "\xC3\x97 ");
  }
  bramah__page_format(page, "%s</text></svg>\n", !plot->n_labels || plot->x ? x_name(plot) : "");
}

/* ---- the curves ---- */

static void put_series(bramah__page *page, const bramah__plot *plot, const frame *f,
                       bramah_report_series series)
{
  const bramah__samples *all = plot->curve[series];
  size_t n;
  column *c = columns_of(plot, f, all, &n);
  if (!c) {
    if (!page->error) page->error = ENOMEM;
    return;
  }
  const double mean = (all->last - all->first) / (double)all->n;
  const double gap = plot->axis == BRAMAH_REPORT_TIME && all->n > 20 ? 10.0 * mean : (double)INFINITY;
  const int zero = place_y(f, f->logarithmic ? f->y.low : 0.0), banded = bramah__samples_banded(all);
  const int stems = plot->axis == BRAMAH_REPORT_LAG;
  if (series == BRAMAH_REPORT_MEASURED) {
    draw_upright(page, c, n, NULL, n < 200 ? "m d" : "m"); /* few are drawn as dots */
  } else if (series != BRAMAH_REPORT_ESTIMATE) {
    draw_line(page, c, n, gap, css_of(series));
  } else {
    if (banded) draw_band(page, c, n, gap, "b");
    if (stems)
      draw_upright(page, c, n, &zero, n < 25 ? "e st w" : "e st");
    else
      draw_line(page, c, n, gap, plot->symmetric ? "e s" : "e");
    /* An error or an innovation is mostly noise: it fills its band, whose edges are therefore drawn in front. */
    if (banded && plot->symmetric && !stems) draw_band(page, c, n, gap, "o");
  }
  free(c);
}

/* Everything in the picture but the title. */
static void put_picture(bramah__page *page, const bramah__plot *plot, const frame *f)
{
  if (!f->has_values) {
    bramah__page_format(page, "<text class=\"x\" x=\"50%%\" y=\"%d\">no data</text>\n", HEIGHT / 2);
    return;
  }
  put_axes(page, plot, f);
  bramah__page_format(page,
                      "<svg class=\"i\" y=\"%d\" width=\"100%%\" height=\"%d\" viewBox=\"0 0 %d %d\" "
                      "preserveAspectRatio=\"none\">\n",
                      TOP, INNER_HEIGHT, X_UNITS, Y_UNITS);
  /* Stems would hide what stands over them. */
  const int stems = plot->axis == BRAMAH_REPORT_LAG;
  if (stems && plot->curve[BRAMAH_REPORT_ESTIMATE]) put_series(page, plot, f, BRAMAH_REPORT_ESTIMATE);
  for (size_t k = 0; k < BRAMAH__N_SERIES; k++)
    if (plot->curve[bramah__drawn[k]] && !(stems && bramah__drawn[k] == BRAMAH_REPORT_ESTIMATE))
      put_series(page, plot, f, bramah__drawn[k]);
  bramah__page_put(page, "</svg>\n");
}

void bramah__plot_write(bramah__page *page, const bramah_report *report, size_t n)
{
  static const char *const axes[] = {
      [BRAMAH_REPORT_TIME] = "time", [BRAMAH_REPORT_LAG] = "lag", [BRAMAH_REPORT_CURVE] = "curve"};
  const bramah__plot *plot = &report->plots[n];
  const frame f = frame_of(report, plot);
  bramah__page_format(page, "<figure id=\"plot%zu\" data-axis=\"%s\" data-x=\"%.15g %.15g\"", n,
                      axes[plot->axis], f.x.low, f.x.high);
  if (f.has_values) bramah__page_format(page, " data-y=\"%.15g %.15g\"", f.y.low, f.y.high);
  if (f.logarithmic) bramah__page_put(page, " data-log=\"1\"");
  if (plot->n_labels) bramah__page_put(page, " data-names=\"1\"");
  bramah__page_format(page, " data-unit=\"%s\">", plot->unit);
  put_caption(page, plot, &f);
  bramah__page_format(page, "<svg class=\"p\" role=\"img\" width=\"%d\" height=\"%d\" aria-label=\"%s%s\">\n",
                      INNER_WIDTH, HEIGHT + (plot->n_labels ? NAMES : 0), plot->title,
                      plot->axis == BRAMAH_REPORT_TIME ? " over time" : "");
  put_picture(page, plot, &f);
  bramah__page_put(page, "</svg></figure>\n");
}

/* ---- pictures for papers ---- */

/* Title and legend, which ends at the right edge of the axis. */
static void put_title(bramah__page *page, const bramah__plot *plot, int y)
{
  entry e[MOST];
  const size_t n = entries(plot, e);
  int x = WIDTH - RIGHT + 16;
  bramah__page_format(page, "<text class=\"h\" x=\"%d\" y=\"%d\">%s</text>\n", LEFT, y, plot->title);
  for (size_t i = 0; i < n; i++) x -= 48 + width_of(e[i].name);
  for (size_t i = 0; i < n; i++) {
    bramah__page_format(
        page,
        "<svg class=\"k\" x=\"%d\" y=\"%d\" width=\"26\" height=\"10\" viewBox=\"0 0 260 100\">"
        "<path class=\"%s\" d=\"%s\"/></svg><text class=\"w\" x=\"%d\" y=\"%d\">%s</text>\n",
        x, y - 9, e[i].css, e[i].path, x + 32, y, e[i].name);
    x += 48 + width_of(e[i].name);
  }
}

void bramah__picture_write(bramah__page *page, const bramah_report *report)
{
  const size_t n = report->n_plots < 100000 ? report->n_plots : 100000;
  int height = 6, top = 0;
  for (size_t i = 0; i < n; i++) height += TITLE_HEIGHT + HEIGHT + (report->plots[i].n_labels ? NAMES : 0);
  bramah__page_format(page,
                      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d "
                      "%d\">\n<title>%s</title>\n<style>\n",
                      WIDTH, height, WIDTH, height, report->title);
  bramah__page_put(page, bramah__paper_css);
  bramah__page_put(page, "</style>\n<rect class=\"paper\" width=\"100%\" height=\"100%\"/>\n");
  for (size_t i = 0; i < n; i++) {
    const bramah__plot *plot = &report->plots[i];
    const frame f = frame_of(report, plot);
    const int own = HEIGHT + (plot->n_labels ? NAMES : 0);
    put_title(page, plot, top + 24);
    bramah__page_format(
        page, "<svg class=\"p\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" overflow=\"visible\">\n", LEFT,
        top + TITLE_HEIGHT, INNER_WIDTH, own);
    put_picture(page, plot, &f);
    bramah__page_put(page, "</svg>\n");
    top += TITLE_HEIGHT + own;
  }
  bramah__page_put(page, "</svg>\n");
}
