/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A replay to and from a file of snapshots: filter, plant and buffers as the core saves them, and what was counted. */
#include "lib/assess/assess_internal.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* What must be the same for a snapshot to fit. */
typedef struct identity {
  char version[32];
  uint64_t study, machine; /* hashes of the files */
} identity;

typedef struct progress {
  uint64_t estimates, without_truth, skipped;
  int64_t first_ns, last_ns, read_ns; /* first and last estimate, last row of the log */
  bramah__nis nees;
  uint64_t truth; /* 1: there is one */
} progress;

/* Counts that are kept as they are. */
typedef struct plain {
  const char *name;
  void *from;
  size_t size;
} plain;
enum { PLAIN = 12 };

static void list_plain(const bramah_assess *a, plain out[PLAIN])
{
  out[0] = (plain){"innovations", a->innovations, a->n_sensors * sizeof *a->innovations};
  out[1] = (plain){"all innovations", (void *)(uintptr_t)&a->all, sizeof a->all};
  out[2] = (plain){"faults", a->fault, a->n_sensors * sizeof *a->fault};
  out[3] = (plain){"recoveries", (void *)(uintptr_t)&a->recoveries, sizeof a->recoveries};
  out[4] = (plain){"limits", (void *)(uintptr_t)a->results.limit, sizeof a->results.limit};
  out[5] = (plain){"estimated from", a->estimated_from, a->n_augmented * sizeof *a->estimated_from};
  out[6] = (plain){"windows", a->windows, (a->n_sensors + 1) * sizeof *a->windows};
  out[7] = (plain){"energy", (void *)(uintptr_t)&a->results.energy, sizeof a->results.energy};
  out[8] = (plain){"alarms", a->alarms, (a->n_sensors + 1) * sizeof *a->alarms};
  out[9] = (plain){"gathered", a->gathered, a->n_augmented * sizeof *a->gathered};
  out[10] = (plain){"mean gains", a->mean_gain, a->n_augmented * a->n_sensors * sizeof *a->mean_gain};
  out[11] = (plain){"lag 1", a->lag_1, 2 * a->n_sensors * sizeof *a->lag_1};
}

static identity identity_of(const bramah_assess *a)
{
  identity id = {.study = a->study_hash, .machine = a->machine_hash};
  snprintf(id.version, sizeof id.version, "%s", bramah_version());
  return id;
}

static void put_text(bramah__snapshot *s, const char *name, const char *text)
{
  bramah__snapshot_put(s, name, text, strlen(text) + 1);
}

static void collect(bramah_assess *a, bramah__snapshot *s, const char *text)
{
  const identity id = identity_of(a);
  const int any = bramah_replay_get_report(a->replay).samples > 0;
  const progress p = {.estimates = a->totals.estimates,
                      .without_truth = a->totals.without_truth,
                      .skipped = a->log ? bramah_log_stream_get_info(a->log).skipped : 0,
                      .first_ns = a->totals.first_ns,
                      .last_ns = a->totals.last_ns,
                      .read_ns = any ? bramah_replay_get_report(a->replay).read_ns : INT64_MIN,
                      .nees = a->nees,
                      .truth = a->rows != NULL};
  plain counts[PLAIN];
  bramah__snapshot_clear(s);
  bramah__snapshot_put(s, "identity", &id, sizeof id);
  put_text(s, "study", a->study->file);
  put_text(s, "machine", a->study->machine_file);
  put_text(s, "text", text);
  bramah__snapshot_put(s, "progress", &p, sizeof p);
  const size_t n_devices = a->log ? bramah_log_stream_get_info(a->log).n_devices : 0;
  int64_t *starts = bramah__snapshot_add(s, "log", n_devices * sizeof *starts);
  for (size_t k = 0; starts && k < n_devices; k++)
    starts[k] = bramah_log_stream_get_device(a->log, k).start_ns;
  void *replay = bramah__snapshot_add(s, "replay", bramah_replay_snapshot_size(a->replay));
  if (replay) bramah_replay_save(a->replay, replay);
  bramah__known_save(a, s);
  if (a->adaptive) {
    void *adaptive = bramah__snapshot_add(s, "adaptive", bramah_adaptive_snapshot_size(a->adaptive));
    if (adaptive) bramah_adaptive_save(a->adaptive, adaptive);
  }
  void *alarm = bramah__snapshot_add(s, "alarm", bramah_alarm_snapshot_size(a->alarm));
  if (alarm) bramah_alarm_save(a->alarm, alarm);
  void *monitor =
      a->monitor ? bramah__snapshot_add(s, "monitor", bramah_monitor_snapshot_size(a->monitor)) : NULL;
  if (monitor) bramah_monitor_save(a->monitor, monitor);
  if (a->model_runs) {
    void *model = bramah__snapshot_add(s, "model alone", a->model.snapshot_size);
    if (model) a->model.save(a->model.self, model);
  }
  list_plain(a, counts);
  for (size_t i = 0; i < PLAIN; i++) bramah__snapshot_put(s, counts[i].name, counts[i].from, counts[i].size);
  bramah__snapshot_put(s, "errors", a->accuracy, a->n_accuracies * sizeof *a->accuracy);
  if (a->passenger.size) bramah__snapshot_put(s, "passenger", a->passenger.state, a->passenger.size);
}

bramah_status bramah_assess_save(bramah_assess *a, const char *path, const char *text, bramah_diag *diag)
{
  collect(a, &a->snapshot, text);
  return bramah__snapshot_write(&a->snapshot, path, diag);
}

bramah_status bramah__assess_keep(bramah_assess *a, bramah__snapshot *snapshot, bramah_diag *diag)
{
  collect(a, snapshot, "");
  return bramah__snapshot_seal(snapshot) ? BRAMAH_OK : bramah__fail_memory(diag);
}

/* ---- going on ---- */

static const char *text_of(const bramah__snapshot *s, const char *name)
{
  size_t n;
  const char *text = bramah__snapshot_find(s, name, &n);
  return text && n && text[n - 1] == '\0' ? text : "?";
}

static bramah_status does_not_fit(bramah_diag *diag, const char *name)
{
  return bramah__failf(diag, BRAMAH_E_VALUE, NULL, 0, NULL,
                       "the part '%s' of the snapshot does not fit this study", name);
}

/* The comparison goes on, or begins here if there was none before. */
static void get_comparison(bramah_assess *a, const bramah__snapshot *s, const progress *p)
{
  size_t size;
  const void *model = bramah__snapshot_find(s, "model alone", &size);
  if (a->model_runs && model && size == a->model.snapshot_size &&
      (!a->model.is_sound || a->model.is_sound(a->model.self, model)))
    a->model.restore(a->model.self, model);
  else
    a->model_runs = 0; /* its present state is not known */
  if (a->rows && !p->truth)
    bramah__assess_tell(a, "the snapshot knows no truth: errors count from t = %.9g s on",
                        (double)p->last_ns / 1e9);
  if (!a->rows || !p->truth) return;
  a->totals.without_truth = p->without_truth;
  a->nees = p->nees;
  const bramah__accuracy *from = bramah__snapshot_find(s, "errors", &size);
  for (size_t k = 0; from && k < size / sizeof *from; k++)
    for (size_t i = 0; i < a->n_accuracies; i++) {
      bramah__accuracy *to = &a->accuracy[i];
      if (to->output != from[k].output) continue;
      to->estimate = from[k].estimate;
      to->model = from[k].model;
      to->measured = from[k].measured;
      to->judged = from[k].judged;
      to->within = from[k].within;
    }
}

static bramah_status resume(bramah_assess *a, const bramah__snapshot *s, bramah_diag *diag)
{
  identity then = {{0}, 0, 0};
  const identity now = identity_of(a);
  progress p = {0};
  plain counts[PLAIN];
  size_t size = 0;

  /* Of this study, this machine and this version. */
  if (!bramah__snapshot_get(s, "identity", &then, sizeof then))
    return bramah__failf(diag, BRAMAH_E_VALUE, NULL, 0, NULL, "the snapshot does not say what it is of");
  then.version[sizeof then.version - 1] = '\0';
  if (strcmp(then.version, now.version) != 0)
    return bramah__failf(diag, BRAMAH_E_VALUE, NULL, 0, NULL,
                         "the snapshot was written by bramah %s, this is %s", then.version, now.version);
  if (then.study != now.study || then.machine != now.machine) {
    const char *what = then.study != now.study ? "study" : "machine";
    return bramah__failf(diag, BRAMAH_E_VALUE, NULL, 0, NULL,
                         "the snapshot was written with %s %s, which is not what %s says now", what,
                         text_of(s, what), then.study != now.study ? a->study->file : a->study->machine_file);
  }

  /* The log, the filters and what was counted. */
  bramah_status status = BRAMAH_OK;
  if (!bramah__snapshot_get(s, "progress", &p, sizeof p)) return does_not_fit(diag, "progress");
  const int64_t *starts = bramah__snapshot_find(s, "log", &size);
  if (a->log)
    status = bramah__log_stream_resume(a->log, p.read_ns, p.skipped, starts ? size / sizeof *starts : 0,
                                       starts, diag);
  if (status) return status;

  const void *replay = bramah__snapshot_find(s, "replay", &size);
  if (!replay || size != bramah_replay_snapshot_size(a->replay)) return does_not_fit(diag, "replay");
  if (bramah_replay_restore(a->replay, replay) != BRAMAH_OK)
    return bramah__failf(diag, BRAMAH_E_VALUE, NULL, 0, NULL,
                         "the filter in the snapshot is of another study, or damaged");
  status = bramah__known_resume(a, s, diag);
  if (status) return status;
  const void *adaptive = bramah__snapshot_find(s, "adaptive", &size);
  if (a->adaptive && (!adaptive || size != bramah_adaptive_snapshot_size(a->adaptive) ||
                      bramah_adaptive_restore(a->adaptive, adaptive) != BRAMAH_OK))
    return does_not_fit(diag, "adaptive");
  const void *alarm = bramah__snapshot_find(s, "alarm", &size);
  if (!alarm || size != bramah_alarm_snapshot_size(a->alarm) ||
      bramah_alarm_restore(a->alarm, alarm) != BRAMAH_OK)
    return does_not_fit(diag, "alarm");
  const void *monitor = bramah__snapshot_find(s, "monitor", &size);
  if (a->monitor && (!monitor || size != bramah_monitor_snapshot_size(a->monitor) ||
                     bramah_monitor_restore(a->monitor, monitor) != BRAMAH_OK))
    return does_not_fit(diag, "monitor");
  list_plain(a, counts);
  for (size_t i = 0; i < PLAIN; i++)
    if (!bramah__snapshot_get(s, counts[i].name, counts[i].from, counts[i].size))
      return does_not_fit(diag, counts[i].name);

  a->counts = bramah_filter_get_report(a->filter);
  a->totals = (bramah_assess_totals){.estimates = p.estimates,
                                     .resumed = p.estimates,
                                     .first_ns = p.first_ns,
                                     .last_ns = p.last_ns,
                                     .begin_ns = p.last_ns};
  get_comparison(a, s, &p);
  if (a->passenger.size && !bramah__snapshot_get(s, "passenger", a->passenger.state, a->passenger.size))
    bramah__assess_tell(a, "the snapshot knows no such scenario: it begins at t = %.9g s",
                        (double)p.last_ns / 1e9);
  return BRAMAH_OK;
}

bramah_status bramah__assess_go_back(bramah_assess *a, const bramah__snapshot *snapshot,
                                     bramah_log_stream *log, bramah_diag *diag)
{
  a->source_user = a->log = log;
  a->model_runs = a->free_model.plant.self != NULL;
  a->broken_off = a->taken = 0;
  const bramah_status status = resume(a, snapshot, diag);
  if (status) return status;
  a->totals.resumed = 0;
  a->totals.begin_ns = a->totals.first_ns;
  a->estimate.time_ns = a->totals.last_ns;
  a->estimate.corrected = 0;
  a->estimate.dof = 0;
  a->estimate.nis = NAN;
  for (size_t i = 0; i < a->n_sensors; i++) a->measured[i] = NAN;

  /* What was kept for a diagnosis has the same bits the second time; what comes later will be kept again. */
  while (a->n_kept && a->kept_ns[a->n_kept - 1] > a->totals.last_ns) a->n_kept--;
  a->next_ns = a->n_kept ? a->kept_ns[a->n_kept - 1] + a->keep_ns : INT64_MIN;
  return BRAMAH_OK;
}

bramah_status bramah_assess_resume(bramah_assess *a, const char *path, char *text, size_t size,
                                   bramah_diag *diag)
{
  bramah__snapshot s = {0};
  if (a->options.smooth_to_ns != INT64_MIN)
    return bramah__failf(diag, BRAMAH_E_UNSUPPORTED, path, 0, NULL,
                         "the backward pass needs the whole run: it cannot go on from a snapshot");
  bramah_status status = bramah__snapshot_read(&s, path, diag);
  if (!status) status = resume(a, &s, diag);
  if (status) bramah__place(diag, path, 0);
  if (!status && size) snprintf(text, size, "%s", text_of(&s, "text"));
  bramah__snapshot_free(&s);
  return status;
}
