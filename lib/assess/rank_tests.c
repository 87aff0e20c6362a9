/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests by ranks with p-values by permutation: they hold for any distribution and for few values. Permutations are
 * GSL's; its rank correlation does not share ranks out among ties, and it has no Friedman. */
#include "bramah/work_cycles.h"
#include "lib/io/fail.h"
#include "lib/logs/logs.h"
#include "lib/math/elementary.h"

#include <gsl/gsl_sort.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PERMUTATIONS = 9999 };

/* Ranks from 1 of x [n], the mean of theirs for equal values; work [n]. */
static void ranks_of(size_t n, const double *x, double *rank, double *work)
{
  memcpy(work, x, n * sizeof *work);
  gsl_sort(work, 1, n);
  for (size_t i = 0; i < n; i++) {
    size_t below = 0, equal = 0;
    for (size_t k = 0; k < n && work[k] <= x[i]; k++) work[k] < x[i] ? below++ : equal++;
    rank[i] = (double)below + 0.5 * (double)(equal + 1);
  }
}

static bramah_status check_finite(size_t n, const double *x, bramah_diag *diag)
{
  for (size_t i = 0; i < n; i++)
    if (!isfinite(x[i]))
      return bramah__failf(diag, BRAMAH_E_NOT_FINITE, NULL, 0, NULL, "value %zu is not finite", i + 1);
  return BRAMAH_OK;
}

/* The statistic of `ranks`, of which `permute` makes another arrangement that is as likely where nothing differs. */
typedef struct arrangement {
  size_t n, k;   /* rows, columns */
  double *ranks; /* [n x k] */
  const double *other;
  double scale, shift;
} arrangement;

/* Friedman: the squares of the columns' rank sums. Spearman: products with the other ranks. */
static double statistic_of(const arrangement *a)
{
  double sum = 0.0;
  for (size_t i = 0; a->other && i < a->n; i++) sum += a->ranks[i] * a->other[i];
  for (size_t j = 0; !a->other && j < a->k; j++) {
    double column = 0.0;
    for (size_t i = 0; i < a->n; i++) column += a->ranks[i * a->k + j];
    sum += column * column;
  }
  return (sum - a->shift) * a->scale;
}

/* p = (1 + permutations as far out as what was found) / (1 + permutations): never too small, however few they are. */
static bramah_status permute(arrangement *a, uint64_t seed, bramah_rank_test *out, bramah_diag *diag)
{
  double *values = malloc(PERMUTATIONS * sizeof *values);
  bramah_noise *noise = NULL;
  bramah_status status =
      values ? bramah_noise_new(seed, "permutations", diag, &noise) : bramah__fail_memory(diag);
  if (status) return free(values), status;
  const double found = fabs(out->statistic) * (1.0 - 1e-12);
  const size_t row = a->other ? a->n : a->k, rows = a->other ? 1 : a->n;
  size_t beyond = 0;
  for (size_t i = 0; i < PERMUTATIONS; i++) {
    for (size_t r = 0; r < rows; r++) bramah__noise_shuffle(noise, row, a->ranks + r * row);
    values[i] = fabs(statistic_of(a));
    beyond += values[i] >= found;
  }
  gsl_sort(values, 1, PERMUTATIONS);
  /* Of more permutations: Wilson's interval of a share. GSL's inverse of the beta distribution may end the process. */
  const double m = PERMUTATIONS, u2 = 1.959963984540054 * 1.959963984540054, share = (double)beyond / m,
               middle = (share + 0.5 * u2 / m) / (1.0 + u2 / m),
               half = sqrt(u2 * (share * (1.0 - share) + 0.25 * u2 / m) / m) / (1.0 + u2 / m);
  out->p = (1.0 + (double)beyond) / (1.0 + m);
  out->p_low = fmax(0.0, middle - half);
  out->p_high = fmin(1.0, middle + half);
  /* The smallest value that is rare enough, with all that are equal to it; there may be none. */
  out->critical = (double)INFINITY;
  for (size_t i = PERMUTATIONS; i-- > 0 && (double)(PERMUTATIONS - i + 1) < 0.05 * (1.0 + m);)
    if (i == 0 || values[i - 1] < values[i] * (1.0 - 1e-12)) out->critical = values[i];
  bramah_noise_free(noise);
  free(values);
  return BRAMAH_OK;
}

bramah_status bramah_friedman(size_t n, size_t k, const double *values, uint64_t seed, bramah_rank_test *out,
                              bramah_diag *diag)
{
  if (n < 2 || k < 2)
    return bramah__failf(diag, BRAMAH_E_VALUE, NULL, 0, NULL, "Friedman's test needs two blocks of two");
  bramah_status status = check_finite(n * k, values, diag);
  if (status) return status;
  arrangement a = {.n = n, .k = k, .ranks = malloc((n * k + k) * sizeof *a.ranks)};
  if (!a.ranks) return bramah__fail_memory(diag);
  const double mean = 0.5 * (double)(k + 1), blocks = (double)n, treatments = (double)k;
  double squares = 0.0; /* of the ranks about their mean: n k (k^2 - 1) / 12 without ties */
  for (size_t i = 0; i < n; i++) ranks_of(k, values + i * k, a.ranks + i * k, a.ranks + n * k);
  for (size_t i = 0; i < n * k; i++) squares += (a.ranks[i] - mean) * (a.ranks[i] - mean);
  a.shift = treatments * blocks * mean * blocks * mean;
  a.scale = squares > 0.0 ? (treatments - 1.0) / squares : 0.0;
  bramah_rank_test test = {.n = n, .low = (double)NAN, .high = (double)NAN, .detectable = (double)NAN};
  test.statistic = statistic_of(&a);
  test.effect = test.statistic / (blocks * (treatments - 1.0));
  if (squares > 0.0)
    status = permute(&a, seed, &test, diag);
  else
    status = bramah__failf(diag, BRAMAH_E_VALUE, NULL, 0, NULL, "all values of each block are equal");
  free(a.ranks);
  if (!status) *out = test;
  return status;
}

bramah_status bramah_spearman(size_t n, const double *x, const double *y, uint64_t seed,
                              bramah_rank_test *out, bramah_diag *diag)
{
  if (n < 4)
    return bramah__failf(diag, BRAMAH_E_VALUE, NULL, 0, NULL, "a correlation needs four pairs at least");
  bramah_status status = check_finite(n, x, diag);
  if (!status) status = check_finite(n, y, diag);
  if (status) return status;
  double *ranks = malloc(3 * n * sizeof *ranks), squares[2] = {0.0, 0.0};
  if (!ranks) return bramah__fail_memory(diag);
  const double mean = 0.5 * (double)(n + 1), pairs = (double)n;
  ranks_of(n, x, ranks, ranks + 2 * n);
  ranks_of(n, y, ranks + n, ranks + 2 * n);
  for (size_t i = 0; i < 2 * n; i++) squares[i / n] += (ranks[i] - mean) * (ranks[i] - mean);
  arrangement a = {.n = n, .k = 1, .ranks = ranks, .other = ranks + n, .shift = pairs * mean * mean};
  bramah_rank_test test = {.n = n};
  if (squares[0] > 0.0 && squares[1] > 0.0) {
    a.scale = 1.0 / sqrt(squares[0] * squares[1]);
    test.statistic = test.effect = fmax(-1.0, fmin(1.0, statistic_of(&a)));
    status = permute(&a, seed, &test, diag);
  } else {
    status = bramah__failf(diag, BRAMAH_E_VALUE, NULL, 0, NULL, "all values of one of the two are equal");
  }
  /* Fisher's z; its variance for ranks by Bonett and Wright (2000), of no correlation by Fieller and others (1957). Of ranks
   * in full agreement z is not finite: it is that of the nearest agreement but one, two neighbours exchanged. */
  const double rho = test.effect, most = 1.0 - 12.0 / (pairs * (pairs * pairs - 1.0)),
               r = fmax(-most, fmin(most, rho)), z = 0.5 * bramah__log((1.0 + r) / (1.0 - r)),
               u = 1.959963984540054, half = u * sqrt((1.0 + 0.5 * r * r) / (pairs - 3.0)),
               power = (u + 0.8416212335729143) * sqrt(1.06 / (pairs - 3.0));
  test.low = rho <= -most ? -1.0 : bramah__tanh(z - half);
  test.high = rho >= most ? 1.0 : bramah__tanh(z + half);
  test.detectable = bramah__tanh(power);
  free(ranks);
  if (!status) *out = test;
  return status;
}
