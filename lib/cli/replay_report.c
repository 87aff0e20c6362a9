/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The page of a replay: whether to trust it and why; then estimates and errors; of each sensor its measurements over their
 * predictions, its innovations, their autocorrelation; of the filter NIS, condition of its covariance, time per step, the
 * machine's pose; and events. */
#include "lib/cli/cli.h"
#include "lib/cli/replay.h"
#include "lib/cli/ground_page.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
  size_t prediction, innovation;        /* plots */
  uint64_t samples, rejected, at_range; /* the latter two: in a row at present */
  double last, usual; /* time of the last sample; usual time between two [s], 0: not known yet */
  int faulty;
} sensor;

struct cli_replay_report {
  bramah_report *page;
  bramah_status status; /* of the first plot or point that could not be added: all that follow are left out */
  const bramah_filter *filter;
  bramah_coupled *plant;
  cli_ground *ground;
  bramah_assess *assess;
  double step; /* [s] */
  size_t n_outputs, n_augmented, n_sensors;
  plotted *output;
  size_t *augmented; /* plots */
  sensor *sensor;
  size_t nis, conditioning, timing; /* plots */
  double nis_mean;                  /* running */
  uint64_t nis_n, rows, limit_row;  /* limit_row: the last one with an estimate at its limit, plus 1 */
  int lost_covariance;              /* an event says that it lost its positive definiteness */
  double *work;                     /* [n_error x n_error] */
  bramah_filter_report counts;      /* before the present row */
  uint32_t basis_changes;
  durations durations;
};

/* ---- plots ---- */

typedef enum plot_kind {
  STATE,
  PARAMETER,
  ERROR,
  PREDICTION,
  INNOVATION,
  NIS,
  CONDITION,
  TIME,
  CORRELATION,
  DISTRIBUTION
} plot_kind;

/* How they look, without their titles; unit NULL: that in which people read what is plotted. */
static const bramah_report_plot looks[] = {
    [STATE] = {.section = "Estimated states", .names = {"estimate"}},
    [PARAMETER] = {.section = "Estimated parameters and inputs", .names = {"estimate"}},
    [ERROR] = {.section = "Errors against the truth", .symmetric = 1, .names = {"error"}},
    [PREDICTION] = {.section = "Measurements over predictions",
                    .text =
                        "What each sensor measured, over what the filter predicted just before; the band is "
                        "that of the innovation, sensor noise included.",
                    .names = {"predicted"}},
    [INNOVATION] = {.section = "Innovations",
                    .text = "Measured minus predicted. In a consistent filter 95 % lie within the band, "
                            "without a trend.",
                    .symmetric = 1,
                    .names = {"innovation", [BRAMAH_REPORT_MEASURED] = "rejected"}},
    [NIS] = {.section = "Normalised innovations squared",
             .text = "All innovations of a step against what the filter expects. The mean is 1 in a "
                     "consistent filter; above: it trusts itself too much.",
             .unit = "1",
             .factor = 1.0,
             .band = "95 % of χ², one step",
             .names = {"mean of the last 100 steps", [BRAMAH_REPORT_MEASURED] = "of a step"}},
    [CONDITION] =
        {.section = "Conditioning of the covariance",
         .text = "Largest by smallest eigenvalue of the matrix of correlations of the error state, every "
                 "tenth step. Near 10¹⁵ the covariance is about to lose its positive definiteness.",
         .unit = "1",
         .factor = 1.0,
         .logarithmic = 1,
         .names = {"condition number"}},
    [TIME] = {.section = "Time per step",
              .text = "Clock time of prediction and correction, without reading and writing.",
              .unit = "µs",
              .factor = 1e6,
              .names = {"step"}},
    [CORRELATION] =
        {.section = "Autocorrelation of the innovations",
         .text = "Of the innovations over their standard deviations, sample after sample. What is white "
                 "stays within the band but for 5 % of the lags; positive values: the model misses "
                 "something that lasts.",
         .unit = "1",
         .factor = 1.0,
         .symmetric = 1,
         .axis = BRAMAH_REPORT_LAG,
         .band = "white, 95 %",
         .names = {"correlation"}},
    [DISTRIBUTION] = {.section = "Time per step",
                      .unit = "%",
                      .factor = 100.0,
                      .axis = BRAMAH_REPORT_LAG,
                      .symmetric = 1,
                      .x = "time per step [µs]",
                      .names = {"share of the steps"}}};

/* A plot of a quantity with this SI unit, entitled as printf does. Returns its number. */
static size_t add_plot(cli_replay_report *r, plot_kind kind, const char *si, const char *format, ...)
    CLI_PRINTF(4, 5);
static size_t add_plot(cli_replay_report *r, plot_kind kind, const char *si, const char *format, ...)
{
  const cli_readable unit = cli_readable_unit(si);
  bramah_report_plot look = looks[kind];
  char title[256];
  size_t number = 0;
  va_list list;
  va_start(list, format);
  vsnprintf(title, sizeof title, format, list);
  va_end(list);
  look.title = title;
  if (!look.unit) look.unit = unit.unit, look.factor = unit.factor;
  if (!r->status) r->status = bramah_report_add(r->page, &look, &number);
  return number;
}

/* NaN: no band, or no point. */
static void add_point(cli_replay_report *r, size_t plot, bramah_report_series series, double t, double value,
                      double low, double high)
{
  if (!r->status) r->status = bramah_report_point(r->page, plot, series, t, value, low, high);
}

static void add_event(cli_replay_report *r, double t, const char *kind, const char *format, ...)
    CLI_PRINTF(4, 5);
static void add_event(cli_replay_report *r, double t, const char *kind, const char *format, ...)
{
  char text[512];
  va_list list;
  va_start(list, format);
  vsnprintf(text, sizeof text, format, list);
  va_end(list);
  if (!r->status) r->status = bramah_report_event(r->page, t, kind, text);
}

/* ---- making one ---- */

bramah_status cli_replay_report_new(const bramah_session *session, bramah_assess *assess, bramah_diag *diag,
                                    cli_replay_report **out)
{
  const bramah_plant *plant = bramah_session_plant(session);
  const bramah_study *study = bramah_session_study(session);
  const size_t *joint_output = bramah_session_about(session)->joint_output;
  const bramah_assess_results *results = bramah_assess_get_results(assess);
  cli_replay_report *r = calloc(1, sizeof *r);
  *out = r;
  if (!r) return cli_no_memory(diag);
  r->assess = assess;
  r->filter = bramah_session_filter(session);
  r->plant = bramah_session_about(session)->machine->coupled;
  r->step = 1e-9 * (double)plant->step_ns;
  r->n_augmented = results->n_augmented;
  r->n_sensors = results->n_sensors;
  const size_t n = bramah_filter_get_info(r->filter).n_error, n_joints = study->n_joints;
  r->output = calloc(plant->n_output + 2 * n_joints + 1, sizeof *r->output);
  r->augmented = calloc(r->n_augmented + 1, sizeof *r->augmented);
  r->sensor = calloc(r->n_sensors + 1, sizeof *r->sensor);
  r->work = calloc(n * n + 1, sizeof *r->work);
  if (!r->output || !r->augmented || !r->sensor || !r->work) return cli_no_memory(diag);
  bramah_diag_clear(diag);
  r->status = bramah_report_new(study->name, diag, &r->page);

  /* Angles and rates of the joints the study starts from, every pressure; estimated parameters; errors. The rate of a
   * joint is the output behind its position: so the plant interface promises. */
  for (size_t pass = 0; pass < 2 * n_joints + 1; pass++)
    for (size_t i = 0; i < results->n_outputs; i++) {
      const bramah_assess_output of = results->output[i];
      bramah_output_info info;
      bramah_plant_output_info(plant, of.output, &info);
      if (pass < 2 * n_joints ? of.output == joint_output[pass / 2] + pass % 2
                              : info.kind == BRAMAH_OUTPUT_FIRST_ORDER)
        r->output[r->n_outputs++] = (plotted){.of = of, .plot = add_plot(r, STATE, of.unit, "%s", of.name)};
    }
  for (size_t i = 0; i < r->n_augmented; i++)
    r->augmented[i] = add_plot(r, PARAMETER, results->augmented[i].unit, "%s", results->augmented[i].name);
  for (size_t k = 0; k < r->n_outputs; k++) {
    plotted *p = &r->output[k];
    if (p->of.has_truth)
      p->error_plot = add_plot(r, ERROR, p->of.unit, "%s: estimate minus truth", p->of.name);
  }

  /* Of each sensor, section by section. */
  for (size_t k = 0; k < 2 * r->n_sensors; k++) {
    const bramah_consistency *of = &results->sensor[k % r->n_sensors];
    sensor *s = &r->sensor[k % r->n_sensors];
    s->name = of->name;
    s->unit = cli_readable_unit(of->unit);
    if (k < r->n_sensors)
      s->prediction = add_plot(r, PREDICTION, of->unit, "%s", s->name);
    else
      s->innovation = add_plot(r, INNOVATION, of->unit, "%s: innovation", s->name);
  }

  /* Of the filter as a whole. */
  r->nis = add_plot(r, NIS, "1", "NIS per degree of freedom");
  r->conditioning = add_plot(r, CONDITION, "1", "condition number of the correlations");
  r->timing = add_plot(r, TIME, "1", "time of the filter per step");
  if (r->status) return cli_fail(diag, r->status, NULL, 0, NULL, "the plots of the report cannot be made");
  return cli_ground_new(bramah_session_about(session)->machine, diag, &r->ground);
}

void cli_replay_report_free(cli_replay_report *report)
{
  if (!report) return;
  cli_ground_free(report->ground);
  bramah_report_free(report->page);
  free(report->output);
  free(report->augmented);
  free(report->sensor);
  free(report->work);
  free(report);
}

/* ---- a sample ---- */

void cli_replay_report_sample(void *run, const bramah_rewind_use *use)
{
  cli_replay_report *r = ((const cli_replay_run *)run)->report;
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

  const double predicted = use->y - y->innovation;
  add_point(r, s->prediction, BRAMAH_REPORT_ESTIMATE, t, predicted, predicted - half, predicted + half);
  add_point(r, s->prediction, BRAMAH_REPORT_MEASURED, t, use->y, NAN, NAN);
  add_point(r, s->innovation, series, t, y->innovation, -half, half);
}

/* ---- an estimate ---- */

/* What happened to the filter in the present row. */
static void watch_filter(cli_replay_report *r, double t)
{
  enum { NEXT_LIMIT_AFTER = 100 };
  const bramah_filter_report counts = bramah_filter_get_report(r->filter);
  const bramah_step_report steps = bramah_coupled_report(r->plant);
  for (size_t i = 0; i < r->n_sensors; i++) {
    sensor *s = &r->sensor[i];
    const int faulty = bramah_filter_sensor_fault(r->filter, i);
    if (faulty != s->faulty) add_event(r, t, "fault", "%s: %s", s->name, faulty ? "faulty" : "agrees again");
    s->faulty = faulty;
  }
  if (counts.recoveries > r->counts.recoveries)
    add_event(r, t, "reset", "filter found wrong, its covariance reset");
  if (counts.limited > r->counts.limited) {
    if (!r->limit_row || r->rows - r->limit_row > NEXT_LIMIT_AFTER)
      add_event(r, t, "limit", "an estimated parameter is held at its limit");
    r->limit_row = r->rows + 1;
  }
  if (r->rows && steps.basis_changes > r->basis_changes)
    add_event(r, t, "coordinates", "the independent coordinates were changed");
  r->counts = counts;
  r->basis_changes = steps.basis_changes;
}

bramah_status cli_replay_report_estimate(cli_replay_report *r, bramah_diag *diag)
{
  enum { CONDITIONING_EVERY = 10, MEMORY = 100 }; /* eigenvalues take longer than many a step */
  const bramah_estimate *estimate = bramah_assess_estimate(r->assess);
  const double t = 1e-9 * (double)estimate->time_ns;
  for (size_t k = 0; k < r->n_outputs; k++) {
    const plotted *p = &r->output[k];
    const size_t i = p->of.output;
    const double value = estimate->value[i], half = band * estimate->sigma[i], truth = estimate->truth[i];
    add_point(r, p->plot, BRAMAH_REPORT_ESTIMATE, t, value, value - half, value + half);
    add_point(r, p->plot, BRAMAH_REPORT_TRUTH, t, truth, NAN, NAN);
    if (!isnan(truth)) add_point(r, p->error_plot, BRAMAH_REPORT_ESTIMATE, t, value - truth, -half, half);
    if (p->of.sensor >= 0)
      add_point(r, p->plot, BRAMAH_REPORT_MEASURED, t, estimate->measured[p->of.sensor], NAN, NAN);
    add_point(r, p->plot, BRAMAH_REPORT_MODEL, t, estimate->model[i], NAN, NAN);
  }
  for (size_t i = 0; i < r->n_augmented; i++) {
    const double value = estimate->augmented[i].value, half = band * estimate->augmented[i].sigma;
    add_point(r, r->augmented[i], BRAMAH_REPORT_ESTIMATE, t, value, value - half, value + half);
  }

  /* Of the filter: NIS, conditioning, time of the step, events. */
  if (!isnan(estimate->nis)) {
    if (r->nis_n < MEMORY) r->nis_n++;
    r->nis_mean += (estimate->nis - r->nis_mean) / (double)r->nis_n;
    add_point(r, r->nis, BRAMAH_REPORT_ESTIMATE, t, r->nis_mean, estimate->nis_low, estimate->nis_high);
    add_point(r, r->nis, BRAMAH_REPORT_MEASURED, t, estimate->nis, NAN, NAN);
  }
  if (r->rows % CONDITIONING_EVERY == 0) {
    double condition;
    bramah_diag other;
    if (!bramah_conditioning(bramah_filter_get_info(r->filter).n_error, bramah_filter_covariance(r->filter),
                             r->work, &condition, &other)) {
      add_point(r, r->conditioning, BRAMAH_REPORT_ESTIMATE, t, condition, NAN, NAN);
    } else if (!r->lost_covariance) {
      r->lost_covariance = 1;
      add_event(r, t, "covariance", "%s", other.message);
    }
  }
  const double seconds = bramah_assess_get_totals(r->assess).step_seconds;
  if (seconds >= 0.0) {
    durations *d = &r->durations;
    double place = seconds > 1e-7 ? floor(PER_DECADE * log10(seconds / 1e-7)) : 0.0;
    if (!(place < DURATIONS)) place = DURATIONS - 1;
    d->in[(size_t)place]++;
    d->n++;
    d->longest = fmax(d->longest, seconds);
    add_point(r, r->timing, BRAMAH_REPORT_ESTIMATE, t, seconds, NAN, NAN);
  }
  watch_filter(r, t);
  if (!r->status && r->plant) r->status = bramah_report_pose(r->page, t, r->plant);
  cli_ground_follow(r->ground);
  r->rows++;
  if (!r->status) return BRAMAH_OK;
  return cli_fail(diag, r->status, NULL, 0, NULL, "the report cannot take more points");
}

/* ---- at the end ---- */

/* value NULL: none. */
static void add_note(cli_replay_report *r, const char *name, const char *value)
{
  if (!r->status && value) r->status = bramah_report_note(r->page, name, value);
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
  for (size_t k = 0; k < DURATIONS; k++) {
    if (!d->in[k]) continue;
    const double low = duration_edge(k) / width, high = duration_edge(k + 1) / width;
    for (size_t i = (size_t)fmin(low, CLASSES); i < CLASSES && (double)i < high; i++)
      share[i] += (double)d->in[k] * (fmin(high, (double)i + 1.0) - fmax(low, (double)i)) / (high - low);
  }
  for (size_t k = 0; k < CLASSES; k++) inside += share[k] / (double)d->n;
  const size_t plot =
      add_plot(r, DISTRIBUTION, "1", "distribution of the time per step, %.1f %% of all", 100.0 * inside);
  for (size_t k = 0; k < CLASSES; k++)
    add_point(r, plot, BRAMAH_REPORT_ESTIMATE, 1e6 * width * ((double)k + 0.5), share[k] / (double)d->n, NAN,
              NAN);
}

const char *cli_verdict(const bramah_verdict *verdict)
{
  return verdict->contradicted ? "contradicted"
         : verdict->broken_off ? "broken off"
         : verdict->doubt      ? "doubted"
         : verdict->too_short  ? "too short"
                               : "no contradiction found";
}

/* The plots of a sensor, output or augmented state that a check names; "": all sensors together. What the verdict calls the
 * worst comes before all. */
static void weigh(cli_replay_report *r, const bramah_assess_results *results, const bramah_finding *f)
{
  const double weight = f == results->verdict.worst ? 1e9 : bramah_finding_closeness(f);
  const double less = 0.999 * weight; /* of two plots of a thing the second */
  if (!*f->at) bramah_report_weigh(r->page, r->nis, weight);
  for (size_t i = 0; i < r->n_sensors; i++) {
    if (strcmp(f->at, r->sensor[i].name) != 0) continue;
    bramah_report_weigh(r->page, r->sensor[i].innovation, weight);
    bramah_report_weigh(r->page, r->sensor[i].prediction, less);
  }
  for (size_t i = 0; i < r->n_outputs; i++) {
    if (strcmp(f->at, r->output[i].of.name) != 0) continue;
    bramah_report_weigh(r->page, r->output[i].plot, weight);
    if (r->output[i].of.has_truth) bramah_report_weigh(r->page, r->output[i].error_plot, less);
  }
  for (size_t i = 0; i < r->n_augmented; i++)
    if (strcmp(f->at, results->augmented[i].name) == 0) bramah_report_weigh(r->page, r->augmented[i], weight);
}

/* What an offset that no test sees could do to an output, the worst by its standard deviations. */
static void hidden_text(const bramah_assess_results *results, char *text, size_t size)
{
  const bramah_hidden *worst = NULL;
  for (size_t i = 0; i < results->n_hidden; i++)
    if (!worst || results->hidden[i].sigmas > worst->sigmas) worst = &results->hidden[i];
  text[0] = '\0';
  if (!worst) return;
  const cli_readable of = cli_readable_unit(worst->unit), by = cli_readable_unit(worst->sensor_unit);
  snprintf(text, size,
           "What no test can see: %s is wrong by up to %.3g %s if %s is off by %.3g %s (table "
           "\"What offsets of sensors could hide\").",
           worst->name, of.factor * worst->effect, of.unit, worst->sensor, by.factor * worst->offset,
           by.unit);
}

/* The window of the worst finding, of another one that failed, or what the diagnosis went through. */
static void find_window(const bramah_verdict *v, const bramah_finding *worst, const bramah_diagnosis *d,
                        bramah_report_answer *answer)
{
  const bramah_finding *window = worst && !isnan(worst->amount) ? worst : NULL;
  for (size_t i = 0; i < v->n && !window; i++)
    if (!v->finding[i].passed && !isnan(v->finding[i].amount)) window = &v->finding[i];
  if (window)
    answer->begin = window->begin, answer->end = window->end;
  else if (d && v->contradicted)
    answer->begin = d->begin, answer->end = d->end;
}

/* What to do about a contradiction: what is doubted of study and log, what would explain it, what such a finding asks for. */
static void contradiction_text(const cli_replay_run *run, const bramah_finding *worst, char *text,
                               size_t size)
{
  const bramah_diagnosis *d = run->diagnosis;
  char cause[CLI_CELL];
  size_t used = 0;
  text[0] = '\0';
  if (run->plausibility && run->plausibility->n) {
    char doubt[1024];
    bramah_diag_format(&run->plausibility->doubt[0].diag, doubt, sizeof doubt);
    used = (size_t)snprintf(text, size, "Look first at this: %s. ", doubt);
  } else if (d && d->n && d->excess > 0.0) {
    cli_explanation_text(&d->cause[0], cause);
    used = (size_t)snprintf(
        text, size,
        "A single cause would explain %.3g %% of it: %s. If that can be, correct it or state it as "
        "uncertain. Otherwise: ",
        100.0 * d->cause[0].share, cause);
  }
  if (used < size) snprintf(text + used, size - used, "%s", bramah_finding_advice(worst));
}

/* Whether to trust the run, and why. */
static void add_answer(cli_replay_report *r, const cli_replay_run *run, const bramah_assess_results *results)
{
  const bramah_verdict *v = &results->verdict;
  const bramah_finding *worst = v->worst, *noted = NULL;
  const double end = cli_seconds(results->totals.last_ns);
  const int broken = run->outcome != BRAMAH_OK, stopped = cli_stop_signal() != 0;
  char headline[160], why[1024] = "", reason[2048], advice[2048] = "", sentence[512] = "";
  bramah_report_answer answer = {.level = BRAMAH_REPORT_WRONG,
                                 .headline = headline,
                                 .reason = reason,
                                 .advice = advice,
                                 .begin = NAN,
                                 .end = NAN};
  for (size_t i = 0; i < v->n; i++) {
    const bramah_finding *f = &v->finding[i];
    weigh(r, results, f);
    if (f->noted && f->kind >= BRAMAH_CHECK_SMALL && (!noted || f->value > noted->value)) noted = f;
    if (v->contradicted || f->noted || isnan(f->value)) continue;
    if (!worst || bramah_finding_closeness(f) > bramah_finding_closeness(worst)) worst = f;
  }
  if (worst) bramah_finding_sentence(worst, sentence, sizeof sentence);
  if (v->contradicted || !(broken || v->doubt)) find_window(v, worst, run->diagnosis, &answer);
  if (broken) bramah_diag_format(&run->mistake, why, sizeof why);
  if (!broken && v->doubt) bramah_diag_format(&v->doubt->diag, why, sizeof why);

  if (v->contradicted) {
    snprintf(headline, sizeof headline, "Do not trust these estimates: the log contradicts the filter");
    snprintf(reason, sizeof reason, "%s%s", sentence,
             v->n_failed > 1 ? " Other checks failed too (table \"Checks\")." : "");
    contradiction_text(run, worst, advice, sizeof advice);
  } else if (broken) {
    snprintf(reason, sizeof reason, "%s. What was estimated before is not judged.", why);
    snprintf(advice, sizeof advice,
             "Correct what the message names and run it again; the estimates up to there are kept.");
  } else if (v->doubt) {
    const int of_noise = v->doubt->kind == BRAMAH_DOUBT_PROCESS_NOISE;
    snprintf(headline, sizeof headline, "Do not trust these estimates: %s",
             of_noise ? "process noise is claimed that is not there" : "study and log do not go together");
    snprintf(reason, sizeof reason, "%s. The tests of the innovations found nothing%s.", why,
             of_noise ? " else" : "");
    snprintf(advice, sizeof advice, "%s",
             of_noise ? "State less process noise, or let bramah tune find it, and run it again."
                      : "Correct it and run it again. bramah check says what else is doubtful.");
  } else if (v->too_short) {
    answer.level = BRAMAH_REPORT_UNSURE;
    snprintf(headline, sizeof headline, "Too short to judge");
    snprintf(reason, sizeof reason, "No sensor has 50 samples.");
    snprintf(advice, sizeof advice, "Take a longer log before the standard deviations are relied on.");
  } else {
    answer.level = stopped ? BRAMAH_REPORT_UNSURE : BRAMAH_REPORT_FINE;
    snprintf(headline, sizeof headline, "Nothing contradicts these estimates");
    snprintf(reason, sizeof reason, "%llu tests found nothing. The nearest to its limit: %s%s%s%s%s",
             (unsigned long long)v->tests, sentence, noted ? " Noise is overestimated" : "",
             noted && *noted->at ? ", most of all that of " : "", noted ? noted->at : "",
             noted ? " (table \"Checks\")." : "");
    hidden_text(results, advice, sizeof advice);
  }
  if (broken) { /* it says so first, whatever else is known */
    char known[sizeof reason];
    snprintf(headline, sizeof headline, "The run was broken off at %.6g s: no verdict", end);
    memcpy(known, reason, sizeof known);
    if (v->contradicted)
      snprintf(reason, sizeof reason, "%s. Up to there the log contradicts the filter: %.900s", why, known);
  } else if (stopped) {
    snprintf(headline, sizeof headline, "Stopped by %s at %.6g s%s", cli_stop_name(), end,
             answer.level == BRAMAH_REPORT_WRONG ? "; do not trust these estimates" : "");
  }
  if (!*advice) answer.advice = NULL;
  if (!r->status) r->status = bramah_report_say(r->page, &answer);
}

bramah_status cli_replay_report_write(const cli_replay_run *run, size_t n_tables, const cli_table *tables,
                                      bramah_diag *diag)
{
  cli_replay_report *r = run->report;
  const cli_replay_request *q = &run->request;
  const bramah_study *study = bramah_session_study(run->session);
  const bramah_assess_results *results = bramah_assess_get_results(r->assess);
  const bramah_assess_totals *totals = &results->totals;
  const double here = cli_seconds(totals->last_ns - totals->begin_ns);

  /* Head and tables. */
  char rows[128], speed[128], protection[256];
  snprintf(rows, sizeof rows, "%llu over %.9g s in steps of %.9g s", (unsigned long long)totals->estimates,
           cli_seconds(totals->last_ns - totals->first_ns), r->step);
  const double alone = here / totals->filter_seconds;
  snprintf(speed, sizeof speed, "filter alone %.*f × real time", alone < 10.0, alone);
  if (run->outcome) add_event(r, cli_seconds(totals->last_ns), "end", "%s", run->mistake.message);
  add_answer(r, run, results);
  add_note(r, "study", study->file);
  add_note(r, "machine", study->machine_file);
  cli_protection(run->session, protection, sizeof protection);
  add_note(r, "filter", protection);
  for (size_t i = 0; i < q->n_logs; i++) add_note(r, "log", q->logs[i]);
  add_note(r, "truth", q->truth);
  add_note(r, "estimates", rows);
  add_note(r, "speed", here > 0.0 ? speed : NULL);
  for (size_t i = 0; !r->status && i < n_tables; i++) r->status = cli_table_report(&tables[i], r->page);

  /* What is known at the end only. */
  for (size_t i = 0; i < results->n_sensors; i++) {
    const bramah_whiteness *white = &results->sensor[i].whiteness;
    if (!white->lags) continue;
    const size_t plot = add_plot(r, CORRELATION, "1", "%s: %zu of %zu lags outside", results->sensor[i].name,
                                 white->outside, white->lags);
    for (size_t k = 1; k <= white->lags; k++)
      add_point(r, plot, BRAMAH_REPORT_ESTIMATE, (double)k, white->r[k - 1], -white->band, white->band);
  }
  if (r->durations.n) add_timing(r);
  if (r->status) return cli_fail(diag, r->status, q->report, 0, NULL, "the report cannot be completed");

  bramah_status status = cli_ground_add(r->ground, r->page, diag);
  if (!status && q->report) status = bramah_report_write(r->page, BRAMAH_REPORT_PAGE, q->report, diag);
  if (!status && q->plot) status = bramah_report_write(r->page, BRAMAH_REPORT_PICTURE, q->plot, diag);
  if (!status && q->plot_data) status = bramah_report_write(r->page, BRAMAH_REPORT_DATA, q->plot_data, diag);
  return status;
}
