/* SPDX-License-Identifier: MIT */
/* Native code of a program, made by the compiler of the tests (BRAMAH_CC). Define _GNU_SOURCE or _XOPEN_SOURCE 700 before any
 * include. */
#ifndef BRAMAH_TEST_SUPPORT_NATIVE_H
#define BRAMAH_TEST_SUPPORT_NATIVE_H

#include "bramah/coupled.h"
#include "test/support/run.h"
#include "test/support/scratch.h"

#include <dlfcn.h>

/* Piece i of the program from now on runs by native code; it stays loaded as long as the test runs. Returns its parts. */
static inline const bramah_native_part *use_native(bramah_program *program, size_t i)
{
  char folder[SCRATCH_NAME], path[SCRATCH_NAME + 16], command[4 * SCRATCH_NAME];
  const char *cc = getenv("BRAMAH_CC");
  bramah_native_piece piece;
  bramah_diag diag;
  ck_assert(bramah_program_native_piece(program, i, &piece));
  ck_assert(scratch_folder(folder));
  snprintf(path, sizeof path, "%s/parts.c", folder);
  FILE *file = fopen(path, "w");
  char *text = bramah_program_native_text(program, i);
  ck_assert(file && text && fputs(text, file) >= 0 && fclose(file) == 0);
  free(text);
  snprintf(command, sizeof command,
           "cd %s && %s -std=gnu11 -w -O1 -ffp-contract=off -fPIC -shared -o parts.so parts.c", folder,
           cc ? cc : "cc");
  ck_assert_msg(system(command) == 0, "%s", command);
  snprintf(path, sizeof path, "%s/parts.so", folder);
  void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  ck_assert_msg(handle != NULL, "%s", dlerror());
  const bramah_native_part *part = dlsym(handle, "bramah_parts");
  const unsigned *n_parts = dlsym(handle, "bramah_n_parts");
  ck_assert(part && n_parts && *n_parts == piece.n_parts);
  must(bramah_program_use_native(program, i, part, &diag), &diag);
  ck_assert(bramah_program_native_piece(program, i, &piece) && piece.is_native);
  snprintf(command, sizeof command, "rm -r %s", folder);
  ck_assert_int_eq(system(command), 0);
  return part;
}

/* All pieces; those that have been run without. */
static inline void use_all_native(bramah_program *program)
{
  bramah_native_piece piece;
  for (size_t i = 0; bramah_program_native_piece(program, i, &piece); i++) (void)use_native(program, i);
}

static inline void use_asked_native(bramah_program *program)
{
  bramah_native_piece piece;
  for (size_t i = 0; bramah_program_native_piece(program, i, &piece); i++)
    if (piece.is_asked) (void)use_native(program, i);
}

#endif
