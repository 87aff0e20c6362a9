/* SPDX-License-Identifier: MIT */
/* The filter's variants against each other: forms of the covariance, sequential and block fusion, iterated
 * update, exact and linearised injection, noise that does not depend on the step, biases, limits and forces
 * of second order. */
#include "estimators/filter_internal.h"
#include "test/support/four_bar.h"
#include "test/support/run.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { SENSORS = 5, N = 5 };

static bramah_diag diag;

typedef struct rig {
  four_bar fb;
  const bramah_model *model;
  bramah_coupled *truth_coupled, *coupled;
  bramah_plant truth, plant;
  bramah_sensor sensor[SENSORS];
  bramah_filter *filter;
  size_t basis;
} rig;

static bramah_filter_options plain_options(const rig *r)
{
  static const double sp = 0.02, sv = 0.05, spr[3] = {1e5, 1e5, 1e5}, q = 0.05, qp[3] = {1e6, 1e6, 1e6};
  return (bramah_filter_options){.transition = BRAMAH_TRANSITION_STEP,
                                 .basis = &r->basis,
                                 .position_sigma = &sp,
                                 .rate_sigma = &sv,
                                 .first_order_sigma = spr,
                                 .acceleration_noise = &q,
                                 .first_order_noise = qp};
}

static void open_rig(rig *r, int64_t step_ns)
{
  memset(r, 0, sizeof *r);
  four_bar_describe(&r->fb, 1.0, step_ns);
  must(bramah_model_new(&r->fb.machine, &diag, &r->model), &diag);
  must(bramah_coupled_new(r->model, &diag, &r->truth_coupled), &diag);
  must(bramah_coupled_new(r->model, &diag, &r->coupled), &diag);
  r->truth = bramah_coupled_plant(r->truth_coupled);
  r->plant = bramah_coupled_plant(r->coupled);
  for (int i = 0; i < SENSORS; i++)
    must(bramah_sensor_init(&four_bar_sensors[i], &r->plant, &diag, &r->sensor[i]), &diag);
  r->basis = must_find(&r->plant, "crank.angle");
}

static void make(rig *r, const bramah_filter_options *o)
{
  must(bramah_filter_new(&r->plant, SENSORS, r->sensor, o, &diag, &r->filter), &diag);
}

static void close_rig(rig *r)
{
  bramah_filter_free(r->filter);
  bramah_coupled_free(r->coupled);
  bramah_coupled_free(r->truth_coupled);
  bramah_model_free(r->model);
}

/* One step under command u with all sensors; their noise from the seed, `bias` on the gyro. */
static void cycle(rig *r, double u, double bias, unsigned *seed)
{
  double y[SENSORS];
  const unsigned char present[SENSORS] = {1, 1, 1, 1, 1};
  must(r->truth.set_inputs(r->truth.self, &u, &diag), &diag);
  must(bramah_filter_set_inputs(r->filter, &u, &diag), &diag);
  must(r->truth.step(r->truth.self, &diag), &diag);
  must(bramah_filter_predict(r->filter, &diag), &diag);
  for (int i = 0; i < SENSORS; i++)
    y[i] = bramah_sensor_predict(&r->sensor[i], &r->truth) + r->sensor[i].sigma * test_normal(seed);
  y[1] += bias;
  must(bramah_filter_correct(r->filter, y, present, &diag), &diag);
}

static double command(int k) { return k < 200 ? 0.0 : 10.0; }

/* Largest difference of two filters' estimates in standard deviations, and of their covariances. */
static double apart(const rig *a, const rig *b)
{
  double x[2][N], largest = 0.0;
  a->plant.coordinates(a->plant.self, x[0]);
  b->plant.coordinates(b->plant.self, x[1]);
  for (int i = 0; i < N; i++) {
    const double s = sqrt(a->filter->P[i * N + i]);
    largest = fmax(largest, fabs(x[0][i] - x[1][i]) / s);
    for (int j = 0; j < N; j++)
      largest = fmax(largest, fabs(a->filter->P[i * N + j] - b->filter->P[i * N + j]) /
                                  (s * sqrt(a->filter->P[j * N + j])));
  }
  return largest;
}

static double run_apart(const bramah_filter_options *change, double *nis_apart)
{
  static rig a, b;
  unsigned seed[2] = {5, 5};
  double largest = 0.0;
  open_rig(&a, 1000000);
  open_rig(&b, 1000000);
  bramah_filter_options o = plain_options(&a);
  make(&a, &o);
  o.form = change->form;
  o.fusion = change->fusion;
  o.iterations = change->iterations;
  make(&b, &o);
  *nis_apart = 0.0;
  for (int k = 0; k < 800; k++) {
    cycle(&a, command(k), 0.0, &seed[0]);
    cycle(&b, command(k), 0.0, &seed[1]);
    largest = fmax(largest, apart(&a, &b));
    *nis_apart =
        fmax(*nis_apart, fabs(bramah_filter_get_last(a.filter).nis - bramah_filter_get_last(b.filter).nis));
  }
  close_rig(&a);
  close_rig(&b);
  return largest;
}

EACH_TEST(test_forms_and_fusions_agree, 0, 3)
{
  static const bramah_filter_options changes[] = {
      {.form = BRAMAH_COVARIANCE_SQUARE_ROOT},
      {.fusion = BRAMAH_FUSION_BLOCK},
      {.form = BRAMAH_COVARIANCE_SQUARE_ROOT, .fusion = BRAMAH_FUSION_BLOCK}};
  double nis;
  ck_assert_double_lt(run_apart(&changes[_i], &nis), 1e-6);
  ck_assert_double_lt(nis, 1e-5);
}

/* Nearly linear measurements: iterating changes little, but something. */
TEST(test_iterated_update)
{
  const bramah_filter_options change = {.iterations = 4};
  double nis;
  const double difference = run_apart(&change, &nis);
  ck_assert_double_gt(difference, 0.0);
  ck_assert_double_lt(difference, 0.05);
}

/* A correction of half a degree: the linearised position problem leaves the loop open by its square, and the
 * next step closes it. */
TEST(test_linearised_injection)
{
  rig r;
  double gap[2];
  open_rig(&r, 1000000);
  const bramah_filter_options o = plain_options(&r);
  make(&r, &o);
  bramah_coupled_set_injection(r.coupled, BRAMAH_INJECTION_LINEARISED);
  for (int i = 0; i < 2; i++) {
    double dx[N] = {i ? 0.005 : 0.01};
    must(bramah_coupled_reset(r.coupled, &diag), &diag);
    must(r.plant.inject(r.plant.self, dx, &diag), &diag);
    gap[i] = bramah_coupled_constraint_violation(r.coupled);
    must(r.plant.step(r.plant.self, &diag), &diag);
    ck_assert_double_lt(bramah_coupled_constraint_violation(r.coupled), 1e-11);
  }
  ck_assert_double_gt(gap[0], 1e-6);
  ck_assert_double_eq_tol(gap[0] / gap[1], 4.0, 0.1);
  close_rig(&r);
}

/* Continuous densities: after 0.1 s of prediction the covariance differs by what the step's discretisation
 * does, not by how often noise was added. Stiff pressures have the variance q / 2a of the continuous mode at
 * any step. */
TEST(test_noise_does_not_depend_on_the_step)
{
  static const int64_t step_ns[4] = {2000000, 1000000, 500000, 250000};
  double sigma[4][N];
  for (int s = 0; s < 4; s++) {
    rig r;
    open_rig(&r, step_ns[s]);
    const bramah_filter_options o = plain_options(&r);
    make(&r, &o);
    for (int64_t t = 0; t < 100000000; t += step_ns[s]) must(bramah_filter_predict(r.filter, &diag), &diag);
    for (int i = 0; i < N; i++) sigma[s][i] = sqrt(r.filter->P[i * N + i]);
    close_rig(&r);
  }
  for (int i = 0; i < N; i++) {
    ck_assert_double_eq_tol(sigma[1][i] / sigma[3][i], 1.0, 0.02);
    ck_assert_double_eq_tol(sigma[0][i] / sigma[3][i], 1.0, 0.06);
  }
}

/* A flywheel, on which nothing acts: white noise q on its acceleration makes q [h^3/3, h^2/2; h^2/2, h] in a
 * step, by both discretisations. */
EACH_TEST(test_noise_of_a_flywheel, 0, 3)
{
  bramah_body body = {.name = "wheel", .mass = 3.0, .inertia = {0.2, 0.2, 0.4}};
  bramah_joint joint = {.name = "axle",
                        .type = BRAMAH_JOINT_REVOLUTE,
                        .parent = "ground",
                        .child = "wheel",
                        .axis = {0, 0, 1},
                        .initial_rate = 2.0};
  const bramah_machine machine = {
      .name = "flywheel", .n_bodies = 1, .bodies = &body, .n_joints = 1, .joints = &joint};
  const double sp = 0.1, sv = 0.2, density = 0.3, q = density * density;
  const bramah_filter_options o = {.transition = BRAMAH_TRANSITION_STEP,
                                   .discretisation = (bramah_discretisation)_i,
                                   .position_sigma = &sp,
                                   .rate_sigma = &sv,
                                   .acceleration_noise = &density};
  const bramah_model *model;
  bramah_coupled *coupled;
  bramah_filter *filter;
  must(bramah_model_new(&machine, &diag, &model), &diag);
  must(bramah_coupled_new(model, &diag, &coupled), &diag);
  const bramah_plant plant = bramah_coupled_plant(coupled);
  must(bramah_filter_new(&plant, 0, NULL, &o, &diag, &filter), &diag);
  must(bramah_filter_predict(filter, &diag), &diag);
  const double h = 1e-9 * (double)plant.step_ns, *P = bramah_filter_covariance(filter);
  const double *Gamma = bramah_filter_get_last(filter).noise;
  const size_t columns = bramah_filter_get_info(filter).n_noise;
  const double Q[3] = {q * h * h * h / 3, q * h * h / 2, q * h};
  double found[3] = {0};
  for (size_t k = 0; k < columns; k++) {
    found[0] += Gamma[k] * Gamma[k];
    found[1] += Gamma[k] * Gamma[columns + k];
    found[2] += Gamma[columns + k] * Gamma[columns + k];
  }
  for (int i = 0; i < 3; i++) ck_assert_double_eq_tol(found[i], Q[i], 1e-9 * Q[i]);
  ck_assert_double_eq_tol(P[0], sp * sp + h * h * sv * sv + Q[0], 1e-12);
  ck_assert_double_eq_tol(P[1], h * sv * sv + Q[1], 1e-12);
  ck_assert_double_eq_tol(P[3], sv * sv + Q[2], 1e-12);
  bramah_filter_free(filter);
  bramah_coupled_free(coupled);
  bramah_model_free(model);
}

/* A bias of the gyro of ten sigma, estimated; with too narrow limits the estimate stops there and says so. */
EACH_TEST(test_gyro_bias, 0, 2)
{
  const int limited = _i;
  rig r;
  unsigned seed = 11;
  open_rig(&r, 1000000);
  bramah_filter_options o = plain_options(&r);
  const bramah_augmented bias = {.name = "gyro bias",
                                 .kind = BRAMAH_AUGMENTED_BIAS,
                                 .at = "gyro",
                                 .sigma = 0.02,
                                 .noise = 1e-5,
                                 .least = limited ? -0.004 : 0.0,
                                 .most = limited ? 0.004 : 0.0};
  o.n_augmented = 1;
  o.augmented = &bias;
  make(&r, &o);
  for (int k = 0; k < 3000; k++) cycle(&r, command(k), 0.00984, &seed);
  const double value = bramah_filter_get_augmented(r.filter, 0).value,
               sigma = bramah_filter_get_augmented(r.filter, 0).sigma;
  const bramah_filter_report report = bramah_filter_get_report(r.filter);
  if (limited) {
    ck_assert_double_eq(value, 0.004);
    ck_assert_uint_gt(report.limited, 100);
  } else {
    ck_assert_double_eq_tol(value, 0.00984, 4.0 * sigma);
    ck_assert_double_lt(sigma, 0.003);
    ck_assert_uint_eq(report.limited, 0);
  }
  close_rig(&r);
}

/* A force of second order follows a step of the load; snapshots hold its mean and rate. */
TEST(test_second_order_force)
{
  static rig r;
  static unsigned char snap[4096], again[4096];
  unsigned seed = 12;
  open_rig(&r, 1000000);
  bramah_filter_options o = plain_options(&r);
  const bramah_augmented load = {.name = "load",
                                 .kind = BRAMAH_AUGMENTED_PARAMETER,
                                 .at = "crank.load",
                                 .order = 2,
                                 .time_constant = 1.0,
                                 .sigma = 300.0,
                                 .noise = 3000.0};
  o.n_augmented = 1;
  o.augmented = &load;
  make(&r, &o);
  ck_assert_uint_eq(bramah_filter_get_info(r.filter).n_error, N + 2);
  const size_t parameter = must_find_parameter(&r.truth, "crank.load");
  must(r.truth.set_parameter(r.truth.self, parameter, 400.0, &diag), &diag);
  for (int k = 0; k < 2500; k++) cycle(&r, command(k), 0.0, &seed);
  ck_assert_double_eq_tol(bramah_filter_get_augmented(r.filter, 0).value, 400.0,
                          4.0 * bramah_filter_get_augmented(r.filter, 0).sigma);
  ck_assert_double_lt(bramah_filter_get_augmented(r.filter, 0).sigma, 150.0);
  ck_assert_uint_le(bramah_filter_snapshot_size(r.filter), sizeof snap);
  bramah_filter_save(r.filter, snap);
  for (int k = 0; k < 5; k++) must(bramah_filter_predict(r.filter, &diag), &diag);
  bramah_filter_restore(r.filter, snap);
  bramah_filter_save(r.filter, again);
  ck_assert_mem_eq(snap, again, bramah_filter_snapshot_size(r.filter));
  close_rig(&r);
}

static void refused(rig *r, const bramah_filter_options *o, bramah_status status, const char *word)
{
  bramah_filter *filter;
  ck_assert_int_eq(bramah_filter_new(&r->plant, SENSORS, r->sensor, o, &diag, &filter), status);
  ck_assert_msg(strstr(diag.message, word) || strstr(diag.thing, word), "'%s' not in '%s: %s'", word,
                diag.thing, diag.message);
}

TEST(test_refusals)
{
  rig r;
  open_rig(&r, 1000000);
  bramah_filter_options o = plain_options(&r);
  bramah_augmented a = {.name = "x", .kind = BRAMAH_AUGMENTED_PARAMETER, .at = "crank.lod", .sigma = 1.0};
  const bramah_parameter_noise noise = {.at = "valve.ofset", .density = 0.1};
  o.n_augmented = 1;
  o.augmented = &a;
  refused(&r, &o, BRAMAH_E_REFERENCE, "crank.lod");
  a.at = "crank.load", a.sigma = 0.0;
  refused(&r, &o, BRAMAH_E_VALUE, "must be positive");
  a.sigma = 1.0, a.order = 2;
  refused(&r, &o, BRAMAH_E_VALUE, "time constant");
  a.order = 1, a.time_constant = INFINITY;
  refused(&r, &o, BRAMAH_E_VALUE, "must be finite");
  a.time_constant = 0.0, a.frequency = 5.0;
  refused(&r, &o, BRAMAH_E_VALUE, "order 2");
  a.order = 2, a.signal_period = 0.1;
  refused(&r, &o, BRAMAH_E_VALUE, "a frequency or a signal period");
  a.frequency = 0.0;
  refused(&r, &o, BRAMAH_E_VALUE, "only a bias");
  a.order = 1, a.signal_period = 0.0, a.kind = BRAMAH_AUGMENTED_BIAS;
  refused(&r, &o, BRAMAH_E_REFERENCE, "no sensor 'crank.load'");
  o.n_augmented = 0;
  o.n_parameter_noise = 1;
  o.parameter_noise = &noise;
  refused(&r, &o, BRAMAH_E_REFERENCE, "valve.ofset");
  o.n_parameter_noise = 0;
  o.transition = BRAMAH_TRANSITION_KINEMATIC;
  o.discretisation = BRAMAH_DISCRETISATION_RESOLVENT;
  refused(&r, &o, BRAMAH_E_UNSUPPORTED, "resolvent");
  o.discretisation = BRAMAH_DISCRETISATION_DEFAULT;
  make(&r, &o);
  close_rig(&r);
}

/* The column of Gamma of noise on a parameter: the derivative of the plant's step by it, times density / sqrt(h). */
static void check_noise_column(rig *r, const bramah_parameter_noise *noise, size_t column)
{
  const bramah_plant *p = &r->filter->plant;
  const size_t n = bramah_plant_n_error(p), nq = bramah_filter_get_info(r->filter).n_noise;
  double F[256], G[16], greatest = 0.0;
  size_t k = 0;
  ck_assert_uint_le(n, 16);
  must(bramah_plant_parameter_index(p, noise->at, &k, &diag), &diag);
  void *snap = malloc(bramah_filter_snapshot_size(r->filter));
  bramah_filter_save(r->filter, snap);
  must(p->step_transition(p->self, F, NULL, 1, &k, G, &diag), &diag);
  must(bramah_filter_restore(r->filter, snap), &diag);
  must(bramah_filter_predict(r->filter, &diag), &diag);
  const double *Gamma = bramah_filter_get_last(r->filter).noise;
  for (size_t i = 0; i < n; i++) {
    const double wanted = G[i] * noise->density / sqrt(1e-9 * (double)p->step_ns);
    greatest = fmax(greatest, fabs(wanted));
    ck_assert_double_eq_tol(Gamma[i * nq + column], wanted, 1e-9 * fabs(wanted));
  }
  ck_assert_double_gt(greatest, 0.0);
  must(bramah_filter_restore(r->filter, snap), &diag);
  free(snap);
}

/* Noise on the valve's command lets the pressures' covariance grow while the valve is open. */
TEST(test_command_noise)
{
  double sigma[2];
  for (int with = 0; with < 2; with++) {
    rig r;
    const double u = 5.0;
    const bramah_parameter_noise noise[2] = {{.at = "u.offset", .density = 0.3},
                                             {.at = "pump.pressure", .density = 1e4}};
    open_rig(&r, 1000000);
    bramah_filter_options o = plain_options(&r);
    char name[64];
    snprintf(name, sizeof name, "%s.offset", r.fb.inputs[0].name);
    bramah_parameter_noise both[2] = {noise[0], noise[1]};
    both[0].at = name;
    o.n_parameter_noise = with ? 2 : 0;
    o.transition = BRAMAH_TRANSITION_STEP;
    o.parameter_noise = both;
    make(&r, &o);
    must(bramah_filter_set_inputs(r.filter, &u, &diag), &diag);
    for (int k = 0; k < 300; k++) must(bramah_filter_predict(r.filter, &diag), &diag);
    sigma[with] = sqrt(r.filter->P[2 * N + 2]);
    if (with) check_noise_column(&r, &both[1], r.filter->n + 1); /* the valve's is taken over its spread */
    close_rig(&r);
  }
  ck_assert_double_gt(sigma[1], 1.05 * sigma[0]);
}

int main(void) { return run_tests("variants"); }
