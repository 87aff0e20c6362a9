/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Soil against the evaluations of the specification (soil-*.json), which other programs have made. */
#define _GNU_SOURCE /* locale_t */
#include "lib/io/yaml.h"
#include "lib/terrain/terrain_internal.h"
#include "test/support/run.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST = 256 };
static bramah_diag diag;
static bramah__source *automaton, *pressure, *cutting, *particles;

static const bramah__node *at(const bramah__node *node, const char *key)
{
  const bramah__node *found = bramah__node_find(node, key);
  ck_assert_msg(found != NULL, "no '%s'", key);
  return found;
}
static double number(const bramah__node *node, const char *key) { return strtod(at(node, key)->text, NULL); }

static void near(double is, double wanted, double tolerance)
{
  ck_assert_msg(fabs(is - wanted) <= tolerance * fmax(1.0, fabs(wanted)), "%.17g, not %.17g", is, wanted);
}

/* A table of rows; returns how many numbers. */
static size_t table(const bramah__node *rows, double *out)
{
  size_t n = 0;
  for (size_t i = 0; i < rows->n; i++)
    for (size_t j = 0; j < rows->items[i]->n; j++) {
      ck_assert(n < MOST);
      out[n++] = strtod(rows->items[i]->items[j]->text, NULL);
    }
  return n;
}

static void same_table(const double *is, const bramah__node *wanted, double tolerance)
{
  double values[MOST];
  const size_t n = table(wanted, values);
  for (size_t k = 0; k < n; k++) near(is[k], values[k], tolerance);
}

static bramah_soil soil_of(const bramah__node *root)
{
  const bramah__node *node = at(root, "soil");
  bramah_soil soil;
  bramah_soil_default(&soil);
  soil.density = number(node, "rho");
  soil.repose = number(node, "alpha_deg") * 3.14159265358979323846 / 180.0;
  soil.void_ratio = number(node, "void_ratio");
  return soil;
}

/* One sweep with the same forces as before; 1: something moved. */
static int sweep(bramah_terrain *t, const double *force)
{
  double before[MOST];
  const size_t ny = t->options.ny;
  memcpy(before, t->h, t->n_cells * sizeof before[0]);
  for (size_t c = 0; c < t->n_cells; c++)
    if (force[c] > 0.0)
      bramah_terrain_press(t, ((double)(c / ny) + 0.5) * t->options.cell,
                           ((double)(c % ny) + 0.5) * t->options.cell, force[c]);
  ck_assert_int_eq(bramah_terrain_step(t, 0.001, &diag), BRAMAH_OK);
  return memcmp(before, t->h, t->n_cells * sizeof before[0]) != 0;
}

TEST(automaton_of_the_specification)
{
  const bramah__node *list = at(automaton->root, "evaluations"), *soil = at(automaton->root, "soil");
  ck_assert_uint_eq(list->n, 10);
  for (size_t i = 0; i < list->n; i++) {
    const bramah__node *e = list->items[i], *after = at(e, "after"), *rest = at(e, "sweeps_until_rest");
    double h[MOST], force[MOST];
    bramah_terrain_options o;
    bramah_terrain *t;
    bramah_terrain_options_default(&o);
    o.soil = soil_of(automaton->root);
    o.nx = (size_t)number(e, "nx");
    o.ny = (size_t)number(e, "ny");
    o.cell = number(soil, "d");
    o.flow = number(soil, "z_plus") / o.cell;
    o.pressing = number(soil, "eta");
    o.sweeps = 1;
    o.max_particles = 0;
    o.rule = strcmp(at(e, "rule")->text, "excess") == 0 ? BRAMAH_SLUMP_EXCESS : BRAMAH_SLUMP_PRINTED;
    ck_assert_int_eq(bramah_terrain_new(&o, &diag, &t), BRAMAH_OK);
    ck_assert_uint_eq(table(at(e, "h0"), h), o.nx * o.ny);
    table(at(e, "force"), force);
    bramah_terrain_set_heights(t, h, &diag);
    long moved = 0, last = strcmp(rest->text, "null") == 0 ? 0 : atol(rest->text),
         n = last ? last + 5 : 10000;
    size_t seen = 0;
    for (long k = 1; k <= n; k++) {
      moved += sweep(t, force);
      for (size_t a = 0; a < after->n; a++)
        if (atol(after->keys[a]->text) == k) {
          same_table(t->h, after->items[a], 1e-12);
          seen++;
        }
    }
    ck_assert_uint_eq(seen, after->n);
    if (strcmp(rest->text, "null") != 0) ck_assert_int_eq(moved, last);
    same_table(t->h, at(e, "at_end"), 1e-12);
    near(bramah_terrain_get_report(t).field_mass, number(e, "sum_end") * o.soil.density * o.cell * o.cell,
         1e-12);
    bramah_terrain_free(t);
  }
}

TEST(pressure_of_the_specification)
{
  const bramah__node *list = at(pressure->root, "evaluations");
  ck_assert_uint_eq(list->n, 10);
  for (size_t i = 0; i < list->n; i++) {
    const bramah__node *e = list->items[i], *layers = at(e, "weights");
    double spread[MOST], weight[8 * MOST], scratch[MOST], base[MOST];
    const size_t nx = (size_t)number(e, "nx"), ny = (size_t)number(e, "ny");
    ck_assert(layers->n <= 8);
    table(at(e, "phi"), spread);
    for (size_t k = 0; k < layers->n; k++) table(layers->items[k], weight + k * nx * ny);
    ck_assert_int_eq(bramah_soil_base_pressure(layers->n, nx, ny, spread, weight, scratch, base, &diag),
                     BRAMAH_OK);
    same_table(base, at(e, "base"), 1e-12);
  }
}

TEST(cutting_of_the_specification)
{
  const bramah__node *list = at(cutting->root, "evaluations");
  ck_assert_uint_eq(list->n, 10);
  for (size_t i = 0; i < list->n; i++) {
    const bramah__node *e = list->items[i], *a = at(e, "args");
    const bramah_soil soil = {.density = number(a, "gamma"),
                              .friction = number(a, "phi"),
                              .tool_friction = number(a, "delta"),
                              .cohesion = number(a, "c"),
                              .adhesion = number(a, "ca")};
    const bramah_cut cut = {number(a, "depth"), number(a, "width"), number(a, "rake"), number(a, "q")};
    bramah_cut_force f;
    ck_assert_int_eq(bramah_soil_cut(&soil, 1.0, &cut, &diag, &f), BRAMAH_OK);
    near(f.n_weight, number(e, "N_gamma"), 1e-12);
    near(f.n_surcharge, number(e, "N_q"), 1e-12);
    /* their search finds the angle, at which N_gamma is flat, to the root of the rounding */
    near(f.wedge, number(e, "beta"), 5e-8);
    near(f.n_cohesion, number(e, "N_c"), 1e-7);
    near(f.n_adhesion, number(e, "N_a"), 1e-7);
    near(f.force, number(e, "force"), soil.cohesion + soil.adhesion > 0.0 ? 1e-7 : 1e-12);
    near(f.horizontal, number(e, "horizontal"), soil.cohesion + soil.adhesion > 0.0 ? 1e-7 : 1e-12);
    near(f.vertical, number(e, "vertical"), soil.cohesion + soil.adhesion > 0.0 ? 1e-7 : 1e-12);
  }
}

TEST(particles_of_the_specification)
{
  const bramah__node *list = at(particles->root, "evaluations");
  ck_assert_uint_eq(list->n, 10);
  for (size_t i = 0; i < list->n; i++) {
    const bramah__node *e = list->items[i], *cells = at(e, "cells");
    const double still[3] = {0.0},
                 at_rest[3] = {number(e, "x"), number(e, "y"), 0.3 + number(e, "radius") - 1e-9};
    double h[36], rows[MOST], total = 0.0;
    bramah_terrain_options o;
    bramah_terrain *t;
    bramah_terrain_options_default(&o);
    o.soil = soil_of(particles->root);
    o.nx = o.ny = 6;
    o.cell = 0.1;
    o.radius = number(e, "radius");
    o.max_particles = 1;
    o.rest_steps = 1;
    ck_assert_int_eq(bramah_terrain_new(&o, &diag, &t), BRAMAH_OK);
    for (int c = 0; c < 36; c++) h[c] = 0.3;
    bramah_terrain_set_heights(t, h, &diag);
    bramah_terrain_add_particle(t, at_rest, still, &diag);
    near(t->mass, number(e, "mass"), 1e-12);
    near(t->inertia, number(e, "inertia"), 1e-12);
    near(t->volume, number(e, "bulk_volume"), 1e-12);
    ck_assert_int_eq(bramah_terrain_step(t, 1e-4, &diag), BRAMAH_OK);
    ck_assert_uint_eq(bramah_terrain_get_report(t).merged, 1);
    const size_t n = table(cells, rows) / 4;
    for (size_t k = 0; k < n; k++) h[(size_t)rows[4 * k] * 6 + (size_t)rows[4 * k + 1]] += rows[4 * k + 3];
    for (int c = 0; c < 36; c++) {
      near(t->h[c], h[c], 1e-12);
      total += t->h[c] * 0.01;
    }
    near(total, number(e, "volume_after"), 1e-12);
    bramah_terrain_free(t);
  }
}

int main(void)
{
  static const struct {
    const char *file;
    bramah__source **source;
  } files[] = {
      {"automaton", &automaton}, {"pressure", &pressure}, {"cutting", &cutting}, {"particles", &particles}};
  const char *folder = getenv("BRAMAH_SPEC");
  for (size_t k = 0; k < sizeof files / sizeof files[0]; k++) {
    char path[1024];
    snprintf(path, sizeof path, "%s/machines/soil-%s.json", folder ? folder : "", files[k].file);
    if (!bramah__source_open(path, &diag, files[k].source)) continue;
    printf("skipped: the cases of the specification are not here (BRAMAH_SPEC)\n");
    return 77;
  }
  const int code = run_tests("soil");
  for (size_t k = 0; k < sizeof files / sizeof files[0]; k++) bramah__source_free(*files[k].source);
  return code;
}
