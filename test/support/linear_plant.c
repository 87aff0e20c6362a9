/* SPDX-License-Identifier: MIT */
#include "test/support/linear_plant.h"

#include <string.h>

enum { N = LINEAR_N };

/* Springs of 40 and 60 N/m between ground, left, right; 2 and 3 kg; dampers; 1 cm^2 pistons. */
static const double A[2][N] = {{-50.0, 30.0, -0.4, 0.2, 5e-5, 0.0},
                               {20.0, -20.0, 0.1333, -0.3, 0.0, -3.3e-5}};

static const double pump[2] = {4e5, -2e5}; /* Pa/s by the command */

static void product(const double *M, const double *x, double *y)
{
  for (int i = 0; i < N; i++) {
    y[i] = 0.0;
    for (int j = 0; j < N; j++) y[i] += M[i * N + j] * x[j];
  }
}

/* Present coordinates by the physical ones (sign 1), or back (sign -1). */
static void coordinates_by_state(const linear_plant *p, double sign, double *M)
{
  memset(M, 0, N * N * sizeof *M);
  for (int i = 0; i < N; i++) M[i * N + i] = 1.0;
  if (p->changed) M[0 * N + 1] = M[2 * N + 3] = sign;
}

void linear_plant_transition(const linear_plant *p, double *F)
{
  const double h = p->h;
  memset(F, 0, N * N * sizeof *F);
  for (int i = 0; i < N; i++) F[i * N + i] = 1.0;
  for (int i = 0; i < 2; i++) {
    F[i * N + 2 + i] = h;
    for (int j = 0; j < N; j++) {
      F[i * N + j] += 0.5 * h * h * A[i][j];
      F[(2 + i) * N + j] += h * A[i][j];
    }
  }
}

static void advance(linear_plant *p)
{
  double F[N * N], x[N];
  linear_plant_transition(p, F);
  product(F, p->x, x);
  memcpy(p->x, x, sizeof x);
  for (int i = 0; i < 2; i++) p->x[4 + i] += p->h * pump[i] * p->u;
  p->step++;
  p->news = p->step == p->change_at;
  if (p->news) p->changed = 1;
}

static bramah_status step(void *self, bramah_diag *diag)
{
  (void)diag;
  advance(self);
  return BRAMAH_OK;
}

static bramah_status step_transition(void *self, double *F, double *noise, size_t n_par, const size_t *par,
                                     double *G, bramah_diag *diag)
{
  linear_plant *p = self;
  if (noise) return BRAMAH_E_UNSUPPORTED; /* no resolvent: published noise only */
  double back[N * N], there[N * N], plain[N * N], column[N], moved[N], out[N];
  (void)n_par, (void)par, (void)G, (void)diag;
  coordinates_by_state(p, -1.0, back);
  coordinates_by_state(p, 1.0, there);
  linear_plant_transition(p, plain);
  for (int k = 0; k < N; k++) {
    for (int i = 0; i < N; i++) column[i] = back[i * N + k];
    product(plain, column, moved);
    product(there, moved, out);
    for (int i = 0; i < N; i++) F[i * N + k] = out[i];
  }
  advance(p);
  return BRAMAH_OK;
}

static int basis_change(void *self, double *T)
{
  linear_plant *p = self;
  if (!p->news) return 0;
  coordinates_by_state(p, 1.0, T);
  p->news = 0;
  return 1;
}

static bramah_status inject(void *self, const double *dx, bramah_diag *diag)
{
  linear_plant *p = self;
  double back[N * N], dp[N];
  (void)diag;
  coordinates_by_state(p, -1.0, back);
  product(back, dx, dp);
  for (int i = 0; i < N; i++) p->x[i] += dp[i];
  return BRAMAH_OK;
}

static bramah_status accelerations(void *self, double *zdd, bramah_diag *diag)
{
  const linear_plant *p = self;
  (void)diag;
  for (int i = 0; i < 2; i++) {
    zdd[i] = 0.0;
    for (int j = 0; j < N; j++) zdd[i] += A[i][j] * p->x[j];
  }
  if (p->changed) zdd[0] += zdd[1];
  return BRAMAH_OK;
}

static bramah_status acceleration_jacobian(void *self, double *J, bramah_diag *diag)
{
  const linear_plant *p = self;
  double back[N * N];
  (void)diag;
  coordinates_by_state(p, -1.0, back);
  for (int i = 0; i < 2; i++)
    for (int k = 0; k < N; k++) {
      J[i * N + k] = 0.0;
      for (int j = 0; j < N; j++)
        J[i * N + k] += (A[i][j] + (i == 0 && p->changed ? A[1][j] : 0.0)) * back[j * N + k];
    }
  return BRAMAH_OK;
}

static const int state_of_output[N] = {0, 2, 1, 3, 4, 5};

static double output(void *self, size_t i) { return ((linear_plant *)self)->x[state_of_output[i]]; }

static bramah_status output_row(void *self, size_t i, double *row)
{
  double back[N * N];
  coordinates_by_state(self, -1.0, back);
  memcpy(row, back + state_of_output[i] * N, N * sizeof *row);
  return BRAMAH_OK;
}

static void coordinates(void *self, double *x)
{
  double there[N * N];
  coordinates_by_state(self, 1.0, there);
  product(there, ((linear_plant *)self)->x, x);
}

static bramah_status set_inputs(void *self, const double *u, bramah_diag *diag)
{
  (void)diag;
  ((linear_plant *)self)->u = u[0];
  return BRAMAH_OK;
}

static void save(const void *self, void *snap) { memcpy(snap, self, sizeof(linear_plant)); }

static void restore(void *self, const void *snap)
{
  memcpy(self, snap, sizeof(linear_plant));
  ((linear_plant *)self)->news = 0;
}

static const char *input_name(const void *self, size_t i) { return (void)self, (void)i, "pump"; }

static const char *const output_name[N] = {"left.position", "left.rate",     "right.position",
                                           "right.rate",    "left.pressure", "right.pressure"};

static void state_info(const void *self, size_t i, bramah_state_info *info)
{
  static const char *const changed[N] = {"sum.position", "right.position", "sum.rate",
                                         "right.rate",   "left.pressure",  "right.pressure"};
  static const char *const plain[N] = {"left.position", "right.position", "left.rate",
                                       "right.rate",    "left.pressure",  "right.pressure"};
  static const char *const unit[3] = {"m", "m/s", "Pa"};
  *info = (bramah_state_info){.name = ((const linear_plant *)self)->changed ? changed[i] : plain[i],
                              .unit = unit[i / 2],
                              .scale = i < 4 ? 1.0 : 1e7};
}

static void output_info(const void *self, size_t i, bramah_output_info *info)
{
  static const bramah_output_kind kind[3] = {BRAMAH_OUTPUT_POSITION, BRAMAH_OUTPUT_RATE,
                                             BRAMAH_OUTPUT_FIRST_ORDER};
  static const char *const unit[3] = {"m", "m/s", "Pa"};
  const size_t k = i >= 4 ? 2 : i % 2;
  (void)self;
  *info = (bramah_output_info){output_name[i], unit[k], kind[k], 1, 0};
}

bramah_plant linear_plant_table(linear_plant *p)
{
  return (bramah_plant){BRAMAH_PLANT_HEAD,
                        .self = p,
                        .n_dof = 2,
                        .n_first_order = 2,
                        .n_input = 1,
                        .n_output = N,
                        .snapshot_size = sizeof *p,
                        .step_ns = (int64_t)(p->h * 1e9 + 0.5),
                        .state_info = state_info,
                        .input_name = input_name,
                        .output_info = output_info,
                        .set_inputs = set_inputs,
                        .step = step,
                        .inject = inject,
                        .accelerations = accelerations,
                        .output = output,
                        .save = save,
                        .restore = restore,
                        .acceleration_jacobian = acceleration_jacobian,
                        .output_row = output_row,
                        .basis_change = basis_change,
                        .coordinates = coordinates,
                        .step_transition = step_transition};
}
