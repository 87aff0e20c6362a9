/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bramah replay: a log through the filter of a study. */
#include "lib/cli/replay.h"
#include "lib/cli/commands.h"
#include "lib/cli/observable.h"
#include "lib/cli/output_files.h"
#include "lib/cli/pictures.h"
#include "lib/cli/stop.h"

#include <limits.h>
#include <string.h>

/* Mistakes go before a signal, and that before doubts about the filter. */
static int exit_code(const cli_replay_run *r)
{
  if (r->outcome) return CLI_FAILED;
  if (cli_stop_signal()) return CLI_STOPPED + cli_stop_signal();
  return r->verdict.failed ? CLI_UNTRUSTED : CLI_OK;
}

static void tell_stop(const cli_replay_run *r)
{
  const char *snapshot = r->request.snapshot;
  if (!cli_stop_signal() || r->outcome) return;
  cli_note("stopped by %s after t = %.9g s; the estimates up to there are complete%s%s", cli_stop_name(),
           cli_seconds(r->last_ns), snapshot ? "; go on with --resume " : "", snapshot ? snapshot : "");
}

/* After a bad row everything up to it is finished as usual; then the mistake is told. */
static int replay(cli_replay_run *r)
{
  bramah_diag later;
  if (cli_replay_prepare(r, &r->mistake)) return cli_report(&r->mistake);
  cli_warn_unobservable(r->session);
  cli_stop_catch();
  r->outcome = cli_replay_rows(r, &r->mistake);
  const bramah_status closed = cli_replay_finish(r, &later);
  if (r->outcome) cli_report(&r->mistake);
  if (closed) return cli_report(&later);
  tell_stop(r);
  const int not_smoothed = cli_replay_smooth(r, &later) != BRAMAH_OK && cli_report(&later);
  int code = cli_replay_conclude(r, &later) ? cli_report(&later) : CLI_OK;
  if (!code) code = not_smoothed ? CLI_FAILED : exit_code(r);
  return cli_replay_json(r, code, &later) ? cli_report(&later) : code;
}

static int read_window(const cli_arguments *arguments, cli_replay_request *q)
{
  int code = cli_moment_value(arguments, "from", &q->from_ns);
  if (!code) code = cli_moment_value(arguments, "to", &q->to_ns);
  if (!code && q->from_ns > q->to_ns)
    code = cli_wrong_use(arguments->command, "--from %s lies behind --to %s", cli_value(arguments, "from"),
                         cli_value(arguments, "to"));
  if (!code) code = cli_time_value(arguments, "snapshot-every", &q->snapshot_every_ns);
  return code;
}

static int check_streams(const cli_arguments *arguments)
{
  static const char *const names[] = {"json", "output", "report", "smooth", "plot-data"};
  const char *first = NULL;
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    const char *value = cli_value(arguments, names[i]);
    if (!value || strcmp(value, "-") != 0) continue;
    if (first)
      return cli_wrong_use(arguments->command, "--%s and --%s cannot both go to standard output", first,
                           names[i]);
    first = names[i];
  }
  return 0;
}

/* What cannot be asked for together. */
static int check_request(const cli_arguments *arguments, const cli_replay_request *q)
{
  const cli_command *command = arguments->command;
  if (q->plot && !cli_is_picture(q->plot))
    return cli_wrong_use(command, "--plot needs a file that ends in .svg%s, not '%s'",
                         bramah_report_has_png() ? " or .png" : " (this build cannot write .png)", q->plot);
  if (q->plot_only && !q->plot) return cli_wrong_use(command, "--plot-only needs --plot FILE");
  if (q->snapshot_every_ns && !q->snapshot)
    return cli_wrong_use(command, "--snapshot-every needs --snapshot FILE");
  if (q->snapshot && strcmp(q->snapshot, "-") == 0)
    return cli_wrong_use(command, "--snapshot needs a file: it is written beside and renamed");
  if (q->resume && q->smooth)
    return cli_wrong_use(command, "--smooth needs the whole run: it does not go with --resume");
  if (q->resume && q->from_ns != INT64_MIN)
    return cli_wrong_use(command, "--resume goes on where the snapshot stands: it does not go with --from");
  return check_streams(arguments);
}

static int read_request(const cli_arguments *arguments, cli_replay_request *q)
{
  *q = (cli_replay_request){.study = arguments->operands[0],
                            .logs = arguments->operands + 1,
                            .n_logs = (size_t)arguments->n_operands - 1,
                            .output = cli_value(arguments, "output"),
                            .truth = cli_value(arguments, "truth"),
                            .report = cli_value(arguments, "report"),
                            .plot = cli_value(arguments, "plot"),
                            .plot_data = cli_value(arguments, "plot-data"),
                            .plot_only = cli_value(arguments, "plot-only"),
                            .smooth = cli_value(arguments, "smooth"),
                            .json = cli_value(arguments, "json"),
                            .snapshot = cli_value(arguments, "snapshot"),
                            .resume = cli_value(arguments, "resume"),
                            .every = 1,
                            .smooth_megabytes = 2000,
                            .from_ns = INT64_MIN,
                            .to_ns = INT64_MAX};
  q->plots = q->report || q->plot || q->plot_data;
  int code = cli_count_value(arguments, "every", 1, &q->every);
  if (!code) code = cli_count_value(arguments, "smooth-memory", 1, &q->smooth_megabytes);
  if (!code) code = read_window(arguments, q);
  return code ? code : check_request(arguments, q);
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
    {"output", "FILE", "CSV or MAT file for the estimates; - is standard output", 1, 0},
    {"truth", "FILE", "CSV or MAT file with the true motion, to compare with", 0, 0},
    {"report", "FILE", "HTML page with plots and tables", 0, 0},
    {"plot", "FILE", "the plots as a picture for papers, .svg or .png", 0, 0},
    {"plot-only", "TITLES", "those of --plot, by their titles in the report, with commas", 0, 0},
    {"plot-data", "FILE", "CSV file with every number the plots show; - is standard output", 0, 0},
    {"json", "FILE", "the summary for programs, as JSON; - is standard output", 0, 0},
    {"from", "TIME", "begin at the first row of the log at this time or later", 0, 0},
    {"to", "TIME", "end with the last estimate up to this time", 0, 0},
    {"every", "N", "write only every N-th estimate", 0, 0},
    {"snapshot", "FILE", "write the whole state at the end, to go on later", 0, 0},
    {"snapshot-every", "TIME", "and whenever the log has gone on by so much", 0, 0},
    {"resume", "FILE", "go on from a snapshot with what comes after it in the log", 0, 0},
    {"smooth", "FILE", "CSV or MAT file for estimates that use what was measured later too", 0, 0},
    {"smooth-memory", "MB", "how much memory they may take (2000)", 0, 0},
    {0}};

const cli_command cli_replay = {
    .name = "replay",
    .operands = "STUDY LOG...",
    .summary = "Run the filter of a study over a log and write the estimates",
    .details =
        "Reads the log row by row (- is standard input; several files and folders are merged by time, or "
        "follow\n"
        "each other where they have the same columns), steps the model of the study, fuses what the\n"
        "sensors measured and writes a row per step: every output of the machine with its standard\n"
        "deviation where it has one, then augmented states of the study, then innovation and NIS of each\n"
        "sensor. At a row that cannot be used the estimates before it are kept, the summary is printed\n"
        "and the exit code is 1. --smooth writes the estimates of a second pass, backwards, without the\n"
        "columns of augmented states and sensors.\n\n"
        "Times are those of the log, in seconds or with a unit ('90 s', '1.5 min'). At --from the filter\n"
        "starts as the study says, with the commands that are in force then. A run that goes on from a\n"
        "snapshot writes what a single run would have written after it, bit for bit; its log may be the\n"
        "same one, of which the rows used before are passed over, or only the rest. Its summary tells of\n"
        "the whole, its report only of what was added.\n\n"
        "Ctrl-C, SIGTERM and SIGHUP end the run with the present step: files, summary and snapshot are\n"
        "finished (exit code 130, 143, 129). Exit code 3: the filter ran, but failed one of its own\n"
        "checks, which the summary lists; datasets/README.md tells of them ('Replays').\n",
    .example = "bramah replay sensors-2.yaml log.csv --output estimate.csv --truth truth.csv \\\n"
               "    --report report.html",
    .min_operands = 2,
    .max_operands = INT_MAX,
    .options = options,
    .run = run};
