/* SPDX-License-Identifier: MIT */
/* The linearization paper (Agundez et al. 2023): eigenvalues of its Table 3, linear against nonlinear
 * response after the torque (its Figs 7-12), accuracy of the conventional counterpart over the step of its
 * differences (Fig. 14). What both take: test/bench/bench_linearization.c. */
#define _GNU_SOURCE
#include "bramah/linear.h"
#include "bramah/study.h"
#include "lib/math/spectral.h"
#include "test/support/redundant_differences.h"
#include "test/support/four_bar.h"
#include "test/support/run.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static bramah_diag diag;

typedef struct rig {
  bramah_machine *machine;
  const bramah_model *model;
  bramah_coupled *coupled;
  bramah_plant plant;
  bramah_linearization *l;
  const bramah_linear_system *s;
} rig;

/* With the friction of the paper times `scale`, in steps of `step_ns`. */
static void open_rig(rig *r, double scale, int64_t step_ns)
{
  const char *root = getenv("BRAMAH_SOURCE_ROOT");
  char path[1024];
  snprintf(path, sizeof path, "%s/datasets/linearization-four-bar/linearization-four-bar.yaml",
           root ? root : ".");
  must(bramah_machine_load(path, 0, NULL, &diag, &r->machine), &diag);
  bramah_cylinder cylinder = r->machine->cylinders[0];
  const bramah_cylinder *shipped = r->machine->cylinders;
  cylinder.friction.coulomb *= scale;
  cylinder.friction.static_force *= scale;
  cylinder.friction.viscous *= scale;
  r->machine->cylinders = &cylinder;
  r->machine->integrator.step_ns = step_ns;
  must(bramah_model_new(r->machine, &diag, &r->model), &diag);
  r->machine->cylinders = shipped;
  must(bramah_coupled_new(r->model, &diag, &r->coupled), &diag);
  r->plant = bramah_coupled_plant(r->coupled);
  must(bramah_linearization_new(r->model, NULL, &diag, &r->l), &diag);
  r->s = bramah_linearization_system(r->l);
  must(bramah_linearization_run(r->l, r->coupled, &diag), &diag);
}

static void close_rig(rig *r)
{
  bramah_linearization_free(r->l);
  bramah_coupled_free(r->coupled);
  bramah_model_free(r->model);
  bramah_machine_free(r->machine);
}

/* Table 3: real and imaginary parts; besides two zeros and -1/tau. */
static const struct {
  double scale;
  size_t n;
  double re[3], im[3];
} table_3[3] = {{1.0, 3, {-214.39106464754279, -1391.80607456145248, -23151.79038542678086}, {0, 0, 0}},
                {0.1, 2, {-80.72903412140915, -23151.85327547393863}, {540.25253225199372, 0}},
                {0.01, 2, {-8.49229645935075, -23151.85913270615351}, {546.18474984704098, 0}}};

/* Relative distance of the nearest mode to this eigenvalue. */
static double distance(const bramah_modes *modes, double re, double im)
{
  double least = (double)INFINITY;
  for (size_t k = 0; k < modes->n_modes; k++)
    least = fmin(least, hypot(modes->mode[k].re - re, modes->mode[k].im - im) / hypot(re, im));
  return least;
}

/* The printed digits are good to about 1e-10 (spec): the paper's own loop closure limits them. */
EACH_TEST(test_table_3, 0, 3)
{
  rig r;
  bramah_modes *modes;
  open_rig(&r, table_3[_i].scale, 1000000);
  ck_assert_uint_eq(r.s->n, 6);
  must(bramah_modes_new(r.s, &diag, &modes), &diag);
  for (size_t k = 0; k < table_3[_i].n; k++) {
    const double off = distance(modes, table_3[_i].re[k], table_3[_i].im[k]);
    printf("friction x %g: %.14g %+.14gi, off by %.2g\n", table_3[_i].scale, table_3[_i].re[k],
           table_3[_i].im[k], off);
    ck_assert_double_lt(off, 2e-10);
  }
  ck_assert_double_lt(distance(modes, -1.0 / 4.5e-3, 0.0), 1e-14);
  ck_assert_uint_eq(modes->n_marginal, 2);
  ck_assert_uint_eq(modes->n_unstable, 0);
  ck_assert_int_eq(modes->stability, BRAMAH_MARGINAL);
  for (size_t k = 0; k < modes->n_modes; k++)
    if (modes->mode[k].stability == BRAMAH_MARGINAL) ck_assert_double_lt(fabs(modes->mode[k].re), 1e-8);
  bramah_modes_free(modes);
  close_rig(&r);
}

/* ---- response after the torque ---- */

static double torque(double t, double M0) { return t < 1.0 ? M0 * t : t <= 1.5 ? M0 : 0.0; }

typedef struct difference {
  double angle, pressure;           /* RMS [rad], [Pa] of p2 */
  double largest, largest_pressure; /* deviation when the torque ends */
} difference;

/* Torque until 1.5 s, then nonlinear plant and linear equations side by side for `seconds`. */
static difference compare(double scale, double M0, double seconds)
{
  enum { N = 6 };
  const double h = 1e-4;
  rig r;
  double x0[N], x[N], F[N * N], deviation[N];
  difference d = {0};
  open_rig(&r, scale, 100000);
  memcpy(x0, r.s->x, sizeof x0);
  must(bramah_discretise(r.s, h, F, NULL, &diag), &diag);
  const size_t load = must_find_parameter(&r.plant, "crank.load");
  for (int k = 0; k < 15000; k++) {
    must(r.plant.set_parameter(r.plant.self, load, torque((k + 0.5) * h, M0), &diag), &diag);
    must(r.plant.step(r.plant.self, &diag), &diag);
  }
  must(r.plant.set_parameter(r.plant.self, load, 0.0, &diag), &diag);
  r.plant.coordinates(r.plant.self, x);
  for (int i = 0; i < N - 1; i++) deviation[i] = x[i] - x0[i];
  deviation[N - 1] = 0.0;
  const int n = (int)(seconds / h);
  for (int k = 1; k <= n; k++) {
    double next[N] = {0};
    for (int i = 0; i < N; i++)
      for (int j = 0; j < N; j++) next[i] += F[i * N + j] * deviation[j];
    memcpy(deviation, next, sizeof next);
    must(r.plant.step(r.plant.self, &diag), &diag);
    r.plant.coordinates(r.plant.self, x);
    const double da = x[0] - x0[0] - deviation[0], dp = x[3] - x0[3] - deviation[3];
    d.angle += da * da / n;
    d.pressure += dp * dp / n;
    d.largest = fmax(d.largest, fabs(x[0] - x0[0]));
    d.largest_pressure = fmax(d.largest_pressure, fabs(x[3] - x0[3]));
  }
  d.angle = sqrt(d.angle);
  d.pressure = sqrt(d.pressure);
  close_rig(&r);
  return d;
}

/* Best where friction damps most, as the paper says; and better with a smaller torque. */
EACH_TEST(test_response, 0, 3)
{
  static const double relative[3] = {0.01, 0.06, 0.2};
  const double scale = table_3[_i].scale;
  const difference full = compare(scale, 250.0, 0.1), tenth = compare(scale, 25.0, 0.1);
  printf("friction x %g, 250 N m: angle RMS %.3g deg of %.3g deg (%.2f %%), p2 RMS %.3g bar of %.3g bar "
         "(%.2f %%); "
         "25 N m: %.2f %%, %.2f %%\n",
         scale, full.angle * 57.29578, full.largest * 57.29578, 100 * full.angle / full.largest,
         1e-5 * full.pressure, 1e-5 * full.largest_pressure, 100 * full.pressure / full.largest_pressure,
         100 * tenth.angle / tenth.largest, 100 * tenth.pressure / tenth.largest_pressure);
  ck_assert_double_lt(full.angle, relative[_i] * full.largest);
  ck_assert_double_lt(full.pressure, relative[_i] * full.largest_pressure);
  ck_assert_double_lt(tenth.angle / tenth.largest, 0.5 * full.angle / full.largest);
}

/* ---- the conventional counterpart ---- */

/* Relative error of the eigenvalue nearest to lambda of J by differences with step h. */
static double error_of_differences(rig *r, double h, double lambda, size_t *null)
{
  enum { N = 10 };
  double J[N * N], wr[N], wi[N], work[N * N + 80 * N + 64], least = (double)INFINITY;
  int iwork[2 * N + 2];
  ck_assert_uint_eq(redundant_order(r->s), N);
  must(redundant_differences(r->l, r->coupled, h, J, &diag), &diag);
  ck_assert_int_eq(bramah__eigen(N, J, wr, wi, NULL, NULL, NULL, NULL, work, iwork), 0);
  *null = 0;
  for (size_t k = 0; k < N; k++) {
    least = fmin(least, hypot(wr[k] - lambda, wi[k]) / fabs(lambda));
    *null += hypot(wr[k], wi[k]) < 1.0;
  }
  return least;
}

/* Fig. 14: best in the middle, worse by many powers of ten at both ends, while the analytic equations have
 * no step. */
TEST(test_figure_14)
{
  rig r;
  size_t null;
  bramah_modes *modes;
  double error[2][13];
  open_rig(&r, 1.0, 1000000);
  must(bramah_modes_new(r.s, &diag, &modes), &diag);
  double lambda[2];
  for (size_t k = 0, n = 0; k < modes->n_modes; k++)
    if (fabs(modes->mode[k].re + 214.39) < 1.0 || fabs(modes->mode[k].re + 1391.8) < 1.0)
      lambda[n++] = modes->mode[k].re;
  for (int e = 0; e < 13; e++) {
    for (int i = 0; i < 2; i++) error[i][e] = error_of_differences(&r, pow(10.0, -e), lambda[i], &null);
    printf("h = 1e-%02d: error of lambda_3 %.2e, of lambda_4 %.2e\n", e, error[0][e], error[1][e]);
    if (e == 5) ck_assert_uint_eq(null, 2 + 2 * r.s->n_constraints);
  }
  for (int i = 0; i < 2; i++) {
    ck_assert_double_eq_tol(error[i][4] / error[i][5], 100.0, 10.0); /* second order */
    ck_assert_double_lt(error[i][7], 1e-9);
    ck_assert_double_gt(error[i][1], 1e-2);
    ck_assert_double_gt(error[i][12], 1e3 * error[i][7]);
  }
  bramah_modes_free(modes);
  close_rig(&r);
}

int main(void) { return run_tests("linearization paper"); }
