/* SPDX-License-Identifier: MIT */
/* A plant whose ground is a terrain that moves. */
#include "bramah/worksite.h"
#include "lib/base/diag.h"
#include "lib/math/vector3.h"
#include "lib/plant/coupled_internal.h"

#include <math.h>
#include <string.h>

struct bramah_worksite {
  uint64_t mark; /* bramah__mark_of; must be first */
  bramah_coupled *machine;
  bramah_plant alone; /* the machine's own table */
  bramah_terrain *terrain;
  void *soil; /* memory of the terrain */
  size_t soil_size;
  int own_memory;
};

/* ---- what the machine does to the soil ---- */

/* Tyres and contacts, at the poses and velocities in c->probe: each over its patch. */
static void press_all(bramah_worksite *site)
{
  bramah_coupled *c = site->machine;
  const bramah_model *model = c->model;
  const double *E = model->field_axes;
  for (size_t k = 0; k < model->n_standing; k++) {
    const bramah__standing *standing = &model->standing[k];
    const bramah__contact *contact = &model->contact_point[standing->point];
    bramah__contact_frame at;
    double force[3], f[3], place[3], ahead[3], aside[3], point[BRAMAH__PATCH_POINTS][2],
        gear[BRAMAH__MOST_SHAFT_JOINTS];
    bramah__contact_forces(1, contact, c->probe->pose, c->probe->Z, c->state.U, 0.0, c->state.x, NULL, NULL,
                           c->probe_state.xd, force, gear);
    bramah__rotate3(E, force, f);
    if (!(f[2] > 0.0)) continue;
    bramah__contact_frame_of(contact, gear, c->probe->pose, c->probe->Z, &at);
    bramah__rotate3(E, at.place, place);
    bramah__rotate3(E, at.axes, ahead);
    bramah__rotate3(E, at.axes + 3, aside);
    const size_t n = bramah__patch_points(standing, model->terrain.cell, place, ahead, aside, point);
    for (size_t i = 0; i < n; i++)
      bramah_terrain_press(site->terrain, point[i][0], point[i][1], f[2] / (double)n);
  }
}

static bramah_status place_tools(bramah_worksite *site, bramah_diag *diag)
{
  const bramah_coupled *c = site->machine;
  const bramah_model *model = c->model;
  const double *E = model->field_axes;
  for (size_t i = 0; i < model->n_tools; i++) {
    const int body = model->forces.load[model->first_tool + i].body;
    const bramah__pose *pose = &c->probe->pose[body];
    bramah_tool_motion motion;
    double v[3];
    bramah__point_velocity(c->probe->Z, body, pose->r, v);
    bramah__rotate3(E, pose->r, motion.position);
    bramah__multiply3(E, pose->A, motion.rotation);
    bramah__rotate3(E, v, motion.velocity);
    bramah__rotate3(E, c->probe->Z + 6 * body + 3, motion.rate);
    const bramah_status status = bramah_terrain_place(site->terrain, i, &motion, diag);
    if (status) return status;
  }
  return BRAMAH_OK;
}

/* ---- and the soil to the machine ---- */

static void take_loads(bramah_worksite *site, double *tool)
{
  const bramah_model *model = site->machine->model;
  const double *E = model->field_axes;
  for (size_t i = 0; i < model->n_tools; i++, tool += BRAMAH__TOOL_STATE) {
    const bramah_tool_load load = bramah_terrain_tool_load(site->terrain, i);
    bramah__unrotate3(E, load.force, tool);
    bramah__unrotate3(E, load.torque, tool + 3);
    tool[6] = load.carried;
    tool[7] = sqrt(bramah__dot3(load.cutting, load.cutting));
  }
}

/* After a step of the machine. What has changed below its tyres or on its tools changes its accelerations. */
static bramah_status move_soil(bramah_worksite *site, bramah_diag *diag)
{
  bramah_coupled *c = site->machine;
  const bramah_model *model = c->model;
  bramah__tree_pose(&model->tree, c->state.base, c->state.z, c->probe->pose);
  bramah__tree_velocity(&model->tree, c->probe->pose, c->state.zd, c->probe->Z);
  press_all(site);
  bramah_status status = place_tools(site, diag);
  if (!status) status = bramah_terrain_step(site->terrain, model->h, diag);
  if (status) return status;
  bramah__state_copy(&c->state, &c->next);
  take_loads(site, c->next.tool);
  return bramah__adopt_on_ground(c, diag);
}

/* ---- the plant ---- */

static bramah_status step(void *self, bramah_diag *diag)
{
  bramah_worksite *site = ((bramah_coupled *)self)->site;
  const bramah_status status = site->alone.step(self, diag);
  return status ? status : move_soil(site, diag);
}

static bramah_status step_transition(void *self, double *F, double *N, size_t n_par, const size_t *par,
                                     double *G, bramah_diag *diag)
{
  bramah_worksite *site = ((bramah_coupled *)self)->site;
  const bramah_status status = site->alone.step_transition(self, F, N, n_par, par, G, diag);
  return status ? status : move_soil(site, diag);
}

/* The machine's snapshot, then that of the soil. */
static size_t soil_at(const bramah_worksite *site) { return (site->alone.snapshot_size + 7) / 8 * 8; }

static void save(const void *self, void *snap)
{
  const bramah_worksite *site = ((const bramah_coupled *)self)->site;
  memset((unsigned char *)snap + site->alone.snapshot_size, 0, soil_at(site) - site->alone.snapshot_size);
  site->alone.save(self, snap);
  bramah_terrain_save(site->terrain, (unsigned char *)snap + soil_at(site));
}

static void restore(void *self, const void *snap)
{
  bramah_worksite *site = ((bramah_coupled *)self)->site;
  bramah_terrain_restore(site->terrain, (const unsigned char *)snap + soil_at(site),
                         bramah_terrain_snapshot_size(site->terrain), NULL);
  site->alone.restore(self, snap);
}

bramah_plant bramah_worksite_plant(bramah_worksite *site)
{
  bramah_plant plant = site->alone;
  plant.snapshot_size = soil_at(site) + bramah_terrain_snapshot_size(site->terrain);
  plant.step = step;
  plant.step_transition = step_transition;
  plant.save = save;
  plant.restore = restore;
  plant.displaced_parameters = NULL; /* by the three of them, which move the soil and take it back */
  return plant;
}

bramah_terrain *bramah_worksite_terrain(const bramah_worksite *site) { return site->terrain; }

/* ---- its life ---- */

enum { HEAD = (sizeof(bramah_worksite) + BRAMAH__ALIGN - 1) / BRAMAH__ALIGN * BRAMAH__ALIGN };

size_t bramah_worksite_size(const bramah_model *model)
{
  return model->terrain.nx ? HEAD + bramah_terrain_size(&model->terrain) : 0;
}

static bramah_status lay(bramah_worksite *site, bramah_diag *diag)
{
  const bramah_model *model = site->machine->model;
  bramah_terrain_free(site->terrain);
  bramah_status status =
      bramah_terrain_init(&model->terrain, site->soil, site->soil_size, diag, &site->terrain);
  if (!status) status = bramah_terrain_set_heights(site->terrain, model->field.h, diag);
  if (!status) site->machine->field.h = bramah_terrain_heights(site->terrain);
  return status;
}

bramah_status bramah_worksite_init(bramah_coupled *machine, void *mem, size_t size, bramah_diag *diag,
                                   bramah_worksite **out)
{
  const bramah_model *model = machine->model;
  bramah__arena arena;
  *out = NULL;
  if (model->terrain.nx == 0)
    return bramah__fail(diag, BRAMAH_E_ARGUMENT, model->name, "the machine has no terrain");
  if (machine->site)
    return bramah__fail(diag, BRAMAH_E_ARGUMENT, model->name, "this plant has a worksite already");
  bramah_status status = bramah__arena_in("worksite", mem, size, bramah_worksite_size(model), &arena, diag);
  if (status) return status;
  bramah_worksite *site = mem;
  *site = (bramah_worksite){.machine = machine,
                            .alone = bramah_coupled_plant(machine),
                            .soil = (unsigned char *)mem + HEAD,
                            .soil_size = size - HEAD};
  status = lay(site, diag);
  if (status) return status;
  machine->site = site;
  machine->lay = lay;
  site->mark = bramah__mark_of(site);
  *out = site;
  return BRAMAH_OK;
}

bramah_status bramah_worksite_new(bramah_coupled *machine, bramah_diag *diag, bramah_worksite **out)
{
  const size_t needed = bramah_worksite_size(machine->model);
  *out = NULL;
  BRAMAH__MAKE_IN_OWN("worksite", needed ? needed : HEAD,
                      bramah_worksite_init(machine, mem, size, diag, out));
}

void bramah_worksite_free(bramah_worksite *site)
{
  if (!site) return;
  site->mark = 0;
  bramah_terrain_free(site->terrain);
  site->machine->site = NULL;
  site->machine->field.h = site->machine->model->field.h;
  if (site->own_memory) bramah__aligned_free(site);
}
