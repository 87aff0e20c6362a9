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
#include "bramah/replay.h"
#include "lib/base/arena.h"
#include "lib/base/diag.h"

#include <math.h>
#include <string.h>

enum { QUEUE = 64 }; /* rows; of more than that at one point those behind are fused as live ones are */

/* Commands that change at any time, for a plant that holds them over whole steps: it is given their mean over
 * the step, what a zero-order hold of the true ones brings to first order. A command that does not change
 * within the step is passed on as it is, to the bit. */
typedef struct held_inputs {
  size_t n;
  int64_t step_ns;
  double *latest;   /* [n] */
  double *integral; /* [n] from the begin of the step to `since`, command times ns */
  int64_t *since;   /* [n] when the latest came, after the begin of the step; 0: it holds from there on */
  int mixed;        /* some command changes within the step */
} held_inputs;

typedef struct waiting_row {
  bramah_sample sample;
  int handed;    /* its measurements are in the rewind buffer */
  int commanded; /* its commands are taken */
} waiting_row;

struct bramah_replay {
  bramah_filter *filter;
  bramah_source source;
  void *user;
  int64_t step_ns, max_gap_ns;
  int gather;
  size_t n_input, n_sensors;
  waiting_row row[QUEUE];
  size_t first, n_rows;
  held_inputs commands;
  double *held, *stepped; /* [n_input] given to the plant now, and over the last step */
  int news;               /* the plant is to be given commands anew */
  double *y;              /* [n_sensors] of the correction that is being gathered */
  int64_t *offset_ns;     /* [n_sensors] */
  unsigned char *present; /* [n_sensors] */
  int gathered, fused;    /* samples in it; corrections made at this point */
  bramah_watcher watcher;
  bramah_listener listener;
  int started, ended;
  bramah_status failed; /* of a row read ahead: reported when what came before is delivered */
  bramah_diag failure;
  bramah_rewind *rewind;         /* NULL: no sensor has a delay */
  bramah_innovation *innovation; /* [n_sensors] of this call, the last of each sensor */
  double nis;
  size_t nis_dof;
  int64_t zero_ns;       /* time of the log at time 0 of the filter */
  int64_t time_ns;       /* of the grid point the filter is at */
  int64_t last_ns;       /* of the row read last */
  int64_t mark;          /* of the row in use */
  int64_t gathered_mark; /* of the last one in the correction */
  bramah_replay_counts counts;
};

void bramah_replay_options_default(bramah_replay_options *options)
{
  *options = (bramah_replay_options){.max_gap_ns = INT64_C(10000000000), .gather = 0};
}

static void layout_row(bramah_replay *r, bramah__arena *arena, bramah_sample *sample)
{
  sample->inputs = BRAMAH__TAKE(arena, double, r->n_input);
  sample->has_input = BRAMAH__TAKE(arena, unsigned char, r->n_input);
  sample->y = BRAMAH__TAKE(arena, double, r->n_sensors);
  sample->present = BRAMAH__TAKE(arena, unsigned char, r->n_sensors);
}

static bramah_replay *layout(const bramah_filter *filter, bramah__arena *arena)
{
  bramah_replay *object = BRAMAH__TAKE(arena, bramah_replay, 1), counted = {0};
  bramah_replay *r = object ? object : &counted;
  r->n_input = bramah_filter_plant(filter)->n_input;
  r->n_sensors = bramah_filter_n_sensors(filter);
  r->step_ns = bramah_filter_plant(filter)->step_ns;
  for (size_t k = 0; k < QUEUE; k++) layout_row(r, arena, &r->row[k].sample);
  r->commands.latest = BRAMAH__TAKE(arena, double, r->n_input);
  r->commands.integral = BRAMAH__TAKE(arena, double, r->n_input);
  r->commands.since = BRAMAH__TAKE(arena, int64_t, r->n_input);
  r->commands.n = r->n_input;
  r->commands.step_ns = r->step_ns;
  r->held = BRAMAH__TAKE(arena, double, r->n_input);
  r->stepped = BRAMAH__TAKE(arena, double, r->n_input);
  r->y = BRAMAH__TAKE(arena, double, r->n_sensors);
  r->offset_ns = BRAMAH__TAKE(arena, int64_t, r->n_sensors);
  r->present = BRAMAH__TAKE(arena, unsigned char, r->n_sensors);
  r->innovation = BRAMAH__TAKE(arena, bramah_innovation, r->n_sensors);
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
  if (!options) options = &defaults;
  r->filter = filter;
  r->source = source;
  r->user = source_user;
  r->max_gap_ns = options->max_gap_ns;
  r->gather = options->gather;
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

void bramah_replay_listen(bramah_replay *replay, const bramah_listener *listener)
{
  replay->listener = listener ? *listener : (bramah_listener){0};
}

/* ---- reading ---- */

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

static bramah_status check_time(const bramah_replay *r, int64_t time_ns, bramah_diag *diag)
{
  if (!r->counts.samples) return BRAMAH_OK;
  if (time_ns <= r->last_ns) return time_error(time_ns, r->last_ns, "time does not go forward", diag);
  if (time_ns - r->last_ns > r->max_gap_ns)
    return time_error(time_ns, r->last_ns, "time jumps ahead further than the longest gap allowed", diag);
  return BRAMAH_OK;
}

static waiting_row *row_at(bramah_replay *r, size_t k) { return &r->row[(r->first + k) % QUEUE]; }

/* One row to the end of the queue. */
static void read_row(bramah_replay *r)
{
  waiting_row *row = row_at(r, r->n_rows);
  bramah_sample *sample = &row->sample;
  int end = 0;
  memset(sample->has_input, 0, r->n_input);
  memset(sample->present, 0, r->n_sensors);
  sample->mark = 0;
  bramah_diag_clear(&r->failure);
  r->failed = r->source(r->user, sample, &end, &r->failure);
  if (r->failed == BRAMAH_OK && end) {
    r->ended = 1;
    return;
  }
  if (r->failed == BRAMAH_OK) r->failed = check_time(r, sample->time_ns, &r->failure);
  if (r->failed != BRAMAH_OK) {
    r->ended = 1;
    return;
  }
  r->last_ns = sample->time_ns;
  r->counts.samples++;
  r->n_rows++;
  row->handed = row->commanded = 0;
}

/* A row is used at the nearest grid point; halfway between two, at the later. At the start there is no last
 * step to form innovations off it with: what comes after it belongs to the next point. */
static int belongs_to(const bramah_replay *r, const waiting_row *row, int64_t time_ns)
{
  const int64_t after_ns = row->sample.time_ns - time_ns;
  const int at_start = r->counts.steps == 0 && time_ns == r->time_ns;
  return at_start ? after_ns <= 0 : after_ns < r->step_ns - r->step_ns / 2;
}

/* At least one row, if there is one; gathering, up to the first that lies beyond the point of that time. */
static void fill(bramah_replay *r, int64_t time_ns)
{
  while (!r->ended && r->n_rows < QUEUE) {
    if (r->n_rows && (!r->gather || !belongs_to(r, row_at(r, r->n_rows - 1), time_ns))) return;
    read_row(r);
  }
}

/* The row in front belongs to the point where the filter is. */
static int belongs_here(bramah_replay *r) { return r->n_rows && belongs_to(r, row_at(r, 0), r->time_ns); }

/* ---- commands ---- */

/* Command i from `after_ns` >= 0 after the begin of the step on; later than those before. */
static void change_command(held_inputs *h, size_t i, int64_t after_ns, double u)
{
  if (u == h->latest[i]) return;
  if (after_ns > 0) {
    h->integral[i] += h->latest[i] * (double)(after_ns - h->since[i]);
    h->since[i] = after_ns;
    h->mixed = 1;
  }
  h->latest[i] = u;
}

/* What the plant is to hold over the step by what is known: u [n]. */
static void mean_commands(const held_inputs *h, double *u)
{
  memcpy(u, h->latest, h->n * sizeof *u);
  if (!h->mixed) return;
  for (size_t i = 0; i < h->n; i++) {
    if (!h->since[i]) continue;
    const double rest = (double)(h->step_ns - h->since[i]);
    u[i] = (h->integral[i] + h->latest[i] * rest) / (double)h->step_ns;
  }
}

/* The next step begins. Returns 1 if the plant held something else than the latest commands. */
static int begin_step(held_inputs *h)
{
  const int mixed = h->mixed;
  if (!mixed) return 0;
  memset(h->integral, 0, h->n * sizeof *h->integral);
  memset(h->since, 0, h->n * sizeof *h->since);
  h->mixed = 0;
  return mixed;
}

static void take_commands(bramah_replay *r, waiting_row *row)
{
  const int64_t after = row->sample.time_ns - r->time_ns;
  if (row->commanded) return;
  row->commanded = r->news = 1;
  for (size_t i = 0; i < r->n_input; i++)
    if (row->sample.has_input[i])
      change_command(&r->commands, i, after > 0 ? after : 0, row->sample.inputs[i]);
}

/* Give the plant what is known of the coming step. */
static bramah_status set_commands(bramah_replay *r, bramah_diag *diag)
{
  if (!r->news) return BRAMAH_OK;
  r->news = 0;
  mean_commands(&r->commands, r->held);
  if (r->rewind) return bramah_rewind_set_inputs(r->rewind, r->held, diag);
  return bramah_filter_set_inputs(r->filter, r->held, diag);
}

/* Those of all waiting rows of the coming step. */
static bramah_status plan_step(bramah_replay *r, bramah_diag *diag)
{
  for (size_t k = 0; k < r->n_rows && row_at(r, k)->sample.time_ns - r->time_ns < r->step_ns; k++)
    take_commands(r, row_at(r, k));
  return set_commands(r, diag);
}

static void step_made(bramah_replay *r)
{
  memcpy(r->stepped, r->held, r->n_input * sizeof *r->held);
  r->news |= begin_step(&r->commands);
  r->time_ns += r->step_ns;
  r->counts.steps++;
}

/* ---- measurements ---- */

static void tell(bramah_replay *r, size_t sensor, int64_t time_ns, double y,
                 const bramah_innovation *innovation)
{
  const bramah_rewind_use use = {sensor, time_ns, y, *innovation};
  r->innovation[sensor] = *innovation;
  if (r->listener.used) r->listener.used(r->listener.user, &use);
}

/* The correction that was gathered. */
static bramah_status correct(bramah_replay *r, bramah_diag *diag)
{
  const bramah_watcher *w = &r->watcher;
  size_t dof;
  bramah_status status = bramah_filter_correct_at(r->filter, r->y, r->present, r->offset_ns, diag);
  if (status == BRAMAH_OK && w->corrected) status = w->corrected(w->user, r->filter, diag);
  if (status != BRAMAH_OK && r->gathered) r->mark = r->gathered_mark;
  if (status != BRAMAH_OK) return status;
  const bramah_innovation *innovation = bramah_filter_innovations(r->filter);
  for (size_t i = 0; i < r->n_sensors; i++)
    if (r->present[i]) tell(r, i, r->time_ns + r->offset_ns[i], r->y[i], &innovation[i]);
  r->nis += bramah_filter_nis(r->filter, &dof);
  r->nis_dof += dof;
  r->counts.measurements += (uint64_t)r->gathered;
  memset(r->present, 0, r->n_sensors);
  r->gathered = 0;
  r->fused++;
  return BRAMAH_OK;
}

/* Add the samples of a row to the correction; what a sensor has measured before is fused first. */
static bramah_status gather(bramah_replay *r, const bramah_sample *sample, bramah_diag *diag)
{
  int again = 0;
  for (size_t i = 0; i < r->n_sensors; i++) again |= r->present[i] && sample->present[i];
  const bramah_status status = again ? correct(r, diag) : BRAMAH_OK;
  r->gathered_mark = status == BRAMAH_OK ? sample->mark : r->gathered_mark;
  for (size_t i = 0; i < r->n_sensors; i++) {
    if (!sample->present[i]) continue;
    r->present[i] = 1;
    r->y[i] = sample->y[i];
    r->offset_ns[i] = sample->time_ns - r->time_ns;
    r->gathered++;
  }
  return status;
}

/* Put the measurements of a row into the rewind buffer, each at the time it was made. */
static bramah_status hand_over(bramah_replay *r, waiting_row *row, bramah_diag *diag)
{
  const int64_t arrived = row->sample.time_ns - r->zero_ns;
  if (row->handed) return BRAMAH_OK;
  row->handed = 1;
  for (size_t i = 0; i < r->n_sensors; i++) {
    if (!row->sample.present[i]) continue;
    const bramah_status status = bramah_rewind_sample(
        r->rewind, i, arrived - bramah_filter_sensor(r->filter, i)->delay_ns, row->sample.y[i], diag);
    if (status != BRAMAH_OK && status != BRAMAH_E_TIME) return status; /* those too old are counted there */
  }
  return BRAMAH_OK;
}

/* What the rewind buffer fused in its last call. */
static void collect_uses(bramah_replay *r, int *corrected)
{
  size_t n, dof;
  const bramah_rewind_use *use = bramah_rewind_uses(r->rewind, &n);
  for (size_t k = 0; k < n; k++)
    tell(r, use[k].sensor, use[k].time_ns + r->zero_ns, use[k].y, &use[k].innovation);
  r->nis += bramah_rewind_nis(r->rewind, &dof);
  r->nis_dof += dof;
  r->counts.measurements += n;
  *corrected |= n > 0;
}

static void note_shift(bramah_replay *r, int64_t time_ns)
{
  const int64_t shift = time_ns - r->time_ns, size = shift < 0 ? -shift : shift;
  if (size == 0) return;
  r->counts.off_grid++;
  if (size > r->counts.max_shift_ns) r->counts.max_shift_ns = size;
}

/* The row in front, which belongs to the present point. */
static bramah_status use_row(bramah_replay *r, bramah_diag *diag)
{
  waiting_row *row = row_at(r, 0);
  r->mark = row->sample.mark;
  note_shift(r, row->sample.time_ns);
  take_commands(r, row);
  r->first = (r->first + 1) % QUEUE;
  r->n_rows--;
  return r->rewind ? hand_over(r, row, diag) : gather(r, &row->sample, diag);
}

/* ---- points ---- */

/* Rows that still belong to the point delivered last (a log faster than the step) are fused there and then;
 * live, nothing is read beyond the row that is needed, so that a source is never waited for in vain. */
static bramah_status merge_late_rows(bramah_replay *r, bramah_diag *diag)
{
  bramah_status status = BRAMAH_OK;
  fill(r, r->time_ns);
  while (status == BRAMAH_OK && r->started && belongs_here(r)) {
    status = use_row(r, diag);
    r->counts.merged++;
    fill(r, r->time_ns);
  }
  return status == BRAMAH_OK && r->gathered ? correct(r, diag) : status;
}

/* The first row sets the start. */
static bramah_status step(bramah_replay *r, bramah_diag *diag)
{
  const bramah_watcher *w = &r->watcher;
  bramah_status status = plan_step(r, diag);
  if (status == BRAMAH_OK) status = bramah_filter_predict(r->filter, diag);
  if (status == BRAMAH_OK && w->predicted) status = w->predicted(w->user, r->filter, diag);
  if (status == BRAMAH_OK) step_made(r);
  return status;
}

static bramah_status fuse_rows(bramah_replay *r, int *corrected, bramah_diag *diag)
{
  bramah_status status = BRAMAH_OK;
  const uint64_t before = r->counts.measurements;
  r->fused = 0;
  while (status == BRAMAH_OK && belongs_here(r)) {
    status = use_row(r, diag);
    if (!r->gather) break;
    fill(r, r->time_ns);
  }
  if (status == BRAMAH_OK && (r->gathered || !r->fused)) status = correct(r, diag);
  *corrected = r->counts.measurements > before;
  return status;
}

/* Measurements of the coming point are given to the buffer before the step, to be fused with it. */
static bramah_status step_with_rewind(bramah_replay *r, int64_t coming_ns, bramah_diag *diag)
{
  bramah_status status = BRAMAH_OK;
  for (size_t k = 0; k < r->n_rows && status == BRAMAH_OK && belongs_to(r, row_at(r, k), coming_ns); k++)
    status = hand_over(r, row_at(r, k), diag);
  if (status != BRAMAH_OK || coming_ns == r->time_ns)
    return status == BRAMAH_OK ? bramah_rewind_settle(r->rewind, diag) : status;
  status = plan_step(r, diag);
  if (status == BRAMAH_OK) status = bramah_rewind_advance(r->rewind, diag);
  if (status == BRAMAH_OK) step_made(r);
  return status;
}

static bramah_status use_handed_rows(bramah_replay *r, bramah_diag *diag)
{
  bramah_status status = BRAMAH_OK;
  while (status == BRAMAH_OK && belongs_here(r) && row_at(r, 0)->handed) status = use_row(r, diag);
  return status;
}

/* The source has ended: fuse what came after the last step. */
static bramah_status finish(bramah_replay *r, bramah_diag *diag)
{
  int corrected = 0;
  if (!r->rewind || !r->started) return BRAMAH_OK;
  const bramah_status status = bramah_rewind_settle(r->rewind, diag);
  if (status == BRAMAH_OK) collect_uses(r, &corrected);
  return status;
}

static bramah_status end_or_fail(bramah_replay *r, int *end, bramah_diag *diag)
{
  if (r->failed != BRAMAH_OK) {
    r->mark = row_at(r, 0)->sample.mark;
    if (diag) *diag = r->failure;
    return r->failed;
  }
  *end = 1;
  return finish(r, diag);
}

static void begin_call(bramah_replay *r)
{
  for (size_t i = 0; i < r->n_sensors; i++)
    r->innovation[i] = (bramah_innovation){.innovation = NAN, .sigma = NAN, .nis = NAN};
  r->nis = 0.0;
  r->nis_dof = 0;
}

static void start(bramah_replay *r)
{
  r->time_ns = row_at(r, 0)->sample.time_ns;
  r->zero_ns = r->time_ns - bramah_filter_time_ns(r->filter);
}

bramah_status bramah_replay_next(bramah_replay *replay, int64_t *time_ns, int *corrected, int *end,
                                 bramah_diag *diag)
{
  bramah_replay *r = replay;
  *corrected = *end = 0;
  begin_call(r);
  bramah_status status = merge_late_rows(r, diag);
  if (status != BRAMAH_OK) return status;
  if (!r->n_rows) return end_or_fail(r, end, diag);
  if (!r->started) start(r);
  const int64_t coming_ns = r->started ? r->time_ns + r->step_ns : r->time_ns;
  r->mark = row_at(r, 0)->sample.mark;
  fill(r, coming_ns);
  if (r->rewind) {
    status = step_with_rewind(r, coming_ns, diag);
    if (status == BRAMAH_OK) collect_uses(r, corrected);
    if (status == BRAMAH_OK) status = use_handed_rows(r, diag);
  } else {
    if (r->started) status = step(r, diag);
    if (status == BRAMAH_OK) status = fuse_rows(r, corrected, diag);
  }
  r->started = 1;
  if (status == BRAMAH_OK) status = set_commands(r, diag);
  *time_ns = r->time_ns;
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

/* ---- results ---- */

bramah_replay_counts bramah_replay_report(const bramah_replay *replay) { return replay->counts; }

const bramah_innovation *bramah_replay_innovations(const bramah_replay *replay) { return replay->innovation; }

double bramah_replay_nis(const bramah_replay *replay, size_t *degrees_of_freedom)
{
  if (degrees_of_freedom) *degrees_of_freedom = replay->nis_dof;
  return replay->nis;
}

const double *bramah_replay_inputs(const bramah_replay *replay) { return replay->stepped; }
int64_t bramah_replay_read_ns(const bramah_replay *replay) { return replay->last_ns; }
int bramah_replay_exhausted(const bramah_replay *replay)
{
  return replay->ended && replay->failed == BRAMAH_OK && !replay->n_rows;
}
int64_t bramah_replay_mark(const bramah_replay *replay) { return replay->mark; }
const bramah_rewind *bramah_replay_rewind(const bramah_replay *replay) { return replay->rewind; }

/* ---- snapshots ---- */

static void take_row_pointers(bramah_sample *to, const bramah_sample *from)
{
  to->inputs = from->inputs;
  to->has_input = from->has_input;
  to->y = from->y;
  to->present = from->present;
}

/* All that belongs to this object and not to its state. */
static void take_pointers(bramah_replay *to, const bramah_replay *from)
{
  to->filter = from->filter;
  to->source = from->source;
  to->user = from->user;
  to->watcher = from->watcher;
  to->listener = from->listener;
  to->rewind = from->rewind;
  for (size_t k = 0; k < QUEUE; k++) take_row_pointers(&to->row[k].sample, &from->row[k].sample);
  to->commands.latest = from->commands.latest;
  to->commands.integral = from->commands.integral;
  to->commands.since = from->commands.since;
  to->held = from->held;
  to->stepped = from->stepped;
  to->y = from->y;
  to->offset_ns = from->offset_ns;
  to->present = from->present;
  to->innovation = from->innovation;
}

/* The source that ended or failed is not the one to go on with. */
static void start_reading(bramah_replay *r)
{
  r->ended = 0;
  r->failed = BRAMAH_OK;
  bramah_diag_clear(&r->failure);
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
  start_reading(snap);
  if (replay->rewind)
    bramah_rewind_save(replay->rewind, rest);
  else
    bramah_filter_save(replay->filter, rest);
}

bramah_status bramah_replay_restore(bramah_replay *replay, const void *snap)
{
  const bramah_replay kept = *replay;
  const size_t size = block_size(replay);
  const unsigned char *rest = (const unsigned char *)snap + size;
  const bramah_status status = replay->rewind ? bramah_rewind_restore(replay->rewind, rest)
                                              : bramah_filter_restore(replay->filter, rest);
  if (status != BRAMAH_OK) return status;
  memcpy(replay, snap, size);
  take_pointers(replay, &kept);
  return BRAMAH_OK;
}
