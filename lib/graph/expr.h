/* SPDX-License-Identifier: MIT */
/* Expressions: formulas as data. An expression is a number or a node of a graph; both are handed about by value, so
 * that a formula in this code reads as it does on paper,
 *
 *   flow = e_mul(coefficient, e_root_flow(e_sub(p, q), transition_pressure));
 *
 * and numbers fold by themselves: a machine whose bodies stay in a plane loses the third dimension here, not in what
 * is run later. A node stands for one operation on nodes made before it; the same operation on the same nodes is
 * the same node.
 *
 * A number carries its slope by one variable (e_variable, whose slope is 1; a dual number), so an equation that is written
 * in expressions is both: called with nodes it becomes part of a graph, called with numbers it gives value and slope at
 * once, without a graph and without allocation. */
#ifndef BRAMAH_LIB_GRAPH_EXPR_H
#define BRAMAH_LIB_GRAPH_EXPR_H

#include <stddef.h>
#include <stdint.h>
#include "lib/math/elementary.h"

typedef struct bramah__graph bramah__graph;

typedef struct bramah__expr {
  bramah__graph *graph; /* NULL: the number `value`; zero-initialised: 0 */
  uint32_t node;
  double value; /* beside `node`, not in its place: compilers keep what is no union in registers */
  double slope; /* of a number; one that varies has no place in a graph, where its slope is lost */
} bramah__expr;

/* Operations: name, number of arguments. SELECT (c, a, b) is a where c > 0, else b. SLOPE (f, x, s) is f, whose
 * derivative is said to be s dx/d... whatever f is made of: for slopes at kinks, and for those that cost less than the
 * general rule. */
#define BRAMAH__OPERATIONS(X)                                                                                \
  X(NUMBER, 0)                                                                                               \
  X(INPUT, 0)                                                                                                \
  X(ADD, 2)                                                                                                  \
  X(SUB, 2)                                                                                                  \
  X(MUL, 2)                                                                                                  \
  X(NEG, 1)                                                                                                  \
  X(INV, 1)                                                                                                  \
  X(SQRT, 1)                                                                                                 \
  X(SIN, 1)                                                                                                  \
  X(COS, 1)                                                                                                  \
  X(TANH, 1)                                                                                                 \
  X(EXP, 1)                                                                                                  \
  X(LOG, 1)                                                                                                  \
  X(ABS, 1)                                                                                                  \
  X(MIN, 2)                                                                                                  \
  X(MAX, 2)                                                                                                  \
  X(SELECT, 3)                                                                                               \
  X(SLOPE, 3)                                                                                                \
  X(ATAN2, 2)

#define BRAMAH__OPERATION_NAME(name, arity) BRAMAH__OP_##name,
typedef enum bramah__operation {
  BRAMAH__OPERATIONS(BRAMAH__OPERATION_NAME) BRAMAH__N_OPERATIONS
} bramah__operation;

typedef struct bramah__node {
  uint8_t operation;
  uint8_t rate; /* how often it changes: as often as the fastest of its arguments, of an input as it says */
  uint32_t arg[3]; /* nodes; of an input arg[0] is its number */
  double value;    /* of a number */
} bramah__node;

/* Number of arguments of an operation. */
extern const uint8_t bramah__arity[BRAMAH__N_OPERATIONS];

/* A graph allocates while it is built; memory that fails leaves `failed` set, and expressions of no meaning. */
bramah__graph *bramah__graph_new(void);
void bramah__graph_free(bramah__graph *graph);
int bramah__graph_failed(const bramah__graph *graph);
void bramah__graph_fail(bramah__graph *graph);

/* Its nodes, in the order they were made: arguments come before what is made of them. They move when nodes are added. */
size_t bramah__graph_size(const bramah__graph *graph);
const bramah__node *bramah__graph_nodes(const bramah__graph *graph);
size_t bramah__graph_n_inputs(const bramah__graph *graph);

/* A new input, numbered from 0. */
bramah__expr bramah__graph_input(bramah__graph *graph, int rate);

/* Values [size] of all nodes for those of the inputs [n_inputs]. */
void bramah__graph_evaluate(const bramah__graph *graph, const double *input, double *value);

/* The node of an expression of this graph, also of a number. */
uint32_t bramah__graph_node(bramah__graph *graph, bramah__expr x);

/* An operation on expressions of one graph; arguments that it does not have are ignored. */
bramah__expr bramah__expr_make(bramah__operation operation, const bramah__expr *a, const bramah__expr *b,
                               const bramah__expr *c);

/* The number in front of x, which becomes what is left: x = s y; 1 where there is none. */
double bramah__expr_factor(bramah__expr *x);

/* df [n] = derivatives of f [n] as `at` [n_seeds] move along `along`. Seeds may lie on any nodes, whose own arguments
 * are then not looked at: a node held fast moves along 0. Seeds on numbers have no effect. */
void bramah__derive(bramah__graph *graph, size_t n_seeds, const bramah__expr *at, const bramah__expr *along,
                    size_t n, const bramah__expr *f, bramah__expr *df);

/* f [n] with other expressions in place of the inputs `from` [n_inputs]. */
void bramah__substitute(bramah__graph *graph, size_t n_inputs, const bramah__expr *from,
                        const bramah__expr *to, size_t n, bramah__expr *f);

/* Room for a sweep over the nodes there are, which the graph keeps: sets of nodes, a bit each, empty and to be left so, and
 * an expression for each node. NULL where memory fails. */
typedef struct bramah__node_sweep {
  size_t room;
  uint64_t *needed, *given, *moved;
  bramah__expr *to;
} bramah__node_sweep;
bramah__node_sweep *bramah__graph_sweep(bramah__graph *graph);

static inline void bramah__mark_node(uint64_t *set, uint32_t i) { set[i / 64] |= (uint64_t)1 << i % 64; }
static inline int bramah__node_marked(const uint64_t *set, uint32_t i)
{
  return (int)(set[i / 64] >> i % 64 & 1);
}

/* ---- short names for formulas ---- */

static inline bramah__expr e_number(double value) { return (bramah__expr){.graph = NULL, .value = value}; }
static inline bramah__expr e_variable(double value) { return (bramah__expr){.value = value, .slope = 1.0}; }

static inline int e_is_number(bramah__expr x) { return x.graph == NULL; }
static inline int e_is(bramah__expr x, double value)
{
  return x.graph == NULL && x.value == value && x.slope == 0.0;
}

/* Value of one operation. */
static inline double bramah__operate(bramah__operation operation, double a, double b, double c)
{
  double s, k;
  switch (operation) {
  case BRAMAH__OP_ADD:
    return a + b;
  case BRAMAH__OP_SUB:
    return a - b;
  case BRAMAH__OP_MUL:
    return a * b;
  case BRAMAH__OP_NEG:
    return -a;
  case BRAMAH__OP_INV:
    return 1.0 / a;
  case BRAMAH__OP_SQRT:
    return sqrt(a);
  case BRAMAH__OP_SIN:
    bramah__sincos(a, &s, &k);
    return s;
  case BRAMAH__OP_COS:
    bramah__sincos(a, &s, &k);
    return k;
  case BRAMAH__OP_TANH:
    return bramah__tanh(a);
  case BRAMAH__OP_EXP:
    return bramah__exp(a);
  case BRAMAH__OP_LOG:
    return bramah__log(a);
  case BRAMAH__OP_ABS:
    return fabs(a);
  case BRAMAH__OP_MIN:
    return a < b ? a : b;
  case BRAMAH__OP_MAX:
    return a > b ? a : b;
  case BRAMAH__OP_SELECT:
    return a > 0.0 ? b : c;
  case BRAMAH__OP_ATAN2:
    return bramah__atan2(a, b);
  default:
    return a;
  }
}

/* Nothing of what does not vary, also where the factor is infinite. */
static inline double bramah__varied(double factor, double slope)
{
  return slope == 0.0 ? 0.0 : factor * slope;
}

/* Slope of x, one operation on numbers; at kinks that of derive.c. */
static inline double bramah__slope(bramah__operation operation, double x, bramah__expr a, bramah__expr b,
                                   bramah__expr c)
{
  switch (operation) {
  case BRAMAH__OP_ADD:
    return a.slope + b.slope;
  case BRAMAH__OP_SUB:
    return a.slope - b.slope;
  case BRAMAH__OP_MUL:
    return bramah__varied(b.value, a.slope) + bramah__varied(a.value, b.slope);
  case BRAMAH__OP_NEG:
    return -a.slope;
  case BRAMAH__OP_INV:
    return -bramah__varied(x * x, a.slope);
  case BRAMAH__OP_SQRT:
    return bramah__varied(0.5 / x, a.slope);
  case BRAMAH__OP_SIN:
    return bramah__varied(bramah__operate(BRAMAH__OP_COS, a.value, 0.0, 0.0), a.slope);
  case BRAMAH__OP_COS:
    return -bramah__varied(bramah__operate(BRAMAH__OP_SIN, a.value, 0.0, 0.0), a.slope);
  case BRAMAH__OP_TANH:
    return bramah__varied(1.0 - x * x, a.slope);
  case BRAMAH__OP_EXP:
    return bramah__varied(x, a.slope);
  case BRAMAH__OP_LOG:
    return bramah__varied(1.0 / a.value, a.slope);
  case BRAMAH__OP_ABS:
    return a.value > 0.0 ? a.slope : -a.slope;
  case BRAMAH__OP_MIN:
    return a.value < b.value ? a.slope : b.slope;
  case BRAMAH__OP_MAX:
    return a.value > b.value ? a.slope : b.slope;
  case BRAMAH__OP_SELECT:
    return a.value > 0.0 ? b.slope : c.slope;
  case BRAMAH__OP_SLOPE:
    return bramah__varied(c.value, b.slope);
  case BRAMAH__OP_ATAN2:
    return (b.value * a.slope - a.value * b.slope) / (a.value * a.value + b.value * b.value);
  default:
    return 0.0;
  }
}

static inline bramah__expr bramah__of_numbers(bramah__operation operation, bramah__expr a, bramah__expr b,
                                              bramah__expr c)
{
  const double x = bramah__operate(operation, a.value, b.value, c.value);
  return (bramah__expr){.value = x, .slope = bramah__slope(operation, x, a, b, c)};
}

/* 1 in files whose equations are called with numbers in every step, defined before this header: numbers are computed in
 * place there, at the price of more code. */
#ifndef BRAMAH__NUMBERS_IN_PLACE
#define BRAMAH__NUMBERS_IN_PLACE 0
#endif

#define BRAMAH__UNARY(name, operation)                                                                       \
  static inline bramah__expr name(bramah__expr a)                                                            \
  {                                                                                                          \
    if (BRAMAH__NUMBERS_IN_PLACE && !a.graph) return bramah__of_numbers(BRAMAH__OP_##operation, a, a, a);    \
    return bramah__expr_make(BRAMAH__OP_##operation, &a, &a, &a);                                            \
  }
#define BRAMAH__BINARY(name, operation)                                                                      \
  static inline bramah__expr name(bramah__expr a, bramah__expr b)                                            \
  {                                                                                                          \
    if (BRAMAH__NUMBERS_IN_PLACE && !a.graph && !b.graph)                                                    \
      return bramah__of_numbers(BRAMAH__OP_##operation, a, b, b);                                            \
    return bramah__expr_make(BRAMAH__OP_##operation, &a, &b, &b);                                            \
  }
BRAMAH__BINARY(e_add, ADD)
BRAMAH__BINARY(e_sub, SUB)
BRAMAH__BINARY(e_mul, MUL)
BRAMAH__BINARY(e_min, MIN)
BRAMAH__BINARY(e_max, MAX)
BRAMAH__BINARY(e_atan2, ATAN2)
BRAMAH__UNARY(e_neg, NEG)
BRAMAH__UNARY(e_inv, INV)
BRAMAH__UNARY(e_sqrt, SQRT)
BRAMAH__UNARY(e_abs, ABS)
BRAMAH__UNARY(e_sin, SIN)
BRAMAH__UNARY(e_cos, COS)
BRAMAH__UNARY(e_tanh, TANH)
BRAMAH__UNARY(e_exp, EXP)
BRAMAH__UNARY(e_log, LOG)

static inline bramah__expr e_div(bramah__expr a, bramah__expr b) { return e_mul(a, e_inv(b)); }
static inline bramah__expr e_scale(double s, bramah__expr a) { return e_mul(e_number(s), a); }
static inline bramah__expr e_square(bramah__expr a) { return e_mul(a, a); }

/* a where c > 0, else b */
static inline bramah__expr e_select(bramah__expr c, bramah__expr a, bramah__expr b)
{
  if (BRAMAH__NUMBERS_IN_PLACE && !c.graph) return c.value > 0.0 ? a : b;
  return bramah__expr_make(BRAMAH__OP_SELECT, &c, &a, &b);
}

/* Is it known that a select would not take what c > 0 stands for? An equation called with numbers leaves that out. */
static inline int e_excludes(bramah__expr c) { return !c.graph && !(c.value > 0.0); }

/* f with the slope s by x */
static inline bramah__expr e_with_slope(bramah__expr f, bramah__expr x, bramah__expr s)
{
  if (BRAMAH__NUMBERS_IN_PLACE && !f.graph && !x.graph && !s.graph)
    return bramah__of_numbers(BRAMAH__OP_SLOPE, f, x, s);
  return bramah__expr_make(BRAMAH__OP_SLOPE, &f, &x, &s);
}

/* |size| with the sign of x, + where x = 0 */
static inline bramah__expr e_signed(bramah__expr size, bramah__expr x)
{
  return e_select(e_neg(x), e_neg(size), size);
}

/* x^exponent for x >= 0, at 0 that of 1e-300. Error 3 + 4 |log of it| 2^-53. */
static inline bramah__expr e_power(bramah__expr x, double exponent)
{
  const bramah__expr base = e_max(x, e_number(1e-300));
  return exponent == 0.5 ? e_sqrt(base) : e_exp(e_scale(exponent, e_log(base)));
}

/* a.b of n components with strides, and y + s x */
static inline bramah__expr e_sum_products(size_t n, const bramah__expr *a, size_t step_a,
                                          const bramah__expr *b, size_t step_b)
{
  bramah__expr sum = {0};
  for (size_t i = 0; i < n; i++) sum = e_add(sum, e_mul(a[i * step_a], b[i * step_b]));
  return sum;
}

#endif
