/* SPDX-License-Identifier: MIT */
#include "lib/plant/step_builder.h"
#include "lib/base/diag.h"

#include <stdlib.h>
#include <string.h>

#define COUNT_RESULT(name, count) +(count)
int bramah__take_expressions(bramah__step_builder *b)
{
  const bramah_model *model = b->model;
  BRAMAH__STEP_SIZES(b->out);
  const size_t n_results = 0 BRAMAH__STEP_RESULTS(COUNT_RESULT);
  size_t total = 0;
#define COUNT_INPUT(name, rate, count) total += (count);
#define COUNT(name, count) total += (count);
  BRAMAH__STEP_INPUTS(COUNT_INPUT)
  BRAMAH__STEP_EXPRESSIONS(COUNT)
  bramah__expr *next = b->all = calloc(total + 1, sizeof *b->all);
  if (!next) return 0;
#define CUT_INPUT(name, rate, count) b->in_##name = next, next += (count);
#define CUT(name, count) b->name = next, next += (count);
  BRAMAH__STEP_INPUTS(CUT_INPUT)
  BRAMAH__STEP_EXPRESSIONS(CUT)
  size_t number = 0;
#define MAKE_INPUT(name, rate, count)                                                                        \
  b->out->in.name = number;                                                                                  \
  for (size_t i = 0; i < (count); i++, number++)                                                             \
    b->in_##name[i] = bramah__graph_input(b->graph, BRAMAH__RATE_##rate);
  BRAMAH__STEP_INPUTS(MAKE_INPUT)
  b->out->first_factor = number;
  b->typical = calloc(number + nt * nt + 1, sizeof *b->typical);
  b->part = calloc(BRAMAH__PART_PARAMETERS + 2 * n_par + model->n_outputs, sizeof *b->part);
  return b->typical && b->part;
}

bramah__circuit_graph bramah__circuit_of(bramah__step_builder *b)
{
  return (bramah__circuit_graph){b->oil_bulk_modulus,
                                 b->supply,
                                 b->valve_coefficient,
                                 (bramah__expr(*)[BRAMAH__ELEMENT_VALUES])(void *)b->element_value,
                                 b->in_p,
                                 b->s,
                                 b->v,
                                 b->in_U,
                                 b->in_w};
}

/* ---- derivatives ---- */

void bramah__seed(bramah__step_builder *b, bramah__expr at, bramah__expr along)
{
  b->at[b->n_seeds] = at;
  b->along[b->n_seeds++] = along;
}

void bramah__seed_joints(bramah__step_builder *b, const bramah__expr *along, size_t stride)
{
  for (size_t j = 0; j < b->out->n; j++) bramah__seed(b, b->in_z[j], along[j * stride]);
}

void bramah__seed_state(bramah__step_builder *b, size_t k)
{
  const size_t nf = b->out->nf, np = b->out->np;
  if (k < nf)
    bramah__seed_joints(b, b->Rz + k, nf + b->out->nm);
  else if (k < 2 * nf + np)
    bramah__seed(b, k < 2 * nf ? b->in_zd[k - nf] : b->in_p[k - 2 * nf], e_number(1.0));
  else
    bramah__seed(b, b->in_x[b->model->bristle_state[k - 2 * nf - np]], e_number(1.0));
}

void bramah__set_force_tangent(bramah__step_builder *b, bramah__expr by_z, bramah__expr by_zd,
                               bramah__expr by_zdd)
{
  const bramah__expr along[3] = {by_z, by_zd, by_zdd};
  memcpy(b->force_along, along, sizeof along);
  if (b->out->nd == 0) bramah__tree_graph_tangent(&b->model->tree, b->body, along, b->T);
}

/* What contacts see along moves of the bodies, and their wrenches. */
static void vary_contacts(bramah__step_builder *b, const bramah__moves_graph *moves)
{
  const bramah_model *model = b->model;
  bramah__pair *wrench = (bramah__pair *)(void *)b->wrench_change;
  memset(wrench, 0, b->out->n * sizeof *wrench);
  for (size_t first = 0, end; first < model->n_contact_points; first = end) {
    const bramah__contact *contact = &model->contact_point[first];
    const bramah__patch_graph *patch = bramah__patch_at(b, first);
    bramah__patch_graph change;
    end = first + bramah__patch_of(model, first);
    if (contact->pressed > 0.0 || contact->meets) continue;
    bramah__patch_vary(contact, patch, b->body, moves, &change);
    for (size_t i = first; i < end; i++) {
      bramah__expr f[3], *seen = b->touch_change + i * BRAMAH__TOUCHES;
      const double offset = bramah__patch_offset(&model->contact_point[i]);
      bramah__patch_touch(&change, offset, seen);
      for (size_t k = 0; k < 3; k++)
        f[k] = e_sum_products(BRAMAH__TOUCHES, b->by_touch + (i * BRAMAH__RUBBED + k) * BRAMAH__TOUCHES, 1,
                              seen, 1);
      bramah__patch_push(&change, offset, f);
    }
    wrench[contact->body] =
        p_add(wrench[contact->body], bramah__patch_vary_wrench(contact, patch, moves, &change));
  }
}

/* Of open trees T has what follows from masses: contacts come to it. */
void bramah__seed_forces(bramah__step_builder *b, size_t k)
{
  const size_t n = b->out->n, nd = b->out->nd, own = (size_t)b->out->index[nd + k];
  const bramah__tree *tree = &b->model->tree;
  bramah__expr *dz = b->T + n * n, *dzd = dz + n, *dzdd = dzd + n, *dtau = dzdd + n;
  const bramah__pair *wrench = (bramah__pair *)(void *)b->wrench_change;
  bramah__moves_graph moves[BRAMAH__MOST_BODIES];
  memset(dz, 0, 4 * n * sizeof *dz);
  if (nd > 0) {
    bramah__derive(b->graph, b->n_seeds, b->at, b->along, n, b->in_z, dz);
    bramah__derive(b->graph, b->n_seeds, b->at, b->along, n, b->q_d, dzd);
    bramah__derive(b->graph, b->n_seeds, b->at, b->along, n, b->q_dd, dzdd);
  } else {
    dz[own] = b->force_along[0], dzd[own] = b->force_along[1], dzdd[own] = b->force_along[2];
  }
  bramah__tree_graph_moves(tree, b->body, dz, dzd, dzdd, moves);
  vary_contacts(b, moves);
  if (nd > 0) bramah__tree_graph_vary(tree, b->body, dz, moves, wrench, dtau);
  for (size_t j = 0; j < n && nd == 0; j++) {
    dtau[j] = e_sub(dtau[j], p_dot(b->body[j].b, wrench[j]));
    for (int i = tree->link[j].parent; i >= 0; i = tree->link[i].parent)
      dtau[i] = e_sub(dtau[i], p_dot(b->body[i].b, wrench[j]));
  }
  for (size_t j = 0; j < n; j++)
    bramah__seed(b, b->tau[j], nd > 0 ? dtau[j] : e_add(b->T[j * n + own], dtau[j]));
}

/* The force of contact i as it shifts by `seen` over the step. */
static void press(const bramah__step_builder *b, size_t i, const bramah__expr *seen, bramah__expr *f)
{
  for (size_t k = 0; k < 3; k++) {
    const bramah__expr *by = b->by_touch + (i * BRAMAH__RUBBED + k) * BRAMAH__TOUCHES;
    f[k] = e_number(0.0);
    for (size_t a = 1; a < BRAMAH__TOUCHES; a++) {
      const bramah__expr rate = e_mul(b->c1, by[a]);
      f[k] = e_add(f[k], e_mul(a == 3 ? e_add(by[0], rate) : rate, seen[a]));
    }
  }
}

void bramah__vary_held(bramah__step_builder *b, const bramah__expr *dz, bramah__expr *tau)
{
  const bramah_model *model = b->model;
  bramah__pair twist[BRAMAH__MOST_BODIES], *wrench = (bramah__pair *)(void *)b->wrench_change;
  memset(wrench, 0, b->out->n * sizeof *wrench);
  bramah__tree_graph_follow(&model->tree, b->body, dz, twist);
  for (size_t first = 0, end; first < model->n_contact_points; first = end) {
    const bramah__contact *contact = &model->contact_point[first];
    const bramah__patch_graph *patch = bramah__patch_at(b, first);
    bramah__patch_graph change;
    end = first + bramah__patch_of(model, first);
    if (contact->pressed > 0.0 || contact->meets) continue;
    bramah__patch_shift(contact, patch, twist[contact->body], &change);
    for (size_t i = first; i < end; i++) {
      const double offset = bramah__patch_offset(&model->contact_point[i]);
      bramah__expr seen[BRAMAH__TOUCHES], f[3];
      bramah__patch_touch(&change, offset, seen);
      press(b, i, seen, f);
      bramah__patch_push(&change, offset, f);
    }
    wrench[contact->body] = p_add(wrench[contact->body], bramah__patch_shift_wrench(patch, &change));
  }
  bramah__tree_graph_hold(&model->tree, b->body, wrench, tau);
}

void bramah__seed_parameter(bramah__step_builder *b, size_t k)
{
  const bramah__parameter *p = &b->model->parameter[k];
  bramah__seed(b, b->in_theta[k], e_number(1.0));
  for (size_t i = 0; p->code == BRAMAH__INPUT_OFFSET && i < b->out->ns; i++)
    if (b->model->circuit.valve[i].input == p->index) bramah__seed(b, b->in_U[i], b->in_gate[i]);
  for (size_t i = 0; bramah__moves_metered(p) && i < b->n_follow; i++)
    b->w_along[i] = b->in_w_theta[k * b->out->ny + i];
}

void bramah__derive_along(bramah__step_builder *b, size_t count, const bramah__expr *f, bramah__expr *df)
{
  const size_t nw = b->out->nw;
  if (nw) bramah__derive(b->graph, b->n_seeds, b->at, b->along, nw, b->load, b->load_along);
  for (size_t i = 0; i < b->n_follow; i++) {
    const bramah__expr follows = e_sum_products(nw, b->in_w_load + i * nw, 1, b->load_along, 1);
    bramah__seed(b, b->in_w[i], e_add(b->w_along[i], follows));
    b->w_along[i] = e_number(0.0);
  }
  bramah__derive(b->graph, b->n_seeds, b->at, b->along, count, f, df);
  b->n_seeds = 0;
}

void bramah__put_column(size_t count, const bramah__expr *column, bramah__expr *out, size_t ld)
{
  for (size_t r = 0; r < count; r++) out[r * ld] = column[r];
}

/* Values of all nodes at the typical state. */
static void evaluate(bramah__step_builder *b)
{
  double *value = realloc(b->value, (bramah__graph_size(b->graph) + 1) * sizeof *value);
  if (!value) {
    bramah__graph_fail(b->graph);
    return;
  }
  b->value = value;
  if (!bramah__graph_failed(b->graph)) bramah__graph_evaluate(b->graph, b->typical, value);
}

bramah_status bramah__factor_block(bramah__step_builder *b, size_t count, const bramah__expr *A,
                                   const double *scale, const char *what, bramah__elimination *out)
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

/* ---- parts ---- */

void bramah__begin_part(bramah__step_builder *b, int parent)
{
  b->part[b->n_parts++] = (bramah__part){parent - BRAMAH__FIRST_PART, 0, b->result + b->n_results};
}

void bramah__give(bramah__step_builder *b, size_t count, const bramah__expr *x, size_t stride)
{
  for (size_t i = 0; i < count; i++) b->result[b->n_results++] = x[i * stride];
  b->part[b->n_parts - 1].n += count;
}

void bramah__add_work(bramah__step_builder *b, size_t *count, size_t sum, bramah__expr force,
                      bramah__expr path)
{
  b->out->work[*count] = sum;
  b->work_force[*count] = force;
  b->work_path[(*count)++] = path;
}
