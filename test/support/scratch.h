/* SPDX-License-Identifier: MIT */
/* Names for temporary files and folders of a test, in the folder that TMPDIR names. Define _GNU_SOURCE or
 * _XOPEN_SOURCE 700 before any include. */
#ifndef BRAMAH_TEST_SUPPORT_SCRATCH_H
#define BRAMAH_TEST_SUPPORT_SCRATCH_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SCRATCH_NAME = 512 };

/* A name whose last six letters mkstemp and mkdtemp choose; they must be X. Returns 0 if it is too long. */
static inline int scratch_template(char name[SCRATCH_NAME])
{
  enum { CHOSEN = 6 };
  const char *folder = getenv("TMPDIR");
  const int n = snprintf(name, SCRATCH_NAME, "%s/bramah-test-", folder && *folder ? folder : P_tmpdir);
  if (n < 0 || n + CHOSEN >= SCRATCH_NAME) return 0;
  memset(name + n, 'X', CHOSEN);
  name[n + CHOSEN] = '\0';
  return 1;
}

/* Make an empty file, or a folder, of a new name. Return 0 if there can be none. */
static inline int scratch_file(char name[SCRATCH_NAME])
{
  const int file = scratch_template(name) ? mkstemp(name) : -1;
  return file >= 0 && close(file) == 0;
}

static inline int scratch_folder(char name[SCRATCH_NAME])
{
  return scratch_template(name) && mkdtemp(name) != NULL;
}

#endif
