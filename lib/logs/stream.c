/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A log of one or many files as the source of a replay: its devices, their columns, their rows merged by time. */
#define _GNU_SOURCE /* scandir, versionsort */
#include "bramah/replay.h"
#include "bramah/session.h"
#include "lib/logs/stream.h"
#include "lib/io/session.h"

#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct bramah_log_stream {
  const bramah_study *study; /* NULL: none */
  bramah__log_path *paths;
  size_t n_paths, room;
  int piped; /* one of them is standard input */
  bramah__device *devices;
  unsigned char *waiting; /* [n_devices] 1: the device's row was not given yet; 2: it was, the next is due */
  size_t n_devices, n_inputs, n_sensors;
  uint64_t *held; /* [n_inputs] rows without a cell */
  bramah_log_totals totals;
  int begun;
  int64_t *starts; /* [n_starts] of bramah_log_stream_resume */
  size_t n_starts;
  /* Limits. */
  int64_t from_ns, to_ns, after_ns, last_ns;
  int given;            /* a row within the limits */
  double *command;      /* [n_inputs] last ones of the rows before from_ns */
  unsigned char *known; /* [n_inputs] there was one */
  int (*stopped)(void *user);
  void *stopped_user;
};

/* ---- files ---- */

static const char *base_name(const char *path)
{
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

static const bramah_study_file *find_entry(const bramah_study *study, const char *path)
{
  for (size_t i = 0; study && i < study->log.n_files; i++)
    if (fnmatch(study->log.files[i].match, base_name(path), 0) == 0) return &study->log.files[i];
  return NULL;
}

/* Takes the path over. */
static bramah_status add_path(bramah_log_stream *stream, char *path, bramah_diag *diag)
{
  if (!path) return bramah__fail_memory(diag);
  for (size_t i = 0; i < stream->n_paths; i++)
    if (strcmp(stream->paths[i].path, path) == 0) {
      bramah__failf(diag, BRAMAH_E_KEY, path, 0, NULL, "this file is named twice");
      free(path);
      return BRAMAH_E_KEY;
    }
  if (stream->n_paths == stream->room) {
    const size_t room = stream->room ? 2 * stream->room : 8;
    bramah__log_path *paths = realloc(stream->paths, room * sizeof *paths);
    if (!paths) return free(path), bramah__fail_memory(diag);
    stream->paths = paths;
    stream->room = room;
  }
  stream->paths[stream->n_paths++] = (bramah__log_path){path, find_entry(stream->study, path)};
  return BRAMAH_OK;
}

static int is_wanted(const bramah_study *study, const char *name)
{
  const size_t n = strlen(name);
  if (name[0] == '.') return 0;
  if (study && study->log.n_files) return find_entry(study, name) != NULL;
  return (n > 4 && strcmp(name + n - 4, ".csv") == 0) || bramah_log_is_mat(name);
}

static bramah_status add_folder(bramah_log_stream *stream, const char *folder, bramah_diag *diag)
{
  struct dirent **entries;
  bramah_status status = BRAMAH_OK;
  const size_t before = stream->n_paths, length = strlen(folder);
  const char *slash = length && folder[length - 1] == '/' ? "" : "/";
  const int n = scandir(folder, &entries, NULL, versionsort);
  if (n < 0) return bramah__failf(diag, BRAMAH_E_FILE, folder, 0, NULL, "cannot read: %s", strerror(errno));
  for (int i = 0; i < n; i++) {
    const char *name = entries[i]->d_name;
    const size_t room = length + strlen(name) + 2;
    if (!status && is_wanted(stream->study, name)) {
      char *path = malloc(room);
      if (path) snprintf(path, room, "%s%s%s", folder, slash, name);
      status = add_path(stream, path, diag);
    } else if (name[0] != '.') {
      stream->totals.unused_files++;
    }
    free(entries[i]);
  }
  free(entries);
  if (status || stream->n_paths > before) return status;
  return bramah__failf(diag, BRAMAH_E_EMPTY, folder, 0, NULL,
                       stream->study && stream->study->log.n_files
                           ? "no file of this folder matches an entry of log.files"
                           : "there is no .csv or .mat file in this folder");
}

/* ---- devices ---- */

/* The device that a file goes on: of the same entry, or of none and with the same columns. Standard input cannot be
 * opened a second time. */
static bramah__device *find_device(bramah_log_stream *stream, const bramah__log_path *path,
                                   const bramah_log_reader *reader)
{
  const size_t n = bramah_log_n_columns(reader);
  if (strcmp(path->path, "-") == 0) return NULL;
  for (size_t k = 0; k < stream->n_devices; k++) {
    bramah__device *d = &stream->devices[k];
    int same = d->entry == path->entry;
    if (!path->entry) same &= bramah_log_n_columns(d->reader) == n;
    for (size_t i = 0; same && !path->entry && i < n; i++)
      same = strcmp(bramah_log_column_name(d->reader, i), bramah_log_column_name(reader, i)) == 0 &&
             strcmp(bramah_log_column_unit(d->reader, i), bramah_log_column_unit(reader, i)) == 0;
    if (same) return d;
  }
  return NULL;
}

static bramah_status add_file(bramah_log_stream *stream, size_t part, bramah_diag *diag)
{
  bramah_log_reader *reader;
  const bramah_status status = bramah__device_open_file(stream->study, &stream->paths[part], diag, &reader);
  if (status) return status;
  bramah__device *before = find_device(stream, &stream->paths[part], reader);
  if (!before)
    return bramah__device_open(&stream->devices[stream->n_devices++], stream->study, stream->paths, part,
                               reader, diag);
  bramah_log_close(reader);
  return bramah__device_follow(before, part, diag);
}

/* ---- columns ---- */

/* The device with the column; where none has it, the first that may have. */
static bramah_status choose(bramah_log_stream *stream, const bramah__target *target, bramah__device **out,
                            bramah_diag *diag)
{
  bramah__device *with = NULL, *without = NULL;
  const char *file = target->from ? target->from->file : NULL;
  for (size_t k = 0; k < stream->n_devices; k++) {
    bramah__device *d = &stream->devices[k];
    int has = 0;
    if (file && !(d->entry && strcmp(d->entry->name, file) == 0)) continue;
    if (!without) without = d;
    for (size_t i = 0; i < bramah_log_n_columns(d->reader); i++)
      has |= strcmp(bramah_log_column_name(d->reader, i), target->name) == 0;
    if (!has) continue;
    if (with)
      return bramah__failf(diag, BRAMAH_E_COLUMN, bramah_log_path(d->reader), 0, target->name,
                           "%s has a column of that name too: say which by 'file', an entry of log.files",
                           bramah_log_path(with->reader));
    with = d;
  }
  *out = with ? with : without;
  if (*out) return BRAMAH_OK;
  return bramah__failf(diag, BRAMAH_E_COLUMN, stream->study->file, target->from->line, target->from->target,
                       "no file of this log matches log.files.%s", file);
}

/* What the column is wanted for belongs to the message: the log alone does not show it. */
static bramah_status feed(bramah_log_stream *stream, const bramah__target *target, const char *purpose,
                          const char *user, bramah_diag *diag)
{
  bramah__device *device;
  bramah_diag_clear(diag);
  bramah_status status = choose(stream, target, &device, diag);
  if (!status) status = bramah__device_feed(device, target, diag);
  if (!status) return BRAMAH_OK;
  const size_t used = strlen(diag->message);
  snprintf(diag->message + used, sizeof diag->message - used, " (wanted for %s %s)", purpose, user);
  return status;
}

const bramah_study_column *bramah__input_column(const bramah_study *study, const char *input, char *name,
                                                size_t n)
{
  snprintf(name, n, "%s.command", input);
  for (size_t i = 0; study && i < study->n_inputs; i++)
    if (strcmp(study->inputs[i].target, input) == 0) {
      snprintf(name, n, "%s", study->inputs[i].name);
      return &study->inputs[i];
    }
  return NULL;
}

/* An unknown input has no column and is kept at 0. */
static bramah_status feed_input(bramah_log_stream *stream, const char *input, size_t i, bramah_diag *diag)
{
  char name[256];
  if (bramah__study_unknown_input(stream->study, input)) return BRAMAH_OK;
  const bramah_study_column *from = bramah__input_column(stream->study, input, name, sizeof name);
  const bramah__target target = {.name = name, .si_unit = "V", .from = from, .slot = i};
  const bramah_status status = feed(stream, &target, "input", input, diag);
  if (status != BRAMAH_E_COLUMN || !stream->study) return status;
  const size_t used = strlen(diag->message);
  snprintf(diag->message + used, sizeof diag->message - used,
           "; if nobody recorded it, say so in the study: inputs: {%s: {unknown: {sigma: 2 V, noise: 5 "
           "V/s^0.5}}}",
           input);
  return status;
}

/* Mistakes that are reported there are none of the caller's, as long as rows can be read. */
typedef struct mistakes {
  void (*report)(void *user, const bramah_diag *diag);
  void *user;
} mistakes;

static bramah_status pass(const mistakes *m, bramah_status status, const bramah_diag *diag)
{
  if (!status || !m->report) return status;
  m->report(m->user, diag);
  return BRAMAH_OK;
}

static bramah_status find_columns(bramah_log_stream *stream, const bramah_model *model,
                                  const bramah_sensor *sensors, const mistakes *m, bramah_diag *diag)
{
  bramah_status status = BRAMAH_OK, no_time = BRAMAH_OK;
  for (size_t k = 0; !status && k < stream->n_devices; k++) {
    status = bramah__device_find_time(&stream->devices[k], diag);
    if (!no_time) no_time = status;
    status = pass(m, status, diag);
  }
  for (size_t i = 0; !status && i < stream->n_inputs; i++)
    status = pass(m, feed_input(stream, bramah_model_get_info(model).input_names[i], i, diag), diag);
  for (size_t i = 0; !status && i < stream->n_sensors; i++) {
    const bramah_study_column *from = &stream->study->sensor_columns[i];
    if (!sensors[i].unit) continue; /* it could not be made */
    const bramah__target target = {
        .name = from->name, .si_unit = sensors[i].unit, .from = from, .slot = stream->n_inputs + i};
    status = pass(m, feed(stream, &target, "sensor", sensors[i].name, diag), diag);
  }
  return status ? status : no_time;
}

/* ---- opening and closing ---- */

static bramah_status open_files(bramah_log_stream *stream, size_t n, const char *const *paths,
                                bramah_diag *diag)
{
  bramah_status status = BRAMAH_OK;
  for (size_t i = 0; !status && i < n; i++) {
    struct stat about;
    stream->piped |= strcmp(paths[i], "-") == 0;
    if (strcmp(paths[i], "-") != 0 && stat(paths[i], &about) == 0 && S_ISDIR(about.st_mode))
      status = add_folder(stream, paths[i], diag);
    else
      status = add_path(stream, strdup(paths[i]), diag);
  }
  if (status) return status;
  stream->devices = calloc(stream->n_paths + 1, sizeof *stream->devices);
  stream->waiting = calloc(stream->n_paths + 1, 1);
  stream->held = calloc(stream->n_inputs + 1, sizeof *stream->held);
  stream->command = calloc(stream->n_inputs + 1, sizeof *stream->command);
  stream->known = calloc(stream->n_inputs + 1, 1);
  if (!stream->devices || !stream->waiting || !stream->held || !stream->command || !stream->known)
    return bramah__fail_memory(diag);
  for (size_t part = 0; !status && part < stream->n_paths; part++) status = add_file(stream, part, diag);
  return status;
}

bramah_status bramah_log_stream_open_for(const bramah_study *study, const bramah_model *model,
                                         const bramah_sensor *sensors, size_t n, const char *const *paths,
                                         void (*report)(void *user, const bramah_diag *diag), void *user,
                                         bramah_diag *diag, bramah_log_stream **out)
{
  bramah_diag own;
  const mistakes m = {report, user};
  bramah_log_stream *stream = calloc(1, sizeof *stream);
  if (report || !diag) diag = &own;
  *out = NULL;
  if (!stream) return bramah__fail_memory(diag);
  stream->study = study;
  stream->n_inputs = model ? bramah_model_get_info(model).n_inputs : 0;
  stream->n_sensors = study ? study->n_sensors : 0;
  stream->from_ns = stream->after_ns = stream->last_ns = INT64_MIN;
  stream->to_ns = INT64_MAX;
  bramah_status status = open_files(stream, n, paths, diag);
  if (status)
    pass(&m, status, diag);
  else
    status = find_columns(stream, model, sensors, &m, diag);
  if (status)
    bramah_log_stream_close(stream);
  else
    *out = stream;
  return status;
}

bramah_status bramah_log_stream_open(const bramah_session *session, size_t n, const char *const *paths,
                                     bramah_diag *diag, bramah_log_stream **out)
{
  return bramah_log_stream_open_for(bramah_session_study(session),
                                    bramah_session_about(session)->machine->model,
                                    bramah_session_about(session)->sensors, n, paths, NULL, NULL, diag, out);
}

void bramah_log_stream_close(bramah_log_stream *stream)
{
  if (!stream) return;
  for (size_t k = 0; k < stream->n_devices; k++) bramah__device_close(&stream->devices[k]);
  for (size_t i = 0; i < stream->n_paths; i++) free(stream->paths[i].path);
  free(stream->paths);
  free(stream->devices);
  free(stream->waiting);
  free(stream->held);
  free(stream->starts);
  free(stream->command);
  free(stream->known);
  free(stream);
}

void bramah_log_stream_limit(bramah_log_stream *stream, int64_t from_ns, int64_t to_ns)
{
  stream->from_ns = from_ns;
  stream->to_ns = to_ns;
}

bramah_status bramah_log_stream_resume(bramah_log_stream *stream, int64_t after_ns, uint64_t skipped,
                                       size_t n, const int64_t *starts, bramah_diag *diag)
{
  int64_t *copy = calloc(n + 1, sizeof *copy);
  if (!copy) return bramah__fail_memory(diag);
  if (n) memcpy(copy, starts, n * sizeof *starts);
  free(stream->starts);
  stream->starts = copy;
  stream->n_starts = n;
  stream->after_ns = after_ns;
  stream->totals.skipped = skipped;
  return BRAMAH_OK;
}

void bramah_log_stream_stop(bramah_log_stream *stream, int (*stopped)(void *user), void *user)
{
  stream->stopped = stopped;
  stream->stopped_user = user;
}

/* ---- the zero of time ---- */

/* Clocks with and without a date have no common zero. */
static bramah_status check_clocks(const bramah_log_stream *stream, bramah_diag *diag)
{
  const bramah__device *date = NULL, *none = NULL;
  for (size_t k = 0; k < stream->n_devices; k++) {
    const bramah__device *d = &stream->devices[k];
    if (d->clock.origin == BRAMAH__ORIGIN_FIRST && d->clock.is_date) date = d;
    if (d->clock.origin != BRAMAH__ORIGIN_STATED && !d->clock.is_date) none = d;
  }
  if (!date || !none) return BRAMAH_OK;
  return bramah__failf(
      diag, BRAMAH_E_TIME, bramah_log_path(date->reader), 0, date->time.column,
      "these times have a date, those of %s do not: state the date of their zero as 'origin' of 'time'",
      bramah_log_path(none->reader));
}

/* Devices that count something from their first row must begin where they began before. */
static bramah_status check_starts(const bramah_log_stream *stream, bramah_diag *diag)
{
  for (size_t k = 0; stream->n_starts && k < stream->n_devices; k++) {
    const bramah__device *d = &stream->devices[k];
    const bramah__clock *c = &d->clock;
    int counts = c->origin == BRAMAH__ORIGIN_FIRST || c->origin == BRAMAH__ORIGIN_OWN || c->drift != 0.0 ||
                 c->wrap || (d->study && d->study->log.resets == BRAMAH_LOG_RESETS_JOIN);
    for (size_t i = 0; i < d->n_targets; i++) counts |= d->targets[i].map.wrap > 0.0;
    if (!counts || (stream->n_starts == stream->n_devices && stream->starts[k] == d->first_ns)) continue;
    return bramah__failf(diag, BRAMAH_E_TIME, bramah_log_path(d->reader), 0, d->time.column,
                         "this log does not begin where that of the snapshot began, and its times or columns "
                         "count from the first row: go on with the whole log");
  }
  return BRAMAH_OK;
}

static void set_zeros(bramah_log_stream *stream)
{
  int64_t first = INT64_MAX;
  for (size_t k = 0; k < stream->n_devices; k++) {
    const bramah__device *d = &stream->devices[k];
    if (d->clock.origin == BRAMAH__ORIGIN_FIRST && stream->waiting[k] && d->first_ns < first)
      first = d->first_ns;
  }
  for (size_t k = 0; k < stream->n_devices; k++) {
    bramah__device *d = &stream->devices[k];
    if (d->clock.origin == BRAMAH__ORIGIN_FIRST) d->clock.zero = first;
    if (d->clock.origin == BRAMAH__ORIGIN_OWN) d->clock.zero = d->first_ns;
  }
}

static bramah_status advance(bramah_log_stream *stream, size_t k, bramah_diag *diag)
{
  int end;
  const bramah_status status = bramah__device_next(&stream->devices[k], &end, diag);
  stream->waiting[k] = !status && !end;
  return status;
}

static bramah_status begin(bramah_log_stream *stream, bramah_diag *diag)
{
  bramah_status status = check_clocks(stream, diag);
  stream->begun = 1;
  for (size_t k = 0; !status && k < stream->n_devices; k++) {
    int end = 0;
    status = bramah__device_prime(&stream->devices[k], &end, diag);
    stream->waiting[k] = !end;
  }
  if (!status) status = check_starts(stream, diag);
  if (status) return status;
  set_zeros(stream);
  for (size_t k = 0; !status && k < stream->n_devices; k++)
    if (stream->waiting[k]) status = advance(stream, k, diag);
  return status;
}

/* ---- rows ---- */

/* The earliest row that waits, with all other rows of its time. */
static bramah_status merge(bramah_log_stream *stream, bramah_sample *sample, int *end, bramah_diag *diag)
{
  const bramah__device *first = NULL;
  bramah_status status = stream->begun ? BRAMAH_OK : begin(stream, diag);
  for (size_t k = 0; !status && k < stream->n_devices; k++)
    if (stream->waiting[k] == 2) status = advance(stream, k, diag);
  if (status) return status;
  for (size_t k = 0; k < stream->n_devices; k++)
    if (stream->waiting[k] && (!first || stream->devices[k].time_ns < first->time_ns))
      first = &stream->devices[k];
  *end = !first;
  if (!first) return BRAMAH_OK;
  sample->time_ns = first->time_ns;
  sample->mark = first->mark;
  stream->totals.rows++;
  for (size_t k = 0; k < stream->n_devices; k++) {
    if (!stream->waiting[k] || stream->devices[k].time_ns != sample->time_ns) continue;
    const bramah__device *d = &stream->devices[k];
    for (size_t i = 0; i < d->n_targets; i++) {
      const size_t slot = d->targets[i].slot;
      if (d->has[i] && slot < stream->n_inputs) {
        sample->inputs[slot] = d->out[i];
        sample->has_input[slot] = 1;
      } else if (d->has[i]) {
        sample->y[slot - stream->n_inputs] = d->out[i];
        sample->present[slot - stream->n_inputs] = 1;
      }
    }
    stream->waiting[k] = 2;
  }
  for (size_t i = 0; i < stream->n_inputs; i++) stream->held[i] += !sample->has_input[i];
  return BRAMAH_OK;
}

/* 1: the row lies before the limits. A sparse column of commands may have its last one there. */
static int skip(bramah_log_stream *stream, const bramah_sample *sample)
{
  stream->last_ns = sample->time_ns;
  if (sample->time_ns <= stream->after_ns) return stream->totals.used_before++, 1;
  if (sample->time_ns >= stream->from_ns) return 0;
  for (size_t i = 0; i < stream->n_inputs; i++) {
    if (!sample->has_input[i]) continue;
    stream->command[i] = sample->inputs[i];
    stream->known[i] = 1;
  }
  stream->totals.skipped++;
  return 1;
}

bramah_status bramah_log_stream_next(void *user, bramah_sample *sample, int *end, bramah_diag *diag)
{
  bramah_log_stream *stream = user;
  for (;;) {
    const bramah_status status = merge(stream, sample, end, diag);
    const int stopped = stream->stopped && stream->stopped(stream->stopped_user);
    /* A line that an interruption cut short is no row, and no mistake. */
    if (stopped && (status || stream->piped)) return *end = 1, BRAMAH_OK;
    if (status) return status;
    if (*end && !stream->given && stream->totals.skipped)
      return bramah__failf(diag, BRAMAH_E_EMPTY, stream->paths[0].path, 0, NULL,
                           "no row lies in the window: the log ends at %.9g s, before its begin %.9g s",
                           1e-9 * (double)stream->last_ns, 1e-9 * (double)stream->from_ns);
    if (*end) return BRAMAH_OK;
    if (!skip(stream, sample)) break;
    memset(sample->has_input, 0, stream->n_inputs);
    memset(sample->present, 0, stream->n_sensors);
    if (stopped) return *end = 1, BRAMAH_OK;
  }
  if (stream->given) return BRAMAH_OK;
  stream->given = 1;
  if (sample->time_ns > stream->to_ns)
    return bramah__failf(
        diag, BRAMAH_E_EMPTY, stream->paths[0].path, 0, NULL,
        "no row lies in the window: the first row from its begin on is at %.9g s, after its end %.9g s",
        1e-9 * (double)sample->time_ns, 1e-9 * (double)stream->to_ns);
  for (size_t i = 0; i < stream->n_inputs; i++) {
    if (sample->has_input[i] || !stream->known[i]) continue;
    sample->inputs[i] = stream->command[i];
    sample->has_input[i] = 1;
  }
  return BRAMAH_OK;
}

/* ---- what is known ---- */

size_t bramah_log_stream_n_files(const bramah_log_stream *stream) { return stream->n_paths; }

const char *bramah_log_stream_file(const bramah_log_stream *stream, size_t file)
{
  return stream->paths[file].path;
}

size_t bramah_log_stream_n_devices(const bramah_log_stream *stream) { return stream->n_devices; }

void bramah_log_stream_device(const bramah_log_stream *stream, size_t device, bramah_log_device *out)
{
  const bramah__device *d = &stream->devices[device];
  const bramah__clock *c = &d->clock;
  *out = (bramah_log_device){.name = d->entry ? d->entry->name : base_name(d->paths[d->parts[0]].path),
                             .entry = d->entry ? d->entry->name : NULL,
                             .n_files = d->n_parts,
                             .counts = bramah__device_counts(d),
                             .interval_ns = bramah__device_interval(d),
                             .start_ns = d->first_ns,
                             .time_column = d->time.column,
                             .is_date = c->is_date,
                             .rate = c->rate,
                             .wrap = c->wrap,
                             .wraps = c->wraps,
                             .offset_ns = c->offset,
                             .zero_ns = c->zero,
                             .drift = c->drift};
}

const char *bramah_log_stream_device_file(const bramah_log_stream *stream, size_t device, size_t i)
{
  return stream->paths[stream->devices[device].parts[i]].path;
}

const bramah_log_reader *bramah_log_stream_reader(const bramah_log_stream *stream, size_t device)
{
  return stream->devices[device].reader;
}

int bramah_log_stream_column(const bramah_log_stream *stream, size_t slot, bramah_log_column *out)
{
  for (size_t k = 0; k < stream->n_devices; k++)
    for (size_t i = 0; i < stream->devices[k].n_targets; i++) {
      const bramah__target *t = &stream->devices[k].targets[i];
      if (t->slot != slot) continue;
      *out = (bramah_log_column){.name = t->name,
                                 .unit = t->si_unit,
                                 .device = k,
                                 .plain = t->map.plain,
                                 .factor = t->map.plain ? 1.0 : t->map.factor,
                                 .offset = t->map.offset,
                                 .wrap = t->map.wrap,
                                 .held = slot < stream->n_inputs ? stream->held[slot] : 0};
      return 1;
    }
  return 0;
}

int bramah_log_stream_uses(const bramah_log_stream *stream, size_t device, size_t column)
{
  const bramah__device *d = &stream->devices[device];
  int used = column == d->time_column;
  for (size_t i = 0; i < d->n_targets; i++) used |= d->targets[i].column == column;
  return used;
}

bramah_log_totals bramah_log_stream_totals(const bramah_log_stream *stream)
{
  bramah_log_totals totals = stream->totals;
  for (size_t k = 0; k < stream->n_devices; k++) {
    const bramah_log_counts c = bramah__device_counts(&stream->devices[k]);
    if (c.repeated.n || c.merged.n || c.late.n || c.resets.n || c.no_time.n || c.bad_rows.n ||
        c.bad_cells.n || stream->devices[k].clock.wraps)
      totals.is_touched = 1;
  }
  return totals;
}

const char *bramah_log_stream_place(const bramah_log_stream *stream, int64_t mark, int *line)
{
  *line = bramah__mark_line(mark);
  return stream->paths[bramah__mark_path(mark)].path;
}

double bramah_log_stream_share(const bramah_log_stream *stream)
{
  double done = 0.0, all = 0.0;
  for (size_t i = 0; i < stream->n_paths; i++) {
    struct stat about;
    if (stat(stream->paths[i].path, &about) != 0 || !S_ISREG(about.st_mode)) return NAN;
    all += (double)about.st_size;
  }
  for (size_t k = 0; k < stream->n_devices; k++)
    done += (double)(stream->devices[k].bytes + bramah_log_bytes(stream->devices[k].reader));
  return all > 0.0 ? done / all : NAN;
}

bramah_status bramah_log_last_time(const bramah_session *session, size_t n, const char *const *paths,
                                   int64_t *time_ns, bramah_diag *diag)
{
  bramah_log_stream *stream;
  bramah_diag bad_row;
  int end = 0;
  *time_ns = INT64_MIN;
  for (size_t i = 0; i < n; i++) {
    struct stat about; /* opening a pipe once more could wait for a writer for ever */
    if (strcmp(paths[i], "-") == 0 ||
        (stat(paths[i], &about) == 0 && !S_ISREG(about.st_mode) && !S_ISDIR(about.st_mode)))
      return bramah__failf(diag, BRAMAH_E_UNSUPPORTED, paths[i], 0, NULL, "a pipe cannot be read twice");
  }
  bramah_status status = bramah_log_stream_open(session, n, paths, diag, &stream);
  if (status) return status;
  const size_t n_inputs = stream->n_inputs, n_cells = n_inputs + stream->n_sensors;
  double *values = calloc(n_cells + 1, sizeof *values);
  unsigned char *flags = calloc(n_cells + 1, 1);
  if (!values || !flags) status = bramah__fail_memory(diag);
  bramah_sample sample = {.inputs = values, .has_input = flags};
  while (!status && !end) {
    sample.y = values + n_inputs;
    sample.present = flags + n_inputs;
    end = bramah_log_stream_next(stream, &sample, &end, &bad_row) != BRAMAH_OK || end;
    if (!end) *time_ns = sample.time_ns;
  }
  free(values);
  free(flags);
  bramah_log_stream_close(stream);
  return status;
}
