/* SPDX-License-Identifier: MIT */
/* Hydraulic elements beside throttles and plain valves: each against a calculation by hand, and what the
 * compiler refuses. */
#include "bramah/coupled.h"
#include "lib/hydraulics/circuit.h"
#include "test/support/four_bar.h"
#include "test/support/run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double laminar = 2e5;
static four_bar fb;
static bramah_diag diag;

static void setup(void) { four_bar_describe(&fb, 1.0, 1000000); }

static void refused(bramah_status expected, const char *thing, const char *part)
{
  const bramah_model *model = NULL;
  const bramah_status status = bramah_model_new(&fb.machine, &diag, &model);
  ck_assert_msg(status == expected, "expected %s, got %s (%s)", bramah_status_name(expected),
                bramah_status_name(status), diag.message);
  ck_assert_ptr_null(model);
  ck_assert_str_eq(diag.thing, thing);
  ck_assert_msg(strstr(diag.message, part) != NULL, "'%s' lacks '%s'", diag.message, part);
}

/* A circuit of one or two volumes of 1 L and two supplies, nodes 2 (`high`) and 3 (`low`). */
static const bramah__volume two_litres[2] = {{1e-3, 0}, {1e-3, 0}};
static const double high_low[2] = {7e6, 1e5};

static bramah__circuit plain_circuit(void)
{
  return (bramah__circuit){.oil_bulk_modulus = 1e9,
                           .laminar_pressure = laminar,
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

/* The four-bar runs for `seconds` with what was added to it; pressure of volume `name` at the end. */
static double run_four_bar(double seconds, const char *output)
{
  const bramah_model *model;
  bramah_coupled *c;
  must(bramah_model_new(&fb.machine, &diag, &model), &diag);
  must(bramah_coupled_new(model, &diag, &c), &diag);
  const bramah_plant p = bramah_coupled_plant(c);
  const size_t i = must_find(&p, output);
  for (int64_t t = 0; t < (int64_t)(seconds * 1e9); t += p.step_ns) {
    const double u = four_bar_command(t);
    must(p.set_inputs(p.self, &u, &diag), &diag);
    must(p.step(p.self, &diag), &diag);
  }
  const double value = p.output(p.self, i);
  bramah_coupled_free(c);
  bramah_model_free(model);
  return value;
}

/* ---- leakages ---- */

START_TEST(test_leakage_is_linear)
{
  const bramah__leakage leakage[2] = {{0, 1, 2e-12}, {1, 3, 1e-12}};
  bramah__circuit circuit = plain_circuit();
  circuit.n_leakages = 2;
  circuit.leakage = leakage;
  const double *flow = flows(&circuit, 5e6, 2e6);
  ck_assert_double_eq_tol(flow[0], -2e-12 * 3e6, 1e-18);
  ck_assert_double_eq_tol(flow[1], 2e-12 * 3e6 - 1e-12 * 1.9e6, 1e-18);
}
END_TEST

START_TEST(test_leakage_of_a_machine)
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
END_TEST

START_TEST(test_leakages_refused)
{
  bramah_leakage seal = {.name = "seal", .line = 9, .cylinder = "lft", .conductance = 1e-11};
  fb.machine.n_leakages = 1;
  fb.machine.leakages = &seal;
  refused(BRAMAH_E_REFERENCE, "seal", "did you mean 'lift'");
  ck_assert_int_eq(diag.line, 9);
  seal.from = "v1";
  refused(BRAMAH_E_VALUE, "seal", "either two nodes or a cylinder");
  seal.cylinder = NULL;
  seal.to = "v1";
  refused(BRAMAH_E_VALUE, "seal", "the same");
  seal.conductance = 0.0;
  refused(BRAMAH_E_VALUE, "seal", "conductance must be positive");
}
END_TEST

/* A leakage out of a chamber that has to hold a load is no equilibrium; one between equal pressures is. */
START_TEST(test_leakages_and_equilibrium)
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
END_TEST

int main(void)
{
  Suite *suite = suite_create("elements");
  TCase *cases = one_case(suite, "elements");
  tcase_add_checked_fixture(cases, setup, NULL);
  tcase_add_test(cases, test_leakage_is_linear);
  tcase_add_test(cases, test_leakage_of_a_machine);
  tcase_add_test(cases, test_leakages_refused);
  tcase_add_test(cases, test_leakages_and_equilibrium);
  return run_suite(suite);
}
