/* SPDX-License-Identifier: MIT */
/* Metered cylinders in the plant: what holds, what balances, what is refused. */
#include "lib/plant/coupled_internal.h"
#include "test/support/metered_bar.h"
#include "test/support/run.h"
#include "test/support/running.h"

#include <math.h>
#include <string.h>

static bramah_diag diag;
static metered_bar bar;
static const bramah_model *model;
static bramah_coupled *c;
static bramah_plant plant;

static void build(void)
{
  must(bramah_model_new(&bar.bar.machine, &diag, &model), &diag);
  must(bramah_coupled_new(model, &diag, &c), &diag);
  plant = bramah_coupled_plant(c);
}

static void setup(void) { metered_bar_describe(&bar, 5000000); }

static void teardown(void)
{
  bramah_coupled_free(c);
  bramah_model_free(model);
  c = NULL;
  model = NULL;
}

static void command(double lift, double swing, double regeneration, double unloading)
{
  const double u[BAR_N_INPUTS] = {0.0, lift, swing, regeneration, unloading};
  must(plant.set_inputs(plant.self, u, &diag), &diag);
}

static void run(int steps)
{
  for (int i = 0; i < steps; i++) must(plant.step(plant.self, &diag), &diag);
}

static double get(const char *name) { return plant.output(plant.self, must_find(&plant, name)); }

static size_t parameter(const char *name)
{
  for (size_t i = 0; i < plant.n_parameter; i++) {
    bramah_parameter_info info;
    plant.parameter_info(plant.self, i, &info);
    if (strcmp(info.name, name) == 0) return i;
  }
  ck_abort_msg("no parameter %s", name);
  return 0;
}

/* Stroke of the actuator itself. */
static double actuator_stroke(const char *stroke, const char *load, const bramah_metered_cylinder *cylinder)
{
  return get(stroke) + get(load) * cylinder->piston_area / cylinder->stiffness;
}

/* Loads go up and down for half an hour; the rods give and come back, the actuators do not move at all. */
TEST(test_closed_valves_hold_for_ever)
{
  bar.bar.machine.integrator.step_ns = 20000000;
  build();
  const size_t load = parameter("crank.load");
  const double start = actuator_stroke("lift.stroke", "lift.load_pressure", &bar.cylinders[0]);
  double least = INFINITY, most = -INFINITY;
  for (int i = 0; i < 90000; i++) {
    if (i % 100 == 0)
      must(plant.set_parameter(plant.self, load, i / 100 % 2 ? 4000.0 : -4000.0, &diag), &diag);
    run(1);
    least = fmin(least, get("lift.stroke")), most = fmax(most, get("lift.stroke"));
    ck_assert_double_eq(get("lift.metered_velocity"), 0.0);
    ck_assert_double_eq(get("swing.metered_velocity"), 0.0);
  }
  ck_assert_double_gt(most - least, 1e-5);
  const double end = actuator_stroke("lift.stroke", "lift.load_pressure", &bar.cylinders[0]);
  ck_assert_double_eq_tol(end, start, 1e-11);
}

/* The force is that of the chambers, and what the pump gives goes somewhere. */
static void check_balances(void)
{
  const double tank = 1e5, Q = bar.line.flow;
  const struct {
    const char *force, *friction, *piston, *rod;
  } names[2] = {{"lift.force", "lift.friction", "lift_piston.pressure", "lift_rod.pressure"},
                {"swing.force", "swing.friction", "swing_piston.pressure", "swing_rod.pressure"}};
  for (int i = 0; i < 2; i++) {
    const double chambers = bar.cylinders[i].piston_area * (get(names[i].piston) - tank) -
                            bar.cylinders[i].rod_area * (get(names[i].rod) - tank);
    ck_assert_double_eq_tol(get(names[i].force) + get(names[i].friction), chambers, 1e-4);
  }
  const double P = get("line.pressure") - tank;
  const double unloading = bar.line.unloading.flow_coefficient * get("line.unloading.spool") / 10.0 * sqrt(P);
  const double left = Q - unloading - get("lift.flow") - get("swing.flow");
  if (P < bar.line.set_pressure)
    ck_assert_double_eq_tol(left, 0.0, 1e-9 * Q);
  else
    ck_assert_double_ge(left, -1e-12);
}

TEST(test_forces_and_flows_balance)
{
  build();
  const double commands[][4] = {{7, 2, 0, 2}, {6, 4, 8, 1}, {-5, -4, 0, 1}, {3, -2, 2, 0}, {0, 0, 0, 9}};
  for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
    command(commands[i][0], commands[i][1], commands[i][2], commands[i][3]);
    for (int k = 0; k < 40; k++) {
      run(1);
      check_balances();
    }
  }
}

/* A narrow path out of the rod side raises its pressure above that of the piston side. */
TEST(test_regenerates_while_extending)
{
  bar.cylinders[0].flow_coefficient[BRAMAH_PORT_B_TANK] = 1e-8;
  build();
  command(7, 7, 0, 0);
  run(60);
  const double without = get("lift.velocity");
  ck_assert_double_eq(get("lift.regeneration_flow"), 0.0);
  command(7, 7, 10, 0);
  run(60);
  ck_assert_double_gt(get("lift.regeneration_flow"), 1e-6);
  ck_assert_int_eq((int)get("lift.valves") & 32, 32);
  ck_assert_double_gt(get("lift.velocity"), 1.2 * without);
}

/* A step depends on nothing but the snapshot. */
TEST(test_snapshot_repeats_to_the_bit)
{
  static unsigned char start[4096], first[4096], second[4096];
  build();
  ck_assert_uint_le(plant.snapshot_size, sizeof start);
  command(6, 4, 8, 1);
  run(30);
  plant.save(plant.self, start);
  run(20);
  plant.save(plant.self, first);
  plant.restore(plant.self, start);
  run(20);
  plant.save(plant.self, second);
  ck_assert_mem_eq(first, second, plant.snapshot_size);
}

TEST(test_starts_at_rest)
{
  double zdd[4];
  bar.cylinders[1].initial = BRAMAH_PRESSURE_GIVEN;
  bar.cylinders[1].load_pressure = 4e5;
  bar.cylinders[0].initial = BRAMAH_PRESSURE_EQUILIBRIUM;
  build();
  must(plant.accelerations(plant.self, zdd, &diag), &diag);
  ck_assert_double_eq_tol(zdd[0], 0.0, 1e-9);
  ck_assert_double_eq(get("swing.load_pressure"), 4e5);
  ck_assert_double_ne(get("lift.load_pressure"), 0.0);
  run(100);
  ck_assert_double_lt(fabs(get("crank.rate")), 1e-10);
}

/* Each formulation solves the same equations. */
TEST(test_formulations_agree)
{
  double angle[3];
  for (int i = 0; i < 3; i++) {
    setup();
    bar.bar.machine.integrator.formulation = (bramah_formulation)i;
    build();
    command(7, 4, 5, 1);
    run(100);
    angle[i] = get("crank.angle");
    teardown();
  }
  ck_assert_double_gt(fabs(angle[0] - 0.5235987755982988), 1e-3);
  for (int i = 1; i < 3; i++) ck_assert_double_eq_tol(angle[i], angle[0], 2e-6);
}

/* On lines of their own, listed against the order of the cylinders. */
TEST(test_lines_of_their_own)
{
  bramah_pump_line lines[2] = {bar.line, bar.line};
  lines[0].name = "second";
  lines[1].name = "first";
  lines[1].unloading = (bramah_metering_valve){0};
  bar.cylinders[0].pump_line = "first";
  bar.cylinders[1].pump_line = "second";
  bar.bar.machine.n_pump_lines = 2;
  bar.bar.machine.pump_lines = lines;
  build();
  command(6, 0, 0, 4);
  run(40);
  ck_assert_double_gt(get("lift.flow"), 0.0);
  ck_assert_double_gt(get("lift.load_pressure"), 5e6);
  ck_assert_double_eq(get("swing.flow"), 0.0);
  ck_assert_double_eq(get("swing.metered_velocity"), 0.0);
  /* nobody draws from the line of the standing one: all of the pump's flow unloadings */
  const double open = 2e-7 * get("second.unloading.spool") / 10.0, P = bar.line.flow / open;
  ck_assert_double_eq_tol(get("second.pressure"), 1e5 + fmin(P * P, 9e6), 1.0);
  ck_assert_double_gt(get("first.pressure"), 1e6);
}

/* A line that nobody is on: its unloading valve and its relief share the flow. */
TEST(test_line_alone)
{
  bar.bar.machine.n_metered_cylinders = 0;
  build();
  command(0, 0, 0, 5);
  ck_assert_double_eq_tol(get("line.pressure"), 9.1e6, 1e-6);
  run(100);
  ck_assert_double_eq_tol(get("line.pressure"), 1e5 + 4e-8 / 1e-14, 1.0);
}

TEST(test_spool_without_lag)
{
  bar.cylinders[0].spool.time_constant = 0.0;
  build();
  command(6, 0, 0, 0);
  run(1);
  ck_assert_double_eq(get("lift.spool"), 6.0);
  command(60, 0, 0, 0);
  run(1);
  ck_assert_double_eq(get("lift.spool"), 10.0);
}

TEST(test_runs_into_its_stop)
{
  bar.cylinders[0].reference_stroke = 1.7320508075688772;
  bar.cylinders[0].piston_chamber_length = 0.3;
  bar.cylinders[0].rod_chamber_length = 0.01;
  bar.cylinders[0].end_stop = (bramah_end_stop){.stiffness = 1e8, .damping = 1e5};
  build();
  command(7, 4, 0, 0);
  run(300);
  ck_assert_double_gt(get("lift.stroke"), 1.7420);
  ck_assert_double_lt(get("lift.stroke"), 1.7440);
  teardown();
  setup();
  bar.cylinders[0].reference_stroke = 1.7320508075688772;
  bar.cylinders[0].piston_chamber_length = 0.3;
  bar.cylinders[0].rod_chamber_length = 0.01;
  build();
  command(7, 4, 0, 0);
  bramah_status status = BRAMAH_OK;
  for (int i = 0; i < 300 && status == BRAMAH_OK; i++) status = plant.step(plant.self, &diag);
  ck_assert_int_eq(status, BRAMAH_E_VALUE);
  ck_assert_str_eq(diag.thing, "lift");
}

/* Rates of the load pressures by all spools. */
TEST(test_rates_by_spools)
{
  enum { NP = 5, NC = 2, NS = 5 };
  double U[NS], scratch[BRAMAH__CIRCUIT_SCRATCH * NP], flow[NP], pd[NP], up[NP], down[NP], by_p[NP * NP],
      by_s[NP * NC], by_v[NP * NC], by_U[NP * NS];
  build();
  command(6, 4, 8, 1);
  run(40);
  const bramah__circuit *circuit = &c->model->circuit;
  const bramah__state *s = &c->state;
  ck_assert_uint_eq(circuit->n_volumes, NP);
  ck_assert_uint_eq(bramah__n_spools(circuit), NS);
  memcpy(U, s->U, sizeof U);
  U[0] = 2.0;
  bramah__circuit_derivatives(circuit, s->p, c->now->s, c->now->v, U, scratch, pd, by_p, by_s, by_v, by_U,
                              NULL);
  bramah__circuit_rates(circuit, s->p, c->now->s, c->now->v, U, flow, up);
  for (int i = 0; i < NP; i++) ck_assert_double_eq(pd[i], up[i]);
  for (int k = 0; k < NS; k++) {
    const double at = U[k], step = 1e-5;
    U[k] = at + step;
    bramah__circuit_rates(circuit, s->p, c->now->s, c->now->v, U, flow, up);
    U[k] = at - step;
    bramah__circuit_rates(circuit, s->p, c->now->s, c->now->v, U, flow, down);
    U[k] = at;
    for (int i = 0; i < NP; i++) {
      const double slope = (up[i] - down[i]) / (2.0 * step);
      ck_assert_msg(fabs(by_U[i * NS + k] - slope) <= 1e-5 * fabs(slope) + 100.0,
                    "%d by %d: %g, difference %g", i, k, by_U[i * NS + k], slope);
    }
  }
}

static void refused(bramah_status expected, const char *thing, const char *part)
{
  refuses(&bar.bar.machine, expected, thing, part, &diag);
  setup();
}

TEST(test_refused)
{
  static const double spools[2] = {-1.0, 10.0}, openings[2] = {0.0, 10.0};
  bar.cylinders[0].pump_line = "lines";
  refused(BRAMAH_E_REFERENCE, "lift", "there is no pump line 'lines'; did you mean 'line'?");
  bar.line.tank = "tanks";
  refused(BRAMAH_E_REFERENCE, "line", "there is no supply 'tanks'");
  bar.line.flow = 0.0;
  refused(BRAMAH_E_VALUE, "line", "the flow must be positive");
  bar.cylinders[1].stiffness = -1.0;
  refused(BRAMAH_E_VALUE, "swing", "the stiffness must be positive");
  bar.cylinders[0].rod_area = 0.006;
  refused(BRAMAH_E_VALUE, "lift", "regeneration needs");
  bar.cylinders[0].spool.ports[BRAMAH_PORT_PUMP_A] = (bramah_characteristic){2, spools, openings};
  refused(BRAMAH_E_VALUE, "lift", "must be shut for U <= 0");
  bar.cylinders[0].spool.time_constant = -1.0;
  refused(BRAMAH_E_VALUE, "lift", "the time constant");
  bar.line.unloading.input = NULL;
  bar.line.unloading.opening = 1.5;
  refused(BRAMAH_E_VALUE, "line", "between 0 and 1");
  bar.cylinders[0].end_stop = (bramah_end_stop){.stiffness = 1e8, .damping = 1e5};
  refused(BRAMAH_E_VALUE, "lift", "an end stop needs chamber lengths");
  bar.cylinders[0].name = "orifice";
  refused(BRAMAH_E_KEY, "orifice", "the orifice of the same name");
  bar.cylinders[0].name = "v2";
  refused(BRAMAH_E_KEY, "v2", "more than one volume");
  bar.cylinders[0].initial = BRAMAH_PRESSURE_EQUILIBRIUM;
  bar.cylinders[0].spool.initial_spool = 5.0;
  refused(BRAMAH_E_VALUE, "lift", "does not hold its load");
}

EACH_TEST(test_names_of_chambers, 0, 2)
{
  const char *const names[2] = {"lift_rod", "v2_piston"};
  static bramah_volume volumes[3];
  memcpy(volumes, bar.bar.volumes, sizeof volumes);
  bar.bar.machine.volumes = volumes;
  bar.bar.machine.n_orifices = bar.bar.machine.n_valves = 0;
  volumes[0].name = names[_i];
  if (_i == 0) {
    refused(BRAMAH_E_KEY, "lift", "named after one of its chambers");
  } else {
    build();
    teardown();
  }
}

int main(void) { return run_tests_with("metered cylinders", setup, teardown); }
