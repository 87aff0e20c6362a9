/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files of named pieces of memory, and an assessment to and from one: filter, plant and buffers as the core saves them,
 * and what was counted. */
#define _POSIX_C_SOURCE 200809L /* fsync, fileno */
#include "lib/assess/assess_internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { NAME = 24, FORMAT = 2, BYTE_ORDER_MARK = 0x01020304 };

typedef struct head {
  char magic[8];
  uint32_t format, order;
  uint64_t length; /* of the file, check sum included */
} head;

typedef struct piece {
  char name[NAME];
  uint64_t size;
} piece;

static const char magic[8] = {'B', 'R', 'A', 'M', 'A', 'H', 'S', 'N'};

uint64_t bramah__hash(const void *bytes, size_t n, uint64_t from)
{
  const unsigned char *p = bytes;
  for (size_t i = 0; i < n; i++) from = (from ^ p[i]) * UINT64_C(1099511628211);
  return from;
}

uint64_t bramah__hash_file(const char *path)
{
  unsigned char part[4096];
  FILE *file = fopen(path, "rb");
  if (!file) return 0;
  uint64_t sum = BRAMAH__HASH_START;
  for (size_t n; (n = fread(part, 1, sizeof part, file)) > 0;) sum = bramah__hash(part, n, sum);
  fclose(file);
  return sum;
}

/* ---- pieces ---- */

void bramah__snapshot_free(bramah__snapshot *snapshot)
{
  free(snapshot->bytes);
  *snapshot = (bramah__snapshot){0};
}

/* n more bytes at the end, zeroed. */
static unsigned char *extend(bramah__snapshot *snapshot, size_t n)
{
  if (snapshot->failed) return NULL;
  if (snapshot->size + n > snapshot->room) {
    const size_t room = 2 * snapshot->room + n + 4096;
    unsigned char *bytes = realloc(snapshot->bytes, room);
    if (!bytes) return snapshot->failed = 1, NULL;
    snapshot->bytes = bytes;
    snapshot->room = room;
  }
  unsigned char *out = snapshot->bytes + snapshot->size;
  memset(out, 0, n);
  snapshot->size += n;
  return out;
}

void bramah__snapshot_clear(bramah__snapshot *snapshot)
{
  snapshot->size = 0;
  snapshot->failed = 0;
  extend(snapshot, sizeof(head));
}

static size_t padded(size_t n) { return (n + 7) / 8 * 8; }

void *bramah__snapshot_add(bramah__snapshot *snapshot, const char *name, size_t n)
{
  piece p = {.size = n};
  unsigned char *out = extend(snapshot, sizeof p + padded(n));
  if (!out) return NULL;
  snprintf(p.name, sizeof p.name, "%s", name);
  memcpy(out, &p, sizeof p);
  return out + sizeof p;
}

void bramah__snapshot_put(bramah__snapshot *snapshot, const char *name, const void *from, size_t n)
{
  void *out = bramah__snapshot_add(snapshot, name, n);
  if (out && n) memcpy(out, from, n);
}

const void *bramah__snapshot_find(const bramah__snapshot *snapshot, const char *name, size_t *n)
{
  const size_t end = snapshot->size - sizeof(uint64_t);
  piece p;
  for (size_t at = sizeof(head); at + sizeof p <= end; at += sizeof p + padded(p.size)) {
    memcpy(&p, snapshot->bytes + at, sizeof p);
    if (p.size > end - at - sizeof p) return NULL;
    if (strncmp(p.name, name, NAME) != 0) continue;
    *n = p.size;
    return snapshot->bytes + at + sizeof p;
  }
  return NULL;
}

int bramah__snapshot_get(const bramah__snapshot *snapshot, const char *name, void *out, size_t n)
{
  size_t size;
  const void *from = bramah__snapshot_find(snapshot, name, &size);
  if (!from || size != n) return 0;
  if (n) memcpy(out, from, n);
  return 1;
}

/* ---- file ---- */

static bramah_status fail_file(bramah_diag *diag, const char *path, const char *what)
{
  return bramah__failf(diag, BRAMAH_E_FILE, path, 0, NULL, "%s: %s", what, strerror(errno));
}

bramah_status bramah__snapshot_write(bramah__snapshot *snapshot, const char *path, bramah_diag *diag)
{
  const size_t length = strlen(path) + 8;
  char *part = malloc(length);
  unsigned char *end = extend(snapshot, sizeof(uint64_t));
  if (!part || !end) {
    free(part);
    return bramah__failf(diag, BRAMAH_E_MEMORY, path, 0, NULL, "out of memory");
  }
  head h = {.format = FORMAT, .order = BYTE_ORDER_MARK, .length = snapshot->size};
  memcpy(h.magic, magic, sizeof magic);
  memcpy(snapshot->bytes, &h, sizeof h);
  const uint64_t sum = bramah__hash(snapshot->bytes, snapshot->size - sizeof sum, BRAMAH__HASH_START);
  memcpy(end, &sum, sizeof sum);
  snprintf(part, length, "%s.part", path);
  FILE *file = fopen(part, "wb");
  int good = file && fwrite(snapshot->bytes, 1, snapshot->size, file) == snapshot->size &&
             fflush(file) == 0 && fsync(fileno(file)) == 0;
  if (file && fclose(file) != 0) good = 0;
  bramah_status status = BRAMAH_OK;
  if (!good || rename(part, path) != 0) {
    status = fail_file(diag, path, "cannot write the snapshot");
    remove(part);
  }
  free(part);
  return status;
}

static int has_magic(const bramah__snapshot *s)
{
  return s->size >= sizeof magic && memcmp(s->bytes, magic, sizeof magic) == 0;
}

bramah_status bramah__snapshot_read(bramah__snapshot *snapshot, const char *path, bramah_diag *diag)
{
  enum { PART = 1 << 16 };
  head h;
  uint64_t sum;
  FILE *file = fopen(path, "rb");
  if (!file) return fail_file(diag, path, "cannot open the snapshot");
  snapshot->size = 0;
  for (size_t n = PART; n == PART;) {
    unsigned char *out = extend(snapshot, PART);
    if (!out) break;
    n = fread(out, 1, PART, file);
    snapshot->size -= PART - n;
    if (!has_magic(snapshot)) break; /* whatever it is, it may have no end */
  }
  const bramah_status status = ferror(file) ? fail_file(diag, path, "cannot read the snapshot") : BRAMAH_OK;
  fclose(file);
  if (status) return status;
  if (snapshot->failed) return bramah__failf(diag, BRAMAH_E_MEMORY, path, 0, NULL, "out of memory");

  if (snapshot->size < sizeof h || !has_magic(snapshot))
    return bramah__failf(diag, BRAMAH_E_SYNTAX, path, 0, NULL, "this is no snapshot of bramah replay");
  memcpy(&h, snapshot->bytes, sizeof h);
  if (h.order != BYTE_ORDER_MARK || h.format != FORMAT)
    return bramah__failf(
        diag, BRAMAH_E_SYNTAX, path, 0, NULL,
        "the snapshot was written by another version of bramah or on another kind of computer");
  if (h.length != snapshot->size || snapshot->size < sizeof h + sizeof sum)
    return bramah__failf(diag, BRAMAH_E_TRUNCATED, path, 0, NULL,
                         "the snapshot has %zu bytes, but says it has %llu", snapshot->size,
                         (unsigned long long)h.length);
  memcpy(&sum, snapshot->bytes + snapshot->size - sizeof sum, sizeof sum);
  if (sum == bramah__hash(snapshot->bytes, snapshot->size - sizeof sum, BRAMAH__HASH_START)) return BRAMAH_OK;
  return bramah__failf(diag, BRAMAH_E_SYNTAX, path, 0, NULL,
                       "the snapshot is damaged: its check sum is wrong");
}

/* ---- an assessment ---- */

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
enum { PLAIN = 5 };

static void list_plain(const bramah_assess *a, plain out[PLAIN])
{
  out[0] = (plain){"innovations", a->innovations, a->n_sensors * sizeof *a->innovations};
  out[1] = (plain){"all innovations", (void *)(uintptr_t)&a->all, sizeof a->all};
  out[2] = (plain){"faults", a->fault, a->n_sensors * sizeof *a->fault};
  out[3] = (plain){"recoveries", (void *)(uintptr_t)&a->recoveries, sizeof a->recoveries};
  out[4] = (plain){"estimated from", a->estimated_from, a->n_augmented * sizeof *a->estimated_from};
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

bramah_status bramah_assess_save(bramah_assess *a, const char *path, const char *text, bramah_diag *diag)
{
  bramah__snapshot *s = &a->snapshot;
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
  if (a->model_runs) {
    void *model = bramah__snapshot_add(s, "model alone", a->model.snapshot_size);
    if (model) a->model.save(a->model.self, model);
  }
  list_plain(a, counts);
  for (size_t i = 0; i < PLAIN; i++) bramah__snapshot_put(s, counts[i].name, counts[i].from, counts[i].size);
  bramah__snapshot_put(s, "errors", a->accuracy, a->n_accuracies * sizeof *a->accuracy);
  return bramah__snapshot_write(s, path, diag);
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
  if (a->model_runs && model && size == a->model.snapshot_size)
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
  if (a->adaptive && (!adaptive || size != bramah_adaptive_snapshot_size(a->adaptive)))
    return does_not_fit(diag, "adaptive");
  if (a->adaptive) bramah_adaptive_restore(a->adaptive, adaptive);
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
