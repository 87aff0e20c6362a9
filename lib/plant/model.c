/* SPDX-License-Identifier: MIT */
/* The model: a compiled machine with its initial state, which a plant of its own finds while it is made.
 * Loops are closed from the guesses of the machine, or, when a plant starts, from joint values that a user
 * gives. */
#include "bramah/machine.h"
#include "lib/machine/compile.h"
#include "lib/plant/coupled_internal.h"
#include "lib/base/diag.h"
#include "lib/math/dense.h"
#include "lib/math/vector3.h"

#include <math.h>
#include <string.h>

enum { ASSEMBLY_ITERATIONS = 100 };
static const double largest_move =
    0.3; /* rad or m in one iteration: far starts must not leap to another branch */
static const double rank_tolerance = 1e-9;                          /* of the largest element of Phi_z */
static const double nearby_tolerance = 1e-6, singular_start = 1e-5; /* of it, and of the usual pivot */
static const double accepted_gap = 1e-8;    /* m or rad: in constraint rows the elimination found redundant */
static const double given_tolerance = 1e-3; /* rad or m: how exactly typed values must fit each other */

static void constraints(bramah_coupled *c)
{
  const bramah_model *model = c->model;
  bramah__tree_pose(&model->tree, c->state.base, c->state.z, c->now->pose);
  bramah__constraint_residual(model, &c->state, c->now);
  bramah__constraint_jacobian(model, c->now);
}

/* Partition of the first m constraints at the present pose; joints in `given` become independent as far as
 * these leave them free. */
static size_t partition(bramah_coupled *c, size_t m, const unsigned char *given, int *row, int *index)
{
  const bramah_model *model = c->model;
  constraints(c);
  memcpy(c->Phi_z_work, c->now->Phi_z, m * model->n * sizeof(double));
  return bramah__eliminate(m, model->n, c->Phi_z_work, rank_tolerance, given, row, index);
}

static size_t choose_basis(bramah_coupled *c, const unsigned char *given)
{
  return partition(c, c->model->m, given, c->state.row, c->state.index);
}

static bramah_status cannot_close(const bramah_coupled *c, bramah_diag *diag)
{
  double gap = 0.0;
  int all_meet = 1;
  for (size_t i = 0; i < c->model->n_loops; i++) {
    gap = fmax(gap, bramah__loop_gap(&c->model->loop[i], c->now->Phi));
    all_meet &= c->model->loop[i].hold == BRAMAH__HOLD_POINT;
  }
  bramah__fail(diag, BRAMAH_E_CLOSURE, bramah__worst_loop(c->model, c->now),
               all_meet ? "the loop cannot be closed: its two points stay "
                        : "the loop cannot be closed: its two points stay off by ");
  bramah__add_number(diag, gap, 3);
  bramah__add_text(diag, all_meet ? " m apart; check lengths and starting values"
                                  : " m; check lengths and starting values");
  if (c->model->n_motions) bramah__add_text(diag, ", and where the motions start");
  return BRAMAH_E_CLOSURE;
}

/* Newton on the dependent coordinates with limited moves. */
static bramah_status close_loops(bramah_coupled *c, bramah_diag *diag)
{
  const bramah_model *model = c->model;
  const size_t n_dependent = model->n_dependent;
  bramah__eval *eval = c->now;
  for (int i = 0; i < ASSEMBLY_ITERATIONS; i++) {
    double gap = 0.0;
    constraints(c);
    for (size_t k = 0; k < n_dependent; k++) gap = fmax(gap, fabs(eval->Phi[c->state.row[k]]));
    if (gap <= model->closure_tolerance) return BRAMAH_OK;
    for (size_t k = 0; k < n_dependent; k++) {
      eval->column[k] = -eval->Phi[c->state.row[k]];
      for (size_t l = 0; l < n_dependent; l++)
        eval->LU[k * n_dependent + l] =
            eval->Phi_z[(size_t)c->state.row[k] * model->n + (size_t)c->state.index[l]];
    }
    if (bramah__lu_factor(n_dependent, eval->LU, eval->pivot)) return cannot_close(c, diag);
    bramah__lu_solve(n_dependent, eval->LU, eval->pivot, eval->column);
    double largest = 0.0;
    for (size_t k = 0; k < n_dependent; k++) largest = fmax(largest, fabs(eval->column[k]));
    const double part = largest > largest_move ? largest_move / largest : 1.0;
    for (size_t k = 0; k < n_dependent; k++) c->state.z[c->state.index[k]] += part * eval->column[k];
  }
  return cannot_close(c, diag);
}

static bramah_status check_redundant(bramah_coupled *c, bramah_diag *diag)
{
  constraints(c);
  for (size_t k = 0; k < c->model->m_loops; k++) /* motions are in use, all of them (check_motions) */
    if (!(fabs(c->now->Phi[k]) <= accepted_gap * (1.0 + c->model->closure_tolerance * 1e13))) {
      const size_t loop = bramah__loop_of_row(c->model, k);
      const char *unit, *fault = bramah__row_fault(&c->model->loop[loop], k, &unit);
      bramah__fail(diag, BRAMAH_E_CLOSURE, c->model->loop_name[loop], "the loop cannot be closed: ");
      bramah__add_text(diag, fault);
      bramah__add_text(diag, ", off by ");
      bramah__add_number(diag, c->now->Phi[k], 3);
      bramah__add_text(diag, unit);
      return BRAMAH_E_CLOSURE;
    }
  return BRAMAH_OK;
}

/* A message about joint j, at its line in the machine file: `text`, how much, and what follows. */
static bramah_status blame_joint(const bramah_model *model, const bramah_machine *machine, size_t j,
                                 bramah_status status, const char *text, double value, int digits,
                                 const char *unit, const char *hint, bramah_diag *diag)
{
  bramah__fail(diag, status, model->joint_name[j], text);
  bramah__add_number(diag, value, digits);
  bramah__add_text(diag, unit);
  bramah__add_text(diag, hint);
  for (size_t i = 0; i < machine->n_joints; i++)
    if (strcmp(machine->joints[i].name, model->joint_name[j]) == 0)
      bramah__at(diag, machine->file, machine->joints[i].line, 0);
  return status;
}

/* The scratch plant inside the model counts its degrees of freedom with the model's. */
static void set_rank(bramah_model *model, size_t rank)
{
  model->n_dependent = rank;
  model->n_independent = model->n - rank;
}

static bramah_status blame_motion(const bramah_model *model, const bramah_machine *machine, size_t i,
                                  const char *message, bramah_diag *diag)
{
  bramah__fail(diag, BRAMAH_E_CLOSURE, model->motion_name[i], message);
  bramah__at(diag, machine->file, machine->motions[i].line, 0);
  return BRAMAH_E_CLOSURE;
}

/* Every motion must say something that loops and other motions leave open, or its force is not determined. */
static bramah_status check_motions(bramah_coupled *c, const bramah_machine *machine, bramah_diag *diag)
{
  const bramah_model *model = c->model;
  const size_t rank = partition(c, model->m_loops, NULL, c->row_work, c->index_work);
  for (size_t i = 0; i < model->n_motions; i++)
    if (partition(c, model->m_loops + i + 1, NULL, c->row_work, c->index_work) != rank + i + 1)
      return blame_motion(model, machine, i,
                          "the joint of this motion already follows from the loops and the motions before it",
                          diag);
  return BRAMAH_OK;
}

/* The loops alone, with the prescribed joints where their motions start as far as the loops let them; then
 * the motions as well. Only a closed pose shows whether a motion is one too many. */
static bramah_status close_with_motions(bramah_coupled *c, bramah_model *model, const bramah_machine *machine,
                                        const unsigned char *given, bramah_diag *diag)
{
  unsigned char *kept = (unsigned char *)(void *)c->probe_state.block; /* scratch; larger than n bytes */
  memcpy(kept, given, model->n);
  for (size_t i = 0; i < model->n_motions; i++) kept[model->motion[i].joint] = 1;
  set_rank(model, partition(c, model->m_loops, kept, c->state.row, c->state.index));
  bramah_status status = close_loops(c, diag);
  if (status == BRAMAH_OK) status = check_motions(c, machine, diag);
  if (status != BRAMAH_OK) return status;

  /* The motion whose joint is farthest from where it should start; n_motions if all are right. */
  size_t worst = model->n_motions;
  double farthest = given_tolerance;
  for (size_t i = 0; i < model->n_motions; i++) {
    const double off = fabs(c->now->Phi[model->motion[i].row]);
    if (off > farthest) farthest = off, worst = i;
  }
  bramah__prescribe(model, &c->state);
  set_rank(model, choose_basis(c, given));
  status = close_loops(c, diag);
  if (status == BRAMAH_OK || worst == model->n_motions) return status;
  return blame_motion(model, machine, worst, "the loops cannot be closed where this motion starts", diag);
}

static bramah_status close_machine(bramah_coupled *c, bramah_model *model, const bramah_machine *machine,
                                   const unsigned char *given, bramah_diag *diag)
{
  /* The values of the machine, in coordinates that can be worked with. Spherical joints keep the user's angles
   * where these are good enough, so that each may be kept or follow on its own. */
  memcpy(c->state.z, model->z0, model->n * sizeof(double));
  memcpy(c->state.zd, model->zd0, model->n * sizeof(double));
  for (size_t b = 0; b < model->n_balls; b++)
    memcpy(c->state.base + 4 * b, (double[4]){1, 0, 0, 0}, 4 * sizeof(double));
  bramah__rebase_singular(model, &c->state);
  memcpy(model->z0, c->state.z, model->n * sizeof(double));
  memcpy(model->zd0, c->state.zd, model->n * sizeof(double));

  bramah_status status = BRAMAH_OK;
  if (model->n_motions) {
    status = close_with_motions(c, model, machine, given, diag);
  } else {
    set_rank(model, choose_basis(c, given));
    status = close_loops(c, diag);
  }
  if (status == BRAMAH_OK) {
    set_rank(model, choose_basis(c, NULL));
    status = check_redundant(c, diag);
  }
  if (status != BRAMAH_OK) {
    for (size_t i = 0; diag && !diag->line && i < machine->n_loops; i++)
      if (strcmp(machine->loops[i].name, diag->thing) == 0)
        bramah__at(diag, machine->file, machine->loops[i].line, 0);
    return status;
  }
  if (model->n_independent == 0)
    return bramah__fail(diag, BRAMAH_E_TOPOLOGY, model->name,
                        model->n_motions
                            ? "loops and motions leave no degree of freedom: nothing is left to move freely"
                            : "the loops leave no degree of freedom");

  /* A spherical joint that cannot be re-based, or one that the closing of the loops brought there. */
  const char *joint = bramah__singular_joint(model, c->state.z, NULL);
  if (joint)
    return bramah__fail(
        diag, BRAMAH_E_SINGULAR, joint,
        "the spherical joint starts too near its singular pitch of 90 deg; guess its angles there, "
        "or turn its frame by 'rotation'");
  for (size_t j = 0; j < model->n; j++) {
    const double moved = c->state.z[j] - model->z0[j];
    if (given[j] && !(fabs(moved) <= given_tolerance))
      return blame_joint(model, machine, j, BRAMAH_E_CLOSURE,
                         "the loops close only if this joint leaves its initial value by ", moved, 4,
                         model->tree.link[j].revolute ? " rad" : " m",
                         "; write 'guess' instead of 'initial' for joints that shall follow", diag);
  }
  return BRAMAH_OK;
}

/* All constraints at once, by Levenberg and Marquardt's method over all coordinates of c->next but those in `held` (NULL:
 * none): constraints may be redundant in closed poses only, and then no partition at a guess is the right one. Returns
 * 1 if they close. */
static int close_all(bramah_coupled *c, const unsigned char *held)
{
  enum { ITERATIONS = 50 };
  const bramah_model *model = c->model;
  const size_t n = model->n, m = model->m;
  bramah__eval *eval = c->trial;
  double *J = c->newton.Jzz, *x = c->newton.correction, gap = (double)INFINITY;
  for (int i = 0; i < ITERATIONS && gap > accepted_gap * 1e-2; i++) {
    bramah__tree_pose(&model->tree, c->next.base, c->next.z, eval->pose);
    bramah__constraint_residual(model, &c->next, eval);
    bramah__constraint_jacobian(model, eval);
    gap = 0.0;
    for (size_t k = 0; k < m; k++) gap = fmax(gap, fabs(eval->Phi[k]));
    for (size_t k = 0; held && k < m * n; k++)
      if (held[k % n]) eval->Phi_z[k] = 0.0;
    memset(J, 0, n * n * sizeof *J);
    memset(x, 0, n * sizeof *x);
    for (size_t k = 0; k < m; k++)
      for (size_t j = 0; j < n; j++) {
        x[j] += eval->Phi_z[k * n + j] * eval->Phi[k];
        for (size_t l = 0; l < n; l++) J[j * n + l] += eval->Phi_z[k * n + j] * eval->Phi_z[k * n + l];
      }
    for (size_t j = 0; j < n; j++) J[j * n + j] += 1e-9;
    if (bramah__lu_factor(n, J, c->newton.pivot)) return 0;
    bramah__lu_solve(n, J, c->newton.pivot, x);
    for (size_t j = 0; j < n; j++) c->next.z[j] -= x[j];
  }
  return gap <= accepted_gap * 1e-2;
}

/* Where a partition at the guesses does not close the loops: all constraints at once from there, given joints held; what
 * closes is the better guess. */
static bramah_status close_redundant(bramah_coupled *c, bramah_model *model, const bramah_machine *machine,
                                     const unsigned char *given)
{
  double *guess = c->zdd_base;
  bramah__state_copy(&c->state, &c->next);
  memcpy(c->next.z, model->z0, model->n * sizeof(double));
  if (!close_all(c, given)) return BRAMAH_E_CLOSURE;
  memcpy(guess, model->z0, model->n * sizeof(double));
  memcpy(model->z0, c->next.z, model->n * sizeof(double));
  const bramah_status status = close_machine(c, model, machine, given, NULL);
  if (status != BRAMAH_OK) memcpy(model->z0, guess, model->n * sizeof(double));
  return status;
}

/* Where the loops do not close from the guesses: one of them that would do instead. It is for the user to take, for loops
 * may close in more than one way. */
static bramah_status hint_at_guess(bramah_coupled *c, bramah_model *model, const bramah_machine *machine,
                                   const unsigned char *given, bramah_diag *diag)
{
  enum { JOINTS = 8 };
  static const double moves[] = {0.3, -0.3, 1.0, -1.0};
  const size_t n_moves = sizeof moves / sizeof *moves;
  double *guess = c->zdd_base;
  memcpy(guess, model->z0, model->n * sizeof *guess);
  for (size_t j = 0, tried = 0; j < model->n && tried < JOINTS; j++) {
    if (given[j] || model->ball_of[j]) continue;
    tried++;
    for (size_t k = 0; k < n_moves; k++) {
      memcpy(model->z0, guess, model->n * sizeof *guess);
      model->z0[j] += moves[k];
      if (close_machine(c, model, machine, given, NULL) != BRAMAH_OK) continue;
      bramah__add_text(diag, "; from ");
      bramah__add_number(diag, guess[j] + moves[k], 6);
      bramah__add_text(diag, model->tree.link[j].revolute ? " rad as the guess of " : " m as the guess of ");
      bramah__add_text(diag, model->joint_name[j]);
      bramah__add_text(diag, " they close");
      return BRAMAH_E_CLOSURE;
    }
  }
  return BRAMAH_E_CLOSURE;
}

/* Rates are taken in the coordinates the machine gives, then the basis for the simulation is chosen freely.
 */
static bramah_status start_motion(bramah_coupled *c, bramah_model *model, const bramah_machine *machine,
                                  const unsigned char *given, bramah_diag *diag)
{
  choose_basis(c, given);
  memcpy(c->state.zd, model->zd0, model->n * sizeof(double));
  bramah_status status = bramah__evaluate_position(model, &c->state, c->now, BRAMAH__LOOPS_AS_THEY_ARE);
  if (status == BRAMAH_OK) {
    bramah__set_motion(model, &c->state, c->now);
    for (size_t j = 0; j < model->n; j++)
      if (model->zd0[j] != 0.0 && !(fabs(c->state.zd[j] - model->zd0[j]) <= given_tolerance))
        return blame_joint(model, machine, j, BRAMAH_E_VALUE,
                           "this initial rate follows from the other joints: the loops make it ",
                           c->state.zd[j], 6, "", "", diag);
  }

  bramah__rebase_far(model, &c->state);
  choose_basis(c, NULL);
  if (status == BRAMAH_OK)
    status = bramah__evaluate_position(model, &c->state, c->now, BRAMAH__LOOPS_AS_THEY_ARE);
  if (status == BRAMAH_OK) status = bramah__factor_mass(model, &c->state, c->now);
  if (status != BRAMAH_OK)
    return bramah__fail(diag, status, model->name,
                        "the mass matrix is singular: every joint needs mass or inertia behind it");
  bramah__set_motion(model, &c->state, c->now);
  return BRAMAH_OK;
}

/* ---- singular poses ---- */

/* Rank of the constraints in a closed pose near the start, 0 if none is found, and its smallest pivot: the independent
 * coordinates are displaced by up to `move`, then all coordinates close all loops. The partition goes to c->row_work and
 * c->index_work. */
static size_t rank_nearby(bramah_coupled *c, const unsigned char *given, double move, double *pivot)
{
  const bramah_model *model = c->model;
  const size_t n = model->n, m = model->m;
  bramah__state_copy(&c->state, &c->next);
  for (size_t f = 0; f < model->n_independent; f++)
    c->next.z[c->next.index[model->n_dependent + f]] += move / (1.0 + 0.3 * (double)f);
  if (!close_all(c, NULL)) return 0;
  memcpy(c->Phi_z_work, c->trial->Phi_z, m * n * sizeof *c->trial->Phi_z);
  const size_t rank =
      bramah__eliminate(m, n, c->Phi_z_work, nearby_tolerance, given, c->row_work, c->index_work);
  *pivot =
      rank ? fabs(c->Phi_z_work[(size_t)c->row_work[rank - 1] * n + (size_t)c->index_work[rank - 1]]) : 0.0;
  return rank;
}

/* The loop that says more nearby than at the start, and a joint to begin with elsewhere: the first that is
 * independent nearby. */
static bramah_status fail_start(const bramah_coupled *c, size_t nearby, bramah_diag *diag)
{
  const bramah_model *model = c->model;
  const size_t rank = model->n_dependent;
  size_t extra = 0; /* among the rows in use nearby */
  for (size_t k = 0, known = 1; k < nearby && known; k++) {
    known = 0;
    for (size_t i = 0; i + (nearby == rank) < rank; i++) known |= c->state.row[i] == c->row_work[k];
    extra = k;
  }
  const size_t row = (size_t)c->row_work[extra];
  const size_t loop = row < model->m_loops ? bramah__loop_of_row(model, row) : model->n_loops;
  bramah__fail(diag, BRAMAH_E_SINGULAR, loop < model->n_loops ? model->loop_name[loop] : model->name,
               "the machine starts in a singular pose, where this loop lets it move on in more than one way "
               "(degrees of "
               "freedom nearby: ");
  bramah__add_number(diag, (double)(model->n - nearby), 6);
  bramah__add_text(diag, "); start it elsewhere, by another initial value of ");
  bramah__add_text(diag, model->joint_name[c->index_work[nearby]]);
  return BRAMAH_E_SINGULAR;
}

/* A singular start is one where fewer constraints are independent than in poses nearby, or almost. */
static bramah_status check_start(bramah_coupled *c, bramah_model *model, const unsigned char *given,
                                 bramah_diag *diag)
{
  static const double moves[] = {0.5, -0.35, 0.1, -0.07};
  const size_t rank = model->n_dependent, n = model->n;
  choose_basis(c, NULL);
  double least =
      rank ? fabs(c->Phi_z_work[(size_t)c->state.row[rank - 1] * n + (size_t)c->state.index[rank - 1]]) : 1.0;
  model->usual_pivot = least;
  for (size_t i = 0; rank && i < sizeof moves / sizeof *moves; i++) {
    double pivot;
    const size_t nearby = rank_nearby(c, given, moves[i], &pivot);
    if (nearby == rank) model->usual_pivot = fmax(model->usual_pivot, pivot);
    if (nearby < rank || (nearby == rank && least > singular_start * pivot)) continue;
    return fail_start(c, nearby, diag);
  }
  return BRAMAH_OK;
}

/* The penalty method adds alpha Phi_z' Phi_z to the mass matrix M, so its factor is counted in the inertia that M puts
 * against a violation, 1 / (Phi_z M^-1 Phi_z'), in the mean of the rows. */
static void scale_penalty(bramah_coupled *c, bramah_model *model)
{
  static const double times = 1e8, ridge = 1e-12; /* massless joints */
  const size_t n = model->n;
  double *M = c->newton.Jzz, *row = c->newton.correction, largest = 0.0, mobility = 0.0;
  if (model->penalty_factor > 0.0 || model->m == 0) return;
  memcpy(M, c->now->mass, n * n * sizeof *M);
  for (size_t j = 0; j < n; j++) largest = fmax(largest, M[j * n + j]);
  for (size_t j = 0; j < n; j++) M[j * n + j] += ridge * largest;
  if (bramah__lu_factor(n, M, c->newton.pivot)) return;
  for (size_t k = 0; k < model->m; k++) {
    const double *Phi_z = c->now->Phi_z + k * n;
    memcpy(row, Phi_z, n * sizeof *row);
    bramah__lu_solve(n, M, c->newton.pivot, row);
    for (size_t j = 0; j < n; j++) mobility += Phi_z[j] * row[j] / (double)model->m;
  }
  model->penalty_factor = times / mobility;
}

/* Initial pose and motion of the model under construction. */
static bramah_status assemble(bramah_coupled *c, bramah_model *model, const bramah_machine *machine,
                              const unsigned char *given, bramah_diag *diag)
{
  double extent = 1.0;
  for (size_t j = 0; j < model->n; j++) {
    const bramah__link *link = &model->tree.link[j];
    extent += sqrt(bramah__dot3(link->position, link->position));
  }
  model->closure_tolerance = 1e-13 * extent;
  bramah_status status = close_machine(c, model, machine, given, diag);
  int rebased = 0; /* coordinates that are no guesses any more */
  for (size_t i = 0; i < model->n_balls; i++) rebased |= c->state.base[4 * i] != 1.0;
  if (status == BRAMAH_E_CLOSURE && !rebased) {
    status = close_redundant(c, model, machine, given);
    if (status == BRAMAH_OK && diag) bramah_diag_clear(diag);
    if (status != BRAMAH_OK) return hint_at_guess(c, model, machine, given, diag);
  }
  if (status == BRAMAH_OK) status = check_start(c, model, given, diag);
  if (status == BRAMAH_OK) status = start_motion(c, model, machine, given, diag);
  if (status != BRAMAH_OK) return status;
  scale_penalty(c, model);
  memcpy(model->z0, c->state.z, model->n * sizeof(double));
  memcpy(model->zd0, c->state.zd, model->n * sizeof(double));
  memcpy(model->index0, c->state.index, model->n * sizeof(int));
  memcpy(model->row0, c->state.row, model->m * sizeof(int));
  memcpy(model->base0, c->state.base, 4 * model->n_balls * sizeof(double));
  bramah__stand(c, &c->state);
  model->potential0 = bramah__tree_potential(&model->tree, c->now->pose) +
                      bramah__forces_potential(&model->forces, c->now->pose, c->state.z);
  return BRAMAH_OK;
}

/* ---- the model ---- */

/* Work of the search for equilibrium pressures: that of the expanded machine. */
static size_t work_size(const bramah_machine *machine, const bramah_model *counts)
{
  bramah_machine expanded = *machine;
  expanded.n_joints = counts->n;
  expanded.n_cylinders = counts->circuit.n_cylinders; /* of all kinds */
  expanded.n_volumes = counts->circuit.n_volumes;
  return bramah__equilibrium_work(&expanded);
}

size_t bramah_model_size(const bramah_machine *machine)
{
  bramah_model counts;
  const size_t compiled = bramah__compile_size(machine, &counts);
  bramah__arena arena = bramah__arena_make(NULL, 0);
  BRAMAH__TAKE(&arena, double, work_size(machine, &counts));
  bramah__coupled_layout(&counts, &arena);
  return compiled + arena.used + BRAMAH__ALIGN;
}

bramah_status bramah_model_init(const bramah_machine *machine, void *mem, size_t size, bramah_diag *diag,
                                const bramah_model **out)
{
  bramah__arena arena;
  bramah__compiler k;
  bramah_status status = bramah__arena_in("model", mem, size, bramah_model_size(machine), &arena, diag);
  if (status == BRAMAH_OK) status = bramah__compile(machine, &arena, diag, &k);
  if (status != BRAMAH_OK) return status;
  double *work = BRAMAH__TAKE(&arena, double, work_size(machine, k.model));
  bramah_coupled *scratch = bramah__coupled_layout(k.model, &arena);
  if (arena.overflow) return bramah__fail(diag, BRAMAH_E_ARGUMENT, "model", "memory is too small");
  status = assemble(scratch, k.model, k.machine, k.t.given, diag);
  if (status == BRAMAH_OK) status = bramah__equilibrium(scratch, k.model, k.machine, work, diag);
  if (status != BRAMAH_OK) return status;
  k.model->mark = bramah__mark_of(mem);
  *out = k.model;
  return BRAMAH_OK;
}

bramah_status bramah_model_new(const bramah_machine *machine, bramah_diag *diag, const bramah_model **out)
{
  const size_t size = bramah_model_size(machine);
  void *mem = bramah__aligned_new(size);
  if (!mem) return bramah__fail(diag, BRAMAH_E_MEMORY, "model", "out of memory");
  const bramah_status status = bramah_model_init(machine, mem, size, diag, out);
  if (status == BRAMAH_OK)
    ((bramah_model *)mem)->own_memory = 1;
  else
    bramah__aligned_free(mem);
  return status;
}

void bramah_model_free(const bramah_model *model)
{
  /* The model is const for everybody but its owner, who gives it back here. */
  bramah_model *own = (bramah_model *)(uintptr_t)model;
  if (!own) return;
  own->mark = 0;
  if (own->own_memory) bramah__aligned_free(own);
}

/* ---- another start ---- */

static bramah_status start_from(bramah_coupled *c, size_t n, const size_t *joints, const double *positions,
                                const double *rates, const double *pressures, bramah_diag *diag)
{
  const bramah_model *model = c->model;
  static const char singular[] = "the loops are singular in the given pose";
  unsigned char *given = (unsigned char *)(void *)c->probe_state.block; /* scratch; larger than n bytes */
  memset(given, 0, model->n);
  for (size_t i = 0; i < n; i++) given[joints[i]] = 1;

  /* Joints that are given are placed and move as given; spherical ones are counted from their axes in the model,
   * unless they are singular there. */
  for (size_t i = 0; i < n; i++) {
    const size_t ball = model->ball_of[joints[i]];
    if (ball) bramah__unbase_ball(model, &c->state, ball - 1);
  }
  for (size_t i = 0; i < n; i++) {
    c->state.z[joints[i]] = positions[i];
    c->state.zd[joints[i]] = rates[i];
  }
  bramah__rebase_singular(model, &c->state);

  /* Are the independent coordinates those that are given? */
  if (choose_basis(c, given) != model->n_dependent)
    return bramah__fail(diag, BRAMAH_E_SINGULAR, model->name, singular);
  for (size_t i = 0; i < model->n_motions; i++)
    if (given[model->motion[i].joint])
      return bramah__fail(diag, BRAMAH_E_SINGULAR, model->joint_name[model->motion[i].joint],
                          "a motion prescribes this joint: it cannot be given as well");
  for (size_t k = 0; k < model->n_dependent; k++)
    if (given[c->state.index[k]])
      return bramah__fail(diag, BRAMAH_E_SINGULAR, model->joint_name[c->state.index[k]],
                          "this joint follows from the others: it cannot be given as well");

  bramah_status status = close_loops(c, diag);
  if (status == BRAMAH_OK) status = check_redundant(c, diag);
  if (status != BRAMAH_OK) return status;
  if (bramah__evaluate_position(model, &c->state, c->now, BRAMAH__LOOPS_AS_THEY_ARE) != BRAMAH_OK)
    return bramah__fail(diag, BRAMAH_E_SINGULAR, model->name, singular);
  bramah__set_motion(model, &c->state, c->now);
  if (pressures) memcpy(c->state.p, pressures, model->circuit.n_volumes * sizeof(double));
  bramah__rebase_far(model, &c->state);
  choose_basis(c, NULL);
  return BRAMAH_OK;
}

bramah_status bramah_coupled_start(bramah_coupled *plant, size_t n, const size_t *joints,
                                   const double *positions, const double *rates, const double *pressures,
                                   bramah_diag *diag)
{
  const bramah_model *model = plant->model;
  if (n != model->n_independent) {
    bramah__fail(diag, BRAMAH_E_ARGUMENT, model->name,
                 "as many joints must be given as there are degrees of freedom: ");
    bramah__add_number(diag, (double)model->n_independent, 9);
    return BRAMAH_E_ARGUMENT;
  }
  for (size_t i = 0; i < n; i++) {
    if (joints[i] >= model->n || !isfinite(positions[i]) || !isfinite(rates[i]))
      return bramah__fail(diag, BRAMAH_E_ARGUMENT, model->name, "a joint index or its value is not valid");
    for (size_t k = 0; k < i; k++)
      if (joints[k] == joints[i])
        return bramah__fail(diag, BRAMAH_E_ARGUMENT, model->joint_name[joints[i]],
                            "this joint is given twice");
  }
  bramah_status status = bramah_coupled_reset(plant, diag);
  if (status != BRAMAH_OK) return status;
  status = start_from(plant, n, joints, positions, rates, pressures, diag);
  plant->now_valid = 0;
  if (status == BRAMAH_OK) status = bramah__settle_rates(plant, diag);
  if (status != BRAMAH_OK) bramah_coupled_reset(plant, NULL);
  return status;
}
