/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How far estimate, model alone and raw sensors are from the truth; and whether the innovations are as large
 * as the filter believes. */
#ifndef BRAMAH_LIB_CLI_ACCURACY_H
#define BRAMAH_LIB_CLI_ACCURACY_H

#include "bramah/assess.h"
#include "lib/cli/estimate.h"
#include "lib/cli/table.h"
#include "lib/cli/truth.h"

/* An output that the truth also has. */
typedef struct cli_compared {
  size_t output;
  size_t column; /* of the truth */
  long sensor;   /* that measures just this; -1: none */
  bramah_rmse estimate, model, measured;
  uint64_t judged, within; /* errors that have a sigma; of them those within 2 * 1.96 sigma */
} cli_compared;

typedef struct cli_accuracy {
  size_t n;
  cli_compared *compared;
} cli_accuracy;

bramah_status cli_accuracy_init(cli_accuracy *accuracy, const bramah_session *session,
                                const cli_estimate *estimate, const cli_truth *truth, bramah_diag *diag);
void cli_accuracy_free(cli_accuracy *accuracy);

/* Add the present time. model: plant of the model alone, NULL when there is none (any more); measured
 * [n_sensors], NaN where there was no sample. */
void cli_accuracy_add(cli_accuracy *accuracy, const cli_estimate *estimate, const cli_truth *truth,
                      const bramah_plant *model, const double *measured);

cli_table cli_accuracy_table(const cli_accuracy *accuracy, const bramah_plant *plant);

/* Innovations, per sensor and all together. */
typedef struct cli_innovations {
  bramah_nis nis;   /* of those fused */
  double share;     /* sum over them of what their gates leave of a mean NIS of 1 */
  uint64_t present; /* all */
  uint64_t gated, saturated;
  double last, products,
      squares; /* normalised innovations: the last one, sums of products with the one before and of
                                     squares */
} cli_innovations;

/* Correlation of an innovation with the one before; 0 if there is none. */
double cli_innovations_lag(const cli_innovations *innovations);

typedef struct cli_consistency {
  size_t n_sensors;
  const double *gate;      /* [n_sensors] */
  cli_innovations *sensor; /* [n_sensors] */
  cli_innovations all;
} cli_consistency;

/* gate [n_sensors] in standard deviations, 0: none; kept by reference. */
bramah_status cli_consistency_init(cli_consistency *consistency, size_t n_sensors, const double *gate,
                                   bramah_diag *diag);
void cli_consistency_free(cli_consistency *consistency);
/* Add a sample when it is used; and after each step the NIS of all of it. */
void cli_consistency_add(cli_consistency *consistency, const bramah_rewind_use *use);
void cli_consistency_add_all(cli_consistency *consistency, const bramah_replay *replay);
cli_table cli_consistency_table(const cli_consistency *consistency, const bramah_filter *filter);

#endif
