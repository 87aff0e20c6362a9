/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tuning and sweeps from C: alone, and by several processes, which are threads here that exchange bytes in
 * memory. */
#define _XOPEN_SOURCE 700 /* barriers */
#include "bramah/session.h"
#include "bramah/tune.h"
#include "test/support/run.h"
#include "test/support/text_file.h"

#include <math.h>
#include <pthread.h>

enum { RANKS = 3, ROWS = 801 };

static char study[512];

/* The first rows of a log of the data sets, in the file `path`. */
static void make_log(void)
{
  const char *root = getenv("BRAMAH_SOURCE_ROOT");
  char name[512], line[512];
  snprintf(study, sizeof study, "%s/datasets/four-bar/tuning.yaml", root ? root : ".");
  snprintf(name, sizeof name, "%s/datasets/four-bar/log.csv", root ? root : ".");
  make_path();
  FILE *from = fopen(name, "r"), *to = fopen(path, "w");
  ck_assert(from && to);
  for (int i = 0; i < ROWS && fgets(line, sizeof line, from); i++) fputs(line, to);
  fclose(from);
  fclose(to);
}

/* ---- processes ---- */

typedef struct message {
  struct message *next;
  size_t to, from, n;
  unsigned char bytes[];
} message;

static struct {
  pthread_mutex_t lock;
  pthread_barrier_t all;
  message *first;
  unsigned char broadcast[4096];
} net = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void broadcast(void *self, void *bytes, size_t n)
{
  const bramah_transport *t = self;
  ck_assert_uint_le(n, sizeof net.broadcast);
  if (t->rank == 0) memcpy(net.broadcast, bytes, n);
  pthread_barrier_wait(&net.all);
  memcpy(bytes, net.broadcast, n);
  pthread_barrier_wait(&net.all);
}

static void send(void *self, size_t to, const void *bytes, size_t n)
{
  const bramah_transport *t = self;
  message *m = malloc(sizeof *m + n);
  ck_assert_ptr_nonnull(m);
  *m = (message){.to = to, .from = t->rank, .n = n};
  if (n) memcpy(m->bytes, bytes, n);
  pthread_mutex_lock(&net.lock);
  message **end = &net.first;
  while (*end) end = &(*end)->next;
  *end = m;
  pthread_mutex_unlock(&net.lock);
}

static int receive(void *self, void *bytes, size_t room, size_t *n, size_t *from)
{
  const bramah_transport *t = self;
  pthread_mutex_lock(&net.lock);
  message **at = &net.first, *m;
  while (*at && (*at)->to != t->rank) at = &(*at)->next;
  m = *at;
  if (m) *at = m->next;
  pthread_mutex_unlock(&net.lock);
  if (!m) return 0;
  ck_assert_uint_le(m->n, room);
  if (m->n) memcpy(bytes, m->bytes, m->n);
  *n = m->n;
  *from = m->from;
  free(m);
  return 1;
}

/* What a process is asked, and what comes of it. */
typedef struct process {
  const char *log;
  bramah_tune_options options;
  bramah_transport transport;
  bramah_status status;
  bramah_diag diag;
  bramah_tuning *tuning;
} process;

static void *run_process(void *user)
{
  process *p = user;
  p->status = bramah_tune(study, 1, &p->log, &p->options, &p->diag, &p->tuning);
  return NULL;
}

static void make_processes(process *p)
{
  for (size_t i = 0; i < RANKS; i++) {
    p[i] = (process){.log = path};
    p[i].transport = (bramah_transport){.self = &p[i].transport,
                                        .rank = i,
                                        .size = RANKS,
                                        .broadcast = broadcast,
                                        .send = send,
                                        .receive = receive};
    bramah_tune_options_default(&p[i].options);
    p[i].options.run.transport = &p[i].transport;
  }
}

static void run_all(process *p)
{
  pthread_t threads[RANKS];
  pthread_barrier_init(&net.all, NULL, RANKS);
  for (size_t i = 1; i < RANKS; i++)
    ck_assert_int_eq(pthread_create(&threads[i], NULL, run_process, &p[i]), 0);
  run_process(&p[0]);
  for (size_t i = 1; i < RANKS; i++) pthread_join(threads[i], NULL);
  pthread_barrier_destroy(&net.all);
  ck_assert_ptr_null(net.first); /* nobody is left with a message */
}

TEST(processes_give_the_same_bits)
{
  process alone, several[RANKS];
  make_log();
  make_processes(several);
  alone = several[0];
  alone.options.run.transport = NULL;
  alone.options.run.n_threads = 2;
  run_process(&alone);
  run_all(several);
  ck_assert_int_eq(alone.status, BRAMAH_OK);
  ck_assert_int_eq(several[0].status, BRAMAH_OK);
  const bramah_tune_result *a = bramah_tuning_result(alone.tuning),
                           *b = bramah_tuning_result(several[0].tuning);
  ck_assert_uint_eq(a->n, 5);
  ck_assert_uint_eq(a->replays, b->replays);
  ck_assert_uint_eq(a->n_tried, b->n_tried);
  ck_assert_double_eq(a->cost, b->cost);
  for (size_t i = 0; i < a->n; i++) {
    ck_assert_double_eq(a->values[i].found, b->values[i].found);
    ck_assert_double_eq(a->values[i].high, b->values[i].high);
    ck_assert_double_ne(a->values[i].found, a->values[i].before);
  }
  for (size_t i = 1; i < RANKS; i++) {
    ck_assert_int_eq(several[i].status, BRAMAH_OK);
    ck_assert_ptr_null(several[i].tuning);
  }
  bramah_tuning_free(alone.tuning);
  bramah_tuning_free(several[0].tuning);
  remove_path();
}

/* Where the first process fails it says so for all; after the others began to wait for it they are
 * dismissed. */
TEST(the_first_process_fails)
{
  static const struct {
    const char *log, *journal;
  } cases[] = {{"nowhere.csv", NULL}, {path, "/dev/null"}};
  make_log();
  for (size_t k = 0; k < 2; k++) {
    process p[RANKS];
    make_processes(p);
    for (size_t i = 0; i < RANKS; i++) p[i].log = cases[k].log;
    p[0].options.run.journal = cases[k].journal;
    run_all(p);
    ck_assert_int_eq(p[0].status, BRAMAH_E_FILE);
    ck_assert_str_eq(p[0].diag.file, k ? "/dev/null" : "nowhere.csv");
    for (size_t i = 1; i < RANKS; i++) {
      ck_assert_int_eq(p[i].status, k ? BRAMAH_OK : BRAMAH_E_FILE);
      ck_assert_str_eq(p[i].diag.message, "");
      ck_assert_ptr_null(p[i].tuning);
    }
  }
  remove_path();
}

TEST(processes_read_different_logs)
{
  process p[RANKS];
  make_log();
  make_processes(p);
  char other[SCRATCH_NAME], first[SCRATCH_NAME];
  strcpy(first, path);
  ck_assert(scratch_file(other));
  strcpy(path, other);
  write_bytes("t[s],valve.command[V]\n", 22);
  strcpy(path, first);
  p[2].log = other;
  run_all(p);
  ck_assert_int_eq(p[0].status, BRAMAH_E_FILE);
  ck_assert_ptr_nonnull(strstr(p[0].diag.message, "do not all read the same study"));
  ck_assert_int_eq(p[1].status, BRAMAH_E_FILE);
  ck_assert_int_ne(p[2].status, BRAMAH_OK);
  ck_assert_str_eq(p[2].diag.file, other); /* its own mistake */
  remove(other);
  remove_path();
}

/* ---- sweeps ---- */

TEST(sweep_of_a_grid)
{
  static const char *const vary[] = {"volumes.v1.noise = 0.1 .. 10: 3 log", "filter.transition=paper, step"};
  static const char *const expected[6][2] = {{"0.1 bar/s^0.5", "paper"}, {"0.1 bar/s^0.5", "step"},
                                             {"1 bar/s^0.5", "paper"},   {"1 bar/s^0.5", "step"},
                                             {"10 bar/s^0.5", "paper"},  {"10 bar/s^0.5", "step"}};
  make_log();
  const char *const logs[2] = {path, path};
  bramah_sweep_options options;
  bramah_sweep *sweep;
  bramah_diag diag;
  bramah_sweep_options_default(&options);
  ck_assert_int_eq(bramah_sweep_open(study, 2, logs, &options, &diag, &sweep), BRAMAH_E_VALUE);
  ck_assert_str_eq(diag.message, "nothing varies");
  options.vary = vary;
  options.n_vary = 2;
  ck_assert_int_eq(bramah_sweep_open(study, 2, logs, &options, &diag, &sweep), BRAMAH_OK);
  const bramah_sweep_summary *s = bramah_sweep_get_summary(sweep);
  ck_assert_uint_eq(s->n, 2);
  ck_assert_uint_eq(s->n_points, 6);
  ck_assert_str_eq(s->names[0], "volumes.v1.noise");
  ck_assert(isinf(s->least));

  bramah_sweep_point point;
  double least = INFINITY;
  size_t at = 0, best = 0;
  for (int end = 0; !bramah_sweep_next(sweep, &point, &end, &diag) && !end; at++) {
    ck_assert_str_eq(point.values[0], expected[at][0]);
    ck_assert_str_eq(point.values[1], expected[at][1]);
    ck_assert_double_eq(point.all.cost, point.logs[0].cost + point.logs[1].cost);
    ck_assert_double_eq(point.logs[0].nis, point.all.nis);
    if (point.all.cost < least) {
      least = point.all.cost;
      best = at;
    }
  }
  ck_assert_uint_eq(at, 6);
  ck_assert_double_eq(s->least, least);
  ck_assert_uint_eq(s->best, best);
  ck_assert_str_eq(s->best_values[1], expected[best][1]);
  ck_assert_uint_eq(s->n_failed, 0);
  bramah_sweep_close(sweep);
  bramah_sweep_close(NULL);
  remove_path();
}

static bramah_status refuse(void *user, const bramah_study *opened, bramah_diag *diag)
{
  *(const char **)user = opened->machine_file;
  diag->status = BRAMAH_E_ARGUMENT;
  return BRAMAH_E_ARGUMENT;
}

/* Who asked for it may end a run once the study is known, before a log is read. */
TEST(refused_once_the_study_is_known)
{
  static const char *const vary[] = {"volumes.v1.noise=1"}, *const logs[] = {"nowhere.csv"};
  const char *machine = NULL;
  bramah_sweep_options options;
  bramah_sweep *sweep;
  bramah_diag diag;
  make_log();
  bramah_sweep_options_default(&options);
  options.vary = vary;
  options.n_vary = 1;
  options.run.opened = refuse;
  options.run.user = &machine;
  ck_assert_int_eq(bramah_sweep_open(study, 1, logs, &options, &diag, &sweep), BRAMAH_E_ARGUMENT);
  ck_assert_ptr_null(sweep);
  ck_assert_ptr_nonnull(machine);
  remove_path();
}

/* A tuning keeps no string of its caller's: here the study's name has become that of what is written. */
TEST(written_when_the_name_is_gone)
{
  bramah_session *written = NULL;
  process p = {.log = path};
  make_log();
  bramah_tune_options_default(&p.options);
  p.options.budget = 1;
  run_process(&p);
  ck_assert_int_eq(p.status, BRAMAH_OK);
  ck_assert_uint_lt(strlen(beside_path("tuned.yaml")), sizeof study);
  strcpy(study, beside_path("tuned.yaml"));
  ck_assert_int_eq(bramah_tuning_write(p.tuning, beside_path("tuned.yaml"), NULL, &p.diag), BRAMAH_OK);
  ck_assert_msg(!bramah_session_open(study, &p.diag, &written), "%s", p.diag.message); /* finds its machine */
  bramah_session_close(written);
  bramah_tuning_free(p.tuning);
  remove(study);
  remove_path();
}

int main(void) { return run_tests("tune"); }
