/* SPDX-License-Identifier: MIT */
/* Every element of the circuit against a calculation by hand. */
#include "lib/hydraulics/circuit.h"
#include "test/support/run.h"

#include <math.h>

static const double laminar = 2e5;

TEST(test_flow_function)
{
  ck_assert_double_eq_tol(bramah__root_flow(e_number(4e6), laminar).value, 2e3, 1e-9);
  ck_assert_double_eq_tol(bramah__root_flow(e_number(-4e6), laminar).value, -2e3, 1e-9);
  ck_assert_double_eq_tol(bramah__root_flow(e_number(1e5), laminar).value, 1e5 / sqrt(2e5), 1e-9);
  ck_assert_double_eq(bramah__root_flow(e_number(0.0), laminar).value, 0.0);
  /* continuous at the transition pressure, on both sides */
  for (int sign = -1; sign <= 1; sign += 2)
    ck_assert_double_eq_tol(bramah__root_flow(e_number(sign * laminar * (1 - 1e-12)), laminar).value,
                            bramah__root_flow(e_number(sign * laminar * (1 + 1e-12)), laminar).value, 1e-6);
}

/* One volume with a hose, an orifice from a supply and a cylinder chamber: p' = (Q - A v) / (V/B_oil +
 * V_h/B_h + A l/B_c). */
TEST(test_volume_orifice_and_chamber)
{
  const bramah__volume volume[2] = {{5e-5, 5e-5 / 5e8}, {1e-4, 1e-4 / 5e8}};
  const double supply[1] = {9e6};
  const bramah__element orifice[1] = {{BRAMAH__KIND(orifice), {2, 0}, {1e-6}}};
  const bramah__cylinder cylinder[1] = {{.piston = 0,
                                         .rod = 1,
                                         .piston_area = 5e-3,
                                         .rod_area = 4e-3,
                                         .bulk_modulus = 3e10,
                                         .reference = 1.0,
                                         .piston_length = 0.2,
                                         .rod_length = 0.5}};
  const bramah__circuit circuit = {.oil_bulk_modulus = 1.5e9,
                                   .transition_pressure = laminar,
                                   .n_volumes = 2,
                                   .n_supplies = 1,
                                   .n_elements = 1,
                                   .n_passing = 1,
                                   .n_cylinders = 1,
                                   .volume = volume,
                                   .supply = supply,
                                   .element = orifice,
                                   .cylinder = cylinder};
  const double p[2] = {5e6, 3e6}, s[1] = {1.1}, v[1] = {0.02};
  double flow[2], pd[2];
  bramah__circuit_rates(&circuit, p, s, v, NULL, flow, pd);
  const double Q = 1e-6 * 2000.0, chamber = 5e-3 * 0.3, rod = 4e-3 * 0.4;
  const double C1 = (5e-5 + chamber) / 1.5e9 + 5e-5 / 5e8 + chamber / 3e10;
  const double C2 = (1e-4 + rod) / 1.5e9 + 1e-4 / 5e8 + rod / 3e10;
  ck_assert_double_eq_tol(pd[0], (Q - 5e-3 * 0.02) / C1, 1e-6 * fabs(pd[0]));
  ck_assert_double_eq_tol(pd[1], (4e-3 * 0.02) / C2, 1e-6 * fabs(pd[1]));
  ck_assert_double_eq_tol(bramah__pressure_force(&circuit, 0, p), 5e6 * 5e-3 - 3e6 * 4e-3, 1e-9);
}

/* 4/3 valve between pump 7 MPa, tank 0.1 MPa, a = volume 0 and b = volume 1. */
TEST(test_valve_ports)
{
  const bramah__volume volume[2] = {{1e-3, 0}, {1e-3, 0}};
  const double supply[2] = {7e6, 1e5};
  const bramah__valve valve[1] = {
      {.pump = 2, .tank = 3, .a = 0, .b = 1, .coefficient = 2e-8, .time_constant = 0.01, .limit = 10}};
  const bramah__circuit circuit = {.oil_bulk_modulus = 1e9,
                                   .transition_pressure = laminar,
                                   .n_volumes = 2,
                                   .n_supplies = 2,
                                   .n_valves = 1,
                                   .volume = volume,
                                   .supply = supply,
                                   .valve = valve};
  const double p[2] = {3e6, 2e6};
  double flow[2], pd[2], U = 5.0;
  bramah__circuit_rates(&circuit, p, NULL, NULL, &U, flow, pd);
  ck_assert_double_eq_tol(flow[0], 2e-8 * 5 * sqrt(4e6), 1e-15);
  ck_assert_double_eq_tol(flow[1], -2e-8 * 5 * sqrt(1.9e6), 1e-15);
  U = -5.0;
  bramah__circuit_rates(&circuit, p, NULL, NULL, &U, flow, pd);
  ck_assert_double_eq_tol(flow[0], -2e-8 * 5 * sqrt(2.9e6), 1e-15);
  ck_assert_double_eq_tol(flow[1], 2e-8 * 5 * sqrt(5e6), 1e-15);
  U = 0.0;
  bramah__circuit_rates(&circuit, p, NULL, NULL, &U, flow, pd);
  ck_assert_double_eq(flow[0], 0.0);
  ck_assert_double_eq(flow[1], 0.0);
}

/* The spool follows 1 - exp(-t/tau), with an error that falls with the square of the step. */
TEST(test_spool)
{
  const bramah__valve valve = {.coefficient = 1, .time_constant = 0.0045, .limit = 10};
  double error[2];
  for (int k = 0; k < 2; k++) {
    const double h = k ? 5e-4 : 1e-3;
    double U = 0.0;
    for (int i = 0; i < (k ? 10 : 5); i++) U = bramah__spool_step(&valve, U, 10.0, h);
    error[k] = fabs(U - 10.0 * (1.0 - exp(-5e-3 / 0.0045)));
  }
  ck_assert_double_lt(error[0], 0.02);
  ck_assert_double_eq_tol(error[0] / error[1], 4.0, 0.1);
  ck_assert_double_eq_tol(bramah__spool_step(&valve, 10.0, 25.0, 1e-3), 10.0, 1e-15); /* beyond the limit */
}

TEST(test_brown_mcphee)
{
  const bramah__friction f = {.kind = BRAMAH__FRICTION_BROWN_MCPHEE,
                              .coulomb = 210.0,
                              .static_force = 830.0,
                              .stribeck = 0.0125,
                              .viscous = 330.0};
  ck_assert_double_eq(bramah__friction_force(&f, 0.0, NULL, NULL), 0.0);
  /* at v = v_s: F_c tanh 4 + (F_s - F_c) + sigma_2 v_s tanh 4 */
  const double peak = 210.0 * tanh(4.0) + 620.0 + 330.0 * 0.0125 * tanh(4.0);
  ck_assert_double_eq_tol(bramah__friction_force(&f, 0.0125, NULL, NULL), peak, 1e-9);
  ck_assert_double_eq_tol(bramah__friction_force(&f, -0.0125, NULL, NULL), -peak, 1e-9);
  /* fast: Coulomb and viscous remain */
  ck_assert_double_eq_tol(bramah__friction_force(&f, 1.0, NULL, NULL), 210.0 + 330.0 * tanh(4.0), 1.0);
}

/* At v_s the two branches meet (less the ramp of the viscous term); far beyond, Coulomb and viscous remain.
 */
TEST(test_bengisu_akay)
{
  const bramah__friction f = {.kind = BRAMAH__FRICTION_BENGISU_AKAY,
                              .coulomb = 210.0,
                              .static_force = 830.0,
                              .stribeck = 0.0125,
                              .viscous = 330.0,
                              .decay = 50.0};
  const double half = 0.00625; /* -F_s/v_s^2 (v - v_s)^2 + F_s = 3/4 F_s */
  ck_assert_double_eq(bramah__friction_force(&f, 0.0, NULL, NULL), 0.0);
  ck_assert_double_eq_tol(bramah__friction_force(&f, half, NULL, NULL), 0.75 * 830.0, 1e-9);
  ck_assert_double_eq_tol(bramah__friction_force(&f, -half, NULL, NULL), -0.75 * 830.0, 1e-9);
  ck_assert_double_eq_tol(bramah__friction_force(&f, 0.0125, NULL, NULL), 830.0 + 0.5 * 330.0 * 0.0125, 1e-9);
  ck_assert_double_eq_tol(bramah__friction_force(&f, 0.1, NULL, NULL),
                          210.0 + 620.0 * exp(-50.0 * 0.0875) + 33.0, 1e-9);
}

static const bramah__friction bristles = {.kind = BRAMAH__FRICTION_MODIFIED_LUGRE,
                                          .coulomb = 210.0,
                                          .static_force = 830.0,
                                          .stribeck = 0.0125,
                                          .viscous = 330.0,
                                          .stiffness = 5.4e7,
                                          .damping = 1e5,
                                          .exponent = 0.5,
                                          .film_velocity = 0.7,
                                          .film_rising = 0.25,
                                          .film_falling = 1.5,
                                          .film_dwell = 40.0};

/* Sliding steadily, the bristles bend to g(v)/sigma_0 and the force is the Stribeck curve with the viscous
 * term. */
TEST(test_lugre_settles_on_the_stribeck_curve)
{
  bramah__friction f = bristles;
  f.kind = BRAMAH__FRICTION_LUGRE;
  double x[1] = {0.0}, xd[1] = {0.0};
  const double v = 0.05, g = 210.0 + 620.0 * exp(-sqrt(0.05 / 0.0125));
  bramah__friction_force(&f, v, x, xd);
  ck_assert_double_eq(xd[0], v);
  for (int k = 0; k < 2000; k++) {
    double next[1];
    bramah__friction_step(&f, 1e-5, v, x, xd, next);
    x[0] = next[0];
    bramah__friction_force(&f, v, x, xd);
  }
  ck_assert_double_eq_tol(x[0], g / 5.4e7, 1e-12);
  ck_assert_double_eq_tol(bramah__friction_force(&f, v, x, xd), g + 330.0 * v, 1e-3);
}

/* The film rises with tau_hp to K_f v^(2/3), no higher than at v_b, and falls with tau_hn; at rest with
 * tau_h0. */
TEST(test_film)
{
  double x[2] = {0.0, 0.0}, xd[2], next[2];
  const double limit = 1.0 - 210.0 / 830.0;
  bramah__friction_force(&bristles, 0.07, x, xd);
  ck_assert_double_eq_tol(xd[1], limit * pow(0.1, 2.0 / 3.0) / 0.25, 1e-12);
  bramah__friction_force(&bristles, 3.0, x, xd);
  ck_assert_double_eq_tol(xd[1], limit / 0.25, 1e-12);
  x[1] = 0.6;
  bramah__friction_force(&bristles, 0.07, x, xd);
  ck_assert_double_eq_tol(xd[1], (limit * pow(0.1, 2.0 / 3.0) - 0.6) / 1.5, 1e-12);
  bramah__friction_force(&bristles, 0.0, x, xd);
  ck_assert_double_eq_tol(xd[1], -0.6 / 40.0, 1e-12);
  /* the step is the trapezoidal rule: x = x_k + h/2 (xd_k + xd) */
  for (int rising = 0; rising < 2; rising++) {
    const double v = rising ? 0.6 : 0.02, h = 1e-3;
    x[0] = 1e-6, x[1] = 0.3;
    bramah__friction_force(&bristles, 0.05, x, xd);
    bramah__friction_step(&bristles, h, v, x, xd, next);
    double after[2];
    bramah__friction_force(&bristles, v, next, after);
    for (int i = 0; i < 2; i++)
      ck_assert_double_eq_tol(next[i], x[i] + 0.5 * h * (xd[i] + after[i]), 1e-12 * (1.0 + fabs(next[i])));
    ck_assert_int_eq(after[1] > 0.0, rising);
  }
}

int main(void) { return run_tests("hydraulics"); }
