/* SPDX-License-Identifier: MIT */
/* Microseconds per filter and step of a batch: the four-bar with five sensors, transition of the step, interpreted, by the
 * tape of its program and by native code, for several numbers of filters and error states. Measurements are those of a
 * filter by itself, with noise, made beforehand. `bench_batch CASE FILTERS RUNS` runs one in silence, to be looked at with a
 * profiler. Not a test: nothing here can fail for being slow. */
#define _GNU_SOURCE
#include "bramah/batch.h"
#include "test/bench/bench.h"
#include "test/support/four_bar.h"

#include <dlfcn.h>
#include <math.h>
#include <unistd.h>

enum { WORK = 40000, RUNS = 5, SENSORS = 5, MOST = 1000, LOG = 2000, ESTIMATED = 7, PARAMETERS = 8 };

static const struct bench_case {
  const char *name;
  enum { INTERPRETED, TAPE, NATIVE } way;
  int estimated, budget;
} cases[] = {{"n = 5, interpreted", INTERPRETED, 0, 0}, {"n = 5", TAPE, 0, 0},
             {"n = 12, estimated", TAPE, ESTIMATED, 0}, {"budget", TAPE, 0, 1},
             {"n = 5, native code", NATIVE, 0, 0},      {"n = 12, native code", NATIVE, ESTIMATED, 0},
             {"budget, native code", NATIVE, 0, 1}};
enum { N_CASES = sizeof cases / sizeof *cases };
static const size_t numbers[] = {1, 8, 32, 1000};
enum { N_NUMBERS = sizeof numbers / sizeof *numbers };

static const char *const parameter[PARAMETERS] = {
    "pump.pressure", "oil.bulk_modulus",     "valve.flow_coefficient", "lift.friction_scale",
    "crank.payload", "v1.hose.bulk_modulus", "tank.pressure",          "orifice.flow_coefficient"};

static bramah_diag diag;
static double measured[LOG][SENSORS], y[MOST * SENSORS];

static bramah_filter_options options_of(const four_bar_rig *rig, const struct bench_case *c)
{
  static const double sp = 0.05, sv = 0.1, spr[3] = {1e5, 1e5, 1e5}, q = 0.015, qp[3] = {8e5, 6e5, 6e5};
  static bramah_augmented augmented[PARAMETERS + 3 * SENSORS];
  const bramah_plant *plant = &rig->plant;
  bramah_filter_options o;
  bramah_filter_options_default(&o);
  o.position_sigma = &sp, o.rate_sigma = &sv, o.first_order_sigma = spr;
  o.acceleration_noise = &q, o.first_order_noise = qp;
  o.augmented = augmented;
  for (size_t j = 0, n = 0; j < PARAMETERS && n < (size_t)(c->budget ? PARAMETERS : c->estimated); j++) {
    size_t place;
    if (bramah_plant_parameter_index(plant, parameter[j], &place, &diag) != BRAMAH_OK) continue;
    const double value = plant->parameter(plant->self, place);
    augmented[o.n_augmented++] =
        (bramah_augmented){.kind = BRAMAH_AUGMENTED_PARAMETER,
                           .name = parameter[j],
                           .at = parameter[j],
                           .sigma = value > 0.0 ? 0.03 * value : 0.01,
                           .role = c->budget ? BRAMAH_AUGMENTED_AUTO : BRAMAH_AUGMENTED_ESTIMATED};
    n++;
  }
  for (size_t i = 0; i < SENSORS && c->budget; i++) {
    bramah_augmented error = {.kind = BRAMAH_AUGMENTED_BIAS,
                              .name = four_bar_sensors[i].name,
                              .at = four_bar_sensors[i].name,
                              .sigma = four_bar_sensors[i].sigma,
                              .role = BRAMAH_AUGMENTED_AUTO};
    augmented[o.n_augmented++] = error;
    error.role = BRAMAH_AUGMENTED_CONSIDERED;
    error.kind = BRAMAH_AUGMENTED_GAIN, error.sigma = 0.01;
    if (i > 0) augmented[o.n_augmented++] = error;
    error.kind = BRAMAH_AUGMENTED_DELAY, error.sigma = 1e-3, error.order = 2;
    augmented[o.n_augmented++] = error;
  }
  return o;
}

/* Native code of all pieces, compiled as by lib/io/native.c. */
static void make_native(bramah_program *program)
{
  static const char flags[] =
      "-std=gnu11 -O1 -w -fPIC -shared -ffp-contract=off -fno-math-errno -fno-trapping-math "
      "-ftree-vectorize -fno-tree-slp-vectorize -march=native";
  bramah_native_piece piece;
  for (size_t i = 0; bramah_program_native_piece(program, i, &piece); i++) {
    char folder[] = "/tmp/bench-XXXXXX", command[1024];
    char *text = bramah_program_native_text(program, i);
    FILE *file = NULL;
    if (text && mkdtemp(folder)) {
      snprintf(command, sizeof command, "%s/parts.c", folder);
      file = fopen(command, "w");
    }
    if (!file || fputs(text, file) < 0 || fclose(file)) exit(EXIT_FAILURE);
    free(text);
    snprintf(command, sizeof command, "cd %s && cc %s -o parts.so parts.c", folder, flags);
    if (system(command)) exit(EXIT_FAILURE);
    snprintf(command, sizeof command, "%s/parts.so", folder);
    void *handle = dlopen(command, RTLD_NOW | RTLD_LOCAL);
    snprintf(command, sizeof command, "rm -r %s", folder);
    if (!handle || system(command)) exit(EXIT_FAILURE);
    must(bramah_program_use_native(program, i, dlsym(handle, "bramah_parts"), &diag), &diag);
  }
}

/* What the sensors show along a run of the plant. */
static void make_log(four_bar_rig *rig, const bramah_sensor *sensor)
{
  unsigned seed = 1;
  bramah_coupled *c;
  must(bramah_coupled_new(rig->model, &diag, &c), &diag);
  const bramah_plant plant = bramah_coupled_plant(c);
  for (size_t k = 0; k < LOG; k++) {
    const double u = four_bar_command((int64_t)k * 4000000);
    must(plant.set_inputs(plant.self, &u, &diag), &diag);
    must(plant.step(plant.self, &diag), &diag);
    for (size_t s = 0; s < SENSORS; s++)
      measured[k][s] = bramah_sensor_predict(&sensor[s], &plant) + sensor[s].sigma * test_normal(&seed);
  }
  bramah_coupled_free(c);
}

/* Steps of n filters; us per step of one of them. */
static double batch_us(four_bar_rig *rig, bramah_program *const *program, const bramah_sensor *sensor,
                       const struct bench_case *c, size_t n)
{
  static bramah_filter_options options[MOST];
  static double angle[MOST];
  const size_t most = WORK / n, steps = most < LOG ? most : LOG,
               output = must_find(&rig->plant, "crank.angle");
  bramah_batch *batch;
  unsigned seed = 2;
  must(bramah_coupled_use(rig->c, c->way == INTERPRETED ? NULL : program[c->way == NATIVE], &diag), &diag);
  options[0] = options_of(rig, c);
  for (size_t i = 1; i < n; i++) options[i] = options[0];
  must(bramah_batch_new(
           &(bramah_batch_options){
               .n = n, .start = rig->c, .n_sensors = SENSORS, .sensors = sensor, .options = options},
           &diag, &batch),
       &diag);
  double elapsed = 0.0;
  for (size_t k = 0; k < steps; k++) {
    const double u = four_bar_command((int64_t)k * 4000000);
    for (size_t i = 0; i < n; i++)
      for (size_t s = 0; s < SENSORS; s++)
        y[i * SENSORS + s] = measured[k][s] + 0.1 * sensor[s].sigma * test_uniform(&seed);
    const double t = bench_now();
    bramah_batch_step(batch, &(bramah_batch_cycle){.n_u = 1, .u = &u, .n_y = n, .y = y});
    elapsed += bench_now() - t;
  }
  bramah_batch_outputs(batch, NULL, 1, &output, angle, NULL);
  for (size_t i = 0; i < n; i++)
    if (isnan(angle[i]) || bramah_batch_get(batch, i).status != BRAMAH_OK) {
      fprintf(stderr, "filter %zu: %s\n", i, bramah_batch_get(batch, i).diag->message);
      exit(EXIT_FAILURE);
    }
  bramah_batch_free(batch);
  return elapsed * 1e6 / (double)(steps * n);
}

int main(int argc, char **argv)
{
  four_bar_rig rig;
  bramah_sensor sensor[SENSORS];
  bramah_program *program[2]; /* its tape, native code */
  four_bar_open(&rig, 1.0, 60.0);
  for (int i = 0; i < SENSORS; i++)
    must(bramah_sensor_init(&four_bar_sensors[i], &rig.plant, &diag, &sensor[i]), &diag);
  for (int i = 0; i < 2; i++) must(bramah_program_new(rig.model, &diag, &program[i]), &diag);
  make_native(program[1]);
  make_log(&rig, sensor);
  if (argc > 2) {
    const size_t c = strtoul(argv[1], NULL, 10) % N_CASES, n = strtoul(argv[2], NULL, 10);
    for (long run = argc > 3 ? strtol(argv[3], NULL, 10) : 1; run > 0; run--)
      printf("%.3f\n", batch_us(&rig, program, sensor, &cases[c], n));
    return EXIT_SUCCESS;
  }
  bench_print_machine();
  printf("\nfour-bar, 5 sensors, one thread, median of %d: us per filter and step\n\n%-20s", RUNS, "filters");
  for (size_t k = 0; k < N_NUMBERS; k++) printf(" %9zu", numbers[k]);
  static double t[N_CASES][N_NUMBERS][RUNS];
  for (int run = 0; run < RUNS; run++) /* interleaved */
    for (size_t c = 0; c < N_CASES; c++)
      for (size_t k = 0; k < N_NUMBERS; k++)
        t[c][k][run] = batch_us(&rig, program, sensor, &cases[c], numbers[k]);
  for (size_t c = 0; c < N_CASES; c++) {
    printf("\n%-20s", cases[c].name);
    for (size_t k = 0; k < N_NUMBERS; k++) printf(" %9.3f", bench_median(t[c][k], RUNS));
  }
  printf("\n");
  must(bramah_coupled_use(rig.c, NULL, &diag), &diag);
  for (int i = 0; i < 2; i++) bramah_program_free(program[i]);
  four_bar_close(&rig);
  return EXIT_SUCCESS;
}
