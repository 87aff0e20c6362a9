/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs files through a harness where there is no libFuzzer: each whole, and cut short at a dozen places, as
 * a file is that somebody did not finish writing. Arguments are files and folders. */
#define _POSIX_C_SOURCE 200809L
#include "test/fuzz/fuzz.h"

#include <dirent.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LARGEST_FILE = 1 << 20, CUTS = 12 };

static const char *running; /* for the message of an abort */

static void run_bytes(const uint8_t *data, size_t size)
{
  /* A copy of its own size, so that a sanitizer sees a step beyond its end. */
  uint8_t *copy = malloc(size ? size : 1);
  FUZZ_CHECK(copy, "no memory");
  memcpy(copy, data, size);
  LLVMFuzzerTestOneInput(copy, size);
  free(copy);
}

static void run_file(const char *path)
{
  static uint8_t data[LARGEST_FILE];
  FILE *stream = fopen(path, "rb");
  FUZZ_CHECK(stream, "%s cannot be opened", path);
  const size_t size = fread(data, 1, sizeof data, stream);
  FUZZ_CHECK(size < sizeof data && !ferror(stream), "%s is too large", path);
  fclose(stream);
  running = path;
  for (size_t i = 1; i <= CUTS; i++) run_bytes(data, size * i / CUTS);
}

static int run_folder(const char *path)
{
  struct dirent **entries = NULL;
  int files = 0;
  const int n = scandir(path, &entries, NULL, alphasort);
  for (int i = 0; i < n; i++) {
    char name[4096];
    snprintf(name, sizeof name, "%s/%s", path, entries[i]->d_name);
    if (entries[i]->d_name[0] != '.') {
      run_file(name);
      files++;
    }
    free(entries[i]);
  }
  free(entries);
  if (n >= 0) return files;
  run_file(path);
  return 1;
}

/* The harness aborts where something is wrong: say with which file. */
static void say_which(int signal)
{
  (void)signal;
  if (!running || write(STDERR_FILENO, running, strlen(running)) < 0 || write(STDERR_FILENO, "\n", 1) < 0)
    return;
}

int main(int argc, char **argv)
{
  int files = 0;
  signal(SIGABRT, say_which);
  for (int i = 1; i < argc; i++) files += run_folder(argv[i]);
  running = NULL;
  printf("%d files\n", files);
  return files > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
