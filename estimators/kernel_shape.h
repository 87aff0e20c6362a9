/* SPDX-License-Identifier: MIT */
/* What kernel.h is told of a filter. */
#ifndef BRAMAH_ESTIMATORS_KERNEL_SHAPE_H
#define BRAMAH_ESTIMATORS_KERNEL_SHAPE_H

#include <stddef.h>

/* An augmented state of order 1 or 2: the first of its places. */
typedef struct bramah__kernel_block {
  size_t state, order;
} bramah__kernel_block;

/* What of F [n x n] and Gamma [n x nq] may not be zero. */
typedef struct bramah__kernel_shape {
  size_t n, n_plant, nq;
  size_t n_acting, n_moving, n_noisy;
  const size_t *acting;               /* columns of F that rows of the plant have entries in, ascending */
  const bramah__kernel_block *moving; /* augmented states whose block of F is not the identity */
  const bramah__kernel_block *noisy;  /* and those with noise */
} bramah__kernel_shape;

#endif
