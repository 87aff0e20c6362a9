/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE /* ftruncate, fcntl locks, strerror_r */
#include "lib/tune/journal.h"
#include "lib/base/diag.h"
#include "lib/base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct bramah__journal_entry {
  char *key;
  size_t n;
  double *values;
} entry;

/* First line; a later format, or what numbers mean otherwise, gets another number. */
static const char head[] = "bramah journal 2\n";

static bramah_status fail_memory(bramah_diag *diag)
{
  return bramah__fail(diag, BRAMAH_E_MEMORY, "journal", "out of memory");
}

static bramah_status fail_file(const bramah__journal *j, const char *what, bramah_diag *diag)
{
  char text[128];
  const int error = errno;
  bramah__fail(diag, BRAMAH_E_FILE, NULL, what);
  bramah__add_text(diag, ": ");
  bramah__add_text(diag, strerror_r(error, text, sizeof text));
  return bramah__at(diag, j->path, 0, 0);
}

/* ---- in memory ---- */

static size_t slot_of(const bramah__journal *j, const char *key)
{
  size_t at = bramah__fnv(0, key, strlen(key)) & (j->slots - 1);
  while (j->table[at] && strcmp(j->entries[j->table[at] - 1].key, key) != 0) at = (at + 1) & (j->slots - 1);
  return at;
}

/* Values are copied. */
static bramah_status keep(bramah__journal *j, const char *key, size_t n, const double *values,
                          bramah_diag *diag)
{
  if (j->n == j->room) {
    const size_t room = j->room ? 2 * j->room : 256;
    entry *entries = realloc(j->entries, room * sizeof *entries);
    if (entries) j->entries = entries;
    size_t *table = entries ? calloc(2 * room, sizeof *table) : NULL;
    if (!table) return fail_memory(diag);
    free(j->table);
    j->table = table;
    j->slots = 2 * room;
    j->room = room;
    for (size_t i = 0; i < j->n; i++) j->table[slot_of(j, j->entries[i].key)] = i + 1;
  }
  const size_t at = slot_of(j, key), length = strlen(key) + 1;
  if (j->table[at]) return BRAMAH_OK;
  entry e = {.key = malloc(length), .n = n, .values = malloc((n + 1) * sizeof *e.values)};
  if (!e.key || !e.values) {
    free(e.key);
    free(e.values);
    return fail_memory(diag);
  }
  memcpy(e.key, key, length);
  if (n) memcpy(e.values, values, n * sizeof *values);
  j->entries[j->n++] = e;
  j->table[at] = j->n;
  return BRAMAH_OK;
}

const double *bramah__journal_find(const bramah__journal *journal, const char *key, size_t *n)
{
  if (!journal->slots) return NULL;
  const size_t i = journal->table[slot_of(journal, key)];
  if (!i) return NULL;
  *n = journal->entries[i - 1].n;
  return journal->entries[i - 1].values;
}

/* ---- the file: lines of key, TAB, numbers as 16 digits of their bits, TAB, checksum of all before it ----
 */

/* 16 digits; 1 if they are not. */
static int read_bits(const char *text, uint64_t *bits)
{
  *bits = 0;
  for (int i = 0; i < 16; i++) {
    const char c = text[i];
    const int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
    if (digit < 0) return 1;
    *bits = *bits << 4 | (uint64_t)digit;
  }
  return 0;
}

/* A line without its end, terminated. */
static bramah_status read_line(bramah__journal *j, char *line, size_t length, bramah_diag *diag)
{
  uint64_t sum;
  char *first = memchr(line, '\t', length), *second = length > 17 ? line + length - 17 : NULL;
  j->damaged++;
  if (!first || !second || second <= first || *second != '\t' || strlen(line) != length) return BRAMAH_OK;
  if (read_bits(second + 1, &sum) || sum != bramah__fnv(0, line, (size_t)(second - line))) return BRAMAH_OK;
  const size_t digits = (size_t)(second - first - 1), n = digits / 16;
  double *values = malloc((n + 1) * sizeof *values);
  int bad = digits % 16 != 0;
  if (!values) return fail_memory(diag);
  for (size_t i = 0; i < n && !bad; i++) {
    uint64_t bits = 0;
    bad = read_bits(first + 1 + 16 * i, &bits);
    memcpy(&values[i], &bits, sizeof bits);
  }
  *first = '\0';
  bramah_status status = BRAMAH_OK;
  if (!bad) {
    j->damaged--;
    status = keep(j, line, n, values, diag);
  }
  free(values);
  return status;
}

static bramah_status put(bramah__journal *j, const char *text, size_t n, bramah_diag *diag)
{
  while (n) {
    const ssize_t done = write(j->file, text, n);
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) return fail_file(j, "the journal cannot take more", diag);
    text += done;
    n -= (size_t)done;
  }
  return BRAMAH_OK;
}

/* All of the file, terminated; *text is the caller's, after an error too. */
static bramah_status read_all(bramah__journal *j, char **text, size_t *length, bramah_diag *diag)
{
  size_t room = 65536;
  for (;;) {
    char *more = realloc(*text, room + 1);
    if (!more) return fail_memory(diag);
    *text = more;
    const ssize_t done = read(j->file, *text + *length, room - *length);
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) return fail_file(j, "cannot be read", diag);
    if (done == 0) break;
    *length += (size_t)done;
    if (*length == room) room *= 2;
  }
  (*text)[*length] = '\0';
  return BRAMAH_OK;
}

/* Alone on a regular file, whose results are read. */
static bramah_status open_file(bramah__journal *j, const char *path, char **text, bramah_diag *diag)
{
  const size_t n = strlen(path) + 1;
  j->path = malloc(n);
  if (!j->path) return fail_memory(diag);
  memcpy(j->path, path, n);
  j->file = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (j->file < 0) return fail_file(j, "cannot be opened", diag);
  struct stat about;
  struct flock request = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
  const char *mistake = NULL;
  if (fstat(j->file, &about) || !S_ISREG(about.st_mode))
    mistake = "a journal must be a regular file";
  else if (fcntl(j->file, F_SETLK, &request) && (errno == EACCES || errno == EAGAIN))
    mistake = "another run is writing this journal; wait for it or name another";
  if (mistake) {
    bramah__fail(diag, BRAMAH_E_FILE, NULL, mistake);
    return bramah__at(diag, path, 0, 0);
  }

  /* What is shorter than the head and begins like it was cut off there. */
  size_t length = 0;
  const size_t begin = sizeof head - 1;
  bramah_status status = read_all(j, text, &length, diag);
  if (status) return status;
  if (memcmp(*text, head, length < begin ? length : begin) != 0) {
    bramah__fail(diag, BRAMAH_E_SYNTAX, NULL,
                 "this file is no journal of bramah, or of another version; name another");
    return bramah__at(diag, path, 1, 0);
  }
  size_t at = length < begin ? 0 : begin;
  for (char *end; at && (end = memchr(*text + at, '\n', length - at)); at = (size_t)(end - *text) + 1) {
    *end = '\0';
    status = read_line(j, *text + at, (size_t)(end - *text) - at, diag);
    if (status) return status;
  }
  j->read = j->n;
  if (at < length && ftruncate(j->file, (off_t)at)) return fail_file(j, "cannot be written", diag);
  return at ? BRAMAH_OK : put(j, head, begin, diag);
}

bramah_status bramah__journal_open(const char *path, bramah_diag *diag, bramah__journal **out)
{
  bramah__journal *j = calloc(1, sizeof *j);
  char *text = NULL;
  if (!j) return fail_memory(diag);
  j->file = -1;
  const bramah_status status = path ? open_file(j, path, &text, diag) : BRAMAH_OK;
  free(text);
  if (status)
    bramah__journal_close(j);
  else
    *out = j;
  return status;
}

void bramah__journal_close(bramah__journal *journal)
{
  if (!journal) return;
  if (journal->file >= 0) close(journal->file);
  for (size_t i = 0; i < journal->n; i++) {
    free(journal->entries[i].key);
    free(journal->entries[i].values);
  }
  free(journal->entries);
  free(journal->table);
  free(journal->path);
  free(journal);
}

bramah_status bramah__journal_add(bramah__journal *journal, const char *key, size_t n, const double *values,
                                  bramah_diag *diag)
{
  bramah__journal *j = journal;
  size_t known;
  if (!*key || strpbrk(key, "\t\n"))
    return bramah__fail(diag, BRAMAH_E_ARGUMENT, "journal", "a key is a text without tabs and line ends");
  if (bramah__journal_find(j, key, &known)) return BRAMAH_OK;
  bramah_status status = keep(j, key, n, values, diag);
  if (status || j->file < 0) return status;

  char *line = malloc(strlen(key) + 16 * n + 32), *p = line;
  if (!line) return fail_memory(diag);
  p += sprintf(p, "%s\t", key);
  for (size_t i = 0; i < n; i++) {
    uint64_t bits;
    memcpy(&bits, &values[i], sizeof bits);
    p += sprintf(p, "%016" PRIx64, bits);
  }
  p += sprintf(p, "\t%016" PRIx64 "\n", bramah__fnv(0, line, (size_t)(p - line)));

  /* In one piece: whoever is killed leaves at most one line cut off. A piece that a full disk left would
   * spoil the next line, so it goes. */
  const off_t before = lseek(j->file, 0, SEEK_END);
  status = put(j, line, (size_t)(p - line), diag);
  if (status && before >= 0 && ftruncate(j->file, before))
    bramah__add_text(diag, " (a piece of a line is left)");
  free(line);
  return status;
}
