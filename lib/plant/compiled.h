/* SPDX-License-Identifier: MIT */
/* Steps of a plant by its program (step_graph.h). Nothing here fails: what the program does not do well it leaves to the
 * interpreted step, which then also says what is wrong. */
#ifndef BRAMAH_LIB_PLANT_COMPILED_H
#define BRAMAH_LIB_PLANT_COMPILED_H

#include "lib/plant/coupled_internal.h"

#include <math.h>

/* ---- what steps by a program keep to, alone and in lockstep (lockstep.h) ---- */

/* A pivot below this part of what it is at the typical state is left to full pivoting, and one of the closure long
 * before the pose counts as singular. */
static const double bramah__small_pivot = 1e-3, bramah__small_closure_pivot = 0.05;

/* A correction whose square is not below this part of that of the one before is no sign of convergence. The interpreted
 * step then looks for a shorter one, and so does not go over to another solution where there are several. */
static const double bramah__contraction = 0.25;

/* The last iterate, at which the step is differentiated, is not farther from the solution, in units of the tolerances. */
static const double bramah__near_enough = 10.0;

/* A step without derivatives goes on with the factors of the tangent that it has. Corrections by these shrink by a ratio; one whose
 * square is more than this is not made, for a new tangent is due. They end where what is left is estimated to be these parts
 * of the tolerances, of positions, which accelerations follow by 4/h^2, and of first-order states; or where corrections themselves are
 * as small as rounding. */
static const double bramah__old_contraction = 0.01, bramah__left_over = 1e-7, bramah__left_first_order = 1e-4,
                    bramah__rounding = 1e-5;

/* What would be left of unknown k, of which the first n_positions are positions, in units of that part: its correction, in units of its
 * tolerance, and the one before it. All shrink by theta, and each by itself, as what converges fast may hide what does not. */
static inline double bramah__left_of(size_t k, size_t n_positions, double theta, double correction,
                                     double before)
{
  const double own = correction > 0.0 ? correction / before : 0.0;
  return (own > theta ? own : theta) * correction /
         (k < n_positions ? bramah__left_over : bramah__left_first_order);
}

/* Closing corrections end the iteration below this part of the tolerance of positions: the residual does not see what
 * remains of them, the square. */
static const double bramah__closed_part = 0.01;

/* Most corrections that close the loops; one that is followed by none [rad or m], as what it leaves is its square; and one
 * that is not made: loops that are closed but for rounding stay as they are, whatever parameters are set. */
enum { BRAMAH__CLOSE_ITERATIONS = 20 };
static const double bramah__last_closing = 1e-9, bramah__no_closing = 1e-4 * 1e-9;

/* Where the sines of tapes, which have no branches, lose digits (bramah__sincos) [rad]. */
static const double bramah__farthest = 1e6;

/* As fmax of numbers that are not negative, in instructions on vectors. */
static inline double bramah__larger(double a, double b) { return ((a >= b) | (b != b)) ? a : b; }

/* How many times too large the error of a step is: of a position, by the tolerance; or what was made from nothing, by its
 * share in what was moved. The cubes of the parts that would do. */
static inline double bramah__step_excess(double tolerance, double error, double energy, double moved)
{
  static const double share = 0.03, least_share = 3e-4,
                      least = 1e-6; /* of the tolerance; of what was moved; [J] */
  const double allowed = bramah__larger(bramah__larger(share * tolerance, least_share) * moved, least),
               made = fabs(energy) / allowed;
  return bramah__larger(error / tolerance,
                        made * sqrt(made)); /* a sum over the parts: falls with their square */
}

/* Run a part in so many lanes, each with the bits that it has alone. */
void bramah__run_lanes(const bramah_program *program, size_t part, size_t lanes, double *registers);

/* ---- one plant ---- */

int bramah__compiled_has_coarse(const bramah_coupled *c);

/* Complete the candidate, which Taylor's guess has made, by a step of the length that the model has now, with the
 * derivatives that are wanted: 1, or 0 where the program does not do it. with_coarse: by the coarse tangent (where there
 * is one, and no derivatives); the candidate is then to be made anew if it does not. */
int bramah__compiled_step(bramah_coupled *c, const bramah__wanted *wanted, int with_coarse);

/* Complete the candidate, whose loops are nearly closed, with the accelerations and rates that the equations give it: 1,
 * or 0 with c->next as it was. */
int bramah__compiled_adopt(bramah_coupled *c);

/* Over to registers of their own for another state, where there are some, and back: what is known of this one stays. */
void bramah__compiled_turn_aside(bramah_coupled *c);

/* First-order rates of the state whose spools have moved: 1, or 0 with nothing changed. */
int bramah__compiled_settle(bramah_coupled *c);

/* The candidate so completed has become the state; with_rates: by the second of the two. */
void bramah__compiled_took(bramah_coupled *c, int with_rates);

/* Rz and what the actuators do at the state, in c->now: 1 if they are there; with the pose in the registers or not. */
int bramah__compiled_pose(bramah_coupled *c);
int bramah__compiled_actuators(bramah_coupled *c);
/* Effects of kink i; 0: not by the program. */
int bramah__compiled_kink(bramah_coupled *c, size_t i, double effect[2]);

/* Rz at the state by the program, the same whether an evaluation is there or not; NULL: the program does not do it. Valid until
 * the next change. */
const double *bramah__compiled_motion(bramah_coupled *c);

/* Stroke, velocity, force or friction of an actuator at the state: 1 if the program has it. */
int bramah__compiled_actuator(bramah_coupled *c, const bramah__output *output, double *value);

/* Output i at the state; its derivative by the error state, row [n_error]; by the parameters listed, row [n_par]: 1 if the
 * program has it. */
int bramah__compiled_value(bramah_coupled *c, size_t i, double *value);
int bramah__compiled_row(bramah_coupled *c, size_t i, double *row);
int bramah__compiled_by_parameters(bramah_coupled *c, size_t i, size_t n_par, const size_t *par, double *row);

/* Kinetic energy, and with it that of gravity and springs: 1 if the program has them. */
int bramah__compiled_energy(bramah_coupled *c, double *kinetic, double *stored);

/* What a plant needs to use a program, cut from an arena; and let it use that from now on. */
bramah__compiled bramah__compiled_cut(const bramah_coupled *c, const bramah_program *program,
                                      bramah__arena *arena);
void bramah__compiled_take(bramah_coupled *c, const bramah__compiled *memory);

#endif
