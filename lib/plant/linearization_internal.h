/* SPDX-License-Identifier: MIT */
/* What the files of the linearization share. */
#ifndef BRAMAH_LIB_PLANT_LINEARIZATION_INTERNAL_H
#define BRAMAH_LIB_PLANT_LINEARIZATION_INTERNAL_H

#include "bramah/linearization.h"
#include "lib/plant/coupled_internal.h"

/* Work of rolling machines (linearization_rolling.c); nf the plant's independent coordinates. */
typedef struct bramah__roll {
  size_t rows, rank, n_a, n_w; /* rows of B and how many say something new; positions and velocities left */
  double *B, *Bx;              /* [rows x n], [rows x nf] */
  double *N, *V, *S;           /* [nf x n_a], [nf x n_w], [nf x n_a] */
  double *Ua, *Uw;             /* accelerations by positions and velocities */
  double *Cz, *Ez, *Ev;        /* [rows x nf] d(B xi')/dxi; rates of B xi' by xi and xi' */
  double *G, *rz, *rv, *M;     /* [nf x nf] */
  double *lambda, *force, *zdd, *x;
  double *c[4], *e[4], *g[4];
  double *copy, *work, *T, *Y, *LU, *K, *rhs, *A;
  int *row, *column, *position, *pivot;
} bramah__roll;

struct bramah_linearization {
  const bramah_model *model;
  bramah_linear_system system; /* points to the tables below */
  size_t *parameter, *output;  /* [n_parameters], [n_y] */
  size_t n_parameters;
  double *A, *B, *C, *D;
  double *x, *xd, *u, *y;
  const char **x_name, **x_unit, **u_name, **u_unit, **y_name, **y_unit;
  const char **friction_name; /* [n_friction] */
  /* work */
  double *by_p, *by_s, *by_v, *by_U, *by_supply, *pd,
      *circuit;     /* as bramah__circuit_derivatives fills them */
  double *v_zi;     /* [nc x nf] stroke velocities by independent positions at held rates */
  double *column;   /* [n] */
  double *row, *dx; /* [ne] */
  double *side[3];  /* [n + n_y] rates and outputs at displaced parameters */
  void *snap;       /* [state.size] */
  /* redundant equations */
  double *K, *rhs;     /* [(n + nd)^2], [n + nd] */
  int *pivot;          /* [n + nd] */
  double *F[2], *zero; /* [N], [N], [n] */
  bramah__roll roll;
  int own_memory;
};

void bramah__roll_layout(const bramah_model *model, bramah__arena *arena, size_t order, bramah__roll *r);

/* Take the equations just made, which know nothing of what rolls, to those that do; fewer states. */
bramah_status bramah__roll_on(bramah_linearization *l, bramah_coupled *c, bramah_diag *diag);

/* Changes dx of the states that roll as those of the plant's error state, out [2 nf + np]. */
void bramah__unroll(const bramah_linearization *l, const double *dx, double *out);

/* Places in the state. */
static inline size_t bramah__n_velocities(const bramah_linearization *l) { return 2 * l->system.n_position; }
static inline size_t bramah__first_spool(const bramah_linearization *l)
{
  return 2 * l->system.n_position + l->system.n_pressure;
}
static inline size_t bramah__first_friction(const bramah_linearization *l)
{
  return bramah__first_spool(l) + l->system.n_spool;
}

/* A at the state of the plant, whose evaluation must be up to date; leaves the derivatives of the circuit and v_zi. */
bramah_status bramah__linearize_state(bramah_linearization *l, bramah_coupled *c);

/* B and D. A must stand. */
bramah_status bramah__linearize_inputs(bramah_linearization *l, bramah_coupled *c, bramah_diag *diag);

/* C. A must stand. */
bramah_status bramah__linearize_outputs(bramah_linearization *l, bramah_coupled *c, bramah_diag *diag);

/* Rates xd [n] of the state as it is. */
void bramah__linear_rates(const bramah_linearization *l, const bramah_coupled *c, double *xd);

/* Spool rate by its command: 1/tau, or 0 where the valve limits it. */
double bramah__spool_rate_slope(const bramah__valve *valve, double command);

/* 1: the output is no function of the state. */
int bramah__output_has_memory(bramah__output_code code);

#endif
