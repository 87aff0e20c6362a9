/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a replay tells at its end: the summary, the tables, the report. */
#include "lib/cli/log_table.h"
#include "lib/cli/output_files.h"
#include "lib/cli/pictures.h"
#include "lib/cli/replay.h"

#include <stdio.h>

/* Two decimals would pretend too much: a machine's load moves them. */
static void print_speed(const cli_replay_run *r, FILE *out)
{
  const double duration = cli_seconds(r->last_ns - r->begin_ns);
  if (duration > 0.0)
    fprintf(out, "speed: filter alone %.0f × real time, with files and comparisons %.0f × real time\n",
            duration / r->filter_seconds, duration / r->seconds);
}

static void print_delays(const cli_replay_run *r, FILE *out)
{
  const bramah_rewind *rewind = bramah_replay_rewind(r->replay);
  if (!rewind) return;
  const bramah_rewind_counts counts = bramah_rewind_report(rewind);
  fprintf(
      out,
      "late samples: %llu; %llu rewinds, the deepest %.9g s, %llu steps made again; each row shows what was "
      "known\n  at its time\n",
      (unsigned long long)counts.late, (unsigned long long)counts.rewinds, cli_seconds(counts.deepest_ns),
      (unsigned long long)counts.recomputed);
  if (counts.before_start)
    fprintf(out, "samples measured before the first row, not used: %llu\n",
            (unsigned long long)counts.before_start);
  if (counts.crowded)
    fprintf(out, "samples left out, too many in one step: %llu\n", (unsigned long long)counts.crowded);
}

static void print_window(const cli_replay_run *r, FILE *out)
{
  const bramah_log_totals totals = bramah_log_stream_totals(r->log);
  if (totals.skipped)
    fprintf(out, "rows before --from, not used: %llu\n", (unsigned long long)totals.skipped);
  if (!r->request.resume) return;
  fprintf(out, "gone on from %s: %llu estimates before it, %llu after\n", r->request.resume,
          (unsigned long long)r->begin_rows, (unsigned long long)(r->rows - r->begin_rows));
  if (totals.used_before)
    fprintf(out, "rows of the log that were used before: %llu\n", (unsigned long long)totals.used_before);
}

static void print_counts(const cli_replay_run *r, FILE *out)
{
  const bramah_replay_counts counts = bramah_replay_report(r->replay);
  fprintf(out, "rows: %llu from the log, %llu estimates, %llu written; %.9g s in steps of %.9g s\n",
          (unsigned long long)counts.samples, (unsigned long long)r->rows, (unsigned long long)r->written,
          cli_seconds(r->last_ns - r->first_ns), cli_seconds(r->estimate.plant->step_ns));
  fprintf(out, "measurements used: %llu\n", (unsigned long long)r->events.report.accepted);
  if (counts.off_grid)
    fprintf(
        out,
        "rows beside the grid of steps: %llu, fused at the nearest step with their own time, at most %.3g s "
        "away\n",
        (unsigned long long)counts.off_grid, cli_seconds(counts.max_shift_ns));
  print_window(r, out);
  print_delays(r, out);
  if (counts.merged && bramah_replay_rewind(r->replay))
    fprintf(out, "rows that came after the estimate of their step, fused by the next: %llu\n",
            (unsigned long long)counts.merged);
  else if (counts.merged)
    fprintf(out,
            "rows fused into a step already written: %llu (more of them in a step than are read ahead)\n",
            (unsigned long long)counts.merged);
  if (r->request.truth && r->truth.unmatched)
    fprintf(out, "estimates without a row of the truth within half a step: %llu\n",
            (unsigned long long)r->truth.unmatched);
}

static void print_summary(const cli_replay_run *r, FILE *out)
{
  const bramah_study *study = bramah_session_study(r->session);
  fprintf(out, "study: %s (%s)\n", study->name, study->file);
  fprintf(out, "machine: %s (%s), %zu change%s for the filter's model\n",
          bramah_model_name(bramah_session_model(r->session)), study->machine_file, study->n_changes,
          study->n_changes == 1 ? "" : "s");
  for (size_t i = 0; i < r->request.n_logs; i++) fprintf(out, "log: %s\n", r->request.logs[i]);
  print_counts(r, out);
  print_speed(r, out);
}

static bramah_status note(const cli_replay_run *r, const char *name, const char *value)
{
  return bramah_report_note(r->report.report, name, value);
}

static bramah_status add_notes(const cli_replay_run *r)
{
  const bramah_study *study = bramah_session_study(r->session);
  const double duration = cli_seconds(r->last_ns - r->first_ns);
  const double here = cli_seconds(r->last_ns - r->begin_ns);
  char rows[128], speed[128];
  snprintf(rows, sizeof rows, "%llu over %.9g s in steps of %.9g s", (unsigned long long)r->rows, duration,
           cli_seconds(r->estimate.plant->step_ns));
  snprintf(speed, sizeof speed, "filter alone %.0f × real time", here / r->filter_seconds);
  bramah_status status = note(r, "study", study->file);
  if (!status) status = note(r, "machine", study->machine_file);
  for (size_t i = 0; !status && i < r->request.n_logs; i++) status = note(r, "log", r->request.logs[i]);
  if (!status && r->request.truth) status = note(r, "truth", r->request.truth);
  if (!status) status = note(r, "estimates", rows);
  return status || here <= 0.0 ? status : note(r, "speed", speed);
}

static bramah_status write_report(cli_replay_run *r, size_t n_tables, const cli_table *tables,
                                  bramah_diag *diag)
{
  const cli_replay_request *q = &r->request;
  bramah_status status = BRAMAH_OK;
  if (r->outcome)
    status = bramah_report_event(r->report.report, cli_seconds(r->last_ns), "end", r->mistake.message);
  if (!status) status = add_notes(r);
  for (size_t i = 0; !status && i < n_tables; i++) status = cli_table_report(&tables[i], r->report.report);
  if (!status) status = cli_replay_report_finish(&r->report);
  if (status) return cli_fail(diag, status, r->request.report, 0, NULL, "the report cannot be completed");
  if (q->report) status = bramah_report_write(r->report.report, q->report, diag);
  if (status) return cli_place(diag, q->report, 0), status;
  if (q->plot) status = cli_write_picture(r->report.report, q->plot, q->plot_only, diag);
  if (!status && q->plot_data) status = bramah_report_write_data(r->report.report, q->plot_data, diag);
  return status;
}

/* Tables on the terminal and into the report. */
bramah_status cli_replay_conclude(cli_replay_run *r, bramah_diag *diag)
{
  const cli_replay_request *q = &r->request;
  const char *const outputs[] = {q->output, q->report, q->smooth, q->json, q->plot_data};
  FILE *out = cli_summary_stream(5, outputs);
  cli_table tables[10];
  size_t n = 0;
  bramah_status status = BRAMAH_OK;
  print_summary(r, out);
  tables[n++] = cli_log_table(r->log, bramah_session_model(r->session));
  tables[n++] = cli_consistency_table(&r->consistency, bramah_session_filter(r->session));
  const cli_table events = cli_events_table(&r->events, bramah_session_filter(r->session));
  if (events.n_cells) tables[n++] = events;
  if (r->estimated.n_cells) tables[n++] = r->estimated;
  r->estimated = (cli_table){0}; /* freed below */
  if (r->unknown.n) tables[n++] = cli_unknown_table(&r->unknown, &r->estimate);
  if (r->adapt.adaptive) tables[n++] = cli_adapt_table(&r->adapt, bramah_session_filter(r->session));
  if (q->truth) tables[n++] = cli_accuracy_table(&r->accuracy, r->estimate.plant);
  if (q->truth && r->smooth.written)
    tables[n++] = cli_smooth_table(&r->smooth, &r->accuracy, r->estimate.plant);
  r->verdict = cli_verdict_make(&r->consistency, &r->events, q->truth ? &r->accuracy : NULL, &r->nees,
                                bramah_session_filter(r->session));
  tables[n++] = cli_verdict_table(&r->verdict);
  for (size_t i = 0; i < n; i++) cli_table_print(&tables[i], out);
  cli_verdict_print(&r->verdict, out);
  if (q->plots) status = write_report(r, n, tables, diag);
  for (size_t i = 0; i < n; i++) cli_table_free(&tables[i]);
  fprintf(out, "\nestimates: %s\n", q->output);
  if (r->smooth.written)
    fprintf(out, "smoothed: %s, %zu steps kept in %.3g MB\n", q->smooth, r->smooth.written,
            r->smooth.megabytes);
  if (q->report && !status) fprintf(out, "report: %s\n", q->report);
  if (q->plot && !status) fprintf(out, "plots: %s\n", q->plot);
  if (q->plot_data && !status) fprintf(out, "plotted numbers: %s\n", q->plot_data);
  if (q->snapshot && r->saved_rows == r->rows) fprintf(out, "snapshot: %s\n", q->snapshot);
  if (q->json && out == stdout) fprintf(out, "json: %s\n", q->json);
  return status;
}
