/* SPDX-License-Identifier: MIT */
/* Hydraulic motor: steady speed and power against the closed form, whole turns, what the compiler refuses. */
#include "bramah/coupled.h"
#include "test/support/four_bar.h"
#include "test/support/run.h"

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
static bramah_volume volumes[2];
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
  for (int i = 0; i < 2; i++)
    volumes[i] =
        (bramah_volume){.name = i ? "b" : "a", .n_hoses = 1, .hoses = &hose, .initial_pressure = 1e6};
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

static double shown(const bramah_plant *p, const char *name)
{
  return p->output(p->self, must_find(p, name));
}

static void run(const bramah_plant *p, double seconds)
{
  for (int64_t t = 0; t < (int64_t)(seconds * 1e9 + 0.5); t += p->step_ns)
    must(p->step(p->self, &diag), &diag);
}

/* A pump of flow Q drives it: i D dp = c w and Q = i D w + k dp. What the pump adds to the oil comes out as
 * friction and leakage. It goes round and round. */
START_TEST(test_steady_speed)
{
  const bramah_model *model;
  bramah_coupled *c;
  must(bramah_model_new(&machine, &diag, &model), &diag);
  must(bramah_coupled_new(model, &diag, &c), &diag);
  const bramah_plant p = bramah_coupled_plant(c);
  run(&p, 30.0);
  const double d = ratio * D, w = Q / (d + leak * viscous / d), dp = viscous * w / d;
  ck_assert_double_eq_tol(shown(&p, "slew.rate"), w, 1e-9 * w);
  ck_assert_double_eq_tol(shown(&p, "a.pressure") - shown(&p, "b.pressure"), dp, 1e-9 * dp);
  ck_assert_double_eq_tol(shown(&p, "slew.leakage_flow"), leak * dp, 1e-9 * leak * dp);
  ck_assert_double_eq_tol(shown(&p, "back.flow"), Q, 1e-9 * Q);
  ck_assert_double_eq_tol(shown(&p, "slew.friction"), viscous * w, 1e-9 * viscous * w);
  ck_assert_double_eq_tol(shown(&p, "slew.torque"), 0.0, 1e-6 * viscous * w);
  ck_assert_double_eq_tol(Q * dp, viscous * w * w + leak * dp * dp, 1e-9 * Q * dp);
  /* what it has done went into turning the platform */
  ck_assert_double_eq_tol(shown(&p, "slew.work"), 0.5 * inertia * w * w, 1e-6 * inertia * w * w);
  const double turns = shown(&p, "slew.angle") / (2.0 * 3.14159265358979323846);
  ck_assert_double_gt(turns, 2.0);
  ck_assert_double_eq(shown(&p, "slew.angle"), shown(&p, "turn.angle"));
  /* whatever the angle, the next second looks like the last */
  const double p_a = shown(&p, "a.pressure");
  run(&p, 1.0);
  ck_assert_double_eq_tol(shown(&p, "a.pressure"), p_a, 1e-9 * p_a);
  bramah_coupled_free(c);
  bramah_model_free(model);
}
END_TEST

/* The oil between pump and motor is a spring: with the return held open and little damping the platform swings
 * with w^2 = (i D)^2 / (C J). */
START_TEST(test_natural_frequency)
{
  const bramah_model *model;
  bramah_coupled *c;
  motor.friction.model = BRAMAH_FRICTION_NONE;
  motor.leakage = 0.0;
  machine.n_pumps = 0;
  volumes[0].initial_pressure = 4e6;
  volumes[1].initial_pressure = 2e5;
  must(bramah_model_new(&machine, &diag, &model), &diag);
  must(bramah_coupled_new(model, &diag, &c), &diag);
  const bramah_plant p = bramah_coupled_plant(c);
  const double C = 1e-3 / 1.5e9 + 1e-3 / 5e8, expected = ratio * D / sqrt(C * inertia);
  double crossings = 0.0, first = 0.0, last = 0.0, before = shown(&p, "a.pressure") - 2e5;
  for (int k = 1; k <= 8000; k++) { /* its pressure swings about that of the tank */
    run(&p, 1e-3);
    const double now = shown(&p, "a.pressure") - 2e5;
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
  bramah_coupled_free(c);
  bramah_model_free(model);
}
END_TEST

static void no_displacement(void) { motor.displacement = 0.0; }
static void backward_gear(void) { motor.gear_ratio = -3.0; }
static void leaks_back(void) { motor.leakage = -1e-12; }
static void no_volume(void) { motor.a_volume = "tank"; }
static void short_circuit(void) { motor.b_volume = "a"; }
static void no_joint(void) { motor.joint = "trun"; }
static void sliding(void) { joint.type = BRAMAH_JOINT_PRISMATIC; }
static void named_as_joint(void) { motor.name = "turn"; }
static void named_as_pump(void) { motor.name = "pump"; }
static void no_compliance(void) { volumes[1].n_hoses = 0; }

static const struct {
  void (*change)(void);
  bramah_status status;
  const char *thing, *part;
} refused[] = {{no_displacement, BRAMAH_E_VALUE, "slew", "the displacement must be positive"},
               {backward_gear, BRAMAH_E_VALUE, "slew", "the gear ratio must be positive"},
               {leaks_back, BRAMAH_E_VALUE, "slew", "the leakage must not be negative"},
               {no_volume, BRAMAH_E_REFERENCE, "slew", "there is no volume 'tank'"},
               {short_circuit, BRAMAH_E_VALUE, "slew", "both of its ends are the same"},
               {no_joint, BRAMAH_E_REFERENCE, "slew", "did you mean 'turn'"},
               {sliding, BRAMAH_E_VALUE, "slew", "one that turns is needed"},
               {named_as_joint, BRAMAH_E_KEY, "turn", "a joint coordinate has the same name"},
               {named_as_pump, BRAMAH_E_KEY, "pump", "the pump of the same name"},
               {no_compliance, BRAMAH_E_VALUE, "b", "neither a hose nor a cylinder chamber"}};

START_TEST(test_refused)
{
  const bramah_model *model = NULL;
  refused[_i].change();
  const bramah_status status = bramah_model_new(&machine, &diag, &model);
  ck_assert_msg(status == refused[_i].status, "%s: %s", diag.thing, diag.message);
  ck_assert_str_eq(diag.thing, refused[_i].thing);
  ck_assert_msg(strstr(diag.message, refused[_i].part) != NULL, "'%s'", diag.message);
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("motor");
  TCase *cases = one_case(suite, "motor");
  tcase_add_checked_fixture(cases, setup, NULL);
  tcase_add_test(cases, test_steady_speed);
  tcase_add_test(cases, test_natural_frequency);
  tcase_add_loop_test(cases, test_refused, 0, (int)(sizeof refused / sizeof refused[0]));
  return run_suite(suite);
}
