/* SPDX-License-Identifier: MIT */
/* What the plant can tell: joint motion, pressures, spools, cylinders, energies, flows; and how each depends
 * on the error state. */
#include "lib/plant/residual_derivative.h"
#include "lib/math/vector3.h"

#include <math.h>
#include <string.h>

/* Coordinate of a spherical joint: its angle, rate or acceleration against the axes of the model. */
static double ball_value(const bramah_coupled *c, bramah__output_code code, size_t joint)
{
  const size_t b = c->model->ball_of[joint] - 1, k = joint - c->model->ball[b].first;
  double motion[3][3];
  bramah__ball_motion(c->model, &c->state, b, motion[0], motion[1], motion[2]);
  return motion[code - BRAMAH__JOINT_POSITION][k];
}

static double quaternion_value(const bramah_coupled *c, const bramah__output *output)
{
  double q[4];
  bramah__ball_quaternion(c->model, &c->state, output->index, q);
  return q[output->code - BRAMAH__BALL_QW];
}

static double joint_value(const bramah_coupled *c, const bramah__output *output)
{
  const size_t j = output->index;
  if (c->model->ball_of[j]) return ball_value(c, output->code, j);
  switch (output->code) {
  case BRAMAH__JOINT_POSITION:
    return c->state.z[j];
  case BRAMAH__JOINT_RATE:
    return c->state.zd[j];
  default:
    return c->state.zdd[j];
  }
}

static double mechanical_value(const bramah_coupled *c, const bramah__output *output)
{
  const bramah_model *model = c->model;
  switch (output->code) {
  case BRAMAH__JOINT_POSITION:
  case BRAMAH__JOINT_RATE:
  case BRAMAH__JOINT_ACCELERATION:
    return joint_value(c, output);
  case BRAMAH__BALL_QW:
  case BRAMAH__BALL_QX:
  case BRAMAH__BALL_QY:
  case BRAMAH__BALL_QZ:
    return quaternion_value(c, output);
  case BRAMAH__DRIVE_FORCE:
    return c->state.drive[output->index];
  case BRAMAH__DRIVE_WORK:
    return c->state.drive_work[output->index];
  case BRAMAH__ENERGY_KINETIC:
    return bramah__tree_kinetic(&model->tree, c->now->pose, c->now->Z);
  case BRAMAH__ENERGY_POTENTIAL:
    return bramah__tree_potential(&model->tree, c->now->pose) +
           bramah__forces_potential(&model->forces, c->now->pose, c->state.z) - model->potential0;
  default:
    return NAN;
  }
}

static double hydraulic_value(const bramah_coupled *c, const bramah__output *output)
{
  const size_t i = output->index;
  switch (output->code) {
  case BRAMAH__VOLUME_PRESSURE:
    return c->state.p[i];
  case BRAMAH__VALVE_SPOOL:
    return c->state.U[i];
  case BRAMAH__CYLINDER_STROKE:
    return c->now->s[i];
  case BRAMAH__CYLINDER_VELOCITY:
    return c->now->v[i];
  case BRAMAH__CYLINDER_FORCE:
    return c->now->force[i] - c->model->circuit.cylinder[i].load;
  case BRAMAH__CYLINDER_FRICTION:
    return c->now->friction[i];
  case BRAMAH__CYLINDER_WORK:
    return c->state.work[i];
  case BRAMAH__INPUT_COMMAND:
    return c->state.u[i];
  default:
    return NAN;
  }
}

double bramah__output_value(void *self, size_t i)
{
  bramah_coupled *c = self;
  if (bramah__refresh(c, NULL) != BRAMAH_OK) return NAN;
  const bramah__output *output = &c->model->output[i];
  if (bramah__is_flow(output->code)) return bramah__output_flow(c, output, NULL);
  if (bramah__is_of_body(output->code)) return bramah__body_value(c, output);
  if (bramah__is_metered(output->code)) return bramah__metered_value(c, output);
  switch (output->code) {
  case BRAMAH__VOLUME_PRESSURE:
  case BRAMAH__VALVE_SPOOL:
  case BRAMAH__CYLINDER_STROKE:
  case BRAMAH__CYLINDER_VELOCITY:
  case BRAMAH__CYLINDER_FORCE:
  case BRAMAH__CYLINDER_FRICTION:
  case BRAMAH__CYLINDER_WORK:
  case BRAMAH__INPUT_COMMAND:
    return hydraulic_value(c, output);
  default:
    return mechanical_value(c, output);
  }
}

/* Turns of a ball by its coordinates, and by its coordinates at constant rates: X and U at the state. */
static void turn_partials(const bramah_coupled *c, size_t ball, double *X, double *U)
{
  const size_t j = c->model->ball[ball].first;
  bramah__turn_matrix(c->state.z + j, X);
  bramah__turn_gradient(c->state.z + j, c->state.zd + j, U);
}

/* An angle of a ball and its rate by the coordinates: X(g) dg = X(z) dz, because both are the same small
 * turn, and X(g) dg' + U(g, g') dg = X(z) dz' + U(z, z') dz. */
static void ball_partials(const bramah_coupled *c, const bramah__output *output, double *a, double *b)
{
  const size_t ball = c->model->ball_of[output->index] - 1, j = c->model->ball[ball].first,
               k = output->index - j;
  double g[3], gd[3], X[9], U[9], Xi[9], Ug[9], G[9], UG[9];
  bramah__ball_motion(c->model, &c->state, ball, g, gd, NULL);
  turn_partials(c, ball, X, U);
  bramah__turn_inverse(g, Xi);
  bramah__multiply3(Xi, X, G);
  double *rest = output->code == BRAMAH__JOINT_POSITION ? a : b;
  memcpy(rest + j, G + 3 * k, 3 * sizeof *G);
  if (rest == a) return;
  bramah__turn_gradient(g, gd, Ug);
  bramah__multiply3(Ug, G, UG);
  for (int i = 0; i < 9; i++) U[i] -= UG[i];
  bramah__multiply3(Xi, U, G);
  memcpy(a + j, G + 3 * k, 3 * sizeof *G);
}

/* M -= A B, all [9] */
static void subtract_product(const double *A, const double *B, double *M)
{
  double AB[9];
  bramah__multiply3(A, B, AB);
  for (int k = 0; k < 9; k++) M[k] -= AB[k];
}

/* How X a'' + U a', the angular acceleration about the axes of the child, follows a and a': P, Q [9]. */
static void turn_acceleration_partials(const double *a, const double *ad, const double *add, double *P,
                                       double *Q)
{
  double U[9];
  bramah__turn_curvature(a, ad, P, Q);
  bramah__turn_gradient(a, add, U);
  for (int k = 0; k < 9; k++) P[k] += U[k];
}

/* The same for the acceleration of an angle g: both sides of X(g) g'' + U(g, g') g' = X(z) z'' + U(z, z') z'
 * change alike, with dg = G dz and dg' = G dz' + V dz from the two equations above. */
static void ball_acceleration_partials(const bramah_coupled *c, const bramah__output *output, double *a,
                                       double *b, double *q)
{
  const size_t ball = c->model->ball_of[output->index] - 1, j = c->model->ball[ball].first,
               k = output->index - j;
  double g[3], gd[3], gdd[3], X[9], U[9], Xi[9], Ug[9], G[9], V[9], P[9], Q[9], Pg[9], Qg[9];
  bramah__ball_motion(c->model, &c->state, ball, g, gd, gdd);
  turn_partials(c, ball, X, U);
  bramah__turn_inverse(g, Xi);
  bramah__multiply3(Xi, X, G);
  bramah__turn_gradient(g, gd, Ug);
  subtract_product(Ug, G, U);
  bramah__multiply3(Xi, U, V);
  turn_acceleration_partials(c->state.z + j, c->state.zd + j, c->state.zdd + j, P, Q);
  turn_acceleration_partials(g, gd, gdd, Pg, Qg);
  subtract_product(Pg, G, P);
  subtract_product(Qg, V, P);
  subtract_product(Qg, G, Q);
  for (size_t l = 0; l < 3; l++)
    for (size_t m = 0; m < 3; m++) {
      a[j + l] += Xi[3 * k + m] * P[3 * m + l];
      b[j + l] += Xi[3 * k + m] * Q[3 * m + l];
    }
  memcpy(q + j, G + 3 * k, 3 * sizeof *G);
}

/* Does the coordinate stand for itself, as all do but those of a ball that has been re-based? */
static int is_plain(const bramah_coupled *c, size_t joint)
{
  const size_t ball = c->model->ball_of[joint];
  return !ball || bramah__quaternion_is_identity(c->state.base + 4 * (ball - 1));
}

static void quaternion_partials(const bramah_coupled *c, const bramah__output *output, double *a)
{
  const size_t ball = output->index;
  const double *row;
  double q[4], dq[12], X[9], U[9];
  bramah__ball_quaternion(c->model, &c->state, ball, q);
  bramah__quaternion_by_turns(q, dq);
  turn_partials(c, ball, X, U);
  row = dq + 3 * (output->code - BRAMAH__BALL_QW);
  for (size_t k = 0; k < 3; k++)
    for (size_t l = 0; l < 3; l++) a[c->model->ball[ball].first + k] += row[l] * X[3 * l + k];
}

/* The force of a cylinder by the joints. Pressures are added by pressure_part. */
static void force_partials(const bramah_coupled *c, size_t i, double *a, double *b)
{
  const size_t n = c->model->n;
  const double *row = c->now->row + i * n;
  double by_s, by_v;
  bramah__force_slopes(c, i, &by_s, &by_v);
  bramah__line_rate_derivative(&c->model->tree, &c->model->line[i], c->now->pose, c->now->Z, a);
  for (size_t j = 0; j < n; j++) {
    a[j] = by_v * a[j] + by_s * row[j];
    b[j] = by_v * row[j];
  }
}

/* Derivatives of an output by all joint positions a [n], rates b [n] and accelerations q [n]; 0 if it has
 * none. */
static int mechanical_partials(const bramah_coupled *c, const bramah__output *output, double *a, double *b,
                               double *q)
{
  const bramah_model *model = c->model;
  const size_t n = model->n, i = output->index;
  memset(a, 0, n * sizeof *a);
  memset(b, 0, n * sizeof *b);
  memset(q, 0, n * sizeof *q);
  if (bramah__is_of_body(output->code)) {
    bramah__body_partials(c, output, a, b, q);
    return 1;
  }
  switch (output->code) {
  case BRAMAH__JOINT_POSITION:
  case BRAMAH__JOINT_RATE:
    if (!is_plain(c, i))
      ball_partials(c, output, a, b);
    else
      (output->code == BRAMAH__JOINT_POSITION ? a : b)[i] = 1.0;
    return 1;
  case BRAMAH__JOINT_ACCELERATION:
    if (is_plain(c, i))
      q[i] = 1.0;
    else
      ball_acceleration_partials(c, output, a, b, q);
    return 1;
  case BRAMAH__BALL_QW:
  case BRAMAH__BALL_QX:
  case BRAMAH__BALL_QY:
  case BRAMAH__BALL_QZ:
    quaternion_partials(c, output, a);
    return 1;
  case BRAMAH__CYLINDER_STROKE:
    memcpy(a, c->now->row + i * n, n * sizeof *a);
    return 1;
  case BRAMAH__CYLINDER_VELOCITY:
    memcpy(b, c->now->row + i * n, n * sizeof *b);
    bramah__line_rate_derivative(&model->tree, &model->line[i], c->now->pose, c->now->Z, a);
    return 1;
  case BRAMAH__CYLINDER_FORCE:
    force_partials(c, i, a, b);
    return 1;
  default:
    return 0;
  }
}

static int all_zero(size_t n, const double *x)
{
  for (size_t i = 0; i < n; i++)
    if (x[i] != 0.0) return 0;
  return 1;
}

/* What an output has of the pressures directly, row [2 nf + n_volumes]; 1 if that is all. */
static int pressure_part(const bramah_coupled *c, const bramah__output *output, double *row)
{
  double *by_p = row + 2 * c->model->n_independent;
  if (output->code == BRAMAH__CYLINDER_FORCE) {
    const bramah__cylinder *cylinder = &c->model->circuit.cylinder[output->index];
    by_p[cylinder->piston] += cylinder->piston_area;
    by_p[cylinder->rod] -= cylinder->rod_area;
    return 0;
  }
  if (output->code == BRAMAH__VOLUME_PRESSURE) by_p[output->index] = 1.0;
  if (bramah__is_flow(output->code)) bramah__output_flow(c, output, by_p);
  return output->code == BRAMAH__VOLUME_PRESSURE || bramah__is_flow(output->code);
}

/* row += [ a Rz + b D, b Rz, 0 ] */
static void add_motion(bramah_coupled *c, const double *a, const double *b, double *row)
{
  const size_t n = c->model->n, nf = c->model->n_independent;
  const int moving = !all_zero(n, b);
  if (moving) bramah__rate_derivative(c->model, &c->state, c->now);
  for (size_t f = 0; f < nf; f++)
    for (size_t j = 0; j < n; j++) {
      row[f] += a[j] * c->now->Rz[j * nf + f] + (moving ? b[j] * c->now->D[j * nf + f] : 0.0);
      row[nf + f] += b[j] * c->now->Rz[j * nf + f];
    }
}

/* row += q Q, Q all joint accelerations by the error state. */
static void add_acceleration(const bramah_coupled *c, const double *q, double *row)
{
  const size_t ne = 2 * c->model->n_independent + c->model->circuit.n_volumes;
  for (size_t j = 0; j < c->model->n; j++)
    for (size_t k = 0; q[j] != 0.0 && k < ne; k++) row[k] += q[j] * c->Q[j * ne + k];
}

bramah_status bramah__output_row(void *self, size_t i, double *row)
{
  bramah_coupled *c = self;
  bramah_status status = bramah__refresh(c, NULL);
  if (status != BRAMAH_OK) return status;
  const bramah__output *output = &c->model->output[i];
  const int accelerates =
      output->code == BRAMAH__JOINT_ACCELERATION || bramah__body_accelerates(output->code);
  memset(row, 0, (2 * c->model->n_independent + c->model->circuit.n_volumes) * sizeof *row);
  if (pressure_part(c, output, row)) return BRAMAH_OK;
  if (accelerates) status = bramah__joint_acceleration_rows(c);
  if (status != BRAMAH_OK) return status;
  double *a = c->probe_state.z, *b = c->probe_state.zd, *q = c->probe_state.zdd;
  double *by_p = row + 2 * c->model->n_independent;
  const int known = mechanical_partials(c, output, a, b, q);
  if (bramah__is_metered(output->code) && output->code != BRAMAH__METERED_VALVES)
    bramah__metered_partials(c, output, by_p, a, b);
  else if (!known)
    return BRAMAH_E_UNSUPPORTED;
  else if (output->code == BRAMAH__CYLINDER_FORCE && c->model->circuit.cylinder[output->index].metered)
    bramah__drag_partials(c, output->index, by_p, a, b);
  add_motion(c, a, b, row);
  if (accelerates) add_acceleration(c, q, row);
  return BRAMAH_OK;
}

/* The angles of spherical and floating joints are no measure of uncertainty: near a pitch of +-90 deg a
 * small turn of the body moves yaw and roll by any amount. Their standard deviations and noise mean small
 * turns of the child about its own axes, z for the yaw, y for the pitch, x for the roll: row = (X Rz) of
 * that turn. */
bramah_status bramah__noise_row(void *self, size_t i, double *row)
{
  bramah_coupled *c = self;
  const bramah_model *model = c->model;
  const bramah__output *output = &model->output[i];
  if (output->code != BRAMAH__JOINT_POSITION || !model->ball_of[output->index]) return BRAMAH_E_UNSUPPORTED;
  const bramah_status status = bramah__refresh(c, NULL);
  if (status != BRAMAH_OK) return status;
  const size_t ball = model->ball_of[output->index] - 1, j = model->ball[ball].first, k = output->index - j,
               nf = model->n_independent;
  double X[9], U[9];
  turn_partials(c, ball, X, U);
  memset(row, 0, (2 * nf + model->circuit.n_volumes) * sizeof *row);
  for (size_t f = 0; f < nf; f++)
    for (size_t l = 0; l < 3; l++) row[f] += X[3 * k + l] * c->now->Rz[(j + l) * nf + f];
  return BRAMAH_OK;
}

void bramah__output_by_acceleration(bramah_coupled *c, size_t i, double *row)
{
  const size_t n = c->model->n, nf = c->model->n_independent;
  double *a = c->probe_state.z, *b = c->probe_state.zd, *q = c->probe_state.zdd;
  memset(row, 0, nf * sizeof *row);
  if (!mechanical_partials(c, &c->model->output[i], a, b, q)) return;
  for (size_t j = 0; j < n; j++)
    for (size_t f = 0; f < nf; f++) row[f] += q[j] * c->now->Rz[j * nf + f];
}
