/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The section `terrain` of a machine file: a field of heights, its soil and its particles. */
#define _GNU_SOURCE /* locale_t, strtod_l, fdopen */
#include "lib/io/files.h"
#include "lib/io/machine_file.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What the section says, with what is not of the types of the options. */
typedef struct draft {
  bramah_machine_terrain terrain;
  int cells[2], sweeps, particles, rest_steps, has_origin;
  const char *file;
} draft;

#define NUMBER(key, member, unit_, range_)                                                                   \
  BRAMAH__KEY(key, bramah__read_quantity, draft, terrain.options.member, .unit = (unit_), .range = (range_))

static const bramah__key soil_keys[] = {
    NUMBER("density", soil.density, "kg/m^3", BRAMAH__POSITIVE),
    NUMBER("void_ratio", soil.void_ratio, "1", BRAMAH__NOT_NEGATIVE),
    NUMBER("repose", soil.repose, "rad", BRAMAH__POSITIVE),
    NUMBER("friction", soil.friction, "rad", BRAMAH__POSITIVE),
    NUMBER("tool_friction", soil.tool_friction, "rad", BRAMAH__NOT_NEGATIVE),
    NUMBER("cohesion", soil.cohesion, "Pa", BRAMAH__NOT_NEGATIVE),
    NUMBER("adhesion", soil.adhesion, "Pa", BRAMAH__NOT_NEGATIVE),
    {0}};
static const bramah__table soil_table = {.keys = soil_keys};

static const bramah__word sliding[] = {{"slide", 0}, {"turn", 1}, {NULL, 0}};

static const bramah__key particle_keys[] = {
    BRAMAH__KEY("most", bramah__read_integer, draft, particles, .required = 0),
    NUMBER("radius", radius, "m", BRAMAH__POSITIVE),
    NUMBER("modulus", modulus, "Pa", BRAMAH__POSITIVE),
    NUMBER("loss", loss, "s/m", BRAMAH__NOT_NEGATIVE),
    NUMBER("coulomb", coulomb, "1", BRAMAH__POSITIVE),
    NUMBER("bristle_stiffness", bristles, "1/m", BRAMAH__POSITIVE),
    NUMBER("bristle_damping", damping, "s/m", BRAMAH__NOT_NEGATIVE),
    BRAMAH__KEY("motion", bramah__read_word, draft, terrain.options.rotates, .words = sliding),
    NUMBER("rolling", rolling, "1", BRAMAH__NOT_NEGATIVE),
    NUMBER("rest_speed", rest_speed, "m/s", BRAMAH__NOT_NEGATIVE),
    NUMBER("rest_rate", rest_rate, "rad/s", BRAMAH__NOT_NEGATIVE),
    BRAMAH__KEY("rest_steps", bramah__read_integer, draft, rest_steps, .required = 0),
    {0}};
static const bramah__table particle_table = {.keys = particle_keys};

static const bramah__key heap_keys[] = {
    BRAMAH__KEY("at", bramah__read_vector, bramah_heap, at, .required = 1, .unit = "m", .count = 2),
    BRAMAH__KEY("height", bramah__read_quantity, bramah_heap, height, .required = 1, .unit = "m",
                .range = BRAMAH__POSITIVE),
    {0}};
static const bramah__table heap_table = {.keys = heap_keys, .size = sizeof(bramah_heap)};

static const bramah__word rules[] = {{"neutral", BRAMAH_SLUMP_NEUTRAL},
                                     {"excess", BRAMAH_SLUMP_EXCESS},
                                     {"printed", BRAMAH_SLUMP_PRINTED},
                                     {NULL, 0}};

static const bramah__key terrain_keys[] = {
    {.name = "cells",
     .read = bramah__read_pair,
     .offset = offsetof(draft, cells),
     .element = bramah__read_integer,
     .stride = sizeof(int),
     .required = 1},
    BRAMAH__KEY("cell", bramah__read_quantity, draft, terrain.options.cell, .required = 1, .unit = "m",
                .range = BRAMAH__POSITIVE),
    BRAMAH__KEY("origin", bramah__read_vector, draft, terrain.options.origin, .unit = "m", .count = 2,
                .given = offsetof(draft, has_origin)),
    BRAMAH__KEY("level", bramah__read_quantity, draft, terrain.level, .unit = "m"),
    BRAMAH__KEY("heights", bramah__read_path, draft, file, .excludes = "level"),
    BRAMAH__KEY("heaps", bramah__read_list, draft, terrain.heaps, .required = 0, .table = &heap_table,
                .count_offset = offsetof(draft, terrain.n_heaps)),
    {.name = "soil", .read = bramah__read_child, .table = &soil_table},
    BRAMAH__KEY("rule", bramah__read_word, draft, terrain.options.rule, .words = rules),
    NUMBER("flow", flow, "1", BRAMAH__POSITIVE),
    BRAMAH__KEY("sweeps", bramah__read_integer, draft, sweeps, .required = 0),
    NUMBER("pressing", pressing, "1", BRAMAH__NOT_NEGATIVE),
    NUMBER("sinking", sinking, "m/s", BRAMAH__POSITIVE),
    NUMBER("shear", shear, "m", BRAMAH__POSITIVE),
    {.name = "particles", .read = bramah__read_child, .table = &particle_table},
    {0}};

const bramah__table bramah__terrain_table = {.keys = terrain_keys};

/* ---- tools ---- */

static const bramah__key corner_key = {
    .name = "corner", .read = bramah__read_vector, .unit = "m", .count = 3};
static const bramah__table corner_table = {.size = sizeof(double[3]), .value = &corner_key};

static bramah_status read_corners(bramah__reader *reader, const bramah__item *item, const bramah__key *key,
                                  void *object)
{
  bramah_plate *plate = object;
  if (item->node->kind != BRAMAH__NODE_LIST || item->node->n < 3 || item->node->n > BRAMAH_PLATE_CORNERS)
    return bramah__fail_item(reader, item, BRAMAH_E_SYNTAX, "a plate is a list of three to eight corners");
  plate->n_corners = item->node->n;
  bramah_status status = BRAMAH_OK;
  for (size_t i = 0; !status && i < plate->n_corners; i++) {
    const bramah__item corner = bramah__item_at(item, i);
    status = bramah__read_table(reader, &corner, key->table, plate->corner[i]);
  }
  return status;
}

static const bramah__key plate_key = {
    .name = "plate", .read = read_corners, .shape = BRAMAH__SHAPE_LIST, .table = &corner_table};
static const bramah__table plate_table = {.size = sizeof(bramah_plate), .value = &plate_key};

static bramah_status read_tool_point(bramah__reader *reader, const bramah__item *item, const bramah__key *key,
                                     void *object)
{
  return bramah__read_point(reader, item, key, object);
}
static const bramah__key tool_point_key = {
    .name = "point", .read = read_tool_point, .shape = BRAMAH__SHAPE_POINT, .unit = "m", .count = 3};
static const bramah__table tool_point_table = {.size = sizeof(double[3]), .value = &tool_point_key};

static const bramah__key tool_keys[] = {
    BRAMAH__KEY("body", bramah__read_name, bramah_machine_tool, body, .required = 1),
    BRAMAH__KEY("edge", bramah__read_pair, bramah_machine_tool, tool.edge, .unit = "m", .count = 3,
                .element = bramah__read_point, .stride = sizeof(double[3]),
                .given = offsetof(bramah_machine_tool, tool.has_edge)),
    BRAMAH__KEY("profile", bramah__read_list, bramah_machine_tool, profile, .table = &tool_point_table,
                .count_offset = offsetof(bramah_machine_tool, n_profile)),
    BRAMAH__KEY("blade", bramah__read_vector, bramah_machine_tool, tool.blade, .unit = "m", .count = 3),
    BRAMAH__KEY("plates", bramah__read_list, bramah_machine_tool, tool.plates, .table = &plate_table,
                .count_offset = offsetof(bramah_machine_tool, tool.n_plates)),
    BRAMAH__KEY("points", bramah__read_list, bramah_machine_tool, tool.points, .table = &tool_point_table,
                .count_offset = offsetof(bramah_machine_tool, tool.n_points)),
    BRAMAH__KEY("stiffness", bramah__read_quantity, bramah_machine_tool, tool.stiffness, .unit = "N/m^1.5",
                .range = BRAMAH__POSITIVE),
    {0}};

const bramah__table bramah__tool_table = {.keys = tool_keys, .size = sizeof(bramah_machine_tool)};

/* ---- a file of heights ---- */

/* A number of the file and what ends it; 0 at the end, -1 where there is none. */
static int next_number(const bramah__reader *reader, FILE *file, double *out)
{
  char text[64], *end;
  size_t n = 0;
  int c;
  do c = getc(file);
  while (c == ' ' || c == ',' || c == ';' || c == '\t' || c == '\n' || c == '\r');
  if (c == EOF) return 0;
  for (; c != EOF && !strchr(" ,;\t\n\r", c) && n + 1 < sizeof text; c = getc(file)) text[n++] = (char)c;
  text[n] = '\0';
  ungetc(c, file);
  *out = strtod_l(text, &end, reader->c_locale);
  return end != text && *end == '\0' && fabs(*out) < 1e6 ? 1 : -1;
}

/* nx lines of ny heights in m. */
static bramah_status read_heights(bramah__reader *reader, const bramah__item *item, draft *d)
{
  const size_t nx = (size_t)d->cells[0], ny = (size_t)d->cells[1];
  char reason[256];
  const int fd = bramah__open_input(d->file);
  FILE *file = fd < 0 ? NULL : fdopen(fd, "r");
  if (!file)
    return bramah__fail_item(reader, item, BRAMAH_E_FILE, "%s",
                             bramah__open_reason(d->file, errno, reason, sizeof reason));
  double *h = bramah__pool_take(reader->keep, nx * ny, sizeof *h);
  bramah_status status = h ? BRAMAH_OK : bramah__no_memory(reader);
  size_t n = 0;
  double beyond;
  for (int came = 1; !status && came; n += came == 1) {
    came = next_number(reader, file, n < nx * ny ? &h[n] : &beyond);
    if (came < 0)
      status = bramah__fail_item(reader, item, BRAMAH_E_VALUE,
                                 "height %zu of this file is no number between -1e6 and 1e6 (metres)", n + 1);
  }
  fclose(file);
  if (!status && n != nx * ny)
    status =
        bramah__fail_item(reader, item, BRAMAH_E_VALUE,
                          "this file has %zu heights, but there are %zu x %zu cells: one line for each step "
                          "along x, with the heights along y",
                          n, nx, ny);
  d->terrain.heights = h;
  return status;
}

bramah_status bramah__read_terrain(bramah__reader *reader, const bramah__item *item, const bramah__key *key,
                                   void *object)
{
  bramah_machine *machine = &((bramah__loaded *)object)->machine;
  draft d = {.terrain = machine->terrain};
  bramah_terrain_options *o = &d.terrain.options;
  bramah__item file;
  bramah_status status = bramah__read_table(reader, item, key->table, &d);
  if (status) return status;
  for (int k = 0; k < 2; k++)
    if (d.cells[k] < 1 || d.cells[k] > 65536)
      return bramah__fail_item(reader, item, BRAMAH_E_VALUE,
                               "there must be 1 to 65536 cells along each axis");
  o->nx = (size_t)d.cells[0];
  o->ny = (size_t)d.cells[1];
  if (o->nx * o->ny > (size_t)1 << 24)
    return bramah__fail_item(reader, item, BRAMAH_E_VALUE, "there may be 2^24 cells at most");
  if (!d.has_origin)
    for (int k = 0; k < 2; k++) o->origin[k] = -0.5 * d.cells[k] * o->cell;
  if (d.sweeps) o->sweeps = (size_t)d.sweeps;
  if (d.particles) o->max_particles = (size_t)d.particles;
  if (d.rest_steps) o->rest_steps = (size_t)d.rest_steps;
  if (d.file && bramah__item_find(item, "heights", &file)) status = read_heights(reader, &file, &d);
  d.terrain.line = bramah__item_line(item);
  if (!status) machine->terrain = d.terrain;
  return status;
}
