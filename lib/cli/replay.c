/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bramah replay: a log through the filter of a study. */
#include "lib/cli/commands.h"
#include "lib/cli/accuracy.h"
#include "lib/cli/events.h"
#include "lib/cli/log_source.h"
#include "lib/cli/observable.h"
#include "lib/cli/output_files.h"
#include "lib/cli/progress.h"
#include "lib/cli/replay_report.h"
#include "lib/cli/smooth.h"
#include "lib/cli/adapt.h"
#include "lib/cli/unknown.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct request {
  const char *study, *log, *output, *truth, *report, *smooth;
  uint64_t every, smooth_megabytes;
} request;

/* The same model started like the filter and driven by the same commands, but never corrected. */
typedef struct model_alone {
  bramah_coupled *coupled;
  bramah_plant plant;
  int running;
} model_alone;

typedef struct run {
  request request;
  cli_session session;
  cli_log_source source;
  bramah_replay *replay;
  cli_estimate estimate;
  cli_estimate_file file;
  cli_truth truth;
  model_alone alone;
  cli_accuracy accuracy;
  cli_consistency consistency;
  cli_events events;
  cli_table estimated; /* augmented states at the end */
  cli_replay_report report;
  cli_smooth smooth;
  cli_adapt adapt;
  cli_unknown unknown;
  double *measured; /* [n_sensors] at the present time, NaN where there was no sample */
  uint64_t rows, written;
  int64_t first_ns, last_ns;
  double filter_seconds, seconds; /* of the clock */
} replay_run;

/* ---- model alone ---- */

static bramah_status start_model_alone(replay_run *r, bramah_diag *diag)
{
  model_alone *alone = &r->alone;
  bramah_status status = bramah_coupled_new(r->session.machine.model, diag, &alone->coupled);
  if (!status) status = cli_session_start(&r->session, alone->coupled, diag);
  if (status) return status;
  alone->plant = bramah_coupled_plant(alone->coupled);
  alone->running = 1;
  return BRAMAH_OK;
}

/* One step with the commands that the filter's plant had during its last step. Without corrections the model
 * may run to where it cannot be integrated any more: the comparison ends there, not the replay. */
static void advance_model_alone(replay_run *r, double t)
{
  model_alone *alone = &r->alone;
  bramah_diag diag;
  if (!alone->running || !r->rows) return;
  bramah_status status = alone->plant.set_inputs(alone->plant.self, r->source.held, &diag);
  if (!status) status = alone->plant.step(alone->plant.self, &diag);
  if (!status) return;
  alone->running = 0;
  cli_note("the model without corrections ends at t = %.9g s: %s", t, diag.message);
}

/* ---- preparation ---- */

static bramah_status check_files(const replay_run *r, bramah_diag *diag)
{
  const request *q = &r->request;
  const bramah_study *study = r->session.study;
  const char *const others[] = {q->study, q->log, q->truth, study->machine_file, q->output, q->report};
  bramah_status status = cli_check_output(q->output, 4, others, diag);
  if (!status) status = cli_check_output(q->report, 5, others, diag);
  return status ? status : cli_check_output(q->smooth, 6, others, diag);
}

static bramah_status prepare_comparison(replay_run *r, bramah_diag *diag)
{
  const request *q = &r->request;
  bramah_status status = BRAMAH_OK;
  if (q->truth) status = cli_truth_open(&r->truth, q->truth, diag);
  if (!status && q->truth)
    status = cli_accuracy_init(&r->accuracy, &r->session, &r->estimate, &r->truth, diag);
  if (!status && q->report)
    status = cli_replay_report_init(&r->report, &r->session, &r->estimate, q->truth ? &r->truth : NULL, diag);
  if (!status && (q->truth || q->report)) status = start_model_alone(r, diag);
  return status;
}

static bramah_status prepare(replay_run *r, bramah_diag *diag)
{
  const request *q = &r->request;
  bramah_status status = cli_session_open(&r->session, q->study, diag);
  if (status) return status;
  const size_t n_sensors = r->session.study->n_sensors;
  status = cli_log_source_open(&r->source, q->log, r->session.machine.plant.n_input, n_sensors, diag);
  if (!status) status = cli_log_source_bind(&r->source, &r->session, diag);
  if (!status) status = cli_unknown_open(&r->unknown, &r->session, cli_log_source_next, &r->source, diag);
  if (!status)
    status = bramah_replay_new(r->session.filter, NULL, cli_unknown_next, &r->unknown, diag, &r->replay);
  if (!status) status = cli_estimate_init(&r->estimate, r->replay, r->session.filter, diag);
  if (!status) status = cli_consistency_init(&r->consistency, n_sensors, r->session.study->gate, diag);
  if (!status) status = cli_events_init(&r->events, n_sensors, diag);
  r->measured = calloc(n_sensors + 1, sizeof *r->measured);
  if (!status && !r->measured) status = cli_fail(diag, BRAMAH_E_MEMORY, NULL, 0, NULL, "out of memory");
  if (!status) status = prepare_comparison(r, diag);
  if (!status) status = check_files(r, diag);
  if (!status && q->smooth && r->session.study->adapt.line)
    status = cli_fail(diag, BRAMAH_E_VALUE, r->session.study->file, r->session.study->adapt.line, "adapt",
                      "--smooth needs noise that does not adapt");
  if (!status) status = cli_adapt_open(&r->adapt, &r->session, r->replay, diag);
  if (!status && q->smooth) status = cli_smooth_open(&r->smooth, q->log, q->truth, r->replay, diag);
  return status ? status : cli_estimate_file_create(&r->file, q->output, &r->estimate, 1, diag);
}

/* ---- rows ---- */

static void take_measured(replay_run *r)
{
  const bramah_innovation *innovation = bramah_replay_innovations(r->replay);
  for (size_t i = 0; i < r->source.n_sensors; i++)
    r->measured[i] = innovation[i].present ? r->source.values[r->source.sensors[i]] : NAN;
}

static bramah_status compare(replay_run *r, int64_t time_ns, bramah_diag *diag)
{
  const request *q = &r->request;
  const double t = cli_seconds(time_ns);
  if (!q->truth && !q->report) return BRAMAH_OK;
  advance_model_alone(r, t);
  take_measured(r);
  const bramah_plant *model = r->alone.running ? &r->alone.plant : NULL;
  bramah_status status = BRAMAH_OK;
  if (q->truth) {
    status = cli_truth_seek(&r->truth, time_ns, r->estimate.plant->step_ns / 2, diag);
    if (status) return status;
    cli_accuracy_add(&r->accuracy, &r->estimate, &r->truth, model, r->measured);
  }
  if (q->report) status = cli_replay_report_add(&r->report, t, &r->estimate, &r->truth, model, r->measured);
  return status ? cli_fail(diag, status, q->report, 0, NULL, "the report cannot take more points")
                : BRAMAH_OK;
}

/* The estimate of a time stands in the filter: count it, write it, compare it. */
static bramah_status deliver(replay_run *r, int64_t time_ns, bramah_diag *diag)
{
  const int wanted = r->rows % r->request.every == 0;
  bramah_status status = BRAMAH_OK;
  if (wanted || r->request.truth || r->request.report) cli_estimate_take(&r->estimate);
  cli_consistency_add(&r->consistency, r->replay);
  cli_unknown_step(&r->unknown, &r->estimate, cli_seconds(time_ns));
  cli_events_watch(&r->events, r->session.filter, cli_seconds(time_ns));
  if (wanted) status = cli_estimate_file_row(&r->file, &r->estimate, cli_seconds(time_ns), diag);
  if (status) return status;
  r->written += (uint64_t)wanted;
  if (!r->rows) r->first_ns = time_ns;
  r->last_ns = time_ns;
  if (!r->rows && r->request.smooth) {
    status = cli_smooth_begin(&r->smooth, r->session.filter, time_ns, r->request.smooth_megabytes, diag);
    if (status) return status;
  }
  status = compare(r, time_ns, diag);
  r->rows++;
  return status;
}

/* Filter time is what a step takes without reading and writing. */
static bramah_status next_step(replay_run *r, int64_t *time_ns, int *end, bramah_diag *diag)
{
  int corrected;
  const double begin = cli_clock(), reading = r->source.seconds;
  const bramah_status status = bramah_replay_next(r->replay, time_ns, &corrected, end, diag);
  r->filter_seconds += cli_clock() - begin - (r->source.seconds - reading);
  /* What the filter or the replay complain about came with the row read last. */
  if (status) cli_place(diag, bramah_log_path(r->source.reader), bramah_log_line(r->source.reader));
  return status;
}

static bramah_status run_rows(replay_run *r, bramah_diag *diag)
{
  const double begin = cli_clock(), last = cli_log_last_time(r->request.log);
  cli_progress progress = cli_progress_begin(0);
  bramah_status status = BRAMAH_OK;
  int end = 0;
  bramah_diag_clear(diag);
  while (!status) {
    int64_t time_ns;
    status = next_step(r, &time_ns, &end, diag);
    if (status || end) break;
    status = deliver(r, time_ns, diag);
    if (r->rows == 1 && fabs(last) < 9e9) progress.total_ns = llround(last * 1e9) - r->first_ns;
    cli_progress_update(&progress, time_ns - r->first_ns);
  }
  cli_progress_end(&progress);
  cli_events_watch(&r->events, r->session.filter, cli_seconds(r->last_ns));
  r->estimated = cli_augmented_table(r->session.filter); /* later the smoother moves the plant */
  r->seconds = cli_clock() - begin;
  return status;
}

/* ---- summary ---- */

/* Two decimals would pretend too much: a machine's load moves them. */
static void print_speed(const replay_run *r, FILE *out)
{
  const double duration = cli_seconds(r->last_ns - r->first_ns);
  if (duration > 0.0)
    fprintf(out, "speed: filter alone %.0f × real time, with files and comparisons %.0f × real time\n",
            duration / r->filter_seconds, duration / r->seconds);
}

static void print_delays(const replay_run *r, FILE *out)
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

static void print_counts(const replay_run *r, FILE *out)
{
  const bramah_replay_counts counts = bramah_replay_report(r->replay);
  fprintf(out, "rows: %llu from the log, %llu estimates, %llu written; %.9g s in steps of %.9g s\n",
          (unsigned long long)counts.samples, (unsigned long long)r->rows, (unsigned long long)r->written,
          cli_seconds(r->last_ns - r->first_ns), cli_seconds(r->estimate.plant->step_ns));
  fprintf(out, "measurements used: %llu\n", (unsigned long long)r->events.report.accepted);
  if (counts.off_grid)
    fprintf(out, "rows beside the grid of steps: %llu, used at the nearest step, at most %.3g s away\n",
            (unsigned long long)counts.off_grid, cli_seconds(counts.max_shift_ns));
  print_delays(r, out);
  if (counts.merged && bramah_replay_rewind(r->replay))
    fprintf(out, "rows that came after the estimate of their step, fused by the next: %llu\n",
            (unsigned long long)counts.merged);
  else if (counts.merged)
    fprintf(out,
            "rows fused into a step already written: %llu (the log is faster than the step); their "
            "innovations are\n"
            "  not counted below\n",
            (unsigned long long)counts.merged);
  if (r->request.truth && r->truth.unmatched)
    fprintf(out, "estimates without a row of the truth within half a step: %llu\n",
            (unsigned long long)r->truth.unmatched);
}

static void print_summary(const replay_run *r, FILE *out)
{
  const bramah_study *study = r->session.study;
  fprintf(out, "study: %s (%s)\n", study->name, study->file);
  fprintf(out, "machine: %s (%s), %zu change%s for the filter's model\n",
          bramah_model_name(r->session.machine.model), study->machine_file, study->n_changes,
          study->n_changes == 1 ? "" : "s");
  fprintf(out, "log: %s\n", r->request.log);
  print_counts(r, out);
  print_speed(r, out);
}

static bramah_status note(const replay_run *r, const char *name, const char *value)
{
  return bramah_report_note(r->report.report, name, value);
}

static bramah_status add_notes(const replay_run *r)
{
  const bramah_study *study = r->session.study;
  const double duration = cli_seconds(r->last_ns - r->first_ns);
  char rows[128], speed[128];
  snprintf(rows, sizeof rows, "%llu over %.9g s in steps of %.9g s", (unsigned long long)r->rows, duration,
           cli_seconds(r->estimate.plant->step_ns));
  snprintf(speed, sizeof speed, "filter alone %.0f × real time", duration / r->filter_seconds);
  bramah_status status = note(r, "study", study->file);
  if (!status) status = note(r, "machine", study->machine_file);
  if (!status) status = note(r, "log", r->request.log);
  if (!status && r->request.truth) status = note(r, "truth", r->request.truth);
  if (!status) status = note(r, "estimates", rows);
  return status || duration <= 0.0 ? status : note(r, "speed", speed);
}

static bramah_status write_report(const replay_run *r, size_t n_tables, const cli_table *tables,
                                  bramah_diag *diag)
{
  bramah_status status = add_notes(r);
  for (size_t i = 0; !status && i < n_tables; i++) status = cli_table_report(&tables[i], r->report.report);
  if (status) return cli_fail(diag, status, r->request.report, 0, NULL, "the report cannot be completed");
  status = bramah_report_write(r->report.report, r->request.report, diag);
  if (status) cli_place(diag, r->request.report, 0);
  return status;
}

/* The estimates once more, backwards. */
static bramah_status smooth(replay_run *r, bramah_diag *diag)
{
  const request *q = &r->request;
  if (!q->smooth || !r->rows) return BRAMAH_OK;
  return cli_smooth_write(&r->smooth, q->smooth, &r->session, &r->estimate, r->rows, q->every, diag);
}

/* Tables on the terminal and into the report. */
static bramah_status conclude(replay_run *r, bramah_diag *diag)
{
  const request *q = &r->request;
  const char *const outputs[] = {q->output, q->report, q->smooth};
  FILE *out = cli_summary_stream(3, outputs);
  cli_table tables[7];
  size_t n = 0;
  bramah_status status = BRAMAH_OK;
  print_summary(r, out);
  tables[n++] = cli_consistency_table(&r->consistency, r->session.filter);
  const cli_table events = cli_events_table(&r->events, r->session.filter);
  if (events.n_cells) tables[n++] = events;
  if (r->estimated.n_cells) tables[n++] = r->estimated;
  r->estimated = (cli_table){0}; /* freed below */
  if (r->unknown.n) tables[n++] = cli_unknown_table(&r->unknown, &r->estimate);
  if (r->adapt.adaptive) tables[n++] = cli_adapt_table(&r->adapt, r->session.filter);
  if (q->truth) tables[n++] = cli_accuracy_table(&r->accuracy, r->estimate.plant);
  if (q->truth && r->smooth.written)
    tables[n++] = cli_smooth_table(&r->smooth, &r->accuracy, r->estimate.plant);
  for (size_t i = 0; i < n; i++) cli_table_print(&tables[i], out);
  if (q->report) status = write_report(r, n, tables, diag);
  for (size_t i = 0; i < n; i++) cli_table_free(&tables[i]);
  fprintf(out, "\nestimates: %s\n", q->output);
  if (r->smooth.written)
    fprintf(out, "smoothed: %s, %zu steps kept in %.3g MB\n", q->smooth, r->smooth.written,
            r->smooth.megabytes);
  if (q->report && !status) fprintf(out, "report: %s\n", q->report);
  return status;
}

/* ---- command ---- */

/* After a bad row everything up to it is finished as usual; then the mistake is told. */
static int replay(replay_run *r)
{
  bramah_diag diag, later;
  bramah_status status = prepare(r, &diag);
  if (status) return cli_report(&diag);
  cli_warn_unobservable(&r->session);
  status = run_rows(r, &diag);
  const bramah_status closed = cli_estimate_file_finish(&r->file, &later);
  int code = status ? cli_report(&diag) : CLI_OK;
  if (closed) return cli_report(&later);
  if (smooth(r, &later)) code = cli_report(&later);
  return conclude(r, &later) ? cli_report(&later) : code;
}

static void clean_up(replay_run *r)
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
  bramah_coupled_free(r->alone.coupled);
  cli_truth_close(&r->truth);
  cli_estimate_free(&r->estimate);
  bramah_replay_free(r->replay);
  cli_log_source_close(&r->source);
  cli_session_close(&r->session);
  free(r->measured);
}

static int run(const cli_arguments *arguments)
{
  replay_run r = {.request = {.study = arguments->operands[0],
                              .log = arguments->operands[1],
                              .output = cli_value(arguments, "output"),
                              .truth = cli_value(arguments, "truth"),
                              .report = cli_value(arguments, "report"),
                              .smooth = cli_value(arguments, "smooth"),
                              .every = 1,
                              .smooth_megabytes = 2000}};
  int code = cli_count_value(arguments, "every", 1, &r.request.every);
  if (!code) code = cli_count_value(arguments, "smooth-memory", 1, &r.request.smooth_megabytes);
  if (!code) code = replay(&r);
  clean_up(&r);
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
