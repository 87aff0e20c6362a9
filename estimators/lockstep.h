/* SPDX-License-Identifier: MIT */
/* Filters of one plant and one structure side by side, in groups of eight (lib/plant/lockstep.h): they stay in the lanes from
 * cycle to cycle, and each has the bits that it has alone. What a lane does not do well is not done at all: the filter
 * leaves, as it was before the call, and does it by itself. */
#ifndef BRAMAH_ESTIMATORS_LOCKSTEP_H
#define BRAMAH_ESTIMATORS_LOCKSTEP_H

#include "bramah/batch.h"
#include "estimators/filter_internal.h"
#include "lib/plant/lockstep.h"

/* Of a batch, for replays in lockstep: may filter i live in a lane; its status; the filter as it is now, which stays there; and
 * with what its last correction says of the samples, and no more. */
int bramah__batch_has_lane(const bramah_batch *batch, size_t i);
bramah_status bramah__batch_status(const bramah_batch *batch, size_t i);
bramah_filter *bramah__batch_look(bramah_batch *batch, size_t i);
/* A call by rows [n], one for each filter: has it part in it; inputs (NULL: the former ones), and for a correction samples. */
typedef struct bramah__batch_row {
  int takes;
  const double *u, *y;
  const unsigned char *present;
} bramah__batch_row;
bramah__batch_row *bramah__batch_rows(bramah_batch *batch);
size_t bramah__batch_run(bramah_batch *batch, int predicts, int corrects);
void bramah__batch_show(bramah_batch *batch, size_t i);

/* What a group holds, [...] of eight lanes each: X(name, count). */
#define BRAMAH__GROUP_STATE(X)                                                                               \
  X(now, words)    /* its own snapshots (filter_state.c), word for word */                                   \
  X(before, words) /* those of before the last step */                                                       \
  X(F, ne *n)      /* of the last step, rows of the plant: the others stay as they are */                    \
  X(Gamma, ne *nq)                                                                                           \
  X(H, m *n) /* of the last correction */                                                                    \
  X(r, m)                                                                                                    \
  X(innovation, m)                                                                                           \
  X(sigma, m)                                                                                                \
  X(chi, m)   /* nis of each */                                                                              \
  X(flags, m) /* PRESENT ... as numbers */                                                                   \
  X(rest, m)  /* what is left of each, and its variance */                                                   \
  X(rest_variance, m)                                                                                        \
  X(considered, m)                                                                                           \
  X(correlation, m *n_augmented)                                                                             \
  X(dx, n)                                                                                                   \
  X(nis, 1)                                                                                                  \
  X(dof, 1)                                                                                                  \
  X(variance, m) /* what does not change: of the noise of sensors, ... */                                    \
  X(gate, m)                                                                                                 \
  X(drift_gate, 1)                                                                                           \
  X(patience, 1)                                                                                             \
  X(acceleration, nf)                                                                                        \
  X(first_order, np)                                                                                         \
  X(Phi, 4 * n_augmented) /* ... of augmented states, */                                                     \
  X(noise, 3 * n_augmented)                                                                                  \
  X(role, n_augmented)                                                                                       \
  X(nominal, n_augmented)                                                                                    \
  X(least, n_augmented)                                                                                      \
  X(most, n_augmented)                                                                                       \
  X(par_noise, n_par_noise)

#define BRAMAH__GROUP_ARRAY(name, count) double *name;
typedef struct bramah__filter_group {
  size_t n_filters;                     /* lanes up to the last one that is used */
  bramah_filter *filter[BRAMAH__GROUP]; /* NULL: none */
  const bramah_filter *like;            /* one of them, for what is the same in all */
  int64_t in[BRAMAH__GROUP];            /* 1: it lives in its lane, what the filter itself holds is old */
  int has_ranges;                       /* 1: a sensor may be saturated */
  int follows;                          /* 1: a sensor follows accelerations */
  int knows_rows;               /* 1: nothing augmented nor that: rows have entries in these columns alone */
  size_t *entry, *n_entries;    /* [m x n], [m] */
  int64_t taken[BRAMAH__GROUP]; /* 1: the last call was done there */
  bramah__plant_group plant;
  BRAMAH__GROUP_STATE(BRAMAH__GROUP_ARRAY)
} bramah__filter_group;

/* Room that the groups of a batch share while they are at work, [...] of eight lanes each and for each group at once. */
#define BRAMAH__ROOM_ARRAYS(X)                                                                               \
  X(F, n *n)                                                                                                 \
  X(Gamma, n *nq)                                                                                            \
  X(P, n *n)                                                                                                 \
  X(T, n *n)                                                                                                 \
  X(PH, n)                                                                                                   \
  X(K, n)                                                                                                    \
  X(w, n)                                                                                                    \
  X(row, ne)                                                                                                 \
  X(sum, 2) /* of a sensor: sums of its terms, what it shows of them, and by them */                         \
  X(value, 1)                                                                                                \
  X(slope, 2)                                                                                                \
  X(y, m)    /* samples, then innovations, */                                                                \
  X(seen, m) /* those that there are: 1.0 */                                                                 \
  X(dx, n)                                                                                                   \
  X(mean, n)                                                                                                 \
  X(drift, m)                                                                                                \
  X(drift_common, m)                                                                                         \
  X(drifted, m)                                                                                              \
  X(shown, m)                                                                                                \
  X(change, m)                                                                                               \
  X(bend, m)                                                                                                 \
  X(information, n_augmented)                                                                                \
  X(effect, n_augmented)                                                                                     \
  X(effect_spread, n_augmented)                                                                              \
  X(weight, n)                                                                                               \
  X(displaced, ne *n_par + 1) /* NaN first: there is no displaced step */                                    \
  X(tried, 1)                 /* its iterations */                                                           \
  X(reject, m)                                                                                               \
  X(middle, plant_words)                                                                                     \
  X(count, 8) /* accepted, saturated, gated, faults, limited; cost, product, log-likelihood */

typedef struct bramah__filter_room {
  BRAMAH__ROOM_ARRAYS(BRAMAH__GROUP_ARRAY)
  size_t *entry, *n_entries; /* [m x n], [m] columns of the rows */
  unsigned char *held;       /* [n] 1: considered in the correction in hand, */
  int considers;             /* if any is; and */
  size_t n_fused;            /* behind which all are */
  int as_usual;              /* no gate has anything to say, nor had one */
} bramah__filter_room;

typedef struct bramah__filter_lockstep {
  bramah__lockstep plant;
  bramah__filter_room of[BRAMAH__MOST_GROUPS];
  unsigned char *snapshot;                                /* of one filter */
  const bramah__filter_group *posed[BRAMAH__MOST_GROUPS]; /* whose states the registers hold */
} bramah__filter_lockstep;

/* Can a filter on this plant go in lockstep at all, and do two have the same structure? */
int bramah__lockstep_may(const bramah_filter *f, const bramah_coupled *plant);
int bramah__lockstep_alike(const bramah_filter *a, const bramah_filter *b);

/* Sizes that are enough for both. */
void bramah__lockstep_enlarge(bramah_filter *largest, const bramah_filter *f);
/* Cut a group for filters like this one, whose plant is c, and the room for n_groups of groups like those of the largest. */
void bramah__filter_group_cut(const bramah_filter *like, bramah__arena *arena, bramah__filter_group *out);
void bramah__filter_lockstep_cut(const bramah_filter *largest, const bramah_coupled *c, size_t n_groups,
                                 bramah__arena *arena, bramah__filter_lockstep *out);

/* A filter goes into its lane where it can, and comes back out of it, or is only written to be looked at. */
void bramah__lockstep_enter(bramah__filter_lockstep *k, bramah__filter_group *group, size_t lane);
void bramah__lockstep_write(bramah__filter_lockstep *k, const bramah__filter_group *group, size_t lane);
/* What of bramah_batch_get a lane knows better than its filter. */
void bramah__lockstep_result(const bramah__filter_group *group, size_t lane, bramah_batch_result *result);
void bramah__lockstep_leave(bramah__filter_lockstep *k, bramah__filter_group *group, size_t lane);
/* What its last correction says of the samples, nothing else, is written. */
void bramah__lockstep_show(const bramah__filter_group *group, size_t lane);

/* Steps and corrections of the groups at once, of the lanes with taken = 1: those for which it is 0 afterwards have left
 * and do the call by themselves. u of a lane NULL: the former inputs. y and present [n_sensors] of each lane. */
typedef struct bramah__lane_samples {
  const double *u[BRAMAH__GROUP], *y[BRAMAH__GROUP];
  const unsigned char *present[BRAMAH__GROUP];
} bramah__lane_samples;
void bramah__lockstep_predict(bramah__filter_lockstep *k, bramah__filter_group *const *group,
                              const bramah__lane_samples *samples);
void bramah__lockstep_correct(bramah__filter_lockstep *k, bramah__filter_group *const *group,
                              const bramah__lane_samples *samples);
/* Inputs alone, to the same end. */
void bramah__lockstep_inputs(bramah__filter_lockstep *k, bramah__filter_group *const *group,
                             const bramah__lane_samples *samples);
/* Outputs of the lanes with taken = 1, of those that bramah__lockstep_shows: first prepare with the n whose sigmas will be
 * wanted, after which taken is 0 of lanes that cannot say them, in which nothing has changed; then one by one value
 * and, unless NULL, sigma [n_groups][lanes]. */
void bramah__lockstep_prepare(bramah__filter_lockstep *k, bramah__filter_group *const *group, size_t n,
                              const size_t *output);
void bramah__lockstep_output(bramah__filter_lockstep *k, bramah__filter_group *const *group, size_t i,
                             double value[][BRAMAH__GROUP], double sigma[][BRAMAH__GROUP]);

#endif
