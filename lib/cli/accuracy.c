/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/cli/accuracy.h"
#include "lib/cli/study_names.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- against the truth ---- */

bramah_status cli_accuracy_init(cli_accuracy *accuracy, const bramah_session *session,
                                const cli_estimate *estimate, const cli_truth *truth, bramah_diag *diag)
{
  const bramah_plant *plant = estimate->plant;
  accuracy->compared = calloc(estimate->n_outputs + 1, sizeof *accuracy->compared);
  if (!accuracy->compared) return cli_fail(diag, BRAMAH_E_MEMORY, NULL, 0, NULL, "out of memory");
  for (size_t c = 0; c < estimate->n_outputs; c++) {
    const size_t i = estimate->outputs[c];
    bramah_output_info info;
    long column;
    if (!estimate->has_sigma[i]) continue;
    plant->output_info(plant->self, i, &info);
    const bramah_status status = cli_truth_find(truth, info.name, info.unit, &column, diag);
    if (status) return status;
    if (column < 0) continue;
    accuracy->compared[accuracy->n++] = (cli_compared){
        .output = i, .column = (size_t)column, .sensor = bramah_session_sensor_of_output(session, i)};
  }
  return BRAMAH_OK;
}

void cli_accuracy_free(cli_accuracy *accuracy) { free(accuracy->compared); }

/* An angle beside its truth: a spherical joint shows the same attitude with or without whole turns. */
static double beside(const bramah_plant *plant, size_t output, double truth, double value)
{
  static const double half_turn = 3.14159265358979323846;
  bramah_output_info info;
  plant->output_info(plant->self, output, &info);
  const int turns = info.kind == BRAMAH_OUTPUT_POSITION && strcmp(info.unit, "rad") == 0;
  return turns && fabs(value - truth) > half_turn ? truth + remainder(value - truth, 2.0 * half_turn) : value;
}

/* What is moved by a motion has no uncertainty, only rounding. */
static void judge(cli_compared *c, double error, double sigma)
{
  if (!(sigma > 1e-9 * c->estimate.max_truth)) return;
  c->judged++;
  c->within += fabs(error) <= 2.0 * 1.96 * sigma;
}

void cli_accuracy_add(cli_accuracy *accuracy, const cli_estimate *estimate, const cli_truth *truth,
                      const bramah_plant *model, const double *measured)
{
  for (size_t k = 0; k < accuracy->n; k++) {
    cli_compared *c = &accuracy->compared[k];
    const double t = cli_truth_value(truth, c->column);
    if (isnan(t)) continue;
    const double value = beside(estimate->plant, c->output, t, estimate->value[c->output]);
    bramah_rmse_add(&c->estimate, t, value, estimate->sigma[c->output]);
    judge(c, value - t, estimate->sigma[c->output]);
    if (model)
      bramah_rmse_add(&c->model, t, beside(model, c->output, t, model->output(model->self, c->output)), NAN);
    if (c->sensor >= 0 && !isnan(measured[c->sensor]))
      bramah_rmse_add(&c->measured, t, measured[c->sensor], NAN);
  }
}

cli_table cli_accuracy_table(const cli_accuracy *accuracy, const bramah_plant *plant)
{
  static const char *const header[] = {"output",       "unit",        "RMSE",      "% of max",
                                       "in ±1.96 σ %", "model alone", "raw sensor"};
  cli_table table = cli_table_make("Errors against the truth (RMSE; % of the largest magnitude of the truth)",
                                   "llrrrrr", header);
  for (size_t k = 0; k < accuracy->n; k++) {
    const cli_compared *c = &accuracy->compared[k];
    bramah_output_info info;
    plant->output_info(plant->self, c->output, &info);
    const cli_readable unit = cli_readable_unit(info.unit);
    cli_table_add(&table, "%s", info.name);
    cli_table_add(&table, "%s", unit.unit);
    cli_table_add_number(&table, unit.factor * bramah_rmse_value(&c->estimate));
    cli_table_add(&table, "%.3f", bramah_rmse_percent(&c->estimate));
    cli_table_add(&table, "%.1f", 100.0 * bramah_rmse_inside(&c->estimate));
    cli_table_add_number(&table, unit.factor * bramah_rmse_value(&c->model));
    cli_table_add_number(&table, unit.factor * bramah_rmse_value(&c->measured));
  }
  return table;
}

/* ---- innovations ---- */

bramah_status cli_consistency_init(cli_consistency *consistency, size_t n_sensors, const double *gate,
                                   bramah_diag *diag)
{
  consistency->n_sensors = n_sensors;
  consistency->gate = gate;
  consistency->sensor = calloc(n_sensors + 1, sizeof *consistency->sensor);
  if (consistency->sensor) return BRAMAH_OK;
  return cli_fail(diag, BRAMAH_E_MEMORY, NULL, 0, NULL, "out of memory");
}

void cli_consistency_free(cli_consistency *consistency) { free(consistency->sensor); }

static void count(cli_innovations *into, const bramah_innovation *innovation, double share)
{
  into->present++;
  into->gated += (uint64_t)(!innovation->accepted && !innovation->saturated);
  into->saturated += (uint64_t)(innovation->saturated != 0);
  if (innovation->accepted) into->share += share;
}

static void add_fused(cli_innovations *into, const bramah_innovation *innovation)
{
  const double nu = innovation->innovation / innovation->sigma;
  bramah_nis_add(&into->nis, innovation->nis, 1.0);
  into->products += nu * into->last;
  into->squares += nu * nu;
  into->last = nu;
}

double cli_innovations_lag(const cli_innovations *innovations)
{
  return innovations->squares > 0.0 ? innovations->products / innovations->squares : 0.0;
}

/* What a correlation says (of white ones it is within 1.96 / sqrt(n) 95 % of the time; less than a tenth is
 * nothing to speak of): what is not modelled pushes innovations the same way again and again; too much
 * plant noise makes the filter follow the noise of the sensor and take it back. */
static const char *colour(const cli_innovations *innovations)
{
  const double r = cli_innovations_lag(innovations), limit = fmax(0.1, 1.96 / sqrt(innovations->nis.dof));
  if (r > limit) return ", correlated: something is not modelled";
  return r < -limit ? ", anticorrelated: less plant noise would do" : "";
}

void cli_consistency_add(cli_consistency *consistency, const bramah_rewind_use *use)
{
  const double share = bramah_nis_left_by_gate(consistency->gate[use->sensor]);
  count(&consistency->sensor[use->sensor], &use->innovation, share);
  count(&consistency->all, &use->innovation, share);
  if (use->innovation.accepted) add_fused(&consistency->sensor[use->sensor], &use->innovation);
}

void cli_consistency_add_all(cli_consistency *consistency, const bramah_replay *replay)
{
  size_t dof;
  const double whole = bramah_replay_nis(replay, &dof);
  if (dof) bramah_nis_add(&consistency->all.nis, whole, (double)dof);
}

static int any_left_out(const cli_consistency *consistency)
{
  return consistency->all.gated + consistency->all.saturated > 0;
}

static void add_percent(cli_table *table, uint64_t part, uint64_t whole)
{
  cli_table_add(table, "%.3g", whole ? 100.0 * (double)part / (double)whole : 0.0);
}

static void add_verdict(cli_table *table, const char *name, const cli_innovations *innovations, int left_out)
{
  const bramah_nis *nis = &innovations->nis;
  const double mean = bramah_nis_mean(nis), expected = nis->dof > 0.0 ? innovations->share / nis->dof : 1.0;
  double low, high;
  bramah_diag diag;
  cli_table_add(table, "%s", name);
  cli_table_add(table, "%llu", (unsigned long long)llround(nis->dof));
  if (left_out) add_percent(table, innovations->gated, innovations->present);
  if (left_out) add_percent(table, innovations->saturated, innovations->present);
  if (!nis->n || bramah_nis_band(nis->dof, 0.95, &low, &high, &diag)) {
    for (int i = 0; i < 4; i++) cli_table_add(table, "%s", i < 3 ? "" : "no sample");
    return;
  }
  low *= expected;
  high *= expected;
  cli_table_add(table, "%.4f", mean);
  cli_table_add(table, "%.4f to %.4f", low, high);
  if (innovations->squares > 0.0)
    cli_table_add(table, "%.2f", cli_innovations_lag(innovations));
  else
    cli_table_add(table, "%s", "");
  cli_table_add(table, "%s%s",
                mean > high  ? "innovations larger than assumed"
                : mean < low ? "innovations smaller than assumed"
                             : "consistent",
                colour(innovations));
}

cli_table cli_consistency_table(const cli_consistency *consistency, const bramah_filter *filter)
{
  static const char *const header[] = {"sensor", "samples", "mean NIS", "95 % band", "lag 1", "verdict"};
  static const char *const long_header[] = {"sensor",   "samples",   "gated %", "at range %",
                                            "mean NIS", "95 % band", "lag 1",   "verdict"};
  const int left_out = any_left_out(consistency);
  cli_table table =
      left_out ? cli_table_make("Innovations of what was fused (NIS per degree of freedom)", "lrrrrrrl",
                                long_header)
               : cli_table_make("Innovations (NIS per degree of freedom: 1 is expected)", "lrrrrl", header);
  for (size_t i = 0; i < consistency->n_sensors; i++)
    add_verdict(&table, bramah_filter_sensor(filter, i)->name, &consistency->sensor[i], left_out);
  if (consistency->n_sensors > 1) add_verdict(&table, "all together", &consistency->all, left_out);
  return table;
}
