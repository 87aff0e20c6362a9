/* SPDX-License-Identifier: MIT */
/* State feedback from the linear equations holds the nonlinear plant: a pendulum upside down by a torque,
 * and a hydraulic four-bar by its valve. */
#include "bramah/linear.h"
#include "test/support/four_bar.h"
#include "test/support/run.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static bramah_diag diag;

TEST(test_pendulum)
{
  const double up = 3.14159265358979323846;
  const bramah_body body = {
      .name = "bob", .mass = 2.0, .centre_of_mass = {0, 0, -0.5}, .inertia = {0.1, 0.1, 0.1}};
  const bramah_joint joint = {.name = "hinge",
                              .type = BRAMAH_JOINT_REVOLUTE,
                              .parent = "ground",
                              .child = "bob",
                              .axis = {1, 0, 0},
                              .initial_position = up,
                              .initial = BRAMAH_INITIAL_GIVEN};
  const bramah_machine machine = {.name = "pendulum",
                                  .gravity = {0, 0, -9.81},
                                  .n_bodies = 1,
                                  .bodies = &body,
                                  .n_joints = 1,
                                  .joints = &joint};
  const bramah_model *model;
  bramah_coupled *c;
  bramah_linearization *l;
  must(bramah_model_new(&machine, &diag, &model), &diag);
  must(bramah_coupled_new(model, &diag, &c), &diag);
  const bramah_plant plant = bramah_coupled_plant(c);
  const size_t load = must_find_parameter(&plant, "hinge.load");
  const bramah_linearization_options options = {.n_parameters = 1, .parameters = &load};
  must(bramah_linearization_new(model, &options, &diag, &l), &diag);
  must(bramah_linearization_run(l, c, &diag), &diag);
  const double Q[4] = {1, 0, 0, 0.1}, R[1] = {1e-3}, off[2] = {0.3, 0.0};
  double K[2], x[2];
  must(bramah_lqr(bramah_linearization_system(l), Q, R, K, NULL, &diag), &diag);
  must(plant.inject(plant.self, off, &diag), &diag);
  for (int k = 0; k < 5000; k++) {
    plant.coordinates(plant.self, x);
    must(plant.set_parameter(plant.self, load, -K[0] * (x[0] - up) - K[1] * x[1], &diag), &diag);
    must(plant.step(plant.self, &diag), &diag);
  }
  plant.coordinates(plant.self, x);
  printf("pendulum: %g rad off after 5 s\n", x[0] - up);
  ck_assert_double_lt(fabs(x[0] - up), 1e-6);
  bramah_linearization_free(l);
  bramah_coupled_free(c);
  bramah_model_free(model);
}

static four_bar fb;

/* A leaking piston lets the crank sink; the valve holds it in a trim, and the feedback brings it back
 * there. */
TEST(test_four_bar)
{
  enum { N = 6 };
  const bramah_leakage leak = {.name = "piston", .cylinder = "lift", .conductance = 2e-12};
  const bramah_model *model;
  bramah_coupled *c;
  bramah_linearization *l;
  four_bar_describe(&fb, 1.0, 1000000);
  fb.cylinders[0].friction = (bramah_friction){.model = BRAMAH_FRICTION_VISCOUS, .viscous = 5e3};
  fb.machine.n_leakages = 1;
  fb.machine.leakages = &leak;
  must(bramah_model_new(&fb.machine, &diag, &model), &diag);
  must(bramah_coupled_new(model, &diag, &c), &diag);
  const bramah_plant plant = bramah_coupled_plant(c);
  const size_t angle = must_find(&plant, "crank.angle");
  const bramah_linearization_options options = {.n_outputs = 1, .outputs = &angle};
  must(bramah_linearization_new(model, &options, &diag, &l), &diag);
  const double target = 1.0, start = 1.0;
  const size_t first = 0;
  const bramah_trim trim = {.n_held = 1, .held = &first, .target = &target, .n_free = 1, .free = &first};
  must(plant.set_inputs(plant.self, &start, &diag), &diag);
  must(bramah_trim_find(l, c, &trim, NULL, &diag), &diag);
  must(bramah_linearization_run(l, c, &diag), &diag);
  const bramah_linear_system *s = bramah_linearization_system(l);
  ck_assert_uint_eq(s->n, N);
  double Q[N * N] = {0}, R[1] = {1.0}, K[N], x0[N], x[N];
  Q[0] = 1e6, Q[N + 1] = 1e3;
  for (size_t i = 2; i < 5; i++) Q[i * N + i] = 1e-12;
  Q[5 * N + 5] = 1e-2;
  must(bramah_lqr(s, Q, R, K, NULL, &diag), &diag);
  memcpy(x0, s->x, sizeof x0);
  const double command = s->u[0], off[5] = {0.01, 0, 0, 0, 0};
  static double snap[512];
  ck_assert_uint_le(plant.snapshot_size, sizeof snap);
  plant.save(plant.self, snap);
  const size_t spool = must_find(&plant, "valve.spool");
  double left[2];
  for (int feedback = 0; feedback < 2; feedback++) {
    plant.restore(plant.self, snap);
    must(plant.inject(plant.self, off, &diag), &diag);
    for (int k = 0; k < 4000; k++) {
      double u = command;
      plant.coordinates(plant.self, x);
      x[5] = plant.output(plant.self, spool);
      for (int i = 0; i < N && feedback; i++) u -= K[i] * (x[i] - x0[i]);
      must(plant.set_inputs(plant.self, &u, &diag), &diag);
      must(plant.step(plant.self, &diag), &diag);
    }
    left[feedback] = fabs(plant.output(plant.self, angle) - target);
  }
  printf("four-bar: command %.4g V; off by %.2g rad after 4 s without feedback, by %.2g with it\n", command,
         left[0], left[1]);
  ck_assert_double_lt(left[1], 1e-4);
  ck_assert_double_gt(left[0], 10.0 * left[1]);
  bramah_linearization_free(l);
  bramah_coupled_free(c);
  bramah_model_free(model);
}

int main(void) { return run_tests("regulator"); }
