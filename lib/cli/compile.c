/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bramah compile: the steps of a machine as C source. */
#define _POSIX_C_SOURCE 200809L /* mkdir */
#include "bramah/session.h"
#include "lib/cli/cli.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static bramah_status write_file(const char *directory, const char *name, const char *suffix, const char *text,
                                bramah_diag *diag)
{
  char path[4096];
  if (snprintf(path, sizeof path, "%s/%s%s", directory, name, suffix) >= (int)sizeof path)
    return cli_fail(diag, BRAMAH_E_FILE, directory, 0, NULL, "the path is too long");
  FILE *file = cli_create(path, diag);
  if (!file) return BRAMAH_E_FILE;
  fputs(text, file);
  const bramah_status status = cli_finish(file, path, diag);
  if (!status) printf("%s: %zu bytes\n", path, strlen(text));
  return status;
}

/* Its last folder is made where it is missing. */
static bramah_status write_files(const char *directory, const bramah_c_source *source, bramah_diag *diag)
{
  if (mkdir(directory, 0777) && errno != EEXIST)
    return cli_fail(diag, BRAMAH_E_FILE, directory, 0, NULL, "cannot make this folder: %s", strerror(errno));
  const bramah_status status = write_file(directory, source->name, ".h", source->header, diag);
  return status ? status : write_file(directory, source->name, ".c", source->code, diag);
}

/* "machines/four-bar.yaml": four-bar */
static const char *name_of_file(const char *path, char *out, size_t n)
{
  const char *slash = strrchr(path, '/');
  snprintf(out, n, "%s", slash ? slash + 1 : path);
  char *suffix = strrchr(out, '.');
  if (suffix) *suffix = '\0';
  return out;
}

static int run(const cli_arguments *arguments)
{
  const char *path = arguments->operands[0], *name = cli_value(arguments, "name");
  bramah_machine_plant machine = {0};
  bramah_program *program = NULL;
  bramah_c_source source = {.header = NULL};
  bramah_diag diag;
  int64_t step_ns = 0;
  char of_file[64];
  if (!name) name = name_of_file(path, of_file, sizeof of_file);
  const int code = cli_time_value(arguments, "step", &step_ns);
  if (code) return code;
  bramah_status status = bramah_machine_plant_open(&machine, path, 0, NULL, step_ns, &diag);
  if (!status) status = bramah_program_new(machine.model, &diag, &program);
  if (!status) status = bramah_program_c_source(program, machine.coupled, name, &diag, &source);
  cli_place(&diag, status ? path : NULL, 0);
  if (!status) status = write_files(cli_value(arguments, "output"), &source, &diag);
  if (!status)
    printf(
        "%s_step: %.9g s; %zu operations a Newton iterate, %zu the rest of a step, %zu values between them\n"
        "the plant alone: no sensors, no filter; steps are not divided\n",
        source.name, cli_seconds(machine.plant.step_ns), source.n_iterate, source.n_step, source.n_kept);
  bramah_c_source_free(&source);
  bramah_program_free(program);
  bramah_machine_plant_close(&machine);
  return status ? cli_report(&diag) : CLI_OK;
}

static const cli_option options[] = {
    {"output", "FOLDER", "where the two files go", 1, 0},
    {"name", "NAME", "of the files and of what they define; otherwise that of the machine's file", 0, 0},
    {"step", "TIME", "time step (\"1 ms\"); otherwise that of the machine file", 0, 0},
    {0}};

const cli_command cli_compile = {
    .name = "compile",
    .operands = "MACHINE",
    .summary = "Write the steps of a machine as C source, for a computer without bramah",
    .details =
        "Writes NAME.h and NAME.c: C11 that needs nothing but sqrt and fabs, of fixed size, without "
        "allocation,\n"
        "recursion or unbounded loops. NAME_step(state, commands, parameters) advances the machine by one "
        "step\n"
        "of the trapezoidal rule, from where the machine file has it; compiled with -std=c11\n"
        "-ffp-contract=off it gives the same bits everywhere.\n"
        "It is the plant alone, no sensors and no filter. A step that fails (a pose near a singular one, an\n"
        "iteration that does not converge, a piston that leaves its cylinder) is refused and leaves the "
        "state\n"
        "as it was; one whose error is beyond the tolerance is made and says so, where 'bramah simulate'\n"
        "would divide it. Machines with quasistatic actuators, prescribed motions, spherical joints, wheels "
        "or\n"
        "friction with states are not compiled.\n",
    .example = "bramah compile four-bar.yaml --output generated",
    .min_operands = 1,
    .max_operands = 1,
    .options = options,
    .run = run};
