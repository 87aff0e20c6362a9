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
bramah__vec v_number(const double *a);
bramah__vec v_add(bramah__vec a, bramah__vec b);
bramah__vec v_sub(bramah__vec a, bramah__vec b);
bramah__vec v_scale(bramah__expr s, bramah__vec a);
bramah__expr v_dot(bramah__vec a, bramah__vec b);

/* a x b */
bramah__vec v_cross(bramah__vec a, bramah__vec b);
bramah__mat m_number(const double *A);
bramah__mat m_add(bramah__mat A, bramah__mat B);

/* A x, A' x, A B */
bramah__vec m_rotate(bramah__mat A, bramah__vec x);
bramah__vec m_unrotate(bramah__mat A, bramah__vec x);
bramah__mat m_multiply(bramah__mat A, bramah__mat B);

/* ---- twists [linear; angular] and wrenches [force; moment] about one point ---- */

typedef struct bramah__pair {
  bramah__vec linear, angular;
} bramah__pair;
bramah__pair p_add(bramah__pair a, bramah__pair b);
bramah__pair p_sub(bramah__pair a, bramah__pair b);
bramah__pair p_scale(bramah__expr s, bramah__pair a);
bramah__expr p_dot(bramah__pair a, bramah__pair b);

/* a x b: how twist b changes when it moves along with a; a x* w: how wrench w does. */
bramah__pair p_twist_cross(bramah__pair a, bramah__pair b);
bramah__pair p_wrench_cross(bramah__pair a, bramah__pair w);

#endif
