/* SPDX-License-Identifier: MIT */
#include "lib/graph/expr.h"
#include "lib/math/elementary.h"

#include <stdlib.h>

struct bramah__graph {
  bramah__node *node;
  size_t n, room;
  uint32_t *table; /* [2^bits] hash table of nodes, 1 + number; 0: empty */
  unsigned bits;
  size_t n_inputs;
  int failed;
  bramah__node_sweep sweep;
};

#define ARITY(name, arity) arity,
const uint8_t bramah__arity[BRAMAH__N_OPERATIONS] = {BRAMAH__OPERATIONS(ARITY)};

/* ---- the graph ---- */

bramah__graph *bramah__graph_new(void)
{
  bramah__graph *graph = calloc(1, sizeof *graph);
  if (!graph) return NULL;
  graph->bits = 12;
  graph->room = 1024;
  graph->table = calloc((size_t)1 << graph->bits, sizeof *graph->table);
  graph->node = calloc(graph->room, sizeof *graph->node);
  graph->failed = !graph->table || !graph->node;
  return graph;
}

void bramah__graph_free(bramah__graph *graph)
{
  if (!graph) return;
  free(graph->node);
  free(graph->table);
  free(graph->sweep.needed);
  free(graph->sweep.to);
  free(graph);
}

int bramah__graph_failed(const bramah__graph *graph) { return graph->failed; }
void bramah__graph_fail(bramah__graph *graph) { graph->failed = 1; }
size_t bramah__graph_size(const bramah__graph *graph) { return graph->n; }
const bramah__node *bramah__graph_nodes(const bramah__graph *graph) { return graph->node; }
size_t bramah__graph_n_inputs(const bramah__graph *graph) { return graph->n_inputs; }

static uint32_t hash_of(const bramah__node *node)
{
  uint64_t h = node->operation + (uint64_t)0x9e3779b97f4a7c15u * (bramah__bits(node->value) + 1);
  for (int i = 0; i < 3; i++) h = (h ^ node->arg[i] ^ (h >> 29)) * 0xbf58476d1ce4e5b9u;
  return (uint32_t)(h >> 32);
}

static int same(const bramah__node *a, const bramah__node *b)
{
  return a->operation == b->operation && a->arg[0] == b->arg[0] && a->arg[1] == b->arg[1] &&
         a->arg[2] == b->arg[2] && bramah__bits(a->value) == bramah__bits(b->value);
}

/* Where this node is in the table, or the empty place where it would be. */
static uint32_t *place_of(const bramah__graph *graph, const bramah__node *node)
{
  const uint32_t mask = ((uint32_t)1 << graph->bits) - 1;
  uint32_t at = hash_of(node) & mask;
  while (graph->table[at] && !same(&graph->node[graph->table[at] - 1], node)) at = (at + 1) & mask;
  return &graph->table[at];
}

/* Twice the room, and a table that is at most half full. */
static void grow(bramah__graph *graph)
{
  bramah__node *node = realloc(graph->node, 2 * graph->room * sizeof *node);
  uint32_t *table = calloc((size_t)2 << graph->bits, sizeof *table);
  if (node) graph->node = node;
  if (!node || !table) {
    free(table);
    graph->failed = 1;
    return;
  }
  graph->room *= 2;
  free(graph->table);
  graph->table = table;
  graph->bits++;
  for (size_t i = 0; i < graph->n; i++) *place_of(graph, &graph->node[i]) = (uint32_t)i + 1;
}

static bramah__expr intern(bramah__graph *graph, bramah__node node)
{
  if (graph->failed) return e_number(1.0);
  if (graph->n == graph->room) grow(graph);
  if (graph->failed) return e_number(1.0);
  for (int i = 0; i < bramah__arity[node.operation]; i++) {
    const uint8_t rate = graph->node[node.arg[i]].rate;
    if (rate > node.rate) node.rate = rate;
  }
  uint32_t *place = place_of(graph, &node);
  if (!*place) {
    graph->node[graph->n++] = node;
    *place = (uint32_t)graph->n;
  }
  return (bramah__expr){.graph = graph, .node = *place - 1};
}

bramah__expr bramah__graph_input(bramah__graph *graph, int rate)
{
  return intern(graph, (bramah__node){.operation = BRAMAH__OP_INPUT,
                                      .rate = (uint8_t)rate,
                                      .arg = {(uint32_t)graph->n_inputs++}});
}

/* Never -0, which would be another number than 0 to all that follows. */
uint32_t bramah__graph_node(bramah__graph *graph, bramah__expr x)
{
  if (x.graph) return x.node;
  return intern(graph, (bramah__node){.operation = BRAMAH__OP_NUMBER, .value = x.value + 0.0}).node;
}

bramah__node_sweep *bramah__graph_sweep(bramah__graph *graph)
{
  bramah__node_sweep *sweep = &graph->sweep;
  if (graph->failed) return NULL;
  if (sweep->room >= graph->n) return sweep;
  const size_t room = 2 * graph->n, words = room / 64 + 1;
  free(sweep->needed);
  free(sweep->to);
  *sweep = (bramah__node_sweep){.room = room,
                                .needed = calloc(3 * words, sizeof *sweep->needed),
                                .to = malloc(room * sizeof *sweep->to)};
  if (!sweep->needed || !sweep->to) {
    graph->failed = 1;
    return NULL;
  }
  sweep->given = sweep->needed + words;
  sweep->moved = sweep->given + words;
  return sweep;
}

/* ---- values ---- */

void bramah__graph_evaluate(const bramah__graph *graph, const double *input, double *value)
{
  for (size_t i = 0; i < graph->n; i++) {
    const bramah__node *node = &graph->node[i];
    if (node->operation == BRAMAH__OP_NUMBER)
      value[i] = node->value;
    else if (node->operation == BRAMAH__OP_INPUT)
      value[i] = input[node->arg[0]];
    else
      value[i] = bramah__operate((bramah__operation)node->operation, value[node->arg[0]], value[node->arg[1]],
                                 value[node->arg[2]]);
  }
}

/* ---- folding ---- */

static bramah__node node_of(bramah__expr x)
{
  return x.graph ? x.graph->node[x.node] : (bramah__node){.operation = BRAMAH__OP_NUMBER, .value = x.value};
}

/* Argument i of x if x is that operation; *is says so. */
static bramah__expr argument(bramah__expr x, bramah__operation operation, int i, int *is)
{
  const bramah__node node = node_of(x);
  *is = node.operation == operation;
  if (!*is) return x;
  const uint32_t arg = node.arg[i];
  if (x.graph->node[arg].operation == BRAMAH__OP_NUMBER) return e_number(x.graph->node[arg].value);
  return (bramah__expr){.graph = x.graph, .node = arg};
}

static int equal(bramah__expr a, bramah__expr b)
{
  if (!a.graph || !b.graph)
    return a.graph == b.graph && bramah__bits(a.value + 0.0) == bramah__bits(b.value + 0.0);
  return a.node == b.node;
}

/* Simplify; each returns 1 and the result if there is anything to. */
#define GIVE(value) return *out = (value), 1

static int fold_sum(bramah__operation operation, bramah__expr a, bramah__expr b, bramah__expr *out)
{
  const int add = operation == BRAMAH__OP_ADD;
  int is;
  bramah__expr x;
  if (!add && equal(a, b)) GIVE(e_number(0.0));
  if (e_is(b, 0.0)) GIVE(a);
  if (e_is(a, 0.0)) GIVE(add ? b : e_neg(b));
  x = argument(b, BRAMAH__OP_NEG, 0, &is);
  if (is) GIVE(add ? e_sub(a, x) : e_add(a, x));
  x = argument(a, BRAMAH__OP_NEG, 0, &is);
  if (is) GIVE(add ? e_sub(b, x) : e_neg(e_add(x, b)));
  return 0;
}

double bramah__expr_factor(bramah__expr *x)
{
  int is;
  const bramah__expr negative = argument(*x, BRAMAH__OP_NEG, 0, &is);
  if (is) return *x = negative, -1.0;
  const bramah__expr s = argument(*x, BRAMAH__OP_MUL, 0, &is);
  if (!is || !e_is_number(s)) return 1.0;
  *x = argument(*x, BRAMAH__OP_MUL, 1, &is);
  return s.value;
}

static int fold_product(bramah__expr a, bramah__expr b, bramah__expr *out)
{
  int is;
  bramah__expr x;
  if (e_is_number(b)) GIVE(e_mul(b, a));
  if (e_is(a, 0.0)) GIVE(e_number(0.0));
  if (e_is(a, 1.0)) GIVE(b);
  if (e_is(a, -1.0)) GIVE(e_neg(b));
  x = argument(b, BRAMAH__OP_NEG, 0, &is);
  if (is) GIVE(e_is_number(a) ? e_scale(-a.value, x) : e_neg(e_mul(a, x)));
  x = argument(a, BRAMAH__OP_NEG, 0, &is);
  if (is) GIVE(e_neg(e_mul(x, b)));
  if (!e_is_number(a)) return 0;
  x = b;
  const double s = bramah__expr_factor(&x);
  if (s != 1.0) GIVE(e_scale(a.value * s, x));
  return 0;
}

static int fold_negative(bramah__expr a, bramah__expr *out)
{
  int is;
  bramah__expr x = argument(a, BRAMAH__OP_NEG, 0, &is);
  if (is) GIVE(x);
  x = argument(a, BRAMAH__OP_SUB, 0, &is);
  if (is) GIVE(e_sub(argument(a, BRAMAH__OP_SUB, 1, &is), x));
  x = a;
  const double s = bramah__expr_factor(&x);
  if (s != 1.0) GIVE(e_scale(-s, x));
  return 0;
}

static int fold(bramah__operation operation, bramah__expr a, bramah__expr b, bramah__expr c,
                bramah__expr *out)
{
  int is;
  bramah__expr x;
  switch (operation) {
  case BRAMAH__OP_ADD:
  case BRAMAH__OP_SUB:
    return fold_sum(operation, a, b, out);
  case BRAMAH__OP_MUL:
    return fold_product(a, b, out);
  case BRAMAH__OP_NEG:
    return fold_negative(a, out);
  case BRAMAH__OP_INV:
    x = argument(a, BRAMAH__OP_INV, 0, &is);
    if (is) GIVE(x);
    return 0;
  case BRAMAH__OP_ABS:
    x = argument(a, BRAMAH__OP_NEG, 0, &is);
    if (is) GIVE(e_abs(x));
    return 0;
  case BRAMAH__OP_MIN:
  case BRAMAH__OP_MAX:
    if (equal(a, b)) GIVE(a);
    return 0;
  case BRAMAH__OP_SELECT:
    if (e_is_number(a)) GIVE(a.value > 0.0 ? b : c);
    if (equal(b, c)) GIVE(b);
    return 0;
  case BRAMAH__OP_SLOPE:
    if (e_is_number(a) || e_is_number(b)) GIVE(a);
    return 0;
  default:
    return 0;
  }
}
#undef GIVE

bramah__expr bramah__expr_make(bramah__operation operation, const bramah__expr *pa, const bramah__expr *pb,
                               const bramah__expr *pc)
{
  const bramah__expr a = *pa, b = *pb, c = *pc;
  const int arity = bramah__arity[operation];
  const int numbers = e_is_number(a) && (arity < 2 || e_is_number(b)) && (arity < 3 || e_is_number(c));
  if (numbers) return bramah__of_numbers(operation, a, b, c);
  bramah__expr out;
  if (fold(operation, a, b, c, &out)) return out;
  bramah__graph *graph = a.graph ? a.graph : arity > 1 && b.graph ? b.graph : c.graph;
  if (graph->failed) return e_number(1.0);
  bramah__node node = {.operation = (uint8_t)operation, .arg = {bramah__graph_node(graph, a)}};
  if (arity > 1) node.arg[1] = bramah__graph_node(graph, b);
  if (arity > 2) node.arg[2] = bramah__graph_node(graph, c);
  const int commutes = operation == BRAMAH__OP_ADD || (operation == BRAMAH__OP_MUL && !e_is_number(a));
  if (commutes && node.arg[0] > node.arg[1]) {
    const uint32_t swap = node.arg[0];
    node.arg[0] = node.arg[1];
    node.arg[1] = swap;
  }
  return intern(graph, node);
}
