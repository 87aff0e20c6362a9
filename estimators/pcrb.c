/* SPDX-License-Identifier: MIT */
#include "bramah/pcrb.h"
#include "estimators/update.h"
#include "lib/base/arena.h"
#include "lib/base/diag.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

struct bramah_pcrb {
  size_t n;
  double *P, *before, *work; /* [n x n] */
  double *dx, *fuse_work;    /* [n], [2 n] */
  int own_memory;
};

static bramah_pcrb *layout(size_t n, bramah__arena *arena)
{
  bramah_pcrb *object = BRAMAH__TAKE(arena, bramah_pcrb, 1), counted = {0};
  bramah_pcrb *b = object ? object : &counted;
  b->n = n;
  b->P = BRAMAH__TAKE(arena, double, n *n);
  b->before = BRAMAH__TAKE(arena, double, n *n);
  b->work = BRAMAH__TAKE(arena, double, n *n);
  b->dx = BRAMAH__TAKE(arena, double, n);
  b->fuse_work = BRAMAH__TAKE(arena, double, 2 * n);
  return object;
}

size_t bramah_pcrb_size(size_t n)
{
  bramah__arena arena = bramah__arena_make(NULL, 0);
  layout(n, &arena);
  return arena.used;
}

/* Variances positive and finite, or P as it was. */
static bramah_status check(bramah_pcrb *b, bramah_diag *diag)
{
  const size_t bad = bramah__bad_variance(b->n, b->P);
  if (bad == b->n) return BRAMAH_OK;
  const int finite = isfinite(b->P[bad * b->n + bad]);
  memcpy(b->P, b->before, b->n * b->n * sizeof(double));
  return bramah__fail(diag, finite ? BRAMAH_E_NOT_SPD : BRAMAH_E_NOT_FINITE, "bound",
                      finite ? "a variance is not positive" : "a variance is not finite");
}

bramah_status bramah_pcrb_init(size_t n, const double *P0, void *mem, size_t size, bramah_diag *diag,
                               bramah_pcrb **out)
{
  if ((uintptr_t)mem % BRAMAH__ALIGN)
    return bramah__fail(diag, BRAMAH_E_ARGUMENT, "bound", "memory is not aligned to 64 bytes");
  bramah__arena arena = bramah__arena_make(mem, size);
  bramah_pcrb *b = mem ? layout(n, &arena) : NULL;
  if (!b || arena.overflow) return bramah__fail(diag, BRAMAH_E_ARGUMENT, "bound", "memory is too small");
  memcpy(b->P, P0, n * n * sizeof *P0);
  const bramah_status status = check(b, diag);
  if (status == BRAMAH_OK) *out = b;
  return status;
}

bramah_status bramah_pcrb_new(size_t n, const double *P0, bramah_diag *diag, bramah_pcrb **out)
{
  const size_t size = bramah_pcrb_size(n);
  void *mem = bramah__aligned_new(size);
  if (!mem) return bramah__fail(diag, BRAMAH_E_MEMORY, "bound", "out of memory");
  const bramah_status status = bramah_pcrb_init(n, P0, mem, size, diag, out);
  if (status == BRAMAH_OK)
    (*out)->own_memory = 1;
  else
    bramah__aligned_free(mem);
  return status;
}

void bramah_pcrb_free(bramah_pcrb *pcrb)
{
  if (pcrb && pcrb->own_memory) bramah__aligned_free(pcrb);
}

bramah_status bramah_pcrb_step(bramah_pcrb *pcrb, const double *F, const double *Q, bramah_diag *diag)
{
  const size_t n = pcrb->n;
  memcpy(pcrb->before, pcrb->P, n * n * sizeof(double));
  bramah__propagate(n, F, pcrb->P, pcrb->work);
  for (size_t i = 0; Q && i < n * n; i++) pcrb->P[i] += Q[i];
  return check(pcrb, diag);
}

bramah_status bramah_pcrb_measure(bramah_pcrb *pcrb, size_t m, const double *H, const double *sigma,
                                  bramah_diag *diag)
{
  const size_t n = pcrb->n;
  for (size_t i = 0; i < m; i++)
    if (!(sigma[i] > 0.0) || !isfinite(sigma[i]))
      return bramah__fail(diag, BRAMAH_E_VALUE, "bound", "a sensor's standard deviation must be positive");
  memcpy(pcrb->before, pcrb->P, n * n * sizeof(double));
  memset(pcrb->dx, 0, n * sizeof(double));
  for (size_t i = 0; i < m; i++) {
    if (bramah__fuse_scalar(n, H + i * n, 0.0, sigma[i] * sigma[i], pcrb->P, pcrb->dx, pcrb->fuse_work) == 0)
      continue;
    memcpy(pcrb->P, pcrb->before, n * n * sizeof(double));
    return bramah__fail(diag, BRAMAH_E_NOT_SPD, "bound", "the variance of a prediction is not positive");
  }
  return check(pcrb, diag);
}

const double *bramah_pcrb_covariance(const bramah_pcrb *pcrb) { return pcrb->P; }

double bramah_pcrb_sigma(const bramah_pcrb *pcrb, const double *row)
{
  return sqrt(bramah__variance(pcrb->n, row, pcrb->P));
}
