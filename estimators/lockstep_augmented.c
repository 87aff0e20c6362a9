/* SPDX-License-Identifier: MIT */
/* Augmented states of filters in lanes, their roles among them: each function does what one of augmented.c does, where the
 * reasons are. */
#include "estimators/lockstep_internal.h"
#include "lib/base/processors.h"
#include "lib/math/dense.h"
#include "lib/math/elementary.h"
#include "sensors/kinds.h"

/* The values that parameters of the plant have in the lanes of a state. */
BRAMAH__IN_CALLER const double *value_of(const bramah__filter_lockstep *k, const bramah_filter *f,
                                         const double *plant, size_t i)
{
  return plant + (k->plant.place.theta + f->self_state[i].target) * L;
}

static size_t states_of(const bramah_augmented *a) { return a->order == 2 ? 2 : 1; }

/* Lanes whose state i has role AUTO, and is compared with displaced steps. */
BRAMAH__IN_CALLER int are_compared(const bramah__filter_group *group, const bramah_filter *f, size_t i,
                                   int64_t *compared)
{
  const int may = f->n_displaced && f->self_state[i].column != SIZE_MAX;
  int64_t some = 0;
  EACH_LANE some |= compared[l] = may && group->role[i * L + l] == (double)BRAMAH_AUGMENTED_AUTO;
  return some != 0;
}

/* ---- the start of a step ---- */

/* What sensors with delays are predicted to show at the states in the registers, of which `next` says whether they are
 * the candidates. */
static void predict_changing(bramah__filter_lockstep *k, bramah__filter_group *const *group, int next)
{
  const bramah_filter *f = group[0]->like;
  for (size_t s = 0; s < f->n_sensors; s++) {
    if (!f->changes[s]) continue;
    bramah__lanes_predict_sensor(k, group, s, next);
    EACH_GROUP memcpy(k->of[g].shown + s * L, k->of[g].value, L * sizeof(double));
  }
}

/* Lanes whose turn it is to make a step from beside the estimate, by dx [ne]; how many. */
static size_t choose_displaced(bramah__filter_lockstep *k, size_t g, const bramah__filter_group *group,
                               int64_t *which)
{
  const bramah_filter *f = group->like;
  const size_t n = f->n, ne = f->n_plant;
  bramah__filter_room *room = &k->of[g];
  double *root = f->work.square;
  const double *P = bramah__lane_array(f, group->now, f->P), *time = PROGRESS(group->now, time_ns);
  size_t some = 0;
  for (size_t l = 0; l < L; l++) {
    int64_t time_ns;
    which[l] = 0;
    room->displaced[l] = (double)NAN;
    room->tried[l] = 0.0;
    for (size_t r = 0; r < ne; r++) room->dx[r * L + l] = 0.0;
    memcpy(&time_ns, &time[l], sizeof time_ns);
    const uint64_t turn = (uint64_t)(time_ns / f->plant.step_ns);
    if (!group->plant.live[l] || turn % BRAMAH__DISPLACE_EVERY) continue;
    for (size_t r = 0; r < ne; r++)
      for (size_t c = 0; c < ne; c++) root[r * ne + c] = P[(r * n + c) * L + l];
    if (bramah__cholesky_factor(ne, root)) continue;
    const size_t column = (size_t)(turn / BRAMAH__DISPLACE_EVERY % ne);
    for (size_t r = column; r < ne; r++) room->dx[r * L + l] = root[r * ne + column];
    which[l] = 1;
    some++;
  }
  return some;
}

/* What parameters do to steps from beside the estimates. A lane that cannot make it leaves. */
static void derive_displaced(bramah__filter_lockstep *k, bramah__filter_group *const *group,
                             bramah__plant_group **plant)
{
  int64_t which[BRAMAH__MOST_GROUPS][L], live[BRAMAH__MOST_GROUPS][L];
  double *dx[BRAMAH__MOST_GROUPS];
  size_t some = 0;
  EACH_GROUP some += choose_displaced(k, g, group[g], which[g]);
  if (!some) return;
  EACH_GROUP
  {
    memcpy(live[g], plant[g]->live, sizeof live[g]);
    memcpy(plant[g]->live, which[g], sizeof which[g]);
    dx[g] = k->of[g].dx;
  }
  bramah__lockstep_inject(&k->plant, plant, dx);
  EACH_GROUP
  {
    memcpy(k->of[g].middle, k->plant.of[g].next, k->plant.place.words * L * sizeof(double));
    plant[g]->state = k->of[g].middle;
  }
  bramah__lockstep_step(&k->plant, plant, 0);
  EACH_GROUP
  {
    const bramah_filter *f = group[g]->like;
    const bramah__group_results *of = &k->plant.of[g];
    bramah__filter_room *room = &k->of[g];
    for (size_t i = 0; i < f->n_plant * f->n_par; i++)
      EACH_LANE if (which[g][l]) room->displaced[i * L + l] = of->G[i * L + l];
    EACH_LANE room->tried[l] = which[g][l] ? of->iterations[l] : 0.0;
    EACH_LANE live[g][l] &= plant[g]->live[l] | !which[g][l];
    memcpy(plant[g]->live, live[g], sizeof live[g]);
    plant[g]->state = bramah__lane_plant(f, group[g]->now);
  }
}

void bramah__lanes_start_step(bramah__filter_lockstep *k, bramah__filter_group *const *group,
                              bramah__plant_group **plant)
{
  const bramah_filter *f = group[0]->like;
  int changes = 0, posed = 1;
  for (size_t s = 0; s < f->n_sensors; s++) changes |= f->changes[s];
  if (!changes && !f->n_displaced) return;
  EACH_GROUP posed &= k->posed[g] == group[g];
  if (!posed) bramah__lockstep_pose(&k->plant, plant);
  predict_changing(k, group, 0);
  if (f->n_displaced) derive_displaced(k, group, plant);
}

/* ---- the step itself ---- */

/* Of sensors with delays: how their predictions have changed, and that change. */
static void take_changes(bramah__filter_lockstep *k, size_t g, const bramah__filter_group *group,
                         const double *before)
{
  const bramah_filter *f = group->like;
  bramah__filter_room *room = &k->of[g];
  const double *change = bramah__lane_array(f, group->now, f->change);
  for (size_t s = 0; s < f->n_sensors; s++) {
    if (!f->changes[s]) continue;
    double *now = room->change + s * L, *bend = room->bend + s * L;
    EACH_LANE now[l] = room->shown[s * L + l] - before[s * L + l];
    if (f->sensor[s].period > 0.0) bramah__lanes_wrap(&f->sensor[s], now);
    EACH_LANE bend[l] = now[l] - change[s * L + l];
  }
}

void bramah__lanes_end_step(bramah__filter_lockstep *k, bramah__filter_group *const *group)
{
  const bramah_filter *f = group[0]->like;
  const size_t n = f->n_sensors * L * sizeof(double);
  if (!f->n_augmented) return;
  EACH_GROUP memcpy(k->of[g].y, k->of[g].shown, n); /* of before it */
  predict_changing(k, group, 1);
  EACH_GROUP take_changes(k, g, group[g], k->of[g].y);
}

/* Effects of parameters on the step and on the one from beside the estimate: into the room. */
BRAMAH__IN_CALLER void compare_group(bramah__filter_lockstep *k, size_t g, const bramah__filter_group *group)
{
  const bramah_filter *f = group->like;
  const size_t n = f->n, ne = f->n_plant;
  const double *P = bramah__lane_array(f, group->now, f->P), *G = k->plant.of[g].G;
  bramah__filter_room *room = &k->of[g];
  int64_t known[L], some = 0;
  memcpy(room->effect, bramah__lane_array(f, group->now, f->effect), f->n_augmented * L * sizeof(double));
  memcpy(room->effect_spread, bramah__lane_array(f, group->now, f->effect_spread),
         f->n_augmented * L * sizeof(double));
  EACH_LANE some |= known[l] = f->n_displaced && !isnan(room->displaced[l]);
  if (!some) return;
  for (size_t i = 0; i < ne * f->n_par * L; i++) room->displaced[i] -= G[i];
  for (size_t i = 0; i < f->n_augmented; i++) {
    double effect[L] = {0}, spread[L] = {0}, *to = room->effect + i * L,
           *varies = room->effect_spread + i * L;
    int64_t compared[L];
    if (!are_compared(group, f, i, compared)) continue;
    for (size_t r = 0; r < ne; r++) {
      const size_t at = (r * f->n_par + f->self_state[i].column) * L, of = (r * n + r) * L;
      EACH_LANE
      {
        effect[l] += G[at + l] * G[at + l] / P[of + l];
        spread[l] += room->displaced[at + l] * room->displaced[at + l] / P[of + l];
      }
    }
    EACH_LANE
    {
      const int64_t follows = compared[l] & known[l];
      to[l] += follows ? bramah__effect_share * (effect[l] - to[l]) : 0.0;
      varies[l] += follows ? bramah__effect_share * ((double)ne * spread[l] - varies[l]) : 0.0;
    }
  }
}

/* Blocks of F and the columns by which parameters act on the plant. */
BRAMAH__IN_CALLER void add_columns(const bramah__filter_lockstep *k, size_t g,
                                   const bramah__filter_group *group, double *F)
{
  const bramah_filter *f = group->like;
  const double *G = k->plant.of[g].G;
  const size_t n = f->n;
  for (size_t i = 0; i < f->n_augmented; i++) {
    const bramah__augmented *own = &f->self_state[i];
    const double *Phi = group->Phi + 4 * i * L;
    double *row = F + (own->state * n + own->state) * L;
    for (size_t l = 0; l < L; l++) row[l] = Phi[l];
    if (f->augmented[i].order == 2) EACH_LANE
      {
        row[L + l] = Phi[L + l];
        row[n * L + l] = Phi[2 * L + l];
        row[(n + 1) * L + l] = Phi[3 * L + l];
      }
    if (own->column == SIZE_MAX) continue;
    const double *value = value_of(k, f, group->plant.state, i);
    for (size_t r = 0; r < f->n_plant; r++) EACH_LANE
      {
        const double by = f->augmented[i].logarithmic ? value[l] : 1.0;
        F[(r * n + own->state) * L + l] = by * G[(r * f->n_par + own->column) * L + l];
      }
  }
}

/* Columns of Gamma from `column` on: of second order. */
BRAMAH__IN_CALLER void lanes_second_order_noise(const bramah__filter_lockstep *k, size_t g,
                                                const bramah__filter_group *group, size_t column,
                                                double *Gamma)
{
  const bramah_filter *f = group->like;
  const double *displaced = k->of[g].displaced, *P = bramah__lane_array(f, group->now, f->P);
  int64_t known[L], some = 0;
  EACH_LANE some |= known[l] = f->n_displaced && !isnan(displaced[l]);
  for (size_t i = 0; i < f->n_augmented && some; i++) {
    const bramah__augmented *own = &f->self_state[i];
    int64_t compared[L];
    double by[L];
    if (!are_compared(group, f, i, compared)) continue;
    const double *value = value_of(k, f, group->plant.state, i);
    EACH_LANE
    {
      const double slope = f->augmented[i].logarithmic ? value[l] : 1.0;
      by[l] = BRAMAH__DISPLACE_EVERY * sqrt((double)f->n_plant) * slope *
              sqrt(P[(own->state * f->n + own->state) * L + l]);
    }
    for (size_t r = 0; r < f->n_plant; r++) EACH_LANE
      {
        const double effect = by[l] * displaced[(r * f->n_par + own->column) * L + l];
        Gamma[(r * f->nq + column) * L + l] = (compared[l] & known[l]) ? effect : 0.0;
      }
    column++;
  }
}

/* Columns of Gamma from `column` on, which are zero. No edge is in reach of a lane (lockstep_cycle.c). */
BRAMAH__IN_CALLER void add_noise(const bramah__filter_lockstep *k, size_t g,
                                 const bramah__filter_group *group, size_t column, double *Gamma)
{
  const bramah_filter *f = group->like;
  const double *G = k->plant.of[g].G;
  const size_t nq = f->nq;
  for (size_t i = 0; i < f->n_augmented; i++) {
    const double *noise = group->noise + 3 * i * L;
    double *row = Gamma + (f->self_state[i].state * nq + column) * L;
    EACH_LANE row[l] = noise[l];
    column++;
    if (f->augmented[i].order != 2) continue;
    EACH_LANE
    {
      row[nq * L + l] = noise[L + l];
      row[(nq + 1) * L + l] = noise[2 * L + l];
    }
    column++;
  }
  for (size_t j = 0; j < f->n_par_noise; j++, column++)
    for (size_t r = 0; r < f->n_plant; r++)
      EACH_LANE Gamma[(r * nq + column) * L + l] = G[(r * f->n_par + f->first_noise + j) * L + l] *
                                                   group->par_noise[j * L + l] /
                                                   sqrt(bramah__step_seconds(f));
  lanes_second_order_noise(k, g, group, column + 2 * f->n_edges, Gamma);
}

BRAMAH__FOR_PROCESSORS static void follow(bramah__filter_lockstep *k, size_t g,
                                          const bramah__filter_group *group)
{
  const bramah_filter *f = group->like;
  compare_group(k, g, group);
  add_columns(k, g, group, k->of[g].F);
  add_noise(k, g, group, 2 * f->n_dof + f->n_first_order, k->of[g].Gamma);
}

void bramah__lanes_follow_step(bramah__filter_lockstep *k, size_t g, const bramah__filter_group *group)
{
  follow(k, g, group);
}

/* ---- means ---- */

/* State i of lane l gets a value within its limits: of a parameter in the candidate, with `moved` where it is another one. */
static void set_value(bramah__filter_lockstep *k, size_t g, bramah__filter_group *group, size_t i, size_t l,
                      double wanted, int64_t *moved)
{
  const bramah_filter *f = group->like;
  const bramah__augmented *own = &f->self_state[i];
  bramah__filter_room *room = &k->of[g];
  const double held = fmin(fmax(wanted, group->least[i * L + l]), group->most[i * L + l]);
  room->count[COUNT_LIMITED * L + l] += held != wanted;
  if (own->column == SIZE_MAX) {
    room->mean[(own->state - f->n_plant) * L + l] = held;
  } else if (held != value_of(k, f, group->plant.state, i)[l]) {
    group->plant.live[l] &= isfinite(held) != 0;
    bramah__lockstep_set_parameter(&k->plant, g, &group->plant, own->target, l, held);
    moved[l] = 1;
  }
}

/* Its value by x more of its error state. */
static double displaced_by(const bramah_filter *f, size_t i, double value, double x)
{
  return f->augmented[i].logarithmic && x != 0.0 ? value * bramah__exp(x) : value + x;
}

static void take_means(bramah__filter_lockstep *k, size_t g, const bramah__filter_group *group)
{
  const bramah_filter *f = group->like;
  memcpy(k->of[g].mean, bramah__lane_array(f, group->now, f->mean), (f->n - f->n_plant) * L * sizeof(double));
}

/* Error states of i before a step, and what Phi makes of them. */
BRAMAH__FOR_PROCESSORS static void turn_state(const bramah__filter_lockstep *k, size_t g,
                                              const bramah__filter_group *group, size_t i, double *x,
                                              double *next)
{
  const bramah_filter *f = group->like;
  const bramah__augmented *own = &f->self_state[i];
  const double *Phi = group->Phi + 4 * i * L, *nominal = group->nominal + i * L;
  double *mean = k->of[g].mean + (own->state - f->n_plant) * L;
  const double *value = own->column == SIZE_MAX ? mean : value_of(k, f, group->plant.state, i);
  if (f->augmented[i].logarithmic)
    EACH_LANE x[l] = bramah__log(value[l] / nominal[l]);
  else
    EACH_LANE x[l] = value[l] - nominal[l];
  EACH_LANE next[l] = Phi[l] * x[l];
  if (f->augmented[i].order != 2) return;
  EACH_LANE
  {
    const double rate = mean[L + l];
    next[l] += Phi[L + l] * rate;
    mean[L + l] = Phi[2 * L + l] * x[l] + Phi[3 * L + l] * rate;
  }
}

/* Over a step, which has been made; parameters into the candidates. */
static int advance(bramah__filter_lockstep *k, size_t g, bramah__filter_group *group, int64_t *moved)
{
  const bramah_filter *f = group->like;
  int some = 0;
  memset(moved, 0, L * sizeof *moved);
  take_means(k, g, group);
  EACH_LANE k->of[g].count[COUNT_LIMITED * L + l] = 0.0;
  for (size_t i = 0; i < f->n_augmented; i++) {
    double x[L], next[L];
    if (!f->self_state[i].moves) continue;
    turn_state(k, g, group, i, x, next);
    EACH_LANE
    {
      if (group->plant.live[l] && next[l] != x[l])
        set_value(k, g, group, i, l, displaced_by(f, i, group->nominal[i * L + l], next[l]), moved);
    }
  }
  EACH_LANE some |= (int)moved[l];
  return some;
}

int bramah__lanes_advance(bramah__filter_lockstep *k, bramah__filter_group *const *group,
                          bramah__plant_group **plant)
{
  const size_t words = k->plant.place.words;
  int64_t moved[BRAMAH__MOST_GROUPS][L], live[BRAMAH__MOST_GROUPS][L];
  int some = 0;
  if (group[0]->like->n_augmented == 0) return 0; /* nor have the others: they are of one structure */
  EACH_GROUP
  {
    memcpy(k->of[g].middle, k->plant.of[g].next, words * L * sizeof(double));
    some |= advance(k, g, group[g], moved[g]);
  }
  if (!some) return 0;
  EACH_GROUP
  {
    memcpy(live[g], plant[g]->live, sizeof live[g]);
    EACH_LANE plant[g]->live[l] &= moved[g][l];
  }
  bramah__lockstep_adopt(&k->plant, plant);
  EACH_GROUP
  {
    double *next = k->plant.of[g].next;
    for (size_t w = 0; w < words; w++)
      EACH_LANE next[w * L + l] = moved[g][l] ? next[w * L + l] : k->of[g].middle[w * L + l];
    EACH_LANE plant[g]->live[l] = live[g][l] & (plant[g]->live[l] | !moved[g][l]);
  }
  return 1;
}

int bramah__lanes_inject(bramah__filter_lockstep *k, size_t g, bramah__filter_group *group, int64_t *moved)
{
  const bramah_filter *f = group->like;
  bramah__filter_room *room = &k->of[g];
  int some = 0;
  memset(moved, 0, L * sizeof *moved);
  take_means(k, g, group);
  if (f->n_par) memcpy(k->plant.of[g].next, group->plant.state, k->plant.place.words * L * sizeof(double));
  for (size_t i = 0; i < f->n_augmented; i++) {
    const bramah__augmented *own = &f->self_state[i];
    double *mean = room->mean + (own->state - f->n_plant) * L;
    EACH_LANE
    {
      if (!group->plant.live[l] || group->dof[l] == 0.0 || room->held[own->state * L + l]) continue;
      const double dx = room->dx[own->state * L + l],
                   value = own->column == SIZE_MAX ? mean[l] : value_of(k, f, group->plant.state, i)[l];
      if (f->augmented[i].order == 2) mean[L + l] += room->dx[(own->state + 1) * L + l];
      set_value(k, g, group, i, l, displaced_by(f, i, value, dx), moved);
    }
  }
  EACH_LANE some |= (int)moved[l];
  return some;
}

/* ---- what is considered ---- */

BRAMAH__FOR_PROCESSORS static void hold(bramah__filter_lockstep *k, size_t g,
                                        const bramah__filter_group *group)
{
  const bramah_filter *f = group->like;
  bramah__filter_room *room = &k->of[g];
  const double *P = bramah__lane_array(f, group->now, f->P),
               *information = bramah__lane_array(f, group->now, f->information),
               *effect = bramah__lane_array(f, group->now, f->effect),
               *spread = bramah__lane_array(f, group->now, f->effect_spread);
  room->considers = 0;
  room->n_fused = f->n_plant;
  memset(room->held, 0, f->n * L);
  for (size_t i = 0; i < f->n_augmented; i++) {
    const size_t first = f->self_state[i].state, end = first + states_of(&f->augmented[i]);
    int64_t compared[L], holds[L], some = 0, frees = 0;
    are_compared(group, f, i, compared);
    EACH_LANE
    {
      const double role = group->role[i * L + l];
      const int64_t told = (role == (double)BRAMAH_AUGMENTED_AUTO) &
                           (information[i * L + l] >= bramah__enough_information),
                    significant =
                        !compared[l] | (effect[i * L + l] > bramah__significant_effect * spread[i * L + l]);
      const int64_t estimated = (role == (double)BRAMAH_AUGMENTED_ESTIMATED) | told;
      holds[l] = !(estimated & significant);
      some |= holds[l] & group->plant.live[l];
      frees |= (holds[l] == 0) & group->plant.live[l];
    }
    for (size_t s = first; s < end; s++) EACH_LANE
      {
        const double one = 1.0 / sqrt(P[(s * f->n + s) * L + l]);
        room->held[s * L + l] = (unsigned char)holds[l];
        room->weight[s * L + l] = holds[l] ? one : 0.0;
      }
    if (some) room->considers = 1;
    if (frees) room->n_fused = end;
  }
}

void bramah__lanes_hold(bramah__filter_lockstep *k, size_t g, const bramah__filter_group *group)
{
  hold(k, g, group);
}

/* The share of what is considered in the innovation of sensor i, of the lanes where it is present. */
BRAMAH__FOR_PROCESSORS static void share(const bramah__filter_room *room, bramah__filter_group *group,
                                         size_t i, const int64_t *present, const double *S)
{
  const bramah_filter *f = group->like;
  const size_t *entry = room->entry + i * f->n;
  const double *PH = room->PH, *H = room->T;
  double inverse[L], root[L], sum[L] = {0}, *of = group->considered + i * L;
  EACH_LANE
  {
    inverse[l] = 1.0 / S[l];
    root[l] = sqrt(inverse[l]);
  }
  for (size_t s = f->n_plant * L; s < f->n * L; s += L) EACH_LANE
    {
      const double rho = PH[s + l] * room->weight[s + l] * root[l];
      sum[l] += rho * rho;
    }
  for (size_t e = 0; e < room->n_entries[i]; e++) {
    const size_t s = entry[e] * L;
    if (entry[e] >= f->n_plant) EACH_LANE
      {
        const double rho = PH[s + l] * room->weight[s + l] * root[l], own = H[s + l] * PH[s + l] * inverse[l];
        sum[l] += room->held[s + l] && own > rho * rho ? own - rho * rho : 0.0;
      }
  }
  for (size_t m = 0; m < f->n_augmented; m++) {
    const size_t s = f->self_state[m].state * L;
    double *to = group->correlation + (i * f->n_augmented + m) * L;
    EACH_LANE to[l] = present[l] ? PH[s + l] * room->weight[s + l] * root[l] : to[l];
  }
  EACH_LANE of[l] = !present[l] ? of[l] : sum[l] < 1.0 ? sum[l] : 1.0;
}

void bramah__lanes_share(const bramah__filter_room *room, bramah__filter_group *group, size_t i,
                         const int64_t *present, const double *S)
{
  double *correlation = group->correlation + i * group->like->n_augmented * L;
  if (room->considers) {
    share(room, group, i, present, S);
    return;
  }
  for (size_t m = 0; m < group->like->n_augmented; m++)
    EACH_LANE correlation[m * L + l] = present[l] ? 0.0 : correlation[m * L + l];
}

void bramah__lanes_learn(bramah__filter_room *room, const bramah__filter_group *group)
{
  static const double most = 1.0 - 1e-12;
  const bramah_filter *f = group->like;
  const size_t n = f->n_augmented;
  memcpy(room->information, bramah__lane_array(f, group->now, f->information), n * L * sizeof(double));
  for (size_t i = 0; i < n && room->considers; i++) {
    double told[L] = {0}, *information = room->information + i * L; /* one less the product */
    int64_t compared[L];
    const double *effect = bramah__lane_array(f, group->now, f->effect) + i * L,
                 *spread = bramah__lane_array(f, group->now, f->effect_spread) + i * L;
    are_compared(group, f, i, compared);
    for (size_t m = 0; m < f->n_sensors; m++) {
      const double *rho = group->correlation + (m * n + i) * L, *flags = group->flags + m * L;
      EACH_LANE
      {
        const double square = rho[l] * rho[l] < most ? rho[l] * rho[l] : most;
        told[l] += flags[l] == (double)(PRESENT | ACCEPTED) ? square * (1.0 - told[l]) : 0.0;
      }
    }
    EACH_LANE
    {
      const int learns = group->role[i * L + l] == (double)BRAMAH_AUGMENTED_AUTO &&
                         !(information[l] >= bramah__enough_information) &&
                         !(compared[l] && !(effect[l] > bramah__significant_effect * spread[l]));
      if (learns && told[l] != 0.0) information[l] -= 0.5 * bramah__log1p(-(told[l] < most ? told[l] : most));
    }
  }
}

/* ---- what sensors show ---- */

/* Term t of a sensor into its sums. */
BRAMAH__FOR_PROCESSORS static void add_term(double weight, const double *value, double *sum)
{
  EACH_LANE sum[l] += weight * value[l];
}

/* What it shows of them. */
static void show_sums(const bramah_sensor *sensor, bramah__filter_room *room)
{
  const int is_sum = sensor->shape == BRAMAH_SENSOR_SUM;
  EACH_LANE
  {
    room->value[l] = room->sum[l];
    room->slope[l] = 1.0;
    room->slope[L + l] = 0.0;
  }
  for (size_t l = 0; l < L && !is_sum; l++) {
    const double sum[2] = {room->sum[l], room->sum[L + l]};
    double slope[2] = {1.0, 0.0};
    room->value[l] = bramah__sensor_shown(sensor, sum, slope);
    room->slope[l] = slope[0];
    room->slope[L + l] = slope[1];
  }
}

void bramah__lanes_predict_sensor(bramah__filter_lockstep *k, bramah__filter_group *const *group, size_t i,
                                  int next)
{
  const bramah_sensor *sensor = &group[0]->like->sensor[i];
  const size_t first = bramah__sensor_first(sensor);
  EACH_GROUP memset(k->of[g].sum, 0, 2 * L * sizeof(double));
  for (size_t t = 0; t < sensor->n_terms; t++) {
    bramah__lockstep_read(&k->plant, sensor->output[t]);
    EACH_GROUP
    {
      double value[L];
      const double *state = next ? k->plant.of[g].next : group[g]->plant.state;
      bramah__lockstep_value(&k->plant, g, state, sensor->output[t], value);
      add_term(sensor->weight[t], value, k->of[g].sum + (t < first ? 0 : L));
    }
  }
  EACH_GROUP show_sums(sensor, &k->of[g]);
}

/* Errors of sensor i into its row and value; its gain, by which the row of the plant goes. */
BRAMAH__FOR_PROCESSORS static void add_errors(bramah__filter_lockstep *k, size_t g,
                                              const bramah__filter_group *group, size_t i, double *gain)
{
  const bramah_filter *f = group->like;
  const double *mean = bramah__lane_array(f, group->now, f->mean),
               *change = bramah__lane_array(f, group->now, f->change) + i * L,
               *bend = bramah__lane_array(f, group->now, f->bend) + i * L, h = bramah__step_seconds(f);
  double *value = k->of[g].value, errors[L] = {0};
  int has_gain = 0;
  for (size_t e = f->first_error[i]; e != SIZE_MAX; e = f->self_state[e].next) {
    const bramah_augmented_kind kind = f->augmented[e].kind;
    const size_t s = f->self_state[e].state * L;
    const double *own = mean + s - f->n_plant * L;
    double *H = k->of[g].T + s;
    EACH_LANE
    {
      const double rate = f->changes[i] ? change[l] / h : 0.0;
      H[l] = kind == BRAMAH_AUGMENTED_GAIN ? value[l] : kind == BRAMAH_AUGMENTED_DELAY ? -rate : 1.0;
      errors[l] += own[l] != 0.0 ? own[l] * H[l] : 0.0;
      gain[l] += kind == BRAMAH_AUGMENTED_GAIN ? own[l] : 0.0;
    }
    has_gain |= kind == BRAMAH_AUGMENTED_GAIN;
    if (kind != BRAMAH_AUGMENTED_DELAY || f->augmented[e].order != 2) continue;
    EACH_LANE
    {
      H[L + l] = bend[l] / (h * h);
      errors[l] += own[l] != 0.0 ? own[L + l] * H[L + l] : 0.0;
    }
  }
  EACH_LANE value[l] += errors[l];
  for (size_t j = 0; j < f->n_plant && has_gain; j++) EACH_LANE k->of[g].T[j * L + l] *= gain[l];
}

/* Sensor i by parameters that reach it at once, into its row. */
BRAMAH__FOR_PROCESSORS static void add_parameters(bramah__filter_lockstep *k, size_t g,
                                                  const bramah__filter_group *group, size_t i,
                                                  const double *gain)
{
  const bramah_filter *f = group->like;
  const bramah_sensor *sensor = &f->sensor[i];
  for (size_t j = 0; j < f->n_augmented; j++) {
    const bramah__augmented *own = &f->self_state[j];
    double *H = k->of[g].T + own->state * L, by[L];
    if (own->column == SIZE_MAX) continue;
    for (size_t t = 0; t < sensor->n_terms; t++) {
      const double *slope = k->of[g].slope + (t < bramah__sensor_first(sensor) ? 0 : L);
      bramah__lockstep_by_parameter(&k->plant, g, sensor->output[t], own->target, by);
      if (bramah__lanes_accelerates(f, sensor->output[t]))
        bramah__lockstep_rates_by_parameter(&k->plant, g, sensor->output[t], own->column, by);
      EACH_LANE H[l] += slope[l] * sensor->weight[t] * by[l];
    }
    const double *value = value_of(k, f, group->plant.state, j);
    EACH_LANE H[l] *= (f->augmented[j].logarithmic ? value[l] : 1.0) * gain[l];
  }
}

void bramah__lanes_complete_row(bramah__filter_lockstep *k, size_t g, const bramah__filter_group *group,
                                size_t i)
{
  double gain[L];
  EACH_LANE gain[l] = 1.0;
  if (group->like->first_error[i] != SIZE_MAX) add_errors(k, g, group, i, gain);
  if (group->like->moved_at_once[i]) add_parameters(k, g, group, i, gain);
}
