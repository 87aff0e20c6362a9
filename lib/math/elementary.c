/* SPDX-License-Identifier: MIT */
#include "lib/math/elementary.h"

/* ---- angles ---- */

/* 64 zeros, then 2/pi, most significant bits first. */
static const uint32_t two_per_pi[] = {
    0,          0,          0xa2f9836e, 0x4e441529, 0xfc2757d1, 0xf534ddc0, 0xdb629599, 0x3c439041,
    0xfe5163ab, 0xdebbc561, 0xb7246e3a, 0x424dd2e0, 0x06492eea, 0x09d1921c, 0xfe1deb1c, 0xb129a73e,
    0xe88235f5, 0x2ebb4484, 0xe99c7026, 0xb45f7e41, 0x3991d639, 0x835339f4, 0x9c845f8b, 0xbdf9283b,
    0x1ff897ff, 0xde05980f, 0xef2f118b, 0x5a0a6d1f, 0x6d367ecf, 0x27cb09b7, 0x4f463f66, 0x9e5fea2d,
    0x7527bac7, 0xebe5f17b, 0x3d0739f7, 0x8a5292ea, 0x6bfb5fb1, 0x1f8d5d08, 0x56033046, 0xfc7b6bab};

enum { WINDOW = 6 };

/* M. H. Payne, R. N. Hanek, Radian reduction for trigonometric functions, ACM SIGNUM Newsletter 18 (1983): |x| = m 2^e
 * with an integer m of 53 bits times those 192 bits of 2/pi, from the one of weight 2^(1-e) on, that matter: more
 * significant ones give multiples of 2 pi. The product modulo 4 is q, in its two uppermost bits, and a fraction. */
void bramah__sincos_far(double x, double *s, double *c)
{
  const uint64_t bits = bramah__bits(fabs(x)), m = (bits & 0x000fffffffffffffu) | 0x0010000000000000u;
  if (!(fabs(x) < (double)INFINITY)) {
    *s = *c = x - x;
    return;
  }
  const unsigned from = (unsigned)(bits >> 52) - 1075 - 2 + 64, shift = from % 32;
  const uint32_t *word = two_per_pi + from / 32;
  uint64_t w[WINDOW], p[WINDOW], carry = 0; /* least significant first */
  for (int i = 0; i < WINDOW; i++) {
    const int at = WINDOW - 1 - i;
    w[i] = ((((uint64_t)word[at] << 32) | word[at + 1]) >> (32 - shift)) & 0xffffffffu;
  }
  for (int i = 0; i < WINDOW; i++) {
    carry += (m & 0xffffffffu) * w[i];
    p[i] = carry & 0xffffffffu, carry >>= 32;
  }
  carry = 0;
  for (int i = 1; i < WINDOW; i++) {
    carry += (m >> 32) * w[i - 1] + p[i];
    p[i] = carry & 0xffffffffu, carry >>= 32;
  }
  const uint64_t top = p[5] << 32 | p[4], middle = p[3] << 32 | p[2];
  uint64_t q = top >> 62, high = top << 2 | middle >> 62, low = middle << 2 | p[1] >> 30;
  const int is_over = high >> 63 != 0; /* the fraction is above 1/2: from the next q down */
  if (is_over) q++, low = ~low, high = ~high;
  const double fraction = (double)high * 0x1p-64 + (double)low * 0x1p-128;
  bramah__sincos_parts(q, (is_over ? -fraction : fraction) * 1.57079632679489661923, s, c);
  *s = copysign(1.0, x) * *s;
}

double bramah__asin(double x) { return bramah__atan2(x, sqrt((1.0 - x) * (1.0 + x))); }

/* ---- probabilities ---- */

/* Stirling's series above 10; below, by gamma(a + 1) = a gamma(a). */
double bramah__log_gamma(double a)
{
  double product = 1.0;
  for (; a < 10.0; a += 1.0) product *= a;
  const double r = 1.0 / a, z = r * r;
  const double series =
      r * (1.0 / 12 -
           z * (1.0 / 360 - z * (1.0 / 1260 - z * (1.0 / 1680 - z * (1.0 / 1188 - z * (691.0 / 360360))))));
  return (a - 0.5) * bramah__log(a) - a + 0.91893853320467274178 + series - bramah__log(product);
}
