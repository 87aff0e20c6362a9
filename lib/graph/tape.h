/* SPDX-License-Identifier: MIT */
/* A tape: results of a graph as linear code on registers, run by a small machine; no compiler is needed.
 *
 * Results are wanted at different times, so they come in parts. A part may use all that its ancestors have left in
 * their registers: after an iterate, its derivatives cost only what the iterate has not made yet. What changes less
 * often than a part is run goes into two parts of its own, which the others have for ancestors:
 *
 *   setup (rate 0) <- step (rate 1) <- parts of the caller
 *
 * Registers [n_registers x lanes]: | inputs | numbers | results and what later parts use | scratch |. Lane l of
 * register i is at i * lanes + l: that many states are run at once, each with the bits that it would have alone.
 *
 * Code: runs of equal operations, "operation, how many" and then their operands, so that the machine decides once a
 * run rather than once an operation. */
#ifndef BRAMAH_LIB_GRAPH_TAPE_H
#define BRAMAH_LIB_GRAPH_TAPE_H

#include "lib/graph/expr.h"

#include <stdatomic.h>

/* Rates of inputs. */
enum { BRAMAH__RATE_SETUP = 0, BRAMAH__RATE_STEP = 1, BRAMAH__RATE_POINT = 2 };

/* Results that are wanted together; parent: a part before it in the list, or -1. */
typedef struct bramah__part {
  int parent;
  size_t n;
  const bramah__expr *result;
} bramah__part;

/* Parts of the tape that are not of the list; part i of the list is number BRAMAH__FIRST_PART + i. */
enum { BRAMAH__PART_SETUP = 0, BRAMAH__PART_STEP = 1, BRAMAH__FIRST_PART = 2 };

typedef struct bramah__tape_part {
  size_t code, n_code; /* words */
  size_t n_operations; /* for those who want to know its size */
  size_t n_runs;
  size_t result, n_results; /* registers of its results, in `result` */
} bramah__tape_part;

/* Lanes that can be run at once: these numbers, or 1. */
#define BRAMAH__LANES(X) X(8) X(16) X(32)

/* A part as a function of the processor's own (c_source.h) on 1 state or on a number of lanes: NULL, or a function that does
 * what the machine does, to the bit. It may come while tapes run. `asked`: the machine has run the part. */
enum { BRAMAH__N_WIDTHS = 4 };
typedef void (*bramah__native_part)(double *registers);
typedef struct bramah__native {
  _Atomic(bramah__native_part) part;
  atomic_int asked;
} bramah__native;
extern const size_t bramah__width[BRAMAH__N_WIDTHS]; /* lanes */

typedef struct bramah__tape {
  size_t n_inputs, n_numbers, n_lasting, n_registers; /* lasting: all but scratch */
  double *number;                                     /* [n_numbers] */
  size_t n_parts;
  bramah__tape_part *part;
  uint16_t *code;
  uint16_t *result;
  bramah__native *native; /* [BRAMAH__N_WIDTHS x n_parts] */
} bramah__tape;

/* Operations of the machine, and how many operands each has: the destinations come first. MADD: d = a b + c, MSUB: d =
 * a b - c, NMADD: d = c - a b, each rounded twice. */
#define BRAMAH__CODES(X)                                                                                     \
  X(ADD, 3)                                                                                                  \
  X(SUB, 3)                                                                                                  \
  X(MUL, 3)                                                                                                  \
  X(MADD, 4)                                                                                                 \
  X(MSUB, 4)                                                                                                 \
  X(NMADD, 4)                                                                                                \
  X(NEG, 2)                                                                                                  \
  X(INV, 2)                                                                                                  \
  X(SQRT, 2)                                                                                                 \
  X(SINCOS, 3)                                                                                               \
  X(TANH, 2)                                                                                                 \
  X(EXP, 2)                                                                                                  \
  X(LOG, 2)                                                                                                  \
  X(ABS, 2)                                                                                                  \
  X(MIN, 3)                                                                                                  \
  X(MAX, 3)                                                                                                  \
  X(SELECT, 4)                                                                                               \
  X(ATAN2, 3)
#define BRAMAH__CODE_NAME(name, operands) BRAMAH__CODE_##name,
typedef enum bramah__code { BRAMAH__CODES(BRAMAH__CODE_NAME) BRAMAH__N_CODES } bramah__code;

/* The parts of a graph as a tape. Returns 0 where memory fails or there would be more than 65,535 registers. */
int bramah__tape_make(bramah__graph *graph, size_t n_parts, const bramah__part *part, bramah__tape *out);
void bramah__tape_free(bramah__tape *tape);

/* Registers of the results of a part. */
static inline const uint16_t *bramah__tape_results(const bramah__tape *tape, size_t part)
{
  return tape->result + tape->part[part].result;
}

/* Put the numbers into the registers of all lanes, once. */
void bramah__tape_prepare(const bramah__tape *tape, size_t lanes, double *registers);

/* Run a part; its inputs and the parts before it must be in place. No allocation. By native code where there is some; by the
 * machine in any case. */
void bramah__tape_run(const bramah__tape *tape, size_t part, size_t lanes, double *registers);
void bramah__tape_interpret(const bramah__tape *tape, size_t part, size_t lanes, double *registers);

#endif
