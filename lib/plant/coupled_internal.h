/* SPDX-License-Identifier: MIT */
/* One plant: its state, a candidate for the next state, and three evaluations (of the state, of the
 * candidate, of a perturbation). A step works on the candidate and copies it over only when it has succeeded.
 */
#ifndef BRAMAH_LIB_PLANT_COUPLED_INTERNAL_H
#define BRAMAH_LIB_PLANT_COUPLED_INTERNAL_H

#include "bramah/coupled.h"
#include "lib/multibody/closure.h"
#include "lib/plant/state.h"

/* Newton iteration of one step: unknowns [dz; dp] [nx], the changes over the step. */
#define BRAMAH__NEWTON_FIELDS(X)                                                                             \
  X(double, change, nx)                                                                                      \
  X(double, correction, nx)                                                                                  \
  X(double, weight, nx)    /* of the rows of J */                                                            \
  X(double, f, nx)         /* residual ... */                                                                \
  X(double, g, nx)         /* ... and the correction that it asks for with the last tangent */               \
  X(double, J, nx *nx)     /* tangent, then its factors */                                                   \
  X(double, Jzz, n *n)     /* its mechanical part, for projections */                                        \
  X(double, tolerance, nx) /* of a correction that ends the iteration */                                     \
  X(int, pivot, nx)

/* Derivatives about one motion (residual_derivative.c). */
#define BRAMAH__DERIVATIVE_FIELDS(X)                                                                         \
  X(double, F_s, nc) /* given by the caller: how the force of each cylinder changes with stroke ... */       \
  X(double, F_v, nc) /* ... and velocity */                                                                  \
  X(double, K, n *n) /* all coordinates: dg/dz, dg/dz', dg/dz'' of g = M z'' - Q */                          \
  X(double, C, n *n)                                                                                         \
  X(double, M, n *n)                                                                                         \
  X(double, v_z, nc *n) /* stroke velocities by positions at held rates */                                   \
  X(double, D, n *n)    /* [n x n_dof] independent coordinates */                                            \
  X(double, E, n *n)    /* [n x n_dof] */                                                                    \
  X(double, v_zi, nc *n)                                                                                     \
  X(double, pd, n_first_order) /* rates of the first-order states, by these ... */                           \
  X(double, pd_p, n_first_order *n_first_order)                                                              \
  X(double, pd_s, n_first_order *nc) /* ... by strokes and stroke velocities */                              \
  X(double, pd_v, n_first_order *nc)                                                                         \
  X(double, pump_by_p, model->circuit.n_driven *n_first_order) /* torques of driven pumps */                 \
  X(bramah__contact_slope, contact, model->n_contact_points)   /* given by the caller, as F_s */             \
  X(bramah__moving, moving, n)                                 /* scratch from here on */                    \
  X(bramah__sweep, sweep, n)                                                                                 \
  X(double, row, n)                                                                                          \
  X(double, rate_row, n)                                                                                     \
  X(double, contact_arms, model->n_contact_points ? 2 * n : 0)                                               \
  X(double, contact_rows, model->n_contact_points ? BRAMAH__CONTACT_ROWS *n : 0)                             \
  X(double, dz, n)                                                                                           \
  X(double, dzd, n)                                                                                          \
  X(double, dzdd, n)                                                                                         \
  X(double, dtau, n)                                                                                         \
  X(double, Y, 6 * n)                                                                                        \
  X(double, mu, model->m)                                                                                    \
  X(unsigned char, used, model->m) /* 1: constraint row in use */                                            \
  X(double, gauge, bramah__n_gauges(&model->circuit))                                                        \
  X(double, gauge_load, bramah__n_gauges(&model->circuit) * model->circuit.n_metered)                        \
  X(double, circuit, BRAMAH__CIRCUIT_SCRATCH *n_first_order)

/* Times that one parameter may be asked for in a step: augmented, noisy, and as a cause. */
enum { BRAMAH__LISTED = 3 };
/* Transition of the error state over a step (transition.c); n_error = 2 n_dof + n_first_order + n_bristles. */
#define BRAMAH__TRANSITION_FIELDS(X)                                                                         \
  X(double, V, nc * 2 * n) /* [nc x 2 n_dof] stroke velocities by positions and rates, at the start */       \
  X(double, v, nc)         /* stroke velocities there */                                                     \
  X(double, bristle_rates,                                                                                   \
    2 * model->n_contact_points * 2 * n) /* [2 points x 2 n_dof] at the start, by positions and rates */     \
  X(double, bristle_ends, model->n_bristles ? 4 * model->n_contact_points *n : 0) /* the same at the end */  \
  X(double, yields, model->n_bristles ? model->n_contact_points : 0) /* of bristles at the start, -dx'/dx */ \
  X(double, by_start, nc) /* friction at the end by the velocity at the start */                             \
  X(double, r_v, n *n)    /* [n_dof x n_dof] imbalance by rates and accelerations at the end */              \
  X(double, r_a, n *n)                                                                                       \
  X(double, s_v,                                                                                             \
    n_first_order *n) /* [n_first_order x n_dof] rates of the first-order states by rates, there */          \
  X(double, rhs, (n + n_first_order) * n_error) /* right-hand side, then solution */                         \
  X(double, X_par, (n + n_first_order) * BRAMAH__LISTED * model->n_parameters)                               \
  X(double, theta,                                                                                           \
    model->n_parameters) /* for differences by parameters: these, friction rates, spools, residuals */       \
  X(double, xd, model->n_friction_states)                                                                    \
  X(double, x, model->n_friction_states)        /* of bristles at the end ... */                             \
  X(double, xd_start, model->n_friction_states) /* ... that began with these rates ... */                    \
  X(double, xd_par, BRAMAH__LISTED * model->n_parameters * model->n_friction_states) /* ... by parameters */ \
  X(double, U, bramah__n_spools(&model->circuit))                                                            \
  X(double, shift, bramah__n_spools(&model->circuit)) /* of spools by a lasting offset of their commands */  \
  X(double, f, n + n_first_order)                                                                            \
  X(double, f0, n + n_first_order)                                                                           \
  X(double, column, n + n_first_order)

/* Estimated errors of the last step, and changes of accelerations and first-order rates over it. */
#define BRAMAH__STEP_ERROR_FIELDS(X)                                                                         \
  X(double, position, n)                                                                                     \
  X(double, rate, n)                                                                                         \
  X(double, first_order, n_first_order)                                                                      \
  X(double, dzdd, n)                                                                                         \
  X(double, dpd, n_first_order)

/* What else a plant needs; n_error as above. */
#define BRAMAH__COUPLED_FIELDS(X)                                                                            \
  X(double, T, n_error *n_error)      /* changes of coordinates that nobody has asked about yet */           \
  X(double, T_step, n_error *n_error) /* the present change; scratch */                                      \
  X(double, T_work, n_error *n_error)                                                                        \
  X(double, A, (n + n_first_order) * n_error) /* accelerations and first-order rates by the error state */   \
  X(double, Q, n *n_error)                    /* accelerations of all joints by it, at Q_state */            \
  X(unsigned char, Q_state, c->state.size)                                                                   \
  X(double, part_F, n_error *n_error) /* of a part of a step (control.c) */                                  \
  X(double, part_N, n_error *(nx + model->n_bristles))                                                       \
  X(double, part_G, n_error *BRAMAH__LISTED * model->n_parameters)                                           \
  X(double, column, n_error)                                                                                 \
  X(bramah__around, around,                                                                                  \
    model->n_shapes) /* of shapes, in the order that they lie in, and what they are near (meeting.c) */      \
  X(int, around_order, model->n_shapes)                                                                      \
  X(unsigned char, is_near, model->n_meetings)                                                               \
  X(double, zdd_i, n) /* scratch from here on */                                                             \
  X(double, zdd_base, n)                                                                                     \
  X(double, D, n *n)                                                                                         \
  X(int, index_work, n)                                                                                      \
  X(int, row_work, model->m)                                                                                 \
  X(double, Phi_z_work, model->m *n)

typedef struct bramah__newton {
  BRAMAH__NEWTON_FIELDS(BRAMAH__FIELD_MEMBER)
  /* size of the last correction in units of the tolerances, squared; 0: it says nothing of the next */
  double before;
} bramah__newton;

typedef struct bramah__derivative {
  BRAMAH__DERIVATIVE_FIELDS(BRAMAH__FIELD_MEMBER)
  bramah__variation variation; /* [n x 6] each */
} bramah__derivative;

typedef struct bramah__transition {
  BRAMAH__TRANSITION_FIELDS(BRAMAH__FIELD_MEMBER)
  bramah__state start; /* the state at the start of the step */
} bramah__transition;

typedef struct bramah__step_error {
  BRAMAH__STEP_ERROR_FIELDS(BRAMAH__FIELD_MEMBER)
  double largest; /* of the positions, and the joint that has it */
  size_t worst;
  double energy, moved; /* [J] made from nothing; the scale for it: kinetic, with what was exchanged */
  int64_t end_ns;       /* of the step that these are of, and its length */
  double h;
} bramah__step_error;

/* Derivatives that a step shall give, see bramah_plant.step_transition; F, N NULL, n_par 0: not these. */
typedef struct bramah__wanted {
  double *F, *N;
  size_t n_par;
  const size_t *par;
  double *G;
} bramah__wanted;

static inline int bramah__wants_any(const bramah__wanted *w) { return w->F || w->n_par; }

/* A plant's own copy of the model, with tables of its own where parameters are: the model is shared. Type
 * and name of each table, where it is in the model, and its length. */
#define BRAMAH__OWN_TABLES(X)                                                                                \
  X(bramah__link, link, tree.link, model->n)                                                                 \
  X(bramah__load, load, forces.load, model->forces.n_loads)                                                  \
  X(bramah__contact, contact_point, contact_point, model->n_contact_points)                                  \
  X(bramah__shaft, shaft, shaft, model->n_shafts)                                                            \
  X(double, supply, circuit.supply, model->circuit.n_supplies)                                               \
  X(bramah__cylinder, cylinder, circuit.cylinder, model->circuit.n_cylinders)                                \
  X(bramah__element, element, circuit.element, model->circuit.n_elements)                                    \
  X(bramah__valve, valve, circuit.valve, bramah__n_spools(&model->circuit))                                  \
  X(bramah__metered, metered, circuit.metered, model->circuit.n_metered)                                     \
  X(bramah__metered_line, metered_line, circuit.metered_line, model->circuit.n_metered_lines)

typedef struct bramah__own {
  bramah_model model;
  BRAMAH__OWN_TABLES(BRAMAH__FIELD_MEMBER)
  double *joint_load; /* [n] */
  double *theta;      /* [n_parameters] that the tables have been made with */
} bramah__own;

/* What a plant needs to run its program (compiled.h). */
typedef struct bramah__compiled {
  const bramah_program *first, *program; /* NULL: none; of these the one at hand */
  void *memory;                          /* of all that follows */
  double *registers;
  double *work_force, *work_path; /* [n_works] at the state */
  double energy[2];               /* there: kinetic, all that is stored ... */
  double energy_after[2];         /* ... and after the step of the candidate */
  double *carried;                /* [n_par x nv] rates by parameters at the start of a step */
  /* Of quasistatic actuators at the point in the registers: [nc], [ns x BRAMAH__N_PATHS], [nw], [n_metered_lines]. */
  double *speed, *open, *w, *P;
  unsigned char *state; /* [state.size] that the registers and the works belong to ... */
  int pose_known;       /* ... where they do */
  unsigned char *done;  /* [tape.n_parts] parts that have been run there */
  int is_set_up;
  struct bramah__compiled *beside; /* the same for another state; NULL: there is none */
} bramah__compiled;

struct bramah_coupled {
  uint64_t mark; /* bramah__mark_of; must be first; 0 in the plant that a model is made with */
  const bramah_model
      *model; /* `own`, with the present parameters; of the plant that a model is made with that model */
  const bramah_model
      *base; /* the shared one, with nominal parameters; NULL in the plant that a model is made with */
  bramah__own own;
  bramah__heights field;        /* that contacts stand on: that of the model, or one that moves */
  struct bramah_worksite *site; /* whose soil that is; NULL: none */
  /* lays the field of that worksite as the machine has it; nothing else is in it then */
  bramah_status (*lay)(struct bramah_worksite *site, bramah_diag *diag);
  bramah__state state, next, probe_state;
  bramah__state start; /* of a step that may be made again in parts */
  bramah__state kept;  /* while another one is looked at (coupled.c) */
  bramah__step_error error;
  bramah__eval *now, *trial, *probe; /* point to the three below and are exchanged */
  bramah__eval eval[3];
  int now_valid; /* 1: `now` belongs to `state` */
  bramah_injection injection;
  int linearised;  /* 1: the candidate's loops are not closed further */
  int partitioned; /* 1: this step partitions whatever the formulation */
  int basis_changed;
  BRAMAH__COUPLED_FIELDS(BRAMAH__FIELD_MEMBER)
  bramah__newton newton;
  bramah__derivative derivative;
  bramah__transition transition;
  int sweeps;  /* 1: an open tree without forces between bodies, solved body by body */
  int Q_valid; /* 1: Q belongs to Q_state */
  bramah_step_report report;
  bramah__compiled compiled;
  int own_memory;
};

/* Lay out one plant of this model in the arena; the object itself comes first. */
bramah_coupled *bramah__coupled_layout(const bramah_model *model, bramah__arena *arena);

/* ---- one step (step.c) ---- */

/* On success the state has advanced and `now` belongs to it. derives: c->newton keeps the factors, and c->derivative what else is of
 * Newton's last tangent. */
bramah_status bramah__trapezoidal_step(bramah_coupled *c, int derives, bramah_diag *diag);

/* E_VALUE where a piston of the candidate has left its cylinder; what follows when the candidate is complete: it becomes the state. */
bramah_status bramah__check_strokes(const bramah_coupled *c, bramah_diag *diag);
void bramah__complete_step(bramah_coupled *c);

/* The same, divided where its error is too large; with derivatives (control.c). */
bramah_status bramah__controlled_step(bramah_coupled *c, const bramah__wanted *wanted, bramah_diag *diag);

/* A step by the program; 0: it has none, lacks what is wanted or leaves this step. */
int bramah__step_by_program(bramah_coupled *c, const bramah__wanted *wanted);

/* Residual f [nx] of the step at `change`; afterwards the candidate belongs to it. */
bramah_status bramah__step_residual(bramah_coupled *c, const double *change, double *f);

/* Scale and factor c->newton.J, a tangent of nm mechanical unknowns and the first-order states: columns by typical
 * sizes of the unknowns, rows by their largest entry, for the unknowns span 1e-7 to 1e7. Then x = J^-1 x. */
bramah_status bramah__factor_tangent(bramah_coupled *c, size_t nm);
void bramah__solve_tangent(const bramah_coupled *c, size_t nm, double *x);

/* Mechanical unknowns are changes over the step of the independent joint coordinates, which all others
 * follow along the loops (coordinate partitioning), or of all of them (augmented Lagrangian, penalty;
 * formulation.c), but for steps near a singular pose, where multipliers grow without bound. */
static inline int bramah__all_unknown(const bramah_coupled *c)
{
  return c->model->formulation != BRAMAH_FORMULATION_PARTITIONING && !c->partitioned;
}

static inline size_t bramah__n_mechanical(const bramah_coupled *c)
{
  return bramah__all_unknown(c) ? c->model->n : c->model->n_independent;
}

static inline size_t bramah__n_unknowns(const bramah_coupled *c)
{
  return bramah__n_mechanical(c) + c->model->n_first_order;
}

/* The joint of mechanical unknown k. */
static inline size_t bramah__unknown_joint(const bramah_coupled *c, size_t k)
{
  return bramah__all_unknown(c) ? k : (size_t)c->state.index[c->model->n_dependent + k];
}

/* Add to the candidate what energy has been exchanged since the state; `now` and `trial` belong to them (energy.c). */
void bramah__exchange_energy(bramah_coupled *c);

/* What the step has made from nothing, when its works are booked, into c->error: by the kinetic energy and all that is stored
 * [2] before and after it. */
void bramah__balance_energy(bramah_coupled *c, const double *before, const double *after);

/* ---- formulations in all joint coordinates (formulation.c) ---- */

/* Position stage at the candidate; nothing is closed, constraints are only looked at. */
bramah_status bramah__place_all(const bramah_model *model, const bramah__state *next, bramah__eval *eval);

/* Out-of-balance f [n] at accelerations zdd [n], with the forces of the constraints. */
void bramah__imbalance_all(const bramah_model *model, const bramah__state *next, bramah__eval *eval,
                           const double *zdd, double *f);

/* Augmented Lagrangian. After a correction: improve the multipliers; returns 1 if the constraints hold
 * well enough to end. After the iteration, on the candidate with rates and accelerations set: project
 * these. */
int bramah__update_multipliers(bramah_coupled *c);
bramah_status bramah__project_motion(bramah_coupled *c);

/* ---- other states than by a step (candidate.c) ---- */

/* Bring `now` up to date with the state. */
bramah_status bramah__refresh(bramah_coupled *c, bramah_diag *diag);

/* The candidate `next`, evaluated in `trial`, becomes the state. */
void bramah__take_candidate(bramah_coupled *c);

/* Poor when a dependent coordinate moves this much faster than an independent one; a new choice must halve
 * it, so that two equally good choices do not alternate. */
static const double bramah__poor_ratio = 6.0;

/* Go over to other coordinates if the present ones have become poor: new base rotations of spherical joints,
 * other independent coordinates. */
void bramah__update_basis(bramah_coupled *c);

/* Derivative of output i by the error state. */
bramah_status bramah__output_row(void *self, size_t i, double *row);

/* Derivative of output i by the independent accelerations, row [n_dof]. */
void bramah__output_by_acceleration(bramah_coupled *c, size_t i, double *row);

/* What sigma and noise of output i mean: see bramah_plant.noise_row. */
bramah_status bramah__noise_row(void *self, size_t i, double *row);

/* Value of output i. */
double bramah__output_value(void *self, size_t i);
/* Derivatives of output i, of a flow of an element or valve or one that the machine defines, by the spools, to by_U [n_spools]; others leave it alone. */
void bramah__flow_by_spools(const bramah_coupled *c, size_t i, double *by_U);

/* Derivative of output i by the parameters listed, see bramah_plant.output_by_parameters. */
bramah_status bramah__output_by_parameters(void *self, size_t i, size_t n_par, const size_t *par,
                                           double *row);

/* J [n_dof x n_error] by forward differences that repeat only what a perturbation reaches. */
bramah_status bramah__acceleration_jacobian(void *self, double *J, bramah_diag *diag);

/* Analytic derivative of the independent accelerations by the error state, J [n_dof x n_error]; friction
 * states are held. Jp [n_dof x n_par]: by parameters. */
bramah_status bramah__acceleration_derivative(void *self, double *J, size_t n_par, const size_t *par,
                                              double *Jp, bramah_diag *diag);

/* One step, the derivative F [n_error x n_error] of the error state at its end by that at its start, the
 * response N [n_error x nx] to noise and G [n_error x n_par] to parameters, what of them is wanted; see
 * bramah_plant.step_transition. */
bramah_status bramah__step_with_transition(bramah_coupled *c, const bramah__wanted *wanted,
                                           bramah_diag *diag);

/* Initial pressures of a model under construction, whose plant c is, in its initial pose. work
 * [bramah__equilibrium_work] */
bramah_status bramah__equilibrium(bramah_coupled *c, bramah_model *model, const bramah_machine *machine,
                                  double *work, bramah_diag *diag);
size_t bramah__equilibrium_work(const bramah_machine *machine);

/* Accelerations and pressure rates of c->state anew, from its positions, rates and pressures. */
bramah_status bramah__settle_rates(bramah_coupled *c, bramah_diag *diag);

/* The same where the spools of c->state alone have changed: its pose and motion need not be found again. */
bramah_status bramah__follow_spools(bramah_coupled *c, bramah_diag *diag);

/* The candidate `next` (positions approximately closed, independent rates, pressures and parameters set)
 * becomes the state; on error nothing has changed. */
bramah_status bramah__adopt_candidate(bramah_coupled *c, bramah_diag *diag);

/* The same with all spools of the candidate where they are, those of valves without lag too: to see what
 * follows from a spool alone. */
bramah_status bramah__adopt_with_spools(bramah_coupled *c, bramah_diag *diag);

/* Put the spools U [n_spools] of valves without lag where the commands u [n_inputs] have them; 1 if one
 * moved. */
int bramah__place_direct_spools(const bramah_model *model, const double *u, double *U);

/* Tables of its own for a plant whose model is complete; c->model is then the own one. NULL: only count. */
void bramah__own_layout(const bramah_model *model, bramah__arena *arena, bramah_coupled *c);

/* Make the own tables with theta [n_parameters]; cheap if they are. Evaluations made before belong to the
 * old values.
 */
void bramah__apply_parameters(bramah_coupled *c, const double *theta);

/* The same of all that a state sets: its parameters and planes. */
void bramah__follow_state(bramah_coupled *c);

/* ---- contacts on a field of heights (ground.c) ---- */

/* Let contacts see the planes of a state, and tools the forces of soil. */
void bramah__apply_ground(bramah_coupled *c, const bramah__state *state);

/* Points of the field under the patch of a contact that touches at `place`, not farther apart than half a cell where that asks for no
 * more than so many: place, ahead and aside in the frame of the field. Returns how many. */
enum { BRAMAH__PATCH_SIDE = 12, BRAMAH__PATCH_POINTS = BRAMAH__PATCH_SIDE * BRAMAH__PATCH_SIDE };
size_t bramah__patch_parts(double length, double cell); /* along one side */
size_t bramah__patch_points(const bramah__standing *standing, double cell, const double *place,
                            const double *ahead, const double *aside, double (*out)[2]);

/* ---- contacts between bodies (meeting.c) ---- */

/* The same of what shapes touch with, held [n_held]. */
void bramah__apply_meetings(bramah_coupled *c, const bramah__held *held);

/* Where shapes touch in a state, anew from its motion; its bristles go over to the new points. */
void bramah__meet(bramah_coupled *c, bramah__state *state);

/* While a machine is being put together: its model sees what touches at the start (on), and then the law alone again. */
void bramah__meet_at_start(bramah_coupled *c, int on);

/* Enter into c->next what touches and leaves at the end of a step. */
void bramah__note_meetings(bramah_coupled *c);

/* Do any of the points that touch have normals that turn with the motion? The name of the contact, or NULL. */
const char *bramah__turning_contact(const bramah_coupled *c);

/* An output of a contact between bodies. */
double bramah__meeting_value(const bramah_coupled *c, const bramah__output *output);

/* ---- planes and meetings ---- */

/* Planes of a state anew from its positions, and let contacts see them. */
void bramah__stand(bramah_coupled *c, bramah__state *state);

/* The same of c->state, whose accelerations and rates follow, before a step. */
bramah_status bramah__renew_planes(bramah_coupled *c, bramah_diag *diag);

/* The candidate, which is the state but for what soil puts on its tools, with the planes of the field as it is becomes the state, whose
 * accelerations and rates follow if anything of this is new. */
bramah_status bramah__adopt_on_ground(bramah_coupled *c, bramah_diag *diag);

/* Parameters behind the plant interface. */
bramah_status bramah__set_parameter(void *self, size_t i, double value, bramah_diag *diag);

#endif
