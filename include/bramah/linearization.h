/* SPDX-License-Identifier: MIT */
/* The linearized equations of the built-in plant about its present state, an equilibrium or any point of a
 * trajectory:
 *
 *   dx/dt = xd + A dx + B du      dy = C dx + D du
 *
 * dx are small changes of
 *
 *   x = [ independent positions; independent velocities; pressures; spools; friction states ]
 *
 * the error state of bramah/plant.h and behind it what a filter leaves out. Dependent coordinates and
 * multipliers are eliminated along the linearized constraints: with n coordinates, m independent
 * constraints, r volumes and u spools with a lag the order is 2n - 2m + r + u, the maximum reduction, and there are no
 * spurious eigenvalues. (Friction states of LuGre's kind come on top; Agundez et al. 2023 have none.) At an
 * equilibrium xd is zero. In motion A, B, C and D belong to the point and change along the trajectory.
 *
 * A spool without lag (time constant 0) is no state and does not count in u: it stands where its command has
 * it, so the derivatives of rates and outputs by the spool are those by the command, in B and D. It is the
 * limit of short lags. Metered cylinders reach forces that way, and D of accelerations.
 *
 * A is analytic. So are B for commands, loads and supply pressures, and C for all outputs but energies and
 * the forces of prescribed motions, which are central differences along the constraints. What spools of
 * metered cylinders do, other parameters, and D for parameters are differences of second order.
 *
 * Machines with rolling wheels and knife edges have l nonholonomic constraints beside: 2n - 2m - l + r + u
 * states, velocities fewer than positions; the heights of wheels count among the m. Derivatives of their
 * rows are central differences of fourth order; outputs that hold accelerations are left out, and of the
 * parameters only loads, supply pressures and offsets of commands can be inputs. The point must roll: wheels
 * on the plane, no slip. l null eigenvalues belong to the nonholonomic rows: to positions that nothing
 * depends on. The equations with constraints below, and equilibria, do not know them (E_UNSUPPORTED).
 *
 * At kinks the derivatives are one-sided as the plant's are: a spool in its neutral position is seen to open
 * towards positive commands, and one at its limit does not follow a command beyond it. Where that matters,
 * look at both sides.
 *
 * Source: Agundez, Garcia-Vallejo, Freire, Pyrhonen, Mikkola, "An efficient and accurate linearization
 * approach for hydraulically actuated multibody systems with holonomic and nonholonomic constraints",
 * Nonlinear Dynamics 111 (2023), equations 31-64; the derivatives themselves are those of the filter's
 * transition. */
#ifndef BRAMAH_LINEARIZATION_H
#define BRAMAH_LINEARIZATION_H

#include "bramah/coupled.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Linear equations with names, as a linearization gives them; anybody may fill one. Matrices are row-major.
 * Names and units live as long as what made them. */
typedef struct bramah_linear_system {
  size_t n, n_u, n_y;
  size_t n_position, n_pressure, n_spool, n_friction; /* n = these and n_velocity; spools that lag */
  const double *A, *B, *C, *D;                        /* [n x n], [n x n_u], [n_y x n], [n_y x n_u] */
  const double *x, *xd, *u, *y;              /* where it was taken: state, its rate, inputs, outputs, SI */
  const char *const *x_name, *const *x_unit; /* "crank.angle", "rad" */
  const char *const *u_name, *const *u_unit; /* "valve.command", "crank.load" */
  const char *const *y_name, *const *y_unit;
  size_t n_velocity; /* n_position, or less by the nonholonomic constraints */
} bramah_linear_system;

/* What stands in B behind the commands, and in C. */
typedef struct bramah_linearization_options {
  size_t n_parameters;      /* columns of B behind the commands */
  const size_t *parameters; /* [n_parameters] their numbers */
  int all_outputs;          /* 1: every output of the plant that has a derivative, in its order */
  size_t n_outputs;         /* otherwise these */
  const size_t *outputs;    /* [n_outputs] their numbers */
} bramah_linearization_options;

typedef struct bramah_linearization bramah_linearization;

/* Memory as for bramah_coupled_init: bytes first, then the object in that memory (aligned to 64), or in
 * memory taken once. It serves every plant of the model, one thread at a time. options may be NULL:
 * commands, and no outputs. Errors: E_ARGUMENT (no such output or parameter, memory too small),
 * E_UNSUPPORTED (an output without a derivative: work, which valves are open; on a rolling machine also
 * accelerations and most parameters), E_MEMORY. */
BRAMAH_API size_t bramah_linearization_size(const bramah_model *model,
                                            const bramah_linearization_options *options);
BRAMAH_API bramah_status bramah_linearization_init(const bramah_model *model,
                                                   const bramah_linearization_options *options, void *mem,
                                                   size_t size, bramah_diag *diag,
                                                   bramah_linearization **out);
BRAMAH_API bramah_status bramah_linearization_new(const bramah_model *model,
                                                  const bramah_linearization_options *options,
                                                  bramah_diag *diag, bramah_linearization **out);
BRAMAH_API void bramah_linearization_free(bramah_linearization *l); /* NULL allowed */

/* Linearize at the present state of a plant of this model, which is left as it was. Errors: E_ARGUMENT
 * (another model), E_SINGULAR (constraints or mass matrix). */
BRAMAH_API bramah_status bramah_linearization_run(bramah_linearization *l, bramah_coupled *plant,
                                                  bramah_diag *diag);

/* The outcome, which the next run overwrites. */
BRAMAH_API const bramah_linear_system *bramah_linearization_system(const bramah_linearization *l);

/* Put the plant at state x [n], in the order and with the names of the last run, the other coordinates
 * following along the constraints; far moves are made in small steps. Errors: E_ARGUMENT, E_NOT_FINITE,
 * E_CLOSURE (the loops do not reach so far), E_UNSUPPORTED (a rolling machine); the plant then stands where
 * it stood. */
BRAMAH_API bramah_status bramah_linearization_place(bramah_linearization *l, bramah_coupled *plant,
                                                    const double *x, bramah_diag *diag);

/* How the order of the reduced equations comes about: n coordinates, m independent constraints, and the
 * order that the redundant equations below have. */
typedef struct bramah_linearization_counts {
  size_t n_coordinates, n_constraints, n_reduced, n_redundant;
} bramah_linearization_counts;
/* How many of each. */
BRAMAH_API bramah_linearization_counts bramah_linearization_count(const bramah_model *model);

/* The conventional counterpart (equations 95-100 there), as a check and for comparison: the index-1
 * equations
 *
 *   [ M  D' ] [ z''    ]   [ Q      ]
 *   [ D  0  ] [ Lambda ] = [ -D' z' ]
 *
 * in all joint coordinates z of the open tree, solved for z'' and differentiated by central differences of
 * step h max(1, |X|): J [N x N], N = n_redundant, of X = [z; z'; p; U; friction states]. It has 2m null
 * eigenvalues beside those of A. Errors as above, and E_ARGUMENT (h not positive). */
BRAMAH_API bramah_status bramah_linearization_differences(bramah_linearization *l, bramah_coupled *plant,
                                                          double h, double *J, bramah_diag *diag);

/* Linear equations in redundant coordinates, with their constraints:
 *
 *   M q'' + C q' + K q + P x + Phi' lambda = 0      Phi q = 0      x' = Xq q + Xv q' + Xx x
 *
 * q small changes of the coordinates, x of whatever else has a rate (pressures, spools, friction states). K
 * holds the geometric stiffness of the constraint forces, d(Phi' lambda)/dq. Matrices are row-major; those
 * of x may be NULL where k = 0. Rows of Phi may depend on each other. */
typedef struct bramah_constrained {
  size_t n, m, k;
  const double *M, *C, *K;    /* [n x n] */
  const double *Phi;          /* [m x n] */
  const double *P;            /* [n x k] */
  const double *Xq, *Xv, *Xx; /* [k x n], [k x n], [k x k] */
} bramah_constrained;

/* The equations of the plant in all joint coordinates of the open tree, meant for equilibria: Gonzalez,
 * Masarati, Cuadrado, Naya, "Assessment of linearization approaches for multibody dynamics formulations", J.
 * Comput. Nonlinear Dynam. 12 (2017), equation 17. m counts the independent constraints. `out` points into
 * `work` [bramah_linearization_constrained_work]. Errors: E_ARGUMENT, E_SINGULAR. */
BRAMAH_API size_t bramah_linearization_constrained_work(const bramah_model *model);
BRAMAH_API bramah_status bramah_linearization_constrained(bramah_linearization *l, bramah_coupled *plant,
                                                          double *work, bramah_constrained *out,
                                                          bramah_diag *diag);

/* Bodies as energies are told of them: the inner ones of compound joints have no mass. NULL beyond the
 * last. */
BRAMAH_API const char *bramah_linearization_body(const bramah_model *model, size_t i);

/* Energies in a small change dx [n] about the present state: kinetic energy of each body
 * [bramah_model_n_joints] of the velocities it holds, and what each volume's oil and walls store, V/B_e dp^2
 * / 2 [bramah_model_n_volumes] [J]. For a complex mode add those of the real and of the imaginary part.
 * Errors as above. */
BRAMAH_API bramah_status bramah_linearization_energies(bramah_linearization *l, bramah_coupled *plant,
                                                       const double *dx, double *body, double *volume,
                                                       bramah_diag *diag);

#ifdef __cplusplus
}
#endif
#endif
