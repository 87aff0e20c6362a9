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
 * constraints, r volumes and u spools with a lag the order is 2n - 2m + r + u, the maximum reduction, and
 * there are no spurious eigenvalues. (Friction states of LuGre's kind come on top; Agundez et al. 2023 have
 * none.) At an equilibrium xd is zero. In motion A, B, C and D belong to the point and change along the
 * trajectory.
 *
 * A spool without lag (time constant 0) is no state and does not count in u: it is where its command has
 * it, so the derivatives of rates and outputs by the spool are those by the command, in B and D. It is the
 * limit of short lags. Metered cylinders reach forces like this, and D of accelerations.
 *
 * A is analytic. So are B for commands, loads and supply pressures, and C for all outputs but energies and
 * the forces of prescribed motions, which are central differences along the constraints. What spools of
 * metered cylinders do, other parameters, and D for parameters are differences of second order.
 *
 * Machines with rolling wheels and knife edges have l nonholonomic constraints more: 2n - 2m - l + r + u
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
#ifndef BRAMAH_LINEAR_H
#define BRAMAH_LINEAR_H

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
  /* What the order comes from: coordinates and the independent constraints among them. The redundant equations
   * below are of order 2 n_coordinates and the pressures, spools and friction states. */
  size_t n_coordinates, n_constraints;
} bramah_linear_system;

/* What B has behind the commands, and what C has. */
typedef struct bramah_linearization_options {
  size_t n_parameters;      /* columns of B behind the commands */
  const size_t *parameters; /* [n_parameters] their numbers */
  int all_outputs;          /* 1: every output of the plant that has a derivative, in its order */
  size_t n_outputs;         /* otherwise these */
  const size_t *outputs;    /* [n_outputs] their numbers */
} bramah_linearization_options;
/* Commands, and no outputs. */
BRAMAH_API void bramah_linearization_options_default(bramah_linearization_options *options);

typedef struct bramah_linearization bramah_linearization;

/* An object in memory of its own, which serves every plant of the model, one thread at a time. options NULL: the
 * default. Errors: E_ARGUMENT (no such output or parameter), E_UNSUPPORTED (an output without a derivative:
 * work, which valves are open; on a rolling machine also accelerations and most parameters), E_MEMORY. */
BRAMAH_API bramah_status bramah_linearization_new(const bramah_model *model,
                                                  const bramah_linearization_options *options,
                                                  bramah_diag *diag, bramah_linearization **out);
BRAMAH_API void bramah_linearization_free(bramah_linearization *l); /* NULL allowed */

/* Linearize at the present state of a plant of this model, which is left as it was. Errors: E_ARGUMENT
 * (another model), E_SINGULAR (constraints or mass matrix; a singular pose). */
BRAMAH_API bramah_status bramah_linearization_run(bramah_linearization *l, bramah_coupled *plant,
                                                  bramah_diag *diag);

/* The outcome, which the next run overwrites. */
BRAMAH_API const bramah_linear_system *bramah_linearization_system(const bramah_linearization *l);

/* Put the plant at state x [n], in the order and with the names of the last run, the other coordinates
 * following along the constraints from where they were in that run, in small steps; where the plant is at
 * present does not matter, its commands, parameters, time and work stay. Errors: E_ARGUMENT (another model; no
 * run yet), E_NOT_FINITE, E_CLOSURE (the loops do not reach so far), E_UNSUPPORTED (a rolling machine); the
 * plant is then where it was. */
BRAMAH_API bramah_status bramah_linearization_place(bramah_linearization *l, bramah_coupled *plant,
                                                    const double *x, bramah_diag *diag);

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
 * Comput. Nonlinear Dynam. 12 (2017), equation 17. m counts the independent constraints. `out` points into the
 * linearization; the next call overwrites it. Errors: E_ARGUMENT, E_SINGULAR, E_UNSUPPORTED (something rolls). */
BRAMAH_API bramah_status bramah_linearization_constrained(bramah_linearization *l, bramah_coupled *plant,
                                                          bramah_constrained *out, bramah_diag *diag);

/* Energies of a small motion [J]: kinetic energy of each body of the velocities it holds, and what the oil and
 * walls of each volume store, V/B_e dp^2 / 2. Inner bodies of compound joints have names and no mass. */
typedef struct bramah_energies {
  size_t n_bodies, n_volumes;
  const char *const *body_name, *const *volume_name; /* live as long as the model */
  const double *body, *volume;                       /* [n_bodies], [n_volumes] */
} bramah_energies;

/* Of a motion re + i im about the present state, both [n] in the order of the last run; im may be NULL. For a
 * mode these are its shapes. `out` points into the linearization; the next call overwrites it. Errors:
 * E_ARGUMENT (another model), E_SINGULAR. */
BRAMAH_API bramah_status bramah_linearization_energies(bramah_linearization *l, bramah_coupled *plant,
                                                       const double *re, const double *im,
                                                       bramah_energies *out, bramah_diag *diag);

/* ---- equilibria ---- */

/* Equilibria of the built-in plant, found with its linearized equations. Both searches start at the present
 * state of the plant and leave it at rest where they end, with spools where the commands hold them; after an
 * error it is where it was.
 *
 * At an equilibrium no joint accelerates and no pressure changes. With closed valves there are many: oil
 * that is trapped holds the machine in any of a range of poses. Parameters count with their present values.
 * Drives of prescribed motions must stand still there (E_UNSUPPORTED). Where a machine comes to rest (not in
 * trims) its shafts may turn, at a speed that stays: bodies on revolute joints that are balanced about them,
 * carry no other body, and on whose angle nothing depends, as the crankshaft of an engine that runs. */

/* What the search for it came to. */
typedef struct bramah_equilibrium_report {
  int iterations;
  double acceleration;  /* largest that remains [rad/s^2, m/s^2] */
  double pressure_rate; /* [Pa/s] */
} bramah_equilibrium_report;

/* Where the machine comes to rest from here with these commands: implicit Euler steps of growing length,
 * (I/dt - A) dx = dx/dt, so that whatever the motion conserves stays, trapped oil above all (to first order
 * in each step), and equilibria that are unstable are left. Friction states follow: a bristle that holds
 * goes on holding. `report` may be NULL. Errors: E_NO_CONVERGENCE with the body that keeps moving or the
 * volume whose pressure keeps changing; E_ARGUMENT (another model); what evaluating the plant can say.
 * Source: Kelley and Keyes, "Convergence analysis of pseudo-transient continuation", SIAM J. Numer. Anal. 35
 * (1998). */
BRAMAH_API bramah_status bramah_settle(bramah_linearization *l, bramah_coupled *plant,
                                       bramah_equilibrium_report *report, bramah_diag *diag);

/* What a trim asks for. Outputs and inputs are those of the linearization, by their numbers there. */
typedef struct bramah_trim {
  size_t n_held;
  const size_t *held;   /* [n_held] outputs ... */
  const double *target; /* [n_held] ... that must have these values [SI] */
  size_t n_free;
  const size_t *free; /* [n_free] inputs that may be chosen: commands, and the parameters of the options */
} bramah_trim;

/* An equilibrium with held outputs and free inputs, by Levenberg and Marquardt's method. Velocities are
 * zero; friction states stay as they are. Where the conditions leave a choice the nearest is taken, counted
 * in rad, m, MPa and full command. Errors: E_NO_CONVERGENCE with the body that does not balance, the volume
 * that does, or the output that is not reached; E_ARGUMENT (a number out of range, or more held outputs or free
 * inputs than there are); E_VALUE (a parameter out of its range). */
BRAMAH_API bramah_status bramah_trim_find(bramah_linearization *l, bramah_coupled *plant,
                                          const bramah_trim *trim, bramah_equilibrium_report *report,
                                          bramah_diag *diag);

/* ---- modes, responses, regulators ---- */

/* Analysis of linear equations with names, as above:
 *
 *   dx/dt = A x + B u      y = C x + D u
 *
 * modes, frequency response, regulator, the same equations in discrete time. Part of libbramah-tools;
 * functions that make an object take memory, the others take and release what they need. Units of the state
 * differ by many powers of ten (rad, Pa): matrices are balanced before anything is done with them. */

typedef enum bramah_stability {
  BRAMAH_STABLE = 0,   /* decays */
  BRAMAH_MARGINAL = 1, /* neither, as far as rounding lets one tell */
  BRAMAH_UNSTABLE = 2  /* grows */
} bramah_stability;

/* A real eigenvalue or a pair of conjugate ones. */
typedef struct bramah_mode {
  double re, im;    /* the eigenvalue s with im >= 0 [1/s] */
  double frequency; /* |s| / (2 pi) of a pair, undamped [Hz]; 0 of a real one */
  double damping;   /* -re / |s|; 0 where s = 0 */
  /* reciprocal condition number of the eigenvalue, 0 ... 1; tiny: vectors nearly coincide */
  double condition;
  double error; /* what rounding can have moved it by [1/s] */
  bramah_stability stability;
  int pair;
  /* 1: shares its eigenvector with another eigenvalue as far as one can tell, so that t exp(s t) occurs too.
   * Such a mode grows if it is marginal. */
  int defective;
  const double *shape_re, *shape_im; /* [n] right eigenvector x; the motion is Re(x exp(s t)) */
  /* [n] participation factors of the states, |l_i x_i| with sum 1 (l: left eigenvector): free of units.
   * Source: Perez-Arriaga, Verghese, Schweppe, "Selective modal analysis", IEEE PAS-101 (1982). */
  const double *participation;
} bramah_mode;

/* Eigenvalues and modes. */
typedef struct bramah_modes {
  size_t n, n_modes;                          /* order; modes, a pair counted once */
  const bramah_mode *mode;                    /* [n_modes] by |s|, slowest first */
  size_t n_unstable, n_marginal, n_defective; /* eigenvalues; a pair counts twice */
  /* of the whole: the worst of its modes, unstable if a marginal one is defective */
  bramah_stability stability;
} bramah_modes;

/* Modes of a linear system; release with bramah_modes_free (NULL allowed). Errors: E_NOT_FINITE, E_SINGULAR
 * (the iteration failed), E_MEMORY. */
BRAMAH_API bramah_status bramah_modes_new(const bramah_linear_system *system, bramah_diag *diag,
                                          bramah_modes **out);
BRAMAH_API void bramah_modes_free(bramah_modes *modes);

/* Zero-order hold: x_next = F x + G u for inputs held over step h [s]; F [n x n] = exp(A h), G [n x n_u] or
 * NULL. Source: Higham, "The scaling and squaring method for the matrix exponential revisited", SIAM J.
 * Matrix Anal. 26 (2005). Errors: E_ARGUMENT (h), E_NOT_FINITE (also of what a long step makes of an unstable
 * mode), E_MEMORY. */
BRAMAH_API bramah_status bramah_discretise(const bramah_linear_system *system, double h, double *F, double *G,
                                           bramah_diag *diag);

/* Frequency response of output `y` to input `u` at angular frequencies w [n_w, rad/s]: re + i im [n_w].
 * Errors: E_ARGUMENT, E_NOT_FINITE, E_SINGULAR (w is an undamped frequency), E_MEMORY. */
BRAMAH_API bramah_status bramah_frequency_response(const bramah_linear_system *system, size_t y, size_t u,
                                                   size_t n_w, const double *w, double *re, double *im,
                                                   bramah_diag *diag);

/* Angular frequencies w [n, rad/s] in equal ratios, n at least 2, from a decade below the slowest mode to a decade
 * beyond the fastest. */
BRAMAH_API void bramah_response_frequencies(const bramah_modes *modes, size_t n, double *w);

/* Linear-quadratic regulator: u = -K x, K [n_u x n], makes the integral of x' Q x + u' R u least; Q [n x n]
 * symmetric, not negative, R [n_u x n_u] symmetric, positive definite; both in the units of x and u. P [n x
 * n], or NULL: the least value is x' P x. Source: Laub, "A Schur method for solving algebraic Riccati
 * equations", IEEE AC-24 (1979); the ordered Schur form is LAPACK's. Errors: E_ARGUMENT (R), E_NOT_FINITE,
 * E_SINGULAR (a mode that does not decay is not reached by the inputs, or costs nothing and neither grows nor
 * decays), E_MEMORY. */
BRAMAH_API bramah_status bramah_lqr(const bramah_linear_system *system, const double *Q, const double *R,
                                    double *K, double *P, bramah_diag *diag);

/* ---- equations with constraints ---- */

/* Three approaches from equations with constraints to eigenvalues. Source: Gonzalez, Masarati, Cuadrado, Naya,
 * "Assessment of linearization approaches for multibody dynamics formulations", J. Comput. Nonlinear Dynam.
 * 12 (2017).
 *
 *   minimal    velocities projected on what the constraints allow (equations 2-6): exact, nothing spurious
 *   redundant  coordinates and multipliers in one pencil (7-10): exact; infinite eigenvalues are left out
 *   penalty    constraints become stiff springs, dampers and masses (11-15): approximate; eigenvalues whose
 *              vectors violate the constraints are spurious. K must be that of the pose where the springs
 *              hold the balance; with the K of the exact pose, multipliers in it, the springs only add to it.
 *
 * All three work where constraints depend on each other, at singular poses too. The first two solve for 1 /
 * (s - sigma), so that slow modes are exact to their last digits however fast the fastest are; without
 * damping, symmetric matrices of half the order. */
typedef enum bramah_approach {
  BRAMAH_APPROACH_MINIMAL = 0,
  BRAMAH_APPROACH_REDUNDANT = 1,
  BRAMAH_APPROACH_PENALTY = 2
} bramah_approach;

/* Penalties of the constraints in the penalty approach. */
typedef struct bramah_penalty_factors {
  double alpha, xi, omega; /* masses alpha, dampers 2 xi omega alpha [1/s], springs omega^2 alpha [1/s^2] */
} bramah_penalty_factors;

/* Eigenvalues of equations with constraints. */
typedef struct bramah_spectrum {
  size_t n;              /* eigenvalues of the constrained system: 2 (n - rank) + k */
  const double *re, *im; /* [n] slowest first; pairs stand together */
  size_t rank;           /* independent constraints */
  size_t n_spurious;     /* what the approach adds: infinite (redundant) or finite (penalty) */
  const double *spurious_re, *spurious_im; /* [n_spurious] (penalty), else NULL */
  /* How clearly they are set apart, > 1 (INFINITY where nothing is spurious): |s| of the least infinite one
   * over the largest finite one; violation of the least violated spurious one over the most violated true
   * one. */
  double gap;
} bramah_spectrum;

/* Eigenvalues of a constrained system; `factors` for the penalty approach (NULL: 1e7, 1, 10, as published).
 * Released by bramah_spectrum_free (NULL allowed). Errors: E_ARGUMENT, E_SINGULAR (the iteration failed, or
 * masses vanish where the constraints leave motion), E_MEMORY. */
BRAMAH_API bramah_status bramah_spectrum_new(const bramah_constrained *system, bramah_approach approach,
                                             const bramah_penalty_factors *factors, bramah_diag *diag,
                                             bramah_spectrum **out);
BRAMAH_API void bramah_spectrum_free(bramah_spectrum *spectrum);

/* ---- operating points ---- */

/* The linearized equations of a machine file about a point: where it starts, a time that is simulated to, a row of a
 * log, or an equilibrium. Part of libbramah-tools. Names and values are written as in files: "lift.pressure=3 MPa",
 * a number alone in SI. */
typedef struct bramah_operating_point_options {
  /* "start" or NULL, a time ("2 s"), "log.csv@2 s", or "rest": where the machine comes to rest */
  const char *at;
  size_t n_set, n_parameter, n_command, n_hold, n_free, n_input;
  const char *const *set;       /* [n_set] "PATH=VALUE", other values for keys of the machine file */
  const char *const *parameter; /* [n_parameter] "NAME=VALUE", parameters of the plant from the start on */
  const char *const *command;   /* [n_command] "NAME=VALUE", other commands [V] from the point on */
  const char *const *hold;      /* [n_hold] "OUTPUT=VALUE": an equilibrium where outputs have these values */
  const char *const *free;      /* [n_free] commands and parameters that its search may choose */
  const char *const *input;     /* [n_input] parameters that count as inputs as the commands do, loads say */
  const char *sensors; /* study file whose sensors are outputs behind those of the plant; NULL: none */
} bramah_operating_point_options;
/* At the start of the machine. */
BRAMAH_API void bramah_operating_point_options_default(bramah_operating_point_options *options);

/* The point, and the equations there. */
typedef struct bramah_operating_point {
  const bramah_linear_system *system; /* every output that has a derivative, then the sensors */
  const bramah_model *model;
  bramah_coupled *plant; /* at the point */
  bramah_linearization *linearization;
  int at_rest;                    /* 1: an equilibrium was searched for */
  bramah_equilibrium_report rest; /* how it was found */
  double time; /* [s] of the simulation or of the row of a log: what was asked for, to a step or row */
} bramah_operating_point;

/* All of it; options NULL: at the start. Takes memory, released by bramah_operating_point_free (NULL allowed) with all
 * that it points to. *out is NULL after an error. Errors: those of bramah_machine_load and of what is asked for;
 * diag->file then names the option ("hold") or the file. */
BRAMAH_API bramah_status bramah_operating_point_new(const char *machine,
                                                    const bramah_operating_point_options *options,
                                                    bramah_diag *diag, bramah_operating_point **out);
BRAMAH_API void bramah_operating_point_free(bramah_operating_point *point);

/* Number of an input or output of linear equations; an input may be named without ".command". E_REFERENCE: there is
 * none; the message has the nearest name. */
BRAMAH_API bramah_status bramah_linear_input(const bramah_linear_system *system, const char *name, size_t *u,
                                             bramah_diag *diag);
BRAMAH_API bramah_status bramah_linear_output(const bramah_linear_system *system, const char *name, size_t *y,
                                              bramah_diag *diag);

#ifdef __cplusplus
}
#endif
#endif
