/* SPDX-License-Identifier: MIT */
/* Rows wait in a queue until the point of the step grid comes that they belong to:
 *
 *     t, where the filter is             t + h, the coming point
 *   --o------------)[------------------------o------------------)[-----
 *       rows of t  |              rows of the coming point       | one row beyond it ends the reading
 *                  |<- known before the step: their commands ->|
 *
 * Gathering, the queue is filled up to the first row beyond the coming point before the step is made; live,
 * with one row. */
#include "estimators/replay_internal.h"
#include "lib/base/arena.h"
#include "lib/base/diag.h"
#include "lib/base/seal.h"

#include <math.h>
#include <string.h>

/* ---- making and releasing ---- */

void bramah_replay_options_default(bramah_replay_options *options)
{
  *options = (bramah_replay_options){.max_gap_ns = INT64_C(10000000000), .gather = 0};
}

static bramah_replay *layout(const bramah_filter *filter, bramah__arena *arena)
{
  const bramah_filter_info info = bramah_filter_get_info(filter);
  bramah_replay *object = BRAMAH__TAKE(arena, bramah_replay, 1), counted = {0};
  bramah_replay *r = object ? object : &counted, *fields = r;
  r->n_input = info.plant->n_input;
  r->n_sensors = info.n_sensors;
  r->step_ns = info.plant->step_ns;
  r->sensor = info.sensor;
  REPLAY_STATE(BRAMAH__FIELD_TAKE)
  REPLAY_WORK(BRAMAH__FIELD_TAKE)
  return object;
}

bramah_status bramah_replay_new(bramah_filter *filter, const bramah_replay_options *options,
                                bramah_source source, void *source_user, bramah_diag *diag,
                                bramah_replay **out)
{
  enum { ROWS_PER_STEP = 16 };
  bramah__arena arena = bramah__arena_make(NULL, 0);
  layout(filter, &arena);
  bramah_status status = bramah__arena_new("replay", arena.used, &arena, diag);
  if (status != BRAMAH_OK) return status;
  bramah_replay *r = layout(filter, &arena);
  r->filter = filter;
  r->source = source;
  r->user = source_user;
  bramah_replay_options_default(&r->options);
  if (options) r->options = *options;

  /* The buffer that delays need. A row may come up to half a step after the point it is used at. */
  bramah_rewind_options rewind = {.snapshot_every = 1, .samples_per_step = ROWS_PER_STEP};
  for (size_t i = 0; i < r->n_sensors; i++)
    if (r->sensor[i].delay_ns > rewind.longest_delay_ns) rewind.longest_delay_ns = r->sensor[i].delay_ns;
  if (rewind.longest_delay_ns > 0) {
    rewind.longest_delay_ns += r->step_ns;
    status = bramah_rewind_new(filter, &rewind, diag, &r->rewind);
    if (status == BRAMAH_OK) bramah__rewind_watch(r->rewind, &r->options.watcher);
  }
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

/* ---- reading ---- */

/* Place in the ring of the k-th row that waits. */
static size_t place_of(const bramah_replay *r, size_t k) { return (r->progress.first + k) % QUEUE; }

static bramah_sample sample_at(const bramah_replay *r, size_t place)
{
  return (bramah_sample){.time_ns = r->row[place].time_ns,
                         .inputs = r->row_inputs + place * r->n_input,
                         .has_input = r->row_has_input + place * r->n_input,
                         .y = r->row_y + place * r->n_sensors,
                         .present = r->row_present + place * r->n_sensors,
                         .mark = r->row[place].mark};
}

/* One row to the end of the queue. */
static void read_row(bramah_replay *r)
{
  replay_progress *p = &r->progress;
  const size_t place = place_of(r, p->n_rows);
  bramah_sample sample = sample_at(r, place);
  memset(sample.has_input, 0, r->n_input);
  memset(sample.present, 0, r->n_sensors);
  sample.mark = 0;
  bramah_diag_clear(&r->failure);
  r->failed = r->source(r->user, &sample, &r->ended, &r->failure);
  r->row[place] = (waiting_row){.time_ns = sample.time_ns, .mark = sample.mark};
  if (r->failed == BRAMAH_OK && r->ended) return;

  const int64_t now = sample.time_ns, before = p->counts.read_ns;
  if (r->failed == BRAMAH_OK && p->counts.samples &&
      (now <= before || now - before > r->options.max_gap_ns)) {
    r->failed = bramah__fail(&r->failure, BRAMAH_E_TIME, "t",
                             now <= before ? "time does not go forward: "
                                           : "time jumps ahead further than the longest gap allowed: ");
    bramah__add_number(&r->failure, (double)now * 1e-9, 12);
    bramah__add_text(&r->failure, " s after ");
    bramah__add_number(&r->failure, (double)before * 1e-9, 12);
    bramah__add_text(&r->failure, " s");
  }
  r->ended = r->failed != BRAMAH_OK;
  if (r->ended) return;
  p->counts.read_ns = sample.time_ns;
  p->counts.samples++;
  p->n_rows++;
}

/* Does the k-th row belong to the point of that time? A row is used at the nearest grid point; halfway
 * between two, at the later. At the start there is no last step to form innovations off it with: what comes
 * after it belongs to the next point. */
static int belongs_to(const bramah_replay *r, size_t k, int64_t time_ns)
{
  const int64_t after_ns = r->row[place_of(r, k)].time_ns - time_ns;
  const int at_start = r->progress.counts.steps == 0 && time_ns == r->progress.time_ns;
  return at_start ? after_ns <= 0 : after_ns < r->step_ns - r->step_ns / 2;
}

/* At least one row, if there is one; gathering, up to the first that lies beyond the point of that time. */
static void fill(bramah_replay *r, int64_t time_ns)
{
  const replay_progress *p = &r->progress;
  while (!r->ended && p->n_rows < QUEUE) {
    if (p->n_rows && (!r->options.gather || !belongs_to(r, p->n_rows - 1, time_ns))) return;
    read_row(r);
  }
}

/* The row in front belongs to the point where the filter is. */
static int belongs_here(const bramah_replay *r)
{
  return r->progress.n_rows && belongs_to(r, 0, r->progress.time_ns);
}

/* ---- commands ---- */

/* Those of a row, from its time on; later than those before. */
static void take_commands(bramah_replay *r, size_t place)
{
  const bramah_sample sample = sample_at(r, place);
  const int64_t after_ns = sample.time_ns - r->progress.time_ns;
  if (r->row[place].commanded) return;
  r->row[place].commanded = r->progress.news = 1;
  for (size_t i = 0; i < r->n_input; i++) {
    if (!sample.has_input[i] || sample.inputs[i] == r->latest[i]) continue;
    if (after_ns > 0) {
      r->integral[i] += r->latest[i] * (double)(after_ns - r->since[i]);
      r->since[i] = after_ns;
      r->progress.mixed = 1;
    }
    r->latest[i] = sample.inputs[i];
  }
}

/* Give the plant what is known of the coming step: of commands that change within it the mean. */
static bramah_status set_commands(bramah_replay *r, bramah_diag *diag)
{
  if (!r->progress.news) return BRAMAH_OK;
  r->progress.news = 0;
  for (size_t i = 0; i < r->n_input; i++) {
    const double rest = (double)(r->step_ns - r->since[i]);
    r->held[i] = r->since[i] ? (r->integral[i] + r->latest[i] * rest) / (double)r->step_ns : r->latest[i];
  }
  int finite = 1;
  for (size_t i = 0; i < r->n_input; i++) finite &= isfinite(r->held[i]) != 0;
  if (r->defers && finite) return r->has_inputs = 1, BRAMAH_OK;
  if (r->rewind) return bramah_rewind_set_inputs(r->rewind, r->held, diag);
  return bramah_filter_set_inputs(r->filter, r->held, diag);
}

/* Those of all waiting rows of the coming step. */
static bramah_status plan_step(bramah_replay *r, bramah_diag *diag)
{
  for (size_t k = 0; k < r->progress.n_rows; k++) {
    const size_t place = place_of(r, k);
    if (r->row[place].time_ns - r->progress.time_ns >= r->step_ns) break;
    take_commands(r, place);
  }
  return set_commands(r, diag);
}

/* The step was made: the next one begins. */
static void step_made(bramah_replay *r)
{
  replay_progress *p = &r->progress;
  memcpy(r->stepped, r->held, r->n_input * sizeof *r->held);
  if (p->mixed) { /* the plant held something else than the latest commands */
    memset(r->integral, 0, r->n_input * sizeof *r->integral);
    memset(r->since, 0, r->n_input * sizeof *r->since);
    p->mixed = 0;
    p->news = 1;
  }
  p->time_ns += r->step_ns;
  p->counts.steps++;
}

/* ---- measurements ---- */

/* A sample was fused for the first time. */
static void tell(bramah_replay *r, size_t sensor, int64_t time_ns, double y, const bramah_innovation *in)
{
  const bramah_listener *l = &r->options.listener;
  r->innovation[sensor] = *in;
  if (l->used) l->used(l->user, &(bramah_rewind_use){sensor, time_ns, y, *in});
}

/* The correction that was gathered is made. */
static void correction_made(bramah_replay *r)
{
  replay_progress *p = &r->progress;
  const bramah_filter_last last = bramah_filter_get_last(r->filter);
  for (size_t i = 0; i < r->n_sensors; i++)
    if (r->present[i]) tell(r, i, p->time_ns + r->offset_ns[i], r->y[i], &last.innovation[i]);
  r->nis += last.nis;
  r->nis_dof += last.nis_dof;
  p->counts.measurements += (uint64_t)p->gathered;
  memset(r->present, 0, r->n_sensors);
  p->gathered = 0;
  r->fused++;
}

/* Put the measurements of a row into the rewind buffer, each at the time it was made. */
static bramah_status hand_over(bramah_replay *r, size_t place, bramah_diag *diag)
{
  const bramah_sample sample = sample_at(r, place);
  if (r->row[place].handed) return BRAMAH_OK;
  r->row[place].handed = 1;
  for (size_t i = 0; i < r->n_sensors; i++) {
    if (!sample.present[i]) continue;
    const int64_t measured_ns = sample.time_ns - r->progress.zero_ns - r->sensor[i].delay_ns;
    const bramah_status status = bramah_rewind_sample(r->rewind, i, measured_ns, sample.y[i], diag);
    if (status != BRAMAH_OK && status != BRAMAH_E_TIME) return status; /* those too old are counted there */
  }
  return BRAMAH_OK;
}

/* What the rewind buffer fused in its last call. */
static void collect_uses(bramah_replay *r, int *corrected)
{
  const bramah_rewind_report report = bramah_rewind_get_report(r->rewind);
  for (size_t k = 0; k < report.n_uses; k++) {
    const bramah_rewind_use *use = &report.use[k];
    tell(r, use->sensor, use->time_ns + r->progress.zero_ns, use->y, &use->innovation);
  }
  r->nis += report.nis;
  r->nis_dof += report.nis_dof;
  r->progress.counts.measurements += report.n_uses;
  *corrected |= report.n_uses > 0;
}

/* Has the row in front a sample of a sensor whose sample is gathered already, which is to be fused before it? */
static int repeats(const bramah_replay *r)
{
  const bramah_sample sample = sample_at(r, r->progress.first);
  for (size_t i = 0; i < r->n_sensors; i++)
    if (r->present[i] && sample.present[i]) return 1;
  return 0;
}

/* The row in front, which belongs to the present point. Its samples go to the rewind buffer, or are added to
 * the correction. */
static bramah_status use_row(bramah_replay *r, bramah_diag *diag)
{
  replay_progress *p = &r->progress;
  const size_t place = p->first;
  const bramah_sample sample = sample_at(r, place);
  const int64_t shift = sample.time_ns - p->time_ns, size = shift < 0 ? -shift : shift;
  p->counts.mark = sample.mark;
  p->counts.off_grid += size != 0;
  if (size > p->counts.max_shift_ns) p->counts.max_shift_ns = size;
  take_commands(r, place);
  p->first = (p->first + 1) % QUEUE;
  p->n_rows--;
  if (r->rewind) return hand_over(r, place, diag);

  p->gathered_mark = sample.mark;
  for (size_t i = 0; i < r->n_sensors; i++) {
    if (!sample.present[i]) continue;
    r->present[i] = 1;
    r->y[i] = sample.y[i];
    r->offset_ns[i] = shift;
    p->gathered++;
  }
  return BRAMAH_OK;
}

/* ---- points ---- */

/* With delays, on to the coming point. Its measurements are given to the buffer before the step, to be fused with it. */
static bramah_status go_on_with_rewind(bramah_replay *r, int64_t coming_ns, bramah_diag *diag)
{
  bramah_status status = BRAMAH_OK;
  for (size_t k = 0; k < r->progress.n_rows && status == BRAMAH_OK && belongs_to(r, k, coming_ns); k++)
    status = hand_over(r, place_of(r, k), diag);
  if (status == BRAMAH_OK && coming_ns == r->progress.time_ns) {
    status = bramah_rewind_settle(r->rewind, diag);
  } else {
    if (status == BRAMAH_OK) status = plan_step(r, diag);
    if (status == BRAMAH_OK) status = bramah_rewind_advance(r->rewind, diag);
    if (status == BRAMAH_OK) step_made(r);
  }
  if (status == BRAMAH_OK) collect_uses(r, &r->corrected);
  while (status == BRAMAH_OK && belongs_here(r) && r->row[r->progress.first].handed)
    status = use_row(r, diag);
  return status;
}

/* No more rows: an error that was read ahead, or the end, where what came after the last step is fused. */
static bramah_status conclude(bramah_replay *r, bramah_diag *diag)
{
  int late = 0;
  if (r->failed != BRAMAH_OK) {
    r->progress.counts.mark = r->row[r->progress.first].mark;
    if (diag) *diag = r->failure;
    return r->failed;
  }
  r->at_end = 1;
  if (!r->rewind || !r->progress.started) return BRAMAH_OK;
  const bramah_status status = bramah_rewind_settle(r->rewind, diag);
  if (status == BRAMAH_OK) collect_uses(r, &late);
  return status;
}

/* Rows that still belong to the point delivered last (a log faster than the step) are fused there and then; live,
 * nothing is read beyond the row that is needed, so that a source is never waited for in vain. 1: with a correction. */
static int finish_last(bramah_replay *r, bramah_status *status, bramah_diag *diag)
{
  replay_progress *p = &r->progress;
  fill(r, p->time_ns);
  while (*status == BRAMAH_OK && p->started && belongs_here(r)) {
    if (repeats(r)) return 1;
    *status = use_row(r, diag);
    p->counts.merged++;
    fill(r, p->time_ns);
  }
  return *status == BRAMAH_OK && p->gathered;
}

/* The rows of the point that the filter is at. 1: with a correction; the last one is made even if nothing was measured. */
static int gather_rows(bramah_replay *r, bramah_status *status, bramah_diag *diag)
{
  while (*status == BRAMAH_OK && belongs_here(r)) {
    if (repeats(r)) return 1;
    *status = use_row(r, diag);
    if (!r->options.gather) break;
    fill(r, r->progress.time_ns);
  }
  r->stage = DELIVERING;
  return *status == BRAMAH_OK && (r->progress.gathered || !r->fused);
}

/* The coming point is known: with the step to it, or the first row sets the start. */
static bramah_status begin_point(bramah_replay *r, bramah_diag *diag)
{
  replay_progress *p = &r->progress;
  if (!p->started) {
    p->time_ns = r->row[p->first].time_ns;
    p->zero_ns = p->time_ns - bramah_filter_time_ns(r->filter);
  }
  const int64_t coming_ns = p->started ? p->time_ns + r->step_ns : p->time_ns;
  p->counts.mark = r->row[p->first].mark;
  fill(r, coming_ns);
  r->measured_before = p->counts.measurements;
  r->fused = 0;
  r->stage = r->rewind ? DELIVERING : GATHERING;
  if (r->rewind) return go_on_with_rewind(r, coming_ns, diag);
  return p->started ? plan_step(r, diag) : BRAMAH_OK;
}

bramah_status bramah__replay_want(bramah_replay *r, bramah__replay_need *need, bramah_diag *diag)
{
  replay_progress *p = &r->progress;
  bramah_status status = BRAMAH_OK;
  *need = BRAMAH__NEEDS_NOTHING;
  if (r->stage == AT_POINT) {
    for (size_t i = 0; i < r->n_sensors; i++)
      r->innovation[i] = (bramah_innovation){.innovation = NAN, .sigma = NAN, .nis = NAN};
    r->nis = 0.0;
    r->nis_dof = 0;
    r->corrected = r->at_end = 0;
    r->stage = FINISHING;
  }
  if (r->stage == FINISHING) {
    if (finish_last(r, &status, diag)) return *need = BRAMAH__NEEDS_CORRECTION, BRAMAH_OK;
    if (status == BRAMAH_OK && !p->n_rows) {
      r->stage = AT_POINT;
      return conclude(r, diag);
    }
    const int steps = p->started && !r->rewind;
    if (status == BRAMAH_OK) status = begin_point(r, diag);
    if (status == BRAMAH_OK && steps) return *need = BRAMAH__NEEDS_STEP, BRAMAH_OK;
  }
  if (status == BRAMAH_OK && r->stage == GATHERING && gather_rows(r, &status, diag))
    return *need = BRAMAH__NEEDS_CORRECTION, BRAMAH_OK;
  r->stage = AT_POINT;
  p->started = 1;
  if (status == BRAMAH_OK && !r->rewind) r->corrected = p->counts.measurements > r->measured_before;
  return status == BRAMAH_OK ? set_commands(r, diag) : status;
}

bramah_status bramah__replay_watch(const bramah_replay *r, bramah__replay_need need, bramah_diag *diag)
{
  const bramah_watcher *w = &r->options.watcher;
  const int corrects = need == BRAMAH__NEEDS_CORRECTION;
  if (!w->watch) return BRAMAH_OK;
  return w->watch(w->user, corrects ? BRAMAH_FILTER_CORRECTED : BRAMAH_FILTER_PREDICTED, r->filter, diag);
}

void bramah__replay_made(bramah_replay *r, bramah__replay_need need, bramah_status status)
{
  if (status != BRAMAH_OK) {
    if (need == BRAMAH__NEEDS_CORRECTION && r->progress.gathered)
      r->progress.counts.mark = r->progress.gathered_mark;
    r->stage = AT_POINT;
  } else if (need == BRAMAH__NEEDS_CORRECTION) {
    correction_made(r);
  } else {
    step_made(r);
  }
}

bramah_status bramah__replay_make(const bramah_replay *r, bramah__replay_need need, bramah_filter *filter,
                                  bramah_diag *diag)
{
  return need == BRAMAH__NEEDS_STEP ? bramah_filter_predict(filter, diag)
                                    : bramah_filter_correct_at(filter, r->y, r->present, r->offset_ns, diag);
}

bramah_status bramah_replay_next(bramah_replay *r, int64_t *time_ns, int *corrected, int *end,
                                 bramah_diag *diag)
{
  bramah__replay_need need;
  bramah_status status = bramah__replay_want(r, &need, diag);
  while (status == BRAMAH_OK && need != BRAMAH__NEEDS_NOTHING) {
    status = bramah__replay_make(r, need, r->filter, diag);
    if (status == BRAMAH_OK) status = bramah__replay_watch(r, need, diag);
    bramah__replay_made(r, need, status);
    if (status == BRAMAH_OK) status = bramah__replay_want(r, &need, diag);
  }
  *corrected = r->corrected;
  *end = r->at_end;
  if (!r->at_end) *time_ns = r->progress.time_ns;
  return status;
}

bramah_replay_report bramah_replay_get_report(const bramah_replay *r)
{
  bramah_replay_report report = r->progress.counts;
  report.innovation = r->innovation;
  report.nis = r->nis;
  report.nis_dof = r->nis_dof;
  report.inputs = r->stepped;
  report.exhausted = r->ended && r->failed == BRAMAH_OK && !r->progress.n_rows;
  report.rewind = r->rewind;
  return report;
}

/* ---- snapshots: | seal | progress | arrays of REPLAY_STATE | the rewind buffer or the filter, sealed | ---- */

/* Bytes before the buffer or filter. */
static size_t own_size(const bramah_replay *r)
{
  size_t size = sizeof(bramah__seal) + bramah__whole_words(sizeof r->progress);
  REPLAY_STATE(BRAMAH__FIELD_ADD)
  return size;
}

/* Buffer and filter are checked on their own. */
static uint64_t identity(const bramah_replay *r)
{
  return bramah__mix(bramah__mix(bramah__mix_text(0, "replay"), r->filter->identity), r->rewind != NULL);
}

static size_t rest_size(const bramah_replay *r)
{
  return r->rewind ? bramah_rewind_snapshot_size(r->rewind) : bramah_filter_snapshot_size(r->filter);
}

size_t bramah_replay_snapshot_size(const bramah_replay *r) { return own_size(r) + rest_size(r); }

void bramah_replay_save(const bramah_replay *replay, void *snap)
{
  const bramah_replay *r = replay, *fields = r;
  unsigned char *out = (unsigned char *)snap + sizeof(bramah__seal);
  out = bramah__put(out, &r->progress, sizeof r->progress);
  REPLAY_STATE(BRAMAH__FIELD_PUT)
  if (r->rewind)
    bramah_rewind_save(r->rewind, out);
  else
    bramah_filter_save(r->filter, out);
  bramah__seal_put(snap, identity(r), bramah_replay_snapshot_size(r));
}

/* Places in the ring, and times that can be reckoned with. */
static int is_sound(const bramah_replay *r)
{
  const replay_progress *p = &r->progress;
  int good = p->first < QUEUE && p->n_rows <= QUEUE && p->gathered >= 0 && bramah__is_time(p->time_ns) &&
             bramah__is_time(p->zero_ns) && bramah__is_time(p->counts.read_ns);
  for (size_t k = 0; good && k < p->n_rows; k++) good = bramah__is_time(r->row[place_of(r, k)].time_ns);
  for (size_t i = 0; good && i < r->n_input; i++) good = r->since[i] >= 0 && r->since[i] < r->step_ns;
  for (size_t i = 0; good && i < r->n_sensors; i++) good = bramah__is_time(r->offset_ns[i]);
  return good;
}

bramah_status bramah_replay_check_snapshot(const bramah_replay *replay, const void *snap, size_t size,
                                           bramah_diag *diag)
{
  bramah_replay there = *replay, *r = &there, *fields = r;
  const bramah_status status =
      bramah__seal_check(snap, size, identity(r), bramah_replay_snapshot_size(r), diag);
  if (status != BRAMAH_OK) return status;
  const unsigned char *in = (const unsigned char *)snap + sizeof(bramah__seal);
  memcpy(&there.progress, in, sizeof there.progress);
  in += bramah__whole_words(sizeof there.progress);
  REPLAY_STATE(BRAMAH__FIELD_LOOK)
  if (!is_sound(r)) return bramah__seal_broken(diag);
  return r->rewind ? bramah_rewind_check_snapshot(r->rewind, in, rest_size(r), diag)
                   : bramah_filter_check_snapshot(r->filter, in, rest_size(r), diag);
}

bramah_status bramah_replay_restore(bramah_replay *replay, const void *snap)
{
  bramah_replay *r = replay, *fields = r;
  const unsigned char *in = snap, *rest = in + own_size(r);
  bramah_status status = bramah_replay_check_snapshot(r, snap, bramah_replay_snapshot_size(r), NULL);
  if (status == BRAMAH_OK)
    status = r->rewind ? bramah_rewind_restore(r->rewind, rest) : bramah_filter_restore(r->filter, rest);
  if (status != BRAMAH_OK) return status;
  in = bramah__get(&r->progress, in + sizeof(bramah__seal), sizeof r->progress);
  REPLAY_STATE(BRAMAH__FIELD_GET)

  /* A source that ended or failed is not the one to go on with. */
  r->ended = 0;
  r->failed = BRAMAH_OK;
  return BRAMAH_OK;
}
