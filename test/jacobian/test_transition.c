/* SPDX-License-Identifier: MIT */
/* Transition of the error state over a step and derivative of the accelerations, analytic, against central
 * differences of the plant itself through inject. */
#include "lib/plant/coupled_internal.h"
#include "lib/plant/plant_table.h"
#include "test/support/metered_bar.h"
#include "test/support/run.h"
#include "test/support/running.h"

#include <math.h>
#include <string.h>

enum { MOST = 32, SNAP = 4096 };

static bramah_diag diag;
static unsigned char before[SNAP];

static int is_pressure(const bramah_plant *p, size_t k)
{
  return k >= 2 * p->n_dof && !strstr(bramah__plant_state_name(p, k), ".bristle");
}

static double step_of(const bramah_plant *p, size_t k)
{
  return k < p->n_dof ? 1e-6 : is_pressure(p, k) ? 200.0 : 1e-5;
}

static void displace(const bramah_plant *p, size_t k, double by)
{
  double dx[MOST] = {0};
  dx[k] = by;
  p->restore(p->self, before);
  must(p->inject(p->self, dx, &diag), &diag);
}

/* Sizes of what is compared: an error of a typical size in column k makes differences of typical size in row
 * r. */
static double typical(const bramah_plant *p, size_t k) { return is_pressure(p, k) ? 1e4 : 1e-3; }

static void check_transition(bramah_coupled *c, double tolerance)
{
  const bramah_plant p = bramah_coupled_plant(c);
  const size_t n = bramah_plant_n_error(&p);
  static double F[MOST * MOST];
  const double zero[MOST] = {0};
  ck_assert_uint_le(n, MOST);
  ck_assert_uint_le(p.snapshot_size, SNAP);
  must(p.inject(p.self, zero, &diag), &diag); /* carried rates are functions of the state */
  p.save(p.self, before);
  must(p.step_transition(p.self, F, NULL, 0, NULL, NULL, &diag), &diag);
  for (size_t k = 0; k < n; k++) {
    double x[2][MOST];
    for (int side = 0; side < 2; side++) {
      displace(&p, k, side ? step_of(&p, k) : -step_of(&p, k));
      must(p.step(p.self, &diag), &diag);
      p.coordinates(p.self, x[side]);
    }
    for (size_t r = 0; r < n; r++) {
      const double slope = (x[1][r] - x[0][r]) / (2 * step_of(&p, k));
      const double scale = typical(&p, k) / typical(&p, r);
      ck_assert_msg(fabs(F[r * n + k] - slope) * scale < tolerance * (1.0 + fabs(slope) * scale),
                    "%s by %s: %.10g, difference %.10g", bramah__plant_state_name(&p, r),
                    bramah__plant_state_name(&p, k), F[r * n + k], slope);
    }
  }
  p.restore(p.self, before);
}

static void check_accelerations(bramah_coupled *c, double tolerance)
{
  const bramah_plant p = bramah_coupled_plant(c);
  const size_t n = bramah_plant_n_error(&p);
  static double J[MOST * MOST];
  p.save(p.self, before);
  must(p.acceleration_derivative(p.self, J, 0, NULL, NULL, &diag), &diag);
  for (size_t k = 0; k < n; k++) {
    double a[2][MOST];
    for (int side = 0; side < 2; side++) {
      displace(&p, k, side ? step_of(&p, k) : -step_of(&p, k));
      must(p.accelerations(p.self, a[side], &diag), &diag);
    }
    for (size_t r = 0; r < p.n_dof; r++) {
      const double slope = (a[1][r] - a[0][r]) / (2 * step_of(&p, k));
      ck_assert_msg(fabs(J[r * n + k] - slope) * typical(&p, k) <
                        tolerance * (1.0 + fabs(slope) * typical(&p, k)),
                    "acceleration %zu by %s: %.10g, difference %.10g", r, bramah__plant_state_name(&p, k),
                    J[r * n + k], slope);
    }
  }
  p.restore(p.self, before);
}

static const bramah_friction_model friction_models[] = {BRAMAH_FRICTION_BROWN_MCPHEE,
                                                        BRAMAH_FRICTION_BENGISU_AKAY, BRAMAH_FRICTION_LUGRE,
                                                        BRAMAH_FRICTION_MODIFIED_LUGRE};

/* Every parameter of the plant: what it does to the end of the step, and to the accelerations. */
static void check_parameters(bramah_coupled *c, double tolerance)
{
  enum { MOST_PARAMETERS = 48 };
  const bramah_plant p = bramah_coupled_plant(c);
  const size_t n = bramah_plant_n_error(&p), m = p.n_parameter;
  static double F[MOST * MOST], G[MOST * MOST_PARAMETERS], Jp[MOST * MOST_PARAMETERS], J[MOST * MOST];
  size_t par[MOST_PARAMETERS];
  ck_assert_uint_le(m, MOST_PARAMETERS);
  for (size_t k = 0; k < m; k++) par[k] = k;
  p.save(p.self, before);
  must(p.acceleration_derivative(p.self, J, m, par, Jp, &diag), &diag);
  must(p.step_transition(p.self, F, NULL, m, par, G, &diag), &diag);
  for (size_t k = 0; k < m; k++) {
    bramah_parameter_info info;
    double x[2][MOST], a[2][MOST];
    p.parameter_info(p.self, k, &info);
    const double step = info.nominal != 0.0           ? 1e-3 * fabs(info.nominal)
                        : strcmp(info.unit, "m") == 0 ? 1e-6
                        : strcmp(info.unit, "V") == 0 ? 0.002
                                                      : 0.1;
    p.restore(p.self, before);
    const double value = p.parameter(p.self, k);
    for (int side = 0; side < 2; side++) {
      p.restore(p.self, before);
      must(p.set_parameter(p.self, k, value + (side ? step : 0.0), &diag), &diag);
      must(p.accelerations(p.self, a[side], &diag), &diag);
      must(p.step(p.self, &diag), &diag);
      p.coordinates(p.self, x[side]);
    }
    for (size_t r = 0; r < n; r++) {
      const double slope = (x[1][r] - x[0][r]) / step;
      ck_assert_msg(fabs(G[r * m + k] - slope) * step <
                        tolerance * (fabs(slope) * step + 1e-4 * typical(&p, r)),
                    "%s by %s: %.10g, difference %.10g", bramah__plant_state_name(&p, r), info.name,
                    G[r * m + k], slope);
    }
    const double by = (a[1][0] - a[0][0]) / step;
    ck_assert_double_eq_tol(Jp[k], by, 0.4 * tolerance * fabs(by) + 1e-9 / step);
  }
  p.restore(p.self, before);
}

/* The same F, N and G by the interpreter and by a program. */
static void check_program(bramah_coupled *c, const bramah_program *program)
{
  enum { MOST_PARAMETERS = 32 };
  const bramah_plant p = bramah_coupled_plant(c);
  const size_t n = bramah_plant_n_error(&p), nn = n - p.n_dof, m = p.n_parameter;
  static double F[2][MOST * MOST], N[2][MOST * MOST], G[2][MOST * MOST_PARAMETERS];
  size_t par[MOST_PARAMETERS];
  const double zero[MOST] = {0};
  ck_assert_uint_le(m, MOST_PARAMETERS);
  for (size_t k = 0; k < m; k++) par[k] = k;
  must(p.inject(p.self, zero, &diag), &diag);
  p.save(p.self, before);
  for (int by = 0; by < 2; by++) {
    const uint64_t made = bramah_coupled_report(c).compiled;
    must(bramah_coupled_use(c, by ? program : NULL, &diag), &diag);
    p.restore(p.self, before);
    must(p.step_transition(p.self, F[by], N[by], m, par, G[by], &diag), &diag);
    ck_assert_int_eq(bramah_coupled_report(c).compiled > made, by);
  }
  for (size_t r = 0; r < n; r++) {
    const double row = typical(&p, r);
    for (size_t k = 0; k < n; k++)
      ck_assert_double_eq_tol(F[0][r * n + k] * typical(&p, k) / row, F[1][r * n + k] * typical(&p, k) / row,
                              1e-8);
    for (size_t k = 0; k < nn; k++) {
      const double column = typical(&p, p.n_dof + k);
      ck_assert_double_eq_tol(N[0][r * nn + k] * column / row, N[1][r * nn + k] * column / row, 1e-8);
    }
    for (size_t k = 0; k < m; k++) {
      bramah_parameter_info info;
      p.parameter_info(p.self, k, &info);
      const double column = info.nominal != 0.0 ? 1e-3 * fabs(info.nominal) : 1e-3;
      ck_assert_double_eq_tol(G[0][r * m + k] * column / row, G[1][r * m + k] * column / row, 1e-6);
    }
  }
  must(bramah_coupled_use(c, NULL, &diag), &diag);
  p.restore(p.self, before);
}

/* The same where friction is scaled. */
static void check_scaled_friction(bramah_coupled *c, double tolerance)
{
  static unsigned char kept[SNAP];
  const bramah_plant p = bramah_coupled_plant(c);
  size_t scale;
  p.save(p.self, kept);
  must(bramah_plant_parameter_index(&p, "lift.friction_scale", &scale, &diag), &diag);
  must(p.set_parameter(p.self, scale, 1.7, &diag), &diag);
  check_accelerations(c, 0.4 * tolerance);
  check_transition(c, tolerance);
  p.restore(p.self, kept);
}

/* The four-bar with each friction model: at rest in equilibrium, extending, and while the valve closes; by
 * each formulation. */
EACH_TEST(test_four_bar, 0, 12)
{
  static four_bar fb;
  four_bar_describe(&fb, 1.0, _i % 2 ? 1000000 : 250000);
  four_bar_set_friction(&fb, friction_models[_i % 4]);
  fb.machine.integrator.formulation = (bramah_formulation)(_i / 4);
  fb.machine.integrator.position_tolerance = 1e-11;
  fb.machine.integrator.pressure_tolerance = 1e-5;
  running r = start(&fb.machine);
  const bramah_plant p = r.p;
  for (int phase = 0; phase < 3; phase++) {
    const double u = phase == 1 ? 10.0 : 0.0;
    must(p.set_inputs(p.self, &u, &diag), &diag);
    for (int k = 0; k < (phase == 2 ? 7 : 400); k++) must(p.step(p.self, &diag), &diag);
    if (phase == 0 && _i % 4) continue; /* at rest these models have corners where differences say nothing */
    check_accelerations(r.c, 1e-5);
    check_transition(r.c, 3e-5);
    check_scaled_friction(r.c, 3e-5);
    check_parameters(r.c, 5e-3);
  }
  stop(&r);
}

/* Two quasistatic actuators on one line, in each formulation: held by closed valves, lifted with and
 * without oil that regenerates, lowered, with the line below its relief setting and at it; spools with and
 * without lag. */
EACH_TEST(test_metered_cylinders, 0, 12)
{
  static const double commands[][BAR_N_INPUTS] = {
      {0, 0, 0, 0, 2}, {0, 7, 2, 0, 2}, {0, 6, 4, 8, 1}, {0, -5, -4, 0, 1}, {3, 4, 5, 0, 0}};
  static metered_bar bar;
  metered_bar_describe(&bar, _i % 2 ? 1000000 : 2000000);
  bar.bar.machine.integrator.formulation = (bramah_formulation)(_i / 2 % 3);
  for (int k = 0; k < 2 && _i >= 6; k++) bar.cylinders[k].spool.time_constant = 0.0;
  bar.bar.machine.integrator.position_tolerance = 1e-11;
  bar.bar.machine.integrator.pressure_tolerance = 1e-4;
  running r = start(&bar.bar.machine);
  const bramah_plant p = r.p;
  for (size_t phase = 0; phase < sizeof commands / sizeof commands[0]; phase++) {
    must(p.set_inputs(p.self, commands[phase], &diag), &diag);
    for (int k = 0; k < (_i % 2 ? 60 : 30); k++) must(p.step(p.self, &diag), &diag);
    check_accelerations(r.c, 1e-5);
    check_transition(r.c, 3e-5);
    check_parameters(r.c, 2e-2);
  }
  stop(&r);
}

/* A valve without lag: the offset of its command acts at once, at both ends of the step. */
EACH_TEST(test_direct_valve, 0, 6)
{
  static four_bar fb;
  four_bar_describe(&fb, 1.0, _i % 2 ? 1000000 : 250000);
  fb.machine.integrator.formulation = (bramah_formulation)(_i / 2);
  fb.machine.integrator.position_tolerance = 1e-11;
  fb.machine.integrator.pressure_tolerance = 1e-5;
  fb.valves[0].time_constant = 0.0;
  running r = start(&fb.machine);
  const bramah_plant p = r.p;
  const size_t spool = must_find(&p, "valve.spool");
  for (int phase = 0; phase < 3; phase++) {
    const double u = (const double[]){4.0, -7.0, 0.5}[phase];
    must(p.set_inputs(p.self, &u, &diag), &diag);
    ck_assert_double_eq(p.output(p.self, spool), phase ? u + 0.25 : u);
    for (int k = 0; k < 50; k++) must(p.step(p.self, &diag), &diag);
    check_transition(r.c, 3e-5);
    check_parameters(r.c, 5e-3);
    must(p.set_parameter(p.self, must_find_parameter(&p, "valve.offset"), 0.25, &diag), &diag);
    ck_assert_double_eq(p.output(p.self, spool), u + 0.25);
  }
  stop(&r);
}

EACH_TEST(test_spatial_tree, 0, 6)
{
  static spatial_tree t;
  spatial_tree_describe(&t, 5 + (size_t)_i, 61u + (unsigned)_i);
  t.machine.integrator.position_tolerance = 1e-12;
  running r = start(&t.machine);
  check_accelerations(r.c, 1e-6);
  check_transition(r.c, 1e-6);
  stop(&r);
}

/* A soft tyre of three discs that has sunk in askew. */
static bramah_tyre tyre_of(const char *body)
{
  return (bramah_tyre){.name = "tyre",
                       .body = body,
                       .centre = {0.2, -0.1, 0.3},
                       .axis = {0.3, 1.0, -0.4},
                       .radius = 0.7,
                       .width = 0.3,
                       .ground = {0, 0, 2.5},
                       .normal = {0.2, -0.1, 1.0},
                       .stiffness = 40.0,
                       .damping = 0.3,
                       .friction = {.stribeck_velocity = 0.4}};
}

static const char *const rubbing[] = {"soft", "tyre", "drum"};

/* Points on soft ground that rub, and stops that a joint has run into: on a tree, in each law, sliding and nearly at rest;
 * bristles held, or error states as well. */
EACH_TEST(test_contacts, 0, 16)
{
  const int estimated = _i >= 8;
  _i %= 8;
  static const double points[] = {0.1, 0.2, -0.3, 0.4, -0.2, 0.1, 0.3, 0.3, 0.2};
  static spatial_tree t;
  spatial_tree_describe(&t, 5 + (size_t)_i % 3, 61u + (unsigned)_i);
  const size_t last = t.machine.n_bodies - 1;
  bramah_contact contacts[2] = {{.name = "soft",
                                 .body = t.names[last],
                                 .n_points = 3,
                                 .points = points,
                                 .ground = {0, 0, 2.0},
                                 .normal = {0.2, -0.1, 1.0},
                                 .law = (bramah_contact_law)(_i % 2),
                                 .stiffness = 30.0,
                                 .damping = 0.2,
                                 .friction = {.model = BRAMAH_FRICTION_LUGRE,
                                              .coulomb = 0.3,
                                              .static_force = 0.5,
                                              .stribeck_velocity = 0.3,
                                              .viscous = 0.01,
                                              .bristle_stiffness = 40.0,
                                              .bristle_damping = 2.0}}};
  contacts[1] = contacts[0];
  contacts[1].name = "smooth", contacts[1].body = t.names[2], contacts[1].n_points = 1;
  contacts[1].friction.model = BRAMAH_FRICTION_NONE;
  t.machine.n_contacts = 2, t.machine.contacts = contacts;
  bramah_tyre tyre = tyre_of(t.names[last]);
  t.machine.n_tyres = _i < 4,
  t.machine.tyres = &tyre; /* at rest |w|^(1/2) and |Omega| are too steep for differences */
  t.joints[1].range[0] = -9.0, t.joints[1].range[1] = t.joints[1].initial_position - 0.01;
  t.joints[1].stop = (bramah_end_stop){.stiffness = 200.0, .damping = 3.0};
  if (_i >= 4)
    for (size_t j = 0; j <= last; j++) t.joints[j].initial_rate *= 1e-3;
  t.machine.integrator.position_tolerance = 1e-13;
  t.machine.estimated_bristles = rubbing;
  t.machine.n_estimated_bristles = estimated ? _i < 4 ? 2 : 1 : 0;
  running r = start(&t.machine);
  bramah_program *program = NULL;
  for (int phase = 0; phase < 3; phase++) {
    check_accelerations(r.c, 1e-5);
    check_transition(r.c, 1e-5);
    if (phase == 0) must(bramah_program_new(r.model, &diag, &program), &diag);
    check_program(r.c, program);
    if (phase == 1 && estimated) { /* by a program from here on */
      must(bramah_coupled_use(r.c, program, &diag), &diag);
      check_transition(r.c, 1e-5);
    }
    for (int k = 0; k < 20; k++) must(r.p.step(r.p.self, &diag), &diag);
    ck_assert_double_gt(shown(&r, "soft.normal_force"), 0.0);
    ck_assert_double_gt(shown(&r, "soft.penetration"), 0.1);
    if (_i < 4) ck_assert_double_gt(shown(&r, "tyre.normal_force"), 0.0);
  }
  stop(&r);
  bramah_program_free(program);
}

/* The coupler of a four-bar on the ground and its crank at a stop: behind a loop, by each formulation; bristles as above. */
EACH_TEST(test_contact_behind_a_loop, 0, 12)
{
  const int estimated = _i >= 6;
  _i %= 6;
  static const double points[] = {0.1, 0.0, 0.0, 0.5, 0.0, 0.0};
  static four_bar fb;
  four_bar_describe(&fb, 1.0, 1000000);
  bramah_contact contact = {
      .name = "soft",
      .body = fb.bodies[1].name,
      .n_points = 2,
      .points = points,
      .ground = {0, 3.0, 0},
      .normal = {0.1, 1.0, 0},
      .law = (bramah_contact_law)(_i % 2),
      .stiffness = 300.0,
      .damping = 0.3,
      .friction = {
          .model = BRAMAH_FRICTION_LUGRE, .coulomb = 0.4, .bristle_stiffness = 50.0, .bristle_damping = 2.0}};
  fb.machine.n_contacts = 1, fb.machine.contacts = &contact;
  bramah_tyre tyre = tyre_of(fb.bodies[1].name);
  tyre.ground[1] = 3.0, tyre.normal[0] = 0.1, tyre.normal[1] = 1.0, tyre.normal[2] = 0.2;
  tyre.axis[0] = 0.2, tyre.axis[1] = 0.1, tyre.axis[2] = 1.0, tyre.stiffness = 300.0;
  fb.machine.n_tyres = _i >= 2, fb.machine.tyres = &tyre;
  const bramah_brake brake = {.name = "drum",
                              .joint = fb.joints[1].name,
                              .torque = 40.0,
                              .static_torque = 60.0,
                              .stribeck_velocity = 1.0,
                              .bristle_stiffness = 10.0,
                              .command = {.input = _i % 2 ? fb.inputs[0].name : NULL, .initial = 4.0}};
  fb.machine.n_brakes = _i >= 2, fb.machine.brakes = &brake;
  static const double speeds[] = {-0.5, 0.0, 0.5}, torques[] = {60, 80, 20}, gears[] = {0, 10},
                      ratios[] = {2.0, -1.5};
  static const char *driven[2];
  driven[0] = fb.joints[1].name, driven[1] = fb.joints[2].name;
  const bramah_engine engine = {.name = "engine",
                                .joint = fb.joints[0].name,
                                .n_points = 3,
                                .speeds = speeds,
                                .torques = torques,
                                .rounding = 0.2,
                                .friction = 5.0,
                                .idle_speed = 0.1,
                                .idle_band = 5.0,
                                .throttle = {.input = fb.inputs[0].name}};
  const bramah_clutch clutch = {.name = "clutch",
                                .driving = fb.joints[0].name,
                                .n_driven = 2,
                                .driven = driven,
                                .torque = 50.0,
                                .stiffness = 200.0,
                                .damping = 20.0,
                                .n_gears = 2,
                                .gears = gears,
                                .ratios = ratios,
                                .command = {.input = fb.inputs[0].name},
                                .gear = {.input = fb.inputs[0].name}};
  const bramah_joint_torque helper = {.name = "helper",
                                      .joint = fb.joints[2].name,
                                      .torque = 30.0,
                                      .power = 3.0,
                                      .command = {.input = fb.inputs[0].name}};
  fb.machine.n_engines = fb.machine.n_clutches = fb.machine.n_joint_torques = (size_t)_i % 2;
  const bramah_pump pump = {
      .name = "geared",
      .from = "tank",
      .into = "v2",
      .flow = 2e-5,
      .set_pressure = 2e7,
      .band = 1e7,
      .drive = {.joint = fb.joints[_i == 5].name, .ratio = 2.0, .speed = 1.0, .efficiency = 0.8}};
  fb.machine.n_pumps = _i == 3 || _i == 5, fb.machine.pumps = &pump; /* not at rest, where it has a kink */
  fb.machine.engines = &engine, fb.machine.clutches = &clutch, fb.machine.joint_torques = &helper;
  fb.joints[0].range[0] = -9.0, fb.joints[0].range[1] = fb.joints[0].initial_position - 0.01;
  fb.joints[0].stop = (bramah_end_stop){.stiffness = 2e4, .damping = 300.0};
  fb.machine.integrator.formulation = (bramah_formulation)(_i / 2);
  fb.machine.integrator.position_tolerance = 1e-12;
  fb.machine.integrator.pressure_tolerance = 1e-5;
  fb.machine.estimated_bristles = rubbing;
  fb.machine.n_estimated_bristles = estimated ? _i < 2 ? 1 : 3 : 0;
  running r = start(&fb.machine);
  bramah_program *program = NULL;
  if (_i < 2) must(bramah_program_new(r.model, &diag, &program), &diag);
  for (int phase = 0; phase < 3; phase++) {
    const double u = phase < 2 ? 10.0 : _i < 2 ? 0.0 : 0.02;
    must(r.p.set_inputs(r.p.self, &u, &diag), &diag);
    for (int k = 0; k < 150; k++) must(r.p.step(r.p.self, &diag), &diag);
    check_accelerations(r.c, 1e-5);
    check_transition(r.c, 3e-5);
    if (program) check_program(r.c, program);
    if (phase == 0) check_parameters(r.c, 5e-3);
  }
  ck_assert_double_gt(fabs(shown(&r, "energy.stops")), 0.0);
  ck_assert_double_gt(fabs(shown(&r, "energy.contacts")), 0.0);
  stop(&r);
  bramah_program_free(program);
}

int main(void) { return run_tests("transition"); }
