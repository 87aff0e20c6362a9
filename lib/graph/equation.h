/* SPDX-License-Identifier: MIT */
/* First header of a file with equations that are called with nodes and, in every step, with numbers. */
#ifndef BRAMAH_LIB_GRAPH_EQUATION_H
#define BRAMAH_LIB_GRAPH_EQUATION_H

#define BRAMAH__NUMBERS_IN_PLACE 1
#include "lib/graph/expr.h"

/* An equation that becomes part of its callers: where one of these passes numbers, plain arithmetic is left of it. */
#ifdef __GNUC__
#define BRAMAH__EQUATION static inline __attribute__((always_inline))
#else
#define BRAMAH__EQUATION static inline
#endif

/* The same for both, compiled once for nodes and once for numbers. */
#define BRAMAH__EITHER(nodes, equation) ((nodes) ? (equation) : (equation))

#endif
