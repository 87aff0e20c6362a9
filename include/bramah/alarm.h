/* SPDX-License-Identifier: MIT */
/* A running alarm for a controller: what the verdict on a log finds in windows afterwards, found while the filter runs.
 * Innovations over their sigmas are independent and standard normal if filter and sensors are right. Their mean, variance
 * and correlation at lag 1 are tested sensor by sensor, and the sum of squares of all jointly, over windows of 10, 20,
 * 40, ... samples that overlap by half; rejected samples count as any other, but no further out than 8 sigma.
 * Limits come from the exact distributions, so that all tests together raise a false alarm no more often than stated,
 * and a deviation must also matter: the prediction is off by more than its own standard deviation.
 *
 * One cycle: bramah_filter_step, bramah_alarm_corrected. Nothing allocates after init; work and memory of a sample are
 * bounded, whatever the time. Deterministic. */
#ifndef BRAMAH_ALARM_H
#define BRAMAH_ALARM_H

#include "bramah/filter.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What it is that no accident explains. */
typedef enum bramah_alarm_kind {
  BRAMAH_ALARM_MEAN = 0,        /* innovations keep to one side: bias, drift, wrong parameter */
  BRAMAH_ALARM_VARIANCE = 1,    /* they are too large: noise, spikes, gross errors */
  BRAMAH_ALARM_CORRELATION = 2, /* they follow each other: stuck, delayed, wrong model */
  BRAMAH_ALARM_KINDS = 3
} bramah_alarm_kind;

/* "mean", "variance", "correlation". Static storage. */
BRAMAH_API const char *bramah_alarm_kind_name(bramah_alarm_kind kind);

/* How much is tolerated, and from when on is looked. */
typedef struct bramah_alarm_options {
  /* false alarms of all tests together, at most; > 0; default 0.01: one in four days */
  double false_per_hour;
  int64_t settle_ns; /* of a start that may be wrong: not judged; also after a recovery; default 0.1 s */
} bramah_alarm_options;

/* All of them at their defaults. */
BRAMAH_API void bramah_alarm_options_default(bramah_alarm_options *options);

typedef struct bramah_alarm bramah_alarm;

/* Bytes for the alarm of this filter; create it there (aligned to 64) or in memory taken once. The filter must outlive
 * it. options NULL: defaults. Errors: E_VALUE (options), E_ARGUMENT (memory too small), E_MEMORY. */
BRAMAH_API size_t bramah_alarm_size(const bramah_filter *filter);
BRAMAH_API bramah_status bramah_alarm_init(bramah_filter *filter, const bramah_alarm_options *options,
                                           void *mem, size_t size, bramah_diag *diag, bramah_alarm **out);
BRAMAH_API bramah_status bramah_alarm_new(bramah_filter *filter, const bramah_alarm_options *options,
                                          bramah_diag *diag, bramah_alarm **out);
BRAMAH_API void bramah_alarm_free(bramah_alarm *alarm); /* NULL allowed; only for bramah_alarm_new */

/* After each successful correction of the filter. Returns 1 if an alarm is raised that was not before, else 0. */
BRAMAH_API int bramah_alarm_corrected(bramah_alarm *alarm);
/* The same in two parts, for who has innovations from elsewhere, such as a replay (bramah_listener): a sample of sensor
 * i measured at time_ns; after those of one time their NIS and its degrees of freedom. */
BRAMAH_API int bramah_alarm_sample(bramah_alarm *alarm, size_t i, int64_t time_ns,
                                   const bramah_innovation *in);
BRAMAH_API int bramah_alarm_all(bramah_alarm *alarm, int64_t time_ns, double nis, size_t dof);

/* What it says of a sensor, or of all of them jointly, in the window that is furthest beyond its limit by now. Times are
 * those of the samples. */
typedef struct bramah_alarm_state {
  int raised; /* 1: now. It ends when a window as long as the one that raised it is below half its limit */
  uint64_t times;         /* raised since init */
  bramah_alarm_kind kind; /* of the present alarm, or the last one, and all that follows */
  int64_t since_ns;       /* the window began: it is wrong since then, or earlier */
  int64_t raised_ns;
  double size; /* of the test, in standard deviations; limit: beyond which the alarm is raised */
  double limit;
  /* mean of the innovations in the unit of the sensor; mean square over sigma^2; correlation */
  double amount;
} bramah_alarm_state;

/* Of sensor i, or of all jointly for i = n_sensors of the filter. */
BRAMAH_API bramah_alarm_state bramah_alarm_get(const bramah_alarm *alarm, size_t i);
/* Alarms raised now, sensors and all jointly. */
BRAMAH_API size_t bramah_alarm_count(const bramah_alarm *alarm);

/* Expected delay [s] until an offset of so many sigmas in the innovations of sensor i, from one sample to the next and for
 * good, raises the alarm of its mean; infinite: never. */
BRAMAH_API double bramah_alarm_delay(const bramah_alarm *alarm, size_t i, double sigmas);

/* The whole state, copied to and from snap [size bytes, 8-byte aligned], exact to the bit; save and restore it together with
 * the filter. Sealed and checked like snapshots of a filter, the same errors. */
BRAMAH_API size_t bramah_alarm_snapshot_size(const bramah_alarm *alarm);
BRAMAH_API void bramah_alarm_save(const bramah_alarm *alarm, void *snap);
BRAMAH_API bramah_status bramah_alarm_restore(bramah_alarm *alarm, const void *snap);
BRAMAH_API bramah_status bramah_alarm_check_snapshot(const bramah_alarm *alarm, const void *snap, size_t size,
                                                     bramah_diag *diag);

#ifdef __cplusplus
}
#endif
#endif
