/* SPDX-License-Identifier: MIT */
#include "lib/plant/step_graph.h"
#include "lib/base/diag.h"
#include "lib/graph/solve.h"
#include "lib/hydraulics/circuit_graph.h"
#include "lib/multibody/rotation.h"
#include "lib/multibody/tree_graph.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- what is being built ---- */

/* Expressions of a machine; matrices row-major. */
#define EXPRESSIONS(X)                                                                                       \
  X(supply, model->circuit.n_supplies)                                                                       \
  X(valve_coefficient, model->circuit.n_valves)                                                              \
  X(element_value, model->circuit.n_elements *BRAMAH__ELEMENT_VALUES)                                        \
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
  X(flow, np)                                                                                                \
  X(compliance, np)                                                                                          \
  X(rates, np)                                                                                               \
  X(r, nr)       /* out of balance; behind it the forces of the drives that prescribe motions */             \
  X(f, nx)       /* residual of the step: r; pd by the trapezoidal rule less rates */                        \
  X(f_state, nx) /* the same with load pressures as a state has them */                                      \
  X(J, nx *nx)                                                                                               \
  X(mass, nf *nf)  /* dr/dz'' */                                                                             \
  X(r_v, nf *nf)   /* dr/dz' */                                                                              \
  X(T, n *(n + 4)) /* of the joint forces */                                                                 \
  X(pd_v, np *nf)  /* d rates/dz' */                                                                         \
  X(rhs, (nx + nq) * (ne + nx) + nd * (2 * n + 1))                                                           \
  X(column, nx + n + nq)                                                                                     \
  X(load, nw) /* of quasistatic actuators */                                                                 \
  X(load_along, nw)                                                                                          \
  X(w_along, nw) /* what a seed moves of their velocities at held loads */                                   \
  X(drawn, nw)                                                                                               \
  X(x_end, nq)                                                                                               \
  X(xd_end, nq)                                                                                              \
  X(at, n + n + nf + nf + np + np + ns + nw + nq) /* seeds of a derivative */                                \
  X(along, n + n + nf + nf + np + np + ns + nw + nq)                                                         \
  X(work_force, n_works)                                                                                     \
  X(work_path, n_works)                                                                                      \
  X(output, model->n_outputs)                                                                                \
  X(slope, model->n_outputs)                                                                                 \
  X(shown, model->n_outputs *bramah__reading_width(b->out))                                                  \
  X(result, n_results + n_par * (ne + nx) + model->n_outputs * bramah__reading_width(b->out))

#define INPUT_MEMBER(name, rate, count) bramah__expr *in_##name;
#define MEMBER(name, count) bramah__expr *name;

typedef struct builder {
  const bramah_model *model;
  const bramah__state *usual; /* a typical one */
  bramah__graph *graph;
  bramah_program *out;
  bramah_diag *diag;
  bramah__expr *all;
  BRAMAH__STEP_INPUTS(INPUT_MEMBER)
  EXPRESSIONS(MEMBER)
  bramah__expr oil_bulk_modulus, c1, c2; /* 2/h, its square */
  bramah__vec gravity;
  bramah__link_graph link[BRAMAH__MOST_BODIES];
  bramah__body_graph body[BRAMAH__MOST_BODIES];
  bramah__elimination loops, tangent, inertia;
  double *typical, *value; /* of inputs, of nodes */
  size_t n_seeds;
  bramah__part *part; /* as many as the program numbers; their results lie one behind the other in `result` */
  size_t n_parts, n_results;
} builder;

/* Numbers of everything, by their short names. */
#define SIZES(p)                                                                                             \
  const size_t n = (p)->n, nd = (p)->nd, nf = (p)->nf, np = (p)->np, nx = (p)->nx, ne = (p)->ne,             \
               ns = (p)->ns, nc = (p)->nc, nw = (p)->nw, nm = (p)->nm, nr = nf + nm, nq = (p)->nq,           \
               nb = (p)->nb, n_par = (p)->n_par, n_works = (p)->n_works;                                     \
  (void)n, (void)nd, (void)nf, (void)np, (void)nx, (void)ne, (void)ns, (void)nc, (void)nw, (void)nm,         \
      (void)nr, (void)nq, (void)nb, (void)n_par, (void)n_works

#define COUNT_RESULT(name, count) +(count)
static int take_expressions(builder *b)
{
  const bramah_model *model = b->model;
  SIZES(b->out);
  const size_t n_results = 0 BRAMAH__STEP_RESULTS(COUNT_RESULT);
  size_t total = 0;
#define COUNT_INPUT(name, rate, count) total += (count);
#define COUNT(name, count) total += (count);
  BRAMAH__STEP_INPUTS(COUNT_INPUT)
  EXPRESSIONS(COUNT)
  bramah__expr *next = b->all = calloc(total + 1, sizeof *b->all);
  if (!next) return 0;
#define CUT_INPUT(name, rate, count) b->in_##name = next, next += (count);
#define CUT(name, count) b->name = next, next += (count);
  BRAMAH__STEP_INPUTS(CUT_INPUT)
  EXPRESSIONS(CUT)
  size_t number = 0;
#define MAKE_INPUT(name, rate, count)                                                                        \
  b->out->in.name = number;                                                                                  \
  for (size_t i = 0; i < (count); i++, number++)                                                             \
    b->in_##name[i] = bramah__graph_input(b->graph, BRAMAH__RATE_##rate);
  BRAMAH__STEP_INPUTS(MAKE_INPUT)
  b->typical = calloc(number + 1, sizeof *b->typical);
  b->part = calloc(BRAMAH__PART_PARAMETERS + 2 * n_par + model->n_outputs, sizeof *b->part);
  return b->typical && b->part;
}

/* ---- derivatives ---- */

static void seed(builder *b, bramah__expr at, bramah__expr along)
{
  b->at[b->n_seeds] = at;
  b->along[b->n_seeds++] = along;
}

/* All joints move along a vector: a column of Rz, their rates. */
static void seed_joints(builder *b, const bramah__expr *along, size_t stride)
{
  for (size_t j = 0; j < b->out->n; j++) seed(b, b->in_z[j], along[j * stride]);
}

/* Element k of the error state moves. */
static void seed_state(builder *b, size_t k)
{
  const size_t nf = b->out->nf;
  if (k < nf)
    seed_joints(b, b->Rz + k, nf + b->out->nm);
  else
    seed(b, k < 2 * nf ? b->in_zd[k - nf] : b->in_p[k - 2 * nf], e_number(1.0));
}

/* The joint forces in a tree without loops, as coordinate k, its rate and acceleration move by `along`: columns of T. */
static void set_force_tangent(builder *b, bramah__expr by_z, bramah__expr by_zd, bramah__expr by_zdd)
{
  const bramah__expr along[3] = {by_z, by_zd, by_zdd};
  if (b->out->nd == 0) bramah__tree_graph_tangent(&b->model->tree, b->body, along, b->T);
}

/* The joint forces move with what is seeded: by column k of T where there are no loops. */
static void seed_forces(builder *b, size_t k)
{
  const size_t n = b->out->n;
  bramah__expr *dz = b->T, *dzd = dz + n, *dzdd = dzd + n, *dtau = dzdd + n;
  if (b->out->nd > 0) {
    bramah__derive(b->graph, b->n_seeds, b->at, b->along, n, b->in_z, dz);
    bramah__derive(b->graph, b->n_seeds, b->at, b->along, n, b->q_d, dzd);
    bramah__derive(b->graph, b->n_seeds, b->at, b->along, n, b->q_dd, dzdd);
    bramah__tree_graph_vary(&b->model->tree, b->body, dz, dzd, dzdd, dtau);
  }
  for (size_t j = 0; j < n; j++)
    seed(b, b->tau[j], b->out->nd > 0 ? dtau[j] : b->T[j * n + (size_t)b->out->index[k]]);
}

/* df [count] along the seeds, which are then gone. Quasistatic actuators follow their loads. */
static void derive(builder *b, size_t count, const bramah__expr *f, bramah__expr *df)
{
  const size_t nw = b->out->nw;
  if (nw) bramah__derive(b->graph, b->n_seeds, b->at, b->along, nw, b->load, b->load_along);
  for (size_t i = 0; i < nw; i++) {
    const bramah__expr follows = e_sum_products(nw, b->in_w_load + i * nw, 1, b->load_along, 1);
    seed(b, b->in_w[i], e_add(b->w_along[i], follows));
    b->w_along[i] = e_number(0.0);
  }
  bramah__derive(b->graph, b->n_seeds, b->at, b->along, count, f, df);
  b->n_seeds = 0;
}

/* A column of a matrix with rows of length ld. */
static void put_column(size_t count, const bramah__expr *column, bramah__expr *out, size_t ld)
{
  for (size_t r = 0; r < count; r++) out[r * ld] = column[r];
}

/* Values of all nodes at the typical state. */
static void evaluate(builder *b)
{
  double *value = realloc(b->value, (bramah__graph_size(b->graph) + 1) * sizeof *value);
  if (!value) {
    bramah__graph_fail(b->graph);
    return;
  }
  b->value = value;
  if (!bramah__graph_failed(b->graph)) bramah__graph_evaluate(b->graph, b->typical, value);
}

/* Factors of A [count x count] in an order that is good at the typical state. */
static bramah_status eliminate(builder *b, size_t count, const bramah__expr *A, const double *scale,
                               const char *what, bramah__elimination *out)
{
  double *number = calloc(count * count + count + 1, sizeof *number), *ones = number + count * count;
  if (!number) return BRAMAH_E_MEMORY;
  evaluate(b);
  for (size_t i = 0; i < count * count && !bramah__graph_failed(b->graph); i++)
    number[i] = e_is_number(A[i]) ? A[i].value : b->value[A[i].node];
  for (size_t k = 0; k < count; k++) ones[k] = scale ? scale[k] : 1.0;
  const int fine = bramah__eliminate_graph(count, A, number, ones, out);
  free(number);
  if (bramah__graph_failed(b->graph)) return BRAMAH_E_MEMORY;
  if (fine) return BRAMAH_OK;
  return bramah__fail(b->diag, BRAMAH_E_SINGULAR, what,
                      "this is singular at the typical state of the machine");
}

/* ---- parameters in place of numbers ---- */

static void apply_parameter(builder *b, const bramah__parameter *p, bramah__expr value)
{
  switch (p->code) {
  case BRAMAH__JOINT_LOAD:
    b->joint_load[p->index] = value;
    break;
  case BRAMAH__CYLINDER_LOAD:
    b->cylinder_load[p->index] = value;
    break;
  case BRAMAH__PAYLOAD:
    if (p->index < b->out->n) bramah__link_graph_load(&b->link[p->index], value, p->point);
    break;
  case BRAMAH__SUPPLY_PRESSURE:
    b->supply[p->index] = value;
    break;
  case BRAMAH__FRICTION_SCALE:
    b->friction_scale[p->index] = value;
    break;
  case BRAMAH__BULK_MODULUS:
    b->oil_bulk_modulus = value;
    break;
  case BRAMAH__ELEMENT_VALUE:
    b->element_value[p->index * BRAMAH__ELEMENT_VALUES + p->value] = value;
    break;
  case BRAMAH__VALVE_COEFFICIENT:
    b->valve_coefficient[p->index] = value;
    break;
  case BRAMAH__GRAVITY_SCALE:
    b->gravity = v_scale(value, b->gravity);
    break;
  case BRAMAH__INPUT_OFFSET: /* these move spools and quasistatic actuators, which are inputs */
  case BRAMAH__LINE_FLOW:
  case BRAMAH__FLOW_SCALE:
    break;
  }
}

static void set_quantities(builder *b)
{
  const bramah_model *model = b->model;
  const bramah__circuit *circuit = &model->circuit;
  b->c1 = e_div(e_number(2.0), b->in_h[0]);
  b->c2 = e_square(b->c1);
  b->gravity = v_number(model->tree.gravity);
  b->oil_bulk_modulus = e_number(circuit->oil_bulk_modulus);
  for (size_t j = 0; j < model->n; j++) b->link[j] = bramah__link_graph_of(&model->tree.link[j]);
  for (size_t i = 0; i < circuit->n_supplies; i++) b->supply[i] = e_number(circuit->supply[i]);
  for (size_t i = 0; i < circuit->n_valves; i++)
    b->valve_coefficient[i] = e_number(circuit->valve[i].coefficient);
  for (size_t i = 0; i < circuit->n_elements * BRAMAH__ELEMENT_VALUES; i++)
    b->element_value[i] =
        e_number(circuit->element[i / BRAMAH__ELEMENT_VALUES].value[i % BRAMAH__ELEMENT_VALUES]);
  for (size_t i = 0; i < circuit->n_cylinders; i++) {
    b->cylinder_load[i] = e_number(circuit->cylinder[i].load);
    b->friction_scale[i] = e_number(circuit->cylinder[i].friction_scale);
  }
  for (size_t i = 0; i < model->n_parameters; i++) apply_parameter(b, &model->parameter[i], b->in_theta[i]);
}

/* What the numbers of pivots are found at: pose and pressures of a state, slow motion, open valves. */
static void set_typical(builder *b)
{
  const bramah_model *model = b->model;
  const bramah__step_inputs *in = &b->out->in;
  SIZES(b->out);
  for (size_t i = 0; i < n_par; i++) b->typical[in->theta + i] = model->parameter[i].info.nominal;
  b->typical[in->h] = model->h;
  for (size_t i = 0; i < nb; i++)
    bramah__quaternion_matrix(b->usual->base + 4 * i, b->typical + in->base + 9 * i);
  if (nq) b->typical[in->half] = 0.5 * model->h;
  for (size_t i = 0; i < ns; i++) {
    b->typical[in->U + i] = 0.3 * model->circuit.valve[i].limit;
    b->typical[in->gate + i] = 1.0;
  }
  for (size_t j = 0; j < n; j++) b->typical[in->z + j] = b->usual->z[j];
  for (size_t i = 0; i < nm; i++) bramah__motion_at(&model->motion[i], 0.0, b->typical + in->motion + 3 * i);
  for (size_t f = 0; f < nf; f++) b->typical[in->zd + f] = 0.01;
  for (size_t i = 0; i < np; i++) b->typical[in->p + i] = b->usual->p[i];
  for (size_t i = 0; i < nw; i++)
    b->typical[in->w_load + i * nw + i] = -0.99 / model->circuit.metered_port[i].damping; /* a light load */
}

/* ---- mechanics ---- */

/* Phi_z, what closes the loops, and Rz: z' = Rz z'_i (D 2.26). */
static bramah_status close_loops(builder *b)
{
  const bramah_model *model = b->model;
  SIZES(b->out);
  const int *dependent = b->out->index, *independent = b->out->index + nd, *row = b->out->row;
  for (size_t f = 0; f < nf; f++) b->Rz[(size_t)independent[f] * nr + f] = e_number(1.0);
  if (nd == 0) return BRAMAH_OK;
  for (size_t i = 0; i < model->n_loops; i++)
    bramah__closure_graph(&model->loop[i], b->body, b->Phi + model->loop[i].row);
  for (size_t i = 0; i < nm; i++)
    b->Phi[model->motion[i].row] = e_sub(b->in_z[model->motion[i].joint], b->in_motion[3 * i]);
  for (size_t k = 0; k < nd; k++) b->Phi_used[k] = b->Phi[row[k]];
  for (size_t j = 0; j < n; j++) {
    seed(b, b->in_z[j], e_number(1.0));
    derive(b, nd, b->Phi_used, b->column);
    put_column(nd, b->column, b->Phi_z + j, n);
  }
  bramah__expr *block = b->rhs, *sides = b->rhs + nd * nd;
  for (size_t k = 0; k < nd; k++) {
    for (size_t l = 0; l < nd; l++) block[k * nd + l] = b->Phi_z[k * n + (size_t)dependent[l]];
    bramah__expr *side = sides + k * (nr + 1);
    for (size_t f = 0; f < nf; f++) side[f] = e_neg(b->Phi_z[k * n + (size_t)independent[f]]);
    for (size_t i = 0; i < nm; i++) side[nf + i] = e_number(model->motion[i].row == (size_t)row[k]);
    side[nr] = e_neg(b->Phi_used[k]);
  }
  const char *what = nm ? model->motion_name[0] : model->loop_name[0];
  const bramah_status status = eliminate(b, nd, block, NULL, what, &b->loops);
  if (status != BRAMAH_OK) return status;
  bramah__back_substitute(&b->loops, nr + 1, sides, sides);
  for (size_t k = 0; k < nd; k++) {
    memcpy(b->Rz + (size_t)dependent[k] * nr, sides + k * (nr + 1), nr * sizeof *sides);
    b->closing[k] = sides[k * (nr + 1) + nr];
  }
  return BRAMAH_OK;
}

/* z' = Rz [z'_i; f'] and z'' = Rz [z''_i; f''] + bias, where bias closes Phi'' = Phi_z z'' + gamma: gamma is the second
 * derivative of the loops' equations along rates that are held. */
static void set_motion(builder *b)
{
  SIZES(b->out);
  for (size_t j = 0; j < n; j++) {
    b->q_d[j] = e_add(e_sum_products(nf, b->Rz + j * nr, 1, b->in_zd, 1),
                      e_sum_products(nm, b->Rz + j * nr + nf, 1, b->in_motion + 1, 3));
    b->q_dd[j] = e_add(e_sum_products(nf, b->Rz + j * nr, 1, b->in_zdd, 1),
                       e_sum_products(nm, b->Rz + j * nr + nf, 1, b->in_motion + 2, 3));
  }
  if (nd > 0) {
    bramah__expr *rate = b->column;
    seed_joints(b, b->in_held, 1);
    derive(b, nd, b->Phi_used, rate);
    seed_joints(b, b->in_held, 1);
    derive(b, nd, rate, b->gamma);
    bramah__substitute(b->graph, n, b->in_held, b->q_d, nd, b->gamma);
    for (size_t k = 0; k < nd; k++) b->gamma[k] = e_neg(b->gamma[k]);
    bramah__back_substitute(&b->loops, 1, b->gamma, b->gamma);
    for (size_t k = 0; k < nd; k++) {
      const size_t j = (size_t)b->out->index[k];
      b->q_dd[j] = e_add(b->q_dd[j], b->gamma[k]);
    }
  }
  bramah__tree_graph_motion(&b->model->tree, b->link, b->gravity, b->q_d, b->q_dd, b->body);
}

/* A length with its rate and, into by [nr], its derivatives along the columns of Rz. */
static bramah__expr measure(builder *b, bramah__expr length, bramah__expr *by)
{
  const size_t nr = b->out->nf + b->out->nm;
  bramah__expr rate;
  for (size_t f = 0; f < nr; f++) {
    seed_joints(b, b->Rz + f, nr);
    derive(b, 1, &length, &by[f]);
  }
  seed_joints(b, b->q_d, 1);
  derive(b, 1, &length, &rate);
  return rate;
}

/* r += by force: a generalised force that acts against the motion. by [nr] */
static void resist(builder *b, const bramah__expr *by, bramah__expr force)
{
  for (size_t f = 0; f < b->out->nf + b->out->nm; f++) b->r[f] = e_add(b->r[f], e_mul(by[f], force));
}

static void add_work(builder *b, size_t *count, size_t sum, bramah__expr force, bramah__expr path)
{
  b->out->work[*count] = sum;
  b->work_force[*count] = force;
  b->work_path[(*count)++] = path;
}

static void add_springs(builder *b, size_t *works)
{
  const bramah__forces *forces = &b->model->forces;
  const size_t nr = b->out->nf + b->out->nm, dampers = b->out->nc + BRAMAH__DAMPERS;
  for (size_t i = 0; i < forces->n_springs; i++) {
    const bramah__spring *spring = &forces->spring[i];
    const bramah__expr s = bramah__line_graph(&b->model->tree, &spring->line, b->in_base, b->in_z, b->body);
    const bramah__expr damper = e_scale(spring->damping, measure(b, s, b->column));
    const bramah__expr stretch = e_sub(s, e_number(spring->free_length));
    resist(b, b->column, e_add(e_scale(spring->stiffness, stretch), damper));
    add_work(b, works, dampers, damper, s);
  }
  for (size_t i = 0; i < forces->n_joint_springs; i++) {
    const bramah__joint_spring *spring = &forces->joint_spring[i];
    const size_t j = spring->joint;
    const bramah__expr damper = e_scale(spring->damping, b->q_d[j]);
    const bramah__expr turn = e_sub(b->in_z[j], e_number(spring->free_position));
    resist(b, b->Rz + j * nr, e_add(e_scale(spring->stiffness, turn), damper));
    add_work(b, works, dampers, damper, b->in_z[j]);
  }
}

static void add_loads(builder *b, size_t *works)
{
  const bramah__forces *forces = &b->model->forces;
  const size_t nr = b->out->nf + b->out->nm, loads = b->out->nc + BRAMAH__LOADS;
  for (size_t i = 0; i < forces->n_loads; i++) {
    const bramah__load *load = &forces->load[i];
    const int axes = load->turns ? load->body : -1;
    if (load->body < 0) continue;
    const bramah__vec place = bramah__point_graph(b->body, load->body, load->point),
                      force = bramah__direction_graph(b->body, axes, load->force),
                      torque = bramah__direction_graph(b->body, axes, load->torque);
    for (size_t f = 0; f < nr; f++) {
      bramah__vec move;
      seed_joints(b, b->Rz + f, nr);
      derive(b, 3, place.x, move.x);
      b->r[f] = e_sub(b->r[f], v_dot(move, force));
      for (int j = load->body; j >= 0; j = b->model->tree.link[j].parent)
        if (b->model->tree.link[j].revolute)
          b->r[f] = e_sub(b->r[f], e_mul(b->Rz[(size_t)j * nr + f], v_dot(b->body[j].n, torque)));
    }
    for (int k = 0; k < 3; k++) add_work(b, works, loads, force.x[k], place.x[k]);
    add_work(b, works, loads | BRAMAH__IS_POWER, v_dot(torque, b->body[load->body].Z.angular), e_number(0.0));
  }
  for (size_t j = 0; j < b->out->n; j++) {
    resist(b, b->Rz + j * nr, e_neg(b->joint_load[j]));
    add_work(b, works, loads, b->joint_load[j], b->in_z[j]);
  }
}

/* What a quasistatic actuator exerts beyond its pressure, 0 of others; and what its equations need. */
static bramah__expr drag_of(builder *b, size_t c)
{
  const bramah__circuit *circuit = &b->model->circuit;
  const size_t i = bramah__metered_of(circuit, c);
  if (i == b->out->nw) return e_number(0.0);
  b->load[i] = bramah__metered_load_graph(circuit, i, b->in_p, b->v[c]);
  b->drawn[i] = e_add(e_mul(b->c1, b->s[c]), b->v[c]);
  return bramah__metered_drag_graph(circuit, i, b->in_w[i], b->v[c]);
}

static void add_actuators(builder *b, size_t *works)
{
  const bramah__circuit *circuit = &b->model->circuit;
  const size_t nr = b->out->nf + b->out->nm, nc = b->out->nc;
  for (size_t c = 0; c < nc; c++) {
    const bramah__cylinder *cylinder = &circuit->cylinder[c];
    b->s[c] = bramah__line_graph(&b->model->tree, &b->model->line[c], b->in_base, b->in_z, b->body);
    b->v[c] = measure(b, b->s[c], b->s_i + c * nr);
    const bramah__expr pressure = e_sub(e_scale(cylinder->piston_area, b->in_p[cylinder->piston]),
                                        e_scale(cylinder->rod_area, b->in_p[cylinder->rod]));
    const size_t first = cylinder->first_state;
    const bramah__expr friction =
        bramah__friction_states(cylinder->friction.kind)
            ? bramah__bristles_graph(&cylinder->friction, b->v[c], b->in_half[0], b->in_x + first,
                                     b->in_xd + first, b->x_end + first, b->xd_end + first)
            : bramah__friction_graph(&cylinder->friction, b->v[c]);
    b->friction[c] = e_mul(b->friction_scale[c], friction);
    b->stop[c] = bramah__stops_graph(cylinder, b->s[c], b->v[c]);
    const bramah__expr own = e_add(e_add(e_sub(pressure, b->friction[c]), b->stop[c]), drag_of(b, c));
    b->force[c] = e_add(own, b->cylinder_load[c]);
    resist(b, b->s_i + c * nr, e_neg(b->force[c]));
    add_work(b, works, c, own, b->s[c]);
    add_work(b, works, nc + BRAMAH__FRICTION, b->friction[c], b->s[c]);
    add_work(b, works, nc + BRAMAH__STOPS, e_neg(b->stop[c]), b->s[c]);
    add_work(b, works, nc + BRAMAH__LOADS, b->cylinder_load[c], b->s[c]);
  }
}

/* Kinetic energy, and with it that in the field of gravity and in springs. */
static void set_energy(builder *b)
{
  const bramah__forces *forces = &b->model->forces;
  bramah__expr kinetic = {0}, potential = {0};
  for (size_t j = 0; j < b->out->n; j++) {
    const bramah__body_graph *body = &b->body[j];
    const bramah__link_graph *link = &b->link[j];
    const bramah__vec centre = v_add(body->r, m_rotate(body->A, link->centre));
    const bramah__vec v = v_add(body->Z.linear, v_cross(body->Z.angular, centre));
    const bramah__vec w = m_unrotate(body->A, body->Z.angular);
    kinetic = e_add(kinetic, e_add(e_mul(link->mass, v_dot(v, v)), v_dot(w, m_rotate(link->inertia, w))));
    potential = e_sub(potential, v_dot(b->gravity, body->mass.mg));
  }
  for (size_t i = 0; i < forces->n_springs + forces->n_joint_springs; i++) {
    const size_t k = i - forces->n_springs; /* of a joint; wraps for what is before */
    const bramah__expr stretch =
        i < forces->n_springs
            ? e_sub(
                  bramah__line_graph(&b->model->tree, &forces->spring[i].line, b->in_base, b->in_z, b->body),
                  e_number(forces->spring[i].free_length))
            : e_sub(b->in_z[forces->joint_spring[k].joint], e_number(forces->joint_spring[k].free_position));
    const double stiffness =
        i < forces->n_springs ? forces->spring[i].stiffness : forces->joint_spring[k].stiffness;
    potential = e_add(potential, e_scale(0.5 * stiffness, e_square(stretch)));
  }
  b->energy[0] = e_scale(0.5, kinetic);
  b->energy[1] = e_add(b->energy[0], potential);
}

/* Out of balance r = Rz' (M z'' - Q) (D 2.29), and the rates of the circuit. */
static void set_residual(builder *b)
{
  const bramah_model *model = b->model;
  SIZES(b->out);
  size_t works = 0;
  bramah__tree_graph_force(&model->tree, b->body, b->tau);
  for (size_t f = 0; f < nr; f++) b->r[f] = e_sum_products(n, b->Rz + f, nr, b->tau, 1);
  add_springs(b, &works);
  add_loads(b, &works);
  add_actuators(b, &works);
  set_energy(b);
  const bramah__circuit_graph circuit = {b->oil_bulk_modulus,
                                         b->supply,
                                         b->valve_coefficient,
                                         (bramah__expr(*)[BRAMAH__ELEMENT_VALUES])(void *)b->element_value,
                                         b->in_p,
                                         b->s,
                                         b->v,
                                         b->in_U,
                                         b->in_w};
  bramah__circuit_graph_rates(&model->circuit, &circuit, b->flow, b->compliance, b->rates);
  memcpy(b->f, b->r, nf * sizeof *b->f);
  for (size_t i = 0; i < np; i++) b->f[nf + i] = e_sub(b->in_pd[i], b->rates[i]);
  memcpy(b->f_state, b->f, nx * sizeof *b->f);

  /* Load pressures take the change of the rod's stroke where its rates were: the trapezoidal rule for the actuator's own
   * stroke, which does not change as long as closed valves hold it, whatever its rod does. */
  for (size_t i = 0; i < nw; i++) {
    const bramah__metered_port *port = &model->circuit.metered_port[i];
    const bramah__expr moved = e_sub(e_mul(b->c1, b->s[port->cylinder]), b->in_drawn[i]);
    const bramah__expr rate = e_scale(bramah__load_stiffness(&model->circuit, i), e_sub(b->in_w[i], moved));
    b->f[nf + port->volume] = e_sub(b->in_pd[port->volume], rate);
  }
}

/* ---- parts ---- */

/* What all parts at a point build on. */
static int point_part(const builder *b) { return b->out->nw ? BRAMAH__PART_SPEEDS : BRAMAH__PART_STEP; }

/* A part on top of another one (of those that a program numbers); then its results. */
static void begin_part(builder *b, int parent)
{
  b->part[b->n_parts++] = (bramah__part){parent - BRAMAH__FIRST_PART, 0, b->result + b->n_results};
}

static void give(builder *b, size_t count, const bramah__expr *x, size_t stride)
{
  for (size_t i = 0; i < count; i++) b->result[b->n_results++] = x[i * stride];
  b->part[b->n_parts - 1].n += count;
}

static void give_pivots(builder *b, const bramah__elimination *e, double **typical)
{
  *typical = calloc(e->n + 1, sizeof **typical);
  for (size_t k = 0; k < e->n; k++) {
    const bramah__expr pivot = e_inv(e->LU[k * e->n + k]);
    give(b, 1, &pivot, 1);
    if (*typical) (*typical)[k] = e->pivot[k];
  }
  if (!*typical) bramah__graph_fail(b->graph);
}

/* The step's tangent: unknowns are changes over the step, z' follows them by 2/h and z'' by 4/h^2. */
static bramah_status set_tangent(builder *b)
{
  const bramah_model *model = b->model;
  SIZES(b->out);
  double *scale = calloc(nx + 1, sizeof *scale);
  if (!scale) return BRAMAH_E_MEMORY;
  set_force_tangent(b, e_number(1.0), b->c1, b->c2);
  for (size_t f = 0; f < nf; f++) {
    seed_joints(b, b->Rz + f, nr);
    seed(b, b->in_zd[f], b->c1);
    seed(b, b->in_zdd[f], b->c2);
    seed_forces(b, f);
    derive(b, nx, b->f, b->column);
    put_column(nx, b->column, b->J + f, nx);
    scale[f] = 1e-3; /* with pressures in steps of 1e6 Pa */
  }
  for (size_t i = 0; i < np; i++) {
    seed(b, b->in_p[i], e_number(1.0));
    seed(b, b->in_pd[i], b->c1);
    derive(b, nx, b->f, b->column);
    put_column(nx, b->column, b->J + nf + i, nx);
    scale[nf + i] = model->first_order_scale[i];
  }
  const bramah_status status = eliminate(b, nx, b->J, scale, "step", &b->tangent);
  free(scale);
  return status;
}

/* Newton's correction of unknowns and dependent coordinates together. The residual does not see in advance what closes
 * the loops, which would cost half as much again and, this being the square of a step's length, saves no iterate. */
static void add_iterate(builder *b)
{
  SIZES(b->out);
  for (size_t r = 0; r < nx; r++) b->column[r] = e_neg(b->f[r]);
  bramah__back_substitute(&b->tangent, 1, b->column, b->column);
  begin_part(b, point_part(b));
  give(b, nx, b->column, 1);
  for (size_t k = 0; k < nd; k++) {
    const bramah__expr *row = b->Rz + (size_t)b->out->index[k] * nr;
    const bramah__expr move = e_add(b->closing[k], e_sum_products(nf, row, 1, b->column, 1));
    give(b, 1, &move, 1);
  }
  give_pivots(b, &b->loops, &b->out->closure_pivot);
  give_pivots(b, &b->tangent, &b->out->pivot);
}

/* The residual at the end by the state at the start: z' and z'' at the end follow it by -(2/h, 1) and -(4/h^2, 4/h,
 * A), pressure rates by -(2/h, A). */
static void add_transition(builder *b)
{
  SIZES(b->out);
  const size_t width = ne + nx;
  const bramah__expr twice = e_scale(2.0, b->c1), zero = e_number(0.0), one = e_number(1.0);
  bramah__expr *X = b->rhs;
  set_force_tangent(b, zero, zero, one);
  for (size_t f = 0; f < nf; f++) {
    seed(b, b->in_zdd[f], one);
    seed_forces(b, f);
    derive(b, nf, b->r, b->column);
    put_column(nf, b->column, b->mass + f, nf);
  }
  set_force_tangent(b, zero, one, zero);
  for (size_t f = 0; f < nf; f++) {
    seed(b, b->in_zd[f], one);
    seed_forces(b, f);
    derive(b, nf, b->r, b->column);
    put_column(nf, b->column, b->r_v + f, nf);
    seed(b, b->in_zd[f], one);
    derive(b, np, b->f + nf, b->column);
    for (size_t i = 0; i < np; i++) b->pd_v[i * nf + f] = e_neg(b->column[i]);
  }
  memset(X, 0, nx * width * sizeof *X);
  for (size_t a = 0; a < nf; a++) {
    bramah__expr *row = X + a * width;
    for (size_t k = 0; k < ne; k++) row[k] = e_sum_products(nf, b->mass + a * nf, 1, b->in_A + k, ne);
    for (size_t g = 0; g < nf; g++) {
      const bramah__expr m = b->mass[a * nf + g], v = b->r_v[a * nf + g], inert = e_mul(b->c1, m);
      row[g] = e_add(row[g], e_mul(b->c1, e_add(v, inert)));
      row[nf + g] = e_add(row[nf + g], e_add(v, e_mul(twice, m)));
      row[ne + g] = inert;
    }
  }
  for (size_t i = 0; i < np; i++) {
    bramah__expr *row = X + (nf + i) * width;
    memcpy(row, b->in_A + (nf + i) * ne, ne * sizeof *row);
    row[2 * nf + i] = e_add(row[2 * nf + i], b->c1);
    for (size_t g = 0; g < nf; g++) {
      row[g] = e_sub(row[g], e_mul(b->c1, b->pd_v[i * nf + g]));
      row[nf + g] = e_sub(row[nf + g], b->pd_v[i * nf + g]);
    }
    row[ne + nf + i] = b->c1;
  }
  for (size_t i = 0; i < nw; i++) {
    bramah__expr *row = X + (nf + b->model->circuit.metered_port[i].volume) * width;
    const double K = bramah__load_stiffness(&b->model->circuit, i);
    for (size_t k = 0; k < 2 * nf; k++) row[k] = e_add(row[k], e_scale(K, b->in_drawn_by[i * 2 * nf + k]));
  }
  for (size_t k = 0; nq && k < 2 * nf; k++) {
    for (size_t q = 0; q < nq; q++) seed(b, b->in_xd[q], b->in_xd_by[q * 2 * nf + k]);
    derive(b, nf, b->r, b->column);
    for (size_t r = 0; r < nf; r++) X[r * width + k] = e_sub(X[r * width + k], b->column[r]);
  }
  bramah__back_substitute(&b->tangent, width, X, X);

  begin_part(b, BRAMAH__PART_ITERATE);
  for (size_t noise = 0; noise < 2; noise++) {
    const size_t first = noise ? ne : 0, count = noise ? nx : ne;
    for (size_t f = 0; f < nf; f++) give(b, count, X + f * width + first, 1);
    for (size_t f = 0; f < nf; f++)
      for (size_t k = 0; k < count; k++) {
        bramah__expr rate = X[f * width + first + k];
        if (!noise && k == f) rate = e_sub(rate, e_number(1.0));
        rate = e_mul(b->c1, rate);
        if (!noise && k == nf + f) rate = e_sub(rate, e_number(1.0));
        give(b, 1, &rate, 1);
      }
    for (size_t i = 0; i < np; i++) give(b, count, X + (nf + i) * width + first, 1);
  }
}

/* What an offset of a command moves are the spools; everything else is a quantity of the equations. */
static void seed_parameter(builder *b, size_t k)
{
  const bramah__parameter *p = &b->model->parameter[k];
  seed(b, b->in_theta[k], e_number(1.0));
  for (size_t i = 0; p->code == BRAMAH__INPUT_OFFSET && i < b->out->ns; i++)
    if (b->model->circuit.valve[i].input == p->index) seed(b, b->in_U[i], b->in_gate[i]);
  for (size_t i = 0; bramah__moves_metered(p) && i < b->out->nw; i++)
    b->w_along[i] = b->in_w_theta[k * b->out->nw + i];
}

static void add_parameter(builder *b, size_t k)
{
  SIZES(b->out);
  bramah__expr *X = b->rhs;
  seed_parameter(b, k);
  derive(b, nx, b->f, X);
  for (size_t r = 0; r < nx; r++) {
    const bramah__expr carried =
        r < nf ? e_sum_products(nf, b->mass + r * nf, 1, b->in_carried, 1) : b->in_carried[r];
    X[r] = e_sub(carried, X[r]);
  }
  bramah__back_substitute(&b->tangent, 1, X, X);
  begin_part(b, BRAMAH__PART_TRANSITION);
  give(b, nf, X, 1);
  for (size_t f = 0; f < nf; f++) {
    const bramah__expr rate = e_mul(b->c1, X[f]);
    give(b, 1, &rate, 1);
  }
  give(b, np, X + nf, 1);

  /* The same of the accelerations and rates at the start. */
  seed_parameter(b, k);
  derive(b, nx, b->f, X);
  for (size_t r = 0; r < nx; r++) X[r] = e_neg(X[r]);
  bramah__substitute(b->graph, nf, b->in_zdd, b->state_zdd, nf, X);
  bramah__back_substitute(&b->inertia, 1, X, X);
  begin_part(b, BRAMAH__PART_RATES);
  give(b, nx, X, 1);
}

static void add_place(builder *b)
{
  begin_part(b, BRAMAH__PART_STEP);
  give(b, b->out->nd, b->closing, 1);
  double *again;
  give_pivots(b, &b->loops, &again);
  free(again);
}

static void add_pose(builder *b)
{
  SIZES(b->out);
  begin_part(b, point_part(b));
  give(b, n, b->q_d, 1);
  for (size_t j = 0; j < n; j++) give(b, nf, b->Rz + j * nr, 1);
  give(b, nc, b->s, 1);
  give(b, nc, b->v, 1);
  give(b, nc, b->force, 1);
  give(b, nc, b->friction, 1);
  give(b, nc, b->stop, 1);
  give(b, nq, b->x_end, 1);
  give(b, nq, b->xd_end, 1);
  give(b, 2, b->energy, 1);
  give(b, n_works, b->work_force, 1);
  give(b, n_works, b->work_path, 1);
  begin_part(b, BRAMAH__PART_POSE);
  give(b, n, b->q_dd, 1);
  give(b, nm, b->r + nf, 1);
}

/* r = M z''_i + r(0): at a state the accelerations are those at which it vanishes. */
static bramah_status add_rates(builder *b)
{
  SIZES(b->out);
  const bramah_status status = eliminate(b, nf, b->mass, NULL, "mass matrix", &b->inertia);
  if (status != BRAMAH_OK) return status;
  memset(b->column, 0, nf * sizeof *b->column);
  memcpy(b->state_zdd, b->r, nf * sizeof *b->r);
  bramah__substitute(b->graph, nf, b->in_zdd, b->column, nf, b->state_zdd);
  for (size_t f = 0; f < nf; f++) b->state_zdd[f] = e_neg(b->state_zdd[f]);
  bramah__back_substitute(&b->inertia, 1, b->state_zdd, b->state_zdd);
  memcpy(b->state_q_dd, b->q_dd, n * sizeof *b->q_dd);
  bramah__substitute(b->graph, nf, b->in_zdd, b->state_zdd, n, b->state_q_dd);
  begin_part(b, BRAMAH__PART_POSE);
  give(b, n, b->state_q_dd, 1);
  give(b, np, b->rates, 1);
  give_pivots(b, &b->inertia, &b->out->mass_pivot);
  bramah__expr *drive = b->column;
  memcpy(drive, b->r + nf, nm * sizeof *drive);
  bramah__substitute(b->graph, nf, b->in_zdd, b->state_zdd, nm, drive);
  give(b, nm, drive, 1);

  /* By the error state: those of f at these accelerations. */
  bramah__expr *X = b->rhs;
  for (size_t k = 0; k < ne; k++) {
    if (k % nf == 0 && k < 2 * nf) set_force_tangent(b, e_number(k == 0), e_number(k > 0), e_number(0.0));
    seed_state(b, k);
    if (k < 2 * nf) seed_forces(b, k % nf);
    derive(b, nx, b->f_state, b->column);
    for (size_t r = 0; r < nx; r++) X[r * ne + k] = e_neg(b->column[r]);
  }
  bramah__substitute(b->graph, nf, b->in_zdd, b->state_zdd, nx * ne, X);
  bramah__back_substitute(&b->inertia, ne, X, X);
  begin_part(b, BRAMAH__PART_RATES);
  give(b, nx * ne, X, 1);
  for (size_t k = 0; nw && k < 2 * nf; k++) {
    seed_state(b, k);
    derive(b, nw, b->drawn, b->column);
    put_column(nw, b->column, X + k, 2 * nf);
  }
  give(b, nw * 2 * nf, X, 1);
  for (size_t k = 0; nq && k < 2 * nf; k++) {
    seed_state(b, k);
    derive(b, nq, b->xd_end, b->column);
    put_column(nq, b->column, X + k, 2 * nf);
  }
  give(b, nq * 2 * nf, X, 1);
  return BRAMAH_OK;
}

/* ---- outputs ---- */

/* A component of what a sensor on a body shows, in the axes of the body (outputs.c). */
static bramah__expr output_of_body(const builder *b, bramah__output_code code, const bramah__body_graph *body)
{
  const bramah__vec w = body->Z.angular;
  const bramah__vec rate = m_unrotate(body->A, w);
  if (code <= BRAMAH__BODY_RATE_Z) return rate.x[code - BRAMAH__BODY_RATE_X];
  if (code >= BRAMAH__BODY_RATE_XX) {
    const size_t *pair = bramah__rate_pair(code);
    return e_mul(rate.x[pair[0]], rate.x[pair[1]]);
  }
  if (code >= BRAMAH__BODY_UP_X) {
    const bramah__expr square = v_dot(b->gravity, b->gravity);
    const bramah__expr scale = e_select(square, e_neg(e_inv(e_sqrt(square))), e_number(0.0));
    return m_unrotate(body->A, v_scale(scale, b->gravity)).x[code - BRAMAH__BODY_UP_X];
  }
  if (code >= BRAMAH__BODY_TURN_X) return m_unrotate(body->A, body->Zd.angular).x[code - BRAMAH__BODY_TURN_X];
  const bramah__vec velocity = v_add(body->Z.linear, v_cross(w, body->r));
  const bramah__vec turning = v_add(v_cross(body->Zd.angular, body->r), v_cross(w, velocity));
  return m_unrotate(body->A, v_add(body->Zd.linear, turning)).x[code - BRAMAH__BODY_FORCE_X];
}

/* Is this output among those below? The angles of spherical joints are shown against other axes than they count from. */
static int has_reading(const bramah_model *model, const bramah__output *output)
{
  const bramah__output_code code = output->code;
  if (code <= BRAMAH__JOINT_ACCELERATION && model->ball_of[output->index]) return 0;
  return bramah__is_of_body(code) || code <= BRAMAH__VOLUME_PRESSURE ||
         (code >= BRAMAH__CYLINDER_STROKE && code <= BRAMAH__CYLINDER_FORCE);
}

/* An output as an expression of positions, rates, accelerations and first-order states. */
static bramah__expr output_of(const builder *b, const bramah__output *output)
{
  const size_t i = output->index;
  if (bramah__is_of_body(output->code)) return output_of_body(b, output->code, &b->body[i]);
  switch (output->code) {
  case BRAMAH__JOINT_POSITION:
    return b->in_z[i];
  case BRAMAH__JOINT_RATE:
    return b->q_d[i];
  case BRAMAH__JOINT_ACCELERATION:
    return b->q_dd[i];
  case BRAMAH__VOLUME_PRESSURE:
    return b->in_p[i];
  case BRAMAH__CYLINDER_STROKE:
    return b->s[i];
  case BRAMAH__CYLINDER_VELOCITY:
    return b->v[i];
  case BRAMAH__CYLINDER_FORCE:
    return e_sub(b->force[i], b->cylinder_load[i]);
  default:
    return e_number(0.0);
  }
}

/* Outputs that have most of their derivatives in common share a part: those of a body, all accelerations. */
static int share_a_part(const bramah__output *a, const bramah__output *b)
{
  if (bramah__is_of_body(a->code)) return bramah__is_of_body(b->code) && a->index == b->index;
  return a == b || (a->code == BRAMAH__JOINT_ACCELERATION && a->code == b->code);
}

/* All outputs with their derivatives by the error state, the independent accelerations, and parameters at given
 * accelerations. */
static void set_readings(builder *b)
{
  SIZES(b->out);
  const size_t n_outputs = b->model->n_outputs, width = bramah__reading_width(b->out);
  for (size_t i = 0; i < n_outputs; i++) b->shown[i * width] = output_of(b, &b->model->output[i]);
  for (size_t i = 0; i < n_outputs; i++) b->output[i] = b->shown[i * width];
  for (size_t k = 0; k < ne + nf + n_par; k++) {
    if (k < ne)
      seed_state(b, k);
    else if (k < ne + nf)
      seed(b, b->in_zdd[k - ne], e_number(1.0));
    else
      seed_parameter(b, k - ne - nf);
    derive(b, n_outputs, b->output, b->slope);
    put_column(n_outputs, b->slope, b->shown + 1 + k, width);
  }
}

static void add_readings(builder *b)
{
  const bramah_model *model = b->model;
  const size_t width = bramah__reading_width(b->out);
  bramah__reading *reading = b->out->reading;
  set_readings(b);
  for (size_t i = 0; i < model->n_outputs; i++) {
    const bramah__output_code code = model->output[i].code;
    if (reading[i].part || !has_reading(model, &model->output[i])) continue;
    const int accelerates = bramah__is_of_body(code) || code == BRAMAH__JOINT_ACCELERATION;
    const size_t part = BRAMAH__FIRST_PART + b->n_parts;
    begin_part(b, accelerates ? BRAMAH__PART_ENDS : BRAMAH__PART_POSE);
    for (size_t k = i; k < model->n_outputs; k++) {
      if (reading[k].part || !has_reading(model, &model->output[k]) ||
          !share_a_part(&model->output[i], &model->output[k]))
        continue;
      reading[k] = (bramah__reading){part, b->part[b->n_parts - 1].n, accelerates};
      give(b, width, b->shown + k * width, 1);
    }
  }
}

/* Beyond that a graph takes longer than most runs. */
enum { MOST_NODES = 200000 };

static bramah_status check_size(const builder *b)
{
  if (bramah__graph_size(b->graph) <= MOST_NODES) return BRAMAH_OK;
  return bramah__fail(b->diag, BRAMAH_E_UNSUPPORTED, b->model->name,
                      "this machine is too large to be compiled");
}

static bramah_status build(builder *b)
{
  bramah_program *out = b->out;
  if (!take_expressions(b)) return BRAMAH_E_MEMORY;
  set_quantities(b);
  set_typical(b);
  bramah__tree_graph_pose(&b->model->tree, b->in_base, b->in_z, b->body);
  bramah_status status = close_loops(b);
  if (status != BRAMAH_OK) return status;
  set_motion(b);
  set_residual(b);
  status = set_tangent(b);
  if (status == BRAMAH_OK) status = check_size(b);
  if (status != BRAMAH_OK) return status;
  begin_part(b, BRAMAH__PART_STEP); /* the speeds */
  give(b, out->nw ? out->nc : 0, b->v, 1);
  add_iterate(b);
  add_transition(b);
  add_place(b);
  add_pose(b);
  status = add_rates(b);
  for (size_t k = 0; k < out->n_par && status == BRAMAH_OK; k++) {
    status = check_size(b);
    add_parameter(b, k);
  }
  if (status != BRAMAH_OK) return status;
  add_readings(b);
  if (!bramah__tape_make(b->graph, b->n_parts, b->part, &out->tape)) return BRAMAH_E_MEMORY;

  out->n_nodes = bramah__graph_size(b->graph);
  SIZES(out);
  const uint16_t *next = out->tape.result;
#define FIND(name, count) out->out.name = next, next += (count);
  BRAMAH__STEP_RESULTS(FIND)
  return BRAMAH_OK;
}

bramah_status bramah__step_graph_build(const bramah__state *at, bramah_program *program, bramah_diag *diag)
{
  builder *b = calloc(1, sizeof *b);
  bramah_status status = BRAMAH_E_MEMORY;
  if (!b) return status;
  *b = (builder){
      .model = program->model, .usual = at, .graph = bramah__graph_new(), .out = program, .diag = diag};
  if (b->graph) status = build(b);
  bramah__graph_free(b->graph);
  bramah__elimination_free(&b->loops);
  bramah__elimination_free(&b->tangent);
  bramah__elimination_free(&b->inertia);
  free(b->all);
  free(b->typical);
  free(b->value);
  free(b->part);
  free(b);
  return status;
}
