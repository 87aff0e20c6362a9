/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/cli/replay_report.h"
#include "lib/cli/cli.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static const double band = 1.96; /* half width of 95 % in standard deviations */

/* How long the steps took, in constant memory: classes from 100 ns to 100 s, 48 to a decade: a quantile is known
 * to 5 %. */
enum { PER_DECADE = 48, DURATIONS = 9 * PER_DECADE };

typedef struct durations {
  uint64_t n;
  uint64_t in[DURATIONS];
  double longest; /* [s] */
} durations;

/* Lower edge of class k, upper edge of the one before [s]. */
static double duration_edge(size_t k) { return 1e-7 * pow(10.0, (double)k / PER_DECADE); }

/* The duration [s] that a share q (0 to 1) of them does not exceed. */
static double duration_quantile(const durations *d, double q)
{
  uint64_t sum = 0;
  for (size_t k = 0; k < DURATIONS; k++) {
    sum += d->in[k];
    if (sum && (double)sum >= q * (double)d->n) return fmin(duration_edge(k + 1), d->longest);
  }
  return NAN;
}

/* An output with its plots. */
typedef struct plotted {
  bramah_assess_output of;
  size_t plot, error_plot; /* the latter where there is a truth */
} plotted;

typedef struct sensor {
  const char *name;
  cli_readable unit;
  double gate;                          /* 0: none */
  size_t prediction, innovation, ratio; /* plots */
  uint64_t samples, rejected, at_range; /* the latter two: in a row at present */
  double last, usual; /* time of the last sample; usual time between two [s], 0: not known yet */
  int faulty;
} sensor;

enum { NIS_BANDS = 64 };

struct cli_replay_report {
  bramah_report *page;
  bramah_status status; /* of the first plot or point that could not be added: all that follow are left out */
  const bramah_session *session;
  const bramah_filter *filter;
  bramah_assess *assess;
  double step; /* [s] */
  size_t n_outputs, n_augmented, n_sensors;
  plotted *output;
  size_t *augmented; /* plots */
  sensor *sensor;
  size_t nis, conditioning, timing;       /* plots */
  double nis_mean;                        /* running */
  uint64_t nis_n, rows, limit_row;        /* limit_row: the last one with an estimate at its limit, plus 1 */
  double low[NIS_BANDS], high[NIS_BANDS]; /* by degrees of freedom; 0: not looked up yet */
  int told_covariance;                    /* that it lost its positive definiteness */
  double *work;                           /* [n_error x n_error] */
  bramah_skeleton skeleton;               /* points of a pose */
  bramah_filter_report counts;            /* before the present row */
  uint32_t basis_changes;
  durations durations;
};

static size_t add_plot(cli_replay_report *r, const bramah_report_plot *plot)
{
  size_t index = 0;
  if (!r->status) r->status = bramah_report_add(r->page, plot, &index);
  return index;
}

static void add_point(cli_replay_report *r, size_t plot, bramah_report_series series, double t, double value,
                      double half)
{
  if (!r->status) r->status = bramah_report_point(r->page, plot, series, t, value, half);
}

static void add_band_point(cli_replay_report *r, size_t plot, bramah_report_series series, double t,
                           double value, double low, double high)
{
  if (!r->status) r->status = bramah_report_band_point(r->page, plot, series, t, value, low, high);
}

static void add_event(cli_replay_report *r, double t, const char *kind, const char *format, ...)
    CLI_PRINTF(4, 5);
static void add_event(cli_replay_report *r, double t, const char *kind, const char *format, ...)
{
  char text[200];
  va_list list;
  va_start(list, format);
  vsnprintf(text, sizeof text, format, list);
  va_end(list);
  if (!r->status) r->status = bramah_report_event(r->page, t, kind, text);
}

/* ---- plots ---- */

static const char predictions[] = "Measurements over predictions";
static const char innovations[] = "Innovations";
static const char gates[] = "Gate ratios";
static const char correlations[] = "Autocorrelation of the innovations";
static const char consistency[] = "Normalised innovations squared";
static const char covariance[] = "Conditioning of the covariance";
static const char timing[] = "Time per step";

static size_t add_states_plot(cli_replay_report *r, const char *section, const char *name, const char *what,
                              const char *si, int symmetric)
{
  const cli_readable unit = cli_readable_unit(si);
  char title[256];
  snprintf(title, sizeof title, "%s%s", name, what);
  return add_plot(r, &(bramah_report_plot){.section = section,
                                           .title = title,
                                           .unit = unit.unit,
                                           .factor = unit.factor,
                                           .symmetric = symmetric,
                                           .names = {symmetric ? "error" : "estimate"}});
}

/* Angles and rates of the joints the study starts from, every pressure. The rate of a joint is the output behind its
 * position: so the plant interface promises. */
static void add_outputs(cli_replay_report *r)
{
  const bramah_assess_results *results = bramah_assess_get_results(r->assess);
  const bramah_augmented_estimate *augmented = results->augmented;
  const size_t n_joints = bramah_session_study(r->session)->n_joints, passes = 2 * n_joints + 1;
  for (size_t pass = 0; pass < passes; pass++)
    for (size_t i = 0; i < results->n_outputs; i++) {
      const bramah_assess_output of = results->output[i];
      bramah_output_info info;
      bramah_plant_output_info(bramah_session_plant(r->session), of.output, &info);
      if (pass < 2 * n_joints
              ? of.output != bramah_session_about(r->session)->joint_output[pass / 2] + pass % 2
              : info.kind != BRAMAH_OUTPUT_FIRST_ORDER)
        continue;
      r->output[r->n_outputs++] =
          (plotted){.of = of, .plot = add_states_plot(r, "Estimated states", of.name, "", of.unit, 0)};
    }
  for (size_t i = 0; i < r->n_augmented; i++) {
    r->augmented[i] =
        add_states_plot(r, "Estimated parameters and inputs", augmented[i].name, "", augmented[i].unit, 0);
  }
  for (size_t k = 0; k < r->n_outputs; k++) {
    plotted *p = &r->output[k];
    if (p->of.has_truth)
      p->error_plot =
          add_states_plot(r, "Errors against the truth", p->of.name, ": estimate minus truth", p->of.unit, 1);
  }
}

static void add_sensors(cli_replay_report *r)
{
  char title[256];
  for (size_t i = 0; i < r->n_sensors; i++) {
    sensor *s = &r->sensor[i];
    s->prediction = add_plot(r, &(bramah_report_plot){.section = predictions,
                                                      .title = s->name,
                                                      .unit = s->unit.unit,
                                                      .factor = s->unit.factor,
                                                      .names = {[BRAMAH_REPORT_ESTIMATE] = "predicted"}});
  }
  for (size_t i = 0; i < r->n_sensors; i++) {
    sensor *s = &r->sensor[i];
    snprintf(title, sizeof title, "%s: innovation", s->name);
    s->innovation = add_plot(
        r, &(bramah_report_plot){
               .section = innovations,
               .title = title,
               .unit = s->unit.unit,
               .factor = s->unit.factor,
               .symmetric = 1,
               .names = {[BRAMAH_REPORT_ESTIMATE] = "innovation", [BRAMAH_REPORT_MEASURED] = "rejected"}});
  }
  for (size_t i = 0; i < r->n_sensors; i++) {
    sensor *s = &r->sensor[i];
    if (!(s->gate > 0.0)) continue;
    snprintf(title, sizeof title, "%s: innovation / gate of %.4g σ", s->name, s->gate);
    s->ratio = add_plot(
        r, &(bramah_report_plot){
               .section = gates,
               .title = title,
               .unit = "1",
               .factor = 1.0,
               .band = "passes",
               .names = {[BRAMAH_REPORT_ESTIMATE] = "fused", [BRAMAH_REPORT_MEASURED] = "rejected"}});
  }
}

/* Plots of the filter as a whole, and what all plots show. */
static void add_filter(cli_replay_report *r)
{
  r->nis = add_plot(
      r, &(bramah_report_plot){
             .section = consistency,
             .title = "NIS per degree of freedom",
             .unit = "1",
             .factor = 1.0,
             .band = "95 % of χ²",
             .names = {[BRAMAH_REPORT_ESTIMATE] = "NIS", [BRAMAH_REPORT_TRUTH] = "running mean of 100"}});
  r->conditioning =
      add_plot(r, &(bramah_report_plot){.section = covariance,
                                        .title = "condition number of the correlations, log₁₀",
                                        .unit = "1",
                                        .factor = 1.0,
                                        .names = {[BRAMAH_REPORT_ESTIMATE] = "log₁₀ condition number"}});
  r->timing = add_plot(r, &(bramah_report_plot){.section = timing,
                                                .title = "time of the filter per step",
                                                .unit = "µs",
                                                .factor = 1e6,
                                                .names = {[BRAMAH_REPORT_ESTIMATE] = "step"}});

  static const struct {
    const char *section, *text;
  } texts[] = {
      {predictions, "What each sensor measured, over what the filter predicted just before; the band is "
                    "that of the innovation, sensor noise included."},
      {innovations, "Measured minus predicted. In a consistent filter 95 % lie within the band, "
                    "without a trend."},
      {correlations, "Of the innovations over their standard deviations, sample after sample. What is white "
                     "stays within the band but for 5 % of the lags; positive values: the model misses "
                     "something that lasts."},
      {gates, "Size of the innovation relative to its gate: above 1 a sample is rejected."},
      {consistency, "All innovations of a step against what the filter expects. The mean is 1 in a "
                    "consistent filter; above: it trusts itself too much."},
      {covariance, "Largest by smallest eigenvalue of the matrix of correlations of the error state, every "
                   "tenth step. Near 15 the covariance is about to lose its positive definiteness."},
      {timing, "Clock time of prediction and correction, without reading and writing."}};
  for (size_t i = 0; !r->status && i < sizeof texts / sizeof texts[0]; i++)
    r->status = bramah_report_explain(r->page, texts[i].section, texts[i].text);
}

/* ---- making one ---- */

bramah_status cli_replay_report_new(const bramah_session *session, bramah_diag *diag, cli_replay_report **out)
{
  const bramah_plant *plant = bramah_session_plant(session);
  const bramah_study *study = bramah_session_study(session);
  const bramah_sensor *sensors = bramah_session_about(session)->sensors;
  cli_replay_report *r = calloc(1, sizeof *r);
  *out = r;
  if (!r) return cli_fail(diag, BRAMAH_E_MEMORY, NULL, 0, NULL, "out of memory");
  r->session = session;
  r->filter = bramah_session_filter(session);
  r->step = 1e-9 * (double)plant->step_ns;
  r->n_augmented = bramah_filter_n_augmented(r->filter);
  r->n_sensors = bramah_session_about(session)->study->n_sensors;
  const size_t n = bramah_filter_n_error(r->filter);
  r->output = calloc(plant->n_output + 2 * study->n_joints + 1, sizeof *r->output);
  r->augmented = calloc(r->n_augmented + 1, sizeof *r->augmented);
  r->sensor = calloc(r->n_sensors + 1, sizeof *r->sensor);
  r->work = calloc(n * n + 1, sizeof *r->work);
  if (!r->output || !r->augmented || !r->sensor || !r->work)
    return cli_fail(diag, BRAMAH_E_MEMORY, NULL, 0, NULL, "out of memory");
  for (size_t i = 0; i < r->n_sensors; i++)
    r->sensor[i] =
        (sensor){.name = sensors[i].name, .unit = cli_readable_unit(sensors[i].unit), .gate = study->gate[i]};
  bramah_diag_clear(diag);
  return bramah_report_new(study->name, diag, &r->page);
}

bramah_status cli_replay_report_begin(cli_replay_report *report, bramah_assess *assess, bramah_diag *diag)
{
  report->assess = assess;
  add_outputs(report);
  add_sensors(report);
  add_filter(report);

  /* The machine's pose. */
  bramah_coupled *coupled = bramah_session_about(report->session)->machine->coupled;
  bramah_skeleton skeleton = {.n = 0};
  if (!report->status) report->status = bramah_coupled_skeleton(coupled, &skeleton, diag);
  bramah_skeleton_part *parts = skeleton.part = calloc(skeleton.n + 1, sizeof *parts);
  report->skeleton.n = skeleton.n;
  report->skeleton.points = calloc(6 * skeleton.n + 1, sizeof(double));
  if (!report->status && (!parts || !report->skeleton.points)) report->status = BRAMAH_E_MEMORY;
  if (!report->status) report->status = bramah_coupled_skeleton(coupled, &skeleton, diag);
  if (!report->status && skeleton.n) report->status = bramah_report_machine(report->page, skeleton.n, parts);
  free(parts);
  if (!report->status) return BRAMAH_OK;
  return cli_fail(diag, report->status, NULL, 0, NULL, "the plots of the report cannot be made");
}

void cli_replay_report_free(cli_replay_report *report)
{
  if (!report) return;
  bramah_report_free(report->page);
  free(report->output);
  free(report->augmented);
  free(report->sensor);
  free(report->work);
  free(report->skeleton.points);
  free(report);
}

bramah_report *cli_replay_report_page(const cli_replay_report *report) { return report->page; }

/* ---- a sample ---- */

void cli_replay_report_sample(void *report, const bramah_rewind_use *use)
{
  cli_replay_report *r = report;
  sensor *s = &r->sensor[use->sensor];
  const bramah_innovation *y = &use->innovation;
  const double t = 1e-9 * (double)use->time_ns, half = band * y->sigma;
  const bramah_report_series series = y->accepted ? BRAMAH_REPORT_ESTIMATE : BRAMAH_REPORT_MEASURED;
  if (s->samples && t < s->last) return; /* later than its successors: it is not drawn */

  static const double gap = 5.0; /* so many times the usual interval */
  const double since = t - s->last;
  const uint64_t rejected = s->rejected, at_range = s->at_range;
  if (s->samples && since > 0.0) {
    if (s->usual > 0.0 && since > gap * s->usual && since > 2.5 * r->step)
      add_event(r, t, "gap", "%s: no sample for %.4g s", s->name, since);
    else
      s->usual += (s->usual > 0.0 ? 0.05 : 1.0) * (since - s->usual);
  }
  /* Of samples rejected in a row the first is an event, and their end. */
  s->rejected = !y->accepted && !y->saturated ? rejected + 1 : 0;
  if (s->rejected == 1)
    add_event(r, t, "gate", "%s: rejected, innovation %.4g %s = %.3g σ", s->name,
              y->innovation * s->unit.factor, s->unit.unit, y->innovation / y->sigma);
  if (y->accepted && rejected > 1)
    add_event(r, t, "gate", "%s: fused again after %llu samples rejected", s->name,
              (unsigned long long)rejected);
  s->at_range = y->saturated ? at_range + 1 : 0;
  if (s->at_range == 1) add_event(r, t, "range", "%s: at an end of its range", s->name);
  s->samples++;
  s->last = t;

  add_point(r, s->prediction, BRAMAH_REPORT_ESTIMATE, t, use->y - y->innovation, half);
  add_point(r, s->prediction, BRAMAH_REPORT_MEASURED, t, use->y, NAN);
  add_point(r, s->innovation, series, t, y->innovation, half);
  if (s->gate > 0.0 && !y->saturated)
    add_band_point(r, s->ratio, series, t, fabs(y->innovation) / (s->gate * y->sigma),
                   y->accepted ? 0.0 : NAN, y->accepted ? 1.0 : NAN);
}

/* ---- an estimate ---- */

static void add_states(cli_replay_report *r, double t)
{
  const bramah_estimate *estimate = bramah_assess_estimate(r->assess);
  for (size_t k = 0; k < r->n_outputs; k++) {
    const plotted *p = &r->output[k];
    const size_t i = p->of.output;
    const double value = estimate->value[i], half = band * estimate->sigma[i], truth = estimate->truth[i];
    add_point(r, p->plot, BRAMAH_REPORT_ESTIMATE, t, value, half);
    if (!isnan(truth)) {
      add_point(r, p->plot, BRAMAH_REPORT_TRUTH, t, truth, NAN);
      add_point(r, p->error_plot, BRAMAH_REPORT_ESTIMATE, t, value - truth, half);
    }
    if (p->of.sensor >= 0)
      add_point(r, p->plot, BRAMAH_REPORT_MEASURED, t, estimate->measured[p->of.sensor], NAN);
    if (!isnan(estimate->model[i])) add_point(r, p->plot, BRAMAH_REPORT_MODEL, t, estimate->model[i], NAN);
  }
  for (size_t i = 0; i < r->n_augmented; i++) {
    const bramah_augmented_estimate *of = &estimate->augmented[i];
    add_point(r, r->augmented[i], BRAMAH_REPORT_ESTIMATE, t, of->value, band * of->sigma);
  }
}

static void add_nis(cli_replay_report *r, double t)
{
  enum { MEMORY = 100 };
  size_t dof;
  double low, high;
  bramah_diag ignored;
  const double nis = bramah_replay_nis(bramah_assess_replay(r->assess), &dof);
  if (!dof) return;
  const double value = nis / (double)dof;
  if (r->nis_n < MEMORY) r->nis_n++;
  r->nis_mean += (value - r->nis_mean) / (double)r->nis_n;
  const int kept = dof < NIS_BANDS;
  if (kept && r->high[dof] > 0.0) {
    low = r->low[dof];
    high = r->high[dof];
  } else {
    if (bramah_nis_band((double)dof, 0.95, &low, &high, &ignored)) low = high = NAN;
    if (kept) r->low[dof] = low, r->high[dof] = high;
  }
  add_band_point(r, r->nis, BRAMAH_REPORT_ESTIMATE, t, value, low, high);
  add_point(r, r->nis, BRAMAH_REPORT_TRUTH, t, r->nis_mean, NAN);
}

static void watch_filter(cli_replay_report *r, double t)
{
  enum { LIMIT_TOLD_AFTER = 100 };
  const bramah_filter_report counts = bramah_filter_get_report(r->filter);
  const bramah_step_report steps = bramah_coupled_report(bramah_session_about(r->session)->machine->coupled);
  for (size_t i = 0; i < r->n_sensors; i++) {
    sensor *s = &r->sensor[i];
    const int faulty = bramah_filter_sensor_fault(r->filter, i);
    if (faulty != s->faulty) add_event(r, t, "fault", "%s: %s", s->name, faulty ? "faulty" : "agrees again");
    s->faulty = faulty;
  }
  if (counts.recoveries > r->counts.recoveries)
    add_event(r, t, "reset", "filter found wrong, its covariance reset");
  if (counts.limited > r->counts.limited) {
    if (!r->limit_row || r->rows - r->limit_row > LIMIT_TOLD_AFTER)
      add_event(r, t, "limit", "an estimated parameter is held at its limit");
    r->limit_row = r->rows + 1;
  }
  if (r->rows && steps.basis_changes > r->basis_changes)
    add_event(r, t, "coordinates", "the independent coordinates were changed");
  r->counts = counts;
  r->basis_changes = steps.basis_changes;
}

bramah_status cli_replay_report_estimate(cli_replay_report *report, bramah_diag *diag)
{
  enum { CONDITIONING_EVERY = 10 }; /* eigenvalues take longer than many a step */
  cli_replay_report *r = report;
  bramah_diag other;
  const bramah_assess_totals totals = bramah_assess_get_totals(r->assess);
  const double t = 1e-9 * (double)totals.last_ns, seconds = totals.step_seconds;
  add_states(r, t);
  add_nis(r, t);
  if (r->rows % CONDITIONING_EVERY == 0) {
    double condition;
    if (!bramah_conditioning(bramah_filter_n_error(r->filter), bramah_filter_covariance(r->filter), r->work,
                             &condition, &other)) {
      add_point(r, r->conditioning, BRAMAH_REPORT_ESTIMATE, t, log10(condition), NAN);
    } else if (!r->told_covariance) {
      r->told_covariance = 1;
      add_event(r, t, "covariance", "%s", other.message);
    }
  }
  if (seconds >= 0.0) {
    durations *d = &r->durations;
    double place = seconds > 1e-7 ? floor(PER_DECADE * log10(seconds / 1e-7)) : 0.0;
    if (!(place < DURATIONS)) place = DURATIONS - 1;
    d->in[(size_t)place]++;
    d->n++;
    d->longest = fmax(d->longest, seconds);
    add_point(r, r->timing, BRAMAH_REPORT_ESTIMATE, t, seconds, NAN);
  }
  watch_filter(r, t);
  if (!r->status && bramah_report_wants_pose(r->page) &&
      !bramah_coupled_skeleton(bramah_session_about(r->session)->machine->coupled, &r->skeleton, &other))
    r->status = bramah_report_pose(r->page, t, r->skeleton.points);
  r->rows++;
  if (!r->status) return BRAMAH_OK;
  return cli_fail(diag, r->status, NULL, 0, NULL, "the report cannot take more points");
}

/* ---- at the end ---- */

static void add_correlation(cli_replay_report *r, const bramah_consistency *of)
{
  const bramah_whiteness *white = &of->whiteness;
  char title[256];
  if (!white->lags) return;
  snprintf(title, sizeof title, "%s: %zu of %zu lags outside", of->name, white->outside, white->lags);
  const size_t plot = add_plot(r, &(bramah_report_plot){.section = correlations,
                                                        .title = title,
                                                        .unit = "1",
                                                        .factor = 1.0,
                                                        .symmetric = 1,
                                                        .axis = BRAMAH_REPORT_LAG,
                                                        .band = "white, 95 %",
                                                        .names = {[BRAMAH_REPORT_ESTIMATE] = "correlation"}});
  for (size_t k = 1; k <= white->lags; k++)
    add_point(r, plot, BRAMAH_REPORT_ESTIMATE, (double)k, white->r[k - 1], white->band);
}

/* How long the steps took: a table, and the share of the steps by their time, in classes of equal width from the
 * shortest to where nearly all are. */
static void add_timing(cli_replay_report *r)
{
  const durations *d = &r->durations;
  static const char *const header[] = {"steps",  "median",  "95 %", "99 %",
                                       "99.9 %", "longest", "unit", "real time"};
  const double times[] = {duration_quantile(d, 0.5),
                          duration_quantile(d, 0.95),
                          duration_quantile(d, 0.99),
                          duration_quantile(d, 0.999),
                          d->longest,
                          r->step};
  cli_table table = cli_table_make("Time of the filter per step", "rrrrrrlr", header);
  cli_table_add(&table, "%llu", (unsigned long long)d->n);
  for (size_t k = 0; k < 6; k++) {
    if (k == 5) cli_table_add(&table, "µs");
    cli_table_add(&table, times[k] < 1e-4 ? "%.1f" : "%.0f", 1e6 * times[k]);
  }
  if (!r->status) r->status = cli_table_report(&table, r->page);
  cli_table_free(&table);

  enum { CLASSES = 60 };
  const double width = 1.2 * duration_quantile(d, 0.97) / CLASSES;
  double share[CLASSES] = {0.0}, inside = 0.0;
  char title[80];
  for (size_t k = 0; k < DURATIONS; k++) {
    if (!d->in[k]) continue;
    const double low = duration_edge(k) / width, high = duration_edge(k + 1) / width;
    for (size_t i = (size_t)fmin(low, CLASSES); i < CLASSES && (double)i < high; i++)
      share[i] += (double)d->in[k] * (fmin(high, (double)i + 1.0) - fmax(low, (double)i)) / (high - low);
  }
  for (size_t k = 0; k < CLASSES; k++) inside += share[k] / (double)d->n;
  snprintf(title, sizeof title, "distribution of the time per step, %.1f %% of all", 100.0 * inside);
  const size_t plot =
      add_plot(r, &(bramah_report_plot){.section = timing,
                                        .title = title,
                                        .unit = "%",
                                        .factor = 100.0,
                                        .axis = BRAMAH_REPORT_LAG,
                                        .symmetric = 1,
                                        .x = "time per step [µs]",
                                        .names = {[BRAMAH_REPORT_ESTIMATE] = "share of the steps"}});
  for (size_t k = 0; k < CLASSES; k++)
    add_point(r, plot, BRAMAH_REPORT_ESTIMATE, 1e6 * width * ((double)k + 0.5), share[k] / (double)d->n, NAN);
}

bramah_status cli_replay_report_finish(cli_replay_report *report)
{
  const bramah_assess_results *results = bramah_assess_get_results(report->assess);
  for (size_t i = 0; i < results->n_sensors; i++) add_correlation(report, &results->sensor[i]);
  if (report->durations.n) add_timing(report);
  return report->status;
}
