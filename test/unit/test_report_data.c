/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a report holds: points as they are, then minimum, mean and maximum of so many; the same numbers in the
 * page (base64) and in the CSV; events, poses, pictures. */
#define _GNU_SOURCE
#include "bramah/log.h"
#include "bramah/report.h"
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

/* ---- samples ---- */

static bramah__samples samples;

static void clear_samples(void) { memset(&samples, 0, sizeof samples); }
static void free_samples(void) { free(samples.at); }

START_TEST(samples_are_kept_as_they_are)
{
  for (int i = 0; i < BRAMAH__SAMPLES; i++)
    ck_assert_int_eq(bramah__samples_add(&samples, i * 1e-3, i, i == 3 ? -1.0 : none, i == 3 ? 1.0 : none),
                     BRAMAH_OK);
  ck_assert_uint_eq(samples.n, BRAMAH__SAMPLES);
  ck_assert(bramah__samples_single(&samples));
  ck_assert(bramah__samples_banded(&samples));
  for (int i = 0; i < BRAMAH__SAMPLES; i++) {
    const bramah__sample *s = &samples.at[i];
    ck_assert_double_eq(s->t, i * 1e-3);
    ck_assert(s->min == (float)i && s->mean == (float)i && s->max == (float)i);
    ck_assert(isnan(s->low) == (i != 3) && isnan(s->high) == (i != 3));
  }
}
END_TEST

/* Three and a bit times as many points as there is room for: each sample stands for four of them. */
START_TEST(many_points_make_a_sample)
{
  enum { N = 3 * BRAMAH__SAMPLES + 6 };
  for (int i = 0; i < N; i++)
    ck_assert_int_eq(
        bramah__samples_add(&samples, i, i % 4 == 2 ? -i : i, i % 8 ? none : -i, i % 8 ? none : 2.0 * i),
        BRAMAH_OK);
  ck_assert_uint_eq(samples.steps, 4);
  ck_assert_uint_eq(samples.n, (N + 3) / 4);
  ck_assert_uint_eq(samples.in_last, 2);
  ck_assert(!bramah__samples_single(&samples));
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
END_TEST

/* Nothing is lost over a million points, and memory stays. */
START_TEST(a_million_points)
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
END_TEST

/* ---- files ---- */

static char folder[SCRATCH_NAME], path[SCRATCH_NAME + 64];
static char *text;
static bramah_report *report;

static size_t add_plot(const char *title, const char *unit, double factor)
{
  size_t plot = 99;
  const bramah_report_plot wanted = {.title = title, .unit = unit, .factor = factor};
  ck_assert_int_eq(bramah_report_add(report, &wanted, &plot), BRAMAH_OK);
  return plot;
}

static void open_report(void)
{
  ck_assert(scratch_folder(folder));
  ck_assert_int_eq(bramah_report_new("Report", NULL, &report), BRAMAH_OK);
}

static void close_report(void)
{
  bramah_report_free(report);
  free(text);
  text = NULL;
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

static void write_page(void)
{
  ck_assert_int_eq(bramah_report_write(report, path_of("r.html"), &diag), BRAMAH_OK);
  read_back();
}

static const char *find(const char *in, const char *what)
{
  const char *found = strstr(in, what);
  ck_assert_msg(found != NULL, "there is no %s", what);
  return found + strlen(what);
}

static unsigned sextet(char c)
{
  static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const char *at = strchr(digits, c);
  ck_assert_msg(c && at, "'%c' is no base64", c);
  return (unsigned)(at - digits);
}

/* Decode array k of the page by the definition of base64 (RFC 4648, 4); returns how many floats. */
static size_t decode(size_t k, float *out, size_t room)
{
  char open[64];
  snprintf(open, sizeof open, "<script type=\"text/plain\" id=\"d%zu\">", k);
  const char *s = find(text, open);
  unsigned char bytes[4];
  size_t n = 0, used = 0;
  for (; *s != '<'; s += 4) {
    const unsigned padding = s[3] != '=' ? 0 : s[2] == '=' ? 2 : 1;
    const unsigned group = sextet(s[0]) << 18 | sextet(s[1]) << 12 | (padding > 1 ? 0 : sextet(s[2]) << 6) |
                           (padding ? 0 : sextet(s[3]));
    for (unsigned b = 0; b < 3 - padding; b++) {
      bytes[used++] = (unsigned char)(group >> (16 - 8 * b));
      if (used < 4) continue;
      const uint32_t bits =
          (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
      ck_assert_uint_lt(n, room);
      memcpy(&out[n++], &bits, 4);
      used = 0;
    }
  }
  ck_assert_uint_eq(used, 0);
  return n;
}

/* Number of the array a member of the first plot's first series names. */
static size_t array_of(const char *member)
{
  char name[32];
  snprintf(name, sizeof name, "\"%s\":", member);
  return strtoul(find(find(text, "\"role\":\"estimate\""), name), NULL, 10);
}

/* ---- numbers in the page and in the CSV ---- */

START_TEST(page_holds_the_numbers)
{
  static const int counts[] = {1, 2, 3, 4, 100}; /* all ways a group of three bytes may end */
  for (size_t c = 0; c < 5; c++) {
    float t[100], mean[100], low[100], high[100];
    size_t plot;
    bramah_report_free(report);
    ck_assert_int_eq(bramah_report_new("Report", NULL, &report), BRAMAH_OK);
    plot = add_plot("p", "bar", 1e-5);
    for (int i = 0; i < counts[c]; i++)
      bramah_report_point(report, plot, BRAMAH_REPORT_ESTIMATE, 1e6 + 0.125 * i, 1e5 * i,
                          i == 2 ? none : 2e5);
    write_page();
    ck_assert_double_eq(strtod(find(text, "{\"t0\":"), NULL), 1e6);
    ck_assert_uint_eq(decode(array_of("t"), t, 100), (size_t)counts[c]);
    ck_assert_uint_eq(decode(array_of("mean"), mean, 100), (size_t)counts[c]);
    decode(array_of("low"), low, 100);
    decode(array_of("high"), high, 100);
    for (int i = 0; i < counts[c]; i++) {
      ck_assert_float_eq(t[i], 0.125f * (float)i);
      ck_assert_float_eq_tol(mean[i], (float)i, 1e-6f * (float)i + 1e-9f);
      if (i == 2) ck_assert(isnan(low[i]) && isnan(high[i]));
      if (i != 2) ck_assert_float_eq_tol(low[i], (float)i - 2.0f, 1e-4f);
      if (i != 2) ck_assert_float_eq_tol(high[i], (float)i + 2.0f, 1e-4f);
    }
  }
}
END_TEST

/* Series with the same times share them; others do not. */
START_TEST(times_are_shared)
{
  size_t plot;
  plot = add_plot("p", "m", 1.0);
  for (int i = 0; i < 10; i++) {
    bramah_report_point(report, plot, BRAMAH_REPORT_ESTIMATE, i, i, none);
    bramah_report_point(report, plot, BRAMAH_REPORT_TRUTH, i, i, none);
    if (i % 2) bramah_report_point(report, plot, BRAMAH_REPORT_MEASURED, i, i, none);
  }
  write_page();
  const size_t of_estimate = array_of("t");
  const size_t of_truth = strtoul(find(find(text, "\"role\":\"truth\""), "\"t\":"), NULL, 10);
  const size_t of_measured = strtoul(find(find(text, "\"role\":\"measured\""), "\"t\":"), NULL, 10);
  ck_assert_uint_eq(of_estimate, of_truth);
  ck_assert_uint_ne(of_estimate, of_measured);
}
END_TEST

START_TEST(data_as_csv)
{
  size_t plot;
  const bramah_report_plot look = {.title = "a, \"b\"", .unit = "bar", .factor = 1e-5};
  ck_assert_int_eq(bramah_report_add(report, &look, &plot), BRAMAH_OK);
  bramah_report_point(report, plot, BRAMAH_REPORT_ESTIMATE, 0.5, 3e5, 1e5);
  bramah_report_point(report, plot, BRAMAH_REPORT_MEASURED, 0.25, 4e5, none);
  ck_assert_int_eq(bramah_report_write_data(report, path_of("data.csv"), &diag), BRAMAH_OK);
  read_back();
  ck_assert_str_eq(text, "plot,unit,series,x,steps,min,mean,max,low,high\n"
                         "\"a, \"\"b\"\"\",bar,measured,0.25,1,4,4,4,,\n"
                         "\"a, \"\"b\"\"\",bar,estimate,0.5,1,3,3,3,2,4\n");
  ck_assert_int_eq(bramah_report_write_data(report, "/nonexistent/data.csv", &diag), BRAMAH_E_FILE);
}
END_TEST

/* Every point is told by the CSV, as its own row or within one. */
START_TEST(csv_tells_of_every_point)
{
  enum { N = 5 * BRAMAH__SAMPLES };
  size_t plot, points = 0;
  double max = 0.0;
  plot = add_plot("p", "1", 1.0);
  for (int i = 0; i < N; i++)
    bramah_report_point(report, plot, BRAMAH_REPORT_TRUTH, i, i == 31415 ? 99.0 : 1.0, none);
  bramah_report_write_data(report, path_of("data.csv"), &diag);
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
END_TEST

/* ---- sections, events, machine ---- */

START_TEST(sections_stand_in_their_order)
{
  const bramah_report_plot a = {.section = "First", .title = "a", .unit = "m", .factor = 1.0};
  const bramah_report_plot b = {.section = "Second", .title = "b", .unit = "m", .factor = 1.0};
  size_t n;
  ck_assert_int_eq(bramah_report_explain(report, "First", "What <this> is."), BRAMAH_OK);
  ck_assert_int_eq(bramah_report_explain(report, "Without plots", "nothing"), BRAMAH_OK);
  ck_assert_int_eq(bramah_report_add(report, &b, &n), BRAMAH_OK);
  ck_assert_int_eq(bramah_report_add(report, &a, &n), BRAMAH_OK);
  write_page();
  const char *first = find(text, "<h2>First</h2>\n<p class=\"text\">What &lt;this&gt; is.</p>");
  ck_assert(find(text, "<h2>Second</h2>") > first);
  ck_assert_ptr_null(strstr(text, "Without plots"));
}
END_TEST

START_TEST(events_by_their_time)
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
  find(
      text,
      "[1,\"gap\",\"a \\u003c/script> & \\u0022b\\u0022\"],\n[1,\"gate\",\"then\"],\n[2,\"gate\",\"later\"]");
  find(text, "\"kinds\":[[\"gate\",2],[\"gap\",1],[\"many\",1500]]");
  ck_assert_ptr_null(strstr(text, "not at any time"));
}
END_TEST

/* Of 10000 poses those at even distances are kept. */
START_TEST(poses_are_thinned_evenly)
{
  const bramah_skeleton_part parts[2] = {{BRAMAH_SKELETON_BODY, "boom"}, {BRAMAH_SKELETON_JOINT, "pin"}};
  static float t[BRAMAH__POSES], points[12 * BRAMAH__POSES];
  double pose[12] = {0};
  ck_assert_int_eq(bramah_report_pose(report, 0.0, pose), BRAMAH_E_ARGUMENT);
  ck_assert_int_eq(bramah_report_wants_pose(report), 0);
  ck_assert_int_eq(bramah_report_machine(report, 2, parts), BRAMAH_OK);
  ck_assert_int_eq(bramah_report_machine(report, 2, parts), BRAMAH_E_ARGUMENT);
  for (int i = 0; i < 10000; i++) {
    if (!bramah_report_wants_pose(report)) continue;
    for (int k = 0; k < 12; k++) pose[k] = i + 0.5 * k;
    ck_assert_int_eq(bramah_report_pose(report, i, pose), BRAMAH_OK);
  }
  write_page();
  const char *machine = find(text, "\"machine\":{\"parts\":[[1,\"boom\"],[8,\"pin\"]],\"n\":");
  const size_t n = strtoul(machine, NULL, 10);
  ck_assert_uint_gt(n, BRAMAH__POSES / 2);
  ck_assert_uint_eq(decode(strtoul(find(machine, "\"t\":"), NULL, 10), t, BRAMAH__POSES), n);
  ck_assert_uint_eq(decode(strtoul(find(machine, "\"points\":"), NULL, 10), points, 12 * BRAMAH__POSES),
                    12 * n);
  ck_assert(t[0] == 0.0f && t[n - 1] > 9990.0f);
  for (size_t i = 0; i < n; i++) {
    ck_assert_float_eq(t[i], (float)i * t[1]);
    for (size_t k = 0; k < 12; k++) ck_assert_float_eq(points[12 * i + k], t[i] + 0.5f * (float)k);
  }
}
END_TEST

/* ---- pictures ---- */

static void add_waves(void)
{
  static const char *const titles[] = {"first", "second", "third"};
  for (int p = 0; p < 3; p++) {
    size_t plot;
    plot = add_plot(titles[p], "deg", 1.0);
    for (int i = 0; i < 500; i++)
      bramah_report_point(report, plot, BRAMAH_REPORT_ESTIMATE, 0.01 * i, sin(0.02 * i), 0.1);
  }
}

START_TEST(svg_of_the_plots)
{
  add_waves();
  ck_assert_int_eq(bramah_report_write_picture(report, path_of("p.svg"), &diag), BRAMAH_OK);
  read_back();
  ck_assert_int_eq(strncmp(text, "<svg xmlns=\"http://www.w3.org/2000/svg\"", 39), 0);
  const char *first = find(text, ">first</text>"), *second = find(text, ">second</text>");
  ck_assert(first < second && second < find(text, ">third</text>"));
  ck_assert_ptr_null(strstr(text, "<script"));
  find(text, ">time [s]</text>");
  find(text, ">deg</text>");
  ck_assert_int_eq(bramah_report_write_picture(report, path_of("p.pdf"), &diag), BRAMAH_E_VALUE);
  ck_assert_int_eq(bramah_report_write_picture(report, "/nonexistent/p.svg", &diag), BRAMAH_E_FILE);
}
END_TEST

/* ---- suite ---- */

static TCase *samples_case(void)
{
  TCase *t = new_case("samples");
  tcase_add_checked_fixture(t, clear_samples, free_samples);
  tcase_add_test(t, samples_are_kept_as_they_are);
  tcase_add_test(t, many_points_make_a_sample);
  tcase_add_test(t, a_million_points);
  return t;
}

static TCase *files_case(void)
{
  TCase *t = new_case("files");
  tcase_add_checked_fixture(t, open_report, close_report);
  tcase_add_test(t, page_holds_the_numbers);
  tcase_add_test(t, times_are_shared);
  tcase_add_test(t, data_as_csv);
  tcase_add_test(t, csv_tells_of_every_point);
  tcase_add_test(t, sections_stand_in_their_order);
  tcase_add_test(t, events_by_their_time);
  tcase_add_test(t, poses_are_thinned_evenly);
  tcase_add_test(t, svg_of_the_plots);
  return t;
}

int main(void)
{
  Suite *suite = suite_create("report data");
  suite_add_tcase(suite, samples_case());
  suite_add_tcase(suite, files_case());
  return run_suite(suite);
}
