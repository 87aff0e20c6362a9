/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Estimates against the truth: errors of outputs, and of the whole state by the filter's own covariance. */
#include "lib/assess/assess_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bramah_status bramah__accuracy_init(bramah_assess *a, bramah_diag *diag)
{
  if (!a->options.truth) return BRAMAH_OK;
  a->accuracy = calloc(a->n_outputs + 1, sizeof *a->accuracy);
  a->column = calloc(a->plant->n_output + 1, sizeof *a->column);
  if (!a->accuracy || !a->column) return bramah__fail_memory(diag);
  bramah_status status = bramah__truth_open(a->options.truth, diag, &a->rows);
  for (size_t c = 0; !status && c < a->n_outputs; c++) {
    bramah_assess_output *out = &a->outputs[c];
    long *column = &a->column[out->output];
    *column = -1;
    if (out->has_sigma) status = bramah__truth_find(a->rows, out->name, out->unit, column, diag);
    out->has_truth = !status && *column >= 0;
    if (out->has_truth)
      a->accuracy[a->n_accuracies++] = (bramah__accuracy){
          .output = out->output, .name = out->name, .unit = out->unit, .sensor = out->sensor};
  }
  if (status) return status;

  const size_t n = bramah_plant_n_error(a->plant);
  a->error = calloc(2 * n + n * n + n * (n + 2) + 1, sizeof *a->error);
  a->state_column = calloc(n + 1, sizeof *a->state_column);
  if (!a->error || !a->state_column) return bramah__fail_memory(diag);
  if (!bramah_plant_coordinates(a->plant, a->error)) return BRAMAH_OK;
  a->state = calloc(n + 1, sizeof *a->state);
  return a->state ? BRAMAH_OK : bramah__fail_memory(diag);
}

bramah_status bramah__accuracy_seek(bramah_assess *a, int64_t time_ns, int *matched, bramah_diag *diag)
{
  const bramah_status status = bramah__truth_seek(a->rows, time_ns, a->plant->step_ns / 2, matched, diag);
  for (size_t c = 0; !status && c < a->n_outputs; c++) {
    const size_t i = a->outputs[c].output;
    if (a->outputs[c].has_truth) a->truth[i] = bramah__truth_value(a->rows, (size_t)a->column[i]);
  }
  return status;
}

/* Normalised errors of the whole state; 0 if the truth lacks one. Errors of spherical and floating joints are turns
 * about axes of the body, not those of the angles shown: such a state has no column. */
static int nees(bramah_assess *a, double *value)
{
  const bramah_plant *plant = a->plant;
  const size_t n = bramah_plant_n_error(plant), m = bramah_filter_n_error(a->filter);
  double *e = a->error, *x = e + n, *P = x + n, *work = P + n * n;
  const double *covariance = bramah_filter_covariance(a->filter);
  bramah_diag ignored;

  /* The columns of the coordinates that are independent now. */
  for (size_t i = 0; i < n; i++) {
    bramah_output_info info;
    const char *name = bramah_plant_state_name(plant, i);
    if (strcmp(name, a->state[i]) == 0) continue;
    snprintf(a->state[i], sizeof a->state[i], "%s", name);
    a->state_column[i] = -1;
    const long output = bramah_plant_find_output(plant, name);
    if (output < 0 || (i < plant->n_dof && plant->noise_row &&
                       plant->noise_row(plant->self, (size_t)output, work) == BRAMAH_OK))
      continue;
    bramah_plant_output_info(plant, (size_t)output, &info);
    if (bramah__truth_find(a->rows, name, info.unit, &a->state_column[i], &ignored)) a->state_column[i] = -1;
  }

  bramah_plant_coordinates(plant, x);
  for (size_t i = 0; i < n; i++) {
    if (a->state_column[i] < 0) return 0;
    e[i] = bramah__truth_value(a->rows, (size_t)a->state_column[i]) - x[i];
    if (isnan(e[i])) return 0;
    memcpy(P + i * n, covariance + i * m, n * sizeof *P);
  }
  return bramah__nees(n, e, P, work, value, &ignored) == BRAMAH_OK;
}

void bramah__accuracy_step(bramah_assess *a)
{
  for (size_t k = 0; k < a->n_accuracies; k++) {
    bramah__accuracy *c = &a->accuracy[k];
    const size_t i = c->output;
    const double truth = a->truth[i], sigma = a->sigma[i];
    if (isnan(truth)) continue;
    const double value = bramah__without_turns(a->plant, i, truth, a->value[i]);
    bramah__rmse_add(&c->estimate, truth, value, sigma);
    /* What is moved by a motion has no uncertainty, only rounding. */
    if (sigma > 1e-9 * c->estimate.max_truth) {
      c->judged++;
      c->within += fabs(value - truth) <= 2.0 * 1.96 * sigma;
    }
    if (a->model_runs)
      bramah__rmse_add(&c->model, truth, bramah__without_turns(&a->model, i, truth, a->alone[i]), NAN);
    if (c->sensor >= 0 && !isnan(a->measured[c->sensor]))
      bramah__rmse_add(&c->measured, truth, a->measured[c->sensor], NAN);
  }
  double value;
  if (a->state && nees(a, &value)) bramah__nis_add(&a->nees, value, (double)bramah_plant_n_error(a->plant));
}

void bramah__accuracy_smoothed(bramah_assess *a)
{
  for (size_t k = 0; k < a->n_accuracies; k++) {
    bramah__accuracy *c = &a->accuracy[k];
    const size_t i = c->output;
    if (isnan(a->truth[i])) continue;
    const double value = bramah__without_turns(a->plant, i, a->truth[i], a->value[i]);
    bramah__rmse_add(&c->smoothed, a->truth[i], value, a->sigma[i]);
  }
}
