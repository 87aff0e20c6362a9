/* SPDX-License-Identifier: MIT */
/* Every derivative of the plant against central differences: of the stroke, of the outputs, of the
 * accelerations, of the residual of the step. */
#include "lib/plant/plant_table.h"
#include "lib/plant/residual_derivative.h"
#include "test/support/metered_bar.h"
#include "test/support/run.h"
#include "test/support/running.h"

#include <float.h>
#include <math.h>
#include <string.h>

static bramah_diag diag;
static four_bar fb;
static const bramah_model *model;
static bramah_coupled *c;
static bramah_plant plant;

/* The four-bar in motion: 40 ms after the valve opened. */
static void start_moving(void)
{
  must(bramah_model_new(&fb.machine, &diag, &model), &diag);
  must(bramah_coupled_new(model, &diag, &c), &diag);
  plant = bramah_coupled_plant(c);
  const double u = 10.0;
  must(plant.set_inputs(plant.self, &u, &diag), &diag);
  for (int i = 0; i < 40; i++) must(plant.step(plant.self, &diag), &diag);
  must(bramah__refresh(c, &diag), &diag);
}

static void setup(void)
{
  four_bar_describe(&fb, 1.0, 1000000);
  start_moving();
}

static void teardown(void)
{
  bramah_coupled_free(c);
  bramah_model_free(model);
}

/* Two branches of a spatial tree and a line between them. */
typedef struct spatial {
  spatial_tree description;
  const bramah_model *model;
  bramah_coupled *c;
  bramah__line line;
} spatial;

static void spatial_setup(spatial *s, unsigned seed)
{
  spatial_tree_describe(&s->description, 8, seed);
  must(bramah_model_new(&s->description.machine, &diag, &s->model), &diag);
  must(bramah_coupled_new(s->model, &diag, &s->c), &diag);
  must(bramah__refresh(s->c, &diag), &diag);
  s->line = (bramah__line){.body = {7, 4}, .point = {{0.2, 0.3, -0.1}, {0.5, 0.1, 0.4}}};
}

static void spatial_teardown(spatial *s)
{
  bramah_coupled_free(s->c);
  bramah_model_free(s->model);
}

enum { N = 8 };
static const double eps = 1e-6;

EACH_TEST(test_stroke_derivatives, 0, 4)
{
  spatial s;
  spatial_setup(&s, 31u + (unsigned)_i);
  const double *zd = s.c->state.zd;
  double row[N], rate_row[N], z[N], moved_row[N], Z[6 * N];
  bramah__pose pose[N];
  bramah__line_length(&s.model->tree, &s.line, s.c->state.z, s.c->now->pose, row);
  bramah__line_rate_derivative(&s.model->tree, &s.line, s.c->now->pose, s.c->now->Z, rate_row);
  for (size_t j = 0; j < N; j++) {
    double length[2], rate[2] = {0, 0};
    for (int side = 0; side < 2; side++) {
      memcpy(z, s.c->state.z, sizeof z);
      z[j] += side ? eps : -eps;
      bramah__tree_pose(&s.model->tree, NULL, z, pose);
      bramah__tree_velocity(&s.model->tree, pose, zd, Z);
      length[side] = bramah__line_length(&s.model->tree, &s.line, z, pose, moved_row);
      for (size_t k = 0; k < N; k++) rate[side] += moved_row[k] * zd[k];
    }
    ck_assert_double_eq_tol(row[j], (length[1] - length[0]) / (2 * eps), 1e-8);
    ck_assert_double_eq_tol(rate_row[j], (rate[1] - rate[0]) / (2 * eps), 1e-7);
  }
  spatial_teardown(&s);
}

/* Central difference of a quantity by error state k through inject, which moves the whole machine along its
 * constraints. */
static void displaced(const bramah_plant *p, const void *snap, size_t k, double step)
{
  double dx[64] = {0};
  dx[k] = step;
  p->restore(p->self, snap);
  must(p->inject(p->self, dx, &diag), &diag);
}

/* Flows are small numbers. */
static double tolerance_of(const bramah_output_info *info, double row, double difference)
{
  return strcmp(info->unit, "m^3/s") == 0 ? 1e-7 * fabs(difference) : 1e-7 * (1.0 + fabs(row));
}

static double step_of(const bramah_plant *p, size_t k) { return k < 2 * p->n_dof ? 1e-5 : 100.0; }

static void check_output_rows(const bramah_plant *p)
{
  const size_t n = bramah_plant_n_error(p);
  static double snap[512];
  double row[64];
  ck_assert_uint_le(p->snapshot_size, sizeof snap);
  p->save(p->self, snap);
  size_t checked = 0;
  for (size_t i = 0; i < p->n_output; i++) {
    bramah_output_info info;
    bramah_plant_output_info(p, i, &info);
    if (!info.has_row) {
      ck_assert_int_eq(p->output_row(p->self, i, row), BRAMAH_E_UNSUPPORTED);
      continue;
    }
    must(p->output_row(p->self, i, row), &diag);
    for (size_t k = 0; k < n; k++) {
      const double step = step_of(p, k);
      displaced(p, snap, k, step);
      const double above = p->output(p->self, i);
      displaced(p, snap, k, -step);
      const double difference = (above - p->output(p->self, i)) / (2 * step);
      const double tolerance = tolerance_of(&info, row[k], difference);
      ck_assert_msg(fabs(row[k] - difference) <= tolerance, "%s by %s: %.12g, difference %.12g", info.name,
                    bramah__plant_state_name(p, k), row[k], difference);
    }
    p->restore(p->self, snap);
    checked++;
  }
  ck_assert_uint_gt(checked, 5);
}

TEST(test_output_rows_of_the_four_bar) { check_output_rows(&plant); }

/* The same four-bar with a rotary actuator in the dependent joint of its rocker. */
static void add_rotary(void)
{
  static const bramah_rotary swing = {.name = "swing",
                                      .joint = "rocker",
                                      .a_volume = "v3",
                                      .b_volume = "v2",
                                      .displacement = 5e-5,
                                      .bulk_modulus = 3e10,
                                      .a_angle = 6.0,
                                      .b_angle = 6.0,
                                      .friction = {.model = BRAMAH_FRICTION_VISCOUS, .viscous = 20.0}};
  teardown();
  fb.machine.n_rotaries = 1;
  fb.machine.rotaries = &swing;
  start_moving();
}

TEST(test_output_rows_of_a_rotary_actuator)
{
  add_rotary();
  ck_assert_double_gt(fabs(plant.output(plant.self, must_find(&plant, "swing.rate"))), 1e-4);
  double own[8], joint[8];
  must(plant.output_row(plant.self, must_find(&plant, "swing.rate"), own), &diag);
  must(plant.output_row(plant.self, must_find(&plant, "rocker.rate"), joint), &diag);
  for (size_t k = 0; k < bramah_plant_n_error(&plant); k++) ck_assert_double_eq(own[k], joint[k]);
  check_output_rows(&plant);
}

/* The same four-bar with one of each element besides its orifice and valve, all of them at work. */
static void add_elements(void)
{
  static const bramah_leakage seal = {.name = "seal", .cylinder = "lift", .conductance = 1e-12};
  static const bramah_check_valve feed = {
      .name = "feed", .from = "pump", .to = "v2", .flow_coefficient = 1e-8, .cracking_pressure = 1e5};
  static const bramah_relief_valve relief = {.name = "relief",
                                             .from = "v3",
                                             .to = "tank",
                                             .flow_coefficient = 1e-8,
                                             .set_pressure = 1e6,
                                             .override = 1e7};
  static const bramah_pump boost = {
      .name = "boost", .from = "tank", .into = "v1", .flow = 1e-5, .set_pressure = 1e7, .band = 9e6};
  teardown();
  fb.machine.n_leakages = fb.machine.n_check_valves = fb.machine.n_relief_valves = fb.machine.n_pumps = 1;
  fb.machine.leakages = &seal;
  fb.machine.check_valves = &feed;
  fb.machine.relief_valves = &relief;
  fb.machine.pumps = &boost;
  start_moving();
}

EACH_TEST(test_flows_of_every_element, 0, 2)
{
  static const char *const flows[] = {"orifice.flow", "seal.flow",    "feed.flow",   "relief.flow",
                                      "boost.flow",   "valve.flow_a", "valve.flow_b"};
  const double u = _i ? -10.0 : 10.0;
  double row[64];
  add_elements();
  must(plant.set_inputs(plant.self, &u, &diag), &diag);
  for (int i = 0; i < 40; i++) must(plant.step(plant.self, &diag), &diag);
  for (size_t i = 0; i < sizeof flows / sizeof flows[0]; i++) {
    const size_t output = must_find(&plant, flows[i]);
    bramah_output_info info;
    bramah_plant_output_info(&plant, output, &info);
    ck_assert(info.has_row && info.hidden);
    ck_assert_str_eq(info.unit, "m^3/s");
    ck_assert_msg(fabs(plant.output(plant.self, output)) > 1e-8, "%s: nothing flows", flows[i]);
    must(plant.output_row(plant.self, output, row), &diag);
    double most = 0.0;
    for (size_t k = 0; k < 3; k++) most = fmax(most, fabs(row[2 + k]));
    ck_assert_msg(most > 1e-15, "%s: nothing depends on the pressures", flows[i]);
  }
  check_output_rows(&plant);
}

static double flow(const char *name) { return plant.output(plant.self, must_find(&plant, name)); }

/* What the meters show fills the volumes: C p' = flow into the volume less that into the cylinder. */
EACH_TEST(test_flows_fill_the_volumes, 0, 2)
{
  const double u = _i ? -10.0 : 10.0, none[5] = {0};
  must(plant.set_inputs(plant.self, &u, &diag), &diag);
  for (int i = 0; i < 40; i++) must(plant.step(plant.self, &diag), &diag);
  must(plant.inject(plant.self, none, &diag), &diag); /* pressure rates anew */
  const bramah_cylinder *lift = &fb.cylinders[0];
  const double *hose[3] = {&fb.hoses[0].volume, &fb.hoses[1].volume, &fb.hoses[2].volume};
  const double travel = flow("lift.stroke") - lift->reference_stroke, speed = flow("lift.velocity");
  const double chamber[3] = {0.0, lift->piston_area * (lift->piston_chamber_length + travel),
                             lift->rod_area * (lift->rod_chamber_length - travel)};
  const double in[3] = {flow("valve.flow_a") - flow("orifice.flow"),
                        flow("orifice.flow") - lift->piston_area * speed,
                        flow("valve.flow_b") + lift->rod_area * speed};
  ck_assert_int_eq(flow("valve.flow_a") > 1e-6, u > 0.0);
  ck_assert_int_eq(flow("valve.flow_b") < -1e-6, u > 0.0);
  for (int i = 0; i < 3; i++) {
    const double C = (*hose[i] + chamber[i]) / 1.5e9 + *hose[i] / 5.5e8 + chamber[i] / lift->bulk_modulus;
    ck_assert_double_eq_tol(c->state.pd[i] * C, in[i], 1e-12 * fabs(flow("orifice.flow")) + 1e-14);
  }
}

TEST(test_output_rows_of_a_spatial_tree)
{
  spatial s;
  spatial_setup(&s, 41);
  const bramah_plant p = bramah_coupled_plant(s.c);
  check_output_rows(&p);
  spatial_teardown(&s);
}

/* A spatial tree whose last body a loop of each type ties to the ground, exactly where it is. */
static void tie_to_ground(spatial *s, bramah_loop *loop, int type)
{
  const bramah__pose *pose = &s->c->now->pose[7];
  double across[3];
  *loop = (bramah_loop){.name = "tie", .type = (bramah_loop_type)type, .body = {"ground", "b7"}};
  memcpy(loop->point[1], (double[3]){0.2, 0.3, -0.1}, sizeof loop->point[1]);
  memcpy(loop->axis[1], (double[3]){0.6, 0, 0.8}, sizeof loop->axis[1]);
  memcpy(loop->normal[1], (double[3]){0, 1, 0}, sizeof loop->normal[1]);
  bramah__point(pose - 7, 7, loop->point[1], loop->point[0]);
  bramah__direction(pose - 7, 7, loop->axis[1], loop->axis[0]);
  bramah__direction(pose - 7, 7, loop->normal[1], loop->normal[0]);
  memcpy(across, loop->normal[0], sizeof across);
  if (type == BRAMAH_LOOP_UNIVERSAL) memcpy(loop->axis[0], across, sizeof across);
  if (type == BRAMAH_LOOP_DISTANCE)
    for (int k = 0; k < 3; k++) loop->point[0][k] += 0.5 * across[k];
  loop->distance = 0.5;
}

/* Closed spatial machines in motion, with each type of loop: what follows from the independent coordinates
 * and their rates. */
EACH_TEST(test_output_rows_of_closed_spatial_machines, BRAMAH_LOOP_REVOLUTE, BRAMAH_LOOP_DISTANCE + 1)
{
  spatial s;
  bramah_loop loop;
  double dx[2 * N] = {0};
  unsigned seed = 9;
  spatial_setup(&s, 43);
  tie_to_ground(&s, &loop, _i);
  for (size_t j = 0; j < N; j++) s.description.joints[j].initial_rate = 0.0;
  s.description.machine.n_loops = 1;
  s.description.machine.loops = &loop;
  running r = start(&s.description.machine);
  const bramah_plant p = r.p;
  const size_t rows[] = {0, 5, 3, 5, 4, 1};
  ck_assert_uint_eq(p.n_dof, N - rows[_i]);
  for (size_t f = 0; f < p.n_dof; f++) dx[p.n_dof + f] = 0.5 * test_uniform(&seed);
  must(p.inject(p.self, dx, &diag), &diag);
  check_output_rows(&p);
  ck_assert_double_lt(bramah_coupled_constraint_violation(r.c), 1e-10);
  stop(&r);
  spatial_teardown(&s);
}

/* Every parameter away from its nominal value. */
static void disturb(const bramah_plant *p)
{
  for (size_t i = 0; i < p->n_parameter; i++) {
    bramah_parameter_info info;
    p->parameter_info(p->self, i, &info);
    const double value = info.nominal != 0.0 ? 1.3 * info.nominal : strstr(info.unit, "N") ? 800.0 : 3.0;
    must(p->set_parameter(p->self, i, value, &diag), &diag);
  }
}

/* The differences of the plant itself (D 3.4) against central differences through the interface. */
EACH_TEST(test_acceleration_jacobian, 0, 4)
{
  if (_i & 1) add_rotary();
  if (_i & 2) disturb(&plant);
  const size_t n = bramah_plant_n_error(&plant);
  static double snap[512];
  double J[64], above[4], below[4];
  must(plant.acceleration_jacobian(plant.self, J, &diag), &diag);
  plant.save(plant.self, snap);
  for (size_t k = 0; k < n; k++) {
    const double step = k < 2 ? 1e-6 : 100.0;
    displaced(&plant, snap, k, step);
    must(plant.accelerations(plant.self, above, &diag), &diag);
    displaced(&plant, snap, k, -step);
    must(plant.accelerations(plant.self, below, &diag), &diag);
    const double difference = (above[0] - below[0]) / (2 * step);
    ck_assert_msg(fabs(J[k] - difference) <= 2e-5 * fabs(difference), "%s: %.10g, difference %.10g",
                  bramah__plant_state_name(&plant, k), J[k], difference);
  }
}

/* The same through the generic routine, which any plant without derivatives of its own gets. */
TEST(test_generic_jacobian_agrees)
{
  static double snap[512];
  double own[64], generic[64], dx[16], zdd[8];
  bramah_plant bare = plant;
  bare.acceleration_jacobian = NULL;
  must(bramah__plant_acceleration_jacobian(&plant, own, snap, dx, zdd, &diag), &diag);
  must(bramah__plant_acceleration_jacobian(&bare, generic, snap, dx, zdd, &diag), &diag);
  for (size_t k = 0; k < bramah_plant_n_error(&plant); k++)
    ck_assert_double_eq_tol(own[k], generic[k], 1e-4 * fabs(own[k]) + 1e-12);
}

/* Looking must not change: the state is the same to the bit after all derivatives have been asked for. */
TEST(test_derivatives_leave_the_plant_alone)
{
  static double before[512], after[512];
  double J[64], row[64];
  plant.save(plant.self, before);
  must(plant.acceleration_jacobian(plant.self, J, &diag), &diag);
  for (size_t i = 0; i < plant.n_output; i++) plant.output_row(plant.self, i, row);
  plant.save(plant.self, after);
  ck_assert_mem_eq(before, after, plant.snapshot_size);
  must(plant.step(plant.self, &diag), &diag);
  plant.save(plant.self, after);
  plant.restore(plant.self, before);
  must(plant.step(plant.self, &diag), &diag);
  plant.save(plant.self, before);
  ck_assert_mem_eq(before, after, plant.snapshot_size);
}

/* Tangent of the step's residual against central differences of the residual. */
enum { MOST_UNKNOWNS = 12 };

/* A first guess of the change over the step: what the present rates make. */
static void guess_change(const bramah_coupled *m, double *change)
{
  const size_t nm = bramah__n_mechanical(m);
  const double h = m->model->h;
  for (size_t k = 0; k < nm; k++) change[k] = h * m->state.zd[bramah__unknown_joint(m, k)];
  for (size_t i = 0; i < m->model->circuit.n_volumes; i++) change[nm + i] = h * m->state.pd[i];
}

static void check_tangent_over(bramah_coupled *m, double position_step, double tolerance)
{
  const size_t nm = bramah__n_mechanical(m), nx = nm + m->model->circuit.n_volumes;
  static double J[MOST_UNKNOWNS * MOST_UNKNOWNS];
  double change[MOST_UNKNOWNS], moved[MOST_UNKNOWNS], f[MOST_UNKNOWNS], above[MOST_UNKNOWNS],
      below[MOST_UNKNOWNS];
  ck_assert_uint_le(nx, MOST_UNKNOWNS);
  guess_change(m, change);
  must(bramah__step_residual(m, change, f), &diag);
  bramah__step_tangent(m, J);
  for (size_t k = 0; k < nx; k++) {
    const double step = k < nm ? position_step : 100.0;
    memcpy(moved, change, sizeof moved);
    moved[k] = change[k] + step;
    must(bramah__step_residual(m, moved, above), &diag);
    moved[k] = change[k] - step;
    must(bramah__step_residual(m, moved, below), &diag);
    for (size_t r = 0; r < nx; r++) {
      const double difference = (above[r] - below[r]) / (2 * step);
      /* positions of the order of one are rounded by DBL_EPSILON */
      double steepest = 0.0;
      for (size_t j = 0; j < nm; j++) steepest = fmax(steepest, fabs(J[r * nx + j]));
      const double rounding = steepest * DBL_EPSILON / step;
      ck_assert_msg(fabs(J[r * nx + k] - difference) <=
                        tolerance * (fabs(difference) + fabs(J[r * nx + r]) * 1e-6) + rounding,
                    "row %zu column %zu: %.12g, difference %.12g", r, k, J[r * nx + k], difference);
    }
  }
}

static void check_step_tangent(bramah_coupled *m, double tolerance)
{
  check_tangent_over(m, 1e-6, tolerance);
}

/* Formulations of the four-bar, with and without a rotary actuator, with parameters
 * at their nominal values and away from them. */
EACH_TEST(test_step_tangent, 0, 8)
{
  teardown();
  fb.machine.integrator.formulation =
      _i & 2 ? BRAMAH_FORMULATION_AUGMENTED_LAGRANGIAN : BRAMAH_FORMULATION_PARTITIONING;
  start_moving();
  if (_i & 1) add_rotary();
  if (_i & 4) disturb(&plant);
  check_step_tangent(c, 2e-6);
}

/* Closed spatial machines in motion, with springs, dampers and loads. */
EACH_TEST(test_step_tangent_of_closed_spatial_machines, 0, 20)
{
  static const bramah_spring spring = {.name = "s",
                                       .body = {"b6", "ground"},
                                       .point = {{0.2, 0.3, -0.1}, {0.5, 0.1, 0.4}},
                                       .free_length = 0.3,
                                       .stiffness = 700.0,
                                       .damping = 20.0};
  static const bramah_force load = {
      .name = "f", .body = "b5", .point = {0.3, 0.2, 0.1}, .force = {20, 10, -10}, .axes = BRAMAH_AXES_BODY};
  spatial s;
  bramah_loop loop;
  double dx[2 * N] = {0};
  unsigned seed = 19;
  spatial_setup(&s, 47);
  tie_to_ground(&s, &loop, 1 + _i % 10 / 2);
  for (size_t j = 0; j < N; j++) s.description.joints[j].initial_rate = 0.0;
  bramah_machine *m = &s.description.machine;
  m->n_loops = m->n_springs = m->n_forces = 1;
  m->loops = &loop, m->springs = &spring, m->forces = &load;
  if (_i & 1) m->integrator.formulation = BRAMAH_FORMULATION_AUGMENTED_LAGRANGIAN;
  running r = start(m);
  const bramah_plant p = r.p;
  for (size_t f = 0; f < p.n_dof; f++) dx[p.n_dof + f] = 2.0 * test_uniform(&seed);
  must(p.inject(p.self, dx, &diag), &diag);
  if (_i >= 10) disturb(&p);
  check_step_tangent(r.c, 1e-6);
  stop(&r);
  spatial_teardown(&s);
}

/* Two quasistatic actuators on one line in motion, by formulation; their outputs. */
EACH_TEST(test_metered_cylinders, 0, 3)
{
  static const double commands[][BAR_N_INPUTS] = {{0, 7, 2, 0, 2}, {0, 6, 4, 8, 1}, {3, -5, -4, 0, 0}};
  static metered_bar bar;
  metered_bar_describe(&bar, 2000000);
  bar.bar.machine.integrator.formulation = (bramah_formulation)_i;
  running r = start(&bar.bar.machine);
  const bramah_plant p = r.p;
  for (size_t phase = 0; phase < sizeof commands / sizeof commands[0]; phase++) {
    must(p.set_inputs(p.self, commands[phase], &diag), &diag);
    for (int i = 0; i < 40; i++) must(p.step(p.self, &diag), &diag);
    if (_i < 2)
      check_output_rows(&p); /* the penalty leaves the loops open by more than these differences mind */
    check_tangent_over(r.c, 1e-8, _i < 2 ? 2e-6 : 1e-4);
  }
  stop(&r);
}

int main(void) { return run_tests_with("derivatives", setup, teardown); }
