/* SPDX-License-Identifier: MIT */
/* The error-state extended Kalman filter: its memory, its start and what it can be asked. It knows its plant
 * by the plant interface alone. Prediction and correction have files of their own. */
#include "estimators/filter_internal.h"
#include "estimators/update.h"
#include "lib/base/diag.h"
#include "lib/math/dense.h"

#include <math.h>
#include <string.h>

enum { PATIENCE = 25 };

static void take_sizes(bramah_filter *f, const bramah_plant *plant, size_t n_sensors,
                       const bramah_filter_options *o)
{
  f->plant = bramah_plant_copy(plant);
  f->nf = plant->n_dof;
  f->np = plant->n_first_order;
  f->ne = 2 * f->nf + f->np;
  f->n = f->ne + bramah__augmented_states(o);
  f->n_sensors = n_sensors;
  f->n_augmented = o->n_augmented;
  f->n_par_noise = o->n_parameter_noise;
  f->nq = 2 * f->nf + f->np + (f->n - f->ne) + f->n_par_noise;
}

static void layout_matrices(bramah_filter *f, size_t n_par, bramah__arena *arena)
{
  const size_t n = f->n, ne = f->ne, nf = f->nf, np = f->np;
  f->P = BRAMAH__TAKE(arena, double, n *n);
  f->S = BRAMAH__TAKE(arena, double, n *n);
  f->P_initial = BRAMAH__TAKE(arena, double, n *n);
  f->F = BRAMAH__TAKE(arena, double, n *n);
  f->work = BRAMAH__TAKE(arena, double, n *(n + f->nq));
  f->work2 = BRAMAH__TAKE(arena, double, n *n);
  f->Gamma = BRAMAH__TAKE(arena, double, n * f->nq);
  f->F_spare = BRAMAH__TAKE(arena, double, n *n);
  f->Gamma_spare = BRAMAH__TAKE(arena, double, n * f->nq);
  f->Fe = BRAMAH__TAKE(arena, double, ne *ne);
  f->N = BRAMAH__TAKE(arena, double, ne *(nf + np));
  f->G = BRAMAH__TAKE(arena, double, ne *n_par);
  f->A = BRAMAH__TAKE(arena, double, nf *ne);
  f->Ap = BRAMAH__TAKE(arena, double, nf *n_par);
  f->T = BRAMAH__TAKE(arena, double, ne *ne);
  f->H = BRAMAH__TAKE(arena, double, f->n_sensors *n);
  f->H_beside = BRAMAH__TAKE(arena, double, f->n_sensors *n);
}

static void layout_vectors(bramah_filter *f, size_t n_par, bramah__arena *arena)
{
  const size_t n = f->n, ns = f->n_sensors;
  f->sensor = BRAMAH__TAKE(arena, bramah_sensor, ns);
  f->innovation = BRAMAH__TAKE(arena, bramah_innovation, ns);
  f->gate = BRAMAH__TAKE(arena, double, ns);
  f->reject = BRAMAH__TAKE(arena, uint32_t, ns);
  f->y = BRAMAH__TAKE(arena, double, ns);
  f->r = BRAMAH__TAKE(arena, double, ns);
  f->beside = BRAMAH__TAKE(arena, bramah__beside, ns);
  f->augmented = BRAMAH__TAKE(arena, bramah_augmented, f->n_augmented);
  f->own = BRAMAH__TAKE(arena, bramah__augmented, f->n_augmented);
  f->mean = BRAMAH__TAKE(arena, double, n - f->ne + ns + n);
  f->shift = f->mean ? f->mean + (n - f->ne) : NULL;
  f->drift = f->mean ? f->shift + n : NULL;
  f->par = BRAMAH__TAKE(arena, size_t, n_par);
  f->par_step = BRAMAH__TAKE(arena, double, n_par);
  f->par_noise = BRAMAH__TAKE(arena, double, f->n_par_noise);
  f->dx = BRAMAH__TAKE(arena, double, n);
  f->term = BRAMAH__TAKE(arena, double, n);
  f->dx_scratch = BRAMAH__TAKE(arena, double, n);
  f->fuse_work = BRAMAH__TAKE(arena, double, 2 * n);
  f->block_work = BRAMAH__TAKE(arena, double, ns *(n + 2) + bramah__fuse_block_work(n, ns));
  f->zdd = BRAMAH__TAKE(arena, double, 2 * f->nf);
  f->coordinates = BRAMAH__TAKE(arena, double, 2 * f->ne);
}

static bramah_filter *layout(const bramah_plant *plant, size_t n_sensors, const bramah_filter_options *o,
                             bramah__arena *arena)
{
  bramah_filter *object = BRAMAH__TAKE(arena, bramah_filter, 1), counted = {0};
  bramah_filter *f = object ? object : &counted;
  const size_t n_par = o->n_augmented + o->n_parameter_noise;
  take_sizes(f, plant, n_sensors, o);
  f->square_root = o->form == BRAMAH_COVARIANCE_SQUARE_ROOT;
  layout_matrices(f, n_par, arena);
  layout_vectors(f, n_par, arena);
  bramah__stated_noise_layout(plant, arena, &f->stated);
  f->before = bramah__arena_take(arena, bramah__own_size(f), 1);
  f->opened = bramah__arena_take(arena, bramah__own_size(f), o->iterations > 1);
  f->last = bramah__arena_take(arena, bramah__own_size(f), 1);
  f->older = bramah__arena_take(arena, bramah__own_size(f), 1);
  f->cycle = bramah__arena_take(arena, bramah__own_size(f), 1);
  f->offset_ns = BRAMAH__TAKE(arena, int64_t, n_sensors);
  f->snap = bramah__arena_take(arena, plant->snapshot_size, 1);
  f->row_snap = bramah__arena_take(arena, plant->snapshot_size, 1);
  return object;
}

size_t bramah_filter_size(const bramah_plant *plant, size_t n_sensors, const bramah_filter_options *options)
{
  bramah__arena arena = bramah__arena_make(NULL, 0);
  layout(plant, n_sensors, options, &arena);
  return arena.used;
}

/* ---- options ---- */

void bramah_filter_options_default(bramah_filter_options *options)
{
  *options = (bramah_filter_options){.transition = BRAMAH_TRANSITION_PAPER, .patience = PATIENCE};
}

static bramah_status check_words(const bramah_filter_options *o, bramah_diag *diag)
{
  if (o->transition < BRAMAH_TRANSITION_PAPER || o->transition > BRAMAH_TRANSITION_STEP)
    return bramah__fail(diag, BRAMAH_E_VALUE, "transition", "this transition Jacobian is unknown");
  if ((int)o->discretisation < 0 || o->discretisation > BRAMAH_DISCRETISATION_RESOLVENT)
    return bramah__fail(diag, BRAMAH_E_VALUE, "discretisation",
                        "this discretisation of the noise is unknown");
  if ((int)o->form < 0 || o->form > BRAMAH_COVARIANCE_SQUARE_ROOT)
    return bramah__fail(diag, BRAMAH_E_VALUE, "form", "this form of the covariance is unknown");
  if ((int)o->fusion < 0 || o->fusion > BRAMAH_FUSION_BLOCK)
    return bramah__fail(diag, BRAMAH_E_VALUE, "fusion", "this way of fusion is unknown");
  if (!(o->drift_gate >= 0.0) || !isfinite(o->drift_gate))
    return bramah__fail(diag, BRAMAH_E_VALUE, "drift_gate", "the gate must not be negative");
  if (o->iterations < 0 || o->iterations > 100)
    return bramah__fail(diag, BRAMAH_E_VALUE, "iterations", "the update is iterated 1 to 100 times");
  return BRAMAH_OK;
}

/* What the plant must be able to do for this. */
static bramah_status check_abilities(const bramah_filter *f, const bramah_filter_options *o,
                                     bramah_diag *diag)
{
  const bramah_plant *plant = &f->plant;
  if (o->transition == BRAMAH_TRANSITION_PAPER_EXACT && !plant->acceleration_derivative)
    return bramah__fail(diag, BRAMAH_E_UNSUPPORTED, "transition",
                        "the plant has no analytic derivative of its accelerations");
  if (o->transition == BRAMAH_TRANSITION_PAPER && !plant->accelerations && !plant->acceleration_jacobian)
    return bramah__fail(diag, BRAMAH_E_UNSUPPORTED, "transition",
                        "the plant does not tell its accelerations: take the transition of the step");
  if (o->transition == BRAMAH_TRANSITION_STEP && !plant->step_transition && !f->has_coordinates)
    return bramah__fail(diag, BRAMAH_E_UNSUPPORTED, "transition",
                        "the plant has neither a derivative of its step nor coordinates to differentiate by");
  const int resolvent = o->transition == BRAMAH_TRANSITION_STEP && plant->step_transition;
  if (o->discretisation == BRAMAH_DISCRETISATION_RESOLVENT && !resolvent)
    return bramah__fail(diag, BRAMAH_E_UNSUPPORTED, "discretisation",
                        "the resolvent needs the transition of the step and a plant that has it");
  return BRAMAH_OK;
}

static bramah_status take_options(bramah_filter *f, const bramah_filter_options *o, bramah_diag *diag)
{
  bramah_status status = check_words(o, diag);
  f->has_coordinates = bramah_plant_coordinates(&f->plant, f->coordinates);
  if (status == BRAMAH_OK) status = check_abilities(f, o, diag);
  for (size_t i = 0; i < f->n_sensors && status == BRAMAH_OK && o->gate; i++) {
    if (!(o->gate[i] >= 0.0) || !isfinite(o->gate[i]))
      status = bramah__fail(diag, BRAMAH_E_VALUE, f->sensor[i].name, "the gate must not be negative");
    f->gate[i] = o->gate[i];
  }
  f->transition = o->transition;
  f->resolvent = o->transition == BRAMAH_TRANSITION_STEP && f->plant.step_transition &&
                 o->discretisation != BRAMAH_DISCRETISATION_PUBLISHED;
  f->block = o->fusion == BRAMAH_FUSION_BLOCK;
  f->iterations = o->iterations > 1 ? o->iterations : 1;
  f->drift_gate = o->drift_gate;
  f->patience = o->patience ? o->patience : PATIENCE;
  return status;
}

/* ---- making and releasing ---- */

static bramah_status start(bramah_filter *f, const bramah_sensor *sensors,
                           const bramah_filter_options *options, bramah_diag *diag)
{
  if (f->n_sensors) memcpy(f->sensor, sensors, f->n_sensors * sizeof *sensors);
  bramah_status status = take_options(f, options, diag);
  if (status == BRAMAH_OK) status = bramah__stated_noise_take(&f->plant, options, &f->stated, diag);
  if (status != BRAMAH_OK) return status;
  bramah__stated_noise_covariance(&f->stated, options, f->n, f->P_initial);
  status = bramah__take_augmented(f, options, diag);
  if (status != BRAMAH_OK) return status;
  memcpy(f->P, f->P_initial, f->n * f->n * sizeof(double));
  bramah__clear_correction(f);
  return bramah__refresh_root(f, diag);
}

bramah_status bramah_filter_init(const bramah_plant *plant, size_t n_sensors, const bramah_sensor *sensors,
                                 const bramah_filter_options *options, void *mem, size_t size,
                                 bramah_diag *diag, bramah_filter **out)
{
  const bramah_status fit = bramah_plant_check(plant, diag);
  if (fit != BRAMAH_OK) return fit;
  if ((uintptr_t)mem % BRAMAH__ALIGN)
    return bramah__fail(diag, BRAMAH_E_ARGUMENT, "filter", "memory is not aligned to 64 bytes");
  if (mem && size >= sizeof(bramah_filter) && bramah__is_marked(mem))
    return bramah__fail(diag, BRAMAH_E_ARGUMENT, "filter", "this memory holds a filter: free that one first");
  bramah__arena arena = bramah__arena_make(mem, size);
  bramah_filter *f = mem ? layout(plant, n_sensors, options, &arena) : NULL;
  if (!f || arena.overflow) return bramah__fail(diag, BRAMAH_E_ARGUMENT, "filter", "memory is too small");
  const bramah_status status = start(f, sensors, options, diag);
  if (status != BRAMAH_OK) return status;
  bramah__identify(f);
  f->mark = bramah__mark_of(mem);
  *out = f;
  return BRAMAH_OK;
}

bramah_status bramah_filter_new(const bramah_plant *plant, size_t n_sensors, const bramah_sensor *sensors,
                                const bramah_filter_options *options, bramah_diag *diag, bramah_filter **out)
{
  const bramah_status fit = bramah_plant_check(plant, diag);
  if (fit != BRAMAH_OK) return fit;
  const size_t size = bramah_filter_size(plant, n_sensors, options);
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
  if (!filter) return;
  filter->mark = 0;
  if (filter->own_memory) bramah__aligned_free(filter);
}

bramah_status bramah_filter_set_noise(bramah_filter *filter, const double *acceleration_noise,
                                      const double *pressure_noise, bramah_diag *diag)
{
  return bramah__stated_noise_set(&filter->plant, acceleration_noise, pressure_noise, &filter->stated, diag);
}

bramah_status bramah_filter_set_sensor_sigma(bramah_filter *filter, size_t i, double sigma, bramah_diag *diag)
{
  if (i >= filter->n_sensors)
    return bramah__fail(diag, BRAMAH_E_ARGUMENT, "filter", "there is no sensor of this number");
  if (!(sigma > 0.0) || !isfinite(sigma))
    return bramah__fail(diag, BRAMAH_E_VALUE, filter->sensor[i].name,
                        "the standard deviation must be positive");
  filter->sensor[i].sigma = sigma;
  return BRAMAH_OK;
}

bramah_status bramah_filter_set_inputs(bramah_filter *filter, const double *u, bramah_diag *diag)
{
  return filter->plant.n_input ? filter->plant.set_inputs(filter->plant.self, u, diag) : BRAMAH_OK;
}

/* ---- covariance ---- */

const char *bramah__error_name(const bramah_filter *f, size_t k)
{
  if (k < f->ne) return bramah_plant_state_name(&f->plant, k);
  size_t i = f->n_augmented;
  while (i > 0 && f->own[i - 1].state > k) i--;
  return f->augmented[i - 1].name;
}

bramah_status bramah__check_covariance(const bramah_filter *f, bramah_diag *diag)
{
  const size_t bad = bramah__bad_variance(f->n, f->P);
  if (bad == f->n) return BRAMAH_OK;
  const int finite = isfinite(f->P[bad * f->n + bad]);
  return bramah__fail(diag, finite ? BRAMAH_E_NOT_SPD : BRAMAH_E_NOT_FINITE, bramah__error_name(f, bad),
                      finite ? "the variance of this state is no longer positive"
                             : "the variance of this state is not finite");
}

void bramah__refresh_covariance(bramah_filter *f)
{
  memset(f->P, 0, f->n * f->n * sizeof(double));
  bramah__add_outer(f->n, f->n, f->S, f->P);
}

bramah_status bramah__refresh_root(bramah_filter *f, bramah_diag *diag)
{
  const size_t n = f->n;
  if (!f->square_root) return BRAMAH_OK;
  memcpy(f->S, f->P, n * n * sizeof(double));
  const size_t bad = bramah__cholesky_factor(n, f->S);
  if (bad)
    return bramah__fail(diag, BRAMAH_E_NOT_SPD, bramah__error_name(f, bad - 1),
                        "the covariance is not positive definite");
  for (size_t r = 0; r < n; r++)
    for (size_t k = r + 1; k < n; k++) f->S[r * n + k] = 0.0;
  return BRAMAH_OK;
}

/* ---- results ---- */

size_t bramah_filter_n_error(const bramah_filter *filter) { return filter->n; }
const double *bramah_filter_last_transition(const bramah_filter *filter) { return filter->F; }
const double *bramah_filter_last_rows(const bramah_filter *filter) { return filter->H; }
const double *bramah_filter_last_variances(const bramah_filter *filter) { return filter->r; }
const double *bramah_filter_last_correction(const bramah_filter *filter) { return filter->dx; }
const double *bramah_filter_acceleration_noise(const bramah_filter *filter)
{
  return filter->stated.acceleration;
}
const double *bramah_filter_first_order_noise(const bramah_filter *filter) { return filter->stated.pressure; }
const double *bramah_filter_covariance(const bramah_filter *filter) { return filter->P; }
bramah_filter_report bramah_filter_get_report(const bramah_filter *filter) { return filter->progress.report; }

const double *bramah_filter_last_noise(const bramah_filter *filter, size_t *n_columns)
{
  if (n_columns) *n_columns = filter->nq;
  return filter->Gamma;
}

double bramah_filter_output_sigma(bramah_filter *filter, size_t i)
{
  bramah_output_info info;
  bramah_plant_output_info(&filter->plant, i, &info);
  if (!info.has_row) return NAN;
  memset(filter->term, 0, filter->n * sizeof(double));
  if (bramah_plant_output_row(&filter->plant, i, filter->term, filter->row_snap, filter->dx_scratch, NULL) !=
      BRAMAH_OK)
    return NAN;
  return sqrt(bramah__variance(filter->n, filter->term, filter->P));
}

int64_t bramah_filter_time_ns(const bramah_filter *filter) { return filter->progress.time_ns; }
const bramah_plant *bramah_filter_plant(const bramah_filter *filter) { return &filter->plant; }
size_t bramah_filter_n_sensors(const bramah_filter *filter) { return filter->n_sensors; }

const bramah_sensor *bramah_filter_sensor(const bramah_filter *filter, size_t i)
{
  return i < filter->n_sensors ? &filter->sensor[i] : NULL;
}
