/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A file that was cut while it was copied is found before it is read: the lengths of its elements are added
 * up. */
#define _POSIX_C_SOURCE 200809L /* pread */
#include "lib/base/diag.h"
#include "lib/logs/log_mat.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static uint32_t word(const unsigned char *b, int big)
{
  return big ? (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3]
             : (uint32_t)b[3] << 24 | (uint32_t)b[2] << 16 | (uint32_t)b[1] << 8 | b[0];
}

static bramah_status fail_cut(bramah_log_reader *reader)
{
  return bramah__log_fail(reader, BRAMAH_E_TRUNCATED, NULL, 0, 0,
                          "the file ends in the middle of a variable: it was cut, or is damaged");
}

/* Bytes at an offset; 0 if the file has fewer. */
static int get(bramah_log_reader *reader, uint64_t at, unsigned char *out, size_t n)
{
  ssize_t got;
  do got = pread(reader->fd, out, n, (off_t)at);
  while (got < 0 && errno == EINTR);
  return got == (ssize_t)n;
}

static bramah_status walk_5(bramah_log_reader *reader, uint64_t size, int big)
{
  unsigned char tag[8];
  for (uint64_t at = 128; at < size;) {
    if (!get(reader, at, tag, sizeof tag)) return fail_cut(reader);
    at += 8 + (uint64_t)word(tag + 4, big);
    if (at > size) return fail_cut(reader);
  }
  return BRAMAH_OK;
}

/* Header of a variable: type (digits M, O, P, T), rows, columns, complex, length of the name. Returns its
 * bytes, 0 if it is none. */
static uint64_t size_4(const unsigned char *head)
{
  static const unsigned bytes[] = {8, 4, 4, 2, 2, 1};
  const int big = word(head, 0) > 4052;
  const uint32_t type = word(head, big), precision = type / 10 % 10;
  if (type > 4052 || precision > 5 || word(head + 12, big) > 1) return 0;
  const uint64_t elements = (uint64_t)word(head + 4, big) * word(head + 8, big);
  if (elements > UINT64_C(1) << 40) return UINT64_C(1) << 40;
  return elements * bytes[precision] * (1 + word(head + 12, big)) + word(head + 16, big);
}

static bramah_status walk_4(bramah_log_reader *reader, uint64_t size)
{
  unsigned char head[20];
  for (uint64_t at = 0; at < size;) {
    if (!get(reader, at, head, sizeof head)) return fail_cut(reader);
    const uint64_t bytes = size_4(head);
    if (!bytes)
      return bramah__log_fail(reader, BRAMAH_E_SYNTAX, NULL, 0, 0, "this is no MAT file, or it is damaged");
    at += sizeof head + bytes;
    if (at > size) return fail_cut(reader);
  }
  return BRAMAH_OK;
}

bramah_status bramah__mat_check_whole(bramah_log_reader *reader, uint64_t *size)
{
  struct stat about;
  unsigned char head[128];
  if (fstat(reader->fd, &about) != 0) return bramah__log_fail_system(reader, "cannot read: ", errno);
  if (!S_ISREG(about.st_mode))
    return bramah__log_fail(reader, BRAMAH_E_FILE, NULL, 0, 0, "a MAT file cannot be read from a pipe");
  *size = (uint64_t)about.st_size;
  if (!*size) return bramah__log_fail(reader, BRAMAH_E_EMPTY, NULL, 0, 0, "the file is empty");
  if (!get(reader, 0, head, sizeof head) || memcmp(head, "MATLAB ", 7) != 0) return walk_4(reader, *size);
  const int big = head[126] == 'M' && head[127] == 'I';
  if (!big && (head[126] != 'I' || head[127] != 'M'))
    return bramah__log_fail(reader, BRAMAH_E_SYNTAX, NULL, 0, 0, "this is no MAT file, or it is damaged");
  return head[big ? 124 : 125] == 1 ? walk_5(reader, *size, big) : BRAMAH_OK;
}
