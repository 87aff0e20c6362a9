/* SPDX-License-Identifier: MIT */
/* Many filters in one call: each as if it were alone. */
#define _XOPEN_SOURCE 700 /* mkdtemp */
#include "bramah/batch.h"
#include "test/support/four_bar.h"
#include "test/support/native.h"
#include "test/support/running.h"
#include "test/support/run.h"

#include <math.h>
#include <string.h>

/* Blocks of 16 and 8 lanes, and 3 filters that step alone; one is thrown about, so that its steps leave the lanes. */
enum { N = 27, STEPS = 300, SENSORS = 5, AUGMENTED = 1, THROWN = 20 };

static bramah_diag diag;

/* Filters of the four-bar that differ in parameters, noise and measurements. */
typedef struct ensemble {
  four_bar_rig rig;
  bramah_program *program, *of_alone; /* the same; the one without native code */
  bramah_sensor sensor[SENSORS];
  double acceleration_noise[N];
  double *parameters; /* [N x n_parameter] */
  bramah_filter_options options[N];
  bramah_batch_options all;
  double y[N * SENSORS];
  unsigned seed;
} ensemble;

enum { INTERPRETED, BY_TAPE, GIVEN, NATIVE, WAYS };

static void open_ensemble(ensemble *e, int way)
{
  static const double sp = 0.05, sv = 0.1, spr[3] = {1e5, 1e5, 1e5}, qp[3] = {8e5, 6e5, 6e5};
  static const bramah_augmented load = {
      .name = "load", .kind = BRAMAH_AUGMENTED_PARAMETER, .at = "pump.pressure", .sigma = 2e5, .noise = 1e4};
  *e = (ensemble){.seed = 7};
  four_bar_open(&e->rig, 1.0, 60.0);
  const bramah_plant *plant = &e->rig.plant;
  if (way != INTERPRETED) must(bramah_program_new(e->rig.model, &diag, &e->program), &diag);
  e->of_alone = e->program;
  if (way == NATIVE) {
    must(bramah_program_new(e->rig.model, &diag, &e->of_alone), &diag);
    for (size_t version = 0; version < 3; version++) use_native(e->program, version);
  }
  must(bramah_coupled_use(e->rig.c, e->program, &diag), &diag);
  for (size_t i = 0; i < SENSORS; i++)
    must(bramah_sensor_init(&four_bar_sensors[i], plant, &diag, &e->sensor[i]), &diag);
  e->parameters = calloc(N * plant->n_parameter, sizeof(double));
  size_t bulk, payload;
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
    e->options[i].n_augmented = i % 3 ? AUGMENTED : 0;
    e->options[i].augmented = &load;
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
  for (size_t s = 2; s < SENSORS; s++) e->y[THROWN * SENSORS + s] += 1e7 * test_normal(&e->seed);
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
START_TEST(test_as_alone)
{
  enum { FAILS = 4, AT = 120, SKIPS = 11, SKIPPED = 5 };
  static ensemble e;
  bramah_coupled *plant[N], *other_plant[N] = {NULL};
  bramah_filter *filter[N], *other[N] = {NULL};
  bramah_batch *batch;
  const unsigned char present[SENSORS] = {1, 1, 1, 1, 1};
  open_ensemble(&e, _i);
  for (size_t i = 0; i < N; i++) filter[i] = alone(&e, i, &plant[i]);
  for (size_t i = 0; i < N && _i == GIVEN; i++) other[i] = alone(&e, i, &other_plant[i]);
  must(_i == GIVEN ? bramah_batch_of(N, other, &diag, &batch) : bramah_batch_new(&e.all, &diag, &batch),
       &diag);
  unsigned char taking[N];
  memset(taking, 1, sizeof taking);
  for (int k = 0; k < STEPS; k++) {
    const double u = four_bar_command((int64_t)k * 20000000);
    bramah_batch_cycle cycle = cycle_of(&e, batch, &u);
    if (k == AT) e.y[FAILS * SENSORS + 2] = NAN;
    taking[SKIPS] = k % 50 >= SKIPPED; /* one is slower than the others */
    cycle.taking = taking;
    ck_assert_uint_eq(bramah_batch_step(batch, &cycle), (size_t)(k < AT ? N : N - 1) - !taking[SKIPS]);
    for (size_t i = 0; i < N; i++) {
      if ((i == FAILS && k > AT) || !taking[i]) continue;
      must(bramah_filter_set_inputs(filter[i], &u, &diag), &diag);
      must(bramah_filter_predict(filter[i], &diag), &diag);
      const bramah_status status = bramah_filter_correct(filter[i], e.y + i * SENSORS, present, &diag);
      ck_assert_int_eq(status, bramah_batch_get(batch, i).status);
    }
  }
  size_t angle = must_find(&e.rig.plant, "crank.angle");
  double value[N], sigma[N];
  bramah_batch_outputs(batch, 1, &angle, value, sigma);
  for (size_t i = 0; i < N; i++) {
    const bramah_batch_result r = bramah_batch_get(batch, i);
    const bramah_plant *own = bramah_filter_get_info(filter[i]).plant;
    check_same(bramah_batch_filter(batch, i), filter[i]);
    ck_assert_double_eq(r.log_likelihood, bramah_filter_log_likelihood(filter[i]));
    ck_assert_double_eq(value[i], own->output(own->self, angle));
    ck_assert_double_eq(sigma[i], bramah_filter_output_sigma(filter[i], angle));
    ck_assert_int_eq(r.status, i == FAILS ? BRAMAH_E_NOT_FINITE : BRAMAH_OK);
    ck_assert_int_eq(r.time_ns, (i == FAILS   ? AT + 1
                                 : i == SKIPS ? STEPS - SKIPPED * STEPS / 50
                                              : STEPS) *
                                    1000000);
  }
  ck_assert_str_eq(bramah_batch_get(batch, FAILS).diag->thing, four_bar_sensors[2].name);
  const bramah_step_report thrown = bramah_coupled_report(bramah_filter_get_info(filter[THROWN]).plant->self);
  ck_assert_int_eq(thrown.compiled > 100 && thrown.left_divergence > 10, _i != INTERPRETED);
  for (size_t i = 1; i < N; i++) /* they are different filters */
    ck_assert_double_ne(value[i], value[0]);
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
END_TEST

START_TEST(test_memory_and_mistakes)
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
END_TEST

int main(void)
{
  Suite *suite = suite_create("batch");
  TCase *cases = one_case(suite, "four-bar");
  tcase_add_loop_test(cases, test_as_alone, 0, WAYS);
  tcase_add_test(cases, test_memory_and_mistakes);
  return run_suite(suite);
}
