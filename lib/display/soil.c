/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Soil that moves below a simulated machine: what of it is shown, from this process or as another one tells it. */
#include "lib/base/text.h"
#include "lib/display/display_parts.h"
#include "lib/io/fail.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void bramah__soil_room(bramah_display_frame *frame, int *numbers)
{
  frame->cell = numbers;
  frame->height = numbers ? numbers + BRAMAH_DISPLAY_CELLS : NULL;
  frame->particle = numbers ? frame->height + BRAMAH_DISPLAY_CELLS : NULL;
}

size_t bramah__soil_stride(const bramah_machine_terrain *t)
{
  enum { MOST_CELLS = 128 };
  const size_t most = t->options.nx > t->options.ny ? t->options.nx : t->options.ny;
  return (most + MOST_CELLS - 1) / MOST_CELLS;
}

bramah_status bramah__soil_open(bramah__soil *soil, const bramah_machine_plant *simulated, bramah_diag *diag)
{
  const bramah_machine_terrain *t = &simulated->machine->terrain;
  const size_t cells = t->options.nx * t->options.ny;
  soil->sent = calloc(cells, sizeof *soil->sent);
  soil->ever = calloc(cells, 1);
  soil->particle = calloc(t->options.max_particles + 1, sizeof *soil->particle);
  bramah__soil_room(&soil->told, calloc(BRAMAH__SOIL_NUMBERS, sizeof *soil->told.cell));
  if (!soil->sent || !soil->ever || !soil->particle || !soil->told.cell) return bramah__fail_memory(diag);
  soil->site = simulated->site;
  soil->stride = bramah__soil_stride(t);
  soil->nx = t->options.nx;
  soil->ny = t->options.ny;
  soil->most_particles = t->options.max_particles;
  const double *height = bramah_terrain_heights(bramah_worksite_terrain(soil->site));
  for (size_t i = 0; i < cells; i++) soil->sent[i] = (int)lround(1e3 * height[i]);
  return BRAMAH_OK;
}

void bramah__soil_close(bramah__soil *soil)
{
  free(soil->sent);
  free(soil->ever);
  free(soil->particle);
  free(soil->told.cell);
}

/* ---- taking ---- */

static void put_cell(bramah_display_frame *frame, const bramah__soil *soil, size_t i, size_t j)
{
  const size_t ny = (soil->ny + soil->stride - 1) / soil->stride;
  frame->cell[frame->n_cells] = (int)(i / soil->stride * ny + j / soil->stride);
  frame->height[frame->n_cells++] = soil->sent[i * soil->ny + j];
}

/* Cells that have changed, as many as there is room for, the others next time; then some that ever did, a round of them in some
 * seconds at most. */
static void take_field(bramah__soil *soil, bramah_display_frame *frame)
{
  enum { AGAIN = 100 };
  const double *height = bramah_terrain_heights(bramah_worksite_terrain(soil->site));
  const size_t n = soil->nx * soil->ny, last = soil->changed;
  frame->n_cells = 0;
  for (size_t k = 0; k < n && frame->n_cells < BRAMAH_DISPLAY_CELLS - AGAIN; k++) {
    const size_t c = (last + k) % n, i = c / soil->ny, j = c % soil->ny;
    if (i % soil->stride || j % soil->stride) continue;
    const int now = (int)lround(1e3 * height[c]);
    soil->changed = c + 1;
    if (now == soil->sent[c]) continue;
    soil->sent[c] = now;
    soil->ever[c] = 1;
    put_cell(frame, soil, i, j);
  }
  const size_t most = frame->n_cells + AGAIN;
  for (size_t k = 0; k < n && frame->n_cells < most; k++) {
    const size_t c = soil->again % n;
    soil->again = c + 1;
    if (soil->ever[c]) put_cell(frame, soil, c / soil->ny, c % soil->ny);
  }
}

/* What another process has told, each cell once; particles stay where they are until it says more. */
static void take_told(bramah__soil *soil, bramah_display_frame *frame)
{
  const bramah_display_frame *told = &soil->told;
  memcpy(frame->cell, told->cell, BRAMAH__SOIL_NUMBERS * sizeof *told->cell);
  frame->n_cells = told->n_cells;
  frame->n_particles = told->n_particles;
  soil->told.n_cells = 0;
}

void bramah__soil_take(bramah__soil *soil, bramah_display_frame *frame)
{
  if (soil->is_told) {
    take_told(soil, frame);
    return;
  }
  take_field(soil, frame);
  const size_t n =
      bramah_terrain_particles(bramah_worksite_terrain(soil->site), soil->most_particles, soil->particle);
  const size_t every = (n + BRAMAH_DISPLAY_PARTICLES - 1) / BRAMAH_DISPLAY_PARTICLES;
  frame->n_particles = 0;
  for (size_t i = 0; i < n; i += every, frame->n_particles++)
    for (int k = 0; k < 3; k++)
      frame->particle[3 * frame->n_particles + (size_t)k] =
          (int)lround(100.0 * soil->particle[i].position[k]);
}

/* ---- from one process to another ---- */

struct bramah_soil_view {
  bramah__soil soil;
};

bramah_status bramah_soil_view_new(const bramah_machine_plant *simulated, bramah_diag *diag,
                                   bramah_soil_view **out)
{
  bramah_diag_clear(diag);
  *out = NULL;
  if (!simulated->site) return BRAMAH_OK;
  bramah_soil_view *view = *out = calloc(1, sizeof *view);
  return view ? bramah__soil_open(&view->soil, simulated, diag) : bramah__fail_memory(diag);
}

void bramah_soil_view_free(bramah_soil_view *view)
{
  if (view) bramah__soil_close(&view->soil);
  free(view);
}

static const char begin[] = "# soil";

size_t bramah_soil_view_text(bramah_soil_view *view, char *out, size_t size)
{
  bramah_display_frame *of = &view->soil.told;
  bramah__soil_take(&view->soil, of);
  size_t n = (size_t)snprintf(out, size, "%s %zu %zu", begin, of->n_cells, of->n_particles);
  for (size_t k = 0; n < size && k < of->n_cells; k++)
    n += (size_t)snprintf(out + n, size - n, " %d %d", of->cell[k], of->height[k]);
  for (size_t k = 0; n < size && k < 3 * of->n_particles; k++)
    n += (size_t)snprintf(out + n, size - n, " %d", of->particle[k]);
  if (n < size) n += (size_t)snprintf(out + n, size - n, "\n");
  return n;
}

/* The next whole number of moderate size; 0: there is none. */
static int next_number(const char **at, int *value)
{
  char *end;
  const long number = strtol(*at, &end, 10);
  if (end == *at || number < -1000000000L || number > 1000000000L) return 0;
  *at = end;
  *value = (int)number;
  return 1;
}

int bramah_display_soil(bramah_display *display, const char *text)
{
  bramah__soil *soil = &display->soil;
  const char *at = text + sizeof begin - 1;
  int n_cells, n_particles;
  if (!soil->site || strncmp(text, begin, sizeof begin - 1) != 0 || !next_number(&at, &n_cells) ||
      !next_number(&at, &n_particles) || n_cells < 0 || n_cells > BRAMAH_DISPLAY_CELLS || n_particles < 0 ||
      n_particles > BRAMAH_DISPLAY_PARTICLES)
    return 0;
  const size_t ny = (soil->ny + soil->stride - 1) / soil->stride,
               cells = (soil->nx + soil->stride - 1) / soil->stride * ny;
  bramah_display_frame *told = &soil->told;
  soil->is_told = 1;
  told->n_cells = told->n_particles = 0;
  for (size_t k = 0; k < (size_t)n_cells; k++, told->n_cells++)
    if (!next_number(&at, &told->cell[k]) || !next_number(&at, &told->height[k]) || told->cell[k] < 0 ||
        (size_t)told->cell[k] >= cells)
      return 0;
  for (size_t k = 0; k < 3 * (size_t)n_particles; k++)
    if (!next_number(&at, &told->particle[k])) return 0;
  told->n_particles = (size_t)n_particles;
  return 1;
}
