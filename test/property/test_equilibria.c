/* SPDX-License-Identifier: MIT */
/* Equilibria: where a machine comes to rest is where a long simulation ends; trims hold what they were asked
 * to; and what cannot balance is named. */
#include "bramah/linear.h"
#include "test/support/driven.h"
#include "test/support/run.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static bramah_diag diag;
static four_bar fb;
static bramah_equilibrium_report report;
static const double degree = 3.14159265358979323846 / 180.0;

typedef struct rig {
  const bramah_model *model;
  bramah_coupled *c;
  bramah_plant plant;
  bramah_linearization *l;
} rig;

static void open_rig(rig *r, const bramah_machine *machine)
{
  size_t parameter[64];
  must(bramah_model_new(machine, &diag, &r->model), &diag);
  must(bramah_coupled_new(r->model, &diag, &r->c), &diag);
  r->plant = bramah_coupled_plant(r->c);
  for (size_t i = 0; i < r->plant.n_parameter; i++) parameter[i] = i;
  const bramah_linearization_options options = {
      .n_parameters = r->plant.n_parameter, .parameters = parameter, .all_outputs = 1};
  must(bramah_linearization_new(r->model, &options, &diag, &r->l), &diag);
}

static void close_rig(rig *r)
{
  bramah_linearization_free(r->l);
  bramah_coupled_free(r->c);
  bramah_model_free(r->model);
}

static double value(const rig *r, const char *name)
{
  return r->plant.output(r->plant.self, must_find(&r->plant, name));
}

static size_t output_of(const rig *r, const char *name)
{
  const bramah_linear_system *s = bramah_linearization_system(r->l);
  for (size_t i = 0; i < s->n_y; i++)
    if (strcmp(s->y_name[i], name) == 0) return i;
  ck_abort_msg("no output %s", name);
  return 0;
}

static size_t input_of(const rig *r, const char *name)
{
  const bramah_linear_system *s = bramah_linearization_system(r->l);
  for (size_t i = 0; i < s->n_u; i++)
    if (strcmp(s->u_name[i], name) == 0) return i;
  ck_abort_msg("no input %s", name);
  return 0;
}

/* Up to four held outputs and one free input. */
static bramah_status trim(rig *r, size_t n, const char *const *held, const double *target,
                          const char *free_one)
{
  size_t number[4], input = 0;
  for (size_t i = 0; i < n; i++) number[i] = output_of(r, held[i]);
  if (free_one) input = input_of(r, free_one);
  const bramah_trim t = {
      .n_held = n, .held = number, .target = target, .n_free = free_one != NULL, .free = &input};
  return bramah_trim_find(r->l, r->c, &t, &report, &diag);
}

static void is_at_rest(const rig *r)
{
  printf("%d iterations, %.2g rad/s^2, %.2g Pa/s\n", report.iterations, report.acceleration,
         report.pressure_rate);
  ck_assert_double_lt(report.acceleration, 1e-6);
  ck_assert_double_lt(report.pressure_rate, 1.0);
  ck_assert_double_eq(value(r, "crank.rate"), 0.0);
}

/* The four-bar of the papers starts out of balance with its valve closed: oil is trapped. */
static void describe(void)
{
  four_bar_describe(&fb, 1.0, 1000000);
  fb.cylinders[0].friction = (bramah_friction){.model = BRAMAH_FRICTION_VISCOUS, .viscous = 2e4};
}

TEST(test_settle)
{
  rig r, long_run;
  describe();
  open_rig(&r, &fb.machine);
  open_rig(&long_run, &fb.machine);
  must(bramah_settle(r.l, r.c, &report, &diag), &diag);
  is_at_rest(&r);
  for (int k = 0; k < 3000; k++) must(long_run.plant.step(long_run.plant.self, &diag), &diag);
  static const char *const output[] = {"crank.angle", "v1.pressure", "v2.pressure", "v3.pressure"};
  for (int i = 0; i < 4; i++) {
    const double a = value(&r, output[i]), b = value(&long_run, output[i]);
    printf("%s: %.9g, after 3 s of simulation %.9g\n", output[i], a, b);
    ck_assert_double_eq_tol(a, b, i ? 2e-4 * b : 2e-6);
  }
  close_rig(&long_run);
  close_rig(&r);
}

/* A pendulum left near its upper equilibrium ends at the lower one; without damping of its own. */
TEST(test_leaves_unstable)
{
  const bramah_body body = {
      .name = "bob", .mass = 2.0, .centre_of_mass = {0, 0, -0.5}, .inertia = {0.1, 0.1, 0.1}};
  const bramah_joint joint = {.name = "hinge",
                              .type = BRAMAH_JOINT_REVOLUTE,
                              .parent = "ground",
                              .child = "bob",
                              .axis = {1, 0, 0},
                              .initial_position = 3.1,
                              .initial = BRAMAH_INITIAL_GIVEN};
  const bramah_machine machine = {.name = "pendulum",
                                  .gravity = {0, 0, -9.81},
                                  .n_bodies = 1,
                                  .bodies = &body,
                                  .n_joints = 1,
                                  .joints = &joint};
  rig r;
  open_rig(&r, &machine);
  must(bramah_settle(r.l, r.c, &report, &diag), &diag);
  printf("hinge at %.12g after %d iterations\n", value(&r, "hinge.angle"), report.iterations);
  ck_assert_double_eq_tol(sin(value(&r, "hinge.angle")), 0.0, 1e-8);
  ck_assert_double_gt(cos(value(&r, "hinge.angle")), 0.99);
  close_rig(&r);
}

/* With an open valve the machine goes on moving until its cylinder ends: nothing to rest at. */
TEST(test_keeps_moving)
{
  const bramah_body body = {.name = "cart", .mass = 2.0, .inertia = {0.1, 0.1, 0.1}};
  const bramah_joint joint = {
      .name = "rail", .type = BRAMAH_JOINT_PRISMATIC, .parent = "ground", .child = "cart", .axis = {0, 0, 1}};
  const bramah_joint_spring damper = {.name = "damper", .joint = "rail", .damping = 4.0};
  const bramah_machine machine = {.name = "fall",
                                  .gravity = {0, 0, -9.81},
                                  .n_bodies = 1,
                                  .bodies = &body,
                                  .n_joints = 1,
                                  .joints = &joint,
                                  .n_joint_springs = 1,
                                  .joint_springs = &damper};
  rig r;
  open_rig(&r, &machine);
  ck_assert_int_eq(bramah_settle(r.l, r.c, &report, &diag), BRAMAH_E_NO_CONVERGENCE);
  printf("%s: %s\n", diag.thing, diag.message);
  ck_assert_str_eq(diag.thing, "cart");
  ck_assert_double_eq(value(&r, "rail.position"), 0.0);
  close_rig(&r);
}

/* Pose and one pressure given: the other pressures are those that equilibrium at the start gives at this
 * pose. */
TEST(test_given_pressure)
{
  static const char *const held[] = {"crank.angle", "v3.pressure"};
  const double target[] = {50.0 * degree, 3e6};
  rig r, other;
  describe();
  open_rig(&r, &fb.machine);
  must(trim(&r, 2, held, target, NULL), &diag);
  is_at_rest(&r);
  fb.joints[0].initial_position = target[0];
  fb.volumes[0].initial = fb.volumes[1].initial = BRAMAH_PRESSURE_EQUILIBRIUM;
  fb.volumes[2].initial_pressure = target[1];
  open_rig(&other, &fb.machine);
  ck_assert_double_eq_tol(value(&r, "crank.angle"), target[0], 1e-12);
  ck_assert_double_eq_tol(value(&r, "v3.pressure"), 3e6, 1e-6);
  ck_assert_double_eq_tol(value(&r, "v2.pressure"), value(&other, "v2.pressure"), 0.1);
  ck_assert_double_eq_tol(value(&r, "v1.pressure"), value(&r, "v2.pressure"), 0.1);
  close_rig(&other);
  close_rig(&r);
}

/* Pressures and pose given, load free: the load makes up for what the pressures do not hold. */
TEST(test_free_load)
{
  static const char *const held[] = {"crank.angle", "v1.pressure", "v2.pressure", "v3.pressure"};
  const double target[] = {55.0 * degree, 3e6, 3e6, 3e6};
  rig r;
  describe();
  open_rig(&r, &fb.machine);
  must(trim(&r, 4, held, target, "crank.load"), &diag);
  is_at_rest(&r);
  const size_t load = must_find_parameter(&r.plant, "crank.load");
  const double torque = r.plant.parameter(r.plant.self, load);
  printf("load %.9g N m\n", torque);
  ck_assert_double_gt(fabs(torque), 10.0);
  for (int i = 0; i < 4; i++) ck_assert_double_eq_tol(value(&r, held[i]), target[i], 1e-9 * target[i]);
  close_rig(&r);
}

/* The piston leaks: some command makes up for it. What comes through the valve is then what leaks. */
TEST(test_free_command)
{
  static const char *const held[] = {"crank.angle"};
  const double target[] = {58.0 * degree};
  const bramah_leakage leak = {.name = "piston", .cylinder = "lift", .conductance = 2e-12};
  rig r;
  describe();
  fb.machine.n_leakages = 1;
  fb.machine.leakages = &leak;
  open_rig(&r, &fb.machine);
  const double command = 1.0; /* with equal pressures and a closed valve nothing leaks: another equilibrium */
  must(r.plant.set_inputs(r.plant.self, &command, &diag), &diag);
  must(trim(&r, 1, held, target, "valve.command"), &diag);
  is_at_rest(&r);
  printf("command %.6g V, leak %.4g m^3/s, p2 %.6g p3 %.6g\n", value(&r, "valve.command"),
         value(&r, "piston.flow"), value(&r, "v2.pressure"), value(&r, "v3.pressure"));
  ck_assert_double_eq_tol(value(&r, "crank.angle"), target[0], 1e-10);
  ck_assert_double_gt(fabs(value(&r, "valve.command")), 1e-6);
  ck_assert_double_eq(value(&r, "valve.spool"), value(&r, "valve.command"));
  ck_assert_double_eq_tol(value(&r, "valve.flow_a") / value(&r, "piston.flow"), 1.0, 1e-6);
  close_rig(&r);
}

/* All pressures and the pose given, nothing free: the mechanism does not balance. Unequal pressures at the
 * orifice: a volume does not. Where no pose is: the output says so. Each time the plant is as before. */
TEST(test_unreachable)
{
  static const char *const held[] = {"crank.angle", "v1.pressure", "v2.pressure", "v3.pressure"};
  const double too_much[] = {55.0 * degree, 3e6, 3e6, 1e6}, flows[] = {1e6, 3e6};
  rig r;
  describe();
  open_rig(&r, &fb.machine);
  const double angle = value(&r, "crank.angle"), pressure = value(&r, "v2.pressure");
  ck_assert_int_eq(trim(&r, 4, held, too_much, NULL), BRAMAH_E_NO_CONVERGENCE);
  printf("%s: %s\n", diag.thing, diag.message);
  ck_assert_ptr_nonnull(strstr(diag.message, "does not balance"));
  ck_assert_str_eq(diag.thing, "coupler"); /* the body of the independent coordinate */
  ck_assert_int_eq(trim(&r, 2, held + 1, flows, NULL), BRAMAH_E_NO_CONVERGENCE);
  printf("%s: %s\n", diag.thing, diag.message);
  if (strcmp(diag.thing, "v1") && strcmp(diag.thing, "v2")) ck_abort_msg("%s: %s", diag.thing, diag.message);
  static const char *const stroke[] = {"lift.stroke"};
  const double long_stroke[] = {9.0};
  ck_assert_int_eq(trim(&r, 1, stroke, long_stroke, NULL), BRAMAH_E_NO_CONVERGENCE);
  printf("%s: %s\n", diag.thing, diag.message);
  ck_assert_str_eq(diag.thing, "lift.stroke");
  ck_assert_double_eq(value(&r, "crank.angle"), angle);
  ck_assert_double_eq(value(&r, "v2.pressure"), pressure);
  close_rig(&r);
}

/* A state of a simulation, given back to a plant at its start: the same rates to what closing the loops
 * leaves. What is too far away is refused. */
TEST(test_place)
{
  rig r, other;
  double x[16], xd[16];
  describe();
  open_rig(&r, &fb.machine);
  open_rig(&other, &fb.machine);
  const double command = 8.0;
  must(r.plant.set_inputs(r.plant.self, &command, &diag), &diag);
  for (int k = 0; k < 1200; k++) must(r.plant.step(r.plant.self, &diag), &diag);
  must(bramah_linearization_run(r.l, r.c, &diag), &diag);
  must(bramah_linearization_run(other.l, other.c, &diag), &diag);
  const bramah_linear_system *s = bramah_linearization_system(r.l), *t = bramah_linearization_system(other.l);
  memcpy(x, s->x, s->n * sizeof *x);
  memcpy(xd, s->xd, s->n * sizeof *xd);
  ck_assert_double_gt(fabs(x[0] - t->x[0]), 0.1);
  must(other.plant.set_inputs(other.plant.self, &command, &diag), &diag);
  must(bramah_linearization_place(other.l, other.c, x, &diag), &diag);
  must(bramah_linearization_run(other.l, other.c, &diag), &diag);
  for (size_t i = 0; i < s->n; i++) {
    ck_assert_str_eq(s->x_name[i], t->x_name[i]);
    ck_assert_double_eq_tol(t->x[i], x[i], 1e-9 * fmax(1.0, fabs(x[i])));
    ck_assert_double_eq_tol(t->xd[i], xd[i], 1e-6 * fmax(1.0, fabs(xd[i])));
  }

  /* From wherever the plant has gone since, in whatever coordinates. */
  static double snap[256];
  ck_assert_uint_le(other.plant.snapshot_size, sizeof snap);
  other.plant.save(other.plant.self, snap);
  for (int k = 0; k < 700; k++) must(other.plant.step(other.plant.self, &diag), &diag);
  ck_assert_double_gt(fabs(value(&other, t->x_name[0]) - x[0]), 0.1);
  x[0] += 0.02;
  must(bramah_linearization_place(other.l, other.c, x, &diag), &diag);
  for (size_t i = 0; i < 2; i++) ck_assert_double_eq_tol(value(&other, t->x_name[i]), x[i], 1e-9);
  x[0] -= 0.02;
  other.plant.restore(other.plant.self, snap);
  const double angle = value(&other, "crank.angle");
  x[0] += 1e4;
  ck_assert_int_eq(bramah_linearization_place(other.l, other.c, x, &diag), BRAMAH_E_CLOSURE);
  printf("%s: %s\n", diag.thing, diag.message);
  ck_assert_double_eq(value(&other, "crank.angle"), angle);
  x[1] = (double)NAN;
  ck_assert_int_eq(bramah_linearization_place(other.l, other.c, x, &diag), BRAMAH_E_NOT_FINITE);
  close_rig(&other);
  close_rig(&r);
}

/* A crank that is driven round has no equilibrium; one that is held has. */
EACH_TEST(test_driven, 0, 2)
{
  static driven d;
  driven_slider_describe(&d, 1000000);
  if (_i) d.motion.rate = 0.0;
  rig r;
  open_rig(&r, &d.machine);
  const bramah_status status = bramah_settle(r.l, r.c, &report, &diag);
  if (_i) {
    must(status, &diag);
    ck_assert_double_lt(report.acceleration, 1e-6);
  } else {
    printf("%s: %s\n", diag.thing, diag.message);
    ck_assert_int_ne(status, BRAMAH_OK);
  }
  close_rig(&r);
}

/* Numbers out of range, and more of them than there are, before anything moves. */
TEST(test_wrong_trim)
{
  static size_t many[4096];
  static double target[4096];
  rig r;
  describe();
  open_rig(&r, &fb.machine);
  const bramah_linear_system *s = bramah_linearization_system(r.l);
  ck_assert_uint_lt(s->n_y, 4096);
  const size_t no_output = s->n_y, no_input = s->n_u;
  const double infinite = (double)INFINITY;
  const bramah_trim wrong[] = {{.n_held = 1, .held = &no_output, .target = target},
                               {.n_held = 1, .held = many, .target = &infinite},
                               {.n_held = s->n_y + 1, .held = many, .target = target},
                               {.n_free = 1, .free = &no_input},
                               {.n_free = s->n_u + 1, .free = many}};
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
    ck_assert_int_eq(bramah_trim_find(r.l, r.c, &wrong[i], &report, &diag), BRAMAH_E_ARGUMENT);
    ck_assert_str_eq(diag.thing, "trim");
  }
  close_rig(&r);
}

int main(void) { return run_tests("equilibria"); }
