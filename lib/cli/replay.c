/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bramah replay: a log through the filter of a study. */
#include "lib/cli/replay.h"
#include "lib/cli/cli.h"

#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- the file of estimates ---- */

/* A row per step: the time, and cells of the estimate. */
typedef struct cell {
  const double *value;
  const int *present; /* 0: the cell is empty; NULL: it is always there */
} cell;

typedef struct estimate_file {
  bramah_log_writer *writer;
  const cli_replay_run *run;
  size_t n;
  cell *cells; /* [n] */
  double *row; /* [1 + n] */
} estimate_file;

static bramah_status add_column(estimate_file *file, const char *name, const char *ending, const char *unit,
                                const double *value, const int *present, bramah_diag *diag)
{
  char text[300];
  snprintf(text, sizeof text, "%s%s", name, ending);
  file->cells[file->n++] = (cell){value, present};
  return bramah_log_add_column(file->writer, text, unit, *ending ? 6 : 10, diag);
}

static const bramah_estimate *present(const cli_replay_run *r)
{
  return r->hypotheses ? bramah_hypotheses_estimate(r->hypotheses) : bramah_assess_estimate(r->assess);
}

/* With what only the filter knows if wanted: augmented states and innovations. */
static bramah_status create_file(estimate_file *file, const char *path, const cli_replay_run *r,
                                 int of_filter, bramah_diag *diag)
{
  const bramah_estimate *estimate = present(r);
  const bramah_assess_results *results = bramah_assess_get_results(r->assess);
  const size_t n_augmented = of_filter ? results->n_augmented : 0,
               n_sensors = of_filter ? results->n_sensors : 0;
  const size_t most = 2 * (results->n_outputs + n_augmented + n_sensors) + r->n_members;
  *file = (estimate_file){.run = r};
  file->cells = calloc(most + 1, sizeof *file->cells);
  file->row = calloc(most + 1, sizeof *file->row);
  bramah_diag_clear(diag);
  if (!file->cells || !file->row) return cli_no_memory(diag);
  bramah_status status = bramah_log_create(path, diag, &file->writer);
  if (!status) status = bramah_log_add_column(file->writer, "t", "s", 15, diag);
  for (size_t i = 0; !status && i < results->n_outputs; i++) {
    const bramah_assess_output *of = &results->output[i];
    status = add_column(file, of->name, "", of->unit, &estimate->value[of->output], NULL, diag);
    if (!status && of->has_sigma)
      status = add_column(file, of->name, ".sigma", of->unit, &estimate->sigma[of->output], NULL, diag);
  }
  for (size_t i = 0; !status && i < n_augmented; i++) {
    const bramah_augmented_estimate *of = &estimate->augmented[i];
    if (of->is_shown) continue;
    status = add_column(file, of->name, "", of->unit, &of->value, NULL, diag);
    if (!status) status = add_column(file, of->name, ".sigma", of->unit, &of->sigma, NULL, diag);
  }
  for (size_t i = 0; !status && i < n_sensors; i++) {
    const bramah_innovation *of = &estimate->innovation[i];
    const char *name = results->sensor[i].name, *unit = results->sensor[i].unit;
    status = add_column(file, name, ".innovation", unit, &of->innovation, &of->present, diag);
    if (!status) status = add_column(file, name, ".nis", "", &of->nis, &of->present, diag);
  }
  for (size_t k = 0; !status && k < r->n_members; k++) {
    char ending[256];
    snprintf(ending, sizeof ending, ".%s", bramah_hypotheses_get_result(r->hypotheses, k).name);
    status = add_column(file, "probability", ending, "", &bramah_hypotheses_probability(r->hypotheses)[k],
                        NULL, diag);
  }
  if (!status) status = bramah_log_choose_columns(file->writer, r->request.columns, diag);
  if (status == BRAMAH_E_COLUMN && !of_filter) status = BRAMAH_OK; /* it was one of the filter */
  if (status) {
    bramah_diag ignored;
    cli_place(diag, path, 0);
    bramah_log_abandon(file->writer, &ignored);
    file->writer = NULL;
  }
  return status;
}

/* What is neither written nor drawn need not be known. */
static void skip_sigmas(const estimate_file *file, const cli_replay_run *r)
{
  const bramah_assess_results *results = bramah_assess_get_results(r->assess);
  size_t column = 1;
  const int all = r->request.plots || r->request.display;
  for (size_t i = 0; !all && i < results->n_outputs; i++) {
    const bramah_assess_output *of = &results->output[i];
    column += 1 + (size_t)of->has_sigma;
    if (!of->has_sigma || bramah_log_has_column(file->writer, column - 1)) continue;
    bramah_assess_skip_sigma(r->assess, of->output);
    for (size_t k = 1; k < r->n_members; k++) bramah_assess_skip_sigma(r->member[k].assess, of->output);
  }
}

static bramah_status write_row(const estimate_file *file, bramah_diag *diag)
{
  file->row[0] = cli_seconds(present(file->run)->time_ns);
  for (size_t i = 0; i < file->n; i++) {
    const cell *of = &file->cells[i];
    file->row[1 + i] = of->present && !*of->present ? (double)NAN : *of->value;
  }
  return bramah_log_write(file->writer, file->row, diag);
}

static bramah_status close_file(estimate_file *file, bramah_diag *diag)
{
  const bramah_status status = bramah_log_finish(file->writer, diag);
  free(file->cells);
  free(file->row);
  *file = (estimate_file){0};
  return status;
}

/* ---- preparation ---- */

/* A snapshot keeps how many estimates were written, and where to: the rest must go elsewhere. */
static bramah_status resume(cli_replay_run *r, bramah_diag *diag)
{
  const cli_replay_request *q = &r->request;
  char text[4200] = "";
  int used = 0;
  const bramah_status status = bramah_assess_resume(r->assess, q->resume, text, sizeof text, diag);
  if (status) return status;
  if (sscanf(text, "%" SCNu64 " %n", &r->written, &used) != 1) r->written = 0;
  const char *before = text + used;
  if (strcmp(q->output, "-") != 0 && cli_check_output(q->output, 1, &before, diag))
    return cli_fail(diag, BRAMAH_E_FILE, q->output, 0, NULL,
                    "this file holds the estimates up to the snapshot and would be overwritten: write the "
                    "rest to another one");
  return BRAMAH_OK;
}

/* Log, assessment and report of one run; the session is there. */
static bramah_status open_run(cli_replay_run *r, const bramah_assess_options *common, bramah_diag *diag)
{
  const cli_replay_request *q = &r->request;
  bramah_assess_options options = *common;
  bramah_status status =
      r->log ? BRAMAH_OK : bramah_log_stream_open(r->session, q->n_logs, q->logs, diag, &r->log);
  if (status) return status;
  bramah_log_stream_limit(r->log, q->from_ns, q->to_ns);
  bramah_log_stream_stop(r->log, cli_is_stopped, NULL);
  if (q->plots) options.listener = (bramah_listener){r, cli_replay_report_sample};
  status = bramah_assess_new(r->session, bramah_log_stream_next, r->log, &options, diag, &r->assess);
  if (!status && q->plots) status = cli_replay_report_new(r->session, r->assess, diag, &r->report);
  return status;
}

/* The study's display, for a page of it and for its scenario. A replay that asks for no page does without one that does not fit. */
static bramah_status open_display(cli_replay_run *r, bramah_diag *diag)
{
  const int is_wanted = r->request.display != NULL;
  if (!is_wanted && (r->n_members || !bramah_session_study(r->session)->display_file)) return BRAMAH_OK;
  const bramah_status status = bramah_display_new(NULL, r->assess, diag, &r->display);
  if (status && !is_wanted && status != BRAMAH_E_MEMORY) {
    char text[1024];
    bramah_diag_format(diag, text, sizeof text);
    cli_note("no scenario is followed: %s", text);
    return BRAMAH_OK;
  }
  if (status) return status;
  if (is_wanted) return bramah_recording_new(r->display, 0, diag, &r->recording);
  if (bramah_display_scenario(r->display, BRAMAH_JUDGE_ESTIMATE)) return BRAMAH_OK;
  bramah_display_free(r->display);
  r->display = NULL;
  return BRAMAH_OK;
}

/* The log of what is shown, beside a file of estimates. */
static bramah_status open_shown(cli_replay_run *r, bramah_diag *diag)
{
  const cli_replay_request *q = &r->request;
  if (!r->display || !bramah_display_scenario(r->display, BRAMAH_JUDGE_ESTIMATE) || cli_is_stream(q->output))
    return BRAMAH_OK;
  const char *const others[] = {q->study, q->truth, q->output,    q->report,  q->smooth,
                                q->json,  q->plot,  q->plot_data, q->display, q->snapshot};
  r->shown_path = cli_shown_path(q->output);
  if (!r->shown_path) return cli_no_memory(diag);
  bramah_status status = cli_check_output(r->shown_path, sizeof others / sizeof others[0], others, diag);
  if (!status) status = cli_check_output(r->shown_path, q->n_logs, q->logs, diag);
  if (!status && !(r->shown = cli_create(r->shown_path, diag))) status = diag->status;
  if (!status) cli_shown_begin(r->shown);
  return status;
}

static bramah_status close_shown(cli_replay_run *r, bramah_diag *diag)
{
  FILE *file = r->shown;
  r->shown = NULL;
  return file ? cli_finish(file, r->shown_path, diag) : BRAMAH_OK;
}

/* Open and check everything, and begin the file of estimates. */
static bramah_status prepare(cli_replay_run *r, estimate_file *file, bramah_diag *diag)
{
  static const char *const standard_input = "-";
  cli_replay_request *q = &r->request;
  bramah_status status = bramah_session_open(q->study, diag, &r->session);
  if (!status) status = cli_hypotheses_check(r, diag);
  if (!status && q->port) status = cli_receive(r->session, q->port, diag, &r->receiver);
  if (q->port) q->logs = &standard_input;
  if (!status) status = bramah_log_stream_open(r->session, q->n_logs, q->logs, diag, &r->log);
  if (status) return status;

  /* No file is written that is read in the same run, or twice. The next snapshot may take the place of the one that is
   * gone on from. */
  enum { READ = 3, N = 11 };
  const char *const files[N] = {q->study,   q->truth,   bramah_session_study(r->session)->machine_file,
                                q->output,  q->report,  q->smooth,
                                q->json,    q->plot,    q->plot_data,
                                q->display, q->snapshot};
  for (size_t i = READ; !status && i < N; i++) {
    status = cli_check_output(files[i], i, files, diag);
    for (size_t k = 0; !status && k < bramah_log_stream_get_info(r->log).n_devices; k++) {
      const bramah_log_device device = bramah_log_stream_get_device(r->log, k);
      status = cli_check_output(files[i], device.n_files, device.files, diag);
    }
    if (!status && q->resume && i != N - 1) status = cli_check_output(files[i], 1, &q->resume, diag);
  }

  /* Nor is the verdict beside the estimates. */
  for (size_t i = 0; !status && i < 2; i++) {
    char path[4200];
    const char *of = i ? q->smooth : q->output;
    if (!of || cli_is_stream(of)) continue;
    snprintf(path, sizeof path, "%s.verdict", of);
    status = cli_check_output(path, N, files, diag);
    if (!status) status = cli_check_output(path, q->n_logs, q->logs, diag);
  }

  bramah_assess_options options;
  bramah_assess_options_default(&options);
  options.to_ns = q->to_ns;
  options.truth = q->truth;
  options.model_alone = q->truth || q->plots || q->display;
  options.whiteness = q->plots;
  options.clock = cli_clock;
  options.tell = cli_tell;

  /* The backward pass reads the truth a second time, and needs the end of the log. */
  if (!status && q->smooth && q->truth && !cli_is_regular(q->truth))
    status = cli_fail(diag, BRAMAH_E_UNSUPPORTED, q->truth, 0, NULL,
                      "--smooth needs the truth as a file: it is read a second time");
  if (!status && q->smooth) {
    status = bramah_log_last_time(r->session, q->n_logs, q->logs, &options.smooth_to_ns, diag);
    if (status == BRAMAH_E_UNSUPPORTED && diag->line == 0)
      cli_fail(diag, status, q->logs[0], 0, NULL,
               "--smooth needs a file, no pipe: it is read a second time to know its end");
  }

  if (!status && bramah_session_study(r->session)->hypotheses.n > 0) {
    status = cli_hypotheses_members(r, diag);
    for (size_t k = 0; !status && k < r->n_members; k++) status = open_run(&r->member[k], &options, diag);
    if (!status) status = cli_hypotheses_begin(r, diag);
  } else if (!status)
    status = open_run(r, &options, diag);
  if (!status) status = open_display(r, diag);
  if (!status && q->resume) status = resume(r, diag);
  if (!status && q->json) status = cli_json_create(&r->json, q->json, diag);
  if (!status) status = create_file(file, q->output, r, 1, diag);
  if (!status) skip_sigmas(file, r);
  if (!status) status = open_shown(r, diag);
  return status;
}

/* ---- rows ---- */

static bramah_status save(cli_replay_run *r, const estimate_file *file, bramah_diag *diag)
{
  const bramah_assess_totals totals = bramah_assess_get_totals(r->assess);
  char text[4200];
  snprintf(text, sizeof text, "%" PRIu64 " %s", r->written, r->request.output);
  bramah_status status = bramah_log_flush(file->writer, diag);
  if (!status) status = bramah_assess_save(r->assess, r->request.snapshot, text, diag);
  if (status) return status;
  r->saved = totals.estimates;
  r->snapshot_ns = totals.last_ns;
  return BRAMAH_OK;
}

/* Go through the log: each estimate into file, report and snapshot. After an error those up to it are kept. */
static bramah_status go_through(cli_replay_run *r, const estimate_file *file, bramah_diag *diag)
{
  const cli_replay_request *q = &r->request;
  const double begin = cli_clock();
  cli_progress progress = cli_progress_begin();
  bramah_status status = BRAMAH_OK;
  int64_t total_ns = 0;
  r->saved = UINT64_MAX;
  r->snapshot_ns = INT64_MAX;
  if (q->resume && q->snapshot) status = save(r, file, diag); /* perhaps nothing is to come */
  while (!status && !cli_stop_signal()) {
    int end = 0;
    status = bramah_assess_next(r->assess, &end, diag);
    if (status || end) break;
    const bramah_assess_totals totals = bramah_assess_get_totals(r->assess);
    const int64_t done = totals.last_ns - totals.begin_ns;
    const int wanted = (totals.estimates - 1) % q->every == 0;
    if (wanted) status = write_row(file, diag);
    if (status) break;
    r->written += (uint64_t)wanted;
    if (totals.estimates == 1) r->snapshot_ns = totals.last_ns;
    if (q->plots) status = cli_replay_report_estimate(r->report, diag);
    if (!status && r->recording) status = bramah_recording_add(r->recording, diag);
    if (r->shown) cli_shown_add(r->display, r->shown);

    /* How long the run will be, by the share of the log that was read. */
    if (totals.estimates % 1024 == 0 && progress.shown && done > 0) {
      const double share = bramah_log_stream_get_info(r->log).share;
      const double most = (double)q->to_ns - (double)totals.begin_ns;
      if (share > 0.0) total_ns = llround(fmin(fmin((double)done / share, most), 9e18));
    }
    cli_progress_time(&progress, done, total_ns);

    /* After the last estimate the replay still fuses what is on its way; a log that goes on has that later. */
    const int due = q->snapshot_every_ns && totals.last_ns - r->snapshot_ns >= q->snapshot_every_ns;
    if (!status && q->snapshot && (due || totals.exhausted)) status = save(r, file, diag);
  }
  cli_progress_end(&progress);
  if (!status && q->snapshot && r->saved != bramah_assess_get_totals(r->assess).estimates)
    status = save(r, file, diag);
  r->seconds = cli_clock() - begin;
  return status;
}

/* The same with hypotheses, whose reports and assessments are ahead of the estimates. */
static bramah_status go_through_together(cli_replay_run *r, const estimate_file *file, bramah_diag *diag)
{
  const double begin = cli_clock();
  cli_progress progress = cli_progress_begin();
  bramah_status status = BRAMAH_OK;
  int end = 0;
  for (uint64_t k = 0; !status && !cli_stop_signal(); k++) {
    status = bramah_hypotheses_next(r->hypotheses, &end, diag);
    if (status || end) break;
    if (k % r->request.every == 0) status = write_row(file, diag), r->written += !status;
    cli_progress_time(&progress, present(r)->time_ns - bramah_assess_get_totals(r->assess).begin_ns, 0);
  }
  cli_progress_end(&progress);
  r->seconds = cli_clock() - begin;
  return status;
}

/* The page of the display, with what explains a contradiction. */
static bramah_status write_display(cli_replay_run *r, bramah_diag *diag)
{
  bramah_status status = BRAMAH_OK;
  if (!r->recording) return BRAMAH_OK;
  if (r->outcome)
    status = bramah_recording_say(r->recording, cli_seconds(bramah_assess_get_totals(r->assess).last_ns),
                                  "broken off", r->mistake.message, diag);
  for (size_t i = 0; !status && r->diagnosis && r->diagnosis->excess > 0.0 && i < r->diagnosis->n; i++) {
    char cause[CLI_CELL];
    cli_explanation_text(&r->diagnosis->cause[i], cause);
    status = bramah_recording_say(r->recording, NAN, "diagnosis", cause, diag);
  }
  return status ? status : bramah_recording_write(r->recording, r->request.display, diag);
}

/* The estimates once more, backwards. */
static bramah_status smooth(cli_replay_run *r, bramah_diag *diag)
{
  estimate_file file = {0};
  bramah_diag ignored;
  const cli_replay_request *q = &r->request;
  if (!q->smooth || !bramah_assess_get_totals(r->assess).estimates) return BRAMAH_OK;
  bramah_status status = bramah_assess_smooth(r->assess, diag);
  if (!status) status = create_file(&file, q->smooth, r, 0, diag);
  for (int end = 0; !status && !end;) {
    const uint64_t k = bramah_assess_get_totals(r->assess).smooth_steps;
    status = bramah_assess_next(r->assess, &end, diag);
    if (!status && !end && k % q->every == 0) status = write_row(&file, diag);
  }
  const bramah_status closed = close_file(&file, status ? &ignored : diag);
  return status ? status : closed;
}

/* ---- the command ---- */

/* Beside the estimates, for whoever reads them without this run. */
static bramah_status keep_verdict(const cli_replay_run *r, bramah_diag *diag)
{
  char text[1200];
  bramah_status status = BRAMAH_OK;
  const char *const files[] = {r->request.output, r->request.smooth};
  bramah_verdict_text(&bramah_assess_get_results(r->assess)->verdict, text, sizeof text);
  for (size_t i = 0; i < 2 && !status; i++)
    if (files[i] && !cli_is_stream(files[i])) status = bramah_verdict_keep(files[i], text, diag);
  return status;
}

/* After a bad row everything up to it is finished as usual; then the mistake is reported. */
static int replay(cli_replay_run *r, estimate_file *file)
{
  bramah_diag later = {0};
  const char *snapshot = r->request.snapshot;
  const bramah_status prepared = prepare(r, file, &r->mistake);
  cli_place_datagrams(r->request.port, &r->mistake);
  if (prepared) return cli_report(&r->mistake);
  cli_warn_unobservable(r->session);
  cli_stop_catch(1);
  r->outcome = r->n_members ? go_through_together(r, file, &r->mistake) : go_through(r, file, &r->mistake);
  cli_place_datagrams(r->request.port, &r->mistake);
  bramah_status closed = close_file(file, &later);
  if (!closed) closed = close_shown(r, &later);
  const int is_same = r->outcome && strcmp(r->mistake.message, later.message) == 0;
  if (r->outcome) cli_report(&r->mistake);
  if (closed) return is_same ? CLI_FAILED : cli_report(&later);
  if (cli_stop_signal() && !r->outcome)
    cli_note("stopped by %s after t = %.9g s; the estimates up to there are complete%s%s", cli_stop_name(),
             cli_seconds(present(r)->time_ns), snapshot ? "; go on with --resume " : "",
             snapshot ? snapshot : "");
  r = cli_hypotheses_shown(r);
  if (r->outcome) bramah_assess_break_off(r->assess);
  const int not_smoothed = smooth(r, &later) != BRAMAH_OK && cli_report(&later);
  if (!cli_stop_signal() && bramah_assess_look_over(r->assess, r->request.n_logs, r->request.logs,
                                                    r->request.from_ns, &later, &r->plausibility))
    cli_note("not looked at for plausibility: %s", later.message);
  if (!r->outcome && cli_replay_diagnose(r, &later)) cli_note("no diagnosis: %s", later.message);
  int code = cli_replay_conclude(r, &later) || write_display(r, &later) ? cli_report(&later) : CLI_OK;
  /* Mistakes go before a signal, and that before doubts about the filter. */
  if (keep_verdict(r, &later) && !code) code = cli_report(&later);
  if (!code && (not_smoothed || r->outcome)) code = CLI_FAILED;
  if (!code && cli_stop_signal()) code = CLI_STOPPED + cli_stop_signal();
  const bramah_verdict *verdict = &bramah_assess_get_results(r->assess)->verdict;
  if (!code && (verdict->contradicted || verdict->doubt)) code = CLI_UNTRUSTED;
  return cli_replay_json(r, code, &later) ? cli_report(&later) : code;
}

/* What the command line asks for, and what of it cannot be had together. */
static int read_request(const cli_arguments *arguments, cli_replay_request *q)
{
  const cli_command *command = arguments->command;
  *q = (cli_replay_request){.study = arguments->operands[0],
                            .logs = arguments->operands + 1,
                            .n_logs = (size_t)arguments->n_operands - 1,
                            .output = cli_value(arguments, "output"),
                            .truth = cli_value(arguments, "truth"),
                            .report = cli_value(arguments, "report"),
                            .plot = cli_value(arguments, "plot"),
                            .plot_data = cli_value(arguments, "plot-data"),
                            .display = cli_value(arguments, "display"),
                            .smooth = cli_value(arguments, "smooth"),
                            .json = cli_value(arguments, "json"),
                            .columns = cli_value(arguments, "columns"),
                            .snapshot = cli_value(arguments, "snapshot"),
                            .resume = cli_value(arguments, "resume"),
                            .how = cli_value(arguments, "how") != NULL,
                            .every = 1,
                            .threads = cli_processors(),
                            .from_ns = INT64_MIN,
                            .to_ns = INT64_MAX};
  q->plots = q->report || q->plot || q->plot_data;
  int code = cli_count_value(arguments, "every", 1, &q->every);
  if (!code) code = cli_count_value(arguments, "threads", 1, &q->threads);
  if (!code) code = cli_moment_value(arguments, "from", &q->from_ns);
  if (!code) code = cli_moment_value(arguments, "to", &q->to_ns);
  if (!code && q->from_ns > q->to_ns)
    code = cli_wrong_use(command, "--from %s lies behind --to %s", cli_value(arguments, "from"),
                         cli_value(arguments, "to"));
  if (!code) code = cli_time_value(arguments, "snapshot-every", &q->snapshot_every_ns);
  if (code) return code;

  const size_t n = q->plot ? strlen(q->plot) : 0;
  for (size_t i = 0; i < q->n_logs; i++) {
    const int live = cli_datagram_port(q->logs[i], &q->port);
    if (live < 0) return cli_wrong_use(command, "'%s' is not udp: and a port from 1 to 65535", q->logs[i]);
    if (live && q->n_logs > 1) return cli_wrong_use(command, "'%s' goes with no other log", q->logs[i]);
    if (live && q->smooth)
      return cli_wrong_use(command, "--smooth needs a file: it is read a second time, not '%s'", q->logs[i]);
  }
  if (q->plot && (n < 5 || strcmp(q->plot + n - 4, ".svg") != 0))
    return cli_wrong_use(command, "--plot needs a file that ends in .svg, not '%s'", q->plot);
  if (q->snapshot_every_ns && !q->snapshot)
    return cli_wrong_use(command, "--snapshot-every needs --snapshot FILE");
  if (q->snapshot && strcmp(q->snapshot, "-") == 0)
    return cli_wrong_use(command, "--snapshot needs a file: it is written to a file of its own and renamed");
  if (q->resume && q->smooth)
    return cli_wrong_use(command, "--smooth needs the whole run: it does not go with --resume");
  if (q->resume && q->from_ns != INT64_MIN)
    return cli_wrong_use(command, "--resume goes on where the snapshot ends: it does not go with --from");

  /* Only one thing to standard output. */
  static const char *const names[] = {"json", "output", "report", "smooth", "plot-data", "display"};
  const char *first = NULL;
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    const char *value = cli_value(arguments, names[i]);
    if (!value || strcmp(value, "-") != 0) continue;
    if (first)
      return cli_wrong_use(command, "--%s and --%s cannot both go to standard output", first, names[i]);
    first = names[i];
  }
  return 0;
}

static int run(const cli_arguments *arguments)
{
  cli_replay_run r = {0};
  estimate_file file = {0};
  bramah_diag ignored;
  int code = read_request(arguments, &r.request);
  if (!code) code = replay(&r, &file);
  close_file(&file, &ignored);
  cli_hypotheses_close(&r);
  cli_replay_report_free(r.report);
  close_shown(&r, &ignored);
  free(r.shown_path);
  bramah_recording_free(r.recording);
  bramah_display_free(r.display);
  bramah_diagnosis_free(r.diagnosis);
  bramah_plausibility_free(r.plausibility);
  bramah_assess_free(r.assess);
  bramah_log_stream_close(r.log);
  bramah_receiver_close(r.receiver);
  bramah_session_close(r.session);
  if (r.json.file) cli_json_finish(&r.json, &ignored);
  return code;
}

static const cli_option options[] = {
    {"output", "FILE", "estimates: CSV, MAT, MDF 4, MCAP; - is standard output", 1, 0},
    {"columns", "NAMES",
     "which of them: 'crank.*,*.nis'\nNames with commas between them, * for any text; otherwise all.", 0, 0},
    {"truth", "FILE", "the true motion, to compare with: any log", 0, 0},
    {"report", "FILE", "HTML page with plots and tables", 0, 0},
    {"display", "FILE",
     "HTML page that plays the run on gauges\nThose of the study's display file, or of its outputs; 30 "
     "frames a second, of long runs fewer.",
     0, 0},
    {"plot", "FILE", "the plots as a picture for papers, .svg", 0, 0},
    {"plot-data", "FILE", "every number the plots show, CSV", 0, 0},
    {"json", "FILE", "the summary for programs, as JSON", 0, 0},
    {"from", "TIME", "begin at the first row at this time or later", 0, 0},
    {"to", "TIME", "end with the last estimate up to this time", 0, 0},
    {"every", "N", "write only every N-th estimate", 0, 0},
    {"threads", "N", "for hypotheses; default: one per processor", 0, 0},
    {"snapshot", "FILE", "write the whole state at the end, to go on later", 0, 0},
    {"snapshot-every", "TIME", "and whenever the log has gone on by so much", 0, 0},
    {"resume", "FILE", "go on from a snapshot with what comes after it", 0, 0},
    {"smooth", "FILE",
     "estimates that use what was measured later too\nOf a second pass, backwards, without the "
     "columns of augmented states and sensors.",
     0, 0},
    CLI_HOW,
    {0}};

const cli_command cli_replay = {
    .name = "replay",
    .operands = "STUDY LOG...",
    .summary = "Run the filter of a study over a log and write the estimates",
    .details =
        "Reads the log row by row (several files and folders are merged by time, or follow each other\n"
        "where they have the same columns; live: - is standard input, udp:PORT datagrams as of 'serve', "
        "can0\n"
        "a CAN interface), steps the model of the study, fuses what the\n"
        "sensors measured and writes a row per step: every output of the machine with its standard\n"
        "deviation where it has one, then augmented states of the study, then innovation and NIS of each\n"
        "sensor. At a row that cannot be used the estimates before it are kept, the summary is printed\n"
        "and the exit code is 1.\n\n"
        "Times are those of the log, in seconds or with a unit ('90 s', '1.5 min'). At --from the filter\n"
        "starts as the study says, with the commands that are in force then. A run that goes on from a\n"
        "snapshot writes what a single run would have written after it, bit for bit; its log may be the\n"
        "same one, of which the rows used before are passed over, or only the rest. Its summary is of\n"
        "the whole, its report only of what was added.\n\n"
        "Where the study's display has a scenario, it is followed: the summary ends with its score, and\n"
        "FILE.shown.csv beside the estimates has what was shown and when; with --truth the truth judges, "
        "too.\n\n"
        "FILE.verdict beside the estimates has the verdict for whoever reads them later, as `bramah cycles` "
        "does.\n\n"
        "Ctrl-C, SIGTERM and SIGHUP end the run with the present step: files, summary and snapshot are\n"
        "finished (exit code 130, 143, 129). Exit code 3: the filter ran, but failed one of its own\n"
        "checks, which the summary lists; datasets/README.md explains them ('Replays').\n",
    .example = "bramah replay sensors-2.yaml log.csv --output estimate.csv \\\n"
               "    --truth truth.csv --report report.html",
    .min_operands = 2,
    .max_operands = INT_MAX,
    .options = options,
    .run = run};
