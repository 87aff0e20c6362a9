/* SPDX-License-Identifier: MIT */
/* Soil that moves: heaps, wedges, particles, buckets, and what must not change on the way. */
#include "lib/terrain/terrain_internal.h"
#include "test/support/run.h"
#include "test/support/running.h"

#include <math.h>
#include <string.h>

static bramah_diag diag;
static const double pi = 3.14159265358979323846;

/* A flat square of cells of 10 cm, with the number of particles at most. */
static bramah_terrain_options square(size_t n, size_t max_particles)
{
  bramah_terrain_options o;
  bramah_terrain_options_default(&o);
  o.nx = o.ny = n;
  o.cell = 0.1;
  o.max_particles = max_particles;
  return o;
}

static bramah_terrain *make(const bramah_terrain_options *o)
{
  bramah_terrain *t;
  ck_assert_msg(bramah_terrain_new(o, &diag, &t) == BRAMAH_OK, "%s: %s", diag.thing, diag.message);
  return t;
}

static void step(bramah_terrain *t, int n)
{
  while (n-- > 0)
    ck_assert_msg(bramah_terrain_step(t, 1.2e-3, &diag) == BRAMAH_OK, "%s: %s", diag.thing, diag.message);
}

/* ---- soil without a field ---- */

/* Upright and smooth: passive earth pressure, on a plane at 45 degrees less half the friction. The angle is that of the least force. */
TEST(wedge_has_the_least_resistance)
{
  bramah_soil soil;
  bramah_cut cut = {.depth = 1.0, .width = 1.0, .rake = 0.5 * pi};
  bramah_cut_force f;
  bramah_soil_default(&soil);
  soil.tool_friction = 0.0;
  ck_assert_int_eq(bramah_soil_cut(&soil, 9.81, &cut, &diag, &f), BRAMAH_OK);
  ck_assert_double_eq_tol(f.wedge, 27.5 * pi / 180.0, 1e-15);
  ck_assert_double_eq_tol(f.n_weight, 0.5 * (1.0 + sin(soil.friction)) / (1.0 - sin(soil.friction)), 1e-14);
  soil.tool_friction = 0.3;
  for (cut.rake = 0.3; cut.rake < 2.1; cut.rake += 0.2) {
    ck_assert_int_eq(bramah_soil_cut(&soil, 9.81, &cut, &diag, &f), BRAMAH_OK);
    for (int k = -1; k <= 1; k++) {
      const double b = f.wedge + 1e-4 * k, all = cut.rake + soil.tool_friction;
      const double n =
          0.5 * (1.0 / tan(cut.rake) + 1.0 / tan(b)) / (cos(all) + sin(all) / tan(b + soil.friction));
      if (k == 0)
        ck_assert_double_eq_tol(n, f.n_weight, 1e-12);
      else
        ck_assert_double_gt(n, f.n_weight + 1e-10);
    }
  }
  cut.rake = pi - soil.friction - 0.3;
  ck_assert_int_eq(bramah_soil_cut(&soil, 9.81, &cut, &diag, &f), BRAMAH_E_VALUE);
}

/* By quarters and halves along an axis: binomial. */
TEST(pressure_spreads_as_binomials)
{
  enum { LAYERS = 5, N = 11 };
  static const double binomial[9] = {1, 8, 28, 56, 70, 56, 28, 8, 1};
  const double spread[9] = {0, 0, 0, 0.25, 0.5, 0.25, 0, 0, 0};
  double weight[LAYERS * N] = {0}, scratch[N], base[N];
  weight[(LAYERS - 1) * N + 5] = 256.0;
  ck_assert_int_eq(bramah_soil_base_pressure(LAYERS, 1, N, spread, weight, scratch, base, &diag), BRAMAH_OK);
  for (int j = 0; j < N; j++)
    ck_assert_double_eq_tol(base[j], j >= 1 && j <= 9 ? binomial[j - 1] : 0.0, 1e-12);
}

/* ---- the field ---- */

TEST(heights_and_normals_are_bilinear)
{
  bramah_terrain_options o = square(8, 0);
  o.origin[0] = -2.0;
  bramah_terrain *t = make(&o);
  double h[64], n[3];
  for (int i = 0; i < 8; i++)
    for (int j = 0; j < 8; j++) h[8 * i + j] = 0.3 * (0.1 * i) - 0.2 * (0.1 * j);
  bramah_terrain_set_heights(t, h, &diag);
  const double x = -2.0 + 0.437, y = 0.291, size = sqrt(1.0 + 0.09 + 0.04);
  ck_assert_double_eq_tol(bramah_terrain_height(t, x, y, n), 0.3 * (0.437 - 0.05) - 0.2 * (0.291 - 0.05),
                          1e-14);
  ck_assert_double_eq_tol(n[0], -0.3 / size, 1e-14);
  ck_assert_double_eq_tol(n[1], 0.2 / size, 1e-14);
  ck_assert_double_eq_tol(n[2], 1.0 / size, 1e-14);
  ck_assert_double_eq_tol(bramah_terrain_height(t, -9.0, y, n), -0.2 * (0.291 - 0.05), 1e-14);
  ck_assert_double_eq(n[0], 0.0);
  bramah_terrain_free(t);
}

/* Distance from the middle at which a heap is so high, in the direction a. */
static double radius_at(const bramah_terrain *t, double middle, double a, double level)
{
  double inner = 0.0, outer = middle - 0.2;
  while (outer - inner > 1e-7) {
    const double r = 0.5 * (inner + outer);
    *(bramah_terrain_height(t, middle + r * cos(a), middle + r * sin(a), NULL) > level ? &inner : &outer) = r;
  }
  return inner;
}

/* A tower falls to a heap: its half deviation from round at half its height, and its mean slope between 30 % and 70 % of it. */
static void heap(bramah_slump rule, double *round, double *slope)
{
  enum { N = 61 };
  bramah_terrain_options o = square(N, 0);
  static double h[N * N];
  o.rule = rule;
  o.flow = 0.25;
  bramah_terrain *t = make(&o);
  for (int i = 0; i < N * N; i++) h[i] = abs(i / N - N / 2) <= 4 && abs(i % N - N / 2) <= 4 ? 4.0 : 0.0;
  bramah_terrain_set_heights(t, h, &diag);
  for (int k = 0; k < 500 && t->now->n_queue > 0; k++) step(t, 1);
  const double middle = 0.05 * N, top = bramah_terrain_height(t, middle, middle, NULL);
  double least = 1e9, most = 0.0, run = 0.0;
  for (int k = 0; k < 144; k++) {
    const double a = 2.0 * pi * k / 144.0, r = radius_at(t, middle, a, 0.5 * top);
    least = fmin(least, r);
    most = fmax(most, r);
    run += (radius_at(t, middle, a, 0.3 * top) - radius_at(t, middle, a, 0.7 * top)) / 144.0;
  }
  *round = (most - least) / (most + least);
  *slope = atan(0.4 * top / run) * 180.0 / pi;
  if (rule == BRAMAH_SLUMP_NEUTRAL) ck_assert_uint_eq(t->now->n_queue, 0); /* it has come to rest */
  ck_assert_double_eq_tol(bramah_terrain_get_report(t).field_mass, 81 * 4.0 * 0.01 * 1600.0, 1e-12 * 5184.0);
  bramah_terrain_free(t);
}

TEST(neutral_heaps_are_round_and_rest_at_repose)
{
  double round, slope;
  heap(BRAMAH_SLUMP_NEUTRAL, &round, &slope);
  ck_assert_double_lt(round, 0.01);
  ck_assert_double_eq_tol(slope, 35.0, 0.1);
  heap(BRAMAH_SLUMP_PRINTED, &round, &slope);
  ck_assert_double_gt(round, 0.03); /* as the specification says of it */
}

/* What is at rest costs nothing; a rut stays, and is as deep as its pressure asks: 2 bar on a strip as wide as a cell. */
TEST(only_what_is_touched_is_looked_at)
{
  const bramah_terrain_options o = square(60, 0);
  bramah_terrain *t = make(&o);
  step(t, 3);
  ck_assert_uint_eq(t->now->n_queue, 0);
  for (int k = 0; k < 400; k++) {
    for (int j = 0; j < 60; j++) ck_assert_int_eq(bramah_terrain_press(t, 3.05, 0.05 + 0.1 * j, 2000.0), 0);
    step(t, 1);
    ck_assert_uint_le(t->now->n_queue, 60 * 7);
  }
  const double *h = &t->h[30 * 60 + 30], counts = 0.02 * 2e5 / (1600.0 * 9.81);
  ck_assert_double_lt(h[0], 0.0);
  ck_assert_double_eq_tol(h[60] - h[0], counts - 0.1 * tan(35.0 * pi / 180.0), 1e-3);
  step(t, 10);
  ck_assert_uint_eq(t->now->n_queue, 0);
  ck_assert_double_lt(fabs(bramah_terrain_get_report(t).field_mass), 1e-12 * 60 * 16 * 0.1);
  ck_assert_int_eq(bramah_terrain_press(t, 0.0, 0.0, -1.0), BRAMAH_E_VALUE);
  ck_assert_int_eq(bramah_terrain_press(t, (double)NAN, 0.0, 1.0), BRAMAH_E_VALUE);
  bramah_terrain_free(t);
}

/* ---- particles ---- */

/* n in rough layers above the middle. */
static void drop(bramah_terrain *t, size_t n, size_t side, double height)
{
  const double r = t->options.radius, still[3] = {0.0},
               middle = 0.5 * (double)t->options.nx * t->options.cell;
  unsigned seed = 3;
  for (size_t k = 0; k < n; k++) {
    const double i = (double)(k / side % side) - 0.5 * (double)side,
                 j = (double)(k % side) - 0.5 * (double)side;
    const double shift = 0.25 * (double)(k / side / side % 2);
    const double x[3] = {middle + r * (2.3 * i + shift + 0.1 * test_uniform(&seed)),
                         middle + r * (2.3 * j + shift + 0.1 * test_uniform(&seed)),
                         height + r * (1.0 + 2.2 * (double)(k / side / side))};
    ck_assert_int_eq(bramah_terrain_add_particle(t, x, still, &diag), BRAMAH_OK);
  }
}

static double largest_speed(const bramah_terrain *t)
{
  static bramah_particle p[2000];
  double most = 0.0;
  const size_t n = bramah_terrain_particles(t, 2000, p);
  for (size_t k = 0; k < n; k++)
    for (int i = 0; i < 3; i++) most = fmax(most, fabs(p[k].velocity[i]));
  return most;
}

/* The largest rise of their energy above what it was before, in so many steps, as a part of what it was at first. */
static double largest_rise(bramah_terrain *t, int n, double dt)
{
  const double start = bramah_terrain_get_report(t).energy;
  double least = start, rise = 0.0;
  while (n-- > 0) {
    ck_assert_int_eq(bramah_terrain_step(t, dt, &diag), BRAMAH_OK);
    const double energy = bramah_terrain_get_report(t).energy;
    rise = fmax(rise, energy - least);
    least = fmin(least, energy);
  }
  return rise / start;
}

/* Falling onto each other and the ground, sliding or turning, they lose energy until they rest. Velocities are half a step ahead
 * of places, so that an impact seems to give energy while it lasts: the less, the shorter the step. */
EACH_TEST(particles_lose_energy_and_rest, 0, 2)
{
  bramah_terrain_options o = square(30, 125);
  o.rest_steps = 0;
  o.rotates = _i;
  bramah_terrain *t = make(&o), *fine = make(&o);
  drop(t, 125, 5, 0.3);
  drop(fine, 125, 5, 0.3);
  const double start = bramah_terrain_get_report(t).energy;
  const double rise = largest_rise(t, 400, 1.2e-3);
  ck_assert_double_lt(rise, 2e-3);
  ck_assert_double_lt(largest_rise(fine, 1600, 0.3e-3), 0.3 * rise);
  ck_assert_double_lt(largest_rise(t, 800, 1.2e-3), 2e-3);
  ck_assert_double_lt(largest_rise(t, 400, 1.2e-3), 1e-4); /* hardly any impacts any more */
  step(t, 2000);
  ck_assert_double_lt(largest_speed(t), _i ? 0.1 : 5e-3); /* those that turn roll on a little */
  ck_assert_double_lt(bramah_terrain_get_report(t).energy, 0.5 * start);
  ck_assert_double_eq(bramah_terrain_get_report(t).field_mass, 0.0);
  bramah_terrain_free(t), bramah_terrain_free(fine);
}

/* Those that are away from the others, from the field and from tools fall freely. */
TEST(particles_fall_freely)
{
  bramah_terrain_options o = square(30, 10);
  bramah_terrain *t = make(&o);
  const double x[3] = {1.5, 1.5, 5.0}, v[3] = {0.3, 0.0, 1.0};
  bramah_particle p;
  bramah_terrain_add_particle(t, x, v, &diag);
  step(t, 250);
  ck_assert_uint_eq(bramah_terrain_particles(t, 1, &p), 1);
  ck_assert_double_eq_tol(p.position[0], 1.5 + 0.3 * 0.3, 1e-12);
  ck_assert_double_eq_tol(p.position[2], 5.0 + 0.3 - 0.5 * 9.81 * 0.09, 9.81 * 0.3 * 1.2e-3);
  bramah_terrain_free(t);
}

/* Two that meet off their centres and turn: what they have together of momentum, linear and angular about their middle, stays. */
TEST(collisions_keep_momentum)
{
  bramah_terrain_options o = square(30, 2);
  o.rotates = 1;
  bramah_terrain *t = make(&o);
  const double x[2][3] = {{1.4, 1.5, 5.0}, {1.5, 1.53, 5.01}}, v[2][3] = {{2.0, 0.0, 0.5}, {-1.0, 0.3, 0.0}};
  double spin = 0.0, now[3] = {0.0}, start[3] = {0.0};
  for (int k = 0; k < 2; k++) ck_assert_int_eq(bramah_terrain_add_particle(t, x[k], v[k], &diag), BRAMAH_OK);
  for (int step_of = 0; step_of < 60; step_of++) {
    const bramah__body *a = &t->body[0], *b = &t->body[1];
    double arm[3], speed[3];
    for (int k = 0; k < 3; k++) arm[k] = a->x[k] - b->x[k], speed[k] = a->v[k] - b->v[k];
    for (int k = 0; k < 3; k++) {
      const int l = (k + 1) % 3, m = (k + 2) % 3;
      now[k] =
          0.5 * t->mass * (arm[l] * speed[m] - arm[m] * speed[l]) + t->inertia * (a->rate[k] + b->rate[k]);
      if (step_of == 0) start[k] = now[k];
      ck_assert_double_eq_tol(now[k], start[k], 1e-14);
      ck_assert_double_eq_tol(a->v[k] + b->v[k],
                              v[0][k] + v[1][k] - (k == 2 ? 2 * 9.81 * 1.2e-3 * step_of : 0.0), 1e-12);
    }
    spin = fabs(a->rate[2]);
    step(t, 1);
  }
  ck_assert_double_gt(spin, 1.0); /* they did meet */
  bramah_terrain_free(t);
}

/* ---- tools ---- */

/* A box, open above: floor, back, front, two sides; its edge along the front of the floor. */
static void box_of(bramah_plate plate[5], double length, double half, double height)
{
  const double l = length, w = half, h = height;
  const bramah_plate all[5] = {{4, {{0, -w, 0}, {l, -w, 0}, {l, w, 0}, {0, w, 0}}},
                               {4, {{0, -w, 0}, {0, w, 0}, {0, w, h}, {0, -w, h}}},
                               {4, {{l, -w, 0}, {l, -w, h}, {l, w, h}, {l, w, 0}}},
                               {4, {{0, -w, 0}, {0, -w, h}, {l, -w, h}, {l, -w, 0}}},
                               {4, {{0, w, 0}, {l, w, 0}, {l, w, h}, {0, w, h}}}};
  memcpy(plate, all, sizeof all);
}

static bramah_tool_motion at_rest(double x, double y, double z)
{
  return (bramah_tool_motion){.position = {x, y, z}, .rotation = {1, 0, 0, 0, 1, 0, 0, 0, 1}};
}

/* A bucket weighs what is in it, at rest and while it is carried; carrying keeps the neighbours. */
TEST(bucket_weighs_its_load)
{
  bramah_plate plate[5];
  bramah_terrain_options o = square(60, 150);
  bramah_tool tool = {.n_plates = 5, .plates = plate};
  box_of(plate, 0.6, 0.3, 0.5);
  o.n_tools = 1;
  o.tools = &tool;
  bramah_terrain *t = make(&o);
  bramah_tool_motion m = at_rest(2.7, 2.95, 1.0);
  bramah_terrain_place(t, 0, &m, &diag);
  drop(t, 150, 5, 1.02);
  step(t, 1200);
  const double weight = 150 * t->mass * 9.81;
  double mean[3] = {0.0};
  const uint64_t rebuilds = t->now->rebuilds;
  for (int k = 0; k < 500; k++) { /* up and away, from rest */
    for (int i = 0; i < 3; i++) m.position[i] += 1.2e-3 * m.velocity[i];
    m.velocity[0] = 0.5 * k / 500.0;
    m.velocity[2] = k / 500.0;
    bramah_terrain_place(t, 0, &m, &diag);
    step(t, 1);
    const bramah_tool_load load = bramah_terrain_tool_load(t, 0);
    if (k >= 250)
      for (int i = 0; i < 3; i++) mean[i] += load.force[i] / 250.0;
    ck_assert_double_eq_tol(load.carried, 150 * t->mass, 1e-9);
  }
  ck_assert_double_eq_tol(mean[2], -weight * (1.0 + 1.0 / 0.6 / 9.81), 0.02 * weight);
  ck_assert_double_eq_tol(mean[0], -weight * (0.5 / 0.6 / 9.81), 0.02 * weight);
  ck_assert_uint_le(t->now->rebuilds - rebuilds, 10);
  bramah_terrain_place(t, 0, NULL, &diag);
  ck_assert_double_eq(bramah_terrain_tool_load(t, 0).carried, 0.0);
  bramah_terrain_free(t);
}

/* An upright blade 1 m wide, 60 degrees from the horizontal. */
static bramah_terrain *with_blade(size_t max_particles, bramah_plate *plate, bramah_tool *tool)
{
  static const double points[3] = {-0.1, 0.0, 0.0};
  const double up[3] = {-0.4, 0.0, 0.4 * sqrt(3.0)};
  bramah_terrain_options o = square(40, max_particles);
  *plate = (bramah_plate){4, {{0, 0.5, 0}, {0, -0.5, 0}, {up[0], -0.5, up[2]}, {up[0], 0.5, up[2]}}};
  *tool = (bramah_tool){.n_plates = 1,
                        .plates = plate,
                        .has_edge = 1,
                        .edge = {{0, 0.5, 0}, {0, -0.5, 0}},
                        .blade = {up[0], up[1], up[2]},
                        .n_points = 1,
                        .points = points,
                        .stiffness = 1e5};
  o.n_tools = 1;
  o.tools = tool;
  return make(&o);
}

/* The first wedge takes the force of the fundamental equation, then fails, and becomes particles. */
TEST(force_of_a_blade_grows_until_the_wedge_fails)
{
  bramah_plate plate;
  bramah_tool tool;
  bramah_terrain *t = with_blade(300, &plate, &tool);
  bramah_cut_force f;
  const bramah_cut cut = {.depth = 0.15, .width = 1.0, .rake = pi / 3.0};
  ck_assert_int_eq(bramah_soil_cut(&t->options.soil, 9.81, &cut, &diag, &f), BRAMAH_OK);
  bramah_tool_motion m = at_rest(1.0, 2.0, -0.15);
  m.velocity[0] = 0.5;
  double last = 0.0, peak = 0.0;
  int k = 0;
  for (; t->now->failures == 0 && k < 100; k++) {
    ck_assert_double_ge(-bramah_terrain_tool_load(t, 0).cutting[0], last);
    last = -bramah_terrain_tool_load(t, 0).cutting[0];
    m.position[0] = 1.0 + 0.5 * 1.2e-3 * k;
    bramah_terrain_place(t, 0, &m, &diag);
    step(t, 1);
    peak = fmax(peak, -bramah_terrain_tool_load(t, 0).cutting[0]);
  }
  ck_assert_int_eq(k, (int)ceil(0.02 / 0.5 / 1.2e-3));
  ck_assert_double_eq_tol(peak, f.horizontal, 0.03 * f.horizontal); /* cells of 10 cm */
  m.position[0] += 0.5 * 1.2e-3;
  bramah_terrain_place(t, 0, &m, &diag);
  step(t, 1);
  ck_assert_double_lt(-bramah_terrain_tool_load(t, 0).cutting[0], 0.1 * peak);
  const bramah_terrain_report r = bramah_terrain_get_report(t);
  ck_assert_uint_gt(r.n_particles, 20);
  ck_assert_double_eq_tol(r.field_mass + r.particle_mass, 0.0, 1e-12 * 2560.0);
  bramah_terrain_free(t);
}

/* ---- what must not change ---- */

/* A blade that goes to and fro while particles are poured: wedges fail, particles merge, soil slumps. */
static void work(bramah_terrain *t, int from, int n)
{
  for (int k = from; k < from + n; k++) {
    const double phase = 2.0 * pi * k / 2500.0;
    bramah_tool_motion m = at_rest(2.0 - 0.8 * cos(phase), 2.0, -0.12 - 0.08 * sin(phase));
    m.velocity[0] = 0.8 * sin(phase) * 2.0 * pi / 3.0;
    m.velocity[2] = -0.08 * cos(phase) * 2.0 * pi / 3.0;
    bramah_terrain_place(t, 0, &m, &diag);
    const double x[3] = {1.0, 1.0, 1.0}, v[3] = {0.1, 0.0, -1.0};
    if (k % 100 == 0) bramah_terrain_add_particle(t, x, v, NULL); /* unless it is full */
    step(t, 1);
  }
}

TEST(mass_stays)
{
  bramah_plate plate;
  bramah_tool tool;
  bramah_terrain *t = with_blade(120, &plate, &tool);
  double h[1600];
  for (int c = 0; c < 1600; c++) h[c] = 0.5;
  bramah_terrain_set_heights(t, h, &diag);
  for (int c = 0; c < 1600; c++) h[c] = c / 40 > 25 ? 0.3 : 0.0;
  bramah_terrain_set_heights(t, h, &diag);
  const double mass = bramah_terrain_get_report(t).field_mass;
  for (int k = 0; k < 10; k++) {
    work(t, 1000 * k, 1000);
    const bramah_terrain_report r = bramah_terrain_get_report(t);
    ck_assert_double_eq_tol(r.field_mass + r.particle_mass - r.added, mass, 1e-12 * mass);
  }
  const bramah_terrain_report r = bramah_terrain_get_report(t);
  ck_assert_uint_gt(r.failures, 100);
  ck_assert_uint_gt(r.merged, 100);
  ck_assert_double_gt(r.added, 10.0);
  bramah_terrain_free(t);
}

/* Another terrain that goes on from a snapshot has the same bits; those that do not fit are refused. */
TEST(snapshots_go_on_to_the_bit)
{
  bramah_plate plate;
  bramah_tool tool;
  bramah_terrain *t = with_blade(100, &plate, &tool), *u = with_blade(100, &plate, &tool),
                 *other = with_blade(101, &plate, &tool);
  const size_t size = bramah_terrain_snapshot_size(t);
  unsigned char *snap = malloc(size), *a = malloc(size), *b = malloc(size);
  work(t, 0, 700);
  bramah_terrain_save(t, snap);
  work(t, 700, 300);
  bramah_terrain_save(t, a);
  ck_assert_int_eq(bramah_terrain_restore(u, snap, size, &diag), BRAMAH_OK);
  work(u, 700, 300);
  bramah_terrain_save(u, b);
  ck_assert(memcmp(a, b, size) == 0);
  ck_assert_uint_gt(bramah_terrain_get_report(u).n_particles, 10);
  ck_assert_int_eq(bramah_terrain_restore(u, snap, size - 8, &diag), BRAMAH_E_ARGUMENT);
  ck_assert_int_eq(bramah_terrain_restore(other, snap, bramah_terrain_snapshot_size(other), &diag),
                   BRAMAH_E_REFERENCE);
  snap[size - 5] ^= 1;
  ck_assert_int_eq(bramah_terrain_restore(u, snap, size, &diag), BRAMAH_E_VALUE);
  free(snap), free(a), free(b);
  bramah_terrain_free(t), bramah_terrain_free(u), bramah_terrain_free(other);
}

/* ---- mistakes ---- */

TEST(mistakes_are_named)
{
  const bramah_plate bent = {4, {{0, 0, 0}, {1, 0, 0}, {1, 1, 0.1}, {0, 1, 0}}},
                     notched = {4, {{0, 0, 0}, {1, 0, 0}, {0.2, 0.2, 0}, {0, 1, 0}}};
  const bramah_tool tools[] = {
      {.n_plates = 1, .plates = &bent}, {.n_plates = 1, .plates = &notched}, {.has_edge = 1}};
  bramah_terrain_options good = square(10, 10), o;
  bramah_terrain *t;
#define WRONG(change, name)                                                                                  \
  o = good;                                                                                                  \
  o.change;                                                                                                  \
  ck_assert_int_eq(bramah_terrain_new(&o, &diag, &t), BRAMAH_E_VALUE);                                       \
  ck_assert_str_eq(diag.thing, name);
  WRONG(nx = 0, "nx, ny")
  WRONG(cell = 0.0, "cell")
  WRONG(flow = 0.26, "flow")
  WRONG(radius = -1.0, "radius")
  WRONG(coulomb = (double)NAN, "coulomb")
  WRONG(soil.repose = 1.6, "soil.repose")
  WRONG(rule = (bramah_slump)3, "rule")
  WRONG(max_particles = SIZE_MAX, "max_particles")
  ck_assert_uint_eq(bramah_terrain_size(&o), 0);
  good.n_tools = 1;
  WRONG(tools = &tools[0], "plate")
  WRONG(tools = &tools[1], "plate")
  WRONG(tools = &tools[2], "edge")
#undef WRONG
  good = square(10, 1);
  t = make(&good);
  const double x[3] = {0.5, 0.5, 1.0}, nowhere[3] = {0.5, (double)NAN, 1.0}, v[3] = {0.0};
  ck_assert_int_eq(bramah_terrain_add_particle(t, nowhere, v, &diag), BRAMAH_E_NOT_FINITE);
  ck_assert_int_eq(bramah_terrain_add_particle(t, x, v, &diag), BRAMAH_OK);
  ck_assert_int_eq(bramah_terrain_add_particle(t, x, v, &diag), BRAMAH_E_ARGUMENT);
  ck_assert_int_eq(bramah_terrain_place(t, 0, NULL, &diag), BRAMAH_E_ARGUMENT);
  ck_assert_int_eq(bramah_terrain_step(t, 0.0, &diag), BRAMAH_E_VALUE);
  ck_assert_int_eq(bramah_terrain_step(t, 1.0, &diag), BRAMAH_E_VALUE);
  bramah_terrain_free(t);
}

int main(void) { return run_tests("terrain"); }
