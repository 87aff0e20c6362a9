/* SPDX-License-Identifier: MIT */
/* What linear equations and their eigenvalues take, next to the published times: the linearization paper
 * (Agundez et al. 2023) by ours and by differences, Tables 1 and 4 of Gonzalez et al. (2017). C against
 * MATLAB: programs, not methods. Prints what it ran on. Nothing here can fail for being slow. */
#define _GNU_SOURCE
#include "bramah/linear.h"
#include "bramah/study.h"
#include "test/bench/bench.h"
#include "test/support/redundant_differences.h"
#include "test/support/examples_2017.h"
#include "test/support/four_bar.h"

#include <math.h>

static bramah_diag diag;

/* ---- 2023 ---- */

static void bench_2023(void)
{
  const char *root = getenv("BRAMAH_SOURCE_ROOT");
  char path[1024];
  bramah_machine *machine;
  const bramah_model *model;
  bramah_coupled *coupled;
  bramah_linearization *l;
  snprintf(path, sizeof path, "%s/datasets/linearization-four-bar/linearization-four-bar.yaml",
           root ? root : ".");
  must(bramah_machine_load(path, 0, NULL, &diag, &machine), &diag);
  must(bramah_model_new(machine, &diag, &model), &diag);
  must(bramah_coupled_new(model, &diag, &coupled), &diag);
  must(bramah_linearization_new(model, NULL, &diag, &l), &diag);

  /* The least of nine rounds [s], which other programs disturb least: analytic, then by differences. */
  double least[2] = {(double)INFINITY, (double)INFINITY};
  for (int round = 0; round < 18; round++) {
    const int differences = round >= 9;
    double J[100];
    const double begin = bench_now();
    for (int k = 0; k < 200; k++)
      must(differences ? redundant_differences(l, coupled, 1e-5, J, &diag)
                       : bramah_linearization_run(l, coupled, &diag),
           &diag);
    least[differences] = fmin(least[differences], (bench_now() - begin) / 200);
  }
  printf(
      "hydraulic four-bar: analytic %.3g us, differences %.3g us, ratio %.2f (published 5 ms, 16 ms, 3.2)\n",
      1e6 * least[0], 1e6 * least[1], least[1] / least[0]);
  bramah_linearization_free(l);
  bramah_coupled_free(coupled);
  bramah_model_free(model);
  bramah_machine_free(machine);
}

/* ---- 2017 ---- */

static const char *const approach_name[3] = {"minimal", "redundant", "penalty"};

/* Terms and eigenvalues, least of some rounds [s]. */
static double time_of_approach(example_2017 *e, int approach, double alpha, int rounds)
{
  const bramah_penalty_factors factors = {alpha, 1.0, 10.0};
  double least = (double)INFINITY;
  for (int i = 0; i < rounds; i++) {
    bramah_spectrum *s = NULL;
    const double begin = bench_now();
    example_evaluate(e);
    const bramah_constrained system = example_system(e);
    must(bramah_spectrum_new(&system, (bramah_approach)approach, &factors, &diag, &s), &diag);
    least = fmin(least, bench_now() - begin);
    bramah_spectrum_free(s);
  }
  return least;
}

/* Equations of least order and their modes, least of some rounds [s]. */
static double time_of_machine(size_t N, double phi)
{
  static linkage_machine machine;
  const bramah_model *model;
  bramah_coupled *c;
  bramah_linearization *l;
  double least = (double)INFINITY;
  linkage_describe(&machine, N, 0.0, phi);
  must(bramah_model_new(&machine.machine, &diag, &model), &diag);
  must(bramah_coupled_new(model, &diag, &c), &diag);
  must(bramah_linearization_new(model, NULL, &diag, &l), &diag);
  for (int i = 0; i < 15; i++) {
    bramah_modes *modes;
    const double begin = bench_now();
    must(bramah_linearization_run(l, c, &diag), &diag);
    must(bramah_modes_new(bramah_linearization_system(l), &diag, &modes), &diag);
    least = fmin(least, bench_now() - begin);
    bramah_modes_free(modes);
  }
  bramah_linearization_free(l);
  bramah_coupled_free(c);
  bramah_model_free(model);
  return least;
}

static void bench_linkage(void)
{
  static const struct {
    size_t N;
    double time[3]; /* published [ms] */
  } table_1[5] = {{1, {0.115, 0.108, 0.185}},
                  {5, {0.188, 0.356, 0.548}},
                  {10, {0.313, 0.954, 1.684}},
                  {15, {0.556, 1.872, 3.612}},
                  {20, {0.752, 4.517, 6.152}}};
  for (int k = 0; k < 5; k++) {
    example_2017 e;
    linkage_make(&e, table_1[k].N, 25.0, 0.0, 0);
    const double phi = linkage_angle(&e);
    linkage_place(&e, phi);
    example_balance(&e);
    for (int a = 0; a < 3; a++) {
      if (a == BRAMAH_APPROACH_PENALTY) example_balance_penalty(&e, 1e6, 10.0);
      printf("linkage of %2zu, %-9s %8.3f ms (published %.3f)\n", table_1[k].N, approach_name[a],
             1e3 * time_of_approach(&e, a, 1e6, 15), table_1[k].time[a]);
    }
    printf("linkage of %2zu, a machine %8.3f ms\n", table_1[k].N, 1e3 * time_of_machine(table_1[k].N, phi));
    example_free(&e);
  }
}

static void bench_pendulum(void)
{
  static const struct {
    size_t elements;
    double time[3]; /* published [s] */
  } table_4[5] = {{10, {0.015, 0.020, 0.019}},
                  {25, {0.185, 0.176, 0.170}},
                  {50, {1.338, 1.229, 1.219}},
                  {75, {6.411, 5.800, 5.388}},
                  {100, {17.940, 16.072, 14.228}}};
  for (int k = 0; k < 5; k++) {
    example_2017 e;
    beam_pendulum_make(&e, table_4[k].elements);
    example_balance(&e);
    for (int a = 0; a < 3; a++) {
      if (a == BRAMAH_APPROACH_PENALTY) example_balance_penalty(&e, 1e7, 10.0);
      printf("beam of %3zu elements, %-9s %8.2f ms (published %.0f)\n", table_4[k].elements, approach_name[a],
             1e3 * time_of_approach(&e, a, 1e7, 1), 1e3 * table_4[k].time[a]);
    }
    example_free(&e);
  }
}

int main(void)
{
  bench_print_machine();
  bench_2023();
  bench_linkage();
  bench_pendulum();
  return 0;
}
