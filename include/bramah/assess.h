/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A log through the filter of a study, and whether the filter can be trusted: what `bramah replay` does, with
 * results as structures; and the statistics it rests on. Part of libbramah-tools.
 *
 *   bramah_assess_new(session, bramah_log_stream_next, log, NULL, &diag, &a);
 *   while (!(status = bramah_assess_next(a, &end, &diag)) && !end) ... bramah_assess_estimate(a) ...
 *   if (bramah_assess_get_results(a)->verdict.consistent) ...
 */
#ifndef BRAMAH_ASSESS_H
#define BRAMAH_ASSESS_H

#include "bramah/session.h"
#include "bramah/replay.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- statistics ---- */

/* Running sums of squares of errors and of the largest magnitude of the true signal. Zero-initialise. */
typedef struct bramah_rmse {
  uint64_t n;
  double sum_squares;
  double max_truth;
  uint64_t inside; /* errors within 1.96 sigma */
  uint64_t banded; /* errors that came with a sigma */
} bramah_rmse;
/* Add an error with its true value; sigma NaN where there is none. */
BRAMAH_API void bramah_rmse_add(bramah_rmse *rmse, double truth, double estimate, double sigma);
BRAMAH_API double bramah_rmse_value(const bramah_rmse *rmse);   /* NaN when empty */
BRAMAH_API double bramah_rmse_percent(const bramah_rmse *rmse); /* of the absolute maximum of the truth */
BRAMAH_API double
bramah_rmse_inside(const bramah_rmse *rmse); /* share inside +-1.96 sigma, 0 to 1; NaN when empty */

/* Running mean of a normalised innovation squared. Zero-initialise. */
typedef struct bramah_nis {
  uint64_t n; /* samples */
  double sum; /* of the squares */
  double dof; /* sum of their degrees of freedom */
} bramah_nis;
/* Add the NIS of one correction. */
BRAMAH_API void bramah_nis_add(bramah_nis *nis, double value, double degrees_of_freedom);
BRAMAH_API double bramah_nis_mean(const bramah_nis *nis); /* per degree of freedom: 1 if consistent */

/* Two-sided band that the mean of chi-square variables with so many degrees of freedom in all, divided by
 * that number, holds with the given probability (0.95). Errors: E_VALUE. */
BRAMAH_API bramah_status bramah_nis_band(double degrees_of_freedom, double probability, double *low,
                                         double *high, bramah_diag *diag);

/* What a gate of so many standard deviations (0: none) leaves of a mean NIS of 1: the mean of x^2 of a standard
 * normal x with |x| < gate, 1 - 2 g phi(g) / (2 Phi(g) - 1). */
BRAMAH_API double bramah_nis_left_by_gate(double gate);

/* Normalised estimation error squared e' P^-1 e of an error e [n] against its covariance P [n x n],
 * row-major: chi-square with n degrees of freedom if the filter is consistent. Sum it over runs and times
 * with bramah_nis_add (n degrees of freedom each); bramah_nis_band is the band of its mean where they are
 * independent, as those of different runs at one time are. Source: Y. Bar-Shalom, X. R. Li, T. Kirubarajan,
 * Estimation with Applications to Tracking and Navigation (2001), 5.4. work [n (n + 2)]. Errors: E_NOT_SPD,
 * E_NOT_FINITE (*nees is left alone). */
BRAMAH_API bramah_status bramah_nees(size_t n, const double *e, const double *P, double *work, double *nees,
                                     bramah_diag *diag);

/* Whether samples that should be white, such as innovations, are: a filter that leaves something in its
 * innovations has correlated ones. Divide them by their sigma first where it changes. */
typedef struct bramah_whiteness {
  size_t n, lags;
  double band;      /* 1.96 / sqrt(n): holds 95 % of the autocorrelations of white samples */
  size_t outside;   /* lags beyond it */
  double ljung_box; /* n (n + 2) sum of r_k^2 / (n - k): chi-square with `lags` degrees of freedom if white */
  double p_value;   /* probability of so large a value if white */
} bramah_whiteness;

enum { BRAMAH_AUTOCORRELATION_LAGS = 50 };
/* Of samples that come one by one, however many, none of them kept; up to so many lags. Zero-initialise. */
typedef struct bramah_autocorrelation {
  uint64_t n;
  double shift; /* the first sample: taken off all, for the sake of rounding */
  double sum, squares;
  double products[BRAMAH_AUTOCORRELATION_LAGS]; /* with the sample so many before */
  double first[BRAMAH_AUTOCORRELATION_LAGS], last[BRAMAH_AUTOCORRELATION_LAGS]; /* samples; a ring */
} bramah_autocorrelation;

/* One more sample. */
BRAMAH_API void bramah_autocorrelation_add(bramah_autocorrelation *a, double x);
/* Autocorrelations r [lags] of all samples so far at lags 1, 2, ..., about their mean, and what they say.
 * Sources: G. E. P. Box, G. M. Jenkins, Time Series Analysis (1970); G. M. Ljung, G. E. P. Box, Biometrika 65
 * (1978). Errors: E_VALUE (no lag, more than the number above, not more samples than lags + 1, or all the
 * same), E_NOT_FINITE. */
BRAMAH_API bramah_status bramah_autocorrelation_test(const bramah_autocorrelation *a, size_t lags, double *r,
                                                     bramah_whiteness *out, bramah_diag *diag);

/* Condition number of a covariance P [n x n], row-major, freed from its units: largest by smallest eigenvalue
 * of the matrix of correlations. 1 if nothing is correlated; near 1/DBL_EPSILON the covariance is about to
 * lose its positive definiteness (never given as more than that). work [n n]. By cyclic Jacobi rotations.
 * Source: G. H. Golub, C. F. Van Loan, Matrix Computations (2013), 8.5. Errors: E_NOT_SPD (a variance that is
 * not positive), E_NOT_FINITE. */
BRAMAH_API bramah_status bramah_conditioning(size_t n, const double *P, double *work, double *condition,
                                             bramah_diag *diag);

/* Probability that a chi-square variable with so many degrees of freedom (> 0) exceeds x. */
BRAMAH_API double bramah_chi_square_above(double x, double degrees_of_freedom);

/* ---- a log through a filter ---- */

typedef struct bramah_assess bramah_assess;

/* What is wanted besides the filter itself. */
typedef struct bramah_assess_options {
  int64_t to_ns;        /* no estimate is later; default INT64_MAX */
  const char *truth;    /* file with the true motion, CSV or MAT; default NULL: none */
  int model_alone;      /* 1: the model runs along without corrections; default 0 */
  int whiteness;        /* 1: autocorrelations of the innovations of each sensor; default 0 */
  int64_t smooth_to_ns; /* keep all steps up to this time of the log for the backward pass; default INT64_MIN:
                            none */
  size_t smooth_memory; /* [bytes] at most, for them; default 2e9 */
  double (*clock)(void);    /* [s] by which the time of each step is taken; default NULL: it is not */
  bramah_listener listener; /* called for every sample when it is fused or rejected; default: none */
  /* Told in words what the user should know and is no error: the model without corrections cannot go on, the
   * snapshot knows no truth. Default NULL. */
  void (*tell)(void *user, const char *text);
  void *tell_user;
} bramah_assess_options;

/* All of them at their defaults. */
BRAMAH_API void bramah_assess_options_default(bramah_assess_options *options);

/* Prepare the rows of `source` for the filter of a session, which must be at its start and outlive the
 * assessment; nothing is read yet. With what the study asks for: noise that adapts, delays, and for unknown
 * inputs a second filter to which the estimated commands are given as known (bramah_input_cost). If
 * the source is bramah_log_stream_next, errors have file and line, and snapshots hold the place in
 * the log. options NULL: defaults. Takes memory, release it with bramah_assess_free. Errors: those of
 * bramah_replay_new, bramah_session_new_adaptive and of opening the truth; E_UNIT (truth); E_VALUE (noise that
 * adapts together with delays or the backward pass). */
BRAMAH_API bramah_status bramah_assess_new(bramah_session *session, bramah_source source, void *source_user,
                                           const bramah_assess_options *options, bramah_diag *diag,
                                           bramah_assess **out);
BRAMAH_API void bramah_assess_free(bramah_assess *assess); /* NULL allowed */

/* Go on to the next estimate and count, compare and judge it; *end = 1 when there is none. Errors: those of
 * bramah_replay_next, of the truth and, at the first estimate, of bramah_smoother_new (E_MEMORY). All results
 * are then those of the estimates before. */
BRAMAH_API bramah_status bramah_assess_next(bramah_assess *assess, int *end, bramah_diag *diag);
/* Next until the end. */
BRAMAH_API bramah_status bramah_assess_run(bramah_assess *assess, bramah_diag *diag);

/* The backward pass, once, after the last estimate that is wanted (estimates that use what was measured later
 * too); then bramah_assess_smooth_next goes through the same times again, from the first on, as
 * bramah_assess_next does, and bramah_assess_estimate tells the smoothed values. Plant and filter of the
 * session are moved by it. Errors: E_ARGUMENT (no smooth_to_ns, or no estimate), those of bramah_smoother_run
 * and bramah_smoother_show, those of the truth, which is read a second time. */
BRAMAH_API bramah_status bramah_assess_smooth(bramah_assess *assess, bramah_diag *diag);
BRAMAH_API bramah_status bramah_assess_smooth_next(bramah_assess *assess, int *end, bramah_diag *diag);

/* The whole state into a file, to go on later as if the run had not been interrupted; the path always holds a
 * whole snapshot. Between two estimates. text: of the caller's, kept with it. For the same study and machine
 * files, version and kind of computer. Errors: E_FILE, E_MEMORY. */
BRAMAH_API bramah_status bramah_assess_save(bramah_assess *assess, const char *path, const char *text,
                                            bramah_diag *diag);
/* Before the first estimate: go on from such a file, in the same log (of which the rows used before are passed
 * over) or in what follows. text [size]: the caller's. Errors: E_FILE, E_SYNTAX (no snapshot, or damaged),
 * E_VALUE (of another study, machine or version), E_UNSUPPORTED (with the backward pass). */
BRAMAH_API bramah_status bramah_assess_resume(bramah_assess *assess, const char *path, char *text,
                                              size_t size, bramah_diag *diag);

/* ---- its results, at any time ---- */

/* An augmented state of the filter: the present estimate; after the backward pass that of the filter at its
 * end. */
typedef struct bramah_augmented_estimate {
  const char *name, *at, *unit; /* at: parameter or sensor */
  int is_bias;
  int is_shown; /* 1: an output of the plant shows it: the command of an unknown input */
  double value, sigma;
} bramah_augmented_estimate;

/* The present estimate, in SI. Arrays last as long as the assessment. */
typedef struct bramah_estimate {
  int64_t time_ns;                     /* of the log */
  int corrected;                       /* 1: a measurement was fused at this time */
  const double *value, *sigma, *truth; /* [n_output of the plant]; sigma and truth NaN where there is none */
  const double *measured;              /* [n_sensors] fused or rejected last at this time; NaN: none */
  const bramah_innovation *innovation; /* [n_sensors] as bramah_replay_innovations */
  const bramah_augmented_estimate *augmented; /* [n_augmented of the filter] */
} bramah_estimate;

/* Standard deviations are computed when first asked for. Outputs that are hidden have no values. */
BRAMAH_API const bramah_estimate *bramah_assess_estimate(bramah_assess *assess);

/* An output of the plant that is no hidden one. */
typedef struct bramah_assess_output {
  size_t output; /* of the plant */
  const char *name, *unit;
  int has_sigma; /* 1: its estimate has a standard deviation */
  int has_truth; /* 1: the truth has it, and it has a standard deviation */
  long sensor;   /* the one that measures just this, -1: none */
} bramah_assess_output;
/* All of them [n], in the plant's order. */
BRAMAH_API const bramah_assess_output *bramah_assess_outputs(const bramah_assess *assess, size_t *n);

/* What it runs on: for its counts; plant of the model alone, NULL when there is none (any more). */
BRAMAH_API const bramah_replay *bramah_assess_replay(const bramah_assess *assess);
BRAMAH_API const bramah_plant *bramah_assess_model(const bramah_assess *assess);

/* Counts and times of the whole run. */
typedef struct bramah_assess_totals {
  uint64_t estimates, resumed;         /* all; of them before the snapshot this run went on from */
  int64_t first_ns, last_ns;           /* of all estimates */
  int64_t begin_ns;                    /* first of this run, or where the snapshot ended */
  uint64_t without_truth;              /* estimates without a row of the truth within half a step */
  double nees;                         /* mean per state against the truth, NaN where it is not known */
  uint64_t nees_times;                 /* at which it was */
  double filter_seconds, step_seconds; /* of the clock, for filter and replay without reading; last step */
  size_t smooth_bytes, smooth_steps;   /* memory of the backward pass; steps it has gone through */
} bramah_assess_totals;
/* As of the present estimate. */
BRAMAH_API bramah_assess_totals bramah_assess_get_totals(const bramah_assess *assess);

enum { BRAMAH_EVENT_TIMES = 16 };
/* Something that comes seldom: how often, and when. */
typedef struct bramah_event {
  uint64_t n;
  int lasts;                                                 /* 1: the last one is not over */
  double begin[BRAMAH_EVENT_TIMES], end[BRAMAH_EVENT_TIMES]; /* [s] of the log, of the first so many */
} bramah_event;

/* Innovations of a sensor, or of all together. NaN where nothing was fused. */
typedef struct bramah_consistency {
  const char *name, *unit; /* of the sensor; NULL: all together */
  uint64_t samples, fused, gated, saturated;
  double nis;       /* mean NIS per degree of freedom; all together: of what was fused at one time */
  double expected;  /* what the gates leave of 1 */
  double low, high; /* 95 % band of nis, about what is expected */
  /* Of sensors only: correlation of a normalised innovation with the one before; with the option `whiteness`
   * the sums of bramah_autocorrelation_test since the start or the snapshot, else NULL; times at which it
   * counted as faulty (bramah_filter_sensor_fault). */
  double lag_1;
  const bramah_autocorrelation *whiteness;
  bramah_event fault;
} bramah_consistency;

/* Errors of an output against the truth: of the estimate, the model alone, the raw sensor, the smoothed
 * estimate. */
typedef struct bramah_accuracy {
  size_t output; /* of the plant */
  const char *name, *unit;
  bramah_rmse estimate, model, measured, smoothed;
  uint64_t judged, within; /* errors that have a sigma; of them those within 2 * 1.96 sigma */
} bramah_accuracy;

/* Noise that adapts, at present, by what the study states. */
typedef struct bramah_adapted {
  const char *name; /* of the sensor, or of the rate or state it acts on */
  double factor, sigma;
  int limited; /* 1: the last change was held at a limit */
} bramah_adapted;

/* What it costs not to know inputs: mean standard deviations of an output. The second filter has the same
 * measurements and is given the commands as the first one has estimated them. */
typedef struct bramah_input_cost {
  const char *name, *unit;
  double sigma;
  double sigma_known; /* NaN: the output is the command itself */
} bramah_input_cost;

/* Whether the filter may be believed: its innovations and, with a truth, its errors against what it says of
 * them. A statistical band alone would fail any filter on a long enough log, so each check also has a tolerance
 * an engineer can live with; it fails beyond both. A check with fewer than 50 samples is left out. */
typedef enum bramah_check_kind {
  BRAMAH_CHECK_NIS = 0,        /* mean NIS of a sensor, by what its gate leaves: 1/9 to 2.25 */
  BRAMAH_CHECK_LAG = 1,        /* its correlation at lag 1: -0.7 to 0.7 */
  BRAMAH_CHECK_GATED = 2,      /* [%] of its samples that the gate rejects: at most 10 */
  BRAMAH_CHECK_FAULT = 3,      /* it counts as faulty at the end: no */
  BRAMAH_CHECK_RECOVERIES = 4, /* times the filter was found wrong: none */
  BRAMAH_CHECK_ERRORS = 5,     /* [%] of the errors of an output within 2 * 1.96 sigma: at least 90 */
  BRAMAH_CHECK_NEES = 6        /* mean NEES per state: at most 4 */
} bramah_check_kind;

/* One check. */
typedef struct bramah_finding {
  bramah_check_kind kind;
  const char *what;          /* "mean NIS" */
  const char *at;            /* sensor or output, or "" */
  const char *unit;          /* "%" or "" */
  double value, least, most; /* tolerated; most infinite: no limit */
  int passed;
} bramah_finding;

/* All checks. */
typedef struct bramah_verdict {
  int consistent;                /* 1: no check failed */
  size_t n, n_failed;            /* checks */
  const bramah_finding *finding; /* [n] */
} bramah_verdict;

/* All of it, as of the present estimate. */
typedef struct bramah_assess_results {
  bramah_assess_totals totals;
  size_t n_sensors, n_accuracies, n_augmented, n_adapted, n_input_costs; /* 0: there are none */
  const bramah_consistency *sensor; /* [n_sensors] in the order of the study */
  bramah_consistency all;           /* sensors */
  bramah_event recoveries;          /* the filter was found wrong, its covariance reset; without ends */
  const bramah_accuracy *accuracy;  /* [n_accuracies] of the outputs that the truth has */
  const bramah_augmented_estimate *augmented; /* [n_augmented] */
  const bramah_adapted *adapted;              /* [n_adapted] */
  const bramah_input_cost *input_cost;        /* [n_input_costs] where inputs are unknown */
  bramah_verdict verdict;
} bramah_assess_results;
/* Valid until the next call of this or of bramah_assess_next. No allocation. */
BRAMAH_API const bramah_assess_results *bramah_assess_get_results(bramah_assess *assess);

/* ---- before a run, and in simulations ---- */

/* States that the sensors of a session do not see, unknown inputs among them, by looking a short time ahead from
 * where its filter starts, on a plant of its own: their names into names [size], cut to fit; *n how many (0: all
 * are seen, or their errors die out); *horizon [s] looked at. Errors: those of bramah_session_start and
 * bramah_observability_run. */
BRAMAH_API bramah_status bramah_assess_unseen(const bramah_session *session, char *names, size_t size,
                                              size_t *n, double *horizon, bramah_diag *diag);

/* The process noise a study assumes, acting on a simulated machine: what a filter of that study expects is then
 * true. */
typedef struct bramah_process_noise bramah_process_noise;

/* Spectral densities of accelerations and pressures from the study, for the machine in its present state; its
 * augmented states and the noise of parameters are left out. The machine must outlive it. Errors: those of
 * bramah_session_open. Allocates. */
BRAMAH_API bramah_status bramah_process_noise_new(const char *study_path, uint64_t seed,
                                                  const bramah_machine_plant *machine, bramah_diag *diag,
                                                  bramah_process_noise **out);
BRAMAH_API void bramah_process_noise_free(bramah_process_noise *noise); /* NULL allowed */
/* A step of the machine's plant, then a displacement drawn from the covariance that a filter would add. Errors:
 * those of the plant. */
BRAMAH_API bramah_status bramah_process_noise_step(bramah_process_noise *noise, bramah_diag *diag);

#ifdef __cplusplus
}
#endif
#endif
