/* SPDX-License-Identifier: MIT */
/* Springs, dampers and loads: forces are the derivatives of their work, energy is kept, dampers take it, a
 * hanging mass finds its place. */
#include "lib/plant/coupled_internal.h"
#include "test/support/four_bar.h"
#include "test/support/run.h"

#include <math.h>
#include <string.h>

enum { N = 8 };
static const double eps = 1e-6;

static bramah_diag diag;
static spatial_tree t;
static const bramah_model *model;
static bramah_coupled *c;
static bramah_spring springs[2];
static bramah_joint_spring joint_springs[2];
static bramah_force loads[2];

static void describe(unsigned seed)
{
  spatial_tree_describe(&t, N, seed);
  springs[0] = (bramah_spring){.name = "s0",
                               .body = {"b7", "b6"},
                               .point = {{0.2, 0.3, -0.1}, {0.5, 0.1, 0.4}},
                               .free_length = 0.3,
                               .stiffness = 7.0};
  springs[1] = springs[0];
  springs[1].name = "s1", springs[1].body[0] = "ground", springs[1].stiffness = 3.0;
  joint_springs[0] =
      (bramah_joint_spring){.name = "j0", .joint = "b1", .free_position = 0.2, .stiffness = 5.0};
  joint_springs[1] = (bramah_joint_spring){.name = "j1", .joint = "b5", .stiffness = 11.0};
  loads[0] = (bramah_force){.name = "f0", .body = "b7", .point = {0.1, 0.2, 0.3}, .force = {1, -2, 3}};
  loads[1] = (bramah_force){.name = "f1",
                            .body = "b6",
                            .point = {0.3, 0.2, 0.1},
                            .force = {2, 1, -1},
                            .torque = {0.5, 1.5, -0.7},
                            .axes = BRAMAH_AXES_BODY};
  t.machine.n_springs = t.machine.n_joint_springs = 2;
  t.machine.springs = springs, t.machine.joint_springs = joint_springs, t.machine.forces = loads;
}

static void build(void)
{
  must(bramah_model_new(&t.machine, &diag, &model), &diag);
  must(bramah_coupled_new(model, &diag, &c), &diag);
  must(bramah__refresh(c, &diag), &diag);
}

static void discard(void)
{
  bramah_coupled_free(c);
  bramah_model_free(model);
}

static void subtract(double *tau)
{
  memset(tau, 0, N * sizeof *tau);
  bramah__forces_subtract(&model->tree, &model->forces, c->now->pose, c->now->Z, c->state.z, c->state.zd,
                          tau);
}

/* Generalised force of the springs = minus the derivative of their energy. */
EACH_TEST(test_springs_derive_from_their_energy, 0, 4)
{
  describe(51u + (unsigned)_i);
  build();
  double tau[N], z[N], energy[2];
  bramah__pose pose[N];
  subtract(tau);
  for (size_t j = 0; j < N; j++) {
    for (int side = 0; side < 2; side++) {
      memcpy(z, c->state.z, sizeof z);
      z[j] += side ? eps : -eps;
      bramah__tree_pose(&model->tree, NULL, z, pose);
      energy[side] = bramah__forces_potential(&model->forces, pose, z);
    }
    ck_assert_double_eq_tol(tau[j], (energy[1] - energy[0]) / (2 * eps), 1e-7);
  }
  discard();
}

/* Generalised force of the loads = derivative of their work: force times the motion of its point; torque
 * times the turn, which the body's axes before and after show. */
EACH_TEST(test_loads_do_their_work, 0, 4)
{
  describe(61u + (unsigned)_i);
  t.machine.n_springs = t.machine.n_joint_springs = 0;
  t.machine.n_forces = 2;
  build();
  double tau[N], z[N];
  bramah__pose pose[2][N];
  subtract(tau);
  for (size_t j = 0; j < N; j++) {
    for (int side = 0; side < 2; side++) {
      memcpy(z, c->state.z, sizeof z);
      z[j] += side ? eps : -eps;
      bramah__tree_pose(&model->tree, NULL, z, pose[side]);
    }
    double work = 0.0;
    for (int i = 0; i < 2; i++) {
      const bramah__load *load = &model->forces.load[i];
      double at[2][3], force[3], torque[3], turn[9];
      for (int side = 0; side < 2; side++) bramah__point(pose[side], load->body, load->point, at[side]);
      bramah__direction(c->now->pose, load->turns ? load->body : -1, load->force, force);
      bramah__direction(c->now->pose, load->turns ? load->body : -1, load->torque, torque);
      const double *A = pose[1][load->body].A, *B = pose[0][load->body].A;
      for (int r = 0; r < 3; r++)
        for (int q = 0; q < 3; q++) /* A B' = I + 2 eps times the cross matrix of the turn */
          turn[3 * r + q] = A[3 * r] * B[3 * q] + A[3 * r + 1] * B[3 * q + 1] + A[3 * r + 2] * B[3 * q + 2];
      const double w[3] = {0.5 * (turn[7] - turn[5]), 0.5 * (turn[2] - turn[6]), 0.5 * (turn[3] - turn[1])};
      for (int k = 0; k < 3; k++) work += force[k] * (at[1][k] - at[0][k]) + torque[k] * w[k];
    }
    ck_assert_double_eq_tol(-tau[j], work / (2 * eps), 1e-7);
  }
  discard();
}

static double total(const bramah_plant *p)
{
  return p->output(p->self, must_find(p, "energy.kinetic")) +
         p->output(p->self, must_find(p, "energy.potential"));
}

static double drift(int64_t step_ns)
{
  spatial_tree_describe(&t, 4, 3);
  springs[0] = (bramah_spring){.name = "s0",
                               .body = {"ground", "b3"},
                               .point = {{0.2, 0.3, -2.1}, {0.5, 0.1, 0.4}},
                               .free_length = 1.0,
                               .stiffness = 200.0};
  joint_springs[0] = (bramah_joint_spring){.name = "j0", .joint = "b0", .stiffness = 50.0};
  t.machine.n_springs = t.machine.n_joint_springs = 1;
  t.machine.springs = springs, t.machine.joint_springs = joint_springs;
  t.machine.integrator.step_ns = step_ns;
  build();
  const bramah_plant p = bramah_coupled_plant(c);
  const double start = total(&p);
  double largest = 0.0;
  for (int64_t k = 0; k < 300000000 / step_ns; k++) {
    must(p.step(p.self, &diag), &diag);
    largest = fmax(largest, fabs(total(&p) - start));
  }
  discard();
  return largest;
}

TEST(test_springs_keep_energy)
{
  const double coarse = drift(1000000), fine = drift(500000);
  ck_assert_double_lt(coarse, 1e-2);
  ck_assert_double_eq_tol(coarse / fine, 4.0, 0.3);
}

/* Accelerations of the plant see the forces: central differences through the interface, dampers included. */
TEST(test_acceleration_jacobian)
{
  static double snap[1024];
  double J[N * 2 * N], dx[2 * N] = {0}, above[N], below[N];
  describe(71);
  springs[1].damping = 2.0;
  joint_springs[1].damping = 3.0;
  t.machine.n_forces = 2;
  build();
  const bramah_plant p = bramah_coupled_plant(c);
  ck_assert_uint_le(p.snapshot_size, sizeof snap);
  must(p.acceleration_jacobian(p.self, J, &diag), &diag);
  p.save(p.self, snap);
  for (size_t k = 0; k < 2 * N; k++) {
    for (int side = 0; side < 2; side++) {
      dx[k] = side ? 1e-5 : -1e-5;
      p.restore(p.self, snap);
      must(p.inject(p.self, dx, &diag), &diag);
      must(p.accelerations(p.self, side ? above : below, &diag), &diag);
    }
    dx[k] = 0.0;
    for (size_t r = 0; r < N; r++) {
      const double difference = (above[r] - below[r]) / 2e-5;
      ck_assert_double_eq_tol(J[r * 2 * N + k], difference, 1e-4 * (1.0 + fabs(difference)));
    }
  }
  discard();
}

/* A mass on a damped vertical spring comes to rest where the spring carries it; the damping is critical. */
TEST(test_hanging_mass)
{
  const double m = 2.0, k = 50.0;
  bramah_body body = {.name = "mass", .mass = m};
  bramah_joint joint = {.name = "z",
                        .type = BRAMAH_JOINT_PRISMATIC,
                        .parent = "ground",
                        .child = "mass",
                        .axis = {0, 0, 1},
                        .initial_position = -1.0};
  bramah_spring spring = {.name = "rope",
                          .body = {"ground", "mass"},
                          .free_length = 0.9,
                          .stiffness = k,
                          .damping = 2.0 * sqrt(k * m)};
  bramah_force push = {.name = "push", .body = "mass", .force = {0, 0, -5.0}};
  const bramah_machine machine = {.name = "rope",
                                  .gravity = {0, 0, -9.81},
                                  .n_bodies = 1,
                                  .bodies = &body,
                                  .n_joints = 1,
                                  .joints = &joint,
                                  .n_springs = 1,
                                  .springs = &spring,
                                  .n_forces = 1,
                                  .forces = &push};
  must(bramah_model_new(&machine, &diag, &model), &diag);
  must(bramah_coupled_new(model, &diag, &c), &diag);
  const bramah_plant p = bramah_coupled_plant(c);
  for (int i = 0; i < 10000; i++) must(p.step(p.self, &diag), &diag);
  ck_assert_double_eq_tol(p.output(p.self, 0), -0.9 - (m * 9.81 + 5.0) / k, 1e-9);
  discard();
}

static void refused(bramah_status expected, const char *thing, const char *part)
{
  const bramah_model *none = NULL;
  const bramah_status status = bramah_model_new(&t.machine, &diag, &none);
  ck_assert_msg(status == expected, "expected %s, got %s (%s)", bramah_status_name(expected),
                bramah_status_name(status), diag.message);
  ck_assert_str_eq(diag.thing, thing);
  ck_assert_msg(strstr(diag.message, part) != NULL, "'%s' lacks '%s'", diag.message, part);
}

TEST(test_forces_that_are_wrong)
{
  describe(51);
  springs[0].stiffness = -1.0;
  refused(BRAMAH_E_VALUE, "s0", "stiffness must not be negative");
  describe(51);
  springs[1].body[1] = "b66";
  refused(BRAMAH_E_REFERENCE, "s1", "there is no body 'b66'");
  describe(51);
  joint_springs[0].joint = "c1";
  refused(BRAMAH_E_REFERENCE, "j0", "there is no joint coordinate 'c1'");
  describe(51);
  t.machine.n_forces = 1;
  loads[0].body = "ground";
  refused(BRAMAH_E_VALUE, "f0", "ground moves nothing");
  describe(51);
  springs[1].name = "s0";
  refused(BRAMAH_E_KEY, "s0", "more than one spring");
}

int main(void) { return run_tests("forces"); }
