/* SPDX-License-Identifier: MIT */
/* Figures that values and their derivatives share. */
#ifndef BRAMAH_LIB_HYDRAULICS_CONSTANTS_H
#define BRAMAH_LIB_HYDRAULICS_CONSTANTS_H

#define BRAMAH__ATMOSPHERE 101325.0        /* [Pa] */
#define BRAMAH__LEAST_AIR_PRESSURE 100.0   /* [Pa] below it the compliance of air is held */
#define BRAMAH__RECOVERY_TIME 1e-3         /* [s] from below the vapour pressure */
#define BRAMAH__CONTACT_DEPTH 1e-4         /* [m] over which the damper of a stop sets in */
#define BRAMAH__EMPTY_BAND 0.1             /* of the precharge: below it an accumulator holds no oil */
#define BRAMAH__TANH_4 0.99932929973906704 /* tanh(4), which (D 2.44) carries in its viscous term */

#endif
