/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A replay to and from a snapshot: filter, plant and buffers as the library saves them, and what the summary
 * counts. */
#include "lib/cli/output_files.h"
#include "lib/cli/replay.h"
#include "lib/cli/snapshot_file.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* What must be the same for a snapshot to fit. */
typedef struct identity {
  char version[32];
  uint64_t study, machine; /* hashes of the files */
} identity;

typedef struct progress {
  uint64_t rows, written, skipped, unmatched, missing;
  int64_t first_ns, last_ns, read_ns; /* first and last estimate, last row of the log */
  bramah_nis nees;
  uint64_t truth, alone; /* 1: there is one */
} progress;

/* Errors of one output, by its number in the plant. */
typedef struct errors {
  uint64_t output;
  bramah_rmse estimate, model, measured;
  uint64_t judged, within;
} errors;

static identity identity_of(const cli_replay_run *r)
{
  identity id = {.study = cli_hash_file(r->request.study),
                 .machine = cli_hash_file(bramah_session_study(r->session)->machine_file)};
  snprintf(id.version, sizeof id.version, "%s", bramah_version());
  return id;
}

/* ---- saving ---- */

static void put_text(cli_snapshot *s, const char *name, const char *text)
{
  cli_snapshot_put(s, name, text, strlen(text) + 1);
}

static void put_progress(const cli_replay_run *r, cli_snapshot *s)
{
  const int any = bramah_replay_report(r->replay).samples > 0;
  const progress p = {.rows = r->rows,
                      .written = r->written,
                      .skipped = bramah_log_stream_totals(r->log).skipped,
                      .unmatched = r->truth.unmatched,
                      .missing = r->nees.missing,
                      .first_ns = r->first_ns,
                      .last_ns = r->last_ns,
                      .read_ns = any ? bramah_replay_read_ns(r->replay) : INT64_MIN,
                      .nees = r->nees.sum,
                      .truth = r->request.truth != NULL,
                      .alone = r->alone.running != 0};
  cli_snapshot_put(s, "progress", &p, sizeof p);
}

static void put_state(const cli_replay_run *r, cli_snapshot *s)
{
  void *replay = cli_snapshot_add(s, "replay", bramah_replay_snapshot_size(r->replay));
  if (replay) bramah_replay_save(r->replay, replay);
  cli_unknown_save(&r->unknown, s);
  if (r->adapt.adaptive) {
    void *adaptive = cli_snapshot_add(s, "adaptive", bramah_adaptive_snapshot_size(r->adapt.adaptive));
    if (adaptive) bramah_adaptive_save(r->adapt.adaptive, adaptive);
  }
  if (r->alone.running) {
    void *alone = cli_snapshot_add(s, "model alone", r->alone.plant.snapshot_size);
    if (alone) r->alone.plant.save(r->alone.plant.self, alone);
  }
}

static void put_statistics(const cli_replay_run *r, cli_snapshot *s)
{
  const cli_consistency *c = &r->consistency;
  const cli_events *e = &r->events;
  cli_snapshot_put(s, "innovations", c->sensor, c->n_sensors * sizeof *c->sensor);
  cli_snapshot_put(s, "all innovations", &c->all, sizeof c->all);
  cli_snapshot_put(s, "lost", e->lost, e->n_sensors * sizeof *e->lost);
  cli_snapshot_put(s, "away", e->away, e->n_sensors);
  cli_snapshot_put(s, "recoveries", &e->recoveries, sizeof e->recoveries);
  cli_snapshot_put(s, "events", &e->report, sizeof e->report);
  errors *out = cli_snapshot_add(s, "errors", r->accuracy.n * sizeof *out);
  for (size_t i = 0; out && i < r->accuracy.n; i++) {
    const cli_compared *from = &r->accuracy.compared[i];
    out[i] = (errors){from->output, from->estimate, from->model, from->measured, from->judged, from->within};
  }
}

bramah_status cli_replay_save(cli_replay_run *r, bramah_diag *diag)
{
  cli_snapshot *s = &r->kept;
  const identity id = identity_of(r);
  bramah_status status = cli_estimate_file_flush(&r->file, diag);
  if (status) return status;
  cli_snapshot_clear(s);
  cli_snapshot_put(s, "identity", &id, sizeof id);
  put_text(s, "study", r->request.study);
  put_text(s, "machine", bramah_session_study(r->session)->machine_file);
  put_text(s, "output", r->request.output);
  put_progress(r, s);
  const size_t n_devices = bramah_log_stream_n_devices(r->log);
  int64_t *starts = cli_snapshot_add(s, "log", n_devices * sizeof *starts);
  for (size_t k = 0; starts && k < n_devices; k++) {
    bramah_log_device device;
    bramah_log_stream_device(r->log, k, &device);
    starts[k] = device.start_ns;
  }
  put_state(r, s);
  put_statistics(r, s);
  status = cli_snapshot_write(s, r->request.snapshot, diag);
  if (status) return status;
  r->saved_rows = r->rows;
  r->snapshot_ns = r->last_ns;
  return BRAMAH_OK;
}

/* After the last estimate the replay still fuses what is on its way; a log that goes on has that later. */
bramah_status cli_replay_save_when_due(cli_replay_run *r, bramah_diag *diag)
{
  const int64_t every = r->request.snapshot_every_ns;
  const int due = every && r->last_ns - r->snapshot_ns >= every;
  if (!due && !bramah_replay_exhausted(r->replay)) return BRAMAH_OK;
  return cli_replay_save(r, diag);
}

/* ---- going on ---- */

static const char *text_of(const cli_snapshot *s, const char *name)
{
  size_t n;
  const char *text = cli_snapshot_find(s, name, &n);
  return text && n && text[n - 1] == '\0' ? text : "?";
}

/* A piece that must be there with this size. */
static bramah_status get(const cli_replay_run *r, const cli_snapshot *s, const char *name, void *out,
                         size_t n, bramah_diag *diag)
{
  size_t size;
  const void *from = cli_snapshot_find(s, name, &size);
  if (!from || size != n)
    return cli_fail(diag, BRAMAH_E_VALUE, r->request.resume, 0, NULL,
                    "the part '%s' of the snapshot does not fit this study", name);
  if (n) memcpy(out, from, n);
  return BRAMAH_OK;
}

static bramah_status check_identity(const cli_replay_run *r, const cli_snapshot *s, bramah_diag *diag)
{
  identity then = {{0}, 0, 0};
  const identity now = identity_of(r);
  const char *file = r->request.resume;
  const bramah_status status = get(r, s, "identity", &then, sizeof then, diag);
  if (status) return status;
  then.version[sizeof then.version - 1] = '\0';
  if (strcmp(then.version, now.version) != 0)
    return cli_fail(diag, BRAMAH_E_VALUE, file, 0, NULL, "the snapshot was written by bramah %s, this is %s",
                    then.version, now.version);
  if (then.study != now.study)
    return cli_fail(diag, BRAMAH_E_VALUE, file, 0, NULL,
                    "the snapshot was written with study %s, which is not what %s says now",
                    text_of(s, "study"), r->request.study);
  if (then.machine != now.machine)
    return cli_fail(diag, BRAMAH_E_VALUE, file, 0, NULL,
                    "the snapshot was written with machine %s, which is not what %s says now",
                    text_of(s, "machine"), bramah_session_study(r->session)->machine_file);
  /* The estimates up to the snapshot stand in the old file. */
  const char *before = text_of(s, "output");
  if (strcmp(r->request.output, "-") != 0 && cli_check_output(r->request.output, 1, &before, diag))
    return cli_fail(diag, BRAMAH_E_FILE, r->request.output, 0, NULL,
                    "this file holds the estimates up to the snapshot and would be overwritten: write the "
                    "rest to another one");
  return BRAMAH_OK;
}

static bramah_status get_state(cli_replay_run *r, const cli_snapshot *s, bramah_diag *diag)
{
  size_t size;
  const void *replay = cli_snapshot_find(s, "replay", &size);
  if (!replay || size != bramah_replay_snapshot_size(r->replay))
    return cli_fail(diag, BRAMAH_E_VALUE, r->request.resume, 0, NULL,
                    "the state in the snapshot does not fit this study");
  if (bramah_replay_restore(r->replay, replay) != BRAMAH_OK)
    return cli_fail(diag, BRAMAH_E_VALUE, r->request.resume, 0, NULL,
                    "the filter in the snapshot is of another study, or damaged");
  const bramah_status status = cli_unknown_resume(&r->unknown, s, diag);
  if (status) cli_place(diag, r->request.resume, 0);
  if (status || !r->adapt.adaptive) return status;
  const void *adaptive = cli_snapshot_find(s, "adaptive", &size);
  if (!adaptive || size != bramah_adaptive_snapshot_size(r->adapt.adaptive))
    return cli_fail(diag, BRAMAH_E_VALUE, r->request.resume, 0, NULL,
                    "the adapted noise in the snapshot does not fit this study");
  bramah_adaptive_restore(r->adapt.adaptive, adaptive);
  return BRAMAH_OK;
}

static bramah_status get_statistics(cli_replay_run *r, const cli_snapshot *s, bramah_diag *diag)
{
  cli_consistency *c = &r->consistency;
  cli_events *e = &r->events;
  bramah_status status = get(r, s, "innovations", c->sensor, c->n_sensors * sizeof *c->sensor, diag);
  if (!status) status = get(r, s, "all innovations", &c->all, sizeof c->all, diag);
  if (!status) status = get(r, s, "lost", e->lost, e->n_sensors * sizeof *e->lost, diag);
  if (!status) status = get(r, s, "away", e->away, e->n_sensors, diag);
  if (!status) status = get(r, s, "recoveries", &e->recoveries, sizeof e->recoveries, diag);
  return status ? status : get(r, s, "events", &e->report, sizeof e->report, diag);
}

/* The comparison goes on, or begins here if there was none before. */
static void get_comparison(cli_replay_run *r, const cli_snapshot *s, const progress *p)
{
  size_t size;
  const void *alone = cli_snapshot_find(s, "model alone", &size);
  if (r->alone.running && p->alone && alone && size == r->alone.plant.snapshot_size)
    r->alone.plant.restore(r->alone.plant.self, alone);
  else
    r->alone.running = 0; /* where it would stand now is not known */
  if (!r->request.truth || !p->truth) return;
  r->truth.unmatched = p->unmatched;
  r->nees.sum = p->nees;
  r->nees.missing = p->missing;
  const errors *from = cli_snapshot_find(s, "errors", &size);
  for (size_t k = 0; from && k < size / sizeof *from; k++)
    for (size_t i = 0; i < r->accuracy.n; i++) {
      cli_compared *to = &r->accuracy.compared[i];
      if (to->output != from[k].output) continue;
      to->estimate = from[k].estimate;
      to->model = from[k].model;
      to->measured = from[k].measured;
      to->judged = from[k].judged;
      to->within = from[k].within;
    }
}

static bramah_status go_on(cli_replay_run *r, const cli_snapshot *s, bramah_diag *diag)
{
  progress p = {0};
  size_t size = 0;
  bramah_status status = check_identity(r, s, diag);
  if (!status) status = get(r, s, "progress", &p, sizeof p, diag);
  const int64_t *starts = cli_snapshot_find(s, "log", &size);
  if (!status)
    status = bramah_log_stream_resume(r->log, p.read_ns, p.skipped, starts ? size / sizeof *starts : 0,
                                      starts, diag);
  if (!status) status = get_state(r, s, diag);
  if (!status) status = get_statistics(r, s, diag);
  if (status) return status;
  r->rows = p.rows;
  r->written = p.written;
  r->first_ns = p.first_ns;
  r->last_ns = p.last_ns;
  get_comparison(r, s, &p);
  if (r->request.truth && !p.truth)
    cli_note("the snapshot knows no truth: errors count from t = %.9g s on", cli_seconds(p.last_ns));
  return BRAMAH_OK;
}

bramah_status cli_replay_resume(cli_replay_run *r, bramah_diag *diag)
{
  cli_snapshot s = {0};
  bramah_status status = cli_snapshot_read(&s, r->request.resume, diag);
  if (!status) status = go_on(r, &s, diag);
  cli_snapshot_free(&s);
  return status;
}
