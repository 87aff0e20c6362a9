/* SPDX-License-Identifier: MIT */
/* What the files of the estimators share. Who calls whom, from above:
 *
 *   replay.c        rows of a log
 *     rewind.c      late samples
 *       filter.c      memory, options, one cycle, results
 *         predict.c     transition of the plant's step, process noise, propagation of P
 *         correct.c     innovations, gates, fusion, injection
 *           oosm.c      samples off the step grid
 *         scores.c      score tests of causes
 *         augmented.c   augmented states, and what sensors show with them
 *         filter_state.c  snapshots; P, its root and whether they are sound
 *   smoother.c, adaptive.c    go along with a filter; observability.c needs none
 *   update.c        arithmetic that knows no filter */
#ifndef BRAMAH_ESTIMATORS_FILTER_INTERNAL_H
#define BRAMAH_ESTIMATORS_FILTER_INTERNAL_H

#include "bramah/observability.h"
#include "bramah/replay.h"
#include "estimators/update.h"
#include "lib/base/arena.h"
#include "lib/plant/plant_table.h"

#include <math.h>
#include <string.h>

/* Fields to and from a snapshot, each in whole doubles: lists of them (lib/base/arena.h) in a function that
 * knows `fields` and `size`, `out` or `in`. */
static inline size_t bramah__whole_words(size_t bytes) { return (bytes + 7) / 8 * 8; }

static inline unsigned char *bramah__put(unsigned char *out, const void *from, size_t bytes)
{
  const size_t size = bramah__whole_words(bytes);
  if (!size) return out;
  memset(out + size - 8, 0, 8);
  memcpy(out, from, bytes);
  return out + size;
}

static inline const unsigned char *bramah__get(void *to, const unsigned char *in, size_t bytes)
{
  if (bytes) memcpy(to, in, bytes);
  return in + bramah__whole_words(bytes);
}

#define BRAMAH__FIELD_BYTES(type, ...) (BRAMAH__FIRST(__VA_ARGS__, 0) * sizeof(type))
#define BRAMAH__FIELD_ADD(type, name, ...)                                                                   \
  size += bramah__whole_words(BRAMAH__FIELD_BYTES(type, __VA_ARGS__));
#define BRAMAH__FIELD_PUT(type, name, ...)                                                                   \
  out = bramah__put(out, fields->name, BRAMAH__FIELD_BYTES(type, __VA_ARGS__));
#define BRAMAH__FIELD_GET(type, name, ...)                                                                   \
  in = bramah__get(fields->name, in, BRAMAH__FIELD_BYTES(type, __VA_ARGS__));

/* The same fields of a copy of the object to where they lie in a snapshot, to be looked at only. */
#define BRAMAH__FIELD_LOOK(type, name, ...)                                                                  \
  fields->name = (type *)(uintptr_t)in;                                                                      \
  in += bramah__whole_words(BRAMAH__FIELD_BYTES(type, __VA_ARGS__));

/* Times [ns] of which sums and differences of two fit. */
static inline int bramah__is_time(int64_t ns) { return ns > -INT64_MAX / 3 && ns < INT64_MAX / 3; }

/* Uncertainty as users state it: initial standard deviations and spectral densities of the process noise
 * in coordinates of their choice (the basis), carried to those that are independent now by B =
 * d(basis)/d(independent). Source: dissertation 3.18. */
#define BRAMAH__PROCESS_NOISE_ARRAYS(X)                                                                      \
  X(size_t, basis, nf, "outputs")                                                                            \
  X(double, acceleration, nf, "square roots of spectral densities")                                          \
  X(double, first_order, np)                                                                                 \
  X(double, B, nf *nf, "at the last refresh")                                                                \
  X(double, B_inverse, nf *nf)                                                                               \
  X(double, LU, nf *nf)                                                                                      \
  X(double, column, nf)                                                                                      \
  X(double, row, ne)                                                                                         \
  X(double, dx, ne)                                                                                          \
  X(int, pivot, nf)                                                                                          \
  X(unsigned char, snap, plant->snapshot_size)

typedef struct bramah__process_noise {
  size_t n_dof, n_first_order;
  int is_inverted; /* 1: B_inverse is that of B */
  BRAMAH__PROCESS_NOISE_ARRAYS(BRAMAH__FIELD_MEMBER)
} bramah__process_noise;

/* An augmented state as the filter works with it. */
typedef struct bramah__augmented {
  size_t target; /* parameter of the plant, or sensor */
  size_t state;  /* its first place in the error state */
  size_t column; /* its place among the parameters in use; SIZE_MAX: of a sensor */
  size_t next;   /* the next error of the same sensor; SIZE_MAX: none */
  int moves;     /* 0: Phi is the identity */
  double nominal, least, most;
  double Phi[4];   /* transition over a step, order 1: Phi[0] */
  double noise[3]; /* Cholesky factor of its noise over a step: l11, l21, l22 */
} bramah__augmented;

/* A phase, whose conditions (those to begin first) and processes are among those of all; and a process by Phi and noise as above, of
 * accelerations and first-order states by its spectral density noise[0]. */
typedef struct bramah__phase {
  const char *name;
  size_t condition, n_begin, n_end;
  size_t process, n_processes;
  uint32_t off_delay; /* steps */
} bramah__phase;

typedef struct bramah__phase_process {
  bramah_phase_kind kind;
  size_t at;
  double Phi[4], noise[3];
} bramah__phase_process;

/* Steps that delays are looked for in (scores.c). */
enum { BRAMAH__PAST = 32 };

/* A sample off the step grid, for the correction in hand (oosm.c). */
typedef struct bramah__oosm {
  double theta;             /* time of the sample after the present time, in steps; 0: at it */
  int smoothed;             /* 1: its start row is carried to the present error by the smoother's gain */
  double y;                 /* prediction at the start of the last step */
  double variance;          /* of that prediction when the present state is known */
  double prediction_offset; /* prediction at the time of the sample less the one at the present time */
} bramah__oosm;

/* What changes of the filter besides arrays and the plant; copied whole into snapshots. */
typedef struct bramah__progress {
  int64_t time_ns;
  bramah_filter_report report;
  uint64_t has_last; /* 1: `previous_step`, F and Gamma are those of a step to the present time */
  uint64_t rebased;  /* 1: it went over to other independent coordinates */
  double log_likelihood;
} bramah__progress;

/* What the samples of the correction in hand add to it. */
typedef struct bramah__likelihood_sums {
  double cost;     /* -2 log of their density, without the variances */
  double variance; /* product of these */
  int is_closed;   /* 1: none of this correction's is added any more */
} bramah__likelihood_sums;

/* Arrays that change from call to call: X(type, name, count, restored by an iteration of the update too). A
 * snapshot of the filter is | progress | these in order, each in whole doubles | plant |. */
#define BRAMAH__FILTER_STATE(X)                                                                              \
  X(uint32_t, reject, f->n_sensors, 0) /* rejections in a row */                                             \
  X(double, mean, f->n - f->n_plant,                                                                         \
    1) /* error of a sensor, or rate of order 2; parameters are the plant's */                               \
  X(double, change, f->n_augmented ? f->n_sensors : 0,                                                       \
    1)                                                  /* of predictions over the last step, for delays */  \
  X(double, bend, f->n_augmented ? f->n_sensors : 0, 1) /* of these changes over the last two steps */       \
  X(double, accumulated_correction, f->n, 1)            /* errors injected at the present time so far */     \
  X(double, drift, f->n_sensors, 0)                     /* running mean of normalised innovations */         \
  X(uint32_t, drifted, f->n_sensors, 0)    /* 1: rejected by it, until it is back within half of its gate */ \
  X(double, drift_common, f->n_sensors, 0) /* and of the share of them that is considered */                 \
  X(double, information, f->n_augmented, 1)   /* that measurements gave of it while it was considered */     \
  X(double, effect, f->n_augmented, 1)        /* of it on steps of late, squared; and how far */             \
  X(double, effect_spread, f->n_augmented, 1) /* that varies over the spread of the estimate */              \
  X(double, sensitivity, f->n_banks * f->n * f->n_causes_most, 0) /* of the error to causes (scores.c) */    \
  X(double, score, f->n_banks * f->n_causes_most, 0)                                                         \
  X(double, score_information, f->n_banks * f->n_causes_most * f->n_causes_most, 0)                          \
  X(uint32_t, in_phase, f->n_phases, 0) /* steps that it is on for yet, with its off_delay; 0: it is off */  \
  X(uint64_t, phase_steps, f->n_phases, 0)                                                                   \
  X(uint64_t, phase_begun, f->n_phases, 0)                                                                   \
  X(int64_t, silent, f->n_heard, 0) /* steps since the last sample of a sensor; -1: none yet */              \
  X(double, past, f->n_causes_most ? BRAMAH__PAST * f->n_sensors : 0, 0) /* predictions of its last steps */ \
  X(double, score_sums, 2 * f->n_banks, 0)                                                                   \
  X(uint32_t, score_runs, f->n_banks, 0)            /* 1: the bank was restarted */                          \
  X(double, P, f->n * f->n, 1)                      /* covariance of the error state */                      \
  X(double, S, f->square_root ? f->n * f->n : 0, 1) /* P = S S'; square-root form only */

/* Arrays of the options, and what the last step and the last correction leave. */
#define BRAMAH__FILTER_ARRAYS(X)                                                                             \
  X(bramah_sensor, sensor, f->n_sensors)                                                                     \
  X(double, gate, f->n_sensors) /* 0: none */                                                                \
  X(bramah_augmented, augmented, f->n_augmented)                                                             \
  X(bramah_cause, cause, f->n_causes_most)                                                                   \
  X(size_t, cause_column, f->n_causes_most)             /* its place among the parameters in use */          \
  X(double, correlation, f->n_sensors * f->n_augmented) /* of innovations with what is considered */         \
  X(unsigned char, held, f->n)                          /* 1: considered, in the correction in hand */       \
  X(double, weight, f->n)                               /* of these: one by the standard deviation */        \
  X(bramah__augmented, self_state, f->n_augmented)                                                           \
  X(bramah__phase, phase, f->n_phases)                                                                       \
  X(bramah_condition, condition, f->n_conditions) /* times of samples in steps */                            \
  X(bramah__phase_process, process, f->n_processes)                                                          \
  X(bramah__phase_process, usual, f->n_phases ? f->n_augmented : 0) /* where no phase is on, */              \
  X(double, usual_noise,                                                                                     \
    f->n_phases ? f->n_dof + f->n_first_order : 0) /* and of accelerations and the rest */                   \
  X(size_t, first_error, f->n_sensors)             /* augmented state; SIZE_MAX: none */                     \
  X(unsigned char, moved_at_once, f->n_sensors)    /* 1: parameters may reach it at once */                  \
  X(unsigned char, changes, f->n_sensors)          /* 1: some error depends on how it changes over a step */ \
  X(size_t, acting, f->n)                          /* see bramah__kernel_shape */                            \
  X(bramah__kernel_block, moving, f->n_augmented)                                                            \
  X(bramah__kernel_block, noisy, f->n_augmented)                                                             \
  X(size_t, par, f->n_par_most)        /* parameters in use */                                               \
  X(double, par_step, f->n_par_most)   /* for differences */                                                 \
  X(double, par_noise, f->n_par_noise) /* square roots of spectral densities */                              \
  X(double, P_initial, f->n * f->n)                                                                          \
  X(double, F, f->n * f->n)       /* of the last step, and */                                                \
  X(double, Gamma, f->n * f->nq)  /* its noise, Q = Gamma Gamma' */                                          \
  X(double, F_spare, f->n * f->n) /* for the step being made */                                              \
  X(double, Gamma_spare, f->n * f->nq)                                                                       \
  X(bramah_innovation, innovation, f->n_sensors)                                                             \
  X(double, H, f->n_sensors * f->n)                                                                          \
  X(size_t, entry, f->n_sensors * f->n) /* columns of each row that are not zero, and how */                 \
  X(size_t, n_entries, f->n_sensors)    /* many */                                                           \
  X(double, PH, f->n_sensors * f->n)    /* P H', before any correction, where something is considered */     \
  X(double, r, f->n_sensors)            /* variances of the measurement noise */                             \
  X(double, y, f->n_sensors)            /* innovations to fuse */                                            \
  X(double, dx, f->n)                   /* estimated errors */                                               \
  X(bramah__oosm, oosm, f->n_sensors)

/* Scratch, of one call. Those of the plant, ne = n_plant: Fe [ne x ne], N [ne x (n_dof + n_first_order)], G
 * [ne x n_par] by parameters; A [n_dof x ne] derivative of the accelerations, Ap [n_dof x n_par]; T [ne x ne]
 * change of coordinates. */
#define BRAMAH__FILTER_WORK(X)                                                                               \
  X(double, wide, f->n *(f->n + f->nq))                                                                      \
  X(double, square, f->n * f->n)                                                                             \
  X(double, Fe, f->n_plant * f->n_plant)                                                                     \
  X(double, N, f->n_plant *(f->n_dof + f->n_first_order))                                                    \
  X(double, G, f->n_plant * f->n_par_most)                                                                   \
  X(double, spread, f->n_par_most *(2 * f->n_plant + 5)) /* steps beyond edges in reach (augmented.c) */     \
  X(double, kink,                                                                                            \
    3 * f->n_kinks + (f->n_kinks ? 3 * f->n_plant : 0)) /* of each, see kinks.c; shift, effect */            \
  X(double, residual, 2 * f->n_plant * f->n_edges)      /* of their linearisation */                         \
  X(double, displaced, f->n_plant * f->n_par_most) /* G of a displaced step less that of the step, or NaN */ \
  X(double, par_row,                                                                                         \
    f->n_par_most) /* of the parameters in use: an output by them; values for those that wait */             \
  X(size_t, waiting, f->n_par_most)                                                                          \
  X(double, by_parameter, f->n_augmented * f->plant.n_output) /* outputs, at by_parameter_snap */            \
  X(unsigned char, by_parameter_snap, f->n_augmented ? f->plant.snapshot_size : 0)                           \
  X(double, shown, f->n_augmented ? f->plant.n_output : 0)          /* outputs there */                      \
  X(unsigned char, differs, f->n_augmented ? f->plant.n_output : 0) /* 1: by differences */                  \
  X(double, A, f->n_dof * f->n_plant)                                                                        \
  X(double, Ap, f->n_dof * f->n_par_most)                                                                    \
  X(double, T, f->n_plant * f->n_plant)                                                                      \
  X(double, T_whole, f->n * f->n)                                                                            \
  X(double, H_start, f->n_sensors * f->n) /* rows at the start of the last step (oosm.c) */                  \
  X(double, term, f->n)                                                                                      \
  X(double, before, f->n_sensors) /* predictions before the step (augmented.c) */                            \
  X(double, dx, f->n)                                                                                        \
  X(double, fuse, 3 * f->n + (f->square_root ? f->n * (f->n + 1) : 0))                                       \
  X(double, causes, f->n_causes_most *(f->n + 2) + 2 * f->n)                                                 \
  X(double, block, f->n_block)                                                                               \
  X(double, zdd, 2 * f->n_dof)                                                                               \
  X(double, coordinates, 2 * f->n_plant)                                                                     \
  X(int64_t, offset_ns, f->n_sensors)                                                                        \
  X(unsigned char, snap, f->plant.snapshot_size)     /* of the plant: where a step or update starts */       \
  X(unsigned char, row_snap, f->plant.snapshot_size) /* of it: for differences */

/* Snapshots of the filter for its own use, at
 *
 *   step_before_that --- step ---> previous_step --- step ---> the present time: correction, correction ...
 *                                                              step_start of predict or correct, iterate_from
 */
#define BRAMAH__FILTER_SNAPSHOTS(X)                                                                          \
  X(unsigned char, step_start, bramah__own_size(f))       /* before the call in hand */                      \
  X(unsigned char, previous_step, bramah__own_size(f))    /* before the last step */                         \
  X(unsigned char, step_before_that, bramah__own_size(f)) /* kept while bramah_filter_step may fail */       \
  X(unsigned char, cycle_start, f->plant.snapshot_size)   /* of the plant, where bramah_filter_step began */ \
  X(unsigned char, inflated,                                                                                 \
    f->iterations > 1 ? bramah__own_size(f) : 0) /* after recovery; iterated updates */

typedef struct bramah__filter_work {
  BRAMAH__FILTER_WORK(BRAMAH__FIELD_MEMBER)
} bramah__filter_work;

typedef struct bramah__filter_snapshots {
  BRAMAH__FILTER_SNAPSHOTS(BRAMAH__FIELD_MEMBER)
  const unsigned char *iterate_from; /* step_start or inflated */
} bramah__filter_snapshots;

/* Error state: n_plant = 2 n_dof + n_first_order of the plant, then the augmented ones. */
struct bramah_filter {
  uint64_t mark;     /* bramah__mark_of; comes first */
  uint64_t identity; /* of what a snapshot must fit, see filter_state.c */
  bramah_plant plant;
  bramah_transition transition;
  int has_coordinates, resolvent, square_root, block;
  int iterations;
  unsigned patience;
  double drift_gate;
  size_t n, n_plant, n_dof, n_first_order, nq; /* nq: columns of noise */
  size_t n_sensors, n_augmented;
  size_t n_par, n_par_most, n_par_noise; /* parameters in use: augmented ones, noisy ones, causes */
  size_t first_noise;                    /* of the noisy ones */
  size_t n_edges;                        /* of augmented and noisy ones that may cease to matter */
  size_t n_kinks;                        /* of the plant that are looked at */
  int reaches;                           /* 1: one of them is in reach in the present step */
  size_t n_displaced;                    /* whose effects are compared with those on displaced steps */
  size_t n_causes, n_causes_most;
  size_t n_banks; /* of scores, each of causes that begin at a time of their own; 0: none */
  size_t n_block;
  size_t n_phases, n_conditions, n_processes; /* of all phases */
  size_t n_heard; /* n_sensors where a phase asks when they were last measured, else 0 */
  bramah__kernel_shape shape;
  const unsigned char *considered; /* held, or NULL where nothing is */
  int by_parameter_known;
  int n_foreign; /* how many of the two pairs of F and Gamma may have entries where ours are zero by structure */
  bramah__progress progress;
  size_t state_size;
  unsigned char *state; /* [state_size] the arrays that follow, one behind the other as in a snapshot */
  BRAMAH__FILTER_STATE(BRAMAH__FIELD_MEMBER)
  BRAMAH__FILTER_ARRAYS(BRAMAH__FIELD_MEMBER)
  bramah__filter_work work;
  bramah__filter_snapshots snapshot;
  bramah__process_noise noise; /* in the user's coordinates */
  double nis;
  size_t nis_dof;
  bramah__likelihood_sums likelihood;
  int own_memory;
};

/* Spectral densities as they are where no phase says otherwise. */
static inline const double *bramah__usual_acceleration_noise(const bramah_filter *f)
{
  return f->n_phases ? f->usual_noise : f->noise.acceleration;
}

static inline const double *bramah__usual_first_order_noise(const bramah_filter *f)
{
  return f->n_phases ? f->usual_noise + f->n_dof : f->noise.first_order;
}

static inline double bramah__step_seconds(const bramah_filter *f) { return (double)f->plant.step_ns * 1e-9; }

/* Row [n_error] of output i of the plant; 0 where it has none. snap [plant->snapshot_size], dx [n_error] are
 * scratch. */
static inline int bramah__row_of_output(const bramah_plant *plant, size_t i, double *row, void *snap,
                                        double *dx)
{
  bramah_output_info info;
  bramah_plant_output_info(plant, i, &info);
  return info.has_row && bramah__plant_output_row(plant, i, row, snap, dx, NULL) == BRAMAH_OK;
}

/* ---- predict.c ---- */

void bramah__process_noise_layout(const bramah_plant *plant, bramah__arena *arena,
                                  bramah__process_noise *noise);

/* Check and take the values and the basis. Errors as of bramah_filter_init. */
bramah_status bramah__process_noise_take(const bramah_plant *plant, const bramah_filter_options *options,
                                         bramah__process_noise *noise, bramah_diag *diag);

/* Another spectral density of the process noise; NULL leaves a part as it is. Errors: E_VALUE (nothing
 * changed). */
bramah_status bramah__process_noise_set(const bramah_plant *plant, const double *acceleration,
                                        const double *first_order, bramah__process_noise *noise,
                                        bramah_diag *diag);

/* Bring B up to date with the present pose. Errors: E_SINGULAR. */
bramah_status bramah__process_noise_refresh(const bramah_plant *plant, bramah__process_noise *noise,
                                            bramah_diag *diag);

/* Initial covariance into the leading block of P, whose rows are n long; the rest of P is set to zero. */
void bramah__process_noise_covariance(const bramah__process_noise *noise,
                                      const bramah_filter_options *options, size_t n, double *P);

/* Columns of the noise of one step h by D 3.18 into the leading block of Gamma, whose rows are nq long: two
 * for each acceleration of the basis, one for each first-order state. Gamma must be zero there. */
void bramah__process_noise_columns(const bramah__process_noise *noise, double h, size_t nq, double *Gamma);

/* ---- phases.c ---- */

void bramah__phases_count(const bramah_filter_options *o, bramah_filter *f);
/* After the augmented states; the shapes of its processes are theirs. Errors: E_VALUE, E_REFERENCE name the phase. */
bramah_status bramah__phases_take(bramah_filter *f, const bramah_filter_options *o, bramah_diag *diag);
/* What augmented state i has at present is what it has where no phase is on. */
void bramah__phases_set_usual(bramah_filter *f, size_t i);
/* Spectral densities of the accelerations, those of first-order states behind them: into what no phase says, or out of it. */
void bramah__phases_usual_noise(bramah_filter *f, int set);
/* At the start of a step: which are on, and what augmented states have with them. */
void bramah__phases_decide(bramah_filter *f);
/* A step was made; sensors were measured. */
void bramah__phases_count_step(bramah_filter *f);
void bramah__phases_hear(bramah_filter *f, const unsigned char *present);

/* ---- kinks.c ---- */

/* Is a kink so near that it matters, by the covariance P, entries `stride` apart and rows of n? Its standard deviation. */
int bramah__kink_reaches(const bramah_kink *kink, const double *P, size_t stride, size_t n, size_t n_dof,
                         double *sigma);
/* Before the step of the plant: which kinks are in reach. */
void bramah__kinks_start(bramah_filter *f);
/* After it: what they make of its derivatives by states and parameters and by noise, and of where the plant is. */
bramah_status bramah__kinks_end(bramah_filter *f, bramah_diag *diag);

/* ---- augmented.c ---- */

/* Take the augmented states of the options; their initial covariance goes to P_initial. */
bramah_status bramah__take_augmented(bramah_filter *f, const bramah_filter_options *o, bramah_diag *diag);
size_t bramah__augmented_states(const bramah_filter_options *o);
/* How many parameters that are augmented or noisy have an edge. */
size_t bramah__augmented_edges(const bramah_plant *plant, const bramah_filter_options *o);
/* How many effects of parameters are compared with those on displaced steps. */
size_t bramah__augmented_displaced(const bramah_filter_options *o);
/* Is one of these edges so near that it matters? */
int bramah__augmented_reaches(double value, double sigma, double below, double above);
/* E u, E u^2 and E u z of the ramp u = max(z - a, 0) of a standard normal z. */
typedef struct bramah__ramp {
  double mean, square, slope;
} bramah__ramp;
bramah__ramp bramah__ramp_from(double a);
/* What an augmented state is about: index of its parameter of the plant, or of its sensor. Errors:
 * E_REFERENCE. */
bramah_status bramah__augmented_target(const bramah_plant *plant, size_t n_sensors,
                                       const bramah_sensor *sensor, const bramah_augmented *a, size_t *out,
                                       bramah_diag *diag);
/* Before the step of the plant. */
void bramah__augmented_start_step(bramah_filter *f);
/* After it: the columns of F by which they act on the plant. */
void bramah__augmented_transition(bramah_filter *f);
/* Derivatives of the coming step by parameters in use an edge of which is in reach: what is believed of them lies on
 * both sides of it. Leaves the plant as it was. */
void bramah__augmented_spread(bramah_filter *f);
/* After the step: they take the places of the local ones in G; and what is left of the step then. */
void bramah__augmented_use_spread(bramah_filter *f);
/* Before the step: 1 with work.dx to be displaced by where effects of parameters on the step are wanted from within the
 * spread of the estimate too, as work.displaced. After the step: how they compare with those on the step itself. */
int bramah__augmented_displace(bramah_filter *f);
void bramah__augmented_compare(bramah_filter *f);
/* What they do by themselves in a step: their blocks of F and Gamma. */
void bramah__augmented_blocks(bramah_filter *f);
/* These; and columns of Gamma behind them, of noisy parameters and what is left of linearisations. */
void bramah__augmented_noise(bramah_filter *f);
/* Their means over one step. */
bramah_status bramah__augmented_advance(bramah_filter *f, bramah_diag *diag);
/* What measurements tell of one that is considered until it is estimated: half its standard deviation, ln 2. How far an effect
 * is above what it varies by before it is learned from; the share of a step in both; and one step in so many is compared
 * with one from beside the estimate. */
static const double bramah__enough_information = 0.6931471805599453;
static const double bramah__significant_effect = 2.0, bramah__effect_share = 1.0 / 25.0;
enum { BRAMAH__DISPLACE_EVERY = 4 };
int bramah__augmented_is_estimated(const bramah_filter *f, size_t i);
/* Role AUTO, and compared with displaced steps. */
int bramah__augmented_is_displaced(const bramah_filter *f, size_t i);
/* Which of them are considered in the coming correction, by what was learned so far: f->held, f->considered and
 * f->weight. */
void bramah__augmented_hold(bramah_filter *f);
/* What part of the variance S of the innovation of sensor i, whose P H' is known, comes from those that are considered, 0
 * to 1; its correlation with each into f->correlation. */
double bramah__augmented_share(bramah_filter *f, size_t i, double S);
/* Count what the sensors accepted are to tell of those that are considered so far. */
void bramah__augmented_learn(bramah_filter *f);
/* Mean value of augmented state i. */
double bramah__augmented_value(const bramah_filter *f, size_t i);
/* Add the estimated errors dx [n] to their means, within the limits. */
bramah_status bramah__augmented_inject(bramah_filter *f, const double *dx, bramah_diag *diag);

/* Derivative of what a sensor shows by a parameter. Forces, flows and accelerations it reaches at once: by
 * one difference from `back` below its value to `on` above. Positions, rates and first-order states only through
 * the step: zero. snap [plant->snapshot_size] is scratch. */
bramah_status bramah__sensor_by_parameter(const bramah_plant *plant, const bramah_sensor *sensor,
                                          size_t parameter, double back, double on, void *snap, double *out,
                                          bramah_diag *diag);
/* The same of sensor i of the filter by the parameter in use j. */
bramah_status bramah__sensor_by_used(bramah_filter *f, size_t i, size_t j, double *out, bramah_diag *diag);
/* 1: an output that parameters may reach at once. */
int bramah__is_moved_at_once(const bramah_output_info *info);
/* What output i, one of those, has of augmented parameters at once, into its row H [n]. */
void bramah__output_by_augmented(bramah_filter *f, size_t i, double *H);
/* What sensor i shows of an error of its own of size one; rate: of its prediction. */
double bramah__sensor_by_error(const bramah_filter *f, size_t i, bramah_augmented_kind kind, double rate);
/* Row of sensor i at the present state of plant and means, into H [n]. */
bramah_status bramah__row(bramah_filter *f, size_t i, double *H, bramah_diag *diag);
/* What it is predicted to show there, its errors included. */
double bramah__prediction(const bramah_filter *f, size_t i);

/* ---- filter.c ---- */

/* The sizes of a filter that these options ask for. */
void bramah__filter_count(const bramah_plant *plant, size_t n_sensors, const bramah_filter_options *options,
                          bramah_filter *filter);

/* Row of output i of the plant by all error states, into row [n]; 0: it has none. */
int bramah__filter_output_row(bramah_filter *f, size_t i, double *row);

/* ---- correct.c ---- */

/* Of an innovation in its standard deviations: its square and sums of such squares can still be reckoned with. */
static const double bramah__absurd_innovation = 1e100;

/* The running mean m += a (nu - m) of white innovations has the variance a / (2 - a); what they have in common, by states
 * that are considered, it has whole. */
static const double bramah__drift_share = 1.0 / 50.0;

static inline double bramah__drift_sigma(double common)
{
  return sqrt((1.0 - common) * bramah__drift_share / (2.0 - bramah__drift_share) + common);
}

static const double bramah__log_two_pi = 1.8378770664093453;

/* bramah_filter_correct_at; whole = 0: on error the filter is left for the caller to take back. */
bramah_status bramah__correct(bramah_filter *f, const double *y, const unsigned char *present,
                              const int64_t *offset_ns, int whole, bramah_diag *diag);

/* ---- scores.c ---- */

size_t bramah__most_causes(const bramah_plant *plant, size_t n_sensors);
/* After augmented states and noise have been taken. */
void bramah__take_causes(bramah_filter *f);
/* Before a step; after it, in its coordinates; and to others, T [n x n]. */
void bramah__scores_start_step(bramah_filter *f);
void bramah__scores_predict(bramah_filter *f);
void bramah__scores_rebase(bramah_filter *f, const double *T);
/* A sample of sensor i before it is fused: P H', what is left of its innovation and its variance. */
bramah_status bramah__scores_sample(bramah_filter *f, size_t i, const double *PH, double rest, double S,
                                    bramah_diag *diag);

/* ---- oosm.c ---- */

/* Take the offsets [n_sensors, NULL: none] of samples and what is to be known of the last step. Errors:
 * E_TIME names a sensor whose sample is more than a step away; those of rows. */
bramah_status bramah__oosm_prepare(bramah_filter *f, const unsigned char *present, const int64_t *offset_ns,
                                   bramah_diag *diag);
/* Row, variance and prediction of sensor i, whose row of the present time is in f->H, to the time of its
 * sample. */
void bramah__oosm_shift_row(bramah_filter *f, size_t i);

/* ---- filter_state.c ---- */

/* Size of the arrays of BRAMAH__FILTER_STATE; and where they are behind `at`, into the pointers of `fields`. */
size_t bramah__state_size(const bramah_filter *filter);
void bramah__place_state(const bramah_filter *filter, void *at, bramah_filter *fields);
/* Size of a snapshot for the filter's own use, which leaves out the last step. */
size_t bramah__own_size(const bramah_filter *filter);
void bramah__keep(const bramah_filter *filter, void *snap);
/* Covariance, means and plant from a snapshot, and the counts if asked. */
void bramah__take_back(bramah_filter *filter, const void *snap, int with_counts);
/* Where they are in one: means, P, plant. */
typedef struct bramah__parts {
  double *mean, *P;
  void *plant;
} bramah__parts;
bramah__parts bramah__parts_of(const bramah_filter *filter, void *snap);
/* The same with the last step, to and from snap [bramah__body_size]; without the noise, which stays what it was
 * set to. Is it one that can be restored? *time_ns: the time it is of. */
size_t bramah__body_size(const bramah_filter *filter);
void bramah__save_body(const bramah_filter *filter, void *snap);
void bramah__restore_body(bramah_filter *filter, const void *snap);
int bramah__body_is_sound(const bramah_filter *filter, const void *snap, int64_t *time_ns);
/* The time that a snapshot of bramah_filter_save is of, which has been checked. */
int64_t bramah__snapshot_time_ns(const bramah_filter *filter, const void *snap);
/* Fill f->identity. */
void bramah__identify(bramah_filter *f);
/* F and Gamma of the step before take the place of those of the last one, and back. */
void bramah__swap_matrices(bramah_filter *f);
/* Nothing was measured. */
void bramah__clear_correction(bramah_filter *f);

/* Name of error state k; diag of the first bad variance. */
const char *bramah__error_name(const bramah_filter *f, size_t k);
bramah_status bramah__check_covariance(const bramah_filter *f, bramah_diag *diag);
/* P from S, where there is one. */
void bramah__refresh_covariance(bramah_filter *f);
/* S from P after P was changed. */
bramah_status bramah__refresh_root(bramah_filter *f, bramah_diag *diag);

/* ---- rewind.c ---- */

/* Watch the filter from now on (copied). */
void bramah__rewind_watch(bramah_rewind *rewind, const bramah_watcher *watcher);

/* ---- adaptive.c ---- */

/* Normal equations of the last corrections, and their solution between limits. Each correction says A theta =
 * b of m variances theta, A [m x m] symmetric and positive semidefinite, [m] each in its own unit squared. */

/* Doubles of one record: the lower triangle of A by rows, then b. */
static inline size_t bramah__window_record(size_t m) { return m * (m + 1) / 2 + m; }

/* Place of A[i][j], j <= i. */
static inline size_t bramah__window_place(size_t i, size_t j) { return i * (i + 1) / 2 + j; }

/* Sum of `count` records, the last written at slot `last` of a ring of `size`; a record counts `forgetting`
 * times what the one after it does. A [m x m] full, b [m]. */
void bramah__window_sum(size_t m, const double *ring, size_t size, size_t last, size_t count,
                        double forgetting, double *A, double *b);

/* theta [m] > 0: minimise x' A x / 2 - b' x within [least, most] (each m), near theta where A says little:
 * theta counts as one sample of variance theta. Gauss-Seidel, one variance after the other, which keeps the
 * limits exactly. A gets the weight of that sample added. x [m] is the result. */
void bramah__window_solve(size_t m, double *A, const double *b, const double *theta, const double *least,
                          const double *most, double *x);

/* ---- observability.c ---- */

/* Step by step, along any trajectory: begin a window with the prior standard deviations sigma [n] (> 0); add
 * a sample with row H [n] and standard deviation r at the present time; go on by a transition F [n x n]. */
bramah_status bramah__observability_begin(bramah_observability *o, const double *sigma, bramah_diag *diag);
void bramah__observability_observe(bramah_observability *o, const double *H, double r);
void bramah__observability_advance(bramah_observability *o, const double *F);
/* Look at the window. Errors: E_NOT_FINITE, E_NO_CONVERGENCE. */
bramah_status bramah__observability_analyse(bramah_observability *o, bramah_diag *diag);

#endif
