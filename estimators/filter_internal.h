/* SPDX-License-Identifier: MIT */
/* One filter, shared by the files of the estimator. */
#ifndef BRAMAH_ESTIMATORS_FILTER_INTERNAL_H
#define BRAMAH_ESTIMATORS_FILTER_INTERNAL_H

#include "bramah/filter.h"
#include "estimators/stated_noise.h"
#include "lib/base/arena.h"

/* An augmented state as the filter works with it. */
typedef struct bramah__augmented {
  size_t target; /* parameter of the plant, or sensor */
  size_t state;  /* its first place in the error state */
  size_t column; /* its place among the parameters in use; SIZE_MAX: a bias */
  double nominal, least, most;
  double Phi[4];   /* transition over a step, order 1: Phi[0] */
  double noise[3]; /* Cholesky factor of its noise over a step: l11, l21, l22 */
} bramah__augmented;

/* A sample beside the present time, for the correction in hand (beside.c). */
typedef struct bramah__beside {
  double theta;    /* time of the sample after the present time, in steps; 0: at it */
  int smoothed;    /* 1: its row of H_beside is carried to the present error by the smoother's gain */
  double y;        /* prediction at the start of the last step */
  double variance; /* of that prediction when the present state is known */
  double ahead;    /* prediction at the time of the sample less the one at the present time */
} bramah__beside;

/* What changes of the filter beside P and the plant; copied whole into snapshots. */
typedef struct bramah__progress {
  int64_t time_ns;
  bramah_filter_report report;
  uint64_t has_last; /* 1: `last`, F and Gamma are those of a step to the present time */
  uint64_t rebased;  /* 1: it went over to other independent coordinates */
} bramah__progress;

/* Error state, n = ne + na: ne = 2 nf + np of the plant, then the augmented ones. */
struct bramah_filter {
  uint64_t mark;     /* bramah__mark_of; stands first */
  uint64_t identity; /* of what a snapshot must fit, see snapshot.c */
  bramah_plant plant;
  bramah_transition transition;
  int has_coordinates, resolvent, square_root, block;
  int iterations;
  unsigned patience;
  size_t n, ne, nf, np, nq; /* nq: columns of noise */
  size_t n_sensors, n_augmented;
  size_t n_par;       /* parameters in use: augmented ones, then noisy ones */
  size_t n_par_noise; /* the latter */
  bramah_sensor *sensor;
  bramah_innovation *innovation;
  double *gate;     /* [n_sensors] 0: none */
  uint32_t *reject; /* [n_sensors] rejections in a row */
  double drift_gate;
  double *drift; /* [n_sensors] running mean of normalised innovations; stands behind the shift */
  bramah_augmented *augmented;
  bramah__augmented *own; /* [n_augmented] */
  double *mean;           /* [na] bias, or rate of order 2; the value of a parameter is the plant's */
  double *shift;          /* [n] errors injected at the present time so far; stands behind the means */
  size_t *par;            /* [n_par] */
  double *par_step;       /* [n_par] for differences */
  double *par_noise;      /* [n_par_noise] densities */
  bramah__progress progress;
  double *P;                     /* [n x n] covariance of the error state */
  double *S;                     /* [n x n] its square root, P = S S'; square-root form only */
  double *P_initial;             /* [n x n] */
  double *F;                     /* [n x n] */
  double *work, *work2;          /* [n x (n + nq)], [n x n] */
  double *Gamma;                 /* [n x nq] noise of the step, Q = Gamma Gamma' */
  double *F_spare, *Gamma_spare; /* for the step being made */
  double *Fe, *N, *G;            /* of the plant: [ne x ne], [ne x (nf + np)], [ne x n_par] */
  double *A, *Ap;                /* [nf x ne] derivative of the accelerations, [nf x n_par] by parameters */
  double *T;                     /* [ne x ne] */
  double *H;                     /* [n_sensors x n] */
  double *dx, *term;             /* [n] */
  double *y;                     /* [n_sensors] innovations to fuse */
  double *r;                     /* [n_sensors] variances of the measurements */
  bramah__beside *beside;        /* [n_sensors] */
  double *H_beside;              /* [n_sensors x n] */
  double *dx_scratch;            /* [n] */
  double *fuse_work;             /* [2 n] */
  double *block_work;            /* of block fusion */
  double *zdd;                   /* [2 nf] */
  double *coordinates;           /* [2 ne] */
  bramah__stated_noise stated;   /* uncertainty in the user's coordinates */
  void *before;                  /* snapshot of the filter before the present call */
  void *opened;                  /* of it with its covariance opened; iterated updates only */
  const void *prediction;        /* of the two, what the iterations of the update begin with */
  void *last;                    /* snapshot of it before the last step */
  void *older, *cycle;           /* bramah_filter_step: that before the step in hand; where it started */
  int64_t *offset_ns;            /* [n_sensors] bramah_filter_step */
  void *snap, *row_snap;         /* of the plant: at the start of a step or update; for differences */
  double nis;
  size_t nis_dof;
  int own_memory;
};

static inline double bramah__step_seconds(const bramah_filter *f) { return (double)f->plant.step_ns * 1e-9; }

/* Gamma of the step whose N and G stand in the filter. */
void bramah__fill_noise(bramah_filter *f);

/* Take the augmented states of the options; their initial covariance goes to P_initial. */
bramah_status bramah__take_augmented(bramah_filter *f, const bramah_filter_options *o, bramah_diag *diag);
size_t bramah__augmented_states(const bramah_filter_options *o);
/* Rows of F for the augmented states, and the columns by which they act on the plant. */
void bramah__augmented_transition(bramah_filter *f);
/* Their means over one step. */
bramah_status bramah__augmented_advance(bramah_filter *f, bramah_diag *diag);
/* Add the estimated errors dx [n] to their means, within the limits. */
bramah_status bramah__augmented_inject(bramah_filter *f, const double *dx, bramah_diag *diag);
/* What sensor i shows too much, and the part of its row that the augmented states make. */
double bramah__bias(const bramah_filter *f, size_t i);
bramah_status bramah__augmented_row(bramah_filter *f, size_t i, double *H, bramah_diag *diag);

/* Fe, N, G of the coming step, and the step itself. */
bramah_status bramah__transition_and_step(bramah_filter *f, bramah_diag *diag);

/* Samples beside the present time: take their offsets [n_sensors, NULL: none] and what is to be known of the
 * last step. Errors: E_TIME names a sensor whose sample is more than a step away; those of rows. */
bramah_status bramah__look_beside(bramah_filter *f, const unsigned char *present, const int64_t *offset_ns,
                                  bramah_diag *diag);
/* Row, variance and prediction of sensor i, whose row H of the present time stands in the filter, to the time
 * of its sample. */
void bramah__carry_beside(bramah_filter *f, size_t i);

/* Row of sensor i at the present state of plant and means, into H [n]. */
bramah_status bramah__row(bramah_filter *f, size_t i, double *H, bramah_diag *diag);
/* What it is predicted to show there. */
double bramah__prediction(const bramah_filter *f, size_t i);

/* Name of error state k; diag of the first bad variance. */
const char *bramah__error_name(const bramah_filter *f, size_t k);
bramah_status bramah__check_covariance(const bramah_filter *f, bramah_diag *diag);

/* Snapshots for the filter's own use leave out the last step. */
size_t bramah__own_size(const bramah_filter *filter);
void bramah__keep(const bramah_filter *filter, void *snap);
/* Covariance, means and plant from a snapshot, and the counts if asked. */
void bramah__take_back(bramah_filter *filter, const void *snap, int with_counts);
/* Fill f->identity. */
void bramah__identify(bramah_filter *f);
/* F and Gamma of the step before take the place of those of the last one, and back. */
void bramah__swap_matrices(bramah_filter *f);
/* Where they stand in one: means, P, plant. */
typedef struct bramah__parts {
  double *mean, *P;
  void *plant;
} bramah__parts;
bramah__parts bramah__parts_of(const bramah_filter *filter, void *snap);
/* Nothing was measured. */
void bramah__clear_correction(bramah_filter *f);

/* P from S, where there is one. */
void bramah__refresh_covariance(bramah_filter *f);
/* S from P after P was changed. */
bramah_status bramah__refresh_root(bramah_filter *f, bramah_diag *diag);

#endif
