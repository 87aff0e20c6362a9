/* SPDX-License-Identifier: MIT */
/* Derivatives of the equations of motion and of the pressure rates about one motion of the plant: what
 * Newton's tangent, the transition of the filter and the linearization are made of.
 *
 *   open tree    g(z, z', z'') = M z'' - Q with every force (cylinders, springs, loads), all coordinates
 *   partitioned  r(z_i, z'_i, z''_i) = Rz' g (D 2.29), the other coordinates following along the constraints
 *
 * A displacement dz_i along the constraints moves all joints by Rz dz_i, their rates by D dz_i and their
 * accelerations by E dz_i; a change dz'_i of the independent rates changes the accelerations by 2 D dz'_i. */
#ifndef BRAMAH_LIB_PLANT_RESIDUAL_DERIVATIVE_H
#define BRAMAH_LIB_PLANT_RESIDUAL_DERIVATIVE_H

#include "lib/multibody/variation.h"
#include "lib/plant/state.h"

typedef struct bramah__linear {
  /* given by the caller: how the force of each cylinder changes with its stroke and velocity [n_cylinders] */
  double *F_s, *F_v;
  /* open tree */
  double *K, *C, *M; /* [n x n] dg/dz, dg/dz', dg/dz'' */
  double *v_z;       /* [n_cylinders x n] stroke velocity by positions at held rates */
  /* partitioned */
  double *D, *E; /* [n x nf] */
  double *v_zi;  /* [n_cylinders x nf] */
  /* hydraulics: rates of the pressures by pressures, strokes, stroke velocities */
  double *pd, *pd_p, *pd_s, *pd_v; /* [np], [np x np], [np x n_cylinders] */
  /* scratch */
  bramah__moving *moving;         /* [n] */
  bramah__sweep *sweep;           /* [n] */
  bramah__variation variation;    /* [n x 6] each */
  double *row, *rate_row;         /* [n] */
  double *dz, *dzd, *dzdd, *dtau; /* [n] */
  double *Y;                      /* [n x 6] */
  double *mu;                     /* [m] */
  unsigned char *used;            /* [m] 1: constraint row in use */
  double *circuit;                /* [BRAMAH__CIRCUIT_SCRATCH np] */
} bramah__linear;

void bramah__linear_layout(const bramah_model *model, bramah__arena *arena, bramah__linear *linear);

/* Open tree at the motion of `eval`: poses, velocities Z, accelerations Zd and wrenches W of this motion must
 * stand there (bramah__inverse_dynamics leaves them), and strokes and forces. */
void bramah__linear_open(const bramah_model *model, const bramah__eval *eval, bramah__linear *linear);

/* Partitioned: prepare the derivatives at the motion of `eval` (as above; eval->tau must hold the inverse
 * dynamics too), which fills D, E and v_zi; then take columns. */
void bramah__linear_reduce(const bramah_model *model, const bramah__state *state, bramah__eval *eval,
                           bramah__linear *linear);

/* column [nf] of r as independent coordinate f moves by c0 dx, its rate by c1 dx and its acceleration by c2
 * dx: c0 dr/dz_i + c1 dr/dz'_i + c2 dr/dz''_i. Its entries stand `stride` apart. */
void bramah__linear_column(const bramah_model *model, const bramah__eval *eval, bramah__linear *linear,
                           size_t f, double c0, double c1, double c2, double *column, size_t stride);

/* Rates of the pressures p at spools U, strokes and velocities of `eval`, whose forces must be those at p and
 * U, and their derivatives. With quasistatic actuators it comes before all of the above: their forces follow
 * the stroke velocities by the derivatives that it leaves in pd_v. */
void bramah__linear_circuit(const bramah_model *model, const double *p, const double *U,
                            const bramah__eval *eval, bramah__linear *linear);

/* How the force of the cylinder of quasistatic actuator i follows the stroke velocity of the cylinder of
 * actuator k, both on one line [N s/m], and the pressures, added to by_p [n_volumes] times `factor`. */
double bramah__metered_by_velocity(const bramah_model *model, const bramah__linear *linear, size_t i,
                                   size_t k);
void bramah__metered_by_pressure(const bramah_model *model, const bramah__linear *linear, size_t i,
                                 double factor, double *by_p);

#endif
