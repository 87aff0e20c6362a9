/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Log streams from C: a study and its log through a filter, files merged, what was done about dirty rows, limits, and
 * what is refused. */
#define _GNU_SOURCE /* temporary files */
#include <math.h>

#include "bramah/replay.h"
#include "bramah/session.h"
#include "lib/logs/logs.h"
#include "lib/logs/reader.h"
#include "test/support/run.h"
#include "test/support/scratch.h"

#include <stddef.h>

enum { N_SENSORS = 2, ms = 1000000 };

static char folder[SCRATCH_NAME], study_path[SCRATCH_NAME + 16], path[4][SCRATCH_NAME + 16];
static const char *const paths[] = {path[0], path[1], path[2], path[3]};
static bramah_session *session;
static bramah_log_stream *stream;
static bramah_diag diag;

static const char *root(void)
{
  const char *text = getenv("BRAMAH_SOURCE_ROOT");
  return text ? text : ".";
}

static void begin(void)
{
  static const char *const names[] = {"a.csv", "b.csv", "c1.csv", "c2.csv"};
  ck_assert(scratch_folder(folder));
  snprintf(study_path, sizeof study_path, "%s/study.yaml", folder);
  for (int i = 0; i < 4; i++) snprintf(path[i], sizeof path[i], "%s/%s", folder, names[i]);
}

static void finish(void)
{
  bramah_log_stream_close(stream);
  bramah_session_close(session);
  unlink(study_path);
  for (int i = 0; i < 4; i++) unlink(path[i]);
  ck_assert_int_eq(rmdir(folder), 0);
}

static void put(const char *name, const char *text)
{
  FILE *f = fopen(name, "w");
  ck_assert_ptr_nonnull(f);
  ck_assert_int_ge(fputs(text, f), 0);
  ck_assert_int_eq(fclose(f), 0);
}

/* The shipped four-bar with two sensors and more sections, by line. */
static void open_session(const char *sections)
{
  char text[4096];
  snprintf(text, sizeof text,
           "study: stream\nmachine: %s/datasets/four-bar/four-bar.yaml\n"
           "sensors:\n"
           "  angle: {type: encoder, joint: crank, sigma: 1 deg}\n"
           "  p2: {type: pressure, volume: v2, sigma: 0.5 bar}\n"
           "joints:\n"
           "  crank: {position: 63 deg, rate: 0 rad/s, position_sigma: 3 deg, rate_sigma: 0.1 rad/s, "
           "acceleration_noise: 0.002 rad/s^2/Hz^0.5}\n"
           "volumes:\n"
           "  v1: {sigma: 1 bar, noise: 0.5 bar/s^0.5}\n"
           "  v2: {sigma: 1 bar, noise: 0.5 bar/s^0.5}\n"
           "  v3: {sigma: 1 bar, noise: 0.5 bar/s^0.5}\n%s\n",
           root(), sections);
  put(study_path, text);
  const bramah_status status = bramah_session_open(study_path, &diag, &session);
  ck_assert_msg(!status, "%d: %s: %s", diag.line, diag.thing, diag.message);
}

static void open_stream(size_t n)
{
  const bramah_status status = bramah_log_stream_open(session, n, paths, &diag, &stream);
  ck_assert_msg(!status, "%s:%d: %s: %s", diag.file, diag.line, diag.thing, diag.message);
}

static double u[1], y[N_SENSORS];
static unsigned char has_u[1], has_y[N_SENSORS];
static bramah_sample sample = {.inputs = u, .has_input = has_u, .y = y, .present = has_y};

static bramah_status next(int *end)
{
  memset(has_u, 0, sizeof has_u);
  memset(has_y, 0, sizeof has_y);
  return bramah_log_stream_next(stream, &sample, end, &diag);
}

/* Rows up to the end, or the error. */
static bramah_status read_all(uint64_t *rows)
{
  int end = 0;
  for (*rows = 0;; ++*rows) {
    const bramah_status status = next(&end);
    if (status || end) return status;
  }
}

/* ---- a study and its log through a filter ---- */

/* The last row of what `bramah replay` is known to give, by column. */
static double golden(const char *column)
{
  char name[SCRATCH_NAME];
  bramah_log_reader *reader;
  double values[64];
  unsigned char present[64];
  size_t index;
  int end = 0;
  snprintf(name, sizeof name, "%s/test/golden/four-bar-2.csv", root());
  ck_assert_int_eq(bramah_log_open(name, NULL, &diag, &reader), BRAMAH_OK);
  ck_assert_int_eq(bramah_log_find(reader, column, NULL, &index, &diag), BRAMAH_OK);
  double last = NAN;
  while (!bramah_log_next(reader, values, present, &end, &diag) && !end) last = values[index];
  bramah_log_close(reader);
  return last;
}

TEST(a_log_goes_through_the_filter_of_its_study)
{
  char study[SCRATCH_NAME], log[SCRATCH_NAME];
  const char *const logs[] = {log};
  bramah_replay_options options;
  bramah_replay *replay;
  bramah_log_device device;
  int64_t time_ns = 0, last_ns;
  int corrected, end = 0, line;
  snprintf(study, sizeof study, "%s/datasets/four-bar/sensors-2.yaml", root());
  snprintf(log, sizeof log, "%s/datasets/four-bar/log.csv", root());
  ck_assert_int_eq(bramah_session_open(study, &diag, &session), BRAMAH_OK);
  ck_assert_int_eq(bramah_log_stream_open(session, 1, logs, &diag, &stream), BRAMAH_OK);
  bramah_replay_options_default(&options);
  options.gather = 1;
  bramah_filter *filter = bramah_session_filter(session);
  ck_assert_int_eq(bramah_replay_new(filter, &options, bramah_log_stream_next, stream, &diag, &replay),
                   BRAMAH_OK);
  while (!end)
    ck_assert_msg(!bramah_replay_next(replay, &time_ns, &corrected, &end, &diag), "%s", diag.message);
  ck_assert_int_eq(time_ns, INT64_C(10000) * ms);
  ck_assert_str_eq(bramah_log_stream_place(stream, bramah_replay_get_report(replay).mark, &line), log);
  ck_assert_int_eq(line, 10002);
  bramah_replay_free(replay);
  static const char *const outputs[] = {"crank.angle", "crank.rate", "v2.pressure"};
  for (size_t i = 0; i < 3; i++) {
    const bramah_plant *plant = bramah_session_plant(session);
    const long k = bramah_plant_find_output(plant, outputs[i]);
    ck_assert_int_ge(k, 0);
    const double value = plant->output(plant->self, (size_t)k), expected = golden(outputs[i]);
    ck_assert_double_le(fabs(value - expected), 1e-6 * fabs(expected) + 1e-9);
  }
  device = bramah_log_stream_get_device(stream, 0);
  ck_assert_str_eq(device.name, "log.csv");
  ck_assert_uint_eq(device.counts.rows, 10001);
  ck_assert_int_eq(device.interval_ns, ms);
  ck_assert_uint_eq(bramah_log_stream_get_info(stream).rows, 10001);
  ck_assert_int_eq(bramah_log_stream_get_info(stream).is_touched, 0);
  ck_assert_double_eq(bramah_log_stream_get_info(stream).share, 1.0);
  ck_assert_int_eq(bramah_log_last_time(session, 1, logs, &last_ns, &diag), BRAMAH_OK);
  ck_assert_int_eq(last_ns, INT64_C(10000) * ms);
}

/* ---- several files ---- */

TEST(files_are_merged_by_time)
{
  static const struct {
    int64_t ms;
    double u, angle, p2; /* NaN: nothing */
    int file, line;
  } rows[] = {{0, 1, 0.5, 2e5, 0, 2},
              {1, 2, NAN, NAN, 0, 3},
              {2, NAN, NAN, 3e5, 2, 3},
              {3, 4, 0.25, 4e5, 0, 4},
              {4, NAN, NAN, 5e5, 3, 3}};
  bramah_log_feed column;
  bramah_log_device device;
  int end, line;
  open_session("log: {files: {motion: {match: a.csv}, flow: {match: 'c*.csv'}}}\n"
               "inputs: {valve: {column: volts, unit: mV}}");
  put(path[0], "t[s],volts,angle[rad]\n0,1000,0.5\n0.001,2000,\n0.003,4000,0.25\n");
  put(path[2], "t[ms],p2[bar]\n0,2\n2,3\n");
  put(path[3], "t[ms],p2[bar]\n3,4\n4,5\n");
  put(path[1], "t,nothing\n");
  const char *const names[] = {folder};
  ck_assert_int_eq(bramah_log_stream_open(session, 1, names, &diag, &stream), BRAMAH_OK);
  ck_assert_uint_eq(bramah_log_stream_get_info(stream).n_devices, 2);
  ck_assert_uint_eq(bramah_log_stream_get_info(stream).unused_files, 2); /* b.csv, study.yaml */
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    ck_assert_msg(!next(&end) && !end, "row %zu: %s", i, diag.message);
    ck_assert_int_eq(sample.time_ns, rows[i].ms * ms);
    ck_assert_int_eq(has_u[0], !isnan(rows[i].u));
    ck_assert_int_eq(has_y[0], !isnan(rows[i].angle));
    ck_assert_int_eq(has_y[1], !isnan(rows[i].p2));
    if (has_u[0]) ck_assert_double_eq_tol(u[0], rows[i].u, 1e-12);
    if (has_y[0]) ck_assert_double_eq(y[0], rows[i].angle);
    if (has_y[1]) ck_assert_double_eq_tol(y[1], rows[i].p2, 1e-6);
    ck_assert_str_eq(strrchr(bramah_log_stream_place(stream, sample.mark, &line), '/'),
                     strrchr(path[rows[i].file], '/'));
    ck_assert_int_eq(line, rows[i].line);
  }
  ck_assert(!next(&end) && end);
  device = bramah_log_stream_get_device(stream, 1);
  ck_assert_str_eq(device.entry, "flow");
  ck_assert_uint_eq(device.n_files, 2);
  ck_assert_uint_eq(device.counts.rows, 4);
  ck_assert_str_eq(strrchr(device.files[1], '/'), "/c2.csv");
  ck_assert(bramah_log_stream_get_feed(stream, 0, &column));
  ck_assert_str_eq(column.column, "volts");
  ck_assert_double_eq_tol(column.factor, 1e-3, 1e-15);
  ck_assert_uint_eq(column.held, 2);
  ck_assert(bramah_log_stream_get_feed(stream, 2, &column) && column.plain && column.device == 1);
  ck_assert(!bramah_log_stream_get_feed(stream, 3, &column));
  ck_assert(device.log.n_columns == 2 && !device.log.columns[0].ignored && !device.log.columns[1].ignored);
}

/* ---- dirty logs ---- */

#define HEAD "t[s],valve.command[V],angle[rad],p2[Pa]\n"

static const struct {
  const char *log, *rows; /* section, rows behind the header */
  uint64_t given, read;
  size_t event; /* of the counts */
  uint64_t n;
  int line;
} dirty[] = {
#define EVENT(name) offsetof(bramah_log_counts, name)
    {"", "0,1,0,1\n.001,1,0,1\n.001,1,0,1\n.002,1,0,1\n", 3, 4, EVENT(repeated), 1, 4},
    {"", "0,1,,1\n0,1,.5,1\n.001,1,0,1\n", 2, 3, EVENT(merged), 1, 3},
    {"log: {reorder: 5 ms}", "0,1,0,1\n.002,1,0,1\n.001,1,0,1\n.003,1,0,1\n", 4, 4, EVENT(late), 1, 4},
    {"log: {resets: join}", "5,1,0,1\n5.001,1,0,1\n0,1,0,1\n.001,1,0,1\n", 4, 4, EVENT(resets), 1, 4},
    {"", "0,1,0,1\n.001,1,0,1\n.002,1,0,1\n.006,1,0,1\n.007,1,0,1\n", 5, 5, EVENT(gaps), 1, 4},
    {"log: {bad_cells: skip}", "0,1,x,1\n.001,1,0,y\n", 2, 2, EVENT(bad_cells), 2, 2},
    {"log: {bad_rows: skip}", "0,1,0,1\n.001,1,0\n,1,0,1\n.002,1,0,1\n", 2, 2, EVENT(bad_rows), 1, 3},
    {"log: {bad_rows: skip}", "0,1,0,1\n.001,1,0\n,1,0,1\n.002,1,0,1\n", 2, 2, EVENT(no_time), 1, 4},
    {"", "0,1,0,1\n.001,1,0,1", 2, 2, EVENT(cut), 1, 3},
};

EACH_TEST(dirty_rows_are_counted, 0, sizeof dirty / sizeof dirty[0])
{
  char text[512];
  uint64_t rows;
  bramah_log_device device;
  int line;
  open_session(dirty[_i].log);
  snprintf(text, sizeof text, HEAD "%s", dirty[_i].rows);
  put(path[0], text);
  open_stream(1);
  ck_assert_msg(!read_all(&rows), "%s", diag.message);
  ck_assert_uint_eq(rows, dirty[_i].given);
  device = bramah_log_stream_get_device(stream, 0);
  ck_assert_uint_eq(device.counts.rows, dirty[_i].read);
  const bramah_log_event *event =
      (const bramah_log_event *)(const void *)((const char *)&device.counts + dirty[_i].event);
  ck_assert_uint_eq(event->n, dirty[_i].n);
  bramah_log_stream_place(stream, event->mark, &line);
  ck_assert_int_eq(line, dirty[_i].line);
  const int harmless = dirty[_i].event == EVENT(gaps) || dirty[_i].event == EVENT(cut);
  ck_assert_int_eq(bramah_log_stream_get_info(stream).is_touched, !harmless);
}

/* ---- mistakes ---- */

static const struct {
  const char *sections, *a, *b; /* files; NULL: none */
  bramah_status status;
  const char *message;
  int line;
} mistakes[] = {
    {"", "t[s],valve.command[V],angle[rad]\n0,1,0\n", NULL, BRAMAH_E_COLUMN, "(wanted for sensor p2)", 1},
    {"", "t[s],angle[rad],p2[Pa]\n0,1,0\n", NULL, BRAMAH_E_COLUMN, "if nobody recorded it", 1},
    {"", "t[s],valve.command[V],angle[V],p2[Pa]\n", NULL, BRAMAH_E_UNIT, "the column is in V", 1},
    {"", "u[s],valve.command[V],angle[rad],p2[Pa]\n", NULL, BRAMAH_E_COLUMN, "(wanted for the time)", 1},
    {"", HEAD "0,1,0,1\n", HEAD ",1\n", BRAMAH_E_SYNTAX, "2 cells where the header has 4", 2},
    {"", HEAD "0,1,0,1\n", "t[s],angle[rad]\n0,1\n", BRAMAH_E_COLUMN, "has a column of that name too", 0},
    {"", HEAD "0,1,0,1\n.002,1,0,1\n.001,1,0,1\n", NULL, BRAMAH_E_TIME, "time does not go forward", 4},
    {"", HEAD "0,1,0,1\n0,1,0,2\n", NULL, BRAMAH_E_TIME, "but there 'p2' is 1 and here 2", 3},
    {"", HEAD "0,1,0,1\n,1,0,1\n", NULL, BRAMAH_E_TIME, "the time of this row is missing", 3},
    {"", HEAD "0,1,0,1\n0.001,1,0,1e999\n", NULL, BRAMAH_E_NOT_FINITE, "not a finite number", 3},
    {"log: {resets: join}", HEAD "5,1,0,1\n5.001,1,0,1\n0,1,0,1\n5.002,1,0,1\n", NULL, BRAMAH_E_TIME,
     "no clock that began anew", 4},
    {"time: {offset: 1e15 s}", HEAD "0,1,0,1\n", NULL, BRAMAH_E_VALUE, "more than a clock can show", 12},
    {"time: {origin: 2024-03-05T12:34:56Z}", HEAD "0,1,0,1\n", NULL, BRAMAH_E_VALUE, "a date, but", 12},
    {"", HEAD, NULL, BRAMAH_E_EMPTY, "a header but no rows", 0},
};

/* Opening or reading ends with the mistake and its place. */
EACH_TEST(mistakes_have_their_place, 0, sizeof mistakes / sizeof mistakes[0])
{
  bramah_status status;
  uint64_t rows;
  open_session(mistakes[_i].sections);
  put(path[0], mistakes[_i].a);
  if (mistakes[_i].b) put(path[1], mistakes[_i].b);
  status = bramah_log_stream_open(session, mistakes[_i].b ? 2 : 1, paths, &diag, &stream);
  ck_assert(status ? stream == NULL : stream != NULL);
  if (!status) status = read_all(&rows);
  ck_assert_msg(status == mistakes[_i].status && strstr(diag.message, mistakes[_i].message), "%d %s", status,
                diag.message);
  ck_assert_int_eq(diag.line, mistakes[_i].line);
  ck_assert(diag.file[0]);
}

static void count(void *user, const bramah_diag *mistake)
{
  ck_assert(mistake->status != BRAMAH_OK && mistake->message[0]);
  ++*(int *)user;
}

/* Once as the study scales it, once in SI, in the file that follows, too. */
TEST(two_may_use_one_column)
{
  int end;
  open_session("inputs: {valve: {column: p2, scale: 0.1 V/bar}}");
  put(path[0], "t[s],angle[rad],p2[bar]\n0,1,30\n");
  put(path[1], "t[s],angle[rad],p2[bar]\n0.001,1,20\n");
  open_stream(2);
  for (int i = 0; i < 2; i++) {
    ck_assert_int_eq(next(&end), BRAMAH_OK);
    ck_assert_double_eq_tol(u[0], 3.0 - i, 1e-12);
    ck_assert_double_eq_tol(y[1], 30e5 - 10e5 * i, 1e-6);
  }
}

TEST(every_mistake_in_the_columns_is_reported)
{
  int n = 0;
  uint64_t rows;
  open_session("");
  put(path[0], "t[s],angle[V]\n0,1\n1,2\n");
  ck_assert_int_eq(bramah_log_stream_open_for(bramah_session_study(session), bramah_session_plant(session),
                                              bramah_session_about(session)->sensors, 1, paths, count, &n,
                                              NULL, &stream),
                   BRAMAH_OK);
  ck_assert_int_eq(n, 3); /* the command, the unit of the angle, p2 */
  ck_assert(!read_all(&rows) && rows == 2);
  bramah_log_stream_close(stream);
  put(path[0], "u,angle[rad]\n0,1\n");
  n = 0;
  ck_assert_int_eq(bramah_log_stream_open_for(bramah_session_study(session), bramah_session_plant(session),
                                              bramah_session_about(session)->sensors, 1, paths, count, &n,
                                              NULL, &stream),
                   BRAMAH_E_COLUMN);
  ck_assert_ptr_null(stream);
  ck_assert_int_eq(n, 3); /* the time, the command, p2 */
  ck_assert_int_eq(bramah_log_last_time(session, 1, (const char *const[]){"-"}, &(int64_t){0}, &diag),
                   BRAMAH_E_UNSUPPORTED);
}

/* ---- limits ---- */

TEST(limits_keep_the_commands_before_them)
{
  uint64_t rows;
  int end;
  open_session("");
  put(path[0], HEAD "0,1,0,1\n.001,3,0,1\n.002,,0,1\n.003,5,0,1\n");
  open_stream(1);
  bramah_log_stream_limit(stream, 2 * ms, INT64_MAX);
  ck_assert(!next(&end) && !end);
  ck_assert_int_eq(sample.time_ns, 2 * ms);
  ck_assert(has_u[0] && u[0] == 3.0);
  ck_assert(!read_all(&rows) && rows == 1);
  ck_assert_uint_eq(bramah_log_stream_get_info(stream).skipped, 2);
  bramah_log_stream_close(stream);

  open_stream(1);
  bramah_log_stream_limit(stream, 4 * ms, INT64_MAX);
  ck_assert_int_eq(read_all(&rows), BRAMAH_E_EMPTY);
  ck_assert_ptr_nonnull(strstr(diag.message, "the log ends at 0.003 s"));
  bramah_log_stream_close(stream);

  open_stream(1);
  ck_assert_int_eq(bramah__log_stream_resume(stream, ms, 7, 0, NULL, &diag), BRAMAH_OK);
  ck_assert(!read_all(&rows) && rows == 2);
  ck_assert_uint_eq(bramah_log_stream_get_info(stream).used_before, 2);
  ck_assert_uint_eq(bramah_log_stream_get_info(stream).skipped, 7);
}

TEST(a_log_that_begins_elsewhere_is_not_gone_on_with)
{
  uint64_t rows;
  bramah_log_device device;
  open_session("time: {origin: first}");
  put(path[0], HEAD "5,1,0,1\n5.001,3,0,1\n");
  open_stream(1);
  ck_assert(!read_all(&rows) && sample.time_ns == ms);
  device = bramah_log_stream_get_device(stream, 0);
  ck_assert_int_eq(device.start_ns, INT64_C(5000) * ms);
  for (int other = 0; other < 2; other++) {
    bramah_log_stream_close(stream);
    open_stream(1);
    const int64_t start = device.start_ns + other;
    ck_assert_int_eq(bramah__log_stream_resume(stream, 0, 0, 1, &start, &diag), BRAMAH_OK);
    ck_assert_int_eq(read_all(&rows), other ? BRAMAH_E_TIME : BRAMAH_OK);
  }
}

static int after_two(void *user) { return ++*(int *)user >= 3; }

TEST(a_stopped_log_ends)
{
  int calls = 0;
  uint64_t rows;
  open_session("");
  put(path[0], HEAD "0,1,0,1\n.001,1,0,1\n.002,1,0,1\n.003,1,0,1\n");
  open_stream(1);
  bramah_log_stream_limit(stream, 10 * ms, INT64_MAX);
  bramah_log_stream_stop(stream, after_two, &calls);
  ck_assert(!read_all(&rows) && rows == 0);
  ck_assert_int_eq(calls, 3);
  bramah_log_stream_close(stream);
  put(path[0], HEAD "0,1,0,1\n.001,1,0,1\n0,broken\n");
  open_stream(1);
  calls = 0;
  bramah_log_stream_stop(stream, after_two, &calls);
  ck_assert(!read_all(&rows) && rows == 2); /* the third row is no mistake */
}

/* ---- simulated logs ---- */

EACH_TEST(a_simulated_log_is_read_back, 0, 2)
{
  static const char *const sections[] = {
      "", "inputs: {valve: {column: volts, unit: counts, scale: 0.01 V, offset: 1 V}}"};
  const double command = 2.0;
  bramah__simulated_log *log;
  int end;
  open_session(sections[_i]);
  const bramah_plant *plant = bramah_session_plant(session);
  for (int file = 0; file < 2; file++) {
    ck_assert_msg(!bramah__simulated_log_new(bramah_session_study(session), plant, 7, &diag, &log), "%s",
                  diag.message);
    ck_assert_msg(!bramah__simulated_log_create(log, path[file], 10, &diag), "%s", diag.message);
    for (uint64_t k = 0; k < 3; k++)
      ck_assert_int_eq(bramah__simulated_log_row(log, k, (int64_t)k * plant->step_ns, &command, &diag),
                       BRAMAH_OK);
    const bramah_simulated_sensor sensor = bramah__simulated_log_sensors(log)[1];
    ck_assert_uint_eq(sensor.samples, 3);
    ck_assert_int_eq(sensor.period_ns, sensor.wanted_period_ns);
    ck_assert_int_eq(bramah__simulated_log_close(log, &diag), BRAMAH_OK);
  }
  double first[3];
  for (int file = 0; file < 2; file++) {
    ck_assert_int_eq(bramah_log_stream_open(session, 1, &paths[file], &diag, &stream), BRAMAH_OK);
    for (int k = 0; k < 3; k++) {
      ck_assert_msg(!next(&end) && !end, "%s", diag.message);
      ck_assert_int_eq(sample.time_ns, k * plant->step_ns);
      ck_assert_double_eq_tol(u[0], command, 1e-12);
      const bramah_sensor *p2 = &bramah_session_about(session)->sensors[1];
      ck_assert_double_le(fabs(y[1] - bramah_sensor_predict(p2, plant)), 5.0 * p2->sigma);
      if (!file) first[k] = y[1];
      ck_assert_double_eq(y[1], first[k]); /* the same seed */
    }
    ck_assert(first[0] != first[1]);
    ck_assert(!next(&end) && end);
    if (!file) bramah_log_stream_close(stream);
  }
}

int main(void) { return run_tests_with("log_stream", begin, finish); }
