/* SPDX-License-Identifier: MIT */
/* Modes of linear equations. */
#include "lib/linear/balanced.h"
#include "lib/base/diag.h"
#include "lib/math/spectral.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

bramah_status bramah__analysis_memory(bramah_diag *diag)
{
  return bramah__fail(diag, BRAMAH_E_MEMORY, "analysis", "out of memory");
}

int bramah__all_finite(size_t n, const double *x)
{
  for (size_t i = 0; i < n; i++)
    if (!isfinite(x[i])) return 0;
  return 1;
}

/* Which row of a matrix is not finite, by name where there is one. */
static bramah_status check_rows(size_t rows, size_t columns, const double *M, const char *const *names,
                                const char *matrix, const char *message, bramah_diag *diag)
{
  for (size_t i = 0; i < rows && M; i++)
    if (!bramah__all_finite(columns, M + i * columns))
      return bramah__fail(diag, BRAMAH_E_NOT_FINITE, names ? names[i] : matrix, message);
  return BRAMAH_OK;
}

static const char of_rate[] = "the derivative of its rate is not finite";

bramah_status bramah__check_inputs(const bramah_linear_system *s, bramah_diag *diag)
{
  return check_rows(s->n, s->n_u, s->B, s->x_name, "B", of_rate, diag);
}

bramah_status bramah__check_outputs(const bramah_linear_system *s, bramah_diag *diag)
{
  return check_rows(s->n_y, s->n, s->C, s->y_name, "C", "its derivative is not finite", diag);
}

bramah_status bramah__balanced_make(const bramah_linear_system *system, bramah__balanced *out,
                                    bramah_diag *diag)
{
  const size_t n = system->n;
  *out = (bramah__balanced){.n = n};
  const bramah_status status = check_rows(n, n, system->A, system->x_name, "A", of_rate, diag);
  if (status != BRAMAH_OK) return status;
  out->A = malloc((n * n + 1) * sizeof *out->A);
  out->scale = malloc((n + 1) * sizeof *out->scale);
  if (!out->A || !out->scale) return bramah__analysis_memory(diag);
  if (n) memcpy(out->A, system->A, n * n * sizeof *out->A);
  bramah__balance(n, out->A, out->scale);
  double sum = 0.0;
  for (size_t i = 0; i < n * n; i++) sum += out->A[i] * out->A[i];
  out->norm = sqrt(sum);
  return BRAMAH_OK;
}

void bramah__balanced_free(bramah__balanced *balanced)
{
  free(balanced->A);
  free(balanced->scale);
}

/* Eigenvalues with what can be said about them. Rounding moves an eigenvalue by about eps |A| / c, c its
 * reciprocal condition number; one of a Jordan block of two, whose c is of the size of sqrt(eps), by about
 * sqrt(eps) |A|. What lies within that of the imaginary axis counts as marginal. */

/* Below it two eigenvectors count as one: a Jordan block comes out with about 1e-8. */
static const double defective_below = 1e-6;

typedef struct store {
  bramah_modes modes; /* first: what the caller holds */
  bramah_mode *mode;
  double *vectors; /* [n_modes x 3 n] */
  double *wr, *wi, *L, *R, *condition, *work;
  int *iwork;
  double norm;
} store;

/* Real and imaginary part of element i of vector k, of the eigenvalue with wi >= 0. */
static void element(const store *s, const double *V, size_t k, size_t i, double *re, double *im)
{
  const size_t n = s->modes.n;
  *re = V[k * n + i];
  *im = s->wi[k] > 0.0 ? V[(k + 1) * n + i] : 0.0;
}

static void fill_vectors(const store *s, const double *scale, size_t k, double *out)
{
  const size_t n = s->modes.n;
  double *re = out, *im = out + n, *participation = out + 2 * n, sum = 0.0;
  for (size_t i = 0; i < n; i++) {
    double l_re, l_im;
    element(s, s->L, k, i, &l_re, &l_im);
    element(s, s->R, k, i, &re[i], &im[i]);
    participation[i] = hypot(l_re, l_im) * hypot(re[i], im[i]);
    sum += participation[i];
    re[i] *= scale[i];
    im[i] *= scale[i];
  }
  for (size_t i = 0; i < n && sum > 0.0; i++) participation[i] /= sum;
}

/* Some other eigenvalue lies as near as rounding would put the second of a block. */
static int has_twin(const store *s, size_t k)
{
  const double reach = 2.0 * sqrt((double)s->modes.n * DBL_EPSILON) * s->norm;
  for (size_t j = 0; j < s->modes.n; j++)
    if (j != k && hypot(s->wr[j] - s->wr[k], s->wi[j] - s->wi[k]) <= reach) return 1;
  return 0;
}

static void fill_mode(const store *s, size_t k, bramah_mode *mode)
{
  const double size = hypot(s->wr[k], s->wi[k]);
  *mode = (bramah_mode){.re = s->wr[k], .im = s->wi[k], .pair = s->wi[k] > 0.0};
  mode->frequency = mode->pair ? size / (2.0 * 3.14159265358979323846) : 0.0;
  mode->damping = size > 0.0 ? 0.0 - mode->re / size : 0.0; /* no -0 */
  mode->condition = s->condition[k];
  const double little = (double)s->modes.n * DBL_EPSILON;
  mode->error = fmin(little * s->norm / fmax(s->condition[k], DBL_MIN), sqrt(little) * s->norm);
  mode->stability = fabs(mode->re) <= mode->error ? BRAMAH_MARGINAL
                    : mode->re < 0.0              ? BRAMAH_STABLE
                                                  : BRAMAH_UNSTABLE;
  mode->defective = mode->condition < defective_below && has_twin(s, k);
}

static int slower(const void *a, const void *b)
{
  const bramah_mode *x = a, *y = b;
  const double p = hypot(x->re, x->im), q = hypot(y->re, y->im);
  return (p > q) - (p < q);
}

static void collect(store *s, const double *scale)
{
  const size_t n = s->modes.n;
  for (size_t k = 0; k < n; k++) {
    if (s->wi[k] < 0.0) continue;
    double *vectors = s->vectors + s->modes.n_modes * 3 * n;
    fill_vectors(s, scale, k, vectors);
    bramah_mode *mode = &s->mode[s->modes.n_modes++];
    fill_mode(s, k, mode);
    mode->shape_re = vectors;
    mode->shape_im = vectors + n;
    mode->participation = vectors + 2 * n;
  }
  qsort(s->mode, s->modes.n_modes, sizeof *s->mode, slower);
  s->modes.mode = s->mode;
  bramah_modes *m = &s->modes;
  for (size_t k = 0; k < m->n_modes; k++) {
    const bramah_mode *sorted = &s->mode[k];
    const size_t count = sorted->pair ? 2 : 1;
    m->n_unstable += sorted->stability == BRAMAH_UNSTABLE ? count : 0;
    m->n_marginal += sorted->stability == BRAMAH_MARGINAL ? count : 0;
    m->n_defective += sorted->defective ? count : 0;
    const bramah_stability grows =
        sorted->stability == BRAMAH_MARGINAL && sorted->defective ? BRAMAH_UNSTABLE : sorted->stability;
    if (grows > m->stability) m->stability = grows;
  }
}

static bramah_status take(store *s, size_t n, bramah_diag *diag)
{
  s->modes.n = n;
  s->mode = calloc(n + 1, sizeof *s->mode);
  s->vectors = calloc(3 * n * n + 1, sizeof *s->vectors);
  s->wr = calloc(3 * n + 2 * n * n + bramah__eigen_work(n) + 1, sizeof *s->wr);
  s->iwork = calloc(bramah__eigen_iwork(n) + 1, sizeof *s->iwork);
  if (!s->mode || !s->vectors || !s->wr || !s->iwork) return bramah__analysis_memory(diag);
  s->wi = s->wr + n;
  s->condition = s->wi + n;
  s->L = s->condition + n;
  s->R = s->L + n * n;
  s->work = s->R + n * n;
  return BRAMAH_OK;
}

bramah_status bramah_modes_new(const bramah_linear_system *system, bramah_diag *diag, bramah_modes **out)
{
  bramah__balanced z;
  store *s = calloc(1, sizeof *s);
  *out = NULL;
  bramah_status status = bramah__balanced_make(system, &z, diag);
  if (status == BRAMAH_OK) status = s ? take(s, system->n, diag) : bramah__analysis_memory(diag);
  if (status == BRAMAH_OK &&
      bramah__eigen(z.n, z.A, s->wr, s->wi, s->L, s->R, s->condition, &s->norm, s->work, s->iwork))
    status = bramah__fail(diag, BRAMAH_E_SINGULAR, "modes", "the iteration for the eigenvalues failed");
  if (status == BRAMAH_OK) collect(s, z.scale);
  bramah__balanced_free(&z);
  if (status == BRAMAH_OK) {
    free(s->wr);
    free(s->iwork);
    s->wr = NULL;
    s->iwork = NULL;
    *out = &s->modes;
  } else if (s) {
    bramah_modes_free(&s->modes);
  }
  return status;
}

void bramah_modes_free(bramah_modes *modes)
{
  store *s = (store *)(void *)modes;
  if (!s) return;
  free(s->mode);
  free(s->vectors);
  free(s->wr);
  free(s->iwork);
  free(s);
}

bramah_status bramah_modes_energies(const bramah_modes *modes, const bramah_model *model,
                                    bramah_linearization *l, bramah_coupled *plant, double *share,
                                    bramah_diag *diag)
{
  const size_t n_bodies = bramah_model_n_joints(model),
               n = n_bodies + bramah_linearization_system(l)->n_pressure;
  double *energy = calloc(n + 1, sizeof *energy);
  bramah_status status = energy ? BRAMAH_OK : bramah__analysis_memory(diag);
  memset(share, 0, modes->n_modes * n * sizeof *share);
  for (size_t k = 0; k < modes->n_modes && status == BRAMAH_OK; k++, share += n) {
    const double *const parts[2] = {modes->mode[k].shape_re, modes->mode[k].shape_im};
    double sum = 0.0;
    for (int part = 0; part < 2 && status == BRAMAH_OK; part++) {
      status = bramah_linearization_energies(l, plant, parts[part], energy, energy + n_bodies, diag);
      for (size_t i = 0; i < n; i++) share[i] += energy[i];
    }
    for (size_t i = 0; i < n; i++) sum += share[i];
    for (size_t i = 0; i < n && sum > 0.0; i++) share[i] /= sum;
  }
  free(energy);
  return status;
}

void bramah_response_frequencies(const bramah_modes *modes, size_t n, double *w)
{
  double low = (double)INFINITY, high = 0.0;
  for (size_t k = 0; k < modes->n_modes; k++) {
    const double size = hypot(modes->mode[k].re, modes->mode[k].im);
    if (size > 10.0 * modes->mode[k].error) low = fmin(low, size);
    high = fmax(high, size);
  }
  if (!(low <= high)) low = high = 1.0; /* nothing but marginal modes at zero */
  low *= 0.1;
  high *= 10.0;
  for (size_t k = 0; k < n; k++) w[k] = low * pow(high / low, (double)k / (double)(n - 1));
}
