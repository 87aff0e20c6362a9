/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tables of the hydraulic elements beside volumes, throttles, valves and cylinders. */
#ifndef BRAMAH_LIB_IO_MACHINE_ELEMENTS_H
#define BRAMAH_LIB_IO_MACHINE_ELEMENTS_H

#include "lib/io/schema.h"

/* The unit of a flow coefficient C in Q = C sqrt(dp). */
#define BRAMAH__FLOW_UNIT "m^3/s/Pa^0.5"

extern const bramah__table bramah__leakage_table;
extern const bramah__table bramah__check_valve_table;
extern const bramah__table bramah__relief_valve_table;
extern const bramah__table bramah__pump_table;

#endif
