/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Displays: files and their mistakes, names against the machine, frames with the numbers of the filter, critical flags at the
 * rate of their probability. */
#define _GNU_SOURCE /* scratch files, locale_t */
#include "bramah/display.h"
#include "bramah/log.h"
#include "lib/display/display_parts.h"
#include "test/support/four_bar.h"
#include "test/support/run.h"
#include "test/support/text_file.h"

#include <math.h>
#include <string.h>

static bramah_diag diag;

static const char *root(void)
{
  const char *name = getenv("BRAMAH_SOURCE_ROOT");
  return name ? name : ".";
}

/* The shipped four-bar and its log. */
static bramah_session *session;
static bramah_log_stream *stream;
static bramah_assess *assess;

static void open_run(void)
{
  static char study[1024], log[1024];
  snprintf(study, sizeof study, "%s/datasets/four-bar/sensors-2.yaml", root());
  snprintf(log, sizeof log, "%s/datasets/four-bar/log.csv", root());
  const char *logs[] = {log};
  must(bramah_session_open(study, &diag, &session), &diag);
  must(bramah_log_stream_open(session, 1, logs, &diag, &stream), &diag);
  bramah_assess_options options;
  bramah_assess_options_default(&options);
  options.model_alone = 1;
  must(bramah_assess_new(session, bramah_log_stream_next, stream, &options, &diag, &assess), &diag);
}

static void close_run(void)
{
  bramah_assess_free(assess);
  bramah_log_stream_close(stream);
  bramah_session_close(session);
  assess = NULL;
  stream = NULL;
  session = NULL;
  remove_path();
}

enum { N_LINES = 8 };
static const char *const small[N_LINES] = {
    /* 1 */ "display: four-bar",
    /* 2 */ "gauges:",
    /* 3 */
    "  crank: {kind: dial, output: crank.angle, unit: deg, range: [0, 180], critical_above: 90, "
    "critical_probability: 1 %}",
    /* 4 */
    "  p2: {kind: bar, output: v2.pressure, unit: bar, range: [0, 200], marks: [50, 7 MPa], critical_below: "
    "1 bar, critical_above: 100}",
    /* 5 */ "  left: {kind: number, output: crank.rate, unit: deg/s, uncertain: 5, sensors: [crank_gyro]}",
    /* 6 */ "plots: [crank.angle]",
    /* 7 */ "shapes: {crank: [{kind: box, centre: [1, 0, 0 m], size: [2, 0.1, 0.1 m]}]}",
    /* 8 */ ""};

TEST(files)
{
  bramah_display_file *file;
  write_lines(small, N_LINES, 0, NULL);
  must(bramah_display_load(path, &diag, &file), &diag);
  ck_assert_str_eq(file->title, "four-bar");
  ck_assert_uint_eq(file->n_gauges, 3);
  const bramah_gauge *g = file->gauges;
  ck_assert_double_eq_tol(g[0].above, acos(-1.0) / 2, 1e-15);
  ck_assert(isinf(g[0].below) && isinf(g[0].most_sigma));
  ck_assert_double_eq(g[0].probability, 0.01);
  ck_assert_double_eq(g[1].range[1], 2e7);
  ck_assert_double_eq(g[1].marks[0], 5e6);
  ck_assert_double_eq(g[1].marks[1], 7e6);
  ck_assert_double_eq(g[1].below, 1e5);
  ck_assert_double_eq(g[1].probability, 0.05);
  ck_assert_double_eq_tol(g[2].most_sigma, acos(-1.0) / 36, 1e-15);
  ck_assert_uint_eq(file->bodies[0].n_shapes, 1);
  bramah_display_file_free(file);
}

/* Mistakes: line and what stands there instead, the status, where, a part of the message. */
static const struct {
  int line;
  const char *with;
  bramah_status status;
  int at_line, at_column;
  const char *says;
} mistakes[] = {
    {3, "  crank: {kind: dail, output: crank.angle, unit: deg, range: [0, 180]}", BRAMAH_E_VALUE, 3, 17,
     "did you mean 'dial'"},
    {3, "  crank: {kind: dial, output: crank.angle, unit: degg, range: [0, 180]}", BRAMAH_E_UNIT, 3, 50,
     "degg"},
    {3, "  crank: {kind: dial, output: crank.angle, unit: deg, range: [180, 0]}", BRAMAH_E_VALUE, 3, 62,
     "larger"},
    {3, "  crank: {kind: dial, output: crank.angle, unit: deg}", BRAMAH_E_KEY, 3, 3, "'range' is missing"},
    {3, "  crank: {kind: dial, output: crank.angle, range: [0, 180]}", BRAMAH_E_KEY, 3, 3,
     "'unit' is missing"},
    {3, "  crank: {kind: dial, output: crank.angle, unit: deg, range: [0, 5 bar]}", BRAMAH_E_UNIT, 3, 66,
     "an angle is expected"},
    {3, "  crank: {kind: number, output: crank.angle, unit: deg, critical_abov: 3}", BRAMAH_E_KEY, 3, 57,
     "critical_above"},
    {3, "  crank: {kind: lamp, output: crank.angle, unit: deg}", BRAMAH_E_KEY, 3, 3, "a lamp needs"},
    {3, "  crank: {kind: number, output: crank.angle, unit: deg, critical_probability: 3 %}", BRAMAH_E_KEY, 3,
     3, "needs critical_below"},
    {3, "  crank: {kind: number, output: a.b, unit: deg, critical_above: 3, critical_probability: 120 %}",
     BRAMAH_E_VALUE, 3, 90, "between 0 and 100"},
    {3, "  crank: {kind: number, output: a.b, unit: deg, critical_above: 3, critical_below: 4}",
     BRAMAH_E_VALUE, 3, 3, "all values"},
    {3, "  crank: {kind: text, output: a.b, unit: \"1\"}", BRAMAH_E_KEY, 3, 3, "'texts' is missing"},
    {3, "  crank: {kind: number, output: a.b, unit: deg, uncertain: -3}", BRAMAH_E_VALUE, 3, 60, "positive"},
    {5, "  left: {kind: number, output: crank.rate, unit: \"1\", scale: 2 m, tank: 3 kg}", BRAMAH_E_KEY, 5, 0,
     "scale"},
    {5, "  left: {kind: number, output: crank.rate, unit: m/s, scale: 0 m}", BRAMAH_E_VALUE, 5, 62, "zero"},
    {2, "guages:", BRAMAH_E_KEY, 2, 1, "gauges"},
};

EACH_TEST(mistakes_have_places, 0, sizeof mistakes / sizeof mistakes[0])
{
  bramah_display_file *file;
  write_lines(small, N_LINES, mistakes[_i].line, mistakes[_i].with);
  const bramah_status status = bramah_display_load(path, &diag, &file);
  ck_assert_msg(status == mistakes[_i].status && diag.line == mistakes[_i].at_line &&
                    (!mistakes[_i].at_column || diag.column == mistakes[_i].at_column) &&
                    strstr(diag.message, mistakes[_i].says),
                "status %d at %d:%d: %s", (int)status, diag.line, diag.column, diag.message);
}

static const struct {
  int line;
  const char *with;
  bramah_status status;
  int at_line;
  const char *says;
} misfits[] = {
    {3, "  crank: {kind: number, output: crank.angel, unit: deg}", BRAMAH_E_REFERENCE, 3,
     "no output 'crank.angel'; did you mean 'crank.angle'?"},
    {5, "  left: {kind: number, output: crank.rate, unit: deg}", BRAMAH_E_UNIT, 5,
     "'deg' does not fit 'crank.rate', which has rad/s"},
    {5, "  left: {kind: number, output: crank.rate, unit: deg/s, sensors: [crank_gyr]}", BRAMAH_E_REFERENCE,
     5, "did you mean 'crank_gyro'?"},
    {5, "  left: {kind: number, output: crank.rate, unit: km/h, scale: 2 m}", BRAMAH_E_UNIT, 5,
     "which has rad/s, by the scale"},
    {5, "  left: {kind: number, output: crank.rate, unit: \"%\", tank: 2 kg}", BRAMAH_E_UNIT, 5,
     "which has rad/s, as a share of the tank"},
    {6, "plots: [crank.angl]", BRAMAH_E_REFERENCE, 6, "did you mean 'crank.angle'?"},
    {7, "shapes: {crnk: [{kind: sphere, radius: 1 m}]}", BRAMAH_E_REFERENCE, 7,
     "no body 'crnk'; did you mean 'crank'?"},
};

EACH_TEST(misfits_have_places, 0, sizeof misfits / sizeof misfits[0])
{
  bramah_display_file *file;
  bramah_display *display;
  open_run();
  write_lines(small, N_LINES, misfits[_i].line, misfits[_i].with);
  must(bramah_display_load(path, &diag, &file), &diag);
  const bramah_status status = bramah_display_new(file, assess, &diag, &display);
  ck_assert_msg(status == misfits[_i].status && diag.line == misfits[_i].at_line &&
                    strstr(diag.message, misfits[_i].says),
                "status %d at %d: %s", (int)status, diag.line, diag.message);
  bramah_display_file_free(file);
}

/* Numbers of a list of a frame's text. */
static size_t list_of(const char *text, const char *name, size_t most, double *out)
{
  char key[64];
  snprintf(key, sizeof key, "\"%s\":[", name);
  const char *at = strstr(text, key);
  ck_assert_ptr_nonnull(at);
  size_t n = 0;
  for (at += strlen(key); n < most && *at != ']';) {
    char *end;
    out[n++] = strncmp(at, "null", 4) == 0 ? NAN : strtod(at, &end);
    at += strcspn(at, ",]");
    at += *at == ',';
  }
  return n;
}

static int same(double a, double b) { return a == b || (isnan(a) && isnan(b)); }

/* Frames have the filter's numbers to the last bit, and the probabilities of the normal distribution. */
TEST(frames)
{
  static char text[1 << 17];
  static double values[1000];
  bramah_display_file *file;
  bramah_display *display;
  bramah_display_frame *frame;
  open_run();
  write_lines(small, N_LINES, 0, NULL);
  must(bramah_display_load(path, &diag, &file), &diag);
  must(bramah_display_new(file, assess, &diag, &display), &diag);
  bramah_display_file_free(file);
  ck_assert_ptr_nonnull(strstr(bramah_display_description(display), "\"title\":\"four-bar\""));
  ck_assert_ptr_null(strchr(bramah_display_description(display), '\n'));
  must(bramah_display_frame_new(display, &diag, &frame), &diag);
  for (int k = 0; k < 300; k++) {
    int end = 0;
    must(bramah_assess_next(assess, &end, &diag), &diag);
    if (k % 33) continue;
    must(bramah_display_take(display, frame, &diag), &diag);
    const size_t n = bramah_display_frame_text(display, frame, text, sizeof text);
    ck_assert_uint_lt(n, sizeof text);
    ck_assert_uint_eq(n, strlen(text));
    const bramah_estimate *e = bramah_assess_estimate(assess);
    const bramah_assess_results *r = bramah_assess_get_results(assess);
    ck_assert_uint_eq(list_of(text, "values", 1000, values), r->n_outputs);
    for (size_t i = 0; i < r->n_outputs; i++) ck_assert(same(values[i], e->value[r->output[i].output]));
    ck_assert_uint_eq(list_of(text, "sigmas", 1000, values), r->n_outputs);
    for (size_t i = 0; i < r->n_outputs; i++) ck_assert(same(values[i], e->sigma[r->output[i].output]));
    ck_assert_uint_eq(list_of(text, "probability", 1000, values), 3);
    const size_t crank = (size_t)bramah_plant_find_output(bramah_session_plant(session), "crank.angle");
    const double z = (acos(-1.0) / 2 - e->value[crank]) / e->sigma[crank];
    ck_assert_double_eq_tol(values[0], 0.5 * erfc(z / sqrt(2.0)), 1e-14);
    ck_assert(values[1] >= 0 && values[1] <= 1 && isnan(values[2]));
    for (size_t i = 0; i < r->n_sensors; i++) ck_assert_int_eq(frame->sensor[i], BRAMAH_SENSOR_USED);
    ck_assert(frame->has_model);
    /* A text that is too long for its room ends where the room ends. */
    char little[16] = "untouched";
    ck_assert_uint_eq(bramah_display_frame_text(display, frame, little, sizeof little), n);
    ck_assert_uint_lt(strlen(little), sizeof little);
  }
  bramah_display_frame_free(frame);
  bramah_display_free(display);
}

/* Without a file there are numbers of what the filter knows, in units to read. */
TEST(made_of_outputs)
{
  bramah_display *display;
  bramah_display_frame *frame;
  open_run();
  must(bramah_display_new(NULL, assess, &diag, &display), &diag);
  const char *text = bramah_display_description(display), *gauge = strstr(text, "\"gauges\":[");
  ck_assert_ptr_nonnull(gauge);
  ck_assert_ptr_nonnull(
      strstr(gauge, "\"name\":\"crank.angle\",\"label\":\"crank.angle\",\"kind\":\"number\""));
  ck_assert_ptr_nonnull(strstr(gauge, "\"unit\":\"deg\""));
  ck_assert_ptr_nonnull(strstr(gauge, "\"name\":\"v3.pressure\""));
  must(bramah_display_frame_new(display, &diag, &frame), &diag);
  ck_assert_uint_ge(frame->n_gauges, 4);
  for (size_t g = 0; g < frame->n_gauges; g++) ck_assert(!isfinite(display->gauge[g].above));
  bramah_display_frame_free(frame);
  bramah_display_free(display);
}

/* A long run has every second frame, every fourth and so on, and keeps within what it may take. */
TEST(recordings_are_bounded)
{
  bramah_display *display;
  bramah_recording *recording;
  static char text[1 << 20];
  size_t n_frames = 0;
  open_run();
  must(bramah_display_new(NULL, assess, &diag, &display), &diag);
  must(bramah_recording_new(display, 20000, &diag, &recording), &diag);
  for (int k = 0, end = 0; k < 2000 && !end; k++) {
    must(bramah_assess_next(assess, &end, &diag), &diag);
    must(bramah_recording_add(recording, &diag), &diag);
  }
  must(bramah_recording_say(recording, 1.0, "note", "</script>", &diag), &diag);
  must(bramah_recording_write(recording, path, &diag), &diag);
  FILE *file = fopen(path, "r");
  ck_assert_ptr_nonnull(file);
  text[fread(text, 1, sizeof text - 1, file)] = '\0';
  fclose(file);
  const char *data = strstr(text, "id=\"recording\""), *last = NULL;
  ck_assert_ptr_nonnull(data);
  const char *end = strstr(data, "</script>");
  for (const char *at = data; (at = strstr(at, "{\"t\":")) && at < end; at++)
    n_frames += strncmp(strchr(at, ','), ",\"values\"", 9) == 0, last = at;
  ck_assert_uint_lt((size_t)(end - data), 20000 + 3 * strlen(bramah_display_description(display)));
  ck_assert_msg(n_frames >= 3 && n_frames < 40, "%zu frames", n_frames);
  ck_assert_double_gt(strtod(last + 5, NULL), 1.5); /* to the end of the run */
  ck_assert_ptr_null(strstr(data, "\"interval\":0.0333"));
  bramah_recording_free(recording);
  bramah_display_free(display);
}

TEST(probabilities)
{
  bramah__bound_gauge g = {.below = -INFINITY, .above = 1.0, .scale = 1.0};
  ck_assert_double_eq_tol(bramah__gauge_probability(&g, 0.0, 1.0), 0.15865525393145707, 1e-15);
  ck_assert_double_eq_tol(bramah__gauge_probability(&g, 0.0, 0.1), 7.619853024160489e-24, 1e-37);
  ck_assert_double_eq(bramah__gauge_probability(&g, 0.5, 0.0), 0.0);
  ck_assert_double_eq(bramah__gauge_probability(&g, 1.5, NAN), 1.0);
  g.below = -1.0;
  ck_assert_double_eq_tol(bramah__gauge_probability(&g, 0.0, 1.0), 0.31731050786291415, 1e-15);
  ck_assert_double_le(bramah__gauge_probability(&g, 0.0, 1e9), 1.0);
  ck_assert(isnan(bramah__gauge_probability(&g, NAN, 1.0)));
  /* A tank of 100 kg with 99.5 kg out of it, 0.5 kg: half a percent is left, which is one sigma below 1 %. */
  g = (bramah__bound_gauge){.below = 0.01, .above = INFINITY, .offset = 1.0, .scale = -0.01};
  ck_assert_double_eq_tol(bramah__gauge_probability(&g, 99.5, 0.5), 1.0 - 0.15865525393145707, 1e-12);
  g = (bramah__bound_gauge){.below = -INFINITY, .above = INFINITY, .scale = 1.0};
  ck_assert(isnan(bramah__gauge_probability(&g, 1.0, 1.0)));
}

/* Nothing that comes from outside can end a string, a script or a line. */
TEST(texts_are_escaped)
{
  char text[512];
  bramah_display_message_text(NAN, "a\"b", "</script><!--\n\t\\ \x7f \xc3\xa4 \xff \xed\xa0\x80 \xe2\x80\xa8",
                              text, sizeof text);
  ck_assert_str_eq(text, "{\"t\":null,\"kind\":\"a\\u0022b\",\"text\":\"\\u003c/"
                         "script\\u003e\\u003c!--\\u000a\\u0009\\u005c \\u007f \xc3\xa4 "
                         "\\ufffd \\ufffd\\ufffd\\ufffd \xe2\x80\xa8\"}");
  ck_assert_uint_eq(bramah_display_message_text(1.5, "k", "t", NULL, 0),
                    strlen("{\"t\":1.5,\"kind\":\"k\",\"text\":\"t\"}"));
}

/* ---- is it true what it says? ---- */

/* Short runs of a four-bar that is drawn as the filter has it: start, process noise and noise of the sensors. */
enum { RUNS = 500, STEPS = 24 };
typedef struct drawn_run {
  const bramah_session *session;
  bramah_coupled *truth;
  bramah_noise *noise;
  int row, last;              /* rows given so far, and in all */
  double state[STEPS + 1][5]; /* of the truth at each row: those outputs below */
  size_t output[5];
} drawn_run;

static const char *const judged[5] = {"crank.angle", "crank.rate", "v1.pressure", "v2.pressure",
                                      "v3.pressure"};

static bramah_status draw_row(void *user, bramah_sample *sample, int *end, bramah_diag *d)
{
  drawn_run *run = user;
  if (run->row > run->last) return *end = 1, BRAMAH_OK;
  const bramah_plant plant = bramah_coupled_plant(run->truth);
  const bramah_filter_info filter = bramah_filter_get_info(bramah_session_filter(run->session));
  double dx[8] = {0};
  bramah_status status = BRAMAH_OK;
  if (run->row == 0) {
    const double *P = bramah_filter_covariance(bramah_session_filter(run->session));
    for (size_t i = 0; i < filter.n_error; i++)
      dx[i] = bramah_noise_gaussian(run->noise, sqrt(P[i * filter.n_error + i]));
  } else {
    status = plant.step(plant.self, d);
    /* Gamma w, of the filter's step before: the motion is slow */
    const double *G = bramah_filter_get_last(bramah_session_filter(run->session)).noise;
    for (size_t j = 0; run->row > 1 && j < filter.n_noise; j++) {
      const double w = bramah_noise_gaussian(run->noise, 1.0);
      for (size_t i = 0; i < filter.n_error; i++) dx[i] += G[i * filter.n_noise + j] * w;
    }
  }
  if (!status) status = plant.inject(plant.self, dx, d);
  for (size_t k = 0; k < 5; k++) run->state[run->row][k] = plant.output(plant.self, run->output[k]);
  for (size_t i = 0; i < filter.n_sensors; i++) {
    static const size_t shown[3] = {0, 2, 3};
    sample->present[i] = 1;
    sample->y[i] = run->state[run->row][shown[i]] + bramah_noise_gaussian(run->noise, filter.sensor[i].sigma);
  }
  sample->inputs[0] = 0.0;
  sample->has_input[0] = 1;
  sample->time_ns = INT64_C(1000000) * run->row++;
  return status;
}

/* Of so many runs the truth is beyond the limit as often as the stated probabilities add up to, of those that are flagged too; and it
 * is within 1.96 sigma 95 times of 100. One frame of each run, so that all are independent; bounds at 4 standard deviations. */
TEST(what_it_says_is_true)
{
  static char machine[1024];
  snprintf(machine, sizeof machine, "machine: %s/datasets/four-bar/four-bar.yaml", root());
  const char *const lines[] = {"study: drawn",
                               machine,
                               "sensors:",
                               "  angle: {type: encoder, joint: crank, sigma: 0.5 deg}",
                               "  p1: {type: pressure, volume: v1, sigma: 0.5 bar}",
                               "  p2: {type: pressure, volume: v2, sigma: 0.5 bar}",
                               "uncertainty: {others: fixed}",
                               "joints:",
                               "  crank: {position: 63 deg, rate: 0 rad/s, position_sigma: 1 deg, "
                               "rate_sigma: 0.05 rad/s, acceleration_noise: 0.02 rad/s^2/Hz^0.5}",
                               "volumes:",
                               "  v1: {sigma: 1 bar, noise: 2 bar/s^0.5}",
                               "  v2: {sigma: 1 bar, noise: 2 bar/s^0.5}",
                               "  v3: {sigma: 1 bar, noise: 2 bar/s^0.5}"};
  const char *const gauges[] = {
      "display: drawn",
      "gauges:", "  crank: {kind: number, output: crank.angle, unit: deg, critical_above: 63.3}",
      "  p2: {kind: number, output: v2.pressure, unit: bar, critical_below: 1}",
      "scenario: {confidence: 80 %, tasks: {low: {instruction: Lower it, end: {crank.angle: {below: 63.3 "
      "deg}}}}}"};
  bramah_session *whole;
  bramah_display_file *file;
  drawn_run run = {0};
  double stated = 0, spread = 0, flagged_stated = 0, flagged_spread = 0;
  double done_stated = 0, done_spread = 0;
  int done = 0, done_true = 0;
  int beyond = 0, flags = 0, flagged_beyond = 0, between = 0, inside[5] = {0};
  write_lines(lines, 13, 0, NULL);
  must(bramah_session_open(path, &diag, &whole), &diag);
  write_lines(gauges, 5, 0, NULL);
  must(bramah_display_load(path, &diag, &file), &diag);
  must(bramah_noise_new(17, "drawn runs", &diag, &run.noise), &diag);
  for (size_t k = 0; k < 5; k++)
    run.output[k] = (size_t)bramah_plant_find_output(bramah_session_plant(whole), judged[k]);
  for (int r = 0; r < RUNS; r++) {
    bramah_session *one;
    bramah_assess *a;
    bramah_display *display;
    bramah_display_frame *frame;
    int end = 0;
    must(bramah_session_clone(whole, &diag, &one), &diag);
    must(bramah_machine_plant_another(bramah_session_about(whole)->machine, &diag, &run.truth), &diag);
    must(bramah_session_start(whole, run.truth, &diag), &diag);
    run.session = one;
    run.row = 0;
    run.last = 1 + r % STEPS;
    must(bramah_assess_new(one, draw_row, &run, NULL, &diag, &a), &diag);
    must(bramah_display_new(file, a, &diag, &display), &diag);
    must(bramah_display_frame_new(display, &diag, &frame), &diag);
    for (int k = 0; k <= run.last; k++) {
      const bramah_shown *row;
      must(bramah_assess_next(a, &end, &diag), &diag);
      for (size_t i = bramah_display_shown(display, &row); i-- > 0; row++) {
        if (row->kind != BRAMAH_SHOWN_DONE) continue;
        done++, done_stated += row->probability, done_spread += row->probability * (1 - row->probability);
        done_true += run.state[k][0] <= 63.3 * acos(-1.0) / 180;
      }
    }
    must(bramah_display_take(display, frame, &diag), &diag);
    const bramah_estimate *e = bramah_assess_estimate(a);
    for (size_t k = 0; k < 5; k++)
      inside[k] +=
          fabs(e->value[run.output[k]] - run.state[run.last][k]) <= 1.959964 * e->sigma[run.output[k]];
    const double p = frame->probability[0];
    const int is = run.state[run.last][0] > 63.3 * acos(-1.0) / 180;
    stated += p, spread += p * (1 - p), beyond += is;
    between += p > 0.02 && p < 0.98;
    if (p >= 0.05) flags++, flagged_beyond += is, flagged_stated += p, flagged_spread += p * (1 - p);
    bramah_display_frame_free(frame);
    bramah_display_free(display);
    bramah_assess_free(a);
    bramah_session_close(one);
    bramah_coupled_free(run.truth);
  }
  ck_assert_int_gt(between, RUNS / 10); /* else it says little */
  ck_assert_msg(fabs(beyond - stated) < 4 * sqrt(spread), "critical %d times of %d, stated %.1f +- %.1f",
                beyond, RUNS, stated, sqrt(spread));
  ck_assert_msg(flags > 50 && fabs(flagged_beyond - flagged_stated) < 4 * sqrt(flagged_spread),
                "flagged %d times, critical %d, stated %.1f +- %.1f", flags, flagged_beyond, flagged_stated,
                sqrt(flagged_spread));
  /* A task that was judged done, at the time when it was. */
  ck_assert_msg(done > RUNS / 5 && fabs(done_true - done_stated) < 4 * sqrt(done_spread),
                "%d tasks done, true of %d, stated %.1f +- %.1f", done, done_true, done_stated,
                sqrt(done_spread));
  for (size_t k = 0; k < 5; k++)
    ck_assert_msg(fabs(inside[k] - 0.95 * RUNS) < 4 * sqrt(0.95 * 0.05 * RUNS), "%s: inside %d times of %d",
                  judged[k], inside[k], RUNS);
  if (getenv("BRAMAH_NUMBERS"))
    printf("critical %d, stated %.1f +- %.1f; flagged %d, critical %d, stated %.1f +- %.1f; inside %d %d %d "
           "%d %d; done %d, true of %d, stated %.1f +- %.1f\n",
           beyond, stated, sqrt(spread), flags, flagged_beyond, flagged_stated, sqrt(flagged_spread),
           inside[0], inside[1], inside[2], inside[3], inside[4], done, done_true, done_stated,
           sqrt(done_spread));
  bramah_noise_free(run.noise);
  bramah_display_file_free(file);
  bramah_session_close(whole);
}

/* ---- soil ---- */

static void same_soil(const bramah_display_frame *a, const bramah_display_frame *b)
{
  ck_assert_uint_eq(a->n_cells, b->n_cells);
  ck_assert_uint_eq(a->n_particles, b->n_particles);
  ck_assert_mem_eq(a->cell, b->cell, a->n_cells * sizeof *a->cell);
  ck_assert_mem_eq(a->height, b->height, a->n_cells * sizeof *a->height);
  ck_assert_mem_eq(a->particle, b->particle, 3 * a->n_particles * sizeof *a->particle);
}

/* A display that is told by another process what the soil does shows what one beside the simulation does. */
TEST(soil_goes_from_one_process_to_another)
{
  enum { NX = 130, NY = 20, CELLS = NX * NY };
  static double height[CELLS];
  const bramah_change sand[] = {
      {"terrain",
       "{cells: [130, 20], cell: 0.1 m, origin: [20 m, 0 m], particles: {most: 50, radius: 60 mm}}", NULL, 0},
      {"tools",
       "{shovel: {body: crank, edge: [[2, -0.6, 0 m], [2, 0.6, 0 m]], profile: [[1.5, 0, 0.4 m], [1, 0, 0.4 "
       "m]]}}",
       NULL, 0}};
  char text[BRAMAH_DISPLAY_SOIL], short_text[40];
  bramah_machine_plant machine;
  bramah_soil_view *view;
  bramah_display *beside, *told;
  bramah_display_frame *here, *there;
  int end = 0;
  open_run();
  must(bramah_machine_plant_open(&machine, bramah_session_study(session)->machine_file, 2, sand, 0, &diag),
       &diag);
  must(bramah_machine_plant_dig(&machine, &diag), &diag);
  must(bramah_soil_view_new(&machine, &diag, &view), &diag);
  must(bramah_display_new(NULL, assess, &diag, &beside), &diag);
  must(bramah_display_new(NULL, assess, &diag, &told), &diag);
  ck_assert_int_eq(bramah_display_soil(told, "# soil 0 0\n"), 0); /* it stands on none */
  must(bramah_display_stand_on(beside, &machine, &diag), &diag);
  must(bramah_display_stand_on(told, &machine, &diag), &diag);
  ck_assert_str_eq(bramah_display_description(told), bramah_display_description(beside));
  must(bramah_display_frame_new(beside, &diag, &here), &diag);
  must(bramah_display_frame_new(told, &diag, &there), &diag);
  must(bramah_assess_next(assess, &end, &diag), &diag);
  bramah_terrain *terrain = bramah_worksite_terrain(machine.site);
  for (int k = 0; k < 4; k++) {
    for (int i = 0; i < CELLS; i++) height[i] += (i + k) % 7 ? 0.0 : 0.001 * (i % 50 - 25);
    must(bramah_terrain_set_heights(terrain, height, &diag), &diag);
    must(bramah_terrain_add_particle(terrain, (double[]){21.0 + k, 1.0, 0.3}, (double[]){0, 0, 0}, &diag),
         &diag);
    must(bramah_display_take(beside, here, &diag), &diag);
    const size_t n = bramah_soil_view_text(view, text, sizeof text);
    ck_assert(n < sizeof text && n == strlen(text) && text[n - 1] == '\n');
    ck_assert_int_eq(bramah_display_soil(told, text), 1);
    must(bramah_display_take(told, there, &diag), &diag);
    ck_assert(here->n_cells > 30 && here->n_particles == (size_t)k + 1);
    same_soil(here, there);
  }
  must(bramah_display_take(told, there, &diag), &diag); /* nothing new: cells only once */
  ck_assert(there->n_cells == 0 && there->n_particles == 4);
  ck_assert_uint_ge(bramah_soil_view_text(view, short_text, sizeof short_text), sizeof short_text);
  static const char *const wrong[] = {"",
                                      "# 17\n",
                                      "# soil",
                                      "# soil 1 0\n",
                                      "# soil -1 0\n",
                                      "# soil 601 0\n",
                                      "# soil 0 401\n",
                                      "# soil 1 0 999999 5\n",
                                      "# soil 0 1 1 2\n",
                                      "# soil 1 0 5 99999999999999\n",
                                      "# soil 1 0 -1 5\n"};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
    ck_assert_msg(!bramah_display_soil(told, wrong[i]), "%s", wrong[i]);
  bramah_display_frame_free(here);
  bramah_display_frame_free(there);
  bramah_display_free(beside);
  bramah_display_free(told);
  bramah_soil_view_free(view);
  bramah_machine_plant_close(&machine);
}

int main(void) { return run_tests_with("display", make_path, close_run); }
