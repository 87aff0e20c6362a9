/* SPDX-License-Identifier: MIT */
/* The error-state extended Kalman filter: its memory, its start, one cycle and what it can be asked. It knows
 * its plant by the plant interface alone. */
#include "estimators/filter_internal.h"
#include "estimators/update.h"
#include "lib/base/diag.h"
#include "lib/math/dense.h"

#include <math.h>
#include <string.h>

enum { PATIENCE = 25 };

void bramah__filter_count(const bramah_plant *plant, size_t n_sensors, const bramah_filter_options *o,
                          bramah_filter *f)
{
  f->plant = bramah__plant_copy(plant);
  f->n_dof = plant->n_dof;
  f->n_first_order = plant->n_first_order;
  f->n_plant = bramah_plant_n_error(plant);
  f->n = f->n_plant + bramah__augmented_states(o);
  f->n_sensors = n_sensors;
  f->n_augmented = o->n_augmented;
  f->n_par_noise = o->n_parameter_noise;
  f->n_banks = o->scores;
  f->n_causes_most = o->scores ? bramah__most_causes(plant, n_sensors) : 0;
  f->n_par_most = o->n_augmented + o->n_parameter_noise + (o->scores ? plant->n_parameter : 0);
  f->n_edges = o->transition == BRAMAH_TRANSITION_STEP ? bramah__augmented_edges(plant, o) : 0;
  f->n_kinks = o->transition == BRAMAH_TRANSITION_STEP && f->plant.step_transition && f->plant.kink &&
                       f->plant.kink_effect && o->discretisation != BRAMAH_DISCRETISATION_PUBLISHED
                   ? f->plant.n_kinks
                   : 0;
  f->n_displaced = bramah__augmented_displaced(o);
  f->nq = f->n + f->n_par_noise + 2 * f->n_edges + f->n_displaced;
  f->square_root = o->form == BRAMAH_COVARIANCE_SQUARE_ROOT;
  f->block = o->fusion == BRAMAH_FUSION_BLOCK && !f->square_root;
  f->n_block = f->block ? n_sensors * (f->n + 2) + bramah__fuse_block_work(f->n, n_sensors) : 0;
  f->iterations = o->iterations > 1 ? o->iterations : 1;
  bramah__phases_count(o, f);
  f->state_size = bramah__state_size(f);
}

static bramah_filter *layout(const bramah_plant *plant, size_t n_sensors, const bramah_filter_options *o,
                             bramah__arena *arena)
{
  bramah_filter *object = BRAMAH__TAKE(arena, bramah_filter, 1), counted = {0};
  bramah_filter *f = object ? object : &counted;
  bramah__filter_count(plant, n_sensors, o, f);
  f->state = BRAMAH__TAKE(arena, unsigned char, f->state_size);
  if (object) bramah__place_state(f, f->state, f);
  {
    bramah_filter *fields = f;
    BRAMAH__FILTER_ARRAYS(BRAMAH__FIELD_TAKE)
  }
  {
    bramah__filter_work *fields = &f->work;
    BRAMAH__FILTER_WORK(BRAMAH__FIELD_TAKE)
  }
  {
    bramah__filter_snapshots *fields = &f->snapshot;
    BRAMAH__FILTER_SNAPSHOTS(BRAMAH__FIELD_TAKE)
  }
  bramah__process_noise_layout(plant, arena, &f->noise);
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
  *options = (bramah_filter_options){
      .transition = BRAMAH_TRANSITION_STEP, .common_gate = 4.0, .drift_gate = 6.0, .patience = PATIENCE};
}

void bramah_filter_options_papers(bramah_filter_options *options)
{
  *options = (bramah_filter_options){.transition = BRAMAH_TRANSITION_KINEMATIC, .patience = PATIENCE};
}

/* Words and values, and what the plant must be able to do for them. */
static bramah_status check_options(const bramah_filter *f, const bramah_filter_options *o, bramah_diag *diag)
{
  const bramah_plant *plant = &f->plant;
  const int by_step = o->transition == BRAMAH_TRANSITION_STEP;
  const struct {
    int wrong;
    bramah_status status;
    const char *thing, *message;
  } mistakes[] = {
      {o->transition < BRAMAH_TRANSITION_KINEMATIC || o->transition > BRAMAH_TRANSITION_STEP, BRAMAH_E_VALUE,
       "transition", "this transition Jacobian is unknown"},
      {(int)o->discretisation < 0 || o->discretisation > BRAMAH_DISCRETISATION_RESOLVENT, BRAMAH_E_VALUE,
       "discretisation", "this discretisation of the noise is unknown"},
      {(int)o->form < 0 || o->form > BRAMAH_COVARIANCE_SQUARE_ROOT, BRAMAH_E_VALUE, "form",
       "this form of the covariance is unknown"},
      {(int)o->fusion < 0 || o->fusion > BRAMAH_FUSION_BLOCK, BRAMAH_E_VALUE, "fusion",
       "this kind of fusion is unknown"},
      {!(o->drift_gate >= 0.0) || !isfinite(o->drift_gate), BRAMAH_E_VALUE, "drift_gate",
       "the gate must not be negative"},
      {o->iterations < 0 || o->iterations > 100, BRAMAH_E_VALUE, "iterations",
       "the update is iterated 1 to 100 times"},
      {o->transition == BRAMAH_TRANSITION_KINEMATIC_EXACT && !plant->acceleration_derivative,
       BRAMAH_E_UNSUPPORTED, "transition", "the plant has no analytic derivative of its accelerations"},
      {o->transition == BRAMAH_TRANSITION_KINEMATIC && !plant->accelerations && !plant->acceleration_jacobian,
       BRAMAH_E_UNSUPPORTED, "transition",
       "the plant does not tell its accelerations: take the transition of the step"},
      {by_step && !plant->step_transition && !f->has_coordinates, BRAMAH_E_UNSUPPORTED, "transition",
       "the plant has neither a derivative of its step nor coordinates to differentiate by"},
      {o->discretisation == BRAMAH_DISCRETISATION_RESOLVENT && !(by_step && plant->step_transition),
       BRAMAH_E_UNSUPPORTED, "discretisation",
       "the resolvent needs the transition of the step and a plant that has it"},
      {o->scores && (f->block || f->iterations > 1), BRAMAH_E_UNSUPPORTED, "scores",
       "score tests need sequential fusion without iteration"},
  };
  for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++)
    if (mistakes[i].wrong)
      return bramah__fail(diag, mistakes[i].status, mistakes[i].thing, mistakes[i].message);
  for (size_t i = 0; i < f->n_sensors; i++) {
    const double gate = o->gate ? o->gate[i] : o->common_gate;
    if (!(gate >= 0.0) || !isfinite(gate))
      return bramah__fail(diag, BRAMAH_E_VALUE, f->sensor[i].name, "the gate must not be negative");
  }
  return BRAMAH_OK;
}

/* ---- making and releasing ---- */

bramah_status bramah_filter_init(const bramah_plant *plant, size_t n_sensors, const bramah_sensor *sensors,
                                 const bramah_filter_options *o, void *mem, size_t size, bramah_diag *diag,
                                 bramah_filter **out)
{
  bramah_status status = bramah__plant_check(plant, diag);
  if (status != BRAMAH_OK) return status;
  bramah__arena arena;
  status = bramah__arena_in("filter", mem, size, bramah_filter_size(plant, n_sensors, o), &arena, diag);
  if (status != BRAMAH_OK) return status;
  bramah_filter *f = layout(plant, n_sensors, o, &arena);

  /* options */
  if (n_sensors) memcpy(f->sensor, sensors, n_sensors * sizeof *sensors);
  f->has_coordinates = bramah_plant_coordinates(&f->plant, f->work.coordinates);
  status = check_options(f, o, diag);
  if (status != BRAMAH_OK) return status;
  for (size_t i = 0; i < n_sensors; i++) f->gate[i] = o->gate ? o->gate[i] : o->common_gate;
  f->transition = o->transition;
  f->resolvent = o->transition == BRAMAH_TRANSITION_STEP && f->plant.step_transition &&
                 o->discretisation != BRAMAH_DISCRETISATION_PUBLISHED;
  f->drift_gate = o->drift_gate;
  f->patience = o->patience ? o->patience : PATIENCE;

  /* the initial covariance */
  status = bramah__process_noise_take(&f->plant, o, &f->noise, diag);
  if (status != BRAMAH_OK) return status;
  bramah__process_noise_covariance(&f->noise, o, f->n, f->P_initial);
  status = bramah__take_augmented(f, o, diag);
  if (status != BRAMAH_OK) return status;
  if (o->scores) bramah__take_causes(f);
  memcpy(f->P, f->P_initial, f->n * f->n * sizeof(double));
  status = bramah__refresh_root(f, diag);
  if (status != BRAMAH_OK) return status;

  bramah__clear_correction(f);
  bramah__identify(f);
  f->mark = bramah__mark_of(mem);
  *out = f;
  return BRAMAH_OK;
}

bramah_status bramah_filter_new(const bramah_plant *plant, size_t n_sensors, const bramah_sensor *sensors,
                                const bramah_filter_options *options, bramah_diag *diag, bramah_filter **out)
{
  const bramah_status status = bramah__plant_check(plant, diag);
  if (status != BRAMAH_OK) return status;
  BRAMAH__MAKE_IN_OWN("filter", bramah_filter_size(plant, n_sensors, options),
                      bramah_filter_init(plant, n_sensors, sensors, options, mem, size, diag, out));
}

void bramah_filter_free(bramah_filter *f)
{
  if (!f) return;
  f->mark = 0;
  if (f->own_memory) bramah__aligned_free(f);
}

bramah_status bramah_filter_set_noise(bramah_filter *f, const double *acceleration_noise,
                                      const double *pressure_noise, bramah_diag *diag)
{
  bramah__phases_usual_noise(f, 0);
  const bramah_status status =
      bramah__process_noise_set(&f->plant, acceleration_noise, pressure_noise, &f->noise, diag);
  bramah__phases_usual_noise(f, 1);
  return status;
}

bramah_status bramah_filter_set_sensor_sigma(bramah_filter *f, size_t i, double sigma, bramah_diag *diag)
{
  if (i >= f->n_sensors)
    return bramah__fail(diag, BRAMAH_E_ARGUMENT, "filter", "there is no sensor of this number");
  if (!(sigma > 0.0) || !isfinite(sigma))
    return bramah__fail(diag, BRAMAH_E_VALUE, f->sensor[i].name, "the standard deviation must be positive");
  f->sensor[i].sigma = sigma;
  return BRAMAH_OK;
}

bramah_status bramah_filter_set_inputs(bramah_filter *f, const double *u, bramah_diag *diag)
{
  return f->plant.n_input ? f->plant.set_inputs(f->plant.self, u, diag) : BRAMAH_OK;
}

/* ---- one cycle of a controller: all or nothing ---- */

/* Counts, time and samples: bad ones are found before the plant has done its step for nothing. */
static bramah_status check_cycle(const bramah_filter *f, const bramah_filter_cycle *cycle, bramah_diag *diag)
{
  if (cycle->n_input && (cycle->n_input != f->plant.n_input || !cycle->u))
    return bramah__fail(diag, BRAMAH_E_ARGUMENT, "cycle", "this is not the number of inputs of the plant");
  if (cycle->n_sensors && (cycle->n_sensors != f->n_sensors || !cycle->y || !cycle->present))
    return bramah__fail(diag, BRAMAH_E_ARGUMENT, "cycle", "this is not the number of sensors of the filter");

  const int64_t now = f->progress.time_ns, time_ns = cycle->time_ns, step = f->plant.step_ns;
  const char *message = NULL;
  if (time_ns <= now)
    message = "the time of the cycle is not after that of the filter";
  else if (time_ns - now <= step / 2)
    message = "the time of the cycle is less than half a step after that of the filter";
  else if (time_ns - now - step >= step - step / 2)
    message = "the time of the cycle is beyond the coming step: first make the steps between";
  if (message) {
    bramah__fail(diag, BRAMAH_E_TIME, "cycle", message);
    bramah__add_text(diag, " (");
    bramah__add_number(diag, (double)time_ns * 1e-9, 12);
    bramah__add_text(diag, " s, filter at ");
    bramah__add_number(diag, (double)now * 1e-9, 12);
    bramah__add_text(diag, " s)");
    return BRAMAH_E_TIME;
  }

  for (size_t i = 0; i < cycle->n_sensors; i++)
    if (cycle->present[i] && !isfinite(cycle->y[i]))
      return bramah__fail(diag, BRAMAH_E_NOT_FINITE, f->sensor[i].name,
                          "the measurement is not a finite number");
  return BRAMAH_OK;
}

static void swap(unsigned char **a, unsigned char **b)
{
  unsigned char *const kept = *a;
  *a = *b;
  *b = kept;
}

static bramah_status predict_and_correct(bramah_filter *f, const bramah_filter_cycle *cycle,
                                         bramah_diag *diag)
{
  bramah_status status = bramah_filter_predict(f, diag);
  if (status != BRAMAH_OK || !cycle->n_sensors) {
    bramah__clear_correction(f);
    return status;
  }

  /* Time of each sample after the end of the step; NULL: all at it. A sample's own offset far beyond all sense
   * is handed on as it is, to be refused. */
  const int64_t common = cycle->time_ns - f->progress.time_ns, step = f->plant.step_ns;
  const int64_t *offset_ns = common ? f->work.offset_ns : cycle->offset_ns;
  for (size_t i = 0; i < f->n_sensors && common; i++) {
    const int64_t own = cycle->offset_ns ? cycle->offset_ns[i] : 0;
    f->work.offset_ns[i] = own < -2 * step || own > 2 * step ? own : own + common;
  }

  /* bramah_filter_predict leaves the snapshot of before the former step where the correction would write: it is
   * put aside, for the case that the correction fails. */
  swap(&f->snapshot.step_start, &f->snapshot.step_before_that);
  status = bramah__correct(f, cycle->y, cycle->present, offset_ns, 0, diag);
  if (status == BRAMAH_OK) return BRAMAH_OK;
  bramah__swap_matrices(f);
  swap(&f->snapshot.previous_step, &f->snapshot.step_before_that);
  bramah__take_back(f, f->snapshot.step_before_that, 1);
  return status;
}

static unsigned flag(uint64_t before, uint64_t after, bramah_step_flag bit)
{
  return after > before ? (unsigned)bit : 0;
}

bramah_status bramah_filter_step(bramah_filter *f, const bramah_filter_cycle *cycle,
                                 bramah_filter_step_report *report, bramah_diag *diag)
{
  const bramah_filter_report before = f->progress.report, *now = &f->progress.report;
  bramah_status status = check_cycle(f, cycle, diag);
  if (status != BRAMAH_OK) return status;
  if (cycle->n_input) f->plant.save(f->plant.self, f->snapshot.cycle_start);
  if (cycle->n_input) status = bramah_filter_set_inputs(f, cycle->u, diag);
  if (status == BRAMAH_OK) status = predict_and_correct(f, cycle, diag);
  if (status != BRAMAH_OK) {
    if (cycle->n_input) f->plant.restore(f->plant.self, f->snapshot.cycle_start); /* its inputs */
    return status;
  }
  if (!report) return BRAMAH_OK;

  *report = (bramah_filter_step_report){.time_ns = f->progress.time_ns, .nis = f->nis, .nis_dof = f->nis_dof};
  if (f->plant.iterations) report->iterations = f->plant.iterations(f->plant.self);
  for (size_t i = 0; i < f->n_sensors; i++) {
    const bramah_innovation *in = &f->innovation[i];
    report->present += (unsigned)in->present;
    report->accepted += in->present && in->accepted;
    report->saturated += in->present && in->saturated;
    report->faulty += f->reject[i] >= f->patience;
  }
  report->gated = report->present - report->accepted - report->saturated;
  report->flags = (report->gated ? (unsigned)BRAMAH_STEP_GATED : 0u) |
                  flag(before.saturated, now->saturated, BRAMAH_STEP_SATURATED) |
                  flag(before.sensor_faults, now->sensor_faults, BRAMAH_STEP_SENSOR_FAULT) |
                  flag(before.recoveries, now->recoveries, BRAMAH_STEP_RECOVERED) |
                  flag(before.limited, now->limited, BRAMAH_STEP_LIMITED) |
                  flag(0, f->progress.rebased, BRAMAH_STEP_COORDINATES);
  return BRAMAH_OK;
}

/* ---- results ---- */

const double *bramah_filter_covariance(const bramah_filter *f) { return f->P; }

bramah_filter_info bramah_filter_get_info(const bramah_filter *f)
{
  return (bramah_filter_info){.n_error = f->n,
                              .n_sensors = f->n_sensors,
                              .n_augmented = f->n_augmented,
                              .n_phases = f->n_phases,
                              .n_noise = f->nq,
                              .plant = &f->plant,
                              .sensor = f->sensor,
                              .augmented = f->augmented,
                              .acceleration_noise = bramah__usual_acceleration_noise(f),
                              .first_order_noise = bramah__usual_first_order_noise(f)};
}

bramah_filter_last bramah_filter_get_last(const bramah_filter *f)
{
  return (bramah_filter_last){.transition = f->F,
                              .noise = f->Gamma,
                              .innovation = f->innovation,
                              .rows = f->H,
                              .variances = f->r,
                              .correlation = f->correlation,
                              .correction = f->dx,
                              .nis = f->nis,
                              .nis_dof = f->nis_dof};
}

double bramah_filter_log_likelihood(const bramah_filter *f)
{
  return f->block ? (double)NAN : f->progress.log_likelihood;
}

bramah_filter_report bramah_filter_get_report(const bramah_filter *f) { return f->progress.report; }

int bramah_filter_sensor_fault(const bramah_filter *f, size_t i)
{
  return i < f->n_sensors && f->reject[i] >= f->patience;
}

bramah_filter_augmented bramah_filter_get_augmented(const bramah_filter *f, size_t i)
{
  if (i >= f->n_augmented) return (bramah_filter_augmented){NAN, NAN, 0, NAN};
  const size_t k = f->self_state[i].state;
  const double sigma = sqrt(f->P[k * f->n + k]), value = bramah__augmented_value(f, i);
  return (bramah_filter_augmented){value, f->augmented[i].logarithmic ? value * sigma : sigma,
                                   bramah__augmented_is_estimated(f, i), f->information[i]};
}

void bramah_filter_estimate_all(bramah_filter *f)
{
  for (size_t i = 0; i < f->n_augmented; i++) f->augmented[i].role = BRAMAH_AUGMENTED_ESTIMATED;
}

int bramah__filter_output_row(bramah_filter *f, size_t i, double *row)
{
  bramah_output_info info;
  memset(row, 0, f->n * sizeof *row);
  if (!bramah__row_of_output(&f->plant, i, row, f->work.row_snap, f->work.dx)) return 0;
  bramah_plant_output_info(&f->plant, i, &info);
  if (bramah__is_moved_at_once(&info) && f->n_augmented) bramah__output_by_augmented(f, i, row);
  return 1;
}

double bramah_filter_output_sigma(bramah_filter *f, size_t i)
{
  if (!bramah__filter_output_row(f, i, f->work.term)) return NAN;
  return sqrt(bramah__variance(f->n, f->work.term, f->P));
}

void bramah_filter_outputs(bramah_filter *f, size_t n_outputs, const size_t *output, double *value,
                           double *sigma)
{
  if (value) bramah_plant_outputs(&f->plant, n_outputs, output, value);
  for (size_t k = 0; sigma && k < n_outputs; k++) sigma[k] = bramah_filter_output_sigma(f, output[k]);
}

int64_t bramah_filter_time_ns(const bramah_filter *f) { return f->progress.time_ns; }
