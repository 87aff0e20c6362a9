/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/cli/smooth.h"
#include "lib/cli/output_files.h"

#include <math.h>
#include <stdlib.h>

/* ---- recording ---- */

static bramah_status predicted(void *user, bramah_filter *filter, bramah_diag *diag)
{
  return bramah_smoother_predicted(user, filter, diag);
}

static bramah_status corrected(void *user, bramah_filter *filter, bramah_diag *diag)
{
  return bramah_smoother_corrected(user, filter, diag);
}

static bramah_status restored(void *user, bramah_filter *filter, bramah_diag *diag)
{
  return bramah_smoother_restored(user, filter, diag);
}

bramah_status cli_smooth_open(cli_smooth *smooth, int64_t last_ns, const char *truth, bramah_replay *replay,
                              bramah_diag *diag)
{
  if (truth && !cli_is_regular(truth))
    return cli_fail(diag, BRAMAH_E_UNSUPPORTED, truth, 0, NULL,
                    "--smooth needs the truth as a file: it is read a second time");
  *smooth = (cli_smooth){.replay = replay, .truth = truth, .last_ns = last_ns};
  return BRAMAH_OK;
}

void cli_smooth_close(cli_smooth *smooth)
{
  bramah_diag ignored;
  if (smooth->file.writer) cli_estimate_file_finish(&smooth->file, &ignored);
  cli_accuracy_free(&smooth->accuracy);
  cli_truth_close(&smooth->truth_rows);
  bramah_smoother_free(smooth->smoother);
}

bramah_status cli_smooth_begin(cli_smooth *smooth, bramah_filter *filter, int64_t time_ns, uint64_t megabytes,
                               bramah_diag *diag)
{
  const int64_t step_ns = bramah_filter_plant(filter)->step_ns;
  const int64_t ahead = smooth->last_ns > time_ns ? (smooth->last_ns - time_ns) / step_ns : 0;
  const size_t capacity = (size_t)ahead + 3; /* the first, the last, and rounding to the grid */
  smooth->megabytes = 1e-6 * (double)bramah_smoother_size(filter, capacity);
  if (smooth->megabytes > (double)megabytes)
    return cli_fail(diag, BRAMAH_E_MEMORY, NULL, 0, "--smooth",
                    "%zu steps would take %.0f MB, more than the %llu MB allowed: allow more by "
                    "--smooth-memory, or replay the log in parts",
                    capacity, smooth->megabytes, (unsigned long long)megabytes);
  bramah_diag_clear(diag);
  bramah_status status = bramah_smoother_new(filter, capacity, diag, &smooth->smoother);
  if (!status) status = bramah_smoother_corrected(smooth->smoother, filter, diag);
  if (status) return status;
  smooth->first_ns = time_ns;
  const bramah_watcher watcher = {smooth->smoother, predicted, corrected, restored};
  bramah_replay_watch(smooth->replay, &watcher);
  return BRAMAH_OK;
}

/* ---- writing ---- */

/* Unknown commands: of these the plant has the filtered values. */
static void take_commands(const cli_smooth *smooth, cli_estimate *estimate, size_t step)
{
  const bramah_filter *filter = estimate->filter;
  const size_t n = bramah_filter_n_error(filter);
  const double *d = bramah_smoother_correction(smooth->smoother, step),
               *P = bramah_smoother_covariance(smooth->smoother, step);
  size_t state = bramah_plant_n_error(estimate->plant);
  for (size_t k = 0; k < bramah_filter_n_augmented(filter); k++) {
    const size_t i = estimate->shown_as[k];
    if (i != estimate->plant->n_output) {
      estimate->value[i] = bramah_filter_augmented_value(filter, k) + d[state];
      estimate->sigma[i] = sqrt(P[state * n + state]);
    }
    state += bramah_filter_augmented(filter, k)->order == 2 ? 2 : 1;
  }
}

/* The smoothed values of step k into the estimate. */
static bramah_status take(cli_smooth *smooth, cli_estimate *estimate, size_t k, bramah_diag *diag)
{
  const bramah_plant *plant = estimate->plant;
  const bramah_status status = bramah_smoother_show(smooth->smoother, k, diag);
  if (status) return status;
  for (size_t c = 0; c < estimate->n_outputs; c++) {
    const size_t i = estimate->outputs[c];
    estimate->value[i] = plant->output(plant->self, i);
    if (estimate->has_sigma[i]) estimate->sigma[i] = bramah_smoother_output_sigma(smooth->smoother, i);
  }
  take_commands(smooth, estimate, k);
  return BRAMAH_OK;
}

static bramah_status write_step(cli_smooth *smooth, cli_estimate *estimate, size_t k, int wanted,
                                bramah_diag *diag)
{
  const bramah_smoother *s = smooth->smoother;
  const int64_t time_ns = smooth->first_ns + bramah_smoother_time_ns(s, k) - bramah_smoother_time_ns(s, 0);
  bramah_status status = take(smooth, estimate, k, diag);
  if (!status && wanted) status = cli_estimate_file_row(&smooth->file, estimate, cli_seconds(time_ns), diag);
  if (status || !smooth->truth) return status;
  status = cli_truth_seek(&smooth->truth_rows, time_ns, estimate->plant->step_ns / 2, diag);
  if (!status) cli_accuracy_add(&smooth->accuracy, estimate, &smooth->truth_rows, NULL, NULL);
  return status;
}

static bramah_status open_files(cli_smooth *smooth, const char *path, const bramah_session *session,
                                const cli_estimate *estimate, bramah_diag *diag)
{
  bramah_status status = BRAMAH_OK;
  if (smooth->truth) status = cli_truth_open(&smooth->truth_rows, smooth->truth, diag);
  if (!status && smooth->truth)
    status = cli_accuracy_init(&smooth->accuracy, session, estimate, &smooth->truth_rows, diag);
  for (size_t i = 0; i < smooth->accuracy.n; i++) smooth->accuracy.compared[i].sensor = -1;
  return status ? status : cli_estimate_file_create(&smooth->file, path, estimate, 0, diag);
}

bramah_status cli_smooth_write(cli_smooth *smooth, const char *path, const bramah_session *session,
                               cli_estimate *estimate, uint64_t n_rows, uint64_t every, bramah_diag *diag)
{
  bramah_diag_clear(diag);
  if (!smooth->smoother) return BRAMAH_OK;
  bramah_status status = bramah_smoother_run(smooth->smoother, diag);
  if (!status) status = open_files(smooth, path, session, estimate, diag);
  const size_t count = bramah_smoother_count(smooth->smoother);
  for (size_t k = 0; !status && k < count && k < n_rows; k++) {
    status = write_step(smooth, estimate, k, k % every == 0, diag);
    if (!status) smooth->written++;
  }
  if (status || !smooth->file.writer) return status;
  return cli_estimate_file_finish(&smooth->file, diag);
}

/* ---- summary ---- */

cli_table cli_smooth_table(const cli_smooth *smooth, const cli_accuracy *filtered, const bramah_plant *plant)
{
  static const char *const header[] = {"output", "unit", "filtered", "smoothed", "% of max", "in ±1.96 σ %"};
  cli_table table = cli_table_make(
      "Smoothed: errors against the truth (RMSE; % and share are of the smoothed)", "llrrrr", header);
  for (size_t k = 0; k < smooth->accuracy.n && k < filtered->n; k++) {
    const cli_compared *c = &smooth->accuracy.compared[k];
    bramah_output_info info;
    plant->output_info(plant->self, c->output, &info);
    const cli_readable unit = cli_readable_unit(info.unit);
    cli_table_add(&table, "%s", info.name);
    cli_table_add(&table, "%s", unit.unit);
    cli_table_add_number(&table, unit.factor * bramah_rmse_value(&filtered->compared[k].estimate));
    cli_table_add_number(&table, unit.factor * bramah_rmse_value(&c->estimate));
    cli_table_add(&table, "%.3f", bramah_rmse_percent(&c->estimate));
    cli_table_add(&table, "%.1f", 100.0 * bramah_rmse_inside(&c->estimate));
  }
  return table;
}
