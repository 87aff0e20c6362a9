/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Ground from above: a bitmap of its heights, lit from the left and above, with tracks drawn over it. */
#include "lib/report/report_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Colour of a height between the lowest (0) and the highest (1), from dark to light soil, by its light (0 to 1). */
static void colour(double height, double light, unsigned char *bgr)
{
  static const double low[3] = {0x2e, 0x48, 0x6b}, high[3] = {0xb5, 0xd8, 0xee};
  for (int i = 0; i < 3; i++) {
    const double value = (low[i] + height * (high[i] - low[i])) * (0.45 + 0.75 * light);
    bgr[i] = (unsigned char)(value > 255.0 ? 255.0 : value);
  }
}

/* Cosine between the normal at a cell and the light, which comes from the left, from above in the picture and 40 deg high. */
static double light_on(const bramah_report_map *m, size_t i, size_t j)
{
  static const double to_light[3] = {-0.5417, 0.5417, 0.6428};
  const size_t left = i > 0 ? i - 1 : 0, right = i + 1 < m->nx ? i + 1 : i, down = j > 0 ? j - 1 : 0,
               up = j + 1 < m->ny ? j + 1 : j;
  const double run_x = (double)(right - left) * m->cell, run_y = (double)(up - down) * m->cell;
  const double sx = right > left ? (m->heights[right * m->ny + j] - m->heights[left * m->ny + j]) / run_x
                                 : 0.0,
               sy = up > down ? (m->heights[i * m->ny + up] - m->heights[i * m->ny + down]) / run_y : 0.0;
  const double cosine = (-sx * to_light[0] - sy * to_light[1] + to_light[2]) / sqrt(1.0 + sx * sx + sy * sy);
  return cosine > 0.0 ? cosine : 0.0;
}

static void put_number(unsigned char *at, size_t bytes, uint32_t value)
{
  for (size_t k = 0; k < bytes; k++) at[k] = (unsigned char)(value >> (8 * k));
}

/* A bitmap (BMP, 24 bit, from the bottom up), which needs no compression; its length through *size. NULL: no memory. */
static unsigned char *bitmap(const bramah_report_map *m, double low, double high, size_t *size)
{
  enum { HEAD = 54 };
  const size_t row = (3 * m->nx + 3) / 4 * 4;
  *size = HEAD + row * m->ny;
  unsigned char *out = calloc(*size, 1);
  if (!out) return NULL;
  memcpy(out, "BM", 2);
  put_number(out + 2, 4, (uint32_t)*size);
  put_number(out + 10, 4, HEAD);
  put_number(out + 14, 4, 40);
  put_number(out + 18, 4, (uint32_t)m->nx);
  put_number(out + 22, 4, (uint32_t)m->ny);
  put_number(out + 26, 2, 1);
  put_number(out + 28, 2, 24);
  put_number(out + 34, 4, (uint32_t)(row * m->ny));
  const double range = high > low ? high - low : 1.0;
  for (size_t j = 0; j < m->ny; j++)
    for (size_t i = 0; i < m->nx; i++)
      colour((m->heights[i * m->ny + j] - low) / range, light_on(m, i, j), out + HEAD + j * row + 3 * i);
  return out;
}

bramah_status bramah_report_add_map(bramah_report *report, const bramah_report_map *map, bramah_diag *diag)
{
  double low = INFINITY, high = -INFINITY;
  if (map->nx == 0 || map->ny == 0 || map->nx > 16384 || map->ny > 16384 || !(map->cell > 0.0))
    return bramah__failf(diag, BRAMAH_E_ARGUMENT, NULL, 0, map->title, "it has no cells, or too many");
  for (size_t c = 0; c < map->nx * map->ny; c++) {
    if (!isfinite(map->heights[c]))
      return bramah__failf(diag, BRAMAH_E_VALUE, NULL, 0, map->title, "a height is not finite");
    low = fmin(low, map->heights[c]);
    high = fmax(high, map->heights[c]);
  }
  size_t n_points = 0;
  for (size_t k = 0; k < map->n_tracks; k++) n_points += map->tracks[k].n;
  bramah__map made = {.nx = map->nx,
                      .ny = map->ny,
                      .cell = map->cell,
                      .origin = {map->origin[0], map->origin[1]},
                      .low = low,
                      .high = high,
                      .n_tracks = map->n_tracks,
                      .n_dots = map->n_dots,
                      .dot_radius = map->dot_radius};
  made.title = bramah__report_keep(report, map->title);
  made.text = bramah__report_keep(report, map->text);
  made.bytes = bitmap(map, low, high, &made.size);
  made.tracks = calloc(map->n_tracks + 1, sizeof *made.tracks);
  made.points = calloc(2 * (n_points + map->n_dots) + 1, sizeof *made.points);
  bramah__map *more = realloc(report->maps, (report->n_maps + 1) * sizeof *more);
  if (more) report->maps = more;
  if (!more || !made.bytes || !made.tracks || !made.points || report->failed) {
    bramah__map_free(&made);
    return bramah__fail_memory(diag);
  }
  double *next = made.points;
  for (size_t k = 0; k < map->n_tracks; k++) {
    const bramah_report_track *from = &map->tracks[k];
    if (from->n) memcpy(next, from->xy, 2 * from->n * sizeof *next);
    made.tracks[k] = (bramah_report_track){bramah__report_keep(report, from->name), from->n, next};
    next += 2 * from->n;
  }
  made.dots = next;
  if (map->n_dots) memcpy(next, map->dots, 2 * map->n_dots * sizeof *next);
  report->maps[report->n_maps++] = made;
  return report->failed ? BRAMAH_E_MEMORY : BRAMAH_OK;
}

/* ---- the page ---- */

static void put_base64(bramah__page *page, const unsigned char *bytes, size_t n)
{
  static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  for (size_t i = 0; i < n; i += 3) {
    const uint32_t three = (uint32_t)bytes[i] << 16 | (uint32_t)(i + 1 < n ? bytes[i + 1] : 0) << 8 |
                           (uint32_t)(i + 2 < n ? bytes[i + 2] : 0);
    const char out[4] = {digits[three >> 18], digits[three >> 12 & 63],
                         i + 1 < n ? digits[three >> 6 & 63] : '=', i + 2 < n ? digits[three & 63] : '='};
    bramah__page_put_bytes(page, out, sizeof out);
  }
}

/* Numbers along an axis: below the picture, or to its left. */
static void put_axis(bramah__page *page, const bramah__map *m, int along_y, double scale, double height,
                     double margin)
{
  const double start = m->origin[along_y], length = (double)(along_y ? m->ny : m->nx) * m->cell;
  const bramah__ticks ticks = bramah__ticks_of((bramah__range){start, start + length}, along_y ? 5 : 8);
  for (int64_t k = ticks.first; k <= ticks.last; k++) {
    char label[BRAMAH__LABEL_SIZE];
    const double at = (bramah__tick_value(&ticks, k) - start) * scale;
    bramah__tick_label(label, &ticks, k);
    bramah__page_format(page, "<text text-anchor=\"%s\" x=\"%.6g\" y=\"%.6g\">%s</text>\n",
                        along_y ? "end" : "middle", along_y ? margin - 6.0 : margin + at,
                        along_y ? height - at + 4.0 : height + 16.0, label);
  }
}

static void put_track(bramah__page *page, const bramah__map *m, const bramah_report_track *track,
                      double scale, double height, const char *colour_of)
{
  if (track->n < 2) return;
  bramah__page_format(
      page, "<path fill=\"none\" stroke-width=\"1.6\" stroke-opacity=\".85\" stroke=\"%s\" d=\"", colour_of);
  for (size_t k = 0; k < track->n; k++)
    bramah__page_format(page, k ? "L%.6g %.6g" : "M%.6g %.6g", (track->xy[2 * k] - m->origin[0]) * scale,
                        height - (track->xy[2 * k + 1] - m->origin[1]) * scale);
  bramah__page_format(page, "\"><title>%s</title></path>\n", track->name);
}

/* All as one path: circles of two arcs each, in tenths of a pixel. */
static void put_dots(bramah__page *page, const bramah__map *m, double scale, double height)
{
  const double radius = m->dot_radius * scale;
  if (m->n_dots == 0) return;
  bramah__page_put(page, "<path class=\"dots\" fill=\"#3d2b1f\" stroke=\"#f4e3c8\" stroke-width=\".4\" d=\"");
  for (size_t k = 0; k < m->n_dots; k++) {
    bramah__page_format(page, "M%.5g %.5g", (m->dots[2 * k] - m->origin[0]) * scale - radius,
                        height - (m->dots[2 * k + 1] - m->origin[1]) * scale);
    for (int half = 0; half < 2; half++)
      bramah__page_format(page, "a%.4g %.4g 0 0 0 %.4g 0", radius, radius,
                          half ? -2.0 * radius : 2.0 * radius);
  }
  bramah__page_put(page, "\"/>\n");
}

static void put_map(bramah__page *page, const bramah__map *m)
{
  static const char *const colours[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00"};
  enum { N_COLOURS = sizeof colours / sizeof *colours };
  const double margin = 44.0, width = 860.0, across = (double)m->nx * m->cell, scale = width / across,
               height = (double)m->ny * m->cell * scale;
  bramah__page_format(page,
                      "<div class=\"map\"><h3>%s</h3>\n<svg class=\"p\" role=\"img\" aria-label=\"%s\" "
                      "viewBox=\"0 0 %.6g %.6g\">\n<image preserveAspectRatio=\"none\" y=\"0\" x=\"%.6g\" "
                      "width=\"%.6g\" height=\"%.6g\" href=\"data:image/bmp;base64,",
                      m->title, m->title, margin + width + 12.0, height + 24.0, margin, width, height);
  put_base64(page, m->bytes, m->size);
  bramah__page_format(page, "\"/>\n<svg y=\"0\" x=\"%.6g\" width=\"%.6g\" height=\"%.6g\">\n", margin, width,
                      height); /* tracks end where the field does */
  put_dots(page, m, scale, height);
  for (size_t k = 0; k < m->n_tracks; k++)
    put_track(page, m, &m->tracks[k], scale, height, colours[k % N_COLOURS]);
  bramah__page_put(page, "</svg>\n");
  put_axis(page, m, 0, scale, height, margin);
  put_axis(page, m, 1, scale, height, margin);
  bramah__page_format(page,
                      "</svg>\n<p class=\"text\">Seen from above, x to the right, metres; dark is low (%.3g "
                      "m), light is high (%.3g m).",
                      m->low, m->high);
  for (size_t k = 0; k < m->n_tracks; k++)
    bramah__page_format(page, k ? ", <b style=\"color:%s\">%s</b>" : " Tracks: <b style=\"color:%s\">%s</b>",
                        colours[k % N_COLOURS], m->tracks[k].name);
  bramah__page_put(page, m->n_tracks ? "." : "");
  if (m->text) bramah__page_format(page, " %s", m->text);
  bramah__page_put(page, "</p></div>\n");
}

void bramah__maps_write(bramah__page *page, const bramah_report *report)
{
  if (!report->n_maps) return;
  bramah__page_put(page, "<section id=\"ground\"><h2>Ground</h2>\n");
  for (size_t i = 0; i < report->n_maps; i++) put_map(page, &report->maps[i]);
  bramah__page_put(page, "</section>\n");
}
