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
  double oil_density; /* 0 where the file has none */
} bramah__loaded;

/* Tables of the sections (machine_multibody.c) and the reader of `hydraulics` (machine_hydraulics.c). */
extern const bramah__table bramah__body_table, bramah__joint_table, bramah__loop_table, bramah__spring_table,
    bramah__joint_spring_table, bramah__force_table, bramah__wheel_table, bramah__knife_edge_table,
    bramah__motion_table;
bramah__read bramah__read_hydraulics;

/* 1: the joint coordinate of that name turns, 2: it slides, 0: there is none. */
int bramah__coordinate_kind(const bramah_machine *machine, const char *name);

/* As bramah_machine_load, of a file in memory and with values set after the changes. */
bramah_status bramah__machine_read(const bramah__source *source, size_t n_changes,
                                   const bramah_change *changes, size_t n_settings,
                                   const bramah_study_setting *settings, bramah_diag *diag,
                                   bramah_machine **out);

#endif
