/* SPDX-License-Identifier: MIT */
/* Several replays in lockstep: each says what it needs of its filter, a step or a correction; the batch makes those of all
 * that need the same. Replays of the same rows need the same: one of them, their leader, reads for all. */
#include "estimators/lockstep.h"
#include "estimators/replay_internal.h"
#include "lib/base/arena.h"
#include "lib/base/diag.h"

#include <string.h>

struct bramah_lockstep {
  size_t n;
  bramah_replay **replay;    /* [n] */
  size_t *leader;            /* [n] which reads for it */
  size_t *next;              /* [n] the next one of the same leader; n: none */
  bramah_batch *batch;       /* NULL: their filters cannot go together */
  bramah__replay_need *need; /* [n] of leaders */
  unsigned char *asked, *going,
      *in_batch;         /* [n] asked to go on, and still doing so; in a call of the batch */
  bramah_status *status; /* [n] of that */
};

static bramah_lockstep *layout(size_t n, bramah__arena *arena)
{
  bramah_lockstep *object = BRAMAH__TAKE(arena, bramah_lockstep, 1), counted, *l = object ? object : &counted;
  *l = (bramah_lockstep){.n = n};
  l->replay = BRAMAH__TAKE(arena, bramah_replay *, n);
  l->leader = BRAMAH__TAKE(arena, size_t, n);
  l->next = BRAMAH__TAKE(arena, size_t, n);
  l->need = BRAMAH__TAKE(arena, bramah__replay_need, n);
  l->asked = BRAMAH__TAKE(arena, unsigned char, n);
  l->going = BRAMAH__TAKE(arena, unsigned char, n);
  l->in_batch = BRAMAH__TAKE(arena, unsigned char, n);
  l->status = BRAMAH__TAKE(arena, bramah_status, n);
  return object;
}

/* Does replay a read for b, too? */
static int reads_for(const bramah_replay *a, const bramah_replay *b)
{
  const bramah_replay_options *p = &a->options, *q = &b->options;
  return p->rows && p->rows == q->rows && p->gather == q->gather && p->max_gap_ns == q->max_gap_ns &&
         !a->rewind && !b->rewind && !p->listener.used && !q->listener.used && a->step_ns == b->step_ns &&
         a->n_input == b->n_input && a->n_sensors == b->n_sensors && a->progress.counts.samples == 0 &&
         b->progress.counts.samples == 0;
}

/* Who reads for whom; those that read for others are to leave the inputs to us. */
static void find_leaders(bramah_lockstep *l)
{
  for (size_t i = 0; i < l->n; i++) {
    size_t k = 0;
    while (k < i && !(l->leader[k] == k && reads_for(l->replay[k], l->replay[i]))) k++;
    l->leader[i] = k;
    l->next[i] = l->n;
    if (k == i) continue;
    l->replay[k]->defers = 1;
    while (l->next[k] < l->n) k = l->next[k];
    l->next[k] = i;
  }
}

bramah_status bramah_lockstep_new(size_t n, bramah_replay *const *replays, bramah_diag *diag,
                                  bramah_lockstep **out)
{
  bramah__arena arena = bramah__arena_make(NULL, 0);
  *out = NULL;
  layout(n, &arena);
  bramah_status status = bramah__arena_new("lockstep", arena.used, &arena, diag);
  if (status != BRAMAH_OK) return status;
  bramah_lockstep *l = layout(n, &arena);
  bramah_filter **filter = bramah__aligned_new((n + 1) * sizeof *filter);
  for (size_t i = 0; filter && i < n; i++) filter[i] = replays[i]->filter;
  status = filter ? bramah_batch_of(n, filter, NULL, &l->batch) : BRAMAH_E_MEMORY;
  bramah__aligned_free(filter);
  for (size_t i = 0; i < n; i++) {
    bramah_replay *r = l->replay[i] = replays[i];
    r->defers = l->batch && !r->rewind && bramah__batch_has_lane(l->batch, i);
  }
  find_leaders(l);
  if (status != BRAMAH_E_MEMORY) return *out = l, BRAMAH_OK;
  bramah_lockstep_free(l);
  return bramah__fail(diag, status, "lockstep", "out of memory");
}

/* What reads for replay i. */
static bramah_replay *reader(const bramah_lockstep *l, size_t i) { return l->replay[l->leader[i]]; }

/* The filter of replay i out of its lane, with its inputs. */
static void take_out(bramah_lockstep *l, size_t i)
{
  bramah_replay *r = l->replay[i];
  if (l->batch) bramah_batch_filter(l->batch, i);
  if (r->has_inputs) bramah_filter_set_inputs(r->filter, reader(l, i)->held, NULL);
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
  for (size_t i = 0; i < l->n; i++) take_out(l, i);
  for (size_t i = 0; i < l->n; i++) l->replay[i]->defers = 0;
  bramah_batch_free(l->batch);
  bramah__aligned_free(l);
}

/* Replay i goes on no more. */
static void stop(bramah_lockstep *l, size_t i, bramah_status status, const bramah_diag *diag,
                 bramah_replay_point *at)
{
  at[i].status = status;
  if (diag != &at[i].diag) at[i].diag = *diag;
  l->going[i] = 0;
}

/* What the leader i and those it reads for need next. */
static void want(bramah_lockstep *l, size_t i, bramah_replay_point *at)
{
  bramah_replay *r = l->replay[i];
  bramah_diag diag;
  bramah_diag_clear(&diag);
  const int waiting = r->has_inputs;
  r->has_inputs = 0;
  const bramah_status status = bramah__replay_want(r, &l->need[i], &diag);
  const int news = r->has_inputs;
  r->has_inputs = news | waiting;
  for (size_t k = l->next[i]; k < l->n; k = l->next[k]) l->replay[k]->has_inputs |= news;
  for (size_t k = i; status != BRAMAH_OK && k < l->n; k = l->next[k])
    if (l->going[k]) stop(l, k, status, &diag, at);
}

/* Can the batch make it? It knows of no samples off the grid, nor of inputs that come before a correction. */
static int is_for_batch(const bramah_lockstep *l, size_t i, bramah__replay_need need)
{
  const bramah_replay *r = reader(l, i);
  int fits = l->batch && (need == BRAMAH__NEEDS_STEP || !l->replay[i]->has_inputs);
  for (size_t s = 0; s < r->n_sensors && need == BRAMAH__NEEDS_CORRECTION; s++)
    fits &= !r->present[s] || r->offset_ns[s] == 0;
  return fits;
}

/* The batch makes what it can of those that need this. */
static void call(bramah_lockstep *l, bramah__replay_need need)
{
  const int corrects = need == BRAMAH__NEEDS_CORRECTION;
  bramah__batch_row *row = l->batch ? bramah__batch_rows(l->batch) : NULL;
  int any = 0;
  for (size_t i = 0; i < l->n; i++) {
    bramah_replay *r = l->replay[i];
    const bramah_replay *from = reader(l, i);
    const int needs = l->going[i] && l->need[l->leader[i]] == need;
    l->in_batch[i] = (unsigned char)(needs && is_for_batch(l, i, need));
    if (needs && !l->in_batch[i]) take_out(l, i);
    if (!row) continue;
    row[i] = (bramah__batch_row){l->in_batch[i], r->has_inputs && !corrects ? from->held : NULL, from->y,
                                 from->present};
    if (!l->in_batch[i]) continue;
    any = 1;
    r->has_inputs = 0;
  }
  if (any) bramah__batch_run(l->batch, !corrects, corrects);
}

/* What came of it for replay i. */
static void end_call(bramah_lockstep *l, bramah__replay_need need, size_t i, bramah_replay_point *at)
{
  bramah_status status;
  if (l->in_batch[i]) {
    status = bramah__batch_status(l->batch, i);
    if (status != BRAMAH_OK) at[i].diag = *bramah_batch_get(l->batch, i).diag;
    if (need == BRAMAH__NEEDS_CORRECTION) bramah__batch_show(l->batch, i);
  } else {
    status = bramah__replay_make(reader(l, i), need, l->replay[i]->filter, &at[i].diag);
  }
  if (status == BRAMAH_OK) status = bramah__replay_watch(l->replay[i], need, &at[i].diag);
  l->status[i] = status;
  if (status != BRAMAH_OK) stop(l, i, status, &at[i].diag, at);
}

/* What replays need, of all that need the same; leaders go on while one of theirs does. */
static void make(bramah_lockstep *l, bramah__replay_need need, bramah_replay_point *at)
{
  call(l, need);
  for (size_t i = 0; i < l->n; i++)
    if (l->going[i] && l->need[l->leader[i]] == need) end_call(l, need, i, at);
  for (size_t i = 0; i < l->n; i++) {
    int some = 0;
    if (l->leader[i] != i || l->need[i] != need) continue;
    for (size_t k = i; k < l->n; k = l->next[k]) some |= l->going[k];
    bramah__replay_made(l->replay[i], need, some ? BRAMAH_OK : l->status[i]);
    l->need[i] = BRAMAH__NEEDS_NOTHING;
    if (some) want(l, i, at);
  }
}

void bramah_lockstep_next(bramah_lockstep *l, bramah_replay_point *at)
{
  for (size_t i = 0; i < l->n; i++) {
    l->need[i] = BRAMAH__NEEDS_NOTHING;
    l->asked[i] = l->going[i] = !at[i].end && at[i].status == BRAMAH_OK;
  }
  for (size_t i = 0; i < l->n; i++) {
    int some = 0;
    for (size_t k = i; l->leader[i] == i && k < l->n; k = l->next[k]) some |= l->going[k];
    if (some) want(l, i, at);
  }
  for (int any = 1; any;) {
    make(l, BRAMAH__NEEDS_STEP, at);
    make(l, BRAMAH__NEEDS_CORRECTION, at);
    any = 0;
    for (size_t i = 0; i < l->n; i++) any |= l->need[i] != BRAMAH__NEEDS_NOTHING;
  }
  for (size_t i = 0; i < l->n; i++) {
    const bramah_replay *r = reader(l, i);
    if (!l->asked[i]) continue;
    at[i].corrected = r->corrected;
    at[i].end = r->at_end;
    if (!r->at_end) at[i].time_ns = r->progress.time_ns;
  }
}
