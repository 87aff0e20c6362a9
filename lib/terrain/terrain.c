/* SPDX-License-Identifier: MIT */
/* A terrain: what may be asked for, its memory, its step, its snapshots. */
#include "lib/terrain/terrain_internal.h"
#include "lib/base/diag.h"
#include "lib/base/seal.h"
#include "lib/math/elementary.h"
#include "lib/math/vector3.h"

#include <math.h>
#include <string.h>

static const double pi = 3.14159265358979323846;

void bramah_terrain_options_default(bramah_terrain_options *options)
{
  *options = (bramah_terrain_options){.gravity = 9.81,
                                      .flow = 0.2,
                                      .sweeps = 4,
                                      .pressing = 0.02,
                                      .max_particles = 1000,
                                      .radius = 0.038,
                                      .modulus = 2e6,
                                      .loss = 2.0,
                                      .coulomb = 0.6,
                                      .bristles = 500.0,
                                      .damping = 1.0,
                                      .rolling = 0.1,
                                      .shear = 0.02,
                                      .rest_speed = 0.05,
                                      .rest_rate = 2.0,
                                      .rest_steps = 50};
  bramah_soil_default(&options->soil);
}

/* ---- what may be asked for ---- */

static int is_finite3(const double *x) { return isfinite(x[0]) && isfinite(x[1]) && isfinite(x[2]); }

/* Numbers and where they must lie; `above`: not at the lower end itself. */
static bramah_status check_numbers(const bramah_terrain_options *o, bramah_diag *diag)
{
  const struct {
    const char *name;
    double value, least, most;
    int above;
  } range[] = {{"cell", o->cell, 0.0, 1e4, 1},
               {"origin", fabs(o->origin[0]) + fabs(o->origin[1]), 0.0, 1e4, 0},
               {"gravity", o->gravity, 0.0, 1e3, 1},
               {"soil.density", o->soil.density, 0.0, 1e5, 1},
               {"soil.void_ratio", o->soil.void_ratio, 0.0, 100.0, 0},
               {"soil.repose", o->soil.repose, 0.0, 0.4999 * pi, 1},
               {"soil.friction", o->soil.friction, 0.0, 0.4999 * pi, 1},
               {"soil.tool_friction", o->soil.tool_friction, 0.0, 0.4999 * pi, 0},
               {"soil.cohesion", o->soil.cohesion, 0.0, 1e9, 0},
               {"soil.adhesion", o->soil.adhesion, 0.0, 1e9, 0},
               {"flow", o->flow, 0.0, 0.25, 1},
               {"pressing", o->pressing, 0.0, 1e6, 0},
               {"sinking", o->sinking, 0.0, 1e6, 0},
               {"radius", o->radius, 1e-4, 1e3, 0},
               {"modulus", o->modulus, 0.0, 1e15, 1},
               {"loss", o->loss, 0.0, 1e6, 0},
               {"coulomb", o->coulomb, 0.0, 100.0, 1},
               {"bristles", o->bristles, 0.0, 1e9, 1},
               {"damping", o->damping, 0.0, 1e6, 0},
               {"rolling", o->rolling, 0.0, 100.0, 0},
               {"shear", o->shear, 0.0, 1e3, 1},
               {"rest_speed", o->rest_speed, 0.0, 1e3, 0},
               {"rest_rate", o->rest_rate, 0.0, 1e6, 0}};
  for (size_t k = 0; k < sizeof range / sizeof range[0]; k++) {
    const double x = range[k].value;
    if (x >= range[k].least && x <= range[k].most && !(range[k].above && x == range[k].least)) continue;
    bramah__fail(diag, BRAMAH_E_VALUE, range[k].name,
                 range[k].above ? "must be above " : "must be at least ");
    bramah__add_number(diag, range[k].least, 6);
    bramah__add_text(diag, " and at most ");
    bramah__add_number(diag, range[k].most, 6);
    return BRAMAH_E_VALUE;
  }
  if (o->nx == 0 || o->ny == 0 || o->nx > 65536 || o->ny > 65536 || o->nx * o->ny > (size_t)1 << 28)
    return bramah__fail(diag, BRAMAH_E_VALUE, "nx, ny",
                        "there must be 1 to 65536 cells along each axis, 2^28 in all");
  if (o->max_particles > 1000000)
    return bramah__fail(diag, BRAMAH_E_VALUE, "max_particles", "must be at most 1000000");
  if ((unsigned)o->rule > BRAMAH_SLUMP_PRINTED)
    return bramah__fail(diag, BRAMAH_E_VALUE, "rule", "there is no such rule");
  return BRAMAH_OK;
}

/* Normal [3] of a plate, by its first corners and all others; 0: they are not convex and in a plane. */
static int plate_normal(const bramah_plate *p, double *normal)
{
  if (p->n_corners < 3 || p->n_corners > BRAMAH_PLATE_CORNERS) return 0;
  double size = 0.0, sum[3] = {0.0};
  for (size_t k = 0; k < p->n_corners; k++) {
    double a[3], b[3], area[3];
    if (!is_finite3(p->corner[k])) return 0;
    bramah__sub3(p->corner[k], p->corner[0], a);
    bramah__sub3(p->corner[(k + 1) % p->n_corners], p->corner[0], b);
    bramah__cross3(a, b, area);
    bramah__axpy3(1.0, area, sum);
    size += bramah__dot3(a, a);
  }
  const double length = sqrt(bramah__dot3(sum, sum));
  if (!(length > 1e-9 * size)) return 0;
  for (int k = 0; k < 3; k++) normal[k] = sum[k] / length;
  for (size_t k = 0; k < p->n_corners; k++) {
    const double *at = p->corner[k], *next = p->corner[(k + 1) % p->n_corners];
    double off[3], edge[3], after[3], turn[3];
    bramah__sub3(at, p->corner[0], off);
    bramah__sub3(next, at, edge);
    bramah__sub3(p->corner[(k + 2) % p->n_corners], next, after);
    bramah__cross3(edge, after, turn);
    if (fabs(bramah__dot3(off, normal)) > 1e-6 * sqrt(size) || bramah__dot3(turn, normal) < -1e-9 * size ||
        !(bramah__dot3(edge, edge) > 0.0))
      return 0;
  }
  return 1;
}

static bramah_status check_tools(const bramah_terrain_options *o, bramah_diag *diag)
{
  for (size_t i = 0; i < o->n_tools; i++) {
    const bramah_tool *tool = &o->tools[i];
    double normal[3];
    if (tool->n_plates > 64)
      return bramah__fail(diag, BRAMAH_E_VALUE, "tool", "a tool has at most 64 plates");
    for (size_t k = 0; k < tool->n_plates; k++)
      if (!plate_normal(&tool->plates[k], normal)) {
        bramah__fail(diag, BRAMAH_E_VALUE, "plate",
                     "it needs 3 to 8 finite corners in a plane, convex and in order: plate ");
        bramah__add_number(diag, (double)k, 6);
        return BRAMAH_E_VALUE;
      }
    double edge[3] = {1.0};
    if (tool->has_edge) bramah__sub3(tool->edge[0], tool->edge[1], edge);
    if (tool->has_edge &&
        (!is_finite3(tool->edge[0]) || !is_finite3(tool->edge[1]) || !is_finite3(tool->blade) ||
         !(bramah__dot3(edge, edge) > 0.0) || !(bramah__dot3(tool->blade, tool->blade) > 0.0)))
      return bramah__fail(diag, BRAMAH_E_VALUE, "edge", "it needs two different finite ends and a blade");
    for (size_t k = 0; k < tool->n_points; k++)
      if (!is_finite3(tool->points + 3 * k))
        return bramah__fail(diag, BRAMAH_E_VALUE, "point", "its coordinates must be finite");
    if (tool->n_points > 0 && !(tool->stiffness > 0.0 && isfinite(tool->stiffness)))
      return bramah__fail(diag, BRAMAH_E_VALUE, "stiffness", "of points that press: must be above 0");
  }
  return BRAMAH_OK;
}

/* ---- memory ---- */

/* Parts of an edge: half a cell or shorter. */
static size_t edge_parts(const bramah_terrain_options *o, const bramah_tool *tool)
{
  double edge[3];
  bramah__sub3(tool->edge[0], tool->edge[1], edge);
  const double parts = ceil(2.0 * sqrt(bramah__dot3(edge, edge)) / o->cell);
  return tool->has_edge ? (parts > 1.0 && parts < 1e5 ? (size_t)parts : 1) : 0;
}

static bramah_terrain *layout(const bramah_terrain_options *o, bramah__arena *arena)
{
  bramah_terrain *object = BRAMAH__TAKE(arena, bramah_terrain, 1), counted = {0};
  bramah_terrain *t = object ? object : &counted, *fields = t;
  t->options = *o;
  t->n_cells = o->nx * o->ny;
  for (size_t i = 0; i < o->n_tools; i++) {
    t->n_plates += o->tools[i].n_plates;
    t->n_points += o->tools[i].n_points;
    t->n_edge += edge_parts(o, &o->tools[i]);
  }
  for (t->n_buckets = 64; t->n_buckets / 4 < o->max_particles && t->n_buckets <= SIZE_MAX / 4;)
    t->n_buckets *= 2;
  const size_t start = arena->used;
  TERRAIN_STATE(BRAMAH__FIELD_TAKE)
  t->state = (unsigned char *)t->now;
  t->state_size = arena->used - start;
  TERRAIN_CONSTANTS(BRAMAH__FIELD_TAKE)
  TERRAIN_SCRATCH(BRAMAH__FIELD_TAKE)
  return object;
}

size_t bramah_terrain_size(const bramah_terrain_options *options)
{
  if (check_numbers(options, NULL)) return 0; /* sizes that cannot be would not fit into one */
  bramah__arena arena = bramah__arena_make(NULL, 0);
  layout(options, &arena);
  return arena.used;
}

static void widen(const double *x, double *lowest, double *highest)
{
  for (int k = 0; k < 3; k++) {
    if (x[k] < lowest[k]) lowest[k] = x[k];
    if (x[k] > highest[k]) highest[k] = x[k];
  }
}

static void copy_tools(bramah_terrain *t)
{
  size_t n_plates = 0, n_points = 0, n_edge = 0;
  for (size_t i = 0; i < t->options.n_tools; i++) {
    const bramah_tool *from = &t->options.tools[i];
    bramah__tool *to = &t->tool[i];
    *to = (bramah__tool){.first_plate = n_plates,
                         .n_plates = from->n_plates,
                         .has_edge = from->has_edge,
                         .n_edge = edge_parts(&t->options, from),
                         .first_edge = n_edge,
                         .n_points = from->n_points,
                         .first_point = n_points,
                         .stiffness = from->stiffness};
    memcpy(to->edge, from->edge, sizeof to->edge);
    memcpy(to->blade, from->blade, sizeof to->blade);
    for (int k = 0; k < 3; k++) to->lowest[k] = -(to->highest[k] = -INFINITY);
    for (size_t k = 0; k < from->n_plates; k++) {
      bramah__plate *plate = &t->plate[n_plates + k];
      plate->corners = from->plates[k];
      plate_normal(&plate->corners, plate->normal);
      for (int l = 0; l < 3; l++) plate->lowest[l] = -(plate->highest[l] = -INFINITY);
      for (size_t c = 0; c < plate->corners.n_corners; c++) {
        widen(plate->corners.corner[c], plate->lowest, plate->highest);
        widen(plate->corners.corner[c], to->lowest, to->highest);
      }
    }
    if (from->n_points > 0)
      memcpy(&t->point[3 * n_points], from->points, 3 * from->n_points * sizeof(double));
    n_plates += from->n_plates;
    n_points += from->n_points;
    n_edge += to->n_edge;
  }
  t->options.tools = NULL;
}

bramah_status bramah_terrain_init(const bramah_terrain_options *options, void *mem, size_t size,
                                  bramah_diag *diag, bramah_terrain **out)
{
  bramah__arena arena;
  *out = NULL;
  bramah_status status = check_numbers(options, diag);
  if (!status) status = check_tools(options, diag);
  if (!status) status = bramah__arena_in("terrain", mem, size, bramah_terrain_size(options), &arena, diag);
  if (status) return status;
  bramah_terrain *t = layout(options, &arena);
  const bramah_terrain_options *o = &t->options;
  const double r = o->radius, solid = 4.0 / 3.0 * pi * r * r * r, loosened = 1.0 + o->soil.void_ratio;
  double s, c;
  bramah__sincos(o->soil.repose, &s, &c);
  t->steepest = s / c;
  t->volume = loosened * solid;
  t->mass = o->soil.density * t->volume;
  t->inertia = 0.4 * t->mass * r * r;
  t->on_each_other = (bramah__touch){.stiffness = 4.0 / 3.0 * o->modulus * sqrt(0.5 * r),
                                     .loss = o->loss,
                                     .friction = o->coulomb,
                                     .bristles = o->bristles,
                                     .damping = o->damping,
                                     .mass = 0.5 * t->mass};
  t->on_field = t->on_each_other;
  t->on_field.stiffness = 4.0 / 3.0 * o->modulus * sqrt(r);
  t->on_field.mass = t->mass;
  t->on_steel = t->on_field;
  bramah__sincos(o->soil.tool_friction, &s, &c);
  t->on_steel.friction = s / c > 1e-3 ? s / c : 1e-3;
  copy_tools(t);
  *out = t;
  t->mark = bramah__mark_of(t);
  return BRAMAH_OK;
}

bramah_status bramah_terrain_new(const bramah_terrain_options *options, bramah_diag *diag,
                                 bramah_terrain **out)
{
  *out = NULL;
  const bramah_status status = check_numbers(options, diag); /* sizes are reckoned with next */
  if (status) return status;
  BRAMAH__MAKE_IN_OWN("terrain", bramah_terrain_size(options),
                      bramah_terrain_init(options, mem, size, diag, out));
}

void bramah_terrain_free(bramah_terrain *t)
{
  if (!t) return;
  t->mark = 0;
  if (t->own_memory) bramah__aligned_free(t);
}

/* ---- what it is given, what it says ---- */

const double *bramah_terrain_heights(const bramah_terrain *t) { return t->h; }

bramah_status bramah_terrain_set_heights(bramah_terrain *t, const double *heights, bramah_diag *diag)
{
  for (size_t c = 0; c < t->n_cells; c++)
    if (!(fabs(heights[c]) < 1e6))
      return bramah__fail(diag, BRAMAH_E_NOT_FINITE, "heights", "a height is not finite");
  for (size_t c = 0; c < t->n_cells; c++) {
    t->h[c] = heights[c];
    if (t->is_queued[c]) continue;
    t->is_queued[c] = 1;
    t->queue[t->now->n_queue++] = (uint32_t)c;
  }
  return BRAMAH_OK;
}

bramah_status bramah_terrain_place(bramah_terrain *t, size_t tool, const bramah_tool_motion *m,
                                   bramah_diag *diag)
{
  if (tool >= t->options.n_tools)
    return bramah__fail(diag, BRAMAH_E_ARGUMENT, "tool", "there is no such tool");
  bramah__placed *placed = &t->placed[tool];
  placed->is_there = m != NULL;
  if (!m) return BRAMAH_OK;
  placed->is_there = is_finite3(m->position) && is_finite3(m->velocity) && is_finite3(m->rate) &&
                     is_finite3(m->rotation) && is_finite3(m->rotation + 3) && is_finite3(m->rotation + 6);
  if (!placed->is_there) return bramah__fail(diag, BRAMAH_E_NOT_FINITE, "tool", "its motion must be finite");
  placed->motion = *m;
  return BRAMAH_OK;
}

bramah_tool_load bramah_terrain_tool_load(const bramah_terrain *t, size_t tool)
{
  bramah_tool_load load = {{0.0}, {0.0}, {0.0}, 0.0};
  if (tool >= t->options.n_tools || !t->placed[tool].is_there) return load;
  load = t->placed[tool].load;
  load.carried = bramah__tool_carries(t, tool);
  return load;
}

size_t bramah_terrain_particles(const bramah_terrain *t, size_t n, bramah_particle *out)
{
  for (size_t p = 0; p < n && p < t->now->n_particles; p++) {
    bramah__copy3(t->body[p].x, out[p].position);
    bramah__copy3(t->body[p].v, out[p].velocity);
    bramah__copy3(t->body[p].rate, out[p].rate);
  }
  return t->now->n_particles;
}

bramah_terrain_report bramah_terrain_get_report(const bramah_terrain *t)
{
  const bramah__progress *now = t->now;
  bramah_terrain_report r = {.added = (double)(int64_t)now->added * t->mass,
                             .particle_mass = (double)now->n_particles * t->mass,
                             .n_particles = now->n_particles,
                             .active_cells = now->n_queue,
                             .failures = now->failures,
                             .starved = now->starved,
                             .merged = now->merged,
                             .rebuilds = now->rebuilds,
                             .parts = now->parts};
  double sum = 0.0, lost = 0.0; /* Kahan: of many cells */
  for (size_t c = 0; c < t->n_cells; c++) {
    const double term = t->h[c] - lost, next = sum + term;
    lost = (next - sum) - term;
    sum = next;
  }
  r.field_mass = t->options.soil.density * t->options.cell * t->options.cell * sum;
  r.energy = bramah__particles_energy(t);
  return r;
}

bramah_status bramah_terrain_step(bramah_terrain *t, double step, bramah_diag *diag)
{
  if (!(step > 0.0) || !isfinite(step)) return bramah__fail(diag, BRAMAH_E_VALUE, "step", "must be above 0");
  bramah__tools_cut(t, step);
  bramah__field_slump(t, step);
  const bramah_status status = bramah__particles_move(t, step, diag);
  if (status) return status;
  bramah__particles_merge(t);
  return BRAMAH_OK;
}

/* ---- snapshots: | seal | state | ---- */

static uint64_t identity(const bramah_terrain *t)
{
  uint64_t hash = bramah__mix_text(1, "terrain");
  const size_t sizes[] = {t->options.nx,      t->options.ny, t->options.max_particles,
                          t->options.n_tools, t->n_plates,   t->n_points,
                          t->n_edge};
  const double numbers[] = {t->options.cell, t->options.origin[0], t->options.origin[1], t->volume, t->mass};
  for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++) hash = bramah__mix(hash, sizes[k]);
  for (size_t k = 0; k < sizeof numbers / sizeof numbers[0]; k++)
    hash = bramah__mix(hash, bramah__bits(numbers[k]));
  return hash;
}

size_t bramah_terrain_snapshot_size(const bramah_terrain *t) { return sizeof(bramah__seal) + t->state_size; }

void bramah_terrain_save(const bramah_terrain *t, void *snap)
{
  memcpy((unsigned char *)snap + sizeof(bramah__seal), t->state, t->state_size);
  bramah__seal_put(snap, identity(t), bramah_terrain_snapshot_size(t));
}

bramah_status bramah_terrain_restore(bramah_terrain *t, const void *snap, size_t size, bramah_diag *diag)
{
  const bramah_status status =
      bramah__seal_check(snap, size, identity(t), bramah_terrain_snapshot_size(t), diag);
  if (status) return status;
  bramah__progress now;
  memcpy(&now, (const unsigned char *)snap + sizeof(bramah__seal), sizeof now);
  if (now.n_particles > t->options.max_particles || now.n_queue > t->n_cells || now.n_loaded > t->n_cells ||
      now.n_weighted > t->n_cells || now.n_pairs > BRAMAH__PAIRS_EACH * t->options.max_particles)
    return bramah__seal_broken(diag);
  memcpy(t->state, (const unsigned char *)snap + sizeof(bramah__seal), t->state_size);
  return BRAMAH_OK;
}
