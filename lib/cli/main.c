/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bramah: simulate a machine, replay a log through the filter, compare files, study filters, check files. */
#include "lib/cli/commands.h"

#include <gsl/gsl_errno.h>
#include <stdio.h>
#include <string.h>

static const cli_command *const commands[] = {&cli_simulate,      &cli_replay, &cli_compare,
                                              &cli_study,         &cli_check,  &cli_linearize,
                                              &cli_modes_command, &cli_tune,   &cli_sweep};
enum { N_COMMANDS = sizeof commands / sizeof commands[0] };

static void print_help(FILE *file)
{
  fputs("usage: bramah COMMAND ...\n\n"
        "State estimation for hydraulically actuated multibody machines.\n\nCommands:\n",
        file);
  for (size_t i = 0; i < N_COMMANDS; i++)
    fprintf(file, "  %-10s %s\n", commands[i]->name, commands[i]->summary);
  fputs("\n'bramah COMMAND --help' tells more; 'bramah --version' prints the version.\n\n"
        "Example:\n  bramah check datasets/four-bar/four-bar.yaml\n",
        file);
}

static int wrong_command(const char *name)
{
  const char *names[N_COMMANDS];
  for (size_t i = 0; i < N_COMMANDS; i++) names[i] = commands[i]->name;
  while (*name == '-') name++;
  const char *nearest = cli_nearest(name, N_COMMANDS, names);
  fprintf(stderr, "bramah: unknown command '%s'", name);
  if (nearest) fprintf(stderr, "; did you mean '%s'?", nearest);
  fputs("\nusage: bramah simulate|replay|compare|study|tune|sweep|check|linearize|modes ...\n"
        "'bramah --help' tells more\n",
        stderr);
  return CLI_WRONG_USE;
}

static int run(int argc, char **argv)
{
  if (argc < 2) {
    print_help(stderr);
    return CLI_WRONG_USE;
  }
  if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "help") == 0) {
    print_help(stdout);
    return CLI_OK;
  }
  if (strcmp(argv[1], "--version") == 0) {
    printf("bramah %s\n", bramah_version());
    return CLI_OK;
  }
  for (size_t i = 0; i < N_COMMANDS; i++)
    if (strcmp(argv[1], commands[i]->name) == 0) return cli_dispatch(commands[i], argc - 2, argv + 2);
  return wrong_command(argv[1]);
}

int main(int argc, char **argv)
{
  gsl_set_error_handler_off(); /* it would abort where memory is short: callers look at what comes back */
  const int code = run(argc, argv);
  if (fflush(stdout) == 0 && !ferror(stdout)) return code;
  fputs("bramah: cannot write to standard output\n", stderr);
  return code ? code : CLI_FAILED;
}
