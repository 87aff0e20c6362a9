/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/cli/tune_judge.h"
#include "bramah/assess.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- criteria ---- */

static double sum_over(size_t n, double *const *figures, size_t place)
{
  double sum = 0.0;
  for (size_t k = 0; k < n; k++) sum += figures[k][place];
  return sum;
}

/* Pearson's phi^2 of the bins from even ones; what chance alone makes of it is taken off, so that more
 * samples do not look better. */
static double distance_of(size_t n, double *const *figures, size_t place, size_t *counted)
{
  double total = 0.0, sum = 0.0;
  for (size_t b = 0; b < CLI_TUNE_BINS; b++) total += sum_over(n, figures, place + b);
  if (!(total > 0.0)) return 0.0;
  ++*counted;
  for (size_t b = 0; b < CLI_TUNE_BINS; b++) {
    const double off = sum_over(n, figures, place + b) / total - 1.0 / CLI_TUNE_BINS;
    sum += CLI_TUNE_BINS * off * off;
  }
  return sum;
}

static double distance(const cli_tune_lab *lab, size_t n, double *const *figures)
{
  size_t counted = 0;
  double sum = distance_of(n, figures, CLI_TUNE_JOINT, &counted);
  for (size_t i = 0; i < lab->n_sensors; i++)
    sum += distance_of(n, figures, cli_tune_place_sensor(i) + CLI_TUNE_OF_BINS, &counted);
  return counted ? sum / (double)counted : (double)NAN;
}

static double rmse(const cli_tune_lab *lab, size_t n, const size_t *logs, double *const *figures)
{
  double sum = 0.0;
  size_t counted = 0;
  for (size_t i = 0; i < lab->n_outputs; i++) {
    const size_t place = cli_tune_place_output(lab, i);
    const double number = sum_over(n, figures, place + 1);
    double largest = 0.0;
    for (size_t k = 0; k < n; k++)
      if (lab->logs[logs[k]].largest) largest = fmax(largest, lab->logs[logs[k]].largest[i]);
    if (!(number > 0.0) || !(largest > 0.0)) continue;
    sum += sum_over(n, figures, place) / number / (largest * largest);
    counted++;
  }
  return counted ? sqrt(sum / (double)counted) : (double)NAN;
}

static double prediction(const cli_tune_lab *lab, size_t n, double *const *figures)
{
  double sum = 0.0;
  size_t counted = 0;
  for (size_t i = 0; lab->ahead && i < lab->n_sensors; i++) {
    const size_t place = cli_tune_place_sensor(i) + CLI_TUNE_OF_AHEAD;
    const double number = sum_over(n, figures, place + 1);
    if (!(number > 0.0)) continue;
    sum += sum_over(n, figures, place) / number /
           bramah_sensor_variance(&bramah_session_sensors(lab->session)[i]);
    counted++;
  }
  return counted ? sqrt(sum / (double)counted) : (double)NAN;
}

/* Of a replay that was given up: what it had cost so far, on top of what the limit was. */
static double cost_of(const double *f)
{
  const int stopped = (int)f[CLI_TUNE_STOPPED];
  return f[CLI_TUNE_COST + (stopped ? stopped - 1 : CLI_TUNE_CHECKS - 1)];
}

cli_tune_verdict cli_tune_judge(const cli_tune_lab *lab, size_t n, const size_t *logs, double *const *figures)
{
  cli_tune_verdict v = {.failed = lab->n_logs};
  for (size_t k = 0; k < n; k++) {
    const double *f = figures[k];
    if (f[CLI_TUNE_STATUS] != 0.0 && !v.status) {
      v.status = (bramah_status)(int)f[CLI_TUNE_STATUS];
      v.failed = logs[k];
    }
    v.stopped |= f[CLI_TUNE_STOPPED] > 0.0;
    v.cost += cost_of(f);
  }
  v.used = sum_over(n, figures, CLI_TUNE_USED);
  v.gated = sum_over(n, figures, CLI_TUNE_GATED);
  v.nis = sum_over(n, figures, CLI_TUNE_NIS) / sum_over(n, figures, CLI_TUNE_DOF);
  v.distance = distance(lab, n, figures);
  v.rmse = rmse(lab, n, logs, figures);
  v.prediction = prediction(lab, n, figures);
  return v;
}

int cli_tune_starved(const cli_tune_verdict *verdict)
{
  return !(verdict->used > 0.1 * (verdict->used + verdict->gated));
}

double cli_tune_criterion_value(const cli_tune_verdict *verdict, bramah_tune_criterion criterion)
{
  double value = verdict->cost;
  if (criterion == BRAMAH_TUNE_NIS) value = verdict->distance;
  if (criterion == BRAMAH_TUNE_RMSE) value = verdict->rmse;
  if (criterion == BRAMAH_TUNE_PREDICTION) value = verdict->prediction;
  return verdict->status || !(verdict->used > 0.0) || !isfinite(value) ? (double)INFINITY : value;
}

const char *cli_tune_criterion_name(bramah_tune_criterion criterion)
{
  static const char *const names[] = {"likelihood", "nis", "rmse", "prediction"};
  return names[criterion];
}

/* ---- sensors ---- */

/* The part of the variance that has no memory: what is left at lag zero above a parabola through the next
 * three lags. Of innovations that a much too sharp filter makes it is up to five times too large, of others
 * right; R. K. Mehra (IEEE Trans. Automatic Control 15, 1970) takes noise from correlations of innovations,
 * with a gain that stands still. */
static double white_variance(const cli_tune_colour *c, double variance)
{
  const double rest = 1.0 - (3.0 * c->lag[0] - 3.0 * c->lag[1] + c->lag[2]);
  return variance * fmin(fmax(rest, 1e-4), 5.0);
}

cli_tune_colour cli_tune_look_at_sensor(const cli_tune_lab *lab, size_t n, double *const *figures, size_t i)
{
  const size_t place = cli_tune_place_sensor(i);
  const double squares = sum_over(n, figures, place + CLI_TUNE_OF_NIS);
  cli_tune_colour c = {.n = sum_over(n, figures, place + CLI_TUNE_OF_N),
                       .gated = sum_over(n, figures, place + CLI_TUNE_OF_GATED),
                       .low = (double)NAN,
                       .high = (double)NAN,
                       .p = (double)NAN};
  bramah_diag diag;
  const double expected = bramah_nis_left_by_gate(bramah_session_study(lab->session)->gate[i]);
  c.nis = squares / c.n;
  if (!(c.n > CLI_TUNE_LAGS) || !(squares > 0.0)) return c;
  for (size_t l = 0; l < CLI_TUNE_LAGS; l++) {
    c.lag[l] = sum_over(n, figures, place + CLI_TUNE_OF_LAG + l) / squares;
    c.ljung_box += c.n * (c.n + 2.0) * c.lag[l] * c.lag[l] / (c.n - (double)l - 1.0);
  }
  c.p = bramah_chi_square_above(c.ljung_box, CLI_TUNE_LAGS);
  bramah_nis_band(c.n, 0.95, &c.low, &c.high, &diag);
  c.low *= expected;
  c.high *= expected;
  c.white_sigma = sqrt(white_variance(&c, sum_over(n, figures, place + CLI_TUNE_OF_SQUARES) / c.n));
  c.coloured = fabs(c.lag[0]) > fmax(0.1, 1.96 / sqrt(c.n));
  return c;
}

static const char *level(const cli_tune_colour *c)
{
  return c->nis > c->high ? "larger than assumed" : c->nis < c->low ? "smaller than assumed" : "consistent";
}

/* Beyond chance: Ljung and Box over all lags. */
static int is_faint(const cli_tune_colour *c) { return !c->coloured && c->p < 1e-3; }

static const char *colour(const cli_tune_colour *c)
{
  if (is_faint(c)) return ", faintly coloured";
  return !c->coloured      ? ", white"
         : c->lag[0] > 0.0 ? ", remains coloured: something is not modelled"
                           : ", anticorrelated: less plant noise would do";
}

size_t cli_tune_warn_coloured(const cli_tune_lab *lab, size_t n, double *const *after,
                              void (*say)(void *user, const char *line), void *user)
{
  size_t count = 0;
  for (size_t i = 0; i < lab->n_sensors; i++) {
    size_t coloured = 0, faint = 0;
    double most = 0.0;
    for (size_t k = 0; k < n; k++) {
      const cli_tune_colour c = cli_tune_look_at_sensor(lab, 1, after + k, i);
      coloured += (size_t)c.coloured;
      faint += (size_t)is_faint(&c);
      if (fabs(c.lag[0]) > fabs(most)) most = c.lag[0];
    }
    if (!coloured && !faint) continue;
    char line[512];
    snprintf(line, sizeof line,
             "%s: its innovations remain %scoloured in %zu of %zu logs (correlation of neighbours up to "
             "%.2f); noise cannot "
             "cure what the model lacks there",
             bramah_session_sensors(lab->session)[i].name, coloured ? "" : "faintly ", coloured + faint, n,
             most);
    say(user, line);
    count++;
  }
  return count;
}

static void add_sensor(cli_table *table, const cli_tune_lab *lab, size_t log, size_t i, double *before,
                       double *after)
{
  const cli_tune_colour was = cli_tune_look_at_sensor(lab, 1, &before, i),
                        is = cli_tune_look_at_sensor(lab, 1, &after, i);
  const char *path = lab->logs[log].path, *slash = strrchr(path, '/');
  cli_table_add(table, "%s", slash ? slash + 1 : path);
  cli_table_add(table, "%s", bramah_session_sensors(lab->session)[i].name);
  cli_table_add_number(table, was.nis);
  cli_table_add_number(table, was.lag[0]);
  cli_table_add_number(table, is.nis);
  cli_table_add(table, "%.4f to %.4f", is.low, is.high);
  cli_table_add_number(table, is.lag[0]);
  cli_table_add(table, "%s%s", is.n > 0.0 ? level(&is) : "no sample", is.n > 0.0 ? colour(&is) : "");
}

static void add_all(cli_table *table, const cli_tune_lab *lab, size_t log, const double *before,
                    const double *after)
{
  const char *path = lab->logs[log].path, *slash = strrchr(path, '/');
  cli_tune_colour is = {.nis = after[CLI_TUNE_NIS] / after[CLI_TUNE_DOF]};
  bramah_diag diag;
  cli_table_add(table, "%s", slash ? slash + 1 : path);
  cli_table_add(table, "all together");
  cli_table_add_number(table, before[CLI_TUNE_NIS] / before[CLI_TUNE_DOF]);
  cli_table_add(table, "%s", "");
  cli_table_add_number(table, is.nis);
  if (bramah_nis_band(after[CLI_TUNE_DOF], 0.95, &is.low, &is.high, &diag)) is.low = is.high = (double)NAN;
  double share = 0.0, n = 0.0;
  for (size_t i = 0; i < lab->n_sensors; i++) {
    const double of = after[cli_tune_place_sensor(i) + CLI_TUNE_OF_N];
    share += of * bramah_nis_left_by_gate(bramah_session_study(lab->session)->gate[i]);
    n += of;
  }
  is.low *= share / n;
  is.high *= share / n;
  cli_table_add(table, "%.4f to %.4f", is.low, is.high);
  cli_table_add(table, "%s", "");
  cli_table_add(table, "%s", level(&is));
}

cli_table cli_tune_consistency_table(const cli_tune_lab *lab, size_t n, const size_t *logs,
                                     double *const *before, double *const *after)
{
  static const char *const header[] = {"log",       "sensor",    "NIS before",  "lag 1 before",
                                       "NIS after", "95 % band", "lag 1 after", "verdict"};
  cli_table table = cli_table_make("Innovations before and after (NIS per degree of freedom: 1 is expected)",
                                   "llrrrrrl", header);
  for (size_t k = 0; k < n; k++) {
    for (size_t i = 0; i < lab->n_sensors; i++) add_sensor(&table, lab, logs[k], i, before[k], after[k]);
    add_all(&table, lab, logs[k], before[k], after[k]);
  }
  return table;
}
