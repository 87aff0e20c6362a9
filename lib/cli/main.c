/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bramah: the command line, read by the table of each command. */
#include "lib/cli/cli.h"
#include "bramah/units.h"

#include <errno.h>
#include <gsl/gsl_errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_OPTIONS = 32 };

/* ---- help ---- */

/* "--name VALUE", "..." where it may be repeated. */
static int option_text(const cli_option *o, char *text, size_t size)
{
  const char *value = !o->value ? "" : strchr(o->value, '|') ? "WORD" : o->value;
  return snprintf(text, size, "--%s%s%s%s", o->name, o->value ? " " : "", value, o->repeats ? "..." : "");
}

/* What a run needs; what else there is the help lists. */
static void print_usage(FILE *file, const cli_command *command)
{
  char text[64];
  fprintf(file, "usage: bramah %s %s", command->name, command->operands);
  for (const cli_option *o = command->options; o->name; o++)
    if (o->required) fprintf(file, " %s", (option_text(o, text, sizeof text), text));
  fputs(" [OPTION...]\n", file);
}

/* At most a screen; the manual says the rest. */
static void print_command_help(const cli_command *command)
{
  char text[64];
  int width = 0;
  print_usage(stdout, command);
  printf("%s.\n\n", command->summary);
  for (const cli_option *o = command->options; o->name; o++) {
    const int length = option_text(o, text, sizeof text);
    if (length > width) width = length;
  }
  for (const cli_option *o = command->options; o->name; o++) {
    option_text(o, text, sizeof text);
    printf("  %-*s  %.*s\n", width, text, (int)strcspn(o->help, "\n"), o->help);
  }
  printf("\nExample: %s\n'man bramah-%s' says more\n", command->example, command->name);
}

int cli_wrong_use(const cli_command *command, const char *format, ...)
{
  va_list list;
  char text[4096];
  va_start(list, format);
  vsnprintf(text, sizeof text, format, list);
  va_end(list);
  bramah_make_printable(text);
  fprintf(stderr, "bramah %s: %s\n", command->name, text);
  print_usage(stderr, command);
  fprintf(stderr, "'bramah %s --help' says more\n", command->name);
  return CLI_WRONG_USE;
}

/* ---- reading ---- */

/* Options of earlier versions. */
static const struct {
  const char *former, *now;
} renamed[] = {
    {"as-it-stands", "start-from-study"}, {"plant-noise", "process-noise"}, {"all", "columns '*'"}};

/* One option at argv[*i], whose value may be the argument after it. */
static int take_option(cli_arguments *out, int argc, char **argv, int *i)
{
  const char *given = argv[*i] + 2, *equals = strchr(given, '=');
  char name[64];
  snprintf(name, sizeof name, "%.*s", equals ? (int)(equals - given) : (int)strlen(given), given);
  const char *names[MOST_OPTIONS + 1] = {"help"};
  size_t n = 1;
  const cli_option *option = NULL;
  for (const cli_option *o = out->command->options; o->name && n <= MOST_OPTIONS; o++) {
    names[n++] = o->name;
    if (strcmp(o->name, name) == 0) option = o;
  }
  if (!option) {
    for (size_t k = 0; k < sizeof renamed / sizeof renamed[0]; k++)
      if (strcmp(name, renamed[k].former) == 0)
        return cli_wrong_use(out->command, "option '--%s' is '--%s' now", name, renamed[k].now);
    const char *nearest = bramah_nearest_name(name, n, names);
    return nearest ? cli_wrong_use(out->command, "unknown option '--%s'; did you mean '--%s'?", name, nearest)
                   : cli_wrong_use(out->command, "unknown option '--%s'", name);
  }
  const char *value = equals ? equals + 1 : NULL;
  if (!option->value && equals) return cli_wrong_use(out->command, "option '--%s' takes no value", name);
  if (option->value && !equals && *i + 1 < argc && strncmp(argv[*i + 1], "--", 2) != 0) value = argv[++*i];
  if (option->value && (!value || !*value))
    return cli_wrong_use(out->command, "option '--%s' needs a value: --%s %s", name, name, option->value);
  if (!option->repeats && cli_value(out, name))
    return cli_wrong_use(out->command, "option '--%s' is given twice", name);
  out->given[out->n_given++] = (cli_given){option, option->value ? value : ""};
  return 0;
}

/* Operands and options in any order; after "--" only operands. */
static int read_arguments(cli_arguments *out, int argc, char **argv)
{
  const cli_command *command = out->command;
  int only_operands = 0, wrong = 0;
  for (int i = 0; i < argc && !wrong; i++) {
    const char *argument = argv[i];
    if (only_operands || argument[0] != '-' || !argument[1])
      out->operands[out->n_operands++] = argument;
    else if (strcmp(argument, "--") == 0)
      only_operands = 1;
    else if (argument[1] == '-')
      wrong = take_option(out, argc, argv, &i);
    else
      wrong = cli_wrong_use(command, "unknown option '%s'; options begin with two dashes", argument);
  }
  if (wrong) return wrong;
  if (out->n_operands < command->min_operands)
    return cli_wrong_use(command, "an argument is missing: %s", command->operands);
  if (out->n_operands > command->max_operands)
    return cli_wrong_use(command, "'%s' is one argument too many", out->operands[command->max_operands]);
  for (const cli_option *o = command->options; o->name; o++)
    if (o->required && !cli_value(out, o->name))
      return cli_wrong_use(command, "option '--%s' is missing: --%s %s", o->name, o->name, o->value);
  return 0;
}

/* The help of a command, or its run. */
static int dispatch(const cli_command *command, int argc, char **argv)
{
  for (int i = 0; i < argc && strcmp(argv[i], "--") != 0; i++) {
    if (strcmp(argv[i], "--help") != 0 && strcmp(argv[i], "-h") != 0) continue;
    print_command_help(command);
    return CLI_OK;
  }
  const size_t room = (size_t)argc + 1;
  cli_arguments arguments = {.command = command,
                             .operands = calloc(room, sizeof *arguments.operands),
                             .given = calloc(room, sizeof *arguments.given)};
  int code = CLI_FAILED;
  if (arguments.operands && arguments.given) {
    code = read_arguments(&arguments, argc, argv);
    if (!code) code = command->run(&arguments);
    /* Mistakes go before a signal, and that before doubts about the outcome. */
    if (cli_stop_signal() && (code == CLI_OK || code == CLI_UNTRUSTED))
      code = CLI_STOPPED + cli_stop_signal();
  }
  free(arguments.operands);
  free(arguments.given);
  return code;
}

/* ---- values ---- */

const char *cli_value_again(const cli_arguments *arguments, const char *name, size_t n)
{
  for (int i = 0; i < arguments->n_given; i++)
    if (strcmp(arguments->given[i].option->name, name) == 0 && n-- == 0) return arguments->given[i].value;
  return NULL;
}

const char *cli_value(const cli_arguments *arguments, const char *name)
{
  return cli_value_again(arguments, name, 0);
}

/* Plain seconds, or a number with a unit of time, which must lie beyond `least` nanoseconds. */
static int read_time(const cli_arguments *arguments, const char *name, double least, const char *what,
                     int64_t *ns)
{
  const char *text = cli_value(arguments, name);
  bramah_diag diag;
  char *end;
  if (!text) return 0;
  double seconds = strtod(text, &end);
  bramah_diag_clear(&diag);
  if ((end == text || *end) && bramah_quantity_parse(text, "s", &seconds, &diag) != BRAMAH_OK)
    return cli_wrong_use(arguments->command, "--%s: %s", name, diag.message);
  if (!(seconds * 1e9 >= least) || !(seconds < 9e9))
    return cli_wrong_use(arguments->command, "--%s: '%s' is %s to work with", name, text, what);
  *ns = llround(seconds * 1e9);
  return 0;
}

int cli_time_value(const cli_arguments *arguments, const char *name, int64_t *ns)
{
  return read_time(arguments, name, 0.5, "not a length of time", ns);
}

int cli_moment_value(const cli_arguments *arguments, const char *name, int64_t *ns)
{
  return read_time(arguments, name, -9e18, "no time", ns);
}

int cli_count_value(const cli_arguments *arguments, const char *name, uint64_t least, uint64_t *out)
{
  const char *text = cli_value(arguments, name);
  char *end;
  if (!text) return 0;
  errno = 0;
  const unsigned long long value = strtoull(text, &end, 10);
  if (text[0] < '0' || text[0] > '9' || *end || errno || value < least)
    return cli_wrong_use(arguments->command, "--%s: '%s' is not a whole number from %llu on", name, text,
                         (unsigned long long)least);
  *out = value;
  return 0;
}

/* ---- commands ---- */

/* As a newcomer meets them: describe, simulate, estimate, improve; then the machine as a linear system, the work it does,
 * and as C source. */
static const cli_command *const commands[] = {
    &cli_check,         &cli_map,    &cli_simulate, &cli_replay, &cli_serve,
    &cli_compare,       &cli_tune,   &cli_sweep,    &cli_study,  &cli_linearize,
    &cli_modes_command, &cli_cycles, &cli_compile,  &cli_fmu,    NULL};
enum { N_COMMANDS = sizeof commands / sizeof commands[0] - 1 };

static void print_help(FILE *file)
{
  fputs("usage: bramah COMMAND ...\n"
        "State estimation for hydraulically actuated multibody machines.\n\n",
        file);
  for (size_t i = 0; i < N_COMMANDS; i++)
    fprintf(file, "  %-10s %s\n", commands[i]->name, commands[i]->summary);
  fputs("\nFiles (YAML): what a machine is; a study, its sensors and its filter; a plan of\n"
        "studies; work, who did it. A log: what was measured (CSV, MAT, MDF, MCAP, CAN).\n"
        "'bramah COMMAND --help' and 'man bramah' say more, 'bramah --version' which one.\n\n"
        "Example, in datasets/four-bar:\n"
        "  bramah replay sensors-2.yaml log.csv --output estimate.csv\n",
        file);
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
  if (strcmp(argv[1], "generate") == 0 && argc == 3) return cli_generate(argv[2], commands);
  for (size_t i = 0; i < N_COMMANDS; i++)
    if (strcmp(argv[1], commands[i]->name) == 0) return dispatch(commands[i], argc - 2, argv + 2);
  const char *name = argv[1], *names[N_COMMANDS];
  for (size_t i = 0; i < N_COMMANDS; i++) names[i] = commands[i]->name;
  while (*name == '-') name++;
  const char *nearest = bramah_nearest_name(name, N_COMMANDS, names);
  fprintf(stderr, "bramah: unknown command '%s'", name);
  if (strcmp(name, "run") == 0)
    fputs("; a log is run with 'replay STUDY LOG', live with 'replay STUDY can0 --output -' or udp:PORT for "
          "can0, "
          "in a browser with 'serve STUDY --from udp:PORT'",
          stderr);
  else if (nearest)
    fprintf(stderr, "; did you mean '%s'?", nearest);
  fputs("\nusage: bramah ", stderr);
  for (size_t i = 0; i < N_COMMANDS; i++) fprintf(stderr, "%s%s", i ? "|" : "", names[i]);
  fputs(" ...\n'bramah --help' says more\n", stderr);
  return CLI_WRONG_USE;
}

int main(int argc, char **argv)
{
  gsl_set_error_handler_off(); /* it would abort where memory is short: callers look at what comes back */
  cli_stop_catch(0);
  const int code = run(argc, argv);
  if (fflush(stdout) == 0 && !ferror(stdout)) return code;
  fputs("bramah: cannot write to standard output\n", stderr);
  return code ? code : CLI_FAILED;
}
