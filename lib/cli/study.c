/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bramah study: a planned study of sensor sets, rates and filters by simulation. */
#include "bramah/sensor_study.h"
#include "lib/cli/cli.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_LINES = 10 };
static const size_t all = BRAMAH_SENSOR_STUDY_ALL;

/* A study and its layout, which every function here needs. */
typedef struct view {
  bramah_sensor_study *study;
  const bramah_sensor_study_layout *is;
  bramah_report *page; /* NULL: none is wanted */
  bramah_status paged; /* of the first table it could not take */
} view;

static double mean_of(const view *v, const bramah_sensor_study_case *c, size_t signal, bramah_metric metric)
{
  return bramah_sensor_study_mean(v->study, c, signal, metric).mean;
}

/* Of the first study with a sensor for this signal. */
static double sensor_noise(const view *v, bramah_sensor_study_case c, size_t signal)
{
  double noise = (double)NAN;
  for (c.study = 0, c.filter = 0; c.study < v->is->n_studies && isnan(noise); c.study++)
    noise = mean_of(v, &c, signal, BRAMAH_METRIC_NOISE);
  return noise;
}

static void add_short(cli_table *table, double value)
{
  if (isfinite(value))
    cli_table_add(table, "%.3g", value);
  else
    cli_table_add(table, "%s", "");
}

/* On the terminal and into the page; nothing where there is nothing to compare. Releases it. */
static void print_table(view *v, cli_table *table, FILE *out)
{
  if (table->n_cells) cli_table_print(table, out);
  if (table->n_cells && v->page && !v->paged) v->paged = cli_table_report(table, v->page);
  cli_table_free(table);
}

/* What a replay of the first seed of a case says of its filter; NULL: none was made. */
static const char *verdict_of(const view *v, const bramah_sensor_study_case *c)
{
  const bramah_sensor_study_layout *is = v->is;
  const size_t session = (c->scenario * is->n_studies + c->study) * is->n_filters + c->filter;
  return is->runs[(session * is->n_rates + c->rate) * is->n_seeds].verdict;
}

/* Its first word or two: "contradicted", "doubted", "no contradiction"; empty: no verdict. */
static const char *short_verdict(const char *verdict)
{
  static const char *const words[] = {"contradicted", "doubted", "no contradiction", "none"};
  for (size_t i = 0; verdict && i < sizeof words / sizeof words[0]; i++)
    if (strncmp(verdict, words[i], strlen(words[i])) == 0) return words[i];
  return "";
}

/* Which cases have too much process noise: what they say of what they learn is not to be trusted. */
static void print_doubts(const view *v, FILE *out)
{
  const bramah_sensor_study_layout *is = v->is;
  size_t doubted = 0;
  for (size_t i = 0; i < is->n_runs; i += is->n_seeds) {
    const bramah_sensor_study_case *c = &is->runs[i].at;
    const char *verdict = is->runs[i].verdict;
    if (strcmp(short_verdict(verdict), "doubted") != 0) continue;
    if (doubted++ == 0) fputs("\ndoubted by a replay of the first seed's log:\n", out);
    if (doubted > MOST_LINES) continue;
    fprintf(out, "  scenario %s, filter %s, study %s", is->scenarios[c->scenario].name,
            is->filters[c->filter].name, is->plan->studies[c->study].name);
    if (is->rates[c->rate] > 0.0) fprintf(out, ", %.6g Hz", is->rates[c->rate]);
    fprintf(out, ": %s\n", verdict + strlen("doubted: "));
  }
  if (doubted > MOST_LINES) fprintf(out, "  and %zu more\n", doubted - MOST_LINES);
}

/* ---- errors ---- */

static void print_errors(view *v, bramah_sensor_study_case c, FILE *out)
{
  const bramah_sensor_study_layout *is = v->is;
  const bramah_plan_scenario *scenario = &is->scenarios[c.scenario];
  const char *header[CLI_TABLE_COLUMNS] = {"filter", "study"};
  char rate[64] = "rates of the studies", name[160] = "", title[400], align[CLI_TABLE_COLUMNS + 1] = "ll";
  size_t n = 2;
  for (size_t i = 0; i < is->n_signals; i++) header[n++] = is->plan->signals[i].name;
  header[n++] = "inside";
  header[n++] = "NIS";
  memset(align + 2, 'r', n - 2);
  header[n] = "verdict";
  align[n++] = 'l';
  if (is->rates[c.rate] > 0.0) snprintf(rate, sizeof rate, "%.6g Hz", is->rates[c.rate]);
  if (scenario->title) snprintf(name, sizeof name, " (%s)", scenario->title);
  snprintf(title, sizeof title, "scenario %s%s, %s: RMSE in %% of the largest magnitude, mean of %zu seed%s",
           scenario->name, name, rate, is->n_seeds, is->n_seeds == 1 ? "" : "s");
  cli_table table = cli_table_make(title, align, header);
  for (c.filter = 0; c.filter < is->n_filters; c.filter++)
    for (c.study = 0; c.study < is->n_studies; c.study++) {
      double inside = 0.0;
      size_t banded = 0;
      cli_table_add(&table, "%s\t%s", is->filters[c.filter].name, is->plan->studies[c.study].name);
      for (size_t i = 0; i < is->n_signals; i++) {
        const double share = mean_of(v, &c, i, BRAMAH_METRIC_INSIDE);
        add_short(&table, mean_of(v, &c, i, BRAMAH_METRIC_RMSE));
        if (isnan(share)) continue;
        inside += share;
        banded++;
      }
      add_short(&table, banded ? inside / (double)banded : (double)NAN);
      add_short(&table, mean_of(v, &c, 0, BRAMAH_METRIC_NIS));
      cli_table_add(&table, "%s", short_verdict(verdict_of(v, &c)));
    }
  for (int noise = 0; noise < 2; noise++) {
    cli_table_add(&table, "%s\t", noise ? "sensor noise" : "model alone");
    for (size_t i = 0; i < is->n_signals; i++)
      add_short(&table,
                noise ? sensor_noise(v, c, i) : is->signals[c.scenario * is->n_signals + i].model_alone);
    for (int blank = 0; blank < 3; blank++) cli_table_add(&table, "%s", "");
  }
  print_table(v, &table, out);
}

/* ---- comparisons: what differs in one index, over all cases of the others ---- */

/* Cells: the ratio of a's errors to b's over all signals and by signal, and how often it is below 1. */
static void add_comparison(const view *v, cli_table *table, const bramah_sensor_study_case *a,
                           const bramah_sensor_study_case *b)
{
  const bramah_sensor_study_ratio r = bramah_sensor_study_compare(v->study, BRAMAH_METRIC_RMSE, all, a, b);
  add_short(table, r.mean);
  for (size_t i = 0; i < v->is->n_signals; i++)
    add_short(table, bramah_sensor_study_compare(v->study, BRAMAH_METRIC_RMSE, i, a, b).mean);
  cli_table_add(table, "%zu of %zu", r.smaller, r.n);
}

static cli_table comparison_table(const view *v, const char *title, const char *one, const char *two,
                                  const char *last, const char **header, char *align)
{
  size_t n = 0;
  header[n++] = one;
  header[n++] = two;
  header[n++] = "all";
  for (size_t i = 0; i < v->is->n_signals; i++) header[n++] = v->is->plan->signals[i].name;
  header[n++] = "smaller in";
  if (last) header[n++] = last;
  memset(align, 'r', n);
  align[n] = '\0';
  memset(align, 'l', 2);
  return cli_table_make(title, align, header);
}

/* The set with the smallest errors of a filter: none has a ratio below 1 to it. */
static bramah_sensor_study_case best_set(const view *v, size_t filter)
{
  bramah_sensor_study_case best = {.scenario = all, .filter = filter, .rate = all}, a = best;
  for (a.study = 1; a.study < v->is->n_studies; a.study++) {
    const double ratio = bramah_sensor_study_compare(v->study, BRAMAH_METRIC_RMSE, all, &a, &best).mean;
    const int has_values = bramah_sensor_study_compare(v->study, BRAMAH_METRIC_RMSE, all, &best, NULL).n > 0;
    if (ratio < 1.0 || !has_values) best.study = a.study;
  }
  return best;
}

static void print_comparisons(view *v, FILE *out)
{
  const bramah_sensor_study_layout *is = v->is;
  const char *header[CLI_TABLE_COLUMNS];
  char align[CLI_TABLE_COLUMNS + 1];
  cli_table studies = comparison_table(v, "sensor sets: errors relative to those of the best set", "filter",
                                       "study", NULL, header, align);
  for (size_t f = 0; is->n_studies > 1 && f < is->n_filters; f++) {
    const bramah_sensor_study_case best = best_set(v, f);
    bramah_sensor_study_case a = best;
    for (a.study = 0; a.study < is->n_studies; a.study++) {
      cli_table_add(&studies, "%s\t%s", is->filters[f].name, is->plan->studies[a.study].name);
      add_comparison(v, &studies, &a, &best);
    }
  }
  print_table(v, &studies, out);
  cli_table rates = comparison_table(v,
                                     "rates: errors relative to those at the first rate; saw tooth: by how "
                                     "much a correction narrows the band",
                                     "filter", "rate", "saw tooth", header, align);
  for (size_t f = 0; is->n_rates > 1 && f < is->n_filters; f++) {
    const bramah_sensor_study_case first = {.scenario = all, .study = all, .filter = f};
    bramah_sensor_study_case a = first;
    for (a.rate = 0; a.rate < is->n_rates; a.rate++) {
      cli_table_add(&rates, "%s\t%.6g Hz", is->filters[f].name, is->rates[a.rate]);
      add_comparison(v, &rates, &a, &first);
      add_short(&rates, bramah_sensor_study_compare(v->study, BRAMAH_METRIC_SAW_TOOTH, all, &a, NULL).mean);
    }
  }
  print_table(v, &rates, out);
  cli_table filters = comparison_table(v, "filters: errors relative to those of the first filter", "filter",
                                       "scenario", NULL, header, align);
  for (size_t f = 1; f < is->n_filters; f++)
    for (size_t i = 0; i <= is->n_scenarios; i++) {
      if (i && is->n_scenarios == 1) continue;
      bramah_sensor_study_case a = {.scenario = i ? i - 1 : all, .study = all, .filter = f, .rate = all};
      bramah_sensor_study_case first = a;
      first.filter = 0;
      cli_table_add(&filters, "%s\t%s", is->filters[f].name, i ? is->scenarios[i - 1].name : "all");
      add_comparison(v, &filters, &a, &first);
    }
  print_table(v, &filters, out);
}

/* ---- CSV ---- */

enum { VALUES = 9 };

/* A row of a case and signal; without a study it has no seeds. */
static void write_row(const view *v, const bramah_sensor_study_case *c, const char *filter, const char *study,
                      size_t signal, const double values[VALUES], FILE *file)
{
  static const int digits[VALUES] = {6, 3, 6, 3, 6, 6, 6, 9, 6};
  const double rate = v->is->rates[c->rate];
  const size_t n = bramah_sensor_study_mean(v->study, c, signal, BRAMAH_METRIC_RMSE).n;
  fprintf(file, "%s,%s,%s", v->is->scenarios[c->scenario].name, filter, study);
  cli_put_number(file, rate > 0.0 ? rate : (double)NAN, 9);
  fprintf(file, ",%s", v->is->plan->signals[signal].name);
  if (*study)
    fprintf(file, ",%zu,%zu", n, v->is->n_seeds - n);
  else
    fputs(",,", file);
  for (int i = 0; i < VALUES; i++) cli_put_number(file, values[i], digits[i]);
  fprintf(file, ",%s\n", *study ? short_verdict(verdict_of(v, c)) : "");
}

static bramah_status write_csv(const view *v, const char *path, bramah_diag *diag)
{
  const bramah_sensor_study_layout *is = v->is;
  FILE *file = cli_create(path, diag);
  if (!file) return diag->status;
  fprintf(file, "scenario,filter,study,rate[Hz],signal,seeds,failed,rmse[%%],rmse_error[%%],settled[%%],"
                "settled_error[%%],inside,saw_tooth,nis,largest,sigma[%%],verdict\n");
  bramah_sensor_study_case c = {0};
  for (c.scenario = 0; c.scenario < is->n_scenarios; c.scenario++) {
    const bramah_sensor_study_signal *signals = &is->signals[c.scenario * is->n_signals];
    for (c.rate = 0; c.rate < is->n_rates; c.rate++) {
      for (c.filter = 0; c.filter < is->n_filters; c.filter++)
        for (c.study = 0; c.study < is->n_studies; c.study++)
          for (size_t i = 0; i < is->n_signals; i++) {
            bramah_sensor_study_average m[BRAMAH_METRIC_NIS + 1];
            for (int k = 0; k <= BRAMAH_METRIC_NIS; k++)
              m[k] = bramah_sensor_study_mean(v->study, &c, i, (bramah_metric)k);
            const double values[VALUES] = {
                m[0].mean,  m[0].error,         m[1].mean,
                m[1].error, m[2].mean,          m[3].mean,
                m[4].mean,  signals[i].largest, mean_of(v, &c, i, BRAMAH_METRIC_SIGMA)};
            write_row(v, &c, is->filters[c.filter].name, is->plan->studies[c.study].name, i, values, file);
          }
      /* The two rows to compare with. */
      for (size_t i = 0; i < is->n_signals; i++) {
        const double alone[VALUES] = {
            signals[i].model_alone, NAN, signals[i].model_alone_settled, NAN, NAN, NAN, NAN,
            signals[i].largest,     NAN};
        const double noise[VALUES] = {sensor_noise(v, c, i), NAN, NAN, NAN, NAN, NAN, NAN,
                                      signals[i].largest,    NAN};
        c.filter = c.study = 0;
        write_row(v, &c, "model-alone", "", i, alone, file);
        write_row(v, &c, "sensor-noise", "", i, noise, file);
      }
    }
  }
  return cli_finish(file, path, diag);
}

/* ---- the command ---- */

typedef struct bar {
  cli_progress progress;
  size_t n_runs;
} bar;

static void show_progress(void *user, size_t done)
{
  bar *b = user;
  cli_progress_update(&b->progress, (double)done / (double)b->n_runs, "%zu of %zu runs", done, b->n_runs);
}

static size_t count_failures(const view *v)
{
  size_t failed = 0;
  for (size_t i = 0; i < v->is->n_runs; i++) failed += v->is->runs[i].failure != NULL;
  return failed;
}

/* ---- the page ---- */

/* The errors of a signal in a scenario, of every filter and set, at the first rate. */
static bramah_status plot_errors(const view *v, bramah_sensor_study_case c, size_t signal,
                                 const char *const *labels)
{
  const bramah_sensor_study_layout *is = v->is;
  const bramah_plan_scenario *scenario = &is->scenarios[c.scenario];
  const double alone = is->signals[c.scenario * is->n_signals + signal].model_alone,
               noise = sensor_noise(v, c, signal);
  char section[256];
  size_t plot, n = 0;
  snprintf(section, sizeof section, "Scenario %s%s%.200s", scenario->name, scenario->title ? ": " : "",
           scenario->title ? scenario->title : "");
  const bramah_report_plot look = {.section = section,
                                   .text = "Errors of the sensor sets, root mean squares in % of the largest "
                                           "magnitude, mean over the seeds, at the first rate.",
                                   .title = is->plan->signals[signal].name,
                                   .unit = "%",
                                   .factor = 1.0,
                                   .logarithmic = 1,
                                   .axis = BRAMAH_REPORT_LAG,
                                   .names = {"RMSE", "sensor noise", NULL, "model alone"},
                                   .n_labels = is->n_filters * is->n_studies,
                                   .labels = labels};
  bramah_status status = bramah_report_add(v->page, &look, &plot);
  for (c.filter = 0; c.filter < is->n_filters; c.filter++)
    for (c.study = 0; !status && c.study < is->n_studies; c.study++) {
      const double at = (double)++n;
      status = bramah_report_point(v->page, plot, BRAMAH_REPORT_ESTIMATE, at,
                                   mean_of(v, &c, signal, BRAMAH_METRIC_RMSE), NAN, NAN);
      if (!status) status = bramah_report_point(v->page, plot, BRAMAH_REPORT_MODEL, at, alone, NAN, NAN);
      if (!status) status = bramah_report_point(v->page, plot, BRAMAH_REPORT_TRUTH, at, noise, NAN, NAN);
    }
  return status;
}

/* Which set is best, by how much, and whether what its filter says of itself can be relied on. */
static bramah_status answer(const view *v, size_t failed)
{
  const bramah_sensor_study_layout *is = v->is;
  const bramah_sensor_study_case best = best_set(v, 0);
  bramah_sensor_study_case a = best, second = best;
  double next = (double)INFINITY, inside = 0.0, banded = 0.0;
  size_t smaller = 0, n = 0;
  for (a.study = 0; a.study < is->n_studies; a.study++) {
    const bramah_sensor_study_ratio r =
        bramah_sensor_study_compare(v->study, BRAMAH_METRIC_RMSE, all, &a, &best);
    if (a.study == best.study || !(r.mean < next)) continue;
    next = r.mean, second = a, smaller = r.n - r.smaller, n = r.n;
  }
  bramah_sensor_study_case c = best;
  for (c.scenario = 0; c.scenario < is->n_scenarios; c.scenario++)
    for (c.rate = 0; c.rate < is->n_rates; c.rate++)
      for (size_t i = 0; i < is->n_signals; i++) {
        const double share = mean_of(v, &c, i, BRAMAH_METRIC_INSIDE);
        if (isnan(share)) continue;
        inside += share;
        banded += 1.0;
      }
  const double share = banded > 0.0 ? inside / banded : (double)NAN;
  const char *name = is->plan->studies[best.study].name;
  char headline[256], reason[768], advice[256];
  const int narrow = share < 0.9;
  /* A few per cent over so many cases are no difference. */
  if (is->n_studies == 1)
    snprintf(headline, sizeof headline, "The errors of %.100s", name);
  else if (next < 1.05)
    snprintf(headline, sizeof headline, "%.100s and %.100s have the smallest errors, about the same", name,
             is->plan->studies[second.study].name);
  else
    snprintf(headline, sizeof headline, "%.100s has the smallest errors", name);
  size_t used = 0;
  reason[0] = '\0';
  if (isfinite(next))
    used = (size_t)snprintf(
        reason, sizeof reason,
        "Through the filter %s the errors of %s, the next one, are %.3g times as large (geometric "
        "mean); those of %s are the smaller ones in %zu of %zu cases. ",
        is->filters[0].name, is->plan->studies[second.study].name, next, name, smaller, n);
  if (banded > 0.0)
    snprintf(reason + used, sizeof reason - used,
             "Its truth lies within 1.96 σ for %.3g %% of the time; 95 %% are expected.", 100.0 * share);
  if (failed)
    snprintf(advice, sizeof advice, "%zu of %zu runs failed and are in no mean: look at why first.", failed,
             is->n_runs);
  else
    snprintf(advice, sizeof advice,
             "Use the errors, not the standard deviations: the filter is surer of itself than it may be.");
  const bramah_report_answer said = {.level = failed == is->n_runs ? BRAMAH_REPORT_WRONG
                                              : failed || narrow   ? BRAMAH_REPORT_UNSURE
                                                                   : BRAMAH_REPORT_FINE,
                                     .headline = failed == is->n_runs ? "All runs failed" : headline,
                                     .reason = reason,
                                     .advice = failed || narrow ? advice : NULL,
                                     .begin = NAN,
                                     .end = NAN};
  return bramah_report_say(v->page, &said);
}

static bramah_status write_page(view *v, const char *path, size_t failed, bramah_diag *diag)
{
  const bramah_sensor_study_layout *is = v->is;
  const size_t n = is->n_filters * is->n_studies;
  char(*label)[128] = calloc(n + 1, sizeof *label), runs[96];
  const char **labels = calloc(n + 1, sizeof *labels);
  bramah_status status = label && labels ? v->paged : BRAMAH_E_MEMORY;
  for (size_t i = 0; !status && i < n; i++) {
    const char *filter = is->filters[i / is->n_studies].name,
               *set = is->plan->studies[i % is->n_studies].name;
    snprintf(label[i], sizeof label[i], is->n_filters > 1 ? "%.60s, %.60s" : "%.60s", set, filter);
    labels[i] = label[i];
  }
  snprintf(runs, sizeof runs, "%zu of %.9g s in steps of %.9g s", is->n_runs,
           cli_seconds((int64_t)(is->rows - 1) * is->step_ns), cli_seconds(is->step_ns));
  if (!status) status = answer(v, failed);
  if (!status) status = bramah_report_note(v->page, "plan", is->plan->file);
  if (!status) status = bramah_report_note(v->page, "runs", runs);
  bramah_sensor_study_case c = {0};
  for (c.scenario = 0; c.scenario < is->n_scenarios; c.scenario++)
    for (size_t i = 0; !status && i < is->n_signals; i++) status = plot_errors(v, c, i, labels);
  free(label);
  free(labels);
  if (status) return cli_fail(diag, status, path, 0, NULL, "the report cannot be completed");
  return bramah_report_write(v->page, BRAMAH_REPORT_PAGE, path, diag);
}

static bramah_status print_results(view *v, const char *output, const char *report, bramah_diag *diag)
{
  const bramah_sensor_study_layout *is = v->is;
  FILE *out = cli_summary_stream(1, &output);
  fprintf(out, "plan: %s (%s)\n", is->plan->name, is->plan->file);
  fprintf(out, "%zu runs of %.9g s in steps of %.9g s\n", is->n_runs,
          cli_seconds((int64_t)(is->rows - 1) * is->step_ns), cli_seconds(is->step_ns));
  bramah_sensor_study_case c = {0};
  for (c.scenario = 0; c.scenario < is->n_scenarios; c.scenario++)
    for (c.rate = 0; c.rate < is->n_rates; c.rate++) print_errors(v, c, out);
  fprintf(out,
          "\ninside: share of time the truth lies within 1.96 sigma, mean over the signals with a sigma; "
          "NIS per degree of freedom; verdict: of a replay of the first seed's log\n");
  print_doubts(v, out);
  print_comparisons(v, out);
  if (is->n_filters * is->n_rates * is->n_studies > 1)
    fprintf(out, "\nratios: geometric means over all cases, that is scenarios, studies, rates and signals; "
                 "smaller in: cases in which the error is the smaller one\n");
  const size_t failed = count_failures(v);
  size_t printed = 0;
  if (failed) fprintf(out, "\n%zu of %zu runs failed and are in no mean:\n", failed, is->n_runs);
  for (size_t i = 0; i < is->n_runs && printed < MOST_LINES; i++) {
    const bramah_sensor_study_case run = is->runs[i].at;
    if (!is->runs[i].failure) continue;
    fprintf(out, "  scenario %s, filter %s, study %s, %.6g Hz, seed %zu: %s\n",
            is->scenarios[run.scenario].name, is->filters[run.filter].name, is->plan->studies[run.study].name,
            is->rates[run.rate], run.seed + 1, is->runs[i].failure);
    printed++;
  }
  if (failed > printed) fprintf(out, "  and %zu more\n", failed - printed);

  bramah_status status = output ? write_csv(v, output, diag) : BRAMAH_OK;
  if (output && !status) fprintf(out, "\ntable: %s\n", output);
  if (!status && report) status = write_page(v, report, failed, diag);
  if (!status && report) fprintf(out, "%sreport: %s\n", output ? "" : "\n", report);
  return status;
}

static int run(const cli_arguments *arguments)
{
  const char *output = cli_value(arguments, "output"), *report = cli_value(arguments, "report");
  uint64_t seeds = 0, threads = cli_processors();
  bramah_sensor_study_options options;
  view v = {0};
  bramah_diag diag;
  int code = cli_count_value(arguments, "seeds", 1, &seeds);
  if (!code) code = cli_count_value(arguments, "threads", 1, &threads);
  if (code) return code;
  const char **scenarios = calloc((size_t)arguments->n_given + 1, sizeof *scenarios);
  if (!scenarios) return CLI_FAILED;
  bramah_sensor_study_options_default(&options);
  for (const char *name; (name = cli_value_again(arguments, "scenario", options.n_scenarios));)
    scenarios[options.n_scenarios++] = name;
  options.scenarios = scenarios;
  options.seeds = (size_t)seeds;
  bramah_status status = bramah_sensor_study_open(arguments->operands[0], &options, &diag, &v.study);
  if (!status) {
    v.is = bramah_sensor_study_about(v.study);
    const char *const inputs[] = {v.is->plan->file, v.is->plan->machine_file};
    status = cli_check_output(output, 2, inputs, &diag);
    if (!status) status = cli_check_output(report, 1, &output, &diag);
    if (!status) status = cli_check_output(report, 2, inputs, &diag);
    if (!status) status = cli_check_place(report, &diag);
    if (!status && report) status = bramah_report_new(v.is->plan->name, &diag, &v.page);
  }
  for (size_t i = 0; !status && i < v.is->n_studies; i++) {
    const char *const inputs[] = {v.is->studies[i]->file, v.is->studies[i]->machine_file};
    status = cli_check_output(output, 2, inputs, &diag);
  }

  /* The runs. */
  for (size_t i = 0; !status && i < v.is->n_rates; i++)
    if (v.is->rates[i] > 0.0 && fabs(v.is->sampled[i] - v.is->rates[i]) > 1e-6 * v.is->sampled[i])
      cli_note("rate %.9g Hz: sampled at %.9g Hz instead, the nearest that the step allows", v.is->rates[i],
               v.is->sampled[i]);
  if (!status) {
    bar b = {.progress = cli_progress_begin(), .n_runs = v.is->n_runs};
    status =
        bramah_sensor_study_run(v.study, threads < 1024 ? (size_t)threads : 1024, show_progress, &b, &diag);
    cli_progress_end(&b.progress);
  }
  if (!status) status = print_results(&v, output, report, &diag);
  code = status ? cli_report(&diag) : count_failures(&v) == v.is->n_runs ? CLI_FAILED : CLI_OK;
  bramah_report_free(v.page);
  bramah_sensor_study_free(v.study);
  free(scenarios);
  return code;
}

static const cli_option options[] = {
    {"output", "FILE", "a row per case and signal, CSV; - is standard output", 0, 0},
    {"report", "FILE", "HTML page with plots and tables", 0, 0},
    {"seeds", "N", "noises per case instead of the plan's number", 0, 0},
    {"scenario", "NAME", "only this scenario of the plan", 0, 1},
    {"threads", "N", "default: one per processor", 0, 0},
    {0}};

const cli_command cli_study = {
    .name = "study",
    .operands = "PLAN",
    .summary = "Compare sensor sets, rates and filters by simulating a plan",
    .details =
        "Simulates the truth once for every scenario of the plan, adds the noise of every seed to what the\n"
        "sensors would have measured, and runs every filter of every study at every rate over it. Prints "
        "the\n"
        "errors, root mean squares in % of the largest magnitude of the truth, mean over the seeds; then\n"
        "compares sensor sets, rates and filters by ratios of these errors. Runs that fail are counted and\n"
        "named. In runs of 2 s and more the log of the first seed is replayed as `replay` does, for its "
        "verdict.\n"
        " The result does not depend on the number of threads.\n",
    .example = "bramah study estimator-study.yaml --seeds 5 --output table.csv",
    .min_operands = 1,
    .max_operands = 1,
    .options = options,
    .run = run};
