/* SPDX-License-Identifier: MIT */
#include "test/support/four_bar.h"
#include "lib/math/dense.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double degree = 3.14159265358979323846 / 180.0;
static const double pi = 3.14159265358979323846;

static bramah_body rod(const char *name, double mass, double length)
{
  const double I = mass * length * length / 12.0;
  return (bramah_body){
      .name = name, .mass = mass, .centre_of_mass = {length / 2.0, 0, 0}, .inertia = {0, I, I}};
}

static bramah_joint pin(const char *name, const char *parent, double x, double angle, bramah_initial initial)
{
  return (bramah_joint){.name = name,
                        .type = BRAMAH_JOINT_REVOLUTE,
                        .parent = parent,
                        .child = name,
                        .position = {x, 0, 0},
                        .axis = {0, 0, 1},
                        .initial_position = angle,
                        .initial = initial};
}

static void describe_mechanism(four_bar *out)
{
  out->bodies[0] = rod("crank", 16.0, 2.0);
  out->bodies[1] = rod("coupler", 64.0, 8.0);
  out->bodies[2] = rod("rocker", 40.0, 5.0);
  out->joints[0] = pin("crank", "ground", 0.0, 60.0 * degree, BRAMAH_INITIAL_GIVEN);
  out->joints[1] = pin("coupler", "crank", 2.0, -37.90 * degree, BRAMAH_INITIAL_GUESS);
  out->joints[2] = pin("rocker", "coupler", 8.0, -93.58 * degree, BRAMAH_INITIAL_GUESS);
  out->loops[0] = (bramah_loop){.name = "pivot",
                                .type = BRAMAH_LOOP_REVOLUTE,
                                .body = {"rocker", "ground"},
                                .point = {{5, 0, 0}, {10, 0, 0}},
                                .axis = {{0, 0, 1}, {0, 0, 1}}};
}

static bramah_friction four_bar_friction(bramah_friction_model model, double scale)
{
  return (bramah_friction){.model = model,
                           .coulomb = 210.0 * scale,
                           .static_force = 830.0 * scale,
                           .stribeck_velocity = 0.0125,
                           .viscous = 330.0 * scale,
                           .decay = 50.0,
                           .bristle_stiffness = 5.4e7,
                           .bristle_damping = 1e5,
                           .stribeck_exponent = 0.5,
                           .film_velocity = 0.7,
                           .film_time_rising = 0.25,
                           .film_time_falling = 1.5,
                           .film_time_dwell = 40.0};
}

void four_bar_set_friction(four_bar *fb, bramah_friction_model model)
{
  fb->cylinders[0].friction = four_bar_friction(model, 1.0);
}

static void describe_hydraulics(four_bar *out, double friction)
{
  static const double hose_volume[3] = {4.71e-5, 3.14e-5, 7.85e-5};
  static const char *const volume[3] = {"v1", "v2", "v3"};
  out->supplies[0] = (bramah_supply){.name = "pump", .pressure = 7.6e6};
  out->supplies[1] = (bramah_supply){.name = "tank", .pressure = 1e5};
  for (int i = 0; i < 3; i++) {
    out->hoses[i] = (bramah_hose){hose_volume[i], 5.5e8};
    out->volumes[i] = (bramah_volume){.name = volume[i],
                                      .n_hoses = 1,
                                      .hoses = &out->hoses[i],
                                      .initial_pressure = i < 2 ? 2965604.527353115 : 3.5e6};
  }
  out->orifices[0] = (bramah_orifice){
      .name = "orifice", .from = "v1", .to = "v2", .flow_coefficient = 0.8 * 2.83e-5 * sqrt(2.0 / 850.0)};
  out->valves[0] = (bramah_valve){.name = "valve",
                                  .pump = "pump",
                                  .tank = "tank",
                                  .a = "v1",
                                  .b = "v3",
                                  .flow_coefficient = 2.138e-8,
                                  .time_constant = 0.0045,
                                  .limit = 10.0,
                                  .input = "valve"};
  out->cylinders[0] =
      (bramah_cylinder){.name = "lift",
                        .body = {"ground", "crank"},
                        .point = {{-1, 0, 0}, {1, 0, 0}},
                        .piston_volume = "v2",
                        .rod_volume = "v3",
                        .piston_area = pi / 4.0 * 0.08 * 0.08,
                        .rod_area = pi / 4.0 * (0.08 * 0.08 - 0.035 * 0.035),
                        .bulk_modulus = 3.15e10,
                        .reference_stroke = 1.7320508075688772,
                        .piston_chamber_length = 0.3,
                        .rod_chamber_length = 0.6,
                        .friction = four_bar_friction(BRAMAH_FRICTION_BROWN_MCPHEE, friction)};
  out->inputs[0] = (bramah_input){.name = "valve"};
}

void four_bar_describe(four_bar *out, double friction, int64_t step_ns)
{
  memset(out, 0, sizeof *out);
  describe_mechanism(out);
  describe_hydraulics(out, friction);
  out->machine = (bramah_machine){.name = "four-bar",
                                  .gravity = {0, -9.81, 0},
                                  .oil_bulk_modulus = 1.5e9,
                                  .transition_pressure = 2e5,
                                  .n_bodies = 3,
                                  .bodies = out->bodies,
                                  .n_joints = 3,
                                  .joints = out->joints,
                                  .n_loops = 1,
                                  .loops = out->loops,
                                  .n_supplies = 2,
                                  .supplies = out->supplies,
                                  .n_volumes = 3,
                                  .volumes = out->volumes,
                                  .n_orifices = 1,
                                  .orifices = out->orifices,
                                  .n_valves = 1,
                                  .valves = out->valves,
                                  .n_cylinders = 1,
                                  .cylinders = out->cylinders,
                                  .n_inputs = 1,
                                  .inputs = out->inputs,
                                  .integrator = {.step_ns = step_ns}};
}

double four_bar_command(int64_t time_ns)
{
  const int64_t ms = 1000000;
  if (time_ns < 1000 * ms) return 0.0;
  if (time_ns < 2500 * ms) return 10.0;
  if (time_ns < 5000 * ms) return 0.0;
  return time_ns < 8000 * ms ? -10.0 : 0.0;
}

double test_uniform(unsigned *seed)
{
  *seed = *seed * 1664525u + 1013904223u;
  return (double)*seed / 2147483648.0 - 1.0;
}

double test_normal(unsigned *seed)
{
  double sum = 0.0;
  for (int i = 0; i < 12; i++) sum += test_uniform(seed);
  return 0.5 * sum;
}

/* A tensor that a real body could have: second moments A A' turned into inertia. */
static void random_inertia(double *inertia, unsigned *seed)
{
  double A[3][3], S[3][3];
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) A[i][j] = test_uniform(seed);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) S[i][j] = A[i][0] * A[j][0] + A[i][1] * A[j][1] + A[i][2] * A[j][2];
  const double trace = S[0][0] + S[1][1] + S[2][2];
  for (int i = 0; i < 3; i++) inertia[i] = trace - S[i][i];
  inertia[3] = -S[0][1];
  inertia[4] = -S[0][2];
  inertia[5] = -S[1][2];
}

static void random_rotation(double *R, unsigned *seed)
{
  double q[4], norm = 0.0;
  for (int i = 0; i < 4; i++) q[i] = test_uniform(seed), norm += q[i] * q[i];
  for (int i = 0; i < 4; i++) q[i] /= sqrt(norm);
  const double w = q[0], x = q[1], y = q[2], z = q[3];
  const double full[9] = {1 - 2 * (y * y + z * z), 2 * (x * y - w * z),     2 * (x * z + w * y),
                          2 * (x * y + w * z),     1 - 2 * (x * x + z * z), 2 * (y * z - w * x),
                          2 * (x * z - w * y),     2 * (y * z + w * x),     1 - 2 * (x * x + y * y)};
  memcpy(R, full, sizeof full);
}

void spatial_tree_describe(spatial_tree *out, size_t n, unsigned seed)
{
  memset(out, 0, sizeof *out);
  for (size_t i = 0; i < n; i++) {
    bramah_body *body = &out->bodies[i];
    bramah_joint *joint = &out->joints[i];
    snprintf(out->names[i], sizeof out->names[i], "b%zu", i);
    body->name = joint->name = joint->child = out->names[i];
    joint->parent =
        i == 0 ? "ground" : out->names[i % 4 == 3 ? i - 2 : i - 1]; /* every fourth makes a branch */
    joint->type = i % 3 == 2 ? BRAMAH_JOINT_PRISMATIC : BRAMAH_JOINT_REVOLUTE;
    body->mass = 1.5 + test_uniform(&seed);
    random_inertia(body->inertia, &seed);
    random_rotation(joint->rotation, &seed);
    for (int k = 0; k < 3; k++) {
      body->centre_of_mass[k] = test_uniform(&seed);
      joint->position[k] = test_uniform(&seed);
      joint->axis[k] = test_uniform(&seed);
    }
    joint->initial_position = test_uniform(&seed);
    joint->initial_rate = test_uniform(&seed);
  }
  out->machine = (bramah_machine){.name = "tree",
                                  .gravity = {0.3, -0.2, -9.7},
                                  .n_bodies = n,
                                  .bodies = out->bodies,
                                  .n_joints = n,
                                  .joints = out->joints,
                                  .integrator = {.step_ns = 1000000}};
}

void crank_slider_describe(crank_slider *out, double scale, int64_t step_ns)
{
  memset(out, 0, sizeof *out);
  out->bodies[0] = rod("crank", 2.0, 0.3 * scale);
  out->bodies[1] = rod("rod", 1.0, 1.0 * scale);
  out->bodies[2] = (bramah_body){.name = "block", .mass = 3.0, .inertia = {0.01, 0.01, 0.01}};
  out->joints[0] = pin("crank", "ground", 0.0, 40.0 * degree, BRAMAH_INITIAL_GIVEN);
  out->joints[1] = pin("rod", "crank", 0.3 * scale, -50.0 * degree, BRAMAH_INITIAL_GUESS);
  out->joints[2] = (bramah_joint){.name = "block",
                                  .type = BRAMAH_JOINT_PRISMATIC,
                                  .parent = "ground",
                                  .child = "block",
                                  .axis = {1, 0, 0},
                                  .initial_position = 1.2 * scale};
  out->joints[0].initial_rate = 6.0;
  out->loops[0] = (bramah_loop){.name = "wrist",
                                .type = BRAMAH_LOOP_REVOLUTE,
                                .body = {"rod", "block"},
                                .point = {{scale, 0, 0}, {0, 0, 0}},
                                .axis = {{0, 0, 1}, {0, 0, 1}}};
  out->machine = (bramah_machine){.name = "crank and slider",
                                  .gravity = {0, -9.81, 0},
                                  .n_bodies = 3,
                                  .bodies = out->bodies,
                                  .n_joints = 3,
                                  .joints = out->joints,
                                  .n_loops = 1,
                                  .loops = out->loops,
                                  .integrator = {.step_ns = step_ns}};
}

void must(bramah_status status, const bramah_diag *diag)
{
  if (status == BRAMAH_OK) return;
  char text[1024];
  bramah_diag_format(diag, text, sizeof text);
  fprintf(stderr, "%s: %s\n", bramah_status_name(status), text);
  exit(1);
}

size_t must_find(const bramah_plant *plant, const char *name)
{
  const long i = bramah_plant_find_output(plant, name);
  if (i >= 0) return (size_t)i;
  fprintf(stderr, "the plant has no output '%s'\n", name);
  exit(1);
}

size_t must_find_parameter(const bramah_plant *plant, const char *name)
{
  bramah_diag diag;
  size_t i = 0;
  must(bramah_plant_parameter_index(plant, name, &i, &diag), &diag);
  return i;
}

/* ---- rigs and random numbers ---- */

const bramah_sensor_options four_bar_sensors[5] = {
    {.name = "encoder", .kind = BRAMAH_SENSOR_ENCODER, .at = "crank", .sigma = 0.01745},
    {.name = "gyro", .kind = BRAMAH_SENSOR_GYRO, .at = "crank", .axis = {0, 0, 1}, .sigma = 9.84e-4},
    {.name = "p1", .kind = BRAMAH_SENSOR_PRESSURE, .at = "v1", .sigma = 5e4},
    {.name = "p2", .kind = BRAMAH_SENSOR_PRESSURE, .at = "v2", .sigma = 5e4},
    {.name = "p3", .kind = BRAMAH_SENSOR_PRESSURE, .at = "v3", .sigma = 5e4}};

void four_bar_open(four_bar_rig *rig, double friction, double angle_deg)
{
  bramah_diag diag;
  const size_t crank = 0;
  const double angle = angle_deg * degree, rest = 0.0;
  four_bar_describe(&rig->fb, friction, 1000000);
  must(bramah_model_new(&rig->fb.machine, &diag, &rig->model), &diag);
  must(bramah_coupled_new(rig->model, &diag, &rig->c), &diag);
  must(bramah_coupled_start(rig->c, 1, &crank, &angle, &rest, NULL, &diag), &diag);
  rig->plant = bramah_coupled_plant(rig->c);
}

void four_bar_close(four_bar_rig *rig)
{
  bramah_coupled_free(rig->c);
  bramah_model_free(rig->model);
}

enum { MOST_NORMALS = 32 };

static void must_fit(size_t n)
{
  if (n <= MOST_NORMALS) return;
  fprintf(stderr, "test_normals: more than %d\n", (int)MOST_NORMALS);
  exit(EXIT_FAILURE);
}

void test_normals(size_t n, size_t q, const double *L, unsigned *seed, double *x)
{
  double xi[MOST_NORMALS];
  must_fit(q);
  for (size_t k = 0; k < q; k++) xi[k] = test_normal(seed);
  bramah__apply(n, q, L, xi, x);
}

void test_draw(size_t n, const double *P, unsigned *seed, double *x)
{
  double L[MOST_NORMALS * MOST_NORMALS];
  must_fit(n);
  memcpy(L, P, n * n * sizeof *L);
  if (bramah__cholesky_factor(n, L)) {
    fprintf(stderr, "test_draw: not positive definite\n");
    exit(EXIT_FAILURE);
  }
  for (size_t r = 0; r < n; r++)
    for (size_t k = r + 1; k < n; k++) L[r * n + k] = 0.0;
  test_normals(n, n, L, seed, x);
}
