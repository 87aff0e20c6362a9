/* SPDX-License-Identifier: MIT */
/* Nanoseconds per evaluation of quasistatic actuators, over random openings and loads. */
#define _GNU_SOURCE
#include "lib/hydraulics/metered.h"
#include "test/bench/bench.h"
#include "test/support/four_bar.h"

#include <stdio.h>

enum { INPUTS = 512, MOST = 8, TIMES = 40 };

typedef struct input {
  bramah__metering u[MOST];
  double v[MOST], fbar[MOST];
} input;

static bramah__metered actuators[MOST];
static bramah__pump_line line;
static input inputs[INPUTS];
static const double beta[MOST] = {2.55e6, 2.55e6, 2.55e6, 2.55e6, 2.55e6, 2.55e6, 2.55e6, 2.55e6};
static double sink;

static void gamma_alone(const input *in, size_t n)
{
  (void)n;
  sink += bramah__gamma(actuators, in->u, &line, in->v[0]).lo;
}

static void lambda_alone(const input *in, size_t n)
{
  (void)n;
  sink += bramah__lambda(actuators, in->u, &line, beta[0], in->fbar[0]);
}

static void gamma_of(const input *in, size_t n)
{
  const bramah__metered_group group = {n, actuators, in->u, line};
  const double P = bramah__line_pressure(&group, in->v);
  for (size_t j = 0; j < n; j++) sink += bramah__gamma_at(&actuators[j], &in->u[j], P, in->v[j]).lo;
}

static void lambda_of(const input *in, size_t n)
{
  const bramah__metered_group group = {n, actuators, in->u, line};
  double v[MOST];
  sink += bramah__lambda_of(&group, beta, in->fbar, v);
}

static void slopes_of(const input *in, size_t n)
{
  const bramah__metered_group group = {n, actuators, in->u, line};
  double slope[MOST * MOST], work[2 * MOST];
  bramah__lambda_slopes(&group, 1e7, beta, in->v, slope, work);
  sink += slope[0];
}

static void fill(double regeneration)
{
  unsigned seed = 1;
  const double valve = 2.91e-6;
  for (size_t j = 0; j < MOST; j++)
    actuators[j] = (bramah__metered){0.024, 0.012, 42e6, 40e6, valve, valve, valve, valve, valve};
  line = (bramah__pump_line){0.5 / 60.0, 36e6, 0.2 * valve};
  for (size_t i = 0; i < INPUTS; i++)
    for (size_t j = 0; j < MOST; j++) {
      const double command = 0.5 + 0.5 * test_uniform(&seed);
      const int ahead = regeneration > 0.0 || test_uniform(&seed) > 0.0;
      inputs[i].u[j] = ahead ? (bramah__metering){.ph = command, .tr = command, .a = regeneration}
                             : (bramah__metering){.pr = command, .th = command};
      inputs[i].v[j] = 0.3 * test_uniform(&seed);
      inputs[i].fbar[j] = -4e5 + 6e5 * test_uniform(&seed);
    }
}

static double nanoseconds(void (*body)(const input *, size_t), size_t n)
{
  double t[TIMES];
  for (size_t k = 0; k < TIMES; k++) {
    const double start = bench_now();
    for (size_t i = 0; i < INPUTS; i++) body(&inputs[i], n);
    t[k] = (bench_now() - start) / INPUTS * 1e9;
  }
  return bench_median(t, TIMES);
}

int main(void)
{
  bench_print_machine();
  fill(0.0);
  printf("Gamma              %8.0f ns\nLambda             %8.0f ns\n", nanoseconds(gamma_alone, 1),
         nanoseconds(lambda_alone, 1));
  static const size_t sizes[] = {2, 4, 8};
  for (size_t i = 0; i < 3; i++)
    printf("Gamma_mul  (%zu)     %8.0f ns\nLambda_mul (%zu)     %8.0f ns, slopes %.0f ns\n", sizes[i],
           nanoseconds(gamma_of, sizes[i]), sizes[i], nanoseconds(lambda_of, sizes[i]),
           nanoseconds(slopes_of, sizes[i]));
  fill(0.5);
  printf(
      "Gamma_reg          %8.0f ns\nLambda_reg         %8.0f ns\nLambda_mul with regeneration (4) %.0f ns\n",
      nanoseconds(gamma_of, 1), nanoseconds(lambda_of, 1), nanoseconds(lambda_of, 4));
  return sink == 0.5;
}
