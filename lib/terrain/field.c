/* SPDX-License-Identifier: MIT */
/* A field of columns that slump where they are steeper than the angle of repose: a cellular automaton (publication V, II-B.1).
 * Only cells are looked at where something has changed: they are queued, and a sweep queues what it changed. */
#include "lib/terrain/heights.h"
#include "lib/terrain/terrain_internal.h"

#include <math.h>

static const double slack =
    1e-3; /* of the tangent of repose, by which the neutral rule tells rest from motion */

/* ---- heights ---- */

/* The field as others see it. */
static bramah__heights heights_of(const bramah_terrain *t)
{
  const bramah_terrain_options *o = &t->options;
  return (bramah__heights){o->nx, o->ny, o->cell, {o->origin[0], o->origin[1]}, t->h};
}

void bramah__field_corners(const bramah_terrain *t, double x, double y, size_t cell[4], double weight[4])
{
  const bramah__heights field = heights_of(t);
  bramah__heights_corners(&field, x, y, cell, weight);
}

double bramah_terrain_height(const bramah_terrain *t, double x, double y, double normal[3])
{
  const bramah__heights field = heights_of(t);
  return bramah__heights_at(&field, x, y, normal);
}

size_t bramah__field_cell(const bramah_terrain *t, double x, double y)
{
  const bramah_terrain_options *o = &t->options;
  const double u = (x - o->origin[0]) / o->cell, v = (y - o->origin[1]) / o->cell;
  const size_t i = u > 0.0 ? (u < (double)o->nx ? (size_t)u : o->nx - 1) : 0;
  const size_t j = v > 0.0 ? (v < (double)o->ny ? (size_t)v : o->ny - 1) : 0;
  return i * o->ny + j;
}

/* ---- what changes them from outside ---- */

/* Queue a cell, those around it, and as many further on. */
static void queue_around(bramah_terrain *t, size_t cell, size_t further)
{
  const size_t nx = t->options.nx, ny = t->options.ny, i = (uint32_t)cell / (uint32_t)ny, j = cell - i * ny;
  for (size_t k = i > 0 ? i - 1 : 0; k <= i + 1 + further && k < nx; k++)
    for (size_t l = j > 0 ? j - 1 : 0; l <= j + 1 + further && l < ny; l++) {
      const size_t near = k * ny + l;
      if (t->is_queued[near]) continue;
      t->is_queued[near] = 1;
      t->queue[t->now->n_queue++] = (uint32_t)near;
    }
}

void bramah__field_touch(bramah_terrain *t, size_t cell) { queue_around(t, cell, 0); }

void bramah__field_add(bramah_terrain *t, double x, double y, double volume)
{
  size_t cell[4];
  double weight[4];
  bramah__field_corners(t, x, y, cell, weight);
  for (int k = 0; k < 4; k++) {
    if (weight[k] == 0.0) continue;
    t->h[cell[k]] += weight[k] * volume / (t->options.cell * t->options.cell);
    bramah__field_touch(t, cell[k]);
  }
}

void bramah__sparse_add(double *value, uint32_t *cells, uint64_t *n, size_t cell, double x)
{
  if (!(x > 0.0)) return;
  if (value[cell] == 0.0) cells[(*n)++] = (uint32_t)cell;
  value[cell] += x;
}

void bramah__sparse_clear(double *value, const uint32_t *cells, uint64_t *n)
{
  for (size_t k = 0; k < *n; k++) value[cells[k]] = 0.0;
  *n = 0;
}

bramah_status bramah_terrain_press(bramah_terrain *t, double x, double y, double force)
{
  size_t cell[4];
  double weight[4];
  if (!isfinite(x) || !isfinite(y) || !isfinite(force) || force < 0.0) return BRAMAH_E_VALUE;
  bramah__field_corners(t, x, y, cell, weight);
  for (int k = 0; k < 4; k++) {
    bramah__sparse_add(t->load, t->loaded, &t->now->n_loaded, cell[k], weight[k] * force);
    bramah__field_touch(t, cell[k]);
  }
  return BRAMAH_OK;
}

/* ---- sweeps ---- */

/* A cell, those around it, and the height that their soil and loads count as. */
typedef struct stencil {
  const bramah_terrain *t;
  double height; /* of a force on a cell [m/N] */
  double most;   /* that flows over a face of a cell with a load */
} stencil;

static double pressed(const stencil *s, size_t cell) { return s->t->h[cell] + s->height * s->t->load[cell]; }

/* What flows over the face between two cells, of which `side` and `back` are the neighbours along the face (the cells
 * themselves at the border). The gradient along the face is the mean of central differences of both. */
static double neutral_flow(const stencil *s, size_t from, size_t to, const size_t side[2],
                           const size_t back[2])
{
  const bramah_terrain *t = s->t;
  const double cell = t->options.cell;
  const double across = (pressed(s, from) - pressed(s, to)) / cell;
  const double along =
      ((pressed(s, back[0]) - pressed(s, side[0])) + (pressed(s, back[1]) - pressed(s, side[1]))) /
      (4.0 * cell);
  const double square = across * across + along * along, start = t->steepest * (1.0 + slack);
  if (!(square > start * start)) return 0.0;
  const double slope = sqrt(square);
  return t->options.flow * cell * (slope - t->steepest * (1.0 - slack)) * (across / slope);
}

/* Flows of a cell to (i + 1, j) and (i, j + 1); 1: there are any. */
static int flows_of(const stencil *s, size_t cell, double flow[2])
{
  const bramah_terrain *t = s->t;
  const size_t nx = t->options.nx, ny = t->options.ny, i = (uint32_t)cell / (uint32_t)ny, j = cell - i * ny;
  const size_t right = i + 1 < nx ? cell + ny : cell, up = j + 1 < ny ? cell + 1 : cell;
  if (t->options.rule == BRAMAH_SLUMP_NEUTRAL) {
    const size_t left = i > 0 ? cell - ny : cell, down = j > 0 ? cell - 1 : cell;
    const size_t side_x[2] = {up, right + (up - cell)}, back_x[2] = {down, right - (cell - down)};
    const size_t side_y[2] = {right, up + (right - cell)}, back_y[2] = {left, up - (cell - left)};
    flow[0] = right == cell ? 0.0 : neutral_flow(s, cell, right, side_x, back_x);
    flow[1] = up == cell ? 0.0 : neutral_flow(s, cell, up, side_y, back_y);
    return flow[0] != 0.0 || flow[1] != 0.0;
  }
  /* (V 15) prints the derivatives, by which soil would run uphill: here they are what heights fall by */
  const double here = pressed(s, cell), d = t->options.cell;
  const double fall[2] = {(here - pressed(s, right)) / d, (here - pressed(s, up)) / d};
  const double square = fall[0] * fall[0] + fall[1] * fall[1];
  if (!(square > t->steepest * t->steepest)) return 0;
  const double slope = sqrt(square);
  const double part = t->options.rule == BRAMAH_SLUMP_PRINTED ? 1.0 : (slope - t->steepest) / slope;
  for (int k = 0; k < 2; k++) flow[k] = t->options.flow * d * part * fall[k];
  return 1;
}

/* All flows are those of the field before the sweep. */
static void sweep(bramah_terrain *t, const stencil *s)
{
  size_t n = 0;
  for (size_t k = 0; k < t->now->n_queue; k++) {
    const size_t cell = t->queue[k];
    t->is_queued[cell] = 0;
    if (flows_of(s, cell, &t->flow[2 * cell])) t->flowing[n++] = (uint32_t)cell;
  }
  t->now->n_queue = 0;
  for (size_t k = 0; k < n; k++) {
    const size_t cell = t->flowing[k], next[2] = {cell + t->options.ny, cell + 1};
    queue_around(t, cell, 1);
    for (size_t l = 0; l < 2; l++) {
      double flow = t->flow[2 * cell + l];
      if (flow == 0.0) continue;
      if (t->load[cell] != t->load[next[l]]) flow = fmax(-s->most, fmin(flow, s->most));
      t->h[cell] -= flow;
      t->h[next[l]] += flow;
    }
  }
}

void bramah__field_slump(bramah_terrain *t, double step)
{
  const bramah_terrain_options *o = &t->options;
  const double pace =
      o->sinking > 0.0 && o->sweeps > 0 ? 0.25 * o->sinking * step / (double)o->sweeps : INFINITY;
  const stencil s = {t, o->pressing / (o->cell * o->cell * o->soil.density * o->gravity), pace};
  for (size_t k = 0; k < o->sweeps && t->now->n_queue > 0; k++) sweep(t, &s);
  for (size_t k = 0; k < t->now->n_loaded; k++) bramah__field_touch(t, t->loaded[k]);
  bramah__sparse_clear(t->load, t->loaded, &t->now->n_loaded);
}
