/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How long the steps of a run took: quantiles and a histogram, in constant memory. */
#ifndef BRAMAH_LIB_CLI_DURATIONS_H
#define BRAMAH_LIB_CLI_DURATIONS_H

#include <stddef.h>
#include <stdint.h>

/* Classes from 100 ns to 100 s, 48 to a decade: a quantile is known to 5 %. */
enum { CLI_DURATION_CLASSES = 9 * 48 };

typedef struct cli_durations {
  uint64_t n;
  uint64_t in[CLI_DURATION_CLASSES];
  double longest, sum; /* [s] */
} cli_durations;

/* Zero-initialise. Add a duration [s]. */
void cli_durations_add(cli_durations *durations, double seconds);

/* Lower edge of class k, upper edge of the one before [s]. */
double cli_duration_edge(size_t k);
/* The duration [s] that a share q (0 to 1) of them does not exceed; NaN without any. */
double cli_durations_quantile(const cli_durations *durations, double q);

#endif
