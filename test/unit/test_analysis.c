/* SPDX-License-Identifier: MIT */
/* Modes, time-discrete equations, frequency responses and regulators against results on paper. */
#include "bramah/linear.h"
#include "lib/math/spectral.h"
#include "test/support/four_bar.h"
#include "test/support/run.h"

#include <math.h>
#include <string.h>

static bramah_diag diag;
static bramah_modes *modes;

static void find(size_t n, const double *A)
{
  const bramah_linear_system s = {.n = n, .A = A};
  ck_assert_int_eq(bramah_modes_new(&s, &diag, &modes), BRAMAH_OK);
  ck_assert_uint_eq(modes->n, n);
}

/* Mass on spring and damper: w = 5 rad/s, damping ratio 0.1; velocities counted in nm/s. */
EACH_TEST(test_oscillator, 0, 2)
{
  const double unit = _i ? 1e9 : 1.0, A[4] = {0.0, 1.0 / unit, -25.0 * unit, -1.0};
  find(2, A);
  ck_assert_uint_eq(modes->n_modes, 1);
  const bramah_mode *m = &modes->mode[0];
  ck_assert_int_eq(m->pair, 1);
  ck_assert_double_eq_tol(m->re, -0.5, 1e-13);
  ck_assert_double_eq_tol(m->im, sqrt(24.75), 1e-13);
  ck_assert_double_eq_tol(m->frequency, 5.0 / (2.0 * 3.14159265358979323846), 1e-13);
  ck_assert_double_eq_tol(m->damping, 0.1, 1e-13);
  ck_assert_int_eq(m->stability, BRAMAH_STABLE);
  ck_assert_int_eq(modes->stability, BRAMAH_STABLE);
  for (int i = 0; i < 2; i++) ck_assert_double_eq_tol(m->participation[i], 0.5, 1e-12);
  /* velocity = s position */
  const double v = unit * (m->re * m->shape_re[0] - m->im * m->shape_im[0]);
  ck_assert_double_eq_tol(m->shape_re[1], v, 1e-12 * (fabs(v) + unit));
  bramah_modes_free(modes);
}

TEST(test_unstable)
{
  const double A[9] = {2.0, 0.0, 0.0, 0.0, 0.0, 3.0, 0.0, -3.0, 0.0};
  find(3, A);
  ck_assert_uint_eq(modes->n_modes, 2);
  ck_assert_uint_eq(modes->n_unstable, 1);
  ck_assert_uint_eq(modes->n_marginal, 2);
  ck_assert_uint_eq(modes->n_defective, 0);
  ck_assert_int_eq(modes->stability, BRAMAH_UNSTABLE);
  ck_assert_double_eq_tol(modes->mode[0].re, 2.0, 1e-14);
  ck_assert_int_eq(modes->mode[1].stability, BRAMAH_MARGINAL);
  ck_assert_double_eq_tol(modes->mode[0].participation[0], 1.0, 1e-14);
  bramah_modes_free(modes);
}

/* Two integrators side by side only stay; one behind the other they grow. Mixed by a similarity both
 * times. */
EACH_TEST(test_defective, 0, 2)
{
  const double T[9] = {1.0, 0.4, -0.2, 0.3, 1.0, 0.5, -0.6, 0.1, 1.0};
  const double det = 1.0 * (1.0 - 0.05) - 0.4 * (0.3 + 0.3) - 0.2 * (0.03 + 0.6);
  const double I[9] = {(1.0 - 0.05) / det, -(0.4 + 0.02) / det, (0.4 * 0.5 + 0.2) / det,
                       -(0.3 + 0.3) / det, (1.0 - 0.12) / det,  -(0.5 + 0.06) / det,
                       (0.03 + 0.6) / det, -(0.1 + 0.24) / det, (1.0 - 0.12) / det};
  const double J[9] = {0.0, _i ? 1.0 : 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, -2.0};
  double A[9] = {0};
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++)
      for (int k = 0; k < 3; k++)
        for (int l = 0; l < 3; l++) A[3 * i + j] += T[3 * i + k] * J[3 * k + l] * I[3 * l + j];
  find(3, A);
  size_t marginal = 0;
  for (size_t k = 0; k < modes->n_modes; k++)
    marginal += (modes->mode[k].stability == BRAMAH_MARGINAL) * (modes->mode[k].pair ? 2u : 1u);
  ck_assert_uint_eq(marginal, 2);
  ck_assert_uint_eq(modes->n_marginal, 2);
  ck_assert_uint_eq(modes->n_defective, _i ? 2 : 0);
  ck_assert_int_eq(modes->stability, _i ? BRAMAH_UNSTABLE : BRAMAH_MARGINAL);
  bramah_modes_free(modes);
}

/* A of 6 states whose eigenvalues come twice, two zeros or two pairs 3i, with as many vectors or one too few, which a mix of
 * states must not change: it makes vectors that are found nearly one. */
EACH_TEST(test_twins, 0, 4)
{
  const int coupled = _i & 1, pairs = _i >> 1;
  unsigned seed = 1;
  for (int draw = 0; draw < 200; draw++) {
    double J[36] = {0}, T[36], A[36] = {0}, smallest;
    int pivot[6];
    for (int i = 0; i < 6; i++) J[7 * i] = i < 2 + 2 * pairs ? 0.0 : -pow(10.0, i - 1);
    if (coupled) J[1 + pairs] = 1.0;
    if (coupled && pairs) J[9] = 1.0;
    for (int i = 0; pairs && i < 4; i += 2) J[7 * i + 1] = 3.0, J[7 * i + 6] = -3.0;
    for (int i = 0; i < 36; i++) T[i] = test_normal(&seed) + 2.0 * (i % 7 == 0);
    /* A = T J T^-1: its rows a solve T^T a = row of T J */
    for (int i = 0; i < 6; i++)
      for (int j = 0; j < 6; j++)
        for (int k = 0; k < 6; k++) A[6 * i + j] += T[6 * i + k] * J[6 * k + j];
    double transposed[36];
    for (int i = 0; i < 36; i++) transposed[i] = T[6 * (i % 6) + i / 6];
    if (bramah__solve_many(6, 6, transposed, A, pivot, &smallest) || smallest < 1e-3) continue;
    find(6, A);
    ck_assert_msg(modes->n_defective == (coupled ? 2u + 2u * (unsigned)pairs : 0u), "draw %d: %zu", draw,
                  modes->n_defective);
    bramah_modes_free(modes);
  }
}

/* Critical damping: stable, with a vector too few. */
TEST(test_critical)
{
  const double A[4] = {0.0, 1.0, -4.0, -4.0};
  find(2, A);
  ck_assert_uint_eq(modes->n_defective, 2);
  ck_assert_int_eq(modes->stability, BRAMAH_STABLE);
  bramah_modes_free(modes);
}

TEST(test_not_finite)
{
  const double A[4] = {0.0, 1.0, (double)NAN, 0.0};
  const char *const name[2] = {"a", "b"};
  const bramah_linear_system s = {.n = 2, .A = A, .x_name = name};
  ck_assert_int_eq(bramah_modes_new(&s, &diag, &modes), BRAMAH_E_NOT_FINITE);
  ck_assert_str_eq(diag.thing, "b");
  bramah_modes_free(modes);
}

/* Double integrator: F = [1 h; 0 1], G = [h^2/2; h]; and an oscillator over many turns. */
TEST(test_discretise)
{
  const double A[4] = {0.0, 1.0, 0.0, 0.0}, B[2] = {0.0, 1e-9}, h = 0.3, w = 700.0;
  double F[4], G[2];
  const bramah_linear_system s = {.n = 2, .n_u = 1, .A = A, .B = B};
  ck_assert_int_eq(bramah_discretise(&s, h, F, G, &diag), BRAMAH_OK);
  const double expected[4] = {1.0, h, 0.0, 1.0};
  for (int i = 0; i < 4; i++) ck_assert_double_eq_tol(F[i], expected[i], 1e-15);
  ck_assert_double_eq_tol(G[0], 1e-9 * 0.5 * h * h, 1e-24);
  ck_assert_double_eq_tol(G[1], 1e-9 * h, 1e-24);
  const double O[4] = {0.0, 1.0, -w * w, 0.0};
  const bramah_linear_system o = {.n = 2, .A = O};
  ck_assert_int_eq(bramah_discretise(&o, 1.0, F, NULL, &diag), BRAMAH_OK);
  ck_assert_double_eq_tol(F[0], cos(w), 1e-11);
  ck_assert_double_eq_tol(F[1], sin(w) / w, 1e-13);
  ck_assert_int_eq(bramah_discretise(&o, -1.0, F, NULL, &diag), BRAMAH_E_ARGUMENT);
}

/* What is no number, in B and C too, or grows beyond all numbers, is an error. */
TEST(test_beyond_numbers)
{
  const double A[1] = {2.0}, B[1] = {1.0}, C[1] = {3.0}, bad[1] = {(double)NAN}, one[1] = {1.0};
  const char *const name[1] = {"a"};
  const bramah_linear_system s = {.n = 1, .n_u = 1, .n_y = 1, .A = A, .B = B, .C = C, .x_name = name},
                             no_B = {.n = 1, .n_u = 1, .n_y = 1, .A = A, .B = bad, .C = C, .x_name = name},
                             no_C = {.n = 1, .n_u = 1, .n_y = 1, .A = A, .B = B, .C = bad, .x_name = name};
  const double beyond[2] = {500.0, 1e308};
  double F[1], G[1], K[1], re[1], im[1];
  for (int i = 0; i < 2; i++)
    ck_assert_int_eq(bramah_discretise(&s, beyond[i], F, G, &diag), BRAMAH_E_NOT_FINITE);
  ck_assert_int_eq(bramah_discretise(&s, 300.0, F, G, &diag), BRAMAH_OK);
  ck_assert_int_eq(bramah_discretise(&no_B, 1.0, F, G, &diag), BRAMAH_E_NOT_FINITE);
  ck_assert_str_eq(diag.thing, "a");
  ck_assert_int_eq(bramah_discretise(&no_B, 1.0, F, NULL, &diag), BRAMAH_OK);
  ck_assert_int_eq(bramah_lqr(&no_B, one, one, K, NULL, &diag), BRAMAH_E_NOT_FINITE);
  ck_assert_int_eq(bramah_lqr(&s, bad, one, K, NULL, &diag), BRAMAH_E_NOT_FINITE);
  ck_assert_int_eq(bramah_frequency_response(&no_C, 0, 0, 1, one, re, im, &diag), BRAMAH_E_NOT_FINITE);
  ck_assert_int_eq(bramah_modes_new(&no_C, &diag, &modes), BRAMAH_OK);
  bramah_modes_free(modes);
}

/* Oscillator: G = 1 / (w0^2 - w^2 + 2 i z w0 w) + d; at its frequency without damping there is none. */
TEST(test_response)
{
  const double w0 = 5.0, z = 0.1, A[4] = {0.0, 1.0, -w0 * w0, -2 * z * w0}, B[2] = {0.0, 1.0},
               C[2] = {1.0, 0.0}, D[1] = {0.25}, w[3] = {0.0, 5.0, 40.0};
  bramah_linear_system s = {.n = 2, .n_u = 1, .n_y = 1, .A = A, .B = B, .C = C, .D = D};
  double re[3], im[3];
  ck_assert_int_eq(bramah_frequency_response(&s, 0, 0, 3, w, re, im, &diag), BRAMAH_OK);
  for (int k = 0; k < 3; k++) {
    const double p = w0 * w0 - w[k] * w[k], q = 2 * z * w0 * w[k], size = p * p + q * q;
    ck_assert_double_eq_tol(re[k], p / size + 0.25, 1e-14);
    ck_assert_double_eq_tol(im[k], -q / size, 1e-14);
  }
  const double still[4] = {0.0, 1.0, -25.0, 0.0};
  s.A = still;
  ck_assert_int_eq(bramah_frequency_response(&s, 0, 0, 2, w, re, im, &diag), BRAMAH_E_SINGULAR);
  ck_assert_int_eq(bramah_frequency_response(&s, 1, 0, 2, w, re, im, &diag), BRAMAH_E_ARGUMENT);
}

/* Double integrator, x'' = u: K = [1, sqrt(2)], P = [sqrt(2), 1; 1, sqrt(2)]; with positions in nm and
 * inputs in MN too. */
EACH_TEST(test_regulator, 0, 2)
{
  const double nm = _i ? 1e9 : 1.0, MN = _i ? 1e-6 : 1.0;
  const double A[4] = {0, nm, 0, 0}, B[2] = {0, 1.0 / MN}, Q[4] = {1.0 / (nm * nm), 0, 0, 0},
               R[1] = {1.0 / (MN * MN)};
  const bramah_linear_system s = {.n = 2, .n_u = 1, .A = A, .B = B};
  double K[2], P[4];
  ck_assert_int_eq(bramah_lqr(&s, Q, R, K, P, &diag), BRAMAH_OK);
  ck_assert_double_eq_tol(K[0] * nm / MN, 1.0, 1e-12);
  ck_assert_double_eq_tol(K[1] / MN, sqrt(2.0), 1e-12);
  ck_assert_double_eq_tol(P[0] * nm * nm, sqrt(2.0), 1e-12);
  ck_assert_double_eq_tol(P[1] * nm, 1.0, 1e-12);
  ck_assert_double_eq_tol(P[3], sqrt(2.0), 1e-12);
}

/* Units are what they were for: the closed loop x' = (A - B K) x must decay and cost x' P x. */
TEST(test_regulator_cost)
{
  const double A[9] = {0.2, 1, 0, -3, 0.1, 2, 0.5, 0, -1}, B[6] = {0, 1, 1, 0, 0.3, -2},
               Q[9] = {2, 0.1, 0, 0.1, 1, 0, 0, 0, 0.5}, R[4] = {1, 0.2, 0.2, 3};
  const bramah_linear_system s = {.n = 3, .n_u = 2, .A = A, .B = B};
  double K[6], P[9], closed[9], F[9], x[3] = {1, -2, 0.5}, cost = 0.0;
  ck_assert_int_eq(bramah_lqr(&s, Q, R, K, P, &diag), BRAMAH_OK);
  for (int i = 0; i < 9; i++) {
    closed[i] = A[i];
    for (int u = 0; u < 2; u++) closed[i] -= B[i / 3 * 2 + u] * K[u * 3 + i % 3];
  }
  double expected = 0.0;
  for (int i = 0; i < 9; i++) expected += x[i / 3] * P[i] * x[i % 3];
  const bramah_linear_system c = {.n = 3, .A = closed};
  const double h = 1e-3;
  ck_assert_int_eq(bramah_discretise(&c, h, F, NULL, &diag), BRAMAH_OK);
  double before = 0.0;
  for (int k = 0; k < 40000; k++) {
    double u[2] = {0}, next[3] = {0}, now = 0.0;
    for (int i = 0; i < 6; i++) u[i / 3] -= K[i] * x[i % 3];
    for (int i = 0; i < 9; i++) now += x[i / 3] * Q[i] * x[i % 3], next[i / 3] += F[i] * x[i % 3];
    for (int i = 0; i < 4; i++) now += u[i / 2] * R[i] * u[i % 2];
    if (k) cost += 0.5 * h * (before + now);
    before = now;
    memcpy(x, next, sizeof x);
  }
  ck_assert_double_eq_tol(cost, expected, 1e-5 * expected);
}

TEST(test_no_regulator)
{
  const double A[4] = {1, 0, 0, -1}, B[2] = {0, 1}, Q[4] = {1, 0, 0, 1}, R[1] = {1}, none[1] = {0};
  const bramah_linear_system s = {.n = 2, .n_u = 1, .A = A, .B = B};
  double K[2];
  ck_assert_int_eq(bramah_lqr(&s, Q, R, K, NULL, &diag), BRAMAH_E_SINGULAR);
  ck_assert_int_eq(bramah_lqr(&s, Q, none, K, NULL, &diag), BRAMAH_E_ARGUMENT);
  const double still[4] = {0, 0, 0, -1}, reach[2] = {1, 1}, nothing[4] = {0};
  const bramah_linear_system idle = {.n = 2, .n_u = 1, .A = still, .B = reach};
  ck_assert_int_eq(bramah_lqr(&idle, nothing, R, K, NULL, &diag), BRAMAH_E_SINGULAR);
}

int main(void) { return run_tests("analysis"); }
