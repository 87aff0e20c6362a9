/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _DEFAULT_SOURCE /* nanosleep */

#include "lib/tune/tune_internal.h"
#include "lib/io/fail.h"
#include "lib/io/threads.h"
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Where a job is. */
enum { TO_DO = 0, BEGUN, DONE };

/* Tasks of a job that any thread may do. */
typedef struct shared {
  struct shared *next;
  size_t n, begun, done;
  void (*task)(void *of, size_t i);
  void *of;
} shared;

typedef struct batch {
  bramah__tune_workers *workers;
  size_t n;
  const bramah__tune_job *jobs;
  double *const *scores;
  unsigned char *state;   /* [n] */
  pthread_mutex_t lock;   /* of all that changes here, and of the journal */
  pthread_cond_t changed; /* tasks were shared out or done, or the last job was */
  size_t next, done;
  size_t active, idle; /* threads with a job of their own; without, as there is none left */
  shared *first;
  bramah_status status;
  bramah_diag diag;
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

/* With the lock. */
static void remember(batch *b, size_t i)
{
  bramah__tune_workers *workers = b->workers;
  const bramah__tune_job *job = &b->jobs[i];
  const double *scores = b->scores[i];
  const size_t n = 1 + (job->slope ? workers->problem->n : 0);
  char key[KEY_ROOM + 32];
  if (scores[BRAMAH__TUNE_STOPPED] > 0.0)
    write_stopped_key(workers->problem, job, key);
  else
    write_key(workers->problem, job, key);
  bramah_diag diag;
  const bramah_status status = bramah__journal_add(
      workers->journal, key, bramah__tune_n_scores(workers->problem, job->slope), scores, &diag);
  if (status && !b->status) {
    b->status = status;
    b->diag = diag;
  }
  workers->replays += n;
  workers->log_seconds += (double)n * scores[BRAMAH__TUNE_STEPS] * 1e-9 *
                          (double)bramah_session_plant(workers->problem->session)->step_ns;
  b->state[i] = DONE;
  b->done++;
}

/* ---- threads ---- */

/* With the lock: a job nobody has begun, or n. */
static size_t take(batch *b)
{
  if (!b->status && bramah__tune_is_stopped(b->workers->problem))
    b->status = bramah__tune_interrupted(&b->diag);
  while (b->next < b->n && b->state[b->next] != TO_DO) b->next++;
  if (b->status || b->next == b->n) return b->n;
  b->state[b->next] = BEGUN;
  return b->next++;
}

/* With the lock, but not while it works: one task of those that nobody has begun. */
static void do_one(batch *b, shared *s)
{
  const size_t i = s->begun++;
  pthread_mutex_unlock(&b->lock);
  s->task(s->of, i);
  pthread_mutex_lock(&b->lock);
  if (++s->done == s->n) pthread_cond_broadcast(&b->changed);
}

static void publish(batch *b, shared *s)
{
  s->next = b->first;
  b->first = s;
  pthread_cond_broadcast(&b->changed);
}

static void withdraw(batch *b, const shared *s)
{
  shared **link = &b->first;
  while (*link != s) link = &(*link)->next;
  *link = s->next;
}

/* bramah__tune_executor: at the end of a batch there are threads without a job; they do what they can of others'. */
static void share(void *user, size_t n, void (*task)(void *of, size_t i), void *of)
{
  batch *b = user;
  shared s = {.n = n, .task = task, .of = of};
  pthread_mutex_lock(&b->lock);
  const int alone = n < 2 || !b->idle;
  if (!alone) {
    publish(b, &s);
    while (s.begun < n) do_one(b, &s);
    withdraw(b, &s);
    while (s.done < n) pthread_cond_wait(&b->changed, &b->lock);
  }
  pthread_mutex_unlock(&b->lock);
  for (size_t i = 0; alone && i < n; i++) task(of, i);
}

/* With the lock: until the last job is done. */
static void help(batch *b)
{
  b->idle++;
  while (b->active) {
    shared *s = b->first;
    while (s && s->begun == s->n) s = s->next;
    if (s)
      do_one(b, s);
    else
      pthread_cond_wait(&b->changed, &b->lock);
  }
  b->idle--;
  pthread_cond_broadcast(&b->changed);
}

static void work(void *user)
{
  batch *b = user;
  const bramah__tune_executor executor = {.user = b, .share = share};
  pthread_mutex_lock(&b->lock);
  for (size_t i = take(b); i < b->n; i = take(b)) {
    bramah_diag diag;
    b->active++;
    pthread_mutex_unlock(&b->lock);
    const bramah_status status =
        bramah__tune_replay(b->workers->problem, &b->jobs[i], &executor, b->scores[i], &diag);
    pthread_mutex_lock(&b->lock);
    b->active--;
    if (!status) {
      remember(b, i);
    } else if (!b->status) {
      b->status = status;
      b->diag = diag;
    }
  }
  help(b);
  pthread_mutex_unlock(&b->lock);
}

/* ---- other processes ---- */

typedef struct helpers {
  size_t n;     /* ranks, this one included */
  size_t *busy; /* [n] 1: at work */
  double *answer;
} helpers;

static size_t employ(batch *b, helpers *h)
{
  size_t working = 0;
  for (size_t rank = 1; rank < h->n; rank++) {
    if (!h->busy[rank]) {
      pthread_mutex_lock(&b->lock);
      const size_t i = take(b);
      pthread_mutex_unlock(&b->lock);
      if (i < b->n) {
        b->workers->ranks->give(rank, i, &b->jobs[i]);
        h->busy[rank] = 1;
      }
    }
    working += h->busy[rank];
  }
  return working;
}

static void lead(batch *b, helpers *h)
{
  const struct timespec pause = {.tv_nsec = 200000};
  while (employ(b, h)) {
    size_t rank, i;
    if (!b->workers->ranks->fetch(b->workers->problem, &rank, &i, h->answer)) {
      nanosleep(&pause, NULL);
      continue;
    }
    h->busy[rank] = 0;
    pthread_mutex_lock(&b->lock);
    memcpy(b->scores[i], h->answer,
           bramah__tune_n_scores(b->workers->problem, b->jobs[i].slope) * sizeof *h->answer);
    remember(b, i);
    pthread_mutex_unlock(&b->lock);
  }
}

/* The calling thread leads the other processes; then it works itself, which nothing is left for as a rule. */
static void lead_and_work(void *user)
{
  batch *b = user;
  helpers h = {.n = b->workers->n_ranks};
  h.busy = calloc(h.n, sizeof *h.busy);
  h.answer = calloc(bramah__tune_n_scores(b->workers->problem, 1) + 1, sizeof *h.answer);
  if (h.busy && h.answer) lead(b, &h);
  free(h.busy);
  free(h.answer);
  work(b);
}

/* No more than can have something to do: replays, of a slope those of the neighbours too. */
static size_t threads_for(const batch *b)
{
  size_t n = 0;
  for (size_t i = 0; i < b->n; i++)
    if (b->state[i] == TO_DO) n += 1 + (b->jobs[i].slope ? b->workers->problem->n : 0);
  n = n < b->workers->n_threads ? n : b->workers->n_threads;
  return n ? n : 1;
}

bramah_status bramah__tune_workers_do(bramah__tune_workers *workers, size_t n, const bramah__tune_job *jobs,
                                      double *const *scores, bramah_diag *diag)
{
  batch b = {.workers = workers,
             .n = n,
             .jobs = jobs,
             .scores = scores,
             .lock = PTHREAD_MUTEX_INITIALIZER,
             .changed = PTHREAD_COND_INITIALIZER};
  b.state = calloc(n + 1, 1);
  if (!b.state) return bramah__fail_memory(diag);
  for (size_t i = 0; i < n; i++)
    if (recall(&b, i)) {
      b.state[i] = DONE;
      b.done++;
    }
  const size_t n_threads = threads_for(&b);
  if (b.done < n && workers->n_ranks > 1)
    bramah__run_threads(n_threads, work, lead_and_work, &b);
  else if (b.done < n)
    bramah__run_threads(n_threads - 1, work, work, &b);
  free(b.state);
  if (b.status) *diag = b.diag;
  return b.status;
}
