/* SPDX-License-Identifier: MIT */
/* Hydraulic elements other than orifices and plain valves: each against a calculation by hand, and what the
 * compiler refuses. */
#include "bramah/coupled.h"
#include "lib/hydraulics/circuit.h"
#include "lib/plant/residual_derivative.h"
#include "test/support/four_bar.h"
#include "test/support/run.h"
#include "test/support/running.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double laminar = 2e5;
static four_bar fb;
static bramah_diag diag;

static void setup(void) { four_bar_describe(&fb, 1.0, 1000000); }

static double flow_of(const bramah__element *e, double dp)
{
  const bramah__expr seen[BRAMAH__N_SEEN] = {e_number(dp)};
  return bramah__element_kinds[e->kind]->flow((bramah__quantities){.number = e->value}, seen, laminar).value;
}

static double compliance_of(const bramah__element *e, double p)
{
  return bramah__element_kinds[e->kind]
      ->compliance((bramah__quantities){.number = e->value}, e_number(p))
      .value;
}

static void refused(bramah_status expected, const char *thing, const char *part)
{
  refuses(&fb.machine, expected, thing, part, &diag);
}

/* A circuit of one or two volumes of 1 L and two supplies, nodes 2 (`high`) and 3 (`low`). */
static const bramah__volume two_litres[2] = {{1e-3, 0}, {1e-3, 0}};
static const double high_low[2] = {7e6, 1e5};

static bramah__circuit plain_circuit(void)
{
  return (bramah__circuit){.oil_bulk_modulus = 1e9,
                           .transition_pressure = laminar,
                           .n_volumes = 2,
                           .n_supplies = 2,
                           .volume = two_litres,
                           .supply = high_low};
}

/* Flow into the two volumes at pressures p0, p1. */
static const double *flows(const bramah__circuit *circuit, double p0, double p1)
{
  static double flow[2], pd[2];
  const double p[2] = {p0, p1};
  bramah__circuit_rates(circuit, p, NULL, NULL, NULL, flow, pd);
  for (int i = 0; i < 2; i++) ck_assert(isfinite(pd[i]));
  return flow;
}

/* Its valve follows the cycle of the four-bar. */
static bramah_status follow(running *r, double seconds)
{
  bramah_status status = BRAMAH_OK;
  for (int64_t t = 0; status == BRAMAH_OK && t < (int64_t)(seconds * 1e9); t += r->p.step_ns) {
    const double u = four_bar_command(t);
    must(r->p.set_inputs(r->p.self, &u, &diag), &diag);
    status = r->p.step(r->p.self, &diag);
  }
  return status;
}

/* The four-bar runs for `seconds` with what was added to it; pressure of volume `name` at the end. */
static double run_four_bar(double seconds, const char *output)
{
  running r = start(&fb.machine);
  must(follow(&r, seconds), &diag);
  const double value = shown(&r, output);
  stop(&r);
  return value;
}

/* ---- leakages ---- */

TEST(test_leakage_is_linear)
{
  const bramah__element leakage[2] = {{BRAMAH__KIND(leakage), {0, 1}, {2e-12}},
                                      {BRAMAH__KIND(leakage), {1, 3}, {1e-12}}};
  bramah__circuit circuit = plain_circuit();
  circuit.n_elements = circuit.n_passing = 2;
  circuit.element = leakage;
  const double *flow = flows(&circuit, 5e6, 2e6);
  ck_assert_double_eq_tol(flow[0], -2e-12 * 3e6, 1e-18);
  ck_assert_double_eq_tol(flow[1], 2e-12 * 3e6 - 1e-12 * 1.9e6, 1e-18);
}

TEST(test_leakage_of_a_machine)
{
  bramah_leakage seal = {.name = "seal", .line = 9, .cylinder = "lift", .conductance = 1e-11};
  fb.machine.n_leakages = 1;
  fb.machine.leakages = &seal;
  const double leaking = run_four_bar(0.5, "crank.angle");
  seal.cylinder = NULL;
  seal.from = "v2";
  seal.to = "v3";
  ck_assert_double_eq(run_four_bar(0.5, "crank.angle"), leaking); /* the same two volumes */
  fb.machine.n_leakages = 0;
  ck_assert_double_gt(fabs(run_four_bar(0.5, "crank.angle") - leaking), 1e-6);
}

/* Elements with an output .flow share one list of names; other things may have the same. */
TEST(test_names_of_flows)
{
  bramah_leakage seals[2] = {{.name = "valve", .line = 9, .cylinder = "lift", .conductance = 1e-11},
                             {.name = "orifice", .line = 12, .cylinder = "lift", .conductance = 1e-11}};
  const bramah_model *model;
  fb.machine.n_leakages = 1;
  fb.machine.leakages = seals;
  must(bramah_model_new(&fb.machine, &diag, &model), &diag);
  bramah_model_free(model);
  fb.machine.n_leakages = 2;
  refused(BRAMAH_E_KEY, "orifice", "the orifice of the same name would have the same outputs");
  ck_assert_int_eq(diag.line, 12);
  seals[1].name = "valve";
  refused(BRAMAH_E_KEY, "valve", "more than one leakage");
  seals[1].name = NULL;
  refused(BRAMAH_E_KEY, "leakage", "has no name");
}

/* A leakage out of a chamber that has to hold a load is no equilibrium; one between equal pressures is. */
TEST(test_leakages_and_equilibrium)
{
  bramah_leakage seal = {.name = "seal", .from = "v1", .to = "v2", .conductance = 1e-11};
  fb.machine.n_leakages = 1;
  fb.machine.leakages = &seal;
  fb.volumes[0].initial = fb.volumes[1].initial = BRAMAH_PRESSURE_EQUILIBRIUM;
  const double held = run_four_bar(0.1, "v2.pressure");
  fb.machine.n_leakages = 0;
  ck_assert_double_eq_tol(run_four_bar(0.1, "v2.pressure"), held, 1.0);
  fb.machine.n_leakages = 1;
  seal.to = "tank";
  refused(BRAMAH_E_SINGULAR, "seal", "at rest");
}

/* ---- check valves and relief valves ---- */

TEST(test_check_valve)
{
  const bramah__element valve[2] = {{BRAMAH__KIND(check_valve), {0, 1}, {1e-7, 5e5}},
                                    {BRAMAH__KIND(check_valve), {2, 1}, {1e-7, 0.0}}};
  bramah__circuit circuit = plain_circuit();
  circuit.n_elements = circuit.n_passing = 2;
  circuit.element = valve;
  const double *flow = flows(&circuit, 5e6, 3.5e6);
  ck_assert_double_eq_tol(flow[0], -1e-7 * 1e3, 1e-16); /* sqrt(1.5 MPa - 0.5 MPa) */
  ck_assert_double_eq_tol(flow[1], 1e-7 * (1e3 + sqrt(3.5e6)), 1e-15);
  flow = flows(&circuit, 4e6, 3.5e6 + 1.0); /* shut by a pascal */
  ck_assert_double_eq(flow[0], 0.0);
  flow = flows(&circuit, -1e8, 8e6); /* backwards: neither passes */
  ck_assert_double_eq(flow[0], 0.0);
  ck_assert_double_eq(flow[1], 0.0);
  ck_assert_double_eq_tol(flow_of(&valve[0], 5e5 + 1.0), 1e-7 / sqrt(2e5), 1e-18);
}

TEST(test_relief_valve)
{
  const bramah__element valve = {BRAMAH__KIND(relief_valve), {0, 3}, {1e-7, 4e6, 1e6}};
  ck_assert_double_eq(flow_of(&valve, 4e6), 0.0);
  ck_assert_double_eq(flow_of(&valve, -9e6), 0.0);
  ck_assert_double_eq_tol(flow_of(&valve, 4.25e6), 0.25e-7 * sqrt(4.25e6), 1e-16);
  ck_assert_double_eq_tol(flow_of(&valve, 9e6), 1e-7 * 3e3, 1e-16);
  for (int end = 0; end < 2; end++) /* continuous at both ends of the opening */
    ck_assert_double_eq_tol(flow_of(&valve, (4e6 + end * 1e6) * (1 - 1e-12)),
                            flow_of(&valve, (4e6 + end * 1e6) * (1 + 1e-12)), 1e-14);
  bramah__circuit circuit = plain_circuit();
  circuit.n_elements = circuit.n_passing = 1;
  circuit.element = &valve;
  ck_assert_double_eq_tol(flows(&circuit, 4.6e6, 0.0)[0], -0.5e-7 * sqrt(4.5e6), 1e-16); /* tank at 1 bar */
}

/* ---- pumps ---- */

TEST(test_pump)
{
  const bramah__element pump[2] = {{BRAMAH__KIND(pump), {3, 0}, {1e-3, 0, 0}},
                                   {BRAMAH__KIND(pump), {0, 1}, {2e-4, 5e6, 1e6}}};
  bramah__circuit circuit = plain_circuit();
  circuit.n_elements = circuit.n_passing = 2;
  circuit.element = pump;
  const double *flow = flows(&circuit, 1e6, 5.75e6); /* 4.75 MPa: a quarter of the band is left */
  ck_assert_double_eq_tol(flow[0], 1e-3 - 0.25 * 2e-4, 1e-17);
  ck_assert_double_eq_tol(flow[1], 0.25 * 2e-4, 1e-17);
  ck_assert_double_eq(flow_of(&pump[1], 1e9), 2e-4);
  ck_assert_double_eq(flow_of(&pump[1], -4e6), 2e-4);
  ck_assert_double_eq(flow_of(&pump[1], -5e6), 0.0);
  ck_assert_double_eq(flow_of(&pump[1], -9e6), 0.0);
}

/* v1 becomes the supply of the four-bar: a pump of 6 L/min, held by a relief valve at tank + 50 bar. */
TEST(test_pump_and_relief_valve_of_a_machine)
{
  const bramah_pump pump = {.name = "gear", .from = "tank", .into = "v1", .flow = 1e-4};
  const bramah_relief_valve relief = {.name = "relief",
                                      .from = "v1",
                                      .to = "tank",
                                      .flow_coefficient = 1e-6,
                                      .set_pressure = 5e6,
                                      .override = 5e5};
  fb.machine.n_pumps = fb.machine.n_relief_valves = 1;
  fb.machine.pumps = &pump;
  fb.machine.relief_valves = &relief;
  fb.orifices[0].flow_coefficient = 1e-12; /* the cylinder is cut off */
  const double p = run_four_bar(0.9, "v1.pressure");
  const double y = (p - 1e5 - 5e6) / 5e5; /* at rest the valve passes what the pump delivers */
  ck_assert_double_eq_tol(1e-6 * y * sqrt(p - 1e5), 1e-4, 1e-8);
  const bramah_check_valve check = {
      .name = "check", .from = "v1", .to = "tank", .flow_coefficient = 1e-6, .cracking_pressure = 2e6};
  fb.machine.n_check_valves = 1;
  fb.machine.check_valves = &check;
  /* C q(dp - p_c) = Q in the laminar range */
  ck_assert_double_eq_tol(run_four_bar(0.9, "v1.pressure"), 2.1e6 + 1e-4 / 1e-6 * sqrt(2e5), 100.0);
}

/* What delivers or passes oil at the equilibrium pressures is named; what rests is not minded. */
TEST(test_elements_and_equilibrium)
{
  bramah_pump pump = {.name = "gear", .line = 12, .from = "tank", .into = "v1", .flow = 1e-4};
  fb.machine.n_pumps = 1;
  fb.machine.pumps = &pump;
  fb.volumes[0].initial = fb.volumes[1].initial = BRAMAH_PRESSURE_EQUILIBRIUM;
  refused(BRAMAH_E_VALUE, "gear", "oil flows through this");
  ck_assert_int_eq(diag.line, 12);
  pump.drive = (bramah_drive){.joint = fb.joints[0].name, .speed = 1.0}; /* stands still, then turns */
  run_four_bar(0.1, "v1.pressure");
  fb.joints[0].initial_rate = 0.1;
  refused(BRAMAH_E_VALUE, "gear", "oil flows through this");
  fb.joints[0].initial_rate = 0.0, pump.drive.joint = NULL, pump.drive.speed = 0.0;
  pump.set_pressure = 1e6; /* v1 will be near 3 MPa */
  pump.band = 1e5;
  bramah_check_valve check = {
      .name = "check", .from = "v1", .to = "tank", .flow_coefficient = 1e-6, .cracking_pressure = 5e6};
  fb.machine.n_check_valves = 1;
  fb.machine.check_valves = &check;
  const double at_rest = run_four_bar(0.1, "v1.pressure");
  fb.machine.n_pumps = fb.machine.n_check_valves = 0;
  ck_assert_double_eq_tol(run_four_bar(0.1, "v1.pressure"), at_rest, 1.0);
  fb.machine.n_check_valves = 1;
  check.cracking_pressure = 1e6;
  refused(BRAMAH_E_VALUE, "check", "oil flows through this");
  bramah_relief_valve relief = {.name = "relief",
                                .from = "v2",
                                .to = "tank",
                                .flow_coefficient = 1e-6,
                                .set_pressure = 1e6,
                                .override = 1e5};
  fb.machine.n_check_valves = 0;
  fb.machine.n_relief_valves = 1;
  fb.machine.relief_valves = &relief;
  refused(BRAMAH_E_VALUE, "relief", "oil flows through this");
}

/* ---- characteristics of valves ---- */

TEST(test_curve)
{
  const double x[3] = {-10, 0, 5}, y[3] = {-4, 0, 1};
  const bramah__curve curve = {3, x, y};
  const double cases[][2] = {{-1e9, -4}, {-10, -4}, {-5, -2}, {0, 0}, {1, 0.2}, {5, 1}, {1e9, 1}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
    ck_assert_double_eq_tol(bramah__curve_at(&curve, e_number(cases[i][0])).value, cases[i][1], 1e-15);
}

static void check_openings(const bramah__opening *opening, double U, double pa, double bt, double at,
                           double pb)
{
  bramah__expr e[BRAMAH__N_PATHS];
  bramah__openings(opening, e_number(U), e);
  ck_assert_double_eq_tol(e[BRAMAH__PUMP_A].value, pa, 1e-14);
  ck_assert_double_eq_tol(e[BRAMAH__B_TANK].value, bt, 1e-14);
  ck_assert_double_eq_tol(e[BRAMAH__A_TANK].value, at, 1e-14);
  ck_assert_double_eq_tol(e[BRAMAH__PUMP_B].value, pb, 1e-14);
}

TEST(test_openings)
{
  const bramah__opening plain = {0}, dead = {.dead_band = 0.5};
  const double x[2] = {-10, 10}, y[2] = {-4, 8}, overlap[3] = {0, 1, 10}, edge[3] = {0, 0, 9};
  bramah__opening table = {.common = {2, x, y}};
  check_openings(&plain, 3, 3, 3, 0, 0);
  check_openings(&plain, -3, 0, 0, 3, 3);
  check_openings(&dead, 0.4, 0, 0, 0, 0);
  check_openings(&dead, 2, 1.5, 1.5, 0, 0);
  check_openings(&dead, -2, 0, 0, 1.5, 1.5);
  check_openings(&table, 0, 2, 2, 0, 0); /* -4 + 12/20 * 10 */
  check_openings(&table, -20, 0, 0, 4, 4);
  table.path[BRAMAH__B_TANK] = (bramah__curve){3, overlap, edge};
  check_openings(&table, 0, 2, 0, 0, 0);
  check_openings(&table, 5.5, 5.3, 4.5, 0, 0);
}

static void check_edges(const bramah__opening *opening, double U, double below, double above)
{
  double edge[2];
  bramah__opening_edges(opening, U, &edge[0], &edge[1]);
  ck_assert_double_eq(edge[0], below);
  ck_assert_double_eq(edge[1], above);
}

/* Where the spool begins and ceases to matter. */
TEST(test_edges)
{
  const bramah__opening plain = {0}, dead = {.dead_band = 0.5};
  const double x[2] = {-10, 10}, y[2] = {-4, 12}, flat[4] = {-10, -1, 2, 10}, e[4] = {-9, 0, 0, 8};
  const double overlap[3] = {0, 1, 10}, edge[3] = {0, 0, 9};
  bramah__opening table = {.common = {2, x, y}}, gap = {.common = {4, flat, e}};
  check_edges(&plain, 0.0, -INFINITY, INFINITY);
  check_edges(&dead, 0.1, -0.5, 0.5);
  check_edges(&dead, -0.7, -INFINITY, -0.5);
  check_edges(&table, 0.0, -10.0, 10.0);
  check_edges(&table, 11.0, 10.0, INFINITY);
  check_edges(&gap, 0.2, -1.0, 2.0);
  for (int w = 0; w < 2; w++) gap.path[w] = (bramah__curve){3, overlap, edge}; /* opens before the others */
  check_edges(&gap, 0.2, -1.0, 1.0);
}

TEST(test_flow_through_a_dead_band)
{
  const bramah__valve valve = {
      .pump = 2, .tank = 3, .a = 0, .b = 1, .coefficient = 2e-8, .opening = {.dead_band = 1}};
  bramah__circuit circuit = plain_circuit();
  circuit.n_valves = 1;
  circuit.valve = &valve;
  const double p[2] = {3e6, 2e6};
  double flow[2], pd[2], U = 5.0;
  bramah__circuit_rates(&circuit, p, NULL, NULL, &U, flow, pd);
  ck_assert_double_eq_tol(flow[0], 2e-8 * 4 * sqrt(4e6), 1e-15);
  ck_assert_double_eq_tol(flow[1], -2e-8 * 4 * sqrt(1.9e6), 1e-15);
}

/* A table that says e = U moves the four-bar as no table does; a dead band holds it back. */
TEST(test_characteristics_of_a_machine)
{
  const double straight = run_four_bar(1.5, "crank.angle");
  const double x[2] = {-10, 10}, zero[2] = {0, 10}, falling[2] = {10, 0}, rising[2] = {0, 10},
               back[2] = {-10, 0};
  fb.valves[0].characteristic = (bramah_characteristic){2, x, x};
  ck_assert_double_eq_tol(run_four_bar(1.5, "crank.angle"), straight, 1e-9);
  for (int w = 0; w < 2; w++) {
    fb.valves[0].ports[w] = (bramah_characteristic){2, zero, rising};
    fb.valves[0].ports[2 + w] = (bramah_characteristic){2, back, falling};
  }
  ck_assert_double_eq_tol(run_four_bar(1.5, "crank.angle"), straight, 1e-9);
  setup();
  fb.valves[0].dead_band = 5.0;
  const double slower = run_four_bar(1.5, "crank.angle"); /* U > 0 lowers the crank from 60 deg */
  ck_assert(slower > straight + 0.02 && slower < 1.04);
}

/* A spool inside its dead band is shut, one in the middle of an underlap is not. */
TEST(test_characteristics_and_equilibrium)
{
  const double x[2] = {-1, 1}, underlap[2] = {0, 1};
  fb.volumes[0].initial = fb.volumes[1].initial = BRAMAH_PRESSURE_EQUILIBRIUM;
  fb.valves[0].dead_band = 0.5;
  fb.valves[0].initial_spool = 0.4;
  ck_assert_double_gt(run_four_bar(0.1, "v1.pressure"), 2e6);
  fb.valves[0].initial_spool = 0.6;
  refused(BRAMAH_E_VALUE, "valve", "closed valve");
  fb.valves[0].initial_spool = 0.0;
  fb.valves[0].ports[BRAMAH_PORT_A_TANK] = (bramah_characteristic){2, x, underlap};
  refused(BRAMAH_E_VALUE, "valve", "closed valve");
}

/* ---- accumulators ---- */

TEST(test_accumulator_compliance)
{
  const bramah__element a = {BRAMAH__KIND(accumulator), {0}, {1e-3, 2e6, 1.4}};
  /* gas volume V0 (p0/p)^(1/n); its derivative is what the oil gains */
  for (double p = 2.1e6; p < 4e7; p *= 1.7) {
    const double dp = 1e-5 * p, above = 1e-3 * pow(2e6 / (p + dp), 1 / 1.4),
                 below = 1e-3 * pow(2e6 / (p - dp), 1 / 1.4);
    const double C = compliance_of(&a, p);
    ck_assert_double_eq_tol(C, (below - above) / (2 * dp), 1e-7 * C);
  }
  ck_assert_double_eq_tol(compliance_of(&a, 2e6), 1e-3 / 2.8e6, 1e-20);
  ck_assert_double_eq_tol(compliance_of(&a, 2e6 - 1e-4), 1e-3 / 2.8e6, 1e-18);
  ck_assert_double_eq_tol(compliance_of(&a, 1.9e6), 1e-3 / 2.8e6 / 16.0, 1e-20);
  ck_assert_double_eq_tol(compliance_of(&a, 1.8e6), 0.0, 1e-20);
  ck_assert_double_eq(compliance_of(&a, -1e9), 0.0);
  bramah__circuit circuit = plain_circuit();
  const bramah__element elements[2] = {{BRAMAH__KIND(leakage), {2, 0}, {1e-10}}, a};
  circuit.n_elements = 2;
  circuit.n_passing = 1;
  circuit.element = elements;
  const double p[2] = {4e6, 4e6};
  double flow[2], pd[2];
  bramah__circuit_rates(&circuit, p, NULL, NULL, NULL, flow, pd);
  const double gas = 1e-3 * pow(0.5, 1 / 1.4);
  ck_assert_double_eq_tol(pd[0], 1e-10 * 3e6 / (1e-3 / 1e9 + gas / (1.4 * 4e6)), 1e-6);
}

/* A pump fills an isothermal accumulator: p V stays, V shrinks by what the pump delivers. */
TEST(test_accumulator_of_a_machine)
{
  const bramah_pump pump = {.name = "gear", .from = "tank", .into = "v1", .flow = 1e-4};
  const bramah_accumulator a = {
      .name = "bladder", .volume = "v1", .gas_volume = 1e-3, .precharge = 2e6, .exponent = 1.0};
  fb.machine.n_pumps = fb.machine.n_accumulators = 1;
  fb.machine.pumps = &pump;
  fb.machine.accumulators = &a;
  fb.orifices[0].flow_coefficient = 1e-12;
  const double V0 = 2e6 * 1e-3 / fb.volumes[0].initial_pressure, p = run_four_bar(0.9, "v1.pressure");
  const double hose = (p - fb.volumes[0].initial_pressure) * (4.71e-5 / 1.5e9 + 4.71e-5 / 5.5e8);
  ck_assert_double_eq_tol(2e6 * 1e-3 / p, V0 - 0.9e-4 + hose, 1e-8);
}

/* ---- air ---- */

TEST(test_air_compressibility)
{
  const bramah__air none = {0, 1.4, 0}, slow = {0.01, 1.0, 0}, fast = {0.01, 1.4, 5e3};
  ck_assert_double_eq(bramah__air_compliance(&none, e_number(0.0)).value, 0.0);
  ck_assert_double_eq_tol(bramah__air_compliance(&slow, e_number(101325.0)).value, 0.01 / 101325.0, 1e-18);
  ck_assert_double_eq_tol(bramah__air_compliance(&slow, e_number(1e6)).value, 0.01 * 101325.0 / 1e12, 1e-22);
  /* isentropic: V_air = phi (p_a/x)^(1/n), derived */
  for (double x = 200.0; x < 1e7; x *= 3.0) {
    const double dx = 1e-5 * x;
    const double less = 0.01 * pow(101325.0 / (x + dx), 1 / 1.4),
                 more = 0.01 * pow(101325.0 / (x - dx), 1 / 1.4);
    const double c = bramah__air_compliance(&fast, e_number(5e3 + x)).value;
    ck_assert_double_eq_tol(c, (more - less) / (2 * dx), 1e-7 * c);
  }
  const double held = bramah__air_compliance(&fast, e_number(5.1e3)).value;
  ck_assert(isfinite(held) && bramah__air_compliance(&fast, e_number(-1e9)).value == held);
}

TEST(test_volume_with_air)
{
  bramah__circuit circuit = plain_circuit();
  const bramah__element leakage = {BRAMAH__KIND(leakage), {2, 0}, {1e-10}};
  circuit.n_elements = circuit.n_passing = 1;
  circuit.element = &leakage;
  circuit.air = (bramah__air){0.02, 1.0, 0.0};
  const double p[2] = {4e6, 4e6};
  double flow[2], pd[2];
  bramah__circuit_rates(&circuit, p, NULL, NULL, NULL, flow, pd);
  /* effective bulk modulus 1/(1/B + phi p_a/p^2) = 0.8876 GPa */
  ck_assert_double_eq_tol(pd[0], 3e-4 / (1e-3 * (1 / 1e9 + 0.02 * 101325.0 / 16e12)), 1e-3);
}

static double drawn_from_v1(double seconds, double flow, double fraction)
{
  const bramah_pump pump = {.name = "scavenge", .from = "v1", .into = "v3", .flow = flow};
  const bramah_relief_valve relief = {"relief", 0, "v3", "tank", 1e-6, 4e6, 1e6};
  four_bar_describe(&fb, 1.0, 100000); /* the pressure comes back within a millisecond */
  fb.machine.n_pumps = fb.machine.n_relief_valves = 1;
  fb.machine.pumps = &pump;
  fb.machine.relief_valves = &relief;
  fb.orifices[0].flow_coefficient = 1e-12;
  fb.machine.air = (bramah_air){fraction, 1.4, 3e3};
  return run_four_bar(seconds, "v1.pressure");
}

/* A pump draws on v1 for 0.9 s: v1 stays above the vapour pressure and the cavity is what was drawn. The
 * valve opens at 1 s and fills it: the pressure comes back. */
TEST(test_cavitation_of_a_machine)
{
  const double drawn = 0.9 * 2e-5, p = drawn_from_v1(0.9, 2e-5, 0.01);
  ck_assert_double_gt(p, 3e3);
  ck_assert_double_lt(p, 2e4);
  const double cavity = 4.71e-5 * 0.01 * pow(101325.0 / (p - 3e3), 1 / 1.4);
  ck_assert_double_eq_tol(cavity, drawn, 0.05 * drawn);
  ck_assert_double_lt(drawn_from_v1(1.005, 2e-5, 0.01), 1e5);
  ck_assert_double_gt(drawn_from_v1(1.2, 2e-5, 0.01), 7e6);
}

/* Far more than the volume is drawn; where there is little air, one step leaps over the range in which it
 * gives way. */
TEST(test_cavitation_without_measure)
{
  const double fractions[3] = {0.02, 1e-3, 1e-5};
  for (int i = 0; i < 3; i++) {
    for (double t = 0.001; t < 0.01; t += 0.001) ck_assert(isfinite(drawn_from_v1(t, 1e-4, fractions[i])));
    ck_assert_double_gt(drawn_from_v1(0.1, 1e-4, fractions[i]), 2.5e3);
    ck_assert_double_lt(drawn_from_v1(0.1, 1e-4, fractions[i]), 1e4);
  }
  ck_assert_double_gt(drawn_from_v1(1.4, 1e-4, 0.02), 5e6); /* and it comes back */
  const bramah__air air = {0.01, 1.4, 3e3};
  ck_assert_double_eq(bramah__cavity_recovery(&air, e_number(3e3)).value, 0.0);
  ck_assert_double_eq_tol(bramah__cavity_recovery(&air, e_number(2e3)).value, 1e6, 1e-6);
}

/* ---- end stops ---- */

TEST(test_end_stop_force)
{
  const bramah__end_stop stop = {1e8, 1e5, 0, 0}, cushion = {1e8, 0, 0.02, 5e4};
  ck_assert_double_eq(bramah__end_stop_force(&stop, e_number(0.01), e_number(1.0)).value, 0.0);
  ck_assert_double_eq_tol(bramah__end_stop_force(&stop, e_number(-1e-3), e_number(0.0)).value, 1e5, 1e-6);
  ck_assert_double_eq_tol(bramah__end_stop_force(&stop, e_number(-1e-3), e_number(0.1)).value, 1.1e5, 1e-6);
  ck_assert_double_eq_tol(bramah__end_stop_force(&stop, e_number(-5e-5), e_number(0.1)).value, 5e3 + 5e3,
                          1e-6); /* half of the damper */
  ck_assert_double_eq(bramah__end_stop_force(&stop, e_number(-1e-3), e_number(-2.0)).value,
                      0.0); /* does not pull */
  ck_assert_double_eq_tol(bramah__end_stop_force(&stop, e_number(-1e-12), e_number(1.0)).value, 0.0,
                          2e-3); /* continuous */
  ck_assert_double_eq_tol(bramah__end_stop_force(&cushion, e_number(0.015), e_number(0.2)).value, 0.25 * 1e4,
                          1e-9);
  ck_assert_double_eq(bramah__end_stop_force(&cushion, e_number(0.015), e_number(-0.2)).value, 0.0);
  ck_assert_double_eq_tol(bramah__end_stop_force(&cushion, e_number(-1e-4), e_number(0.2)).value, 1e4 + 1e4,
                          1e-8);
  /* piston end pushes apart, rod end pulls together */
  const bramah__cylinder cylinder = {.reference = 1.0, .piston_length = 0.2, .rod_length = 0.5, .stop = stop};
  const bramah__circuit circuit = {.cylinder = &cylinder};
  ck_assert_double_eq_tol(bramah__stop_force(&circuit.cylinder[0], e_number(0.799), e_number(-0.1)).value,
                          1.1e5, 1e-6);
  ck_assert_double_eq_tol(bramah__stop_force(&circuit.cylinder[0], e_number(1.501), e_number(0.1)).value,
                          -1.1e5, 1e-6);
  ck_assert_double_eq(bramah__stop_force(&circuit.cylinder[0], e_number(1.2), e_number(0.1)).value, 0.0);
}

/* The same cylinder with a short piston or rod chamber: without a stop it leaves its barrel, with one it
 * comes to rest on it, and its force holds what the pressures leave over. */
static void run_onto_stop(double seconds, double sign)
{
  const double k = 2e8, s = run_four_bar(seconds, "lift.stroke"),
               p[2] = {run_four_bar(seconds, "v2.pressure"), run_four_bar(seconds, "v3.pressure")};
  const bramah_cylinder *lift = &fb.cylinders[0];
  const double l = sign > 0 ? lift->piston_chamber_length + (s - lift->reference_stroke)
                            : lift->rod_chamber_length - (s - lift->reference_stroke);
  ck_assert_msg(l < 0.0 && l > -2e-3, "chamber of %g mm", 1e3 * l);
  const double oil = p[0] * lift->piston_area - p[1] * lift->rod_area;
  ck_assert_double_eq_tol(run_four_bar(seconds, "lift.velocity"), 0.0, 1e-4);
  const double rest = run_four_bar(seconds, "lift.force") + run_four_bar(seconds, "lift.friction") - oil;
  ck_assert_double_eq_tol(rest, sign * -k * l, 1e-3 * fabs(rest));
}

TEST(test_end_stops_of_a_machine)
{
  fb.cylinders[0].rod_chamber_length = 0.05;
  running r = start(&fb.machine);
  ck_assert_int_eq(follow(&r, 2.5), BRAMAH_E_VALUE);
  ck_assert_str_eq(diag.thing, "lift");
  stop(&r);
  fb.cylinders[0].end_stop = (bramah_end_stop){2e8, 1e6, 0.01, 1e5};
  run_onto_stop(2.4, -1.0);
}

/* A load that rests on its stop needs that much less pressure. */
TEST(test_end_stop_and_equilibrium)
{
  bramah_cylinder *lift = &fb.cylinders[0];
  fb.volumes[0].initial = fb.volumes[1].initial = BRAMAH_PRESSURE_EQUILIBRIUM;
  lift->end_stop = (bramah_end_stop){2e8, 1e6, 0, 0};
  const double held = run_four_bar(0.001, "v2.pressure");
  lift->piston_chamber_length = -1e-5; /* 0.01 mm deep: 2 kN */
  const bramah_model *model = NULL;
  ck_assert_int_eq(bramah_model_new(&fb.machine, &diag, &model), BRAMAH_E_VALUE); /* lengths stay positive */
  lift->piston_chamber_length = 1e-5;
  lift->reference_stroke += 2e-5;
  ck_assert_double_eq_tol(run_four_bar(0.001, "v2.pressure"), held - 2e3 / lift->piston_area, 1e3);
}

/* ---- together ---- */

/* One of each on the four-bar, all of them working at its initial state: open valves, a compressed stop. */
static bramah_leakage seal;
static bramah_check_valve check;
static bramah_relief_valve relief;
static bramah_pump axial;
static bramah_accumulator bladder;

static void add_everything(void)
{
  bramah_machine *m = &fb.machine;
  seal = (bramah_leakage){"seal", 9, NULL, NULL, "lift", 1e-11};
  check = (bramah_check_valve){"check", 4, "v3", "v2", 1e-7, 1e5};
  relief = (bramah_relief_valve){"relief", 5, "v1", "tank", 1e-6, 2.5e6, 1e6};
  axial = (bramah_pump){"axial", 6, "tank", "v1", 1e-4, 3.2e6, 1e6, {0}};
  bladder = (bramah_accumulator){"bladder", 3, "v3", 1e-4, 2e6, 1.4};
  m->n_leakages = m->n_check_valves = m->n_relief_valves = m->n_pumps = m->n_accumulators = 1;
  m->leakages = &seal;
  m->check_valves = &check;
  m->relief_valves = &relief;
  m->pumps = &axial;
  m->accumulators = &bladder;
  m->air = (bramah_air){0.01, 1.4, 3e3};
  fb.valves[0].dead_band = 0.5;
  fb.valves[0].initial_spool = 2.0;
  fb.cylinders[0].end_stop = (bramah_end_stop){1e8, 1e5, 0.02, 1e5};
  fb.cylinders[0].reference_stroke += fb.cylinders[0].piston_chamber_length + 2e-4;
}

/* The tangent of the step by forward differences against central differences of the residual. */
TEST(test_tangent_with_everything)
{
  enum { NX = 4 };
  double change[NX] = {1e-5, 0, 0, 0}, moved[NX], J[NX * NX], f[NX], above[NX], below[NX];
  add_everything();
  running r = start(&fb.machine);
  must(bramah__step_residual(r.c, change, f), &diag);
  bramah__step_tangent(r.c, J);
  for (size_t k = 0; k < NX; k++) {
    const double step = k == 0 ? 1e-8 : 100.0;
    memcpy(moved, change, sizeof moved);
    moved[k] = change[k] + step;
    must(bramah__step_residual(r.c, moved, above), &diag);
    moved[k] = change[k] - step;
    must(bramah__step_residual(r.c, moved, below), &diag);
    for (size_t i = 0; i < NX; i++) {
      const double difference = (above[i] - below[i]) / (2 * step);
      ck_assert_msg(fabs(J[i * NX + k] - difference) <= 1e-3 * fabs(difference) + 1e-9 * fabs(J[i * NX + i]),
                    "row %zu column %zu: %.10g, difference %.10g", i, k, J[i * NX + k], difference);
    }
  }
  stop(&r);
}

/* It runs a whole cycle, and a model keeps nothing of the description it was made from. */
TEST(test_cycle_with_everything)
{
  add_everything();
  const double angle = run_four_bar(10.0, "crank.angle");
  ck_assert(isfinite(angle));
  double x[2] = {-10, 10}, y[2] = {-10, 10};
  fb.valves[0].dead_band = 0.0;
  fb.valves[0].characteristic = (bramah_characteristic){2, x, y};
  running r = start(&fb.machine);
  memset(x, 0xff, sizeof x);
  memset(y, 0xff, sizeof y);
  must(run_for(&r, 0.1, &diag), &diag);
  stop(&r);
}

/* ---- what is refused ---- */

static const double ascending[3] = {0, 1, 1}, falls[3] = {0, 1, -2}; /* but for the last */
static const bramah_characteristic one_point = {1, ascending, falls}, two_points = {2, ascending, falls},
                                   three_points = {3, ascending, falls},
                                   below_zero = {2, ascending, falls + 1};

#define VALVE fb.valves[0]
#define LIFT fb.cylinders[0].end_stop

/* One of each, all of them good, and then these changes. */
static const refusal refusals[] = {
    {"seal", "did you mean 'lift'", 9, BRAMAH_E_REFERENCE, {NAME(seal.cylinder, "lft")}},
    {"seal", "either two nodes or a cylinder", 9, 0, {NAME(seal.from, "v1")}},
    {"seal", "same", 9, 0, {NAME(seal.cylinder, NULL), NAME(seal.from, "v1"), NAME(seal.to, "v1")}},
    {"seal", "conductance must be positive", 9, 0, {NUMBER(seal.conductance, 0.0)}},
    {"axial", "volume 'pump'", 6, BRAMAH_E_REFERENCE, {NAME(axial.into, "pump")}},
    {"axial", "0 < band <= set pressure", 6, 0, {NUMBER(axial.band, 0.0)}},
    {"axial", "flow must be positive", 6, 0, {NUMBER(axial.flow, -1.0)}},
    {"check", "'tnk'", 4, BRAMAH_E_REFERENCE, {NAME(check.to, "tnk")}},
    {"check", "cracking pressure must not be negative", 4, 0, {NUMBER(check.cracking_pressure, -1.0)}},
    {"relief", "override must be positive", 5, 0, {NUMBER(relief.override, 0.0)}},
    {"bladder", "volume 'v9'", 3, BRAMAH_E_REFERENCE, {NAME(bladder.volume, "v9")}},
    {"bladder", "exponent must not be below 1", 3, 0, {NUMBER(bladder.exponent, 0.9)}},
    {"bladder", "precharge must be positive", 3, 0, {NUMBER(bladder.precharge, 0.0)}},
    {"valve", "dead band must lie between 0 and the limit", 0, 0, {NUMBER(VALVE.dead_band, 10.0)}},
    {"valve", "a dead band or a characteristic", 0, 0, {CURVE(VALVE.characteristic, two_points)}},
    {"valve", "two points", 0, 0, {NUMBER(VALVE.dead_band, 0.0), CURVE(VALVE.characteristic, one_point)}},
    {"valve", "ascend", 0, 0, {NUMBER(VALVE.dead_band, 0.0), CURVE(VALVE.characteristic, three_points)}},
    {"valve", "must not be negative", 0, 0, {CURVE(VALVE.ports[BRAMAH_PORT_A_TANK], below_zero)}},
    {"valve", "within the limit", 0, 0, {NUMBER(VALVE.initial_spool, 11.0)}},
    {"oil", "vapour pressure needs an air fraction", 0, 0, {NUMBER(fb.machine.air.fraction, 0.0)}},
    {"oil", "exponent of the air", 0, 0, {NUMBER(fb.machine.air.exponent, 0.5)}},
    {"oil", "air fraction must not be negative", 0, 0, {NUMBER(fb.machine.air.fraction, -0.01)}},
    {"lift", "stiffness of the end stop must be positive", 0, 0, {NUMBER(LIFT.stiffness, 0.0)}},
    {"lift", "damping of the end stop must not be negative", 0, 0, {NUMBER(LIFT.damping, -1.0)}},
    {"lift", "damping of the cushion must be positive", 0, 0, {NUMBER(LIFT.cushion_damping, 0.0)}},
    {"lift", "length of the cushion must be positive", 0, 0, {NUMBER(LIFT.cushion_length, 0.0)}},
};

EACH_TEST(test_refused, 0, sizeof refusals / sizeof refusals[0])
{
  add_everything();
  check_refusal(&fb.machine, &refusals[_i], &diag);
}

TEST(test_end_stops_need_hoses)
{
  fb.cylinders[0].end_stop = (bramah_end_stop){1e8, 0, 0, 0};
  fb.volumes[2].n_hoses = 0;
  refused(BRAMAH_E_VALUE, "lift", "needs a hose at both volumes");
}

int main(void) { return run_tests_with("elements", setup, NULL); }
