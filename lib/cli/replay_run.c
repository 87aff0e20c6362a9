/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A replay from the first file opened to the last row written. */
#include "lib/cli/output_files.h"
#include "lib/cli/augmented.h"
#include "lib/cli/progress.h"
#include "lib/cli/replay.h"
#include "lib/cli/stop.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Each sample as it is fused. */
static void take_sample(void *user, const bramah_rewind_use *use)
{
  cli_replay_run *r = user;
  r->measured[use->sensor] = use->y;
  cli_consistency_add(&r->consistency, use);
  if (r->request.plots && !r->plotted)
    r->plotted = cli_replay_report_innovation(&r->report, cli_seconds(use->time_ns), use);
}

/* The log, with the time that reading it takes. */
static bramah_status next_row(void *user, bramah_sample *sample, int *end, bramah_diag *diag)
{
  cli_replay_run *r = user;
  const double begin = cli_clock();
  const bramah_status status = bramah_log_stream_next(r->log, sample, end, diag);
  r->reading += cli_clock() - begin;
  return status;
}

static int is_stopped(void *user)
{
  (void)user;
  return cli_stop_signal() != 0;
}

/* ---- preparation ---- */

static bramah_status check_log(const cli_replay_request *q, const char *path, bramah_diag *diag)
{
  const char *const outputs[] = {q->output,   q->report, q->smooth,   q->json,
                                 q->snapshot, q->plot,   q->plot_data};
  bramah_status status = BRAMAH_OK;
  for (size_t i = 0; !status && i < sizeof outputs / sizeof outputs[0]; i++)
    status = cli_check_output(outputs[i], 1, &path, diag);
  return status;
}

static bramah_status check_files(const cli_replay_run *r, bramah_diag *diag)
{
  const cli_replay_request *q = &r->request;
  const bramah_study *study = bramah_session_study(r->session);
  const char *const others[] = {q->study, q->truth, study->machine_file, q->output, q->report, q->smooth,
                                q->json,  q->plot,  q->plot_data};
  bramah_status status = cli_check_output(q->output, 3, others, diag);
  if (!status) status = cli_check_output(q->report, 4, others, diag);
  if (!status) status = cli_check_output(q->smooth, 5, others, diag);
  if (!status) status = cli_check_output(q->json, 6, others, diag);
  if (!status) status = cli_check_output(q->plot, 7, others, diag);
  if (!status) status = cli_check_output(q->plot_data, 8, others, diag);
  if (!status) status = cli_check_output(q->snapshot, 9, others, diag);
  for (size_t i = 0; !status && i < bramah_log_stream_n_files(r->log); i++)
    status = check_log(q, bramah_log_stream_file(r->log, i), diag);
  /* The next snapshot may take the place of the one that is gone on from. */
  for (size_t i = 3; !status && q->resume && i < sizeof others / sizeof others[0]; i++)
    status = cli_check_output(others[i], 1, &q->resume, diag);
  return status;
}

static bramah_status prepare_comparison(cli_replay_run *r, bramah_diag *diag)
{
  const cli_replay_request *q = &r->request;
  bramah_status status = BRAMAH_OK;
  if (q->truth) status = cli_truth_open(&r->truth, q->truth, diag);
  if (!status && q->truth)
    status = cli_accuracy_init(&r->accuracy, r->session, &r->estimate, &r->truth, diag);
  if (!status && q->truth) status = cli_nees_init(&r->nees, &r->estimate, diag);
  if (!status && q->plots)
    status = cli_replay_report_init(&r->report, r->session, &r->estimate, q->truth ? &r->truth : NULL, diag);
  if (!status && (q->truth || q->plots)) status = cli_model_alone_start(&r->alone, r->session, diag);
  return status;
}

/* The log is read once more, beforehand: how many steps there will be. */
static bramah_status open_smooth(cli_replay_run *r, bramah_diag *diag)
{
  const cli_replay_request *q = &r->request;
  int64_t last_ns;
  const bramah_status status = bramah_log_last_time(r->session, q->n_logs, q->logs, &last_ns, diag);
  if (status == BRAMAH_E_UNSUPPORTED)
    return cli_fail(diag, BRAMAH_E_UNSUPPORTED, q->logs[0], 0, NULL,
                    "--smooth needs a file, no pipe: it is read a second time to know its end");
  if (status) return status;
  return cli_smooth_open(&r->smooth, last_ns, q->truth, r->replay, diag);
}

bramah_status cli_replay_prepare(cli_replay_run *r, bramah_diag *diag)
{
  const cli_replay_request *q = &r->request;
  bramah_status status = bramah_session_open(q->study, diag, &r->session);
  if (status) return status;
  const size_t n_sensors = bramah_session_n_sensors(r->session);
  const bramah_listener listener = {r, take_sample};
  bramah_replay_options options;
  bramah_replay_options_default(&options);
  options.gather = 1;
  options.max_gap_ns = bramah_session_study(r->session)->log.longest_gap_ns;
  status = bramah_log_stream_open(r->session, q->n_logs, q->logs, diag, &r->log);
  if (status) return status;
  bramah_log_stream_limit(r->log, q->from_ns, q->to_ns);
  bramah_log_stream_stop(r->log, is_stopped, NULL);
  status = cli_unknown_open(&r->unknown, r->session, &options, next_row, r, diag);
  if (!status)
    status = bramah_replay_new(bramah_session_filter(r->session), &options, cli_unknown_next, &r->unknown,
                               diag, &r->replay);
  if (!status) status = cli_estimate_init(&r->estimate, r->replay, bramah_session_filter(r->session), diag);
  if (!status)
    status = cli_consistency_init(&r->consistency, n_sensors, bramah_session_study(r->session)->gate, diag);
  if (!status) status = cli_events_init(&r->events, n_sensors, diag);
  r->measured = calloc(n_sensors + 1, sizeof *r->measured);
  if (!status && !r->measured) status = cli_fail(diag, BRAMAH_E_MEMORY, NULL, 0, NULL, "out of memory");
  if (!status) bramah_replay_listen(r->replay, &listener);
  r->augmented = calloc(2 * bramah_session_study(r->session)->n_augmented + 1, sizeof *r->augmented);
  if (!status && !r->augmented) status = cli_fail(diag, BRAMAH_E_MEMORY, NULL, 0, NULL, "out of memory");
  if (!status) status = prepare_comparison(r, diag);
  if (!status) status = check_files(r, diag);
  if (!status && q->smooth && bramah_session_study(r->session)->adapt.line)
    status = cli_fail(diag, BRAMAH_E_VALUE, bramah_session_study(r->session)->file,
                      bramah_session_study(r->session)->adapt.line, "adapt",
                      "--smooth needs noise that does not adapt");
  if (!status) status = cli_adapt_open(&r->adapt, r->session, r->replay, diag);
  if (!status && q->smooth) status = open_smooth(r, diag);
  if (!status && q->resume) status = cli_replay_resume(r, diag);
  if (!status && q->json) status = cli_json_create(&r->json, q->json, diag);
  return status ? status : cli_estimate_file_create(&r->file, q->output, &r->estimate, 1, diag);
}

/* ---- rows ---- */

static bramah_status compare(cli_replay_run *r, int64_t time_ns, bramah_diag *diag)
{
  const cli_replay_request *q = &r->request;
  const double t = cli_seconds(time_ns);
  if (!q->truth && !q->plots) return BRAMAH_OK;
  if (r->rows) cli_model_alone_step(&r->alone, bramah_replay_inputs(r->replay), t);
  const bramah_plant *model = r->alone.running ? &r->alone.plant : NULL;
  bramah_status status = BRAMAH_OK;
  if (q->truth) {
    status = cli_truth_seek(&r->truth, time_ns, r->estimate.plant->step_ns / 2, diag);
    if (status) return status;
    cli_accuracy_add(&r->accuracy, &r->estimate, &r->truth, model, r->measured);
    cli_nees_add(&r->nees, &r->estimate, &r->truth);
  }
  if (q->plots)
    status =
        cli_replay_report_add(&r->report, t, &r->estimate, &r->truth, model, r->measured, r->step_seconds);
  if (!status) status = r->plotted;
  return status ? cli_fail(diag, status, q->report, 0, NULL, "the report cannot take more points")
                : BRAMAH_OK;
}

/* The estimate of a time stands in the filter: count it, write it, compare it. */
static bramah_status deliver(cli_replay_run *r, int64_t time_ns, bramah_diag *diag)
{
  const int wanted = r->rows % r->request.every == 0;
  bramah_status status = BRAMAH_OK;
  if (wanted || r->request.truth || r->request.plots) cli_estimate_take(&r->estimate);
  cli_consistency_add_all(&r->consistency, r->replay);
  cli_unknown_step(&r->unknown, &r->estimate, cli_seconds(time_ns));
  cli_events_watch(&r->events, bramah_session_filter(r->session), cli_seconds(time_ns));
  if (wanted) status = cli_estimate_file_row(&r->file, &r->estimate, cli_seconds(time_ns), diag);
  if (status) return status;
  r->written += (uint64_t)wanted;
  if (!r->rows) r->first_ns = r->snapshot_ns = time_ns;
  r->last_ns = time_ns;
  if (!r->rows && r->request.smooth) {
    status = cli_smooth_begin(&r->smooth, bramah_session_filter(r->session), time_ns,
                              r->request.smooth_megabytes, diag);
    if (status) return status;
  }
  status = compare(r, time_ns, diag);
  r->rows++;
  return status;
}

/* What the filter or the replay complain about came with the row in use. */
static void place(const cli_replay_run *r, bramah_diag *diag)
{
  int line;
  const char *path = bramah_log_stream_place(r->log, bramah_replay_mark(r->replay), &line);
  cli_place(diag, path, line);
}

/* Filter time is what a step takes without reading and writing. */
static bramah_status next_step(cli_replay_run *r, int64_t *time_ns, int *end, bramah_diag *diag)
{
  int corrected;
  const double begin = cli_clock(), reading = r->reading;
  for (size_t i = 0; i < bramah_session_study(r->session)->n_sensors; i++) r->measured[i] = NAN;
  const bramah_status status = bramah_replay_next(r->replay, time_ns, &corrected, end, diag);
  r->step_seconds = cli_clock() - begin - (r->reading - reading);
  r->filter_seconds += r->step_seconds;
  if (status) place(r, diag);
  return status;
}

/* The next estimate would lie behind --to. */
static int window_is_full(const cli_replay_run *r)
{
  return r->rows && r->last_ns > r->request.to_ns - r->estimate.plant->step_ns;
}

/* How long the run will be, by the share of the log that was read. */
static void expect_end(const cli_replay_run *r, cli_progress *progress)
{
  const double share = progress->shown ? bramah_log_stream_share(r->log) : NAN;
  const int64_t done = r->last_ns - r->begin_ns;
  if (!(share > 0.0) || done <= 0) return;
  const double total = (double)done / share, most = (double)r->request.to_ns - (double)r->begin_ns;
  progress->total_ns = llround(fmin(fmin(total, most), 9e18));
}

static bramah_status go_through(cli_replay_run *r, cli_progress *progress, bramah_diag *diag)
{
  while (!cli_stop_signal() && !window_is_full(r)) {
    int64_t time_ns;
    int end;
    bramah_status status = next_step(r, &time_ns, &end, diag);
    if (status || end) return status;
    status = deliver(r, time_ns, diag);
    if (r->rows == r->begin_rows + 1) r->begin_ns = r->last_ns;
    if (r->rows % 1024 == 0) expect_end(r, progress);
    cli_progress_update(progress, time_ns - r->begin_ns);
    if (!status && r->request.snapshot) status = cli_replay_save_when_due(r, diag);
    if (status) return status;
  }
  return BRAMAH_OK;
}

/* Later the smoother moves the plant. */
static void keep_augmented(cli_replay_run *r)
{
  bramah_filter *filter = bramah_session_filter(r->session);
  r->estimated = cli_augmented_table(filter);
  for (size_t i = 0; i < bramah_filter_n_augmented(filter); i++) {
    r->augmented[2 * i] = bramah_filter_augmented_value(filter, i);
    r->augmented[2 * i + 1] = bramah_filter_augmented_sigma(filter, i);
  }
}

bramah_status cli_replay_rows(cli_replay_run *r, bramah_diag *diag)
{
  const double begin = cli_clock();
  cli_progress progress = cli_progress_begin(0);
  bramah_diag_clear(diag);
  r->begin_ns = r->last_ns;
  r->begin_rows = r->rows;
  r->snapshot_ns = r->rows ? r->last_ns : INT64_MAX;
  r->saved_rows = UINT64_MAX;
  bramah_status status = BRAMAH_OK;
  if (r->rows && r->request.snapshot) status = cli_replay_save(r, diag); /* perhaps nothing is to come */
  if (!status) status = go_through(r, &progress, diag);
  cli_progress_end(&progress);
  if (!status && r->request.snapshot && r->saved_rows != r->rows) status = cli_replay_save(r, diag);
  cli_events_watch(&r->events, bramah_session_filter(r->session), cli_seconds(r->last_ns));
  keep_augmented(r);
  r->seconds = cli_clock() - begin;
  return status;
}

/* ---- end ---- */

bramah_status cli_replay_finish(cli_replay_run *r, bramah_diag *diag)
{
  return cli_estimate_file_finish(&r->file, diag);
}

/* The estimates once more, backwards. */
bramah_status cli_replay_smooth(cli_replay_run *r, bramah_diag *diag)
{
  const cli_replay_request *q = &r->request;
  if (!q->smooth || !r->rows) return BRAMAH_OK;
  return cli_smooth_write(&r->smooth, q->smooth, r->session, &r->estimate, r->rows, q->every, diag);
}

void cli_replay_close(cli_replay_run *r)
{
  bramah_diag ignored;
  cli_estimate_file_finish(&r->file, &ignored);
  cli_smooth_close(&r->smooth);
  cli_adapt_close(&r->adapt);
  cli_unknown_close(&r->unknown);
  cli_replay_report_free(&r->report);
  cli_consistency_free(&r->consistency);
  cli_events_free(&r->events);
  cli_table_free(&r->estimated);
  cli_accuracy_free(&r->accuracy);
  cli_nees_free(&r->nees);
  cli_verdict_free(&r->verdict);
  bramah_coupled_free(r->alone.coupled);
  cli_truth_close(&r->truth);
  cli_estimate_free(&r->estimate);
  bramah_replay_free(r->replay);
  bramah_log_stream_close(r->log);
  bramah_session_close(r->session);
  free(r->measured);
  free(r->augmented);
  if (r->json.file) cli_json_finish(&r->json, &ignored);
  cli_snapshot_free(&r->kept);
}
