/* SPDX-License-Identifier: MIT */
/* The controller: for every message of the plant an estimate, a command, and now and then a snapshot in
 * shared memory for the controller that comes after it. */
#define _GNU_SOURCE
#include "controller.h"

#include "law.h"

#include <bramah/replay.h>
#include <bramah/session.h>
#include <math.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

enum { SNAPSHOT_EVERY = 50, CATCH_UP = 50 /* steps per cycle */, LONGEST_DELAY_NS = 30000000 };

typedef struct controller {
  bramah_session *of;        /* as believed */
  const bramah_plant *plant; /* its parts */
  size_t n_sensors;
  bramah_filter *filter; /* the session's */
  bramah_rewind *rewind; /* NULL while it catches up */
  void *rewind_memory;
  size_t rewind_size;
  law law;
  double spool_time;
  size_t output[MAX_STATES]; /* of the plant, for each state of the law */
  long shown_by[MAX_STATES]; /* sensor that shows it; -1: none */
  double raw[MAX_STATES];
  int64_t seen;         /* last tick with a sample of the joint's angle */
  uint64_t late_before; /* late samples that the controller before it fused */
  const run_options *o;
  shared *s;
} controller;

/* ---- at the start, where allocating is allowed ---- */

static double supply_pressure(const bramah_machine *described, const char *name)
{
  for (size_t i = 0; i < described->n_supplies; i++)
    if (strcmp(described->supplies[i].name, name) == 0) return described->supplies[i].pressure;
  return 0.0;
}

static const bramah_rewind_options late = {
    .longest_delay_ns = LONGEST_DELAY_NS, .snapshot_every = 5, .samples_per_step = 2};

static bramah_status prepare(controller *c, const bramah_study *study, const gains *g, bramah_diag *diag)
{
  const bramah_status status = bramah_session_open(study->file, diag, &c->of);
  if (status != BRAMAH_OK) return status;
  c->filter = bramah_session_filter(c->of);
  c->plant = bramah_session_plant(c->of);
  c->rewind_size = (bramah_rewind_size(c->filter, &late) + 63) / 64 * 64;
  c->rewind_memory = aligned_alloc(64, c->rewind_size);
  if (!c->rewind_memory || bramah_filter_snapshot_size(c->filter) > MAX_SNAPSHOT) return BRAMAH_E_MEMORY;
  memset(c->rewind_memory, 0, c->rewind_size);

  /* Where each state of the law is found: among the plant's outputs, and shown by a sensor. */
  const bramah_sensor *sensors = bramah_session_about(c->of)->sensors;
  for (size_t i = 0; i < g->n; i++) {
    const long output = bramah_plant_find_output(c->plant, g->state[i]);
    c->output[i] = output < 0 ? 0 : (size_t)output;
    c->shown_by[i] = -1;
    for (size_t k = 0; k < c->n_sensors; k++)
      if (sensors[k].n_terms == 1 && sensors[k].output[0] == c->output[i]) c->shown_by[i] = (long)k;
    c->raw[i] = c->plant->output(c->plant->self, c->output[i]);
  }

  /* What the law has to know of the valve. */
  const bramah_machine *machine = bramah_session_about(c->of)->machine->machine;
  const bramah_valve *valve = &machine->valves[0];
  char side[128] = "";
  strncat(side, valve->a, 100);
  strcat(side, ".pressure");
  c->law = (law){.gains = g,
                 .pump = supply_pressure(machine, valve->pump),
                 .tank = supply_pressure(machine, valve->tank),
                 .limit = valve->limit};
  for (size_t i = 0; i < g->n; i++)
    if (strcmp(g->state[i], side) == 0) c->law.a_side = i;
  c->spool_time = valve->time_constant;
  return BRAMAH_OK;
}

/* ---- the estimate ---- */

/* From the snapshot to the tick before the message, along the commands the valve has followed; not all at
 * once, so that no cycle takes long. Then the buffer for late samples begins. */
static bramah_status catch_up(controller *c, int64_t tick, bramah_diag *diag)
{
  for (int k = 0; k < CATCH_UP && bramah_filter_time_ns(c->filter) < (tick - 1) * STEP_NS; k++) {
    const int64_t next = bramah_filter_time_ns(c->filter) / STEP_NS + 1;
    const bramah_filter_cycle cycle = {
        .time_ns = next * STEP_NS, .n_input = 1, .u = &c->s->history[next % HISTORY]};
    const bramah_status status = bramah_filter_step(c->filter, &cycle, NULL, diag);
    if (status != BRAMAH_OK) return status;
    c->s->caught_up++;
  }
  if (bramah_filter_time_ns(c->filter) < (tick - 1) * STEP_NS) return BRAMAH_OK;
  return bramah_rewind_init(c->filter, &late, c->rewind_memory, c->rewind_size, diag, &c->rewind);
}

static bramah_status estimate(controller *c, const measurement *m, bramah_diag *diag)
{
  bramah_status status = BRAMAH_OK;
  if (m->tick == 0) return BRAMAH_OK;
  if (!c->rewind) status = catch_up(c, m->tick, diag);
  if (status != BRAMAH_OK || !c->rewind) return status;

  /* Steps for messages that never came. */
  for (int k = 0; k < CATCH_UP && status == BRAMAH_OK; k++) {
    const int64_t next = bramah_filter_time_ns(c->filter) / STEP_NS + 1;
    if (next >= m->tick) break;
    status = bramah_rewind_set_inputs(c->rewind, &c->s->history[next % HISTORY], diag);
    if (status == BRAMAH_OK) status = bramah_rewind_advance(c->rewind, diag);
  }
  if (status != BRAMAH_OK) return status;

  /* One step of the estimate to the tick of the message. A sample that is refused (too old, not a number) is
   * left out and counted; the estimate goes on without it. */
  status = bramah_rewind_set_inputs(c->rewind, &m->u, diag);
  for (size_t i = 0; i < c->n_sensors; i++)
    if (m->present[i] && bramah_rewind_sample(c->rewind, i, m->time_ns[i], m->y[i], diag) != BRAMAH_OK)
      c->s->refused++;
  if (status == BRAMAH_OK) status = bramah_rewind_advance(c->rewind, diag);
  c->s->late_samples = c->late_before + bramah_rewind_get_report(c->rewind).late;
  c->s->gated = bramah_filter_get_report(c->filter).gated;
  return status;
}

/* Without an estimator: what the sensors show, the last value of one that is silent, and a spool that is
 * reckoned with. Returns 0 if the angle has not been seen for 50 ms. */
static int read_sensors(controller *c, const measurement *m, double *x)
{
  for (size_t i = 0; i < c->law.gains->n; i++) {
    const long k = c->shown_by[i];
    if (k >= 0 && m->present[k]) c->raw[i] = m->y[k];
    if (k < 0) c->raw[i] += (m->u - c->raw[i]) * (1.0 - exp(-1e-9 * STEP_NS / c->spool_time));
    x[i] = c->raw[i];
  }
  if (c->shown_by[0] < 0 || m->present[c->shown_by[0]]) c->seen = m->tick;
  return m->tick - c->seen < 50;
}

/* ---- a cycle ---- */

static bramah_status cycle(controller *c, const measurement *m, command *out, bramah_diag *diag)
{
  double x[MAX_STATES];
  const double t = (double)m->tick * 1e-9 * STEP_NS;
  bramah_status status = BRAMAH_OK;
  if (c->o->estimates) status = estimate(c, m, diag);
  if (status != BRAMAH_OK) return status;
  out->tick = m->tick;
  out->u = 0.0; /* without an angle the valve is closed */
  if (c->o->estimates && !c->rewind && m->tick > 0) return BRAMAH_OK;
  if (c->o->estimates) {
    for (size_t i = 0; i < c->law.gains->n; i++) x[i] = c->plant->output(c->plant->self, c->output[i]);
  } else if (!read_sensors(c, m, x)) {
    return BRAMAH_OK;
  }
  atomic_store(&c->s->angle, x[0]);
  out->u = law_command(&c->law, t, c->law.gains->start, x);
  if (!c->s->back_tick && c->s->restarts) c->s->back_tick = m->tick;
  return BRAMAH_OK;
}

static bramah_status loop(controller *c, int socket, int again, bramah_diag *diag)
{
  measurement m;
  command answer = {.tick = -1};
  for (int drain = again;; drain = 0) {
    /* The next message, until the run is over. What piled up while there was no controller is too old to answer. */
    struct pollfd line = {.fd = socket, .events = POLLIN};
    while (poll(&line, 1, 20) == 0)
      if (atomic_load(&c->s->stop)) return BRAMAH_OK;
    if (recv(socket, &m, sizeof m, 0) != sizeof m) return BRAMAH_OK;
    while (drain && recv(socket, &m, sizeof m, MSG_DONTWAIT) == sizeof m) continue;

    const int64_t before = now_ns(CLOCK_THREAD_CPUTIME_ID);
    const uint64_t iterations =
        bramah_coupled_report(bramah_session_about(c->of)->machine->coupled).iterations;
    bramah_status status = BRAMAH_OK;
    if (m.tick > answer.tick)
      status = cycle(c, &m, &answer, diag); /* else the plant asks again: the same answer */
    if (status != BRAMAH_OK) return status;
    send(socket, &answer, sizeof answer, MSG_DONTWAIT);
    if (m.tick % SNAPSHOT_EVERY == 0 && c->rewind) { /* for the controller that comes after this one */
      snapshot_slot *slot = &c->s->slot[m.tick / SNAPSHOT_EVERY % 2];
      atomic_store(&slot->tick, -1);
      bramah_filter_save(c->filter, slot->bytes);
      atomic_store(&slot->tick, m.tick);
    }
    if (c->s->cycles >= MAX_CYCLES) continue;
    c->s->work_ns[c->s->cycles] = (uint32_t)(now_ns(CLOCK_THREAD_CPUTIME_ID) - before);
    c->s->iterations[c->s->cycles++] =
        (uint32_t)(bramah_coupled_report(bramah_session_about(c->of)->machine->coupled).iterations -
                   iterations);
  }
}

int control_machine(const bramah_study *study, const gains *g, const run_options *o, int socket, shared *s,
                    int again)
{
  static controller c;
  bramah_diag diag;
  bramah_diag_clear(&diag);
  c = (controller){.n_sensors = study->n_sensors, .o = o, .s = s, .late_before = s->late_samples};
  const int64_t before = now_ns(CLOCK_MONOTONIC);
  bramah_status status = prepare(&c, study, g, &diag);

  /* The latest snapshot that is whole. The one the former controller was at when it was shot may be half
   * written: its checksum shows. */
  const int newer = atomic_load(&s->slot[1].tick) > atomic_load(&s->slot[0].tick);
  for (int k = 0; k < 2 && status == BRAMAH_OK && again && o->estimates; k++) {
    if (bramah_filter_restore(c.filter, s->slot[k ? !newer : newer].bytes) != BRAMAH_OK) continue;
    s->restored_tick = bramah_filter_time_ns(c.filter) / STEP_NS;
    break;
  }
  if (again) s->restarts++, s->restart_ns = now_ns(CLOCK_MONOTONIC) - before;
  if (status == BRAMAH_OK) status = loop(&c, socket, again, &diag);
  if (status != BRAMAH_OK) bramah_diag_format(&diag, s->trouble, sizeof s->trouble);
  if (status != BRAMAH_OK) atomic_store(&s->stop, 1);
  bramah_rewind_free(c.rewind);
  free(c.rewind_memory);
  bramah_session_close(c.of);
  return status != BRAMAH_OK;
}
