/* SPDX-License-Identifier: MIT */
/* Outputs that a machine defines: values by hand, derivatives against differences, sums over time, refusals; and that the
 * bands which a filter gives them hold what is true as often as they say. */
#include "bramah/batch.h"
#include "bramah/session.h"
#include "lib/plant/coupled_internal.h"
#include "test/support/run.h"
#include "test/support/running.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static bramah_diag diag;

static const char *file_of(const char *name)
{
  static char path[512];
  const char *root = getenv("BRAMAH_SOURCE_ROOT");
  snprintf(path, sizeof path, "%s/test/property/%s", root ? root : ".", name);
  return path;
}

static void set(const running *r, const char *name, double value)
{
  must(r->p.set_parameter(r->p.self, must_find_parameter(&r->p, name), value, &diag), &diag);
}

/* ---- by hand ---- */

/* A beam of 2 m on a pin 1 m above the origin, turned by `angle` about z, up is y; at its end a plate is welded on, turned
 * about its x by 90 deg: its y is the beam's z, its z against the beam's y. */
typedef struct beam {
  bramah_machine machine;
  bramah_body bodies[2];
  bramah_joint joints[2];
  bramah_point points[2];
  bramah_force forces[2];
  bramah_output_definition outputs[16];
  const char *of[16][2];
  size_t n;
} beam;

static void define(beam *b, const char *name, bramah_output_definition_kind kind, const char *first,
                   const char *second)
{
  b->of[b->n][0] = first, b->of[b->n][1] = second;
  b->outputs[b->n] = (bramah_output_definition){
      .name = name, .line = (int)b->n + 10, .kind = kind, .n_of = second ? 2 : 1, .of = b->of[b->n]};
  b->machine.n_outputs = ++b->n;
}

static void describe(beam *b, double angle)
{
  *b = (beam){.n = 0};
  b->points[0] = (bramah_point){.name = "end", .position = {2.0, 0.0, 0.0}};
  b->points[1] = (bramah_point){.name = "corner", .position = {0.5, 0.2, 0.1}};
  b->bodies[0] = (bramah_body){
      .name = "beam", .mass = 10.0, .inertia = {1, 1, 1}, .n_points = 1, .points = &b->points[0]};
  b->bodies[1] = (bramah_body){
      .name = "plate", .mass = 1.0, .inertia = {1, 1, 1}, .n_points = 1, .points = &b->points[1]};
  b->joints[0] = (bramah_joint){.name = "pin",
                                .type = BRAMAH_JOINT_REVOLUTE,
                                .parent = "ground",
                                .child = "beam",
                                .position = {0, 1, 0},
                                .axis = {0, 0, 1},
                                .initial_position = angle,
                                .initial = BRAMAH_INITIAL_GIVEN};
  b->joints[1] = (bramah_joint){.name = "weld",
                                .type = BRAMAH_JOINT_FIXED,
                                .parent = "beam",
                                .child = "plate",
                                .position = {2, 0, 0},
                                .rotation = {1, 0, 0, 0, 0, -1, 0, 1, 0}};
  b->forces[0] = (bramah_force){.name = "push",
                                .body = "plate",
                                .point = {0.5, 0.2, 0.1},
                                .force = {3, 4, 12},
                                .axes = BRAMAH_AXES_INERTIAL};
  b->forces[1] = (bramah_force){.name = "pull",
                                .body = "plate",
                                .point = {0.5, 0.2, 0.1},
                                .force = {3, 12, 4},
                                .axes = BRAMAH_AXES_BODY};
  b->machine = (bramah_machine){.name = "beam",
                                .gravity = {0, -9.81, 0},
                                .n_bodies = 2,
                                .bodies = b->bodies,
                                .n_joints = 2,
                                .joints = b->joints,
                                .n_forces = 2,
                                .forces = b->forces,
                                .outputs = b->outputs};
}

EACH_TEST(test_values, 0, 4)
{
  const double a = 0.5 + 0.7 * _i, c = cos(a), s = sin(a), up = 1.0 + 2.5 * s - 0.1 * c;
  beam b;
  describe(&b, a);
  define(&b, "height", BRAMAH_OUTPUT_OF_HEIGHT, "plate.corner", NULL);
  define(&b, "above", BRAMAH_OUTPUT_OF_HEIGHT, "plate.corner", "beam.end");
  define(&b, "apart", BRAMAH_OUTPUT_OF_DISTANCE, "ground", "beam.end");
  define(&b, "corner", BRAMAH_OUTPUT_OF_POSITION, "plate.corner", NULL);
  define(&b, "plate", BRAMAH_OUTPUT_OF_POSE, "plate", NULL);
  define(&b, "beam", BRAMAH_OUTPUT_OF_POSE, "beam", NULL);
  define(&b, "load", BRAMAH_OUTPUT_OF_PAYLOAD, "plate", "beam");
  define(&b, "push", BRAMAH_OUTPUT_OF_FORCE, "push", NULL);
  define(&b, "pull", BRAMAH_OUTPUT_OF_FORCE, "pull", NULL);
  running r = start(&b.machine);
  set(&r, "plate.payload", 7.0), set(&r, "beam.payload", 30.0);
  /* The corner, in the axes of the beam: (0.5, -0.1, 0.2) from its end. The pull there: (3, -4, 12). */
  const double pull_x = 3.0 * c + 4.0 * s, pull_y = 3.0 * s - 4.0 * c;
  const struct {
    const char *name;
    double value;
  } expected[] = {{"height", up},
                  {"above", 0.5 * s - 0.1 * c},
                  {"apart", sqrt(5.0 + 4.0 * s)},
                  {"corner.x", 2.5 * c + 0.1 * s},
                  {"corner.y", up},
                  {"corner.z", 0.2},
                  {"plate.x", 2.0 * c},
                  {"plate.y", 1.0 + 2.0 * s},
                  {"plate.z", 0.0},
                  {"plate.yaw", remainder(a, 6.28318530717958648)},
                  {"plate.pitch", 0.0},
                  {"plate.roll", 1.57079632679489662},
                  {"beam.yaw", remainder(a, 6.28318530717958648)},
                  {"beam.roll", 0.0},
                  {"load", 37.0},
                  {"push", 13.0},
                  {"push.x", 3.0},
                  {"push.y", 4.0},
                  {"push.z", 12.0},
                  {"push.elevation", atan2(4.0, sqrt(153.0))},
                  {"push.azimuth", atan2(-12.0, 3.0)}, /* left of x, seen from above, is -z */
                  {"pull", 13.0},
                  {"pull.x", pull_x},
                  {"pull.y", pull_y},
                  {"pull.z", 12.0},
                  {"pull.elevation", atan2(pull_y, hypot(pull_x, 12.0))},
                  {"pull.azimuth", atan2(-12.0, pull_x)}};
  for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++)
    ck_assert_msg(fabs(shown(&r, expected[i].name) - expected[i].value) < 1e-12, "%s: %.17g, not %.17g",
                  expected[i].name, shown(&r, expected[i].name), expected[i].value);
  stop(&r);
}

/* A pump from the tank into a volume, an orifice from there back: what the pump gives the orifice throttles, but for what the
 * volume takes. */
TEST(test_powers)
{
  const double p = 8e6, p_tank = 2e5, Q = 3e-4, C = 1e-7;
  const bramah_supply tank = {.name = "tank", .pressure = p_tank};
  const bramah_hose hose = {1e-3, 1e9};
  const bramah_volume line = {.name = "line", .n_hoses = 1, .hoses = &hose, .initial_pressure = p};
  const bramah_pump pump = {.name = "pump", .from = "tank", .into = "line", .flow = Q};
  const bramah_orifice back = {.name = "back", .from = "line", .to = "tank", .flow_coefficient = C};
  beam b;
  describe(&b, 0.0);
  b.machine.oil_bulk_modulus = 1e9, b.machine.transition_pressure = 2e5;
  b.machine.n_supplies = 1, b.machine.supplies = &tank;
  b.machine.n_volumes = 1, b.machine.volumes = &line;
  b.machine.n_pumps = 1, b.machine.pumps = &pump;
  b.machine.n_orifices = 1, b.machine.orifices = &back;
  define(&b, "given", BRAMAH_OUTPUT_OF_HYDRAULIC_POWER, "pump", NULL);
  define(&b, "left", BRAMAH_OUTPUT_OF_HYDRAULIC_POWER, "pump", "back");
  define(&b, "tank", BRAMAH_OUTPUT_OF_HYDRAULIC_POWER, "tank", NULL);
  define(&b, "energy", BRAMAH_OUTPUT_OF_ENERGY, "pump", NULL);
  define(&b, "net", BRAMAH_OUTPUT_OF_FLOW, "pump", "back");
  define(&b, "drawn", BRAMAH_OUTPUT_OF_FLOW, "tank", NULL);
  define(&b, "fuel", BRAMAH_OUTPUT_OF_FUEL_RATE, "pump", NULL);
  b.outputs[6].idle = 5e-4, b.outputs[6].consumption = 6e-8;
  running r = start(&b.machine);
  const double q = C * sqrt(p - p_tank), given = (p - p_tank) * Q;
  ck_assert_double_eq_tol(shown(&r, "given"), given, 1e-9 * given);
  ck_assert_double_eq_tol(shown(&r, "left"), given - (p - p_tank) * q, 1e-9 * given);
  ck_assert_double_eq_tol(shown(&r, "tank"), p_tank * (Q - q), 1e-9 * given);
  ck_assert_double_eq_tol(shown(&r, "net"), Q + q, 1e-12 * Q);
  ck_assert_double_eq_tol(shown(&r, "drawn"), Q - q, 1e-12 * Q);
  ck_assert_double_eq_tol(shown(&r, "fuel"), 5e-4 + 6e-8 * given, 1e-15);
  double sum = 0.0, before = given;
  for (int k = 0; k < 50; k++) {
    must(r.p.step(r.p.self, &diag), &diag);
    sum += 0.5e-3 * (before + shown(&r, "given"));
    before = shown(&r, "given");
  }
  ck_assert_double_eq_tol(shown(&r, "energy"), sum, 1e-12 * sum);
  ck_assert_double_gt(fabs(before - given), 1e-3 * given);
  stop(&r);
}

/* ---- derivatives ---- */

/* Of the digger, some way into its motion, without a program and with one. */
EACH_TEST(test_rows, 0, 2)
{
  bramah_machine *machine;
  must(bramah_machine_load(file_of("digger.yaml"), 0, NULL, &diag, &machine), &diag);
  running r = start(machine);
  bramah_program *program = NULL;
  if (_i) {
    must(bramah_program_new(r.model, &diag, &program), &diag);
    must(bramah_coupled_use(r.c, program, &diag), &diag);
  }
  const bramah_plant *plant = &r.p;
  const size_t ne = bramah_plant_n_error(plant);
  double row[32], dx[32], u[2] = {3.0, -2.0}, value[2];
  void *snap = malloc(plant->snapshot_size);
  ck_assert(snap && ne <= 32);
  must(plant->set_inputs(plant->self, u, &diag), &diag);
  for (int k = 0; k < 200; k++) must(plant->step(plant->self, &diag), &diag);
  size_t n = 0;
  for (size_t i = 0; i < plant->n_output; i++) {
    if (r.model->output[i].code != BRAMAH__DEFINED) continue;
    bramah_output_info info;
    bramah_plant_output_info(plant, i, &info);
    ck_assert(info.has_row && !info.hidden);
    must(plant->output_row(plant->self, i, row), &diag);
    n++;
    for (size_t e = 0; e < ne; e++) {
      bramah_state_info state;
      bramah_plant_state_info(plant, e, &state);
      const double step = 1e-5 * state.scale;
      for (int side = 0; side < 2; side++) {
        memset(dx, 0, sizeof dx);
        dx[e] = side ? step : -step;
        plant->save(plant->self, snap);
        must(plant->inject(plant->self, dx, &diag), &diag);
        value[side] = plant->output(plant->self, i);
        plant->restore(plant->self, snap);
      }
      const double moved = value[1] - value[0], said = 2.0 * step * row[e];
      ck_assert_msg(fabs(moved - said) <= 1e-6 * fabs(moved) + 1e-9 * fmax(1e-3, fabs(value[0])) * 0.1,
                    "%s by %s: %.9g, not %.9g", info.name, state.name, said, moved);
    }
  }
  ck_assert_uint_eq(n, r.model->n_definitions - r.model->n_sums);

  /* By the spools, for linear equations. */
  double most = 0.0;
  for (size_t i = 0; i < plant->n_output; i++) {
    double by_U[2] = {0.0, 0.0};
    if (r.model->output[i].code != BRAMAH__DEFINED) continue;
    must(bramah__refresh(r.c, &diag), &diag);
    bramah__flow_by_spools(r.c, i, by_U);
    for (int s = 0; s < 2; s++) {
      const double U = r.c->state.U[s];
      for (int side = 0; side < 2; side++) {
        r.c->state.U[s] = U + (side ? 1e-4 : -1e-4);
        r.c->now_valid = 0;
        value[side] = plant->output(plant->self, i);
      }
      r.c->state.U[s] = U;
      r.c->now_valid = 0;
      ck_assert_double_eq_tol(value[1] - value[0], 2e-4 * by_U[s], 1e-9 * (1e-3 + fabs(value[0])));
      most = fmax(most, fabs(by_U[s]));
    }
  }
  ck_assert_double_gt(most, 100.0); /* W/V */
  free(snap);
  stop(&r);
  bramah_program_free(program);
  bramah_machine_free(machine);
}

/* What is zero has a length and no direction. */
TEST(test_nothing_has_no_direction)
{
  double row[4];
  beam b;
  describe(&b, 0.3);
  memset(b.forces[0].force, 0, sizeof b.forces[0].force);
  define(&b, "push", BRAMAH_OUTPUT_OF_FORCE, "push", NULL);
  define(&b, "none", BRAMAH_OUTPUT_OF_DISTANCE, "plate", "beam.end");
  running r = start(&b.machine);
  bramah_program *program = NULL;
  must(bramah_program_new(r.model, &diag, &program), &diag);
  for (int with = 0; with < 2; with++) {
    if (with) must(bramah_coupled_use(r.c, program, &diag), &diag);
    ck_assert(shown(&r, "push") == 0.0 && shown(&r, "push.azimuth") == 0.0 && shown(&r, "push.x") == 0.0);
    must(r.p.output_row(r.p.self, must_find(&r.p, "none"), row), &diag);
    ck_assert(isnan(row[0]));
  }
  stop(&r);
  bramah_program_free(program);
}

/* ---- refusals ---- */

TEST(test_refused)
{
  static const struct {
    const char *name;
    bramah_output_definition_kind kind;
    const char *first, *second, *part;
    bramah_status status;
  } wrong[] = {
      {"x", BRAMAH_OUTPUT_OF_HEIGHT, "plat.corner", NULL, "there is no body 'plat'", BRAMAH_E_REFERENCE},
      {"x", BRAMAH_OUTPUT_OF_HEIGHT, "plate.cornr", NULL, "'cornr'; did you mean 'corner'?",
       BRAMAH_E_REFERENCE},
      {"x", BRAMAH_OUTPUT_OF_HEIGHT, NULL, NULL, "has no name", BRAMAH_E_VALUE},
      {"x", BRAMAH_OUTPUT_OF_DISTANCE, "plate", NULL, "two points are needed", BRAMAH_E_VALUE},
      {"x", BRAMAH_OUTPUT_OF_POSITION, "plate", "beam", "made of one thing", BRAMAH_E_VALUE},
      {"x", BRAMAH_OUTPUT_OF_POSE, "plate.corner", NULL, "a pose is that of a body", BRAMAH_E_REFERENCE},
      {"x", BRAMAH_OUTPUT_OF_PAYLOAD, "bem", NULL, "did you mean 'beam'?", BRAMAH_E_REFERENCE},
      {"x", BRAMAH_OUTPUT_OF_FORCE, "dig", NULL, "no force of this name", BRAMAH_E_REFERENCE},
      {"x", BRAMAH_OUTPUT_OF_FLOW, "pump", NULL, "no hydraulic element or supply 'pump'", BRAMAH_E_REFERENCE},
      {"x", (bramah_output_definition_kind)77, "beam", NULL, "kind of output is unknown", BRAMAH_E_VALUE},
      {"pin.angle", BRAMAH_OUTPUT_OF_HEIGHT, "beam", NULL, "another output of the machine has this name",
       BRAMAH_E_KEY},
      {"good", BRAMAH_OUTPUT_OF_HEIGHT, "beam", NULL, "another output of the machine has this name",
       BRAMAH_E_KEY}};
  beam b;
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
    describe(&b, 0.3);
    define(&b, "good", BRAMAH_OUTPUT_OF_HEIGHT, "plate.corner", "ground");
    define(&b, wrong[i].name, wrong[i].kind, wrong[i].first, wrong[i].second);
    refuses(&b.machine, wrong[i].status, wrong[i].name, wrong[i].part, &diag);
    ck_assert_int_eq(diag.line, 11);
  }
}

/* ---- bands ---- */

enum { RUNS = 60, STEPS = 400, LOOKS = 2, N_LOOKED = 14 };

static const char *const looked_at[N_LOOKED] = {"height",
                                                "above_seat",
                                                "reach",
                                                "tip.x",
                                                "tip.z",
                                                "tilt.pitch",
                                                "payload",
                                                "tip_force",
                                                "tip_force.x",
                                                "tip_force.y",
                                                "tip_force.elevation",
                                                "tip_force.azimuth",
                                                "power",
                                                "drawn"};

typedef struct side {
  bramah_session *session;
  const bramah_plant *plant;
  void *start;
} side;

static void open_side(side *s)
{
  must(bramah_session_open(file_of("digger-study.yaml"), &diag, &s->session), &diag);
  s->plant = bramah_session_plant(s->session);
  s->start = malloc(s->plant->snapshot_size);
  s->plant->save(s->plant->self, s->start);
}

static void close_side(side *s)
{
  free(s->start);
  bramah_session_close(s->session);
}

static void change(const side *truth, const char *name, double value)
{
  must(truth->plant->set_parameter(truth->plant->self, must_find_parameter(truth->plant, name), value, &diag),
       &diag);
}

/* A truth drawn from what the study assumes, followed by its filter; the squared errors in sigmas at two times. */
static void run(const side *truth, const side *filter, unsigned *seed, double squares[N_LOOKED])
{
  const bramah_plant *plant = truth->plant;
  bramah_filter *f = bramah_session_filter(filter->session);
  const bramah_filter_info info = bramah_filter_get_info(f);
  const bramah_session_parts *parts = bramah_session_about(filter->session);
  const bramah_filter_options *o = &parts->options;
  const size_t n_dof = plant->n_dof, ne = bramah_plant_n_error(plant);
  const double decay = exp(-1e-3 / 0.5), kick = 300.0 * sqrt(1.0 - decay * decay), root_h = sqrt(1e-3);
  double dx[32], dig[2] = {300.0 * test_normal(seed), 300.0 * test_normal(seed)}, y[8];
  unsigned char present[8];
  memset(present, 1, sizeof present);
  plant->restore(plant->self, truth->start);
  for (size_t i = 0; i < ne; i++)
    dx[i] = test_normal(seed) * (i < n_dof       ? o->position_sigma[i]
                                 : i < 2 * n_dof ? o->rate_sigma[i - n_dof]
                                                 : o->first_order_sigma[i - 2 * n_dof]);
  must(plant->inject(plant->self, dx, &diag), &diag);
  change(truth, "bucket.payload", 15.0 * test_normal(seed));
  for (int k = 0; k < STEPS; k++) {
    const double u[2] = {2.0 * sin(0.01 * k), 2.0 * cos(0.008 * k)};
    change(truth, "dig.x", -3000.0 + dig[0]), change(truth, "dig.y", 4000.0 + dig[1]);
    for (int a = 0; a < 2; a++) dig[a] = decay * dig[a] + kick * test_normal(seed);
    must(plant->set_inputs(plant->self, u, &diag), &diag);
    must(bramah_filter_set_inputs(f, u, &diag), &diag);
    must(plant->step(plant->self, &diag), &diag);
    for (size_t i = 0; i < ne; i++)
      dx[i] = i < n_dof ? 0.0
                        : root_h * test_normal(seed) *
                              (i < 2 * n_dof ? o->acceleration_noise[i - n_dof]
                                             : o->first_order_noise[i - 2 * n_dof]);
    must(plant->inject(plant->self, dx, &diag), &diag);
    must(bramah_filter_predict(f, &diag), &diag);
    for (size_t i = 0; i < info.n_sensors; i++)
      y[i] = bramah_sensor_predict(&info.sensor[i], plant) + info.sensor[i].sigma * test_normal(seed);
    must(bramah_filter_correct(f, y, present, &diag), &diag);
    if ((k + 1) % (STEPS / LOOKS)) continue;
    for (size_t i = 0; i < N_LOOKED; i++) {
      const size_t output = must_find(plant, looked_at[i]);
      const double error = plant->output(plant->self, output) - info.plant->output(info.plant->self, output),
                   sigma = bramah_filter_output_sigma(f, output);
      ck_assert(sigma > 0.0);
      squares[i] += error * error / (sigma * sigma) / (RUNS * LOOKS);
    }
  }
}

/* The mean square of errors in their sigmas over independent runs; the two times of a run count as one for the band, which
 * holds 99.99 % of chi square with RUNS degrees of freedom. */
TEST(test_bands_hold)
{
  const double least = 0.43, most = 1.89;
  double squares[N_LOOKED] = {0.0};
  side truth, filter;
  unsigned seed = 5;
  open_side(&truth);
  open_side(&filter);
  bramah_filter *f = bramah_session_filter(filter.session);
  void *begin = malloc(bramah_filter_snapshot_size(f));
  bramah_filter_save(f, begin);
  for (int r = 0; r < RUNS; r++) {
    must(bramah_filter_restore(f, begin), &diag);
    run(&truth, &filter, &seed, squares);
  }
  for (size_t i = 0; i < N_LOOKED; i++)
    ck_assert_msg(squares[i] > least && squares[i] < most, "%s: %.2f", looked_at[i], squares[i]);
  free(begin);
  close_side(&truth);
  close_side(&filter);
}

/* ---- lanes ---- */

/* Eight filters in lanes show what each shows alone, to the bit. */
TEST(test_in_lanes)
{
  enum { N = 8, SENSORS = 8 };
  bramah_session *all[N], *alone[N], *first;
  bramah_filter *filter[N];
  bramah_batch *batch;
  double y[N * SENSORS], value[N * N_LOOKED], sigma[N * N_LOOKED];
  size_t output[N_LOOKED];
  unsigned seed = 9;
  must(bramah_session_open(file_of("digger-study.yaml"), &diag, &first), &diag);
  for (size_t i = 0; i < N; i++) {
    must(bramah_session_clone(first, &diag, &all[i]), &diag);
    must(bramah_session_clone(first, &diag, &alone[i]), &diag);
    filter[i] = bramah_session_filter(all[i]);
  }
  for (size_t i = 0; i < N_LOOKED; i++) output[i] = must_find(bramah_session_plant(first), looked_at[i]);
  must(bramah_batch_of(N, filter, &diag, &batch), &diag);
  for (int k = 0; k < 60; k++) {
    const double u[2] = {2.0 * sin(0.01 * k), 2.0 * cos(0.008 * k)};
    unsigned char present[SENSORS];
    memset(present, 1, sizeof present);
    for (size_t i = 0; i < N; i++) {
      bramah_filter *f = bramah_session_filter(alone[i]);
      const bramah_filter_info info = bramah_filter_get_info(f);
      must(bramah_filter_set_inputs(f, u, &diag), &diag);
      must(bramah_filter_predict(f, &diag), &diag);
      for (size_t s = 0; s < SENSORS; s++)
        y[i * SENSORS + s] =
            bramah_sensor_predict(&info.sensor[s], info.plant) + info.sensor[s].sigma * test_normal(&seed);
      must(bramah_filter_correct(f, y + i * SENSORS, present, &diag), &diag);
    }
    const bramah_batch_cycle cycle = {.n_u = 1, .u = u, .n_y = N, .y = y};
    ck_assert_uint_eq(bramah_batch_step(batch, &cycle), N);
    if (k % 20 != 19) continue;
    bramah_batch_outputs(batch, NULL, N_LOOKED, output, value, sigma);
    for (size_t i = 0; i < N; i++) {
      bramah_filter *f = bramah_session_filter(alone[i]);
      const bramah_plant *plant = bramah_session_plant(alone[i]);
      ck_assert(bramah_batch_get(batch, i).in_lane);
      for (size_t o = 0; o < N_LOOKED; o++) {
        ck_assert_double_eq(value[i * N_LOOKED + o], plant->output(plant->self, output[o]));
        ck_assert_double_eq(sigma[i * N_LOOKED + o], bramah_filter_output_sigma(f, output[o]));
      }
    }
  }
  bramah_batch_free(batch);
  for (size_t i = 0; i < N; i++) bramah_session_close(all[i]), bramah_session_close(alone[i]);
  bramah_session_close(first);
}

int main(void) { return run_tests("outputs"); }
