/* SPDX-License-Identifier: MIT */
/* An ensemble of filters on a processor of graphics, one a thread: each with parameters of its own, all with the same
 * commands and measurements. Compile this file as CUDA or as OpenCL C (README.md); the host copies the filters, begun by
 * four_bar_begin, to the device and back. */
#include "device.h"

#include "four_bar.c"

/* n_steps steps of filter i < n_filters; commands [n_steps x FOUR_BAR_INPUTS] held over them, samples y [n_steps x
 * FOUR_BAR_SENSORS] at their ends. refused[i]: steps that were. */
KERNEL void four_bar_ensemble(GLOBAL four_bar_filter *filters, GLOBAL const four_bar_real *commands,
                              GLOBAL const four_bar_real *y, int n_filters, int n_steps, GLOBAL int *refused)
{
  const int i = (int)THREAD;
  unsigned char present[FOUR_BAR_SENSORS];
  if (i >= n_filters) return;
  four_bar_filter f = filters[i];
  int failed = 0;
  for (int k = 0; k < FOUR_BAR_SENSORS; k++) present[k] = 1;
  for (int step = 0; step < n_steps; step++) {
    const int status = four_bar_predict(&f, &commands[step * FOUR_BAR_INPUTS]);
    failed +=
        status < FOUR_BAR_OK || four_bar_correct(&f, &y[step * FOUR_BAR_SENSORS], present) < FOUR_BAR_OK;
  }
  filters[i] = f;
  refused[i] = failed;
}
