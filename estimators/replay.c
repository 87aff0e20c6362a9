/* SPDX-License-Identifier: MIT */
#include "bramah/replay.h"
#include "lib/base/arena.h"
#include "lib/base/diag.h"

#include <string.h>

struct bramah_replay {
  bramah_filter *filter;
  bramah_source source;
  void *user;
  int64_t step_ns, max_gap_ns;
  bramah_sample sample;   /* read ahead, if `waiting` */
  double *inputs;         /* [n_input] in force */
  unsigned char *nothing; /* [n_sensors] zero */
  bramah_replay_watcher watcher;
  int started, waiting, ended;
  int64_t time_ns; /* of the grid point the filter stands at */
  int64_t last_ns; /* of the sample read last */
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
  return object;
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
  *out = r;
  return BRAMAH_OK;
}

void bramah_replay_free(bramah_replay *replay) { bramah__aligned_free(replay); }

void bramah_replay_watch(bramah_replay *replay, const bramah_replay_watcher *watcher)
{
  replay->watcher = watcher ? *watcher : (bramah_replay_watcher){0};
}

static bramah_status predict(bramah_replay *r, bramah_diag *diag)
{
  const bramah_replay_watcher *w = &r->watcher;
  const bramah_status status = bramah_filter_predict(r->filter, diag);
  return status == BRAMAH_OK && w->predicted ? w->predicted(w->user, r->filter, diag) : status;
}

static bramah_status correct(bramah_replay *r, const unsigned char *present, bramah_diag *diag)
{
  const bramah_replay_watcher *w = &r->watcher;
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
  return BRAMAH_OK;
}

static void note_shift(bramah_replay *r)
{
  const int64_t shift = r->sample.time_ns - r->time_ns, size = shift < 0 ? -shift : shift;
  if (size == 0) return;
  r->counts.off_grid++;
  if (size > r->counts.max_shift_ns) r->counts.max_shift_ns = size;
}

/* Fuse the waiting sample and take over its commands. */
static bramah_status use_sample(bramah_replay *r, int *corrected, bramah_diag *diag)
{
  note_shift(r);
  for (size_t i = 0; i < bramah_filter_n_sensors(r->filter); i++)
    if (r->sample.present[i]) r->counts.measurements++, *corrected = 1;
  bramah_status status = correct(r, r->sample.present, diag);
  if (status != BRAMAH_OK) return status;
  for (size_t i = 0; i < bramah_filter_plant(r->filter)->n_input; i++)
    if (r->sample.has_input[i]) r->inputs[i] = r->sample.inputs[i];
  r->waiting = 0;
  return bramah_filter_set_inputs(r->filter, r->inputs, diag);
}

/* Does the waiting sample belong to the present grid point? It is used at the nearest one. */
static int belongs_here(const bramah_replay *r)
{
  return r->waiting && r->sample.time_ns - r->time_ns < r->step_ns - r->step_ns / 2;
}

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

bramah_status bramah_replay_next(bramah_replay *replay, int64_t *time_ns, int *corrected, int *end,
                                 bramah_diag *diag)
{
  *corrected = 0;
  *end = 0;
  bramah_status status = merge_late_samples(replay, diag);
  if (status != BRAMAH_OK) return status;
  if (!replay->waiting) {
    *end = 1;
    return BRAMAH_OK;
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
