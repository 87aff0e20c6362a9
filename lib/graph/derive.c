/* SPDX-License-Identifier: MIT */
/* Forward derivatives and substitution on a graph: from inputs to results, node by node in the order they were made. */
#include "lib/graph/expr.h"

#include <stdlib.h>

enum { UNUSED = 0, NEEDED = 1, SEEDED = 2 };

static bramah__expr expression(bramah__graph *graph, uint32_t i)
{
  const bramah__node *node = &bramah__graph_nodes(graph)[i];
  return node->operation == BRAMAH__OP_NUMBER ? e_number(node->value)
                                              : (bramah__expr){.graph = graph, .node = i};
}

/* Derivative of x = node `i` from those of its arguments. */
static bramah__expr differentiate(bramah__graph *graph, uint32_t i, const bramah__expr *d)
{
  const bramah__node node = bramah__graph_nodes(graph)[i]; /* a copy: nodes move as others are made */
  const int arity = bramah__arity[node.operation];
  const bramah__expr x = {.graph = graph, .node = i}, zero = {0};
  bramah__expr arg[3], da[3];
  int moves = 0;
  for (int k = 0; k < arity; k++) {
    da[k] = d[node.arg[k]];
    moves |= !e_is(da[k], 0.0);
  }
  if (!moves) return zero;
  for (int k = 0; k < arity; k++) arg[k] = expression(graph, node.arg[k]);
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

/* Node i made anew of what its arguments have become; itself where nothing has changed. */
static bramah__expr rebuild(bramah__graph *graph, uint32_t i, const bramah__expr *d)
{
  const bramah__node node = bramah__graph_nodes(graph)[i];
  bramah__expr arg[3] = {{0}};
  int changed = 0;
  for (int k = 0; k < bramah__arity[node.operation]; k++) {
    arg[k] = d[node.arg[k]];
    changed |= !arg[k].graph || arg[k].node != node.arg[k];
  }
  return changed ? bramah__expr_make((bramah__operation)node.operation, &arg[0], &arg[1], &arg[2])
                 : expression(graph, i);
}

/* Visit what f [n] is made of, down to the seeds, with one of the two above; to [n] gets what f has become. */
static void sweep(bramah__graph *graph,
                  bramah__expr (*visit)(bramah__graph *, uint32_t, const bramah__expr *), size_t n_seeds,
                  const bramah__expr *at, const bramah__expr *along, size_t n, const bramah__expr *f,
                  bramah__expr *to)
{
  const size_t size = bramah__graph_size(graph);
  unsigned char *state = calloc(size + 1, 1);
  bramah__expr *d = malloc((size + 1) * sizeof *d); /* of nodes that are marked */
  if (!state || !d) bramah__graph_fail(graph);
  if (!bramah__graph_failed(graph)) {
    for (size_t i = 0; i < n_seeds; i++)
      if (at[i].graph) state[at[i].node] = SEEDED, d[at[i].node] = along[i];
    for (size_t i = 0; i < n; i++)
      if (f[i].graph) state[f[i].node] |= NEEDED;
    for (size_t i = size; (i = bramah__last_marked(state, i)) < size;) {
      const bramah__node *node = &bramah__graph_nodes(graph)[i];
      if (state[i] != NEEDED) continue;
      for (int k = 0; k < bramah__arity[node->operation]; k++) state[node->arg[k]] |= NEEDED;
    }
    for (size_t i = 0; (i = bramah__next_marked(state, i, size)) < size; i++)
      if (state[i] == NEEDED) d[i] = visit(graph, (uint32_t)i, d);
    for (size_t i = 0; i < n; i++)
      if (f[i].graph) to[i] = d[f[i].node];
  }
  free(state);
  free(d);
}

void bramah__derive(bramah__graph *graph, size_t n_seeds, const bramah__expr *at, const bramah__expr *along,
                    size_t n, const bramah__expr *f, bramah__expr *df)
{
  for (size_t i = 0; i < n; i++) df[i] = e_number(0.0);
  sweep(graph, differentiate, n_seeds, at, along, n, f, df);
}

void bramah__substitute(bramah__graph *graph, size_t n_inputs, const bramah__expr *from,
                        const bramah__expr *to, size_t n, bramah__expr *f)
{
  sweep(graph, rebuild, n_inputs, from, to, n, f, f);
}
