/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bramah compile: the steps of a machine, or the filter of a study, as C source. */
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
  snprintf(out, n, "%s", cli_base_name(path));
  char *suffix = strrchr(out, '.');
  if (suffix) *suffix = '\0';
  return out;
}

/* The steps of a machine from where its file has it. */
static bramah_status compile_machine(const char *path, const char *name, int64_t step_ns,
                                     bramah_precision precision, bramah_c_source *out, bramah_diag *diag)
{
  bramah_machine_plant machine = {0};
  bramah_program *program = NULL;
  bramah_status status = bramah_machine_plant_open(&machine, path, 0, NULL, step_ns, diag);
  if (!status) status = bramah_program_new(machine.model, diag, &program);
  if (!status) status = bramah_program_c_source(program, machine.coupled, name, precision, diag, out);
  cli_place(diag, status ? path : NULL, 0);
  bramah_program_free(program);
  bramah_machine_plant_close(&machine);
  return status;
}

/* The filter of a study from where it starts. */
static bramah_status compile_study(const char *path, const char *name, int64_t step_ns,
                                   bramah_precision precision, bramah_c_source *out, bramah_diag *diag)
{
  bramah_study *study = NULL;
  bramah_session *session = NULL;
  bramah_program *program = NULL;
  bramah_status status = bramah_study_load(path, 0, NULL, diag, &study);
  const int hypotheses = !status && study->hypotheses.n > 0;
  if (!status && (study->adapt.line || hypotheses)) {
    status = hypotheses ? cli_fail(diag, BRAMAH_E_UNSUPPORTED, path, 0, "hypotheses",
                                   "one filter is compiled, not several that are weighed")
                        : cli_fail(diag, BRAMAH_E_UNSUPPORTED, path, study->adapt.line, "adapt",
                                   "a filter whose noise adapts is not compiled");
    bramah_study_free(study);
  } else if (!status) {
    status = bramah_session_new(study, step_ns, diag, &session);
  }
  if (!status && bramah_session_study(session)->plant.line)
    status = cli_fail(diag, BRAMAH_E_UNSUPPORTED, path, bramah_session_study(session)->plant.line, "plant",
                      "an FMU has no equations to compile");
  const bramah_machine_plant *machine = status ? NULL : bramah_session_about(session)->machine;
  if (!status) status = bramah_program_new(machine->model, diag, &program);
  if (!status)
    status = bramah_filter_c_source(bramah_session_filter(session), program, machine->coupled, name,
                                    precision, diag, out);
  cli_place(diag, status ? path : NULL, 0);
  bramah_program_free(program);
  bramah_session_close(session);
  return status;
}

static int run(const cli_arguments *arguments)
{
  const char *path = arguments->operands[0], *name = cli_value(arguments, "name"),
             *precision = cli_value(arguments, "precision");
  const int is_study = bramah_file_kind_of(path) == BRAMAH_FILE_STUDY;
  bramah_c_source source = {.header = NULL};
  bramah_diag diag;
  int64_t step_ns = 0;
  char of_file[64];
  if (!name) name = name_of_file(path, of_file, sizeof of_file);
  const int code = cli_time_value(arguments, "step", &step_ns);
  if (code) return code;
  if (precision && strcmp(precision, "single") != 0 && strcmp(precision, "double") != 0)
    return cli_wrong_use(arguments->command, "the precision is 'single' or 'double'");
  bramah_diag_clear(&diag);
  bramah_status status = (is_study ? compile_study : compile_machine)(
      path, name, step_ns, precision && *precision == 's' ? BRAMAH_PRECISION_SINGLE : BRAMAH_PRECISION_DOUBLE,
      &source, &diag);
  if (!status) status = write_files(cli_value(arguments, "output"), &source, &diag);
  if (!status)
    printf("%s_%s: %.9g s; %zu operations a Newton iterate, %zu the rest of %s, %zu values between them\n%s",
           source.name, is_study ? "predict" : "step", source.step, source.n_iterate, source.n_step,
           is_study ? "a cycle, without those of the covariance" : "a step", source.n_kept,
           is_study ? "the filter with its plant\n"
                    : "the plant alone: no sensors, no filter; steps are not divided\n");
  bramah_c_source_free(&source);
  return status ? cli_report(&diag) : CLI_OK;
}

static const cli_option options[] = {
    {"output", "FOLDER", "where the two files go", 1, 0},
    {"name", "NAME", "of the files and of what they define\nOtherwise that of the machine's file.", 0, 0},
    {"step", "TIME", "time step, \"1 ms\"; else that of the machine", 0, 0},
    {"precision", "single|double", "floats for processors without doubles", 0, 0},
    {0}};

const cli_command cli_compile = {
    .name = "compile",
    .operands = "MACHINE|STUDY",
    .summary = "Write a machine's steps or a study's filter as C source",
    .details =
        "For a computer without bramah. Writes NAME.h and NAME.c: C11 that needs nothing but sqrt and fabs,\n"
        "of fixed size, without allocation, recursion or unbounded loops; compiled with -std=c11\n"
        "-ffp-contract=off it gives the same bits everywhere.\n"
        "Of a machine: NAME_step(state, commands, parameters) advances it by one step of the trapezoidal\n"
        "rule, from where the machine file has it. Of a study: with it NAME_begin, NAME_predict,\n"
        "NAME_correct, NAME_inject and NAME_outputs, its filter with gates and recovery, which estimates\n"
        "what 'bramah replay' does.\n"
        "A step that fails (a pose near a singular one, an iteration that does not converge, a piston that\n"
        "leaves its cylinder) is refused and leaves everything as it was. NAME_predict divides a step that\n"
        "does not converge or whose error is beyond the tolerance, as 'bramah simulate' does; NAME_step\n"
        "makes the latter and says so.\n"
        "What is not compiled is refused by name: datasets/README.md has the list.\n",
    .example = "bramah compile four-bar.yaml --output generated",
    .min_operands = 1,
    .max_operands = 1,
    .options = options,
    .run = run};
