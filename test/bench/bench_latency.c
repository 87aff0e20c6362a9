/* SPDX-License-Identifier: MIT */
/* How long one cycle (bramah_filter_step) takes in wall time, cycle by cycle: median, p99, p99.9 and the
 * longest. Ten million cycles with BRAMAH_STEPS=10000000 (test/run.sh --long), else one. Under SCHED_FIFO
 * where that is allowed.
 *
 * The work cycle is repeated, so that each of its cycles is timed many times over with the same bits. The
 * least of those times is what its arithmetic takes; the rest is the computer: interrupts, other programs on
 * the core or its sibling, the host of a virtual machine. The bench fails where p99.9 of the former is beyond
 * 4 medians; the latter is printed, and is within them too on a core that is idle. What the computer alone does
 * to times is shown by a sum of fixed length that takes as long as a cycle: it has no branches and no
 * memory. */
#define _GNU_SOURCE
#include "test/bench/bench.h"
#include "test/embed/rig.h"

#include <sched.h>
#include <sys/mman.h>
#include <sys/resource.h>

enum { CYCLES = 10000 };

static bramah_diag diag;
static double measured[CYCLES][RIG_SENSORS], command[CYCLES];
static const unsigned char all[RIG_SENSORS] = {1, 1, 1, 1};

static void make_measurements(void)
{
  rig truth;
  unsigned seed = 1;
  rig_make(&truth, 1.0);
  for (int k = 0; k < CYCLES; k++) {
    command[k] = four_bar_command((int64_t)k * RIG_STEP_NS);
    must(truth.plant.set_inputs(truth.plant.self, &command[k], &diag), &diag);
    must(truth.plant.step(truth.plant.self, &diag), &diag);
    rig_measure(&truth, &seed, measured[k]);
  }
  rig_free(&truth);
}

static int64_t now_ns(clockid_t clock)
{
  struct timespec t;
  clock_gettime(clock, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* ns [steps] of each cycle, and the least [CYCLES] of all repetitions. At the end of the work cycle the
 * filter starts anew, outside of what is measured. */
static void run(rig *r, const void *start, size_t steps, uint32_t *ns, uint32_t *least)
{
  for (size_t k = 0; k < steps; k++) {
    if (k % CYCLES == 0) must(bramah_filter_restore(r->filter, start), &diag);
    const size_t row = k % CYCLES;
    const bramah_filter_cycle cycle = {
        (int64_t)(row + 1) * RIG_STEP_NS, 1, &command[row], RIG_SENSORS, measured[row], all, NULL};
    bramah_filter_step_report report;
    const int64_t before = now_ns(CLOCK_MONOTONIC);
    must(bramah_filter_step(r->filter, &cycle, &report, &diag), &diag);
    ns[k] = (uint32_t)(now_ns(CLOCK_MONOTONIC) - before);
    if (ns[k] < least[row]) least[row] = ns[k];
  }
}

static int ascending(const void *a, const void *b)
{
  const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return (x > y) - (x < y);
}

/* Microseconds by which this share of the cycles was ready. */
static double at(const uint32_t *sorted, size_t n, double share)
{
  const size_t k = (size_t)(share * (double)n);
  return 1e-3 * sorted[k < n ? k : n - 1];
}

/* Returns p99.9 over the median. */
static double print_times(const char *what, uint32_t *ns, size_t n)
{
  qsort(ns, n, sizeof *ns, ascending);
  const double median = at(ns, n, 0.5), p999 = at(ns, n, 0.999);
  printf("%-12s %10zu %9.2f %9.2f %9.2f %9.2f %9.2f %12.2f\n", what, n, median, at(ns, n, 0.99), p999,
         at(ns, n, 0.9999), 1e-3 * ns[n - 1], p999 / median);
  return p999 / median;
}

/* The most work a cycle can make: a step that is refused after all its iterations. */
static void print_refusal(void)
{
  enum { TRIES = 20000 };
  static uint32_t ns[TRIES];
  four_bar fb;
  bramah_coupled *coupled;
  const bramah_model *model;
  four_bar_describe(&fb, 1.0, RIG_STEP_NS);
  fb.machine.integrator.position_tolerance = 1e-300; /* never met */
  must(bramah_model_new(&fb.machine, &diag, &model), &diag);
  must(bramah_coupled_new(model, &diag, &coupled), &diag);
  const bramah_plant plant = bramah_coupled_plant(coupled);
  const double u = 10.0;
  must(plant.set_inputs(plant.self, &u, &diag), &diag);
  for (int k = 0; k < TRIES; k++) {
    const int64_t before = now_ns(CLOCK_THREAD_CPUTIME_ID);
    if (plant.step(plant.self, &diag) == BRAMAH_OK) exit(EXIT_FAILURE);
    ns[k] = (uint32_t)(now_ns(CLOCK_THREAD_CPUTIME_ID) - before);
  }
  const bramah_step_report report = bramah_coupled_report(coupled);
  qsort(ns, TRIES, sizeof ns[0], ascending);
  printf("\na plant step that is refused after its %u iterations and %u evaluations: median %.1f us\n",
         report.last_iterations, report.last_evaluations, 1e-3 * ns[TRIES / 2]);
  bramah_coupled_free(coupled);
  bramah_model_free(model);
}

static volatile double sink;

static void add_up(long terms)
{
  double x = 1.0;
  for (long i = 0; i < terms; i++) x = x * 0.999999 + 1e-9;
  sink = x;
}

/* A fixed sum that takes about `us` microseconds, timed n times. */
static void print_fixed_sum(double us, uint32_t *ns, size_t n)
{
  const long trial = 1000000;
  const int64_t start = now_ns(CLOCK_MONOTONIC);
  add_up(trial);
  const double each = 1e-3 * (double)(now_ns(CLOCK_MONOTONIC) - start) / (double)trial;
  for (size_t k = 0; k < n; k++) {
    const int64_t before = now_ns(CLOCK_MONOTONIC);
    add_up((long)(us / each));
    ns[k] = (uint32_t)(now_ns(CLOCK_MONOTONIC) - before);
  }
  print_times("a fixed sum", ns, n);
}

static long involuntary(void)
{
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_nivcsw;
}

int main(void)
{
  const char *asked = getenv("BRAMAH_STEPS");
  const size_t steps = asked ? strtoul(asked, NULL, 10) : 1000000;
  static uint32_t least[CYCLES];
  uint32_t *ns = calloc(steps ? steps : 1, sizeof *ns);
  rig r;
  if (!ns || steps < CYCLES) return EXIT_FAILURE;
  bench_print_machine();
  make_measurements();
  rig_make(&r, 1.1);
  void *start = malloc(bramah_filter_snapshot_size(r.filter));
  bramah_filter_save(r.filter, start);
  const struct sched_param first = {.sched_priority = 10};
  const int locked = mlockall(MCL_CURRENT | MCL_FUTURE) == 0,
            real_time = sched_setscheduler(0, SCHED_FIFO, &first) == 0;
  printf("scheduling %s%s\n\nfour-bar, 3 pressures, 4 sensors at 1 kHz, transition of the step\n\n",
         real_time ? "SCHED_FIFO" : "ordinary", locked ? ", memory locked" : "");
  printf("%-12s %10s %9s %9s %9s %9s %9s %12s\n", "us", "cycles", "median", "p99", "p99.9", "p99.99",
         "longest", "p99.9/median");
  memset(least, 255, sizeof least);
  run(&r, start, CYCLES, ns, least); /* warms up */
  long switched = involuntary();
  run(&r, start, steps, ns, least);
  switched = involuntary() - switched;
  print_times("every cycle", ns, steps);
  const double median = at(ns, steps, 0.5);
  const double ratio = print_times("arithmetic", least, CYCLES);
  print_fixed_sum(median, ns, steps / 10);
  printf("\nthe core was taken away %ld times\n", switched);
  print_refusal();
  free(start);
  free(ns);
  rig_free(&r);
  return ratio <= 4.0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
