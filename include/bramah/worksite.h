/* SPDX-License-Identifier: MIT */
/* A machine and the soil it works in, stepped together: the truth of a simulation, whose tyres sink in and whose bucket fills. No
 * filter needs it: the plant of a filter stands on the field as the machine has it, and what the soil does to its tools is a force
 * or a payload that it does not know.
 *
 * Order of a step (publication V of the dissertation, II-D): the machine moves, with the field and the forces of soil on its tools held;
 * its tyres and contacts press on the cells below them with the vertical parts of their forces, a disc over its patch; its tools cut
 * and push where they now are; the field slumps, particles move, those at rest become field. What tools then feel, and the planes
 * below tyres, are those of the machine's next step; they are in its state. The soil is thus ahead by one step, so that no force
 * comes late. */
#ifndef BRAMAH_WORKSITE_H
#define BRAMAH_WORKSITE_H

#include "bramah/coupled.h"
#include "bramah/terrain.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct bramah_worksite bramah_worksite;

/* Bytes for the worksite of a model; 0: it has no terrain. Create one around a plant of that model, there (aligned to 64, no
 * allocation) or in memory taken once. The plant stands on soil that moves from now on; its own steps (bramah_coupled_plant) leave
 * the soil alone. Back to the start by bramah_coupled_reset and bramah_coupled_start, which lay the field as the machine has it. Errors:
 * E_ARGUMENT (no terrain; the plant has a worksite already; memory too small), E_MEMORY. */
BRAMAH_API size_t bramah_worksite_size(const bramah_model *model);
BRAMAH_API bramah_status bramah_worksite_init(bramah_coupled *machine, void *mem, size_t size,
                                              bramah_diag *diag, bramah_worksite **out);
BRAMAH_API bramah_status bramah_worksite_new(bramah_coupled *machine, bramah_diag *diag,
                                             bramah_worksite **out);
/* NULL allowed; before its plant is freed, which stands on the machine's own field again. */
BRAMAH_API void bramah_worksite_free(bramah_worksite *site);

/* The plant interface of both: that of the machine, but that a step moves the soil, too, and that snapshots hold it. Where the
 * soil cannot be stepped (the errors of bramah_terrain_step), the machine has moved: restore a snapshot. */
BRAMAH_API bramah_plant bramah_worksite_plant(bramah_worksite *site);

/* Its soil, to look at: heights, particles, sums (bramah_terrain_get_report). Its frame: origin at the inertial one, up against gravity, x that
 * of the inertial x axis across it (or y). Tools are numbered as the machine has them. */
BRAMAH_API bramah_terrain *bramah_worksite_terrain(const bramah_worksite *site);

#ifdef __cplusplus
}
#endif
#endif
