/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bramah replay: a log through the filter of a study. */
#include "lib/cli/replay.h"
#include "lib/cli/commands.h"
#include "lib/cli/observable.h"

/* After a bad row everything up to it is finished as usual; then the mistake is told. */
static int replay(cli_replay_run *r)
{
  bramah_diag diag, later;
  bramah_status status = cli_replay_prepare(r, &diag);
  if (status) return cli_report(&diag);
  cli_warn_unobservable(&r->session);
  status = cli_replay_rows(r, &diag);
  const bramah_status closed = cli_replay_finish(r, &later);
  int code = status ? cli_report(&diag) : CLI_OK;
  if (closed) return cli_report(&later);
  if (cli_replay_smooth(r, &later)) code = cli_report(&later);
  return cli_replay_conclude(r, &later) ? cli_report(&later) : code;
}

static int read_request(const cli_arguments *arguments, cli_replay_request *q)
{
  *q = (cli_replay_request){.study = arguments->operands[0],
                            .log = arguments->operands[1],
                            .output = cli_value(arguments, "output"),
                            .truth = cli_value(arguments, "truth"),
                            .report = cli_value(arguments, "report"),
                            .smooth = cli_value(arguments, "smooth"),
                            .every = 1,
                            .smooth_megabytes = 2000};
  const int code = cli_count_value(arguments, "every", 1, &q->every);
  return code ? code : cli_count_value(arguments, "smooth-memory", 1, &q->smooth_megabytes);
}

static int run(const cli_arguments *arguments)
{
  cli_replay_run r = {0};
  int code = read_request(arguments, &r.request);
  if (!code) code = replay(&r);
  cli_replay_close(&r);
  return code;
}

static const cli_option options[] = {
    {"output", "FILE", "CSV file for the estimates; - is standard output", 1, 0},
    {"truth", "FILE", "CSV file with the true motion, to compare with", 0, 0},
    {"report", "FILE", "HTML page with plots and tables", 0, 0},
    {"every", "N", "write only every N-th estimate", 0, 0},
    {"smooth", "FILE", "CSV file for estimates that use what was measured later too", 0, 0},
    {"smooth-memory", "MB", "how much memory they may take (2000)", 0, 0},
    {0}};

const cli_command cli_replay = {
    .name = "replay",
    .operands = "STUDY LOG",
    .summary = "Run the filter of a study over a log and write the estimates",
    .details =
        "Reads the log row by row (- is standard input), steps the model of the study, fuses what the\n"
        "sensors measured and writes a row per step: every output of the machine with its standard\n"
        "deviation where it has one, then augmented states of the study, then innovation and NIS of each\n"
        "sensor. At a row that cannot be used the estimates before it are kept, the summary is printed\n"
        "and the exit code is 1. --smooth writes the estimates of a second pass, backwards, without the\n"
        "columns of augmented states and sensors.\n",
    .example = "bramah replay sensors-2.yaml log.csv --output estimate.csv --truth truth.csv \\\n"
               "    --report report.html",
    .min_operands = 2,
    .max_operands = 2,
    .options = options,
    .run = run};
