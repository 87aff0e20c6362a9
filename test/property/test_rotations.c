/* SPDX-License-Identifier: MIT */
/* Spherical and floating joints through any rotation: against Euler's equations, conservation laws, a plane
 * pendulum; errors mapped when the joint is re-based, against differences; snapshots, filter,
 * formulations. */
#include "bramah/filter.h"
#include "lib/math/vector3.h"
#include "lib/plant/coupled_internal.h"
#include "lib/plant/plant_table.h"
#include "test/support/four_bar.h"
#include "test/support/replay_run.h"
#include "test/support/run.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double half_turn = 3.14159265358979323846;
static bramah_diag diag;
static spatial_tree tree;
static bramah_loop bar;

static const bramah_model *model;
static bramah_coupled *coupled;
static bramah_plant plant;

static void make(const bramah_machine *machine)
{
  must(bramah_model_new(machine, &diag, &model), &diag);
  must(bramah_coupled_new(model, &diag, &coupled), &diag);
  plant = bramah_coupled_plant(coupled);
}

static void drop(void)
{
  bramah_coupled_free(coupled);
  bramah_model_free(model);
}

static void run(size_t steps)
{
  for (size_t k = 0; k < steps; k++) must(plant.step(plant.self, &diag), &diag);
}

static double show(const char *name) { return plant.output(plant.self, must_find(&plant, name)); }

static void attitude(const char *joint, double *q)
{
  static const char *const part[4] = {".qw", ".qx", ".qy", ".qz"};
  char name[64];
  for (int k = 0; k < 4; k++) {
    snprintf(name, sizeof name, "%s%s", joint, part[k]);
    q[k] = show(name);
  }
}

static void spin(const char *body, double *w)
{
  char name[64];
  for (int k = 0; k < 3; k++) {
    snprintf(name, sizeof name, "%s.body_rate_%c", body, "xyz"[k]);
    w[k] = show(name);
  }
}

/* Angle between two attitudes. */
static double apart(const double *p, const double *q)
{
  double sum = 0.0, other = 0.0;
  for (int k = 0; k < 4; k++) {
    sum += (p[k] - q[k]) * (p[k] - q[k]);
    other += (p[k] + q[k]) * (p[k] + q[k]);
  }
  return 2.0 * sqrt(fmin(sum, other));
}

/* ---- one body in space ---- */

static const double moments[3] = {1.0, 2.0, 3.2}, fast[3] = {0.02, 3.0, -0.03};

static void describe_body(int64_t step_ns)
{
  spatial_tree_describe(&tree, 1, 3);
  bramah_body *body = &tree.bodies[0];
  bramah_joint *joint = &tree.joints[0];
  *body = (bramah_body){.name = "b0", .mass = 2.0};
  memcpy(body->inertia, moments, sizeof moments);
  *joint = (bramah_joint){.name = "free", .type = BRAMAH_JOINT_FLOATING, .parent = "ground", .child = "b0"};
  joint->initial_rates[0] = 0.3;
  /* at zero angles the rates are the turns about z, y, x */
  for (int k = 0; k < 3; k++) joint->initial_rates[3 + k] = fast[2 - k];
  memset(tree.machine.gravity, 0, sizeof tree.machine.gravity);
  tree.machine.integrator.step_ns = step_ns;
}

/* Euler's equations and q' = 1/2 q (0, w). */
static void euler(const double *x, double *xd)
{
  const double *q = x, *w = x + 4;
  xd[0] = -0.5 * (q[1] * w[0] + q[2] * w[1] + q[3] * w[2]);
  xd[1] = 0.5 * (q[0] * w[0] + q[2] * w[2] - q[3] * w[1]);
  xd[2] = 0.5 * (q[0] * w[1] + q[3] * w[0] - q[1] * w[2]);
  xd[3] = 0.5 * (q[0] * w[2] + q[1] * w[1] - q[2] * w[0]);
  for (int k = 0; k < 3; k++) {
    const int l = (k + 1) % 3, m = (k + 2) % 3;
    xd[4 + k] = (moments[l] - moments[m]) * w[l] * w[m] / moments[k];
  }
}

static void runge_kutta(double *x, double h)
{
  double k[4][7], at[7];
  euler(x, k[0]);
  for (int s = 1; s < 4; s++) {
    for (int i = 0; i < 7; i++) at[i] = x[i] + h * (s == 3 ? 1.0 : 0.5) * k[s - 1][i];
    euler(at, k[s]);
  }
  for (int i = 0; i < 7; i++) x[i] += h / 6.0 * (k[0][i] + 2.0 * k[1][i] + 2.0 * k[2][i] + k[3][i]);
}

/* L in inertial axes. */
static void momentum(const double *q, const double *w, double *L)
{
  double R[9], body[3];
  bramah__quaternion_matrix(q, R);
  for (int k = 0; k < 3; k++) body[k] = moments[k] * w[k];
  bramah__rotate3(R, body, L);
}

typedef struct defect {
  double attitude, energy, momentum;
} defect;

static defect tumble(int64_t step_ns, const double *reference)
{
  describe_body(step_ns);
  make(&tree.machine);
  double q[4], w[3], L[3], L0[3];
  attitude("free", q);
  spin("b0", w);
  momentum(q, w, L0);
  const double energy = show("energy.kinetic");
  defect out = {0, 0, 0};
  for (int second = 0; second < 10; second++) {
    run((size_t)(1000000000 / step_ns));
    attitude("free", q);
    spin("b0", w);
    momentum(q, w, L);
    for (int k = 0; k < 3; k++) out.momentum = fmax(out.momentum, fabs(L[k] - L0[k]));
    out.energy = fmax(out.energy, fabs(show("energy.kinetic") - energy));
  }
  out.attitude = apart(q, reference);
  ck_assert_double_eq_tol(show("free_x.position"), 3.0, 1e-10);
  ck_assert_uint_gt(bramah_coupled_report(coupled).rebases, 8);
  drop();
  return out;
}

static void quarters(double coarse, double fine, double largest, const char *what)
{
  ck_assert_msg(coarse < largest, "%s: %g", what, coarse);
  ck_assert_msg(coarse / fine > 3.4 && coarse / fine < 4.6, "%s: %g and %g", what, coarse, fine);
}

/* Spinning about its intermediate axis a body turns over again and again (Dzhanibekov). */
TEST(test_tumbling_body)
{
  double x[7] = {1, 0, 0, 0, fast[0], fast[1], fast[2]};
  for (int k = 0; k < 100000; k++) runge_kutta(x, 1e-4);
  const defect coarse = tumble(1000000, x), fine = tumble(500000, x);
  quarters(coarse.attitude, fine.attitude, 1e-2, "attitude");
  quarters(coarse.energy, fine.energy, 1e-3, "energy");
  quarters(coarse.momentum, fine.momentum, 1e-3, "momentum");
}

/* Thrown with spin, centre of mass away from the frame: it follows its parabola. */
static double fall(int64_t step_ns)
{
  static const double c[3] = {0.3, -0.2, 0.4}, g[3] = {0.5, 0, -9.81};
  describe_body(step_ns);
  memcpy(tree.bodies[0].centre_of_mass, c, sizeof c);
  memcpy(tree.machine.gravity, g, sizeof g);
  make(&tree.machine);
  double q[4], R[9], arm[3], lever[3], worst = 0.0;
  run((size_t)(2000000000 / step_ns));
  attitude("free", q);
  bramah__quaternion_matrix(q, R);
  bramah__rotate3(R, c, arm);
  bramah__cross3(fast, c, lever);
  static const char *const names[3] = {"free_x.position", "free_y.position", "free_z.position"};
  for (int k = 0; k < 3; k++) {
    const double expected = c[k] + 2.0 * ((k == 0 ? 0.3 : 0.0) + lever[k]) + 2.0 * g[k];
    worst = fmax(worst, fabs(show(names[k]) + arm[k] - expected));
  }
  drop();
  return worst;
}

TEST(test_thrown_body) { quarters(fall(2000000), fall(1000000), 1e-4, "parabola"); }

/* ---- against a pendulum in the plane ---- */

static void describe_pendulum(bramah_joint_type type)
{
  spatial_tree_describe(&tree, 1, 3);
  tree.bodies[0] =
      (bramah_body){.name = "b0", .mass = 3.0, .centre_of_mass = {0, 0, -0.5}, .inertia = {0.2, 0.3, 0.4}};
  tree.joints[0] =
      (bramah_joint){.name = "p", .type = type, .parent = "ground", .child = "b0", .axis = {0, 1, 0}};
  tree.joints[0].initial_rate = tree.joints[0].initial_rates[1] = 12.0;
  memcpy(tree.machine.gravity, (double[3]){0, 0, -9.81}, sizeof tree.machine.gravity);
}

/* It goes over the top, through a pitch of +-90 deg twice a turn. */
TEST(test_pendulum_over_the_top)
{
  double angle[2000];
  describe_pendulum(BRAMAH_JOINT_REVOLUTE);
  make(&tree.machine);
  for (int k = 0; k < 2000; k++) {
    run(1);
    angle[k] = show("p.angle");
  }
  ck_assert_double_gt(angle[1999], 3.0 * half_turn);
  drop();
  describe_pendulum(BRAMAH_JOINT_SPHERICAL);
  make(&tree.machine);
  double q[4], w[3], before[4] = {1, 0, 0, 0};
  for (int k = 0; k < 2000; k++) {
    run(1);
    attitude("p", q);
    /* the two are integrated in the same coordinate between re-bases: what differs is rounding */
    const double expected[4] = {cos(0.5 * angle[k]), 0, sin(0.5 * angle[k]), 0};
    for (int i = 0; i < 4; i++) {
      ck_assert_double_eq_tol(q[i], expected[i], 1e-9); /* sign and all */
      ck_assert_double_eq_tol(q[i], before[i], 0.01);   /* continuous */
    }
    memcpy(before, q, sizeof q);
    ck_assert_double_eq_tol(sin(show("p_pitch.angle")), sin(angle[k]), 1e-9);
  }
  spin("b0", w);
  ck_assert_double_eq_tol(w[0], 0.0, 1e-12);
  ck_assert_uint_ge(bramah_coupled_report(coupled).rebases, 9);
  drop();
}

/* ---- chains ---- */

/* Seven bodies behind a joint of any rotation, revolute joints between them, no friction. */
static void describe_chain(bramah_joint_type root, int64_t step_ns)
{
  spatial_tree_describe(&tree, 7, 29);
  for (size_t i = 0; i < 7; i++) {
    bramah_joint *joint = &tree.joints[i];
    joint->type = BRAMAH_JOINT_REVOLUTE;
    if (i) joint->parent = tree.names[i - 1];
    for (int k = 0; k < 3; k++) {
      joint->position[k] *= 0.5;
      tree.bodies[i].centre_of_mass[k] *= 0.3;
    }
  }
  tree.joints[0].type = root;
  const size_t turning = root == BRAMAH_JOINT_FLOATING ? 3 : 0;
  memcpy(tree.joints[0].initial_rates + turning, (double[3]){0.4, 2.0, -0.5}, 3 * sizeof(double));
  if (root == BRAMAH_JOINT_FLOATING) memset(tree.machine.gravity, 0, sizeof tree.machine.gravity);
  tree.machine.integrator.step_ns = step_ns;
}

static double energy(void) { return show("energy.kinetic") + show("energy.potential"); }

/* Largest departure of the energy within the time, against the energy in motion. */
static double drift(bramah_joint_type root, int64_t step_ns, double seconds, double *swing)
{
  describe_chain(root, step_ns);
  make(&tree.machine);
  const double before = energy();
  double worst = 0.0;
  *swing = 0.0;
  for (int64_t t = 0; t < (int64_t)(seconds * 1e9); t += step_ns) {
    run(1);
    worst = fmax(worst, fabs(energy() - before));
    *swing = fmax(*swing, show("energy.kinetic"));
  }
  ck_assert_uint_gt(bramah_coupled_report(coupled).rebases, 3);
  drop();
  return worst;
}

/* Energy conserved by a frictionless spatial chain over 10 s to the order of the integrator. */
EACH_TEST(test_chain_keeps_its_energy, 0, 2)
{
  const bramah_joint_type root = _i ? BRAMAH_JOINT_SPHERICAL : BRAMAH_JOINT_FLOATING;
  double swing;
  const double coarse = drift(root, 1000000, 10.0, &swing), fine = drift(root, 500000, 10.0, &swing);
  quarters(coarse, fine, 1e-3 * swing, "energy of the chain");
}

/* ---- closed loops ---- */

/* Two pendulums on spherical joints, the ends tied by a bar; one of the six angles depends on the others. */
static void describe_tied(bramah_formulation formulation)
{
  spatial_tree_describe(&tree, 2, 11);
  for (size_t i = 0; i < 2; i++) {
    tree.bodies[i] = (bramah_body){.name = tree.names[i],
                                   .mass = 2.0 + (double)i,
                                   .centre_of_mass = {0.05, 0.02, -0.5},
                                   .inertia = {0.3, 0.25, 0.2, 0.01, -0.02, 0.015}};
    tree.joints[i] = (bramah_joint){.name = tree.names[i],
                                    .type = BRAMAH_JOINT_SPHERICAL,
                                    .parent = "ground",
                                    .child = tree.names[i],
                                    .position = {0.9 * (double)i, 0, 0}};
  }
  tree.joints[0].initial = BRAMAH_INITIAL_GIVEN;
  memcpy(tree.joints[0].initial_positions, (double[3]){0.2, 0.7, -0.1}, 3 * sizeof(double));
  memcpy(tree.joints[0].initial_rates, (double[3]){1.0, 3.0, 0.5}, 3 * sizeof(double));
  memcpy(tree.joints[1].initial_positions, (double[3]){-0.3, 0.5, 0.4}, 3 * sizeof(double));
  bar = (bramah_loop){.name = "bar",
                      .type = BRAMAH_LOOP_DISTANCE,
                      .body = {"b0", "b1"},
                      .point = {{0, 0, -1}, {0, 0, -1}},
                      .distance = 1.1};
  memcpy(tree.machine.gravity, (double[3]){0, 0, -9.81}, sizeof tree.machine.gravity);
  tree.machine.n_loops = 1;
  tree.machine.loops = &bar;
  tree.machine.integrator.formulation = formulation;
}

TEST(test_formulations_agree)
{
  double q[3][2][4];
  for (int f = 0; f < 3; f++) {
    describe_tied((bramah_formulation)f);
    make(&tree.machine);
    run(1500);
    ck_assert_uint_gt(bramah_coupled_report(coupled).rebases, 2);
    attitude("b0", q[f][0]);
    attitude("b1", q[f][1]);
    ck_assert_double_lt(bramah_coupled_constraint_violation(coupled), f == 2 ? 1e-4 : 1e-10);
    drop();
  }
  for (int i = 0; i < 2; i++) {
    ck_assert_double_lt(apart(q[0][i], q[1][i]), 1e-4);
    ck_assert_double_lt(apart(q[0][i], q[2][i]), 1e-3);
  }
}

/* ---- errors through a re-base ---- */

enum { MOST = 40, MOST_OUTPUTS = 256 };
static double snap[2][2048], T[MOST * MOST], row_before[MOST_OUTPUTS][MOST];

/* Machines whose joints are re-based: floating, a chain, loops. */
static void describe(int which)
{
  if (which == 0) describe_body(1000000);
  if (which == 0) memcpy(tree.bodies[0].centre_of_mass, (double[3]){0.3, -0.2, 0.4}, 3 * sizeof(double));
  if (which == 1) describe_chain(BRAMAH_JOINT_SPHERICAL, 1000000);
  if (which == 2) describe_tied(BRAMAH_FORMULATION_PARTITIONING);
  if (which == 3) describe_tied(BRAMAH_FORMULATION_AUGMENTED_LAGRANGIAN);
}

static int any_far(void)
{
  int any = 0;
  for (size_t b = 0; b < model->n_balls; b++) any |= bramah__ball_is_far(model, &coupled->state, b);
  return any;
}

/* Steps without a change of coordinates, until the joint is far. */
static void step_until_far(void)
{
  for (int k = 0; !any_far(); k++) {
    ck_assert_int_lt(k, 5000);
    must(bramah__trapezoidal_step(coupled, 0, &diag), &diag);
  }
}

/* Position and rate of joint j as the base rotations of `base` count it. */
static void counted_from(const double *base, size_t j, double *z, double *zd)
{
  const bramah__state *s = &coupled->state;
  *z = s->z[j], *zd = s->zd[j];
  if (!model->ball_of[j]) return;
  const size_t b = model->ball_of[j] - 1, first = model->ball[b].first;
  const double *from = base + 4 * b, back[4] = {from[0], -from[1], -from[2], -from[3]};
  double q[4], relative[4], R[9], a[3], X[9], Xi[9], u[3], rate[3];
  bramah__ball_quaternion(model, s, b, q);
  memcpy(relative, back, sizeof back);
  bramah__quaternion_append(relative, q);
  bramah__quaternion_matrix(relative, R);
  bramah__angles_of_matrix(R, a);
  bramah__turn_matrix(s->z + first, X);
  bramah__rotate3(X, s->zd + first, u);
  bramah__turn_inverse(a, Xi);
  bramah__rotate3(Xi, u, rate);
  *z = a[j - first], *zd = rate[j - first];
}

/* T against central differences: the state before the change, displaced, counted in the coordinates after
 * it. */
static void check_map(const double *base, const int *index)
{
  const size_t nf = model->n_independent, nd = model->n_dependent, n = 2 * nf;
  const double eps = 1e-6;
  for (size_t k = 0; k < n; k++) {
    double dx[MOST] = {0}, z[2][MOST], zd[2][MOST];
    for (int side = 0; side < 2; side++) {
      plant.restore(plant.self, snap[0]);
      dx[k] = side ? eps : -eps;
      must(plant.inject(plant.self, dx, &diag), &diag);
      for (size_t f = 0; f < nf; f++) counted_from(base, (size_t)index[nd + f], &z[side][f], &zd[side][f]);
    }
    for (size_t f = 0; f < nf; f++) {
      const double dz = (z[1][f] - z[0][f]) / (2.0 * eps), dzd = (zd[1][f] - zd[0][f]) / (2.0 * eps);
      ck_assert_double_eq_tol(T[f * n + k], dz, 1e-7 * (1.0 + fabs(dz)));
      ck_assert_double_eq_tol(T[(nf + f) * n + k], dzd, 1e-7 * (1.0 + fabs(dzd)));
    }
  }
}

/* Says nothing outside: the motion of a massless body inside the joint, whose place the re-base changes. */
static int is_inside(size_t i)
{
  const bramah__output *output = &model->output[i];
  const size_t ball = bramah__is_of_body(output->code) ? model->ball_of[output->index] : 0;
  return ball && output->index < model->ball[ball - 1].first + 2;
}

/* An output depends on the motion as it did before: row_before = row_after T. */
static void check_rows_follow(void)
{
  const size_t n = bramah_plant_n_error(&plant);
  for (size_t i = 0; i < plant.n_output; i++) {
    bramah_output_info info;
    double row[MOST];
    bramah_plant_output_info(&plant, i, &info);
    if (!info.has_row || is_inside(i)) continue;
    must(plant.output_row(plant.self, i, row), &diag);
    for (size_t k = 0; k < n; k++) {
      double sum = 0.0;
      for (size_t r = 0; r < n; r++) sum += row[r] * T[r * n + k];
      ck_assert_msg(fabs(sum - row_before[i][k]) < 1e-9 * (1.0 + fabs(sum)), "%s: %g, before %g", info.name,
                    sum, row_before[i][k]);
    }
  }
}

static void keep_rows(void)
{
  ck_assert_uint_lt(plant.n_output, MOST_OUTPUTS);
  for (size_t i = 0; i < plant.n_output; i++) plant.output_row(plant.self, i, row_before[i]);
}

EACH_TEST(test_errors_follow_a_rebase, 0, 4)
{
  describe(_i);
  make(&tree.machine);
  const size_t n = bramah_plant_n_error(&plant);
  ck_assert_uint_lt(n, MOST);
  for (int round = 0; round < 4; round++) {
    double base[8], value[MOST_OUTPUTS];
    int index[MOST];
    step_until_far();
    must(bramah__settle_rates(coupled, &diag), &diag); /* exactly those of the equations of motion */
    plant.save(plant.self, snap[0]);
    keep_rows();
    for (size_t i = 0; i < plant.n_output; i++) value[i] = plant.output(plant.self, i);
    bramah__update_basis(coupled);
    ck_assert(!any_far());
    ck_assert_int_eq(plant.basis_change(plant.self, T), 1);
    ck_assert_int_eq(plant.basis_change(plant.self, T), 0);
    check_rows_follow();
    for (size_t i = 0; i < plant.n_output; i++) {
      bramah_output_info info;
      if (is_inside(i)) continue;
      bramah_plant_output_info(&plant, i, &info);
      double now = plant.output(plant.self, i);
      if (info.kind == BRAMAH_OUTPUT_POSITION) now = value[i] + remainder(now - value[i], 2.0 * half_turn);
      ck_assert_msg(fabs(now - value[i]) < 1e-9 * (1.0 + fabs(now)), "%s", info.name);
    }
    plant.save(plant.self, snap[1]);
    memcpy(base, coupled->state.base, 4 * model->n_balls * sizeof *base);
    memcpy(index, coupled->state.index, model->n * sizeof *index);
    check_map(base, index);
    plant.restore(plant.self, snap[1]);
  }
  drop();
}

/* Nobody asks between two re-bases: the second map times the first. */
EACH_TEST(test_maps_are_composed, 0, 3)
{
  describe(_i);
  make(&tree.machine);
  const size_t n = bramah_plant_n_error(&plant);
  double part[2][MOST * MOST];
  for (int way = 0; way < 2; way++) {
    bramah_coupled_reset(coupled, &diag);
    for (int k = 0; k < 2; k++) {
      step_until_far();
      bramah__update_basis(coupled);
      if (way == 0) ck_assert_int_eq(plant.basis_change(plant.self, part[k]), 1);
    }
  }
  ck_assert_int_eq(plant.basis_change(plant.self, T), 1);
  for (size_t r = 0; r < n; r++)
    for (size_t k = 0; k < n; k++) {
      double sum = 0.0;
      for (size_t l = 0; l < n; l++) sum += part[1][r * n + l] * part[0][l * n + k];
      ck_assert_double_eq_tol(T[r * n + k], sum, 1e-12 * (1.0 + fabs(sum)));
    }
  drop();
}

/* Rows of all outputs after a re-base against differences through inject, and the Jacobian of
 * accelerations. */
EACH_TEST(test_rows_after_a_rebase, 0, 3)
{
  describe(_i);
  make(&tree.machine);
  const size_t n = bramah_plant_n_error(&plant), nf = plant.n_dof;
  for (int round = 0; round < 3; round++) {
    step_until_far();
    bramah__update_basis(coupled);
    for (int k = 0; k < 30; k++) must(plant.step(plant.self, &diag), &diag);
    ck_assert(!bramah__quaternion_is_identity(coupled->state.base));
    bramah_plant bare = plant;
    bare.output_row = NULL;
    bare.acceleration_jacobian = NULL;
    for (size_t i = 0; i < plant.n_output; i++) {
      bramah_output_info info;
      double own[MOST], by_differences[MOST], dx[MOST];
      bramah_plant_output_info(&plant, i, &info);
      if (!info.has_row) continue;
      must(plant.output_row(plant.self, i, own), &diag);
      must(bramah__plant_output_row(&bare, i, by_differences, snap[0], dx, &diag), &diag);
      for (size_t k = 0; k < n; k++)
        ck_assert_msg(fabs(own[k] - by_differences[k]) < 2e-6 * (1.0 + fabs(own[k])), "%s: %g, %g", info.name,
                      own[k], by_differences[k]);
    }
    double A[2][MOST * MOST], dx[MOST], zdd[2 * MOST];
    must(bramah__plant_acceleration_jacobian(&plant, A[0], snap[0], dx, zdd, &diag), &diag);
    must(bramah__plant_acceleration_jacobian(&bare, A[1], snap[0], dx, zdd, &diag), &diag);
    for (size_t k = 0; k < nf * n; k++)
      ck_assert_double_eq_tol(A[0][k], A[1][k], 2e-3 * (1.0 + fabs(A[0][k])));
  }
  drop();
}

/* The row that sigma and noise refer to: how far the child turns about its own axes. */
TEST(test_noise_is_about_the_axes_of_the_child)
{
  describe(1);
  make(&tree.machine);
  step_until_far();
  bramah__update_basis(coupled);
  run(20);
  const size_t n = bramah_plant_n_error(&plant), yaw = (size_t)must_find(&plant, "b0_yaw.angle");
  const double eps = 1e-6;
  plant.save(plant.self, snap[0]);
  for (size_t k = 0; k < n; k++) {
    double dx[MOST] = {0}, q[2][4], row[MOST];
    for (int side = 0; side < 2; side++) {
      plant.restore(plant.self, snap[0]);
      dx[k] = side ? eps : -eps;
      must(plant.inject(plant.self, dx, &diag), &diag);
      attitude("b0", q[side]);
    }
    plant.restore(plant.self, snap[0]);
    for (int i = 1; i < 4; i++) q[0][i] = -q[0][i];
    bramah__quaternion_append(q[0], q[1]); /* from the one to the other, child's axes */
    for (size_t i = 0; i < 3; i++) {
      must(plant.noise_row(plant.self, yaw + 3 * i, row), &diag);
      ck_assert_double_eq_tol(row[k], q[0][3 - i] / eps, 1e-8);
    }
  }
  double row[MOST];
  ck_assert_int_eq(plant.noise_row(plant.self, (size_t)must_find(&plant, "b1.angle"), row),
                   BRAMAH_E_UNSUPPORTED);
  ck_assert_int_eq(plant.noise_row(plant.self, yaw + 1, row), BRAMAH_E_UNSUPPORTED);
  drop();
}

/* ---- snapshots ---- */

EACH_TEST(test_snapshot_across_rebases, 0, 4)
{
  describe(_i);
  make(&tree.machine);
  bramah_coupled *other;
  must(bramah_coupled_new(model, &diag, &other), &diag);
  const bramah_plant twin = bramah_coupled_plant(other);
  static double end[2][2048];
  uint32_t last = 0;
  for (int k = 0; last < 3; k++) {
    ck_assert_int_lt(k, 6000);
    run(1);
    const uint32_t rebases = bramah_coupled_report(coupled).rebases;
    if (rebases == last && k % 500) continue;
    last = rebases;
    plant.save(plant.self, snap[0]);
    twin.restore(twin.self, snap[0]);
    for (int l = 0; l < 400; l++) must(twin.step(twin.self, &diag), &diag);
    twin.save(twin.self, end[0]);
    run(400);
    plant.save(plant.self, end[1]);
    ck_assert_mem_eq(end[0], end[1], plant.snapshot_size);
    plant.restore(plant.self, snap[0]);
  }
  bramah_coupled_free(other);
  drop();
}

/* ---- start ---- */

static void check_angle(const char *name, double expected)
{
  ck_assert_msg(fabs(remainder(show(name) - expected, 2.0 * half_turn)) < 1e-12, "%s: %.15g", name,
                show(name));
}

/* Initial values are those of the outputs, with or without a re-base at the start; they count whole turns
 * where none was needed. */
EACH_TEST(test_start_shows_what_was_given, 0, 4)
{
  static const double pitches[4] = {0.4, 1.3, -1.5, 2.0};
  describe_chain(BRAMAH_JOINT_FLOATING, 1000000);
  double *at = tree.joints[0].initial_positions;
  memcpy(at, (double[6]){1, 2, 3, 7.0, pitches[_i], -0.6}, 6 * sizeof(double));
  make(&tree.machine);
  const int plain = _i == 0;
  if (plain) ck_assert(show("b0_yaw.angle") == 7.0 && show("b0_pitch.angle") == 0.4);
  const int over = _i == 3; /* the same attitude, written otherwise */
  check_angle("b0_yaw.angle", over ? 7.0 + half_turn : 7.0);
  check_angle("b0_pitch.angle", over ? half_turn - 2.0 : at[4]);
  check_angle("b0_roll.angle", over ? -0.6 + half_turn : -0.6);
  const char *const rates[3] = {"b0_yaw.rate", "b0_pitch.rate", "b0_roll.rate"};
  const double expected[3] = {0.4, over ? -2.0 : 2.0, -0.5};
  for (int k = 0; k < 3; k++) ck_assert_double_eq_tol(show(rates[k]), expected[k], 1e-11);
  ck_assert(show("b0_z.position") == 3.0);
  drop();
}

/* At a pitch of 90 deg exactly: the body turns as the angles say, X a'. */
EACH_TEST(test_start_at_the_pole, 0, 2)
{
  describe_chain(BRAMAH_JOINT_SPHERICAL, 1000000);
  double w[3], q[4], expected[4];
  const double a[3] = {0.3, 0.5 * half_turn, 0.8}, rate[3] = {0.4, 2.0, -0.5};
  if (_i == 0) memcpy(tree.joints[0].initial_positions, a, sizeof a);
  make(&tree.machine);
  if (_i == 1) {
    size_t joints[9];
    double positions[9] = {0}, rates[9] = {0};
    for (size_t j = 0; j < 9; j++) joints[j] = j;
    memcpy(positions, a, sizeof a);
    memcpy(rates, rate, sizeof rate);
    must(bramah_coupled_start(coupled, 9, joints, positions, rates, NULL, &diag), &diag);
  }
  spin("b0", w);
  ck_assert_double_eq_tol(w[0], -0.5 - 0.4, 1e-12); /* roll' - yaw' sin(pitch) */
  ck_assert_double_eq_tol(w[1], 2.0 * cos(0.8), 1e-12);
  ck_assert_double_eq_tol(w[2], -2.0 * sin(0.8), 1e-12);
  bramah__quaternion_of_angles(a, expected);
  attitude("b0", q);
  ck_assert_double_lt(apart(q, expected), 1e-12);
  const double shown[3] = {show("b0_yaw.angle"), show("b0_pitch.angle"), show("b0_roll.angle")};
  bramah__quaternion_of_angles(shown, expected);
  ck_assert_double_lt(apart(q, expected), 1e-12);
  for (size_t i = 0; i < plant.n_output; i++) ck_assert(isfinite(plant.output(plant.self, i)));
  run(500);
  drop();
}

/* Tied pendulums: some angles of each are given, with the pitch beyond a re-base. */
TEST(test_start_in_a_loop)
{
  describe_tied(BRAMAH_FORMULATION_PARTITIONING);
  make(&tree.machine);
  run(700);
  const double at[5] = {0.25, 1.2, -0.1, 0.1, 0.2}, rates[5] = {0.5, -0.4, 0.3, 0.2, -0.7};
  const size_t joints[5] = {0, 1, 2, 3, 5};
  const char *const names[5] = {"b0_yaw", "b0_pitch", "b0_roll", "b1_yaw", "b1_roll"};
  must(bramah_coupled_start(coupled, 5, joints, at, rates, NULL, &diag), &diag);
  for (int i = 0; i < 5; i++) {
    char name[32];
    snprintf(name, sizeof name, "%s.angle", names[i]);
    check_angle(name, at[i]);
    snprintf(name, sizeof name, "%s.rate", names[i]);
    ck_assert_double_eq_tol(show(name), rates[i], 1e-10);
  }
  ck_assert_double_lt(bramah_coupled_constraint_violation(coupled), 1e-12);
  drop();
}

/* ---- filter ---- */

/* sigma^2 of two outputs and their covariance. */
static double covariance(const bramah_filter *filter, size_t i, size_t j)
{
  const size_t n = bramah_plant_n_error(&plant);
  const double *P = bramah_filter_covariance(filter);
  double a[MOST], b[MOST], sum = 0.0;
  must(plant.output_row(plant.self, i, a), &diag);
  must(plant.output_row(plant.self, j, b), &diag);
  for (size_t r = 0; r < n; r++)
    for (size_t k = 0; k < n; k++) sum += a[r] * P[r * n + k] * b[k];
  return sum;
}

static int is_positive_definite(const bramah_filter *filter)
{
  const size_t n = bramah_plant_n_error(&plant);
  const double *P = bramah_filter_covariance(filter);
  static double L[MOST * MOST];
  memcpy(L, P, n * n * sizeof *L);
  for (size_t r = 0; r < n; r++)
    for (size_t k = 0; k < r; k++)
      if (fabs(P[r * n + k] - P[k * n + r]) > 1e-14 * sqrt(P[r * n + r] * P[k * n + k])) return 0;
  for (size_t r = 0; r < n; r++)
    for (size_t k = 0; k <= r; k++) {
      double sum = L[r * n + k];
      for (size_t l = 0; l < k; l++) sum -= L[r * n + l] * L[k * n + l];
      if (k < r) L[r * n + k] = sum / L[k * n + k];
      if (k == r && !(sum > 0.0)) return 0;
      if (k == r) L[r * n + r] = sqrt(sum);
    }
  return 1;
}

enum { N_SENSORS = 9 };
static bramah_sensor sensors[N_SENSORS];

/* Gyros on the body, and a tracker of position and of three components of the attitude. */
static void make_sensors(void)
{
  static const char *const column[N_SENSORS] = {"b0.body_rate_x",  "b0.body_rate_y",  "b0.body_rate_z",
                                                "free_x.position", "free_y.position", "free_z.position",
                                                "free.qx",         "free.qy",         "free.qz"};
  for (int i = 0; i < N_SENSORS; i++) {
    sensors[i] = (bramah_sensor){.name = column[i], .sigma = i < 3 ? 0.01 : 0.005, .n_terms = 1};
    sensors[i].output[0] = (size_t)must_find(&plant, column[i]);
    sensors[i].weight[0] = 1.0;
  }
}

/* A tumbling body is followed through its re-bases from a wrong start; sigma and noise are about its own
 * axes. NEES: the squared error in attitude against its covariance. */
TEST(test_filter_follows_a_tumbling_body)
{
  describe_body(1000000);
  make(&tree.machine);
  bramah_coupled *real;
  must(bramah_coupled_new(model, &diag, &real), &diag);
  const bramah_plant truth = bramah_coupled_plant(real);
  make_sensors();
  unsigned seed = 7;
  size_t joints[6];
  double at[6] = {0}, rates[6] = {0.3, 0, 0, fast[2], fast[1], fast[0]}, sigma[2][6], noise[6];
  for (size_t j = 0; j < 6; j++) {
    joints[j] = j, sigma[0][j] = 0.05, sigma[1][j] = 0.1, noise[j] = 1e-3;
    at[j] += sigma[0][j] * test_normal(&seed), rates[j] += sigma[1][j] * test_normal(&seed);
  }
  must(bramah_coupled_start(coupled, 6, joints, at, rates, NULL, &diag), &diag);
  const bramah_filter_options options = {.transition = BRAMAH_TRANSITION_KINEMATIC,
                                         .position_sigma = sigma[0],
                                         .rate_sigma = sigma[1],
                                         .acceleration_noise = noise};
  bramah_filter *filter;
  must(bramah_filter_new(&plant, N_SENSORS, sensors, &options, &diag, &filter), &diag);
  double nees = 0.0, nis = 0.0;
  size_t nees_dof = 0, nis_dof = 0;
  for (int k = 0; k < 8000; k++) {
    must(truth.step(truth.self, &diag), &diag);
    must(bramah_filter_predict(filter, &diag), &diag);
    if (k % 20) continue;
    double y[N_SENSORS];
    unsigned char present[N_SENSORS];
    for (int i = 0; i < N_SENSORS; i++) {
      y[i] = truth.output(truth.self, sensors[i].output[0]) + sensors[i].sigma * test_normal(&seed);
      present[i] = 1;
    }
    must(bramah_filter_correct(filter, y, present, &diag), &diag);
    size_t dof;
    nis += filter_nis(filter, &dof), nis_dof += dof;
    ck_assert(is_positive_definite(filter));
    if (k % 400) continue;
    for (int i = 0; i < 9; i++) {
      const double error =
          plant.output(plant.self, sensors[i].output[0]) - truth.output(truth.self, sensors[i].output[0]);
      nees += error * error / covariance(filter, sensors[i].output[0], sensors[i].output[0]);
      nees_dof++;
    }
  }
  ck_assert_uint_gt(bramah_coupled_report(coupled).rebases, 6);
  /* 400 samples of 9 sensors: +-5 sigma of the mean of their chi-square; NEES is correlated in time */
  ck_assert_double_eq_tol(nis / (double)nis_dof, 1.0, 5.0 * sqrt(2.0 / (double)nis_dof));
  ck_assert_msg(nees / (double)nees_dof > 0.5 && nees / (double)nees_dof < 2.0, "%g",
                nees / (double)nees_dof);
  bramah_filter_free(filter);
  bramah_coupled_free(real);
  drop();
}

/* Prediction through a pole: what is added within one step is small, so the covariance of attitude and body
 * rates is nearly the same on both sides of a re-base; a wrong map would show at once. */
TEST(test_covariance_is_the_same_after_a_rebase)
{
  describe_body(1000000);
  make(&tree.machine);
  const double sigma[2][6] = {{0.1, 0.2, 0.3, 0.01, 0.02, 0.03}, {0.1, 0.1, 0.1, 0.3, 0.1, 0.2}},
               noise[6] = {0};
  const bramah_filter_options options = {.transition = BRAMAH_TRANSITION_KINEMATIC,
                                         .position_sigma = sigma[0],
                                         .rate_sigma = sigma[1],
                                         .acceleration_noise = noise};
  bramah_filter *filter;
  make_sensors();
  must(bramah_filter_new(&plant, 0, NULL, &options, &diag, &filter), &diag);
  static const size_t q[7] = {0, 1, 2, 6, 7, 8, 3}; /* body rates, attitude, position */
  uint32_t last = 0, seen = 0;
  double before[7][7] = {{0}};
  for (int k = 0; k < 1500; k++) {
    must(bramah_filter_predict(filter, &diag), &diag);
    const uint32_t rebases = bramah_coupled_report(coupled).rebases;
    for (int i = 0; i < 7; i++)
      for (int j = 0; j < 7; j++) {
        const double now = covariance(filter, sensors[q[i]].output[0], sensors[q[j]].output[0]);
        const double scale = sqrt(fabs(before[i][i] * before[j][j])) + 1e-6;
        if (rebases > last)
          ck_assert_msg(fabs(now - before[i][j]) < 0.02 * scale, "step %d, %d %d: %g, before %g", k, i, j,
                        now, before[i][j]);
        before[i][j] = now;
      }
    if (rebases > last) seen++;
    last = rebases;
    ck_assert(is_positive_definite(filter));
  }
  ck_assert_uint_ge(seen, 3);
  bramah_filter_free(filter);
  drop();
}

/* At the pole the angles determine nothing, but the noise stated for them does. */
TEST(test_filter_at_the_pole)
{
  describe_body(1000000);
  tree.joints[0].initial_positions[4] = 0.5 * half_turn;
  make(&tree.machine);
  const double sigma[6] = {0.1, 0.1, 0.1, 0.01, 0.02, 0.03}, noise[6] = {1, 1, 1, 1, 1, 1};
  size_t basis[6];
  static const char *const names[6] = {"free_x.position", "free_y.position",  "free_z.position",
                                       "free_yaw.angle",  "free_pitch.angle", "free_roll.angle"};
  for (int i = 0; i < 6; i++) basis[i] = (size_t)must_find(&plant, names[i]);
  const bramah_filter_options options = {.transition = BRAMAH_TRANSITION_KINEMATIC,
                                         .basis = basis,
                                         .position_sigma = sigma,
                                         .rate_sigma = sigma,
                                         .acceleration_noise = noise};
  bramah_filter *filter;
  must(bramah_filter_new(&plant, 0, NULL, &options, &diag, &filter), &diag);
  double row[MOST], sum;
  const double *P = bramah_filter_covariance(filter);
  for (size_t i = 3; i < 6; i++) {
    must(plant.noise_row(plant.self, basis[i], row), &diag);
    sum = 0.0;
    for (size_t r = 0; r < 12; r++)
      for (size_t k = 0; k < 12; k++) sum += row[r] * P[r * 12 + k] * row[k];
    ck_assert_double_eq_tol(sqrt(sum), sigma[i], 1e-14);
  }
  for (int k = 0; k < 300; k++) must(bramah_filter_predict(filter, &diag), &diag);
  ck_assert(is_positive_definite(filter));
  bramah_filter_free(filter);
  drop();
}

int main(void) { return run_tests("rotations"); }
