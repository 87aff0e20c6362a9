/* SPDX-License-Identifier: MIT */
/* The elementary functions of C source in single precision, for processors without doubles: of + - * / alone, so that they
 * give the same bits everywhere. Errors in units of 2^-24 stay below what test_elementary.c allows. Polynomials: Cephes
 * (S. Moshier). Arguments as they occur: |x| <= 1e3 of sine and cosine, |x| <= 87 of exp, normal positive ones of log. */
#ifndef BRAMAH_LIB_MATH_ELEMENTARY_SINGLE_H
#define BRAMAH_LIB_MATH_ELEMENTARY_SINGLE_H

#include <math.h>
#include <stdint.h>
#include <string.h>

static inline uint32_t bramah__bitsf(float x)
{
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

static inline float bramah__of_bitsf(uint32_t bits)
{
  float x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

/* Adding it rounds to an integer, which then stands in the last bits. */
#define BRAMAH__ROUNDERF 12582912.0f

/* Of q pi/2 + r, |r| <= pi/4, as of the doubles. */
static inline void bramah__sincosf(float x, float *s, float *c)
{
  float k = x * 0.636619772f + BRAMAH__ROUNDERF;
  const uint32_t q = bramah__bitsf(k);
  k -= BRAMAH__ROUNDERF;
  const float r = ((x - k * 1.5703125f) - k * 4.83751297e-4f) - k * 7.54978995e-8f, z = r * r;
  const float sine = r + r * z * (-1.6666654611e-1f + z * (8.3321608736e-3f - z * 1.9515295891e-4f));
  const float cosine =
      1.0f - 0.5f * z +
      z * z * (4.166664568298827e-2f + z * (-1.388731625493765e-3f + z * 2.443315711809948e-5f));
  const float even = (q & 1) ? cosine : sine, odd = (q & 1) ? sine : cosine;
  *s = bramah__of_bitsf(bramah__bitsf(even) ^ ((q & 2) << 30));
  *c = bramah__of_bitsf(bramah__bitsf(odd) ^ (((q + 1) & 2) << 30));
}

static inline float bramah__expf(float x)
{
  float k = x * 1.44269504f + BRAMAH__ROUNDERF;
  const uint32_t n = bramah__bitsf(k);
  k -= BRAMAH__ROUNDERF;
  const float r = (x - k * 0.693359375f) + k * 2.12194440e-4f;
  const float series =
      5.0000001201e-1f +
      r * (1.6666665459e-1f +
           r * (4.1665795894e-2f + r * (8.3334519073e-3f + r * (1.3981999507e-3f + r * 1.9875691500e-4f))));
  return (1.0f + (r + r * r * series)) * bramah__of_bitsf((n << 23) + 0x3f800000u);
}

static inline float bramah__tanhf(float x)
{
  const float y = fabsf(x), z = x * x;
  const float small =
      x + x * z *
              (-3.33332819422e-1f +
               z * (1.33314422036e-1f +
                    z * (-5.37397155531e-2f + z * (2.06390887954e-2f - z * 5.70498872745e-3f))));
  const float large = 1.0f - 2.0f / (bramah__expf(2.0f * (y > 20.0f ? 20.0f : y)) + 1.0f);
  return y < 0.625f ? small : copysignf(large, x);
}

/* x = 2^k (1 + f), sqrt(1/2) <= 1 + f < sqrt(2) */
static inline float bramah__logf(float x)
{
  const uint32_t bits = bramah__bitsf(x) + 0x004afb0du;
  const float f = bramah__of_bitsf((bits & 0x007fffffu) + 0x3f3504f3u) - 1.0f, z = f * f;
  const float k = (float)((int)(bits >> 23) - 127);
  const float series =
      3.3333331174e-1f +
      f * (-2.4999993993e-1f +
           f * (2.0000714765e-1f +
                f * (-1.6668057665e-1f +
                     f * (1.4249322787e-1f +
                          f * (-1.2420140846e-1f +
                               f * (1.1676998740e-1f + f * (-1.1514610310e-1f + f * 7.0376836292e-2f)))))));
  return k * 0.693359375f + (f + (f * z * series - 0.5f * z + k * -2.12194440e-4f));
}

/* The first terms of the series of doubles. */
static inline float bramah__erfcf(float x)
{
  static const float a[] = {1.17757893f,     -4.59005405e-3f, -8.42491334e-2f, 5.92099400e-2f,
                            -2.66586684e-2f, 9.07499767e-3f,  -2.41316354e-3f, 4.90775837e-4f,
                            -6.91697330e-5f, 4.13902798e-6f,  7.74038307e-7f,  -2.18864010e-7f};
  const float size = fabsf(x), held = size < 1e9f ? size : 1e9f, t = (held - 3.75f) / (held + 3.75f);
  float b = 0.0f, before = 0.0f;
  for (int i = sizeof a / sizeof *a - 1; i > 0; i--) {
    const float next = 2.0f * t * b - before + a[i];
    before = b;
    b = next;
  }
  const float square = held < 9.0f ? held * held : 81.0f;
  const float above = (t * b - before + a[0]) / (1.0f + 2.0f * held) * bramah__expf(-square);
  return x < 0.0f ? 2.0f - above : above;
}

/* The angle of (x, y), -pi to pi, as of the doubles. */
static inline float bramah__atan2f(float y, float x)
{
  const float high = fabsf(x) > fabsf(y) ? fabsf(x) : fabsf(y),
              low = fabsf(x) > fabsf(y) ? fabsf(y) : fabsf(x);
  const float t = high > 0.0f ? low / high : 0.0f,
              turned = t > 0.4142135679721832f ? (t - 1.0f) / (t + 1.0f) : t;
  const float z = turned * turned;
  const float series =
      turned +
      turned * z *
          (-3.33329491539e-1f + z * (1.99777106478e-1f + z * (-1.38776856032e-1f + z * 8.05374449538e-2f)));
  const float octant = t > 0.4142135679721832f ? series + 7.85398163e-1f : series;
  const float quadrant = fabsf(y) > fabsf(x) ? 1.57079633f - octant : octant;
  return copysignf(x < 0.0f ? 3.14159265f - quadrant : quadrant, y);
}

/* x > -1: of the rounded sum, and what rounding took. */
static inline float bramah__log1pf(float x)
{
  const float sum = 1.0f + x;
  return bramah__logf(sum) - ((sum - 1.0f) - x) / sum;
}

#endif
