/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Noise that adapts, as the section `adapt` of a study asks. */
#include "lib/io/session.h"
#include "lib/base/diag.h"

#include <stdlib.h>

/* Limits of n figures: the factors times what is stated. `out`: least [n], most [n]. */
static void take_limits(const double factor[2], size_t n, const double *stated, double *out)
{
  for (size_t i = 0; i < n; i++) {
    out[i] = factor[0] * stated[i];
    out[n + i] = factor[1] * stated[i];
  }
}

static bramah_status make(const bramah_session *session, double *room, bramah_diag *diag,
                          bramah_adaptive **out)
{
  const bramah_study_adapt *from = &session->study->adapt;
  const bramah_plant *plant = bramah_filter_get_info(session->filter).plant;
  const size_t nf = plant->n_dof, np = plant->n_first_order,
               ns = bramah_filter_get_info(session->filter).n_sensors;
  double *acceleration = room, *pressure = acceleration + 2 * nf, *sensor = pressure + 2 * np;
  double *sigma = sensor + 2 * ns;
  for (size_t i = 0; i < ns; i++) sigma[i] = bramah_filter_get_info(session->filter).sensor[i].sigma;
  take_limits(from->accelerations, nf, bramah_filter_get_info(session->filter).acceleration_noise,
              acceleration);
  take_limits(from->pressures, np, bramah_filter_get_info(session->filter).first_order_noise, pressure);
  take_limits(from->sensors, ns, sigma, sensor);
  bramah_adaptive_options options;
  bramah_adaptive_options_default(&options);
  options.method = (bramah_adaptive_method)from->method;
  options.window = (size_t)from->window;
  options.acceleration_least = acceleration, options.acceleration_most = acceleration + nf;
  options.first_order_least = pressure, options.first_order_most = pressure + np;
  options.sensor_least = sensor, options.sensor_most = sensor + ns;
  return bramah_adaptive_new(session->filter, &options, diag, out);
}

bramah_status bramah_session_new_adaptive(const bramah_session *session, bramah_diag *diag,
                                          bramah_adaptive **out)
{
  const bramah_study *study = session->study;
  const bramah_plant *plant = &session->machine.plant;
  *out = NULL;
  if (!study->adapt.line) return BRAMAH_OK;
  bramah_diag_clear(diag);
  double *room = calloc(2 * (plant->n_dof + plant->n_first_order) + 3 * study->n_sensors + 1, sizeof *room);
  if (!room) return bramah__fail(diag, BRAMAH_E_MEMORY, NULL, "out of memory");
  const bramah_status status = make(session, room, diag, out);
  free(room);
  if (status) bramah__in_file(diag, study->file, study->adapt.line);
  return status;
}
