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

int main(void)
{
  static const struct {
    const char *name;
    void (*body)(const input *, size_t);
    size_t n;
    double regeneration;
  } rows[] = {{"Gamma", gamma_alone, 1, 0.0},        {"Lambda", lambda_alone, 1, 0.0},
              {"Gamma_mul (2)", gamma_of, 2, 0.0},   {"Lambda_mul (2)", lambda_of, 2, 0.0},
              {"  slopes", slopes_of, 2, 0.0},       {"Gamma_mul (4)", gamma_of, 4, 0.0},
              {"Lambda_mul (4)", lambda_of, 4, 0.0}, {"  slopes", slopes_of, 4, 0.0},
              {"Gamma_mul (8)", gamma_of, 8, 0.0},   {"Lambda_mul (8)", lambda_of, 8, 0.0},
              {"  slopes", slopes_of, 8, 0.0},       {"Gamma_reg", gamma_of, 1, 0.5},
              {"Lambda_reg", lambda_of, 1, 0.5},     {"Lambda_mul (4) with regeneration", lambda_of, 4, 0.5}};
  bench_print_machine();
  for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
    double t[TIMES];
    fill(rows[k].regeneration);
    for (size_t turn = 0; turn < TIMES; turn++) {
      const double start = bench_now();
      for (size_t i = 0; i < INPUTS; i++) rows[k].body(&inputs[i], rows[k].n);
      t[turn] = (bench_now() - start) / INPUTS * 1e9;
    }
    printf("%-34s %8.0f ns\n", rows[k].name, bench_median(t, TIMES));
  }
  return sink == 0.5;
}
