/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Many replays at once, by the threads of this process and by other processes; and the journal of their
 * results. */
#define _DEFAULT_SOURCE /* nanosleep, _SC_NPROCESSORS_ONLN */
#include "lib/io/fail.h"
#include "lib/tune/tune_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

bramah_status bramah__tune_workers_open(bramah__tune_workers *workers, const bramah__tune_problem *problem,
                                        bramah_diag *diag)
{
  const bramah_tune_run *run = &problem->run;
  const long processors = sysconf(_SC_NPROCESSORS_ONLN);
  const int several = run->transport && run->transport->size > 1;
  *workers = (bramah__tune_workers){.problem = problem, .n_threads = run->n_threads};
  if (!workers->n_threads) workers->n_threads = several || processors < 1 ? 1 : (size_t)processors;
  bramah_diag_clear(diag);
  const bramah_status status = bramah__journal_open(run->journal, diag, &workers->journal);
  if (status || !run->tell) return status;
  const size_t damaged = workers->journal->damaged, read = workers->journal->read;
  char line[1024];
  snprintf(line, sizeof line, "%s: %zu damaged lines are left out", run->journal, damaged);
  if (damaged) run->tell(run->user, line);
  snprintf(line, sizeof line, "%s: %zu results are there already", run->journal, read);
  if (read) run->tell(run->user, line);
  return BRAMAH_OK;
}

void bramah__tune_workers_close(bramah__tune_workers *workers) { bramah__journal_close(workers->journal); }

/* ---- the journal ---- */

enum { KEY_ROOM = BRAMAH__TUNE_TEXT + 128 };

/* Whatever the result depends on. Limits only end it earlier (bramah__tune_cut): a replay given up early is
 * remembered apart, as one with other limits may need more of it. */
static void write_key(const bramah__tune_problem *problem, const bramah__tune_job *job, int stopped,
                      char *key)
{
  char candidate[BRAMAH__TUNE_TEXT];
  int used = 0;
  if (stopped)
    used = snprintf(key, KEY_ROOM, "%016" PRIx64 " ", bramah__fnv(0, job->limit, sizeof job->limit));
  bramah__tune_candidate_text(problem, job->x, candidate);
  snprintf(key + used, KEY_ROOM - (size_t)used, "%016" PRIx64 " %016" PRIx64 " %s %d: %s", problem->identity,
           problem->logs[job->log].hash, job->slope ? "slope" : "cost", job->thousandths, candidate);
}

/* 1: the journal knows it. */
static int recall(const bramah__tune_workers *w, const bramah__tune_job *job, bramah__replay_score *score)
{
  char key[KEY_ROOM];
  for (int stopped = 0; stopped <= job->limited; stopped++) {
    size_t n = 0;
    write_key(w->problem, job, stopped, key);
    const double *known = bramah__journal_find(w->journal, key, &n);
    if (!known) continue;
    if (n != bramah__replay_score_length(w->problem, job->slope)) return 0;
    bramah__replay_score_transfer(w->problem, job->slope, BRAMAH__SCORE_UNPACK, score,
                                  (double *)(uintptr_t)known /* only read */);
    return bramah__tune_cut(job, score);
  }
  return 0;
}

/* ---- jobs ---- */

typedef struct batch {
  bramah__tune_workers *workers;
  const bramah__tune_job *jobs;
  bramah__replay_score *scores;
  size_t n, *index; /* [n] of the jobs that the journal does not know */
  double *numbers;  /* of one score */
} batch;

static bramah_status begin(void *user, bramah_diag *diag)
{
  return bramah__tune_stopped(&((batch *)user)->workers->problem->run, diag);
}

static bramah_status replay(void *user, size_t k, bramah__worker_pool *pool, bramah_diag *diag)
{
  batch *b = user;
  const size_t i = b->index[k];
  return bramah__tune_replay(b->workers->problem, &b->jobs[i], pool, &b->scores[i], diag);
}

static bramah_status remember(void *user, size_t k, bramah_diag *diag)
{
  batch *b = user;
  bramah__tune_workers *w = b->workers;
  const bramah__tune_job *job = &b->jobs[b->index[k]];
  bramah__replay_score *score = &b->scores[b->index[k]];
  const size_t n = 1 + (job->slope ? w->problem->n : 0);
  char key[KEY_ROOM];
  w->replays += n;
  w->log_seconds +=
      (double)n * score->steps * 1e-9 * (double)bramah_session_plant(w->problem->session)->step_ns;
  write_key(w->problem, job, score->stopped > 0, key);
  bramah__replay_score_transfer(w->problem, job->slope, BRAMAH__SCORE_PACK, score, b->numbers);
  return bramah__journal_add(w->journal, key, bramah__replay_score_length(w->problem, job->slope), b->numbers,
                             diag);
}

/* ---- other processes: jobs go out as bytes, answers come back; an empty message dismisses ---- */

typedef struct parcel {
  size_t number;
  bramah__tune_job job;
} parcel;

/* Followed by the numbers of the score. */
typedef struct answer {
  size_t number;
  bramah_status status;
  bramah_diag diag;
} answer;

static size_t answer_size(const bramah__tune_problem *problem, int slope)
{
  return sizeof(answer) + bramah__replay_score_length(problem, slope) * sizeof(double);
}

/* Waiting without keeping a processor busy. */
static void wait_a_little(void)
{
  const struct timespec pause = {.tv_nsec = 200000};
  nanosleep(&pause, NULL);
}

/* The other processes get a job each, and another one when they have answered. */
static void lead(void *user, bramah__worker_pool *pool)
{
  batch *b = user;
  const bramah__tune_problem *problem = b->workers->problem;
  const bramah_transport *t = problem->run.transport;
  const size_t room = answer_size(problem, 1);
  unsigned char *busy = calloc(t->size, 1);
  answer *a = malloc(room);
  for (size_t working = busy && a; working;) {
    working = 0;
    for (size_t rank = 1; rank < t->size; rank++) {
      parcel p;
      memset(&p, 0, sizeof p);
      if (!busy[rank] && bramah__worker_pool_take(pool, &p.number)) {
        p.job = b->jobs[b->index[p.number]];
        t->send(t->self, rank, &p, sizeof p);
        busy[rank] = 1;
      }
      working += busy[rank];
    }
    size_t n, from;
    if (!working) break;
    if (!t->receive(t->self, a, room, &n, &from)) {
      wait_a_little();
      continue;
    }
    busy[from] = 0;
    const size_t i = b->index[a->number];
    if (!a->status)
      bramah__replay_score_transfer(problem, b->jobs[i].slope, BRAMAH__SCORE_UNPACK, &b->scores[i],
                                    (double *)(a + 1));
    bramah__worker_pool_finish(pool, a->number, a->status, &a->diag);
  }
  free(busy);
  free(a);
}

int bramah__tune_serves(const bramah_tune_run *run) { return run->transport && run->transport->rank > 0; }

bramah_status bramah__tune_serve(const bramah__tune_problem *problem, bramah_diag *diag)
{
  const bramah_transport *t = problem->run.transport;
  bramah__replay_score *score = bramah__replay_scores_new(problem, 1, 1);
  answer *a = calloc(1, answer_size(problem, 1));
  for (;;) {
    parcel p;
    size_t n, from;
    if (!t->receive(t->self, &p, sizeof p, &n, &from)) {
      wait_a_little();
      continue;
    }
    if (n == 0) break;
    answer without = {.number = p.number};
    if (!score || !a) { /* the first process would wait for ever */
      without.status = bramah__fail_memory(&without.diag);
      t->send(t->self, 0, &without, sizeof without);
      continue;
    }
    *a = without;
    a->status = bramah__tune_replay(problem, &p.job, NULL, score, &a->diag);
    bramah__replay_score_transfer(problem, p.job.slope, BRAMAH__SCORE_PACK, score, (double *)(a + 1));
    t->send(t->self, 0, a, answer_size(problem, p.job.slope));
  }
  bramah_diag_clear(diag);
  free(score);
  free(a);
  return BRAMAH_OK;
}

void bramah__tune_dismiss(const bramah_tune_run *run)
{
  for (size_t rank = 1; run->transport && rank < run->transport->size; rank++)
    run->transport->send(run->transport->self, rank, NULL, 0);
}

bramah_status bramah__tune_agree(const bramah__tune_problem *problem, const bramah_tune_run *run,
                                 bramah_status status, bramah_diag *diag)
{
  const bramah_transport *t = run->transport;
  if (!t) return status;
  struct {
    uint64_t hash;
    bramah_status status;
  } mine = {.hash = problem->identity, .status = status}, first;
  for (size_t i = 0; !status && i < problem->n_logs; i++)
    mine.hash = bramah__fnv(mine.hash, &problem->logs[i].hash, sizeof problem->logs[i].hash);

  /* Each compares itself with the first one, which gathers what they find. */
  first = mine;
  t->broadcast(t->self, &first, sizeof first);
  int all = !status && first.hash == mine.hash;
  if (t->rank) t->send(t->self, 0, &all, sizeof all);
  for (size_t answers = 1; !t->rank && answers < t->size;) {
    int same;
    size_t n, from;
    if (t->receive(t->self, &same, sizeof same, &n, &from)) {
      answers++;
      all &= same;
    } else {
      wait_a_little();
    }
  }
  t->broadcast(t->self, &all, sizeof all);
  if (first.status) {
    if (t->rank) bramah_diag_clear(diag);
    return first.status;
  }
  if (all || status) return status;
  return bramah__failf(
      diag, BRAMAH_E_FILE, problem->path, 0, NULL,
      "the processes do not all read the same study, machine and logs: give them the same files");
}

/* ---- all of them ---- */

bramah_status bramah__tune_workers_do(bramah__tune_workers *workers, size_t n, const bramah__tune_job *jobs,
                                      bramah__replay_score *scores, bramah_diag *diag)
{
  const bramah__tune_problem *problem = workers->problem;
  const int several = problem->run.transport && problem->run.transport->size > 1;
  batch b = {.workers = workers, .jobs = jobs, .scores = scores};
  size_t busy =
      0; /* threads that can have something to do: replays, of a slope those of the neighbours too */
  b.index = calloc(n + 1, sizeof *b.index);
  b.numbers = calloc(bramah__replay_score_length(problem, 1), sizeof *b.numbers);
  bramah_status status = b.index && b.numbers ? BRAMAH_OK : bramah__fail_memory(diag);
  for (size_t i = 0; !status && i < n; i++) {
    if (recall(workers, &jobs[i], &scores[i])) continue;
    b.index[b.n++] = i;
    busy += 1 + (jobs[i].slope ? problem->n : 0);
  }
  const bramah__worker_jobs work = {
      .n = b.n, .user = &b, .begin = begin, .job = replay, .done = remember, .lead = several ? lead : NULL};
  const size_t n_threads = (busy < workers->n_threads ? busy : workers->n_threads) + (size_t)several;
  if (!status && b.n) status = bramah__worker_pool_run(&work, n_threads, diag);
  free(b.index);
  free(b.numbers);
  return status;
}

bramah_status bramah__tune_workers_replay(bramah__tune_workers *workers, size_t n,
                                          double (*x)[BRAMAH__TUNE_MOST], size_t n_logs, const size_t *logs,
                                          int thousandths, bramah__replay_score *scores, bramah_diag *diag)
{
  bramah__tune_job *jobs = calloc(n * n_logs + 1, sizeof *jobs);
  if (!jobs) return bramah__fail_memory(diag);
  for (size_t i = 0; i < n * n_logs; i++) {
    jobs[i] = (bramah__tune_job){.log = logs[i % n_logs], .thousandths = thousandths};
    memcpy(jobs[i].x, x[i / n_logs], sizeof jobs[i].x);
  }
  const bramah_status status = bramah__tune_workers_do(workers, n * n_logs, jobs, scores, diag);
  free(jobs);
  return status;
}
