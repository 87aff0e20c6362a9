/* SPDX-License-Identifier: MIT */
/* Derivatives of the tree's inverse dynamics, of forces and of the constraint accelerations against central
 * differences; the sweep against the dense solution. */
#include "lib/math/dense.h"
#include "lib/multibody/closure.h"
#include "lib/plant/coupled_internal.h"
#include "test/support/four_bar.h"
#include "test/support/run.h"

#include <math.h>
#include <string.h>

enum { N = 11, NN = N * N };
static const double eps = 1e-6;

static bramah_diag diag;
static spatial_tree t;
static const bramah_model *model;
static bramah_spring springs[2];
static bramah_joint_spring joint_springs[1];
static bramah_force loads[2];

/* A motion: coordinates, rates, accelerations, and what follows. */
typedef struct motion {
  double z[N], zd[N], zdd[N];
  bramah__pose pose[N];
  double Z[6 * N], Zd[6 * N], W[6 * N];
} motion;

static void describe(unsigned seed, int with_forces)
{
  spatial_tree_describe(&t, N, seed);
  springs[0] = (bramah_spring){.name = "s0",
                               .body = {"b7", "b6"},
                               .point = {{0.2, 0.3, -0.1}, {0.5, 0.1, 0.4}},
                               .free_length = 0.3,
                               .stiffness = 7.0,
                               .damping = 2.0};
  springs[1] = springs[0];
  springs[1].name = "s1", springs[1].body[0] = "ground", springs[1].stiffness = 3.0;
  joint_springs[0] = (bramah_joint_spring){.name = "j0", .joint = "b1", .stiffness = 5.0, .damping = 0.7};
  loads[0] = (bramah_force){
      .name = "f0", .body = "b7", .point = {0.1, 0.2, 0.3}, .force = {1, -2, 3}, .torque = {-1, 0.4, 2}};
  loads[1] = (bramah_force){.name = "f1",
                            .body = "b10",
                            .point = {0.3, 0.2, 0.1},
                            .force = {2, 1, -1},
                            .torque = {0.5, 1.5, -0.7},
                            .axes = BRAMAH_AXES_BODY};
  if (with_forces) {
    t.machine.n_springs = t.machine.n_forces = 2;
    t.machine.n_joint_springs = 1;
    t.machine.springs = springs, t.machine.joint_springs = joint_springs, t.machine.forces = loads;
  }
  must(bramah_model_new(&t.machine, &diag, &model), &diag);
}

static void evaluate(motion *m, double *tau)
{
  bramah__tree_pose(&model->tree, NULL, m->z, m->pose);
  bramah__tree_velocity(&model->tree, m->pose, m->zd, m->Z);
  bramah__tree_acceleration(&model->tree, m->pose, m->Z, m->zd, m->zdd, m->Zd);
  bramah__tree_force(&model->tree, m->pose, m->Z, m->Zd, m->W, tau);
  bramah__forces_subtract(&model->tree, &model->forces, m->pose, m->Z, m->z, m->zd, tau);
}

static void any_motion(motion *m, unsigned seed)
{
  for (int j = 0; j < N; j++) {
    m->z[j] = test_uniform(&seed);
    m->zd[j] = 2.0 * test_uniform(&seed);
    m->zdd[j] = 5.0 * test_uniform(&seed);
  }
}

/* Column k of the derivative by the numbers at `which` (z, zd or zdd), by central differences. */
static void difference(const motion *at, size_t which, size_t k, double *column)
{
  double tau[2][N];
  for (int side = 0; side < 2; side++) {
    motion moved = *at;
    double *x = which == 0 ? moved.z : which == 1 ? moved.zd : moved.zdd;
    x[k] += side ? eps : -eps;
    evaluate(&moved, tau[side]);
  }
  for (int r = 0; r < N; r++) column[r] = (tau[1][r] - tau[0][r]) / (2 * eps);
}

static void tangent(motion *m, double *K, double *C, double *M)
{
  static bramah__moving moving[N];
  double tau[N], row[N], rate_row[N];
  evaluate(m, tau);
  bramah__tree_moving(&model->tree, m->pose, m->Z, m->Zd, moving);
  bramah__tree_tangent(&model->tree, m->pose, moving, m->Z, m->W, K, C, M);
  bramah__forces_add_tangent(&model->tree, &model->forces, m->pose, m->Z, row, rate_row, K, C);
}

EACH_TEST(test_inverse_dynamics, 0, 8)
{
  static motion m;
  static double analytic[3][NN];
  describe(51u + (unsigned)_i, _i & 1);
  any_motion(&m, 7u + (unsigned)_i);
  tangent(&m, analytic[0], analytic[1], analytic[2]);
  for (size_t which = 0; which < 3; which++)
    for (size_t k = 0; k < N; k++) {
      double column[N];
      difference(&m, which, k, column);
      for (size_t r = 0; r < N; r++)
        ck_assert_msg(fabs(analytic[which][r * N + k] - column[r]) < 2e-7 * (1.0 + fabs(column[r])),
                      "derivative %zu, joint %zu by %zu: %.12g, difference %.12g", which, r, k,
                      analytic[which][r * N + k], column[r]);
    }
  bramah_model_free(model);
}

/* One direction at a time: the same as the matrices times the direction. */
EACH_TEST(test_directions, 0, 4)
{
  static motion m;
  static double analytic[3][NN], pi[6 * N], pid[6 * N], pidd[6 * N], Y[6 * N];
  static bramah__moving moving[N];
  const bramah__variation variation = {pi, pid, pidd};
  double dx[3][N], dtau[N], tau[N];
  unsigned seed = 3;
  describe(55u + (unsigned)_i, 0);
  any_motion(&m, 9u + (unsigned)_i);
  tangent(&m, analytic[0], analytic[1], analytic[2]);
  for (int order = 0; order < 3; order++)
    for (int j = 0; j < N; j++) dx[order][j] = test_uniform(&seed);
  evaluate(&m, tau);
  bramah__tree_moving(&model->tree, m.pose, m.Z, m.Zd, moving);
  bramah__vary_tree(&model->tree, m.pose, moving, dx[0], dx[1], dx[2], &variation);
  bramah__vary_force(&model->tree, m.pose, moving, m.Z, m.W, dx[0], &variation, Y, dtau);
  for (int r = 0; r < N; r++) {
    double sum = 0.0, size = 1.0;
    for (int order = 0; order < 3; order++)
      for (int k = 0; k < N; k++) {
        sum += analytic[order][r * N + k] * dx[order][k];
        size += fabs(analytic[order][r * N + k]);
      }
    ck_assert_double_eq_tol(dtau[r], sum, 1e-12 * size);
  }
  bramah_model_free(model);
}

EACH_TEST(test_sweep_solves_the_dense_system, 0, 8)
{
  static motion m;
  static double K[NN], C[NN], M[NN];
  static bramah__moving moving[N];
  static bramah__sweep sweep[N];
  double tau[N], diag_n[N], f[N], dense[N], dz[N];
  int pivot[N];
  const double h = _i & 1 ? 1e-3 : 0.02, c1 = 2 / h, c2 = 4 / (h * h);
  unsigned seed = 77;
  describe(61u + (unsigned)_i, 0);
  any_motion(&m, 17u + (unsigned)_i);
  tangent(&m, K, C, M);
  for (size_t j = 0; j < N; j++) {
    diag_n[j] = 3.0 + test_uniform(&seed);
    f[j] = test_uniform(&seed);
    dense[j] = -f[j];
  }
  for (size_t k = 0; k < NN; k++) K[k] += c1 * C[k] + c2 * M[k];
  for (size_t j = 0; j < N; j++) K[j * N + j] += diag_n[j];
  ck_assert_uint_eq(bramah__lu_factor(N, K, pivot), 0);
  bramah__lu_solve(N, K, pivot, dense);
  evaluate(&m, tau);
  bramah__tree_moving(&model->tree, m.pose, m.Z, m.Zd, moving);
  ck_assert_uint_eq(bramah__sweep_factor(&model->tree, m.pose, moving, m.Z, m.W, c1, c2, diag_n, sweep), 0);
  bramah__sweep_solve(&model->tree, sweep, f, dz);
  double largest = 0.0;
  for (size_t j = 0; j < N; j++) largest = fmax(largest, fabs(dense[j]));
  for (size_t j = 0; j < N; j++) ck_assert_double_eq_tol(dz[j], dense[j], 1e-11 * largest);
  bramah_model_free(model);
}

/* Cut joints of each type between two branches, anywhere: the equations need not hold. */
static void make_loop(int type, bramah__loop *loop)
{
  static const size_t directions[] = {0, 2, 0, 3, 1, 0};
  *loop = (bramah__loop){.body = {7, 4},
                         .point = {{0.2, 0.3, -0.1}, {0.5, 0.1, 0.4}},
                         .hold = type == BRAMAH_LOOP_PRISMATIC  ? BRAMAH__HOLD_LINE
                                 : type == BRAMAH_LOOP_DISTANCE ? BRAMAH__HOLD_DISTANCE
                                                                : BRAMAH__HOLD_POINT,
                         .n_directions = directions[type],
                         .u = {{1, 0, 0}, {0, 0.6, 0.8}, {0, 0, 1}},
                         .v = {{0, 1, 0}, {0.8, 0, -0.6}, {1, 0, 0}},
                         .normal = {{0, 1, 0}, {0, 0, 1}},
                         .distance = 0.7};
}

/* Phi'' of a motion. */
static void constraint_acceleration(const bramah__loop *loop, motion *m, double *Phidd)
{
  double gamma[BRAMAH__LOOP_MOST_ROWS], Phi_z[BRAMAH__LOOP_MOST_ROWS * N], tau[N], Zd[6 * N];
  evaluate(m, tau);
  bramah__tree_acceleration(&model->tree, m->pose, m->Z, m->zd, NULL, Zd);
  bramah__closure_bias(1, loop, m->pose, m->Z, Zd, gamma);
  bramah__closure_jacobian(&model->tree, 1, loop, m->pose, Phi_z);
  bramah__apply(bramah__loop_rows(loop), N, Phi_z, m->zdd, Phidd);
  for (size_t k = 0; k < bramah__loop_rows(loop); k++) Phidd[k] += gamma[k];
}

EACH_TEST(test_closure_variation, BRAMAH_LOOP_REVOLUTE, BRAMAH_LOOP_DISTANCE + 1)
{
  static motion m, moved;
  static bramah__moving moving[N];
  bramah__loop loop;
  unsigned seed = 5;
  double dx[3][N], pi[6 * N], pid[6 * N], pidd[6 * N], analytic[BRAMAH__LOOP_MOST_ROWS],
      Phidd[2][BRAMAH__LOOP_MOST_ROWS], tau[N];
  const bramah__variation variation = {pi, pid, pidd};
  describe(71, 0);
  make_loop(_i, &loop);
  any_motion(&m, 27);
  evaluate(&m, tau);
  for (int order = 0; order < 3; order++)
    for (int j = 0; j < N; j++) dx[order][j] = test_uniform(&seed);
  bramah__tree_moving(&model->tree, m.pose, m.Z, m.Zd, moving);
  bramah__vary_tree(&model->tree, m.pose, moving, dx[0], dx[1], dx[2], &variation);
  bramah__vary_closure(1, &loop, m.pose, m.Z, m.Zd, &variation, NULL, analytic);
  for (int side = 0; side < 2; side++) {
    const double s = side ? eps : -eps;
    moved = m;
    for (int j = 0; j < N; j++) {
      moved.z[j] += s * dx[0][j];
      moved.zd[j] += s * dx[1][j];
      moved.zdd[j] += s * dx[2][j];
    }
    constraint_acceleration(&loop, &moved, Phidd[side]);
  }
  for (size_t k = 0; k < bramah__loop_rows(&loop); k++) {
    const double slope = (Phidd[1][k] - Phidd[0][k]) / (2 * eps);
    ck_assert_double_eq_tol(analytic[k], slope, 1e-7 * (1.0 + fabs(slope)));
  }
  bramah_model_free(model);
}

EACH_TEST(test_closure_stiffness, BRAMAH_LOOP_REVOLUTE, BRAMAH_LOOP_DISTANCE + 1)
{
  enum { M = BRAMAH__LOOP_MOST_ROWS };
  static motion m;
  static double K[NN], Phi_z[2][M * N];
  bramah__loop loop;
  unsigned seed = 15;
  double mu[M], tau[N];
  describe(91, 0);
  make_loop(_i, &loop);
  any_motion(&m, 47);
  evaluate(&m, tau);
  for (int k = 0; k < M; k++) mu[k] = test_uniform(&seed);
  memset(K, 0, sizeof K);
  bramah__closure_add_stiffness(&model->tree, 1, &loop, m.pose, mu, K);
  for (size_t k = 0; k < N; k++) {
    for (int side = 0; side < 2; side++) {
      motion moved = m;
      moved.z[k] += side ? eps : -eps;
      evaluate(&moved, tau);
      bramah__closure_jacobian(&model->tree, 1, &loop, moved.pose, Phi_z[side]);
    }
    for (size_t r = 0; r < N; r++) {
      double slope = 0.0;
      for (size_t i = 0; i < bramah__loop_rows(&loop); i++)
        slope += mu[i] * (Phi_z[1][i * N + r] - Phi_z[0][i * N + r]) / (2 * eps);
      ck_assert_double_eq_tol(K[r * N + k], slope, 1e-8 * (1.0 + fabs(slope)));
    }
  }
  bramah_model_free(model);
}

/* A rod between two branches whose force depends on its length and rate. */
EACH_TEST(test_line_tangent, 0, 2)
{
  static motion m;
  static double K[NN], C[NN], g[2][N];
  const double F0 = 11.0, F_s = 5.0, F_v = 3.0;
  double row[N], rate_row[N], tau[N];
  describe(81, 0);
  const bramah__line line = {.body = {7, _i ? -1 : 4}, .point = {{0.2, 0.3, -0.1}, {0.5, 0.1, 0.4}}};
  any_motion(&m, 37);
  evaluate(&m, tau);
  const double s0 = bramah__line_length(&model->tree, &line, m.z, m.pose, row);
  double v0 = 0.0;
  for (int j = 0; j < N; j++) v0 += row[j] * m.zd[j];
  bramah__line_rate_derivative(&model->tree, &line, m.pose, m.Z, rate_row);
  memset(K, 0, sizeof K);
  memset(C, 0, sizeof C);
  bramah__line_add_tangent(&model->tree, &line, m.pose, F0, F_s, F_v, row, rate_row, K, C);
  for (size_t k = 0; k < 2 * N; k++) {
    for (int side = 0; side < 2; side++) {
      motion moved = m;
      (k < N ? moved.z : moved.zd)[k % N] += side ? eps : -eps;
      evaluate(&moved, tau);
      const double s = bramah__line_length(&model->tree, &line, moved.z, moved.pose, g[side]);
      double v = 0.0;
      for (int j = 0; j < N; j++) v += g[side][j] * moved.zd[j];
      for (int j = 0; j < N; j++) g[side][j] *= -(F0 + F_s * (s - s0) + F_v * (v - v0));
    }
    for (size_t r = 0; r < N; r++) {
      const double slope = (g[1][r] - g[0][r]) / (2 * eps), value = (k < N ? K : C)[r * N + k % N];
      ck_assert_double_eq_tol(value, slope, 1e-7 * (1.0 + fabs(slope)));
    }
  }
  bramah_model_free(model);
}

int main(void) { return run_tests("tangent"); }
