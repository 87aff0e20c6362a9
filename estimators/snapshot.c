/* SPDX-License-Identifier: MIT */
/* The whole state of the filter, plant included, to and from memory. */
#include "estimators/snapshot.h"
#include "estimators/filter_internal.h"
#include "lib/base/diag.h"

#include <string.h>

/* Snapshot for the filter's own use:
 *   | progress | rejections | means | shift | drifts | P | S | plant |
 * and what users are given:
 *   | seal | own | own of before the last step | F | Gamma |
 * each in whole doubles. There are no pointers in it: another process with the same filter can take it over.
 */
static size_t rejections_size(const bramah_filter *f)
{
  return (f->n_sensors * sizeof *f->reject + 7) / 8 * 8;
}

static size_t means_size(const bramah_filter *f) { return (f->n - f->ne + f->n) * sizeof(double); }
static size_t square_size(const bramah_filter *f) { return f->n * f->n * sizeof(double); }

static size_t plant_place(const bramah_filter *f)
{
  return sizeof f->progress + rejections_size(f) + means_size(f) + f->n_sensors * sizeof(double) +
         (f->square_root ? 2 : 1) * square_size(f);
}

size_t bramah__own_size(const bramah_filter *filter)
{
  return plant_place(filter) + (filter->plant.snapshot_size + 7) / 8 * 8;
}

static size_t gamma_size(const bramah_filter *f) { return f->n * f->nq * sizeof(double); }

static size_t body_size(const bramah_filter *f)
{
  return 2 * bramah__own_size(f) + square_size(f) + gamma_size(f);
}

/* What tells a snapshot from other memory. */
typedef struct seal {
  uint64_t format;   /* FORMAT */
  uint64_t identity; /* of the filter */
  uint64_t size;     /* of all of it [bytes] */
  uint64_t checksum; /* of the three above and all that follows */
} seal;

/* "bramahF" and the number of the format: a new one whenever what stands in a snapshot changes. */
static const uint64_t FORMAT = UINT64_C(0x6272616d61684601);

size_t bramah_filter_snapshot_size(const bramah_filter *filter) { return sizeof(seal) + body_size(filter); }

bramah__parts bramah__parts_of(const bramah_filter *filter, void *snap)
{
  unsigned char *at = snap, *means = at + sizeof filter->progress + rejections_size(filter);
  unsigned char *P = means + means_size(filter) + filter->n_sensors * sizeof(double);
  return (bramah__parts){(double *)(void *)means, (double *)(void *)P, at + plant_place(filter)};
}

void bramah__keep(const bramah_filter *filter, void *snap)
{
  unsigned char *out = snap;
  const size_t nn = square_size(filter), means = means_size(filter) + filter->n_sensors * sizeof(double);
  memcpy(out, &filter->progress, sizeof filter->progress);
  out += sizeof filter->progress;
  memset(out, 0, rejections_size(filter));
  memcpy(out, filter->reject, filter->n_sensors * sizeof *filter->reject);
  out += rejections_size(filter);
  memcpy(out, filter->mean, means);
  out += means;
  memcpy(out, filter->P, nn);
  out += nn;
  if (filter->square_root) memcpy(out, filter->S, nn), out += nn;
  filter->plant.save(filter->plant.self, out);
}

void bramah__take_back(bramah_filter *filter, const void *snap, int with_counts)
{
  const unsigned char *in = snap;
  const size_t nn = square_size(filter), means = means_size(filter), drifts = filter->n_sensors;
  if (with_counts) memcpy(&filter->progress, in, sizeof filter->progress);
  in += sizeof filter->progress;
  if (with_counts) memcpy(filter->reject, in, filter->n_sensors * sizeof *filter->reject);
  in += rejections_size(filter);
  memcpy(filter->mean, in, means);
  in += means;
  if (with_counts) memcpy(filter->drift, in, drifts * sizeof *filter->drift);
  in += drifts * sizeof *filter->drift;
  memcpy(filter->P, in, nn);
  in += nn;
  if (filter->square_root) memcpy(filter->S, in, nn), in += nn;
  filter->plant.restore(filter->plant.self, in);
}

void bramah__save_body(const bramah_filter *filter, void *snap)
{
  unsigned char *out = (unsigned char *)snap + sizeof(seal);
  const size_t own = bramah__own_size(filter);
  bramah__keep(filter, out);
  memset(out + plant_place(filter) + filter->plant.snapshot_size, 0,
         own - plant_place(filter) - filter->plant.snapshot_size);
  out += own;
  if (!filter->progress.has_last) {
    memset(out, 0, own + square_size(filter) + gamma_size(filter));
    return;
  }
  memcpy(out, filter->last, own);
  memcpy(out + own, filter->F, square_size(filter));
  memcpy(out + own + square_size(filter), filter->Gamma, gamma_size(filter));
}

void bramah__restore_body(bramah_filter *filter, const void *snap)
{
  const unsigned char *in = (const unsigned char *)snap + sizeof(seal);
  const size_t own = bramah__own_size(filter);
  bramah__take_back(filter, in, 1);
  bramah__clear_correction(filter);
  if (!filter->progress.has_last) return;
  memcpy(filter->last, in + own, own);
  memcpy(filter->F, in + 2 * own, square_size(filter));
  memcpy(filter->Gamma, in + 2 * own + square_size(filter), gamma_size(filter));
}

/* ---- the seal ---- */

static const uint64_t seed = UINT64_C(0xcbf29ce484222325);

/* For a given word each hash leads to another one and for a given hash each word too, so that one wrong word
 * is never overlooked. */
static uint64_t mix(uint64_t hash, uint64_t word)
{
  hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
  return hash ^ (hash >> 29);
}

static uint64_t mix_text(uint64_t hash, const char *text)
{
  while (text && *text) hash = mix(hash, (unsigned char)*text++);
  return mix(hash, UINT64_MAX);
}

/* By sizes and by the names of everything: a filter of another machine or study is another one. Figures do
 * not count. */
void bramah__identify(bramah_filter *f)
{
  const size_t size[] = {
      f->n, f->ne, f->nf, f->np, f->nq, f->n_sensors, f->plant.snapshot_size, f->plant.n_output};
  uint64_t hash = mix(seed, (uint64_t)f->plant.step_ns);
  for (size_t i = 0; i < sizeof size / sizeof size[0]; i++) hash = mix(hash, size[i]);
  hash = mix(hash, (uint64_t)f->square_root);
  for (size_t i = 0; i < f->plant.n_output; i++) {
    bramah_output_info info;
    bramah_plant_output_info(&f->plant, i, &info);
    hash = mix_text(hash, info.name);
  }
  for (size_t i = 0; i < f->n_sensors; i++) hash = mix_text(hash, f->sensor[i].name);
  for (size_t i = 0; i < f->n_augmented; i++) hash = mix_text(hash, f->augmented[i].name);
  f->identity = hash;
}

static uint64_t checksum_of(const seal *s, const void *snap)
{
  const unsigned char *in = (const unsigned char *)snap + sizeof *s;
  uint64_t hash = mix(mix(mix(seed, s->format), s->identity), s->size);
  for (size_t at = sizeof *s; at < s->size; at += sizeof(uint64_t), in += sizeof(uint64_t)) {
    uint64_t word;
    memcpy(&word, in, sizeof word);
    hash = mix(hash, word);
  }
  return hash;
}

void bramah_filter_save(const bramah_filter *filter, void *snap)
{
  seal s = {FORMAT, filter->identity, bramah_filter_snapshot_size(filter), 0};
  bramah__save_body(filter, snap);
  s.checksum = checksum_of(&s, snap);
  memcpy(snap, &s, sizeof s);
}

bramah_status bramah_filter_check_snapshot(const bramah_filter *filter, const void *snap, size_t size,
                                           bramah_diag *diag)
{
  seal s;
  if (size != bramah_filter_snapshot_size(filter))
    return bramah__fail(diag, BRAMAH_E_ARGUMENT, "snapshot",
                        "this is not the size of a snapshot of the filter");
  memcpy(&s, snap, sizeof s);
  if (s.format != FORMAT)
    return bramah__fail(diag, BRAMAH_E_SYNTAX, "snapshot",
                        "this is no snapshot, or of another version of bramah");
  if (s.identity != filter->identity || s.size != size)
    return bramah__fail(diag, BRAMAH_E_REFERENCE, "snapshot", "it was taken of another filter");
  if (s.checksum != checksum_of(&s, snap))
    return bramah__fail(diag, BRAMAH_E_VALUE, "snapshot", "it is corrupted");
  return BRAMAH_OK;
}

bramah_status bramah_filter_restore(bramah_filter *filter, const void *snap)
{
  const size_t size = bramah_filter_snapshot_size(filter);
  const bramah_status status = bramah_filter_check_snapshot(filter, snap, size, NULL);
  if (status == BRAMAH_OK) bramah__restore_body(filter, snap);
  return status;
}
