/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rows per second of the log reader: ten columns as different programs write them. With a study and logs of the same drive in
 * different formats (log_formats.sh): microseconds per row of a filter fed by each, beside the same filter fed from memory. Prints
 * what it ran on. Not a test: nothing here can fail for being slow. */
#define _GNU_SOURCE
#include "lib/logs/reader.h"
#include "bramah/replay.h"
#include "bramah/session.h"
#include "test/bench/bench.h"
#include "test/support/scratch.h"

#include <unistd.h>

enum { ROWS = 200000, COLUMNS = 10, RUNS = 5 };

typedef struct dialect {
  const char *name;
  char delimiter, decimal;
  int quoted, iso;
  size_t ignored; /* columns that nobody wants */
} dialect;

static bramah_diag diag;

static void must(bramah_status status)
{
  if (status == BRAMAH_OK) return;
  char text[1024];
  bramah_diag_format(&diag, text, sizeof text);
  fprintf(stderr, "%s\n", text);
  exit(1);
}

static void put_number(FILE *f, const dialect *d, double value)
{
  char text[32];
  snprintf(text, sizeof text, "%.10g", value);
  char *point = strchr(text, '.');
  if (point) *point = d->decimal;
  fprintf(f, d->quoted ? "\"%s\"" : "%s", text);
}

static void write_log(const char *path, const dialect *d)
{
  FILE *f = fopen(path, "w");
  if (!f) exit(1);
  fprintf(f, d->iso ? "t" : "t[s]");
  for (int i = 1; i < COLUMNS; i++) fprintf(f, "%cp%d[Pa]", d->delimiter, i);
  for (int row = 0; row < ROWS; row++) {
    fputc('\n', f);
    char text[40];
    bramah_log_time_text(INT64_C(1700000000000000000) + (int64_t)row * 1000000, text, sizeof text);
    if (d->iso)
      fputs(text, f);
    else
      put_number(f, d, 1e-3 * row);
    for (int i = 1; i < COLUMNS; i++) {
      fputc(d->delimiter, f);
      put_number(f, d, 3e6 + 123.4567 * ((row * 7 + i * 31) % 1009));
    }
  }
  fputc('\n', f);
  fclose(f);
}

/* Seconds of processor time for all rows; *megabytes read. */
static double read_log(const char *path, const dialect *d, double *megabytes)
{
  double values[COLUMNS], sum = 0.0;
  unsigned char present[COLUMNS];
  bramah_log_reader *reader;
  int end = 0, rows = 0;
  const double begin = bench_now();
  must(bramah_log_open(path, NULL, &diag, &reader));
  must(bramah__log_set_time(reader, 0, NULL, 0, &diag));
  for (size_t i = 0; i < d->ignored; i++) reader->columns[COLUMNS - 1 - i].ignored = 1;
  for (;;) {
    must(bramah_log_next(reader, values, present, &end, &diag));
    if (end) break;
    sum += values[1];
    rows++;
  }
  const double elapsed = bench_now() - begin;
  *megabytes = 1e-6 * (double)bramah_log_get_info(reader).bytes;
  bramah_log_close(reader);
  if (rows != ROWS || !(sum > 0.0)) exit(1);
  return elapsed;
}

/* ---- a filter fed by logs and from memory ---- */

enum { PIECE = 10000, MOST_LOGS = 8, WIDEST = 32 }; /* points of the filter that each source gets at a turn */

typedef struct row {
  int64_t time_ns;
  double inputs[WIDEST], y[WIDEST];
  unsigned char has_input[WIDEST], present[WIDEST];
} row;

typedef struct feed {
  bramah_session *session;
  bramah_log_stream *log;
  bramah_replay *replay;
  size_t n_input, n_sensors;
  row *rows; /* [PIECE] read ahead; NULL: rows come from the log as they are needed */
  size_t at, n;
  double elapsed, filling; /* processor time [s]; of it for reading ahead, which does not count */
  uint64_t points;
} feed;

static void fill(feed *f)
{
  const double begin = bench_now();
  int end = 0;
  for (f->at = f->n = 0; f->n < PIECE && !end; f->n += !end) {
    row *r = &f->rows[f->n];
    memset(r, 0, sizeof *r);
    bramah_sample sample = {.inputs = r->inputs, .has_input = r->has_input, .y = r->y, .present = r->present};
    must(bramah_log_stream_next(f->log, &sample, &end, &diag));
    r->time_ns = sample.time_ns;
  }
  f->filling += bench_now() - begin;
}

static bramah_status next_from_memory(void *user, bramah_sample *sample, int *end, bramah_diag *d)
{
  (void)d;
  feed *f = user;
  if (f->at == f->n) fill(f);
  *end = f->n == 0;
  if (*end) return BRAMAH_OK;
  const row *r = &f->rows[f->at++];
  sample->time_ns = r->time_ns;
  memcpy(sample->inputs, r->inputs, f->n_input * sizeof r->inputs[0]);
  memcpy(sample->has_input, r->has_input, f->n_input);
  memcpy(sample->y, r->y, f->n_sensors * sizeof r->y[0]);
  memcpy(sample->present, r->present, f->n_sensors);
  return BRAMAH_OK;
}

static void open_feed(feed *f, const char *study, const char *log, int from_memory)
{
  bramah_replay_options options;
  bramah_replay_options_default(&options);
  options.gather = 1; /* as `bramah replay` does */
  must(bramah_session_open(study, &diag, &f->session));
  must(bramah_log_stream_open(f->session, 1, &log, &diag, &f->log));
  f->n_input = bramah_session_plant(f->session)->n_input;
  f->n_sensors = bramah_session_study(f->session)->n_sensors;
  if (f->n_input > WIDEST || f->n_sensors > WIDEST) exit(1);
  if (from_memory && !(f->rows = malloc(PIECE * sizeof *f->rows))) exit(1);
  must(bramah_replay_new(bramah_session_filter(f->session), &options,
                         from_memory ? next_from_memory : bramah_log_stream_next,
                         from_memory ? (void *)f : f->log, &diag, &f->replay));
}

/* Returns 1 at the end. */
static int run_piece(feed *f)
{
  int64_t time_ns;
  int corrected, end = 0;
  const double begin = bench_now(), filled = f->filling;
  for (int i = 0; i < PIECE && !end; i++) {
    must(bramah_replay_next(f->replay, &time_ns, &corrected, &end, &diag));
    f->points += !end;
  }
  f->elapsed += bench_now() - begin - (f->filling - filled);
  return end;
}

/* Sources take turns, so that what else the computer does is shared by all. logs[0] is read into memory, too. */
static void feed_filter(const char *study, size_t n, char **logs)
{
  feed feeds[MOST_LOGS + 1] = {{0}};
  if (n > MOST_LOGS) exit(1);
  for (size_t i = 0; i <= n; i++) open_feed(&feeds[i], study, logs[i ? i - 1 : 0], i == 0);
  size_t ended = 0;
  for (size_t turn = 0; ended == 0; turn++)
    for (size_t i = 0; i <= n; i++) ended += (size_t)run_piece(&feeds[(i + turn) % (n + 1)]);
  if (ended != n + 1) {
    fprintf(stderr, "the logs are not of the same length\n");
    exit(1);
  }
  printf("%-28s %14s %10s %8s\n", "filter fed by", "rows", "us a row", "speed %");
  for (size_t i = 0; i <= n; i++) {
    feed *f = &feeds[i];
    printf("%-28s %14llu %10.3f %8.1f\n", i ? logs[i - 1] : "memory", (unsigned long long)f->points,
           1e6 * f->elapsed / (double)f->points, 100.0 * feeds[0].elapsed / f->elapsed);
  }
  for (size_t i = 0; i <= n; i++) {
    bramah_replay_free(feeds[i].replay);
    bramah_log_stream_close(feeds[i].log);
    bramah_session_close(feeds[i].session);
    free(feeds[i].rows);
  }
}

int main(int argc, char **argv)
{
  static const dialect dialects[] = {{"commas", ',', '.', 0, 0, 0},
                                     {"commas, half of it ignored", ',', '.', 0, 0, 5},
                                     {"semicolons, decimal commas", ';', ',', 0, 0, 0},
                                     {"tabs, ISO 8601", '\t', '.', 0, 1, 0},
                                     {"blanks", ' ', '.', 0, 0, 0},
                                     {"quotes", ',', '.', 1, 0, 0}};
  char path[SCRATCH_NAME];
  bench_print_machine();
  if (argc > 2) {
    feed_filter(argv[1], (size_t)argc - 2, argv + 2);
    return 0;
  }
  if (!scratch_file(path)) return 1;
  printf("%-28s %14s %10s\n", "ten columns", "rows/s", "MB/s");
  for (size_t k = 0; k < sizeof dialects / sizeof dialects[0]; k++) {
    double t[RUNS], megabytes = 0.0;
    write_log(path, &dialects[k]);
    for (int i = 0; i < RUNS; i++) t[i] = read_log(path, &dialects[k], &megabytes);
    const double median = bench_median(t, RUNS);
    printf("%-28s %14.0f %10.0f\n", dialects[k].name, ROWS / median, megabytes / median);
  }
  unlink(path);
  return 0;
}
