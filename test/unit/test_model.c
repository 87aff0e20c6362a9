/* SPDX-License-Identifier: MIT */
/* Compiling a machine: what is refused, with which name; memory of the caller; starting values. */
#include "bramah/coupled.h"
#include "test/support/four_bar.h"
#include "test/support/run.h"
#include "test/support/running.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static four_bar fb;
static bramah_diag diag;

static void setup(void) { four_bar_describe(&fb, 1.0, 1000000); }

static void refused(bramah_status expected, const char *thing, const char *part)
{
  refuses(&fb.machine, expected, thing, part, &diag);
}

/* ---- what is refused ---- */

static const refusal refusals[] = {
    {"coupler", "mass", 0, 0, {NUMBER(fb.bodies[1].mass, -1.0)}},
    {"rocker", "did you mean 'coupler'", 0, BRAMAH_E_REFERENCE, {NAME(fb.joints[2].parent, "cuopler")}},
    {"orifice", "'v4'", 0, BRAMAH_E_REFERENCE, {NAME(fb.orifices[0].to, "v4")}},
    {"valve", "input 'lever'", 0, BRAMAH_E_REFERENCE, {NAME(fb.valves[0].input, "lever")}},
    {"lift", "did you mean 'v3'", 0, BRAMAH_E_REFERENCE, {NAME(fb.cylinders[0].rod_volume, "v33")}},
    {"pivot", "did you mean 'rocker'", 0, BRAMAH_E_REFERENCE, {NAME(fb.loops[0].body[0], "roker")}},
    {"crank", "not connected to the ground", 0, BRAMAH_E_TOPOLOGY, {NAME(fb.joints[0].parent, "rocker")}},
    {"coupler", "child of more than one joint", 0, BRAMAH_E_TOPOLOGY, {NAME(fb.joints[2].child, "coupler")}},
    {"crank", "more than one body", 0, BRAMAH_E_KEY, {NAME(fb.bodies[2].name, "crank")}},
    {"joints", "differ", 0, BRAMAH_E_TOPOLOGY, {COUNTED(fb.machine.n_bodies, 2)}},
    {"crank", "axis", 0, 0, {NUMBER(fb.joints[0].axis[2], 0.0)}},
    {"valve", "time constant must not be negative", 0, 0, {NUMBER(fb.valves[0].time_constant, -1e-3)}},
    {"lift", "static friction must not be below", 0, 0, {NUMBER(fb.cylinders[0].friction.static_force, 100)}},
    {"v1", "neither a hose nor a cylinder chamber", 0, 0, {COUNTED(fb.volumes[0].n_hoses, 0)}},
};

EACH_TEST(test_refused, 0, sizeof refusals / sizeof refusals[0])
{
  fb.bodies[1].line = 7;
  check_refusal(&fb.machine, &refusals[_i], &diag);
  if (_i == 0) ck_assert_int_eq(diag.line, 7);
}

TEST(test_a_machine_needs_mass)
{
  for (int i = 0; i < 3; i++)
    fb.bodies[i].mass = 0, memset(fb.bodies[i].inertia, 0, sizeof fb.bodies[i].inertia);
  refused(BRAMAH_E_SINGULAR, "four-bar", "needs mass");
}

TEST(test_loops_that_cannot_close)
{
  fb.loops[0].point[1][0] = 40.0;
  fb.loops[0].line = 31;
  refused(BRAMAH_E_CLOSURE, "pivot", "m apart");
  ck_assert_int_eq(diag.line, 31);
  setup();
  fb.loops[0].point[1][2] = 0.1; /* out of the plane */
  refused(BRAMAH_E_CLOSURE, "pivot", "do not meet");
  setup();
  fb.joints[1].initial = BRAMAH_INITIAL_GIVEN;
  fb.joints[2].initial = BRAMAH_INITIAL_GIVEN;
  fb.joints[1].initial_position = -0.5;
  refused(BRAMAH_E_CLOSURE, "crank", "guess"); /* the joint that would have to move */
}

/* A rate is taken where it is given, whichever coordinate the elimination makes independent. */
TEST(test_initial_rates)
{
  fb.joints[0].initial_rate = 0.2;
  const bramah_model *model;
  bramah_coupled *c;
  must(bramah_model_new(&fb.machine, &diag, &model), &diag);
  must(bramah_coupled_new(model, &diag, &c), &diag);
  const bramah_plant p = bramah_coupled_plant(c);
  ck_assert_double_eq_tol(p.output(p.self, must_find(&p, "crank.rate")), 0.2, 1e-14);
  bramah_coupled_free(c);
  bramah_model_free(model);
  fb.joints[2].initial_rate = 3.0;
  refused(BRAMAH_E_VALUE, "rocker", "follows from the other joints");
}

TEST(test_memory_of_the_caller)
{
  const size_t size = bramah_model_size(&fb.machine);
  void *mem = aligned_alloc(64, size);
  const bramah_model *model = NULL;
  ck_assert_int_eq(bramah_model_init(&fb.machine, mem, size - 1, &diag, &model), BRAMAH_E_ARGUMENT);
  ck_assert_int_eq(bramah_model_init(&fb.machine, (char *)mem + 8, size, &diag, &model), BRAMAH_E_ARGUMENT);
  must(bramah_model_init(&fb.machine, mem, size, &diag, &model), &diag);
  const size_t plant_size = bramah_coupled_size(model);
  void *plant_mem = aligned_alloc(64, plant_size);
  bramah_coupled *plant = NULL;
  ck_assert_int_eq(bramah_coupled_init(model, plant_mem, plant_size - 64, &diag, &plant), BRAMAH_E_ARGUMENT);
  must(bramah_coupled_init(model, plant_mem, plant_size, &diag, &plant), &diag);
  const bramah_plant p = bramah_coupled_plant(plant);
  for (int i = 0; i < 10; i++) must(p.step(p.self, &diag), &diag);
  bramah_coupled_free(plant); /* leaves memory of the caller alone */
  free(plant_mem);
  free(mem);
}

TEST(test_questions)
{
  const bramah_model *model;
  must(bramah_model_new(&fb.machine, &diag, &model), &diag);
  const bramah_model_info info = bramah_model_get_info(model);
  ck_assert_uint_eq(info.n_dof, 1);
  ck_assert_uint_eq(info.n_joints, 3);
  ck_assert_uint_eq(info.n_volumes, 3);
  ck_assert_uint_eq(info.n_cylinders, 1);
  ck_assert_str_eq(info.joint_names[2], "rocker");
  ck_assert_str_eq(info.volume_names[0], "v1");
  ck_assert_str_eq(info.input_names[0], "valve");
  ck_assert_int_eq(info.joint_turns[0], 1);
  bramah_model_free(model);
}

/* Joints written in any order come out as a tree. */
TEST(test_order_of_joints_does_not_matter)
{
  const bramah_joint first = fb.joints[0];
  fb.joints[0] = fb.joints[2];
  fb.joints[2] = first;
  const bramah_model *model;
  must(bramah_model_new(&fb.machine, &diag, &model), &diag);
  ck_assert_str_eq(bramah_model_get_info(model).joint_names[0], "crank");
  ck_assert_str_eq(bramah_model_get_info(model).joint_names[1], "coupler");
  ck_assert_str_eq(bramah_model_get_info(model).joint_names[2], "rocker");
  bramah_model_free(model);
}

TEST(test_start_from_given_joints)
{
  const bramah_model *model;
  bramah_coupled *c;
  must(bramah_model_new(&fb.machine, &diag, &model), &diag);
  must(bramah_coupled_new(model, &diag, &c), &diag);
  const bramah_plant p = bramah_coupled_plant(c);
  const size_t crank = 0, two[2] = {0, 1};
  const double at = 1.1, rate = 0.05, pressures[3] = {2e6, 2.1e6, 3e6}, bad[2] = {NAN, 0};
  must(bramah_coupled_start(c, 1, &crank, &at, &rate, pressures, &diag), &diag);
  ck_assert_double_eq(p.output(p.self, must_find(&p, "crank.angle")), 1.1);
  ck_assert_double_eq_tol(p.output(p.self, must_find(&p, "crank.rate")), 0.05, 1e-15);
  ck_assert_double_eq(p.output(p.self, must_find(&p, "v2.pressure")), 2.1e6);
  ck_assert_double_lt(bramah_coupled_constraint_violation(c), 1e-10);
  ck_assert_int_eq(bramah_coupled_start(c, 2, two, pressures, pressures, NULL, &diag), BRAMAH_E_ARGUMENT);
  ck_assert_int_eq(bramah_coupled_start(c, 1, &crank, bad, &rate, NULL, &diag), BRAMAH_E_ARGUMENT);
  bramah_coupled_free(c);
  bramah_model_free(model);
}

/* There is room for every output however long the names are. */
TEST(test_long_names)
{
  static spatial_tree tree;
  static char long_name[12][300];
  const bramah_model *model;
  spatial_tree_describe(&tree, 8, 9u);
  for (size_t b = 0; b < tree.machine.n_bodies; b++) {
    memset(long_name[b], 'a' + (int)b, 280);
    for (size_t j = 0; j < tree.machine.n_joints; j++) {
      if (strcmp(tree.joints[j].child, tree.bodies[b].name) == 0) tree.joints[j].child = long_name[b];
      if (strcmp(tree.joints[j].parent, tree.bodies[b].name) == 0) tree.joints[j].parent = long_name[b];
    }
    tree.bodies[b].name = long_name[b];
  }
  must(bramah_model_new(&tree.machine, &diag, &model), &diag);
  bramah_model_free(model);
}

/* A joint that is given twice leaves another one open. */
TEST(test_start_joint_twice)
{
  static spatial_tree tree;
  const bramah_model *model;
  bramah_coupled *c;
  spatial_tree_describe(&tree, 3, 9u);
  must(bramah_model_new(&tree.machine, &diag, &model), &diag);
  must(bramah_coupled_new(model, &diag, &c), &diag);
  const size_t joints[3] = {0, 2, 0};
  const double zero[3] = {0, 0, 0};
  ck_assert_int_eq(bramah_coupled_start(c, 3, joints, zero, zero, NULL, &diag), BRAMAH_E_ARGUMENT);
  ck_assert_str_eq(diag.thing, bramah_model_get_info(model).joint_names[0]);
  bramah_coupled_free(c);
  bramah_model_free(model);
}

TEST(test_equilibrium_needs_one_given_chamber)
{
  for (int i = 0; i < 3; i++) fb.volumes[i].initial = BRAMAH_PRESSURE_EQUILIBRIUM;
  refused(BRAMAH_E_SINGULAR, "v1", "give the pressure of one chamber");
  setup();
  fb.volumes[0].initial = fb.volumes[1].initial = BRAMAH_PRESSURE_EQUILIBRIUM;
  fb.valves[0].initial_spool = 1.0;
  refused(BRAMAH_E_VALUE, "valve", "closed valve");
  setup();
  fb.volumes[0].initial =
      BRAMAH_PRESSURE_EQUILIBRIUM; /* v2 stays at a pressure that does not hold the crank */
  refused(BRAMAH_E_SINGULAR, "coupler", "at rest");
}

int main(void) { return run_tests_with("model", setup, NULL); }
