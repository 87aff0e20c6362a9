/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The page of a simulation: positions, first-order states and what soil puts on tools over time, the machine's pose, and the
 * ground in the end with the tracks of wheels and tools. */
#include "lib/cli/simulate_report.h"
#include "bramah/report.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct shown {
  size_t output, plot;
} shown;

/* Where a wheel or tool has been: its joint's mark of the skeleton. */
typedef struct path {
  const char *name;
  size_t part; /* of the skeleton */
  size_t n;
  double *xy; /* [room x 2] of the page */
} path;

struct cli_simulate_page {
  const bramah_machine_plant *machine;
  bramah_report *report;
  size_t n_shown, n_paths;
  shown *shown;
  path *paths;
  size_t room, stride, asked; /* every stride-th place is kept */
  bramah_skeleton skeleton;
  double axes[9]; /* of the field */
};

enum { PLACES = 4000 };

/* ---- plots ---- */

static const char *section_of(const bramah_output_info *info)
{
  static const char *const of_tools[] = {".carried", ".cutting_force", ".force_x", ".force_y", ".force_z"};
  for (size_t k = 0; k < sizeof of_tools / sizeof *of_tools; k++) {
    const size_t n = strlen(info->name), end = strlen(of_tools[k]);
    if (n > end && strcmp(info->name + n - end, of_tools[k]) == 0) return "Soil on tools";
  }
  if (info->kind == BRAMAH_OUTPUT_FIRST_ORDER) return "Circuit";
  return info->kind == BRAMAH_OUTPUT_POSITION ? "Joints" : NULL;
}

static bramah_status add_plots(cli_simulate_page *page, bramah_diag *diag)
{
  const bramah_plant *plant = &page->machine->plant;
  page->shown = calloc(plant->n_output + 1, sizeof *page->shown);
  if (!page->shown) return cli_no_memory(diag);
  for (size_t i = 0; i < plant->n_output; i++) {
    bramah_output_info info;
    bramah_plant_output_info(plant, i, &info);
    const char *section = info.hidden ? NULL : section_of(&info);
    if (!section) continue;
    const cli_readable unit = cli_readable_unit(info.unit);
    const bramah_report_plot plot = {.section = section,
                                     .title = info.name,
                                     .unit = unit.unit,
                                     .factor = unit.factor,
                                     .names = {"simulated"}};
    page->shown[page->n_shown].output = i;
    const bramah_status status = bramah_report_add(page->report, &plot, &page->shown[page->n_shown].plot);
    if (status) return status == BRAMAH_E_MEMORY ? cli_no_memory(diag) : status;
    page->n_shown++;
  }
  return BRAMAH_OK;
}

/* ---- tracks ---- */

/* The mark of the joint in front of a body; n: there is none. */
static size_t mark_of(const cli_simulate_page *page, const char *body)
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

static bramah_status add_path(cli_simulate_page *page, const char *name, const char *body, bramah_diag *diag)
{
  const size_t part = mark_of(page, body);
  if (part == page->skeleton.n) return BRAMAH_OK;
  path *p = &page->paths[page->n_paths++];
  *p = (path){.name = name, .part = part, .xy = calloc(2 * PLACES, sizeof *p->xy)};
  return p->xy ? BRAMAH_OK : cli_no_memory(diag);
}

/* Rows x, y, up of the field, as bramah_machine_terrain says. */
static void set_axes(cli_simulate_page *page)
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

static bramah_status add_paths(cli_simulate_page *page, bramah_diag *diag)
{
  const bramah_machine *m = page->machine->machine;
  bramah_skeleton *s = &page->skeleton;
  if (!page->machine->site) return BRAMAH_OK;
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
static void follow(cli_simulate_page *page)
{
  if (page->n_paths == 0 || page->asked++ % page->stride) return;
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

static bramah_status add_ground(cli_simulate_page *page, bramah_diag *diag)
{
  const bramah_terrain_options *o = &page->machine->machine->terrain.options;
  char text[200];
  if (!page->machine->site) return BRAMAH_OK;
  const bramah_terrain *soil = bramah_worksite_terrain(page->machine->site);
  const bramah_terrain_report r = bramah_terrain_get_report(soil);
  snprintf(text, sizeof text, "%zu particles of %.4g kg in all lie on it or in tools; they are not shown.",
           r.n_particles, r.particle_mass);
  bramah_report_track *tracks = calloc(page->n_paths + 1, sizeof *tracks);
  if (!tracks) return cli_no_memory(diag);
  for (size_t k = 0; k < page->n_paths; k++)
    tracks[k] = (bramah_report_track){page->paths[k].name, page->paths[k].n, page->paths[k].xy};
  const bramah_report_map map = {.title = "The field in the end",
                                 .text = r.n_particles ? text : NULL,
                                 .nx = o->nx,
                                 .ny = o->ny,
                                 .cell = o->cell,
                                 .origin = {o->origin[0], o->origin[1]},
                                 .heights = bramah_terrain_heights(soil),
                                 .n_tracks = page->n_paths,
                                 .tracks = tracks};
  const bramah_status status = bramah_report_add_map(page->report, &map, diag);
  free(tracks);
  return status;
}

/* ---- the page ---- */

bramah_status cli_simulate_page_new(const bramah_machine_plant *machine, bramah_diag *diag,
                                    cli_simulate_page **out)
{
  const char *name = bramah_model_get_info(machine->model).name;
  cli_simulate_page *page = *out = calloc(1, sizeof *page);
  if (!page) return cli_no_memory(diag);
  page->machine = machine;
  bramah_status status = bramah_report_new(name, diag, &page->report);
  if (!status) status = add_plots(page, diag);
  return status ? status : add_paths(page, diag);
}

bramah_status cli_simulate_page_row(cli_simulate_page *page, double time, bramah_diag *diag)
{
  const bramah_plant *plant = &page->machine->plant;
  bramah_status status = BRAMAH_OK;
  for (size_t k = 0; k < page->n_shown && !status; k++)
    status = bramah_report_point(page->report, page->shown[k].plot, BRAMAH_REPORT_ESTIMATE, time,
                                 plant->output(plant->self, page->shown[k].output), (double)NAN, (double)NAN);
  if (!status) status = bramah_report_pose(page->report, time, page->machine->coupled);
  follow(page);
  return status == BRAMAH_E_MEMORY ? cli_no_memory(diag) : status;
}

bramah_status cli_simulate_page_write(cli_simulate_page *page, const char *path_of, const char *doubt,
                                      bramah_diag *diag)
{
  const bramah_report_answer answer = {
      .level = doubt ? BRAMAH_REPORT_WRONG : BRAMAH_REPORT_FINE,
      .headline = doubt ? "This motion is not to be trusted." : "This is a motion that a machine makes.",
      .reason = doubt ? doubt : "Energies add up, and nothing is beyond a physical limit.",
      .begin = (double)NAN,
      .end = (double)NAN};
  bramah_status status = bramah_report_say(page->report, &answer);
  if (!status) status = add_ground(page, diag);
  if (!status) status = bramah_report_write(page->report, BRAMAH_REPORT_PAGE, path_of, diag);
  return status;
}

void cli_simulate_page_free(cli_simulate_page *page)
{
  if (!page) return;
  for (size_t k = 0; k < page->n_paths; k++) free(page->paths[k].xy);
  free(page->paths);
  free(page->shown);
  free(page->skeleton.part);
  free(page->skeleton.points);
  bramah_report_free(page->report);
  free(page);
}
