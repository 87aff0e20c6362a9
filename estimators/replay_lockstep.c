/* SPDX-License-Identifier: MIT */
/* Several replays in lockstep: each says what it needs of its filter, a step or a correction; the batch makes those of all
 * that need the same. */
#include "estimators/lockstep.h"
#include "estimators/replay_internal.h"
#include "lib/base/arena.h"
#include "lib/base/diag.h"

#include <string.h>

struct bramah_lockstep {
  size_t n, n_sensors, n_input;
  bramah_replay **replay;               /* [n] */
  bramah_batch *batch;                  /* NULL: their filters cannot go together */
  bramah__replay_need *need;            /* [n] */
  unsigned char *asked, *taking, *news; /* [n] to go on; in a call of the batch, with new inputs */
  double *u;                            /* [n x n_input] */
  double *y;                            /* [n x n_sensors] */
  unsigned char *present;               /* [n x n_sensors] */
};

static bramah_lockstep *layout(bramah_lockstep of, bramah__arena *arena)
{
  bramah_lockstep *object = BRAMAH__TAKE(arena, bramah_lockstep, 1), counted, *l = object ? object : &counted;
  *l = of;
  l->replay = BRAMAH__TAKE(arena, bramah_replay *, of.n);
  l->need = BRAMAH__TAKE(arena, bramah__replay_need, of.n);
  l->asked = BRAMAH__TAKE(arena, unsigned char, 3 * of.n);
  l->taking = l->asked + of.n;
  l->news = l->taking + of.n;
  l->u = BRAMAH__TAKE(arena, double, of.n *of.n_input);
  l->y = BRAMAH__TAKE(arena, double, of.n *of.n_sensors);
  l->present = BRAMAH__TAKE(arena, unsigned char, of.n *of.n_sensors);
  return object;
}

bramah_status bramah_lockstep_new(size_t n, bramah_replay *const *replays, bramah_diag *diag,
                                  bramah_lockstep **out)
{
  bramah__arena arena = bramah__arena_make(NULL, 0);
  bramah_lockstep of = {.n = n};
  *out = NULL;
  for (size_t i = 0; i < n; i++) {
    if (replays[i]->n_sensors > of.n_sensors) of.n_sensors = replays[i]->n_sensors;
    if (replays[i]->n_input > of.n_input) of.n_input = replays[i]->n_input;
  }
  layout(of, &arena);
  bramah_status status = bramah__arena_new("lockstep", arena.used, &arena, diag);
  if (status != BRAMAH_OK) return status;
  bramah_lockstep *l = layout(of, &arena);
  for (size_t i = 0; i < n; i++) l->replay[i] = replays[i];

  bramah_filter **filter = bramah__aligned_new((n + 1) * sizeof *filter);
  for (size_t i = 0; filter && i < n; i++) filter[i] = replays[i]->filter;
  status = filter ? bramah_batch_of(n, filter, NULL, &l->batch) : BRAMAH_E_MEMORY;
  bramah__aligned_free(filter);
  for (size_t i = 0; i < n; i++)
    replays[i]->defers = l->batch && !replays[i]->rewind && bramah__batch_has_lane(l->batch, i);
  if (status != BRAMAH_E_MEMORY) return *out = l, BRAMAH_OK;
  bramah_lockstep_free(l);
  return bramah__fail(diag, status, "lockstep", "out of memory");
}

/* The filter of replay i out of its lane, with its inputs. */
static void take_out(bramah_lockstep *l, size_t i)
{
  bramah_replay *r = l->replay[i];
  if (l->batch) bramah_batch_filter(l->batch, i);
  if (r->has_inputs) bramah_filter_set_inputs(r->filter, r->held, NULL);
  r->has_inputs = 0;
}

bramah_filter *bramah_lockstep_filter(bramah_lockstep *l, size_t i)
{
  if (l->replay[i]->has_inputs) take_out(l, i);
  return l->batch ? bramah__batch_look(l->batch, i) : l->replay[i]->filter;
}

void bramah_lockstep_free(bramah_lockstep *l)
{
  if (!l) return;
  for (size_t i = 0; i < l->n; i++) {
    take_out(l, i);
    l->replay[i]->defers = 0;
  }
  bramah_batch_free(l->batch);
  bramah__aligned_free(l);
}

/* Can the batch make it? It knows of no samples off the grid, nor of inputs that come before a correction. */
static int is_for_batch(const bramah_replay *r, bramah__replay_need need)
{
  int fits = need == BRAMAH__NEEDS_STEP || !r->has_inputs;
  for (size_t i = 0; i < r->n_sensors && need == BRAMAH__NEEDS_CORRECTION; i++)
    fits &= !r->present[i] || r->offset_ns[i] == 0;
  return fits;
}

/* A call of the batch for those that need the same. */
static void call(bramah_lockstep *l, bramah__replay_need need)
{
  bramah_batch_cycle cycle = {.taking = l->taking};
  int any = 0;
  for (size_t i = 0; i < l->n; i++) {
    bramah_replay *r = l->replay[i];
    l->taking[i] = l->batch && l->need[i] == need && is_for_batch(r, need);
    if (l->need[i] == need && !l->taking[i]) take_out(l, i);
    if (!l->taking[i]) continue;
    any = 1;
    memcpy(l->u + i * l->n_input, r->held, r->n_input * sizeof *l->u);
    memcpy(l->y + i * l->n_sensors, r->y, r->n_sensors * sizeof *l->y);
    memcpy(l->present + i * l->n_sensors, r->present, r->n_sensors);
    l->news[i] = (unsigned char)r->has_inputs;
    r->has_inputs = 0;
  }
  if (any && need == BRAMAH__NEEDS_STEP) {
    cycle.n_u = l->n;
    cycle.u = l->u;
    cycle.news = l->news;
    bramah_batch_predict(l->batch, &cycle);
  }
  if (any && need == BRAMAH__NEEDS_CORRECTION) {
    cycle.n_y = l->n;
    cycle.y = l->y;
    cycle.present = l->present;
    bramah_batch_correct(l->batch, &cycle);
  }
}

/* What replays need, of all that need the same. */
static void make(bramah_lockstep *l, bramah__replay_need need, bramah_replay_point *at)
{
  call(l, need);
  for (size_t i = 0; i < l->n; i++) {
    bramah_replay_point *p = &at[i];
    if (l->need[i] != need) continue;
    l->need[i] = BRAMAH__NEEDS_NOTHING;
    if (!l->taking[i]) {
      p->status = bramah__replay_make(l->replay[i], need, &p->diag);
    } else {
      const bramah_status status = bramah__batch_status(l->batch, i);
      if (status != BRAMAH_OK) p->diag = *bramah_batch_get(l->batch, i).diag;
      if (need == BRAMAH__NEEDS_CORRECTION) bramah__batch_show(l->batch, i);
      p->status = bramah__replay_made(l->replay[i], need, status, &p->diag);
    }
    if (p->status == BRAMAH_OK) p->status = bramah__replay_want(l->replay[i], &l->need[i], &p->diag);
  }
}

void bramah_lockstep_next(bramah_lockstep *l, bramah_replay_point *at)
{
  int any = 1;
  for (size_t i = 0; i < l->n; i++) {
    l->need[i] = BRAMAH__NEEDS_NOTHING;
    l->asked[i] = !at[i].end && at[i].status == BRAMAH_OK;
    if (l->asked[i]) at[i].status = bramah__replay_want(l->replay[i], &l->need[i], &at[i].diag);
  }
  while (any) {
    make(l, BRAMAH__NEEDS_STEP, at);
    make(l, BRAMAH__NEEDS_CORRECTION, at);
    any = 0;
    for (size_t i = 0; i < l->n; i++) any |= l->need[i] != BRAMAH__NEEDS_NOTHING;
  }
  for (size_t i = 0; i < l->n; i++) {
    const bramah_replay *r = l->replay[i];
    if (!l->asked[i]) continue;
    at[i].corrected = r->corrected;
    at[i].end = r->at_end;
    if (!r->at_end) at[i].time_ns = r->progress.time_ns;
  }
}
