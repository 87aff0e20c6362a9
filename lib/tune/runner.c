/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "lib/tune/tune_internal.h"
#include "lib/io/fail.h"
#include <stdlib.h>
#include <string.h>

/* ---- what is seen ---- */

static void take_covariance(bramah__tune_runner *r)
{
  const bramah_filter *filter = bramah_session_filter(r->opened.session);
  const size_t n = bramah_filter_get_info(filter).n_error;
  memcpy(r->P, bramah_filter_covariance(filter), n * n * sizeof *r->P);
}

/* Off the diagonal h_i P h_j'; on it what the filter itself says. */
static void fill_covariance(bramah__tune_runner *r, const bramah_filter *filter,
                            const bramah_innovation *innovation, double *S)
{
  const size_t n = bramah_filter_get_info(filter).n_error, m = r->n_sensors;
  const double *H = bramah_filter_get_last(filter).rows;
  for (size_t i = 0; i < m; i++) {
    if (!innovation[i].present) continue;
    for (size_t a = 0; a < n; a++) {
      r->column[a] = 0.0;
      for (size_t b = 0; b < n; b++) r->column[a] += r->P[a * n + b] * H[i * n + b];
    }
    S[i * m + i] = innovation[i].sigma * innovation[i].sigma;
    for (size_t j = 0; j < i; j++) {
      if (!innovation[j].present) continue;
      double sum = 0.0;
      for (size_t a = 0; a < n; a++) sum += H[j * n + a] * r->column[a];
      S[i * m + j] = S[j * m + i] = sum;
    }
  }
}

static bramah_status grow(bramah__tune_runner *r, size_t room, bramah_diag *diag)
{
  const size_t m = r->n_sensors;
  bramah_innovation *innovations = realloc(r->innovations, (room * m + 1) * sizeof *innovations);
  if (innovations) r->innovations = innovations;
  double *S = innovations ? realloc(r->S, (room * m * m + 1) * sizeof *S) : NULL;
  if (!S) return bramah__fail_memory(diag);
  r->S = S;
  r->room = room;
  return BRAMAH_OK;
}

static bramah_status watch(void *user, bramah_filter_event event, bramah_filter *filter, bramah_diag *diag)
{
  bramah__tune_runner *r = user;
  if (event == BRAMAH_FILTER_PREDICTED) {
    take_covariance(r);
    return r->hooks.predicted ? r->hooks.predicted(r->hooks.user, diag) : BRAMAH_OK;
  }
  if (event != BRAMAH_FILTER_CORRECTED) return BRAMAH_OK;
  const bramah_innovation *innovation = bramah_filter_get_last(filter).innovation;
  const size_t m = r->n_sensors;
  int any = 0;
  for (size_t i = 0; i < m; i++) any |= innovation[i].present;
  if (!any) return BRAMAH_OK;
  const bramah_status status = r->n_seen == r->room ? grow(r, 2 * r->room, diag) : BRAMAH_OK;
  if (status) return status;
  memcpy(r->innovations + r->n_seen * m, innovation, m * sizeof *innovation);
  fill_covariance(r, filter, innovation, r->S + r->n_seen * m * m);
  r->n_seen++;
  take_covariance(r);
  return BRAMAH_OK;
}

bramah__tune_seen bramah__tune_runner_seen(const bramah__tune_runner *r, size_t k)
{
  const size_t m = r->n_sensors;
  return (bramah__tune_seen){r->innovations + k * m, r->S + k * m * m};
}

/* ---- the runner ---- */

static bramah_status make_room(bramah__tune_runner *r, bramah_diag *diag)
{
  const size_t n = bramah_filter_get_info(bramah_session_filter(r->opened.session)).n_error;
  r->P = calloc(n * n + n + 1, sizeof *r->P);
  if (!r->P) return bramah__fail_memory(diag);
  r->column = r->P + n * n;
  return grow(r, BRAMAH__TUNE_CHUNK, diag);
}

bramah_status bramah__tune_runner_open(bramah__tune_runner *r, const bramah__tune_problem *problem,
                                       size_t log, int thousandths, const char *set, bramah_diag *diag)
{
  bramah_replay_options options;
  bramah_replay_options_default(&options);
  options.gather = 1;
  options.watcher = (bramah_watcher){r, watch};
  r->n_sensors = problem->n_sensors;
  bramah_status status = bramah__tune_session_open(&r->opened, problem, set, diag);
  if (!status) options.max_gap_ns = bramah_session_study(r->opened.session)->log.longest_gap_ns;
  if (!status)
    status = bramah__tune_cursor_open(&r->cursor, &problem->logs[log], r->opened.delay_ns, r->opened.shift,
                                      thousandths, diag);
  if (!status) status = make_room(r, diag);
  if (!status)
    status = bramah_replay_new(bramah_session_filter(r->opened.session), &options, bramah__tune_cursor_next,
                               &r->cursor, diag, &r->replay);
  if (status) return status;
  take_covariance(r);
  return BRAMAH_OK;
}

void bramah__tune_runner_close(bramah__tune_runner *r)
{
  bramah_replay_free(r->replay);
  bramah__tune_cursor_close(&r->cursor);
  bramah__tune_session_close(&r->opened);
  free(r->P);
  free(r->innovations);
  free(r->S);
}

void bramah__tune_runner_go(bramah__tune_runner *r)
{
  r->n_steps = r->n_seen = 0;
  while (!r->status && !r->end && r->n_steps < BRAMAH__TUNE_CHUNK) {
    bramah__tune_step *step = &r->steps[r->n_steps];
    int fused;
    step->first = r->n_seen;
    r->status = bramah_replay_next(r->replay, &step->time_ns, &fused, &r->end, &r->diag);
    if (r->status || r->end) break;
    step->n_seen = r->n_seen - step->first;
    r->n_steps++;
    if (r->hooks.stepped) r->hooks.stepped(r->hooks.user, step);
  }
}
