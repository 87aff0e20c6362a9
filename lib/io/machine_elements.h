/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tables of the hydraulic elements beside volumes, orifices, valves and cylinders. */
#ifndef BRAMAH_LIB_IO_MACHINE_ELEMENTS_H
#define BRAMAH_LIB_IO_MACHINE_ELEMENTS_H

#include "bramah/machine.h"
#include "lib/io/schema.h"

/* The unit of a flow coefficient C in Q = C sqrt(dp). */
#define BRAMAH__FLOW_UNIT "m^3/s/Pa^0.5"

/* The keys with a section for each kind of element behind them, in scratch memory; `machine` is the offset of the
 * machine in the object that they fill. */
bramah_status bramah__with_elements(bramah__reader *reader, const bramah__key *keys, size_t machine,
                                    const bramah__key **out);

/* The product of the keys that are factors of `result`, unless `result` itself is given, which then has been
 * read. */
bramah_status bramah__read_product(bramah__reader *reader, const bramah__item *item,
                                   const bramah_element_key *keys, const char *result, int by_density,
                                   double *out);

extern const bramah__table bramah__end_stop_table;
extern const bramah__table bramah__rotary_end_stop_table;

/* Of a valve: list of pairs [spool, opening] into a bramah_characteristic; the four ways of a valve by their
 * names; what excludes each other among them. */
bramah__read bramah__read_characteristic;
extern const bramah__table bramah__ports_table;
bramah_status bramah__check_characteristics(bramah__reader *reader, const bramah__item *item,
                                            const bramah_valve *valve);

/* Metered cylinders and pump lines (machine_metered.c). */
extern const bramah__table bramah__pump_line_table;
extern const bramah__table bramah__metered_cylinder_table;

/* What machine_metered.c has in common with machine_hydraulics.c. One of two ways to give a value: 1 for the
 * first, 2 for the second, 0 and the error told otherwise. Keys area and discharge_coefficient, or
 * flow_coefficient, which the table must have read. Bore or piston_area, rod or rod_area, likewise. A
 * pressure or the word "equilibrium". */
int bramah__either_key(bramah__reader *reader, const bramah__item *item, const char *first,
                       const char *second);
bramah_status bramah__area_or_coefficient(bramah__reader *reader, const bramah__item *item, double *out);
bramah_status bramah__piston_and_rod(bramah__reader *reader, const bramah__item *item, double *piston_area,
                                     double *rod_area);
bramah_status bramah__read_pressure(bramah__reader *reader, const bramah__item *item, const bramah__key *key,
                                    void *object, bramah_pressure_initial *initial);
extern const bramah__table bramah__friction_table, bramah__rotary_friction_table;

#endif
