/* SPDX-License-Identifier: MIT */
/* A step and a correction of filters in lanes; and what they show between them. */
#define BRAMAH__LANES 8
#define BRAMAH__KERNEL(name) lockstep_##name
#include "estimators/kernel_shape.h"

#include "estimators/kernel.h"

#include "estimators/lockstep_internal.h"
#include "lib/base/processors.h"
#include "lib/math/dense.h"
#include "lib/math/elementary.h"
#include "sensors/kinds.h"

#include <math.h>

/* Error states whose number the compiler is to know: nothing augmented. */
#define SMALL_SIZES(X) X(3) X(4) X(5) X(6)

/* Whole numbers [8] that are not negative are added to integers among the words, in the lanes of `which`: behind 2^52 a
 * double has them as its last bits. */
BRAMAH__IN_CALLER void add_to(double *words, const int64_t *which, const double *by)
{
  const double zero = 0x1p52;
  double behind[L];
  int64_t now[L], more[L], none;
  EACH_LANE behind[l] = zero + (which[l] ? by[l] : 0.0);
  memcpy(&none, &zero, sizeof none);
  memcpy(more, behind, sizeof more);
  memcpy(now, words, sizeof now);
  EACH_LANE now[l] += more[l] - none;
  memcpy(words, now, sizeof now);
}

static const double once[L] = {1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0};

/* Integers among the words become this in the lanes of `which`. */
BRAMAH__IN_CALLER void set_to(double *words, const int64_t *which, int64_t value)
{
  int64_t now[L];
  memcpy(now, words, sizeof now);
  EACH_LANE now[l] = which[l] ? value : now[l];
  memcpy(words, now, sizeof now);
}

/* ---- a step ---- */

/* Rows of F of the plant; what is augmented follows. Of the others no more than their blocks is ever looked at. */
BRAMAH__IN_CALLER void put_plant_transition(const bramah_filter *f, const bramah__group_results *of,
                                            double *F)
{
  const size_t n = f->n, ne = f->n_plant;
  for (size_t r = 0; r < ne; r++) {
    for (size_t i = 0; i < ne * L; i++) F[r * n * L + i] = of->F[r * ne * L + i];
    for (size_t i = ne * L; i < n * L; i++) F[r * n * L + i] = 0.0;
  }
}

/* B^-1 as bramah__process_noise_refresh has it, in the place of B; where there is none the lane leaves. */
static void invert_basis(const bramah_filter *f, double *B, int64_t *live)
{
  const size_t nf = f->n_dof;
  const bramah__process_noise *scratch = &f->noise;
  if (nf == 1) EACH_LANE
    {
      live[l] &= (fabs(B[l]) > 0.0) & (fabs(B[l]) < (double)INFINITY);
      B[l] = 1.0 / B[l];
    }
  for (size_t l = 0; l < L && nf > 1; l++) {
    if (!live[l]) continue;
    bramah__gather(B, nf * nf, l, scratch->LU);
    if (bramah__lu_factor(nf, scratch->LU, scratch->pivot)) live[l] = 0;
    for (size_t k = 0; k < nf && live[l]; k++) {
      for (size_t r = 0; r < nf; r++) scratch->column[r] = r == k ? 1.0 : 0.0;
      bramah__lu_solve(nf, scratch->LU, scratch->pivot, scratch->column);
      for (size_t r = 0; r < nf; r++) B[(r * nf + k) * L + l] = scratch->column[r];
    }
  }
}

/* As fill_noise of predict.c, of the plant; B is inverted. */
BRAMAH__IN_CALLER void noise_in_lanes(const bramah__filter_group *group, const bramah_filter *f,
                                      const bramah__group_results *of, double *Gamma)
{
  const double h = bramah__step_seconds(f), of_rate = sqrt(h), of_position = sqrt(h * h * h / 12.0);
  const size_t nf = f->n_dof, np = f->n_first_order, nx = nf + np, nq = f->nq, ne = f->n_plant;
  for (size_t i = 0; i < ne * nq * L; i++) Gamma[i] = 0.0;
  for (size_t r = 0; r < ne; r++) {
    double *row = Gamma + r * nq * L;
    for (size_t b = 0; b < nf; b++) {
      const double *acceleration = group->acceleration + b * L;
      double sum[L] = {0};
      for (size_t k = 0; k < nf; k++)
        EACH_LANE sum[l] += of->N[(r * nx + k) * L + l] * of->B[(k * nf + b) * L + l];
      EACH_LANE row[2 * b * L + l] = of_rate * sum[l] * acceleration[l];
      if (r < nf)
        EACH_LANE row[(2 * b + 1) * L + l] = of_position * of->B[(r * nf + b) * L + l] * acceleration[l];
    }
    for (size_t i = 0; i < np; i++)
      EACH_LANE row[(2 * nf + i) * L + l] =
          of_rate * group->first_order[i * L + l] * of->N[(r * nx + nf + i) * L + l];
  }
}

/* Variances that are not positive and finite take a lane out. */
BRAMAH__IN_CALLER void check_covariance(size_t n, const double *P, int64_t *live)
{
  for (size_t i = 0; i < n; i++) {
    const double *variance = P + (i * n + i) * L;
    EACH_LANE live[l] &= (variance[l] > 0.0) & (variance[l] < (double)INFINITY);
  }
}

/* The covariance of a group after the step that the plants have made; what has come of it is not taken yet. */
BRAMAH__FOR_PROCESSORS static void follow_plants(bramah__filter_lockstep *k, size_t g,
                                                 bramah__filter_group *group)
{
  const bramah_filter *f = group->like;
  bramah__filter_room *room = &k->of[g];
  put_plant_transition(f, &k->plant.of[g], room->F);
  noise_in_lanes(group, f, &k->plant.of[g], room->Gamma);
  if (f->nq > f->n_plant) bramah__lanes_follow_step(k, g, group);
  memcpy(room->P, bramah__lane_array(f, group->now, f->P), f->n * f->n * L * sizeof(double));
  switch (f->nq == f->n_plant ? f->n : 0) {
#define OF_SIZE(N)                                                                                           \
  case N: {                                                                                                  \
    const bramah__kernel_shape own = {.n = N, .n_plant = N, .nq = N, .n_acting = N};                         \
    lockstep_propagate(&own, room->F, room->Gamma, room->P, room->T);                                        \
    break;                                                                                                   \
  }
    SMALL_SIZES(OF_SIZE)
#undef OF_SIZE
  default:
    lockstep_propagate(&f->shape, room->F, room->Gamma, room->P, room->T);
  }
  check_covariance(f->n, room->P, group->plant.live);
}

/* What a step has made of augmented states. */
BRAMAH__IN_CALLER void take_augmented(const bramah__filter_room *room, bramah__filter_group *group)
{
  const bramah_filter *f = group->like;
  const int64_t *live = group->plant.live;
  bramah__keep_where(live, f->n - f->n_plant, room->mean, bramah__lane_array(f, group->now, f->mean));
  bramah__keep_where(live, f->n_augmented, room->effect, bramah__lane_array(f, group->now, f->effect));
  bramah__keep_where(live, f->n_augmented, room->effect_spread,
                     bramah__lane_array(f, group->now, f->effect_spread));
  for (size_t s = 0; s < f->n_sensors; s++) {
    if (!f->changes[s]) continue;
    bramah__keep_where(live, 1, room->change + s * L, bramah__lane_array(f, group->now, f->change) + s * L);
    bramah__keep_where(live, 1, room->bend + s * L, bramah__lane_array(f, group->now, f->bend) + s * L);
  }
}

/* What was is what was before the step; P and the state of the plant, which are most of it, follow. */
BRAMAH__IN_CALLER void keep_before(const bramah__filter_lockstep *k, bramah__filter_group *group)
{
  const bramah_filter *f = group->like;
  double *was = group->now;
  int64_t all = 1;
  EACH_LANE all &= group->plant.live[l] | !group->in[l];
  if (!all) {
    bramah__keep_where(group->plant.live, bramah__lane_words(f), was, group->before);
    return;
  }
  const size_t words = bramah__lane_words(f) * L, P = (size_t)(bramah__lane_array(f, was, f->P) - was),
               behind_P = P + f->n * f->n * L, plant = (size_t)(bramah__lane_plant(f, was) - was),
               behind_plant = plant + k->plant.place.words * L;
  group->now = group->before;
  group->before = was;
  memcpy(group->now, was, P * sizeof *was);
  memcpy(group->now + behind_P, was + behind_P, (plant - behind_P) * sizeof *was);
  memcpy(group->now + behind_plant, was + behind_plant, (words - behind_plant) * sizeof *was);
  group->plant.state = bramah__lane_plant(f, group->now);
}

BRAMAH__FOR_PROCESSORS static void take_step(bramah__filter_lockstep *k, size_t g,
                                             bramah__filter_group *group)
{
  const bramah_filter *f = group->like;
  const int64_t *live = group->plant.live;
  const size_t n = f->n;
  bramah__filter_room *room = &k->of[g];
  keep_before(k, group);
  double *correction = bramah__lane_array(f, group->now, f->accumulated_correction);
  bramah__keep_where(live, n * n, room->P, bramah__lane_array(f, group->now, f->P));
  bramah__keep_where(live, f->n_plant * n, room->F, group->F);
  bramah__keep_where(live, f->n_plant * f->nq, room->Gamma, group->Gamma);
  for (size_t i = 0; i < n; i++) EACH_LANE correction[i * L + l] = live[l] ? 0.0 : correction[i * L + l];
  if (f->n_augmented) take_augmented(room, group);
  if (f->n_augmented) add_to(PROGRESS(group->now, report.limited), live, room->count + COUNT_LIMITED * L);
  double step[L];
  EACH_LANE step[l] = (double)f->plant.step_ns;
  add_to(PROGRESS(group->now, time_ns), live, step);
  add_to(PROGRESS(group->now, report.predictions), live, once);
  set_to(PROGRESS(group->now, has_last), live, 1);
  set_to(PROGRESS(group->now, rebased), live, 0);
}

/* New commands; those that are not finite are refused by the filter itself. */
static void set_inputs(const bramah__filter_lockstep *k, bramah__filter_group *group,
                       const bramah__lane_samples *samples)
{
  double *u = group->plant.state + k->plant.place.u * L;
  for (size_t l = 0; l < group->n_filters; l++) {
    const size_t n_input = group->like->plant.n_input;
    int finite = 1;
    if (!group->plant.live[l] || !samples->u[l]) continue;
    for (size_t i = 0; i < n_input; i++) finite &= isfinite(samples->u[l][i]) != 0;
    group->plant.live[l] &= finite;
    for (size_t i = 0; i < n_input && finite; i++) u[i * L + l] = samples->u[l][i];
  }
}

static void begin(bramah__filter_lockstep *k, bramah__filter_group *const *group, bramah__plant_group **plant)
{
  EACH_GROUP
  {
    const bramah_filter *f = group[g]->like;
    bramah__plant_group *p = plant[g] = &group[g]->plant;
    p->state = bramah__lane_plant(f, group[g]->now);
    p->n_par = f->n_par;
    p->par = f->par;
    p->basis = f->noise.basis;
    EACH_LANE p->live[l] = group[g]->in[l] & group[g]->taken[l];
  }
}

/* Is a kink of the plant in reach of what lane l believes (kinks.c)? */
static int is_at_kink(const bramah__filter_group *group, size_t l)
{
  const bramah_filter *like = group->like;
  const bramah_plant *plant = &group->filter[l]->plant;
  int any = 0;
  for (size_t i = 0; i < like->n_kinks && !any; i++) {
    bramah_kink kink;
    double sigma;
    plant->kink(plant->self, i, &kink);
    any = bramah__kink_reaches(&kink, bramah__lane_array(like, group->now, like->P) + l, L, like->n,
                               like->n_dof, &sigma);
  }
  return any;
}

/* Lanes with a parameter that may lie beyond an edge leave (augmented.c), and with a kink in reach before a step. */
static void check_edges(const bramah__filter_lockstep *k, bramah__filter_group *group, int before_step)
{
  const bramah_filter *like = group->like;
  for (size_t l = 0; l < group->n_filters && (like->n_edges || (before_step && like->n_kinks)); l++) {
    const bramah_plant *plant = &group->filter[l]->plant;
    if (!group->plant.live[l]) continue;
    bramah__lockstep_show_edges(&k->plant, &group->plant, l);
    if (before_step && is_at_kink(group, l)) group->plant.live[l] = 0;
    for (size_t j = 0; j < like->n_par && like->n_edges; j++) {
      double below, above, sigma = 0.0;
      if (j >= like->first_noise)
        sigma = group->par_noise[(j - like->first_noise) * L + l] / sqrt(bramah__step_seconds(like));
      plant->parameter_edges(plant->self, like->par[j], &below, &above);
      if (!isfinite(below) && !isfinite(above)) continue;
      const double value = plant->parameter(plant->self, like->par[j]);
      for (size_t i = 0; i < like->n_augmented; i++) {
        const bramah__augmented *own = &like->self_state[i];
        const double *variance =
            bramah__lane_array(like, group->now, like->P) + (own->state * like->n + own->state) * L;
        if (own->column == j) sigma = (like->augmented[i].logarithmic ? value : 1.0) * sqrt(variance[l]);
      }
      group->plant.live[l] &= !bramah__augmented_reaches(value, sigma, below, above);
    }
  }
}

/* Those that are not live have not done it. */
static void leave_undone(bramah__filter_lockstep *k, bramah__filter_group *const *group)
{
  EACH_GROUP EACH_LANE
  {
    const int left = group[g]->taken[l] && !group[g]->plant.live[l];
    if (left && group[g]->in[l]) bramah__lockstep_leave(k, group[g], l);
    group[g]->taken[l] &= group[g]->plant.live[l];
  }
}

/* The registers hold the poses of those that took part. */
static void note_pose(bramah__filter_lockstep *k, bramah__filter_group *const *group, int leaves_pose)
{
  EACH_GROUP
  {
    k->posed[g] = leaves_pose ? group[g] : NULL;
    for (size_t l = 0; l < group[g]->n_filters; l++)
      if (group[g]->in[l] && !group[g]->taken[l]) k->posed[g] = NULL;
  }
}

static int is_posed(const bramah__filter_lockstep *k, bramah__filter_group *const *group)
{
  int posed = 1;
  EACH_GROUP posed &= k->posed[g] == group[g];
  return posed;
}

void bramah__lockstep_predict(bramah__filter_lockstep *k, bramah__filter_group *const *group,
                              const bramah__lane_samples *samples)
{
  bramah__plant_group *plant[BRAMAH__MOST_GROUPS];
  begin(k, group, plant);
  EACH_GROUP set_inputs(k, group[g], &samples[g]);
  EACH_GROUP check_edges(k, group[g], 1);
  bramah__lanes_start_step(k, group, plant);
  bramah__lockstep_step(&k->plant, plant, 1);
  bramah__lanes_end_step(k, group);
  EACH_GROUP
  {
    invert_basis(group[g]->like, k->plant.of[g].B, plant[g]->live);
    follow_plants(k, g, group[g]);
  }
  const int moved = bramah__lanes_advance(k, group, plant);
  EACH_GROUP
  {
    if (group[g]->like->n_displaced) bramah__lockstep_count(plant[g], k->of[g].tried);
    take_step(k, g, group[g]);
    bramah__lockstep_take(&k->plant, g, plant[g], 1);
  }
  leave_undone(k, group);
  note_pose(k, group, !moved);
}

/* ---- a correction: what the samples say ---- */

/* Row of sensor i, whose outputs have been read, by the error state of the plant. */
BRAMAH__FOR_PROCESSORS static void sensor_row(bramah__filter_lockstep *k, size_t g,
                                              const bramah__filter_group *group, size_t i)
{
  const bramah_filter *f = group->like;
  const bramah_sensor *sensor = &f->sensor[i];
  bramah__filter_room *room = &k->of[g];
  double *H = room->T;
  for (size_t j = 0; j < f->n * L; j++) H[j] = 0.0;
  for (size_t t = 0; t < sensor->n_terms; t++) {
    const double *slope = room->slope + (t < bramah__sensor_first(sensor) ? 0 : L), of = sensor->weight[t];
    double weight[L];
    EACH_LANE weight[l] = slope[l] * of;
    if (of == 0.0) continue;
    bramah__lockstep_row(&k->plant, g, sensor->output[t], room->row);
    if (group->follows && bramah__lanes_accelerates(f, sensor->output[t]))
      bramah__lockstep_row_of_rates(&k->plant, g, sensor->output[t], room->row);
    for (size_t j = 0; j < f->n_plant * L; j += L) EACH_LANE
      {
        const double part = weight[l] * room->row[j + l];
        H[j + l] = sensor->n_terms == 1 ? part : H[j + l] + part;
      }
  }
}

/* Columns of a row that have entries in some lane. */
BRAMAH__IN_CALLER size_t list_row_entries(size_t n, const double *H, size_t *entry)
{
  size_t found = 0;
  for (size_t j = 0; j < n; j++) {
    int some = 0;
    EACH_LANE some |= H[j * L + l] != 0.0;
    entry[found] = j;
    found += (size_t)some;
  }
  return found;
}

/* Innovation of sensor i before any correction, its variance and what its gate says. */
BRAMAH__FOR_PROCESSORS static void innovate(bramah__filter_lockstep *k, size_t g, bramah__filter_group *group,
                                            size_t i)
{
  const bramah_filter *f = group->like;
  const size_t n = f->n;
  bramah__filter_room *room = &k->of[g];
  const double *seen = room->seen + i * L;
  double *H = room->T, *y = room->y + i * L, S[L];
  int64_t present[L], saturated[L] = {0};
  size_t *entry = room->entry + i * n, count = group->knows_rows ? group->n_entries[i] : 0;
  for (size_t c = 0; c < count; c++) entry[c] = group->entry[i * n + c];
  if (!group->knows_rows) count = list_row_entries(n, H, entry);
  room->n_entries[i] = count;
  lockstep_project(1, n, count, entry, H, bramah__lane_array(f, group->now, f->P), room->PH, S);
  EACH_LANE present[l] = (seen[l] != 0.0) & group->plant.live[l];
  for (size_t l = 0; l < group->n_filters && group->has_ranges; l++) {
    const bramah_sensor *own = &group->filter[l]->sensor[i];
    saturated[l] = present[l] && own->least < own->most && bramah_sensor_is_saturated(own, y[l]);
  }
  const double *variance = group->variance + i * L, *gate = group->gate + i * L;
  EACH_LANE
  {
    S[l] += variance[l];
    y[l] -= room->value[l];
  }
  if (f->sensor[i].period > 0.0) bramah__lanes_wrap(&f->sensor[i], y);
  if (f->n_augmented) bramah__lanes_share(room, group, i, present, S);
  double *innovation = group->innovation + i * L, *sigma = group->sigma + i * L, *chi = group->chi + i * L,
         *flags = group->flags + i * L;
  EACH_LANE
  {
    const double root = sqrt(S[l]), nis = y[l] * y[l] / S[l];
    const int64_t good =
        (S[l] > 0.0) & (S[l] < (double)INFINITY) & (fabs(y[l]) <= bramah__absurd_innovation * root);
    group->plant.live[l] &= good | !present[l];
    const int64_t accepted = (saturated[l] == 0) & ((gate[l] == 0.0) | (nis <= gate[l] * gate[l]));
    innovation[l] = present[l] ? y[l] : innovation[l];
    sigma[l] = present[l] ? root : sigma[l];
    chi[l] = present[l] ? nis : chi[l];
    const double told =
        PRESENT + (accepted ? (double)ACCEPTED : 0.0) + (saturated[l] ? (double)SATURATED : 0.0);
    flags[l] = present[l] ? told : flags[l];
  }
  bramah__keep_where(group->plant.live, n, H, group->H + i * n * L);
  bramah__keep_where(group->plant.live, 1, variance, group->r + i * L);
}

/* Nothing was measured, in the lanes that take part. */
BRAMAH__FOR_PROCESSORS static void clear(bramah__filter_group *group)
{
  const bramah_filter *f = group->like;
  int64_t live[L];
  EACH_LANE live[l] = group->plant.live[l];
  for (size_t i = 0; i < f->n_sensors * L; i += L) {
    double *innovation = group->innovation + i, *sigma = group->sigma + i, *chi = group->chi + i,
           *flags = group->flags + i, *considered = group->considered + i;
    EACH_LANE
    {
      considered[l] = live[l] ? 0.0 : considered[l];
      innovation[l] = live[l] ? (double)NAN : innovation[l];
      sigma[l] = live[l] ? (double)NAN : sigma[l];
      chi[l] = live[l] ? (double)NAN : chi[l];
      flags[l] = live[l] ? 0.0 : flags[l];
    }
  }
  for (size_t i = 0; i < f->n * L; i += L) EACH_LANE group->dx[i + l] = live[l] ? 0.0 : group->dx[i + l];
  EACH_LANE group->nis[l] = live[l] ? 0.0 : group->nis[l];
  EACH_LANE group->dof[l] = live[l] ? 0.0 : group->dof[l];
}

static void observe(bramah__filter_lockstep *k, bramah__filter_group *const *group)
{
  const size_t n_sensors = group[0]->like->n_sensors;
  EACH_GROUP
  {
    clear(group[g]);
    bramah__lanes_hold(k, g, group[g]);
  }
  for (size_t i = 0; i < n_sensors; i++) {
    bramah__lanes_predict_sensor(k, group, i, 0);
    EACH_GROUP
    {
      sensor_row(k, g, group[g], i);
      if (group[g]->like->n_augmented) bramah__lanes_complete_row(k, g, group[g], i);
      innovate(k, g, group[g], i);
    }
  }
}

/* ---- gates ---- */

/* Element i of an array of 32-bit numbers in the words of lane l. */
static unsigned char *small(double *words, size_t i, size_t l)
{
  return (unsigned char *)(words + i / 2 * L + l) + i % 2 * sizeof(uint32_t);
}

static uint32_t get_small(double *words, size_t i, size_t l)
{
  uint32_t value;
  memcpy(&value, small(words, i, l), sizeof value);
  return value;
}

static void set_small(double *words, size_t i, size_t l, double to)
{
  const uint32_t value = (uint32_t)to;
  memcpy(small(words, i, l), &value, sizeof value);
}

/* The usual: all samples are accepted, as those before them were, and no gate is on drifts. Then a gate changes nothing. */
BRAMAH__IN_CALLER int all_accepted(const bramah_filter *f, const bramah__filter_group *group, double *count)
{
  const size_t words = (f->n_sensors + 1) / 2 * L;
  const double *reject = bramah__lane_array(f, group->now, f->reject),
               *drifted = bramah__lane_array(f, group->now, f->drifted);
  uint64_t other = 0;
  for (size_t i = 0; i < words; i++) {
    uint64_t rejected, drifts;
    memcpy(&rejected, &reject[i], sizeof rejected);
    memcpy(&drifts, &drifted[i], sizeof drifts);
    other |= rejected | drifts;
  }
  EACH_LANE other |=
      (uint64_t)group->plant.live[l] & ((group->drift_gate[l] != 0.0) | !(group->patience[l] > 0.0));
  for (size_t i = 0; i < f->n_sensors; i++) EACH_LANE
    {
      const double told = group->flags[i * L + l];
      other |= (told != 0.0) & (told != (double)(PRESENT | ACCEPTED));
      count[COUNT_ACCEPTED * L + l] += told != 0.0 ? 1.0 : 0.0;
    }
  return !other;
}

/* As apply_gates of correct.c into the room; a lane with a faulty sensor leaves. */
BRAMAH__FOR_PROCESSORS static void apply_gates(bramah__filter_lockstep *k, size_t g,
                                               bramah__filter_group *group)
{
  const bramah_filter *f = group->like;
  bramah__filter_room *room = &k->of[g];
  double *reject = bramah__lane_array(f, group->now, f->reject),
         *drifted = bramah__lane_array(f, group->now, f->drifted),
         *drift = bramah__lane_array(f, group->now, f->drift),
         *common = bramah__lane_array(f, group->now, f->drift_common);
  for (size_t i = 0; i < 8 * L; i++) room->count[i] = 0.0;
  EACH_LANE room->count[PRODUCT * L + l] = 1.0;
  room->as_usual = all_accepted(f, group, room->count);
  if (room->as_usual) return;
  EACH_LANE room->count[COUNT_ACCEPTED * L + l] = 0.0;
  memcpy(room->drift, drift, f->n_sensors * L * sizeof *drift);
  memcpy(room->drift_common, common, f->n_sensors * L * sizeof *common);
  for (size_t i = 0; i < f->n_sensors; i++) {
    double *to = room->drift + i * L, *share = room->drift_common + i * L, *flags = group->flags + i * L,
           limit[L];
    const double *considered = group->considered + i * L;
    int64_t told[L], follows[L];
    EACH_LANE
    {
      const double most = group->gate[i * L + l], nu = group->innovation[i * L + l] / group->sigma[i * L + l];
      told[l] = (int64_t)flags[l];
      follows[l] =
          (group->drift_gate[l] != 0.0) & (most != 0.0) & ((told[l] & (PRESENT | SATURATED)) == PRESENT);
      const double moved = to[l] + bramah__drift_share * ((nu < -most  ? -most
                                                           : nu > most ? most
                                                                       : nu) -
                                                          to[l]);
      to[l] = follows[l] ? moved : to[l];
      share[l] += follows[l] ? bramah__drift_share * (considered[l] - share[l]) : 0.0;
      limit[l] = group->drift_gate[l] * bramah__drift_sigma(share[l]);
    }
    EACH_LANE
    {
      const uint32_t was = get_small(drifted, i, l);
      const int64_t drifts = follows[l] ? fabs(to[l]) > (was ? 0.5 : 1.0) * limit[l] : was != 0;
      room->drifted[i * L + l] = (double)drifts;
      if (follows[l] && drifts) told[l] &= ~ACCEPTED;
      uint32_t times = get_small(reject, i, l);
      if (told[l] & ACCEPTED) times = 0;
      times += (told[l] & (PRESENT | ACCEPTED | SATURATED)) == PRESENT && times < UINT32_MAX;
      room->reject[i * L + l] = times;
      if ((double)times >= group->patience[l]) group->plant.live[l] = 0;
      if (group->plant.live[l] && (told[l] & PRESENT)) flags[l] = (double)told[l];
      if (!(told[l] & PRESENT)) continue;
      room->count[COUNT_ACCEPTED * L + l] += told[l] & ACCEPTED ? 1.0 : 0.0;
      room->count[COUNT_SATURATED * L + l] += told[l] & SATURATED ? 1.0 : 0.0;
      room->count[COUNT_GATED * L + l] += told[l] & (ACCEPTED | SATURATED) ? 0.0 : 1.0;
    }
  }
}

/* ---- fusion ---- */

/* As count_sample of correct.c, of the lanes in `counts`; what is seldom lane by lane. */
BRAMAH__IN_CALLER void count_samples(const int64_t *counts, const double *gate, const double *rest,
                                     const double *variance, double *cost, double *product)
{
  int64_t seldom = 0, beyond[L], extreme[L];
  EACH_LANE
  {
    const double most = gate[l] * gate[l], nis = rest[l] * rest[l] / variance[l],
                 next = product[l] * variance[l];
    beyond[l] = counts[l] & !((most == 0.0) | (nis <= most));
    extreme[l] = counts[l] & !((next > 1e-100) & (next < 1e100));
    cost[l] += (counts[l] & !beyond[l]) ? bramah__log_two_pi + nis : 0.0;
    product[l] = counts[l] ? next : product[l];
    seldom |= beyond[l] | extreme[l];
  }
  for (size_t l = 0; l < L && seldom; l++) {
    const double most = gate[l] * gate[l], nis = rest[l] * rest[l] / variance[l];
    if (beyond[l]) cost[l] += bramah__log_two_pi + (most + 2.0 * bramah__log(nis / most));
    if (!extreme[l]) continue;
    cost[l] += bramah__log(product[l]);
    product[l] = 1.0;
  }
}

/* Sensor i into the upper triangle of the room's P and dx. A lane that takes no part in it has no gain: P and dx stay, but
 * for additions of zero. */
BRAMAH__IN_CALLER void fuse_sample(size_t n, bramah__filter_lockstep *k, size_t g,
                                   bramah__filter_group *group, size_t i)
{
  bramah__filter_room *room = &k->of[g];
  const size_t count = room->n_entries[i], *entry = room->entry + i * n;
  const double *H = group->H + i * n * L, *r = group->r + i * L, *flags = group->flags + i * L;
  double rest[L], S[L], of_gain[L], of_rounding[L],
      *left = group->rest + i * L, *left_variance = group->rest_variance + i * L, *nis = group->nis,
      *dof = group->dof;
  int64_t counts[L], fuses[L], live[L], some = 0;
  EACH_LANE live[l] = group->plant.live[l];
  EACH_LANE
  {
    fuses[l] = live[l] & (flags[l] == (double)(PRESENT | ACCEPTED));
    counts[l] = fuses[l] | (live[l] & (flags[l] == (double)PRESENT));
    some |= counts[l];
    rest[l] = room->y[i * L + l];
    left[l] = live[l] ? 0.0 : left[l];
    left_variance[l] = live[l] ? 0.0 : left_variance[l];
  }
  if (!some) return;
  for (size_t c = 0; c < count; c++) EACH_LANE rest[l] -= H[entry[c] * L + l] * room->dx[entry[c] * L + l];
  lockstep_project(0, n, count, entry, H, room->P, room->PH, S);
  EACH_LANE S[l] = r[l] + S[l];
  count_samples(counts, group->gate + i * L, rest, S, room->count + COST * L, room->count + PRODUCT * L);
  EACH_LANE
  {
    left[l] = counts[l] ? rest[l] : left[l];
    left_variance[l] = counts[l] ? S[l] : left_variance[l];
    live[l] &= ((S[l] > 0.0) & (S[l] < (double)INFINITY)) | !fuses[l];
    nis[l] += fuses[l] ? rest[l] * rest[l] / S[l] : 0.0;
    dof[l] += fuses[l] ? 1.0 : 0.0;
    of_gain[l] = fuses[l] ? S[l] : (double)INFINITY;
    of_rounding[l] = fuses[l] ? S[l] : 0.0;
  }
  EACH_LANE group->plant.live[l] = live[l];
  const unsigned char *held = room->considers ? room->held : NULL;
  const size_t end = held ? room->n_fused : n;
  lockstep_gain(n, held, room->PH, of_gain, rest, room->K, room->dx);
  lockstep_reduce(n, end, held, count, entry, H, of_rounding, r, room->PH, room->K, room->w, room->P);
}

BRAMAH__FOR_PROCESSORS static void fuse(bramah__filter_lockstep *k, size_t g, bramah__filter_group *group)
{
  const bramah_filter *f = group->like;
  const size_t n = f->n;
  bramah__filter_room *room = &k->of[g];
  memcpy(room->P, bramah__lane_array(f, group->now, f->P), n * n * L * sizeof(double));
  for (size_t i = 0; i < n * L; i++) room->dx[i] = 0.0;
  if (f->n_augmented) bramah__lanes_learn(room, group);
  switch (room->considers ? 0 : n) {
#define OF_SIZE(N)                                                                                           \
  case N:                                                                                                    \
    for (size_t i = 0; i < f->n_sensors; i++) fuse_sample(N, k, g, group, i);                                \
    break;
    SMALL_SIZES(OF_SIZE)
#undef OF_SIZE
  default:
    for (size_t i = 0; i < f->n_sensors; i++) fuse_sample(n, k, g, group, i);
  }
  lockstep_mirror(n, n, room->P);
  check_covariance(n, room->P, group->plant.live);
  EACH_LANE room->count[LIKELIHOOD * L + l] =
      room->count[COST * L + l] + bramah__log(room->count[PRODUCT * L + l]);
}

/* ---- injection ---- */

/* Candidates of the plants where parameters have moved; they become the states that corrections start from. 1: there are some. */
static int set_parameters(bramah__filter_lockstep *k, bramah__filter_group *const *group,
                          bramah__plant_group **plant)
{
  int64_t moved[BRAMAH__MOST_GROUPS][L], live[BRAMAH__MOST_GROUPS][L], some = 0;
  EACH_GROUP { some |= bramah__lanes_inject(k, g, group[g], moved[g]); }
  if (!some) return 0;
  EACH_GROUP
  {
    memcpy(live[g], plant[g]->live, sizeof live[g]);
    EACH_LANE plant[g]->live[l] &= moved[g][l];
  }
  bramah__lockstep_adopt(&k->plant, plant);
  EACH_GROUP
  {
    memcpy(k->of[g].middle, plant[g]->state, k->plant.place.words * L * sizeof(double));
    plant[g]->state = k->of[g].middle;
    bramah__lockstep_take(&k->plant, g, plant[g], 0);
    EACH_LANE plant[g]->live[l] = live[g][l] & (plant[g]->live[l] | !moved[g][l]);
  }
  return 1;
}

/* What has come of a correction. */
BRAMAH__FOR_PROCESSORS static void take_correction(bramah__filter_lockstep *k, size_t g,
                                                   bramah__filter_group *group)
{
  const bramah_filter *f = group->like;
  const int64_t *live = group->plant.live;
  const size_t n = f->n, m = f->n_sensors;
  bramah__filter_room *room = &k->of[g];
  double *correction = bramah__lane_array(f, group->now, f->accumulated_correction),
         *likelihood = PROGRESS(group->now, log_likelihood);
  bramah__keep_where(live, n * n, room->P, bramah__lane_array(f, group->now, f->P));
  bramah__keep_where(live, n - f->n_plant, room->mean, bramah__lane_array(f, group->now, f->mean));
  if (room->considers)
    bramah__keep_where(live, f->n_augmented, room->information,
                       bramah__lane_array(f, group->now, f->information));
  if (!room->as_usual) {
    bramah__keep_where(live, m, room->drift, bramah__lane_array(f, group->now, f->drift));
    bramah__keep_where(live, m, room->drift_common, bramah__lane_array(f, group->now, f->drift_common));
  }
  bramah__keep_where(live, n, room->dx, group->dx);
  for (size_t i = 0; i < n; i++)
    EACH_LANE correction[i * L + l] += (live[l] & (group->dof[l] > 0.0)) ? room->dx[i * L + l] : 0.0;
  const double *count = room->count;
  EACH_LANE likelihood[l] = live[l] ? likelihood[l] - 0.5 * count[LIKELIHOOD * L + l] : likelihood[l];
  add_to(PROGRESS(group->now, report.corrections), live, once);
  add_to(PROGRESS(group->now, report.accepted), live, count + COUNT_ACCEPTED * L);
  add_to(PROGRESS(group->now, report.limited), live, count + COUNT_LIMITED * L);
  if (room->as_usual) return;
  add_to(PROGRESS(group->now, report.saturated), live, count + COUNT_SATURATED * L);
  add_to(PROGRESS(group->now, report.gated), live, count + COUNT_GATED * L);
  for (size_t l = 0; l < L; l++)
    for (size_t i = 0; i < m && live[l]; i++) {
      set_small(bramah__lane_array(f, group->now, f->reject), i, l, room->reject[i * L + l]);
      set_small(bramah__lane_array(f, group->now, f->drifted), i, l, room->drifted[i * L + l]);
    }
}

/* Samples into the room; lanes where nothing was measured are done. */
static void take_samples(bramah__filter_lockstep *k, size_t g, const bramah__filter_group *group,
                         const bramah__lane_samples *samples, int64_t *idle)
{
  const size_t m = group->like->n_sensors;
  double *to = k->of[g].y, *seen = k->of[g].seen;
  for (size_t l = 0; l < L; l++) {
    const double *y = samples->y[l];
    const unsigned char *present = samples->present[l];
    const int live = group->plant.live[l] != 0;
    unsigned char measured = 0;
    for (size_t i = 0; i < m; i++) {
      const int some = live && present[i];
      to[i * L + l] = some ? y[i] : 0.0;
      seen[i * L + l] = some ? 1.0 : 0.0;
      measured |= (unsigned char)some;
    }
    idle[l] = live && !measured;
  }
}

void bramah__lockstep_correct(bramah__filter_lockstep *k, bramah__filter_group *const *group,
                              const bramah__lane_samples *samples)
{
  bramah__plant_group *plant[BRAMAH__MOST_GROUPS];
  double *dx[BRAMAH__MOST_GROUPS];
  int64_t idle[BRAMAH__MOST_GROUPS][L];
  begin(k, group, plant);
  EACH_GROUP check_edges(k, group[g], 0);
  EACH_GROUP take_samples(k, g, group[g], &samples[g], idle[g]);
  if (!is_posed(k, group)) bramah__lockstep_pose(&k->plant, plant);
  if (group[0]->follows) bramah__lockstep_slopes(&k->plant, plant);
  observe(k, group);
  EACH_GROUP
  {
    EACH_LANE plant[g]->live[l] &= !idle[g][l];
    apply_gates(k, g, group[g]);
    fuse(k, g, group[g]);
    dx[g] = k->of[g].dx;
  }
  const int all_moves = set_parameters(k, group, plant);
  bramah__lockstep_inject(&k->plant, plant, dx);
  EACH_GROUP
  {
    int64_t live[L];
    memcpy(live, plant[g]->live, sizeof live);
    plant[g]->state = bramah__lane_plant(group[g]->like, group[g]->now);
    EACH_LANE plant[g]->live[l] &= group[g]->dof[l] > 0.0;
    if (all_moves)
      bramah__lockstep_take(&k->plant, g, plant[g], 0);
    else
      bramah__lockstep_take_point(&k->plant, g, plant[g]);
    memcpy(plant[g]->live, live, sizeof live);
    take_correction(k, g, group[g]);
    EACH_LANE plant[g]->live[l] |= idle[g][l];
  }
  leave_undone(k, group);
  note_pose(k, group, 0);
}

/* ---- outputs ---- */

void bramah__lockstep_inputs(bramah__filter_lockstep *k, bramah__filter_group *const *group,
                             const bramah__lane_samples *samples)
{
  bramah__plant_group *plant[BRAMAH__MOST_GROUPS];
  begin(k, group, plant);
  EACH_GROUP
  {
    set_inputs(k, group[g], &samples[g]);
    k->posed[g] = NULL; /* rates by parameters go with them */
  }
  leave_undone(k, group);
}

void bramah__lockstep_prepare(bramah__filter_lockstep *k, bramah__filter_group *const *group, size_t n,
                              const size_t *output)
{
  bramah__plant_group *plant[BRAMAH__MOST_GROUPS];
  int follow = 0;
  begin(k, group, plant);
  for (size_t i = 0; i < n; i++) follow |= bramah__lanes_accelerates(group[0]->like, output[i]);
  if (!is_posed(k, group)) {
    bramah__lockstep_pose(&k->plant, plant);
    note_pose(k, group, 1);
  }
  if (follow) bramah__lockstep_slopes(&k->plant, plant);
  EACH_GROUP EACH_LANE group[g]->taken[l] &= plant[g]->live[l];
}

/* Row of output i, which has been read, by all error states, into the room. */
static void output_row(bramah__filter_lockstep *k, size_t g, const bramah__filter_group *group, size_t i)
{
  const bramah_filter *f = group->like;
  const int follows = bramah__lanes_accelerates(f, i);
  double *H = k->of[g].T;
  bramah_output_info info;
  bramah__lockstep_row(&k->plant, g, i, H);
  if (follows) bramah__lockstep_row_of_rates(&k->plant, g, i, H);
  for (size_t j = f->n_plant * L; j < f->n * L; j++) H[j] = 0.0;
  bramah_plant_output_info(&f->plant, i, &info);
  for (size_t j = 0; j < f->n_augmented && bramah__is_moved_at_once(&info); j++) {
    const bramah__augmented *own = &f->self_state[j];
    double by[L];
    if (own->column == SIZE_MAX) continue;
    bramah__lockstep_by_parameter(&k->plant, g, i, own->target, by);
    if (follows) bramah__lockstep_rates_by_parameter(&k->plant, g, i, own->column, by);
    const double *value = group->plant.state + (k->plant.place.theta + own->target) * L;
    EACH_LANE H[own->state * L + l] = (f->augmented[j].logarithmic ? value[l] : 1.0) * by[l];
  }
}

/* As bramah__variance: its root, by the row in the room. */
BRAMAH__FOR_PROCESSORS static void spread(const bramah_filter *f, const double *P, size_t *entry,
                                          const double *H, double *sigma)
{
  const size_t n = f->n, count = list_row_entries(n, H, entry);
  double sum[L] = {0};
  for (size_t e = 0; e < count; e++) {
    double row[L] = {0};
    for (size_t c = 0; c < count; c++)
      EACH_LANE row[l] += P[(entry[e] * n + entry[c]) * L + l] * H[entry[c] * L + l];
    EACH_LANE sum[l] += H[entry[e] * L + l] * row[l];
  }
  EACH_LANE sigma[l] = sqrt(sum[l]);
}

void bramah__lockstep_output(bramah__filter_lockstep *k, bramah__filter_group *const *group, size_t i,
                             double value[][L], double sigma[][L])
{
  bramah__lockstep_read(&k->plant, i);
  EACH_GROUP
  {
    const bramah_filter *f = group[g]->like;
    bramah__lockstep_value(&k->plant, g, group[g]->plant.state, i, value[g]);
    if (!sigma) continue;
    output_row(k, g, group[g], i);
    spread(f, bramah__lane_array(f, group[g]->now, f->P), k->of[g].entry, k->of[g].T, sigma[g]);
  }
}
