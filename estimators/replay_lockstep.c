/* SPDX-License-Identifier: MIT */
/* Several replays in lockstep: each says what it needs of its filter, a step or a correction; the batch makes those of all
 * that need the same. */
#include "bramah/batch.h"
#include "estimators/replay_internal.h"
#include "lib/base/arena.h"
#include "lib/base/diag.h"

#include <string.h>

struct bramah_lockstep {
  size_t n, n_sensors;
  bramah_replay **replay;        /* [n] */
  bramah_batch *batch;           /* NULL: their filters cannot go together */
  bramah__replay_need *need;     /* [n] */
  unsigned char *asked, *taking; /* [n] to go on; in a call of the batch */
  double *y;                     /* [n x n_sensors] */
  unsigned char *present;        /* [n x n_sensors] */
};

static bramah_lockstep *layout(size_t n, size_t n_sensors, bramah__arena *arena)
{
  bramah_lockstep *object = BRAMAH__TAKE(arena, bramah_lockstep, 1), counted = {0};
  bramah_lockstep *l = object ? object : &counted;
  l->n = n;
  l->n_sensors = n_sensors;
  l->replay = BRAMAH__TAKE(arena, bramah_replay *, n);
  l->need = BRAMAH__TAKE(arena, bramah__replay_need, n);
  l->asked = BRAMAH__TAKE(arena, unsigned char, n);
  l->taking = BRAMAH__TAKE(arena, unsigned char, n);
  l->y = BRAMAH__TAKE(arena, double, n *n_sensors);
  l->present = BRAMAH__TAKE(arena, unsigned char, n *n_sensors);
  return object;
}

bramah_status bramah_lockstep_new(size_t n, bramah_replay *const *replays, bramah_diag *diag,
                                  bramah_lockstep **out)
{
  bramah__arena arena = bramah__arena_make(NULL, 0);
  size_t n_sensors = 0;
  *out = NULL;
  for (size_t i = 0; i < n; i++)
    if (replays[i]->n_sensors > n_sensors) n_sensors = replays[i]->n_sensors;
  layout(n, n_sensors, &arena);
  bramah_status status = bramah__arena_new("lockstep", arena.used, &arena, diag);
  if (status != BRAMAH_OK) return status;
  bramah_lockstep *l = layout(n, n_sensors, &arena);
  for (size_t i = 0; i < n; i++) l->replay[i] = replays[i];

  /* The rows of y are those of the batch. */
  bramah_filter **filter = bramah__aligned_new((n + 1) * sizeof *filter);
  for (size_t i = 0; filter && i < n; i++) filter[i] = replays[i]->filter;
  status = filter ? bramah_batch_of(n, filter, NULL, &l->batch) : BRAMAH_E_MEMORY;
  bramah__aligned_free(filter);
  if (status != BRAMAH_E_MEMORY) return *out = l, BRAMAH_OK;
  bramah_lockstep_free(l);
  return bramah__fail(diag, status, "lockstep", "out of memory");
}

void bramah_lockstep_free(bramah_lockstep *l)
{
  if (l) bramah_batch_free(l->batch);
  bramah__aligned_free(l);
}

/* May the correction of replay r be made by the batch, which knows of no samples off the grid? */
static int is_on_grid(const bramah_replay *r)
{
  int any = 0;
  for (size_t i = 0; i < r->n_sensors; i++) any |= r->present[i] && r->offset_ns[i] != 0;
  return !any;
}

/* What replays need, of all that need the same. */
static void make(bramah_lockstep *l, bramah__replay_need need, bramah_replay_point *at)
{
  bramah_batch_cycle cycle = {.taking = l->taking};
  for (size_t i = 0; i < l->n; i++) {
    const bramah_replay *r = l->replay[i];
    l->taking[i] = l->batch && l->need[i] == need && (need == BRAMAH__NEEDS_STEP || is_on_grid(r));
    if (!l->taking[i] || need == BRAMAH__NEEDS_STEP) continue;
    memcpy(l->y + i * l->n_sensors, r->y, r->n_sensors * sizeof *l->y);
    memcpy(l->present + i * l->n_sensors, r->present, r->n_sensors);
  }
  if (l->batch && need == BRAMAH__NEEDS_STEP) bramah_batch_predict(l->batch, &cycle);
  if (l->batch && need == BRAMAH__NEEDS_CORRECTION) {
    cycle.n_y = l->n;
    cycle.y = l->y;
    cycle.present = l->present;
    bramah_batch_correct(l->batch, &cycle);
  }
  for (size_t i = 0; i < l->n; i++) {
    bramah_replay_point *p = &at[i];
    if (l->need[i] != need) continue;
    l->need[i] = BRAMAH__NEEDS_NOTHING;
    if (!l->taking[i]) {
      p->status = bramah__replay_make(l->replay[i], need, &p->diag);
    } else {
      const bramah_batch_result result = bramah_batch_get(l->batch, i);
      if (result.status != BRAMAH_OK) p->diag = *result.diag;
      p->status = bramah__replay_made(l->replay[i], need, result.status, &p->diag);
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
