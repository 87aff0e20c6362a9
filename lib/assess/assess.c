/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A log through the filter of a study, step by step, and backwards. */
#include "lib/assess/assess_internal.h"
#include "lib/io/files.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void bramah_assess_options_default(bramah_assess_options *options)
{
  *options =
      (bramah_assess_options){.to_ns = INT64_MAX, .smooth_to_ns = INT64_MIN, .smooth_memory = 2000000000u};
}

void bramah__assess_tell(const bramah_assess *a, const char *format, ...)
{
  char text[1024];
  va_list list;
  if (!a->options.tell) return;
  va_start(list, format);
  vsnprintf(text, sizeof text, format, list);
  va_end(list);
  a->options.tell(a->options.tell_user, text);
}

static double clock_of(const bramah_assess *a) { return a->options.clock ? a->options.clock() : 0.0; }

/* ---- source and listener of the replay ---- */

static bramah_status next_row(void *user, bramah_sample *sample, int *end, bramah_diag *diag)
{
  bramah_assess *a = user;
  const double begin = clock_of(a);
  const bramah_status status = a->source(a->source_user, sample, end, diag);
  a->reading += clock_of(a) - begin;
  return status || *end ? status : bramah__known_keep(a, sample, diag);
}

static void take_sample(void *user, const bramah_rewind_use *use)
{
  bramah_assess *a = user;
  a->measured[use->sensor] = use->y;
  bramah__consistency_add(a, use);
  if (bramah_alarm_sample(a->alarm, use->sensor, use->time_ns, &use->innovation))
    bramah__alarm_keep(a, use->sensor);
  if (a->options.listener.used) a->options.listener.used(a->options.listener.user, use);
}

/* What follows the filter call by call: the smoother, or noise that adapts. */
static bramah_status watch(void *user, bramah_filter_event event, bramah_filter *filter, bramah_diag *diag)
{
  bramah_assess *a = user;
  if (a->adaptive && event == BRAMAH_FILTER_PREDICTED) bramah_adaptive_predicted(a->adaptive);
  if (a->adaptive && event == BRAMAH_FILTER_CORRECTED) bramah_adaptive_corrected(a->adaptive);
  if (a->monitor) bramah_monitor_watch(a->monitor, event);
  if (event == BRAMAH_FILTER_CORRECTED) bramah__noise_doubt_watch(a);
  return a->smoother ? bramah_smoother_record(a->smoother, event, filter, diag) : BRAMAH_OK;
}

static bramah_status init_adaptive(bramah_assess *a, bramah_diag *diag)
{
  const int line = a->study->adapt.line;
  const size_t n_dof = a->plant->n_dof, n_first = a->plant->n_first_order;
  if (!line) return BRAMAH_OK;
  if (a->options.smooth_to_ns != INT64_MIN)
    return bramah__failf(diag, BRAMAH_E_VALUE, a->study->file, line, "adapt",
                         "the backward pass needs noise that does not adapt");
  if (bramah_replay_get_report(a->replay).rewind)
    return bramah__failf(diag, BRAMAH_E_VALUE, a->study->file, line, "adapt",
                         "noise does not adapt where sensors have a delay");
  const bramah_filter_info info = bramah_filter_get_info(a->filter);
  memcpy(a->stated, info.acceleration_noise, n_dof * sizeof *a->stated);
  memcpy(a->stated + n_dof, info.first_order_noise, n_first * sizeof *a->stated);
  for (size_t i = 0; i < a->n_sensors; i++) a->stated[n_dof + n_first + i] = info.sensor[i].sigma;
  return bramah_session_new_adaptive(a->session, diag, &a->adaptive);
}

/* ---- making one ---- */

static void cut_arrays(bramah_assess *a, bramah__arena *arena)
{
  bramah_assess *fields = a;
  BRAMAH__ASSESS_ARRAYS(BRAMAH__FIELD_TAKE)
}

bramah_status bramah_assess_new(bramah_session *session, bramah_source source, void *source_user,
                                const bramah_assess_options *options, bramah_diag *diag, bramah_assess **out)
{
  bramah_assess *a = calloc(1, sizeof *a);
  bramah_diag_clear(diag);
  if (!a) return bramah__fail_memory(diag);
  *a = (bramah_assess){.session = session,
                       .source = source,
                       .source_user = source_user,
                       .log = source == bramah_log_stream_next ? source_user : NULL,
                       .study = bramah_session_study(session),
                       .filter = bramah_session_filter(session)};
  if (options)
    a->options = *options;
  else
    bramah_assess_options_default(&a->options);
  const bramah_filter_info info = bramah_filter_get_info(a->filter);
  a->plant = info.plant;
  a->n_sensors = info.n_sensors;
  a->n_augmented = info.n_augmented;
  a->n_phases = info.n_phases;
  a->kept_size = bramah_filter_snapshot_size(a->filter);
  a->keep_ns = INT64_C(1000000000);
  a->next_ns = INT64_MIN;
  a->study_hash = bramah__hash_file(a->study->file);
  a->machine_hash = bramah__hash_file(a->study->machine_file);

  /* Arrays: sizes first, then memory. */
  const size_t n = bramah_plant_n_error(a->plant);
  bramah__arena arena = bramah__arena_make(NULL, 0);
  if (a->options.truth) a->n_work = 2 * n + n * n + n * (n + 2);
  if (a->study->adapt.line) a->n_noises = a->plant->n_dof + a->plant->n_first_order + a->n_sensors;
  cut_arrays(a, &arena);
  bramah_status status = bramah__arena_new("assessment", arena.used, &arena, diag);
  if (!status) a->memory = arena.base;
  if (!status) cut_arrays(a, &arena);

  /* The replay, and what goes along with it. */
  bramah_replay_options replay;
  bramah_replay_options_default(&replay);
  replay.gather = 1;
  replay.max_gap_ns = a->study->log.longest_gap_ns;
  bramah_replay_options watched = replay;
  watched.watcher = (bramah_watcher){a, watch};
  watched.listener = (bramah_listener){a, take_sample};
  if (!status) status = bramah_replay_new(a->filter, &watched, next_row, a, diag, &a->replay);
  if (!status) status = bramah__known_init(a, &replay, diag);
  if (!status && a->options.model_alone) {
    status = bramah_session_another(session, diag, &a->free_model);
    a->model = a->free_model.plant;
    a->model_runs = !status;
  }
  if (!status) status = init_adaptive(a, diag);
  if (!status) status = bramah_alarm_new(a->filter, NULL, diag, &a->alarm);
  if (!status && a->n_augmented) status = bramah_monitor_new(a->filter, diag, &a->monitor);
  if (!status) status = bramah__results_init(a, diag);
  if (status)
    bramah_assess_free(a);
  else
    *out = a;
  return status;
}

void bramah_assess_free(bramah_assess *a)
{
  if (!a) return;
  bramah_smoother_free(a->smoother);
  bramah_adaptive_free(a->adaptive);
  bramah_alarm_free(a->alarm);
  bramah_monitor_free(a->monitor);
  bramah__known_free(&a->known);
  bramah__truth_close(a->rows);
  bramah_another_plant_free(&a->free_model);
  bramah_replay_free(a->replay);
  bramah__snapshot_free(&a->snapshot);
  bramah__aligned_free(a->memory);
  free(a);
}

/* ---- the backward pass: what it keeps of each step, and the smoothed estimates one after the other ---- */

/* At the first step: take memory and record. */
static bramah_status begin_recording(bramah_assess *a, bramah_diag *diag)
{
  const int64_t span = a->options.smooth_to_ns - a->totals.last_ns, ahead = span > 0 ? span : 0;
  const size_t capacity = (size_t)(ahead / a->plant->step_ns) + 3; /* first, last, rounding to the grid */
  a->totals.smooth_bytes = bramah_smoother_size(a->filter, capacity);
  if (a->totals.smooth_bytes > a->options.smooth_memory)
    return bramah__failf(
        diag, BRAMAH_E_MEMORY, NULL, 0, "backward pass",
        "%zu steps would take %.0f MB, more than the %.0f MB allowed: replay the log in parts", capacity,
        1e-6 * (double)a->totals.smooth_bytes, 1e-6 * (double)a->options.smooth_memory);
  bramah_filter_estimate_all(a->filter);
  bramah_status status = bramah_smoother_new(a->filter, capacity, diag, &a->smoother);
  if (!status) status = bramah_smoother_record(a->smoother, BRAMAH_FILTER_CORRECTED, a->filter, diag);
  a->smooth_from_ns = a->totals.last_ns;
  return status;
}

bramah_status bramah_assess_smooth(bramah_assess *a, bramah_diag *diag)
{
  bramah_diag_clear(diag);
  if (!a->smoother || a->smoothing)
    return bramah__failf(
        diag, BRAMAH_E_ARGUMENT, NULL, 0, "backward pass",
        "there is nothing to smooth: no time was given up to which, or no estimate was made");
  bramah__estimate_augmented(a); /* showing smoothed steps moves the filter */
  a->estimate.dof = 0;
  a->estimate.nis = a->estimate.nis_low = a->estimate.nis_high = NAN;
  a->smoothing = 1;
  for (size_t i = 0; i < a->plant->n_output; i++) a->alone[i] = NAN;
  bramah_status status = bramah_smoother_run(a->smoother, diag);
  if (status || !a->rows) return status;
  bramah__truth_close(a->rows);
  a->rows = NULL;
  return bramah__truth_open(a->options.truth, diag, &a->rows);
}

/* The next smoothed step into the estimate. */
static bramah_status next_smoothed(bramah_assess *a, int *end, bramah_diag *diag)
{
  const size_t k = a->totals.smooth_steps, n = bramah_filter_get_info(a->filter).n_error;
  int matched;
  *end = k >= bramah_smoother_count(a->smoother) || k >= a->totals.estimates;
  if (*end) return BRAMAH_OK;
  bramah_status status = bramah_smoother_show(a->smoother, k, diag);
  if (status) return status;

  /* Outputs, then unknown commands, which are shown as outputs too. */
  for (size_t c = 0; c < a->n_outputs; c++) {
    const size_t i = a->outputs[c].output;
    a->value[i] = a->plant->output(a->plant->self, i);
    if (a->outputs[c].has_sigma) a->sigma[i] = bramah_smoother_output_sigma(a->smoother, i);
  }
  const bramah_smoother_step step = bramah_smoother_get_step(a->smoother, k);
  size_t state = bramah_plant_n_error(a->plant);
  for (size_t j = 0; j < a->n_augmented; j++) {
    const size_t i = a->shown_as[j];
    if (i != a->plant->n_output) {
      a->value[i] = bramah_filter_get_augmented(a->filter, j).value;
      a->sigma[i] = sqrt(step.covariance[state * n + state]);
    }
    state += bramah_filter_get_info(a->filter).augmented[j].order == 2 ? 2 : 1;
  }

  a->taken = 1;
  a->estimate.time_ns = a->smooth_from_ns + step.time_ns - bramah_smoother_get_step(a->smoother, 0).time_ns;
  if (a->rows) status = bramah__truth_seek(a, a->estimate.time_ns, &matched, diag);
  if (status) return status;
  if (a->rows) bramah__accuracy_smoothed(a);
  a->totals.smooth_steps++;
  return BRAMAH_OK;
}

/* ---- a step ---- */

/* An estimate every so often, for a diagnosis; where there is no place for another, every other one is given up. */
static void keep(bramah_assess *a)
{
  if (a->totals.last_ns < a->next_ns) return;
  if (a->n_kept == BRAMAH__KEPT) {
    for (size_t k = 1; k < BRAMAH__KEPT / 2; k++) {
      a->kept_ns[k] = a->kept_ns[2 * k];
      memcpy(a->kept + k * a->kept_size, a->kept + 2 * k * a->kept_size, a->kept_size);
    }
    a->n_kept = BRAMAH__KEPT / 2;
    a->keep_ns *= 2;
  }
  a->kept_ns[a->n_kept] = a->totals.last_ns;
  bramah_filter_save(a->filter, a->kept + a->n_kept++ * a->kept_size);
  a->next_ns = a->totals.last_ns + a->keep_ns;
}

static bramah_status next_estimate(bramah_assess *a, int *end, bramah_diag *diag)
{
  bramah_assess_totals *totals = &a->totals;
  bramah_diag other;
  int64_t time_ns;
  bramah_diag_clear(diag);
  if (a->smoothing) return next_smoothed(a, end, diag);
  *end = totals->estimates && totals->last_ns > a->options.to_ns - a->plant->step_ns;
  if (*end) return BRAMAH_OK;
  const double begin = clock_of(a), reading = a->reading;
  for (size_t i = 0; i < a->n_sensors; i++) a->measured[i] = NAN;
  a->taken = 0;
  bramah_status status = bramah_replay_next(a->replay, &time_ns, &a->estimate.corrected, end, diag);
  totals->step_seconds = clock_of(a) - begin - (a->reading - reading);
  totals->filter_seconds += totals->step_seconds;
  if (status || *end) bramah__events_watch(a); /* late samples may have been fused */
  if (status && a->log) {                      /* the mistake came with the row in use */
    int line = 0;
    const char *path = bramah_log_stream_place(a->log, bramah_replay_get_report(a->replay).mark, &line);
    return bramah__place(diag, path, line);
  }
  if (status || *end) return status;
  if (!totals->estimates) totals->first_ns = time_ns;
  a->estimate.time_ns = totals->last_ns = time_ns;
  const double t = (double)time_ns / 1e9;

  /* What follows from the step that the filter has made: NIS, the other filter, events, the record. */
  const bramah_replay_report last = bramah_replay_get_report(a->replay);
  const double nis = last.nis, dof = (double)last.nis_dof;
  a->estimate.dof = last.nis_dof;
  a->estimate.nis = dof > 0.0 ? nis / dof : (double)NAN;
  if (dof > 0.0) bramah__nis_add(&a->all.nis, nis, dof);
  if (bramah_alarm_all(a->alarm, time_ns, nis, last.nis_dof)) bramah__alarm_keep(a, a->n_sensors);
  bramah__windows_add_all(&a->windows[a->n_sensors], time_ns, nis, last.nis_dof, a->windows, a->n_sensors);
  if (bramah__known_step(a, &other))
    bramah__assess_tell(a, "the filter with known commands ends at t = %.9g s: %s", t, other.message);
  bramah__events_watch(a);
  bramah__estimated_watch(a);
  if (!totals->estimates && a->options.smooth_to_ns != INT64_MIN) status = begin_recording(a, diag);

  /* The model takes the commands that the filter's plant had during its last step. Without corrections it may come
   * to where it cannot be integrated any more: the comparison ends there, not the replay. */
  if (totals->estimates && a->model_runs) {
    bramah_status ended = a->model.set_inputs(a->model.self, last.inputs, &other);
    if (!ended) ended = a->model.step(a->model.self, &other);
    a->model_runs = !ended;
    if (ended)
      bramah__assess_tell(a, "the model without corrections ends at t = %.9g s: %s", t, other.message);
  }

  int matched = 0;
  if (!status && a->rows) status = bramah__truth_seek(a, time_ns, &matched, diag);
  if (status) return status;
  if (a->rows) {
    totals->without_truth += !matched;
    bramah_assess_estimate(a);
    bramah__accuracy_step(a);
  }
  keep(a);
  if (totals->estimates++ == totals->resumed) totals->begin_ns = time_ns;
  if (a->passenger.step) a->passenger.step(a->passenger.user);
  return BRAMAH_OK;
}

void bramah__assess_carry(bramah_assess *a, const bramah__passenger *passenger) { a->passenger = *passenger; }

bramah_status bramah_assess_next(bramah_assess *a, int *end, bramah_diag *diag)
{
  const bramah_status status = next_estimate(a, end, diag);
  a->broken_off |= status != BRAMAH_OK;
  return status;
}

void bramah_assess_doubt(bramah_assess *a, const bramah_doubt *doubt) { a->doubt = doubt; }

void bramah_assess_break_off(bramah_assess *a) { a->broken_off = 1; }

bramah_status bramah_assess_run(bramah_assess *a, bramah_diag *diag)
{
  bramah_status status = BRAMAH_OK;
  for (int end = 0; !status && !end;) status = bramah_assess_next(a, &end, diag);
  return status;
}

/* ---- before a run ---- */

bramah_status bramah_assess_unseen(const bramah_session *session, char *names, size_t size, size_t *n,
                                   double *horizon, bramah_diag *diag)
{
  const bramah_filter *filter = bramah_session_filter(session);
  const double *P = bramah_filter_covariance(filter);
  const size_t n_filter = bramah_filter_get_info(filter).n_error;
  const size_t n_plant = bramah_plant_n_error(bramah_filter_get_info(filter).plant);
  bramah_another_plant other = {0};
  bramah_observability *o = NULL;
  bramah_observability_options options;
  double *sigma = calloc(n_filter + 1, sizeof *sigma);
  bramah_diag_clear(diag);
  if (!sigma) return bramah__fail_memory(diag);
  bramah_status status = bramah_session_another(session, diag, &other);
  /* Other parameters are left out: from where a run starts, often at rest, most of them cannot be seen yet (a
   * pump behind a closed valve), which would be no news. */
  bramah_observability_options_default(&options);
  options.augmented = bramah_session_about(session)->options.augmented;
  options.n_augmented = bramah_session_study(session)->n_unknown_inputs;
  for (size_t i = 0; i < n_plant; i++) sigma[i] = sqrt(P[i * n_filter + i]);
  for (size_t k = 0; k < options.n_augmented; k++) sigma[n_plant + k] = options.augmented[k].sigma;
  if (!status) {
    status = bramah_observability_new(&other.plant, bramah_filter_get_info(filter).n_sensors,
                                      bramah_session_about(session)->sensors, &options, diag, &o);
    if (!status) status = bramah_observability_run(o, sigma, diag);
    if (!status) {
      const bramah_observability_report result = bramah_observability_get_report(o);
      *n = bramah_observability_names(o, names, size);
      if (!result.lasting) *n = 0;
      *horizon = result.horizon;
    }
  }
  bramah_observability_free(o);
  bramah_another_plant_free(&other);
  free(sigma);
  return status;
}
