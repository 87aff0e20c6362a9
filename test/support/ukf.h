/* SPDX-License-Identifier: MIT */
/* Unscented Kalman filter on any plant, to compare the error-state filter with. Its state is that of the
 * plant's coordinates: independent positions, rates, first-order states. Sources: S. J. Julier, J. K.
 * Uhlmann, "Unscented filtering and nonlinear estimation", Proc. IEEE 92 (2004); E. A. Wan, R. van der Merwe,
 * "The unscented Kalman filter" (2001), with additive noise.
 *
 * Prediction: 2 n + 1 sigma points, each put into the plant by inject and stepped; mean and covariance of
 * where they come out, plus the noise of (D 3.18). The plant itself goes along as the central point and is
 * then moved to the mean. Correction: sigma points anew about the mean, measured with the sensors; angles are
 * compared with the central point's and wrapped.
 *
 * Weights: lambda = alpha^2 (n + kappa) - n; the points lie sqrt(n + lambda) standard deviations off; central
 * weights lambda / (n + lambda) of the mean and 1 - alpha^2 + beta more of the covariance, 1 / (2 (n +
 * lambda)) for the others. Pressures are stiff, and far from the mean they may become negative or open a
 * valve: points should stay near. With kappa 0 they lie alpha sqrt(n) off. The default 0.6 (1.3 sigma for n =
 * 5) is about as near as can be without a negative central weight of the covariance, which begins at 0.52 for
 * beta 2; smaller ones are allowed.
 *
 * Where the plant goes over to other independent coordinates during the step, in all points or in some, all
 * of them are read by the plant's outputs, in the coordinates that the central point has after it. That needs
 * positions and rates that are outputs of their own; spherical and floating joints that are re-based have
 * none: E_UNSUPPORTED.
 *
 * After a successful init nothing allocates. */
#ifndef BRAMAH_TEST_SUPPORT_UKF_H
#define BRAMAH_TEST_SUPPORT_UKF_H

#include "bramah/filter.h"

/* How the points are spread. */
typedef struct bramah_ukf_options {
  double alpha; /* > 0; default 0.6 */
  double beta;  /* default 2, best for normal distributions */
  double kappa; /* > -n; default 0 */
} bramah_ukf_options;

/* All of them at their defaults. */
void bramah_ukf_options_default(bramah_ukf_options *options);

typedef struct bramah_ukf bramah_ukf;

/* Copies and lifetimes as for bramah_filter_new, memory is taken here, once; of its options basis, standard
 * deviations and noise are used, the latter as BRAMAH_DISCRETISATION_PUBLISHED. unscented may be NULL
 * (defaults). Errors: those of bramah_filter_init; E_VALUE (alpha, beta, kappa); E_UNSUPPORTED (augmented
 * states, noise of parameters or gates in the options, which it does not have; the plant's coordinates can be
 * read neither by its function nor as outputs). */
bramah_status bramah_ukf_new(const bramah_plant *plant, size_t n_sensors, const bramah_sensor *sensors,
                             const bramah_filter_options *options, const bramah_ukf_options *unscented,
                             bramah_diag *diag, bramah_ukf **out);
void bramah_ukf_free(bramah_ukf *ukf); /* NULL allowed */

/* One cycle, as for the filter of bramah/filter.h. On error plant and covariance are as before the call.
 * Errors: those of the plant, of which one that a sigma point meets names its state; E_NOT_FINITE;
 * E_NOT_SPD. All samples count as measured at the present time: nothing like bramah_filter_correct_at is
 * there, and bramah/replay.h does not run this filter. Compare the two by samples on the
 * grid of the step, or by the same shifted ones given to bramah_filter_correct. */
bramah_status bramah_ukf_set_inputs(bramah_ukf *ukf, const double *u, bramah_diag *diag);
bramah_status bramah_ukf_predict(bramah_ukf *ukf, bramah_diag *diag);
bramah_status bramah_ukf_correct(bramah_ukf *ukf, const double *y, const unsigned char *present,
                                 bramah_diag *diag);

/* Results, as of the filter; pointers hold as long as it lives. Innovations are those of all sensors
 * together, before the correction; those of saturated samples, which are left out, are NaN. */
typedef struct bramah_ukf_report {
  int64_t time_ns;
  const bramah_innovation *innovation; /* [n_sensors] */
  double nis;
  size_t nis_dof;
  const double *covariance; /* [n x n] */
} bramah_ukf_report;

/* All of it. */
bramah_ukf_report bramah_ukf_get_report(const bramah_ukf *ukf);
/* Standard deviation of output i of the plant; NaN where the output has no row. */
double bramah_ukf_output_sigma(bramah_ukf *ukf, size_t i);

#endif
