/* SPDX-License-Identifier: MIT */
#include "lib/plant/residual_derivative.h"
#include "lib/hydraulics/metering.h"
#include "lib/math/dense.h"
#include "lib/multibody/stiffness.h"

#include <string.h>

void bramah__linear_layout(const bramah_model *model, bramah__arena *arena, bramah__linear *linear)
{
  const size_t n = model->n, nc = model->circuit.n_cylinders, np = model->circuit.n_volumes;
  linear->F_s = BRAMAH__TAKE(arena, double, nc);
  linear->F_v = BRAMAH__TAKE(arena, double, nc);
  linear->K = BRAMAH__TAKE(arena, double, n *n);
  linear->C = BRAMAH__TAKE(arena, double, n *n);
  linear->M = BRAMAH__TAKE(arena, double, n *n);
  linear->v_z = BRAMAH__TAKE(arena, double, nc *n);
  linear->D = BRAMAH__TAKE(arena, double, n *n);
  linear->E = BRAMAH__TAKE(arena, double, n *n);
  linear->v_zi = BRAMAH__TAKE(arena, double, nc *n);
  linear->pd = BRAMAH__TAKE(arena, double, np);
  linear->pd_p = BRAMAH__TAKE(arena, double, np *np);
  linear->pd_s = BRAMAH__TAKE(arena, double, np *nc);
  linear->pd_v = BRAMAH__TAKE(arena, double, np *nc);
  linear->moving = BRAMAH__TAKE(arena, bramah__moving, n);
  linear->sweep = BRAMAH__TAKE(arena, bramah__sweep, n);
  linear->variation.pi = BRAMAH__TAKE(arena, double, 6 * n);
  linear->variation.pid = BRAMAH__TAKE(arena, double, 6 * n);
  linear->variation.pidd = BRAMAH__TAKE(arena, double, 6 * n);
  linear->row = BRAMAH__TAKE(arena, double, n);
  linear->rate_row = BRAMAH__TAKE(arena, double, n);
  linear->dz = BRAMAH__TAKE(arena, double, n);
  linear->dzd = BRAMAH__TAKE(arena, double, n);
  linear->dzdd = BRAMAH__TAKE(arena, double, n);
  linear->dtau = BRAMAH__TAKE(arena, double, n);
  linear->Y = BRAMAH__TAKE(arena, double, 6 * n);
  linear->mu = BRAMAH__TAKE(arena, double, model->m);
  linear->used = BRAMAH__TAKE(arena, unsigned char, model->m);
  linear->circuit = BRAMAH__TAKE(arena, double, BRAMAH__CIRCUIT_SCRATCH *np);
}

/* How stroke velocities change with positions at held rates. */
static void stroke_rate_rows(const bramah_model *model, const bramah__eval *eval, bramah__linear *linear)
{
  for (size_t i = 0; i < model->circuit.n_cylinders; i++)
    bramah__line_rate_derivative(&model->tree, &model->line[i], eval->pose, eval->Z,
                                 linear->v_z + i * model->n);
}

double bramah__metered_by_velocity(const bramah_model *model, const bramah__linear *linear, size_t i,
                                   size_t k)
{
  const bramah__circuit *circuit = &model->circuit;
  return bramah__drag_per_rate(circuit, i) *
         linear->pd_v[circuit->metered_port[i].volume * circuit->n_cylinders +
                      circuit->metered_port[k].cylinder];
}

void bramah__metered_by_pressure(const bramah_model *model, const bramah__linear *linear, size_t i,
                                 double factor, double *by_p)
{
  const bramah__circuit *circuit = &model->circuit;
  const double *row = linear->pd_p + circuit->metered_port[i].volume * circuit->n_volumes;
  const double per_rate = factor * bramah__drag_per_rate(circuit, i);
  for (size_t j = circuit->n_volumes - circuit->n_metered; j < circuit->n_volumes; j++)
    by_p[j] += per_rate * row[j];
}

/* K, C of the drags of quasistatic actuators, which see the stroke velocities of all on their line. */
static void add_drags(const bramah_model *model, const bramah__eval *eval, bramah__linear *linear)
{
  const size_t n = model->n;
  const bramah__metered_port *port = model->circuit.metered_port;
  for (size_t i = 0; i < model->circuit.n_metered; i++)
    for (size_t k = 0; k < model->circuit.n_metered; k++) {
      const double slope = bramah__metered_by_velocity(model, linear, i, k);
      const double *row = eval->row + port[i].cylinder * n, *moved = eval->row + port[k].cylinder * n,
                   *turned = linear->v_z + port[k].cylinder * n;
      for (size_t a = 0; a < n && slope != 0.0; a++)
        for (size_t b = 0; b < n; b++) {
          linear->K[a * n + b] -= slope * row[a] * turned[b];
          linear->C[a * n + b] -= slope * row[a] * moved[b];
        }
    }
}

void bramah__linear_open(const bramah_model *model, const bramah__eval *eval, bramah__linear *linear)
{
  const bramah__tree *tree = &model->tree;
  const size_t n = model->n;
  bramah__tree_moving(tree, eval->pose, eval->Z, eval->Zd, linear->moving);
  bramah__tree_tangent(tree, eval->pose, linear->moving, eval->Z, eval->W, linear->K, linear->C, linear->M);
  bramah__forces_add_tangent(tree, &model->forces, eval->pose, eval->Z, linear->row, linear->rate_row,
                             linear->K, linear->C);
  stroke_rate_rows(model, eval, linear);
  for (size_t i = 0; i < model->circuit.n_cylinders; i++)
    bramah__line_add_tangent(tree, &model->line[i], eval->pose, eval->force[i], linear->F_s[i],
                             linear->F_v[i], eval->row + i * n, linear->v_z + i * n, linear->K, linear->C);
  if (model->circuit.n_metered) add_drags(model, eval, linear);
}

/* Multipliers of the constraints in use: Phi_z^d' mu = -g_d. */
static void multipliers(const bramah_model *model, const bramah__state *state, bramah__eval *eval, double *mu,
                        unsigned char *used)
{
  const size_t n = model->n, nd = model->n_dependent;
  for (size_t k = 0; k < nd; k++) {
    const size_t j = (size_t)state->index[k];
    double g = eval->tau[j];
    for (size_t c = 0; c < model->circuit.n_cylinders; c++) g -= eval->row[c * n + j] * eval->force[c];
    eval->column[k] = -g;
  }
  bramah__lu_solve_transposed(nd, eval->LU, eval->pivot, eval->column);
  for (size_t k = 0; k < model->m; k++) mu[k] = 0.0, used[k] = 0;
  for (size_t k = 0; k < nd; k++) mu[state->row[k]] = eval->column[k], used[state->row[k]] = 1;
}

/* Dependent entries of column f of out [n x nf] = -factor (Phi_z^d)^-1 (change of Phi'' under dz, dz' in
 * linear). */
static void dependent_column(const bramah_model *model, const bramah__state *state, bramah__eval *eval,
                             bramah__linear *linear, double factor, size_t f, double *out)
{
  const size_t nd = model->n_dependent, nf = model->n_independent;
  bramah__vary_tree(&model->tree, eval->pose, linear->moving, linear->dz, linear->dzd, linear->dzdd,
                    &linear->variation);
  bramah__vary_closure(model->n_loops, model->loop, eval->pose, eval->Z, eval->Zd, &linear->variation,
                       linear->used, eval->gamma);
  for (size_t i = 0; i < model->n_motions; i++) eval->gamma[model->motion[i].row] = 0.0; /* z_j is given */
  for (size_t k = 0; k < nd; k++) eval->column[k] = -factor * eval->gamma[state->row[k]];
  bramah__lu_solve(nd, eval->LU, eval->pivot, eval->column);
  for (size_t k = 0; k < nd; k++) out[(size_t)state->index[k] * nf + f] = eval->column[k];
}

/* D from the acceleration that a change of rates alone makes, 2 Phi_z' Rz; then E. */
static void follow_constraints(const bramah_model *model, const bramah__state *state, bramah__eval *eval,
                               bramah__linear *linear)
{
  const size_t n = model->n, nf = model->n_independent;
  memset(linear->D, 0, n * nf * sizeof(double));
  memset(linear->E, 0, n * nf * sizeof(double));
  memset(linear->dzdd, 0, n * sizeof(double));
  for (size_t f = 0; f < nf; f++) {
    memset(linear->dz, 0, n * sizeof(double));
    for (size_t j = 0; j < n; j++) linear->dzd[j] = eval->Rz[j * nf + f];
    dependent_column(model, state, eval, linear, 0.5, f, linear->D);
    for (size_t j = 0; j < n; j++) {
      linear->dz[j] = eval->Rz[j * nf + f];
      linear->dzd[j] = linear->D[j * nf + f];
    }
    dependent_column(model, state, eval, linear, 1.0, f, linear->E);
  }
}

static void reduce_velocities(const bramah_model *model, const bramah__eval *eval, bramah__linear *linear)
{
  const size_t n = model->n, nf = model->n_independent;
  for (size_t c = 0; c < model->circuit.n_cylinders; c++)
    for (size_t f = 0; f < nf; f++) {
      double sum = 0.0;
      for (size_t j = 0; j < n; j++)
        sum += linear->v_z[c * n + j] * eval->Rz[j * nf + f] + eval->row[c * n + j] * linear->D[j * nf + f];
      linear->v_zi[c * nf + f] = sum;
    }
}

/* K, C: what is left beside the inertia: springs and loads, and the constraint forces. */
static void other_stiffness(const bramah_model *model, const bramah__state *state, bramah__eval *eval,
                            bramah__linear *linear)
{
  const size_t nn = model->n * model->n;
  memset(linear->K, 0, nn * sizeof(double));
  memset(linear->C, 0, nn * sizeof(double));
  bramah__forces_add_tangent(&model->tree, &model->forces, eval->pose, eval->Z, linear->row, linear->rate_row,
                             linear->K, linear->C);
  multipliers(model, state, eval, linear->mu, linear->used);
  bramah__closure_add_stiffness(&model->tree, model->n_loops, model->loop, eval->pose, linear->mu, linear->K);
}

void bramah__linear_reduce(const bramah_model *model, const bramah__state *state, bramah__eval *eval,
                           bramah__linear *linear)
{
  if (eval->Rz_is_identity) {
    bramah__linear_open(model, eval, linear);
    memset(linear->D, 0, model->n * model->n * sizeof(double));
    memset(linear->E, 0, model->n * model->n * sizeof(double));
    memcpy(linear->v_zi, linear->v_z, model->circuit.n_cylinders * model->n * sizeof(double));
    return;
  }
  bramah__tree_moving(&model->tree, eval->pose, eval->Z, eval->Zd, linear->moving);
  other_stiffness(model, state, eval, linear);
  stroke_rate_rows(model, eval, linear);
  follow_constraints(model, state, eval, linear);
  reduce_velocities(model, eval, linear);
}

/* The motion of all joints as an independent one moves by c0, c1, c2. */
static void direction(const bramah_model *model, const bramah__eval *eval, bramah__linear *linear, size_t f,
                      double c0, double c1, double c2)
{
  const size_t nf = model->n_independent;
  for (size_t j = 0; j < model->n; j++) {
    const double Rz = eval->Rz[j * nf + f], D = linear->D[j * nf + f];
    linear->dz[j] = c0 * Rz;
    linear->dzd[j] = c0 * D + c1 * Rz;
    linear->dzdd[j] = c0 * linear->E[j * nf + f] + 2.0 * c1 * D + c2 * Rz;
  }
  bramah__vary_tree(&model->tree, eval->pose, linear->moving, linear->dz, linear->dzd, linear->dzdd,
                    &linear->variation);
}

static void add_matrices(const bramah_model *model, bramah__linear *linear)
{
  const size_t n = model->n;
  const int damped = model->forces.n_springs + model->forces.n_joint_springs > 0;
  for (size_t j = 0; j < n; j++) {
    double sum = 0.0;
    for (size_t k = 0; k < n; k++) sum += linear->K[j * n + k] * linear->dz[k];
    for (size_t k = 0; damped && k < n; k++) sum += linear->C[j * n + k] * linear->dzd[k];
    linear->dtau[j] += sum;
  }
}

/* A cylinder's force changes, and so does its direction: the second derivatives of its length are symmetric,
 * so that what bramah__line_rate_derivative gives for the velocities pi is the change of its row. */
static void subtract_cylinders(const bramah_model *model, const bramah__eval *eval, bramah__linear *linear,
                               int displaced)
{
  const size_t n = model->n;
  for (size_t c = 0; c < model->circuit.n_cylinders; c++) {
    const double *row = eval->row + c * n, *v_z = linear->v_z + c * n;
    double stroke = 0.0, velocity = 0.0;
    for (size_t j = 0; j < n; j++) {
      stroke += row[j] * linear->dz[j];
      velocity += row[j] * linear->dzd[j] + v_z[j] * linear->dz[j];
    }
    const double change = linear->F_s[c] * stroke + linear->F_v[c] * velocity;
    for (size_t j = 0; j < n; j++) linear->dtau[j] -= row[j] * change;
    if (!displaced) continue;
    bramah__line_rate_derivative(&model->tree, &model->line[c], eval->pose, linear->variation.pi,
                                 linear->rate_row);
    for (size_t j = 0; j < n; j++) linear->dtau[j] -= linear->rate_row[j] * eval->force[c];
  }
}

/* The same of the drags of quasistatic actuators. */
static void subtract_drags(const bramah_model *model, const bramah__eval *eval, bramah__linear *linear)
{
  const size_t n = model->n;
  const bramah__metered_port *port = model->circuit.metered_port;
  for (size_t k = 0; k < model->circuit.n_metered; k++) {
    const double *moved = eval->row + port[k].cylinder * n, *turned = linear->v_z + port[k].cylinder * n;
    double velocity = 0.0;
    for (size_t j = 0; j < n; j++) velocity += moved[j] * linear->dzd[j] + turned[j] * linear->dz[j];
    for (size_t i = 0; i < model->circuit.n_metered; i++) {
      const double change = velocity * bramah__metered_by_velocity(model, linear, i, k);
      for (size_t j = 0; j < n; j++) linear->dtau[j] -= eval->row[port[i].cylinder * n + j] * change;
    }
  }
}

static void open_column(const bramah_model *model, const bramah__linear *linear, size_t f, double c0,
                        double c1, double c2, double *column, size_t stride)
{
  const size_t n = model->n;
  for (size_t j = 0; j < n; j++)
    column[j * stride] = c0 * linear->K[j * n + f] + c1 * linear->C[j * n + f] + c2 * linear->M[j * n + f];
}

void bramah__linear_column(const bramah_model *model, const bramah__eval *eval, bramah__linear *linear,
                           size_t f, double c0, double c1, double c2, double *column, size_t stride)
{
  const size_t n = model->n, nf = model->n_independent;
  if (eval->Rz_is_identity) {
    open_column(model, linear, f, c0, c1, c2, column, stride);
    return;
  }
  direction(model, eval, linear, f, c0, c1, c2);
  bramah__vary_force(&model->tree, eval->pose, linear->moving, eval->Z, eval->W, linear->dz,
                     &linear->variation, linear->Y, linear->dtau);
  add_matrices(model, linear);
  subtract_cylinders(model, eval, linear, c0 != 0.0);
  if (model->circuit.n_metered) subtract_drags(model, eval, linear);
  for (size_t g = 0; g < nf; g++) {
    double sum = 0.0;
    for (size_t j = 0; j < n; j++) sum += eval->Rz[j * nf + g] * linear->dtau[j];
    column[g * stride] = sum;
  }
}

void bramah__linear_circuit(const bramah_model *model, const double *p, const double *U,
                            const bramah__eval *eval, bramah__linear *linear)
{
  bramah__fluid_derivatives(&model->circuit, p, eval->s, eval->v, U, linear->circuit, linear->pd,
                            linear->pd_p, linear->pd_s, linear->pd_v, NULL, NULL);
  if (model->circuit.n_metered)
    bramah__metered_derivatives(&model->circuit, p, eval->v, U, eval->w, eval->P, linear->pd, linear->pd_p,
                                linear->pd_v, NULL);
}
