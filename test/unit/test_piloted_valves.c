/* SPDX-License-Identifier: MIT */
/* Overcentre valves and pilot-operated check valves: flows by hand, derivatives, a load that is held and lowered, what the compiler
 * refuses. */
#include "lib/hydraulics/circuit.h"
#include "test/support/differences.h"
#include "test/support/run.h"
#include "test/support/running.h"

#include <math.h>
#include <string.h>

/* ---- flows from node 0 to node 1 by the pressures of both and of the pilot ---- */

static const bramah__element overcentre = {
    BRAMAH__KIND(overcentre_valve), {0, 1, 2}, {1e-7, 20e6, 4e6, 4.0, 3e-7, 2e5}};
static const bramah__element pilot_check = {
    BRAMAH__KIND(pilot_check_valve), {0, 1, 2}, {1e-7, 2e5, 3.0, 1e6}};

static double flow_at(const bramah__element *element, const double *p, double *by_p)
{
  const bramah__circuit circuit = {
      .transition_pressure = 2e5, .n_volumes = 3, .n_elements = 1, .n_passing = 1, .element = element};
  return bramah__element_flow(&circuit, 0, p, NULL, by_p, NULL);
}

/* The roots are of round numbers. */
static const struct {
  const bramah__element *element;
  double p[3], flow;
} by_hand[] = {
    {&overcentre, {9e6, 0, 0}, 0.0},                              /* the load alone is below the setting */
    {&overcentre, {9e6, 0, 2.75e6}, 0.0},                         /* 9 + 4 x 2.75 = 20 MPa: about to open */
    {&overcentre, {9e6, 0, 3e6}, 0.25 * 1e-7 * 3e3},              /* 1 MPa of 4 beyond it */
    {&overcentre, {9e6, 0, 9e6}, 1e-7 * 3e3},                     /* open */
    {&overcentre, {10e6, 1e6, 3e6}, 0.0},                         /* 1 MPa behind it costs 5 MPa */
    {&overcentre, {10e6, 1e6, 4e6}, 0.25 * 1e-7 * 3e3},           /* ... which the pilot has to make up for */
    {&overcentre, {22e6, 0, 0}, 0.5 * 1e-7 * 4690.4157598234293}, /* a relief valve without pilot */
    {&overcentre, {0, 9.2e6, 0}, -3e-7 * 3e3}, /* free flow to the load, above the cracking pressure */
    {&overcentre, {0, 2e5, 0}, 0.0},
    {&overcentre, {0, 9.2e6, 3e7}, -3e-7 * 3e3}, /* whatever the pilot */
    {&pilot_check, {9.2e6, 0, 0}, 1e-7 * 3e3},   /* free flow */
    {&pilot_check, {2e5, 0, 0}, 0.0},
    {&pilot_check, {0, 9e6, 0}, 0.0},           /* holds */
    {&pilot_check, {0, 9e6, 9.2e6 / 3.0}, 0.0}, /* about to open */
    {&pilot_check, {0, 9e6, 9.7e6 / 3.0}, -0.5 * 1e-7 * 3e3},
    {&pilot_check, {0, 9e6, 9e6}, -1e-7 * 3e3},
    {&pilot_check, {1e6, 10e6, 4e6}, 0.0}, /* the pilot counts from node 0 */
    {&pilot_check, {1e6, 10e6, 5e6}, -1e-7 * 3e3},
};

EACH_TEST(test_by_hand, 0, sizeof by_hand / sizeof *by_hand)
{
  const double flow = flow_at(by_hand[_i].element, by_hand[_i].p, NULL);
  ck_assert_double_eq_tol(flow, by_hand[_i].flow, 1e-12 * fabs(by_hand[_i].flow) + 1e-18);
}

static const bramah__element *moved;
static double moved_p[3];
static int moved_node;

static double flow_of_pressure(double x)
{
  double p[3];
  memcpy(p, moved_p, sizeof p);
  p[moved_node] = x;
  return flow_at(moved, p, NULL);
}

TEST(test_derivatives)
{
  unsigned seed = 5;
  int kinks = 0;
  for (int n = 0; n < 2000; n++) {
    double by_p[3];
    moved = n % 2 ? &overcentre : &pilot_check;
    for (int k = 0; k < 3; k++) moved_p[k] = 6e6 * (1.0 + test_uniform(&seed));
    flow_at(moved, moved_p, by_p);
    ck_assert_double_eq_tol(by_p[0] + by_p[1] + by_p[2], 0.0, 1e-9 * fabs(by_p[0]) + 1e-30);
    for (moved_node = 0; moved_node < 3; moved_node++) {
      const double h = 20.0, x = moved_p[moved_node], mean = central(flow_of_pressure, x, h);
      const double above = one_sided(flow_of_pressure, x, h), below = one_sided(flow_of_pressure, x, -h);
      if (fabs(above - below) > 1e-4 * fabs(mean) + 1e-17)
        kinks++;
      else
        ck_assert_double_eq_tol(by_p[moved_node], mean, 1e-5 * fabs(mean) + 1e-17);
    }
  }
  ck_assert_int_lt(kinks, 60);
}

/* ---- a mass on a cylinder ---- */

static const double piston_area = 5e-3, rod_area = 3.5e-3, weight = 2000.0 * 9.81, drawn_in = 1e-4;
static bramah_diag diag;
static const bramah_body body = {.name = "mass", .mass = 2000.0};
static const bramah_hose hose = {5e-4, 5e8};
static bramah_supply tank;
static bramah_joint joint;
static bramah_volume volumes[2];
static bramah_cylinder cylinder;
static bramah_overcentre_valve holding;
static bramah_pilot_check_valve check;
static bramah_pump pump;
static bramah_machine machine;

static void setup(void)
{
  tank = (bramah_supply){"tank", 0, 1e5};
  joint = (bramah_joint){
      .name = "mass", .type = BRAMAH_JOINT_PRISMATIC, .parent = "ground", .child = "mass", .axis = {0, 1, 0}};
  for (int i = 0; i < 2; i++)
    volumes[i] = (bramah_volume){.name = i ? "top" : "bottom", .n_hoses = 1, .hoses = &hose};
  volumes[0].initial = BRAMAH_PRESSURE_EQUILIBRIUM;
  volumes[1].initial_pressure = 1e5;
  cylinder = (bramah_cylinder){.name = "lift",
                               .body = {"ground", "mass"},
                               .point = {{0, -2.0, 0}},
                               .piston_volume = "bottom",
                               .rod_volume = "top",
                               .piston_area = piston_area,
                               .rod_area = rod_area,
                               .bulk_modulus = 3e10,
                               .reference_stroke = 2.0,
                               .piston_chamber_length = 0.5,
                               .rod_chamber_length = 0.5,
                               .friction = {.model = BRAMAH_FRICTION_VISCOUS, .viscous = 2e5}};
  holding = (bramah_overcentre_valve){.name = "holding",
                                      .line = 4,
                                      .load = "bottom",
                                      .valve = "tank",
                                      .pilot = "top",
                                      .flow_coefficient = 2e-7,
                                      .set_pressure = 5e6,
                                      .override = 2e6,
                                      .pilot_ratio = 3.0};
  check = (bramah_pilot_check_valve){.name = "lock",
                                     .line = 6,
                                     .from = "tank",
                                     .to = "bottom",
                                     .pilot = "top",
                                     .flow_coefficient = 2e-8,
                                     .pilot_ratio = 12.0};
  pump = (bramah_pump){.name = "push", .from = "tank", .into = "top", .flow = drawn_in};
  machine = (bramah_machine){.name = "load",
                             .gravity = {0, -9.81, 0},
                             .oil_bulk_modulus = 1.5e9,
                             .transition_pressure = 2e5,
                             .n_bodies = 1,
                             .bodies = &body,
                             .n_joints = 1,
                             .joints = &joint,
                             .n_supplies = 1,
                             .supplies = &tank,
                             .n_volumes = 2,
                             .volumes = volumes,
                             .n_cylinders = 1,
                             .cylinders = &cylinder,
                             .integrator = {.step_ns = 1000000}};
}

static void with(int is_check)
{
  if (is_check)
    machine.n_pilot_check_valves = 1, machine.pilot_check_valves = &check;
  else
    machine.n_overcentre_valves = 1, machine.overcentre_valves = &holding;
}

/* Nothing pushes: the load stands. */
EACH_TEST(test_holds, 0, 2)
{
  with(_i);
  running r = start(&machine);
  const double before = shown(&r, "mass.position");
  must(run_for(&r, 1.0, &diag), &diag);
  ck_assert_double_eq_tol(shown(&r, "mass.position"), before, 1e-9);
  ck_assert_double_eq(shown(&r, _i ? "lock.flow" : "holding.flow"), 0.0);
  stop(&r);
}

/* Oil into the rod side opens the way: the load sinks as fast as that oil lets it, at the pressures at which the valve passes what
 * the piston displaces. */
TEST(test_lowers)
{
  with(0);
  machine.n_pumps = 1, machine.pumps = &pump;
  running r = start(&machine);
  must(run_for(&r, 3.0, &diag), &diag);
  const double v = -drawn_in / rod_area, bottom = shown(&r, "bottom.pressure") - tank.pressure,
               top = shown(&r, "top.pressure") - tank.pressure;
  const double y = (bottom + 3.0 * top - 5e6) / 2e6, Q = 2e-7 * y * sqrt(bottom);
  ck_assert_double_eq_tol(shown(&r, "lift.velocity"), v, 1e-6 * fabs(v));
  ck_assert_double_eq_tol(bottom * piston_area - top * rod_area - 2e5 * v,
                          weight - tank.pressure * (piston_area - rod_area), 1e-6 * weight);
  ck_assert(y > 0.05 && y < 0.95);
  ck_assert_double_eq_tol(Q, -v * piston_area, 1e-5 * Q);
  ck_assert_double_eq_tol(shown(&r, "holding.flow"), Q, 1e-9 * Q);
  stop(&r);
}

/* A pilot that is there from outside: the load falls through the open valve, the rod side sucks in. */
TEST(test_unlocks)
{
  const bramah_supply supplies[2] = {tank, {"control", 0, 5e6}};
  const bramah_orifice wide = {.name = "wide", .from = "tank", .to = "top", .flow_coefficient = 1e-5};
  with(1);
  check.pilot = "control";
  machine.n_supplies = 2, machine.supplies = supplies;
  machine.n_orifices = 1, machine.orifices = &wide;
  volumes[0].initial = BRAMAH_PRESSURE_GIVEN, volumes[0].initial_pressure = 4e6;
  running r = start(&machine);
  must(run_for(&r, 2.0, &diag), &diag);
  const double v = shown(&r, "lift.velocity"), bottom = shown(&r, "bottom.pressure") - tank.pressure,
               top = shown(&r, "top.pressure") - tank.pressure;
  ck_assert_double_lt(v, -0.005);
  ck_assert_double_eq_tol(-v * piston_area, 2e-8 * sqrt(bottom), 1e-4 * -v * piston_area);
  ck_assert_double_eq_tol(bottom * piston_area - top * rod_area - 2e5 * v,
                          weight - tank.pressure * (piston_area - rod_area), 1e-4 * weight);
  stop(&r);
}

static const refusal refused[] = {
    {"holding", "the set pressure must be positive", 4, 0, {NUMBER(holding.set_pressure, 0.0)}},
    {"holding", "the pilot ratio must be positive", 4, 0, {NUMBER(holding.pilot_ratio, -1.0)}},
    {"holding", "the override must be positive", 4, 0, {NUMBER(holding.override, 0.0)}},
    {"holding", "'trunk'", 4, BRAMAH_E_REFERENCE, {NAME(holding.pilot, "trunk")}},
    {"holding", "both of its ends are the same", 4, 0, {NAME(holding.valve, "bottom")}},
};

EACH_TEST(test_refused, 0, sizeof refused / sizeof *refused)
{
  with(0);
  check_refusal(&machine, &refused[_i], &diag);
}

int main(void) { return run_tests_with("piloted valves", setup, NULL); }
