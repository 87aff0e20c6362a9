/* SPDX-License-Identifier: MIT */
/* What the benches share: the clock, the median, and what they ran on. Define _GNU_SOURCE before any include.
 */
#ifndef BRAMAH_TEST_BENCH_BENCH_H
#define BRAMAH_TEST_BENCH_BENCH_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* CPU time of the process [s]. */
static inline double bench_now(void)
{
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static inline void bench_print_machine(void)
{
  char line[256];
  FILE *file = fopen("/proc/cpuinfo", "r");
  printf("compiler   %s\n", __VERSION__);
  while (file && fgets(line, sizeof line, file))
    if (strncmp(line, "model name", 10) == 0) {
      printf("cpu       %s", strchr(line, ':') + 1);
      break;
    }
  if (file) fclose(file);
}

static inline int bench_ascending(const void *a, const void *b)
{
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Sorts t [n]. */
static inline double bench_median(double *t, size_t n)
{
  qsort(t, n, sizeof t[0], bench_ascending);
  return t[n / 2];
}

#endif
