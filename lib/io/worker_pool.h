/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Jobs done by several threads: tuning, sweeps and sensor studies. */
#ifndef BRAMAH_LIB_IO_WORKER_POOL_H
#define BRAMAH_LIB_IO_WORKER_POOL_H

#include <stddef.h>
#include "bramah/status.h"

typedef struct bramah__worker_pool bramah__worker_pool;

/* What there is to do. `job` runs on any thread; the other functions (NULL: none) are called one at a time,
 * so that what they change needs no lock. The first error ends all: no further job is begun. */
typedef struct bramah__worker_jobs {
  size_t n; /* jobs */
  void *user;
  bramah_status (*begin)(void *user, bramah_diag *diag); /* before a job: may it be begun? */
  bramah_status (*job)(void *user, size_t i, bramah__worker_pool *pool, bramah_diag *diag);
  bramah_status (*done)(void *user, size_t i, bramah_diag *diag); /* after job i */
  /* On the calling thread before it does jobs itself: it may take some for whoever else can do them. */
  void (*lead)(void *user, bramah__worker_pool *pool);
} bramah__worker_jobs;

/* Do the jobs, begun in their order, on n_threads threads, the calling one among them; fewer where no more
 * can be had. Errors: those of the functions. */
bramah_status bramah__worker_pool_run(const bramah__worker_jobs *work, size_t n_threads, bramah_diag *diag);

/* From `lead`: a job nobody has begun, which is the caller's then; 0: none is left. And what came of it. */
int bramah__worker_pool_take(bramah__worker_pool *pool, size_t *i);
void bramah__worker_pool_finish(bramah__worker_pool *pool, size_t i, bramah_status status,
                                const bramah_diag *diag);

/* From `job`: task(of, i) for all i < n, on this thread and on those that have no job left; comes back when
 * all are done. pool NULL: on this thread. */
void bramah__worker_pool_share(bramah__worker_pool *pool, size_t n, void (*task)(void *of, size_t i),
                               void *of);

#endif
