/* SPDX-License-Identifier: MIT */
/* Every kind of sensor against a hand calculation, its row against central differences, what it refuses; and
 * what resolution and range do. */
#include "bramah/coupled.h"
#include "bramah/sensor.h"
#include "sensors/kinds.h"
#include "test/support/four_bar.h"
#include "test/support/run.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double pi = 3.14159265358979323846, g = 9.81;
static bramah_diag diag;

typedef struct machine {
  const bramah_model *model;
  bramah_coupled *c;
  bramah_plant p;
} machine;

static machine open_machine(const bramah_machine *description)
{
  machine m;
  must(bramah_model_new(description, &diag, &m.model), &diag);
  must(bramah_coupled_new(m.model, &diag, &m.c), &diag);
  m.p = bramah_coupled_plant(m.c);
  return m;
}

static void close_machine(machine *m)
{
  bramah_coupled_free(m->c);
  bramah_model_free(m->model);
}

static double value(const machine *m, const char *name)
{
  return m->p.output(m->p.self, must_find(&m->p, name));
}

static bramah_sensor bind(const machine *m, bramah_sensor_options options)
{
  bramah_sensor sensor;
  options.name = "s";
  options.sigma = 1.0;
  must(bramah_sensor_init(&options, &m->p, &diag, &sensor), &diag);
  return sensor;
}

static double predict(const machine *m, bramah_sensor_options options)
{
  const bramah_sensor sensor = bind(m, options);
  return bramah_sensor_predict(&sensor, &m->p);
}

static void refuse(const machine *m, bramah_sensor_options options, bramah_status status, const char *message)
{
  bramah_sensor sensor = {.name = "untouched"};
  options.name = "s";
  options.line = 7;
  if (options.sigma == 0.0) options.sigma = 1.0;
  ck_assert_int_eq(bramah_sensor_init(&options, &m->p, &diag, &sensor), status);
  ck_assert_str_eq(diag.message, message);
  ck_assert_str_eq(diag.thing, "s");
  ck_assert_int_eq(diag.line, 7);
  ck_assert_str_eq(sensor.name, "untouched");
}

/* A body that slides along x and turns about the vertical-plane normal z behind it; x along the arm. */
typedef struct arm {
  bramah_body bodies[2];
  bramah_joint joints[2];
  bramah_machine machine;
} arm;

static const bramah_machine *describe_arm(arm *a, double angle, double rate, double gravity)
{
  *a = (arm){
      .bodies = {{.name = "cart", .mass = 3.0},
                 {.name = "boom", .mass = 2.0, .centre_of_mass = {0.5, 0, 0}, .inertia = {0.1, 0.2, 0.3}}},
      .joints = {{.name = "rail",
                  .type = BRAMAH_JOINT_PRISMATIC,
                  .parent = "ground",
                  .child = "cart",
                  .axis = {1, 0, 0}},
                 {.name = "swing",
                  .type = BRAMAH_JOINT_REVOLUTE,
                  .parent = "cart",
                  .child = "boom",
                  .position = {0, 0.4, 0},
                  .axis = {0, 0, 1},
                  .initial_position = angle,
                  .initial_rate = rate}}};
  a->machine = (bramah_machine){.name = "arm",
                                .gravity = {0, -gravity, 0},
                                .n_bodies = 2,
                                .bodies = a->bodies,
                                .n_joints = 2,
                                .joints = a->joints};
  return &a->machine;
}

static bramah_sensor_options accelerometer(const char *body, double x, double y, double ax, double ay)
{
  return (bramah_sensor_options){
      .kind = BRAMAH_SENSOR_ACCELEROMETER, .at = body, .point = {x, y, 0}, .axis = {ax, ay, 0}};
}

/* Falling freely it feels nothing, held it feels +g upwards: the cart carries the boom. */
TEST(test_accelerometer_at_rest)
{
  arm a;
  machine m = open_machine(describe_arm(&a, -pi / 2, 0.0, g)); /* hangs at rest */
  ck_assert_double_eq_tol(predict(&m, accelerometer("boom", 0.7, 0.2, -3, 0)), g, 1e-12);
  ck_assert_double_eq_tol(predict(&m, accelerometer("boom", 0.7, 0.2, 0, 1)), 0.0, 1e-12);
  ck_assert_double_eq_tol(predict(&m, accelerometer("boom", 0, 0, 1, 0)), -g, 1e-12);
  ck_assert_double_eq_tol(predict(&m, accelerometer("cart", 1, 2, 0, 1)), g, 1e-12);
  close_machine(&m);
}

/* Without gravity the boom of a heavy cart spins evenly: -omega^2 r inwards along the arm. */
TEST(test_accelerometer_on_a_spinning_arm)
{
  arm a;
  describe_arm(&a, 0.3, 4.0, 0.0);
  a.bodies[1].centre_of_mass[0] = 0.0;
  machine m = open_machine(&a.machine);
  ck_assert_double_eq_tol(predict(&m, accelerometer("boom", 0.7, 0, 1, 0)), -16.0 * 0.7, 1e-12);
  ck_assert_double_eq_tol(predict(&m, accelerometer("boom", 0.7, 0, 0, 1)), 0.0, 1e-12);
  ck_assert_double_eq_tol(predict(&m, accelerometer("boom", 0.0, 0.5, 3, 4)), -16.0 * 0.5 * 0.8, 1e-12);
  close_machine(&m);
}

/* In motion: s' r of the point by hand, x = z + r cos q, y = r sin q, from the joint accelerations. */
TEST(test_accelerometer_in_motion)
{
  arm a;
  const double q = 0.7, w = 2.5, r = 0.9;
  machine m = open_machine(describe_arm(&a, q, w, g));
  const double zdd = value(&m, "rail.acceleration"), qdd = value(&m, "swing.acceleration");
  const double ax = zdd - r * (qdd * sin(q) + w * w * cos(q)), ay = r * (qdd * cos(q) - w * w * sin(q));
  ck_assert_double_gt(fabs(qdd), 1.0);
  ck_assert_double_gt(fabs(zdd), 0.1);
  ck_assert_double_eq_tol(predict(&m, accelerometer("boom", r, 0, 1, 0)), ax * cos(q) + (ay + g) * sin(q),
                          1e-12);
  ck_assert_double_eq_tol(predict(&m, accelerometer("boom", r, 0, 0, 2)), -ax * sin(q) + (ay + g) * cos(q),
                          1e-12);
  close_machine(&m);
}

static void cross(const double *a, const double *b, double *out)
{
  for (int k = 0; k < 3; k++) out[k] = a[(k + 1) % 3] * b[(k + 2) % 3] - a[(k + 2) % 3] * b[(k + 1) % 3];
}

static void vector(const machine *m, const char *stem, double *out)
{
  for (int k = 0; k < 3; k++) {
    char name[64];
    snprintf(name, sizeof name, "%s%c", stem, "xyz"[k]);
    out[k] = value(m, name);
  }
}

/* In space: a . (f + alpha x r + omega x (omega x r)) by cross products, for directions and points along and
 * across all axes of a body that turns about all of them. */
TEST(test_accelerometer_in_space)
{
  spatial_tree tree;
  spatial_tree_describe(&tree, 8, 77);
  machine m = open_machine(&tree.machine);
  double f[3], alpha[3], omega[3], inner[3], lever[3], centripetal[3];
  vector(&m, "b7.specific_force_", f);
  vector(&m, "b7.angular_acceleration_", alpha);
  vector(&m, "b7.body_rate_", omega);
  for (int k = 0; k < 3; k++) ck_assert(fabs(alpha[k]) > 0.1 && fabs(omega[k]) > 0.1);
  for (int i = 0; i < 16; i++) {
    const double r[3] = {i / 4 == 0, i / 4 == 1, i / 4 == 2}, some[3] = {0.3, -0.4, 0.5};
    const double *point = i < 12 ? r : some;
    const double a[3] = {i % 4 == 0 || i % 4 == 3,
                         i % 4 == 1   ? 1.0
                         : i % 4 == 3 ? 2.0
                                      : 0.0,
                         i % 4 == 2   ? 1.0
                         : i % 4 == 3 ? -1.0
                                      : 0.0};
    const double length = sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]);
    const bramah_sensor_options options = {.kind = BRAMAH_SENSOR_ACCELEROMETER,
                                           .at = "b7",
                                           .point = {point[0], point[1], point[2]},
                                           .axis = {a[0], a[1], a[2]}};
    double expected = 0.0;
    cross(alpha, point, lever);
    cross(omega, point, inner);
    cross(omega, inner, centripetal);
    for (int k = 0; k < 3; k++) expected += a[k] / length * (f[k] + lever[k] + centripetal[k]);
    ck_assert_double_eq_tol(predict(&m, options), expected, 1e-12 * (fabs(expected) + 10.0));
  }
  close_machine(&m);
}

static bramah_sensor_options inclinometer(double ax, double ay, double about)
{
  return (bramah_sensor_options){
      .kind = BRAMAH_SENSOR_INCLINOMETER, .at = "boom", .axis = {ax, ay, 0}, .about = {0, 0, about}};
}

/* Angle of the boom at every angle of the joint. Without `about` it folds at +-90 deg. */
TEST(test_inclinometer)
{
  for (int i = -17; i <= 18; i++) {
    arm a;
    const double q = i * pi / 18.0 - 0.01;
    machine m = open_machine(describe_arm(&a, q, 0.0, g));
    ck_assert_double_eq_tol(predict(&m, inclinometer(5, 0, 0)), asin(sin(q)), 1e-12);
    ck_assert_double_eq_tol(predict(&m, inclinometer(5, 0, 2)), q, 1e-12);
    ck_assert_double_eq_tol(predict(&m, inclinometer(5, 0, -2)), remainder(pi - q, 2 * pi), 1e-12);
    /* a sensor that sits askew by atan(3/4) */
    ck_assert_double_eq_tol(predict(&m, inclinometer(4, 3, 1)), remainder(q + atan2(3, 4), 2 * pi), 1e-12);
    close_machine(&m);
  }
}

TEST(test_inclinometer_wraps)
{
  arm a;
  machine m = open_machine(describe_arm(&a, pi - 0.05, 0.0, g));
  const bramah_sensor full = bind(&m, inclinometer(1, 0, 1)), half = bind(&m, inclinometer(1, 0, 0));
  ck_assert_double_eq_tol(bramah__sensor_innovation(&full, -pi + 0.05, bramah_sensor_predict(&full, &m.p)),
                          0.1, 1e-12);
  ck_assert(full.period == 2.0 * pi && half.period == 0.0);
  ck_assert_str_eq(full.unit, "rad");
  /* about an axis that is not across the direction: only its part across it counts */
  bramah_sensor_options askew = inclinometer(1, 0, 1);
  askew.about[0] = 3.0;
  ck_assert_double_eq_tol(predict(&m, askew), pi - 0.05, 1e-12);
  close_machine(&m);
}

/* Right where the boom is upright: nothing infinite. */
TEST(test_inclinometer_upright)
{
  arm a;
  double row[4], term[4], dx[4], snap[256];
  machine m = open_machine(describe_arm(&a, pi / 2, 0.0, g));
  ck_assert_uint_le(m.p.snapshot_size, sizeof snap);
  const bramah_sensor half = bind(&m, inclinometer(1, 0, 0)), full = bind(&m, inclinometer(1, 0, 1));
  ck_assert_double_eq_tol(bramah_sensor_predict(&half, &m.p), pi / 2, 1e-7);
  must(bramah_sensor_row(&half, &m.p, row, term, snap, dx, &diag), &diag);
  for (int k = 0; k < 4; k++) ck_assert_double_le(fabs(row[k]), 1.0);
  must(bramah_sensor_row(&full, &m.p, row, term, snap, dx, &diag), &diag);
  ck_assert_double_eq_tol(row[1], 1.0, 1e-12);
  close_machine(&m);
}

/* ---- the four-bar ---- */

static four_bar fb;

static machine open_four_bar(int steps, double u)
{
  four_bar_describe(&fb, 1.0, 1000000);
  fb.machine.transition_pressure = 1e5; /* its orifice works beyond that */
  machine m = open_machine(&fb.machine);
  must(m.p.set_inputs(m.p.self, &u, &diag), &diag);
  for (int i = 0; i < steps; i++) must(m.p.step(m.p.self, &diag), &diag);
  return m;
}

static double signed_root(double x) { return copysign(sqrt(fabs(x)), x); }

TEST(test_hydraulic_sensors)
{
  machine m = open_four_bar(300, 10.0);
  const double p1 = value(&m, "v1.pressure"), p2 = value(&m, "v2.pressure"), p3 = value(&m, "v3.pressure");
  const bramah_sensor_options difference = {
      .kind = BRAMAH_SENSOR_PRESSURE_DIFFERENCE, .at = "v1", .less = "v2"};
  ck_assert_double_eq(predict(&m, difference), p1 - p2);
  const bramah_sensor_options through = {.kind = BRAMAH_SENSOR_FLOW, .at = "orifice"};
  ck_assert_double_gt(p1 - p2, 1e5);
  ck_assert_double_eq_tol(predict(&m, through), 0.8 * 2.83e-5 * sqrt(2.0 / 850.0 * (p1 - p2)), 1e-15);
  bramah_sensor_options port = {.kind = BRAMAH_SENSOR_FLOW, .at = "valve", .port = BRAMAH_SENSOR_PORT_A};
  const double C = 2.138e-8 * value(&m, "valve.spool");
  ck_assert_double_eq_tol(predict(&m, port), C * signed_root(7.6e6 - p1), 1e-12);
  port.port = BRAMAH_SENSOR_PORT_B;
  ck_assert_double_eq_tol(predict(&m, port), -C * signed_root(p3 - 1e5), 1e-12);
  const bramah_sensor_options stroke = {.kind = BRAMAH_SENSOR_STROKE, .at = "lift"};
  const double angle = value(&m, "crank.angle");
  ck_assert_double_eq_tol(predict(&m, stroke), hypot(1.0 + cos(angle), sin(angle)), 1e-12);
  close_machine(&m);
}

/* Pressures times areas less friction. */
TEST(test_load_pin)
{
  machine m = open_four_bar(80, 10.0);
  const bramah_sensor_options pin = {.kind = BRAMAH_SENSOR_LOAD_PIN, .at = "lift"};
  const double force = value(&m, "v2.pressure") * fb.cylinders[0].piston_area -
                       value(&m, "v3.pressure") * fb.cylinders[0].rod_area - value(&m, "lift.friction");
  ck_assert_double_gt(fabs(value(&m, "lift.friction")), 10.0);
  ck_assert_double_eq_tol(predict(&m, pin), force, 1e-9);
  close_machine(&m);
}

/* A load that hangs on a vertical cylinder: at equilibrium the pin carries its weight. */
TEST(test_load_pin_carries_the_weight)
{
  static const bramah_hose hose = {1e-4, 5.5e8};
  const bramah_body load = {.name = "load", .mass = 500.0};
  const bramah_joint guide = {.name = "guide",
                              .type = BRAMAH_JOINT_PRISMATIC,
                              .parent = "ground",
                              .child = "load",
                              .axis = {0, 1, 0}};
  const bramah_volume volumes[2] = {
      {.name = "bottom", .n_hoses = 1, .hoses = &hose, .initial = BRAMAH_PRESSURE_EQUILIBRIUM},
      {.name = "top", .n_hoses = 1, .hoses = &hose, .initial_pressure = 1e6}};
  const bramah_cylinder jack = {.name = "jack",
                                .body = {"ground", "load"},
                                .point = {{0, -2, 0}, {0, 0, 0}},
                                .piston_volume = "bottom",
                                .rod_volume = "top",
                                .piston_area = 5e-3,
                                .rod_area = 4e-3,
                                .bulk_modulus = 3e10,
                                .reference_stroke = 2.0,
                                .piston_chamber_length = 0.5,
                                .rod_chamber_length = 0.5};
  const bramah_machine lifted = {.name = "lift",
                                 .gravity = {0, -g, 0},
                                 .oil_bulk_modulus = 1.5e9,
                                 .n_bodies = 1,
                                 .bodies = &load,
                                 .n_joints = 1,
                                 .joints = &guide,
                                 .n_volumes = 2,
                                 .volumes = volumes,
                                 .n_cylinders = 1,
                                 .cylinders = &jack};
  machine m = open_machine(&lifted);
  const bramah_sensor_options pin = {.kind = BRAMAH_SENSOR_LOAD_PIN, .at = "jack"};
  for (int i = 0; i < 100; i++) must(m.p.step(m.p.self, &diag), &diag);
  ck_assert_double_eq_tol(predict(&m, pin), 500.0 * g, 1e-3);
  close_machine(&m);
}

/* ---- rows ---- */

static void check_row(const machine *m, bramah_sensor_options options)
{
  static double snap[512], other[512];
  double row[16], term[16], dx[16];
  const bramah_sensor sensor = bind(m, options);
  const size_t n = bramah_plant_n_error(&m->p);
  ck_assert_uint_le(n, 16);
  ck_assert_uint_le(m->p.snapshot_size, sizeof snap);
  must(bramah_sensor_row(&sensor, &m->p, row, term, other, dx, &diag), &diag);
  m->p.save(m->p.self, snap);
  double largest = 0.0;
  for (size_t k = 0; k < n; k++) {
    const double step = k < 2 * m->p.n_dof ? 1e-5 : 100.0;
    double side[2];
    for (int s = 0; s < 2; s++) {
      memset(dx, 0, sizeof dx);
      dx[k] = s ? step : -step;
      m->p.restore(m->p.self, snap);
      must(m->p.inject(m->p.self, dx, &diag), &diag);
      side[s] = bramah_sensor_predict(&sensor, &m->p);
    }
    const double difference = (side[1] - side[0]) / (2 * step);
    largest = fmax(largest, fabs(difference));
    ck_assert_msg(fabs(row[k] - difference) <= 1e-7 * fabs(row[k]) + 1e-9 * largest + 1e-12 * sensor.sigma,
                  "%s by %zu: %.12g, difference %.12g", bramah_sensor_kind_name(options.kind), k, row[k],
                  difference);
  }
  m->p.restore(m->p.self, snap);
  ck_assert_double_gt(largest, 0.0);
}

TEST(test_rows_on_the_four_bar)
{
  static const bramah_sensor_options sensors[] = {
      {.kind = BRAMAH_SENSOR_ACCELEROMETER, .at = "coupler", .point = {4, 0.3, -0.2}, .axis = {1, 2, 0}},
      {.kind = BRAMAH_SENSOR_ACCELEROMETER, .at = "rocker", .axis = {0, 1, 0}},
      {.kind = BRAMAH_SENSOR_INCLINOMETER, .at = "rocker", .axis = {1, 0, 0}},
      {.kind = BRAMAH_SENSOR_INCLINOMETER, .at = "rocker", .axis = {1, 0.5, 0}, .about = {0, 0, 1}},
      {.kind = BRAMAH_SENSOR_STROKE, .at = "lift"},
      {.kind = BRAMAH_SENSOR_PRESSURE_DIFFERENCE, .at = "v1", .less = "v3"},
      {.kind = BRAMAH_SENSOR_FLOW, .at = "orifice"},
      {.kind = BRAMAH_SENSOR_FLOW, .at = "valve", .port = BRAMAH_SENSOR_PORT_B},
      {.kind = BRAMAH_SENSOR_LOAD_PIN, .at = "lift"}};
  machine m = open_four_bar(80, 10.0);
  size_t scale;
  must(bramah_plant_parameter_index(&m.p, "lift.friction_scale", &scale, &diag), &diag);
  for (int round = 0; round < 3; round++) {
    for (size_t i = 0; i < sizeof sensors / sizeof sensors[0]; i++) check_row(&m, sensors[i]);
    if (round == 1) must(m.p.set_parameter(m.p.self, scale, 3.0, &diag), &diag);
    for (int i = 0; i < 50; i++)
      must(m.p.step(m.p.self, &diag), &diag); /* nothing kept from the first round */
  }
  close_machine(&m);
}

/* All twelve terms at once, on a body that turns about everything. */
TEST(test_rows_on_a_spatial_tree)
{
  spatial_tree tree;
  spatial_tree_describe(&tree, 8, 77);
  machine m = open_machine(&tree.machine);
  const bramah_sensor_options full = {
      .kind = BRAMAH_SENSOR_ACCELEROMETER, .at = "b7", .point = {0.3, -0.4, 0.5}, .axis = {1, 2, -1}};
  const bramah_sensor sensor = bind(&m, full);
  ck_assert_uint_eq(sensor.n_terms, BRAMAH_SENSOR_MAX_TERMS);
  check_row(&m, full);
  check_row(&m, (bramah_sensor_options){.kind = BRAMAH_SENSOR_INCLINOMETER, .at = "b7", .axis = {1, 2, -1}});
  check_row(&m, (bramah_sensor_options){
                    .kind = BRAMAH_SENSOR_INCLINOMETER, .at = "b7", .axis = {1, 2, -1}, .about = {3, 1, 0}});
  close_machine(&m);
}

/* ---- mistakes ---- */

/* On a bracket, welded to a plate that is welded to the boom: what the boom feels at that point, in those directions. A body
 * that the ground carries has no motion to measure. */
TEST(test_sensors_on_welded_bodies)
{
  arm a;
  describe_arm(&a, 0.7, 2.5, g);
  bramah_body bodies[5] = {
      a.bodies[0], a.bodies[1], {.name = "plate"}, {.name = "bracket"}, {.name = "post"}};
  bramah_joint joints[5] = {
      a.joints[0],
      a.joints[1],
      {.name = "plate",
       .type = BRAMAH_JOINT_FIXED,
       .parent = "boom",
       .child = "plate",
       .position = {0.5, 0.1, 0},
       .rotation = {0, -1, 0, 1, 0, 0, 0, 0, 1}}, /* x up, y back */
      {.name = "bracket",
       .type = BRAMAH_JOINT_FIXED,
       .parent = "plate",
       .child = "bracket",
       .position = {0.2, 0, 0},
       .rotation = {1, 0, 0, 0, -1, 0, 0, 0, -1}}, /* y and z turned over */
      {.name = "post", .type = BRAMAH_JOINT_FIXED, .parent = "ground", .child = "post"}};
  a.machine.bodies = bodies;
  a.machine.joints = joints;
  a.machine.n_bodies = a.machine.n_joints = 5;
  machine m = open_machine(&a.machine);
  /* The bracket's axes in those of the boom: x is y, y is x, z is -z; its origin is at (0.5, 0.3). */
  const bramah_sensor_options
      on[] = {accelerometer("bracket", 0.05, 0.4, 1, 2),
              {.kind = BRAMAH_SENSOR_GYRO, .at = "bracket", .axis = {0, 0, 1}},
              {.kind = BRAMAH_SENSOR_INCLINOMETER, .at = "bracket", .axis = {0, 1, 0}, .about = {0, 0, -1}}},
      same[] = {accelerometer("boom", 0.9, 0.35, 2, 1),
                {.kind = BRAMAH_SENSOR_GYRO, .at = "boom", .axis = {0, 0, -1}},
                {.kind = BRAMAH_SENSOR_INCLINOMETER, .at = "boom", .axis = {1, 0, 0}, .about = {0, 0, 1}}};
  for (size_t i = 0; i < sizeof on / sizeof on[0]; i++) {
    ck_assert_double_gt(fabs(predict(&m, same[i])), 0.1);
    ck_assert_double_eq_tol(predict(&m, on[i]), predict(&m, same[i]), 1e-14 * 50);
  }
  refuse(&m, accelerometer("post", 0, 0, 1, 0), BRAMAH_E_REFERENCE, "there is no body 'post'");
  close_machine(&m);
}

TEST(test_mistakes)
{
  machine m = open_four_bar(0, 0.0);
  refuse(&m, accelerometer("crnk", 0, 0, 1, 0), BRAMAH_E_REFERENCE,
         "there is no body 'crnk'; did you mean 'crank'?");
  refuse(&m, accelerometer("crank", 0, 0, 0, 0), BRAMAH_E_VALUE, "the axis is zero");
  refuse(&m, accelerometer("crank", NAN, 0, 1, 0), BRAMAH_E_VALUE, "the point is not finite");
  refuse(&m, accelerometer("crank", 0, 0, INFINITY, 0), BRAMAH_E_VALUE, "the axis is not finite");
  refuse(&m, (bramah_sensor_options){.kind = BRAMAH_SENSOR_GYRO, .at = "crank", .axis = {NAN, 0, 1}},
         BRAMAH_E_VALUE, "the axis is not finite");
  bramah_sensor_options o = {
      .kind = BRAMAH_SENSOR_INCLINOMETER, .at = "crank", .axis = {1, 0, 0}, .about = {2, 0, 0}};
  refuse(&m, o, BRAMAH_E_VALUE, "'about' must not point along 'axis'");
  o.at = "rockr";
  refuse(&m, o, BRAMAH_E_REFERENCE, "there is no body 'rockr'; did you mean 'rocker'?");
  o = (bramah_sensor_options){.kind = BRAMAH_SENSOR_STROKE, .at = "lft"};
  refuse(&m, o, BRAMAH_E_REFERENCE, "there is no cylinder 'lft'; did you mean 'lift'?");
  o.kind = BRAMAH_SENSOR_LOAD_PIN;
  refuse(&m, o, BRAMAH_E_REFERENCE, "there is no cylinder 'lft'; did you mean 'lift'?");
  o = (bramah_sensor_options){.kind = BRAMAH_SENSOR_PRESSURE_DIFFERENCE, .at = "v1", .less = "v22"};
  refuse(&m, o, BRAMAH_E_REFERENCE, "there is no volume 'v22'; did you mean 'v2'?");
  o.less = "v1";
  refuse(&m, o, BRAMAH_E_VALUE, "the difference of a pressure with itself is always zero");
  o = (bramah_sensor_options){.kind = BRAMAH_SENSOR_FLOW, .at = "valve"};
  refuse(&m, o, BRAMAH_E_VALUE, "the port of the directional valve, a or b, is missing");
  o.at = "orifce";
  refuse(&m, o, BRAMAH_E_REFERENCE, "there is no hydraulic element 'orifce'; did you mean 'orifice'?");
  o = (bramah_sensor_options){.kind = BRAMAH_SENSOR_FLOW, .at = "orifice", .port = BRAMAH_SENSOR_PORT_A};
  refuse(&m, o, BRAMAH_E_VALUE, "only a directional valve has ports");
  o.at = "valv";
  refuse(&m, o, BRAMAH_E_REFERENCE, "there is no directional valve 'valv'; did you mean 'valve'?");
  o = (bramah_sensor_options){.kind = BRAMAH_SENSOR_STROKE, .at = "lift", .resolution = -1.0};
  refuse(&m, o, BRAMAH_E_VALUE, "the resolution must not be negative");
  o = (bramah_sensor_options){.kind = BRAMAH_SENSOR_STROKE, .at = "lift", .least = 2.0, .most = 1.0};
  refuse(&m, o, BRAMAH_E_VALUE, "the range must end above its begin");
  close_machine(&m);
}

TEST(test_inclinometer_needs_gravity)
{
  arm a;
  machine m = open_machine(describe_arm(&a, 0.3, 0.0, 0.0));
  refuse(&m, inclinometer(1, 0, 0), BRAMAH_E_VALUE,
         "an inclinometer needs gravity, and the machine has none");
  close_machine(&m);
}

TEST(test_names_of_kinds)
{
  static const char *const names[] = {
      "encoder", "gyro",    "pressure", "accelerometer", "inclinometer", "stroke", "pressure-difference",
      "flow",    "load-pin"};
  for (int i = 0; i < 9; i++)
    ck_assert_str_eq(bramah_sensor_kind_name((bramah_sensor_kind)(i + 1)), names[i]);
}

/* ---- resolution and range ---- */

TEST(test_resolution)
{
  const bramah_sensor plain = {.sigma = 0.3}, coarse = {.sigma = 0.3, .resolution = 0.5};
  unsigned seed = 5;
  double sum = 0.0;
  ck_assert_double_eq(bramah_sensor_digitize(&plain, 1.2345), 1.2345);
  ck_assert_double_eq(bramah_sensor_digitize(&coarse, 1.2345), 1.0);
  ck_assert_double_eq(bramah_sensor_digitize(&coarse, -1.2655), -1.5);
  ck_assert_double_eq(bramah_sensor_variance(&plain), 0.09);
  ck_assert_double_eq_tol(bramah_sensor_variance(&coarse), 0.09 + 0.25 / 12, 1e-15);
  /* the variance that rounding really adds */
  for (int i = 0; i < 100000; i++) {
    const double y = 50.0 * test_uniform(&seed), error = bramah_sensor_digitize(&coarse, y) - y;
    ck_assert_double_le(fabs(error), 0.25 + 1e-12);
    sum += error * error;
  }
  ck_assert_double_eq_tol(sum / 100000, 0.25 / 12, 2e-4);
}

TEST(test_range)
{
  const bramah_sensor s = {.least = 0.0, .most = 4e7, .resolution = 1e4}, fine = {.least = -1.0, .most = 1.0},
                      free = {.resolution = 0.1};
  ck_assert_double_eq(bramah_sensor_digitize(&s, -3e5), 0.0);
  ck_assert_double_eq(bramah_sensor_digitize(&s, 4.1e7), 4e7);
  ck_assert(bramah_sensor_is_saturated(&s, 4e7) && bramah_sensor_is_saturated(&s, 0.0));
  ck_assert(bramah_sensor_is_saturated(&s, 5e7) && bramah_sensor_is_saturated(&s, -1.0));
  ck_assert(!bramah_sensor_is_saturated(&s, 4e7 - 1e4) && !bramah_sensor_is_saturated(&s, 1e4));
  const double half = 0.5 * s.resolution; /* what a log says that tells fewer digits */
  ck_assert(bramah_sensor_is_saturated(&s, 4e7 - 0.9 * half) && bramah_sensor_is_saturated(&s, 0.9 * half));
  ck_assert(!bramah_sensor_is_saturated(&s, 4e7 - 1.1 * half) && !bramah_sensor_is_saturated(&s, 1.1 * half));
  ck_assert(bramah_sensor_is_saturated(&fine, 1.0 - 1e-10)); /* as a log with ten digits has it */
  ck_assert(!bramah_sensor_is_saturated(&fine, 0.9999));
  ck_assert(!bramah_sensor_is_saturated(&free, 1e9));
}

int main(void) { return run_tests("sensors"); }
