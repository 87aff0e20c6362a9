/* SPDX-License-Identifier: MIT */
/* A machine's equations while they become a program (step_graph.h): its expressions, derivatives of them along what is
 * seeded, factors, and the list of parts. Who calls looks at bramah__graph_failed in the end: expressions of a graph whose memory
 * has failed mean nothing, but may be handed about. */
#ifndef BRAMAH_LIB_PLANT_STEP_BUILDER_H
#define BRAMAH_LIB_PLANT_STEP_BUILDER_H

#include "lib/graph/solve.h"
#include "lib/hydraulics/circuit_graph.h"
#include "lib/multibody/contact_graph.h"
#include "lib/multibody/tree_graph.h"
#include "lib/plant/step_graph.h"

/* What a contact has derivatives of by what it sees: its force in the axes of its patch, and the rates of its bristles. */
enum { BRAMAH__RUBBED = 3 + BRAMAH__CONTACT_STATES };

/* Most forces that resist along an arm (step_mechanics.c). */
#define BRAMAH__ARMS                                                                                         \
  (model->forces.n_springs + model->forces.n_joint_springs + n + model->forces.n_limits +                    \
   BRAMAH__MOST_SHAFT_JOINTS * (model->n_contact_points + model->n_shafts) + nc)

/* Expressions of a machine; matrices row-major. A patch stands at its first contact. */
#define BRAMAH__STEP_EXPRESSIONS(X)                                                                          \
  X(supply, model->circuit.n_supplies)                                                                       \
  X(valve_coefficient, model->circuit.n_valves)                                                              \
  X(element_value, model->circuit.n_elements *BRAMAH__ELEMENT_VALUES)                                        \
  X(taken, model->n_contact_points) /* by brakes and clutches, power */                                      \
  X(contact_value, model->n_contact_points * sizeof(bramah__contact_values) / sizeof(bramah__expr))          \
  X(shaft_value, BRAMAH__SHAFT_VALUES * model->n_shafts)                                                     \
  X(patch, model->n_contact_points * sizeof(bramah__patch_graph) / sizeof(bramah__expr))                     \
  X(by_touch, model->n_contact_points *BRAMAH__RUBBED *BRAMAH__TOUCHES)                                      \
  X(touch_change, model->n_contact_points *BRAMAH__TOUCHES)  /* along what is seeded */                      \
  X(wrench, n * sizeof(bramah__pair) / sizeof(bramah__expr)) /* of contacts on bodies, in their frames */    \
  X(wrench_change, n * sizeof(bramah__pair) / sizeof(bramah__expr))                                          \
  X(load_force, 3 * model->forces.n_loads)                                                                   \
  X(joint_load, n)                                                                                           \
  X(cylinder_load, nc)                                                                                       \
  X(friction_scale, nc)                                                                                      \
  X(q_d, n) /* rates and accelerations of all joints */                                                      \
  X(q_dd, n)                                                                                                 \
  X(state_zdd, nf) /* independent accelerations that the equations give, and of all joints */                \
  X(state_q_dd, n)                                                                                           \
  X(Phi, model->m + 1)                                                                                       \
  X(Phi_used, nd)                                                                                            \
  X(Phi_z, nd *n) /* rows in use */                                                                          \
  X(Rz, n *nr)    /* behind its nf columns those along the motions: z' = Rz [z'_i; f'] */                    \
  X(Rz_f, n)      /* one of its columns */                                                                   \
  X(closing, nd)                                                                                             \
  X(gamma, nd) /* second derivative of Phi_used by time at z'' = 0 */                                        \
  X(tau, n)                                                                                                  \
  X(s, nc)                                                                                                   \
  X(s_i, nc *nr) /* along the columns of Rz */                                                               \
  X(v, nc)                                                                                                   \
  X(force, nc)                                                                                               \
  X(friction, nc)                                                                                            \
  X(stop, nc)                                                                                                \
  X(energy, 2)                                                                                               \
  X(flow, np + model->circuit.n_supplies) /* into volumes and supplies */                                    \
  X(compliance, np)                                                                                          \
  X(opens, nu)                                                                                               \
  X(yields, 2 * nu)                                                                                          \
  X(rates, np)                                                                                               \
  X(r, nr)       /* out of balance; behind it the forces of the drives that prescribe motions */             \
  X(f, nx)       /* residual of the step: r; pd by the trapezoidal rule less rates */                        \
  X(f_state, nx) /* the same with load pressures as a state has them */                                      \
  X(signal, nl)  /* what valves report of their loads */                                                     \
  X(J, nt *nt)                                                                                               \
  X(arm, BRAMAH__ARMS *nr) /* of forces that resist, which follow them; and behind these f of the circuit */ \
  X(pull, BRAMAH__ARMS + np)                                                                                 \
  X(mass, nf *nf)   /* dr/dz'' */                                                                            \
  X(r_v, nf *nf)    /* dr/dz' */                                                                             \
  X(T, n *(n + 4))  /* of the joint forces */                                                                \
  X(pd_v, np *nf)   /* d rates/dz' */                                                                        \
  X(slopes, nx *ne) /* accelerations and first-order rates that the equations give, by the error state */    \
  X(slopes_before, nx *ne) /* the same at the start of a step */                                             \
  X(rhs, (nt + nq) * (ne + nn) + nd * (2 * n + 1) + BRAMAH__ARMS)                                            \
  X(column, nt + n + nq)                                                                                     \
  X(load, nw) /* of quasistatic actuators */                                                                 \
  X(load_along, nw)                                                                                          \
  X(w_along, ny) /* what a seed moves of their velocities and gauges at held loads */                        \
  X(drawn, nw)                                                                                               \
  X(stand, 6 * nk)                                                                                           \
  X(x_end, nq)                                                                                               \
  X(xd_end, nq)                                                                                              \
  X(x_by_move, nh *nf) /* of those that are error states x at the end of a step by changes over it, ... */   \
  X(x_by_rate, nh *nf) /* ... of that what rates do, ... */                                                  \
  X(x_by_x, nh)        /* ... and by what they began with */                                                 \
  X(at, n + n + nf + nf + np + np + ns + ny + nq + nl + nc + nc) /* seeds of a derivative */                 \
  X(along, n + n + nf + nf + np + np + ns + ny + nq + nl + nc + nc)                                          \
  X(work_force, n_works)                                                                                     \
  X(work_path, n_works)                                                                                      \
  X(output, model->n_outputs)                                                                                \
  X(slope, model->n_outputs)                                                                                 \
  X(shown, model->n_outputs *bramah__reading_width(b->out))                                                  \
  X(result, n_results + 2 * (nt * nt + nx + nl + 2 * nd) + bramah__n_columns(b->out) * (ne + nx) +           \
                model->n_outputs * bramah__reading_width(b->out))

#define BRAMAH__BUILDER_INPUT(name, rate, count) bramah__expr *in_##name;
#define BRAMAH__BUILDER_MEMBER(name, count) bramah__expr *name;

typedef struct bramah__step_builder {
  const bramah_model *model;
  const bramah__state *usual; /* a typical one */
  bramah__graph *graph;
  bramah_program *out;
  bramah_diag *diag;
  bramah__expr *all;
  BRAMAH__STEP_INPUTS(BRAMAH__BUILDER_INPUT)
  BRAMAH__STEP_EXPRESSIONS(BRAMAH__BUILDER_MEMBER)
  bramah__expr oil_bulk_modulus, c1, c2; /* 2/h, its square */
  bramah__expr force_along[3];           /* coordinate, rate and acceleration of what seeds joint forces */
  bramah__vec gravity;
  bramah__link_graph link[BRAMAH__MOST_BODIES];
  bramah__body_graph body[BRAMAH__MOST_BODIES];
  bramah__elimination loops, tangent, coarse, inertia, guess;
  double *typical, *value;          /* of inputs, of nodes */
  size_t n_arms, n_seeds, n_follow; /* so many of w follow the loads: gauges do in readings alone */
  bramah__part *part; /* as many as the program numbers; their results lie one behind the other in `result` */
  size_t n_parts, n_results;
} bramah__step_builder;

static inline bramah__patch_graph *bramah__patch_at(const bramah__step_builder *b, size_t contact)
{
  return (bramah__patch_graph *)(void *)b->patch + contact;
}

/* How many contacts from this one on are in one patch. On a field each has a plane of its own. */
static inline size_t bramah__patch_of(const bramah_model *model, size_t contact)
{
  for (size_t k = 0; k < model->n_standing; k++)
    if (model->standing[k].point == contact) return 1;
  return bramah__patch_size(model->n_contact_points - contact, &model->contact_point[contact]);
}

/* Numbers of everything, by their short names. */
#define BRAMAH__STEP_SIZES(p)                                                                                \
  const size_t n = (p)->n, nd = (p)->nd, nf = (p)->nf, np = (p)->np, nx = (p)->nx, nn = (p)->nn,             \
               nv = (p)->nv, ne = (p)->ne, ns = (p)->ns, nc = (p)->nc, nw = (p)->nw, ny = (p)->ny,           \
               nm = (p)->nm, nr = nf + nm, nq = (p)->nq, nh = (p)->nh, nk = (p)->nk, no = (p)->no,           \
               ng = (p)->ng, nb = (p)->nb, nl = (p)->nl, nu = (p)->nu, nt = nx + nl, n_par = (p)->n_par,     \
               n_works = (p)->n_works, n_factors = (p)->n_factors, n_coarse = (p)->n_coarse;                 \
  (void)n, (void)nd, (void)nf, (void)np, (void)nx, (void)nn, (void)nv, (void)ne, (void)ns, (void)nc,         \
      (void)nw, (void)ny, (void)nm, (void)nr, (void)nq, (void)nh, (void)nk, (void)no, (void)ng, (void)nb,    \
      (void)nl, (void)nu, (void)nt, (void)n_par, (void)n_works, (void)n_factors, (void)n_coarse

/* Memory for all expressions, which are 0, and inputs. Returns 0 where that fails. */
int bramah__take_expressions(bramah__step_builder *b);

/* What the equations of the circuit are given: inputs, and what stands there for parameters and strokes. */
bramah__circuit_graph bramah__circuit_of(bramah__step_builder *b);

/* Mechanics and circuit (step_mechanics.c): everything above from `supply` to `f_state`, at inputs and parameters as they are.
 * Errors: E_SINGULAR, E_MEMORY. */
bramah_status bramah__add_mechanics(bramah__step_builder *b);

/* Values of a point of a contact; a force and the path that it goes, whose work is a sum of works. */
static inline bramah__contact_values *bramah__contact_values_in(const bramah__step_builder *b, size_t point)
{
  return (bramah__contact_values *)(void *)b->contact_value + point;
}
void bramah__add_work(bramah__step_builder *b, size_t *count, size_t sum, bramah__expr force,
                      bramah__expr path);

/* Contacts between bodies (step_meetings.c). */
void bramah__add_meetings(bramah__step_builder *b, size_t *works);

/* Parts of all outputs, and one that the machine defines (step_readings.c). */
/* Torques of a shaft on its joints, and what it shows. */
void bramah__shaft_graph(const bramah__step_builder *b, const bramah__shaft *shaft, bramah__expr *torque,
                         bramah__expr *view);
bramah__expr bramah__defined_graph(bramah__step_builder *b, const bramah__definition *definition);
void bramah__add_readings(bramah__step_builder *b);

/* ---- derivatives: first what moves, then along it ---- */

/* An expression moves along another one; all joints along a vector: a column of Rz, their rates; element k of the error state;
 * parameter k, which may move spools and quasistatic actuators. */
void bramah__seed(bramah__step_builder *b, bramah__expr at, bramah__expr along);
void bramah__seed_joints(bramah__step_builder *b, const bramah__expr *along, size_t stride);
void bramah__seed_state(bramah__step_builder *b, size_t k);
void bramah__seed_parameter(bramah__step_builder *b, size_t k);

/* The joint forces in a tree without loops, as coordinate k, its rate and acceleration move by `along`: columns of T. Then
 * they move with what is seeded: by column k of T where there are no loops. So do the wrenches of contacts, and touch_change is
 * what these see. */
void bramah__set_force_tangent(bramah__step_builder *b, bramah__expr by_z, bramah__expr by_zd,
                               bramah__expr by_zdd);
void bramah__seed_forces(bramah__step_builder *b, size_t k);

/* The joint forces of contacts alone, tau [n], as all joints move along dz [n] and their rates by 2/h of that, while nothing turns. */
void bramah__vary_held(bramah__step_builder *b, const bramah__expr *dz, bramah__expr *tau);

/* df [count] along the seeds, which are then gone. Quasistatic actuators follow their loads. */
void bramah__derive_along(bramah__step_builder *b, size_t count, const bramah__expr *f, bramah__expr *df);

/* A column of a matrix with rows of length ld. */
void bramah__put_column(size_t count, const bramah__expr *column, bramah__expr *out, size_t ld);

/* Factors of A [count x count] in an order that is good at the typical state; `what` is named where it is singular. */
bramah_status bramah__factor_block(bramah__step_builder *b, size_t count, const bramah__expr *A,
                                   const double *scale, const char *what, bramah__elimination *out);

/* ---- parts ---- */

/* A part on top of another one (of those that a program numbers); then its results. */
void bramah__begin_part(bramah__step_builder *b, int parent);
void bramah__give(bramah__step_builder *b, size_t count, const bramah__expr *x, size_t stride);

#endif
