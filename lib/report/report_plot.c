/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Plots as SVG, in the page and as a picture for papers. The curves are in an inner picture with ten units to a
 * pixel, so that coordinates are short integers, and are drawn with relative steps: a hundred thousand points make
 * a page of a megabyte. */
#include "lib/report/report_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 760, HEIGHT = 280, LEFT = 76, RIGHT = 14, TOP = 30, BOTTOM = 42 };
enum { INNER_WIDTH = WIDTH - LEFT - RIGHT, INNER_HEIGHT = HEIGHT - TOP - BOTTOM, UNITS = 10 };
enum { X_TICKS = 8, Y_TICKS = 5 };
enum { PICTURE_WIDTH = 760, PICTURE_HEIGHT = 312 }; /* of a plot with title and legend */

const bramah_report_series bramah__drawn[BRAMAH__N_SERIES] = {BRAMAH_REPORT_MEASURED, BRAMAH_REPORT_MODEL,
                                                              BRAMAH_REPORT_ESTIMATE, BRAMAH_REPORT_TRUTH};

static const char *css_of(bramah_report_series series)
{
  static const char *const css[BRAMAH__N_SERIES] = {[BRAMAH_REPORT_ESTIMATE] = "e",
                                                    [BRAMAH_REPORT_TRUTH] = "t",
                                                    [BRAMAH_REPORT_MEASURED] = "m",
                                                    [BRAMAH_REPORT_MODEL] = "a"};
  return css[series];
}

static const bramah__series *series_of(const bramah__plot *plot, bramah_report_series series)
{
  return plot->curve[series] ? &plot->curve[series]->series : NULL;
}

/* Maps a plot's values to units of the inner picture. */
typedef struct frame {
  bramah__range x, y;
} frame;

static int place(double value, bramah__range range, double length)
{
  double share = (value - range.low) / (range.high - range.low);
  share = fmin(fmax(share, -1.0), 2.0); /* what lies far outside is cut off anyway */
  return (int)floor(share * length + 0.5);
}

static int place_x(const frame *f, double t) { return place(t, f->x, (double)(INNER_WIDTH * UNITS)); }

static int place_y(const frame *f, double value)
{
  return INNER_HEIGHT * UNITS - place(value, f->y, (double)(INNER_HEIGHT * UNITS));
}

/* ---- paths ---- */

typedef struct pen {
  bramah__page *page;
  const frame *frame;
  int x, y;
  char command; /* the one in force: a repeated letter may be left out */
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

/* Draw to a point, or begin there. */
static void draw_to(pen *p, double t, double value)
{
  int x = place_x(p->frame, t), y = place_y(p->frame, value);
  if (p->command && x == p->x && y == p->y) return;
  if (p->command)
    put_command(p, 'l');
  else
    bramah__page_put(p->page, "M");
  put_step(p, p->command ? x - p->x : x);
  put_step(p, p->command ? y - p->y : y);
  if (!p->command) p->command = 'M';
  p->x = x;
  p->y = y;
}

static void open_path(bramah__page *page, const char *css)
{
  bramah__page_format(page, "<path class=\"%s\" d=\"", css);
}

static void close_path(bramah__page *page, const char *end) { bramah__page_format(page, "%s\"/>\n", end); }

static void draw_line(bramah__page *page, const frame *f, const bramah__series *series, const char *css)
{
  pen p = {.page = page, .frame = f};
  open_path(page, css);
  for (size_t i = 0; i < series->n_bins; i++)
    if (series->bin[i].n) {
      const bramah__bin *bin = &series->bin[i];
      int rising = bin->t_min <= bin->t_max;
      draw_to(&p, bin->t_first, bin->first);
      draw_to(&p, rising ? bin->t_min : bin->t_max, rising ? bin->min : bin->max);
      draw_to(&p, rising ? bin->t_max : bin->t_min, rising ? bin->max : bin->min);
      draw_to(&p, bin->t_last, bin->last);
    }
  close_path(page, p.command == 'M' ? "h0\" style=\"stroke-width:70" : ""); /* a line of no length is a dot */
}

/* Upright lines: from minimum to maximum of each bin, or, as stems, from zero to each value. A dot where both are
 * the same. */
static void draw_upright(bramah__page *page, const frame *f, const bramah__series *series, int stems,
                         const char *css)
{
  int x = 0, y = 0;
  open_path(page, css);
  for (size_t i = 0; i < series->n_bins; i++) {
    const bramah__bin *bin = &series->bin[i];
    if (!bin->n) continue;
    const int at = place_x(f, stems ? bin->t_last : 0.5 * (bin->t_first + bin->t_last));
    const int from = place_y(f, stems ? 0.0 : bin->max), to = place_y(f, stems ? bin->last : bin->min);
    pen p = {.page = page};
    put_command(&p, 'm');
    put_step(&p, at - x);
    put_step(&p, from - y);
    put_command(&p, to == from ? 'h' : 'v');
    put_step(&p, to - from);
    x = at;
    y = to;
  }
  close_path(page, "");
}

/* ---- the band ---- */

static int has_band(const bramah__bin *bin) { return bin->n && !isnan(bin->low); }

static int series_has_band(const bramah__series *series)
{
  for (size_t i = 0; series && i < series->n_bins; i++)
    if (has_band(&series->bin[i])) return 1;
  return 0;
}

/* Along the upper edge and back along the lower. Empty bins do not interrupt a band, bins with points without a
 * band do. */
static void draw_band(bramah__page *page, const frame *f, const bramah__series *series, const char *css)
{
  if (!series_has_band(series)) return;
  open_path(page, css);
  for (size_t begin = 0; begin < series->n_bins; begin++) {
    if (!has_band(&series->bin[begin])) continue;
    size_t end = begin;
    for (size_t i = begin; i < series->n_bins && (!series->bin[i].n || has_band(&series->bin[i])); i++)
      if (series->bin[i].n) end = i + 1;
    pen p = {.page = page, .frame = f};
    for (size_t i = begin; i < end; i++) {
      const bramah__bin *bin = &series->bin[i];
      if (!bin->n) continue;
      if (i == begin) draw_to(&p, bin->t_first, bin->high);
      draw_to(&p, 0.5 * (bin->t_first + bin->t_last), bin->high);
      if (i + 1 == end) draw_to(&p, bin->t_last, bin->high);
    }
    for (size_t i = end; i-- > begin;) {
      const bramah__bin *bin = &series->bin[i];
      if (!bin->n) continue;
      if (i + 1 == end) draw_to(&p, bin->t_last, bin->low);
      draw_to(&p, 0.5 * (bin->t_first + bin->t_last), bin->low);
      if (i == begin) draw_to(&p, bin->t_first, bin->low);
    }
    bramah__page_put(page, "z");
    begin = end - 1;
  }
  close_path(page, "");
}

/* ---- ranges ---- */

/* Range of all series of the plot. Returns 0 if there is nothing to show (or no memory to find out). */
int bramah__plot_range(const bramah__plot *plot, bramah__range *range)
{
  size_t n = 0;
  double *values = malloc((size_t)BRAMAH__N_SERIES * 4 * BRAMAH__BINS * sizeof *values);
  if (!values) return 0;
  for (int s = 0; s < BRAMAH__N_SERIES; s++) {
    const bramah__series *series = series_of(plot, (bramah_report_series)s);
    for (size_t i = 0; series && i < series->n_bins; i++) {
      const bramah__bin *bin = &series->bin[i];
      if (!bin->n) continue;
      values[n++] = bin->min;
      values[n++] = bin->max;
      if (!has_band(bin)) continue;
      values[n++] = bin->low;
      values[n++] = bin->high;
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

static int reaches_beyond(const bramah__plot *plot, bramah__range range)
{
  for (int s = 0; s < BRAMAH__N_SERIES; s++) {
    const bramah__series *series = series_of(plot, (bramah_report_series)s);
    for (size_t i = 0; series && i < series->n_bins; i++) {
      const bramah__bin *bin = &series->bin[i];
      if (bin->n && (bin->min < range.low || bin->max > range.high)) return 1;
    }
  }
  return 0;
}

/* ---- title and legend: the kinds of curves differ in stroke and colour ---- */

/* A symmetric plot shows an error or an innovation: its title says which. */
const char *bramah__series_name(const bramah__plot *plot, bramah_report_series series)
{
  static const char *const names[2][BRAMAH__N_SERIES] = {{"estimate", "truth", "measured", "model alone"},
                                                         {"value", "truth", "left out", "model alone"}};
  return plot->names[series] ? plot->names[series] : names[plot->symmetric != 0][series];
}

const char *bramah__band_name(const bramah__plot *plot)
{
  return plot->band ? plot->band
                    : "\xC2\xB1"
                      "1.96 \xCF\x83";
}

const char *bramah__x_name(const bramah__plot *plot)
{
  if (plot->axis == BRAMAH_REPORT_TIME) return "time [s]";
  return plot->x ? plot->x : "lag [samples]";
}

/* One entry: class and outline of its key in 260 x 100 units, and its name. */
typedef struct entry {
  const char *css, *path, *name;
  char role; /* e t m a, b: the band */
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
      out[n++] = (entry){"m d", "M60 30v40M130 20v60M200 40v30", name, *css};
    else if (plot->axis == BRAMAH_REPORT_LAG)
      out[n++] = (entry){"e st", "M60 95v-90M130 95v-50M200 95v-25", name, *css};
    else
      out[n++] = (entry){css, "M10 50h240", name, *css};
    if (s == BRAMAH_REPORT_ESTIMATE && series_has_band(series_of(plot, BRAMAH_REPORT_ESTIMATE)))
      out[n++] = (entry){plot->symmetric ? "b bo" : "b", "M5 5h250v90h-250z", bramah__band_name(plot), 'b'};
  }
  return n;
}

static void put_key(bramah__page *page, const entry *e)
{
  bramah__page_format(page, "<path class=\"%s\" d=\"%s\"/></svg>", e->css, e->path);
}

static void put_caption(bramah__page *page, const bramah__plot *plot, int cut)
{
  entry e[MOST];
  const size_t n = entries(plot, e);
  bramah__page_put(page, "<figcaption><strong>");
  bramah__page_put_escaped(page, plot->title);
  bramah__page_put(page, "</strong>\n");
  if (cut) bramah__page_put(page, "<em class=\"cut\">some values lie beyond the axis</em>\n");
  bramah__page_put(page, "<span class=\"l\">\n");
  for (size_t i = 0; i < n; i++) {
    bramah__page_format(
        page, "<span data-role=\"%c\"><svg class=\"k\" viewBox=\"0 0 260 100\" aria-hidden=\"true\">",
        e[i].role);
    put_key(page, &e[i]);
    bramah__page_put_escaped(page, e[i].name);
    bramah__page_put(page, "</span>\n");
  }
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

/* Places in tenths of a pixel. */
static void put_label(bramah__page *page, const char *css, int x, int y, const bramah__ticks *ticks,
                      int64_t k)
{
  char label[BRAMAH__LABEL_SIZE];
  bramah__tick_label(label, ticks, k);
  bramah__page_format(page, "<text class=\"%s\" x=\"%d.%d\" y=\"%d.%d\">%s</text>\n", css, x / 10, x % 10,
                      y / 10, y % 10, label);
}

static void put_grid_line(bramah__page *page, int x, int y, char direction, int length, int zero)
{
  bramah__page_format(page, "<path class=\"%c\" d=\"M%d %d%c%d\"/>\n", zero ? 'z' : 'g', x, y, direction,
                      length);
}

/* "x10^-3 rad" with a superscript exponent. */
static void put_unit(bramah__page *page, int exponent, const char *unit)
{
  static const char *const superscript[] = {"\xE2\x81\xB0", "\xC2\xB9",     "\xC2\xB2",     "\xC2\xB3",
                                            "\xE2\x81\xB4", "\xE2\x81\xB5", "\xE2\x81\xB6", "\xE2\x81\xB7",
                                            "\xE2\x81\xB8", "\xE2\x81\xB9"};
  int magnitude = abs(exponent);
  if (exponent) {
    bramah__page_put(page, "\xC3\x97"
                           "10");
    if (exponent < 0) bramah__page_put(page, "\xE2\x81\xBB");
    if (magnitude >= 100) bramah__page_put(page, superscript[magnitude / 100]);
    if (magnitude >= 10) bramah__page_put(page, superscript[magnitude / 10 % 10]);
    bramah__page_put(page, superscript[magnitude % 10]);
    bramah__page_put(page, " ");
  }
  if (strcmp(unit, "1") != 0) bramah__page_put_escaped(page, unit);
}

static void put_curves(bramah__page *page, const bramah__plot *plot, const frame *f)
{
  for (size_t k = 0; k < BRAMAH__N_SERIES; k++) {
    const bramah__series *series = series_of(plot, bramah__drawn[k]);
    if (!series) continue;
    if (bramah__drawn[k] == BRAMAH_REPORT_MEASURED) {
      /* Scattered values are drawn as dots, many as thin bars. */
      size_t n = 0;
      for (size_t i = 0; i < series->n_bins; i++) n += series->bin[i].n > 0;
      draw_upright(page, f, series, 0, n < 200 ? "m d" : "m");
    } else if (bramah__drawn[k] != BRAMAH_REPORT_ESTIMATE) {
      draw_line(page, f, series, css_of(bramah__drawn[k]));
    } else {
      draw_band(page, f, series, "b");
      if (plot->axis == BRAMAH_REPORT_LAG)
        draw_upright(page, f, series, 1, "e st");
      else
        draw_line(page, f, series, plot->symmetric ? "e s" : "e");
      /* An error or an innovation is mostly noise: it fills its band, whose edges are therefore drawn in front. */
      if (plot->symmetric && plot->axis != BRAMAH_REPORT_LAG) draw_band(page, f, series, "o");
    }
  }
}

/* Everything in the picture but the title. */
static void put_picture(bramah__page *page, const bramah__plot *plot, bramah__range time)
{
  frame f = {time, bramah__range_empty()};
  bramah__page_format(page, "<rect class=\"f\" x=\"%d.0\" y=\"%d.0\" width=\"%d.0\" height=\"%d.0\"/>\n",
                      LEFT, TOP, INNER_WIDTH, INNER_HEIGHT);
  if (!bramah__plot_range(plot, &f.y)) {
    bramah__page_format(page, "<text class=\"n\" x=\"%d.0\" y=\"%d.0\">no data</text>\n",
                        LEFT + INNER_WIDTH / 2, TOP + INNER_HEIGHT / 2);
    return;
  }

  /* Stems and curves have an axis of their own, with room for half a stem's distance at both ends. */
  const bramah__curve *curve = plot->curve[BRAMAH_REPORT_ESTIMATE];
  if (plot->axis != BRAMAH_REPORT_TIME && curve) {
    const bramah__samples *s = &curve->samples;
    const double half = s->n > 1 ? 0.5 * (s->at[s->n - 1].t - s->at[0].t) / (double)(s->n - 1) : 1.0;
    f.x = (bramah__range){s->at[0].t - half, s->at[s->n - 1].t + half};
  }

  /* Labels and names of the axes. */
  const bramah__ticks x = bramah__ticks_of(f.x, X_TICKS), y = bramah__ticks_of(f.y, Y_TICKS);
  for (int64_t k = x.first; k <= x.last; k++)
    put_label(page, "x", LEFT * 10 + place_x(&f, bramah__tick_value(&x, k)), (HEIGHT - BOTTOM + 17) * 10, &x,
              k);
  for (int64_t k = y.first; k <= y.last; k++)
    put_label(page, "y", (LEFT - 7) * 10, (TOP + 4) * 10 + place_y(&f, bramah__tick_value(&y, k)), &y, k);
  bramah__page_format(page, "<text class=\"u\" x=\"%d.0\" y=\"%d.0\">", LEFT - 7, TOP - 14);
  put_unit(page, y.exponent, plot->unit);
  bramah__page_format(page, "</text>\n<text class=\"x\" x=\"%d.0\" y=\"%d.0\">", LEFT + INNER_WIDTH / 2,
                      HEIGHT - 6);
  if (x.exponent) {
    put_unit(page, x.exponent, "1");
    bramah__page_put(page, "\xC3\x97 ");
  }
  bramah__page_put_escaped(page, bramah__x_name(plot));
  bramah__page_put(page, "</text>\n");
  bramah__page_format(
      page, "<svg class=\"i\" x=\"%d.0\" y=\"%d.0\" width=\"%d.0\" height=\"%d.0\" viewBox=\"0 0 %d %d\">\n",
      LEFT, TOP, INNER_WIDTH, INNER_HEIGHT, INNER_WIDTH * UNITS, INNER_HEIGHT * UNITS);
  for (int64_t k = x.first; k <= x.last; k++)
    put_grid_line(page, place_x(&f, bramah__tick_value(&x, k)), 0, 'v', INNER_HEIGHT * UNITS, 0);
  for (int64_t k = y.first; k <= y.last; k++)
    put_grid_line(page, 0, place_y(&f, bramah__tick_value(&y, k)), 'h', INNER_WIDTH * UNITS, k == 0);
  put_curves(page, plot, &f);
  bramah__page_put(page, "</svg>\n");
}

void bramah__plot_write(bramah__page *page, const bramah__plot *plot, bramah__range time, size_t n)
{
  bramah__range values;
  bramah__page_format(page, "<figure data-plot=\"%zu\">", n);
  put_caption(page, plot, bramah__plot_range(plot, &values) && reaches_beyond(plot, values));
  bramah__page_format(page, "<svg class=\"p\" role=\"img\" viewBox=\"0 0 %d %d\" aria-label=\"", WIDTH,
                      HEIGHT);
  bramah__page_put_escaped(page, plot->title);
  bramah__page_put(page, plot->axis == BRAMAH_REPORT_TIME  ? " over time\">\n"
                         : plot->axis == BRAMAH_REPORT_LAG ? " over the lag\">\n"
                                                           : "\">\n");
  put_picture(page, plot, time);
  bramah__page_put(page, "</svg></figure>\n");
}

/* ---- pictures for papers ---- */

/* Title and legend, which ends at the right edge of the axis. */
static void put_title(bramah__page *page, const bramah__plot *plot, int y)
{
  entry e[MOST];
  const size_t n = entries(plot, e);
  int x = PICTURE_WIDTH - 14 + 16;
  bramah__page_format(page, "<text class=\"h\" x=\"76\" y=\"%d\">", y);
  bramah__page_put_escaped(page, plot->title);
  bramah__page_put(page, "</text>\n");
  for (size_t i = 0; i < n; i++) x -= 48 + width_of(e[i].name);
  for (size_t i = 0; i < n; i++) {
    bramah__page_format(
        page, "<svg class=\"k\" x=\"%d\" y=\"%d\" width=\"26\" height=\"10\" viewBox=\"0 0 260 100\">", x,
        y - 9);
    put_key(page, &e[i]);
    bramah__page_format(page, "<text class=\"w\" x=\"%d\" y=\"%d\">", x + 32, y);
    bramah__page_put_escaped(page, e[i].name);
    bramah__page_put(page, "</text>\n");
    x += 48 + width_of(e[i].name);
  }
}

void bramah__picture_write(bramah__page *page, const bramah_report *report)
{
  const int n = report->n_plots < 1000000 ? (int)report->n_plots : 1000000;
  const int height = (n ? n : 1) * PICTURE_HEIGHT + 6;
  bramah__page_format(page,
                      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d "
                      "%d\">\n<title>",
                      PICTURE_WIDTH, height, PICTURE_WIDTH, height);
  bramah__page_put_escaped(page, report->title);
  bramah__page_put(page, "</title>\n<style>\n");
  bramah__page_put(page, bramah__paper_css);
  bramah__page_put(page, "</style>\n<rect class=\"paper\" width=\"100%\" height=\"100%\"/>\n");
  for (int i = 0; i < n; i++) {
    const int top = i * PICTURE_HEIGHT;
    put_title(page, &report->plots[i], top + 24);
    bramah__page_format(page, "<svg class=\"p\" x=\"0\" y=\"%d\" width=\"%d\" height=\"%d\">\n",
                        top + PICTURE_HEIGHT - HEIGHT - 6, WIDTH, HEIGHT);
    put_picture(page, &report->plots[i], bramah__report_time(report));
    bramah__page_put(page, "</svg>\n");
  }
  bramah__page_put(page, "</svg>\n");
}
