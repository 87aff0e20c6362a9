/* SPDX-License-Identifier: MIT */
/* Fixed-interval smoother: estimates of a whole log that use what was measured later too. Source: H. E.
 * Rauch, F. Tung, C. T. Striebel, "Maximum likelihood estimates of linear dynamic systems", AIAA Journal 3
 * (1965), on the error state of the filter.
 *
 * Forward, after each call of the filter: bramah_smoother_record. It keeps of each step what the backward
 * pass needs. Backward: bramah_smoother_run. With d_k the error that is left in the filtered state of step k,
 * dx_k what the filter injected there, P-_k and P+_k its covariance before and after, F_k from step k - 1 to
 * k:
 *
 *   C_k  = P+_k F_k+1' (P-_k+1)^-1
 *   d_k  = C_k (d_k+1 + dx_k+1),  0 at the end
 *   Ps_k = P+_k + C_k (Ps_k+1 - P-_k+1) C_k',  P+ at the end
 *
 * It trusts F more than the filter does: where (D 3.4) freezes the errors of pressures, smoothed pressures
 * and rates may be worse than filtered ones, while angles gain; with BRAMAH_TRANSITION_STEP all of them gain.
 *
 * All augmented states must be estimated (bramah_filter_estimate_all): with the gains of a filter that only considers
 * some, the backward pass is no optimal smoother, and it diverges.
 *
 * Of a sample measured between two steps (bramah_filter_correct_at) only what it tells of the later one is
 * used.
 *
 * Changes of the independent coordinates are inside F; d_k and Ps_k are in the coordinates of step k.
 * Results: bramah_smoother_show puts the plant into the smoothed state of a step, from which every output can
 * be read; filter and plant must outlive the smoother. Nothing allocates after init. */
#ifndef BRAMAH_SMOOTHER_H
#define BRAMAH_SMOOTHER_H

#include "bramah/filter.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct bramah_smoother bramah_smoother;

/* Bytes that a smoother of `capacity` steps of this filter takes: 3 n^2 + 3 n doubles at most and a snapshot of
 * the plant for each step. SIZE_MAX if that is more than can be counted. */
BRAMAH_API size_t bramah_smoother_size(const bramah_filter *filter, size_t capacity);
/* Memory is taken here, once. Filter and plant must outlive the smoother, which shows its steps by them. Errors:
 * E_MEMORY; E_UNSUPPORTED names an augmented state that is not of role ESTIMATED. */
BRAMAH_API bramah_status bramah_smoother_new(bramah_filter *filter, size_t capacity, bramah_diag *diag,
                                             bramah_smoother **out);
BRAMAH_API void bramah_smoother_free(bramah_smoother *smoother); /* NULL allowed */

/* After each successful call of the filter, with what it was:
 *
 *   PREDICTED  begins the record of this step. Records of the same time or later ones are dropped, so that a
 *              filter that has been restored to an earlier time may go forward again. Errors: E_MEMORY (the
 *              capacity is used up), E_TIME (not one step after the record before).
 *   CORRECTED  adds what it did to the record of this time. The first call of all begins the first record.
 *              Errors: E_TIME (the present record is of another time).
 *   RESTORED   to a recorded time, before it was corrected there: later records are dropped, and that of this
 *              time begins anew. Errors: E_TIME (there is no record of this time).
 *
 * E_ARGUMENT after bramah_smoother_run. */
BRAMAH_API bramah_status bramah_smoother_record(bramah_smoother *smoother, bramah_filter_event event,
                                                const bramah_filter *filter, bramah_diag *diag);

/* The backward pass over all records, once. Errors: E_NOT_SPD names the state whose variance is not positive;
 * the records are then of no use. */
BRAMAH_API bramah_status bramah_smoother_run(bramah_smoother *smoother, bramah_diag *diag);

/* Steps recorded. */
BRAMAH_API size_t bramah_smoother_count(const bramah_smoother *smoother);

/* Step k < count; pointers hold as long as the smoother lives. */
typedef struct bramah_smoother_step {
  int64_t time_ns;          /* on the filter's clock */
  const double *correction; /* d [n] after run: what is to be added to its filtered state */
  const double *covariance; /* Ps [n x n] after run */
} bramah_smoother_step;

/* Step k. */
BRAMAH_API bramah_smoother_step bramah_smoother_get_step(const bramah_smoother *smoother, size_t k);

/* After run: put the plant the filter ran on and the filter's augmented states, parameters and errors of sensors, into the
 * smoothed state of step k. In any order, as often as wanted. On error they are not in the smoothed state of step k.
 * Errors: those of inject and of setting parameters, E_ARGUMENT. */
BRAMAH_API bramah_status bramah_smoother_show(bramah_smoother *smoother, size_t k, bramah_diag *diag);

/* Standard deviation of output i of the plant in the smoothed state shown last, with what augmented parameters do
 * to it at once; NaN where the output has no row. */
BRAMAH_API double bramah_smoother_output_sigma(bramah_smoother *smoother, size_t i);

#ifdef __cplusplus
}
#endif
#endif
