/* SPDX-License-Identifier: MIT */
#include "lib/graph/equation.h"
#include "lib/plant/lockstep.h"
#include "lib/base/processors.h"
#include "lib/plant/step_graph.h"

#include <math.h>
#include <string.h>

enum { L = BRAMAH__GROUP };
#define EACH_LANE BRAMAH__AS_VECTORS for (size_t l = 0; l < L; l++)
#define EACH_LIVE(group) EACH_LANE if ((group)->live[l])
#define EACH_GROUP for (size_t g = 0; g < k->n_groups && g < BRAMAH__MOST_GROUPS; g++)

/* ---- registers of a group ---- */

BRAMAH__IN_CALLER double *lanes_of(const bramah__lockstep *k, size_t g, size_t i)
{
  return k->registers + (i * k->n_groups + g) * L;
}

BRAMAH__IN_CALLER void set_lanes(const bramah__lockstep *k, size_t g, size_t first, size_t n, const double *x)
{
  for (size_t i = 0; i < n; i++) {
    double *to = lanes_of(k, g, first + i);
    EACH_LANE to[l] = x[i * L + l];
  }
}

BRAMAH__IN_CALLER void get_lanes(const bramah__lockstep *k, size_t g, const uint16_t *at, size_t n, double *x)
{
  for (size_t i = 0; i < n; i++) {
    const double *from = lanes_of(k, g, at[i]);
    EACH_LANE x[i * L + l] = from[l];
  }
}

/* Results that become inputs. */
BRAMAH__IN_CALLER void copy_lanes(const bramah__lockstep *k, size_t g, const uint16_t *at, size_t n,
                                  size_t first)
{
  for (size_t i = 0; i < n; i++) {
    const double *from = lanes_of(k, g, at[i]);
    double *to = lanes_of(k, g, first + i);
    EACH_LANE to[l] = from[l];
  }
}

/* Lanes out of live with one of n pivots smaller than this part of what it usually is. */
BRAMAH__IN_CALLER void check_pivots(const bramah__lockstep *k, size_t g, const uint16_t *at, size_t n,
                                    const double *usual, double part, int64_t *live)
{
  for (size_t i = 0; i < n; i++) {
    const double *pivot = lanes_of(k, g, at[i]), least = part * fabs(usual[i]);
    EACH_LANE live[l] &= fabs(pivot[l]) >= least;
  }
}

static void run(const bramah__lockstep *k, size_t part)
{
  bramah__run_lanes(k->program, part, L * k->n_groups, k->registers);
}

/* ---- states into registers ---- */

/* As set_lanes; other than 0: in a lane of `which` (-1) something is not what it was. */
BRAMAH__IN_CALLER int64_t replace_lanes(const bramah__lockstep *k, size_t g, size_t first, size_t n,
                                        const double *x, const int64_t *which)
{
  int64_t changed = 0;
  for (size_t i = 0; i < n; i++) {
    double *to = lanes_of(k, g, first + i);
    EACH_LANE
    {
      int64_t now, before;
      memcpy(&now, &x[i * L + l], sizeof now);
      memcpy(&before, &to[l], sizeof before);
      changed |= which[l] & (now ^ before);
      to[l] = x[i * L + l];
    }
  }
  return changed;
}

BRAMAH__IN_CALLER void live_mask(const bramah__plant_group *group, int64_t *which)
{
  EACH_LANE which[l] = -(int64_t)(group->live[l] != 0);
}

/* Parameters of the lanes that take part; 1: some are others than before. */
BRAMAH__FOR_PROCESSORS static int put_parameters(bramah__lockstep *k, size_t g,
                                                 const bramah__plant_group *group, const double *theta)
{
  const bramah_program *program = k->program;
  const double *now = lanes_of(k, g, program->in.theta);
  const size_t apart = L * k->n_groups;
  int64_t live[L], changed = 0;
  live_mask(group, live);
  for (size_t i = 0; i < program->n_par; i++) EACH_LANE
    {
      int64_t to, before;
      memcpy(&to, &theta[i * L + l], sizeof to);
      memcpy(&before, &now[i * apart + l], sizeof before);
      changed |= live[l] & (to ^ before);
    }
  for (size_t i = 0; changed && i < program->n_par; i++) {
    double *to = lanes_of(k, g, program->in.theta + i);
    EACH_LANE to[l] = live[l] ? theta[i * L + l] : to[l];
  }
  return changed != 0;
}

static int set_up(bramah__lockstep *k, bramah__plant_group *const *group, int of_next)
{
  int changed = !k->is_set_up;
  EACH_GROUP changed |=
      put_parameters(k, g, group[g], (of_next ? k->of[g].next : group[g]->state) + k->place.theta * L);
  if (changed) run(k, BRAMAH__PART_SETUP);
  k->is_set_up = 1;
  return changed;
}

/* Whether spools follow their commands, unless that is known; 1: some other than before. */
static int set_gates(bramah__lockstep *k, size_t g, const bramah__plant_group *group, const double *state)
{
  const bramah_program *program = k->program;
  const size_t n_inputs = program->model->n_inputs, size = n_inputs * L * sizeof(double);
  const double *u = state + k->place.u * L;
  int changed = 0;
  if (k->gates_of[g] == group && memcmp(u, k->of[g].gate_u, size) == 0) return 0;
  k->gates_of[g] = group;
  memcpy(k->of[g].gate_u, u, size);
  for (size_t i = 0; i < program->ns; i++) {
    double *gate = lanes_of(k, g, program->in.gate + i);
    for (size_t l = 0; l < L; l++) {
      if (!group->plant[l]) continue;
      const bramah__valve *valve = &group->plant[l]->model->circuit.valve[i];
      const double follows = fabs(u[valve->input * L + l] + valve->offset) < valve->limit ? 1.0 : 0.0;
      changed |= follows != gate[l];
      gate[l] = follows;
    }
  }
  return changed;
}

void bramah__lockstep_forget(bramah__lockstep *k) { memset(k->gates_of, 0, sizeof k->gates_of); }

BRAMAH__FOR_PROCESSORS static int set_point(bramah__lockstep *k, size_t g, const bramah__plant_group *group,
                                            const double *state)
{
  const bramah_program *program = k->program;
  const int *independent = program->index + program->nd;
  int64_t live[L], changed = 0;
  live_mask(group, live);
  changed |= replace_lanes(k, g, program->in.U, program->ns, state + k->place.U * L, live);
  changed |= replace_lanes(k, g, program->in.z, program->n, state + k->place.z * L, live);
  changed |= replace_lanes(k, g, program->in.p, program->np, state + k->place.p * L, live);
  for (size_t f = 0; f < program->nf; f++) {
    const size_t j = (size_t)independent[f];
    changed |= replace_lanes(k, g, program->in.zd + f, 1, state + (k->place.zd + j) * L, live);
    set_lanes(k, g, program->in.zdd + f, 1, state + (k->place.zdd + j) * L);
  }
  return changed != 0;
}

/* 1: poses and rates are not those of the states that were there. */
static int put_states(bramah__lockstep *k, bramah__plant_group *const *group, int of_next)
{
  int changed = set_up(k, group, of_next);
  if (changed) bramah__lockstep_forget(k);
  EACH_GROUP
  {
    const double *state = of_next ? k->of[g].next : group[g]->state;
    changed |= set_gates(k, g, group[g], state);
    changed |= set_point(k, g, group[g], state);
  }
  return changed;
}

BRAMAH__FOR_PROCESSORS static void take_pose(bramah__lockstep *k, size_t g)
{
  const bramah_program *program = k->program;
  get_lanes(k, g, program->out.Rz, program->n * program->nf, k->of[g].Rz);
}

void bramah__lockstep_pose(bramah__lockstep *k, bramah__plant_group *const *group)
{
  put_states(k, group, 0);
  k->has_rates = 0;
  run(k, BRAMAH__PART_STEP);
  run(k, BRAMAH__PART_POSE);
  run(k, BRAMAH__PART_ENDS);
  EACH_GROUP take_pose(k, g);
}

/* ---- a step: what is known at its start ---- */

BRAMAH__FOR_PROCESSORS static void take_start(bramah__lockstep *k, size_t g, bramah__plant_group *group)
{
  const bramah_program *program = k->program;
  const bramah__step_results *out = &program->out;
  bramah__group_results *of = &k->of[g];
  get_lanes(k, g, out->work_force, program->n_works, of->work_force);
  get_lanes(k, g, out->work_path, program->n_works, of->work_path);
  get_lanes(k, g, out->energy, 2, of->energy);
  check_pivots(k, g, out->mass_pivot, program->nf, program->mass_pivot, bramah__small_pivot, group->live);
  copy_lanes(k, g, out->A_state, program->nx * program->ne, program->in.A);
}

/* Of a correction of unknown i, or behind them of a dependent coordinate. */
BRAMAH__IN_CALLER double tolerance_of(const bramah_program *program, size_t i)
{
  const bramah_model *model = program->model;
  if (i >= program->nx) return bramah__closed_part * model->position_tolerance;
  return i < program->nf ? model->position_tolerance : model->first_order_tolerance[i - program->nf];
}

/* The guess by the slopes (compiled.c) into the candidate and the unknowns, and its size. */
BRAMAH__FOR_PROCESSORS static void guess(bramah__lockstep *k, size_t g, const bramah__plant_group *group)
{
  const bramah_program *program = k->program;
  const bramah_model *model = program->model;
  const bramah__state_places *at = &k->place;
  bramah__group_results *of = &k->of[g];
  double *next = of->next;
  memcpy(next, group->state, at->words * L * sizeof *next);
  EACH_LANE
  {
    int64_t time_ns;
    memcpy(&time_ns, &next[at->time_ns * L + l], sizeof time_ns);
    time_ns += model->step_ns;
    memcpy(&next[at->time_ns * L + l], &time_ns, sizeof time_ns);
    of->before[l] = 0.0;
  }
  get_lanes(k, g, program->out.guess, program->nx, of->change);
  for (size_t i = 0; i < program->nx; i++) EACH_LANE
    {
      const double part = of->change[i * L + l] / tolerance_of(program, i);
      of->before[l] += part * part;
    }
  for (size_t i = 0; i < program->nd; i++) {
    double *z = next + (at->z + (size_t)program->index[i]) * L;
    const double *move = lanes_of(k, g, program->out.guess_dependent[i]);
    EACH_LANE z[l] += move[l];
  }
}

static void move_spools(bramah__lockstep *k, size_t g, const bramah__plant_group *group)
{
  const bramah_model *model = k->program->model;
  double *next = k->of[g].next;
  for (size_t i = 0; i < k->program->ns; i++) {
    double *U = next + (k->place.U + i) * L;
    EACH_LIVE(group)
    {
      const bramah__valve *valve = &group->plant[l]->model->circuit.valve[i];
      U[l] = bramah__spool_step(valve, U[l], next[(k->place.u + valve->input) * L + l], model->h);
    }
  }
}

/* ---- a step: the iteration ---- */

/* The point of the iterate by the trapezoidal rule, in the lanes of `which`: the others keep theirs, and what has been run
 * there. */
BRAMAH__FOR_PROCESSORS static void set_iterate(bramah__lockstep *k, size_t g,
                                               const bramah__plant_group *group, const int64_t *which)
{
  const bramah_program *program = k->program;
  const bramah__state_places *at = &k->place;
  const double c1 = 2.0 / program->model->h, c2 = c1 * c1;
  const double *state = group->state, *change = k->of[g].change;
  double *next = k->of[g].next;
  int64_t set[L];
  EACH_LANE set[l] = which[l];
  for (size_t f = 0; f < program->nf; f++) {
    const size_t j = (size_t)program->index[program->nd + f];
    const double *z = state + (at->z + j) * L, *zd = state + (at->zd + j) * L,
                 *zdd = state + (at->zdd + j) * L, *by = change + f * L;
    double *moved = next + (at->z + j) * L, *rate = lanes_of(k, g, program->in.zd + f),
           *acceleration = lanes_of(k, g, program->in.zdd + f);
    EACH_LANE
    {
      moved[l] = z[l] + by[l];
      rate[l] = set[l] ? c1 * by[l] - zd[l] : rate[l];
      acceleration[l] = set[l] ? c2 * by[l] - 2.0 * c1 * zd[l] - zdd[l] : acceleration[l];
    }
  }
  for (size_t j = 0; j < program->n; j++) {
    const double *z = next + (at->z + j) * L;
    double *to = lanes_of(k, g, program->in.z + j);
    EACH_LANE to[l] = set[l] ? z[l] : to[l];
  }
  for (size_t i = 0; i < program->np; i++) {
    const double *p = state + (at->p + i) * L, *pd = state + (at->pd + i) * L,
                 *by = change + (program->nf + i) * L;
    double *value = lanes_of(k, g, program->in.p + i), *rate = lanes_of(k, g, program->in.pd + i);
    EACH_LANE
    {
      value[l] = set[l] ? p[l] + by[l] : value[l];
      rate[l] = set[l] ? c1 * by[l] - pd[l] : rate[l];
    }
  }
}

/* As in compiled.c, of the lanes that go on: those that end go on no more, those that leave are live no more. */
BRAMAH__FOR_PROCESSORS static void correct_guess(bramah__lockstep *k, size_t g, int64_t *live,
                                                 int64_t *goes_on)
{
  const bramah_program *program = k->program;
  const bramah__step_results *out = &program->out;
  const size_t nx = program->nx, nd = program->nd;
  bramah__group_results *of = &k->of[g];
  int64_t sound[L];
  double size[L] = {0}, largest[L] = {0};
  EACH_LANE
  {
    of->iterations[l] += goes_on[l] ? 1.0 : 0.0;
    sound[l] = 1;
  }
  check_pivots(k, g, out->pivot, nx + program->nl, program->pivot, bramah__small_pivot, sound);
  check_pivots(k, g, out->closure_pivot, nd, program->closure_pivot, bramah__small_closure_pivot, sound);
  for (size_t i = 0; i < nx + nd; i++) {
    const double tolerance = tolerance_of(program, i);
    const double *by = lanes_of(k, g, i < nx ? out->correction[i] : out->closing[i - nx]);
    EACH_LANE
    {
      const double part = fabs(by[l]) / tolerance;
      size[l] += i < nx ? part * part : 0.0;
      largest[l] = (i < nx || nd) && part > largest[l] ? part : largest[l];
    }
  }
  int64_t moves[L];
  EACH_LANE
  {
    const double before = of->before[l], most = of->iterations[l] == 1.0 ? (double)INFINITY : before;
    const int64_t good = sound[l] & (size[l] < bramah__contraction * most),
                  follows_little = (largest[l] <= bramah__near_enough) &
                                   (4.0 * size[l] * largest[l] * largest[l] <= before);
    live[l] &= (good | !goes_on[l]);
    moves[l] = goes_on[l] &= good;
    of->before[l] = goes_on[l] ? size[l] : of->before[l];
    goes_on[l] &= !((largest[l] <= 1.0) | follows_little);
  }
  for (size_t i = 0; i < nx; i++) {
    const double *by = lanes_of(k, g, out->correction[i]);
    double *to = of->change + i * L;
    EACH_LANE to[l] = moves[l] ? to[l] + by[l] : to[l];
  }
  for (size_t i = 0; i < nd; i++) {
    const double *by = lanes_of(k, g, out->closing[i]);
    double *to = of->next + (k->place.z + (size_t)program->index[i]) * L;
    EACH_LANE to[l] = moves[l] ? to[l] + by[l] : to[l];
  }
}

static int any(const int64_t *of)
{
  int64_t found = 0;
  EACH_LANE found |= of[l];
  return found != 0;
}

static void iterate(bramah__lockstep *k, bramah__plant_group *const *group)
{
  int64_t goes_on[BRAMAH__MOST_GROUPS][L];
  int going = 0;
  EACH_GROUP
  {
    memcpy(goes_on[g], group[g]->live, sizeof goes_on[g]);
    EACH_LANE k->of[g].iterations[l] = 0.0;
    going |= any(goes_on[g]);
  }
  for (int i = 0; going && i < k->program->model->max_iterations; i++) {
    EACH_GROUP set_iterate(k, g, group[g], goes_on[g]);
    run(k, BRAMAH__PART_ITERATE);
    going = 0;
    EACH_GROUP
    {
      correct_guess(k, g, group[g]->live, goes_on[g]);
      going |= any(goes_on[g]);
    }
  }
  EACH_GROUP EACH_LANE group[g]->live[l] &= !goes_on[g][l];
}

/* ---- a step: its end ---- */

/* Parts of the parameters at the start of the step, and at its end. */
BRAMAH__FOR_PROCESSORS static void keep_rates(bramah__lockstep *k, size_t g, const uint16_t *at, size_t i)
{
  get_lanes(k, g, at, k->program->nv, k->of[g].carried + i * k->program->nv * L);
}

BRAMAH__FOR_PROCESSORS static void take_parameter(bramah__lockstep *k, size_t g, const uint16_t *at, size_t i,
                                                  size_t n_par)
{
  for (size_t r = 0; r < k->program->ne; r++) get_lanes(k, g, at + r, 1, k->of[g].G + (r * n_par + i) * L);
}

/* Groups at once are of the same parameters. */
static void run_parameters(bramah__lockstep *k, const bramah__plant_group *group, int at_start)
{
  const bramah_program *program = k->program;
  for (size_t i = 0; i < group->n_par; i++) {
    const size_t part = BRAMAH__PART_PARAMETERS + 2 * group->par[i] + (size_t)at_start;
    const uint16_t *at = bramah__tape_results(&program->tape, part);
    EACH_GROUP
    {
      if (!at_start)
        set_lanes(k, g, program->in.carried, program->nv, k->of[g].carried + i * program->nv * L);
    }
    run(k, part);
    EACH_GROUP
    {
      if (at_start)
        keep_rates(k, g, at, i);
      else
        take_parameter(k, g, at, i, group->n_par);
    }
  }
}

BRAMAH__FOR_PROCESSORS static void take_transition(bramah__lockstep *k, size_t g)
{
  const bramah_program *program = k->program;
  get_lanes(k, g, program->out.F, program->ne * program->ne, k->of[g].F);
  get_lanes(k, g, program->out.N, program->ne * program->nn, k->of[g].N);
}

/* What has come from outside and has not gone into dampers, contacts and stops of joints (energy.c). */
BRAMAH__IN_CALLER void received(const bramah__lockstep *k, const double *state, double *sum)
{
  const double *exchange = state + k->place.exchange * L;
  EACH_LANE sum[l] = 0.0;
  for (size_t i = 0; i < k->program->nc; i++) EACH_LANE sum[l] += state[(k->place.work + i) * L + l];
  EACH_LANE sum[l] = sum[l] + exchange[BRAMAH__LOADS * L + l] - exchange[BRAMAH__DAMPERS * L + l] -
                     exchange[BRAMAH__CONTACTS * L + l] - exchange[BRAMAH__LIMITS * L + l];
}

/* Not finite numbers take a lane out of live. */
BRAMAH__IN_CALLER void check_finite(const double *x, size_t n, int64_t *live)
{
  double none[L] = {0};
  for (size_t i = 0; i < n; i++) EACH_LANE none[l] += 0.0 * x[i * L + l];
  EACH_LANE live[l] &= none[l] == 0.0;
}

/* The rest of the candidate, works and energies; lanes that may not be taken leave. */
BRAMAH__FOR_PROCESSORS static void take_end(bramah__lockstep *k, size_t g, bramah__plant_group *group)
{
  const bramah_program *program = k->program;
  const bramah_model *model = program->model;
  const bramah__step_results *out = &program->out;
  const bramah__state_places *at = &k->place;
  bramah__group_results *of = &k->of[g];
  double *next = of->next, came[L], went[L], largest[L] = {0};
  const double *state = group->state;
  get_lanes(k, g, out->zd_all, program->n, next + at->zd * L);
  get_lanes(k, g, out->zdd_all, program->n, next + at->zdd * L);
  for (size_t i = 0; i < program->np; i++) EACH_LANE
    {
      next[(at->p + i) * L + l] = lanes_of(k, g, program->in.p + i)[l];
      next[(at->pd + i) * L + l] = lanes_of(k, g, program->in.pd + i)[l];
    }
  for (size_t i = 0; i < program->n_works; i++) {
    const size_t sum = program->work[i] & ~BRAMAH__IS_POWER;
    const double *force = lanes_of(k, g, out->work_force[i]), *path = lanes_of(k, g, out->work_path[i]),
                 *force_before = of->work_force + i * L, *path_before = of->work_path + i * L;
    double *total = next + (sum < program->nc ? at->work + sum : at->exchange + sum - program->nc) * L;
    const int is_power = (program->work[i] & BRAMAH__IS_POWER) != 0;
    EACH_LANE
    {
      const double moved = is_power ? model->h : path[l] - path_before[l];
      total[l] += 0.5 * (force_before[l] + force[l]) * moved;
    }
  }
  check_finite(next + at->z * L, program->n, group->live);
  check_finite(next + at->zd * L, program->n, group->live);
  check_finite(next + at->zdd * L, program->n, group->live);
  check_finite(next + at->p * L, program->np, group->live);

  /* what was made from nothing, and the error of positions */
  const double *kinetic = lanes_of(k, g, out->energy[0]), *stored = lanes_of(k, g, out->energy[1]);
  received(k, next, came);
  received(k, state, went);
  for (size_t j = 0; j < program->n; j++) EACH_LANE
    {
      const double error =
          model->h * model->h / 12.0 * fabs(next[(at->zdd + j) * L + l] - state[(at->zdd + j) * L + l]);
      largest[l] = error > largest[l] ? error : largest[l];
    }
  EACH_LANE
  {
    const double by = came[l] - went[l], energy = stored[l] - of->energy[L + l] - by,
                 moved = bramah__larger(of->energy[l], kinetic[l]) + fabs(by);
    next[(at->exchange + BRAMAH__FROM_NOTHING) * L + l] += energy;
    group->live[l] &= bramah__step_excess(model->tolerance, largest[l], energy, moved) <= 1.0;
  }
}

/* Pistons that have left their cylinders, and coordinates that have become poor: for the plants themselves. */
BRAMAH__FOR_PROCESSORS static void check_pose(bramah__lockstep *k, size_t g, bramah__plant_group *group)
{
  const bramah_program *program = k->program;
  for (size_t i = 0; i < program->nc; i++) {
    const double *s = lanes_of(k, g, program->out.stroke[i]);
    const bramah__cylinder *cylinder = &program->model->circuit.cylinder[i];
    if (cylinder->stop.stiffness > 0.0) continue;
    for (int side = 0; side < 2; side++)
      EACH_LANE group->live[l] &= bramah__chamber(cylinder, side, e_number(s[l])).value > 0.0;
  }
  for (size_t i = 0; program->nd && i < program->n * program->nf; i++)
    EACH_LANE group->live[l] &= fabs(k->of[g].Rz[i * L + l]) < bramah__poor_ratio;
}

static void take_basis(bramah__lockstep *k, const size_t *basis)
{
  const bramah_program *program = k->program;
  for (size_t r = 0; r < program->nf; r++) {
    const bramah__reading *reading = &program->reading[basis[r]];
    const uint16_t *at = bramah__tape_results(&program->tape, reading->part) + reading->first;
    run(k, reading->part);
    EACH_GROUP get_lanes(k, g, at + 1, program->nf, k->of[g].B + r * program->nf * L);
  }
}

void bramah__lockstep_step(bramah__lockstep *k, bramah__plant_group *const *group, int by_state)
{
  const int is_new = put_states(k, group, 0) || !k->has_rates;
  k->has_rates = 0;
  if (is_new) {
    run(k, BRAMAH__PART_STEP);
    run(k, BRAMAH__PART_POSE);
    run(k, BRAMAH__PART_FLOWS);
    run(k, BRAMAH__PART_RATES);
  }
  if (by_state) take_basis(k, group[0]->basis);
  run(k, BRAMAH__PART_SLOPES);
  run(k, BRAMAH__PART_GUESS);
  run_parameters(k, group[0], 1);
  EACH_GROUP
  {
    take_start(k, g, group[g]);
    guess(k, g, group[g]);
    move_spools(k, g, group[g]);
    set_lanes(k, g, k->program->in.U, k->program->ns, k->of[g].next + k->place.U * L);
  }
  run(k, BRAMAH__PART_STEP);
  iterate(k, group);
  run(k, BRAMAH__PART_INERTIA);
  if (by_state) run(k, BRAMAH__PART_TRANSITION);
  EACH_GROUP
  {
    if (by_state) take_transition(k, g);
  }
  run_parameters(k, group[0], 0);
  EACH_GROUP set_iterate(k, g, group[g], group[g]->live);
  run(k, BRAMAH__PART_POSE);
  run(k, BRAMAH__PART_ENDS);
  EACH_GROUP
  {
    take_pose(k, g);
    take_end(k, g, group[g]);
    check_pose(k, g, group[g]);
  }
}

/* ---- corrections ---- */

BRAMAH__FOR_PROCESSORS static void displace(bramah__lockstep *k, size_t g, const bramah__plant_group *group,
                                            const double *dx)
{
  const bramah_program *program = k->program;
  const bramah__state_places *at = &k->place;
  const double *Rz = k->of[g].Rz;
  double *next = k->of[g].next;
  memcpy(next, group->state, at->words * L * sizeof *next);
  for (size_t j = 0; j < program->n; j++)
    for (size_t f = 0; f < program->nf; f++)
      EACH_LANE next[(at->z + j) * L + l] += Rz[(j * program->nf + f) * L + l] * dx[f * L + l];
  for (size_t f = 0; f < program->nf; f++) {
    const size_t j = (size_t)program->index[program->nd + f];
    EACH_LANE next[(at->zd + j) * L + l] += dx[(program->nf + f) * L + l];
  }
  for (size_t i = 0; i < program->np; i++)
    EACH_LANE next[(at->p + i) * L + l] += dx[(2 * program->nf + i) * L + l];
}

/* Closing corrections of the lanes that go on. */
BRAMAH__FOR_PROCESSORS static void close_loops(bramah__lockstep *k, size_t g, int64_t *live, int64_t *goes_on)
{
  const bramah_program *program = k->program;
  int64_t sound[L];
  double largest[L] = {0};
  int64_t moves[L];
  EACH_LANE sound[l] = 1;
  check_pivots(k, g, program->out.place_pivot, program->nd, program->closure_pivot,
               bramah__small_closure_pivot, sound);
  EACH_LANE
  {
    live[l] &= (sound[l] | !goes_on[l]);
    moves[l] = goes_on[l] &= sound[l];
  }
  for (size_t i = 0; i < program->nd; i++) {
    const double *move = lanes_of(k, g, program->out.closing_alone[i]);
    EACH_LANE largest[l] = fabs(move[l]) > largest[l] ? fabs(move[l]) : largest[l];
  }
  EACH_LANE moves[l] &= !(largest[l] <= bramah__no_closing);
  for (size_t i = 0; i < program->nd; i++) {
    const double *move = lanes_of(k, g, program->out.closing_alone[i]);
    double *z = lanes_of(k, g, program->in.z + (size_t)program->index[i]);
    EACH_LANE z[l] = moves[l] ? z[l] + move[l] : z[l];
  }
  EACH_LANE goes_on[l] &= !(largest[l] <= bramah__last_closing);
}

BRAMAH__FOR_PROCESSORS static void take_adopted(bramah__lockstep *k, size_t g, bramah__plant_group *group)
{
  const bramah_program *program = k->program;
  const bramah__step_results *out = &program->out;
  const bramah__state_places *at = &k->place;
  double *next = k->of[g].next;
  check_pivots(k, g, out->mass_pivot, program->nf, program->mass_pivot, bramah__small_pivot, group->live);
  for (size_t j = 0; j < program->n; j++)
    EACH_LANE next[(at->z + j) * L + l] = lanes_of(k, g, program->in.z + j)[l];
  get_lanes(k, g, out->zd_all, program->n, next + at->zd * L);
  get_lanes(k, g, out->zdd_state, program->n, next + at->zdd * L);
  get_lanes(k, g, out->pd_state, program->np, next + at->pd * L);
  check_finite(next + at->z * L, program->n, group->live);
  check_finite(next + at->zd * L, program->n, group->live);
  check_finite(next + at->zdd * L, program->n, group->live);
  check_finite(next + at->p * L, program->np, group->live);
}

/* Where the sines of tapes lose digits: for the plants themselves. */
BRAMAH__FOR_PROCESSORS static void check_near(const bramah__lockstep *k, const double *state, int64_t *live)
{
  const double *z = state + k->place.z * L;
  for (size_t j = 0; j < k->program->n; j++) EACH_LANE live[l] &= fabs(z[j * L + l]) <= bramah__farthest;
}

void bramah__lockstep_adopt(bramah__lockstep *k, bramah__plant_group *const *group)
{
  int64_t goes_on[BRAMAH__MOST_GROUPS][L];
  int going = 0;
  EACH_GROUP
  {
    check_near(k, k->of[g].next, group[g]->live);
    memcpy(goes_on[g], group[g]->live, sizeof goes_on[g]);
    going |= any(goes_on[g]);
  }
  put_states(k, group, 1);
  run(k, BRAMAH__PART_STEP);
  for (int i = 0; going && i < BRAMAH__CLOSE_ITERATIONS && k->program->nd; i++) {
    run(k, BRAMAH__PART_PLACE);
    going = 0;
    EACH_GROUP
    {
      close_loops(k, g, group[g]->live, goes_on[g]);
      going |= any(goes_on[g]);
    }
  }
  run(k, BRAMAH__PART_POSE);
  run(k, BRAMAH__PART_FLOWS);
  run(k, BRAMAH__PART_RATES);
  k->has_rates = 1;
  EACH_GROUP
  {
    EACH_LANE group[g]->live[l] &= !(k->program->nd && goes_on[g][l]);
    take_adopted(k, g, group[g]);
    take_pose(k, g);
  }
}

void bramah__lockstep_inject(bramah__lockstep *k, bramah__plant_group *const *group, double *const *dx)
{
  EACH_GROUP displace(k, g, group[g], dx[g]);
  bramah__lockstep_adopt(k, group);
}

/* As set_parameters of coupled.c. Of the plant's tables only those of valves are looked at in lockstep. */
void bramah__lockstep_set_parameter(bramah__lockstep *k, size_t g, const bramah__plant_group *group, size_t i,
                                    size_t lane, double value)
{
  bramah_coupled *c = group->plant[lane];
  const bramah__parameter *p = &c->model->parameter[i];
  double *next = k->of[g].next;
  next[(k->place.theta + i) * L + lane] = value;
  if (p->code != BRAMAH__INPUT_OFFSET) return;
  for (size_t v = 0; v < k->program->ns; v++) {
    const bramah__valve *valve = &c->model->circuit.valve[v];
    if (valve->input != p->index) continue;
    bramah__valve other = *valve;
    other.offset = value;
    const double u = next[(k->place.u + p->index) * L + lane];
    next[(k->place.U + v) * L + lane] +=
        bramah__spool_reference(&other, u) - bramah__spool_reference(valve, u);
  }
  bramah__lockstep_forget(k);
  double *theta = c->transition.theta; /* scratch of their number */
  for (size_t j = 0; j < k->program->n_par; j++) theta[j] = next[(k->place.theta + j) * L + lane];
  bramah__apply_parameters(c, theta);
}

void bramah__lockstep_count(const bramah__plant_group *group, const double *iterations)
{
  EACH_LIVE(group)
  {
    bramah_step_report *report = &group->plant[l]->report;
    const uint32_t made = (uint32_t)iterations[l];
    if (made == 0) continue;
    report->last_iterations = report->last_evaluations = made;
    report->iterations += made;
    if (made > report->max_iterations) report->max_iterations = made;
    report->steps++;
    report->compiled++;
  }
}

BRAMAH__FOR_PROCESSORS static void take_candidate(const bramah__lockstep *k, size_t g,
                                                  const bramah__plant_group *group, size_t words)
{
  bramah__keep_where(group->live, words, k->of[g].next, group->state);
}

void bramah__lockstep_take(bramah__lockstep *k, size_t g, bramah__plant_group *group, int is_step)
{
  take_candidate(k, g, group, k->place.words);
  if (is_step) bramah__lockstep_count(group, k->of[g].iterations);
}

void bramah__lockstep_take_point(bramah__lockstep *k, size_t g, bramah__plant_group *group)
{
  take_candidate(k, g, group, k->place.U);
}

/* ---- outputs ---- */

void bramah__lockstep_read(bramah__lockstep *k, size_t i) { run(k, k->program->reading[i].part); }

/* Its value, derivatives by the error state, by independent accelerations, by parameters. */
static const uint16_t *reading_of(const bramah_program *program, size_t i)
{
  const bramah__reading *reading = &program->reading[i];
  return bramah__tape_results(&program->tape, reading->part) + reading->first;
}

BRAMAH__FOR_PROCESSORS static void read_row(const bramah__lockstep *k, size_t g, size_t i, double *row)
{
  get_lanes(k, g, reading_of(k->program, i) + 1, k->program->ne, row);
}

/* What the loader chooses among has a name outside this library, so this is in front of it. */
void bramah__lockstep_row(const bramah__lockstep *k, size_t g, size_t i, double *row)
{
  read_row(k, g, i, row);
}

void bramah__lockstep_by_parameter(const bramah__lockstep *k, size_t g, size_t i, size_t parameter,
                                   double *out)
{
  const bramah_program *program = k->program;
  get_lanes(k, g, reading_of(program, i) + 1 + program->ne + program->nf + parameter, 1, out);
}

void bramah__lockstep_slopes(bramah__lockstep *k, bramah__plant_group *const *group)
{
  const bramah_program *program = k->program;
  run(k, BRAMAH__PART_FLOWS);
  run(k, BRAMAH__PART_RATES);
  run(k, BRAMAH__PART_SLOPES);
  run_parameters(k, group[0], 1);
  EACH_GROUP check_pivots(k, g, program->out.mass_pivot, program->nf, program->mass_pivot,
                          bramah__small_pivot, group[g]->live);
}

BRAMAH__FOR_PROCESSORS static void add_rates(const bramah__lockstep *k, size_t g, size_t i, double *row)
{
  const bramah_program *program = k->program;
  const uint16_t *by_zdd = reading_of(program, i) + 1 + program->ne;
  for (size_t f = 0; f < program->nf; f++)
    for (size_t j = 0; j < program->ne; j++) {
      const double *by = lanes_of(k, g, by_zdd[f]),
                   *A = lanes_of(k, g, program->out.A_state[f * program->ne + j]);
      EACH_LANE row[j * L + l] += by[l] * A[l];
    }
}

void bramah__lockstep_row_of_rates(const bramah__lockstep *k, size_t g, size_t i, double *row)
{
  add_rates(k, g, i, row);
}

void bramah__lockstep_rates_by_parameter(const bramah__lockstep *k, size_t g, size_t i, size_t j, double *out)
{
  const bramah_program *program = k->program;
  const double *zdd = k->of[g].carried + j * program->nv * L;
  for (size_t f = 0; f < program->nf; f++) {
    const double *by = lanes_of(k, g, reading_of(program, i)[1 + program->ne + f]);
    EACH_LANE out[l] += by[l] * zdd[f * L + l];
  }
}

void bramah__lockstep_show_edges(const bramah__lockstep *k, const bramah__plant_group *group, size_t lane)
{
  bramah_coupled *c = group->plant[lane];
  const double *state = group->state + lane;
  for (size_t i = 0; i < k->program->ns; i++) c->state.U[i] = state[(k->place.U + i) * L];
  for (size_t i = 0; i < k->program->np; i++) c->state.p[i] = state[(k->place.p + i) * L];
  for (size_t i = 0; i < c->model->n_inputs; i++) c->state.u[i] = state[(k->place.u + i) * L];
  for (size_t i = 0; i < k->program->n_par; i++) c->state.theta[i] = state[(k->place.theta + i) * L];
}

/* As bramah__output_value. */
void bramah__lockstep_value(const bramah__lockstep *k, size_t g, const double *state, size_t i, double *value)
{
  const bramah_program *program = k->program;
  const bramah__output *output = &program->model->output[i];
  const double *from = lanes_of(k, g, reading_of(program, i)[0]);
  if (output->code == BRAMAH__JOINT_POSITION) from = state + (k->place.z + output->index) * L;
  if (output->code == BRAMAH__JOINT_RATE) from = state + (k->place.zd + output->index) * L;
  if (output->code == BRAMAH__JOINT_ACCELERATION) from = state + (k->place.zdd + output->index) * L;
  if (output->code == BRAMAH__VOLUME_PRESSURE) from = state + (k->place.p + output->index) * L;
  if (output->code == BRAMAH__CYLINDER_STROKE) from = lanes_of(k, g, program->out.stroke[output->index]);
  if (output->code == BRAMAH__CYLINDER_VELOCITY) from = lanes_of(k, g, program->out.velocity[output->index]);
  memcpy(value, from, L * sizeof *value);
}

/* ---- what can be done so ---- */

int bramah__is_coupled(const bramah_plant *plant) { return plant->noise_row == bramah__noise_row; }

int bramah__lockstep_fits(const bramah_coupled *c, size_t n_par, const size_t *par)
{
  const bramah_program *program = c->compiled.first;
  if (!program || program->scope < BRAMAH_PROGRAM_DERIVATIVES ||
      !bramah__program_follows(program, n_par, par) || program->nw || program->nm || program->nq ||
      program->nk || program->no || program->ng || program->nb)
    return 0;
  for (size_t i = 0; i < program->ns; i++)
    if (bramah__is_direct(&c->model->circuit.valve[i])) return 0;
  return c->injection != BRAMAH_INJECTION_LINEARISED;
}

int bramah__lockstep_shows(const bramah_coupled *c, size_t output)
{
  const bramah__output_code code = c->model->output[output].code;
  if (!c->compiled.first->reading[output].part) return 0;
  return code <= BRAMAH__VOLUME_PRESSURE || code == BRAMAH__CYLINDER_STROKE ||
         code == BRAMAH__CYLINDER_VELOCITY || bramah__is_of_body(code) || code == BRAMAH__DEFINED;
}

/* Is a register the number zero? */
static int is_zero(const bramah_program *program, size_t at)
{
  const bramah__tape *tape = &program->tape;
  const size_t number = at - tape->n_inputs;
  return at >= tape->n_inputs && number < tape->n_numbers && tape->number[number] == 0.0;
}

int bramah__lockstep_reads(const bramah_coupled *c, size_t output)
{
  const bramah_program *program = c->compiled.first;
  const bramah__output_code code = c->model->output[output].code;
  if (!bramah__lockstep_shows(c, output) || code == BRAMAH__JOINT_ACCELERATION ||
      bramah__body_accelerates(code))
    return 0;
  const uint16_t *by_zdd = reading_of(program, output) + 1 + program->ne;
  for (size_t f = 0; f < program->nf; f++)
    if (!is_zero(program, by_zdd[f])) return 0;
  return 1;
}

int bramah__lockstep_depends(const bramah_coupled *c, size_t output, size_t j)
{
  return !is_zero(c->compiled.first, reading_of(c->compiled.first, output)[1 + j]);
}

int bramah__lockstep_knows(bramah_coupled *c)
{
  unsigned char near = 1;
  for (size_t j = 0; j < c->model->n; j++) near &= fabs(c->state.z[j]) <= bramah__farthest;
  return near && !c->basis_changed && bramah__program_knows(c->compiled.first, &c->state);
}

/* ---- memory ---- */

void bramah__lockstep_cut(const bramah_coupled *c, size_t n_groups, bramah__arena *arena,
                          bramah__lockstep *out)
{
  const bramah_program *program = c->compiled.first;
  const size_t n = program->n, nf = program->nf, nx = program->nx, nv = program->nv, ne = program->ne,
               n_par = program->n_par, n_works = program->n_works, n_inputs = program->model->n_inputs,
               words = c->state.size / sizeof(double);
  *out = (bramah__lockstep){.program = program, .n_groups = n_groups};
  out->place.words = words;
#define PLACE(type, name, count)                                                                             \
  out->place.name = (size_t)((const unsigned char *)c->state.name - (const unsigned char *)c->state.block) / \
                    sizeof(double);
  BRAMAH__STATE_FIELDS(PLACE)
#undef PLACE
  out->registers = BRAMAH__TAKE(arena, double, program->tape.n_registers *L *n_groups);
  for (size_t g = 0; g < n_groups; g++) {
#define TAKE(name, count) out->of[g].name = BRAMAH__TAKE(arena, double, L *(count));
    BRAMAH__GROUP_RESULTS(TAKE)
#undef TAKE
  }
  if (!out->registers) return;
  bramah__tape_prepare(&program->tape, L * n_groups, out->registers);
  for (size_t g = 0; g < n_groups; g++) EACH_LANE lanes_of(out, g, program->in.h)[l] = program->model->h;
}
