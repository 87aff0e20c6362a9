/* SPDX-License-Identifier: MIT */
/* Points on the ground and stops of joints: the laws against reference evaluations made elsewhere, an impact with a closed
 * form, passivity, a slope on which a block sticks or slides, a body that rests, energy, the order of the steps. */
#include "bramah/linear.h"
#include "estimators/filter_internal.h"
#include "lib/math/dense.h"
#include "lib/multibody/contact.h"
#include "test/support/run.h"
#include "test/support/running.h"

#include <math.h>
#include <stdio.h>

static bramah_diag diag;
static const double pi = 3.14159265358979323846;

/* ---- the laws ---- */

/* K, C, a, depth, its rate; penalty and Hunt-Crossley by separate programs in plain arithmetic. */
static const double evaluations[][7] = {
    {2694537.816636937, 333.664027445974, 0.45, 0.0, 0.0, 0.0, 0.0},
    {2969469.7352971686, 341.79153962575487, 0.45, 0.001, 0.0, 2969.469735297169, 93.90287806476347},
    {1639399.3741756533, 31596.026422150433, 0.45, 0.02, 0.0, 32787.98748351307, 4636.921658210346},
    {824875.9963970701, 1151.2333752580482, 0.45, 0.0, 0.4, 0.0, 0.0},
    {1643138.5876505394, 17744.559012872414, 0.45, 0.001, 0.4, 8740.962192799505, 61.31351328979749},
    {2237054.4772531763, 3332.2677769057623, 0.45, 0.02, 0.4, 46073.99665582583, 7466.2677643373945},
    {218650.59064015778, 454.90276784971127, 0.45, 0.0, -0.4, 0.0, 0.0},
    {435744.0025249877, 22931.619987136048, 0.45, 0.001, -0.4, 0.0, 11.299136902844406},
    {1687127.7884532001, 30927.571654420815, 0.45, 0.02, -0.4, 21371.52710729568, 3912.9727598147483},
    {34474.66869573556, 603.442986427221, 0.45, 0.0, -3.0, 0.0, 0.0},
    {760273.5988302866, 8672.906840251078, 0.45, 0.001, -3.0, 0.0, 0.0},
    {1879877.1241581657, 500.9002934131302, 0.45, 0.02, -3.0, 36094.84160292392, 0.0},
};

static double normal_of(const bramah__contact *contact, double depth, double rate)
{
  const bramah__expr zero = e_number(0.0), w[3] = {zero, zero, e_number(-rate)};
  bramah__expr f[3], x[2] = {zero, zero}, xd[2] = {zero, zero};
  bramah__contact_at(contact, e_number(-depth), w, zero, x, xd, x, xd, f);
  return f[2].value;
}

EACH_TEST(test_normal_forces, 0, sizeof evaluations / sizeof evaluations[0])
{
  const double *e = evaluations[_i];
  const bramah__contact penalty = {.linear = 1, .normal = {.stiffness = e[0], .damping = e[1]}},
                        hertz = {.hertz = e[0], .loss = e[2]};
  ck_assert_double_eq_tol(normal_of(&penalty, e[3], e[4]), e[5], 1e-12 * (1.0 + e[5]));
  ck_assert_double_eq_tol(normal_of(&hertz, e[3], e[4]), e[6], 1e-12 * (1.0 + e[6]));
}

/* No cycle gives energy: what the force has beyond its spring opposes the motion, and it never pulls. */
TEST(test_normal_forces_are_passive)
{
  unsigned seed = 7;
  for (int i = 0; i < 20000; i++) {
    const double depth = 0.01 * test_uniform(&seed), rate = 5.0 * test_uniform(&seed);
    const bramah__contact penalty = {.linear = 1, .normal = {.stiffness = 1e6, .damping = 1e4}},
                          hertz = {.hertz = 1e7, .loss = 0.5};
    const double spring = depth > 0.0 ? depth : 0.0;
    const double of_penalty = normal_of(&penalty, depth, rate), of_hertz = normal_of(&hertz, depth, rate);
    ck_assert(of_penalty >= 0.0 && of_hertz >= 0.0);
    ck_assert_double_ge((of_penalty - 1e6 * spring) * rate, -1e-9);
    ck_assert_double_ge((of_hertz - 1e7 * pow(spring, 1.5)) * rate, -1e-9);
  }
}

/* Bristles under a constant normal force: the work put in is never less than what they store, at any speed and for damping
 * that plain LuGre would give energy by; no more than friction and damping is exerted. */
TEST(test_friction_is_passive)
{
  unsigned seed = 11;
  for (int i = 0; i < 20000; i++) {
    const double stiffness = pow(10.0, 2.5 + 1.5 * test_uniform(&seed)), mu = 0.6 + 0.4 * test_uniform(&seed);
    const bramah__contact contact = {.hertz = 1e6,
                                     .n_states = 2,
                                     .friction = 1.0,
                                     .coulomb = mu,
                                     .static_friction = mu * (1.5 + 0.5 * test_uniform(&seed)),
                                     .stribeck = 0.1,
                                     .exponent = 2.0,
                                     .bristles = stiffness,
                                     .damping = pow(10.0, 1.5 + 1.5 * test_uniform(&seed))};
    const double speed = pow(10.0, -1.0 + 2.0 * test_uniform(&seed));
    const double v[2] = {speed * test_uniform(&seed), speed * test_uniform(&seed)};
    const bramah__expr w[3] = {e_number(v[0]), e_number(v[1]), e_number(0.0)}, zero = e_number(0.0);
    bramah__expr f[3], x[2], xd[2];
    for (int k = 0; k < 2; k++) x[k] = e_number(test_uniform(&seed) * contact.static_friction / stiffness);
    const bramah__expr from[2] = {x[0], x[1]}, still[2] = {zero, zero};
    bramah__contact_at(&contact, e_number(-1e-3), w, zero, from, still, x, xd, f);
    double put_in = 0.0, stored = 0.0;
    for (int k = 0; k < 2; k++) {
      put_in -= f[k].value / f[2].value * v[k];
      stored += stiffness * x[k].value * xd[k].value;
    }
    ck_assert(put_in != 0.0);
    ck_assert_double_ge(put_in - stored, -1e-12 * (1.0 + fabs(put_in)));
  }
}

/* ---- an impact ---- */

/* A mass that slides into a wall, in steps of h: its velocity when it leaves. */
static double rebound(bramah_contact_law law, double stiffness, double damping, double speed, int64_t step_ns)
{
  static const double point[3] = {0, 0, 0};
  bramah_body body = {.name = "mass", .mass = 100.0};
  bramah_joint joint = {.name = "way",
                        .type = BRAMAH_JOINT_PRISMATIC,
                        .parent = "ground",
                        .child = "mass",
                        .axis = {1, 0, 0},
                        .initial_position = 1e-6,
                        .initial_rate = -speed};
  bramah_contact wall = {.name = "wall",
                         .body = "mass",
                         .n_points = 1,
                         .points = point,
                         .normal = {1, 0, 0},
                         .law = law,
                         .stiffness = stiffness,
                         .damping = damping};
  bramah_machine machine;
  bramah_machine_default(&machine);
  machine.n_bodies = machine.n_joints = machine.n_contacts = 1;
  machine.name = "wall", machine.bodies = &body, machine.joints = &joint, machine.contacts = &wall;
  machine.integrator.step_ns = step_ns;
  running r = start(&machine);
  must(run_for(&r, 0.06, &diag), &diag);
  const double left = shown(&r, "way.rate");
  ck_assert_double_eq(shown(&r, "wall.normal_force"), 0.0);
  ck_assert_double_eq_tol(shown(&r, "energy.contacts"), 50.0 * (speed * speed - left * left), 1e-6 * 50.0);
  stop(&r);
  return left;
}

/* The closed form of a linear spring and damper that is let go where it would pull: restitution 0.522015. Our damper sets
 * in over the first 0.1 mm, which leaves an impulse of c 0.05 mm away, 0.0015 m/s of the mass; the step adds a tenth of that. */
TEST(test_linear_impact)
{
  const double left = rebound(BRAMAH_CONTACT_PENALTY, 4e5, 3000.0, 1.0, 10000);
  ck_assert_double_ge(left, 0.5220148079298713 - 1e-4);
  ck_assert_double_le(left, 0.5220148079298713 + 3000.0 * 0.5e-4 / 100.0 + 1e-4);
}

/* Hunt and Crossley's restitution for slow blows: 1 - 2/3 a v + O(a^2 v^2). */
TEST(test_restitution)
{
  const double speed = 0.1, loss = 0.3;
  const double left = rebound(BRAMAH_CONTACT_HUNT_CROSSLEY, 2e7, loss, speed, 20000);
  ck_assert_double_eq_tol(left / speed, 1.0 - 2.0 / 3.0 * loss * speed,
                          3.0 * loss * loss * speed * speed / 2.0);
}

/* ---- a block on four feet ---- */

typedef struct block {
  bramah_machine machine;
  bramah_body body;
  bramah_joint joint;
  bramah_contact feet;
} block;

/* On a plane that is tilted by an angle, which gravity says. */
static void describe(block *b, double tilt, int64_t step_ns)
{
  static const double points[] = {0.5, 0.4, -0.5, 0.5, -0.4, -0.5, -0.5, 0.4, -0.5, -0.5, -0.4, -0.5};
  *b = (block){.body = {.name = "block", .mass = 1000.0, .inertia = {100, 150, 200}},
               .joint = {.name = "free",
                         .type = BRAMAH_JOINT_FLOATING,
                         .parent = "ground",
                         .child = "block",
                         .initial_positions = {0, 0, 0.495}},
               .feet = {.name = "feet",
                        .body = "block",
                        .n_points = 4,
                        .points = points,
                        .normal = {0, 0, 1},
                        .stiffness = 7e6,
                        .damping = 5.0,
                        .friction = {.model = BRAMAH_FRICTION_LUGRE, .coulomb = 0.6}}};
  bramah_machine_default(&b->machine);
  b->machine.name = "block";
  b->machine.n_bodies = b->machine.n_joints = b->machine.n_contacts = 1;
  b->machine.bodies = &b->body, b->machine.joints = &b->joint, b->machine.contacts = &b->feet;
  b->machine.gravity[0] = 9.81 * sin(tilt), b->machine.gravity[2] = -9.81 * cos(tilt);
  b->machine.integrator.step_ns = step_ns;
}

/* Below the angle of friction, atan 0.6 = 30.96 deg, it sticks; above it slides with g (sin - mu cos). */
EACH_TEST(test_slope, 0, 6)
{
  static const double tilts[] = {20, 30, 30.5, 31.2, 35, 45};
  const double tilt = tilts[_i] * pi / 180.0, pull = 9.81 * (sin(tilt) - 0.6 * cos(tilt));
  static block b;
  describe(&b, tilt, 1000000);
  b.joint.initial_rates[0] = pull > 0.0 ? 0.3 : 0.0; /* it slides at once */
  running r = start(&b.machine);
  must(run_for(&r, 4.0, &diag), &diag);
  const double place = shown(&r, "free_x.position"), rate = shown(&r, "free_x.rate");
  must(run_for(&r, 1.0, &diag), &diag);
  if (pull > 0.0)
    ck_assert_double_eq_tol(shown(&r, "free_x.rate") - rate, pull, 1e-4 * 9.81);
  else
    ck_assert_double_le(fabs(shown(&r, "free_x.position") - place), 1e-6);
  ck_assert_double_eq_tol(shown(&r, "feet.normal_force"), 1000 * 9.81 * cos(tilt), 1.0);
  stop(&r);
}

/* Dropped askew and sliding, it comes to rest within seconds and stays there: it does not creep, and takes no energy from
 * anywhere. */
EACH_TEST(test_rest, 0, 2)
{
  static block b;
  describe(&b, _i * 15.0 * pi / 180.0, 2000000);
  b.joint.initial_positions[2] = 0.6;
  b.joint.initial_positions[4] = 0.05, b.joint.initial_positions[5] = 0.02;
  b.joint.initial_rates[0] = 0.5;
  running r = start(&b.machine);
  must(run_for(&r, 10.0, &diag), &diag);
  const double x = shown(&r, "free_x.position"), y = shown(&r, "free_y.position"),
               yaw = shown(&r, "free_yaw.angle");
  double before = INFINITY;
  for (int second = 0; second < 60; second++) {
    must(run_for(&r, 1.0, &diag), &diag);
    const double energy = shown(&r, "energy.kinetic") + shown(&r, "energy.potential");
    ck_assert_double_le(energy, before + 1e-9);
    before = energy;
  }
  ck_assert_double_le(fabs(shown(&r, "free_x.position") - x), 1e-5);
  ck_assert_double_le(fabs(shown(&r, "free_y.position") - y), 1e-5);
  ck_assert_double_le(fabs(shown(&r, "free_yaw.angle") - yaw), 1e-5);
  ck_assert_double_le(shown(&r, "energy.kinetic"), 1e-12);
  stop(&r);
}

/* It settles where its feet carry it and bounces there with the stiffness 3/2 K sqrt(d) and the damping a N of its feet. */
TEST(test_bounce)
{
  static block b;
  describe(&b, 0.0, 1000000);
  running r = start(&b.machine);
  bramah_linearization *l;
  must(bramah_linearization_new(r.model, NULL, &diag, &l), &diag);
  must(bramah_settle(l, r.c, NULL, &diag), &diag);
  must(bramah_linearization_run(l, r.c, &diag), &diag);
  const bramah_linear_system *s = bramah_linearization_system(l);
  const double depth = cbrt(pow(1000.0 * 9.81 / 4.0 / 7e6, 2.0));
  ck_assert_double_eq_tol(shown(&r, "feet.penetration"), depth, 1e-9);
  size_t z = 0, rate = 0;
  while (strcmp(s->x_name[z], "free_z.position") != 0) z++;
  while (strcmp(s->x_name[rate], "free_z.rate") != 0) rate++;
  ck_assert_double_eq_tol(s->A[rate * s->n + z], -6.0 * 7e6 * sqrt(depth) / 1000.0, 1e-4);
  ck_assert_double_eq_tol(s->A[rate * s->n + rate], -5.0 * 9.81, 1e-6);
  ck_assert_uint_eq(s->n, 12 + 8);
  bramah_linearization_free(l);
  const size_t taken = (size_t)bramah_plant_find_output(&r.p, "energy.contacts");
  const bramah_linearization_options summed = {.n_outputs = 1, .outputs = &taken};
  ck_assert_int_eq(bramah_linearization_new(r.model, &summed, &diag, &l), BRAMAH_E_UNSUPPORTED);
  stop(&r);
}

/* As long as nothing lifts off: a quarter of the error for half of the step. */
TEST(test_second_order)
{
  double place[4][3];
  for (int i = 0; i < 4; i++) {
    static block b;
    describe(&b, 0.3, 1000000 >> i);
    b.joint.initial_positions[2] = 0.494;
    b.joint.initial_rates[0] = 0.05, b.joint.initial_rates[1] = -0.1, b.joint.initial_rates[5] = 0.02;
    b.feet.friction.static_force = 0.7;
    b.machine.integrator.position_tolerance = 1e-13;
    running r = start(&b.machine);
    must(run_for(&r, 0.1, &diag), &diag);
    place[i][0] = shown(&r, "free_x.position");
    place[i][1] = shown(&r, "free_z.position");
    place[i][2] = shown(&r, "free_roll.angle");
    stop(&r);
  }
  for (int k = 0; k < 3; k++) {
    const double ratio = (place[1][k] - place[2][k]) / (place[2][k] - place[3][k]);
    ck_assert_msg(ratio > 3.4 && ratio < 4.6, "%d: %g", k, ratio);
  }
}

/* ---- a filter on a body that stands on its feet, from roll and pitch ---- */

enum { MOTION = 12, N = MOTION + 8, TRUTHS = 16, FILTER_STEPS = 300, TILTS = 2 };

typedef struct side {
  running r;
  bramah_sensor sensor[TILTS];
  bramah_filter *filter;
} side;

static void open_side(side *s, const bramah_machine *machine)
{
  static const double position[6] = {1e-3, 1e-3, 1e-3, 2e-3, 2e-3, 2e-3},
                      rate[6] = {1e-3, 1e-3, 5e-3, 2e-3, 2e-3, 2e-3},
                      noise[6] = {0.1, 0.1, 0.1, 0.1, 0.1, 0.1},
                      bent[8] = {1e-4, 1e-4, 1e-4, 1e-4, 1e-4, 1e-4, 1e-4, 1e-4},
                      bending[8] = {1e-5, 1e-5, 1e-5, 1e-5, 1e-5, 1e-5, 1e-5, 1e-5};
  const bramah_sensor_options tilt[TILTS] = {
      {.name = "pitch", .kind = BRAMAH_SENSOR_INCLINOMETER, .at = "block", .axis = {1, 0, 0}, .sigma = 1e-3},
      {.name = "roll", .kind = BRAMAH_SENSOR_INCLINOMETER, .at = "block", .axis = {0, 1, 0}, .sigma = 1e-3}};
  s->r = start(machine);
  for (int i = 0; i < TILTS; i++) must(bramah_sensor_init(&tilt[i], &s->r.p, &diag, &s->sensor[i]), &diag);
  bramah_filter_options o;
  bramah_filter_options_default(&o);
  o.position_sigma = position, o.rate_sigma = rate, o.acceleration_noise = noise, o.common_gate = 0.0;
  o.first_order_sigma = bent, o.first_order_noise = bending;
  must(bramah_filter_new(&s->r.p, TILTS, s->sensor, &o, &diag, &s->filter), &diag);
}

/* The normalised error squared of n of the states. */
static double nees(const bramah_filter *f, const double *e, size_t n, const size_t *state)
{
  double L[N * N], x[N], sum = 0.0;
  for (size_t i = 0; i < n; i++) {
    x[i] = e[state[i]];
    for (size_t k = 0; k < n; k++) L[i * n + k] = f->P[state[i] * f->n + state[k]];
  }
  ck_assert_uint_eq(bramah__cholesky_factor(n, L), 0);
  bramah__cholesky_solve(n, L, x);
  for (size_t i = 0; i < n; i++) sum += x[i] * e[state[i]];
  return sum;
}

/* The mean of the run's NEES of height, pitch and roll with their rates, and of all. */
static void follow(const bramah_machine *machine, unsigned seed, double *of_stance, double *of_all)
{
  static const size_t stance[] = {2, 4, 5, 8, 10, 11};
  size_t all[N];
  for (size_t i = 0; i < N; i++) all[i] = i;
  const unsigned char present[TILTS] = {1, 1};
  side truth, estimate;
  double dx[N], y[TILTS], x[2][N], e[N];
  open_side(&truth, machine);
  open_side(&estimate, machine);
  const size_t n_error = truth.filter->n;
  test_draw(n_error, truth.filter->P, &seed, dx);
  must(truth.r.p.inject(truth.r.p.self, dx, &diag), &diag);
  *of_stance = *of_all = 0.0;
  for (int k = 0; k < FILTER_STEPS; k++) {
    must(bramah_filter_predict(truth.filter, &diag), &diag);
    test_normals(n_error, truth.filter->nq, truth.filter->Gamma, &seed, dx);
    must(truth.r.p.inject(truth.r.p.self, dx, &diag), &diag);
    must(bramah_filter_predict(estimate.filter, &diag), &diag);
    for (int i = 0; i < TILTS; i++)
      y[i] = bramah_sensor_predict(&truth.sensor[i], &truth.r.p) + truth.sensor[i].sigma * test_normal(&seed);
    must(bramah_filter_correct(estimate.filter, y, present, &diag), &diag);
    truth.r.p.coordinates(truth.r.p.self, x[0]);
    estimate.r.p.coordinates(estimate.r.p.self, x[1]);
    for (size_t i = 0; i < n_error; i++) e[i] = x[0][i] - x[1][i];
    if (k < FILTER_STEPS / 3) continue;
    *of_stance += nees(estimate.filter, e, 6, stance) / (FILTER_STEPS - FILTER_STEPS / 3);
    *of_all += nees(estimate.filter, e, n_error, all) / (FILTER_STEPS - FILTER_STEPS / 3);
  }
  for (side *s = &truth; s; s = s == &truth ? &estimate : NULL) {
    bramah_filter_free(s->filter);
    stop(&s->r);
  }
}

/* Over many truths that the noise of the filter drives: errors are as large as it says. With bristles that are held, which in truth
 * push back, over 80 truths 6.43 +- 0.18 of 6; as error states 6.18 +- 0.15, and of all 17.0 +- 0.3 of 20: bristles relax by rates that
 * are on average not zero, as their linearization at rest has it. With a tenth of the noise 20.1 +- 0.5. */
EACH_TEST(test_filter, 0, 2)
{
  static const char *const feet[] = {"feet"};
  static block b;
  double mean[2] = {0.0, 0.0}, square[2] = {0.0, 0.0};
  const int estimated = _i;
  describe(&b, 0.0, 1000000);
  b.machine.estimated_bristles = feet, b.machine.n_estimated_bristles = (size_t)estimated;
  for (unsigned run = 0; run < TRUTHS; run++) {
    double value[2];
    follow(&b.machine, 100u + 7919u * run, &value[0], &value[1]);
    for (int k = 0; k < 2; k++) mean[k] += value[k] / TRUTHS, square[k] += value[k] * value[k] / TRUTHS;
  }
  double error[2];
  for (int k = 0; k < 2; k++) error[k] = sqrt((square[k] - mean[k] * mean[k]) / (TRUTHS - 1));
  printf("NEES of height, pitch, roll and their rates %.2f +- %.2f of 6, of all %.2f +- %.2f of %d\n",
         mean[0], error[0], mean[1], error[1], estimated ? N : MOTION);
  ck_assert_double_lt(fabs(mean[0] / 6.0 - 1.0), 0.15);
  ck_assert_double_lt(fabs(mean[1] / (estimated ? N : MOTION) - 1.0), estimated ? 0.25 : 0.15);
}

/* ---- stops of joints ---- */

/* A pendulum falls against a stop, is thrown back, and comes to rest on it; energies add up. */
TEST(test_limits)
{
  bramah_body body = {.name = "arm", .mass = 20.0, .centre_of_mass = {1.0, 0, 0}, .inertia = {0.1, 1, 1}};
  bramah_joint joint = {.name = "pin",
                        .type = BRAMAH_JOINT_REVOLUTE,
                        .parent = "ground",
                        .child = "arm",
                        .axis = {0, 0, 1},
                        .range = {-0.7, 2.0},
                        .stop = {.stiffness = 1e5, .damping = 500.0}};
  bramah_machine machine;
  bramah_machine_default(&machine);
  machine.name = "pendulum";
  machine.n_bodies = machine.n_joints = 1;
  machine.bodies = &body, machine.joints = &joint;
  machine.gravity[1] = -9.81;
  running r = start(&machine);
  bramah_energy balance = {0};
  double lowest = 0.0, fastest = 0.0;
  for (int k = 0; k < 8000; k++) {
    must(r.p.step(r.p.self, &diag), &diag);
    bramah_energy_add(&balance, r.c, (k + 1) * r.p.step_ns);
    lowest = fmin(lowest, shown(&r, "pin.angle"));
    fastest = fmax(fastest, shown(&r, "pin.rate"));
  }
  ck_assert_double_gt(fastest, 0.1); /* it was thrown back */
  ck_assert_double_ge(lowest, -0.7 - 0.1);
  ck_assert_double_eq_tol(shown(&r, "pin.angle"), -0.7 - 20 * 9.81 * cos(0.7) / 1e5, 1e-5);
  ck_assert_double_le(balance.largest, balance.limit);
  ck_assert_double_eq(balance.stops, shown(&r, "energy.stops"));
  ck_assert_double_eq_tol(balance.stops, -shown(&r, "energy.potential"), balance.limit);
  stop(&r);
}

/* ---- what is no contact ---- */

EACH_TEST(test_refusals, 0, 10)
{
  static block b;
  static const double nowhere[3] = {NAN, 0, 0};
  describe(&b, 0.0, 1000000);
  const refusal wrong[] = {
      {"feet", "the stiffness must be positive", 0, 0, {NUMBER(b.feet.stiffness, 0.0)}},
      {"feet", "the damping must not be negative", 0, 0, {NUMBER(b.feet.damping, -1.0)}},
      {"feet", "this contact has no points", 0, 0, {COUNTED(b.feet.n_points, 0)}},
      {"feet", "there is no body 'blok'", 0, BRAMAH_E_REFERENCE, {NAME(b.feet.body, "blok")}},
      {"feet", "the ground does not touch itself", 0, 0, {NAME(b.feet.body, "ground")}},
      {"feet", "the normal of the ground has no direction", 0, 0, {NUMBER(b.feet.normal[0], INFINITY)}},
      {"feet", "static friction must not be below", 0, 0, {NUMBER(b.feet.friction.static_force, 0.5)}},
      {"feet", "the coulomb friction must be positive", 0, 0, {NUMBER(b.feet.friction.coulomb, 0.0)}},
      {"contact", "has no name", 0, BRAMAH_E_KEY, {NAME(b.feet.name, "")}},
      {"free", "only revolute and prismatic joints have stops", 0, 0, {NUMBER(b.joint.stop.stiffness, 1.0)}}};
  check_refusal(&b.machine, &wrong[_i], &diag);
  describe(&b, 0.0, 1000000);
  b.feet.points = nowhere, b.feet.n_points = 1;
  refuses(&b.machine, BRAMAH_E_VALUE, "feet", "the points of a contact must be finite", &diag);
  describe(&b, 0.0, 1000000);
  b.feet.friction.model = BRAMAH_FRICTION_VISCOUS;
  refuses(&b.machine, BRAMAH_E_VALUE, "feet", "the friction of a contact is lugre", &diag);
}

int main(void) { return run_tests("contact"); }
