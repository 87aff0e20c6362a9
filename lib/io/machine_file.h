/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the readers of a machine file share. */
#ifndef BRAMAH_LIB_IO_MACHINE_FILE_H
#define BRAMAH_LIB_IO_MACHINE_FILE_H

#include "bramah/machine.h"
#include "lib/io/schema.h"

/* The machine while it is being read; the pool holds everything it points to. */
typedef struct bramah__loaded {
  bramah_machine machine; /* first: the caller's pointer is ours */
  bramah__pool pool;
  double oil_density;                  /* 0 where the file has none */
  struct bramah__uncertain *uncertain; /* values with "± ..." (uncertainty.h) */
} bramah__loaded;

extern const bramah__table bramah__machine_table; /* of a machine file */
extern const bramah__table bramah__shape_table;   /* of a bramah_shape */

/* Sections of the mechanics (machine_mechanics.c). */
extern const bramah__table bramah__body_table, bramah__joint_table, bramah__loop_table, bramah__spring_table,
    bramah__joint_spring_table, bramah__force_table, bramah__contact_table, bramah__tyre_table,
    bramah__brake_table, bramah__motion_table, bramah__wheel_table, bramah__knife_edge_table;
extern const bramah__table bramah__command_table; /* of a bramah_drive of the mechanics */
/* Engines and power trains (machine_power.c). */
extern const bramah__table bramah__engine_table, bramah__clutch_table, bramah__joint_torque_table;

/* The section `hydraulics` (machine_hydraulics.c), and its table, which is made in the reader's scratch memory.
 * Errors: E_MEMORY. */
bramah__read bramah__read_hydraulics;
bramah_status bramah__hydraulics_table(bramah__reader *reader, bramah__table *out);

/* The section `terrain` (machine_terrain.c). */
bramah__read bramah__read_terrain;
extern const bramah__table bramah__terrain_table, bramah__tool_table;

/* double [3]: coordinates in the frame of the element's `body`, or, in a pair, of that of its `bodies`; or the name that the
 * body gives the point: "tip" or "bucket.tip". Bodies are read before. */
bramah__read bramah__read_point;

/* Does coordinate i of such a joint slide? Otherwise it turns. */
int bramah__coordinate_slides(bramah_joint_type type, size_t i);

/* 1: the joint coordinate of that name turns, 2: it slides, 0: there is none. */
int bramah__coordinate_kind(const bramah_machine *machine, const char *name);

/* What is read otherwise than the file has it: the changes first, then what was set. */
typedef struct bramah__machine_values {
  size_t n_changes;
  const bramah_change *changes;
  size_t n_settings;
  const bramah_study_setting *settings;
} bramah__machine_values;

/* As bramah_machine_load, of a file in memory; tell NULL: the first mistake ends it. */
bramah_status bramah__machine_read(const bramah__source *source, const bramah__machine_values *with,
                                   bramah_mistake tell, void *user, bramah_diag *diag, bramah_machine **out);

#endif
