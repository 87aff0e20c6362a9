/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the program says when something is wrong: on standard error, "bramah: file:line:column: thing:
 * message". */
#ifndef BRAMAH_LIB_CLI_MESSAGE_H
#define BRAMAH_LIB_CLI_MESSAGE_H

#include "bramah/status.h"

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

/* Say where it was, if the one who found the mistake did not know. */
void cli_place(bramah_diag *diag, const char *file, int line);

/* Print a diagnostic; returns CLI_FAILED. */
int cli_report(const bramah_diag *diag);

/* Something the user should know that is no mistake. */
void cli_note(const char *format, ...) CLI_PRINTF(1, 2);

/* The candidate [n] that looks most like the text, or NULL if none does. */
const char *cli_nearest(const char *text, size_t n, const char *const *candidates);

#endif
