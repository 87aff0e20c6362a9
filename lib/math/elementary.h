/* SPDX-License-Identifier: MIT */
/* Elementary functions of our own: the C library chooses among variants by the type of CPU, and its versions differ too;
 * these are made of what IEEE 754 rounds in one way (+ - * / sqrt), so that they give the same bits everywhere. Errors in
 * units of 2^-53 stay below what test_elementary.c allows. NaN stays NaN. Those up to bramah__log have no branches: a
 * loop over them becomes vector code. Polynomials: fdlibm (Sun Microsystems, 1993), of exp: Taylor. */
#ifndef BRAMAH_LIB_MATH_ELEMENTARY_H
#define BRAMAH_LIB_MATH_ELEMENTARY_H

#include <math.h>
#include <stdint.h>
#include <string.h>

/* Adding it rounds to an integer, which then stands in the last bits. */
#define BRAMAH__ROUNDER 6755399441055744.0

static inline uint64_t bramah__bits(double x)
{
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

static inline double bramah__of_bits(uint64_t bits)
{
  double x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

/* Of q pi/2 + r, |r| <= pi/4: sin and cos of r by polynomials, then exchanged and signed by q. */
static inline void bramah__sincos_parts(uint64_t q, double r, double *s, double *c)
{
  const double z = r * r;
  const double sine =
      r + r * z *
              (-1.66666666666666324348e-01 +
               z * (8.33333333332248946124e-03 +
                    z * (-1.98412698298579493134e-04 +
                         z * (2.75573137070700676789e-06 +
                              z * (-2.50507602534068634195e-08 + z * 1.58969099521155010221e-10)))));
  const double cosine =
      1.0 - 0.5 * z +
      z * z *
          (4.16666666666666019037e-02 +
           z * (-1.38888888888741095749e-03 +
                z * (2.48015872894767294178e-05 +
                     z * (-2.75573143513906633035e-07 +
                          z * (2.08757232129817482790e-09 + z * -1.13596475577881948265e-11)))));
  const double even = (q & 1) ? cosine : sine, odd = (q & 1) ? sine : cosine;
  *s = bramah__of_bits(bramah__bits(even) ^ ((q & 2) << 62));
  *c = bramah__of_bits(bramah__bits(odd) ^ (((q + 1) & 2) << 62));
}

/* Of |x| <= 1e6, beyond which they lose digits. Error 2.5 of the amplitude; sin(-0) is 0. */
static inline void bramah__sincos(double x, double *s, double *c)
{
  double k = x * 0.63661977236758134308 + BRAMAH__ROUNDER;
  const uint64_t q = bramah__bits(k);
  k -= BRAMAH__ROUNDER;
  double r = x - k * 1.57079632673412561417e+00; /* pi/2 in three parts of 33 bits */
  r -= k * 6.07710050630396597660e-11;
  r -= k * 2.02226624879595063154e-21;
  bramah__sincos_parts(q, r, s, c);
}

/* x = k ln 2 + r, -1022 <= k <= 1023; 2^k and e^r - 1. */
static inline void bramah__exp_parts(double x, double *scale, double *rest)
{
  double k = x * 1.44269504088896338700 + BRAMAH__ROUNDER;
  const uint64_t n = bramah__bits(k);
  k -= BRAMAH__ROUNDER;
  double r = x - k * 6.93147180369123816490e-01;
  r -= k * 1.90821492927058770002e-10;
  const double series =
      0.5 +
      r * (1.0 / 6 +
           r * (1.0 / 24 +
                r * (1.0 / 120 +
                     r * (1.0 / 720 +
                          r * (1.0 / 5040 + r * (1.0 / 40320 + r * (1.0 / 362880 +
                                                                    r * (1.0 / 3628800 +
                                                                         r * (1.0 / 39916800 +
                                                                              r * (1.0 / 479001600 +
                                                                                   r / 6227020800.0))))))))));
  *rest = r + r * r * series;
  *scale = bramah__of_bits((n + 1023) << 52);
}

/* Infinite above 709.4, 0 below -708.3, where numbers lose digits. Error 2.5. */
static inline double bramah__exp(double x)
{
  static const double least = -708.3, most = 709.4;
  double scale, rest;
  bramah__exp_parts(x < least ? least : x > most ? most : x, &scale, &rest);
  const double value = scale + scale * rest, within = x > most ? (double)INFINITY : x < least ? 0.0 : value;
  return x == x ? within : x;
}

/* -(e^-2|x| - 1) / (2 + (e^-2|x| - 1)) with the sign of x. Error 5.5. */
static inline double bramah__tanh(double x)
{
  double scale, rest;
  const double y = -2.0 * fabs(x);
  bramah__exp_parts(y < -80.0 ? -80.0 : y, &scale, &rest);
  const double less = scale * rest + (scale - 1.0), value = copysign(less / (2.0 + less), x);
  return x == x ? value : x;
}

/* x = 2^k (1 + f) with 1 + f around one, of what is below 2^-1022 from 2^54 times it. Error 2.5. */
static inline double bramah__log(double x)
{
  const double small = x < 2.2250738585072014e-308 ? 54.0 : 0.0, within = small > 0.0 ? x * 0x1p54 : x;
  const uint64_t bits = bramah__bits(within) + 0x00095f6200000000u; /* 1 - sqrt(1/2) above */
  const uint64_t k = bits >> 52;
  const double f = bramah__of_bits((bits & 0x000fffffffffffffu) + 0x3fe6a09e00000000u) - 1.0;
  const double exponent =
      bramah__of_bits(bramah__bits(BRAMAH__ROUNDER) + k) - (BRAMAH__ROUNDER + 1023.0) - small;
  const double s = f / (2.0 + f), z = s * s, half = 0.5 * f * f;
  const double R =
      z * (6.666666666666735130e-01 +
           z * (3.999999999940941908e-01 +
                z * (2.857142874366239149e-01 +
                     z * (2.222219843214978396e-01 +
                          z * (1.818357216161805012e-01 +
                               z * (1.531383769920937332e-01 + z * 1.479819860511658591e-01))))));
  const double value = exponent * 6.93147180369123816490e-01 -
                       ((half - (s * (half + R) + exponent * 1.90821492927058770002e-10)) - f);
  const double outside = x == 0.0 ? -(double)INFINITY : x < 0.0 ? (double)NAN : x;
  return x > 0.0 && x < (double)INFINITY ? value : outside;
}

/* ---- with branches ---- */

/* e^x - 1, x <= 709. Error 4. */
static inline double bramah__expm1(double x)
{
  double scale, rest;
  bramah__exp_parts(x < -80.0 ? -80.0 : x, &scale, &rest);
  return x == x ? scale * rest + (scale - 1.0) : x;
}

/* log(1 + x), x > -1: of the rounded sum, and what rounding took. Error 4. */
static inline double bramah__log1p(double x)
{
  const double sum = 1.0 + x;
  return bramah__log(sum) - ((sum - 1.0) - x) / sum;
}

/* (1 + 2 |x|) exp(x^2) erfc(|x|) as a Chebyshev series in t = (|x| - 3.75)/(|x| + 3.75): M. M. Shepherd, J. G. Laframboise,
 * Chebyshev approximation of (1 + 2x) exp(x^2) erfc x in 0 <= x < infinity, Math. Comp. 36 (1981). The coefficients were
 * computed anew. The complementary error function; error 8 + x^2; 0 above 26.6. */
static inline double bramah__erfc(double x)
{
  static const double a[] = {
      1.1775789345674017541,      -0.0045900545806464773309,  -0.084249133366517915584,
      0.059209939998191890498,    -0.026658668435305752277,   0.0090749976707052650939,
      -0.0024131635404176081909,  0.00049077583652580863229,  -6.9169733025012063671e-5,
      4.1390279860730101675e-6,   7.7403830661984906686e-7,   -2.1886401049234395661e-7,
      1.0764999465670910377e-8,   4.5219598112182868979e-9,   -7.7544002088313511065e-10,
      -6.3180883408866844944e-11, 2.8687950109306698981e-11,  1.945586854577734723e-13,
      -9.6546967484334389059e-13, 3.2525481481487398415e-14,  3.3478119482868053878e-14,
      -1.8645628804193131015e-15, -1.2507950530688647085e-15, 7.418235256624043463e-17,
      5.0681489047961113168e-17};
  const double size = fabs(x), held = size < 1e9 ? size : 1e9, t = (held - 3.75) / (held + 3.75);
  double b = 0.0, before = 0.0;
  for (int i = sizeof a / sizeof *a - 1; i > 0; i--) {
    const double next = 2.0 * t * b - before + a[i];
    before = b;
    b = next;
  }
  const double above = (t * b - before + a[0]) / (1.0 + 2.0 * size) * bramah__exp(-size * size);
  return x == x ? (x < 0.0 ? 2.0 - above : above) : x;
}

/* arctan of t >= 0 from that of the nearest of 0, 1/2, 1, 3/2 and infinity. */
static inline double bramah__arctan(double t)
{
  static const struct {
    double below, high, low; /* t for which it is taken, its arctan in two parts */
  } near[] = {{0.4375, 0.0, 0.0},
              {0.6875, 4.63647609000806093515e-01, 2.26987774529616870924e-17},
              {1.1875, 7.85398163397448278999e-01, 3.06161699786838301793e-17},
              {2.4375, 9.82793723247329054082e-01, 1.39033110312309984516e-17},
              {(double)INFINITY, 1.57079632679489655800e+00, 6.12323399573676603587e-17}};
  int i = 0;
  while (i < 4 && t >= near[i].below) i++;
  const double middle = 0.5 * i, r = i < 4 ? (t - middle) / (1.0 + middle * t) : -1.0 / t;
  const double z = r * r, w = z * z;
  const double even =
      z * (3.33333333333329318027e-01 +
           w * (1.42857142725034663711e-01 +
                w * (9.09088713343650656196e-02 +
                     w * (6.66107313738753120669e-02 +
                          w * (4.97687799461593236017e-02 + w * 1.62858201153657823623e-02)))));
  const double odd = w * (-1.99999999998764832476e-01 +
                          w * (-1.11111104054623557880e-01 +
                               w * (-7.69187620504482999495e-02 +
                                    w * (-5.83357013379057348645e-02 + w * -3.65315727442169155270e-02))));
  return near[i].high - ((r * (even + odd) - near[i].low) - r);
}

/* The angle of (x, y), -pi to pi, signed zeros and infinities as C has them. Error 3. */
static inline double bramah__atan2(double y, double x)
{
  static const double pi = 3.14159265358979311600, pi_low = 1.22464679914735317636e-16;
  if (x != x || y != y) return x + y;
  const double ratio = y == 0.0 ? 0.0 : fabs(y / x);
  const double angle = bramah__arctan(ratio == ratio ? ratio : 1.0); /* of two infinities: 1 */
  const double turned = bramah__bits(x) >> 63 ? pi - (angle - pi_low) : angle;
  return bramah__bits(y) >> 63 ? -turned : turned;
}

/* ---- behind this line not in C source (lib/plant/step_source.c) ---- */

/* Of |x| > 1e6, exactly reduced. */
void bramah__sincos_far(double x, double *s, double *c);

/* Of any x. Error 2.5 of the amplitude. */
static inline void bramah__sincos_any(double x, double *s, double *c)
{
  if (fabs(x) > 1e6)
    bramah__sincos_far(x, s, c);
  else
    bramah__sincos(x, s, c);
}

static inline double bramah__cos(double x)
{
  double s, c;
  bramah__sincos_any(x, &s, &c);
  return c;
}

/* x >= 0. Error 3: one step of Newton's method. */
static inline double bramah__cbrt(double x)
{
  const double y = bramah__exp(bramah__log(x) / 3.0);
  return x > 0.0 && x < (double)INFINITY ? y - (y - x / (y * y)) / 3.0 : x;
}

/* NaN outside -1 to 1. Error 4. */
double bramah__asin(double x);

/* The logarithm of the gamma function of a > 0. Error 150 of the larger of one and its size. */
double bramah__log_gamma(double a);

#endif
