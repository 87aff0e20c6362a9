/* SPDX-License-Identifier: MIT */
/* Samples off the step grid (out of sequence by less than one step), measured at t_k + theta h, |theta| <= 1.
 * Between the ends of a step h the prediction goes along a straight line.
 *
 * Before t_k (theta < 0) the line runs from the start of the last step to its end. The errors there are
 * correlated with the present ones e_k: with the gain G = P+_k-1 F' (P-_k)^-1 of the smoother
 *   E[e_k-1 | e_k] = G e_k,  cov(e_k-1 | e_k) = P+_k-1 - G P-_k G'
 * so that the sample is one of the present state with
 *   H = (1 + theta) H_k - theta H_k-1 G
 *   r = sigma^2 + theta^2 H_k-1 cov H_k-1' - theta (1 + theta) H_k Q H_k'
 * the last term that of a random walk which is known at both ends. It is what a filter would do that carries
 * the former state along (S. I. Roumeliotis, J. W. Burdick, "Stochastic cloning", ICRA 2002), for one step;
 * and what Y. Bar-Shalom, "Update with out-of-sequence measurements in tracking: exact solution", IEEE Trans.
 * AES 38 (2002), does for a lag of one step. Nothing is inverted but P-: stiff modes, which F makes small or
 * turns around, do no harm.
 *
 * After t_k (theta > 0) the coming step is taken to be like the last one: what moves by itself goes on as it
 * did, and the state's increment d of the last step goes on by F,
 *   y = h_k + theta (h_k - h_k-1 + H_k (F - I) d)
 *   H = H_k + theta (H_k F - H_k-1)
 *   r = sigma^2 + theta H_k Q H_k'
 * The noise of the coming step that is in the sample is taken for noise of the sensor: that it moves the
 * state too is not made use of. For a linear plant under a command that goes on this is exact.
 *
 * All of it is meant before any correction of this time. Once some have moved the state by dx the prediction
 * is moved by H dx, of which H_k dx is in h_k already. Two samples off the grid share process noise of the
 * plant; that they do is left out. */
#include "estimators/filter_internal.h"
#include "estimators/update.h"
#include "lib/base/diag.h"
#include "lib/math/dense.h"
#include "sensors/kinds.h"

#include <math.h>
#include <string.h>

static double dot(size_t n, const double *x, const double *y)
{
  double sum = 0.0;
  for (size_t i = 0; i < n; i++) sum += x[i] * y[i];
  return sum;
}

static double *start_row(const bramah_filter *f, size_t i) { return f->work.H_start + i * f->n; }

/* Rows of samples before the present time become H_k-1 G. Where P- is singular they stay: such samples are
 * then taken like those after it. */
static void smooth_rows(bramah_filter *f)
{
  const size_t n = f->n;
  const double *P = bramah__parts_of(f, f->snapshot.previous_step).P;
  double *FP = f->work.wide, *L = f->work.square, *c = f->work.fuse, *PH = c + n;
  bramah__multiply(n, n, n, f->F, P, FP);
  bramah__multiply_transposed(n, n, n, FP, f->F, L);
  bramah__add_outer(n, f->nq, f->Gamma, L);
  if (bramah__cholesky_factor(n, L)) return;
  for (size_t i = 0; i < f->n_sensors; i++) {
    bramah__oosm *b = &f->oosm[i];
    double *row = start_row(f, i);
    if (!(b->theta < 0.0)) continue;
    bramah__apply(n, n, FP, row, c);
    bramah__apply(n, n, P, row, PH);
    b->variance = dot(n, row, PH);
    memcpy(row, c, n * sizeof *row);
    bramah__cholesky_solve(n, L, row);
    b->variance = fmax(0.0, b->variance - dot(n, row, c));
    b->smoothed = 1;
  }
}

bramah_status bramah__oosm_prepare(bramah_filter *f, const unsigned char *present, const int64_t *offset_ns,
                                   bramah_diag *diag)
{
  int any = 0, any_before = 0;
  const int64_t step_ns = f->plant.step_ns;
  for (size_t i = 0; i < f->n_sensors; i++) f->oosm[i].theta = 0.0; /* without it nothing else counts */
  for (size_t i = 0; i < f->n_sensors && offset_ns; i++) {
    if (!present[i] || offset_ns[i] == 0) continue;
    if (offset_ns[i] < -step_ns || offset_ns[i] > step_ns)
      return bramah__fail(diag, BRAMAH_E_TIME, f->sensor[i].name,
                          "the sample was measured more than a step off the present time");
    f->oosm[i] = (bramah__oosm){0};
    if (f->progress.has_last) f->oosm[i].theta = (double)offset_ns[i] / (double)step_ns;
    any |= f->oosm[i].theta != 0.0;
    any_before |= f->oosm[i].theta < 0.0;
  }
  if (!any) return BRAMAH_OK;

  /* Rows and predictions at the start of the last step; the plant and the means are put there for the while. */
  const bramah__parts last = bramah__parts_of(f, f->snapshot.previous_step);
  double *const mean = f->mean;
  bramah_status status = BRAMAH_OK;
  f->plant.save(f->plant.self, f->work.snap);
  f->plant.restore(f->plant.self, last.plant);
  f->mean = last.mean;
  for (size_t i = 0; i < f->n_sensors && status == BRAMAH_OK; i++) {
    if (f->oosm[i].theta == 0.0) continue;
    status = bramah__row(f, i, start_row(f, i), diag);
    f->oosm[i].y = bramah__prediction(f, i);
  }
  bramah_plant_coordinates(&f->plant, f->work.coordinates);
  f->mean = mean;
  f->plant.restore(f->plant.self, f->work.snap);
  if (status == BRAMAH_OK && any_before) smooth_rows(f);
  return status;
}

void bramah__oosm_shift_row(bramah_filter *f, size_t i)
{
  bramah__oosm *b = &f->oosm[i];
  const size_t n = f->n;
  const double theta = b->theta, *from = start_row(f, i);
  double *H = f->H + i * n, *HF = f->work.fuse, *now = f->work.coordinates + f->n_plant;

  /* H Q H' of the share of a step, and the slope of the prediction */
  double noise = 0.0;
  for (size_t q = 0; q < f->nq; q++) {
    double column = 0.0;
    for (size_t k = 0; k < n; k++) column += H[k] * f->Gamma[k * f->nq + q];
    noise += column * column;
  }
  noise *= fabs(theta);
  double slope = bramah__sensor_innovation(&f->sensor[i], bramah__prediction(f, i), b->y);
  slope -= dot(n, H, f->accumulated_correction);

  /* what the row changes by over a step */
  if (b->smoothed) {
    f->r[i] += theta * theta * b->variance + (1.0 + theta) * noise;
    for (size_t k = 0; k < n; k++) f->work.term[k] = H[k] - from[k];
  } else if (f->progress.rebased) { /* F and H_k-1 are of other coordinates */
    f->r[i] += noise;
    memset(f->work.term, 0, n * sizeof(double));
  } else {
    f->r[i] += noise;
    bramah__apply_transposed(n, n, f->F, H, HF);
    if (bramah_plant_coordinates(&f->plant, now)) { /* + (H F - H) d */
      double sum = 0.0;
      for (size_t k = 0; k < f->n_plant; k++) now[k] -= f->accumulated_correction[k];
      bramah__plant_subtract(&f->plant, now, f->work.coordinates, now);
      for (size_t k = 0; k < f->n_plant; k++) sum += (HF[k] - H[k]) * now[k];
      slope += sum;
    }
    for (size_t k = 0; k < n; k++) f->work.term[k] = HF[k] - from[k];
  }

  b->prediction_offset = theta * (slope + dot(n, f->work.term, f->accumulated_correction));
  for (size_t k = 0; k < n; k++) H[k] += theta * f->work.term[k];
}
