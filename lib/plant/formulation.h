/* SPDX-License-Identifier: MIT */
/* What the formulations of a closed-loop step do differently. The Newton iteration (step.c), the hydraulics
 * and the rule of integration are common. Mechanical unknowns are changes over the step of some joint
 * coordinates: the independent ones (partitioning), or all (augmented Lagrangian, penalty). */
#ifndef BRAMAH_LIB_PLANT_FORMULATION_H
#define BRAMAH_LIB_PLANT_FORMULATION_H

#include "lib/plant/coupled_internal.h"

struct bramah__formulation {
  /* How many mechanical unknowns, and which joint is unknown k. */
  size_t (*n_mechanical)(const bramah_model *model);
  size_t (*joint)(const bramah_coupled *c, size_t k);
  /* Move the coordinates that are no unknowns along with a correction of those that are. May be NULL. */
  void (*follow)(const bramah_model *model, const bramah__eval *eval, const double *correction,
                 bramah__state *next);
  /* Position stage at the candidate; moves the coordinates that are no unknowns so that the loops close. */
  bramah_status (*place)(const bramah_model *model, bramah__state *next, bramah__eval *eval);
  /* Rates of the coordinates that are no unknowns. May be NULL. */
  void (*complete_rates)(const bramah_model *model, bramah__state *next, const bramah__eval *eval);
  /* All joint accelerations zdd [n] from those of the unknowns a. */
  void (*accelerations)(const bramah_model *model, const bramah__eval *eval, const double *a, double *zdd);
  /* Out-of-balance f [n_mechanical] at accelerations zdd [n]. */
  void (*imbalance)(const bramah_model *model, const bramah__state *next, bramah__eval *eval,
                    const double *zdd, double *f);
  /* Its analytic tangent at the candidate, into the leading block of J, whose rows are nx long: rates follow
   * the unknowns by c1, accelerations by c2. The forces' slopes stand in c->linear. */
  void (*tangent)(bramah_coupled *c, double c1, double c2, double *J, size_t nx);
  /* Derivative of the stroke velocity of cylinder i by the unknowns at held rates, after `tangent`. */
  const double *(*rate_arm)(const bramah_coupled *c, size_t i);
  /* The part of it whose tangent is taken by differences (NULL: all), and the tangent of the rest, added to
   * the leading block of J, whose rows are nx long. */
  void (*differenced)(const bramah_model *model, const bramah__state *next, bramah__eval *eval,
                      const double *zdd, double *f);
  void (*add_tangent)(const bramah_coupled *c, double *J, size_t nx);
  /* Derivative of the stroke of cylinder i by the unknowns. */
  const double *(*arm)(const bramah_model *model, const bramah__eval *eval, size_t i);
  /* After a correction: update multipliers; returns 1 if the constraints hold well enough to end. May be
   * NULL. */
  int (*update)(bramah_coupled *c);
  /* After the iteration, on the candidate with rates and accelerations set: projections. May be NULL. */
  bramah_status (*finish)(bramah_coupled *c);
};

extern const bramah__formulation bramah__partitioning;
extern const bramah__formulation bramah__augmented_lagrangian;
extern const bramah__formulation bramah__penalty;

#endif
