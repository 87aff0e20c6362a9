/* SPDX-License-Identifier: MIT */
/* How the accelerations of all joints follow the error state: the independent ones from the derivatives of
 * the equations of motion (transition.c), all others along the constraints. */
#include "lib/plant/coupled_internal.h"
#include "lib/base/diag.h"
#include "lib/math/dense.h"

#include <string.h>

void bramah__force_slopes(const bramah_coupled *c, size_t i, double *by_s, double *by_v)
{
  const bramah__cylinder *cylinder = &c->model->circuit.cylinder[i];
  const double *x = c->state.x + cylinder->first_state;
  bramah__stop_slopes(&c->model->circuit, i, c->now->s[i], c->now->v[i], by_s, by_v);
  *by_v -= cylinder->friction_scale * bramah__friction_slope(&cylinder->friction, c->now->v[i], x);
}

/* What the dependent accelerations gain as an independent coordinate or its rate moves, the independent
 * accelerations held: linear.h's E and 2 D. */
static void follow_constraints(bramah_coupled *c, size_t ne)
{
  const size_t nf = c->model->n_independent;
  for (size_t j = 0; j < c->model->n; j++)
    for (size_t f = 0; f < nf; f++) {
      c->Q[j * ne + f] += c->linear.E[j * nf + f];
      c->Q[j * ne + nf + f] += 2.0 * c->linear.D[j * nf + f];
    }
}

/* The bytes of the state say whether the last answer still holds. */
bramah_status bramah__joint_acceleration_rows(bramah_coupled *c)
{
  const bramah_model *model = c->model;
  const size_t nf = model->n_independent, ne = 2 * nf + model->circuit.n_volumes;
  if (c->Q_valid && memcmp(c->Q_state, c->state.block, c->state.size) == 0) return BRAMAH_OK;
  c->Q_valid = 0;
  const bramah_status status = bramah__accelerations_by_state(c, c->J);
  if (status != BRAMAH_OK) return status;
  bramah__multiply(model->n, nf, ne, c->now->Rz, c->J, c->Q);
  follow_constraints(c, ne);
  memcpy(c->Q_state, c->state.block, c->state.size);
  c->Q_valid = 1;
  return BRAMAH_OK;
}
