/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Plans of sensor studies. */
#ifndef BRAMAH_LIB_IO_PLAN_FILE_H
#define BRAMAH_LIB_IO_PLAN_FILE_H

#include "bramah/sensor_study.h"
#include "bramah/study.h"

/* Read a plan; no other file is opened. Errors as for bramah_machine_load. Release it with bramah__plan_free. */
bramah_status bramah__plan_load(const char *path, bramah_diag *diag, bramah_plan **out);
/* The same, but go on after a mistake; nothing is kept. */
void bramah__plan_check(const char *path, bramah_mistake tell, void *user);
void bramah__plan_free(bramah_plan *plan); /* NULL allowed */

#endif
