/* SPDX-License-Identifier: MIT */
/* Replay: samples from a source through a filter, an estimate at a time. It knows no file and no clock, so a
 * log, a live controller and a test drive the same steps.
 *
 * Rows are stamped with the time of arrival. A sensor with a delay measured that much earlier: if any sensor
 * of the filter has one, the replay runs through a rewind buffer (bramah_rewind). The estimate delivered
 * for a time is then what could be known at that time; samples measured before the first row are left out and
 * counted.
 *
 * Time. The filter is at points a step apart, the first row sets the first of them. A sample is fused at
 * the nearest point (halfway between two, at the later) with its own time: innovation and row are formed at
 * the time it was measured, to first order in the offset tau, the error at most |y''| |tau| (h + |tau|) / 2
 * (bramah_filter_correct_at). At the point itself this is exact, with the bits of a filter that knows no
 * offsets. What comes after the first point belongs to the second one. Samples of a point are fused together
 * in their order, a sensor's second one after the others. A command holds from the time of its row on; a step
 * in which it changes is made with its mean over the step, as far as rows have been read. */
#ifndef BRAMAH_REPLAY_H
#define BRAMAH_REPLAY_H

#include "bramah/filter.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- the rewind buffer ---- */

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
 * with what was known then; when later ones make the filter pass its step again it is not reported anew. */
typedef struct bramah_rewind_use {
  size_t sensor;
  int64_t time_ns; /* of measurement */
  double y;
  bramah_innovation innovation;
} bramah_rewind_use;

/* Counts since the start, and what the last advance or settle did. */
typedef struct bramah_rewind_report {
  uint64_t samples;      /* accepted */
  uint64_t late;         /* of them: out-of-sequence: came after the estimate of their step */
  uint64_t too_old;      /* refused: measured before the window */
  uint64_t before_start; /* refused: measured before the start */
  uint64_t crowded;      /* left out: more than samples_per_step */
  uint64_t discarded;    /* given up by bramah_rewind_discard */
  uint64_t rewinds;      /* times the filter went back */
  uint64_t recomputed;   /* steps made again */
  int64_t deepest_ns;    /* furthest distance back, from the time estimated to the step of a late sample */
  int64_t oldest_ns;     /* earliest time of measurement that would be accepted now */
  /* Samples fused for the first time, in the order of their steps; valid until the next call */
  const bramah_rewind_use *use;
  size_t n_uses;
  /* Their NIS and its degrees of freedom: a correction made of new samples alone adds its whole y' S^-1 y,
   * one that holds used ones too only the NIS of each new sample. */
  double nis;
  size_t nis_dof;
} bramah_rewind_report;

/* All of it. */
BRAMAH_API bramah_rewind_report bramah_rewind_get_report(const bramah_rewind *rewind);

/* The whole state, that of the filter and its plant included, copied to and from snap [size bytes, 8-byte
 * aligned], exact to the bit. Restore it into a buffer made alike; nothing was used then. Sealed and checked
 * like snapshots of a filter, the same errors: another window, interval or number of samples a step makes
 * another buffer. On error the buffer is as it was. */
BRAMAH_API size_t bramah_rewind_snapshot_size(const bramah_rewind *rewind);
BRAMAH_API void bramah_rewind_save(const bramah_rewind *rewind, void *snap);
BRAMAH_API bramah_status bramah_rewind_restore(bramah_rewind *rewind, const void *snap);
BRAMAH_API bramah_status bramah_rewind_check_snapshot(const bramah_rewind *rewind, const void *snap,
                                                      size_t size, bramah_diag *diag);

/* ---- replay ---- */

/* One row of a log. */
typedef struct bramah_sample {
  int64_t time_ns;
  double *inputs;           /* [n_input] commands from this time on */
  unsigned char *has_input; /* [n_input] 0: the former command goes on */
  double *y;                /* [n_sensors] */
  unsigned char *present;   /* [n_sensors] 0: no sample of this sensor */
  int64_t mark;             /* the source's own, such as the line of a file: see bramah_replay_report */
} bramah_sample;

/* Fill the next sample; set *end = 1 instead when there is none. Flags and mark are zeroed by the caller
 * beforehand. After an error or the end it is not called again. */
typedef bramah_status (*bramah_source)(void *user, bramah_sample *sample, int *end, bramah_diag *diag);

/* Called for every sample when it is fused (or rejected) for the first time, in the order of fusion, while
 * bramah_replay_next runs; time_ns is that of measurement on the clock of the log. NULL: nobody listens. */
typedef struct bramah_listener {
  void *user;
  void (*used)(void *user, const bramah_rewind_use *use);
} bramah_listener;

/* How rows and steps come together. */
typedef struct bramah_replay_options {
  int64_t max_gap_ns; /* a larger jump ahead in time is an error; default 10 s */
  int gather; /* 1: read ahead to the first row beyond a point, so that all its samples are fused before it is
                 delivered and commands of the step to it are known; 0 (default): live, no row is waited for
                 that is not needed, and those that come after their point was delivered are fused by the
                 next call, commands with the step that follows */
  bramah_watcher watcher; /* of every call of the filter, those made again for late samples included */
  bramah_listener listener;
  /* NULL (default), or what stands for the rows of its source: of replays in lockstep that have the same, steps and inputs of
   * the same length, and neither delays nor a listener, one reads for all. The others' sources are not called; they have no
   * report and no snapshot, nor do they go on alone afterwards. */
  const void *rows;
} bramah_replay_options;

/* All of them at their defaults. */
BRAMAH_API void bramah_replay_options_default(bramah_replay_options *options);

typedef struct bramah_replay bramah_replay;

/* Make a replay of `source` through `filter`, which must outlive it and stand where it is to start. options
 * may be NULL (defaults). Memory is taken here, once; release it with bramah_replay_free. Errors: E_MEMORY,
 * E_VALUE (a delay of more than 10^6 steps). */
BRAMAH_API bramah_status bramah_replay_new(bramah_filter *filter, const bramah_replay_options *options,
                                           bramah_source source, void *source_user, bramah_diag *diag,
                                           bramah_replay **out);
BRAMAH_API void bramah_replay_free(bramah_replay *replay); /* NULL allowed */

/* Go on to the next point of the step grid: fuse the samples that belong to it. The first sample sets the
 * start. *end = 1 when the source has ended and every sample was used; else *time_ns is the time of the point
 * on the clock of the log, and *corrected whether a measurement was fused there. The estimate of that time is
 * in the filter until the next call. A row that cannot be read is reported once everything before it has been
 * delivered. No allocation. Errors: those of the source, the filter and the watcher; E_TIME (time goes
 * backwards, or jumps ahead beyond max_gap). */
BRAMAH_API bramah_status bramah_replay_next(bramah_replay *replay, int64_t *time_ns, int *corrected, int *end,
                                            bramah_diag *diag);

/* ---- several replays in lockstep ---- */

/* Replays whose filters make their steps and corrections together (bramah_batch_of): candidates of a tuning, runs of a study,
 * several logs. Each shows what it shows alone, byte for byte. */
typedef struct bramah_lockstep bramah_lockstep;

/* Where one of them is, as bramah_replay_next says it. */
typedef struct bramah_replay_point {
  int64_t time_ns;
  int corrected, end;
  bramah_status status; /* other than OK: with diag */
  bramah_diag diag;
} bramah_replay_point;

/* Of replays [n], which must outlive it, each of a filter of its own on a plant made by bramah_coupled_new or _init.
 * Filters that bramah_batch_of does not take together make their cycles one after the other. Released by
 * bramah_lockstep_free (NULL allowed). Errors: E_MEMORY. */
BRAMAH_API bramah_status bramah_lockstep_new(size_t n, bramah_replay *const *replays, bramah_diag *diag,
                                             bramah_lockstep **out);
BRAMAH_API void bramah_lockstep_free(bramah_lockstep *lockstep);

/* The filter of replay i as it is now. Between points, and in watchers, a filter itself shows what its last correction says
 * of the samples (bramah_filter_get_last: innovation, nis) and may be old otherwise; bramah_lockstep_free completes it. */
BRAMAH_API bramah_filter *bramah_lockstep_filter(bramah_lockstep *lockstep, size_t i);

/* Every replay goes on to its next point, at [n]; those whose `end` or `status` is set stay as they are. No allocation. */
BRAMAH_API void bramah_lockstep_next(bramah_lockstep *lockstep, bramah_replay_point *at);

/* Counts since the start, and what the last call of next did. */
typedef struct bramah_replay_report {
  uint64_t samples;      /* rows taken from the source */
  uint64_t steps;        /* plant steps */
  uint64_t measurements; /* scalar measurements fused */
  uint64_t merged;      /* rows that fell on a grid point already delivered and were fused there afterwards */
  uint64_t off_grid;    /* rows whose time was not that of a grid point */
  int64_t max_shift_ns; /* furthest from the one it belongs to */
  /* [n_sensors] of the samples fused for the first time, of several of one sensor the last; the NIS of all of
   * them with its degrees of freedom (with delays as in bramah_rewind_report) */
  const bramah_innovation *innovation;
  double nis;
  size_t nis_dof;
  const double *inputs; /* [n_input] commands that the plant held over the last step */
  int64_t mark;    /* of the last row whose samples were taken; after an error, of the row it came with */
  int64_t read_ns; /* time of the row taken last from the source; those up to it are used, or wait to be */
  /* 1: the source has ended and all its rows are used. The next call of next says so, and with delays fuses
   * what has not arrived yet. */
  int exhausted;
  const bramah_rewind *rewind; /* the buffer in use, for its counts; NULL without delays */
} bramah_replay_report;

/* All of it. */
BRAMAH_API bramah_replay_report bramah_replay_get_report(const bramah_replay *replay);

/* The whole state, that of the filter, its plant, the rewind buffer and the rows that wait included, copied
 * to and from snap [size bytes, 8-byte aligned], exact to the bit. Save between two calls of next; where a
 * log ends that may go on later, before the call that says so (`exhausted` of the report). Restore it into a
 * replay made alike; its source then goes on with the row after read_ns of the report, the innovations of the
 * last step are gone. What adapts the noise (bramah/adaptive.h) is saved on its own. Sealed and checked like
 * snapshots of a filter, the same errors; the replay is then as it was. */
BRAMAH_API size_t bramah_replay_snapshot_size(const bramah_replay *replay);
BRAMAH_API void bramah_replay_save(const bramah_replay *replay, void *snap);
BRAMAH_API bramah_status bramah_replay_restore(bramah_replay *replay, const void *snap);
BRAMAH_API bramah_status bramah_replay_check_snapshot(const bramah_replay *replay, const void *snap,
                                                      size_t size, bramah_diag *diag);

#ifdef __cplusplus
}
#endif
#endif
