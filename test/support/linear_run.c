/* SPDX-License-Identifier: MIT */
#include "test/support/linear_run.h"
#include "test/support/four_bar.h"

#include <math.h>
#include <string.h>

enum { N = LINEAR_N };

static const double position_sigma[2] = {2e-2, 1e-2}, velocity_sigma[2] = {5e-2, 8e-2},
                    pressure_sigma[2] = {5e4, 8e4};
static const double acceleration_noise[2] = {0.3, 0.2}, pressure_noise[2] = {2e4, 3e4};
static const double guess[N] = {0.02, -0.01, 0.1, 0.0, 1.2e6, 9e5};

static const struct {
  size_t n_terms, output[2];
  double weight[2], sigma;
  int every;
} sensors[LINEAR_SENSORS] = {{1, {0}, {1.0}, 2e-3, 2},          /* left.position */
                             {2, {2, 0}, {1.0, -1.0}, 3e-3, 5}, /* distance of the carts */
                             {1, {3}, {1.0}, 2e-2, 3},          /* right.rate */
                             {1, {4}, {1.0}, 2e4, 1},           /* left.pressure */
                             {1, {5}, {1.0}, 3e4, 7}};          /* right.pressure */

static void set_up(linear_run *run)
{
  static const char *const name[LINEAR_SENSORS] = {"position", "distance", "rate", "p left", "p right"};
  run->object.h = 0.01;
  memcpy(run->object.x, guess, sizeof guess);
  run->plant = linear_plant_table(&run->object);
  for (int i = 0; i < LINEAR_SENSORS; i++) {
    bramah_sensor *s = &run->sensor[i];
    *s = (bramah_sensor){
        .name = name[i], .unit = "", .n_terms = sensors[i].n_terms, .sigma = sensors[i].sigma};
    memcpy(s->output, sensors[i].output, sizeof sensors[i].output);
    memcpy(s->weight, sensors[i].weight, sizeof sensors[i].weight);
  }
  run->options = (bramah_filter_options){.transition = BRAMAH_TRANSITION_KINEMATIC,
                                         .position_sigma = position_sigma,
                                         .rate_sigma = velocity_sigma,
                                         .first_order_sigma = pressure_sigma,
                                         .acceleration_noise = acceleration_noise,
                                         .first_order_noise = pressure_noise};
}

/* White acceleration over one step moves velocity by a and position by b (D 3.18). */
static void disturb(linear_plant *truth, unsigned *seed)
{
  const double h = truth->h;
  for (int i = 0; i < 2; i++) {
    const double a = test_normal(seed), b = test_normal(seed), root = acceleration_noise[i] * sqrt(h);
    truth->x[2 + i] += root * a;
    truth->x[i] += root * h * (0.5 * a + b / sqrt(12.0));
    truth->x[4 + i] += pressure_noise[i] * sqrt(h) * test_normal(seed);
  }
}

static void measure(linear_run *run, int k, const bramah_plant *truth, unsigned *seed)
{
  for (int i = 0; i < LINEAR_SENSORS; i++) {
    const int lost = (k > 120 && k < 180) || (i == 0 && k > 60 && k < 240), wild = (k + 3 * i) % 23 == 0;
    run->due[k][i] = k % sensors[i].every == 0 && !lost;
    run->y[k][i] = bramah_sensor_predict(&run->sensor[i], truth) +
                   sensors[i].sigma * (test_normal(seed) + (wild ? 40.0 : 0.0));
  }
}

void linear_run_make(linear_run *run, int64_t change_at)
{
  unsigned seed = 3;
  memset(run, 0, sizeof *run);
  set_up(run);
  run->object.change_at = -1;
  linear_plant truth = run->object;
  bramah_plant table = linear_plant_table(&truth);
  for (int i = 0; i < 2; i++) {
    truth.x[i] += position_sigma[i] * test_normal(&seed);
    truth.x[2 + i] += velocity_sigma[i] * test_normal(&seed);
    truth.x[4 + i] += pressure_sigma[i] * test_normal(&seed);
  }
  for (int k = 0; k <= LINEAR_STEPS; k++) {
    run->u[k] = sin(0.07 * k);
    measure(run, k, &table, &seed);
    truth.u = run->u[k];
    table.step(&truth, NULL);
    disturb(&truth, &seed);
  }
  run->object.change_at = change_at;
}

void linear_run_gate(linear_run *run, int k, const double *P)
{
  for (int i = 0; i < LINEAR_SENSORS; i++) {
    double H[N], term[N], dx[N], S = sensors[i].sigma * sensors[i].sigma;
    linear_plant snap;
    bramah_sensor_row(&run->sensor[i], &run->plant, H, term, &snap, dx, NULL);
    for (int a = 0; a < N; a++)
      for (int b = 0; b < N; b++) S += H[a] * P[a * N + b] * H[b];
    const double innovation = run->y[k][i] - bramah_sensor_predict(&run->sensor[i], &run->plant);
    run->used[k][i] = run->due[k][i] && fabs(innovation) < 4.0 * sqrt(S);
  }
}

void linear_run_row(const linear_run *run, int sensor, double *row)
{
  static const int state_of_output[N] = {0, 2, 1, 3, 4, 5};
  const bramah_sensor *s = &run->sensor[sensor];
  memset(row, 0, N * sizeof *row);
  for (size_t t = 0; t < s->n_terms; t++) row[state_of_output[s->output[t]]] += s->weight[t];
}

void linear_run_noise(const linear_run *run, double *Q)
{
  const double h = run->object.h;
  memset(Q, 0, N * N * sizeof *Q);
  for (int i = 0; i < 2; i++) {
    const double q = acceleration_noise[i] * acceleration_noise[i];
    Q[i * N + i] = q * h * h * h / 3.0;
    Q[i * N + 2 + i] = Q[(2 + i) * N + i] = q * h * h / 2.0;
    Q[(2 + i) * N + 2 + i] = q * h;
    Q[(4 + i) * N + 4 + i] = pressure_noise[i] * pressure_noise[i] * h;
  }
}

/* What the command does in one step: a step from zero. */
static void drift(const linear_run *run, int k, double *g)
{
  linear_plant p = run->object;
  memset(p.x, 0, sizeof p.x);
  p.u = run->u[k];
  run->plant.step(&p, NULL);
  memcpy(g, p.x, sizeof p.x);
}

void linear_run_batch(const linear_run *run, int last, least_squares *b)
{
  double F[N * N], Q[N * N], g[N], row[N];
  const double sigma[N] = {position_sigma[0], position_sigma[1], velocity_sigma[0],
                           velocity_sigma[1], pressure_sigma[0], pressure_sigma[1]};
  linear_plant_transition(&run->object, F);
  linear_run_noise(run, Q);
  least_squares_prior(b, guess, sigma);
  for (int k = 0; k <= last; k++) {
    drift(run, k, g);
    if (k < last) least_squares_motion(b, k, F, g, Q);
    for (int i = 0; i < LINEAR_SENSORS; i++) {
      linear_run_row(run, i, row);
      if (run->used[k][i]) least_squares_measurement(b, k, row, run->y[k][i], sensors[i].sigma);
    }
  }
  least_squares_solve(b);
}
