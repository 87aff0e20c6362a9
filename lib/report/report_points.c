/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The points of a plot, as they are or so many to a sample; ranges and round tick values of axes. */
#include "lib/report/report_parts.h"
#include "lib/base/text.h"

#include <gsl/gsl_sort.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- samples ---- */

static float narrow(double value) { return (float)fmax(fmin(value, (double)FLT_MAX), -(double)FLT_MAX); }

/* Not by fmin and fmax, which would drop NaN. */
static float narrow_or_none(double value) { return isnan(value) ? NAN : narrow(value); }

bramah_status bramah__samples_add(bramah__samples *samples, double t, double value, double low, double high)
{
  const float v = narrow(value);
  const bramah__sample point = {t, v, v, v, narrow_or_none(low), narrow_or_none(high)};
  if (!samples->steps) samples->steps = 1;
  if (!samples->n) samples->first = t;
  samples->last = t;
  if (samples->n && samples->in_last < samples->steps) {
    bramah__sample *s = &samples->at[samples->n - 1];
    const double share = 1.0 / (double)++samples->in_last;
    s->t += share * (point.t - s->t);
    s->mean = narrow((double)s->mean + share * ((double)point.mean - (double)s->mean));
    s->min = fminf(s->min, point.min);
    s->max = fmaxf(s->max, point.max);
    s->low = fminf(s->low, point.low);
    s->high = fmaxf(s->high, point.high);
    return BRAMAH_OK;
  }
  if (samples->n == BRAMAH__SAMPLES) {
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
  if (samples->n == samples->room) {
    size_t room = samples->room ? 4 * samples->room : 64;
    if (room > BRAMAH__SAMPLES) room = BRAMAH__SAMPLES;
    bramah__sample *at = realloc(samples->at, room * sizeof *at);
    if (!at) return BRAMAH_E_MEMORY;
    samples->at = at;
    samples->room = room;
  }
  samples->at[samples->n++] = point;
  samples->in_last = 1;
  return BRAMAH_OK;
}

int bramah__samples_banded(const bramah__samples *samples)
{
  for (size_t i = 0; i < samples->n; i++)
    if (!isnan(samples->at[i].low) || !isnan(samples->at[i].high)) return 1;
  return 0;
}

/* ---- axes ---- */

bramah__range bramah__range_empty(void) { return (bramah__range){(double)INFINITY, -(double)INFINITY}; }

int bramah__range_is_empty(bramah__range range) { return range.low > range.high; }

void bramah__range_include(bramah__range *range, double value)
{
  if (value < range->low) range->low = value;
  if (value > range->high) range->high = value;
}

/* Widen to a width that can be labelled: a constant gets a tenth of itself, noise below a millionth is left
 * flat. */
static bramah__range with_width(bramah__range range)
{
  double middle = 0.5 * range.low + 0.5 * range.high, size = fmax(fabs(range.low), fabs(range.high));
  double half = 0.5 * range.high - 0.5 * range.low;
  if (size < 1e-300)
    half = 1.0;
  else if (half < 1e-14 * size)
    half = 0.1 * size;
  else if (half < 5e-7 * size)
    half = 5e-7 * size;
  return (bramah__range){middle - half, middle + half};
}

bramah__range bramah__range_of(double *values, size_t n)
{
  gsl_sort(values, 1, n);
  bramah__range all = {values[0], values[n - 1]};
  bramah__range most = {values[n / 50], values[n - 1 - n / 50]};
  double width = most.high - most.low;
  /* Two of a hundred at each end may go, but only where showing them would flatten the rest. */
  if (width > 0.0 && all.low < most.low - 2.0 * width) all.low = most.low - 0.5 * width;
  if (width > 0.0 && all.high > most.high + 2.0 * width) all.high = most.high + 0.5 * width;
  all = with_width(all);
  double air = 0.05 * (all.high - all.low);
  return (bramah__range){all.low - air, all.high + air};
}

bramah__ticks bramah__ticks_of(bramah__range range, int about)
{
  double raw = (range.high - range.low) / about;
  bramah__ticks ticks = {0};
  ticks.power = (int)floor(log10(raw));
  double leading = raw / pow(10.0, ticks.power);
  ticks.mantissa = leading < 1.5 ? 1 : leading < 3.5 ? 2 : leading < 7.5 ? 5 : 1;
  if (leading >= 7.5) ticks.power++;
  double step = ticks.mantissa * pow(10.0, ticks.power);
  ticks.first = (int64_t)ceil(range.low / step - 1e-9);
  ticks.last = (int64_t)floor(range.high / step + 1e-9);
  /* An exponent of three that keeps labels short. */
  const double size = fmax(fabs(range.low), fabs(range.high));
  if (!(size >= 0.01 && size < 1e6)) ticks.exponent = 3 * (int)floor(log10(size) / 3.0);
  return ticks;
}

bramah__range bramah__range_snap(bramah__range range)
{
  double near = 0.01 * (range.high - range.low);
  bramah__ticks ticks = bramah__ticks_of(range, 8);
  double below = bramah__tick_value(&ticks, ticks.first - 1),
         above = bramah__tick_value(&ticks, ticks.last + 1);
  if (range.low - below < near) range.low = below;
  if (above - range.high < near) range.high = above;
  return range;
}

double bramah__tick_value(const bramah__ticks *ticks, int64_t k)
{
  return (double)(k * ticks->mantissa) * pow(10.0, ticks->power);
}

/* Digits are shifted as text: a label is never 0.30000000000000004. */
void bramah__tick_label(char *out, const bramah__ticks *ticks, int64_t k)
{
  char digits[BRAMAH__NUMBER_SIZE];
  int shift = ticks->power - ticks->exponent;
  size_t n = bramah__format_integer(digits, k < 0 ? -k * ticks->mantissa : k * ticks->mantissa), used = 0;
  out[0] = '\0';
  if (k < 0) used = bramah__append(out, BRAMAH__LABEL_SIZE, used, "\xE2\x88\x92"); /* minus sign */
  if (shift >= 0 || k == 0) {
    used = bramah__append(out, BRAMAH__LABEL_SIZE, used, digits);
    for (int i = 0; i < shift && k; i++) used = bramah__append(out, BRAMAH__LABEL_SIZE, used, "0");
    return;
  }
  size_t decimals = (size_t)-shift;
  if (n <= decimals) used = bramah__append(out, BRAMAH__LABEL_SIZE, used, "0");
  for (size_t i = n <= decimals ? 0 : n - decimals, whole = 0; whole < i; whole++)
    used = bramah__append(out, BRAMAH__LABEL_SIZE, used, (char[]){digits[whole], '\0'});
  used = bramah__append(out, BRAMAH__LABEL_SIZE, used, ".");
  for (size_t i = n; i < decimals; i++) used = bramah__append(out, BRAMAH__LABEL_SIZE, used, "0");
  bramah__append(out, BRAMAH__LABEL_SIZE, used, digits + (n <= decimals ? 0 : n - decimals));
}
