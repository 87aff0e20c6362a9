/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _XOPEN_SOURCE 700 /* temporary files */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/io/session.h"
#include "test/support/run.h"
#include "test/support/text_file.h"

#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))
#define PI 3.14159265358979323846

enum { N_LINES = 36, LONGEST_TEXT = 8192 };

/* A correct machine; each error case replaces one line of it. */
static const char *const small_machine[N_LINES] = {
    /*  1 */ "machine: small",
    /*  2 */ "gravity: [0, -9.81, 0 m/s^2]",
    /*  3 */ "bodies:",
    /*  4 */ "  crank: {mass: 16 kg, centre_of_mass: [1, 0, 0 m], inertia: [0, 5, 5 kg*m^2]}",
    /*  5 */ "  slide: {mass: 2 kg}",
    /*  6 */ "joints:",
    /*  7 */
    "  crank: {type: revolute, parent: ground, child: crank, axis: [0, 0, 1], initial: 60 deg, rate: 30 rpm}",
    /*  8 */
    "  slide: {type: prismatic, parent: crank, child: slide, axis: [1, 0, 0], guess: 5 mm, rate: 2 mm/s}",
    /*  9 */ "loops:",
    /* 10 */
    "  pivot: {type: revolute, bodies: [slide, ground], points: [[5, 0, 0 m], [10 mm, 0, 1 m]], axes: [[0, "
    "0, 1], [0, 1, 0]]}",
    /* 11 */ "hydraulics:",
    /* 12 */ "  oil: {bulk_modulus: 1500 MPa, density: 850 kg/m^3}",
    /* 13 */ "  supplies: {pump: {pressure: 7.6 MPa}, tank: {pressure: 0.1 MPa}}",
    /* 14 */ "  volumes:",
    /* 15 */ "    v1: {pressure: 30 bar, hoses: [{volume: 47.1 cm^3, bulk_modulus: 550 MPa}]}",
    /* 16 */ "    v2: {pressure: equilibrium}",
    /* 17 */ "  orifices:",
    /* 18 */ "    orifice: {from: v1, to: v2, area: 28.3 mm^2, discharge_coefficient: 0.8}",
    /* 19 */ "  valves:",
    /* 20 */
    "    main: {pump: pump, tank: tank, a: v1, b: v2, flow_coefficient: 2e-8 m^3/s/Pa^0.5/V, time_constant: "
    "4.5 ms}",
    /* 21 */ "  cylinders:",
    /* 22 */ "    lift:",
    /* 23 */ "      bodies: [ground, crank]",
    /* 24 */ "      points: [[-1, 0, 0 m], [1, 0, 0 m]]",
    /* 25 */ "      piston_volume: v1",
    /* 26 */ "      rod_volume: v2",
    /* 27 */ "      bore: 80 mm",
    /* 28 */ "      rod: 35 mm",
    /* 29 */ "      bulk_modulus: 31.5 GPa",
    /* 30 */ "      reference_stroke: 1.7 m",
    /* 31 */ "      piston_chamber_length: 300 mm",
    /* 32 */ "      rod_chamber_length: 600 mm",
    /* 33 */
    "      friction: {model: brown-mcphee, coulomb: 210 N, static: 830 N, stribeck_velocity: 12.5 mm/s}",
    /* 34 */ "inputs:",
    /* 35 */ "  main: [[0 s, 0 V], [1 s, 10 V]]",
    /* 36 */ "integrator: {step: 1 ms}",
};

static int write_machine(int line, const char *with)
{
  return write_lines(small_machine, N_LINES, line, with);
}

static bramah_machine *load(size_t n_changes, const bramah_change *changes)
{
  bramah_diag diag;
  bramah_machine *machine = NULL;
  bramah_status status = bramah_machine_load(path, n_changes, changes, &diag, &machine);
  ck_assert_msg(status == BRAMAH_OK, "%d:%d: %s: %s", diag.line, diag.column, diag.thing, diag.message);
  return machine;
}

/* The small machine with a line replaced (0: none). */
static bramah_machine *load_with(int line, const char *with)
{
  write_machine(line, with);
  return load(0, NULL);
}

/* ---- what is read ---- */

TEST(small_machine_is_read)
{
  bramah_machine *m = load_with(0, NULL);
  ck_assert_str_eq(m->name, "small");
  ck_assert_str_eq(m->file, path);
  ck_assert(m->gravity[0] == 0.0 && m->gravity[1] == -9.81 && m->gravity[2] == 0.0);
  ck_assert_uint_eq(m->n_bodies, 2);
  ck_assert_str_eq(m->bodies[1].name, "slide");
  ck_assert_int_eq(m->bodies[1].line, 5);
  ck_assert(m->bodies[1].mass == 2.0 && m->bodies[1].inertia[0] == 0.0 &&
            m->bodies[1].centre_of_mass[0] == 0.0);
  const bramah_joint *crank = &m->joints[0], *slide = &m->joints[1];
  ck_assert(crank->type == BRAMAH_JOINT_REVOLUTE && crank->initial == BRAMAH_INITIAL_GIVEN);
  ck_assert(crank->initial_position == 60.0 * (PI / 180.0) && crank->initial_rate == PI);
  for (int i = 0; i < 9; i++) ck_assert(crank->rotation[i] == 0.0);
  ck_assert(slide->type == BRAMAH_JOINT_PRISMATIC && slide->initial == BRAMAH_INITIAL_GUESS);
  ck_assert(slide->initial_position == 0.005 && slide->initial_rate == 0.002 && slide->axis[0] == 1.0);
  ck_assert(m->loops[0].point[1][0] == 0.01 && m->loops[0].point[1][2] == 1.0 &&
            m->loops[0].axis[1][1] == 1.0);
  ck_assert_int_eq(m->volumes[1].initial, BRAMAH_PRESSURE_EQUILIBRIUM);
  ck_assert_uint_eq(m->volumes[1].n_hoses, 0);
  bramah_machine_free(m);
}

TEST(formulation_is_read)
{
  bramah_machine *m =
      load_with(36, "integrator: {formulation: penalty, penalty_factor: 1e8, penalty_frequency: 50 rad/s, "
                    "penalty_damping: 0.7}");
  ck_assert_int_eq(m->integrator.formulation, BRAMAH_FORMULATION_PENALTY);
  ck_assert(m->integrator.penalty_factor == 1e8 && m->integrator.penalty_frequency == 50.0 &&
            m->integrator.penalty_damping == 0.7);
  bramah_machine_free(m);
}

TEST(defaults_are_filled)
{
  bramah_machine *m = load_with(36, "");
  ck_assert(m->transition_pressure == 2e5);
  ck_assert_int_eq(m->integrator.step_ns, 1000000);
  ck_assert(m->integrator.position_tolerance == 1e-7 && m->integrator.pressure_tolerance == 1e-2);
  ck_assert_int_eq(m->integrator.max_iterations, 25);
  ck_assert(m->valves[0].limit == 10.0 && m->valves[0].initial_spool == 0.0);
  ck_assert_str_eq(m->valves[0].input, "main");
  ck_assert(m->cylinders[0].friction.viscous == 0.0);
  ck_assert(m->loops[0].line == 10 && m->orifices[0].line == 18 && m->cylinders[0].line == 22);
  bramah_machine_free(m);
}

TEST(rotation_is_roll_pitch_yaw_about_fixed_axes)
{
  static const double expected[9] = {0, 0, 1, 1, 0, 0, 0, 1, 0}; /* x -> y, y -> z, z -> x */
  bramah_machine *m = load_with(
      7,
      "  crank: {type: revolute, parent: ground, child: crank, rotation: [90, 0, 90 deg], axis: [0, 0, 1]}");
  for (int i = 0; i < 9; i++) ck_assert_double_eq_tol(m->joints[0].rotation[i], expected[i], 1e-15);
  ck_assert_int_eq(m->joints[0].initial, BRAMAH_INITIAL_GUESS);
  bramah_machine_free(m);
}

TEST(compound_joints_are_read)
{
  bramah_machine *m = load_with(
      8, "  slide: {type: planar, parent: crank, child: slide, axis: [0, 0, 1], second_axis: [1, 0, 0], "
         "initial: [1 mm, 2 mm, 90 deg], rate: [0 m/s, 1 m/s, 2 rad/s]}");
  const bramah_joint *slide = &m->joints[1];
  ck_assert(slide->type == BRAMAH_JOINT_PLANAR && slide->initial == BRAMAH_INITIAL_GIVEN);
  ck_assert(slide->axis[2] == 1.0 && slide->second_axis[0] == 1.0);
  ck_assert(slide->initial_positions[1] == 0.002 && slide->initial_positions[2] == 90.0 * (PI / 180.0));
  ck_assert(slide->initial_rates[1] == 1.0 && slide->initial_rates[2] == 2.0);
  bramah_machine_free(m);
  m = load_with(8,
                "  slide: {type: floating, parent: crank, child: slide, "
                "initial: [1 mm, 2 mm, 3 mm, 90 deg, 0, 1 rad], rate: [0, 0, 3 m/s, 0, 5 rad/s, 6 rad/s]}");
  slide = &m->joints[1];
  ck_assert(slide->type == BRAMAH_JOINT_FLOATING && slide->initial == BRAMAH_INITIAL_GIVEN);
  ck_assert(slide->initial_positions[2] == 0.003 && slide->initial_positions[3] == 90.0 * (PI / 180.0));
  ck_assert(slide->initial_positions[5] == 1.0 && slide->initial_rates[2] == 3.0 &&
            slide->initial_rates[5] == 6.0);
  bramah_machine_free(m);
  m = load_with(8, "  slide: {type: fixed, parent: crank, child: slide, position: [1, 0, 0 m]}");
  ck_assert(m->joints[1].type == BRAMAH_JOINT_FIXED && m->joints[1].position[0] == 1.0);
  bramah_machine_free(m);
}

/* A joint may have more coordinates than the three of most machines, each with a name. */
TEST(every_coordinate_has_a_name)
{
  static const char text[] = "machine: free\ngravity: [0, 0, 0]\nbodies: {a: {mass: 1 kg}}\n"
                             "joints: {fly: {type: floating, parent: ground, child: a}}\n"
                             "joint_springs:\n"
                             "  x: {joint: fly_x, damping: 1 N*s/m}\n"
                             "  z: {joint: fly_z, damping: 1 N*s/m}\n"
                             "  c: {joint: fly_%s, damping: 1 N*m*s/rad}\n";
  char with[sizeof text + 64];
  const char *last = bramah_joint_suffix(BRAMAH_JOINT_FLOATING, 5);
  write_bytes(with, (size_t)snprintf(with, sizeof with, text, last + 1));
  bramah_machine *m = load(0, NULL);
  ck_assert_str_eq(m->joint_springs[0].joint, "fly_x");
  ck_assert_str_eq(m->joint_springs[1].joint, "fly_z");
  bramah_machine_free(m);
}

TEST(springs_and_forces_are_read)
{
  bramah_machine *m = load_with(
      34, "springs: {rope: {bodies: [ground, crank], points: [[0,0,0], [1,0,0 m]], free_length: 1 cm, "
          "stiffness: 2 kN/m, damping: 3 N*s/m}}\n"
          "joint_springs: {a: {joint: slide, stiffness: 3 N/m, free_position: 1 mm}, b: {joint: crank, "
          "damping: 2 N*m*s/rad}}\n"
          "forces: {wind: {body: slide, point: [0, 1, 0 m], force: [1, 2, 3 kN], axes: body}}\n"
          "inputs:");
  ck_assert(m->n_springs == 1 && m->n_joint_springs == 2 && m->n_forces == 1);
  ck_assert(m->springs[0].free_length == 0.01 && m->springs[0].stiffness == 2000.0);
  ck_assert(m->springs[0].damping == 3.0 && m->springs[0].point[1][0] == 1.0);
  ck_assert(m->joint_springs[0].free_position == 0.001 && m->joint_springs[1].damping == 2.0);
  ck_assert(m->forces[0].force[2] == 3000.0 && m->forces[0].axes == BRAMAH_AXES_BODY);
  bramah_machine_free(m);
}

/* Points by their names; what outputs are made of. */
TEST(points_and_outputs_are_read)
{
  bramah_machine *m =
      load_with(5, "  slide: {mass: 2 kg, points: {tip: [1 m, 2 m, 30 cm], heel: [0, 0, 1 m]}}\n"
                   "forces: {dig: {body: slide, point: slide.tip, force: [0, 0, 0 N]}}\n"
                   "springs: {rope: {bodies: [ground, slide], points: [[0, 5, 0 m], heel], free_length: 1 "
                   "cm, stiffness: 2 N/m}}\n"
                   "outputs:\n"
                   "  height: {height_of: slide.tip}\n"
                   "  far: {distance: [ground, slide]}\n"
                   "  fuel: {fuel_rate: [pump, orifice], idle: 3.6 kg/h, consumption: 360 g/kW/h}\n");
  ck_assert(m->bodies[1].n_points == 2 && m->bodies[1].points[0].position[2] == 0.3);
  ck_assert(m->forces[0].point[1] == 2.0 && m->springs[0].point[1][2] == 1.0 &&
            m->springs[0].point[0][1] == 5.0);
  ck_assert_uint_eq(m->n_outputs, 3);
  ck_assert(m->outputs[0].kind == BRAMAH_OUTPUT_OF_HEIGHT && m->outputs[0].n_of == 1);
  ck_assert_str_eq(m->outputs[0].of[0], "slide.tip");
  ck_assert(m->outputs[1].kind == BRAMAH_OUTPUT_OF_DISTANCE && m->outputs[1].n_of == 2);
  ck_assert_str_eq(m->outputs[1].of[1], "slide");
  ck_assert(m->outputs[2].kind == BRAMAH_OUTPUT_OF_FUEL_RATE && m->outputs[2].line == 11);
  ck_assert_double_eq_tol(m->outputs[2].idle, 1e-3, 1e-15);
  ck_assert_double_eq_tol(m->outputs[2].consumption, 1e-7, 1e-20);
  bramah_machine_free(m);
}

TEST(motions_are_read)
{
  bramah_machine *m = load_with(
      34, "motions:\n"
          "  spin: {joint: crank, type: rate, position: 60 deg, rate: 30 rpm}\n"
          "  shake: {joint: slide, type: harmonic, mean: 1 cm, amplitude: 5 mm, frequency: 2 Hz, phase: "
          "90 deg}\n"
          "  raise: {joint: crank, type: table, points: [[0 s, 0 deg], [500 ms, 90 deg]]}\n"
          "inputs:");
  ck_assert_uint_eq(m->n_motions, 3);
  const bramah_motion *spin = &m->motions[0], *shake = &m->motions[1], *raised = &m->motions[2];
  ck_assert_str_eq(spin->joint, "crank");
  ck_assert(spin->type == BRAMAH_MOTION_RATE && spin->position == 60.0 * (PI / 180.0) && spin->rate == PI);
  ck_assert(shake->type == BRAMAH_MOTION_HARMONIC && shake->mean == 0.01 && shake->amplitude == 0.005);
  ck_assert(shake->frequency == 2.0 && shake->phase == 90.0 * (PI / 180.0) && shake->line == 36);
  ck_assert(raised->type == BRAMAH_MOTION_TABLE && raised->n_points == 2 && raised->times[1] == 0.5);
  ck_assert(raised->positions[0] == 0.0 && raised->positions[1] == 90.0 * (PI / 180.0));
  bramah_machine_free(m);
}

TEST(loops_of_every_type_are_read)
{
  bramah_machine *m =
      load_with(10, "  a: {type: prismatic, bodies: [slide, ground], points: [[0,0,0], [1,0,0 m]], axes: "
                    "[[1,0,0], [0,1,0]], normals: [[0,0,1], [0,0,2]]}\n"
                    "  b: {type: distance, bodies: [slide, ground], points: [[0,0,0], [1,0,0 m]], distance: "
                    "80 cm}\n"
                    "  c: {type: spherical, bodies: [slide, ground], points: [[0,0,0], [1,0,0 m]]}\n"
                    "  d: {type: universal, bodies: [slide, ground], points: [[0,0,0], [1,0,0 m]], axes: "
                    "[[1,0,0], [0,1,0]]}");
  ck_assert_uint_eq(m->n_loops, 4);
  ck_assert(m->loops[0].type == BRAMAH_LOOP_PRISMATIC && m->loops[0].normal[1][2] == 2.0);
  ck_assert(m->loops[1].type == BRAMAH_LOOP_DISTANCE && m->loops[1].distance == 0.8);
  ck_assert(m->loops[2].type == BRAMAH_LOOP_SPHERICAL && m->loops[3].type == BRAMAH_LOOP_UNIVERSAL);
  bramah_machine_free(m);
}

TEST(areas_may_be_given_directly)
{
  bramah_change changes[] = {
      {"hydraulics.orifices.orifice", "{from: v1, to: v2, flow_coefficient: 1.1e-6 m^3/s/Pa^0.5}", 0, 0}};
  write_machine(28, "      rod_area: 40 cm^2");
  bramah_machine *m = load(1, changes);
  ck_assert(m->cylinders[0].rod_area == 40e-4);
  ck_assert_double_eq_tol(m->cylinders[0].piston_area, PI * 0.04 * 0.04, 1e-17);
  ck_assert(m->orifices[0].flow_coefficient == 1.1e-6);
  bramah_machine_free(m);
}

TEST(piston_area_and_rod_give_the_annulus)
{
  bramah_machine *m = load_with(27, "      piston_area: 50 cm^2");
  ck_assert_double_eq_tol(m->cylinders[0].rod_area, 50e-4 - PI / 4.0 * 0.035 * 0.035, 1e-17);
  bramah_machine_free(m);
}

TEST(input_of_a_valve_gets_an_entry)
{
  bramah_machine *m = load_with(35, "  # none");
  ck_assert_uint_eq(m->n_inputs, 1);
  ck_assert_str_eq(m->inputs[0].name, "main");
  ck_assert_uint_eq(m->inputs[0].n_points, 0);
  bramah_machine_free(m);
}

TEST(anchors_are_followed)
{
  static const char text[] = "machine: two\ngravity: [0, 0, 0]\nbodies:\n  a: &bar {mass: 2 kg}\n  b: *bar\n"
                             "joints:\n  a: {type: revolute, parent: ground, child: a, axis: &z [0, 0, 1]}\n"
                             "  b: {type: revolute, parent: a, child: b, axis: *z}\n";
  bramah_change change = {"bodies.b.mass", "3 kg", NULL, 0};
  write_bytes(text, sizeof text - 1);
  bramah_machine *m = load(1, &change);
  ck_assert(m->bodies[0].mass == 2.0 && m->bodies[1].mass == 3.0); /* a change touches one place */
  ck_assert_int_eq(m->bodies[1].line, 5);
  ck_assert(m->joints[1].axis[2] == 1.0);
  ck_assert(m->n_volumes == 0 && m->n_inputs == 0);
  bramah_machine_free(m);
}

/* ---- the data set ---- */

static void data_path(char *out, size_t n)
{
  const char *root = getenv("BRAMAH_SOURCE_ROOT");
  snprintf(out, n, "%s/datasets/four-bar/four-bar.yaml", root ? root : ".");
}

static bramah_machine *load_four_bar(void)
{
  char file[1024];
  bramah_machine *machine = NULL;
  bramah_diag diag;
  data_path(file, sizeof file);
  bramah_status status = bramah_machine_load(file, 0, NULL, &diag, &machine);
  ck_assert_msg(status == BRAMAH_OK, "%s:%d:%d: %s", diag.file, diag.line, diag.column, diag.message);
  return machine;
}

/* Numbers: case four-bar-friction-study, publication II. */
TEST(four_bar_bodies_are_those_of_the_case)
{
  static const struct {
    const char *name;
    double mass, length;
  } bars[] = {{"crank", 16, 2}, {"coupler", 64, 8}, {"rocker", 40, 5}};
  bramah_machine *m = load_four_bar();
  ck_assert(m->n_bodies == 3 && m->n_joints == 3 && m->n_loops == 1);
  ck_assert(m->gravity[0] == 0 && m->gravity[1] == -9.81 && m->gravity[2] == 0);
  for (int i = 0; i < 3; i++) {
    const bramah_body *body = &m->bodies[i];
    double inertia = bars[i].mass * bars[i].length * bars[i].length / 12.0;
    ck_assert_str_eq(body->name, bars[i].name);
    ck_assert_str_eq(m->joints[i].child, bars[i].name);
    ck_assert(body->mass == bars[i].mass && body->centre_of_mass[0] == bars[i].length / 2);
    ck_assert(body->centre_of_mass[1] == 0 && body->centre_of_mass[2] == 0);
    ck_assert(body->inertia[0] == 0 && body->inertia[1] == inertia && body->inertia[2] == inertia);
    ck_assert(m->joints[i].position[0] == (i ? bars[i - 1].length : 0) && m->joints[i].axis[2] == 1);
  }
  ck_assert(m->loops[0].point[0][0] == 5 && m->loops[0].point[1][0] == 10);
  ck_assert(m->joints[0].initial_position == 1.0471975511965976 &&
            m->joints[0].initial == BRAMAH_INITIAL_GIVEN);
  ck_assert_double_eq_tol(m->joints[1].initial_position, -0.6615563037892267, 1e-4);
  ck_assert_double_eq_tol(m->joints[2].initial_position, -1.633337088591388, 1e-4);
  ck_assert(m->joints[1].initial == BRAMAH_INITIAL_GUESS && m->joints[2].initial == BRAMAH_INITIAL_GUESS);
  bramah_machine_free(m);
}

TEST(four_bar_circuit_is_that_of_the_case)
{
  static const double hoses[] = {4.71e-05, 3.14e-05, 7.85e-05};
  static const double pressures[] = {2965604.527353115, 2965604.527353115, 3500000.0};
  bramah_machine *m = load_four_bar();
  ck_assert(m->supplies[0].pressure == 7600000.0 && m->supplies[1].pressure == 100000.0);
  ck_assert(m->oil_bulk_modulus == 1500000000.0 && m->transition_pressure == 200000.0);
  ck_assert_uint_eq(m->n_volumes, 3);
  for (int i = 0; i < 3; i++) {
    const bramah_volume *volume = &m->volumes[i];
    ck_assert(volume->initial_pressure == pressures[i] && volume->initial == BRAMAH_PRESSURE_GIVEN);
    ck_assert(volume->n_hoses == 1 && volume->hoses[0].volume == hoses[i]);
    ck_assert(volume->hoses[0].bulk_modulus == 550000000.0);
  }
  ck_assert_double_eq_tol(m->orifices[0].flow_coefficient, 1.0982013101645156e-06, 1e-21);
  const bramah_valve *valve = &m->valves[0];
  ck_assert(valve->flow_coefficient == 2.138e-08 && valve->time_constant == 0.0045 && valve->limit == 10);
  ck_assert_str_eq(valve->a, "v1");
  ck_assert_str_eq(valve->b, "v3");
  bramah_machine_free(m);
}

TEST(four_bar_cylinder_is_that_of_the_case)
{
  bramah_machine *m = load_four_bar();
  const bramah_cylinder *lift = &m->cylinders[0];
  ck_assert_double_eq_tol(lift->piston_area, 0.005026548245743669, 1e-17);
  ck_assert_double_eq_tol(lift->rod_area, 0.004064435495581795, 1e-17);
  ck_assert(lift->bulk_modulus == 31500000000.0 && lift->reference_stroke == 1.7320508075688772);
  ck_assert(lift->piston_chamber_length == 0.3 && lift->rod_chamber_length == 0.6);
  ck_assert(lift->point[0][0] == -1 && lift->point[1][0] == 1);
  ck_assert_str_eq(lift->body[0], "ground");
  ck_assert_str_eq(lift->body[1], "crank");
  ck_assert_str_eq(lift->piston_volume, "v2");
  ck_assert_str_eq(lift->rod_volume, "v3");
  ck_assert(lift->friction.model == BRAMAH_FRICTION_BROWN_MCPHEE && lift->friction.coulomb == 210);
  ck_assert(lift->friction.static_force == 830 && lift->friction.stribeck_velocity == 0.0125);
  ck_assert(lift->friction.viscous == 330);
  bramah_machine_free(m);
}

TEST(four_bar_input_is_that_of_the_case)
{
  static const double times[] = {0, 1, 2.5, 5, 8}, values[] = {0, 10, 0, -10, 0};
  bramah_machine *m = load_four_bar();
  ck_assert(m->n_inputs == 1 && m->inputs[0].n_points == 5);
  for (int i = 0; i < 5; i++)
    ck_assert(m->inputs[0].times[i] == times[i] && m->inputs[0].values[i] == values[i]);
  ck_assert_str_eq(m->inputs[0].name, "valve");
  ck_assert_int_eq(m->integrator.step_ns, 1000000);
  bramah_machine_free(m);
}

/* ---- errors: one line replaced, '@' in front of the offending scalar ---- */

static const bad_line bad_lines[] = {
    /* keys */
    {4, "  crank: {@mas: 16 kg}", BRAMAH_E_KEY, "bodies.crank.mas",
     "unknown key 'mas'; did you mean 'mass'?"},
    {4, "  crank: {mass: 1 kg, @colour: red}", BRAMAH_E_KEY, "bodies.crank.colour",
     "unknown key 'colour'; allowed are mass, centre_of_mass, inertia, payload_point, points, shapes"},
    {4, "  @crank: {inertia: [0, 5, 5 kg*m^2]}", BRAMAH_E_KEY, "bodies.crank",
     "required key 'mass' is missing"},
    {4, "  crank: {mass: 16 kg, @mass: 17 kg}", BRAMAH_E_KEY, "bodies.crank.mass",
     "key 'mass' is given twice, first in line 4"},
    {5, "  @crank: {mass: 2 kg}", BRAMAH_E_KEY, "bodies.crank",
     "key 'crank' is given twice, first in line 4"},
    {12, "  oil: {bulk_modulus: 1 GPa, density: 850 kg/m^3}\n  @throttles: {}", BRAMAH_E_KEY,
     "hydraulics.throttles", "the key 'throttles' is called 'orifices' now"},
    {2, "@gravty: [0, 0, 0]", BRAMAH_E_KEY, "gravty", "unknown key 'gravty'; did you mean 'gravity'?"},
    {31, "      @? [a, b]\n      : 3", BRAMAH_E_SYNTAX, "hydraulics.cylinders.lift.?",
     "a key must be a single word"},
    {22, "    @lift:\n      friction: {model: none}", BRAMAH_E_KEY, "hydraulics.cylinders.lift.friction",
     "key 'friction' is given twice, first in line 23"},
    {12, "  @oil: {density: 850 kg/m^3}", BRAMAH_E_KEY, "hydraulics.oil",
     "required key 'bulk_modulus' is missing"},
    {15, "    v1: {pressure: 30 bar, hoses: [@{volume: 1 L}]}", BRAMAH_E_KEY, "hydraulics.volumes.v1.hoses.0",
     "required key 'bulk_modulus' is missing"},
    {7, "  crank: {type: revolute, parent: ground, child: crank, axis: [0, 0, 1], initial: 0, @guess: 0}",
     BRAMAH_E_KEY, "joints.crank.guess", "'initial' and 'guess' exclude each other"},
    {8, "  @slide: {type: planar, parent: crank, child: slide, axis: [1, 0, 0]}", BRAMAH_E_KEY,
     "joints.slide", "required key 'second_axis' is missing"},
    {8, "  slide: {type: spherical, parent: crank, child: slide, @axis: [1, 0, 0]}", BRAMAH_E_KEY,
     "joints.slide.axis", "'axis' does not belong to this type"},
    {8, "  slide: {type: floating, parent: crank, child: slide, @axis: [1, 0, 0]}", BRAMAH_E_KEY,
     "joints.slide.axis", "'axis' does not belong to this type"},
    {8, "  slide: {type: floating, parent: crank, child: slide, rate: @[0, 0, 1 rad/s]}", BRAMAH_E_SYNTAX,
     "joints.slide.rate", "a list with one value for each coordinate of the joint is expected: 6"},
    {8, "  slide: {type: fixed, parent: crank, child: slide, @rate: 1 m/s}", BRAMAH_E_KEY,
     "joints.slide.rate", "'rate' does not belong to this type"},
    {8, "  slide: {type: cylindrical, parent: crank, child: slide, axis: [1, 0, 0], initial: @[1 mm]}",
     BRAMAH_E_SYNTAX, "joints.slide.initial",
     "a list with one value for each coordinate of the joint is expected: 2"},
    {8, "  slide: {type: cylindrical, parent: crank, child: slide, axis: [1, 0, 0], rate: [1 mm/s, @1 mm/s]}",
     BRAMAH_E_UNIT, "joints.slide.rate.1",
     "1 mm/s is a speed, an angular rate is expected, for example '1 rad/s'"},
    {34,
     "springs: {rope: {bodies: [ground, @crnak], points: [[0,0,0], [1,0,0 m]], damping: 1 N*s/m}}\ninputs:",
     BRAMAH_E_REFERENCE, "springs.rope.bodies.1", "there is no body 'crnak'; did you mean 'crank'?"},
    {34,
     "springs: {@rope: {bodies: [ground, crank], points: [[0,0,0], [1,0,0 m]], stiffness: 1 N/m}}\ninputs:",
     BRAMAH_E_KEY, "springs.rope", "required key 'free_length' is missing"},
    {34, "joint_springs: {a: {joint: @crnk, damping: 1 N*m*s/rad}}\ninputs:", BRAMAH_E_REFERENCE,
     "joint_springs.a.joint", "there is no joint coordinate 'crnk'; did you mean 'crank'?"},
    {34, "joint_springs: {a: {joint: slide, damping: @1 N*m*s/rad}}\ninputs:", BRAMAH_E_UNIT,
     "joint_springs.a.damping",
     "1 N*m*s/rad is something else, a viscous friction coefficient is expected, for example '1 N*s/m'"},
    {34, "forces: {@wind: {body: crank, point: [0, 0, 0]}}\ninputs:", BRAMAH_E_KEY, "forces.wind",
     "'force' or 'torque' is needed"},
    {34, "forces: {wind: {body: crank, torque: [0, 0, 1 N*m], @point: [0, 0, 0]}}\ninputs:", BRAMAH_E_KEY,
     "forces.wind.point", "'point' does not belong to this type"},
    {34, "forces: {wind: {body: crank, point: @crank.tip, force: [1, 2, 3 N]}}\ninputs:", BRAMAH_E_REFERENCE,
     "forces.wind.point", "there is no point 'tip' of 'crank'"},
    {34, "forces: {wind: {body: crank, point: @slide.tip, force: [1, 2, 3 N]}}\ninputs:", BRAMAH_E_REFERENCE,
     "forces.wind.point", "a point of 'crank' is needed here, not 'slide.tip'"},
    {34,
     "springs: {rope: {bodies: [ground, crank], points: [@pole, [1, 0, 0 m]], damping: 3 N*s/m}}\ninputs:",
     BRAMAH_E_REFERENCE, "springs.rope.points.0", "points of the ground have no names: give coordinates"},
    {5,
     "  slide: {mass: 2 kg, points: {tip: [0, 1, 0 m]}}\nforces: {dig: {body: slide, point: @tpi, force: [0, "
     "0, 0 N]}}",
     BRAMAH_E_REFERENCE, "forces.dig.point", "there is no point 'tpi' of 'slide'; did you mean 'tip'?"},
    {34, "outputs: {@h: {}}\ninputs:", BRAMAH_E_KEY, "outputs.h",
     "this says not what it shows; possible are height_of, distance, position_of, pose_of, payload_of, "
     "force_at, "
     "hydraulic_power, energy, flow, fuel_rate"},
    {34, "outputs: {h: {height_of: crank, @pose_of: crank}}\ninputs:", BRAMAH_E_KEY, "outputs.h.pose_of",
     "an output is of one kind, and another is given"},
    {34, "outputs: {h: {@heigth_of: crank}}\ninputs:", BRAMAH_E_KEY, "outputs.h.heigth_of",
     "unknown key 'heigth_of'; did you mean 'height_of'?"},
    {34, "outputs: {@f: {fuel_rate: pump, idle: 1 kg/h}}\ninputs:", BRAMAH_E_KEY, "outputs.f",
     "required key 'consumption' is missing"},
    {34, "outputs: {f: {flow: pump, @idle: 1 kg/h}}\ninputs:", BRAMAH_E_KEY, "outputs.f.idle",
     "'idle' does not belong to this type"},
    {34, "motions: {m: {joint: @crnk, type: rate, position: 1 rad}}\ninputs:", BRAMAH_E_REFERENCE,
     "motions.m.joint", "there is no joint coordinate 'crnk'; did you mean 'crank'?"},
    {34, "motions: {m: {joint: crank, type: rate, position: @1 m}}\ninputs:", BRAMAH_E_UNIT,
     "motions.m.position", "1 m is a length, an angle is expected, for example '1 deg'"},
    {34, "motions: {m: {joint: slide, type: rate, position: 1 m, rate: @1 rad/s}}\ninputs:", BRAMAH_E_UNIT,
     "motions.m.rate", "1 rad/s is an angular rate, a speed is expected, for example '1 m/s'"},
    {34, "motions: {@m: {joint: crank, type: rate}}\ninputs:", BRAMAH_E_KEY, "motions.m",
     "required key 'position' is missing"},
    {34, "motions: {m: {joint: crank, type: @sine, position: 1 rad}}\ninputs:", BRAMAH_E_VALUE,
     "motions.m.type", "'sine' is not known here; possible are rate, harmonic, table"},
    {34, "motions: {@m: {joint: crank, type: harmonic, amplitude: 1 deg}}\ninputs:", BRAMAH_E_KEY,
     "motions.m", "required key 'frequency' is missing"},
    {34, "motions: {m: {joint: crank, type: harmonic, amplitude: 1 deg, frequency: @-1 Hz}}\ninputs:",
     BRAMAH_E_VALUE, "motions.m.frequency", "frequency must be positive"},
    {34, "motions: {m: {joint: crank, type: table, @rate: 1 rad/s, points: [[0, 0], [1 s, 1 rad]]}}\ninputs:",
     BRAMAH_E_KEY, "motions.m.rate", "'rate' does not belong to this type"},
    {34, "motions: {m: {joint: crank, type: table, points: @[[0, 0]]}}\ninputs:", BRAMAH_E_SYNTAX,
     "motions.m.points", "a list of at least two pairs [time, position] is expected"},
    {34, "motions: {m: {joint: crank, type: table, points: [[1 s, 0], [@1 s, 1 rad]]}}\ninputs:",
     BRAMAH_E_VALUE, "motions.m.points.1.0", "times must ascend"},
    {34, "motions: {m: {joint: crank, type: table, points: [[0, 0], [1 s, @1 m]]}}\ninputs:", BRAMAH_E_UNIT,
     "motions.m.points.1.1", "1 m is a length, an angle is expected, for example '1 deg'"},
    {34, "motions: {@lift: {joint: crank, type: rate, position: 1 rad}}\ninputs:", BRAMAH_E_KEY,
     "motions.lift", "a cylinder or rotary actuator has the same name; so would their outputs"},
    {10, "  @pivot: {type: universal, bodies: [slide, ground], points: [[0,0,0], [0,0,0]]}", BRAMAH_E_KEY,
     "loops.pivot", "required key 'axes' is missing"},
    {10, "  @pivot: {type: distance, bodies: [slide, ground], points: [[0,0,0], [0,0,0]]}", BRAMAH_E_KEY,
     "loops.pivot", "required key 'distance' is missing"},
    {10,
     "  pivot: {type: spherical, bodies: [slide, ground], points: [[0,0,0], [0,0,0]], @axes: [[0,0,1], "
     "[0,0,1]]}",
     BRAMAH_E_KEY, "loops.pivot.axes", "'axes' does not belong to this type"},
    {10, "  pivot: {type: distance, bodies: [slide, ground], points: [[0,0,0], [0,0,0]], distance: @0 m}",
     BRAMAH_E_VALUE, "loops.pivot.distance", "distance must be positive"},
    {18, "    @orifice: {from: v1, to: v2}", BRAMAH_E_KEY, "hydraulics.orifices.orifice",
     "'flow_coefficient', or 'area' and 'discharge_coefficient', is needed"},
    {18, "    orifice: {from: v1, to: v2, @area: 1 mm^2, flow_coefficient: 1 m^3/s/Pa^0.5}", BRAMAH_E_KEY,
     "hydraulics.orifices.orifice.area",
     "'flow_coefficient' stands for 'area' and 'discharge_coefficient': they exclude each other"},
    {18, "    @orifice: {from: v1, to: v2, area: 1 mm^2}", BRAMAH_E_KEY, "hydraulics.orifices.orifice",
     "required key 'discharge_coefficient' is missing"},
    {18, "    orifice: {from: v1, to: v2, flow_coefficient: 1 m^3/s/Pa^0.5, @discharge_coefficient: 1}",
     BRAMAH_E_KEY, "hydraulics.orifices.orifice.discharge_coefficient",
     "'flow_coefficient' stands for 'area' and 'discharge_coefficient': they exclude each other"},
    {28, "      rod: 35 mm\n      rod_area: 1 cm^2", BRAMAH_E_KEY, "hydraulics.cylinders.lift.rod_area",
     "'rod' and 'rod_area' exclude each other"},
    {33,
     "      @friction: {model: modified-lugre, coulomb: 1 N, static: 2 N, stribeck_velocity: 1 m/s, "
     "bristle_stiffness: 1 N/m, bristle_damping: 0 N*s/m, stribeck_exponent: 2, film_velocity: 1 m/s, "
     "film_time_rising: 1 s, film_time_falling: 1 s}",
     BRAMAH_E_KEY, "hydraulics.cylinders.lift.friction", "required key 'film_time_dwell' is missing"},
    {33, "      friction: {model: lugre, decay: @3 m/s}", BRAMAH_E_UNIT,
     "hydraulics.cylinders.lift.friction.decay",
     "3 m/s is a speed, a value in 's/m' is expected, for example '3 s/m'"},
    {33, "      @friction: {model: brown-mcphee, coulomb: 1 N}", BRAMAH_E_KEY,
     "hydraulics.cylinders.lift.friction", "required key 'static' is missing"},
    {16, "    v2: {pressure: 1 bar}\n    pump: {pressure: 1 bar}", BRAMAH_E_KEY, "hydraulics.supplies.pump",
     "a volume has the same name; they share one list"},
    /* units */
    {4, "  crank: {mass: @80 bar}", BRAMAH_E_UNIT, "bodies.crank.mass",
     "80 bar is a pressure, a mass is expected, for example '80 kg'"},
    {4, "  crank: {mass: @16}", BRAMAH_E_UNIT, "bodies.crank.mass",
     "the unit is missing: a mass is expected, for example '16 kg'"},
    {4, "  crank: {mass: @16 kgs}", BRAMAH_E_UNIT, "bodies.crank.mass",
     "unknown unit 'kgs'; did you mean 'kg'?"},
    {2, "gravity: [0, -9.81, @0 m/s]", BRAMAH_E_UNIT, "gravity.2",
     "0 m/s is a speed, an acceleration is expected, for example '0 m/s^2'"},
    {2, "gravity: [0, @-9.81 m, 0 m/s^2]", BRAMAH_E_UNIT, "gravity.1",
     "-9.81 m is a length, an acceleration is expected, for example '-9.81 m/s^2'"},
    {2, "gravity: [0, @-9.81, 0]", BRAMAH_E_UNIT, "gravity.1",
     "the unit is missing: an acceleration is expected, for example '-9.81 m/s^2'"},
    {8, "  slide: {type: prismatic, parent: crank, child: slide, axis: [1, 0, 0], guess: @5 deg}",
     BRAMAH_E_UNIT, "joints.slide.guess", "5 deg is an angle, a length is expected, for example '5 mm'"},
    {7, "  crank: {type: revolute, parent: ground, child: crank, axis: [0, 0, @1 m]}", BRAMAH_E_UNIT,
     "joints.crank.axis.2", "1 m is a length, a pure number is expected, for example '1'"},
    {35, "  main: [[0 s, 0 V], [1 s, @10 s]]", BRAMAH_E_UNIT, "inputs.main.1.1",
     "10 s is a time, a voltage is expected, for example '10 V'"},
    /* values */
    {4, "  crank: {mass: @-16 kg}", BRAMAH_E_VALUE, "bodies.crank.mass", "mass must not be negative"},
    {4, "  crank: {mass: @heavy}", BRAMAH_E_VALUE, "bodies.crank.mass",
     "'heavy' is not a number with a unit; a mass is expected, for example '1 kg'"},
    {4, "  crank: {mass: @}", BRAMAH_E_VALUE, "bodies.crank.mass", "a value is missing"},
    {4, "  crank: {mass: 1 kg, inertia: [0, @-5, 5 kg*m^2]}", BRAMAH_E_VALUE, "bodies.crank.inertia.1",
     "inertia must not be negative"},
    {4, "  @ground: {mass: 1 kg}", BRAMAH_E_VALUE, "bodies.ground",
     "'ground' is the inertial frame and cannot be a body's name"},
    {7, "  crank: {type: revolute, parent: ground, child: crank, axis: @[0, 0, 0]}", BRAMAH_E_VALUE,
     "joints.crank.axis", "axis must not be zero"},
    {10,
     "  pivot: {type: revolute, bodies: [slide, ground], points: [[0,0,0], [0,0,0]], axes: [[0, 0, 1], @[0, "
     "0, 0]]}",
     BRAMAH_E_VALUE, "loops.pivot.axes.1", "axes must not be zero"},
    {7, "  crank: {type: @revolut, parent: ground, child: crank, axis: [0, 0, 1]}", BRAMAH_E_VALUE,
     "joints.crank.type", "'revolut' is not known here; did you mean 'revolute'?"},
    {7, "  crank: {type: @ball, parent: ground, child: crank, axis: [0, 0, 1]}", BRAMAH_E_VALUE,
     "joints.crank.type",
     "'ball' is not known here; possible are revolute, prismatic, fixed, "
     "cylindrical, universal, planar, spherical, floating"},
    {12, "  oil: {bulk_modulus: @0 MPa}", BRAMAH_E_VALUE, "hydraulics.oil.bulk_modulus",
     "bulk_modulus must be positive"},
    {15, "    v1: {pressure: 30 bar, hoses: [{volume: @0 L, bulk_modulus: 550 MPa}]}", BRAMAH_E_VALUE,
     "hydraulics.volumes.v1.hoses.0.volume", "volume must be positive"},
    {16, "    v2: {pressure: @equilibrum}", BRAMAH_E_VALUE, "hydraulics.volumes.v2.pressure",
     "'equilibrum' is not a number with a unit; a pressure is expected, for example '1 bar', or the word "
     "'equilibrium'"},
    {18, "    orifice: {from: v1, to: v2, area: @0 mm^2, discharge_coefficient: 0.8}", BRAMAH_E_VALUE,
     "hydraulics.orifices.orifice.area", "area must be positive"},
    {20,
     "    main: {pump: pump, tank: tank, a: v1, b: v2, flow_coefficient: 1 m^3/s/Pa^0.5/V, time_constant: "
     "@-1 "
     "s}",
     BRAMAH_E_VALUE, "hydraulics.valves.main.time_constant", "time_constant must not be negative"},
    {20,
     "    main: {pump: pump, tank: tank, a: v1, b: v2, flow_coefficient: 1 m^3/s/Pa^0.5/V, time_constant: 1 "
     "s, spool: @11 V}",
     BRAMAH_E_VALUE, "hydraulics.valves.main.spool", "the spool must lie within the limit of the valve"},
    {28, "      rod: @80 mm", BRAMAH_E_VALUE, "hydraulics.cylinders.lift.rod",
     "rod must be thinner than the bore; are bore and rod exchanged?"},
    {27, "      bore: @0 mm", BRAMAH_E_VALUE, "hydraulics.cylinders.lift.bore", "bore must be positive"},
    {33, "      friction: {model: brown-mcphee, coulomb: 210 N, static: @83 N, stribeck_velocity: 1 m/s}",
     BRAMAH_E_VALUE, "hydraulics.cylinders.lift.friction.static",
     "static friction must not be below coulomb friction"},
    {35, "  main: [[0 s, 0 V], [1 s, 0 V], [@1 s, 3 V]]", BRAMAH_E_VALUE, "inputs.main.2.0",
     "times must ascend"},
    {36, "integrator: {step: @0 ms}", BRAMAH_E_VALUE, "integrator.step", "step must be positive"},
    {36, "integrator: {step: @-1 ms}", BRAMAH_E_VALUE, "integrator.step", "step must be positive"},
    {36, "integrator: {step: @2 h}", BRAMAH_E_VALUE, "integrator.step", "step must lie between 1 ns and 1 h"},
    {36, "integrator: {max_iterations: @2.5}", BRAMAH_E_VALUE, "integrator.max_iterations",
     "'2.5' is not a whole number from 1 on"},
    /* the shape of the file */
    {4, "  crank: @[1, 2]", BRAMAH_E_SYNTAX, "bodies.crank",
     "keys and values ('key: value') are expected here"},
    {4, "  crank: {mass: @[1 kg]}", BRAMAH_E_SYNTAX, "bodies.crank.mass",
     "a single value is expected here, not a list"},
    {4, "  crank: {mass: 1 kg, inertia: @[1, 2 kg*m^2]}", BRAMAH_E_SYNTAX, "bodies.crank.inertia",
     "a list of 3 or 6 values is expected, this one has 2"},
    {2, "gravity: @9.81 m/s^2", BRAMAH_E_SYNTAX, "gravity", "a list of 3 values is expected"},
    {15, "    v1: {pressure: 1 bar, hoses: @{volume: 1 L}}", BRAMAH_E_SYNTAX, "hydraulics.volumes.v1.hoses",
     "a list is expected here"},
    {23, "      bodies: @[ground]", BRAMAH_E_SYNTAX, "hydraulics.cylinders.lift.bodies",
     "a list of 2 elements is expected, this one has 1"},
    {5, "  @a.b: {mass: 1 kg}", BRAMAH_E_SYNTAX, "bodies.a.b",
     "'a.b' is no name; names are letters, digits, _ and -"},
    {35, "  main: [@[0 s]]", BRAMAH_E_SYNTAX, "inputs.main.0",
     "a pair [time, value] is expected, such as [1 s, 10 V]"},
    {4, "  crank: {mass: @\"1 \\0 kg\"}", BRAMAH_E_SYNTAX, "", "text contains a zero byte"},
    {4, "  crank: {mass: @*nobody}", BRAMAH_E_SYNTAX, "", "found undefined alias"},
    /* references */
    {7, "  crank: {type: revolute, parent: @grund, child: crank, axis: [0, 0, 1]}", BRAMAH_E_REFERENCE,
     "joints.crank.parent", "there is no body 'grund'; did you mean 'ground'?"},
    {7, "  crank: {type: revolute, parent: ground, child: @boom, axis: [0, 0, 1]}", BRAMAH_E_REFERENCE,
     "joints.crank.child", "there is no body 'boom'; there are ground, crank, slide"},
    {10,
     "  pivot: {type: revolute, bodies: [slide, @boom], points: [[0,0,0], [0,0,0]], axes: [[0,0,1], "
     "[0,0,1]]}",
     BRAMAH_E_REFERENCE, "loops.pivot.bodies.1", "there is no body 'boom'; there are ground, crank, slide"},
    {18, "    orifice: {from: v1, to: @v22, area: 28.3 mm^2, discharge_coefficient: 0.8}", BRAMAH_E_REFERENCE,
     "hydraulics.orifices.orifice.to", "there is no volume or supply 'v22'; did you mean 'v2'?"},
    {20,
     "    main: {pump: @pumpe, tank: tank, a: v1, b: v2, flow_coefficient: 1 m^3/s/Pa^0.5/V, time_constant: "
     "1 s}",
     BRAMAH_E_REFERENCE, "hydraulics.valves.main.pump",
     "there is no volume or supply 'pumpe'; did you mean 'pump'?"},
    {23, "      bodies: [@crnak, ground]", BRAMAH_E_REFERENCE, "hydraulics.cylinders.lift.bodies.0",
     "there is no body 'crnak'; did you mean 'crank'?"},
    {26, "      rod_volume: @tank", BRAMAH_E_REFERENCE, "hydraulics.cylinders.lift.rod_volume",
     "there is no volume 'tank'; there are v1, v2"},
    {35, "  @mian: [[0 s, 0 V]]", BRAMAH_E_REFERENCE, "inputs.mian",
     "there is no valve with the input 'mian'; did you mean 'main'?"},
};

EACH_TEST(error_is_exact, 0, COUNT(bad_lines))
{
  const bad_line *bad = &bad_lines[_i];
  bramah_diag diag;
  bramah_machine *machine = (bramah_machine *)path;
  const int column = write_machine(bad->line, bad->with);
  check_mistake(bad, column, bramah_machine_load(path, 0, NULL, &diag, &machine), &diag);
  ck_assert_ptr_eq(machine, (bramah_machine *)path); /* untouched */
  ck_assert_int_eq(bramah_machine_load(path, 0, NULL, NULL, &machine), bad->status);
}

/* Errors whose offending place is not in the replaced line itself. */
TEST(error_elsewhere_is_exact)
{
  static const struct {
    int line;
    const char *with;
    int at_line, at_column;
    const char *message;
  } cases[] = {
      {12, "  oil: {bulk_modulus: 1 GPa}", 18, 33, "'area' needs 'hydraulics.oil.density', which is missing"},
      {27, "", 22, 5, "'bore' or 'piston_area' is needed"},
      {28, "", 22, 5, "'rod' or 'rod_area' is needed"},
      {2, "", 1, 1, "required key 'gravity' is missing"},
      {16, "    v2: {pressure: 1 bar}\n    pump: {pressure: 1 bar}", 13, 14,
       "a volume has the same name; they share one list"},
      {28, "      rod: 35 mm\n      rod_area: 1 cm^2", 29, 7, "'rod' and 'rod_area' exclude each other"},
      {36, "inputs: {}", 36, 1, "key 'inputs' is given twice, first in line 34"},
      {3, "bodies: {}\nold:", 4, 1, "unknown key 'old'"},
      {36, "...\n---\nmachine: other", 38, 1, "a second document begins here; one is expected"},
      {36, "bodies: {", 37, 1,
       "did not find expected node content (while parsing a flow node that begins in line 37)"},
      {36, "\tx: 1", 36, 1,
       "found character that cannot start any token: lines begin with blanks, not tabs; texts with @, ` or % "
       "in quotes (while scanning for the next token"},
  };
  bramah_diag diag;
  bramah_machine *machine = NULL;
  for (int i = 0; i < COUNT(cases); i++) {
    write_machine(cases[i].line, cases[i].with);
    ck_assert_int_ne(bramah_machine_load(path, 0, NULL, &diag, &machine), BRAMAH_OK);
    ck_assert_msg(strncmp(diag.message, cases[i].message, strlen(cases[i].message)) == 0, "%s", diag.message);
    ck_assert_msg(diag.line == cases[i].at_line, "%s: line %d", diag.message, diag.line);
    ck_assert_msg(diag.column == cases[i].at_column, "%s: column %d", diag.message, diag.column);
  }
}

TEST(whole_file_is_refused)
{
  static const struct {
    const char *text;
    bramah_status status;
    int line;
    const char *message;
  } cases[] = {
      {"", BRAMAH_E_EMPTY, 0, "file is empty"},
      {"# only words\n", BRAMAH_E_EMPTY, 0, "file is empty"},
      {"---\n", BRAMAH_E_EMPTY, 0, "file is empty"},
      {"\n[1, 2]\n", BRAMAH_E_SYNTAX, 2, "the file must consist of keys and values ('name: value')"},
      {"just text\n", BRAMAH_E_SYNTAX, 1, "the file must consist of keys and values ('name: value')"},
      {"machine: \xff\xfe\n", BRAMAH_E_SYNTAX, 1, "invalid leading UTF-8 octet"},
      {"machine: x\nalice: &x {b: *x}\n", BRAMAH_E_KEY, 2, "unknown key 'alice'"},
      {"machne: x\n", BRAMAH_E_KEY, 1, "unknown key 'machne'; did you mean 'machine'?"},
      {"alice: &x {b: *x}\n", BRAMAH_E_KEY, 1, "this is no machine file"},
      {"machine: \"a\\e[2Jb\"\n", BRAMAH_E_SYNTAX, 1, "text contains a control character"},
      {"machine: x\ngravity: [0,0,0]\nbodies: {}\n", BRAMAH_E_VALUE, 3, "at least one is needed here"},
      /* Lines end as libyaml ends them; its mark at the end of a file without a last line end is one too far. */
      {"machine: {", BRAMAH_E_SYNTAX, 1, ""},
      {"machine: {\n", BRAMAH_E_SYNTAX, 2, ""},
      {"machine: x\r\nbodies: [", BRAMAH_E_SYNTAX, 2, ""},
      {"machine: x\rbodies: [", BRAMAH_E_SYNTAX, 2, ""},
      {"a: 1\xc2\x85"
       "b: [",
       BRAMAH_E_SYNTAX, 2, ""},
      {"a: 1\xe2\x80\xa8"
       "b: [",
       BRAMAH_E_SYNTAX, 2, ""},
  };
  bramah_diag diag;
  bramah_machine *machine = NULL;
  for (int i = 0; i < COUNT(cases); i++) {
    write_bytes(cases[i].text, strlen(cases[i].text));
    ck_assert_int_eq(bramah_machine_load(path, 0, NULL, &diag, &machine), cases[i].status);
    ck_assert_msg(strncmp(diag.message, cases[i].message, strlen(cases[i].message)) == 0, "%s", diag.message);
    ck_assert_msg(diag.line == cases[i].line, "case %d: line %d: %s", i, diag.line, diag.message);
    ck_assert_str_eq(diag.file, path);
  }
}

/* ---- limits ---- */

static void write_repeated(const char *head, int n, const char *text, const char *tail)
{
  FILE *stream = fopen(path, "wb");
  ck_assert_ptr_nonnull(stream);
  fputs(head, stream);
  for (int i = 0; i < n; i++) fputs(text, stream);
  fputs(tail, stream);
  fclose(stream);
}

/* What would keep libyaml busy for hours; one less each is read, and refused for what it says. */
TEST(excess_is_refused_at_once)
{
  static const struct {
    const char *head, *text, *tail;
    int most;
    const char *message;
  } cases[] = {
      {"machine: ", "[", "", 63, "lists and keys are nested more than 64 deep"},
      {"machine: ", "{a: ", "", 63, "lists and keys are nested more than 64 deep"},
      {"machine: [", "&a x, ", "]", 1000, "more than 1000 anchors"},
      {"machine: [", "1,", "]", 1000000 - 3, "more than a million values"},
      {"", "%TAG !a! b\n", "---\na: b\n", 100, "more than 100 directives (lines that begin with %)"},
      {"a: 1\r", "%TAG !a! b\r", "---\na: b\n", 100, "more than 100 directives (lines that begin with %)"},
  };
  bramah_diag diag;
  bramah_machine *machine = NULL;
  for (int i = 0; i < COUNT(cases); i++) {
    write_repeated(cases[i].head, cases[i].most, cases[i].text, cases[i].tail);
    ck_assert_int_ne(bramah_machine_load(path, 0, NULL, &diag, &machine), BRAMAH_OK);
    ck_assert_msg(strcmp(diag.message, cases[i].message) != 0, "%s", diag.message);
    write_repeated(cases[i].head, cases[i].most + 1, cases[i].text, cases[i].tail);
    ck_assert_int_eq(bramah_machine_load(path, 0, NULL, &diag, &machine), BRAMAH_E_SYNTAX);
    ck_assert_str_eq(diag.message, cases[i].message);
  }
}

/* A change copies the lists it goes through: many to a long list would fill the memory. */
TEST(memory_for_changes_is_limited)
{
  enum { CHANGES = 200 };
  static bramah_change changes[CHANGES];
  bramah_diag diag;
  bramah_machine *machine = NULL;
  for (int i = 0; i < CHANGES; i++) changes[i] = (bramah_change){"list.7", "1", NULL, 0};
  write_repeated("machine: x\nlist: [", 99999, "1,", "1]\n");
  ck_assert_int_eq(bramah_machine_load(path, CHANGES / 2, changes, &diag, &machine), BRAMAH_E_KEY);
  ck_assert_int_eq(bramah_machine_load(path, CHANGES, changes, &diag, &machine), BRAMAH_E_MEMORY);
  ck_assert_str_eq(diag.message,
                   "what the file describes is too large; do aliases or changes repeat long texts or lists?");
}

static void count_mistake(void *user, const bramah_diag *diag)
{
  ck_assert_int_ne(diag->status, BRAMAH_OK);
  ++*(int *)user;
}

/* After a thousand the check stops; the status stays that of the first. */
TEST(check_tells_a_thousand_mistakes)
{
  int told = 0;
  FILE *stream = fopen(path, "wb");
  ck_assert_ptr_nonnull(stream);
  fputs("machine: x\ngravity: [0, 0, 0]\nbodies:\n  a: {mass: 1 mm}\n", stream);
  for (int i = 0; i < 3000; i++) fprintf(stream, "  b%d: {mass: fast}\n", i);
  fclose(stream);
  const bramah_status status = bramah__machine_check(path, 0, NULL, count_mistake, &told);
  ck_assert_int_eq(told, 1000);
  ck_assert_int_eq(status, BRAMAH_E_UNIT);
  bramah_machine *machine = NULL;
  ck_assert_int_eq(bramah_machine_load(path, 0, NULL, NULL, &machine), status);
}

TEST(missing_file_is_told)
{
  bramah_diag diag;
  bramah_machine *machine = NULL;
  ck_assert_int_eq(bramah_machine_load("no/such/file.yaml", 0, NULL, &diag, &machine), BRAMAH_E_FILE);
  ck_assert_str_eq(diag.file, "no/such/file.yaml");
  ck_assert_str_eq(diag.message, "cannot be opened: No such file or directory");
  ck_assert_int_eq(diag.line, 0);
  ck_assert_int_eq(bramah_machine_load("/", 0, NULL, &diag, &machine), BRAMAH_E_FILE);
  ck_assert_str_eq(diag.message, "cannot be read: Is a directory; name the file in it");
  ck_assert_ptr_null(machine);
  bramah_machine_free(NULL);
}

/* A file cut anywhere is an error or a smaller machine, never a crash. */
TEST(cut_file_does_no_harm)
{
  char text[LONGEST_TEXT];
  write_machine(0, NULL);
  FILE *stream = fopen(path, "rb");
  size_t length = fread(text, 1, sizeof text, stream);
  fclose(stream);
  for (size_t n = 0; n < length; n += 3) {
    bramah_machine *machine = NULL;
    write_bytes(text, n);
    if (bramah_machine_load(path, 0, NULL, NULL, &machine) == BRAMAH_OK) bramah_machine_free(machine);
  }
}

/* ---- changes ---- */

TEST(changes_are_applied)
{
  static const bramah_change changes[] = {
      {"bodies.crank.mass", "18 kg", NULL, 0},
      {"bodies.crank.inertia.2", " 6 kg*m^2 ", NULL, 0},
      {"bodies.slide.inertia", "[1, 2, 3 kg*m^2]", NULL, 0},
      {"gravity", "[0, -8.81, 0 m/s^2]", NULL, 0},
      {"hydraulics.volumes.v1.hoses.0.volume", "1 L", NULL, 0},
      {"hydraulics.cylinders.lift.friction.viscous", "363 N*s/m", NULL, 0},
      {"machine", "\"with: colon\"", NULL, 0},
      {"inputs.main.1.1", "-5 V", NULL, 0},
      {"bodies.crank.mass", "19 kg", NULL, 0},
  };
  write_machine(0, NULL);
  bramah_machine *m = load(COUNT(changes), changes);
  ck_assert(m->bodies[0].mass == 19.0 && m->bodies[0].inertia[1] == 5.0 && m->bodies[0].inertia[2] == 6.0);
  ck_assert(m->bodies[1].inertia[0] == 1.0 && m->bodies[1].inertia[2] == 3.0);
  ck_assert(m->gravity[1] == -8.81 && m->volumes[0].hoses[0].volume == 1e-3);
  ck_assert(m->cylinders[0].friction.viscous == 363.0 && m->cylinders[0].friction.coulomb == 210.0);
  ck_assert(m->inputs[0].values[1] == -5.0);
  ck_assert_str_eq(m->name, "with: colon");
  bramah_machine_free(m);
}

TEST(bad_change_is_told_where_it_was_written)
{
  static const struct {
    const char *change_path, *value;
    bramah_status status;
    const char *message;
  } cases[] = {
      {"bodies.crank.mass", "18 mm", BRAMAH_E_UNIT,
       "18 mm is a length, a mass is expected, for example '18 kg'"},
      {"bodies.crank.mass", "", BRAMAH_E_VALUE, "a value is missing"},
      {"bodies.crank.mass", "-1 kg", BRAMAH_E_VALUE, "mass must not be negative"},
      {"bodies.crank.mas", "1 kg", BRAMAH_E_KEY, "unknown key 'mas'; did you mean 'mass'?"},
      {"bodies.crnak.mass", "1 kg", BRAMAH_E_KEY,
       "the file to be changed has no 'crnak'; did you mean 'crank'?"},
      {"bodies.boom.mass", "1 kg", BRAMAH_E_KEY,
       "the file to be changed has no 'boom' there; it has crank, slide"},
      {"bodies.crank.mass.x", "1 kg", BRAMAH_E_KEY, "nothing stands below '16 kg', which is a value"},
      {"bodies.crank.inertia.3", "1 kg", BRAMAH_E_KEY,
       "the list to be changed has no element '3'; its elements are 0 to 2"},
      {"bodies.crank.inertia.x", "1 kg", BRAMAH_E_KEY,
       "the list to be changed has no element 'x'; its elements are 0 to 2"},
      {"bodies..mass", "1 kg", BRAMAH_E_KEY, "a path is keys joined by dots, such as 'bodies.crank.mass'"},
      {"gravity", "[0, 1", BRAMAH_E_SYNTAX,
       "did not find expected ',' or ']' (while parsing a flow sequence)"},
      {"joints.crank.parent", "boom", BRAMAH_E_REFERENCE,
       "there is no body 'boom'; there are ground, crank, slide"},
      {"hydraulics.cylinders.lift.rod", "90 mm", BRAMAH_E_VALUE,
       "rod must be thinner than the bore; are bore and rod exchanged?"},
      {"hydraulics.cylinders.lift.friction.static", "9 N", BRAMAH_E_VALUE,
       "static friction must not be below coulomb friction"},
  };
  write_machine(0, NULL);
  for (int i = 0; i < COUNT(cases); i++) {
    bramah_change change = {cases[i].change_path, cases[i].value, "study.yaml", 17};
    bramah_diag diag;
    bramah_machine *machine = NULL;
    bramah_status status = bramah_machine_load(path, 1, &change, &diag, &machine);
    ck_assert_str_eq(diag.message, cases[i].message);
    ck_assert_int_eq(status, cases[i].status);
    ck_assert_str_eq(diag.file, "study.yaml");
    ck_assert_int_eq(diag.line, 17);
    ck_assert_int_eq(diag.column, 0);
    ck_assert_str_eq(diag.thing, cases[i].change_path);
  }
}

int main(void) { return run_tests_with("machine file", make_path, remove_path); }
