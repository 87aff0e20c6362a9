/* SPDX-License-Identifier: MIT */
/* Many filters in one call: each as if it were alone. */
#define _XOPEN_SOURCE 700 /* mkdtemp */
#include "bramah/batch.h"
#include "bramah/replay.h"
#include "test/support/four_bar.h"
#include "test/support/native.h"
#include "test/support/running.h"
#include "test/support/run.h"

#include <math.h>
#include <string.h>

/* Groups of four structures, each eight and one by itself; one filter is thrown about, so that its steps leave the lanes, one is asked for in each cycle. */
enum { STRUCTURES = 4, N = 9 * STRUCTURES, STEPS = 200, SENSORS = 8, THROWN = 22 };

/* Besides those of the study: what follows accelerations, and angles. */
static const bramah_sensor_options others[] = {
    {.name = "felt",
     .kind = BRAMAH_SENSOR_ACCELEROMETER,
     .at = "coupler",
     .point = {0.3, 0.1, 0},
     .axis = {1, 1, 0},
     .sigma = 0.5},
    {.name = "tilt", .kind = BRAMAH_SENSOR_INCLINOMETER, .at = "rocker", .axis = {1, 0, 0}, .sigma = 0.02},
    {.name = "turn",
     .kind = BRAMAH_SENSOR_INCLINOMETER,
     .at = "coupler",
     .axis = {1, 0, 0},
     .about = {0, 0, 1},
     .sigma = 0.02}};

static bramah_diag diag;

/* Filters of the four-bar that differ in parameters, noise and measurements. */
typedef struct ensemble {
  four_bar_rig rig;
  bramah_program *program, *of_alone; /* the same; the one without native code */
  bramah_sensor sensor[SENSORS];
  size_t rocker;
  double acceleration_noise[N];
  double *parameters; /* [N x n_parameter] */
  bramah_filter_options options[N];
  bramah_batch_options all;
  double y[N * SENSORS];
  unsigned seed;
} ensemble;

static double opens_at = 40e5; /* the relief valve [Pa] */

/* As four_bar_open; later in the cycle a relief valve comes into the reach of what is believed of a pressure. */
static void open_machine(four_bar_rig *rig)
{
  const bramah_relief_valve relief = {.name = "relief",
                                      .from = "v2",
                                      .to = "tank",
                                      .flow_coefficient = 1e-8,
                                      .set_pressure = opens_at,
                                      .override = 5e5};
  const size_t crank = 0;
  const double angle = acos(0.5), rest = 0.0;
  four_bar_describe(&rig->fb, 1.0, 1000000);
  rig->fb.machine.relief_valves = &relief, rig->fb.machine.n_relief_valves = 1;
  must(bramah_model_new(&rig->fb.machine, &diag, &rig->model), &diag);
  must(bramah_coupled_new(rig->model, &diag, &rig->c), &diag);
  must(bramah_coupled_start(rig->c, 1, &crank, &angle, &rest, NULL, &diag), &diag);
  rig->plant = bramah_coupled_plant(rig->c);
}

enum { INTERPRETED, BY_TAPE, GIVEN, NATIVE, WAYS };

static void open_ensemble(ensemble *e, int way)
{
  static const double sp = 0.05, sv = 0.1, spr[3] = {1e5, 1e5, 1e5}, qp[3] = {8e5, 6e5, 6e5};
  static const bramah_augmented augmented[] = {
      {.kind = BRAMAH_AUGMENTED_PARAMETER, .name = "pump", .at = "pump.pressure", .sigma = 2e5, .noise = 1e4},
      {.kind = BRAMAH_AUGMENTED_PARAMETER,
       .name = "oil",
       .at = "oil.bulk_modulus",
       .sigma = 4e7,
       .logarithmic = 1},
      {.kind = BRAMAH_AUGMENTED_PARAMETER,
       .name = "payload",
       .at = "crank.payload",
       .sigma = 3.0,
       .least = -1.0,
       .most = 40.0},
      {.kind = BRAMAH_AUGMENTED_PARAMETER, .name = "offset", .at = "valve.offset", .sigma = 0.02},
      {.kind = BRAMAH_AUGMENTED_BIAS, .name = "zero", .at = "p2", .sigma = 1e5, .noise = 1e3}};
  /* A budget: roles that are found or not, states that move, errors of sensors of all kinds. */
  static const bramah_augmented budget[] = {
      {.kind = BRAMAH_AUGMENTED_PARAMETER,
       .name = "oil",
       .at = "oil.bulk_modulus",
       .sigma = 4e8,
       .logarithmic = 1,
       .time_constant = 200.0,
       .noise = 4e7,
       .role = BRAMAH_AUGMENTED_AUTO},
      {.kind = BRAMAH_AUGMENTED_PARAMETER,
       .name = "pump",
       .at = "pump.pressure",
       .sigma = 5e4,
       .time_constant = 20.0,
       .role = BRAMAH_AUGMENTED_AUTO},
      {.kind = BRAMAH_AUGMENTED_PARAMETER,
       .name = "tank",
       .at = "tank.pressure",
       .sigma = 2e4,
       .role = BRAMAH_AUGMENTED_CONSIDERED},
      {.kind = BRAMAH_AUGMENTED_PARAMETER,
       .name = "payload",
       .at = "crank.payload",
       .sigma = 3.0,
       .time_constant = 1.0,
       .least = -1.0,
       .most = 40.0},
      {.kind = BRAMAH_AUGMENTED_BIAS,
       .name = "zero",
       .at = "p2",
       .sigma = 1e5,
       .noise = 1e3,
       .role = BRAMAH_AUGMENTED_AUTO},
      {.kind = BRAMAH_AUGMENTED_BIAS,
       .name = "drift",
       .at = "p3",
       .sigma = 1e5,
       .noise = 1e3,
       .order = 2,
       .time_constant = 0.5},
      {.kind = BRAMAH_AUGMENTED_GAIN, .name = "gain", .at = "p1", .sigma = 0.01},
      {.kind = BRAMAH_AUGMENTED_GAIN,
       .name = "gain2",
       .at = "p2",
       .sigma = 0.01,
       .role = BRAMAH_AUGMENTED_CONSIDERED},
      {.kind = BRAMAH_AUGMENTED_DELAY,
       .name = "late",
       .at = "p1",
       .sigma = 1e-3,
       .order = 2,
       .role = BRAMAH_AUGMENTED_CONSIDERED},
      {.kind = BRAMAH_AUGMENTED_DELAY, .name = "slow", .at = "encoder", .sigma = 1e-3, .order = 2}};
  static const bramah_augmented *const states[STRUCTURES] = {augmented, augmented, augmented, budget};
  static const size_t n_states[STRUCTURES] = {0, 1, sizeof augmented / sizeof *augmented,
                                              sizeof budget / sizeof *budget};
  *e = (ensemble){.seed = 7};
  open_machine(&e->rig);
  const bramah_plant *plant = &e->rig.plant;
  if (way != INTERPRETED) must(bramah_program_new(e->rig.model, &diag, &e->program), &diag);
  e->of_alone = e->program;
  if (way == NATIVE) {
    must(bramah_program_new(e->rig.model, &diag, &e->of_alone), &diag);
    use_all_native(e->program);
  }
  must(bramah_coupled_use(e->rig.c, e->program, &diag), &diag);
  for (size_t i = 0; i < SENSORS; i++)
    must(bramah_sensor_init(i < 5 ? &four_bar_sensors[i] : &others[i - 5], plant, &diag, &e->sensor[i]),
         &diag);
  e->parameters = calloc(N * plant->n_parameter, sizeof(double));
  size_t bulk, payload;
  e->rocker = must_find(plant, "rocker.angle");
  must(bramah_plant_parameter_index(plant, "oil.bulk_modulus", &bulk, &diag), &diag);
  must(bramah_plant_parameter_index(plant, "crank.payload", &payload, &diag), &diag);
  for (size_t i = 0; i < N; i++) {
    for (size_t k = 0; k < plant->n_parameter; k++)
      e->parameters[i * plant->n_parameter + k] = plant->parameter(plant->self, k);
    e->parameters[i * plant->n_parameter + bulk] *= 1.0 + 0.02 * (double)i;
    e->parameters[i * plant->n_parameter + payload] += 3.0 * (double)i;
    e->acceleration_noise[i] = 0.01 * (double)(i + 1);
    bramah_filter_options_default(&e->options[i]);
    e->options[i].position_sigma = &sp;
    e->options[i].rate_sigma = &sv;
    e->options[i].first_order_sigma = spr;
    e->options[i].acceleration_noise = &e->acceleration_noise[i];
    e->options[i].first_order_noise = qp;
    e->options[i].n_augmented = n_states[i % STRUCTURES];
    e->options[i].augmented = states[i % STRUCTURES];
    e->options[i].basis = i % STRUCTURES == 0
                              ? &e->rocker
                              : NULL; /* noise in a coordinate that depends on the independent one */
  }
  e->options[THROWN].common_gate = e->options[THROWN].drift_gate = 0.0;
  e->all = (bramah_batch_options){.n = N,
                                  .start = e->rig.c,
                                  .n_sensors = SENSORS,
                                  .sensors = e->sensor,
                                  .options = e->options,
                                  .parameters = e->parameters};
}

static void close_ensemble(ensemble *e)
{
  free(e->parameters);
  bramah_coupled_use(e->rig.c, NULL, &diag);
  if (e->of_alone != e->program) bramah_program_free(e->of_alone);
  bramah_program_free(e->program);
  four_bar_close(&e->rig);
}

/* Measurements near what the first filter expects, with noise of their own for each filter. */
static bramah_batch_cycle cycle_of(ensemble *e, bramah_batch *batch, const double *u)
{
  const bramah_plant *plant = bramah_filter_get_info(bramah_batch_filter(batch, 0)).plant;
  for (size_t i = 0; i < N; i++)
    for (size_t s = 0; s < SENSORS; s++)
      e->y[i * SENSORS + s] =
          bramah_sensor_predict(&e->sensor[s], plant) + e->sensor[s].sigma * test_normal(&e->seed);
  for (size_t s = 2; s < 5; s++) e->y[THROWN * SENSORS + s] += 1e7 * test_normal(&e->seed);
  return (bramah_batch_cycle){.n_u = 1, .u = u, .n_y = N, .y = e->y};
}

/* Everything that the two filters hold, and what their plants have counted. */
static void check_same(bramah_filter *a, bramah_filter *b)
{
  const size_t size = bramah_filter_snapshot_size(a);
  unsigned char *of_a = malloc(size), *of_b = malloc(size);
  ck_assert_uint_eq(size, bramah_filter_snapshot_size(b));
  bramah_filter_save(a, of_a);
  bramah_filter_save(b, of_b);
  ck_assert_int_eq(memcmp(of_a, of_b, size), 0);
  free(of_a);
  free(of_b);
  const bramah_step_report steps_a = bramah_coupled_report(bramah_filter_get_info(a).plant->self),
                           steps_b = bramah_coupled_report(bramah_filter_get_info(b).plant->self);
  ck_assert_uint_eq(steps_a.steps, steps_b.steps);
  ck_assert_uint_eq(steps_a.iterations, steps_b.iterations);
  ck_assert_uint_eq(steps_a.divided, steps_b.divided);
  ck_assert_uint_eq(steps_a.compiled, steps_b.compiled);
  ck_assert_uint_eq(steps_a.left_divergence, steps_b.left_divergence);
  ck_assert_uint_eq(steps_a.left_pivot, steps_b.left_pivot);
}

/* What the last corrections say of the samples, and of what is considered in them. */
static void check_same_correction(const bramah_filter *a, const bramah_filter *b)
{
  const bramah_filter_last of_a = bramah_filter_get_last(a), of_b = bramah_filter_get_last(b);
  const size_t n = bramah_filter_get_info(a).n_augmented;
  for (size_t s = 0; s < SENSORS; s++) {
    ck_assert_double_eq(of_a.innovation[s].sigma, of_b.innovation[s].sigma);
    ck_assert_double_eq(of_a.innovation[s].considered, of_b.innovation[s].considered);
  }
  ck_assert_int_eq(memcmp(of_a.correlation, of_b.correlation, SENSORS * n * sizeof(double)), 0);
}

/* Does it estimate some of what it considered at first, and consider some still? */
static int finds_roles(const bramah_filter *filter)
{
  const bramah_filter_info info = bramah_filter_get_info(filter);
  size_t found = 0, left = 0;
  for (size_t i = 0; i < info.n_augmented; i++) {
    if (info.augmented[i].role != BRAMAH_AUGMENTED_AUTO) continue;
    found += bramah_filter_get_augmented(filter, i).is_estimated != 0;
    left += !bramah_filter_get_augmented(filter, i).is_estimated;
  }
  return found && left;
}

/* Outputs that filters in lanes say there, one of them with what accelerations have of it; with `all` one that none does. */
enum { MOST_SHOWN = 8 };
typedef struct outputs {
  size_t n, output[MOST_SHOWN];
  double value[N * MOST_SHOWN], sigma[N * MOST_SHOWN];
} outputs;

static void choose_outputs(const ensemble *e, int all, outputs *out)
{
  static const char *const name[] = {"crank.angle", "crank.rate",    "crank.acceleration", "v2.pressure",
                                     "lift.stroke", "lift.velocity", "lift.force"};
  out->n = sizeof name / sizeof *name - !all;
  for (size_t k = 0; k < out->n; k++) out->output[k] = must_find(&e->rig.plant, name[k]);
}

static void check_same_outputs(const outputs *shown, size_t i, bramah_filter *filter)
{
  const bramah_plant *plant = bramah_filter_get_info(filter).plant;
  for (size_t k = 0; k < shown->n; k++) {
    const size_t at = i * shown->n + k;
    ck_assert_double_eq(shown->value[at], plant->output(plant->self, shown->output[k]));
    ck_assert_double_eq(shown->sigma[at], bramah_filter_output_sigma(filter, shown->output[k]));
  }
}

/* A filter of the ensemble by itself. */
static bramah_filter *alone(const ensemble *e, size_t i, bramah_coupled **plant)
{
  bramah_filter *filter;
  must(bramah_coupled_new(e->rig.model, &diag, plant), &diag);
  must(bramah_coupled_use(*plant, e->of_alone, &diag), &diag);
  const bramah_plant table = bramah_coupled_plant(*plant);
  void *snap = malloc(table.snapshot_size);
  e->rig.plant.save(e->rig.plant.self, snap);
  table.restore(table.self, snap);
  free(snap);
  for (size_t k = 0; k < table.n_parameter; k++)
    must(table.set_parameter(table.self, k, e->parameters[i * table.n_parameter + k], &diag), &diag);
  must(bramah_filter_new(&table, SENSORS, e->sensor, &e->options[i], &diag, &filter), &diag);
  return filter;
}

/* By the interpreter, by the program on its tape, of filters that were there already, and by native code: the bytes of filters
 * alone; one fails on the way, which stops it and no other. */
EACH_TEST(test_as_alone, 0, WAYS)
{
  enum { FAILS = 5, AT = 120, SKIPS = 11, SKIPPED = 5 };
  static ensemble e;
  static outputs shown;
  bramah_coupled *plant[N], *other_plant[N] = {NULL};
  bramah_filter *filter[N], *other[N] = {NULL};
  bramah_batch *batch;
  const unsigned char present[SENSORS] = {1, 1, 1, 1, 1, 1, 1, 1};
  open_ensemble(&e, _i);
  for (size_t i = 0; i < N; i++) filter[i] = alone(&e, i, &plant[i]);
  for (size_t i = 0; i < N && _i == GIVEN; i++) other[i] = alone(&e, i, &other_plant[i]);
  must(_i == GIVEN ? bramah_batch_of(N, other, &diag, &batch) : bramah_batch_new(&e.all, &diag, &batch),
       &diag);
  unsigned char taking[N];
  memset(taking, 1, sizeof taking);
  choose_outputs(&e, _i == GIVEN, &shown);
  int at_kink = 0;
  for (int k = 0; k < STEPS; k++) {
    const double u = four_bar_command((int64_t)k * 20000000);
    bramah_batch_cycle cycle = cycle_of(&e, batch, &u);
    if (k == AT) e.y[FAILS * SENSORS + 2] = NAN;
    taking[SKIPS] = k % 50 >= SKIPPED; /* one is slower than the others */
    cycle.taking = taking;
    if (_i == GIVEN)
      bramah_batch_predict(batch, &cycle); /* in two halves, of all blocks the one before the other */
    ck_assert_uint_eq(_i == GIVEN ? bramah_batch_correct(batch, &cycle) : bramah_batch_step(batch, &cycle),
                      (size_t)(k < AT ? N : N - 1) - !taking[SKIPS]);
    for (size_t i = 0; i < N; i++) {
      /* the last of each structure are by themselves; later on some have faulty sensors, and at full command the valve's offset is at an edge */
      if (k == 20 && i < 8 * STRUCTURES && i != THROWN)
        ck_assert_int_eq(bramah_batch_get(batch, i).in_lane, _i > 0);
      at_kink += i == 0 && !bramah_batch_get(batch, i).in_lane; /* which has no parameters with edges */
      if ((i == FAILS && k > AT) || !taking[i]) continue;
      must(bramah_filter_set_inputs(filter[i], &u, &diag), &diag);
      must(bramah_filter_predict(filter[i], &diag), &diag);
      const bramah_status status = bramah_filter_correct(filter[i], e.y + i * SENSORS, present, &diag);
      ck_assert_int_eq(status, bramah_batch_get(batch, i).status);
    }
    if (k % 31) continue;
    /* new inputs, as those before a step: what depends on them is asked for in between */
    const double next = four_bar_command((int64_t)(k + 1) * 20000000);
    bramah_batch_inputs(batch, &(bramah_batch_cycle){.n_u = 1, .u = &next, .taking = taking});
    bramah_batch_outputs(batch, taking, shown.n, shown.output, shown.value, shown.sigma);
    for (size_t i = 0; i < N; i++) {
      if ((i == FAILS && k >= AT) || !taking[i]) continue;
      must(bramah_filter_set_inputs(filter[i], &next, &diag), &diag);
      check_same_outputs(&shown, i, filter[i]);
    }
  }
  size_t find_roles = 0, differ = 0;
  bramah_batch_outputs(batch, NULL, shown.n, shown.output, shown.value, shown.sigma);
  for (size_t i = 0; i < N; i++) {
    const bramah_batch_result r = bramah_batch_get(batch, i);
    check_same(bramah_batch_filter(batch, i), filter[i]);
    if (i != FAILS) check_same_correction(bramah_batch_filter(batch, i), filter[i]);
    find_roles += (size_t)finds_roles(filter[i]);
    ck_assert_double_eq(r.log_likelihood, bramah_filter_log_likelihood(filter[i]));
    check_same_outputs(&shown, i, filter[i]);
    differ += shown.value[i * shown.n] != shown.value[0];
    ck_assert_int_eq(r.status, i == FAILS ? BRAMAH_E_NOT_FINITE : BRAMAH_OK);
    ck_assert_int_eq(r.time_ns, (i == FAILS   ? AT + 1
                                 : i == SKIPS ? STEPS - SKIPPED * STEPS / 50
                                              : STEPS) *
                                    1000000);
  }
  ck_assert_int_gt(at_kink, 0);
  if (_i != INTERPRETED) ck_assert_int_lt(at_kink, STEPS / 2);
  ck_assert_uint_gt(find_roles, 0);
  ck_assert_str_eq(bramah_batch_get(batch, FAILS).diag->thing, four_bar_sensors[2].name);
  const bramah_step_report thrown = bramah_coupled_report(bramah_filter_get_info(filter[THROWN]).plant->self);
  ck_assert_int_eq(thrown.compiled > 100 && thrown.left_divergence > 3, _i != INTERPRETED);
  ck_assert_uint_eq(differ, N - 1); /* they are different filters */
  bramah_batch_resume(batch, FAILS);
  const double u = 0.0;
  ck_assert_uint_eq(bramah_batch_predict(batch, &(bramah_batch_cycle){.n_u = 1, .u = &u}), N);
  bramah_batch_free(batch);
  for (size_t i = 0; i < N; i++) {
    bramah_filter_free(filter[i]);
    bramah_coupled_free(plant[i]);
    bramah_filter_free(other[i]);
    bramah_coupled_free(other_plant[i]);
  }
  close_ensemble(&e);
}

/* A log of its own for each filter: on the grid, beside it and slow, faster than the grid, with gaps; of different lengths, and
 * one whose time goes back. */
typedef struct log_of {
  const ensemble *e;
  size_t i;
  int row;
} log_of;

enum { ROWS = 60, GOES_BACK = 10 };

static bramah_status next_row(void *user, bramah_sample *sample, int *end, bramah_diag *d)
{
  static const int64_t every[4] = {1000000, 7300000, 400000, 1000000};
  log_of *log = user;
  const bramah_plant *start = &log->e->rig.plant;
  const int k = log->row++;
  unsigned seed = (unsigned)(1000 * (int)log->i + k + 1);
  (void)d;
  if (k == ROWS + 3 * (int)log->i) return *end = 1, BRAMAH_OK;
  sample->time_ns = 5000000 + k * every[log->i % 4];
  if (log->i == GOES_BACK && k == 50) sample->time_ns = 0;
  sample->inputs[0] = four_bar_command(sample->time_ns * 20);
  sample->has_input[0] = k % 5 == 0;
  for (size_t s = 0; s < SENSORS; s++) {
    const bramah_sensor *sensor = &log->e->sensor[s];
    sample->y[s] = bramah_sensor_predict(sensor, start) + sensor->sigma * test_normal(&seed);
    sample->present[s] = log->i % 4 != 3 || (k + (int)s) % 3;
  }
  sample->mark = k;
  return BRAMAH_OK;
}

/* Replays in lockstep, gathering rows or one by one, deliver what each delivers alone and end with the same bytes. */
EACH_TEST(test_replays_in_lockstep, 0, 3)
{
  static ensemble e;
  static bramah_replay_point at[N];
  bramah_coupled *plant[2 * N];
  bramah_filter *filter[2 * N];
  bramah_replay *replay[2 * N];
  log_of log[2 * N];
  bramah_lockstep *lockstep;
  bramah_replay_options options;
  bramah_replay_options_default(&options);
  options.gather = _i > 0;
  open_ensemble(&e, BY_TAPE);
  for (size_t i = 0; i < 2 * N; i++) { /* those behind N alone */
    log[i] = (log_of){&e, i % N, 0};
    filter[i] = alone(&e, i % N, &plant[i]);
    must(bramah_replay_new(filter[i], &options, next_row, &log[i], &diag, &replay[i]), &diag);
  }
  must(bramah_coupled_use(plant[0], _i == 2 ? NULL : e.program, &diag),
       &diag); /* not of one program: none together */
  must(bramah_coupled_use(plant[N], _i == 2 ? NULL : e.program, &diag), &diag);
  must(bramah_lockstep_new(N, replay, &diag, &lockstep), &diag);
  memset(at, 0, sizeof at);
  size_t going = N, points = 0;
  while (going) {
    int before[N];
    for (size_t i = 0; i < N; i++) before[i] = at[i].end || at[i].status;
    bramah_lockstep_next(lockstep, at);
    going = 0;
    for (size_t i = 0; i < N; i++) {
      int64_t time_ns = 0;
      int corrected, end;
      if (before[i]) continue;
      going++;
      const bramah_status status = bramah_replay_next(replay[N + i], &time_ns, &corrected, &end, &diag);
      ck_assert_int_eq(at[i].status, status);
      if (status) {
        ck_assert_str_eq(at[i].diag.message, diag.message);
        continue;
      }
      ck_assert_int_eq(at[i].end, end);
      ck_assert_int_eq(at[i].corrected, corrected);
      if (end) continue;
      ck_assert_int_eq(at[i].time_ns, time_ns);
      const bramah_innovation *a = bramah_filter_get_last(filter[i]).innovation,
                              *b = bramah_filter_get_last(filter[N + i]).innovation;
      for (size_t s = 0; s < SENSORS; s++) {
        ck_assert_int_eq(a[s].present, b[s].present);
        if (!a[s].present) continue;
        ck_assert_double_eq(a[s].innovation, b[s].innovation);
        ck_assert_double_eq(a[s].rest, b[s].rest);
        ck_assert_double_eq(a[s].rest_variance, b[s].rest_variance);
      }
      points++;
    }
  }
  ck_assert_uint_gt(points, 1000);
  ck_assert_int_eq(at[GOES_BACK].status, BRAMAH_E_TIME);
  check_same(bramah_lockstep_filter(lockstep, 0), filter[N]);
  bramah_lockstep_free(lockstep);
  bramah_lockstep_free(NULL);
  for (size_t i = 0; i < N; i++) {
    const size_t size = bramah_replay_snapshot_size(replay[i]);
    unsigned char *a = malloc(size), *b = malloc(size);
    bramah_replay_save(replay[i], a);
    bramah_replay_save(replay[N + i], b);
    ck_assert_int_eq(memcmp(a, b, size), 0);
    check_same(filter[i], filter[N + i]);
    free(a);
    free(b);
  }
  for (size_t i = 0; i < 2 * N; i++) {
    bramah_replay_free(replay[i]);
    bramah_filter_free(filter[i]);
    bramah_coupled_free(plant[i]);
  }
  close_ensemble(&e);
}

/* Replays of the same rows, of which one reads for all: each filter goes as it does alone, whoever of them ends first. */
EACH_TEST(test_one_reads_for_all, 0, 5)
{
  static const size_t logs[] = {0, 1, 2, 3, GOES_BACK};
  static ensemble e;
  static bramah_replay_point at[N];
  bramah_coupled *plant[2 * N];
  bramah_filter *filter[2 * N];
  bramah_replay *replay[2 * N];
  log_of log[2 * N];
  bramah_lockstep *lockstep;
  bramah_replay_options options;
  bramah_replay_options_default(&options);
  options.gather = 1;
  open_ensemble(&e, BY_TAPE);
  for (size_t i = 0; i < 2 * N; i++) { /* those behind N alone */
    log[i] = (log_of){&e, logs[_i], 0};
    filter[i] = alone(&e, i % N, &plant[i]);
    options.rows = i < N ? &e : NULL;
    must(bramah_replay_new(filter[i], &options, next_row, &log[i], &diag, &replay[i]), &diag);
  }
  must(bramah_lockstep_new(N, replay, &diag, &lockstep), &diag);
  memset(at, 0, sizeof at);
  size_t going = N, points = 0;
  for (int k = 0; going; k++) {
    int before[N];
    for (size_t i = 0; i < N; i++) { /* the one that reads is not to go on for ever, nor some others */
      if (i % 5 == 0 && k == 20 + (int)i) at[i].end = 1;
      before[i] = at[i].end || at[i].status;
    }
    bramah_lockstep_next(lockstep, at);
    going = 0;
    for (size_t i = 0; i < N; i++) {
      int64_t time_ns = 0;
      int corrected, end;
      if (before[i]) continue;
      going++;
      const bramah_status status = bramah_replay_next(replay[N + i], &time_ns, &corrected, &end, &diag);
      ck_assert_int_eq(at[i].status, status);
      if (status) {
        ck_assert_str_eq(at[i].diag.message, diag.message);
        continue;
      }
      ck_assert_int_eq(at[i].end, end);
      ck_assert_int_eq(at[i].corrected, corrected);
      if (end) continue;
      ck_assert_int_eq(at[i].time_ns, time_ns);
      check_same(bramah_lockstep_filter(lockstep, i), filter[N + i]);
      points++;
    }
  }
  ck_assert_uint_gt(points, 500);
  for (size_t i = 0; i < N; i++) ck_assert_int_eq(log[i].row > 0, i == 0);
  bramah_lockstep_free(lockstep);
  for (size_t i = 0; i < 2 * N; i++) {
    bramah_replay_free(replay[i]);
    bramah_filter_free(filter[i]);
    bramah_coupled_free(plant[i]);
  }
  close_ensemble(&e);
}

/* Commands go over the limit of the valve and back between what is asked of a state and its step: the spool follows its
 * command no more, or again, while all else of the state stays. In lanes, on the tape and by the interpreter the step then
 * goes with the valve's offset as it does within the limit, or not at all. */
TEST(test_limit_of_spool)
{
  enum { FILTERS = 4, INTERPRETED_TOO = FILTERS + 1, CROSSINGS = 40 };
  static const bramah_augmented offset = {
      .kind = BRAMAH_AUGMENTED_PARAMETER, .name = "offset", .at = "valve.offset", .sigma = 1e-6};
  static const double command[] = {9.9, 10.1, 10.2, 9.8, -9.9, -10.1, 0.0, -10.1};
  static ensemble e;
  bramah_coupled *plant[INTERPRETED_TOO + 1];
  bramah_filter *filter[INTERPRETED_TOO + 1];
  bramah_batch *batch;
  size_t within = 0, beyond = 0;
  opens_at = 1e9;
  open_ensemble(&e, BY_TAPE);
  const size_t output = must_find(&e.rig.plant, "crank.acceleration");
  for (size_t i = 0; i <= INTERPRETED_TOO; i++) {
    e.options[i].augmented = &offset;
    e.options[i].n_augmented = 1;
    e.options[i].basis = NULL;
    filter[i] = alone(&e, i < FILTERS ? i : 0, &plant[i]);
  }
  must(bramah_coupled_use(plant[INTERPRETED_TOO], NULL, &diag), &diag);
  must(bramah_batch_of(FILTERS, filter, &diag, &batch), &diag);
  for (int k = 0; k < CROSSINGS; k++) {
    const double u = command[k % (int)(sizeof command / sizeof *command)];
    const bramah_batch_cycle cycle = {.n_u = 1, .u = &u};
    double value[FILTERS], sigma[FILTERS];
    bramah_batch_outputs(batch, NULL, 1, &output, value, sigma);
    bramah_batch_predict(batch, &cycle);
    ck_assert_int_eq(bramah_batch_get(batch, 0).in_lane, 1);
    for (size_t i = FILTERS; i <= INTERPRETED_TOO; i++) {
      bramah_filter_output_sigma(filter[i], output);
      must(bramah_filter_set_inputs(filter[i], &u, &diag), &diag);
      must(bramah_filter_predict(filter[i], &diag), &diag);
    }
    const size_t n = bramah_filter_get_info(filter[0]).n_error;
    const double *by_tape = bramah_filter_get_last(filter[FILTERS]).transition,
                 *interpreted = bramah_filter_get_last(filter[INTERPRETED_TOO]).transition;
    if (k % 3 == 0) { /* it is out of its lane then, and what the lanes have of its pose is not kept */
      const double *in_lane = bramah_filter_get_last(bramah_batch_filter(batch, 0)).transition;
      ck_assert_int_eq(memcmp(in_lane, by_tape, n * n * sizeof *in_lane), 0);
    }
    for (size_t r = 0; r + 1 < n; r++) { /* by the offset */
      const double is = by_tape[r * n + n - 1], expected = interpreted[r * n + n - 1];
      ck_assert_double_le(fabs(is - expected), 1e-6 * fabs(expected));
      within += expected != 0.0;
      beyond += expected == 0.0;
    }
  }
  ck_assert_uint_gt(within, 20);
  ck_assert_uint_gt(beyond, 20);
  bramah_batch_free(batch);
  for (size_t i = 0; i <= INTERPRETED_TOO; i++) {
    bramah_filter_free(filter[i]);
    bramah_coupled_free(plant[i]);
  }
  close_ensemble(&e);
  opens_at = 40e5;
}

TEST(test_memory_and_mistakes)
{
  static ensemble e;
  bramah_batch *batch;
  open_ensemble(&e, BY_TAPE);
  const size_t size = bramah_batch_size(&e.all);
  void *mem = aligned_alloc(64, size);
  memset(mem, 0, size);
  ck_assert_int_eq(bramah_batch_init(&e.all, mem, size - 1, &diag, &batch), BRAMAH_E_ARGUMENT);
  must(bramah_batch_init(&e.all, mem, size, &diag, &batch), &diag);
  ck_assert_int_eq(bramah_batch_init(&e.all, mem, size, &diag, &batch), BRAMAH_E_ARGUMENT);
  const double u[2] = {0.0, 0.0};
  ck_assert_uint_eq(bramah_batch_step(batch, &(bramah_batch_cycle){.n_u = 2, .u = u}), 0);
  ck_assert_int_eq(bramah_batch_get(batch, 0).time_ns, 0);
  ck_assert_uint_eq(bramah_batch_step(batch, &(bramah_batch_cycle){.n_u = 1, .u = u}), N);
  ck_assert_int_eq(bramah_batch_get(batch, 0).time_ns, 1000000);
  bramah_batch_free(batch);

  e.acceleration_noise[9] = -1.0;
  ck_assert_int_eq(bramah_batch_init(&e.all, mem, size, &diag, &batch), BRAMAH_E_VALUE);
  ck_assert_ptr_nonnull(strstr(diag.message, "filter 9"));
  e.all.n = 0;
  ck_assert_int_eq(bramah_batch_new(&e.all, &diag, &batch), BRAMAH_E_ARGUMENT);
  bramah_coupled *plant[2];
  bramah_filter *filter[2] = {alone(&e, 0, &plant[0]), alone(&e, 1, &plant[1])};
  must(bramah_coupled_use(plant[1], NULL, &diag), &diag);
  ck_assert_int_eq(bramah_batch_of(2, filter, &diag, &batch), BRAMAH_E_ARGUMENT);
  for (size_t i = 0; i < 2; i++) {
    bramah_filter_free(filter[i]);
    bramah_coupled_free(plant[i]);
  }
  free(mem);
  close_ensemble(&e);
}

int main(void) { return run_tests("batch"); }
