/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A log through the filter of a study, and whether the filter can be trusted: what `bramah replay` does, with
 * results as structures; and the statistics it rests on. Part of libbramah-tools.
 *
 *   bramah_assess_new(session, bramah_log_stream_next, log, NULL, &diag, &a);
 *   while (!(status = bramah_assess_next(a, &end, &diag)) && !end) ... bramah_assess_estimate(a) ...
 *   if (bramah_assess_get_results(a)->verdict.contradicted) ...
 */
#ifndef BRAMAH_ASSESS_H
#define BRAMAH_ASSESS_H

#include "bramah/alarm.h"
#include "bramah/plausibility.h"
#include "bramah/session.h"
#include "bramah/replay.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- statistics ---- */

/* Whether samples that should be white, such as innovations over their sigmas, are: a filter that leaves something
 * in its innovations has correlated ones. Sources: G. E. P. Box, G. M. Jenkins, Time Series Analysis (1970); G. M.
 * Ljung, G. E. P. Box, Biometrika 65 (1978). */
typedef struct bramah_whiteness {
  size_t n, lags;   /* samples; lags 1, 2, ... looked at, 0: none */
  const double *r;  /* [lags] autocorrelations about the mean */
  double band;      /* 1.96 / sqrt(n): holds 95 % of the autocorrelations of white samples */
  size_t outside;   /* lags beyond it */
  double ljung_box; /* n (n + 2) sum of r_k^2 / (n - k): chi-square with `lags` degrees of freedom if white */
  double p_value;   /* probability of so large a value if white */
} bramah_whiteness;

/* Condition number of a covariance P [n x n], row-major, without its units: largest by smallest eigenvalue of the
 * matrix of correlations. 1 if nothing is correlated; near 1/DBL_EPSILON, its largest value, the covariance is about
 * to lose its positive definiteness. work [n n]. By cyclic Jacobi rotations.
 * Source: G. H. Golub, C. F. Van Loan, Matrix Computations (2013), 8.5. Errors: E_NOT_SPD (a variance that is
 * not positive), E_NOT_FINITE. */
BRAMAH_API bramah_status bramah_conditioning(size_t n, const double *P, double *work, double *condition,
                                             bramah_diag *diag);

/* ---- a log through a filter ---- */

typedef struct bramah_assess bramah_assess;

/* What is wanted besides the filter itself. */
typedef struct bramah_assess_options {
  int64_t to_ns;        /* no estimate is later; default INT64_MAX */
  const char *truth;    /* file with the true motion, any log; default NULL: none */
  int model_alone;      /* 1: the model runs along without corrections; default 0 */
  int whiteness;        /* 1: autocorrelations of the innovations of each sensor; default 0 */
  int64_t smooth_to_ns; /* keep all steps up to this time of the log for the backward pass; default INT64_MIN:
                            none */
  size_t smooth_memory; /* [bytes] at most, for them; default 2e9 */
  double (*clock)(void);    /* [s] to time each step with; default NULL: times are 0 */
  bramah_listener listener; /* called for every sample when it is fused or rejected; default: none */
  /* Called with a text on what is worth knowing but no error: the model without corrections cannot go on, the
   * snapshot has no truth. Default NULL. */
  void (*tell)(void *user, const char *text);
  void *tell_user;
} bramah_assess_options;

/* All of them at their defaults. */
BRAMAH_API void bramah_assess_options_default(bramah_assess_options *options);

/* Connect the rows of `source` with the filter of a session, which must be at its start and outlive the
 * assessment; nothing is read yet. The study decides on noise that adapts, on delays, and with unknown inputs on a
 * second filter that knows them (bramah_input_cost). If the source is bramah_log_stream_next, errors have file and
 * line, and snapshots keep the place in the log. options NULL: defaults. Allocates; release it with
 * bramah_assess_free. Errors: those of bramah_replay_new, bramah_session_new_adaptive and of opening the truth;
 * E_UNIT (truth); E_VALUE (noise that adapts together with delays or the backward pass). */
BRAMAH_API bramah_status bramah_assess_new(bramah_session *session, bramah_source source, void *source_user,
                                           const bramah_assess_options *options, bramah_diag *diag,
                                           bramah_assess **out);
BRAMAH_API void bramah_assess_free(bramah_assess *assess); /* NULL allowed */

/* Go on to the next estimate; *end = 1 when there is none. Errors: those of bramah_replay_next, of the truth and, at
 * the first estimate, of bramah_smoother_new (E_MEMORY). All results are then those of the estimates before. */
BRAMAH_API bramah_status bramah_assess_next(bramah_assess *assess, int *end, bramah_diag *diag);
/* Next until the end. */
BRAMAH_API bramah_status bramah_assess_run(bramah_assess *assess, bramah_diag *diag);

/* The run ends here by an error outside of it, such as a full disk: as after an error of bramah_assess_next nothing is
 * said in favour of the filter any more (bramah_verdict.broken_off). */
BRAMAH_API void bramah_assess_break_off(bramah_assess *assess);

/* What a look at machine, study and log found to be certain (bramah_plausibility), or NULL: with it nothing is said in
 * favour of the filter. It must outlive the assessment. */
BRAMAH_API void bramah_assess_doubt(bramah_assess *assess, const bramah_doubt *doubt);

/* After a run: look at machine, study and the first 20 s of the log it took, which begins at from_ns; if the log
 * contradicts the filter, at the motion of the model too. The first that is certain goes into the verdict
 * (bramah_assess_doubt). *out NULL: there was nothing to look at, that is no estimate, a run that goes on from a snapshot,
 * or a log that is no file. Allocates; *out must outlive the assessment, released by bramah_plausibility_free. Errors: those of
 * bramah_plausibility_new. */
BRAMAH_API bramah_status bramah_assess_look_over(bramah_assess *assess, size_t n, const char *const *logs,
                                                 int64_t from_ns, bramah_diag *diag,
                                                 bramah_plausibility **out);

/* The backward pass: estimates that use later measurements too. Once, after the last estimate that is wanted; then
 * bramah_assess_next goes through the same times again, from the first on, and bramah_assess_estimate has the
 * smoothed values. It changes the state of the session's plant and filter. Errors:
 * E_ARGUMENT (no smooth_to_ns, or no estimate), those of bramah_smoother_run and bramah_smoother_show, those of the
 * truth, which is read a second time. */
BRAMAH_API bramah_status bramah_assess_smooth(bramah_assess *assess, bramah_diag *diag);

/* Write the whole state to a file between two estimates, to continue later as if the run had not been interrupted.
 * The file is replaced at once, so that it is complete at any time. text: any text, kept in it. It is for the same
 * study and machine files, version and kind of computer. Errors: E_FILE, E_MEMORY. */
BRAMAH_API bramah_status bramah_assess_save(bramah_assess *assess, const char *path, const char *text,
                                            bramah_diag *diag);
/* Before the first estimate: continue from such a file, with the same log (rows used before are skipped) or with what
 * follows it. text [size]: the text that was saved. Errors: E_FILE, E_SYNTAX (no snapshot, or damaged),
 * E_VALUE (of another study, machine or version), E_UNSUPPORTED (with the backward pass). */
BRAMAH_API bramah_status bramah_assess_resume(bramah_assess *assess, const char *path, char *text,
                                              size_t size, bramah_diag *diag);

/* ---- its results, at any time ---- */

/* An augmented state of the filter at present; after the backward pass, at the end of the run. */
typedef struct bramah_augmented_estimate {
  const char *name, *at, *unit; /* at: parameter or sensor */
  bramah_augmented_kind kind;
  int is_shown; /* 1: an output of the plant shows it: the command of an unknown input */
  double value, sigma;
  int is_estimated;          /* 0: considered so far */
  int64_t estimated_from_ns; /* time of the log; INT64_MIN: from the start on; INT64_MAX: not yet */
} bramah_augmented_estimate;

/* The present estimate, in SI. Arrays last as long as the assessment. */
typedef struct bramah_estimate {
  int64_t time_ns;                     /* of the log */
  int corrected;                       /* 1: a measurement was fused at this time */
  size_t dof;                          /* degrees of freedom of the NIS of all that was fused; smoothed: 0 */
  double nis, nis_low, nis_high;       /* by them, and the 95 % band of that; NaN: nothing was fused */
  const double *value, *sigma, *truth; /* [n_output of the plant]; sigma and truth NaN where there is none */
  const double *model;                 /* [n_output] of the model alone, where there is a sigma; NaN: none */
  const double *measured;              /* [n_sensors] fused or rejected last at this time; NaN: none */
  const bramah_innovation *innovation; /* [n_sensors] as in bramah_replay_report */
  const bramah_augmented_estimate *augmented; /* [n_augmented of the filter] */
} bramah_estimate;

/* At the present time. Standard deviations are computed by the first call. Hidden outputs have no values. */
BRAMAH_API const bramah_estimate *bramah_assess_estimate(bramah_assess *assess);
/* Nobody will look at the standard deviation of this output, which takes longer than its value: it is NaN from now on. */
BRAMAH_API void bramah_assess_skip_sigma(bramah_assess *assess, size_t output);

/* Tables of estimates, to plot and to compute with: columns of `room` values each, the value of column j at the i-th time
 * at [j * room + i]. NULL: not wanted. Those of outputs have the columns of bramah_assess_results.output, those of sensors
 * and augmented states theirs. NaN: there is none. */
typedef struct bramah_estimate_table {
  size_t room, n;                            /* times it has room for; times in it */
  int64_t *time_ns;                          /* [room] */
  double *nis, *dof;                         /* [room] of all that was fused, and its degrees of freedom */
  double *value, *sigma, *truth, *model;     /* [n_outputs x room] SI */
  double *measured, *innovation, *deviation; /* [n_sensors x room] deviation: the innovation's sigma */
  double *accepted;                          /* [n_sensors x room] 1: fused, 0: rejected */
  double *augmented, *augmented_sigma;       /* [n_augmented x room] */
} bramah_estimate_table;
/* Put an estimate of this assessment, or of hypotheses with it as a member, behind those that are there. No allocation.
 * Errors: E_ARGUMENT (no room). */
BRAMAH_API bramah_status bramah_estimate_table_add(bramah_estimate_table *table, const bramah_assess *assess,
                                                   const bramah_estimate *estimate, bramah_diag *diag);
/* Next and add, until the table is full or *end. Errors: those of bramah_assess_next; the table then has the estimates before. */
BRAMAH_API bramah_status bramah_assess_fill(bramah_assess *assess, bramah_estimate_table *table, int *end,
                                            bramah_diag *diag);

/* An output of the plant that is not hidden. */
typedef struct bramah_assess_output {
  size_t output; /* of the plant */
  const char *name, *unit;
  int has_sigma; /* 1: its estimate has a standard deviation */
  int has_truth; /* 1: the truth has it, and it has a standard deviation */
  long sensor;   /* the one that measures just this, -1: none */
} bramah_assess_output;
/* Counts and times of the whole run. */
typedef struct bramah_assess_totals {
  uint64_t estimates, resumed;         /* all; of them before the snapshot this run went on from */
  int64_t first_ns, last_ns;           /* of all estimates */
  int64_t begin_ns;                    /* first of this run, or where the snapshot ended */
  int exhausted;                       /* 1: the log has ended and all its rows are used */
  uint64_t without_truth;              /* estimates without a row of the truth within half a step */
  double nees;                         /* mean per state against the truth, NaN where it is not known */
  uint64_t nees_times;                 /* at which it was */
  double filter_seconds, step_seconds; /* of the clock, for filter and replay without reading; last step */
  size_t smooth_bytes, smooth_steps;   /* memory of the backward pass; steps it has gone through */
} bramah_assess_totals;
/* As of the present estimate. */
BRAMAH_API bramah_assess_totals bramah_assess_get_totals(const bramah_assess *assess);

enum { BRAMAH_EVENT_TIMES = 16 };
/* A rare event: how often, and when. */
typedef struct bramah_event {
  uint64_t n;
  int lasts;                                                 /* 1: the last one is not over */
  double begin[BRAMAH_EVENT_TIMES], end[BRAMAH_EVENT_TIMES]; /* [s] of the log, of the first so many */
} bramah_event;

/* Innovations of a sensor, or of all together. NaN where nothing was fused. */
typedef struct bramah_consistency {
  const char *name, *unit; /* of the sensor; NULL: all together */
  uint64_t samples, fused, gated, saturated;
  double nis;      /* mean NIS per degree of freedom; all together: of what was fused at one time */
  double expected; /* what the gates leave of 1 */
  /* mean share of the innovations' variance that comes from considered states: by so much nis may be smaller where these
   * happen to be right */
  double considered;
  double low, high; /* 95 % band of nis, about what is expected */
  /* Of sensors only: correlation of a normalised innovation with the one before; with the option `whiteness` its
   * autocorrelations since the start or the snapshot, up to lag 50 and a quarter of the samples; times at which
   * the sensor counted as faulty (bramah_filter_sensor_fault). */
  double lag_1;
  bramah_whiteness whiteness;
  bramah_event fault;
} bramah_consistency;

/* Errors against the truth. NaN where nothing was compared. */
typedef struct bramah_rmse {
  uint64_t n;     /* values compared */
  double value;   /* root mean square error */
  double percent; /* by the largest magnitude of the truth */
  double inside;  /* share within 1.96 sigma, 0 to 1, of the errors that have a sigma */
} bramah_rmse;

/* Errors of an output: of the estimate, the model alone, the raw sensor, the smoothed estimate. */
typedef struct bramah_accuracy {
  size_t output; /* of the plant */
  const char *name, *unit;
  bramah_rmse estimate, model, measured, smoothed;
  uint64_t judged, within; /* errors that have a sigma; of them those within 2 * 1.96 sigma */
  double within_twice;     /* their share, 0 to 1 */
} bramah_accuracy;

/* Noise that adapts, at present, by what the study states. */
typedef struct bramah_adapted {
  const char *name; /* of the sensor, or of the rate or state it acts on */
  double factor, sigma;
  int limited; /* 1: the last change was held at a limit */
} bramah_adapted;

/* What unknown inputs cost: mean standard deviations of an output. The second filter has the same measurements and
 * takes the commands that the first one estimates as known. */
typedef struct bramah_input_cost {
  const char *name, *unit;
  double sigma;
  double sigma_known; /* NaN: the output is the command itself */
} bramah_input_cost;

/* An output that a sensor could move out of its band unnoticed: what no test can see (bramah_monitor_hidden_of). */
typedef struct bramah_hidden {
  const char *name, *unit, *sensor, *sensor_unit;
  double offset, effect, sigmas; /* of the sensor, at most; of the output by it; in its standard deviations */
  double begin, end; /* [s] of the log: it begins, and is looked for until then, in the worst case */
  double share;      /* of the time at which it could */
} bramah_hidden;

/* Whether a log contradicts what the filter says of itself: its innovations and, with a truth, its errors against its
 * covariance. Innovations over their sigmas are tested in windows of 1 s, of 10 s and in all, from a second after the
 * first on, sensor by sensor, their sum of squares jointly too. A test fails that is beyond what happens by accident in
 * one of a thousand runs, however many tests there are, *and* beyond what matters: the predicted measurement is off by
 * more than its own standard deviation (lib/assess/windows.c). The other checks need 50 samples. */
typedef enum bramah_check_kind {
  BRAMAH_CHECK_NIS = 0,        /* mean NIS of a sensor over all, by what its gate leaves: at most 2.25 */
  BRAMAH_CHECK_GATED = 1,      /* [%] of its samples that the gate rejects: at most 10 */
  BRAMAH_CHECK_FAULT = 2,      /* it counts as faulty at the end: no */
  BRAMAH_CHECK_RECOVERIES = 3, /* times the filter was found wrong: none */
  BRAMAH_CHECK_ERRORS = 4,     /* [%] of the errors of an output within 2 * 1.96 sigma: at least 90 */
  BRAMAH_CHECK_NEES = 5,       /* mean NEES per state: at most 4 */
  /* by how much a pressure was beyond its limit (bramah_limit), 3.92 sigma granted: 0 */
  BRAMAH_CHECK_PRESSURE = 6,
  BRAMAH_CHECK_STROKE = 7, /* the same of strokes */
  BRAMAH_CHECK_LOOP = 8,   /* of gaps of loops, and */
  BRAMAH_CHECK_POSE = 9,   /* of singular poses, and */
  BRAMAH_CHECK_STEP = 10,  /* of the error of a step, all three without sigma */
  /* [J] that steps (not corrections) have made from nothing: at most bramah_energy.limit */
  BRAMAH_CHECK_ENERGY = 11,
  /* The worst window, in standard deviations of */
  BRAMAH_CHECK_MEAN = 12,        /* a mean innovation */
  BRAMAH_CHECK_VARIANCE = 13,    /* a mean NIS that is too large */
  BRAMAH_CHECK_CORRELATION = 14, /* a correlation at lag 1 */
  BRAMAH_CHECK_REJECTED = 15,    /* more than a tenth of the samples rejected */
  BRAMAH_CHECK_SMALL = 16, /* a mean NIS that is too small: noise is overestimated; never a contradiction */
  BRAMAH_CHECK_ANTI = 17,  /* a negative correlation at lag 1: the same */
  /* Mean innovation of a sensor in its standard deviations where noise adapts (bramah_adaptive_bias), the worst */
  BRAMAH_CHECK_BIAS = 18,
  /* An error of a sensor leaves its stated uncertainty in the budget, in the worst window, in
   * standard deviations of what the budget grants (bramah_monitor_state); `amount`: its change */
  BRAMAH_CHECK_STATED = 19,
  /* A sensor is off by the same from the begin of a window to its end (bramah_monitor_offset); `amount`: by how much */
  BRAMAH_CHECK_OFFSET = 20
} bramah_check_kind;

/* One check. */
typedef struct bramah_finding {
  bramah_check_kind kind;
  const char *what;          /* "mean NIS" */
  const char *at;            /* sensor or output, or "" */
  const char *unit;          /* "%" or "" */
  double value, least, most; /* tolerated; most infinite: no limit */
  int passed;
  int noted; /* 1: passed, but no accident: noise is overestimated, or a deviation too small to matter */
  /* Of windows: what value is the size of (mean, NIS, correlation, share [%]), and when; else NaN */
  double amount, begin, end; /* [s] of the log */
  /* begin of the first window of that length that fails beyond doubt, at 6 standard deviations */
  double since;
} bramah_finding;

/* All checks. */
typedef struct bramah_verdict {
  int contradicted; /* 1: a check failed */
  int broken_off;   /* 1: none failed, but an error ended the run before its log: no verdict */
  int too_short;    /* 1: none failed, the run is whole, but no sensor had enough samples to be judged */
  /* None failed, but this is certain: what bramah_assess_doubt was given; or that innovations of a sensor are anticorrelated over
   * the run or a window of 10 s of it, by chance in one of a thousand runs, and by more than 0.1, while parameters are learned as constants. Process
   * noise that is not there drives these off (L. Ljung, IEEE Trans. AC-24, 1979). Not where noise adapts. NULL: nothing is */
  const bramah_doubt *doubt;
  uint64_t tests;                /* made, those of all windows included */
  size_t n, n_failed;            /* checks */
  const bramah_finding *finding; /* [n] */
  const bramah_finding *worst;   /* of the failed ones; NULL: none failed */
} bramah_verdict;

/* What a check tolerates: "0.25 to 2", "at most 10"; what it found: "crank_gyro, 12 to 13 s, mean 14 sigma (0.44)",
 * "crank_gyro: mean NIS 3.2, tolerated at most 2.25"; the verdict in a sentence: "contradicted: " and its worst finding,
 * "no contradiction found in 12345 tests", "too short to judge: ...", "none: the run was broken off ...", "doubted: " and the doubt. Written to out [n], cut to fit and always terminated
 * when n > 0. No allocation. */
BRAMAH_API void bramah_finding_tolerated(const bramah_finding *finding, char *out, size_t n);
BRAMAH_API void bramah_finding_text(const bramah_finding *finding, char *out, size_t n);
BRAMAH_API void bramah_verdict_text(const bramah_verdict *verdict, char *out, size_t n);
/* Keep a verdict's text beside the finished file of its estimates, in FILE.verdict with the size of FILE, so that a text beside another
 * file of that name is not believed. bramah_work_run reads it. Errors: E_FILE, E_MEMORY. */
BRAMAH_API bramah_status bramah_verdict_keep(const char *estimates, const char *text, bramah_diag *diag);
/* The same finding as a sentence for who does not know the check; what to do about one that failed, static. */
BRAMAH_API void bramah_finding_sentence(const bramah_finding *finding, char *out, size_t n);
BRAMAH_API const char *bramah_finding_advice(const bramah_finding *finding);
/* How near a finding is to its limit: 0 far from it, from 1 on it failed. */
BRAMAH_API double bramah_finding_closeness(const bramah_finding *finding);

/* All of it, as of the present estimate. */
typedef struct bramah_assess_results {
  bramah_assess_totals totals;
  size_t n_outputs, n_sensors, n_accuracies, n_augmented, n_adapted, n_input_costs, n_hidden,
      n_phases;                              /* 0: there are none */
  const bramah_assess_output *output;        /* [n_outputs] all that are not hidden, in the plant's order */
  const bramah_consistency *sensor;          /* [n_sensors] in the order of the study */
  bramah_consistency all;                    /* sensors */
  bramah_replay_report rows;                 /* of the log */
  int has_delays;                            /* 1: sensors have a delay; then */
  bramah_rewind_report late;                 /* of their samples */
  bramah_filter_report filter;               /* its counts */
  bramah_limit_event limit[BRAMAH_N_LIMITS]; /* estimates beyond a physical limit by more than 3.92 sigma */
  bramah_energy energy;                      /* of the steps between corrections, at the estimates */
  bramah_step_report steps; /* of the plant; with differenced transitions those of displaced steps too */
  /* [n_sensors + 1] the running alarm (bramah/alarm.h) of each sensor, and of all jointly: what it said when it was first
   * raised, by the time of the log, and how often it was */
  const bramah_alarm_state *alarm;
  bramah_event recoveries;         /* the filter was found wrong, its covariance reset; without ends */
  const bramah_accuracy *accuracy; /* [n_accuracies] of the outputs that the truth has */
  const bramah_augmented_estimate *augmented; /* [n_augmented] */
  const bramah_filter_phase *phase;           /* [n_phases] of the study */
  const bramah_adapted *adapted;              /* [n_adapted] */
  bramah_adaptive_report adaptation;          /* where noise adapts; else all zero */
  const bramah_input_cost *input_cost;        /* [n_input_costs] where inputs are unknown */
  const bramah_hidden *hidden;                /* [n_hidden] outputs with an uncertainty budget */
  bramah_verdict verdict;
} bramah_assess_results;
/* Valid until the next call of this or of bramah_assess_next. No allocation. */
BRAMAH_API const bramah_assess_results *bramah_assess_get_results(bramah_assess *assess);

/* ---- what would explain a contradiction ---- */

enum { BRAMAH_EXPLANATIONS = 6 }; /* shown, and all of the group of the first one */
/* A single cause that would explain innovations that are too large. */
typedef struct bramah_explanation {
  bramah_cause_kind kind;
  const char *what;        /* "parameter", "bias", "gain", "delay" */
  const char *name, *unit; /* of the parameter or sensor; unit of the change */
  double change, sigma; /* estimated: what is true less what the filter's model has; its standard deviation */
  double nominal;       /* of a parameter: what the model has; else NaN */
  double share;         /* of the excess that it explains, 0 to 1 */
  uint64_t group;       /* causes of one group cannot be told apart: the place of its first one */
} bramah_explanation;

/* What would explain the innovations of a stretch of the log, best first. */
typedef struct bramah_diagnosis {
  double begin, end;               /* [s] of the log: the stretch that it is about */
  double samples, excess;          /* chi-square of the innovations beyond the number of their samples */
  size_t n;                        /* 0: no single cause explains enough */
  const bramah_explanation *cause; /* [n] the one that explains most first */
  double from, to;                 /* [s] of the log: looked at */
  int is_part;                     /* 1: this is less than the log */
  /* A valve that opens (bramah_kink) at a volume whose pressure contradicts, if the estimate was within 4 sigma of where it does at more
   * than half of the samples in the first window that contradicts, and their share; NULL: there is none. There a filter is least
   * sure of being right: it takes an average of both sides of the opening */
  const char *opens;
  double opens_share;
} bramah_diagnosis;
/* After a run: its log once more, on `source` from its start, through a filter of its own with the transition `step`, along
 * with score tests of every parameter and of bias, gain and delay of every sensor (bramah_filter_get_scores): of causes
 * that were there from the start, and of causes that began around the first window that contradicts. Up to the end of that
 * window and up to the last estimate of the run: what explains a larger share. Without the uncertainty budget: what a single
 * cause would explain of a model that is taken as right.
 * A log with more steps than scores can be had of in about a second is looked at around that window only, for that long
 * or for an eightieth of its own length, three seconds at least, from the next estimate before that the assessment has
 * kept (64 to 128 of them, spread over the run; a second looked at costs as much as some six of the replay, measured
 * with 50 states, so that on logs below a minute it is more than a third of it): with the budget's values as they were
 * estimated by then, all of which are estimated from then on. Noise does not adapt. *out lasts as long as the session,
 * released by bramah_diagnosis_free (NULL allowed). Errors: those of bramah_filter_new and bramah_replay_next. */
BRAMAH_API bramah_status bramah_diagnose(bramah_assess *assess, bramah_source source, void *source_user,
                                         bramah_diag *diag, bramah_diagnosis **out);
BRAMAH_API void bramah_diagnosis_free(bramah_diagnosis *diagnosis);

/* ---- before a run ---- */

/* States that the sensors of a session do not observe, unknown inputs among them, over a short horizon from where its
 * filter starts, on a plant of its own: their names into names [size], cut to fit; *n how many (0: all are
 * observed, or their errors decay); *horizon [s]. Errors: those of bramah_session_start and
 * bramah_observability_run. */
BRAMAH_API bramah_status bramah_assess_unseen(const bramah_session *session, char *names, size_t size,
                                              size_t *n, double *horizon, bramah_diag *diag);

#ifdef __cplusplus
}
#endif
#endif
