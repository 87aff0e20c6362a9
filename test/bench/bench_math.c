/* SPDX-License-Identifier: MIT */
/* What the loops of lib/math/dense.c cost, and what BLAS and LAPACK would on one thread: nanoseconds per call, by
 * size. */
#define _GNU_SOURCE
#include "lib/math/dense.h"
#include "lib/math/lapack.h"
#include "test/bench/bench.h"
#include "test/support/four_bar.h"

#include <stdio.h>
#include <string.h>

enum { LARGEST = 200 };
static double A[LARGEST * LARGEST], B[LARGEST * LARGEST], C[LARGEST * LARGEST], sink;

static void own_product(int n) { bramah__multiply((size_t)n, (size_t)n, (size_t)n, A, B, C); }

static void blas_product(int n)
{
  const double one = 1.0, zero = 0.0;
  dgemm_("N", "N", &n, &n, &n, &one, A, &n, B, &n, &zero, C, &n);
}

static void own_lu(int n)
{
  int pivot[LARGEST];
  memcpy(C, A, (size_t)(n * n) * sizeof(double));
  bramah__lu_factor((size_t)n, C, pivot);
}

static void lapack_lu(int n)
{
  int pivot[LARGEST], info;
  memcpy(C, A, (size_t)(n * n) * sizeof(double));
  dgetrf_(&n, &n, C, &n, pivot, &info);
}

int main(void)
{
  static void (*const bodies[])(int) = {own_product, blas_product, own_lu, lapack_lu};
  static const int sizes[] = {2, 5, 12, 20, 32, 64, 100, 200};
  unsigned seed = 1;
  bench_print_machine();
  for (int i = 0; i < LARGEST * LARGEST; i++) A[i] = test_uniform(&seed), B[i] = test_uniform(&seed);
  printf("%4s %14s %14s %14s %14s\n", "n", "product own ns", "dgemm ns", "LU own ns", "dgetrf ns");
  for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
    const int n = sizes[i], times = 2000000 / (n * n * n + 20) + 100;
    printf("%4d", n);
    for (size_t b = 0; b < sizeof bodies / sizeof bodies[0]; b++) {
      const double t = bench_now();
      for (int k = 0; k < times; k++) {
        bodies[b](n);
        sink += C[0];
      }
      printf(" %14.0f", (bench_now() - t) / times * 1e9);
    }
    putchar('\n');
  }
  return sink == 0.5;
}
