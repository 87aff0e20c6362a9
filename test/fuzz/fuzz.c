/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE /* memfd_create */
#include "test/fuzz/fuzz.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

typedef struct memory_file {
  int fd;
  char path[32];
} memory_file;

/* Made at the first use and kept: a file for every input would cost more than reading it. number 0: any. */
static const char *path_of(memory_file *file, int number)
{
  if (!file->path[0]) {
    file->fd = memfd_create("fuzz", MFD_CLOEXEC);
    FUZZ_CHECK(file->fd >= 0, "no file in memory");
    if (number) file->fd = dup2(file->fd, number);
    FUZZ_CHECK(file->fd >= 0, "no file number %d", number);
    snprintf(file->path, sizeof file->path, "/proc/self/fd/%d", file->fd);
  }
  FUZZ_CHECK(ftruncate(file->fd, 0) == 0, "cannot empty the file");
  return file->path;
}

static const char *fill(memory_file *file, int number, const uint8_t *data, size_t size)
{
  const char *path = path_of(file, number);
  FUZZ_CHECK(!size || pwrite(file->fd, data, size, 0) == (ssize_t)size, "cannot fill the file");
  return path;
}

const char *fuzz_file(const uint8_t *data, size_t size)
{
  static memory_file file;
  return fill(&file, 0, data, size);
}

const char *fuzz_part(size_t i, const uint8_t *data, size_t size)
{
  static memory_file parts[FUZZ_PARTS];
  return fill(&parts[i], FUZZ_FIRST_PART + (int)i, data, size);
}

const char *fuzz_empty_file(void)
{
  static memory_file file;
  return path_of(&file, 0);
}

/* YAML also ends lines with a carriage return, next line (0x85) and the separators U+2028 and U+2029. */
int fuzz_lines(const uint8_t *data, size_t size)
{
  int lines = 1;
  for (size_t i = 0; i < size; i++)
    lines += data[i] == '\n' || data[i] == '\r' || data[i] == 0x85 || data[i] == 0xa8 || data[i] == 0xa9;
  return lines;
}

void fuzz_check_diag(const bramah_diag *diag, bramah_status status, const char *path, int lines)
{
  char text[1024];
  FUZZ_CHECK(strcmp(bramah_status_name(status), "E_?") != 0, "status %d is not in the list", (int)status);
  FUZZ_CHECK(diag->status == status, "%d returned, %d in the diagnostic", (int)status, (int)diag->status);
  FUZZ_CHECK(memchr(diag->message, 0, sizeof diag->message) && diag->message[0], "no message");
  FUZZ_CHECK(memchr(diag->thing, 0, sizeof diag->thing), "thing has no end");
  FUZZ_CHECK(memchr(diag->file, 0, sizeof diag->file), "file has no end");
  FUZZ_CHECK(diag->line >= 0 && diag->line <= lines, "line %d of %d: %s", diag->line, lines, diag->message);
  FUZZ_CHECK(diag->column >= 0, "column %d: %s", diag->column, diag->message);
  FUZZ_CHECK(!diag->line || !diag->file[0] || strcmp(diag->file, path) == 0, "file is '%s'", diag->file);
  bramah_diag_format(diag, text, sizeof text);
}

void fuzz_check_same_diag(const bramah_diag *a, const bramah_diag *b)
{
  FUZZ_CHECK(a->status == b->status && a->line == b->line && a->column == b->column &&
                 !strcmp(a->thing, b->thing) && !strcmp(a->message, b->message),
             "'%d:%d: %s: %s' and '%d:%d: %s: %s'", a->line, a->column, a->thing, a->message, b->line,
             b->column, b->thing, b->message);
}

void fuzz_tell(void *user, const bramah_diag *diag)
{
  fuzz_mistakes *mistakes = user;
  FUZZ_CHECK(diag->status != BRAMAH_OK, "told without a mistake");
  fuzz_check_diag(diag, diag->status, mistakes->path, mistakes->lines);
  if (mistakes->n++ == 0) mistakes->first = *diag;
}

void fuzz_check_agreement(const fuzz_mistakes *mistakes, bramah_status check, bramah_status load,
                          const bramah_diag *diag)
{
  FUZZ_CHECK(check == load, "check says %s, load %s", bramah_status_name(check), bramah_status_name(load));
  FUZZ_CHECK((mistakes->n > 0) == (load != BRAMAH_OK), "%zu mistakes and %s", mistakes->n,
             bramah_status_name(load));
  if (!load) return;
  fuzz_check_diag(diag, load, mistakes->path, mistakes->lines);
  fuzz_check_same_diag(diag, &mistakes->first);
}
