/* SPDX-License-Identifier: MIT */
/* Hydraulic motor: steady speed and power against the closed form, whole turns, what the compiler refuses. */
#include "test/support/run.h"
#include "test/support/running.h"

#include <math.h>
#include <string.h>

static bramah_diag diag;
static const double D = 12e-6, ratio = 50.0, leak = 4e-12, Q = 3e-4, viscous = 900.0, inertia = 300.0;
static const bramah_body body = {.name = "platform", .mass = 500.0, .inertia = {0, 300.0, 0}};
static const bramah_hose hose = {1e-3, 5e8};
static const bramah_supply tank = {"tank", 0, 2e5};
static const bramah_pump pump = {.name = "pump", .from = "tank", .into = "a", .flow = 3e-4};
/* wide: the return line holds 2 bar or so above the tank */
static const bramah_orifice back = {.name = "back", .from = "b", .to = "tank", .flow_coefficient = 1e-6};
static bramah_joint joint;
static bramah_volume volumes[3]; /* the last is the case, if it has a volume */
static bramah_motor motor;
static bramah_machine machine;

static void setup(void)
{
  joint = (bramah_joint){.name = "turn",
                         .type = BRAMAH_JOINT_REVOLUTE,
                         .parent = "ground",
                         .child = "platform",
                         .axis = {0, 1, 0},
                         .initial = BRAMAH_INITIAL_GIVEN};
  static const char *const names[] = {"a", "b", "case"};
  for (int i = 0; i < 3; i++)
    volumes[i] = (bramah_volume){.name = names[i], .n_hoses = 1, .hoses = &hose, .initial_pressure = 1e6};
  motor = (bramah_motor){.name = "slew",
                         .line = 7,
                         .joint = "turn",
                         .a_volume = "a",
                         .b_volume = "b",
                         .displacement = D,
                         .gear_ratio = ratio,
                         .leakage = leak,
                         .friction = {.model = BRAMAH_FRICTION_VISCOUS, .viscous = viscous}};
  machine = (bramah_machine){.name = "slew",
                             .oil_bulk_modulus = 1.5e9,
                             .n_bodies = 1,
                             .bodies = &body,
                             .n_joints = 1,
                             .joints = &joint,
                             .n_supplies = 1,
                             .supplies = &tank,
                             .n_volumes = 2,
                             .volumes = volumes,
                             .n_orifices = 1,
                             .orifices = &back,
                             .n_pumps = 1,
                             .pumps = &pump,
                             .n_motors = 1,
                             .motors = &motor};
}

/* A pump of flow Q drives it: i D dp = c w and Q = i D w + k dp. What the pump adds to the oil comes out as
 * friction and leakage. It goes round and round. */
TEST(test_steady_speed)
{
  running r = start(&machine);
  must(run_for(&r, 30.0, &diag), &diag);
  const double d = ratio * D, w = Q / (d + leak * viscous / d), dp = viscous * w / d;
  ck_assert_double_eq_tol(shown(&r, "slew.rate"), w, 1e-9 * w);
  ck_assert_double_eq_tol(shown(&r, "a.pressure") - shown(&r, "b.pressure"), dp, 1e-9 * dp);
  ck_assert_double_eq_tol(shown(&r, "slew.leakage_flow"), leak * dp, 1e-9 * leak * dp);
  ck_assert_double_eq_tol(shown(&r, "back.flow"), Q, 1e-9 * Q);
  ck_assert_double_eq_tol(shown(&r, "slew.friction"), viscous * w, 1e-9 * viscous * w);
  ck_assert_double_eq_tol(shown(&r, "slew.torque"), 0.0, 1e-6 * viscous * w);
  ck_assert_double_eq_tol(Q * dp, viscous * w * w + leak * dp * dp, 1e-9 * Q * dp);
  /* what it has done went into turning the platform */
  ck_assert_double_eq_tol(shown(&r, "slew.work"), 0.5 * inertia * w * w, 1e-6 * inertia * w * w);
  const double turns = shown(&r, "slew.angle") / (2.0 * 3.14159265358979323846);
  ck_assert_double_gt(turns, 2.0);
  ck_assert_double_eq(shown(&r, "slew.angle"), shown(&r, "turn.angle"));
  /* whatever the angle, the next second looks like the last */
  const double p_a = shown(&r, "a.pressure");
  must(run_for(&r, 1.0, &diag), &diag);
  ck_assert_double_eq_tol(shown(&r, "a.pressure"), p_a, 1e-9 * p_a);
  stop(&r);
}

/* The oil between pump and motor is a spring: with the return held open and little damping the platform swings
 * with w^2 = (i D)^2 / (C J). */
TEST(test_natural_frequency)
{
  motor.friction.model = BRAMAH_FRICTION_NONE;
  motor.leakage = 0.0;
  machine.n_pumps = 0;
  volumes[0].initial_pressure = 4e6;
  volumes[1].initial_pressure = 2e5;
  running r = start(&machine);
  const double C = 1e-3 / 1.5e9 + 1e-3 / 5e8, expected = ratio * D / sqrt(C * inertia);
  double crossings = 0.0, first = 0.0, last = 0.0, before = shown(&r, "a.pressure") - 2e5;
  for (int k = 1; k <= 8000; k++) { /* its pressure swings about that of the tank */
    must(run_for(&r, 1e-3, &diag), &diag);
    const double now = shown(&r, "a.pressure") - 2e5;
    if (before < 0.0 && now >= 0.0) {
      last = 1e-3 * (k - now / (now - before));
      if (crossings == 0.0) first = last;
      crossings += 1.0;
    }
    before = now;
  }
  ck_assert_double_ge(crossings, 3.0);
  const double found = 2.0 * 3.14159265358979323846 * (crossings - 1.0) / (last - first);
  ck_assert_double_eq_tol(found, expected, 0.01 * expected);
  stop(&r);
}

/* With a drain each side loses oil through the case. What goes in comes out, at any time; at rest of the pressures it is
 * what the pump gives, less what drains. */
TEST(test_drain)
{
  const double k_d = 3e-12, d = ratio * D;
  motor.drain = "tank";
  motor.drain_leakage = k_d;
  running r = start(&machine);
  for (int k = 0; k < 31; k++) {
    must(run_for(&r, k < 30 ? 0.01 : 30.0, &diag), &diag);
    const double a = shown(&r, "a.pressure"), b = shown(&r, "b.pressure"), w = shown(&r, "slew.rate");
    const double in = d * w + leak * (a - b) + k_d * (a - 2e5),
                 out = d * w + leak * (a - b) - k_d * (b - 2e5), lost = k_d * (a - 2e5 + b - 2e5);
    ck_assert_double_eq_tol(shown(&r, "slew.flow_a"), in, 1e-12 * Q);
    ck_assert_double_eq_tol(shown(&r, "slew.flow_b"), out, 1e-12 * Q);
    ck_assert_double_eq_tol(shown(&r, "slew.drain_flow"), lost, 1e-12 * Q);
    ck_assert_double_eq_tol(in, out + lost, 1e-12 * Q);
  }
  ck_assert_double_eq_tol(shown(&r, "slew.flow_a"), Q, 1e-9 * Q);
  ck_assert_double_eq_tol(shown(&r, "slew.flow_b"), shown(&r, "back.flow"), 1e-9 * Q);
  ck_assert_double_gt(shown(&r, "slew.drain_flow"), 0.01 * Q);
  ck_assert_double_eq_tol(shown(&r, "back.flow") + shown(&r, "slew.drain_flow"), Q, 1e-9 * Q);
  stop(&r);
}

/* Rows of the flows at the ports, by the rate and the pressures, against differences; the drain is a volume. */
TEST(test_rows_of_port_flows)
{
  static const char *const names[] = {"slew.flow_a", "slew.flow_b", "slew.drain_flow", "slew.leakage_flow"};
  const double x[5] = {0.3, 0.2, 9e6, 3e6, 4e5}, step[5] = {1e-3, 1e-3, 1e3, 1e3, 1e3};
  const size_t turn = 0;
  size_t parameter;
  motor.drain = "case";
  motor.drain_leakage = 3e-12;
  machine.n_volumes = 3;
  running r = start(&machine);
  for (int i = 0; i < 4; i++) {
    const size_t output = must_find(&r.p, names[i]);
    double row[5], moved[5];
    must(bramah_coupled_start(r.c, 1, &turn, &x[0], &x[1], &x[2], &diag), &diag);
    must(r.p.output_row(r.p.self, output, row), &diag);
    for (int k = 0; k < 5; k++) {
      double value[2];
      for (int side = 0; side < 2; side++) {
        memcpy(moved, x, sizeof moved);
        moved[k] += side ? step[k] : -step[k];
        must(bramah_coupled_start(r.c, 1, &turn, &moved[0], &moved[1], &moved[2], &diag), &diag);
        value[side] = r.p.output(r.p.self, output);
      }
      const double difference = (value[1] - value[0]) / (2.0 * step[k]);
      ck_assert_msg(fabs(row[k] - difference) <= 1e-9 * fabs(difference) + 1e-22, "%s by %d: %g, %g",
                    names[i], k, row[k], difference);
    }
  }
  must(bramah_plant_parameter_index(&r.p, "slew.drain_leakage", &parameter, &diag), &diag);
  stop(&r);
  motor.drain = NULL;
  motor.drain_leakage = 0.0;
  r = start(&machine);
  ck_assert_int_ne(bramah_plant_parameter_index(&r.p, "slew.drain_leakage", &parameter, &diag), BRAMAH_OK);
  ck_assert_double_eq(shown(&r, "slew.drain_flow"), 0.0);
  stop(&r);
}

static const refusal refused[] = {
    {"slew", "the displacement must be positive", 7, 0, {NUMBER(motor.displacement, 0.0)}},
    {"slew", "the gear ratio must be positive", 7, 0, {NUMBER(motor.gear_ratio, -3.0)}},
    {"slew", "the leakage must not be negative", 7, 0, {NUMBER(motor.leakage, -1e-12)}},
    {"slew", "needs a drain", 7, 0, {NUMBER(motor.drain_leakage, 1e-12)}},
    {"slew", "there is no volume or supply 'tnak'", 7, BRAMAH_E_REFERENCE, {NAME(motor.drain, "tnak")}},
    {"slew", "there is no volume 'tank'", 7, BRAMAH_E_REFERENCE, {NAME(motor.a_volume, "tank")}},
    {"slew", "both of its ends are the same", 7, 0, {NAME(motor.b_volume, "a")}},
    {"slew", "did you mean 'turn'", 7, BRAMAH_E_REFERENCE, {NAME(motor.joint, "trun")}},
    {"turn", "a joint coordinate has the same name", 7, BRAMAH_E_KEY, {NAME(motor.name, "turn")}},
    {"pump", "the pump of the same name", 7, BRAMAH_E_KEY, {NAME(motor.name, "pump")}},
    {"b", "neither a hose nor a cylinder chamber", 0, 0, {COUNTED(volumes[1].n_hoses, 0)}},
};

EACH_TEST(test_refused, 0, sizeof refused / sizeof refused[0])
{
  check_refusal(&machine, &refused[_i], &diag);
}

TEST(test_needs_a_joint_that_turns)
{
  joint.type = BRAMAH_JOINT_PRISMATIC;
  refuses(&machine, BRAMAH_E_VALUE, "slew", "one that turns is needed", &diag);
}

int main(void) { return run_tests_with("motor", setup, NULL); }
