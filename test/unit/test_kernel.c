/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The filter's kernel: eight filters in lockstep against one alone, byte by byte; Joseph's formula; covariances that
 * stay positive under samples far more precise than their predictions. */
#include "estimators/update.h"
#include "lib/math/dense.h"
#include "test/support/four_bar.h"
#include "test/support/run.h"

#include <math.h>
#include <string.h>

#define BRAMAH__LANES 1
#define BRAMAH__KERNEL(name) alone_##name
#include "estimators/kernel.h"
#undef BRAMAH__LANES
#undef BRAMAH__KERNEL
#define BRAMAH__LANES 8
#define BRAMAH__KERNEL(name) lockstep_##name
#include "estimators/kernel.h"

/* Five states of the plant, two parameters, and of sensors an error of order 1, one of order 2 and one that moves. */
enum { N = 12, PLANT = 5, NQ = N + 2, M = 3, L = 8 };

static const size_t acting[] = {0, 1, 2, 3, 4, 5, 6};
static const bramah__kernel_block moving[] = {{7, 1}, {8, 2}}, noisy[] = {{5, 1}, {8, 2}, {11, 1}};
static const bramah__kernel_shape shape = {.n = N,
                                           .n_plant = PLANT,
                                           .nq = NQ,
                                           .n_acting = 7,
                                           .n_moving = 2,
                                           .n_noisy = 3,
                                           .acting = acting,
                                           .moving = moving,
                                           .noisy = noisy};

/* What one filter has in a cycle. */
typedef struct lane {
  double F[N * N], Gamma[N * NQ], P[N * N], H[M * N], r[M], y[M], dx[N];
  unsigned char held[N];
} lane;

/* Columns of the three rows that may have entries. */
static const size_t column[M][4] = {{0, 7}, {1, 3, 8, 9}, {2, 11}};
static const size_t count[M] = {2, 4, 2};

static void draw_step(lane *a, unsigned *seed)
{
  memset(a->F, 0, sizeof a->F);
  memset(a->Gamma, 0, sizeof a->Gamma);
  memset(a->H, 0, sizeof a->H);
  for (int r = 0; r < PLANT; r++) {
    for (int k = 0; k < 7; k++) a->F[r * N + k] = 0.4 * test_uniform(seed) + (r == k ? 0.5 : 0.0);
    for (int k = 0; k < PLANT; k++) a->Gamma[r * NQ + k] = 0.1 * test_uniform(seed);
    for (int k = N; k < NQ; k++) a->Gamma[r * NQ + k] = 0.1 * test_uniform(seed);
  }
  for (int k = PLANT; k < N; k++) a->F[k * N + k] = 1.0;
  a->F[7 * N + 7] = 0.9;
  a->F[8 * N + 8] = a->F[9 * N + 9] = 0.8;
  a->F[8 * N + 9] = -0.5, a->F[9 * N + 8] = 0.5;
  a->Gamma[5 * NQ + 5] = a->Gamma[11 * NQ + 11] = 0.1;
  a->Gamma[8 * NQ + 8] = 0.2, a->Gamma[9 * NQ + 8] = 0.05, a->Gamma[9 * NQ + 9] = 0.1;
  for (int s = 0; s < M; s++) {
    for (size_t k = 0; k < count[s]; k++) a->H[s * N + (int)column[s][k]] = test_uniform(seed);
    a->r[s] = s == 1 && test_uniform(seed) > 0.0 ? 1e-9 : 0.1; /* precise in some lanes */
    a->y[s] = test_uniform(seed);
  }
  for (int k = PLANT; k < N; k++) a->held[k] = test_uniform(seed) > 0.3;
  if (test_uniform(seed) > 0.7) memset(a->held, 0, sizeof a->held);
}

static void cycle_alone(lane *a)
{
  double T[PLANT * N], PH[N], K[N], w[N], S;
  alone_propagate(&shape, a->F, a->Gamma, a->P, T);
  memset(a->dx, 0, sizeof a->dx);
  for (int s = 0; s < M; s++) {
    const double *H = a->H + s * N;
    double rest = a->y[s];
    alone_project(0, N, count[s], column[s], H, a->P, PH, &S);
    S += a->r[s];
    for (size_t k = 0; k < count[s]; k++) rest -= H[column[s][k]] * a->dx[column[s][k]];
    alone_gain(N, a->held, PH, &S, &rest, K, a->dx);
    alone_reduce(N, N, a->held, count[s], column[s], H, &S, &a->r[s], PH, K, w, a->P);
  }
  alone_mirror(N, N, a->P);
}

/* Numbers of the lanes side by side, and back. */
#define INTERLEAVE(name, n)                                                                                  \
  for (int k = 0; k < (n); k++)                                                                              \
    for (int l = 0; l < L; l++) all.name[k * L + l] = a[l].name[k]

static void cycle_in_lockstep(lane *a)
{
  static struct {
    double F[N * N * L], Gamma[N * NQ * L], P[N * N * L], H[M * N * L], r[M * L], y[M * L], dx[N * L];
    unsigned char held[N * L];
  } all;
  static double T[PLANT * N * L], PH[N * L], K[N * L], w[N * L];
  double S[L], rest[L];
  INTERLEAVE(F, N * N);
  INTERLEAVE(Gamma, N * NQ);
  INTERLEAVE(P, N * N);
  INTERLEAVE(H, M * N);
  INTERLEAVE(r, M);
  INTERLEAVE(y, M);
  INTERLEAVE(held, N);
  memset(all.dx, 0, sizeof all.dx);
  lockstep_propagate(&shape, all.F, all.Gamma, all.P, T);
  for (int s = 0; s < M; s++) {
    const double *H = all.H + s * N * L;
    lockstep_project(0, N, count[s], column[s], H, all.P, PH, S);
    for (int l = 0; l < L; l++) {
      S[l] += all.r[s * L + l];
      rest[l] = all.y[s * L + l];
      for (size_t k = 0; k < count[s]; k++)
        rest[l] -= H[column[s][k] * L + (size_t)l] * all.dx[column[s][k] * L + (size_t)l];
    }
    lockstep_gain(N, all.held, PH, S, rest, K, all.dx);
    lockstep_reduce(N, N, all.held, count[s], column[s], H, S, all.r + s * L, PH, K, w, all.P);
  }
  lockstep_mirror(N, N, all.P);
  for (int l = 0; l < L; l++) {
    for (int k = 0; k < N * N; k++) a[l].P[k] = all.P[k * L + l];
    for (int k = 0; k < N; k++) a[l].dx[k] = all.dx[k * L + l];
  }
}

static void begin(lane *a, unsigned *seed)
{
  double G[N * N];
  memset(a, 0, sizeof *a);
  for (int k = 0; k < N * N; k++) G[k] = test_uniform(seed);
  bramah__multiply_transposed(N, N, N, G, G, a->P);
  for (int k = 0; k < N; k++) a->P[k * N + k] += 0.1;
}

TEST(test_lanes)
{
  static lane alone[L], lockstep[L];
  unsigned seed = 5;
  for (int l = 0; l < L; l++) begin(&alone[l], &seed);
  memcpy(lockstep, alone, sizeof alone);
  for (int step = 0; step < 100; step++) {
    for (int l = 0; l < L; l++) {
      draw_step(&alone[l], &seed);
      memcpy(lockstep[l].P, alone[l].P, sizeof alone[l].P); /* the same so far, or the test has ended */
      lockstep[l] = alone[l];
      cycle_alone(&alone[l]);
    }
    cycle_in_lockstep(lockstep);
    for (int l = 0; l < L; l++) {
      ck_assert_msg(memcmp(alone[l].P, lockstep[l].P, sizeof alone[l].P) == 0, "P of lane %d, step %d", l,
                    step);
      ck_assert_msg(memcmp(alone[l].dx, lockstep[l].dx, sizeof alone[l].dx) == 0, "dx of lane %d, step %d", l,
                    step);
    }
  }
}

/* P = F P F' + Gamma Gamma', then of each sample P = (I - K H) P (I - K H)' + K r K', with whole matrices. */
static void cycle_by_formula(lane *a)
{
  double A[N * N], B[N * N], Q[N * N], PH[N], K[N];
  bramah__multiply(N, N, N, a->F, a->P, A);
  bramah__multiply_transposed(N, N, N, A, a->F, a->P);
  bramah__multiply_transposed(N, NQ, N, a->Gamma, a->Gamma, Q);
  for (int k = 0; k < N * N; k++) a->P[k] += Q[k];
  for (int s = 0; s < M; s++) {
    const double *H = a->H + s * N;
    double S = a->r[s];
    bramah__apply(N, N, a->P, H, PH);
    for (int k = 0; k < N; k++) S += H[k] * PH[k];
    for (int i = 0; i < N; i++) {
      K[i] = a->held[i] ? 0.0 : PH[i] / S;
      for (int j = 0; j < N; j++) A[i * N + j] = (i == j) - K[i] * H[j];
    }
    bramah__multiply(N, N, N, A, a->P, B);
    bramah__multiply_transposed(N, N, N, B, A, a->P);
    for (int i = 0; i < N * N; i++) a->P[i] += K[i / N] * a->r[s] * K[i % N];
  }
}

TEST(test_formula)
{
  static lane kernel, formula;
  unsigned seed = 11;
  begin(&kernel, &seed);
  for (int step = 0; step < 200; step++) {
    draw_step(&kernel, &seed);
    formula = kernel;
    cycle_alone(&kernel);
    cycle_by_formula(&formula);
    for (int i = 0; i < N; i++)
      for (int j = 0; j < N; j++) {
        const double scale = sqrt(formula.P[i * N + i] * formula.P[j * N + j]);
        ck_assert_double_eq_tol(kernel.P[i * N + j], formula.P[i * N + j], 1e-13 * fmax(scale, 1.0));
        ck_assert(kernel.P[i * N + j] == kernel.P[j * N + i]);
      }
  }
}

/* Variances of samples from as large as those of their predictions down to 1e-13 of them, by turns, of the plant's states. */
TEST(test_precise_samples)
{
  static lane a;
  unsigned seed = 17;
  double L_[N * N], PH[N], K[N], w[N], S;
  begin(&a, &seed);
  for (int step = 0; step < 2000; step++) {
    const size_t one = (size_t)(step % PLANT);
    double rest = 0.0, T[PLANT * N];
    draw_step(&a, &seed);
    for (int k = 0; k < N * NQ; k++) a.Gamma[k] *= 1e-2;
    alone_propagate(&shape, a.F, a.Gamma, a.P, T);
    const double H[N] = {[0] = one == 0, [1] = one == 1, [2] = one == 2, [3] = one == 3, [4] = one == 4};
    alone_project(1, N, 1, &one, H, a.P, PH, &S);
    const double r = S * pow(10.0, -(step % 14));
    S += r;
    alone_gain(N, NULL, PH, &S, &rest, K, a.dx);
    alone_reduce(N, N, NULL, 1, &one, H, &S, &r, PH, K, w, a.P);
    alone_mirror(N, N, a.P);
    ck_assert_double_eq_tol(a.P[one * N + one] / (r * (S - r) / S), 1.0, 1e-3);
    memcpy(L_, a.P, sizeof L_);
    ck_assert_msg(bramah__cholesky_factor(N, L_) == 0, "not positive definite at step %d", step);
  }
}

int main(void) { return run_tests("kernel"); }
