/* SPDX-License-Identifier: MIT */
/* Seal friction of a cylinder as a function of its velocity. Source: dissertation 2.44, spec equations 3. */
#ifndef BRAMAH_LIB_HYDRAULICS_FRICTION_H
#define BRAMAH_LIB_HYDRAULICS_FRICTION_H

typedef enum bramah__friction_kind {
  BRAMAH__FRICTION_NONE = 0,
  BRAMAH__FRICTION_BROWN_MCPHEE = 1
} bramah__friction_kind;

typedef struct bramah__friction {
  bramah__friction_kind kind;
  double coulomb;      /* F_c [N] */
  double static_force; /* F_s [N] */
  double stribeck;     /* v_s [m/s] */
  double viscous;      /* sigma_2 [N s/m] */
} bramah__friction;

/* Friction force [N] at velocity v [m/s]; positive for positive v. */
double bramah__friction_force(const bramah__friction *friction, double v);

#endif
