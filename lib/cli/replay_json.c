/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The summary of a replay for programs. Keys are explained in datasets/README.md and stay as they are; new
 * ones may come. Values are in SI units, times in seconds of the log. */
#include "lib/cli/cli.h"
#include "lib/cli/log_table.h"
#include "lib/cli/replay.h"

#include <math.h>

static const cli_json_field files[] = {{"output", CLI_JSON_TEXT, offsetof(cli_replay_request, output)},
                                       {"truth", CLI_JSON_TEXT, offsetof(cli_replay_request, truth)},
                                       {"report", CLI_JSON_TEXT, offsetof(cli_replay_request, report)},
                                       {"smooth", CLI_JSON_TEXT, offsetof(cli_replay_request, smooth)},
                                       {"snapshot", CLI_JSON_TEXT, offsetof(cli_replay_request, snapshot)},
                                       {"resume", CLI_JSON_TEXT, offsetof(cli_replay_request, resume)},
                                       {0}};

static const cli_json_field window[] = {{"from", CLI_JSON_TIME, offsetof(cli_replay_request, from_ns)},
                                        {"to", CLI_JSON_TIME, offsetof(cli_replay_request, to_ns)},
                                        {"every", CLI_JSON_COUNT, offsetof(cli_replay_request, every)},
                                        {0}};

static const cli_json_field rows[] = {
    {"off_grid", CLI_JSON_COUNT, offsetof(bramah_assess_results, rows.off_grid)},
    {"largest_shift", CLI_JSON_TIME, offsetof(bramah_assess_results, rows.max_shift_ns)},
    {"merged", CLI_JSON_COUNT, offsetof(bramah_assess_results, rows.merged)},
    {"late", CLI_JSON_COUNT, offsetof(bramah_assess_results, late.late)},
    {"before_start", CLI_JSON_COUNT, offsetof(bramah_assess_results, late.before_start)},
    {"rewinds", CLI_JSON_COUNT, offsetof(bramah_assess_results, late.rewinds)},
    {"steps_again", CLI_JSON_COUNT, offsetof(bramah_assess_results, late.recomputed)},
    {"without_truth", CLI_JSON_COUNT, offsetof(bramah_assess_results, totals.without_truth)},
    {0}};

#define INNOVATIONS                                                                                          \
  {"samples", CLI_JSON_COUNT, offsetof(bramah_consistency, samples)},                                        \
      {"fused", CLI_JSON_COUNT, offsetof(bramah_consistency, fused)},                                        \
      {"gated", CLI_JSON_COUNT, offsetof(bramah_consistency, gated)},                                        \
      {"saturated", CLI_JSON_COUNT, offsetof(bramah_consistency, saturated)},                                \
      {"nis_mean", CLI_JSON_NUMBER, offsetof(bramah_consistency, nis)},                                      \
      {"nis_expected", CLI_JSON_NUMBER, offsetof(bramah_consistency, expected)},                             \
      {"nis_band_low", CLI_JSON_NUMBER, offsetof(bramah_consistency, low)},                                  \
  {                                                                                                          \
    "nis_band_high", CLI_JSON_NUMBER, offsetof(bramah_consistency, high)                                     \
  }

static const cli_json_field all_sensors[] = {INNOVATIONS, {0}};
static const cli_json_field sensors[] = {
    {"name", CLI_JSON_TEXT, offsetof(bramah_consistency, name)},
    {"unit", CLI_JSON_TEXT, offsetof(bramah_consistency, unit)},
    INNOVATIONS,
    {"lag_1", CLI_JSON_NUMBER, offsetof(bramah_consistency, lag_1)},
    {"faults", CLI_JSON_COUNT, offsetof(bramah_consistency, fault.n)},
    {"faulty_at_end", CLI_JSON_FLAG, offsetof(bramah_consistency, fault.lasts)},
    {0}};

static const cli_json_field alarm[] = {{"times", CLI_JSON_COUNT, offsetof(bramah_alarm_state, times)},
                                       {"raised", CLI_JSON_TIME, offsetof(bramah_alarm_state, raised_ns)},
                                       {"since", CLI_JSON_TIME, offsetof(bramah_alarm_state, since_ns)},
                                       {"size", CLI_JSON_NUMBER, offsetof(bramah_alarm_state, size)},
                                       {"limit", CLI_JSON_NUMBER, offsetof(bramah_alarm_state, limit)},
                                       {"amount", CLI_JSON_NUMBER, offsetof(bramah_alarm_state, amount)},
                                       {0}};

static const cli_json_field events[] = {
    {"fused", CLI_JSON_COUNT, offsetof(bramah_filter_report, accepted)},
    {"gated", CLI_JSON_COUNT, offsetof(bramah_filter_report, gated)},
    {"saturated", CLI_JSON_COUNT, offsetof(bramah_filter_report, saturated)},
    {"limited", CLI_JSON_COUNT, offsetof(bramah_filter_report, limited)},
    {"faults", CLI_JSON_COUNT, offsetof(bramah_filter_report, sensor_faults)},
    {"recoveries", CLI_JSON_COUNT, offsetof(bramah_filter_report, recoveries)},
    {0}};

static const cli_json_field energy[] = {{"error", CLI_JSON_NUMBER, offsetof(bramah_energy, largest)},
                                        {"turnover", CLI_JSON_NUMBER, offsetof(bramah_energy, turnover)},
                                        {"limit", CLI_JSON_NUMBER, offsetof(bramah_energy, limit)},
                                        {"leap", CLI_JSON_NUMBER, offsetof(bramah_energy, leap)},
                                        {"leap_at", CLI_JSON_TIME, offsetof(bramah_energy, leap_ns)},
                                        {0}};

static const cli_json_field steps[] = {
    {"made", CLI_JSON_COUNT, offsetof(bramah_step_report, steps)},
    {"in_parts", CLI_JSON_COUNT, offsetof(bramah_step_report, divided)},
    {"unconverged", CLI_JSON_COUNT, offsetof(bramah_step_report, unconverged)},
    {"coarse", CLI_JSON_COUNT, offsetof(bramah_step_report, coarse)},
    {"partitioned", CLI_JSON_COUNT, offsetof(bramah_step_report, partitioned)},
    {"by_tape", CLI_JSON_COUNT, offsetof(bramah_step_report, compiled)},
    {"left_basis", CLI_JSON_COUNT, offsetof(bramah_step_report, left_basis)},
    {"left_pivot", CLI_JSON_COUNT, offsetof(bramah_step_report, left_pivot)},
    {"left_divergence", CLI_JSON_COUNT, offsetof(bramah_step_report, left_divergence)},
    {0}};

static const cli_json_field native[] = {
    {"is_off", CLI_JSON_FLAG, offsetof(bramah_native_report, is_off)},
    {"cached", CLI_JSON_COUNT, offsetof(bramah_native_report, n_cached)},
    {"compiled", CLI_JSON_COUNT, offsetof(bramah_native_report, n_compiled)},
    {"seconds", CLI_JSON_NUMBER, offsetof(bramah_native_report, seconds)},
    {"failed", CLI_JSON_COUNT, offsetof(bramah_native_report, n_failed)},
    {"why", CLI_JSON_TEXT, offsetof(bramah_native_report, why)},
    {0}};

static const cli_json_field limits[] = {{"times", CLI_JSON_COUNT, offsetof(bramah_limit_event, n)},
                                        {"first", CLI_JSON_TIME, offsetof(bramah_limit_event, first_ns)},
                                        {"worst_at", CLI_JSON_TIME, offsetof(bramah_limit_event, worst_ns)},
                                        {"worst", CLI_JSON_NUMBER, offsetof(bramah_limit_event, worst.value)},
                                        {0}};

static const cli_json_field estimated[] = {
    {"name", CLI_JSON_TEXT, offsetof(bramah_augmented_estimate, name)},
    {"unit", CLI_JSON_TEXT, offsetof(bramah_augmented_estimate, unit)},
    {"value", CLI_JSON_NUMBER, offsetof(bramah_augmented_estimate, value)},
    {"sigma", CLI_JSON_NUMBER, offsetof(bramah_augmented_estimate, sigma)},
    {"is_estimated", CLI_JSON_FLAG, offsetof(bramah_augmented_estimate, is_estimated)},
    {"estimated_from", CLI_JSON_TIME, offsetof(bramah_augmented_estimate, estimated_from_ns)},
    {0}};

static const cli_json_field phases[] = {{"name", CLI_JSON_TEXT, offsetof(bramah_filter_phase, name)},
                                        {"times", CLI_JSON_COUNT, offsetof(bramah_filter_phase, begun)},
                                        {"steps", CLI_JSON_COUNT, offsetof(bramah_filter_phase, steps)},
                                        {0}};

static const cli_json_field costs[] = {
    {"output", CLI_JSON_TEXT, offsetof(bramah_input_cost, name)},
    {"unit", CLI_JSON_TEXT, offsetof(bramah_input_cost, unit)},
    {"sigma", CLI_JSON_NUMBER, offsetof(bramah_input_cost, sigma)},
    {"sigma_known", CLI_JSON_NUMBER, offsetof(bramah_input_cost, sigma_known)},
    {0}};

static const cli_json_field errors[] = {
    {"output", CLI_JSON_TEXT, offsetof(bramah_accuracy, name)},
    {"unit", CLI_JSON_TEXT, offsetof(bramah_accuracy, unit)},
    {"rmse", CLI_JSON_NUMBER, offsetof(bramah_accuracy, estimate.value)},
    {"percent_of_max", CLI_JSON_NUMBER, offsetof(bramah_accuracy, estimate.percent)},
    {"inside", CLI_JSON_NUMBER, offsetof(bramah_accuracy, estimate.inside)},
    {"within_twice", CLI_JSON_NUMBER, offsetof(bramah_accuracy, within_twice)},
    {"rmse_model_alone", CLI_JSON_NUMBER, offsetof(bramah_accuracy, model.value)},
    {"rmse_sensor", CLI_JSON_NUMBER, offsetof(bramah_accuracy, measured.value)},
    {0}};

static const cli_json_field hidden[] = {{"output", CLI_JSON_TEXT, offsetof(bramah_hidden, name)},
                                        {"unit", CLI_JSON_TEXT, offsetof(bramah_hidden, unit)},
                                        {"effect", CLI_JSON_NUMBER, offsetof(bramah_hidden, effect)},
                                        {"sigmas", CLI_JSON_NUMBER, offsetof(bramah_hidden, sigmas)},
                                        {"sensor", CLI_JSON_TEXT, offsetof(bramah_hidden, sensor)},
                                        {"sensor_unit", CLI_JSON_TEXT, offsetof(bramah_hidden, sensor_unit)},
                                        {"offset", CLI_JSON_NUMBER, offsetof(bramah_hidden, offset)},
                                        {"begin", CLI_JSON_NUMBER, offsetof(bramah_hidden, begin)},
                                        {"end", CLI_JSON_NUMBER, offsetof(bramah_hidden, end)},
                                        {"share", CLI_JSON_NUMBER, offsetof(bramah_hidden, share)},
                                        {0}};

static const cli_json_field checks[] = {{"check", CLI_JSON_TEXT, offsetof(bramah_finding, what)},
                                        {"at", CLI_JSON_NAME, offsetof(bramah_finding, at)},
                                        {"unit", CLI_JSON_TEXT, offsetof(bramah_finding, unit)},
                                        {"value", CLI_JSON_NUMBER, offsetof(bramah_finding, value)},
                                        {"least", CLI_JSON_NUMBER, offsetof(bramah_finding, least)},
                                        {"most", CLI_JSON_NUMBER, offsetof(bramah_finding, most)},
                                        {"passed", CLI_JSON_FLAG, offsetof(bramah_finding, passed)},
                                        {"noted", CLI_JSON_FLAG, offsetof(bramah_finding, noted)},
                                        {"amount", CLI_JSON_NUMBER, offsetof(bramah_finding, amount)},
                                        {"begin", CLI_JSON_NUMBER, offsetof(bramah_finding, begin)},
                                        {"end", CLI_JSON_NUMBER, offsetof(bramah_finding, end)},
                                        {0}};

static const cli_json_field explanations[] = {
    {"cause", CLI_JSON_TEXT, offsetof(bramah_explanation, what)},
    {"at", CLI_JSON_TEXT, offsetof(bramah_explanation, name)},
    {"unit", CLI_JSON_TEXT, offsetof(bramah_explanation, unit)},
    {"change", CLI_JSON_NUMBER, offsetof(bramah_explanation, change)},
    {"sigma", CLI_JSON_NUMBER, offsetof(bramah_explanation, sigma)},
    {"nominal", CLI_JSON_NUMBER, offsetof(bramah_explanation, nominal)},
    {"share", CLI_JSON_NUMBER, offsetof(bramah_explanation, share)},
    {"group", CLI_JSON_COUNT, offsetof(bramah_explanation, group)},
    {0}};

/* What was asked for. */
static void put_request(const cli_replay_run *r, cli_json *json)
{
  const cli_replay_request *q = &r->request;
  const bramah_study *study = bramah_session_study(r->session);
  cli_json_open(json, "study", '{');
  cli_json_text(json, "name", study->name);
  cli_json_text(json, "file", q->study);
  cli_json_text(json, "machine", bramah_session_about(r->session)->machine->machine->name);
  cli_json_text(json, "machine_file", study->machine_file);
  cli_json_count(json, "changes", study->n_changes);
  cli_json_close(json, '}');
  cli_json_open(json, "files", '{');
  cli_json_open(json, "logs", '[');
  for (size_t i = 0; i < q->n_logs; i++) cli_json_text(json, NULL, q->logs[i]);
  cli_json_close(json, ']');
  cli_json_fields(json, q, files);
  cli_json_close(json, '}');
  cli_json_open(json, "options", '{');
  cli_json_fields(json, q, window);
  cli_json_number(json, "snapshot_every", q->snapshot_every_ns ? cli_seconds(q->snapshot_every_ns) : NAN);
  cli_json_close(json, '}');
}

/* What was read and written, and how long it took. */
static void put_run(const cli_replay_run *r, cli_json *json)
{
  const bramah_assess_results *results = bramah_assess_get_results(r->assess);
  const bramah_assess_totals *totals = &results->totals;
  const bramah_log_stream_info log = bramah_log_stream_get_info(r->log);
  cli_json_open(json, "rows", '{');
  cli_json_count(json, "log", results->rows.samples);
  cli_json_count(json, "before_from", log.skipped);
  cli_json_count(json, "used_before_resume", log.used_before);
  cli_json_count(json, "estimates", totals->estimates);
  cli_json_count(json, "written", r->written);
  cli_json_fields(json, results, rows);
  cli_json_close(json, '}');
  cli_log_json(r->log, json);
  const double seconds = totals->filter_seconds;
  cli_json_open(json, "time", '{');
  cli_json_number(json, "first", totals->estimates ? cli_seconds(totals->first_ns) : NAN);
  cli_json_number(json, "last", totals->estimates ? cli_seconds(totals->last_ns) : NAN);
  cli_json_number(json, "step", cli_seconds(bramah_session_plant(r->session)->step_ns));
  cli_json_close(json, '}');
  cli_json_open(json, "speed", '{');
  cli_json_number(json, "filter_seconds", seconds);
  cli_json_number(json, "seconds", r->seconds);
  cli_json_number(json, "times_real_time",
                  seconds > 0.0 ? cli_seconds(totals->last_ns - totals->begin_ns) / seconds : NAN);
  cli_json_close(json, '}');
}

static void put_doubt(const bramah_doubt *doubt, cli_json *json)
{
  char text[1024];
  bramah_diag_format(&doubt->diag, text, sizeof text);
  cli_json_open(json, NULL, '{');
  cli_json_text(json, "text", text);
  cli_json_flag(json, "certain", doubt->certain);
  cli_json_number(json, "value", doubt->value);
  cli_json_close(json, '}');
}

/* Those of the look at study and log (NULL: it was not made), and that of the process noise. */
static void put_doubts(const bramah_plausibility *p, const bramah_verdict *v, cli_json *json)
{
  cli_json_open(json, "doubts", '[');
  for (size_t i = 0; p && i < p->n; i++) put_doubt(&p->doubt[i], json);
  if (v->doubt && v->doubt->kind == BRAMAH_DOUBT_PROCESS_NOISE) put_doubt(v->doubt, json);
  cli_json_close(json, ']');
}

static void put_findings(const cli_replay_run *r, cli_json *json)
{
  const bramah_assess_results *results = bramah_assess_get_results(r->assess);
#define LIST(name, n, items, fields) cli_json_list(json, name, n, items, sizeof *(items), fields)
  LIST("sensors", results->n_sensors, results->sensor, sensors);
  cli_json_object(json, "all_sensors", &results->all, all_sensors);
  cli_json_object(json, "events", &results->filter, events);
  cli_json_open(json, "alarms", '[');
  for (size_t i = 0; i <= results->n_sensors; i++) {
    if (!results->alarm[i].times) continue;
    cli_json_open(json, NULL, '{');
    cli_json_text(json, "sensor", i < results->n_sensors ? results->sensor[i].name : NULL);
    cli_json_text(json, "kind", bramah_alarm_kind_name(results->alarm[i].kind));
    cli_json_fields(json, &results->alarm[i], alarm);
    cli_json_close(json, '}');
  }
  cli_json_close(json, ']');
  for (int k = 0; k < BRAMAH_N_LIMITS; k++) {
    static const char *const names[] = {[BRAMAH_LIMIT_PRESSURE] = "pressure_limit",
                                        [BRAMAH_LIMIT_STROKE] = "stroke_limit",
                                        [BRAMAH_LIMIT_LOOP] = "loop_limit",
                                        [BRAMAH_LIMIT_POSE] = "pose_limit",
                                        [BRAMAH_LIMIT_STEP] = "step_limit"};
    cli_json_object(json, names[k], &results->limit[k], limits);
  }
  cli_json_object(json, "energy", &results->energy, energy);
  cli_json_object(json, "plant_steps", &results->steps, steps);
  const bramah_native_report code = bramah_machine_plant_native(bramah_session_about(r->session)->machine);
  cli_json_object(json, "native_code", &code, native);
  if (results->adaptation.windows) {
    cli_json_open(json, "adaptation", '{');
    cli_json_count(json, "windows", results->adaptation.windows);
    cli_json_count(json, "windows_with_bias", results->adaptation.biased);
    cli_json_close(json, '}');
  }
  LIST("estimated", results->n_augmented, results->augmented, estimated);
  if (results->n_phases) LIST("phases", results->n_phases, results->phase, phases);
  if (bramah_session_study(r->session)->n_unknown_inputs)
    LIST("unknown_commands", results->n_input_costs, results->input_cost, costs);
  if (r->request.truth) LIST("errors", results->n_accuracies, results->accuracy, errors);
  if (r->request.truth) cli_json_number(json, "nees_mean", results->totals.nees);
  cli_hypotheses_json(r, json);
  cli_scenario_json(r->display, json);
  LIST("hidden", results->n_hidden, results->hidden, hidden);
  LIST("checks", results->verdict.n, results->verdict.finding, checks);
  put_doubts(r->plausibility, &results->verdict, json);
  if (r->diagnosis) LIST("diagnosis", r->diagnosis->n, r->diagnosis->cause, explanations);
  if (r->diagnosis && r->diagnosis->opens) cli_json_text(json, "opens", r->diagnosis->opens);
#undef LIST
}

bramah_status cli_replay_json(cli_replay_run *r, int code, bramah_diag *diag)
{
  cli_json *json = &r->json;
  const bramah_assess_results *results = bramah_assess_get_results(r->assess);
  if (!json->file) return BRAMAH_OK;
  cli_json_begin(json, "replay");
  put_request(r, json);
  put_run(r, json);
  put_findings(r, json);
  cli_json_count(json, "tests", results->verdict.tests);
  cli_json_text(json, "verdict", cli_verdict(&results->verdict));
  char text[1024];
  if (r->outcome) bramah_diag_format(&r->mistake, text, sizeof text);
  cli_json_text(json, "error", r->outcome ? text : NULL);
  return cli_json_end(json, code, diag);
}
