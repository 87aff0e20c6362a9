/* SPDX-License-Identifier: MIT */
/* The equations of a machine as one graph, cut into the parts that a step wants at different times.
 *
 *   speeds         of the rods of quasistatic actuators, where there are some, and openings of their valves: from them their
 *                  velocities are found, by iteration, outside the graph (lib/hydraulics/metered.h), and then the parts that
 *                  build on it run
 *   iterate        one iterate of the trapezoidal step: kinematics, closure, residual, tangent, elimination. The loops
 *                  are closed together with the unknowns, not within each iterate.
 *     inertia      its mass matrix, which what follows needs on the factors that the iterate has left
 *       transition   derivatives of the end of the step by its start
 *       parameter k  and by parameter k
 *   again          another iterate with the factors of the tangent that the last one has left
 *   coarse         a first iterate with a tangent that costs half as much: of forces, contacts, masses and circuit, without what turns as
 *                  the machine moves, which is small against 4/h^2 of the masses; its factors have the place of the iterate's
 *   place          what closes the loops, alone
 *   pose           what follows from positions, rates and first-order states: all rates, actuators, works
 *     readings     outputs with their derivatives, each alone
 *     ends         accelerations of all joints from the independent ones
 *       readings   the same of all accelerations, and of what sensors on a body show
 *     flows        first-order rates that the equations give
 *       rates      and the accelerations
 *         slopes   these by the error state
 *           guess  where the step leads by these alone: Newton's first guess
 *         start k  and by parameter k
 *
 * step_mechanics.c writes the equations, step_graph.c makes the parts of a step of them, step_readings.c those of outputs; all on
 * step_builder.h.
 *
 * Numbers: n joints, nd dependent and nf independent ones, np first-order states, nx = nf + np unknowns, ns spools, nc actuators, nw of
 * them quasistatic, with ny velocities and gauges, nm prescribed motions, nq friction states, nh of them error states, ne = 2 nf + np + nh
 * error states, nn = nx + nh noises, nv of unknowns and of bristles whose rates parameters may change, nk contacts on a field, no tools in soil, ng inputs of contacts between bodies, nb spherical joints, nu elements that open, nl load signals, which Newton's
 * tangent has as unknowns of their own: each depends on many pressures, and many flows on it. */
#ifndef BRAMAH_LIB_PLANT_STEP_GRAPH_H
#define BRAMAH_LIB_PLANT_STEP_GRAPH_H

#include "bramah/coupled.h"
#include "lib/graph/tape.h"
#include "lib/multibody/contact_graph.h"
#include "lib/plant/state.h"

/* Inputs in the order of their registers: name, rate, how many. */
#define BRAMAH__STEP_INPUTS(X)                                                                               \
  X(theta, SETUP, n_par) /* parameters */                                                                    \
  X(h, SETUP, 1)         /* length of the step */                                                            \
  X(U, STEP, ns)         /* spools */                                                                        \
  X(gate, STEP, ns)      /* 1 where a spool follows its command, 0 at its limits */                          \
  X(z, POINT, n)                                                                                             \
  X(zd, POINT, nf) /* of the independent coordinates */                                                      \
  X(zdd, POINT, nf)                                                                                          \
  X(p, POINT, np)                                                                                            \
  X(pd, POINT, np)             /* by the trapezoidal rule */                                                 \
  X(A, POINT, nx *ne)          /* accelerations and first-order rates by the error state, at the start */    \
  X(carried, POINT, nv)        /* the same, and rates of bristles, by the parameter at hand */               \
  X(motion, POINT, 3 * nm)     /* positions, rates and accelerations of prescribed motions */                \
  X(w, POINT, ny)              /* of quasistatic actuators: velocities, then what can be measured, ... */    \
  X(w_load, POINT, ny *nw)     /* ... these by the loads ... */                                              \
  X(w_theta, POINT, n_par *ny) /* ... and by the parameter at hand; */                                       \
  X(drawn, POINT, nw)          /* stroke times 2/h, and velocity of the rod, at the start */                 \
  X(base, STEP, 9 * nb)        /* rotations that spherical joints count from */                              \
  X(plane, STEP, 10 * nk)      /* axes and distance of planes below contacts on the field */                 \
  X(tool, STEP, BRAMAH__TOOL_GIVEN *no) /* forces and torques of soil on tools, soil in them */              \
  X(meet, STEP, ng)                     /* what bodies touch with (step_meetings.c) */                       \
  X(half, STEP, nq > 0) /* of the step for friction states, from x, xd at its start; 0 at a state x */       \
  X(x, STEP, nq)                                                                                             \
  X(xd, STEP, nq)                                                                                            \
  X(xd_by, POINT, nq * 2 * nf)     /* xd by the joints of the error state ... */                             \
  X(xd_yield, POINT, nh)           /* ... and, of those that are error states, by x itself */                \
  X(drawn_by, POINT, nw * 2 * nf)  /* `drawn` by the joints of the error state */                            \
  X(held, POINT, n)                /* stands for rates that a derivative holds; in no result */              \
  X(touch, POINT, BRAMAH__TOUCHES) /* stands for what a contact sees; in no result */

/* Results of the parts, in their order. */
#define BRAMAH__SPEEDS_RESULTS(X)                                                                            \
  X(speed, nw ? nc : 0)                                                                                      \
  X(open, nw ? BRAMAH__N_PATHS *ns : 0) /* effective openings of all spools [V] */
#define BRAMAH__ITERATE_RESULTS(X)                                                                           \
  X(correction, nx) /* of the unknowns ... */                                                                \
  X(closing, nd)    /* ... and of the dependent coordinates */                                               \
  X(closure_pivot, nd)                                                                                       \
  X(pivot, nx + nl)                                                                                          \
  X(factor, n_factors) /* entries of the tangent's factors that are no numbers */
#define BRAMAH__AGAIN_RESULTS(X)                                                                             \
  X(correction_again, nx)                                                                                    \
  X(closing_again, nd)                                                                                       \
  X(closure_pivot_again, nd)
#define BRAMAH__COARSE_RESULTS(X)                                                                            \
  X(correction_coarse, n_coarse ? nx : 0)                                                                    \
  X(closing_coarse, n_coarse ? nd : 0)                                                                       \
  X(closure_pivot_coarse, n_coarse ? nd : 0)                                                                 \
  X(pivot_coarse, n_coarse ? nx + nl : 0)                                                                    \
  X(factor_coarse, n_coarse)
#define BRAMAH__INERTIA_RESULTS(X) X(mass, nf *nf)
#define BRAMAH__TRANSITION_RESULTS(X)                                                                        \
  X(F, ne *ne)                                                                                               \
  X(N, ne *nn)
#define BRAMAH__PLACE_RESULTS(X)                                                                             \
  X(closing_alone, nd)                                                                                       \
  X(place_pivot, nd)
#define BRAMAH__POSE_RESULTS(X)                                                                              \
  X(zd_all, n)                                                                                               \
  X(Rz, n *nf)                                                                                               \
  X(stroke, nc)                                                                                              \
  X(velocity, nc)                                                                                            \
  X(force, nc) /* as in bramah__eval, with stop and friction */                                              \
  X(friction, nc)                                                                                            \
  X(stop, nc)                                                                                                \
  X(opens, nu)      /* by which elements that open are beyond that [Pa] ... */                               \
  X(yields, 2 * nu) /* ... and what of it the pressures of their nodes have [1/s] */                         \
  X(x_end, nq)                                                                                               \
  X(xd_end, nq)                                                                                              \
  X(stand, 6 * nk)       /* centres of contacts on a field, and axes of discs (0: it is none), inertial */   \
  X(energy, 2)           /* kinetic, all that is stored */                                                   \
  X(work_force, n_works) /* pairs whose trapezoidal sum is a work */                                         \
  X(work_path, n_works)
#define BRAMAH__ENDS_RESULTS(X)                                                                              \
  X(zdd_all, n)                                                                                              \
  X(drive, nm) /* forces that prescribe the motions */
#define BRAMAH__FLOWS_RESULTS(X) X(pd_state, np)
#define BRAMAH__RATES_RESULTS(X)                                                                             \
  X(zdd_state, n) /* of all joints */                                                                        \
  X(mass_pivot, nf)                                                                                          \
  X(drive_state, nm)
#define BRAMAH__SLOPES_RESULTS(X)                                                                            \
  X(A_state, nx *ne)                                                                                         \
  X(drawn_state, nw * 2 * nf)                                                                                \
  X(xd_state, nq * 2 * nf)                                                                                   \
  X(xd_yield_state, nh)
#define BRAMAH__GUESS_RESULTS(X)                                                                             \
  X(guess, nq ? 0 : nx) /* changes of the unknowns ... */                                                    \
  X(guess_dependent, nq ? 0 : nd)

#define BRAMAH__STEP_RESULTS(X)                                                                              \
  BRAMAH__SPEEDS_RESULTS(X)                                                                                  \
  BRAMAH__ITERATE_RESULTS(X)                                                                                 \
  BRAMAH__AGAIN_RESULTS(X)                                                                                   \
  BRAMAH__COARSE_RESULTS(X)                                                                                  \
  BRAMAH__INERTIA_RESULTS(X)                                                                                 \
  BRAMAH__TRANSITION_RESULTS(X)                                                                              \
  BRAMAH__PLACE_RESULTS(X)                                                                                   \
  BRAMAH__POSE_RESULTS(X)                                                                                    \
  BRAMAH__ENDS_RESULTS(X)                                                                                    \
  BRAMAH__FLOWS_RESULTS(X)                                                                                   \
  BRAMAH__RATES_RESULTS(X)                                                                                   \
  BRAMAH__SLOPES_RESULTS(X)                                                                                  \
  BRAMAH__GUESS_RESULTS(X)

/* Where each result lies: registers. */
#define BRAMAH__RESULT_REGISTERS(name, count) const uint16_t *name;
typedef struct bramah__step_results {
  BRAMAH__STEP_RESULTS(BRAMAH__RESULT_REGISTERS)
} bramah__step_results;

#define BRAMAH__INPUT_REGISTER(name, rate, count) size_t name;
typedef struct bramah__step_inputs {
  BRAMAH__STEP_INPUTS(BRAMAH__INPUT_REGISTER)
} bramah__step_inputs;

enum {
  BRAMAH__PART_SPEEDS = BRAMAH__FIRST_PART,
  BRAMAH__PART_ITERATE,
  BRAMAH__PART_AGAIN,
  BRAMAH__PART_COARSE,
  BRAMAH__PART_INERTIA,
  BRAMAH__PART_TRANSITION,
  BRAMAH__PART_PLACE,
  BRAMAH__PART_POSE,
  BRAMAH__PART_ENDS,
  BRAMAH__PART_FLOWS,
  BRAMAH__PART_RATES,
  BRAMAH__PART_SLOPES,
  BRAMAH__PART_GUESS,
  BRAMAH__PART_PARAMETERS /* parameter 0, start 0, parameter 1, ..., then readings */
};

/* Where a work belongs: to actuator i, or nc + i, an exchange of energy; with this bit its force is a power, which goes
 * on for the step. */
#define BRAMAH__IS_POWER ((size_t)1 << 31)
/* Instead its mean force goes on at its mean speed, which stands for the path. */
#define BRAMAH__IS_SPEED ((size_t)1 << 30)

/* Where an output is: a part, 0 for none, and the first of its results there. These are its value, derivatives by the error
 * state [ne], by the independent accelerations [nf], and by the parameters [n_par] while accelerations are held, as far as the
 * program's scope goes. */
typedef struct bramah__reading {
  size_t part, first;
  int follows_ends;
} bramah__reading;

struct bramah_program {
  const bramah_model *model; /* that it was made of */
  bramah_program *next;      /* for other independent coordinates; NULL: none */
  bramah_program_scope scope;
  bramah__tape tape;
  bramah__step_inputs in;
  bramah__step_results out;
  /* inputs of `again`, behind the others; as many as `factor` has; those of a coarse tangent, 0: it is not worth it */
  size_t first_factor, n_factors, n_coarse;
  size_t n, nd, nf, np, nx, nn, nv, ne, ns, nc, nw, ny, nm, nq, nh, nk, no, ng, nb, nl, nu, n_par, n_works;
  bramah__reading *reading;                   /* [n_outputs] */
  size_t *work;                               /* [n_works] */
  unsigned char *follows;                     /* [n_par] 1: it has derivatives by this parameter */
  int *index, *row;                           /* [n], [m] the choice of coordinates that it is made for */
  double *closure_pivot, *pivot, *mass_pivot; /* [nd], [nx + nl], [nf] at the typical state */
  size_t n_nodes;
};

/* The graph of a program that has its counts, choice of coordinates and room for tables; `at` is a typical state. Errors:
 * E_UNSUPPORTED, E_SINGULAR, E_MEMORY. */
bramah_status bramah__step_graph_build(const bramah__state *at, bramah_program *program, bramah_diag *diag);

/* How many inputs contacts between bodies have; these, from what is held over the step (meeting.c); NULL: nothing touches. */
size_t bramah__meeting_inputs(const bramah_model *model);
void bramah__put_meetings(const bramah_model *model, const bramah__held *held, double *in);

/* Does a program know all that is held? A round shape whose core goes through another one is the interpreter's. */
int bramah__meetings_fit(const bramah_model *model, const bramah__held *held);

/* Is a state in the coordinates that a program is made for? */
int bramah__program_knows(const bramah_program *program, const bramah__state *state);

/* May a parameter move quasistatic actuators at held motion and pressures? */
static inline int bramah__moves_metered(const bramah__parameter *p)
{
  return p->code == BRAMAH__INPUT_OFFSET || p->code == BRAMAH__LINE_FLOW || p->code == BRAMAH__FLOW_SCALE;
}

/* Has it derivatives by these parameters? */
int bramah__program_follows(const bramah_program *program, size_t n_par, const size_t *par);

/* Columns for derivatives by parameters. */
static inline size_t bramah__n_columns(const bramah_program *program)
{
  return program->scope == BRAMAH_PROGRAM_PARAMETERS ? program->n_par : 0;
}

static inline size_t bramah__reading_width(const bramah_program *program)
{
  return program->scope == BRAMAH_PROGRAM_STEPS ? 1
                                                : 1 + program->ne + program->nf + bramah__n_columns(program);
}

#endif
