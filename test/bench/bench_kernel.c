/* SPDX-License-Identifier: MIT */
/* What a filter costs outside its plant: cycles on a plant whose step, rows and outputs are read from tables, as long
 * as those of the four-bar with five sensors. `bench_kernel CASE CYCLES` runs one case in silence, to be counted by
 * instructions.sh. Not a test: nothing here can fail for being slow. */
#define _GNU_SOURCE
#include "bramah/filter.h"
#include "estimators/update.h"
#include "test/bench/bench.h"
#include "test/support/four_bar.h"

#include <math.h>

enum { N = 5, PARAMETERS = 9, SENSORS = 5, CYCLES = 20000, RUNS = 7 };

static bramah_diag diag;

/* ---- the plant ---- */

typedef struct table {
  double x[N], u, theta[PARAMETERS];
} table;

static const char *const state_name[N] = {"crank.angle", "crank.rate", "v1.pressure", "v2.pressure",
                                          "v3.pressure"};
static const char *const parameter_name[PARAMETERS] = {"a", "b", "c", "d", "e", "f", "g", "h", "i"};

/* Of a step of 1 ms of the four-bar at rest: angle, rate, pressures in bar. */
static const double F_[N * N] = {1.0,     9.9e-4, 1.1e-7, 2.3e-7, -1.2e-7, -1e-2, 0.97, 1.7e-4, 4.1e-4,
                                 -2.2e-4, -0.1,   -0.9,   0.31,   0.46,    1e-3,  -2.0, -19.,   0.22,
                                 0.70,    2e-3,   -0.02,  24.,    1e-3,    2e-3,  0.98};
static const double G_[N * PARAMETERS] = {
    1e-9, 2e-9, 3e-9, 4e-9, 5e-9, 6e-9, 7e-9, 8e-9, 9e-9, 1e-6, 2e-6, 3e-6, 4e-6, 5e-6, 6e-6,
    7e-6, 8e-6, 9e-6, 1e-4, 3e-4, 3e-4, 4e-4, 2e-3, 1e-3, 3e-4, 2e-3, 1e-3, 2e-4, 3e-4, 3e-4,
    1e-4, 1e-3, 2e-3, 3e-4, 2e-3, 1e-3, 1e-4, 4e-4, 3e-4, 2e-4, 1e-3, 1e-3, 1e-4, 1e-3, 2e-3};

static bramah_status step(void *self, bramah_diag *d)
{
  (void)self, (void)d;
  return BRAMAH_OK;
}

static bramah_status inject(void *self, const double *dx, bramah_diag *d)
{
  (void)d;
  for (int i = 0; i < N; i++) ((table *)self)->x[i] += dx[i];
  return BRAMAH_OK;
}

static double output(void *self, size_t i) { return ((table *)self)->x[i]; }
static void save(const void *self, void *snap) { memcpy(snap, self, sizeof(table)); }
static void restore(void *self, const void *snap) { memcpy(self, snap, sizeof(table)); }

static bramah_status set_inputs(void *self, const double *u, bramah_diag *d)
{
  (void)d;
  ((table *)self)->u = *u;
  return BRAMAH_OK;
}

static void output_info(const void *self, size_t i, bramah_output_info *info)
{
  (void)self;
  *info = (bramah_output_info){.name = state_name[i],
                               .unit = "1",
                               .kind = i == 0   ? BRAMAH_OUTPUT_POSITION
                                       : i == 1 ? BRAMAH_OUTPUT_RATE
                                                : BRAMAH_OUTPUT_FIRST_ORDER,
                               .has_row = 1};
}

static bramah_status step_transition(void *self, double *F, double *noise, size_t n_par, const size_t *par,
                                     double *G, bramah_diag *d)
{
  (void)self, (void)d;
  memcpy(F, F_, sizeof F_);
  for (int r = 0; r < N && noise; r++) memcpy(noise + r * (N - 1), F_ + r * N + 1, (N - 1) * sizeof *F);
  for (int r = 0; r < N; r++)
    for (size_t j = 0; j < n_par; j++) G[(size_t)r * n_par + j] = G_[(size_t)r * PARAMETERS + par[j]];
  return BRAMAH_OK;
}

static bramah_status output_row(void *self, size_t i, double *row)
{
  (void)self;
  for (size_t k = 0; k < N; k++) row[k] = k == i;
  return BRAMAH_OK;
}

static void parameter_info(const void *self, size_t i, bramah_parameter_info *info)
{
  (void)self;
  *info = (bramah_parameter_info){parameter_name[i], "1", 1.0, 0.0, 100.0};
}

static double parameter(const void *self, size_t i) { return ((const table *)self)->theta[i]; }

static bramah_status set_parameter(void *self, size_t i, double value, bramah_diag *d)
{
  (void)d;
  ((table *)self)->theta[i] = value;
  return BRAMAH_OK;
}

static bramah_plant plant_of(table *self)
{
  *self = (table){.x = {1.0, 0.0, 30.0, 30.0, 35.0}};
  for (int j = 0; j < PARAMETERS; j++) self->theta[j] = 1.0;
  return (bramah_plant){BRAMAH_PLANT_HEAD,
                        .self = self,
                        .step_ns = 1000000,
                        .n_dof = 1,
                        .n_first_order = 3,
                        .n_input = 1,
                        .n_output = N,
                        .n_parameter = PARAMETERS,
                        .snapshot_size = sizeof *self,
                        .step = step,
                        .inject = inject,
                        .output = output,
                        .save = save,
                        .restore = restore,
                        .set_inputs = set_inputs,
                        .output_info = output_info,
                        .step_transition = step_transition,
                        .output_row = output_row,
                        .parameter_info = parameter_info,
                        .parameter = parameter,
                        .set_parameter = set_parameter};
}

/* ---- the kernel by itself: step of five states, then four samples of one state each ---- */

#define BRAMAH__LANES 8
#define BRAMAH__KERNEL(name) lockstep_##name
#include "estimators/kernel.h"

static double arithmetic(int n_cycles, int with_step)
{
  static const bramah__kernel_shape shape = {.n = N, .n_plant = N, .nq = N, .n_acting = N};
  static const size_t column[4] = {0, 1, 2, 3};
  double P[N * N] = {0}, Gamma[N * N] = {0}, H[N] = {1, 1, 1, 1}, dx[N] = {0}, T[N * N], PH[N], work[2 * N];
  for (int k = 0; k < N; k++) P[k * N + k] = Gamma[k * N + k] = 0.1;
  const double t = bench_now();
  for (int cycle = 0; cycle < n_cycles; cycle++) {
    if (with_step) bramah__kernel_propagate(&shape, F_, Gamma, P, T);
    for (int s = 0; s < 4; s++) {
      const double S = 0.5 + bramah__kernel_project(0, N, 1, &column[s], H, P, PH);
      bramah__kernel_fuse(N, 1, &column[s], H, PH, S, 0.5, 0.1 - dx[s], NULL, P, dx, work);
    }
    bramah__kernel_mirror(N, N, P);
    dx[0] = 0.0;
  }
  return isnan(dx[1]) ? NAN : bench_now() - t;
}

/* The same of eight filters at once. */
#if defined __x86_64__ && defined __gnu_linux__ && !defined __clang__
__attribute__((target_clones("avx512f", "avx2", "default")))
#endif
static double
arithmetic_in_lockstep(int n_cycles, int with_step)
{
  enum { L = 8 };
  static const bramah__kernel_shape shape = {.n = N, .n_plant = N, .nq = N, .n_acting = N};
  static const size_t column[4] = {0, 1, 2, 3};
  static double F[N * N * L], P[N * N * L], Gamma[N * N * L], H[N * L], dx[N * L], T[N * N * L], PH[N * L],
      K[N * L], w[N * L];
  double S[L], rest[L], r[L];
  for (size_t l = 0; l < L; l++) {
    for (size_t k = 0; k < N * N; k++) {
      F[k * L + l] = F_[k];
      P[k * L + l] = Gamma[k * L + l] = k % (N + 1) == 0 ? 0.1 : 0.0;
    }
    for (size_t k = 0; k < N; k++) H[k * L + l] = k < 4;
    r[l] = 0.5;
  }
  const double t = bench_now();
  for (int cycle = 0; cycle < n_cycles / L; cycle++) {
    if (with_step) lockstep_propagate(&shape, F, Gamma, P, T);
    for (size_t s = 0; s < 4; s++) {
      lockstep_project(0, N, 1, &column[s], H, P, PH, S);
      for (size_t l = 0; l < L; l++) {
        S[l] += r[l];
        rest[l] = 0.1 - dx[s * L + l];
      }
      lockstep_gain(N, NULL, PH, S, rest, K, dx);
      lockstep_reduce(N, N, NULL, 1, &column[s], H, S, r, PH, K, w, P);
    }
    lockstep_mirror(N, N, P);
    memset(dx, 0, L * sizeof *dx);
  }
  return isnan(dx[L]) ? NAN : bench_now() - t;
}

/* ---- the filters ---- */

typedef enum way {
  STEP,
  PREDICT_AND_CORRECT,
  CORRECT,
  CORRECT_FOUR,
  SIGMAS,
  ARITHMETIC,
  ARITHMETIC_STEP,
  LOCKSTEP,
  LOCKSTEP_STEP
} way;

static const struct bench_case {
  const char *name;
  size_t estimated; /* parameters */
  int budget;       /* 1: all parameters and the errors of all sensors, as by default */
  way way;
  bramah_covariance_form form;
} cases[] = {
    {"n = 5: cycle by bramah_filter_step", 0, 0, STEP, BRAMAH_COVARIANCE_JOSEPH},
    {"  by predict and correct, as in a replay", 0, 0, PREDICT_AND_CORRECT, BRAMAH_COVARIANCE_JOSEPH},
    {"  correction alone, 5 sensors", 0, 0, CORRECT, BRAMAH_COVARIANCE_JOSEPH},
    {"  correction alone, 4 sensors", 0, 0, CORRECT_FOUR, BRAMAH_COVARIANCE_JOSEPH},
    {"  sigmas of 5 outputs", 0, 0, SIGMAS, BRAMAH_COVARIANCE_JOSEPH},
    {"  arithmetic of a correction, 4 sensors", 0, 0, ARITHMETIC, BRAMAH_COVARIANCE_JOSEPH},
    {"  and of the step of the covariance", 0, 0, ARITHMETIC_STEP, BRAMAH_COVARIANCE_JOSEPH},
    {"  arithmetic of a correction, eight in lockstep, each", 0, 0, LOCKSTEP, BRAMAH_COVARIANCE_JOSEPH},
    {"  and of the step of the covariance", 0, 0, LOCKSTEP_STEP, BRAMAH_COVARIANCE_JOSEPH},
    {"n = 12, seven estimated: cycle", 7, 0, STEP, BRAMAH_COVARIANCE_JOSEPH},
    {"  correction alone, 5 sensors", 7, 0, CORRECT, BRAMAH_COVARIANCE_JOSEPH},
    {"n = 33, uncertainty budget: cycle", 0, 1, STEP, BRAMAH_COVARIANCE_JOSEPH},
    {"  correction alone, 5 sensors", 0, 1, CORRECT, BRAMAH_COVARIANCE_JOSEPH},
    {"  sigmas of 5 outputs", 0, 1, SIGMAS, BRAMAH_COVARIANCE_JOSEPH},
    {"n = 5 by square root: cycle", 0, 0, STEP, BRAMAH_COVARIANCE_SQUARE_ROOT},
    {"n = 33 by square root: cycle", 0, 1, STEP, BRAMAH_COVARIANCE_SQUARE_ROOT}};
enum { N_CASES = sizeof cases / sizeof *cases };

typedef struct bench_rig {
  table table;
  bramah_plant plant;
  bramah_sensor sensor[SENSORS];
  bramah_filter *filter;
} bench_rig;

static size_t list_augmented(const struct bench_case *c, bramah_augmented *a)
{
  size_t n = 0;
  for (size_t j = 0; j < (c->budget ? PARAMETERS : c->estimated); j++)
    a[n++] = (bramah_augmented){.kind = BRAMAH_AUGMENTED_PARAMETER,
                                .name = parameter_name[j],
                                .at = parameter_name[j],
                                .sigma = 0.1,
                                .logarithmic = j < 4,
                                .role = c->budget ? BRAMAH_AUGMENTED_AUTO : BRAMAH_AUGMENTED_ESTIMATED};
  for (size_t i = 0; i < SENSORS && c->budget; i++) {
    bramah_augmented error = {.kind = BRAMAH_AUGMENTED_BIAS,
                              .name = four_bar_sensors[i].name,
                              .at = four_bar_sensors[i].name,
                              .sigma = 0.5,
                              .noise = 0.1,
                              .role = BRAMAH_AUGMENTED_AUTO};
    a[n++] = error;
    error.noise = 0.0;
    error.role = BRAMAH_AUGMENTED_CONSIDERED;
    error.kind = BRAMAH_AUGMENTED_GAIN, error.sigma = 0.01;
    if (i > 0) a[n++] = error;
    error.kind = BRAMAH_AUGMENTED_DELAY, error.sigma = 1e-3, error.order = 2;
    a[n++] = error;
  }
  return n;
}

static void open_rig(bench_rig *r, const struct bench_case *c)
{
  static const double sp = 0.05, sv = 0.1, spr[3] = {1, 1, 1}, q = 0.015, qp[3] = {8, 6, 6};
  bramah_augmented augmented[PARAMETERS + 3 * SENSORS];
  bramah_filter_options o;
  r->plant = plant_of(&r->table);
  bramah_filter_options_default(&o);
  o.position_sigma = &sp, o.rate_sigma = &sv, o.first_order_sigma = spr;
  o.acceleration_noise = &q, o.first_order_noise = qp;
  o.form = c->form;
  o.augmented = augmented;
  o.n_augmented = list_augmented(c, augmented);
  for (int i = 0; i < SENSORS; i++) {
    bramah_sensor_options sensor = four_bar_sensors[i];
    if (i > 1) sensor.sigma = 0.5;
    memset(sensor.axis, 0, sizeof sensor.axis); /* the rate of the joint */
    must(bramah_sensor_init(&sensor, &r->plant, &diag, &r->sensor[i]), &diag);
  }
  must(bramah_filter_new(&r->plant, SENSORS, r->sensor, &o, &diag, &r->filter), &diag);
}

static double run(const struct bench_case *c, int n_cycles)
{
  static const unsigned char all[SENSORS] = {1, 1, 1, 1, 1}, four[SENSORS] = {1, 1, 1, 1, 0};
  static const double sigma[SENSORS] = {0.01745, 9.84e-4, 0.5, 0.5, 0.5};
  static bench_rig r;
  static double noise[1024][SENSORS];
  unsigned seed = 1;
  double y[SENSORS], u = 1.0, sum = 0.0;
  if (c->way == ARITHMETIC || c->way == ARITHMETIC_STEP)
    return arithmetic(n_cycles, c->way == ARITHMETIC_STEP);
  if (c->way == LOCKSTEP || c->way == LOCKSTEP_STEP)
    return arithmetic_in_lockstep(n_cycles, c->way == LOCKSTEP_STEP);
  for (int k = 0; k < 1024; k++)
    for (int i = 0; i < SENSORS; i++) noise[k][i] = sigma[i] * test_normal(&seed);
  open_rig(&r, c);
  const double t = bench_now();
  for (int k = 0; k < n_cycles; k++) {
    const bramah_filter_cycle cycle = {.time_ns = (k + 1) * INT64_C(1000000),
                                       .n_input = 1,
                                       .u = &u,
                                       .n_sensors = SENSORS,
                                       .y = y,
                                       .present = all};
    bramah_filter_step_report report;
    for (int i = 0; i < SENSORS; i++) y[i] = r.table.x[i] + noise[k % 1024][i];
    switch (c->way) {
    case STEP:
      must(bramah_filter_step(r.filter, &cycle, &report, &diag), &diag);
      sum += report.nis;
      break;
    case PREDICT_AND_CORRECT:
      must(bramah_filter_set_inputs(r.filter, &u, &diag), &diag);
      must(bramah_filter_predict(r.filter, &diag), &diag);
      must(bramah_filter_correct(r.filter, y, all, &diag), &diag);
      break;
    case CORRECT:
    case CORRECT_FOUR:
      must(bramah_filter_correct(r.filter, y, c->way == CORRECT ? all : four, &diag), &diag);
      break;
    default:
      for (size_t i = 0; i < SENSORS; i++) sum += bramah_filter_output_sigma(r.filter, i);
    }
  }
  const double elapsed = bench_now() - t;
  if (isnan(sum)) printf("nan\n");
  bramah_filter_free(r.filter);
  return elapsed;
}

int main(int argc, char **argv)
{
  if (argc > 2) {
    run(&cases[strtoul(argv[1], NULL, 10) % N_CASES], (int)strtol(argv[2], NULL, 10));
    return EXIT_SUCCESS;
  }
  if (argc > 1) { /* a list for instructions.sh */
    for (size_t i = 0; i < N_CASES; i++) printf("%s\n", cases[i].name);
    return EXIT_SUCCESS;
  }
  bench_print_machine();
  printf("\nfilter on a plant read from tables, one thread, median of %d\n\n%-52s %8s\n", RUNS, "", "us");
  for (size_t i = 0; i < N_CASES; i++) {
    double t[RUNS];
    for (int k = 0; k < RUNS; k++) t[k] = run(&cases[i], CYCLES);
    printf("%-52s %8.3f\n", cases[i].name, bench_median(t, RUNS) * 1e6 / CYCLES);
  }
  return EXIT_SUCCESS;
}
