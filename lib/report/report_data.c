/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the script of the page works on. A JSON element lists what there is; the numbers are in elements of
 * their own as base64 of little-endian 32-bit floats, which a browser reads some fifty times faster than
 * JSON and only when they are to be seen. Times are relative to "t0"; series that share their times share
 * the array.
 *
 *   {"t0": s, "time": [from, to] of the axes,
 *    "plots": [{"title", "unit", "axis": "time" | "lag", "x": its name, "band", "symmetric",
 *      "range"?: of its vertical axis,
 *      "series": [{"role": "estimate" | ..., "name", "steps", "n", "t": ARRAY, "mean": ARRAY, "min"?, "max"?,
 *        "low"?, "high"?}]}],
 *    "events": [[t, kind, text]], "kinds": [[name, how many]],
 *    "machine": {"parts": [[kind, name]], "n", "t": ARRAY, "points": ARRAY} | null}
 *
 * ARRAY is the number in the id of the element, "d<number>". */
#include "lib/report/report_parts.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- JSON ---- */

/* "<" is escaped so that no text can end the element. */
static void put_string(bramah__page *page, const char *text)
{
  static const char hex[] = "0123456789abcdef";
  bramah__page_put(page, "\"");
  for (; *text; text++) {
    const unsigned char c = (unsigned char)*text;
    if (c < 0x20u || c == '"' || c == '\\' || c == '<')
      bramah__page_put_bytes(page, (char[]){'\\', 'u', '0', '0', hex[c >> 4], hex[c & 15u]}, 6);
    else
      bramah__page_put_bytes(page, text, 1);
  }
  bramah__page_put(page, "\"");
}

static void put_member(bramah__page *page, const char *name, const char *text)
{
  bramah__page_format(page, ",\"%s\":", name);
  put_string(page, text);
}

static void put_count(bramah__page *page, const char *name, int64_t value)
{
  bramah__page_format(page, ",\"%s\":%lld", name, (long long)value);
}

/* ---- base64 ---- */

enum { ENCODED_AT_ONCE = 3 * 256 };

typedef struct encoder {
  bramah__page *page;
  unsigned char bytes[ENCODED_AT_ONCE];
  size_t n;
} encoder;

static void put_groups(encoder *e)
{
  static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  char text[ENCODED_AT_ONCE / 3 * 4], *out = text;
  for (size_t k = e->n; k % 3; k++) e->bytes[k] = 0;
  for (size_t k = 0; k < e->n; k += 3) {
    const unsigned char *b = e->bytes + k;
    *out++ = digits[b[0] >> 2];
    *out++ = digits[(b[0] & 3u) << 4 | b[1] >> 4];
    *out++ = k + 1 < e->n ? digits[(b[1] & 15u) << 2 | b[2] >> 6] : '=';
    *out++ = k + 2 < e->n ? digits[b[2] & 63u] : '=';
  }
  bramah__page_put_bytes(e->page, text, (size_t)(out - text));
  e->n = 0;
}

static void put_float(encoder *e, float value)
{
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  for (int k = 0; k < 4; k++) e->bytes[e->n++] = (unsigned char)(bits >> (8 * k) & 255u);
  if (e->n == ENCODED_AT_ONCE) put_groups(e);
}

static void open_array(encoder *e, size_t number)
{
  bramah__page_format(e->page, "<script type=\"text/plain\" id=\"d%zu\">", number);
}

static void close_array(encoder *e)
{
  if (e->n) put_groups(e);
  bramah__page_put(e->page, "</script>\n");
}

/* ---- arrays of series ---- */

typedef enum field { TIME, MEAN, MIN, MAX, LOW, HIGH, N_FIELDS } field;
static const char *const field_names[N_FIELDS] = {"t", "mean", "min", "max", "low", "high"};

/* A series with the numbers of its arrays, (size_t)-1 where it has none. */
typedef struct listed {
  const bramah__samples *samples;
  size_t array[N_FIELDS];
  int shares_time; /* the array is another's */
  double t0;       /* 0 for lags */
} listed;

typedef struct writer {
  bramah__page *page;
  const bramah_report *report;
  double t0;
  size_t n_arrays, n;
  listed *list; /* [n] all series, in the order of the plots and of bramah__drawn */
} writer;

static const size_t none = (size_t)-1;

static int same_times(const bramah__samples *a, const bramah__samples *b)
{
  if (a->n != b->n) return 0;
  for (size_t i = 0; i < a->n; i++)
    if (a->at[i].t < b->at[i].t || a->at[i].t > b->at[i].t) return 0;
  return 1;
}

/* For every series of every plot. */
static void list_all(writer *w)
{
  for (size_t i = 0; i < w->report->n_plots * BRAMAH__N_SERIES; i++) {
    const bramah__plot *plot = &w->report->plots[i / BRAMAH__N_SERIES];
    const bramah__curve *curve = plot->curve[bramah__drawn[i % BRAMAH__N_SERIES]];
    if (!curve) continue;
    const bramah__samples *samples = &curve->samples;
    const int single = bramah__samples_single(samples), banded = bramah__samples_banded(samples);
    listed *l = &w->list[w->n];
    *l = (listed){.samples = samples, .t0 = plot->axis == BRAMAH_REPORT_TIME ? w->t0 : 0.0};
    for (size_t k = 0; k < w->n && !l->shares_time; k++) {
      const listed *earlier = &w->list[k];
      l->shares_time = earlier->t0 == l->t0 && same_times(earlier->samples, samples);
      if (l->shares_time) l->array[TIME] = earlier->array[TIME];
    }
    for (size_t f = 0; f < N_FIELDS; f++) {
      const int wanted = f == TIME || f == MEAN || (f <= MAX && !single) || (f >= LOW && banded);
      if (f == TIME && l->shares_time) continue;
      l->array[f] = wanted ? w->n_arrays++ : none;
    }
    w->n++;
  }
}

/* All arrays of the series, then times and points of the machine. */
static void put_arrays(writer *w)
{
  const bramah__machine *m = &w->report->machine;
  encoder e = {.page = w->page};
  for (size_t i = 0; i < w->n * N_FIELDS; i++) {
    const listed *l = &w->list[i / N_FIELDS];
    const size_t f = i % N_FIELDS;
    if (l->array[f] == none || (f == TIME && l->shares_time)) continue;
    open_array(&e, l->array[f]);
    for (size_t k = 0; k < l->samples->n; k++) {
      const bramah__sample *s = &l->samples->at[k];
      const float values[N_FIELDS] = {(float)(s->t - l->t0), s->mean, s->min, s->max, s->low, s->high};
      put_float(&e, values[f]);
    }
    close_array(&e);
  }
  if (!m->n_poses) return;
  open_array(&e, w->n_arrays);
  for (size_t i = 0; i < m->n_poses; i++) put_float(&e, (float)(m->t[i] - w->t0));
  close_array(&e);
  open_array(&e, w->n_arrays + 1);
  for (size_t i = 0; i < m->n_poses * m->n_parts * 6; i++) put_float(&e, m->points[i]);
  close_array(&e);
}

/* ---- what there is ---- */

static void put_range(bramah__page *page, const char *name, bramah__range range, int digits)
{
  bramah__page_format(page, ",\"%s\":[", name);
  bramah__page_put_number(page, range.low, digits);
  bramah__page_put(page, ",");
  bramah__page_put_number(page, range.high, digits);
  bramah__page_put(page, "]");
}

static void put_plot(writer *w, const bramah__plot *plot, size_t *next)
{
  static const char *const axes[] = {
      [BRAMAH_REPORT_TIME] = "time", [BRAMAH_REPORT_LAG] = "lag", [BRAMAH_REPORT_CURVE] = "curve"};
  static const char *const roles[BRAMAH__N_SERIES] = {"estimate", "truth", "measured", "model"};
  bramah__page *page = w->page;
  bramah__range range;
  const char *before = "";
  bramah__page_put(page, "{\"title\":");
  put_string(page, plot->title);
  put_member(page, "unit", plot->unit);
  put_member(page, "axis", axes[plot->axis]);
  put_member(page, "x", bramah__x_name(plot));
  put_member(page, "band", bramah__band_name(plot));
  put_count(page, "symmetric", plot->symmetric != 0);
  if (bramah__plot_range(plot, &range)) put_range(page, "range", range, 9);
  bramah__page_put(page, ",\"series\":[");
  for (size_t k = 0; k < BRAMAH__N_SERIES; k++) {
    if (!plot->curve[bramah__drawn[k]]) continue;
    const listed *l = &w->list[(*next)++];
    bramah__page_format(page, "%s{\"role\":", before);
    put_string(page, roles[bramah__drawn[k]]);
    put_member(page, "name", bramah__series_name(plot, bramah__drawn[k]));
    put_count(page, "steps", (int64_t)l->samples->steps);
    put_count(page, "n", (int64_t)l->samples->n);
    for (size_t f = 0; f < N_FIELDS; f++)
      if (l->array[f] != none) put_count(page, field_names[f], (int64_t)l->array[f]);
    bramah__page_put(page, "}");
    before = ",\n";
  }
  bramah__page_put(page, "]}");
}

static void put_events(bramah__page *page, const bramah__events *events)
{
  const bramah__event **sorted = bramah__events_sorted(events);
  if (!sorted && !page->error) page->error = ENOMEM;
  bramah__page_put(page, ",\n\"events\":[");
  for (size_t i = 0; sorted && i < events->n; i++) {
    bramah__page_put(page, i ? ",\n[" : "[");
    bramah__page_put_number(page, sorted[i]->t, 15);
    bramah__page_put(page, ",");
    put_string(page, events->kinds[sorted[i]->kind].name);
    bramah__page_put(page, ",");
    put_string(page, sorted[i]->text);
    bramah__page_put(page, "]");
  }
  bramah__page_put(page, "],\n\"kinds\":[");
  for (size_t i = 0; i < events->n_kinds; i++) {
    bramah__page_put(page, i ? ",[" : "[");
    put_string(page, events->kinds[i].name);
    bramah__page_put(page, ",");
    bramah__page_put_integer(page, (int64_t)events->kinds[i].n);
    bramah__page_put(page, "]");
  }
  bramah__page_put(page, "]");
  free(sorted);
}

void bramah__data_write(bramah__page *page, const bramah_report *report)
{
  const bramah__machine *m = &report->machine;
  size_t next = 0;
  writer w = {.page = page, .report = report, .t0 = bramah__report_start(report)};
  w.list = calloc(BRAMAH__N_SERIES * report->n_plots + 1, sizeof *w.list);
  if (!w.list) {
    if (!page->error) page->error = ENOMEM;
    return;
  }
  list_all(&w);
  bramah__page_put(page, "<script type=\"application/json\" id=\"data\">{\"t0\":");
  bramah__page_put_number(page, w.t0, 17);
  put_range(page, "time", bramah__report_time(report), 17);
  bramah__page_put(page, ",\"plots\":[");
  for (size_t p = 0; p < report->n_plots; p++) {
    if (p) bramah__page_put(page, ",\n");
    put_plot(&w, &report->plots[p], &next);
  }
  bramah__page_put(page, "]");
  put_events(page, &report->events);
  bramah__page_put(page, m->n_poses ? ",\n\"machine\":{\"parts\":[" : ",\n\"machine\":null");
  for (size_t i = 0; m->n_poses && i < m->n_parts; i++) {
    bramah__page_put(page, i ? ",[" : "[");
    bramah__page_put_integer(page, (int64_t)m->parts[i].kind);
    bramah__page_put(page, ",");
    put_string(page, m->parts[i].name);
    bramah__page_put(page, "]");
  }
  if (m->n_poses) {
    bramah__page_put(page, "]");
    put_count(page, "n", (int64_t)m->n_poses);
    put_count(page, "t", (int64_t)w.n_arrays);
    put_count(page, "points", (int64_t)w.n_arrays + 1);
    bramah__page_put(page, "}");
  }
  bramah__page_put(page, "}</script>\n");
  put_arrays(&w);
  free(w.list);
}

/* ---- the same numbers as CSV ---- */

/* In quotes where need be. */
static void put_csv_text(bramah__page *page, const char *text)
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

static void put_csv_cell(bramah__page *page, double value, int digits)
{
  bramah__page_put(page, ",");
  if (!isnan(value)) bramah__page_put_number(page, value, digits);
}

void bramah__csv_write(bramah__page *page, const bramah_report *report)
{
  bramah__page_put(page, "plot,unit,series,x,steps,min,mean,max,low,high\n");
  for (size_t i = 0; i < report->n_plots * BRAMAH__N_SERIES; i++) {
    const bramah__plot *plot = &report->plots[i / BRAMAH__N_SERIES];
    const bramah_report_series series = bramah__drawn[i % BRAMAH__N_SERIES];
    const bramah__samples *samples = plot->curve[series] ? &plot->curve[series]->samples : NULL;
    for (size_t k = 0; samples && k < samples->n; k++) {
      const bramah__sample *s = &samples->at[k];
      const float values[] = {s->min, s->mean, s->max, s->low, s->high};
      put_csv_text(page, plot->title);
      bramah__page_put(page, ",");
      put_csv_text(page, plot->unit);
      bramah__page_put(page, ",");
      put_csv_text(page, bramah__series_name(plot, series));
      put_csv_cell(page, s->t, 15);
      bramah__page_put(page, ",");
      bramah__page_put_integer(page, (int64_t)(k + 1 < samples->n ? samples->steps : samples->in_last));
      for (size_t v = 0; v < 5; v++) put_csv_cell(page, (double)values[v], 8);
      bramah__page_put(page, "\n");
    }
  }
}
