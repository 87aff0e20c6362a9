/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BRAMAH_TEST_FUZZ_FOUR_BAR_H
#define BRAMAH_TEST_FUZZ_FOUR_BAR_H

#include "bramah/machine.h"
#include "bramah/plant.h"

#define FUZZ_FOUR_BAR FUZZ_SOURCE_ROOT "/datasets/four-bar/four-bar.yaml"

/* The machine the studies of the corpora are about; made once and kept. */
const bramah_plant *fuzz_four_bar(void);

#endif
