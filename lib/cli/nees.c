/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/cli/nees.h"
#include "lib/cli/message.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bramah_status cli_nees_init(cli_nees *nees, const cli_estimate *estimate, bramah_diag *diag)
{
  const size_t n = bramah_plant_n_error(estimate->plant);
  if (!estimate->plant->coordinates) return BRAMAH_OK;
  nees->name = calloc(n + 1, sizeof *nees->name);
  nees->column = calloc(n + 1, sizeof *nees->column);
  nees->e = calloc(2 * n + n * n + n * (n + 2) + 1, sizeof *nees->e);
  if (!nees->name || !nees->column || !nees->e)
    return cli_fail(diag, BRAMAH_E_MEMORY, NULL, 0, NULL, "out of memory");
  nees->n = n;
  nees->x = nees->e + n;
  nees->P = nees->x + n;
  nees->work = nees->P + n * n;
  return BRAMAH_OK;
}

void cli_nees_free(cli_nees *nees)
{
  free(nees->name);
  free(nees->column);
  free(nees->e);
}

/* Errors of spherical and floating joints are turns about axes of the body, not those of the angles shown. */
static int is_turn(const bramah_plant *plant, size_t output, double *row)
{
  return plant->noise_row && plant->noise_row(plant->self, output, row) == BRAMAH_OK;
}

/* The columns of the coordinates that are independent now. */
static void find_columns(cli_nees *nees, const bramah_plant *plant, const cli_truth *truth)
{
  for (size_t i = 0; i < nees->n; i++) {
    bramah_diag ignored;
    const char *name = bramah_plant_state_name(plant, i);
    if (strcmp(name, nees->name[i]) == 0) continue;
    snprintf(nees->name[i], CLI_STATE_NAME, "%s", name);
    nees->column[i] = -1;
    const long output = bramah_plant_find_output(plant, name);
    if (output < 0 || (i < plant->n_dof && is_turn(plant, (size_t)output, nees->work))) continue;
    bramah_output_info info;
    plant->output_info(plant->self, (size_t)output, &info);
    if (cli_truth_find(truth, name, info.unit, &nees->column[i], &ignored)) nees->column[i] = -1;
  }
}

/* 0 if the truth lacks one of them. */
static int take_errors(cli_nees *nees, const bramah_plant *plant, const cli_truth *truth)
{
  find_columns(nees, plant, truth);
  plant->coordinates(plant->self, nees->x);
  for (size_t i = 0; i < nees->n; i++) {
    if (nees->column[i] < 0) return 0;
    nees->e[i] = cli_truth_value(truth, (size_t)nees->column[i]) - nees->x[i];
    if (isnan(nees->e[i])) return 0;
  }
  return 1;
}

void cli_nees_add(cli_nees *nees, const cli_estimate *estimate, const cli_truth *truth)
{
  const size_t n = nees->n, m = bramah_filter_n_error(estimate->filter);
  const double *P = bramah_filter_covariance(estimate->filter);
  double value;
  bramah_diag ignored;
  if (!n) return;
  for (size_t i = 0; i < n; i++) memcpy(nees->P + i * n, P + i * m, n * sizeof *P);
  if (take_errors(nees, estimate->plant, truth) &&
      bramah_nees(n, nees->e, nees->P, nees->work, &value, &ignored) == BRAMAH_OK)
    bramah_nis_add(&nees->sum, value, (double)n);
  else
    nees->missing++;
}
