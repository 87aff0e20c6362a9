/* The step of "hydraulic four-bar" and its filter: see four_bar.h. Written by bramah, whose elementary functions follow (MIT licence). */
#include "four_bar.h"

#include <math.h>

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

/* x^y, x >= 0, y > 0. Error 3 + 4 |log of it|. */
static inline double bramah__power(double x, double y) { return bramah__exp(y * bramah__log(x)); }

/* x >= 0. Error 3: one step of Newton's method. */
static inline double bramah__cbrt(double x)
{
  const double y = bramah__exp(bramah__log(x) / 3.0);
  return x > 0.0 && x < (double)INFINITY ? y - (y - x / (y * y)) / 3.0 : x;
}

/* The angle of (x, y), -pi to pi, signed zeros and infinities as C has them. Error 3. */
double bramah__atan2(double y, double x);

/* NaN outside -1 to 1. Error 4. */
double bramah__asin(double x);

/* The complementary error function. Error 8 + x^2; 0 above 26.6. */
double bramah__erfc(double x);

/* The logarithm of the gamma function of a > 0. Error 150 of the larger of one and its size. */
double bramah__log_gamma(double a);

#endif

/* ---- the machine ---- */

#define FOUR_BAR_POSITION_TOLERANCE 1e-07
#define FOUR_BAR_LONGEST_GUESS 20000.0

static const int joint[] = {0, 2, 1};
static const double tolerance[] = {1e-07, 0.01, 0.01, 0.01};
static const double usual_pivot[] = {583786026.0378582, 23109.250399740613, 2213.394661870182, 2014.4141791120887};
static const double usual_closure_pivot[] = {10.000000000000002, 4.741277740242907};
static const double usual_mass_pivot[] = {137.5438214521909};
static const double spool_limit[] = {10.0};
static const double time_constant[] = {0.0045};
static const int spool_input[] = {0};
static const int offset_parameter[] = {13};
static const double least_stroke[] = {1.4320508075688771};
static const double most_stroke[] = {2.3320508075688773};

const double four_bar_nominal[FOUR_BAR_ROOM(FOUR_BAR_PARAMETERS)] = {0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 7.6e+06, 100000.0, 1.5e+09, 1.0982013101645156e-06, 2.138e-08, 0.0, 1.0};
const four_bar_state four_bar_start = {.z = {1.0995574287564276, -0.7235625196321946, -1.6103018518194687}, .zd = {-0.0, 0.0, -0.0}, .zdd = {-2.36686226399185, 2.7948402492972453, -1.0552682238825553}, .p = {2965604.527353115, 2965604.527353115, 3.5e+06}, .pd = {0.0, 0.0, 0.0}, .U = {0.0}};

const char *const four_bar_joint_names[FOUR_BAR_ROOM(FOUR_BAR_JOINTS)] = {"crank", "coupler", "rocker"};
const char *const four_bar_first_order_names[FOUR_BAR_ROOM(FOUR_BAR_FIRST_ORDER)] = {"v1", "v2", "v3"};
const char *const four_bar_actuator_names[FOUR_BAR_ROOM(FOUR_BAR_ACTUATORS)] = {"lift"};
const char *const four_bar_input_names[FOUR_BAR_ROOM(FOUR_BAR_INPUTS)] = {"valve"};
const char *const four_bar_parameter_names[FOUR_BAR_ROOM(FOUR_BAR_PARAMETERS)] = {"crank.load", "coupler.load", "rocker.load", "crank.payload", "coupler.payload", "rocker.payload", "lift.actuator_load", "lift.friction_scale", "pump.pressure", "tank.pressure", "oil.bulk_modulus", "orifice.flow_coefficient", "valve.flow_coefficient", "valve.offset", "gravity.scale"};


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
}

static void four_bar_before(four_bar_work *w)
{
  (void)w;
  const double v0 = -w->U[0];
  const double v1 = v0 > 0.0 ? 0.0 : w->U[0];
  const double v2 = v0 > 0.0 ? -0.0 : 0.0;
  const double v3 = -v2;
  const double v4 = v0 > 0.0 ? v0 : 0.0;
  const double v5 = v1 - v4;
  const double v6 = v4 - v1;
  const double v7 = v6 > 0.0 ? 0.0 : v5;
  w->kept[12] = v7;
  const double v8 = v6 > 0.0 ? 0.0 : v3;
  w->kept[14] = v8;
  const double v9 = v6 > 0.0 ? v2 : 0.0;
  w->kept[15] = v9;
  const double v10 = v6 > 0.0 ? v6 : 0.0;
  w->kept[13] = v10;
}

static void four_bar_iterate(four_bar_work *w)
{
  (void)w;
  const double v0 = w->p[0] - w->p[1];
  const double v1 = w->theta[8] - w->p[0];
  const double v2 = w->theta[9] - w->p[0];
  const double v3 = w->theta[9] - w->p[2];
  const double v4 = w->theta[8] - w->p[2];
  double v5, v6;
  bramah__sincos(w->z[0], &v5, &v6);
  w->kept[16] = v5;
  w->kept[17] = v6;
  double v7, v8;
  bramah__sincos(w->z[1], &v7, &v8);
  w->kept[19] = v7;
  w->kept[20] = v8;
  double v9, v10;
  bramah__sincos(w->z[2], &v9, &v10);
  w->kept[27] = v9;
  w->kept[28] = v10;
  const double v11 = 0.004064435495581795 * w->p[2];
  const double v12 = 2.0 * v6;
  const double v13 = 2.0 * v5;
  w->kept[18] = v13;
  const double v14 = -2.0 * v6;
  w->kept[24] = v14;
  const double v15 = w->kept[2] * v6;
  const double v16 = w->kept[2] * v5;
  const double v17 = v5 * v5;
  const double v18 = v6 * v8;
  const double v19 = v5 * v7;
  const double v20 = v6 * v7;
  w->kept[22] = v20;
  const double v21 = v5 * v8;
  const double v22 = w->zd[0] * v8;
  w->kept[37] = v22;
  const double v23 = w->zd[0] * v7;
  w->kept[38] = v23;
  const double v24 = w->zd[0] * v13;
  const double v25 = w->zdd[0] * v13;
  const double v26 = w->zd[0] * v14;
  const double v27 = v6 * v15;
  const double v28 = w->zd[0] * v22;
  const double v29 = w->kept[0] * v22;
  const double v30 = w->zd[0] * v23;
  const double v31 = w->kept[0] * v23;
  const double v32 = w->kept[3] * v26;
  const double v33 = v6 - -1.0;
  const double v34 = v18 - v19;
  w->kept[21] = v34;
  const double v35 = w->kept[0] * v7 + v22;
  const double v36 = v5 * v16 + v27;
  const double v37 = v33 * v33 + v17;
  const double v38 = 4.0 * v34 + v12;
  const double v39 = w->zd[0] * v35 + v31;
  const double v40 = v20 + v21;
  w->kept[23] = v40;
  const double v41 = 5.333333333333333 + v36;
  w->kept[47] = v41;
  const double v42 = 8.0 * v34;
  const double v43 = w->kept[3] * v38;
  w->kept[50] = v43;
  const double v44 = v40 * v9;
  const double v45 = v40 * v10;
  const double v46 = -8.0 * v40;
  const double v47 = v38 * v43;
  const double v48 = 8.0 * v40 + v13;
  w->kept[26] = v48;
  const double v49 = 4.0 * v40 + v13;
  const double v50 = v34 * v9 + v45;
  const double v51 = -2.0 * v5 + v46;
  const double v52 = 5.0 * v50 + v48;
  const double v53 = 2.5 * v50 + v48;
  const double v54 = w->kept[3] * v49;
  w->kept[51] = v54;
  const double v55 = -5.0 * v50;
  const double v56 = w->kept[4] * v53;
  w->kept[58] = v56;
  const double v57 = v26 * v54;
  const double v58 = v12 + v42;
  w->kept[25] = v58;
  const double v59 = v51 + v55;
  const double v60 = v46 + v55;
  const double v61 = 0.005026548245743669 * w->p[1] - v11;
  const double v62 = w->kept[0] * v8 - v23;
  const double v63 = v34 * v10 - v44;
  const double v64 = v49 * v54 + v47;
  const double v65 = v24 * v43 + v57;
  w->kept[81] = v65;
  const double v66 = w->zd[0] * v62 + v29;
  const double v67 = 2.5 * v63 + v58;
  const double v68 = 5.0 * v63;
  w->kept[29] = v68;
  const double v69 = w->kept[4] * v67;
  w->kept[57] = v69;
  const double v70 = v67 * v69;
  const double v71 = 341.3333333333333 + v64;
  w->kept[52] = v71;
  const double v72 = v58 + v68;
  const double v73 = v42 + v68;
  const double v74 = w->kept[13] > 0.0 ? v2 : v1;
  const double v75 = w->kept[13] > 0.0 ? v4 : v3;
  const double v76 = fabs(v0);
  const double v77 = fabs(v74);
  const double v78 = fabs(v75);
  const double v79 = 10.0 - v72;
  const double v80 = 200000.0 - v76;
  const double v81 = 200000.0 - v77;
  const double v82 = 200000.0 - v78;
  const double v83 = v76 > 200000.0 ? v76 : 200000.0;
  const double v84 = v77 > 200000.0 ? v77 : 200000.0;
  const double v85 = v78 > 200000.0 ? v78 : 200000.0;
  const double v86 = sqrt(v37);
  const double v87 = sqrt(v83);
  const double v88 = sqrt(v84);
  const double v89 = sqrt(v85);
  const double v90 = 1.0 / v72;
  w->kept[30] = v90;
  const double v91 = 1.0 / v86;
  const double v92 = 1.0 / v87;
  const double v93 = 1.0 / v88;
  const double v94 = 1.0 / v89;
  const double v95 = v59 * v90;
  w->kept[31] = v95;
  const double v96 = v90 * v90;
  const double v97 = 0.5 * v91;
  const double v98 = v91 * v91;
  const double v99 = 0.5 * v92;
  const double v100 = v0 * v92;
  const double v101 = 0.5 * v93;
  const double v102 = v74 * v93;
  const double v103 = 0.5 * v94;
  const double v104 = v75 * v94;
  const double v105 = w->theta[11] * v100;
  const double v106 = w->theta[12] * v102;
  const double v107 = w->theta[12] * v104;
  const double v108 = v106 * w->kept[14];
  const double v109 = v106 * w->kept[15];
  const double v110 = w->kept[13] * v107;
  const double v111 = v107 * w->kept[14];
  const double v112 = v107 * w->kept[15];
  const double v113 = v86 + -1.4320508075688771;
  const double v114 = v108 + v109;
  const double v115 = v111 + v112;
  w->kept[84] = v115;
  const double v116 = v53 * v56 + v70;
  const double v117 = v52 * v95 + v79;
  const double v118 = w->kept[12] * v107 + v110;
  const double v119 = v113 * w->kept[8] + w->kept[6];
  const double v120 = v80 > 0.0 ? v92 : v99;
  const double v121 = v81 > 0.0 ? v93 : v101;
  const double v122 = v82 > 0.0 ? v94 : v103;
  const double v123 = w->kept[10] * v114;
  w->kept[85] = v123;
  const double v124 = w->theta[11] * v120;
  const double v125 = w->theta[12] * v121;
  const double v126 = w->theta[12] * v122;
  const double v127 = v55 - v68 * v95;
  const double v128 = v108 - w->kept[12] * v125;
  const double v129 = v109 - w->kept[13] * v125;
  const double v130 = v111 - w->kept[12] * v126;
  const double v131 = v112 - w->kept[13] * v126;
  const double v132 = 83.33333333333333 + v116;
  w->kept[59] = v132;
  const double v133 = v108 + v124;
  const double v134 = v130 + v131;
  const double v135 = v109 + v133;
  const double v136 = 2.3320508075688773 - v86;
  const double v137 = v128 - v124;
  const double v138 = v73 * v95 - v60;
  const double v139 = w->kept[12] * v106 - v105;
  const double v140 = v136 * w->kept[9] + w->kept[7];
  const double v141 = w->kept[13] * v106 + v139;
  const double v142 = 1.0 / v119;
  w->kept[66] = v142;
  const double v143 = 1.0 / v127;
  w->kept[32] = v143;
  const double v144 = 1.0 / v140;
  w->kept[67] = v144;
  const double v145 = w->kept[10] * v135;
  const double v146 = v142 * v142;
  const double v147 = v142 * v124;
  const double v148 = v143 * v138;
  w->kept[33] = v148;
  const double v149 = v143 * v117;
  const double v150 = v143 * v143;
  const double v151 = v144 * v144;
  const double v152 = v144 * v115;
  const double v153 = w->zd[0] * v148;
  const double v154 = v10 * v148;
  w->kept[71] = v154;
  const double v155 = v9 * v148;
  w->kept[72] = v155;
  const double v156 = w->kept[0] * v148;
  const double v157 = w->kept[1] * v148;
  const double v158 = v10 * v153;
  w->kept[45] = v158;
  const double v159 = v9 * v153;
  w->kept[46] = v159;
  const double v160 = v153 * v154;
  w->kept[80] = v160;
  const double v161 = v34 * v155;
  const double v162 = v40 * v155;
  const double v163 = v153 * v155;
  w->kept[79] = v163;
  const double v164 = v153 * v158;
  const double v165 = v153 * v159;
  const double v166 = v68 * v148 + v73;
  const double v167 = v68 * v149 + v52;
  const double v168 = v48 * v153 + v24;
  const double v169 = v137 + v129;
  const double v170 = w->kept[0] + v147;
  const double v171 = w->kept[0] - v144 * v134;
  const double v172 = v26 - v58 * v153;
  const double v173 = w->kept[0] - w->kept[10] * v169;
  const double v174 = v90 * v166;
  w->kept[34] = v174;
  const double v175 = w->kept[4] * v172;
  const double v176 = v172 * v56;
  const double v177 = w->zd[0] * v174;
  const double v178 = v6 * v174;
  const double v179 = v5 * v174;
  const double v180 = w->kept[0] * v174;
  const double v181 = w->kept[1] * v174;
  const double v182 = v174 * w->kept[5];
  const double v183 = v6 * v177;
  w->kept[35] = v183;
  const double v184 = v5 * v177;
  w->kept[36] = v184;
  const double v185 = v14 * v177;
  w->kept[48] = v185;
  const double v186 = v13 * v177;
  w->kept[49] = v186;
  const double v187 = v5 * v178;
  const double v188 = v177 * v178;
  w->kept[74] = v188;
  const double v189 = v22 * v178;
  w->kept[76] = v189;
  const double v190 = v23 * v178;
  w->kept[78] = v190;
  const double v191 = v30 * v178;
  const double v192 = v28 * v178;
  const double v193 = v174 * v178;
  const double v194 = v178 * v178;
  const double v195 = v33 * v179;
  const double v196 = v8 * v179;
  w->kept[68] = v196;
  const double v197 = v177 * v179;
  w->kept[73] = v197;
  const double v198 = v23 * v179;
  w->kept[75] = v198;
  const double v199 = v22 * v179;
  w->kept[77] = v199;
  const double v200 = v28 * v179;
  const double v201 = v30 * v179;
  const double v202 = v174 * v179;
  const double v203 = v179 * v179;
  const double v204 = v7 * v183;
  w->kept[40] = v204;
  const double v205 = v8 * v183;
  w->kept[43] = v205;
  const double v206 = v177 * v183;
  const double v207 = v183 * v22;
  const double v208 = v183 * v23;
  const double v209 = v5 * v183;
  const double v210 = v183 * v178;
  const double v211 = v8 * v184;
  w->kept[39] = v211;
  const double v212 = v7 * v184;
  w->kept[42] = v212;
  const double v213 = v177 * v184;
  const double v214 = v184 * v23;
  const double v215 = v184 * v22;
  const double v216 = v184 * v33;
  const double v217 = w->zd[0] * v186;
  const double v218 = v8 * v206;
  const double v219 = v7 * v206;
  const double v220 = v7 * v213;
  const double v221 = v8 * v213;
  const double v222 = v168 * v69 + v176;
  w->kept[82] = v222;
  const double v223 = v8 * v178 + v19;
  const double v224 = v7 * v179 + v18;
  const double v225 = w->zd[0] * v185 + v25;
  const double v226 = v6 * v35 + v198;
  const double v227 = v6 * v62 + v199;
  const double v228 = v6 * v66 + v200;
  const double v229 = v6 * v39 + v201;
  const double v230 = v5 * v23 + v205;
  const double v231 = v5 * v30 + v207;
  const double v232 = v6 * v22 + v212;
  const double v233 = v6 * v28 + v214;
  const double v234 = v141 * w->kept[10] - w->pd[0];
  const double v235 = v5 * v62 - v189;
  const double v236 = v5 * v35 - v190;
  const double v237 = v5 * v39 - v191;
  const double v238 = v5 * v66 - v192;
  const double v239 = v5 * v22 - v204;
  const double v240 = v5 * v28 - v208;
  const double v241 = v6 * v23 - v211;
  const double v242 = v6 * v30 - v215;
  const double v243 = w->zdd[0] * v14 - v217;
  const double v244 = v187 + v187;
  const double v245 = v195 + v195;
  const double v246 = v209 + v209;
  const double v247 = v216 + v216;
  const double v248 = v214 + v218;
  const double v249 = v207 + v220;
  const double v250 = v241 + v239;
  w->kept[41] = v250;
  const double v251 = w->kept[5] + v243;
  const double v252 = v233 + v248;
  const double v253 = v231 + v249;
  const double v254 = w->zd[0] - v177;
  const double v255 = v196 - v20;
  const double v256 = v219 - v215;
  const double v257 = v221 - v208;
  const double v258 = v224 - v223;
  w->kept[70] = v258;
  const double v259 = v232 - v230;
  w->kept[44] = v259;
  const double v260 = v245 - v244;
  const double v261 = v247 - v246;
  const double v262 = v252 - v253;
  const double v263 = v225 * v54;
  const double v264 = v250 * v159;
  const double v265 = v250 * v158;
  const double v266 = w->kept[3] * v251;
  const double v267 = v254 * v54;
  const double v268 = v9 * v258;
  const double v269 = -8.0 * v258;
  const double v270 = v165 * v258;
  const double v271 = v164 * v258;
  const double v272 = v259 * v158;
  const double v273 = v259 * v159;
  const double v274 = v260 * v97;
  w->kept[62] = v274;
  const double v275 = v97 * v261;
  const double v276 = -8.0 * v262;
  const double v277 = v262 * v155;
  const double v278 = v262 * v154;
  const double v279 = v274 * v98;
  const double v280 = v274 * w->kept[8];
  const double v281 = v274 * w->kept[9];
  const double v282 = -0.005026548245743669 * v274;
  w->kept[86] = v282;
  const double v283 = 0.004064435495581795 * v274;
  w->kept[87] = v283;
  const double v284 = 80.0 * v275;
  w->kept[63] = v284;
  const double v285 = 320.0 * v275;
  const double v286 = -0.5 * v279;
  const double v287 = v280 * v146;
  const double v288 = v281 * v151;
  const double v289 = v284 * v284;
  const double v290 = v261 * v286;
  const double v291 = v254 * v43 + v32;
  w->kept[54] = v291;
  const double v292 = v58 * v254 + v26;
  w->kept[55] = v292;
  const double v293 = v34 * v165 + v265;
  const double v294 = v9 * v262 + v265;
  const double v295 = v40 * v154 + v268;
  const double v296 = 2.0 * v178 + v269;
  const double v297 = v40 * v164 + v273;
  const double v298 = -2.0 * v206 + v276;
  const double v299 = 0.25 * v289 + 0.75;
  const double v300 = v48 * v254 - v24;
  w->kept[56] = v300;
  const double v301 = v10 * v258 - v162;
  const double v302 = v251 * v43 - v263;
  const double v303 = v34 * v164 - v264;
  const double v304 = v10 * v262 - v264;
  const double v305 = w->kept[3] * v24 - v267;
  w->kept[53] = v305;
  const double v306 = v153 + v254;
  const double v307 = v242 + v256;
  const double v308 = v240 + v257;
  const double v309 = v293 + v294;
  const double v310 = v303 + v304;
  const double v311 = v307 + v308;
  const double v312 = v26 * v305;
  const double v313 = v306 * v56;
  const double v314 = -8.0 * v311;
  const double v315 = v311 * v154;
  const double v316 = v311 * v155;
  const double v317 = v21 - v7 * v178;
  w->kept[69] = v317;
  const double v318 = v272 - v40 * v165;
  const double v319 = v105 - 0.005026548245743669 * v275;
  const double v320 = v118 - -0.004064435495581795 * v275;
  const double v321 = v272 - v9 * v311;
  const double v322 = v24 * v291 - v312;
  const double v323 = w->kept[4] * v168 - v313;
  w->kept[60] = v323;
  const double v324 = v319 * v142 - w->pd[1];
  const double v325 = v320 * v144 - w->pd[2];
  const double v326 = v306 * v69 + v175;
  w->kept[61] = v326;
  const double v327 = v10 * v311 + v273;
  const double v328 = -2.0 * v213 + v314;
  const double v329 = v318 + v321;
  const double v330 = v297 + v327;
  const double v331 = v310 + v329;
  const double v332 = v309 + v330;
  const double v333 = -5.0 * v331 + v298;
  const double v334 = -5.0 * v332 + v328;
  const double v335 = 1.0 / v173;
  w->kept[94] = v335;
  const double v336 = 1.0 / v299;
  w->kept[64] = v336;
  const double v337 = v172 * v323;
  const double v338 = v147 * v335;
  w->kept[95] = v338;
  const double v339 = v152 * v335;
  w->kept[97] = v339;
  const double v340 = v336 * v336;
  w->kept[65] = v340;
  const double v341 = v284 * v340;
  const double v342 = v95 * v334 - v333;
  const double v343 = v168 * v326 - v337;
  const double v344 = v255 - v317;
  const double v345 = v143 * v342;
  const double v346 = 8.0 * v344;
  const double v347 = v9 * v344;
  const double v348 = v164 * v344;
  const double v349 = v165 * v344;
  const double v350 = v68 * v345 + v334;
  const double v351 = w->zdd[0] * v148 + v345;
  const double v352 = 2.0 * v179 + v346;
  const double v353 = v34 * v154 + v347;
  const double v354 = v90 * v350;
  const double v355 = v48 * v351;
  const double v356 = v58 * v351;
  const double v357 = w->zdd[0] * v174 + v354;
  const double v358 = v153 * v292 + v355;
  const double v359 = v353 + v301;
  const double v360 = v225 + v358;
  const double v361 = v357 * v41;
  const double v362 = -5.0 * v359;
  const double v363 = v360 * v56;
  const double v364 = v10 * v344 - v161;
  const double v365 = v153 * v300 - v356;
  const double v366 = w->kept[5] * v15 - v361;
  const double v367 = v296 + v362;
  const double v368 = v269 + v362;
  const double v369 = v251 + v365;
  const double v370 = w->zdd[0] - v357;
  const double v371 = v364 - v295;
  const double v372 = w->kept[4] * v369;
  const double v373 = v370 * v54;
  const double v374 = 5.0 * v371;
  const double v375 = v95 * v374;
  const double v376 = v148 * v374;
  const double v377 = v345 * v374;
  const double v378 = v351 + v370;
  const double v379 = v352 + v374;
  const double v380 = v346 + v374;
  const double v381 = v370 * v43 + v266;
  const double v382 = v370 * v71 + v302;
  const double v383 = v58 * v378 + v369;
  const double v384 = v378 * v69 + v372;
  const double v385 = v254 * v305 + v381;
  const double v386 = v306 * v323 + v384;
  const double v387 = v378 * v56;
  const double v388 = v379 * v96;
  const double v389 = v95 * v380;
  const double v390 = v58 * v386;
  const double v391 = v48 * v386;
  const double v392 = v59 * v388;
  const double v393 = v166 * v388;
  const double v394 = v350 * v388;
  const double v395 = v369 * v69 - v363;
  const double v396 = v13 * v370 - v225;
  const double v397 = w->kept[3] * v225 - v373;
  const double v398 = v48 * v378 - v360;
  const double v399 = w->kept[4] * v360 - v387;
  const double v400 = v90 * v367 - v392;
  const double v401 = v378 * v132 + v395;
  const double v402 = v185 * v254 + v396;
  const double v403 = v292 * v306 + v398;
  const double v404 = v68 * v400 + v375;
  const double v405 = v73 * v400 + v389;
  const double v406 = v251 - v14 * v370;
  const double v407 = v383 - v300 * v306;
  const double v408 = v397 - v254 * v291;
  const double v409 = v399 - v306 * v326;
  const double v410 = v402 - v186 * w->kept[11];
  const double v411 = v322 + v382;
  const double v412 = v385 + v386;
  const double v413 = v343 + v401;
  const double v414 = v408 + v409;
  const double v415 = v411 + v413;
  const double v416 = v366 + v415;
  const double v417 = v334 * v400;
  const double v418 = v148 * v403;
  const double v419 = v148 * v407;
  const double v420 = v14 * v412;
  const double v421 = v14 * v414;
  const double v422 = v186 * v254 + v406;
  const double v423 = v58 * v409 + v391;
  const double v424 = w->kept[1] * v14 + v410;
  const double v425 = v13 * v414 + v420;
  const double v426 = v185 * w->kept[11] + v422;
  const double v427 = w->kept[1] * v13 + v426;
  const double v428 = v362 - v404;
  const double v429 = v405 - v368;
  const double v430 = v427 - v182;
  const double v431 = w->kept[3] * v424;
  const double v432 = v428 * v150;
  const double v433 = v54 * v430;
  const double v434 = v138 * v432;
  const double v435 = v342 * v432;
  const double v436 = v48 * v409 - v390;
  const double v437 = v13 * v412 - v421;
  const double v438 = v43 * v424 - v433;
  const double v439 = v143 * v429 - v434;
  const double v440 = v68 * v439 + v376;
  const double v441 = w->zd[0] * v439 + v156;
  const double v442 = w->zdd[0] * v439 + v157;
  const double v443 = v9 * v441 + v160;
  const double v444 = v415 + v425;
  const double v445 = v413 + v436;
  const double v446 = v380 + v440;
  const double v447 = v159 * v441;
  const double v448 = v158 * v441;
  const double v449 = 2.0 * v441;
  const double v450 = v445 * v439;
  const double v451 = v153 * v443 + v447;
  const double v452 = v292 * v449 + v419;
  const double v453 = v300 * v449 + v418;
  const double v454 = v40 * v451 + v270;
  const double v455 = v34 * v451 + v349;
  const double v456 = v10 * v441 - v163;
  const double v457 = v90 * v446 - v393;
  const double v458 = v5 * v457 - v193;
  const double v459 = v153 * v456 + v448;
  const double v460 = w->zd[0] * v457 + v180;
  const double v461 = w->zdd[0] * v457 + v181;
  const double v462 = v6 * v457 + v202;
  const double v463 = v33 * v458 + v203;
  const double v464 = v34 * v459 + v348;
  const double v465 = v40 * v459 + v271;
  const double v466 = v6 * v460 + v197;
  const double v467 = v7 * v466 + v205;
  const double v468 = v416 * v457;
  const double v469 = v184 * v460;
  const double v470 = v183 * v460;
  const double v471 = v22 * v466;
  const double v472 = v23 * v466;
  const double v473 = v5 * v460 - v188;
  const double v474 = v5 * v462 - v194;
  const double v475 = v8 * v466 - v204;
  const double v476 = v5 * v466 - v210;
  const double v477 = v8 * v473 - v212;
  const double v478 = v177 * v466 + v470;
  const double v479 = v183 * v62 + v471;
  const double v480 = v183 * v35 + v472;
  const double v481 = v7 * v473 + v211;
  const double v482 = v177 * v473 + v469;
  const double v483 = v7 * v478 + v218;
  const double v484 = v7 * v482 + v221;
  const double v485 = v463 + v463;
  const double v486 = v474 + v474;
  const double v487 = v236 + v475;
  const double v488 = v476 + v476;
  const double v489 = v237 + v479;
  const double v490 = v227 + v481;
  const double v491 = v479 + v484;
  const double v492 = v489 + v491;
  const double v493 = w->kept[0] - v460;
  const double v494 = v235 - v467;
  const double v495 = v226 - v477;
  const double v496 = v238 - v480;
  const double v497 = v485 - v486;
  const double v498 = v490 - v487;
  const double v499 = v23 * v473;
  const double v500 = v22 * v473;
  const double v501 = v33 * v473;
  const double v502 = 2.0 * v493;
  const double v503 = v97 * v497;
  const double v504 = v158 * v498;
  const double v505 = v159 * v498;
  const double v506 = v184 * v35 + v499;
  const double v507 = v184 * v62 + v500;
  const double v508 = v184 * v179 + v501;
  const double v509 = v260 * v286 + v503;
  const double v510 = v259 * v456 + v504;
  const double v511 = v259 * v443 + v505;
  const double v512 = v441 + v493;
  const double v513 = v495 + v494;
  const double v514 = v228 + v506;
  const double v515 = v508 + v508;
  const double v516 = v465 + v511;
  const double v517 = v229 - v507;
  const double v518 = v483 - v507;
  const double v519 = v510 - v454;
  const double v520 = v515 - v488;
  const double v521 = 2.0 * v512;
  const double v522 = v159 * v513;
  const double v523 = v158 * v513;
  const double v524 = v97 * v520 + v290;
  const double v525 = v250 * v443 + v522;
  const double v526 = v250 * v456 + v523;
  const double v527 = 80.0 * v524;
  const double v528 = 320.0 * v524;
  const double v529 = -0.005026548245743669 * v524;
  const double v530 = v284 * v527;
  const double v531 = v142 * v529;
  const double v532 = v517 + v518;
  const double v533 = v455 + v526;
  const double v534 = v530 + v530;
  const double v535 = v8 * v478 - v219;
  const double v536 = v8 * v482 - v220;
  const double v537 = v319 * v287 - v531;
  const double v538 = v464 - v525;
  const double v539 = v536 - v480;
  const double v540 = v506 + v535;
  const double v541 = v496 + v539;
  const double v542 = v514 + v540;
  const double v543 = v532 + v541;
  const double v544 = 0.25 * v534;
  const double v545 = -8.0 * v543;
  const double v546 = v340 * v544;
  const double v547 = v336 * v546;
  const double v548 = v9 * v543 + v315;
  const double v549 = -2.0 * v482 + v545;
  const double v550 = v542 - v492;
  const double v551 = v510 - v548;
  const double v552 = v547 + v547;
  const double v553 = v519 + v551;
  const double v554 = -8.0 * v550;
  const double v555 = v284 * v552;
  const double v556 = v10 * v543 - v316;
  const double v557 = v10 * v550 - v277;
  const double v558 = v340 * v527 - v555;
  const double v559 = v9 * v550 + v278;
  const double v560 = -2.0 * v478 + v554;
  const double v561 = v511 + v556;
  const double v562 = v526 + v559;
  const double v563 = v516 + v561;
  const double v564 = v533 + v562;
  const double v565 = v564 + v563;
  const double v566 = v444 - v174 * v416;
  const double v567 = v115 - -0.004064435495581795 * v524;
  const double v568 = -5.0 * v565 + v549;
  const double v569 = v148 * v445 + v566;
  const double v570 = v95 * v568 + v417;
  const double v571 = w->theta[0] * v174 + v569;
  const double v572 = v557 - v525;
  const double v573 = v571 - w->theta[1];
  const double v574 = v538 + v572;
  const double v575 = v574 + v553;
  const double v576 = v144 * v567;
  const double v577 = -5.0 * v575 + v560;
  const double v578 = v320 * v288 + v576;
  const double v579 = v570 - v577;
  const double v580 = v143 * v579 - v435;
  const double v581 = v442 + v580;
  const double v582 = v68 * v580 + v377;
  const double v583 = v48 * v581 + v452;
  const double v584 = v568 + v582;
  const double v585 = v430 + v583;
  const double v586 = v573 - w->theta[2] * v148;
  const double v587 = v453 - v58 * v581;
  const double v588 = v424 + v587;
  const double v589 = v56 * v585;
  const double v590 = w->kept[4] * v588;
  const double v591 = v90 * v584 - v394;
  const double v592 = v69 * v588 - v589;
  const double v593 = v461 + v591;
  const double v594 = w->kept[1] - v593;
  const double v595 = v41 * v593;
  const double v596 = v54 * v594;
  const double v597 = v43 * v594 + v431;
  const double v598 = v71 * v594 + v438;
  const double v599 = v305 * v502 + v597;
  const double v600 = v502 * v65 + v598;
  const double v601 = v16 * v182 - v595;
  const double v602 = w->kept[3] * v430 - v596;
  const double v603 = v581 + v594;
  const double v604 = v69 * v603 + v590;
  const double v605 = v132 * v603 + v592;
  const double v606 = v323 * v521 + v604;
  const double v607 = v521 * v222 + v605;
  const double v608 = v148 * v409 + v606;
  const double v609 = v148 * v423 + v607;
  const double v610 = v599 + v608;
  const double v611 = v600 + v609;
  const double v612 = v611 + v437;
  const double v613 = v601 + v612;
  const double v614 = v56 * v603;
  const double v615 = v58 * v606;
  const double v616 = v14 * v610;
  const double v617 = v174 * v613 + v468;
  const double v618 = w->kept[4] * v585 - v614;
  const double v619 = v602 - v291 * v502;
  const double v620 = v618 - v326 * v521;
  const double v621 = v620 - v148 * v386;
  const double v622 = v619 + v621;
  const double v623 = v13 * v622 + v616;
  const double v624 = v611 + v623;
  const double v625 = v624 - v617;
  const double v626 = v48 * v620 - v615;
  const double v627 = v607 + v626;
  const double v628 = v148 * v627 + v450;
  const double v629 = v625 + v628;
  const double v630 = w->theta[0] * v457 + v629;
  const double v631 = v630 - w->theta[2] * v439;
  const double v632 = bramah__tanh(v285);
  const double v633 = 231.0 * v632;
  const double v634 = 682.0 * v341 + v633;
  const double v635 = 362.7565358052813 * v275 + v634;
  const double v636 = 1.0 - v632 * v632;
  w->kept[83] = v636;
  const double v637 = v61 - w->theta[7] * v635;
  const double v638 = w->theta[6] + v637;
  const double v639 = v528 * v636;
  const double v640 = 231.0 * v639;
  const double v641 = 682.0 * v558 + v640;
  const double v642 = 362.7565358052813 * v524 + v641;
  const double v643 = w->theta[7] * v642;
  const double v644 = v274 * v643;
  const double v645 = v274 * v638 - v586;
  const double v646 = v638 * v509 - v644;
  const double v647 = v631 - v646;
  const double v648 = 1.0 / v647;
  w->kept[88] = v648;
  const double v649 = v123 * v648;
  w->kept[89] = v649;
  const double v650 = v537 * v648;
  w->kept[92] = v650;
  const double v651 = v578 * v648;
  w->kept[93] = v651;
  const double v652 = v283 * v650;
  const double v653 = v649 * v645 + v234;
  const double v654 = v283 * v651 + v171;
  const double v655 = v651 * v645 + v325;
  const double v656 = v339 * v653 + v655;
  const double v657 = v282 * v649 - v145;
  w->kept[90] = v657;
  const double v658 = v283 * v649 - v123;
  w->kept[91] = v658;
  const double v659 = v282 * v651 - v152;
  const double v660 = v658 * v338 - v652;
  w->kept[96] = v660;
  const double v661 = v658 * v339 + v654;
  const double v662 = v657 * v339 + v659;
  const double v663 = v170 - v282 * v650;
  const double v664 = v324 - v650 * v645;
  const double v665 = v657 * v338 + v663;
  const double v666 = v338 * v653 + v664;
  const double v667 = 1.0 / v665;
  w->kept[98] = v667;
  const double v668 = v662 * v667;
  w->kept[99] = v668;
  const double v669 = v661 - v660 * v668;
  const double v670 = v656 - v668 * v666;
  const double v671 = 1.0 / v669;
  w->kept[100] = v671;
  const double v672 = v671 * v670;
  const double v673 = v666 - v660 * v672;
  const double v674 = v667 * v673;
  const double v675 = v653 - v657 * v674;
  const double v676 = v645 - v282 * v674;
  const double v677 = v675 - v658 * v672;
  const double v678 = v676 - v283 * v672;
  const double v679 = v335 * v677;
  const double v680 = v648 * v678;
  const double v681 = v174 * v680;
  const double v682 = v148 * v680 + v149;
  const double v683 = v90 * v167 + v681;
  const double v684 = -v683;
  w->correction[0] = v680;
  w->correction[1] = v679;
  w->correction[2] = v674;
  w->correction[3] = v672;
  w->closing[0] = v684;
  w->closing[1] = v682;
  w->closure_pivot[0] = v72;
  w->closure_pivot[1] = v127;
  w->pivot[0] = v647;
  w->pivot[1] = v173;
  w->pivot[2] = v665;
  w->pivot[3] = v669;
}

static void four_bar_transition(four_bar_work *w)
{
  (void)w;
  const double v0 = w->kept[38] + w->kept[38];
  const double v1 = w->kept[37] + w->kept[37];
  const double v2 = w->kept[42] + w->kept[75];
  const double v3 = w->kept[43] + w->kept[76];
  const double v4 = w->kept[39] + w->kept[77];
  const double v5 = w->kept[40] + w->kept[78];
  const double v6 = w->A[7] + w->kept[0];
  const double v7 = w->A[13] + w->kept[0];
  const double v8 = w->A[19] + w->kept[0];
  const double v9 = w->kept[3] * w->kept[24];
  const double v10 = w->kept[18] * w->kept[51];
  const double v11 = w->kept[45] * w->kept[70];
  const double v12 = w->kept[46] * w->kept[70];
  const double v13 = 2.0 * w->kept[48];
  const double v14 = -2.0 * w->kept[49];
  const double v15 = 2.0 * w->kept[33];
  const double v16 = 80.0 * w->kept[62];
  const double v17 = 320.0 * w->kept[62];
  const double v18 = w->kept[66] * w->kept[86];
  const double v19 = w->kept[0] * w->kept[95];
  const double v20 = w->kept[0] * w->kept[99];
  const double v21 = w->kept[0] * w->kept[100];
  const double v22 = w->kept[3] * v13;
  const double v23 = w->kept[51] * v13;
  const double v24 = w->kept[55] * v15;
  const double v25 = w->kept[63] * v16;
  const double v26 = w->kept[83] * v17;
  const double v27 = w->kept[99] * v19;
  const double v28 = w->kept[100] * v20;
  const double v29 = w->kept[96] * v21;
  const double v30 = w->kept[91] * v21;
  const double v31 = w->kept[87] * v21;
  const double v32 = 231.0 * v26;
  const double v33 = w->kept[98] * v29;
  const double v34 = w->kept[26] * w->kept[33] + w->kept[18];
  const double v35 = w->kept[34] * w->kept[36] + w->kept[73];
  const double v36 = w->kept[34] * w->kept[35] + w->kept[74];
  const double v37 = w->kept[33] * w->kept[46] + w->kept[79];
  const double v38 = w->kept[33] * w->kept[45] + w->kept[80];
  const double v39 = w->kept[17] * v1 + v2;
  const double v40 = w->kept[16] * v0 + v3;
  const double v41 = w->kept[44] * w->kept[71] + v11;
  const double v42 = w->kept[44] * w->kept[72] + v12;
  const double v43 = w->kept[96] * v28 + w->kept[0];
  const double v44 = w->kept[19] * v35 + v3;
  const double v45 = w->kept[20] * v36 + v2;
  const double v46 = w->kept[23] * v38 + v42;
  const double v47 = w->kept[17] * v0 - v4;
  const double v48 = w->kept[16] * v1 - v5;
  const double v49 = w->kept[24] * w->kept[50] - v10;
  const double v50 = w->kept[50] * v14 - v23;
  const double v51 = w->kept[0] * w->kept[97] - v27;
  const double v52 = w->kept[90] * v33 - v30;
  const double v53 = w->kept[86] * v33 - v31;
  const double v54 = w->kept[20] * v35 - v5;
  const double v55 = w->kept[19] * v36 - v4;
  const double v56 = v25 + v25;
  const double v57 = v40 + v44;
  const double v58 = v39 + v45;
  const double v59 = v48 + v54;
  const double v60 = v47 + v55;
  const double v61 = v60 + v59;
  const double v62 = w->kept[58] * v34;
  const double v63 = w->kept[98] * v43;
  const double v64 = w->kept[100] * v51;
  const double v65 = w->kept[94] * v52;
  const double v66 = w->kept[88] * v53;
  const double v67 = 0.25 * v56;
  const double v68 = -8.0 * v61;
  const double v69 = w->kept[90] * v63;
  const double v70 = w->kept[86] * v63;
  const double v71 = w->kept[87] * v64;
  const double v72 = w->kept[0] * v66;
  const double v73 = w->kept[65] * v67;
  const double v74 = w->kept[64] * v73;
  const double v75 = w->kept[24] - w->kept[25] * w->kept[33];
  const double v76 = w->kept[84] - -0.004064435495581795 * w->kept[62];
  const double v77 = w->A[5] - w->kept[0] * w->kept[85];
  const double v78 = w->A[10] - w->kept[0] * v18;
  const double v79 = v41 - w->kept[23] * v37;
  const double v80 = v41 - w->kept[27] * v61;
  const double v81 = v19 - w->kept[96] * v64;
  const double v82 = 1.0 - w->kept[34];
  const double v83 = w->kept[22] - w->kept[68];
  const double v84 = w->A[6] - w->kept[85];
  const double v85 = w->A[11] - v18;
  const double v86 = v58 - v57;
  const double v87 = w->kept[4] * v75;
  const double v88 = w->kept[67] * v76;
  const double v89 = w->kept[98] * v81;
  const double v90 = w->kept[51] * v82;
  const double v91 = 2.0 * v82;
  const double v92 = -8.0 * v86;
  const double v93 = w->kept[28] * v61 + v42;
  const double v94 = -2.0 * v35 + v68;
  const double v95 = w->kept[50] * v82 + v9;
  const double v96 = w->kept[52] * v82 + v49;
  const double v97 = w->kept[86] * v89 + v71;
  const double v98 = -2.0 * v36 + v92;
  const double v99 = v74 + v74;
  const double v100 = v79 + v80;
  const double v101 = w->kept[33] + v82;
  const double v102 = w->kept[69] + v83;
  const double v103 = v46 + v93;
  const double v104 = w->kept[88] * v97;
  const double v105 = w->kept[63] * v99;
  const double v106 = w->kept[58] * v101;
  const double v107 = 2.0 * v101;
  const double v108 = w->kept[46] * v102;
  const double v109 = w->kept[45] * v102;
  const double v110 = w->kept[0] * v104;
  const double v111 = w->kept[91] * v28 - v69;
  const double v112 = w->kept[87] * v28 - v70;
  const double v113 = w->kept[57] * v75 - v62;
  const double v114 = w->kept[3] * w->kept[18] - v90;
  const double v115 = w->kept[65] * v16 - v105;
  const double v116 = w->kept[4] * v34 - v106;
  const double v117 = w->kept[57] * v101 + v87;
  const double v118 = w->kept[41] * w->kept[72] + v108;
  const double v119 = w->kept[41] * w->kept[71] + v109;
  const double v120 = w->kept[59] * v101 + v113;
  const double v121 = 682.0 * v115 + v32;
  const double v122 = w->kept[21] * v37 + v119;
  const double v123 = w->kept[27] * v86 + v119;
  const double v124 = 362.7565358052813 * w->kept[62] + v121;
  const double v125 = v114 + v116;
  const double v126 = v95 + v117;
  const double v127 = v96 + v120;
  const double v128 = v122 + v123;
  const double v129 = v128 + v103;
  const double v130 = w->kept[94] * v111;
  const double v131 = w->kept[88] * v112;
  const double v132 = w->kept[25] * v117;
  const double v133 = w->theta[7] * v124;
  const double v134 = w->kept[24] * v126;
  const double v135 = w->kept[0] * v131;
  const double v136 = -v28;
  const double v137 = -v33;
  const double v138 = -v104;
  const double v139 = -v110;
  const double v140 = w->kept[21] * v38 - v118;
  const double v141 = w->kept[28] * v86 - v118;
  const double v142 = w->kept[26] * v116 - v132;
  const double v143 = w->A[15] - w->kept[0] * v88;
  const double v144 = w->kept[0] - w->kept[90] * v89;
  const double v145 = v127 - w->kept[34] * w->kept[47];
  const double v146 = v144 - w->kept[91] * v64;
  const double v147 = v140 + v141;
  const double v148 = v120 + v142;
  const double v149 = v147 + v100;
  const double v150 = -5.0 * v129 + v94;
  const double v151 = w->kept[18] * v125 + v134;
  const double v152 = -5.0 * v149 + v98;
  const double v153 = v127 + v151;
  const double v154 = w->A[16] - v88;
  const double v155 = w->kept[94] * v146;
  const double v156 = w->kept[31] * v150 - v152;
  const double v157 = w->kept[32] * v156;
  const double v158 = w->kept[25] * v157;
  const double v159 = w->kept[29] * v157 + v150;
  const double v160 = w->kept[26] * v157 + v24;
  const double v161 = v13 + v160;
  const double v162 = w->kept[30] * v159;
  const double v163 = w->kept[58] * v161;
  const double v164 = w->kept[50] * v162;
  const double v165 = w->kept[56] * v15 - v158;
  const double v166 = w->kept[3] * v14 - v164;
  const double v167 = w->kept[51] * v162 + v22;
  const double v168 = w->kept[53] * v91 + v166;
  const double v169 = v153 - w->kept[34] * v145;
  const double v170 = v50 - w->kept[52] * v162;
  const double v171 = v167 - w->kept[54] * v91;
  const double v172 = w->kept[33] * v148 + v169;
  const double v173 = w->kept[81] * v91 + v170;
  const double v174 = w->A[2] * v172;
  const double v175 = w->A[3] * v172;
  const double v176 = w->A[4] * v172;
  const double v177 = w->kept[0] * v172;
  const double v178 = w->kept[89] * v177;
  const double v179 = w->kept[92] * v177;
  const double v180 = w->kept[97] * v178;
  const double v181 = w->kept[89] * v174 + v6;
  const double v182 = w->kept[93] * v174 + w->A[17];
  const double v183 = w->kept[89] * v175 + w->A[8];
  const double v184 = w->kept[93] * v175 + w->A[18];
  const double v185 = w->kept[89] * v176 + w->A[9];
  const double v186 = w->kept[93] * v176 + v8;
  const double v187 = w->kept[93] * v177 + v180;
  const double v188 = w->kept[97] * v181 + v182;
  const double v189 = w->kept[97] * v183 + v184;
  const double v190 = w->kept[97] * v185 + v186;
  const double v191 = w->A[12] - w->kept[92] * v174;
  const double v192 = v7 - w->kept[92] * v175;
  const double v193 = w->A[14] - w->kept[92] * v176;
  const double v194 = w->kept[95] * v181 + v191;
  const double v195 = w->kept[95] * v183 + v192;
  const double v196 = w->kept[95] * v185 + v193;
  const double v197 = v188 - w->kept[99] * v194;
  const double v198 = v189 - w->kept[99] * v195;
  const double v199 = v190 - w->kept[99] * v196;
  const double v200 = w->kept[100] * v197;
  const double v201 = w->kept[100] * v198;
  const double v202 = w->kept[100] * v199;
  const double v203 = v194 - w->kept[96] * v200;
  const double v204 = v195 - w->kept[96] * v201;
  const double v205 = v196 - w->kept[96] * v202;
  const double v206 = w->kept[98] * v203;
  const double v207 = w->kept[98] * v204;
  const double v208 = w->kept[98] * v205;
  const double v209 = v181 - w->kept[90] * v206;
  const double v210 = v174 - w->kept[86] * v206;
  const double v211 = v183 - w->kept[90] * v207;
  const double v212 = v175 - w->kept[86] * v207;
  const double v213 = v185 - w->kept[90] * v208;
  const double v214 = v176 - w->kept[86] * v208;
  const double v215 = v209 - w->kept[91] * v200;
  const double v216 = v210 - w->kept[87] * v200;
  const double v217 = v211 - w->kept[91] * v201;
  const double v218 = v212 - w->kept[87] * v201;
  const double v219 = v213 - w->kept[91] * v202;
  const double v220 = v214 - w->kept[87] * v202;
  const double v221 = w->kept[94] * v215;
  const double v222 = w->kept[88] * v216;
  const double v223 = w->kept[94] * v217;
  const double v224 = w->kept[88] * v218;
  const double v225 = w->kept[94] * v219;
  const double v226 = w->kept[88] * v220;
  const double v227 = w->kept[0] * v222;
  const double v228 = w->kept[0] * v224;
  const double v229 = w->kept[0] * v226;
  const double v230 = v14 + v165;
  const double v231 = w->kept[95] * v178 - v179;
  const double v232 = w->kept[57] * v230 - v163;
  const double v233 = v157 - v162;
  const double v234 = w->kept[4] * v230;
  const double v235 = w->kept[58] * v233;
  const double v236 = w->kept[59] * v233 + v232;
  const double v237 = w->kept[57] * v233 + v234;
  const double v238 = w->kept[82] * v107 + v236;
  const double v239 = w->kept[60] * v107 + v237;
  const double v240 = v173 + v238;
  const double v241 = v168 + v239;
  const double v242 = w->kept[25] * v239;
  const double v243 = w->kept[24] * v241;
  const double v244 = v187 - w->kept[99] * v231;
  const double v245 = v240 - w->kept[47] * v162;
  const double v246 = w->kept[100] * v244;
  const double v247 = w->kept[4] * v161 - v235;
  const double v248 = v231 - w->kept[96] * v246;
  const double v249 = v247 - w->kept[61] * v107;
  const double v250 = v171 + v249;
  const double v251 = w->kept[98] * v248;
  const double v252 = v178 - w->kept[90] * v251;
  const double v253 = v177 - w->kept[86] * v251;
  const double v254 = v252 - w->kept[91] * v246;
  const double v255 = v253 - w->kept[87] * v246;
  const double v256 = w->kept[94] * v254;
  const double v257 = w->kept[88] * v255;
  const double v258 = w->kept[0] * v257;
  const double v259 = w->kept[18] * v250 + v243;
  const double v260 = v240 + v259;
  const double v261 = w->kept[26] * v249 - v242;
  const double v262 = v238 + v261;
  const double v263 = v260 - w->kept[34] * v245;
  const double v264 = w->kept[33] * v262 + v263;
  const double v265 = w->kept[62] * v133 + v264;
  const double v266 = w->kept[11] * v172 + v265;
  const double v267 = w->A[1] * v172 + v266;
  const double v268 = w->kept[89] * v267 + v84;
  const double v269 = w->kept[93] * v267 + v154;
  const double v270 = w->kept[97] * v268 + v269;
  const double v271 = v265 + v177;
  const double v272 = w->kept[0] * v271;
  const double v273 = w->A[0] * v172 + v272;
  const double v274 = w->kept[89] * v273 + v77;
  const double v275 = w->kept[93] * v273 + v143;
  const double v276 = w->kept[97] * v274 + v275;
  const double v277 = v85 - w->kept[92] * v267;
  const double v278 = v78 - w->kept[92] * v273;
  const double v279 = w->kept[95] * v268 + v277;
  const double v280 = w->kept[95] * v274 + v278;
  const double v281 = v270 - w->kept[99] * v279;
  const double v282 = v276 - w->kept[99] * v280;
  const double v283 = w->kept[100] * v281;
  const double v284 = w->kept[100] * v282;
  const double v285 = v279 - w->kept[96] * v283;
  const double v286 = v280 - w->kept[96] * v284;
  const double v287 = w->kept[98] * v285;
  const double v288 = w->kept[98] * v286;
  const double v289 = v268 - w->kept[90] * v287;
  const double v290 = v267 - w->kept[86] * v287;
  const double v291 = v274 - w->kept[90] * v288;
  const double v292 = v273 - w->kept[86] * v288;
  const double v293 = v289 - w->kept[91] * v283;
  const double v294 = v290 - w->kept[87] * v283;
  const double v295 = v291 - w->kept[91] * v284;
  const double v296 = v292 - w->kept[87] * v284;
  const double v297 = w->kept[94] * v293;
  const double v298 = w->kept[88] * v294;
  const double v299 = w->kept[94] * v295;
  const double v300 = w->kept[88] * v296;
  const double v301 = v300 - 1.0;
  const double v302 = w->kept[0] * v301;
  const double v303 = w->kept[0] * v298 - 1.0;
  w->F[0] = v300;
  w->F[1] = v298;
  w->F[2] = v222;
  w->F[3] = v224;
  w->F[4] = v226;
  w->F[5] = v302;
  w->F[6] = v303;
  w->F[7] = v227;
  w->F[8] = v228;
  w->F[9] = v229;
  w->F[10] = v299;
  w->F[11] = v297;
  w->F[12] = v221;
  w->F[13] = v223;
  w->F[14] = v225;
  w->F[15] = v288;
  w->F[16] = v287;
  w->F[17] = v206;
  w->F[18] = v207;
  w->F[19] = v208;
  w->F[20] = v284;
  w->F[21] = v283;
  w->F[22] = v200;
  w->F[23] = v201;
  w->F[24] = v202;
  w->N[0] = v257;
  w->N[1] = v138;
  w->N[2] = v131;
  w->N[3] = v66;
  w->N[4] = v258;
  w->N[5] = v139;
  w->N[6] = v135;
  w->N[7] = v72;
  w->N[8] = v256;
  w->N[9] = v155;
  w->N[10] = v130;
  w->N[11] = v65;
  w->N[12] = v251;
  w->N[13] = v89;
  w->N[14] = v63;
  w->N[15] = v137;
  w->N[16] = v246;
  w->N[17] = v64;
  w->N[18] = v136;
  w->N[19] = v21;
}

static void four_bar_place(four_bar_work *w)
{
  (void)w;
  double v0, v1;
  bramah__sincos(w->z[0], &v0, &v1);
  double v2, v3;
  bramah__sincos(w->z[1], &v2, &v3);
  double v4, v5;
  bramah__sincos(w->z[2], &v4, &v5);
  const double v6 = v0 * v2;
  const double v7 = v0 * v3;
  const double v8 = v1 * v2 + v7;
  const double v9 = 8.0 * v8;
  const double v10 = v8 * v4;
  const double v11 = v8 * v5;
  const double v12 = -8.0 * v8;
  const double v13 = 2.0 * v0 + v9;
  const double v14 = -2.0 * v0 + v12;
  const double v15 = v1 * v3 - v6;
  const double v16 = v15 * v5 - v10;
  const double v17 = 8.0 * v15;
  const double v18 = 5.0 * v16;
  const double v19 = v15 * v4 + v11;
  const double v20 = 2.0 * v1 + v17;
  const double v21 = 5.0 * v19 + v13;
  const double v22 = v20 + v18;
  const double v23 = 10.0 - v22;
  const double v24 = -5.0 * v19;
  const double v25 = v14 + v24;
  const double v26 = 1.0 / v22;
  const double v27 = v25 * v26;
  const double v28 = v21 * v27 + v23;
  const double v29 = v24 - v18 * v27;
  const double v30 = 1.0 / v29;
  const double v31 = v30 * v28;
  const double v32 = v18 * v31 + v21;
  const double v33 = v26 * v32;
  const double v34 = -v33;
  w->closing[0] = v34;
  w->closing[1] = v31;
  w->closure_pivot[0] = v22;
  w->closure_pivot[1] = v29;
}

static void four_bar_pose(four_bar_work *w)
{
  (void)w;
  double v0, v1;
  bramah__sincos(w->z[0], &v0, &v1);
  w->kept[101] = v0;
  w->kept[102] = v1;
  double v2, v3;
  bramah__sincos(w->z[1], &v2, &v3);
  w->kept[104] = v2;
  w->kept[105] = v3;
  double v4, v5;
  bramah__sincos(w->z[2], &v4, &v5);
  w->kept[115] = v4;
  w->kept[116] = v5;
  const double v6 = 0.004064435495581795 * w->p[2];
  const double v7 = 2.0 * v1;
  const double v8 = 2.0 * v0;
  w->kept[103] = v8;
  const double v9 = -2.0 * v1;
  w->kept[112] = v9;
  const double v10 = w->kept[2] * v0;
  w->kept[133] = v10;
  const double v11 = v0 * v0;
  const double v12 = v1 * v3;
  w->kept[106] = v12;
  const double v13 = v0 * v2;
  w->kept[107] = v13;
  const double v14 = v1 * v2;
  w->kept[109] = v14;
  const double v15 = v0 * v3;
  w->kept[110] = v15;
  const double v16 = w->zd[0] * v8;
  w->kept[134] = v16;
  const double v17 = w->zd[0] * v9;
  w->kept[135] = v17;
  const double v18 = v1 - -1.0;
  w->kept[146] = v18;
  const double v19 = v12 - v13;
  w->kept[108] = v19;
  const double v20 = v18 * v18 + v11;
  const double v21 = 4.0 * v19 + v7;
  w->kept[137] = v21;
  const double v22 = v14 + v15;
  w->kept[111] = v22;
  const double v23 = 8.0 * v19;
  const double v24 = v22 * v4;
  const double v25 = v22 * v5;
  const double v26 = -8.0 * v22;
  const double v27 = 8.0 * v22 + v8;
  w->kept[114] = v27;
  const double v28 = 4.0 * v22 + v8;
  w->kept[138] = v28;
  const double v29 = v19 * v4 + v25;
  const double v30 = -2.0 * v0 + v26;
  const double v31 = 2.5 * v29 + v27;
  w->kept[144] = v31;
  const double v32 = w->kept[3] * v28;
  w->kept[139] = v32;
  const double v33 = -5.0 * v29;
  const double v34 = w->kept[4] * v31;
  w->kept[145] = v34;
  const double v35 = v7 + v23;
  w->kept[113] = v35;
  const double v36 = v30 + v33;
  w->kept[118] = v36;
  const double v37 = v26 + v33;
  const double v38 = 0.005026548245743669 * w->p[1] - v6;
  const double v39 = v19 * v5 - v24;
  const double v40 = 2.5 * v39 + v35;
  w->kept[143] = v40;
  const double v41 = 5.0 * v39;
  w->kept[117] = v41;
  const double v42 = v35 + v41;
  const double v43 = v23 + v41;
  w->kept[119] = v43;
  const double v44 = 1.0 / v42;
  w->kept[120] = v44;
  const double v45 = v36 * v44;
  w->kept[121] = v45;
  const double v46 = v43 * v45 - v37;
  w->kept[123] = v46;
  const double v47 = v33 - v41 * v45;
  const double v48 = 1.0 / v47;
  w->kept[122] = v48;
  const double v49 = v48 * v46;
  w->kept[124] = v49;
  const double v50 = w->zd[0] * v49;
  w->kept[130] = v50;
  const double v51 = v41 * v49 + v43;
  w->kept[125] = v51;
  const double v52 = v27 * v50 + v16;
  w->kept[140] = v52;
  const double v53 = v44 * v51;
  w->kept[126] = v53;
  const double v54 = w->zd[0] * v53;
  w->kept[128] = v54;
  const double v55 = v1 * v54;
  w->kept[131] = v55;
  const double v56 = v0 * v54;
  w->kept[132] = v56;
  const double v57 = v0 * v55;
  const double v58 = v56 * v18;
  const double v59 = v57 + v57;
  const double v60 = v58 + v58;
  const double v61 = w->zd[0] - v54;
  w->kept[136] = v61;
  const double v62 = v60 - v59;
  w->kept[150] = v62;
  const double v63 = v17 - v35 * v50;
  w->kept[141] = v63;
  const double v64 = -v53;
  w->kept[127] = v64;
  const double v65 = -v54;
  w->kept[129] = v65;
  const double v66 = v50 + v61;
  w->kept[142] = v66;
  const double v67 = sqrt(v20);
  w->kept[147] = v67;
  const double v68 = 1.0 / v67;
  w->kept[148] = v68;
  const double v69 = 0.5 * v68;
  w->kept[149] = v69;
  const double v70 = v69 * v62;
  w->kept[151] = v70;
  const double v71 = 80.0 * v70;
  w->kept[152] = v71;
  const double v72 = 320.0 * v70;
  const double v73 = v71 * v71;
  const double v74 = 0.25 * v73 + 0.75;
  const double v75 = 1.0 / v74;
  w->kept[153] = v75;
  const double v76 = v75 * v75;
  w->kept[154] = v76;
  const double v77 = v71 * v76;
  const double v78 = bramah__tanh(v72);
  w->kept[155] = v78;
  const double v79 = 231.0 * v78;
  const double v80 = 682.0 * v77 + v79;
  const double v81 = 362.7565358052813 * v70 + v80;
  const double v82 = w->theta[7] * v81;
  const double v83 = v38 - v82;
  const double v84 = w->theta[6] + v83;
  w->kept[156] = v84;
  w->zd_all[0] = v65;
  w->zd_all[1] = w->zd[0];
  w->zd_all[2] = v50;
  w->stroke[0] = v67;
  w->velocity[0] = v70;
  w->force[0] = v84;
  w->Rz[0] = v64;
  w->Rz[1] = 1.0;
  w->Rz[2] = v49;
  w->friction[0] = v82;
}

static void four_bar_ends(four_bar_work *w)
{
  (void)w;
  const double v0 = w->zd[0] * w->kept[105];
  w->kept[157] = v0;
  const double v1 = w->zd[0] * w->kept[104];
  w->kept[158] = v1;
  const double v2 = w->kept[105] * w->kept[132];
  w->kept[160] = v2;
  const double v3 = w->kept[104] * w->kept[131];
  w->kept[162] = v3;
  const double v4 = w->kept[104] * w->kept[132];
  w->kept[165] = v4;
  const double v5 = w->kept[105] * w->kept[131];
  w->kept[167] = v5;
  const double v6 = w->kept[116] * w->kept[130];
  w->kept[169] = v6;
  const double v7 = w->kept[115] * w->kept[130];
  w->kept[170] = v7;
  const double v8 = w->kept[128] * w->kept[132];
  const double v9 = w->kept[128] * w->kept[131];
  const double v10 = w->kept[101] * v0;
  w->kept[161] = v10;
  const double v11 = w->kept[102] * v0;
  w->kept[164] = v11;
  const double v12 = w->zd[0] * v0;
  w->kept[172] = v12;
  const double v13 = w->kept[131] * v0;
  w->kept[177] = v13;
  const double v14 = w->kept[132] * v0;
  w->kept[181] = v14;
  const double v15 = w->kept[102] * v1;
  w->kept[159] = v15;
  const double v16 = w->kept[101] * v1;
  w->kept[166] = v16;
  const double v17 = w->zd[0] * v1;
  w->kept[171] = v17;
  const double v18 = w->kept[132] * v1;
  w->kept[174] = v18;
  const double v19 = w->kept[131] * v1;
  w->kept[184] = v19;
  const double v20 = w->kept[130] * v6;
  w->kept[188] = v20;
  const double v21 = w->kept[130] * v7;
  w->kept[187] = v21;
  const double v22 = w->kept[104] * v8;
  w->kept[178] = v22;
  const double v23 = w->kept[105] * v8;
  w->kept[185] = v23;
  const double v24 = w->kept[105] * v9;
  w->kept[175] = v24;
  const double v25 = w->kept[104] * v9;
  w->kept[182] = v25;
  const double v26 = w->kept[102] * v12;
  w->kept[173] = v26;
  const double v27 = w->kept[101] * v12;
  w->kept[183] = v27;
  const double v28 = w->kept[101] * v17;
  w->kept[176] = v28;
  const double v29 = w->kept[102] * v17;
  w->kept[180] = v29;
  const double v30 = v11 + v4;
  const double v31 = v16 + v5;
  const double v32 = v13 + v22;
  const double v33 = v18 + v24;
  const double v34 = v26 + v18;
  const double v35 = v28 + v13;
  const double v36 = v34 + v33;
  const double v37 = v35 + v32;
  const double v38 = v10 - v3;
  const double v39 = v15 - v2;
  const double v40 = v23 - v19;
  const double v41 = v25 - v14;
  const double v42 = v27 - v19;
  const double v43 = v29 - v14;
  const double v44 = v30 - v31;
  w->kept[168] = v44;
  const double v45 = v36 - v37;
  w->kept[179] = v45;
  const double v46 = v39 + v38;
  w->kept[163] = v46;
  const double v47 = v42 + v40;
  const double v48 = v43 + v41;
  const double v49 = v48 + v47;
  w->kept[186] = v49;
  const double v50 = v44 * v6;
  const double v51 = v44 * v7;
  const double v52 = -8.0 * v45;
  const double v53 = v46 * v7;
  const double v54 = v46 * v6;
  const double v55 = -8.0 * v49;
  const double v56 = w->kept[111] * v20 + v51;
  const double v57 = w->kept[116] * v49 + v51;
  const double v58 = -2.0 * v9 + v52;
  const double v59 = w->kept[108] * v21 + v54;
  const double v60 = w->kept[115] * v45 + v54;
  const double v61 = -2.0 * v8 + v55;
  const double v62 = v56 + v57;
  const double v63 = v59 + v60;
  const double v64 = v63 + v62;
  const double v65 = w->kept[108] * v20 - v53;
  const double v66 = w->kept[116] * v45 - v53;
  const double v67 = v50 - w->kept[111] * v21;
  const double v68 = v50 - w->kept[115] * v49;
  const double v69 = v65 + v66;
  const double v70 = v67 + v68;
  const double v71 = v69 + v70;
  const double v72 = -5.0 * v64 + v61;
  w->kept[189] = v72;
  const double v73 = -5.0 * v71 + v58;
  const double v74 = w->kept[121] * v72 - v73;
  w->kept[190] = v74;
  const double v75 = w->kept[122] * v74;
  w->kept[191] = v75;
  const double v76 = w->kept[117] * v75 + v72;
  w->kept[192] = v76;
  const double v77 = w->zdd[0] * w->kept[124] + v75;
  w->kept[194] = v77;
  const double v78 = w->kept[120] * v76;
  const double v79 = w->zdd[0] * w->kept[126] + v78;
  const double v80 = -v79;
  w->kept[193] = v80;
  w->zdd_all[0] = v80;
  w->zdd_all[1] = w->zdd[0];
  w->zdd_all[2] = v77;
}

static void four_bar_rates(four_bar_work *w)
{
  (void)w;
  const double v0 = w->kept[147] + -1.4320508075688771;
  const double v1 = w->zd[0] * w->kept[105];
  w->kept[195] = v1;
  const double v2 = w->zd[0] * w->kept[104];
  w->kept[196] = v2;
  const double v3 = w->kept[105] * w->kept[132];
  w->kept[198] = v3;
  const double v4 = w->kept[104] * w->kept[131];
  w->kept[200] = v4;
  const double v5 = w->kept[104] * w->kept[132];
  w->kept[203] = v5;
  const double v6 = w->kept[105] * w->kept[131];
  w->kept[205] = v6;
  const double v7 = w->kept[116] * w->kept[130];
  w->kept[207] = v7;
  const double v8 = w->kept[115] * w->kept[130];
  w->kept[208] = v8;
  const double v9 = w->kept[128] * w->kept[132];
  const double v10 = w->kept[128] * w->kept[131];
  const double v11 = w->kept[2] * w->kept[102];
  const double v12 = w->kept[112] * w->kept[128];
  w->kept[232] = v12;
  const double v13 = w->kept[103] * w->kept[128];
  w->kept[233] = v13;
  const double v14 = w->kept[3] * w->kept[137];
  w->kept[236] = v14;
  const double v15 = w->kept[136] * w->kept[139];
  const double v16 = w->kept[3] * w->kept[135];
  const double v17 = w->kept[4] * w->kept[143];
  w->kept[244] = v17;
  const double v18 = w->kept[142] * w->kept[145];
  const double v19 = w->kept[4] * w->kept[141];
  const double v20 = w->kept[102] * w->kept[126];
  w->kept[255] = v20;
  const double v21 = w->kept[101] * w->kept[126];
  w->kept[256] = v21;
  const double v22 = w->kept[3] * w->kept[112];
  const double v23 = w->kept[103] * w->kept[139];
  const double v24 = w->kept[101] * v1;
  w->kept[199] = v24;
  const double v25 = w->kept[102] * v1;
  w->kept[202] = v25;
  const double v26 = w->zd[0] * v1;
  w->kept[210] = v26;
  const double v27 = w->kept[131] * v1;
  w->kept[215] = v27;
  const double v28 = w->kept[132] * v1;
  w->kept[219] = v28;
  const double v29 = w->kept[102] * v2;
  w->kept[197] = v29;
  const double v30 = w->kept[101] * v2;
  w->kept[204] = v30;
  const double v31 = w->zd[0] * v2;
  w->kept[209] = v31;
  const double v32 = w->kept[132] * v2;
  w->kept[212] = v32;
  const double v33 = w->kept[131] * v2;
  w->kept[222] = v33;
  const double v34 = w->kept[130] * v7;
  w->kept[226] = v34;
  const double v35 = w->kept[130] * v8;
  w->kept[225] = v35;
  const double v36 = w->kept[104] * v9;
  w->kept[216] = v36;
  const double v37 = w->kept[105] * v9;
  w->kept[223] = v37;
  const double v38 = w->kept[105] * v10;
  w->kept[213] = v38;
  const double v39 = w->kept[104] * v10;
  w->kept[220] = v39;
  const double v40 = w->kept[102] * v11;
  const double v41 = w->kept[5] * v11;
  w->kept[248] = v41;
  const double v42 = w->zd[0] * v12;
  w->kept[234] = v42;
  const double v43 = w->zd[0] * v13;
  w->kept[235] = v43;
  const double v44 = w->kept[137] * v14;
  const double v45 = w->kept[143] * v17;
  const double v46 = w->kept[101] * v20;
  const double v47 = w->kept[146] * v21;
  const double v48 = w->kept[102] * v26;
  w->kept[211] = v48;
  const double v49 = w->kept[101] * v26;
  w->kept[221] = v49;
  const double v50 = w->kept[101] * v31;
  w->kept[214] = v50;
  const double v51 = w->kept[102] * v31;
  w->kept[218] = v51;
  const double v52 = w->kept[3] * v42;
  const double v53 = v42 * w->kept[139];
  const double v54 = 2.3320508075688773 - w->kept[147];
  const double v55 = w->p[0] - w->p[1];
  const double v56 = w->theta[8] - w->p[0];
  const double v57 = w->theta[9] - w->p[0];
  const double v58 = w->theta[9] - w->p[2];
  const double v59 = w->theta[8] - w->p[2];
  const double v60 = 1.0 - w->kept[126];
  w->kept[271] = v60;
  const double v61 = v24 - v4;
  const double v62 = v29 - v3;
  const double v63 = v37 - v33;
  const double v64 = v39 - v28;
  const double v65 = w->kept[5] - v43;
  const double v66 = v49 - v33;
  const double v67 = v51 - v28;
  const double v68 = v25 + v5;
  const double v69 = v30 + v6;
  const double v70 = v27 + v36;
  const double v71 = v32 + v38;
  const double v72 = v46 + v46;
  const double v73 = v47 + v47;
  const double v74 = v48 + v32;
  const double v75 = v50 + v27;
  const double v76 = w->kept[124] + v60;
  w->kept[272] = v76;
  const double v77 = v62 + v61;
  w->kept[201] = v77;
  const double v78 = v66 + v63;
  const double v79 = v67 + v64;
  const double v80 = v74 + v71;
  const double v81 = v75 + v70;
  const double v82 = v79 + v78;
  w->kept[224] = v82;
  const double v83 = w->kept[113] * w->kept[136] + w->kept[135];
  w->kept[240] = v83;
  const double v84 = w->kept[114] * w->kept[124] + w->kept[103];
  const double v85 = v0 * w->kept[8] + w->kept[6];
  const double v86 = w->kept[136] * v14 + v16;
  w->kept[239] = v86;
  const double v87 = w->kept[142] * v17 + v19;
  w->kept[247] = v87;
  const double v88 = w->kept[101] * w->kept[133] + v40;
  const double v89 = w->kept[138] * w->kept[139] + v44;
  const double v90 = w->kept[144] * w->kept[145] + v45;
  const double v91 = v54 * w->kept[9] + w->kept[7];
  const double v92 = v14 * v60 + v22;
  const double v93 = w->kept[139] * v60;
  const double v94 = w->kept[145] * v76;
  const double v95 = v77 * v8;
  const double v96 = v77 * v7;
  const double v97 = -8.0 * v82;
  const double v98 = w->kept[130] * v83;
  w->kept[242] = v98;
  const double v99 = w->kept[145] * v84;
  const double v100 = w->kept[136] * v86;
  w->kept[249] = v100;
  const double v101 = w->kept[142] * v87;
  w->kept[252] = v101;
  const double v102 = w->kept[114] * w->kept[136] - w->kept[134];
  w->kept[241] = v102;
  const double v103 = w->kept[3] * w->kept[134] - v15;
  w->kept[238] = v103;
  const double v104 = w->kept[4] * w->kept[140] - v18;
  w->kept[246] = v104;
  const double v105 = w->kept[112] * v14 - v23;
  const double v106 = v14 * v65 - v53;
  const double v107 = w->kept[3] * w->kept[103] - v93;
  const double v108 = w->kept[4] * v84 - v94;
  const double v109 = w->kept[108] * v34 - v95;
  const double v110 = w->kept[130] * v102;
  w->kept[243] = v110;
  const double v111 = w->kept[136] * v103;
  w->kept[250] = v111;
  const double v112 = w->kept[135] * v103;
  const double v113 = w->kept[142] * v104;
  w->kept[253] = v113;
  const double v114 = w->kept[141] * v104;
  const double v115 = 5.333333333333333 + v88;
  w->kept[231] = v115;
  const double v116 = 341.3333333333333 + v89;
  w->kept[237] = v116;
  const double v117 = 83.33333333333333 + v90;
  w->kept[245] = v117;
  const double v118 = v107 + v108;
  const double v119 = v68 - v69;
  w->kept[206] = v119;
  const double v120 = v73 - v72;
  w->kept[257] = v120;
  const double v121 = v80 - v81;
  w->kept[217] = v121;
  const double v122 = v119 * v7;
  const double v123 = v119 * v8;
  const double v124 = v120 * w->kept[149];
  w->kept[258] = v124;
  const double v125 = -8.0 * v121;
  const double v126 = w->kept[108] * v35 + v96;
  const double v127 = -2.0 * v9 + v97;
  const double v128 = v116 * v60 + v105;
  const double v129 = w->kept[115] * v121 + v96;
  const double v130 = w->kept[111] * v34 + v123;
  const double v131 = w->kept[116] * v82 + v123;
  const double v132 = -2.0 * v10 + v125;
  const double v133 = w->kept[134] * v86 - v112;
  w->kept[251] = v133;
  const double v134 = w->kept[140] * v87 - v114;
  w->kept[254] = v134;
  const double v135 = w->kept[116] * v121 - v95;
  const double v136 = v126 + v129;
  const double v137 = v130 + v131;
  const double v138 = v109 + v135;
  const double v139 = v136 + v137;
  const double v140 = w->kept[112] - w->kept[113] * w->kept[124];
  const double v141 = v122 - w->kept[111] * v35;
  const double v142 = v122 - w->kept[115] * v82;
  const double v143 = 1.0 / v85;
  w->kept[269] = v143;
  const double v144 = 1.0 / v91;
  w->kept[270] = v144;
  const double v145 = w->kept[13] > 0.0 ? v57 : v56;
  const double v146 = w->kept[13] > 0.0 ? v59 : v58;
  const double v147 = fabs(v55);
  w->kept[259] = v147;
  const double v148 = fabs(v145);
  w->kept[261] = v148;
  const double v149 = fabs(v146);
  w->kept[264] = v149;
  const double v150 = v147 > 200000.0 ? v147 : 200000.0;
  const double v151 = v148 > 200000.0 ? v148 : 200000.0;
  const double v152 = v149 > 200000.0 ? v149 : 200000.0;
  const double v153 = sqrt(v150);
  const double v154 = sqrt(v151);
  const double v155 = sqrt(v152);
  const double v156 = 1.0 / v153;
  w->kept[260] = v156;
  const double v157 = 1.0 / v154;
  w->kept[262] = v157;
  const double v158 = 1.0 / v155;
  w->kept[265] = v158;
  const double v159 = w->kept[4] * v140;
  const double v160 = v55 * v156;
  const double v161 = v145 * v157;
  const double v162 = v146 * v158;
  const double v163 = w->theta[11] * v160;
  const double v164 = w->theta[12] * v161;
  w->kept[263] = v164;
  const double v165 = w->theta[12] * v162;
  w->kept[266] = v165;
  const double v166 = w->kept[13] * v165;
  const double v167 = -5.0 * v139 + v127;
  w->kept[227] = v167;
  const double v168 = v17 * v76 + v159;
  const double v169 = w->kept[12] * v165 + v166;
  const double v170 = v141 + v142;
  const double v171 = v92 + v168;
  const double v172 = v138 + v170;
  const double v173 = w->kept[113] * v168;
  const double v174 = w->kept[112] * v171;
  const double v175 = v17 * v140 - v99;
  const double v176 = w->kept[12] * v164 - v163;
  const double v177 = w->kept[114] * v108 - v173;
  const double v178 = -5.0 * v172 + v132;
  const double v179 = w->kept[103] * v118 + v174;
  const double v180 = v117 * v76 + v175;
  const double v181 = w->kept[13] * v164 + v176;
  const double v182 = v180 + v177;
  const double v183 = v128 + v180;
  const double v184 = v183 + v179;
  const double v185 = v163 - 0.005026548245743669 * w->kept[151];
  w->kept[267] = v185;
  const double v186 = v169 - -0.004064435495581795 * w->kept[151];
  w->kept[268] = v186;
  const double v187 = v183 - w->kept[126] * v115;
  const double v188 = v184 - w->kept[126] * v187;
  const double v189 = v181 * w->kept[10];
  const double v190 = v185 * v143;
  const double v191 = v186 * v144;
  const double v192 = w->kept[124] * v182 + v188;
  const double v193 = w->kept[121] * v167 - v178;
  w->kept[228] = v193;
  const double v194 = w->kept[122] * v193;
  w->kept[229] = v194;
  const double v195 = w->kept[117] * v194 + v167;
  w->kept[230] = v195;
  const double v196 = w->kept[114] * v194 + v98;
  const double v197 = v42 + v196;
  const double v198 = w->kept[120] * v195;
  const double v199 = w->kept[145] * v197;
  const double v200 = v198 * v14;
  const double v201 = v110 - w->kept[113] * v194;
  const double v202 = v41 - v198 * v115;
  const double v203 = v106 - v198 * v116;
  const double v204 = v65 + v201;
  const double v205 = v133 + v203;
  const double v206 = w->kept[3] * v65 - v200;
  const double v207 = v17 * v204 - v199;
  const double v208 = v111 + v206;
  const double v209 = v194 - v198;
  const double v210 = w->kept[4] * v204;
  const double v211 = w->kept[145] * v209;
  const double v212 = v198 * w->kept[139] + v52;
  const double v213 = v117 * v209 + v207;
  const double v214 = v17 * v209 + v210;
  const double v215 = v134 + v213;
  const double v216 = v113 + v214;
  const double v217 = v205 + v215;
  const double v218 = v208 + v216;
  const double v219 = v202 + v217;
  const double v220 = w->kept[113] * v216;
  const double v221 = w->kept[112] * v218;
  const double v222 = v212 - v100;
  const double v223 = w->kept[4] * v197 - v211;
  const double v224 = v223 - v101;
  const double v225 = v222 + v224;
  const double v226 = w->kept[103] * v225 + v221;
  const double v227 = v217 + v226;
  const double v228 = w->kept[114] * v224 - v220;
  const double v229 = v215 + v228;
  const double v230 = v227 - w->kept[126] * v219;
  const double v231 = w->kept[124] * v229 + v230;
  const double v232 = w->theta[0] * w->kept[126] + v231;
  const double v233 = v232 - w->theta[1];
  const double v234 = v233 - w->theta[2] * w->kept[124];
  const double v235 = v124 * w->kept[156] - v234;
  const double v236 = 1.0 / v192;
  w->kept[273] = v236;
  const double v237 = v236 * v235;
  w->kept[274] = v237;
  const double v238 = w->kept[126] * v237 + v198;
  w->kept[275] = v238;
  const double v239 = w->kept[124] * v237 + v194;
  w->kept[276] = v239;
  const double v240 = -v238;
  w->zdd_state[0] = v240;
  w->zdd_state[1] = v237;
  w->zdd_state[2] = v239;
  w->pd_state[0] = v189;
  w->pd_state[1] = v190;
  w->pd_state[2] = v191;
  w->mass_pivot[0] = v192;
}

static void four_bar_slopes(four_bar_work *w)
{
  (void)w;
  const double v0 = w->kept[196] + w->kept[196];
  const double v1 = w->kept[195] + w->kept[195];
  const double v2 = 0.5 * w->kept[260];
  const double v3 = 0.5 * w->kept[262];
  const double v4 = 0.5 * w->kept[265];
  const double v5 = w->kept[105] * w->kept[256];
  const double v6 = w->kept[116] * w->kept[124];
  const double v7 = w->kept[115] * w->kept[124];
  const double v8 = w->kept[120] * w->kept[120];
  const double v9 = w->kept[122] * w->kept[122];
  const double v10 = w->kept[128] * w->kept[256];
  const double v11 = w->kept[128] * w->kept[255];
  const double v12 = w->kept[196] * w->kept[256];
  const double v13 = w->kept[195] * w->kept[255];
  const double v14 = w->kept[195] * w->kept[256];
  const double v15 = w->kept[196] * w->kept[255];
  const double v16 = w->kept[126] * w->kept[5];
  const double v17 = w->kept[135] * w->kept[139];
  const double v18 = w->kept[141] * w->kept[145];
  const double v19 = w->kept[126] * w->kept[256];
  const double v20 = w->kept[126] * w->kept[255];
  const double v21 = w->kept[256] * w->kept[256];
  const double v22 = w->kept[255] * w->kept[255];
  const double v23 = w->kept[148] * w->kept[148];
  const double v24 = w->kept[131] * w->kept[255];
  const double v25 = w->kept[263] * w->kept[14];
  const double v26 = w->kept[263] * w->kept[15];
  const double v27 = w->kept[266] * w->kept[14];
  const double v28 = w->kept[266] * w->kept[15];
  const double v29 = w->kept[258] * w->kept[8];
  const double v30 = w->kept[258] * w->kept[9];
  const double v31 = w->kept[269] * w->kept[269];
  const double v32 = w->kept[270] * w->kept[270];
  const double v33 = 0.005026548245743669 * w->kept[258];
  const double v34 = -0.005026548245743669 * w->kept[258];
  const double v35 = -0.004064435495581795 * w->kept[258];
  const double v36 = 2.0 * w->kept[232];
  const double v37 = -2.0 * w->kept[233];
  const double v38 = 2.0 * w->kept[271];
  const double v39 = 2.0 * w->kept[124];
  const double v40 = 2.0 * w->kept[272];
  const double v41 = 80.0 * w->kept[258];
  const double v42 = 320.0 * w->kept[258];
  const double v43 = w->kept[130] * v6;
  const double v44 = w->kept[108] * v7;
  const double v45 = w->kept[111] * v7;
  const double v46 = w->kept[130] * v7;
  const double v47 = w->kept[217] * v7;
  const double v48 = w->kept[224] * v7;
  const double v49 = w->kept[258] * v23;
  const double v50 = v29 * v31;
  const double v51 = v30 * v32;
  const double v52 = v33 * w->kept[273];
  const double v53 = w->kept[269] * v34;
  const double v54 = v35 * w->kept[273];
  const double v55 = w->kept[3] * v36;
  const double v56 = w->kept[139] * v36;
  const double v57 = w->kept[240] * v39;
  const double v58 = w->kept[152] * v41;
  const double v59 = -0.5 * v49;
  const double v60 = w->kept[267] * v50;
  const double v61 = w->kept[104] * w->kept[256] + w->kept[106];
  const double v62 = w->kept[105] * w->kept[255] + w->kept[107];
  const double v63 = w->kept[209] * w->kept[256] + w->kept[211];
  const double v64 = w->kept[210] * w->kept[255] + w->kept[214];
  const double v65 = w->kept[103] * w->kept[274] + w->kept[234];
  const double v66 = w->kept[114] * w->kept[276] + w->kept[242];
  const double v67 = w->kept[126] * w->kept[132] + v10;
  const double v68 = w->kept[126] * w->kept[131] + v11;
  const double v69 = w->kept[134] * w->kept[236] + v17;
  const double v70 = w->kept[140] * w->kept[244] + v18;
  const double v71 = w->kept[124] * w->kept[207] + v43;
  const double v72 = w->kept[124] * w->kept[208] + v46;
  const double v73 = w->kept[203] + v12;
  const double v74 = w->kept[202] + v12;
  const double v75 = w->kept[205] + v13;
  const double v76 = w->kept[204] + v13;
  const double v77 = w->kept[198] + v14;
  const double v78 = w->kept[200] + v15;
  const double v79 = v25 + v26;
  const double v80 = v27 + v28;
  const double v81 = v58 + v58;
  const double v82 = v65 + v66;
  const double v83 = 200000.0 - w->kept[259];
  const double v84 = 200000.0 - w->kept[261];
  const double v85 = 200000.0 - w->kept[264];
  const double v86 = w->kept[274] - w->kept[275];
  const double v87 = v5 - w->kept[109];
  const double v88 = w->kept[109] - v5;
  const double v89 = v14 - w->kept[197];
  const double v90 = w->kept[199] - v15;
  const double v91 = v61 - v62;
  const double v92 = v80 - v35;
  const double v93 = w->kept[139] * v65;
  const double v94 = w->kept[10] * v79;
  const double v95 = w->kept[270] * v80;
  const double v96 = 0.25 * v81;
  const double v97 = w->kept[145] * v82;
  const double v98 = w->kept[139] * v86;
  const double v99 = w->kept[115] * v91;
  const double v100 = -8.0 * v91;
  const double v101 = w->kept[207] * v91;
  const double v102 = w->kept[208] * v91;
  const double v103 = w->kept[270] * v92;
  const double v104 = w->kept[154] * v96;
  const double v105 = w->kept[153] * v104;
  const double v106 = w->kept[210] * w->kept[256] - w->kept[218];
  const double v107 = w->kept[112] * w->kept[274] - w->kept[235];
  const double v108 = w->kept[236] * v37 - v56;
  const double v109 = w->kept[102] * v0 - v77;
  const double v110 = w->kept[104] * v68 - v77;
  const double v111 = w->kept[101] * v1 - v78;
  const double v112 = w->kept[105] * v67 - v78;
  const double v113 = w->kept[103] * v86 - v65;
  const double v114 = w->kept[116] * v91 - v45;
  const double v115 = w->kept[3] * v65 - v98;
  const double v116 = w->kept[102] * v1 + v73;
  const double v117 = w->kept[105] * v68 + v73;
  const double v118 = w->kept[101] * v0 + v75;
  const double v119 = w->kept[104] * v67 + v75;
  const double v120 = w->kept[111] * v6 + v99;
  const double v121 = 2.0 * w->kept[255] + v100;
  const double v122 = w->kept[206] * v6 + v101;
  const double v123 = w->kept[206] * v7 + v102;
  const double v124 = w->kept[232] * w->kept[136] + v113;
  const double v125 = w->kept[111] * v71 + v123;
  const double v126 = w->kept[276] + v86;
  const double v127 = v105 + v105;
  const double v128 = w->kept[5] + v107;
  const double v129 = v109 + v110;
  const double v130 = v111 + v112;
  const double v131 = v116 + v117;
  const double v132 = v118 + v119;
  const double v133 = v129 + v130;
  const double v134 = w->kept[110] - w->kept[104] * w->kept[255];
  const double v135 = 1.0 - w->kept[155] * w->kept[155];
  const double v136 = w->kept[221] - w->kept[209] * w->kept[255];
  const double v137 = w->kept[243] - w->kept[113] * w->kept[276];
  const double v138 = w->kept[248] - w->kept[231] * w->kept[275];
  const double v139 = v122 - w->kept[111] * v72;
  const double v140 = v128 - w->kept[112] * v86;
  const double v141 = v122 - w->kept[115] * v133;
  const double v142 = w->kept[145] * v126;
  const double v143 = w->kept[152] * v127;
  const double v144 = w->kept[3] * v128;
  const double v145 = -8.0 * v133;
  const double v146 = v135 * v42;
  const double v147 = 231.0 * v146;
  const double v148 = w->kept[116] * v133 + v123;
  const double v149 = w->kept[233] * w->kept[136] + v140;
  const double v150 = w->kept[236] * v86 + v144;
  const double v151 = -2.0 * v67 + v145;
  const double v152 = v134 + v88;
  const double v153 = v128 + v137;
  const double v154 = v139 + v141;
  const double v155 = v125 + v148;
  const double v156 = w->kept[250] + v150;
  const double v157 = w->kept[114] * v126 - v82;
  const double v158 = w->kept[236] * v128 - v93;
  const double v159 = w->kept[4] * v82 - v142;
  const double v160 = w->kept[154] * v41 - v143;
  const double v161 = w->kept[244] * v153 - v97;
  const double v162 = v115 - w->kept[249];
  const double v163 = v131 - v132;
  const double v164 = v87 - v134;
  const double v165 = v149 - v16;
  const double v166 = v159 - w->kept[252];
  const double v167 = w->kept[208] * v152;
  const double v168 = w->kept[207] * v152;
  const double v169 = w->kept[4] * v153;
  const double v170 = -8.0 * v163;
  const double v171 = 8.0 * v164;
  const double v172 = w->kept[115] * v164;
  const double v173 = w->kept[3] * v165;
  const double v174 = w->kept[139] * v165;
  const double v175 = w->kept[113] * v126 + v153;
  const double v176 = w->kept[240] * w->kept[142] + v157;
  const double v177 = w->kept[237] * v86 + v158;
  const double v178 = 682.0 * v160 + v147;
  const double v179 = w->kept[245] * v126 + v161;
  const double v180 = w->kept[201] * v7 + v167;
  const double v181 = w->kept[201] * v6 + v168;
  const double v182 = w->kept[244] * v126 + v169;
  const double v183 = -2.0 * v68 + v170;
  const double v184 = 2.0 * w->kept[256] + v171;
  const double v185 = w->kept[108] * v6 + v172;
  const double v186 = 362.7565358052813 * w->kept[258] + v178;
  const double v187 = w->kept[108] * v72 + v181;
  const double v188 = w->kept[115] * v163 + v181;
  const double v189 = v162 + v166;
  const double v190 = w->kept[251] + v177;
  const double v191 = w->kept[254] + v179;
  const double v192 = w->kept[253] + v182;
  const double v193 = v185 + v114;
  const double v194 = v187 + v188;
  const double v195 = v190 + v191;
  const double v196 = v156 + v192;
  const double v197 = v194 + v155;
  const double v198 = v138 + v195;
  const double v199 = w->kept[124] * v176;
  const double v200 = w->theta[7] * v186;
  const double v201 = w->kept[112] * v189;
  const double v202 = w->kept[113] * v192;
  const double v203 = w->kept[114] * v192;
  const double v204 = -5.0 * v193;
  const double v205 = w->kept[116] * v164 - v44;
  const double v206 = w->kept[236] * v124 - v174;
  const double v207 = w->kept[108] * v71 - v180;
  const double v208 = w->kept[116] * v163 - v180;
  const double v209 = w->kept[103] * v196 - v201;
  const double v210 = w->kept[114] * v166 - v202;
  const double v211 = v121 + v204;
  const double v212 = v100 + v204;
  const double v213 = v207 + v208;
  const double v214 = v191 + v210;
  const double v215 = v213 + v154;
  const double v216 = -5.0 * v197 + v151;
  const double v217 = w->kept[113] * v166 + v203;
  const double v218 = -5.0 * v215 + v183;
  const double v219 = v83 > 0.0 ? w->kept[260] : v2;
  const double v220 = v84 > 0.0 ? w->kept[262] : v3;
  const double v221 = v85 > 0.0 ? w->kept[265] : v4;
  const double v222 = w->theta[11] * v219;
  const double v223 = w->theta[12] * v220;
  const double v224 = w->theta[12] * v221;
  const double v225 = w->kept[269] * v222;
  const double v226 = v175 - w->kept[241] * w->kept[142];
  const double v227 = v25 - w->kept[12] * v223;
  const double v228 = v26 - w->kept[13] * v223;
  const double v229 = v27 - w->kept[12] * v224;
  const double v230 = v28 - w->kept[13] * v224;
  const double v231 = v25 + v222;
  const double v232 = v229 + v230;
  const double v233 = v26 + v231;
  const double v234 = w->kept[124] * v226;
  const double v235 = w->kept[270] * v232;
  const double v236 = w->kept[10] * v233;
  const double v237 = v205 - v120;
  const double v238 = v227 - v222;
  const double v239 = v238 + v228;
  const double v240 = 5.0 * v237;
  const double v241 = w->kept[10] * v239;
  const double v242 = w->kept[121] * v240;
  const double v243 = w->kept[124] * v240;
  const double v244 = v184 + v240;
  const double v245 = v171 + v240;
  const double v246 = v244 * v8;
  const double v247 = w->kept[121] * v245;
  const double v248 = w->kept[118] * v246;
  const double v249 = w->kept[125] * v246;
  const double v250 = w->kept[230] * v246;
  const double v251 = w->kept[121] * v216 - v218;
  const double v252 = w->kept[120] * v211 - v248;
  const double v253 = w->kept[117] * v252 + v242;
  const double v254 = w->kept[119] * v252 + v247;
  const double v255 = v204 - v253;
  const double v256 = v254 - v212;
  const double v257 = w->kept[122] * v251;
  const double v258 = v255 * v9;
  const double v259 = w->kept[113] * v257;
  const double v260 = w->kept[123] * v258;
  const double v261 = w->kept[228] * v258;
  const double v262 = w->kept[117] * v257 + v216;
  const double v263 = w->kept[114] * v257 + v57;
  const double v264 = w->kept[241] * v39 - v259;
  const double v265 = w->kept[122] * v256 - v260;
  const double v266 = v36 + v263;
  const double v267 = v37 + v264;
  const double v268 = w->kept[120] * v262;
  const double v269 = w->zd[0] * v265;
  const double v270 = w->kept[145] * v266;
  const double v271 = w->kept[4] * v267;
  const double v272 = w->kept[236] * v268;
  const double v273 = w->kept[208] * v269;
  const double v274 = w->kept[207] * v269;
  const double v275 = 2.0 * v269;
  const double v276 = w->kept[117] * v265 + v243;
  const double v277 = w->kept[139] * v268 + v55;
  const double v278 = w->kept[115] * v269 + v43;
  const double v279 = w->kept[240] * v275 + v234;
  const double v280 = w->kept[241] * v275 + v199;
  const double v281 = w->kept[130] * v278 + v273;
  const double v282 = w->kept[116] * v269 - v46;
  const double v283 = w->kept[244] * v267 - v270;
  const double v284 = w->kept[3] * v37 - v272;
  const double v285 = w->kept[111] * v281;
  const double v286 = w->kept[108] * v281;
  const double v287 = w->kept[130] * v282 + v274;
  const double v288 = w->kept[238] * v38 + v284;
  const double v289 = w->kept[225] * v91 + v285;
  const double v290 = w->kept[225] * v164 + v286;
  const double v291 = w->kept[108] * v287;
  const double v292 = w->kept[111] * v287;
  const double v293 = w->kept[226] * v164 + v291;
  const double v294 = w->kept[226] * v91 + v292;
  const double v295 = v108 - w->kept[237] * v268;
  const double v296 = v277 - w->kept[239] * v38;
  const double v297 = v245 + v276;
  const double v298 = v257 - v268;
  const double v299 = v69 * v38 + v295;
  const double v300 = w->kept[244] * v298 + v271;
  const double v301 = w->kept[245] * v298 + v283;
  const double v302 = w->kept[246] * v40 + v300;
  const double v303 = v70 * v40 + v301;
  const double v304 = v288 + v302;
  const double v305 = v299 + v303;
  const double v306 = w->kept[145] * v298;
  const double v307 = w->kept[113] * v302;
  const double v308 = w->kept[112] * v304;
  const double v309 = w->kept[120] * v297 - v249;
  const double v310 = w->kept[4] * v266 - v306;
  const double v311 = w->kept[101] * v309 - v20;
  const double v312 = w->kept[102] * v309 + v19;
  const double v313 = w->kept[146] * v311 + v21;
  const double v314 = v305 - w->kept[231] * v268;
  const double v315 = v310 - w->kept[247] * v40;
  const double v316 = v313 + v313;
  const double v317 = v296 + v315;
  const double v318 = w->kept[101] * v312 - v22;
  const double v319 = w->kept[114] * v315 - v307;
  const double v320 = v318 + v318;
  const double v321 = v303 + v319;
  const double v322 = v316 - v320;
  const double v323 = w->zd[0] * v309;
  const double v324 = w->kept[149] * v322;
  const double v325 = w->kept[132] * v323;
  const double v326 = w->kept[131] * v323;
  const double v327 = -2.0 * v323;
  const double v328 = w->kept[103] * v317 + v308;
  const double v329 = w->kept[102] * v323 + v10;
  const double v330 = w->kept[257] * v59 + v324;
  const double v331 = w->kept[104] * v329 + w->kept[205];
  const double v332 = w->kept[128] * v329 + v326;
  const double v333 = w->kept[196] * v329 + w->kept[215];
  const double v334 = w->kept[104] * v332 + w->kept[213];
  const double v335 = w->kept[101] * v323 - v11;
  const double v336 = w->kept[105] * v329 - w->kept[200];
  const double v337 = w->kept[195] * v329 - w->kept[222];
  const double v338 = w->kept[101] * v329 - v24;
  const double v339 = w->kept[105] * v332 - w->kept[220];
  const double v340 = w->kept[105] * v335 - w->kept[203];
  const double v341 = w->kept[195] * v335 - w->kept[212];
  const double v342 = v305 + v328;
  const double v343 = v76 + v331;
  const double v344 = v64 + v333;
  const double v345 = v90 + v336;
  const double v346 = v136 + v337;
  const double v347 = v338 + v338;
  const double v348 = v269 - v323;
  const double v349 = v74 - v340;
  const double v350 = v63 - v341;
  const double v351 = v334 - v341;
  const double v352 = v349 - v343;
  const double v353 = w->kept[146] * v335;
  const double v354 = 2.0 * v348;
  const double v355 = w->kept[208] * v352;
  const double v356 = w->kept[207] * v352;
  const double v357 = w->kept[104] * v335 + w->kept[198];
  const double v358 = w->kept[128] * v335 + v325;
  const double v359 = w->kept[196] * v335 + w->kept[219];
  const double v360 = w->kept[132] * w->kept[256] + v353;
  const double v361 = w->kept[201] * v278 + v355;
  const double v362 = w->kept[201] * v282 + v356;
  const double v363 = w->kept[104] * v358 + w->kept[223];
  const double v364 = v350 + v351;
  const double v365 = v89 + v357;
  const double v366 = v106 + v359;
  const double v367 = v359 + v339;
  const double v368 = v360 + v360;
  const double v369 = v290 + v362;
  const double v370 = v337 + v363;
  const double v371 = v366 + v367;
  const double v372 = v346 + v370;
  const double v373 = v293 - v361;
  const double v374 = v365 - v345;
  const double v375 = v368 - v347;
  const double v376 = v371 - v372;
  const double v377 = w->kept[207] * v374;
  const double v378 = w->kept[208] * v374;
  const double v379 = w->kept[149] * v375;
  const double v380 = -8.0 * v376;
  const double v381 = w->kept[115] * v376;
  const double v382 = w->kept[206] * v282 + v377;
  const double v383 = w->kept[206] * v278 + v378;
  const double v384 = w->kept[150] * v59 + v379;
  const double v385 = -2.0 * v332 + v380;
  const double v386 = w->kept[217] * v6 + v381;
  const double v387 = 80.0 * v384;
  const double v388 = 320.0 * v384;
  const double v389 = -0.005026548245743669 * v384;
  const double v390 = w->kept[152] * v387;
  const double v391 = v135 * v388;
  const double v392 = 231.0 * v391;
  const double v393 = v294 + v383;
  const double v394 = v362 + v386;
  const double v395 = v390 + v390;
  const double v396 = v369 + v394;
  const double v397 = w->kept[105] * v358 - w->kept[216];
  const double v398 = w->kept[116] * v376 - v47;
  const double v399 = w->kept[269] * v389 - v60;
  const double v400 = v382 - v289;
  const double v401 = v397 - v333;
  const double v402 = v398 - v361;
  const double v403 = v401 - v344;
  const double v404 = v373 + v402;
  const double v405 = v364 + v403;
  const double v406 = 0.25 * v395;
  const double v407 = -8.0 * v405;
  const double v408 = w->kept[115] * v405;
  const double v409 = w->kept[154] * v406;
  const double v410 = w->kept[153] * v409;
  const double v411 = -2.0 * v358 + v407;
  const double v412 = w->kept[224] * v6 + v408;
  const double v413 = v342 - w->kept[126] * v314;
  const double v414 = v80 - -0.004064435495581795 * v384;
  const double v415 = v410 + v410;
  const double v416 = w->kept[270] * v414;
  const double v417 = w->kept[152] * v415;
  const double v418 = w->kept[124] * v321 + v413;
  const double v419 = w->kept[268] * v51 + v416;
  const double v420 = w->kept[258] * v200 + v418;
  const double v421 = w->kept[116] * v405 - v48;
  const double v422 = w->kept[154] * v387 - v417;
  const double v423 = v383 + v421;
  const double v424 = v393 + v423;
  const double v425 = v396 + v424;
  const double v426 = 682.0 * v422 + v392;
  const double v427 = -5.0 * v425 + v411;
  const double v428 = 362.7565358052813 * v384 + v426;
  const double v429 = v420 * w->kept[273];
  const double v430 = w->kept[121] * v427;
  const double v431 = w->theta[7] * v428;
  const double v432 = w->kept[258] * v431;
  const double v433 = -v225;
  const double v434 = -v429;
  const double v435 = v382 - v412;
  const double v436 = v400 + v435;
  const double v437 = v404 + v436;
  const double v438 = w->kept[227] * v252 + v430;
  const double v439 = -5.0 * v437 + v385;
  const double v440 = v438 - v439;
  const double v441 = w->kept[156] * v330 - v432;
  const double v442 = w->kept[122] * v440 - v261;
  const double v443 = w->kept[117] * v442;
  const double v444 = v265 * w->kept[274] + v442;
  const double v445 = w->kept[229] * v240 + v443;
  const double v446 = w->kept[114] * v444 + v279;
  const double v447 = v427 + v445;
  const double v448 = v165 + v446;
  const double v449 = w->kept[145] * v448;
  const double v450 = w->kept[120] * v447 - v250;
  const double v451 = v309 * w->kept[274] + v450;
  const double v452 = w->kept[139] * v451 + v173;
  const double v453 = v280 - w->kept[113] * v444;
  const double v454 = v206 - w->kept[237] * v451;
  const double v455 = v452 - w->kept[239] * v327;
  const double v456 = w->kept[231] * v451;
  const double v457 = w->kept[236] * v451;
  const double v458 = w->kept[133] * v16 - v456;
  const double v459 = w->kept[3] * v124 - v457;
  const double v460 = v69 * v327 + v454;
  const double v461 = w->kept[238] * v327 + v459;
  const double v462 = v124 + v453;
  const double v463 = v444 - v451;
  const double v464 = w->kept[4] * v462;
  const double v465 = w->kept[145] * v463;
  const double v466 = w->kept[244] * v462 - v449;
  const double v467 = w->kept[4] * v448 - v465;
  const double v468 = w->kept[244] * v463 + v464;
  const double v469 = w->kept[245] * v463 + v466;
  const double v470 = w->kept[246] * v354 + v468;
  const double v471 = v70 * v354 + v469;
  const double v472 = w->kept[124] * v166 + v470;
  const double v473 = w->kept[124] * v217 + v471;
  const double v474 = v461 + v472;
  const double v475 = v460 + v473;
  const double v476 = v209 + v475;
  const double v477 = v458 + v476;
  const double v478 = w->kept[113] * v470;
  const double v479 = w->kept[112] * v474;
  const double v480 = w->kept[126] * v477;
  const double v481 = v309 * v198 + v480;
  const double v482 = v467 - w->kept[247] * v354;
  const double v483 = v482 - w->kept[124] * v192;
  const double v484 = v455 + v483;
  const double v485 = w->kept[103] * v484 + v479;
  const double v486 = v475 + v485;
  const double v487 = v486 - v481;
  const double v488 = w->kept[114] * v482 - v478;
  const double v489 = v471 + v488;
  const double v490 = w->kept[124] * v489;
  const double v491 = v265 * v214 + v490;
  const double v492 = v487 + v491;
  const double v493 = w->theta[0] * v309 + v492;
  const double v494 = v493 - w->theta[2] * v265;
  const double v495 = v441 - v494;
  const double v496 = w->kept[273] * v495;
  w->A[0] = v496;
  w->A[1] = v434;
  w->A[2] = 0.0;
  w->A[3] = v52;
  w->A[4] = v54;
  w->A[5] = v94;
  w->A[6] = v94;
  w->A[7] = v241;
  w->A[8] = v236;
  w->A[9] = v94;
  w->A[10] = v399;
  w->A[11] = v53;
  w->A[12] = v225;
  w->A[13] = v433;
  w->A[14] = -0.0;
  w->A[15] = v419;
  w->A[16] = v103;
  w->A[17] = v95;
  w->A[18] = v95;
  w->A[19] = v235;
}

static void four_bar_read_40(four_bar_work *w)
{
  (void)w;
  w->read[0][0] = w->z[0];
  w->read[0][1] = w->kept[127];
  w->read[0][2] = 0.0;
  w->read[0][3] = 0.0;
  w->read[0][4] = 0.0;
  w->read[0][5] = 0.0;
  w->read[0][6] = 0.0;
}

static void four_bar_read_41(four_bar_work *w)
{
  (void)w;
  const double v0 = w->kept[102] * w->kept[126];
  const double v1 = w->kept[101] * w->kept[126];
  const double v2 = w->kept[116] * w->kept[124];
  const double v3 = w->kept[115] * w->kept[124];
  const double v4 = w->kept[120] * w->kept[120];
  const double v5 = w->kept[122] * w->kept[122];
  const double v6 = w->kept[108] * v3;
  const double v7 = w->kept[111] * v3;
  const double v8 = w->kept[105] * v0 + w->kept[107];
  const double v9 = w->kept[104] * v1 + w->kept[106];
  const double v10 = v9 - v8;
  const double v11 = w->kept[115] * v10;
  const double v12 = -8.0 * v10;
  const double v13 = w->kept[111] * v2 + v11;
  const double v14 = 2.0 * v0 + v12;
  const double v15 = w->kept[105] * v1 - w->kept[109];
  const double v16 = w->kept[116] * v10 - v7;
  const double v17 = w->kept[110] - w->kept[104] * v0;
  const double v18 = v15 - v17;
  const double v19 = 8.0 * v18;
  const double v20 = w->kept[115] * v18;
  const double v21 = 2.0 * v1 + v19;
  const double v22 = w->kept[108] * v2 + v20;
  const double v23 = v22 + v16;
  const double v24 = -5.0 * v23;
  const double v25 = v14 + v24;
  const double v26 = v12 + v24;
  const double v27 = w->kept[116] * v18 - v6;
  const double v28 = v27 - v13;
  const double v29 = 5.0 * v28;
  const double v30 = w->kept[121] * v29;
  const double v31 = w->kept[124] * v29;
  const double v32 = v21 + v29;
  const double v33 = v19 + v29;
  const double v34 = v32 * v4;
  const double v35 = w->kept[121] * v33;
  const double v36 = w->kept[118] * v34;
  const double v37 = w->kept[125] * v34;
  const double v38 = w->kept[120] * v25 - v36;
  const double v39 = w->kept[117] * v38 + v30;
  const double v40 = w->kept[119] * v38 + v35;
  const double v41 = v24 - v39;
  const double v42 = v40 - v26;
  const double v43 = v41 * v5;
  const double v44 = w->kept[123] * v43;
  const double v45 = w->kept[122] * v42 - v44;
  const double v46 = w->kept[117] * v45 + v31;
  const double v47 = v33 + v46;
  const double v48 = w->kept[120] * v47 - v37;
  const double v49 = w->zd[0] * v48;
  const double v50 = -v49;
  w->read[0][0] = w->kept[129];
  w->read[0][1] = v50;
  w->read[0][2] = w->kept[127];
  w->read[0][3] = -0.0;
  w->read[0][4] = -0.0;
  w->read[0][5] = -0.0;
  w->read[0][6] = -0.0;
}

static void four_bar_read_42(four_bar_work *w)
{
  (void)w;
  const double v0 = w->kept[158] + w->kept[158];
  const double v1 = w->kept[157] + w->kept[157];
  const double v2 = w->kept[102] * w->kept[126];
  const double v3 = w->kept[101] * w->kept[126];
  const double v4 = w->kept[116] * w->kept[124];
  const double v5 = w->kept[115] * w->kept[124];
  const double v6 = w->kept[120] * w->kept[120];
  const double v7 = w->kept[122] * w->kept[122];
  const double v8 = w->kept[128] * v2;
  const double v9 = w->kept[157] * v2;
  const double v10 = w->kept[158] * v2;
  const double v11 = w->kept[105] * v3;
  const double v12 = w->kept[128] * v3;
  const double v13 = w->kept[158] * v3;
  const double v14 = w->kept[157] * v3;
  const double v15 = w->kept[130] * v4;
  const double v16 = w->kept[108] * v5;
  const double v17 = w->kept[111] * v5;
  const double v18 = w->kept[130] * v5;
  const double v19 = w->kept[179] * v5;
  const double v20 = w->kept[186] * v5;
  const double v21 = w->kept[105] * v2 + w->kept[107];
  const double v22 = w->kept[172] * v2 + w->kept[176];
  const double v23 = w->kept[104] * v3 + w->kept[106];
  const double v24 = w->kept[171] * v3 + w->kept[173];
  const double v25 = w->kept[126] * w->kept[131] + v8;
  const double v26 = w->kept[126] * w->kept[132] + v12;
  const double v27 = w->kept[124] * w->kept[169] + v15;
  const double v28 = w->kept[124] * w->kept[170] + v18;
  const double v29 = w->kept[167] + v9;
  const double v30 = w->kept[166] + v9;
  const double v31 = w->kept[162] + v10;
  const double v32 = w->kept[165] + v13;
  const double v33 = w->kept[164] + v13;
  const double v34 = w->kept[160] + v14;
  const double v35 = w->kept[161] - v10;
  const double v36 = v11 - w->kept[109];
  const double v37 = w->kept[109] - v11;
  const double v38 = v14 - w->kept[159];
  const double v39 = v23 - v21;
  const double v40 = w->kept[172] * v3 - w->kept[180];
  const double v41 = w->kept[101] * v1 - v31;
  const double v42 = w->kept[105] * v26 - v31;
  const double v43 = w->kept[102] * v0 - v34;
  const double v44 = w->kept[104] * v25 - v34;
  const double v45 = w->kept[116] * v39 - v17;
  const double v46 = w->kept[115] * v39;
  const double v47 = -8.0 * v39;
  const double v48 = w->kept[169] * v39;
  const double v49 = w->kept[170] * v39;
  const double v50 = w->kept[101] * v0 + v29;
  const double v51 = w->kept[104] * v26 + v29;
  const double v52 = w->kept[102] * v1 + v32;
  const double v53 = w->kept[105] * v25 + v32;
  const double v54 = w->kept[111] * v4 + v46;
  const double v55 = 2.0 * v2 + v47;
  const double v56 = w->kept[168] * v4 + v48;
  const double v57 = w->kept[168] * v5 + v49;
  const double v58 = w->kept[111] * v27 + v57;
  const double v59 = v41 + v42;
  const double v60 = v43 + v44;
  const double v61 = v50 + v51;
  const double v62 = v52 + v53;
  const double v63 = v60 + v59;
  const double v64 = w->kept[110] - w->kept[104] * v2;
  const double v65 = w->kept[183] - w->kept[171] * v2;
  const double v66 = v56 - w->kept[111] * v28;
  const double v67 = v56 - w->kept[115] * v63;
  const double v68 = v64 + v37;
  const double v69 = v66 + v67;
  const double v70 = -8.0 * v63;
  const double v71 = w->kept[170] * v68;
  const double v72 = w->kept[169] * v68;
  const double v73 = w->kept[116] * v63 + v57;
  const double v74 = -2.0 * v26 + v70;
  const double v75 = w->kept[163] * v5 + v71;
  const double v76 = w->kept[163] * v4 + v72;
  const double v77 = w->kept[108] * v28 + v76;
  const double v78 = v62 - v61;
  const double v79 = v36 - v64;
  const double v80 = -8.0 * v78;
  const double v81 = 8.0 * v79;
  const double v82 = w->kept[115] * v79;
  const double v83 = w->kept[115] * v78 + v76;
  const double v84 = -2.0 * v25 + v80;
  const double v85 = 2.0 * v3 + v81;
  const double v86 = w->kept[108] * v4 + v82;
  const double v87 = v58 + v73;
  const double v88 = v77 + v83;
  const double v89 = v86 + v45;
  const double v90 = v88 + v87;
  const double v91 = w->kept[108] * v27 - v75;
  const double v92 = w->kept[116] * v78 - v75;
  const double v93 = w->kept[116] * v79 - v16;
  const double v94 = v91 + v92;
  const double v95 = v94 + v69;
  const double v96 = -5.0 * v90 + v74;
  const double v97 = -5.0 * v95 + v84;
  const double v98 = v93 - v54;
  const double v99 = -5.0 * v89;
  const double v100 = 5.0 * v98;
  const double v101 = w->kept[121] * v100;
  const double v102 = w->kept[124] * v100;
  const double v103 = v55 + v99;
  const double v104 = v47 + v99;
  const double v105 = v85 + v100;
  const double v106 = v81 + v100;
  const double v107 = v105 * v6;
  const double v108 = w->kept[121] * v106;
  const double v109 = w->kept[118] * v107;
  const double v110 = w->kept[125] * v107;
  const double v111 = w->kept[192] * v107;
  const double v112 = w->kept[121] * v96 - v97;
  const double v113 = w->kept[120] * v103 - v109;
  const double v114 = w->kept[117] * v113 + v101;
  const double v115 = w->kept[119] * v113 + v108;
  const double v116 = v99 - v114;
  const double v117 = v115 - v104;
  const double v118 = w->kept[122] * v112;
  const double v119 = v116 * v7;
  const double v120 = w->kept[123] * v119;
  const double v121 = w->kept[190] * v119;
  const double v122 = w->kept[117] * v118 + v96;
  const double v123 = w->kept[120] * v122;
  const double v124 = w->kept[122] * v117 - v120;
  const double v125 = w->zd[0] * v124;
  const double v126 = w->kept[170] * v125;
  const double v127 = w->kept[169] * v125;
  const double v128 = w->kept[117] * v124 + v102;
  const double v129 = w->kept[115] * v125 + v15;
  const double v130 = w->kept[130] * v129 + v126;
  const double v131 = w->kept[111] * v130;
  const double v132 = w->kept[108] * v130;
  const double v133 = w->kept[187] * v39 + v131;
  const double v134 = w->kept[187] * v79 + v132;
  const double v135 = v106 + v128;
  const double v136 = w->kept[116] * v125 - v18;
  const double v137 = w->kept[120] * v135 - v110;
  const double v138 = w->zd[0] * v137;
  const double v139 = w->kept[132] * v138;
  const double v140 = w->kept[131] * v138;
  const double v141 = w->kept[130] * v136 + v127;
  const double v142 = w->kept[102] * v138 + v12;
  const double v143 = w->kept[104] * v142 + w->kept[167];
  const double v144 = w->kept[128] * v142 + v140;
  const double v145 = w->kept[158] * v142 + w->kept[177];
  const double v146 = w->kept[104] * v144 + w->kept[175];
  const double v147 = w->kept[101] * v138 - v8;
  const double v148 = w->kept[105] * v142 - w->kept[162];
  const double v149 = w->kept[157] * v142 - w->kept[184];
  const double v150 = w->kept[105] * v144 - w->kept[182];
  const double v151 = w->kept[105] * v147 - w->kept[165];
  const double v152 = w->kept[157] * v147 - w->kept[174];
  const double v153 = v30 + v143;
  const double v154 = v22 + v145;
  const double v155 = v35 + v148;
  const double v156 = v65 + v149;
  const double v157 = v33 - v151;
  const double v158 = v24 - v152;
  const double v159 = v146 - v152;
  const double v160 = v157 - v153;
  const double v161 = w->kept[108] * v141;
  const double v162 = w->kept[111] * v141;
  const double v163 = w->kept[170] * v160;
  const double v164 = w->kept[169] * v160;
  const double v165 = w->kept[104] * v147 + w->kept[160];
  const double v166 = w->kept[128] * v147 + v139;
  const double v167 = w->kept[158] * v147 + w->kept[181];
  const double v168 = w->kept[188] * v79 + v161;
  const double v169 = w->kept[188] * v39 + v162;
  const double v170 = w->kept[163] * v129 + v163;
  const double v171 = w->kept[163] * v136 + v164;
  const double v172 = w->kept[104] * v166 + w->kept[185];
  const double v173 = v158 + v159;
  const double v174 = v38 + v165;
  const double v175 = v40 + v167;
  const double v176 = v167 + v150;
  const double v177 = v134 + v171;
  const double v178 = v149 + v172;
  const double v179 = v175 + v176;
  const double v180 = v156 + v178;
  const double v181 = v168 - v170;
  const double v182 = v174 - v155;
  const double v183 = v179 - v180;
  const double v184 = w->kept[169] * v182;
  const double v185 = w->kept[170] * v182;
  const double v186 = -8.0 * v183;
  const double v187 = w->kept[115] * v183;
  const double v188 = w->kept[168] * v136 + v184;
  const double v189 = w->kept[168] * v129 + v185;
  const double v190 = -2.0 * v144 + v186;
  const double v191 = w->kept[179] * v4 + v187;
  const double v192 = v169 + v189;
  const double v193 = v171 + v191;
  const double v194 = v177 + v193;
  const double v195 = w->kept[105] * v166 - w->kept[178];
  const double v196 = w->kept[116] * v183 - v19;
  const double v197 = v188 - v133;
  const double v198 = v195 - v145;
  const double v199 = v196 - v170;
  const double v200 = v198 - v154;
  const double v201 = v181 + v199;
  const double v202 = v173 + v200;
  const double v203 = -8.0 * v202;
  const double v204 = w->kept[115] * v202;
  const double v205 = -2.0 * v166 + v203;
  const double v206 = w->kept[186] * v4 + v204;
  const double v207 = v188 - v206;
  const double v208 = v197 + v207;
  const double v209 = v201 + v208;
  const double v210 = -5.0 * v209 + v190;
  const double v211 = w->kept[116] * v202 - v20;
  const double v212 = v189 + v211;
  const double v213 = v192 + v212;
  const double v214 = v194 + v213;
  const double v215 = -5.0 * v214 + v205;
  const double v216 = w->kept[121] * v215;
  const double v217 = w->kept[189] * v113 + v216;
  const double v218 = v217 - v210;
  const double v219 = w->kept[122] * v218 - v121;
  const double v220 = w->kept[117] * v219;
  const double v221 = w->zdd[0] * v124 + v219;
  const double v222 = w->kept[191] * v100 + v220;
  const double v223 = v215 + v222;
  const double v224 = w->kept[120] * v223 - v111;
  const double v225 = w->zdd[0] * v137 + v224;
  const double v226 = -v123;
  const double v227 = -v225;
  w->read[0][0] = w->kept[193];
  w->read[0][1] = v227;
  w->read[0][2] = v226;
  w->read[0][3] = -0.0;
  w->read[0][4] = -0.0;
  w->read[0][5] = -0.0;
  w->read[0][6] = w->kept[127];
  w->read[1][0] = w->zdd[0];
  w->read[1][1] = 0.0;
  w->read[1][2] = 0.0;
  w->read[1][3] = 0.0;
  w->read[1][4] = 0.0;
  w->read[1][5] = 0.0;
  w->read[1][6] = 1.0;
  w->read[2][0] = w->kept[194];
  w->read[2][1] = v221;
  w->read[2][2] = v118;
  w->read[2][3] = 0.0;
  w->read[2][4] = 0.0;
  w->read[2][5] = 0.0;
  w->read[2][6] = w->kept[124];
}

static void four_bar_read_43(four_bar_work *w)
{
  (void)w;
  w->read[0][0] = w->z[1];
  w->read[0][1] = 1.0;
  w->read[0][2] = 0.0;
  w->read[0][3] = 0.0;
  w->read[0][4] = 0.0;
  w->read[0][5] = 0.0;
  w->read[0][6] = 0.0;
}

static void four_bar_read_44(four_bar_work *w)
{
  (void)w;
  w->read[0][0] = w->zd[0];
  w->read[0][1] = 0.0;
  w->read[0][2] = 1.0;
  w->read[0][3] = 0.0;
  w->read[0][4] = 0.0;
  w->read[0][5] = 0.0;
  w->read[0][6] = 0.0;
}

static void four_bar_read_45(four_bar_work *w)
{
  (void)w;
  w->read[0][0] = w->z[2];
  w->read[0][1] = w->kept[124];
  w->read[0][2] = 0.0;
  w->read[0][3] = 0.0;
  w->read[0][4] = 0.0;
  w->read[0][5] = 0.0;
  w->read[0][6] = 0.0;
}

static void four_bar_read_46(four_bar_work *w)
{
  (void)w;
  const double v0 = w->kept[102] * w->kept[126];
  const double v1 = w->kept[101] * w->kept[126];
  const double v2 = w->kept[116] * w->kept[124];
  const double v3 = w->kept[115] * w->kept[124];
  const double v4 = w->kept[120] * w->kept[120];
  const double v5 = w->kept[122] * w->kept[122];
  const double v6 = w->kept[108] * v3;
  const double v7 = w->kept[111] * v3;
  const double v8 = w->kept[105] * v0 + w->kept[107];
  const double v9 = w->kept[104] * v1 + w->kept[106];
  const double v10 = v9 - v8;
  const double v11 = w->kept[115] * v10;
  const double v12 = -8.0 * v10;
  const double v13 = w->kept[111] * v2 + v11;
  const double v14 = 2.0 * v0 + v12;
  const double v15 = w->kept[105] * v1 - w->kept[109];
  const double v16 = w->kept[116] * v10 - v7;
  const double v17 = w->kept[110] - w->kept[104] * v0;
  const double v18 = v15 - v17;
  const double v19 = 8.0 * v18;
  const double v20 = w->kept[115] * v18;
  const double v21 = 2.0 * v1 + v19;
  const double v22 = w->kept[108] * v2 + v20;
  const double v23 = v22 + v16;
  const double v24 = -5.0 * v23;
  const double v25 = v14 + v24;
  const double v26 = v12 + v24;
  const double v27 = w->kept[116] * v18 - v6;
  const double v28 = v27 - v13;
  const double v29 = 5.0 * v28;
  const double v30 = w->kept[121] * v29;
  const double v31 = v21 + v29;
  const double v32 = v19 + v29;
  const double v33 = v31 * v4;
  const double v34 = w->kept[121] * v32;
  const double v35 = w->kept[118] * v33;
  const double v36 = w->kept[120] * v25 - v35;
  const double v37 = w->kept[117] * v36 + v30;
  const double v38 = w->kept[119] * v36 + v34;
  const double v39 = v24 - v37;
  const double v40 = v38 - v26;
  const double v41 = v39 * v5;
  const double v42 = w->kept[123] * v41;
  const double v43 = w->kept[122] * v40 - v42;
  const double v44 = w->zd[0] * v43;
  w->read[0][0] = w->kept[130];
  w->read[0][1] = v44;
  w->read[0][2] = w->kept[124];
  w->read[0][3] = 0.0;
  w->read[0][4] = 0.0;
  w->read[0][5] = 0.0;
  w->read[0][6] = 0.0;
}

static void four_bar_read_47(four_bar_work *w)
{
  (void)w;
  w->read[0][0] = w->p[0];
  w->read[0][1] = 0.0;
  w->read[0][2] = 0.0;
  w->read[0][3] = 1.0;
  w->read[0][4] = 0.0;
  w->read[0][5] = 0.0;
  w->read[0][6] = 0.0;
}

static void four_bar_read_48(four_bar_work *w)
{
  (void)w;
  w->read[0][0] = w->p[1];
  w->read[0][1] = 0.0;
  w->read[0][2] = 0.0;
  w->read[0][3] = 0.0;
  w->read[0][4] = 1.0;
  w->read[0][5] = 0.0;
  w->read[0][6] = 0.0;
}

static void four_bar_read_49(four_bar_work *w)
{
  (void)w;
  w->read[0][0] = w->p[2];
  w->read[0][1] = 0.0;
  w->read[0][2] = 0.0;
  w->read[0][3] = 0.0;
  w->read[0][4] = 0.0;
  w->read[0][5] = 1.0;
  w->read[0][6] = 0.0;
}

static void four_bar_read_50(four_bar_work *w)
{
  (void)w;
  const double v0 = w->kept[102] * w->kept[126];
  const double v1 = w->kept[101] * w->kept[126];
  const double v2 = w->kept[101] * v0;
  const double v3 = w->kept[146] * v1;
  const double v4 = v2 + v2;
  const double v5 = v3 + v3;
  const double v6 = v5 - v4;
  const double v7 = v6 * w->kept[149];
  w->read[0][0] = w->kept[147];
  w->read[0][1] = v7;
  w->read[0][2] = 0.0;
  w->read[0][3] = 0.0;
  w->read[0][4] = 0.0;
  w->read[0][5] = 0.0;
  w->read[0][6] = 0.0;
}

static void four_bar_read_51(four_bar_work *w)
{
  (void)w;
  const double v0 = w->kept[102] * w->kept[126];
  const double v1 = w->kept[101] * w->kept[126];
  const double v2 = w->kept[116] * w->kept[124];
  const double v3 = w->kept[115] * w->kept[124];
  const double v4 = w->kept[120] * w->kept[120];
  const double v5 = w->kept[122] * w->kept[122];
  const double v6 = w->kept[148] * w->kept[148];
  const double v7 = w->kept[101] * v0;
  const double v8 = w->kept[128] * v0;
  const double v9 = w->kept[131] * v0;
  const double v10 = w->kept[146] * v1;
  const double v11 = w->kept[108] * v3;
  const double v12 = w->kept[111] * v3;
  const double v13 = v7 + v7;
  const double v14 = v10 + v10;
  const double v15 = w->kept[105] * v0 + w->kept[107];
  const double v16 = w->kept[104] * v1 + w->kept[106];
  const double v17 = v14 - v13;
  const double v18 = v16 - v15;
  const double v19 = v17 * w->kept[149];
  const double v20 = w->kept[115] * v18;
  const double v21 = -8.0 * v18;
  const double v22 = v19 * v6;
  const double v23 = -0.5 * v22;
  const double v24 = w->kept[111] * v2 + v20;
  const double v25 = 2.0 * v0 + v21;
  const double v26 = w->kept[105] * v1 - w->kept[109];
  const double v27 = w->kept[116] * v18 - v12;
  const double v28 = w->kept[110] - w->kept[104] * v0;
  const double v29 = v26 - v28;
  const double v30 = 8.0 * v29;
  const double v31 = w->kept[115] * v29;
  const double v32 = 2.0 * v1 + v30;
  const double v33 = w->kept[108] * v2 + v31;
  const double v34 = v33 + v27;
  const double v35 = -5.0 * v34;
  const double v36 = v25 + v35;
  const double v37 = v21 + v35;
  const double v38 = w->kept[116] * v29 - v11;
  const double v39 = v38 - v24;
  const double v40 = 5.0 * v39;
  const double v41 = w->kept[121] * v40;
  const double v42 = w->kept[124] * v40;
  const double v43 = v32 + v40;
  const double v44 = v30 + v40;
  const double v45 = v43 * v4;
  const double v46 = w->kept[121] * v44;
  const double v47 = w->kept[118] * v45;
  const double v48 = w->kept[125] * v45;
  const double v49 = w->kept[120] * v36 - v47;
  const double v50 = w->kept[117] * v49 + v41;
  const double v51 = w->kept[119] * v49 + v46;
  const double v52 = v35 - v50;
  const double v53 = v51 - v37;
  const double v54 = v52 * v5;
  const double v55 = w->kept[123] * v54;
  const double v56 = w->kept[122] * v53 - v55;
  const double v57 = w->kept[117] * v56 + v42;
  const double v58 = v44 + v57;
  const double v59 = w->kept[120] * v58 - v48;
  const double v60 = w->zd[0] * v59;
  const double v61 = w->kept[102] * v60;
  const double v62 = w->kept[128] * v1 + v61;
  const double v63 = w->kept[101] * v60 - v8;
  const double v64 = w->kept[101] * v62 - v9;
  const double v65 = v64 + v64;
  const double v66 = w->kept[146] * v63;
  const double v67 = w->kept[132] * v1 + v66;
  const double v68 = v67 + v67;
  const double v69 = v68 - v65;
  const double v70 = w->kept[149] * v69;
  const double v71 = w->kept[150] * v23 + v70;
  w->read[0][0] = w->kept[151];
  w->read[0][1] = v71;
  w->read[0][2] = v19;
  w->read[0][3] = 0.0;
  w->read[0][4] = 0.0;
  w->read[0][5] = 0.0;
  w->read[0][6] = 0.0;
}

static void four_bar_read_52(four_bar_work *w)
{
  (void)w;
  const double v0 = w->kept[102] * w->kept[126];
  const double v1 = w->kept[101] * w->kept[126];
  const double v2 = w->kept[116] * w->kept[124];
  const double v3 = w->kept[115] * w->kept[124];
  const double v4 = w->kept[120] * w->kept[120];
  const double v5 = w->kept[122] * w->kept[122];
  const double v6 = w->kept[148] * w->kept[148];
  const double v7 = w->kept[101] * v0;
  const double v8 = w->kept[128] * v0;
  const double v9 = w->kept[131] * v0;
  const double v10 = w->kept[146] * v1;
  const double v11 = w->kept[108] * v3;
  const double v12 = w->kept[111] * v3;
  const double v13 = v7 + v7;
  const double v14 = v10 + v10;
  const double v15 = w->kept[156] - w->theta[6];
  const double v16 = v14 - v13;
  const double v17 = w->kept[105] * v0 + w->kept[107];
  const double v18 = w->kept[104] * v1 + w->kept[106];
  const double v19 = 1.0 - w->kept[155] * w->kept[155];
  const double v20 = w->kept[110] - w->kept[104] * v0;
  const double v21 = v18 - v17;
  const double v22 = v16 * w->kept[149];
  const double v23 = w->kept[115] * v21;
  const double v24 = -8.0 * v21;
  const double v25 = v22 * v6;
  const double v26 = 80.0 * v22;
  const double v27 = 320.0 * v22;
  const double v28 = -0.5 * v25;
  const double v29 = w->kept[152] * v26;
  const double v30 = v19 * v27;
  const double v31 = 231.0 * v30;
  const double v32 = w->kept[111] * v2 + v23;
  const double v33 = 2.0 * v0 + v24;
  const double v34 = w->kept[105] * v1 - w->kept[109];
  const double v35 = w->kept[116] * v21 - v12;
  const double v36 = v29 + v29;
  const double v37 = v34 - v20;
  const double v38 = 0.25 * v36;
  const double v39 = 8.0 * v37;
  const double v40 = w->kept[115] * v37;
  const double v41 = w->kept[154] * v38;
  const double v42 = w->kept[153] * v41;
  const double v43 = 2.0 * v1 + v39;
  const double v44 = w->kept[108] * v2 + v40;
  const double v45 = v42 + v42;
  const double v46 = v44 + v35;
  const double v47 = w->kept[152] * v45;
  const double v48 = -5.0 * v46;
  const double v49 = v33 + v48;
  const double v50 = v24 + v48;
  const double v51 = w->kept[116] * v37 - v11;
  const double v52 = w->kept[154] * v26 - v47;
  const double v53 = v51 - v32;
  const double v54 = 5.0 * v53;
  const double v55 = w->kept[121] * v54;
  const double v56 = w->kept[124] * v54;
  const double v57 = v43 + v54;
  const double v58 = v39 + v54;
  const double v59 = v57 * v4;
  const double v60 = w->kept[121] * v58;
  const double v61 = w->kept[118] * v59;
  const double v62 = w->kept[125] * v59;
  const double v63 = 682.0 * v52 + v31;
  const double v64 = 362.7565358052813 * v22 + v63;
  const double v65 = w->theta[7] * v64;
  const double v66 = -v65;
  const double v67 = w->kept[120] * v49 - v61;
  const double v68 = w->kept[117] * v67 + v55;
  const double v69 = w->kept[119] * v67 + v60;
  const double v70 = v48 - v68;
  const double v71 = v69 - v50;
  const double v72 = v70 * v5;
  const double v73 = w->kept[123] * v72;
  const double v74 = w->kept[122] * v71 - v73;
  const double v75 = w->kept[117] * v74 + v56;
  const double v76 = v58 + v75;
  const double v77 = w->kept[120] * v76 - v62;
  const double v78 = w->zd[0] * v77;
  const double v79 = w->kept[102] * v78;
  const double v80 = w->kept[128] * v1 + v79;
  const double v81 = w->kept[101] * v78 - v8;
  const double v82 = w->kept[101] * v80 - v9;
  const double v83 = v82 + v82;
  const double v84 = w->kept[146] * v81;
  const double v85 = w->kept[132] * v1 + v84;
  const double v86 = v85 + v85;
  const double v87 = v86 - v83;
  const double v88 = w->kept[149] * v87;
  const double v89 = w->kept[150] * v28 + v88;
  const double v90 = 80.0 * v89;
  const double v91 = 320.0 * v89;
  const double v92 = w->kept[152] * v90;
  const double v93 = v19 * v91;
  const double v94 = 231.0 * v93;
  const double v95 = v92 + v92;
  const double v96 = 0.25 * v95;
  const double v97 = w->kept[154] * v96;
  const double v98 = w->kept[153] * v97;
  const double v99 = v98 + v98;
  const double v100 = w->kept[152] * v99;
  const double v101 = w->kept[154] * v90 - v100;
  const double v102 = 682.0 * v101 + v94;
  const double v103 = 362.7565358052813 * v89 + v102;
  const double v104 = w->theta[7] * v103;
  const double v105 = -v104;
  w->read[0][0] = v15;
  w->read[0][1] = v105;
  w->read[0][2] = v66;
  w->read[0][3] = 0.0;
  w->read[0][4] = 0.005026548245743669;
  w->read[0][5] = -0.004064435495581795;
  w->read[0][6] = 0.0;
}

/* ---- outputs ---- */

static const int output_has_row[] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 1, 1, 1, 0};
static const int output_slot[] = {0, 0, 0, 0, 0, 1, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0};
static const int output_follows_ends[] = {0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0};
static const int output_accelerates[] = {0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0};

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
    four_bar_read_40(w);
    break;
  case 1:
    four_bar_read_41(w);
    break;
  case 2:
    four_bar_read_42(w);
    break;
  case 3:
    four_bar_read_43(w);
    break;
  case 4:
    four_bar_read_44(w);
    break;
  case 5:
    four_bar_read_42(w);
    break;
  case 6:
    four_bar_read_45(w);
    break;
  case 7:
    four_bar_read_46(w);
    break;
  case 8:
    four_bar_read_42(w);
    break;
  case 9:
    four_bar_read_47(w);
    break;
  case 10:
    four_bar_read_48(w);
    break;
  case 11:
    four_bar_read_49(w);
    break;
  case 13:
    four_bar_read_50(w);
    break;
  case 14:
    four_bar_read_51(w);
    break;
  case 15:
    four_bar_read_52(w);
    break;
  default:
    break;
  }
}


/* ---- the step ---- */

/* A pivot below this part of what it is at the start is refused, one of the loops long before they are singular. */
static const double small_pivot = 1e-3, small_closure_pivot = 0.05;

/* A correction whose square is not below this part of that of the one before is no sign of convergence. */
static const double contraction = 0.25;

/* Corrections of the loops end the iteration below this part of the tolerance of positions. */
static const double closed_part = 0.01;

static int is_finite(const double *x, int n)
{
  for (int i = 0; i < n; i++)
    if (!(x[i] - x[i] == 0.0)) return 0;
  return 1;
}

static int pivots_hold(const double *pivot, const double *usual, int n, double part)
{
  for (int i = 0; i < n; i++)
    if (!(fabs(pivot[i]) >= part * fabs(usual[i]))) return 0;
  return 1;
}

/* Where a command leads a spool. */
static double reference(const four_bar_state *s, int spool, const double *inputs)
{
  const int offset = offset_parameter[spool];
  const double limit = spool_limit[spool];
  const double command = inputs[spool_input[spool]] + (offset < 0 ? 0.0 : s->work.theta[offset]);
  return command < -limit ? -limit : command > limit ? limit : command;
}

static void set_point(four_bar_state *s)
{
  four_bar_work *w = &s->work;
  for (int j = 0; j < FOUR_BAR_JOINTS; j++) w->z[j] = s->z[j];
  for (int f = 0; f < FOUR_BAR_INDEPENDENT; f++) {
    w->zd[f] = s->zd[joint[FOUR_BAR_DEPENDENT + f]];
    w->zdd[f] = s->zdd[joint[FOUR_BAR_DEPENDENT + f]];
  }
  for (int i = 0; i < FOUR_BAR_FIRST_ORDER; i++) w->p[i] = s->p[i];
  for (int i = 0; i < FOUR_BAR_SPOOLS; i++) w->U[i] = s->U[i];
}

static void set_up(four_bar_work *w, const double *parameters)
{
  for (int i = 0; i < FOUR_BAR_PARAMETERS; i++) w->theta[i] = parameters[i];
  w->h[0] = FOUR_BAR_STEP;
  four_bar_setup(w);
  w->is_set_up = 1;
}

/* Parameters, and spools that follow their commands at once. Where these have changed, so have the pressure rates, and by
 * parameters the accelerations. */
static int set_conditions(four_bar_state *s, const double *inputs, const double *parameters)
{
  four_bar_work *w = &s->work;
  int moved = 0;
  const double *theta = w->is_set_up ? w->theta : four_bar_nominal;
  if (!is_finite(inputs, FOUR_BAR_INPUTS) || !is_finite(parameters, FOUR_BAR_PARAMETERS)) return FOUR_BAR_NOT_FINITE;
  for (int i = 0; i < FOUR_BAR_PARAMETERS; i++) moved |= parameters[i] != theta[i];
  const int other = moved;
  if (moved || !w->is_set_up) set_up(w, parameters);
  for (int i = 0; i < FOUR_BAR_SPOOLS; i++) {
    if (time_constant[i] > 0.0) continue;
    const double U = reference(s, i, inputs);
    moved |= U != s->U[i];
    s->U[i] = U;
  }
  if (!moved) return FOUR_BAR_OK;
  set_point(s);
  four_bar_before(w);
  four_bar_pose(w);
  four_bar_rates(w);
  if (!pivots_hold(w->mass_pivot, usual_mass_pivot, FOUR_BAR_INDEPENDENT, small_pivot)) return FOUR_BAR_SINGULAR;
  for (int j = 0; other && j < FOUR_BAR_JOINTS; j++) s->zdd[j] = w->zdd_state[j];
  for (int i = 0; i < FOUR_BAR_FIRST_ORDER; i++) s->pd[i] = w->pd_state[i];
  return FOUR_BAR_OK;
}

/* Taylor's guess; spools, which need no iteration. */
static void predict(four_bar_state *s, const double *inputs, double *change)
{
  const double h = FOUR_BAR_STEP;
  four_bar_work *w = &s->work;
  for (int j = 0; j < FOUR_BAR_JOINTS; j++) w->z[j] = s->z[j] + h * (s->zd[j] + 0.5 * h * s->zdd[j]);
  for (int f = 0; f < FOUR_BAR_INDEPENDENT; f++) {
    const int j = joint[FOUR_BAR_DEPENDENT + f];
    change[f] = h * (s->zd[j] + 0.5 * h * s->zdd[j]);
  }
  for (int i = 0; i < FOUR_BAR_FIRST_ORDER; i++) {
    const double rise = h * s->pd[i], longest = FOUR_BAR_LONGEST_GUESS;
    change[FOUR_BAR_INDEPENDENT + i] = rise < -longest ? -longest : rise > longest ? longest : rise;
  }
  for (int i = 0; i < FOUR_BAR_SPOOLS; i++) {
    const double to = reference(s, i, inputs);
    w->U[i] = to;
    if (!(time_constant[i] > 0.0)) continue;
    const double ratio = h / time_constant[i];
    const double next = s->U[i] + ratio * (to - s->U[i]) / (1.0 + 0.5 * ratio);
    w->U[i] = fabs(next - to) < 1e-250 ? to : next;
  }
}

/* The point of the iterate by the trapezoidal rule. */
static void set_iterate(four_bar_state *s, const double *change)
{
  const double c1 = 2.0 / FOUR_BAR_STEP, c2 = c1 * c1;
  four_bar_work *w = &s->work;
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

/* Newton's method with full steps; the loops are closed together with the unknowns. */
static int iterate(four_bar_state *s, double *change)
{
  four_bar_work *w = &s->work;
  double before = (double)INFINITY;
  for (s->iterations = 1; s->iterations <= FOUR_BAR_ITERATIONS; s->iterations++) {
    set_iterate(s, change);
    four_bar_iterate(w);
    if (!pivots_hold(w->pivot, usual_pivot, FOUR_BAR_UNKNOWNS, small_pivot) ||
        !pivots_hold(w->closure_pivot, usual_closure_pivot, FOUR_BAR_DEPENDENT, small_closure_pivot))
      return FOUR_BAR_SINGULAR;

    /* Size of the correction in units of the tolerances, and the largest part of it. */
    double size = 0.0, largest = 0.0;
    for (int k = 0; k < FOUR_BAR_UNKNOWNS; k++) {
      const double part = fabs(w->correction[k]) / tolerance[k];
      size += part * part;
      largest = part > largest ? part : largest;
    }
    for (int k = 0; k < FOUR_BAR_DEPENDENT; k++) {
      const double part = fabs(w->closing[k]) / (closed_part * FOUR_BAR_POSITION_TOLERANCE);
      largest = part > largest ? part : largest;
    }
    if (!(size < contraction * before)) return FOUR_BAR_NO_CONVERGENCE;
    before = size;
    for (int k = 0; k < FOUR_BAR_UNKNOWNS; k++) change[k] += w->correction[k];
    for (int k = 0; k < FOUR_BAR_DEPENDENT; k++) w->z[joint[k]] += w->closing[k];
    if (largest <= 1.0) return FOUR_BAR_OK;
  }
  s->iterations = FOUR_BAR_ITERATIONS;
  return FOUR_BAR_NO_CONVERGENCE;
}

static int is_sound(const four_bar_work *w)
{
  if (!is_finite(w->z, FOUR_BAR_JOINTS) || !is_finite(w->zd_all, FOUR_BAR_JOINTS) ||
      !is_finite(w->zdd_all, FOUR_BAR_JOINTS) || !is_finite(w->p, FOUR_BAR_FIRST_ORDER))
    return FOUR_BAR_NOT_FINITE;
  for (int i = 0; i < FOUR_BAR_ACTUATORS; i++)
    if (w->stroke[i] <= least_stroke[i] || w->stroke[i] >= most_stroke[i]) return FOUR_BAR_STROKE;
  return FOUR_BAR_OK;
}

static void take(four_bar_state *s)
{
  const four_bar_work *w = &s->work;
  s->error = 0.0;
  for (int j = 0; j < FOUR_BAR_JOINTS; j++) {
    const double error = FOUR_BAR_STEP * FOUR_BAR_STEP / 12.0 * fabs(w->zdd_all[j] - s->zdd[j]);
    s->error = error > s->error ? error : s->error;
    s->z[j] = w->z[j];
    s->zd[j] = w->zd_all[j];
    s->zdd[j] = w->zdd_all[j];
  }
  for (int i = 0; i < FOUR_BAR_FIRST_ORDER; i++) {
    s->p[i] = w->p[i];
    s->pd[i] = w->pd[i];
  }
  for (int i = 0; i < FOUR_BAR_SPOOLS; i++) s->U[i] = w->U[i];
  for (int i = 0; i < FOUR_BAR_ACTUATORS; i++) {
    s->stroke[i] = w->stroke[i];
    s->velocity[i] = w->velocity[i];
    s->force[i] = w->force[i];
  }
}

/* The changes of the unknowns over the step. */
static int solve(four_bar_state *s, const double *inputs, double *change)
{
  predict(s, inputs, change);
  four_bar_before(&s->work);
  return iterate(s, change);
}

/* What follows from them; nothing is taken yet. */
static int finish(four_bar_state *s, const double *change)
{
  set_iterate(s, change);
  four_bar_pose(&s->work);
  four_bar_ends(&s->work);
  return is_sound(&s->work);
}

int four_bar_step(four_bar_state *s, const double *inputs, const double *parameters)
{
  double change[FOUR_BAR_ROOM(FOUR_BAR_UNKNOWNS)];
  int status = set_conditions(s, inputs, parameters);
  if (status == FOUR_BAR_OK) status = solve(s, inputs, change);
  if (status == FOUR_BAR_OK) status = finish(s, change);
  if (status != FOUR_BAR_OK) return status;
  take(s);
  return s->error > FOUR_BAR_TOLERANCE ? FOUR_BAR_COARSE : FOUR_BAR_OK;
}

/* ---- the filter ---- */

#define ROOT_STEP 0.03162277660168379
#define ROOT_CUBED_STEP 9.12870929175277e-06
#define DRIFT_GATE 6.0
#define DRIFT_SIGMA 0.10050378152592121
static const int basis[] = {0};
static const double acceleration_noise[] = {0.002};
static const double first_order_noise[] = {1581.1388300841895, 1581.1388300841895, 1581.1388300841895};
static const double initial_covariance[] = {0.0038226562981388645, 0.0, 0.0, 0.0, 0.0, 0.0, 0.013943378188269613, 0.0, 0.0, 0.0, 0.0, 0.0, 1e+10, 0.0, 0.0, 0.0, 0.0, 0.0, 1e+10, 0.0, 0.0, 0.0, 0.0, 0.0, 1e+10};
static const double sensor_variance[] = {0.00030461741978670857, 9.682560000000002e-07, 2.5e+09, 2.5e+09, 2.5e+09};
static const double sensor_gate[] = {4.0, 4.0, 4.0, 4.0, 4.0};
static const double sensor_period[] = {6.283185307179586, 0.0, 0.0, 0.0, 0.0};
static const int sensor_group[] = {0, 0, 1, 1, 1};
static const double sensor_least[] = {-(double)INFINITY, -(double)INFINITY, -(double)INFINITY, -(double)INFINITY, -(double)INFINITY};
static const double sensor_most[] = {(double)INFINITY, (double)INFINITY, (double)INFINITY, (double)INFINITY, (double)INFINITY};
static const int first_term[] = {0, 1, 2, 3, 4, 5};
static const double term_weight[] = {1.0, 1.0, 1.0, 1.0, 1.0};
static const int term_output[] = {0, 1, 9, 10, 11};
static const int row_from[] = {0, 0, 2, 3, 4};
static const int row_to[] = {1, 2, 3, 4, 5};
const char *const four_bar_sensor_names[FOUR_BAR_ROOM(FOUR_BAR_SENSORS)] = {"crank_encoder", "crank_gyro", "p1", "p2", "p3"};
const char *const four_bar_output_names[FOUR_BAR_ROOM(FOUR_BAR_OUTPUTS)] = {"crank.angle", "crank.rate", "crank.acceleration", "coupler.angle", "coupler.rate", "coupler.acceleration", "rocker.angle", "rocker.rate", "rocker.acceleration", "v1.pressure", "v2.pressure", "v3.pressure", "valve.spool", "lift.stroke", "lift.velocity", "lift.force", "lift.friction"};
const char *const four_bar_sensor_units[FOUR_BAR_ROOM(FOUR_BAR_SENSORS)] = {"rad", "rad/s", "Pa", "Pa", "Pa"};
const char *const four_bar_output_units[FOUR_BAR_ROOM(FOUR_BAR_OUTPUTS)] = {"rad", "rad/s", "rad/s^2", "rad", "rad/s", "rad/s^2", "rad", "rad/s", "rad/s^2", "Pa", "Pa", "Pa", "V", "m", "m/s", "N", "N"};

enum { N = FOUR_BAR_ERRORS, NF = FOUR_BAR_INDEPENDENT, NP = FOUR_BAR_FIRST_ORDER, NX = FOUR_BAR_UNKNOWNS };

static double square(double x) { return x * x; }

/* ---- the plant ---- */

/* What the work holds of the state. */
enum { NOTHING, POSE, RATES, SLOPES };

static int locate(four_bar_filter *f, int wanted)
{
  four_bar_work *w = &f->plant.work;
  if (f->known < POSE) {
    set_point(&f->plant);
    four_bar_before(w);
    four_bar_pose(w);
    f->known = POSE;
  }
  if (f->known < RATES && wanted >= RATES) {
    four_bar_rates(w);
    if (!pivots_hold(w->mass_pivot, usual_mass_pivot, NF, small_pivot)) return FOUR_BAR_SINGULAR;
    f->known = RATES;
  }
  if (f->known < SLOPES && wanted >= SLOPES) {
    four_bar_slopes(w);
    f->known = SLOPES;
  }
  return FOUR_BAR_OK;
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
      const double move = w->closing[k];
      w->z[joint[k]] += move;
      largest = fabs(move) > largest ? fabs(move) : largest;
    }
    if (largest <= 1e-9) return FOUR_BAR_OK;
  }
  return FOUR_BAR_NO_CONVERGENCE;
}

int four_bar_inject(four_bar_filter *f, const double *dx)
{
  four_bar_state *s = &f->plant;
  four_bar_work *w = &s->work;
  int status = is_finite(dx, N) ? locate(f, POSE) : FOUR_BAR_NOT_FINITE;
  if (status != FOUR_BAR_OK) return status;
  f->known = NOTHING;
  for (int j = 0; j < FOUR_BAR_JOINTS; j++) {
    w->z[j] = s->z[j];
    for (int i = 0; i < NF; i++) w->z[j] += w->Rz[j * NF + i] * dx[i];
  }
  for (int i = 0; i < NF; i++) w->zd[i] = s->zd[joint[FOUR_BAR_DEPENDENT + i]] + dx[NF + i];
  for (int i = 0; i < NP; i++) w->p[i] = s->p[i] + dx[2 * NF + i];
  status = place(w);
  if (status != FOUR_BAR_OK) return status;
  four_bar_pose(w);
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
  f->known = RATES;
  return FOUR_BAR_OK;
}

/* ---- prediction ---- */

/* Inverse of B, the coordinates in which noise is stated by the independent ones: elimination with pivots by rows. */
static int invert_basis(const four_bar_work *w, double *inverse)
{
  double B[NF * NF];
  int pivot[NF];
  for (int i = 0; i < NF; i++)
    for (int j = 0; j < NF; j++) B[i * NF + j] = w->Rz[basis[i] * NF + j];
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
static void set_noise(const four_bar_work *w, const double *inverse, double Gamma[N][N])
{
  for (int r = 0; r < N; r++) {
    for (int b = 0; b < NF; b++) {
      double sum = 0.0;
      for (int k = 0; k < NF; k++) sum += w->N[r * NX + k] * inverse[k * NF + b];
      Gamma[r][2 * b] = ROOT_STEP * sum * acceleration_noise[b];
      Gamma[r][2 * b + 1] = r < NF ? ROOT_CUBED_STEP * inverse[r * NF + b] * acceleration_noise[b] : 0.0;
    }
    for (int i = 0; i < NP; i++) Gamma[r][2 * NF + i] = first_order_noise[i] * w->N[r * NX + NF + i];
  }
}

/* P = F P F' + Gamma Gamma' */
static void propagate(const double *F, double Gamma[N][N], double P[N][N])
{
  double FP[N][N];
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {
      double sum = 0.0;
      for (int k = 0; k < N; k++) sum += F[i * N + k] * P[k][j];
      FP[i][j] = sum;
    }
  for (int i = 0; i < N; i++)
    for (int j = 0; j <= i; j++) {
      double sum = 0.0, noise = 0.0;
      for (int k = 0; k < N; k++) sum += FP[i][k] * F[j * N + k];
      for (int k = 0; k < N; k++) noise += Gamma[i][k] * Gamma[j][k];
      P[i][j] = P[j][i] = sum + noise;
    }
}

static int variances_hold(double P[N][N])
{
  for (int i = 0; i < N; i++)
    if (!(P[i][i] > 0.0) || !(P[i][i] - P[i][i] == 0.0)) return FOUR_BAR_NOT_POSITIVE;
  return FOUR_BAR_OK;
}

int four_bar_predict(four_bar_filter *f, const double *inputs)
{
  four_bar_state *s = &f->plant;
  four_bar_work *w = &s->work;
  double change[NX], inverse[NF * NF], Gamma[N][N], P[N][N];
  int status = set_conditions(s, inputs, f->parameters);
  if (status == FOUR_BAR_OK) status = locate(f, SLOPES);
  if (status == FOUR_BAR_OK) status = invert_basis(w, inverse);
  f->known = NOTHING;
  if (status != FOUR_BAR_OK) return status;
  status = solve(s, inputs, change);
  if (status != FOUR_BAR_OK) return status;
  four_bar_transition(w);
  status = finish(s, change);
  if (status != FOUR_BAR_OK) return status;
  set_noise(w, inverse, Gamma);
  memcpy(P, f->P, sizeof P);
  propagate(w->F, Gamma, P);
  status = variances_hold(P);
  if (status != FOUR_BAR_OK) return status;
  take(s);
  memcpy(f->P, P, sizeof P);
  f->known = POSE;
  return s->error > FOUR_BAR_TOLERANCE ? FOUR_BAR_COARSE : FOUR_BAR_OK;
}

/* ---- innovations ---- */

/* A correction that is being made; the filter takes it when all has gone well. */
typedef struct correction {
  double H[FOUR_BAR_ROOM(FOUR_BAR_SENSORS)][N], P[N][N], dx[N];
  four_bar_watch watch[FOUR_BAR_ROOM(FOUR_BAR_SENSORS)];
  four_bar_innovation sensor[FOUR_BAR_ROOM(FOUR_BAR_SENSORS)];
  unsigned char present[FOUR_BAR_ROOM(FOUR_BAR_SENSORS)], saturated[FOUR_BAR_ROOM(FOUR_BAR_SENSORS)];
  double nis;
  int nis_dof;
} correction;

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

/* The row of an output, its derivative by the error state; its value is there, too, then. */
static int set_row(four_bar_filter *f, int i, double *row)
{
  four_bar_state *s = &f->plant;
  four_bar_work *w = &s->work;
  const double *read = w->read[output_slot[i]];
  const int status = locate(f, output_accelerates[i] ? SLOPES : POSE);
  if (status != FOUR_BAR_OK) return status;
  if (output_follows_ends[i]) {
    for (int k = 0; k < NF; k++) w->zdd[k] = s->zdd[joint[FOUR_BAR_DEPENDENT + k]];
    four_bar_ends(w);
  }
  four_bar_read(w, i);
  for (int k = 0; k < N; k++) row[k] = read[1 + k];
  for (int a = 0; a < NF && output_accelerates[i]; a++)
    for (int k = 0; k < N; k++) row[k] += read[1 + N + a] * w->A[a * N + k];
  return FOUR_BAR_OK;
}

/* What a sensor is predicted to show, and its row. */
static int predict_sensor(four_bar_filter *f, int i, double *H, double *shown)
{
  int status = FOUR_BAR_OK;
  *shown = 0.0;
  for (int k = 0; k < N; k++) H[k] = 0.0;
  for (int t = first_term[i]; t < first_term[i + 1] && status == FOUR_BAR_OK; t++) {
    double row[N];
    status = set_row(f, term_output[t], row);
    *shown += term_weight[t] * four_bar_output(&f->plant, term_output[t]);
    for (int k = row_from[i]; k < row_to[i] && status == FOUR_BAR_OK; k++) H[k] += term_weight[t] * row[k];
  }
  return status;
}

/* H P H', H from column `from` up to `to` */
static double variance(const double *H, int from, int to, double P[N][N])
{
  double sum = 0.0;
  for (int i = from; i < to; i++) {
    double row = 0.0;
    for (int j = from; j < to; j++) row += P[i][j] * H[j];
    sum += H[i] * row;
  }
  return sum;
}

/* Beyond so many of its standard deviations an innovation can no longer be reckoned with. */
static const double absurd_innovation = 1e100;

static int innovate(four_bar_filter *f, int i, double y, correction *c)
{
  four_bar_innovation *out = &c->sensor[i];
  double shown;
  if (!(y - y == 0.0)) return FOUR_BAR_NOT_FINITE;
  const int status = predict_sensor(f, i, c->H[i], &shown);
  if (status != FOUR_BAR_OK) return status;
  const double S = variance(c->H[i], row_from[i], row_to[i], c->P) + sensor_variance[i];
  if (!(S > 0.0) || !(S - S == 0.0)) return FOUR_BAR_NOT_POSITIVE;
  out->innovation = y - shown;
  if (sensor_period[i] > 0.0) out->innovation = wrap(out->innovation, sensor_period[i]);
  out->sigma = sqrt(S);
  const int absurd = fabs(out->innovation) > absurd_innovation * out->sigma;
  if (absurd && sensor_gate[i] == 0.0) return FOUR_BAR_ABSURD;
  out->nis = absurd ? square(absurd_innovation) : square(out->innovation) / S;
  c->saturated[i] = y <= sensor_least[i] || y >= sensor_most[i];
  out->accepted = !c->saturated[i] && (sensor_gate[i] == 0.0 || out->nis <= square(sensor_gate[i]));
  return FOUR_BAR_OK;
}

/* ---- gates ---- */

/* Share of a sample in the running mean, and the standard deviation of the mean of white innovations. */
static const double drift_share = 1.0 / 50.0, drift_sigma = DRIFT_SIGMA;

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

/* One sensor into dx and P: Joseph form of the upper triangle, K PH' taken off and then, of a precise sample, half of what
 * rounding left of the product from the right put on from either side. */
static int fuse(correction *c, int sensor)
{
  const double *H = c->H[sensor], r = sensor_variance[sensor];
  const int from = row_from[sensor], to = row_to[sensor];
  double PH[N], K[N], w[N], S = 0.0, rest = c->sensor[sensor].innovation;
  for (int i = 0; i < N; i++) PH[i] = 0.0;
  for (int j = from; j < to; j++)
    for (int i = 0; i < N; i++) PH[i] += c->P[j][i] * H[j];
  for (int k = from; k < to; k++) {
    S += H[k] * PH[k];
    rest -= H[k] * c->dx[k];
  }
  S += r;
  c->nis += square(rest) / S;
  c->nis_dof++;
  if (!(S > 0.0) || !(S - S == 0.0)) return FOUR_BAR_NOT_POSITIVE;
  const double inverse = 1.0 / S, share = rest * inverse;
  for (int i = 0; i < N; i++) {
    K[i] = PH[i] * inverse;
    c->dx[i] += PH[i] * share;
    w[i] = 0.0;
  }
  for (int i = 0; i < N; i++)
    for (int j = i; j < N; j++) c->P[i][j] = c->P[j][i] = c->P[i][j] - K[i] * PH[j];
  if (!(S > 1e3 * r)) return FOUR_BAR_OK;
  for (int j = from; j < to; j++)
    for (int i = 0; i < N; i++) w[i] += c->P[j][i] * H[j];
  for (int i = 0; i < N; i++) w[i] = 0.5 * (K[i] * r - w[i]);
  for (int i = 0; i < N; i++)
    for (int j = i; j < N; j++) c->P[i][j] = c->P[j][i] = c->P[i][j] + (w[i] * K[j] + w[j] * K[i]);
  return FOUR_BAR_OK;
}

int four_bar_correct(four_bar_filter *f, const double *y, const unsigned char *present)
{
  correction c = {.nis_dof = 0};
  int any = 0;
  for (int i = 0; i < FOUR_BAR_SENSORS; i++) any |= c.present[i] = present[i] != 0;
  memcpy(c.P, f->P, sizeof c.P);
  memcpy(c.watch, f->watch, sizeof c.watch);
  int status = any ? locate(f, POSE) : FOUR_BAR_OK, recovered = 0;
  for (int i = 0; i < FOUR_BAR_SENSORS && status == FOUR_BAR_OK; i++)
    if (present[i]) status = innovate(f, i, y[i], &c);
  if (any && status == FOUR_BAR_OK) {
    apply_gates(&c);
    recovered = filter_is_wrong(&c);
    if (recovered) status = recover(f, y, &c);
  }
  for (int i = 0; i < FOUR_BAR_SENSORS && status == FOUR_BAR_OK; i++)
    if (c.sensor[i].accepted) status = fuse(&c, i);
  if (status == FOUR_BAR_OK) status = variances_hold(c.P);
  if (status == FOUR_BAR_OK && c.nis_dof) status = four_bar_inject(f, c.dx);
  if (status != FOUR_BAR_OK) return status;
  memcpy(f->P, c.P, sizeof c.P);
  memcpy(f->watch, c.watch, sizeof c.watch);
  memcpy(f->sensor, c.sensor, sizeof c.sensor);
  f->nis = c.nis;
  f->nis_dof = c.nis_dof;
  return recovered ? FOUR_BAR_RECOVERED : FOUR_BAR_OK;
}

/* ---- start and results ---- */

void four_bar_begin(four_bar_filter *f)
{
  memset(f, 0, sizeof *f);
  f->plant = four_bar_start;
  memcpy(f->parameters, four_bar_nominal, sizeof f->parameters);
  memcpy(f->P, initial_covariance, sizeof f->P);
  set_up(&f->plant.work, f->parameters);
}

void four_bar_outputs(four_bar_filter *f, double *value, double *sigma)
{
  locate(f, POSE);
  for (int i = 0; i < FOUR_BAR_OUTPUTS; i++) {
    double row[N];
    sigma[i] = output_has_row[i] && set_row(f, i, row) == FOUR_BAR_OK ? sqrt(variance(row, 0, N, f->P)) : -1.0;
    value[i] = four_bar_output(&f->plant, i);
  }
}
