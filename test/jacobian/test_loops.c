/* SPDX-License-Identifier: MIT */
/* The equations of every type of loop, between two branches of a spatial tree and towards the ground, against
 * central differences: their Jacobian, and their second derivative along a motion. */
#include "lib/plant/coupled_internal.h"
#include "test/support/four_bar.h"
#include "test/support/run.h"

#include <math.h>
#include <string.h>

enum { N = 8, N_TYPES = 5, SEEDS = 6, MOST = BRAMAH__LOOP_MOST_ROWS };
static const double eps = 1e-6;
static const struct {
  bramah__hold hold;
  size_t n_directions;
} types[N_TYPES] = {{BRAMAH__HOLD_POINT, 2},
                    {BRAMAH__HOLD_POINT, 0},
                    {BRAMAH__HOLD_LINE, 3},
                    {BRAMAH__HOLD_POINT, 1},
                    {BRAMAH__HOLD_DISTANCE, 0}};

static bramah_diag diag;

typedef struct rig {
  spatial_tree description;
  const bramah_model *model;
  bramah_coupled *c;
  bramah__loop loop;
} rig;

static void random_unit(double *v, unsigned *seed)
{
  double norm = 0.0;
  for (int k = 0; k < 3; k++) v[k] = test_uniform(seed), norm += v[k] * v[k];
  for (int k = 0; k < 3; k++) v[k] /= sqrt(norm);
}

/* Round `i` counts through types and seeds; every third has the ground at one end. */
static void make(rig *r, int i)
{
  unsigned seed = 23u + (unsigned)(i / N_TYPES);
  spatial_tree_describe(&r->description, N, seed);
  must(bramah_model_new(&r->description.machine, &diag, &r->model), &diag);
  must(bramah_coupled_new(r->model, &diag, &r->c), &diag);
  must(bramah__refresh(r->c, &diag), &diag);
  r->loop = (bramah__loop){.body = {7, 6}, .point = {{0.2, 0.3, -0.1}, {0.5, 0.1, 0.4}}, .distance = 0.7};
  if (seed % 3 == 0) r->loop.body[0] = -1;
  if (seed % 3 == 1) r->loop.body[1] = -1;
  r->loop.hold = types[i % N_TYPES].hold;
  r->loop.n_directions = types[i % N_TYPES].n_directions;
  for (int k = 0; k < 3; k++) random_unit(r->loop.u[k], &seed), random_unit(r->loop.v[k], &seed);
  for (int k = 0; k < 2; k++) random_unit(r->loop.normal[k], &seed);
  r->loop.carrier = bramah__common_carrier(&r->model->tree, r->loop.body[0], r->loop.body[1]);
  for (int k = 0; k < 3 && r->loop.hold == BRAMAH__HOLD_POINT; k++)
    for (int d = 0; d < 3; d++) r->loop.normal[k][d] = k == d ? -1.0 : 0.0;
}

static void discard(rig *r)
{
  bramah_coupled_free(r->c);
  bramah_model_free(r->model);
}

EACH_TEST(test_jacobian, 0, N_TYPES *SEEDS)
{
  rig r;
  make(&r, _i);
  const size_t rows = bramah__loop_rows(&r.loop);
  double Phi_z[MOST * N], Phi[2][MOST], z[N];
  bramah__pose pose[N];
  bramah__closure_jacobian(&r.model->tree, 1, &r.loop, r.c->now->pose, Phi_z);
  for (size_t j = 0; j < N; j++) {
    for (int side = 0; side < 2; side++) {
      memcpy(z, r.c->state.z, sizeof z);
      z[j] += side ? eps : -eps;
      bramah__tree_pose(&r.model->tree, NULL, z, pose);
      bramah__closure_residual(1, &r.loop, pose, Phi[side]);
    }
    for (size_t k = 0; k < rows; k++)
      ck_assert_double_eq_tol(Phi_z[k * N + j], (Phi[1][k] - Phi[0][k]) / (2 * eps), 3e-8);
  }
  discard(&r);
}

static void bias(const rig *r, const double *w, double *gamma)
{
  double Z[6 * N], Zd[6 * N];
  bramah__tree_velocity(&r->model->tree, r->c->now->pose, w, Z);
  bramah__tree_acceleration(&r->model->tree, r->c->now->pose, Z, w, NULL, Zd);
  bramah__closure_bias(1, &r->loop, r->c->now->pose, Z, Zd, gamma);
}

/* gamma = d(Phi_z)/dt z': difference of Phi_z along the motion, times z'. */
EACH_TEST(test_bias, 0, N_TYPES *SEEDS)
{
  rig r;
  make(&r, _i);
  double Phi_z[2][MOST * N], z[N], gamma[MOST];
  bramah__pose pose[N];
  const double *zd = r.c->state.zd;
  bias(&r, zd, gamma);
  for (int side = 0; side < 2; side++) {
    for (size_t j = 0; j < N; j++) z[j] = r.c->state.z[j] + (side ? eps : -eps) * zd[j];
    bramah__tree_pose(&r.model->tree, NULL, z, pose);
    bramah__closure_jacobian(&r.model->tree, 1, &r.loop, pose, Phi_z[side]);
  }
  for (size_t k = 0; k < bramah__loop_rows(&r.loop); k++) {
    double expected = 0.0;
    for (size_t j = 0; j < N; j++)
      expected += (Phi_z[1][k * N + j] - Phi_z[0][k * N + j]) / (2 * eps) * zd[j];
    ck_assert_double_eq_tol(gamma[k], expected, 3e-8 * (1.0 + fabs(expected)));
  }
  discard(&r);
}

/* A quadratic form obeys the law of parallelograms, which the derivative of the rates relies on. */
EACH_TEST(test_bias_is_a_quadratic_form, 0, N_TYPES *SEEDS)
{
  rig r;
  make(&r, _i);
  unsigned seed = 5u + (unsigned)_i;
  double a[N], b[N], sum[N], difference[N], g[4][MOST];
  for (size_t j = 0; j < N; j++) {
    a[j] = test_uniform(&seed), b[j] = test_uniform(&seed);
    sum[j] = a[j] + b[j], difference[j] = a[j] - b[j];
  }
  bias(&r, a, g[0]);
  bias(&r, b, g[1]);
  bias(&r, sum, g[2]);
  bias(&r, difference, g[3]);
  for (size_t k = 0; k < bramah__loop_rows(&r.loop); k++)
    ck_assert_double_eq_tol(g[2][k] + g[3][k], 2.0 * (g[0][k] + g[1][k]), 1e-12 * (1.0 + fabs(g[0][k])));
  discard(&r);
}

int main(void) { return run_tests("loops"); }
