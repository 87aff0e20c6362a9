/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a replay shows at its end: the summary, the tables, the report. */
#include "lib/cli/log_table.h"
#include "lib/cli/cli.h"
#include "lib/cli/replay.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef unsigned long long count;

/* ---- text ---- */

static void print_summary(const cli_replay_run *r, const bramah_assess_results *results, FILE *out)
{
  const bramah_study *study = bramah_session_study(r->session);
  const bramah_assess_totals *totals = &results->totals;
  const double duration = cli_seconds(totals->last_ns - totals->begin_ns);
  char protection[256];
  fprintf(out, "study: %s (%s)\n", study->name, study->file);
  fprintf(out, "machine: %s (%s), %zu change%s for the filter's model\n",
          bramah_session_about(r->session)->machine->machine->name, study->machine_file, study->n_changes,
          study->n_changes == 1 ? "" : "s");
  cli_protection(r->session, protection, sizeof protection);
  fprintf(out, "filter: %s\n", protection);
  for (size_t i = 0; i < r->request.n_logs; i++) fprintf(out, "log: %s\n", r->request.logs[i]);
  cli_tell_datagrams(r->receiver, out);

  const bramah_replay_report counts = results->rows;
  const bramah_log_stream_info log = bramah_log_stream_get_info(r->log);
  fprintf(out, "rows: %llu from the log, %llu estimates, %llu written; %.9g s in steps of %.9g s\n",
          (count)counts.samples, (count)totals->estimates, (count)r->written,
          cli_seconds(totals->last_ns - totals->first_ns),
          cli_seconds(bramah_session_plant(r->session)->step_ns));
  fprintf(out, "measurements used: %llu\n", (count)results->filter.accepted);
  const bramah_adaptive_report adaptation = results->adaptation;
  if (adaptation.windows)
    fprintf(out, "noise adapted by %llu of %llu windows%s\n", (count)(adaptation.windows - adaptation.biased),
            (count)adaptation.windows,
            adaptation.biased ? "; in the others innovations have a bias, which noise must not hide" : "");
  if (counts.off_grid)
    fprintf(out,
            "rows off the grid of steps: %llu, fused at the nearest step with their own time, at most %.3g s "
            "away\n",
            (count)counts.off_grid, cli_seconds(counts.max_shift_ns));
  if (log.skipped) fprintf(out, "rows before --from, not used: %llu\n", (count)log.skipped);
  if (r->request.resume)
    fprintf(out, "gone on from %s: %llu estimates before it, %llu after\n", r->request.resume,
            (count)totals->resumed, (count)(totals->estimates - totals->resumed));
  if (r->request.resume && log.used_before)
    fprintf(out, "rows of the log that were used before: %llu\n", (count)log.used_before);
  if (results->has_delays) {
    const bramah_rewind_report late = results->late;
    fprintf(
        out,
        "late samples: %llu; %llu rewinds, the deepest %.9g s, %llu steps made again; each row shows what "
        "was known\n  at its time\n",
        (count)late.late, (count)late.rewinds, cli_seconds(late.deepest_ns), (count)late.recomputed);
    if (late.before_start)
      fprintf(out, "samples measured before the first row, not used: %llu\n", (count)late.before_start);
    if (late.crowded) fprintf(out, "samples left out, too many in one step: %llu\n", (count)late.crowded);
  }
  if (counts.merged)
    fprintf(out,
            results->has_delays
                ? "rows that came after the estimate of their step, fused by the next: %llu\n"
                : "rows fused into a step already written: %llu (more of them in a step than are read "
                  "ahead)\n",
            (count)counts.merged);
  if (totals->without_truth)
    fprintf(out, "estimates without a row of the truth within half a step: %llu\n",
            (count)totals->without_truth);

  if (duration > 0.0) { /* two decimals would pretend too much: a machine's load moves them */
    const double alone = duration / totals->filter_seconds, all = duration / r->seconds;
    fprintf(out, "speed: filter alone %.*f × real time, with files and comparisons %.*f × real time\n",
            alone < 10.0, alone, all < 10.0, all);
  }
}

/* ---- tables ---- */

static cli_table consistency_table(const bramah_assess_results *results)
{
  static const char *const header[] = {"sensor", "samples", "mean NIS", "95 % band", "lag 1", "verdict"};
  static const char *const long_header[] = {"sensor",   "samples",   "gated %", "at range %",
                                            "mean NIS", "95 % band", "lag 1",   "verdict"};
  const int left_out = results->all.gated + results->all.saturated > 0;
  const size_t n = results->n_sensors;
  cli_table table =
      left_out ? cli_table_make("Innovations of what was fused (NIS per degree of freedom)", "lrrrrrrl",
                                long_header)
               : cli_table_make("Innovations (NIS per degree of freedom: 1 is expected)", "lrrrrl", header);
  for (size_t i = 0; i < (n > 1 ? n + 1 : n); i++) {
    const bramah_consistency *c = i < n ? &results->sensor[i] : &results->all;
    const double whole = c->samples ? (double)c->samples : 1.0;
    cli_table_add(&table, "%s\t%llu", c->name ? c->name : "all together", (count)c->fused);
    if (left_out) cli_table_add(&table, "%.3g", 100.0 * (double)c->gated / whole);
    if (left_out) cli_table_add(&table, "%.3g", 100.0 * (double)c->saturated / whole);
    if (isnan(c->low)) {
      for (int k = 0; k < 4; k++) cli_table_add(&table, "%s", k < 3 ? "" : "no sample");
      continue;
    }
    cli_table_add(&table, "%.4f\t%.4f to %.4f", c->nis, c->low, c->high);
    if (isnan(c->lag_1))
      cli_table_add(&table, "%s", "");
    else
      cli_table_add(&table, "%.2f", c->lag_1);
    /* What a correlation says (of white ones it is within 1.96 / sqrt(n) 95 % of the time; less than a tenth is
     * nothing to speak of): what is not modelled pushes innovations to the same side again and again; too much
     * process noise makes the filter follow the noise of the sensor and take it back. */
    const double limit = fmax(0.1, 1.96 / sqrt((double)c->fused));
    cli_table_add(&table, "%s%s",
                  c->nis > c->high                   ? "innovations larger than assumed"
                  : c->nis >= c->low                 ? "consistent"
                  : c->nis >= c->low - c->considered ? "consistent with what is uncertain"
                                                     : "innovations smaller than assumed",
                  c->lag_1 > limit    ? ", correlated: something is not modelled"
                  : c->lag_1 < -limit ? ", anticorrelated: less process noise would do"
                                      : "");
  }
  return table;
}

/* Times into a cell, dots where it is full. */
static void list_times(const bramah_event *event, int with_ends, char *cell)
{
  size_t used = 0;
  cell[0] = '\0';
  for (uint64_t i = 0; i < 2 * event->n; i++) {
    static const char more[] = ", …";
    const uint64_t k = i / 2;
    const int is_end = i % 2 != 0;
    char next[48] = "";
    if (is_end && (!with_ends || (event->lasts && k + 1 == event->n))) continue;
    if (k < BRAMAH_EVENT_TIMES)
      snprintf(next, sizeof next, "%s%.9g",
               is_end ? " to "
               : k    ? ", "
                      : "",
               is_end ? event->end[k] : event->begin[k]);
    const int fits = k < BRAMAH_EVENT_TIMES && used + strlen(next) + sizeof more < CLI_CELL;
    snprintf(cell + used, CLI_CELL - used, "%s", fits ? next : more);
    if (!fits) return;
    used += strlen(next);
  }
}

static void add_event(cli_table *table, const char *what, uint64_t n, const char *times)
{
  if (!n) return;
  cli_table_add(table, "%s\t%llu\t%s", what, (count)n, times);
}

/* The first alarm of sensor i, or of all jointly. */
static void add_alarm(cli_table *table, const bramah_assess_results *results, size_t i)
{
  const bramah_alarm_state *alarm = &results->alarm[i];
  char name[CLI_CELL], text[CLI_CELL];
  snprintf(name, sizeof name, "alarm%s%s", i < results->n_sensors ? " " : ", all sensors",
           i < results->n_sensors ? results->sensor[i].name : "");
  snprintf(text, sizeof text, "%.9g, %s from %.9g on", cli_seconds(alarm->raised_ns),
           bramah_alarm_kind_name(alarm->kind), cli_seconds(alarm->since_ns));
  add_event(table, name, alarm->times, text);
}

static cli_table events_table(const bramah_coupled *plant, const bramah_assess_results *results)
{
  static const char *const header[] = {"event", "times", "at [s]"};
  const bramah_filter_report report = results->filter;
  cli_table table = cli_table_make("Events", "lrl", header);
  char name[CLI_CELL], times[CLI_CELL], text[CLI_CELL];
  add_event(&table, "measurement rejected by its gate", report.gated, "");
  add_event(&table, "measurement at an end of the sensor's range, not used", report.saturated, "");
  add_event(&table, "estimate held at its limit", report.limited, "");
  for (size_t i = 0; i < results->n_sensors; i++) {
    const bramah_event *fault = &results->sensor[i].fault;
    list_times(fault, 1, times);
    snprintf(name, sizeof name, "sensor %s faulty", results->sensor[i].name);
    snprintf(text, sizeof text, "%.60s%s", times, fault->lasts ? " to the end" : "");
    add_event(&table, name, fault->n, text);
  }
  for (size_t i = 0; i <= results->n_sensors; i++) add_alarm(&table, results, i);
  list_times(&results->recoveries, 0, times);
  add_event(&table, "filter found wrong, its covariance reset", report.recoveries, times);
  for (int k = 0; plant && k < BRAMAH_N_LIMITS; k++) {
    const bramah_limit_event *event = &results->limit[k];
    bramah_output_info output;
    bramah_coupled_limit_info(plant, (bramah_limit_kind)k, &event->worst, &output);
    snprintf(name, sizeof name, "%.50s beyond its limit", output.name);
    snprintf(times, sizeof times, "first %.9g, worst %.9g", cli_seconds(event->first_ns),
             cli_seconds(event->worst_ns));
    add_event(&table, name, event->n, times);
  }
  const bramah_energy *energy = &results->energy;
  snprintf(times, sizeof times, "most at %.9g", cli_seconds(energy->leap_ns));
  add_event(&table, "energies that do not add up", energy->largest > energy->limit, times);

  /* What became of the plant's steps. */
  const bramah_step_report *steps = &results->steps;
  snprintf(times, sizeof times, "up to %u parts", (unsigned)steps->most_parts);
  add_event(&table, "step made in parts: its error exceeds the tolerance",
            steps->divided - steps->unconverged, times);
  add_event(&table, "step made in parts: it does not converge", steps->unconverged, times);
  add_event(&table, "step near a singular pose, in independent coordinates", steps->partitioned, "");
  return table;
}

/* A name and the unit that people read. Returns the factor to it. */
static double add_name(cli_table *table, const char *name, const char *si)
{
  const cli_readable unit = cli_readable_unit(si);
  cli_table_add(table, "%s\t%s", name, unit.unit);
  return unit.factor;
}

/* Phases of the study: how often each was on, and how long. */
static cli_table phases_table(const bramah_assess_results *results, double step)
{
  static const char *const heads[] = {"phase", "times", "s", "%"};
  cli_table table = cli_table_make("Phases", "lrrr", heads);
  for (size_t i = 0; i < results->n_phases; i++) {
    const bramah_filter_phase *phase = &results->phase[i];
    cli_table_add(&table, "%s\t%.0f\t%.6g\t%.1f", phase->name, (double)phase->begun,
                  step * (double)phase->steps,
                  100.0 * (double)phase->steps / fmax(1.0, (double)results->filter.predictions));
  }
  return table;
}

/* Augmented states, what unknown commands cost, noise that has adapted, errors against the truth, and those of the
 * smoothed estimates, if there are any. */
static void estimate_tables(const bramah_assess_results *results, cli_table out[5])
{
  static const char *const augmented[] = {"estimated", "", "unit", "from", "at the end", "sigma"};
  static const char *const costs[] = {"output", "unit", "unknown commands", "known", "factor"};
  static const char *const adapted[] = {"noise of", "times what is stated", "sigma of this", ""};
  static const char *const errors[] = {"output",       "unit",        "RMSE",      "% of max",
                                       "in ±1.96 σ %", "model alone", "raw sensor"};
  static const char *const smoothed[] = {"output",   "unit",     "filtered",
                                         "smoothed", "% of max", "in ±1.96 σ %"};
  out[0] = cli_table_make("Augmented states", "lllrrr", augmented);
  for (size_t i = 0; i < results->n_augmented; i++) {
    const bramah_augmented_estimate *a = &results->augmented[i];
    const cli_readable unit = cli_readable_unit(a->unit);
    cli_table_add(&out[0], "%s", a->name);
    static const char *const of[] = {"", "", "bias of ", "gain of ", "delay of "};
    cli_table_add(&out[0], "%s%s\t%s", of[a->kind], a->at, unit.unit);
    if (!a->is_estimated || a->estimated_from_ns == INT64_MIN)
      cli_table_add(&out[0], a->is_estimated ? "the start" : "considered");
    else
      cli_table_add(&out[0], "%.9g s", cli_seconds(a->estimated_from_ns));
    cli_table_add(&out[0], "%.6g\t%s", unit.factor * a->value, CLI_NUMBER(unit.factor * a->sigma));
  }

  out[1] = cli_table_make("What unknown commands cost (mean standard deviations; known: a second "
                          "filter, given the estimated commands)",
                          "llrrr", costs);
  for (size_t i = 0; i < results->n_input_costs; i++) {
    const bramah_input_cost *cost = &results->input_cost[i];
    const double factor = add_name(&out[1], cost->name, cost->unit);
    cli_table_add(&out[1], "%s\t%s\t%s", CLI_NUMBER(factor * cost->sigma),
                  CLI_NUMBER(factor * cost->sigma_known), CLI_NUMBER(cost->sigma / cost->sigma_known));
  }

  out[2] = cli_table_make("Adapted noise, at the end", "lrrl", adapted);
  for (size_t i = 0; i < results->n_adapted; i++) {
    const bramah_adapted *noise = &results->adapted[i];
    cli_table_add(&out[2], "%s\t%.3g\t%s\t%s", noise->name, noise->factor, CLI_NUMBER(noise->sigma),
                  noise->limited ? "at its limit" : "");
  }

  out[3] = cli_table_make("Errors against the truth (RMSE; % of the largest magnitude of the truth)",
                          "llrrrrr", errors);
  out[4] = cli_table_make("Smoothed: errors against the truth (RMSE; % and share are of the smoothed)",
                          "llrrrr", smoothed);
  for (size_t k = 0; k < results->n_accuracies; k++) {
    const bramah_accuracy *c = &results->accuracy[k];
    const double factor = add_name(&out[3], c->name, c->unit);
    cli_table_add(&out[3], "%s\t%.3f\t%.1f\t%s\t%s", CLI_NUMBER(factor * c->estimate.value),
                  c->estimate.percent, 100.0 * c->estimate.inside, CLI_NUMBER(factor * c->model.value),
                  CLI_NUMBER(factor * c->measured.value));
    if (!results->totals.smooth_steps) continue;
    add_name(&out[4], c->name, c->unit);
    cli_table_add(&out[4], "%s\t%s\t%.3f\t%.1f", CLI_NUMBER(factor * c->estimate.value),
                  CLI_NUMBER(factor * c->smoothed.value), c->smoothed.percent, 100.0 * c->smoothed.inside);
  }
}

/* ---- verdict ---- */

/* How far beyond its limits, by their distance; negative within. */
static double beyond(const bramah_finding *finding)
{
  const double least = fmax(finding->least, 0.0);
  const double scale = isinf(finding->most) ? least : fmax(finding->most - least, 1e-9);
  if (finding->noted) return 0.0;
  return fmax(finding->least - finding->value, finding->value - finding->most) / scale;
}

/* ---- diagnosis ---- */

bramah_status cli_replay_diagnose(cli_replay_run *r, bramah_diag *diag)
{
  const cli_replay_request *q = &r->request;
  const bramah_verdict *v = &bramah_assess_get_results(r->assess)->verdict;
  bramah_log_stream *log = NULL;
  if (!v->contradicted || q->resume || cli_stop_signal()) return BRAMAH_OK;
  for (size_t i = 0; i < q->n_logs; i++)
    if (!cli_is_regular(q->logs[i])) return BRAMAH_OK;
  bramah_status status = bramah_log_stream_open(r->session, q->n_logs, q->logs, diag, &log);
  if (!status) bramah_log_stream_limit(log, q->from_ns, q->to_ns);
  if (!status) status = bramah_diagnose(r->assess, bramah_log_stream_next, log, diag, &r->diagnosis);
  bramah_log_stream_close(log);
  return status;
}

static cli_table diagnosis_table(const bramah_diagnosis *d)
{
  static const char *const header[] = {"a single cause", "explains % of the excess", "cannot be told from"};
  cli_table table = cli_table_make("What would explain it", "lrl", header);
  char text[CLI_CELL];
  for (size_t i = 0; d && i < d->n; i++) {
    const bramah_explanation *e = &d->cause[i], *first = &d->cause[e->group];
    cli_explanation_text(e, text);
    cli_table_add(&table, "%s", text);
    if (d->excess > 0.0)
      cli_table_add(&table, "%.3g", 100.0 * e->share);
    else
      cli_table_add(&table, "-"); /* windows contradict, the sum of squares does not */
    cli_table_add(&table, "%s%s%s", e->group == i ? "" : first->name, e->group == i ? "" : " ",
                  e->group == i ? "" : first->what);
  }
  if (d && d->opens) {
    cli_table_add(&table, "%.40s within 4 sigma of where it opens\t-\tfor %.3g %% of that time", d->opens,
                  100.0 * d->opens_share);
  }
  return table;
}

static void print_diagnosis(const bramah_diagnosis *d, FILE *out)
{
  char text[CLI_CELL];
  if (!d) return;
  if (d->is_part)
    fprintf(out, "  looked at %.3g s around t = %.6g s\n", d->to - d->from, 0.5 * (d->from + d->to));
  if (d->opens)
    fprintf(out, "  %s: for %.3g %% of the time that first contradicts within 4 sigma of where it opens\n",
            d->opens, 100.0 * d->opens_share);
  if (!d->n) {
    fprintf(out, "  no single cause that is known of would explain it\n");
    return;
  }
  cli_explanation_text(&d->cause[0], text);
  if (d->excess > 0.0)
    fprintf(out, "  from %.6g to %.6g s: %s explains %.3g %% of the excess\n", d->begin, d->end, text,
            100.0 * d->cause[0].share);
  else
    fprintf(out, "  from %.6g to %.6g s: squares show no excess that a cause could explain; most likely %s\n",
            d->begin, d->end, text);
}

/* What was found, in words; then what else failed, and what is worth knowing. */
static void print_verdict(const bramah_verdict *v, const bramah_plausibility *p, FILE *out)
{
  char text[1200];
  bramah_verdict_text(v, text, sizeof text);
  size_t others = 0;
  for (size_t i = 0; p && i < p->n; i++) others += &p->doubt[i] != v->doubt;
  fprintf(out, "\n%sverdict: %s%s%s\n", cli_colour_of(out, v->contradicted ? CLI_RED : CLI_BOLD), text,
          others && !v->contradicted ? "; but see below" : "", cli_colour_of(out, CLI_PLAIN));
  for (size_t i = 0; p && i < p->n; i++) {
    char doubt[1024];
    if (&p->doubt[i] == v->doubt) continue;
    bramah_diag_format(&p->doubt[i].diag, doubt, sizeof doubt);
    fprintf(out, "  doubtful: %s\n", doubt);
  }
  for (size_t i = 0; i < v->n; i++)
    if (!v->finding[i].passed && &v->finding[i] != v->worst) {
      bramah_finding_text(&v->finding[i], text, sizeof text);
      fprintf(out, "  %s\n", text);
    }
  const bramah_finding *most = NULL;
  size_t noted = 0;
  for (size_t i = 0; i < v->n; i++) {
    const bramah_finding *f = &v->finding[i];
    if (!f->noted || f->kind < BRAMAH_CHECK_SMALL) continue;
    if (!most || f->value > most->value) most = f;
    noted++;
  }
  if (!most) return;
  bramah_finding_text(most, text, sizeof text);
  fprintf(out, "  worth knowing, noise is overestimated%s: %s\n", noted > 1 ? ", most of all" : "", text);
}

/* What no test can see, of outputs that it would move out of their bands. */
static cli_table hidden_table(const bramah_assess_results *results)
{
  static const char *const header[] = {"output",          "unit", "wrong by up to", "sigma", "if",
                                       "is off by up to", "unit", "from s",         "to s"};
  cli_table table = cli_table_make("What offsets of sensors could hide", "llrrlrlrr", header);
  for (size_t i = 0; i < results->n_hidden; i++) {
    const bramah_hidden *h = &results->hidden[i];
    const cli_readable of = cli_readable_unit(h->sensor_unit);
    const double factor = add_name(&table, h->name, h->unit);
    cli_table_add(&table, "%.3g\t%.1f\t%s\t%.3g\t%s\t%s\t%s", factor * h->effect, h->sigmas, h->sensor,
                  of.factor * h->offset, of.unit, CLI_NUMBER(h->begin), CLI_NUMBER(h->end));
  }
  return table;
}

/* Of each kind of check the one that is nearest to its limit, or furthest beyond. */
static cli_table verdict_table(const bramah_verdict *verdict)
{
  static const char *const header[] = {"check", "value", "unit", "tolerated", "result", "worst of"};
  cli_table table = cli_table_make("Checks", "lrlrll", header);
  unsigned shown = 0; /* kinds */
  char text[64];
  for (size_t first = 0; first < verdict->n; first++) {
    const bramah_finding *worst = &verdict->finding[first];
    size_t n = 0, failed = 0;
    if (shown & 1u << worst->kind) continue;
    shown |= 1u << worst->kind;
    for (size_t i = first; i < verdict->n; i++) {
      const bramah_finding *finding = &verdict->finding[i];
      if (finding->kind != worst->kind) continue;
      if (beyond(finding) > beyond(worst)) worst = finding;
      n++;
      failed += !finding->passed;
    }
    cli_table_add(&table, "%s\t%s\t%s", worst->what, CLI_NUMBER(worst->value), worst->unit);
    bramah_finding_tolerated(worst, text, sizeof text);
    cli_table_add(&table, "%s", text);
    if (failed)
      cli_table_add(&table, "FAIL %zu of %zu", failed, n);
    else
      cli_table_add(&table, "%s", worst->noted ? "noted" : "pass");
    if (isnan(worst->amount))
      cli_table_add(&table, "%s", n > 1 ? worst->at : "");
    else
      cli_table_add(&table, "%s, %.6g to %.6g s", *worst->at ? worst->at : "all sensors", worst->begin,
                    worst->end);
  }
  return table;
}

/* ---- the whole ---- */

bramah_status cli_replay_conclude(cli_replay_run *r, bramah_diag *diag)
{
  const cli_replay_request *q = &r->request;
  const char *const outputs[] = {q->output, q->report, q->smooth, q->json, q->plot_data};
  const bramah_assess_results *results = bramah_assess_get_results(r->assess);
  const bramah_assess_totals *totals = &results->totals;
  FILE *out = cli_summary_stream(5, outputs);
  bramah_status status = BRAMAH_OK;
  print_summary(r, results, out);
  cli_table tables[14] = {cli_log_table(r->log, bramah_session_plant(r->session)), consistency_table(results),
                          events_table(bramah_session_about(r->session)->machine->coupled, results)};
  estimate_tables(results, &tables[3]);
  tables[8] = verdict_table(&results->verdict);
  tables[9] = diagnosis_table(r->diagnosis);
  tables[10] = cli_hypotheses_table(r);
  tables[11] = hidden_table(results);
  tables[13] = cli_scenario_table(r->display);
  tables[12] = phases_table(results, 1e-9 * (double)bramah_session_plant(r->session)->step_ns);
  size_t n = 0;
  for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
    if (tables[i].n_cells) cli_table_print(&tables[i], out);
    if (tables[i].n_cells) tables[n++] = tables[i];
  }

  cli_hypotheses_print(r, out);
  print_verdict(&results->verdict, r->plausibility, out);
  print_diagnosis(r->diagnosis, out);

  if (q->plots) status = cli_replay_report_write(r, n, tables, diag);
  for (size_t i = 0; i < n; i++) cli_table_free(&tables[i]);
  fprintf(out, "\nestimates: %s\n", q->output);
  if (q->how) cli_print_how(bramah_session_about(r->session)->machine, &results->steps, out);
  if (totals->smooth_steps)
    fprintf(out, "smoothed: %s, %zu steps kept in %.3g MB\n", q->smooth, totals->smooth_steps,
            1e-6 * (double)totals->smooth_bytes);
  if (q->report && !status) fprintf(out, "report: %s\n", q->report);
  if (q->plot && !status) fprintf(out, "plots: %s\n", q->plot);
  if (q->plot_data && !status) fprintf(out, "plotted numbers: %s\n", q->plot_data);
  if (q->snapshot && r->saved == totals->estimates) fprintf(out, "snapshot: %s\n", q->snapshot);
  if (q->json && out == stdout) fprintf(out, "json: %s\n", q->json);
  if (r->shown_path) fprintf(out, "what was shown: %s\n", r->shown_path);
  cli_scenario_print(r->display, &results->verdict, out);
  return status;
}
