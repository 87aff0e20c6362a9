/* SPDX-License-Identifier: MIT */
/* C source of a machine compiled by the compiler of the tests, in a folder of its own, and the program that runs it. Include
 * after test/support/run.h; define _XOPEN_SOURCE 700 before any include. */
#ifndef BRAMAH_TEST_SUPPORT_C_SOURCE_H
#define BRAMAH_TEST_SUPPORT_C_SOURCE_H

#include "bramah/coupled.h"
#include "test/support/scratch.h"

/* Reads commands and parameters of each step, writes status, positions, rates and pressures. */
static const char step_driver[] =
    "#include \"m.h\"\n"
    "#include <stdio.h>\n"
    "#include <stdlib.h>\n"
    "#ifndef GROUND\n"
    "#define GROUND(s)\n"
    "#endif\n"
    "int main(void)\n"
    "{\n"
    "  static m_state s;\n"
    "  double u[M_ROOM(M_INPUTS)] = {0}, theta[M_ROOM(M_PARAMETERS)], status;\n"
    "  s = m_start;\n"
    "  while (fread(u, sizeof *u, M_INPUTS, stdin) == M_INPUTS &&\n"
    "         fread(theta, sizeof *theta, M_PARAMETERS, stdin) == M_PARAMETERS) {\n"
    "    GROUND(&s);\n"
    "    status = m_step(&s, u, theta);\n"
    "    fwrite(&status, sizeof status, 1, stdout);\n"
    "    fwrite(s.z, sizeof *s.z, M_JOINTS, stdout);\n"
    "    fwrite(s.zd, sizeof *s.zd, M_JOINTS, stdout);\n"
    "    fwrite(s.p, sizeof *s.p, M_FIRST_ORDER, stdout);\n"
    "  }\n"
    "  return 0;\n"
    "}\n";

static inline FILE *in_folder(const char *folder, const char *name, const char *mode)
{
  char path[1024];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *file = fopen(path, mode);
  ck_assert_ptr_nonnull(file);
  return file;
}

static inline void put_text(const char *folder, const char *name, const char *text)
{
  FILE *file = in_folder(folder, name, "w");
  fputs(text, file);
  ck_assert_int_eq(fclose(file), 0);
}

static inline void remove_folder(const char *folder)
{
  char command[1024];
  snprintf(command, sizeof command, "rm -rf %s", folder);
  ck_assert_int_eq(system(command), 0);
}

/* The program with a source called m; reads the file `in` of the folder, writes `out`. */
static inline void compile_and_run(const char *folder, const bramah_c_source *source, const char *program,
                                   const char *optimisation)
{
  char command[2048];
  const char *cc = getenv("BRAMAH_CC");
  put_text(folder, "m.h", source->header);
  put_text(folder, "m.c", source->code);
  put_text(folder, "main.c", program);
  snprintf(command, sizeof command,
           "cd %s && %s -std=c11 %s -ffp-contract=off -o steps main.c m.c -lm && ./steps <in >out", folder,
           cc ? cc : "cc", optimisation);
  ck_assert_msg(system(command) == 0, "%s", command);
}

/* How the plant has stepped: whether in a way that the source has, too. */
static inline int is_plain(const bramah_coupled *c)
{
  const bramah_step_report r = bramah_coupled_report(c);
  return r.compiled == r.steps && r.divided == 0 && r.basis_changes == 0;
}

#endif
