/* SPDX-License-Identifier: MIT */
/* The plant simulator: the machine as it is, sensors with noise and faults, one message a tick. */
#define _GNU_SOURCE
#include "simulator.h"

#include "law.h"

#include <bramah/log.h>
#include <bramah/session.h>
#include <errno.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

enum { DELAY = 20, ENCODER = 0 };

faults faults_of(const run_options *o)
{
  const int64_t n = o->ticks;
  return (faults){{n / 5, n / 4}, {n * 2 / 5, n / 2}, n * 7 / 10};
}

typedef struct simulator {
  bramah_machine_plant m; /* as it is: without the changes of the study */
  bramah_sensor sensor[MAX_SENSORS];
  size_t n_sensors, angle;
  bramah_noise *noise[MAX_SENSORS];
  double start; /* angle there [rad] */
  double encoder[DELAY + 1];
  double u;
  measurement asked;
  int socket;
  shared *s;
  const run_options *o;
  faults f;
} simulator;

static int between(int64_t tick, const int64_t *range) { return tick >= range[0] && tick < range[1]; }

static measurement measure(simulator *m, int64_t tick)
{
  measurement out = {.tick = tick, .u = m->u};
  for (size_t i = 0; i < m->n_sensors; i++) {
    const double y = bramah_sensor_predict(&m->sensor[i], &m->m.plant);
    out.y[i] = y + bramah_noise_gaussian(m->noise[i], m->sensor[i].sigma);
    out.time_ns[i] = tick * STEP_NS;
    out.present[i] = 1;
  }
  m->encoder[tick % (DELAY + 1)] = out.y[ENCODER];
  if (between(tick, m->f.lost)) out.present[ENCODER] = 0;
  if (between(tick, m->f.delayed) && tick >= DELAY) {
    out.y[ENCODER] = m->encoder[(tick - DELAY) % (DELAY + 1)];
    out.time_ns[ENCODER] -= DELAY * STEP_NS;
  }
  return out;
}

/* The tracking error, of the machine as it is. */
static void judge(simulator *m, int64_t tick)
{
  double wanted, rate;
  law_reference((double)tick * 1e-9 * STEP_NS, m->start, &wanted, &rate);
  const double truth = m->m.plant.output(m->m.plant.self, m->angle), error = truth - wanted;
  const double believed = atomic_load(&m->s->angle) - truth;
  if (tick < 3000) return; /* the filter begins 3 deg off the truth */
  const int clear = !between(tick, m->f.lost) && !between(tick, m->f.delayed) &&
                    (tick < m->f.killed || tick >= m->f.killed + 1000);
  for (int k = 0; k < 1 + clear; k++) m->s->square[k] += error * error, m->s->counted[k]++;
  m->s->worst = fmax(m->s->worst, fabs(error));
  m->s->estimate_square += believed * believed;
}

/* Take the commands that have come; 1 if the one that answers `tick` is among them. */
static int obey(simulator *m, int64_t tick)
{
  command c;
  int found = 0;
  while (recv(m->socket, &c, sizeof c, MSG_DONTWAIT) == sizeof c) {
    m->u = c.u;
    found |= c.tick >= tick;
  }
  return found;
}

static bramah_status tick(simulator *m, int64_t k, bramah_diag *diag)
{
  if (m->o->lockstep) {
    /* Wait for the answer, and ask again where the controller was shot before it gave one. */
    struct pollfd line = {.fd = m->socket, .events = POLLIN};
    while (k > 0 && !obey(m, m->asked.tick) && !atomic_load(&m->s->stop))
      if (poll(&line, 1, 50) == 0) send(m->socket, &m->asked, sizeof m->asked, MSG_DONTWAIT);
  } else {
    const int64_t due = m->s->start_ns + k * STEP_NS;
    const struct timespec t = {due / 1000000000, due % 1000000000};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR) continue;
    if (k > 0 && !obey(m, k - 1)) m->s->late++;
    m->s->late_plant += now_ns(CLOCK_MONOTONIC) > due + STEP_NS / 2;
  }
  m->asked = measure(m, k);
  judge(m, k);
  send(m->socket, &m->asked, sizeof m->asked, MSG_DONTWAIT);
  m->s->history[(k + 1) % HISTORY] = m->u;
  bramah_status status = m->m.plant.set_inputs(m->m.plant.self, &m->u, diag);
  if (status == BRAMAH_OK) status = m->m.plant.step(m->m.plant.self, diag);
  atomic_store(&m->s->now, k + 1);
  return status;
}

static bramah_status start(simulator *m, const bramah_study *study, bramah_diag *diag)
{
  bramah_status status = bramah_machine_plant_open(&m->m, study->machine_file, 0, NULL, 0, diag);
  for (size_t i = 0; i < study->n_sensors && status == BRAMAH_OK; i++)
    status = bramah_sensor_init(&study->sensors[i], &m->m.plant, diag, &m->sensor[i]);
  for (size_t i = 0; i < m->n_sensors && status == BRAMAH_OK; i++)
    status = bramah_noise_new(m->o->seed, m->sensor[i].name, diag, &m->noise[i]);
  if (status != BRAMAH_OK) return status;
  m->angle = output_index(&m->m.plant, study->joints[0].joint, "angle");
  m->start = m->m.plant.output(m->m.plant.self, m->angle);
  return BRAMAH_OK;
}

int simulate(const bramah_study *study, const run_options *o, int socket, shared *s)
{
  static simulator m;
  bramah_diag diag;
  m = (simulator){.n_sensors = study->n_sensors, .socket = socket, .s = s, .o = o, .f = faults_of(o)};
  bramah_status status = start(&m, study, &diag);
  for (int64_t k = 0; k < o->ticks && status == BRAMAH_OK && !atomic_load(&s->stop); k++)
    status = tick(&m, k, &diag);
  if (status != BRAMAH_OK) bramah_diag_format(&diag, s->trouble, sizeof s->trouble);
  atomic_store(&s->stop, 1);
  for (size_t i = 0; i < m.n_sensors; i++) bramah_noise_free(m.noise[i]);
  bramah_machine_plant_close(&m.m);
  return status != BRAMAH_OK;
}
