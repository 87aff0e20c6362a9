/* SPDX-License-Identifier: MIT */
/* Tyres: law and geometry against reference evaluations made elsewhere, passivity, the slip curve against its closed form
 * and that of a brush, a wheel that rolls a kilometre, one that is held on a slope, a body that stands on four. */
#include "bramah/linear.h"
#include "lib/multibody/contact.h"
#include "test/support/run.h"
#include "test/support/running.h"
#include "test/support/tyre_cases.h"

#include <math.h>

static bramah_diag diag;
static const double gravity = 9.81;

/* ---- the law ---- */

/* A disc of stiffness K that is pressed in by F_n / K. Evaluations have the damping plain: theirs is what ours fades to at
 * this slip. */
static bramah__contact disc_of(const double *set, double kappa, double roll, double speed)
{
  const double g = set[3] + (set[4] - set[3]) * exp(-sqrt(speed / set[5])),
               yields = set[0] * speed / g + kappa * roll;
  return (bramah__contact){.linear = 1,
                           .normal = {.stiffness = 1e6},
                           .n_states = 2,
                           .friction = 1.0,
                           .coulomb = set[3],
                           .static_friction = set[4],
                           .stribeck = set[5],
                           .exponent = 0.5,
                           .bristles = set[0],
                           .damping = set[1] / (1.0 - set[1] * yields / set[0]),
                           .viscous = set[2],
                           .rolling = kappa};
}

typedef struct answer {
  double f[3], x[2], xd[2];
} answer;

/* After a step of 2 half from bristles x_k with their rates xd_k there. */
static answer ask(const bramah__contact *disc, const double *w, double load, double half, const double *x_k,
                  const double *xd_k)
{
  const bramah__expr v[4] = {e_number(w[0]), e_number(w[1]), e_number(0.0), e_number(w[2])},
                     from[2] = {e_number(x_k[0]), e_number(x_k[1])},
                     rate[2] = {e_number(xd_k[0]), e_number(xd_k[1])};
  bramah__expr f[3], x[2], xd[2];
  bramah__contact_at(disc, e_number(-load / disc->normal.stiffness), v, e_number(half), from, rate, x, xd, f);
  answer out;
  for (int k = 0; k < 3; k++) out.f[k] = f[k].value;
  for (int k = 0; k < 2; k++) out.x[k] = x[k].value, out.xd[k] = xd[k].value;
  return out;
}

static const double still[2] = {0.0, 0.0};

static void ck_near(double value, double expected, double scale)
{
  ck_assert_double_eq_tol(value, expected, 1e-12 * (scale + fabs(expected)));
}

EACH_TEST(test_scalar, 0, sizeof tyre_scalars / sizeof tyre_scalars[0])
{
  const double *e = tyre_scalars[_i], *set = tyre_sets[(int)e[0]], w[3] = {e[1], 0.0, e[5]};
  const bramah__contact disc = disc_of(set, e[4], e[5], fabs(e[1]));
  const double z[2] = {e[2], 0.0}, load = e[3] > 0.0 ? e[3] : 1.0;
  answer a = ask(&disc, w, load, 0.0, z, still);
  ck_near(a.xd[0], e[6], 1.0);
  ck_near(-a.f[0] * e[3] / load, e[7], 1e3);
  a = ask(&disc, w, load, 0.5e-3, a.x, a.xd);
  ck_near(a.x[0], e[9], 1e-2);

  enum { STEPS = 2000 };
  a = ask(&disc, w, load, 0.0, z, still);
  for (int k = 0; k < STEPS; k++) a = ask(&disc, w, load, 0.5 * 10e-3 / STEPS, a.x, a.xd);
  ck_assert_double_eq_tol(a.x[0], e[8], 1e-7);
}

EACH_TEST(test_vector, 0, sizeof tyre_vectors / sizeof tyre_vectors[0])
{
  const double *e = tyre_vectors[_i], w[3] = {e[0], e[1], 0.0};
  const bramah__contact disc = disc_of(tyre_sets[0], 0.0, 0.0, hypot(e[0], e[1]));
  const answer a = ask(&disc, w, e[4], 0.0, e + 2, still);
  for (int k = 0; k < 2; k++) {
    ck_near(a.xd[k], e[5 + k], 1.0);
    ck_near(-a.f[k], e[7 + k], 1e4);
  }
}

/* Their first axis points backwards. */
EACH_TEST(test_disc, 0, sizeof tyre_wheels / sizeof tyre_wheels[0])
{
  const double *e = tyre_wheels[_i], *velocity = e + 10, *omega = e + 13, *place = e + 18, *slip = e + 21;
  bramah__pose pose = {.A = {1, 0, 0, 0, 1, 0, 0, 0, 1}};
  bramah__contact disc = disc_of(tyre_sets[0], 0.0, 0.0, hypot(slip[0], slip[1]));
  double Z[6], x[2] = {-e[16], e[17]}, xd[2], force[3], moment[3], gear[BRAMAH__MOST_SHAFT_JOINTS];
  disc.radius = 0.85;
  disc.normal = (bramah__end_stop){.stiffness = 320e3, .damping = 6e3};
  for (size_t k = 0; k < 3; k++) {
    disc.axes[6 + k] = e[k];
    disc.spin[k] = e[3 + k];
    disc.point[k] = e[6] * e[3 + k];
    disc.origin[k] = e[7 + k];
    Z[k] = velocity[k], Z[3 + k] = omega[k];
  }
  bramah__contact_frame at;
  bramah__contact_frame_of(&disc, NULL, &pose, Z, &at);
  bramah__contact_forces(1, &disc, &pose, Z, NULL, 0.0, x, NULL, NULL, xd, force, gear);
  const double *P = at.place, *F = force;
  for (int k = 0; k < 3; k++) {
    ck_near(P[k], place[k], 1.0);
    ck_near(F[k], e[25 + k], 1e4);
    moment[k] = P[(k + 1) % 3] * F[(k + 2) % 3] - P[(k + 2) % 3] * F[(k + 1) % 3];
    ck_near(moment[k], e[28 + k], 1e4);
  }
  ck_near(-at.w[0], slip[0], 1.0);
  ck_near(at.w[1], slip[1], 1.0);
  if (!(at.height < -1e-12)) return; /* in the air it has no bristles; they begin where it touches */
  ck_near(-xd[0], e[23], 1.0);
  ck_near(xd[1], e[24], 1.0);
}

/* Work put in is never less than what the bristles store: both sets, any slip, rolling and bristles. */
TEST(test_passive)
{
  unsigned seed = 3;
  for (int i = 0; i < 20000; i++) {
    bramah__contact disc = disc_of(tyre_sets[i % 2], i % 3 ? 6.0 : 0.0, 0.0, 0.0);
    const double speed = pow(10.0, -1.0 + 3.0 * test_uniform(&seed));
    const double w[3] = {speed * test_uniform(&seed), speed * test_uniform(&seed),
                         20.0 * test_uniform(&seed)};
    double x[2], put_in = 0.0, stored = 0.0;
    for (int k = 0; k < 2; k++) x[k] = test_uniform(&seed) * disc.static_friction / disc.bristles;
    const answer a = ask(&disc, w, 1e3, 0.0, x, still);
    for (int k = 0; k < 2; k++) {
      put_in -= a.f[k] / a.f[2] * w[k];
      stored += disc.bristles * a.x[k] * a.xd[k];
    }
    ck_assert_double_ge(put_in - stored, -1e-12 * (1.0 + fabs(put_in)));
  }
}

/* ---- one wheel below a mass that slides and heaves ---- */

enum { SLIDE, HEAVE, SPIN, N_JOINTS };

typedef struct corner {
  bramah_machine machine;
  bramah_body bodies[N_JOINTS];
  bramah_joint joints[N_JOINTS];
  bramah_tyre tyre;
  bramah_motion motions[2];
  bramah_brake brake;
  bramah_input input;
} corner;

static const double sprung = 900.0, wheel = 100.0, radius = 0.5, stiffness = 300e3, damping = 6e3;

/* It stands at its depth; the ground rises by `slope` along x, which gravity says. */
static void describe(corner *c, double slope, int64_t step_ns)
{
  const double depth = (sprung + wheel) * gravity * cos(slope) / stiffness;
  *c = (corner){.bodies = {{.name = "carriage", .mass = 1e-3},
                           {.name = "frame", .mass = sprung},
                           {.name = "rim", .mass = wheel, .inertia = {8, 12, 8}}},
                .joints = {{.name = "slide",
                            .type = BRAMAH_JOINT_PRISMATIC,
                            .parent = "ground",
                            .child = "carriage",
                            .axis = {1, 0, 0}},
                           {.name = "heave",
                            .type = BRAMAH_JOINT_PRISMATIC,
                            .parent = "carriage",
                            .child = "frame",
                            .axis = {0, 0, 1},
                            .initial_position = radius - depth},
                           {.name = "spin",
                            .type = BRAMAH_JOINT_REVOLUTE,
                            .parent = "frame",
                            .child = "rim",
                            .axis = {0, 1, 0}}},
                .tyre = {.name = "tyre",
                         .body = "rim",
                         .radius = radius,
                         .width = 0.3,
                         .normal = {0, 0, 1},
                         .stiffness = stiffness,
                         .damping = damping}};
  bramah_machine_default(&c->machine);
  c->machine.name = "corner";
  c->machine.n_bodies = c->machine.n_joints = N_JOINTS, c->machine.n_tyres = 1;
  c->machine.bodies = c->bodies, c->machine.joints = c->joints, c->machine.tyres = &c->tyre;
  c->machine.motions = c->motions, c->machine.brakes = &c->brake;
  c->input.name = "pedal";
  c->machine.gravity[0] = -gravity * sin(slope), c->machine.gravity[2] = -gravity * cos(slope);
  c->machine.integrator.step_ns = step_ns;
}

static void prescribe(corner *c, const char *joint, double rate)
{
  c->motions[c->machine.n_motions++] =
      (bramah_motion){.name = joint, .joint = joint, .type = BRAMAH_MOTION_RATE, .rate = rate};
}

/* Driven at 3 m/s of its rim over ground that goes past more slowly, until the bristles have settled. The lumped law's
 * closed form sigma_0 v/(sigma_0 v/g + kappa u) + sigma_2 v; a brush whose bristles enter straight at the front of the
 * patch and bend over its length L = 2/kappa, all slid together: as steep at first, never more than 0.09 g apart. */
EACH_TEST(test_slip_curve, 0, sizeof tyre_slips / sizeof tyre_slips[0])
{
  static corner c;
  const double slip = tyre_slips[_i][0], v = 3.0 * slip, *set = tyre_sets[0], L = 1.0 / 3.0;
  describe(&c, 0.0, 2000000);
  prescribe(&c, "slide", 3.0 - v);
  prescribe(&c, "spin", 3.0 / radius);
  running r = start(&c.machine);
  must(run_for(&r, 1.5, &diag), &diag);
  const double mu = shown(&r, "tyre.longitudinal_force") / shown(&r, "tyre.normal_force");
  ck_assert_double_eq_tol(mu, tyre_slips[_i][1], 1e-9);
  ck_assert_double_eq_tol(shown(&r, "tyre.lateral_force"), 0.0, 1e-9);
  ck_assert_double_eq_tol(shown(&r, "tyre.normal_force"), (sprung + wheel) * gravity, 1e-6);
  if (slip > 0.0) {
    const double g = set[3] + (set[4] - set[3]) * exp(-sqrt(v / set[5])), a = set[0] * slip * L / g;
    const double brush = g * (1.0 + expm1(-a) / a), bristles = mu - set[2] * v;
    ck_assert_double_le(bristles, brush);
    ck_assert_double_ge(bristles, brush - 0.09 * g);
    ck_assert_double_le(brush - bristles, 0.4 * g * a); /* both are g a/2 at first */
  }
  stop(&r);
}

/* Rolls 1 km; begins with a wheel that does not turn, or that turns as it must. It takes no energy from anywhere, and rolls on
 * without loss: the wheel slips until the slip is gone, and no force is left. */
EACH_TEST(test_kilometre, 0, 2)
{
  static corner c;
  const double speed = 25.0;
  describe(&c, 0.0, 8000000);
  c.joints[SLIDE].initial_rate = speed;
  c.joints[SPIN].initial_rate = _i ? speed / radius : 0.0;
  running r = start(&c.machine);
  const double began = shown(&r, "energy.kinetic") + shown(&r, "energy.potential");
  double before = began;
  for (int part = 0; part < 45; part++) {
    must(run_for(&r, 1.0, &diag), &diag);
    const double energy = shown(&r, "energy.kinetic") + shown(&r, "energy.potential");
    ck_assert_double_le(energy, before + 1e-9 * began);
    if (part > 4) ck_assert_double_ge(energy, before - 1e-6 * began);
    before = energy;
  }
  ck_assert_double_ge(shown(&r, "slide.position"), 1000.0);
  ck_assert_double_eq_tol(shown(&r, "slide.rate"), radius * shown(&r, "spin.rate"), 1e-6);
  ck_assert_double_eq_tol(shown(&r, "energy.contacts"), began - before, 1e-3 * began);
  ck_assert(_i ? began - before < 1e-3 * began : began - before > 1e-3 * began);
  stop(&r);
}

/* With its wheel held on a slope, for good or by a brake, it stays below the angle of friction, atan 0.5 = 26.6 deg, and slides
 * above; it also rolls away from a brake that is too weak for m g r sin, or pressed too little. Free, it rolls down as a body with the inertia of
 * its wheel does. */
EACH_TEST(test_slope, 0, 8)
{
  static const struct {
    double slope, brake; /* deg; of the torque that holds it there, 0: none */
    int held, stays;
    double pedal; /* part of the torque that is commanded */
  } cases[] = {{25, 0, 1, 1, 0},   {28, 0, 1, 0, 0}, {10, 1.02, 0, 1, 0},   {20, 3.0, 0, 1, 0},
               {10, 0.9, 0, 0, 0}, {10, 0, 0, 0, 0}, {10, 1.02, 0, 1, 0.4}, {10, 0.9, 0, 0, 0.4}};
  static corner c;
  const double slope = cases[_i].slope * acos(-1.0) / 180.0, mass = sprung + wheel,
               pull = mass * gravity * sin(slope), grip = cases[_i].brake * pull;
  describe(&c, slope, 4000000);
  if (cases[_i].held) prescribe(&c, "spin", 0.0);
  c.brake = (bramah_brake){.name = "drum", .joint = "spin", .torque = grip * radius};
  c.machine.n_brakes = grip > 0.0;
  if (cases[_i].pedal > 0.0) {
    c.brake.torque /= cases[_i].pedal;
    c.brake.command = (bramah_drive){.input = "pedal", .limit = 5.0, .initial = 5.0 * cases[_i].pedal};
    c.machine.n_inputs = 1, c.machine.inputs = &c.input;
  }
  running r = start(&c.machine);
  const double pedal = 5.0 * cases[_i].pedal;
  must(r.p.set_inputs(r.p.self, &pedal, &diag), &diag);
  must(run_for(&r, 10.0, &diag), &diag);
  const double place = shown(&r, "slide.position");
  must(run_for(&r, 3.0, &diag), &diag);
  if (cases[_i].stays) ck_assert_double_le(fabs(shown(&r, "slide.position") - place), 1e-6);
  if (!cases[_i].stays) ck_assert_double_le(shown(&r, "slide.position"), place - 0.5);
  if (cases[_i].stays && grip > 0.0)
    ck_assert_double_eq_tol(shown(&r, "drum.torque"), pull * radius, 1e-6 * pull);
  const double free = -(pull - grip) / (mass + 12.0 / (radius * radius));
  if (!cases[_i].held && !cases[_i].stays)
    ck_assert_double_eq_tol(shown(&r, "slide.acceleration"), free, 5e-2 * fabs(free));
  stop(&r);
}

/* ---- a body on four tyres ---- */

/* It bounces with 4 K/m and 4 C/m, and pitches with 4 K a^2 over its moment of inertia about its centre, wheels included. */
TEST(test_stance)
{
  enum { WHEELS = 4, BODIES = 1 + WHEELS };
  static const char *const names[BODIES] = {"frame", "w1", "w2", "w3", "w4"},
                           *const joints[BODIES] = {"free", "h1", "h2", "h3", "h4"},
                           *const tyres[WHEELS] = {"t1", "t2", "t3", "t4"};
  bramah_body body[BODIES] = {{.name = "frame", .mass = 1600, .inertia = {300, 500, 600}}};
  bramah_joint joint[BODIES] = {{.name = "free",
                                 .type = BRAMAH_JOINT_FLOATING,
                                 .parent = "ground",
                                 .child = "frame",
                                 .initial_positions = {0, 0, 0.49}}};
  bramah_tyre tyre[WHEELS];
  const double a = 1.2, b = 0.8, mass = 1600 + 4 * 100.0,
               inertia = 500 + 4 * (100 * a * a); /* wheels turn freely */
  for (int k = 0; k < WHEELS; k++) {
    body[1 + k] = (bramah_body){.name = names[1 + k], .mass = 100, .inertia = {8, 12, 8}};
    joint[1 + k] = (bramah_joint){.name = joints[1 + k],
                                  .type = BRAMAH_JOINT_REVOLUTE,
                                  .parent = "frame",
                                  .child = names[1 + k],
                                  .position = {k < 2 ? a : -a, k % 2 ? b : -b, 0},
                                  .axis = {0, 1, 0}};
    tyre[k] = (bramah_tyre){.name = tyres[k],
                            .body = names[1 + k],
                            .radius = radius,
                            .width = 0.3,
                            .n_discs = 1 + k % 2,
                            .stiffness = stiffness,
                            .damping = damping};
  }
  bramah_machine machine;
  bramah_machine_default(&machine);
  machine.name = "stance";
  machine.n_bodies = machine.n_joints = BODIES, machine.n_tyres = WHEELS;
  machine.bodies = body, machine.joints = joint, machine.tyres = tyre;
  machine.gravity[2] = -gravity;
  running r = start(&machine);
  bramah_linearization *l;
  must(bramah_linearization_new(r.model, NULL, &diag, &l), &diag);
  must(bramah_settle(l, r.c, NULL, &diag), &diag);
  must(bramah_linearization_run(l, r.c, &diag), &diag);
  const bramah_linear_system *s = bramah_linearization_system(l);
  ck_assert_double_eq_tol(shown(&r, "t1.penetration"), mass * gravity / (4 * stiffness), 1e-9);
  size_t z[2] = {0, 0}, rate[2] = {0, 0};
  static const char *const of[2][2] = {{"free_z.position", "free_z.rate"},
                                       {"free_pitch.angle", "free_pitch.rate"}};
  for (int k = 0; k < 2; k++) {
    while (strcmp(s->x_name[z[k]], of[k][0]) != 0) z[k]++;
    while (strcmp(s->x_name[rate[k]], of[k][1]) != 0) rate[k]++;
  }
  ck_assert_double_eq_tol(s->A[rate[0] * s->n + z[0]], -4 * stiffness / mass, 1e-6);
  ck_assert_double_eq_tol(s->A[rate[0] * s->n + rate[0]], -4 * damping / mass, 1e-8);
  ck_assert_double_eq_tol(s->A[rate[1] * s->n + z[1]], -4 * stiffness * a * a / inertia, 1e-2);
  ck_assert_uint_eq(s->n, 2 * 10 + 2 * 6);
  bramah_linearization_free(l);
  stop(&r);
}

/* ---- what is no tyre ---- */

EACH_TEST(test_refusals, 0, 19)
{
  static corner c;
  describe(&c, 0.0, 1000000);
  c.brake = (bramah_brake){.name = "drum", .joint = "spin", .torque = 100.0};
  c.brake.command.input = "pedal";
  c.machine.n_brakes = c.machine.n_inputs = 1, c.machine.inputs = &c.input;
  const refusal wrong[] = {
      {"drum", "the limit of its command must be positive", 0, 0, {NUMBER(c.brake.command.limit, -1.0)}},
      {"drum", "the time constant of its command must", 0, 0, {NUMBER(c.brake.command.time_constant, NAN)}},
      {"drum", "its command must start within the limit", 0, 0, {NUMBER(c.brake.command.initial, 11.0)}},
      {"drum", "the torque must be positive", 0, 0, {NUMBER(c.brake.torque, 0.0)}},
      {"drum", "there is no joint coordinate 'spim'", 0, BRAMAH_E_REFERENCE, {NAME(c.brake.joint, "spim")}},
      {"drum", "a brake needs a joint that turns", 0, 0, {NAME(c.brake.joint, "slide")}},
      {"drum", "static friction must not be below", 0, 0, {NUMBER(c.brake.static_torque, 50.0)}},
      {"brake", "has no name", 0, BRAMAH_E_KEY, {NAME(c.brake.name, "")}},
      {"tyre", "the stiffness must be positive", 0, 0, {NUMBER(c.tyre.stiffness, 0.0)}},
      {"tyre", "the damping must not be negative", 0, 0, {NUMBER(c.tyre.damping, -1.0)}},
      {"tyre", "the radius must be positive", 0, 0, {NUMBER(c.tyre.radius, 0.0)}},
      {"tyre", "the width must not be negative", 0, 0, {NUMBER(c.tyre.width, -0.1)}},
      {"tyre", "the length of the patch must be positive", 0, 0, {NUMBER(c.tyre.patch_length, -1.0)}},
      {"tyre", "the centre must be finite", 0, 0, {NUMBER(c.tyre.centre[1], NAN)}},
      {"tyre", "static friction must not be below", 0, 0, {NUMBER(c.tyre.friction.coulomb, 0.6)}},
      {"tyre", "there is no body 'rum'", 0, BRAMAH_E_REFERENCE, {NAME(c.tyre.body, "rum")}},
      {"tyre", "the joint in front of this wheel is not revolute", 0, 0, {NAME(c.tyre.body, "frame")}},
      {"tyre", "the axis of this tyre has no direction", 0, 0, {NUMBER(c.tyre.axis[0], INFINITY)}},
      {"tyre", "has no name", 0, BRAMAH_E_KEY, {NAME(c.tyre.name, "")}}};
  check_refusal(&c.machine, &wrong[_i], &diag);
}

int main(void) { return run_tests("tyre"); }
