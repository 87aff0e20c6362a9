/* SPDX-License-Identifier: MIT */
/* The machine and the study of the example, read from the files that were tuned on logs with `bramah replay`.
 */
#ifndef EMBEDDING_MACHINE_H
#define EMBEDDING_MACHINE_H

#include <bramah/coupled.h>
#include <bramah/files.h>
#include <bramah/filter.h>

/* A plant on the machine of a study: as it is, or as the study says that the filter wrongly believes. */
typedef struct machine {
  bramah_machine *description;
  const bramah_model *model;
  bramah_coupled *coupled;
  bramah_plant plant;
} machine;

bramah_status machine_load(const bramah_study *study, int as_believed, bramah_diag *diag, machine *out);
void machine_free(machine *m);

/* The study's sensors, bound to a plant: sensor [study->n_sensors]. */
bramah_status sensors_bind(const bramah_study *study, const bramah_plant *plant, bramah_diag *diag,
                           bramah_sensor *sensor);

/* Its filter on this plant, which is put to the study's start. */
bramah_status filter_make(const bramah_study *study, machine *m, const bramah_sensor *sensor,
                          bramah_diag *diag, bramah_filter **out);

/* Index of the output <thing>.<what>; stops the program if there is none. */
size_t output_index(const bramah_plant *plant, const char *thing, const char *what);

#endif
