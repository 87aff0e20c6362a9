/* SPDX-License-Identifier: MIT */
/* displaced_parameters of a plant says, to the bit, what inject and step_transition say, or that the step ends in other
 * coordinates; and leaves the plant as it was: its state, its outputs and the step that comes next with its derivatives. */
#ifndef BRAMAH_TEST_SUPPORT_DISPLACED_H
#define BRAMAH_TEST_SUPPORT_DISPLACED_H

#include "bramah/plant.h"
#include "test/support/four_bar.h"
#include "test/support/run.h"

#include <string.h>

/* Outputs of the plant as it is, or after inject of dx, and the step that comes next: into one block. */
static inline void displaced_look(const bramah_plant *plant, const double *dx, size_t n_par,
                                  const size_t *par, double *out, bramah_diag *diag)
{
  const size_t ne = bramah_plant_n_error(plant), nx = plant->n_dof + plant->n_first_order;
  if (dx) must(plant->inject(plant->self, dx, diag), diag);
  for (size_t i = 0; i < plant->n_output; i++) *out++ = plant->output(plant->self, i);
  must(plant->step_transition(plant->self, out, out + ne * ne, n_par, par, out + ne * (ne + nx), diag), diag);
  plant->save(plant->self, out + ne * (ne + nx + n_par));
}

/* Returns 1 where the step ended in other coordinates. */
static inline int check_displaced(const bramah_plant *plant, const double *dx, size_t n_par,
                                  const size_t *par)
{
  const size_t ne = bramah_plant_n_error(plant), nx = plant->n_dof + plant->n_first_order,
               words = plant->snapshot_size / sizeof(double) + 1,
               n = plant->n_output + ne * (ne + nx + n_par) + words;
  double *all = calloc(2 * n + 2 * words + ne * (2 * n_par + 2 * ne), sizeof *all), *look[2] = {all, all + n};
  double *before = all + 2 * n, *after = before + words, *G[2] = {after + words, after + words + ne * n_par},
         *F = G[1] + ne * n_par, *T = F + ne * ne;
  bramah_status status = BRAMAH_OK;
  bramah_diag diag;
  plant->save(plant->self, before);
  for (int injects = 0; injects < 2; injects++) {
    status = plant->displaced_parameters(plant->self, dx, n_par, par, G[0], &diag);
    plant->save(plant->self, after);
    ck_assert_int_eq(memcmp(before, after, plant->snapshot_size), 0);
    displaced_look(plant, injects ? dx : NULL, n_par, par, look[0], &diag);
    plant->restore(plant->self, before);
    displaced_look(plant, injects ? dx : NULL, n_par, par, look[1], &diag);
    ck_assert_int_eq(memcmp(look[0], look[1], n * sizeof(double)), 0);
    plant->restore(plant->self, before);
  }
  must(plant->inject(plant->self, dx, &diag), &diag);
  must(plant->step_transition(plant->self, F, NULL, n_par, par, G[1], &diag), &diag);
  const int other = plant->basis_change && plant->basis_change(plant->self, T);
  ck_assert_int_eq(status, other ? BRAMAH_E_UNSUPPORTED : BRAMAH_OK);
  ck_assert(other || memcmp(G[0], G[1], ne * n_par * sizeof(double)) == 0);
  plant->restore(plant->self, before);
  free(all);
  return other;
}

#endif
