/* SPDX-License-Identifier: MIT */
#include "estimators/held_inputs.h"

#include <string.h>

void bramah__held_inputs_layout(size_t n, int64_t step_ns, bramah__arena *arena, bramah__held_inputs *h)
{
  h->n = n;
  h->step_ns = step_ns;
  h->latest = BRAMAH__TAKE(arena, double, n);
  h->integral = BRAMAH__TAKE(arena, double, n);
  h->since = BRAMAH__TAKE(arena, int64_t, n);
}

void bramah__held_inputs_take(bramah__held_inputs *h, size_t i, int64_t after_ns, double u)
{
  if (u == h->latest[i]) return;
  if (after_ns > 0) {
    h->integral[i] += h->latest[i] * (double)(after_ns - h->since[i]);
    h->since[i] = after_ns;
    h->mixed = 1;
  }
  h->latest[i] = u;
}

void bramah__held_inputs_mean(const bramah__held_inputs *h, double *u)
{
  memcpy(u, h->latest, h->n * sizeof *u);
  if (!h->mixed) return;
  for (size_t i = 0; i < h->n; i++) {
    if (!h->since[i]) continue;
    const double rest = (double)(h->step_ns - h->since[i]);
    u[i] = (h->integral[i] + h->latest[i] * rest) / (double)h->step_ns;
  }
}

int bramah__held_inputs_step(bramah__held_inputs *h)
{
  const int mixed = h->mixed;
  if (!mixed) return 0;
  memset(h->integral, 0, h->n * sizeof *h->integral);
  memset(h->since, 0, h->n * sizeof *h->since);
  h->mixed = 0;
  return mixed;
}
