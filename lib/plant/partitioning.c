/* SPDX-License-Identifier: MIT */
/* Coordinate partitioning (double-step): the independent coordinates are the unknowns, the others follow from
 * the loops, which are closed to machine precision at every iterate. Source: dissertation 2.26-2.29. */
#include "lib/plant/formulation.h"

static size_t n_mechanical(const bramah_model *model) { return model->n_independent; }

static size_t joint(const bramah_coupled *c, size_t k)
{
  return (size_t)c->state.index[c->model->n_dependent + k];
}

static void follow(const bramah_model *model, const bramah__eval *eval, const double *correction,
                   bramah__state *next)
{
  const size_t nf = model->n_independent;
  for (size_t k = 0; k < model->n_dependent; k++) {
    const size_t j = (size_t)next->index[k];
    for (size_t f = 0; f < nf; f++) next->z[j] += eval->Rz[j * nf + f] * correction[f];
  }
}

static const double *arm(const bramah_model *model, const bramah__eval *eval, size_t i)
{
  return eval->row_i + i * model->n_independent;
}

static void tangent(bramah_coupled *c, double c1, double c2, double *J, size_t nx)
{
  bramah__linear_reduce(c->model, &c->next, c->trial, &c->linear);
  for (size_t f = 0; f < c->model->n_independent; f++)
    bramah__linear_column(c->model, c->trial, &c->linear, f, 1.0, c1, c2, J + f, nx);
}

static const double *rate_arm(const bramah_coupled *c, size_t i)
{
  return c->linear.v_zi + i * c->model->n_independent;
}

const bramah__formulation bramah__partitioning = {.n_mechanical = n_mechanical,
                                                  .joint = joint,
                                                  .follow = follow,
                                                  .place = bramah__close_position,
                                                  .complete_rates = bramah__dependent_rates,
                                                  .accelerations = bramah__expand_acceleration,
                                                  .imbalance = bramah__imbalance,
                                                  .arm = arm,
                                                  .tangent = tangent,
                                                  .rate_arm = rate_arm};
