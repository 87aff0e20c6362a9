/* SPDX-License-Identifier: MIT */
/* Machines drawn at random (trees and loops in space and in the plane, floating on feet, springs, loads, actuators with friction,
 * all hydraulic elements, bodies that hit each other) step by their programs as they step without, and as C source by the compiler of the tests; by native code to the bit.
 * Twelve in the suite, four of them as C, two by native code; BRAMAH_MACHINES says how many, then for 1,000 steps each. */
#define _XOPEN_SOURCE 700 /* mkdtemp */
#include "lib/hydraulics/metering.h"
#include "lib/math/vector3.h"
#include "lib/multibody/tree.h"
#include "lib/plant/coupled_internal.h"
#include "lib/plant/step_graph.h"
#include "test/support/four_bar.h"
#include "test/support/run.h"
#include "test/support/c_source.h"
#include "test/support/native.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
  MOST_BODIES = 7,
  MOST_ACTUATORS = 3,
  MOST_METERED = 2,
  MOST_VOLUMES = 2 * MOST_ACTUATORS + 1,
  MOST_INPUTS = MOST_ACTUATORS + MOST_METERED + 1,
  MOST_STATES = 2 * (MOST_BODIES + 5) + MOST_VOLUMES + 2 + MOST_METERED
};

typedef struct drawn {
  spatial_tree tree;
  bramah_loop loops[1];
  bramah_motion motions[1];
  bramah_spring springs[2];
  bramah_joint_spring joint_springs[2];
  bramah_force loads[2];
  bramah_contact contacts[2];
  bramah_shape shapes[2];
  const char *between[2];
  bramah_tyre tyres[1];
  bramah_brake brakes[1];
  bramah_engine engines[1];
  bramah_clutch clutches[1];
  bramah_joint_torque joint_torques[1];
  const char *driven[8];
  double points[12];
  bramah_supply supplies[2];
  bramah_hose hoses[MOST_VOLUMES];
  bramah_volume volumes[MOST_VOLUMES];
  bramah_valve valves[MOST_ACTUATORS];
  bramah_cylinder cylinders[MOST_ACTUATORS];
  bramah_orifice orifices[1];
  bramah_leakage leakages[1];
  bramah_check_valve check_valves[1];
  bramah_relief_valve relief_valves[1];
  bramah_pump pumps[1];
  bramah_accumulator accumulators[1];
  bramah_inertial_line lines[1];
  bramah_load_sensing_pump load_sensing_pumps[1];
  bramah_overcentre_valve overcentre_valves[1];
  bramah_pilot_check_valve pilot_check_valves[1];
  bramah_pump_line pump_lines[1];
  bramah_metered_cylinder metered[MOST_METERED];
  bramah_input inputs[MOST_INPUTS];
} drawn;

static const char *const volume_names[MOST_VOLUMES] = {"a0", "b0", "a1", "b1", "a2", "b2", "rail"};
static const char *const actuator_names[MOST_ACTUATORS] = {"lift", "jib", "swing"};

static double between(unsigned *seed, double least, double most)
{
  return least + 0.5 * (test_uniform(seed) + 1.0) * (most - least);
}

static size_t one_of(unsigned *seed, size_t n)
{
  const size_t i = (size_t)between(seed, 0.0, (double)n);
  return i < n ? i : n - 1;
}

/* ---- mechanics ---- */

/* In the plane: every axis is z and nothing leaves it. */
static void flatten(drawn *d)
{
  for (size_t i = 0; i < d->tree.machine.n_bodies; i++) {
    bramah_joint *joint = &d->tree.joints[i];
    memset(joint->rotation, 0, sizeof joint->rotation);
    joint->position[2] = d->tree.bodies[i].centre_of_mass[2] = 0.0;
    const int slides = joint->type == BRAMAH_JOINT_PRISMATIC;
    joint->axis[0] = slides ? 0.6 : 0.0, joint->axis[1] = slides ? 0.8 : 0.0,
    joint->axis[2] = slides ? 0.0 : 1.0;
  }
}

/* The last joint lets its body turn in all ways. */
static void draw_ball(drawn *d, unsigned *seed)
{
  bramah_joint *joint = &d->tree.joints[d->tree.machine.n_bodies - 1];
  joint->type = BRAMAH_JOINT_SPHERICAL;
  for (int k = 0; k < 3; k++) {
    joint->axis[k] = joint->initial_position = joint->initial_rate = 0.0;
    joint->initial_positions[k] = test_uniform(seed), joint->initial_rates[k] = 2.0 * test_uniform(seed);
  }
}

/* Where a point of a body lies at the start; other: in the frame of another one, unless NULL. */
static void locate_in(const bramah_machine *machine, const char *body, const double *local, const char *other,
                      double *place)
{
  bramah_diag diag = {0};
  const bramah_model *model;
  bramah_coupled *c;
  must(bramah_model_new(machine, &diag, &model), &diag);
  must(bramah_coupled_new(model, &diag, &c), &diag);
  must(bramah__refresh(c, &diag), &diag);
  int number = -1, in = -1;
  for (size_t j = 0; j < model->n; j++) {
    if (strcmp(model->body_name[j], body) == 0) number = (int)j;
    if (other && strcmp(model->body_name[j], other) == 0) in = (int)j;
  }
  bramah__point(c->now->pose, number, local, place);
  if (in >= 0) {
    double from[3];
    bramah__sub3(place, c->now->pose[in].r, from);
    bramah__unrotate3(c->now->pose[in].A, from, place);
  }
  bramah_coupled_free(c);
  bramah_model_free(model);
}

static void locate(const bramah_machine *machine, const char *body, const double *local, double *place)
{
  locate_in(machine, body, local, NULL, place);
}

/* A loop from the last body to the ground, where it happens to be. */
static void draw_loop(drawn *d, int planar, unsigned *seed)
{
  bramah_machine *m = &d->tree.machine;
  bramah_loop *loop = d->loops;
  *loop = (bramah_loop){.name = "loop", .body = {d->tree.names[m->n_bodies - 1], "ground"}};
  for (int k = 0; k < (planar ? 2 : 3); k++) loop->point[0][k] = test_uniform(seed);
  locate(m, loop->body[0], loop->point[0], loop->point[1]);
  loop->type = planar ? BRAMAH_LOOP_REVOLUTE : BRAMAH_LOOP_SPHERICAL;
  if (planar) loop->axis[0][2] = loop->axis[1][2] = 1.0;
  if (one_of(seed, 3) == 0) { /* a rod instead */
    loop->type = BRAMAH_LOOP_DISTANCE;
    loop->distance = 1.5;
    loop->point[1][0] += 0.9, loop->point[1][1] += 1.2;
  }
  for (size_t i = 0; i < m->n_bodies; i++) { /* they would fit no others */
    d->tree.joints[i].initial_rate = 0.0;
    memset(d->tree.joints[i].initial_rates, 0, sizeof d->tree.joints[i].initial_rates);
  }
  m->n_loops = 1;
  m->loops = d->loops;
}

/* A joint moves by itself, from where it is and from rest. */
static void draw_motion(drawn *d, unsigned *seed)
{
  bramah_machine *m = &d->tree.machine;
  const size_t free_joints = m->n_bodies - 3 * m->n_loops;
  bramah_joint *joint = &d->tree.joints[one_of(seed, m->n_bodies)];
  const double amplitude = between(seed, 0.05, 0.3);
  if (m->n_bodies < 2 || free_joints < 2 || joint->type == BRAMAH_JOINT_SPHERICAL) return;
  d->motions[0] = (bramah_motion){.name = "drive",
                                  .joint = joint->name,
                                  .type = BRAMAH_MOTION_HARMONIC,
                                  .mean = joint->initial_position - amplitude,
                                  .amplitude = amplitude,
                                  .frequency = between(seed, 0.2, 1.0),
                                  .phase = 1.57079632679489662};
  joint->initial_rate = 0.0;
  m->n_motions = 1, m->motions = d->motions;
}

static void draw_forces(drawn *d, unsigned *seed)
{
  bramah_machine *m = &d->tree.machine;
  const size_t n = m->n_bodies;
  m->springs = d->springs, m->joint_springs = d->joint_springs, m->forces = d->loads;
  m->n_springs = one_of(seed, 3), m->n_joint_springs = one_of(seed, 3), m->n_forces = one_of(seed, 3);
  for (size_t i = 0; i < 2; i++) {
    d->springs[i] = (bramah_spring){.name = i ? "s1" : "s0",
                                    .body = {"ground", d->tree.names[one_of(seed, n)]},
                                    .point = {{3.0, -2.0, 0.0}, {0.3, 0.1, 0.0}},
                                    .free_length = between(seed, 0.0, 3.0),
                                    .stiffness = between(seed, 0.0, 300.0),
                                    .damping = between(seed, 0.0, 30.0)};
    d->joint_springs[i] = (bramah_joint_spring){.name = i ? "j1" : "j0",
                                                .joint = d->tree.names[i],
                                                .free_position = test_uniform(seed),
                                                .stiffness = between(seed, 0.0, 50.0),
                                                .damping = between(seed, 0.0, 5.0)};
    d->loads[i] = (bramah_force){
        .name = i ? "l1" : "l0", .body = d->tree.names[one_of(seed, n)], .point = {0.2, 0.1, 0.0}};
    d->loads[i].axes = i ? BRAMAH_AXES_BODY : BRAMAH_AXES_INERTIAL;
    d->loads[i].force[0] = 20.0 * test_uniform(seed), d->loads[i].force[1] = 20.0 * test_uniform(seed);
    d->loads[i].torque[2] = 5.0 * test_uniform(seed);
  }
}

/* The last body touches soft ground, and the first joint is between stops near by. */
static void draw_touch(drawn *d, unsigned *seed)
{
  bramah_machine *m = &d->tree.machine;
  bramah_joint *joint = &d->tree.joints[0];
  bramah_contact *contact = d->contacts;
  *contact = (bramah_contact){.name = "touch",
                              .body = d->tree.names[m->n_bodies - 1],
                              .n_points = 2,
                              .points = d->points,
                              .normal = {0.3 * test_uniform(seed), 1.0, 0.0},
                              .law = (bramah_contact_law)one_of(seed, 2),
                              .stiffness = between(seed, 50.0, 300.0),
                              .damping = between(seed, 0.1, 1.0)};
  d->points[0] = test_uniform(seed), d->points[1] = test_uniform(seed), d->points[3] = test_uniform(seed);
  locate(m, contact->body, d->points, contact->ground);
  contact->ground[1] += between(seed, -0.1, 0.2);
  if (one_of(seed, 2))
    contact->friction = (bramah_friction){.model = BRAMAH_FRICTION_LUGRE,
                                          .coulomb = between(seed, 0.1, 0.5),
                                          .static_force = 0.6,
                                          .bristle_stiffness = between(seed, 10.0, 100.0)};
  m->n_contacts = 1, m->contacts = d->contacts;
  if (joint->type != BRAMAH_JOINT_REVOLUTE && joint->type != BRAMAH_JOINT_PRISMATIC) return;
  joint->range[0] = joint->initial_position - 0.1, joint->range[1] = joint->initial_position + 0.05;
  joint->stop =
      (bramah_end_stop){.stiffness = between(seed, 50.0, 500.0), .damping = between(seed, 0.0, 10.0)};
}

/* The last body is a wheel of two discs that has sunk into soft ground, and the last joint that turns is braked. */
static void draw_tyre(drawn *d, unsigned seed)
{
  bramah_machine *m = &d->tree.machine;
  bramah_tyre *tyre = d->tyres;
  const double centre[3] = {0.1, 0.2, 0.0};
  *tyre = (bramah_tyre){.name = "tyre",
                        .body = d->tree.names[m->n_bodies - 1],
                        .axis = {0.3 * test_uniform(&seed), 0.3 * test_uniform(&seed), 1.0},
                        .radius = between(&seed, 0.3, 0.8),
                        .width = 0.2,
                        .n_discs = 2,
                        .normal = {0.3 * test_uniform(&seed), 1.0, 0.2},
                        .stiffness = between(&seed, 50.0, 300.0),
                        .damping = between(&seed, 0.1, 3.0),
                        .patch_length = between(&seed, 0.1, 0.5),
                        .set = (bramah_tyre_set)one_of(&seed, 2)};
  memcpy(tyre->centre, centre, sizeof centre);
  locate(m, tyre->body, centre, tyre->ground);
  tyre->ground[1] -= tyre->radius - between(&seed, 0.0, 0.3);
  m->n_tyres = 1, m->tyres = d->tyres;
  for (size_t j = 0; j < m->n_joints; j++) {
    if (d->tree.joints[j].type != BRAMAH_JOINT_REVOLUTE) continue;
    d->brakes[0] = (bramah_brake){.name = "brake",
                                  .joint = d->tree.joints[j].name,
                                  .torque = between(&seed, 0.5, 5.0),
                                  .bristle_stiffness = between(&seed, 10.0, 100.0)};
    if (m->n_inputs && one_of(&seed, 2))
      d->brakes[0].command = (bramah_drive){.input = m->inputs[0].name, .initial = 2.0};
    m->n_brakes = 1, m->brakes = d->brakes;
  }
}

static void draw_shape(bramah_shape *shape, const double *place, unsigned *seed)
{
  static const double corners[15] = {-1, -1, -1, 1, -1, -0.8, 0, 1, -1, 0.2, 0.1, 1.2, 1, 1.2, 0.3};
  static double moved[2][15];
  static int turn;
  *shape = (bramah_shape){.kind = (bramah_shape_kind)(BRAMAH_SHAPE_SPHERE + (int)one_of(seed, 4)),
                          .radius = between(seed, 0.2, 0.4),
                          .n_corners = 5};
  shape->corners = moved[turn = 1 - turn];
  for (int k = 0; k < 3; k++) {
    shape->centre[k] = place[k], shape->size[k] = between(seed, 0.3, 0.7);
    for (int e = 0; e < 2; e++) shape->ends[e][k] = place[k] + (k == 2) * (e ? 0.3 : -0.3);
    for (int c = 0; c < 5; c++) moved[turn][3 * c + k] = place[k] + 0.3 * corners[3 * c + k];
  }
}

/* The first body and the last one have shapes of any kind that are about to touch. */
static void draw_shapes(drawn *d, unsigned seed)
{
  bramah_machine *m = &d->tree.machine;
  bramah_contact *contact = &d->contacts[m->n_contacts];
  if (m->n_bodies < 3) return;
  double local[3] = {test_uniform(&seed), test_uniform(&seed), 0.0}, place[3];
  d->between[0] = d->tree.names[0], d->between[1] = d->tree.names[m->n_bodies - 1];
  locate_in(m, d->between[1], local, d->between[0], place);
  draw_shape(&d->shapes[1], local, &seed);
  place[0] += between(&seed, 0.4, 0.6);
  draw_shape(&d->shapes[0], place, &seed);
  *contact = (bramah_contact){.name = "hit",
                              .n_between = 2,
                              .between = d->between,
                              .law = (bramah_contact_law)one_of(&seed, 2),
                              .stiffness = between(&seed, 50.0, 300.0),
                              .damping = between(&seed, 0.1, 1.0)};
  if (one_of(&seed, 2))
    contact->friction = (bramah_friction){
        .model = BRAMAH_FRICTION_LUGRE, .coulomb = between(&seed, 0.1, 0.5), .bristle_stiffness = 50.0};
  m->n_contacts++, m->contacts = d->contacts;
  d->tree.bodies[0].n_shapes = d->tree.bodies[m->n_bodies - 1].n_shapes = 1;
  d->tree.bodies[0].shapes = &d->shapes[0], d->tree.bodies[m->n_bodies - 1].shapes = &d->shapes[1];
}

/* An engine on the first joint that turns, a clutch from there to the others, and a torque on the last of them. */
static void draw_power(drawn *d, unsigned seed)
{
  static const double speeds[] = {-2.0, 0.5, 3.0}, torques[] = {1.0, 3.0, 0.0}, gears[] = {-2, 1, 3},
                      ratios[] = {-2.0, 3.0, 1.2};
  bramah_machine *m = &d->tree.machine;
  const char *first = NULL, *input = m->n_inputs ? m->inputs[0].name : NULL;
  size_t n = 0;
  for (size_t j = 0; j < m->n_joints && n < 8; j++) {
    if (d->tree.joints[j].type != BRAMAH_JOINT_REVOLUTE) continue;
    if (first) d->driven[n++] = d->tree.joints[j].name;
    if (!first) first = d->tree.joints[j].name;
  }
  if (!first) return;
  d->engines[0] = (bramah_engine){.name = "diesel",
                                  .joint = first,
                                  .n_points = 3,
                                  .speeds = speeds,
                                  .torques = torques,
                                  .friction = between(&seed, 0.0, 1.0),
                                  .idle_speed = between(&seed, 0.0, 0.5),
                                  .idle_band = 1.0,
                                  .consumption = 1e-6,
                                  .best_torque = 2.0,
                                  .best_speed = 1.0,
                                  .torque_loss = 0.3,
                                  .idle_fuel = 1e-7,
                                  .throttle = {.input = input}};
  d->clutches[0] = (bramah_clutch){.name = "clutch",
                                   .driving = first,
                                   .n_driven = n,
                                   .driven = d->driven,
                                   .torque = between(&seed, 0.5, 5.0),
                                   .stiffness = between(&seed, 10.0, 100.0),
                                   .command = {.input = input}};
  m->n_engines = 1, m->engines = d->engines;
  if (m->n_pumps) d->pumps[0].drive = (bramah_drive){.joint = first, .ratio = 2.0, .speed = 4.0};
  if (m->n_load_sensing_pumps && !d->load_sensing_pumps[0].drive.input)
    d->load_sensing_pumps[0].drive = (bramah_drive){.joint = first, .efficiency = 0.9};
  m->n_clutches = n > 0, m->clutches = d->clutches;
  if (!input) return;
  d->clutches[0].n_gears = 3, d->clutches[0].gears = gears, d->clutches[0].ratios = ratios;
  d->clutches[0].gear.input = m->inputs[m->n_inputs - 1].name;
  d->joint_torques[0] = (bramah_joint_torque){.name = "helper",
                                              .joint = n ? d->driven[n - 1] : first,
                                              .torque = between(&seed, 0.5, 2.0),
                                              .power = 1.0,
                                              .command = {.input = input, .time_constant = 0.05}};
  m->n_joint_torques = 1, m->joint_torques = d->joint_torques;
}

/* The first body floats, about upright, down onto four feet with friction or without. Every sixth machine, a tree. */
static int floats(unsigned number) { return number % 6 == 5; }

static void draw_floating(drawn *d, unsigned *seed)
{
  static const double feet[12] = {1.0, 1.0, -1.5, 1.0, -1.0, -1.5, -1.0, 1.0, -1.5, -1.0, -1.0, -1.5};
  bramah_machine *m = &d->tree.machine;
  bramah_joint *joint = &d->tree.joints[0];
  *joint = (bramah_joint){.name = joint->name,
                          .type = BRAMAH_JOINT_FLOATING,
                          .parent = joint->parent,
                          .child = joint->child,
                          .initial_positions = {0.0, 0.0, 1.5 + between(seed, -0.05, 0.05)}};
  for (int k = 3; k < 6; k++) joint->initial_positions[k] = 0.03 * test_uniform(seed);
  for (int k = 0; k < 6; k++) joint->initial_rates[k] = 0.3 * test_uniform(seed);
  memcpy(d->points, feet, sizeof feet);
  d->tree.bodies[0].mass *= 20.0;
  for (int k = 0; k < 6; k++) d->tree.bodies[0].inertia[k] *= 20.0;
  d->contacts[0] = (bramah_contact){.name = "feet",
                                    .body = d->tree.names[0],
                                    .n_points = 4,
                                    .points = d->points,
                                    .normal = {0.1 * test_uniform(seed), 0.1 * test_uniform(seed), 1.0},
                                    .law = (bramah_contact_law)one_of(seed, 2),
                                    .stiffness = between(seed, 2e3, 2e4),
                                    .damping = between(seed, 0.5, 3.0)};
  if (d->contacts[0].law == BRAMAH_CONTACT_PENALTY) d->contacts[0].damping *= 100.0;
  if (one_of(seed, 3))
    d->contacts[0].friction =
        (bramah_friction){.model = BRAMAH_FRICTION_LUGRE, .coulomb = between(seed, 0.3, 0.7)};
  m->n_contacts = 1, m->contacts = d->contacts;
  m->n_joint_springs = 0;
}

/* ---- hydraulics ---- */

static void draw_actuator(drawn *d, size_t i, unsigned *seed)
{
  static const double spools[] = {-10, -1, 1, 10}, openings[] = {-8, 0, 0, 9};
  static const bramah_friction_model models[] = {
      BRAMAH_FRICTION_NONE,    BRAMAH_FRICTION_BROWN_MCPHEE, BRAMAH_FRICTION_BENGISU_AKAY,
      BRAMAH_FRICTION_VISCOUS, BRAMAH_FRICTION_LUGRE,        BRAMAH_FRICTION_MODIFIED_LUGRE};
  const char *body = d->tree.names[one_of(seed, d->tree.machine.n_bodies)];
  d->cylinders[i] = (bramah_cylinder){.name = actuator_names[i],
                                      .body = {"ground", body},
                                      .point = {{-3.0, 2.0, 0.0}, {0.4, -0.2, 0.0}},
                                      .piston_volume = volume_names[2 * i],
                                      .rod_volume = volume_names[2 * i + 1],
                                      .piston_area = 2e-5,
                                      .rod_area = 1.3e-5,
                                      .bulk_modulus = 3e10,
                                      .reference_stroke = 4.0,
                                      .piston_chamber_length = 20.0,
                                      .rod_chamber_length = 20.0};
  d->cylinders[i].friction = (bramah_friction){.model = models[one_of(seed, sizeof models / sizeof *models)],
                                               .coulomb = 2.0,
                                               .static_force = 5.0,
                                               .stribeck_velocity = 0.05,
                                               .viscous = 10.0,
                                               .decay = 20.0,
                                               .bristle_stiffness = 5e3,
                                               .bristle_damping = 50.0,
                                               .stribeck_exponent = 1.5,
                                               .film_velocity = 0.5,
                                               .film_time_rising = 0.1,
                                               .film_time_falling = 0.3,
                                               .film_time_dwell = 1.0};
  for (size_t side = 0; side < 2; side++) {
    d->hoses[2 * i + side] = (bramah_hose){between(seed, 1e-5, 1e-4), 5e8};
    d->volumes[2 * i + side] = (bramah_volume){.name = volume_names[2 * i + side],
                                               .n_hoses = 1,
                                               .hoses = &d->hoses[2 * i + side],
                                               .initial_pressure = between(seed, 1e6, 4e6)};
  }
  d->inputs[i] = (bramah_input){.name = actuator_names[i]};
  d->valves[i] = (bramah_valve){.name = actuator_names[i],
                                .pump = "pump",
                                .tank = "tank",
                                .a = volume_names[2 * i],
                                .b = volume_names[2 * i + 1],
                                .flow_coefficient = 2e-9,
                                .time_constant = 0.01,
                                .limit = 10.0,
                                .input = actuator_names[i]};
  const size_t kind = one_of(seed, 4);
  if (kind == 1) d->valves[i].dead_band = 0.5;
  if (kind == 2) d->valves[i].characteristic = (bramah_characteristic){4, spools, openings};
  if (kind == 3)
    d->valves[i].ports[BRAMAH_PORT_B_TANK] = (bramah_characteristic){2, spools + 2, openings + 2};
}

/* Quasistatic actuators on one line; the first may regenerate. */
static void draw_metered(drawn *d, unsigned *seed)
{
  static const char *const names[MOST_METERED] = {"tilt", "grip"};
  bramah_machine *m = &d->tree.machine;
  m->n_metered_cylinders = 1 + one_of(seed, MOST_METERED), m->metered_cylinders = d->metered;
  m->n_pump_lines = 1, m->pump_lines = d->pump_lines;
  d->pump_lines[0] = (bramah_pump_line){
      .name = "line", .tank = "tank", .flow = between(seed, 2e-6, 4e-5), .set_pressure = 7e6};
  if (one_of(seed, 2)) d->pump_lines[0].unloading = (bramah_metering_valve){2e-9, 0.5, NULL, 0.0, 0.0};
  for (size_t i = 0; i < m->n_metered_cylinders; i++) {
    d->inputs[m->n_inputs] = (bramah_input){.name = names[i]};
    d->metered[i] = (bramah_metered_cylinder){
        .name = names[i],
        .body = {"ground", d->tree.names[one_of(seed, m->n_bodies)]},
        .point = {{-3.0, -2.0, 0.0}, {0.2, 0.3, 0.0}},
        .pump_line = "line",
        .piston_area = 2e-5,
        .rod_area = 1.3e-5,
        .piston_relief = 1e7,
        .rod_relief = 9e6,
        .flow_coefficient = {2e-9, 2e-9, 2e-9, 2e-9},
        .spool = {.limit = 10.0, .time_constant = 0.01, .input = d->inputs[m->n_inputs++].name},
        .stiffness = between(seed, 1e4, 1e5),
        .damping = between(seed, 5e2, 2e3),
        .load_pressure = between(seed, -1e6, 1e6)};
    if (i == 0 && one_of(seed, 2))
      d->metered[i].regeneration = (bramah_metering_valve){1e-9, 0.5, NULL, 0.0, 0.0};
  }
}

/* The valves on a load-sensing pump, with compensators or without. */
static void draw_load_sensing(drawn *d, unsigned *seed)
{
  bramah_machine *m = &d->tree.machine;
  d->hoses[m->n_volumes] = (bramah_hose){between(seed, 1e-4, 1e-3), 5e8};
  d->volumes[m->n_volumes] = (bramah_volume){.name = volume_names[MOST_VOLUMES - 1],
                                             .n_hoses = 1,
                                             .hoses = &d->hoses[m->n_volumes],
                                             .initial_pressure = between(seed, 4e6, 8e6)};
  m->n_volumes++;
  for (size_t i = 0; i < m->n_valves; i++) {
    d->valves[i].pump = volume_names[MOST_VOLUMES - 1];
    d->valves[i].compensator = (bramah_compensator)one_of(seed, 3);
    if (d->valves[i].compensator == BRAMAH_COMPENSATOR_BEFORE)
      d->valves[i].compensator_pressure = between(seed, 3e5, 1e6);
  }
  d->load_sensing_pumps[0] = (bramah_load_sensing_pump){.name = "ls",
                                                        .from = "tank",
                                                        .into = volume_names[MOST_VOLUMES - 1],
                                                        .displacement = 1e-6,
                                                        .speed = between(seed, 10.0, 100.0),
                                                        .margin = between(seed, 8e5, 2e6),
                                                        .band = between(seed, 5e5, 2e6),
                                                        .time_constant = between(seed, 0.05, 0.2)};
  if (one_of(seed, 2)) d->load_sensing_pumps[0].cut_off = 5e6;
  if (one_of(seed, 2)) d->load_sensing_pumps[0].torque_limit = 3.0;
  m->n_load_sensing_pumps = 1, m->load_sensing_pumps = d->load_sensing_pumps;
  if (one_of(seed, 2)) { /* an engine turns all pumps */
    const bramah_drive drive = {
        .input = "engine", .limit = 6.0, .time_constant = one_of(seed, 2) ? 0.05 : 0.0, .initial = 3.0};
    d->inputs[m->n_inputs++] = (bramah_input){.name = "engine"};
    d->pumps[0].drive = d->load_sensing_pumps[0].drive = drive;
  }
}

/* Valves with a pilot, at both volumes of the first cylinder. */
static void draw_piloted(drawn *d, unsigned *seed)
{
  bramah_machine *m = &d->tree.machine;
  d->overcentre_valves[0] = (bramah_overcentre_valve){.name = "oc",
                                                      .load = "a0",
                                                      .valve = "tank",
                                                      .pilot = "b0",
                                                      .flow_coefficient = 1e-9,
                                                      .set_pressure = between(seed, 3e6, 1.5e7),
                                                      .override = 2e6,
                                                      .pilot_ratio = between(seed, 1.0, 5.0)};
  d->pilot_check_valves[0] = (bramah_pilot_check_valve){.name = "pc",
                                                        .from = one_of(seed, 2) ? "a0" : "tank",
                                                        .to = "b0",
                                                        .pilot = one_of(seed, 2) ? "a0" : "pump",
                                                        .flow_coefficient = 1e-9,
                                                        .cracking_pressure = 1e5,
                                                        .pilot_ratio = between(seed, 0.3, 3.0),
                                                        .override = 2e6};
  m->n_overcentre_valves = one_of(seed, 2), m->overcentre_valves = d->overcentre_valves;
  m->n_pilot_check_valves = one_of(seed, 2), m->pilot_check_valves = d->pilot_check_valves;
}

static void draw_hydraulics(drawn *d, unsigned *seed)
{
  bramah_machine *m = &d->tree.machine;
  const size_t n = one_of(seed, MOST_ACTUATORS + 1);
  m->oil_bulk_modulus = 1.5e9, m->transition_pressure = 2e5;
  d->supplies[0] = (bramah_supply){.name = "pump", .pressure = 7e6};
  d->supplies[1] = (bramah_supply){.name = "tank", .pressure = 1e5};
  m->n_supplies = 2, m->supplies = d->supplies, m->inputs = d->inputs;
  if (n == 0) return;
  for (size_t i = 0; i < n; i++) draw_actuator(d, i, seed);
  m->n_volumes = 2 * n, m->volumes = d->volumes;
  m->n_valves = m->n_cylinders = m->n_inputs = n;
  m->valves = d->valves, m->cylinders = d->cylinders;
  const char *from = volume_names[one_of(seed, 2 * n)], *to = volume_names[one_of(seed, 2 * n)];
  if (from == to) to = "tank";
  d->orifices[0] = (bramah_orifice){.name = "o", .from = from, .to = to, .flow_coefficient = 1e-9};
  d->leakages[0] = (bramah_leakage){.name = "k", .from = from, .to = to, .conductance = 1e-13};
  d->check_valves[0] = (bramah_check_valve){
      .name = "c", .from = from, .to = to, .flow_coefficient = 1e-9, .cracking_pressure = 1e5};
  d->relief_valves[0] = (bramah_relief_valve){.name = "r",
                                              .from = from,
                                              .to = "tank",
                                              .flow_coefficient = 3e-9,
                                              .set_pressure = 3e6,
                                              .override = 1e6};
  d->pumps[0] = (bramah_pump){
      .name = "u", .from = "tank", .into = from, .flow = 1e-6, .set_pressure = 5e6, .band = 1e6};
  d->accumulators[0] =
      (bramah_accumulator){.name = "g", .volume = from, .gas_volume = 1e-4, .precharge = 2e6};
  d->lines[0] = (bramah_inertial_line){.name = "i",
                                       .from = from,
                                       .to = to,
                                       .length = 3.0,
                                       .diameter = 0.008,
                                       .density = 850.0,
                                       .viscosity = 0.03};
  m->orifices = d->orifices, m->leakages = d->leakages, m->check_valves = d->check_valves;
  m->relief_valves = d->relief_valves, m->pumps = d->pumps, m->accumulators = d->accumulators,
  m->lines = d->lines;
  size_t *const counts[] = {&m->n_orifices, &m->n_leakages,     &m->n_check_valves, &m->n_relief_valves,
                            &m->n_pumps,    &m->n_accumulators, &m->n_lines};
  for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) *counts[i] = one_of(seed, 3) == 0;
  if (one_of(seed, 4) == 0) m->air = (bramah_air){.fraction = 0.005, .exponent = 1.4};
}

/* ---- as C source ---- */

/* What a run is given, and where it comes out as long as the source can follow. */
typedef struct source_run {
  char folder[SCRATCH_NAME];
  bramah_c_source source;
  FILE *in;
  size_t n, n_plain; /* numbers of a row; rows */
  double *expected;  /* [steps x n] */
  size_t joints, volumes;
  double base[4]; /* that the spherical joint, if any, counts from at the start */
} source_run;

static void begin_source(source_run *r, const bramah_program *program, const bramah_coupled *c, int steps)
{
  const bramah_model *model = c->model;
  bramah_diag diag;
  *r = (source_run){.n = 2 * model->n + model->n_first_order, .joints = model->n};
  r->volumes = model->n_first_order;
  memcpy(r->base, c->state.base, model->n_balls * sizeof r->base);
  must(bramah_program_c_source(program, c, "m", BRAMAH_PRECISION_DOUBLE, &diag, &r->source), &diag);
  ck_assert(scratch_folder(r->folder));
  r->in = in_folder(r->folder, "in", "wb");
  r->expected = calloc((size_t)steps * r->n, sizeof *r->expected);
}

/* A step that the plant has made. */
static void add_step(source_run *r, const bramah_coupled *c, const double *u, size_t n_input)
{
  if (!r->in) return;
  fwrite(u, sizeof *u, n_input, r->in);
  fwrite(c->state.theta, sizeof(double), c->model->n_parameters, r->in);
  if (!is_plain(c) || memcmp(r->base, c->state.base, c->model->n_balls * sizeof r->base) != 0) return;
  double *row = r->expected + r->n_plain++ * r->n;
  memcpy(row, c->state.z, r->joints * sizeof *row);
  memcpy(row + r->joints, c->state.zd, r->joints * sizeof *row);
  memcpy(row + 2 * r->joints, c->state.p, r->volumes * sizeof *row);
}

/* The largest relative difference; steps that were compared are counted. */
static double end_source(source_run *r, uint64_t *compared)
{
  double worst = 0.0, size = 0.0, row[2 * (MOST_BODIES + 5) + MOST_STATES];
  if (!r->in) return 0.0;
  ck_assert_int_eq(fclose(r->in), 0);
  compile_and_run(r->folder, &r->source, step_driver, "-O0");
  FILE *out = in_folder(r->folder, "out", "rb");
  for (size_t k = 0; k < r->n_plain; k++) {
    const double *x = r->expected + k * r->n;
    ck_assert_uint_eq(fread(row, sizeof *row, r->n + 1, out), r->n + 1);
    ck_assert_msg(row[0] >= 0.0, "step %zu: status %g", k, row[0]);
    for (size_t i = 0; i < r->n; i++) {
      size = fmax(i < 2 * r->joints ? 1.0 : 1e6, fabs(x[i]));
      worst = fmax(worst, fabs(row[1 + i] - x[i]) / size);
    }
  }
  *compared += r->n_plain;
  fclose(out);
  remove_folder(r->folder);
  free(r->expected);
  bramah_c_source_free(&r->source);
  return worst;
}

/* ---- both ways ---- */

static void draw(drawn *d, unsigned number)
{
  unsigned seed = 77u * number + 5u;
  test_uniform(&seed);
  const int drawn_planar = one_of(&seed, 2) == 0, drawn_loop = one_of(&seed, 2) == 0;
  const int planar = drawn_planar && !floats(number), loop = drawn_loop && !floats(number);
  const size_t least = !loop ? 1 : planar ? 3 : 4;
  memset(d, 0, sizeof *d);
  spatial_tree_describe(&d->tree, least + one_of(&seed, MOST_BODIES + 1 - least), number);
  d->tree.machine.integrator.position_tolerance = 1e-11;
  d->tree.machine.integrator.pressure_tolerance = 1e-5;
  d->tree.machine.integrator.tolerance = 1e-2;
  if (planar) flatten(d);
  if (!planar && d->tree.machine.n_bodies > 2 && number % 3 == 0) draw_ball(d, &seed);
  if (loop) draw_loop(d, planar, &seed);
  draw_forces(d, &seed);
  if (floats(number)) draw_floating(d, &seed);
  draw_hydraulics(d, &seed);
  if (one_of(&seed, 3) == 0) draw_metered(d, &seed);
  if (one_of(&seed, 4) == 0 && !floats(number)) draw_motion(d, &seed);
  if (d->tree.machine.n_valves && one_of(&seed, 2)) draw_load_sensing(d, &seed);
  if (d->tree.machine.n_valves) draw_piloted(d, &seed);
  if (one_of(&seed, 3) == 0 && !floats(number)) draw_touch(d, &seed);
  if (number % 5 == 2 && !floats(number)) draw_tyre(d, seed);
  if (number % 3 == 1) draw_power(d, seed);
  if (number % 4 == 2) draw_shapes(d, seed);
}

enum { TAKEN_OVER = 5 }; /* at this step native code comes */

/* Largest relative difference of positions, rates and pressures over the steps; NaN where no machine came out, or where
 * neither way goes on. */
static double apart(unsigned number, int steps, int as_source, int as_native, bramah_step_report *report,
                    uint64_t *compared)
{
  drawn d;
  bramah_diag diag = {0};
  const bramah_model *model;
  bramah_program *program = NULL, *native = NULL;
  bramah_coupled *c[3]; /* without, by the program, by native code */
  bramah_plant plant[3];
  const int ways = as_native ? 3 : 2;
  double worst = 0.0, size[MOST_STATES], x[3][MOST_STATES], u[MOST_INPUTS];
  draw(&d, number);
  if (bramah_model_new(&d.tree.machine, &diag, &model) != BRAMAH_OK) return NAN;
  const bramah_status compiled = bramah_program_new(model, &diag, &program);
  ck_assert_msg(compiled == BRAMAH_OK, "machine %u: %s: %s", number, diag.thing, diag.message);
  if (number % 4 == 3 || steps > 100)
    must(bramah_program_add_bases(program, &diag), &diag); /* takes its time */
  for (int w = 0; w < ways; w++) {
    must(bramah_coupled_new(model, &diag, &c[w]), &diag);
    plant[w] = bramah_coupled_plant(c[w]);
  }
  must(bramah_coupled_use(c[1], program, &diag), &diag);
  if (as_native) {
    must(bramah_program_new_for(model, BRAMAH_PROGRAM_STEPS, 0, NULL, &diag, &native), &diag);
    if (program->next) must(bramah_program_add_bases(native, &diag), &diag);
    must(bramah_coupled_use(c[2], native, &diag), &diag);
  }
  source_run source = {.in = NULL};
  if (as_source && !model->n_meetings) begin_source(&source, program, c[1], steps);
  const size_t ne = bramah_plant_n_error(plant), nq = 2 * plant->n_dof;
  /* Load pressures go by that of the line: next to closed valves the actuators find their velocities to the root of
   * rounding. And they hold what is left of a loop's gap, within its tolerance: a program closes it wholly where commands
   * leap, the plant does not, and each time that is as much of a stroke times the stiffness. */
  for (size_t i = 0; i < ne; i++) {
    bramah_state_info info;
    bramah_plant_state_info(plant, i, &info);
    size[i] = i < nq ? 1.0 : i < ne - d.tree.machine.n_metered_cylinders ? 1e6 : d.pump_lines[0].set_pressure;
    if (strcmp(info.unit, "m^3/s") == 0) size[i] = info.scale;
  }
  for (size_t k = 0; k < model->circuit.n_metered && model->n_loops; k++) {
    const double gap = 10.0 * bramah__load_stiffness(&model->circuit, k) * model->closure_tolerance;
    double *of = &size[nq + model->circuit.metered_port[k].volume];
    *of = fmax(*of, 1e9 * gap);
  }
  for (int k = 0; k < steps; k++) {
    bramah_status status[3];
    if (as_native && k == TAKEN_OVER) use_asked_native(native);
    for (int i = 0; i < MOST_INPUTS; i++) u[i] = 5.0 * sin(0.03 * k + i);
    for (int w = 0; w < ways; w++) {
      must(plant[w].set_inputs(plant[w].self, u, &diag), &diag);
      status[w] = plant[w].step(plant[w].self, &diag);
      bramah_plant_coordinates(&plant[w], x[w]);
    }
    ck_assert_msg(status[0] == status[1], "machine %u, step %d: %d and %d", number, k, status[0], status[1]);
    ck_assert_msg(!as_native || (status[2] == status[1] && memcmp(x[2], x[1], ne * sizeof(double)) == 0),
                  "machine %u, step %d: native code has other bits", number, k);
    if (status[0] != BRAMAH_OK) break;
    add_step(&source, c[1], u, plant->n_input);
    /* Where Newton's iteration fails, as where an accumulator runs empty, rounding decides into how many parts the step
     * falls. */
    if (bramah_coupled_report(c[0]).unconverged + bramah_coupled_report(c[1]).unconverged > 0) break;
    for (size_t i = 0; i < ne; i++) {
      size[i] = fmax(size[i], fabs(x[0][i]));
      const double relative = fabs(x[0][i] - x[1][i]) / size[i];
      if (!(relative <= worst)) worst = relative;
    }
  }
  *report = bramah_coupled_report(c[1]);
  worst = fmax(worst, end_source(&source, compared));
  for (int w = 0; w < ways; w++) bramah_coupled_free(c[w]);
  bramah_program_free(native);
  bramah_program_free(program);
  bramah_model_free(model);
  return worst;
}

TEST(test_machines)
{
  const char *asked = getenv("BRAMAH_MACHINES");
  const unsigned n = asked ? (unsigned)atoi(asked) : 12;
  const int steps = asked ? 1000 : 100;
  unsigned made = 0, left = 0;
  uint64_t compiled = 0, all = 0, divergence = 0, pivot = 0, basis = 0, source = 0;
  for (unsigned i = 0; i < n; i++) {
    bramah_step_report report = {0};
    const double worst =
        apart(i, steps, asked || (i % 2 == 1 && i < 10), asked || i == 2 || i == 5, &report, &source);
    made += isnan(worst) ? 0 : 1;
    if (isnan(worst)) continue;
    ck_assert_msg(worst < 1e-9, "machine %u: %.1e", i, worst);
    compiled += report.compiled, divergence += report.left_divergence, pivot += report.left_pivot,
        basis += report.left_basis;
    all += report.compiled + report.left_divergence + report.left_pivot + report.left_basis;
    left += report.compiled == 0;
  }
  if (asked)
    printf("%u machines, %lu steps by programs; left to the plant %lu for the basis, %lu for a pivot, %lu "
           "for divergence; %lu steps as C source\n",
           made, (unsigned long)compiled, (unsigned long)basis, (unsigned long)pivot,
           (unsigned long)divergence, (unsigned long)source);
  ck_assert_uint_ge(made, 3 * n / 4);
  ck_assert_uint_le(left, n / 20);
  ck_assert_uint_ge(10 * compiled, 9 * all);
  ck_assert_uint_ge(source, asked ? 2 * compiled / 3 : 400);
}

int main(void) { return run_tests("random machines"); }
