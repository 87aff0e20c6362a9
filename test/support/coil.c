/* SPDX-License-Identifier: MIT */
#include "test/support/coil.h"

#include <math.h>
#include <string.h>

static const double h = 1e-3, turn = 6.28318530717958647693;
static const double force = 40.0, saturation = 0.02, weight = 30.0, damping = 0.5; /* N/kg m, A, 1/s^2, 1/s */
static const double resistance = 200.0, inductance = 4.0, factor = 0.8;            /* ohm, H, V s */

static double push(const coil *c) { return force * tanh(c->x[2] / saturation); }

static double acceleration(const coil *c) { return push(c) - weight * sin(c->x[0]) - damping * c->x[1]; }

static void acceleration_row(const coil *c, double *row)
{
  const double t = tanh(c->x[2] / saturation);
  row[0] = -weight * cos(c->x[0]);
  row[1] = -damping;
  row[2] = force / saturation * (1.0 - t * t);
}

static bramah_status step(void *self, bramah_diag *diag)
{
  coil *c = self;
  const double a = acceleration(c), rate = c->x[1];
  (void)diag;
  c->x[0] = remainder(c->x[0] + h * rate + 0.5 * h * h * a, turn);
  c->x[1] += h * a;
  c->x[2] += h * (c->voltage - resistance * c->x[2] - factor * rate) / inductance;
  return BRAMAH_OK;
}

static bramah_status step_transition(void *self, double *F, double *N, size_t n_par, const size_t *par,
                                     double *G, bramah_diag *diag)
{
  double row[COIL_N];
  (void)n_par, (void)par, (void)G;
  if (N) return BRAMAH_E_UNSUPPORTED;
  acceleration_row(self, row);
  for (int k = 0; k < COIL_N; k++) {
    F[k] = (k == 0) + (k == 1) * h + 0.5 * h * h * row[k];
    F[3 + k] = (k == 1) + h * row[k];
    F[6 + k] = (k == 2) - (k == 2) * h * resistance / inductance - (k == 1) * h * factor / inductance;
  }
  return step(self, diag);
}

static bramah_status inject(void *self, const double *dx, bramah_diag *diag)
{
  coil *c = self;
  (void)diag;
  for (int k = 0; k < COIL_N; k++) c->x[k] += dx[k];
  c->x[0] = remainder(c->x[0], turn);
  return BRAMAH_OK;
}

static bramah_status set_inputs(void *self, const double *u, bramah_diag *diag)
{
  (void)diag;
  ((coil *)self)->voltage = u[0];
  return BRAMAH_OK;
}

static bramah_status accelerations(void *self, double *zdd, bramah_diag *diag)
{
  (void)diag;
  *zdd = acceleration(self);
  return BRAMAH_OK;
}

static bramah_status acceleration_derivative(void *self, double *J, size_t n_par, const size_t *par,
                                             double *Jp, bramah_diag *diag)
{
  (void)n_par, (void)par, (void)Jp, (void)diag;
  acceleration_row(self, J);
  return BRAMAH_OK;
}

static double output(void *self, size_t i) { return i < COIL_N ? ((coil *)self)->x[i] : push(self); }

static bramah_status output_row(void *self, size_t i, double *row)
{
  if (i == COIL_N) acceleration_row(self, row), row[0] = row[1] = 0.0;
  for (size_t k = 0; k < COIL_N && i < COIL_N; k++) row[k] = i == k;
  return BRAMAH_OK;
}

static void coordinates(void *self, double *x) { memcpy(x, ((coil *)self)->x, sizeof((coil *)self)->x); }
static void save(const void *self, void *snap) { memcpy(snap, self, sizeof(coil)); }
static void restore(void *self, const void *snap) { memcpy(self, snap, sizeof(coil)); }

static void state_info(const void *self, size_t i, bramah_state_info *info)
{
  static const bramah_state_info all[COIL_N] = {
      {.name = "coil.angle", .unit = "rad", .scale = 1.0, .period = 6.28318530717958647693},
      {.name = "coil.rate", .unit = "rad/s", .scale = 1.0},
      {.name = "coil.current", .unit = "A", .scale = 0.02}};
  (void)self;
  *info = all[i];
}

static void output_info(const void *self, size_t i, bramah_output_info *info)
{
  static const bramah_output_info all[COIL_N + 1] = {{"coil.angle", "rad", BRAMAH_OUTPUT_POSITION, 1, 0},
                                                     {"coil.rate", "rad/s", BRAMAH_OUTPUT_RATE, 1, 0},
                                                     {"coil.current", "A", BRAMAH_OUTPUT_FIRST_ORDER, 1, 0},
                                                     {"coil.force", "N/kg", BRAMAH_OUTPUT_OTHER, 1, 0}};
  (void)self;
  *info = all[i];
}

bramah_plant coil_plant(coil *c)
{
  return (bramah_plant){BRAMAH_PLANT_HEAD,
                        .self = c,
                        .step_ns = 1000000,
                        .n_dof = 1,
                        .n_first_order = 1,
                        .n_input = 1,
                        .n_output = COIL_N + 1,
                        .snapshot_size = sizeof *c,
                        .step = step,
                        .inject = inject,
                        .output = output,
                        .save = save,
                        .restore = restore,
                        .set_inputs = set_inputs,
                        .state_info = state_info,
                        .output_info = output_info,
                        .coordinates = coordinates,
                        .step_transition = step_transition,
                        .output_row = output_row,
                        .accelerations = accelerations,
                        .acceleration_derivative = acceleration_derivative};
}
