/* SPDX-License-Identifier: MIT */
/* The conventional counterpart of the reduced linearization, for comparison: the index-1 equations
 *
 *   [ M  D' ] [ z''    ]   [ Q      ]
 *   [ D  0  ] [ Lambda ] = [ -D' z' ]
 *
 * in all joint coordinates z of the open tree, solved for z'' and differentiated by central differences of
 * step h max(1, |X|): J [N x N], N = redundant_order, of X = [z; z'; p; U; friction states]. It has 2m null
 * eigenvalues beside those of A. Source: Agundez et al. 2023, equations 95-100. */
#ifndef BRAMAH_TEST_SUPPORT_REDUNDANT_DIFFERENCES_H
#define BRAMAH_TEST_SUPPORT_REDUNDANT_DIFFERENCES_H

#include "bramah/linear.h"

size_t redundant_order(const bramah_linear_system *system);
bramah_status redundant_differences(bramah_linearization *l, bramah_coupled *plant, double h, double *J,
                                    bramah_diag *diag);

#endif
