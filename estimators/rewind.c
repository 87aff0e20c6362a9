/* SPDX-License-Identifier: MIT */
/* The rewind buffer knows the filter by its public functions and its snapshots. Steps are numbered: point 0
 * is the start, point k lies k steps later. What is kept of a point is in slot k % n_slots:
 *
 *   oldest point that may be passed again ............ present | coming
 *   |<- snapshot_every - 1 ->|<------ window W ------>|
 *
 * A snapshot shows the filter at its point before the correction, so that a sample of that point can still
 * join. */
#include "bramah/replay.h"
#include "estimators/filter_internal.h"
#include "lib/base/arena.h"
#include "lib/base/diag.h"

#include <math.h>
#include <string.h>

enum { MOST_STEPS = 1000000, MOST_EVERY = 1000, MOST_SAMPLES = 1000 };

typedef struct kept_sample {
  int64_t time_ns;
  double y;
  int used; /* 1: part of the present estimate */
} kept_sample;

struct bramah_rewind {
  bramah_filter *filter;
  size_t n_sensors, n_input;
  size_t room;   /* samples of one sensor at one point */
  size_t window; /* W */
  size_t every;  /* points between snapshots */
  size_t n_slots, n_snaps, snap_size;
  int64_t start_ns, step_ns;
  int64_t present;           /* point the filter is at */
  int64_t next;              /* first point whose correction lacks a sample; present + 1: none */
  int64_t seen;              /* points corrected so far */
  kept_sample *samples;      /* [n_slots x n_sensors x room], the earliest first */
  size_t *n_samples;         /* [n_slots x n_sensors] */
  double *inputs;            /* [n_slots x n_input] from the point on */
  unsigned char *has_inputs; /* [n_slots] 0: the former inputs go on */
  unsigned char *snaps;      /* [n_snaps] of every `every`-th point */
  unsigned char *backup;     /* the filter before the present call */
  double *y;                 /* [n_sensors] of one correction */
  unsigned char *present_y;  /* [n_sensors] */
  int64_t *offset_ns;        /* [n_sensors] of each from its point */
  bramah_rewind_use *uses;   /* [n_slots x n_sensors x room] */
  kept_sample **fresh;       /* the samples they came from */
  size_t n_uses, nis_dof;
  double nis;
  bramah_rewind_counts counts;
  bramah_watcher watcher;
  int own_memory;
};

/* ---- making and releasing ---- */

void bramah_rewind_options_default(bramah_rewind_options *options)
{
  *options = (bramah_rewind_options){
      .longest_delay_ns = INT64_C(100000000), .snapshot_every = 1, .samples_per_step = 4};
}

static bramah_rewind_options given_or_default(const bramah_rewind_options *options)
{
  bramah_rewind_options defaults;
  bramah_rewind_options_default(&defaults);
  return options ? *options : defaults;
}

static const char *mistake(const bramah_filter *filter, const bramah_rewind_options *o)
{
  const int64_t step_ns = bramah_filter_plant(filter)->step_ns;
  if (o->longest_delay_ns < 0) return "the longest delay must not be negative";
  if (o->longest_delay_ns / step_ns >= MOST_STEPS) return "the longest delay is longer than 1e6 steps";
  if (o->snapshot_every < 1 || o->snapshot_every > MOST_EVERY)
    return "the steps between snapshots must be 1 to 1000";
  if (o->samples_per_step < 1 || o->samples_per_step > MOST_SAMPLES)
    return "the samples of one sensor at one step must be 1 to 1000";
  return NULL;
}

static void take_sizes(bramah_rewind *r, const bramah_filter *filter, const bramah_rewind_options *o)
{
  const bramah_plant *plant = bramah_filter_plant(filter);
  r->n_sensors = bramah_filter_n_sensors(filter);
  r->n_input = plant->n_input;
  r->step_ns = plant->step_ns;
  r->room = o->samples_per_step;
  r->every = o->snapshot_every;
  r->window = (size_t)((o->longest_delay_ns + plant->step_ns - 1) / plant->step_ns);
  r->n_slots = r->window + r->every + 1;
  r->n_snaps = r->window / r->every + 2;
  r->snap_size = (bramah_filter_snapshot_size(filter) + 7) / 8 * 8;
}

static bramah_rewind *layout(const bramah_filter *filter, const bramah_rewind_options *options,
                             bramah__arena *arena)
{
  bramah_rewind *object = BRAMAH__TAKE(arena, bramah_rewind, 1), counted = {0};
  bramah_rewind *r = object ? object : &counted;
  take_sizes(r, filter, options);
  const size_t lists = r->n_slots * r->n_sensors, samples = lists * r->room;
  r->samples = BRAMAH__TAKE(arena, kept_sample, samples);
  r->n_samples = BRAMAH__TAKE(arena, size_t, lists);
  r->inputs = BRAMAH__TAKE(arena, double, r->n_slots * r->n_input);
  r->has_inputs = BRAMAH__TAKE(arena, unsigned char, r->n_slots);
  r->snaps = bramah__arena_take(arena, r->n_snaps, r->snap_size);
  r->backup = bramah__arena_take(arena, 1, r->snap_size);
  r->y = BRAMAH__TAKE(arena, double, r->n_sensors);
  r->present_y = BRAMAH__TAKE(arena, unsigned char, r->n_sensors);
  r->offset_ns = BRAMAH__TAKE(arena, int64_t, r->n_sensors);
  r->uses = BRAMAH__TAKE(arena, bramah_rewind_use, samples);
  r->fresh = BRAMAH__TAKE(arena, kept_sample *, samples);
  return object;
}

size_t bramah_rewind_size(const bramah_filter *filter, const bramah_rewind_options *options)
{
  const bramah_rewind_options o = given_or_default(options);
  bramah__arena arena = bramah__arena_make(NULL, 0);
  if (mistake(filter, &o)) return 0;
  layout(filter, &o, &arena);
  return arena.overflow ? 0 : arena.used;
}

static void keep_snapshot(bramah_rewind *r, int64_t point);

bramah_status bramah_rewind_init(bramah_filter *filter, const bramah_rewind_options *options, void *mem,
                                 size_t size, bramah_diag *diag, bramah_rewind **out)
{
  const bramah_rewind_options o = given_or_default(options);
  const char *wrong = mistake(filter, &o);
  if (wrong) return bramah__fail(diag, BRAMAH_E_VALUE, "rewind", wrong);
  bramah__arena arena;
  const bramah_status status =
      bramah__arena_in("rewind", mem, size, bramah_rewind_size(filter, &o), &arena, diag);
  if (status != BRAMAH_OK) return status;
  bramah_rewind *r = layout(filter, &o, &arena);
  r->filter = filter;
  r->start_ns = bramah_filter_time_ns(filter);
  keep_snapshot(r, 0);
  *out = r;
  return BRAMAH_OK;
}

bramah_status bramah_rewind_new(bramah_filter *filter, const bramah_rewind_options *options,
                                bramah_diag *diag, bramah_rewind **out)
{
  const bramah_rewind_options o = given_or_default(options);
  const char *wrong = mistake(filter, &o);
  if (wrong) return bramah__fail(diag, BRAMAH_E_VALUE, "rewind", wrong);
  const size_t size = bramah_rewind_size(filter, &o);
  void *mem = size ? bramah__aligned_new(size) : NULL;
  if (!mem) return bramah__fail(diag, BRAMAH_E_MEMORY, "rewind", "out of memory");
  const bramah_status status = bramah_rewind_init(filter, &o, mem, size, diag, out);
  if (status == BRAMAH_OK)
    (*out)->own_memory = 1;
  else
    bramah__aligned_free(mem);
  return status;
}

void bramah_rewind_free(bramah_rewind *rewind)
{
  if (rewind && rewind->own_memory) bramah__aligned_free(rewind);
}

/* ---- points ---- */

static size_t slot_of(const bramah_rewind *r, int64_t point) { return (size_t)(point % (int64_t)r->n_slots); }

static size_t list_of(const bramah_rewind *r, int64_t point, size_t sensor)
{
  return slot_of(r, point) * r->n_sensors + sensor;
}

static unsigned char *snapshot_of(const bramah_rewind *r, int64_t point)
{
  return r->snaps + (size_t)(point / (int64_t)r->every) % r->n_snaps * r->snap_size;
}

static void keep_snapshot(bramah_rewind *r, int64_t point)
{
  if (point % (int64_t)r->every == 0) bramah__save_body(r->filter, snapshot_of(r, point));
}

static void clear_point(bramah_rewind *r, int64_t point)
{
  for (size_t i = 0; i < r->n_sensors; i++) r->n_samples[list_of(r, point, i)] = 0;
  r->has_inputs[slot_of(r, point)] = 0;
}

static int64_t time_of(const bramah_rewind *r, int64_t point) { return r->start_ns + point * r->step_ns; }

static int64_t oldest(const bramah_rewind *r)
{
  const int64_t point = r->present - (int64_t)r->window;
  return point > 0 ? point : 0;
}

/* The nearest point, but of what comes after the start the next one: there is no step before the start to
 * form an innovation with. -1 before the start, present + 2 for all that lies beyond the coming point. */
static int64_t point_at(const bramah_rewind *r, int64_t time_ns)
{
  if (time_ns < r->start_ns - r->step_ns) return -1;
  if (time_ns > time_of(r, r->present + 2)) return r->present + 2;
  const int64_t since = time_ns - r->start_ns + r->step_ns / 2;
  if (since < 0) return -1;
  const int64_t nearest = since / r->step_ns;
  return nearest == 0 && time_ns > r->start_ns ? 1 : nearest;
}

/* ---- taking samples ---- */

static int comes_after(const kept_sample *a, const kept_sample *b)
{
  return a->time_ns != b->time_ns ? a->time_ns > b->time_ns : a->y > b->y;
}

/* Put the sample into its place in the list. Returns 0 if the list stays as it was. */
static int insert(bramah_rewind *r, size_t list, const kept_sample *sample)
{
  kept_sample *at = r->samples + list * r->room;
  size_t *n = &r->n_samples[list], i = *n;
  while (i > 0 && comes_after(&at[i - 1], sample)) i--;
  if (*n < r->room) {
    memmove(at + i + 1, at + i, (*n - i) * sizeof *at);
    at[i] = *sample;
    ++*n;
    return 1;
  }
  r->counts.crowded++;
  if (i == 0) return 0;
  memmove(at, at + 1, (i - 1) * sizeof *at);
  at[i - 1] = *sample;
  return 1;
}

static bramah_status refuse(const bramah_rewind *r, size_t sensor, int64_t time_ns, bramah_status status,
                            const char *why, bramah_diag *diag)
{
  bramah__fail(diag, status, bramah_filter_sensor(r->filter, sensor)->name, "a sample measured at ");
  bramah__add_number(diag, (double)time_ns * 1e-9, 12);
  bramah__add_text(diag, " s ");
  bramah__add_text(diag, why);
  bramah__add_text(diag, "; the estimate is at ");
  bramah__add_number(diag, (double)time_of(r, r->present) * 1e-9, 12);
  bramah__add_text(diag, " s");
  return status;
}

static bramah_status check_sample(bramah_rewind *r, size_t i, int64_t time_ns, double y, int64_t point,
                                  bramah_diag *diag)
{
  if (i >= r->n_sensors)
    return bramah__fail(diag, BRAMAH_E_ARGUMENT, "rewind", "there is no sensor of this number");
  if (!isfinite(y))
    return bramah__fail(diag, BRAMAH_E_NOT_FINITE, bramah_filter_sensor(r->filter, i)->name,
                        "the measurement is not a finite number");
  if (point < 0) {
    r->counts.before_start++;
    return refuse(r, i, time_ns, BRAMAH_E_TIME, "lies before the start", diag);
  }
  if (point < oldest(r)) {
    r->counts.too_old++;
    return refuse(r, i, time_ns, BRAMAH_E_TIME, "is older than the longest delay", diag);
  }
  if (point > r->present + 1)
    return refuse(r, i, time_ns, BRAMAH_E_VALUE, "lies beyond the coming step", diag);
  return BRAMAH_OK;
}

bramah_status bramah_rewind_sample(bramah_rewind *rewind, size_t i, int64_t time_ns, double y,
                                   bramah_diag *diag)
{
  bramah_rewind *r = rewind;
  const int64_t point = point_at(r, time_ns);
  const bramah_status status = check_sample(r, i, time_ns, y, point, diag);
  if (status != BRAMAH_OK) return status;
  r->counts.samples++;
  if (point < r->seen) r->counts.late++;
  const kept_sample sample = {.time_ns = time_ns, .y = y};
  if (insert(r, list_of(r, point, i), &sample) && point < r->next) r->next = point;
  return BRAMAH_OK;
}

bramah_status bramah_rewind_set_inputs(bramah_rewind *rewind, const double *u, bramah_diag *diag)
{
  const bramah_status status = bramah_filter_set_inputs(rewind->filter, u, diag);
  if (status != BRAMAH_OK) return status;
  const size_t slot = slot_of(rewind, rewind->present);
  memcpy(rewind->inputs + slot * rewind->n_input, u, rewind->n_input * sizeof *u);
  rewind->has_inputs[slot] = 1;
  return BRAMAH_OK;
}

/* ---- being watched ---- */

void bramah_rewind_watch(bramah_rewind *rewind, const bramah_watcher *watcher)
{
  rewind->watcher = watcher ? *watcher : (bramah_watcher){0};
}

static bramah_status tell(bramah_rewind *r, bramah_status status,
                          bramah_status (*what)(void *, bramah_filter *, bramah_diag *), bramah_diag *diag)
{
  return status == BRAMAH_OK && what ? what(r->watcher.user, r->filter, diag) : status;
}

static bramah_status predict(bramah_rewind *r, bramah_diag *diag)
{
  return tell(r, bramah_filter_predict(r->filter, diag), r->watcher.predicted, diag);
}

/* ---- going forward ---- */

static void forget_uses(bramah_rewind *r)
{
  r->n_uses = r->nis_dof = 0;
  r->nis = 0.0;
}

/* The correction just made: note the samples that had no part in the estimate before. */
static void note_uses(bramah_rewind *r, int64_t point, size_t round)
{
  const bramah_innovation *innovation = bramah_filter_innovations(r->filter);
  const size_t before = r->n_uses;
  size_t all = 0, dof = 0;
  double sum = 0.0;
  for (size_t i = 0; i < r->n_sensors; i++) {
    if (!r->present_y[i]) continue;
    kept_sample *sample = &r->samples[list_of(r, point, i) * r->room + round];
    all++;
    if (sample->used) continue;
    r->fresh[r->n_uses] = sample;
    r->uses[r->n_uses++] = (bramah_rewind_use){i, sample->time_ns, sample->y, innovation[i]};
    if (innovation[i].present) sum += innovation[i].nis, dof++;
  }
  if (r->n_uses == before) return;
  if (r->n_uses - before == all) sum = bramah_filter_nis(r->filter, &dof);
  r->nis += sum;
  r->nis_dof += dof;
}

/* The samples of one round; returns how many. */
static size_t gather(bramah_rewind *r, int64_t point, size_t round)
{
  size_t n = 0;
  for (size_t i = 0; i < r->n_sensors; i++) {
    const size_t list = list_of(r, point, i);
    const kept_sample *sample = r->samples + list * r->room + round;
    r->present_y[i] = round < r->n_samples[list];
    r->y[i] = r->present_y[i] ? sample->y : 0.0;
    r->offset_ns[i] = r->present_y[i] ? sample->time_ns - time_of(r, point) : 0;
    n += r->present_y[i];
  }
  return n;
}

/* Fuse all samples of a point. Without any the filter is called too, as it is when nothing was measured. */
static bramah_status correct_at(bramah_rewind *r, int64_t point, bramah_diag *diag)
{
  for (size_t round = 0; round < r->room; round++) {
    if (!gather(r, point, round) && round) return BRAMAH_OK;
    const bramah_status status =
        tell(r, bramah_filter_correct_at(r->filter, r->y, r->present_y, r->offset_ns, diag),
             r->watcher.corrected, diag);
    if (status != BRAMAH_OK) return status;
    note_uses(r, point, round);
  }
  return BRAMAH_OK;
}

static bramah_status inputs_from(bramah_rewind *r, int64_t point, bramah_diag *diag)
{
  const size_t slot = slot_of(r, point);
  if (!r->has_inputs[slot]) return BRAMAH_OK;
  return bramah_filter_set_inputs(r->filter, r->inputs + slot * r->n_input, diag);
}

/* Say in which step an error came up. */
static bramah_status blame(const bramah_rewind *r, int64_t point, bramah_status status, bramah_diag *diag)
{
  bramah__add_text(diag, " (in the step to t = ");
  bramah__add_number(diag, (double)time_of(r, point) * 1e-9, 12);
  bramah__add_text(diag, point < r->seen ? " s, computed again for late samples)" : " s)");
  return status;
}

/* From `point`, where the filter is uncorrected, to the present. */
static bramah_status walk(bramah_rewind *r, int64_t point, bramah_diag *diag)
{
  for (;;) {
    bramah_status status = correct_at(r, point, diag);
    if (status == BRAMAH_OK) status = inputs_from(r, point, diag);
    if (status != BRAMAH_OK) return blame(r, point, status, diag);
    if (point == r->present) return BRAMAH_OK;
    point++;
    status = predict(r, diag);
    if (status != BRAMAH_OK) return blame(r, point, status, diag);
    keep_snapshot(r, point);
  }
}

/* All points up to the present are corrected with all that was noted. */
static void complete(bramah_rewind *r)
{
  for (size_t i = 0; i < r->n_uses; i++) r->fresh[i]->used = 1;
  r->next = r->seen = r->present + 1;
}

/* `wanted` is the point whose estimate the late samples are needed for. */
static void count_rewind(bramah_rewind *r, int64_t from, int64_t wanted)
{
  const int64_t depth_ns = (wanted - r->next) * r->step_ns;
  if (r->next >= r->seen) return;
  r->counts.rewinds++;
  r->counts.recomputed += (uint64_t)(r->present - from);
  if (depth_ns > r->counts.deepest_ns) r->counts.deepest_ns = depth_ns;
}

/* If this fails the later snapshots hold the failed attempt; `next` stays before them, so that they are not
 * used. */
static bramah_status catch_up(bramah_rewind *r, int64_t wanted, bramah_diag *diag)
{
  if (r->next > r->present) return BRAMAH_OK;
  const int64_t from = r->next - r->next % (int64_t)r->every;
  bramah__save_body(r->filter, r->backup);
  bramah__restore_body(r->filter, snapshot_of(r, from));
  bramah_status status = tell(r, BRAMAH_OK, r->watcher.restored, diag);
  if (status == BRAMAH_OK) status = walk(r, from, diag);
  if (status != BRAMAH_OK) {
    bramah__restore_body(r->filter, r->backup);
    forget_uses(r);
    return status;
  }
  count_rewind(r, from, wanted);
  complete(r);
  return BRAMAH_OK;
}

bramah_status bramah_rewind_settle(bramah_rewind *rewind, bramah_diag *diag)
{
  forget_uses(rewind);
  return catch_up(rewind, rewind->present, diag);
}

static bramah_status step_to(bramah_rewind *r, int64_t point, bramah_diag *diag)
{
  bramah__save_body(r->filter, r->backup);
  bramah_status status = predict(r, diag);
  if (status == BRAMAH_OK) {
    keep_snapshot(r, point);
    status = correct_at(r, point, diag);
  }
  if (status != BRAMAH_OK) bramah__restore_body(r->filter, r->backup);
  return status;
}

bramah_status bramah_rewind_advance(bramah_rewind *rewind, bramah_diag *diag)
{
  bramah_rewind *r = rewind;
  forget_uses(r);
  bramah_status status = catch_up(r, r->present + 1, diag);
  if (status != BRAMAH_OK) return status;
  const size_t n_uses = r->n_uses, dof = r->nis_dof;
  const double nis = r->nis;
  status = step_to(r, r->present + 1, diag);
  if (status != BRAMAH_OK) {
    r->n_uses = n_uses, r->nis_dof = dof, r->nis = nis;
    return blame(r, r->present + 1, status, diag);
  }
  r->present++;
  complete(r);
  clear_point(r, r->present + 1);
  return BRAMAH_OK;
}

static void drop_unused(bramah_rewind *r, size_t list)
{
  kept_sample *at = r->samples + list * r->room;
  size_t n = 0;
  for (size_t i = 0; i < r->n_samples[list]; i++)
    if (at[i].used) at[n++] = at[i];
  r->counts.discarded += r->n_samples[list] - n;
  r->n_samples[list] = n;
}

/* A failed attempt has spoilt snapshots; computing the same steps again mends them. */
bramah_status bramah_rewind_discard(bramah_rewind *rewind, bramah_diag *diag)
{
  bramah_rewind *r = rewind;
  for (int64_t point = oldest(r); point <= r->present + 1; point++)
    for (size_t i = 0; i < r->n_sensors; i++) drop_unused(r, list_of(r, point, i));
  return r->seen ? bramah_rewind_settle(r, diag) : BRAMAH_OK;
}

/* ---- results ---- */

const bramah_rewind_use *bramah_rewind_uses(const bramah_rewind *rewind, size_t *n)
{
  *n = rewind->n_uses;
  return rewind->uses;
}

double bramah_rewind_nis(const bramah_rewind *rewind, size_t *degrees_of_freedom)
{
  if (degrees_of_freedom) *degrees_of_freedom = rewind->nis_dof;
  return rewind->nis;
}

bramah_rewind_counts bramah_rewind_report(const bramah_rewind *rewind) { return rewind->counts; }

int64_t bramah_rewind_oldest_ns(const bramah_rewind *rewind)
{
  return time_of(rewind, oldest(rewind)) - rewind->step_ns / 2;
}

bramah_filter *bramah_rewind_filter(const bramah_rewind *rewind) { return rewind->filter; }

/* ---- snapshots ---- */

/* All that belongs to this object and not to its state. */
static void take_pointers(bramah_rewind *to, const bramah_rewind *from)
{
  to->filter = from->filter;
  to->watcher = from->watcher;
  to->own_memory = from->own_memory;
  to->samples = from->samples;
  to->n_samples = from->n_samples;
  to->inputs = from->inputs;
  to->has_inputs = from->has_inputs;
  to->snaps = from->snaps;
  to->backup = from->backup;
  to->y = from->y;
  to->present_y = from->present_y;
  to->offset_ns = from->offset_ns;
  to->uses = from->uses;
  to->fresh = from->fresh;
}

/* The object with its arrays up to what only one call uses; the arena has cut them in this order. */
static size_t block_size(const bramah_rewind *r)
{
  return (size_t)((const unsigned char *)r->backup - (const unsigned char *)r);
}

size_t bramah_rewind_snapshot_size(const bramah_rewind *rewind)
{
  return block_size(rewind) + bramah_filter_snapshot_size(rewind->filter);
}

void bramah_rewind_save(const bramah_rewind *rewind, void *snap)
{
  const bramah_rewind none = {0};
  const size_t size = block_size(rewind);
  memcpy(snap, rewind, size);
  take_pointers(snap, &none);
  bramah_filter_save(rewind->filter, (unsigned char *)snap + size);
}

bramah_status bramah_rewind_restore(bramah_rewind *rewind, const void *snap)
{
  const bramah_rewind kept = *rewind;
  const size_t size = block_size(rewind);
  const bramah_status status = bramah_filter_restore(rewind->filter, (const unsigned char *)snap + size);
  if (status != BRAMAH_OK) return status;
  memcpy(rewind, snap, size);
  take_pointers(rewind, &kept);
  forget_uses(rewind);
  return BRAMAH_OK;
}
