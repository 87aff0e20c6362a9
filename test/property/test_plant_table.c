/* SPDX-License-Identifier: MIT */
/* The table of a plant: what every plant must keep, tried on several of them (the built-in one, an exactly
 * linear one, a foreign one whose first-order state is a current of some milliampere and whose angle wraps),
 * with their own functions and with the five required ones alone; and what tables are refused. */
#include "bramah/coupled.h"
#include "bramah/filter.h"
#include "lib/math/dense.h"
#include "sensors/kinds.h"
#include "lib/plant/plant_table.h"
#include "test/support/coil.h"
#include "test/support/four_bar.h"
#include "test/support/linear_plant.h"
#include "test/support/run.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum { PLANTS = 3, MOST = 6, MOST_OUTPUTS = 200, SNAP = 4096, TWO = 2 };

static bramah_diag diag;

/* Two objects of each: a truth and a model of it. */
static four_bar_rig rig[TWO];
static linear_plant carts[TWO];
static coil coils[TWO];

typedef struct trial {
  const char *name;
  double sigma[2 * MOST]; /* initial, of each state */
  double noise[MOST];     /* accelerations, first-order states */
  size_t n_sensors;
  const char *sensor[3];
  double sensor_sigma[3];
  double input;
} trial;

static const trial trials[PLANTS] = {
    {"four-bar",
     {0.01, 0.02, 1e5, 1e5, 1e5},
     {0.3, 1e6, 1e6, 1e6},
     3,
     {"crank.angle", "v1.pressure", "v2.pressure"},
     {0.017, 5e4, 5e4},
     5.0},
    {"linear",
     {2e-2, 1e-2, 5e-2, 8e-2, 5e4, 8e4},
     {0.3, 0.2, 2e4, 3e4},
     3,
     {"left.position", "right.rate", "left.pressure"},
     {1e-3, 2e-2, 1e4},
     1.0},
    {"coil", {0.2, 0.3, 2e-3}, {0.5, 2e-3}, 2, {"coil.angle", "coil.current"}, {0.01, 1e-3}, 3.0}};

static bramah_plant open_plant(int kind, int which)
{
  if (kind == 0) {
    four_bar_open(&rig[which], 1.0, 60.0);
    return rig[which].plant;
  }
  if (kind == 1) {
    carts[which] = (linear_plant){.x = {0.1, -0.05, 0.2, 0.0, 2e5, 1e5}, .h = 1e-3, .change_at = -1};
    return linear_plant_table(&carts[which]);
  }
  coils[which] = (coil){.x = {3.1, 2.0, 0.01}}; /* it soon passes half a turn */
  return coil_plant(&coils[which]);
}

static void close_plant(int kind, int which)
{
  if (kind == 0) four_bar_close(&rig[which]);
}

/* The five required functions, names and inputs; everything else by the defaults of the table. */
static bramah_plant bare(bramah_plant p)
{
  bramah_plant q = {BRAMAH_PLANT_HEAD, .self = p.self};
  q.step_ns = p.step_ns, q.n_dof = p.n_dof, q.n_first_order = p.n_first_order, q.n_input = p.n_input;
  q.n_output = p.n_output, q.snapshot_size = p.snapshot_size;
  q.step = p.step, q.inject = p.inject, q.output = p.output, q.save = p.save, q.restore = p.restore;
  q.set_inputs = p.set_inputs, q.state_info = p.state_info, q.output_info = p.output_info;
  return q;
}

static void settle(bramah_plant *p, int kind, int steps)
{
  must(p->set_inputs(p->self, &trials[kind].input, &diag), &diag);
  for (int k = 0; k < steps; k++) must(p->step(p->self, &diag), &diag);
}

static double scale_of(const bramah_plant *p, size_t k)
{
  bramah_state_info info;
  bramah_plant_state_info(p, k, &info);
  return info.scale;
}

/* a - b, wrapped where the state is. */
static double apart(const bramah_plant *p, size_t k, double a, double b)
{
  bramah_state_info info;
  bramah_plant_state_info(p, k, &info);
  return info.period > 0.0 ? remainder(a - b, info.period) : a - b;
}

static bramah_filter *filter_on(const bramah_plant *p, int kind, bramah_sensor *sensor)
{
  const trial *t = &trials[kind];
  bramah_filter_options o;
  bramah_filter *filter;
  bramah_filter_options_default(&o);
  o.transition = BRAMAH_TRANSITION_STEP;
  o.discretisation = BRAMAH_DISCRETISATION_PUBLISHED;
  o.position_sigma = t->sigma, o.rate_sigma = t->sigma + p->n_dof,
  o.first_order_sigma = t->sigma + 2 * p->n_dof;
  o.acceleration_noise = t->noise, o.first_order_noise = t->noise + p->n_dof;
  for (size_t i = 0; i < t->n_sensors; i++) {
    const bramah_sensor_options so = {
        .name = t->sensor[i], .kind = BRAMAH_SENSOR_OUTPUT, .at = t->sensor[i], .sigma = t->sensor_sigma[i]};
    must(bramah_sensor_init(&so, p, &diag, &sensor[i]), &diag);
  }
  must(bramah_filter_new(p, t->n_sensors, sensor, &o, &diag, &filter), &diag);
  return filter;
}

/* ---- what every plant must keep ---- */

EACH_TEST(test_names_and_scales, 0, PLANTS)
{
  const bramah_plant p = open_plant(_i, 0);
  must(bramah__plant_check(&p, &diag), &diag);
  for (size_t k = 0; k < bramah_plant_n_error(&p); k++) {
    bramah_state_info info, other;
    bramah_plant_state_info(&p, k, &info);
    ck_assert(info.name && *info.name && info.unit && info.scale > 0.0);
    ck_assert_int_eq(info.kind, k < p.n_dof       ? BRAMAH_OUTPUT_POSITION
                                : k < 2 * p.n_dof ? BRAMAH_OUTPUT_RATE
                                                  : BRAMAH_OUTPUT_FIRST_ORDER);
    ck_assert_double_eq(bramah__plant_difference_step(&p, k), 1e-6 * info.scale);
    for (size_t l = 0; l < k; l++) {
      char name[64];
      snprintf(name, sizeof name, "%s", info.name);
      bramah_plant_state_info(&p, l, &other);
      ck_assert_str_ne(name, other.name);
    }
  }
  close_plant(_i, 0);
}

/* The same steps again after a restore, to the bit. */
EACH_TEST(test_save_and_restore, 0, PLANTS)
{
  static double snap[SNAP], x[2][MOST], value[2][MOST_OUTPUTS];
  bramah_plant p = open_plant(_i, 0);
  ck_assert_uint_le(p.snapshot_size, sizeof snap);
  ck_assert_uint_le(p.n_output, MOST_OUTPUTS);
  settle(&p, _i, 20);
  p.save(p.self, snap);
  for (int round = 0; round < 2; round++) {
    p.restore(p.self, snap);
    for (int k = 0; k < 30; k++) must(p.step(p.self, &diag), &diag);
    ck_assert(bramah_plant_coordinates(&p, x[round]));
    for (size_t i = 0; i < p.n_output; i++) value[round][i] = p.output(p.self, i);
  }
  ck_assert(memcmp(x[0], x[1], bramah_plant_n_error(&p) * sizeof(double)) == 0);
  ck_assert(memcmp(value[0], value[1], p.n_output * sizeof(double)) == 0);
  close_plant(_i, 0);
}

/* Each state moves by what is injected, the others stay. */
EACH_TEST(test_inject, 0, PLANTS)
{
  static double snap[SNAP];
  bramah_plant p = open_plant(_i, 0);
  const size_t n = bramah_plant_n_error(&p);
  settle(&p, _i, 20);
  p.save(p.self, snap);
  for (size_t k = 0; k < n; k++) {
    double dx[MOST] = {0}, before[MOST], after[MOST];
    dx[k] = 1e-3 * scale_of(&p, k);
    p.restore(p.self, snap);
    ck_assert(bramah_plant_coordinates(&p, before));
    must(p.inject(p.self, dx, &diag), &diag);
    ck_assert(bramah_plant_coordinates(&p, after));
    for (size_t i = 0; i < n; i++)
      ck_assert_double_eq_tol(apart(&p, i, after[i], before[i]), dx[i], 1e-9 * scale_of(&p, i));
  }
  close_plant(_i, 0);
}

/* Derivative of the step and rows of the outputs: the plant's own against the differences that a table
 * without them gets. In units of the scales: where a step were 10 or 100 whatever the unit, a current of 20 mA
 * would be off by far more than all of it. */
EACH_TEST(test_differences_by_scale, 0, PLANTS)
{
  static double snap[SNAP];
  bramah_sensor sensor[3];
  bramah_plant p = open_plant(_i, 0);
  const bramah_plant q = bare(p);
  const size_t n = bramah_plant_n_error(&p);
  double F[2][MOST * MOST], row[2][MOST], dx[MOST];
  settle(&p, _i, 20);
  bramah_filter *filter[2] = {filter_on(&p, _i, sensor), filter_on(&q, _i, sensor)};
  static double start[SNAP];
  p.save(p.self, start);
  for (int side = 0; side < 2; side++) {
    p.restore(p.self, start);
    must(bramah_filter_predict(filter[side], &diag), &diag);
    memcpy(F[side], bramah_filter_get_last(filter[side]).transition, n * n * sizeof(double));
    bramah_filter_free(filter[side]);
  }
  for (size_t r = 0; r < n; r++)
    for (size_t k = 0; k < n; k++) {
      const double unit = scale_of(&p, r) / scale_of(&p, k);
      ck_assert_msg(fabs(F[1][r * n + k] - F[0][r * n + k]) <= 2e-6 * unit,
                    "%s: F[%zu,%zu] %g, differences %g", trials[_i].name, r, k, F[0][r * n + k],
                    F[1][r * n + k]);
    }
  for (size_t i = 0; i < p.n_output; i++) {
    bramah_output_info info;
    bramah_plant_output_info(&p, i, &info);
    if (!info.has_row || p.output_row(p.self, i, row[0])) continue;
    must(bramah__plant_output_row(&q, i, row[1], snap, dx, &diag), &diag);
    double size = 0.0;
    for (size_t k = 0; k < n; k++) size = fmax(size, fabs(row[0][k] * scale_of(&p, k)));
    for (size_t k = 0; k < n; k++)
      ck_assert_msg(fabs(row[1][k] - row[0][k]) * scale_of(&p, k) <= 2e-5 * size + 1e-9,
                    "%s by %zu: %g, differences %g", info.name, k, row[0][k], row[1][k]);
  }
  close_plant(_i, 0);
}

/* A truth that moves with the noise the filter assumes: is the filter as good as it says? By each plant's own
 * functions and by differences. */
static double mean_nees(int kind, int by_differences, int runs, int steps)
{
  double sum = 0.0;
  for (int run = 0; run < runs; run++) {
    unsigned seed = 17u + 7919u * (unsigned)run;
    bramah_sensor sensor[3], shown[3];
    const bramah_plant truth = open_plant(kind, 0), own = open_plant(kind, 1);
    const bramah_plant model = by_differences ? bare(own) : own;
    bramah_filter *mover = filter_on(&truth, kind, shown), *filter = filter_on(&model, kind, sensor);
    const size_t n = bramah_plant_n_error(&truth);
    double dx[MOST], x[2][MOST], y[3], L[MOST * MOST];
    const unsigned char present[3] = {1, 1, 1};
    must(bramah_filter_set_inputs(mover, &trials[kind].input, &diag), &diag);
    must(bramah_filter_set_inputs(filter, &trials[kind].input, &diag), &diag);
    test_draw(n, bramah_filter_covariance(mover), &seed, dx);
    must(truth.inject(truth.self, dx, &diag), &diag);
    for (int k = 0; k < steps; k++) {
      must(bramah_filter_predict(mover, &diag), &diag);
      test_normals(n, bramah_filter_get_info(mover).n_noise, bramah_filter_get_last(mover).noise, &seed, dx);
      must(truth.inject(truth.self, dx, &diag), &diag);
      must(bramah_filter_predict(filter, &diag), &diag);
      for (size_t i = 0; i < trials[kind].n_sensors; i++)
        y[i] = bramah_sensor_predict(&shown[i], &truth) + shown[i].sigma * test_normal(&seed);
      must(bramah_filter_correct(filter, y, present, &diag), &diag);
    }
    ck_assert(bramah_plant_coordinates(&truth, x[0]) && bramah_plant_coordinates(&model, x[1]));
    for (size_t k = 0; k < n; k++) dx[k] = x[0][k] = apart(&truth, k, x[0][k], x[1][k]);
    memcpy(L, bramah_filter_covariance(filter), n * n * sizeof(double));
    ck_assert_uint_eq(bramah__cholesky_factor(n, L), 0);
    bramah__cholesky_solve(n, L, dx);
    for (size_t k = 0; k < n; k++) sum += dx[k] * x[0][k];
    bramah_filter_free(mover);
    bramah_filter_free(filter);
    close_plant(kind, 0);
    close_plant(kind, 1);
  }
  return sum / runs;
}

EACH_TEST(test_consistent, 0, 2 * PLANTS)
{
  enum { RUNS = 60 };
  const int kind = _i / 2;
  const bramah_plant p = open_plant(kind, 0);
  const double n = (double)bramah_plant_n_error(&p);
  close_plant(kind, 0);
  const double mean = mean_nees(kind, _i % 2, RUNS, 150);
  printf("%s%s: mean NEES %.2f of %g\n", trials[kind].name, _i % 2 ? " by differences" : "", mean, n);
  ck_assert_double_eq_tol(mean, n, 3.0 * sqrt(2.0 * n / RUNS));
}

/* ---- what the papers' transitions ask for ---- */

TEST(test_acceleration_by_current)
{
  double J[COIL_N], exact[COIL_N], zdd[2], dx[COIL_N], snap[SNAP / 8];
  bramah_plant p = open_plant(2, 0);
  must(p.acceleration_derivative(p.self, exact, 0, NULL, NULL, &diag), &diag);
  must(bramah__plant_acceleration_jacobian(&p, J, snap, dx, zdd, &diag), &diag);
  for (size_t k = 0; k < COIL_N; k++) ck_assert_double_eq_tol(J[k], exact[k], 1e-5 * fabs(exact[k]) + 1e-6);
  ck_assert_double_ge(fabs(exact[2]), 100.0);
  const bramah_plant q = bare(p);
  ck_assert_int_eq(bramah__plant_acceleration_jacobian(&q, J, snap, dx, zdd, &diag), BRAMAH_E_UNSUPPORTED);
}

/* ---- tables ---- */

static void refuse(bramah_plant p, bramah_status status, const char *thing, const char *message)
{
  bramah_filter *filter;
  bramah_sensor sensor;
  const double sigma[2] = {1.0, 1.0};
  const bramah_filter_options o = {.transition = BRAMAH_TRANSITION_STEP,
                                   .position_sigma = sigma,
                                   .rate_sigma = sigma,
                                   .first_order_sigma = sigma,
                                   .acceleration_noise = sigma,
                                   .first_order_noise = sigma};
  const bramah_sensor_options so = {
      .name = "s", .kind = BRAMAH_SENSOR_OUTPUT, .at = "coil.rate", .sigma = 1.0};
  bramah_diag_clear(&diag);
  ck_assert_int_eq(bramah__plant_check(&p, &diag), status);
  ck_assert_str_eq(diag.thing, thing);
  ck_assert_msg(strstr(diag.message, message), "%s", diag.message);
  ck_assert_int_eq(bramah_filter_new(&p, 0, NULL, &o, &diag, &filter), status);
  ck_assert_int_eq(bramah_sensor_init(&so, &p, &diag, &sensor), status);
}

static bramah_output_kind other_kind = BRAMAH_OUTPUT_OTHER;
static double bad_scale;

static void odd_outputs(const void *self, size_t i, bramah_output_info *info)
{
  (void)self;
  *info = (bramah_output_info){.name = i == 1 ? "odd" : "even", .unit = "", .kind = other_kind, .has_row = 1};
  if (i == 0) info->kind = BRAMAH_OUTPUT_POSITION;
}

static void bad_states(const void *self, size_t i, bramah_state_info *info)
{
  (void)self;
  *info = (bramah_state_info){.name = i ? "b" : "a", .unit = "", .scale = i ? bad_scale : 1.0};
}

TEST(test_tables_refused)
{
  const bramah_plant good = open_plant(2, 0);
  bramah_plant p;
  p = good, p.version = 1, refuse(p, BRAMAH_E_UNSUPPORTED, "plant", "another version");
  p = good, p.version = BRAMAH_PLANT_VERSION + 1, refuse(p, BRAMAH_E_UNSUPPORTED, "plant", "another version");
  p = good, p.size = 64, refuse(p, BRAMAH_E_UNSUPPORTED, "plant", "too short");
  p = good, p.step = NULL, refuse(p, BRAMAH_E_UNSUPPORTED, "step", "lacks");
  p = good, p.inject = NULL, refuse(p, BRAMAH_E_UNSUPPORTED, "inject", "lacks");
  p = good, p.output = NULL, refuse(p, BRAMAH_E_UNSUPPORTED, "output", "lacks");
  p = good, p.save = NULL, refuse(p, BRAMAH_E_UNSUPPORTED, "save", "lacks");
  p = good, p.restore = NULL, refuse(p, BRAMAH_E_UNSUPPORTED, "restore", "lacks");
  p = good, p.set_inputs = NULL, refuse(p, BRAMAH_E_UNSUPPORTED, "set_inputs", "lacks");
  p = good, p.n_parameter = 1, refuse(p, BRAMAH_E_UNSUPPORTED, "parameter_info", "lacks");
  p = good, p.step_ns = 0, refuse(p, BRAMAH_E_VALUE, "step_ns", "positive");
  p = good, p.state_info = bad_states, refuse(p, BRAMAH_E_VALUE, "b", "scale");
  p = good, p.state_info = NULL, p.output_info = odd_outputs,
  refuse(p, BRAMAH_E_VALUE, "odd", "first outputs");
  p = good, p.state_info = NULL, p.n_output = 2, refuse(p, BRAMAH_E_VALUE, "state", "first outputs");
}

/* A table that ends before the optional functions: what an older caller was compiled with. */
TEST(test_short_table)
{
  bramah_plant p = open_plant(2, 0);
  unsigned char old[sizeof(bramah_plant)];
  double x[COIL_N];
  bramah_state_info info;
  memset(old, 0xa5, sizeof old);
  p.size = offsetof(bramah_plant, state_info);
  memcpy(old, &p, p.size);
  memcpy(&p, old, sizeof old); /* what lies behind is not the table's */
  must(bramah__plant_check(&p, &diag), &diag);
  const bramah_plant full = bramah__plant_copy(&p);
  ck_assert(!full.state_info && !full.step_transition && !full.acceleration_derivative);
  ck_assert_uint_eq(full.size, sizeof full);
  ck_assert(bramah_plant_coordinates(&p, x));
  ck_assert_double_eq(x[2], 0.01);
  bramah_plant_state_info(&p, 2, &info);
  ck_assert(strcmp(info.name, "state") == 0 && info.scale == 1.0 && info.kind == BRAMAH_OUTPUT_FIRST_ORDER);
}

/* An innovation of a sensor on a state that wraps takes the shorter distance. */
TEST(test_wraps)
{
  bramah_sensor sensor;
  const bramah_plant p = open_plant(2, 0);
  bramah_sensor_options so = {.name = "s", .kind = BRAMAH_SENSOR_OUTPUT, .at = "coil.angle", .sigma = 1.0};
  must(bramah_sensor_init(&so, &p, &diag, &sensor), &diag);
  ck_assert_str_eq(sensor.unit, "rad");
  ck_assert_int_eq(sensor.group, 0);
  ck_assert_double_eq_tol(bramah__sensor_innovation(&sensor, -3.1, bramah_sensor_predict(&sensor, &p)),
                          2.0 * 3.14159265358979 - 6.2, 1e-12);
  so.at = "coil.force";
  must(bramah_sensor_init(&so, &p, &diag, &sensor), &diag);
  ck_assert(sensor.period == 0.0 && sensor.group == 1);
  so.at = "coil.forse";
  ck_assert_int_eq(bramah_sensor_init(&so, &p, &diag, &sensor), BRAMAH_E_REFERENCE);
  ck_assert_msg(strstr(diag.message, "did you mean 'coil.force'"), "%s", diag.message);
}

int main(void) { return run_tests("plant_table"); }
