/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/tune/tune_internal.h"
#include "lib/assess/statistics.h"
#include "lib/io/fail.h"
#include "lib/tune/likelihood.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- places ---- */

size_t bramah__tune_place_sensor(size_t i) { return BRAMAH__TUNE_SENSORS + i * BRAMAH__TUNE_PER_SENSOR; }

size_t bramah__tune_place_output(const bramah__tune_problem *problem, size_t i)
{
  return bramah__tune_place_sensor(problem->n_sensors) + 2 * i;
}

size_t bramah__tune_place_gradient(const bramah__tune_problem *problem)
{
  return bramah__tune_place_output(problem, problem->n_outputs);
}
size_t bramah__tune_place_information(const bramah__tune_problem *problem)
{
  return bramah__tune_place_gradient(problem) + problem->n;
}

size_t bramah__tune_place_scores(const bramah__tune_problem *problem)
{
  return bramah__tune_place_information(problem) + problem->n * problem->n;
}

size_t bramah__tune_n_scores(const bramah__tune_problem *problem, int slope)
{
  return slope ? bramah__tune_place_scores(problem) + BRAMAH__TUNE_CHECKS * problem->n
               : bramah__tune_place_gradient(problem);
}

/* ---- the job ---- */

typedef struct work {
  const bramah__tune_problem *problem;
  const bramah__tune_job *job;
  const bramah__tune_log *log;
  size_t n;                     /* neighbours */
  bramah__tune_runner *runners; /* [1 + n] the set itself first */
  double *step;                 /* [n] */
  bramah__likelihood *likelihood;
  double *block, *y, *S, *near_y, *near_S, *near_sigma; /* what goes into it */
  size_t *index;                                        /* [n_sensors] of those fused */
  double *former;             /* [n_sensors x BRAMAH_TUNE_LAGS] normalised innovations, the last one first */
  bramah_coupled *free_model; /* runs ahead without corrections */
  bramah_plant ahead;
  long *command; /* [n_input] output that tells the command in force */
  double *u;     /* [n_input] */
  double *apart; /* [n_sensors] what the filter predicts beyond what the free model does */
  void *snapshot;
  uint64_t steps;
  size_t truth_row;
  double *scores; /* its own until the end: others write beside those of the job */
  int64_t begin_ns, length_ns;
  int check; /* next */
  int interrupted;
} work;

static size_t bin_of(const bramah__tune_problem *problem, double nis, size_t dof)
{
  const double *edge = problem->edges + (dof - 1) * (BRAMAH__TUNE_BINS - 1);
  size_t bin = 0;
  while (bin < BRAMAH__TUNE_BINS - 1 && nis > edge[bin]) bin++;
  return bin;
}

static void judge_sensor(work *w, size_t i, const bramah_innovation *in)
{
  double *f = w->scores + bramah__tune_place_sensor(i), *former = w->former + i * BRAMAH_TUNE_LAGS;
  const double e = in->innovation / in->sigma;
  if (in->saturated) return;
  if (!in->accepted) {
    f[BRAMAH__TUNE_OF_GATED]++;
    w->scores[BRAMAH__TUNE_GATED]++;
    return;
  }
  f[BRAMAH__TUNE_OF_N]++;
  w->scores[BRAMAH__TUNE_USED]++;
  f[BRAMAH__TUNE_OF_SQUARES] += in->innovation * in->innovation;
  f[BRAMAH__TUNE_OF_NIS] += e * e;
  f[BRAMAH__TUNE_OF_SUM] += e;
  for (size_t l = 0; l < BRAMAH_TUNE_LAGS; l++) f[BRAMAH__TUNE_OF_LAG + l] += e * former[l];
  memmove(former + 1, former, (BRAMAH_TUNE_LAGS - 1) * sizeof *former);
  former[0] = e;
  f[BRAMAH__TUNE_OF_BINS + bin_of(w->problem, e * e, 1)]++;
}

/* Innovations of sensors index[m] with their covariance. */
static void gather(const work *w, bramah__tune_seen s, size_t m, double *y, double *S)
{
  const size_t all = w->problem->n_sensors;
  for (size_t a = 0; a < m; a++) {
    y[a] = s.innovation[w->index[a]].innovation;
    for (size_t b = 0; b < m; b++) S[a * m + b] = s.S[w->index[a] * all + w->index[b]];
  }
}

/* Neighbours must have seen the same; a delay that moves a sample to another step makes them differ. */
static bramah__tune_seen partner(const work *w, size_t j, size_t step, size_t k, bramah__tune_seen own)
{
  const bramah__tune_runner *r = &w->runners[1 + j];
  if (step >= r->n_steps || k >= r->steps[step].n_seen) return own;
  const bramah__tune_seen other = bramah__tune_runner_seen(r, r->steps[step].first + k);
  for (size_t i = 0; i < w->problem->n_sensors; i++)
    if (own.innovation[i].present && !other.innovation[i].present) return own;
  return other;
}

static void judge_outlier(work *w, size_t step, size_t k, bramah__tune_seen s, size_t i)
{
  const bramah_innovation *in = &s.innovation[i];
  const double gate = bramah_session_study(w->runners[0].opened.session)->gate[i];
  /* Beyond the gate on drifts an innovation may be small. */
  if (in->nis <= gate * gate) return;
  for (size_t j = 0; j < w->n; j++) {
    const bramah__tune_seen near = partner(w, j, step, k, s);
    w->near_y[j] = near.innovation[i].innovation;
    w->near_sigma[j] = near.innovation[i].sigma;
  }
  bramah__likelihood_add_outlier(w->likelihood, in->innovation, in->sigma, gate, w->near_y, w->near_sigma,
                                 w->step);
}

/* Correction k of a step. */
static bramah_status judge(work *w, size_t step, size_t k, bramah_diag *diag)
{
  const bramah__tune_runner *r = &w->runners[0];
  const bramah__tune_seen s = bramah__tune_runner_seen(r, r->steps[step].first + k);
  size_t m = 0;
  for (size_t i = 0; i < w->problem->n_sensors; i++) {
    const bramah_innovation *in = &s.innovation[i];
    if (!in->present) continue;
    judge_sensor(w, i, in);
    if (in->accepted) w->index[m++] = i;
    if (!in->accepted && !in->saturated) judge_outlier(w, step, k, s, i);
  }
  if (m == 0) return BRAMAH_OK;
  gather(w, s, m, w->y, w->S);
  for (size_t j = 0; j < w->n; j++)
    gather(w, partner(w, j, step, k, s), m, w->near_y + j * m, w->near_S + j * m * m);
  const bramah_status status =
      bramah__likelihood_add(w->likelihood, m, w->y, w->S, w->near_y, w->near_S, w->step, diag);
  if (status) return status;
  const double nis = bramah__likelihood_nis(w->likelihood);
  w->scores[BRAMAH__TUNE_NIS] += nis;
  w->scores[BRAMAH__TUNE_DOF] += (double)m;
  w->scores[BRAMAH__TUNE_JOINT + bin_of(w->problem, nis, m)]++;
  return BRAMAH_OK;
}

/* ---- truth ---- */

static void compare(work *w, int64_t time_ns)
{
  const bramah_plant *plant = bramah_session_plant(w->runners[0].opened.session);
  for (size_t i = 0; w->log->truth_rows && i < w->problem->n_outputs; i++) {
    const double truth = bramah__tune_log_truth(w->log, time_ns, plant->step_ns / 2, i, &w->truth_row);
    if (isnan(truth)) continue;
    double *f = w->scores + bramah__tune_place_output(w->problem, i);
    const size_t output = w->problem->outputs[i];
    const double value = plant->output(plant->self, output);
    const double error = bramah__without_turns(plant, output, truth, value) - truth;
    f[0] += error * error;
    f[1]++;
  }
}

/* ---- predictions ---- */

static bramah_status open_ahead(work *w, bramah_diag *diag)
{
  const bramah_session *session = w->runners[0].opened.session;
  const bramah_plant *plant = bramah_session_plant(session);
  if (!w->problem->ahead) return BRAMAH_OK;
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
  const bramah_status status =
      bramah_coupled_new(bramah_session_about(session)->machine->model, diag, &w->free_model);
  if (!status) w->ahead = bramah_coupled_plant(w->free_model);
  return status;
}

static void start_ahead(work *w)
{
  const bramah_plant *plant = bramah_session_plant(w->runners[0].opened.session);
  plant->save(plant->self, w->snapshot);
  w->ahead.restore(w->ahead.self, w->snapshot);
}

/* After a step of the filter, before its correction: the free model does the same step. */
static bramah_status follow(work *w, bramah_diag *diag)
{
  const bramah_plant *plant = bramah_session_plant(w->runners[0].opened.session);
  for (size_t i = 0; i < plant->n_input; i++)
    w->u[i] = w->command[i] >= 0 ? plant->output(plant->self, (size_t)w->command[i]) : 0.0;
  const bramah_status status = w->ahead.set_inputs(w->ahead.self, w->u, diag);
  return status ? status : w->ahead.step(w->ahead.self, diag);
}

static bramah_status predicted(void *user, bramah_diag *diag)
{
  work *w = user;
  const bramah_session *session = w->runners[0].opened.session;
  const bramah_status status = follow(w, diag);
  if (status) return status;
  for (size_t i = 0; i < w->problem->n_sensors; i++)
    w->apart[i] =
        bramah_sensor_predict(&bramah_session_about(session)->sensors[i], bramah_session_plant(session)) -
        bramah_sensor_predict(&bramah_session_about(session)->sensors[i], &w->ahead);
  w->steps++;
  return BRAMAH_OK;
}

/* At the end of a stretch: how far off, and from the estimate anew. */
static void judge_ahead(work *w, const bramah__tune_step *step, int judged)
{
  if (!w->problem->ahead) return;
  const int due = w->steps % (uint64_t)w->problem->ahead == 0;
  const int any = due && judged && w->steps && step->n_seen;
  for (size_t i = 0; any && i < w->problem->n_sensors; i++) {
    const size_t last = step->first + step->n_seen - 1;
    const bramah_innovation *in = &bramah__tune_runner_seen(&w->runners[0], last).innovation[i];
    if (!in->present || in->saturated) continue;
    double *f = w->scores + bramah__tune_place_sensor(i) + BRAMAH__TUNE_OF_AHEAD;
    const double error = in->innovation + w->apart[i];
    f[0] += error * error;
    f[1]++;
  }
  if (due) start_ahead(w);
}

static int is_judged(const work *w, int64_t time_ns)
{
  return time_ns - w->begin_ns >= w->problem->settle_ns;
}

/* After a step of the set itself, while its plant is there. */
static void stepped(void *user, const bramah__tune_step *step)
{
  work *w = user;
  const int judged = is_judged(w, step->time_ns);
  if (judged) compare(w, step->time_ns);
  judge_ahead(w, step, judged);
}

/* ---- running ---- */

static bramah_status open_runner(work *w, size_t i, const char *set, bramah_diag *diag)
{
  return bramah__tune_runner_open(&w->runners[i], w->problem, w->job->log, w->job->thousandths, set, diag);
}

static bramah_status open_work(work *w, bramah_diag *diag)
{
  const size_t n = w->n, m = w->problem->n_sensors;
  w->runners = calloc(1 + n, sizeof *w->runners);
  w->block = calloc(bramah__tune_n_scores(w->problem, w->job->slope) + n + m + m * m + n * (m + 1) +
                        n * m * m + n + m * BRAMAH_TUNE_LAGS + 1,
                    sizeof *w->block);
  w->index = calloc(m + 1, sizeof *w->index);
  if (!w->runners || !w->block || !w->index) return bramah__fail_memory(diag);
  w->scores = w->block;
  w->step = w->scores + bramah__tune_n_scores(w->problem, w->job->slope);
  w->y = w->step + n;
  w->S = w->y + m;
  w->near_y = w->S + m * m;
  w->near_S = w->near_y + n * (m + 1);
  w->near_sigma = w->near_S + n * m * m;
  w->former = w->near_sigma + n;
  bramah_status status = bramah__likelihood_new(m, n, diag, &w->likelihood);
  if (!status) status = open_runner(w, 0, w->job->set, diag);
  for (size_t j = 0; !status && j < n; j++) {
    char set[BRAMAH__TUNE_TEXT];
    w->step[j] = bramah__tune_neighbour(w->problem, w->job->set, j, set);
    status = open_runner(w, 1 + j, set, diag);
  }
  if (!status) status = open_ahead(w, diag);
  w->runners[0].hooks =
      (bramah__tune_hooks){.user = w, .predicted = w->problem->ahead ? predicted : NULL, .stepped = stepped};
  return status;
}

static void close_work(work *w)
{
  for (size_t j = 0; w->runners && j < 1 + w->n; j++) bramah__tune_runner_close(&w->runners[j]);
  bramah_coupled_free(w->free_model);
  bramah__likelihood_free(w->likelihood);
  free(w->runners);
  free(w->block);
  free(w->index);
  free(w->command);
  free(w->u);
  free(w->apart);
  free(w->snapshot);
}

static void note_check(work *w)
{
  w->scores[BRAMAH__TUNE_COST + w->check] = bramah__likelihood_cost(w->likelihood);
  if (w->job->slope && w->n)
    memcpy(w->scores + bramah__tune_place_scores(w->problem) + (size_t)w->check * w->n,
           bramah__likelihood_gradient(w->likelihood), w->n * sizeof *w->scores);
  w->scores[BRAMAH__TUNE_CHECKED] = ++w->check;
}

/* 1: given up. */
static int pass_checks(work *w, int64_t time_ns)
{
  const int64_t done = time_ns - w->begin_ns;
  while (w->check + 1 < BRAMAH__TUNE_CHECKS && done > w->length_ns / BRAMAH__TUNE_CHECKS * (w->check + 1)) {
    note_check(w);
    if (!w->job->limited || w->scores[BRAMAH__TUNE_COST + w->check - 1] <= w->job->limit[w->check - 1])
      continue;
    w->scores[BRAMAH__TUNE_STOPPED] = w->check;
    return 1;
  }
  return 0;
}

static void go(void *user, size_t i)
{
  work *w = user;
  bramah__tune_runner_go(&w->runners[i]);
}

/* What kept any of them from making this step of the chunk, as if all had made each step together. */
static bramah_status failed(const work *w, size_t step, bramah_diag *diag)
{
  for (size_t i = 0; i < 1 + w->n; i++) {
    const bramah__tune_runner *r = &w->runners[i];
    if (step < r->n_steps || !r->status) continue;
    *diag = r->diag;
    return r->status;
  }
  return BRAMAH_OK;
}

/* The chunk's steps, one after the other; *over: the log has ended, or the replay is given up. */
static bramah_status judge_chunk(work *w, int *over, bramah_diag *diag)
{
  const bramah__tune_runner *r = &w->runners[0];
  for (size_t step = 0; step < r->n_steps; step++) {
    const bramah__tune_step *at = &r->steps[step];
    bramah_status status = failed(w, step, diag);
    if (status) return status;
    w->scores[BRAMAH__TUNE_STEPS]++;
    w->scores[BRAMAH__TUNE_TIME] = (double)at->time_ns / 1e9;
    *over = pass_checks(w, at->time_ns);
    if (*over) return BRAMAH_OK;
    for (size_t k = 0; !status && is_judged(w, at->time_ns) && k < at->n_seen; k++)
      status = judge(w, step, k, diag);
    if (status) return status;
  }
  *over = r->end;
  return *over ? BRAMAH_OK : failed(w, r->n_steps, diag);
}

int bramah__tune_is_stopped(const bramah__tune_problem *problem)
{
  return problem->stopped && problem->stopped(problem->stopped_user);
}

bramah_status bramah__tune_interrupted(bramah_diag *diag)
{
  return bramah__failf(diag, BRAMAH_E_TIME, NULL, 0, NULL, "interrupted");
}

static bramah_status run(work *w, bramah__worker_pool *pool, bramah_diag *diag)
{
  bramah_status status = BRAMAH_OK;
  for (int over = 0; !status && !over;) {
    bramah__worker_pool_share(pool, 1 + w->n, go,
                              w); /* each in its place: it does not matter who was done first */
    w->interrupted = bramah__tune_is_stopped(w->problem);
    status = w->interrupted ? bramah__tune_interrupted(diag) : judge_chunk(w, &over, diag);
  }
  while (!status && w->scores[BRAMAH__TUNE_STOPPED] == 0.0 && w->check < BRAMAH__TUNE_CHECKS) note_check(w);
  return status;
}

static void finish(work *w)
{
  if (!w->job->slope) return;
  memcpy(w->scores + bramah__tune_place_gradient(w->problem), bramah__likelihood_gradient(w->likelihood),
         w->n * sizeof *w->scores);
  memcpy(w->scores + bramah__tune_place_information(w->problem),
         bramah__likelihood_information(w->likelihood), w->n * w->n * sizeof *w->scores);
}

bramah_status bramah__tune_replay(const bramah__tune_problem *problem, const bramah__tune_job *job,
                                  bramah__worker_pool *pool, double *scores, bramah_diag *diag)
{
  const size_t n_scores = bramah__tune_n_scores(problem, job->slope);
  work w = {
      .problem = problem, .job = job, .log = &problem->logs[job->log], .n = job->slope ? problem->n : 0};
  memset(scores, 0, n_scores * sizeof *scores);
  w.begin_ns = w.log->time_ns[0];
  bramah_diag_clear(diag);
  bramah_status status = open_work(&w, diag);
  if (!status) {
    w.length_ns = w.runners[0].cursor.end_ns - w.begin_ns;
    status = run(&w, pool, diag);
    if (status && !w.interrupted) bramah__place(diag, w.log->path, 0);
    finish(&w);
    memcpy(scores, w.scores, n_scores * sizeof *scores);
  }
  close_work(&w);
  scores[BRAMAH__TUNE_STATUS] = status;
  return status == BRAMAH_E_MEMORY || w.interrupted ? status : BRAMAH_OK;
}

int bramah__tune_cut(const bramah__tune_job *job, double *scores)
{
  const int known = (int)scores[BRAMAH__TUNE_CHECKED];
  for (int c = 0; job->limited && c < known && c + 1 < BRAMAH__TUNE_CHECKS; c++)
    if (scores[BRAMAH__TUNE_COST + c] > job->limit[c]) {
      scores[BRAMAH__TUNE_STATUS] = 0.0;
      scores[BRAMAH__TUNE_STOPPED] = c + 1;
      return 1;
    }
  return scores[BRAMAH__TUNE_STOPPED] == 0.0;
}
