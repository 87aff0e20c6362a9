/* SPDX-License-Identifier: MIT */
/* What the plant simulator and the controller both ask of a machine. */
#ifndef EMBEDDING_MACHINE_H
#define EMBEDDING_MACHINE_H

#include <bramah/session.h>

/* The study's sensors, bound to a plant: sensor [study->n_sensors]. */
bramah_status sensors_bind(const bramah_study *study, const bramah_plant *plant, bramah_diag *diag,
                           bramah_sensor *sensor);

/* Index of the output <thing>.<what>; stops the program if there is none. */
size_t output_index(const bramah_plant *plant, const char *thing, const char *what);

#endif
