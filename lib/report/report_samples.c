/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/report/report_parts.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

static float narrow(double value) { return (float)fmax(fmin(value, (double)FLT_MAX), -(double)FLT_MAX); }

/* fmin and fmax would have to be told that NaN is no number to keep. */
static float narrow_or_none(double value) { return isnan(value) ? NAN : narrow(value); }

static void halve(bramah__samples *samples)
{
  const size_t n = samples->n / 2;
  for (size_t i = 0; i < n; i++) {
    const bramah__sample a = samples->at[2 * i], b = samples->at[2 * i + 1];
    samples->at[i] = (bramah__sample){
        0.5 * a.t + 0.5 * b.t, fminf(a.min, b.min),  0.5f * a.mean + 0.5f * b.mean, fmaxf(a.max, b.max),
        fminf(a.low, b.low),   fmaxf(a.high, b.high)}; /* of a number and NaN: the number */
  }
  samples->n = n;
  samples->steps *= 2;
}

static bramah_status make_room(bramah__samples *samples)
{
  if (samples->n < samples->room) return BRAMAH_OK;
  size_t room = samples->room ? 4 * samples->room : 64;
  if (room > BRAMAH__SAMPLES) room = BRAMAH__SAMPLES;
  bramah__sample *at = realloc(samples->at, room * sizeof *at);
  if (!at) return BRAMAH_E_MEMORY;
  samples->at = at;
  samples->room = room;
  return BRAMAH_OK;
}

static void join(bramah__sample *s, uint64_t n, const bramah__sample *point)
{
  const double share = 1.0 / (double)n;
  s->t += share * (point->t - s->t);
  s->mean = narrow((double)s->mean + share * ((double)point->mean - (double)s->mean));
  s->min = fminf(s->min, point->min);
  s->max = fmaxf(s->max, point->max);
  s->low = fminf(s->low, point->low);
  s->high = fmaxf(s->high, point->high);
}

bramah_status bramah__samples_add(bramah__samples *samples, double t, double value, double low, double high)
{
  const float v = narrow(value);
  const bramah__sample point = {t, v, v, v, narrow_or_none(low), narrow_or_none(high)};
  if (!samples->steps) samples->steps = 1;
  if (samples->n && samples->in_last < samples->steps) {
    join(&samples->at[samples->n - 1], ++samples->in_last, &point);
    return BRAMAH_OK;
  }
  if (samples->n == BRAMAH__SAMPLES) halve(samples);
  const bramah_status status = make_room(samples);
  if (status != BRAMAH_OK) return status;
  samples->at[samples->n++] = point;
  samples->in_last = 1;
  return BRAMAH_OK;
}

int bramah__samples_single(const bramah__samples *samples) { return samples->steps <= 1; }

int bramah__samples_banded(const bramah__samples *samples)
{
  for (size_t i = 0; i < samples->n; i++)
    if (!isnan(samples->at[i].low) || !isnan(samples->at[i].high)) return 1;
  return 0;
}
