/* SPDX-License-Identifier: MIT */
/* Many filters of one model, in blocks that stay near the processor while they are predicted and corrected. */
#include "bramah/batch.h"
#include "estimators/filter_internal.h"
#include "lib/base/diag.h"
#include "lib/plant/compiled.h"

#include <string.h>

/* Filters that are stepped together: as many as there are lanes, or fewer, which then step alone. */
enum { BLOCK = BRAMAH__MOST_LANES, HALF_BLOCK = BLOCK / 2 };

typedef struct member {
  bramah_coupled *plant;
  bramah_filter *filter;
  bramah_status status;
} member;

struct bramah_batch {
  uint64_t mark; /* bramah__mark_of; comes first */
  size_t n, n_input, n_sensors;
  member *member;               /* [n] */
  bramah_diag *diag;            /* [n] */
  unsigned char *present;       /* [n_sensors] ones */
  bramah__lanes lanes, half;    /* of a block, of half of one; n = 0: there are none */
  int own_memory, is_of_others; /* 1: filters and plants are the caller's */
};

/* ---- making and releasing ---- */

/* Memory of one member, of its plant, of what the program needs, and of its filter. */
typedef struct pieces {
  size_t n_coupled, n_filter;
  void *coupled, *filter;
  bramah__compiled compiled;
} pieces;

static pieces cut_member(const bramah_batch_options *o, size_t i, bramah__arena *arena)
{
  const bramah_plant plant = bramah_coupled_plant(o->start);
  pieces p = {.n_coupled = bramah_coupled_size(o->start->base),
              .n_filter = bramah_filter_size(&plant, o->n_sensors, &o->options[i])};
  p.coupled = bramah__arena_take(arena, p.n_coupled, 1);
  p.filter = bramah__arena_take(arena, p.n_filter, 1);
  if (o->start->compiled.program)
    p.compiled = bramah__compiled_cut(o->start, o->start->compiled.program, arena);
  return p;
}

static bramah_batch *layout(const bramah_batch_options *o, bramah__arena *arena)
{
  bramah_batch *batch = BRAMAH__TAKE(arena, bramah_batch, 1), counted = {0};
  bramah_batch *b = batch ? batch : &counted;
  b->member = BRAMAH__TAKE(arena, member, o->n);
  b->diag = BRAMAH__TAKE(arena, bramah_diag, o->n);
  b->present = BRAMAH__TAKE(arena, unsigned char, o->n_sensors);
  const bramah_program *program = o->start->compiled.program;
  if (program && o->n >= BLOCK) bramah__lanes_cut(program, BLOCK, arena, &b->lanes);
  if (program && o->n % BLOCK >= HALF_BLOCK) bramah__lanes_cut(program, HALF_BLOCK, arena, &b->half);
  return batch;
}

size_t bramah_batch_size(const bramah_batch_options *options)
{
  bramah__arena arena = bramah__arena_make(NULL, 0);
  layout(options, &arena);
  for (size_t i = 0; i < options->n; i++) cut_member(options, i, &arena);
  return arena.used;
}

/* Member i in its memory: a plant where `start` is, with its own parameters, and a filter on it. */
static bramah_status make_member(const bramah_batch_options *o, size_t i, bramah__arena *arena, member *out,
                                 bramah_diag *diag)
{
  const pieces memory = cut_member(o, i, arena);
  bramah_status status =
      bramah_coupled_init(o->start->base, memory.coupled, memory.n_coupled, diag, &out->plant);
  if (status != BRAMAH_OK) return status;
  if (o->start->compiled.program) bramah__compiled_take(out->plant, &memory.compiled);
  bramah_coupled_set_injection(out->plant, o->start->injection);
  const bramah_plant plant = bramah_coupled_plant(out->plant);
  plant.restore(plant.self, o->start->state.block);
  for (size_t k = 0; o->parameters && k < plant.n_parameter && status == BRAMAH_OK; k++)
    status = plant.set_parameter(plant.self, k, o->parameters[i * plant.n_parameter + k], diag);
  if (status != BRAMAH_OK) return status;
  return bramah_filter_init(&plant, o->n_sensors, o->sensors, &o->options[i], memory.filter, memory.n_filter,
                            diag, &out->filter);
}

/* What sensors show is read in lanes. */
static void want_outputs(bramah_batch *b, const bramah_batch_options *o)
{
  for (size_t i = 0; i < o->n_sensors; i++)
    for (size_t k = 0; k < o->sensors[i].n_terms; k++) {
      bramah__lanes_want(&b->lanes, o->sensors[i].output[k]);
      bramah__lanes_want(&b->half, o->sensors[i].output[k]);
    }
}

bramah_status bramah_batch_init(const bramah_batch_options *o, void *mem, size_t size, bramah_diag *diag,
                                bramah_batch **out)
{
  bramah__arena arena;
  if (o->n == 0) return bramah__fail(diag, BRAMAH_E_ARGUMENT, "batch", "there are no filters in it");
  bramah_status status = bramah__arena_in("batch", mem, size, bramah_batch_size(o), &arena, diag);
  if (status != BRAMAH_OK) return status;
  bramah_batch *b = layout(o, &arena);
  const bramah_plant plant = bramah_coupled_plant(o->start);
  b->n = o->n;
  b->n_input = plant.n_input;
  b->n_sensors = o->n_sensors;
  memset(b->present, 1, o->n_sensors);
  want_outputs(b, o);
  for (size_t i = 0; i < o->n && status == BRAMAH_OK; i++) {
    status = make_member(o, i, &arena, &b->member[i], diag);
    if (status == BRAMAH_OK) continue;
    bramah__add_text(diag, ", filter ");
    bramah__add_number(diag, (double)i, 15);
  }
  if (status != BRAMAH_OK) return status;
  b->mark = bramah__mark_of(mem);
  *out = b;
  return BRAMAH_OK;
}

bramah_status bramah_batch_new(const bramah_batch_options *options, bramah_diag *diag, bramah_batch **out)
{
  const size_t size = bramah_batch_size(options);
  void *mem = bramah__aligned_new(size);
  if (!mem) return bramah__fail(diag, BRAMAH_E_MEMORY, "batch", "out of memory");
  const bramah_status status = bramah_batch_init(options, mem, size, diag, out);
  if (status == BRAMAH_OK)
    (*out)->own_memory = 1;
  else
    bramah__aligned_free(mem);
  return status;
}

bramah_status bramah_batch_of(size_t n, bramah_filter *const *filters, bramah_diag *diag, bramah_batch **out)
{
  *out = NULL;
  if (n == 0) return bramah__fail(diag, BRAMAH_E_ARGUMENT, "batch", "there are no filters in it");
  bramah_coupled *start = filters[0]->plant.self;
  const size_t n_sensors = filters[0]->n_sensors;
  for (size_t i = 0; i < n; i++) {
    const bramah_coupled *c = filters[i]->plant.self;
    if (c->compiled.program != start->compiled.program || filters[i]->n_sensors != n_sensors)
      return bramah__fail(diag, BRAMAH_E_ARGUMENT, "batch",
                          "filters of one batch have plants of one program, and as many sensors");
  }

  const bramah_batch_options o = {
      .n = n, .start = start, .n_sensors = n_sensors, .sensors = filters[0]->sensor};
  bramah__arena arena = bramah__arena_make(NULL, 0);
  layout(&o, &arena);
  const bramah_status status = bramah__arena_new("batch", arena.used, &arena, diag);
  if (status != BRAMAH_OK) return status;
  bramah_batch *b = layout(&o, &arena);
  b->n = n;
  b->n_input = filters[0]->plant.n_input;
  b->n_sensors = n_sensors;
  b->own_memory = b->is_of_others = 1;
  memset(b->present, 1, n_sensors);
  want_outputs(b, &o);
  for (size_t i = 0; i < n; i++)
    b->member[i] = (member){.plant = filters[i]->plant.self, .filter = filters[i]};
  *out = b;
  return BRAMAH_OK;
}

void bramah_batch_free(bramah_batch *b)
{
  if (!b) return;
  for (size_t i = 0; i < b->n && !b->is_of_others; i++) {
    bramah_filter_free(b->member[i].filter);
    bramah_coupled_free(b->member[i].plant);
  }
  b->mark = 0;
  if (b->own_memory) bramah__aligned_free(b);
}

/* ---- cycles ---- */

/* Row i of a table that has so many. */
static size_t row(const bramah_batch *b, size_t rows, size_t i) { return rows == b->n ? i : 0; }

/* Is filter i part of this call, and able to run? */
static int takes(const bramah_batch *b, const bramah_batch_cycle *c, size_t i)
{
  return b->member[i].status == BRAMAH_OK && (!c->taking || c->taking[i]);
}

static int is_table(const bramah_batch *b, size_t rows) { return rows <= 1 || rows == b->n; }

/* Predict as many filters as there are lanes, all of which run. Their algebra is still one after the other. */
static void predict_in_lanes(bramah__lanes *lanes, member *m, bramah_diag *diag)
{
  bramah_coupled *plant[BLOCK];
  bramah__wanted wanted[BLOCK];
  bramah_status status[BLOCK];
  size_t n_begun = 0;
  for (size_t l = 0; l < lanes->n; l++) {
    bramah_filter *f = m[l].filter;
    plant[l] = m[l].plant;
    m[l].status = bramah__predict_begin(f, &diag[l]);
    n_begun += m[l].status == BRAMAH_OK;
    wanted[l] = (bramah__wanted){f->work.Fe, f->resolvent ? f->work.N : NULL, f->n_par, f->par, f->work.G};
  }
  if (n_begun == lanes->n) bramah__steps_with_transition(lanes, plant, wanted, status, diag);
  for (size_t l = 0; l < lanes->n; l++) {
    const bramah_plant *alone = &m[l].filter->plant;
    const bramah__wanted *w = &wanted[l];
    if (n_begun < lanes->n)
      status[l] = m[l].status
                      ? m[l].status
                      : alone->step_transition(alone->self, w->F, w->N, w->n_par, w->par, w->G, &diag[l]);
    m[l].status = bramah__predict_end(m[l].filter, status[l], &diag[l]);
  }
}

static void predict(bramah_batch *b, const bramah_batch_cycle *c, size_t first, size_t end)
{
  for (size_t i = first; i < end && c->n_u; i++) {
    member *m = &b->member[i];
    if (takes(b, c, i))
      m->status = bramah_filter_set_inputs(m->filter, c->u + row(b, c->n_u, i) * b->n_input, &b->diag[i]);
  }
  for (size_t i = first; i < end;) {
    bramah__lanes *lanes = end - i == BLOCK ? &b->lanes : &b->half;
    member *m = &b->member[i];
    size_t together = 0;
    while (together < lanes->n && i + together < end && takes(b, c, i + together) &&
           m[together].filter->transition == BRAMAH_TRANSITION_STEP)
      together++;
    if (together && together == lanes->n) {
      predict_in_lanes(lanes, m, &b->diag[i]);
      i += together;
    } else {
      if (takes(b, c, i)) m->status = bramah_filter_predict(m->filter, &b->diag[i]);
      i++;
    }
  }
}

static void correct(bramah_batch *b, const bramah_batch_cycle *c, size_t first, size_t end)
{
  for (size_t i = first; i < end && c->n_y; i++) {
    member *m = &b->member[i];
    const size_t at = row(b, c->n_y, i) * b->n_sensors;
    if (takes(b, c, i))
      m->status =
          bramah_filter_correct(m->filter, c->y + at, c->present ? c->present + at : b->present, &b->diag[i]);
  }
}

static size_t run(bramah_batch *b, const bramah_batch_cycle *cycle, int predicts, int corrects)
{
  size_t running = 0;
  if (!is_table(b, cycle->n_u) || !is_table(b, cycle->n_y)) return 0;
  for (size_t first = 0; first < b->n; first += BLOCK) {
    const size_t end = first + BLOCK < b->n ? first + BLOCK : b->n;
    if (predicts) predict(b, cycle, first, end);
    if (corrects) correct(b, cycle, first, end);
    for (size_t i = first; i < end; i++) running += (size_t)takes(b, cycle, i);
  }
  return running;
}

size_t bramah_batch_predict(bramah_batch *b, const bramah_batch_cycle *cycle) { return run(b, cycle, 1, 0); }
size_t bramah_batch_correct(bramah_batch *b, const bramah_batch_cycle *cycle) { return run(b, cycle, 0, 1); }
size_t bramah_batch_step(bramah_batch *b, const bramah_batch_cycle *cycle) { return run(b, cycle, 1, 1); }

/* ---- results ---- */

bramah_batch_result bramah_batch_get(const bramah_batch *b, size_t i)
{
  const member *m = &b->member[i];
  const bramah_filter_last last = bramah_filter_get_last(m->filter);
  return (bramah_batch_result){.status = m->status,
                               .diag = &b->diag[i],
                               .time_ns = bramah_filter_time_ns(m->filter),
                               .nis = last.nis,
                               .nis_dof = last.nis_dof,
                               .log_likelihood = bramah_filter_log_likelihood(m->filter)};
}

void bramah_batch_outputs(bramah_batch *b, size_t n_outputs, const size_t *output, double *value,
                          double *sigma)
{
  for (size_t i = 0; i < b->n; i++) {
    bramah_filter *filter = b->member[i].filter;
    const bramah_plant *plant = bramah_filter_get_info(filter).plant;
    for (size_t k = 0; k < n_outputs; k++) {
      if (value) value[i * n_outputs + k] = plant->output(plant->self, output[k]);
      if (sigma) sigma[i * n_outputs + k] = bramah_filter_output_sigma(filter, output[k]);
    }
  }
}

bramah_filter *bramah_batch_filter(bramah_batch *b, size_t i) { return b->member[i].filter; }

void bramah_batch_resume(bramah_batch *b, size_t i) { b->member[i].status = BRAMAH_OK; }
