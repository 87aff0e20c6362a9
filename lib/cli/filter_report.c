/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/cli/filter_report.h"
#include "bramah/assess.h"
#include "lib/cli/table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* The eigenvalues of the covariance take longer than many a step. */
enum { CONDITIONING_EVERY = 10, NIS_MEMORY = 100, LIMIT_TOLD_AFTER = 100 };

/* ---- plots ---- */

static const char consistency[] = "Normalised innovations squared";
static const char covariance[] = "Conditioning of the covariance";
static const char timing[] = "Time per step";

static bramah_status add_plots(cli_filter_report *f)
{
  const bramah_report_plot nis = {
      .section = consistency,
      .title = "NIS per degree of freedom",
      .unit = "1",
      .factor = 1.0,
      .band = "95 % of χ²",
      .names = {[BRAMAH_REPORT_ESTIMATE] = "NIS", [BRAMAH_REPORT_TRUTH] = "running mean of 100"}};
  const bramah_report_plot conditioning = {.section = covariance,
                                           .title = "condition number of the correlations, log₁₀",
                                           .unit = "1",
                                           .factor = 1.0,
                                           .names = {[BRAMAH_REPORT_ESTIMATE] = "log₁₀ condition number"}};
  const bramah_report_plot step = {.section = timing,
                                   .title = "time of the filter per step",
                                   .unit = "µs",
                                   .factor = 1e6,
                                   .names = {[BRAMAH_REPORT_ESTIMATE] = "step"}};
  bramah_status status = bramah_report_add(f->report, &nis, &f->nis);
  if (!status) status = bramah_report_add(f->report, &conditioning, &f->conditioning);
  return status ? status : bramah_report_add(f->report, &step, &f->timing);
}

static bramah_status explain(bramah_report *report)
{
  bramah_status status = bramah_report_explain(
      report, consistency,
      "All innovations of a step against what the filter believes of them. The mean is 1 in a "
      "filter that may be believed; above: it trusts itself too much.");
  if (!status)
    status = bramah_report_explain(
        report, covariance,
        "Largest by smallest eigenvalue of the matrix of correlations of the error state, every "
        "tenth step. Near 15 the covariance is about to lose its positive definiteness.");
  if (!status)
    status = bramah_report_explain(report, timing,
                                   "Clock time of prediction and correction, without reading and writing.");
  return status;
}

static bramah_status add_machine(cli_filter_report *f)
{
  const bramah_model *model = bramah_session_model(f->session);
  const size_t n = bramah_skeleton_n_parts(model);
  if (!n) return BRAMAH_OK;
  bramah_skeleton_part *parts = calloc(n, sizeof *parts);
  f->points = calloc(6 * n, sizeof *f->points);
  bramah_status status = parts && f->points ? BRAMAH_OK : BRAMAH_E_MEMORY;
  for (size_t i = 0; !status && i < n; i++) parts[i] = bramah_skeleton_part_of(model, i);
  if (!status) status = bramah_report_machine(f->report, n, parts);
  free(parts);
  return status;
}

bramah_status cli_filter_report_init(cli_filter_report *filter, bramah_report *report,
                                     const bramah_session *session, bramah_diag *diag)
{
  const size_t n = bramah_filter_n_error(bramah_session_filter(session));
  *filter = (cli_filter_report){.report = report, .session = session};
  filter->work = calloc(n * n + 1, sizeof *filter->work);
  filter->away = calloc(bramah_session_n_sensors(session) + 1, 1);
  bramah_status status = filter->work && filter->away ? BRAMAH_OK : BRAMAH_E_MEMORY;
  if (!status) status = add_plots(filter);
  if (!status) status = explain(report);
  if (!status) status = add_machine(filter);
  return status ? cli_fail(diag, status, NULL, 0, NULL, "the plots of the filter cannot be made") : BRAMAH_OK;
}

void cli_filter_report_free(cli_filter_report *filter)
{
  free(filter->work);
  free(filter->points);
  free(filter->away);
}

/* ---- NIS ---- */

static void find_band(cli_filter_report *f, size_t dof, double *low, double *high)
{
  bramah_diag ignored;
  const int kept = dof < CLI_NIS_BANDS;
  *low = *high = NAN;
  if (kept && f->high[dof] > 0.0) {
    *low = f->low[dof];
    *high = f->high[dof];
    return;
  }
  if (bramah_nis_band((double)dof, 0.95, low, high, &ignored)) *low = *high = NAN;
  if (kept) f->low[dof] = *low, f->high[dof] = *high;
}

static bramah_status add_nis(cli_filter_report *f, double t, const bramah_replay *replay)
{
  size_t dof;
  double low, high;
  const double nis = bramah_replay_nis(replay, &dof);
  if (!dof) return BRAMAH_OK;
  const double value = nis / (double)dof;
  if (f->nis_n < NIS_MEMORY) f->nis_n++;
  f->nis_mean += (value - f->nis_mean) / (double)f->nis_n;
  find_band(f, dof, &low, &high);
  const bramah_status status =
      bramah_report_band_point(f->report, f->nis, BRAMAH_REPORT_ESTIMATE, t, value, low, high);
  return status ? status : bramah_report_point(f->report, f->nis, BRAMAH_REPORT_TRUTH, t, f->nis_mean, NAN);
}

/* ---- covariance ---- */

static bramah_status add_conditioning(cli_filter_report *f, double t)
{
  bramah_diag diag;
  double condition;
  const bramah_filter *filter = bramah_session_filter(f->session);
  const bramah_status status = bramah_conditioning(
      bramah_filter_n_error(filter), bramah_filter_covariance(filter), f->work, &condition, &diag);
  if (!status)
    return bramah_report_point(f->report, f->conditioning, BRAMAH_REPORT_ESTIMATE, t, log10(condition), NAN);
  if (f->told_covariance) return BRAMAH_OK;
  f->told_covariance = 1;
  return bramah_report_event(f->report, t, "covariance", diag.message);
}

/* ---- events ---- */

static bramah_status watch_sensor(cli_filter_report *f, double t, size_t i)
{
  char text[200];
  const bramah_filter *filter = bramah_session_filter(f->session);
  const int away = bramah_filter_lost(filter, i);
  if (away == f->away[i]) return BRAMAH_OK;
  f->away[i] = (unsigned char)away;
  snprintf(text, sizeof text, "%s: %s", bramah_filter_sensor(filter, i)->name, away ? "lost" : "found again");
  return bramah_report_event(f->report, t, away ? "lost" : "found", text);
}

static bramah_status watch(cli_filter_report *f, double t)
{
  const bramah_filter_report counts = bramah_filter_get_report(bramah_session_filter(f->session));
  const bramah_step_report steps = bramah_coupled_report(bramah_session_coupled(f->session));
  bramah_status status = BRAMAH_OK;
  for (size_t i = 0; !status && i < bramah_session_n_sensors(f->session); i++) status = watch_sensor(f, t, i);
  if (!status && counts.recoveries > f->counts.recoveries)
    status = bramah_report_event(f->report, t, "reset", "filter found wrong, its covariance opened");
  const int limited = counts.limited > f->counts.limited;
  const int anew = !f->limit_row || f->rows - f->limit_row > LIMIT_TOLD_AFTER;
  if (limited) f->limit_row = f->rows + 1;
  if (!status && limited && anew)
    status = bramah_report_event(f->report, t, "limit", "an estimated parameter is held at its limit");
  if (!status && f->rows && steps.basis_changes > f->basis_changes)
    status = bramah_report_event(f->report, t, "coordinates", "the independent coordinates were changed");
  f->counts = counts;
  f->basis_changes = steps.basis_changes;
  return status;
}

/* ---- a row ---- */

static bramah_status add_pose(cli_filter_report *f, double t)
{
  bramah_diag ignored;
  if (!bramah_report_wants_pose(f->report)) return BRAMAH_OK;
  if (bramah_coupled_skeleton(bramah_session_coupled(f->session), f->points, &ignored)) return BRAMAH_OK;
  return bramah_report_pose(f->report, t, f->points);
}

bramah_status cli_filter_report_add(cli_filter_report *filter, double t, const bramah_replay *replay,
                                    double seconds)
{
  bramah_status status = add_nis(filter, t, replay);
  if (!status && filter->rows % CONDITIONING_EVERY == 0) status = add_conditioning(filter, t);
  if (!status && seconds >= 0.0) {
    cli_durations_add(&filter->durations, seconds);
    status = bramah_report_point(filter->report, filter->timing, BRAMAH_REPORT_ESTIMATE, t, seconds, NAN);
  }
  if (!status) status = watch(filter, t);
  if (!status) status = add_pose(filter, t);
  filter->rows++;
  return status;
}

/* ---- time per step ---- */

/* So much onto classes of width 1, evenly from low to high. */
static void spread(double *share, size_t n, double low, double high, double much)
{
  for (size_t i = (size_t)fmin(low, (double)n); i < n && (double)i < high; i++)
    share[i] += much * (fmin(high, (double)i + 1.0) - fmax(low, (double)i)) / (high - low);
}

/* Share of the steps by their time, classes from the shortest to where nearly all are. */
static bramah_status add_histogram(cli_filter_report *f)
{
  enum { CLASSES = 60 };
  const cli_durations *d = &f->durations;
  const double width = 1.2 * cli_durations_quantile(d, 0.97) / CLASSES;
  double share[CLASSES] = {0.0};
  double inside = 0.0;
  char title[80];
  size_t plot;
  for (size_t k = 0; k < CLI_DURATION_CLASSES; k++)
    if (d->in[k])
      spread(share, CLASSES, cli_duration_edge(k) / width, cli_duration_edge(k + 1) / width,
             (double)d->in[k]);
  for (size_t k = 0; k < CLASSES; k++) inside += share[k] / (double)d->n;
  snprintf(title, sizeof title, "distribution of the time per step, %.1f %% of all", 100.0 * inside);
  const bramah_report_plot look = {.section = timing,
                                   .title = title,
                                   .unit = "%",
                                   .factor = 100.0,
                                   .axis = BRAMAH_REPORT_LAG,
                                   .symmetric = 1,
                                   .x = "time per step [µs]",
                                   .names = {[BRAMAH_REPORT_ESTIMATE] = "share of the steps"}};
  bramah_status status = bramah_report_add(f->report, &look, &plot);
  for (size_t k = 0; !status && k < CLASSES; k++)
    status = bramah_report_point(f->report, plot, BRAMAH_REPORT_ESTIMATE, 1e6 * width * ((double)k + 0.5),
                                 share[k] / (double)d->n, NAN);
  return status;
}

static void add_microseconds(cli_table *table, double seconds)
{
  cli_table_add(table, seconds < 1e-4 ? "%.1f" : "%.0f", 1e6 * seconds);
}

bramah_status cli_filter_report_finish(cli_filter_report *filter)
{
  static const char *const header[] = {"steps",  "median",  "95 %", "99 %",
                                       "99.9 %", "longest", "unit", "real time"};
  const cli_durations *d = &filter->durations;
  if (!d->n) return BRAMAH_OK;
  cli_table table = cli_table_make("Time of the filter per step", "rrrrrrlr", header);
  cli_table_add(&table, "%llu", (unsigned long long)d->n);
  static const double quantiles[] = {0.5, 0.95, 0.99, 0.999};
  for (size_t k = 0; k < 4; k++) add_microseconds(&table, cli_durations_quantile(d, quantiles[k]));
  add_microseconds(&table, d->longest);
  cli_table_add(&table, "µs");
  add_microseconds(&table, 1e-9 * (double)bramah_session_plant(filter->session)->step_ns);
  bramah_status status = cli_table_report(&table, filter->report);
  cli_table_free(&table);
  return status ? status : add_histogram(filter);
}
