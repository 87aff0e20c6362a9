/* SPDX-License-Identifier: MIT */
/* A step of soil that moves: particles in a bucket over a field, alone and by how many there are; cells that slump by how many
 * are active; of how large a field they are part. A machine on four tyres that carries a box of particles over such a field. */
#define _GNU_SOURCE
#include "bramah/worksite.h"
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

/* ---- with a machine ---- */

enum { WHEELS = 4, BODIES = 1 + WHEELS };

/* It rolls at 0.5 m/s, with three discs to a tyre; in the box on it are so many particles. Steps by program or interpreted. */
static double time_of_machine(size_t cells, size_t n, int compiled, int with_soil)
{
  static const char *const names[BODIES] = {"frame", "w1", "w2", "w3", "w4"}, *const joints[BODIES] = {
                                                                                  "free", "h1", "h2", "h3",
                                                                                  "h4"};
  const double l = 0.55, low = 0.3, high = 1.3, still[3] = {0.0}, r = 0.038;
  const bramah_plate plate[5] = {{4, {{-l, -l, low}, {l, -l, low}, {l, l, low}, {-l, l, low}}},
                                 {4, {{-l, -l, low}, {-l, l, low}, {-l, l, high}, {-l, -l, high}}},
                                 {4, {{l, -l, low}, {l, -l, high}, {l, l, high}, {l, l, low}}},
                                 {4, {{-l, -l, low}, {-l, -l, high}, {l, -l, high}, {l, -l, low}}},
                                 {4, {{-l, l, low}, {l, l, low}, {l, l, high}, {-l, l, high}}}};
  const bramah_machine_tool box = {.name = "box", .body = "frame", .tool = {.n_plates = 5, .plates = plate}};
  bramah_body body[BODIES] = {{.name = "frame", .mass = 1600, .inertia = {300, 500, 600}}};
  bramah_joint joint[BODIES] = {{.name = "free",
                                 .type = BRAMAH_JOINT_FLOATING,
                                 .parent = "ground",
                                 .child = "frame",
                                 .initial_positions = {-1, 0, 0.485},
                                 .initial_rates = {0.5}}};
  bramah_tyre tyre[WHEELS];
  for (int k = 0; k < WHEELS; k++) {
    body[1 + k] = (bramah_body){.name = names[1 + k], .mass = 100, .inertia = {8, 12, 8}};
    joint[1 + k] = (bramah_joint){.name = joints[1 + k],
                                  .type = BRAMAH_JOINT_REVOLUTE,
                                  .parent = "frame",
                                  .child = names[1 + k],
                                  .position = {k < 2 ? 1.2 : -1.2, k % 2 ? 0.8 : -0.8, 0},
                                  .axis = {0, 1, 0},
                                  .initial_rate = 1.0};
    tyre[k] = (bramah_tyre){.name = names[1 + k],
                            .body = names[1 + k],
                            .radius = 0.5,
                            .width = 0.3,
                            .on_terrain = 1,
                            .stiffness = 300e3,
                            .damping = 6e3};
  }
  bramah_machine m;
  bramah_machine_default(&m);
  m.name = "carrier";
  m.n_bodies = m.n_joints = BODIES, m.n_tyres = WHEELS, m.n_tools = 1;
  m.bodies = body, m.joints = joint, m.tyres = tyre, m.tools = &box;
  m.gravity[2] = -9.81;
  m.integrator.step_ns = 1200000;
  bramah_terrain_options *o = &m.terrain.options;
  o->nx = o->ny = cells;
  o->cell = 0.1;
  o->origin[0] = o->origin[1] = -0.05 * (double)cells;
  o->max_particles = n;
  o->pressing = 0.05;
  const bramah_model *model;
  bramah_coupled *c;
  bramah_program *program = NULL;
  bramah_worksite *site;
  bramah_diag diag;
  if (bramah_model_new(&m, &diag, &model) || bramah_coupled_new(model, &diag, &c) ||
      (compiled && (bramah_program_new_for(model, BRAMAH_PROGRAM_STEPS, 0, NULL, &diag, &program) ||
                    bramah_coupled_use(c, program, &diag))) ||
      bramah_worksite_new(c, &diag, &site)) {
    printf("%s: %s\n", diag.thing, diag.message);
    exit(1);
  }
  for (size_t k = 0; k < n; k++) {
    const double x[3] = {-1.0 - l + 0.06 + 2.2 * r * (double)(k % 11) + 0.01 * (double)(k / 121 % 2),
                         -l + 0.06 + 2.2 * r * (double)(k / 11 % 11) + 0.01 * (double)(k / 242 % 2),
                         0.485 + low + 0.05 + 2.2 * r * (double)(k / 121)};
    bramah_terrain_add_particle(bramah_worksite_terrain(site), x, still, NULL);
  }
  const bramah_plant plant = with_soil ? bramah_worksite_plant(site) : bramah_coupled_plant(c);
  double took[ROUNDS];
  for (int round = -2; round < ROUNDS; round++) { /* the load settles first */
    const double start = bench_now();
    for (int k = 0; k < STEPS; k++)
      if (plant.step(plant.self, &diag)) {
        printf("%s: %s\n", diag.thing, diag.message);
        exit(1);
      }
    if (round >= 0) took[round] = (bench_now() - start) / STEPS * 1e6;
  }
  bramah_worksite_free(site);
  bramah_coupled_free(c);
  bramah_program_free(program);
  bramah_model_free(model);
  return bench_median(took, ROUNDS);
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
  printf("machine on four tyres with 12 discs, which carries particles over 200 x 200 cells [us a step]\n"
         "particles   interpreted   by tape   machine alone, by tape\n");
  for (int i = 0; i < 4; i++) {
    took[i] = time_of_machine(200, particles[i], 1, 1);
    printf("%9zu   %11.1f   %7.1f   %7.1f\n", particles[i], time_of_machine(200, particles[i], 0, 1), took[i],
           time_of_machine(200, particles[i], 1, 0));
  }
  printf("exponent of cost against particles: %.2f\n", log(took[3] / took[0]) / log(8.0));
  return 0;
}
