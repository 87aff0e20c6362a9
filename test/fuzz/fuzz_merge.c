/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A study and the files of a log, separated by lines that begin with "=====": rows of all files come out
 * merged by time, every number finite, with a place that exists; and a second time the same. */
#define _GNU_SOURCE /* memmem */
#include "bramah/study.h"
#include "bramah/log.h"
#include "bramah/replay.h"
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

/* What is before the next mark, which is passed. */
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

/* A stream and the numbers of its inputs and sensors. */
typedef struct opened {
  bramah_log_stream *stream;
  bramah_sensor sensors[MOST_SENSORS];
  size_t n_inputs, n_sensors;
} opened;

static bramah_status open_stream(opened *o, const bramah_study *study, const input *in, bramah_diag *diag)
{
  bramah_status status = BRAMAH_OK;
  o->n_inputs = fuzz_four_bar()->n_input;
  o->n_sensors = study->n_sensors;
  for (size_t i = 0; !status && i < o->n_sensors; i++)
    status = bramah_sensor_init(&study->sensors[i], fuzz_four_bar(), diag, &o->sensors[i]);
  if (status) return status;
  return bramah_log_stream_open_for(study, fuzz_four_bar(), o->sensors, in->n, in->file, NULL, NULL, diag,
                                    &o->stream);
}

static void check_sample(const opened *o, const bramah_sample *s, const input *in)
{
  int line, known = 0;
  for (size_t i = 0; i < o->n_inputs; i++)
    if (s->has_input[i]) FUZZ_CHECK(isfinite(s->inputs[i]), "input %zu is %g", i, s->inputs[i]);
  for (size_t i = 0; i < o->n_sensors; i++)
    if (s->present[i]) FUZZ_CHECK(isfinite(s->y[i]), "sensor %zu is %g", i, s->y[i]);
  const char *path = bramah_log_stream_place(o->stream, s->mark, &line);
  for (size_t i = 0; i < in->n; i++) known |= strcmp(path, in->file[i]) == 0;
  FUZZ_CHECK(known && line > 0 && line <= in->lines, "%s line %d", path, line);
}

static void read_rows(opened *from, const input *in, outcome *o)
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
    o->status = bramah_log_stream_next(from->stream, &s, &end, &o->diag);
    if (o->status || end) return;
    FUZZ_CHECK(!o->rows || s.time_ns > before, "%lld ns after %lld", (long long)s.time_ns, (long long)before);
    before = s.time_ns;
    check_sample(from, &s, in);
    mix(o, &s.time_ns, sizeof s.time_ns);
    mix(o, inputs, from->n_inputs * sizeof *inputs);
    mix(o, y, from->n_sensors * sizeof *y);
    o->rows++;
  }
}

/* No row of the files is lost without being counted. */
static void check_counts(const bramah_log_stream *stream, const outcome *o)
{
  const bramah_log_stream_info info = bramah_log_stream_get_info(stream);
  const size_t n = info.n_devices;
  uint64_t read = 0, dropped = 0;
  for (size_t k = 0; k < n; k++) {
    const bramah_log_device device = bramah_log_stream_get_device(stream, k);
    const bramah_log_counts *c = &device.counts;
    read += c->rows;
    dropped += c->repeated.n + c->merged.n;
    FUZZ_CHECK(device.wraps <= c->rows, "wraps");
    FUZZ_CHECK(c->late.n <= c->rows && c->gaps.n <= c->rows && c->resets.n <= c->rows, "counts");
  }
  FUZZ_CHECK(o->rows + dropped <= read, "%zu rows given of %zu", (size_t)o->rows, (size_t)read);
  FUZZ_CHECK(info.rows == o->rows, "rows");
  if (!o->status && n == 1)
    FUZZ_CHECK(o->rows + dropped == read, "%zu rows given, %zu dropped of %zu", (size_t)o->rows,
               (size_t)dropped, (size_t)read);
}

static outcome read_all(const bramah_study *study, const input *in)
{
  outcome o = {0};
  opened from = {0};
  bramah_diag_clear(&o.diag);
  o.status = open_stream(&from, study, in, &o.diag);
  if (o.status) return o;
  read_rows(&from, in, &o);
  check_counts(from.stream, &o);
  const double share = bramah_log_stream_get_info(from.stream).share;
  FUZZ_CHECK(isnan(share) || (share >= 0.0 && share <= 1.0), "share %g", share);
  bramah_log_stream_close(from.stream);
  return o;
}

/* It is in the study or in one of the files. */
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
  if (!in.n || bramah_study_load(in.study, 0, NULL, NULL, &study)) return 0;
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
