/* SPDX-License-Identifier: MIT */
/* What the files of the linearization share. */
#ifndef BRAMAH_LIB_LINEAR_LINEARIZATION_INTERNAL_H
#define BRAMAH_LIB_LINEAR_LINEARIZATION_INTERNAL_H

#include "bramah/linear.h"
#include "lib/plant/residual_derivative.h"

/* Work of rolling machines (linearization_rolling.c); n_dof the plant's independent coordinates. */
typedef struct bramah__roll {
  size_t rows, rank, n_a, n_w; /* rows of B and how many say something new; positions and velocities left */
  double *B, *Bx;              /* [rows x n], [rows x n_dof] */
  double *N, *V, *S;           /* [n_dof x n_a], [n_dof x n_w], [n_dof x n_a] */
  double *Ua, *Uw;             /* accelerations by positions and velocities */
  double *Cz, *Ez, *Ev;        /* [rows x n_dof] d(B xi')/dxi; rates of B xi' by xi and xi' */
  double *G, *rz, *rv, *M;     /* [n_dof x n_dof] */
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
  size_t *spool; /* [n_spool] the valve whose spool each of these states is */
  double *A, *B, *C, *D;
  double *x, *xd, *u, *y;
  const char **x_name, **x_unit, **u_name, **u_unit, **y_name, **y_unit;
  const char **friction_name; /* [n_friction] */
  /* work */
  double *by_U, *by_supply; /* as bramah__circuit_derivatives fills them */
  double *x_by_U, *y_by_U;  /* [n x ns], [n_y x ns] rates and outputs by all spools, direct ones too */
  double *column;           /* [n] */
  double *row, *dx;         /* [n_error] */
  double *side[3];          /* [n + n_y] rates and outputs at displaced parameters */
  void *snap;               /* [state.size] */
  bramah__roll roll;
};

/* E_ARGUMENT if the plant is of another model; E_UNSUPPORTED with this message, unless NULL, if something rolls. */
bramah_status bramah__check_plant(const bramah_linearization *l, const bramah_coupled *c,
                                  const char *if_rolling, bramah_diag *diag);

void bramah__roll_layout(const bramah_model *model, bramah__arena *arena, size_t order, bramah__roll *r);

/* Which rows of what rolls say something new at the present state, and which positions and velocities they
 * leave. */
bramah_status bramah__roll_bases(bramah_linearization *l, bramah_coupled *c, bramah_diag *diag);

/* Take the equations just made, which know nothing of what rolls, to those that do; fewer states. */
bramah_status bramah__roll_on(bramah_linearization *l, bramah_coupled *c, bramah_diag *diag);

/* Changes dx of the states that roll as those of the plant's error state, out [2 n_dof + n_pressure]. */
void bramah__unroll(const bramah_linearization *l, const double *dx, double *out);

/* Numbers of the valves with a lag, in order, into `valve` [n_spools] unless it is NULL; returns how many. */
size_t bramah__lagging_valves(const bramah__circuit *circuit, size_t *valve);

/* Places in the state. */
static inline size_t bramah__first_spool(const bramah_linearization *l)
{
  return 2 * l->system.n_position + l->system.n_pressure;
}
static inline size_t bramah__first_friction(const bramah_linearization *l)
{
  return bramah__first_spool(l) + l->system.n_spool;
}

/* l->by_U and l->by_supply at the state of the plant; c->derivative gets the derivatives of the circuit. */
void bramah__circuit_columns(bramah_linearization *l, bramah_coupled *c);

/* Rates xd [n] of the state as it is. */
void bramah__linear_rates(const bramah_linearization *l, const bramah_coupled *c, double *xd);

/* Where the spool is held by its command: 1, or 0 where the valve limits it. */
double bramah__spool_follows(const bramah__valve *valve, double command);

/* Columns of the spools that are states, from those of all spools: to [rows x n], by_U [rows x n_spools]. */
void bramah__put_spools(const bramah_linearization *l, size_t rows, const double *by_U, double *to);

/* 1: the output is no function of the state (work), or none that could be differentiated (which valves are
 * open). */
int bramah__output_has_no_slope(bramah__output_code code);

#endif
