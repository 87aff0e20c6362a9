/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The backward pass: what it keeps of each step, and the smoothed estimates one after the other. */
#include "lib/assess/assess_internal.h"

#include <math.h>

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

bramah_status bramah__smooth_begin(bramah_assess *a, bramah_diag *diag)
{
  const int64_t span = a->options.smooth_to_ns - a->totals.last_ns, ahead = span > 0 ? span : 0;
  const size_t capacity = (size_t)(ahead / a->plant->step_ns) + 3; /* first, last, rounding to the grid */
  a->totals.smooth_bytes = bramah_smoother_size(a->filter, capacity);
  if (a->totals.smooth_bytes > a->options.smooth_memory)
    return bramah__failf(
        diag, BRAMAH_E_MEMORY, NULL, 0, "backward pass",
        "%zu steps would take %.0f MB, more than the %.0f MB allowed: replay the log in parts", capacity,
        1e-6 * (double)a->totals.smooth_bytes, 1e-6 * (double)a->options.smooth_memory);
  bramah_status status = bramah_smoother_new(a->filter, capacity, diag, &a->smoother);
  if (!status) status = bramah_smoother_corrected(a->smoother, a->filter, diag);
  const bramah_watcher watcher = {a->smoother, predicted, corrected, restored};
  if (!status) bramah_replay_watch(a->replay, &watcher);
  a->smooth_from_ns = a->totals.last_ns;
  return status;
}

bramah_status bramah_assess_smooth(bramah_assess *a, bramah_diag *diag)
{
  bramah_diag_clear(diag);
  if (!a->smoother || a->smoothing)
    return bramah__failf(
        diag, BRAMAH_E_ARGUMENT, NULL, 0, "backward pass",
        "there is nothing to smooth: no time was given up to which, or no estimate was made");
  bramah__estimate_augmented(a); /* showing smoothed steps moves the filter */
  a->smoothing = 1;
  for (size_t i = 0; i < a->plant->n_output; i++) a->alone[i] = NAN;
  bramah_status status = bramah_smoother_run(a->smoother, diag);
  if (status || !a->rows) return status;
  bramah__truth_close(a->rows);
  a->rows = NULL;
  return bramah__truth_open(a->options.truth, diag, &a->rows);
}

bramah_status bramah_assess_smooth_next(bramah_assess *a, int *end, bramah_diag *diag)
{
  const size_t k = a->totals.smooth_steps, n = bramah_filter_n_error(a->filter);
  int matched;
  bramah_diag_clear(diag);
  *end = !a->smoothing || k >= bramah_smoother_count(a->smoother) || k >= a->totals.estimates;
  if (*end) return BRAMAH_OK;
  bramah_status status = bramah_smoother_show(a->smoother, k, diag);
  if (status) return status;

  /* Step k into the estimate: outputs, then unknown commands, which are shown as outputs too. */
  for (size_t c = 0; c < a->n_outputs; c++) {
    const size_t i = a->outputs[c].output;
    a->value[i] = a->plant->output(a->plant->self, i);
    if (a->outputs[c].has_sigma) a->sigma[i] = bramah_smoother_output_sigma(a->smoother, i);
  }
  const double *d = bramah_smoother_correction(a->smoother, k);
  const double *P = bramah_smoother_covariance(a->smoother, k);
  size_t state = bramah_plant_n_error(a->plant);
  for (size_t j = 0; j < a->n_augmented; j++) {
    const size_t i = a->shown_as[j];
    if (i != a->plant->n_output) {
      a->value[i] = bramah_filter_augmented_value(a->filter, j) + d[state];
      a->sigma[i] = sqrt(P[state * n + state]);
    }
    state += bramah_filter_augmented(a->filter, j)->order == 2 ? 2 : 1;
  }

  a->taken = 1;
  a->estimate.time_ns =
      a->smooth_from_ns + bramah_smoother_time_ns(a->smoother, k) - bramah_smoother_time_ns(a->smoother, 0);
  if (a->rows) status = bramah__accuracy_seek(a, a->estimate.time_ns, &matched, diag);
  if (status) return status;
  if (a->rows) bramah__accuracy_smoothed(a);
  a->totals.smooth_steps++;
  return BRAMAH_OK;
}
