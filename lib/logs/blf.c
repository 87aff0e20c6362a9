/* SPDX-License-Identifier: GPL-3.0-or-later */
/* BLF, the binary log of Vector's tools: a head with the time of the day, then objects, most of them in containers that
 * zlib has packed; an object may go on in the next container. The layout is that of their header binlog_objects.h, of which
 * the objects with CAN frames are read; others are passed over. Every length is checked before it is used. */
#define _GNU_SOURCE
#include "lib/logs/can.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef BRAMAH_ZLIB
#include <zlib.h>
#endif

enum { HEAD = 144, OBJECT = 16, STAMP = 16, LARGEST = 16 << 20, MOST_EXPANSION = 1032 };
enum { CAN_MESSAGE = 1, CONTAINER = 10, CAN_MESSAGE2 = 86, CAN_FD_MESSAGE = 100, CAN_FD_MESSAGE_64 = 101 };
enum { TEN_MICROSECONDS = 1, REMOTE = 0x80, REMOTE_64 = 0x10, ASKED_TO_SEND = 2 /* a direction */ };

struct bramah__blf {
  bramah_log_reader *reader;
  unsigned char *packed; /* [room_packed] an object of the file */
  size_t room_packed;
  unsigned char *objects; /* [room] those of containers, from at to end */
  size_t room, at, end;
  uint64_t bytes;
  int64_t start_ns;
  int number, at_eof, is_cut;
};

static uint32_t half(const unsigned char *b) { return (uint32_t)b[0] | (uint32_t)b[1] << 8; }
static uint32_t word(const unsigned char *b) { return half(b) | half(b + 2) << 16; }
static uint64_t wide(const unsigned char *b) { return word(b) | (uint64_t)word(b + 4) << 32; }

static bramah_status fail(bramah__blf *b, bramah_status status, const char *message)
{
  return bramah__log_fail(b->reader, status, NULL, b->number, 0, "%s", message);
}

/* As many bytes as there are, at most n. */
static bramah_status get(bramah__blf *b, void *out, size_t n, size_t *got)
{
  bramah_status status = BRAMAH_OK;
  size_t more = 1;
  for (*got = 0; !status && *got < n && more; *got += more)
    status = bramah__log_read(b->reader, (unsigned char *)out + *got, n - *got, &more);
  b->bytes += *got;
  return status;
}

static int make_room(unsigned char **buffer, size_t *room, size_t n)
{
  if (n <= *room) return 1;
  unsigned char *larger = realloc(*buffer, n);
  if (!larger) return 0;
  *buffer = larger;
  *room = n;
  return 1;
}

/* The day of SYSTEMTIME: year, month, day of the week, day, hour, minute, second, ms. */
static int64_t read_start(const unsigned char *at)
{
  char iso[80];
  int64_t ns;
  int zone;
  snprintf(iso, sizeof iso, "%04u-%02u-%02uT%02u:%02u:%02u.%03u", half(at), half(at + 2), half(at + 6),
           half(at + 8), half(at + 10), half(at + 12), half(at + 14) % 1000);
  return bramah__time_iso(iso, iso + strlen(iso), &ns, &zone) ? 0 : ns;
}

bramah_status bramah__blf_open(bramah_log_reader *reader, bramah__blf **out)
{
  unsigned char head[HEAD];
  size_t got;
  bramah__blf *b = *out = calloc(1, sizeof *b);
  if (!b) return bramah__log_fail_memory(reader);
  b->reader = reader;
  bramah_status status = get(b, head, sizeof head, &got);
  if (status) return status;
  if (got < sizeof head || memcmp(head, "LOGG", 4) != 0)
    return fail(b, BRAMAH_E_TRUNCATED, "the file ends in its head: it was cut");
  const uint32_t length = word(head + 4);
  if (length < 72 || length > 4096) return fail(b, BRAMAH_E_SYNTAX, "the head of this BLF file is damaged");
  b->start_ns = read_start(head + 40);
  for (uint32_t left = length > HEAD ? length - HEAD : 0; !status && left;) {
    status = get(b, head, left < HEAD ? left : HEAD, &got);
    left = got ? left - (uint32_t)got : 0;
  }
  return status;
}

void bramah__blf_close(bramah__blf *b)
{
  if (!b) return;
  free(b->packed);
  free(b->objects);
  free(b);
}

uint64_t bramah__blf_bytes(const bramah__blf *b, int *is_cut)
{
  if (!b) return 0;
  *is_cut = b->is_cut;
  return b->bytes;
}

int64_t bramah__blf_start(const bramah__blf *b) { return b->start_ns; }

/* ---- containers ---- */

static bramah_status unpack(bramah__blf *b, const unsigned char *from, size_t n, size_t length)
{
#ifdef BRAMAH_ZLIB
  uLongf size = length;
  if (uncompress(b->objects + b->end, &size, from, n) != Z_OK || size != length)
    return fail(b, BRAMAH_E_SYNTAX, "a container cannot be unpacked: the file is damaged");
  return BRAMAH_OK;
#else
  (void)from, (void)n, (void)length;
  return fail(b, BRAMAH_E_UNSUPPORTED,
              "bramah was built without zlib and cannot read packed BLF files: build it again "
              "with zlib1g-dev installed, or save the log as ASC");
#endif
}

/* What is left moves to the front. */
static void drop_done(bramah__blf *b)
{
  if (b->at) memmove(b->objects, b->objects + b->at, b->end - b->at);
  b->end -= b->at;
  b->at = 0;
}

/* The objects of a container behind those that are not done. */
static bramah_status open_container(bramah__blf *b, const unsigned char *body, size_t n)
{
  if (n < 16) return fail(b, BRAMAH_E_SYNTAX, "a container is shorter than its head: the file is damaged");
  const uint32_t method = half(body);
  const size_t length = method ? word(body + 8) : n - 16;
  if (method && method != 2)
    return fail(b, BRAMAH_E_UNSUPPORTED, "a container is packed by another method than zlib's");
  if (length > LARGEST || length / MOST_EXPANSION > n)
    return fail(b, BRAMAH_E_VALUE,
                "a container says that it holds more than its bytes can: the file is damaged");
  drop_done(b);
  if (b->end > LARGEST)
    return fail(b, BRAMAH_E_VALUE, "an object is longer than 16 MiB: the file is damaged");
  if (!make_room(&b->objects, &b->room, b->end + length + 1)) return bramah__log_fail_memory(b->reader);
  if (!method) memcpy(b->objects + b->end, body + 16, length);
  const bramah_status status = method ? unpack(b, body + 16, n - 16, length) : BRAMAH_OK;
  if (!status) b->end += length;
  return status;
}

/* The next object of the file: a container, or one that stands alone. *more 0: there is none. */
static bramah_status next_of_file(bramah__blf *b, int *more)
{
  unsigned char head[OBJECT];
  size_t got, pad = 0;
  *more = 0;
  if (b->at_eof) return BRAMAH_OK;
  bramah_status status = get(b, head, OBJECT, &got);
  /* Up to three bytes fill up to a multiple of four. */
  for (; !status && got == OBJECT && memcmp(head, "LOBJ", 4) != 0 && pad < 4; pad++) {
    memmove(head, head + 1, OBJECT - 1);
    status = get(b, head + OBJECT - 1, 1, &got);
    got += OBJECT - 1;
  }
  if (status) return status;
  if (got < OBJECT) {
    b->at_eof = 1;
    b->is_cut = got > 3 && memcmp(head, "LOBJ", got < 4 ? got : 4) == 0;
    return BRAMAH_OK;
  }
  const size_t size = word(head + 8);
  if (memcmp(head, "LOBJ", 4) != 0 || size < OBJECT)
    return fail(b, BRAMAH_E_SYNTAX, "no object begins here: the file is damaged");
  if (size > LARGEST) return fail(b, BRAMAH_E_VALUE, "an object is longer than 16 MiB: the file is damaged");
  if (!make_room(&b->packed, &b->room_packed, size)) return bramah__log_fail_memory(b->reader);
  memcpy(b->packed, head, OBJECT);
  status = get(b, b->packed + OBJECT, size - OBJECT, &got);
  if (status) return status;
  if (got < size - OBJECT) {
    b->at_eof = b->is_cut = 1;
    return BRAMAH_OK;
  }
  *more = 1;
  if (word(head + 12) == CONTAINER) return open_container(b, b->packed + OBJECT, size - OBJECT);
  /* Alone: as if it were in a container. */
  drop_done(b);
  if (b->end > LARGEST || !make_room(&b->objects, &b->room, b->end + size + 1))
    return fail(b, BRAMAH_E_VALUE, "an object is longer than 16 MiB: the file is damaged");
  memcpy(b->objects + b->end, b->packed, size);
  b->end += size;
  return BRAMAH_OK;
}

/* ---- objects ---- */

/* A frame of an object; 0: it is none; -1: it is damaged. Of CAN_FD_MESSAGE_64 the last bytes may be left out, which are 0 then (so
 * Vector's tools read it, too), and others may follow behind them, from ext data offset on. */
static int read_object(const unsigned char *o, size_t size, bramah__can_frame *f)
{
  const uint32_t kind = word(o + 12);
  const size_t head = half(o + 4);
  const int is_64 = kind == CAN_FD_MESSAGE_64, is_fd = kind == CAN_FD_MESSAGE;
  if (kind != CAN_MESSAGE && kind != CAN_MESSAGE2 && !is_fd && !is_64) return 0;
  const size_t least = is_64 ? 40 : is_fd ? 20 : 8;
  if (head < OBJECT + STAMP || size < head + least) return -1;
  const unsigned char *body = o + head;
  const uint64_t stamp = wide(o + OBJECT + 8);
  const uint64_t unit = word(o + OBJECT) == TEN_MICROSECONDS ? 10000 : 1;
  f->time_ns = stamp < INT64_MAX / unit ? (int64_t)(stamp * unit) : INT64_MAX; /* which is beyond all years */
  const uint32_t id = word(body + 4);
  if (is_64 ? word(body + 12) & REMOTE_64 : body[2] & REMOTE) return 0;
  if ((is_64 ? body[34] : body[2] & 0xf) == ASKED_TO_SEND) return 0;
  const unsigned n = is_64 ? body[2] : is_fd ? body[14] : body[3] > 8 ? 8 : body[3];
  const size_t end = is_64 && body[35] >= head + least && body[35] < size ? body[35] : size;
  const size_t has = end - head - least < n ? end - head - least : n;
  if (n > BRAMAH__CAN_BYTES || (has < n && !is_64)) return -1;
  memcpy(f->data, body + least, has);
  memset(f->data + has, 0, n - has);
  f->n = n;
  f->is_extended = (int)(id >> 31);
  f->id = id & UINT32_C(0x1fffffff);
  snprintf(f->channel, sizeof f->channel, "%u", is_64 ? (unsigned)body[0] : (unsigned)half(body));
  return 1;
}

bramah_status bramah__blf_next(bramah__blf *b, bramah__can_frame *frame, int *number, int *end)
{
  for (;;) {
    int more = 1;
    size_t left = b->end - b->at;
    for (int pad = 0; left >= OBJECT && pad < 4 && memcmp(b->objects + b->at, "LOBJ", 4) != 0; pad++)
      b->at++, left--;
    if (left >= OBJECT && memcmp(b->objects + b->at, "LOBJ", 4) != 0)
      return fail(b, BRAMAH_E_SYNTAX, "no object begins here: the file is damaged");
    const size_t size = left >= OBJECT ? word(b->objects + b->at + 8) : 0;
    if (left >= OBJECT && size < OBJECT)
      return fail(b, BRAMAH_E_SYNTAX, "an object is shorter than its head: the file is damaged");
    if (left < OBJECT || left < size) {
      const bramah_status status =
          size > LARGEST ? fail(b, BRAMAH_E_VALUE, "an object is longer than 16 MiB: the file is damaged")
                         : next_of_file(b, &more);
      if (status) return status;
      *end = !more;
      if (!more && left >= OBJECT) b->is_cut = 1;
      if (!more) return BRAMAH_OK;
      continue;
    }
    const unsigned char *object = b->objects + b->at;
    b->at += size;
    b->number += b->number < INT32_MAX;
    *number = b->number;
    const int found = read_object(object, size, frame);
    if (found < 0)
      return fail(b, BRAMAH_E_SYNTAX, "a frame does not fit into its object: the file is damaged");
    if (found) return BRAMAH_OK;
  }
}
