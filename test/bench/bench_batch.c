/* SPDX-License-Identifier: MIT */
/* Microseconds per filter and step of a batch: the four-bar with five sensors, transition of the step, for several numbers
 * of filters, by the interpreted plant and by its program. Not a test: nothing here can fail for being slow. */
#define _GNU_SOURCE
#include "bramah/batch.h"
#include "test/bench/bench.h"
#include "test/support/four_bar.h"

#include <math.h>

enum { WORK = 40000, RUNS = 3, SENSORS = 5, MOST = 1000 };

static bramah_diag diag;
static double y[MOST * SENSORS];

/* WORK steps of one filter, shared among n; us per step of a filter. */
static double batch_us(const four_bar_rig *rig, const bramah_sensor *sensor, size_t n)
{
  static const double sp = 0.05, sv = 0.1, spr[3] = {1e5, 1e5, 1e5}, q = 0.015, qp[3] = {8e5, 6e5, 6e5};
  static bramah_filter_options options[MOST];
  static double angle[MOST];
  const size_t steps = WORK / n, output = must_find(&rig->plant, "crank.angle");
  unsigned seed = 1;
  for (size_t i = 0; i < n; i++) {
    bramah_filter_options_default(&options[i]);
    options[i].position_sigma = &sp;
    options[i].rate_sigma = &sv;
    options[i].first_order_sigma = spr;
    options[i].acceleration_noise = &q;
    options[i].first_order_noise = qp;
  }
  bramah_batch *batch;
  must(bramah_batch_new(
           &(bramah_batch_options){
               .n = n, .start = rig->c, .n_sensors = SENSORS, .sensors = sensor, .options = options},
           &diag, &batch),
       &diag);
  double elapsed = 0.0;
  for (size_t k = 0; k < steps; k++) {
    const double u = four_bar_command((int64_t)k * 1000000);
    const bramah_plant *plant = bramah_filter_get_info(bramah_batch_filter(batch, 0)).plant;
    for (size_t s = 0; s < SENSORS; s++) {
      const double shown = bramah_sensor_predict(&sensor[s], plant);
      for (size_t i = 0; i < n; i++) y[i * SENSORS + s] = shown + sensor[s].sigma * test_normal(&seed);
    }
    const double t = bench_now();
    bramah_batch_step(batch, &(bramah_batch_cycle){.n_u = 1, .u = &u, .n_y = n, .y = y});
    elapsed += bench_now() - t;
  }
  bramah_batch_outputs(batch, 1, &output, angle, NULL);
  if (isnan(angle[n - 1])) exit(EXIT_FAILURE);
  bramah_batch_free(batch);
  return elapsed * 1e6 / (double)(steps * n);
}

int main(void)
{
  static const size_t numbers[] = {1, 8, 32, 1000};
  four_bar_rig rig;
  bramah_sensor sensor[SENSORS];
  bramah_program *program;
  bench_print_machine();
  four_bar_open(&rig, 1.0, 60.0);
  for (int i = 0; i < SENSORS; i++)
    must(bramah_sensor_init(&four_bar_sensors[i], &rig.plant, &diag, &sensor[i]), &diag);
  must(bramah_program_new(rig.model, &diag, &program), &diag);
  printf("\nfour-bar, 5 sensors, one thread, median of %d: us per filter and step\n\n%-10s %12s %12s\n", RUNS,
         "filters", "interpreted", "program");
  for (size_t k = 0; k < sizeof numbers / sizeof numbers[0]; k++) {
    double us[2];
    for (int by = 0; by < 2; by++) {
      double t[RUNS];
      must(bramah_coupled_use(rig.c, by ? program : NULL, &diag), &diag);
      for (int run = 0; run < RUNS; run++) t[run] = batch_us(&rig, sensor, numbers[k]);
      us[by] = bench_median(t, RUNS);
    }
    printf("%-10zu %12.3f %12.3f\n", numbers[k], us[0], us[1]);
  }
  must(bramah_coupled_use(rig.c, NULL, &diag), &diag);
  bramah_program_free(program);
  four_bar_close(&rig);
  return EXIT_SUCCESS;
}
