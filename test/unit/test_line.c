/* SPDX-License-Identifier: MIT */
/* Line with the inertia of its oil: natural frequency, energy, steady flow, derivatives, what the compiler refuses. */
#include "lib/hydraulics/circuit.h"
#include "test/support/differences.h"
#include "test/support/run.h"
#include "test/support/running.h"

#include <math.h>
#include <string.h>

static const double pi = 3.14159265358979323846;
static bramah_diag diag;
static const bramah_body body = {.name = "arm", .mass = 1.0, .inertia = {0, 0, 5.0}};
static const bramah_hose hose = {1e-3, 5e8};
static bramah_supply supplies[2];
static bramah_joint joint;
static bramah_volume volumes[2];
static bramah_inertial_line line;
static bramah_machine machine;
static const double C = 1e-3 / 1.5e9 + 1e-3 / 5e8;

static void setup(void)
{
  supplies[0] = (bramah_supply){"high", 0, 6e6};
  supplies[1] = (bramah_supply){"low", 0, 1e6};
  joint = (bramah_joint){
      .name = "arm", .type = BRAMAH_JOINT_REVOLUTE, .parent = "ground", .child = "arm", .axis = {0, 0, 1}};
  for (int i = 0; i < 2; i++)
    volumes[i] = (bramah_volume){
        .name = i ? "two" : "one", .n_hoses = 1, .hoses = &hose, .initial_pressure = i ? 4e6 : 5e6};
  line = (bramah_inertial_line){.name = "hose",
                                .line = 5,
                                .from = "one",
                                .to = "two",
                                .length = 10.0,
                                .diameter = 0.02,
                                .density = 860.0,
                                .viscosity = 0.0};
  machine = (bramah_machine){.name = "line",
                             .oil_bulk_modulus = 1.5e9,
                             .n_bodies = 1,
                             .bodies = &body,
                             .n_joints = 1,
                             .joints = &joint,
                             .n_supplies = 2,
                             .supplies = supplies,
                             .n_volumes = 2,
                             .volumes = volumes,
                             .n_lines = 1,
                             .lines = &line,
                             .integrator = {.step_ns = 100000}};
}

/* w^2 = 2 A / (rho l C), and without friction the energy of the oil, C/2 (p1^2 + p2^2) + rho l/(2A) Q^2, stays. */
TEST(test_natural_frequency_and_energy)
{
  running r = start(&machine);
  const double A = pi / 4.0 * 4e-4, inertia = 860.0 * 10.0 / A, expected = sqrt(2.0 / (inertia * C));
  const double mean = 4.5e6, energy = C * 0.25e12;
  double first = 0.0, last = 0.0, crossings = 0.0, before = -1.0;
  ck_assert_double_eq(shown(&r, "hose.flow"), 0.0);
  for (int k = 1; k <= 5000; k++) {
    must(r.p.step(r.p.self, &diag), &diag);
    const double one = shown(&r, "one.pressure") - mean, two = shown(&r, "two.pressure") - mean,
                 Q = shown(&r, "hose.flow");
    ck_assert_double_eq_tol(0.5 * C * (one * one + two * two) + 0.5 * inertia * Q * Q, energy, 1e-6 * energy);
    ck_assert_double_eq_tol(one + two, 0.0, 1.0); /* no oil is lost */
    if (before < 0.0 && Q >= 0.0) {
      last = 1e-4 * (k - Q / (Q - before));
      if (crossings == 0.0) first = last;
      crossings += 1.0;
    }
    before = Q;
  }
  ck_assert_double_ge(crossings, 10.0);
  ck_assert_double_eq_tol(2.0 * pi * (crossings - 1.0) / (last - first), expected, 1e-3 * expected);
  stop(&r);
}

/* With friction the energy of the oil falls by what the loss R Q^2 + K |Q|^3 takes, summed by the trapezoidal rule of the
 * step. */
TEST(test_energy_goes_into_the_loss)
{
  line.viscosity = 0.05;
  line.loss = 30.0;
  running r = start(&machine);
  const double d = 0.02, A = pi / 4.0 * d * d, inertia = 860.0 * 10.0 / A,
               R = 128.0 * 0.05 * 10.0 / (pi * d * d * d * d), K = 30.0 * 860.0 / (2.0 * A * A);
  const double mean = 4.5e6, energy = C * 0.25e12;
  double lost = 0.0, power = 0.0, now = energy;
  for (int k = 0; k < 5000; k++) {
    must(r.p.step(r.p.self, &diag), &diag);
    const double one = shown(&r, "one.pressure") - mean, two = shown(&r, "two.pressure") - mean,
                 Q = shown(&r, "hose.flow"), before = power;
    power = (R + K * fabs(Q)) * Q * Q;
    lost += 0.5e-4 * (before + power);
    now = 0.5 * C * (one * one + two * two) + 0.5 * inertia * Q * Q;
    ck_assert_double_eq_tol(now + lost, energy, 1e-4 * energy);
  }
  ck_assert_double_lt(now, 0.1 * energy); /* most of it */
  stop(&r);
}

/* Between two supplies: Poiseuille, and with losses the root of the quadratic. */
TEST(test_steady_flow)
{
  line.from = "high", line.to = "low";
  line.viscosity = 0.05;
  line.initial_flow = 1e-5;
  for (int turbulent = 0; turbulent < 2; turbulent++) {
    line.loss = turbulent ? 30.0 : 0.0;
    running r = start(&machine);
    ck_assert_double_eq(shown(&r, "hose.flow"), 1e-5);
    must(run_for(&r, 6.0, &diag), &diag);
    const double d = 0.02, A = pi / 4.0 * d * d, R = 128.0 * 0.05 * 10.0 / (pi * d * d * d * d),
                 K = line.loss * 860.0 / (2.0 * A * A);
    const double Q = turbulent ? (sqrt(R * R + 4.0 * K * 5e6) - R) / (2.0 * K)
                               : pi * d * d * d * d * 5e6 / (128.0 * 0.05 * 10.0);
    ck_assert_double_eq_tol(shown(&r, "hose.flow"), Q, 1e-6 * Q);
    stop(&r);
  }
}

/* The state has a name, a unit and a scale of its own. */
TEST(test_state)
{
  running r = start(&machine);
  bramah_state_info info;
  ck_assert_uint_eq(r.p.n_first_order, 3);
  bramah_plant_state_info(&r.p, 2 * r.p.n_dof + 2, &info);
  ck_assert_str_eq(info.name, "hose.flow");
  ck_assert_str_eq(info.unit, "m^3/s");
  ck_assert_double_eq_tol(info.scale, pi / 4.0 * 4e-4, 1e-12);
  stop(&r);
}

/* Derivatives of all rates, by the flow too, against differences. */
TEST(test_derivatives)
{
  static const bramah__volume oil[2] = {{1e-3, 1e-3 / 5e8}, {2e-3, 2e-3 / 5e8}};
  static const bramah__element lines[2] = {{BRAMAH__KIND(line), {0, 1, 2}, {10.0, 0.02, 860.0, 0.05, 3.0}},
                                           {BRAMAH__KIND(line), {4, 0, 3}, {3.0, 0.01, 860.0, 0.05, 0.0}}};
  const double supply = 7e6, step[4] = {10.0, 10.0, 1e-8, 1e-8};
  const bramah__circuit circuit = {.oil_bulk_modulus = 1.5e9,
                                   .transition_pressure = 2e5,
                                   .n_volumes = 4,
                                   .n_supplies = 1,
                                   .n_elements = 2,
                                   .n_lines = 2,
                                   .n_states = 2,
                                   .volume = oil,
                                   .supply = &supply,
                                   .element = lines};
  unsigned seed = 3;
  for (int n = 0; n < 50; n++) {
    double p[4] = {5e6 * (1.5 + test_uniform(&seed)), 5e6 * (1.5 + test_uniform(&seed)),
                   1e-3 * test_uniform(&seed), 1e-4 * test_uniform(&seed)};
    double scratch[4 * BRAMAH__CIRCUIT_SCRATCH], pd[4], by_p[16], by_supply[4], flow[4], up[4], down[4];
    bramah__circuit_derivatives(&circuit, p, NULL, NULL, NULL, scratch, pd, by_p, NULL, NULL, NULL,
                                by_supply);
    bramah__circuit_rates(&circuit, p, NULL, NULL, NULL, flow, up);
    for (int i = 0; i < 4; i++) ck_assert_double_eq(up[i], pd[i]);
    for (int k = 0; k < 4; k++) {
      const double at = p[k];
      p[k] = at + step[k];
      bramah__circuit_rates(&circuit, p, NULL, NULL, NULL, flow, up);
      p[k] = at - step[k];
      bramah__circuit_rates(&circuit, p, NULL, NULL, NULL, flow, down);
      p[k] = at;
      for (int i = 0; i < 4; i++) {
        const double difference = (up[i] - down[i]) / (2.0 * step[k]);
        ck_assert_double_eq_tol(by_p[4 * i + k], difference, 1e-6 * fabs(difference) + 1e-12);
      }
    }
    ck_assert_double_eq_tol(by_supply[3], pi / 4.0 * 1e-4 / (860.0 * 3.0), 1e-12);
    ck_assert_double_eq(by_supply[0], 0.0);
  }
}

static const refusal refused[] = {
    {"hose", "the length must be positive", 5, 0, {NUMBER(line.length, 0.0)}},
    {"hose", "the diameter must be positive", 5, 0, {NUMBER(line.diameter, -1.0)}},
    {"hose", "the density must be positive", 5, 0, {NUMBER(line.density, 0.0)}},
    {"hose", "the loss coefficient must not be negative", 5, 0, {NUMBER(line.loss, -1.0)}},
    {"hose", "not finite", 5, BRAMAH_E_NOT_FINITE, {NUMBER(line.initial_flow, NAN)}},
    {"hose", "'tow'", 5, BRAMAH_E_REFERENCE, {NAME(line.to, "tow")}},
    {"hose", "both of its ends are the same", 5, 0, {NAME(line.to, "one")}},
    {"two", "more than one volume", 0, BRAMAH_E_KEY, {NAME(line.name, "two")}},
};

EACH_TEST(test_refused, 0, sizeof refused / sizeof refused[0])
{
  check_refusal(&machine, &refused[_i], &diag);
}

int main(void) { return run_tests_with("line", setup, NULL); }
