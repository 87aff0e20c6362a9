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
#include "lib/base/seal.h"

#include <math.h>
#include <string.h>

enum { MOST_STEPS = 1000000, MOST_EVERY = 1000, MOST_SAMPLES = 1000 };

typedef struct kept_sample {
  int64_t time_ns;
  double y;
  int used; /* 1: part of the present estimate */
} kept_sample;

typedef struct rewind_progress {
  int64_t start_ns;
  int64_t present; /* point the filter is at */
  int64_t next;    /* first point whose correction lacks a sample; present + 1: none */
  int64_t seen;    /* points corrected so far */
  bramah_rewind_report counts;
} rewind_progress;

/* Arrays that a snapshot holds. */
#define REWIND_STATE(X)                                                                                      \
  X(kept_sample, samples, r->n_slots * r->n_sensors * r->room,                                               \
    "of each point and sensor, the earliest first")                                                          \
  X(size_t, n_samples, r->n_slots * r->n_sensors)                                                            \
  X(double, inputs, r->n_slots * r->n_input, "from the point on")                                            \
  X(unsigned char, has_inputs, r->n_slots, "0: the former inputs go on")                                     \
  X(unsigned char, snaps, r->n_snaps * r->snap_size, "of every `every`-th point")

/* What one call uses. */
#define REWIND_WORK(X)                                                                                       \
  X(unsigned char, backup, r->snap_size, "the filter before the present call")                               \
  X(double, y, r->n_sensors, "of one correction")                                                            \
  X(unsigned char, present_y, r->n_sensors)                                                                  \
  X(int64_t, offset_ns, r->n_sensors, "of each from its point")                                              \
  X(bramah_rewind_use, uses, r->n_slots * r->n_sensors * r->room)                                            \
  X(kept_sample *, fresh, r->n_slots * r->n_sensors * r->room, "the samples they came from")

struct bramah_rewind {
  bramah_filter *filter;
  bramah_watcher watcher;
  size_t n_sensors, n_input;
  size_t room;   /* samples of one sensor at one point */
  size_t window; /* W */
  size_t every;  /* points between snapshots */
  size_t n_slots, n_snaps, snap_size;
  int64_t step_ns;
  rewind_progress progress;
  REWIND_STATE(BRAMAH__FIELD_MEMBER)
  REWIND_WORK(BRAMAH__FIELD_MEMBER)
  size_t n_uses, nis_dof;
  double nis;
  int own_memory;
};

/* ---- making and releasing ---- */

void bramah_rewind_options_default(bramah_rewind_options *options)
{
  *options = (bramah_rewind_options){
      .longest_delay_ns = INT64_C(100000000), .snapshot_every = 1, .samples_per_step = 4};
}

/* The options given, or the defaults; what is wrong with them, or NULL. */
static const char *take_options(const bramah_filter *filter, const bramah_rewind_options *given,
                                bramah_rewind_options *o)
{
  const int64_t step_ns = bramah_filter_get_info(filter).plant->step_ns;
  bramah_rewind_options_default(o);
  if (given) *o = *given;
  if (o->longest_delay_ns < 0) return "the longest delay must not be negative";
  if (o->longest_delay_ns / step_ns >= MOST_STEPS) return "the longest delay is longer than 1e6 steps";
  if (o->snapshot_every < 1 || o->snapshot_every > MOST_EVERY)
    return "the steps between snapshots must be 1 to 1000";
  if (o->samples_per_step < 1 || o->samples_per_step > MOST_SAMPLES)
    return "the samples of one sensor at one step must be 1 to 1000";
  return NULL;
}

static bramah_rewind *layout(const bramah_filter *filter, const bramah_rewind_options *o,
                             bramah__arena *arena)
{
  const bramah_filter_info info = bramah_filter_get_info(filter);
  bramah_rewind *object = BRAMAH__TAKE(arena, bramah_rewind, 1), counted = {0};
  bramah_rewind *r = object ? object : &counted, *fields = r;
  r->n_sensors = info.n_sensors;
  r->n_input = info.plant->n_input;
  r->step_ns = info.plant->step_ns;
  r->room = o->samples_per_step;
  r->every = o->snapshot_every;
  r->window = (size_t)((o->longest_delay_ns + r->step_ns - 1) / r->step_ns);
  r->n_slots = r->window + r->every + 1;
  r->n_snaps = r->window / r->every + 2;
  r->snap_size = bramah__body_size(filter);
  REWIND_STATE(BRAMAH__FIELD_TAKE)
  REWIND_WORK(BRAMAH__FIELD_TAKE)
  return object;
}

size_t bramah_rewind_size(const bramah_filter *filter, const bramah_rewind_options *options)
{
  bramah_rewind_options o;
  bramah__arena arena = bramah__arena_make(NULL, 0);
  if (take_options(filter, options, &o)) return 0;
  layout(filter, &o, &arena);
  return arena.overflow ? 0 : arena.used;
}

static void keep_snapshot(bramah_rewind *r, int64_t point);

bramah_status bramah_rewind_init(bramah_filter *filter, const bramah_rewind_options *options, void *mem,
                                 size_t size, bramah_diag *diag, bramah_rewind **out)
{
  bramah_rewind_options o;
  const char *wrong = take_options(filter, options, &o);
  if (wrong) return bramah__fail(diag, BRAMAH_E_VALUE, "rewind", wrong);
  const size_t needed = bramah_rewind_size(filter, &o);
  bramah__arena arena;
  const bramah_status status =
      bramah__arena_in("rewind", mem, size, needed ? needed : SIZE_MAX, &arena, diag);
  if (status != BRAMAH_OK) return status;
  bramah_rewind *r = layout(filter, &o, &arena);
  r->filter = filter;
  r->progress.start_ns = bramah_filter_time_ns(filter);
  keep_snapshot(r, 0);
  *out = r;
  return BRAMAH_OK;
}

bramah_status bramah_rewind_new(bramah_filter *filter, const bramah_rewind_options *options,
                                bramah_diag *diag, bramah_rewind **out)
{
  bramah_rewind_options o;
  const char *wrong = take_options(filter, options, &o);
  if (wrong) return bramah__fail(diag, BRAMAH_E_VALUE, "rewind", wrong);
  BRAMAH__MAKE_IN_OWN("rewind", bramah_rewind_size(filter, &o),
                      bramah_rewind_init(filter, &o, mem, size, diag, out));
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

static int64_t time_of(const bramah_rewind *r, int64_t point)
{
  return r->progress.start_ns + point * r->step_ns;
}

static int64_t oldest(const bramah_rewind *r)
{
  const int64_t point = r->progress.present - (int64_t)r->window;
  return point > 0 ? point : 0;
}

/* ---- taking samples ---- */

static bramah_status refuse(const bramah_rewind *r, size_t sensor, int64_t time_ns, bramah_status status,
                            const char *why, bramah_diag *diag)
{
  bramah__fail(diag, status, bramah_filter_get_info(r->filter).sensor[sensor].name, "a sample measured at ");
  bramah__add_number(diag, (double)time_ns * 1e-9, 12);
  bramah__add_text(diag, " s ");
  bramah__add_text(diag, why);
  bramah__add_text(diag, "; the estimate is at ");
  bramah__add_number(diag, (double)time_of(r, r->progress.present) * 1e-9, 12);
  bramah__add_text(diag, " s");
  return status;
}

/* The nearest point, but of what comes after the start the next one: there is no step before the start to
 * form an innovation with. -1 before the start, present + 2 for all that lies beyond the coming point. */
static int64_t point_at(const bramah_rewind *r, int64_t time_ns)
{
  const int64_t start_ns = r->progress.start_ns, beyond = r->progress.present + 2;
  if (time_ns < start_ns - r->step_ns) return -1;
  if (time_ns > time_of(r, beyond)) return beyond;
  const int64_t since = time_ns - start_ns + r->step_ns / 2;
  if (since < 0) return -1;
  const int64_t nearest = since / r->step_ns;
  return nearest == 0 && time_ns > start_ns ? 1 : nearest;
}

bramah_status bramah_rewind_sample(bramah_rewind *rewind, size_t i, int64_t time_ns, double y,
                                   bramah_diag *diag)
{
  bramah_rewind *r = rewind;
  rewind_progress *p = &r->progress;
  const int64_t point = point_at(r, time_ns);
  if (i >= r->n_sensors)
    return bramah__fail(diag, BRAMAH_E_ARGUMENT, "rewind", "there is no sensor of this number");
  if (!isfinite(y))
    return bramah__fail(diag, BRAMAH_E_NOT_FINITE, bramah_filter_get_info(r->filter).sensor[i].name,
                        "the measurement is not a finite number");
  if (point < 0) {
    p->counts.before_start++;
    return refuse(r, i, time_ns, BRAMAH_E_TIME, "lies before the start", diag);
  }
  if (point < oldest(r)) {
    p->counts.too_old++;
    return refuse(r, i, time_ns, BRAMAH_E_TIME, "is older than the longest delay", diag);
  }
  if (point > p->present + 1)
    return refuse(r, i, time_ns, BRAMAH_E_VALUE, "lies beyond the coming step", diag);
  p->counts.samples++;
  p->counts.late += point < p->seen;

  /* Its place in the list of the point: by time of measurement, then by value. */
  const size_t list = list_of(r, point, i);
  kept_sample *at = r->samples + list * r->room;
  size_t *n = &r->n_samples[list], place = *n;
  while (place > 0 &&
         (at[place - 1].time_ns != time_ns ? at[place - 1].time_ns > time_ns : at[place - 1].y > y))
    place--;

  /* Of more samples than there is room for the first one goes, be it this one. */
  if (*n < r->room) {
    memmove(at + place + 1, at + place, (*n - place) * sizeof *at);
    ++*n;
  } else {
    p->counts.crowded++;
    if (place == 0) return BRAMAH_OK;
    memmove(at, at + 1, --place * sizeof *at);
  }
  at[place] = (kept_sample){.time_ns = time_ns, .y = y};
  if (point < p->next) p->next = point;
  return BRAMAH_OK;
}

bramah_status bramah_rewind_set_inputs(bramah_rewind *rewind, const double *u, bramah_diag *diag)
{
  const bramah_status status = bramah_filter_set_inputs(rewind->filter, u, diag);
  if (status != BRAMAH_OK) return status;
  const size_t slot = slot_of(rewind, rewind->progress.present);
  memcpy(rewind->inputs + slot * rewind->n_input, u, rewind->n_input * sizeof *u);
  rewind->has_inputs[slot] = 1;
  return BRAMAH_OK;
}

void bramah__rewind_watch(bramah_rewind *rewind, const bramah_watcher *watcher)
{
  rewind->watcher = *watcher;
}

/* ---- going forward ---- */

static bramah_status tell(bramah_rewind *r, bramah_status status, bramah_filter_event event,
                          bramah_diag *diag)
{
  const bramah_watcher *w = &r->watcher;
  return status == BRAMAH_OK && w->watch ? w->watch(w->user, event, r->filter, diag) : status;
}

static void forget_uses(bramah_rewind *r)
{
  r->n_uses = r->nis_dof = 0;
  r->nis = 0.0;
}

/* To `point`, which is not yet corrected then. */
static bramah_status step_to(bramah_rewind *r, int64_t point, bramah_diag *diag)
{
  const bramah_status status = tell(r, bramah_filter_predict(r->filter, diag), BRAMAH_FILTER_PREDICTED, diag);
  if (status == BRAMAH_OK) keep_snapshot(r, point);
  return status;
}

/* Fuse all samples of a point: round after round the first sample of each sensor, then the second ... Without
 * any the filter is called too, as it is when nothing was measured. */
static bramah_status correct_at(bramah_rewind *r, int64_t point, bramah_diag *diag)
{
  for (size_t round = 0; round < r->room; round++) {
    size_t n = 0;
    for (size_t i = 0; i < r->n_sensors; i++) {
      const size_t list = list_of(r, point, i);
      const kept_sample *sample = r->samples + list * r->room + round;
      r->present_y[i] = round < r->n_samples[list];
      r->y[i] = r->present_y[i] ? sample->y : 0.0;
      r->offset_ns[i] = r->present_y[i] ? sample->time_ns - time_of(r, point) : 0;
      n += r->present_y[i];
    }
    if (n == 0 && round > 0) return BRAMAH_OK;
    bramah_status status = bramah_filter_correct_at(r->filter, r->y, r->present_y, r->offset_ns, diag);
    status = tell(r, status, BRAMAH_FILTER_CORRECTED, diag);
    if (status != BRAMAH_OK) return status;

    /* Note the samples that had no part in the estimate before. */
    const bramah_filter_last last = bramah_filter_get_last(r->filter);
    const size_t before = r->n_uses;
    size_t dof = 0;
    double sum = 0.0;
    for (size_t i = 0; i < r->n_sensors; i++) {
      kept_sample *sample = &r->samples[list_of(r, point, i) * r->room + round];
      if (!r->present_y[i] || sample->used) continue;
      r->fresh[r->n_uses] = sample;
      r->uses[r->n_uses++] = (bramah_rewind_use){i, sample->time_ns, sample->y, last.innovation[i]};
      if (last.innovation[i].present) sum += last.innovation[i].nis, dof++;
    }
    if (r->n_uses == before) continue;
    const int all_new = r->n_uses - before == n;
    r->nis += all_new ? last.nis : sum;
    r->nis_dof += all_new ? last.nis_dof : dof;
  }
  return BRAMAH_OK;
}

/* Say in which step an error came up. */
static bramah_status blame(const bramah_rewind *r, int64_t point, bramah_status status, bramah_diag *diag)
{
  bramah__add_text(diag, " (in the step to t = ");
  bramah__add_number(diag, (double)time_of(r, point) * 1e-9, 12);
  bramah__add_text(diag, point < r->progress.seen ? " s, computed again for late samples)" : " s)");
  return status;
}

/* All points up to the present are corrected with all that was noted. */
static void complete(bramah_rewind *r)
{
  for (size_t i = 0; i < r->n_uses; i++) r->fresh[i]->used = 1;
  r->progress.next = r->progress.seen = r->progress.present + 1;
}

/* Back to before the first point that lacks a sample, and forward to the present. `wanted` is the point whose
 * estimate the late samples are needed for. If this fails the later snapshots hold the failed attempt; `next`
 * stays before them, so that they are not used. */
static bramah_status catch_up(bramah_rewind *r, int64_t wanted, bramah_diag *diag)
{
  rewind_progress *p = &r->progress;
  if (p->next > p->present) return BRAMAH_OK;
  const int64_t from = p->next - p->next % (int64_t)r->every;
  bramah__save_body(r->filter, r->backup);
  bramah__restore_body(r->filter, snapshot_of(r, from));
  bramah_status status = tell(r, BRAMAH_OK, BRAMAH_FILTER_RESTORED, diag);

  for (int64_t point = from; status == BRAMAH_OK; point++) {
    const size_t slot = slot_of(r, point);
    if (point > from) status = step_to(r, point, diag);
    if (status == BRAMAH_OK) status = correct_at(r, point, diag);
    if (status == BRAMAH_OK && r->has_inputs[slot])
      status = bramah_filter_set_inputs(r->filter, r->inputs + slot * r->n_input, diag);
    if (status != BRAMAH_OK) blame(r, point, status, diag);
    if (point == p->present) break;
  }
  if (status != BRAMAH_OK) {
    bramah__restore_body(r->filter, r->backup);
    forget_uses(r);
    return status;
  }

  if (p->next < p->seen) {
    const int64_t depth_ns = (wanted - p->next) * r->step_ns;
    p->counts.rewinds++;
    p->counts.recomputed += (uint64_t)(p->present - from);
    if (depth_ns > p->counts.deepest_ns) p->counts.deepest_ns = depth_ns;
  }
  complete(r);
  return BRAMAH_OK;
}

bramah_status bramah_rewind_settle(bramah_rewind *rewind, bramah_diag *diag)
{
  forget_uses(rewind);
  return catch_up(rewind, rewind->progress.present, diag);
}

bramah_status bramah_rewind_advance(bramah_rewind *rewind, bramah_diag *diag)
{
  bramah_rewind *r = rewind;
  const int64_t coming = r->progress.present + 1;
  forget_uses(r);
  bramah_status status = catch_up(r, coming, diag);
  if (status != BRAMAH_OK) return status;

  /* If the step fails what was settled counts. */
  const size_t n_uses = r->n_uses, dof = r->nis_dof;
  const double nis = r->nis;
  bramah__save_body(r->filter, r->backup);
  status = step_to(r, coming, diag);
  if (status == BRAMAH_OK) status = correct_at(r, coming, diag);
  if (status != BRAMAH_OK) {
    bramah__restore_body(r->filter, r->backup);
    r->n_uses = n_uses, r->nis_dof = dof, r->nis = nis;
    return blame(r, coming, status, diag);
  }

  /* The slot of the point after it is free now. */
  r->progress.present = coming;
  complete(r);
  for (size_t i = 0; i < r->n_sensors; i++) r->n_samples[list_of(r, coming + 1, i)] = 0;
  r->has_inputs[slot_of(r, coming + 1)] = 0;
  return BRAMAH_OK;
}

/* A failed attempt has spoilt snapshots; computing the same steps again mends them. */
bramah_status bramah_rewind_discard(bramah_rewind *rewind, bramah_diag *diag)
{
  bramah_rewind *r = rewind;
  const size_t points = (size_t)(r->progress.present + 2 - oldest(r));
  for (size_t k = 0; k < points * r->n_sensors; k++) {
    const size_t list = list_of(r, oldest(r) + (int64_t)(k / r->n_sensors), k % r->n_sensors);
    kept_sample *at = r->samples + list * r->room;
    size_t n = 0;
    for (size_t i = 0; i < r->n_samples[list]; i++)
      if (at[i].used) at[n++] = at[i];
    r->progress.counts.discarded += r->n_samples[list] - n;
    r->n_samples[list] = n;
  }
  return r->progress.seen ? bramah_rewind_settle(r, diag) : BRAMAH_OK;
}

bramah_rewind_report bramah_rewind_get_report(const bramah_rewind *r)
{
  bramah_rewind_report report = r->progress.counts;
  report.oldest_ns = time_of(r, oldest(r)) - r->step_ns / 2;
  report.use = r->uses;
  report.n_uses = r->n_uses;
  report.nis = r->nis;
  report.nis_dof = r->nis_dof;
  return report;
}

/* ---- snapshots: | seal | progress | arrays of REWIND_STATE | the filter, sealed | ---- */

/* Bytes before the filter. */
static size_t own_size(const bramah_rewind *r)
{
  size_t size = sizeof(bramah__seal) + sizeof r->progress;
  REWIND_STATE(BRAMAH__FIELD_ADD)
  return size;
}

/* Of the filter, the window and the rooms. */
static uint64_t identity(const bramah_rewind *r)
{
  const size_t size[] = {r->window, r->every, r->room, r->n_input};
  uint64_t hash = bramah__mix(bramah__mix_text(0, "rewind"), r->filter->identity);
  for (size_t i = 0; i < sizeof size / sizeof *size; i++) hash = bramah__mix(hash, size[i]);
  return hash;
}

size_t bramah_rewind_snapshot_size(const bramah_rewind *rewind)
{
  return own_size(rewind) + bramah_filter_snapshot_size(rewind->filter);
}

void bramah_rewind_save(const bramah_rewind *rewind, void *snap)
{
  const bramah_rewind *r = rewind, *fields = r;
  unsigned char *out = (unsigned char *)snap + sizeof(bramah__seal);
  out = bramah__put(out, &r->progress, sizeof r->progress);
  REWIND_STATE(BRAMAH__FIELD_PUT)
  bramah_filter_save(r->filter, out);
  bramah__seal_put(snap, identity(r), bramah_rewind_snapshot_size(r));
}

/* The samples of the points from slots that hold any, and the filter at those that are gone back to. r: a copy of
 * the buffer whose progress and arrays are those of the snapshot. */
static int is_sound(const bramah_rewind *r, int64_t filter_ns)
{
  const rewind_progress *p = &r->progress;
  const int64_t slots = (int64_t)r->n_slots, every = (int64_t)r->every;
  int64_t now_ns;
  if (p->present < 0 || p->present > INT64_MAX / 3 / r->step_ns || !bramah__is_time(p->start_ns) ||
      time_of(r, p->present) != filter_ns)
    return 0;
  if (p->next < oldest(r) || p->next > p->present + 1 || p->seen < 0 || p->seen > p->present + 1) return 0;

  for (int64_t point = p->present + 1; point >= 0 && point > p->present + 1 - slots; point--)
    for (size_t i = 0; i < r->n_sensors; i++) {
      const size_t list = list_of(r, point, i);
      if (r->n_samples[list] > r->room) return 0;
      for (size_t k = 0; k < r->n_samples[list]; k++) {
        const kept_sample *sample = &r->samples[list * r->room + k];
        if (sample->time_ns < time_of(r, point - 1) || sample->time_ns > time_of(r, point + 1)) return 0;
      }
    }
  const int64_t last = p->present - p->present % every, oldest_kept = oldest(r) - oldest(r) % every;
  for (int64_t point = last; point >= oldest_kept; point -= every)
    if (!bramah__body_is_sound(r->filter, snapshot_of(r, point), &now_ns) || now_ns != time_of(r, point))
      return 0;
  return 1;
}

bramah_status bramah_rewind_check_snapshot(const bramah_rewind *rewind, const void *snap, size_t size,
                                           bramah_diag *diag)
{
  bramah_rewind there = *rewind, *r = &there, *fields = r;
  bramah_status status = bramah__seal_check(snap, size, identity(r), bramah_rewind_snapshot_size(r), diag);
  if (status != BRAMAH_OK) return status;
  const unsigned char *filter = (const unsigned char *)snap + own_size(r);
  status = bramah_filter_check_snapshot(r->filter, filter, bramah_filter_snapshot_size(r->filter), diag);
  if (status != BRAMAH_OK) return status;

  const unsigned char *in = (const unsigned char *)snap + sizeof(bramah__seal);
  in = bramah__get(&there.progress, in, sizeof there.progress);
  REWIND_STATE(BRAMAH__FIELD_LOOK)
  return is_sound(r, bramah__snapshot_time_ns(r->filter, filter)) ? BRAMAH_OK : bramah__seal_broken(diag);
}

bramah_status bramah_rewind_restore(bramah_rewind *rewind, const void *snap)
{
  bramah_rewind *r = rewind, *fields = r;
  bramah_status status = bramah_rewind_check_snapshot(r, snap, bramah_rewind_snapshot_size(r), NULL);
  if (status == BRAMAH_OK)
    status = bramah_filter_restore(r->filter, (const unsigned char *)snap + own_size(r));
  if (status != BRAMAH_OK) return status;
  const unsigned char *in = (const unsigned char *)snap + sizeof(bramah__seal);
  in = bramah__get(&r->progress, in, sizeof r->progress);
  REWIND_STATE(BRAMAH__FIELD_GET)
  forget_uses(r);
  return BRAMAH_OK;
}
