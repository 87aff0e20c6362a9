/* SPDX-License-Identifier: MIT */
/* Steps of a plant by its program (step_graph.h). Nothing here fails: what the program does not do well it leaves to the
 * interpreted step, which then also says what is wrong. */
#ifndef BRAMAH_LIB_PLANT_COMPILED_H
#define BRAMAH_LIB_PLANT_COMPILED_H

#include "lib/plant/coupled_internal.h"

/* One step of the length that the model has now, with its derivatives where wanted->F is: 1 if it has been made, and the
 * state has advanced; 0: nothing has changed. */
int bramah__compiled_step(bramah_coupled *c, const bramah__wanted *wanted);

#endif
