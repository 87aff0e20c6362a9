/* SPDX-License-Identifier: MIT */
/* Forward derivatives and substitution on a graph: from inputs to results, node by node in the order they were made. */
#include "lib/graph/expr.h"

#include <string.h>

static bramah__expr expression(bramah__graph *graph, uint32_t i)
{
  const bramah__node *node = &bramah__graph_nodes(graph)[i];
  return node->operation == BRAMAH__OP_NUMBER ? e_number(node->value)
                                              : (bramah__expr){.graph = graph, .node = i};
}

/* Derivative of x = node `i` from those of its arguments that have one. */
static bramah__expr differentiate(bramah__graph *graph, uint32_t i, const bramah__node_sweep *sweep)
{
  const bramah__node node = bramah__graph_nodes(graph)[i]; /* a copy: nodes move as others are made */
  bramah__expr arg[3] = {{0}}, da[3] = {{0}};
  for (int k = 0; k < bramah__arity[node.operation]; k++) {
    arg[k] = expression(graph, node.arg[k]);
    if (bramah__node_marked(sweep->moved, node.arg[k])) da[k] = sweep->to[node.arg[k]];
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
  case BRAMAH__OP_ATAN2:
    return e_div(e_sub(e_mul(arg[1], da[0]), e_mul(arg[0], da[1])),
                 e_add(e_square(arg[0]), e_square(arg[1])));
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

/* Node i made anew of what its arguments have become. */
static bramah__expr rebuild(bramah__graph *graph, uint32_t i, const bramah__node_sweep *sweep)
{
  const bramah__node node = bramah__graph_nodes(graph)[i];
  bramah__expr arg[3] = {{0}};
  for (int k = 0; k < bramah__arity[node.operation]; k++)
    arg[k] = bramah__node_marked(sweep->moved, node.arg[k]) ? sweep->to[node.arg[k]]
                                                            : expression(graph, node.arg[k]);
  return bramah__expr_make((bramah__operation)node.operation, &arg[0], &arg[1], &arg[2]);
}

/* All that f [n] is made of, down to the nodes at[], becomes needed. */
static void need(const bramah__graph *graph, const bramah__node_sweep *sweep, size_t size, size_t n,
                 const bramah__expr *f)
{
  const bramah__node *node = bramah__graph_nodes(graph);
  for (size_t i = 0; i < n; i++)
    if (f[i].graph) bramah__mark_node(sweep->needed, f[i].node);
  for (size_t w = size / 64 + 1; w-- > 0;)
    for (uint32_t bit = sweep->needed[w] ? 64 : 0; bit-- > 0;) {
      const uint32_t i = (uint32_t)(64 * w) + bit;
      if (!(sweep->needed[w] >> bit & 1) || bramah__node_marked(sweep->given, i)) continue;
      for (int k = 0; k < bramah__arity[node[i].operation]; k++)
        bramah__mark_node(sweep->needed, node[i].arg[k]);
    }
}

static int depends_on_moved(const bramah__graph *graph, const bramah__node_sweep *sweep, uint32_t i)
{
  const bramah__node *node = &bramah__graph_nodes(graph)[i];
  for (int k = 0; k < bramah__arity[node->operation]; k++)
    if (bramah__node_marked(sweep->moved, node->arg[k])) return 1;
  return 0;
}

/* Visit what f [n] is made of and what moves as the nodes at [n_given] become given [n_given], with one of the two above; to [n]
 * gets what f has become where it moves. */
static void visit_all(bramah__graph *graph,
                      bramah__expr (*visit)(bramah__graph *, uint32_t, const bramah__node_sweep *),
                      size_t n_given, const bramah__expr *at, const bramah__expr *given, size_t n,
                      const bramah__expr *f, bramah__expr *to)
{
  const size_t size = bramah__graph_size(graph);
  bramah__node_sweep *sweep = bramah__graph_sweep(graph);
  if (!sweep) return;
  for (size_t i = 0; i < n_given; i++) {
    if (!at[i].graph) continue;
    sweep->to[at[i].node] = given[i];
    bramah__mark_node(sweep->given, at[i].node);
    if (given[i].graph || given[i].value != 0.0 || visit == rebuild)
      bramah__mark_node(sweep->moved, at[i].node);
  }
  need(graph, sweep, size, n, f);
  for (size_t w = 0; w <= size / 64; w++)
    for (uint32_t bit = 0; bit < 64 && sweep->needed[w] >> bit; bit++) {
      const uint32_t i = (uint32_t)(64 * w) + bit;
      if (!(sweep->needed[w] >> bit & 1) || bramah__node_marked(sweep->given, i) ||
          !depends_on_moved(graph, sweep, i))
        continue;
      const bramah__expr became = sweep->to[i] = visit(graph, i, sweep);
      const int stays = visit == rebuild ? became.graph && became.node == i : e_is(became, 0.0);
      if (!stays) bramah__mark_node(sweep->moved, i);
    }
  for (size_t i = 0; i < n; i++)
    if (f[i].graph && bramah__node_marked(sweep->moved, f[i].node)) to[i] = sweep->to[f[i].node];
  const size_t bytes = (size / 64 + 1) * sizeof *sweep->needed;
  memset(sweep->needed, 0, bytes);
  memset(sweep->given, 0, bytes);
  memset(sweep->moved, 0, bytes);
}

void bramah__derive(bramah__graph *graph, size_t n_seeds, const bramah__expr *at, const bramah__expr *along,
                    size_t n, const bramah__expr *f, bramah__expr *df)
{
  for (size_t i = 0; i < n; i++) df[i] = e_number(0.0);
  visit_all(graph, differentiate, n_seeds, at, along, n, f, df);
}

void bramah__substitute(bramah__graph *graph, size_t n_inputs, const bramah__expr *from,
                        const bramah__expr *to, size_t n, bramah__expr *f)
{
  visit_all(graph, rebuild, n_inputs, from, to, n, f, f);
}
