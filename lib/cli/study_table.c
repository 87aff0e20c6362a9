/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/cli/study_table.h"
#include "lib/cli/message.h"
#include "lib/cli/table.h"

#include <errno.h>
#include <math.h>
#include <string.h>

enum { MOST_FAILURES = 10 };

/* ---- tables ---- */

/* Mean over the signals that have a sigma. */
static double mean_inside(const cli_lab *lab, const cli_lab_place *p)
{
  double sum = 0.0;
  size_t n = 0;
  for (size_t i = 0; i < lab->n_signals; i++) {
    const double inside = cli_lab_average(lab, p, i, CLI_INSIDE).mean;
    if (isnan(inside)) continue;
    sum += inside;
    n++;
  }
  return n ? sum / (double)n : (double)NAN;
}

static void add_short(cli_table *table, double value)
{
  if (isfinite(value))
    cli_table_add(table, "%.3g", value);
  else
    cli_table_add(table, "%s", "");
}

static void add_row(const cli_lab *lab, const cli_lab_place *p, cli_table *table)
{
  cli_table_add(table, "%s", lab->filters[p->filter].name);
  cli_table_add(table, "%s", lab->plan->studies[p->study].name);
  for (size_t i = 0; i < lab->n_signals; i++) add_short(table, cli_lab_average(lab, p, i, CLI_RMSE).mean);
  add_short(table, mean_inside(lab, p));
  add_short(table, cli_lab_average(lab, p, 0, CLI_NIS).mean);
}

static void add_model_alone(const cli_lab *lab, size_t scenario, cli_table *table)
{
  cli_table_add(table, "%s", "model alone");
  cli_table_add(table, "%s", "");
  for (size_t i = 0; i < lab->n_signals; i++) add_short(table, lab->truth[scenario].alone[2 * i]);
  add_short(table, NAN);
  add_short(table, NAN);
}

/* Of the first study with a sensor for this signal. */
static double sensor_noise(const cli_lab *lab, cli_lab_place p, size_t signal)
{
  for (p.study = 0, p.filter = 0; p.study < lab->n_studies; p.study++) {
    const double noise = cli_lab_average(lab, &p, signal, CLI_NOISE).mean;
    if (!isnan(noise)) return noise;
  }
  return NAN;
}

static void add_sensor_noise(const cli_lab *lab, const cli_lab_place *p, cli_table *table)
{
  cli_table_add(table, "%s", "sensor noise");
  cli_table_add(table, "%s", "");
  for (size_t i = 0; i < lab->n_signals; i++) add_short(table, sensor_noise(lab, *p, i));
  add_short(table, NAN);
  add_short(table, NAN);
}

static void title_of(const cli_lab *lab, const cli_lab_place *p, char *out, size_t size)
{
  const bramah_plan_scenario *scenario = &lab->scenarios[p->scenario];
  char rate[64] = "rates of the studies", title[160] = "";
  if (lab->rates[p->rate] > 0.0) snprintf(rate, sizeof rate, "%.6g Hz", lab->rates[p->rate]);
  if (scenario->title) snprintf(title, sizeof title, " (%s)", scenario->title);
  snprintf(out, size, "scenario %s%s, %s: RMSE in %% of the largest magnitude, mean of %zu seed%s",
           scenario->name, title, rate, lab->n_seeds, lab->n_seeds == 1 ? "" : "s");
}

static void print_table(const cli_lab *lab, cli_lab_place p, FILE *out)
{
  const char *header[CLI_TABLE_COLUMNS] = {"filter", "study"};
  char title[400], align[CLI_TABLE_COLUMNS + 1] = "ll";
  size_t n = 2;
  for (size_t i = 0; i < lab->n_signals; i++) header[n++] = lab->plan->signals[i].name;
  header[n++] = "inside";
  header[n++] = "NIS";
  memset(align + 2, 'r', n - 2);
  title_of(lab, &p, title, sizeof title);
  cli_table table = cli_table_make(title, align, header);
  for (p.filter = 0; p.filter < lab->n_filters; p.filter++)
    for (p.study = 0; p.study < lab->n_studies; p.study++) add_row(lab, &p, &table);
  add_model_alone(lab, p.scenario, &table);
  add_sensor_noise(lab, &p, &table);
  cli_table_print(&table, out);
  cli_table_free(&table);
}

void cli_study_print_tables(const cli_lab *lab, FILE *out)
{
  cli_lab_place p = {0};
  for (p.scenario = 0; p.scenario < lab->n_scenarios; p.scenario++)
    for (p.rate = 0; p.rate < lab->n_rates; p.rate++) print_table(lab, p, out);
  fprintf(out,
          "\ninside: share of time the truth lies within 1.96 sigma, mean over the signals with a sigma; "
          "NIS per degree of freedom\n");
}

void cli_study_print_failures(const cli_lab *lab, size_t failed, FILE *out)
{
  if (!failed) return;
  size_t told = 0;
  fprintf(out, "\n%zu of %zu runs failed and are in no mean:\n", failed, lab->n_runs);
  for (size_t i = 0; i < lab->n_runs && told < MOST_FAILURES; i++) {
    const cli_lab_place p = cli_lab_place_of(lab, i);
    if (!lab->runs[i].status) continue;
    fprintf(out, "  scenario %s, filter %s, study %s, %.6g Hz, seed %zu: %s\n",
            lab->scenarios[p.scenario].name, lab->filters[p.filter].name, lab->plan->studies[p.study].name,
            lab->rates[p.rate], p.seed + 1, lab->runs[i].why);
    told++;
  }
  if (failed > told) fprintf(out, "  and %zu more\n", failed - told);
}

/* ---- CSV ---- */

/* An empty cell where there is no figure. */
static void write_number(FILE *file, double value, int digits)
{
  fputc(',', file);
  if (isfinite(value)) fprintf(file, "%.*g", digits, value);
}

static void write_mean(const cli_lab *lab, const cli_lab_place *p, size_t signal, cli_figure figure,
                       FILE *file)
{
  const cli_lab_mean m = cli_lab_average(lab, p, signal, figure);
  write_number(file, m.mean, 6);
  if (figure == CLI_RMSE || figure == CLI_SETTLED) write_number(file, m.error, 3);
}

static void write_names(const cli_lab *lab, const cli_lab_place *p, const char *filter, const char *study,
                        size_t signal, FILE *file)
{
  fprintf(file, "%s,%s,%s", lab->scenarios[p->scenario].name, filter, study);
  write_number(file, lab->rates[p->rate] > 0.0 ? lab->rates[p->rate] : (double)NAN, 9);
  fprintf(file, ",%s", lab->plan->signals[signal].name);
}

static void write_cell(const cli_lab *lab, const cli_lab_place *p, size_t signal, FILE *file)
{
  const size_t n = cli_lab_average(lab, p, signal, CLI_RMSE).n;
  write_names(lab, p, lab->filters[p->filter].name, lab->plan->studies[p->study].name, signal, file);
  fprintf(file, ",%zu,%zu", n, lab->n_seeds - n);
  for (int figure = CLI_RMSE; figure <= CLI_SAW_TOOTH; figure++)
    write_mean(lab, p, signal, (cli_figure)figure, file);
  write_mean(lab, p, signal, CLI_NIS, file);
  write_number(file, lab->truth[p->scenario].largest[signal], 9);
  fputc('\n', file);
}

/* The two rows to compare with; what they do not have stays empty. */
static void write_others(const cli_lab *lab, const cli_lab_place *p, size_t signal, FILE *file)
{
  const cli_lab_truth *truth = &lab->truth[p->scenario];
  write_names(lab, p, "model-alone", "", signal, file);
  fprintf(file, ",,");
  write_number(file, truth->alone[2 * signal], 6);
  fputc(',', file);
  write_number(file, truth->alone[2 * signal + 1], 6);
  fprintf(file, ",,,,");
  write_number(file, truth->largest[signal], 9);
  fputc('\n', file);
  write_names(lab, p, "sensor-noise", "", signal, file);
  fprintf(file, ",,");
  write_number(file, sensor_noise(lab, *p, signal), 6);
  fprintf(file, ",,,,,,");
  write_number(file, truth->largest[signal], 9);
  fputc('\n', file);
}

static void write_rows(const cli_lab *lab, cli_lab_place p, FILE *file)
{
  for (p.filter = 0; p.filter < lab->n_filters; p.filter++)
    for (p.study = 0; p.study < lab->n_studies; p.study++)
      for (size_t i = 0; i < lab->n_signals; i++) write_cell(lab, &p, i, file);
  for (size_t i = 0; i < lab->n_signals; i++) write_others(lab, &p, i, file);
}

bramah_status cli_study_write_csv(const cli_lab *lab, const char *path, bramah_diag *diag)
{
  const int own = strcmp(path, "-") != 0;
  FILE *file = own ? fopen(path, "w") : stdout;
  if (!file) return cli_fail(diag, BRAMAH_E_FILE, path, 0, NULL, "cannot be created: %s", strerror(errno));
  fprintf(file, "scenario,filter,study,rate[Hz],signal,seeds,failed,rmse[%%],rmse_error[%%],settled[%%],"
                "settled_error[%%],inside,saw_tooth,nis,largest\n");
  cli_lab_place p = {0};
  for (p.scenario = 0; p.scenario < lab->n_scenarios; p.scenario++)
    for (p.rate = 0; p.rate < lab->n_rates; p.rate++) write_rows(lab, p, file);
  const int bad = ferror(file) != 0, unclosed = own ? fclose(file) != 0 : fflush(file) != 0;
  return bad || unclosed ? cli_fail(diag, BRAMAH_E_FILE, path, 0, NULL, "cannot be written completely")
                         : BRAMAH_OK;
}
