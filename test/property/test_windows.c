/* SPDX-License-Identifier: MIT */
/* The N-four-bar mechanism with 40 windows (a benchmark of the literature for mechanisms that pass singular
 * positions): rockers of 1 m stand side by side, joined at their tops by couplers of 1 m. When all bars lie
 * in one line the constraints lose their rank; the augmented Lagrangian goes through, with its energy kept.
 */
#include "bramah/coupled.h"
#include "test/support/four_bar.h"
#include "test/support/run.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { WINDOWS = 40, BARS = 2 * WINDOWS + 1 };

static bramah_diag diag;
static bramah_body bodies[BARS];
static bramah_joint joints[BARS];
static bramah_loop loops[WINDOWS];
static char names[BARS][24], loop_names[WINDOWS][24];

/* Rocker 0, coupler 1, rocker 1, coupler 2, ...: one chain, each further rocker hanging from its coupler and
 * closed with the ground. Angles are relative; the bars point up, to the right, down, to the right from the
 * top of the rocker, ... */
static void describe(bramah_machine *machine)
{
  const double right_angle = 3.14159265358979323846 / 2.0;
  memset(joints, 0, sizeof joints);
  for (int i = 0; i < BARS; i++) {
    const int rocker = i % 2 == 0;
    snprintf(names[i], sizeof names[i], "%s%d", rocker ? "rocker" : "coupler", (i + 1) / 2);
    bodies[i] = (bramah_body){
        .name = names[i], .mass = 1.0, .centre_of_mass = {0.5, 0, 0}, .inertia = {0, 1.0 / 12, 1.0 / 12}};
    joints[i] = (bramah_joint){.name = names[i],
                               .type = BRAMAH_JOINT_REVOLUTE,
                               .child = names[i],
                               .parent = i ? names[i - 1] : "ground",
                               .position = {i && (rocker || i == 1) ? 1.0 : 0.0, 0, 0},
                               .axis = {0, 0, 1}};
    /* couplers beyond the first start at the top of a rocker that is described from its top down: at its
     * frame */
    joints[i].initial_position = i == 0   ? right_angle
                                 : i == 1 ? -right_angle
                                 : rocker ? -right_angle
                                          : right_angle;
    joints[i].initial = BRAMAH_INITIAL_GUESS;
  }
  joints[0].initial = BRAMAH_INITIAL_GIVEN;
  joints[0].initial_rate = -1.0; /* tops move to the right with 1 m/s */
  for (int k = 0; k < WINDOWS; k++) {
    snprintf(loop_names[k], sizeof loop_names[k], "window%d", k + 1);
    loops[k] = (bramah_loop){.name = loop_names[k],
                             .type = BRAMAH_LOOP_REVOLUTE,
                             .body = {names[2 * k + 2], "ground"},
                             .point = {{1, 0, 0}, {k + 1.0, 0, 0}},
                             .axis = {{0, 0, 1}, {0, 0, 1}}};
  }
  *machine = (bramah_machine){
      .name = "windows",
      .gravity = {0, -9.81, 0},
      .n_bodies = BARS,
      .bodies = bodies,
      .n_joints = BARS,
      .joints = joints,
      .n_loops = WINDOWS,
      .loops = loops,
      .integrator = {.step_ns = 5000000, .formulation = BRAMAH_FORMULATION_AUGMENTED_LAGRANGIAN}};
}

TEST(test_passes_its_singular_position)
{
  bramah_machine machine;
  const bramah_model *model;
  bramah_coupled *c;
  describe(&machine);
  must(bramah_model_new(&machine, &diag, &model), &diag);
  must(bramah_coupled_new(model, &diag, &c), &diag);
  ck_assert_uint_eq(bramah_model_get_info(model).n_dof, 1);
  const bramah_plant p = bramah_coupled_plant(c);
  const size_t kinetic = must_find(&p, "energy.kinetic"), potential = must_find(&p, "energy.potential"),
               angle = must_find(&p, "rocker0.angle"), last = must_find(&p, "rocker40.rate");
  const double start = p.output(p.self, kinetic) + p.output(p.self, potential);
  double lowest = 10.0, drift = 0.0, violation = 0.0;
  for (int k = 0; k < 300; k++) {
    must(p.step(p.self, &diag), &diag);
    drift = fmax(drift, fabs(p.output(p.self, kinetic) + p.output(p.self, potential) - start));
    violation = fmax(violation, bramah_coupled_constraint_violation(c));
    lowest = fmin(lowest, p.output(p.self, angle));
  }
  printf("%d windows: rocker down to %.3f rad, energy %.1f J, drift %.2g J, loops %.1g m, last rate %.3g\n",
         WINDOWS, lowest, start, drift, violation, p.output(p.self, last));
  ck_assert_double_lt(lowest, -1.0); /* through the horizontal, where all bars lie in one line */
  ck_assert_double_lt(violation, 1e-9);
  ck_assert_double_lt(drift, 0.2);
  bramah_coupled_free(c);
  bramah_model_free(model);
}

int main(void) { return run_tests("windows"); }
