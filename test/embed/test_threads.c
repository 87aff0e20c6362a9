/* SPDX-License-Identifier: MIT */
/* N filters on T threads, which share one model, give the bits of serial runs. Under the thread sanitizer
 * (test/run.sh
 * --tsan) it also shows that they share nothing else. */
#include "test/embed/rig.h"

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>

enum { FILTERS = 12, THREADS = 4, STEPS = 3000 };

static bramah_diag main_diag;
static const bramah_model *model;

typedef struct job {
  unsigned seed;
  bramah_filter_options options;
  uint64_t hash; /* of all snapshots on the way */
  int failed;
} job;

static uint64_t mix(uint64_t hash, const unsigned char *bytes, size_t n)
{
  for (size_t i = 0; i < n; i++) hash = (hash ^ bytes[i]) * UINT64_C(1099511628211);
  return hash;
}

/* What one of them measures, from truth of its own, made here too. Every thread has faults of its own. */
static int run(job *j, bramah_filter *filter, const bramah_plant *truth, const bramah_sensor *sensor)
{
  static const unsigned char all[RIG_SENSORS] = {1, 1, 1, 1};
  const size_t size = bramah_filter_snapshot_size(filter);
  unsigned char *snap = malloc(size);
  bramah_diag diag;
  unsigned seed = j->seed;
  int refused = 0;
  for (int64_t k = 0; k < STEPS; k++) {
    const double u = four_bar_command((k + 37 * j->seed) * RIG_STEP_NS * 3);
    double y[RIG_SENSORS];
    if (truth->set_inputs(truth->self, &u, &diag) != BRAMAH_OK) return -1;
    if (truth->step(truth->self, &diag) != BRAMAH_OK) return -1;
    for (int i = 0; i < RIG_SENSORS; i++)
      y[i] = bramah_sensor_predict(&sensor[i], truth) + sensor[i].sigma * test_normal(&seed);
    bramah_filter_cycle cycle = {(k + 1) * RIG_STEP_NS, 1, &u, RIG_SENSORS, y, all, NULL};
    if (k % 97 == j->seed) y[1] = NAN;
    bramah_status status = bramah_filter_step(filter, &cycle, NULL, &diag);
    refused += status != BRAMAH_OK;
    cycle.n_sensors = 0;
    if (status != BRAMAH_OK) status = bramah_filter_step(filter, &cycle, NULL, &diag);
    if (status != BRAMAH_OK) return -1;
    bramah_filter_save(filter, snap);
    if (k % 10 == 0) j->hash = mix(j->hash, snap, size);
  }
  free(snap);
  return refused;
}

static void *work(void *user)
{
  job *j = user;
  bramah_diag diag;
  bramah_coupled *plant[2] = {NULL, NULL};
  bramah_sensor sensor[RIG_SENSORS];
  bramah_filter *filter = NULL;
  bramah_status status = bramah_coupled_new(model, &diag, &plant[0]);
  if (status == BRAMAH_OK) status = bramah_coupled_new(model, &diag, &plant[1]);
  const bramah_plant truth = bramah_coupled_plant(plant[0]), own = bramah_coupled_plant(plant[1]);
  for (int i = 0; i < RIG_SENSORS && status == BRAMAH_OK; i++)
    status = bramah_sensor_init(&rig_sensors[i], &own, &diag, &sensor[i]);
  if (status == BRAMAH_OK) status = bramah_filter_new(&own, RIG_SENSORS, sensor, &j->options, &diag, &filter);
  j->hash = UINT64_C(14695981039346656037);
  j->failed = status != BRAMAH_OK || run(j, filter, &truth, sensor) < STEPS / 97;
  bramah_filter_free(filter);
  bramah_coupled_free(plant[1]);
  bramah_coupled_free(plant[0]);
  return NULL;
}

typedef struct crew {
  job *jobs;
  int first;
} crew;

static void *work_share(void *user)
{
  const crew *c = user;
  for (int i = c->first; i < FILTERS; i += THREADS) work(&c->jobs[i]);
  return NULL;
}

static void describe(job *jobs)
{
  static const bramah_transition transition[3] = {BRAMAH_TRANSITION_KINEMATIC,
                                                  BRAMAH_TRANSITION_KINEMATIC_EXACT, BRAMAH_TRANSITION_STEP};
  for (unsigned i = 0; i < FILTERS; i++) {
    jobs[i] = (job){.seed = i + 1, .options = rig_options()};
    jobs[i].options.transition = transition[i % 3];
    jobs[i].options.form = i % 2 ? BRAMAH_COVARIANCE_SQUARE_ROOT : BRAMAH_COVARIANCE_JOSEPH;
  }
}

int main(void)
{
  static job serial[FILTERS], parallel[FILTERS];
  four_bar fb;
  pthread_t thread[THREADS];
  crew crews[THREADS];
  int bad = 0;
  four_bar_describe(&fb, 1.0, RIG_STEP_NS);
  must(bramah_model_new(&fb.machine, &main_diag, &model), &main_diag);
  describe(serial);
  describe(parallel);
  for (int t = 0; t < THREADS; t++) {
    crews[t] = (crew){parallel, t};
    if (pthread_create(&thread[t], NULL, work_share, &crews[t])) return EXIT_FAILURE;
  }
  for (int t = 0; t < THREADS; t++) pthread_join(thread[t], NULL);
  for (int i = 0; i < FILTERS; i++) work(&serial[i]);
  for (int i = 0; i < FILTERS; i++) {
    const int same = serial[i].hash == parallel[i].hash && !serial[i].failed && !parallel[i].failed;
    if (!same) printf("filter %d: other bits on a thread\n", i);
    for (int k = 0; k < i; k++) bad += serial[i].hash == serial[k].hash; /* or the test would show nothing */
    bad += !same;
  }
  printf("%d filters of %d steps on %d threads: %s\n", FILTERS, STEPS, THREADS,
         bad ? "differ" : "bits of the serial runs");
  bramah_model_free(model);
  return bad ? EXIT_FAILURE : EXIT_SUCCESS;
}
