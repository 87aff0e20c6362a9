/* SPDX-License-Identifier: MIT */
/* What a filter holds between two calls: to and from memory, the plant included; and whether it is sound. */
#include "estimators/filter_internal.h"
#include "estimators/update.h"
#include "lib/base/diag.h"
#include "lib/math/dense.h"

#include <math.h>
#include <string.h>

/* Snapshot for the filter's own use:
 *   | progress | arrays of BRAMAH__FILTER_STATE | plant |
 * and what users are given:
 *   | seal | own | own of before the last step | F | Gamma |
 * each in whole doubles. There are no pointers in it: another process with the same filter can take it over.
 */
static size_t plant_place(const bramah_filter *f)
{
  size_t size = sizeof f->progress;
  BRAMAH__FILTER_STATE(BRAMAH__FIELD_ADD)
  return size;
}

size_t bramah__own_size(const bramah_filter *f)
{
  return plant_place(f) + bramah__whole_words(f->plant.snapshot_size);
}

bramah__parts bramah__parts_of(const bramah_filter *f, void *snap)
{
  unsigned char *at = (unsigned char *)snap + sizeof f->progress;
  bramah_filter found = {0};
#define PLACE(type, name, ...)                                                                               \
  found.name = (type *)(void *)at;                                                                           \
  at += bramah__whole_words(BRAMAH__FIELD_BYTES(type, __VA_ARGS__));
  BRAMAH__FILTER_STATE(PLACE)
#undef PLACE
  return (bramah__parts){found.mean, found.P, at};
}

void bramah__keep(const bramah_filter *f, void *snap)
{
  const bramah_filter *fields = f;
  unsigned char *out = bramah__put(snap, &f->progress, sizeof f->progress);
  BRAMAH__FILTER_STATE(BRAMAH__FIELD_PUT)
  f->plant.save(f->plant.self, out);
}

void bramah__take_back(bramah_filter *f, const void *snap, int with_counts)
{
  const unsigned char *in = snap;
  if (with_counts) memcpy(&f->progress, in, sizeof f->progress);
  in += sizeof f->progress;
#define TAKE_BACK(type, name, count, iterated)                                                               \
  if ((count) > 0 && (with_counts || (iterated))) memcpy(f->name, in, (count) * sizeof(type));               \
  in += bramah__whole_words((count) * sizeof(type));
  BRAMAH__FILTER_STATE(TAKE_BACK)
#undef TAKE_BACK
  f->plant.restore(f->plant.self, in);
}

static size_t square_size(const bramah_filter *f) { return f->n * f->n * sizeof(double); }
static size_t gamma_size(const bramah_filter *f) { return f->n * f->nq * sizeof(double); }

/* What tells a snapshot from other memory. */
typedef struct seal {
  uint64_t format;   /* FORMAT */
  uint64_t identity; /* of the filter */
  uint64_t size;     /* of all of it [bytes] */
  uint64_t checksum; /* of the three above and all that follows */
} seal;

/* "bramahF" and the number of the format: a new one whenever what is in a snapshot changes. */
static const uint64_t FORMAT = UINT64_C(0x6272616d61684602);

size_t bramah_filter_snapshot_size(const bramah_filter *filter)
{
  return sizeof(seal) + 2 * bramah__own_size(filter) + square_size(filter) + gamma_size(filter);
}

void bramah__save_body(const bramah_filter *f, void *snap)
{
  unsigned char *out = (unsigned char *)snap + sizeof(seal);
  const size_t own = bramah__own_size(f), used = plant_place(f) + f->plant.snapshot_size;
  bramah__keep(f, out);
  memset(out + used, 0, own - used);
  out += own;
  if (!f->progress.has_last) {
    memset(out, 0, own + square_size(f) + gamma_size(f));
    return;
  }
  memcpy(out, f->snapshot.previous_step, own);
  memcpy(out + own, f->F, square_size(f));
  memcpy(out + own + square_size(f), f->Gamma, gamma_size(f));
}

void bramah__restore_body(bramah_filter *f, const void *snap)
{
  const unsigned char *in = (const unsigned char *)snap + sizeof(seal);
  const size_t own = bramah__own_size(f);
  bramah__take_back(f, in, 1);
  bramah__clear_correction(f);
  if (!f->progress.has_last) return;
  memcpy(f->snapshot.previous_step, in + own, own);
  memcpy(f->F, in + 2 * own, square_size(f));
  memcpy(f->Gamma, in + 2 * own + square_size(f), gamma_size(f));
}

void bramah__clear_correction(bramah_filter *f)
{
  for (size_t i = 0; i < f->n_sensors; i++)
    f->innovation[i] = (bramah_innovation){.innovation = NAN, .sigma = NAN, .nis = NAN};
  memset(f->dx, 0, f->n * sizeof(double));
  f->nis = 0.0;
  f->nis_dof = 0;
}

void bramah__swap_matrices(bramah_filter *f)
{
  double *const F = f->F, *const Gamma = f->Gamma;
  f->F = f->F_spare, f->Gamma = f->Gamma_spare;
  f->F_spare = F, f->Gamma_spare = Gamma;
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

/* By sizes and by the names of everything: a filter of another machine or study is another one. Values do not
 * count. */
void bramah__identify(bramah_filter *f)
{
  const size_t size[] = {f->n,
                         f->n_plant,
                         f->n_dof,
                         f->n_first_order,
                         f->nq,
                         f->n_sensors,
                         f->plant.snapshot_size,
                         f->plant.n_output};
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

void bramah_filter_save(const bramah_filter *f, void *snap)
{
  seal s = {FORMAT, f->identity, bramah_filter_snapshot_size(f), 0};
  bramah__save_body(f, snap);
  s.checksum = checksum_of(&s, snap);
  memcpy(snap, &s, sizeof s);
}

bramah_status bramah_filter_check_snapshot(const bramah_filter *f, const void *snap, size_t size,
                                           bramah_diag *diag)
{
  seal s;
  if (size != bramah_filter_snapshot_size(f))
    return bramah__fail(diag, BRAMAH_E_ARGUMENT, "snapshot",
                        "this is not the size of a snapshot of the filter");
  memcpy(&s, snap, sizeof s);
  if (s.format != FORMAT)
    return bramah__fail(diag, BRAMAH_E_SYNTAX, "snapshot",
                        "this is no snapshot, or of another version of bramah");
  if (s.identity != f->identity || s.size != size)
    return bramah__fail(diag, BRAMAH_E_REFERENCE, "snapshot", "it was taken of another filter");
  if (s.checksum != checksum_of(&s, snap))
    return bramah__fail(diag, BRAMAH_E_VALUE, "snapshot", "it is corrupted");
  return BRAMAH_OK;
}

bramah_status bramah_filter_restore(bramah_filter *f, const void *snap)
{
  const size_t size = bramah_filter_snapshot_size(f);
  const bramah_status status = bramah_filter_check_snapshot(f, snap, size, NULL);
  if (status == BRAMAH_OK) bramah__restore_body(f, snap);
  return status;
}

/* ---- covariance ---- */

const char *bramah__error_name(const bramah_filter *f, size_t k)
{
  if (k < f->n_plant) return bramah__plant_state_name(&f->plant, k);
  size_t i = f->n_augmented;
  while (i > 0 && f->self_state[i - 1].state > k) i--;
  return f->augmented[i - 1].name;
}

bramah_status bramah__check_covariance(const bramah_filter *f, bramah_diag *diag)
{
  const size_t bad = bramah__bad_variance(f->n, f->P);
  if (bad == f->n) return BRAMAH_OK;
  const int finite = isfinite(f->P[bad * f->n + bad]);
  return bramah__fail(diag, finite ? BRAMAH_E_NOT_SPD : BRAMAH_E_NOT_FINITE, bramah__error_name(f, bad),
                      finite ? "the variance of this state is no longer positive"
                             : "the variance of this state is not finite");
}

void bramah__refresh_covariance(bramah_filter *f)
{
  memset(f->P, 0, f->n * f->n * sizeof(double));
  bramah__add_outer(f->n, f->n, f->S, f->P);
}

bramah_status bramah__refresh_root(bramah_filter *f, bramah_diag *diag)
{
  const size_t n = f->n;
  if (!f->square_root) return BRAMAH_OK;
  memcpy(f->S, f->P, n * n * sizeof(double));
  const size_t bad = bramah__cholesky_factor(n, f->S);
  if (bad)
    return bramah__fail(diag, BRAMAH_E_NOT_SPD, bramah__error_name(f, bad - 1),
                        "the covariance is not positive definite");
  for (size_t r = 0; r < n; r++)
    for (size_t k = r + 1; k < n; k++) f->S[r * n + k] = 0.0;
  return BRAMAH_OK;
}
