/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A log that is played: forwards as it is replayed, and back to states that were kept. */
#define _POSIX_C_SOURCE 200809L /* strdup */
#include "bramah/serve.h"
#include "lib/assess/assess_internal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { KEPT = 64 };

typedef struct kept {
  int64_t time_ns;
  bramah__snapshot state;
} kept;

struct bramah_player {
  bramah_session *session;
  bramah_log_stream *log; /* NULL: another source */
  bramah_assess *assess;
  size_t n_paths;
  char **paths;
  int can_seek;
  int (*stopped)(void *user);
  void *stopped_user;
  /* States in the order of time, the first one of the first estimate; from one to the next at least so long. They stay true
   * when the player goes back. */
  kept kept[KEPT];
  size_t n_kept;
  int64_t keep_ns;
};

/* ---- opening ---- */

static bramah_status open_log(bramah_player *p, bramah_log_stream **out, bramah_diag *diag)
{
  const char *const *paths = (const char *const *)(uintptr_t)p->paths;
  const bramah_status status = bramah_log_stream_open(p->session, p->n_paths, paths, diag, out);
  if (!status) bramah_log_stream_stop(*out, p->stopped, p->stopped_user);
  return status;
}

static int is_files(size_t n, const char *const *paths)
{
  struct stat about;
  for (size_t i = 0; i < n; i++)
    if (strcmp(paths[i], "-") == 0 || stat(paths[i], &about) ||
        !(S_ISREG(about.st_mode) || S_ISDIR(about.st_mode)))
      return 0;
  return 1;
}

static bramah_status new_player(bramah_session *session, bramah_diag *diag, bramah_player **out)
{
  const bramah_study *study = bramah_session_study(session);
  bramah_diag_clear(diag);
  if (study->hypotheses.n)
    return bramah__failf(diag, BRAMAH_E_UNSUPPORTED, study->file, study->hypotheses.line, "hypotheses",
                         "what is played is one filter; hypotheses are several");
  *out = calloc(1, sizeof **out);
  if (!*out) return bramah__fail_memory(diag);
  (*out)->session = session;
  (*out)->keep_ns = INT64_C(1000000000);
  return BRAMAH_OK;
}

bramah_status bramah_player_new(bramah_session *session, bramah_source source, void *user,
                                const bramah_assess_options *options, bramah_diag *diag, bramah_player **out)
{
  *out = NULL;
  bramah_player *p = NULL;
  bramah_status status = new_player(session, diag, &p);
  if (!status) status = bramah_assess_new(session, source, user, options, diag, &p->assess);
  if (status)
    bramah_player_close(p);
  else
    *out = p;
  return status;
}

bramah_status bramah_player_open(bramah_session *session, size_t n, const char *const *paths,
                                 const bramah_assess_options *options, bramah_diag *diag, bramah_player **out)
{
  *out = NULL;
  bramah_player *p = NULL;
  bramah_status status = new_player(session, diag, &p);
  if (!status) p->paths = calloc(n + 1, sizeof *p->paths);
  if (!status && !p->paths) status = bramah__fail_memory(diag);
  for (; !status && p->n_paths < n; p->n_paths++)
    if (!(p->paths[p->n_paths] = strdup(paths[p->n_paths]))) status = bramah__fail_memory(diag);
  if (!status) status = open_log(p, &p->log, diag);
  if (!status) status = bramah_assess_new(session, bramah_log_stream_next, p->log, options, diag, &p->assess);
  if (status)
    bramah_player_close(p);
  else
    *out = p;
  if (!status) p->can_seek = is_files(n, paths) && !p->assess->options.truth;
  return status;
}

void bramah_player_close(bramah_player *p)
{
  if (!p) return;
  bramah_assess_free(p->assess);
  bramah_log_stream_close(p->log);
  for (size_t i = 0; i < p->n_kept; i++) bramah__snapshot_free(&p->kept[i].state);
  for (size_t i = 0; i < p->n_paths; i++) free(p->paths[i]);
  free(p->paths);
  free(p);
}

void bramah_player_stop(bramah_player *p, int (*stopped)(void *user), void *user)
{
  p->stopped = stopped;
  p->stopped_user = user;
  if (p->log) bramah_log_stream_stop(p->log, stopped, user);
}

bramah_assess *bramah_player_assess(const bramah_player *p) { return p->assess; }

int bramah_player_can_seek(const bramah_player *p) { return p->can_seek; }

/* ---- playing ---- */

/* One state more; where there is no place for it, every other one is given up. */
static bramah_status keep(bramah_player *p, bramah_diag *diag)
{
  const int64_t now = bramah_assess_get_totals(p->assess).last_ns;
  if (p->n_kept && now < p->kept[p->n_kept - 1].time_ns + p->keep_ns) return BRAMAH_OK;
  if (p->n_kept == KEPT) {
    for (size_t i = 1; i < KEPT / 2; i++) {
      const kept unused = p->kept[i];
      p->kept[i] = p->kept[2 * i];
      p->kept[2 * i] = unused;
    }
    for (size_t i = KEPT / 2; i < KEPT; i++) bramah__snapshot_free(&p->kept[i].state);
    p->n_kept = KEPT / 2;
    p->keep_ns *= 2;
  }
  kept *next = &p->kept[p->n_kept];
  next->time_ns = now;
  const bramah_status status = bramah__assess_keep(p->assess, &next->state, diag);
  if (status)
    bramah__snapshot_free(&next->state);
  else
    p->n_kept++;
  return status;
}

bramah_status bramah_player_next(bramah_player *p, int *end, bramah_diag *diag)
{
  const bramah_status status = bramah_assess_next(p->assess, end, diag);
  return status || *end || !p->can_seek ? status : keep(p, diag);
}

/* Back to a state, on the log from its first row. */
static bramah_status go_back(bramah_player *p, const kept *to, bramah_diag *diag)
{
  bramah_log_stream *log = NULL;
  bramah_status status = open_log(p, &log, diag);
  if (status) return status;
  bramah_log_stream *before = p->log;
  p->log = log;
  status = bramah__assess_go_back(p->assess, &to->state, log, diag);
  bramah_log_stream_close(before);
  return status;
}

bramah_status bramah_player_seek(bramah_player *p, int64_t time_ns, int *end, bramah_diag *diag)
{
  size_t k = 0;
  *end = 0;
  if (!p->can_seek || !p->n_kept)
    return bramah__failf(diag, BRAMAH_E_UNSUPPORTED, NULL, 0, NULL,
                         p->can_seek ? "nothing was played yet" : "there is no way back: the log is no file");
  while (k + 1 < p->n_kept && p->kept[k + 1].time_ns <= time_ns) k++;
  const int64_t now = bramah_assess_get_totals(p->assess).last_ns;
  bramah_status status = BRAMAH_OK;
  if (now > time_ns || p->kept[k].time_ns > now) status = go_back(p, &p->kept[k], diag);
  while (!status && !*end && bramah_assess_get_totals(p->assess).last_ns < time_ns &&
         !(p->stopped && p->stopped(p->stopped_user)))
    status = bramah_player_next(p, end, diag);
  return status;
}
