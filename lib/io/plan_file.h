/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Plans of sensor studies. */
#ifndef BRAMAH_LIB_IO_PLAN_FILE_H
#define BRAMAH_LIB_IO_PLAN_FILE_H

#include "bramah/sensor_study.h"

/* Read a plan; no other file is opened. Errors as for bramah_machine_load. Release it with bramah__plan_free. */
bramah_status bramah__plan_load(const char *path, bramah_diag *diag, bramah_plan **out);
void bramah__plan_free(bramah_plan *plan); /* NULL allowed */

#endif
