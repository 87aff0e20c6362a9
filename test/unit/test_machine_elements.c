/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Hydraulic elements in machine files: what is read, and every error with its place. */
#define _XOPEN_SOURCE 700 /* temporary files */
#include <math.h>
#include <string.h>

#include "bramah/coupled.h"
#include "bramah/study.h"
#include "bramah/machine.h"
#include "test/support/run.h"
#include "test/support/text_file.h"

#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

enum { N_LINES = 20 };

/* A correct machine; each case replaces one line of it. */
static const char *const machine_lines[N_LINES] = {
    /*  1 */ "machine: small",
    /*  2 */ "gravity: [0, 0, 0]",
    /*  3 */ "bodies: {boom: {mass: 16 kg, inertia: [0, 5, 5 kg*m^2]}}",
    /*  4 */ "joints: {boom: {type: revolute, parent: ground, child: boom, axis: [0, 0, 1], initial: 0}}",
    /*  5 */ "hydraulics:",
    /*  6 */ "  oil: {bulk_modulus: 1500 MPa}",
    /*  7 */ "  supplies: {tank: {pressure: 1 bar}}",
    /*  8 */ "  volumes:",
    /*  9 */ "    v1: {pressure: 30 bar, hoses: [{volume: 1 L, bulk_modulus: 550 MPa}]}",
    /* 10 */ "    v2: {pressure: 20 bar, hoses: [{volume: 1 L, bulk_modulus: 550 MPa}]}",
    /* 11 */ "  valves:",
    /* 12 */
    "    main: {pump: v1, tank: tank, a: v2, b: v2, flow_coefficient: 1 L/min/bar^0.5/V, time_constant: 4 "
    "ms}",
    /* 13 */ "  cylinders:",
    /* 14 */
    "    lift: {bodies: [ground, boom], points: [[1, 0, 0 m], [0, 1, 0 m]], piston_volume: v1, "
    "rod_volume: v2, bore: 80 mm, rod: 35 mm, bulk_modulus: 30 GPa,",
    /* 15 */ "      reference_stroke: 1.41 m, piston_chamber_length: 300 mm, rod_chamber_length: 600 mm,",
    /* 16 */ "      friction: {model: none}}",
    /* 17 */ "  leakages:",
    /* 18 */ "    seal: {cylinder: lift, conductance: 0.01 L/min/bar}",
    /* 19 */ "  # more",
    /* 20 */ "inputs: {main: [[0 s, 0 V]]}",
};

static bramah_status try_load(int line, const char *with, bramah_diag *diag, bramah_machine **out,
                              int *column)
{
  *column = write_lines(machine_lines, N_LINES, line, with);
  return bramah_machine_load(path, 0, NULL, diag, out);
}

/* The machine with one line replaced; it also compiles. */
static bramah_machine *load(int line, const char *with)
{
  bramah_diag diag;
  bramah_machine *machine = NULL;
  const bramah_model *model = NULL;
  int column;
  bramah_status status = try_load(line, with, &diag, &machine, &column);
  ck_assert_msg(status == BRAMAH_OK, "%d:%d: %s: %s", diag.line, diag.column, diag.thing, diag.message);
  status = bramah_model_new(machine, &diag, &model);
  ck_assert_msg(status == BRAMAH_OK, "%d: %s: %s", diag.line, diag.thing, diag.message);
  bramah_model_free(model);
  return machine;
}

TEST(leakages_are_read)
{
  bramah_machine *m = load(19, "    drain: {from: v2, to: tank, conductance: 1e-12 m^3/s/Pa}");
  ck_assert_uint_eq(m->n_leakages, 2);
  ck_assert_str_eq(m->leakages[0].cylinder, "lift");
  ck_assert_double_eq_tol(m->leakages[0].conductance, 1e-5 / 60.0 / 1e5, 1e-24);
  ck_assert_str_eq(m->leakages[1].from, "v2");
  ck_assert_str_eq(m->leakages[1].to, "tank");
  ck_assert_int_eq(m->leakages[1].line, 19);
  bramah_machine_free(m);
}

TEST(load_sensing_is_read)
{
  bramah_machine *m =
      load(12, "    main: {pump: v1, tank: tank, a: v2, b: tank, flow_coefficient: 1e-8 m^3/s/Pa^0.5/V, "
               "time_constant: 4 "
               "ms, compensator: before, compensator_pressure: 12 bar}\n  load_sensing_pumps:\n    axial: "
               "{from: tank, into: "
               "v1, displacement: 20 cm^3/rev, speed: 1500 rpm, margin: 20 bar, cut_off: 300 bar}");
  ck_assert_uint_eq(m->n_load_sensing_pumps, 1);
  const bramah_load_sensing_pump *pump = &m->load_sensing_pumps[0];
  ck_assert_double_eq_tol(pump->displacement * pump->speed, 20e-6 * 25.0, 1e-18);
  ck_assert(pump->margin == 2e6 && pump->cut_off == 3e7 && pump->torque_limit == 0.0);
  ck_assert(pump->band == 1e6 && pump->time_constant == 0.1);
  ck_assert(m->valves[0].compensator == BRAMAH_COMPENSATOR_BEFORE &&
            m->valves[0].compensator_pressure == 1.2e6);
  bramah_machine_free(m);
}

TEST(check_and_relief_valves_are_read)
{
  bramah_machine *m =
      load(19, "  check_valves: {hold: {from: v1, to: v2, flow_coefficient: 1e-7 "
               "m^3/s/Pa^0.5}}\n  relief_valves: {top: {from: v2, to: tank, flow_coefficient: "
               "2e-7 m^3/s/Pa^0.5, set_pressure: 200 bar, override: 20 bar}}");
  ck_assert_uint_eq(m->n_check_valves, 1);
  ck_assert_str_eq(m->check_valves[0].name, "hold");
  ck_assert(m->check_valves[0].cracking_pressure == 0.0 && m->check_valves[0].flow_coefficient == 1e-7);
  ck_assert_uint_eq(m->n_relief_valves, 1);
  ck_assert(m->relief_valves[0].set_pressure == 2e7 && m->relief_valves[0].override == 2e6);
  ck_assert_str_eq(m->relief_valves[0].to, "tank");
  bramah_machine_free(m);
}

TEST(pumps_are_read)
{
  bramah_machine *m =
      load(19, "  pumps:\n    gear: {from: tank, into: v1, displacement: 20 cm^3/rev, speed: 1500 "
               "rpm}\n    axial: {from: tank, into: v2, flow: 60 L/min, set_pressure: 210 bar, "
               "band: 10 bar}");
  ck_assert_uint_eq(m->n_pumps, 2);
  ck_assert_double_eq_tol(m->pumps[0].flow, 20e-6 * 25.0, 1e-18);
  ck_assert(m->pumps[0].set_pressure == 0.0 && m->pumps[0].band == 0.0);
  ck_assert_double_eq_tol(m->pumps[1].flow, 1e-3, 1e-18);
  ck_assert(m->pumps[1].set_pressure == 2.1e7 && m->pumps[1].band == 1e6);
  bramah_machine_free(m);
}

#define VALVE                                                                                                \
  "    main: {pump: v1, tank: tank, a: v2, b: v2, flow_coefficient: 1e-8 m^3/s/Pa^0.5/V, time_constant: 4 "  \
  "ms, "

TEST(characteristics_are_read)
{
  bramah_machine *m = load(12, VALVE "dead_band: 500 mV}");
  ck_assert(m->valves[0].dead_band == 0.5 && m->valves[0].characteristic.n_points == 0);
  bramah_machine_free(m);
  m = load(12, VALVE "characteristic: [[-10 V, -8 V], [0 V, 0 V], [10 V, 9 V]], port_characteristics: "
                     "{pump_b: [[-10 V, 3 V], [-1 V, 0 V]]}}");
  const bramah_valve *valve = &m->valves[0];
  ck_assert_uint_eq(valve->characteristic.n_points, 3);
  ck_assert(valve->characteristic.spools[0] == -10.0 && valve->characteristic.openings[2] == 9.0);
  ck_assert_uint_eq(valve->ports[BRAMAH_PORT_PUMP_A].n_points, 0);
  ck_assert_uint_eq(valve->ports[BRAMAH_PORT_PUMP_B].n_points, 2);
  ck_assert(valve->ports[BRAMAH_PORT_PUMP_B].openings[0] == 3.0);
  bramah_machine_free(m);
}

TEST(accumulators_are_read)
{
  bramah_machine *m =
      load(19, "  accumulators:\n    a: {volume: v1, gas_volume: 2 L, precharge: 50 bar}\n    b: "
               "{volume: v1, gas_volume: 1 L, precharge: 9 bar, exponent: 1}");
  ck_assert_uint_eq(m->n_accumulators, 2);
  ck_assert_str_eq(m->accumulators[0].volume, "v1");
  ck_assert(m->accumulators[0].gas_volume == 2e-3 && m->accumulators[0].precharge == 5e6);
  ck_assert(m->accumulators[0].exponent == 1.4 && m->accumulators[1].exponent == 1.0);
  bramah_machine_free(m);
}

TEST(motors_are_read)
{
  bramah_machine *m =
      load(19, "  motors:\n    slew: {joint: boom, a_volume: v1, b_volume: v2, displacement: 20 cm^3/rev, "
               "gear_ratio: 30, leakage: 0.6 L/min/bar, drain: tank, drain_leakage: 1.2 L/min/bar, friction: "
               "{model: viscous, viscous: 5 N*m*s/rad}}\n    "
               "plain: {joint: boom, a_volume: v2, b_volume: v1, displacement: 1 cm^3/rad}");
  ck_assert_uint_eq(m->n_motors, 2);
  ck_assert_str_eq(m->motors[0].joint, "boom");
  ck_assert_str_eq(m->motors[0].b_volume, "v2");
  ck_assert_double_eq_tol(m->motors[0].displacement, 20e-6 / 6.283185307179586, 1e-18);
  ck_assert_double_eq(m->motors[0].gear_ratio, 30.0);
  ck_assert_double_eq_tol(m->motors[0].leakage, 1e-5 / 1e5, 1e-24);
  ck_assert_str_eq(m->motors[0].drain, "tank");
  ck_assert_double_eq_tol(m->motors[0].drain_leakage, 2e-5 / 1e5, 1e-24);
  ck_assert_ptr_null(m->motors[1].drain);
  ck_assert(m->motors[0].friction.model == BRAMAH_FRICTION_VISCOUS && m->motors[0].friction.viscous == 5.0);
  ck_assert(m->motors[1].gear_ratio == 1.0 && m->motors[1].leakage == 0.0);
  bramah_machine_free(m);
}

TEST(air_is_read)
{
  bramah_machine *m = load(0, NULL);
  ck_assert(m->air.fraction == 0.0 && m->air.vapour_pressure == 0.0);
  bramah_machine_free(m);
  m = load(6, "  oil: {bulk_modulus: 1 GPa, air_fraction: 0.005, vapour_pressure: 3 kPa}");
  ck_assert(m->air.fraction == 0.005 && m->air.vapour_pressure == 3e3 && m->air.exponent == 1.4);
  bramah_machine_free(m);
}

#define STOP "      friction: {model: none}, end_stop: "

TEST(end_stops_are_read)
{
  bramah_machine *m = load(16, STOP "{stiffness: 1e8 N/m, damping: 1e5 N*s/m}}");
  ck_assert(m->cylinders[0].end_stop.stiffness == 1e8 && m->cylinders[0].end_stop.damping == 1e5);
  ck_assert(m->cylinders[0].end_stop.cushion_length == 0.0);
  bramah_machine_free(m);
  m = load(16,
           STOP "{stiffness: 1e8 N/m, damping: 0 N*s/m, cushion_length: 20 mm, cushion_damping: 3e4 N*s/m}}");
  ck_assert(m->cylinders[0].end_stop.cushion_length == 0.02 &&
            m->cylinders[0].end_stop.cushion_damping == 3e4);
  bramah_machine_free(m);
}

#define ROTARY                                                                                               \
  "  rotary_actuators: {swing: {joint: boom, a_volume: v1, b_volume: v2, bulk_modulus: 30 GPa, b_angle: 80 " \
  "deg, "

TEST(rotary_actuators_are_read)
{
  const double degree = 3.14159265358979323846 / 180.0;
  bramah_machine *m = load(19, ROTARY "a_angle: 100 deg, displacement: 0.06 L/rad}}");
  const bramah_rotary *r = &m->rotaries[0];
  ck_assert_uint_eq(m->n_rotaries, 1);
  ck_assert_str_eq(r->name, "swing");
  ck_assert_str_eq(r->joint, "boom");
  ck_assert_str_eq(r->a_volume, "v1");
  ck_assert_str_eq(r->b_volume, "v2");
  ck_assert_int_eq(r->line, 19);
  ck_assert_double_eq_tol(r->displacement, 6e-5, 1e-18);
  ck_assert_double_eq_tol(r->a_angle, 100 * degree, 1e-14);
  ck_assert_double_eq_tol(r->b_angle, 80 * degree, 1e-14);
  ck_assert(r->bulk_modulus == 3e10 && r->reference_angle == 0.0 && r->end_stop.stiffness == 0.0);
  ck_assert_int_eq(r->friction.model, BRAMAH_FRICTION_NONE);
  bramah_machine_free(m);
}

TEST(rotary_actuators_are_read_whole)
{
  const double degree = 3.14159265358979323846 / 180.0;
  bramah_machine *m =
      load(19, ROTARY "a_angle: 1 rad, displacement: 60 cm^3/rad, reference_angle: -5 deg, friction: {model: "
                      "bengisu-akay, coulomb: 20 N*m, static: 30 N*m, stribeck_velocity: 3 deg/s, viscous: 4 "
                      "N*m*s/rad, decay: 5 s/rad}, end_stop: {stiffness: 1 MN*m/rad, damping: 2 N*m*s/rad, "
                      "cushion_angle: 5 deg, cushion_damping: 3 N*m*s/rad}}}");
  const bramah_rotary *r = &m->rotaries[0];
  ck_assert_double_eq_tol(r->displacement, 6e-5, 1e-18);
  ck_assert_double_eq_tol(r->reference_angle, -5 * degree, 1e-14);
  ck_assert(r->friction.coulomb == 20.0 && r->friction.static_force == 30.0 && r->friction.viscous == 4.0);
  ck_assert_double_eq_tol(r->friction.stribeck_velocity, 3 * degree, 1e-14);
  ck_assert_double_eq_tol(r->friction.decay, 5.0, 1e-14);
  ck_assert(r->end_stop.stiffness == 1e6 && r->end_stop.damping == 2.0 && r->end_stop.cushion_damping == 3.0);
  ck_assert_double_eq_tol(r->end_stop.cushion_length, 5 * degree, 1e-14);
  bramah_machine_free(m);
}

/* ---- one of each in one file ---- */

/* Hold, lift, lower onto the cushioned stop, as the file plans it. */
static bramah_coupled *simulate(const bramah_machine *machine, const bramah_model *model, bramah_plant *plant)
{
  bramah_diag diag;
  bramah_coupled *c = NULL;
  bramah_schedule *schedule = NULL;
  ck_assert_int_eq(bramah_coupled_new(model, &diag, &c), BRAMAH_OK);
  ck_assert_int_eq(bramah_schedule_new(machine, model, &diag, &schedule), BRAMAH_OK);
  *plant = bramah_coupled_plant(c);
  for (int i = 0; i < 8000; i++) {
    ck_assert_int_eq(plant->set_inputs(plant->self, bramah_schedule_at(schedule, i * plant->step_ns), &diag),
                     BRAMAH_OK);
    const bramah_status status = plant->step(plant->self, &diag);
    ck_assert_msg(status == BRAMAH_OK, "%s: %s", diag.thing, diag.message);
  }
  bramah_schedule_free(schedule);
  return c;
}

static double output_of(const bramah_plant *p, const char *name)
{
  const long output = bramah_plant_find_output(p, name);
  ck_assert_msg(output >= 0, "no output %s", name);
  return p->output(p->self, (size_t)output);
}

TEST(every_element_works)
{
  char file[1024];
  const char *root = getenv("BRAMAH_SOURCE_ROOT");
  bramah_machine *machine = NULL;
  const bramah_model *model = NULL;
  bramah_diag diag;
  bramah_plant p;
  snprintf(file, sizeof file, "%s/test/support/every-element.yaml", root ? root : ".");
  ck_assert_int_eq(bramah_machine_load(file, 0, NULL, &diag, &machine), BRAMAH_OK);

  for (size_t i = 0; bramah_element_kind_at(i); i++)
    ck_assert_msg(bramah_machine_n_elements(machine, bramah_element_kind_at(i)) > 0, "none of the %s",
                  bramah_element_kind_at(i)->section);
  ck_assert_int_eq(bramah_model_new(machine, &diag, &model), BRAMAH_OK);
  bramah_coupled *c = simulate(machine, model, &p);

  /* The pump at its setting above the tank, boom and platform on their stops, the mast held by shut valves. The
   * compensator of `nod` lets 2e-9 x 10 sqrt(10 bar) pass, as much falls over the edge to the tank, the pump adds its margin. */
  const double stop = -0.5 * 3.14159265358979323846 - 60e-6 * 1.5e7 / 1e6;
  const struct {
    const char *name;
    double expected, tolerance;
  } rows[] = {{"line.pressure", 1.51e7, 1e3}, {"bottom.pressure", 1e5, 1e3},
              {"top.pressure", 1.51e7, 1e3},  {"lift.velocity", 0.0, 1e-6},
              {"slew.rate", 0.0, 1e-5},       {"slew.angle", stop, 1e-5},
              {"mast.rate", 0.0, 1e-9},       {"tilt.metered_velocity", 0.0, 1e-9},
              {"nod.rate", -1.0 / 3.0, 1e-6}, {"rail.pressure", 3.1e6 + 50.0 / 3.0 / 60e-6, 100.0}};
  for (int i = 0; i < COUNT(rows); i++)
    ck_assert_double_eq_tol(output_of(&p, rows[i].name), rows[i].expected, rows[i].tolerance);
  ck_assert_double_gt(output_of(&p, "mast.angle"), 0.03);

  /* The winch turns evenly with what the throttle lets through, and all of it drains, a part through the case. */
  const double Q = output_of(&p, "throttle.flow"), per_turn = 10.0 * 20e-6, turn = 6.283185307179586;
  ck_assert_double_gt(Q, 1e-4);
  ck_assert_double_eq_tol(output_of(&p, "winch.flow_a"), Q, 1e-9 * Q);
  ck_assert_double_eq_tol(output_of(&p, "winch.flow_b"), output_of(&p, "drain.flow"), 1e-9 * Q);
  ck_assert_double_eq_tol(output_of(&p, "drain.flow") + output_of(&p, "winch.drain_flow"), Q, 1e-9 * Q);
  ck_assert_double_eq_tol(output_of(&p, "winch.rate") / turn * per_turn +
                              output_of(&p, "winch.leakage_flow") +
                              1e-12 * (output_of(&p, "feed.pressure") - 1e5),
                          Q, 1e-9 * Q);
  ck_assert_double_eq_tol((output_of(&p, "feed.pressure") - output_of(&p, "return.pressure")) * per_turn /
                              turn,
                          30.0 * output_of(&p, "winch.rate"), 1e-6);
  bramah_coupled_free(c);
  bramah_model_free(model);
  bramah_machine_free(machine);
}

/* The reference has a row for each kind of element, which names all of its keys. */
TEST(every_key_is_documented)
{
  char file[1024], row[4096];
  const char *root = getenv("BRAMAH_SOURCE_ROOT");
  const bramah_element_kind *kind;
  snprintf(file, sizeof file, "%s/datasets/README.md", root ? root : ".");
  size_t n_kinds = 0;
  for (; (kind = bramah_element_kind_at(n_kinds)) != NULL; n_kinds++) {
    char wanted[128];
    int found = 0;
    snprintf(wanted, sizeof wanted, "| `%s` |", kind->section);
    FILE *readme = fopen(file, "r");
    ck_assert_ptr_nonnull(readme);
    while (!found && fgets(row, sizeof row, readme)) found = strncmp(row, wanted, strlen(wanted)) == 0;
    fclose(readme);
    ck_assert_msg(found, "datasets/README.md has no row '%s'", wanted);
    for (const bramah_element_key *key = kind->keys; key->name; key++) {
      snprintf(wanted, sizeof wanted, "`%s`", key->name);
      ck_assert_msg(strstr(row, wanted) != NULL, "%s: %s is not explained", kind->section, wanted);
    }
  }
  ck_assert_uint_ge(n_kinds, 13);
}

/* Slews several times around; the same machine is in test/support/slew.yaml. */
TEST(a_platform_slews_without_end)
{
  char file[1024];
  const char *root = getenv("BRAMAH_SOURCE_ROOT");
  bramah_machine *machine = NULL;
  const bramah_model *model = NULL;
  bramah_coupled *c = NULL;
  bramah_diag diag;
  snprintf(file, sizeof file, "%s/test/support/slew.yaml", root ? root : ".");
  ck_assert_int_eq(bramah_machine_load(file, 0, NULL, &diag, &machine), BRAMAH_OK);
  ck_assert_int_eq(bramah_model_new(machine, &diag, &model), BRAMAH_OK);
  ck_assert_int_eq(bramah_coupled_new(model, &diag, &c), BRAMAH_OK);
  const bramah_plant p = bramah_coupled_plant(c);
  const double full = 10.0;
  ck_assert_int_eq(p.set_inputs(p.self, &full, &diag), BRAMAH_OK);
  for (int i = 0; i < 30000; i++) ck_assert_int_eq(p.step(p.self, &diag), BRAMAH_OK);
  const long angle = bramah_plant_find_output(&p, "slew.angle"),
             rate = bramah_plant_find_output(&p, "slew.rate");
  ck_assert(angle >= 0 && rate >= 0);
  const double turns = p.output(p.self, (size_t)angle) / 6.283185307179586;
  ck_assert_msg(turns > 2.0, "%g turns", turns);
  /* the volumes pass what the edges of the valve let through at these pressures: no turn differs from the last */
  const double w = p.output(p.self, (size_t)rate);
  for (int i = 0; i < 1000; i++) ck_assert_int_eq(p.step(p.self, &diag), BRAMAH_OK);
  ck_assert_double_eq_tol(p.output(p.self, (size_t)rate), w, 1e-9);
  bramah_coupled_free(c);
  bramah_model_free(model);
  bramah_machine_free(machine);
}

#define TURN "displacement: 1 L/rad, bulk_modulus: 1 GPa, a_angle: 1 rad, b_angle: 1 rad, "

#define LINE                                                                                                 \
  "  pump_lines: {main: {tank: tank, flow: 120 L/min, set_pressure: 20 MPa, unloading: {flow_coefficient: "  \
  "1 "                                                                                                       \
  "L/min/bar^0.5, input: spill}}}\n"
#define METERED                                                                                              \
  "  metered_cylinders: {tilt: {bodies: [ground, boom], points: [[1, 0, 0 m], [0, 1, 0 m]], "                \
  "piston_relief: 25 MPa, rod_relief: 20 MPa, stiffness: 30 kN/mm, damping: 500 kN*s/m, "
#define AREAS "bore: 80 mm, rod: 35 mm, "
#define VALVES "flow_coefficient: 60 L/min/bar^0.5, "

TEST(metered_cylinders_are_read)
{
  bramah_machine *m =
      load(19, METERED AREAS "pump_line: main, flow_coefficients: {pump_a: 6 L/min/bar^0.5, b_tank: "
                             "12 L/min/bar^0.5, a_tank: 18 L/min/bar^0.5, pump_b: 24 L/min/bar^0.5}, "
                             "load_pressure: -3 bar, limit: 5 V, dead_band: 0.5 V, "
                             "regeneration: {flow_coefficient: 3 L/min/bar^0.5, opening: 0.4}}}\n" LINE);
  ck_assert_uint_eq(m->n_metered_cylinders, 1);
  ck_assert_uint_eq(m->n_pump_lines, 1);
  const bramah_metered_cylinder *c = &m->metered_cylinders[0];
  const double unit = 1e-3 / 60.0 / sqrt(1e5);
  ck_assert_str_eq(c->pump_line, "main");
  ck_assert_str_eq(c->spool.input, "tilt");
  ck_assert_double_eq_tol(c->piston_area, 3.14159265358979323846 * 0.0016, 1e-15);
  for (int i = 0; i < BRAMAH_N_PORTS; i++)
    ck_assert_double_eq_tol(c->flow_coefficient[i], 6.0 * (i + 1) * unit, 1e-18);
  ck_assert_double_eq(c->stiffness, 3e7);
  ck_assert_double_eq(c->damping, 5e5);
  ck_assert_double_eq(c->rod_relief, 2e7);
  ck_assert_double_eq(c->load_pressure, -3e5);
  ck_assert_int_eq((int)c->initial, BRAMAH_PRESSURE_GIVEN);
  ck_assert_double_eq(c->spool.limit, 5.0);
  ck_assert_double_eq(c->spool.dead_band, 0.5);
  ck_assert_double_eq(c->regeneration.opening, 0.4);
  const bramah_pump_line *line = &m->pump_lines[0];
  ck_assert_str_eq(line->tank, "tank");
  ck_assert_double_eq_tol(line->flow, 0.002, 1e-15);
  ck_assert_str_eq(line->unloading.input, "spill");
  ck_assert_double_eq(line->unloading.limit, 10.0);
  ck_assert_uint_eq(m->n_inputs, 3); /* main, and two that nobody commands */
  bramah_machine_free(m);
  m = load(19, METERED AREAS VALVES "pump_line: main}}\n" LINE);
  ck_assert_int_eq((int)m->metered_cylinders[0].initial, BRAMAH_PRESSURE_EQUILIBRIUM);
  ck_assert_double_eq(m->metered_cylinders[0].regeneration.flow_coefficient, 0.0);
  bramah_machine_free(m);
}

/* ---- errors: '@' in front of the offending scalar ---- */

static const struct {
  int line;
  const char *with;
  bramah_status status;
  const char *thing, *message;
} bad_lines[] = {
    {18, "    @seal: {from: v1, conductance: 1 m^3/s/Pa}", BRAMAH_E_KEY, "hydraulics.leakages.seal",
     "required key 'to' is missing"},
    {18, "    @seal: {to: v1, conductance: 1 m^3/s/Pa}", BRAMAH_E_KEY, "hydraulics.leakages.seal",
     "required key 'from' is missing"},
    {18, "    seal: {from: v1, @cylinder: lift, conductance: 1 m^3/s/Pa}", BRAMAH_E_KEY,
     "hydraulics.leakages.seal.cylinder", "'cylinder' stands for 'from' and 'to'"},
    {18, "    seal: {cylinder: @lfit, conductance: 1 m^3/s/Pa}", BRAMAH_E_REFERENCE,
     "hydraulics.leakages.seal.cylinder", "there is no cylinder 'lfit'; did you mean 'lift'?"},
    {18, "    seal: {from: v1, to: @v9, conductance: 1 m^3/s/Pa}", BRAMAH_E_REFERENCE,
     "hydraulics.leakages.seal.to", "there is no volume or supply 'v9'"},
    {18, "    seal: {from: v1, to: v2, conductance: @1 m^3/s}", BRAMAH_E_UNIT,
     "hydraulics.leakages.seal.conductance", ""},
    {19, "  check_valves: {hold: {from: v1, to: @v3, flow_coefficient: 1 m^3/s/Pa^0.5}}", BRAMAH_E_REFERENCE,
     "hydraulics.check_valves.hold.to", "there is no volume or supply 'v3'"},
    {19, "  check_valves: {@hold: {from: v1, to: v2}}", BRAMAH_E_KEY, "hydraulics.check_valves.hold",
     "required key 'flow_coefficient' is missing"},
    {19,
     "  check_valves: {hold: {from: v1, to: v2, flow_coefficient: 1 m^3/s/Pa^0.5, cracking_pressure: @-1 "
     "bar}}",
     BRAMAH_E_VALUE, "hydraulics.check_valves.hold.cracking_pressure", "must not be negative"},
    {19, "  relief_valves: {@top: {from: v1, to: v2, flow_coefficient: 1 m^3/s/Pa^0.5, set_pressure: 1 bar}}",
     BRAMAH_E_KEY, "hydraulics.relief_valves.top", "required key 'override' is missing"},
    {19,
     "  relief_valves: {top: {from: @pump, to: v2, flow_coefficient: 1 m^3/s/Pa^0.5, set_pressure: 1 bar, "
     "override: 1 bar}}",
     BRAMAH_E_REFERENCE, "hydraulics.relief_valves.top.from", "there is no volume or supply 'pump'"},
    {19, "  motors: {m: {joint: @bom, a_volume: v1, b_volume: v2, displacement: 1 L/rad}}",
     BRAMAH_E_REFERENCE, "hydraulics.motors.m.joint",
     "there is no joint coordinate 'bom'; did you mean 'boom'?"},
    {19, "  motors: {m: {joint: boom, a_volume: @tank, b_volume: v2, displacement: 1 L/rad}}",
     BRAMAH_E_REFERENCE, "hydraulics.motors.m.a_volume", "there is no volume 'tank'"},
    {19, "  motors: {@m: {joint: boom, a_volume: v1, b_volume: v2}}", BRAMAH_E_KEY, "hydraulics.motors.m",
     "required key 'displacement' is missing"},
    {19, "  motors: {m: {joint: boom, a_volume: v1, b_volume: v2, displacement: 1 L/rad, drain: @tnk}}",
     BRAMAH_E_REFERENCE, "hydraulics.motors.m.drain",
     "there is no volume or supply 'tnk'; did you mean 'tank'?"},
    {19,
     "  motors: {@m: {joint: boom, a_volume: v1, b_volume: v2, displacement: 1 L/rad, drain_leakage: 1 "
     "L/min/bar}}",
     BRAMAH_E_KEY, "hydraulics.motors.m", "required key 'drain' is missing"},
    {19, "  motors: {m: {joint: boom, a_volume: v1, b_volume: v2, displacement: 1 L/rad, gear_ratio: @0}}",
     BRAMAH_E_VALUE, "hydraulics.motors.m.gear_ratio", "gear_ratio must be positive"},
    {19,
     "  motors: {m: {joint: boom, a_volume: v1, b_volume: v2, displacement: 1 L/rad, friction: {model: "
     "viscous, "
     "viscous: @5 N*s/m}}}",
     BRAMAH_E_UNIT, "hydraulics.motors.m.friction.viscous", ""},
    {19, "  pumps: {gear: {from: tank, into: @tank, flow: 1 L/min}}", BRAMAH_E_REFERENCE,
     "hydraulics.pumps.gear.into", "there is no volume 'tank'"},
    {19, "  pumps: {@gear: {from: tank, into: v1}}", BRAMAH_E_KEY, "hydraulics.pumps.gear",
     "'flow', or 'displacement' and 'speed', is needed"},
    {19, "  pumps: {@gear: {from: tank, into: v1, displacement: 20 cm^3/rev}}", BRAMAH_E_KEY,
     "hydraulics.pumps.gear", "required key 'speed' is missing"},
    {19, "  pumps: {gear: {from: tank, into: v1, displacement: @20 cm^3, speed: 1 rpm}}", BRAMAH_E_UNIT,
     "hydraulics.pumps.gear.displacement", ""},
    {19, "  pumps: {gear: {from: tank, into: v1, flow: 1 L/min, @speed: 1 rpm}}", BRAMAH_E_KEY,
     "hydraulics.pumps.gear.speed", "exclude each other"},
    {19, "  pumps: {@gear: {from: tank, into: v1, flow: 1 L/min, set_pressure: 9 bar}}", BRAMAH_E_KEY,
     "hydraulics.pumps.gear", "required key 'band' is missing"},
    {19, "  pumps: {gear: {from: tank, into: v1, flow: 1 L/min, set_pressure: 9 bar, band: @10 bar}}",
     BRAMAH_E_VALUE, "hydraulics.pumps.gear.band", "a compensator needs 0 < band <= set pressure"},
    {12, VALVE "compensator: @behind}", BRAMAH_E_VALUE, "hydraulics.valves.main.compensator", "before"},
    {12,
     "    @main: {pump: v1, tank: tank, a: v2, b: v2, flow_coefficient: 1 m^3/s/Pa^0.5/V, time_constant: 0 "
     "s, compensator: "
     "before}",
     BRAMAH_E_KEY, "hydraulics.valves.main", "required key 'compensator_pressure' is missing"},
    {12, VALVE "compensator: after, compensator_pressure: @12 bar}", BRAMAH_E_VALUE,
     "hydraulics.valves.main.compensator_pressure", "only a compensator before the spool"},
    {19, "  load_sensing_pumps: {@p: {from: tank, into: v1, displacement: 20 cm^3/rev, speed: 1 rpm}}",
     BRAMAH_E_KEY, "hydraulics.load_sensing_pumps.p", "required key 'margin' is missing"},
    {19,
     "  load_sensing_pumps: {p: {from: tank, into: v1, displacement: 20 cm^3/rev, speed: 1 rpm, margin: 1 "
     "bar, initial_flow: @1 "
     "L/min}}",
     BRAMAH_E_VALUE, "hydraulics.load_sensing_pumps.p.initial_flow",
     "between 0 and displacement times speed"},
    {12, VALVE "@dead_band: 1 V, characteristic: [[0 V, 0 V], [1 V, 1 V]]}", BRAMAH_E_KEY,
     "hydraulics.valves.main.dead_band", "'dead_band' and 'characteristic' exclude each other"},
    {12, VALVE "dead_band: @10 V}", BRAMAH_E_VALUE, "hydraulics.valves.main.dead_band",
     "the dead band must lie between 0 and the limit"},
    {12, VALVE "characteristic: @[[0 V, 0 V]]}", BRAMAH_E_SYNTAX, "hydraulics.valves.main.characteristic",
     "at least two pairs"},
    {12, VALVE "characteristic: [[0 V, 0 V], @[1 V]]}", BRAMAH_E_SYNTAX,
     "hydraulics.valves.main.characteristic.1", "a pair [spool, opening] is expected"},
    {12, VALVE "characteristic: [[0 V, 0 V], [@0 V, 1 V]]}", BRAMAH_E_VALUE,
     "hydraulics.valves.main.characteristic.1.0", "spools must ascend"},
    {12, VALVE "characteristic: [[0 V, @0 bar], [1 V, 1 V]]}", BRAMAH_E_UNIT,
     "hydraulics.valves.main.characteristic.0.1", ""},
    {12, VALVE "port_characteristics: {@pump_c: []}}", BRAMAH_E_KEY,
     "hydraulics.valves.main.port_characteristics.pump_c", "unknown key 'pump_c'; did you mean 'pump_a'"},
    {12, VALVE "port_characteristics: {a_tank: [[0 V, @-1 V], [1 V, 1 V]]}}", BRAMAH_E_VALUE,
     "hydraulics.valves.main.port_characteristics.a_tank.0.1", "must not be negative"},
    {19, "  accumulators: {a: {volume: @tank, gas_volume: 1 L, precharge: 5 bar}}", BRAMAH_E_REFERENCE,
     "hydraulics.accumulators.a.volume", "there is no volume 'tank'"},
    {19, "  accumulators: {a: {volume: v1, gas_volume: 1 L, precharge: 5 bar, exponent: @0.5}}",
     BRAMAH_E_VALUE, "hydraulics.accumulators.a.exponent", "exponent must not be below 1"},
    {19, "  accumulators: {@a: {volume: v1, gas_volume: 1 L}}", BRAMAH_E_KEY, "hydraulics.accumulators.a",
     "required key 'precharge' is missing"},
    {6, "  oil: {bulk_modulus: 1 GPa, @vapour_pressure: 3 kPa}", BRAMAH_E_KEY,
     "hydraulics.oil.vapour_pressure", "a vapour pressure needs an 'air_fraction'"},
    {6, "  oil: {bulk_modulus: 1 GPa, air_fraction: @-1}", BRAMAH_E_VALUE, "hydraulics.oil.air_fraction",
     "must not be negative"},
    {6, "  oil: {bulk_modulus: 1 GPa, air_fraction: 0.01, air_exponent: @0.9}", BRAMAH_E_VALUE,
     "hydraulics.oil.air_exponent", "exponent must not be below 1"},
    {16, "      friction: {model: none}, @end_stop: {damping: 1 N*s/m}}", BRAMAH_E_KEY,
     "hydraulics.cylinders.lift.end_stop", "required key 'stiffness' is missing"},
    {16, STOP "{stiffness: @1 N, damping: 1 N*s/m}}", BRAMAH_E_UNIT,
     "hydraulics.cylinders.lift.end_stop.stiffness", ""},
    {16,
     "      friction: {model: none}, @end_stop: {stiffness: 1 N/m, damping: 1 N*s/m, cushion_length: 1 mm}}",
     BRAMAH_E_KEY, "hydraulics.cylinders.lift.end_stop", "required key 'cushion_damping' is missing"},
    {19, ROTARY "a_angle: 1 rad, displacement: @1 cm^3}}", BRAMAH_E_UNIT,
     "hydraulics.rotary_actuators.swing.displacement", ""},
    {19, ROTARY "a_angle: 1 rad, displacement: @0 L/rad}}", BRAMAH_E_VALUE,
     "hydraulics.rotary_actuators.swing.displacement", "must be positive"},
    {19, ROTARY "a_angle: @10 mm, displacement: 1 L/rad}}", BRAMAH_E_UNIT,
     "hydraulics.rotary_actuators.swing.a_angle", ""},
    {19, "  rotary_actuators: {@swing: {joint: boom, a_volume: v1, b_volume: v2}}", BRAMAH_E_KEY,
     "hydraulics.rotary_actuators.swing", "required key 'displacement' is missing"},
    {19, ROTARY "a_angle: 1 rad, displacement: 1 L/rad, @piston_area: 1 m^2}}", BRAMAH_E_KEY,
     "hydraulics.rotary_actuators.swing.piston_area", "unknown key 'piston_area'"},
    {19, ROTARY "a_angle: 1 rad, displacement: 1 L/rad, friction: {model: viscous, viscous: @1 N*s/m}}}",
     BRAMAH_E_UNIT, "hydraulics.rotary_actuators.swing.friction.viscous", ""},
    {19,
     ROTARY "a_angle: 1 rad, displacement: 1 L/rad, friction: {model: brown-mcphee, coulomb: 2 N*m, static: "
            "@1 N*m, stribeck_velocity: 1 rad/s}}}",
     BRAMAH_E_VALUE, "hydraulics.rotary_actuators.swing.friction.static",
     "static friction must not be below coulomb friction"},
    {19,
     ROTARY "a_angle: 1 rad, displacement: 1 L/rad, @end_stop: {stiffness: 1 N*m/rad, damping: 1 N*m*s/rad, "
            "cushion_damping: 1 N*m*s/rad}}}",
     BRAMAH_E_KEY, "hydraulics.rotary_actuators.swing.end_stop", "required key 'cushion_angle' is missing"},
    {19, "  rotary_actuators: {swing: {" TURN "joint: @bom, a_volume: v1, b_volume: v2}}", BRAMAH_E_REFERENCE,
     "hydraulics.rotary_actuators.swing.joint", "there is no joint coordinate 'bom'; did you mean 'boom'?"},
    {19, "  rotary_actuators: {swing: {" TURN "joint: boom, a_volume: v1, b_volume: @tank}}",
     BRAMAH_E_REFERENCE, "hydraulics.rotary_actuators.swing.b_volume", "there is no volume 'tank'"},
    {19, "  rotary_actuators: {@lift: {" TURN "joint: boom, a_volume: v1, b_volume: v2}}", BRAMAH_E_KEY,
     "hydraulics.rotary_actuators.lift", "a cylinder has the same name"},
    {19, "  rotary_actuators: {@boom: {" TURN "joint: boom, a_volume: v1, b_volume: v2}}", BRAMAH_E_KEY,
     "hydraulics.rotary_actuators.boom", "a joint coordinate has the same name"},
    {19, METERED AREAS VALVES "pump_line: @man}}\n" LINE, BRAMAH_E_REFERENCE,
     "hydraulics.metered_cylinders.tilt.pump_line", "there is no pump line 'man'; did you mean 'main'?"},
    {19, METERED VALVES "bore: 80 mm, rod: @90 mm, pump_line: main}}\n" LINE, BRAMAH_E_VALUE,
     "hydraulics.metered_cylinders.tilt.rod", "rod must be thinner than the bore"},
    {19,
     METERED AREAS "pump_line: main, @area: 1 cm^2, flow_coefficients: {pump_a: 1 L/min/bar^0.5, b_tank: 1 "
                   "L/min/bar^0.5, a_tank: 1 L/min/bar^0.5, pump_b: 1 L/min/bar^0.5}}}\n" LINE,
     BRAMAH_E_KEY, "hydraulics.metered_cylinders.tilt.area", "exclude each other"},
    {19,
     METERED VALVES
     "piston_area: 10 cm^2, rod_area: 11 cm^2, pump_line: main, @regeneration: {flow_coefficient: "
     "1 L/min/bar^0.5, opening: 1}}}\n" LINE,
     BRAMAH_E_VALUE, "hydraulics.metered_cylinders.tilt.regeneration", "piston area that is not below"},
    {19,
     "  metered_cylinders: {@tilt: {bodies: [ground, boom], points: [[1, 0, 0 m], [0, 1, 0 m]], "
     "piston_relief: 25 MPa, rod_relief: 20 MPa, stiffness: 30 kN/mm, damping: 500 kN*s/m, " AREAS VALVES
     "pump_line: main, reference_stroke: 1 m}}\n" LINE,
     BRAMAH_E_KEY, "hydraulics.metered_cylinders.tilt", "required key 'piston_chamber_length' is missing"},
    {19, METERED AREAS VALVES "pump_line: main, load_pressure: @balance}}\n" LINE, BRAMAH_E_VALUE,
     "hydraulics.metered_cylinders.tilt.load_pressure", "or the word 'equilibrium'"},
    {19, "  pump_lines: {main: {tank: @v1, flow: 1 L/min, set_pressure: 1 MPa}}", BRAMAH_E_REFERENCE,
     "hydraulics.pump_lines.main.tank", "there is no supply 'v1'"},
    {19,
     "  pump_lines: {main: {tank: tank, flow: 1 L/min, set_pressure: 1 MPa, unloading: {flow_coefficient: 1 "
     "L/min/bar^0.5, opening: @1.1}}}",
     BRAMAH_E_VALUE, "hydraulics.pump_lines.main.unloading.opening", "an opening must lie between 0 and 1"},
    {19,
     "  pump_lines: {main: {tank: tank, flow: 1 L/min, set_pressure: 1 MPa, unloading: {opening: 1, @input: "
     "b, "
     "flow_coefficient: 1 L/min/bar^0.5}}}",
     BRAMAH_E_KEY, "hydraulics.pump_lines.main.unloading.input", "'opening' and 'input' exclude each other"},
    {19,
     "  metered_cylinders: {@lift: {bodies: [ground, boom], points: [[1, 0, 0 m], [0, 1, 0 m]], "
     "piston_relief: 25 MPa, rod_relief: 20 MPa, stiffness: 30 kN/mm, damping: 500 kN*s/m, " AREAS VALVES
     "pump_line: main}}\n" LINE,
     BRAMAH_E_KEY, "hydraulics.metered_cylinders.lift", "a cylinder has the same name"},
    {19,
     "  rotary_actuators: {swing: {" TURN "joint: boom, a_volume: v1, b_volume: v2}, @swing: {" TURN
     "joint: boom, a_volume: v1, b_volume: v2}}",
     BRAMAH_E_KEY, "hydraulics.rotary_actuators.swing", ""},
};

/* On coordinates of a compound joint: one turns, one slides, and the joint alone is none. */
TEST(rotary_actuators_of_compound_joints)
{
  static const char *const lines[] = {
      "machine: post",
      "gravity: [0, 0, 0]",
      "bodies: {post: {mass: 16 kg, inertia: [0, 5, 5 kg*m^2]}}",
      "joints: {post: {type: cylindrical, parent: ground, child: post, axis: [0, 0, 1]}}",
      "hydraulics:",
      "  oil: {bulk_modulus: 1500 MPa}",
      "  volumes: {v1: {pressure: 2 bar}, v2: {pressure: 2 bar}}",
      "  leakages: {seal: {cylinder: swing, conductance: 1e-12 m^3/s/Pa}}",
      "  rotary_actuators: {swing: {" TURN "a_volume: v1, b_volume: v2,",
      "    joint: post_turn}}"};
  static const struct {
    const char *with;
    bramah_status status;
    const char *message;
  } cases[] = {{"    joint: @post_turn}}", BRAMAH_OK, ""},
               {"    joint: @post_slide}}", BRAMAH_E_VALUE, "this coordinate slides"},
               {"    joint: @post}}", BRAMAH_E_REFERENCE, "there is no joint coordinate 'post'"}};
  for (int i = 0; i < COUNT(cases); i++) {
    bramah_diag diag;
    bramah_machine *machine = NULL;
    const bramah_model *model = NULL;
    const int column = write_lines(lines, COUNT(lines), 10, cases[i].with);
    bramah_status status = bramah_machine_load(path, 0, NULL, &diag, &machine);
    ck_assert_msg(status == cases[i].status, "%d:%d: %s: %s", diag.line, diag.column, diag.thing,
                  diag.message);
    if (status == BRAMAH_OK) {
      ck_assert_int_eq(bramah_model_new(machine, &diag, &model), BRAMAH_OK);
      bramah_model_free(model);
      bramah_machine_free(machine);
      continue;
    }
    ck_assert_str_eq(diag.thing, "hydraulics.rotary_actuators.swing.joint");
    ck_assert_msg(strstr(diag.message, cases[i].message) != NULL, "%s", diag.message);
    ck_assert_int_eq(diag.line, 10);
    ck_assert_int_eq(diag.column, column);
  }
}

EACH_TEST(error_is_exact, 0, COUNT(bad_lines))
{
  bramah_diag diag;
  bramah_machine *machine = NULL;
  int column;
  const bramah_status status = try_load(bad_lines[_i].line, bad_lines[_i].with, &diag, &machine, &column);
  ck_assert_msg(status == bad_lines[_i].status, "'%s': %s (%s)", bad_lines[_i].with,
                bramah_status_name(status), diag.message);
  ck_assert_ptr_null(machine);
  ck_assert_str_eq(diag.thing, bad_lines[_i].thing);
  ck_assert_msg(strstr(diag.message, bad_lines[_i].message) != NULL, "'%s' lacks '%s'", diag.message,
                bad_lines[_i].message);
  ck_assert_int_eq(diag.line, bad_lines[_i].line);
  ck_assert_int_eq(diag.column, column);
}

int main(void) { return run_tests_with("machine_elements", make_path, remove_path); }
