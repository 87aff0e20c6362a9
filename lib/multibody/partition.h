/* SPDX-License-Identifier: MIT */
/* Coordinate partitioning: which joint coordinates are independent, and which constraint rows say something
 * new. Source: dissertation 2.26 and the Gaussian elimination with full pivoting it refers to. */
#ifndef BRAMAH_LIB_MULTIBODY_PARTITION_H
#define BRAMAH_LIB_MULTIBODY_PARTITION_H

#include <stddef.h>

/* Eliminate A [m x n] (overwritten) with full pivoting. Pivots below `tolerance` times the first count as
 * zero. Columns with late[j] != 0 are taken only when no other has a pivot left (late may be NULL). Returns
 * the rank; row [m]: the first `rank` entries are the rows with a pivot; column [n]: first the columns with a
 * pivot in the order found (dependent coordinates), then the others, ascending (independent coordinates). */
size_t bramah__eliminate(size_t m, size_t n, double *A, double tolerance, const unsigned char *late, int *row,
                         int *column);

#endif
