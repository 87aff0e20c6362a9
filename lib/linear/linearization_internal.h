/* SPDX-License-Identifier: MIT */
/* What the files of the linearization share. */
#ifndef BRAMAH_LIB_LINEAR_LINEARIZATION_INTERNAL_H
#define BRAMAH_LIB_LINEAR_LINEARIZATION_INTERNAL_H

#include "bramah/linear.h"
#include "lib/plant/residual_derivative.h"

#include <math.h>

/* Work of rolling machines (rolling.c): n coordinates, n_dof independent ones of the plant, `order` without rolling;
 * `rows` of B, 0: nothing rolls. */
#define BRAMAH__ROLL_FIELDS(X)                                                                               \
  X(double, B, rows *n, "what rolls: B z' = 0")                                                              \
  X(double, Bx, rows *n_dof, "by the independent rates")                                                     \
  X(double, N, square, "[n_dof x n_a] xi = N a")                                                             \
  X(double, V, square, "[n_dof x n_w] xi' = V w + S a")                                                      \
  X(double, S, square, "[n_dof x n_a]")                                                                      \
  X(double, Ua, square, "accelerations by positions")                                                        \
  X(double, Uw, square, "and by velocities")                                                                 \
  X(double, Cz, rows *n_dof, "d(B xi')/dxi")                                                                 \
  X(double, Ez, rows *n_dof, "rates of B xi' by xi")                                                         \
  X(double, Ev, rows *n_dof, "and by xi'")                                                                   \
  X(double, G, square, "Rz' d(B' lambda)/dxi")                                                               \
  X(double, rz, square, "derivatives of the equations of motion")                                            \
  X(double, rv, square)                                                                                      \
  X(double, M, square)                                                                                       \
  X(double, lambda, rows, "multipliers of the rows")                                                         \
  X(double, force, rows ? n : 0, "B' lambda")                                                                \
  X(double, zdd, rows ? n : 0, "joint accelerations")                                                        \
  X(double, x, rows ? order : 0, "independent accelerations")                                                \
  X(double, c, 4 * rows, "B z' at four displaced points")                                                    \
  X(double, e, 4 * rows, "its rate there")                                                                   \
  X(double, g, rows ? 4 * n : 0, "B' lambda there")                                                          \
  X(double, copy, rows *n_dof)                                                                               \
  X(double, work, rows *n_dof)                                                                               \
  X(double, T, square)                                                                                       \
  X(double, Y, square)                                                                                       \
  X(double, LU, rows *rows, "factors of the dependent block")                                                \
  X(double, K, rows ? (n_dof + rows) * (n_dof + rows) : 0,                                                   \
    "factors of the bordered mass matrix, then V' M V")                                                      \
  X(double, rhs, rows ? n_dof + rows : 0)                                                                    \
  X(double, A, rows ? order *order : 0, "the equations that roll")                                           \
  X(int, row, rows, "pivots of the elimination")                                                             \
  X(int, column, rows ? n_dof : 0)                                                                           \
  X(int, position, rows ? n_dof : 0, "independent coordinates that are positions")                           \
  X(int, pivot, rows ? n_dof + rows : 0)

typedef struct bramah__roll {
  size_t rows, rank, n_a, n_w; /* rows of B and how many say something new; positions and velocities left */
  BRAMAH__ROLL_FIELDS(BRAMAH__FIELD_MEMBER)
} bramah__roll;

/* A linearization of order n with k states behind the velocities, of a model of `coordinates`. */
#define BRAMAH__LINEARIZATION_FIELDS(X)                                                                      \
  X(size_t, parameter, l->n_parameters)                                                                      \
  X(size_t, output, n_y)                                                                                     \
  X(size_t, spool, s->n_spool, "the valve whose spool each of these states is")                              \
  X(double, A, n *n)                                                                                         \
  X(double, B, n *n_u)                                                                                       \
  X(double, C, n_y *n)                                                                                       \
  X(double, D, n_y *n_u)                                                                                     \
  X(double, x, n)                                                                                            \
  X(double, xd, n)                                                                                           \
  X(double, u, n_u)                                                                                          \
  X(double, y, n_y)                                                                                          \
  X(const char *, x_name, n)                                                                                 \
  X(const char *, x_unit, n)                                                                                 \
  X(const char *, u_name, n_u)                                                                               \
  X(const char *, u_unit, n_u)                                                                               \
  X(const char *, y_name, n_y)                                                                               \
  X(const char *, y_unit, n_y)                                                                               \
  X(const char *, friction_name, s->n_friction)                                                              \
  X(double, by_U, s->n_pressure *n_spools, "as bramah__circuit_derivatives fills them")                      \
  X(double, by_supply, s->n_pressure * circuit->n_supplies)                                                  \
  X(double, torque_by_U, coordinates *n_spools, "torques along the joints by them")                          \
  X(double, x_by_U, n *n_spools, "rates by all spools, direct ones too")                                     \
  X(double, y_by_U, n_y *n_spools, "outputs")                                                                \
  X(double, column, coordinates)                                                                             \
  X(double, row, n)                                                                                          \
  X(double, dx, n)                                                                                           \
  X(double, side, 3 * (n + n_y), "rates and outputs at displaced parameters")                                \
  X(double, snap, l->n_snap, "a state of the plant")                                                         \
  X(double, run, l->n_snap, "the state that was linearized last")                                            \
  X(double, energy, coordinates + s->n_pressure, "of bodies, then of volumes")                               \
  X(double, constrained,                                                                                     \
    3 * coordinates * coordinates + s->n_constraints * coordinates + 3 * coordinates * k + k * k,            \
    "the equations with constraints")                                                                        \
  X(double, search, bramah__search_work(l), "of a search for an equilibrium")

struct bramah_linearization {
  const bramah_model *model;
  bramah_linear_system system; /* points to the tables below */
  size_t n_parameters, n_snap;
  BRAMAH__LINEARIZATION_FIELDS(BRAMAH__FIELD_MEMBER)
  bramah__roll roll;
};

/* Numbers of double that searches with all outputs held and all inputs free need. */
size_t bramah__search_work(const bramah_linearization *l);

/* The state of the plant into `snap` [n_snap], to go back to, with the parameters it holds. */
void bramah__keep_state(const bramah_coupled *c, double *snap);
void bramah__return_state(bramah_coupled *c, const double *snap);

/* E_ARGUMENT if the plant is of another model; E_UNSUPPORTED with this message, unless NULL, if something rolls. */
bramah_status bramah__check_plant(const bramah_linearization *l, const bramah_coupled *c,
                                  const char *if_rolling, bramah_diag *diag);

/* Bring the plant's evaluation up to date. E_SINGULAR also where it passes a singular pose or is in one. */
bramah_status bramah__check_pose(bramah_coupled *c, bramah_diag *diag);

/* Rows B z' of what rolls and glides: three for a wheel, velocity of the material point at its lowest point
 * across the plane (the rate of its height, holonomic) and along it; one for a knife edge, velocity of its
 * point along its normal. Source: contact geometry of a thin disc, e.g. Meijaard, Papadopoulos, Ruina,
 * Schwab, Proc. R. Soc. A 463 (2007). */
static inline size_t bramah__rolling_rows(const bramah__rolling *r) { return r->is_wheel ? 3 : 1; }
size_t bramah__count_rolling_rows(const bramah_model *model);

/* B [rows x n] at these poses. */
void bramah__rolling_jacobian(const bramah_model *model, const bramah__pose *pose, double *B);

/* d(B z')/dt [rows] of a motion with velocities Z and accelerations Zd [n x 6]. */
void bramah__rolling_acceleration(const bramah_model *model, const bramah__pose *pose, const double *Z,
                                  const double *Zd, double *out);

/* Height of the lowest point of a wheel above the plane [m]. */
double bramah__rolling_height(const bramah_model *model, const bramah__pose *pose,
                              const bramah__rolling *wheel);

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

/* 1: this command moves the spool of the valve, which is within its limit there. */
static inline int bramah__spool_follows(const bramah__valve *valve, size_t input, double command)
{
  return valve->input == input && !(fabs(command + valve->offset) > valve->limit);
}

/* l->by_U and l->by_supply at the state of the plant; c->derivative gets the derivatives of the circuit. */
void bramah__circuit_columns(bramah_linearization *l, bramah_coupled *c);

/* Rates xd [n] of the state as it is. */
void bramah__linear_rates(const bramah_linearization *l, const bramah_coupled *c, double *xd);

/* 1: the output is no function of the state (work), or none that could be differentiated (which valves are
 * open). */
int bramah__output_has_no_slope(bramah__output_code code);

#endif
