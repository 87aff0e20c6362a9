/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From what the clock of a device shows to the time of the log, in whole nanoseconds. */
#ifndef BRAMAH_LIB_CLI_LOG_CLOCK_H
#define BRAMAH_LIB_CLI_LOG_CLOCK_H

#include "bramah/study.h"

typedef enum cli_log_origin {
  CLI_LOG_ORIGIN_NONE = 0, /* the clock's own zero is that of the log */
  CLI_LOG_ORIGIN_FIRST,    /* the first row of all files that have no origin of their own */
  CLI_LOG_ORIGIN_OWN,      /* the first row of this file */
  CLI_LOG_ORIGIN_STATED
} cli_log_origin;

typedef struct cli_log_clock {
  int is_iso;
  double rate;    /* [Hz] of a counter of samples; 0: the clock shows times */
  int64_t wrap;   /* the clock begins anew after so much: ns or counts; 0: never */
  int64_t offset; /* [ns] */
  double drift;   /* seconds gained per second */
  cli_log_origin origin;
  int64_t zero; /* [ns] of the clock: time 0 of the log */
  /* What has happened so far. */
  int started;
  int64_t first;         /* [ns] of the clock, in its first row */
  int64_t last, unwound; /* the reading before, and what wraps have added up to: ns or counts */
  int64_t joined;        /* [ns] that resets have added up to */
  uint64_t wraps;
} cli_log_clock;

/* By what the study says; is_iso as the reader has found. Errors, with the line of the study: E_VALUE. */
bramah_status cli_log_clock_make(cli_log_clock *clock, const bramah_study *study,
                                 const bramah_study_time *time, int is_iso, bramah_diag *diag);

/* A reading as nanoseconds of the clock, its wraps undone by the shorter way round. Readings come in the
 * order of the file. Returns 0 if that cannot be told in nanoseconds. */
int cli_log_clock_read(cli_log_clock *clock, int64_t reading, int64_t *ns);

/* The time of the log for nanoseconds of the clock. Returns 0 if it is beyond 3e9 s, so that differences of
 * times can be told too. */
int cli_log_clock_time(const cli_log_clock *clock, int64_t ns, int64_t *time_ns);

#endif
