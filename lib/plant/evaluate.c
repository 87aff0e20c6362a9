/* SPDX-License-Identifier: MIT */
/* The state, and what follows from it: poses, constraints, velocities, forces, accelerations. In stages,
 * so that finite differences repeat only the stage that a perturbation reaches. */
#include "lib/plant/state.h"
#include "lib/hydraulics/metering.h"
#include "lib/math/dense.h"
#include "lib/math/vector3.h"
#include "lib/math/elementary.h"

#include <math.h>
#include <string.h>

void bramah__state_layout(const bramah_model *model, bramah__arena *arena, bramah__state *state)
{
  const size_t n = model->n, n_first_order = model->n_first_order, nc = model->circuit.n_cylinders;
  unsigned char *next;
#define ADD_SIZE(type, name, count) state->size += (count) * sizeof(type);
#define CUT(type, name, count) state->name = (type *)(void *)next, next += (count) * sizeof(type);
  state->size = 0;
  BRAMAH__STATE_FIELDS(ADD_SIZE)
  state->size = (state->size + 7) / 8 * 8;
  state->block = next = bramah__arena_take(arena, state->size, 1);
  if (!next) return;
  BRAMAH__STATE_FIELDS(CUT)
}

void bramah__state_copy(const bramah__state *from, bramah__state *to)
{
  memcpy(to->block, from->block, from->size);
}

void bramah__eval_layout(const bramah_model *model, bramah__arena *arena, bramah__eval *eval)
{
  const size_t n = model->n, m = model->m, nc = model->circuit.n_cylinders,
               n_first_order = model->n_first_order, n_dependent = m < n ? m : n, n_dof = n;
#define TAKE(type, name, count) eval->name = BRAMAH__TAKE(arena, type, count);
  BRAMAH__EVAL_FIELDS(TAKE)
}

/* ---- the position stage ---- */

/* y [n_dof] = Rz' x with x [n]: a generalised force in the independent coordinates. */
static void project(const bramah_model *model, const bramah__eval *eval, const double *x, double *y)
{
  if (eval->Rz_is_identity)
    memcpy(y, x, model->n * sizeof *y);
  else
    bramah__apply_transposed(model->n, model->n_independent, eval->Rz, x, y);
}

bramah_status bramah__evaluate_position(const bramah_model *model, bramah__state *state, bramah__eval *eval,
                                        bramah__loops loops)
{
  const size_t n = model->n, n_dof = model->n_independent;
  eval->factored = 0;
  eval->D_known = 0;
  eval->bridged = 0;
  eval->by_program = 0;
  bramah_status status = bramah__place_joints(model, state, eval, loops, bramah__near_singular);
  if (status == BRAMAH_E_SINGULAR && !bramah__singular_joint(model, state->z, NULL)) {
    status = bramah__bridge(model, state, eval, loops);
    if (status != BRAMAH_OK) status = bramah__place_joints(model, state, eval, loops, 0.0);
  }
  if (status != BRAMAH_OK) return status;
  for (size_t c = 0; c < model->circuit.n_cylinders; c++) {
    eval->s[c] = bramah__line_length(&model->tree, &model->line[c], state->z, eval->pose, eval->row + c * n);
    project(model, eval, eval->row + c * n, eval->row_i + c * n_dof);
  }
  return BRAMAH_OK;
}

const char *bramah__worst_loop(const bramah_model *model, const bramah__eval *eval)
{
  const char *name = model->name;
  double widest = -1.0;
  for (size_t i = 0; i < model->n_loops; i++) {
    const double gap = bramah__loop_gap(&model->loop[i], eval->Phi);
    if (gap > widest) widest = gap, name = model->loop_name[i];
  }
  for (size_t i = 0; i < model->n_motions; i++) {
    const double gap = fabs(eval->Phi[model->motion[i].row]);
    if (gap > widest) widest = gap, name = model->motion_name[i];
  }
  return name;
}

/* ---- the motion stage ---- */

void bramah__dependent_rates(const bramah_model *model, bramah__state *state, const bramah__eval *eval)
{
  const size_t n_dependent = model->n_dependent, n_dof = model->n_independent;
  for (size_t k = 0; k < n_dependent; k++) {
    const size_t j = (size_t)state->index[k];
    double rate = model->n_motions ? eval->drift[j] : 0.0;
    for (size_t f = 0; f < n_dof; f++)
      rate += eval->Rz[j * n_dof + f] * state->zd[state->index[n_dependent + f]];
    state->zd[j] = rate;
  }
}

void bramah__evaluate_motion(const bramah_model *model, const bramah__state *state, bramah__eval *eval)
{
  const size_t n_dependent = model->n_dependent;
  eval->D_known = 0;
  bramah__tree_velocity(&model->tree, eval->pose, state->zd, eval->Z);

  /* bias: joint accelerations when the independent ones vanish, [-(Phi_z^d)^-1 gamma ; 0] (D 2.28). */
  for (size_t f = n_dependent; f < model->n; f++) eval->bias[state->index[f]] = 0.0;
  if (eval->bridged) {
    bramah__bridge_bias(model, state, eval);
  } else if (n_dependent) {
    bramah__tree_acceleration(&model->tree, eval->pose, eval->Z, state->zd, NULL, eval->Zd);
    bramah__constraint_bias(model, state, eval);
    for (size_t k = 0; k < n_dependent; k++) eval->column[k] = -eval->gamma[state->row[k]];
    bramah__lu_solve(n_dependent, eval->LU, eval->pivot, eval->column);
    for (size_t k = 0; k < n_dependent; k++) eval->bias[state->index[k]] = eval->column[k];
    for (size_t i = 0; i < model->n_motions; i++)
      eval->bias[model->motion[i].joint] = -eval->gamma[model->motion[i].row];
  }

  bramah__apply(model->circuit.n_cylinders, model->n, eval->row, state->zd, eval->v);
  bramah__evaluate_limits(&model->forces, state->z, state->zd, eval->limit);
}

void bramah__set_motion(const bramah_model *model, bramah__state *state, bramah__eval *eval)
{
  bramah__dependent_rates(model, state, eval);
  bramah__evaluate_motion(model, state, eval);
}

/* ---- forces and rates ---- */

void bramah__evaluate_contacts(const bramah_model *model, const double *U, double half, const double *x_k,
                               const double *xd_k, double *x, double *xd, bramah__eval *eval)
{
  bramah__contact_forces(model->n_contact_points, model->contact_point, eval->pose, eval->Z, U, half, x_k,
                         xd_k, x, xd, eval->contact, eval->gear);
}

void bramah__evaluate_forces(const bramah_model *model, const double *p, const double *U, const double *x,
                             double *xd, bramah__eval *eval)
{
  bramah__evaluate_contacts(model, U, 0.0, x, NULL, NULL, xd, eval);
  bramah__evaluate_actuators(model, p, U, x, xd, eval);
}

void bramah__evaluate_actuators(const bramah_model *model, const double *p, const double *U, const double *x,
                                double *xd, bramah__eval *eval)
{
  for (size_t c = 0; c < model->circuit.n_cylinders; c++) {
    const bramah__cylinder *cylinder = &model->circuit.cylinder[c];
    const size_t first = cylinder->first_state;
    eval->friction[c] = cylinder->friction_scale *
                        bramah__friction_force(&cylinder->friction, eval->v[c], x + first, xd + first);
    eval->stop[c] = bramah__stop_force(cylinder, e_number(eval->s[c]), e_number(eval->v[c])).value;
  }
  bramah__update_forces(model, p, U, eval);
}

void bramah__update_forces(const bramah_model *model, const double *p, const double *U, bramah__eval *eval)
{
  bramah__shafts_evaluate(&model->tree, model->n_shafts, model->shaft, eval->pose, eval->Z, U, eval->shaft);
  for (size_t c = 0; c < model->circuit.n_cylinders; c++)
    eval->force[c] = bramah__pressure_force(&model->circuit, c, p) - eval->friction[c] + eval->stop[c] +
                     model->circuit.cylinder[c].load;
  for (size_t k = 0; k < model->circuit.n_driven; k++)
    eval->force[model->circuit.driven[k].cylinder] +=
        bramah__driven_torque(&model->circuit, k, p, eval->v, U, eval->pump_by_p + k * model->n_first_order,
                              &eval->pump_by_v[k], eval->pump_by_U + k * bramah__n_spools(&model->circuit));
  if (model->circuit.n_metered) {
    /* beyond A_h pi, which force holds already */
    const bramah__circuit *circuit = &model->circuit;
    bramah__metered_solve(circuit, p, eval->v, U, eval->w, eval->P);
    for (size_t i = 0; i < circuit->n_metered; i++)
      eval->force[circuit->metered_port[i].cylinder] += bramah__metered_drag(circuit, i, eval->w[i], eval->v);
  }
}

void bramah__evaluate_rates(const bramah_model *model, const double *p, const double *U, bramah__eval *eval,
                            double *pd)
{
  bramah__circuit_rates(&model->circuit, p, eval->s, eval->v, U, eval->flow, pd);
}

void bramah__evaluate_rates_again(const bramah_model *model, const double *p, const double *U,
                                  bramah__eval *eval, double *pd)
{
  bramah__fluid_rates(&model->circuit, p, eval->s, eval->v, U, eval->flow, pd);
  if (model->circuit.n_metered) bramah__metered_rates_of(&model->circuit, eval->w, eval->v, eval->flow, pd);
}

bramah_status bramah__evaluate(const bramah_model *model, bramah__state *state, bramah__eval *eval)
{
  if (bramah__evaluate_position(model, state, eval, BRAMAH__LOOPS_AS_THEY_ARE) != BRAMAH_OK)
    return BRAMAH_E_SINGULAR;
  bramah__evaluate_motion(model, state, eval);
  bramah__evaluate_forces(model, state->p, state->U, state->x, state->xd, eval);
  return BRAMAH_OK;
}

/* ---- equations of motion of the independent coordinates (D 2.29): Rz' M Rz z''_i = Rz' (Q - M bias) ---- */

void bramah__expand_acceleration(const bramah_model *model, const bramah__eval *eval, const double *zdd_i,
                                 double *zdd)
{
  if (eval->Rz_is_identity)
    memcpy(zdd, zdd_i, model->n * sizeof *zdd);
  else
    bramah__apply(model->n, model->n_independent, eval->Rz, zdd_i, zdd);
  for (size_t j = 0; j < model->n; j++) zdd[j] += eval->bias[j];
}

void bramah__inverse_dynamics(const bramah_model *model, const bramah__state *state, bramah__eval *eval,
                              const double *zdd)
{
  bramah__tree_acceleration(&model->tree, eval->pose, eval->Z, state->zd, zdd, eval->Zd);
  bramah__tree_force(&model->tree, eval->pose, eval->Z, eval->Zd, eval->W, eval->tau);
  bramah__forces_subtract(&model->tree, &model->forces, eval->pose, eval->Z, state->z, state->zd, eval->tau);
  bramah__contacts_subtract(&model->tree, model->n_contact_points, model->contact_point, eval->pose,
                            eval->contact, eval->gear, eval->tau);
  bramah__shafts_subtract(model->n_shafts, model->shaft, eval->shaft, eval->tau);
  for (size_t i = 0; i < model->forces.n_limits; i++)
    eval->tau[model->forces.limit[i].joint] -= eval->limit[i].force;
}

void bramah__imbalance(const bramah_model *model, const bramah__state *state, bramah__eval *eval,
                       const double *zdd, double *r)
{
  bramah__inverse_dynamics(model, state, eval, zdd);
  project(model, eval, eval->tau, r);
  const size_t n_dof = model->n_independent;
  for (size_t c = 0; c < model->circuit.n_cylinders; c++)
    for (size_t f = 0; f < n_dof; f++) r[f] -= eval->row_i[c * n_dof + f] * eval->force[c];
}

void bramah__project_matrix(const bramah_model *model, const int *index, const double *Rz, const double *S,
                            double *SR, double *J, size_t ld)
{
  const size_t n = model->n, nd = model->n_dependent, n_dof = model->n_independent;
  const int *independent = index + nd;
  for (size_t j = 0; j < n; j++) {
    double *restrict to = SR + j * n_dof;
    for (size_t f = 0; f < n_dof; f++) to[f] = S[j * n + (size_t)independent[f]];
    for (size_t k = 0; k < nd; k++) {
      const double s = S[j * n + (size_t)index[k]], *from = Rz + (size_t)index[k] * n_dof;
      for (size_t f = 0; f < n_dof && s != 0.0; f++) to[f] += s * from[f];
    }
  }
  for (size_t f = 0; f < n_dof; f++) {
    double *restrict to = J + f * ld;
    memcpy(to, SR + (size_t)independent[f] * n_dof, n_dof * sizeof *to);
    for (size_t k = 0; k < nd; k++) {
      const double s = Rz[(size_t)index[k] * n_dof + f], *from = SR + (size_t)index[k] * n_dof;
      for (size_t g = 0; g < n_dof && s != 0.0; g++) to[g] += s * from[g];
    }
  }
}

bramah_status bramah__factor_mass(const bramah_model *model, const bramah__state *state, bramah__eval *eval)
{
  const size_t n = model->n, n_dof = model->n_independent;
  if (eval->factored) return BRAMAH_OK;
  bramah__tree_mass(&model->tree, eval->pose, eval->composite, eval->mass);

  /* Mi = Rz' M Rz */
  if (eval->Rz_is_identity)
    memcpy(eval->Mi, eval->mass, n * n * sizeof(double));
  else
    bramah__project_matrix(model, state->index, eval->Rz, eval->mass, eval->MR, eval->Mi, n_dof);
  if (bramah__cholesky_factor(n_dof, eval->Mi)) return BRAMAH_E_SINGULAR;
  eval->factored = 1;
  return BRAMAH_OK;
}

void bramah__evaluate_rhs(const bramah_model *model, const bramah__state *state, bramah__eval *eval)
{
  bramah__inverse_dynamics(model, state, eval, eval->bias);
  project(model, eval, eval->tau, eval->rhs);
  for (size_t f = 0; f < model->n_independent; f++) eval->rhs[f] = -eval->rhs[f];
}

void bramah__solve_acceleration(const bramah_model *model, const bramah__eval *eval, double *zdd_i)
{
  const size_t n_dof = model->n_independent;
  for (size_t f = 0; f < n_dof; f++) {
    zdd_i[f] = eval->rhs[f];
    for (size_t c = 0; c < model->circuit.n_cylinders; c++)
      zdd_i[f] += eval->row_i[c * n_dof + f] * eval->force[c];
  }
  bramah__cholesky_solve(n_dof, eval->Mi, zdd_i);
}

bramah_status bramah__accelerations(const bramah_model *model, const bramah__state *state, bramah__eval *eval,
                                    double *zdd_i)
{
  if (bramah__factor_mass(model, state, eval) != BRAMAH_OK) return BRAMAH_E_SINGULAR;
  bramah__evaluate_rhs(model, state, eval);
  bramah__solve_acceleration(model, eval, zdd_i);
  return BRAMAH_OK;
}

void bramah__rate_derivative(const bramah_model *model, const bramah__state *state, bramah__eval *eval)
{
  if (eval->D_known) return;
  memset(eval->D, 0, model->n * model->n_independent * sizeof *eval->D);
  if (eval->bridged) {
    memcpy(eval->D, eval->bridge_D, model->n * model->n_independent * sizeof *eval->D);
  } else if (model->n_dependent) {
    /* Moving along Rz_f keeps Phi_z z' + Phi_t = 0, and Phi_t depends on time alone, so Phi_z^d dz'_d =
     * -Phi_zz[Rz_f, z'] with all of z', the drift included; the bilinear form comes from the quadratic one: [a,
     * b] = ([a+b, a+b] - [a-b, a-b]) / 4, exact because gamma is a quadratic form of the rates. */
    const size_t n = model->n, n_dependent = model->n_dependent, n_dof = model->n_independent;
    for (size_t f = 0; f < n_dof; f++) {
      double *sum = eval->tau;
      for (int sign = 1; sign >= -1; sign -= 2) {
        for (size_t j = 0; j < n; j++) sum[j] = eval->Rz[j * n_dof + f] + sign * state->zd[j];
        bramah__tree_velocity(&model->tree, eval->pose, sum, eval->Z);
        bramah__tree_acceleration(&model->tree, eval->pose, eval->Z, sum, NULL, eval->Zd);
        bramah__closure_bias(model->n_loops, model->loop, eval->pose, eval->Z, eval->Zd, eval->gamma);
        for (size_t i = 0; i < model->n_motions; i++) eval->gamma[model->motion[i].row] = 0.0;
        for (size_t k = 0; k < n_dependent; k++) {
          const double part = 0.25 * sign * eval->gamma[state->row[k]];
          eval->column[k] = sign > 0 ? -part : eval->column[k] - part;
        }
      }
      bramah__lu_solve(n_dependent, eval->LU, eval->pivot, eval->column);
      for (size_t k = 0; k < n_dependent; k++) eval->D[(size_t)state->index[k] * n_dof + f] = eval->column[k];
    }
    bramah__tree_velocity(&model->tree, eval->pose, state->zd, eval->Z); /* as it was */
  }
  eval->D_known = 1;
}

void bramah__drive_forces(const bramah_model *model, const bramah__state *state, bramah__eval *eval,
                          double *force)
{
  const size_t n = model->n, n_dependent = model->n_dependent;
  if (model->n_motions == 0) return;
  bramah__inverse_dynamics(model, state, eval, state->zdd);
  for (size_t c = 0; c < model->circuit.n_cylinders; c++)
    for (size_t j = 0; j < n; j++) eval->tau[j] -= eval->row[c * n + j] * eval->force[c];
  for (size_t k = 0; k < n_dependent; k++) eval->column[k] = eval->tau[state->index[k]];
  bramah__lu_solve_transposed(n_dependent, eval->LU, eval->pivot, eval->column);
  for (size_t i = 0; i < model->n_motions; i++) {
    size_t k = 0; /* where the row of the motion is among those in use */
    while (k + 1 < n_dependent && (size_t)state->row[k] != model->motion[i].row) k++;
    force[i] = eval->column[k];
  }
}

void bramah__work_of_drives(const bramah_model *model, const bramah__state *before, bramah__state *next)
{
  for (size_t i = 0; i < model->n_motions; i++) {
    const size_t j = model->motion[i].joint;
    next->drive_work[i] += 0.5 * (before->drive[i] + next->drive[i]) * (next->z[j] - before->z[j]);
  }
}

/* ---- spherical and floating joints through any rotation ----
 *
 * Their three angles are singular at a pitch of +-90 deg, so they are counted from a base rotation that is
 * part of the state: when the pitch has gone far, the rotation reached becomes the new base and the angles
 * start from zero (dissertation 2.4 ff. leaves the choice of coordinates open; switching between charts is
 * how textbooks avoid the singularity, as good as quaternions and without their constraint). What is seen
 * from outside are the angles of the whole rotation. */

/* [rad] At this pitch det X = cos(pitch) is 0.54: nothing races yet, and a body that spins about one axis is
 * re-based six times a turn. */
static const double far_pitch = 1.0;
static const double near_singular = 0.05; /* cosine of the pitch */

static const double zero3[3] = {0, 0, 0};

static size_t first_of(const bramah_model *model, size_t ball) { return model->ball[ball].first; }

/* Turns u and their rates ud of the joint. */
static void ball_turns(const double *z, const double *zd, const double *zdd, double *u, double *ud)
{
  double X[9], U[9], part[3];
  bramah__turn_matrix(z, X);
  bramah__turn_gradient(z, zd, U);
  bramah__rotate3(X, zd, u);
  bramah__rotate3(X, zdd, ud);
  bramah__rotate3(U, zd, part);
  bramah__axpy3(1.0, part, ud);
}

/* a'' from u' = X a'' + U a' */
static void angle_accelerations(const double *a, const double *ad, const double *ud, double *add)
{
  double U[9], Xi[9], rest[3], part[3];
  bramah__turn_gradient(a, ad, U);
  bramah__rotate3(U, ad, part);
  bramah__sub3(ud, part, rest);
  bramah__turn_inverse(a, Xi);
  bramah__rotate3(Xi, rest, add);
}

void bramah__ball_quaternion(const bramah_model *model, const bramah__state *state, size_t ball, double *q)
{
  double own[4];
  bramah__quaternion_of_angles(state->z + first_of(model, ball), own);
  memcpy(q, state->base + 4 * ball, sizeof own);
  bramah__quaternion_append(q, own);
}

void bramah__ball_motion(const bramah_model *model, const bramah__state *state, size_t ball, double *a,
                         double *ad, double *add)
{
  const size_t j = first_of(model, ball);
  const double *z = state->z + j, *zd = state->zd + j, *zdd = state->zdd + j;
  if (bramah__quaternion_is_identity(state->base + 4 * ball)) {
    bramah__copy3(z, a);
    if (ad) bramah__copy3(zd, ad);
    if (add) bramah__copy3(zdd, add);
    return;
  }
  double q[4], R[9], Xi[9], u[3], ud[3], rate[3];
  bramah__ball_quaternion(model, state, ball, q);
  bramah__quaternion_matrix(q, R);
  bramah__angles_of_matrix(R, a);
  ball_turns(z, zd, zdd, u, ud);
  bramah__turn_inverse(a, Xi);
  bramah__rotate3(Xi, u, rate);
  if (ad) bramah__copy3(rate, ad);
  if (add) angle_accelerations(a, rate, ud, add);
}

int bramah__shows_coordinate(const bramah_model *model, const bramah__state *state, size_t i)
{
  const bramah__output *output = &model->output[i];
  const size_t ball = output->code <= BRAMAH__JOINT_ACCELERATION ? model->ball_of[output->index] : 0;
  return !ball || bramah__quaternion_is_identity(state->base + 4 * (ball - 1));
}

int bramah__ball_is_far(const bramah_model *model, const bramah__state *state, size_t ball)
{
  return !model->ball[ball].pinned && fabs(state->z[first_of(model, ball) + 1]) > far_pitch;
}

void bramah__rebase_ball(const bramah_model *model, bramah__state *state, size_t ball, double *X, double *Y)
{
  const size_t j = first_of(model, ball);
  double *z = state->z + j, *zd = state->zd + j, *zdd = state->zdd + j;
  double u[3], ud[3], Xz[9], U[9];
  ball_turns(z, zd, zdd, u, ud);
  bramah__turn_matrix(z, Xz);
  bramah__turn_gradient(z, zd, U);
  if (X) memcpy(X, Xz, sizeof Xz);
  if (Y) {
    /* Y = U(z, z') - U(0, u) X: how u, which at zero angles are the new rates, depends on the old positions
     * apart from what the new positions do. */
    double U0[9], turned[9];
    bramah__turn_gradient(zero3, u, U0);
    bramah__multiply3(U0, Xz, turned);
    for (int k = 0; k < 9; k++) Y[k] = U[k] - turned[k];
  }
  double q[4];
  bramah__ball_quaternion(model, state, ball, q);
  memcpy(state->base + 4 * ball, q, sizeof q);
  bramah__copy3(zero3, z);
  bramah__copy3(u, zd);
  angle_accelerations(z, zd, ud, zdd);
}

void bramah__rebase_far(const bramah_model *model, bramah__state *state)
{
  for (size_t b = 0; b < model->n_balls; b++)
    if (bramah__ball_is_far(model, state, b)) bramah__rebase_ball(model, state, b, NULL, NULL);
}

void bramah__rebase_singular(const bramah_model *model, bramah__state *state)
{
  for (size_t b = 0; b < model->n_balls; b++)
    if (!model->ball[b].pinned && fabs(bramah__cos(state->z[first_of(model, b) + 1])) < near_singular)
      bramah__rebase_ball(model, state, b, NULL, NULL);
}

void bramah__unbase_ball(const bramah_model *model, bramah__state *state, size_t ball)
{
  static const double none[4] = {1, 0, 0, 0};
  const size_t j = first_of(model, ball);
  double a[3], ad[3], add[3];
  bramah__ball_motion(model, state, ball, a, ad, add);
  memcpy(state->base + 4 * ball, none, sizeof none);
  bramah__copy3(a, state->z + j);
  bramah__copy3(ad, state->zd + j);
  bramah__copy3(add, state->zdd + j);
}
