/* SPDX-License-Identifier: MIT */
/* Forward derivatives on a graph: from the seeds to the results, node by node in the order they were made. */
#include "lib/graph/expr.h"

#include <stdlib.h>

enum { UNUSED = 0, NEEDED = 1, SEEDED = 2 };

/* Derivative of x = node `i` from those of its arguments. */
static bramah__expr differentiate(bramah__graph *graph, uint32_t i, const bramah__expr *d)
{
  const bramah__node node = bramah__graph_nodes(graph)[i]; /* a copy: nodes move as others are made */
  const bramah__node *nodes = bramah__graph_nodes(graph);
  bramah__expr arg[3], da[3];
  for (int k = 0; k < bramah__arity[node.operation]; k++) {
    const bramah__node *of = &nodes[node.arg[k]];
    arg[k] = of->operation == BRAMAH__OP_NUMBER ? e_number(of->value)
                                                : (bramah__expr){.graph = graph, .node = node.arg[k]};
    da[k] = d[node.arg[k]];
  }
  const bramah__expr x = {.graph = graph, .node = i}, zero = {0};
  switch ((bramah__operation)node.operation) {
  case BRAMAH__OP_ADD:
    return e_add(da[0], da[1]);
  case BRAMAH__OP_SUB:
    return e_sub(da[0], da[1]);
  case BRAMAH__OP_MUL:
    return e_add(e_mul(da[0], arg[1]), e_mul(arg[0], da[1]));
  case BRAMAH__OP_NEG:
    return e_neg(da[0]);
  case BRAMAH__OP_SELECT:
    return e_select(arg[0], da[1], da[2]);
  case BRAMAH__OP_MIN:
    return e_select(e_sub(arg[1], arg[0]), da[0], da[1]);
  case BRAMAH__OP_MAX:
    return e_select(e_sub(arg[0], arg[1]), da[0], da[1]);
  case BRAMAH__OP_SLOPE:
    return e_is(da[1], 0.0) ? zero : e_mul(arg[2], da[1]);
  default:
    break;
  }
  if (e_is(da[0], 0.0)) return zero;
  switch ((bramah__operation)node.operation) {
  case BRAMAH__OP_INV:
    return e_neg(e_mul(e_square(x), da[0]));
  case BRAMAH__OP_SQRT:
    return e_mul(e_scale(0.5, e_inv(x)), da[0]);
  case BRAMAH__OP_SIN:
    return e_mul(e_cos(arg[0]), da[0]);
  case BRAMAH__OP_COS:
    return e_neg(e_mul(e_sin(arg[0]), da[0]));
  case BRAMAH__OP_TANH:
    return e_mul(e_sub(e_number(1.0), e_square(x)), da[0]);
  case BRAMAH__OP_EXP:
    return e_mul(x, da[0]);
  case BRAMAH__OP_LOG:
    return e_div(da[0], arg[0]);
  case BRAMAH__OP_ABS:
    return e_select(arg[0], da[0], e_neg(da[0]));
  default:
    return zero;
  }
}

void bramah__derive(bramah__graph *graph, size_t n_seeds, const bramah__expr *at, const bramah__expr *along,
                    size_t n, const bramah__expr *f, bramah__expr *df)
{
  const size_t size = bramah__graph_size(graph);
  unsigned char *state = calloc(size + 1, 1);
  bramah__expr *d = calloc(size + 1, sizeof *d);
  for (size_t i = 0; i < n; i++) df[i] = e_number(0.0);
  if (!state || !d) {
    bramah__graph_fail(graph);
  } else if (!bramah__graph_failed(graph)) {
    /* What the results are made of, down to the seeds. */
    for (size_t i = 0; i < n_seeds; i++)
      if (at[i].graph) state[at[i].node] = SEEDED, d[at[i].node] = along[i];
    for (size_t i = 0; i < n; i++)
      if (f[i].graph) state[f[i].node] |= NEEDED;
    for (size_t i = size; i-- > 0;) {
      const bramah__node *node = &bramah__graph_nodes(graph)[i];
      if (state[i] != NEEDED) continue;
      for (int k = 0; k < bramah__arity[node->operation]; k++) state[node->arg[k]] |= NEEDED;
    }
    for (size_t i = 0; i < size; i++)
      if (state[i] == NEEDED) d[i] = differentiate(graph, (uint32_t)i, d);
    for (size_t i = 0; i < n; i++)
      if (f[i].graph) df[i] = d[f[i].node];
  }
  free(state);
  free(d);
}
