/* SPDX-License-Identifier: MIT */
/* Prediction: the plant makes its step, the covariance follows (dissertation 3.1-3.4); and the process noise
 * as users state it (3.18). */
#include "estimators/filter_internal.h"
#include "estimators/update.h"
#include "lib/base/diag.h"
#include "lib/math/dense.h"

#include <math.h>
#include <string.h>

static double square(double x) { return x * x; }

/* ---- noise and initial uncertainty, in the coordinates of the user ---- */

void bramah__process_noise_layout(const bramah_plant *plant, bramah__arena *arena,
                                  bramah__process_noise *fields)
{
  const size_t nf = plant->n_dof, np = plant->n_first_order, ne = bramah_plant_n_error(plant);
  fields->n_dof = nf;
  fields->n_first_order = np;
  BRAMAH__PROCESS_NOISE_ARRAYS(BRAMAH__FIELD_TAKE)
}

bramah_status bramah__process_noise_refresh(const bramah_plant *plant, bramah__process_noise *noise,
                                            bramah_diag *diag)
{
  const size_t nf = noise->n_dof;
  /* B: rows by the error state of what standard deviations of the basis mean */
  for (size_t r = 0; r < nf; r++) {
    const size_t output = noise->basis[r];
    bramah_status status = BRAMAH_E_UNSUPPORTED;
    if (plant->noise_row) status = plant->noise_row(plant->self, output, noise->row);
    if (status == BRAMAH_E_UNSUPPORTED)
      status = bramah__plant_output_row(plant, output, noise->row, noise->snap, noise->dx, diag);
    if (status != BRAMAH_OK) return status;
    if (memcmp(noise->B + r * nf, noise->row, nf * sizeof(double)) == 0) continue;
    memcpy(noise->B + r * nf, noise->row, nf * sizeof(double));
    noise->is_inverted = 0;
  }
  if (noise->is_inverted) return BRAMAH_OK;

  memcpy(noise->LU, noise->B, nf * nf * sizeof(double));
  if (bramah__lu_factor(nf, noise->LU, noise->pivot))
    return bramah__fail(diag, BRAMAH_E_SINGULAR, "basis",
                        "the coordinates in which the noise is given do not determine the motion here");
  for (size_t k = 0; k < nf; k++) {
    for (size_t r = 0; r < nf; r++) noise->column[r] = r == k ? 1.0 : 0.0;
    bramah__lu_solve(nf, noise->LU, noise->pivot, noise->column);
    for (size_t r = 0; r < nf; r++) noise->B_inverse[r * nf + k] = noise->column[r];
  }
  noise->is_inverted = 1;
  return BRAMAH_OK;
}

/* n standard deviations of the error states from `first` on; NULL: nothing to check. */
static bramah_status check_sigmas(const bramah_plant *plant, size_t first, size_t n, const double *sigma,
                                  int zero_allowed, const char *what, bramah_diag *diag)
{
  for (size_t i = 0; i < n && sigma; i++) {
    if (isfinite(sigma[i]) && (sigma[i] > 0.0 || (zero_allowed && sigma[i] == 0.0))) continue;
    bramah__fail(diag, BRAMAH_E_VALUE, bramah__plant_state_name(plant, first + i), what);
    bramah__add_text(diag, zero_allowed ? " must not be negative" : " must be positive");
    return BRAMAH_E_VALUE;
  }
  return BRAMAH_OK;
}

bramah_status bramah__process_noise_set(const bramah_plant *plant, const double *acceleration,
                                        const double *first_order, bramah__process_noise *noise,
                                        bramah_diag *diag)
{
  const size_t nf = noise->n_dof, np = noise->n_first_order;
  bramah_status status = check_sigmas(plant, nf, nf, acceleration, 1, "the acceleration noise", diag);
  if (status == BRAMAH_OK)
    status = check_sigmas(plant, 2 * nf, np, first_order, 1, "the process noise", diag);
  if (status != BRAMAH_OK) return status;
  if (acceleration) memcpy(noise->acceleration, acceleration, nf * sizeof(double));
  if (first_order && np) memcpy(noise->first_order, first_order, np * sizeof(double));
  return BRAMAH_OK;
}

bramah_status bramah__process_noise_take(const bramah_plant *plant, const bramah_filter_options *o,
                                         bramah__process_noise *noise, bramah_diag *diag)
{
  const size_t nf = noise->n_dof, np = noise->n_first_order;
  bramah_status status = check_sigmas(plant, 0, nf, o->position_sigma, 0,
                                      "the initial standard deviation of the position", diag);
  if (status == BRAMAH_OK)
    status =
        check_sigmas(plant, nf, nf, o->rate_sigma, 0, "the initial standard deviation of the rate", diag);
  if (status == BRAMAH_OK)
    status = check_sigmas(plant, 2 * nf, np, o->first_order_sigma, 0, "the initial standard deviation", diag);
  if (status == BRAMAH_OK)
    status = bramah__process_noise_set(plant, o->acceleration_noise, o->first_order_noise, noise, diag);
  if (status != BRAMAH_OK) return status;

  /* the basis asked for, or the coordinates that are independent now, by their names */
  for (size_t r = 0; r < nf; r++) {
    const char *name = bramah__plant_state_name(plant, r);
    const long own = o->basis ? (long)o->basis[r] : bramah_plant_find_output(plant, name);
    if (own < 0 || (size_t)own >= plant->n_output)
      return bramah__fail(diag, BRAMAH_E_REFERENCE, name, "the plant has no position output of this name");
    bramah_output_info position;
    bramah_plant_output_info(plant, (size_t)own, &position);
    if (position.kind != BRAMAH_OUTPUT_POSITION)
      return bramah__fail(diag, BRAMAH_E_VALUE, position.name, "the basis must name positions");
    noise->basis[r] = (size_t)own;
  }
  return bramah__process_noise_refresh(plant, noise, diag);
}

void bramah__process_noise_covariance(const bramah__process_noise *noise,
                                      const bramah_filter_options *options, size_t n, double *P)
{
  const size_t nf = noise->n_dof;
  const double *sigma[2] = {options->position_sigma, options->rate_sigma};
  memset(P, 0, n * n * sizeof *P);
  for (size_t block = 0; block < 2; block++)
    for (size_t r = 0; r < nf; r++)
      for (size_t k = 0; k < nf; k++) {
        double sum = 0.0;
        for (size_t b = 0; b < nf; b++)
          sum += noise->B_inverse[r * nf + b] * square(sigma[block][b]) * noise->B_inverse[k * nf + b];
        P[(block * nf + r) * n + block * nf + k] = sum;
      }
  for (size_t i = 0; i < noise->n_first_order; i++) {
    const size_t k = 2 * nf + i;
    P[k * n + k] = square(options->first_order_sigma[i]);
  }
}

/* White noise on an acceleration makes [h^3/3, h^2/2; h^2/2, h] of position and rate, whose factor is
 * [sqrt(h^3/3), 0; sqrt(3 h)/2, sqrt(h)/2]. */
void bramah__process_noise_columns(const bramah__process_noise *noise, double h, size_t nq, double *Gamma)
{
  const size_t nf = noise->n_dof;
  const double l11 = sqrt(h * h * h / 3.0), l21 = 0.5 * sqrt(3.0 * h), l22 = 0.5 * sqrt(h);
  for (size_t b = 0; b < nf; b++)
    for (size_t r = 0; r < nf; r++) {
      const double g = noise->B_inverse[r * nf + b] * noise->acceleration[b];
      Gamma[r * nq + 2 * b] = l11 * g;
      Gamma[(nf + r) * nq + 2 * b] = l21 * g;
      Gamma[(nf + r) * nq + 2 * b + 1] = l22 * g;
    }
  for (size_t i = 0; i < noise->n_first_order; i++)
    Gamma[(2 * nf + i) * nq + 2 * nf + i] = noise->first_order[i] * sqrt(h);
}

/* ---- transition and step ---- */

/* The transition of the papers (D 3.4), made of the derivatives of the independent accelerations; then the
 * step. */
static bramah_status kinematic_step(bramah_filter *f, bramah_diag *diag)
{
  const bramah_plant *plant = &f->plant;
  bramah_status status;
  if (f->transition == BRAMAH_TRANSITION_KINEMATIC_EXACT) {
    status = plant->acceleration_derivative(plant->self, f->work.A, f->n_par, f->par, f->work.Ap, diag);
  } else {
    double *zdd = f->work.zdd, *moved = zdd + f->n_dof;
    status = bramah__plant_acceleration_jacobian(plant, f->work.A, f->work.row_snap, f->work.dx, zdd, diag);
    if (status == BRAMAH_OK && f->n_par) status = plant->accelerations(plant->self, zdd, diag);
    for (size_t j = 0; j < f->n_par && status == BRAMAH_OK; j++) {
      const double value = plant->parameter(plant->self, f->par[j]);
      plant->save(plant->self, f->work.row_snap);
      status = plant->set_parameter(plant->self, f->par[j], value + f->par_step[j], diag);
      if (status == BRAMAH_OK) status = plant->accelerations(plant->self, moved, diag);
      for (size_t r = 0; r < f->n_dof; r++)
        f->work.Ap[r * f->n_par + j] = (moved[r] - zdd[r]) / f->par_step[j];
      plant->restore(plant->self, f->work.row_snap);
    }
  }
  if (status != BRAMAH_OK) return status;
  bramah__kinematic_transition(f->n_dof, f->n_first_order, bramah__step_seconds(f), f->work.A, f->work.Fe);
  bramah__kinematic_parameters(f->n_dof, f->n_first_order, f->n_par, bramah__step_seconds(f), f->work.Ap,
                               f->work.G);
  return plant->step(plant->self, diag);
}

/* Derivative of the step by differences of whole steps: where the plant comes out, x [ne]. */
static bramah_status step_from(bramah_filter *f, double *x, bramah_diag *diag)
{
  const bramah_status status = f->plant.step(f->plant.self, diag);
  bramah_plant_coordinates(&f->plant, x);
  return status;
}

static bramah_status displaced_step(bramah_filter *f, size_t k, double by, double *x, bramah_diag *diag)
{
  memset(f->work.dx, 0, f->n_plant * sizeof(double));
  f->work.dx[k] = by;
  f->plant.restore(f->plant.self, f->work.snap);
  const bramah_status status = f->plant.inject(f->plant.self, f->work.dx, diag);
  return status == BRAMAH_OK ? step_from(f, x, diag) : status;
}

/* Derivative of the step from here by the parameters, G [n_plant x n_par]; the plant is where it was afterwards. */
static bramah_status differenced_parameters(bramah_filter *f, double *G, bramah_diag *diag)
{
  const bramah_plant *plant = &f->plant;
  double *above = f->work.coordinates, *below = above + f->n_plant;
  bramah_status status = BRAMAH_OK;
  plant->save(plant->self, f->work.snap);
  for (size_t j = 0; j < f->n_par && status == BRAMAH_OK; j++) {
    const double value = plant->parameter(plant->self, f->par[j]);
    for (int side = 0; side < 2 && status == BRAMAH_OK; side++) {
      const double by = side ? f->par_step[j] : -f->par_step[j];
      status = plant->set_parameter(plant->self, f->par[j], value + by, diag);
      if (status == BRAMAH_OK) status = step_from(f, side ? above : below, diag);
      plant->restore(plant->self, f->work.snap);
    }
    bramah__plant_subtract(plant, above, below, above);
    for (size_t r = 0; r < f->n_plant; r++) G[r * f->n_par + j] = above[r] / (2.0 * f->par_step[j]);
  }
  return status;
}

/* Fe by the states and G by the parameters, then the step itself. */
static bramah_status differenced_step(bramah_filter *f, bramah_diag *diag)
{
  const bramah_plant *plant = &f->plant;
  double *above = f->work.coordinates, *below = above + f->n_plant;
  bramah_status status = BRAMAH_OK;
  plant->save(plant->self, f->work.snap);
  for (size_t k = 0; k < f->n_plant && status == BRAMAH_OK; k++) {
    const double by = bramah__plant_difference_step(plant, k);
    status = displaced_step(f, k, by, above, diag);
    if (status == BRAMAH_OK) status = displaced_step(f, k, -by, below, diag);
    bramah__plant_subtract(plant, above, below, above);
    for (size_t r = 0; r < f->n_plant; r++) f->work.Fe[r * f->n_plant + k] = above[r] / (2.0 * by);
  }
  plant->restore(plant->self, f->work.snap);
  if (status == BRAMAH_OK) status = differenced_parameters(f, f->work.G, diag);
  return status == BRAMAH_OK ? plant->step(plant->self, diag) : status;
}

/* What parameters do to the step from where the estimate might be as well (see augmented.c); NaN where that fails. */
static void derive_displaced(bramah_filter *f)
{
  const bramah_plant *plant = &f->plant;
  if (!bramah__augmented_displace(f)) return;
  if (plant->step_transition && plant->displaced_parameters) {
    if (plant->displaced_parameters(plant->self, f->work.dx, f->n_par, f->par, f->work.displaced, NULL) !=
        BRAMAH_OK)
      f->work.displaced[0] = NAN;
    return;
  }
  plant->save(plant->self, f->work.row_snap);
  bramah_status status = plant->inject(plant->self, f->work.dx, NULL);
  if (status == BRAMAH_OK)
    status = plant->step_transition ? plant->step_transition(plant->self, f->work.Fe, NULL, f->n_par, f->par,
                                                             f->work.displaced, NULL)
                                    : differenced_parameters(f, f->work.displaced, NULL);
  if (status != BRAMAH_OK || (plant->basis_change && plant->basis_change(plant->self, f->work.T)))
    f->work.displaced[0] = NAN;
  plant->restore(plant->self, f->work.row_snap);
}

/* Gamma of the step whose N and G are in the filter: what the user states, through the
 * resolvent where the plant has it; augmented states and noisy parameters. */
static void fill_noise(bramah_filter *f)
{
  const double h = bramah__step_seconds(f);
  const double of_rate = sqrt(h), of_position = sqrt(h * h * h / 12.0);
  const size_t nf = f->n_dof, np = f->n_first_order, nx = nf + np, nq = f->nq;
  for (size_t r = 0; r < f->n_plant && !f->resolvent; r++)
    memset(f->Gamma + r * nq, 0, f->n_plant * sizeof(double));
  if (!f->resolvent) bramah__process_noise_columns(&f->noise, h, nq, f->Gamma);
  for (size_t b = 0; b < nf && f->resolvent; b++) {
    /* White noise on accelerations through the resolvent gives positions h^3/4; the h^3/12 that it misses of
     * their h^3/3 follows. */
    const double *inverse = f->noise.B_inverse + b, acceleration = f->noise.acceleration[b];
    double *column = f->Gamma + 2 * b;
    for (size_t r = 0; r < f->n_plant; r++) {
      double sum = 0.0;
      for (size_t k = 0; k < nf; k++) sum += f->work.N[r * nx + k] * inverse[k * nf];
      column[r * nq] = of_rate * sum * acceleration;
    }
    for (size_t r = 0; r < nf; r++) column[r * nq + 1] = of_position * inverse[r * nf] * acceleration;
  }
  for (size_t i = 0; i < np && f->resolvent; i++) {
    const double *shown = f->work.N + nf + i, by = of_rate * f->noise.first_order[i];
    double *column = f->Gamma + 2 * nf + i;
    for (size_t r = 0; r < f->n_plant; r++) column[r * nq] = by * shown[r * nx];
  }
  bramah__augmented_noise(f);
}

/* ---- covariance ---- */

/* S = lower root of [A S, Gamma] [A S, Gamma]', of Gamma the first q columns: all or none. */
static void map_root(bramah_filter *f, const double *A, size_t q)
{
  const size_t n = f->n;
  bramah__multiply(n, n, n, A, f->S, f->work.square);
  for (size_t r = 0; r < n; r++) {
    memcpy(f->work.wide + r * (n + q), f->work.square + r * n, n * sizeof(double));
    memcpy(f->work.wide + r * (n + q) + n, f->Gamma + r * f->nq, q * sizeof(double));
  }
  bramah__lower_root(n, n + q, f->work.wide, f->S);
  bramah__refresh_covariance(f);
}

/* The plant has other independent coordinates from now on: P = T P T', F = T F, Gamma = T Gamma. */
static void follow_basis_change(bramah_filter *f)
{
  const size_t n = f->n, ne = f->n_plant;
  double *whole = f->work.T_whole;
  memset(whole, 0, n * n * sizeof(double));
  for (size_t r = 0; r < ne; r++) memcpy(whole + r * n, f->work.T + r * ne, ne * sizeof(double));
  for (size_t k = ne; k < n; k++) whole[k * n + k] = 1.0;
  if (f->square_root)
    map_root(f, whole, 0);
  else
    bramah__propagate(n, whole, f->P, f->work.wide);
  if (f->n_causes) bramah__scores_rebase(f, whole);
  bramah__multiply(n, n, n, whole, f->F, f->work.wide);
  memcpy(f->F, f->work.wide, n * n * sizeof(double));
  bramah__multiply(n, n, f->nq, whole, f->Gamma, f->work.wide);
  memcpy(f->Gamma, f->work.wide, n * f->nq * sizeof(double));
}

/* ---- a step ---- */

static bramah_status begin_step(bramah_filter *f, bramah_diag *diag)
{
  bramah__keep(f, f->snapshot.step_start);
  bramah__swap_matrices(f);
  if (f->n_phases) bramah__phases_decide(f);
  const bramah_status status = bramah__process_noise_refresh(&f->plant, &f->noise, diag);
  if (status != BRAMAH_OK) return status;
  if (f->n_causes) bramah__scores_start_step(f);
  bramah__augmented_start_step(f);
  if (f->transition == BRAMAH_TRANSITION_STEP) {
    bramah__augmented_spread(f);
    derive_displaced(f);
    bramah__kinks_start(f);
  }
  return BRAMAH_OK;
}

/* The plant, and the derivative of its step. */
static bramah_status step_plant(bramah_filter *f, bramah_diag *diag)
{
  const bramah_plant *plant = &f->plant;
  if (f->transition != BRAMAH_TRANSITION_STEP) return kinematic_step(f, diag);
  if (!plant->step_transition) return differenced_step(f, diag);
  return plant->step_transition(plant->self, f->work.Fe, f->resolvent ? f->work.N : NULL, f->n_par, f->par,
                                f->work.G, diag);
}

/* All else follows, into F and Gamma. */
static bramah_status follow_plant(bramah_filter *f, bramah_diag *diag)
{
  const bramah_plant *plant = &f->plant;
  const size_t n = f->n, ne = f->n_plant;
  f->progress.rebased = plant->basis_change && plant->basis_change(plant->self, f->work.T); /* told once */
  if (f->transition == BRAMAH_TRANSITION_STEP) {
    bramah__augmented_compare(f);
    bramah__augmented_use_spread(f);
    const bramah_status status = bramah__kinks_end(f, diag);
    if (status != BRAMAH_OK) return status;
  }
  if (f->n_foreign) {
    memset(f->F, 0, n * n * sizeof(double));
    memset(f->Gamma, 0, n * f->nq * sizeof(double));
  }
  if (n == ne) memcpy(f->F, f->work.Fe, n * n * sizeof(double));
  for (size_t r = 0; r < ne && n > ne; r++) memcpy(f->F + r * n, f->work.Fe + r * ne, ne * sizeof(double));
  bramah__augmented_transition(f);

  /* the covariance, in the coordinates after the step */
  fill_noise(f);
  if (f->square_root)
    map_root(f, f->F, f->nq);
  else
    bramah__kernel_propagate(&f->shape, f->F, f->Gamma, f->P, f->work.wide);
  if (f->n_causes) bramah__scores_predict(f);
  if (f->progress.rebased) follow_basis_change(f);

  const bramah_status status = bramah__augmented_advance(f, diag);
  return status == BRAMAH_OK ? bramah__check_covariance(f, diag) : status;
}

static bramah_status end_step(bramah_filter *f, bramah_status status, bramah_diag *diag)
{
  if (status == BRAMAH_OK) status = follow_plant(f, diag);
  if (status != BRAMAH_OK) {
    bramah__swap_matrices(f);
    bramah__take_back(f, f->snapshot.step_start, 1);
    bramah__clear_correction(f);
    return status;
  }
  void *const last = f->snapshot.step_start;
  f->snapshot.step_start = f->snapshot.previous_step;
  f->snapshot.previous_step = last;
  memset(f->accumulated_correction, 0, f->n * sizeof(double));
  f->progress.has_last = 1;
  f->n_foreign -= f->n_foreign > 0;
  f->progress.time_ns += f->plant.step_ns;
  f->progress.report.predictions++;
  bramah__phases_count_step(f);
  return BRAMAH_OK;
}

bramah_status bramah_filter_predict(bramah_filter *f, bramah_diag *diag)
{
  bramah_status status = begin_step(f, diag);
  if (status == BRAMAH_OK) status = step_plant(f, diag);
  return end_step(f, status, diag);
}
