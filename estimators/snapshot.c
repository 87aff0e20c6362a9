/* SPDX-License-Identifier: MIT */
/* The whole state of the filter, plant included, to and from memory. */
#include "estimators/filter_internal.h"

#include <string.h>

/* Snapshot: | progress | rejections | means and drifts | P | S | plant |, each in whole doubles. */
static size_t rejections_size(const bramah_filter *f)
{
  return (f->n_sensors * sizeof *f->reject + 7) / 8 * 8;
}

static size_t own_size(const bramah_filter *f)
{
  const size_t nn = f->n * f->n * sizeof(double), means = (f->n - f->ne + f->n_sensors) * sizeof(double);
  return sizeof f->progress + rejections_size(f) + means + (f->square_root ? 2 : 1) * nn;
}

size_t bramah_filter_snapshot_size(const bramah_filter *filter)
{
  return own_size(filter) + filter->plant.snapshot_size;
}

void bramah_filter_save(const bramah_filter *filter, void *snap)
{
  unsigned char *out = snap;
  const size_t nn = filter->n * filter->n * sizeof(double),
               means = (filter->n - filter->ne + filter->n_sensors) * sizeof(double);
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
  const size_t nn = filter->n * filter->n * sizeof(double),
               means = (filter->n - filter->ne + filter->n_sensors) * sizeof(double);
  if (with_counts) memcpy(&filter->progress, in, sizeof filter->progress);
  in += sizeof filter->progress;
  if (with_counts) memcpy(filter->reject, in, filter->n_sensors * sizeof *filter->reject);
  in += rejections_size(filter);
  memcpy(filter->mean, in, means);
  in += means;
  memcpy(filter->P, in, nn);
  in += nn;
  if (filter->square_root) memcpy(filter->S, in, nn), in += nn;
  filter->plant.restore(filter->plant.self, in);
}

void bramah_filter_restore(bramah_filter *filter, const void *snap)
{
  bramah__take_back(filter, snap, 1);
  bramah__clear_correction(filter);
}
