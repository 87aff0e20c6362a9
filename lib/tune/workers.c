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
  *workers = (bramah__tune_workers){.problem = problem, .n_threads = bramah__tune_threads(run)};
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

/* Those that the journal does not know, in units of some that are replayed together. */
typedef struct batch {
  bramah__tune_workers *workers;
  size_t n, n_units;
  const bramah__tune_job **jobs; /* [n] */
  bramah__replay_score **scores; /* [n] */
  double *numbers;               /* of one score */
} batch;

/* The first job of a unit. */
static size_t first_of(const batch *b, size_t unit) { return unit * b->n / b->n_units; }

static bramah_status begin(void *user, bramah_diag *diag)
{
  return bramah__tune_stopped(&((batch *)user)->workers->problem->run, diag);
}

static bramah_status replay(void *user, size_t unit, bramah__worker_pool *pool, bramah_diag *diag)
{
  batch *b = user;
  const size_t i = first_of(b, unit), n = first_of(b, unit + 1) - i;
  return bramah__tune_replay(b->workers->problem, n, b->jobs + i, pool, b->scores + i, diag);
}

static bramah_status remember(void *user, size_t unit, bramah_diag *diag)
{
  batch *b = user;
  bramah__tune_workers *w = b->workers;
  bramah_status status = BRAMAH_OK;
  for (size_t i = first_of(b, unit); !status && i < first_of(b, unit + 1); i++) {
    const bramah__tune_job *job = b->jobs[i];
    bramah__replay_score *score = b->scores[i];
    const size_t n = 1 + (job->slope ? w->problem->n : 0);
    char key[KEY_ROOM];
    w->replays += n;
    w->log_seconds +=
        (double)n * score->steps * 1e-9 * (double)bramah_session_plant(w->problem->session)->step_ns;
    write_key(w->problem, job, score->stopped > 0, key);
    bramah__replay_score_transfer(w->problem, job->slope, BRAMAH__SCORE_PACK, score, b->numbers);
    status = bramah__journal_add(w->journal, key, bramah__replay_score_length(w->problem, job->slope),
                                 b->numbers, diag);
  }
  return status;
}

/* ---- other processes: units go out as bytes, answers come back; an empty message dismisses ---- */

typedef struct parcel {
  size_t number, n;
  bramah__tune_job job[BRAMAH__TUNE_TOGETHER];
} parcel;

/* Followed by the numbers of each score. */
typedef struct answer {
  size_t number;
  bramah_status status;
  bramah_diag diag;
} answer;

static size_t answer_size(const bramah__tune_problem *problem, size_t n, int slope)
{
  return sizeof(answer) + n * bramah__replay_score_length(problem, slope) * sizeof(double);
}

/* Scores of jobs [n] of one kind into the numbers behind an answer, or back. */
static void transfer(const bramah__tune_problem *problem, size_t n, int slope,
                     bramah__score_direction direction, bramah__replay_score *const *scores, answer *a)
{
  const size_t length = bramah__replay_score_length(problem, slope);
  for (size_t i = 0; i < n; i++)
    bramah__replay_score_transfer(problem, slope, direction, scores[i], (double *)(a + 1) + i * length);
}

/* Waiting without keeping a processor busy. */
static void wait_a_little(void)
{
  const struct timespec pause = {.tv_nsec = 200000};
  nanosleep(&pause, NULL);
}

/* The other processes get a unit each, and another one when they have answered. */
static void lead(void *user, bramah__worker_pool *pool)
{
  batch *b = user;
  const bramah__tune_problem *problem = b->workers->problem;
  const bramah_transport *t = problem->run.transport;
  const size_t room = answer_size(problem, BRAMAH__TUNE_TOGETHER, 1);
  unsigned char *busy = calloc(t->size, 1);
  answer *a = malloc(room);
  for (size_t working = busy && a; working;) {
    working = 0;
    for (size_t rank = 1; rank < t->size; rank++) {
      parcel p;
      memset(&p, 0, sizeof p);
      if (!busy[rank] && bramah__worker_pool_take(pool, &p.number)) {
        const size_t first = first_of(b, p.number);
        p.n = first_of(b, p.number + 1) - first;
        for (size_t i = 0; i < p.n; i++) p.job[i] = *b->jobs[first + i];
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
    const size_t i = first_of(b, a->number);
    if (!a->status)
      transfer(problem, first_of(b, a->number + 1) - i, b->jobs[i]->slope, BRAMAH__SCORE_UNPACK,
               b->scores + i, a);
    bramah__worker_pool_finish(pool, a->number, a->status, &a->diag);
  }
  free(busy);
  free(a);
}

int bramah__tune_serves(const bramah_tune_run *run) { return run->transport && run->transport->rank > 0; }

bramah_status bramah__tune_serve(const bramah__tune_problem *problem, bramah_diag *diag)
{
  const bramah_transport *t = problem->run.transport;
  bramah__replay_score *block = bramah__replay_scores_new(problem, BRAMAH__TUNE_TOGETHER, 1);
  answer *a = calloc(1, answer_size(problem, BRAMAH__TUNE_TOGETHER, 1));
  for (;;) {
    const bramah__tune_job *jobs[BRAMAH__TUNE_TOGETHER];
    bramah__replay_score *scores[BRAMAH__TUNE_TOGETHER];
    parcel p;
    size_t n, from;
    if (!t->receive(t->self, &p, sizeof p, &n, &from)) {
      wait_a_little();
      continue;
    }
    if (n == 0) break;
    answer without = {.number = p.number};
    if (!block || !a) { /* the first process would wait for ever */
      without.status = bramah__fail_memory(&without.diag);
      t->send(t->self, 0, &without, sizeof without);
      continue;
    }
    *a = without;
    for (size_t i = 0; i < p.n; i++) {
      jobs[i] = &p.job[i];
      scores[i] = &block[i];
    }
    a->status = bramah__tune_replay(problem, p.n, jobs, NULL, scores, &a->diag);
    if (!a->status) transfer(problem, p.n, jobs[0]->slope, BRAMAH__SCORE_PACK, scores, a);
    t->send(t->self, 0, a, answer_size(problem, p.n, jobs[0]->slope));
  }
  bramah_diag_clear(diag);
  free(block);
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

/* Jobs of one log come together, as one replay in lockstep reads for all of them. */
static int by_log(const void *a, const void *b)
{
  const bramah__tune_job *p = *(const bramah__tune_job *const *)a, *q = *(const bramah__tune_job *const *)b;
  if (p->log != q->log) return p->log < q->log ? -1 : 1;
  return p < q ? -1 : p > q;
}

bramah_status bramah__tune_workers_do(bramah__tune_workers *workers, size_t n, const bramah__tune_job *jobs,
                                      bramah__replay_score *scores, bramah_diag *diag)
{
  const bramah__tune_problem *problem = workers->problem;
  const bramah_transport *t = problem->run.transport;
  const int several = t && t->size > 1;
  const size_t n_workers = workers->n_threads + (several ? t->size - 1 : 0);
  const size_t of_one = 1 + (n && jobs[0].slope ? problem->n : 0); /* filters */
  const size_t together = of_one < BRAMAH__TUNE_TOGETHER ? BRAMAH__TUNE_TOGETHER / of_one : 1;
  batch b = {.workers = workers};
  b.jobs = calloc(n + 1, sizeof *b.jobs);
  b.scores = calloc(n + 1, sizeof *b.scores);
  b.numbers = calloc(bramah__replay_score_length(problem, 1), sizeof *b.numbers);
  bramah_status status = b.jobs && b.scores && b.numbers ? BRAMAH_OK : bramah__fail_memory(diag);
  for (size_t i = 0; !status && i < n; i++) {
    if (recall(workers, &jobs[i], &scores[i])) continue;
    b.jobs[b.n++] = &jobs[i];
  }
  if (b.n) qsort(b.jobs, b.n, sizeof *b.jobs, by_log);
  for (size_t i = 0; i < b.n; i++) b.scores[i] = &scores[b.jobs[i] - jobs];

  /* Units no larger than go in lockstep, as many for each worker. */
  b.n_units = (b.n + together - 1) / together;
  b.n_units = (b.n_units + n_workers - 1) / n_workers * n_workers;
  if (b.n_units > b.n) b.n_units = b.n;
  const size_t groups = b.n * of_one / BRAMAH__TUNE_TOGETHER + 1; /* that can have a thread of their own */
  const size_t busy = b.n_units > groups ? b.n_units : groups;
  const bramah__worker_jobs work = {.n = b.n_units,
                                    .user = &b,
                                    .begin = begin,
                                    .job = replay,
                                    .done = remember,
                                    .lead = several ? lead : NULL};
  const size_t n_threads = (busy < workers->n_threads ? busy : workers->n_threads) + (size_t)several;
  if (!status && b.n) status = bramah__worker_pool_run(&work, n_threads, diag);
  free(b.jobs);
  free(b.scores);
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
