/* SPDX-License-Identifier: MIT */
/* A step of soil that moves: particles in a bucket over a field, alone and by how many there are; cells that slump by how many
 * are active; of how large a field they are part. */
#define _GNU_SOURCE
#include "bramah/terrain.h"
#include "test/bench/bench.h"

#include <math.h>

enum { STEPS = 200, ROUNDS = 5 };
static const double dt = 1.2e-3;

static bramah_terrain *make(size_t cells, size_t n_particles, const bramah_tool *tool)
{
  bramah_terrain_options o;
  bramah_terrain *t;
  bramah_diag diag;
  bramah_terrain_options_default(&o);
  o.nx = o.ny = cells;
  o.cell = 0.1;
  o.max_particles = n_particles;
  o.n_tools = tool != NULL;
  o.tools = tool;
  if (bramah_terrain_new(&o, &diag, &t)) exit(1);
  return t;
}

static void run(bramah_terrain *t, int n)
{
  bramah_diag diag;
  for (int k = 0; k < n; k++)
    if (bramah_terrain_step(t, dt, &diag)) {
      printf("%s: %s\n", diag.thing, diag.message);
      exit(1);
    }
}

/* Microseconds of a step of `work`, the median of some rounds. */
static double time_of(bramah_terrain *t, void (*work)(bramah_terrain *, int))
{
  double took[ROUNDS];
  for (int r = 0; r < ROUNDS; r++) {
    const double start = bench_now();
    work(t, STEPS);
    took[r] = (bench_now() - start) / STEPS * 1e6;
  }
  return bench_median(took, ROUNDS);
}

/* A bucket that swings to and fro with its load. */
static void swing(bramah_terrain *t, int n)
{
  static int k;
  bramah_diag diag;
  for (; n-- > 0; k++) {
    const double a = 2.0 * 3.14159265358979 * k * dt / 4.0, tilt = 0.2 * sin(a), c = cos(tilt), s = sin(tilt);
    const bramah_tool_motion m = {.position = {1.5 + 0.5 * sin(a), 1.5, 1.0},
                                  .rotation = {c, 0, s, 0, 1, 0, -s, 0, c},
                                  .velocity = {0.5 * 1.5708 * cos(a)},
                                  .rate = {0, 0.2 * 1.5708 * cos(a), 0}};
    bramah_terrain_place(t, 0, &m, &diag);
    run(t, 1);
  }
}

static bramah_terrain *loaded(size_t cells, size_t n)
{
  const double l = 1.1, w = 0.55, h = 1.0;
  const bramah_plate plate[5] = {{4, {{0, -w, 0}, {l, -w, 0}, {l, w, 0}, {0, w, 0}}},
                                 {4, {{0, -w, 0}, {0, w, 0}, {0, w, h}, {0, -w, h}}},
                                 {4, {{l, -w, 0}, {l, -w, h}, {l, w, h}, {l, w, 0}}},
                                 {4, {{0, -w, 0}, {0, -w, h}, {l, -w, h}, {l, -w, 0}}},
                                 {4, {{0, w, 0}, {l, w, 0}, {l, w, h}, {0, w, h}}}};
  const bramah_tool tool = {.n_plates = 5, .plates = plate};
  bramah_terrain *t = make(cells, n, &tool);
  const double r = 0.038, still[3] = {0.0};
  for (size_t k = 0; k < n; k++) {
    const double x[3] = {1.6 + 2.2 * r * (double)(k % 11) + 0.01 * (double)(k / 121 % 2),
                         1.5 - w + 0.06 + 2.2 * r * (double)(k / 11 % 11) + 0.01 * (double)(k / 242 % 2),
                         1.05 + 2.2 * r * (double)(k / 121)};
    bramah_terrain_add_particle(t, x, still, NULL);
  }
  swing(t, 600);
  return t;
}

/* A slope of 37 degrees, all of which slides. */
static size_t side;
static void slide(bramah_terrain *t, int n)
{
  static double h[100 * 100];
  for (; n > 0; n -= 10) {
    for (size_t c = 0; c < side * side; c++) h[c] = 0.1 * (double)(c / side) * 0.7536;
    bramah_terrain_set_heights(t, h, NULL);
    run(t, 10);
  }
}

int main(void)
{
  static const size_t particles[] = {125, 250, 500, 1000, 2000}, fields[] = {50, 100, 200, 400};
  double took[5];
  bench_print_machine();
  printf("particles   us a step, in a bucket that swings, over 200 x 200 cells at rest\n");
  for (int i = 0; i < 5; i++) {
    bramah_terrain *t = loaded(200, particles[i]);
    took[i] = time_of(t, swing);
    printf("%9zu   %8.1f   %.3f us each\n", particles[i], took[i], took[i] / (double)particles[i]);
    bramah_terrain_free(t);
  }
  printf("exponent of cost against particles: %.2f\n", log(took[4] / took[0]) / log(16.0));
  printf("cells       us a step with 1000 particles\n");
  for (int i = 0; i < 4; i++) {
    bramah_terrain *t = loaded(fields[i], 1000);
    took[i] = time_of(t, swing);
    printf("%4zu x %-4zu %8.1f\n", fields[i], fields[i], took[i]);
    bramah_terrain_free(t);
  }
  printf("exponent of cost against cells at rest: %.3f\n", log(took[3] / took[0]) / log(64.0));
  printf("sliding     us a step of four sweeps, all cells active\n");
  for (int i = 0; i < 4; i++) {
    bramah_terrain *t = make(side = (size_t)12 << i, 0, NULL);
    took[i] = time_of(t, slide);
    printf("%4zu x %-4zu %8.1f   %.4f us each\n", side, side, took[i], took[i] / (double)(side * side));
    bramah_terrain_free(t);
  }
  printf("exponent of cost against active cells: %.2f\n", log(took[3] / took[0]) / log(64.0));
  return 0;
}
