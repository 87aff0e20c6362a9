/* SPDX-License-Identifier: MIT */
/* The whole state of the filter, plant included, to and from memory. */
#include "estimators/filter_internal.h"

#include <string.h>

/* Snapshot for the filter's own use:
 *   | progress | rejections | means | shift | drifts | P | S | plant |
 * and what users are given:
 *   | own | own of before the last step | F | Gamma |
 * each in whole doubles. */
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

size_t bramah_filter_snapshot_size(const bramah_filter *filter)
{
  return 2 * bramah__own_size(filter) + square_size(filter) + gamma_size(filter);
}

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

void bramah_filter_save(const bramah_filter *filter, void *snap)
{
  unsigned char *out = snap;
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

void bramah_filter_restore(bramah_filter *filter, const void *snap)
{
  const unsigned char *in = snap;
  const size_t own = bramah__own_size(filter);
  bramah__take_back(filter, in, 1);
  bramah__clear_correction(filter);
  if (!filter->progress.has_last) return;
  memcpy(filter->last, in + own, own);
  memcpy(filter->F, in + 2 * own, square_size(filter));
  memcpy(filter->Gamma, in + 2 * own + square_size(filter), gamma_size(filter));
}
