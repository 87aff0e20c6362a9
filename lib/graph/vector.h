/* SPDX-License-Identifier: MIT */
/* Vectors of three and 3 x 3 matrices of expressions. */
#ifndef BRAMAH_LIB_GRAPH_VECTOR_H
#define BRAMAH_LIB_GRAPH_VECTOR_H

#include "lib/graph/expr.h"

typedef struct bramah__vec {
  bramah__expr x[3];
} bramah__vec;

typedef struct bramah__mat {
  bramah__expr m[3][3];
} bramah__mat;

static inline bramah__vec v_number(const double *a)
{
  return (bramah__vec){{e_number(a[0]), e_number(a[1]), e_number(a[2])}};
}

static inline bramah__vec v_add(bramah__vec a, bramah__vec b)
{
  return (bramah__vec){{e_add(a.x[0], b.x[0]), e_add(a.x[1], b.x[1]), e_add(a.x[2], b.x[2])}};
}

static inline bramah__vec v_sub(bramah__vec a, bramah__vec b)
{
  return (bramah__vec){{e_sub(a.x[0], b.x[0]), e_sub(a.x[1], b.x[1]), e_sub(a.x[2], b.x[2])}};
}

static inline bramah__vec v_scale(bramah__expr s, bramah__vec a)
{
  return (bramah__vec){{e_mul(s, a.x[0]), e_mul(s, a.x[1]), e_mul(s, a.x[2])}};
}

static inline bramah__expr v_dot(bramah__vec a, bramah__vec b) { return e_sum_products(3, a.x, 1, b.x, 1); }

/* a x b */
static inline bramah__vec v_cross(bramah__vec a, bramah__vec b)
{
  bramah__vec c;
  for (int i = 0; i < 3; i++) {
    const int j = (i + 1) % 3, k = (i + 2) % 3;
    c.x[i] = e_sub(e_mul(a.x[j], b.x[k]), e_mul(a.x[k], b.x[j]));
  }
  return c;
}

static inline bramah__mat m_number(const double *A)
{
  bramah__mat out;
  for (int k = 0; k < 9; k++) out.m[k / 3][k % 3] = e_number(A[k]);
  return out;
}

static inline bramah__mat m_add(bramah__mat A, bramah__mat B)
{
  for (int k = 0; k < 9; k++) A.m[k / 3][k % 3] = e_add(A.m[k / 3][k % 3], B.m[k / 3][k % 3]);
  return A;
}

/* A x, A' x, A B */
static inline bramah__vec m_rotate(bramah__mat A, bramah__vec x)
{
  bramah__vec out;
  for (int i = 0; i < 3; i++) out.x[i] = e_sum_products(3, A.m[i], 1, x.x, 1);
  return out;
}

static inline bramah__vec m_unrotate(bramah__mat A, bramah__vec x)
{
  bramah__vec out;
  for (int i = 0; i < 3; i++) out.x[i] = e_sum_products(3, &A.m[0][i], 3, x.x, 1);
  return out;
}

static inline bramah__mat m_multiply(bramah__mat A, bramah__mat B)
{
  bramah__mat out;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) out.m[i][j] = e_sum_products(3, A.m[i], 1, &B.m[0][j], 3);
  return out;
}

#endif
