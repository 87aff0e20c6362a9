/* SPDX-License-Identifier: MIT */
/* Rolling wheels and knife edges: rows and their rates against differences of heights and velocities along a
 * motion, and the linearized equations of a bicycle that leans, steers and accelerates against differences
 * of its rates. */
#include "bramah/linear.h"
#include "lib/math/dense.h"
#include "lib/linear/linearization_internal.h"
#include "test/support/four_bar.h"
#include "test/support/run.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { N = 9, ROWS = 7 };

static bramah_diag diag;

/* A two-wheeler of odd masses, with a skate on its frame, a damped steering spring and a rider who can
 * lean. */
static const bramah_body bodies[] = {
    {"frame", 0, 80, {0.3, 0.02, 0.5}, {9, 11, 3, 0.1, -2, 0.2}, 0, {0}, 0, NULL, 0, NULL},
    {"rear_wheel", 0, 2, {0}, {0.06, 0.12, 0.06}, 0, {0}, 0, NULL, 0, NULL},
    {"fork", 0, 4, {-0.2, 0, 0.7}, {0.06, 0.06, 0.01, 0, 0.008, 0}, 0, {0}, 0, NULL, 0, NULL},
    {"front_wheel", 0, 3, {0}, {0.14, 0.28, 0.14}, 0, {0}, 0, NULL, 0, NULL}};
static const bramah_joint joints[] = {{.name = "frame",
                                       .type = BRAMAH_JOINT_FLOATING,
                                       .parent = "ground",
                                       .child = "frame",
                                       .initial = BRAMAH_INITIAL_GIVEN,
                                       .initial_positions = {0.1, 0.2, 0.29, 0.3, 0.02, 0.15},
                                       .initial_rates = {3, 1, 0, 0.4, 0, 0.2}},
                                      {.name = "rear",
                                       .type = BRAMAH_JOINT_REVOLUTE,
                                       .parent = "frame",
                                       .child = "rear_wheel",
                                       .axis = {0, 1, 0},
                                       .initial = BRAMAH_INITIAL_GIVEN,
                                       .initial_rate = 10},
                                      {.name = "steer",
                                       .type = BRAMAH_JOINT_REVOLUTE,
                                       .parent = "frame",
                                       .child = "fork",
                                       .position = {1.1, 0, -0.3},
                                       .axis = {-0.3, 0, 1},
                                       .initial = BRAMAH_INITIAL_GIVEN,
                                       .initial_position = 0.2,
                                       .initial_rate = 0.3},
                                      {.name = "front",
                                       .type = BRAMAH_JOINT_REVOLUTE,
                                       .parent = "fork",
                                       .child = "front_wheel",
                                       .position = {-0.08, 0, 0.35},
                                       .axis = {0, 1, 0},
                                       .initial = BRAMAH_INITIAL_GIVEN,
                                       .initial_rate = 9}};
static const bramah_joint_spring spring = {.name = "steer", .joint = "steer", .stiffness = 20, .damping = 3};
static const bramah_wheel wheels[] = {{"rear", 0, "rear_wheel", {0}, {0, 1, 0}, 0.3},
                                      {"front", 0, "front_wheel", {0}, {0, 1, 0}, 0.35}};
static const bramah_knife_edge edge = {"skate", 0, "fork", {0.2, 0, 0.1}, {0.2, 1, 0.1}};

typedef struct rig {
  const bramah_model *model;
  bramah_coupled *c;
  bramah_plant plant;
  bramah_linearization *l;
  const bramah_linear_system *s;
  size_t rows;
} rig;

static void open_rig(rig *r, int edges)
{
  const bramah_machine machine = {.name = "bicycle",
                                  .gravity = {0.5, 0, -9.81},
                                  .n_bodies = 4,
                                  .bodies = bodies,
                                  .n_joints = 4,
                                  .joints = joints,
                                  .n_joint_springs = 1,
                                  .joint_springs = &spring,
                                  .n_wheels = 2,
                                  .wheels = wheels,
                                  .n_knife_edges = (size_t)edges,
                                  .knife_edges = &edge};
  size_t load[2];
  must(bramah_model_new(&machine, &diag, &r->model), &diag);
  must(bramah_coupled_new(r->model, &diag, &r->c), &diag);
  r->plant = bramah_coupled_plant(r->c);
  load[0] = must_find_parameter(&r->plant, "steer.load");
  load[1] = must_find_parameter(&r->plant, "frame_roll.load");
  const bramah_linearization_options options = {.n_parameters = 2, .parameters = load, .all_outputs = 1};
  must(bramah_linearization_new(r->model, &options, &diag, &r->l), &diag);
  r->s = bramah_linearization_system(r->l);
  r->rows = bramah__count_rolling_rows(r->model);
}

static void close_rig(rig *r)
{
  bramah_linearization_free(r->l);
  bramah_coupled_free(r->c);
  bramah_model_free(r->model);
}

static void inject(rig *r, const double *dz, const double *dzd)
{
  double dx[2 * N] = {0};
  for (size_t i = 0; i < N; i++) dx[i] = dz ? dz[i] : 0.0, dx[N + i] = dzd ? dzd[i] : 0.0;
  must(r->plant.inject(r->plant.self, dx, &diag), &diag);
}

/* Least-norm correction of `k` conditions. */
static void correct(size_t k, const double *B, const double *value, double *out)
{
  double A[ROWS * N], b[N] = {0}, work[1024];
  memcpy(A, B, k * N * sizeof *A);
  for (size_t i = 0; i < k; i++) b[i] = -value[i];
  ck_assert_uint_le(bramah__least_squares_work(k, N), 1024);
  bramah__least_squares(k, N, A, b, 1e-12, work);
  memcpy(out, b, N * sizeof *out);
}

/* Both wheels onto the plane, then no slip. */
static void make_it_roll(rig *r)
{
  double B[ROWS * N], H[2 * N], value[ROWS], d[N];
  for (int i = 0; i < 8; i++) {
    bramah__rolling_jacobian(r->model, r->c->now->pose, B);
    for (size_t w = 0; w < 2; w++) {
      memcpy(H + w * N, B + 3 * w * N, N * sizeof *H);
      value[w] = bramah__rolling_height(r->model, r->c->now->pose, &r->model->rolling[w]);
    }
    correct(2, H, value, d);
    inject(r, d, NULL);
  }
  bramah__rolling_jacobian(r->model, r->c->now->pose, B);
  bramah__apply(r->rows, N, B, r->c->state.zd, value);
  correct(r->rows, B, value, d);
  inject(r, NULL, d);
}

/* Along z + z' t: the rate of the height is its row, and B z' changes as is told. */
TEST(test_rows)
{
  rig r;
  double B[ROWS * N], snap[4096], v[ROWS], a[ROWS], side[2][ROWS], height[2][2];
  const double h = 1e-5;
  open_rig(&r, 1);
  ck_assert_uint_eq(r.rows, ROWS);
  double zd[N];
  memcpy(zd, r.c->state.zd, sizeof zd);
  bramah__rolling_jacobian(r.model, r.c->now->pose, B);
  bramah__apply(ROWS, N, B, zd, v);
  bramah__tree_acceleration(&r.model->tree, r.c->now->pose, r.c->now->Z, zd, NULL, r.c->now->Zd);
  bramah__rolling_acceleration(r.model, r.c->now->pose, r.c->now->Z, r.c->now->Zd, a);
  ck_assert_uint_le(r.plant.snapshot_size, sizeof snap);
  r.plant.save(r.plant.self, snap);
  for (int k = 0; k < 2; k++) {
    double dz[N];
    for (size_t i = 0; i < N; i++) dz[i] = (k ? h : -h) * zd[i];
    r.plant.restore(r.plant.self, snap);
    inject(&r, dz, NULL);
    bramah__rolling_jacobian(r.model, r.c->now->pose, B);
    bramah__apply(ROWS, N, B, zd, side[k]);
    for (size_t w = 0; w < 2; w++)
      height[k][w] = bramah__rolling_height(r.model, r.c->now->pose, &r.model->rolling[w]);
  }
  for (size_t w = 0; w < 2; w++) {
    const double rate = (height[1][w] - height[0][w]) / (2 * h);
    ck_assert_double_gt(fabs(rate), 1e-3);
    ck_assert_double_eq_tol(v[3 * w], rate, 1e-8);
  }
  for (size_t i = 0; i < ROWS; i++) {
    ck_assert_double_gt(fabs(a[i]), 1e-2);
    ck_assert_double_eq_tol(a[i], (side[1][i] - side[0][i]) / (2 * h), 1e-7 * fmax(1.0, fabs(a[i])));
  }
  close_rig(&r);
}

/* Rates at states that stand off along the constraints to first order; what is left is even and cancels. */
EACH_TEST(test_equations, 0, 2)
{
  rig r;
  double snap[4096], A[400], xd[2][32], y[2][256], C[256 * 32], NSV[3][N * N];
  const char *name[32];
  const double h = 2e-5;
  open_rig(&r, _i);
  make_it_roll(&r);
  must(bramah_linearization_run(r.l, r.c, &diag), &diag);
  const size_t n = r.s->n, na = r.s->n_position, nw = r.s->n_velocity, ny = r.s->n_y;
  ck_assert_uint_eq(na, 7);
  ck_assert_uint_eq(nw, _i ? 2 : 3);
  ck_assert_uint_eq(n, na + nw);
  ck_assert_uint_le(ny, 256);
  memcpy(A, r.s->A, n * n * sizeof *A);
  memcpy(C, r.s->C, ny * n * sizeof *C);
  memcpy(name, r.s->x_name, n * sizeof *name);
  memcpy(NSV[0], r.l->roll.N, sizeof NSV[0]);
  memcpy(NSV[1], r.l->roll.S, sizeof NSV[1]);
  memcpy(NSV[2], r.l->roll.V, sizeof NSV[2]);
  double largest = 0.0;
  for (size_t i = na; i < n; i++) largest = fmax(largest, fabs(r.s->xd[i]));
  ck_assert_double_gt(largest, 0.1); /* it accelerates */
  r.plant.save(r.plant.self, snap);
  for (size_t k = 0; k < n; k++) {
    for (int side = 0; side < 2; side++) {
      double dz[N] = {0}, dzd[N] = {0};
      const double step = side ? h : -h;
      for (size_t j = 0; j < N; j++) {
        if (k < na) dz[j] = step * NSV[0][j * na + k], dzd[j] = step * NSV[1][j * na + k];
        if (k >= na) dzd[j] = step * NSV[2][j * nw + k - na];
      }
      r.plant.restore(r.plant.self, snap);
      inject(&r, dz, dzd);
      must(bramah_linearization_run(r.l, r.c, &diag), &diag);
      for (size_t i = 0; i < n; i++) ck_assert_str_eq(r.s->x_name[i], name[i]);
      memcpy(xd[side], r.s->xd, n * sizeof(double));
      memcpy(y[side], r.s->y, ny * sizeof(double));
    }
    for (size_t i = 0; i < n; i++) {
      const double d = (xd[1][i] - xd[0][i]) / (2 * h);
      if (fabs(A[i * n + k] - d) > 2e-6 * fmax(10.0, fabs(d)))
        ck_abort_msg("%s by %s: %.10g, difference %.10g", name[i], name[k], A[i * n + k], d);
    }
    for (size_t i = 0; i < ny; i++) {
      const double d = (y[1][i] - y[0][i]) / (2 * h);
      if (fabs(C[i * n + k] - d) > 2e-6 * fmax(10.0, fabs(d)))
        ck_abort_msg("%s by %s: %.10g, difference %.10g", r.s->y_name[i], name[k], C[i * n + k], d);
    }
  }
  close_rig(&r);
}

/* A load moves the rates as its column says, to rounding: it enters linearly. */
TEST(test_loads)
{
  rig r;
  double B[64], before[32];
  open_rig(&r, 0);
  make_it_roll(&r);
  must(bramah_linearization_run(r.l, r.c, &diag), &diag);
  const size_t n = r.s->n;
  memcpy(B, r.s->B, n * 2 * sizeof *B);
  memcpy(before, r.s->xd, n * sizeof *before);
  for (size_t u = 0; u < 2; u++) {
    const size_t parameter = r.l->parameter[u];
    must(r.plant.set_parameter(r.plant.self, parameter, 5.0, &diag), &diag);
    must(bramah_linearization_run(r.l, r.c, &diag), &diag);
    double most = 0.0;
    for (size_t i = 0; i < n; i++) {
      ck_assert_double_eq_tol(r.s->xd[i] - before[i], 5.0 * B[i * 2 + u], 1e-10);
      most = fmax(most, fabs(B[i * 2 + u]));
    }
    ck_assert_double_gt(most, 1e-3);
    must(r.plant.set_parameter(r.plant.self, parameter, 0.0, &diag), &diag);
  }
  close_rig(&r);
}

/* Energies of the motion itself, and what is refused. */
TEST(test_refused)
{
  rig r;
  double dx[32] = {0};
  bramah_energies energies;
  open_rig(&r, 0);
  ck_assert_int_eq(bramah_linearization_run(r.l, r.c, &diag), BRAMAH_E_VALUE);
  printf("%s: %s\n", diag.thing, diag.message);
  ck_assert_ptr_nonnull(strstr(diag.message, "does not touch the plane"));
  make_it_roll(&r);
  must(bramah_linearization_run(r.l, r.c, &diag), &diag);
  for (size_t i = 0; i < r.s->n_velocity; i++) dx[r.s->n_position + i] = r.s->x[r.s->n_position + i];
  must(bramah_linearization_energies(r.l, r.c, dx, NULL, &energies, &diag), &diag);
  double sum = 0.0;
  for (size_t i = 0; i < energies.n_bodies; i++) sum += energies.body[i];
  const double T = r.plant.output(r.plant.self, must_find(&r.plant, "energy.kinetic"));
  ck_assert_double_eq_tol(sum, T, 1e-10 * T);
  ck_assert_int_eq(r.plant.step(r.plant.self, &diag), BRAMAH_E_UNSUPPORTED);
  ck_assert_str_eq(diag.thing, "rear");
  double faster[N] = {0};
  faster[0] = 0.1;
  inject(&r, NULL, faster);
  ck_assert_int_eq(bramah_linearization_run(r.l, r.c, &diag), BRAMAH_E_VALUE);
  printf("%s: %s\n", diag.thing, diag.message);
  ck_assert_ptr_nonnull(strstr(diag.message, "slips by"));
  const size_t acceleration = must_find(&r.plant, "steer.acceleration"),
               payload = must_find_parameter(&r.plant, "frame.payload");
  bramah_linearization *l;
  bramah_linearization_options options = {.n_outputs = 1, .outputs = &acceleration};
  ck_assert_int_eq(bramah_linearization_new(r.model, &options, &diag, &l), BRAMAH_E_UNSUPPORTED);
  options = (bramah_linearization_options){.n_parameters = 1, .parameters = &payload};
  ck_assert_int_eq(bramah_linearization_new(r.model, &options, &diag, &l), BRAMAH_E_UNSUPPORTED);
  close_rig(&r);
}

int main(void) { return run_tests("rolling"); }
