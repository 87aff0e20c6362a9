/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A study and the files of a log, separated by lines that begin with "=====": rows of all files come out
 * merged by time, every number finite, with a place that exists; and a second time the same. */
#define _GNU_SOURCE /* memmem */
#include "bramah/study.h"
#include "lib/cli/log_source.h"
#include "test/fuzz/four_bar.h"
#include "test/fuzz/fuzz.h"

#include <math.h>
#include <string.h>

enum { MOST_SENSORS = 32, MOST_INPUTS = 8 };

typedef struct input {
  const char *study;
  const char *file[FUZZ_PARTS];
  size_t n;
  int lines; /* of all */
} input;

/* What came out. */
typedef struct outcome {
  bramah_status status;
  uint64_t rows, hash;
  bramah_diag diag;
} outcome;

/* What stands before the next mark, which is passed. */
static size_t take_part(const uint8_t **data, size_t *size)
{
  static const char mark[] = "\n=====";
  const uint8_t *begin = *data, *end = memmem(begin, *size, mark, sizeof mark - 1);
  const size_t length = end ? (size_t)(end - begin) + 1 : *size;
  const uint8_t *line_end = end ? memchr(end + 1, '\n', *size - length) : NULL;
  *size = line_end ? *size - (size_t)(line_end + 1 - begin) : 0;
  *data = line_end ? line_end + 1 : begin;
  return length;
}

static input split(const uint8_t *data, size_t size)
{
  input in = {.lines = fuzz_lines(data, size)};
  const uint8_t *part = data;
  size_t length = take_part(&data, &size);
  in.study = fuzz_file(part, length);
  while (size && in.n < FUZZ_PARTS) {
    part = data;
    length = take_part(&data, &size);
    in.file[in.n] = fuzz_part(in.n, part, length);
    in.n++;
  }
  return in;
}

static void mix(outcome *o, const void *bytes, size_t n)
{
  const unsigned char *b = bytes;
  for (size_t i = 0; i < n; i++) o->hash = (o->hash ^ b[i]) * UINT64_C(0x100000001b3) + 1;
}

static bramah_status bind(cli_log_source *source, const bramah_study *study, bramah_diag *diag)
{
  bramah_status status = BRAMAH_OK;
  for (size_t k = 0; !status && k < source->n_streams; k++)
    status = cli_log_source_find_time(source, k, diag);
  for (size_t i = 0; !status && i < source->n_inputs; i++)
    status = cli_log_source_find_input(source, bramah_model_input_name(fuzz_four_bar_model(), i), i, diag);
  for (size_t i = 0; !status && i < source->n_sensors; i++) {
    bramah_sensor sensor;
    status = bramah_sensor_init(&study->sensors[i], fuzz_four_bar(), diag, &sensor);
    if (!status) status = cli_log_source_find_sensor(source, &sensor, i, diag);
  }
  return status;
}

static void check_sample(const cli_log_source *source, const bramah_sample *s, const input *in)
{
  for (size_t i = 0; i < source->n_inputs; i++)
    if (s->has_input[i]) FUZZ_CHECK(isfinite(s->inputs[i]), "input %zu is %g", i, s->inputs[i]);
  for (size_t i = 0; i < source->n_sensors; i++) {
    if (s->present[i]) FUZZ_CHECK(isfinite(s->y[i]), "sensor %zu is %g", i, s->y[i]);
    FUZZ_CHECK(s->present[i] ? source->y[i] == s->y[i] : isnan(source->y[i]), "y %zu", i);
  }
  const int line = cli_log_source_line(source, source->mark);
  FUZZ_CHECK(cli_log_mark_path(source->mark) < in->n && line > 0 && line <= in->lines, "line %d", line);
}

static void read_rows(cli_log_source *source, const input *in, outcome *o)
{
  double inputs[MOST_INPUTS], y[MOST_SENSORS];
  unsigned char has[MOST_INPUTS], present[MOST_SENSORS];
  bramah_sample s = {.inputs = inputs, .has_input = has, .y = y, .present = present};
  int64_t before = INT64_MIN;
  int end = 0;
  for (;;) {
    memset(has, 0, sizeof has);
    memset(present, 0, sizeof present);
    memset(y, 0, sizeof y);
    memset(inputs, 0, sizeof inputs);
    o->status = cli_log_source_next(source, &s, &end, &o->diag);
    if (o->status || end) return;
    FUZZ_CHECK(!o->rows || s.time_ns > before, "%lld ns after %lld", (long long)s.time_ns, (long long)before);
    before = s.time_ns;
    check_sample(source, &s, in);
    mix(o, &s.time_ns, sizeof s.time_ns);
    mix(o, inputs, source->n_inputs * sizeof *inputs);
    mix(o, y, source->n_sensors * sizeof *y);
    o->rows++;
  }
}

/* No row of the files is lost without being counted. */
static void check_counts(const cli_log_source *source, const outcome *o)
{
  uint64_t read = 0, dropped = 0;
  for (size_t k = 0; k < source->n_streams; k++) {
    const cli_log_counts *c = &source->streams[k].counts;
    read += c->rows;
    dropped += c->repeated.n + c->merged.n;
    FUZZ_CHECK(source->streams[k].clock.wraps <= c->rows, "wraps");
    FUZZ_CHECK(c->late.n <= c->rows && c->gaps.n <= c->rows && c->resets.n <= c->rows, "counts");
  }
  FUZZ_CHECK(o->rows + dropped <= read, "%zu rows given of %zu", (size_t)o->rows, (size_t)read);
  if (!o->status && source->n_streams == 1)
    FUZZ_CHECK(o->rows + dropped == read, "%zu rows given, %zu dropped of %zu", (size_t)o->rows,
               (size_t)dropped, (size_t)read);
}

static outcome read_all(const bramah_study *study, const input *in)
{
  outcome o = {0};
  cli_log_source source = {0};
  bramah_diag_clear(&o.diag);
  o.status = cli_log_source_open(&source, study, in->n, in->file, fuzz_four_bar()->n_input, study->n_sensors,
                                 &o.diag);
  if (!o.status) o.status = bind(&source, study, &o.diag);
  if (!o.status) {
    read_rows(&source, in, &o);
    check_counts(&source, &o);
    (void)cli_log_source_is_touched(&source);
    const double share = cli_log_source_share(&source);
    FUZZ_CHECK(isnan(share) || (share >= 0.0 && share <= 1.0), "share %g", share);
  }
  cli_log_source_close(&source);
  return o;
}

/* It stands in the study or in one of the files. */
static void check_place(const outcome *o, const input *in)
{
  const bramah_diag *d = &o->diag;
  fuzz_check_diag(d, o->status, d->file, in->lines);
  int known = !d->file[0] || strcmp(d->file, in->study) == 0;
  for (size_t i = 0; i < in->n; i++) known |= strcmp(d->file, in->file[i]) == 0;
  FUZZ_CHECK(known, "file '%s'", d->file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  const input in = split(data, size);
  bramah_study *study = NULL;
  FUZZ_CHECK(fuzz_four_bar()->n_input <= MOST_INPUTS, "inputs");
  if (!in.n || bramah_study_load(in.study, NULL, &study)) return 0;
  if (study->n_sensors <= MOST_SENSORS) {
    const outcome first = read_all(study, &in), second = read_all(study, &in);
    if (first.status) check_place(&first, &in);
    FUZZ_CHECK(first.status == second.status && first.rows == second.rows && first.hash == second.hash,
               "read twice, not the same");
    if (first.status) fuzz_check_same_diag(&first.diag, &second.diag);
  }
  bramah_study_free(study);
  return 0;
}
