/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The process noise that a study assumes, on a simulated machine. */
#include "bramah/assess.h"
#include "bramah/log.h"
#include "lib/io/fail.h"
#include "lib/io/session.h"

#include <stdlib.h>

struct bramah_process_noise {
  bramah_session *session; /* of the machine of the simulation, with a filter that corrects nothing */
  bramah_noise *noise;
  double *dx; /* [n_error] */
};

static bramah_status open_filter(bramah_process_noise *p, bramah_diag *diag)
{
  bramah_session *session = p->session;
  const bramah_filter_options options = {.transition = session->study->transition,
                                         .discretisation = session->study->discretisation,
                                         .basis = session->start.basis,
                                         .position_sigma = session->start.position_sigma,
                                         .rate_sigma = session->start.rate_sigma,
                                         .first_order_sigma = session->start.pressure_sigma,
                                         .acceleration_noise = session->start.acceleration_noise,
                                         .first_order_noise = session->start.pressure_noise};
  return bramah_filter_new(&session->machine.plant, 0, session->sensors, &options, diag, &session->filter);
}

static bramah_status open_all(bramah_process_noise *p, const char *path, uint64_t seed, bramah_diag *diag)
{
  bramah_session *session = p->session;
  bramah_diag_clear(diag);
  bramah_status status = bramah_study_load(path, diag, &session->study);
  if (!status) status = bramah__session_make_room(session, diag);
  if (!status) status = bramah__session_find_joints(session, diag);
  if (!status) status = bramah__session_find_volumes(session, diag);
  if (!status) status = open_filter(p, diag);
  if (!status) status = bramah_noise_new(seed, bramah_noise_stream("plant noise"), diag, &p->noise);
  if (status) return bramah__place(diag, path, 0);
  p->dx = calloc(bramah_filter_n_error(session->filter) + 1, sizeof *p->dx);
  return p->dx ? BRAMAH_OK : bramah__fail_memory(diag);
}

bramah_status bramah_process_noise_new(const char *study_path, uint64_t seed,
                                       const bramah_machine_plant *machine, bramah_diag *diag,
                                       bramah_process_noise **out)
{
  bramah_process_noise *p = calloc(1, sizeof *p);
  if (!p) return bramah__fail_memory(diag);
  p->session = calloc(1, sizeof *p->session);
  if (!p->session) {
    free(p);
    return bramah__fail_memory(diag);
  }
  p->session->machine = *machine;
  const bramah_status status = open_all(p, study_path, seed, diag);
  if (status)
    bramah_process_noise_free(p);
  else
    *out = p;
  return status;
}

void bramah_process_noise_free(bramah_process_noise *noise)
{
  if (!noise) return;
  noise->session->machine = (bramah_machine_plant){0}; /* not ours */
  bramah_session_close(noise->session);
  bramah_noise_free(noise->noise);
  free(noise->dx);
  free(noise);
}

bramah_status bramah_process_noise_step(bramah_process_noise *noise, bramah_diag *diag)
{
  bramah_filter *filter = noise->session->filter;
  const bramah_plant *plant = &noise->session->machine.plant;
  const bramah_status status = bramah_filter_predict(filter, diag);
  if (status) return status;
  size_t columns;
  const size_t n = bramah_filter_n_error(filter);
  const double *gamma = bramah_filter_last_noise(filter, &columns);
  for (size_t r = 0; r < n; r++) noise->dx[r] = 0.0;
  for (size_t c = 0; c < columns; c++) {
    const double w = bramah_noise_gaussian(noise->noise, 1.0);
    for (size_t r = 0; r < n; r++) noise->dx[r] += gamma[r * columns + c] * w;
  }
  return plant->inject(plant->self, noise->dx, diag);
}
