/* SPDX-License-Identifier: MIT */
/* Gonzalez, Masarati, Cuadrado, Naya (2017): Tables 1, 2, 3, 5 and the singular configuration by all three
 * approaches. The linkage once in the coordinates of the paper and once as a machine of ours. Times:
 * test/bench/bench_linearization.c. */
#define _GNU_SOURCE
#include "bramah/linear.h"
#include "test/support/examples_2017.h"
#include "test/support/four_bar.h"
#include "test/support/run.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static bramah_diag diag;

/* The largest problems take too long under valgrind or sanitizers. */
static int is_at_speed(void)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_UNDEFINED__)
  return 0;
#else
  return long_double_is_as_promised();
#endif
}

static bramah_spectrum *find(example_2017 *e, bramah_approach approach, double alpha)
{
  bramah_spectrum *s = NULL;
  const bramah_constrained system = example_system(e);
  const bramah_penalty_factors factors = {alpha, 1.0, 10.0};
  must(bramah_spectrum_new(&system, approach, &factors, &diag, &s), &diag);
  return s;
}

/* ---- Tables 1 and 2 ---- */

/* phi_0 of N = 15 is misprinted (spec). */
static const struct {
  size_t N;
  double phi, s, damped_re, damped_im;
} table_1[5] = {{1, 2.2343, 2.1477, -0.2424, 2.1340},
                {5, 1.8922, 1.5455, -0.2350, 1.5276},
                {10, 1.8454, 1.4352, -0.2325, 1.4162},
                {15, 1.829610, 1.3955, -0.2316, 1.3761},
                {20, 1.8217, 1.3750, -0.2312, 1.3554}};

EACH_TEST(test_linkage, 0, 10)
{
  static const char *const name[3] = {"minimal", "redundant", "penalty"};
  const size_t N = table_1[_i % 5].N;
  const int damped = _i >= 5;
  const double re = damped ? table_1[_i % 5].damped_re : 0.0,
               im = damped ? table_1[_i % 5].damped_im : table_1[_i % 5].s;
  example_2017 e;
  double exact[2] = {0};
  linkage_make(&e, N, 25.0, damped ? 1.0 : 0.0, 0);
  const double phi = linkage_angle(&e);
  ck_assert_double_eq_tol(phi, table_1[_i % 5].phi, N == 15 ? 5e-7 : 5e-5);
  linkage_place(&e, phi);
  example_balance(&e);
  for (int a = 0; a < 3; a++) {
    if (a == BRAMAH_APPROACH_PENALTY) example_balance_penalty(&e, 1e6, 10.0);
    bramah_spectrum *s = find(&e, (bramah_approach)a, 1e6);
    ck_assert_uint_eq(s->n, 2);
    ck_assert_uint_eq(s->rank, e.m);
    ck_assert_uint_eq(s->n_spurious, a == 0 ? 0 : 2 * e.m);
    ck_assert_double_eq_tol(s->re[0], re, 5e-5);
    ck_assert_double_eq_tol(fabs(s->im[0]), im, 5e-5);
    if (a == 0) exact[0] = s->re[0], exact[1] = fabs(s->im[0]);
    const double off = hypot(s->re[0] - exact[0], fabs(s->im[0]) - exact[1]);
    ck_assert_double_lt(off, a == BRAMAH_APPROACH_PENALTY ? 3e-6 : 1e-10);
    ck_assert_double_gt(s->gap, 1e3);
    printf("N = %2zu %s %-9s %.6f %.6fi, off by %.1e, told apart by %.0e\n", N, damped ? "damped" : "      ",
           name[a], s->re[0], fabs(s->im[0]), off, s->gap);
    bramah_spectrum_free(s);
  }
  example_free(&e);
}

/* phi = 0: the constraints lose a rank, and a second degree of freedom appears. */
EACH_TEST(test_singular, 0, 3)
{
  static const double printed[2] = {3.4310, 4.4294};
  example_2017 e;
  linkage_make(&e, 1, 0.0, 0.0, 1);
  linkage_place(&e, linkage_angle(&e));
  example_balance(&e);
  if (_i == BRAMAH_APPROACH_PENALTY) example_balance_penalty(&e, 1e6, 10.0);
  bramah_spectrum *s = find(&e, (bramah_approach)_i, 1e6);
  ck_assert_uint_eq(s->rank, 3);
  ck_assert_uint_eq(s->n, 4);
  for (size_t k = 0; k < 4; k++) {
    ck_assert_double_eq_tol(s->re[k], 0.0, 1e-5);
    ck_assert_double_eq_tol(fabs(s->im[k]), printed[k / 2], 5e-5);
  }
  bramah_spectrum_free(s);
  example_free(&e);
}

/* ---- Tables 3, 4, 5 ---- */

/* Difference [1/s] of penalty from minimal, real and imaginary parts. (That of redundant is rounding: table 4
 * has 7e-11 to 2.5e-6, which depends on the processor and bounds nothing.) */
static const struct {
  size_t elements;
  double re, im;
} table_4[5] = {{10, 1.4e-4, 3.6e-5},
                {25, 1.4e-4, 3.6e-5},
                {50, 1.4e-4, 3.6e-5},
                {75, 1.4e-4, 3.7e-5},
                {100, 1.4e-4, 3.8e-5}};

/* What two ways of rounding may differ in: of a symmetric pencil K x = w^2 M x each w^2 is wrong by about eps
 * |K| |M^-1| >= eps fastest^2 (LAPACK Users' Guide, section 4.10), so each w by half of that over w. The least
 * |K| |M^-1| there is, and no factor for the size: ten times what processors were seen to leave of it. */
static double rounding(double fastest, double w) { return DBL_EPSILON * fastest * fastest / w; }

static const double table_3[4] = {1.3357, 3.5244, 9.4175, 22.4054};

EACH_TEST(test_pendulum, 0, 5)
{
  static const char *const name[3] = {"minimal", "redundant", "penalty"};
  const size_t elements = table_4[_i].elements;
  double exact[8] = {0}, fastest = 0.0;
  example_2017 e;
  if (!is_at_speed() && elements > 25) return;
  beam_pendulum_make(&e, elements);
  ck_assert_uint_eq(e.n, 6 * elements + 12);
  example_balance(&e);
  for (int a = 0; a < 3; a++) {
    if (a == BRAMAH_APPROACH_PENALTY) example_balance_penalty(&e, 1e7, 10.0);
    double re = 0.0, im = 0.0;
    example_evaluate(&e);
    bramah_spectrum *s = find(&e, (bramah_approach)a, 1e7);
    ck_assert_uint_eq(s->n, 2 * (e.n - 10));
    ck_assert_uint_eq(s->n_spurious, a == 0 ? 0 : 20);
    for (size_t k = 0; k < s->n && a == 0; k++) fastest = fmax(fastest, hypot(s->re[k], s->im[k]));
    for (size_t k = 0; k < 8; k++) {
      if (a == 0) exact[k] = fabs(s->im[k]);
      const double off_re = fabs(s->re[k]), off_im = fabs(fabs(s->im[k]) - exact[k]);
      const double least = rounding(fastest, exact[k]);
      ck_assert_double_le(off_re, (a == 2 ? table_4[_i].re + 0.05e-4 : 0.0) + least);
      ck_assert_double_le(off_im, (a == 2 ? table_4[_i].im + 0.05e-5 : 0.0) + least);
      re = fmax(re, off_re);
      im = fmax(im, off_im);
      if (elements == 50) ck_assert_double_eq_tol(fabs(s->im[k]), table_3[k / 2], a == 2 ? 1e-4 : 5e-5);
    }
    printf("n_p = %3zu %-9s %.10f %.10f %.10f %.10f, off by %.1e, %.1e i, told apart by %.0e\n", elements,
           name[a], fabs(s->im[0]), fabs(s->im[2]), fabs(s->im[4]), fabs(s->im[6]), re, im, s->gap);
    ck_assert_double_gt(s->gap, 1.5);
    bramah_spectrum_free(s);
  }
  example_free(&e);
}

/* ---- the linkage as a machine ---- */

static linkage_machine machine;

EACH_TEST(test_machine, 0, 10)
{
  const size_t N = table_1[_i % 5].N;
  const int damped = _i >= 5;
  example_2017 e;
  const bramah_model *model;
  bramah_coupled *c;
  bramah_linearization *l;
  bramah_modes *modes;
  bramah_constrained redundant;
  linkage_make(&e, N, 25.0, damped ? 1.0 : 0.0, 0);
  linkage_describe(&machine, N, damped ? 1.0 : 0.0, linkage_angle(&e));
  must(bramah_model_new(&machine.machine, &diag, &model), &diag);
  must(bramah_coupled_new(model, &diag, &c), &diag);
  must(bramah_linearization_new(model, NULL, &diag, &l), &diag);
  must(bramah_linearization_run(l, c, &diag), &diag);
  must(bramah_modes_new(bramah_linearization_system(l), &diag, &modes), &diag);
  ck_assert_uint_eq(bramah_linearization_system(l)->n, 2);
  ck_assert_uint_eq(modes->n_modes, 1);
  const double re = damped ? table_1[_i % 5].damped_re : 0.0,
               im = damped ? table_1[_i % 5].damped_im : table_1[_i % 5].s;
  printf("N = %2zu as a machine: %.9f %.9fi\n", N, modes->mode[0].re, modes->mode[0].im);
  ck_assert_double_eq_tol(modes->mode[0].re, re, 5e-5);
  ck_assert_double_eq_tol(modes->mode[0].im, im, 5e-5);
  ck_assert_int_eq(modes->stability, damped ? BRAMAH_STABLE : BRAMAH_MARGINAL);
  must(bramah_linearization_constrained(l, c, &redundant, &diag), &diag);
  const bramah_penalty_factors factors = {1e6, 1.0, 10.0};
  for (int a = 0; a < 3; a++) {
    bramah_spectrum *s;
    must(bramah_spectrum_new(&redundant, (bramah_approach)a, &factors, &diag, &s), &diag);
    ck_assert_uint_eq(s->n, 2);
    ck_assert_uint_eq(s->rank, 2 * N);
    ck_assert_double_eq_tol(s->re[0], modes->mode[0].re, a == 2 ? 1e-5 : 1e-9);
    ck_assert_double_eq_tol(fabs(s->im[0]), modes->mode[0].im, a == 2 ? 1e-5 : 1e-9);
    bramah_spectrum_free(s);
  }
  bramah_modes_free(modes);
  bramah_linearization_free(l);
  bramah_coupled_free(c);
  bramah_model_free(model);
  example_free(&e);
}

/* ---- with pressures, spools and friction states beside the coordinates ---- */

static four_bar fb;

EACH_TEST(test_hydraulic, 0, 2)
{
  static const bramah_friction_model friction[2] = {BRAMAH_FRICTION_BROWN_MCPHEE, BRAMAH_FRICTION_LUGRE};
  const bramah_model *model;
  bramah_coupled *c;
  bramah_linearization *l;
  bramah_modes *modes;
  bramah_constrained redundant;
  four_bar_describe(&fb, 1.0, 1000000);
  four_bar_set_friction(&fb, friction[_i]);
  fb.volumes[0].initial = fb.volumes[1].initial = BRAMAH_PRESSURE_EQUILIBRIUM;
  must(bramah_model_new(&fb.machine, &diag, &model), &diag);
  must(bramah_coupled_new(model, &diag, &c), &diag);
  must(bramah_linearization_new(model, NULL, &diag, &l), &diag);
  must(bramah_linearization_run(l, c, &diag), &diag);
  must(bramah_modes_new(bramah_linearization_system(l), &diag, &modes), &diag);
  must(bramah_linearization_constrained(l, c, &redundant, &diag), &diag);
  for (int a = 0; a < 3; a++) {
    const bramah_penalty_factors factors = {1e8, 1.0, 1000.0};
    bramah_spectrum *s;
    must(bramah_spectrum_new(&redundant, (bramah_approach)a, &factors, &diag, &s), &diag);
    ck_assert_uint_eq(s->n, modes->n);
    for (size_t k = 0; k < modes->n_modes; k++) {
      double off = (double)INFINITY;
      const bramah_mode *m = &modes->mode[k];
      for (size_t i = 0; i < s->n; i++) off = fmin(off, hypot(s->re[i] - m->re, fabs(s->im[i]) - m->im));
      ck_assert_double_lt(off, (a == 2 ? 1e-3 : 1e-6) * fmax(hypot(m->re, m->im), 1.0));
    }
    bramah_spectrum_free(s);
  }
  bramah_modes_free(modes);
  bramah_linearization_free(l);
  bramah_coupled_free(c);
  bramah_model_free(model);
}

/* A mass that hangs in nothing: its infinite eigenvalue is no eigenvalue. */
TEST(test_refused)
{
  const double M[4] = {1, 0, 0, 0}, C[4] = {0}, K[4] = {1, 0, 0, 1};
  const bramah_constrained s = {.n = 2, .M = M, .C = C, .K = K};
  bramah_spectrum *out;
  for (int a = 0; a < 2; a++)
    ck_assert_int_eq(bramah_spectrum_new(&s, (bramah_approach)a, NULL, &diag, &out), BRAMAH_E_SINGULAR);
  const bramah_penalty_factors none = {0};
  ck_assert_int_eq(bramah_spectrum_new(&s, BRAMAH_APPROACH_PENALTY, &none, &diag, &out), BRAMAH_E_ARGUMENT);
  bramah_spectrum_free(out);
}

int main(void) { return run_tests("linearization approaches"); }
