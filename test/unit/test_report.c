/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reports: that no extreme is lost by decimation, that axes are labelled with round numbers, that the page is
 * well formed and holds what was put in, and that it stays small. */
#define _GNU_SOURCE
#include "bramah/report.h"
#include "lib/report/report_parts.h"
#include "test/support/run.h"
#include "test/support/scratch.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- series ---- */

static bramah__series series;

static void clear_series(void) { memset(&series, 0, sizeof series); }

static bramah__bin all_bins(void)
{
  bramah__bin all = {
      .min = (double)INFINITY, .max = -(double)INFINITY, .low = (double)INFINITY, .high = -(double)INFINITY};
  for (size_t i = 0; i < series.n_bins; i++) {
    const bramah__bin *b = &series.bin[i];
    if (!b->n) continue;
    all.n += b->n;
    if (b->min < all.min) all.min = b->min, all.t_min = b->t_min;
    if (b->max > all.max) all.max = b->max, all.t_max = b->t_max;
    all.low = fmin(all.low, b->low);
    all.high = fmax(all.high, b->high);
  }
  return all;
}

START_TEST(decimation_keeps_extremes)
{
  enum { N = 1000000 };
  for (int i = 0; i < N; i++) {
    double v = sin(i * 1e-4);
    if (i == 765432) v = 9.0;
    if (i == 123456) v = -8.0;
    bramah__series_add(&series, i * 1e-3, v, i == 5 ? -20.0 : v - 1.0, i == 7 ? 30.0 : v + 1.0);
  }
  bramah__bin all = all_bins();
  ck_assert_uint_eq(all.n, N);
  ck_assert_double_eq(all.max, 9.0);
  ck_assert_double_eq(all.t_max, 765432 * 1e-3);
  ck_assert_double_eq(all.min, -8.0);
  ck_assert_double_eq(all.t_min, 123456 * 1e-3);
  ck_assert_double_eq(all.low, -20.0);
  ck_assert_double_eq(all.high, 30.0);
  ck_assert_uint_ge(series.n_bins, BRAMAH__BINS / 2);
  ck_assert_uint_le(series.n_bins, BRAMAH__BINS);
}
END_TEST

/* Every point lies in its bin, in order, whatever the steps in time. */
START_TEST(bins_stay_in_order)
{
  double t = -3.0;
  srand48(1);
  for (int i = 0; i < 200000; i++) {
    t += drand48() < 0.999 ? 1e-4 * drand48() : 2.0 * drand48();
    bramah__series_add(&series, t, drand48(), (double)NAN, (double)NAN);
  }
  double before = -3.0;
  for (size_t i = 0; i < series.n_bins; i++) {
    const bramah__bin *b = &series.bin[i];
    if (!b->n) continue;
    double left = series.start + (double)i * series.width, right = left + series.width;
    ck_assert(before <= b->t_first && b->t_first <= b->t_min && b->t_min <= b->t_last &&
              b->t_max <= b->t_last);
    ck_assert(left <= b->t_first + 1e-9 && b->t_last <= right + 1e-9);
    ck_assert(isnan(b->low) && isnan(b->high));
    before = b->t_last;
  }
  ck_assert_uint_eq(all_bins().n, 200000);
}
END_TEST

START_TEST(any_span_of_time_fits)
{
  static const double times[] = {-1e299, -5.0, -5.0, 0.0, 1e-9, 1.0, 1e9, 1e299};
  for (size_t i = 0; i < 8; i++) bramah__series_add(&series, times[i], (double)i, (double)NAN, (double)NAN);
  ck_assert_uint_eq(all_bins().n, 8);
  ck_assert_double_eq(series.t_last, 1e299);
}
END_TEST

/* ---- axes ---- */

static const char *labels(double low, double high, int about)
{
  static char text[1024];
  text[0] = '\0';
  bramah__ticks ticks = bramah__ticks_of((bramah__range){low, high}, about);
  for (int64_t k = ticks.first; k <= ticks.last; k++) {
    char label[BRAMAH__LABEL_SIZE];
    bramah__tick_label(label, &ticks, k);
    strcat(strcat(text, label), " ");
  }
  snprintf(text + strlen(text), 16, "e%d", ticks.exponent);
  return text;
}

START_TEST(ticks_are_round)
{
  ck_assert_str_eq(labels(0, 10, 5), "0 2 4 6 8 10 e0");
  ck_assert_str_eq(labels(-0.31, 0.32, 5), "\xE2\x88\x92"
                                           "0.3 \xE2\x88\x92"
                                           "0.2 \xE2\x88\x92"
                                           "0.1 0 0.1 0.2 0.3 e0");
  ck_assert_str_eq(labels(0.0, 0.004, 5), "0 1 2 3 4 e-3");
  ck_assert_str_eq(labels(7.1e6, 7.9e6, 5), "7.2 7.4 7.6 7.8 e6");
  ck_assert_str_eq(labels(101325.0, 101325.5, 5), "101325.0 101325.1 101325.2 101325.3 101325.4 101325.5 e0");
  ck_assert_str_eq(labels(0, 12000, 5), "0 2000 4000 6000 8000 10000 12000 e0");
  ck_assert_str_eq(labels(1e-12, 5e-12, 5), "1 2 3 4 5 e-12");
  ck_assert_str_eq(labels(0.02, 0.09, 3), "0.02 0.04 0.06 0.08 e0");
}
END_TEST

/* For any range: some ticks, not too many, all within, each label a number that is the tick's value. */
START_TEST(ticks_of_any_range)
{
  srand48(2);
  for (int i = 0; i < 20000; i++) {
    double values[2] = {(drand48() - 0.5) * pow(10, (double)(lrand48() % 40 - 20)), 0};
    values[1] = lrand48() % 4 ? values[0] * (1.0 + drand48()) : values[0];
    bramah__range range = bramah__range_of(values, 2);
    bramah__ticks ticks = bramah__ticks_of(range, 5);
    int64_t n = ticks.last - ticks.first + 1;
    if (n < 2 || n > 9) ck_abort_msg("%d ticks from %g to %g", (int)n, range.low, range.high);
    for (int64_t k = ticks.first; k <= ticks.last; k++) {
      char label[BRAMAH__LABEL_SIZE];
      bramah__tick_label(label, &ticks, k);
      const char *digits = k < 0 ? label + 3 : label; /* after the minus sign */
      double value = bramah__tick_value(&ticks, k), shown = strtod(digits, NULL) * pow(10, ticks.exponent);
      double width = range.high - range.low;
      if (fabs(shown - fabs(value)) > 1e-9 * width + 1e-14 * fabs(value))
        ck_abort_msg("%s for %g", label, value);
      if (value < range.low - 1e-6 * width || value > range.high + 1e-6 * width)
        ck_abort_msg("%g is outside", value);
      if (strlen(digits) > 12) ck_abort_msg("label %s is too long", label);
    }
  }
}
END_TEST

START_TEST(ranges_are_robust)
{
  double same[3] = {42, 42, 42}, zero[1] = {0}, many[1000];
  bramah__range r = bramah__range_of(same, 3);
  ck_assert(r.low < 42 && r.low > 30 && r.high > 42 && r.high < 54);
  r = bramah__range_of(zero, 1);
  ck_assert(r.low < 0 && r.high > 0);
  for (int i = 0; i < 1000; i++) many[i] = sin(i * 0.1);
  many[500] = 1e9; /* one spike does not flatten the rest */
  r = bramah__range_of(many, 1000);
  ck_assert(r.low < -1 && r.low > -1.5 && r.high > 1 && r.high < 3);
  for (int i = 0; i < 1000; i++) many[i] = i < 100 ? 50.0 : 1.0; /* but a tenth of the run is no spike */
  r = bramah__range_of(many, 1000);
  ck_assert(r.low < 1 && r.high > 50);
  double huge[2] = {-9e299, 9e299};
  r = bramah__range_of(huge, 2);
  ck_assert(isfinite(r.low) && isfinite(r.high) && isfinite(r.high - r.low));
}
END_TEST

START_TEST(time_axes_end_at_round_values)
{
  bramah__range r = bramah__range_snap((bramah__range){0.001, 9.999});
  ck_assert_double_eq(r.low, 0.0);
  ck_assert_double_eq(r.high, 10.0);
  r = bramah__range_snap((bramah__range){0.4, 9.6});
  ck_assert_double_eq(r.low, 0.4);
  ck_assert_double_eq(r.high, 9.6);
}
END_TEST

/* ---- pages ---- */

static char path[SCRATCH_NAME];
static char *whole, *page; /* as written; without what scripts and styles hold */
static bramah_report *report;

static void open_report(void)
{
  ck_assert(scratch_file(path));
  ck_assert_int_eq(bramah_report_new("A <b>title</b> & \"more\"", NULL, &report), BRAMAH_OK);
}

static void close_report(void)
{
  bramah_report_free(report);
  free(page);
  free(whole);
  page = whole = NULL;
  unlink(path);
}

static void drop_contents(const char *open, const char *close)
{
  for (char *s = page; (s = strstr(s, open));) {
    char *begin = strchr(s, '>') + 1, *end = strstr(begin, close);
    ck_assert_ptr_nonnull(end);
    memmove(begin, end, strlen(end) + 1);
    s = begin;
  }
}

/* Write the report and read the page. Returns its size. */
static size_t write_page(void)
{
  bramah_diag diag = {0};
  bramah_status status = bramah_report_write(report, path, &diag);
  ck_assert_msg(status == BRAMAH_OK, "%s", diag.message);
  FILE *f = fopen(path, "rb");
  ck_assert_ptr_nonnull(f);
  free(page);
  free(whole);
  whole = calloc(1, 1 << 24);
  size_t n = fread(whole, 1, (1 << 24) - 1, f);
  fclose(f);
  page = strdup(whole);
  drop_contents("<script", "</script>");
  drop_contents("<style", "</style>");
  return n;
}

#define ASSERT_HAS(text) ck_assert_msg(strstr(page, text) != NULL, "the page lacks %s", text)
#define ASSERT_LACKS(text) ck_assert_msg(strstr(page, text) == NULL, "the page has %s", text)

/* Every tag is closed, in order. */
static void assert_well_formed(void)
{
  char stack[64][16];
  int depth = 0;
  for (const char *s = page; (s = strchr(s, '<')); s++) {
    const char *end = strchr(s, '>');
    ck_assert_ptr_nonnull(end);
    if (s[1] == '!' || strncmp(s, "<meta", 5) == 0 || end[-1] == '/') continue;
    char name[16];
    size_t n = strspn(s + 1 + (s[1] == '/'), "abcdefghijklmnopqrstuvwxyz1234567890");
    ck_assert_msg(n > 0 && n < 16, "a stray '<': %.30s", s);
    memcpy(name, s + 1 + (s[1] == '/'), n);
    name[n] = '\0';
    if (s[1] == '/') {
      if (depth == 0 || strcmp(stack[--depth], name) != 0) ck_abort_msg("</%s> closes nothing", name);
    } else {
      ck_assert_int_lt(depth, 64);
      strcpy(stack[depth++], name);
    }
  }
  ck_assert_int_eq(depth, 0);
}

static size_t add_plot(const char *title, int symmetric)
{
  size_t plot = 99;
  const bramah_report_plot wanted = {.title = title, .unit = "MPa", .factor = 1e-6, .symmetric = symmetric};
  ck_assert_int_eq(bramah_report_add(report, &wanted, &plot), BRAMAH_OK);
  return plot;
}

static void add_wave(size_t plot, bramah_report_series s, int n, double band)
{
  for (int i = 0; i < n; i++) {
    bramah_status status = bramah_report_point(report, plot, s, i * 1e-3,
                                               5e6 * sin(i * 2e-3) + 2e5 * ((i % 101) * 7919 % 101), band);
    if (status) ck_abort_msg("point %d: %s", i, bramah_status_name(status));
  }
}

START_TEST(an_empty_report_is_a_page)
{
  write_page();
  assert_well_formed();
  ASSERT_HAS("<title>A &lt;b&gt;title&lt;/b&gt; &amp; &quot;more&quot;</title>");
  ASSERT_LACKS("<b>");
  ASSERT_LACKS("<figure>");
  bramah_report_free(NULL);
}
END_TEST

START_TEST(holds_notes_and_tables)
{
  const char *header[] = {"state", "RMSE", "unit"};
  const char *cells[] = {"crank<1>", "0.5", "deg", "p1", "-1.25e-3", "MPa"};
  ck_assert_int_eq(bramah_report_note(report, "machine", "a&b.yaml"), BRAMAH_OK);
  ck_assert_int_eq(bramah_report_add_table(report, "Errors", 2, 3, header, cells), BRAMAH_OK);
  ck_assert_int_eq(bramah_report_add_table(report, "Empty", 0, 3, header, cells), BRAMAH_OK);
  ck_assert_int_eq(bramah_report_add_table(report, "None", 0, 0, header, cells), BRAMAH_E_ARGUMENT);
  write_page();
  assert_well_formed();
  ASSERT_HAS("<dt>machine</dt><dd>a&amp;b.yaml</dd>");
  ASSERT_HAS("<h2>Errors</h2>");
  ASSERT_HAS("<td>crank&lt;1&gt;</td><td class=\"r\">0.5</td><td>deg</td>");
  ASSERT_HAS("<th scope=\"col\" class=\"r\">RMSE</th>");
}
END_TEST

START_TEST(legend_names_what_is_there)
{
  size_t p = add_plot("p1", 0);
  add_wave(p, BRAMAH_REPORT_ESTIMATE, 100, (double)NAN);
  add_wave(p, BRAMAH_REPORT_TRUTH, 100, (double)NAN);
  write_page();
  assert_well_formed();
  ASSERT_HAS("estimate</span>");
  ASSERT_HAS("truth</span>");
  ASSERT_LACKS("measured</span>");
  ASSERT_LACKS("model alone</span>");
  ASSERT_LACKS("1.96");
  add_wave(add_plot("p2", 0), BRAMAH_REPORT_ESTIMATE, 100, 1e6);
  add_wave(add_plot("p3", 0), BRAMAH_REPORT_MEASURED, 100, 1e6);
  write_page();
  ASSERT_HAS("1.96 \xCF\x83</span>");
  ASSERT_HAS("measured</span>");
}
END_TEST

/* The box of numbers in a path: how far the curve reaches, in tenths of pixels of the inner picture. */
static void path_extent(const char *css, long *low, long *high)
{
  char open[32];
  snprintf(open, sizeof open, "<path class=\"%s\" d=\"M", css);
  const char *s = strstr(page, "<svg class=\"i\"");
  ck_assert_ptr_nonnull(s);
  s = strstr(s, open);
  ck_assert_msg(s != NULL, "no %s", open);
  s += strlen(open);
  long y = 0;
  *low = 1000000, *high = -1000000;
  for (int i = 0; *s != '"' && *s != 'z'; i++) {
    char *end;
    if (*s == 'l') s++;
    long step = strtol(s, &end, 10);
    ck_assert_ptr_ne(s, end);
    s = end;
    if (i % 2 == 0) continue;
    y += step;
    if (y < *low) *low = y;
    if (y > *high) *high = y;
  }
}

START_TEST(curves_fill_their_axes)
{
  long low, high;
  add_wave(add_plot("p1", 0), BRAMAH_REPORT_ESTIMATE, 50000, (double)NAN);
  write_page();
  path_extent("e", &low, &high);
  ck_assert(low > 50 && low < 300);      /* the top: five of a hundred of some 2080 below the edge */
  ck_assert(high > 1700 && high < 2100); /* the bottom */
}
END_TEST

START_TEST(bands_lie_about_the_estimate_or_about_zero)
{
  long low, high, band_low, band_high;
  size_t p = add_plot("p1", 0);
  for (int i = 0; i < 500; i++) bramah_report_point(report, p, BRAMAH_REPORT_ESTIMATE, i, 1e7 + 1e4 * i, 1e6);
  write_page();
  path_extent("e", &low, &high);
  path_extent("b", &band_low, &band_high);
  ck_assert_int_lt(band_low, low);
  ck_assert_int_gt(band_high, high);
  bramah_report_free(report);
  ck_assert_int_eq(bramah_report_new("two", NULL, &report), BRAMAH_OK);
  p = add_plot("innovation", 1);
  for (int i = 0; i < 500; i++) bramah_report_point(report, p, BRAMAH_REPORT_ESTIMATE, i, 3e6, 1e6);
  write_page();
  path_extent("e s", &low, &high);
  path_extent("b", &band_low, &band_high);
  ck_assert_int_gt(band_low, high); /* the value is at 3, the band from -1 to 1, and up is less */
  ASSERT_LACKS("estimate</span>");
}
END_TEST

START_TEST(odd_plots)
{
  size_t empty = add_plot("empty", 0), constant = add_plot("constant", 0), point = add_plot("point", 0);
  (void)empty;
  for (int i = 0; i < 100; i++)
    bramah_report_point(report, constant, BRAMAH_REPORT_TRUTH, i, 7e6, (double)NAN);
  bramah_report_point(report, point, BRAMAH_REPORT_ESTIMATE, 3.0, 1e6, 1e5);
  write_page();
  assert_well_formed();
  ASSERT_HAS("no data");
  ASSERT_HAS("h0\"");
  ASSERT_LACKS("nan");
  ASSERT_LACKS("inf\"");
}
END_TEST

START_TEST(one_moment_only)
{
  bramah_report_point(report, add_plot("point", 0), BRAMAH_REPORT_MEASURED, 0.0, 0.0, (double)NAN);
  write_page();
  assert_well_formed();
  ASSERT_LACKS("no data");
}
END_TEST

START_TEST(says_when_a_spike_is_cut_off)
{
  size_t p = add_plot("p1", 0);
  add_wave(p, BRAMAH_REPORT_TRUTH, 5000, (double)NAN);
  write_page();
  ASSERT_LACKS("beyond the axis");
  bramah_report_point(report, p, BRAMAH_REPORT_TRUTH, 6.0, 1e15, (double)NAN);
  write_page();
  ASSERT_HAS("beyond the axis");
}
END_TEST

START_TEST(refuses_bad_points)
{
  size_t p = add_plot("p1", 0);
  const bramah_report_series e = BRAMAH_REPORT_ESTIMATE, t = BRAMAH_REPORT_TRUTH;
  ck_assert_int_eq(bramah_report_point(report, p + 1, e, 0, 0, 0), BRAMAH_E_ARGUMENT);
  ck_assert_int_eq(bramah_report_point(report, p, (bramah_report_series)4, 0, 0, 0), BRAMAH_E_ARGUMENT);
  ck_assert_int_eq(bramah_report_point(report, p, e, 1, 0, 0), BRAMAH_OK);
  ck_assert_int_eq(bramah_report_point(report, p, e, 1, 0, 0), BRAMAH_OK);
  ck_assert_int_eq(bramah_report_point(report, p, e, 0.5, 0, 0), BRAMAH_E_TIME);
  ck_assert_int_eq(bramah_report_point(report, p, t, 0.5, 0, 0), BRAMAH_OK); /* another series */
  ck_assert_int_eq(bramah_report_point(report, p, e, (double)NAN, 0, 0), BRAMAH_E_TIME);
  ck_assert_int_eq(bramah_report_point(report, p, e, (double)INFINITY, 0, 0), BRAMAH_E_TIME);
  ck_assert_int_eq(bramah_report_point(report, p, e, 2, (double)NAN, 0), BRAMAH_OK);
  ck_assert_int_eq(bramah_report_point(report, p, e, 2, (double)INFINITY, 0), BRAMAH_OK);
  ck_assert_int_eq(bramah_report_point(report, p, e, 2, 1, (double)INFINITY), BRAMAH_OK);
  size_t plot;
  const bramah_report_plot wrong = {.title = "x", .unit = "m", .factor = (double)NAN};
  ck_assert_int_eq(bramah_report_add(report, &wrong, &plot), BRAMAH_E_VALUE);
  write_page();
  assert_well_formed();
  ASSERT_LACKS("nan");
}
END_TEST

START_TEST(needs_nothing_else)
{
  add_wave(add_plot("p1", 0), BRAMAH_REPORT_ESTIMATE, 100, 1e5);
  write_page();
  ASSERT_LACKS("http:");
  ASSERT_LACKS("https:");
  ASSERT_LACKS("<link");
  ASSERT_LACKS(" src=");
  ASSERT_HAS("default-src 'none'");
  static const char *const outside[] = {"sourceMappingURL", "@import", "url(", "<img", "new Worker("};
  for (size_t i = 0; i < 5; i++) ck_assert_msg(!strstr(whole, outside[i]), "the page has %s", outside[i]);
  ck_assert_ptr_nonnull(strstr(whole, "prefers-color-scheme:dark"));
  ck_assert_ptr_nonnull(strstr(whole, "@media print"));
}
END_TEST

START_TEST(stays_small)
{
  for (int p = 0; p < 10; p++) {
    size_t plot = add_plot("p", 0);
    for (int s = 0; s < 4; s++) add_wave(plot, (bramah_report_series)s, 10000, s ? (double)NAN : 3e5);
  }
  size_t size = write_page();
  assert_well_formed();
  ck_assert_uint_lt(size, 5000000);
  bramah_report_free(report);
  ck_assert_int_eq(bramah_report_new("long", NULL, &report), BRAMAH_OK);
  add_wave(add_plot("p", 0), BRAMAH_REPORT_ESTIMATE, 3000000, 3e5);
  ck_assert_uint_lt(write_page(), 900000);
}
END_TEST

START_TEST(pages_repeat)
{
  add_wave(add_plot("p1", 0), BRAMAH_REPORT_ESTIMATE, 3000, 1e5);
  write_page();
  char *first = strdup(whole);
  write_page();
  ck_assert_str_eq(first, whole);
  free(first);
}
END_TEST

START_TEST(reports_files_that_cannot_be_written)
{
  bramah_diag d = {0};
  ck_assert_int_eq(bramah_report_write(report, "/nonexistent/r.html", &d), BRAMAH_E_FILE);
  ck_assert_ptr_nonnull(strstr(d.message, "No such file"));
  ck_assert_str_eq(d.file, "/nonexistent/r.html");
  ck_assert_int_eq(bramah_report_write(report, "/dev/full", &d), BRAMAH_E_FILE);
  ck_assert_ptr_nonnull(strstr(d.message, "No space left"));
}
END_TEST

static TCase *parts_case(void)
{
  TCase *t = new_case("parts");
  tcase_add_checked_fixture(t, clear_series, NULL);
  tcase_add_test(t, decimation_keeps_extremes);
  tcase_add_test(t, bins_stay_in_order);
  tcase_add_test(t, any_span_of_time_fits);
  tcase_add_test(t, ticks_are_round);
  tcase_add_test(t, ticks_of_any_range);
  tcase_add_test(t, ranges_are_robust);
  tcase_add_test(t, time_axes_end_at_round_values);
  return t;
}

static TCase *pages_case(void)
{
  TCase *t = new_case("pages");
  tcase_add_checked_fixture(t, open_report, close_report);
  tcase_add_test(t, an_empty_report_is_a_page);
  tcase_add_test(t, holds_notes_and_tables);
  tcase_add_test(t, legend_names_what_is_there);
  tcase_add_test(t, curves_fill_their_axes);
  tcase_add_test(t, bands_lie_about_the_estimate_or_about_zero);
  tcase_add_test(t, odd_plots);
  tcase_add_test(t, one_moment_only);
  tcase_add_test(t, says_when_a_spike_is_cut_off);
  tcase_add_test(t, refuses_bad_points);
  tcase_add_test(t, needs_nothing_else);
  tcase_add_test(t, stays_small);
  tcase_add_test(t, pages_repeat);
  tcase_add_test(t, reports_files_that_cannot_be_written);
  return t;
}

int main(void)
{
  Suite *suite = suite_create("report");
  suite_add_tcase(suite, parts_case());
  suite_add_tcase(suite, pages_case());
  return run_suite(suite);
}
