/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rows per second of the log reader: ten columns as different programs write them. Prints what it ran on. Not
 * a test: nothing here can fail for being slow. */
#define _GNU_SOURCE
#include "lib/logs/reader.h"
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
  fprintf(stderr, "%s\n", diag.message);
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

int main(void)
{
  static const dialect dialects[] = {{"commas", ',', '.', 0, 0, 0},
                                     {"commas, half of it ignored", ',', '.', 0, 0, 5},
                                     {"semicolons, decimal commas", ';', ',', 0, 0, 0},
                                     {"tabs, ISO 8601", '\t', '.', 0, 1, 0},
                                     {"blanks", ' ', '.', 0, 0, 0},
                                     {"quotes", ',', '.', 1, 0, 0}};
  char path[SCRATCH_NAME];
  if (!scratch_file(path)) return 1;
  bench_print_machine();
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
