/* SPDX-License-Identifier: MIT */
/* Every entry of A, B, C and D against central differences of the plant: the four-bar with each friction
 * model at rest and in motion, with commands, and with every parameter and output it has. Then the reduced
 * equations against the redundant ones, and what is refused. */
#include "bramah/linear.h"
#include "lib/linear/linearization_internal.h"
#include "test/support/redundant_differences.h"
#include "test/support/differences.h"
#include "test/support/driven.h"
#include "test/support/four_bar.h"
#include "test/support/metered_bar.h"
#include "test/support/pendulum.h"
#include "test/support/run.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MANY = 512 };

static bramah_diag diag;
static four_bar fb;

typedef struct rig {
  const bramah_model *model;
  bramah_coupled *c;
  bramah_plant plant;
  bramah_linearization *l;
  const bramah_linear_system *s;
} rig;

static void open_rig(rig *r, const bramah_machine *machine)
{
  size_t parameter[MANY];
  must(bramah_model_new(machine, &diag, &r->model), &diag);
  must(bramah_coupled_new(r->model, &diag, &r->c), &diag);
  r->plant = bramah_coupled_plant(r->c);
  for (size_t i = 0; i < r->plant.n_parameter; i++) parameter[i] = i;
  const bramah_linearization_options options = {
      .n_parameters = r->plant.n_parameter, .parameters = parameter, .all_outputs = 1};
  must(bramah_linearization_new(r->model, &options, &diag, &r->l), &diag);
  r->s = bramah_linearization_system(r->l);
}

static void close_rig(rig *r)
{
  bramah_linearization_free(r->l);
  bramah_coupled_free(r->c);
  bramah_model_free(r->model);
}

static void run(rig *r, double command, int steps)
{
  must(r->plant.set_inputs(r->plant.self, &command, &diag), &diag);
  for (int i = 0; i < steps; i++) must(r->plant.step(r->plant.self, &diag), &diag);
}

/* The plant displaced in state k by `step`: error state through inject, the others directly. */
static void displace(rig *r, const void *snap, size_t k, double step)
{
  double dx[64] = {0};
  const size_t ne = bramah_plant_n_error(&r->plant);
  r->plant.restore(r->plant.self, snap);
  if (k >= ne) {
    const size_t spool = k - ne;
    if (spool < r->s->n_spool)
      r->c->state.U[r->l->spool[spool]] += step;
    else
      r->c->state.x[spool - r->s->n_spool] += step;
  } else
    dx[k] = step;
  must(r->plant.inject(r->plant.self, dx, &diag), &diag);
}

/* Rates and outputs there. */
static void look(rig *r, double *out)
{
  bramah__linear_rates(r->l, r->c, out);
  size_t row = r->s->n;
  for (size_t i = 0; i < r->plant.n_output; i++)
    if (!bramah__output_has_no_slope(r->model->output[i].code))
      out[row++] = r->plant.output(r->plant.self, i);
  ck_assert_uint_eq(row, r->s->n + r->s->n_y);
}

static double step_of(const rig *r, size_t k)
{
  const size_t np = r->s->n_position;
  if (k < 2 * np) return 2e-5;
  if (k < 2 * np + r->s->n_pressure) return 1000.0;
  return k < 2 * np + r->s->n_pressure + r->s->n_spool ? 1e-4 : 1e-9;
}

/* Entries are judged against the largest of their row times what their column changes typically by. */
static void compare(const rig *r, size_t k, const double *column, const double *difference, double tolerance)
{
  for (size_t i = 0; i < r->s->n + r->s->n_y; i++) {
    const double *row = i < r->s->n ? r->s->A + i * r->s->n : r->s->C + (i - r->s->n) * r->s->n;
    double largest = 0.0;
    for (size_t j = 0; j < r->s->n; j++) largest = fmax(largest, fabs(row[j]) * step_of(r, j));
    const double scale = fmax(largest / step_of(r, k), fabs(difference[i]));
    if (fabs(column[i] - difference[i]) > tolerance * scale + 1e-300)
      ck_abort_msg("row %s by %s: %.12g, difference %.12g",
                   i < r->s->n ? r->s->x_name[i] : r->s->y_name[i - r->s->n], r->s->x_name[k], column[i],
                   difference[i]);
  }
}

static void check_states(rig *r, double tolerance)
{
  static double side[4][MANY], column[MANY], difference[MANY];
  static double snap[MANY];
  ck_assert_uint_le(r->plant.snapshot_size, sizeof snap);
  ck_assert_uint_le(r->s->n + r->s->n_y, MANY);
  must(bramah_linearization_run(r->l, r->c, &diag), &diag);
  r->plant.save(r->plant.self, snap);
  for (size_t k = 0; k < r->s->n; k++) {
    const double h = step_of(r, k);
    for (int i = 0; i < 4; i++) {
      displace(r, snap, k, central_at(0.0, i, h));
      look(r, side[i]);
    }
    for (size_t i = 0; i < r->s->n + r->s->n_y; i++) {
      const double f[4] = {side[0][i], side[1][i], side[2][i], side[3][i]};
      difference[i] = central_of(f, h);
      column[i] = i < r->s->n ? r->s->A[i * r->s->n + k] : r->s->C[(i - r->s->n) * r->s->n + k];
    }
    compare(r, k, column, difference, tolerance);
  }
  r->plant.restore(r->plant.self, snap);
}

/* By parameters: differences of another step than the library's, of fourth order. */
static void check_parameters(rig *r, double tolerance)
{
  static double side[4][MANY];
  static double snap[MANY], spool[MANY];
  const size_t n_spools = bramah__n_spools(&r->c->model->circuit);
  must(bramah_linearization_run(r->l, r->c, &diag), &diag);
  r->plant.save(r->plant.self, snap);
  for (size_t k = 0; k < r->plant.n_parameter; k++) {
    bramah_parameter_info info;
    r->plant.parameter_info(r->plant.self, k, &info);
    const double value = r->plant.parameter(r->plant.self, k), size = fmax(fabs(value), fabs(info.nominal));
    const double h = size > 0.0 ? 1e-3 * size : 0.01;
    if (value - 2 * h < info.least) continue;
    for (int i = 0; i < 4; i++) {
      r->plant.restore(r->plant.self, snap);
      memcpy(spool, r->c->state.U, n_spools * sizeof *spool);
      must(r->plant.set_parameter(r->plant.self, k, central_at(value, i, h), &diag), &diag);
      memcpy(r->c->state.U, spool, n_spools * sizeof *spool); /* a state of its own here */
      must(bramah__settle_rates(r->c, &diag), &diag);
      look(r, side[i]);
    }
    r->plant.restore(r->plant.self, snap);
    const size_t nu = r->s->n_u, at = r->plant.n_input + k;
    ck_assert_str_eq(r->s->u_name[at], info.name);
    for (size_t i = 0; i < r->s->n + r->s->n_y; i++) {
      const double f[4] = {side[0][i], side[1][i], side[2][i], side[3][i]}, difference = central_of(f, h);
      const double entry = i < r->s->n ? r->s->B[i * nu + at] : r->s->D[(i - r->s->n) * nu + at];
      const double now = i < r->s->n ? r->s->xd[i] : r->s->y[i - r->s->n];
      if (fabs(entry - difference) >
          tolerance * fabs(difference) + 1e-13 * (fabs(now) + fabs(f[0])) / (1e-2 * h) + 1e-300)
        ck_abort_msg("%s by %s: %.12g, difference %.12g",
                     i < r->s->n ? r->s->x_name[i] : r->s->y_name[i - r->s->n], info.name, entry, difference);
    }
  }
}

static const bramah_friction_model frictions[] = {
    BRAMAH_FRICTION_NONE,         BRAMAH_FRICTION_VISCOUS, BRAMAH_FRICTION_BROWN_MCPHEE,
    BRAMAH_FRICTION_BENGISU_AKAY, BRAMAH_FRICTION_LUGRE,   BRAMAH_FRICTION_MODIFIED_LUGRE};
enum { N_FRICTIONS = sizeof frictions / sizeof frictions[0] };

static void describe(int friction)
{
  four_bar_describe(&fb, 1.0, 1000000);
  if (frictions[friction] == BRAMAH_FRICTION_NONE || frictions[friction] == BRAMAH_FRICTION_VISCOUS)
    fb.cylinders[0].friction.model = frictions[friction];
  else
    four_bar_set_friction(&fb, frictions[friction]);
}

EACH_TEST(test_moving, 0, N_FRICTIONS + 1)
{
  rig r;
  describe(_i % N_FRICTIONS);
  if (_i == N_FRICTIONS) fb.valves[0].time_constant = 0.0;
  open_rig(&r, &fb.machine);
  run(&r, 6.0, 150);
  ck_assert_double_gt(fabs(r.plant.output(r.plant.self, must_find(&r.plant, "crank.rate"))), 0.02);
  check_states(&r, 2e-6);
  check_parameters(&r, 2e-6);
  close_rig(&r);
}

/* At rest with a smooth friction and an open spool; nothing is at a kink. */
TEST(test_resting)
{
  rig r;
  describe(2);
  fb.valves[0].initial_spool = 0.5;
  open_rig(&r, &fb.machine);
  check_states(&r, 2e-6);
  close_rig(&r);
}

/* Two quasistatic cylinders on one line: their spools and loads act on the forces at once. */
EACH_TEST(test_metered, 0, 3)
{
  static const double commands[][BAR_N_INPUTS] = {{2, 4, -3, 0, 2}, {1, 5, 3, 6, 1}, {2, -4, 3, 0, 0.5}};
  rig r;
  static metered_bar bar;
  metered_bar_describe(&bar, 1000000);
  open_rig(&r, &bar.bar.machine);
  must(r.plant.set_inputs(r.plant.self, commands[_i], &diag), &diag);
  for (int i = 0; i < 60; i++) must(r.plant.step(r.plant.self, &diag), &diag);
  check_states(&r, 2e-5);
  check_parameters(&r, 2e-5);
  close_rig(&r);
}

/* An open tree of many kinds of joints, without hydraulics. */
EACH_TEST(test_tree, 0, 3)
{
  static spatial_tree tree;
  rig r;
  spatial_tree_describe(&tree, 8, 5u + (unsigned)_i);
  open_rig(&r, &tree.machine);
  ck_assert_uint_eq(r.s->n, 16);
  check_states(&r, 1e-6);
  close_rig(&r);
}

/* Points on soft ground that rub, below a tree and behind the loop of a four-bar; stops of a joint. */
EACH_TEST(test_contacts, 0, 4)
{
  static const double points[] = {0.1, 0.2, -0.3, 0.4, -0.2, 0.1, 0.3, 0.3, 0.2};
  static spatial_tree tree;
  rig r;
  spatial_tree_describe(&tree, 5, 5u + (unsigned)_i);
  describe(4);
  bramah_machine *machine = _i < 2 ? &tree.machine : &fb.machine;
  bramah_joint *joint = _i < 2 ? &tree.joints[1] : &fb.joints[0];
  const bramah_contact contact = {.name = "soft",
                                  .body = _i < 2 ? tree.names[4] : "coupler",
                                  .n_points = 3,
                                  .points = points,
                                  .ground = {0, _i < 2 ? 0.0 : 3.0, 2.0},
                                  .normal = {0.2, _i < 2 ? -0.1 : 1.0, _i < 2 ? 1.0 : 0.0},
                                  .law = (bramah_contact_law)(_i % 2),
                                  .stiffness = 30.0,
                                  .damping = 0.2,
                                  .friction = {.model = BRAMAH_FRICTION_LUGRE,
                                               .coulomb = 0.3,
                                               .static_force = 0.5,
                                               .stribeck_velocity = 0.3,
                                               .bristle_stiffness = 40.0,
                                               .bristle_damping = 2.0}};
  const bramah_tyre tyre = {.name = "tyre",
                            .body = contact.body,
                            .centre = {0.2, -0.1, 0.3},
                            .axis = {0.3, 0.2, 1.0},
                            .radius = 0.7,
                            .width = 0.2,
                            .n_discs = 2,
                            .ground = {0, contact.ground[1], 2.5},
                            .normal = {0.2, contact.normal[1], contact.normal[2] + 0.2},
                            .stiffness = 40.0,
                            .damping = 0.3,
                            .friction = {.stribeck_velocity = 0.4}};
  machine->n_contacts = 1, machine->contacts = &contact;
  machine->n_tyres = 1, machine->tyres = &tyre;
  bramah_brake brake = {
      .name = "drum", .joint = joint->name, .torque = 2.0, .static_torque = 3.0, .bristle_stiffness = 10.0};
  if (_i > 1) brake.command = (bramah_drive){.input = fb.inputs[0].name, .initial = 3.0};
  machine->n_brakes = _i != 0 && joint->type == BRAMAH_JOINT_REVOLUTE, machine->brakes = &brake;
  static const double speeds[] = {-1.0, 0.0, 2.0}, torques[] = {6, 8, 1};
  const char *wheels[2];
  const bramah_engine engine = {.name = "engine",
                                .joint = fb.joints[0].name,
                                .n_points = 3,
                                .speeds = speeds,
                                .torques = torques,
                                .rounding = 0.4,
                                .friction = 0.5,
                                .consumption = 1e-7,
                                .best_torque = 5.0,
                                .best_speed = 1.0,
                                .torque_loss = 0.3,
                                .speed_loss = 0.2,
                                .throttle = {.input = fb.inputs[0].name, .initial = 4.0}};
  const bramah_clutch clutch = {.name = "clutch",
                                .driving = fb.joints[0].name,
                                .n_driven = 2,
                                .driven = wheels,
                                .torque = 5.0,
                                .stiffness = 20.0,
                                .damping = 2.0,
                                .ratio = 1.5,
                                .command = {.input = fb.inputs[0].name}};
  const bramah_joint_torque helper = {.name = "helper",
                                      .joint = fb.joints[1].name,
                                      .torque = 3.0,
                                      .power = 1.0,
                                      .command = {.input = fb.inputs[0].name}};
  wheels[0] = fb.joints[1].name, wheels[1] = fb.joints[2].name;
  machine->n_engines = machine->n_clutches = machine->n_joint_torques = _i > 1;
  const bramah_pump pump = {
      .name = "geared",
      .from = "tank",
      .into = "v2",
      .flow = 2e-5,
      .set_pressure = 2e7,
      .band = 1e7,
      .drive = {.joint = fb.joints[_i % 2].name, .ratio = 2.0, .speed = 1.0, .efficiency = 0.8}};
  machine->n_pumps = _i > 1, machine->pumps = &pump;
  machine->engines = &engine, machine->clutches = &clutch, machine->joint_torques = &helper;
  joint->range[0] = -9.0, joint->range[1] = joint->initial_position - 0.01;
  joint->stop = (bramah_end_stop){.stiffness = 200.0, .damping = 3.0};
  open_rig(&r, machine);
  run(&r, 6.0, 20);
  ck_assert_double_gt(r.plant.output(r.plant.self, must_find(&r.plant, "soft.penetration")), 0.1);
  check_states(&r, 2e-6);
  ck_assert_double_gt(r.plant.output(r.plant.self, must_find(&r.plant, "tyre.penetration")), 0.1);
  if (_i == 0) ck_assert_str_eq(r.s->x_name[r.s->n - 5], "soft.bristle_y_3");
  if (_i == 0) ck_assert_str_eq(r.s->x_name[r.s->n - 1], "tyre.bristle_y_2");
  close_rig(&r);
}

/* What is left of the redundant Jacobian on the constraints: J T = T A, T how all coordinates follow the
 * independent ones. The last time with a valve without lag. */
EACH_TEST(test_redundant, 0, N_FRICTIONS + 1)
{
  rig r;
  static double J[MANY], T[MANY], JT[MANY];
  const int direct = _i == N_FRICTIONS;
  describe(_i % N_FRICTIONS);
  if (direct) fb.valves[0].time_constant = 0.0;
  open_rig(&r, &fb.machine);
  run(&r, 6.0, 150);
  must(bramah_linearization_run(r.l, r.c, &diag), &diag);
  const size_t N = redundant_order(r.s), n = r.s->n, nz = r.s->n_coordinates, rest = n - 2;
  ck_assert_uint_eq(nz, 3);
  ck_assert_uint_eq(r.model->n, nz);
  ck_assert_uint_eq(r.s->n_constraints, 2);
  ck_assert_uint_eq(n, 2 * (nz - 2) + 3 + (direct ? 0 : 1) + r.s->n_friction);
  must(redundant_differences(r.l, r.c, 1e-6, J, &diag), &diag);
  bramah__rate_derivative(r.model, &r.c->state, r.c->now);
  memset(T, 0, sizeof T);
  for (size_t j = 0; j < nz; j++) {
    T[j * n] = T[(nz + j) * n + 1] = r.c->now->Rz[j];
    T[(nz + j) * n] = r.c->now->D[j];
  }
  for (size_t k = 0; k < rest; k++) T[(2 * nz + k) * n + 2 + k] = 1.0;
  /* only rows of the independent coordinates: T itself changes along the motion */
  const size_t independent = (size_t)r.c->state.index[2];
  for (size_t i = 0; i < N; i++)
    for (size_t k = 0; k < n; k++) {
      JT[i * n + k] = 0.0;
      for (size_t j = 0; j < N; j++) JT[i * n + k] += J[i * N + j] * T[j * n + k];
    }
  for (size_t i = 0; i < n; i++) {
    const size_t row = i == 0 ? independent : i == 1 ? nz + independent : 2 * nz + i - 2;
    for (size_t k = 0; k < n; k++) {
      const double a = r.s->A[i * n + k], b = JT[row * n + k];
      double largest = 0.0;
      for (size_t j = 0; j < n; j++) largest = fmax(largest, fabs(r.s->A[i * n + j]) * step_of(&r, j));
      ck_assert_double_le(fabs(a - b), 2e-5 * largest / step_of(&r, k));
    }
  }
  close_rig(&r);
}

/* Names, units and the point itself. */
TEST(test_names)
{
  rig r;
  describe(5);
  open_rig(&r, &fb.machine);
  must(bramah_linearization_run(r.l, r.c, &diag), &diag);
  static const char *const name[] = {"crank.angle", "crank.rate",  "v1.pressure",  "v2.pressure",
                                     "v3.pressure", "valve.spool", "lift.bristle", "lift.film"};
  static const char *const unit[] = {"rad", "rad/s", "Pa", "Pa", "Pa", "V", "m", "1"};
  ck_assert_uint_eq(r.s->n, 8);
  for (size_t i = 0; i < 8; i++) {
    printf("%s [%s] = %g\n", r.s->x_name[i], r.s->x_unit[i], r.s->x[i]);
    if (i > 1 && i < 6) ck_assert_str_eq(r.s->x_name[i], name[i]);
    ck_assert_str_eq(r.s->x_unit[i], unit[i]);
  }
  ck_assert_str_eq(r.s->u_name[0], "valve.command");
  ck_assert_double_eq(r.s->B[5 * r.s->n_u], 1.0 / fb.valves[0].time_constant);
  ck_assert_double_eq(r.s->A[5 * r.s->n + 5], -1.0 / fb.valves[0].time_constant);
  close_rig(&r);
}

/* A valve held at its limit does not follow the command. */
TEST(test_limit)
{
  rig r;
  describe(1);
  open_rig(&r, &fb.machine);
  const double u = 11.0;
  must(r.plant.set_inputs(r.plant.self, &u, &diag), &diag);
  must(bramah_linearization_run(r.l, r.c, &diag), &diag);
  ck_assert_double_eq(r.s->B[5 * r.s->n_u], 0.0);
  close_rig(&r);
}

/* The plant is left as it was, to the bit; energies are those of the plant. */
TEST(test_leaves)
{
  rig r, other;
  static double before[MANY], after[MANY], dx[64];
  bramah_energies energies;
  describe(4);
  open_rig(&r, &fb.machine);
  run(&r, 3.0, 60);
  r.plant.save(r.plant.self, before);
  must(bramah_linearization_run(r.l, r.c, &diag), &diag);
  r.plant.save(r.plant.self, after);
  ck_assert_mem_eq(before, after, r.plant.snapshot_size);
  dx[1] = r.s->x[1];
  dx[2] = 1e5;
  must(bramah_linearization_energies(r.l, r.c, dx, NULL, &energies, &diag), &diag);
  double sum = 0.0;
  ck_assert_uint_eq(energies.n_bodies, 3);
  for (size_t j = 0; j < 3; j++) sum += energies.body[j];
  const double T = r.plant.output(r.plant.self, must_find(&r.plant, "energy.kinetic"));
  ck_assert_double_eq_tol(sum, T, 1e-12 * T);
  const bramah_hose *hose = &fb.hoses[0];
  const double V = hose->volume, compliance = V / fb.machine.oil_bulk_modulus + V / hose->bulk_modulus;
  ck_assert_double_eq_tol(energies.volume[0], 0.5 * compliance * 1e10, 1e-9 * compliance * 1e10);
  ck_assert_double_eq(energies.volume[1], 0.0);
  const double of_crank = energies.body[0];
  must(bramah_linearization_energies(r.l, r.c, dx, dx, &energies, &diag), &diag);
  ck_assert_double_eq(energies.body[0], 2.0 * of_crank);
  open_rig(&other, &fb.machine);
  ck_assert_int_eq(bramah_linearization_run(r.l, other.c, &diag), BRAMAH_E_ARGUMENT);
  close_rig(&other);
  close_rig(&r);
}

TEST(test_refused)
{
  rig r;
  bramah_linearization *l = NULL;
  describe(1);
  open_rig(&r, &fb.machine);
  const size_t work = must_find(&r.plant, "lift.work"), none = 10000;
  bramah_linearization_options options = {.n_outputs = 1, .outputs = &work};
  ck_assert_int_eq(bramah_linearization_new(r.model, &options, &diag, &l), BRAMAH_E_UNSUPPORTED);
  ck_assert_str_eq(diag.thing, "lift.work");
  ck_assert(strstr(diag.message, "summed over time") != NULL);
  options.outputs = &none;
  ck_assert_int_eq(bramah_linearization_new(r.model, &options, &diag, &l), BRAMAH_E_ARGUMENT);
  options = (bramah_linearization_options){.n_parameters = 1, .parameters = &none};
  ck_assert_int_eq(bramah_linearization_new(r.model, &options, &diag, &l), BRAMAH_E_ARGUMENT);
  close_rig(&r);
}

int main(void) { return run_tests("linearization"); }
