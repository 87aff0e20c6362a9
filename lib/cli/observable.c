/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/cli/observable.h"
#include "bramah/observability.h"
#include "lib/cli/message.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static void warn(const bramah_observability *o)
{
  char names[512];
  const bramah_observability_result result = bramah_observability_report(o);
  const size_t n = bramah_observability_names(o, names, sizeof names);
  if (!result.lasting || !n) return;
  cli_note(
      "warning: the sensors do not see %s: in %.3g s they tell no more of %s than is known at the start, and "
      "errors there do not die out",
      names, result.horizon, n == 1 ? "it" : "them");
}

static bramah_status look_ahead(const bramah_session *session, const bramah_plant *plant, bramah_diag *diag)
{
  const size_t np = bramah_plant_n_error(plant),
               n_filter = bramah_filter_n_error(bramah_session_filter(session));
  const double *P = bramah_filter_covariance(bramah_session_filter(session));
  bramah_observability_options options;
  double *sigma = calloc(n_filter + 1, sizeof *sigma);
  bramah_observability *o = NULL;
  if (!sigma) return cli_fail(diag, BRAMAH_E_MEMORY, NULL, 0, NULL, "out of memory");
  for (size_t i = 0; i < np; i++) sigma[i] = sqrt(P[i * n_filter + i]);
  /* Other parameters are left out: from where a run starts, often at rest, most of them cannot be seen yet (a
   * pump behind a closed valve), which would be no news. */
  bramah_observability_options_default(&options);
  options.augmented = bramah_session_filter_options(session).augmented;
  options.n_augmented = bramah_study_n_unknown_inputs(bramah_session_study(session));
  for (size_t k = 0; k < options.n_augmented; k++) sigma[np + k] = options.augmented[k].sigma;
  bramah_status status = bramah_observability_new(plant, bramah_session_n_sensors(session),
                                                  bramah_session_sensors(session), &options, diag, &o);
  if (!status) status = bramah_observability_run(o, sigma, diag);
  if (!status) warn(o);
  bramah_observability_free(o);
  free(sigma);
  return status;
}

void cli_warn_unobservable(const bramah_session *session)
{
  bramah_diag diag;
  bramah_coupled *coupled = NULL;
  bramah_diag_clear(&diag);
  bramah_status status = bramah_coupled_new(bramah_session_model(session), &diag, &coupled);
  if (!status) status = bramah_session_start(session, coupled, &diag);
  if (!status) {
    const bramah_plant plant = bramah_coupled_plant(coupled);
    status = look_ahead(session, &plant, &diag);
  }
  if (status) cli_note("what the sensors see could not be looked at: %s", diag.message);
  bramah_coupled_free(coupled);
}
