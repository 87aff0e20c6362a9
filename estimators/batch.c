/* SPDX-License-Identifier: MIT */
/* Many filters of one model: those that can in lanes, the others by themselves. */
#include "bramah/batch.h"
#include "estimators/lockstep.h"
#include "lib/base/diag.h"

#include <string.h>

typedef struct member {
  bramah_coupled *plant;
  bramah_filter *filter;
  bramah_status status;
  bramah__filter_group *group; /* it goes in lockstep in this lane; NULL: never */
  const struct block *block;
  size_t lane;
} member;

/* Groups of filters of one structure that go at once, and their members. */
typedef struct block {
  size_t n_groups;
  bramah__filter_group *group[BRAMAH__MOST_GROUPS];
  size_t n[BRAMAH__MOST_GROUPS], member[BRAMAH__MOST_GROUPS][BRAMAH__GROUP];
} block;

struct bramah_batch {
  uint64_t mark; /* bramah__mark_of; comes first */
  size_t n, n_input, n_sensors;
  member *member;         /* [n] */
  bramah_diag *diag;      /* [n] */
  unsigned char *present; /* [n_sensors] ones */
  unsigned char *left;    /* [n] to be asked alone */
  bramah__batch_row *row; /* [n] of the call in hand */
  size_t n_blocks;
  block *block;                                      /* [n_blocks] */
  bramah__filter_lockstep room[BRAMAH__MOST_GROUPS]; /* for blocks of so many groups, less one */
  int own_memory, is_of_others;                      /* 1: filters and plants are the caller's */
};

/* ---- who goes together ---- */

/* Filters by what they are to be, or as they are. */
typedef struct roll {
  const bramah_batch_options *options;
  bramah_filter *const *filter; /* NULL: by their options */
} roll;

static bramah_filter sizes_of(const roll *r, size_t i)
{
  bramah_filter f = {0};
  const bramah_plant plant = bramah_coupled_plant(r->options->start);
  if (r->filter) return *r->filter[i];
  bramah__filter_count(&plant, r->options->n_sensors, &r->options->options[i], &f);
  return f;
}

static int same_name(const char *a, const char *b) { return a == b || (a && b && strcmp(a, b) == 0); }

static int are_alike(const roll *r, size_t i, size_t k)
{
  if (r->filter) return bramah__lockstep_alike(r->filter[i], r->filter[k]);
  const bramah_filter_options *a = &r->options->options[i], *b = &r->options->options[k];
  if (a->n_augmented != b->n_augmented || a->n_parameter_noise != b->n_parameter_noise ||
      a->transition != b->transition || a->form != b->form || a->fusion != b->fusion ||
      a->iterations != b->iterations || a->scores != b->scores || a->discretisation != b->discretisation)
    return 0;
  for (size_t j = 0; j < r->options->start->model->n_independent && a->basis != b->basis; j++)
    if (!a->basis || !b->basis || a->basis[j] != b->basis[j]) return 0;
  for (size_t j = 0; j < a->n_augmented && a->augmented != b->augmented; j++) {
    const bramah_augmented *p = &a->augmented[j], *q = &b->augmented[j];
    if (p->kind != q->kind || p->order != q->order || p->role != q->role ||
        p->logarithmic != q->logarithmic || !same_name(p->at, q->at))
      return 0;
  }
  for (size_t j = 0; j < a->n_parameter_noise; j++)
    if (!same_name(a->parameter_noise[j].at, b->parameter_noise[j].at)) return 0;
  return 1;
}

enum { MOST_CLASSES = 32 };

/* Structures that have been met: the first member of each, how many it has, and the block that is being filled. */
typedef struct structures {
  size_t n, first[MOST_CLASSES], count[MOST_CLASSES], block[MOST_CLASSES];
} structures;

static size_t structure_of(structures *s, const roll *r, size_t i)
{
  size_t k = 0;
  while (k < s->n && !are_alike(r, s->first[k], i)) k++;
  if (k == s->n && k < MOST_CLASSES) {
    s->first[s->n++] = i;
    s->count[k] = 0;
  }
  return k;
}

/* Groups of filters of one structure, and blocks of these: the same when memory is counted and when it is cut. */
static void cut_groups(bramah_batch *b, const roll *r, bramah__arena *arena)
{
  enum { FULL = BRAMAH__MOST_GROUPS * BRAMAH__GROUP };
  structures s = {0};
  bramah_filter largest = {0};
  if (!bramah__lockstep_fits(r->options->start, 0, NULL)) return;
  b->block = BRAMAH__TAKE(arena, block, r->options->n);
  for (size_t i = 0; i < r->options->n; i++) {
    if (r->filter && !bramah__lockstep_may(r->filter[i], r->filter[i]->plant.self)) continue;
    const size_t k = structure_of(&s, r, i);
    if (k == MOST_CLASSES) continue;
    const size_t place = s.count[k]++ % FULL, g = place / BRAMAH__GROUP;
    if (place == 0) s.block[k] = b->n_blocks++;
    block *of = b->block ? &b->block[s.block[k]] : NULL;
    if (place % BRAMAH__GROUP == 0) {
      const bramah_filter f = sizes_of(r, i);
      bramah__filter_group counted, *group = BRAMAH__TAKE(arena, bramah__filter_group, 1);
      bramah__filter_group_cut(&f, arena, group ? group : &counted);
      bramah__lockstep_enlarge(&largest, &f);
      if (of) of->group[g] = group;
      if (of) of->n_groups = g + 1;
    }
    if (of) of->member[g][of->n[g]++] = i;
  }
  for (size_t g = 0; g < BRAMAH__MOST_GROUPS; g++)
    bramah__filter_lockstep_cut(&largest, r->options->start, g + 1, arena, &b->room[g]);
}

/* Fewer filters are as quick by themselves. */
enum { LEAST_LANES = 3 };

/* The members of a group take their lanes; 0: it has too few. */
static int assign_lanes(bramah_batch *b, block *of, size_t g)
{
  bramah__filter_group *group = of->group[g];
  size_t n = 0;
  for (size_t l = 0; l < of->n[g]; l++) {
    const member *m = &b->member[of->member[g][l]];
    n += (size_t)bramah__lockstep_may(m->filter, m->plant);
  }
  for (size_t l = 0; l < of->n[g] && n >= LEAST_LANES; l++) {
    member *m = &b->member[of->member[g][l]];
    if (!bramah__lockstep_may(m->filter, m->plant)) continue;
    if (group->like && !bramah__lockstep_alike(group->like, m->filter)) continue;
    group->like = group->filter[l] = m->filter;
    group->plant.plant[l] = m->plant;
    group->n_filters = l + 1;
    m->group = group;
    m->lane = l;
    m->block = of;
  }
  return n >= LEAST_LANES;
}

/* All groups, of which those with too few are dropped. */
static void assign_groups(bramah_batch *b)
{
  for (block *of = b->block; of && of < b->block + b->n_blocks; of++) {
    const block all = *of;
    of->n_groups = 0;
    for (size_t g = 0; g < all.n_groups; g++) {
      const size_t to = of->n_groups;
      of->group[to] = all.group[g];
      of->n[to] = all.n[g];
      memcpy(of->member[to], all.member[g], sizeof all.member[g]);
      of->n_groups += (size_t)assign_lanes(b, of, to);
    }
  }
}

static bramah__filter_lockstep *room_of(bramah_batch *b, const block *of)
{
  return &b->room[of->n_groups - 1];
}

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

static bramah_batch *layout(const roll *r, bramah__arena *arena)
{
  const bramah_batch_options *o = r->options;
  bramah_batch *batch = BRAMAH__TAKE(arena, bramah_batch, 1), counted = {0};
  bramah_batch *b = batch ? batch : &counted;
  b->member = BRAMAH__TAKE(arena, member, o->n);
  b->diag = BRAMAH__TAKE(arena, bramah_diag, o->n);
  b->present = BRAMAH__TAKE(arena, unsigned char, o->n_sensors);
  b->left = BRAMAH__TAKE(arena, unsigned char, o->n);
  b->row = BRAMAH__TAKE(arena, bramah__batch_row, o->n);
  cut_groups(b, r, arena);
  return batch;
}

size_t bramah_batch_size(const bramah_batch_options *options)
{
  bramah__arena arena = bramah__arena_make(NULL, 0);
  layout(&(roll){.options = options}, &arena);
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

bramah_status bramah_batch_init(const bramah_batch_options *o, void *mem, size_t size, bramah_diag *diag,
                                bramah_batch **out)
{
  bramah__arena arena;
  if (o->n == 0) return bramah__fail(diag, BRAMAH_E_ARGUMENT, "batch", "there are no filters in it");
  bramah_status status = bramah__arena_in("batch", mem, size, bramah_batch_size(o), &arena, diag);
  if (status != BRAMAH_OK) return status;
  bramah_batch *b = layout(&(roll){.options = o}, &arena);
  const bramah_plant plant = bramah_coupled_plant(o->start);
  b->n = o->n;
  b->n_input = plant.n_input;
  b->n_sensors = o->n_sensors;
  memset(b->present, 1, o->n_sensors);
  for (size_t i = 0; i < o->n && status == BRAMAH_OK; i++) {
    status = make_member(o, i, &arena, &b->member[i], diag);
    if (status == BRAMAH_OK) continue;
    bramah__add_text(diag, ", filter ");
    bramah__add_number(diag, (double)i, 15);
  }
  if (status != BRAMAH_OK) return status;
  assign_groups(b);
  b->mark = bramah__mark_of(mem);
  *out = b;
  return BRAMAH_OK;
}

bramah_status bramah_batch_new(const bramah_batch_options *options, bramah_diag *diag, bramah_batch **out)
{
  BRAMAH__MAKE_IN_OWN("batch", bramah_batch_size(options), bramah_batch_init(options, mem, size, diag, out));
}

bramah_status bramah_batch_of(size_t n, bramah_filter *const *filters, bramah_diag *diag, bramah_batch **out)
{
  *out = NULL;
  if (n == 0) return bramah__fail(diag, BRAMAH_E_ARGUMENT, "batch", "there are no filters in it");
  bramah_coupled *start = filters[0]->plant.self;
  const size_t n_sensors = filters[0]->n_sensors;
  for (size_t i = 0; i < n; i++) {
    const bramah_coupled *c = filters[i]->plant.self;
    if (!bramah__is_coupled(&filters[i]->plant))
      return bramah__fail(diag, BRAMAH_E_ARGUMENT, "batch", "a plant that is no coupled one has no lanes");
    if (c->compiled.program != start->compiled.program || filters[i]->n_sensors != n_sensors)
      return bramah__fail(diag, BRAMAH_E_ARGUMENT, "batch",
                          "filters of one batch have plants of one program, and as many sensors");
  }

  const bramah_batch_options o = {
      .n = n, .start = start, .n_sensors = n_sensors, .sensors = filters[0]->sensor};
  const roll r = {&o, filters};
  bramah__arena arena = bramah__arena_make(NULL, 0);
  layout(&r, &arena);
  const bramah_status status = bramah__arena_new("batch", arena.used, &arena, diag);
  if (status != BRAMAH_OK) return status;
  bramah_batch *b = layout(&r, &arena);
  b->n = n;
  b->n_input = filters[0]->plant.n_input;
  b->n_sensors = n_sensors;
  b->own_memory = b->is_of_others = 1;
  memset(b->present, 1, n_sensors);
  for (size_t i = 0; i < n; i++)
    b->member[i] = (member){.plant = filters[i]->plant.self, .filter = filters[i]};
  assign_groups(b);
  *out = b;
  return BRAMAH_OK;
}

void bramah_batch_free(bramah_batch *b)
{
  if (!b) return;
  for (size_t i = 0; i < b->n && b->is_of_others; i++) bramah_batch_filter(b, i);
  for (size_t i = 0; i < b->n && !b->is_of_others; i++) {
    bramah_filter_free(b->member[i].filter);
    bramah_coupled_free(b->member[i].plant);
  }
  b->mark = 0;
  if (b->own_memory) bramah__aligned_free(b);
}

/* ---- cycles ---- */

static int is_table(const bramah_batch *b, size_t rows) { return rows <= 1 || rows == b->n; }

/* The rows of a call; 0: its tables are none of this batch. */
static int take_rows(bramah_batch *b, const bramah_batch_cycle *c)
{
  if (!is_table(b, c->n_u) || !is_table(b, c->n_y)) return 0;
  for (size_t i = 0; i < b->n; i++) {
    const size_t u = c->n_u == b->n ? i * b->n_input : 0, y = c->n_y == b->n ? i * b->n_sensors : 0;
    b->row[i] = (bramah__batch_row){.takes = !c->taking || c->taking[i]};
    if (c->n_u && (!c->news || c->news[i])) b->row[i].u = c->u + u;
    if (!c->n_y) continue;
    b->row[i].y = c->y + y;
    b->row[i].present = c->present ? c->present + y : b->present;
  }
  return 1;
}

/* Is filter i part of this call, and able to run? */
static int takes(const bramah_batch *b, size_t i)
{
  return b->row[i].takes && b->member[i].status == BRAMAH_OK;
}

static void inputs_alone(bramah_batch *b, size_t i)
{
  member *m = &b->member[i];
  if (b->row[i].u) m->status = bramah_filter_set_inputs(m->filter, b->row[i].u, &b->diag[i]);
}

static void predict_alone(bramah_batch *b, size_t i)
{
  member *m = &b->member[i];
  inputs_alone(b, i);
  if (m->status == BRAMAH_OK) m->status = bramah_filter_predict(m->filter, &b->diag[i]);
}

static void correct_alone(bramah_batch *b, size_t i)
{
  member *m = &b->member[i];
  m->status = bramah_filter_correct(m->filter, b->row[i].y, b->row[i].present, &b->diag[i]);
}

/* ---- those that live in lanes ---- */

/* Which lanes have part in a call, with their rows; how many. */
static size_t call(bramah_batch *b, const block *of, bramah__lane_samples *samples)
{
  size_t taken = 0;
  for (size_t g = 0; g < of->n_groups; g++) {
    bramah__filter_group *group = of->group[g];
    memset(group->taken, 0, sizeof group->taken);
    for (size_t l = 0; l < group->n_filters; l++) {
      const size_t i = of->member[g][l];
      const bramah__batch_row *row = &b->row[i];
      samples[g].u[l] = row->u;
      samples[g].y[l] = row->y;
      samples[g].present[l] = row->present;
      group->taken[l] = takes(b, i) && group->in[l];
      taken += (size_t)group->taken[l];
    }
  }
  return taken;
}

/* Those of a block that have part in it and could not do it in their lanes, or were in none. */
static void complete(bramah_batch *b, const block *of, void (*alone)(bramah_batch *, size_t))
{
  for (size_t g = 0; g < of->n_groups; g++)
    for (size_t l = 0; l < of->group[g]->n_filters; l++) {
      const size_t i = of->member[g][l];
      if (of->group[g]->filter[l] && !of->group[g]->taken[l] && takes(b, i)) alone(b, i);
    }
}

static void run_block(bramah_batch *b, const block *of, int predicts, int corrects)
{
  bramah__filter_lockstep *room = room_of(b, of);
  bramah__lane_samples samples[BRAMAH__MOST_GROUPS];
  for (size_t g = 0; g < of->n_groups && predicts; g++) {
    bramah__filter_group *group = of->group[g];
    for (size_t l = 0; l < group->n_filters; l++)
      if (group->filter[l] && !group->in[l] && takes(b, of->member[g][l]))
        bramah__lockstep_enter(room, group, l);
  }
  if (predicts) {
    if (call(b, of, samples)) bramah__lockstep_predict(room, of->group, samples);
    complete(b, of, predict_alone);
  }
  if (corrects) {
    if (call(b, of, samples)) bramah__lockstep_correct(room, of->group, samples);
    complete(b, of, correct_alone);
  }
}

bramah__batch_row *bramah__batch_rows(bramah_batch *b) { return b->row; }

size_t bramah__batch_run(bramah_batch *b, int predicts, int corrects)
{
  size_t running = 0;
  for (size_t k = 0; k < b->n_blocks; k++)
    if (b->block[k].n_groups) run_block(b, &b->block[k], predicts, corrects);
  for (size_t i = 0; i < b->n; i++) {
    if (predicts && !b->member[i].group && takes(b, i)) predict_alone(b, i);
    if (corrects && !b->member[i].group && takes(b, i)) correct_alone(b, i);
    running += (size_t)takes(b, i);
  }
  return running;
}

size_t bramah_batch_inputs(bramah_batch *b, const bramah_batch_cycle *cycle)
{
  bramah__lane_samples samples[BRAMAH__MOST_GROUPS];
  size_t running = 0;
  if (!take_rows(b, &(bramah_batch_cycle){
                        .n_u = cycle->n_u, .u = cycle->u, .news = cycle->news, .taking = cycle->taking}))
    return 0;
  for (size_t k = 0; k < b->n_blocks; k++) {
    const block *of = &b->block[k];
    if (!of->n_groups) continue;
    if (call(b, of, samples)) bramah__lockstep_inputs(room_of(b, of), of->group, samples);
    complete(b, of, inputs_alone);
  }
  for (size_t i = 0; i < b->n; i++) {
    if (!b->member[i].group && takes(b, i)) inputs_alone(b, i);
    running += (size_t)takes(b, i);
  }
  return running;
}

size_t bramah_batch_predict(bramah_batch *b, const bramah_batch_cycle *cycle)
{
  return take_rows(b, cycle) ? bramah__batch_run(b, 1, 0) : 0;
}

size_t bramah_batch_correct(bramah_batch *b, const bramah_batch_cycle *cycle)
{
  return take_rows(b, cycle) ? bramah__batch_run(b, 0, cycle->n_y > 0) : 0;
}

size_t bramah_batch_step(bramah_batch *b, const bramah_batch_cycle *cycle)
{
  return take_rows(b, cycle) ? bramah__batch_run(b, 1, cycle->n_y > 0) : 0;
}

/* ---- results ---- */

int bramah__batch_has_lane(const bramah_batch *b, size_t i) { return b->member[i].group != NULL; }

bramah_status bramah__batch_status(const bramah_batch *b, size_t i) { return b->member[i].status; }

void bramah__batch_show(bramah_batch *b, size_t i)
{
  const member *m = &b->member[i];
  if (m->group) bramah__lockstep_show(m->group, m->lane);
}

bramah_filter *bramah__batch_look(bramah_batch *b, size_t i)
{
  const member *m = &b->member[i];
  if (m->group) bramah__lockstep_write(room_of(b, m->block), m->group, m->lane);
  return m->filter;
}

bramah_batch_result bramah_batch_get(const bramah_batch *b, size_t i)
{
  const member *m = &b->member[i];
  const bramah_filter_last last = bramah_filter_get_last(m->filter);
  bramah_batch_result result = {.status = m->status,
                                .diag = &b->diag[i],
                                .time_ns = bramah_filter_time_ns(m->filter),
                                .nis = last.nis,
                                .nis_dof = last.nis_dof,
                                .log_likelihood = bramah_filter_log_likelihood(m->filter)};
  if (m->group) bramah__lockstep_result(m->group, m->lane, &result);
  return result;
}

/* Of the filters that take part and are in lanes of a block; those of which nothing is known there are `left`. */
static void show_block(bramah_batch *b, const block *of, const unsigned char *taking, size_t n,
                       const size_t *output, double *value, double *sigma, unsigned char *left)
{
  bramah__filter_lockstep *room = room_of(b, of);
  double values[BRAMAH__MOST_GROUPS][BRAMAH__GROUP], sigmas[BRAMAH__MOST_GROUPS][BRAMAH__GROUP];
  for (size_t k = 0; k < n; k++)
    if (!bramah__lockstep_shows(of->group[0]->like->plant.self, output[k])) return;
  size_t some = 0;
  for (size_t g = 0; g < of->n_groups; g++) {
    bramah__filter_group *group = of->group[g];
    for (size_t l = 0; l < BRAMAH__GROUP; l++) {
      group->taken[l] = group->in[l] && (!taking || taking[of->member[g][l]]);
      some += (size_t)group->taken[l];
    }
  }
  if (!some) return;
  bramah__lockstep_prepare(room, of->group, sigma ? n : 0, output);
  for (size_t k = 0; k < n; k++) {
    bramah__lockstep_output(room, of->group, output[k], values, sigma ? sigmas : NULL);
    for (size_t g = 0; g < of->n_groups; g++)
      for (size_t l = 0; l < of->group[g]->n_filters; l++) {
        const size_t i = of->member[g][l];
        if (!of->group[g]->taken[l]) continue;
        if (value) value[i * n + k] = values[g][l];
        if (sigma) sigma[i * n + k] = sigmas[g][l];
        left[i] = 0;
      }
  }
}

void bramah_batch_outputs(bramah_batch *b, const unsigned char *taking, size_t n_outputs,
                          const size_t *output, double *value, double *sigma)
{
  for (size_t i = 0; i < b->n; i++) b->left[i] = !taking || taking[i];
  for (size_t k = 0; k < b->n_blocks; k++)
    if (b->block[k].n_groups) show_block(b, &b->block[k], taking, n_outputs, output, value, sigma, b->left);
  for (size_t i = 0; i < b->n; i++) {
    if (!b->left[i]) continue;
    bramah_filter *filter = bramah__batch_look(b, i);
    const bramah_plant *plant = bramah_filter_get_info(filter).plant;
    for (size_t k = 0; k < n_outputs; k++) {
      if (value) value[i * n_outputs + k] = plant->output(plant->self, output[k]);
      if (sigma) sigma[i * n_outputs + k] = bramah_filter_output_sigma(filter, output[k]);
    }
  }
}

bramah_filter *bramah_batch_filter(bramah_batch *b, size_t i)
{
  const member *m = &b->member[i];
  if (m->group) bramah__lockstep_leave(room_of(b, m->block), m->group, m->lane);
  return m->filter;
}

void bramah_batch_resume(bramah_batch *b, size_t i) { b->member[i].status = BRAMAH_OK; }
