/* SPDX-License-Identifier: MIT */
/* The error-state extended Kalman filter. It knows its plant by the plant interface alone. */
#include "bramah/filter.h"
#include "estimators/transition.h"
#include "estimators/update.h"
#include "lib/base/arena.h"
#include "lib/base/diag.h"
#include "lib/linalg/dense.h"

#include <math.h>
#include <string.h>

/* Memory:
 *   | filter | sensors | innovations | P | F | A | work | H | dx | noise figures | basis | snapshots of the plant | */
struct bramah_filter {
  bramah_plant plant;
  size_t n, nf, np;
  size_t n_sensors;
  bramah_sensor *sensor;
  bramah_innovation *innovation;
  double *P;                     /* [n x n] covariance of the error state */
  double *P_before;              /* [n x n] to go back to on error */
  double *F, *work;              /* [n x n] */
  double *A;                     /* [nf x n] derivative of the accelerations */
  double *T;                     /* [n x n] */
  double *H;                     /* [n_sensors x n] */
  double *dx, *term;             /* [n] */
  double *dx_scratch;            /* [n] */
  double *fuse_work;             /* [2 n] */
  double *zdd;                   /* [2 nf] */
  double *acceleration_variance; /* [nf] densities in the basis */
  double *pressure_variance;     /* [np] densities */
  double *B, *B_inverse, *G; /* [nf x nf] basis by the independent coordinates, its inverse, density of z'' */
  int *pivot;                /* [nf] */
  size_t *basis;             /* [nf] outputs */
  void *snap;                /* plant before the present call */
  void *row_snap;            /* scratch of finite-difference rows */
  double nis;
  size_t nis_dof;
  int64_t time_ns;
  int own_memory;
};

static bramah_filter *layout(const bramah_plant *plant, size_t n_sensors, bramah__arena *arena)
{
  const size_t nf = plant->n_position, np = plant->n_pressure, n = 2 * nf + np;
  bramah_filter *object = BRAMAH__TAKE(arena, bramah_filter, 1), counted = {0};
  bramah_filter *f = object ? object : &counted;
  f->plant = *plant;
  f->n = n;
  f->nf = nf;
  f->np = np;
  f->n_sensors = n_sensors;
  f->sensor = BRAMAH__TAKE(arena, bramah_sensor, n_sensors);
  f->innovation = BRAMAH__TAKE(arena, bramah_innovation, n_sensors);
  f->P = BRAMAH__TAKE(arena, double, n *n);
  f->P_before = BRAMAH__TAKE(arena, double, n *n);
  f->F = BRAMAH__TAKE(arena, double, n *n);
  f->work = BRAMAH__TAKE(arena, double, n *n);
  f->A = BRAMAH__TAKE(arena, double, nf *n);
  f->T = BRAMAH__TAKE(arena, double, n *n);
  f->H = BRAMAH__TAKE(arena, double, n_sensors *n);
  f->dx = BRAMAH__TAKE(arena, double, n);
  f->term = BRAMAH__TAKE(arena, double, n);
  f->dx_scratch = BRAMAH__TAKE(arena, double, n);
  f->fuse_work = BRAMAH__TAKE(arena, double, 2 * n);
  f->zdd = BRAMAH__TAKE(arena, double, 2 * nf);
  f->acceleration_variance = BRAMAH__TAKE(arena, double, nf);
  f->pressure_variance = BRAMAH__TAKE(arena, double, np);
  f->B = BRAMAH__TAKE(arena, double, nf *nf);
  f->B_inverse = BRAMAH__TAKE(arena, double, nf *nf);
  f->G = BRAMAH__TAKE(arena, double, nf *nf);
  f->pivot = BRAMAH__TAKE(arena, int, nf);
  f->basis = BRAMAH__TAKE(arena, size_t, nf);
  f->snap = bramah__arena_take(arena, plant->snapshot_size, 1);
  f->row_snap = bramah__arena_take(arena, plant->snapshot_size, 1);
  return object;
}

size_t bramah_filter_size(const bramah_plant *plant, size_t n_sensors)
{
  bramah__arena arena = bramah__arena_make(NULL, 0);
  layout(plant, n_sensors, &arena);
  return arena.used;
}

/* ---- the coordinates in which the user states uncertainty ---- */

/* Row of output i by the error state into f->term. */
static bramah_status row_of(bramah_filter *f, size_t i, bramah_diag *diag)
{
  return bramah_plant_output_row(&f->plant, i, f->term, f->row_snap, f->dx_scratch, diag);
}

/* The same for the meaning of its standard deviation. */
static bramah_status noise_row_of(bramah_filter *f, size_t i, bramah_diag *diag)
{
  if (f->plant.noise_row) {
    const bramah_status own = f->plant.noise_row(f->plant.self, i, f->term);
    if (own != BRAMAH_E_UNSUPPORTED) return own;
  }
  return row_of(f, i, diag);
}

/* B = d(basis)/d(independent positions) and its inverse. */
static bramah_status refresh_basis(bramah_filter *f, bramah_diag *diag)
{
  const size_t nf = f->nf;
  for (size_t r = 0; r < nf; r++) {
    const bramah_status status = noise_row_of(f, f->basis[r], diag);
    if (status != BRAMAH_OK) return status;
    memcpy(f->B + r * nf, f->term, nf * sizeof(double));
  }
  memcpy(f->work, f->B, nf * nf * sizeof(double));
  if (bramah__lu_factor(nf, f->work, f->pivot))
    return bramah__fail(diag, BRAMAH_E_SINGULAR, "basis",
                        "the coordinates in which the noise is given do not determine the motion here");
  for (size_t k = 0; k < nf; k++) {
    double *column = f->zdd;
    for (size_t r = 0; r < nf; r++) column[r] = r == k ? 1.0 : 0.0;
    bramah__lu_solve(nf, f->work, f->pivot, column);
    for (size_t r = 0; r < nf; r++) f->B_inverse[r * nf + k] = column[r];
  }
  return BRAMAH_OK;
}

/* out [nf x nf] = B^-1 diag(variance) B^-T */
static void from_basis(const bramah_filter *f, const double *variance, double *out)
{
  const size_t nf = f->nf;
  for (size_t r = 0; r < nf; r++)
    for (size_t k = 0; k < nf; k++) {
      double sum = 0.0;
      for (size_t b = 0; b < nf; b++)
        sum += f->B_inverse[r * nf + b] * variance[b] * f->B_inverse[k * nf + b];
      out[r * nf + k] = sum;
    }
}

/* The basis asked for, or the coordinates that are independent now, by their names. */
static bramah_status take_basis(bramah_filter *f, const size_t *basis, bramah_diag *diag)
{
  for (size_t r = 0; r < f->nf; r++) {
    const char *name = f->plant.state_name(f->plant.self, r);
    const long own = basis ? (long)basis[r] : bramah_plant_find_output(&f->plant, name);
    if (own < 0 || (size_t)own + 1 >= f->plant.n_output)
      return bramah__fail(diag, BRAMAH_E_REFERENCE, name,
                          "the plant has no position output of this name followed by its rate");
    bramah_output_info position, rate;
    f->plant.output_info(f->plant.self, (size_t)own, &position);
    f->plant.output_info(f->plant.self, (size_t)own + 1, &rate);
    if (position.kind != BRAMAH_OUTPUT_POSITION || rate.kind != BRAMAH_OUTPUT_RATE)
      return bramah__fail(diag, BRAMAH_E_VALUE, position.name,
                          "the basis must name positions that are followed by their rates");
    f->basis[r] = (size_t)own;
  }
  return refresh_basis(f, diag);
}

/* ---- initial covariance and noise ---- */

static bramah_status check_sigma(const bramah_filter *f, size_t state, double sigma, int zero_allowed,
                                 const char *what, bramah_diag *diag)
{
  if (isfinite(sigma) && (sigma > 0.0 || (zero_allowed && sigma == 0.0))) return BRAMAH_OK;
  bramah__fail(diag, BRAMAH_E_VALUE, f->plant.state_name(f->plant.self, state), what);
  bramah__add_text(diag, zero_allowed ? " must not be negative" : " must be positive");
  return BRAMAH_E_VALUE;
}

static bramah_status check_options(const bramah_filter *f, const bramah_filter_options *o, bramah_diag *diag)
{
  bramah_status status = BRAMAH_OK;
  if (o->transition != BRAMAH_TRANSITION_PAPER)
    return bramah__fail(diag, BRAMAH_E_VALUE, "transition", "this transition Jacobian is unknown");
  for (size_t i = 0; i < f->nf && status == BRAMAH_OK; i++) {
    status =
        check_sigma(f, i, o->position_sigma[i], 0, "the initial standard deviation of the position", diag);
    if (status == BRAMAH_OK)
      status = check_sigma(f, f->nf + i, o->velocity_sigma[i], 0,
                           "the initial standard deviation of the rate", diag);
    if (status == BRAMAH_OK)
      status = check_sigma(f, f->nf + i, o->acceleration_noise[i], 1, "the acceleration noise", diag);
  }
  for (size_t i = 0; i < f->np && status == BRAMAH_OK; i++) {
    status = check_sigma(f, 2 * f->nf + i, o->pressure_sigma[i], 0,
                         "the initial standard deviation of the pressure", diag);
    if (status == BRAMAH_OK)
      status = check_sigma(f, 2 * f->nf + i, o->pressure_noise[i], 1, "the pressure noise", diag);
  }
  return status;
}

static double square(double x) { return x * x; }

static void start_covariance(bramah_filter *f, const bramah_filter_options *o)
{
  const size_t n = f->n, nf = f->nf;
  const double *sigma[2] = {o->position_sigma, o->velocity_sigma};
  memset(f->P, 0, n * n * sizeof(double));
  for (size_t block = 0; block < 2; block++) {
    for (size_t i = 0; i < nf; i++) f->zdd[i] = square(sigma[block][i]);
    from_basis(f, f->zdd, f->G);
    for (size_t r = 0; r < nf; r++)
      for (size_t k = 0; k < nf; k++) f->P[(block * nf + r) * n + block * nf + k] = f->G[r * nf + k];
  }
  for (size_t i = 2 * nf; i < n; i++) f->P[i * n + i] = square(o->pressure_sigma[i - 2 * nf]);
}

/* Plant noise of one step (D 3.18), the acceleration density carried from the basis to the independent
 * coordinates. */
static void add_noise(bramah_filter *f)
{
  const size_t n = f->n, nf = f->nf;
  const double h = (double)f->plant.step_ns * 1e-9, h2 = h * h / 2.0, h3 = h * h * h / 3.0;
  from_basis(f, f->acceleration_variance, f->G);
  for (size_t r = 0; r < nf; r++)
    for (size_t k = 0; k < nf; k++) {
      const double g = f->G[r * nf + k];
      f->P[r * n + k] += g * h3;
      f->P[r * n + nf + k] += g * h2;
      f->P[(nf + r) * n + k] += g * h2;
      f->P[(nf + r) * n + nf + k] += g * h;
    }
  for (size_t i = 2 * nf; i < n; i++) f->P[i * n + i] += f->pressure_variance[i - 2 * nf] * h;
}

/* ---- making and releasing ---- */

static bramah_status start(bramah_filter *f, const bramah_sensor *sensors,
                           const bramah_filter_options *options, bramah_diag *diag)
{
  memcpy(f->sensor, sensors, f->n_sensors * sizeof *sensors);
  bramah_status status = check_options(f, options, diag);
  if (status == BRAMAH_OK) status = take_basis(f, options->basis, diag);
  if (status != BRAMAH_OK) return status;
  for (size_t i = 0; i < f->nf; i++) f->acceleration_variance[i] = square(options->acceleration_noise[i]);
  for (size_t i = 0; i < f->np; i++) f->pressure_variance[i] = square(options->pressure_noise[i]);
  start_covariance(f, options);
  return BRAMAH_OK;
}

bramah_status bramah_filter_init(const bramah_plant *plant, size_t n_sensors, const bramah_sensor *sensors,
                                 const bramah_filter_options *options, void *mem, size_t size,
                                 bramah_diag *diag, bramah_filter **out)
{
  if ((uintptr_t)mem % BRAMAH__ALIGN)
    return bramah__fail(diag, BRAMAH_E_ARGUMENT, "filter", "memory is not aligned to 64 bytes");
  bramah__arena arena = bramah__arena_make(mem, size);
  bramah_filter *f = mem ? layout(plant, n_sensors, &arena) : NULL;
  if (!f || arena.overflow) return bramah__fail(diag, BRAMAH_E_ARGUMENT, "filter", "memory is too small");
  const bramah_status status = start(f, sensors, options, diag);
  if (status == BRAMAH_OK) *out = f;
  return status;
}

bramah_status bramah_filter_new(const bramah_plant *plant, size_t n_sensors, const bramah_sensor *sensors,
                                const bramah_filter_options *options, bramah_diag *diag, bramah_filter **out)
{
  const size_t size = bramah_filter_size(plant, n_sensors);
  void *mem = bramah__aligned_new(size);
  if (!mem) return bramah__fail(diag, BRAMAH_E_MEMORY, "filter", "out of memory");
  const bramah_status status = bramah_filter_init(plant, n_sensors, sensors, options, mem, size, diag, out);
  if (status == BRAMAH_OK)
    (*out)->own_memory = 1;
  else
    bramah__aligned_free(mem);
  return status;
}

void bramah_filter_free(bramah_filter *filter)
{
  if (filter && filter->own_memory) bramah__aligned_free(filter);
}

/* ---- one cycle ---- */

bramah_status bramah_filter_set_inputs(bramah_filter *filter, const double *u, bramah_diag *diag)
{
  return filter->plant.set_inputs(filter->plant.self, u, diag);
}

static void keep(bramah_filter *f)
{
  memcpy(f->P_before, f->P, f->n * f->n * sizeof(double));
  f->plant.save(f->plant.self, f->snap);
}

static bramah_status go_back(bramah_filter *f, bramah_status status)
{
  memcpy(f->P, f->P_before, f->n * f->n * sizeof(double));
  f->plant.restore(f->plant.self, f->snap);
  return status;
}

static bramah_status check_covariance(const bramah_filter *f, bramah_diag *diag)
{
  const size_t bad = bramah__bad_variance(f->n, f->P);
  if (bad == f->n) return BRAMAH_OK;
  const int finite = isfinite(f->P[bad * f->n + bad]);
  return bramah__fail(diag, finite ? BRAMAH_E_NOT_SPD : BRAMAH_E_NOT_FINITE,
                      f->plant.state_name(f->plant.self, bad),
                      finite ? "the variance of this state is no longer positive"
                             : "the variance of this state is not finite");
}

/* The plant now has other independent coordinates: P = T P T'. */
static void follow_basis_change(bramah_filter *f)
{
  if (!f->plant.basis_change || !f->plant.basis_change(f->plant.self, f->T)) return;
  bramah__propagate(f->n, f->T, f->P, f->work);
  bramah__multiply(f->n, f->n, f->n, f->T, f->F, f->work);
  memcpy(f->F, f->work, f->n * f->n * sizeof(double));
}

static bramah_status advance(bramah_filter *f, bramah_diag *diag)
{
  const double h = (double)f->plant.step_ns * 1e-9;
  bramah_status status =
      bramah_plant_acceleration_jacobian(&f->plant, f->A, f->row_snap, f->dx_scratch, f->zdd, diag);
  if (status == BRAMAH_OK) status = refresh_basis(f, diag);
  if (status != BRAMAH_OK) return status;
  bramah__transition_paper(f->nf, f->np, h, f->A, f->F);
  status = f->plant.step(f->plant.self, diag);
  if (status != BRAMAH_OK) return status;
  bramah__propagate(f->n, f->F, f->P, f->work);
  add_noise(f);
  follow_basis_change(f);
  return check_covariance(f, diag);
}

bramah_status bramah_filter_predict(bramah_filter *filter, bramah_diag *diag)
{
  keep(filter);
  const bramah_status status = advance(filter, diag);
  if (status != BRAMAH_OK) return go_back(filter, status);
  filter->time_ns += filter->plant.step_ns;
  return BRAMAH_OK;
}

/* Prediction, innovation and its variance for one sensor, all before any correction of this time. */
static bramah_status innovate(bramah_filter *f, size_t i, double y, bramah_diag *diag)
{
  const bramah_sensor *sensor = &f->sensor[i];
  bramah_innovation *out = &f->innovation[i];
  if (!isfinite(y))
    return bramah__fail(diag, BRAMAH_E_NOT_FINITE, sensor->name, "the measurement is not a finite number");
  double *H = f->H + i * f->n;
  const bramah_status status =
      bramah_sensor_row(sensor, &f->plant, H, f->term, f->row_snap, f->dx_scratch, diag);
  if (status != BRAMAH_OK) return status;
  const double S = bramah__variance(f->n, H, f->P) + square(sensor->sigma);
  out->innovation = bramah_sensor_innovation(sensor, y, bramah_sensor_predict(sensor, &f->plant));
  out->sigma = sqrt(S);
  out->nis = square(out->innovation) / S;
  if (!(S > 0.0) || !isfinite(out->nis))
    return bramah__fail(diag, BRAMAH_E_NOT_SPD, sensor->name,
                        "the variance of the innovation is not positive and finite");
  out->present = 1;
  return BRAMAH_OK;
}

/* Fuse sensor i; its share of y' S^-1 y is the square of the innovation that is left after the sensors before
 * it. */
static bramah_status fuse(bramah_filter *f, size_t i, bramah_diag *diag)
{
  const double *H = f->H + i * f->n, r = square(f->sensor[i].sigma);
  double rest = f->innovation[i].innovation;
  for (size_t k = 0; k < f->n; k++) rest -= H[k] * f->dx[k];
  f->nis += square(rest) / (bramah__variance(f->n, H, f->P) + r);
  f->nis_dof++;
  if (bramah__fuse_scalar(f->n, H, f->innovation[i].innovation, r, f->P, f->dx, f->fuse_work))
    return bramah__fail(diag, BRAMAH_E_NOT_SPD, f->sensor[i].name,
                        "the variance of the innovation is not positive");
  return BRAMAH_OK;
}

static bramah_status correct(bramah_filter *f, const double *y, const unsigned char *present,
                             bramah_diag *diag)
{
  bramah_status status = BRAMAH_OK;
  for (size_t i = 0; i < f->n_sensors && status == BRAMAH_OK; i++)
    if (present[i]) status = innovate(f, i, y[i], diag);
  for (size_t i = 0; i < f->n_sensors && status == BRAMAH_OK; i++)
    if (present[i]) status = fuse(f, i, diag);
  if (status == BRAMAH_OK) status = check_covariance(f, diag);
  return status == BRAMAH_OK ? f->plant.inject(f->plant.self, f->dx, diag) : status;
}

static void clear_innovations(bramah_filter *f)
{
  for (size_t i = 0; i < f->n_sensors; i++) f->innovation[i] = (bramah_innovation){0, NAN, NAN, NAN};
  for (size_t k = 0; k < f->n; k++) f->dx[k] = 0.0;
  f->nis = 0.0;
  f->nis_dof = 0;
}

bramah_status bramah_filter_correct(bramah_filter *filter, const double *y, const unsigned char *present,
                                    bramah_diag *diag)
{
  int any = 0;
  for (size_t i = 0; i < filter->n_sensors; i++) any |= present[i];
  clear_innovations(filter);
  if (!any) return BRAMAH_OK;
  keep(filter);
  const bramah_status status = correct(filter, y, present, diag);
  if (status == BRAMAH_OK) return status;
  clear_innovations(filter);
  return go_back(filter, status);
}

/* ---- results ---- */

const bramah_innovation *bramah_filter_innovations(const bramah_filter *filter) { return filter->innovation; }

double bramah_filter_nis(const bramah_filter *filter, size_t *degrees_of_freedom)
{
  if (degrees_of_freedom) *degrees_of_freedom = filter->nis_dof;
  return filter->nis;
}

size_t bramah_filter_n_error(const bramah_filter *filter) { return filter->n; }
const double *bramah_filter_last_transition(const bramah_filter *filter) { return filter->F; }
const double *bramah_filter_last_rows(const bramah_filter *filter) { return filter->H; }
const double *bramah_filter_last_correction(const bramah_filter *filter) { return filter->dx; }
const double *bramah_filter_covariance(const bramah_filter *filter) { return filter->P; }

double bramah_filter_output_sigma(bramah_filter *filter, size_t i)
{
  bramah_output_info info;
  filter->plant.output_info(filter->plant.self, i, &info);
  if (!info.has_row || row_of(filter, i, NULL) != BRAMAH_OK) return NAN;
  return sqrt(bramah__variance(filter->n, filter->term, filter->P));
}

int64_t bramah_filter_time_ns(const bramah_filter *filter) { return filter->time_ns; }
const bramah_plant *bramah_filter_plant(const bramah_filter *filter) { return &filter->plant; }
size_t bramah_filter_n_sensors(const bramah_filter *filter) { return filter->n_sensors; }

const bramah_sensor *bramah_filter_sensor(const bramah_filter *filter, size_t i)
{
  return i < filter->n_sensors ? &filter->sensor[i] : NULL;
}

/* Snapshot: | time | P | plant | */
size_t bramah_filter_snapshot_size(const bramah_filter *filter)
{
  return sizeof(int64_t) + filter->n * filter->n * sizeof(double) + filter->plant.snapshot_size;
}

void bramah_filter_save(const bramah_filter *filter, void *snap)
{
  unsigned char *out = snap;
  const size_t p = filter->n * filter->n * sizeof(double);
  memcpy(out, &filter->time_ns, sizeof filter->time_ns);
  memcpy(out + sizeof filter->time_ns, filter->P, p);
  filter->plant.save(filter->plant.self, out + sizeof filter->time_ns + p);
}

void bramah_filter_restore(bramah_filter *filter, const void *snap)
{
  const unsigned char *in = snap;
  const size_t p = filter->n * filter->n * sizeof(double);
  memcpy(&filter->time_ns, in, sizeof filter->time_ns);
  memcpy(filter->P, in + sizeof filter->time_ns, p);
  filter->plant.restore(filter->plant.self, in + sizeof filter->time_ns + p);
  clear_innovations(filter);
}
