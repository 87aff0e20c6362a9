/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the commands of the program share: messages, the command line, tables, files, the terminal. */
#ifndef BRAMAH_LIB_CLI_CLI_H
#define BRAMAH_LIB_CLI_CLI_H

#include <stdint.h>
#include <stdio.h>
#include "bramah/assess.h"
#include "bramah/report.h"
#include "bramah/serve.h"
#include "bramah/session.h"

/* ---- messages: on standard error, "bramah: file:line:column: thing: message" (print.c) ---- */

#if defined(__GNUC__) || defined(__clang__)
#define CLI_PRINTF(text, first) __attribute__((format(printf, text, first)))
#else
#define CLI_PRINTF(text, first)
#endif

/* Exit codes. */
enum {
  CLI_OK = 0,
  CLI_FAILED = 1,    /* bad input */
  CLI_WRONG_USE = 2, /* of the command line */
  CLI_UNTRUSTED = 3, /* the filter ran, but failed its own checks */
  CLI_DIFFERENT = 4, /* compare: the files differ */
  CLI_STOPPED = 128  /* + number of the signal */
};

/* Fill a diagnostic; file and thing may be NULL, line 0. Returns the status. */
bramah_status cli_fail(bramah_diag *diag, bramah_status status, const char *file, int line, const char *thing,
                       const char *format, ...) CLI_PRINTF(6, 7);

bramah_status cli_no_memory(bramah_diag *diag);

/* Say where it was, if the one who found the mistake did not know. */
void cli_place(bramah_diag *diag, const char *file, int line);

/* Print a diagnostic; returns CLI_FAILED. */
int cli_report(const bramah_diag *diag);

/* Something the user should know that is no mistake. */
void cli_note(const char *format, ...) CLI_PRINTF(1, 2);

/* The same for who has one text and passes a pointer of his own. */
void cli_tell(void *user, const char *text);

/* That a study's filter believes in another machine than the one that is simulated. */
void cli_note_changes(size_t n, const bramah_change *changes);

/* ---- the command line (main.c): one table describes a command; it is read and its help printed from it ---- */

/* An option `--name VALUE`, or `--name` alone. The table of a command ends with a name NULL. */
typedef struct cli_option {
  const char *name;  /* without the dashes */
  const char *value; /* the value in the help, alternatives with | between them; NULL: takes none */
  const char *help;  /* one line, and after it, for the manual, what else there is to say */
  int required;
  int repeats; /* may be given more than once */
} cli_option;

typedef struct cli_arguments cli_arguments;

typedef struct cli_command {
  const char *name;
  const char *operands; /* "STUDY LOG" as shown in the help */
  const char *summary;  /* one line */
  const char *details;  /* paragraphs of the manual, with an empty line between them */
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

/* Manual pages, completion and JSON Schemas, made of the tables, into a folder that is there (generate.c); for the
 * build, not in the help. The commands end with NULL. */
int cli_generate(const char *folder, const cli_command *const *commands);

extern const cli_command cli_simulate, cli_replay, cli_compare, cli_study, cli_check, cli_linearize,
    cli_modes_command, cli_tune, cli_sweep, cli_map, cli_cycles, cli_compile, cli_fmu, cli_serve;

/* ---- tables of text for the terminal and the report, and the units people read (print.c) ---- */

enum { CLI_TABLE_COLUMNS = 18, CLI_CELL = 80 };

typedef struct cli_table {
  const char *title;
  const char *align; /* one of l and r per column */
  size_t n_columns;
  const char *header[CLI_TABLE_COLUMNS];
  size_t n_cells, room;
  char (*cells)[CLI_CELL]; /* row-major */
} cli_table;

/* The number of columns is the length of `align`; header [n_columns], kept by reference. */
cli_table cli_table_make(const char *title, const char *align, const char *const *header);
void cli_table_free(cli_table *table);
/* The next cells, row by row, with tabs between them in the format. Does nothing when memory is out: a summary must not end
 * a run. */
void cli_table_add(cli_table *table, const char *format, ...) CLI_PRINTF(2, 3);
/* A short text, for an argument of printf and its like. */
typedef struct cli_text {
  char text[CLI_CELL];
} cli_text;
/* A number with four digits; empty if it is not finite. */
cli_text cli_number_text(double value);
#define CLI_NUMBER(value) (cli_number_text(value).text)
/* A value given in SI with the unit people read: "12.5 deg". */
cli_text cli_value_text(double value, const char *si);
#define CLI_IN(si, value) (cli_value_text(value, si).text)
void cli_table_print(const cli_table *table, FILE *file);
bramah_status cli_table_report(const cli_table *table, bramah_report *report);

/* The unit in which people read a quantity given in this SI unit, and the factor to it: rad: deg, Pa: bar. */
typedef struct cli_readable {
  const char *unit;
  double factor;
} cli_readable;
cli_readable cli_readable_unit(const char *si);
/* A cause with the change that would explain a contradiction, a parameter by its value, a gain by 1, else in the unit
 * people read: "pump.pressure +11 ± 0.03 %". */
void cli_explanation_text(const bramah_explanation *explanation, char text[CLI_CELL]);

/* ---- files the program writes (print.c) ---- */

/* Refuse to write onto a file that is read in the same run, or twice onto one. Paths may be NULL or "-". */
bramah_status cli_check_output(const char *output, size_t n_others, const char *const *others,
                               bramah_diag *diag);

/* Can a file be made or replaced there? To be known before a long run, not after it. NULL and "-": yes. */
bramah_status cli_check_place(const char *output, bramah_diag *diag);

/* Create (replace) a file; "-" is standard output. NULL with the diagnostic filled if it cannot be. */
FILE *cli_create(const char *path, bramah_diag *diag);

/* A comma and a cell of CSV, empty where the number is not finite. */
void cli_put_number(FILE *file, double value, int digits);

/* Close what cli_create opened. Errors: E_FILE (disk full). */
bramah_status cli_finish(FILE *file, const char *path, bramah_diag *diag);

/* Where the summary goes: standard output, unless one of the files does. */
FILE *cli_summary_stream(size_t n_outputs, const char *const *outputs);

/* A row that says whether the machine's steps are made by its program, whose size it gives, else why not; and how many were
 * (NULL: none yet), parts of divided steps counted. */
#define CLI_HOW                                                                                              \
  {                                                                                                          \
    "how", NULL,                                                                                             \
        "say how steps were made, and how many\nBy a tape or native code of the machine, or interpreted.",   \
        0, 0                                                                                                 \
  }
/* Logs of `tune` and `sweep`. */
#define CLI_EACH                                                                                             \
  {                                                                                                          \
    "each", "FOLDER",                                                                                        \
        "its files and folders are logs\nEach log in it (by its name) and each folder is a log of its "      \
        "own; as LOG a folder is one log.",                                                                  \
        0, 1                                                                                                 \
  }
#define CLI_STRICT                                                                                           \
  {                                                                                                          \
    "strict", NULL, "a log that cannot be used ends the run\nOtherwise it is named and left out.", 0, 0      \
  }
/* What was found of an FMU: how its states are saved, its derivatives, what a step costs. */
void cli_print_fmu(const bramah_fmu *fmu, const char *begin, FILE *out);
void cli_print_how(const bramah_machine_plant *machine, const bramah_step_report *steps, FILE *out);

/* The last part of a path. */
const char *cli_base_name(const char *path);

/* 1 for a file that can be read twice: no pipe, no device. */
int cli_is_regular(const char *path);
/* 1 where no file is written: standard output, a pipe, a device. */
int cli_is_stream(const char *path);

/* What is printed of a time: seconds for files [s]. */
double cli_seconds(int64_t ns);

/* ---- the terminal: colours, progress, being stopped from outside (print.c) ---- */

/* What makes a text bold, red, yellow or as it was before, on a terminal; "" elsewhere, with NO_COLOR set, and on a dumb
 * terminal. */
typedef enum cli_colour { CLI_PLAIN, CLI_BOLD, CLI_RED, CLI_YELLOW } cli_colour;
const char *cli_colour_of(FILE *file, cli_colour colour);

/* One line that is written over, on standard error where that is a terminal. */
typedef struct cli_progress {
  int shown, drawn;
  double start, next; /* [s] of the clock */
} cli_progress;

cli_progress cli_progress_begin(void);
/* So large a part of the work is done (negative: nobody knows), and in words; redraws at most ten times a second. */
void cli_progress_update(cli_progress *progress, double part, const char *format, ...) CLI_PRINTF(3, 4);
/* The same of simulated time; total 0: unknown. */
void cli_progress_time(cli_progress *progress, int64_t done_ns, int64_t total_ns);
/* Take the line away. */
void cli_progress_end(cli_progress *progress);

/* A clock that only goes forward [s]. */
double cli_clock(void);

/* What SIGINT, SIGTERM and SIGHUP do from now on, unless they are ignored. Until a command says that it looks at
 * cli_stop_signal (in_order 1) they end the program at once, with 128 + number: files that cli_create made and
 * cli_finish has not closed are taken away, which is said. In order, the first signal only makes standard input read as
 * ended, so that nobody waits for a row that does not come; the second one ends the program. */
void cli_stop_catch(int in_order);
/* The signal that came, 0: none. */
int cli_stop_signal(void);
/* Has one come? For who passes a pointer of his own. */
int cli_is_stopped(void *user);
/* "udp:9000": 1 and its port; 0: it is something else; -1: that is no port. */
int cli_datagram_port(const char *source, unsigned long *port);
/* Lines of datagrams to this port become standard input, which ends when the program is to stop (serve.c). */
bramah_status cli_receive(const bramah_session *session, unsigned long port, bramah_diag *diag,
                          bramah_receiver **receiver);
/* A mistake in what came from there (port 0: nowhere) names it. */
void cli_place_datagrams(unsigned long port, bramah_diag *diag);
/* How many came, were lost, ...; NULL: nothing. */
void cli_tell_datagrams(const bramah_receiver *receiver, FILE *out);

/* "SIGINT" */
const char *cli_stop_name(void);

/* Processors that are there to be used. */
size_t cli_processors(void);

#endif
