/* SPDX-License-Identifier: MIT */
#include "estimators/lockstep_internal.h"

/* ---- what goes in lockstep ---- */

int bramah__lockstep_may(const bramah_filter *f, const bramah_coupled *plant)
{
  if (!bramah__lockstep_fits(plant, f->n_par, f->par) || f->transition != BRAMAH_TRANSITION_STEP ||
      !f->resolvent)
    return 0;
  if (f->square_root || f->block || f->iterations > 1 || f->n_banks || f->n_causes_most || f->n_phases)
    return 0;
  for (size_t i = 0; i < f->n_augmented; i++)
    if (f->augmented[i].signal_period > 0.0) return 0;
  for (size_t r = 0; r < f->n_dof; r++)
    if (!bramah__lockstep_reads(plant, f->noise.basis[r])) return 0;
  for (size_t i = 0; i < f->n_sensors; i++) {
    const bramah_sensor *sensor = &f->sensor[i];
    if (sensor->n_terms == 0) return 0;
    for (size_t t = 0; t < sensor->n_terms; t++)
      if (!bramah__lockstep_shows(plant, sensor->output[t])) return 0;
  }
  return 1;
}

static int alike_sensors(const bramah_sensor *a, const bramah_sensor *b)
{
  const size_t n = a->n_terms;
  return n == b->n_terms && a->shape == b->shape && a->n_first == b->n_first &&
         memcmp(a->output, b->output, n * sizeof *a->output) == 0 &&
         memcmp(a->weight, b->weight, n * sizeof *a->weight) == 0 && a->period == b->period;
}

int bramah__lockstep_alike(const bramah_filter *a, const bramah_filter *b)
{
  if (a->n != b->n || a->n_sensors != b->n_sensors || a->n_augmented != b->n_augmented || a->nq != b->nq ||
      a->n_par != b->n_par || a->n_edges != b->n_edges || a->n_displaced != b->n_displaced ||
      a->shape.n_noisy != b->shape.n_noisy || memcmp(a->par, b->par, a->n_par * sizeof *a->par) != 0 ||
      memcmp(a->noise.basis, b->noise.basis, a->n_dof * sizeof *a->noise.basis) != 0 ||
      memcmp(a->noisy, b->noisy, a->shape.n_noisy * sizeof *a->noisy) != 0)
    return 0;
  for (size_t i = 0; i < a->n_augmented; i++) {
    const bramah_augmented *p = &a->augmented[i], *q = &b->augmented[i];
    if (p->kind != q->kind || p->order != q->order || p->role != q->role ||
        p->logarithmic != q->logarithmic || a->self_state[i].target != b->self_state[i].target ||
        a->self_state[i].moves != b->self_state[i].moves)
      return 0;
  }
  for (size_t i = 0; i < a->n_sensors; i++)
    if (!alike_sensors(&a->sensor[i], &b->sensor[i])) return 0;
  return 1;
}

/* ---- into the lanes and out of them ---- */

static void scatter(const void *from, size_t words, size_t lane, double *to)
{
  const double *x = from;
  for (size_t i = 0; i < words; i++) memcpy(&to[i * L + lane], &x[i], sizeof *x);
}

static int follows_accelerations(const bramah_filter *f)
{
  int follows = 0;
  for (size_t i = 0; i < f->n_sensors; i++)
    for (size_t t = 0; t < f->sensor[i].n_terms; t++)
      follows |= bramah__lanes_accelerates(f, f->sensor[i].output[t]);
  return follows;
}

/* Columns of rows that may have entries. */
static void find_entries(bramah__filter_group *group, const bramah_filter *f)
{
  group->knows_rows = !group->follows && f->n == f->n_plant;
  for (size_t i = 0; i < f->n_sensors && group->knows_rows; i++) {
    const bramah_sensor *sensor = &f->sensor[i];
    group->n_entries[i] = 0;
    for (size_t j = 0; j < f->n; j++) {
      int some = 0;
      for (size_t t = 0; t < sensor->n_terms; t++)
        some |= bramah__lockstep_depends(f->plant.self, sensor->output[t], j);
      if (some) group->entry[i * f->n + group->n_entries[i]++] = j;
    }
  }
}

/* What the options say, which bramah_filter_set_noise and the like may have changed. */
static void enter_constants(bramah__filter_group *group, const bramah_filter *f, size_t lane)
{
  for (size_t i = 0; i < f->n_sensors; i++) {
    group->variance[i * L + lane] = bramah_sensor_variance(&f->sensor[i]);
    group->gate[i * L + lane] = f->gate[i];
    group->has_ranges |= f->sensor[i].least < f->sensor[i].most;
  }
  group->follows = follows_accelerations(f);
  find_entries(group, f);
  group->drift_gate[lane] = f->drift_gate;
  group->patience[lane] = f->patience;
  scatter(f->noise.acceleration, f->n_dof, lane, group->acceleration);
  scatter(f->noise.first_order, f->n_first_order, lane, group->first_order);
  for (size_t i = 0; i < f->n_augmented; i++) {
    const bramah__augmented *own = &f->self_state[i];
    scatter(own->Phi, 4, lane, group->Phi + 4 * i * L);
    scatter(own->noise, 3, lane, group->noise + 3 * i * L);
    group->role[i * L + lane] = (double)f->augmented[i].role;
    group->nominal[i * L + lane] = own->nominal;
    group->least[i * L + lane] = own->least;
    group->most[i * L + lane] = own->most;
  }
  scatter(f->par_noise, f->n_par_noise, lane, group->par_noise);
}

void bramah__lockstep_enter(bramah__filter_lockstep *k, bramah__filter_group *group, size_t lane)
{
  bramah_filter *f = group->filter[lane];
  const size_t own = bramah__own_size(f), tail = own - sizeof f->progress - f->state_size;
  if (group->in[lane] || f->n_foreign || !bramah__lockstep_knows(f->plant.self)) return;
  memset(k->snapshot + own - tail, 0, tail);
  bramah__keep(f, k->snapshot);
  scatter(k->snapshot, bramah__lane_words(f), lane, group->now);
  if (f->progress.has_last) {
    scatter(f->snapshot.previous_step, bramah__lane_words(f), lane, group->before);
    scatter(f->F, f->n_plant * f->n, lane, group->F);
    scatter(f->Gamma, f->n_plant * f->nq, lane, group->Gamma);
  }
  for (size_t i = 0; i < f->n_sensors; i++) {
    const bramah_innovation *in = &f->innovation[i];
    group->innovation[i * L + lane] = in->innovation;
    group->sigma[i * L + lane] = in->sigma;
    group->chi[i * L + lane] = in->nis;
    group->flags[i * L + lane] =
        (in->present ? PRESENT : 0) | (in->accepted ? ACCEPTED : 0) | (in->saturated ? SATURATED : 0);
    group->rest[i * L + lane] = in->rest;
    group->rest_variance[i * L + lane] = in->rest_variance;
    group->considered[i * L + lane] = in->considered;
  }
  scatter(f->correlation, f->n_sensors * f->n_augmented, lane, group->correlation);
  scatter(f->H, f->n_sensors * f->n, lane, group->H);
  scatter(f->r, f->n_sensors, lane, group->r);
  scatter(f->dx, f->n, lane, group->dx);
  group->nis[lane] = f->nis;
  group->dof[lane] = (double)f->nis_dof;
  enter_constants(group, f, lane);
  group->in[lane] = 1;
  bramah__lockstep_forget(&k->plant);
  for (size_t g = 0; g < BRAMAH__MOST_GROUPS; g++)
    if (k->posed[g] == group) k->posed[g] = NULL;
}

void bramah__lockstep_show(const bramah__filter_group *group, size_t lane)
{
  bramah_filter *f = group->filter[lane];
  if (!group->in[lane]) return;
  for (size_t i = 0; i < f->n_sensors; i++) {
    const unsigned flags = (unsigned)group->flags[i * L + lane];
    f->innovation[i] = (bramah_innovation){.present = (flags & PRESENT) != 0,
                                           .innovation = group->innovation[i * L + lane],
                                           .sigma = group->sigma[i * L + lane],
                                           .nis = group->chi[i * L + lane],
                                           .considered = group->considered[i * L + lane],
                                           .accepted = (flags & ACCEPTED) != 0,
                                           .saturated = (flags & SATURATED) != 0,
                                           .rest = group->rest[i * L + lane],
                                           .rest_variance = group->rest_variance[i * L + lane]};
  }
  f->nis = group->nis[lane];
  f->nis_dof = (size_t)group->dof[lane];
}

void bramah__lockstep_write(bramah__filter_lockstep *k, const bramah__filter_group *group, size_t lane)
{
  bramah_filter *f = group->filter[lane];
  bramah_coupled *c = f->plant.self;
  if (!group->in[lane]) return;
  bramah__gather(group->now, bramah__lane_words(f), lane, k->snapshot);
  bramah__take_back(f, k->snapshot, 1);
  c->error.end_ns = -1; /* not known in lanes */
  if (f->progress.has_last) {
    bramah__gather(group->before, bramah__lane_words(f), lane, f->snapshot.previous_step);
    bramah__gather(group->F, f->n_plant * f->n, lane, f->F);
    bramah__gather(group->Gamma, f->n_plant * f->nq, lane, f->Gamma);
    bramah__augmented_blocks(f);
  }
  bramah__lockstep_show(group, lane);
  bramah__gather(group->H, f->n_sensors * f->n, lane, f->H);
  bramah__gather(group->r, f->n_sensors, lane, f->r);
  bramah__gather(group->dx, f->n, lane, f->dx);
  bramah__gather(group->correlation, f->n_sensors * f->n_augmented, lane, f->correlation);
}

void bramah__lockstep_leave(bramah__filter_lockstep *k, bramah__filter_group *group, size_t lane)
{
  bramah__lockstep_write(k, group, lane);
  group->in[lane] = 0;
}

void bramah__lockstep_result(const bramah__filter_group *group, size_t lane, bramah_batch_result *result)
{
  bramah__progress now;
  if (!group->in[lane]) return;
  bramah__gather(group->now, sizeof now / sizeof(double), lane, &now);
  result->in_lane = 1;
  result->time_ns = now.time_ns;
  result->log_likelihood = now.log_likelihood;
  result->nis = group->nis[lane];
  result->nis_dof = (size_t)group->dof[lane];
}

/* ---- memory ---- */

void bramah__lockstep_enlarge(bramah_filter *largest, const bramah_filter *f)
{
  const bramah_filter was = *largest;
  if (bramah__own_size(f) > bramah__own_size(&was) || was.n == 0) *largest = *f;
  largest->n = f->n > was.n ? f->n : was.n;
  largest->nq = f->nq > was.nq ? f->nq : was.nq;
  largest->n_augmented = f->n_augmented > was.n_augmented ? f->n_augmented : was.n_augmented;
  largest->n_par_most = f->n_par_most > was.n_par_most ? f->n_par_most : was.n_par_most;
}

void bramah__filter_group_cut(const bramah_filter *like, bramah__arena *arena, bramah__filter_group *out)
{
  const size_t n = like->n, ne = like->n_plant, nq = like->nq, m = like->n_sensors, nf = like->n_dof,
               np = like->n_first_order, n_augmented = like->n_augmented, n_par_noise = like->n_par_noise,
               words = bramah__lane_words(like);
  *out = (bramah__filter_group){0};
#define TAKE(name, count) out->name = BRAMAH__TAKE(arena, double, L *(count));
  BRAMAH__GROUP_STATE(TAKE)
#undef TAKE
  out->entry = BRAMAH__TAKE(arena, size_t, m * n);
  out->n_entries = BRAMAH__TAKE(arena, size_t, m);
}

void bramah__filter_lockstep_cut(const bramah_filter *largest, const bramah_coupled *c, size_t n_groups,
                                 bramah__arena *arena, bramah__filter_lockstep *out)
{
  const size_t n = largest->n, nq = largest->nq, m = largest->n_sensors, ne = largest->n_plant,
               n_augmented = largest->n_augmented, n_par = largest->n_par_most,
               plant_words = c->state.size / sizeof(double);
  *out = (bramah__filter_lockstep){0};
  bramah__lockstep_cut(c, n_groups, arena, &out->plant);
  for (size_t g = 0; g < n_groups; g++) {
#define TAKE(name, count) out->of[g].name = BRAMAH__TAKE(arena, double, L *(count));
    BRAMAH__ROOM_ARRAYS(TAKE)
#undef TAKE
    out->of[g].entry = BRAMAH__TAKE(arena, size_t, m * n);
    out->of[g].n_entries = BRAMAH__TAKE(arena, size_t, m);
    out->of[g].held = BRAMAH__TAKE(arena, unsigned char, n *L);
  }
  out->snapshot = bramah__arena_take(arena, bramah__own_size(largest), 1);
}
