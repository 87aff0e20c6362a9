/* SPDX-License-Identifier: MIT */
#include "lib/graph/vector.h"

bramah__vec v_number(const double *a)
{
  return (bramah__vec){{e_number(a[0]), e_number(a[1]), e_number(a[2])}};
}

bramah__vec v_add(bramah__vec a, bramah__vec b)
{
  return (bramah__vec){{e_add(a.x[0], b.x[0]), e_add(a.x[1], b.x[1]), e_add(a.x[2], b.x[2])}};
}

bramah__vec v_sub(bramah__vec a, bramah__vec b)
{
  return (bramah__vec){{e_sub(a.x[0], b.x[0]), e_sub(a.x[1], b.x[1]), e_sub(a.x[2], b.x[2])}};
}

bramah__vec v_scale(bramah__expr s, bramah__vec a)
{
  return (bramah__vec){{e_mul(s, a.x[0]), e_mul(s, a.x[1]), e_mul(s, a.x[2])}};
}

bramah__expr v_dot(bramah__vec a, bramah__vec b) { return e_sum_products(3, a.x, 1, b.x, 1); }

bramah__vec v_cross(bramah__vec a, bramah__vec b)
{
  bramah__vec c;
  for (int i = 0; i < 3; i++) {
    const int j = (i + 1) % 3, k = (i + 2) % 3;
    c.x[i] = e_sub(e_mul(a.x[j], b.x[k]), e_mul(a.x[k], b.x[j]));
  }
  return c;
}

bramah__mat m_number(const double *A)
{
  bramah__mat out;
  for (int k = 0; k < 9; k++) out.m[k / 3][k % 3] = e_number(A[k]);
  return out;
}

bramah__mat m_add(bramah__mat A, bramah__mat B)
{
  for (int k = 0; k < 9; k++) A.m[k / 3][k % 3] = e_add(A.m[k / 3][k % 3], B.m[k / 3][k % 3]);
  return A;
}

bramah__vec m_rotate(bramah__mat A, bramah__vec x)
{
  bramah__vec out;
  for (int i = 0; i < 3; i++) out.x[i] = e_sum_products(3, A.m[i], 1, x.x, 1);
  return out;
}

bramah__vec m_unrotate(bramah__mat A, bramah__vec x)
{
  bramah__vec out;
  for (int i = 0; i < 3; i++) out.x[i] = e_sum_products(3, &A.m[0][i], 3, x.x, 1);
  return out;
}

bramah__mat m_multiply(bramah__mat A, bramah__mat B)
{
  bramah__mat out;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) out.m[i][j] = e_sum_products(3, A.m[i], 1, &B.m[0][j], 3);
  return out;
}

bramah__pair p_add(bramah__pair a, bramah__pair b)
{
  return (bramah__pair){v_add(a.linear, b.linear), v_add(a.angular, b.angular)};
}

bramah__pair p_sub(bramah__pair a, bramah__pair b)
{
  return (bramah__pair){v_sub(a.linear, b.linear), v_sub(a.angular, b.angular)};
}

bramah__pair p_scale(bramah__expr s, bramah__pair a)
{
  return (bramah__pair){v_scale(s, a.linear), v_scale(s, a.angular)};
}

bramah__expr p_dot(bramah__pair a, bramah__pair b)
{
  return e_add(v_dot(a.linear, b.linear), v_dot(a.angular, b.angular));
}

bramah__pair p_twist_cross(bramah__pair a, bramah__pair b)
{
  return (bramah__pair){v_add(v_cross(a.angular, b.linear), v_cross(a.linear, b.angular)),
                        v_cross(a.angular, b.angular)};
}

bramah__pair p_wrench_cross(bramah__pair a, bramah__pair w)
{
  return (bramah__pair){v_cross(a.angular, w.linear),
                        v_add(v_cross(a.angular, w.angular), v_cross(a.linear, w.linear))};
}
