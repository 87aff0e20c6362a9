/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One replay: what was asked for, and what runs. replay.c knows the options and goes through the log,
 * replay_report.c plots, replay_summary.c prints, replay_json.c writes the summary for programs. */
#ifndef BRAMAH_LIB_CLI_REPLAY_H
#define BRAMAH_LIB_CLI_REPLAY_H

#include "bramah/display.h"
#include "bramah/hypotheses.h"
#include "bramah/log.h"
#include "lib/cli/cli.h"
#include "lib/cli/json.h"

/* What the command line asks for; files that are not wanted are NULL. */
typedef struct cli_replay_request {
  const char *study, *output, *truth, *report, *smooth, *json, *snapshot, *resume, *plot, *plot_data,
      *columns, *display;
  const char *const *logs; /* [n_logs] files and folders */
  size_t n_logs;
  unsigned long port; /* of datagrams, which come as standard input; 0: none do */
  int plots;          /* report, plot or plot_data is wanted */
  int how;
  uint64_t every, threads;
  int64_t from_ns, to_ns;    /* INT64_MIN, INT64_MAX: no limit */
  int64_t snapshot_every_ns; /* of the log; 0: at the end only */
} cli_replay_request;

typedef struct cli_replay_report cli_replay_report;

/* Of a study with hypotheses: a run for each of them, with session, log, assessment and report of its own. At the end the
 * one of the most probable hypothesis is concluded like any other, with these pointers and counts of all. */
typedef struct cli_replay_run {
  cli_replay_request request;
  bramah_session *session;
  bramah_receiver *receiver;
  bramah_log_stream *log;
  bramah_assess *assess;
  cli_replay_report *report;
  bramah_display *display;     /* NULL: no page is wanted, and there is no scenario */
  bramah_recording *recording; /* of it; NULL: no page is wanted */
  char *shown_path;            /* log of what was shown; NULL: none is written */
  FILE *shown;
  cli_json json;
  uint64_t written;      /* estimates */
  uint64_t saved;        /* estimates that the last snapshot covers; UINT64_MAX: none was written */
  int64_t snapshot_ns;   /* their last time */
  bramah_status outcome; /* of the rows: what ended them early */
  bramah_diag mistake;
  double seconds;                    /* of the clock */
  bramah_diagnosis *diagnosis;       /* of a contradiction; NULL: none */
  bramah_plausibility *plausibility; /* of machine, study and the begin of the log; NULL: none */
  size_t n_members;                  /* 0: no hypotheses */
  struct cli_replay_run *member;     /* [n_members] */
  bramah_hypotheses *hypotheses;
} cli_replay_run;

/* Begin the report of an assessment before its first sample: released by cli_replay_report_free in any case (NULL
 * allowed). */
bramah_status cli_replay_report_new(const bramah_session *session, bramah_assess *assess, bramah_diag *diag,
                                    cli_replay_report **out);
void cli_replay_report_free(cli_replay_report *report);
/* Listener of the assessment; run: the cli_replay_run whose report it is. */
void cli_replay_report_sample(void *run, const bramah_rewind_use *use);
/* Add the present estimate. Errors: E_MEMORY. */
bramah_status cli_replay_report_estimate(cli_replay_report *report, bramah_diag *diag);
/* At the end: these tables, and what is known only then; write what is wanted of it. Errors: E_MEMORY, E_FILE. */
bramah_status cli_replay_report_write(const cli_replay_run *run, size_t n_tables, const cli_table *tables,
                                      bramah_diag *diag);

/* Summary and tables on the terminal, and into the report. */
bramah_status cli_replay_conclude(cli_replay_run *run, bramah_diag *diag);
/* Where the log contradicts the filter and can be read again: what would explain it. Errors: those of bramah_diagnose. */
bramah_status cli_replay_diagnose(cli_replay_run *run, bramah_diag *diag);
/* "no contradiction found", "contradicted", "broken off", "doubted", "too short": what a verdict says. */
const char *cli_verdict(const bramah_verdict *verdict);
/* The summary for programs, if it is wanted; code: the exit code. */
bramah_status cli_replay_json(cli_replay_run *run, int code, bramah_diag *diag);

/* ---- hypotheses (replay_hypotheses.c) ---- */

/* Does the request go with the hypotheses of the study, if it has some? Errors: E_UNSUPPORTED names what does not. */
bramah_status cli_hypotheses_check(const cli_replay_run *r, bramah_diag *diag);
/* A run for each, with its session but nothing else; then, with an assessment each, all of them together. Errors: those of
 * bramah_session_of_hypothesis; of bramah_hypotheses_new. */
bramah_status cli_hypotheses_members(cli_replay_run *r, bramah_diag *diag);
bramah_status cli_hypotheses_begin(cli_replay_run *r, bramah_diag *diag);
void cli_hypotheses_close(cli_replay_run *r);
/* The run to conclude: r itself, or that of the most probable hypothesis with what r knows of all. */
cli_replay_run *cli_hypotheses_shown(cli_replay_run *r);
/* How probable each of them is, for people and for programs; without hypotheses an empty table, or nothing. */
cli_table cli_hypotheses_table(const cli_replay_run *r);
void cli_hypotheses_print(const cli_replay_run *r, FILE *out);
void cli_hypotheses_json(const cli_replay_run *r, cli_json *json);

/* ---- scenarios (scenario.c), of replay and serve; a display that is NULL or has none: nothing ---- */

/* Where the log of what was shown goes, beside this file of estimates; free it. NULL: memory is out. */
char *cli_shown_path(const char *output);
/* Its header; what the last estimate added. */
void cli_shown_begin(FILE *file);
void cli_shown_add(const bramah_display *display, FILE *file);
/* Tasks, penalties and breakdowns; the score in a line; both for programs. */
cli_table cli_scenario_table(bramah_display *display);
void cli_scenario_print(bramah_display *display, const bramah_verdict *verdict, FILE *out);
void cli_scenario_json(bramah_display *display, cli_json *json);

/* ---- what is known of a session before it runs (check.c) ---- */

/* A warning of the states that the sensors of a session do not see, nothing where all is well. */
void cli_warn_unobservable(const bramah_session *session);

/* What protects the filter of a session, in a line: transition, gates, what it takes as uncertain. */
void cli_protection(const bramah_session *session, char *text, size_t size);

#endif
