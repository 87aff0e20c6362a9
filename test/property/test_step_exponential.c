/* SPDX-License-Identifier: MIT */
/* The filter's transition and the linearized equations tell the same: over one step the transition is exp(J
 * h) to the order of the trapezoidal rule (local error h^3), at rest and in motion, and at rest it is the
 * rule's own rational function of J to rounding. */
#include "bramah/linear.h"
#include "lib/math/dense.h"
#include "test/support/four_bar.h"
#include "test/support/run.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MANY = 8 };

static bramah_diag diag;
static four_bar fb;

typedef struct rig {
  const bramah_model *model;
  bramah_coupled *c;
  bramah_plant plant;
  bramah_linearization *l;
  size_t ne;
} rig;

static void open_rig(rig *r, bramah_friction_model friction, int64_t step_ns)
{
  four_bar_describe(&fb, 1.0, step_ns);
  if (friction == BRAMAH_FRICTION_VISCOUS)
    fb.cylinders[0].friction.model = friction;
  else
    four_bar_set_friction(&fb, friction);
  fb.valves[0].initial_spool = 0.5;
  must(bramah_model_new(&fb.machine, &diag, &r->model), &diag);
  must(bramah_coupled_new(r->model, &diag, &r->c), &diag);
  r->plant = bramah_coupled_plant(r->c);
  must(bramah_linearization_new(r->model, NULL, &diag, &r->l), &diag);
  r->ne = bramah_plant_n_error(&r->plant);
}

static void close_rig(rig *r)
{
  bramah_linearization_free(r->l);
  bramah_coupled_free(r->c);
  bramah_model_free(r->model);
}

/* The part of A that belongs to the error state; typical sizes of the states taken out. */
static void jacobian(rig *r, double *J)
{
  static const double size[5] = {1e-3, 1e-1, 1e5, 1e5, 1e5};
  must(bramah_linearization_run(r->l, r->c, &diag), &diag);
  const bramah_linear_system *s = bramah_linearization_system(r->l);
  for (size_t i = 0; i < r->ne; i++)
    for (size_t j = 0; j < r->ne; j++) J[i * r->ne + j] = s->A[i * s->n + j] * size[j] / size[i];
}

static void transition(rig *r, double *F)
{
  static const double size[5] = {1e-3, 1e-1, 1e5, 1e5, 1e5};
  must(r->plant.step_transition(r->plant.self, F, NULL, 0, NULL, NULL, &diag), &diag);
  for (size_t i = 0; i < r->ne; i++)
    for (size_t j = 0; j < r->ne; j++) F[i * r->ne + j] *= size[j] / size[i];
}

static void exponential(size_t n, const double *J, double h, double *E)
{
  const bramah_linear_system s = {.n = n, .A = J};
  must(bramah_discretise(&s, h, E, NULL, &diag), &diag);
}

static double largest_difference(size_t n, const double *X, const double *Y)
{
  double largest = 0.0;
  for (size_t i = 0; i < n * n; i++) largest = fmax(largest, fabs(X[i] - Y[i]));
  return largest;
}

static const int64_t fine = 500; /* [ns] */

/* Distance of the transition from exp(J h) at time t, h = fine << k. In motion J is the mean of both ends. */
static double distance(bramah_friction_model friction, double t, int k)
{
  double J[2][MANY * MANY], F[MANY * MANY], E[MANY * MANY];
  rig r;
  const int64_t step = fine << k;
  const double h = 1e-9 * (double)step;
  open_rig(&r, friction, step);
  ck_assert_uint_eq(r.ne, 5);
  const double command = 4.0;
  if (t > 0.0) must(r.plant.set_inputs(r.plant.self, &command, &diag), &diag);
  for (long i = 0; i < lround(t / h); i++) must(r.plant.step(r.plant.self, &diag), &diag);
  jacobian(&r, J[0]);
  transition(&r, F);
  jacobian(&r, J[1]);
  for (size_t i = 0; i < r.ne * r.ne; i++) J[0][i] = 0.5 * (J[0][i] + J[1][i]);
  exponential(r.ne, J[0], h, E);
  const double d = largest_difference(r.ne, F, E);
  close_rig(&r);
  return d;
}

static const struct {
  bramah_friction_model friction;
  double t;
} cases_of[] = {{BRAMAH_FRICTION_VISCOUS, 0.0},
                {BRAMAH_FRICTION_BROWN_MCPHEE, 0.0},
                {BRAMAH_FRICTION_VISCOUS, 0.02},
                {BRAMAH_FRICTION_BROWN_MCPHEE, 0.02}};
enum { N_CASES = sizeof cases_of / sizeof cases_of[0] };

EACH_TEST(test_order, 0, N_CASES)
{
  double d[3];
  for (int k = 0; k < 3; k++) d[k] = distance(cases_of[_i].friction, cases_of[_i].t, k);
  printf("t = %g s: distance %.3g, %.3g, %.3g at 0.5, 1, 2 us\n", cases_of[_i].t, d[0], d[1], d[2]);
  for (int k = 1; k < 3; k++) ck_assert_double_gt(log2(d[k] / d[k - 1]), 2.8);
  ck_assert_double_lt(d[2], 1e-3);
}

/* F (1 - h/2 J) = 1 + h/2 J where nothing moves, even at a step that is long for the pressures. */
TEST(test_rational)
{
  double J[MANY * MANY], F[MANY * MANY], left[MANY * MANY], right[MANY * MANY], lhs[MANY * MANY];
  rig r;
  four_bar_describe(&fb, 1.0, 1000000);
  open_rig(&r, BRAMAH_FRICTION_VISCOUS, 1000000);
  bramah_coupled_free(r.c);
  bramah_linearization_free(r.l);
  bramah_model_free(r.model);
  fb.valves[0].initial_spool = 0.0; /* closed, and pressures that hold the machine */
  for (int i = 0; i < 2; i++) fb.volumes[i].initial = BRAMAH_PRESSURE_EQUILIBRIUM;
  must(bramah_model_new(&fb.machine, &diag, &r.model), &diag);
  must(bramah_coupled_new(r.model, &diag, &r.c), &diag);
  r.plant = bramah_coupled_plant(r.c);
  must(bramah_linearization_new(r.model, NULL, &diag, &r.l), &diag);
  jacobian(&r, J);
  transition(&r, F);
  const size_t n = r.ne;
  double scale = 0.0;
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j < n; j++) {
      left[i * n + j] = (i == j) - 0.5e-3 * J[i * n + j];
      right[i * n + j] = (i == j) + 0.5e-3 * J[i * n + j];
      scale = fmax(scale, fabs(right[i * n + j]));
    }
  bramah__multiply(n, n, n, F, left, lhs);
  const double d = largest_difference(n, lhs, right);
  printf("rational function: off by %.2g of %.3g\n", d, scale);
  ck_assert_double_lt(d, 1e-9 * scale);
  close_rig(&r);
}

int main(void) { return run_tests("transition and exponential"); }
