/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A log of one or many files as the source of a replay: its devices, their columns, their rows merged by time; and what
 * such a log looks like from its first row to its last, without a filter. */
#define _GNU_SOURCE /* scandir, versionsort */
#include "bramah/replay.h"
#include "bramah/session.h"
#include "lib/io/session.h"
#include "lib/logs/logs.h"
#include "lib/logs/stream.h"

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
  uint64_t *held;              /* [n_inputs] rows without a cell */
  bramah_log_stream_info info; /* its counts; the rest is filled in by bramah_log_stream_get_info */
  int begun;
  int64_t *starts; /* [n_starts] of bramah__log_stream_resume */
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
    const size_t n_name = strlen(name), room = length + n_name + 2;
    const int is_log = bramah_log_row_word(name) != NULL;
    const int has_entries = stream->study && stream->study->log.n_files;
    const int wanted = name[0] != '.' && (has_entries ? find_entry(stream->study, name) != NULL : is_log);
    if (!status && wanted) {
      char *path = malloc(room);
      if (path) snprintf(path, room, "%s%s%s", folder, slash, name);
      status = add_path(stream, path, diag);
    } else if (name[0] != '.') {
      stream->info.unused_files++;
    }
    free(entries[i]);
  }
  free(entries);
  if (status || stream->n_paths > before) return status;
  if (stream->study && stream->study->log.n_files)
    return bramah__failf(diag, BRAMAH_E_EMPTY, folder, 0, NULL,
                         "no file of this folder matches an entry of log.files");
  char names[256];
  bramah_log_names(names, sizeof names);
  return bramah__failf(diag, BRAMAH_E_EMPTY, folder, 0, NULL, "there is no log (%s) in this folder", names);
}

/* ---- devices ---- */

/* It goes on a device: of the same entry, or of none and with the same columns. Standard input cannot be opened a
 * second time. */
static bramah_status add_file(bramah_log_stream *stream, size_t part, bramah_diag *diag)
{
  const bramah__log_path *path = &stream->paths[part];
  bramah_log_reader *reader;
  const bramah_status status = bramah__device_open_file(stream->study, path, diag, &reader);
  if (status) return status;
  bramah__device *before = NULL;
  for (size_t k = 0; !before && k < stream->n_devices && strcmp(path->path, "-") != 0; k++) {
    bramah__device *d = &stream->devices[k];
    int same = d->entry == path->entry;
    if (!path->entry) same &= d->reader->n_columns == reader->n_columns;
    for (size_t i = 0; same && !path->entry && i < reader->n_columns; i++)
      same = strcmp(d->reader->columns[i].name, reader->columns[i].name) == 0 &&
             strcmp(d->reader->columns[i].unit, reader->columns[i].unit) == 0;
    if (same) before = d;
  }
  if (!before)
    return bramah__device_open(&stream->devices[stream->n_devices++], stream->study, stream->paths, part,
                               reader, diag);
  bramah_log_close(reader);
  return bramah__device_follow(before, part, diag);
}

/* ---- columns ---- */

/* Find the device with the column, where none has it the first that knows why, or may have it, and let the column feed the target. What
 * it is wanted for belongs to the message: the log alone does not show it. */
static bramah_status feed(bramah_log_stream *stream, const bramah__target *target, const char *purpose,
                          const char *user, bramah_diag *diag)
{
  bramah__device *with = NULL, *without = NULL;
  const char *file = target->from ? target->from->file : NULL;
  bramah_status status = BRAMAH_OK;
  size_t n = 0;
  int is_known = 0;
  bramah_diag_clear(diag);
  for (size_t k = 0; !status && k < stream->n_devices; k++) {
    bramah__device *d = &stream->devices[k];
    if (file && !(d->entry && strcmp(d->entry->name, file) == 0)) continue;
    const int knows = d->reader->kind->why_not && d->reader->kind->why_not(d->reader, target->name);
    if (!n++ || (knows && !is_known)) without = d;
    is_known |= knows;
    if (bramah__log_column_of(d->reader, target->name) == SIZE_MAX) continue;
    if (with)
      status = bramah__failf(diag, BRAMAH_E_COLUMN, d->reader->path, 0, target->name,
                             "%s has a column of that name too: say which by 'file', an entry of log.files",
                             with->reader->path);
    with = d;
  }
  if (!status && !without)
    status = bramah__failf(diag, BRAMAH_E_COLUMN, stream->study->file, target->from->line,
                           target->from->target, "no file of this log matches log.files.%s", file);
  if (!status) status = bramah__device_feed(with ? with : without, target, diag);
  if (!status) return BRAMAH_OK;
  const size_t used = strlen(diag->message);
  snprintf(diag->message + used, sizeof diag->message - used, "%s (wanted for %s %s)",
           !with && n > 1 && !is_known ? "; no other file has it either" : "", purpose, user);
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

/* Of the times, the inputs and the sensors. */
static bramah_status find_columns(bramah_log_stream *stream, const bramah_plant *plant,
                                  const bramah_sensor *sensors, const mistakes *m, bramah_diag *diag)
{
  const bramah_study *study = stream->study;
  bramah_status status = BRAMAH_OK, no_time = BRAMAH_OK;
  for (size_t k = 0; !status && k < stream->n_devices; k++) {
    status = bramah__device_find_time(&stream->devices[k], diag);
    if (!no_time) no_time = status;
    status = pass(m, status, diag);
  }
  for (size_t i = 0; !status && i < stream->n_inputs; i++) {
    char name[256];
    const char *input = bramah__input_name(plant, i);
    if (bramah__study_unknown_input(study, input)) continue; /* it has no column and is kept at 0 */
    const bramah_study_column *from = bramah__input_column(study, input, name, sizeof name);
    const bramah__target target = {
        .name = name, .si_unit = bramah__input_unit(plant, i), .from = from, .slot = i};
    status = feed(stream, &target, "input", input, diag);
    const size_t used = strlen(diag->message);
    if (status == BRAMAH_E_COLUMN && study)
      snprintf(diag->message + used, sizeof diag->message - used,
               "; if nobody recorded it, say so in the study: inputs: {%s: {unknown: {sigma: 2 V, noise: 5 "
               "V/s^0.5}}}",
               input);
    status = pass(m, status, diag);
  }
  for (size_t i = 0; !status && i < stream->n_sensors; i++) {
    const bramah_study_column *from = &study->sensor_columns[i];
    if (!sensors[i].unit) continue; /* it could not be made */
    const bramah__target target = {
        .name = from->name, .si_unit = sensors[i].unit, .from = from, .slot = stream->n_inputs + i};
    status = pass(m, feed(stream, &target, "sensor", sensors[i].name, diag), diag);
  }
  for (size_t k = 0; k < stream->n_devices; k++) bramah__device_ignore_others(&stream->devices[k]);
  return status ? status : no_time;
}

/* ---- opening and closing ---- */

bramah_status bramah_log_stream_open_for(const bramah_study *study, const bramah_plant *plant,
                                         const bramah_sensor *sensors, size_t n, const char *const *paths,
                                         void (*report)(void *user, const bramah_diag *diag), void *user,
                                         bramah_diag *diag, bramah_log_stream **out)
{
  bramah_diag own;
  const mistakes m = {report, user};
  bramah_log_stream *stream = calloc(1, sizeof *stream);
  bramah_status status = BRAMAH_OK;
  if (report || !diag) diag = &own;
  *out = NULL;
  if (!stream) return bramah__fail_memory(diag);
  stream->study = study;
  stream->n_inputs = plant ? plant->n_input : 0;
  stream->n_sensors = study ? study->n_sensors : 0;
  stream->from_ns = stream->after_ns = stream->last_ns = INT64_MIN;
  stream->to_ns = INT64_MAX;

  /* The files, and what there is to remember of each and of the inputs. */
  for (size_t i = 0; !status && i < n; i++) {
    struct stat about;
    stream->piped |= strcmp(paths[i], "-") == 0;
    if (strcmp(paths[i], "-") != 0 && stat(paths[i], &about) == 0 && S_ISDIR(about.st_mode))
      status = add_folder(stream, paths[i], diag);
    else
      status = add_path(stream, strdup(paths[i]), diag);
  }
  if (!status) {
    stream->devices = calloc(stream->n_paths + 1, sizeof *stream->devices);
    stream->waiting = calloc(stream->n_paths + 1, 1);
    stream->held = calloc(stream->n_inputs + 1, sizeof *stream->held);
    stream->command = calloc(stream->n_inputs + 1, sizeof *stream->command);
    stream->known = calloc(stream->n_inputs + 1, 1);
    if (!stream->devices || !stream->waiting || !stream->held || !stream->command || !stream->known)
      status = bramah__fail_memory(diag);
  }
  for (size_t part = 0; !status && part < stream->n_paths; part++) status = add_file(stream, part, diag);

  if (status)
    pass(&m, status, diag);
  else
    status = find_columns(stream, plant, sensors, &m, diag);
  if (status)
    bramah_log_stream_close(stream);
  else
    *out = stream;
  return status;
}

bramah_status bramah_log_stream_open(const bramah_session *session, size_t n, const char *const *paths,
                                     bramah_diag *diag, bramah_log_stream **out)
{
  return bramah_log_stream_open_for(bramah_session_study(session), bramah_session_plant(session),
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

bramah_status bramah__log_stream_resume(bramah_log_stream *stream, int64_t after_ns, uint64_t skipped,
                                        size_t n, const int64_t *starts, bramah_diag *diag)
{
  int64_t *copy = calloc(n + 1, sizeof *copy);
  if (!copy) return bramah__fail_memory(diag);
  if (n) memcpy(copy, starts, n * sizeof *starts);
  free(stream->starts);
  stream->starts = copy;
  stream->n_starts = n;
  stream->after_ns = after_ns;
  stream->info.skipped = skipped;
  return BRAMAH_OK;
}

void bramah_log_stream_stop(bramah_log_stream *stream, int (*stopped)(void *user), void *user)
{
  stream->stopped = stopped;
  stream->stopped_user = user;
}

/* ---- the first rows ---- */

static bramah_status advance(bramah_log_stream *stream, size_t k, bramah_diag *diag)
{
  int end;
  const bramah_status status = bramah__device_next(&stream->devices[k], &end, diag);
  stream->waiting[k] = !status && !end;
  return status;
}

/* Read the first row of every device; from those times are counted, where the clocks have no zero of the log. */
static bramah_status begin(bramah_log_stream *stream, bramah_diag *diag)
{
  bramah_status status = BRAMAH_OK;
  stream->begun = 1;

  /* Clocks with and without a date have no common zero. */
  const bramah__device *date = NULL, *none = NULL;
  for (size_t k = 0; k < stream->n_devices; k++) {
    const bramah__device *d = &stream->devices[k];
    if (d->clock.origin == BRAMAH__ORIGIN_FIRST && d->clock.is_date) date = d;
    if (d->clock.origin != BRAMAH__ORIGIN_STATED && !d->clock.is_date) none = d;
  }
  if (date && none)
    return bramah__failf(
        diag, BRAMAH_E_TIME, date->reader->path, 0, date->time.column,
        "these times have a date, those of %s do not: state the date of their zero as 'origin' of 'time'",
        none->reader->path);

  int64_t first = INT64_MAX;
  for (size_t k = 0; !status && k < stream->n_devices; k++) {
    bramah__device *d = &stream->devices[k];
    int end = 0;
    status = bramah__device_prime(d, &end, diag);
    stream->waiting[k] = !end;
    if (d->clock.origin == BRAMAH__ORIGIN_FIRST && !end && d->first_ns < first) first = d->first_ns;
  }

  /* Devices that count something from their first row must begin where they began before. */
  for (size_t k = 0; !status && stream->n_starts && k < stream->n_devices; k++) {
    const bramah__device *d = &stream->devices[k];
    const bramah__clock *c = &d->clock;
    int counts = c->origin == BRAMAH__ORIGIN_FIRST || c->origin == BRAMAH__ORIGIN_OWN || c->drift != 0.0 ||
                 c->wrap || (d->study && d->study->log.resets == BRAMAH_LOG_RESETS_JOIN);
    for (size_t i = 0; i < d->n_targets; i++) counts |= d->targets[i].map.wrap > 0.0;
    if (!counts || (stream->n_starts == stream->n_devices && stream->starts[k] == d->first_ns)) continue;
    status = bramah__failf(diag, BRAMAH_E_TIME, d->reader->path, 0, d->time.column,
                           "this log does not begin where that of the snapshot began, and its times or "
                           "columns count from the first row: go on with the whole log");
  }

  for (size_t k = 0; !status && k < stream->n_devices; k++) {
    bramah__device *d = &stream->devices[k];
    if (d->clock.origin == BRAMAH__ORIGIN_FIRST) d->clock.zero = first;
    if (d->clock.origin == BRAMAH__ORIGIN_OWN) d->clock.zero = d->first_ns;
  }
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
  stream->info.rows++;
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

bramah_status bramah_log_stream_next(void *user, bramah_sample *sample, int *end, bramah_diag *diag)
{
  bramah_log_stream *stream = user;
  for (;;) {
    const bramah_status status = merge(stream, sample, end, diag);
    const int stopped = stream->stopped && stream->stopped(stream->stopped_user);
    /* A line that an interruption cut short is no row, and no mistake. */
    if (stopped && (status || stream->piped)) return *end = 1, BRAMAH_OK;
    if (status) return status;
    if (*end && !stream->given && stream->info.skipped)
      return bramah__failf(diag, BRAMAH_E_EMPTY, stream->paths[0].path, 0, NULL,
                           "no row lies in the window: the log ends at %.9g s, before its begin %.9g s",
                           1e-9 * (double)stream->last_ns, 1e-9 * (double)stream->from_ns);
    if (*end) return BRAMAH_OK;

    /* A row before the limits is passed over. A sparse column of commands may have its last one there. */
    stream->last_ns = sample->time_ns;
    const int is_used = sample->time_ns <= stream->after_ns;
    if (!is_used && sample->time_ns >= stream->from_ns) break;
    stream->info.used_before += (uint64_t)is_used;
    stream->info.skipped += (uint64_t)!is_used;
    for (size_t i = 0; i < stream->n_inputs; i++) {
      if (is_used || !sample->has_input[i]) continue;
      stream->command[i] = sample->inputs[i];
      stream->known[i] = 1;
    }
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

bramah_log_stream_info bramah_log_stream_get_info(const bramah_log_stream *stream)
{
  bramah_log_stream_info info = stream->info;
  double done = 0.0, all = 0.0;
  info.n_devices = stream->n_devices;
  for (size_t k = 0; k < stream->n_devices; k++) {
    const bramah__device *d = &stream->devices[k];
    const bramah_log_counts c = bramah__device_counts(d);
    if (c.repeated.n || c.merged.n || c.late.n || c.resets.n || c.no_time.n || c.bad_rows.n ||
        c.bad_cells.n || d->clock.wraps)
      info.is_touched = 1;
    done += (double)(d->bytes + bramah_log_get_info(d->reader).bytes);
  }
  for (size_t i = 0; i < stream->n_paths; i++) {
    struct stat about;
    const int is_file = stat(stream->paths[i].path, &about) == 0 && S_ISREG(about.st_mode);
    all += is_file ? (double)about.st_size : (double)NAN;
  }
  info.share = all > 0.0 ? done / all : (double)NAN;
  return info;
}

bramah_log_device bramah_log_stream_get_device(const bramah_log_stream *stream, size_t k)
{
  const bramah__device *d = &stream->devices[k];
  const bramah__clock *c = &d->clock;
  return (bramah_log_device){.name = d->entry ? d->entry->name : base_name(d->files[0]),
                             .entry = d->entry ? d->entry->name : NULL,
                             .n_files = d->n_parts,
                             .files = d->files,
                             .log = bramah_log_get_info(d->reader),
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

int bramah_log_stream_get_feed(const bramah_log_stream *stream, size_t slot, bramah_log_feed *out)
{
  for (size_t k = 0; k < stream->n_devices; k++)
    for (size_t i = 0; i < stream->devices[k].n_targets; i++) {
      const bramah__target *t = &stream->devices[k].targets[i];
      if (t->slot != slot) continue;
      *out = (bramah_log_feed){.column = t->name,
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

const char *bramah_log_stream_place(const bramah_log_stream *stream, int64_t mark, int *line)
{
  *line = bramah__mark_line(mark);
  return stream->paths[bramah__mark_path(mark)].path;
}

/* ---- surveys ---- */

bramah_status bramah_log_survey_read(bramah_log_stream *stream, int64_t step_ns, int64_t longest_gap_ns,
                                     void (*report)(void *user, const bramah_diag *diag), void *user,
                                     bramah_log_survey *out)
{
  const size_t n_inputs = stream->n_inputs, n_sensors = stream->n_sensors;
  bramah_diag diag;
  bramah_status status = BRAMAH_OK;
  int64_t *last = calloc(n_sensors + 1, sizeof *last);
  double *values = calloc(n_inputs + n_sensors + 1, sizeof *values);
  unsigned char *flags = calloc(n_inputs + n_sensors + 1, 1);
  *out = (bramah_log_survey){.shortest_ns = INT64_MAX,
                             .samples = calloc(n_sensors + 1, sizeof *out->samples),
                             .longest_wait_ns = calloc(n_sensors + 1, sizeof *out->longest_wait_ns)};
  if (!last || !values || !flags || !out->samples || !out->longest_wait_ns)
    status = bramah__fail_memory(&diag);
  for (int end = 0; !status;) {
    bramah_sample sample = {
        .inputs = values, .has_input = flags, .y = values + n_inputs, .present = flags + n_inputs};
    memset(flags, 0, n_inputs + n_sensors);
    status = bramah_log_stream_next(stream, &sample, &end, &diag);
    if (status || end) break;

    /* The interval, and whether a replay would end here. */
    if (!out->rows++) out->first_ns = out->last_ns = sample.time_ns;
    const int64_t gap = sample.time_ns - out->last_ns;
    if (out->rows > 1 && gap > longest_gap_ns) {
      bramah_diag jump;
      int line;
      const char *path = bramah_log_stream_place(stream, sample.mark, &line);
      bramah__failf(&jump, BRAMAH_E_TIME, path, line, "t",
                    "time jumps ahead further than the longest gap allowed: %.12g s after %.12g s; "
                    "'log: {longest_gap: 1 h}' in the study allows it, where times are right",
                    1e-9 * (double)sample.time_ns, 1e-9 * (double)out->last_ns);
      report(user, &jump);
    }
    if (out->rows > 1 && gap < out->shortest_ns) out->shortest_ns = gap;
    if (gap > out->longest_ns) out->longest_ns = gap;
    out->last_ns = sample.time_ns;

    /* Where it lies between the steps. */
    const int64_t behind = (sample.time_ns - out->first_ns) % step_ns;
    const int64_t shift = behind > step_ns / 2 ? step_ns - behind : behind;
    if (shift) out->off_grid++;
    if (shift > out->most_shift_ns) out->most_shift_ns = shift;

    for (size_t i = 0; i < n_sensors; i++) {
      if (!sample.present[i]) continue;
      const int64_t wait = out->samples[i]++ ? sample.time_ns - last[i] : 0;
      if (wait > out->longest_wait_ns[i]) out->longest_wait_ns[i] = wait;
      last[i] = sample.time_ns;
    }
  }
  if (status) report(user, &diag);
  free(last);
  free(values);
  free(flags);
  return status;
}

void bramah_log_survey_free(bramah_log_survey *survey)
{
  free(survey->samples);
  free(survey->longest_wait_ns);
  *survey = (bramah_log_survey){0};
}

static void keep(void *user, const bramah_diag *diag) { *(bramah_diag *)user = *diag; }

bramah_status bramah_log_last_time(const bramah_session *session, size_t n, const char *const *paths,
                                   int64_t *time_ns, bramah_diag *diag)
{
  bramah_log_stream *stream;
  bramah_log_survey survey;
  bramah_diag bad_row;
  *time_ns = INT64_MIN;
  for (size_t i = 0; i < n; i++) {
    struct stat about; /* opening a pipe once more could wait for a writer for ever */
    if (strcmp(paths[i], "-") == 0 ||
        (stat(paths[i], &about) == 0 && !S_ISREG(about.st_mode) && !S_ISDIR(about.st_mode)))
      return bramah__failf(diag, BRAMAH_E_UNSUPPORTED, paths[i], 0, NULL, "a pipe cannot be read twice");
  }
  bramah_status status = bramah_log_stream_open(session, n, paths, diag, &stream);
  if (status) return status;
  for (size_t k = 0; k < stream->n_devices; k++)
    if (stream->devices[k].reader->kind->connect) {
      bramah_log_stream_close(stream);
      return bramah__failf(diag, BRAMAH_E_UNSUPPORTED, paths[0], 0, NULL,
                           "an interface cannot be read twice");
    }
  status = bramah_log_survey_read(stream, 1, INT64_MAX, keep, &bad_row, &survey);
  if (survey.rows) *time_ns = survey.last_ns;
  bramah_log_survey_free(&survey);
  bramah_log_stream_close(stream);
  if (status != BRAMAH_E_MEMORY) return BRAMAH_OK;
  if (diag) *diag = bad_row;
  return status;
}
