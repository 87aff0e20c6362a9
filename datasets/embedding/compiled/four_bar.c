/* The step of "hydraulic four-bar" and its filter: see four_bar.h. Written by bramah, whose elementary functions follow (MIT licence). */
#include "four_bar.h"

#ifndef BRAMAH_DEVICE
#include <math.h>
#include <stddef.h>
#include <string.h>
#endif

#if defined __clang__
#pragma STDC FP_CONTRACT OFF
#pragma clang diagnostic ignored "-Wunused-function"
#endif

/* SPDX-License-Identifier: MIT */
/* Elementary functions of our own: the C library chooses among variants by the type of CPU, and its versions differ too;
 * these are made of what IEEE 754 rounds in one way (+ - * / sqrt), so that they give the same bits everywhere. Errors in
 * units of 2^-53 stay below what test_elementary.c allows. NaN stays NaN. Those up to bramah__log have no branches: a
 * loop over them becomes vector code. Polynomials: fdlibm (Sun Microsystems, 1993), of exp: Taylor. */
#ifndef BRAMAH_LIB_MATH_ELEMENTARY_H
#define BRAMAH_LIB_MATH_ELEMENTARY_H


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

#endif

/* ---- the machine ---- */

#define FOUR_BAR_CLOSED 1e-09
#define FOUR_BAR_PLACED 1e-09
#define FOUR_BAR_LONGEST_GUESS 20000.0
#define FOUR_BAR_NEGLIGIBLE 0x1.6e93f5da2824cp-831
#define FOUR_BAR_MOST_SIGMAS 0x1.249ad2594c37dp332
static const int joint[] = {0, 2, 1};
static const double tolerance[] = {1e-07, 0.01, 0.01, 0.01};
static const double usual_pivot[] = {23109.250399740613, 2009.162320779924, 585321424.0723568, 2213.359085163133};
static const double usual_closure_pivot[] = {10.000000000000002, 4.741277740242907};
static const double usual_mass_pivot[] = {137.5438214521909};
static const double spool_limit[] = {10.0};
static const double time_constant[] = {0.0045};
static const int spool_input[] = {0};
static const int offset_parameter[] = {13};
static const double least_stroke[] = {1.4320508075688771};
static const double most_stroke[] = {2.3320508075688773};

FOUR_BAR_FUNCTION const double four_bar_nominal[FOUR_BAR_ROOM(FOUR_BAR_PARAMETERS)] = {0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 7.6e+06, 100000.0, 1.5e+09, 1.0982013101645156e-06, 2.138e-08, 0.0, 1.0};
FOUR_BAR_FUNCTION const four_bar_state four_bar_start = {.z = {1.0995574287564276, -0.7235625196321946, -1.6103018518194687}, .zd = {-0.0, 0.0, -0.0}, .zdd = {-2.36686226399185, 2.7948402492972453, -1.0552682238825553}, .p = {2965604.527353115, 2965604.527353115, 3.5e+06}, .pd = {0.0, 0.0, 0.0}, .U = {0.0}, .u = {0.0}};

#ifndef BRAMAH_DEVICE
const char *const four_bar_joint_names[FOUR_BAR_ROOM(FOUR_BAR_JOINTS)] = {"crank", "coupler", "rocker"};
#endif
#ifndef BRAMAH_DEVICE
const char *const four_bar_first_order_names[FOUR_BAR_ROOM(FOUR_BAR_FIRST_ORDER)] = {"v1", "v2", "v3"};
#endif
#ifndef BRAMAH_DEVICE
const char *const four_bar_actuator_names[FOUR_BAR_ROOM(FOUR_BAR_ACTUATORS)] = {"lift"};
#endif
#ifndef BRAMAH_DEVICE
const char *const four_bar_input_names[FOUR_BAR_ROOM(FOUR_BAR_INPUTS)] = {"valve"};
#endif
#ifndef BRAMAH_DEVICE
const char *const four_bar_parameter_names[FOUR_BAR_ROOM(FOUR_BAR_PARAMETERS)] = {"crank.load", "coupler.load", "rocker.load", "crank.payload", "coupler.payload", "rocker.payload", "lift.actuator_load", "lift.friction_scale", "pump.pressure", "tank.pressure", "oil.bulk_modulus", "orifice.flow_coefficient", "valve.flow_coefficient", "valve.offset", "gravity.scale"};
#endif


/* ---- the equations ---- */


static void four_bar_setup(four_bar_work *w)
{
  (void)w;
  const double v0 = w->theta[3] + 16.0;
  w->kept[2] = v0;
  const double v1 = w->theta[4] + 64.0;
  w->kept[3] = v1;
  const double v2 = w->theta[5] + 40.0;
  w->kept[4] = v2;
  const double v3 = 9.81 * w->theta[14];
  w->kept[5] = v3;
  const double v4 = 1.0 / w->h[0];
  const double v5 = 1.0 / w->theta[10];
  const double v6 = 4.71e-05 * v5 + 0x1.81ac01559e847p-44;
  const double v7 = 3.14e-05 * v5 + 0x1.011d563914584p-44;
  w->kept[6] = v7;
  const double v8 = 7.85e-05 * v5 + 0x1.4164abc7596e6p-43;
  w->kept[7] = v8;
  const double v9 = 2.0 * v4;
  w->kept[0] = v9;
  const double v10 = 4.0 * v4;
  w->kept[11] = v10;
  const double v11 = v9 * v9;
  w->kept[1] = v11;
  const double v12 = v5 + 3.174603174603175e-11;
  const double v13 = 0.005026548245743669 * v12;
  w->kept[8] = v13;
  const double v14 = 0.004064435495581795 * v12;
  w->kept[9] = v14;
  const double v15 = 1.0 / v6;
  w->kept[10] = v15;
  const double v16 = 1.0 / v9;
  w->kept[12] = v16;
}

static void four_bar_before(four_bar_work *w)
{
  (void)w;
  const double v0 = -w->U[0];
  const double v1 = v0 > 0.0 ? 0.0 : w->U[0];
  const double v2 = v0 > 0.0 ? v0 : 0.0;
  const double v3 = v1 - v2;
  const double v4 = v2 - v1;
  const double v5 = v4 > 0.0 ? 0.0 : v3;
  w->kept[13] = v5;
  const double v6 = v4 > 0.0 ? v4 : 0.0;
  w->kept[14] = v6;
}

static void four_bar_iterate(four_bar_work *w)
{
  (void)w;
  double v0, v1;
  bramah__sincos(w->z[0], &v0, &v1);
  w->kept[15] = v0;
  w->kept[16] = v1;
  double v2, v3;
  bramah__sincos(w->z[1], &v2, &v3);
  w->kept[18] = v2;
  w->kept[19] = v3;
  const double v4 = v1 * v3;
  const double v5 = v0 * v2;
  const double v6 = v4 - v5;
  w->kept[20] = v6;
  const double v7 = v1 * v2;
  w->kept[21] = v7;
  const double v8 = v0 * v3;
  const double v9 = v7 + v8;
  w->kept[22] = v9;
  double v10, v11;
  bramah__sincos(w->z[2], &v10, &v11);
  w->kept[26] = v10;
  w->kept[27] = v11;
  const double v12 = v9 * v11;
  const double v13 = v6 * v10 + v12;
  const double v14 = -5.0 * v13;
  const double v15 = -8.0 * v9;
  const double v16 = -2.0 * v0 + v15;
  const double v17 = v16 + v14;
  const double v18 = v9 * v10;
  const double v19 = v6 * v11 - v18;
  const double v20 = 5.0 * v19;
  w->kept[28] = v20;
  const double v21 = 8.0 * v6;
  const double v22 = 2.0 * v1;
  const double v23 = v22 + v21;
  w->kept[24] = v23;
  const double v24 = v23 + v20;
  const double v25 = 1.0 / v24;
  w->kept[29] = v25;
  const double v26 = v17 * v25;
  w->kept[30] = v26;
  const double v27 = v14 - v20 * v26;
  const double v28 = 1.0 / v27;
  w->kept[31] = v28;
  const double v29 = v21 + v20;
  const double v30 = v15 + v14;
  const double v31 = v29 * v26 - v30;
  const double v32 = v28 * v31;
  w->kept[32] = v32;
  const double v33 = v20 * v32 + v29;
  const double v34 = v25 * v33;
  w->kept[33] = v34;
  const double v35 = v0 * v34;
  const double v36 = v3 * v35;
  w->kept[67] = v36;
  const double v37 = v36 - v7;
  const double v38 = v1 * v34;
  const double v39 = v8 - v2 * v38;
  w->kept[68] = v39;
  const double v40 = v37 - v39;
  const double v41 = v10 * v40;
  const double v42 = v11 * v32;
  w->kept[70] = v42;
  const double v43 = v6 * v42 + v41;
  const double v44 = v2 * v35 + v4;
  const double v45 = v3 * v38 + v5;
  const double v46 = v44 - v45;
  w->kept[69] = v46;
  const double v47 = v10 * v32;
  w->kept[71] = v47;
  const double v48 = v9 * v47;
  const double v49 = v11 * v46 - v48;
  const double v50 = v43 + v49;
  const double v51 = -5.0 * v50;
  const double v52 = -8.0 * v46;
  const double v53 = 2.0 * v38 + v52;
  const double v54 = v53 + v51;
  const double v55 = v6 * v47;
  const double v56 = v11 * v40 - v55;
  const double v57 = v10 * v46;
  const double v58 = v9 * v42 + v57;
  const double v59 = v56 - v58;
  const double v60 = 5.0 * v59;
  const double v61 = 8.0 * v40;
  const double v62 = 2.0 * v35 + v61;
  const double v63 = v62 + v60;
  const double v64 = v25 * v25;
  const double v65 = v63 * v64;
  const double v66 = v17 * v65;
  const double v67 = v25 * v54 - v66;
  const double v68 = v61 + v60;
  const double v69 = v26 * v68;
  const double v70 = v29 * v67 + v69;
  const double v71 = v52 + v51;
  const double v72 = v70 - v71;
  const double v73 = v26 * v60;
  const double v74 = v20 * v67 + v73;
  const double v75 = v51 - v74;
  const double v76 = v28 * v28;
  const double v77 = v75 * v76;
  const double v78 = v31 * v77;
  const double v79 = v28 * v72 - v78;
  const double v80 = w->kept[0] * v32;
  const double v81 = w->zd[0] * v79 + v80;
  const double v82 = w->zd[0] * v32;
  const double v83 = v82 * v42;
  w->kept[79] = v83;
  const double v84 = v10 * v81 + v83;
  const double v85 = v10 * v82;
  w->kept[45] = v85;
  const double v86 = v85 * v81;
  const double v87 = v82 * v84 + v86;
  const double v88 = v82 * v85;
  const double v89 = v88 * v40;
  const double v90 = v6 * v87 + v89;
  const double v91 = v32 * v60;
  const double v92 = v20 * v79 + v91;
  const double v93 = v68 + v92;
  const double v94 = v33 * v65;
  const double v95 = v25 * v93 - v94;
  const double v96 = w->kept[0] * v34;
  const double v97 = w->zd[0] * v95 + v96;
  const double v98 = w->zd[0] * v34;
  const double v99 = v98 * v38;
  w->kept[73] = v99;
  const double v100 = v0 * v97 - v99;
  const double v101 = v0 * v98;
  w->kept[35] = v101;
  const double v102 = v2 * v101;
  w->kept[41] = v102;
  const double v103 = v3 * v100 - v102;
  const double v104 = w->zd[0] * v2;
  w->kept[37] = v104;
  const double v105 = v104 * v35;
  w->kept[74] = v105;
  const double v106 = w->zd[0] * v3;
  w->kept[36] = v106;
  const double v107 = w->kept[0] * v2 + v106;
  const double v108 = v1 * v107 + v105;
  const double v109 = v108 - v103;
  const double v110 = v98 * v35;
  w->kept[72] = v110;
  const double v111 = v1 * v97 + v110;
  const double v112 = v1 * v98;
  w->kept[34] = v112;
  const double v113 = v3 * v112;
  w->kept[42] = v113;
  const double v114 = v2 * v111 + v113;
  const double v115 = v106 * v38;
  w->kept[75] = v115;
  const double v116 = w->kept[0] * v3 - v104;
  const double v117 = v0 * v116 - v115;
  const double v118 = v117 - v114;
  const double v119 = v109 + v118;
  const double v120 = v11 * v82;
  w->kept[44] = v120;
  const double v121 = v120 * v119;
  const double v122 = v82 * v47;
  w->kept[78] = v122;
  const double v123 = v11 * v81 - v122;
  const double v124 = v3 * v101;
  w->kept[38] = v124;
  const double v125 = v1 * v104 - v124;
  const double v126 = v2 * v112;
  w->kept[39] = v126;
  const double v127 = v0 * v106 - v126;
  const double v128 = v125 + v127;
  w->kept[40] = v128;
  const double v129 = v128 * v123 + v121;
  const double v130 = v90 + v129;
  const double v131 = v112 * v97;
  const double v132 = v98 * v111 + v131;
  const double v133 = v98 * v112;
  const double v134 = v2 * v133;
  const double v135 = v3 * v132 - v134;
  const double v136 = v104 * v100;
  const double v137 = v101 * v107 + v136;
  const double v138 = v137 + v135;
  const double v139 = w->zd[0] * v106;
  const double v140 = v139 * v35;
  const double v141 = w->kept[0] * v106;
  const double v142 = w->zd[0] * v116 + v141;
  const double v143 = v1 * v142 + v140;
  const double v144 = v143 + v137;
  const double v145 = v144 + v138;
  const double v146 = v101 * v97;
  const double v147 = v98 * v100 + v146;
  const double v148 = v98 * v101;
  const double v149 = v3 * v148;
  const double v150 = v2 * v147 + v149;
  const double v151 = v106 * v111;
  const double v152 = v112 * v116 + v151;
  const double v153 = v152 + v150;
  const double v154 = w->zd[0] * v104;
  const double v155 = v154 * v38;
  const double v156 = w->kept[0] * v104;
  const double v157 = w->zd[0] * v107 + v156;
  const double v158 = v0 * v157 - v155;
  const double v159 = v158 + v152;
  const double v160 = v159 + v153;
  const double v161 = v145 - v160;
  const double v162 = v3 * v133;
  const double v163 = v101 * v104;
  const double v164 = v163 + v162;
  const double v165 = v1 * v139 + v163;
  const double v166 = v165 + v164;
  const double v167 = v2 * v148;
  const double v168 = v112 * v106;
  const double v169 = v168 + v167;
  const double v170 = v0 * v154 + v168;
  const double v171 = v170 + v169;
  const double v172 = v166 - v171;
  const double v173 = v172 * v42;
  const double v174 = v10 * v161 + v173;
  const double v175 = v129 + v174;
  const double v176 = v130 + v175;
  const double v177 = v120 * v81;
  const double v178 = v82 * v123 + v177;
  const double v179 = v82 * v120;
  const double v180 = v179 * v46;
  const double v181 = v9 * v178 + v180;
  const double v182 = v2 * v100 + v124;
  const double v183 = v106 * v35;
  w->kept[76] = v183;
  const double v184 = v1 * v116 + v183;
  const double v185 = v184 + v182;
  const double v186 = v3 * v111 - v126;
  const double v187 = v104 * v38;
  w->kept[77] = v187;
  const double v188 = v0 * v107 - v187;
  const double v189 = v188 + v186;
  const double v190 = v185 - v189;
  const double v191 = v85 * v190;
  const double v192 = v1 * v106 + v102;
  const double v193 = v0 * v104 + v113;
  const double v194 = v192 - v193;
  w->kept[43] = v194;
  const double v195 = v194 * v84 + v191;
  const double v196 = v181 + v195;
  const double v197 = v2 * v132 + v162;
  const double v198 = v106 * v100;
  const double v199 = v101 * v116 + v198;
  const double v200 = v197 - v199;
  const double v201 = v154 * v35;
  const double v202 = v1 * v157 + v201;
  const double v203 = v202 - v199;
  const double v204 = v203 + v200;
  const double v205 = v3 * v147 - v167;
  const double v206 = v104 * v111;
  const double v207 = v112 * v107 + v206;
  const double v208 = v205 - v207;
  const double v209 = v139 * v38;
  const double v210 = v0 * v142 - v209;
  const double v211 = v210 - v207;
  const double v212 = v211 + v208;
  const double v213 = v204 + v212;
  const double v214 = v101 * v106;
  const double v215 = v134 - v214;
  const double v216 = v1 * v154 - v214;
  const double v217 = v216 + v215;
  const double v218 = v112 * v104;
  const double v219 = v149 - v218;
  const double v220 = v0 * v139 - v218;
  const double v221 = v220 + v219;
  const double v222 = v217 + v221;
  const double v223 = v222 * v47;
  const double v224 = v11 * v213 - v223;
  const double v225 = v195 + v224;
  const double v226 = v196 + v225;
  const double v227 = v176 + v226;
  const double v228 = -8.0 * v213;
  const double v229 = -2.0 * v147 + v228;
  const double v230 = -5.0 * v227 + v229;
  const double v231 = v128 * v120;
  const double v232 = v6 * v88 + v231;
  const double v233 = v10 * v172 + v231;
  const double v234 = v232 + v233;
  const double v235 = v194 * v85;
  const double v236 = v9 * v179 + v235;
  const double v237 = v11 * v222 + v235;
  const double v238 = v236 + v237;
  const double v239 = v234 + v238;
  const double v240 = -8.0 * v222;
  const double v241 = -2.0 * v148 + v240;
  const double v242 = -5.0 * v239 + v241;
  const double v243 = v242 * v67;
  const double v244 = v26 * v230 + v243;
  const double v245 = v179 * v40;
  const double v246 = v6 * v178 + v245;
  const double v247 = v85 * v119;
  const double v248 = v128 * v84 + v247;
  const double v249 = v246 - v248;
  const double v250 = v172 * v47;
  const double v251 = v11 * v161 - v250;
  const double v252 = v251 - v248;
  const double v253 = v249 + v252;
  const double v254 = v120 * v190;
  const double v255 = v194 * v123 + v254;
  const double v256 = v88 * v46;
  const double v257 = v9 * v87 + v256;
  const double v258 = v255 - v257;
  const double v259 = v222 * v42;
  const double v260 = v10 * v213 + v259;
  const double v261 = v255 - v260;
  const double v262 = v258 + v261;
  const double v263 = v253 + v262;
  const double v264 = -8.0 * v161;
  const double v265 = -2.0 * v132 + v264;
  const double v266 = -5.0 * v263 + v265;
  const double v267 = v244 - v266;
  const double v268 = v128 * v85;
  const double v269 = v6 * v179 - v268;
  const double v270 = v11 * v172 - v268;
  const double v271 = v269 + v270;
  const double v272 = v194 * v120;
  const double v273 = v272 - v9 * v88;
  const double v274 = v272 - v10 * v222;
  const double v275 = v273 + v274;
  const double v276 = v271 + v275;
  const double v277 = -8.0 * v172;
  const double v278 = -2.0 * v133 + v277;
  const double v279 = -5.0 * v276 + v278;
  const double v280 = v26 * v242 - v279;
  const double v281 = v280 * v77;
  const double v282 = v28 * v267 - v281;
  const double v283 = w->kept[1] * v32;
  const double v284 = w->zdd[0] * v79 + v283;
  const double v285 = v284 + v282;
  const double v286 = v28 * v280;
  const double v287 = v286 * v60;
  const double v288 = v20 * v282 + v287;
  const double v289 = v230 + v288;
  const double v290 = v20 * v286 + v242;
  const double v291 = v290 * v65;
  const double v292 = v25 * v289 - v291;
  const double v293 = w->kept[1] * v34;
  const double v294 = w->zdd[0] * v95 + v293;
  const double v295 = v294 + v292;
  const double v296 = w->kept[1] - v295;
  const double v297 = v285 + v296;
  const double v298 = w->zdd[0] * v32 + v286;
  const double v299 = v25 * v290;
  const double v300 = w->zdd[0] * v34 + v299;
  const double v301 = w->zdd[0] - v300;
  const double v302 = v298 + v301;
  const double v303 = 2.0 * v0;
  w->kept[17] = v303;
  const double v304 = 8.0 * v9 + v303;
  w->kept[25] = v304;
  const double v305 = v304 * v298;
  const double v306 = w->zd[0] - v98;
  const double v307 = -2.0 * v1;
  w->kept[23] = v307;
  const double v308 = w->zd[0] * v307;
  const double v309 = v23 * v306 + v308;
  w->kept[54] = v309;
  const double v310 = v82 * v309 + v305;
  const double v311 = v307 * v98;
  w->kept[47] = v311;
  const double v312 = w->zdd[0] * v303;
  const double v313 = w->zd[0] * v311 + v312;
  const double v314 = v313 + v310;
  const double v315 = v304 * v302 - v314;
  const double v316 = v82 + v306;
  const double v317 = v309 * v316 + v315;
  const double v318 = v32 * v317;
  const double v319 = 2.0 * v81;
  const double v320 = w->zd[0] * v303;
  const double v321 = v304 * v306 - v320;
  w->kept[55] = v321;
  const double v322 = v321 * v319 + v318;
  const double v323 = v322 - v23 * v285;
  const double v324 = v303 * v301 - v313;
  const double v325 = v311 * v306 + v324;
  const double v326 = v303 * v98;
  w->kept[48] = v326;
  const double v327 = v325 - v326 * w->kept[11];
  const double v328 = w->kept[1] * v307 + v327;
  const double v329 = v328 + v323;
  const double v330 = v23 * v298;
  const double v331 = v82 * v321 - v330;
  const double v332 = w->zd[0] * v326;
  const double v333 = w->zdd[0] * v307 - v332;
  const double v334 = w->kept[5] + v333;
  const double v335 = v334 + v331;
  const double v336 = v23 * v302 + v335;
  const double v337 = v336 - v321 * v316;
  const double v338 = v32 * v337;
  const double v339 = v309 * v319 + v338;
  const double v340 = v304 * v285 + v339;
  const double v341 = v334 - v307 * v301;
  const double v342 = v326 * v306 + v341;
  const double v343 = v311 * w->kept[11] + v342;
  const double v344 = w->kept[1] * v303 + v343;
  const double v345 = v34 * w->kept[5];
  const double v346 = v344 - v345;
  const double v347 = v346 + v340;
  const double v348 = 2.5 * v13 + v304;
  const double v349 = w->kept[4] * v348;
  w->kept[57] = v349;
  const double v350 = v349 * v347;
  const double v351 = 2.5 * v19 + v23;
  const double v352 = w->kept[4] * v351;
  w->kept[56] = v352;
  const double v353 = v352 * v329 - v350;
  const double v354 = v351 * v352;
  const double v355 = v348 * v349 + v354;
  const double v356 = 83.33333333333333 + v355;
  w->kept[58] = v356;
  const double v357 = v356 * v297 + v353;
  const double v358 = w->kept[0] - v97;
  const double v359 = v81 + v358;
  const double v360 = 2.0 * v359;
  const double v361 = v304 * v82 + v320;
  const double v362 = v308 - v23 * v82;
  const double v363 = v362 * v349;
  const double v364 = v361 * v352 + v363;
  w->kept[81] = v364;
  const double v365 = v360 * v364 + v357;
  const double v366 = v302 * v349;
  const double v367 = w->kept[4] * v314 - v366;
  const double v368 = w->kept[4] * v362;
  const double v369 = v316 * v352 + v368;
  w->kept[60] = v369;
  const double v370 = v367 - v316 * v369;
  const double v371 = w->kept[4] * v335;
  const double v372 = v302 * v352 + v371;
  const double v373 = v316 * v349;
  const double v374 = w->kept[4] * v361 - v373;
  w->kept[59] = v374;
  const double v375 = v316 * v374 + v372;
  const double v376 = v304 * v375;
  const double v377 = v23 * v370 + v376;
  const double v378 = v32 * v377 + v365;
  const double v379 = 4.0 * v9 + v303;
  const double v380 = w->kept[3] * v379;
  w->kept[50] = v380;
  const double v381 = v380 * v346;
  const double v382 = 4.0 * v6 + v22;
  const double v383 = w->kept[3] * v382;
  w->kept[49] = v383;
  const double v384 = v383 * v328 - v381;
  const double v385 = v382 * v383;
  const double v386 = v379 * v380 + v385;
  const double v387 = 341.3333333333333 + v386;
  w->kept[51] = v387;
  const double v388 = v387 * v296 + v384;
  const double v389 = 2.0 * v358;
  const double v390 = v308 * v380;
  const double v391 = v320 * v383 + v390;
  w->kept[80] = v391;
  const double v392 = v389 * v391 + v388;
  const double v393 = v392 + v378;
  const double v394 = v349 * v297;
  const double v395 = w->kept[4] * v347 - v394;
  const double v396 = v395 - v369 * v360;
  const double v397 = v396 - v32 * v375;
  const double v398 = v380 * v296;
  const double v399 = w->kept[3] * v346 - v398;
  const double v400 = w->kept[3] * v308;
  const double v401 = v306 * v383 + v400;
  w->kept[53] = v401;
  const double v402 = v399 - v401 * v389;
  const double v403 = v402 + v397;
  const double v404 = w->kept[4] * v329;
  const double v405 = v352 * v297 + v404;
  const double v406 = v374 * v360 + v405;
  const double v407 = v32 * v370 + v406;
  const double v408 = w->kept[3] * v328;
  const double v409 = v383 * v296 + v408;
  const double v410 = v306 * v380;
  const double v411 = w->kept[3] * v320 - v410;
  w->kept[52] = v411;
  const double v412 = v411 * v389 + v409;
  const double v413 = v412 + v407;
  const double v414 = v307 * v413;
  const double v415 = v303 * v403 + v414;
  const double v416 = v393 + v415;
  const double v417 = w->kept[3] * v334;
  const double v418 = v301 * v383 + v417;
  const double v419 = v306 * v411 + v418;
  const double v420 = v419 + v375;
  const double v421 = v301 * v380;
  const double v422 = w->kept[3] * v313 - v421;
  const double v423 = v422 - v306 * v401;
  const double v424 = v423 + v370;
  const double v425 = v307 * v424;
  const double v426 = v303 * v420 - v425;
  const double v427 = v393 + v426;
  const double v428 = w->kept[2] * v1;
  const double v429 = v1 * v428;
  const double v430 = w->kept[2] * v0;
  const double v431 = v0 * v430 + v429;
  const double v432 = 5.333333333333333 + v431;
  w->kept[46] = v432;
  const double v433 = v432 * v295;
  const double v434 = v430 * v345 - v433;
  const double v435 = v434 + v427;
  const double v436 = v314 * v349;
  const double v437 = v335 * v352 - v436;
  const double v438 = v302 * v356 + v437;
  const double v439 = v362 * v374;
  const double v440 = v361 * v369 - v439;
  const double v441 = v440 + v438;
  const double v442 = v313 * v380;
  const double v443 = v334 * v383 - v442;
  const double v444 = v301 * v387 + v443;
  const double v445 = v308 * v411;
  const double v446 = v320 * v401 - v445;
  const double v447 = v446 + v444;
  const double v448 = v447 + v441;
  const double v449 = v300 * v432;
  const double v450 = w->kept[5] * v428 - v449;
  const double v451 = v450 + v448;
  const double v452 = v451 * v95;
  const double v453 = v34 * v435 + v452;
  const double v454 = v416 - v453;
  const double v455 = v23 * v406;
  const double v456 = v304 * v396 - v455;
  const double v457 = v365 + v456;
  const double v458 = v23 * v375;
  const double v459 = v304 * v370 - v458;
  const double v460 = v441 + v459;
  const double v461 = v460 * v79;
  const double v462 = v32 * v457 + v461;
  const double v463 = v454 + v462;
  const double v464 = w->theta[0] * v95 + v463;
  const double v465 = v464 - w->theta[2] * v79;
  const double v466 = v1 - -1.0;
  const double v467 = v466 * v100;
  const double v468 = v101 * v35 + v467;
  const double v469 = v468 + v468;
  const double v470 = v112 * v38;
  const double v471 = v0 * v111 - v470;
  const double v472 = v471 + v471;
  const double v473 = v469 - v472;
  const double v474 = v101 * v466;
  const double v475 = v474 + v474;
  const double v476 = v0 * v112;
  const double v477 = v476 + v476;
  const double v478 = v475 - v477;
  const double v479 = v466 * v35;
  const double v480 = v479 + v479;
  const double v481 = v0 * v38;
  const double v482 = v481 + v481;
  const double v483 = v480 - v482;
  const double v484 = v0 * v0;
  const double v485 = v466 * v466 + v484;
  const double v486 = sqrt(v485);
  const double v487 = 1.0 / v486;
  const double v488 = 0.5 * v487;
  const double v489 = v483 * v488;
  w->kept[61] = v489;
  const double v490 = v487 * v487;
  const double v491 = v489 * v490;
  const double v492 = -0.5 * v491;
  const double v493 = v478 * v492;
  const double v494 = v488 * v473 + v493;
  const double v495 = 80.0 * v494;
  const double v496 = v488 * v478;
  const double v497 = 80.0 * v496;
  w->kept[62] = v497;
  const double v498 = v497 * v495;
  const double v499 = v498 + v498;
  const double v500 = 0.25 * v499;
  const double v501 = v497 * v497;
  const double v502 = 0.25 * v501 + 0.75;
  const double v503 = 1.0 / v502;
  w->kept[63] = v503;
  const double v504 = v503 * v503;
  w->kept[64] = v504;
  const double v505 = v504 * v500;
  const double v506 = v503 * v505;
  const double v507 = v506 + v506;
  const double v508 = v497 * v507;
  const double v509 = v504 * v495 - v508;
  const double v510 = 320.0 * v494;
  const double v511 = 320.0 * v496;
  const double v512 = bramah__tanh(v511);
  const double v513 = 1.0 - v512 * v512;
  w->kept[82] = v513;
  const double v514 = v510 * v513;
  const double v515 = 231.0 * v514;
  const double v516 = 682.0 * v509 + v515;
  const double v517 = 362.7565358052813 * v494 + v516;
  const double v518 = w->theta[7] * v517;
  const double v519 = v489 * v518;
  const double v520 = v34 * v38;
  const double v521 = v0 * v95 - v520;
  const double v522 = v35 * v35;
  const double v523 = v466 * v521 + v522;
  const double v524 = v523 + v523;
  const double v525 = v34 * v35;
  const double v526 = v1 * v95 + v525;
  const double v527 = v38 * v38;
  const double v528 = v0 * v526 - v527;
  const double v529 = v528 + v528;
  const double v530 = v524 - v529;
  const double v531 = v488 * v530;
  const double v532 = v483 * v492 + v531;
  const double v533 = v497 * v504;
  const double v534 = 231.0 * v512;
  const double v535 = 682.0 * v533 + v534;
  const double v536 = 362.7565358052813 * v496 + v535;
  const double v537 = 0.004064435495581795 * w->p[2];
  const double v538 = 0.005026548245743669 * w->p[1] - v537;
  const double v539 = v538 - w->theta[7] * v536;
  const double v540 = w->theta[6] + v539;
  const double v541 = v540 * v532 - v519;
  const double v542 = v465 - v541;
  const double v543 = 0.004064435495581795 * v494;
  const double v544 = 2.3320508075688773 - v486;
  const double v545 = v544 * w->kept[9] + w->kept[7];
  const double v546 = 1.0 / v545;
  w->kept[66] = v546;
  const double v547 = v546 * v543;
  const double v548 = w->theta[8] - w->p[2];
  const double v549 = w->theta[9] - w->p[2];
  const double v550 = w->kept[14] > 0.0 ? v548 : v549;
  const double v551 = fabs(v550);
  const double v552 = v551 > 200000.0 ? v551 : 200000.0;
  const double v553 = sqrt(v552);
  const double v554 = 1.0 / v553;
  const double v555 = v550 * v554;
  const double v556 = w->theta[12] * v555;
  const double v557 = w->kept[14] * v556;
  const double v558 = w->kept[13] * v556 + v557;
  const double v559 = v558 - -0.004064435495581795 * v496;
  const double v560 = v489 * w->kept[9];
  const double v561 = v546 * v546;
  const double v562 = v560 * v561;
  const double v563 = v559 * v562 + v547;
  w->kept[83] = v563;
  const double v564 = 0.004064435495581795 * v489;
  w->kept[86] = v564;
  const double v565 = 200000.0 - v551;
  const double v566 = 0.5 * v554;
  const double v567 = v565 > 0.0 ? v554 : v566;
  const double v568 = w->theta[12] * v567;
  const double v569 = w->kept[14] * v568;
  const double v570 = w->kept[13] * v568 + v569;
  const double v571 = v546 * v570 + w->kept[0];
  const double v572 = 1.0 / v571;
  w->kept[89] = v572;
  const double v573 = v564 * v572;
  w->kept[90] = v573;
  const double v574 = v563 * v573 + v542;
  const double v575 = 1.0 / v574;
  w->kept[91] = v575;
  const double v576 = -0.005026548245743669 * v494;
  const double v577 = v486 + -1.4320508075688771;
  const double v578 = v577 * w->kept[8] + w->kept[6];
  const double v579 = 1.0 / v578;
  w->kept[65] = v579;
  const double v580 = v579 * v576;
  const double v581 = w->p[0] - w->p[1];
  const double v582 = fabs(v581);
  const double v583 = v582 > 200000.0 ? v582 : 200000.0;
  const double v584 = sqrt(v583);
  const double v585 = 1.0 / v584;
  const double v586 = v581 * v585;
  const double v587 = w->theta[11] * v586;
  const double v588 = v587 - 0.005026548245743669 * v496;
  const double v589 = v489 * w->kept[8];
  const double v590 = v579 * v579;
  const double v591 = v589 * v590;
  const double v592 = v588 * v591 - v580;
  const double v593 = v592 * v575;
  w->kept[92] = v593;
  const double v594 = -0.005026548245743669 * v489;
  w->kept[84] = v594;
  const double v595 = w->theta[9] - w->p[0];
  const double v596 = w->theta[8] - w->p[0];
  const double v597 = w->kept[14] > 0.0 ? v595 : v596;
  const double v598 = fabs(v597);
  const double v599 = 200000.0 - v598;
  const double v600 = v598 > 200000.0 ? v598 : 200000.0;
  const double v601 = sqrt(v600);
  const double v602 = 1.0 / v601;
  const double v603 = 0.5 * v602;
  const double v604 = v599 > 0.0 ? v602 : v603;
  const double v605 = w->theta[12] * v604;
  const double v606 = 200000.0 - v582;
  const double v607 = 0.5 * v585;
  const double v608 = v606 > 0.0 ? v585 : v607;
  const double v609 = w->theta[11] * v608;
  const double v610 = w->kept[13] * v605 + v609;
  const double v611 = w->kept[14] * v605 + v610;
  const double v612 = w->kept[10] * v611 + w->kept[0];
  const double v613 = 1.0 / v612;
  w->kept[87] = v613;
  const double v614 = v579 * v609;
  const double v615 = v614 * v613;
  w->kept[88] = v615;
  const double v616 = w->kept[0] + v614;
  const double v617 = w->kept[10] * v609;
  w->kept[85] = v617;
  const double v618 = v616 - v617 * v615;
  const double v619 = v618 - v594 * v593;
  const double v620 = 1.0 / v619;
  w->kept[93] = v620;
  const double v621 = v307 * v420;
  const double v622 = v303 * v424 + v621;
  const double v623 = v448 + v622;
  const double v624 = v623 - v34 * v451;
  const double v625 = v32 * v460 + v624;
  const double v626 = w->theta[0] * v34 + v625;
  const double v627 = v626 - w->theta[1];
  const double v628 = v627 - w->theta[2] * v32;
  const double v629 = v489 * v540 - v628;
  const double v630 = v559 * v546 - w->pd[2];
  const double v631 = v629 - v573 * v630;
  const double v632 = v588 * v579 - w->pd[1];
  const double v633 = v597 * v602;
  const double v634 = w->theta[12] * v633;
  const double v635 = w->kept[13] * v634 - v587;
  const double v636 = w->kept[14] * v634 + v635;
  const double v637 = v636 * w->kept[10] - w->pd[0];
  const double v638 = v615 * v637 + v632;
  const double v639 = v638 - v593 * v631;
  const double v640 = v620 * v639;
  const double v641 = v631 - v594 * v640;
  const double v642 = v575 * v641;
  w->correction[0] = v642;
  const double v643 = v617 * v640 + v637;
  const double v644 = v613 * v643;
  w->correction[1] = v644;
  w->correction[2] = v640;
  const double v645 = v563 * v642 + v630;
  const double v646 = v572 * v645;
  w->correction[3] = v646;
  const double v647 = v34 * v642;
  const double v648 = 5.0 * v13 + v304;
  const double v649 = 10.0 - v24;
  const double v650 = v648 * v26 + v649;
  const double v651 = v28 * v650;
  const double v652 = v20 * v651 + v648;
  const double v653 = v25 * v652 + v647;
  const double v654 = -v653;
  w->closing[0] = v654;
  const double v655 = v32 * v642 + v651;
  w->closing[1] = v655;
  w->closure_pivot[0] = v24;
  w->closure_pivot[1] = v27;
  w->pivot[0] = v612;
  w->pivot[1] = v571;
  w->pivot[2] = v574;
  w->pivot[3] = v619;
}

static void four_bar_inertia(four_bar_work *w)
{
  (void)w;
  const double v0 = w->kept[3] * w->kept[23];
  const double v1 = w->kept[17] * w->kept[50];
  const double v2 = 1.0 - w->kept[33];
  w->kept[94] = v2;
  const double v3 = w->kept[25] * w->kept[32] + w->kept[17];
  const double v4 = w->kept[49] * v2 + v0;
  const double v5 = w->kept[50] * v2;
  const double v6 = w->kept[57] * v3;
  const double v7 = w->kept[23] * w->kept[49] - v1;
  const double v8 = w->kept[3] * w->kept[17] - v5;
  const double v9 = w->kept[32] + v2;
  w->kept[95] = v9;
  const double v10 = w->kept[57] * v9;
  const double v11 = w->kept[51] * v2 + v7;
  const double v12 = w->kept[4] * v3 - v10;
  const double v13 = v8 + v12;
  const double v14 = w->kept[23] - w->kept[24] * w->kept[32];
  const double v15 = w->kept[4] * v14;
  const double v16 = w->kept[56] * v9 + v15;
  const double v17 = v4 + v16;
  const double v18 = w->kept[24] * v16;
  const double v19 = w->kept[23] * v17;
  const double v20 = w->kept[56] * v14 - v6;
  const double v21 = w->kept[25] * v12 - v18;
  const double v22 = w->kept[17] * v13 + v19;
  const double v23 = w->kept[58] * v9 + v20;
  const double v24 = v23 + v21;
  const double v25 = v11 + v23;
  const double v26 = v25 + v22;
  const double v27 = v25 - w->kept[33] * w->kept[46];
  const double v28 = v26 - w->kept[33] * v27;
  const double v29 = w->kept[32] * v24 + v28;
  w->kept[96] = v29;
}

static void four_bar_transition(four_bar_work *w)
{
  (void)w;
  const double v0 = w->kept[36] + w->kept[36];
  const double v1 = w->kept[41] + w->kept[74];
  const double v2 = w->kept[16] * v0 + v1;
  const double v3 = w->kept[33] * w->kept[34] + w->kept[73];
  const double v4 = w->kept[19] * v3 + v1;
  const double v5 = v2 + v4;
  const double v6 = w->kept[37] + w->kept[37];
  const double v7 = w->kept[42] + w->kept[75];
  const double v8 = w->kept[15] * v6 + v7;
  const double v9 = w->kept[33] * w->kept[35] + w->kept[72];
  const double v10 = w->kept[18] * v9 + v7;
  const double v11 = v8 + v10;
  const double v12 = v5 - v11;
  const double v13 = w->kept[21] - w->kept[67];
  const double v14 = w->kept[68] + v13;
  const double v15 = w->kept[44] * v14;
  const double v16 = w->kept[40] * w->kept[70] + v15;
  const double v17 = w->kept[26] * v12 + v16;
  const double v18 = w->kept[32] * w->kept[45] + w->kept[78];
  const double v19 = w->kept[20] * v18 + v16;
  const double v20 = v19 + v17;
  const double v21 = w->kept[38] + w->kept[76];
  const double v22 = w->kept[16] * v6 - v21;
  const double v23 = w->kept[18] * v3 - v21;
  const double v24 = v22 + v23;
  const double v25 = w->kept[39] + w->kept[77];
  const double v26 = w->kept[15] * v0 - v25;
  const double v27 = w->kept[19] * v9 - v25;
  const double v28 = v26 + v27;
  const double v29 = v24 + v28;
  const double v30 = w->kept[45] * w->kept[69];
  const double v31 = w->kept[43] * w->kept[71] + v30;
  const double v32 = w->kept[27] * v29 + v31;
  const double v33 = w->kept[32] * w->kept[44] + w->kept[79];
  const double v34 = w->kept[22] * v33 + v31;
  const double v35 = v34 + v32;
  const double v36 = v20 + v35;
  const double v37 = -8.0 * v29;
  const double v38 = -2.0 * v9 + v37;
  const double v39 = -5.0 * v36 + v38;
  const double v40 = w->kept[45] * v14;
  const double v41 = w->kept[40] * w->kept[71] + v40;
  const double v42 = w->kept[27] * v12 - v41;
  const double v43 = w->kept[20] * v33 - v41;
  const double v44 = v43 + v42;
  const double v45 = w->kept[44] * w->kept[69];
  const double v46 = w->kept[43] * w->kept[70] + v45;
  const double v47 = v46 - w->kept[26] * v29;
  const double v48 = v46 - w->kept[22] * v18;
  const double v49 = v48 + v47;
  const double v50 = v44 + v49;
  const double v51 = -8.0 * v12;
  const double v52 = -2.0 * v3 + v51;
  const double v53 = -5.0 * v50 + v52;
  const double v54 = w->kept[30] * v39 - v53;
  const double v55 = w->kept[31] * v54;
  const double v56 = w->kept[28] * v55 + v39;
  const double v57 = w->kept[29] * v56;
  const double v58 = v55 - v57;
  const double v59 = w->kept[24] * v55;
  const double v60 = 2.0 * w->kept[32];
  const double v61 = w->kept[55] * v60 - v59;
  const double v62 = -2.0 * w->kept[48];
  const double v63 = v62 + v61;
  const double v64 = w->kept[54] * v60;
  const double v65 = w->kept[25] * v55 + v64;
  const double v66 = 2.0 * w->kept[47];
  const double v67 = v66 + v65;
  const double v68 = w->kept[57] * v67;
  const double v69 = w->kept[56] * v63 - v68;
  const double v70 = w->kept[58] * v58 + v69;
  const double v71 = 2.0 * w->kept[95];
  const double v72 = w->kept[81] * v71 + v70;
  const double v73 = w->kept[57] * v58;
  const double v74 = w->kept[4] * v67 - v73;
  const double v75 = v74 - w->kept[60] * v71;
  const double v76 = w->kept[4] * v63;
  const double v77 = w->kept[56] * v58 + v76;
  const double v78 = w->kept[59] * v71 + v77;
  const double v79 = w->kept[24] * v78;
  const double v80 = w->kept[25] * v75 - v79;
  const double v81 = v72 + v80;
  const double v82 = w->kept[50] * v66;
  const double v83 = w->kept[49] * v62 - v82;
  const double v84 = v83 - w->kept[51] * v57;
  const double v85 = 2.0 * w->kept[94];
  const double v86 = w->kept[80] * v85 + v84;
  const double v87 = v86 + v72;
  const double v88 = w->kept[3] * v66;
  const double v89 = w->kept[50] * v57 + v88;
  const double v90 = v89 - w->kept[53] * v85;
  const double v91 = v90 + v75;
  const double v92 = w->kept[49] * v57;
  const double v93 = w->kept[3] * v62 - v92;
  const double v94 = w->kept[52] * v85 + v93;
  const double v95 = v94 + v78;
  const double v96 = w->kept[23] * v95;
  const double v97 = w->kept[17] * v91 + v96;
  const double v98 = v87 + v97;
  const double v99 = v87 - w->kept[46] * v57;
  const double v100 = v98 - w->kept[33] * v99;
  const double v101 = w->kept[32] * v81 + v100;
  const double v102 = 80.0 * w->kept[61];
  const double v103 = w->kept[62] * v102;
  const double v104 = v103 + v103;
  const double v105 = 0.25 * v104;
  const double v106 = w->kept[64] * v105;
  const double v107 = w->kept[63] * v106;
  const double v108 = v107 + v107;
  const double v109 = w->kept[62] * v108;
  const double v110 = w->kept[64] * v102 - v109;
  const double v111 = 320.0 * w->kept[61];
  const double v112 = w->kept[82] * v111;
  const double v113 = 231.0 * v112;
  const double v114 = 682.0 * v110 + v113;
  const double v115 = 362.7565358052813 * w->kept[61] + v114;
  const double v116 = w->theta[7] * v115;
  const double v117 = w->kept[61] * v116 + v101;
  const double v118 = w->kept[0] * w->kept[96];
  const double v119 = v117 + v118;
  const double v120 = w->kept[0] * v119;
  const double v121 = w->A[0] * w->kept[96] + v120;
  const double v122 = w->kept[66] * w->kept[86];
  const double v123 = w->A[15] - w->kept[0] * v122;
  const double v124 = v121 - w->kept[90] * v123;
  const double v125 = w->kept[65] * w->kept[84];
  const double v126 = w->A[10] - w->kept[0] * v125;
  const double v127 = v126 - w->kept[92] * v124;
  const double v128 = w->kept[93] * v127;
  const double v129 = w->kept[84] * w->kept[91];
  const double v130 = v128 * v129;
  const double v131 = w->kept[91] * v124 - v130;
  w->F[0] = v131;
  const double v132 = w->kept[11] * w->kept[96] + v117;
  const double v133 = w->A[1] * w->kept[96] + v132;
  const double v134 = w->A[16] - v122;
  const double v135 = v133 - w->kept[90] * v134;
  const double v136 = w->A[11] - v125;
  const double v137 = v136 - w->kept[92] * v135;
  const double v138 = w->kept[93] * v137;
  const double v139 = v129 * v138;
  const double v140 = w->kept[91] * v135 - v139;
  w->F[1] = v140;
  const double v141 = w->A[7] + w->kept[0];
  const double v142 = w->kept[88] * v141 + w->A[12];
  const double v143 = w->kept[84] * w->kept[93];
  const double v144 = w->kept[91] * v143;
  const double v145 = v142 * v144;
  const double v146 = -v145;
  w->F[2] = v146;
  const double v147 = w->kept[0] - w->A[12];
  const double v148 = w->A[8] * w->kept[88] + v147;
  const double v149 = w->A[3] * w->kept[96];
  const double v150 = v148 - w->kept[92] * v149;
  const double v151 = w->kept[93] * v150;
  const double v152 = v129 * v151;
  const double v153 = w->kept[91] * v149 - v152;
  w->F[3] = v153;
  const double v154 = w->kept[92] * w->kept[93];
  const double v155 = w->kept[84] * v154 + 1.0;
  const double v156 = w->kept[91] * v155;
  const double v157 = w->kept[0] * w->kept[90];
  const double v158 = w->kept[92] * v157;
  const double v159 = w->kept[93] * v158;
  const double v160 = v129 * v159;
  const double v161 = w->kept[91] * v157 + v160;
  const double v162 = w->A[19] + w->kept[0];
  const double v163 = v162 * w->kept[12];
  const double v164 = v163 * v161;
  const double v165 = -0.8085937500000001 * v149;
  const double v166 = v165 * v156 - v164;
  w->F[4] = v166;
  const double v167 = v131 - 1.0;
  const double v168 = w->kept[0] * v167;
  w->F[5] = v168;
  const double v169 = w->kept[0] * v140 - 1.0;
  w->F[6] = v169;
  const double v170 = w->kept[0] * v145;
  const double v171 = -v170;
  w->F[7] = v171;
  const double v172 = w->kept[0] * v153;
  w->F[8] = v172;
  const double v173 = w->kept[0] * v166;
  w->F[9] = v173;
  const double v174 = w->kept[85] * w->kept[87];
  const double v175 = v174 * v128;
  w->F[10] = v175;
  const double v176 = v174 * v138;
  w->F[11] = v176;
  const double v177 = w->kept[93] * v142;
  const double v178 = v177 * v174;
  const double v179 = w->kept[87] * v141 + v178;
  w->F[12] = v179;
  const double v180 = v174 * v151;
  const double v181 = w->A[8] * w->kept[87] + v180;
  w->F[13] = v181;
  const double v182 = v174 * v159;
  const double v183 = w->kept[85] * v154;
  const double v184 = w->kept[87] * v183;
  const double v185 = v165 * v184;
  const double v186 = v163 * v182 - v185;
  w->F[14] = v186;
  w->F[15] = v128;
  w->F[16] = v138;
  w->F[17] = v177;
  w->F[18] = v151;
  const double v187 = v165 * v154;
  const double v188 = v163 * v159 - v187;
  w->F[19] = v188;
  const double v189 = w->kept[83] * w->kept[89];
  const double v190 = v131 * v189;
  const double v191 = w->kept[89] * v123 + v190;
  w->F[20] = v191;
  const double v192 = v189 * v140;
  const double v193 = w->kept[89] * v134 + v192;
  w->F[21] = v193;
  const double v194 = w->kept[83] * v144;
  const double v195 = w->kept[89] * v194;
  const double v196 = v142 * v195;
  const double v197 = -v196;
  w->F[22] = v197;
  const double v198 = v189 * v153;
  w->F[23] = v198;
  const double v199 = w->kept[83] * v156;
  const double v200 = w->kept[89] * v199;
  const double v201 = v189 * v161;
  const double v202 = w->kept[0] * w->kept[89] - v201;
  const double v203 = v163 * v202;
  const double v204 = v165 * v200 + v203;
  w->F[24] = v204;
  const double v205 = v118 * v156;
  w->N[0] = v205;
  const double v206 = w->kept[0] * w->kept[88];
  const double v207 = w->kept[93] * v206;
  const double v208 = v129 * v207;
  const double v209 = -v208;
  w->N[1] = v209;
  const double v210 = w->kept[0] * v144;
  const double v211 = -v210;
  w->N[2] = v211;
  const double v212 = -v161;
  w->N[3] = v212;
  const double v213 = w->kept[0] * v205;
  w->N[4] = v213;
  const double v214 = w->kept[0] * v208;
  const double v215 = -v214;
  w->N[5] = v215;
  const double v216 = w->kept[0] * v210;
  const double v217 = -v216;
  w->N[6] = v217;
  const double v218 = w->kept[0] * v161;
  const double v219 = -v218;
  w->N[7] = v219;
  const double v220 = v118 * v184;
  const double v221 = -v220;
  w->N[8] = v221;
  const double v222 = v174 * v207;
  const double v223 = w->kept[0] * w->kept[87] + v222;
  w->N[9] = v223;
  const double v224 = w->kept[85] * w->kept[93];
  const double v225 = w->kept[87] * v224;
  const double v226 = w->kept[0] * v225;
  w->N[10] = v226;
  w->N[11] = v182;
  const double v227 = v118 * v154;
  const double v228 = -v227;
  w->N[12] = v228;
  w->N[13] = v207;
  const double v229 = w->kept[0] * w->kept[93];
  w->N[14] = v229;
  w->N[15] = v159;
  const double v230 = v118 * v200;
  w->N[16] = v230;
  const double v231 = v189 * v208;
  const double v232 = -v231;
  w->N[17] = v232;
  const double v233 = w->kept[0] * v195;
  const double v234 = -v233;
  w->N[18] = v234;
  w->N[19] = v202;
}

static void four_bar_place(four_bar_work *w)
{
  (void)w;
  double v0, v1;
  bramah__sincos(w->z[0], &v0, &v1);
  double v2, v3;
  bramah__sincos(w->z[1], &v2, &v3);
  const double v4 = v0 * v2;
  const double v5 = v1 * v3 - v4;
  const double v6 = v0 * v3;
  const double v7 = v1 * v2 + v6;
  double v8, v9;
  bramah__sincos(w->z[2], &v8, &v9);
  const double v10 = v7 * v9;
  const double v11 = v5 * v8 + v10;
  const double v12 = -5.0 * v11;
  const double v13 = -8.0 * v7;
  const double v14 = -2.0 * v0 + v13;
  const double v15 = v14 + v12;
  const double v16 = v7 * v8;
  const double v17 = v5 * v9 - v16;
  const double v18 = 5.0 * v17;
  const double v19 = 8.0 * v5;
  const double v20 = 2.0 * v1 + v19;
  const double v21 = v20 + v18;
  const double v22 = 1.0 / v21;
  const double v23 = v15 * v22;
  const double v24 = v12 - v18 * v23;
  const double v25 = 1.0 / v24;
  const double v26 = 8.0 * v7;
  const double v27 = 2.0 * v0 + v26;
  const double v28 = 5.0 * v11 + v27;
  const double v29 = 10.0 - v21;
  const double v30 = v28 * v23 + v29;
  const double v31 = v25 * v30;
  const double v32 = v18 * v31 + v28;
  const double v33 = v22 * v32;
  const double v34 = -v33;
  w->closing[0] = v34;
  w->closing[1] = v31;
  w->closure_pivot[0] = v21;
  w->closure_pivot[1] = v24;
}

static void four_bar_pose(four_bar_work *w)
{
  (void)w;
  double v0, v1;
  bramah__sincos(w->z[0], &v0, &v1);
  w->kept[97] = v0;
  w->kept[98] = v1;
  double v2, v3;
  bramah__sincos(w->z[1], &v2, &v3);
  w->kept[100] = v2;
  w->kept[101] = v3;
  const double v4 = v1 * v3;
  w->kept[102] = v4;
  const double v5 = v0 * v2;
  w->kept[103] = v5;
  const double v6 = v4 - v5;
  w->kept[104] = v6;
  const double v7 = v1 * v2;
  w->kept[105] = v7;
  const double v8 = v0 * v3;
  w->kept[106] = v8;
  const double v9 = v7 + v8;
  w->kept[107] = v9;
  double v10, v11;
  bramah__sincos(w->z[2], &v10, &v11);
  w->kept[111] = v10;
  w->kept[112] = v11;
  const double v12 = v9 * v11;
  const double v13 = v6 * v10 + v12;
  const double v14 = -5.0 * v13;
  const double v15 = -8.0 * v9;
  const double v16 = -2.0 * v0 + v15;
  const double v17 = v16 + v14;
  w->kept[114] = v17;
  const double v18 = v9 * v10;
  const double v19 = v6 * v11 - v18;
  const double v20 = 5.0 * v19;
  w->kept[113] = v20;
  const double v21 = 8.0 * v6;
  const double v22 = 2.0 * v1;
  const double v23 = v22 + v21;
  w->kept[109] = v23;
  const double v24 = v23 + v20;
  const double v25 = 1.0 / v24;
  w->kept[116] = v25;
  const double v26 = v17 * v25;
  w->kept[117] = v26;
  const double v27 = v14 - v20 * v26;
  const double v28 = 1.0 / v27;
  w->kept[118] = v28;
  const double v29 = v21 + v20;
  w->kept[115] = v29;
  const double v30 = v15 + v14;
  const double v31 = v29 * v26 - v30;
  w->kept[119] = v31;
  const double v32 = v28 * v31;
  w->kept[120] = v32;
  const double v33 = v20 * v32 + v29;
  w->kept[121] = v33;
  const double v34 = v25 * v33;
  w->kept[122] = v34;
  const double v35 = w->zd[0] * v34;
  w->kept[124] = v35;
  const double v36 = -v35;
  w->kept[125] = v36;
  w->zd_all[0] = v36;
  w->zd_all[1] = w->zd[0];
  const double v37 = w->zd[0] * v32;
  w->kept[126] = v37;
  w->zd_all[2] = v37;
  const double v38 = v0 * v0;
  const double v39 = v1 - -1.0;
  w->kept[142] = v39;
  const double v40 = v39 * v39 + v38;
  const double v41 = sqrt(v40);
  w->kept[143] = v41;
  w->stroke[0] = v41;
  const double v42 = v0 * v35;
  w->kept[128] = v42;
  const double v43 = v42 * v39;
  const double v44 = v43 + v43;
  const double v45 = v1 * v35;
  w->kept[127] = v45;
  const double v46 = v0 * v45;
  const double v47 = v46 + v46;
  const double v48 = v44 - v47;
  w->kept[146] = v48;
  const double v49 = 1.0 / v41;
  w->kept[144] = v49;
  const double v50 = 0.5 * v49;
  w->kept[145] = v50;
  const double v51 = v50 * v48;
  w->kept[147] = v51;
  w->velocity[0] = v51;
  const double v52 = 80.0 * v51;
  w->kept[148] = v52;
  const double v53 = v52 * v52;
  const double v54 = 0.25 * v53 + 0.75;
  const double v55 = 1.0 / v54;
  w->kept[149] = v55;
  const double v56 = v55 * v55;
  w->kept[150] = v56;
  const double v57 = v52 * v56;
  const double v58 = 320.0 * v51;
  const double v59 = bramah__tanh(v58);
  w->kept[151] = v59;
  const double v60 = 231.0 * v59;
  const double v61 = 682.0 * v57 + v60;
  const double v62 = 362.7565358052813 * v51 + v61;
  const double v63 = w->theta[7] * v62;
  const double v64 = 0.004064435495581795 * w->p[2];
  const double v65 = 0.005026548245743669 * w->p[1] - v64;
  const double v66 = v65 - v63;
  const double v67 = w->theta[6] + v66;
  w->kept[152] = v67;
  w->force[0] = v67;
  const double v68 = -v34;
  w->kept[123] = v68;
  w->Rz[0] = v68;
  w->Rz[1] = 1.0;
  w->Rz[2] = v32;
  w->friction[0] = v63;
  const double v69 = 2.0 * v0;
  w->kept[99] = v69;
  const double v70 = -2.0 * v1;
  w->kept[108] = v70;
  const double v71 = w->kept[2] * v0;
  w->kept[129] = v71;
  const double v72 = w->zd[0] * v69;
  w->kept[130] = v72;
  const double v73 = w->zd[0] * v70;
  w->kept[131] = v73;
  const double v74 = 4.0 * v6 + v22;
  w->kept[133] = v74;
  const double v75 = 8.0 * v9 + v69;
  w->kept[110] = v75;
  const double v76 = 4.0 * v9 + v69;
  w->kept[134] = v76;
  const double v77 = 2.5 * v13 + v75;
  w->kept[140] = v77;
  const double v78 = w->kept[3] * v76;
  w->kept[135] = v78;
  const double v79 = w->kept[4] * v77;
  w->kept[141] = v79;
  const double v80 = 2.5 * v19 + v23;
  w->kept[139] = v80;
  const double v81 = v75 * v37 + v72;
  w->kept[136] = v81;
  const double v82 = w->zd[0] - v35;
  w->kept[132] = v82;
  const double v83 = v73 - v23 * v37;
  w->kept[137] = v83;
  const double v84 = v37 + v82;
  w->kept[138] = v84;
}

static void four_bar_ends(four_bar_work *w)
{
  (void)w;
  const double v0 = w->zd[0] * w->kept[101];
  w->kept[153] = v0;
  const double v1 = w->zd[0] * v0;
  w->kept[168] = v1;
  const double v2 = w->kept[98] * v1;
  w->kept[169] = v2;
  const double v3 = w->zd[0] * w->kept[100];
  w->kept[154] = v3;
  const double v4 = w->kept[128] * v3;
  w->kept[170] = v4;
  const double v5 = v2 + v4;
  const double v6 = w->kept[124] * w->kept[127];
  const double v7 = w->kept[101] * v6;
  w->kept[171] = v7;
  const double v8 = v4 + v7;
  const double v9 = v5 + v8;
  const double v10 = w->zd[0] * v3;
  w->kept[167] = v10;
  const double v11 = w->kept[97] * v10;
  w->kept[172] = v11;
  const double v12 = w->kept[127] * v0;
  w->kept[173] = v12;
  const double v13 = v11 + v12;
  const double v14 = w->kept[124] * w->kept[128];
  const double v15 = w->kept[100] * v14;
  w->kept[174] = v15;
  const double v16 = v12 + v15;
  const double v17 = v13 + v16;
  const double v18 = v9 - v17;
  w->kept[175] = v18;
  const double v19 = w->kept[98] * v3;
  w->kept[155] = v19;
  const double v20 = w->kept[101] * w->kept[128];
  w->kept[156] = v20;
  const double v21 = v19 - v20;
  const double v22 = w->kept[97] * v0;
  w->kept[157] = v22;
  const double v23 = w->kept[100] * w->kept[127];
  w->kept[158] = v23;
  const double v24 = v22 - v23;
  const double v25 = v21 + v24;
  w->kept[159] = v25;
  const double v26 = w->kept[112] * w->kept[126];
  w->kept[165] = v26;
  const double v27 = v25 * v26;
  const double v28 = w->kept[111] * v18 + v27;
  const double v29 = w->kept[111] * w->kept[126];
  w->kept[166] = v29;
  const double v30 = w->kept[126] * v29;
  w->kept[183] = v30;
  const double v31 = w->kept[104] * v30 + v27;
  const double v32 = v31 + v28;
  const double v33 = w->kept[98] * v10;
  w->kept[176] = v33;
  const double v34 = w->kept[128] * v0;
  w->kept[177] = v34;
  const double v35 = v33 - v34;
  const double v36 = w->kept[100] * v6;
  w->kept[178] = v36;
  const double v37 = v36 - v34;
  const double v38 = v35 + v37;
  const double v39 = w->kept[97] * v1;
  w->kept[179] = v39;
  const double v40 = w->kept[127] * v3;
  w->kept[180] = v40;
  const double v41 = v39 - v40;
  const double v42 = w->kept[101] * v14;
  w->kept[181] = v42;
  const double v43 = v42 - v40;
  const double v44 = v41 + v43;
  const double v45 = v38 + v44;
  w->kept[182] = v45;
  const double v46 = w->kept[98] * v0;
  w->kept[160] = v46;
  const double v47 = w->kept[100] * w->kept[128];
  w->kept[161] = v47;
  const double v48 = v46 + v47;
  const double v49 = w->kept[97] * v3;
  w->kept[162] = v49;
  const double v50 = w->kept[101] * w->kept[127];
  w->kept[163] = v50;
  const double v51 = v49 + v50;
  const double v52 = v48 - v51;
  w->kept[164] = v52;
  const double v53 = v52 * v29;
  const double v54 = w->kept[112] * v45 + v53;
  const double v55 = w->kept[126] * v26;
  w->kept[184] = v55;
  const double v56 = w->kept[107] * v55 + v53;
  const double v57 = v56 + v54;
  const double v58 = v32 + v57;
  const double v59 = -8.0 * v45;
  const double v60 = -2.0 * v14 + v59;
  const double v61 = -5.0 * v58 + v60;
  w->kept[185] = v61;
  const double v62 = v25 * v29;
  const double v63 = w->kept[112] * v18 - v62;
  const double v64 = w->kept[104] * v55 - v62;
  const double v65 = v64 + v63;
  const double v66 = v52 * v26;
  const double v67 = v66 - w->kept[111] * v45;
  const double v68 = v66 - w->kept[107] * v30;
  const double v69 = v68 + v67;
  const double v70 = v65 + v69;
  const double v71 = -8.0 * v18;
  const double v72 = -2.0 * v6 + v71;
  const double v73 = -5.0 * v70 + v72;
  const double v74 = w->kept[117] * v61 - v73;
  w->kept[186] = v74;
  const double v75 = w->kept[118] * v74;
  w->kept[187] = v75;
  const double v76 = w->kept[113] * v75 + v61;
  w->kept[188] = v76;
  const double v77 = w->kept[116] * v76;
  const double v78 = w->zdd[0] * w->kept[122] + v77;
  const double v79 = -v78;
  w->kept[189] = v79;
  w->zdd_all[0] = v79;
  w->zdd_all[1] = w->zdd[0];
  const double v80 = w->zdd[0] * w->kept[120] + v75;
  w->kept[190] = v80;
  w->zdd_all[2] = v80;
}

static void four_bar_flows(four_bar_work *w)
{
  (void)w;
  const double v0 = w->theta[9] - w->p[0];
  const double v1 = w->theta[8] - w->p[0];
  const double v2 = w->kept[14] > 0.0 ? v0 : v1;
  const double v3 = fabs(v2);
  w->kept[193] = v3;
  const double v4 = v3 > 200000.0 ? v3 : 200000.0;
  const double v5 = sqrt(v4);
  const double v6 = 1.0 / v5;
  w->kept[194] = v6;
  const double v7 = v2 * v6;
  const double v8 = w->theta[12] * v7;
  const double v9 = w->p[0] - w->p[1];
  const double v10 = fabs(v9);
  w->kept[191] = v10;
  const double v11 = v10 > 200000.0 ? v10 : 200000.0;
  const double v12 = sqrt(v11);
  const double v13 = 1.0 / v12;
  w->kept[192] = v13;
  const double v14 = v9 * v13;
  const double v15 = w->theta[11] * v14;
  const double v16 = w->kept[13] * v8 - v15;
  const double v17 = w->kept[14] * v8 + v16;
  const double v18 = v17 * w->kept[10];
  w->kept[199] = v18;
  w->pd_state[0] = v18;
  const double v19 = v15 - 0.005026548245743669 * w->kept[147];
  w->kept[197] = v19;
  const double v20 = w->kept[143] + -1.4320508075688771;
  const double v21 = v20 * w->kept[8] + w->kept[6];
  const double v22 = 1.0 / v21;
  w->kept[200] = v22;
  const double v23 = v19 * v22;
  w->kept[201] = v23;
  w->pd_state[1] = v23;
  const double v24 = w->theta[8] - w->p[2];
  const double v25 = w->theta[9] - w->p[2];
  const double v26 = w->kept[14] > 0.0 ? v24 : v25;
  const double v27 = fabs(v26);
  w->kept[195] = v27;
  const double v28 = v27 > 200000.0 ? v27 : 200000.0;
  const double v29 = sqrt(v28);
  const double v30 = 1.0 / v29;
  w->kept[196] = v30;
  const double v31 = v26 * v30;
  const double v32 = w->theta[12] * v31;
  const double v33 = w->kept[14] * v32;
  const double v34 = w->kept[13] * v32 + v33;
  const double v35 = v34 - -0.004064435495581795 * w->kept[147];
  w->kept[198] = v35;
  const double v36 = 2.3320508075688773 - w->kept[143];
  const double v37 = v36 * w->kept[9] + w->kept[7];
  const double v38 = 1.0 / v37;
  w->kept[202] = v38;
  const double v39 = v35 * v38;
  w->kept[203] = v39;
  w->pd_state[2] = v39;
}

static void four_bar_rates(four_bar_work *w)
{
  (void)w;
  const double v0 = w->zd[0] * w->kept[101];
  w->kept[204] = v0;
  const double v1 = w->zd[0] * v0;
  w->kept[219] = v1;
  const double v2 = w->kept[98] * v1;
  w->kept[220] = v2;
  const double v3 = w->zd[0] * w->kept[100];
  w->kept[205] = v3;
  const double v4 = w->kept[128] * v3;
  w->kept[221] = v4;
  const double v5 = v2 + v4;
  const double v6 = w->kept[124] * w->kept[127];
  const double v7 = w->kept[101] * v6;
  w->kept[222] = v7;
  const double v8 = v4 + v7;
  const double v9 = v5 + v8;
  const double v10 = w->zd[0] * v3;
  w->kept[218] = v10;
  const double v11 = w->kept[97] * v10;
  w->kept[223] = v11;
  const double v12 = w->kept[127] * v0;
  w->kept[224] = v12;
  const double v13 = v11 + v12;
  const double v14 = w->kept[124] * w->kept[128];
  const double v15 = w->kept[100] * v14;
  w->kept[225] = v15;
  const double v16 = v12 + v15;
  const double v17 = v13 + v16;
  const double v18 = v9 - v17;
  w->kept[226] = v18;
  const double v19 = w->kept[98] * v3;
  w->kept[206] = v19;
  const double v20 = w->kept[101] * w->kept[128];
  w->kept[207] = v20;
  const double v21 = v19 - v20;
  const double v22 = w->kept[97] * v0;
  w->kept[208] = v22;
  const double v23 = w->kept[100] * w->kept[127];
  w->kept[209] = v23;
  const double v24 = v22 - v23;
  const double v25 = v21 + v24;
  w->kept[210] = v25;
  const double v26 = w->kept[112] * w->kept[126];
  w->kept[216] = v26;
  const double v27 = v25 * v26;
  const double v28 = w->kept[111] * v18 + v27;
  const double v29 = w->kept[111] * w->kept[126];
  w->kept[217] = v29;
  const double v30 = w->kept[126] * v29;
  w->kept[234] = v30;
  const double v31 = w->kept[104] * v30 + v27;
  const double v32 = v31 + v28;
  const double v33 = w->kept[98] * v10;
  w->kept[227] = v33;
  const double v34 = w->kept[128] * v0;
  w->kept[228] = v34;
  const double v35 = v33 - v34;
  const double v36 = w->kept[100] * v6;
  w->kept[229] = v36;
  const double v37 = v36 - v34;
  const double v38 = v35 + v37;
  const double v39 = w->kept[97] * v1;
  w->kept[230] = v39;
  const double v40 = w->kept[127] * v3;
  w->kept[231] = v40;
  const double v41 = v39 - v40;
  const double v42 = w->kept[101] * v14;
  w->kept[232] = v42;
  const double v43 = v42 - v40;
  const double v44 = v41 + v43;
  const double v45 = v38 + v44;
  w->kept[233] = v45;
  const double v46 = w->kept[98] * v0;
  w->kept[211] = v46;
  const double v47 = w->kept[100] * w->kept[128];
  w->kept[212] = v47;
  const double v48 = v46 + v47;
  const double v49 = w->kept[97] * v3;
  w->kept[213] = v49;
  const double v50 = w->kept[101] * w->kept[127];
  w->kept[214] = v50;
  const double v51 = v49 + v50;
  const double v52 = v48 - v51;
  w->kept[215] = v52;
  const double v53 = v52 * v29;
  const double v54 = w->kept[112] * v45 + v53;
  const double v55 = w->kept[126] * v26;
  w->kept[235] = v55;
  const double v56 = w->kept[107] * v55 + v53;
  const double v57 = v56 + v54;
  const double v58 = v32 + v57;
  const double v59 = -8.0 * v45;
  const double v60 = -2.0 * v14 + v59;
  const double v61 = -5.0 * v58 + v60;
  w->kept[236] = v61;
  const double v62 = v25 * v29;
  const double v63 = w->kept[112] * v18 - v62;
  const double v64 = w->kept[104] * v55 - v62;
  const double v65 = v64 + v63;
  const double v66 = v52 * v26;
  const double v67 = v66 - w->kept[111] * v45;
  const double v68 = v66 - w->kept[107] * v30;
  const double v69 = v68 + v67;
  const double v70 = v65 + v69;
  const double v71 = -8.0 * v18;
  const double v72 = -2.0 * v6 + v71;
  const double v73 = -5.0 * v70 + v72;
  const double v74 = w->kept[117] * v61 - v73;
  w->kept[237] = v74;
  const double v75 = w->kept[118] * v74;
  w->kept[238] = v75;
  const double v76 = w->kept[113] * v75 + v61;
  w->kept[239] = v76;
  const double v77 = w->kept[116] * v76;
  w->kept[240] = v77;
  const double v78 = v75 - v77;
  const double v79 = w->kept[110] * w->kept[132] - w->kept[130];
  w->kept[251] = v79;
  const double v80 = w->kept[126] * v79;
  w->kept[253] = v80;
  const double v81 = v80 - w->kept[109] * v75;
  const double v82 = w->kept[99] * w->kept[124];
  w->kept[243] = v82;
  const double v83 = w->zd[0] * v82;
  w->kept[245] = v83;
  const double v84 = w->kept[5] - v83;
  const double v85 = v84 + v81;
  const double v86 = w->kept[109] * w->kept[132] + w->kept[131];
  w->kept[250] = v86;
  const double v87 = w->kept[126] * v86;
  w->kept[252] = v87;
  const double v88 = w->kept[110] * v75 + v87;
  const double v89 = w->kept[108] * w->kept[124];
  w->kept[242] = v89;
  const double v90 = w->zd[0] * v89;
  w->kept[244] = v90;
  const double v91 = v90 + v88;
  const double v92 = w->kept[141] * v91;
  const double v93 = w->kept[4] * w->kept[139];
  w->kept[254] = v93;
  const double v94 = v93 * v85 - v92;
  const double v95 = w->kept[139] * v93;
  const double v96 = w->kept[140] * w->kept[141] + v95;
  const double v97 = 83.33333333333333 + v96;
  w->kept[255] = v97;
  const double v98 = v97 * v78 + v94;
  const double v99 = w->kept[4] * w->kept[137];
  const double v100 = w->kept[138] * v93 + v99;
  w->kept[257] = v100;
  const double v101 = w->kept[138] * w->kept[141];
  const double v102 = w->kept[4] * w->kept[136] - v101;
  w->kept[256] = v102;
  const double v103 = w->kept[137] * v102;
  const double v104 = w->kept[136] * v100 - v103;
  w->kept[264] = v104;
  const double v105 = v104 + v98;
  const double v106 = w->kept[141] * v78;
  const double v107 = w->kept[4] * v91 - v106;
  const double v108 = w->kept[138] * v100;
  w->kept[262] = v108;
  const double v109 = v107 - v108;
  const double v110 = w->kept[4] * v85;
  const double v111 = v93 * v78 + v110;
  const double v112 = w->kept[138] * v102;
  w->kept[263] = v112;
  const double v113 = v112 + v111;
  const double v114 = w->kept[109] * v113;
  const double v115 = w->kept[110] * v109 - v114;
  const double v116 = v105 + v115;
  const double v117 = w->kept[3] * w->kept[133];
  w->kept[246] = v117;
  const double v118 = v90 * w->kept[135];
  const double v119 = v117 * v84 - v118;
  const double v120 = w->kept[133] * v117;
  const double v121 = w->kept[134] * w->kept[135] + v120;
  const double v122 = 341.3333333333333 + v121;
  w->kept[247] = v122;
  const double v123 = v119 - v77 * v122;
  const double v124 = w->kept[3] * w->kept[131];
  const double v125 = w->kept[132] * v117 + v124;
  w->kept[249] = v125;
  const double v126 = w->kept[132] * w->kept[135];
  const double v127 = w->kept[3] * w->kept[130] - v126;
  w->kept[248] = v127;
  const double v128 = w->kept[131] * v127;
  const double v129 = w->kept[130] * v125 - v128;
  w->kept[261] = v129;
  const double v130 = v129 + v123;
  const double v131 = v130 + v105;
  const double v132 = w->kept[3] * v90;
  const double v133 = v77 * w->kept[135] + v132;
  const double v134 = w->kept[132] * v125;
  w->kept[259] = v134;
  const double v135 = v133 - v134;
  const double v136 = v135 + v109;
  const double v137 = v77 * v117;
  const double v138 = w->kept[3] * v84 - v137;
  const double v139 = w->kept[132] * v127;
  w->kept[260] = v139;
  const double v140 = v139 + v138;
  const double v141 = v140 + v113;
  const double v142 = w->kept[108] * v141;
  const double v143 = w->kept[99] * v136 + v142;
  const double v144 = v131 + v143;
  const double v145 = w->kept[2] * w->kept[98];
  const double v146 = w->kept[98] * v145;
  const double v147 = w->kept[97] * w->kept[129] + v146;
  const double v148 = 5.333333333333333 + v147;
  w->kept[241] = v148;
  const double v149 = w->kept[5] * v145;
  w->kept[258] = v149;
  const double v150 = v149 - v77 * v148;
  const double v151 = v150 + v131;
  const double v152 = v144 - w->kept[122] * v151;
  const double v153 = w->kept[120] * v116 + v152;
  const double v154 = w->theta[0] * w->kept[122] + v153;
  const double v155 = v154 - w->theta[1];
  const double v156 = v155 - w->theta[2] * w->kept[120];
  const double v157 = w->kept[97] * w->kept[122];
  w->kept[266] = v157;
  const double v158 = w->kept[142] * v157;
  const double v159 = v158 + v158;
  const double v160 = w->kept[98] * w->kept[122];
  w->kept[265] = v160;
  const double v161 = w->kept[97] * v160;
  const double v162 = v161 + v161;
  const double v163 = v159 - v162;
  w->kept[267] = v163;
  const double v164 = v163 * w->kept[145];
  w->kept[268] = v164;
  const double v165 = v164 * w->kept[152] - v156;
  const double v166 = w->kept[99] * w->kept[135];
  const double v167 = w->kept[108] * v117 - v166;
  const double v168 = 1.0 - w->kept[122];
  w->kept[269] = v168;
  const double v169 = v122 * v168 + v167;
  const double v170 = w->kept[108] - w->kept[109] * w->kept[120];
  const double v171 = w->kept[110] * w->kept[120] + w->kept[99];
  const double v172 = w->kept[141] * v171;
  const double v173 = v93 * v170 - v172;
  const double v174 = w->kept[120] + v168;
  w->kept[270] = v174;
  const double v175 = v97 * v174 + v173;
  const double v176 = v169 + v175;
  const double v177 = w->kept[3] * w->kept[108];
  const double v178 = v117 * v168 + v177;
  const double v179 = w->kept[4] * v170;
  const double v180 = v93 * v174 + v179;
  const double v181 = v178 + v180;
  const double v182 = w->kept[108] * v181;
  const double v183 = w->kept[135] * v168;
  const double v184 = w->kept[3] * w->kept[99] - v183;
  const double v185 = w->kept[141] * v174;
  const double v186 = w->kept[4] * v171 - v185;
  const double v187 = v184 + v186;
  const double v188 = w->kept[99] * v187 + v182;
  const double v189 = v176 + v188;
  const double v190 = v176 - w->kept[122] * v148;
  const double v191 = v189 - w->kept[122] * v190;
  const double v192 = w->kept[109] * v180;
  const double v193 = w->kept[110] * v186 - v192;
  const double v194 = v175 + v193;
  const double v195 = w->kept[120] * v194 + v191;
  const double v196 = 1.0 / v195;
  w->kept[271] = v196;
  const double v197 = v196 * v165;
  w->kept[272] = v197;
  const double v198 = w->kept[122] * v197 + v77;
  w->kept[273] = v198;
  const double v199 = -v198;
  w->zdd_state[0] = v199;
  w->zdd_state[1] = v197;
  const double v200 = w->kept[120] * v197 + v75;
  w->kept[274] = v200;
  w->zdd_state[2] = v200;
  w->mass_pivot[0] = v195;
}

static void four_bar_slopes(four_bar_work *w)
{
  (void)w;
  const double v0 = w->kept[100] * w->kept[266] + w->kept[102];
  const double v1 = w->kept[101] * w->kept[265] + w->kept[103];
  const double v2 = v0 - v1;
  const double v3 = -8.0 * v2;
  const double v4 = 2.0 * w->kept[265] + v3;
  const double v5 = w->kept[111] * w->kept[120];
  const double v6 = w->kept[107] * v5;
  const double v7 = w->kept[112] * v2 - v6;
  const double v8 = w->kept[106] - w->kept[100] * w->kept[265];
  const double v9 = w->kept[101] * w->kept[266];
  const double v10 = v9 - w->kept[105];
  const double v11 = v10 - v8;
  const double v12 = w->kept[111] * v11;
  const double v13 = w->kept[112] * w->kept[120];
  const double v14 = w->kept[104] * v13 + v12;
  const double v15 = v14 + v7;
  const double v16 = -5.0 * v15;
  const double v17 = v4 + v16;
  const double v18 = w->kept[111] * v2;
  const double v19 = w->kept[107] * v13 + v18;
  const double v20 = w->kept[104] * v5;
  const double v21 = w->kept[112] * v11 - v20;
  const double v22 = v21 - v19;
  const double v23 = 5.0 * v22;
  const double v24 = 8.0 * v11;
  const double v25 = 2.0 * w->kept[266] + v24;
  const double v26 = v25 + v23;
  const double v27 = w->kept[116] * w->kept[116];
  const double v28 = v26 * v27;
  const double v29 = w->kept[114] * v28;
  const double v30 = w->kept[116] * v17 - v29;
  const double v31 = v24 + v23;
  const double v32 = w->kept[117] * v31;
  const double v33 = w->kept[115] * v30 + v32;
  const double v34 = v3 + v16;
  const double v35 = v33 - v34;
  const double v36 = w->kept[117] * v23;
  const double v37 = w->kept[113] * v30 + v36;
  const double v38 = v16 - v37;
  const double v39 = w->kept[118] * w->kept[118];
  const double v40 = v38 * v39;
  const double v41 = w->kept[119] * v40;
  const double v42 = w->kept[118] * v35 - v41;
  const double v43 = w->zd[0] * v42;
  const double v44 = w->kept[126] * v13;
  const double v45 = w->kept[111] * v43 + v44;
  const double v46 = w->kept[217] * v43;
  const double v47 = w->kept[126] * v45 + v46;
  const double v48 = w->kept[104] * v47;
  const double v49 = w->kept[234] * v11 + v48;
  const double v50 = w->kept[120] * v23;
  const double v51 = w->kept[113] * v42 + v50;
  const double v52 = v31 + v51;
  const double v53 = w->kept[121] * v28;
  const double v54 = w->kept[116] * v52 - v53;
  const double v55 = w->zd[0] * v54;
  const double v56 = w->kept[124] * w->kept[265];
  const double v57 = w->kept[97] * v55 - v56;
  const double v58 = w->kept[101] * v57 - w->kept[212];
  const double v59 = w->kept[205] * w->kept[266];
  const double v60 = w->kept[211] + v59;
  const double v61 = v60 - v58;
  const double v62 = w->kept[124] * w->kept[266];
  const double v63 = w->kept[98] * v55 + v62;
  const double v64 = w->kept[100] * v63 + w->kept[214];
  const double v65 = w->kept[204] * w->kept[265];
  const double v66 = w->kept[213] + v65;
  const double v67 = v66 + v64;
  const double v68 = v61 - v67;
  const double v69 = w->kept[216] * v68;
  const double v70 = w->kept[126] * v5;
  const double v71 = w->kept[112] * v43 - v70;
  const double v72 = w->kept[210] * v71 + v69;
  const double v73 = v49 + v72;
  const double v74 = w->kept[127] * v55;
  const double v75 = w->kept[124] * v63 + v74;
  const double v76 = w->kept[101] * v75 - w->kept[229];
  const double v77 = w->kept[205] * v57 + w->kept[228];
  const double v78 = v77 + v76;
  const double v79 = w->kept[219] * w->kept[266] - w->kept[227];
  const double v80 = v79 + v77;
  const double v81 = v80 + v78;
  const double v82 = w->kept[128] * v55;
  const double v83 = w->kept[124] * v57 + v82;
  const double v84 = w->kept[100] * v83 + w->kept[232];
  const double v85 = w->kept[204] * v63 - w->kept[231];
  const double v86 = v85 + v84;
  const double v87 = w->kept[230] - w->kept[218] * w->kept[265];
  const double v88 = v87 + v85;
  const double v89 = v88 + v86;
  const double v90 = v81 - v89;
  const double v91 = w->kept[111] * v90;
  const double v92 = w->kept[226] * v13 + v91;
  const double v93 = v72 + v92;
  const double v94 = v73 + v93;
  const double v95 = w->kept[216] * v43;
  const double v96 = w->kept[126] * v71 + v95;
  const double v97 = w->kept[107] * v96;
  const double v98 = w->kept[235] * v2 + v97;
  const double v99 = w->kept[100] * v57 + w->kept[207];
  const double v100 = w->kept[204] * w->kept[266];
  const double v101 = v100 - w->kept[206];
  const double v102 = v101 + v99;
  const double v103 = w->kept[101] * v63 - w->kept[209];
  const double v104 = w->kept[205] * w->kept[265];
  const double v105 = w->kept[208] - v104;
  const double v106 = v105 + v103;
  const double v107 = v102 - v106;
  const double v108 = w->kept[217] * v107;
  const double v109 = w->kept[215] * v45 + v108;
  const double v110 = v98 + v109;
  const double v111 = w->kept[100] * v75 + w->kept[222];
  const double v112 = w->kept[204] * v57 - w->kept[221];
  const double v113 = v111 - v112;
  const double v114 = w->kept[218] * w->kept[266] + w->kept[220];
  const double v115 = v114 - v112;
  const double v116 = v115 + v113;
  const double v117 = w->kept[101] * v83 - w->kept[225];
  const double v118 = w->kept[205] * v63 + w->kept[224];
  const double v119 = v117 - v118;
  const double v120 = w->kept[219] * w->kept[265] + w->kept[223];
  const double v121 = v120 + v118;
  const double v122 = v119 - v121;
  const double v123 = v116 + v122;
  const double v124 = w->kept[233] * v5;
  const double v125 = w->kept[112] * v123 - v124;
  const double v126 = v109 + v125;
  const double v127 = v110 + v126;
  const double v128 = v94 + v127;
  const double v129 = -8.0 * v123;
  const double v130 = -2.0 * v83 + v129;
  const double v131 = -5.0 * v128 + v130;
  const double v132 = w->kept[117] * v131;
  const double v133 = w->kept[236] * v30 + v132;
  const double v134 = w->kept[104] * v96;
  const double v135 = w->kept[235] * v11 + v134;
  const double v136 = w->kept[217] * v68;
  const double v137 = w->kept[210] * v45 + v136;
  const double v138 = v135 - v137;
  const double v139 = w->kept[226] * v5;
  const double v140 = w->kept[112] * v90 - v139;
  const double v141 = v140 - v137;
  const double v142 = v138 + v141;
  const double v143 = w->kept[216] * v107;
  const double v144 = w->kept[215] * v71 + v143;
  const double v145 = w->kept[107] * v47;
  const double v146 = w->kept[234] * v2 + v145;
  const double v147 = v144 - v146;
  const double v148 = w->kept[111] * v123;
  const double v149 = w->kept[233] * v13 + v148;
  const double v150 = v144 - v149;
  const double v151 = v147 + v150;
  const double v152 = v142 + v151;
  const double v153 = -8.0 * v90;
  const double v154 = -2.0 * v75 + v153;
  const double v155 = -5.0 * v152 + v154;
  const double v156 = v133 - v155;
  const double v157 = w->kept[237] * v40;
  const double v158 = w->kept[118] * v156 - v157;
  const double v159 = v42 * w->kept[272] + v158;
  const double v160 = w->kept[113] * v158;
  const double v161 = w->kept[238] * v23 + v160;
  const double v162 = v131 + v161;
  const double v163 = w->kept[239] * v28;
  const double v164 = w->kept[116] * v162 - v163;
  const double v165 = v54 * w->kept[272] + v164;
  const double v166 = v159 - v165;
  const double v167 = 2.0 * v43;
  const double v168 = w->kept[99] * w->kept[272] + w->kept[244];
  const double v169 = w->kept[110] * w->kept[274] + w->kept[252];
  const double v170 = v168 + v169;
  const double v171 = w->kept[272] - w->kept[273];
  const double v172 = w->kept[274] + v171;
  const double v173 = w->kept[110] * v172 - v170;
  const double v174 = w->kept[250] * w->kept[138] + v173;
  const double v175 = w->kept[120] * v174;
  const double v176 = w->kept[251] * v167 + v175;
  const double v177 = v176 - w->kept[109] * v159;
  const double v178 = w->kept[99] * v171 - v168;
  const double v179 = w->kept[242] * w->kept[132] + v178;
  const double v180 = v179 + v177;
  const double v181 = w->kept[108] * w->kept[272] - w->kept[245];
  const double v182 = w->kept[5] + v181;
  const double v183 = w->kept[253] - w->kept[109] * w->kept[274];
  const double v184 = v182 + v183;
  const double v185 = w->kept[109] * v172 + v184;
  const double v186 = v185 - w->kept[251] * w->kept[138];
  const double v187 = w->kept[120] * v186;
  const double v188 = w->kept[250] * v167 + v187;
  const double v189 = w->kept[110] * v159 + v188;
  const double v190 = v182 - w->kept[108] * v171;
  const double v191 = w->kept[243] * w->kept[132] + v190;
  const double v192 = w->kept[122] * w->kept[5];
  const double v193 = v191 - v192;
  const double v194 = v193 + v189;
  const double v195 = w->kept[141] * v194;
  const double v196 = w->kept[254] * v180 - v195;
  const double v197 = w->kept[255] * v166 + v196;
  const double v198 = v43 - v55;
  const double v199 = 2.0 * v198;
  const double v200 = w->kept[137] * w->kept[141];
  const double v201 = w->kept[136] * w->kept[254] + v200;
  const double v202 = v201 * v199 + v197;
  const double v203 = w->kept[141] * v172;
  const double v204 = w->kept[4] * v170 - v203;
  const double v205 = v204 - w->kept[262];
  const double v206 = w->kept[4] * v184;
  const double v207 = w->kept[254] * v172 + v206;
  const double v208 = w->kept[263] + v207;
  const double v209 = w->kept[110] * v208;
  const double v210 = w->kept[109] * v205 + v209;
  const double v211 = w->kept[120] * v210 + v202;
  const double v212 = w->kept[135] * v193;
  const double v213 = w->kept[246] * v179 - v212;
  const double v214 = v213 - w->kept[247] * v165;
  const double v215 = -2.0 * v55;
  const double v216 = w->kept[131] * w->kept[135];
  const double v217 = w->kept[130] * w->kept[246] + v216;
  const double v218 = v217 * v215 + v214;
  const double v219 = v218 + v211;
  const double v220 = w->kept[141] * v166;
  const double v221 = w->kept[4] * v194 - v220;
  const double v222 = v221 - w->kept[257] * v199;
  const double v223 = v222 - w->kept[120] * v208;
  const double v224 = w->kept[3] * v193;
  const double v225 = w->kept[135] * v165 + v224;
  const double v226 = v225 - w->kept[249] * v215;
  const double v227 = v226 + v223;
  const double v228 = w->kept[4] * v180;
  const double v229 = w->kept[254] * v166 + v228;
  const double v230 = w->kept[256] * v199 + v229;
  const double v231 = w->kept[120] * v205 + v230;
  const double v232 = w->kept[246] * v165;
  const double v233 = w->kept[3] * v179 - v232;
  const double v234 = w->kept[248] * v215 + v233;
  const double v235 = v234 + v231;
  const double v236 = w->kept[108] * v235;
  const double v237 = w->kept[99] * v227 + v236;
  const double v238 = v219 + v237;
  const double v239 = w->kept[3] * v182;
  const double v240 = w->kept[246] * v171 + v239;
  const double v241 = w->kept[260] + v240;
  const double v242 = v241 + v208;
  const double v243 = w->kept[135] * v171;
  const double v244 = w->kept[3] * v168 - v243;
  const double v245 = v244 - w->kept[259];
  const double v246 = v245 + v205;
  const double v247 = w->kept[108] * v246;
  const double v248 = w->kept[99] * v242 - v247;
  const double v249 = v248 + v219;
  const double v250 = w->kept[241] * v165;
  const double v251 = w->kept[129] * v192 - v250;
  const double v252 = v251 + v249;
  const double v253 = w->kept[122] * v252;
  const double v254 = w->kept[141] * v170;
  const double v255 = w->kept[254] * v184 - v254;
  const double v256 = w->kept[255] * v172 + v255;
  const double v257 = w->kept[264] + v256;
  const double v258 = w->kept[135] * v168;
  const double v259 = w->kept[246] * v182 - v258;
  const double v260 = w->kept[247] * v171 + v259;
  const double v261 = w->kept[261] + v260;
  const double v262 = v261 + v257;
  const double v263 = w->kept[258] - w->kept[241] * w->kept[273];
  const double v264 = v263 + v262;
  const double v265 = v54 * v264 + v253;
  const double v266 = v238 - v265;
  const double v267 = w->kept[109] * v230;
  const double v268 = w->kept[110] * v222 - v267;
  const double v269 = v202 + v268;
  const double v270 = w->kept[120] * v269;
  const double v271 = w->kept[109] * v208;
  const double v272 = w->kept[110] * v205 - v271;
  const double v273 = v257 + v272;
  const double v274 = v42 * v273 + v270;
  const double v275 = v266 + v274;
  const double v276 = w->theta[0] * v54 + v275;
  const double v277 = v276 - w->theta[2] * v42;
  const double v278 = w->kept[142] * v57;
  const double v279 = w->kept[128] * w->kept[266] + v278;
  const double v280 = v279 + v279;
  const double v281 = w->kept[127] * w->kept[265];
  const double v282 = w->kept[97] * v63 - v281;
  const double v283 = v282 + v282;
  const double v284 = v280 - v283;
  const double v285 = w->kept[145] * v284;
  const double v286 = w->kept[144] * w->kept[144];
  const double v287 = w->kept[268] * v286;
  const double v288 = -0.5 * v287;
  const double v289 = w->kept[146] * v288 + v285;
  const double v290 = 80.0 * v289;
  const double v291 = w->kept[148] * v290;
  const double v292 = v291 + v291;
  const double v293 = 0.25 * v292;
  const double v294 = w->kept[150] * v293;
  const double v295 = w->kept[149] * v294;
  const double v296 = v295 + v295;
  const double v297 = w->kept[148] * v296;
  const double v298 = w->kept[150] * v290 - v297;
  const double v299 = 320.0 * v289;
  const double v300 = 1.0 - w->kept[151] * w->kept[151];
  const double v301 = v300 * v299;
  const double v302 = 231.0 * v301;
  const double v303 = 682.0 * v298 + v302;
  const double v304 = 362.7565358052813 * v289 + v303;
  const double v305 = w->theta[7] * v304;
  const double v306 = w->kept[268] * v305;
  const double v307 = w->kept[122] * w->kept[265];
  const double v308 = w->kept[97] * v54 - v307;
  const double v309 = w->kept[266] * w->kept[266];
  const double v310 = w->kept[142] * v308 + v309;
  const double v311 = v310 + v310;
  const double v312 = w->kept[122] * w->kept[266];
  const double v313 = w->kept[98] * v54 + v312;
  const double v314 = w->kept[265] * w->kept[265];
  const double v315 = w->kept[97] * v313 - v314;
  const double v316 = v315 + v315;
  const double v317 = v311 - v316;
  const double v318 = w->kept[145] * v317;
  const double v319 = w->kept[267] * v288 + v318;
  const double v320 = w->kept[152] * v319 - v306;
  const double v321 = v320 - v277;
  const double v322 = w->kept[271] * v321;
  w->kept[283] = v322;
  w->A[0] = v322;
  const double v323 = w->kept[204] + w->kept[204];
  const double v324 = w->kept[212] + v59;
  const double v325 = w->kept[98] * v323 + v324;
  const double v326 = w->kept[122] * w->kept[127] + v56;
  const double v327 = w->kept[101] * v326 + v324;
  const double v328 = v325 + v327;
  const double v329 = w->kept[205] + w->kept[205];
  const double v330 = w->kept[214] + v65;
  const double v331 = w->kept[97] * v329 + v330;
  const double v332 = w->kept[122] * w->kept[128] + v62;
  const double v333 = w->kept[100] * v332 + v330;
  const double v334 = v331 + v333;
  const double v335 = v328 - v334;
  const double v336 = w->kept[105] - v9;
  const double v337 = v8 + v336;
  const double v338 = w->kept[216] * v337;
  const double v339 = w->kept[210] * v13 + v338;
  const double v340 = w->kept[111] * v335 + v339;
  const double v341 = w->kept[120] * w->kept[217] + v70;
  const double v342 = w->kept[104] * v341 + v339;
  const double v343 = v342 + v340;
  const double v344 = w->kept[207] + v100;
  const double v345 = w->kept[98] * v329 - v344;
  const double v346 = w->kept[100] * v326 - v344;
  const double v347 = v345 + v346;
  const double v348 = w->kept[209] + v104;
  const double v349 = w->kept[97] * v323 - v348;
  const double v350 = w->kept[101] * v332 - v348;
  const double v351 = v349 + v350;
  const double v352 = v347 + v351;
  const double v353 = w->kept[217] * v2;
  const double v354 = w->kept[215] * v5 + v353;
  const double v355 = w->kept[112] * v352 + v354;
  const double v356 = w->kept[120] * w->kept[216] + v44;
  const double v357 = w->kept[107] * v356 + v354;
  const double v358 = v357 + v355;
  const double v359 = v343 + v358;
  const double v360 = -8.0 * v352;
  const double v361 = -2.0 * v332 + v360;
  const double v362 = -5.0 * v359 + v361;
  const double v363 = w->kept[217] * v337;
  const double v364 = w->kept[210] * v5 + v363;
  const double v365 = w->kept[112] * v335 - v364;
  const double v366 = w->kept[104] * v356 - v364;
  const double v367 = v366 + v365;
  const double v368 = w->kept[216] * v2;
  const double v369 = w->kept[215] * v13 + v368;
  const double v370 = v369 - w->kept[111] * v352;
  const double v371 = v369 - w->kept[107] * v341;
  const double v372 = v371 + v370;
  const double v373 = v367 + v372;
  const double v374 = -8.0 * v335;
  const double v375 = -2.0 * v326 + v374;
  const double v376 = -5.0 * v373 + v375;
  const double v377 = w->kept[117] * v362 - v376;
  const double v378 = w->kept[118] * v377;
  const double v379 = w->kept[113] * v378 + v362;
  const double v380 = w->kept[116] * v379;
  const double v381 = v378 - v380;
  const double v382 = w->kept[109] * v378;
  const double v383 = 2.0 * w->kept[120];
  const double v384 = w->kept[251] * v383 - v382;
  const double v385 = -2.0 * w->kept[243];
  const double v386 = v385 + v384;
  const double v387 = w->kept[250] * v383;
  const double v388 = w->kept[110] * v378 + v387;
  const double v389 = 2.0 * w->kept[242];
  const double v390 = v389 + v388;
  const double v391 = w->kept[141] * v390;
  const double v392 = w->kept[254] * v386 - v391;
  const double v393 = w->kept[255] * v381 + v392;
  const double v394 = 2.0 * w->kept[270];
  const double v395 = v201 * v394 + v393;
  const double v396 = w->kept[141] * v381;
  const double v397 = w->kept[4] * v390 - v396;
  const double v398 = v397 - w->kept[257] * v394;
  const double v399 = w->kept[4] * v386;
  const double v400 = w->kept[254] * v381 + v399;
  const double v401 = w->kept[256] * v394 + v400;
  const double v402 = w->kept[109] * v401;
  const double v403 = w->kept[110] * v398 - v402;
  const double v404 = v395 + v403;
  const double v405 = w->kept[135] * v389;
  const double v406 = w->kept[246] * v385 - v405;
  const double v407 = v406 - w->kept[247] * v380;
  const double v408 = 2.0 * w->kept[269];
  const double v409 = v217 * v408 + v407;
  const double v410 = v409 + v395;
  const double v411 = w->kept[3] * v389;
  const double v412 = w->kept[135] * v380 + v411;
  const double v413 = v412 - w->kept[249] * v408;
  const double v414 = v413 + v398;
  const double v415 = w->kept[246] * v380;
  const double v416 = w->kept[3] * v385 - v415;
  const double v417 = w->kept[248] * v408 + v416;
  const double v418 = v417 + v401;
  const double v419 = w->kept[108] * v418;
  const double v420 = w->kept[99] * v414 + v419;
  const double v421 = v410 + v420;
  const double v422 = v410 - w->kept[241] * v380;
  const double v423 = v421 - w->kept[122] * v422;
  const double v424 = w->kept[120] * v404 + v423;
  const double v425 = 80.0 * w->kept[268];
  const double v426 = w->kept[148] * v425;
  const double v427 = v426 + v426;
  const double v428 = 0.25 * v427;
  const double v429 = w->kept[150] * v428;
  const double v430 = w->kept[149] * v429;
  const double v431 = v430 + v430;
  const double v432 = w->kept[148] * v431;
  const double v433 = w->kept[150] * v425 - v432;
  const double v434 = 320.0 * w->kept[268];
  const double v435 = v300 * v434;
  const double v436 = 231.0 * v435;
  const double v437 = 682.0 * v433 + v436;
  const double v438 = 362.7565358052813 * w->kept[268] + v437;
  const double v439 = w->theta[7] * v438;
  const double v440 = w->kept[268] * v439 + v424;
  const double v441 = w->kept[271] * v440;
  w->kept[284] = v441;
  const double v442 = -v441;
  w->A[1] = v442;
  w->A[2] = 0.0;
  const double v443 = 0.005026548245743669 * w->kept[268];
  const double v444 = v443 * w->kept[271];
  w->kept[285] = v444;
  w->A[3] = v444;
  const double v445 = -0.8085937500000001 * v444;
  w->A[4] = v445;
  w->A[5] = 0.0;
  w->A[6] = 0.0;
  const double v446 = 200000.0 - w->kept[193];
  const double v447 = 0.5 * w->kept[194];
  const double v448 = v446 > 0.0 ? w->kept[194] : v447;
  const double v449 = w->theta[12] * v448;
  const double v450 = 200000.0 - w->kept[191];
  const double v451 = 0.5 * w->kept[192];
  const double v452 = v450 > 0.0 ? w->kept[192] : v451;
  const double v453 = w->theta[11] * v452;
  const double v454 = w->kept[13] * v449 + v453;
  const double v455 = w->kept[14] * v449 + v454;
  const double v456 = w->kept[10] * v455;
  w->kept[275] = v456;
  const double v457 = -v456;
  w->A[7] = v457;
  const double v458 = w->kept[10] * v453;
  w->kept[277] = v458;
  w->A[8] = v458;
  w->A[9] = 0.0;
  const double v459 = -0.005026548245743669 * v289;
  const double v460 = w->kept[268] * w->kept[8];
  const double v461 = w->kept[200] * w->kept[200];
  const double v462 = v460 * v461;
  const double v463 = w->kept[197] * v462;
  const double v464 = w->kept[200] * v459 - v463;
  w->kept[279] = v464;
  w->A[10] = v464;
  const double v465 = -0.005026548245743669 * w->kept[268];
  const double v466 = w->kept[200] * v465;
  w->kept[281] = v466;
  w->A[11] = v466;
  const double v467 = w->kept[200] * v453;
  w->kept[276] = v467;
  w->A[12] = v467;
  const double v468 = -v467;
  w->A[13] = v468;
  w->A[14] = 0.0;
  const double v469 = 0.004064435495581795 * v289;
  const double v470 = w->kept[202] * v469;
  const double v471 = w->kept[268] * w->kept[9];
  const double v472 = w->kept[202] * w->kept[202];
  const double v473 = v471 * v472;
  const double v474 = w->kept[198] * v473 + v470;
  w->kept[280] = v474;
  w->A[15] = v474;
  const double v475 = 0.004064435495581795 * w->kept[268];
  const double v476 = w->kept[202] * v475;
  w->kept[282] = v476;
  w->A[16] = v476;
  w->A[17] = 0.0;
  w->A[18] = 0.0;
  const double v477 = 200000.0 - w->kept[195];
  const double v478 = 0.5 * w->kept[196];
  const double v479 = v477 > 0.0 ? w->kept[196] : v478;
  const double v480 = w->theta[12] * v479;
  const double v481 = w->kept[14] * v480;
  const double v482 = w->kept[13] * v480 + v481;
  const double v483 = w->kept[202] * v482;
  w->kept[278] = v483;
  const double v484 = -v483;
  w->A[19] = v484;
}

static void four_bar_guess(four_bar_work *w)
{
  (void)w;
  const double v0 = w->kept[0] * w->kept[282] + w->kept[280];
  const double v1 = w->kept[0] + w->kept[278];
  const double v2 = 1.0 / v1;
  const double v3 = 0.8085937500000001 * w->kept[285];
  const double v4 = v2 * v3;
  const double v5 = w->kept[283] - w->kept[0] * w->kept[284];
  const double v6 = w->kept[1] - v5;
  const double v7 = v0 * v4 + v6;
  const double v8 = 1.0 / v7;
  const double v9 = w->kept[0] * w->kept[281] + w->kept[279];
  const double v10 = v9 * v8;
  const double v11 = w->kept[203] - w->zd[0] * w->kept[282];
  const double v12 = 2.0 * v11;
  const double v13 = v12 * v4;
  const double v14 = w->zd[0] * w->kept[0] + w->kept[272];
  const double v15 = w->zd[0] * w->kept[284] + v14;
  const double v16 = 2.0 * v15 - v13;
  const double v17 = w->kept[201] - w->zd[0] * w->kept[281];
  const double v18 = w->kept[0] + w->kept[275];
  const double v19 = 1.0 / v18;
  const double v20 = w->kept[276] * v19;
  const double v21 = 2.0 * w->kept[199];
  const double v22 = v20 * v21;
  const double v23 = 2.0 * v17 + v22;
  const double v24 = v10 * v16 + v23;
  const double v25 = w->kept[0] + w->kept[276];
  const double v26 = v25 - w->kept[277] * v20;
  const double v27 = v26 - w->kept[285] * v10;
  const double v28 = 1.0 / v27;
  const double v29 = v28 * v24;
  const double v30 = w->kept[285] * v29 + v16;
  const double v31 = v8 * v30;
  w->guess[0] = v31;
  const double v32 = w->kept[277] * v29 + v21;
  const double v33 = v19 * v32;
  w->guess[1] = v33;
  w->guess[2] = v29;
  const double v34 = v0 * v31 + v12;
  const double v35 = v2 * v34;
  w->guess[3] = v35;
  const double v36 = w->kept[122] * v31;
  const double v37 = w->kept[240] * w->kept[12];
  const double v38 = w->h[0] * v37 + v36;
  const double v39 = -v38;
  w->guess_dependent[0] = v39;
  const double v40 = w->kept[120] * v31;
  const double v41 = w->kept[238] * w->kept[12];
  const double v42 = w->h[0] * v41 + v40;
  w->guess_dependent[1] = v42;
}

static void four_bar_read_44(four_bar_work *w)
{
  (void)w;
  w->read[0][0] = w->z[0];
  w->read[0][1] = w->kept[123];
  w->read[0][2] = 0.0;
  w->read[0][3] = 0.0;
  w->read[0][4] = 0.0;
  w->read[0][5] = 0.0;
  w->read[0][6] = 0.0;
}

static void four_bar_read_45(four_bar_work *w)
{
  (void)w;
  w->read[0][0] = w->kept[125];
  const double v0 = w->kept[97] * w->kept[122];
  const double v1 = w->kept[101] * v0 - w->kept[105];
  const double v2 = w->kept[98] * w->kept[122];
  const double v3 = w->kept[106] - w->kept[100] * v2;
  const double v4 = v1 - v3;
  const double v5 = w->kept[111] * v4;
  const double v6 = w->kept[112] * w->kept[120];
  const double v7 = w->kept[104] * v6 + v5;
  const double v8 = w->kept[100] * v0 + w->kept[102];
  const double v9 = w->kept[101] * v2 + w->kept[103];
  const double v10 = v8 - v9;
  const double v11 = w->kept[111] * w->kept[120];
  const double v12 = w->kept[107] * v11;
  const double v13 = w->kept[112] * v10 - v12;
  const double v14 = v7 + v13;
  const double v15 = -5.0 * v14;
  const double v16 = -8.0 * v10;
  const double v17 = 2.0 * v2 + v16;
  const double v18 = v17 + v15;
  const double v19 = w->kept[104] * v11;
  const double v20 = w->kept[112] * v4 - v19;
  const double v21 = w->kept[111] * v10;
  const double v22 = w->kept[107] * v6 + v21;
  const double v23 = v20 - v22;
  const double v24 = 5.0 * v23;
  const double v25 = 8.0 * v4;
  const double v26 = 2.0 * v0 + v25;
  const double v27 = v26 + v24;
  const double v28 = w->kept[116] * w->kept[116];
  const double v29 = v27 * v28;
  const double v30 = w->kept[114] * v29;
  const double v31 = w->kept[116] * v18 - v30;
  const double v32 = v25 + v24;
  const double v33 = w->kept[117] * v32;
  const double v34 = w->kept[115] * v31 + v33;
  const double v35 = v16 + v15;
  const double v36 = v34 - v35;
  const double v37 = w->kept[117] * v24;
  const double v38 = w->kept[113] * v31 + v37;
  const double v39 = v15 - v38;
  const double v40 = w->kept[118] * w->kept[118];
  const double v41 = v39 * v40;
  const double v42 = w->kept[119] * v41;
  const double v43 = w->kept[118] * v36 - v42;
  const double v44 = w->kept[120] * v24;
  const double v45 = w->kept[113] * v43 + v44;
  const double v46 = v32 + v45;
  const double v47 = w->kept[121] * v29;
  const double v48 = w->kept[116] * v46 - v47;
  const double v49 = w->zd[0] * v48;
  const double v50 = -v49;
  w->read[0][1] = v50;
  w->read[0][2] = w->kept[123];
  w->read[0][3] = 0.0;
  w->read[0][4] = 0.0;
  w->read[0][5] = 0.0;
  w->read[0][6] = 0.0;
}

static void four_bar_read_46(four_bar_work *w)
{
  (void)w;
  w->read[0][0] = w->kept[189];
  const double v0 = w->kept[97] * w->kept[122];
  const double v1 = w->kept[100] * v0 + w->kept[102];
  const double v2 = w->kept[98] * w->kept[122];
  const double v3 = w->kept[101] * v2 + w->kept[103];
  const double v4 = v1 - v3;
  const double v5 = -8.0 * v4;
  const double v6 = 2.0 * v2 + v5;
  const double v7 = w->kept[111] * w->kept[120];
  const double v8 = w->kept[107] * v7;
  const double v9 = w->kept[112] * v4 - v8;
  const double v10 = w->kept[106] - w->kept[100] * v2;
  const double v11 = w->kept[101] * v0;
  const double v12 = v11 - w->kept[105];
  const double v13 = v12 - v10;
  const double v14 = w->kept[111] * v13;
  const double v15 = w->kept[112] * w->kept[120];
  const double v16 = w->kept[104] * v15 + v14;
  const double v17 = v16 + v9;
  const double v18 = -5.0 * v17;
  const double v19 = v6 + v18;
  const double v20 = w->kept[111] * v4;
  const double v21 = w->kept[107] * v15 + v20;
  const double v22 = w->kept[104] * v7;
  const double v23 = w->kept[112] * v13 - v22;
  const double v24 = v23 - v21;
  const double v25 = 5.0 * v24;
  const double v26 = 8.0 * v13;
  const double v27 = 2.0 * v0 + v26;
  const double v28 = v27 + v25;
  const double v29 = w->kept[116] * w->kept[116];
  const double v30 = v28 * v29;
  const double v31 = w->kept[114] * v30;
  const double v32 = w->kept[116] * v19 - v31;
  const double v33 = v26 + v25;
  const double v34 = w->kept[117] * v33;
  const double v35 = w->kept[115] * v32 + v34;
  const double v36 = v5 + v18;
  const double v37 = v35 - v36;
  const double v38 = w->kept[117] * v25;
  const double v39 = w->kept[113] * v32 + v38;
  const double v40 = v18 - v39;
  const double v41 = w->kept[118] * w->kept[118];
  const double v42 = v40 * v41;
  const double v43 = w->kept[119] * v42;
  const double v44 = w->kept[118] * v37 - v43;
  const double v45 = w->zd[0] * v44;
  const double v46 = w->kept[126] * v15;
  const double v47 = w->kept[111] * v45 + v46;
  const double v48 = w->kept[166] * v45;
  const double v49 = w->kept[126] * v47 + v48;
  const double v50 = w->kept[104] * v49;
  const double v51 = w->kept[183] * v13 + v50;
  const double v52 = w->kept[120] * v25;
  const double v53 = w->kept[113] * v44 + v52;
  const double v54 = v33 + v53;
  const double v55 = w->kept[121] * v30;
  const double v56 = w->kept[116] * v54 - v55;
  const double v57 = w->zd[0] * v56;
  const double v58 = w->kept[124] * v2;
  const double v59 = w->kept[97] * v57 - v58;
  const double v60 = w->kept[101] * v59 - w->kept[161];
  const double v61 = w->kept[154] * v0;
  const double v62 = w->kept[160] + v61;
  const double v63 = v62 - v60;
  const double v64 = w->kept[124] * v0;
  const double v65 = w->kept[98] * v57 + v64;
  const double v66 = w->kept[100] * v65 + w->kept[163];
  const double v67 = w->kept[153] * v2;
  const double v68 = w->kept[162] + v67;
  const double v69 = v68 + v66;
  const double v70 = v63 - v69;
  const double v71 = w->kept[165] * v70;
  const double v72 = w->kept[126] * v7;
  const double v73 = w->kept[112] * v45 - v72;
  const double v74 = w->kept[159] * v73 + v71;
  const double v75 = v51 + v74;
  const double v76 = w->kept[127] * v57;
  const double v77 = w->kept[124] * v65 + v76;
  const double v78 = w->kept[101] * v77 - w->kept[178];
  const double v79 = w->kept[154] * v59 + w->kept[177];
  const double v80 = v79 + v78;
  const double v81 = w->kept[168] * v0 - w->kept[176];
  const double v82 = v81 + v79;
  const double v83 = v82 + v80;
  const double v84 = w->kept[128] * v57;
  const double v85 = w->kept[124] * v59 + v84;
  const double v86 = w->kept[100] * v85 + w->kept[181];
  const double v87 = w->kept[153] * v65 - w->kept[180];
  const double v88 = v87 + v86;
  const double v89 = w->kept[179] - w->kept[167] * v2;
  const double v90 = v89 + v87;
  const double v91 = v90 + v88;
  const double v92 = v83 - v91;
  const double v93 = w->kept[111] * v92;
  const double v94 = w->kept[175] * v15 + v93;
  const double v95 = v74 + v94;
  const double v96 = v75 + v95;
  const double v97 = w->kept[165] * v45;
  const double v98 = w->kept[126] * v73 + v97;
  const double v99 = w->kept[107] * v98;
  const double v100 = w->kept[184] * v4 + v99;
  const double v101 = w->kept[100] * v59 + w->kept[156];
  const double v102 = w->kept[153] * v0;
  const double v103 = v102 - w->kept[155];
  const double v104 = v103 + v101;
  const double v105 = w->kept[101] * v65 - w->kept[158];
  const double v106 = w->kept[154] * v2;
  const double v107 = w->kept[157] - v106;
  const double v108 = v107 + v105;
  const double v109 = v104 - v108;
  const double v110 = w->kept[166] * v109;
  const double v111 = w->kept[164] * v47 + v110;
  const double v112 = v100 + v111;
  const double v113 = w->kept[100] * v77 + w->kept[171];
  const double v114 = w->kept[153] * v59 - w->kept[170];
  const double v115 = v113 - v114;
  const double v116 = w->kept[167] * v0 + w->kept[169];
  const double v117 = v116 - v114;
  const double v118 = v117 + v115;
  const double v119 = w->kept[101] * v85 - w->kept[174];
  const double v120 = w->kept[154] * v65 + w->kept[173];
  const double v121 = v119 - v120;
  const double v122 = w->kept[168] * v2 + w->kept[172];
  const double v123 = v122 + v120;
  const double v124 = v121 - v123;
  const double v125 = v118 + v124;
  const double v126 = w->kept[182] * v7;
  const double v127 = w->kept[112] * v125 - v126;
  const double v128 = v111 + v127;
  const double v129 = v112 + v128;
  const double v130 = v96 + v129;
  const double v131 = -8.0 * v125;
  const double v132 = -2.0 * v85 + v131;
  const double v133 = -5.0 * v130 + v132;
  const double v134 = w->kept[117] * v133;
  const double v135 = w->kept[185] * v32 + v134;
  const double v136 = w->kept[104] * v98;
  const double v137 = w->kept[184] * v13 + v136;
  const double v138 = w->kept[166] * v70;
  const double v139 = w->kept[159] * v47 + v138;
  const double v140 = v137 - v139;
  const double v141 = w->kept[175] * v7;
  const double v142 = w->kept[112] * v92 - v141;
  const double v143 = v142 - v139;
  const double v144 = v140 + v143;
  const double v145 = w->kept[165] * v109;
  const double v146 = w->kept[164] * v73 + v145;
  const double v147 = w->kept[107] * v49;
  const double v148 = w->kept[183] * v4 + v147;
  const double v149 = v146 - v148;
  const double v150 = w->kept[111] * v125;
  const double v151 = w->kept[182] * v15 + v150;
  const double v152 = v146 - v151;
  const double v153 = v149 + v152;
  const double v154 = v144 + v153;
  const double v155 = -8.0 * v92;
  const double v156 = -2.0 * v77 + v155;
  const double v157 = -5.0 * v154 + v156;
  const double v158 = v135 - v157;
  const double v159 = w->kept[186] * v42;
  const double v160 = w->kept[118] * v158 - v159;
  const double v161 = w->kept[113] * v160;
  const double v162 = w->kept[187] * v25 + v161;
  const double v163 = v133 + v162;
  const double v164 = w->kept[188] * v30;
  const double v165 = w->kept[116] * v163 - v164;
  const double v166 = w->zdd[0] * v56 + v165;
  const double v167 = -v166;
  w->read[0][1] = v167;
  const double v168 = w->kept[153] + w->kept[153];
  const double v169 = w->kept[161] + v61;
  const double v170 = w->kept[98] * v168 + v169;
  const double v171 = w->kept[122] * w->kept[127] + v58;
  const double v172 = w->kept[101] * v171 + v169;
  const double v173 = v170 + v172;
  const double v174 = w->kept[154] + w->kept[154];
  const double v175 = w->kept[163] + v67;
  const double v176 = w->kept[97] * v174 + v175;
  const double v177 = w->kept[122] * w->kept[128] + v64;
  const double v178 = w->kept[100] * v177 + v175;
  const double v179 = v176 + v178;
  const double v180 = v173 - v179;
  const double v181 = w->kept[105] - v11;
  const double v182 = v10 + v181;
  const double v183 = w->kept[165] * v182;
  const double v184 = w->kept[159] * v15 + v183;
  const double v185 = w->kept[111] * v180 + v184;
  const double v186 = w->kept[120] * w->kept[166] + v72;
  const double v187 = w->kept[104] * v186 + v184;
  const double v188 = v187 + v185;
  const double v189 = w->kept[156] + v102;
  const double v190 = w->kept[98] * v174 - v189;
  const double v191 = w->kept[100] * v171 - v189;
  const double v192 = v190 + v191;
  const double v193 = w->kept[158] + v106;
  const double v194 = w->kept[97] * v168 - v193;
  const double v195 = w->kept[101] * v177 - v193;
  const double v196 = v194 + v195;
  const double v197 = v192 + v196;
  const double v198 = w->kept[166] * v4;
  const double v199 = w->kept[164] * v7 + v198;
  const double v200 = w->kept[112] * v197 + v199;
  const double v201 = w->kept[120] * w->kept[165] + v46;
  const double v202 = w->kept[107] * v201 + v199;
  const double v203 = v202 + v200;
  const double v204 = v188 + v203;
  const double v205 = -8.0 * v197;
  const double v206 = -2.0 * v177 + v205;
  const double v207 = -5.0 * v204 + v206;
  const double v208 = w->kept[166] * v182;
  const double v209 = w->kept[159] * v7 + v208;
  const double v210 = w->kept[112] * v180 - v209;
  const double v211 = w->kept[104] * v201 - v209;
  const double v212 = v211 + v210;
  const double v213 = w->kept[165] * v4;
  const double v214 = w->kept[164] * v15 + v213;
  const double v215 = v214 - w->kept[111] * v197;
  const double v216 = v214 - w->kept[107] * v186;
  const double v217 = v216 + v215;
  const double v218 = v212 + v217;
  const double v219 = -8.0 * v180;
  const double v220 = -2.0 * v171 + v219;
  const double v221 = -5.0 * v218 + v220;
  const double v222 = w->kept[117] * v207 - v221;
  const double v223 = w->kept[118] * v222;
  const double v224 = w->kept[113] * v223 + v207;
  const double v225 = w->kept[116] * v224;
  const double v226 = -v225;
  w->read[0][2] = v226;
  w->read[0][3] = 0.0;
  w->read[0][4] = 0.0;
  w->read[0][5] = 0.0;
  w->read[0][6] = w->kept[123];
  w->read[1][0] = w->kept[190];
  const double v227 = w->zdd[0] * v44 + v160;
  w->read[1][1] = v227;
  w->read[1][2] = v223;
  w->read[1][3] = 0.0;
  w->read[1][4] = 0.0;
  w->read[1][5] = 0.0;
  w->read[1][6] = w->kept[120];
}

static void four_bar_read_49(four_bar_work *w)
{
  (void)w;
  w->read[0][0] = w->z[2];
  w->read[0][1] = w->kept[120];
  w->read[0][2] = 0.0;
  w->read[0][3] = 0.0;
  w->read[0][4] = 0.0;
  w->read[0][5] = 0.0;
  w->read[0][6] = 0.0;
}

static void four_bar_read_50(four_bar_work *w)
{
  (void)w;
  w->read[0][0] = w->kept[126];
  const double v0 = w->kept[97] * w->kept[122];
  const double v1 = w->kept[101] * v0 - w->kept[105];
  const double v2 = w->kept[98] * w->kept[122];
  const double v3 = w->kept[106] - w->kept[100] * v2;
  const double v4 = v1 - v3;
  const double v5 = w->kept[111] * v4;
  const double v6 = w->kept[112] * w->kept[120];
  const double v7 = w->kept[104] * v6 + v5;
  const double v8 = w->kept[100] * v0 + w->kept[102];
  const double v9 = w->kept[101] * v2 + w->kept[103];
  const double v10 = v8 - v9;
  const double v11 = w->kept[111] * w->kept[120];
  const double v12 = w->kept[107] * v11;
  const double v13 = w->kept[112] * v10 - v12;
  const double v14 = v7 + v13;
  const double v15 = -5.0 * v14;
  const double v16 = -8.0 * v10;
  const double v17 = 2.0 * v2 + v16;
  const double v18 = v17 + v15;
  const double v19 = w->kept[104] * v11;
  const double v20 = w->kept[112] * v4 - v19;
  const double v21 = w->kept[111] * v10;
  const double v22 = w->kept[107] * v6 + v21;
  const double v23 = v20 - v22;
  const double v24 = 5.0 * v23;
  const double v25 = 8.0 * v4;
  const double v26 = 2.0 * v0 + v25;
  const double v27 = v26 + v24;
  const double v28 = w->kept[116] * w->kept[116];
  const double v29 = v27 * v28;
  const double v30 = w->kept[114] * v29;
  const double v31 = w->kept[116] * v18 - v30;
  const double v32 = v25 + v24;
  const double v33 = w->kept[117] * v32;
  const double v34 = w->kept[115] * v31 + v33;
  const double v35 = v16 + v15;
  const double v36 = v34 - v35;
  const double v37 = w->kept[117] * v24;
  const double v38 = w->kept[113] * v31 + v37;
  const double v39 = v15 - v38;
  const double v40 = w->kept[118] * w->kept[118];
  const double v41 = v39 * v40;
  const double v42 = w->kept[119] * v41;
  const double v43 = w->kept[118] * v36 - v42;
  const double v44 = w->zd[0] * v43;
  w->read[0][1] = v44;
  w->read[0][2] = w->kept[120];
  w->read[0][3] = 0.0;
  w->read[0][4] = 0.0;
  w->read[0][5] = 0.0;
  w->read[0][6] = 0.0;
}

static void four_bar_read_54(four_bar_work *w)
{
  (void)w;
  w->read[0][0] = w->kept[143];
  const double v0 = w->kept[97] * w->kept[122];
  const double v1 = w->kept[142] * v0;
  const double v2 = v1 + v1;
  const double v3 = w->kept[98] * w->kept[122];
  const double v4 = w->kept[97] * v3;
  const double v5 = v4 + v4;
  const double v6 = v2 - v5;
  const double v7 = v6 * w->kept[145];
  w->read[0][1] = v7;
  w->read[0][2] = 0.0;
  w->read[0][3] = 0.0;
  w->read[0][4] = 0.0;
  w->read[0][5] = 0.0;
  w->read[0][6] = 0.0;
}

static void four_bar_read_55(four_bar_work *w)
{
  (void)w;
  w->read[0][0] = w->kept[147];
  const double v0 = w->kept[97] * w->kept[122];
  const double v1 = w->kept[101] * v0 - w->kept[105];
  const double v2 = w->kept[98] * w->kept[122];
  const double v3 = w->kept[106] - w->kept[100] * v2;
  const double v4 = v1 - v3;
  const double v5 = w->kept[111] * v4;
  const double v6 = w->kept[112] * w->kept[120];
  const double v7 = w->kept[104] * v6 + v5;
  const double v8 = w->kept[100] * v0 + w->kept[102];
  const double v9 = w->kept[101] * v2 + w->kept[103];
  const double v10 = v8 - v9;
  const double v11 = w->kept[111] * w->kept[120];
  const double v12 = w->kept[107] * v11;
  const double v13 = w->kept[112] * v10 - v12;
  const double v14 = v7 + v13;
  const double v15 = -5.0 * v14;
  const double v16 = -8.0 * v10;
  const double v17 = 2.0 * v2 + v16;
  const double v18 = v17 + v15;
  const double v19 = w->kept[104] * v11;
  const double v20 = w->kept[112] * v4 - v19;
  const double v21 = w->kept[111] * v10;
  const double v22 = w->kept[107] * v6 + v21;
  const double v23 = v20 - v22;
  const double v24 = 5.0 * v23;
  const double v25 = 8.0 * v4;
  const double v26 = 2.0 * v0 + v25;
  const double v27 = v26 + v24;
  const double v28 = w->kept[116] * w->kept[116];
  const double v29 = v27 * v28;
  const double v30 = w->kept[114] * v29;
  const double v31 = w->kept[116] * v18 - v30;
  const double v32 = v25 + v24;
  const double v33 = w->kept[117] * v32;
  const double v34 = w->kept[115] * v31 + v33;
  const double v35 = v16 + v15;
  const double v36 = v34 - v35;
  const double v37 = w->kept[117] * v24;
  const double v38 = w->kept[113] * v31 + v37;
  const double v39 = v15 - v38;
  const double v40 = w->kept[118] * w->kept[118];
  const double v41 = v39 * v40;
  const double v42 = w->kept[119] * v41;
  const double v43 = w->kept[118] * v36 - v42;
  const double v44 = w->kept[120] * v24;
  const double v45 = w->kept[113] * v43 + v44;
  const double v46 = v32 + v45;
  const double v47 = w->kept[121] * v29;
  const double v48 = w->kept[116] * v46 - v47;
  const double v49 = w->zd[0] * v48;
  const double v50 = w->kept[124] * v2;
  const double v51 = w->kept[97] * v49 - v50;
  const double v52 = w->kept[142] * v51;
  const double v53 = w->kept[128] * v0 + v52;
  const double v54 = v53 + v53;
  const double v55 = w->kept[98] * v49;
  const double v56 = w->kept[124] * v0 + v55;
  const double v57 = w->kept[127] * v2;
  const double v58 = w->kept[97] * v56 - v57;
  const double v59 = v58 + v58;
  const double v60 = v54 - v59;
  const double v61 = w->kept[145] * v60;
  const double v62 = w->kept[142] * v0;
  const double v63 = v62 + v62;
  const double v64 = w->kept[97] * v2;
  const double v65 = v64 + v64;
  const double v66 = v63 - v65;
  const double v67 = v66 * w->kept[145];
  const double v68 = w->kept[144] * w->kept[144];
  const double v69 = v67 * v68;
  const double v70 = -0.5 * v69;
  const double v71 = w->kept[146] * v70 + v61;
  w->read[0][1] = v71;
  w->read[0][2] = v67;
  w->read[0][3] = 0.0;
  w->read[0][4] = 0.0;
  w->read[0][5] = 0.0;
  w->read[0][6] = 0.0;
}

static void four_bar_read_56(four_bar_work *w)
{
  (void)w;
  const double v0 = w->kept[152] - w->theta[6];
  w->read[0][0] = v0;
  const double v1 = w->kept[97] * w->kept[122];
  const double v2 = w->kept[101] * v1 - w->kept[105];
  const double v3 = w->kept[98] * w->kept[122];
  const double v4 = w->kept[106] - w->kept[100] * v3;
  const double v5 = v2 - v4;
  const double v6 = w->kept[111] * v5;
  const double v7 = w->kept[112] * w->kept[120];
  const double v8 = w->kept[104] * v7 + v6;
  const double v9 = w->kept[100] * v1 + w->kept[102];
  const double v10 = w->kept[101] * v3 + w->kept[103];
  const double v11 = v9 - v10;
  const double v12 = w->kept[111] * w->kept[120];
  const double v13 = w->kept[107] * v12;
  const double v14 = w->kept[112] * v11 - v13;
  const double v15 = v8 + v14;
  const double v16 = -5.0 * v15;
  const double v17 = -8.0 * v11;
  const double v18 = 2.0 * v3 + v17;
  const double v19 = v18 + v16;
  const double v20 = w->kept[104] * v12;
  const double v21 = w->kept[112] * v5 - v20;
  const double v22 = w->kept[111] * v11;
  const double v23 = w->kept[107] * v7 + v22;
  const double v24 = v21 - v23;
  const double v25 = 5.0 * v24;
  const double v26 = 8.0 * v5;
  const double v27 = 2.0 * v1 + v26;
  const double v28 = v27 + v25;
  const double v29 = w->kept[116] * w->kept[116];
  const double v30 = v28 * v29;
  const double v31 = w->kept[114] * v30;
  const double v32 = w->kept[116] * v19 - v31;
  const double v33 = v26 + v25;
  const double v34 = w->kept[117] * v33;
  const double v35 = w->kept[115] * v32 + v34;
  const double v36 = v17 + v16;
  const double v37 = v35 - v36;
  const double v38 = w->kept[117] * v25;
  const double v39 = w->kept[113] * v32 + v38;
  const double v40 = v16 - v39;
  const double v41 = w->kept[118] * w->kept[118];
  const double v42 = v40 * v41;
  const double v43 = w->kept[119] * v42;
  const double v44 = w->kept[118] * v37 - v43;
  const double v45 = w->kept[120] * v25;
  const double v46 = w->kept[113] * v44 + v45;
  const double v47 = v33 + v46;
  const double v48 = w->kept[121] * v30;
  const double v49 = w->kept[116] * v47 - v48;
  const double v50 = w->zd[0] * v49;
  const double v51 = w->kept[124] * v3;
  const double v52 = w->kept[97] * v50 - v51;
  const double v53 = w->kept[142] * v52;
  const double v54 = w->kept[128] * v1 + v53;
  const double v55 = v54 + v54;
  const double v56 = w->kept[98] * v50;
  const double v57 = w->kept[124] * v1 + v56;
  const double v58 = w->kept[127] * v3;
  const double v59 = w->kept[97] * v57 - v58;
  const double v60 = v59 + v59;
  const double v61 = v55 - v60;
  const double v62 = w->kept[145] * v61;
  const double v63 = w->kept[142] * v1;
  const double v64 = v63 + v63;
  const double v65 = w->kept[97] * v3;
  const double v66 = v65 + v65;
  const double v67 = v64 - v66;
  const double v68 = v67 * w->kept[145];
  const double v69 = w->kept[144] * w->kept[144];
  const double v70 = v68 * v69;
  const double v71 = -0.5 * v70;
  const double v72 = w->kept[146] * v71 + v62;
  const double v73 = 80.0 * v72;
  const double v74 = w->kept[148] * v73;
  const double v75 = v74 + v74;
  const double v76 = 0.25 * v75;
  const double v77 = w->kept[150] * v76;
  const double v78 = w->kept[149] * v77;
  const double v79 = v78 + v78;
  const double v80 = w->kept[148] * v79;
  const double v81 = w->kept[150] * v73 - v80;
  const double v82 = 320.0 * v72;
  const double v83 = 1.0 - w->kept[151] * w->kept[151];
  const double v84 = v83 * v82;
  const double v85 = 231.0 * v84;
  const double v86 = 682.0 * v81 + v85;
  const double v87 = 362.7565358052813 * v72 + v86;
  const double v88 = w->theta[7] * v87;
  const double v89 = -v88;
  w->read[0][1] = v89;
  const double v90 = 80.0 * v68;
  const double v91 = w->kept[148] * v90;
  const double v92 = v91 + v91;
  const double v93 = 0.25 * v92;
  const double v94 = w->kept[150] * v93;
  const double v95 = w->kept[149] * v94;
  const double v96 = v95 + v95;
  const double v97 = w->kept[148] * v96;
  const double v98 = w->kept[150] * v90 - v97;
  const double v99 = 320.0 * v68;
  const double v100 = v83 * v99;
  const double v101 = 231.0 * v100;
  const double v102 = 682.0 * v98 + v101;
  const double v103 = 362.7565358052813 * v68 + v102;
  const double v104 = w->theta[7] * v103;
  const double v105 = -v104;
  w->read[0][2] = v105;
  w->read[0][3] = 0.0;
  w->read[0][4] = 0.005026548245743669;
  w->read[0][5] = -0.004064435495581795;
  w->read[0][6] = 0.0;
}

/* ---- outputs ---- */

static const struct {
  int has_row, slot, only, is_read, follows, follows_ends, accelerates;
} output_table[] = {
  {1, 0, -1, 0, 0, 0, 0},
  {1, 0, -1, 0, 0, 0, 0},
  {1, 0, -1, 0, 0, 1, 1},
  {1, 0, 0, 0, 0, 0, 0},
  {1, 0, 1, 0, 0, 0, 0},
  {1, 0, 5, 0, 0, 1, 1},
  {1, 0, -1, 0, 0, 0, 0},
  {1, 0, -1, 0, 0, 0, 0},
  {1, 1, -1, 0, 0, 1, 1},
  {1, 0, 2, 0, 0, 0, 0},
  {1, 0, 3, 0, 0, 0, 0},
  {1, 0, 4, 0, 0, 0, 0},
  {0, 0, -1, 0, 0, 0, 0},
  {1, 0, -1, 0, 0, 0, 0},
  {1, 0, -1, 0, 0, 0, 0},
  {1, 0, -1, 0, 0, 0, 0},
  {0, 0, -1, 0, 0, 0, 0},
};

static double four_bar_output(const four_bar_state *s, int i)
{
  switch (i) {
  case 0:
    return s->z[0];
  case 1:
    return s->zd[0];
  case 2:
    return s->zdd[0];
  case 3:
    return s->z[1];
  case 4:
    return s->zd[1];
  case 5:
    return s->zdd[1];
  case 6:
    return s->z[2];
  case 7:
    return s->zd[2];
  case 8:
    return s->zdd[2];
  case 9:
    return s->p[0];
  case 10:
    return s->p[1];
  case 11:
    return s->p[2];
  case 12:
    return s->U[0];
  case 13:
    return s->work.stroke[0];
  case 14:
    return s->work.velocity[0];
  case 15:
    return s->work.force[0] - s->work.theta[6];
  case 16:
    return s->work.friction[0];
  default:
    return 0.0;
  }
}

static void four_bar_read(four_bar_work *w, int i)
{
  switch (i) {
  case 0:
    four_bar_read_44(w);
    break;
  case 1:
    four_bar_read_45(w);
    break;
  case 2:
    four_bar_read_46(w);
    break;
  case 6:
    four_bar_read_49(w);
    break;
  case 7:
    four_bar_read_50(w);
    break;
  case 8:
    four_bar_read_46(w);
    break;
  case 13:
    four_bar_read_54(w);
    break;
  case 14:
    four_bar_read_55(w);
    break;
  case 15:
    four_bar_read_56(w);
    break;
  default:
    break;
  }
}


/* ---- the step ---- */

#if FOUR_BAR_METERED == 0
static void move_metered(four_bar_work *w) { (void)w; }
#endif

/* A pivot below this part of what it is at the start is refused, one of the loops long before they are singular. */
static const double small_pivot = 1e-3, small_closure_pivot = 0.05;

/* A correction whose square is not below this part of that of the one before is no sign of convergence. */
static const double contraction = 0.25;

/* A step that is not differentiated goes on with the factors of the tangent that it has, as long as the squares of its corrections shrink
 * by this ratio, until so much of the tolerances is estimated to be left, or corrections themselves are as small as rounding. */
static const double old_contraction = 0.01, most_left = 1e-7, rounding = 1e-5;

/* The last iterate, at which the step is differentiated, is not farther from the solution, in units of the tolerances. */
static const double near_enough = 10.0;

static int is_finite(const double *x, int n)
{
  double none = 0.0;
  for (int i = 0; i < n; i++) none += 0.0 * x[i];
  return none == 0.0;
}

static int pivots_hold(const double *pivot, const double *usual, int n, double part)
{
  for (int i = 0; i < n; i++)
    if (!(fabs(pivot[i]) >= part * fabs(usual[i]))) return 0;
  return 1;
}

/* Where a command leads a spool. */
static double reference(const double *theta, int spool, const double *inputs)
{
  const int offset = offset_parameter[spool];
  const double limit = spool_limit[spool];
  const double command = inputs[spool_input[spool]] + (offset < 0 ? 0.0 : theta[offset]);
  return command < -limit ? -limit : command > limit ? limit : command;
}

/* 1 where a spool follows its command, 0 at its limits. */
static void set_gates(four_bar_state *s)
{
  for (int i = 0; i < FOUR_BAR_SPOOLS; i++) {
    const double offset = offset_parameter[i] < 0 ? 0.0 : s->work.theta[offset_parameter[i]];
    s->work.gate[i] = fabs(s->u[spool_input[i]] + offset) < spool_limit[i] ? 1.0 : 0.0;
  }
}

#if FOUR_BAR_MOTIONS > 0
/* Prescribed motions at time t [s]: position, rate, acceleration. */
static void set_motions(four_bar_work *w, double t)
{
  for (int i = 0; i < FOUR_BAR_MOTIONS; i++) {
    const motion *m = &motions[i];
    double sine, cosine, *f = w->motion + 3 * i;
    bramah__sincos(m->omega * t + m->phase, &sine, &cosine);
    f[0] = m->omega != 0.0 ? m->position + m->amplitude * sine : m->position + m->rate * t;
    f[1] = m->omega != 0.0 ? m->omega * m->amplitude * cosine : m->rate;
    f[2] = m->omega != 0.0 ? -m->omega * m->omega * m->amplitude * sine : 0.0;
  }
}
#endif

/* What stands still over `time` from the state: what spherical joints count from; friction states, which go on for it. */
static void freeze(four_bar_state *s, double time)
{
#if FOUR_BAR_BALLS > 0
  memcpy(s->work.base, ball_base, sizeof s->work.base);
#endif
#if FOUR_BAR_BRISTLES > 0
  memcpy(s->work.x, s->x, sizeof s->x);
  memcpy(s->work.xd, s->xd, sizeof s->xd);
  s->work.half[0] = 0.5 * time;
#endif
#if FOUR_BAR_STANDING > 0
  memcpy(s->work.plane, s->plane, sizeof s->plane);
#endif
#if FOUR_BAR_MOTIONS > 0
  set_motions(&s->work, (double)(s->time_ns + (int64_t)(time * 1e9 + 0.5)) * 1e-9);
#endif
  (void)s;
  (void)time;
}

static void set_point(four_bar_state *s)
{
  four_bar_work *w = &s->work;
  set_gates(s);
  freeze(s, 0.0);
  for (int j = 0; j < FOUR_BAR_JOINTS; j++) w->z[j] = s->z[j];
  for (int f = 0; f < FOUR_BAR_INDEPENDENT; f++) {
    w->zd[f] = s->zd[joint[FOUR_BAR_DEPENDENT + f]];
    w->zdd[f] = s->zdd[joint[FOUR_BAR_DEPENDENT + f]];
  }
  for (int i = 0; i < FOUR_BAR_FIRST_ORDER; i++) w->p[i] = s->p[i];
  for (int i = 0; i < FOUR_BAR_SPOOLS; i++) w->U[i] = s->U[i];
}

/* Spools that follow their commands at once. 1: one has moved. */
static int place_spools(four_bar_state *s)
{
  int moved = 0;
  for (int i = 0; i < FOUR_BAR_SPOOLS; i++) {
    if (time_constant[i] > 0.0) continue;
    const double U = reference(s->work.theta, i, s->u);
    moved |= U != s->U[i];
    s->U[i] = U;
  }
  return moved;
}

/* Parameters. An offset of a command lasts: spools go along with its changes at once. */
static void set_up(four_bar_state *s, const double *parameters)
{
  four_bar_work *w = &s->work;
  for (int i = 0; i < FOUR_BAR_SPOOLS && w->is_set_up; i++)
    if (offset_parameter[i] >= 0 && parameters[offset_parameter[i]] != w->theta[offset_parameter[i]])
      s->U[i] += reference(parameters, i, s->u) - reference(w->theta, i, s->u);
  for (int i = 0; i < FOUR_BAR_PARAMETERS; i++) w->theta[i] = parameters[i];
  w->h[0] = FOUR_BAR_STEP;
  four_bar_setup(w);
  w->is_set_up = 1;
}

/* Parameters, commands, and spools that follow these at once. Where these have changed, so have the pressure rates, and by
 * parameters the accelerations: *moved is 1 then, and the work holds the rates. */
static int set_conditions(four_bar_state *s, const double *inputs, const double *parameters, int *moved)
{
  four_bar_work *w = &s->work;
  int other = 0, leaps = FOUR_BAR_LEAPS;
  *moved = 0;
  const double *theta = w->is_set_up ? w->theta : four_bar_nominal;
  for (int i = 0; i < FOUR_BAR_PARAMETERS; i++) other |= parameters[i] != theta[i];
  if (!is_finite(inputs, FOUR_BAR_INPUTS) || (other && !is_finite(parameters, FOUR_BAR_PARAMETERS))) return FOUR_BAR_NOT_FINITE;
  if (!w->is_set_up) set_up(s, four_bar_nominal);
  if (other) set_up(s, parameters);
  for (int i = 0; i < FOUR_BAR_INPUTS; i++) s->u[i] = inputs[i];
#if FOUR_BAR_STANDING > 0
  other |= s->stands_anew;
  s->stands_anew = 0;
#endif
  leaps |= other;
  *moved = place_spools(s) || other;
  if (!*moved) return FOUR_BAR_OK;
  set_point(s);
  four_bar_before(w);
  move_metered(w);
  four_bar_pose(w);
  four_bar_flows(w);
  four_bar_rates(w);
  if (!pivots_hold(w->mass_pivot, usual_mass_pivot, FOUR_BAR_INDEPENDENT, small_pivot)) return FOUR_BAR_SINGULAR;
  for (int j = 0; leaps && j < FOUR_BAR_JOINTS; j++) s->zdd[j] = w->zdd_state[j];
  for (int i = 0; i < FOUR_BAR_FIRST_ORDER; i++) s->pd[i] = w->pd_state[i];
#if FOUR_BAR_BRISTLES > 0
  if (leaps) memcpy(s->xd, w->xd_end, sizeof s->xd);
#endif
  return FOUR_BAR_OK;
}

/* What stays for a step, and spools at its end, which need no iteration. */
static void begin_step(four_bar_state *s, const double *inputs)
{
  four_bar_work *w = &s->work;
  const double h = w->h[0];
#if FOUR_BAR_METERED > 0
  for (int i = 0; i < FOUR_BAR_METERED; i++)
    w->drawn[i] = 2.0 / h * w->stroke[metered_port[i].cylinder] + w->velocity[metered_port[i].cylinder];
#endif
  set_gates(s);
  freeze(s, h);
  for (int i = 0; i < FOUR_BAR_SPOOLS; i++) {
    const double to = reference(w->theta, i, inputs);
    w->U[i] = to;
    if (!(time_constant[i] > 0.0)) continue;
    const double ratio = h / time_constant[i];
    const double next = s->U[i] + ratio * (to - s->U[i]) / (1.0 + 0.5 * ratio);
    w->U[i] = fabs(next - to) < FOUR_BAR_NEGLIGIBLE ? to : next;
  }
}

/* Taylor's guess. */
static void predict(four_bar_state *s, double *change)
{
  const double h = FOUR_BAR_STEP;
  for (int j = 0; j < FOUR_BAR_JOINTS; j++) s->work.z[j] = s->z[j] + h * (s->zd[j] + 0.5 * h * s->zdd[j]);
  for (int f = 0; f < FOUR_BAR_INDEPENDENT; f++) {
    const int j = joint[FOUR_BAR_DEPENDENT + f];
    change[f] = h * (s->zd[j] + 0.5 * h * s->zdd[j]);
  }
  for (int i = 0; i < FOUR_BAR_FIRST_ORDER; i++) {
    const double rise = h * s->pd[i], longest = FOUR_BAR_LONGEST_GUESS;
    change[FOUR_BAR_INDEPENDENT + i] = rise < -longest ? -longest : rise > longest ? longest : rise;
  }
#if FOUR_BAR_METERED > 0
  for (int i = 0; i < FOUR_BAR_METERED; i++) {
    const size_t volume = metered_port[i].volume;
    change[FOUR_BAR_INDEPENDENT + volume] = h * s->pd[volume];
  }
#endif
}

/* The point of the iterate by the trapezoidal rule. */
static void set_iterate(four_bar_state *s, const double *change)
{
  four_bar_work *w = &s->work;
  const double c1 = 2.0 / w->h[0], c2 = c1 * c1;
  for (int f = 0; f < FOUR_BAR_INDEPENDENT; f++) {
    const int j = joint[FOUR_BAR_DEPENDENT + f];
    w->z[j] = s->z[j] + change[f];
    w->zd[f] = c1 * change[f] - s->zd[j];
    w->zdd[f] = c2 * change[f] - 2.0 * c1 * s->zd[j] - s->zdd[j];
  }
  for (int i = 0; i < FOUR_BAR_FIRST_ORDER; i++) {
    w->p[i] = s->p[i] + change[FOUR_BAR_INDEPENDENT + i];
    w->pd[i] = c1 * change[FOUR_BAR_INDEPENDENT + i] - s->pd[i];
  }
}

/* Newton's method with full steps; the loops are closed together with the unknowns. before: size of the guess as a correction
 * of the start, as below; 0: it is none. It has converged where the correction is within the tolerances, or all that would
 * follow is: corrections that shrink by theta < 1/2 add up to theta / (1 - theta) of the last one. any: derivatives follow, which
 * are made of the last tangent. */
static int iterate(four_bar_state *s, double *change, double before, int any)
{
  four_bar_work *w = &s->work;
  int again = 0;
  double last = 0.0;
  for (s->iterations = 1; s->iterations <= FOUR_BAR_ITERATIONS; s->iterations++) {
    const double *correction = w->correction, *closing = w->closing, *closure_pivot = w->closure_pivot;
    set_iterate(s, change);
    move_metered(w);
#if FOUR_BAR_FACTORS > 0
    if (again) {
      correction = w->correction_again;
      closing = w->closing_again;
      closure_pivot = w->closure_pivot_again;
      four_bar_again(w);
    }
#endif
    if (!again) four_bar_iterate(w);
    if ((!again && !pivots_hold(w->pivot, usual_pivot, (int)(sizeof usual_pivot / sizeof *usual_pivot), small_pivot)) ||
        !pivots_hold(closure_pivot, usual_closure_pivot, FOUR_BAR_DEPENDENT, small_closure_pivot))
      return FOUR_BAR_SINGULAR;

    /* Size of the correction in units of the tolerances, and the largest part of it. */
    double size = 0.0, largest = 0.0;
    for (int k = 0; k < FOUR_BAR_UNKNOWNS; k++) {
      const double part = fabs(correction[k]) / tolerance[k];
      size += part * part;
      largest = part > largest ? part : largest;
    }
    for (int k = 0; k < FOUR_BAR_DEPENDENT; k++) {
      const double part = fabs(closing[k]) / FOUR_BAR_CLOSED;
      largest = part > largest ? part : largest;
    }
    const double shrinks = size / last;
    const int is_again = again, is_tiny = largest <= rounding;
    again = FOUR_BAR_FACTORS > 0 && !any && (!is_again || is_tiny || shrinks <= old_contraction);
    if (is_again && !again) continue;
    if (!is_again && !(size < (s->iterations == 1 ? (double)INFINITY : contraction * before))) return FOUR_BAR_NO_CONVERGENCE;
    const int follows_little = largest <= near_enough && 4.0 * size * largest * largest <= before;
    last = size;
    before = is_again ? before : size;
    for (int k = 0; k < FOUR_BAR_UNKNOWNS; k++) change[k] += correction[k];
    for (int k = 0; k < FOUR_BAR_DEPENDENT; k++) w->z[joint[k]] += closing[k];
    if (is_again ? is_tiny || sqrt(shrinks) * largest <= most_left : largest <= 1.0 || follows_little) return FOUR_BAR_OK;
  }
  s->iterations = FOUR_BAR_ITERATIONS;
  return FOUR_BAR_NO_CONVERGENCE;
}

static int is_sound(const four_bar_work *w)
{
  if (!is_finite(w->z, FOUR_BAR_JOINTS) || !is_finite(w->zd_all, FOUR_BAR_JOINTS) ||
      !is_finite(w->zdd_all, FOUR_BAR_JOINTS) || !is_finite(w->p, FOUR_BAR_FIRST_ORDER))
    return FOUR_BAR_NOT_FINITE;
#if FOUR_BAR_BALLS > 0
  for (int i = 0; i < FOUR_BAR_BALLS; i++) {
    double sine, cosine;
    bramah__sincos(w->z[ball_pitch[i]], &sine, &cosine);
    if (!(fabs(cosine) >= FOUR_BAR_SINGULAR_COSINE)) return FOUR_BAR_SINGULAR;
  }
#endif
  for (int i = 0; i < FOUR_BAR_ACTUATORS; i++)
    if (w->stroke[i] <= least_stroke[i] || w->stroke[i] >= most_stroke[i]) return FOUR_BAR_STROKE;
  return FOUR_BAR_OK;
}

static void take(four_bar_state *s)
{
  const four_bar_work *w = &s->work;
  s->error = 0.0;
  for (int j = 0; j < FOUR_BAR_JOINTS; j++) {
    const double error = w->h[0] * w->h[0] / 12.0 * fabs(w->zdd_all[j] - s->zdd[j]);
    s->error = error > s->error ? error : s->error;
    s->z[j] = w->z[j];
    s->zd[j] = w->zd_all[j];
    s->zdd[j] = w->zdd_all[j];
  }
  for (int i = 0; i < FOUR_BAR_FIRST_ORDER; i++) {
    s->p[i] = w->p[i];
    s->pd[i] = w->pd[i];
  }
#if FOUR_BAR_METERED > 0
  for (int i = 0; i < FOUR_BAR_METERED; i++) { /* not carried over but as they are */
    const bramah__metered_port *port = &metered_port[i];
    s->pd[port->volume] = port->stiffness / metered[i].A_h * (w->w[i] - w->speed[port->cylinder]);
  }
#endif
  for (int i = 0; i < FOUR_BAR_SPOOLS; i++) s->U[i] = w->U[i];
#if FOUR_BAR_BRISTLES > 0
  memcpy(s->x, w->x_end, sizeof s->x);
  memcpy(s->xd, w->xd_end, sizeof s->xd);
#endif
#if FOUR_BAR_MOTIONS > 0
  s->time_ns += (int64_t)(w->h[0] * 1e9 + 0.5);
#endif
  for (int i = 0; i < FOUR_BAR_ACTUATORS; i++) {
    s->stroke[i] = w->stroke[i];
    s->velocity[i] = w->velocity[i];
    s->force[i] = w->force[i];
  }
}

/* The changes of the unknowns over the step. any: derivatives follow. */
static int solve(four_bar_state *s, const double *inputs, double *change, int any)
{
  predict(s, change);
  begin_step(s, inputs);
  four_bar_before(&s->work);
  return iterate(s, change, 0.0, any);
}

/* What follows from them; nothing is taken yet. */
static int finish(four_bar_state *s, const double *change)
{
  set_iterate(s, change);
  move_metered(&s->work);
  four_bar_pose(&s->work);
  four_bar_ends(&s->work);
  return is_sound(&s->work);
}

FOUR_BAR_FUNCTION int four_bar_step(four_bar_state *s, const double *inputs, const double *parameters)
{
  double change[FOUR_BAR_ROOM(FOUR_BAR_UNKNOWNS)];
  int moved, status = set_conditions(s, inputs, parameters, &moved);
#if FOUR_BAR_METERED > 0
  if (status == FOUR_BAR_OK && !moved) { /* the strokes that the step starts from */
    set_point(s);
    four_bar_before(&s->work);
    four_bar_speeds(&s->work);
    four_bar_pose(&s->work);
  }
#endif
  if (status == FOUR_BAR_OK) status = solve(s, inputs, change, 0);
  if (status == FOUR_BAR_OK) status = finish(s, change);
  if (status != FOUR_BAR_OK) return status;
  take(s);
  return s->error > FOUR_BAR_TOLERANCE ? FOUR_BAR_COARSE : FOUR_BAR_OK;
}

/* ---- the covariance ---- */

#define BRAMAH__LANES 1
#define BRAMAH__KERNEL(name) kernel_##name
/* SPDX-License-Identifier: MIT */
/* What kernel.h is told of a filter. */
#ifndef BRAMAH_ESTIMATORS_KERNEL_SHAPE_H
#define BRAMAH_ESTIMATORS_KERNEL_SHAPE_H


/* An augmented state of order 1 or 2: the first of its places. */
typedef struct bramah__kernel_block {
  size_t state, order;
} bramah__kernel_block;

/* What of F [n x n] and Gamma [n x nq] may not be zero. */
typedef struct bramah__kernel_shape {
  size_t n, n_plant, nq;
  size_t n_acting, n_moving, n_noisy;
  const size_t *acting;               /* columns of F that rows of the plant have entries in, ascending */
  const bramah__kernel_block *moving; /* augmented states whose block of F is not the identity */
  const bramah__kernel_block *noisy;  /* and those with noise */
} bramah__kernel_shape;

#endif
/* SPDX-License-Identifier: MIT */
/* The arithmetic of a cycle on the covariance P [n x n] of a filter, or of several in lockstep. This text is included
 * once for each number of filters, with
 *
 *   BRAMAH__LANES           how many go in lockstep: of every number those of all lanes lie side by side, so that entry
 *                           (i, j) of lane l of a matrix with m columns is at (i m + j) BRAMAH__LANES + l
 *   BRAMAH__KERNEL(name)    what its functions are called
 *
 * A cycle is
 *
 *   propagate               P = F P F' + Gamma Gamma'            leaves all of P
 *   of each sample:
 *     project               PH = P H', H P H'
 *     gain                  K = PH / S, 0 where held; dx += K (y - H dx),  S = H P H' + r
 *     reduce                P = (I - K H) P (I - K H)' + K r K'  of the upper triangle alone
 *   mirror                  the lower triangle from the upper one
 *
 * (dissertation 3.3-3.9). What is fixed is the order of every sum: terms ascend with the index, and each is rounded
 * (no contraction). Terms that are zero by structure are left out, which changes no bit of a finite number: a lane that
 * takes part in what only others need adds zeros. So one lane, several lanes and generated code agree to the bit.
 *
 * Joseph's form of one sample, by K = PH / S: what the product from the left takes off, P1 = P - K PH', is symmetric up
 * to rounding, and the product from the right, P1 + (K r - P1 H') K', is P1 up to rounding too: it is what keeps P
 * positive, P1 alone does not where r is small beside S. Of the upper triangle P1 is kept, and for S > 1000 r the mean of
 * both sides added:
 *   P_ij = P1_ij + ((w_i K_j) + (w_j K_i)) / 2,  w = K r - P1 H'
 * Where the gain is held at zero (Schmidt) it is exact to leave P among those held as it is, and to take PH_i K_j or
 * K_i PH_j off where one of the two is. Matrices row-major; no allocation; nothing fails. */

#if defined __GNUC__
#define BRAMAH__INLINE static inline __attribute__((always_inline))
#else
#define BRAMAH__INLINE static inline
#endif

/* A sample matters to rounding whose innovation has so many times its own variance. */
#define PRECISE 1e3

#define LANES ((size_t)BRAMAH__LANES)
#define SMALL 8 /* up to here loops over all states are written out */
#if BRAMAH__LANES > 1 && defined __GNUC__ && !defined __clang__ /* as processors.h */
#define EACH_LANE _Pragma("GCC unroll 1") for (size_t l = 0; l < LANES; l++)
#else
#define EACH_LANE for (size_t l = 0; l < LANES; l++)
#endif
#define AT(k) ((k)*LANES + l)
#define COLUMN(c) (column ? column[c] : (c)) /* of those that a function is told of; NULL: all */

/* Is state i held in some lane (held = 1), or free in some (0)? NULL: all are free. */
BRAMAH__INLINE int BRAMAH__KERNEL(some)(const unsigned char *held, size_t i, unsigned char wanted)
{
  int found = 0;
  if (!held) return !wanted;
  EACH_LANE found |= held[AT(i)] == wanted;
  return found;
}

/* y_j += factor x_j, j from first to end. */
BRAMAH__INLINE void BRAMAH__KERNEL(add)(size_t first, size_t end, const double *factor,
                                        const double *restrict x, double *restrict y)
{
  for (size_t j = first; j < end; j++) EACH_LANE y[AT(j)] += factor[l] * x[AT(j)];
}

/* `wide` columns from j on of the product of a row of F, of whose entries those listed may not be zero, and P: the sums
 * stay in registers. */
BRAMAH__INLINE void BRAMAH__KERNEL(row_times)(size_t wide, size_t j, size_t n, size_t count,
                                              const size_t *column, const double *F, const double *restrict P,
                                              double *restrict out)
{
  double sum[16 * BRAMAH__LANES];
  for (size_t b = 0; b < wide * LANES; b++) sum[b] = 0.0;
  for (size_t c = 0; c < count; c++) {
    const double *f = F + COLUMN(c) * LANES, *x = P + (COLUMN(c) * n + j) * LANES;
    for (size_t b = 0; b < wide; b++) EACH_LANE sum[AT(b)] += f[l] * x[AT(b)];
  }
  for (size_t b = 0; b < wide * LANES; b++) out[j * LANES + b] = sum[b];
}

/* Rows (columns: the same, `step` from row to row) of a block of augmented states by its entries of F. */
BRAMAH__INLINE void BRAMAH__KERNEL(turn)(size_t n, const bramah__kernel_block *block, const double *F,
                                         size_t along, size_t across, double *P)
{
  const size_t s = block->state;
  const double *top = F + (s * n + s) * LANES, *bottom = top + n * LANES;
  for (size_t j = 0; j < n; j++) {
    double *x = P + (s * across + j * along) * LANES, *y = x + across * LANES;
    EACH_LANE
    {
      const double value = x[l], rate = block->order == 2 ? y[l] : 0.0;
      x[l] = top[l] * value;
      if (block->order != 2) continue;
      x[l] += top[LANES + l] * rate;
      y[l] = bottom[l] * value + bottom[LANES + l] * rate;
    }
  }
}

/* Blocks of augmented states in P = F P F' + Gamma Gamma', when the rows of the plant are there. */
BRAMAH__INLINE void BRAMAH__KERNEL(propagate_blocks)(const bramah__kernel_shape *shape, const double *F,
                                                     const double *Gamma, double *restrict P)
{
  const size_t n = shape->n, nq = shape->nq;
  for (size_t b = 0; b < shape->n_moving; b++) {
    const bramah__kernel_block *block = &shape->moving[b];
    const size_t s = block->state;
    BRAMAH__KERNEL(turn)(n, block, F, 1, n, P);
    BRAMAH__KERNEL(turn)(n, block, F, n, 1, P);
    if (block->order == 2) EACH_LANE P[AT(s * n + s + 1)] = P[AT((s + 1) * n + s)];
  }
  for (size_t b = 0; b < shape->n_noisy; b++) {
    const size_t s = shape->noisy[b].state;
    const double *top = Gamma + (s * nq + s) * LANES, *bottom = top + nq * LANES;
    EACH_LANE P[AT(s * n + s)] += top[l] * top[l];
    if (shape->noisy[b].order != 2) continue;
    EACH_LANE
    {
      P[AT((s + 1) * n + s)] = P[AT(s * n + s + 1)] += top[l] * bottom[l];
      P[AT((s + 1) * n + s + 1)] += bottom[l] * bottom[l] + bottom[LANES + l] * bottom[LANES + l];
    }
  }
}

/* P = F P F' + Gamma Gamma'. F [n x n] has rows of the plant with entries in the columns `acting`, and blocks of the
 * augmented states, of which those that are not the identity are listed, as are those with noise. Gamma [n x nq] has
 * its columns below n_plant and from n on in rows of the plant alone, the others in those of their own block. T
 * [n_plant x n] is scratch. */
BRAMAH__INLINE void BRAMAH__KERNEL(propagate)(const bramah__kernel_shape *shape, const double *F,
                                              const double *Gamma, double *restrict P, double *restrict T)
{
  const size_t n = shape->n, ne = shape->n_plant, nq = shape->nq;
  const size_t *column = shape->acting, count = shape->n_acting;
  for (size_t r = 0; r < ne; r++) {
    const double *row = F + r * n * LANES;
    double *out = T + r * n * LANES;
    size_t j = 0;
    for (; LANES == 1 && j + 16 <= n; j += 16)
      BRAMAH__KERNEL(row_times)(16, j, n, count, column, row, P, out);
    for (; LANES <= 4 && j + 4 <= n; j += 4) BRAMAH__KERNEL(row_times)(4, j, n, count, column, row, P, out);
    for (; j < n; j++) BRAMAH__KERNEL(row_times)(1, j, n, count, column, row, P, out);
  }
  for (size_t r = 0; r < ne; r++)
    for (size_t s = 0; s <= r; s++) {
      double sum[BRAMAH__LANES] = {0}, noise[BRAMAH__LANES] = {0};
      for (size_t c = 0; c < count; c++)
        EACH_LANE sum[l] += T[AT(r * n + COLUMN(c))] * F[AT(s * n + COLUMN(c))];
      for (size_t k = 0; k < ne; k++) EACH_LANE noise[l] += Gamma[AT(r * nq + k)] * Gamma[AT(s * nq + k)];
      for (size_t k = n; k < nq; k++) EACH_LANE noise[l] += Gamma[AT(r * nq + k)] * Gamma[AT(s * nq + k)];
      EACH_LANE P[AT(r * n + s)] = P[AT(s * n + r)] = sum[l] + noise[l];
    }
  for (size_t r = 0; r < ne; r++)
    for (size_t k = ne; k < n; k++) EACH_LANE P[AT(r * n + k)] = P[AT(k * n + r)] = T[AT(r * n + k)];
  BRAMAH__KERNEL(propagate_blocks)(shape, F, Gamma, P);
}

/* The first `end` elements of P H', of all of P or of its upper triangle; columns of H as in project. */
BRAMAH__INLINE void BRAMAH__KERNEL(times)(int whole, size_t n, size_t end, size_t count, const size_t *column,
                                          const double *H, const double *restrict P, double *restrict out)
{
  for (size_t k = 0; k < end * LANES; k++) out[k] = 0.0;
  for (size_t s = 0; s < count; s++) {
    const size_t c = COLUMN(s), middle = whole ? 0 : c < end ? c : end;
    if (n <= SMALL && !whole) {
      for (size_t i = 0; i < end; i++)
        EACH_LANE out[AT(i)] += P[AT(i < c ? i * n + c : c * n + i)] * H[AT(c)];
      continue;
    }
    for (size_t i = 0; i < middle; i++) EACH_LANE out[AT(i)] += P[AT(i * n + c)] * H[AT(c)];
    BRAMAH__KERNEL(add)(middle, end, H + c * LANES, P + c * n * LANES, out);
  }
}

/* PH [n] = P H' of all of P or of its upper triangle, and H PH. H has entries in the `count` columns listed, ascending; NULL: in
 * the first `count`. */
BRAMAH__INLINE void BRAMAH__KERNEL(project)(int whole, size_t n, size_t count, const size_t *column,
                                            const double *H, const double *restrict P, double *restrict PH,
                                            double *variance)
{
  BRAMAH__KERNEL(times)(whole, n, n, count, column, H, P, PH);
  EACH_LANE variance[l] = 0.0;
  for (size_t s = 0; s < count; s++) {
    const size_t c = COLUMN(s);
    EACH_LANE variance[l] += H[AT(c)] * PH[AT(c)];
  }
}

/* K [n] and dx from PH, the variance S of the innovation and what the innovation has left, rest. */
BRAMAH__INLINE void BRAMAH__KERNEL(gain)(size_t n, const unsigned char *held, const double *restrict PH,
                                         const double *S, const double *rest, double *restrict K,
                                         double *restrict dx)
{
  double inverse[BRAMAH__LANES], share[BRAMAH__LANES];
  EACH_LANE
  {
    inverse[l] = 1.0 / S[l];
    share[l] = rest[l] * inverse[l];
  }
  for (size_t i = 0; i < n; i++) EACH_LANE
    {
      const double shown = held && held[AT(i)] ? 0.0 : PH[AT(i)];
      K[AT(i)] = shown * inverse[l];
      dx[AT(i)] += shown * share[l];
    }
}

/* The upper triangle of P after a sample with row H (columns as in project), variances S and r, PH and the gain K;
 * w [n] is scratch. States from `end` on are held in all lanes. */
BRAMAH__INLINE void BRAMAH__KERNEL(reduce)(size_t n, size_t end, const unsigned char *held, size_t count,
                                           const size_t *column, const double *H, const double *S,
                                           const double *r, const double *restrict PH,
                                           const double *restrict K, double *restrict w, double *restrict P)
{
  for (size_t i = 0; i < end; i++) {
    double factor[BRAMAH__LANES];
    if (BRAMAH__KERNEL(some)(held, i, 0)) {
      EACH_LANE factor[l] = -K[AT(i)];
      BRAMAH__KERNEL(add)(i, n, factor, PH, P + i * n * LANES);
    }
    if (BRAMAH__KERNEL(some)(held, i, 1)) {
      EACH_LANE factor[l] = held[AT(i)] ? -PH[AT(i)] : 0.0;
      BRAMAH__KERNEL(add)(i, end, factor, K, P + i * n * LANES);
    }
  }

  /* what rounding left, half of it from either side */
  int matters = 0;
  EACH_LANE matters |= S[l] > PRECISE * r[l];
  if (!matters) return;
  BRAMAH__KERNEL(times)(0, n, end, count, column, H, P, w);
  for (size_t i = 0; i < end; i++) EACH_LANE
    {
      const int none = (held && held[AT(i)]) || !(S[l] > PRECISE * r[l]);
      w[AT(i)] = none ? 0.0 : 0.5 * (K[AT(i)] * r[l] - w[AT(i)]);
    }
  for (size_t i = 0; i < end; i++) {
    double *row = P + i * n * LANES;
    if (!BRAMAH__KERNEL(some)(held, i, 0)) continue;
    for (size_t j = i; j < end; j++) EACH_LANE row[AT(j)] += w[AT(i)] * K[AT(j)] + w[AT(j)] * K[AT(i)];
  }
}

/* The lower triangle from the first `end` rows of the upper one; the rest is as it was. */
BRAMAH__INLINE void BRAMAH__KERNEL(mirror)(size_t n, size_t end, double *P)
{
  for (size_t i = 0; i < end; i++)
    for (size_t j = i + 1; j < n; j++) EACH_LANE P[AT(j * n + i)] = P[AT(i * n + j)];
}

#undef LANES
#undef PRECISE
#undef SMALL
#undef EACH_LANE
#undef AT
#undef COLUMN

/* ---- the filter ---- */

#define N_PAR 0
#define N_PAR_NOISE 0
#define NQ 5
#define HOLDS 0
#define CHANGES 0
#define RIPPLES 0
#define DISPLACED 0
#define N_EDGES 0
#define KINKS 0
#define ROOT 0
#define LEAST_LEFT 1e-12
#define ROOT_STEP 0.03162277660168379
#define ROOT_CUBED_STEP 9.12870929175277e-06
#define DRIFT_GATE 6.0
#define DRIFT_SIGMA 0.10050378152592121
static const int basis[] = {0};
static const double acceleration_noise[] = {0.002};
static const double first_order_noise[] = {1581.1388300841895, 1581.1388300841895, 1581.1388300841895};
static const double initial_covariance[] = {0.0038226562981388645, 0.0, 0.0, 0.0, 0.0, 0.0, 0.013943378188269613, 0.0, 0.0, 0.0, 0.0, 0.0, 1e+10, 0.0, 0.0, 0.0, 0.0, 0.0, 1e+10, 0.0, 0.0, 0.0, 0.0, 0.0, 1e+10};
#define EACH_SENSOR(X) case 0: return X(0); case 1: return X(1); case 2: return X(2); case 3: return X(3); case 4: return X(4);
static const double sensor_variance[] = {0.00030461741978670857, 9.682560000000002e-07, 2.5e+09, 2.5e+09, 2.5e+09};
static const double sensor_gate[] = {4.0, 4.0, 4.0, 4.0, 4.0};
static const double sensor_period[] = {6.283185307179586, 0.0, 0.0, 0.0, 0.0};
static const int sensor_group[] = {0, 0, 1, 1, 1};
#define SHAPES 0
#define EDGES_SHOWN 0
static const double sensor_least[] = {-(double)INFINITY, -(double)INFINITY, -(double)INFINITY, -(double)INFINITY, -(double)INFINITY};
static const double sensor_most[] = {(double)INFINITY, (double)INFINITY, (double)INFINITY, (double)INFINITY, (double)INFINITY};
static const int first_term[] = {0, 1, 2, 3, 4, 5};
static const int first_column[] = {0, 1, 3, 4, 5, 6};
static const size_t row_column[] = {0, 0, 1, 2, 3, 4};
static const double term_weight[] = {1.0, 1.0, 1.0, 1.0, 1.0};
static const int term_output[] = {0, 1, 9, 10, 11};
#ifndef BRAMAH_DEVICE
const char *const four_bar_sensor_names[FOUR_BAR_ROOM(FOUR_BAR_SENSORS)] = {"crank_encoder", "crank_gyro", "p1", "p2", "p3"};
#endif
#ifndef BRAMAH_DEVICE
const char *const four_bar_output_names[FOUR_BAR_ROOM(FOUR_BAR_OUTPUTS)] = {"crank.angle", "crank.rate", "crank.acceleration", "coupler.angle", "coupler.rate", "coupler.acceleration", "rocker.angle", "rocker.rate", "rocker.acceleration", "v1.pressure", "v2.pressure", "v3.pressure", "valve.spool", "lift.stroke", "lift.velocity", "lift.force", "lift.friction"};
#endif
#ifndef BRAMAH_DEVICE
const char *const four_bar_sensor_units[FOUR_BAR_ROOM(FOUR_BAR_SENSORS)] = {"rad", "rad/s", "Pa", "Pa", "Pa"};
#endif
#ifndef BRAMAH_DEVICE
const char *const four_bar_output_units[FOUR_BAR_ROOM(FOUR_BAR_OUTPUTS)] = {"rad", "rad/s", "rad/s^2", "rad", "rad/s", "rad/s^2", "rad", "rad/s", "rad/s^2", "Pa", "Pa", "Pa", "V", "m", "m/s", "N", "N"};
#endif
static const bramah__kernel_shape shape = {5, 5, 5, 5, 0, 0, NULL, NULL, NULL};
#ifndef BRAMAH_DEVICE
const char *const four_bar_augmented_names[FOUR_BAR_ROOM(FOUR_BAR_AUGMENTED)] = {""};
#endif

enum { N = FOUR_BAR_ERRORS, NF = FOUR_BAR_INDEPENDENT, NP = FOUR_BAR_FIRST_ORDER, NX = FOUR_BAR_UNKNOWNS, NH = FOUR_BAR_BRISTLE_ERRORS };
enum { NN = NX + NH, NE = NF + NN }; /* noises, errors of the plant */

static double square(double x) { return x * x; }

/* y less whole periods, exactly. */
static double wrap(double y, double period)
{
  double rest = fabs(y), whole = period;
  int odd = 0;
  while (whole <= 0.5 * rest) whole *= 2.0;
  for (; whole >= period; whole *= 0.5) {
    odd = rest >= whole;
    if (odd) rest -= whole;
  }
  if (rest > 0.5 * period || (odd && rest == 0.5 * period)) rest -= period;
  return y < 0.0 ? -rest : rest;
}

/* ---- the plant ---- */

/* What the work holds of the state. */
enum { NOTHING, POSE, RATES, SLOPES, STARTS };

/* After a step friction states are still those of its start. */
enum { AFTER_STEP = FOUR_BAR_BRISTLES > 0 ? NOTHING : POSE };

static int locate(four_bar_filter *f, int wanted)
{
  four_bar_work *w = &f->plant.work;
  if (f->known < POSE) {
    set_point(&f->plant);
    four_bar_before(w);
    move_metered(w);
    four_bar_pose(w);
    f->known = POSE;
  }
  if (f->known < RATES && wanted >= RATES) {
    four_bar_flows(w);
    four_bar_rates(w);
    if (!pivots_hold(w->mass_pivot, usual_mass_pivot, NF, small_pivot)) return FOUR_BAR_SINGULAR;
    f->known = RATES;
  }
  if (f->known < SLOPES && wanted >= SLOPES) {
    four_bar_slopes(w);
    f->known = SLOPES;
  }
#if N_PAR > 0
  if (f->known < STARTS && wanted >= STARTS) {
    four_bar_start_parameters(w);
    f->known = STARTS;
  }
#endif
  return FOUR_BAR_OK;
}

/* The changes of the unknowns over the step, from where the slopes at its start lead, which are in the work. */
static int solve_by_slopes(four_bar_state *s, const double *inputs, double *change)
{
  four_bar_work *w = &s->work;
  double before = 0.0;
  if (FOUR_BAR_BRISTLES > 0) return solve(s, inputs, change, 1); /* there these say little */
  four_bar_guess(w);
  for (int k = 0; k < NX; k++) {
    change[k] = w->guess[k];
    before += square(change[k] / tolerance[k]);
  }
  for (int k = 0; k < FOUR_BAR_DEPENDENT; k++) w->z[joint[k]] = s->z[joint[k]] + w->guess_dependent[k];
  begin_step(s, inputs);
  four_bar_before(w);
  return iterate(s, change, before, 1);
}

/* Close the loops of what is in the work. */
static int place(four_bar_work *w)
{
  if (FOUR_BAR_DEPENDENT == 0) return FOUR_BAR_OK;
  for (int i = 0; i < 20; i++) {
    double largest = 0.0;
    four_bar_place(w);
    if (!pivots_hold(w->closure_pivot, usual_closure_pivot, FOUR_BAR_DEPENDENT, small_closure_pivot))
      return FOUR_BAR_SINGULAR;
    for (int k = 0; k < FOUR_BAR_DEPENDENT; k++) {
      const double move = fabs(w->closing[k]);
      largest = move > largest ? move : largest;
    }
    if (largest <= 1e-4 * FOUR_BAR_PLACED) return FOUR_BAR_OK; /* closed but for rounding */
    for (int k = 0; k < FOUR_BAR_DEPENDENT; k++) w->z[joint[k]] += w->closing[k];
    if (largest <= FOUR_BAR_PLACED) return FOUR_BAR_OK;
  }
  return FOUR_BAR_NO_CONVERGENCE;
}

/* The positions, rates and first-order states in the work, once the loops are closed, become the state. */
static int adopt(four_bar_filter *f)
{
  four_bar_state *s = &f->plant;
  four_bar_work *w = &s->work;
  int status = place(w);
  f->known = NOTHING;
  if (status != FOUR_BAR_OK) return status;
  move_metered(w);
  four_bar_pose(w);
  four_bar_flows(w);
  four_bar_rates(w);
  if (!pivots_hold(w->mass_pivot, usual_mass_pivot, NF, small_pivot)) return FOUR_BAR_SINGULAR;
  if (!is_finite(w->z, FOUR_BAR_JOINTS) || !is_finite(w->zd_all, FOUR_BAR_JOINTS) ||
      !is_finite(w->zdd_state, FOUR_BAR_JOINTS) || !is_finite(w->p, NP))
    return FOUR_BAR_NOT_FINITE;
  for (int j = 0; j < FOUR_BAR_JOINTS; j++) {
    s->z[j] = w->z[j];
    s->zd[j] = w->zd_all[j];
    s->zdd[j] = w->zdd_state[j];
  }
  for (int i = 0; i < NP; i++) {
    s->p[i] = w->p[i];
    s->pd[i] = w->pd_state[i];
  }
#if FOUR_BAR_BRISTLES > 0
  memcpy(s->x, w->x, sizeof s->x);
  memcpy(s->xd, w->xd_end, sizeof s->xd);
#endif
  f->known = RATES;
  return FOUR_BAR_OK;
}

static int inject_state(four_bar_filter *f, const double *dx)
{
  four_bar_state *s = &f->plant;
  four_bar_work *w = &s->work;
  const int status = locate(f, POSE);
  if (status != FOUR_BAR_OK) return status;
  for (int j = 0; j < FOUR_BAR_JOINTS; j++) {
    w->z[j] = s->z[j];
    for (int i = 0; i < NF; i++) w->z[j] += w->Rz[j * NF + i] * dx[i];
  }
  for (int i = 0; i < NF; i++) w->zd[i] = s->zd[joint[FOUR_BAR_DEPENDENT + i]] + dx[NF + i];
  for (int i = 0; i < NP; i++) w->p[i] = s->p[i] + dx[2 * NF + i];
#if FOUR_BAR_BRISTLE_ERRORS > 0
  for (int i = 0; i < NH; i++) w->x[bristle[i]] = s->x[bristle[i]] + dx[2 * NF + NP + i];
  four_bar_before(w);
#endif
  return adopt(f);
}

enum { PLANT_BYTES = sizeof(four_bar_state) - sizeof(four_bar_work) }; /* the work is its end */

/* What of a filter a step or a change of parameters moves, to put it back. */
typedef struct kept_state {
  unsigned char plant[PLANT_BYTES];
#if FOUR_BAR_AUGMENTED > 0
  double parameters[FOUR_BAR_ROOM(FOUR_BAR_PARAMETERS)], mean[N - NE];
#endif
} kept_state;

static void keep(four_bar_filter *f, kept_state *k, int back)
{
#if FOUR_BAR_AUGMENTED > 0
  if (back) set_up(&f->plant, k->parameters);
#define KEEP(name) memcpy(back ? f->name : k->name, back ? k->name : f->name, sizeof k->name)
  KEEP(parameters);
  KEEP(mean);
#endif
  if (back)
    memcpy(&f->plant, k->plant, sizeof k->plant);
  else
    memcpy(k->plant, &f->plant, sizeof k->plant);
  if (back) f->known = NOTHING;
}

/* What an output needs before its value is there: readings. */
static int look(four_bar_filter *f, int i)
{
  four_bar_state *s = &f->plant;
  four_bar_work *w = &s->work;
  const int status = locate(f, POSE);
  if (status != FOUR_BAR_OK) return status;
  if (output_table[i].follows_ends) {
    for (int k = 0; k < NF; k++) w->zdd[k] = s->zdd[joint[FOUR_BAR_DEPENDENT + k]];
    four_bar_ends(w);
  }
  four_bar_read(w, i);
  return FOUR_BAR_OK;
}

/* Derivative k of an output that has been read: by the error state, the independent accelerations, parameters. */
BRAMAH__INLINE double derivative(const four_bar_work *w, int i, int k)
{
  const int only = output_table[i].only;
  return only < 0 ? w->read[output_table[i].slot][1 + k] : k == only ? 1.0 : 0.0;
}

/* The row of an output, its derivative by the error state, of parameters by their value; its value is there, too, then. */
BRAMAH__INLINE int set_row(four_bar_filter *f, int i, double *row)
{
  four_bar_work *w = &f->plant.work;
  int status = locate(f, output_table[i].accelerates ? STARTS : POSE);
  if (status == FOUR_BAR_OK && output_table[i].only < 0) status = look(f, i);
  if (status != FOUR_BAR_OK) return status;
  for (int k = 0; k < N; k++) row[k] = k < NE ? derivative(w, i, k) : 0.0;
  for (int a = 0; a < NF && output_table[i].accelerates; a++)
    for (int k = 0; k < NE; k++) row[k] += derivative(w, i, NE + a) * w->A[a * NE + k];
#if N_PAR > 0
  for (int k = 0; k < FOUR_BAR_AUGMENTED && output_table[i].follows; k++) {
    if (extra[k].parameter < 0) continue;
    double by = derivative(w, i, NE + NF + extra[k].parameter);
    for (int a = 0; a < NF && output_table[i].accelerates; a++) by += derivative(w, i, NE + a) * w->start[extra[k].column][a];
    row[extra[k].state] = by;
  }
#endif
  return FOUR_BAR_OK;
}

#if SHAPES || CHANGES || EDGES_SHOWN
/* What the terms of a sensor show, and how that goes with its two sums, of which most have one: the arc sine of the sum, or the
 * angle of the sum of the first terms and that of the others. */
static int show(four_bar_filter *f, int i, double *shown, double *slope)
{
  double sum[2] = {0.0, 0.0};
  int status = FOUR_BAR_OK;
  for (int t = first_term[i]; t < first_term[i + 1] && status == FOUR_BAR_OK; t++) {
    int second = 0;
#if SHAPES
    second = t >= first_term[i] + sensor_first[i];
#endif
    if (output_table[term_output[t]].is_read) status = look(f, term_output[t]);
    sum[second] += term_weight[t] * four_bar_output(&f->plant, term_output[t]);
  }
  slope[0] = 1.0;
  slope[1] = 0.0;
  *shown = sum[0];
#if SHAPES
  enum { ARCSINE = 1, ANGLE = 2 };
  const double least_cosine = 1e-7;
  if (sensor_shape[i] == ARCSINE) {
    const double square = (1.0 - sum[0]) * (1.0 + sum[0]), cosine = square > 0.0 ? sqrt(square) : 0.0;
    const double below = sum[0] < 1.0 ? sum[0] : 1.0, sine = below > -1.0 ? below : -1.0;
    slope[0] = 1.0 / (cosine > least_cosine ? cosine : least_cosine);
    *shown = bramah__atan2(sine, sqrt((1.0 - sine) * (1.0 + sine)));
  } else if (sensor_shape[i] == ANGLE) {
    const double sums = sum[0] * sum[0] + sum[1] * sum[1], least = least_cosine * least_cosine, square = sums > least ? sums : least;
    slope[0] = sum[1] / square;
    slope[1] = -sum[0] / square;
    *shown = bramah__atan2(sum[0], sum[1]);
  }
#endif
  return status;
}
#endif


FOUR_BAR_FUNCTION int four_bar_inject(four_bar_filter *f, const double *dx)
{
  if (!is_finite(dx, N)) return FOUR_BAR_NOT_FINITE;
#if FOUR_BAR_AUGMENTED > 0
  kept_state before;
  int moved = 0;
  keep(f, &before, 0);
  for (int i = 0; i < FOUR_BAR_AUGMENTED; i++) {
    const augmented *a = &extra[i];
    if (a->order == 2) f->mean[a->state + 1 - NE] += dx[a->state + 1];
    moved |= set_augmented(f, i, displaced(a, augmented_value(f, i), dx[a->state]));
  }
  int status = moved ? settle(f) : FOUR_BAR_OK;
  if (status == FOUR_BAR_OK) status = inject_state(f, dx);
  if (status != FOUR_BAR_OK) keep(f, &before, 1);
  return status;
#else
  return inject_state(f, dx);
#endif
}


/* ---- prediction ---- */

/* B: the coordinates in which noise is stated by the independent ones. Noise of the angles of a ball or a floating body is that
 * of turns about its own axes. */
static void set_basis(const four_bar_state *s, double *B)
{
  const double *Rz = s->work.Rz;
  for (int i = 0; i < NF; i++)
    for (int j = 0; j < NF; j++) B[i * NF + j] = Rz[basis[i] * NF + j];
#if FOUR_BAR_BALLS > 0
  for (int ball = 0; ball < FOUR_BAR_BALLS; ball++) {
    const int first = ball_pitch[ball] - 1;
    double sp, cp, sr, cr;
    bramah__sincos(s->z[first + 1], &sp, &cp);
    bramah__sincos(s->z[first + 2], &sr, &cr);
    const double X[9] = {cr * cp, -sr, 0.0, sr * cp, cr, 0.0, -sp, 0.0, 1.0};
    for (int i = 0; i < NF; i++) {
      const int k = basis[i] - first;
      for (int j = 0; k >= 0 && k < 3 && j < NF; j++) {
        B[i * NF + j] = 0.0;
        for (int l = 0; l < 3; l++) B[i * NF + j] += X[3 * k + l] * Rz[(first + l) * NF + j];
      }
    }
  }
#endif
}

/* Inverse of B: elimination with pivots by rows. */
static int invert_basis(const four_bar_state *s, double *inverse)
{
  double B[NF * NF];
  int pivot[NF];
  set_basis(s, B);
  for (int k = 0; k < NF; k++) {
    int p = k;
    for (int i = k + 1; i < NF; i++)
      if (fabs(B[i * NF + k]) > fabs(B[p * NF + k])) p = i;
    pivot[k] = p;
    if (!(fabs(B[p * NF + k]) > 0.0)) return FOUR_BAR_SINGULAR;
    for (int j = 0; p != k && j < NF; j++) {
      const double kept = B[k * NF + j];
      B[k * NF + j] = B[p * NF + j];
      B[p * NF + j] = kept;
    }
    const double reciprocal = 1.0 / B[k * NF + k];
    for (int i = k + 1; i < NF; i++) {
      const double factor = B[i * NF + k] *= reciprocal;
      for (int j = k + 1; j < NF; j++) B[i * NF + j] -= factor * B[k * NF + j];
    }
  }
  for (int c = 0; c < NF; c++) {
    double x[NF];
    for (int i = 0; i < NF; i++) x[i] = i == c ? 1.0 : 0.0;
    for (int k = 0; k < NF; k++) {
      const double kept = x[k];
      x[k] = x[pivot[k]];
      x[pivot[k]] = kept;
    }
    for (int i = 1; i < NF; i++)
      for (int j = 0; j < i; j++) x[i] -= B[i * NF + j] * x[j];
    for (int i = NF - 1; i >= 0; i--) {
      for (int j = i + 1; j < NF; j++) x[i] -= B[i * NF + j] * x[j];
      x[i] /= B[i * NF + i];
    }
    for (int i = 0; i < NF; i++) inverse[i * NF + c] = x[i];
  }
  return FOUR_BAR_OK;
}

/* The noise of the step, Q = Gamma Gamma': white noise on accelerations and first-order states through the resolvent. */
static void set_noise(const four_bar_work *w, const double *inverse, double Gamma[N][NQ])
{
  for (int r = 0; r < NE; r++) {
    for (int b = 0; b < NF; b++) {
      double sum = 0.0;
      for (int k = 0; k < NF; k++) sum += w->N[r * NN + k] * inverse[k * NF + b];
      Gamma[r][2 * b] = ROOT_STEP * sum * acceleration_noise[b];
      Gamma[r][2 * b + 1] = r < NF ? ROOT_CUBED_STEP * inverse[r * NF + b] * acceleration_noise[b] : 0.0;
    }
    for (int i = 0; i < NN - NF; i++) Gamma[r][2 * NF + i] = first_order_noise[i] * w->N[r * NN + NF + i];
  }
}

#if KINKS > 0
/* ---- kinks: what is believed of a pressure lies on both sides of where a valve opens ---- */

/* Of one in reach at the start of a step its standard deviation (0: it is not in reach), and by how much the mean of the ramp and its
 * best slope are above what it has at the mean. As kinks.c, which says why. */
typedef struct kink_start {
  double sigma, mean, slope;
} kink_start;

/* An opening further away than so many standard deviations does not count. */
static const double far_kink = 4.0;

static void average_kink(double value, double sigma, double *mean, double *slope)
{
  const double a = fabs(value) / sigma, density = 0.3989422804014327 * bramah__exp(-0.5 * a * a),
               tail = 0.5 * bramah__erfc(0.7071067811865476 * a);
  *mean = (value > 0.0 ? value : 0.0) + sigma * (density - a * tail);
  *slope = value > 0.0 ? 1.0 - tail : tail;
}

/* How the pressures of both sides are in it: 1, -1, or 0 for a supply. */
static double kink_by(int k, int side) { return kink_volume[2 * k + side] < 0 ? 0.0 : side ? -1.0 : 1.0; }

static int find_kinks(four_bar_filter *f, kink_start *start)
{
  const int status = locate(f, POSE);
  for (int k = 0; k < KINKS && status == FOUR_BAR_OK; k++) {
    double variance = 0.0;
    for (int a = 0; a < 2; a++)
      for (int b = 0; b < 2; b++)
        if (kink_by(k, a) != 0.0 && kink_by(k, b) != 0.0)
          variance += kink_by(k, a) * kink_by(k, b) * f->P[2 * NF + kink_volume[2 * k + a]][2 * NF + kink_volume[2 * k + b]];
    const double sigma = sqrt(variance), value = f->plant.work.opens[k];
    start[k].sigma = variance > 0.0 && fabs(value) < far_kink * sigma ? sigma : 0.0;
    if (!(start[k].sigma > 0.0)) continue;
    average_kink(value, sigma, &start[k].mean, &start[k].slope);
    if (value > 0.0) start[k].mean -= value, start[k].slope -= 1.0;
  }
  return status;
}

static double across_kink(int k, const double *M, int width, int column)
{
  double sum = 0.0;
  for (int a = 0; a < 2; a++)
    if (kink_by(k, a) != 0.0) sum += kink_by(k, a) * M[(2 * NF + kink_volume[2 * k + a]) * width + column];
  return sum;
}

/* X [NE], its entries `stride` apart, goes with the ramp at the end of the step. */
static void follow_kink(int k, const double *g, double by, int stride, double *X)
{
  const double change = by * across_kink(k, X, stride, 0);
  for (int r = 0; r < NE; r++) X[r * stride] += g[r] * change;
}

/* Its standard deviation at the end of the step. */
static double sigma_at_end(const four_bar_filter *f, int k, double before)
{
  double row[NE], variance = 0.0;
  for (int c = 0; c < NE; c++) row[c] = across_kink(k, f->plant.work.F, NE, c);
  for (int i = 0; i < NE; i++) {
    double sum = 0.0;
    for (int c = 0; c < NE; c++) sum += f->P[i][c] * row[c];
    variance += row[i] * sum;
  }
  return variance > 0.0 ? sqrt(variance) : before;
}

/* Into the derivatives of the step, G [n_par x NE] those by parameters, and the mean. */
static int follow_kinks(four_bar_filter *f, const kink_start *start, int n_par, double *G)
{
  four_bar_work *w = &f->plant.work;
  double shift[NE] = {0.0}, g[NE];
  int any = 0, status = locate(f, POSE);
  for (int k = 0; k < KINKS && status == FOUR_BAR_OK; k++) {
    double mean, slope;
    if (!(start[k].sigma > 0.0)) continue;
    any = 1;
    for (int r = 0; r < NE; r++) {
      g[r] = 0.0;
      for (int a = 0; a < 2; a++)
        if (kink_by(k, a) != 0.0) g[r] += STEP_SECONDS * w->yields[2 * k + a] * w->N[r * NN + NF + kink_volume[2 * k + a]];
    }
    const double half = 0.5, value = w->opens[k], own = across_kink(k, g, 1, 0),
                 shifted = across_kink(k, shift, 1, 0) + half * own * start[k].mean;
    for (int a = 0; a < 2; a++)
      for (int r = 0; r < NE && kink_by(k, a) != 0.0; r++)
        w->F[r * NE + 2 * NF + kink_volume[2 * k + a]] += kink_by(k, a) * half * start[k].slope * g[r];
    average_kink(value + shifted, sigma_at_end(f, k, start[k].sigma), &mean, &slope);
    if (value > 0.0) mean -= value + shifted, slope -= 1.0;
    const double left = 1.0 - half * slope * own, at_end = half * slope / left;
    for (int r = 0; r < NE; r++) shift[r] += g[r] * half * (start[k].mean + mean / left);
    for (int c = 0; c < NE; c++) follow_kink(k, g, at_end, NE, w->F + c);
    for (int c = 0; c < NN; c++) follow_kink(k, g, at_end, NN, w->N + c);
    for (int j = 0; j < n_par; j++) follow_kink(k, g, at_end, 1, G + j * NE);
  }
  return any && status == FOUR_BAR_OK ? inject_state(f, shift) : status;
}
#endif

static int variances_hold(double P[N][N])
{
  for (int i = 0; i < N; i++)
    if (!(P[i][i] > 0.0) || !(P[i][i] - P[i][i] == 0.0)) return FOUR_BAR_NOT_POSITIVE;
  return FOUR_BAR_OK;
}


/* A step of the length in the work with its derivatives; nothing is taken yet. What starts it is in the work. */
static int solve_with_derivatives(four_bar_state *s, const double *inputs)
{
  double change[NX];
  const int status = solve_by_slopes(s, inputs, change);
  if (status != FOUR_BAR_OK) return status;
  four_bar_inertia(&s->work);
  four_bar_transition(&s->work);
#if N_PAR > 0
  four_bar_follow_parameters(&s->work);
#endif
  return finish(s, change);
}

/* X [NE x width] = F X + part Y */
static void chain(int width, const double *F, double part, const double *Y, double *X)
{
  for (int k = 0; k < width; k++) {
    double column[NE];
    for (int r = 0; r < NE; r++) {
      column[r] = part * Y[r * width + k];
      for (int l = 0; l < NE; l++) column[r] += F[r * NE + l] * X[l * width + k];
    }
    for (int r = 0; r < NE; r++) X[r * width + k] = column[r];
  }
}

static void set_length(four_bar_work *w, double h)
{
  w->h[0] = h;
  four_bar_setup(w);
}

/* The step in equal parts, which are taken; its derivatives go into the work. White noise that comes evenly over the step
 * comes evenly over its parts. */
static int in_parts(four_bar_filter *f, const double *inputs, int parts)
{
  four_bar_state *s = &f->plant;
  four_bar_work *w = &s->work;
  double F[NE * NE] = {0.0}, shares[NE * NN] = {0.0}, largest = 0.0;
#if N_PAR > 0
  double G[N_PAR][NE] = {{0.0}};
#endif
  int status = FOUR_BAR_OK, iterations = 0;
  for (int r = 0; r < NE; r++) F[r * NE + r] = 1.0;
  for (int i = 0; i < parts && status == FOUR_BAR_OK; i++) {
    const int64_t from = (int64_t)FOUR_BAR_STEP_NS * i / parts, to = (int64_t)FOUR_BAR_STEP_NS * (i + 1) / parts;
    f->known = NOTHING;
    set_length(w, (double)(to - from) * 1e-9);
    status = locate(f, STARTS);
    if (status == FOUR_BAR_OK) status = solve_with_derivatives(s, inputs);
    iterations += s->iterations;
    if (status != FOUR_BAR_OK) break;
    chain(NN, w->F, 1.0 / (double)parts, w->N, shares);
#if N_PAR > 0
    for (int j = 0; j < N_PAR; j++) chain(1, w->F, 1.0, w->G[j], G[j]);
#endif
    chain(NE, w->F, 0.0, w->F, F);
    take(s);
    largest = s->error > largest ? s->error : largest;
  }
  f->known = NOTHING;
  set_length(w, FOUR_BAR_STEP);
  memcpy(w->F, F, sizeof F);
  memcpy(w->N, shares, sizeof shares);
#if N_PAR > 0
  memcpy(w->G, G, sizeof G);
#endif
  s->error = largest;
  s->iterations = iterations;
  return status;
}

/* A step with its derivatives, which is taken: as a whole, or in parts where its error is too large or it does not converge. */
static int step_with_derivatives(four_bar_filter *f, const double *inputs)
{
  enum { MOST_PARTS = 64 };
  four_bar_state *s = &f->plant;
  unsigned char before[PLANT_BYTES];
  memcpy(before, s, sizeof before);
  int parts = 2, status = solve_with_derivatives(s, inputs);
  if (status == FOUR_BAR_OK) take(s);
  f->known = status == FOUR_BAR_OK ? AFTER_STEP : NOTHING;
  if (status == FOUR_BAR_OK ? s->error <= FOUR_BAR_TOLERANCE : status == FOUR_BAR_STROKE) return status;
  for (double n = 2.0; status == FOUR_BAR_OK && parts < MOST_PARTS && n * n * n * FOUR_BAR_TOLERANCE < s->error; n *= 2.0) parts *= 2;
  for (;;) {
    memcpy(s, before, sizeof before);
    status = in_parts(f, inputs, parts);
    if (status == FOUR_BAR_OK ? s->error <= FOUR_BAR_TOLERANCE : status == FOUR_BAR_STROKE) break;
    if (parts == MOST_PARTS) break;
    parts = status == FOUR_BAR_OK || 4 * parts > MOST_PARTS ? MOST_PARTS : 4 * parts;
  }
  if (status != FOUR_BAR_OK) memcpy(s, before, sizeof before);
  return status;
}

FOUR_BAR_FUNCTION int four_bar_predict(four_bar_filter *f, const double *inputs)
{
  four_bar_state *s = &f->plant;
  four_bar_work *w = &s->work;
  double inverse[NF * NF], Gamma[N][NQ], P[N][N];
#if FOUR_BAR_AUGMENTED > 0
  double all[N][N], *F = &all[0][0];
  start_of_step start;
#else
  const double *F = w->F;
#endif
#if KINKS > 0
  kink_start kinks[KINKS];
#endif
#if ROOT
  double S[N][N];
  memcpy(S, f->S, sizeof S);
  memset(Gamma, 0, sizeof Gamma);
#else
  double T[NE][N];
#endif
  kept_state before;
  keep(f, &before, 0);
  int moved, status = set_conditions(s, inputs, f->parameters, &moved);
  if (moved) f->known = status == FOUR_BAR_OK ? RATES : NOTHING;
#if FOUR_BAR_PHASES > 0
  unsigned char in_phase[FOUR_BAR_PHASES];
  memcpy(in_phase, f->in_phase, sizeof in_phase);
  if (status == FOUR_BAR_OK) status = decide_phases(f, inputs);
#endif
#if FOUR_BAR_AUGMENTED > 0
  if (status == FOUR_BAR_OK) status = begin_augmented(f, inputs, &start);
#endif
#if KINKS > 0
  if (status == FOUR_BAR_OK) status = find_kinks(f, kinks);
#endif
  if (status == FOUR_BAR_OK) status = locate(f, STARTS);
  if (status == FOUR_BAR_OK) status = invert_basis(s, inverse);
  if (status == FOUR_BAR_OK) status = step_with_derivatives(f, inputs);
  if (status != FOUR_BAR_OK) {
    f->known = NOTHING;
#if FOUR_BAR_PHASES > 0
    memcpy(f->in_phase, in_phase, sizeof in_phase);
#endif
    return status;
  }
#if FOUR_BAR_AUGMENTED > 0
  compare_augmented(f, &start);
#endif
#if KINKS > 0 && N_PAR > 0
  status = follow_kinks(f, kinks, N_PAR, &start.G[0][0]);
#elif KINKS > 0
  status = follow_kinks(f, kinks, 0, NULL);
#endif
  set_noise(w, inverse, Gamma);
#if FOUR_BAR_AUGMENTED > 0
  add_augmented(f, &start, all, Gamma);
#endif
#if ROOT
  propagate_root(F, Gamma, S, P);
#else
  memcpy(P, f->P, sizeof P);
  kernel_propagate(&shape, F, &Gamma[0][0], &P[0][0], &T[0][0]);
#endif
  if (status == FOUR_BAR_OK) status = variances_hold(P);
#if FOUR_BAR_AUGMENTED > 0
  if (status == FOUR_BAR_OK) status = advance_augmented(f, &start);
#endif
  if (status != FOUR_BAR_OK) {
    keep(f, &before, 1);
#if FOUR_BAR_PHASES > 0
    memcpy(f->in_phase, in_phase, sizeof in_phase);
#endif
    return status;
  }
#if FOUR_BAR_PHASES > 0
  for (int i = 0; i < FOUR_BAR_SENSORS; i++) f->silent[i] += f->silent[i] >= 0;
#endif
  memcpy(f->P, P, sizeof P);
#if ROOT
  memcpy(f->S, S, sizeof S);
#endif
  return s->error > FOUR_BAR_TOLERANCE ? FOUR_BAR_COARSE : FOUR_BAR_OK;
}

/* ---- innovations ---- */

/* A correction that is being made; the filter takes it when all has gone well. */
typedef struct correction {
#if ROOT
  double S[N][N];
#endif
#if HOLDS
  double weight[N], correlation[FOUR_BAR_ROOM(FOUR_BAR_SENSORS)][FOUR_BAR_AUGMENTED], information[FOUR_BAR_AUGMENTED];
  double common[FOUR_BAR_ROOM(FOUR_BAR_SENSORS)]; /* what of the innovation's variance comes from what is considered */
  unsigned char held[N];
  int considered; /* 1: something is held */
#endif
  double H[FOUR_BAR_ROOM(FOUR_BAR_SENSORS)][N], P[N][N], dx[N];
  four_bar_watch watch[FOUR_BAR_ROOM(FOUR_BAR_SENSORS)];
  four_bar_innovation sensor[FOUR_BAR_ROOM(FOUR_BAR_SENSORS)];
  unsigned char present[FOUR_BAR_ROOM(FOUR_BAR_SENSORS)], saturated[FOUR_BAR_ROOM(FOUR_BAR_SENSORS)];
  double nis;
  int nis_dof;
} correction;

/* Where a sensor's row may differ from zero. */
BRAMAH__INLINE const size_t *columns_of(int i) { return row_column + first_column[i]; }
BRAMAH__INLINE int n_columns(int i) { return first_column[i + 1] - first_column[i]; }


/* What a sensor is predicted to show, and its row. */
BRAMAH__INLINE int predict_sensor(four_bar_filter *f, int i, double (*P)[N], double *H, double *shown)
{
  int status = FOUR_BAR_OK;
#if SHAPES
  double slope[2];
  status = show(f, i, shown, slope);
#else
  *shown = 0.0;
#endif
  for (int k = 0; k < N; k++) H[k] = 0.0;
  for (int t = first_term[i]; t < first_term[i + 1] && status == FOUR_BAR_OK; t++) {
    double row[N];
    status = set_row(f, term_output[t], row);
#if SHAPES
    const double weight = slope[t >= first_term[i] + sensor_first[i]] * term_weight[t];
#else
    const double weight = term_weight[t];
    *shown += weight * four_bar_output(&f->plant, term_output[t]);
#endif
    for (int k = 0; k < n_columns(i) && status == FOUR_BAR_OK; k++)
      H[columns_of(i)[k]] += weight * row[columns_of(i)[k]];
  }
#if EDGES_SHOWN
  if (status == FOUR_BAR_OK && sensor_edges[i]) status = look_over_edges(f, i, P, H);
#endif
  (void)P;
#if FOUR_BAR_AUGMENTED > 0
  if (status == FOUR_BAR_OK) add_errors(f, i, H, shown);
#endif
  return status;
}

/* PH = P H', and H P H' */
BRAMAH__INLINE double project(const correction *c, int i, double *PH)
{
  double variance;
  kernel_project(0, N, (size_t)n_columns(i), columns_of(i), c->H[i], &c->P[0][0], PH, &variance);
  return variance;
}

/* Beyond so many of its standard deviations an innovation can no longer be reckoned with. */
static const double absurd_innovation = FOUR_BAR_MOST_SIGMAS;

BRAMAH__INLINE int innovate_sensor(four_bar_filter *f, int i, double y, correction *c)
{
  four_bar_innovation *out = &c->sensor[i];
  double shown, PH[N];
  if (!(y - y == 0.0)) return FOUR_BAR_NOT_FINITE;
  const int status = predict_sensor(f, i, c->P, c->H[i], &shown);
  if (status != FOUR_BAR_OK) return status;
  const double S = project(c, i, PH) + sensor_variance[i];
  if (!(S > 0.0) || !(S - S == 0.0)) return FOUR_BAR_NOT_POSITIVE;
  out->innovation = y - shown;
  if (sensor_period[i] > 0.0) out->innovation = wrap(out->innovation, sensor_period[i]);
  out->sigma = sqrt(S);
#if HOLDS
  c->common[i] = share(c, i, PH, S);
#endif
  const int absurd = fabs(out->innovation) > absurd_innovation * out->sigma;
  if (absurd && sensor_gate[i] == 0.0) return FOUR_BAR_ABSURD;
  out->nis = absurd ? square(absurd_innovation) : square(out->innovation) / S;
  c->saturated[i] = y <= sensor_least[i] || y >= sensor_most[i];
  out->accepted = !c->saturated[i] && (sensor_gate[i] == 0.0 || out->nis <= square(sensor_gate[i]));
  return FOUR_BAR_OK;
}

/* Where sensors are few the compiler has a text of its own for each, in which it knows the sensor's numbers. */
static int innovate(four_bar_filter *f, int i, double y, correction *c)
{
#define INNOVATE(i) innovate_sensor(f, i, y, c)
  switch (i) {
    EACH_SENSOR(INNOVATE)
  }
  return FOUR_BAR_OK;
}

/* ---- gates ---- */

/* Share of a sample in the running mean, and the standard deviation of the mean of white innovations. */
#if HOLDS
static const double drift_share = 1.0 / 50.0;
#else
static const double drift_share = 1.0 / 50.0, drift_sigma = DRIFT_SIGMA;
#endif

static void apply_gates(correction *c)
{
  for (int i = 0; i < FOUR_BAR_SENSORS; i++) {
    four_bar_innovation *in = &c->sensor[i];
    four_bar_watch *watch = &c->watch[i];
    const double most = sensor_gate[i];
    if (!c->present[i]) continue;
    if (DRIFT_GATE != 0.0 && most != 0.0 && !c->saturated[i]) {
      const double nu = in->innovation / in->sigma, held = nu < -most ? -most : nu > most ? most : nu;
      watch->drift += drift_share * (held - watch->drift);
#if HOLDS
      watch->common += drift_share * (c->common[i] - watch->common);
      const double common = watch->common,
                   drift_sigma = sqrt((1.0 - common) * drift_share / (2.0 - drift_share) + common);
#endif
      const double limit = DRIFT_GATE * drift_sigma;
      watch->drifted = fabs(watch->drift) > (watch->drifted ? 0.5 : 1.0) * limit;
      if (watch->drifted) in->accepted = 0;
    }
    if (in->accepted)
      watch->rejected = 0;
    else if (!c->saturated[i] && watch->rejected + 1 > watch->rejected)
      watch->rejected++;
  }
}

/* The filter is, when no sensor with a gate agrees with it any more (group 2); or none of two and more that measure
 * motion (0), or pressures (1). */
static int filter_is_wrong(const correction *c)
{
  for (int group = 0; group <= 2; group++) {
    int n = 0, faulty = 0;
    for (int i = 0; i < FOUR_BAR_SENSORS; i++) {
      if (sensor_gate[i] == 0.0 || (group < 2 && sensor_group[i] != group)) continue;
      n++;
      faulty += c->watch[i].rejected >= FOUR_BAR_PATIENCE;
    }
    if (n == faulty && n >= (group < 2 ? 2 : 1)) return 1;
  }
  return 0;
}

/* Inflate the covariance and take what was rejected. */
static int recover(four_bar_filter *f, const double *y, correction *c)
{
  int status = FOUR_BAR_OK;
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) c->P[i][j] += initial_covariance[i * N + j];
#if HOLDS
  for (int i = 0; i < FOUR_BAR_AUGMENTED; i++) c->information[i] = 0.0;
  hold(f, c);
#endif
#if ROOT
  status = find_root(c->P, c->S);
#endif
  for (int i = 0; i < FOUR_BAR_SENSORS && status == FOUR_BAR_OK; i++) {
    if (sensor_gate[i] != 0.0) c->watch[i].rejected = 0;
    c->watch[i].drift = 0.0;
    c->watch[i].drifted = 0;
    if (!c->present[i]) continue;
    status = innovate(f, i, y[i], c);
    c->sensor[i].accepted = !c->saturated[i] && c->sensor[i].nis < square(absurd_innovation);
  }
  return status;
}

/* ---- fusion ---- */

/* One sensor into dx and the upper triangle of P. */
BRAMAH__INLINE int fuse_sensor(correction *c, int i)
{
  const double *H = c->H[i], r = sensor_variance[i];
  const size_t *column = columns_of(i), count = (size_t)n_columns(i);
  double PH[N], rest = c->sensor[i].innovation;
#if HOLDS
  const unsigned char *held = c->considered ? c->held : NULL;
#else
  const unsigned char *held = NULL;
#endif
  for (size_t k = 0; k < count; k++) rest -= H[column[k]] * c->dx[column[k]];
#if ROOT
  const double S = r + project_root(H, c->S, PH);
#else
  const double S = r + project(c, i, PH);
#endif
  if (!(S > 0.0) || !(S - S == 0.0)) return FOUR_BAR_NOT_POSITIVE;
  c->nis += square(rest) / S;
  c->nis_dof++;
#if ROOT
  return fuse_root(H, c->sensor[i].innovation, r, held, c->S, c->dx);
#else
  double K[N], w[N];
  size_t end = N;
  while (held && end > 0 && held[end - 1]) end--;
  kernel_gain(N, held, PH, &S, &rest, K, c->dx);
  kernel_reduce(N, end, held, count, column, H, &S, &r, PH, K, w, &c->P[0][0]);
  return FOUR_BAR_OK;
#endif
}

static int fuse(correction *c, int i)
{
#define FUSE(i) fuse_sensor(c, i)
  switch (i) {
    EACH_SENSOR(FUSE)
  }
  return FOUR_BAR_OK;
}

FOUR_BAR_FUNCTION int four_bar_correct(four_bar_filter *f, const double *y, const unsigned char *present)
{
  correction c = {.nis_dof = 0};
  int any = 0;
  for (int i = 0; i < FOUR_BAR_SENSORS; i++) any |= c.present[i] = present[i] != 0;
  memcpy(c.P, f->P, sizeof c.P);
  memcpy(c.watch, f->watch, sizeof c.watch);
#if ROOT
  memcpy(c.S, f->S, sizeof c.S);
#endif
#if HOLDS
  memcpy(c.information, f->information, sizeof c.information);
  if (any) hold(f, &c);
#endif
  int status = any ? locate(f, POSE) : FOUR_BAR_OK, recovered = 0;
  for (int i = 0; i < FOUR_BAR_SENSORS && status == FOUR_BAR_OK; i++)
    if (present[i]) status = innovate(f, i, y[i], &c);
  if (any && status == FOUR_BAR_OK) {
    apply_gates(&c);
    recovered = filter_is_wrong(&c);
    if (recovered) status = recover(f, y, &c);
  }
#if HOLDS
  if (any && status == FOUR_BAR_OK && c.considered) learn(f, &c);
#endif
  for (int i = 0; i < FOUR_BAR_SENSORS && status == FOUR_BAR_OK; i++)
    if (c.sensor[i].accepted) status = fuse(&c, i);
#if ROOT
  square_root(c.S, c.P);
#else
  if (c.nis_dof) kernel_mirror(N, N, &c.P[0][0]);
#endif
  if (status == FOUR_BAR_OK) status = variances_hold(c.P);
  if (status == FOUR_BAR_OK && c.nis_dof) status = four_bar_inject(f, c.dx);
  if (status != FOUR_BAR_OK) return status;
  memcpy(f->P, c.P, sizeof c.P);
#if ROOT
  memcpy(f->S, c.S, sizeof c.S);
#endif
  memcpy(f->watch, c.watch, sizeof c.watch);
#if HOLDS
  memcpy(f->information, c.information, sizeof c.information);
#endif
  memcpy(f->sensor, c.sensor, sizeof c.sensor);
#if FOUR_BAR_PHASES > 0
  for (int i = 0; i < FOUR_BAR_SENSORS; i++)
    if (present[i]) f->silent[i] = 0;
#endif
  f->nis = c.nis;
  f->nis_dof = c.nis_dof;
  return recovered ? FOUR_BAR_RECOVERED : FOUR_BAR_OK;
}

/* ---- start and results ---- */

FOUR_BAR_FUNCTION void four_bar_begin(four_bar_filter *f)
{
  memset(f, 0, sizeof *f);
  f->plant = four_bar_start;
  memcpy(f->parameters, four_bar_nominal, sizeof f->parameters);
  memcpy(f->P, initial_covariance, sizeof f->P);
#if ROOT
  find_root(f->P, f->S);
#endif
  set_up(&f->plant, f->parameters);
#if FOUR_BAR_PHASES > 0
  for (int i = 0; i < FOUR_BAR_SENSORS; i++) f->silent[i] = -1;
#endif
}

/* H P H' */
static double variance(const double *H, double (*P)[N])
{
  double sum = 0.0;
  for (int i = 0; i < N; i++) {
    double row = 0.0;
    for (int j = 0; j < N; j++) row += P[i][j] * H[j];
    sum += H[i] * row;
  }
  return sum;
}

FOUR_BAR_FUNCTION int four_bar_augmented(const four_bar_filter *f, int i, double *value, double *sigma)
{
#if FOUR_BAR_AUGMENTED > 0
  *value = augmented_value(f, i);
  *sigma = sqrt(f->P[extra[i].state][extra[i].state]);
  if (extra[i].logarithmic) *sigma = *value * *sigma;
  return is_estimated(i, f->information);
#else
  (void)f;
  (void)i;
  *value = *sigma = 0.0;
  return 0;
#endif
}

FOUR_BAR_FUNCTION void four_bar_outputs(four_bar_filter *f, double *value, double *sigma)
{
  locate(f, POSE);
  for (int i = 0; i < FOUR_BAR_OUTPUTS; i++) {
    double row[N];
    sigma[i] = -1.0;
    if (output_table[i].has_row && set_row(f, i, row) == FOUR_BAR_OK) {
#if N_PAR > 0
      for (int k = 0; k < FOUR_BAR_AUGMENTED; k++)
        if (extra[k].parameter >= 0) row[extra[k].state] = slope(f, k) * row[extra[k].state];
#endif
      sigma[i] = sqrt(variance(row, f->P));
    }
    value[i] = four_bar_output(&f->plant, i);
  }
}
