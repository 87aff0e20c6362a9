/* SPDX-License-Identifier: MIT */
/* Plants of one program side by side, in groups of eight: word w of the state of lane l is at state[w * 8 + l], and so is
 * every other number of a group. Each has the bits that it has alone. Nothing here fails: what a lane does not do well is
 * not done at all, and its plant does it alone (control.c), with what is to be said and counted of it. */
#ifndef BRAMAH_LIB_PLANT_LOCKSTEP_H
#define BRAMAH_LIB_PLANT_LOCKSTEP_H

#include "lib/base/processors.h"
#include "lib/plant/compiled.h"

#include <string.h>

enum { BRAMAH__GROUP = 8, BRAMAH__MOST_GROUPS = 2 };

/* Where arrays of the state are in its block [words]. */
#define BRAMAH__STATE_PLACE(type, name, count) size_t name;
typedef struct bramah__state_places {
  size_t words;
  BRAMAH__STATE_FIELDS(BRAMAH__STATE_PLACE)
} bramah__state_places;

typedef struct bramah__plant_group {
  bramah_coupled
      *plant[BRAMAH__GROUP];   /* of the lanes that take part: their tables and counts, not their states */
  int64_t live[BRAMAH__GROUP]; /* 1: takes part; a function that does not do a lane well takes it out */
  double *state;               /* [words] */
  size_t n_par;                /* parameters that derivatives are wanted by: the same in all lanes */
  const size_t *par;
  const size_t *basis; /* [nf] positions whose derivatives at the start of a step are wanted, too */
} bramah__plant_group;

/* Is this the table of a coupled plant, or somebody else's? */
int bramah__is_coupled(const bramah_plant *plant);

/* What one group leaves, [...] of eight lanes each. */
#define BRAMAH__GROUP_RESULTS(X)                                                                             \
  X(next, words)  /* candidate for the state */                                                              \
  X(F, ne *ne)    /* of the step to it, as in bramah__wanted */                                              \
  X(N, ne *nx)    /* */                                                                                      \
  X(G, ne *n_par) /* [ne x n_par of the group] */                                                            \
  X(B, nf *nf)    /* of `basis` by the independent positions */                                              \
  X(Rz, n *nf)    /* at the state that the registers hold */                                                 \
  X(change, nx)   /* unknowns of the step; scratch from here on */                                           \
  X(carried, n_par *nv)                                                                                      \
  X(work_force, n_works)                                                                                     \
  X(work_path, n_works)                                                                                      \
  X(energy, 2)                                                                                               \
  X(gate_u, n_inputs) /* commands of which it is known whether spools follow them */                         \
  X(before, 1)        /* size of the correction before */                                                    \
  X(iterations, 1)
/* Words [n] of eight lanes each: to = from in the lanes of `which`. */
BRAMAH__IN_CALLER void bramah__keep_where(const int64_t *which, size_t n, const double *from, double *to)
{
  int64_t all = 1;
  for (size_t l = 0; l < BRAMAH__GROUP; l++) all &= which[l];
  if (all) {
    memcpy(to, from, n * BRAMAH__GROUP * sizeof *to);
    return;
  }
  for (size_t i = 0; i < n * BRAMAH__GROUP; i += BRAMAH__GROUP)
    BRAMAH__AS_VECTORS for (size_t l = 0; l < BRAMAH__GROUP; l++) to[i + l] =
        which[l] ? from[i + l] : to[i + l];
}

#define BRAMAH__GROUP_RESULT(name, count) double *name;
typedef struct bramah__group_results {
  BRAMAH__GROUP_RESULTS(BRAMAH__GROUP_RESULT)
} bramah__group_results;

/* Registers, and room for so many groups at once. */
typedef struct bramah__lockstep {
  const bramah_program *program;
  bramah__state_places place;
  size_t n_groups;   /* 0: there is none */
  double *registers; /* [n_registers x 8 n_groups] */
  int is_set_up;
  int has_rates; /* 1: they hold poses and rates of the states that were last put there */
  bramah__group_results of[BRAMAH__MOST_GROUPS];
  const bramah__plant_group *gates_of[BRAMAH__MOST_GROUPS]; /* whose gates the registers hold */
} bramah__lockstep;

/* Can plants like this one, which uses a program, go in lockstep? Not those with quasistatic actuators, prescribed motions,
 * friction states, spherical joints, valves without lag, or corrections that leave loops open; nor by a program without the
 * derivatives of steps, or with n_par without those by parameters. Can they be asked for an output while their cycles are at
 * work? Not for one whose derivatives follow accelerations, which can be asked for between them (_shows). */
int bramah__lockstep_fits(const bramah_coupled *c, size_t n_par, const size_t *par);
int bramah__lockstep_reads(const bramah_coupled *c, size_t output);
int bramah__lockstep_shows(const bramah_coupled *c, size_t output);
/* May the derivative of such an output by error j be other than zero? */
int bramah__lockstep_depends(const bramah_coupled *c, size_t output, size_t j);
/* Is this plant where its program is at home? */
int bramah__lockstep_knows(bramah_coupled *c);

/* Cut it from an arena. */
void bramah__lockstep_cut(const bramah_coupled *c, size_t n_groups, bramah__arena *arena,
                          bramah__lockstep *out);

/* Steps with derivatives, from the states to candidates; by the parameters alone or by the states, too, with B. */
void bramah__lockstep_step(bramah__lockstep *k, bramah__plant_group *const *group, int by_state);
/* Candidates from states by corrections dx [ne] of each group, which are of the Rz at hand; or as they are. */
void bramah__lockstep_inject(bramah__lockstep *k, bramah__plant_group *const *group, double *const *dx);
void bramah__lockstep_adopt(bramah__lockstep *k, bramah__plant_group *const *group);
/* Another value of parameter i in a lane of the candidate. */
void bramah__lockstep_set_parameter(bramah__lockstep *k, size_t g, const bramah__plant_group *group, size_t i,
                                    size_t lane, double value);
/* The candidate of group g becomes the state of its live lanes; of a step these are counted. */
void bramah__lockstep_take(bramah__lockstep *k, size_t g, bramah__plant_group *group, int is_step);
/* Of a candidate that was injected from this state what that moves: joints and pressures with their rates. */
void bramah__lockstep_take_point(bramah__lockstep *k, size_t g, bramah__plant_group *group);
/* Of a step that is not taken by live lanes only its iterations count; 0: there was none. */
void bramah__lockstep_count(const bramah__plant_group *group, const double *iterations);
/* The states into the registers, and their Rz; after a step or an injection that was taken they are there. */
void bramah__lockstep_pose(bramah__lockstep *k, bramah__plant_group *const *group);

/* Output i at the states in the registers: bring it there, then its value and its derivatives by the error state [ne]
 * of group g. */
void bramah__lockstep_read(bramah__lockstep *k, size_t i);
void bramah__lockstep_value(const bramah__lockstep *k, size_t g, const double *state, size_t i,
                            double *value);
void bramah__lockstep_row(const bramah__lockstep *k, size_t g, size_t i, double *row);
/* Rates of the states in the registers and their derivatives, by parameters too, once for all outputs that follow
 * accelerations; then what these add to the row of one, and to its derivative by the parameter in use j of the group. */
void bramah__lockstep_slopes(bramah__lockstep *k, bramah__plant_group *const *group);
void bramah__lockstep_row_of_rates(const bramah__lockstep *k, size_t g, size_t i, double *row);
void bramah__lockstep_rates_by_parameter(const bramah__lockstep *k, size_t g, size_t i, size_t j,
                                         double *out);
/* And its derivative by a parameter. */
void bramah__lockstep_by_parameter(const bramah__lockstep *k, size_t g, size_t i, size_t parameter,
                                   double *out);

/* Another plant has come into a lane, or the valves of one are others. */
void bramah__lockstep_forget(bramah__lockstep *k);

/* Put what the plant's parameter_edges and kink look at where they look, in a plant whose state is in a lane. */
void bramah__lockstep_show_edges(const bramah__lockstep *k, const bramah__plant_group *group, size_t lane);

#endif
