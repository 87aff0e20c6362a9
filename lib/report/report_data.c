/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the script of the page needs besides the plots, which are in the page as pictures:
 *
 *   {"time": [from, to] of the axes, "events": [[t, kind]], "kinds": [[name, how many]],
 *    "motions": [{"name", "text", "parts": [[kind, name]], "scale": metres to a unit,
 *      "t": TRACK in units of "step" s after "start", "points": [TRACK]}]}
 *
 * A TRACK is a number that stays, or a text of whole numbers, each after the first less the one before; or [k], the
 * same as the k-th of the points. Points go by part, end and axis, as in bramah_skeleton. Also all numbers as CSV. */
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

static void put_events(bramah__page *page, const bramah__events *events)
{
  const bramah__event **sorted = bramah__events_sorted(events);
  if (!sorted && !page->error) page->error = ENOMEM;
  bramah__page_put(page, ",\n\"events\":[");
  for (size_t i = 0; sorted && i < events->n; i++) {
    bramah__page_format(page, i ? ",\n[%.15g," : "[%.15g,", sorted[i]->t);
    put_string(page, events->kinds[sorted[i]->kind].name);
    bramah__page_put(page, "]");
  }
  bramah__page_put(page, "],\n\"kinds\":[");
  for (size_t i = 0; i < events->n_kinds; i++) {
    bramah__page_put(page, i ? ",[" : "[");
    put_string(page, events->kinds[i].name);
    bramah__page_format(page, ",%zu]", (size_t)events->kinds[i].n);
  }
  bramah__page_put(page, "]");
  free(sorted);
}

/* ---- motions ---- */

/* Place i of a coordinate in units of the motion, whole numbers. */
static long place_of(const bramah__motion *m, size_t coordinate, size_t i, double scale)
{
  return lround((double)m->points[i * 6 * m->n_parts + coordinate] / scale);
}

/* The first coordinate that goes the same way, perhaps itself. */
static size_t first_alike(const bramah__motion *m, size_t coordinate, double scale)
{
  for (size_t k = coordinate % 3; k < coordinate; k += 3) {
    size_t i = 0;
    while (i < m->n_poses && place_of(m, k, i, scale) == place_of(m, coordinate, i, scale)) i++;
    if (i == m->n_poses) return k;
  }
  return coordinate;
}

static void put_track(bramah__page *page, const bramah__motion *m, size_t coordinate, double scale)
{
  const size_t first = first_alike(m, coordinate, scale);
  long before = 0;
  int moves = 0;
  if (first != coordinate) {
    bramah__page_format(page, "[%zu]", first);
    return;
  }
  for (size_t i = 1; i < m->n_poses; i++)
    moves |= place_of(m, coordinate, i, scale) != place_of(m, coordinate, 0, scale);
  bramah__page_put(page, moves ? "\"" : "");
  for (size_t i = 0; i < (moves ? m->n_poses : 1); i++) {
    const long here = place_of(m, coordinate, i, scale);
    bramah__page_format(page, i ? " %ld" : "%ld", here - before);
    before = here;
  }
  bramah__page_put(page, moves ? "\"" : "");
}

static void put_motion(bramah__page *page, const bramah__motion *m)
{
  double size = 0.0, step = 1e-6;
  for (size_t i = 0; i < m->n_poses * m->n_parts * 6; i++) size = fmax(size, fabs((double)m->points[i]));
  const double scale = fmax(size, 1e-9) / 10000.0, span = m->t[m->n_poses - 1] - m->t[0];
  if (span > 0.0) step = span / 100000.0;
  bramah__page_put(page, "{\"name\":");
  put_string(page, m->name ? m->name : "");
  bramah__page_put(page, ",\"text\":");
  put_string(page, m->text ? m->text : "");
  bramah__page_put(page, ",\"parts\":[");
  for (size_t i = 0; i < m->n_parts; i++) {
    bramah__page_format(page, i ? ",[%d," : "[%d,", (int)m->parts[i].kind);
    put_string(page, m->parts[i].name);
    bramah__page_put(page, "]");
  }
  bramah__page_format(page, "],\"scale\":%.9g,\"start\":%.17g,\"step\":%.17g,\"t\":\"", scale, m->t[0], step);
  long before = 0;
  for (size_t i = 0; i < m->n_poses; i++) {
    const long here = lround((m->t[i] - m->t[0]) / step);
    bramah__page_format(page, i ? " %ld" : "%ld", here - before);
    before = here;
  }
  bramah__page_put(page, "\",\"points\":[");
  for (size_t k = 0; k < 6 * m->n_parts; k++) {
    bramah__page_put(page, k ? ",\n" : "\n");
    put_track(page, m, k, scale);
  }
  bramah__page_put(page, "]}");
}

void bramah__data_write(bramah__page *page, const bramah_report *report)
{
  const bramah__range time = bramah__report_time(report);
  const char *before = "";
  bramah__page_format(page, "<script type=\"application/json\" id=\"data\">{\"time\":[%.17g,%.17g]", time.low,
                      time.high);
  put_events(page, &report->events);
  bramah__page_put(page, ",\n\"motions\":[");
  for (size_t i = 0; i < report->n_motions; i++) {
    if (!report->motions[i].n_poses) continue;
    bramah__page_put(page, before);
    put_motion(page, &report->motions[i]);
    before = ",\n";
  }
  bramah__page_put(page, "]}</script>\n");
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

void bramah__csv_write(bramah__page *page, const bramah_report *report)
{
  bramah__page_put(page, "plot,unit,series,x,steps,min,mean,max,low,high\n");
  for (size_t i = 0; i < report->n_plots * BRAMAH__N_SERIES; i++) {
    const bramah__plot *plot = &report->plots[i / BRAMAH__N_SERIES];
    const bramah_report_series series = bramah__drawn[i % BRAMAH__N_SERIES];
    const bramah__samples *samples = plot->curve[series];
    for (size_t k = 0; samples && k < samples->n; k++) {
      const bramah__sample *s = &samples->at[k];
      const float values[] = {s->min, s->mean, s->max, s->low, s->high};
      put_csv_text(page, plot->title);
      bramah__page_put(page, ",");
      put_csv_text(page, plot->unit);
      bramah__page_put(page, ",");
      put_csv_text(page, bramah__series_name(plot, series));
      bramah__page_format(page, ",%.15g,%zu", s->t,
                          (size_t)(k + 1 < samples->n ? samples->steps : samples->in_last));
      for (size_t v = 0; v < 5; v++)
        bramah__page_format(page, isnan(values[v]) ? "," : ",%.8g", (double)values[v]);
      bramah__page_put(page, "\n");
    }
  }
}
