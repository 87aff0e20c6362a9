/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _DEFAULT_SOURCE /* _SC_NPROCESSORS_ONLN */
#include "lib/cli/study_crew.h"
#include "lib/cli/message.h"
#include "lib/cli/progress.h"
#include "lib/cli/study_run.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

typedef struct crew {
  cli_lab *lab;
  int64_t run_ns;       /* simulated time of one run */
  pthread_mutex_t lock; /* of what follows */
  size_t next, done;
  cli_progress progress;
} crew;

size_t cli_crew_processors(void)
{
  const long n = sysconf(_SC_NPROCESSORS_ONLN);
  return n > 0 ? (size_t)n : 1;
}

/* The next run nobody has begun, or n_runs. */
static size_t take(crew *c, int finished_one)
{
  pthread_mutex_lock(&c->lock);
  c->done += (size_t)finished_one;
  cli_progress_update(&c->progress, (int64_t)c->done * c->run_ns);
  while (c->next < c->lab->n_runs && c->lab->runs[c->next].begun) c->next++;
  const size_t mine = c->next;
  if (mine < c->lab->n_runs) c->lab->runs[mine].begun = 1;
  pthread_mutex_unlock(&c->lock);
  return mine;
}

static void *work(void *user)
{
  crew *c = user;
  for (size_t i = take(c, 0); i < c->lab->n_runs; i = take(c, 1)) cli_study_run(c->lab, i);
  return NULL;
}

static void print_time(FILE *file, double seconds)
{
  if (seconds < 90.0)
    fprintf(file, "%.0f s", ceil(seconds));
  else
    fprintf(file, "%.0f min", ceil(seconds / 60.0));
}

/* One run of every filter, with the last study and rate, tells how long the whole will take. */
static void make_sample(crew *c, size_t n_threads)
{
  cli_lab *lab = c->lab;
  cli_lab_place p = {.study = lab->n_studies - 1, .rate = lab->n_rates / 2};
  const double begin = cli_clock();
  for (p.filter = 0; p.filter < lab->n_filters; p.filter++) {
    const size_t i = cli_lab_index(lab, &p);
    cli_study_run(lab, i);
    lab->runs[i].begun = 1;
    c->done++;
  }
  const double each = (cli_clock() - begin) / (double)lab->n_filters;
  fprintf(stderr, "%zu runs of %.9g s on %zu thread%s: about ", lab->n_runs, lab->plan->duration, n_threads,
          n_threads == 1 ? "" : "s");
  print_time(stderr, each * (double)(lab->n_runs - lab->n_filters) / (double)n_threads);
  fputc('\n', stderr);
}

/* The calling thread is one of them; where no more can be had it works alone. */
static void work_together(crew *c, size_t n_threads)
{
  pthread_t *threads = calloc(n_threads, sizeof *threads);
  size_t n = 0;
  while (threads && n + 1 < n_threads && pthread_create(&threads[n], NULL, work, c) == 0) n++;
  work(c);
  while (n-- > 0) pthread_join(threads[n], NULL);
  free(threads);
}

size_t cli_crew_work(cli_lab *lab, size_t n_threads)
{
  crew c = {.lab = lab,
            .run_ns = (int64_t)(lab->rows - 1) * lab->machine.plant.step_ns,
            .lock = PTHREAD_MUTEX_INITIALIZER};
  make_sample(&c, n_threads);
  c.progress = cli_progress_begin((int64_t)lab->n_runs * c.run_ns);
  work_together(&c, n_threads);
  cli_progress_end(&c.progress);
  size_t failed = 0;
  for (size_t i = 0; i < lab->n_runs; i++) failed += lab->runs[i].status != BRAMAH_OK;
  return failed;
}
