/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BRAMAH_LIB_ASSESS_ACCURACY_H
#define BRAMAH_LIB_ASSESS_ACCURACY_H

#include "bramah/plant.h"

/* A value of an output without the whole turns that part it from its truth: a spherical joint shows the same
 * attitude with or without them. */
double bramah__without_turns(const bramah_plant *plant, size_t output, double truth, double value);

#endif
