/* SPDX-License-Identifier: MIT */
/* The noise of one step by columns: what the user states (stated_noise.h), through the resolvent where the
 * plant has it; augmented states and noisy parameters. */
#include "estimators/filter_internal.h"

#include <math.h>
#include <string.h>

/* White noise on accelerations through the resolvent, which gives positions h^3/4; the h^3/12 that it misses
 * of their h^3/3 follows. */
static void resolvent_accelerations(bramah_filter *f, double h)
{
  const size_t nf = f->nf, nx = nf + f->np;
  for (size_t b = 0; b < nf; b++)
    for (size_t r = 0; r < f->ne; r++) {
      double sum = 0.0;
      for (size_t k = 0; k < nf; k++) sum += f->N[r * nx + k] * f->stated.B_inverse[k * nf + b];
      f->Gamma[r * f->nq + 2 * b] = sqrt(h) * sum * f->stated.acceleration[b];
      if (r < nf)
        f->Gamma[r * f->nq + 2 * b + 1] =
            sqrt(h * h * h / 12.0) * f->stated.B_inverse[r * nf + b] * f->stated.acceleration[b];
    }
}

static void resolvent_pressures(bramah_filter *f, double h)
{
  const size_t nf = f->nf, nx = nf + f->np;
  for (size_t i = 0; i < f->np; i++)
    for (size_t r = 0; r < f->ne; r++)
      f->Gamma[r * f->nq + 2 * nf + i] = sqrt(h) * f->stated.pressure[i] * f->N[r * nx + nf + i];
}

static void augmented_columns(bramah_filter *f, size_t column)
{
  for (size_t i = 0; i < f->n_augmented; i++) {
    const bramah__augmented *own = &f->own[i];
    double *row = f->Gamma + own->state * f->nq;
    row[column++] = own->noise[0];
    if (f->augmented[i].order != 2) continue;
    row[f->nq + column - 1] = own->noise[1];
    row[f->nq + column++] = own->noise[2];
  }
  for (size_t j = 0; j < f->n_par_noise; j++, column++) {
    const size_t par = f->n_par - f->n_par_noise + j;
    for (size_t r = 0; r < f->ne; r++)
      f->Gamma[r * f->nq + column] =
          f->G[r * f->n_par + par] * f->par_noise[j] / sqrt(bramah__step_seconds(f));
  }
}

void bramah__fill_noise(bramah_filter *f)
{
  const double h = bramah__step_seconds(f);
  memset(f->Gamma, 0, f->n * f->nq * sizeof(double));
  if (f->resolvent) {
    resolvent_accelerations(f, h);
    resolvent_pressures(f, h);
  } else {
    bramah__stated_noise_columns(&f->stated, h, f->nq, f->Gamma);
  }
  augmented_columns(f, 2 * f->nf + f->np);
}
