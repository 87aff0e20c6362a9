/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files of named pieces of memory, with a check sum. */
#define _POSIX_C_SOURCE 200809L /* fsync, fileno */
#include "lib/assess/assess_internal.h"
#include "lib/io/files.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NAME = 24, FORMAT = 2, BYTE_ORDER_MARK = 0x01020304 };

typedef struct head {
  char magic[8];
  uint32_t format, order;
  uint64_t length; /* of the file, check sum included */
} head;

typedef struct piece {
  char name[NAME];
  uint64_t size;
} piece;

static const char magic[8] = {'B', 'R', 'A', 'M', 'A', 'H', 'S', 'N'};

uint64_t bramah__hash(const void *bytes, size_t n, uint64_t from)
{
  const unsigned char *p = bytes;
  for (size_t i = 0; i < n; i++) from = (from ^ p[i]) * UINT64_C(1099511628211);
  return from;
}

/* ---- pieces ---- */

void bramah__snapshot_free(bramah__snapshot *snapshot)
{
  free(snapshot->bytes);
  *snapshot = (bramah__snapshot){0};
}

/* n more bytes at the end, zeroed. */
static unsigned char *extend(bramah__snapshot *snapshot, size_t n)
{
  if (snapshot->failed) return NULL;
  if (snapshot->size + n > snapshot->room) {
    const size_t room = 2 * snapshot->room + n + 4096;
    unsigned char *bytes = realloc(snapshot->bytes, room);
    if (!bytes) return snapshot->failed = 1, NULL;
    snapshot->bytes = bytes;
    snapshot->room = room;
  }
  unsigned char *out = snapshot->bytes + snapshot->size;
  memset(out, 0, n);
  snapshot->size += n;
  return out;
}

void bramah__snapshot_clear(bramah__snapshot *snapshot)
{
  snapshot->size = 0;
  snapshot->failed = 0;
  extend(snapshot, sizeof(head));
}

static size_t padded(size_t n) { return (n + 7) / 8 * 8; }

void *bramah__snapshot_add(bramah__snapshot *snapshot, const char *name, size_t n)
{
  piece p = {.size = n};
  unsigned char *out = extend(snapshot, sizeof p + padded(n));
  if (!out) return NULL;
  snprintf(p.name, sizeof p.name, "%s", name);
  memcpy(out, &p, sizeof p);
  return out + sizeof p;
}

void bramah__snapshot_put(bramah__snapshot *snapshot, const char *name, const void *from, size_t n)
{
  void *out = bramah__snapshot_add(snapshot, name, n);
  if (out && n) memcpy(out, from, n);
}

const void *bramah__snapshot_find(const bramah__snapshot *snapshot, const char *name, size_t *n)
{
  const size_t end = snapshot->size - sizeof(uint64_t);
  piece p;
  for (size_t at = sizeof(head); at + sizeof p <= end; at += sizeof p + padded(p.size)) {
    memcpy(&p, snapshot->bytes + at, sizeof p);
    if (p.size > end - at - sizeof p) return NULL;
    if (strncmp(p.name, name, NAME) != 0) continue;
    *n = p.size;
    return snapshot->bytes + at + sizeof p;
  }
  return NULL;
}

int bramah__snapshot_get(const bramah__snapshot *snapshot, const char *name, void *out, size_t n)
{
  size_t size;
  const void *from = bramah__snapshot_find(snapshot, name, &size);
  if (!from || size != n) return 0;
  if (n) memcpy(out, from, n);
  return 1;
}

/* ---- file ---- */

static bramah_status fail_file(bramah_diag *diag, const char *path, const char *what)
{
  return bramah__failf(diag, BRAMAH_E_FILE, path, 0, NULL, "%s: %s", what, strerror(errno));
}

int bramah__snapshot_seal(bramah__snapshot *snapshot)
{
  unsigned char *end = extend(snapshot, sizeof(uint64_t));
  if (!end) return 0;
  head h = {.format = FORMAT, .order = BYTE_ORDER_MARK, .length = snapshot->size};
  memcpy(h.magic, magic, sizeof magic);
  memcpy(snapshot->bytes, &h, sizeof h);
  const uint64_t sum = bramah__hash(snapshot->bytes, snapshot->size - sizeof sum, BRAMAH__HASH_START);
  memcpy(end, &sum, sizeof sum);
  return 1;
}

bramah_status bramah__snapshot_write(bramah__snapshot *snapshot, const char *path, bramah_diag *diag)
{
  bramah__new_file file;
  if (!bramah__snapshot_seal(snapshot))
    return bramah__failf(diag, BRAMAH_E_MEMORY, path, 0, NULL, "out of memory");
  const bramah_status status = bramah__new_file_open(path, &file, diag);
  if (status) return status;
  fwrite(snapshot->bytes, 1, snapshot->size, file.file);
  return bramah__new_file_finish(&file, 1, diag);
}

static int has_magic(const bramah__snapshot *s)
{
  return s->size >= sizeof magic && memcmp(s->bytes, magic, sizeof magic) == 0;
}

bramah_status bramah__snapshot_read(bramah__snapshot *snapshot, const char *path, bramah_diag *diag)
{
  enum { PART = 1 << 16 };
  head h;
  uint64_t sum;
  char reason[512];
  const int fd = bramah__open_input(path);
  FILE *file = fd < 0 ? NULL : fdopen(fd, "rb");
  if (!file) {
    bramah__failf(diag, BRAMAH_E_FILE, path, 0, NULL, "cannot open the snapshot: %s",
                  bramah__open_reason(path, errno, reason, sizeof reason));
    if (fd >= 0) close(fd);
    return BRAMAH_E_FILE;
  }
  snapshot->size = 0;
  for (size_t n = PART; n == PART;) {
    unsigned char *out = extend(snapshot, PART);
    if (!out) break;
    n = fread(out, 1, PART, file);
    snapshot->size -= PART - n;
    if (!has_magic(snapshot)) break; /* whatever it is, it may have no end */
  }
  const bramah_status status = ferror(file) ? fail_file(diag, path, "cannot read the snapshot") : BRAMAH_OK;
  fclose(file);
  if (status) return status;
  if (snapshot->failed) return bramah__failf(diag, BRAMAH_E_MEMORY, path, 0, NULL, "out of memory");

  if (snapshot->size < sizeof h || !has_magic(snapshot))
    return bramah__failf(diag, BRAMAH_E_SYNTAX, path, 0, NULL, "this is no snapshot of bramah replay");
  memcpy(&h, snapshot->bytes, sizeof h);
  if (h.order != BYTE_ORDER_MARK || h.format != FORMAT)
    return bramah__failf(
        diag, BRAMAH_E_SYNTAX, path, 0, NULL,
        "the snapshot was written by another version of bramah or on another kind of computer");
  if (h.length != snapshot->size || snapshot->size < sizeof h + sizeof sum)
    return bramah__failf(diag, BRAMAH_E_TRUNCATED, path, 0, NULL,
                         "the snapshot has %zu bytes, but says it has %llu", snapshot->size,
                         (unsigned long long)h.length);
  memcpy(&sum, snapshot->bytes + snapshot->size - sizeof sum, sizeof sum);
  if (sum == bramah__hash(snapshot->bytes, snapshot->size - sizeof sum, BRAMAH__HASH_START)) return BRAMAH_OK;
  return bramah__failf(diag, BRAMAH_E_SYNTAX, path, 0, NULL,
                       "the snapshot is damaged: its check sum is wrong");
}
