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

/* What changes of the filter beside P and the plant; copied whole into snapshots. */
typedef struct bramah__progress {
  int64_t time_ns;
  bramah_filter_report report;
} bramah__progress;

/* Error state, n = ne + na: ne = 2 nf + np of the plant, then the augmented ones. */
struct bramah_filter {
  bramah_plant plant;
  bramah_transition transition;
  int resolvent, square_root, block;
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
  double *drift; /* [n_sensors] running mean of normalised innovations; stands behind the means */
  bramah_augmented *augmented;
  bramah__augmented *own; /* [n_augmented] */
  double *mean;           /* [na] bias, or rate of order 2; the value of a parameter is the plant's */
  size_t *par;            /* [n_par] */
  double *par_step;       /* [n_par] for differences */
  double *par_noise;      /* [n_par_noise] densities */
  bramah__progress progress;
  double *P;                   /* [n x n] covariance of the error state */
  double *S;                   /* [n x n] its square root, P = S S'; square-root form only */
  double *P_initial;           /* [n x n] */
  double *F;                   /* [n x n] */
  double *work, *work2;        /* [n x (n + nq)], [n x n] */
  double *Gamma;               /* [n x nq] noise of the step, Q = Gamma Gamma' */
  double *Fe, *N, *G;          /* of the plant: [ne x ne], [ne x (nf + np)], [ne x n_par] */
  double *A, *Ap;              /* [nf x ne] derivative of the accelerations, [nf x n_par] by parameters */
  double *T;                   /* [ne x ne] */
  double *H;                   /* [n_sensors x n] */
  double *dx, *term;           /* [n] */
  double *y;                   /* [n_sensors] innovations to fuse */
  double *dx_scratch;          /* [n] */
  double *fuse_work;           /* [2 n] */
  double *block_work;          /* of block fusion */
  double *zdd;                 /* [2 nf] */
  double *coordinates;         /* [2 ne] */
  bramah__stated_noise stated; /* uncertainty in the user's coordinates */
  void *before;                /* snapshot of the filter before the present call */
  void *snap, *row_snap;       /* of the plant: at the start of a step or update; for differences */
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

/* Name of error state k; diag of the first bad variance. */
const char *bramah__error_name(const bramah_filter *f, size_t k);
bramah_status bramah__check_covariance(const bramah_filter *f, bramah_diag *diag);

/* Covariance, means and plant from a snapshot, and the counts if asked. */
void bramah__take_back(bramah_filter *filter, const void *snap, int with_counts);
/* Nothing was measured. */
void bramah__clear_correction(bramah_filter *f);

/* P from S, where there is one. */
void bramah__refresh_covariance(bramah_filter *f);
/* S from P after P was changed. */
bramah_status bramah__refresh_root(bramah_filter *f, bramah_diag *diag);

#endif
