/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Titles and legends of plots. Each kind of curve has a stroke of its own beside its colour. */
#include "lib/report/report_parts.h"

#include <string.h>

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
    const char *css = bramah__series_css(s), *name = bramah__series_name(plot, s);
    if (!plot->curve[s]) continue;
    if (s == BRAMAH_REPORT_MEASURED)
      out[n++] = (entry){"m d", "M60 30v40M130 20v60M200 40v30", name, *css};
    else if (plot->axis == BRAMAH_REPORT_LAG)
      out[n++] = (entry){"e st", "M60 95v-90M130 95v-50M200 95v-25", name, *css};
    else
      out[n++] = (entry){css, "M10 50h240", name, *css};
    if (s == BRAMAH_REPORT_ESTIMATE && bramah__plot_banded(plot))
      out[n++] = (entry){plot->symmetric ? "b bo" : "b", "M5 5h250v90h-250z", bramah__band_name(plot), 'b'};
  }
  return n;
}

static void put_key(bramah__page *page, const entry *e)
{
  bramah__page_put(page, "<path class=\"");
  bramah__page_put(page, e->css);
  bramah__page_put(page, "\" d=\"");
  bramah__page_put(page, e->path);
  bramah__page_put(page, "\"/></svg>");
}

void bramah__legend_caption(bramah__page *page, const bramah__plot *plot, int cut)
{
  entry e[MOST];
  const size_t n = entries(plot, e);
  bramah__page_put(page, "<figcaption><strong>");
  bramah__page_put_escaped(page, plot->title);
  bramah__page_put(page, "</strong>\n");
  if (cut) bramah__page_put(page, "<em class=\"cut\">some values lie beyond the axis</em>\n");
  bramah__page_put(page, "<span class=\"l\">\n");
  for (size_t i = 0; i < n; i++) {
    bramah__page_put(page, "<span data-role=\"");
    bramah__page_put(page, (char[]){e[i].role, '\0'});
    bramah__page_put(page, "\"><svg class=\"k\" viewBox=\"0 0 260 100\" aria-hidden=\"true\">");
    put_key(page, &e[i]);
    bramah__page_put_escaped(page, e[i].name);
    bramah__page_put(page, "</span>\n");
  }
  bramah__page_put(page, "</span>\n</figcaption>\n");
}

/* About how wide a text is [px]: there is nobody to ask. Continuation bytes of UTF-8 take no room. */
static int64_t width_of(const char *text)
{
  int64_t tenths = 0;
  for (; *text; text++) {
    if (((unsigned char)*text & 0xc0u) == 0x80u) continue;
    if (strchr("mwMW%", *text))
      tenths += 124;
    else
      tenths += strchr("fijlrt.,:;'|! ", *text) ? 46 : 81;
  }
  return tenths / 10;
}

static void put_picture_entry(bramah__page *page, const entry *e, int64_t x, int64_t y)
{
  bramah__page_put(page, "<svg class=\"k\" x=\"");
  bramah__page_put_integer(page, x);
  bramah__page_put(page, "\" y=\"");
  bramah__page_put_integer(page, y - 9);
  bramah__page_put(page, "\" width=\"26\" height=\"10\" viewBox=\"0 0 260 100\">");
  put_key(page, e);
  bramah__page_put(page, "<text class=\"w\" x=\"");
  bramah__page_put_integer(page, x + 32);
  bramah__page_put(page, "\" y=\"");
  bramah__page_put_integer(page, y);
  bramah__page_put(page, "\">");
  bramah__page_put_escaped(page, e->name);
  bramah__page_put(page, "</text>\n");
}

/* The legend ends at the right edge of the axis. */
void bramah__legend_picture(bramah__page *page, const bramah__plot *plot, int64_t top)
{
  entry e[MOST];
  const size_t n = entries(plot, e);
  int64_t x = BRAMAH__PICTURE_WIDTH - 14 + 16;
  bramah__page_put(page, "<text class=\"h\" x=\"76\" y=\"");
  bramah__page_put_integer(page, top + 24);
  bramah__page_put(page, "\">");
  bramah__page_put_escaped(page, plot->title);
  bramah__page_put(page, "</text>\n");
  for (size_t i = 0; i < n; i++) x -= 48 + width_of(e[i].name);
  for (size_t i = 0; i < n; i++) {
    put_picture_entry(page, &e[i], x, top + 24);
    x += 48 + width_of(e[i].name);
  }
}
