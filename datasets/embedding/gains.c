/* SPDX-License-Identifier: MIT */
#include "gains.h"

#include <bramah/linear.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Error of the angle, its integral over a second, and command that cost the same: how tight the loop is. With
 * these raw sensors do best; estimates can be fed back twice as tightly. */
static const double error = 0.01 /* rad */, command_scale = 2.0 /* V */;

/* Costs of the far future count less, with this time constant [s]. Oil that is shut in keeps its pressure
 * level whatever the valve does: a mode at zero, which without discount has no finite cost. */
static const double horizon = 2.0;

/* The feedback K [n + 1] of the machine's linear equations, with the integral of the joint's error as one more
 * state behind them. */
static bramah_status regulate(const bramah_linear_system *machine, double *K, bramah_diag *diag)
{
  enum { N = MAX_STATES + 1 };
  double A[N * N] = {0}, B[N] = {0}, Q[N * N] = {0};
  const double R = 1.0 / (command_scale * command_scale);
  const size_t n = machine->n, m = n + 1;
  /* The machine may have chosen another joint as its independent coordinate x in this pose. At rest the joint
   * that is controlled moves as c x, c the derivative of the first output: write the equations for it. */
  const double c = machine->C[0];
  for (size_t i = 0; i < n; i++) {
    const double to = i < 2 ? c : 1.0;
    for (size_t j = 0; j < n; j++) A[i * m + j] = to * machine->A[i * n + j] / (j < 2 ? c : 1.0);
    B[i] = to * machine->B[i];
  }
  A[n * m] = 1.0;
  for (size_t i = 0; i < m; i++) A[i * m + i] -= 0.5 / horizon; /* the discount */
  Q[0] = Q[n * m + n] = 1.0 / (error * error);
  const bramah_linear_system joint = {.n = m, .n_u = 1, .A = A, .B = B};
  return bramah_lqr(&joint, Q, &R, K, NULL, diag);
}

size_t output_index(const bramah_plant *plant, const char *thing, const char *what)
{
  char name[128];
  snprintf(name, sizeof name, "%s.%s", thing, what);
  const long i = bramah_plant_find_output(plant, name);
  if (i >= 0) return (size_t)i;
  fprintf(stderr, "the machine has no output %s\n", name);
  exit(EXIT_FAILURE);
}

static void take_name(gains *g, size_t i, const char *name)
{
  snprintf(g->state[i], sizeof g->state[i], "%s", name);
}

static bramah_status at_pose(bramah_linearization *linear, bramah_coupled *coupled, size_t p, size_t joint,
                             const gains_of *of, bramah_diag *diag, gains *out)
{
  const bramah_plant plant = bramah_coupled_plant(coupled);
  /* Put the machine there and let it come to rest with a closed valve. */
  const double closed[MAX_STATES] = {0}, still = 0.0;
  bramah_status status = bramah_coupled_start(coupled, 1, &joint, &out->angle[p], &still, NULL, diag);
  if (status == BRAMAH_OK) status = plant.set_inputs(plant.self, closed, diag);
  for (int k = 0; k < 1000 && status == BRAMAH_OK; k++) status = plant.step(plant.self, diag);
  if (status == BRAMAH_OK) status = bramah_linearization_run(linear, coupled, diag);
  if (status != BRAMAH_OK) return status;
  const bramah_linear_system *system = bramah_linearization_system(linear);
  out->n = system->n;
  for (size_t i = 0; i < out->n; i++) take_name(out, i, system->x_name[i]);
  take_name(out, 0, system->y_name[0]);
  take_name(out, 1, system->y_name[1]);
  out->drop[p] = of->pump - plant.output(plant.self, output_index(&plant, of->a_side, "pressure"));
  status = regulate(system, out->K[p], diag);

  /* Rate of the joint per volt in steady motion, by letting it move: the feed-forward needs no more. */
  const double volt = 1.0;
  if (status == BRAMAH_OK) status = plant.set_inputs(plant.self, &volt, diag);
  for (int k = 0; k < 200 && status == BRAMAH_OK; k++) status = plant.step(plant.self, diag);
  out->gain[p] = plant.output(plant.self, output_index(&plant, of->joint, "rate")) / volt;
  return status;
}

bramah_status gains_make(const bramah_model *model, const gains_of *of, bramah_diag *diag, gains *out)
{
  bramah_coupled *coupled = NULL;
  bramah_linearization *linear = NULL;
  size_t joint = 0;
  while (strcmp(bramah_model_get_info(model).joint_names[joint], of->joint) != 0) joint++;
  bramah_status status = bramah_coupled_new(model, diag, &coupled);
  if (status != BRAMAH_OK) return status;
  const bramah_plant plant = bramah_coupled_plant(coupled);
  const size_t outputs[2] = {output_index(&plant, of->joint, "angle"),
                             output_index(&plant, of->joint, "rate")};
  bramah_linearization_options wanted;
  bramah_linearization_options_default(&wanted);
  wanted.n_outputs = 2, wanted.outputs = outputs;
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
