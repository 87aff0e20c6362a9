/* SPDX-License-Identifier: MIT */
/* A supervisory controller next to a simulated plant, twice at the same time: once the law is fed estimates,
 * once raw sensors. Each loop is two processes, plant and controller, with a socket between them, at 1 kHz.
 * The joint follows a reference while things go wrong: the encoder falls silent, then comes 20 ms late; the
 * controller is shot and another one takes its place, from a snapshot in shared memory.
 *
 * usage: supervise STUDY.yaml [--duration SECONDS] [--lockstep]
 *   --lockstep  the plant waits for the controller: no deadlines, as fast as it goes, the same outcome every
 * time
 *
 * Exit codes: 0 if no deadline was missed on the estimator's account and estimates track at least twice as
 * well as raw sensors; 1 if not; 2 wrong use or bad input; 3 if the clock was not kept, so that neither can be
 * said: the computer is too slow, or busy with something else. */
#define _GNU_SOURCE
#include "controller.h"

#include <bramah/session.h>
#include <math.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct side {
  const char *name;
  run_options o;
  shared *s;
  const gains *g;
  int line[2]; /* plant, controller */
  pid_t plant, controller;
  int shot;
  int64_t own; /* cycles over a tick on the account of the estimator */
} side;

static int complain(const bramah_diag *diag)
{
  char text[1024];
  bramah_diag_format(diag, text, sizeof text);
  fprintf(stderr, "supervise: %s\n", text);
  return 2;
}

/* ---- what is controlled ---- */

/* The feedback, and where the joint starts. */
static int find_gains(const bramah_study *study, gains *g)
{
  static bramah_diag diag;
  bramah_machine_plant m;
  if (bramah_machine_plant_open(&m, study->machine_file, study->n_changes, study->changes, 0, &diag) !=
      BRAMAH_OK)
    return complain(&diag);
  g->start = m.plant.output(m.plant.self, output_index(&m.plant, study->joints[0].joint, "angle"));
  const gains_of of = {.joint = study->joints[0].joint,
                       .a_side = m.machine->valves[0].a,
                       .pump = m.machine->supplies[0].pressure,
                       .least = g->start - 0.35,
                       .most = g->start + 0.1};
  const bramah_status status = gains_make(m.model, &of, &diag, g);
  if (status != BRAMAH_OK) return complain(&diag);
  printf("feedback at %.0f deg, V per unit:", 57.29578 * g->angle[POSES / 2]);
  for (size_t i = 0; i < g->n; i++) printf(" %s %.3g,", g->state[i], g->K[POSES / 2][i]);
  printf(" integral %.3g\n", g->K[POSES / 2][g->n]);
  bramah_machine_plant_close(&m);
  return 0;
}

/* ---- processes ---- */

/* Before others, where that is allowed. */
static int become_real_time(int priority)
{
  const struct sched_param first = {.sched_priority = priority};
  return sched_setscheduler(0, SCHED_FIFO, &first) == 0;
}

static pid_t launch(side *a, const bramah_study *study, int which, int again)
{
  fflush(stdout);
  const pid_t child = fork();
  if (child != 0) return child;
  /* Without page faults; gone when the supervisor goes. */
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  mlockall(MCL_CURRENT);
  if (!a->o.lockstep) a->s->real_time = become_real_time(10);
  _exit(which ? control_machine(study, a->g, &a->o, a->line[1], a->s, again)
              : simulate(study, &a->o, a->line[0], a->s));
}

/* Until both plants are through: shoot each controller once and start another one in its place. */
static void watch(side *sides, const bramah_study *study)
{
  const struct timespec a_while = {0, 500000};
  for (int running = 2; running > 0;) {
    nanosleep(&a_while, NULL);
    running = 0;
    for (int i = 0; i < 2; i++) {
      side *a = &sides[i];
      if (atomic_load(&a->s->stop)) continue;
      running++;
      if (!a->shot && atomic_load(&a->s->now) >= faults_of(&a->o).killed) {
        a->shot = 1;
        kill(a->controller, SIGKILL);
        waitpid(a->controller, NULL, 0);
        a->controller = launch(a, study, 1, 1);
      }
      if (waitpid(a->controller, NULL, WNOHANG) == a->controller) { /* ended by itself: it has failed */
        a->controller = 0;
        if (!a->s->trouble[0] && !atomic_load(&a->s->stop)) strcpy(a->s->trouble, "the controller died");
        atomic_store(&a->s->stop, 1);
      }
      if (waitpid(a->plant, NULL, WNOHANG) == a->plant) {
        a->plant = 0;
        atomic_store(&a->s->stop, 1);
      }
    }
  }
  for (int i = 0; i < 2; i++) {
    if (sides[i].plant) waitpid(sides[i].plant, NULL, 0);
    if (sides[i].controller) waitpid(sides[i].controller, NULL, 0);
  }
}

/* ---- what came of it ---- */

static double degrees(double square, int64_t n) { return 57.29578 * sqrt(square / (n ? (double)n : 1.0)); }

static int ascending(const void *a, const void *b)
{
  const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return (x > y) - (x < y);
}

/* CPU time still holds what the computer takes for itself, the more so a virtual one. A cycle that took more
 * than a tick is laid to the estimator's account unless as many Newton iterations as it made, or more, took
 * less than half a tick another time. */
static void print_deadlines(side *a)
{
  shared *s = a->s;
  const int64_t n = s->cycles;
  int64_t over = 0;
  uint32_t done = 0; /* iterations that fit into half a tick */
  for (int64_t k = 0; k < n; k++)
    if (s->work_ns[k] < STEP_NS / 2 && s->iterations[k] > done) done = s->iterations[k];
  for (int64_t k = 0; k < n; k++) {
    if (s->work_ns[k] <= STEP_NS) continue;
    over++;
    a->own += s->iterations[k] > done;
  }
  qsort(s->work_ns, (size_t)n, sizeof s->work_ns[0], ascending);
  printf("%-10s %8lld %9.1f %9.1f %9.1f %9.1f %10lld %8lld", a->name, (long long)n, 1e-3 * s->work_ns[n / 2],
         1e-3 * s->work_ns[n * 99 / 100], 1e-3 * s->work_ns[n * 999 / 1000],
         1e-3 * s->work_ns[n > 0 ? n - 1 : 0], (long long)over, (long long)a->own);
  if (a->o.lockstep)
    printf(" %12s %12s\n", "-", "-");
  else
    printf(" %12lld %12lld\n", (long long)s->late, (long long)s->late_plant);
}

static void print_outcome(side *sides)
{
  printf("\nDeadlines: CPU time of a cycle (estimate, law, snapshot) against 1 ms; commands that came too "
         "late, for\n"
         "whatever reason, the controller's absence included; ticks the plant itself was late for\n");
  printf("%-10s %8s %9s %9s %9s %9s %10s %8s %12s %12s\n", "", "cycles", "median us", "p99", "p99.9",
         "longest", "over 1 ms", "by work", "late command", "late plant");
  for (int i = 0; i < 2; i++) print_deadlines(&sides[i]);
  if (!sides[0].o.lockstep)
    printf("%s\n",
           sides[0].s->real_time ? "The processes ran under SCHED_FIFO." : "SCHED_FIFO was not allowed.");
  printf("\nTracking error of the joint (true angle against the reference, from 3 s on)\n");
  printf("%-10s %10s %16s %10s %22s\n", "", "RMS deg", "without faults", "worst", "angle fed to the law");
  for (int i = 0; i < 2; i++) {
    const shared *s = sides[i].s;
    printf("%-10s %10.4f %16.4f %10.4f %16.4f RMS\n", sides[i].name, degrees(s->square[0], s->counted[0]),
           degrees(s->square[1], s->counted[1]), 57.29578 * s->worst,
           degrees(s->estimate_square, s->counted[0]));
  }
  const shared *s = sides[0].s;
  printf("\nThe controller was shot at tick %lld and was ready again after %.1f ms; its estimate went on "
         "from the snapshot of\n"
         "tick %lld, %lld steps behind, and fed the law from tick %lld on. Late samples fused: %llu; "
         "refused: %lld.\n",
         (long long)faults_of(&sides[0].o).killed, 1e-6 * (double)s->restart_ns, (long long)s->restored_tick,
         (long long)s->caught_up, (long long)s->back_tick, (unsigned long long)s->late_samples,
         (long long)s->refused);
}

/* By the clock: one command in a hundred too late, or the plant itself late once in a hundred ticks, not
 * counting the ticks without a controller, and the outcome is that of the computer. */
static int kept_clock(const side *a)
{
  const int64_t few = a->o.ticks / 100, absent = a->s->restart_ns / STEP_NS + 1;
  return a->o.lockstep || (a->s->late <= few + absent && a->s->late_plant <= few);
}

static int judge(const side *sides)
{
  const shared *s = sides[0].s, *raw = sides[1].s;
  for (int i = 0; i < 2; i++)
    if (sides[i].s->trouble[0])
      return fprintf(stderr, "supervise: %s: %s\n", sides[i].name, sides[i].s->trouble), 1;
  const double ratio = degrees(raw->square[0], raw->counted[0]) / degrees(s->square[0], s->counted[0]);
  const int in_time = sides[0].o.lockstep || sides[0].own == 0;
  const int good = in_time && ratio >= 2.0 && s->restored_tick > 0 && s->back_tick > 0;
  printf("\nraw sensors track %.1f times as badly; deadlines missed on the account of the estimator: %lld\n",
         ratio, (long long)sides[0].own);
  if (good) return 0;
  if (in_time && kept_clock(&sides[0]) && kept_clock(&sides[1])) return 1;
  printf("the clock was not kept: this computer is too slow, or busy with something else\n");
  return 3;
}

/* Both loops at the same time. */
static int run(const bramah_study *study, double seconds, int lockstep)
{
  const run_options o = {
      .ticks = (int64_t)(seconds * 1000.0), .lockstep = lockstep, .estimates = 1, .seed = 1};
  static side sides[2];
  static gains g;
  sides[0] = (side){.name = "estimates", .o = o, .g = &g};
  sides[1] = (side){.name = "raw", .o = o, .g = &g};
  sides[1].o.estimates = 0;
  if (study->n_joints != 1 || study->n_sensors > MAX_SENSORS)
    return fprintf(stderr, "supervise: one joint, 8 sensors\n"), 2;
  if (find_gains(study, &g)) return 2;
  for (int i = 0; i < 2; i++) {
    shared *s = mmap(NULL, sizeof *s, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (s == MAP_FAILED || socketpair(AF_UNIX, SOCK_SEQPACKET, 0, sides[i].line))
      return perror("supervise"), 2;
    memset(s, 0, sizeof *s);
    for (int k = 0; k < 2; k++) atomic_store(&s->slot[k].tick, -1);
    s->start_ns = now_ns(CLOCK_MONOTONIC) + 200000000;
    sides[i].s = s;
    sides[i].plant = launch(&sides[i], study, 0, 0);
    sides[i].controller = launch(&sides[i], study, 1, 0);
  }
  printf("%.0f s at 1 kHz, %s\n", seconds, lockstep ? "without a clock" : "by the clock");
  if (!lockstep) become_real_time(11); /* it sleeps nearly always, and a restart shall be quick */
  watch(sides, study);
  print_outcome(sides);
  return judge(sides);
}

int main(int argc, char **argv)
{
  static bramah_diag diag;
  bramah_study *study;
  double seconds = 60.0;
  int lockstep = 0;
  const char *path = NULL;
  for (int i = 1; i < argc; i++) {
    if (strcmp(argv[i], "--lockstep") == 0)
      lockstep = 1;
    else if (strcmp(argv[i], "--duration") == 0 && i + 1 < argc)
      seconds = strtod(argv[++i], NULL);
    else
      path = argv[i];
  }
  if (!path || !(seconds >= 10.0))
    return fprintf(stderr, "usage: supervise STUDY.yaml [--duration SECONDS >= 10] [--lockstep]\n"), 2;
  if (bramah_study_load(path, 0, NULL, &diag, &study) != BRAMAH_OK) return complain(&diag);
  const int code = run(study, seconds, lockstep);
  bramah_study_free(study);
  return code;
}
