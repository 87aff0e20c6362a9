/* SPDX-License-Identifier: MIT */
/* One crank and slider written in many ways must move in one way; and what is wrong in such a description is
 * named. */
#include "bramah/coupled.h"
#include "test/support/four_bar.h"
#include "test/support/run.h"

#include <math.h>
#include <string.h>

enum { N_WAYS = 6, STEPS = 1000 };
static const double degree = 3.14159265358979323846 / 180.0;

static bramah_diag diag;
static crank_slider s;
static bramah_body bodies[5];
static bramah_joint joints[5];

static void setup(void) { crank_slider_describe(&s, 1.0, 500000); }

/* The block at the end of the chain, its line cut. */
static void cut_the_line(void)
{
  s.joints[2].type = BRAMAH_JOINT_REVOLUTE;
  s.joints[2].parent = "rod";
  s.joints[2].position[0] = 1.0;
  s.joints[2].axis[0] = 0.0, s.joints[2].axis[2] = 1.0;
  s.joints[2].initial_position = 11.0 * degree;
  s.loops[0] = (bramah_loop){.name = "line",
                             .type = BRAMAH_LOOP_PRISMATIC,
                             .body = {"ground", "block"},
                             .axis = {{2, 0, 0}, {1, 0, 0}},
                             .normal = {{0.3, 1, 0}, {0, 2, 0}}};
}

/* A massless rod instead of the body. */
static void cut_the_rod(void)
{
  s.bodies[1] = s.bodies[2];
  s.joints[1] = s.joints[2];
  s.machine.n_bodies = s.machine.n_joints = 2;
  s.loops[0] = (bramah_loop){.name = "rod",
                             .type = BRAMAH_LOOP_DISTANCE,
                             .body = {"crank", "block"},
                             .point = {{0.3, 0, 0}, {0, 0, 0}},
                             .distance = 1.0};
}

/* The same with the line on a rail welded to the ground, and held by a pad welded askew to the block. */
static void weld_the_line(void)
{
  cut_the_line();
  memcpy(bodies, s.bodies, sizeof s.bodies);
  memcpy(joints, s.joints, sizeof s.joints);
  bodies[3] = (bramah_body){.name = "rail", .mass = 7.0};
  bodies[4] = (bramah_body){.name = "pad"};
  joints[3] = (bramah_joint){
      .name = "rail", .type = BRAMAH_JOINT_FIXED, .parent = "ground", .child = "rail", .position = {1, 0, 0}};
  joints[4] = (bramah_joint){.name = "pad",
                             .type = BRAMAH_JOINT_FIXED,
                             .parent = "block",
                             .child = "pad",
                             .position = {0.2, 0.1, 0},
                             .rotation = {0, -1, 0, 1, 0, 0, 0, 0, 1}};
  s.machine.bodies = bodies, s.machine.joints = joints;
  s.machine.n_bodies = s.machine.n_joints = 5;
  s.loops[0] = (bramah_loop){.name = "line",
                             .type = BRAMAH_LOOP_PRISMATIC,
                             .body = {"rail", "pad"},
                             .point = {{-1, 0, 0}, {-0.1, 0.2, 0}},
                             .axis = {{2, 0, 0}, {0, -1, 0}},
                             .normal = {{0.3, 1, 0}, {2, 0, 0}}};
}

static void describe(int way)
{
  setup();
  if (way == 1) s.loops[0].type = BRAMAH_LOOP_SPHERICAL;
  if (way == 2) { /* the rod's z stays perpendicular to the block's x: nothing new in the plane */
    s.loops[0].type = BRAMAH_LOOP_UNIVERSAL;
    s.loops[0].axis[1][0] = 1, s.loops[0].axis[1][2] = 0;
  }
  if (way == 3) cut_the_line();
  if (way == 6) weld_the_line();
  if (way == 4 || way == 5) s.bodies[1].mass = 0, memset(s.bodies[1].inertia, 0, sizeof s.bodies[1].inertia);
  if (way == 4) cut_the_rod();
}

static void run(double *angle)
{
  const bramah_model *model;
  bramah_coupled *c;
  must(bramah_model_new(&s.machine, &diag, &model), &diag);
  must(bramah_coupled_new(model, &diag, &c), &diag);
  const bramah_plant p = bramah_coupled_plant(c);
  ck_assert_uint_eq(bramah_model_get_info(model).n_dof, 1);
  for (int k = 0; k < STEPS; k++) {
    must(p.step(p.self, &diag), &diag);
    angle[k] = p.output(p.self, must_find(&p, "crank.angle"));
    ck_assert_double_lt(bramah_coupled_constraint_violation(c), 1e-10);
  }
  bramah_coupled_free(c);
  bramah_model_free(model);
}

EACH_TEST(test_all_ways_move_alike, 1, N_WAYS + 1)
{
  static double angle[STEPS], expected[STEPS];
  if (_i == 5) return; /* what 4 is compared with: the rod as a body without mass */
  describe(_i == 4 ? 5 : 0);
  run(expected);
  describe(_i);
  run(angle);
  /* without the rod's rows another coordinate is independent: equal to the order of the step only */
  const double tolerance = _i == 4 ? 2e-5 : 1e-8;
  for (int k = 0; k < STEPS; k++) ck_assert_double_eq_tol(angle[k], expected[k], tolerance);
  ck_assert_double_gt(expected[STEPS - 1], 2.0);
}

static void refused(bramah_status expected, const char *thing, const char *part)
{
  const bramah_model *model = NULL;
  const bramah_status status = bramah_model_new(&s.machine, &diag, &model);
  ck_assert_msg(status == expected, "expected %s, got %s (%s)", bramah_status_name(expected),
                bramah_status_name(status), diag.message);
  ck_assert_str_eq(diag.thing, thing);
  ck_assert_msg(strstr(diag.message, part) != NULL, "'%s' lacks '%s'", diag.message, part);
}

TEST(test_loops_that_are_wrong)
{
  describe(3);
  memcpy(s.loops[0].normal[1], s.loops[0].axis[1], sizeof s.loops[0].axis[1]);
  refused(BRAMAH_E_VALUE, "line", "no direction across its axis");
  describe(3);
  s.loops[0].axis[0][1] = 3.0, s.loops[0].axis[0][2] = 1.0; /* leaves the plane */
  refused(BRAMAH_E_CLOSURE, "line", "the loop cannot be closed");
  describe(4);
  s.loops[0].distance = 0.0;
  refused(BRAMAH_E_VALUE, "rod", "the distance must be positive");
  describe(4);
  s.loops[0].distance = 0.01;
  s.loops[0].point[1][1] = 2.0;
  refused(BRAMAH_E_CLOSURE, "rod", "stay off by");
  describe(0);
  s.loops[0].type = (bramah_loop_type)9;
  refused(BRAMAH_E_VALUE, "wrist", "type of this loop is unknown");
}

int main(void) { return run_tests_with("mechanisms", setup, NULL); }
