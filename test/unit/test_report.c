/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reports: that no extreme is lost by decimation, that axes are labelled with round numbers, that the page is well
 * formed, answers first, holds what was put in and stays small; points as they are, then minimum, mean and maximum of so
 * many; curves that are where the numbers say; numbers as CSV; events, poses, pictures. */
#define _GNU_SOURCE
#include "bramah/log.h"
#include "bramah/report.h"
#include "bramah/session.h"
#include "lib/report/report_parts.h"
#include "test/support/run.h"
#include "test/support/scratch.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const double none = (double)NAN;
static bramah_diag diag;

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

TEST(ticks_are_round)
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

/* For any range: some ticks, not too many, all within, each label a number that is the tick's value. */
TEST(ticks_of_any_range)
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

TEST(ranges_are_robust)
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

TEST(time_axes_end_at_round_values)
{
  bramah__range r = bramah__range_snap((bramah__range){0.001, 9.999});
  ck_assert_double_eq(r.low, 0.0);
  ck_assert_double_eq(r.high, 10.0);
  r = bramah__range_snap((bramah__range){0.4, 9.6});
  ck_assert_double_eq(r.low, 0.4);
  ck_assert_double_eq(r.high, 9.6);
}

/* ---- samples ---- */

static bramah__samples samples;

TEST(samples_are_kept_as_they_are)
{
  for (int i = 0; i < BRAMAH__SAMPLES; i++)
    ck_assert_int_eq(bramah__samples_add(&samples, i * 1e-3, i, i == 3 ? -1.0 : none, i == 3 ? 1.0 : none),
                     BRAMAH_OK);
  ck_assert_uint_eq(samples.n, BRAMAH__SAMPLES);
  ck_assert_uint_eq(samples.steps, 1);
  ck_assert(bramah__samples_banded(&samples));
  for (int i = 0; i < BRAMAH__SAMPLES; i++) {
    const bramah__sample *s = &samples.at[i];
    ck_assert_double_eq(s->t, i * 1e-3);
    ck_assert(s->min == (float)i && s->mean == (float)i && s->max == (float)i);
    ck_assert(isnan(s->low) == (i != 3) && isnan(s->high) == (i != 3));
  }
}

/* Three and a bit times as many points as there is room for: each sample is made of four of them. */
TEST(many_points_make_a_sample)
{
  enum { N = 3 * BRAMAH__SAMPLES + 6 };
  for (int i = 0; i < N; i++)
    ck_assert_int_eq(
        bramah__samples_add(&samples, i, i % 4 == 2 ? -i : i, i % 8 ? none : -i, i % 8 ? none : 2.0 * i),
        BRAMAH_OK);
  ck_assert_uint_eq(samples.steps, 4);
  ck_assert_uint_eq(samples.n, (N + 3) / 4);
  ck_assert_uint_eq(samples.in_last, 2);
  for (size_t k = 0; k + 1 < samples.n; k++) {
    const bramah__sample *s = &samples.at[k];
    const double i = 4.0 * (double)k;
    ck_assert_double_eq_tol(s->t, i + 1.5, 1e-9);
    ck_assert_double_eq(s->min, -(i + 2.0));
    ck_assert_double_eq(s->max, i + 3.0);
    ck_assert_double_eq_tol(s->mean, (i + (i + 1.0) - (i + 2.0) + (i + 3.0)) / 4.0, 1e-2);
    if (k % 2) ck_assert(isnan(s->low) && isnan(s->high));
    if (k % 2 == 0) ck_assert(s->low == (float)-i && s->high == (float)(2.0 * i));
  }
}

/* Nothing is lost over a million points, and memory stays. */
TEST(a_million_points)
{
  enum { N = 1000000 };
  double sum = 0.0, all = 0.0;
  uint64_t n = 0;
  for (int i = 0; i < N; i++) {
    const double v = i == 777777 ? 1e4 : i == 123456 ? -1e4 : sin(1e-4 * i);
    sum += v;
    ck_assert_int_eq(bramah__samples_add(&samples, 1e-3 * i, v, none, none), BRAMAH_OK);
  }
  float min = FLT_MAX, max = -FLT_MAX;
  for (size_t k = 0; k < samples.n; k++) {
    const uint64_t m = k + 1 < samples.n ? samples.steps : samples.in_last;
    min = fminf(min, samples.at[k].min);
    max = fmaxf(max, samples.at[k].max);
    all += (double)m * (double)samples.at[k].mean;
    n += m;
    ck_assert(k == 0 || samples.at[k].t > samples.at[k - 1].t);
  }
  ck_assert_uint_eq(n, N);
  ck_assert(min == -1e4f && max == 1e4f);
  ck_assert_double_eq_tol(all, sum, 1e-5 * N);
  ck_assert_uint_gt(samples.n, BRAMAH__SAMPLES / 2);
  ck_assert_uint_le(samples.n, BRAMAH__SAMPLES);
}

/* ---- files ---- */

static char folder[SCRATCH_NAME], path[SCRATCH_NAME + 64];
static char *text, *page; /* as written; a page without what scripts and styles hold */
static bramah_report *report;

static void begin_report(const char *title)
{
  bramah_report_free(report);
  ck_assert_int_eq(bramah_report_new(title, NULL, &report), BRAMAH_OK);
}

static void open_report(void)
{
  ck_assert(scratch_folder(folder));
  begin_report("A <b>title</b> & \"more\"");
  samples = (bramah__samples){0};
}

static void close_report(void)
{
  bramah_report_free(report);
  report = NULL;
  free(page);
  free(text);
  page = text = NULL;
  free(samples.at);
  rmdir(folder);
}

static const char *path_of(const char *name)
{
  snprintf(path, sizeof path, "%s/%s", folder, name);
  return path;
}

static size_t read_back(void)
{
  enum { ROOM = 1 << 24 };
  FILE *f = fopen(path, "rb");
  ck_assert_msg(f != NULL, "there is no %s", path);
  free(text);
  text = calloc(1, ROOM);
  const size_t n = fread(text, 1, ROOM - 1, f);
  fclose(f);
  unlink(path);
  return n;
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

static bramah_status write_to(bramah_report_format format, const char *name)
{
  return bramah_report_write(report, format, *name == '/' ? name : path_of(name), &diag);
}

/* Write the report and read the page. Returns its size. */
static size_t write_page(void)
{
  const bramah_status status = write_to(BRAMAH_REPORT_PAGE, "r.html");
  ck_assert_msg(status == BRAMAH_OK, "%s", diag.message);
  const size_t n = read_back();
  free(page);
  page = strdup(text);
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

static size_t add_plot(const char *title, const char *unit, double factor, int symmetric)
{
  size_t plot = 99;
  const bramah_report_plot wanted = {.title = title, .unit = unit, .factor = factor, .symmetric = symmetric};
  ck_assert_int_eq(bramah_report_add(report, &wanted, &plot), BRAMAH_OK);
  return plot;
}

static size_t add_pressure(const char *title) { return add_plot(title, "MPa", 1e-6, 0); }

/* A point with a band about it; half its width NaN: none. */
static bramah_status add_point(size_t plot, bramah_report_series s, double t, double value, double half)
{
  return bramah_report_point(report, plot, s, t, value, value - half, value + half);
}

static void add_wave(size_t plot, bramah_report_series s, int n, double band)
{
  for (int i = 0; i < n; i++) {
    bramah_status status =
        add_point(plot, s, i * 1e-3, 5e6 * sin(i * 2e-3) + 2e5 * ((i % 101) * 7919 % 101), band);
    if (status) ck_abort_msg("point %d: %s", i, bramah_status_name(status));
  }
}

/* ---- pages ---- */

TEST(an_empty_report_is_a_page)
{
  write_page();
  assert_well_formed();
  ASSERT_HAS("<title>A &lt;b&gt;title&lt;/b&gt; &amp; &quot;more&quot;</title>");
  ASSERT_LACKS("<b>");
  ASSERT_LACKS("<figure>");
  bramah_report_free(NULL);
}

TEST(holds_notes_and_tables)
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
  ASSERT_HAS("<details><summary>Errors</summary>");
  ASSERT_HAS("<td>crank&lt;1&gt;</td><td class=\"r\">0.5</td><td>deg</td>");
  ASSERT_HAS("<th scope=\"col\" class=\"r\">RMSE</th>");
}

TEST(legend_names_what_is_there)
{
  size_t p = add_pressure("p1");
  add_wave(p, BRAMAH_REPORT_ESTIMATE, 100, (double)NAN);
  add_wave(p, BRAMAH_REPORT_TRUTH, 100, (double)NAN);
  write_page();
  assert_well_formed();
  ASSERT_HAS("estimate</span>");
  ASSERT_HAS("truth</span>");
  ASSERT_LACKS("measured</span>");
  ASSERT_LACKS("model alone</span>");
  ASSERT_LACKS("1.96");
  add_wave(add_pressure("p2"), BRAMAH_REPORT_ESTIMATE, 100, 1e6);
  add_wave(add_pressure("p3"), BRAMAH_REPORT_MEASURED, 100, 1e6);
  write_page();
  ASSERT_HAS("1.96 \xCF\x83</span>");
  ASSERT_HAS("measured</span>");
}

/* Corner `at` of the first path of this class in the inner picture, in its units: from its relative steps. Returns 0
 * behind the last one. */
static int corner(const char *css, size_t at, long *x, long *y)
{
  char open[32], command = 'm';
  snprintf(open, sizeof open, "<path class=\"%s\" d=\"", css);
  const char *s = strstr(page, "<svg class=\"i\"");
  ck_assert_ptr_nonnull(s);
  s = strstr(s, open);
  ck_assert_msg(s != NULL, "no %s", open);
  s += strlen(open);
  *x = *y = 0;
  for (size_t i = 0; *s != '"' && *s != 'z'; i++) {
    char *end;
    s += strspn(s, " ");
    if (strchr("mlvh", *s)) command = *s++;
    for (int k = 0; k < (strchr("ml", command) ? 2 : 1); k++, s = end) {
      const long step = strtol(s, &end, 10);
      if (s == end) ck_abort_msg("no number in the path: %.20s", s); /* an assertion takes its time */
      *(command == 'v' || k ? y : x) += step;
    }
    if (i == at) return 1;
  }
  return 0;
}

/* How far a path reaches up and down. */
static void path_extent(const char *css, long *low, long *high)
{
  long x, y;
  *low = 1000000, *high = -1000000;
  for (size_t i = 0; corner(css, i, &x, &y); i++) {
    if (y < *low) *low = y;
    if (y > *high) *high = y;
  }
}

enum { X_UNITS = 13560, Y_UNITS = 4040 }; /* of the inner picture */

/* Range of an axis as the page says it. */
static bramah__range range_of(const char *name)
{
  char open[32], *end;
  snprintf(open, sizeof open, " data-%s=\"", name);
  const char *s = strstr(page, open);
  ck_assert_msg(s != NULL, "no %s", open);
  const double low = strtod(s + strlen(open), &end);
  return (bramah__range){low, strtod(end, NULL)};
}

/* A value of the axis at this height. */
static double value_at(long y)
{
  const bramah__range r = range_of("y");
  return r.high - (r.high - r.low) * (double)y / Y_UNITS;
}

/* The line passes every point of a curve by less than a fifth of a pixel, however few corners it has. */
TEST(curves_are_where_the_numbers_say)
{
  enum { N = 2000 };
  const size_t p = add_plot("p", "m", 1.0, 0);
  for (int i = 0; i < N; i++) add_point(p, BRAMAH_REPORT_ESTIMATE, i, sin(0.003 * i), none);
  write_page();
  const double resolution = (range_of("y").high - range_of("y").low) / Y_UNITS;
  const bramah__range time = range_of("x");
  long x0, y0, x1, y1;
  size_t k = 0;
  ck_assert(corner("e", 0, &x0, &y0));
  for (int i = 0; i < N; i++) {
    const double x = X_UNITS * (i - time.low) / (time.high - time.low);
    while (corner("e", k + 1, &x1, &y1) && (double)x1 < x) corner("e", ++k, &x0, &y0);
    if (!corner("e", k + 1, &x1, &y1)) break;
    const double y = (double)y0 + (double)(y1 - y0) * (x - (double)x0) / (double)(x1 - x0);
    if (!(fabs(range_of("y").high - resolution * y - sin(0.003 * i)) < 4.0 * resolution))
      ck_abort_msg("off at %d", i);
  }
  ck_assert_uint_gt(k, 10);
  ck_assert_uint_lt(k, 200);
}

/* No extreme is lost, and no point left of its column. */
TEST(decimation_keeps_extremes)
{
  enum { N = 11000 };
  long low, high;
  const size_t p = add_plot("p", "m", 1.0, 0);
  for (int i = 0; i < N; i++)
    add_point(p, BRAMAH_REPORT_ESTIMATE, i, i == 7654 ? 1.6 : i == 1234 ? -1.7 : sin(0.5 * i), none);
  write_page();
  path_extent("e", &low, &high);
  ck_assert_double_eq_tol(value_at(low), 1.6, 0.01);
  ck_assert_double_eq_tol(value_at(high), -1.7, 0.01);
  begin_report("bars");
  const size_t q = add_plot("p", "m", 1.0, 0);
  for (int i = 0; i < N; i++)
    add_point(q, BRAMAH_REPORT_MEASURED, i, i == 7654 ? 1.6 : i == 1234 ? -1.7 : sin(0.5 * i), none);
  write_page();
  path_extent("m", &low, &high);
  ck_assert_double_eq_tol(value_at(low), 1.6, 0.01);
  ck_assert_double_eq_tol(value_at(high), -1.7, 0.01);
}

/* A line does not go on where there is nothing. */
TEST(gaps_are_open)
{
  const size_t p = add_plot("p", "m", 1.0, 0);
  for (int i = 0; i < 1000; i++)
    if (i < 400 || i > 600) add_point(p, BRAMAH_REPORT_ESTIMATE, i, i % 7, 1.0);
  write_page();
  const char *d = strstr(strstr(page, "<svg class=\"i\""), "<path class=\"e\" d=\"m");
  ck_assert_ptr_nonnull(d);
  const char *second = strchr(strchr(d, 'm') + 1, 'm'), *end = strchr(d + 20, '"');
  ck_assert(second && second < end);
  const char *band = strstr(page, "<path class=\"b\" d=\"m");
  ck_assert_ptr_nonnull(band);
  ck_assert(strchr(band, 'z') < strchr(strchr(band, 'm') + 1, 'm'));
}

/* In the window of the answer every point is there, elsewhere columns are. */
TEST(the_window_is_finer)
{
  size_t n[2];
  for (int k = 0; k < 2; k++) {
    long x, y;
    begin_report("Report");
    const bramah_report_answer answer = {.level = BRAMAH_REPORT_WRONG,
                                         .headline = "No & never",
                                         .reason = "A <reason>.",
                                         .advice = "Look.",
                                         .begin = k ? 5000.0 : none,
                                         .end = 5200.0};
    ck_assert_int_eq(bramah_report_say(report, &answer), BRAMAH_OK);
    const size_t p = add_plot("p", "m", 1.0, 0);
    for (int i = 0; i < 10000; i++) add_point(p, BRAMAH_REPORT_MEASURED, i, i % 3, none);
    write_page();
    for (n[k] = 0; corner("m", n[k], &x, &y);) n[k]++;
  }
  ck_assert_uint_gt(n[1], n[0] + 200);
  assert_well_formed();
  ASSERT_HAS("class=\"wrong\"");
  ASSERT_HAS("<strong>No &amp; never</strong>");
  ASSERT_HAS("<p class=\"reason\">A &lt;reason&gt;.</p>");
  ASSERT_HAS("data-begin=\"5000\" data-end=\"5200\"");
  ck_assert(strstr(page, "No &amp; never") < strstr(page, "<figure"));
}

/* What contradicts comes first, four at most; the heaviest of a section leads it. */
TEST(worst_first)
{
  static const double weights[] = {0.2, 3.0, 0.9, 1.0, 5.0, 2.0, 4.0};
  char title[2] = "a";
  for (int i = 0; i < 7; i++, title[0]++) {
    const size_t p = add_plot(title, "m", 1.0, 0);
    ck_assert_int_eq(bramah_report_weigh(report, p, weights[i]), BRAMAH_OK);
    ck_assert_int_eq(bramah_report_weigh(report, p, 0.1), BRAMAH_OK); /* the largest counts */
  }
  ck_assert_int_eq(bramah_report_weigh(report, 7, 1.0), BRAMAH_E_ARGUMENT);
  write_page();
  const char *s = strstr(page, "<section id=\"first\">");
  ck_assert_ptr_nonnull(s);
  for (const char *t = "egbfdca"; *t; t++) {
    char open[64];
    snprintf(open, sizeof open, "<figcaption><strong>%c</strong>", *t);
    s = strstr(s, open);
    ck_assert_msg(s != NULL, "%c is not where it should be", *t);
    if (*t == 'f') ck_assert(s < strstr(page, "<section id=\"section0\">"));
    if (*t == 'd') ck_assert(s > strstr(page, "<section id=\"section0\">"));
  }
}

TEST(decades_have_their_values)
{
  size_t p;
  const bramah_report_plot wanted = {.title = "p", .unit = "1", .factor = 1.0, .logarithmic = 1};
  ck_assert_int_eq(bramah_report_add(report, &wanted, &p), BRAMAH_OK);
  for (int i = 0; i < 700; i++) add_point(p, BRAMAH_REPORT_ESTIMATE, i, pow(10.0, 0.01 * i - 2.0), none);
  ck_assert_int_eq(add_point(p, BRAMAH_REPORT_ESTIMATE, 700, 0.0, none), BRAMAH_OK); /* left out */
  write_page();
  ASSERT_HAS(">1</text>");
  ASSERT_HAS(">100</text>");
  ASSERT_LACKS("log1");
  ASSERT_LACKS("nan");
  long x, y, low, high;
  path_extent("e", &low, &high);
  ck_assert_double_eq_tol(value_at(low), 4.99, 0.02);
  ck_assert_double_eq_tol(value_at(high), -2.0, 0.02);
  ck_assert(!corner("e", 4, &x, &y)); /* an exponential is straight */
  ck_assert_int_eq(write_to(BRAMAH_REPORT_DATA, "data.csv"), BRAMAH_OK);
  read_back();
  ck_assert_ptr_nonnull(strstr(text, "p,1,estimate,0,1,0.0099999998,0.0099999998"));
}

/* A band that cannot be seen is told in words. */
TEST(thin_bands_are_told)
{
  const size_t p = add_plot("p", "deg", 1.0, 0);
  for (int i = 0; i < 100; i++) add_point(p, BRAMAH_REPORT_ESTIMATE, i, i, 0.05);
  write_page();
  ASSERT_HAS("1.96 \xCF\x83 is at most \xC2\xB1"
             "0.05 deg after the start: thinner than its line");
  begin_report("wide");
  const size_t q = add_plot("p", "deg", 1.0, 0);
  for (int i = 0; i < 100; i++) add_point(q, BRAMAH_REPORT_ESTIMATE, i, i, 5.0);
  write_page();
  ASSERT_LACKS("thinner");
}

TEST(stems_with_names)
{
  static const char *const labels[] = {"one & only", "two", "three"};
  const bramah_report_plot wanted = {
      .title = "p", .unit = "%", .factor = 1.0, .axis = BRAMAH_REPORT_LAG, .n_labels = 3, .labels = labels};
  size_t p;
  ck_assert_int_eq(bramah_report_add(report, &wanted, &p), BRAMAH_OK);
  for (int i = 1; i <= 3; i++) add_point(p, BRAMAH_REPORT_ESTIMATE, i, 4.0 - i, none);
  write_page();
  assert_well_formed();
  ASSERT_HAS(">one &amp; only</text>");
  ASSERT_HAS(">three</text>");
  long x, y, foot;
  corner("e st w", 0, &x, &foot);
  ck_assert_int_eq(x, X_UNITS / 6);
  ck_assert_double_eq_tol(value_at(foot), 0.0, 0.002);
  corner("e st w", 1, &x, &y);
  ck_assert_double_eq_tol(value_at(y), 3.0, 0.002);
}

TEST(curves_fill_their_axes)
{
  long low, high;
  add_wave(add_pressure("p1"), BRAMAH_REPORT_ESTIMATE, 50000, (double)NAN);
  write_page();
  path_extent("e", &low, &high);
  ck_assert(low > 100 && low < 600);     /* the top: five of a hundred of some 4040 below the edge */
  ck_assert(high > 3400 && high < 4040); /* the bottom */
}

TEST(bands_lie_about_the_estimate_or_about_zero)
{
  long low, high, band_low, band_high;
  size_t p = add_pressure("p1");
  for (int i = 0; i < 500; i++) add_point(p, BRAMAH_REPORT_ESTIMATE, i, 1e7 + 1e4 * i, 1e6);
  write_page();
  path_extent("e", &low, &high);
  path_extent("b", &band_low, &band_high);
  ck_assert_int_lt(band_low, low);
  ck_assert_int_gt(band_high, high);
  begin_report("two");
  p = add_plot("innovation", "MPa", 1e-6, 1);
  for (int i = 0; i < 500; i++) bramah_report_point(report, p, BRAMAH_REPORT_ESTIMATE, i, 3e6, -1e6, 1e6);
  write_page();
  path_extent("e s", &low, &high);
  path_extent("b", &band_low, &band_high);
  ck_assert_int_gt(band_low, high); /* the value is at 3, the band from -1 to 1, and up is less */
  ASSERT_LACKS("estimate</span>");
}

TEST(odd_plots)
{
  size_t empty = add_pressure("empty"), constant = add_pressure("constant"), point = add_pressure("point");
  (void)empty;
  for (int i = 0; i < 100; i++) add_point(constant, BRAMAH_REPORT_TRUTH, i, 7e6, (double)NAN);
  add_point(point, BRAMAH_REPORT_ESTIMATE, 3.0, 1e6, 1e5);
  write_page();
  assert_well_formed();
  ASSERT_HAS("no data");
  ASSERT_HAS("stroke-linecap=\"round\""); /* a dot */
  ASSERT_LACKS("nan");
  ASSERT_LACKS("inf\"");
}

TEST(one_moment_only)
{
  add_point(add_pressure("point"), BRAMAH_REPORT_MEASURED, 0.0, 0.0, (double)NAN);
  write_page();
  assert_well_formed();
  ASSERT_LACKS("no data");
}

TEST(says_when_a_spike_is_cut_off)
{
  size_t p = add_pressure("p1");
  add_wave(p, BRAMAH_REPORT_TRUTH, 5000, (double)NAN);
  write_page();
  ASSERT_LACKS("beyond the axis");
  add_point(p, BRAMAH_REPORT_TRUTH, 6.0, 1e15, (double)NAN);
  write_page();
  ASSERT_HAS("beyond the axis");
}

TEST(refuses_bad_points)
{
  size_t p = add_pressure("p1");
  const bramah_report_series e = BRAMAH_REPORT_ESTIMATE, t = BRAMAH_REPORT_TRUTH;
  ck_assert_int_eq(add_point(p + 1, e, 0, 0, 0), BRAMAH_E_ARGUMENT);
  ck_assert_int_eq(add_point(p, (bramah_report_series)4, 0, 0, 0), BRAMAH_E_ARGUMENT);
  ck_assert_int_eq(add_point(p, e, 1, 0, 0), BRAMAH_OK);
  ck_assert_int_eq(add_point(p, e, 1, 0, 0), BRAMAH_OK);
  ck_assert_int_eq(add_point(p, e, 0.5, 0, 0), BRAMAH_E_TIME);
  ck_assert_int_eq(add_point(p, t, 0.5, 0, 0), BRAMAH_OK); /* another series */
  ck_assert_int_eq(add_point(p, e, (double)NAN, 0, 0), BRAMAH_E_TIME);
  ck_assert_int_eq(add_point(p, e, (double)INFINITY, 0, 0), BRAMAH_E_TIME);
  ck_assert_int_eq(add_point(p, e, 2, (double)NAN, 0), BRAMAH_OK);
  ck_assert_int_eq(add_point(p, e, 2, (double)INFINITY, 0), BRAMAH_OK);
  ck_assert_int_eq(add_point(p, e, 2, 1, (double)INFINITY), BRAMAH_OK);
  size_t plot;
  const bramah_report_plot wrong = {.title = "x", .unit = "m", .factor = (double)NAN};
  ck_assert_int_eq(bramah_report_add(report, &wrong, &plot), BRAMAH_E_VALUE);
  write_page();
  assert_well_formed();
  ASSERT_LACKS("nan");
}

TEST(needs_nothing_else)
{
  add_wave(add_pressure("p1"), BRAMAH_REPORT_ESTIMATE, 100, 1e5);
  write_page();
  ASSERT_LACKS("http:");
  ASSERT_LACKS("https:");
  ASSERT_LACKS("<link");
  ASSERT_LACKS(" src=");
  ASSERT_HAS("default-src 'none'");
  static const char *const outside[] = {"sourceMappingURL", "@import", "url(", "<img", "new Worker("};
  for (size_t i = 0; i < 5; i++) ck_assert_msg(!strstr(text, outside[i]), "the page has %s", outside[i]);
  ck_assert_ptr_nonnull(strstr(text, "prefers-color-scheme:dark"));
  ck_assert_ptr_nonnull(strstr(text, "@media print"));
}

TEST(stays_small)
{
  for (int p = 0; p < 10; p++) {
    size_t plot = add_pressure("p");
    for (int s = 0; s < 4; s++) add_wave(plot, (bramah_report_series)s, 10000, s ? (double)NAN : 3e5);
  }
  size_t size = write_page();
  assert_well_formed();
  ck_assert_uint_lt(size, 1500000);
  begin_report("long");
  add_wave(add_pressure("p"), BRAMAH_REPORT_ESTIMATE, 3000000, 3e5);
  ck_assert_uint_lt(write_page(), 300000);
}

TEST(pages_repeat)
{
  add_wave(add_pressure("p1"), BRAMAH_REPORT_ESTIMATE, 3000, 1e5);
  write_page();
  char *first = strdup(text);
  write_page();
  ck_assert_str_eq(first, text);
  free(first);
}

TEST(files_that_cannot_be_written)
{
  static const struct {
    bramah_report_format format;
    const char *path, *message;
    bramah_status status;
  } cases[] = {{BRAMAH_REPORT_PAGE, "/nonexistent/r.html", "No such file", BRAMAH_E_FILE},
               {BRAMAH_REPORT_PAGE, "/dev/full", "No space left", BRAMAH_E_FILE},
               {BRAMAH_REPORT_DATA, "/nonexistent/data.csv", "No such file", BRAMAH_E_FILE},
               {BRAMAH_REPORT_PICTURE, "/nonexistent/p.svg", "No such file", BRAMAH_E_FILE},
               {BRAMAH_REPORT_PICTURE, "/nonexistent/p.pdf", "written as .svg", BRAMAH_E_VALUE}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    ck_assert_int_eq(write_to(cases[i].format, cases[i].path), cases[i].status);
    ck_assert_msg(strstr(diag.message, cases[i].message), "%s: %s", cases[i].path, diag.message);
    ck_assert_str_eq(diag.file, cases[i].path);
  }
}

/* ---- numbers as CSV ---- */

static const char *find(const char *in, const char *what)
{
  const char *found = strstr(in, what);
  ck_assert_msg(found != NULL, "there is no %s", what);
  return found + strlen(what);
}

TEST(data_as_csv)
{
  const size_t plot = add_plot("a, \"b\"", "bar", 1e-5, 0);
  add_point(plot, BRAMAH_REPORT_ESTIMATE, 0.5, 3e5, 1e5);
  add_point(plot, BRAMAH_REPORT_MEASURED, 0.25, 4e5, none);
  ck_assert_int_eq(write_to(BRAMAH_REPORT_DATA, "data.csv"), BRAMAH_OK);
  read_back();
  ck_assert_str_eq(text, "plot,unit,series,x,steps,min,mean,max,low,high\n"
                         "\"a, \"\"b\"\"\",bar,measured,0.25,1,4,4,4,,\n"
                         "\"a, \"\"b\"\"\",bar,estimate,0.5,1,3,3,3,2,4\n");
}

/* Every point is in the CSV, as its own row or within one. */
TEST(csv_tells_of_every_point)
{
  enum { N = 5 * BRAMAH__SAMPLES };
  size_t points = 0;
  double max = 0.0;
  const size_t plot = add_plot("p", "1", 1.0, 0);
  for (int i = 0; i < N; i++) add_point(plot, BRAMAH_REPORT_TRUTH, i, i == 31415 ? 99.0 : 1.0, none);
  ck_assert_int_eq(write_to(BRAMAH_REPORT_DATA, "data.csv"), BRAMAH_OK);
  read_back();
  for (char *row = strchr(text, '\n') + 1; *row; row = strchr(row, '\n') + 1) {
    double t, least, mean, most;
    size_t steps;
    ck_assert_int_eq(sscanf(row, "p,1,truth,%lf,%zu,%lf,%lf,%lf", &t, &steps, &least, &mean, &most), 5);
    points += steps;
    max = fmax(max, most);
  }
  ck_assert_uint_eq(points, N);
  ck_assert_double_eq(max, 99.0);
}

/* ---- sections, events, machine ---- */

TEST(sections_come_in_their_order)
{
  static const bramah_report_plot plots[] = {
      {.section = "First", .title = "a", .unit = "m", .factor = 1.0},
      {.section = "Second", .title = "b", .unit = "m", .factor = 1.0},
      {.section = "First", .text = "What <this> is.", .title = "c", .unit = "m", .factor = 1.0},
      {.section = "First", .text = "Too late.", .title = "d", .unit = "m", .factor = 1.0}};
  size_t n;
  for (size_t i = 0; i < 4; i++) ck_assert_int_eq(bramah_report_add(report, &plots[i], &n), BRAMAH_OK);
  write_page();
  const char *first = find(text, "<h2>First</h2>\n<p class=\"text\">What &lt;this&gt; is.</p>");
  const char *second = find(text, "<h2>Second</h2>");
  ck_assert(second > first);
  ck_assert(find(first, "<figcaption><strong>d") < second);
  ck_assert_ptr_null(strstr(text, "Too late"));
}

TEST(events_by_their_time)
{
  ck_assert_int_eq(bramah_report_event(report, 2.0, "gate", "later"), BRAMAH_OK);
  ck_assert_int_eq(bramah_report_event(report, 1.0, "gap", "a </script> & \"b\""), BRAMAH_OK);
  ck_assert_int_eq(bramah_report_event(report, 1.0, "gate", "then"), BRAMAH_OK);
  ck_assert_int_eq(bramah_report_event(report, none, "gate", "not at any time"), BRAMAH_E_TIME);
  for (int i = 0; i < 1500; i++)
    ck_assert_int_eq(bramah_report_event(report, 10.0 + i, "many", "again"), BRAMAH_OK);
  write_page();
  find(text, "<li><b>1 s</b> <i>gap</i> a &lt;/script&gt; &amp; &quot;b&quot;</li>\n<li><b>1 s</b> "
             "<i>gate</i> then</li>\n"
             "<li><b>2 s</b> <i>gate</i> later</li>\n<li><b>10 s</b>");
  find(text, "500 more of the kind \xE2\x80\x9Cmany\xE2\x80\x9D");
  find(text, "[1,\"gap\"],\n[1,\"gate\"],\n[2,\"gate\"]");
  find(text, "\"kinds\":[[\"gate\",2],[\"gap\",1],[\"many\",1500]]");
  ck_assert_ptr_null(strstr(text, "not at any time"));
}

/* A track of a motion: a number, numbers as differences in quotes, or [k], the same as track k. Returns behind it. */
static const char *read_track(const char *s, const double *tracks, size_t most, size_t n, double *out)
{
  char *end;
  s += strspn(s, ",\n");
  if (*s == '[') {
    memcpy(out, tracks + strtoul(s + 1, &end, 10) * most, n * sizeof *out);
    return end + 1;
  }
  const int moves = *s == '"';
  double sum = 0.0;
  s += moves;
  for (size_t i = 0; i < n; i++) {
    if (moves || i == 0) {
      sum += strtod(s, &end);
      if (s == end) ck_abort_msg("no number in the track: %.20s", s);
      s = end;
    }
    out[i] = sum;
  }
  return s + moves;
}

/* Of 10000 poses of the moving four-bar those at even distances are kept, as the plant shows them. */
TEST(poses_are_thinned_evenly)
{
  enum { N = 10000, MOST = 64 };
  static double tracks[6 * MOST][BRAMAH__POSES], t[BRAMAH__POSES], all[N][6 * MOST];
  const char *root = getenv("BRAMAH_SOURCE_ROOT");
  char file[1024], begin[2048];
  bramah_skeleton_part parts[MOST];
  bramah_skeleton skeleton = {.n = MOST, .part = parts};
  bramah_machine_plant machine;
  snprintf(file, sizeof file, "%s/datasets/four-bar/four-bar.yaml", root ? root : ".");
  ck_assert_int_eq(bramah_machine_plant_open(&machine, file, 0, NULL, 0, &diag), BRAMAH_OK);
  ck_assert_int_eq(bramah_coupled_skeleton(machine.coupled, &skeleton, &diag), BRAMAH_OK);
  const size_t size = 6 * skeleton.n;
  ck_assert_int_eq(bramah_report_pose(report, none, machine.coupled), BRAMAH_E_TIME);
  for (int i = 0; i < N; i++) {
    bramah_skeleton pose = {.n = MOST, .points = all[i]};
    ck_assert_int_eq(bramah_coupled_skeleton(machine.coupled, &pose, &diag), BRAMAH_OK);
    ck_assert_int_eq(bramah_report_pose(report, i, machine.coupled), BRAMAH_OK);
    const double command = 2.0 * sin(1e-3 * i);
    ck_assert_int_eq(machine.plant.set_inputs(machine.plant.self, &command, &diag), BRAMAH_OK);
    ck_assert_int_eq(machine.plant.step(machine.plant.self, &diag), BRAMAH_OK);
  }
  ck_assert_int_eq(bramah_report_pose(report, 0.0, machine.coupled), BRAMAH_E_TIME);
  write_page();
  size_t used = (size_t)snprintf(begin, sizeof begin, "\"parts\":[");
  for (size_t i = 0; i < skeleton.n; i++)
    used += (size_t)snprintf(begin + used, sizeof begin - used, "%s[%d,\"%s\"]", i ? "," : "",
                             (int)parts[i].kind, parts[i].name);
  snprintf(begin + used, sizeof begin - used, "],\"scale\":");
  const char *shown = find(text, begin);
  const double scale = strtod(shown, NULL), step = strtod(find(shown, "\"step\":"), NULL);
  size_t n = 1;
  for (const char *s = find(shown, "\"t\":\""); *s != '"'; s++) n += *s == ' ';
  ck_assert_uint_gt(n, BRAMAH__POSES / 2);
  read_track(find(shown, "\"t\":"), NULL, 0, n, t);
  const char *s = find(shown, "\"points\":[");
  for (size_t k = 0; k < size; k++) s = read_track(s, tracks[0], BRAMAH__POSES, n, tracks[k]);
  ck_assert_int_eq(*s, ']');
  ck_assert(t[0] == 0.0 && step * t[n - 1] > 9900.0);
  for (size_t i = 0; i < n; i++) {
    const size_t row = (size_t)lround(step * t[i]);
    ck_assert_uint_eq(row, i * (size_t)lround(step * t[1]));
    for (size_t k = 0; k < size; k++)
      if (!(fabs(scale * tracks[k][i] - all[row][k]) <= 0.51 * scale)) ck_abort_msg("pose %zu is off", i);
  }
  double moved = 0.0;
  for (size_t k = 0; k < size; k++) moved = fmax(moved, fabs(all[N / 2][k] - all[0][k]));
  ck_assert_double_gt(moved, 0.02);
  ck_assert_double_lt(scale, 0.002);
  bramah_machine_plant_close(&machine);
}

/* ---- pictures ---- */

TEST(svg_of_the_plots)
{
  static const char *const titles[] = {"first", "second", "third"};
  for (int p = 0; p < 3; p++) {
    const size_t plot = add_plot(titles[p], "deg", 1.0, 0);
    for (int i = 0; i < 500; i++) add_point(plot, BRAMAH_REPORT_ESTIMATE, 0.01 * i, sin(0.02 * i), 0.1);
  }
  ck_assert_int_eq(write_to(BRAMAH_REPORT_PICTURE, "p.svg"), BRAMAH_OK);
  read_back();
  ck_assert_int_eq(strncmp(text, "<svg xmlns=\"http://www.w3.org/2000/svg\"", 39), 0);
  const char *first = find(text, ">first</text>"), *second = find(text, ">second</text>");
  ck_assert(first < second && second < find(text, ">third</text>"));
  ck_assert_ptr_null(strstr(text, "<script"));
  find(text, ">time [s]</text>");
  find(text, ">deg</text>");
}

int main(void) { return run_tests_with("report", open_report, close_report); }
