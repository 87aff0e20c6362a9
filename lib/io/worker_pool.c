/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/io/worker_pool.h"

#include <pthread.h>
#include <stdlib.h>

/* Tasks of a job that any thread may do. */
typedef struct shared {
  struct shared *next;
  size_t n, begun, done;
  void (*task)(void *of, size_t i);
  void *of;
} shared;

struct bramah__worker_pool {
  const bramah__worker_jobs *work;
  pthread_mutex_t lock;   /* of all that follows */
  pthread_cond_t changed; /* tasks were shared out or done, or the last job was */
  size_t next;            /* job */
  size_t active, idle;    /* threads with a job; without, as there is none left */
  shared *first;
  bramah_status status;
  bramah_diag diag;
};

/* With the lock. */
static void keep_error(bramah__worker_pool *p, bramah_status status, const bramah_diag *diag)
{
  if (!status || p->status) return;
  p->status = status;
  p->diag = *diag;
}

/* With the lock: a job nobody has begun, or n. */
static size_t take(bramah__worker_pool *p)
{
  const bramah__worker_jobs *work = p->work;
  if (!p->status && work->begin) p->status = work->begin(work->user, &p->diag);
  return p->status || p->next == work->n ? work->n : p->next++;
}

/* With the lock. */
static void finish(bramah__worker_pool *p, size_t i, bramah_status status, const bramah_diag *diag)
{
  bramah_diag of_done;
  keep_error(p, status, diag);
  if (!status && p->work->done) keep_error(p, p->work->done(p->work->user, i, &of_done), &of_done);
}

int bramah__worker_pool_take(bramah__worker_pool *pool, size_t *i)
{
  pthread_mutex_lock(&pool->lock);
  *i = take(pool);
  pthread_mutex_unlock(&pool->lock);
  return *i < pool->work->n;
}

void bramah__worker_pool_finish(bramah__worker_pool *pool, size_t i, bramah_status status,
                                const bramah_diag *diag)
{
  pthread_mutex_lock(&pool->lock);
  finish(pool, i, status, diag);
  pthread_mutex_unlock(&pool->lock);
}

/* ---- tasks ---- */

/* With the lock, but not while it works: one task of those that nobody has begun. */
static void do_one(bramah__worker_pool *p, shared *s)
{
  const size_t i = s->begun++;
  pthread_mutex_unlock(&p->lock);
  s->task(s->of, i);
  pthread_mutex_lock(&p->lock);
  if (++s->done == s->n) pthread_cond_broadcast(&p->changed);
}

void bramah__worker_pool_share(bramah__worker_pool *pool, size_t n, void (*task)(void *of, size_t i),
                               void *of)
{
  int alone = !pool || n < 2;
  if (!alone) {
    shared s = {.n = n, .task = task, .of = of};
    pthread_mutex_lock(&pool->lock);
    alone = !pool->idle;
    if (!alone) {
      s.next = pool->first;
      pool->first = &s;
      pthread_cond_broadcast(&pool->changed);
      while (s.begun < n) do_one(pool, &s);

      /* Nobody begins one any more: out of the list, and wait for the others. */
      shared **link = &pool->first;
      while (*link != &s) link = &(*link)->next;
      *link = s.next;
      while (s.done < n) pthread_cond_wait(&pool->changed, &pool->lock);
    }
    pthread_mutex_unlock(&pool->lock);
  }
  for (size_t i = 0; alone && i < n; i++) task(of, i);
}

/* ---- threads ---- */

/* Jobs, as long as there are any; then tasks of others' jobs until the last one is done. */
static void *work(void *user)
{
  bramah__worker_pool *p = user;
  const bramah__worker_jobs *w = p->work;
  pthread_mutex_lock(&p->lock);
  for (size_t i = take(p); i < w->n; i = take(p)) {
    bramah_diag diag;
    p->active++;
    pthread_mutex_unlock(&p->lock);
    bramah_diag_clear(&diag);
    const bramah_status status = w->job(w->user, i, p, &diag);
    pthread_mutex_lock(&p->lock);
    p->active--;
    finish(p, i, status, &diag);
  }
  p->idle++;
  while (p->active) {
    shared *s = p->first;
    while (s && s->begun == s->n) s = s->next;
    if (s)
      do_one(p, s);
    else
      pthread_cond_wait(&p->changed, &p->lock);
  }
  p->idle--;
  pthread_cond_broadcast(&p->changed);
  pthread_mutex_unlock(&p->lock);
  return NULL;
}

bramah_status bramah__worker_pool_run(const bramah__worker_jobs *what, size_t n_threads, bramah_diag *diag)
{
  bramah__worker_pool pool = {
      .work = what, .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};
  const size_t more = n_threads > 1 ? n_threads - 1 : 0;
  pthread_t *threads = calloc(more + 1, sizeof *threads);
  size_t n = 0;
  while (threads && n < more && pthread_create(&threads[n], NULL, work, &pool) == 0) n++;
  if (what->lead) what->lead(what->user, &pool);
  work(&pool);
  while (n-- > 0) pthread_join(threads[n], NULL);
  free(threads);
  pthread_cond_destroy(&pool.changed);
  pthread_mutex_destroy(&pool.lock);
  if (pool.status) *diag = pool.diag;
  return pool.status;
}
