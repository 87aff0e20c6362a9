/* SPDX-License-Identifier: MIT */
/* Late and out-of-order measurements: a rewind buffer around the filter.
 *
 * The buffer remembers the last steps: the state of the filter, the inputs held and what was measured. A
 * sample may come at any time and in any order, as long as it was measured within the window. One that
 * belongs to a step already passed makes the filter go back to before that step and come forward again with
 * everything known since. Once all samples have arrived, state and covariance have the bits they would have
 * if each had come in time.
 *
 * One cycle: bramah_rewind_sample for whatever has arrived, bramah_rewind_advance (one step forward in time),
 * bramah_rewind_set_inputs (held over the coming step). Meanwhile the filter inside may be asked anything,
 * but is to be stepped, corrected and restored by the buffer only. After a successful init nothing
 * allocates. */
#ifndef BRAMAH_REWIND_H
#define BRAMAH_REWIND_H

#include "bramah/filter.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The window W is the longest delay in steps, rounded up. With snapshot_every = m it holds W / m + 2
 * snapshots of the filter, and going back costs up to m - 1 steps more.
 *
 * Of several samples of one sensor at one step the first ones (by time of measurement, then by value) of all
 * sensors are fused together, in the order of the sensors; then the second ones, and so on. Of more than
 * samples_per_step those measured last count. What is fused therefore never depends on the order of
 * arrival. */
typedef struct bramah_rewind_options {
  int64_t longest_delay_ns; /* >= 0, at most 10^6 steps; default 100 ms */
  size_t snapshot_every;    /* steps, 1 to 1000; default 1 */
  size_t samples_per_step;  /* of one sensor, 1 to 1000; default 4 */
} bramah_rewind_options;

/* All of them at their defaults. */
BRAMAH_API void bramah_rewind_options_default(bramah_rewind_options *options);

typedef struct bramah_rewind bramah_rewind;

/* Bytes for the buffer of this filter (0: the options are not allowed); create it there (aligned to 64) or in
 * memory taken once. The filter must outlive it. Its present state is the start: nothing measured before can
 * be used. options may be NULL (defaults). Errors: E_VALUE (options), E_ARGUMENT (memory too small),
 * E_MEMORY. */
BRAMAH_API size_t bramah_rewind_size(const bramah_filter *filter, const bramah_rewind_options *options);
BRAMAH_API bramah_status bramah_rewind_init(bramah_filter *filter, const bramah_rewind_options *options,
                                            void *mem, size_t size, bramah_diag *diag, bramah_rewind **out);
BRAMAH_API bramah_status bramah_rewind_new(bramah_filter *filter, const bramah_rewind_options *options,
                                           bramah_diag *diag, bramah_rewind **out);
BRAMAH_API void bramah_rewind_free(bramah_rewind *rewind); /* NULL allowed; only for bramah_rewind_new */

/* Inputs u [n_input] held from the present time on. Given twice at one time, the latter count. */
BRAMAH_API bramah_status bramah_rewind_set_inputs(bramah_rewind *rewind, const double *u, bramah_diag *diag);

/* Take a sample of sensor i, measured at time_ns of the filter (bramah_filter_time_ns; subtract the sensor's
 * delay from the time of arrival). It belongs to the nearest step (halfway between two, to the later; after
 * the start, to the next) and is fused there with its own time, see bramah_filter_correct_at. Only stored
 * here: the next advance or settle fuses it. Errors, with nothing changed: E_TIME (measured before the start,
 * or longer ago than the window: both are counted), E_VALUE (beyond the coming step), E_NOT_FINITE,
 * E_ARGUMENT (no such sensor). */
BRAMAH_API bramah_status bramah_rewind_sample(bramah_rewind *rewind, size_t i, int64_t time_ns, double y,
                                              bramah_diag *diag);

/* Bring the estimate of the present time up to everything that has arrived: at most W + snapshot_every - 1
 * steps. Does nothing if no sample came late. On error the estimate is as before the call; the late samples
 * stay, and the call would fail again until they are discarded. Errors: those of the filter; the message
 * tells the time of the step. */
BRAMAH_API bramah_status bramah_rewind_settle(bramah_rewind *rewind, bramah_diag *diag);

/* Settle, then one step forward: predict, and correct with what is already known of the new time. On error
 * the estimate stays at the present time (settled, unless that failed) and the samples stay. */
BRAMAH_API bramah_status bramah_rewind_advance(bramah_rewind *rewind, bramah_diag *diag);

/* Give up every sample that is not yet part of the estimate, so that the filter can go on after an error. The
 * steps are computed again as they were; the work is that of settle. */
BRAMAH_API bramah_status bramah_rewind_discard(bramah_rewind *rewind, bramah_diag *diag);

/* A sample that the last advance or settle fused for the first time. Its innovation is the one it had then,
 * with what was known then; when later ones make the filter pass its step again it is not told anew. */
typedef struct bramah_rewind_use {
  size_t sensor;
  int64_t time_ns; /* of measurement */
  double y;
  bramah_innovation innovation;
} bramah_rewind_use;

/* Those samples, in the order of their steps; valid until the next call. And their NIS with its degrees of
 * freedom: a correction made of new samples alone adds its whole y' S^-1 y, one that holds used ones too only
 * the NIS of each new sample. */
BRAMAH_API const bramah_rewind_use *bramah_rewind_uses(const bramah_rewind *rewind, size_t *n);
BRAMAH_API double bramah_rewind_nis(const bramah_rewind *rewind, size_t *degrees_of_freedom);

/* What is told after each successful call of the filter: what a smoother records. `restored`: the filter was
 * put back to the state it had at its present time before anything was fused there. Functions may be NULL; an
 * error counts as one of the filter. */
typedef struct bramah_watcher {
  void *user;
  bramah_status (*predicted)(void *user, bramah_filter *filter, bramah_diag *diag);
  bramah_status (*corrected)(void *user, bramah_filter *filter, bramah_diag *diag);
  bramah_status (*restored)(void *user, bramah_filter *filter, bramah_diag *diag);
} bramah_watcher;

/* Watch from now on (copied); NULL ends it. */
BRAMAH_API void bramah_rewind_watch(bramah_rewind *rewind, const bramah_watcher *watcher);

/* Counts since the start. */
typedef struct bramah_rewind_counts {
  uint64_t samples;      /* accepted */
  uint64_t late;         /* of them: came after the estimate of their step */
  uint64_t too_old;      /* refused: measured before the window */
  uint64_t before_start; /* refused: measured before the start */
  uint64_t crowded;      /* left out: more than samples_per_step */
  uint64_t discarded;    /* given up by bramah_rewind_discard */
  uint64_t rewinds;      /* times the filter went back */
  uint64_t recomputed;   /* steps made again */
  int64_t deepest_ns;    /* furthest way back, from the time estimated to the step of a late sample */
} bramah_rewind_counts;

/* Its counts. */
BRAMAH_API bramah_rewind_counts bramah_rewind_report(const bramah_rewind *rewind);

/* Earliest time of measurement that would be accepted now; the filter inside. */
BRAMAH_API int64_t bramah_rewind_oldest_ns(const bramah_rewind *rewind);
BRAMAH_API bramah_filter *bramah_rewind_filter(const bramah_rewind *rewind);

/* The whole state, that of the filter and its plant included, copied to and from snap [size bytes, 8-byte
 * aligned], exact to the bit. Restore it into a buffer made alike; bramah_rewind_uses is empty then. Errors of
 * restore: those of bramah_filter_restore; the buffer is then as it was. */
BRAMAH_API size_t bramah_rewind_snapshot_size(const bramah_rewind *rewind);
BRAMAH_API void bramah_rewind_save(const bramah_rewind *rewind, void *snap);
BRAMAH_API bramah_status bramah_rewind_restore(bramah_rewind *rewind, const void *snap);

#ifdef __cplusplus
}
#endif
#endif
