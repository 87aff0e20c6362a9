/* SPDX-License-Identifier: MIT */
#include "bramah/replay.h"
#include "lib/base/arena.h"
#include "lib/base/diag.h"

#include <math.h>
#include <string.h>

struct bramah_replay {
  bramah_filter *filter;
  bramah_source source;
  void *user;
  int64_t step_ns, max_gap_ns;
  bramah_sample sample;   /* read ahead, if `waiting` */
  double *inputs;         /* [n_input] in force */
  unsigned char *nothing; /* [n_sensors] zero */
  bramah_watcher watcher;
  int started, waiting, ended;
  bramah_rewind *rewind;         /* NULL: no sensor has a delay */
  bramah_innovation *innovation; /* [n_sensors] of the samples new to the last step, with a rewind buffer */
  int64_t zero_ns;               /* time of the log at time 0 of the filter */
  int handed;                    /* the waiting sample is in the rewind buffer */
  int64_t time_ns;               /* of the grid point the filter stands at */
  int64_t last_ns;               /* of the sample read last */
  bramah_replay_counts counts;
};

void bramah_replay_options_default(bramah_replay_options *options)
{
  options->max_gap_ns = INT64_C(10000000000);
}

static bramah_replay *layout(const bramah_filter *filter, bramah__arena *arena)
{
  const size_t n_input = bramah_filter_plant(filter)->n_input, n_sensors = bramah_filter_n_sensors(filter);
  bramah_replay *object = BRAMAH__TAKE(arena, bramah_replay, 1), counted = {0};
  bramah_replay *r = object ? object : &counted;
  r->sample.inputs = BRAMAH__TAKE(arena, double, n_input);
  r->sample.has_input = BRAMAH__TAKE(arena, unsigned char, n_input);
  r->sample.y = BRAMAH__TAKE(arena, double, n_sensors);
  r->sample.present = BRAMAH__TAKE(arena, unsigned char, n_sensors);
  r->inputs = BRAMAH__TAKE(arena, double, n_input);
  r->nothing = BRAMAH__TAKE(arena, unsigned char, n_sensors);
  r->innovation = BRAMAH__TAKE(arena, bramah_innovation, n_sensors);
  return object;
}

static int64_t longest_delay(const bramah_filter *filter)
{
  int64_t longest = 0;
  for (size_t i = 0; i < bramah_filter_n_sensors(filter); i++) {
    const int64_t delay = bramah_filter_sensor(filter, i)->delay_ns;
    if (delay > longest) longest = delay;
  }
  return longest;
}

/* The buffer that delays need. A row may come up to half a step after the point it is used at. */
static bramah_status make_rewind(bramah_replay *r, bramah_diag *diag)
{
  enum { ROWS_PER_STEP = 16 };
  bramah_rewind_options options;
  bramah_rewind_options_default(&options);
  options.longest_delay_ns = longest_delay(r->filter);
  options.samples_per_step = ROWS_PER_STEP;
  if (options.longest_delay_ns <= 0) return BRAMAH_OK;
  options.longest_delay_ns += r->step_ns;
  return bramah_rewind_new(r->filter, &options, diag, &r->rewind);
}

bramah_status bramah_replay_new(bramah_filter *filter, const bramah_replay_options *options,
                                bramah_source source, void *source_user, bramah_diag *diag,
                                bramah_replay **out)
{
  bramah__arena arena = bramah__arena_make(NULL, 0);
  layout(filter, &arena);
  const size_t size = arena.used;
  void *mem = bramah__aligned_new(size);
  if (!mem) return bramah__fail(diag, BRAMAH_E_MEMORY, "replay", "out of memory");
  arena = bramah__arena_make(mem, size);
  bramah_replay *r = layout(filter, &arena);
  bramah_replay_options defaults;
  bramah_replay_options_default(&defaults);
  r->filter = filter;
  r->source = source;
  r->user = source_user;
  r->step_ns = bramah_filter_plant(filter)->step_ns;
  r->max_gap_ns = options ? options->max_gap_ns : defaults.max_gap_ns;
  const bramah_status status = make_rewind(r, diag);
  if (status == BRAMAH_OK)
    *out = r;
  else
    bramah_replay_free(r);
  return status;
}

void bramah_replay_free(bramah_replay *replay)
{
  if (replay) bramah_rewind_free(replay->rewind);
  bramah__aligned_free(replay);
}

void bramah_replay_watch(bramah_replay *replay, const bramah_watcher *watcher)
{
  replay->watcher = watcher ? *watcher : (bramah_watcher){0};
  if (replay->rewind) bramah_rewind_watch(replay->rewind, watcher);
}

static bramah_status predict(bramah_replay *r, bramah_diag *diag)
{
  const bramah_watcher *w = &r->watcher;
  const bramah_status status = bramah_filter_predict(r->filter, diag);
  return status == BRAMAH_OK && w->predicted ? w->predicted(w->user, r->filter, diag) : status;
}

static bramah_status correct(bramah_replay *r, const unsigned char *present, bramah_diag *diag)
{
  const bramah_watcher *w = &r->watcher;
  const bramah_status status = bramah_filter_correct(r->filter, r->sample.y, present, diag);
  return status == BRAMAH_OK && w->corrected ? w->corrected(w->user, r->filter, diag) : status;
}

static bramah_status time_error(int64_t now, int64_t before, const char *message, bramah_diag *diag)
{
  bramah__fail(diag, BRAMAH_E_TIME, "t", message);
  bramah__add_text(diag, ": ");
  bramah__add_number(diag, (double)now * 1e-9, 12);
  bramah__add_text(diag, " s after ");
  bramah__add_number(diag, (double)before * 1e-9, 12);
  bramah__add_text(diag, " s");
  return BRAMAH_E_TIME;
}

/* Read one sample ahead. */
static bramah_status look_ahead(bramah_replay *r, bramah_diag *diag)
{
  if (r->waiting || r->ended) return BRAMAH_OK;
  memset(r->sample.has_input, 0, bramah_filter_plant(r->filter)->n_input);
  memset(r->sample.present, 0, bramah_filter_n_sensors(r->filter));
  int end = 0;
  const bramah_status status = r->source(r->user, &r->sample, &end, diag);
  if (status != BRAMAH_OK) return status;
  if (end) {
    r->ended = 1;
    return BRAMAH_OK;
  }
  if (r->counts.samples) {
    if (r->sample.time_ns <= r->last_ns)
      return time_error(r->sample.time_ns, r->last_ns, "time does not go forward", diag);
    if (r->sample.time_ns - r->last_ns > r->max_gap_ns)
      return time_error(r->sample.time_ns, r->last_ns,
                        "time jumps ahead further than the longest gap allowed", diag);
  }
  r->last_ns = r->sample.time_ns;
  r->counts.samples++;
  r->waiting = 1;
  r->handed = 0;
  return BRAMAH_OK;
}

static void note_shift(bramah_replay *r)
{
  const int64_t shift = r->sample.time_ns - r->time_ns, size = shift < 0 ? -shift : shift;
  if (size == 0) return;
  r->counts.off_grid++;
  if (size > r->counts.max_shift_ns) r->counts.max_shift_ns = size;
}

/* Commands of the waiting sample, which is used up. */
static const double *take_inputs(bramah_replay *r)
{
  for (size_t i = 0; i < bramah_filter_plant(r->filter)->n_input; i++)
    if (r->sample.has_input[i]) r->inputs[i] = r->sample.inputs[i];
  r->waiting = 0;
  return r->inputs;
}

/* Put the measurements of the waiting sample into the rewind buffer, each at the time it was made. */
static bramah_status hand_over(bramah_replay *r, bramah_diag *diag)
{
  if (r->handed) return BRAMAH_OK;
  r->handed = 1;
  for (size_t i = 0; i < bramah_filter_n_sensors(r->filter); i++) {
    if (!r->sample.present[i]) continue;
    const int64_t arrived = r->sample.time_ns - r->zero_ns;
    const bramah_status status = bramah_rewind_sample(
        r->rewind, i, arrived - bramah_filter_sensor(r->filter, i)->delay_ns, r->sample.y[i], diag);
    if (status != BRAMAH_OK && status != BRAMAH_E_TIME) return status; /* those too old are counted there */
  }
  return BRAMAH_OK;
}

/* Fuse the waiting sample, or hand it over to be fused by the next step, and take over its commands. */
static bramah_status use_sample(bramah_replay *r, int *corrected, bramah_diag *diag)
{
  note_shift(r);
  if (r->rewind) {
    const bramah_status status = hand_over(r, diag);
    return status == BRAMAH_OK ? bramah_rewind_set_inputs(r->rewind, take_inputs(r), diag) : status;
  }
  for (size_t i = 0; i < bramah_filter_n_sensors(r->filter); i++)
    if (r->sample.present[i]) r->counts.measurements++, *corrected = 1;
  bramah_status status = correct(r, r->sample.present, diag);
  if (status != BRAMAH_OK) return status;
  return bramah_filter_set_inputs(r->filter, take_inputs(r), diag);
}

/* Does the waiting sample belong to a grid point, the present one? It is used at the nearest one. */
static int belongs_to(const bramah_replay *r, int64_t time_ns)
{
  return r->waiting && r->sample.time_ns - time_ns < r->step_ns - r->step_ns / 2;
}
static int belongs_here(const bramah_replay *r) { return belongs_to(r, r->time_ns); }

/* Samples that still belong to the point delivered last (a log faster than the step) are fused there and
 * then; nothing is read beyond the sample that is needed, so that a live source is never waited for in vain.
 */
static bramah_status merge_late_samples(bramah_replay *r, bramah_diag *diag)
{
  bramah_status status = look_ahead(r, diag);
  while (status == BRAMAH_OK && r->started && belongs_here(r)) {
    int corrected = 0;
    status = use_sample(r, &corrected, diag);
    r->counts.merged++;
    if (status == BRAMAH_OK) status = look_ahead(r, diag);
  }
  return status;
}

static bramah_status advance(bramah_replay *r, bramah_diag *diag)
{
  if (!r->started) {
    r->started = 1;
    r->time_ns = r->sample.time_ns;
    return BRAMAH_OK;
  }
  const bramah_status status = predict(r, diag);
  if (status != BRAMAH_OK) return status;
  r->time_ns += r->step_ns;
  r->counts.steps++;
  return BRAMAH_OK;
}

/* What the rewind buffer fused in its last call. */
static void collect_uses(bramah_replay *r, int *corrected)
{
  size_t n;
  const bramah_rewind_use *use = bramah_rewind_uses(r->rewind, &n);
  for (size_t i = 0; i < bramah_filter_n_sensors(r->filter); i++)
    r->innovation[i] = (bramah_innovation){.innovation = NAN, .sigma = NAN, .nis = NAN};
  for (size_t k = 0; k < n; k++) r->innovation[use[k].sensor] = use[k].innovation;
  r->counts.measurements += n;
  *corrected = n > 0;
}

/* The first point: nothing to step over. */
static bramah_status start_with_rewind(bramah_replay *r, bramah_diag *diag)
{
  r->started = 1;
  r->time_ns = r->sample.time_ns;
  r->zero_ns = r->time_ns - bramah_filter_time_ns(r->filter);
  const bramah_status status = hand_over(r, diag);
  return status == BRAMAH_OK ? bramah_rewind_settle(r->rewind, diag) : status;
}

static bramah_status step_with_rewind(bramah_replay *r, bramah_diag *diag)
{
  bramah_status status = BRAMAH_OK;
  if (belongs_to(r, r->time_ns + r->step_ns)) status = hand_over(r, diag);
  if (status == BRAMAH_OK) status = bramah_rewind_advance(r->rewind, diag);
  if (status != BRAMAH_OK) return status;
  r->time_ns += r->step_ns;
  r->counts.steps++;
  return BRAMAH_OK;
}

static bramah_status next_with_rewind(bramah_replay *r, int *corrected, bramah_diag *diag)
{
  const bramah_status status = r->started ? step_with_rewind(r, diag) : start_with_rewind(r, diag);
  if (status != BRAMAH_OK) return status;
  collect_uses(r, corrected);
  return belongs_here(r) ? use_sample(r, corrected, diag) : BRAMAH_OK;
}

/* The source has ended: fuse what came after the last step. */
static bramah_status finish(bramah_replay *r, bramah_diag *diag)
{
  int corrected;
  if (!r->rewind || !r->started) return BRAMAH_OK;
  const bramah_status status = bramah_rewind_settle(r->rewind, diag);
  if (status == BRAMAH_OK) collect_uses(r, &corrected);
  return status;
}

bramah_status bramah_replay_next(bramah_replay *replay, int64_t *time_ns, int *corrected, int *end,
                                 bramah_diag *diag)
{
  *corrected = 0;
  *end = 0;
  bramah_status status = merge_late_samples(replay, diag);
  if (status != BRAMAH_OK) return status;
  if (!replay->waiting) {
    *end = 1;
    return finish(replay, diag);
  }
  if (replay->rewind) {
    status = next_with_rewind(replay, corrected, diag);
    *time_ns = replay->time_ns;
    return status;
  }
  status = advance(replay, diag);
  if (status != BRAMAH_OK) return status;
  if (belongs_here(replay))
    status = use_sample(replay, corrected, diag);
  else
    status = correct(replay, replay->nothing, diag);
  *time_ns = replay->time_ns;
  return status;
}

bramah_status bramah_replay_run(bramah_replay *replay, bramah_sink sink, void *sink_user, bramah_diag *diag)
{
  for (;;) {
    int64_t time_ns;
    int corrected, end;
    bramah_status status = bramah_replay_next(replay, &time_ns, &corrected, &end, diag);
    if (status != BRAMAH_OK || end) return status;
    status = sink(sink_user, time_ns, corrected, replay->filter, diag);
    if (status != BRAMAH_OK) return status;
  }
}

bramah_replay_counts bramah_replay_report(const bramah_replay *replay) { return replay->counts; }

const bramah_innovation *bramah_replay_innovations(const bramah_replay *replay)
{
  return replay->rewind ? replay->innovation : bramah_filter_innovations(replay->filter);
}

double bramah_replay_nis(const bramah_replay *replay, size_t *degrees_of_freedom)
{
  if (replay->rewind) return bramah_rewind_nis(replay->rewind, degrees_of_freedom);
  return bramah_filter_nis(replay->filter, degrees_of_freedom);
}

const bramah_rewind *bramah_replay_rewind(const bramah_replay *replay) { return replay->rewind; }

/* ---- snapshots ---- */

/* All that belongs to this object and not to its state. */
static void take_pointers(bramah_replay *to, const bramah_replay *from)
{
  to->filter = from->filter;
  to->source = from->source;
  to->user = from->user;
  to->watcher = from->watcher;
  to->rewind = from->rewind;
  to->sample.inputs = from->sample.inputs;
  to->sample.has_input = from->sample.has_input;
  to->sample.y = from->sample.y;
  to->sample.present = from->sample.present;
  to->inputs = from->inputs;
  to->nothing = from->nothing;
  to->innovation = from->innovation;
}

/* The object with its arrays, as the arena has cut them. */
static size_t block_size(const bramah_replay *replay)
{
  bramah__arena arena = bramah__arena_make(NULL, 0);
  layout(replay->filter, &arena);
  return arena.used;
}

size_t bramah_replay_snapshot_size(const bramah_replay *replay)
{
  return block_size(replay) + (replay->rewind ? bramah_rewind_snapshot_size(replay->rewind)
                                              : bramah_filter_snapshot_size(replay->filter));
}

void bramah_replay_save(const bramah_replay *replay, void *snap)
{
  const bramah_replay none = {0};
  const size_t size = block_size(replay);
  unsigned char *rest = (unsigned char *)snap + size;
  memcpy(snap, replay, size);
  take_pointers(snap, &none);
  if (replay->rewind)
    bramah_rewind_save(replay->rewind, rest);
  else
    bramah_filter_save(replay->filter, rest);
}

void bramah_replay_restore(bramah_replay *replay, const void *snap)
{
  const bramah_replay kept = *replay;
  const size_t size = block_size(replay);
  const unsigned char *rest = (const unsigned char *)snap + size;
  memcpy(replay, snap, size);
  take_pointers(replay, &kept);
  replay->ended = 0;
  if (replay->rewind)
    bramah_rewind_restore(replay->rewind, rest);
  else
    bramah_filter_restore(replay->filter, rest);
}
