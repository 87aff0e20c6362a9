/* SPDX-License-Identifier: MIT */
#include "bramah/observability.h"
#include "estimators/filter_internal.h"
#include "estimators/update.h"
#include "lib/base/diag.h"
#include "lib/base/text.h"
#include "lib/math/dense.h"
#include "lib/math/elementary.h"

#include <math.h>
#include <string.h>

#define OBSERVABILITY_ARRAYS(X)                                                                              \
  X(bramah_sensor, sensor, n_sensors)                                                                        \
  X(bramah_augmented, augmented, na)                                                                         \
  X(size_t, target, na, "parameter or sensor")                                                               \
  X(size_t, par, na, "the parameters among them")                                                            \
  X(double, Fp, n_plant *n_plant, "F of the plant")                                                          \
  X(double, Gp, n_plant *na, "and its derivative by the parameters")                                         \
  X(double, sigma, n)                                                                                        \
  X(double, W, n *n)                                                                                         \
  X(double, Phi, n *n)                                                                                       \
  X(double, F, n *n)                                                                                         \
  X(double, T, n *n)                                                                                         \
  X(double, V, n *n, "eigenvectors of D W D")                                                                \
  X(double, w, n, "and its eigenvalues")                                                                     \
  X(double, G, n *n, "what becomes of the unseen directions")                                                \
  X(double, M, n *n)                                                                                         \
  X(double, m, n)                                                                                            \
  X(double, share, n)                                                                                        \
  X(double, A, nf *n)                                                                                        \
  X(double, row, n)                                                                                          \
  X(double, term, n)                                                                                         \
  X(double, dx, n)                                                                                           \
  X(double, above, n)                                                                                        \
  X(double, below, n)                                                                                        \
  X(double, zdd, 2 * nf)                                                                                     \
  X(double, eigen_work, bramah__symmetric_eigen_work(n))                                                     \
  X(unsigned char, begin, plant->snapshot_size)                                                              \
  X(unsigned char, start, plant->snapshot_size)                                                              \
  X(unsigned char, row_snap, plant->snapshot_size)

struct bramah_observability {
  bramah_plant plant;
  size_t n, n_plant, n_sensors; /* n: n_plant states of the plant, then the augmented ones */
  size_t n_par;
  bramah_observability_options options;
  bramah_observability_report report;
  OBSERVABILITY_ARRAYS(BRAMAH__FIELD_MEMBER)
};

static bramah_observability *layout(const bramah_plant *plant, size_t n_sensors,
                                    const bramah_observability_options *options, bramah__arena *arena)
{
  const size_t na = options ? options->n_augmented : 0, n_plant = bramah_plant_n_error(plant),
               n = n_plant + na, nf = plant->n_dof;
  bramah_observability *object = BRAMAH__TAKE(arena, bramah_observability, 1), counted = {0};
  bramah_observability *fields = object ? object : &counted;
  fields->plant = bramah__plant_copy(plant);
  fields->n = n;
  fields->n_plant = n_plant;
  fields->n_sensors = n_sensors;
  OBSERVABILITY_ARRAYS(BRAMAH__FIELD_TAKE)
  return object;
}

void bramah_observability_options_default(bramah_observability_options *options)
{
  *options = (bramah_observability_options){.horizon_ns = 0, .unseen = 0.99, .fading = 0.1};
}

bramah_status bramah_observability_new(const bramah_plant *plant, size_t n_sensors,
                                       const bramah_sensor *sensors,
                                       const bramah_observability_options *options, bramah_diag *diag,
                                       bramah_observability **out)
{
  *out = NULL;
  bramah_status status = bramah__plant_check(plant, diag);
  if (status != BRAMAH_OK) return status;
  bramah__arena arena = bramah__arena_make(NULL, 0);
  layout(plant, n_sensors, options, &arena);
  status = bramah__arena_new("observability", arena.used, &arena, diag);
  if (status != BRAMAH_OK) return status;
  bramah_observability *o = layout(plant, n_sensors, options, &arena);
  if (n_sensors) memcpy(o->sensor, sensors, n_sensors * sizeof *sensors);
  bramah_observability_options_default(&o->options);
  if (options) o->options = *options;

  for (size_t k = 0; k < o->n - o->n_plant && status == BRAMAH_OK; k++) {
    const bramah_augmented *a = &o->augmented[k];
    o->augmented[k] = options->augmented[k];
    status = bramah__augmented_target(&o->plant, n_sensors, o->sensor, a, &o->target[k], diag);
    if (status == BRAMAH_OK && a->kind > BRAMAH_AUGMENTED_BIAS)
      status =
          bramah__fail(diag, BRAMAH_E_UNSUPPORTED, a->name, "gains and delays of sensors are not looked at");
    if (status != BRAMAH_OK || a->kind == BRAMAH_AUGMENTED_BIAS) continue;
    if (!o->plant.step_transition)
      status = bramah__fail(diag, BRAMAH_E_UNSUPPORTED, a->name, "the plant does not tell its transition");
    o->par[o->n_par] = o->target[k];
    o->target[k] = o->n_par++;
  }
  if (status == BRAMAH_OK)
    *out = o;
  else
    bramah__aligned_free(o);
  return status;
}

void bramah_observability_free(bramah_observability *o) { bramah__aligned_free(o); }

static const char *name_of(const bramah_observability *o, size_t i)
{
  return i < o->n_plant ? bramah__plant_state_name(&o->plant, i) : o->augmented[i - o->n_plant].name;
}

/* ---- window ---- */

bramah_status bramah__observability_begin(bramah_observability *o, const double *sigma, bramah_diag *diag)
{
  const size_t n = o->n;
  for (size_t i = 0; i < n; i++)
    if (!(sigma[i] > 0.0) || !isfinite(sigma[i]))
      return bramah__fail(diag, BRAMAH_E_VALUE, name_of(o, i), "the standard deviation must be positive");
  memcpy(o->sigma, sigma, n * sizeof *sigma);
  memset(o->W, 0, n * n * sizeof(double));
  memset(o->Phi, 0, n * n * sizeof(double));
  for (size_t i = 0; i < n; i++) o->Phi[i * n + i] = 1.0;
  o->report = (bramah_observability_report){.n = n};
  return BRAMAH_OK;
}

void bramah__observability_observe(bramah_observability *o, const double *H, double r)
{
  const size_t n = o->n;
  bramah__apply_transposed(n, n, o->Phi, H, o->term);
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j < n; j++) o->W[i * n + j] += o->term[i] / r * (o->term[j] / r);
}

void bramah__observability_advance(bramah_observability *o, const double *F)
{
  bramah__multiply(o->n, o->n, o->n, F, o->Phi, o->T);
  memcpy(o->Phi, o->T, o->n * o->n * sizeof(double));
}

/* ---- analysis ---- */

static bramah_status eigen(bramah_observability *o, size_t n, double *A, double *w, bramah_diag *diag)
{
  for (size_t i = 0; i < n * n; i++)
    if (!isfinite(A[i]))
      return bramah__fail(diag, BRAMAH_E_NOT_FINITE, "observability", "the information is not finite");
  if (bramah__symmetric_eigen(n, A, w, o->eigen_work) == 0) return BRAMAH_OK;
  return bramah__fail(diag, BRAMAH_E_NO_CONVERGENCE, "observability", "eigenvalues did not converge");
}

bramah_status bramah__observability_analyse(bramah_observability *o, bramah_diag *diag)
{
  const size_t n = o->n;
  size_t unseen = 0;
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j < n; j++)
      o->V[i * n + j] = 0.5 * (o->W[i * n + j] + o->W[j * n + i]) * o->sigma[i] * o->sigma[j];
  memset(o->share, 0, n * sizeof(double));
  o->report.lasting = 0;
  bramah_status status = eigen(o, n, o->V, o->w, diag);
  if (status != BRAMAH_OK) return status;
  while (unseen < n && 1.0 / sqrt(1.0 + fmax(o->w[unseen], 0.0)) > o->options.unseen) unseen++;
  o->report.rank = n - unseen;
  o->report.condition = n && o->w[0] > 0.0 ? o->w[n - 1] / o->w[0] : (double)INFINITY;

  /* Eigenvalues ascend: the unseen directions are the first `unseen` rows of V. G [unseen x n]: what they
   * become over the window, in units of sigma. */
  for (size_t k = 0; k < unseen; k++)
    for (size_t i = 0; i < n; i++) {
      double sum = 0.0;
      for (size_t j = 0; j < n; j++) sum += o->Phi[i * n + j] * o->sigma[j] * o->V[k * n + j];
      o->G[k * n + i] = sum / o->sigma[i];
    }

  /* Which combinations of them last, and the share of each state in those. */
  bramah__multiply_transposed(unseen, n, unseen, o->G, o->G, o->M);
  status = eigen(o, unseen, o->M, o->m, diag);
  for (size_t q = 0; q < unseen && status == BRAMAH_OK; q++) {
    if (sqrt(fmax(o->m[q], 0.0)) < o->options.fading) continue;
    o->report.lasting++;
    for (size_t i = 0; i < n; i++) {
      double v = 0.0;
      for (size_t k = 0; k < unseen; k++) v += o->M[q * unseen + k] * o->V[k * n + i];
      o->share[i] += v * v;
    }
  }
  return status;
}

/* ---- along the plant's own motion ---- */

/* The samples that fall on step k: rows of the sensors, augmented states included. */
static bramah_status observe_all(bramah_observability *o, size_t k, bramah_diag *diag)
{
  const bramah_plant *plant = &o->plant;
  const int64_t t = (int64_t)k * plant->step_ns;
  for (size_t i = 0; i < o->n_sensors; i++) {
    const bramah_sensor *sensor = &o->sensor[i];
    const int64_t period = sensor->period_ns;
    if (k > 0 && period > 0 && t / period == (t - plant->step_ns) / period) continue;
    bramah_status status = bramah_sensor_row(sensor, plant, o->row, o->term, o->row_snap, o->dx, diag);
    for (size_t a = 0; a < o->n - o->n_plant && status == BRAMAH_OK; a++) {
      double *at = &o->row[o->n_plant + a];
      if (o->augmented[a].kind == BRAMAH_AUGMENTED_BIAS)
        *at = o->target[a] == i ? 1.0 : 0.0;
      else
        status = bramah__sensor_by_parameter(plant, sensor, o->par[o->target[a]], 0.0,
                                             1e-3 * o->sigma[o->n_plant + a], o->start, at, diag);
    }
    if (status != BRAMAH_OK) return status;
    bramah__observability_observe(o, o->row, sqrt(bramah_sensor_variance(sensor)));
  }
  return BRAMAH_OK;
}

/* Where the plant comes out from its state displaced by dx in state k; 0 if it cannot or changes its
 * coordinates. */
static int displaced_step(bramah_observability *o, size_t k, double dx, double *x)
{
  const bramah_plant *plant = &o->plant;
  plant->restore(plant->self, o->start);
  memset(o->dx, 0, o->n_plant * sizeof(double));
  o->dx[k] = dx;
  if (plant->inject(plant->self, o->dx, NULL) != BRAMAH_OK || plant->step(plant->self, NULL) != BRAMAH_OK)
    return 0;
  if (plant->basis_change && plant->basis_change(plant->self, o->T)) return 0;
  return bramah_plant_coordinates(plant, x);
}

/* F by central differences of steps. They are wide, a hundredth of sigma, for an implicit step ends within a
 * tolerance. Returns 0 where it cannot be had; the plant is then as before. */
static int differences(bramah_observability *o)
{
  const bramah_plant *plant = &o->plant;
  int good = 1;
  plant->save(plant->self, o->start);
  for (size_t k = 0; k < o->n_plant && good; k++) {
    const double d = 0.01 * o->sigma[k];
    good = displaced_step(o, k, d, o->above) && displaced_step(o, k, -d, o->below);
    if (good) bramah__plant_subtract(plant, o->above, o->below, o->above);
    for (size_t i = 0; i < o->n_plant && good; i++) o->Fp[i * o->n_plant + k] = o->above[i] / (2.0 * d);
  }
  plant->restore(plant->self, o->start);
  return good;
}

/* F from a matrix of the states of the plant; zero in the rows and columns of the augmented states. */
static void widen(bramah_observability *o)
{
  memset(o->F, 0, o->n * o->n * sizeof(double));
  for (size_t r = 0; r < o->n_plant; r++)
    memcpy(o->F + r * o->n, o->Fp + r * o->n_plant, o->n_plant * sizeof(double));
}

/* One step with its transition and the change of coordinates it may bring. */
static bramah_status step(bramah_observability *o, bramah_diag *diag)
{
  const bramah_plant *plant = &o->plant;
  const size_t n = o->n, n_plant = o->n_plant;
  const double h = (double)plant->step_ns * 1e-9;
  bramah_status status = BRAMAH_OK;
  if (plant->step_transition) {
    status = plant->step_transition(plant->self, o->Fp, NULL, o->n_par, o->par, o->Gp, diag);
  } else {
    if (!differences(o)) {
      status = bramah__plant_acceleration_jacobian(plant, o->A, o->row_snap, o->dx, o->zdd, diag);
      if (status == BRAMAH_OK)
        bramah__kinematic_transition(plant->n_dof, plant->n_first_order, h, o->A, o->Fp);
    }
    if (status == BRAMAH_OK) status = plant->step(plant->self, diag);
  }
  if (status != BRAMAH_OK) return status;

  widen(o);
  for (size_t k = 0; k < n - n_plant; k++) { /* augmented states act on the plant and fade by themselves */
    const bramah_augmented *a = &o->augmented[k];
    o->F[(n_plant + k) * n + n_plant + k] = a->time_constant > 0.0 ? bramah__exp(-h / a->time_constant) : 1.0;
    if (a->kind == BRAMAH_AUGMENTED_BIAS) continue;
    for (size_t r = 0; r < n_plant; r++) o->F[r * n + n_plant + k] = o->Gp[r * o->n_par + o->target[k]];
  }
  bramah__observability_advance(o, o->F);

  if (plant->basis_change && plant->basis_change(plant->self, o->Fp)) {
    widen(o);
    for (size_t k = n_plant; k < n; k++) o->F[k * n + k] = 1.0;
    bramah__observability_advance(o, o->F);
  }
  return BRAMAH_OK;
}

bramah_status bramah_observability_run(bramah_observability *o, const double *sigma, bramah_diag *diag)
{
  const bramah_plant *plant = &o->plant;
  const int64_t step_ns = plant->step_ns;
  int64_t horizon = o->options.horizon_ns;
  if (horizon <= 0) {
    horizon = INT64_C(200000000);
    for (size_t i = 0; i < o->n_sensors; i++)
      if (o->sensor[i].period_ns > horizon / 2) horizon = 2 * o->sensor[i].period_ns;
    if (horizon / step_ns > 2000) horizon = 2000 * step_ns;
  }
  const size_t steps = horizon > step_ns ? (size_t)(horizon / step_ns) : 1;
  bramah_status status = bramah__observability_begin(o, sigma, diag);
  if (status != BRAMAH_OK) return status;
  plant->save(plant->self, o->begin);
  for (size_t k = 0; k <= steps && status == BRAMAH_OK; k++) {
    if (k) status = step(o, diag);
    if (status == BRAMAH_OK) status = observe_all(o, k, diag);
  }
  plant->restore(plant->self, o->begin);
  if (status == BRAMAH_OK) status = bramah__observability_analyse(o, diag);
  o->report.horizon = (double)steps * (double)plant->step_ns * 1e-9;
  return status;
}

/* ---- results ---- */

bramah_observability_report bramah_observability_get_report(const bramah_observability *o)
{
  bramah_observability_report report = o->report;
  report.eigenvalues = o->w;
  return report;
}

static const double named = 0.1;

size_t bramah_observability_names(const bramah_observability *o, char *out, size_t size)
{
  size_t count = 0, used = 0;
  if (size) out[0] = '\0';
  for (size_t i = 0, last = o->n; i < o->n; i++) {
    if (o->share[i] < named) continue;
    const char *name = name_of(o, i), *bristle = strstr(name, ".bristle_");
    const size_t stem = bristle ? (size_t)(bristle - name) + sizeof ".bristle_" - 1 : 0;
    if (count++ && stem && last < o->n && strncmp(name_of(o, last), name, stem) == 0)
      continue; /* all of a contact as one */
    last = i;
    if (count > 1) used = bramah__append(out, size, used, ", ");
    used = bramah__append(out, size, used, name);
    if (stem) used = bramah__append(out, size, used - strlen(bristle), ".bristle_*");
  }
  return count;
}

/* ---- the posterior Cramer-Rao bound ---- */

static bramah_status check_bound(size_t n, const double *P, bramah_diag *diag)
{
  const size_t bad = bramah__bad_variance(n, P);
  if (bad == n) return BRAMAH_OK;
  const int finite = isfinite(P[bad * n + bad]);
  return bramah__fail(diag, finite ? BRAMAH_E_NOT_SPD : BRAMAH_E_NOT_FINITE, "bound",
                      finite ? "a variance is not positive" : "a variance is not finite");
}

bramah_status bramah_pcrb_step(size_t n, const double *F, const double *Q, size_t m, const double *H,
                               const double *sigma, double *P, double *work, bramah_diag *diag)
{
  double *before = work, *scratch = work + n * n, *dx = scratch + n * n + 2 * n;
  for (size_t i = 0; i < m; i++)
    if (!(sigma[i] > 0.0) || !isfinite(sigma[i]))
      return bramah__fail(diag, BRAMAH_E_VALUE, "bound", "a sensor's standard deviation must be positive");
  memcpy(before, P, n * n * sizeof(double));
  if (F) bramah__propagate(n, F, P, scratch);
  for (size_t i = 0; F && Q && i < n * n; i++) P[i] += Q[i];
  bramah_status status = check_bound(n, P, diag);
  memset(dx, 0, n * sizeof(double));
  for (size_t i = 0; i < m && status == BRAMAH_OK; i++)
    if (bramah__fuse_scalar(n, H + i * n, 0.0, sigma[i] * sigma[i], NULL, P, dx, scratch))
      status = bramah__fail(diag, BRAMAH_E_NOT_SPD, "bound", "the variance of a prediction is not positive");
  if (status == BRAMAH_OK) status = check_bound(n, P, diag);
  if (status != BRAMAH_OK) memcpy(P, before, n * n * sizeof(double));
  return status;
}
