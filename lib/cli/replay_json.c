/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The summary of a replay for programs. Keys are explained in datasets/README.md and stay as they are; new
 * ones may come. Values are in SI units, times in seconds of the log. */
#include "lib/cli/log_table.h"
#include "lib/cli/cli.h"
#include "lib/cli/replay.h"

#include <math.h>
#include <string.h>

static void put_time(cli_json *json, const char *name, int64_t ns, int known)
{
  cli_json_number(json, name, known ? cli_seconds(ns) : NAN);
}

/* What was asked for. */
static void put_request(const cli_replay_run *r, cli_json *json)
{
  const bramah_study *study = bramah_session_study(r->session);
  const cli_replay_request *q = &r->request;
  cli_json_open(json, "study", '{');
  cli_json_text(json, "name", study->name);
  cli_json_text(json, "file", q->study);
  cli_json_text(json, "machine", bramah_model_name(bramah_session_model(r->session)));
  cli_json_text(json, "machine_file", study->machine_file);
  cli_json_count(json, "changes", study->n_changes);
  cli_json_close(json, '}');

  cli_json_open(json, "files", '{');
  cli_json_open(json, "logs", '[');
  for (size_t i = 0; i < q->n_logs; i++) cli_json_text(json, NULL, q->logs[i]);
  cli_json_close(json, ']');
  cli_json_text(json, "output", q->output);
  cli_json_text(json, "truth", q->truth);
  cli_json_text(json, "report", q->report);
  cli_json_text(json, "smooth", q->smooth);
  cli_json_text(json, "snapshot", q->snapshot);
  cli_json_text(json, "resume", q->resume);
  cli_json_close(json, '}');

  cli_json_open(json, "options", '{');
  put_time(json, "from", q->from_ns, q->from_ns != INT64_MIN);
  put_time(json, "to", q->to_ns, q->to_ns != INT64_MAX);
  cli_json_count(json, "every", q->every);
  put_time(json, "snapshot_every", q->snapshot_every_ns, q->snapshot_every_ns != 0);
  cli_json_close(json, '}');
}

/* What was read and written, and how long it took. */
static void put_rows(const cli_replay_run *r, const bramah_assess_totals *totals, cli_json *json)
{
  const bramah_replay_counts counts = bramah_replay_report(bramah_assess_replay(r->assess));
  const bramah_rewind *rewind = bramah_replay_rewind(bramah_assess_replay(r->assess));
  const bramah_rewind_counts late = rewind ? bramah_rewind_report(rewind) : (bramah_rewind_counts){0};
  const bramah_log_stream_info log = bramah_log_stream_get_info(r->log);
  cli_json_open(json, "rows", '{');
  cli_json_count(json, "log", counts.samples);
  cli_json_count(json, "before_from", log.skipped);
  cli_json_count(json, "used_before_resume", log.used_before);
  cli_json_count(json, "estimates", totals->estimates);
  cli_json_count(json, "written", r->written);
  cli_json_count(json, "off_grid", counts.off_grid);
  cli_json_number(json, "largest_shift", cli_seconds(counts.max_shift_ns));
  cli_json_count(json, "merged", counts.merged);
  cli_json_count(json, "late", late.late);
  cli_json_count(json, "before_start", late.before_start);
  cli_json_count(json, "rewinds", late.rewinds);
  cli_json_count(json, "steps_again", late.recomputed);
  cli_json_count(json, "without_truth", totals->without_truth);
  cli_json_close(json, '}');
  cli_log_json(r->log, json);

  const double duration = cli_seconds(totals->last_ns - totals->begin_ns), seconds = totals->filter_seconds;
  cli_json_open(json, "time", '{');
  put_time(json, "first", totals->first_ns, totals->estimates > 0);
  put_time(json, "last", totals->last_ns, totals->estimates > 0);
  cli_json_number(json, "step", cli_seconds(bramah_session_plant(r->session)->step_ns));
  cli_json_close(json, '}');
  cli_json_open(json, "speed", '{');
  cli_json_number(json, "filter_seconds", seconds);
  cli_json_number(json, "seconds", r->seconds);
  cli_json_number(json, "times_real_time", seconds > 0.0 ? duration / seconds : NAN);
  cli_json_close(json, '}');
}

static void put_innovations(const bramah_consistency *c, cli_json *json)
{
  cli_json_count(json, "samples", c->samples);
  cli_json_count(json, "fused", c->fused);
  cli_json_count(json, "gated", c->gated);
  cli_json_count(json, "saturated", c->saturated);
  cli_json_number(json, "nis_mean", c->nis);
  cli_json_number(json, "nis_expected", c->expected);
  cli_json_number(json, "nis_band_low", c->low);
  cli_json_number(json, "nis_band_high", c->high);
}

/* Innovations, sensor by sensor and all together, and what became of measurements. */
static void put_sensors(const cli_replay_run *r, const bramah_assess_results *results, cli_json *json)
{
  cli_json_open(json, "sensors", '[');
  for (size_t i = 0; i < results->n_sensors; i++) {
    const bramah_consistency *c = &results->sensor[i];
    cli_json_open(json, NULL, '{');
    cli_json_text(json, "name", c->name);
    cli_json_text(json, "unit", c->unit);
    put_innovations(c, json);
    cli_json_number(json, "lag_1", c->lag_1);
    cli_json_count(json, "faults", c->fault.n);
    cli_json_flag(json, "faulty_at_end", c->fault.lasts);
    cli_json_close(json, '}');
  }
  cli_json_close(json, ']');
  cli_json_open(json, "all_sensors", '{');
  put_innovations(&results->all, json);
  cli_json_close(json, '}');

  const bramah_filter_report report = bramah_filter_get_report(bramah_session_filter(r->session));
  cli_json_open(json, "events", '{');
  cli_json_count(json, "fused", report.accepted);
  cli_json_count(json, "gated", report.gated);
  cli_json_count(json, "saturated", report.saturated);
  cli_json_count(json, "limited", report.limited);
  cli_json_count(json, "faults", report.sensor_faults);
  cli_json_count(json, "recoveries", report.recoveries);
  cli_json_close(json, '}');
}

/* Augmented states, what unknown commands cost, errors against the truth. */
static void put_estimates(const cli_replay_run *r, const bramah_assess_results *results, cli_json *json)
{
  cli_json_open(json, "estimated", '[');
  for (size_t i = 0; i < results->n_augmented; i++) {
    const bramah_augmented_estimate *a = &results->augmented[i];
    cli_json_open(json, NULL, '{');
    cli_json_text(json, "name", a->name);
    cli_json_text(json, "unit", a->unit);
    cli_json_number(json, "value", a->value);
    cli_json_number(json, "sigma", a->sigma);
    cli_json_close(json, '}');
  }
  cli_json_close(json, ']');

  if (bramah_study_n_unknown_inputs(bramah_session_study(r->session))) {
    cli_json_open(json, "unknown_commands", '[');
    for (size_t i = 0; i < results->n_input_costs; i++) {
      const bramah_input_cost *cost = &results->input_cost[i];
      cli_json_open(json, NULL, '{');
      cli_json_text(json, "output", cost->name);
      cli_json_text(json, "unit", cost->unit);
      cli_json_number(json, "sigma", cost->sigma);
      cli_json_number(json, "sigma_known", cost->sigma_known);
      cli_json_close(json, '}');
    }
    cli_json_close(json, ']');
  }

  if (!r->request.truth) return;
  cli_json_open(json, "errors", '[');
  for (size_t k = 0; k < results->n_accuracies; k++) {
    const bramah_accuracy *c = &results->accuracy[k];
    cli_json_open(json, NULL, '{');
    cli_json_text(json, "output", c->name);
    cli_json_text(json, "unit", c->unit);
    cli_json_number(json, "rmse", c->estimate.value);
    cli_json_number(json, "percent_of_max", c->estimate.percent);
    cli_json_number(json, "inside", c->estimate.inside);
    cli_json_number(json, "within_twice", c->judged ? (double)c->within / (double)c->judged : NAN);
    cli_json_number(json, "rmse_model_alone", c->model.value);
    cli_json_number(json, "rmse_sensor", c->measured.value);
    cli_json_close(json, '}');
  }
  cli_json_close(json, ']');
  cli_json_number(json, "nees_mean", results->totals.nees);
}

bramah_status cli_replay_json(cli_replay_run *r, int code, bramah_diag *diag)
{
  cli_json *json = &r->json;
  const bramah_assess_results *results = bramah_assess_get_results(r->assess);
  const bramah_verdict *verdict = &results->verdict;
  if (!json->file) return BRAMAH_OK;
  cli_json_open(json, NULL, '{');
  cli_json_text(json, "bramah", bramah_version());
  cli_json_text(json, "command", "replay");
  put_request(r, json);
  put_rows(r, &results->totals, json);
  put_sensors(r, results, json);
  put_estimates(r, results, json);

  cli_json_open(json, "checks", '[');
  for (size_t i = 0; i < verdict->n; i++) {
    const bramah_finding *check = &verdict->finding[i];
    cli_json_open(json, NULL, '{');
    cli_json_text(json, "check", check->what);
    cli_json_text(json, "at", *check->at ? check->at : NULL);
    cli_json_text(json, "unit", check->unit);
    cli_json_number(json, "value", check->value);
    cli_json_number(json, "least", check->least);
    cli_json_number(json, "most", check->most);
    cli_json_flag(json, "passed", check->passed);
    cli_json_close(json, '}');
  }
  cli_json_close(json, ']');
  cli_json_text(json, "verdict", verdict->consistent ? "consistent" : "not consistent");
  char text[1024];
  if (r->outcome) bramah_diag_format(&r->mistake, text, sizeof text);
  cli_json_text(json, "error", r->outcome ? text : NULL);
  cli_json_count(json, "exit_code", (uint64_t)code);
  cli_json_close(json, '}');
  return cli_json_finish(json, diag);
}
