/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The command line: each subcommand is described by one table, from which it is read and its help printed. */
#ifndef BRAMAH_LIB_CLI_ARGUMENTS_H
#define BRAMAH_LIB_CLI_ARGUMENTS_H

#include <stdint.h>
#include "lib/cli/message.h"

/* An option `--name VALUE`, or `--name` alone. The table of a command ends with a name NULL. */
typedef struct cli_option {
  const char *name;  /* without the dashes */
  const char *value; /* what stands for the value in the help; NULL: takes none */
  const char *help;
  int required;
  int repeats; /* may be given more than once */
} cli_option;

typedef struct cli_arguments cli_arguments;

typedef struct cli_command {
  const char *name;
  const char *operands; /* "STUDY LOG" as shown in the help */
  const char *summary;  /* one line */
  const char *details;  /* paragraphs of the help */
  const char *example;
  int min_operands, max_operands;
  const cli_option *options;
  int (*run)(const cli_arguments *arguments); /* returns the exit code */
} cli_command;

typedef struct cli_given {
  const cli_option *option;
  const char *value;
} cli_given;

struct cli_arguments {
  const cli_command *command;
  int n_operands;
  const char **operands; /* [n_operands] */
  int n_given;
  cli_given *given; /* [n_given] in the order of the command line */
};

/* Read what follows the name of the command and run it; prints the help where it is asked for. Returns the
 * exit code. */
int cli_dispatch(const cli_command *command, int argc, char **argv);

/* Value of an option, the n-th one counted from 0; NULL if it was not given (so often), "" if it takes none.
 */
const char *cli_value(const cli_arguments *arguments, const char *name);
const char *cli_value_again(const cli_arguments *arguments, const char *name, size_t n);

/* Say what is wrong with the command line and how it should look; returns CLI_WRONG_USE. */
int cli_wrong_use(const cli_command *command, const char *format, ...) CLI_PRINTF(2, 3);

/* Read the value of an option; *out is left alone if the option was not given. Return 0, or CLI_WRONG_USE
 * with the message printed. Times: plain seconds or with a unit ("10 s", "1 ms"), positive, to whole
 * nanoseconds. */
int cli_time_value(const cli_arguments *arguments, const char *name, int64_t *ns);
/* A moment of a log: may be zero or negative. */
int cli_moment_value(const cli_arguments *arguments, const char *name, int64_t *ns);
int cli_count_value(const cli_arguments *arguments, const char *name, uint64_t least, uint64_t *out);

#endif
