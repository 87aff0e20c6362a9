/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The ground below a machine on the page of a run: its heights, tracks of wheels and tools, particles of soil. */
#include "lib/cli/ground_page.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Where a wheel or tool has been: its joint's mark of the skeleton. */
typedef struct path {
  const char *name;
  size_t part; /* of the skeleton */
  size_t n;
  double *xy; /* [PLACES x 2] of the page */
} path;

struct cli_ground {
  const bramah_machine_plant *machine;
  size_t n_paths;
  path *paths;
  size_t stride, asked; /* every stride-th place is kept */
  bramah_skeleton skeleton;
  double axes[9]; /* of the field */
};

enum { PLACES = 4000 };

/* The mark of the joint in front of a body; n: there is none. */
static size_t mark_of(const cli_ground *page, const char *body)
{
  const bramah_machine *m = page->machine->machine;
  const char *joint = NULL;
  for (size_t j = 0; j < m->n_joints; j++)
    if (strcmp(m->joints[j].child, body) == 0) joint = m->joints[j].name;
  size_t k = 0;
  while (k < page->skeleton.n && !(joint && page->skeleton.part[k].kind == BRAMAH_SKELETON_JOINT &&
                                   strcmp(page->skeleton.part[k].name, joint) == 0))
    k++;
  return k;
}

static bramah_status add_path(cli_ground *page, const char *name, const char *body, bramah_diag *diag)
{
  const size_t part = mark_of(page, body);
  if (part == page->skeleton.n) return BRAMAH_OK;
  path *p = &page->paths[page->n_paths++];
  *p = (path){.name = name, .part = part, .xy = calloc(2 * PLACES, sizeof *p->xy)};
  return p->xy ? BRAMAH_OK : cli_no_memory(diag);
}

/* Rows x, y, up of the field, as bramah_machine_terrain says. */
static void set_axes(cli_ground *page)
{
  const double *g = page->machine->machine->gravity, size = sqrt(g[0] * g[0] + g[1] * g[1] + g[2] * g[2]);
  double *x = page->axes, *y = x + 3, *up = x + 6, length = 0.0;
  for (int i = 0; i < 3; i++) up[i] = -g[i] / size;
  const int other = fabs(up[0]) > 0.9;
  for (int i = 0; i < 3; i++) x[i] = (i == other) - up[other] * up[i];
  for (int i = 0; i < 3; i++) length += x[i] * x[i];
  for (int i = 0; i < 3; i++) x[i] /= sqrt(length);
  for (int i = 0; i < 3; i++) y[i] = up[(i + 1) % 3] * x[(i + 2) % 3] - up[(i + 2) % 3] * x[(i + 1) % 3];
}

bramah_status cli_ground_new(const bramah_machine_plant *machine, bramah_diag *diag, cli_ground **out)
{
  const bramah_machine *m = machine->machine;
  *out = NULL;
  if (m->terrain.options.nx == 0) return BRAMAH_OK;
  cli_ground *page = *out = calloc(1, sizeof *page);
  if (!page) return cli_no_memory(diag);
  bramah_skeleton *s = &page->skeleton;
  page->machine = machine;
  set_axes(page);
  bramah_status status = bramah_coupled_skeleton(page->machine->coupled, s, diag);
  if (status) return status;
  s->part = calloc(s->n + 1, sizeof *s->part);
  s->points = calloc(6 * s->n + 1, sizeof *s->points);
  page->paths = calloc(m->n_tyres + m->n_tools + 1, sizeof *page->paths);
  if (!s->part || !s->points || !page->paths) return cli_no_memory(diag);
  status = bramah_coupled_skeleton(page->machine->coupled, s, diag);
  for (size_t i = 0; i < m->n_tyres && !status; i++)
    status = add_path(page, m->tyres[i].name, m->tyres[i].body, diag);
  for (size_t i = 0; i < m->n_tools && !status; i++)
    status = add_path(page, m->tools[i].name, m->tools[i].body, diag);
  page->stride = 1;
  return status;
}

/* Where they are now. Of many places every other one goes when there is room for no more. */
void cli_ground_follow(cli_ground *page)
{
  if (!page || page->n_paths == 0 || page->asked++ % page->stride) return;
  if (bramah_coupled_skeleton(page->machine->coupled, &page->skeleton, NULL)) return;
  for (size_t k = 0; k < page->n_paths; k++) {
    path *p = &page->paths[k];
    const double *at = page->skeleton.points + 6 * p->part;
    if (p->n == PLACES) {
      for (p->n = 0; p->n < PLACES / 2; p->n++) memcpy(p->xy + 2 * p->n, p->xy + 4 * p->n, 2 * sizeof *p->xy);
      if (k + 1 == page->n_paths) page->stride *= 2;
    }
    for (int i = 0; i < 2; i++) {
      const double *e = page->axes + 3 * i;
      p->xy[2 * p->n + (size_t)i] = e[0] * at[0] + e[1] * at[1] + e[2] * at[2];
    }
    p->n++;
  }
}

/* Places of particles, [n x 2]. */
static double *places_of(const bramah_terrain *soil, size_t *n)
{
  *n = bramah_terrain_particles(soil, 0, NULL);
  bramah_particle *particles = calloc(*n + 1, sizeof *particles);
  double *xy = calloc(2 * *n + 1, sizeof *xy);
  if (particles && xy) bramah_terrain_particles(soil, *n, particles);
  for (size_t k = 0; particles && xy && k < *n; k++)
    memcpy(xy + 2 * k, particles[k].position, 2 * sizeof *xy);
  if (!particles) free(xy), xy = NULL;
  free(particles);
  return xy;
}

/* The soil of the worksite, or where it does not move the field as it is given. */
bramah_status cli_ground_add(cli_ground *page, bramah_report *report, bramah_diag *diag)
{
  if (!page) return BRAMAH_OK;
  const bramah_terrain_options *o = &page->machine->machine->terrain.options;
  bramah_worksite *still = NULL;
  bramah_status status = BRAMAH_OK;
  if (!page->machine->site) status = bramah_worksite_new(page->machine->coupled, diag, &still);
  if (status) return status;
  const bramah_terrain *soil = bramah_worksite_terrain(still ? still : page->machine->site);
  const bramah_terrain_report r = bramah_terrain_get_report(soil);
  char text[200];
  snprintf(text, sizeof text, "Dots: %zu particles of %.4g kg in all, on it or in tools.", r.n_particles,
           r.particle_mass);
  size_t n_dots;
  bramah_report_track *tracks = calloc(page->n_paths + 1, sizeof *tracks);
  double *dots = places_of(soil, &n_dots);
  if (!tracks || !dots) status = cli_no_memory(diag);
  for (size_t k = 0; tracks && k < page->n_paths; k++)
    tracks[k] = (bramah_report_track){page->paths[k].name, page->paths[k].n, page->paths[k].xy};
  const bramah_report_map map = {.title = still ? "The field" : "The field in the end",
                                 .text = r.n_particles ? text : NULL,
                                 .nx = o->nx,
                                 .ny = o->ny,
                                 .cell = o->cell,
                                 .origin = {o->origin[0], o->origin[1]},
                                 .heights = bramah_terrain_heights(soil),
                                 .n_tracks = page->n_paths,
                                 .tracks = tracks,
                                 .n_dots = n_dots,
                                 .dots = dots,
                                 .dot_radius = o->radius};
  if (!status) status = bramah_report_add_map(report, &map, diag);
  free(tracks);
  free(dots);
  bramah_worksite_free(still);
  return status;
}

void cli_ground_free(cli_ground *page)
{
  if (!page) return;
  for (size_t k = 0; k < page->n_paths; k++) free(page->paths[k].xy);
  free(page->paths);
  free(page->skeleton.part);
  free(page->skeleton.points);
  free(page);
}
