/* SPDX-License-Identifier: MIT */
/* A terrain inside: columns (field.c), particles and what they touch (particles.c), their contacts
 * (touch.h), tools that cut (tool.c) and hold (plates.c), all of it and its snapshots (terrain.c). */
#ifndef BRAMAH_LIB_TERRAIN_TERRAIN_INTERNAL_H
#define BRAMAH_LIB_TERRAIN_TERRAIN_INTERNAL_H

#include "bramah/terrain.h"
#include "lib/base/arena.h"

enum {
  BRAMAH__PLATES_TOUCHED = 3, /* that a particle remembers: bottom, side and back of a bucket */
  BRAMAH__PAIRS_EACH = 12 /* neighbours counted once: spheres that do not overlap much have six or seven */
};

/* What moves. */
typedef struct bramah__body {
  double x[3], v[3], f[3]; /* [m], [m/s], [N] */
  double rate[3], torque[3];
} bramah__body;

/* What a particle remembers of the field and the plates it touches. */
typedef struct bramah__grip {
  double field[3]; /* bristles [m] */
  double plate[BRAMAH__PLATES_TOUCHED][3];
  uint32_t plate_id[BRAMAH__PLATES_TOUCHED];                    /* 1 + number among all plates; 0: none */
  uint32_t calm;                                                /* steps at rest on the field */
  uint32_t is_near_field, touches_field, touches_plate, unused; /* in the last part of a step */
  double ground; /* height of the field below it after that, if it is near */
  double sunk;   /* by which the field has risen around it and has not lifted it yet [m] */
} bramah__grip;

/* Neighbours i < j, and the bristles of i on j. */
typedef struct bramah__pair {
  uint32_t i, j;
  double z[3];
} bramah__pair;

/* A contact: force K d^1.5 (1 + loss d'), friction. */
typedef struct bramah__touch {
  /* mass: that the two have together, m1 m2/(m1 + m2) */
  double stiffness, loss, friction, bristles, damping, mass;
} bramah__touch;

/* Values that are zero almost everywhere, by cell, and which cells are not. */
typedef struct bramah__sparse {
  double *value;
  uint32_t *cell;
  size_t n;
} bramah__sparse;

typedef struct bramah__plate {
  bramah_plate corners;
  double normal[3], lowest[3], highest[3]; /* its box */
} bramah__plate;

/* A tool as it was given, and where it is. */
typedef struct bramah__tool {
  size_t first_plate, n_plates;
  int has_edge;
  double edge[2][3], blade[3];
  size_t n_edge, first_edge; /* parts of the edge */
  size_t n_points, first_point;
  double stiffness;
  double lowest[3], highest[3]; /* box around its plates */
} bramah__tool;

typedef struct bramah__placed {
  bramah_tool_motion motion;
  bramah_tool_load load;
  uint64_t is_there;
} bramah__placed;

typedef struct bramah__progress {
  uint64_t n_particles, n_pairs, n_queue, n_loaded, n_weighted;
  uint64_t failures, starved, merged, rebuilds, added;
  uint64_t is_stale; /* 1: neighbours are to be found anew */
  uint32_t parts, unused;
} bramah__progress;

/* What a snapshot holds. */
#define TERRAIN_STATE(X)                                                                                     \
  X(bramah__progress, now, 1)                                                                                \
  X(double, h, t->n_cells, "heights")                                                                        \
  X(double, load, t->n_cells, "vertical forces on the field in this step")                                   \
  X(uint32_t, loaded, t->n_cells, "cells with one")                                                          \
  X(double, weight, t->n_cells, "of particles on the field in the last step")                                \
  X(uint32_t, weighted, t->n_cells, "cells with one")                                                        \
  X(uint32_t, queue, t->n_cells, "cells for the next sweep to look at")                                      \
  X(unsigned char, is_queued, t->n_cells)                                                                    \
  X(bramah__body, body, t->options.max_particles)                                                            \
  X(bramah__grip, grip, t->options.max_particles)                                                            \
  X(double, found_at, 3 * t->options.max_particles, "places when neighbours were last found")                \
  X(bramah__pair, pair, BRAMAH__PAIRS_EACH * t->options.max_particles)                                       \
  X(bramah__placed, placed, t->options.n_tools)                                                              \
  X(double, advance, t->n_edge, "of parts of edges since the wedge before them failed [m]")                  \
  X(double, point_bristles, 3 * t->n_points)
#define TERRAIN_CONSTANTS(X)                                                                                 \
  X(bramah__tool, tool, t->options.n_tools)                                                                  \
  X(bramah__plate, plate, t->n_plates)                                                                       \
  X(double, point, 3 * t->n_points)
#define TERRAIN_SCRATCH(X)                                                                                   \
  X(double, flow, 2 * t->n_cells, "to (i + 1, j) and (i, j + 1)")                                            \
  X(uint32_t, flowing, t->n_cells)                                                                           \
  X(uint32_t, bucket, t->n_buckets, "of neighbours: 1 + first particle")                                     \
  X(uint32_t, next, t->options.max_particles, "1 + next particle of the bucket")                             \
  X(int32_t, place, 3 * t->options.max_particles, "cube that a particle is in")                              \
  X(uint32_t, first_pair, t->options.max_particles, "1 + first of the old pairs of a particle")              \
  X(uint32_t, next_pair, BRAMAH__PAIRS_EACH * t->options.max_particles)                                      \
  X(bramah__pair, old_pair, BRAMAH__PAIRS_EACH * t->options.max_particles)                                   \
  X(uint32_t, renamed, t->options.max_particles)

struct bramah_terrain {
  uint64_t mark; /* bramah__mark_of; comes first */
  int own_memory;
  bramah_terrain_options options;
  size_t n_cells, n_plates, n_edge, n_points, n_buckets;
  double steepest;              /* tan of the angle of repose */
  double volume, mass, inertia; /* of a particle: as soil that lies [m^3], [kg], [kg m^2] */
  bramah__touch on_each_other, on_field, on_steel;
  unsigned char *state;
  size_t state_size;
  TERRAIN_STATE(BRAMAH__FIELD_MEMBER)
  TERRAIN_CONSTANTS(BRAMAH__FIELD_MEMBER)
  TERRAIN_SCRATCH(BRAMAH__FIELD_MEMBER)
};

/* ---- the field ---- */

/* Have the next sweep look at a cell and those around it. */
void bramah__field_touch(bramah_terrain *t, size_t cell);
/* The nearest four columns of a place and their weights, which add up to one. */
void bramah__field_corners(const bramah_terrain *t, double x, double y, size_t cell[4], double weight[4]);
/* Soil of so much volume [m^3] on the nearest four columns, bilinear. */
void bramah__field_add(bramah_terrain *t, double x, double y, double volume);
/* The column a place is in. */
size_t bramah__field_cell(const bramah_terrain *t, double x, double y);
/* All sweeps of a step; loads end. */
void bramah__field_slump(bramah_terrain *t, double step);
/* Add to a sparse table of the terrain; zero it. */
void bramah__sparse_add(double *value, uint32_t *cells, uint64_t *n, size_t cell, double x);
void bramah__sparse_clear(double *value, const uint32_t *cells, uint64_t *n);

/* ---- particles ---- */

bramah_status bramah__particles_move(bramah_terrain *t, double step, bramah_diag *diag);
void bramah__particles_merge(bramah_terrain *t);
double bramah__particles_energy(const bramah_terrain *t);

/* ---- tools ---- */

/* Edges and points of all tools against the field. */
void bramah__tools_cut(bramah_terrain *t, double step);
/* A force at a place on a tool; it counts by `part`. */
void bramah__tool_put(bramah__placed *placed, const double *x, const double *f, double part);
/* Particles against the plates of a tool, which has moved for `time` since the beginning of the step; loads times `part`. */
void bramah__tool_hold(bramah_terrain *t, size_t tool, double time, double dt, double part);
double bramah__tool_carries(const bramah_terrain *t, size_t tool);

#endif
