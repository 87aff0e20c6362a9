/* SPDX-License-Identifier: MIT */
/* From a graph to a tape: which part computes what, in which order, on which registers. */
#include "lib/graph/tape.h"

#include <stdlib.h>
#include <string.h>

enum { NO_REGISTER = 0xffff };

/* A node that a part computes: kept where another part or the caller wants it, then in the register `home`. */
typedef struct made {
  uint32_t node, next; /* 1 + another part's entry of this node; 0: none */
  uint32_t next_here;  /* 1 + another node of the part */
  uint16_t part, home;
  int kept;
} made;

/* What a node becomes in the part at hand: an operation with up to two destinations and three operands. */
typedef struct unit {
  bramah__code code;
  uint32_t to[2], from[3]; /* nodes */
  int n_to, n_from;
} unit;

typedef struct scheduler {
  bramah__graph *graph;
  const bramah__node *node;
  size_t n, n_parts; /* nodes, parts with the two that are made here */
  const bramah__part *part;
  bramah__tape *tape;
  int failed;
  uint32_t *value; /* [n] the node itself, or what a SLOPE stands on */
  made *made;
  size_t n_made, room_made;
  uint32_t *first_made;             /* [n] 1 + the first entry of a node; 0: no part computes it */
  uint32_t *first_here;             /* [n_parts] 1 + the last entry of a part */
  uint16_t *given;                  /* [n] register of an input or number */
  uint32_t *stack;                  /* [n] */
  size_t n_words, room;             /* of tape->code */
  size_t n_here;                    /* the part at hand: */
  uint32_t *node_here;              /* [n] its nodes, ascending */
  uint64_t *mark;                   /* [n / 64 + 1] scratch of that, zero */
  uint32_t *here;                   /* [n] 1 + its entry of a node; 0: another part's or given */
  uint32_t *uses, *waits;           /* [n] how often a node is used, for how many a unit waits */
  uint32_t *unit_of;                /* [n] 1 + the unit that makes a node there; 0: another part does */
  uint16_t *at;                     /* [n] its register there */
  unit *unit;                       /* [n] */
  uint32_t *order;                  /* [n] units in the order they are run */
  uint32_t *ready;                  /* [BRAMAH__N_CODES x n] */
  uint32_t *first_user, *next_user; /* [n], [3 n] lists of the units that wait for a unit */
} scheduler;

static int parent_of(const scheduler *s, int part)
{
  if (part <= BRAMAH__PART_STEP) return part - 1;
  const int parent = s->part[part - BRAMAH__FIRST_PART].parent;
  return parent < 0 ? BRAMAH__PART_STEP : parent + BRAMAH__FIRST_PART;
}

static int is_given(const scheduler *s, uint32_t node)
{
  return s->node[node].operation == BRAMAH__OP_NUMBER || s->node[node].operation == BRAMAH__OP_INPUT;
}

/* ---- which part computes what ---- */

/* The entry of a node when `part` asks for it, its own or an ancestor's; NULL: nobody computes it yet. Entries of a node go from
 * later parts to earlier ones, as those who are asked do. */
static made *owner(const scheduler *s, int part, uint32_t node)
{
  uint32_t m = s->first_made[node];
  for (; m && part >= 0; part = parent_of(s, part)) {
    while (m && s->made[m - 1].part > part) m = s->made[m - 1].next;
    if (m && s->made[m - 1].part == part) return &s->made[m - 1];
  }
  return NULL;
}

/* A part is to compute a node. */
static made *make(scheduler *s, int part, uint32_t node)
{
  if (s->n_made == s->room_made) {
    made *more = realloc(s->made, (2 * s->room_made + 1024) * sizeof *more);
    if (!more) {
      s->failed = 1;
      return NULL;
    }
    s->made = more;
    s->room_made = 2 * s->room_made + 1024;
  }
  made *entry = &s->made[s->n_made++];
  *entry = (made){
      .node = node, .next = s->first_made[node], .next_here = s->first_here[part], .part = (uint16_t)part};
  s->first_made[node] = s->first_here[part] = (uint32_t)s->n_made;
  return entry;
}

/* Have a node computed for a part that needs it; 1 if its arguments are still to be asked for. */
static int require(scheduler *s, int part, uint32_t node)
{
  const int rate = s->node[node].rate, in = rate < part && rate <= BRAMAH__PART_STEP ? rate : part;
  made *entry = owner(s, part, node);
  const int known = entry != NULL;
  if (!known) entry = make(s, in, node);
  if (!entry) return 0;
  if (entry->part != part) entry->kept = 1;
  return !known;
}

static void collect(scheduler *s, int part, uint32_t result)
{
  /* Nodes wait on the stack together with the part that needs their arguments: by rates there are only three. */
  size_t top = 0;
  if (is_given(s, result)) return;
  if (require(s, part, result)) s->stack[top++] = result;
  while (top > 0) {
    const uint32_t at = s->stack[--top];
    const int here =
        s->node[at].rate <= BRAMAH__PART_STEP && s->node[at].rate < part ? s->node[at].rate : part;
    for (int k = 0; k < bramah__arity[s->node[at].operation]; k++) {
      const uint32_t arg = s->value[s->node[at].arg[k]];
      if (!is_given(s, arg) && require(s, here, arg)) s->stack[top++] = arg;
    }
  }
}

/* ---- registers of what stays: inputs, numbers, results, what later parts use ---- */

static void place_given(scheduler *s)
{
  bramah__tape *tape = s->tape;
  for (size_t i = 0; i < s->n; i++) {
    const bramah__node *node = &s->node[i];
    if (node->operation == BRAMAH__OP_INPUT) s->given[i] = (uint16_t)node->arg[0];
    if (node->operation != BRAMAH__OP_NUMBER) continue;
    s->given[i] = (uint16_t)(tape->n_inputs + tape->n_numbers);
    tape->number[tape->n_numbers++] = node->value;
  }
  tape->n_registers = tape->n_inputs + tape->n_numbers;
}

/* Go over to a part: its nodes in the order of the graph, and nothing known of them and their arguments. */
static void turn_to(scheduler *s, size_t part)
{
  s->n_here = 0;
  for (uint32_t m = s->first_here[part]; m; m = s->made[m - 1].next_here)
    s->mark[s->made[m - 1].node / 64] |= (uint64_t)1 << s->made[m - 1].node % 64;
  for (size_t w = 0; w <= s->n / 64; s->mark[w++] = 0)
    for (uint64_t word = s->mark[w], bit = 0; word; word >>= 1, bit++)
      if (word & 1) s->node_here[s->n_here++] = (uint32_t)(64 * w + bit);
  for (size_t k = 0; k < s->n_here; k++) {
    const uint32_t i = s->node_here[k];
    s->uses[i] = s->unit_of[i] = 0;
    for (int a = 0; a < bramah__arity[s->node[i].operation]; a++) {
      const uint32_t arg = s->value[s->node[i].arg[a]];
      s->uses[arg] = s->unit_of[arg] = s->here[arg] = 0;
    }
  }
  for (uint32_t m = s->first_here[part]; m; m = s->made[m - 1].next_here) s->here[s->made[m - 1].node] = m;
}

static void place_kept(scheduler *s)
{
  for (size_t p = 0; p < s->n_parts; p++) {
    turn_to(s, p);
    for (size_t k = 0; k < s->n_here; k++) {
      made *entry = &s->made[s->here[s->node_here[k]] - 1];
      if (entry->kept) entry->home = (uint16_t)s->tape->n_registers++;
    }
  }
}

/* ---- units of a part ---- */

static const bramah__code code_of[BRAMAH__N_OPERATIONS] = {
    [BRAMAH__OP_ADD] = BRAMAH__CODE_ADD,       [BRAMAH__OP_SUB] = BRAMAH__CODE_SUB,
    [BRAMAH__OP_MUL] = BRAMAH__CODE_MUL,       [BRAMAH__OP_NEG] = BRAMAH__CODE_NEG,
    [BRAMAH__OP_INV] = BRAMAH__CODE_INV,       [BRAMAH__OP_SQRT] = BRAMAH__CODE_SQRT,
    [BRAMAH__OP_SIN] = BRAMAH__CODE_SINCOS,    [BRAMAH__OP_COS] = BRAMAH__CODE_SINCOS,
    [BRAMAH__OP_TANH] = BRAMAH__CODE_TANH,     [BRAMAH__OP_EXP] = BRAMAH__CODE_EXP,
    [BRAMAH__OP_LOG] = BRAMAH__CODE_LOG,       [BRAMAH__OP_ABS] = BRAMAH__CODE_ABS,
    [BRAMAH__OP_MIN] = BRAMAH__CODE_MIN,       [BRAMAH__OP_MAX] = BRAMAH__CODE_MAX,
    [BRAMAH__OP_SELECT] = BRAMAH__CODE_SELECT, [BRAMAH__OP_ATAN2] = BRAMAH__CODE_ATAN2,
};

/* Does the part at hand alone want this node, which it computes? */
static int is_scratch(const scheduler *s, uint32_t node)
{
  return s->here[node] && !s->made[s->here[node] - 1].kept;
}

/* Is this a product that only one sum of this part uses? It then needs no register. */
static int is_lone_product(const scheduler *s, uint32_t node)
{
  return s->node[node].operation == BRAMAH__OP_MUL && s->uses[node] == 1 && is_scratch(s, node);
}

static void fill_unit(const scheduler *s, uint32_t i, unit *u)
{
  const bramah__node *node = &s->node[i];
  *u = (unit){.code = code_of[node->operation], .to = {i}, .n_to = 1};
  u->n_from = bramah__arity[node->operation];
  for (int k = 0; k < u->n_from; k++) u->from[k] = s->value[node->arg[k]];
  if (node->operation != BRAMAH__OP_ADD && node->operation != BRAMAH__OP_SUB) return;
  for (int k = 0; k < 2; k++) {
    const uint32_t product = u->from[k], other = u->from[1 - k];
    if (!is_lone_product(s, product)) continue;
    u->code = node->operation == BRAMAH__OP_ADD ? BRAMAH__CODE_MADD
              : k == 0                          ? BRAMAH__CODE_MSUB
                                                : BRAMAH__CODE_NMADD;
    u->n_from = 3;
    u->from[0] = s->value[s->node[product].arg[0]];
    u->from[1] = s->value[s->node[product].arg[1]];
    u->from[2] = other;
    return;
  }
}

/* The sine and cosine of one angle are one unit. */
static size_t make_units(scheduler *s)
{
  size_t n_units = 0;
  for (size_t k = 0; k < s->n_here; k++)
    for (int a = 0; a < bramah__arity[s->node[s->node_here[k]].operation]; a++)
      s->uses[s->value[s->node[s->node_here[k]].arg[a]]]++;

  /* From the results backwards: whether a product is swallowed is known before it is met. */
  for (size_t k = s->n_here; k-- > 0;) {
    const uint32_t i = s->node_here[k];
    if (s->unit_of[i]) continue;
    unit *u = &s->unit[n_units];
    fill_unit(s, i, u);
    if (u->code == BRAMAH__CODE_MADD || u->code == BRAMAH__CODE_MSUB || u->code == BRAMAH__CODE_NMADD) {
      const uint32_t *arg = s->node[i].arg;
      const uint32_t first = s->value[arg[0]];
      s->unit_of[is_lone_product(s, first) ? first : s->value[arg[1]]] = UINT32_MAX;
    }
    if (u->code == BRAMAH__CODE_SINCOS) {
      u->n_to = 2;
      u->to[0] = u->to[1] = UINT32_MAX;
      u->to[s->node[i].operation == BRAMAH__OP_COS] = i;
    }
    s->unit_of[i] = (uint32_t)++n_units;
  }

  /* Join what shares an angle: the later one in the list moves into the earlier one. */
  for (size_t k = 0; k < n_units; k++) {
    unit *u = &s->unit[k];
    if (u->code != BRAMAH__CODE_SINCOS) continue;
    for (size_t l = k + 1; l < n_units; l++) {
      unit *v = &s->unit[l];
      if (v->code != BRAMAH__CODE_SINCOS || v->from[0] != u->from[0]) continue;
      const int side = u->to[0] == UINT32_MAX ? 0 : 1;
      u->to[side] = v->to[side];
      s->unit_of[u->to[side]] = (uint32_t)k + 1;
      v->n_to = 0;
      v->code = BRAMAH__N_CODES;
    }
  }
  return n_units;
}

/* ---- their order: as many of one operation as are ready, then the operation of which most are ---- */

static size_t put_in_order(scheduler *s, size_t n_units)
{
  size_t n_ready[BRAMAH__N_CODES] = {0}, n_ordered = 0, n_links = 0;
  memset(s->first_user, 0, n_units * sizeof *s->first_user);
  for (size_t k = 0; k < n_units; k++) {
    const unit *u = &s->unit[k];
    s->waits[k] = 0;
    if (u->code == BRAMAH__N_CODES) continue;
    for (int i = 0; i < u->n_from; i++) {
      const uint32_t maker = s->unit_of[u->from[i]];
      if (!maker) continue;
      s->next_user[2 * n_links] = (uint32_t)k;
      s->next_user[2 * n_links + 1] = s->first_user[maker - 1];
      s->first_user[maker - 1] = (uint32_t)++n_links;
      s->waits[k]++;
    }
  }
  for (size_t k = n_units; k-- > 0;)
    if (s->unit[k].code != BRAMAH__N_CODES && s->waits[k] == 0)
      s->ready[(size_t)s->unit[k].code * s->n + n_ready[s->unit[k].code]++] = (uint32_t)k;
  for (size_t most = 0;;) {
    const int ends = n_ready[most] == 0;
    for (size_t code = 0; ends && code < BRAMAH__N_CODES; code++)
      if (n_ready[code] > n_ready[most]) most = code;
    if (n_ready[most] == 0) return n_ordered;
    const size_t first = n_ordered;
    memcpy(s->order + n_ordered, s->ready + most * s->n, n_ready[most] * sizeof *s->order);
    n_ordered += n_ready[most];
    n_ready[most] = 0;
    for (size_t i = first; i < n_ordered; i++)
      for (uint32_t link = s->first_user[s->order[i]]; link; link = s->next_user[2 * link - 1]) {
        const uint32_t user = s->next_user[2 * link - 2];
        const bramah__code code = s->unit[user].code;
        if (--s->waits[user] == 0) s->ready[(size_t)code * s->n + n_ready[code]++] = user;
      }
  }
}

/* ---- registers of a part, and its code ---- */

/* Of what stays. */
static uint16_t home_of(const scheduler *s, int part, uint32_t node)
{
  return is_given(s, node) ? s->given[node] : owner(s, part, node)->home;
}

static void put(scheduler *s, size_t word)
{
  if (s->n_words == s->room) {
    const size_t room = 2 * s->room + 1024;
    uint16_t *code = realloc(s->tape->code, room * sizeof *code);
    if (!code) {
      s->failed = 1;
      return;
    }
    s->tape->code = code;
    s->room = room;
  }
  s->tape->code[s->n_words++] = (uint16_t)word;
}

/* Registers that are free again wait in s->stack; `top` is the first that has never been used. */
static void write_code(scheduler *s, int part, size_t n_ordered, size_t *highest)
{
  bramah__tape_part *out = &s->tape->part[part];
  size_t top = s->tape->n_registers, n_free = 0, run = 0;
  uint32_t *left = s->waits; /* uses to come, by node */
  for (size_t i = 0; i < n_ordered; i++)
    for (int k = 0; k < s->unit[s->order[i]].n_from; k++) left[s->unit[s->order[i]].from[k]] = 0;
  for (size_t i = 0; i < n_ordered; i++)
    for (int k = 0; k < s->unit[s->order[i]].n_from; k++) left[s->unit[s->order[i]].from[k]]++;
  out->code = s->n_words;
  for (size_t i = 0; i < n_ordered; i++) {
    const unit *u = &s->unit[s->order[i]];
    uint16_t from[3], to[2];
    for (int k = 0; k < u->n_from; k++)
      from[k] = is_scratch(s, u->from[k]) ? s->at[u->from[k]] : home_of(s, part, u->from[k]);
    for (int k = 0; k < u->n_from; k++)
      if (--left[u->from[k]] == 0 && is_scratch(s, u->from[k])) s->stack[n_free++] = s->at[u->from[k]];
    for (int k = 0; k < u->n_to; k++) {
      const uint32_t node = u->to[k];
      const int known = node != UINT32_MAX;
      if (known && !is_scratch(s, node)) {
        to[k] = s->made[s->here[node] - 1].home;
        continue;
      }
      to[k] = (uint16_t)(n_free ? s->stack[--n_free] : top++);
      if (known) s->at[node] = to[k];
    }
    for (int k = 0; k < u->n_to; k++) /* nobody asks for it */
      if (u->to[k] == UINT32_MAX) s->stack[n_free++] = to[k];

    /* Another element of the run, or a new run. */
    const int same = i > 0 && s->unit[s->order[i - 1]].code == u->code;
    if (!same || s->tape->code[run + 1] == 0xffff) {
      run = s->n_words;
      put(s, u->code);
      put(s, 0);
      out->n_runs++;
    }
    if (s->failed) return;
    s->tape->code[run + 1]++;
    for (int k = 0; k < u->n_to; k++) put(s, to[k]);
    for (int k = 0; k < u->n_from; k++) put(s, from[k]);
  }
  out->n_code = s->n_words - out->code;
  out->n_operations = n_ordered;
  if (top > *highest) *highest = top;
}

/* ---- all parts ---- */

static int take_memory(scheduler *s)
{
  const size_t n = s->n + 1;
  bramah__tape *tape = s->tape;
  size_t n_results = 1;
  for (size_t p = 0; p + BRAMAH__FIRST_PART < s->n_parts; p++) n_results += s->part[p].n;
  tape->part = calloc(s->n_parts, sizeof *tape->part);
  tape->number = calloc(n, sizeof *tape->number);
  tape->result = calloc(n_results, sizeof *tape->result);
  tape->native = calloc(BRAMAH__N_WIDTHS * s->n_parts, sizeof *tape->native);
  s->first_made = calloc(n, sizeof *s->first_made);
  s->first_here = calloc(s->n_parts, sizeof *s->first_here);
  s->mark = calloc(n / 64 + 1, sizeof *s->mark);

  /* these are filled before they are read */
  s->value = malloc(n * sizeof *s->value);
  s->given = malloc(n * sizeof *s->given);
  s->node_here = malloc(n * sizeof *s->node_here);
  s->here = malloc(n * sizeof *s->here);
  s->stack = malloc(2 * n * sizeof *s->stack);
  s->uses = malloc(n * sizeof *s->uses);
  s->waits = malloc(n * sizeof *s->waits);
  s->unit_of = malloc(n * sizeof *s->unit_of);
  s->at = malloc(n * sizeof *s->at);
  s->unit = malloc(n * sizeof *s->unit);
  s->order = malloc(n * sizeof *s->order);
  s->ready = malloc(BRAMAH__N_CODES * n * sizeof *s->ready);
  s->first_user = malloc(n * sizeof *s->first_user);
  s->next_user = malloc(6 * n * sizeof *s->next_user);
  return tape->part && tape->number && tape->result && tape->native && s->value && s->first_made &&
         s->first_here && s->given && s->node_here && s->mark && s->here && s->stack && s->uses && s->waits &&
         s->unit_of && s->at && s->unit && s->order && s->ready && s->first_user && s->next_user;
}

static void release(scheduler *s)
{
  void *const all[] = {s->value,     s->made, s->first_made, s->first_here, s->given,      s->stack,
                       s->node_here, s->mark, s->here,       s->uses,       s->waits,      s->unit_of,
                       s->at,        s->unit, s->order,      s->ready,      s->first_user, s->next_user};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
}

static void make_parts(scheduler *s)
{
  bramah__tape *tape = s->tape;
  for (size_t i = 0; i < s->n; i++)
    s->value[i] = s->node[i].operation == BRAMAH__OP_SLOPE ? s->value[s->node[i].arg[0]] : (uint32_t)i;
  for (size_t p = BRAMAH__FIRST_PART; p < s->n_parts; p++) {
    const bramah__part *part = &s->part[p - BRAMAH__FIRST_PART];
    for (size_t k = 0; k < part->n; k++) {
      const uint32_t result = s->value[bramah__graph_node(s->graph, part->result[k])];
      collect(s, (int)p, result);
      made *entry = is_given(s, result) ? NULL : owner(s, (int)p, result);
      if (entry) entry->kept = 1;
    }
  }
  if (s->failed) return;
  place_given(s);
  place_kept(s);
  tape->n_lasting = tape->n_registers;
  size_t highest = tape->n_registers, n_results = 0;
  for (size_t p = 0; p < s->n_parts && highest < NO_REGISTER && !s->failed; p++) {
    turn_to(s, p);
    write_code(s, (int)p, put_in_order(s, make_units(s)), &highest);
    if (p < BRAMAH__FIRST_PART) continue;
    const bramah__part *part = &s->part[p - BRAMAH__FIRST_PART];
    tape->part[p].result = n_results;
    tape->part[p].n_results = part->n;
    for (size_t k = 0; k < part->n; k++)
      tape->result[n_results++] = home_of(s, (int)p, s->value[bramah__graph_node(s->graph, part->result[k])]);
  }
  s->failed |= highest >= NO_REGISTER;
  tape->n_registers = 2 * highest - tape->n_lasting; /* native code, in another order, needs more */
}

int bramah__tape_make(bramah__graph *graph, size_t n_parts, const bramah__part *part, bramah__tape *out)
{
  *out = (bramah__tape){.n_parts = n_parts + BRAMAH__FIRST_PART, .n_inputs = bramah__graph_n_inputs(graph)};

  /* Results that are numbers become nodes first: the graph does not move afterwards. */
  for (size_t p = 0; p < n_parts; p++)
    for (size_t k = 0; k < part[p].n; k++) bramah__graph_node(graph, part[p].result[k]);
  scheduler s = {.graph = graph,
                 .node = bramah__graph_nodes(graph),
                 .n = bramah__graph_size(graph),
                 .n_parts = out->n_parts,
                 .part = part,
                 .tape = out};
  s.failed = bramah__graph_failed(graph) || !take_memory(&s);
  if (!s.failed) make_parts(&s);
  release(&s);
  if (!s.failed) return 1;
  bramah__tape_free(out);
  return 0;
}

void bramah__tape_free(bramah__tape *tape)
{
  free(tape->number);
  free(tape->part);
  free(tape->code);
  free(tape->result);
  free(tape->native);
  *tape = (bramah__tape){0};
}
