/* SPDX-License-Identifier: MIT */
/* Tests of sensors and of the uncertainty budget that grant nothing: beside a filter that considers states without
 * estimating them goes the linear filter that estimates them all, on the same linearisation and with the same innovations.
 * Its own innovations are white, whatever is considered; so what a test of them is worth is known exactly:
 *
 *   of a state     what a bias, gain or delay of the budget changes by in a window of 0.1 s, 0.3 s or 1 s or since the start,
 *                  against what it may by its stated uncertainty and drift
 *   of a sensor    an offset of it that begins with such a window and lasts for it
 *
 * An offset of a pressure is followed by an estimate that may drift within a second, and its innovations are white again: in
 * a window it is seen by what it did to all sensors until then.
 *
 * One cycle: bramah_filter_predict or bramah_filter_correct, bramah_monitor_watch. Nothing allocates after init; work
 * (about that of the filter's own covariance) and memory are bounded. Deterministic. Sources: A. S. Willsky, H. L.
 * Jones, IEEE Trans. AC 21 (1976), of jumps and their scores in windows; P. J. Huber, Ann. Math. Stat. 35 (1964), of
 * innovations that count no further out than 3 sigma. */
#ifndef BRAMAH_MONITOR_H
#define BRAMAH_MONITOR_H

#include "bramah/filter.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct bramah_monitor bramah_monitor;

/* Bytes for the monitor of this filter; create it there (aligned to 64) or in memory taken once. The filter must outlive
 * it. Where sensors have a delay it keeps its past as far back as the longest of them. Errors: E_ARGUMENT (memory too small),
 * E_MEMORY. */
BRAMAH_API size_t bramah_monitor_size(const bramah_filter *filter);
BRAMAH_API bramah_status bramah_monitor_init(bramah_filter *filter, void *mem, size_t size, bramah_diag *diag,
                                             bramah_monitor **out);
BRAMAH_API bramah_status bramah_monitor_new(bramah_filter *filter, bramah_diag *diag, bramah_monitor **out);
BRAMAH_API void bramah_monitor_free(bramah_monitor *monitor); /* NULL allowed; only for bramah_monitor_new */

/* After each successful call of the filter, as a bramah_watcher is called: those made again for late samples take the place
 * of those before. The first 0.1 s, after a recovery too, are not judged. */
BRAMAH_API void bramah_monitor_watch(bramah_monitor *monitor, bramah_filter_event event);

/* The worst window of a state or a sensor. */
typedef struct bramah_monitor_worst {
  uint64_t tests;           /* windows judged, the open ones included; 0: the rest means nothing */
  double size;              /* standard deviations */
  double amount;            /* change of the state, offset of the sensor, in their units */
  int64_t begin_ns, end_ns; /* as of bramah_filter_time_ns */
} bramah_monitor_worst;

/* Of augmented state k (a parameter, or one of role ESTIMATED, is not judged: what a far-off parameter does is not linear), and of sensor i: at the shortest
 * length of windows at which it is beyond `limit`, else the largest. */
BRAMAH_API bramah_monitor_worst bramah_monitor_state(const bramah_monitor *monitor, size_t k, double limit);
BRAMAH_API bramah_monitor_worst bramah_monitor_offset(const bramah_monitor *monitor, size_t i, double limit);

/* Sizes of tests, in standard deviations, up to which a monitor's linear steps may go by themselves; and what moves an output
 * so far that it is outside its band of 3.92 more than a tenth of the time. */
#define BRAMAH_MONITOR_LIMIT 5.5
#define BRAMAH_MONITOR_BAND 2.64

/* Whether the linear filter's innovations of sensor i, from a second after the first sample on, follow each other: their correlation at
 * lag 1, about normal with the variance 1/n (R. K. Mehra, J. Peschon, Automatica 7, 1971). Negative: each takes back a part of the one
 * before, the process noise is overestimated. */
typedef struct bramah_monitor_whiteness {
  uint64_t n;         /* samples; below 50 correlation and size are 0 */
  double correlation; /* -1 to 1 */
  double size;        /* of it, in standard deviations */
  /* of innovations over their sigmas, products with the one before: those of a window are what they grow by in it */
  double sum, squares, products;
} bramah_monitor_whiteness;
/* Of sensor i so far. */
BRAMAH_API bramah_monitor_whiteness bramah_monitor_correlation(const bramah_monitor *monitor, size_t i);

/* What no test can see: an offset of a sensor that begins with a window of 1 s, or with the first sample of all, is found at the
 * end of the window in 95 cases of 100 only if it is larger than `offset`, and moves the output by `effect` then. Looked at
 * each second, of the sensor that could hide most; gates, which may find it earlier, are left out. Source: W. Baarda, A
 * testing procedure for use in geodetic networks (1968), minimal detectable bias and external reliability. */
typedef struct bramah_monitor_hidden {
  size_t sensor; /* in the worst window */
  double offset; /* in its unit */
  double effect; /* in the unit of the output */
  double sigmas; /* the same in standard deviations of the filter */
  int64_t begin_ns, end_ns;
  uint64_t open, windows; /* those with more than the band, and all */
} bramah_monitor_hidden;

/* Of this output of the plant; zeros where nothing moves it beyond BRAMAH_MONITOR_BAND. */
BRAMAH_API bramah_monitor_hidden bramah_monitor_hidden_of(const bramah_monitor *monitor, size_t output);

/* The whole state, copied to and from snap [size bytes, 8-byte aligned], exact to the bit; save and restore it together with
 * the filter. Sealed and checked like snapshots of a filter, the same errors. */
BRAMAH_API size_t bramah_monitor_snapshot_size(const bramah_monitor *monitor);
BRAMAH_API void bramah_monitor_save(const bramah_monitor *monitor, void *snap);
BRAMAH_API bramah_status bramah_monitor_restore(bramah_monitor *monitor, const void *snap);

#ifdef __cplusplus
}
#endif
#endif
