/* SPDX-License-Identifier: MIT */
#include "lib/plant/definitions.h"
#include "lib/math/vector3.h"

#include <math.h>
#include <string.h>

/* Without a slope where it is zero, as in a graph, where that is infinity times nothing. */
static bramah__expr length(bramah__expr a, bramah__expr b, bramah__expr c)
{
  bramah__expr x = e_sqrt(e_add(e_add(e_square(a), e_square(b)), e_square(c)));
  if (e_is_number(x) && x.value == 0.0) x.slope = (double)NAN;
  return x;
}

bramah__expr bramah__shape_sums(bramah__sums_shape shape, const bramah__expr *q)
{
  switch (shape) {
  case BRAMAH__SUMS_LENGTH:
    return length(q[0], q[1], q[2]);
  case BRAMAH__SUMS_ANGLE:
    return e_atan2(q[0], q[1]);
  case BRAMAH__SUMS_ELEVATION:
    return e_atan2(q[0], length(q[1], q[2], e_number(0.0)));
  default:
    return q[0];
  }
}

/* What a clutch turns into heat. (Only summed: no derivatives are asked for.) */
static double taken_by_clutch(const bramah_model *model, const bramah__eval *eval, size_t i)
{
  bramah__contact_frame at;
  bramah__contact_frame_of(&model->contact_point[i], eval->gear + BRAMAH__MOST_SHAFT_JOINTS * i, eval->pose,
                           eval->Z, &at);
  return -eval->contact[3 * i] * at.w[0];
}

static double factor_value(const bramah_model *model, const bramah__state *state, const bramah__eval *eval,
                           const bramah__factor *factor)
{
  const bramah__circuit *circuit = &model->circuit;
  double x[3];
  switch (factor->kind) {
  case BRAMAH__FACTOR_PLACE:
    bramah__point(eval->pose, (int)factor->index, factor->local, x);
    return x[factor->axis];
  case BRAMAH__FACTOR_DIRECTION:
    bramah__direction(eval->pose, (int)factor->index, factor->local, x);
    return x[factor->axis];
  case BRAMAH__FACTOR_FIRST_ORDER:
    return state->p[factor->index];
  case BRAMAH__FACTOR_SUPPLY:
    return circuit->supply[factor->index];
  case BRAMAH__FACTOR_FLOW:
    return bramah__flow_at(circuit, factor->index, state->p, eval->v, state->U, NULL, NULL, NULL);
  case BRAMAH__FACTOR_DRAWN:
    return bramah__drawn_flow(circuit, factor->index, state->p, eval->v, state->U, NULL, NULL, NULL);
  case BRAMAH__FACTOR_PARAMETER:
    return state->theta[factor->index];
  case BRAMAH__FACTOR_SHAFT:
    if (model->shaft[factor->index].kind == BRAMAH__CLUTCH)
      return taken_by_clutch(model, eval, model->shaft[factor->index].contact);
    return bramah__shaft_shows(&model->tree, &model->shaft[factor->index], (bramah__shaft_view)factor->axis,
                               eval->pose, eval->Z, state->U, NULL, NULL);
  case BRAMAH__FACTOR_CARRIED:
    return state->tool[BRAMAH__TOOL_STATE * factor->index + BRAMAH__TOOL_MASS];
  default:
    return 1.0;
  }
}

static void sums(const bramah_model *model, const bramah__state *state, const bramah__eval *eval,
                 const bramah__definition *definition, bramah__expr *q)
{
  for (int s = 0; s < 3; s++) q[s] = e_number(0.0);
  for (size_t t = 0; t < definition->n_terms; t++) {
    const bramah__term *term = &definition->term[t];
    q[term->sum].value += term->weight * factor_value(model, state, eval, &term->factor[0]) *
                          factor_value(model, state, eval, &term->factor[1]);
  }
}

double bramah__defined_value(const bramah_model *model, const bramah__state *state, const bramah__eval *eval,
                             const bramah__definition *definition)
{
  bramah__expr q[3];
  sums(model, state, eval, definition, q);
  return bramah__shape_sums(definition->shape, q).value;
}

/* Where derivatives go: by all joint positions and rates [n], by the first-order states and, unless it is NULL, by the
 * spools. */
typedef struct slopes {
  double *by_z, *by_zd, *by_p, *by_U;
} slopes;

/* Those of a factor, added with a weight. */
static void add_slopes_of(const bramah_coupled *c, const bramah__factor *factor, double weight,
                          const slopes *to)
{
  const bramah_model *model = c->model;
  const bramah__circuit *circuit = &model->circuit;
  const bramah__pose *pose = c->now->pose;
  double *by_p = c->probe_state.p, *by_U = c->probe_state.U, *by_v = c->probe_state.work, x[3], move[3];
  switch (factor->kind) {
  case BRAMAH__FACTOR_PLACE:
    bramah__point(pose, (int)factor->index, factor->local, x);
    for (int j = (int)factor->index; j >= 0; j = model->tree.link[j].parent) {
      bramah__point_derivative(&model->tree, pose, (size_t)j, x, move);
      to->by_z[j] += weight * move[factor->axis];
    }
    break;
  case BRAMAH__FACTOR_DIRECTION:
    bramah__direction(pose, (int)factor->index, factor->local, x);
    for (int j = (int)factor->index; j >= 0; j = model->tree.link[j].parent) {
      if (!model->tree.link[j].revolute) continue;
      bramah__cross3(pose[j].n, x, move);
      to->by_z[j] += weight * move[factor->axis];
    }
    break;
  case BRAMAH__FACTOR_FIRST_ORDER:
    to->by_p[factor->index] += weight;
    break;
  case BRAMAH__FACTOR_FLOW:
  case BRAMAH__FACTOR_DRAWN:
    if (factor->kind == BRAMAH__FACTOR_FLOW)
      bramah__flow_at(circuit, factor->index, c->state.p, c->now->v, c->state.U, by_p, by_v, by_U);
    else
      bramah__drawn_flow(circuit, factor->index, c->state.p, c->now->v, c->state.U, by_p, by_v, by_U);
    for (size_t k = 0; k < circuit->n_driven; k++) {
      const size_t cylinder = circuit->driven[k].cylinder;
      to->by_zd[model->line[cylinder].joint] += weight * by_v[cylinder];
    }
    for (size_t i = 0; i < circuit->n_volumes; i++) to->by_p[i] += weight * by_p[i];
    for (size_t i = 0; to->by_U && i < bramah__n_spools(circuit); i++) to->by_U[i] += weight * by_U[i];
    break;
  case BRAMAH__FACTOR_SHAFT: {
    const bramah__shaft *shaft = &model->shaft[factor->index];
    double by_rate[BRAMAH__MOST_SHAFT_JOINTS], by_command[BRAMAH__SHAFT_COMMANDS];
    bramah__shaft_shows(&model->tree, shaft, (bramah__shaft_view)factor->axis, pose, c->now->Z, c->state.U,
                        by_rate, by_command);
    for (size_t i = 0; i < shaft->n_joints; i++) to->by_zd[shaft->joint[i]] += weight * by_rate[i];
    for (size_t k = 0; to->by_U && k < BRAMAH__SHAFT_COMMANDS; k++)
      if (shaft->is_commanded[k]) to->by_U[shaft->spool[k]] += weight * by_command[k];
    break;
  }
  default: /* nothing of the state */
    break;
  }
}

static void add_slopes_of_all(const bramah_coupled *c, const bramah__definition *definition, const slopes *to)
{
  const bramah_model *model = c->model;
  bramah__expr q[3];
  double by_sum[3];
  sums(model, &c->state, c->now, definition, q);
  for (int s = 0; s < 3; s++) {
    q[s].slope = 1.0;
    by_sum[s] = bramah__shape_sums(definition->shape, q).slope;
    q[s].slope = 0.0;
  }
  for (size_t t = 0; t < definition->n_terms; t++) {
    const bramah__term *term = &definition->term[t];
    for (int f = 0; f < 2; f++) {
      const double other = factor_value(model, &c->state, c->now, &term->factor[1 - f]);
      add_slopes_of(c, &term->factor[f], by_sum[term->sum] * term->weight * other, to);
    }
  }
}

void bramah__defined_row(const bramah_coupled *c, const bramah__definition *definition, double *row)
{
  const size_t n = c->model->n, n_dof = c->model->n_independent;
  double *a = c->probe_state.z, *b = c->probe_state.zd;
  int moving = 0;
  memset(a, 0, n * sizeof *a);
  memset(b, 0, n * sizeof *b);
  add_slopes_of_all(c, definition, &(slopes){a, b, row + 2 * n_dof, NULL});
  for (size_t j = 0; j < n; j++) moving |= b[j] != 0.0;
  if (moving) bramah__rate_derivative(c->model, &c->state, c->now);
  for (size_t j = 0; j < n; j++)
    for (size_t f = 0; f < n_dof; f++) {
      row[f] += a[j] * c->now->Rz[j * n_dof + f] + (moving ? b[j] * c->now->D[j * n_dof + f] : 0.0);
      row[n_dof + f] += b[j] * c->now->Rz[j * n_dof + f];
    }
}

void bramah__defined_by_spools(const bramah_coupled *c, const bramah__definition *definition, double *by_U)
{
  add_slopes_of_all(c, definition, &(slopes){c->probe_state.z, c->probe_state.zd, c->probe_state.pd, by_U});
}
