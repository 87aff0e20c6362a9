/* SPDX-License-Identifier: MIT */
/* Equilibria: coming to rest, and trims. */
#include "lib/linear/linearization_internal.h"
#include "lib/base/diag.h"
#include "lib/math/dense.h"

#include <math.h>

#include <string.h>

static const char no_search[] = "equilibria of rolling machines are not searched for: give the steady motion";

/* Bristles of a contact or brake as they bend before it slides [m or rad]; of a cylinder's friction 10 um, its film 1. */
static double friction_size(const bramah_linearization *l, size_t k)
{
  const bramah_model *model = l->model;
  for (size_t i = 0; i < model->n_contact_points; i++) {
    const bramah__contact *contact = &model->contact_point[i];
    if (k >= contact->first_state && k < contact->first_state + contact->n_states)
      return contact->static_friction / contact->bristles;
  }
  return strcmp(l->system.x_unit[bramah__first_friction(l) + k], "1") == 0 ? 1.0 : 1e-5;
}

/* Sizes that steps are measured by: rad or m, their rates, MPa, full command, bristle and film. */
static double state_size(const bramah_linearization *l, size_t i)
{
  const size_t pressure = 2 * l->system.n_position, spool = bramah__first_spool(l),
               friction = bramah__first_friction(l);
  if (i < pressure) return 1.0;
  if (i < spool) return 1e6;
  if (i < friction) return l->model->circuit.valve[l->spool[i - spool]].limit;
  return friction_size(l, i - friction);
}

/* Move the state by dx [n] in the order of the linearization; friction states too. */
static bramah_status move_state(bramah_linearization *l, bramah_coupled *c, const double *dx,
                                bramah_diag *diag)
{
  const bramah_model *model = c->model;
  const size_t n_dependent = model->n_dependent, n_dof = model->n_independent,
               n_pressure = l->system.n_pressure;
  for (size_t i = 0; i < l->system.n; i++)
    if (!isfinite(dx[i]))
      return bramah__fail(diag, BRAMAH_E_NOT_FINITE, l->system.x_name[i], "the correction is not finite");
  const bramah_status status = bramah__refresh(c, diag);
  if (status != BRAMAH_OK) return status;
  bramah__state_copy(&c->state, &c->next);
  for (size_t j = 0; j < model->n; j++)
    for (size_t f = 0; f < n_dof; f++) c->next.z[j] += c->now->Rz[j * n_dof + f] * dx[f];
  for (size_t f = 0; f < n_dof; f++) c->next.zd[c->next.index[n_dependent + f]] += dx[n_dof + f];
  for (size_t i = 0; i < n_pressure; i++) c->next.p[i] += dx[2 * n_dof + i];
  for (size_t i = 0; i < l->system.n_spool; i++) c->next.U[l->spool[i]] += dx[2 * n_dof + n_pressure + i];
  for (size_t i = 0; i < l->system.n_friction; i++) c->next.x[i] += dx[bramah__first_friction(l) + i];
  return bramah__adopt_candidate(c, diag);
}

/* Is the body behind joint j balanced about it, and carries no other one? Gravity then does not see its angle. */
static int turns_evenly(const bramah_model *model, size_t j)
{
  const bramah__link *link = &model->tree.link[j];
  const double *n = link->axis, *J = link->inertia, along = bramah__dot3(link->centre, n);
  const double polar =
                   n[0] * bramah__dot3(J, n) + n[1] * bramah__dot3(J + 3, n) + n[2] * bramah__dot3(J + 6, n),
               size = J[0] + J[4] + J[8], across = 0.5 * (size - polar);
  if (!link->revolute || link->ball) return 0;
  for (size_t k = j + 1; k < model->n; k++)
    if (model->tree.link[k].parent == (int)j) return 0;

  /* Its centre on the axis, J n along the axis, and the same moment of inertia about all axes across it. */
  for (size_t a = 0; a < 3; a++) {
    if (fabs(link->centre[a] - along * n[a]) > 1e-9) return 0;
    for (size_t b = 0; b < 3; b++)
      if (fabs(J[3 * a + b] - (a == b) * across - (polar - across) * n[a] * n[b]) > 1e-9 * size) return 0;
  }
  return 1;
}

/* Is independent coordinate i the angle of a shaft, on which nothing depends? Where the machine is at rest it may turn: an
 * engine runs. */
static int is_shaft(const bramah_linearization *l, const bramah_coupled *c, size_t i)
{
  const bramah_linear_system *sys = &l->system;
  if (!turns_evenly(c->model, (size_t)c->state.index[c->model->n_dependent + i])) return 0;
  for (size_t r = 0; r < sys->n; r++)
    if (fabs(sys->A[r * sys->n + i]) > 1e-6 * state_size(l, r)) return 0;
  return 1;
}

static const double still = 1e-6; /* [rad/s] */

/* An engine that runs, and whose governor keeps it running, shakes the machine for ever where its rotor is out of balance. */
static bramah_status check_engines(const bramah_coupled *c, bramah_diag *diag)
{
  const bramah_model *model = c->model;
  for (size_t i = 0; i < model->n_shafts; i++) {
    const bramah__shaft *engine = &model->shaft[i];
    const size_t j = engine->joint[0];
    if (engine->kind == BRAMAH__ENGINE && engine->value[BRAMAH__SHAFT_IDLE_SPEED] > 0.0 &&
        c->state.zd[j] > fmax(still, engine->stall) && !turns_evenly(model, j))
      return bramah__fail(
          diag, BRAMAH_E_NO_CONVERGENCE, model->body_name[j],
          "does not come to rest: its engine runs, and it is out of balance about its joint or "
          "carries other bodies");
  }
  return BRAMAH_OK;
}

/* Velocities to zero but those of shafts that turn (`shafts` [n_position], NULL: none does), spools to where the commands
 * hold them. What still moves is prescribed. */
static bramah_status halt(bramah_coupled *c, const int *shafts, bramah_diag *diag)
{
  const bramah_model *model = c->model;
  bramah__state_copy(&c->state, &c->next);
  memset(c->next.zd, 0, model->n * sizeof *c->next.zd);
  for (size_t i = 0; shafts && i < model->n_independent; i++) {
    const int j = c->state.index[model->n_dependent + i];
    if (shafts[i] && fabs(c->state.zd[j]) > still) c->next.zd[j] = c->state.zd[j];
  }
  for (size_t i = 0; i < bramah__n_spools(&model->circuit); i++) {
    const bramah__valve *valve = &model->circuit.valve[i];
    c->next.U[i] = bramah__spool_reference(valve, c->next.u[valve->input]);
  }
  const bramah_status status = bramah__adopt_candidate(c, diag);
  if (status != BRAMAH_OK) return status;
  for (size_t i = 0; i < model->n_motions; i++)
    if (c->state.zd[model->motion[i].joint] != 0.0)
      return bramah__fail(diag, BRAMAH_E_UNSUPPORTED, model->motion_name[i],
                          "this prescribed motion does not stand still: there is no equilibrium");
  return BRAMAH_OK;
}

/* Say which joint or volume is out of balance: element k of xd [n], and by how much. */
static bramah_status out_of_balance(const bramah_linearization *l, const bramah_coupled *c, size_t k,
                                    const char *what, bramah_diag *diag)
{
  const size_t n_dof = l->system.n_position;
  const int moves = k < 2 * n_dof;
  const char *name = moves ? c->model->body_name[(size_t)c->state.index[c->model->n_dependent + k % n_dof]]
                           : c->model->volume_name[k - 2 * n_dof];
  bramah__fail(diag, BRAMAH_E_NO_CONVERGENCE, name, what);
  bramah__add_text(diag, l->system.x_name[k]);
  bramah__add_text(diag, " changes by ");
  bramah__add_number(diag, l->system.xd[k], 3);
  bramah__add_text(diag, " ");
  bramah__add_text(diag, l->system.x_unit[k]);
  bramah__add_text(diag, strchr(l->system.x_unit[k], '/') ? "^2" : "/s");
  return BRAMAH_E_NO_CONVERGENCE;
}

static void rest_report(const bramah_linearization *l, const bramah_coupled *c, int iterations,
                        bramah_equilibrium_report *report)
{
  if (!report) return;
  *report = (bramah_equilibrium_report){.iterations = iterations};
  for (size_t j = 0; j < c->model->n; j++)
    report->acceleration = fmax(report->acceleration, fabs(c->state.zdd[j]));
  for (size_t i = 0; i < l->system.n_pressure; i++)
    report->pressure_rate = fmax(report->pressure_rate, fabs(c->state.pd[i]));
}

/* Largest move of a position in one step [rad or m]. */
static const double stride = 0.05;

/* Motion, pressures and coordinates of the last run, which x is measured from; commands, parameters, time and work
 * stay those of the plant. */
static bramah_status return_to_run(const bramah_linearization *l, bramah_coupled *c, bramah_diag *diag)
{
  const bramah_model *model = c->model;
  const bramah__state *run = &c->probe_state, *now = &c->state;
  bramah__state *next = &c->next;
  memcpy(run->block, l->run, run->size);
  bramah__state_copy(run, next);
  memcpy(next->u, now->u, model->n_inputs * sizeof *next->u);
  memcpy(next->theta, now->theta, model->n_parameters * sizeof *next->theta);
  memcpy(next->work, now->work, model->circuit.n_cylinders * sizeof *next->work);
  memcpy(next->drive_work, now->drive_work, model->n_motions * sizeof *next->drive_work);
  *next->time_ns = *now->time_ns;
  return bramah__adopt_candidate(c, diag);
}

bramah_status bramah_linearization_place(bramah_linearization *l, bramah_coupled *plant, const double *x,
                                         bramah_diag *diag)
{
  const size_t n = l->system.n;
  bramah_status status =
      bramah__check_plant(l, plant, "a rolling machine is placed by its machine file", diag);
  if (status != BRAMAH_OK) return status;
  if (!l->system.x_name[0])
    return bramah__fail(diag, BRAMAH_E_ARGUMENT, l->model->name, "has not been linearized yet");
  for (size_t i = 0; i < n; i++)
    if (!isfinite(x[i])) return bramah__fail(diag, BRAMAH_E_NOT_FINITE, l->system.x_name[i], "is not finite");
  /* How many steps it takes to x. */
  double far = 0.0;
  for (size_t i = 0; i < l->system.n_position; i++) far = fmax(far, fabs(x[i] - l->system.x[i]));
  const size_t steps = far < 1e4 * stride ? 1 + (size_t)(far / stride) : 0;
  if (steps == 0) return bramah__fail(diag, BRAMAH_E_CLOSURE, l->model->name, "this state is too far away");
  bramah__keep_state(plant, l->snap);
  for (size_t i = 0; i < n; i++) l->side[i] = (x[i] - l->x[i]) / (double)steps;
  status = return_to_run(l, plant, diag);
  for (size_t k = 0; k < steps && status == BRAMAH_OK; k++) status = move_state(l, plant, l->side, diag);
  if (status != BRAMAH_OK) bramah__return_state(plant, l->snap);
  return status;
}

/* ---- coming to rest ---- */

/* Pseudo-transient continuation. The step grows twofold as long as the state moves little in it and shrinks fourfold
 * where it would leap; at steps far longer than anything in the machine it is Newton's. */

enum { MOST_STEPS = 600 };
static const double first_step = 1e-4, long_step = 1e3, longest_step = 1e6; /* [s] */
static const double leap = 0.3;                                             /* in sizes of the state */
static const double little_rest = 1e-9; /* a long step, or a second, that moves no more ends the settling */

/* Step dx of length dt of implicit Euler, M [n x n] scratch; its size in sizes of the state, or -1. Shafts turn where they
 * are: of them it is their speed that moves. */
static double euler_step(const bramah_linearization *l, const int *shafts, double dt, double *M, int *pivot,
                         double *dx)
{
  const bramah_linear_system *sys = &l->system;
  const size_t n = sys->n;
  for (size_t i = 0; i < n; i++) {
    const double size = state_size(l, i);
    for (size_t j = 0; j < n; j++) M[i * n + j] = (i == j) / dt - sys->A[i * n + j] * state_size(l, j) / size;
    dx[i] = sys->xd[i] / size;
  }
  if (bramah__lu_factor(n, M, pivot)) return -1.0;
  bramah__lu_solve(n, M, pivot, dx);
  double largest = 0.0;
  for (size_t i = 0; i < n; i++) {
    const size_t np = sys->n_position;
    if (i < np && shafts[i]) dx[i] = 0.0;
    if (i < np || i >= 2 * np)
      largest = fmax(largest, fabs(dx[i]));
    else if (shafts[i - np])
      largest = fmax(largest, fabs(dx[i]) / (1.0 + fabs(sys->x[i])));
    dx[i] *= state_size(l, i);
  }
  return isfinite(largest) ? largest : -1.0;
}

/* By how much the fastest state changes in a second, in sizes: a position or pressure, of a shaft its speed. Where friction
 * holds in more ways than one, long steps wander among them by what rounding makes of it; this does not. */
static double fastest(const bramah_linearization *l, const int *shafts, size_t *which)
{
  const bramah_linear_system *sys = &l->system;
  const size_t np = sys->n_position;
  double most = -1.0;
  for (size_t i = 0; i < 2 * np + sys->n_pressure; i++) {
    const int is_speed = i >= np && i < 2 * np;
    if (is_speed ? !shafts[i - np] : i < np && shafts[i]) continue;
    const double speed = fabs(sys->xd[i]) / (is_speed ? 1.0 + fabs(sys->x[i]) : state_size(l, i));
    if (speed > most) most = speed, *which = i;
  }
  return most;
}

bramah_status bramah_settle(bramah_linearization *l, bramah_coupled *plant, bramah_equilibrium_report *report,
                            bramah_diag *diag)
{
  const bramah_linear_system *sys = &l->system;
  const size_t n = sys->n;
  double *M = l->search, *dx = M + n * n, *snap = dx + 3 * n;
  int *pivot = (int *)(void *)(dx + n), *shafts = (int *)(void *)(dx + 2 * n);
  bramah_status status = bramah__check_plant(l, plant, no_search, diag);
  if (status == BRAMAH_OK) status = check_engines(plant, diag);
  if (status != BRAMAH_OK) return status;
  bramah__keep_state(plant, snap);

  /* Steps, until one is long and moves next to nothing. */
  double dt = first_step;
  int iterations = 0, rests = 0;
  size_t moves = 0;
  status = bramah_linearization_run(l, plant, diag);
  for (; status == BRAMAH_OK && iterations < MOST_STEPS && !rests; iterations++) {
    for (size_t i = 0; i < sys->n_position; i++) shafts[i] = is_shaft(l, plant, i);
    const double size = euler_step(l, shafts, dt, M, pivot, dx);
    if (size < 0.0 || size > leap || move_state(l, plant, dx, diag) != BRAMAH_OK) {
      dt *= 0.25;
      continue;
    }
    bramah__update_basis(plant);
    status = bramah_linearization_run(l, plant, diag);
    rests = dt >= long_step && (size < little_rest || fastest(l, shafts, &moves) < little_rest);
    dt = fmin(2.0 * dt, longest_step);
  }
  iterations -= rests;

  if (status == BRAMAH_OK && !rests) {
    fastest(l, shafts, &moves);
    status = out_of_balance(l, plant, moves, "does not come to rest: ", diag);
  }
  if (status == BRAMAH_OK) status = halt(plant, shafts, diag);
  if (status != BRAMAH_OK) {
    bramah__return_state(plant, snap);
    return status;
  }
  rest_report(l, plant, iterations, report);
  return BRAMAH_OK;
}

/* ---- trims ---- */

/* Equilibrium with held outputs and free inputs: Levenberg and Marquardt's method on the linearized
 * equations. Velocities are zero and spools are where the commands hold them, so the unknowns are
 * independent positions, pressures and free inputs,
 *
 *   [ z''_i ]       [ A_z   A_p   B ] [ dz_i ]
 *   [ p'    ]  = -  [ ...           ] [ dp   ]
 *   [ y - t ]       [ C_z   C_p   D ] [ du   ]
 *
 * each column in sizes of its unknown and each row in sizes of what the unknowns make of it. */

enum { MOST_ITERATIONS = 200, MOST_TRIALS = 24 };
static const double little = 1e-10; /* step that ends the iteration, in sizes of the unknowns */
static const double held_weight = 1e3;

#define SEARCH_FIELDS(X)                                                                                     \
  X(double, snap, l->n_snap, "the plant as it was")                                                          \
  X(double, trial, l->n_snap, "and before a step")                                                           \
  X(double, J, rows *columns)                                                                                \
  X(double, L, all *columns, "J with damping below")                                                         \
  X(double, b, all)                                                                                          \
  X(double, step, columns)                                                                                   \
  X(double, size, columns)                                                                                   \
  X(double, weight, rows)                                                                                    \
  X(double, residual, rows)                                                                                  \
  X(double, dx, l->system.n)                                                                                 \
  X(double, rest, bramah__least_squares_work(all, columns))

typedef struct search {
  bramah_linearization *l;
  bramah_coupled *c;
  const bramah_trim *trim;
  size_t rows, columns;
  SEARCH_FIELDS(BRAMAH__FIELD_MEMBER)
  double mu; /* damping */
} search;

static size_t n_states(const search *s) { return s->l->system.n_position + s->l->system.n_pressure; }

/* State of the linearization that unknown k is, and the rate that row r is. */
static size_t state_of(const search *s, size_t k)
{
  return k < s->l->system.n_position ? k : s->l->system.n_position + k;
}
static size_t rate_of(const search *s, size_t r) { return s->l->system.n_position + r; }

/* J, each row weighed. Row weights are frozen by the first call, so that residuals can be compared. */
static void fill(search *s, int first)
{
  const bramah_linear_system *sys = &s->l->system;
  const bramah_model *model = s->l->model;
  const size_t ns = n_states(s);
  for (size_t r = 0; r < s->rows; r++) {
    const size_t output = r < ns ? 0 : s->trim->held[r - ns];
    const double *by_state = r < ns ? sys->A + rate_of(s, r) * sys->n : sys->C + output * sys->n,
                 *by_input = r < ns ? sys->B + rate_of(s, r) * sys->n_u : sys->D + output * sys->n_u;
    double *row = s->J + r * s->columns, largest = 0.0;
    for (size_t k = 0; k < ns; k++) row[k] = by_state[state_of(s, k)];
    for (size_t k = ns; k < s->columns; k++) {
      /* An input acts at once, and through the spools that are states. */
      const size_t input = s->trim->free[k - ns];
      double by_spools = 0.0;
      for (size_t i = 0; i < sys->n_spool && input < model->n_inputs; i++)
        if (bramah__spool_follows(&model->circuit.valve[s->l->spool[i]], input, s->c->state.u[input]))
          by_spools += by_state[bramah__first_spool(s->l) + i];
      row[k] = by_input[input] + by_spools;
    }
    for (size_t k = 0; k < s->columns; k++) {
      row[k] *= s->size[k];
      largest = fmax(largest, fabs(row[k]));
    }
    if (first) s->weight[r] = 1.0 / fmax(largest, r < sys->n_position ? 1.0 : r < ns ? 1e4 : 1e-6);
    if (first && r >= ns) s->weight[r] *= held_weight;
    for (size_t k = 0; k < s->columns; k++) row[k] *= s->weight[r];
  }
}

static double residual(search *s)
{
  const bramah_linear_system *sys = &s->l->system;
  const size_t ns = n_states(s);
  double sum = 0.0;
  for (size_t r = 0; r < s->rows; r++) {
    s->residual[r] = s->weight[r] * (r < ns ? sys->xd[rate_of(s, r)]
                                            : sys->y[s->trim->held[r - ns]] - s->trim->target[r - ns]);
    sum += s->residual[r] * s->residual[r];
  }
  return sqrt(sum);
}

/* The plant with the step taken; velocities stay zero. */
static bramah_status take(search *s, bramah_diag *diag)
{
  const bramah_model *model = s->c->model;
  const size_t ns = n_states(s), n = s->l->system.n;
  bramah__state *state = &s->c->state;
  memset(s->dx, 0, n * sizeof *s->dx);
  for (size_t k = 0; k < ns; k++) s->dx[state_of(s, k)] = s->step[k];
  for (size_t k = ns; k < s->columns; k++) {
    const size_t input = s->trim->free[k - ns];
    if (input < model->n_inputs) {
      state->u[input] += s->step[k];
      continue;
    }
    const size_t parameter = s->l->parameter[input - model->n_inputs];
    const bramah_status status =
        bramah__set_parameter(s->c, parameter, state->theta[parameter] + s->step[k], diag);
    if (status != BRAMAH_OK) return status;
  }
  for (size_t i = 0; i < s->l->system.n_spool; i++) {
    const size_t v = s->l->spool[i];
    const bramah__valve *valve = &model->circuit.valve[v];
    s->dx[bramah__first_spool(s->l) + i] =
        bramah__spool_reference(valve, state->u[valve->input]) - state->U[v];
  }
  bramah_status status = move_state(s->l, s->c, s->dx, diag);
  if (status == BRAMAH_OK) status = bramah_linearization_run(s->l, s->c, diag);
  return status;
}

/* Damp until a step makes the residual less. Returns its length in sizes, 0 if none does. */
static double descend(search *s, bramah_diag *diag)
{
  const size_t rows = s->rows, columns = s->columns, all = rows + columns;
  const double before = residual(s);
  bramah__keep_state(s->c, s->trial);
  for (int trial = 0; trial < MOST_TRIALS; trial++) {

    /* The step of least squares of J step = -residual with damping, in sizes. */
    memset(s->L, 0, all * columns * sizeof *s->L);
    memcpy(s->L, s->J, rows * columns * sizeof *s->L);
    for (size_t k = 0; k < columns; k++) s->L[(rows + k) * columns + k] = sqrt(s->mu);
    for (size_t r = 0; r < all; r++) s->b[r] = r < rows ? -s->residual[r] : 0.0;
    const int solved = bramah__least_squares(all, columns, s->L, s->b, 1e-13, s->rest) >= 0;
    double length = 0.0;
    for (size_t k = 0; k < columns && solved; k++) {
      length = fmax(length, fabs(s->b[k]));
      s->step[k] = s->b[k] * s->size[k];
    }
    if (solved && length < little) return 0.0;

    /* Take it, if it does not leap and leads down. */
    if (solved && length <= leap) {
      if (take(s, diag) == BRAMAH_OK && residual(s) < before) {
        s->mu = s->mu > 1e-12 ? 0.1 * s->mu : 0.0;
        return length;
      }
      bramah__return_state(s->c, s->trial);
      if (bramah_linearization_run(s->l, s->c, diag) != BRAMAH_OK) return 0.0;
      residual(s);
    }
    s->mu = fmax(4.0 * s->mu, 1e-10);
  }
  return 0.0;
}

/* Descend as far as it goes; what does not balance then is named. */
static bramah_status iterate(search *s, int *iterations, bramah_diag *diag)
{
  const size_t ns = n_states(s);
  const bramah_status status = bramah_linearization_run(s->l, s->c, diag);
  if (status != BRAMAH_OK) return status;
  s->mu = 1e-6;
  for (*iterations = 0; *iterations < MOST_ITERATIONS; ++*iterations) {
    fill(s, *iterations == 0);
    if (descend(s, diag) == 0.0) break;
  }

  size_t worst = 0;
  int balanced = 1; /* but for what the last step can have left */
  for (size_t r = 0; r < s->rows; r++) {
    if (fabs(s->residual[r]) > fabs(s->residual[worst])) worst = r;
    if (fabs(s->residual[r]) > 1e-7 * (r < ns ? 1.0 : held_weight)) balanced = 0;
  }
  if (balanced) return BRAMAH_OK;
  if (worst < ns) return out_of_balance(s->l, s->c, rate_of(s, worst), "does not balance: ", diag);
  const size_t output = s->trim->held[worst - ns];
  bramah__fail(diag, BRAMAH_E_NO_CONVERGENCE, s->l->system.y_name[output],
               "does not reach its value; it stops at ");
  bramah__add_number(diag, s->l->system.y[output], 6);
  bramah__add_text(diag, " ");
  bramah__add_text(diag, s->l->system.y_unit[output]);
  return BRAMAH_E_NO_CONVERGENCE;
}

static void lay_out(const bramah_linearization *l, size_t rows, size_t columns, bramah__arena *arena,
                    search *fields)
{
  const size_t all = rows + columns;
  SEARCH_FIELDS(BRAMAH__FIELD_TAKE)
}

size_t bramah__search_work(const bramah_linearization *l)
{
  const size_t n = l->system.n, states = l->system.n_position + l->system.n_pressure;
  search s;
  bramah__arena counted = bramah__arena_make(NULL, 0);
  lay_out(l, states + l->system.n_y, states + l->system.n_u, &counted, &s);
  const size_t settle = n * n + 3 * n + l->n_snap, trim = counted.used / sizeof(double) + 1;
  return settle > trim ? settle : trim;
}

bramah_status bramah_trim_find(bramah_linearization *l, bramah_coupled *plant, const bramah_trim *trim,
                               bramah_equilibrium_report *report, bramah_diag *diag)
{
  bramah_status status = bramah__check_plant(l, plant, no_search, diag);
  if (status != BRAMAH_OK) return status;
  int wrong_output = trim->n_held > l->system.n_y, wrong_input = trim->n_free > l->system.n_u;
  for (size_t k = 0; k < trim->n_held && !wrong_output; k++)
    wrong_output = trim->held[k] >= l->system.n_y || !isfinite(trim->target[k]);
  for (size_t k = 0; k < trim->n_free && !wrong_input; k++) wrong_input = trim->free[k] >= l->system.n_u;
  if (wrong_output)
    return bramah__fail(diag, BRAMAH_E_ARGUMENT, "trim", "no such output, or its value is not finite");
  if (wrong_input) return bramah__fail(diag, BRAMAH_E_ARGUMENT, "trim", "there is no input of this number");

  search s = {.l = l, .c = plant, .trim = trim};
  const size_t ns = n_states(&s);
  s.rows = ns + trim->n_held;
  s.columns = ns + trim->n_free;
  bramah__arena arena = bramah__arena_make(l->search, bramah__search_work(l) * sizeof *l->search);
  lay_out(l, s.rows, s.columns, &arena, &s);

  /* Unknowns are counted in sizes of the state, full command, the nominal value of a parameter, 1000 N or N m. */
  for (size_t k = 0; k < ns; k++) s.size[k] = state_size(l, state_of(&s, k));
  for (size_t k = ns; k < s.columns; k++) {
    const bramah_model *model = l->model;
    const size_t input = trim->free[k - ns];
    s.size[k] = 1.0;
    for (size_t i = bramah__n_spools(&model->circuit); i-- > 0 && input < model->n_inputs;)
      if (model->circuit.valve[i].input == input) s.size[k] = model->circuit.valve[i].limit;
    if (input < model->n_inputs) continue;
    const bramah__parameter *p = &model->parameter[l->parameter[input - model->n_inputs]];
    if (p->code == BRAMAH__JOINT_LOAD || p->code == BRAMAH__CYLINDER_LOAD || p->code == BRAMAH__LOAD_FORCE)
      s.size[k] = 1e3;
    if (p->info.nominal != 0.0) s.size[k] = fabs(p->info.nominal);
  }

  int iterations = 0;
  bramah__keep_state(plant, s.snap);
  status = halt(plant, NULL, diag);
  if (status == BRAMAH_OK) status = iterate(&s, &iterations, diag);
  if (status != BRAMAH_OK) {
    bramah__return_state(plant, s.snap);
    return status;
  }
  rest_report(l, plant, iterations, report);
  return BRAMAH_OK;
}
