/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Replays of a log with a candidate each, and their scores. The filter and its neighbours, in each of which
 * one value is a little different, are runners. Those of all replays go a chunk of steps at a time, in groups
 * that go in lockstep, each on whatever thread; then what they saw is judged step by step. */
#include "lib/assess/statistics.h"
#include "lib/base/processors.h"
#include "lib/io/fail.h"
#include "lib/tune/likelihood.h"
#include "lib/tune/tune_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- scores ---- */

enum {
  N_SENSOR = sizeof(bramah__sensor_score) / sizeof(double),
  N_OUTPUT = sizeof(bramah__output_score) / sizeof(double)
};

/* Numbers in the arrays of a score. */
static size_t array_length(const bramah__tune_problem *problem, int slope)
{
  const size_t n = slope ? problem->n : 0;
  return problem->n_sensors * N_SENSOR + problem->n_outputs * N_OUTPUT + n + n * n + BRAMAH__TUNE_CHECKS * n;
}

bramah__replay_score *bramah__replay_scores_new(const bramah__tune_problem *problem, size_t n, int slope)
{
  const size_t length =
      array_length(problem, slope) + 8; /* in another line of the cache than the next one's */
  bramah__replay_score *scores = calloc(1, n * sizeof *scores + (n * length + 1) * sizeof(double));
  double *block = scores ? (double *)(scores + n) : NULL;
  for (size_t i = 0; scores && i < n; i++, block += length) {
    bramah__replay_score *s = &scores[i];
    s->sensor = (bramah__sensor_score *)block;
    s->output = (bramah__output_score *)(block + problem->n_sensors * N_SENSOR);
    if (!slope) continue;
    s->gradient = block + problem->n_sensors * N_SENSOR + problem->n_outputs * N_OUTPUT;
    s->information = s->gradient + problem->n;
    s->gradient_at = s->information + problem->n * problem->n;
  }
  return scores;
}

/* Head of the numbers: status, stopped, checked, six sums, cost and bins. */
enum { N_HEAD = 9 + BRAMAH__TUNE_CHECKS + BRAMAH__TUNE_BINS };

size_t bramah__replay_score_length(const bramah__tune_problem *problem, int slope)
{
  return N_HEAD + array_length(problem, slope);
}

static double *carry(bramah__score_direction direction, double *numbers, void *member, size_t n)
{
  if (direction == BRAMAH__SCORE_PACK && n) memcpy(numbers, member, n * sizeof *numbers);
  if (direction == BRAMAH__SCORE_UNPACK && n) memcpy(member, numbers, n * sizeof *numbers);
  return numbers + n;
}

void bramah__replay_score_transfer(const bramah__tune_problem *problem, int slope,
                                   bramah__score_direction direction, bramah__replay_score *score,
                                   double *numbers)
{
  double whole[3] = {score->status, score->stopped, score->checked};
  double *single[] = {&score->time, &score->steps, &score->used, &score->gated, &score->nis, &score->dof};
  numbers = carry(direction, numbers, whole, 3);
  score->status = (bramah_status)(int)whole[0];
  score->stopped = (int)whole[1];
  score->checked = (int)whole[2];
  for (size_t i = 0; i < sizeof single / sizeof single[0]; i++)
    numbers = carry(direction, numbers, single[i], 1);
  numbers = carry(direction, numbers, score->cost, BRAMAH__TUNE_CHECKS);
  numbers = carry(direction, numbers, score->bins, BRAMAH__TUNE_BINS);
  carry(direction, numbers, score->sensor, array_length(problem, slope)); /* and all arrays behind them */
}

int bramah__tune_cut(const bramah__tune_job *job, bramah__replay_score *score)
{
  for (int c = 0; job->limited && c < score->checked && c + 1 < BRAMAH__TUNE_CHECKS; c++)
    if (score->cost[c] > job->limit[c]) {
      score->status = BRAMAH_OK;
      score->stopped = c + 1;
      return 1;
    }
  return !score->stopped;
}

/* ---- runners ---- */

/* Steps of a chunk: some tenths of a millisecond, much longer than it takes to share them out; what a group has seen in them
 * stays near the processor until it is judged. */
enum { CHUNK = 16 };

/* One step of the chunk, and its corrections: a log faster than the step brings several. */
typedef struct step {
  int64_t time_ns;
  size_t first, n_seen;
} step;

typedef struct work work;

/* One filter that replays the log. */
typedef struct runner {
  size_t n_sensors;
  work *judged; /* the candidate itself: looked at while its plant is there; NULL: a neighbour */
  bramah__tune_session opened;
  bramah__tune_cursor cursor;
  bramah_replay *replay;
  /* The last chunk; it ends early where the log ends, or with an error. */
  size_t n_steps, n_seen, room;
  step steps[CHUNK];
  bramah_innovation *innovations; /* [room x n_sensors] */
  bramah_lockstep *lockstep;      /* of its group, */
  size_t place;                   /* and where it is in it */
  bramah_replay_point *at;
} runner;

/* Runners that go together. */
typedef struct group {
  size_t n;
  runner *runner[BRAMAH__TUNE_TOGETHER];
  bramah_replay_point at[BRAMAH__TUNE_TOGETHER];
  bramah_lockstep *lockstep;
} group;

struct work {
  const bramah__tune_problem *problem;
  const bramah__tune_job *job;
  const bramah__tune_log *log;
  const work *first; /* of those that are replayed together */
  size_t n;          /* neighbours */
  runner *runners;   /* [1 + n] the candidate itself first */
  bramah__likelihood *likelihood;
  double *near_y, *near_spread; /* [n] what goes into it */
  double *former; /* [n_sensors x BRAMAH_TUNE_LAGS] normalised innovations, the last one first */
  bramah_another_plant free_model; /* predicts without corrections */
  bramah_plant ahead;
  long *command; /* [n_input] output that is the command in force */
  double *u;     /* [n_input] */
  double *apart; /* [n_sensors] what the filter predicts beyond what the free model does */
  void *snapshot;
  uint64_t steps;
  size_t truth_row;
  bramah__replay_score *score;
  int64_t begin_ns, length_ns;
  int over; /* the log has ended, the replay is given up, or failed with `status` */
  bramah_status status;
  bramah_diag diag;
};

static bramah_status go_ahead(work *w, bramah_diag *diag);

/* bramah_watcher: after a step what goes ahead of its correction; after a correction keep the innovations. */
static bramah_status watch(void *user, bramah_filter_event event, bramah_filter *filter, bramah_diag *diag)
{
  runner *r = user;
  const size_t m = r->n_sensors;
  if (event == BRAMAH_FILTER_PREDICTED)
    return r->judged && r->judged->problem->ahead ? go_ahead(r->judged, diag) : BRAMAH_OK;
  if (event != BRAMAH_FILTER_CORRECTED) return BRAMAH_OK;
  const bramah_innovation *innovation = bramah_filter_get_last(filter).innovation;
  int any = 0;
  for (size_t i = 0; i < m; i++) any |= innovation[i].present;
  if (!any) return BRAMAH_OK;
  if (r->n_seen == r->room) {
    const size_t room = r->room ? 2 * r->room : CHUNK;
    bramah_innovation *innovations = realloc(r->innovations, (room * m + 1) * sizeof *innovations);
    if (!innovations) return bramah__fail_memory(diag);
    r->innovations = innovations;
    r->room = room;
  }
  memcpy(r->innovations + r->n_seen++ * m, innovation, m * sizeof *innovation);
  return BRAMAH_OK;
}

/* Of all sensors at correction k of the chunk. */
static const bramah_innovation *seen_by(const runner *r, size_t k)
{
  return r->innovations + k * r->n_sensors;
}

/* Do both read the same rows, with the same delays and offsets? */
static int read_the_same(const runner *a, const runner *b)
{
  const size_t n = a->n_sensors;
  return a->cursor.log == b->cursor.log && a->cursor.end_ns == b->cursor.end_ns &&
         memcmp(a->opened.delay_ns, b->opened.delay_ns, n * sizeof *a->opened.delay_ns) == 0 &&
         memcmp(a->opened.shift, b->opened.shift, n * sizeof *a->opened.shift) == 0;
}

/* The first runner of all works so far that reads the rows of this one. */
static const runner *first_reader(const work *w, const runner *r)
{
  for (const work *other = w->first; other <= w; other++)
    if (other->runners && other->runners->replay && read_the_same(other->runners, r)) return other->runners;
  return r;
}

static bramah_status open_runner(runner *r, const work *w, const double *x, bramah_diag *diag)
{
  const bramah__tune_problem *problem = w->problem;
  bramah_replay_options options;
  bramah_replay_options_default(&options);
  options.gather = 1;
  options.watcher = (bramah_watcher){r, watch};
  r->n_sensors = problem->n_sensors;
  bramah_status status = bramah__tune_session_open(&r->opened, problem, x, diag);
  if (status) return status;
  options.max_gap_ns = bramah_session_study(r->opened.session)->log.longest_gap_ns;
  status = bramah__tune_cursor_open(&r->cursor, w->log, r->opened.delay_ns, r->opened.shift,
                                    w->job->thousandths, diag);
  if (status) return status;
  options.rows = first_reader(w, r);
  return bramah_replay_new(bramah_session_filter(r->opened.session), &options, bramah__tune_cursor_next,
                           &r->cursor, diag, &r->replay);
}

static void look_at_plant(work *w, const step *at);

/* The next chunk of group i. What goes wrong with a runner is in its `at`, after the steps before it. */
static void go(void *of, size_t i)
{
  group *g = (group *)of + i;
  size_t going = g->n;
  for (size_t k = 0; k < g->n; k++) g->runner[k]->n_steps = g->runner[k]->n_seen = 0;
  for (size_t n = 0; n < CHUNK && going; n++) {
    for (size_t k = 0; k < g->n; k++) {
      runner *r = g->runner[k];
      if (r->n_steps == n) r->steps[n].first = r->n_seen;
    }
    bramah_lockstep_next(g->lockstep, g->at);
    going = 0;
    for (size_t k = 0; k < g->n; k++) {
      runner *r = g->runner[k];
      step *at = &r->steps[n];
      if (g->at[k].end || g->at[k].status) continue;
      going++;
      *at = (step){g->at[k].time_ns, at->first, r->n_seen - at->first};
      r->n_steps++;
      if (r->judged) look_at_plant(r->judged, at);
    }
  }
}

/* ---- innovations ---- */

static int is_judged(const work *w, int64_t time_ns)
{
  return time_ns - w->begin_ns >= w->problem->settle_ns;
}

BRAMAH__IN_CALLER size_t bin_of(const bramah__tune_problem *problem, double nis, size_t dof)
{
  const double *edge = problem->edges + (dof - 1) * (BRAMAH__TUNE_BINS - 1);
  size_t bin = 0; /* counted, not searched for: where random numbers fall no processor foresees */
  for (size_t i = 0; i < BRAMAH__TUNE_BINS - 1; i++) bin += nis > edge[i];
  return bin;
}

BRAMAH__FOR_PROCESSORS static void judge_sensor(work *w, size_t i, const bramah_innovation *in)
{
  bramah__sensor_score *s = &w->score->sensor[i];
  double *former = w->former + i * BRAMAH_TUNE_LAGS;
  const double e = in->innovation / in->sigma;
  if (in->saturated) return;
  if (!in->accepted) {
    s->gated++;
    w->score->gated++;
    return;
  }
  s->n++;
  w->score->used++;
  s->squares += in->innovation * in->innovation;
  s->nis += e * e;
  s->sum += e;
  for (size_t l = 0; l < BRAMAH_TUNE_LAGS; l++) s->lag[l] += e * former[l];
  for (size_t l = BRAMAH_TUNE_LAGS - 1; l > 0; l--) former[l] = former[l - 1];
  former[0] = e;
  s->bins[bin_of(w->problem, e * e, 1)]++;
}

/* Neighbours must have seen the same; a delay that moves a sample to another step makes them differ. */
static const bramah_innovation *partner(const work *w, size_t j, size_t at, size_t k,
                                        const bramah_innovation *own)
{
  const runner *r = &w->runners[1 + j];
  if (at >= r->n_steps || k >= r->steps[at].n_seen) return own;
  const bramah_innovation *other = seen_by(r, r->steps[at].first + k);
  for (size_t i = 0; i < w->problem->n_sensors; i++)
    if (own[i].present && !other[i].present) return own;
  return other;
}

/* Correction k of a step of the chunk. */
static bramah_status judge(work *w, size_t at, size_t k, bramah_diag *diag)
{
  const runner *r = &w->runners[0];
  const bramah_innovation *own = seen_by(r, r->steps[at].first + k);
  const bramah_innovation *near[BRAMAH__TUNE_MOST];
  const double *gates = bramah_session_study(r->opened.session)->gate;
  bramah_status status = BRAMAH_OK;
  double nis = 0.0;
  size_t dof = 0;
  for (size_t j = 0; j < w->n; j++) near[j] = partner(w, j, at, k, own);
  for (size_t i = 0; !status && i < w->problem->n_sensors; i++) {
    const bramah_innovation *in = &own[i];
    if (!in->present) continue;
    judge_sensor(w, i, in);
    if (in->saturated) continue;
    for (size_t j = 0; j < w->n; j++) {
      w->near_y[j] = near[j][i].rest;
      w->near_spread[j] = near[j][i].rest_variance;
    }
    /* Rejected by whichever gate, it counts as the fused ones do: else filters would gain by rejecting. */
    status = bramah__likelihood_add(w->likelihood, in->rest, in->rest_variance, gates[i], w->near_y,
                                    w->near_spread, diag);
    if (!in->accepted) continue;
    nis += in->rest * in->rest / in->rest_variance;
    dof++;
  }
  if (dof == 0) return status;
  w->score->nis += nis;
  w->score->dof += (double)dof;
  w->score->bins[bin_of(w->problem, nis, dof)]++;
  return status;
}

/* ---- truth and predictions, while the plant of the candidate is there ---- */

/* After a step of the filter, before its correction: the free model does the same step, and goes further and
 * further off what the filter predicts. */
static bramah_status go_ahead(work *w, bramah_diag *diag)
{
  const bramah_session *session = w->runners[0].opened.session;
  bramah_lockstep_filter(w->runners[0].lockstep, w->runners[0].place);
  const bramah_plant *plant = bramah_session_plant(session);
  const bramah_sensor *sensors = bramah_session_about(session)->sensors;
  for (size_t i = 0; i < plant->n_input; i++)
    w->u[i] = w->command[i] >= 0 ? plant->output(plant->self, (size_t)w->command[i]) : 0.0;
  bramah_status status = w->ahead.set_inputs(w->ahead.self, w->u, diag);
  if (!status) status = w->ahead.step(w->ahead.self, diag);
  if (status) return status;
  for (size_t i = 0; i < w->problem->n_sensors; i++)
    w->apart[i] = bramah_sensor_predict(&sensors[i], plant) - bramah_sensor_predict(&sensors[i], &w->ahead);
  w->steps++;
  return BRAMAH_OK;
}

/* After a step with its corrections: errors against the truth; and at the end of a prediction how far it was
 * off, and the next one begins at the estimate. */
static void look_at_plant(work *w, const step *at)
{
  const bramah__tune_problem *problem = w->problem;
  const bramah_plant *plant = bramah_session_plant(w->runners[0].opened.session);
  const int judged = is_judged(w, at->time_ns);
  if (!problem->ahead && !w->log->truth_rows) return;
  bramah_lockstep_filter(w->runners[0].lockstep, w->runners[0].place);
  for (size_t i = 0; judged && w->log->truth_rows && i < problem->n_outputs; i++) {
    const double truth = bramah__tune_log_truth(w->log, at->time_ns, plant->step_ns / 2, i, &w->truth_row);
    if (isnan(truth)) continue;
    const size_t output = problem->outputs[i];
    const double value = plant->output(plant->self, output);
    const double error = bramah__without_turns(plant, output, truth, value) - truth;
    w->score->output[i].squares += error * error;
    w->score->output[i].n++;
  }

  if (!problem->ahead || w->steps % (uint64_t)problem->ahead != 0) return;
  for (size_t i = 0; judged && w->steps && at->n_seen && i < problem->n_sensors; i++) {
    const bramah_innovation *in = seen_by(&w->runners[0], at->first + at->n_seen - 1) + i;
    if (!in->present || in->saturated) continue;
    const double error = in->innovation + w->apart[i];
    w->score->sensor[i].ahead_squares += error * error;
    w->score->sensor[i].ahead_n++;
  }
  plant->save(plant->self, w->snapshot);
  w->ahead.restore(w->ahead.self, w->snapshot);
}

static bramah_status open_ahead(work *w, bramah_diag *diag)
{
  const bramah_session *session = w->runners[0].opened.session;
  const bramah_plant *plant = bramah_session_plant(session);
  w->snapshot = malloc(plant->snapshot_size + 1);
  w->command = calloc(plant->n_input + 1, sizeof *w->command);
  w->u = calloc(plant->n_input + 1, sizeof *w->u);
  w->apart = calloc(w->problem->n_sensors + 1, sizeof *w->apart);
  if (!w->snapshot || !w->command || !w->u || !w->apart) return bramah__fail_memory(diag);
  for (size_t i = 0; i < plant->n_input; i++) {
    char name[256];
    const char *input = plant->input_name(plant->self, i);
    if (strlen(input) > 200)
      return bramah__failf(diag, BRAMAH_E_UNSUPPORTED, NULL, 0, input, "this name is too long");
    strcat(strcpy(name, input), ".command");
    w->command[i] = bramah_plant_find_output(plant, name);
  }
  const bramah_status status = bramah_session_another(session, diag, &w->free_model);
  w->ahead = w->free_model.plant;
  return status;
}

/* ---- the replay ---- */

static bramah_status open_work(work *w, bramah_diag *diag)
{
  const size_t n = w->n, m = w->problem->n_sensors;
  w->runners = calloc(1 + n, sizeof *w->runners);
  w->near_y = calloc(2 * n + m * BRAMAH_TUNE_LAGS + 1, sizeof *w->near_y);
  if (!w->runners || !w->near_y) return bramah__fail_memory(diag);
  w->near_spread = w->near_y + n;
  w->former = w->near_spread + n;
  w->runners[0].judged = w;
  double by[BRAMAH__TUNE_MOST];
  bramah_status status = open_runner(&w->runners[0], w, w->job->x, diag);
  if (!status) w->length_ns = w->runners[0].cursor.end_ns - w->begin_ns;
  for (size_t j = 0; !status && j < n; j++) {
    double x[BRAMAH__TUNE_MOST];
    by[j] = bramah__tune_neighbour(w->problem, w->job->x, j, x);
    status = open_runner(&w->runners[1 + j], w, x, diag);
  }
  if (!status) status = bramah__likelihood_new(n, by, diag, &w->likelihood);
  return !status && w->problem->ahead ? open_ahead(w, diag) : status;
}

static void close_work(work *w)
{
  for (size_t j = 0; w->runners && j < 1 + w->n; j++) {
    runner *r = &w->runners[j];
    bramah_replay_free(r->replay);
    bramah__tune_cursor_close(&r->cursor);
    bramah__tune_session_close(&r->opened);
    free(r->innovations);
  }
  bramah_another_plant_free(&w->free_model);
  bramah__likelihood_free(w->likelihood);
  free(w->runners);
  free(w->near_y);
  free(w->command);
  free(w->u);
  free(w->apart);
  free(w->snapshot);
}

static void note_check(work *w)
{
  bramah__replay_score *s = w->score;
  s->cost[s->checked] = bramah__likelihood_cost(w->likelihood);
  if (w->n)
    memcpy(s->gradient_at + (size_t)s->checked * w->n, w->likelihood->gradient,
           w->n * sizeof *s->gradient_at);
  s->checked++;
}

/* What kept any of them from making this step of the chunk, as if all had made each step together. */
static bramah_status failed(const work *w, size_t at, bramah_diag *diag)
{
  for (size_t i = 0; i < 1 + w->n; i++) {
    const runner *r = &w->runners[i];
    if (at < r->n_steps || !r->at->status) continue;
    *diag = r->at->diag;
    return r->at->status;
  }
  return BRAMAH_OK;
}

/* The chunk's steps, one after the other. */
static bramah_status judge_chunk(work *w, bramah_diag *diag)
{
  const runner *r = &w->runners[0];
  bramah__replay_score *s = w->score;
  for (size_t at = 0; at < r->n_steps; at++) {
    const int64_t time_ns = r->steps[at].time_ns, done = time_ns - w->begin_ns;
    bramah_status status = failed(w, at, diag);
    if (status) return status;
    s->steps++;
    s->time = (double)time_ns / 1e9;

    /* Checks that lie before this step; a cost beyond its limit ends the replay. */
    while (s->checked + 1 < BRAMAH__TUNE_CHECKS &&
           done > w->length_ns / BRAMAH__TUNE_CHECKS * (s->checked + 1)) {
      note_check(w);
      if (!w->job->limited || s->cost[s->checked - 1] <= w->job->limit[s->checked - 1]) continue;
      s->stopped = s->checked;
      w->over = 1;
      return BRAMAH_OK;
    }
    for (size_t k = 0; !status && is_judged(w, time_ns) && k < r->steps[at].n_seen; k++)
      status = judge(w, at, k, diag);
    if (status) return status;
  }
  w->over = r->at->end;
  return w->over ? BRAMAH_OK : failed(w, r->n_steps, diag);
}

/* A replay's begin; its score is empty. */
static void begin_work(work *w, const work *first, const bramah__tune_problem *problem,
                       const bramah__tune_job *job, bramah__replay_score *score)
{
  *w = (work){.problem = problem,
              .first = first,
              .job = job,
              .log = &problem->logs[job->log],
              .n = job->slope ? problem->n : 0,
              .score = score};
  w->begin_ns = w->log->time_ns[0];
  memset(score->sensor, 0, array_length(problem, job->slope) * sizeof(double));
  *score = (bramah__replay_score){.sensor = score->sensor,
                                  .output = score->output,
                                  .gradient = score->gradient,
                                  .information = score->information,
                                  .gradient_at = score->gradient_at};
  bramah_diag_clear(&w->diag);
  w->status = open_work(w, &w->diag);
  w->over = w->status != BRAMAH_OK;
}

/* What came of it. */
static void end_work(work *w)
{
  bramah__replay_score *s = w->score;
  while (!w->status && !s->stopped && s->checked < BRAMAH__TUNE_CHECKS) note_check(w);
  if (w->status) bramah__place(&w->diag, w->log->path, 0);
  if (w->n && w->likelihood) {
    memcpy(s->gradient, w->likelihood->gradient, w->n * sizeof *s->gradient);
    bramah__likelihood_information(w->likelihood, s->information);
  }
  s->status = w->status;
}

/* Runners of all works that go on, in groups; *n of them. */
static bramah_status form_groups(work *works, size_t n_works, group *groups, size_t *n, bramah_diag *diag)
{
  bramah_status status = BRAMAH_OK;
  *n = 0;
  for (size_t i = 0; i < n_works; i++)
    for (size_t j = 0; !works[i].over && j < 1 + works[i].n; j++) {
      if (!*n || groups[*n - 1].n == BRAMAH__TUNE_TOGETHER) ++*n;
      group *g = &groups[*n - 1];
      runner *r = g->runner[g->n] = &works[i].runners[j];
      r->at = &g->at[g->n];
      r->place = g->n++;
    }
  for (size_t k = 0; !status && k < *n; k++) {
    bramah_replay *replays[BRAMAH__TUNE_TOGETHER];
    for (size_t i = 0; i < groups[k].n; i++) replays[i] = groups[k].runner[i]->replay;
    status = bramah_lockstep_new(groups[k].n, replays, diag, &groups[k].lockstep);
    for (size_t i = 0; i < groups[k].n; i++) groups[k].runner[i]->lockstep = groups[k].lockstep;
  }
  return status;
}

bramah_status bramah__tune_replay(const bramah__tune_problem *problem, size_t n,
                                  const bramah__tune_job *const *jobs, bramah__worker_pool *pool,
                                  bramah__replay_score *const *scores, bramah_diag *diag)
{
  const size_t most = n * (1 + problem->n) / BRAMAH__TUNE_TOGETHER + 1;
  work *works = calloc(n, sizeof *works);
  group *groups = calloc(most, sizeof *groups);
  size_t n_groups = 0, going = n;
  bramah_status status = works && groups ? BRAMAH_OK : bramah__fail_memory(diag);
  for (size_t i = 0; !status && i < n; i++) {
    begin_work(&works[i], works, problem, jobs[i], scores[i]);
    if (works[i].status == BRAMAH_E_MEMORY) status = bramah__fail_memory(diag);
  }
  if (!status) status = form_groups(works, n, groups, &n_groups, diag);
  while (!status && going) {
    bramah__worker_pool_share(pool, n_groups, go, groups);
    status = bramah__tune_stopped(&problem->run, diag);
    going = 0;
    for (size_t i = 0; !status && i < n; i++) {
      work *w = &works[i];
      if (!w->over) w->status = judge_chunk(w, &w->diag);
      w->over |= w->status != BRAMAH_OK;
      for (size_t j = 0; w->runners && w->over && j < 1 + w->n; j++)
        if (w->runners[j].at) w->runners[j].at->end = 1;
      going += !w->over;
    }
  }
  for (size_t i = 0; works && i < n; i++) {
    work *w = &works[i];
    if (!status) end_work(w);
    if (!status && w->status == BRAMAH_E_MEMORY) status = w->status;
    if (n == 1 && (!status || w->status)) *diag = w->diag;
  }
  for (size_t k = 0; groups && k < n_groups; k++) bramah_lockstep_free(groups[k].lockstep);
  for (size_t i = 0; works && i < n; i++) close_work(&works[i]);
  free(groups);
  free(works);
  return status;
}
