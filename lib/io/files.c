/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _DEFAULT_SOURCE /* getentropy, lstat, scandir, fchmod, fdopen, fsync, O_DIRECTORY */
#include "lib/io/files.h"
#include "lib/base/text.h"
#include "lib/io/fail.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- reading ---- */

enum { PIPE_SECONDS = 10 };

uint64_t bramah__hash_file(const char *path)
{
  unsigned char part[4096];
  struct stat about;
  FILE *file = stat(path, &about) == 0 && S_ISREG(about.st_mode) ? fopen(path, "rb") : NULL;
  uint64_t sum = 0;
  if (!file) return 0;
  for (size_t n; (n = fread(part, 1, sizeof part, file)) > 0;) sum = bramah__fnv(sum, part, n);
  fclose(file);
  return sum;
}

int bramah__open_input(const char *path)
{
  struct stat about;
  const int is_pipe = stat(path, &about) == 0 && S_ISFIFO(about.st_mode);
  const int fd = open(path, O_RDONLY | O_CLOEXEC | (is_pipe ? O_NONBLOCK : 0));
  if (fd < 0 || !is_pipe) return fd;
  struct pollfd wait = {.fd = fd, .events = POLLIN};
  const int come = poll(&wait, 1, PIPE_SECONDS * 1000);
  if (come > 0 && fcntl(fd, F_SETFL, 0) == 0) return fd;
  const int error = come == 0 ? ETIMEDOUT : errno;
  close(fd);
  errno = error;
  return -1;
}

/* Length of a file's name without its ending. */
static size_t stem_length(const char *name)
{
  const char *dot = strrchr(name, '.');
  return dot && dot > name ? (size_t)(dot - name) : strlen(name);
}

/* A file beside the missing one with the same name but for the ending, or nearly the same name; its name is put
 * behind the `reason`. */
static void suggest_file(const char *path, char *reason, size_t size)
{
  struct dirent **entries = NULL;
  const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path, *near = NULL;
  const int folder_length = (int)(name - path);
  char folder[4096];
  if (*name == '\0' || folder_length >= (int)sizeof folder) return;
  snprintf(folder, sizeof folder, "%.*s", folder_length, path);
  const int n = scandir(folder_length ? folder : ".", &entries, NULL, alphasort);
  const char **names = n > 0 ? calloc((size_t)n, sizeof *names) : NULL;
  for (int i = 0; names && i < n; i++) {
    names[i] = entries[i]->d_name;
    const size_t stem = stem_length(names[i]);
    if (!near && stem == stem_length(name) && strncmp(names[i], name, stem) == 0) near = names[i];
  }
  if (names && !near) near = bramah__nearest(name, (size_t)n, names);
  const size_t used = strlen(reason);
  if (near) snprintf(reason + used, size - used, "; did you mean '%s%s'?", folder, near);
  for (int i = 0; i < n; i++) free(entries[i]);
  free(entries);
  free(names);
}

const char *bramah__open_reason(const char *path, int error, char *reason, size_t size)
{
  if (error == ETIMEDOUT)
    snprintf(reason, size, "nobody wrote to this pipe for %d s", PIPE_SECONDS);
  else if (strerror_r(error, reason, size) != 0)
    reason[0] = '\0';
  if (error == ENOENT) suggest_file(path, reason, size);
  return reason;
}

/* ---- writing ---- */

static bramah_status fail(bramah_diag *diag, const char *path)
{
  char reason[128];
  if (strerror_r(errno, reason, sizeof reason) != 0) reason[0] = '\0';
  return bramah__failf(diag, BRAMAH_E_FILE, path, 0, NULL, "cannot be written: %s", reason);
}

bramah_status bramah__new_file_open(const char *path, bramah__new_file *out, bramah_diag *diag)
{
  struct stat there;
  const size_t length = strlen(path) + 24;
  const int exists = lstat(path, &there) == 0;
  int fd = -1;
  *out = (bramah__new_file){.path = path};
  if (exists && !S_ISREG(there.st_mode))
    return bramah__failf(diag, BRAMAH_E_FILE, path, 0, NULL,
                         "is a link, a folder or a device, which no file is to take the place of");
  out->part = malloc(length);
  if (!out->part) return bramah__fail_memory(diag);
  do {
    uint64_t number;
    if (getentropy(&number, sizeof number) != 0) break;
    snprintf(out->part, length, "%s.%016llx", path, (unsigned long long)number);
    fd = open(out->part, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
  } while (fd < 0 && errno == EEXIST);
  if (fd >= 0 && exists) (void)!fchmod(fd, there.st_mode & 0777); /* as the one before, where that can be */
  out->file = fd < 0 ? NULL : fdopen(fd, "wb");
  if (out->file) return BRAMAH_OK;
  const bramah_status status = fail(diag, path);
  if (fd >= 0) {
    close(fd);
    remove(out->part);
  }
  free(out->part);
  return status;
}

/* The name of a file is in its folder: that must be on the disk too. */
static void sync_folder(const char *path)
{
  const char *slash = strrchr(path, '/');
  char *folder = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
  const int fd = folder ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
  if (fd >= 0) {
    (void)fsync(fd);
    close(fd);
  }
  free(folder);
}

bramah_status bramah__new_file_finish(bramah__new_file *f, int good, bramah_diag *diag)
{
  bramah_status status = BRAMAH_OK;
  const int whole = fflush(f->file) == 0 && !ferror(f->file) && (!good || fsync(fileno(f->file)) == 0);
  const int error = errno, closed = fclose(f->file) == 0;
  if (good && !whole) errno = error;
  if (good && (!whole || !closed || rename(f->part, f->path) != 0)) status = fail(diag, f->path);
  if (good && status == BRAMAH_OK)
    sync_folder(f->path);
  else
    remove(f->part);
  free(f->part);
  *f = (bramah__new_file){0};
  return status;
}
