/* SPDX-License-Identifier: MIT */
/* What a filter holds between two calls: to and from memory, the plant included; and whether it is sound. */
#include "estimators/filter_internal.h"
#include "estimators/update.h"
#include "lib/base/diag.h"
#include "lib/base/seal.h"
#include "lib/math/dense.h"

#include <math.h>
#include <string.h>

/* Snapshot for the filter's own use:
 *   | progress | arrays of BRAMAH__FILTER_STATE | plant |
 * the body of what a rewind buffer keeps:
 *   | own | own of before the last step | F | Gamma |
 * and what users are given:
 *   | seal | noise: sigma of the sensors, of accelerations, of first-order states, of augmented states over a step [3] | body |
 * each in whole doubles. There are no pointers in it: another process with the same filter can take it over.
 */
size_t bramah__state_size(const bramah_filter *f)
{
  size_t size = 0;
  BRAMAH__FILTER_STATE(BRAMAH__FIELD_ADD)
  return size;
}

static size_t plant_place(const bramah_filter *f) { return sizeof f->progress + f->state_size; }

void bramah__place_state(const bramah_filter *f, void *at, bramah_filter *fields)
{
  unsigned char *in = at;
  BRAMAH__FILTER_STATE(BRAMAH__FIELD_LOOK)
}

size_t bramah__own_size(const bramah_filter *f)
{
  return plant_place(f) + bramah__whole_words(f->plant.snapshot_size);
}

bramah__parts bramah__parts_of(const bramah_filter *f, void *snap)
{
  unsigned char *at = snap;
  bramah_filter found;
  bramah__place_state(f, at + sizeof f->progress, &found);
  return (bramah__parts){found.mean, found.P, at + plant_place(f)};
}

void bramah__keep(const bramah_filter *f, void *snap)
{
  const size_t size = f->state_size;
  unsigned char *out = snap;
  memcpy(out, &f->progress, sizeof f->progress);
  memcpy(out + sizeof f->progress, f->state, size);
  f->plant.save(f->plant.self, out + sizeof f->progress + size);
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

size_t bramah__body_size(const bramah_filter *f)
{
  return 2 * bramah__own_size(f) + square_size(f) + gamma_size(f);
}

void bramah__save_body(const bramah_filter *f, void *snap)
{
  unsigned char *out = snap;
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
  const unsigned char *in = snap;
  const size_t own = bramah__own_size(f);
  bramah__take_back(f, in, 1);
  bramah__clear_correction(f);
  if (!f->progress.has_last) return;
  memcpy(f->snapshot.previous_step, in + own, own);
  memcpy(f->F, in + 2 * own, square_size(f));
  memcpy(f->Gamma, in + 2 * own + square_size(f), gamma_size(f));
  f->n_foreign = 2;
}

int bramah__body_is_sound(const bramah_filter *f, const void *snap, int64_t *time_ns)
{
  const unsigned char *in = snap;
  const bramah_plant *plant = &f->plant;
  bramah__progress p;
  memcpy(&p, in, sizeof p);
  *time_ns = p.time_ns;
  if (!bramah__is_time(p.time_ns)) return 0;
  if (!plant->is_sound) return 1;
  return plant->is_sound(plant->self, in + plant_place(f)) &&
         (!p.has_last || plant->is_sound(plant->self, in + bramah__own_size(f) + plant_place(f)));
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

/* ---- what users are given ---- */

static size_t noise_size(const bramah_filter *f)
{
  return (f->n_sensors + f->n_dof + f->n_first_order + 3 * f->n_augmented) * sizeof(double);
}

/* Of augmented state i, where no phase is on. */
static double *augmented_noise(const bramah_filter *f, size_t i)
{
  return f->n_phases ? f->usual[i].noise : f->self_state[i].noise;
}

size_t bramah_filter_snapshot_size(const bramah_filter *f)
{
  return sizeof(bramah__seal) + noise_size(f) + bramah__body_size(f);
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
                         f->plant.n_output,
                         (size_t)f->square_root};
  uint64_t hash = bramah__mix(bramah__mix_text(0, "filter"), (uint64_t)f->plant.step_ns);
  for (size_t i = 0; i < sizeof size / sizeof size[0]; i++) hash = bramah__mix(hash, size[i]);
  for (size_t i = 0; i < f->plant.n_output; i++) {
    bramah_output_info info;
    bramah_plant_output_info(&f->plant, i, &info);
    hash = bramah__mix_text(hash, info.name);
  }
  for (size_t i = 0; i < f->n_sensors; i++) hash = bramah__mix_text(hash, f->sensor[i].name);
  for (size_t i = 0; i < f->n_augmented; i++) hash = bramah__mix_text(hash, f->augmented[i].name);
  for (size_t i = 0; i < f->n_phases; i++) hash = bramah__mix_text(hash, f->phase[i].name);
  f->identity = hash;
}

void bramah_filter_save(const bramah_filter *f, void *snap)
{
  unsigned char *out = (unsigned char *)snap + sizeof(bramah__seal);
  for (size_t i = 0; i < f->n_sensors; i++) out = bramah__put(out, &f->sensor[i].sigma, sizeof(double));
  out = bramah__put(out, bramah__usual_acceleration_noise(f), f->n_dof * sizeof(double));
  out = bramah__put(out, bramah__usual_first_order_noise(f), f->n_first_order * sizeof(double));
  for (size_t i = 0; i < f->n_augmented; i++)
    out = bramah__put(out, augmented_noise(f, i), 3 * sizeof(double));
  bramah__save_body(f, out);
  bramah__seal_put(snap, f->identity, bramah_filter_snapshot_size(f));
}

bramah_status bramah_filter_check_snapshot(const bramah_filter *f, const void *snap, size_t size,
                                           bramah_diag *diag)
{
  const unsigned char *in = (const unsigned char *)snap + sizeof(bramah__seal);
  const size_t n_noise = noise_size(f) / sizeof(double);
  const bramah_status status =
      bramah__seal_check(snap, size, f->identity, bramah_filter_snapshot_size(f), diag);
  if (status != BRAMAH_OK) return status;
  int64_t time_ns;
  int good = bramah__body_is_sound(f, in + noise_size(f), &time_ns);
  for (size_t i = 0; i < n_noise; i++) {
    double sigma;
    in = bramah__get(&sigma, in, sizeof sigma);
    const int is_augmented = i >= n_noise - 3 * f->n_augmented;
    good &= isfinite(sigma) && (i < f->n_sensors ? sigma > 0.0 : sigma >= 0.0 || is_augmented);
  }
  return good ? BRAMAH_OK : bramah__seal_broken(diag);
}

int64_t bramah__snapshot_time_ns(const bramah_filter *f, const void *snap)
{
  bramah__progress p;
  memcpy(&p, (const unsigned char *)snap + sizeof(bramah__seal) + noise_size(f), sizeof p);
  return p.time_ns;
}

bramah_status bramah_filter_restore(bramah_filter *f, const void *snap)
{
  const bramah_status status = bramah_filter_check_snapshot(f, snap, bramah_filter_snapshot_size(f), NULL);
  if (status != BRAMAH_OK) return status;
  const unsigned char *in = (const unsigned char *)snap + sizeof(bramah__seal);
  for (size_t i = 0; i < f->n_sensors; i++) in = bramah__get(&f->sensor[i].sigma, in, sizeof(double));
  in = bramah__get(f->noise.acceleration, in, f->n_dof * sizeof(double));
  in = bramah__get(f->noise.first_order, in, f->n_first_order * sizeof(double));
  bramah__phases_usual_noise(f, 1);
  for (size_t i = 0; i < f->n_augmented; i++) {
    in = bramah__get(f->self_state[i].noise, in, 3 * sizeof(double));
    bramah__phases_set_usual(f, i);
  }
  bramah__restore_body(f, in);
  return BRAMAH_OK;
}

bramah_status bramah_filter_take_over(bramah_filter *f, const bramah_filter *from)
{
  int same = f->n == from->n && f->n_augmented == from->n_augmented && f->square_root == from->square_root &&
             f->plant.snapshot_size == from->plant.snapshot_size;
  for (size_t i = 0; i < f->n_augmented && same; i++)
    same = strcmp(f->augmented[i].name, from->augmented[i].name) == 0;
  if (!same) return BRAMAH_E_ARGUMENT;
  unsigned char *plant = (unsigned char *)f->snapshot.step_start + plant_place(f);
  from->plant.save(from->plant.self, plant);
  f->plant.restore(f->plant.self, plant);
  memcpy(f->mean, from->mean, (f->n - f->n_plant) * sizeof(double));
  memcpy(f->P, from->P, square_size(f));
  if (f->square_root) memcpy(f->S, from->S, square_size(f));
  bramah__clear_correction(f);
  f->progress.has_last = 0;
  f->n_foreign = 2;
  return BRAMAH_OK;
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
