/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/cli/durations.h"

#include <math.h>

static const double shortest = 1e-7, to_a_decade = 48.0;

void cli_durations_add(cli_durations *durations, double seconds)
{
  double place = seconds > shortest ? floor(to_a_decade * log10(seconds / shortest)) : 0.0;
  if (!(place < CLI_DURATION_CLASSES)) place = CLI_DURATION_CLASSES - 1;
  durations->in[(size_t)place]++;
  durations->n++;
  durations->sum += seconds;
  durations->longest = fmax(durations->longest, seconds);
}

double cli_duration_edge(size_t k) { return shortest * pow(10.0, (double)k / to_a_decade); }

double cli_durations_quantile(const cli_durations *durations, double q)
{
  const double wanted = q * (double)durations->n;
  uint64_t sum = 0;
  for (size_t k = 0; k < CLI_DURATION_CLASSES; k++) {
    sum += durations->in[k];
    if (sum && (double)sum >= wanted) return fmin(cli_duration_edge(k + 1), durations->longest);
  }
  return NAN;
}
