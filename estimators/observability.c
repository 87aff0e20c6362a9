/* SPDX-License-Identifier: MIT */
#include "bramah/observability.h"
#include "estimators/update.h"
#include "lib/base/arena.h"
#include "lib/base/diag.h"
#include "lib/math/dense.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

struct bramah_observability {
  bramah_plant plant;
  size_t n, np, n_sensors; /* n: np states of the plant, then the augmented ones */
  bramah_sensor *sensor;
  bramah_augmented *augmented; /* [n - np] */
  size_t *target;              /* [n - np] parameter or sensor */
  size_t n_par, *par;          /* [n - np] the parameters among them */
  double *Fp, *Gp;             /* [np x np], [np x n_par] of the plant */
  bramah_observability_options options;
  bramah_observability_result result;
  double *sigma;            /* [n] */
  double *W, *Phi, *F, *T;  /* [n x n] */
  double *V, *w;            /* [n x n], [n] eigenvectors and eigenvalues of D W D */
  double *G, *M, *m;        /* [n x n], [n x n], [n] what becomes of the unseen directions */
  double *share;            /* [n] */
  double *A;                /* [nf x n] */
  double *row, *term, *dx;  /* [n] */
  double *side[2];          /* [n] */
  double *zdd, *eigen_work; /* [2 nf] */
  void *begin, *start, *row_snap;
};

static bramah_observability *layout(const bramah_plant *plant, size_t n_sensors,
                                    const bramah_observability_options *options, bramah__arena *arena)
{
  const size_t na = options ? options->n_augmented : 0, np = bramah_plant_n_error(plant), n = np + na,
               nf = plant->n_dof;
  bramah_observability *object = BRAMAH__TAKE(arena, bramah_observability, 1), counted = {0};
  bramah_observability *o = object ? object : &counted;
  o->plant = bramah_plant_copy(plant);
  o->n = n;
  o->np = np;
  o->n_sensors = n_sensors;
  o->sensor = BRAMAH__TAKE(arena, bramah_sensor, n_sensors);
  o->augmented = BRAMAH__TAKE(arena, bramah_augmented, na);
  o->target = BRAMAH__TAKE(arena, size_t, na);
  o->par = BRAMAH__TAKE(arena, size_t, na);
  o->Fp = BRAMAH__TAKE(arena, double, np *np);
  o->Gp = BRAMAH__TAKE(arena, double, np *na);
  o->sigma = BRAMAH__TAKE(arena, double, n);
  double **const square[] = {&o->W, &o->Phi, &o->F, &o->T, &o->V, &o->G, &o->M};
  for (size_t i = 0; i < sizeof square / sizeof square[0]; i++)
    *square[i] = BRAMAH__TAKE(arena, double, n *n);
  double **const vector[] = {&o->w, &o->m, &o->share, &o->row, &o->term, &o->dx, &o->side[0], &o->side[1]};
  for (size_t i = 0; i < sizeof vector / sizeof vector[0]; i++) *vector[i] = BRAMAH__TAKE(arena, double, n);
  o->A = BRAMAH__TAKE(arena, double, nf *n);
  o->zdd = BRAMAH__TAKE(arena, double, 2 * nf);
  o->eigen_work = BRAMAH__TAKE(arena, double, bramah__symmetric_eigen_work(n));
  o->begin = bramah__arena_take(arena, plant->snapshot_size, 1);
  o->start = bramah__arena_take(arena, plant->snapshot_size, 1);
  o->row_snap = bramah__arena_take(arena, plant->snapshot_size, 1);
  return object;
}

void bramah_observability_options_default(bramah_observability_options *options)
{
  *options = (bramah_observability_options){.horizon_ns = 0, .unseen = 0.99, .fading = 0.1};
}

static bramah_status no_such(const bramah_augmented *a, const char *what, bramah_diag *diag)
{
  bramah__fail(diag, BRAMAH_E_REFERENCE, a->name, what);
  bramah__add_text(diag, a->at ? a->at : "");
  bramah__add_text(diag, "'");
  return BRAMAH_E_REFERENCE;
}

static bramah_status find_target(bramah_observability *o, size_t k, bramah_diag *diag)
{
  const bramah_augmented *a = &o->augmented[k];
  if (a->kind == BRAMAH_AUGMENTED_BIAS) {
    for (size_t i = 0; i < o->n_sensors; i++)
      if (a->at && strcmp(o->sensor[i].name, a->at) == 0) return o->target[k] = i, BRAMAH_OK;
    return no_such(a, "there is no sensor '", diag);
  }
  const long p = a->at ? bramah_plant_find_parameter(&o->plant, a->at) : -1;
  if (p < 0) return no_such(a, "the plant has no parameter '", diag);
  if (!o->plant.step_transition)
    return bramah__fail(diag, BRAMAH_E_UNSUPPORTED, a->name, "the plant does not tell its transition");
  o->target[k] = o->n_par;
  o->par[o->n_par++] = (size_t)p;
  return BRAMAH_OK;
}

static bramah_status take_augmented(bramah_observability *o, const bramah_observability_options *options,
                                    bramah_diag *diag)
{
  bramah_status status = BRAMAH_OK;
  o->n_par = 0;
  for (size_t k = 0; k < o->n - o->np && status == BRAMAH_OK; k++) {
    o->augmented[k] = options->augmented[k];
    status = find_target(o, k, diag);
  }
  return status;
}

bramah_status bramah_observability_new(const bramah_plant *plant, size_t n_sensors,
                                       const bramah_sensor *sensors,
                                       const bramah_observability_options *options, bramah_diag *diag,
                                       bramah_observability **out)
{
  *out = NULL;
  bramah_status status = bramah_plant_check(plant, diag);
  if (status != BRAMAH_OK) return status;
  bramah__arena arena = bramah__arena_make(NULL, 0);
  layout(plant, n_sensors, options, &arena);
  const size_t size = arena.used;
  void *mem = bramah__aligned_new(size);
  if (!mem) return bramah__fail(diag, BRAMAH_E_MEMORY, "observability", "out of memory");
  arena = bramah__arena_make(mem, size);
  bramah_observability *o = layout(plant, n_sensors, options, &arena);
  if (n_sensors) memcpy(o->sensor, sensors, n_sensors * sizeof *sensors);
  bramah_observability_options_default(&o->options);
  if (options) o->options = *options;
  status = take_augmented(o, options, diag);
  if (status == BRAMAH_OK)
    *out = o;
  else
    bramah__aligned_free(mem);
  return status;
}

void bramah_observability_free(bramah_observability *o) { bramah__aligned_free(o); }

static const char *name_of(const bramah_observability *o, size_t i)
{
  return i < o->np ? bramah_plant_state_name(&o->plant, i) : o->augmented[i - o->np].name;
}

/* ---- window ---- */

bramah_status bramah_observability_begin(bramah_observability *o, const double *sigma, bramah_diag *diag)
{
  const size_t n = o->n;
  for (size_t i = 0; i < n; i++)
    if (!(sigma[i] > 0.0) || !isfinite(sigma[i]))
      return bramah__fail(diag, BRAMAH_E_VALUE, name_of(o, i), "the standard deviation must be positive");
  memcpy(o->sigma, sigma, n * sizeof *sigma);
  memset(o->W, 0, n * n * sizeof(double));
  memset(o->Phi, 0, n * n * sizeof(double));
  for (size_t i = 0; i < n; i++) o->Phi[i * n + i] = 1.0;
  o->result = (bramah_observability_result){.n = n};
  return BRAMAH_OK;
}

void bramah_observability_observe(bramah_observability *o, const double *H, double r)
{
  const size_t n = o->n;
  bramah__apply_transposed(n, n, o->Phi, H, o->term);
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j < n; j++) o->W[i * n + j] += o->term[i] / r * (o->term[j] / r);
}

void bramah_observability_advance(bramah_observability *o, const double *F)
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

/* Eigenvalues ascend: the unseen directions are the first `unseen` rows of V. G [unseen x n]: what they
 * become over the window, in units of sigma. */
static void carry_unseen(bramah_observability *o, size_t unseen)
{
  const size_t n = o->n;
  for (size_t k = 0; k < unseen; k++)
    for (size_t i = 0; i < n; i++) {
      double sum = 0.0;
      for (size_t j = 0; j < n; j++) sum += o->Phi[i * n + j] * o->sigma[j] * o->V[k * n + j];
      o->G[k * n + i] = sum / o->sigma[i];
    }
}

/* Which combinations of them last, and the share of each state in those. */
static bramah_status take_lasting(bramah_observability *o, size_t unseen, bramah_diag *diag)
{
  const size_t n = o->n;
  bramah__multiply_transposed(unseen, n, unseen, o->G, o->G, o->M);
  const bramah_status status = eigen(o, unseen, o->M, o->m, diag);
  for (size_t q = 0; q < unseen && status == BRAMAH_OK; q++) {
    if (sqrt(fmax(o->m[q], 0.0)) < o->options.fading) continue;
    o->result.lasting++;
    for (size_t i = 0; i < n; i++) {
      double v = 0.0;
      for (size_t k = 0; k < unseen; k++) v += o->M[q * unseen + k] * o->V[k * n + i];
      o->share[i] += v * v;
    }
  }
  return status;
}

bramah_status bramah_observability_analyse(bramah_observability *o, bramah_diag *diag)
{
  const size_t n = o->n;
  size_t unseen = 0;
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j < n; j++)
      o->V[i * n + j] = 0.5 * (o->W[i * n + j] + o->W[j * n + i]) * o->sigma[i] * o->sigma[j];
  memset(o->share, 0, n * sizeof(double));
  o->result.lasting = 0;
  const bramah_status status = eigen(o, n, o->V, o->w, diag);
  if (status != BRAMAH_OK) return status;
  while (unseen < n && 1.0 / sqrt(1.0 + fmax(o->w[unseen], 0.0)) > o->options.unseen) unseen++;
  o->result.rank = n - unseen;
  o->result.condition = n && o->w[0] > 0.0 ? o->w[n - 1] / o->w[0] : (double)INFINITY;
  carry_unseen(o, unseen);
  return take_lasting(o, unseen, diag);
}

/* ---- along the plant's own motion ---- */

static size_t steps_of(const bramah_observability *o)
{
  const int64_t step = o->plant.step_ns;
  int64_t horizon = o->options.horizon_ns;
  if (horizon <= 0) {
    horizon = INT64_C(200000000);
    for (size_t i = 0; i < o->n_sensors; i++)
      if (o->sensor[i].period_ns > horizon / 2) horizon = 2 * o->sensor[i].period_ns;
    if (horizon / step > 2000) horizon = 2000 * step;
  }
  return horizon > step ? (size_t)(horizon / step) : 1;
}

/* Does a sample of this period fall on step k? */
static int is_due(const bramah_observability *o, int64_t period, size_t k)
{
  const int64_t t = (int64_t)k * o->plant.step_ns;
  return k == 0 || period <= 0 || t / period != (t - o->plant.step_ns) / period;
}

/* Forces, flows and accelerations follow a parameter at once: by one difference. */
static bramah_status by_parameter(bramah_observability *o, const bramah_sensor *sensor, size_t k, double *out,
                                  bramah_diag *diag)
{
  const bramah_plant *plant = &o->plant;
  const size_t p = o->par[o->target[k]];
  const double step = 1e-3 * o->sigma[o->np + k], at = bramah_sensor_predict(sensor, plant);
  plant->save(plant->self, o->start);
  const bramah_status status =
      plant->set_parameter(plant->self, p, plant->parameter(plant->self, p) + step, diag);
  *out = (bramah_sensor_predict(sensor, plant) - at) / step;
  plant->restore(plant->self, o->start);
  return status;
}

static int is_state(const bramah_plant *plant, const bramah_sensor *sensor)
{
  for (size_t t = 0; t < sensor->n_terms; t++) {
    bramah_output_info info;
    bramah_plant_output_info(plant, sensor->output[t], &info);
    if (info.kind == BRAMAH_OUTPUT_ACCELERATION || info.kind == BRAMAH_OUTPUT_OTHER) return 0;
  }
  return 1;
}

/* The part of the row of sensor i that belongs to the augmented states. */
static bramah_status augment_row(bramah_observability *o, size_t i, double *row, bramah_diag *diag)
{
  bramah_status status = BRAMAH_OK;
  for (size_t k = 0; k < o->n - o->np && status == BRAMAH_OK; k++) {
    const int bias = o->augmented[k].kind == BRAMAH_AUGMENTED_BIAS;
    row[k] = bias && o->target[k] == i ? 1.0 : 0.0;
    if (!bias && !is_state(&o->plant, &o->sensor[i]))
      status = by_parameter(o, &o->sensor[i], k, &row[k], diag);
  }
  return status;
}

static bramah_status observe_all(bramah_observability *o, size_t k, bramah_diag *diag)
{
  for (size_t i = 0; i < o->n_sensors; i++) {
    const bramah_sensor *sensor = &o->sensor[i];
    if (!is_due(o, sensor->period_ns, k)) continue;
    bramah_status status = bramah_sensor_row(sensor, &o->plant, o->row, o->term, o->row_snap, o->dx, diag);
    if (status == BRAMAH_OK) status = augment_row(o, i, o->row + o->np, diag);
    if (status != BRAMAH_OK) return status;
    bramah_observability_observe(o, o->row, sqrt(bramah_sensor_variance(sensor)));
  }
  return BRAMAH_OK;
}

/* One step and F with the change of coordinates it brings, by (D 3.4). */
static bramah_status step_paper(bramah_observability *o, bramah_diag *diag)
{
  const bramah_plant *plant = &o->plant;
  const double h = (double)plant->step_ns * 1e-9;
  bramah_status status = bramah_plant_acceleration_jacobian(plant, o->A, o->row_snap, o->dx, o->zdd, diag);
  if (status != BRAMAH_OK) return status;
  bramah__paper_transition(plant->n_dof, plant->n_first_order, h, o->A, o->Fp);
  return plant->step(plant->self, diag);
}

/* Where the plant comes out from its state displaced by dx in state k; 0 if it cannot or changes its
 * coordinates. */
static int displaced_step(bramah_observability *o, size_t k, double dx, double *x)
{
  const bramah_plant *plant = &o->plant;
  plant->restore(plant->self, o->start);
  memset(o->dx, 0, o->np * sizeof(double));
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
  for (size_t k = 0; k < o->np && good; k++) {
    const double d = 0.01 * o->sigma[k];
    good = displaced_step(o, k, d, o->side[0]) && displaced_step(o, k, -d, o->side[1]);
    if (good) bramah_plant_subtract(plant, o->side[0], o->side[1], o->side[0]);
    for (size_t i = 0; i < o->np && good; i++) o->Fp[i * o->np + k] = o->side[0][i] / (2.0 * d);
  }
  plant->restore(plant->self, o->start);
  return good;
}

/* F of all states from that of the plant: augmented ones act on it and fade by themselves. */
static void augment_transition(bramah_observability *o)
{
  const size_t n = o->n, np = o->np;
  const double h = (double)o->plant.step_ns * 1e-9;
  memset(o->F, 0, n * n * sizeof(double));
  for (size_t r = 0; r < np; r++) memcpy(o->F + r * n, o->Fp + r * np, np * sizeof(double));
  for (size_t k = 0; k < n - np; k++) {
    const bramah_augmented *a = &o->augmented[k];
    o->F[(np + k) * n + np + k] = a->time_constant > 0.0 ? exp(-h / a->time_constant) : 1.0;
    if (a->kind == BRAMAH_AUGMENTED_BIAS) continue;
    for (size_t r = 0; r < np; r++) o->F[r * n + np + k] = o->Gp[r * o->n_par + o->target[k]];
  }
}

/* The same for a change of coordinates, which leaves augmented states alone. */
static void augment_change(bramah_observability *o)
{
  const size_t n = o->n, np = o->np;
  memset(o->F, 0, n * n * sizeof(double));
  for (size_t r = 0; r < np; r++) memcpy(o->F + r * n, o->Fp + r * np, np * sizeof(double));
  for (size_t k = np; k < n; k++) o->F[k * n + k] = 1.0;
}

static bramah_status step(bramah_observability *o, bramah_diag *diag)
{
  const bramah_plant *plant = &o->plant;
  bramah_status status;
  if (plant->step_transition)
    status = plant->step_transition(plant->self, o->Fp, NULL, o->n_par, o->par, o->Gp, diag);
  else if (differences(o))
    status = plant->step(plant->self, diag);
  else
    status = step_paper(o, diag);
  if (status != BRAMAH_OK) return status;
  augment_transition(o);
  bramah_observability_advance(o, o->F);
  if (plant->basis_change && plant->basis_change(plant->self, o->Fp)) {
    augment_change(o);
    bramah_observability_advance(o, o->F);
  }
  return BRAMAH_OK;
}

bramah_status bramah_observability_run(bramah_observability *o, const double *sigma, bramah_diag *diag)
{
  const bramah_plant *plant = &o->plant;
  const size_t steps = steps_of(o);
  bramah_status status = bramah_observability_begin(o, sigma, diag);
  if (status != BRAMAH_OK) return status;
  plant->save(plant->self, o->begin);
  for (size_t k = 0; k <= steps && status == BRAMAH_OK; k++) {
    if (k) status = step(o, diag);
    if (status == BRAMAH_OK) status = observe_all(o, k, diag);
  }
  plant->restore(plant->self, o->begin);
  if (status == BRAMAH_OK) status = bramah_observability_analyse(o, diag);
  o->result.horizon = (double)steps * (double)plant->step_ns * 1e-9;
  return status;
}

/* ---- results ---- */

bramah_observability_result bramah_observability_report(const bramah_observability *o) { return o->result; }
const double *bramah_observability_eigenvalues(const bramah_observability *o) { return o->w; }

static const double named = 0.1;

/* Append text to out [size] at *used. */
static void append(char *out, size_t size, size_t *used, const char *text)
{
  while (*text && *used + 1 < size) out[(*used)++] = *text++;
  if (size) out[*used] = '\0';
}

size_t bramah_observability_names(const bramah_observability *o, char *out, size_t size)
{
  size_t count = 0, used = 0;
  append(out, size, &used, "");
  for (size_t i = 0; i < o->n; i++) {
    if (o->share[i] < named) continue;
    if (count++) append(out, size, &used, ", ");
    append(out, size, &used, name_of(o, i));
  }
  return count;
}

/* ---- the posterior Cramer-Rao bound ---- */

struct bramah_pcrb {
  size_t n;
  double *P, *before, *work; /* [n x n] */
  double *dx, *fuse_work;    /* [n], [2 n] */
};

static bramah_pcrb *layout_bound(size_t n, bramah__arena *arena)
{
  bramah_pcrb *object = BRAMAH__TAKE(arena, bramah_pcrb, 1), counted = {0};
  bramah_pcrb *b = object ? object : &counted;
  b->n = n;
  b->P = BRAMAH__TAKE(arena, double, n *n);
  b->before = BRAMAH__TAKE(arena, double, n *n);
  b->work = BRAMAH__TAKE(arena, double, n *n);
  b->dx = BRAMAH__TAKE(arena, double, n);
  b->fuse_work = BRAMAH__TAKE(arena, double, 2 * n);
  return object;
}

/* Variances positive and finite, or P as it was. */
static bramah_status check_bound(bramah_pcrb *b, bramah_diag *diag)
{
  const size_t bad = bramah__bad_variance(b->n, b->P);
  if (bad == b->n) return BRAMAH_OK;
  const int finite = isfinite(b->P[bad * b->n + bad]);
  memcpy(b->P, b->before, b->n * b->n * sizeof(double));
  return bramah__fail(diag, finite ? BRAMAH_E_NOT_SPD : BRAMAH_E_NOT_FINITE, "bound",
                      finite ? "a variance is not positive" : "a variance is not finite");
}

bramah_status bramah_pcrb_new(size_t n, const double *P0, bramah_diag *diag, bramah_pcrb **out)
{
  bramah__arena arena = bramah__arena_make(NULL, 0);
  layout_bound(n, &arena);
  const size_t size = arena.used;
  void *mem = bramah__aligned_new(size);
  if (!mem) return bramah__fail(diag, BRAMAH_E_MEMORY, "bound", "out of memory");
  arena = bramah__arena_make(mem, size);
  bramah_pcrb *b = layout_bound(n, &arena);
  memcpy(b->P, P0, n * n * sizeof *P0);
  const bramah_status status = check_bound(b, diag);
  if (status == BRAMAH_OK)
    *out = b;
  else
    bramah__aligned_free(mem);
  return status;
}

void bramah_pcrb_free(bramah_pcrb *pcrb) { bramah__aligned_free(pcrb); }

bramah_status bramah_pcrb_step(bramah_pcrb *pcrb, const double *F, const double *Q, bramah_diag *diag)
{
  const size_t n = pcrb->n;
  memcpy(pcrb->before, pcrb->P, n * n * sizeof(double));
  bramah__propagate(n, F, pcrb->P, pcrb->work);
  for (size_t i = 0; Q && i < n * n; i++) pcrb->P[i] += Q[i];
  return check_bound(pcrb, diag);
}

bramah_status bramah_pcrb_measure(bramah_pcrb *pcrb, size_t m, const double *H, const double *sigma,
                                  bramah_diag *diag)
{
  const size_t n = pcrb->n;
  for (size_t i = 0; i < m; i++)
    if (!(sigma[i] > 0.0) || !isfinite(sigma[i]))
      return bramah__fail(diag, BRAMAH_E_VALUE, "bound", "a sensor's standard deviation must be positive");
  memcpy(pcrb->before, pcrb->P, n * n * sizeof(double));
  memset(pcrb->dx, 0, n * sizeof(double));
  for (size_t i = 0; i < m; i++) {
    if (bramah__fuse_scalar(n, H + i * n, 0.0, sigma[i] * sigma[i], pcrb->P, pcrb->dx, pcrb->fuse_work) == 0)
      continue;
    memcpy(pcrb->P, pcrb->before, n * n * sizeof(double));
    return bramah__fail(diag, BRAMAH_E_NOT_SPD, "bound", "the variance of a prediction is not positive");
  }
  return check_bound(pcrb, diag);
}

const double *bramah_pcrb_covariance(const bramah_pcrb *pcrb) { return pcrb->P; }

double bramah_pcrb_sigma(const bramah_pcrb *pcrb, const double *row)
{
  return sqrt(bramah__variance(pcrb->n, row, pcrb->P));
}
