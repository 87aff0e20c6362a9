/* SPDX-License-Identifier: MIT */
/* Error-state (indirect) extended Kalman filter on any plant. Source: the dissertation that README.md names,
 * equations 3.1-3.18; D 3.5 is one of them.
 *
 * One cycle: bramah_filter_set_inputs (held over the coming step), bramah_filter_predict (plant step; the
 * covariance is propagated by P = F P F' + Q, Q the process noise), bramah_filter_correct (innovation y -
 * h(x), innovation gate, Kalman gain K = P H' (H P H' + R)^-1 with the measurement noise R; the estimated
 * errors K (y - h(x)) are injected into the plant). bramah_filter_step does the three in one call, checks
 * them first and reports: the one to take next to a controller.
 *
 * After a successful init nothing allocates, opens a file, asks a clock or takes a lock. Filters share
 * nothing but the model: any number of them may run on any number of threads, each on one at a time. The work
 * of a call is bounded by sizes and by the bound of the plant's step (bramah/coupled.h).
 *
 * The arithmetic raises none of the floating-point exceptions "invalid", "division by zero" and "overflow" as
 * long as calls succeed. It assumes rounding to nearest; whether subnormal numbers are flushed to zero does
 * not matter to it. */
#ifndef BRAMAH_FILTER_H
#define BRAMAH_FILTER_H

#include "bramah/plant.h"
#include "bramah/sensor.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How the transition F of a step is made. */
typedef enum bramah_transition {
  /* Of constant accelerations over the step, by finite differences; pressure errors are frozen (dissertation
   * 3.4, the transition of the papers). */
  BRAMAH_TRANSITION_KINEMATIC = 1,
  BRAMAH_TRANSITION_KINEMATIC_EXACT = 2, /* the same, derivatives by the plant's own analytic function */
  /* Derivative of the plant's step itself, pressures included: with f(x, x_k) = 0 what the step solves,
   * F = -f_x^-1 f_xk. By differences of whole steps where the plant has no function for it. */
  BRAMAH_TRANSITION_STEP = 3
} bramah_transition;

/* How the spectral density of white noise becomes a covariance per step. */
typedef enum bramah_discretisation {
  /* Resolvent with BRAMAH_TRANSITION_STEP on a plant that has it, else published. */
  BRAMAH_DISCRETISATION_DEFAULT = 0,
  BRAMAH_DISCRETISATION_PUBLISHED = 1, /* D 3.18; a pressure's variance grows by its density times the step */
  /* Through the resolvent (I - h/2 A)^-1 of the trapezoidal rule, what it misses of the positions' h^3/3
   * added: Van Loan's integral to second order for slow modes, and for stiff ones (pressures) the stationary
   * variance of the continuous mode at any step. */
  BRAMAH_DISCRETISATION_RESOLVENT = 2
} bramah_discretisation;

typedef enum bramah_covariance_form {
  BRAMAH_COVARIANCE_JOSEPH = 0, /* P, updated in Joseph form */
  /* S with P = S S': Householder in prediction, Potter in correction; P cannot become indefinite (Potter
   * 1963, in Bierman, Factorization Methods, 1977) */
  BRAMAH_COVARIANCE_SQUARE_ROOT = 1
} bramah_covariance_form;

typedef enum bramah_fusion {
  BRAMAH_FUSION_SEQUENTIAL = 0, /* sensor after sensor */
  /* all of one time at once (Joseph form; the square-root form is sequential, which for independent sensors
   * is the same) */
  BRAMAH_FUSION_BLOCK = 1
} bramah_fusion;

/* An augmented state: something estimated together with the state of the plant. */
typedef enum bramah_augmented_kind {
  /* a parameter of the plant: force, payload, supply pressure, friction scale ... */
  BRAMAH_AUGMENTED_PARAMETER = 1,
  BRAMAH_AUGMENTED_BIAS = 2, /* what a sensor shows too much, in its unit: gyro bias, encoder offset ... */
  BRAMAH_AUGMENTED_GAIN = 3, /* it shows (1 + x) times what it should */
  /* It shows what was x seconds ago, or in as many, taken on the straight line of the last step's prediction: for delays
   * that are short against the motion. Of order 2 with what is of second order in x, as an error state of its own: where
   * delays are considered; no time constant is needed. */
  BRAMAH_AUGMENTED_DELAY = 4
} bramah_augmented_kind;

/* Whether measurements correct it. Considered: it counts in every gain and band, but is not corrected itself
 * (S. F. Schmidt, "Application of state-space methods to navigation problems", Advances in Control Systems 3,
 * 1966): for what the data cannot tell. */
typedef enum bramah_augmented_role {
  BRAMAH_AUGMENTED_ESTIMATED = 0,
  BRAMAH_AUGMENTED_CONSIDERED = 1,
  /* Considered until the measurements have told so much of it that estimating it would have halved its
   * standard deviation, estimated from then on. What a sample tells of it is -1/2 ln(1 - rho^2), rho the
   * correlation of its error with the innovation (Shannon's information of two normal variables). Where the transition
   * is that of the step and the plant has step_transition, one step in four is made from a displaced estimate as
   * well: a parameter of the plant is only considered, and nothing counted, while the square of its effect on the
   * motion is less than twice that of what the effect varies by over the spread of the estimate (what noise moves
   * would be learned from noise), and what is of second order in both is noise of the step. */
  BRAMAH_AUGMENTED_AUTO = 2
} bramah_augmented_role;

/* A Gauss-Markov process about the value the parameter has at init (of a sensor: zero), driven by white noise w:
 *   order 1   x' = -x / T + w; T = 0: random walk x' = w. Stationary sigma: noise sqrt(T / 2)
 *   order 2   x'' = -2 x' / T - x / T^2 + w, two error states. Stationary sigma: noise sqrt(T^3 / 4)
 * and of order 2 with a frequency f or a signal period an oscillation, whose amplitude and phase wander: x the real
 * part of z, the second error state its imaginary part,
 *   z' = (2 pi i f - 1 / T) z + w, T = 0: w alone. Stationary sigma of both: noise sqrt(T / 2)
 * With a signal period p the phase is bound to what the sensor measures, f = (its rate) / p: the ripple of an encoder
 * within the pitch of its graduation, of a resolver, a gear, a pump. It turns as far as the estimate does, also where
 * samples are too rare to show it (f above half their rate); that the estimate may err counts as noise w.
 * Source: Maybeck, Stochastic Models, Estimation and Control 1 (1979), shaping filters. */
typedef struct bramah_augmented {
  const char *name;
  bramah_augmented_kind kind;
  const char *at;       /* name of the parameter or of the sensor */
  int order;            /* 1 or 2; 0 means 1 */
  double time_constant; /* T [s] >= 0; > 0 for order 2, unless it oscillates or is a delay */
  double sigma;         /* initial standard deviation > 0; of the rate of order 2 it is sigma / T */
  double noise;         /* square root of the spectral density of w >= 0: unit/sqrt(s), order 2: unit/s^1.5 */
  /* Of order 2, at most one of them, both 0: none */
  double frequency;     /* [Hz] */
  double signal_period; /* of a bias: in the unit of the sensor */
  double least, most;   /* limits of the estimate; both zero: those of the parameter, none of a sensor's */
  bramah_augmented_role role;
  /* 1: a positive parameter whose logarithm is the process and the error state, so that it stays positive and a
   * factor of two is as likely up as down. sigma and noise are in its unit all the same: a standard deviation of
   * the logarithm is sigma / value. */
  int logarithmic;
} bramah_augmented;

/* White noise on a parameter of the plant (a valve command's offset, a supply's pressure), held over each
 * step. */
typedef struct bramah_parameter_noise {
  const char *at;
  double density; /* square root of its spectral density > 0: unit/sqrt(Hz) */
} bramah_parameter_noise;

/* What decides when a phase begins and ends: it holds where least <= x <= most (-INFINITY, INFINITY: open). */
typedef enum bramah_condition_kind {
  /* x is output `at` of the plant, as it is estimated before a step; commands are outputs, too */
  BRAMAH_CONDITION_OUTPUT = 1,
  /* x [s] is the time since sensor `at` was last measured; infinite before its first sample */
  BRAMAH_CONDITION_SAMPLE = 2
} bramah_condition_kind;

/* One condition. */
typedef struct bramah_condition {
  bramah_condition_kind kind;
  size_t at;
  double least, most;
} bramah_condition;

/* Whose noise a phase sets. */
typedef enum bramah_phase_kind {
  BRAMAH_PHASE_AUGMENTED = 0,
  BRAMAH_PHASE_ACCELERATION,
  BRAMAH_PHASE_FIRST_ORDER
} bramah_phase_kind;

/* The noise that an error has while a phase is on. `at` is its place among the augmented states of the options, in acceleration_noise
 * or in first_order_noise, and `noise` is meant as there. time_constant [s]: of an augmented state; 0: as ever. */
typedef struct bramah_phase_process {
  bramah_phase_kind kind;
  size_t at;
  double noise, time_constant;
} bramah_phase_process;

/* A phase of what the machine does (it digs, it carries a load), with the noise that goes with it. It is on
 * from a step at whose start all conditions of `begin` hold, until one of `end` does; without `end` as long as those of `begin`
 * hold; and `off_delay` longer. The difference of both is its hysteresis. Any number may be on; of those that say something of one
 * noise the last one counts. Decided from what the filter holds: the same live, in a replay, and where late samples make steps
 * anew. Not in lanes: filters with phases go by themselves there. */
typedef struct bramah_phase {
  const char *name;
  size_t n_begin, n_end; /* n_begin > 0 */
  const bramah_condition *begin, *end;
  size_t n_processes;
  const bramah_phase_process *processes;
  double off_delay; /* [s] >= 0, in whole steps, rounded up */
} bramah_phase;

/* Standard deviations in the plant's own units. Arrays are copied. `basis` says in which coordinates the
 * values for positions, rates and accelerations are meant: n_dof indices of outputs of kind POSITION; NULL
 * means the coordinates that are independent at init. They keep that meaning when the plant goes over to
 * other independent coordinates. All that follows first_order_noise may be zero. */
typedef struct bramah_filter_options {
  bramah_transition transition;
  const size_t *basis;             /* [n_dof] or NULL */
  const double *position_sigma;    /* [n_dof] initial, rad or m, > 0 */
  const double *rate_sigma;        /* [n_dof] initial, rad/s or m/s, > 0 */
  const double *first_order_sigma; /* [n_first_order] initial, in the unit of the state (Pa), > 0 */
  /* Process noise: square roots of spectral densities >= 0. [n_dof] rad/s^2/sqrt(Hz) (D 3.18);
   * [n_first_order] unit of the state per sqrt(s) (Pa/sqrt(s)) */
  const double *acceleration_noise;
  const double *first_order_noise;
  bramah_discretisation discretisation;
  bramah_covariance_form form;
  bramah_fusion fusion;
  int iterations; /* of the update, measurements linearised anew about the corrected state; 0 or 1: plain */
  /* [n_sensors] innovation gate: an innovation beyond so many of its standard deviations is not fused; 0:
   * no gate. NULL: `common_gate` for every sensor */
  const double *gate;
  double common_gate;
  /* A sensor whose innovations keep to one side is not fused while the running mean of its normalised
   * innovations (over about 50 samples) is beyond so many standard deviations of that mean, and until it is
   * back within half of it: stuck, drifting and slightly biased sensors, which no gate on single samples
   * sees; 0: none. For sensors with a gate. */
  double drift_gate;
  unsigned patience; /* rejections in a row after which a sensor counts as faulty; 0 means 25 */
  size_t n_augmented;
  const bramah_augmented *augmented;
  size_t n_parameter_noise;
  const bramah_parameter_noise *parameter_noise;
  /* Score tests of causes go with the filter (bramah_filter_get_scores), so many banks of them, each of causes that begin
   * at a time of their own; 0: none. Sequential fusion, no iteration. */
  unsigned scores;
  size_t n_phases;
  const bramah_phase *phases; /* their names must outlive the filter */
} bramah_filter_options;

/* What protects: BRAMAH_TRANSITION_STEP, an innovation gate of 4 and a drift gate of 6 standard deviations for every
 * sensor; Joseph form, sequential fusion, nothing augmented. The standard deviations and noises are left to
 * give. A session adds its uncertainty budget (bramah/session.h). */
BRAMAH_API void bramah_filter_options_default(bramah_filter_options *options);
/* The filter of the papers: BRAMAH_TRANSITION_KINEMATIC, no gates; else the same. */
BRAMAH_API void bramah_filter_options_papers(bramah_filter_options *options);

typedef struct bramah_filter bramah_filter;

/* What the last correction did, per sensor. Valid until the next call on the filter. */
typedef struct bramah_innovation {
  int present;       /* 1: a measurement was given for this sensor */
  double innovation; /* y = measured - predicted, before the correction in hand (D 3.5) */
  double sigma;      /* square root of its predicted variance S (D 3.6) */
  double nis;        /* y^2 / S: chi-square with 1 degree of freedom if the filter is consistent */
  int accepted;      /* 1: it was fused; 0: rejected by its gate, or saturated */
  int saturated; /* 1: at an end of the sensor's range, no measurement to fuse (bramah_sensor_is_saturated) */
  /* Share of S, 0 to 1, that comes from augmented states that are considered: innovations have it in common, are not
   * white by that much */
  double considered;
  /* What is left of y by the samples of this time that were fused before it, and its variance: independent of theirs, so
   * that the likelihood is a product over samples. Where the covariance was inflated, y and S as predicted before. Sequential
   * fusion; 0 where it was not weighed (absent, saturated). */
  double rest, rest_variance;
} bramah_innovation;

/* Counts since init. */
typedef struct bramah_filter_report {
  uint64_t predictions, corrections;
  uint64_t accepted, gated; /* measurements */
  uint64_t saturated;       /* measurements at an end of the sensor's range, left out; no rejections */
  uint64_t limited;         /* times an augmented state was held at its limit */
  uint64_t sensor_faults;   /* times a sensor was found faulty: `patience` rejections in a row */
  /* times the filter itself was found wrong and its covariance inflated by the initial one */
  uint64_t recoveries;
} bramah_filter_report;

/* Bytes for a filter of this plant with so many sensors; create it there (aligned to 64) or in memory taken
 * once. The plant table and the sensors are copied; the plant object behind the table and the strings must
 * outlive the filter. Errors: E_VALUE (a number), E_REFERENCE (no such parameter or sensor), E_SINGULAR (the
 * basis does not determine the motion), E_UNSUPPORTED (a function the plant does not have), E_ARGUMENT
 * (memory too small, or a filter lives in it already).
 *
 * Gates: innovations are tested before any correction at their time. Saturated samples are left out and do
 * not count as rejections. A sensor that is rejected `patience` times in a row has a fault: it stays rejected
 * until it agrees again, is counted, and named by bramah_filter_sensor_fault. When all sensors with a gate
 * are faulty, or two and more of motion and no other of that group, or of pressures, flows and forces, then
 * not they but the filter is taken to be wrong: its covariance is inflated by the initial one and they are
 * fused once unasked. */
BRAMAH_API size_t bramah_filter_size(const bramah_plant *plant, size_t n_sensors,
                                     const bramah_filter_options *options);
BRAMAH_API bramah_status bramah_filter_init(const bramah_plant *plant, size_t n_sensors,
                                            const bramah_sensor *sensors,
                                            const bramah_filter_options *options, void *mem, size_t size,
                                            bramah_diag *diag, bramah_filter **out);
BRAMAH_API bramah_status bramah_filter_new(const bramah_plant *plant, size_t n_sensors,
                                           const bramah_sensor *sensors, const bramah_filter_options *options,
                                           bramah_diag *diag, bramah_filter **out);
/* NULL allowed. Memory of the caller can be used again after it. */
BRAMAH_API void bramah_filter_free(bramah_filter *filter);

/* Other noise from the next step on, as in the options: NULL leaves that part as it is. Errors: E_VALUE
 * (nothing changed). */
BRAMAH_API bramah_status bramah_filter_set_noise(bramah_filter *filter, const double *acceleration_noise,
                                                 const double *first_order_noise, bramah_diag *diag);
/* Another noise of augmented state i >= 0, as in the options, where it was > 0: what is constant as long as one thing is
 * done and changes while another is (a load that is carried, and one that is gathered), where a program knows that; phases
 * (bramah_phase), which decide it from the estimate, go before it. Errors: E_VALUE; E_ARGUMENT (no
 * such state). */
BRAMAH_API bramah_status bramah_filter_set_augmented_noise(bramah_filter *filter, size_t i, double noise,
                                                           bramah_diag *diag);
/* Another standard deviation of sensor i > 0. Errors: E_VALUE; E_ARGUMENT (no such sensor). */
BRAMAH_API bramah_status bramah_filter_set_sensor_sigma(bramah_filter *filter, size_t i, double sigma,
                                                        bramah_diag *diag);

/* Inputs u [n_input] held from now on. */
BRAMAH_API bramah_status bramah_filter_set_inputs(bramah_filter *filter, const double *u, bramah_diag *diag);

/* One plant step and the covariance with it (D 3.3). On error plant and covariance are as before the call.
 * Errors: those of the plant; E_NOT_FINITE, E_NOT_SPD name the state. */
BRAMAH_API bramah_status bramah_filter_predict(bramah_filter *filter, bramah_diag *diag);

/* Fuse measurements y [n_sensors] at the present time; present[i] = 0 leaves sensor i out. Then the errors
 * are injected (D 3.5-3.16). On error plant and covariance are as before the call. Errors: E_NOT_FINITE names
 * the sensor; E_NOT_SPD the state; those of inject. */
BRAMAH_API bramah_status bramah_filter_correct(bramah_filter *filter, const double *y,
                                               const unsigned char *present, bramah_diag *diag);

/* The same for samples off the step grid, out of sequence by less than a step: sensor i measured at
 * offset_ns[i] = tau after it (before: < 0), at most a step h; NULL: none. Innovation and row are formed at
 * the time of the sample, on a straight line: before t through the predictions for t - h and t, after it from
 * that for t on by what the transition of the last step makes of its increment. For outputs y(t) the error is
 * at most |y''| |tau| (h + tau) / 2: of second order, and none where they move linearly or tau = 0. The
 * variance reckons with the plant's noise between the two times.
 *
 * A sample before t is fused as by a filter that has kept the former state too (stochastic cloning for one
 * step, see estimators/oosm.c): optimal, but that samples of one time which are all off it are taken to have
 * noise of their own. Of a sample after t less is made, since its step is still to come: its share of the
 * plant's noise counts as noise of the sensor. Where nothing else matters give samples with the first point
 * after them.
 *
 * Offset 0 gives the bits of bramah_filter_correct; before the first step all are taken as 0. Several
 * corrections at one time are allowed. Errors: E_TIME (more than a step) names the sensor. */
BRAMAH_API bramah_status bramah_filter_correct_at(bramah_filter *filter, const double *y,
                                                  const unsigned char *present, const int64_t *offset_ns,
                                                  bramah_diag *diag);

/* Covariance of the error state P [n_error x n_error] row-major, in the plant's present independent
 * coordinates: positions, rates, first-order states, then the augmented states in their order (order 2: value
 * and rate). */
BRAMAH_API const double *bramah_filter_covariance(const bramah_filter *filter);

/* What a filter is made of. Pointers hold as long as the filter lives. */
typedef struct bramah_filter_info {
  size_t n_error, n_sensors, n_augmented, n_phases;
  size_t n_noise; /* columns of bramah_filter_last.noise */
  const bramah_plant *plant;
  const bramah_sensor *sensor;       /* [n_sensors], with their present standard deviations */
  const bramah_augmented *augmented; /* [n_augmented] */
  /* The noise of the coming step, as in the options */
  const double *acceleration_noise; /* [n_dof] */
  const double *first_order_noise;  /* [n_first_order] */
} bramah_filter_info;

/* All of it. */
BRAMAH_API bramah_filter_info bramah_filter_get_info(const bramah_filter *filter);

/* What the last predict and correct did (n = n_error, m = n_sensors), until the next call on the filter. */
typedef struct bramah_filter_last {
  /* [n x n] from the coordinates before the step to those after it, a change of independent coordinates
   * included */
  const double *transition;
  /* Gamma [n x n_noise], Q = Gamma Gamma', in the coordinates after it. Columns: 2 b and 2 b + 1 acceleration
   * b of the basis; 2 n_dof + i first-order state i; then augmented states, noisy parameters and two of
   * each parameter that has edges. Those of an
   * acceleration and of a first-order state are proportional to the square root of its spectral density. */
  const double *noise;
  const bramah_innovation *innovation; /* [m] */
  const double *rows, *variances;      /* [m x n], [m] of the measurements, those of present sensors */
  /* [m x n_augmented] of the innovations of present sensors with the augmented states that are considered; else 0 */
  const double *correlation;
  const double *correction; /* [n] the errors it injected; zeros if nothing was measured */
  double nis;               /* y' S^-1 y over all accepted sensors */
  size_t nis_dof;           /* its degrees of freedom */
} bramah_filter_last;

/* All of it. */
BRAMAH_API bramah_filter_last bramah_filter_get_last(const bramah_filter *filter);

/* Natural logarithm of the probability density of all measurements since init, each under what the filter predicted from
 * those before it: differences between filters that were given the same samples say which model explains them. Part of
 * the state: late samples of a rewind buffer count once. Every sample counts by one density, fused or rejected: normal
 * within the gate g of its sensor, beyond it phi(g) (g sigma / nu)^2 / sigma, so that no filter gains by rejecting what it
 * does not explain; where the covariance was inflated, by what was predicted before. The tail is not made up for (its
 * share is 0.0011 at g = 4, for all filters alike). Saturated samples do not count. Exact for linear models whose augmented
 * states are estimated: considered ones leave the innovations correlated, and evidence then counts several times. NaN with
 * BRAMAH_FUSION_BLOCK. Source: F. C. Schweppe, "Evaluation of likelihood functions for Gaussian signals", IEEE Trans.
 * IT 11 (1965); the tail after P. J. Huber, Robust Statistics (1981), chapter 4. */
BRAMAH_API double bramah_filter_log_likelihood(const bramah_filter *filter);

/* Counts, and whether sensor i is taken for faulty at present. */
BRAMAH_API bramah_filter_report bramah_filter_get_report(const bramah_filter *filter);
BRAMAH_API int bramah_filter_sensor_fault(const bramah_filter *filter, size_t i);

/* Estimate of an augmented state; NaN if there is none of its number. */
typedef struct bramah_filter_augmented {
  double value, sigma;
  int is_estimated;   /* 0: considered so far */
  double information; /* of role AUTO: what the measurements have told while it was considered; else 0 */
} bramah_filter_augmented;

/* Augmented state i. */
BRAMAH_API bramah_filter_augmented bramah_filter_get_augmented(const bramah_filter *filter, size_t i);

/* A phase: whether it was on in the last step, in how many it was, and how often it has begun, since init. */
typedef struct bramah_filter_phase {
  const char *name; /* NULL: there is none of this number */
  int is_on;
  uint64_t steps, begun;
} bramah_filter_phase;

/* Phase i of the options. */
BRAMAH_API bramah_filter_phase bramah_filter_get_phase(const bramah_filter *filter, size_t i);

/* From now on all augmented states are estimated, whatever their role: what the smoother needs. */
BRAMAH_API void bramah_filter_estimate_all(bramah_filter *filter);

/* What may be wrong with model and sensors besides what the filter estimates or considers. */
typedef enum bramah_cause_kind {
  BRAMAH_CAUSE_PARAMETER = 1, /* of the plant: it is greater by so much */
  BRAMAH_CAUSE_BIAS = 2,      /* a sensor shows so much more */
  BRAMAH_CAUSE_GAIN = 3,      /* a sensor shows (1 + theta) times what it should */
  BRAMAH_CAUSE_DELAY = 4      /* a sensor shows what was theta seconds ago, by the change over `lag` */
} bramah_cause_kind;

/* One of them. */
typedef struct bramah_cause {
  bramah_cause_kind kind;
  const char *name, *unit; /* of the parameter or sensor; unit of theta */
  size_t target;           /* index of the parameter or sensor */
  int64_t lag_ns;          /* of a delay; else 0 */
} bramah_cause;

/* Score tests of all single causes, sums since init or the bank's restart; differences of two calls are those of the time
 * between.
 * If cause j alone were at work, its size would be score[j] / information[j n + j], with the standard
 * deviation information^-1/2, and would explain score^2 / information of chi_square less samples. Source: B.
 * Friedland, "Treatment of bias in recursive filtering", IEEE Trans. AC 14 (1969). Pointers hold as long as
 * the filter lives. */
typedef struct bramah_filter_scores {
  size_t n;                   /* 0: without the option */
  const bramah_cause *cause;  /* [n] */
  const double *score;        /* [n] sum of U nu / S */
  const double *information;  /* [n x n], lower triangle: sum of U_j U_k / S */
  double chi_square, samples; /* sum of nu^2 / S over so many samples */
} bramah_filter_scores;

/* All of it. n = 0: there is no such bank. The first bank counts from the start, the others from when they are restarted. */
BRAMAH_API bramah_filter_scores bramah_filter_get_scores(const bramah_filter *filter, size_t bank);
/* As if every cause began now: all sums of that bank from zero. */
BRAMAH_API void bramah_filter_restart_scores(bramah_filter *filter, size_t bank);

/* Standard deviation of output i of the plant, sqrt(h P h'); NaN where the output has no row. Of an acceleration,
 * force or flow with what augmented parameters (a load, a friction, a supply's pressure) do to it at once. */
BRAMAH_API double bramah_filter_output_sigma(bramah_filter *filter, size_t i);

/* Present values of outputs of the plant, and their standard deviations as above, in one call: value, sigma [n_outputs], SI;
 * NULL: not wanted. */
BRAMAH_API void bramah_filter_outputs(bramah_filter *filter, size_t n_outputs, const size_t *output,
                                      double *value, double *sigma);

/* Time since init. */
BRAMAH_API int64_t bramah_filter_time_ns(const bramah_filter *filter);

/* The whole state, plant included, copied to and from snap [size bytes, 8-byte aligned], exact to the bit. A
 * snapshot holds no pointers: another process with the same filter on the same kind of computer can go on
 * from it. Noise, that of augmented states too, and standard deviations of sensors are in it as they were set last. It is sealed with the
 * format, the type of computer, the names and sizes of the filter and a checksum of all; restore takes nothing
 * that is broken, and nothing that could not have been saved. Errors, with nothing changed: E_SYNTAX (no
 * snapshot, or of another version of the library or type of computer), E_REFERENCE (of another filter), E_VALUE
 * (corrupted). */
BRAMAH_API size_t bramah_filter_snapshot_size(const bramah_filter *filter);
BRAMAH_API void bramah_filter_save(const bramah_filter *filter, void *snap);
BRAMAH_API bramah_status bramah_filter_restore(bramah_filter *filter, const void *snap);
/* The estimate of another filter of the same plant and augmented states, whose other options may differ: state of the
 * plant, means and covariance. Times, counts and noise stay. E_ARGUMENT, with nothing changed: it is of other states. */
BRAMAH_API bramah_status bramah_filter_take_over(bramah_filter *filter, const bramah_filter *from);
/* Would restore take these size bytes? Says why not; E_ARGUMENT: another size. */
BRAMAH_API bramah_status bramah_filter_check_snapshot(const bramah_filter *filter, const void *snap,
                                                      size_t size, bramah_diag *diag);

/* ---- watching ---- */

/* A successful call of a filter; the last one: it was put back to the state it had at its present time before
 * anything was fused there. */
typedef enum bramah_filter_event {
  BRAMAH_FILTER_PREDICTED = 1,
  BRAMAH_FILTER_CORRECTED = 2,
  BRAMAH_FILTER_RESTORED = 3
} bramah_filter_event;

/* What a replay calls after each of them: what a smoother records. `watch` NULL: nothing; its error counts as
 * one of the filter. */
typedef struct bramah_watcher {
  void *user;
  bramah_status (*watch)(void *user, bramah_filter_event event, bramah_filter *filter, bramah_diag *diag);
} bramah_watcher;

/* ---- a cycle in one call ---- */

/* What one cycle is given. Counts that are not those of the filter are an error, so that arrays of a wrong
 * size do not go unnoticed. */
typedef struct bramah_filter_cycle {
  int64_t time_ns;  /* of the measurements, since init: at the end of the step or within half a step of it */
  size_t n_input;   /* as many as the plant has, or 0: u goes on */
  const double *u;  /* [n_input] SI, held over this step */
  size_t n_sensors; /* as many as the filter has, or 0: nothing was measured */
  const double *y;  /* [n_sensors] */
  const unsigned char *present; /* [n_sensors] 0: no sample of this sensor */
  /* [n_sensors] samples measured off time_ns, see bramah_filter_correct_at; or NULL */
  const int64_t *offset_ns;
} bramah_filter_cycle;

/* What happened in a cycle that is worth a look; bits of bramah_filter_step_report.flags. */
typedef enum bramah_step_flag {
  BRAMAH_STEP_GATED = 1,        /* a measurement was rejected by its gate */
  BRAMAH_STEP_SATURATED = 2,    /* a measurement stood at an end of its range */
  BRAMAH_STEP_SENSOR_FAULT = 4, /* a sensor was found faulty */
  BRAMAH_STEP_RECOVERED = 8,    /* the covariance was inflated by the initial one */
  BRAMAH_STEP_LIMITED = 16,     /* an augmented state was held at its limit */
  /* the plant went over to other independent coordinates: P has another meaning */
  BRAMAH_STEP_COORDINATES = 32
} bramah_step_flag;

/* What one cycle did. */
typedef struct bramah_filter_step_report {
  int64_t time_ns;                              /* of the filter now */
  unsigned flags;                               /* bramah_step_flag */
  unsigned iterations;                          /* of the plant's step; 0: unknown */
  unsigned present, accepted, gated, saturated; /* measurements */
  unsigned faulty;                              /* sensors taken for faulty at present */
  double nis;                                   /* y' S^-1 y over the accepted ones */
  size_t nis_dof;                               /* its degrees of freedom */
} bramah_filter_step_report;

/* One cycle: inputs, prediction over one step, correction at the new time. All or nothing: on error the
 * filter, its plant and its time are as before the call, and the next call may go on. report may be NULL; it
 * is written on success. Errors: E_TIME (time_ns is not after the filter's time, or not within half a step of
 * the end of the coming one), E_ARGUMENT (counts), E_NOT_FINITE (an input, a measurement), and those of
 * predict and correct.
 *
 * What a caller does about them: with E_NOT_FINITE the same cycle again with that sample not present. With
 * E_TIME after a lost cycle as many steps without measurements as are missing. With E_NO_CONVERGENCE or
 * E_SINGULAR of the plant's step bramah_filter_correct with the latest measurements, which moves the state,
 * then go on; if that lasts, a snapshot or a new start. */
BRAMAH_API bramah_status bramah_filter_step(bramah_filter *filter, const bramah_filter_cycle *cycle,
                                            bramah_filter_step_report *report, bramah_diag *diag);

#ifdef __cplusplus
}
#endif
#endif
