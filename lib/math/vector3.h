/* SPDX-License-Identifier: MIT */
/* Vectors of three and 3 x 3 matrices (row-major): the small change of kinematics, inlined. */
#ifndef BRAMAH_LIB_MATH_VECTOR3_H
#define BRAMAH_LIB_MATH_VECTOR3_H

static inline double bramah__dot3(const double *a, const double *b)
{
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static inline void bramah__copy3(const double *a, double *out)
{
  out[0] = a[0];
  out[1] = a[1];
  out[2] = a[2];
}

static inline void bramah__sub3(const double *a, const double *b, double *out)
{
  out[0] = a[0] - b[0];
  out[1] = a[1] - b[1];
  out[2] = a[2] - b[2];
}

/* y += s x */
static inline void bramah__axpy3(double s, const double *x, double *y)
{
  y[0] += s * x[0];
  y[1] += s * x[1];
  y[2] += s * x[2];
}

/* out = a x b; out overlaps neither */
static inline void bramah__cross3(const double *a, const double *b, double *out)
{
  out[0] = a[1] * b[2] - a[2] * b[1];
  out[1] = a[2] * b[0] - a[0] * b[2];
  out[2] = a[0] * b[1] - a[1] * b[0];
}

/* out += a x b; out overlaps neither */
static inline void bramah__add_cross3(const double *a, const double *b, double *out)
{
  out[0] += a[1] * b[2] - a[2] * b[1];
  out[1] += a[2] * b[0] - a[0] * b[2];
  out[2] += a[0] * b[1] - a[1] * b[0];
}

/* out = A x; out does not overlap x */
static inline void bramah__rotate3(const double *A, const double *x, double *out)
{
  out[0] = A[0] * x[0] + A[1] * x[1] + A[2] * x[2];
  out[1] = A[3] * x[0] + A[4] * x[1] + A[5] * x[2];
  out[2] = A[6] * x[0] + A[7] * x[1] + A[8] * x[2];
}

/* out = A' x; out does not overlap x */
static inline void bramah__unrotate3(const double *A, const double *x, double *out)
{
  out[0] = A[0] * x[0] + A[3] * x[1] + A[6] * x[2];
  out[1] = A[1] * x[0] + A[4] * x[1] + A[7] * x[2];
  out[2] = A[2] * x[0] + A[5] * x[1] + A[8] * x[2];
}

/* out = A B; out overlaps neither */
static inline void bramah__multiply3(const double *A, const double *B, double *out)
{
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++)
      out[3 * i + j] = A[3 * i] * B[j] + A[3 * i + 1] * B[3 + j] + A[3 * i + 2] * B[6 + j];
}

#endif
