/* SPDX-License-Identifier: GPL-3.0-or-later */
/* With exactly the noise that a study assumes, is its filter as good as any can be? Errors of the four-bar's sensor sets
 * 1 to 4 over the posterior Cramer-Rao bound, and their squares by its covariance (NEES), from the start of the work cycle
 * on. BRAMAH_SEEDS: runs per set, of the whole cycle.
 *
 * An error that lasts (of the crank's angle, which an encoder of 1 deg averages over seconds) counts as little more than one
 * draw per run: over R runs its RMSE is known to 1 / sqrt(2 R) only, 6 % for 150. So ratios come with their standard errors,
 * from the scatter of the runs; and the time in which the mean NEES is within its 95 % band, 95 % on average, is known no
 * better than the few independent errors of the angle allow. */
#include "test/support/four_bar.h"
#include "test/support/run.h"
#include "test/support/twin.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 10001, FEW_ROWS = 2501, N = 5, FEW = 4, MANY = 100 };

static bramah_diag diag;

static const char *const name[N] = {"crank.angle", "crank.rate", "v1.pressure", "v2.pressure", "v3.pressure"};

/* Of many runs: squared errors over the bound, each run's share by the bound of all. */
typedef struct sums {
  double squares[N], bound[N];
  double squares_2[N], bound_2[N], crossed[N]; /* sums over runs of products of their sums */
  double nees[ROWS];                           /* per state */
} sums;

static void run_once(int set, uint64_t seed, size_t rows, sums *out)
{
  char file[64];
  double squares[N] = {0.0}, bound[N] = {0.0};
  size_t shown[N];
  bramah_replay *replay;
  int64_t time_ns;
  int corrected, end;
  twin t;
  snprintf(file, sizeof file, "four-bar/sensors-%d.yaml", set);
  twin_open(&t, &(twin_options){.study = file, .rows = rows});
  for (int i = 0; i < N; i++) shown[i] = must_find(&t.plant, name[i]);
  twin_run(&t, rows, seed, 0, NULL, 1);
  must(bramah_replay_new(bramah_session_filter(t.session), NULL, twin_source, &t, &diag, &replay), &diag);
  for (size_t k = 0; k < rows; k++) {
    double e[N], ratio[N], nees;
    must(bramah_replay_next(replay, &time_ns, &corrected, &end, &diag), &diag);
    twin_compare(&t, k, N, shown, e, ratio, &nees);
    out->nees[k] += nees;
    for (int i = 0; i < N; i++) {
      squares[i] += e[i] * e[i];
      bound[i] += pow(t.sigma[k * t.plant.n_output + shown[i]], 2);
    }
  }
  for (int i = 0; i < N; i++) {
    out->squares[i] += squares[i];
    out->bound[i] += bound[i];
    out->squares_2[i] += squares[i] * squares[i];
    out->bound_2[i] += bound[i] * bound[i];
    out->crossed[i] += squares[i] * bound[i];
  }
  bramah_replay_free(replay);
  twin_close(&t);
}

EACH_TEST(reaches_the_bound, 1, 5)
{
  static sums s;
  const char *asked = getenv("BRAMAH_SEEDS");
  const int runs = asked ? atoi(asked) : FEW;
  const size_t rows = asked ? ROWS : FEW_ROWS;
  memset(&s, 0, sizeof s);
  for (int seed = 1; seed <= runs; seed++) run_once(_i, (uint64_t)seed, rows, &s);

  double mean = 0.0, share = 0.0;
  for (size_t k = 0; k < rows; k++) {
    mean += s.nees[k] / runs / (double)rows;
    share += (fabs(s.nees[k] / runs - 1.0) <= 1.96 * sqrt(2.0 / (N * runs))) / (double)rows;
  }
  printf("set %d, %d runs: NEES %.3f, in its 95 %% band %.1f %% of the time; RMSE over bound", _i, runs, mean,
         100.0 * share);
  for (int i = 0; i < N; i++) {
    /* of the ratio of two means, to first order */
    const double square = s.squares[i] / s.bound[i];
    const double scatter = s.squares_2[i] - 2.0 * square * s.crossed[i] + square * square * s.bound_2[i];
    const double ratio = sqrt(square), error = 0.5 * sqrt(fmax(scatter, 0.0)) / s.bound[i] / ratio;
    printf(" %.3f +- %.3f", ratio, error);
    ck_assert_double_le(ratio, runs >= MANY ? 1.05 : 1.05 + 3.0 * error);
    ck_assert_double_ge(ratio, 0.95 - 3.0 * error);
  }
  printf("\n");
  ck_assert_double_ge(share, runs >= MANY ? 0.90 : 0.80);
}

int main(void) { return run_tests("bound"); }
