/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Any bytes as a snapshot of a replay. As they are they are read or refused, and a byte more, less or changed
 * is always found. Sealed with a right head and check sum, which no inventor of inputs hits, their pieces are
 * found within the file. Then a replay goes on from these pieces or says which does not fit: what it takes
 * over is in its next snapshot again. States of plant and filter are memory that only the check sum
 * guards: pieces of their names that are empty, or have their size, get those of a replay of ours, so that
 * the other pieces come to be looked at. */
#define _GNU_SOURCE /* mkdtemp by scratch.h */
#include "bramah/log.h"
#include "lib/assess/assess_internal.h"
#include "test/fuzz/fuzz.h"
#include "test/support/scratch.h"

#include <string.h>

#define STUDY FUZZ_SOURCE_ROOT "/datasets/four-bar/sensors-2.yaml"
#define LOG FUZZ_SOURCE_ROOT "/datasets/four-bar/log.csv"

enum { HEAD = 24, NAME = 24, PIECE = NAME + 8, SUM = 8, MOST_PIECES = 64, ROWS = 3 };

/* Head as in assess_internal.h. */
static void seal(unsigned char *bytes, size_t size)
{
  const uint32_t format[2] = {2, 0x01020304};
  const uint64_t length = size;
  memcpy(bytes, "BRAMAHSN", 8);
  memcpy(bytes + 8, format, sizeof format);
  memcpy(bytes + 16, &length, sizeof length);
  const uint64_t sum = bramah__hash(bytes, size - SUM, BRAMAH__HASH_START);
  memcpy(bytes + size - SUM, &sum, sizeof sum);
}

static bramah_status read_bytes(const uint8_t *data, size_t size, bramah__snapshot *s)
{
  bramah_diag diag = {0};
  const char *path = fuzz_file(data, size);
  const bramah_status status = bramah__snapshot_read(s, path, &diag);
  if (status) fuzz_check_diag(&diag, status, path, 0);
  FUZZ_CHECK(status || (s->size == size && !memcmp(s->bytes, data, size)), "other bytes");
  return status;
}

static void is_refused(const uint8_t *data, size_t size)
{
  bramah__snapshot s = {0};
  FUZZ_CHECK(read_bytes(data, size, &s) != BRAMAH_OK, "a damaged snapshot is read");
  bramah__snapshot_free(&s);
}

/* Of a good snapshot [size + 1 bytes of room]. */
static void check_damages(uint8_t *data, size_t size)
{
  const size_t at = (size * 2654435761u >> 4) % size;
  is_refused(data, size - 1);
  data[size] = 0;
  is_refused(data, size + 1);
  data[at] ^= 0x10;
  is_refused(data, size);
  data[at] ^= 0x10;
}

/* ---- pieces ---- */

typedef struct part {
  char name[NAME + 1];
  const unsigned char *bytes;
  size_t size;
} part;

/* In their order, as the file says they are. *beyond: the name of one that is larger than the file, or "". */
static size_t list_parts(const bramah__snapshot *s, part *parts, char beyond[NAME + 1])
{
  size_t n = 0;
  beyond[0] = '\0';
  for (size_t at = HEAD; n < MOST_PIECES && at + PIECE <= s->size - SUM; n++) {
    uint64_t size;
    memcpy(parts[n].name, s->bytes + at, NAME);
    parts[n].name[NAME] = '\0';
    memcpy(&size, s->bytes + at + NAME, sizeof size);
    if (size > s->size - SUM - at - PIECE) return memcpy(beyond, parts[n].name, NAME + 1), n;
    parts[n].bytes = s->bytes + at + PIECE;
    parts[n].size = (size_t)size;
    at += PIECE + (size_t)((size + 7) / 8 * 8);
  }
  return n;
}

static void check_parts(const bramah__snapshot *s, const part *parts, size_t n, const char *beyond)
{
  size_t size, same = 0;
  for (size_t i = 0; i < n; i++) same += strcmp(parts[i].name, beyond) == 0;
  FUZZ_CHECK(same || !*beyond || !bramah__snapshot_find(s, beyond, &size), "piece '%s' is too large", beyond);
  FUZZ_CHECK(!bramah__snapshot_find(s, "no such piece of any", &size), "found");
  for (size_t i = 0; i < n; i++) {
    size_t first = 0;
    while (strcmp(parts[first].name, parts[i].name) != 0) first++;
    const unsigned char *found = bramah__snapshot_find(s, parts[i].name, &size);
    FUZZ_CHECK(found == parts[first].bytes && size == parts[first].size, "piece '%s'", parts[i].name);
    FUZZ_CHECK(((size_t)(found - s->bytes)) % 8 == 0, "piece '%s' is not aligned", parts[i].name);
  }
}

/* ---- a replay of ours ---- */

static bramah_session *session;
static bramah_log_stream *stream;
static bramah_assess *assess;
static bramah__snapshot genuine;
static char snapshot[SCRATCH_NAME];

static void close_replay(void)
{
  bramah_assess_free(assess);
  bramah_log_stream_close(stream);
  bramah_session_close(session);
  bramah__snapshot_free(&genuine);
  remove(snapshot);
}

static void open_replay(void)
{
  static const char *const logs[] = {LOG};
  bramah_diag diag = {0};
  bramah_assess_options options;
  bramah_assess_options_default(&options);
  options.to_ns = ROWS * 1000000;
  FUZZ_CHECK(scratch_file(snapshot), "no file");
  atexit(close_replay);
  FUZZ_CHECK(!bramah_session_open(STUDY, &diag, &session), "%s: %s", diag.file, diag.message);
  FUZZ_CHECK(!bramah_log_stream_open(session, 1, logs, &diag, &stream), "%s: %s", diag.file, diag.message);
  FUZZ_CHECK(!bramah_assess_new(session, bramah_log_stream_next, stream, &options, &diag, &assess), "%s",
             diag.message);
  FUZZ_CHECK(!bramah_assess_run(assess, &diag), "%s: %s", diag.file, diag.message);
  FUZZ_CHECK(!bramah_assess_save(assess, snapshot, "ours", &diag), "%s: %s", diag.file, diag.message);
  FUZZ_CHECK(!bramah__snapshot_read(&genuine, snapshot, &diag), "%s", diag.message);
}

static int is_state(const char *name) { return strcmp(name, "replay") == 0 || strcmp(name, "identity") == 0; }

/* The pieces in a snapshot for the replay of ours. */
static void assemble(const part *parts, size_t n, bramah__snapshot *out)
{
  bramah__snapshot_clear(out);
  for (size_t i = 0; i < n; i++) {
    size_t size = 0;
    const void *own = bramah__snapshot_find(&genuine, parts[i].name, &size);
    if (own && (!parts[i].size || (is_state(parts[i].name) && parts[i].size == size)))
      bramah__snapshot_put(out, parts[i].name, own, size);
    else
      bramah__snapshot_put(out, parts[i].name, parts[i].bytes, parts[i].size);
  }
  FUZZ_CHECK(bramah__snapshot_add(out, "", 0), "no memory");
  seal(out->bytes, out->size); /* the sum takes the place of the last eight bytes */
}

static void is_same_piece(const bramah__snapshot *a, const bramah__snapshot *b, const char *name)
{
  size_t n = 0, m = 0;
  const void *one = bramah__snapshot_find(a, name, &n), *other = bramah__snapshot_find(b, name, &m);
  FUZZ_CHECK(one && other && n == m && memcmp(one, other, n) == 0, "piece '%s' is not what was taken over",
             name);
}

/* Go on from it, and back to where the replay was. */
static void check_resume(const bramah__snapshot *s)
{
  static const char *const kept[] = {"replay", "innovations", "all innovations",
                                     "faults", "recoveries",  "identity"};
  bramah_diag diag = {0};
  char text[64];
  const char *path = fuzz_file(s->bytes, s->size);
  const bramah_status status = bramah_assess_resume(assess, path, text, sizeof text, &diag);
  if (status) {
    fuzz_check_diag(&diag, status, path, 0);
    FUZZ_CHECK(strcmp(diag.file, path) == 0, "the message is about '%s'", diag.file);
    return;
  }
  FUZZ_CHECK(!bramah_assess_save(assess, snapshot, text, &diag), "%s", diag.message);
  for (size_t i = 0; i < sizeof kept / sizeof kept[0]; i++) is_same_piece(s, &assess->snapshot, kept[i]);
}

/* ---- the whole ---- */

static void check_sealed(const uint8_t *data, size_t size)
{
  static part parts[MOST_PIECES];
  char beyond[NAME + 1];
  bramah__snapshot s = {0}, whole = {0};
  unsigned char *bytes = malloc(size + 1);
  FUZZ_CHECK(bytes, "no memory");
  memcpy(bytes, data, size);
  seal(bytes, size);
  FUZZ_CHECK(read_bytes(bytes, size, &s) == BRAMAH_OK, "a good snapshot is refused");
  const size_t n = list_parts(&s, parts, beyond);
  check_parts(&s, parts, n, beyond);
  assemble(parts, n, &whole);
  check_resume(&whole);
  check_damages(bytes, size);
  bramah__snapshot_free(&whole);
  bramah__snapshot_free(&s);
  free(bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  bramah__snapshot s = {0};
  if (!genuine.bytes) open_replay();
  (void)read_bytes(data, size, &s);
  bramah__snapshot_free(&s);
  if (size >= HEAD + SUM) check_sealed(data, size);
  return 0;
}
