/* SPDX-License-Identifier: MIT */
/* Contacts between bodies: the search for where two shapes touch, each with each; for which of many balls come near, by how many there are; and steps of
 * the crates interpreted, by tape and native. Nothing here can fail for being slow. */
#define _GNU_SOURCE
#include "bramah/coupled.h"
#include "bramah/session.h"
#include "bramah/study.h"
#include "lib/multibody/rotation.h"
#include "lib/multibody/shape.h"
#include "test/bench/bench.h"
#include "test/support/four_bar.h"

#include <math.h>

enum { ROUNDS = 7, KINDS = 5, CORNERS = 20, LOOKS = 2000 };
static bramah_diag diag;

/* ---- two shapes ---- */

static double uniform(uint32_t *seed)
{
  *seed = 1664525u * *seed + 1013904223u;
  return (double)(*seed >> 8) / (double)(1u << 24);
}

typedef struct made {
  bramah__shape shape;
  double corner[3 * CORNERS], normal[6 * CORNERS], direction[9 * CORNERS];
  int first[2 * CORNERS + 1], of_face[6 * CORNERS], edge[6 * CORNERS];
} made;

/* About 0.2 m large: a sphere, a capsule, a box, a wedge, a hull of twenty corners on a ball. */
static void make(made *m, int kind, int body)
{
  static const size_t corners[KINDS] = {1, 2, 8, 6, CORNERS};
  static const double roof[] = {-1, -1, -1, 1, -1, -1, -1, 1, -1, 1, 1, -1, 0, -1, 1, 0, 1, 1};
  uint32_t seed = 7;
  *m = (made){.shape = {.body = body, .radius = kind < 2 ? 0.1 : 0.0, .n_corners = corners[kind]}};
  bramah__shape *s = &m->shape;
  s->corner = m->corner, s->normal = m->normal, s->direction = m->direction;
  s->first = m->first, s->of_face = m->of_face, s->edge = m->edge;
  if (kind == 1) m->corner[0] = -0.1, m->corner[3] = 0.1;
  for (int c = 0; kind == 2 && c < 24; c++) m->corner[c] = c / 3 >> c % 3 & 1 ? 0.1 : -0.1;
  for (int c = 0; kind == 3 && c < 18; c++) m->corner[c] = 0.1 * roof[c];
  for (int c = 0; kind == 4 && c < CORNERS; c++) {
    const double up = 2.0 * ((double)c + 0.5) / CORNERS - 1.0, turn = 2.4 * c + 0.1 * uniform(&seed);
    m->corner[3 * c] = 0.1 * sqrt(1.0 - up * up) * cos(turn);
    m->corner[3 * c + 1] = 0.1 * sqrt(1.0 - up * up) * sin(turn);
    m->corner[3 * c + 2] = 0.1 * up;
  }
  if (bramah__shape_build(s) != -1) exit(EXIT_FAILURE);
}

static void print_pairs(void)
{
  static const char *const kind[KINDS] = {"sphere", "capsule", "box", "wedge", "hull of 20"};
  static made of[2];
  printf("\nwhere two shapes touch that overlap in poses at random, us (CPU), median of %d\n\n%-12s", ROUNDS,
         "");
  for (int j = 0; j < KINDS; j++) printf("%12s", kind[j]);
  for (int i = 0; i < KINDS; i++) {
    printf("\n%-12s", kind[i]);
    for (int j = 0; j < KINDS; j++) {
      double took[ROUNDS];
      size_t points = 0;
      make(&of[0], i, 0), make(&of[1], j, 1);
      for (int r = 0; r < ROUNDS; r++) {
        uint32_t seed = 3;
        double spent = 0.0;
        for (int k = 0; k < LOOKS; k++) {
          bramah__pose pose[2] = {{.r = {0}}, {.r = {0.11 * uniform(&seed), 0.11 * uniform(&seed), 0.15}}};
          bramah__patch patch;
          for (int e = 0; e < 2; e++) {
            double q[4], sum = 0.0;
            for (int c = 0; c < 4; c++) q[c] = uniform(&seed) - 0.5, sum += q[c] * q[c];
            for (int c = 0; c < 4; c++) q[c] /= sqrt(sum);
            bramah__quaternion_matrix(q, pose[e].A);
          }
          const double start = bench_now();
          for (int again = 0; again < 4; again++)
            bramah__shapes_touch(&of[0].shape, &of[1].shape, pose, -1, 0.0, &patch);
          spent += (bench_now() - start) / 4.0;
          points += patch.n;
        }
        took[r] = spent / LOOKS * 1e6;
      }
      printf("%7.2f (%.1f)", bench_median(took, ROUNDS), (double)points / (ROUNDS * LOOKS));
    }
  }
  printf("\nin brackets: points that they touch in, on average\n");
}

/* ---- many ---- */

static void count_pair(void *self, size_t i, size_t j)
{
  (void)i, (void)j;
  ++*(size_t *)self;
}

/* Balls of 0.1 m strewn over a square that grows with them, or through a cube, and shaken a little before each look. */
static void print_near(void)
{
  enum { SIZES = 6, MOST = 3200 };
  static bramah__around ball[MOST];
  static int order[MOST];
  printf("\nwhich of scattered balls come near, us a look, after a first one\n\n%8s %12s %12s %12s %12s\n",
         "balls", "on a plane", "pairs", "in space", "pairs");
  double took[2][SIZES];
  for (int k = 0; k < SIZES; k++) {
    const size_t n = (size_t)100 << k;
    size_t pairs[2] = {0, 0};
    for (int in_space = 0; in_space < 2; in_space++) {
      const double side = 0.6 * (in_space ? cbrt((double)n) : sqrt((double)n));
      uint32_t seed = 11;
      double rounds[ROUNDS];
      for (size_t i = 0; i < n; i++) {
        order[i] = (int)i;
        ball[i] = (bramah__around){{side * uniform(&seed), side * uniform(&seed), 0.0}, 0.1};
        if (in_space) ball[i].middle[2] = side * uniform(&seed);
      }
      for (int r = -1; r < ROUNDS; r++) {
        for (size_t i = 0; i < 3 * n; i++) ball[i / 3].middle[i % 3] += 1e-3 * (uniform(&seed) - 0.5);
        const double start = bench_now();
        pairs[in_space] = 0;
        bramah__near_pairs(n, ball, order, count_pair, &pairs[in_space]);
        if (r >= 0) rounds[r] = (bench_now() - start) * 1e6;
      }
      took[in_space][k] = bench_median(rounds, ROUNDS);
    }
    printf("%8zu %12.1f %12zu %12.1f %12zu\n", n, took[0][k], pairs[0], took[1][k], pairs[1]);
  }
  for (int in_space = 0; in_space < 2; in_space++)
    printf("exponent %s: %.2f\n", in_space ? "in space" : "on a plane",
           log(took[in_space][SIZES - 1] / took[in_space][0]) / log((double)(1 << (SIZES - 1))));
}

/* ---- crates ---- */

static void print_crates(void)
{
  enum { STEPS = 2000 };
  static const char *const ways[] = {"interpreted", "tape", "native"};
  const char *root = getenv("BRAMAH_SOURCE_ROOT");
  char path[1024];
  snprintf(path, sizeof path, "%s/datasets/crates/crates.yaml", root ? root : ".");
  printf("\nsteps of the crates, us\n\n");
  for (int way = 0; way < 3; way++) {
    bramah_machine_plant m;
    double took[ROUNDS];
    setenv("BRAMAH_NATIVE", way == 2 ? "wait" : "off", 1);
    must(bramah_machine_plant_open(&m, path, 0, NULL, 0, &diag), &diag);
    if (way)
      must(bramah_machine_plant_compile(&m, BRAMAH_PROGRAM_STEPS, 0, NULL, &diag), &diag);
    else
      must(bramah_coupled_use(m.coupled, NULL, &diag), &diag);
    for (int r = -1; r < ROUNDS; r++) {
      const double start = bench_now();
      for (int k = 0; k < STEPS / ROUNDS; k++) must(m.plant.step(m.plant.self, &diag), &diag);
      if (r >= 0) took[r] = (bench_now() - start) / (STEPS / ROUNDS) * 1e6;
    }
    const bramah_step_report report = bramah_coupled_report(m.coupled);
    printf("%-12s %8.1f   %5.1f%% by program", ways[way], bench_median(took, ROUNDS),
           100.0 * (double)report.compiled / (double)report.steps);
    if (m.program) printf(", %zu operations an iterate", bramah_program_get_info(m.program).n_iterate);
    printf(", %.2f iterates a step\n", (double)report.iterations / (double)report.steps);
    bramah_machine_plant_close(&m);
  }
}

int main(void)
{
  bench_print_machine();
  print_pairs();
  print_near();
  print_crates();
  return 0;
}
