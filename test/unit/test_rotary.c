/* SPDX-License-Identifier: MIT */
/* Rotary actuators: torque, pressure rates, equilibrium, work and stops against calculations by hand, the
 * three formulations against each other, and what the compiler refuses. */
#include "lib/plant/coupled_internal.h"
#include "test/support/four_bar.h"
#include "test/support/run.h"
#include "test/support/running.h"

#include <math.h>
#include <string.h>

static bramah_diag diag;

/* An arm that turns about the vertical or, with gravity, a horizontal axis z, moved by a vane. */
static const double displacement = 6e-5, inertia = 40.0, mass = 30.0, arm = 0.8;
static const bramah_body body = {
    .name = "arm", .mass = 30.0, .centre_of_mass = {0.8, 0, 0}, .inertia = {0, 1.0, 20.8}};
static const bramah_hose hose = {2e-4, 5.5e8};
static const bramah_supply supplies[2] = {{"pump", 0, 1.5e7}, {"tank", 0, 1e5}};
static bramah_joint joint;
static bramah_volume volumes[2];
static bramah_valve valve;
static bramah_input input;
static bramah_rotary swing;
static bramah_machine machine;

static void setup(void)
{
  joint = (bramah_joint){.name = "pivot",
                         .type = BRAMAH_JOINT_REVOLUTE,
                         .parent = "ground",
                         .child = "arm",
                         .axis = {0, 0, 1},
                         .initial_position = 0.3,
                         .initial_rate = 0.5,
                         .initial = BRAMAH_INITIAL_GIVEN};
  volumes[0] = (bramah_volume){.name = "a", .n_hoses = 1, .hoses = &hose, .initial_pressure = 6e6};
  volumes[1] = (bramah_volume){.name = "b", .n_hoses = 1, .hoses = &hose, .initial_pressure = 4e6};
  valve = (bramah_valve){.name = "valve",
                         .pump = "pump",
                         .tank = "tank",
                         .a = "a",
                         .b = "b",
                         .flow_coefficient = 1e-9,
                         .time_constant = 0.01,
                         .limit = 10.0,
                         .input = "valve"};
  input = (bramah_input){.name = "valve"};
  swing = (bramah_rotary){.name = "swing",
                          .line = 12,
                          .joint = "pivot",
                          .a_volume = "a",
                          .b_volume = "b",
                          .displacement = displacement,
                          .bulk_modulus = 3e10,
                          .reference_angle = 0.1,
                          .a_angle = 2.0,
                          .b_angle = 1.5,
                          .friction = {.model = BRAMAH_FRICTION_VISCOUS, .viscous = 12.0}};
  machine = (bramah_machine){.name = "swing",
                             .oil_bulk_modulus = 1.5e9,
                             .n_bodies = 1,
                             .bodies = &body,
                             .n_joints = 1,
                             .joints = &joint,
                             .n_supplies = 2,
                             .supplies = supplies,
                             .n_volumes = 2,
                             .volumes = volumes,
                             .n_valves = 1,
                             .valves = &valve,
                             .n_inputs = 1,
                             .inputs = &input,
                             .n_rotaries = 1,
                             .rotaries = &swing};
}

static bramah_status run(running *r, double seconds, double command)
{
  must(r->p.set_inputs(r->p.self, &command, &diag), &diag);
  return run_for(r, seconds, &diag);
}

static void refused(bramah_status expected, const char *thing, const char *part)
{
  refuses(&machine, expected, thing, part, &diag);
}

/* ---- against calculations by hand ---- */

TEST(test_torque)
{
  running r = start(&machine);
  const double torque = displacement * 2e6 - 12.0 * 0.5;
  ck_assert_double_eq_tol(shown(&r, "swing.angle"), 0.3, 1e-15);
  ck_assert_double_eq_tol(shown(&r, "swing.rate"), 0.5, 1e-15);
  ck_assert_double_eq_tol(shown(&r, "swing.friction"), 6.0, 1e-12);
  ck_assert_double_eq_tol(shown(&r, "swing.torque"), torque, 1e-9);
  double acceleration;
  must(r.p.accelerations(r.p.self, &acceleration, &diag), &diag);
  ck_assert_double_eq_tol(acceleration, torque / inertia, 1e-12);
  ck_assert_double_eq(shown(&r, "swing.work"), 0.0);
  ck_assert_uint_eq(bramah_model_get_info(r.model).n_cylinders, 0);
  ck_assert_uint_eq(bramah_model_get_info(r.model).n_rotaries, 1);
  stop(&r);
}

TEST(test_units)
{
  static const char *const names[] = {"swing.angle", "swing.rate", "swing.torque", "swing.friction",
                                      "swing.work"};
  static const char *const units[] = {"rad", "rad/s", "N*m", "N*m", "J"};
  running r = start(&machine);
  for (int i = 0; i < 5; i++) {
    bramah_output_info info;
    bramah_plant_output_info(&r.p, must_find(&r.p, names[i]), &info);
    ck_assert_str_eq(info.unit, units[i]);
    ck_assert_int_eq(info.has_row, i < 3);
  }
  ck_assert_int_lt(bramah_plant_find_output(&r.p, "swing.stroke"), 0);
  stop(&r);
}

/* p' = -+ D w / (V/B_oil + V/B_wall), hose and chamber, the valve being closed. */
TEST(test_pressure_rates)
{
  running r = start(&machine);
  must(bramah__refresh(r.c, &diag), &diag);
  const double hoses = 2e-4 / 1.5e9 + 2e-4 / 5.5e8, soft = 1.0 / 1.5e9 + 1.0 / 3e10;
  const double a = hoses + displacement * (2.0 + 0.2) * soft, b = hoses + displacement * (1.5 - 0.2) * soft;
  double pd[2];
  bramah__evaluate_rates(r.model, r.c->state.p, r.c->state.U, r.c->now, pd);
  ck_assert_double_eq_tol(pd[0], -displacement * 0.5 / a, 1e-6 * fabs(pd[0]));
  ck_assert_double_eq_tol(pd[1], displacement * 0.5 / b, 1e-6 * fabs(pd[1]));
  stop(&r);
}

/* Gravity about the axis is held by D (p_a - p_b) = m g l cos z. */
TEST(test_equilibrium)
{
  machine.gravity[1] = -9.81;
  joint.initial_rate = 0.0;
  volumes[0].initial = BRAMAH_PRESSURE_EQUILIBRIUM;
  running r = start(&machine);
  const double difference = mass * 9.81 * arm * cos(0.3) / displacement;
  ck_assert_double_eq_tol(bramah_model_get_info(r.model).initial_pressures[0], 4e6 + difference, 1e-2);
  must(run(&r, 0.5, 0.0), &diag);
  ck_assert_double_eq_tol(shown(&r, "pivot.angle"), 0.3, 1e-9);
  stop(&r);
  volumes[1].initial = BRAMAH_PRESSURE_EQUILIBRIUM;
  refused(BRAMAH_E_SINGULAR, "a", "rotary actuator");
}

/* The work of the torque over a stroke there and back, summed here, is what the plant says, and is what the
 * arm gained. */
EACH_TEST(test_energy_balance, 0, 4)
{
  static const bramah_friction_model models[] = {BRAMAH_FRICTION_VISCOUS, BRAMAH_FRICTION_BROWN_MCPHEE,
                                                 BRAMAH_FRICTION_LUGRE, BRAMAH_FRICTION_MODIFIED_LUGRE};
  machine.gravity[1] = -9.81;
  swing.friction = (bramah_friction){models[_i], 20, 30, 0.05, 12, 10, 1e4, 50, 2, 0.1, 0.1, 0.2, 1.0};
  running r = start(&machine);
  const double energy0 = shown(&r, "energy.kinetic") + shown(&r, "energy.potential");
  double work = 0.0, torque = shown(&r, "swing.torque"), angle = shown(&r, "swing.angle"), travel = 0.0;
  for (int k = 0; k < 3000; k++) {
    must(run(&r, 1e-3, k < 1500 ? 10.0 : -10.0), &diag);
    const double torque1 = shown(&r, "swing.torque"), angle1 = shown(&r, "swing.angle");
    work += 0.5 * (torque + torque1) * (angle1 - angle);
    travel += fabs(angle1 - angle);
    torque = torque1, angle = angle1;
    const double gained = shown(&r, "energy.kinetic") + shown(&r, "energy.potential") - energy0;
    ck_assert_double_eq_tol(gained, work, 1e-3);
    ck_assert_double_eq_tol(shown(&r, "swing.work"), work, 1e-9);
  }
  ck_assert_double_gt(travel, 0.5);
  stop(&r);
}

/* Without a valve the pressures follow from the angle: p_a' = -D w / (V/B). */
TEST(test_flow_balance)
{
  machine.n_valves = machine.n_inputs = 0;
  running r = start(&machine);
  const double soft = 1.0 / 1.5e9 + 1.0 / 3e10, hoses = 2e-4 / 1.5e9 + 2e-4 / 5.5e8;
  double expected = 6e6;
  for (int k = 0; k < 200; k++) {
    const double before = shown(&r, "swing.angle");
    must(r.p.step(r.p.self, &diag), &diag);
    const double after = shown(&r, "swing.angle");
    expected -=
        displacement * (after - before) / (hoses + displacement * (1.9 + 0.5 * (before + after)) * soft);
  }
  ck_assert_double_eq_tol(shown(&r, "a.pressure"), expected, 50.0);
  ck_assert_double_gt(fabs(expected - 6e6), 1e5);
  stop(&r);
}

/* ---- end of the range ---- */

TEST(test_end_of_the_range)
{
  running r = start(&machine);
  ck_assert_int_eq(run(&r, 60.0, 10.0), BRAMAH_E_VALUE);
  ck_assert_str_eq(diag.thing, "swing");
  ck_assert_msg(strstr(diag.message, "has left its range") && strstr(diag.message, "rad"), "%s",
                diag.message);
  stop(&r);
  swing.end_stop = (bramah_end_stop){1e6, 1e4, 0.1, 1e3};
  r = start(&machine);
  must(run(&r, 60.0, 10.0), &diag);
  /* at rest on the stop of chamber b, pump and tank in the chambers */
  const double deep = displacement * (1.5e7 - 1e5) / 1e6;
  ck_assert_double_eq_tol(shown(&r, "swing.angle"), 1.6 + deep, 1e-6);
  ck_assert_double_eq_tol(shown(&r, "swing.torque"), 0.0, 1e-2);
  stop(&r);
}

/* ---- together with a cylinder, in a loop ---- */

static four_bar fb;

/* The four-bar of publication II with a rotary actuator in the dependent joint of its rocker, in parallel
 * with the cylinder; both with bristles. */
static void describe_four_bar(void)
{
  four_bar_describe(&fb, 1.0, 1000000);
  four_bar_set_friction(&fb, BRAMAH_FRICTION_LUGRE);
  swing.joint = "rocker";
  swing.a_volume = "v3";
  swing.b_volume = "v2";
  swing.a_angle = swing.b_angle = 6.0;
  swing.friction = (bramah_friction){BRAMAH_FRICTION_LUGRE, 20, 30, 0.05, 12, 0, 1e4, 50, 2, 0, 0, 0, 0};
  fb.machine.n_rotaries = 1;
  fb.machine.rotaries = &swing;
}

TEST(test_formulations_agree)
{
  static const double tolerance[] = {0, 1e-6, 1e-4};
  double angle = 0.0, torque = 0.0;
  describe_four_bar();
  for (int formulation = 0; formulation < 3; formulation++) {
    fb.machine.integrator.formulation = (bramah_formulation)formulation;
    running r = start(&fb.machine);
    must(run(&r, 0.3, 10.0), &diag);
    ck_assert_double_eq_tol(shown(&r, "swing.angle"), shown(&r, "rocker.angle"), 1e-12);
    if (formulation == 0) {
      angle = shown(&r, "swing.angle"), torque = shown(&r, "swing.torque");
      const double gained = shown(&r, "energy.kinetic") + shown(&r, "energy.potential");
      ck_assert_double_eq_tol(gained, shown(&r, "swing.work") + shown(&r, "lift.work"), 1e-3);
      ck_assert_double_gt(fabs(shown(&r, "swing.work")), 0.1);
    }
    ck_assert_double_eq_tol(shown(&r, "swing.angle"), angle, tolerance[formulation] + 1e-15);
    ck_assert_double_eq_tol(shown(&r, "swing.torque"), torque, 1e-9 + 1e3 * tolerance[formulation]);
    stop(&r);
  }
}

/* A leakage passes its vane as it passes a piston. */
TEST(test_leakage_past_the_vane)
{
  bramah_leakage seal = {.name = "seal", .cylinder = "swing", .conductance = 1e-11};
  machine.n_leakages = 1;
  machine.leakages = &seal;
  running r = start(&machine);
  must(run(&r, 0.2, 0.0), &diag);
  const double leaking = shown(&r, "pivot.angle");
  stop(&r);
  seal = (bramah_leakage){.name = "seal", .from = "a", .to = "b", .conductance = 1e-11};
  r = start(&machine);
  must(run(&r, 0.2, 0.0), &diag);
  ck_assert_double_eq(shown(&r, "pivot.angle"), leaking);
  stop(&r);
}

/* ---- compound joints ---- */

TEST(test_compound_joint)
{
  running r = start(&machine);
  must(run(&r, 0.3, 10.0), &diag);
  const double angle = shown(&r, "pivot.angle");
  stop(&r);
  joint.type = BRAMAH_JOINT_CYLINDRICAL;
  joint.initial_positions[1] = 0.3;
  joint.initial_rates[1] = 0.5;
  swing.joint = "pivot_turn";
  r = start(&machine);
  must(run(&r, 0.3, 10.0), &diag);
  ck_assert_double_eq_tol(shown(&r, "swing.angle"), angle, 1e-9);
  stop(&r);
  swing.joint = "pivot_slide";
  refused(BRAMAH_E_VALUE, "swing", "slides");
  swing.joint = "pivot";
  refused(BRAMAH_E_REFERENCE, "swing", "there is no joint coordinate 'pivot'");
}

/* ---- what is refused ---- */

static void refused_value(double *value, const char *part)
{
  const double before = *value;
  *value = 0.0;
  refused(BRAMAH_E_VALUE, "swing", part);
  ck_assert_int_eq(diag.line, 12);
  *value = before;
}

TEST(test_values_refused)
{
  refused_value(&swing.displacement, "the displacement must be positive");
  refused_value(&swing.bulk_modulus, "the bulk modulus must be positive");
  refused_value(&swing.a_angle, "the angle of chamber a must be positive");
  refused_value(&swing.b_angle, "the angle of chamber b must be positive");
  swing.reference_angle = NAN;
  refused(BRAMAH_E_NOT_FINITE, "swing", "reference angle");
  swing.reference_angle = 0.0;
  swing.friction.viscous = -1.0;
  refused(BRAMAH_E_VALUE, "swing", "viscous");
  swing.friction.viscous = 1.0;
  swing.end_stop.damping = 1.0;
  refused(BRAMAH_E_VALUE, "swing", "stiffness of the end stop");
}

TEST(test_names_refused)
{
  swing.joint = "pivto";
  refused(BRAMAH_E_REFERENCE, "swing", "there is no joint coordinate 'pivto'; did you mean 'pivot'?");
  swing.joint = NULL;
  refused(BRAMAH_E_REFERENCE, "swing", "there is no joint coordinate");
  swing.joint = "pivot";
  swing.a_volume = "c";
  refused(BRAMAH_E_REFERENCE, "swing", "there is no volume 'c'");
  swing.a_volume = "a";
  swing.name = "pivot";
  refused(BRAMAH_E_KEY, "pivot", "a joint coordinate has the same name");
  swing.name = NULL;
  refused(BRAMAH_E_KEY, "cylinder or rotary actuator", "has no name");
  describe_four_bar();
  swing.name = "lift";
  machine = fb.machine;
  refused(BRAMAH_E_KEY, "lift", "more than one cylinder or rotary actuator");
}

int main(void) { return run_tests_with("rotary", setup, NULL); }
