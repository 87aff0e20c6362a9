/* SPDX-License-Identifier: MIT */
#include "gains.h"
#include "machine.h"

#include <bramah/linear.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { N = MAX_STATES + 1, ITERATIONS = 20000 };

static const double step = 1e-3;

/* Error of the angle, its integral over a second, and command that cost the same: how tight the loop is. With
 * these raw sensors do best; estimates can be fed back twice as tightly. */
static const double error = 0.01 /* rad */, command_scale = 2.0 /* V */;

/* Costs of the far future count less, with this time constant [s]. Oil that is shut in keeps its pressure
 * level whatever the valve does: a mode at one, which without discount has no finite cost. */
static const double horizon = 2.0;

typedef struct regulator {
  size_t n;
  double F[N * N], G[N], P[N * N], PF[N * N], K[N];
} regulator;

/* One step of the discrete Riccati equation for one input,
 *   K = (r + G'PG)^-1 G'PF,  P = Q + F'PF - F'PG K
 * with F and G times the root of the discount. Returns the largest relative change of K. */
static double riccati_step(regulator *r, const double *q)
{
  const size_t n = r->n;
  double PG[N], S = 1.0 / (command_scale * command_scale), change = 0.0, largest = 0.0;
  for (size_t i = 0; i < n; i++) {
    PG[i] = 0.0;
    for (size_t k = 0; k < n; k++) PG[i] += r->P[i * n + k] * r->G[k];
    for (size_t j = 0; j < n; j++) {
      r->PF[i * n + j] = 0.0;
      for (size_t k = 0; k < n; k++) r->PF[i * n + j] += r->P[i * n + k] * r->F[k * n + j];
    }
  }
  for (size_t i = 0; i < n; i++) S += r->G[i] * PG[i];
  double FPG[N];
  for (size_t j = 0; j < n; j++) {
    FPG[j] = 0.0;
    for (size_t k = 0; k < n; k++) FPG[j] += r->F[k * n + j] * PG[k];
    const double K = FPG[j] / S;
    change = fmax(change, fabs(K - r->K[j]));
    largest = fmax(largest, fabs(K));
    r->K[j] = K;
  }
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j <= i; j++) {
      double sum = i == j ? q[i] : 0.0;
      for (size_t k = 0; k < n; k++) sum += r->F[k * n + i] * r->PF[k * n + j];
      sum -= FPG[i] * r->K[j];
      r->P[i * n + j] = r->P[j * n + i] = sum;
    }
  return change / largest;
}

/* The machine may have chosen another joint as its independent coordinate x in this pose. At rest the joint
 * that is controlled moves as c x, c the derivative of the first output: write the equations for it. */
static void to_joint(const bramah_linear_system *system, double *F, double *G)
{
  const double c = system->C[0];
  for (size_t i = 0; i < 2; i++) {
    for (size_t j = 0; j < system->n; j++) {
      F[i * system->n + j] *= c;
      F[j * system->n + i] /= c;
    }
    G[i] *= c;
  }
}

/* Iterate it until the feedback stands. The states are scaled beforehand so that their sizes do not matter.
 */
static bramah_status regulate(const bramah_linear_system *system, double *K, bramah_diag *diag)
{
  static regulator r; /* of the start, not of the loop */
  double F[MAX_STATES * MAX_STATES], G[MAX_STATES], scale[N], q[N] = {0};
  const size_t n = system->n;
  const double root = sqrt(exp(-step / horizon));
  const bramah_status status = bramah_discretise(system, step, F, G, diag);
  if (status != BRAMAH_OK) return status;
  to_joint(system, F, G);
  memset(&r, 0, sizeof r);
  r.n = n + 1;
  for (size_t i = 0; i < n; i++)
    scale[i] = i >= 2 * system->n_position && i < n - system->n_spool ? 1e5 : 1.0;
  scale[n] = 1.0;
  for (size_t i = 0; i < n; i++) {
    for (size_t j = 0; j < n; j++) r.F[i * r.n + j] = root * F[i * n + j] * scale[j] / scale[i];
    r.G[i] = root * G[i] / scale[i];
  }
  r.F[n * r.n] = root * step;
  r.F[n * r.n + n] = root;
  q[0] = 1.0 / (error * error);
  q[n] = 1.0 / (error * error);
  for (size_t i = 0; i < r.n; i++) r.P[i * r.n + i] = q[i];
  int k = 0;
  while (k < ITERATIONS && riccati_step(&r, q) > 1e-9) k++;
  for (size_t i = 0; i <= n; i++) K[i] = r.K[i] / scale[i];
  return BRAMAH_OK;
}

/* Put the machine there and let it come to rest with a closed valve. */
static bramah_status settle(bramah_coupled *coupled, const bramah_plant *plant, size_t joint, double angle,
                            bramah_diag *diag)
{
  const double closed[MAX_STATES] = {0}, still = 0.0;
  bramah_status status = bramah_coupled_start(coupled, 1, &joint, &angle, &still, NULL, diag);
  if (status == BRAMAH_OK) status = plant->set_inputs(plant->self, closed, diag);
  for (int k = 0; k < 1000 && status == BRAMAH_OK; k++) status = plant->step(plant->self, diag);
  return status;
}

/* Rate of the joint per volt in steady motion, by letting it move: the feed-forward needs no more. */
static bramah_status steady_gain(const bramah_plant *plant, size_t rate, double *gain, bramah_diag *diag)
{
  const double volt = 1.0;
  bramah_status status = plant->set_inputs(plant->self, &volt, diag);
  for (int k = 0; k < 200 && status == BRAMAH_OK; k++) status = plant->step(plant->self, diag);
  *gain = plant->output(plant->self, rate) / volt;
  return status;
}

static void take_name(gains *g, size_t i, const char *name)
{
  snprintf(g->state[i], sizeof g->state[i], "%s", name);
}

static bramah_status at_pose(bramah_linearization *linear, bramah_coupled *coupled, size_t p, size_t joint,
                             const gains_of *of, bramah_diag *diag, gains *out)
{
  const bramah_plant plant = bramah_coupled_plant(coupled);
  bramah_status status = settle(coupled, &plant, joint, out->angle[p], diag);
  if (status == BRAMAH_OK) status = bramah_linearization_run(linear, coupled, diag);
  if (status != BRAMAH_OK) return status;
  const bramah_linear_system *system = bramah_linearization_system(linear);
  out->n = system->n;
  for (size_t i = 0; i < out->n; i++) take_name(out, i, system->x_name[i]);
  take_name(out, 0, system->y_name[0]);
  take_name(out, 1, system->y_name[1]);
  out->drop[p] = of->pump - plant.output(plant.self, output_index(&plant, of->a_side, "pressure"));
  status = regulate(system, out->K[p], diag);
  return status == BRAMAH_OK
             ? steady_gain(&plant, output_index(&plant, of->joint, "rate"), &out->gain[p], diag)
             : status;
}

bramah_status gains_make(const bramah_model *model, const gains_of *of, bramah_diag *diag, gains *out)
{
  bramah_coupled *coupled = NULL;
  bramah_linearization *linear = NULL;
  size_t joint = 0;
  while (strcmp(bramah_model_joint_name(model, joint), of->joint) != 0) joint++;
  bramah_status status = bramah_coupled_new(model, diag, &coupled);
  if (status != BRAMAH_OK) return status;
  const bramah_plant plant = bramah_coupled_plant(coupled);
  const size_t outputs[2] = {output_index(&plant, of->joint, "angle"),
                             output_index(&plant, of->joint, "rate")};
  const bramah_linearization_options wanted = {.n_outputs = 2, .outputs = outputs};
  status = bramah_linearization_new(model, &wanted, diag, &linear);
  for (size_t p = 0; p < POSES && status == BRAMAH_OK; p++) {
    out->angle[p] = of->least + (of->most - of->least) * (double)p / (POSES - 1);
    status = at_pose(linear, coupled, p, joint, of, diag, out);
  }
  bramah_linearization_free(linear);
  bramah_coupled_free(coupled);
  return status;
}

void gains_at(const gains *g, double angle, double *K, double *gain, double *drop)
{
  const double x = (angle - g->angle[0]) / (g->angle[1] - g->angle[0]);
  const double whole = fmin(fmax(floor(x), 0.0), POSES - 2), part = fmin(fmax(x - whole, 0.0), 1.0);
  const size_t p = (size_t)whole;
  for (size_t i = 0; i <= g->n; i++) K[i] = (1.0 - part) * g->K[p][i] + part * g->K[p + 1][i];
  *gain = (1.0 - part) * g->gain[p] + part * g->gain[p + 1];
  *drop = (1.0 - part) * g->drop[p] + part * g->drop[p + 1];
}
