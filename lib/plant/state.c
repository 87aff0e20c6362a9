/* SPDX-License-Identifier: MIT */
#include "lib/plant/state.h"

#include <string.h>

static size_t larger(size_t a, size_t b) { return a > b ? a : b; }
static size_t smaller(size_t a, size_t b) { return a < b ? a : b; }

void bramah__state_layout(const bramah_model *model, bramah__arena *arena, bramah__state *state)
{
  const size_t n = model->n, np = model->circuit.n_volumes, nv = bramah__n_spools(&model->circuit);
  const size_t nx = model->circuit.n_friction_states, nc = model->circuit.n_cylinders,
               doubles = 3 * n + 2 * np + nv + model->n_inputs + nc + 2 * nx + model->m +
                         2 * model->n_motions + 4 * model->n_balls + model->n_parameters;
  const size_t ints = n + model->m;
  state->size = doubles * sizeof(double) + sizeof(int64_t) + ints * sizeof(int);
  state->size = (state->size + 7) / 8 * 8;
  state->block = bramah__arena_take(arena, state->size, 1);
  if (!state->block) return;
  double *next = state->block;
  state->z = next, next += n;
  state->zd = next, next += n;
  state->zdd = next, next += n;
  state->p = next, next += np;
  state->pd = next, next += np;
  state->U = next, next += nv;
  state->u = next, next += model->n_inputs;
  state->work = next, next += nc;
  state->x = next, next += nx;
  state->xd = next, next += nx;
  state->lambda = next, next += model->m;
  state->drive = next, next += model->n_motions;
  state->drive_work = next, next += model->n_motions;
  state->base = next, next += 4 * model->n_balls;
  state->theta = next, next += model->n_parameters;
  state->time_ns = (int64_t *)(void *)next;
  state->index = (int *)(void *)(state->time_ns + 1);
  state->row = state->index + n;
}

void bramah__state_copy(const bramah__state *from, bramah__state *to)
{
  memcpy(to->block, from->block, from->size);
}

void bramah__eval_layout(const bramah_model *model, bramah__arena *arena, bramah__eval *eval)
{
  const size_t n = model->n, m = model->m, nc = model->circuit.n_cylinders, np = model->circuit.n_volumes;
  const size_t nd = smaller(m, n), nf = n; /* upper bounds: the rank is known only after the assembly */
  eval->pose = BRAMAH__TAKE(arena, bramah__pose, n);
  eval->Phi = BRAMAH__TAKE(arena, double, m);
  eval->Phi_z = BRAMAH__TAKE(arena, double, m *n);
  eval->LU = BRAMAH__TAKE(arena, double, nd *nd);
  eval->pivot = BRAMAH__TAKE(arena, int, nd);
  eval->Rz = BRAMAH__TAKE(arena, double, n *nf);
  eval->drift = BRAMAH__TAKE(arena, double, n);
  eval->s = BRAMAH__TAKE(arena, double, nc);
  eval->row = BRAMAH__TAKE(arena, double, nc *n);
  eval->row_i = BRAMAH__TAKE(arena, double, nc *nf);
  eval->Z = BRAMAH__TAKE(arena, double, 6 * n);
  eval->Zd = BRAMAH__TAKE(arena, double, 6 * n);
  eval->bias = BRAMAH__TAKE(arena, double, n);
  eval->v = BRAMAH__TAKE(arena, double, nc);
  eval->D = BRAMAH__TAKE(arena, double, n *nf);
  eval->force = BRAMAH__TAKE(arena, double, nc);
  eval->friction = BRAMAH__TAKE(arena, double, nc);
  eval->stop = BRAMAH__TAKE(arena, double, nc);
  eval->w = BRAMAH__TAKE(arena, double, model->circuit.n_metered);
  eval->P = BRAMAH__TAKE(arena, double, model->circuit.n_metered_lines);
  eval->mass = BRAMAH__TAKE(arena, double, n *n);
  eval->Mi = BRAMAH__TAKE(arena, double, nf *nf);
  eval->rhs = BRAMAH__TAKE(arena, double, nf);
  eval->composite = BRAMAH__TAKE(arena, bramah__composite, n);
  eval->W = BRAMAH__TAKE(arena, double, 6 * n);
  eval->gamma = BRAMAH__TAKE(arena, double, m);
  eval->tau = BRAMAH__TAKE(arena, double, n);
  eval->column = BRAMAH__TAKE(arena, double, larger(n, m));
  eval->MR = BRAMAH__TAKE(arena, double, n *nf);
  eval->flow = BRAMAH__TAKE(arena, double, np);
}
