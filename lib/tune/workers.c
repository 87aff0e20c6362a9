/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _DEFAULT_SOURCE /* nanosleep */

#include "lib/tune/tune_internal.h"
#include "lib/io/fail.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct batch {
  bramah__tune_workers *workers;
  const bramah__tune_job *jobs;
  double *const *scores;
  size_t n, *index; /* [n] of the jobs that the journal does not know */
} batch;

/* ---- the journal ---- */

enum { KEY_ROOM = BRAMAH__TUNE_TEXT + 128 };

/* Whatever the result depends on; limits only end it earlier (bramah__tune_cut). */
static void write_key(const bramah__tune_problem *problem, const bramah__tune_job *job, char *key)
{
  snprintf(key, KEY_ROOM, "%016" PRIx64 " %016" PRIx64 " %s %d: %s", problem->identity,
           problem->logs[job->log].hash, job->slope ? "slope" : "cost", job->thousandths, job->set);
}

/* A replay given up early is remembered apart: one with other limits may need more of it. */
static void write_stopped_key(const bramah__tune_problem *problem, const bramah__tune_job *job, char *key)
{
  char whole[KEY_ROOM];
  write_key(problem, job, whole);
  uint64_t hash = bramah__fnv(0, job->limit, sizeof job->limit);
  snprintf(key, KEY_ROOM + 32, "%016" PRIx64 " %s", hash, whole);
}

static int recall(const batch *b, size_t i)
{
  const bramah__tune_workers *workers = b->workers;
  const bramah__tune_job *job = &b->jobs[i];
  const size_t wanted = bramah__tune_n_scores(workers->problem, job->slope);
  char key[KEY_ROOM + 32];
  size_t n = 0;
  write_key(workers->problem, job, key);
  const double *known = bramah__journal_find(workers->journal, key, &n);
  if (!known && job->limited) {
    write_stopped_key(workers->problem, job, key);
    known = bramah__journal_find(workers->journal, key, &n);
  }
  if (!known || n != wanted) return 0;
  memcpy(b->scores[i], known, n * sizeof *known);
  return bramah__tune_cut(job, b->scores[i]);
}

static bramah_status remember(void *user, size_t k, bramah_diag *diag)
{
  batch *b = user;
  bramah__tune_workers *workers = b->workers;
  const bramah__tune_job *job = &b->jobs[b->index[k]];
  const double *scores = b->scores[b->index[k]];
  const size_t n = 1 + (job->slope ? workers->problem->n : 0);
  char key[KEY_ROOM + 32];
  if (scores[BRAMAH__TUNE_STOPPED] > 0.0)
    write_stopped_key(workers->problem, job, key);
  else
    write_key(workers->problem, job, key);
  workers->replays += n;
  workers->log_seconds += (double)n * scores[BRAMAH__TUNE_STEPS] * 1e-9 *
                          (double)bramah_session_plant(workers->problem->session)->step_ns;
  return bramah__journal_add(workers->journal, key, bramah__tune_n_scores(workers->problem, job->slope),
                             scores, diag);
}

/* ---- threads ---- */

static bramah_status begin(void *user, bramah_diag *diag)
{
  return bramah__tune_is_stopped(((batch *)user)->workers->problem) ? bramah__tune_interrupted(diag)
                                                                    : BRAMAH_OK;
}

static bramah_status replay(void *user, size_t k, bramah__worker_pool *pool, bramah_diag *diag)
{
  batch *b = user;
  const size_t i = b->index[k];
  return bramah__tune_replay(b->workers->problem, &b->jobs[i], pool, b->scores[i], diag);
}

/* The other processes get a job each, and another one when they have answered. */
static void lead(void *user, bramah__worker_pool *pool)
{
  const struct timespec pause = {.tv_nsec = 200000};
  batch *b = user;
  const bramah__tune_workers *w = b->workers;
  unsigned char *busy = calloc(w->n_ranks, 1);
  double *answer = calloc(bramah__tune_n_scores(w->problem, 1) + 1, sizeof *answer);
  size_t working = busy && answer;
  while (working) {
    size_t rank, k;
    working = 0;
    for (rank = 1; rank < w->n_ranks; rank++) {
      if (!busy[rank] && bramah__worker_pool_take(pool, &k)) {
        w->ranks->give(rank, k, &b->jobs[b->index[k]]);
        busy[rank] = 1;
      }
      working += busy[rank];
    }
    if (!working) break;
    if (!w->ranks->fetch(w->problem, &rank, &k, answer)) {
      nanosleep(&pause, NULL);
      continue;
    }
    busy[rank] = 0;
    const size_t i = b->index[k];
    memcpy(b->scores[i], answer, bramah__tune_n_scores(w->problem, b->jobs[i].slope) * sizeof *answer);
    bramah__worker_pool_finish(pool, k, BRAMAH_OK, NULL);
  }
  free(busy);
  free(answer);
}

bramah_status bramah__tune_workers_do(bramah__tune_workers *workers, size_t n, const bramah__tune_job *jobs,
                                      double *const *scores, bramah_diag *diag)
{
  batch b = {.workers = workers, .jobs = jobs, .scores = scores};
  size_t busy =
      0; /* threads that can have something to do: replays, of a slope those of the neighbours too */
  b.index = calloc(n + 1, sizeof *b.index);
  if (!b.index) return bramah__fail_memory(diag);
  for (size_t i = 0; i < n; i++) {
    if (recall(&b, i)) continue;
    b.index[b.n++] = i;
    busy += 1 + (jobs[i].slope ? workers->problem->n : 0);
  }
  const bramah__worker_jobs work = {.n = b.n,
                                    .user = &b,
                                    .begin = begin,
                                    .job = replay,
                                    .done = remember,
                                    .lead = workers->n_ranks > 1 ? lead : NULL};
  const size_t n_threads = (busy < workers->n_threads ? busy : workers->n_threads) + (workers->n_ranks > 1);
  const bramah_status status = b.n ? bramah__worker_pool_run(&work, n_threads, diag) : BRAMAH_OK;
  free(b.index);
  return status;
}
