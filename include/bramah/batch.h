/* SPDX-License-Identifier: MIT */
/* Many filters of one machine stepped in one call: Monte Carlo runs, ensembles, sweeps of parameters and noise, models to
 * choose from. Each has parameters, noise and measurements of its own, and its estimate is that of a filter alone, byte for
 * byte, however many there are.
 *
 *   bramah_batch_new(&options, &diag, &batch);
 *   for (each cycle) bramah_batch_step(batch, &cycle);
 *   bramah_batch_get(batch, i).log_likelihood, bramah_filter_output_sigma(bramah_batch_filter(batch, i), angle) ...
 *
 * Where `start` uses a program (bramah_coupled_use), filters of one structure (augmented states, noisy parameters) live eight
 * by eight in the lanes of the processor's vectors with their whole cycle: step, transition, covariance, innovations, gates,
 * fusion, injection, and the roles, errors of sensors and displaced steps of the uncertainty budget. What is seldom (a step
 * that is divided or goes over to other coordinates, a parameter near an edge, a faulty sensor, a recovery) a filter does by
 * itself, and comes back with the next step. Always by themselves are fewer than three of a structure; biases with a signal
 * period; score tests; other forms of the covariance, of fusion or of the transition; sensors of flows and
 * forces; programs of too small a scope for the derivatives that filters need; and those on plants with quasistatic
 * actuators, prescribed motions, friction states, spherical joints or valves without lag. What bramah_coupled_step_error
 * shows is not known of steps in lanes.
 *
 * A filter that fails does not fail the others: it stays as it was before the call that failed, with its status, and is
 * left out from then on. Nothing allocates after init. A batch lives on one thread at a time; several batches may live on
 * several, also of one model and program. */
#ifndef BRAMAH_BATCH_H
#define BRAMAH_BATCH_H

#include "bramah/coupled.h"
#include "bramah/filter.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct bramah_batch bramah_batch;

/* What a batch is made of; all of it is copied but strings and the model (and program) behind `start`. */
typedef struct bramah_batch_options {
  size_t n; /* filters, >= 1 */
  /* where all begin: its state, parameters, injection, and program if it uses one; not changed */
  bramah_coupled *start;
  size_t n_sensors;
  const bramah_sensor *sensors;         /* [n_sensors] of all filters; bound to a plant of the model */
  const bramah_filter_options *options; /* [n] of each filter */
  /* [n x n_parameter] row-major, in the order and unit of the plant; NULL: those of `start` */
  const double *parameters;
} bramah_batch_options;

/* Bytes for a batch; create it there (aligned to 64), or in memory taken once. Errors, which name the number of the filter:
 * those of bramah_coupled_init, of the plant's set_parameter and of bramah_filter_init; E_ARGUMENT (no filters, memory too
 * small, or a batch lives there already), E_MEMORY. */
BRAMAH_API size_t bramah_batch_size(const bramah_batch_options *options);
BRAMAH_API bramah_status bramah_batch_init(const bramah_batch_options *options, void *mem, size_t size,
                                           bramah_diag *diag, bramah_batch **out);
BRAMAH_API bramah_status bramah_batch_new(const bramah_batch_options *options, bramah_diag *diag,
                                          bramah_batch **out);
/* A batch of filters that are there already: each on a plant of its own (bramah_coupled), all plants with the same program
 * or none; models, sensors and options may differ. They stay the caller's, who asks for them by bramah_batch_filter while the
 * batch lives, and outlive it. Errors: E_ARGUMENT (no filters, other programs or numbers of sensors), E_MEMORY. */
BRAMAH_API bramah_status bramah_batch_of(size_t n, bramah_filter *const *filters, bramah_diag *diag,
                                         bramah_batch **out);
/* NULL allowed. Memory of the caller can be used again after it. */
BRAMAH_API void bramah_batch_free(bramah_batch *batch);

/* What the filters are given: tables of one row for all of them, or of a row for each; row-major, SI. */
typedef struct bramah_batch_cycle {
  size_t n_u;      /* rows of u: 1 or n; 0: the former inputs go on */
  const double *u; /* [n_u x n_input] held over the coming step */
  const unsigned char
      *news;       /* [n] 0: the former inputs of this filter go on; NULL: with n_u all are given new ones */
  size_t n_y;      /* rows of y: 1 or n; 0: nothing was measured */
  const double *y; /* [n_y x n_sensors] */
  const unsigned char *present; /* [n_y x n_sensors] 0: no sample; NULL: all are there */
  const unsigned char *taking;  /* [n] 0: this filter has no part in the call; NULL: all have */
} bramah_batch_cycle;

/* One step of all filters, bramah_filter_set_inputs and bramah_filter_predict (u of the cycle); one correction,
 * bramah_filter_correct (y and present); or the one after the other. Returns how many filters run: those that failed before
 * or in this call do not, those that have no part in it do not count. With other numbers of rows than 0, 1 and n nothing is
 * done, and none runs. Filters at different times go on in one call, each by its own rows; between the two halves and
 * after them each may be asked as if it were alone: bramah_filter_covariance(bramah_batch_filter(batch, i)) is that before
 * the correction, bramah_filter_get_last has its innovations with their variances, rows and what was injected. */
BRAMAH_API size_t bramah_batch_predict(bramah_batch *batch, const bramah_batch_cycle *cycle);
BRAMAH_API size_t bramah_batch_correct(bramah_batch *batch, const bramah_batch_cycle *cycle);
BRAMAH_API size_t bramah_batch_step(bramah_batch *batch, const bramah_batch_cycle *cycle);

/* bramah_filter_set_inputs alone (u of the cycle), which a step does anyway: for who asks for outputs between. */
BRAMAH_API size_t bramah_batch_inputs(bramah_batch *batch, const bramah_batch_cycle *cycle);

/* How filter i < n fares. */
typedef struct bramah_batch_result {
  bramah_status status;    /* OK, or why it was left out */
  const bramah_diag *diag; /* of this status; lives as long as the batch */
  int64_t time_ns;         /* of its estimate, since init */
  double nis;              /* y' S^-1 y of the last correction, and its degrees of freedom */
  size_t nis_dof;
  double log_likelihood; /* since init, see bramah_filter_log_likelihood */
  int in_lane;           /* 1: it lives in a lane now, 0: it makes its cycles by itself, or was asked for */
} bramah_batch_result;

/* All of it. */
BRAMAH_API bramah_batch_result bramah_batch_get(const bramah_batch *batch, size_t i);

/* Values of outputs of the plant, and their standard deviations (bramah_filter_output_sigma), at the filters' times:
 * value, sigma [n x n_outputs] row-major, SI; NULL: not wanted. taking [n] as in a cycle, NULL: of all; rows of others stay as
 * they are. Filters in lanes are asked there for positions, rates, accelerations, pressures, strokes and what bodies do; with
 * another output among those asked for each is asked by itself. */
BRAMAH_API void bramah_batch_outputs(bramah_batch *batch, const unsigned char *taking, size_t n_outputs,
                                     const size_t *output, double *value, double *sigma);

/* Filter i itself, to look at or to give other noise (bramah_filter_set_noise, _set_augmented_noise,
 * _set_sensor_sigma); its plant is that of bramah_filter_get_info. It is stepped and corrected by the batch only, and what it shows is of the time of this call: ask
 * again after the next. It goes out of its lane and back into it, which costs more than a cycle: bramah_batch_get and
 * _outputs do without. */
BRAMAH_API bramah_filter *bramah_batch_filter(bramah_batch *batch, size_t i);

/* A filter that was left out runs again from now on, after its cause was cured: its time is as old as it was. */
BRAMAH_API void bramah_batch_resume(bramah_batch *batch, size_t i);

#ifdef __cplusplus
}
#endif
#endif
