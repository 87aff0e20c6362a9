/* SPDX-License-Identifier: MIT */
#include "test/support/ukf.h"
#include "estimators/filter_internal.h"
#include "estimators/update.h"
#include "lib/base/diag.h"
#include "lib/math/dense.h"
#include "sensors/kinds.h"

#include <math.h>
#include <string.h>

/* Points: the central one, then one on each side of it along each column of the root of P. */
#define UKF_ARRAYS(ARRAY)                                                                                    \
  ARRAY(bramah_sensor, sensor, ns)                                                                           \
  ARRAY(bramah_innovation, innovation, ns)                                                                   \
  ARRAY(double, P, n *n)                                                                                     \
  ARRAY(double, P_before, n *n)                                                                              \
  ARRAY(double, root, n *n)                                                                                  \
  ARRAY(double, Q, n *n)                                                                                     \
  ARRAY(double, T, n *n)                                                                                     \
  ARRAY(double, work, n *n)                                                                                  \
  ARRAY(double, X, points *n, "coordinates, then their differences")                                         \
  ARRAY(double, x, n)                                                                                        \
  ARRAY(double, dx, n)                                                                                       \
  ARRAY(double, scale, n + ns)                                                                               \
  ARRAY(double, Y, points *ns)                                                                               \
  ARRAY(double, S, ns *ns)                                                                                   \
  ARRAY(double, K, n *ns, "Kalman gain")                                                                     \
  ARRAY(double, cross, n *ns)                                                                                \
  ARRAY(double, y, ns)                                                                                       \
  ARRAY(size_t, used, ns, "indices of those present")                                                        \
  ARRAY(size_t, output, n, "outputs that are the present coordinates; n_output: none")                       \
  ARRAY(unsigned char, changed, points, "went over to other coordinates in the last step")                   \
  ARRAY(unsigned char, before, plant->snapshot_size)                                                         \
  ARRAY(unsigned char, start, plant->snapshot_size)                                                          \
  ARRAY(unsigned char, centre, plant->snapshot_size)                                                         \
  ARRAY(unsigned char, row_snap, plant->snapshot_size)                                                       \
  ARRAY(double, row, n)                                                                                      \
  ARRAY(double, row_dx, n)

struct bramah_ukf {
  bramah_plant plant;
  size_t n, n_sensors, n_points;
  bramah__process_noise noise;
  double reach, weight, central; /* sqrt(n + lambda); of a point; of the central point in covariances */
  UKF_ARRAYS(BRAMAH__FIELD_MEMBER)
  double nis;
  size_t nis_dof;
  int64_t time_ns;
};

static bramah_ukf *layout(const bramah_plant *plant, size_t ns, bramah__arena *arena)
{
  const size_t n = bramah_plant_n_error(plant), points = 2 * n + 1;
  bramah_ukf *object = BRAMAH__TAKE(arena, bramah_ukf, 1), counted = {0};
  bramah_ukf *fields = object ? object : &counted;
  fields->plant = bramah__plant_copy(plant);
  fields->n = n;
  fields->n_sensors = ns;
  fields->n_points = points;
  bramah__process_noise_layout(plant, arena, &fields->noise);
  UKF_ARRAYS(BRAMAH__FIELD_TAKE)
  return object;
}

void bramah_ukf_options_default(bramah_ukf_options *options)
{
  *options = (bramah_ukf_options){.alpha = 0.6, .beta = 2.0, .kappa = 0.0};
}

/* Outputs that bear the names of the present coordinates. */
static void find_outputs(bramah_ukf *u)
{
  for (size_t i = 0; i < u->n; i++) {
    const long own = bramah_plant_find_output(&u->plant, bramah__plant_state_name(&u->plant, i));
    u->output[i] = own < 0 ? u->plant.n_output : (size_t)own;
  }
}

/* ---- making and releasing ---- */

/* What would change the estimate and is not there must not pass for done. */
static bramah_status check_options(const bramah_ukf *u, const bramah_filter_options *o,
                                   const bramah_ukf_options *w, bramah_diag *diag)
{
  const double spread = w->alpha * w->alpha * ((double)u->n + w->kappa);
  const char *message = o->n_augmented         ? "it has no augmented states"
                        : o->n_parameter_noise ? "it knows no noise of parameters"
                                               : NULL;
  for (size_t i = 0; !message && o->gate && i < u->n_sensors; i++)
    if (o->gate[i] != 0.0) message = "it has no gates";
  if (message) return bramah__fail(diag, BRAMAH_E_UNSUPPORTED, "unscented", message);
  if (!(w->alpha > 0.0) || !(spread > 0.0) || !isfinite(spread) || !isfinite(w->beta))
    return bramah__fail(diag, BRAMAH_E_VALUE, "unscented",
                        "alpha must be positive, kappa greater than -n, beta finite");
  return BRAMAH_OK;
}

bramah_status bramah_ukf_new(const bramah_plant *plant, size_t n_sensors, const bramah_sensor *sensors,
                             const bramah_filter_options *options, const bramah_ukf_options *unscented,
                             bramah_diag *diag, bramah_ukf **out)
{
  bramah_status status = bramah__plant_check(plant, diag);
  if (status != BRAMAH_OK) return status;
  bramah__arena arena = bramah__arena_make(NULL, 0);
  layout(plant, n_sensors, &arena);
  status = bramah__arena_new("unscented", arena.used, &arena, diag);
  if (status != BRAMAH_OK) return status;
  bramah_ukf *u = layout(plant, n_sensors, &arena);
  if (n_sensors) memcpy(u->sensor, sensors, n_sensors * sizeof *sensors);

  bramah_ukf_options o;
  bramah_ukf_options_default(&o);
  if (unscented) o = *unscented;
  status = check_options(u, options, &o, diag);
  if (status == BRAMAH_OK) status = bramah__process_noise_take(&u->plant, options, &u->noise, diag);
  if (status == BRAMAH_OK) bramah__process_noise_covariance(&u->noise, options, u->n, u->P);
  if (status == BRAMAH_OK && !bramah_plant_coordinates(&u->plant, u->x))
    status = bramah__fail(diag, BRAMAH_E_UNSUPPORTED, "unscented", "the plant does not tell its coordinates");
  if (status != BRAMAH_OK) {
    bramah__aligned_free(u);
    return status;
  }

  const double n = (double)u->n, spread = o.alpha * o.alpha * (n + o.kappa); /* n + lambda */
  u->reach = sqrt(spread);
  u->weight = 0.5 / spread;
  u->central = (spread - n) / spread + 1.0 - o.alpha * o.alpha + o.beta;
  find_outputs(u);
  *out = u;
  return BRAMAH_OK;
}

void bramah_ukf_free(bramah_ukf *ukf) { bramah__aligned_free(ukf); }

/* ---- sigma points ---- */

static bramah_status fail_state(const bramah_ukf *u, size_t i, const char *message, bramah_diag *diag)
{
  return bramah__fail(diag, BRAMAH_E_NOT_SPD, bramah__plant_state_name(&u->plant, i), message);
}

static bramah_status check_covariance(const bramah_ukf *u, bramah_diag *diag)
{
  const size_t bad = bramah__bad_variance(u->n, u->P);
  return bad < u->n ? fail_state(u, bad, "the variance of this state is not positive", diag) : BRAMAH_OK;
}

/* root = reach times the lower Cholesky factor of P, by way of the correlations: variances span many
 * decades. */
static bramah_status draw(bramah_ukf *u, bramah_diag *diag)
{
  const size_t n = u->n;
  const bramah_status status = check_covariance(u, diag);
  if (status != BRAMAH_OK) return status;
  for (size_t i = 0; i < n; i++) u->scale[i] = sqrt(u->P[i * n + i]);
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j < n; j++) u->root[i * n + j] = u->P[i * n + j] / (u->scale[i] * u->scale[j]);
  const size_t row = bramah__cholesky_factor(n, u->root);
  if (row) return fail_state(u, row - 1, "the covariance is not positive definite", diag);
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j < n; j++) u->root[i * n + j] *= j <= i ? u->reach * u->scale[i] : 0.0;
  return BRAMAH_OK;
}

/* Displacement of point k >= 1. */
static void offset(const bramah_ukf *u, size_t k, double *dx)
{
  const double sign = k % 2 ? 1.0 : -1.0;
  for (size_t i = 0; i < u->n; i++) dx[i] = sign * u->root[i * u->n + (k - 1) / 2];
}

static bramah_status name_point(const bramah_ukf *u, size_t k, bramah_status status, bramah_diag *diag)
{
  bramah__add_text(diag, " (sigma point of ");
  bramah__add_text(diag, bramah__plant_state_name(&u->plant, (k - 1) / 2));
  bramah__add_text(diag, ")");
  return status;
}

static void keep(bramah_ukf *u)
{
  memcpy(u->P_before, u->P, u->n * u->n * sizeof(double));
  u->plant.save(u->plant.self, u->before);
}

static bramah_status go_back(bramah_ukf *u, bramah_status status)
{
  memcpy(u->P, u->P_before, u->n * u->n * sizeof(double));
  u->plant.restore(u->plant.self, u->before);
  find_outputs(u);
  return status;
}

/* Move the plant by dx, unless there is nothing to move: inject starts rates anew. */
static bramah_status move(bramah_ukf *u, const double *dx, bramah_diag *diag)
{
  int any = 0;
  for (size_t i = 0; i < u->n; i++) any |= dx[i] != 0.0;
  return any ? u->plant.inject(u->plant.self, dx, diag) : BRAMAH_OK;
}

/* ---- prediction ---- */

/* Where the points come out of the step, the centre first. One that changed its coordinates, or did not with
 * the centre, cannot be read by them but by the outputs that they are, if they are. */
static bramah_status step_points(bramah_ukf *u, bramah_diag *diag)
{
  const bramah_plant *plant = &u->plant;
  plant->save(plant->self, u->start);
  bramah_status status = plant->step(plant->self, diag);
  if (status != BRAMAH_OK) return status;
  u->changed[0] = plant->basis_change ? plant->basis_change(plant->self, u->T) != 0 : 0;
  if (u->changed[0]) find_outputs(u);
  plant->save(plant->self, u->centre);
  bramah_plant_coordinates(plant, u->x);
  memcpy(u->X, u->x, u->n * sizeof(double));

  int readable = 1;
  for (size_t i = 0; i < u->n; i++)
    readable &= u->output[i] != plant->n_output && plant->output(plant->self, u->output[i]) == u->x[i];

  for (size_t k = 1; k < u->n_points; k++) {
    double *x = u->X + k * u->n;
    plant->restore(plant->self, u->start);
    offset(u, k, u->dx);
    status = plant->inject(plant->self, u->dx, diag);
    if (status == BRAMAH_OK) status = plant->step(plant->self, diag);
    if (status != BRAMAH_OK) return name_point(u, k, status, diag);
    u->changed[k] = plant->basis_change ? plant->basis_change(plant->self, u->work) != 0 : 0;
    if (!u->changed[0] && !u->changed[k])
      bramah_plant_coordinates(plant, x);
    else if (readable)
      for (size_t i = 0; i < u->n; i++) x[i] = plant->output(plant->self, u->output[i]);
    else
      return bramah__fail(diag, BRAMAH_E_UNSUPPORTED, bramah__plant_state_name(plant, (k - 1) / 2),
                          "the plant goes over to coordinates here that are not outputs: sigma points "
                          "cannot be compared");
  }
  return BRAMAH_OK;
}

/* u->dx = mean minus central point; P of the differences X from the mean, and of the noise of the step. */
static void take_mean_and_covariance(bramah_ukf *u)
{
  const size_t n = u->n;
  for (size_t k = 0; k < u->n_points; k++)
    bramah__plant_subtract(&u->plant, u->X + k * n, u->x, u->X + k * n);
  for (size_t i = 0; i < n; i++) {
    double sum = 0.0;
    for (size_t k = 1; k < u->n_points; k++) sum += u->X[k * n + i];
    u->dx[i] = u->weight * sum;
    for (size_t k = 0; k < u->n_points; k++) u->X[k * n + i] -= u->dx[i];
  }
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j <= i; j++) {
      double sum = 0.0;
      for (size_t k = 1; k < u->n_points; k++) sum += u->X[k * n + i] * u->X[k * n + j];
      u->P[i * n + j] = u->P[j * n + i] = u->weight * sum + u->central * u->X[i] * u->X[j];
    }

  /* process noise, stated before the step, in the coordinates after it */
  memset(u->Q, 0, n * n * sizeof(double));
  memset(u->work, 0, n * n * sizeof(double));
  bramah__process_noise_columns(&u->noise, (double)u->plant.step_ns * 1e-9, n, u->work);
  bramah__add_outer(n, n, u->work, u->Q);
  if (u->changed[0]) bramah__propagate(n, u->T, u->Q, u->work);
  for (size_t i = 0; i < n * n; i++) u->P[i] += u->Q[i];
}

bramah_status bramah_ukf_predict(bramah_ukf *ukf, bramah_diag *diag)
{
  bramah_ukf *u = ukf;
  keep(u);
  bramah_status status = draw(u, diag);
  if (status == BRAMAH_OK) status = bramah__process_noise_refresh(&u->plant, &u->noise, diag);
  if (status == BRAMAH_OK) status = step_points(u, diag);
  if (status == BRAMAH_OK) {
    take_mean_and_covariance(u);
    u->plant.restore(u->plant.self, u->centre);
    status = move(u, u->dx, diag);
  }
  if (status == BRAMAH_OK) status = check_covariance(u, diag);
  if (status != BRAMAH_OK) return go_back(u, status);
  u->time_ns += u->plant.step_ns;
  return BRAMAH_OK;
}

bramah_status bramah_ukf_set_inputs(bramah_ukf *ukf, const double *u, bramah_diag *diag)
{
  return ukf->plant.set_inputs(ukf->plant.self, u, diag);
}

/* ---- correction ---- */

/* Innovations of the present sensors and their moments: S of the innovations, `cross` of states and
 * innovations. */
static bramah_status innovate(bramah_ukf *u, size_t m, const double *measured, bramah_diag *diag)
{
  /* Y: what the sensors show in each point beyond what they show in the centre */
  const bramah_plant *plant = &u->plant;
  plant->save(plant->self, u->centre);
  for (size_t a = 0; a < m; a++) u->Y[a] = bramah_sensor_predict(&u->sensor[u->used[a]], plant);
  for (size_t k = 1; k < u->n_points; k++) {
    plant->restore(plant->self, u->centre);
    offset(u, k, u->dx);
    memcpy(u->X + k * u->n, u->dx, u->n * sizeof(double));
    const bramah_status status = plant->inject(plant->self, u->dx, diag);
    if (status != BRAMAH_OK) return name_point(u, k, status, diag);
    for (size_t a = 0; a < m; a++) {
      const bramah_sensor *sensor = &u->sensor[u->used[a]];
      u->Y[k * m + a] = bramah__sensor_innovation(sensor, bramah_sensor_predict(sensor, plant), u->Y[a]);
    }
  }
  plant->restore(plant->self, u->centre);

  /* y against the mean of the points, Y the differences from that mean */
  for (size_t a = 0; a < m; a++) {
    double mean = 0.0;
    for (size_t k = 1; k < u->n_points; k++) mean += u->weight * u->Y[k * m + a];
    u->y[a] = bramah__sensor_innovation(&u->sensor[u->used[a]], measured[u->used[a]], u->Y[a] + mean);
    u->Y[a] = 0.0;
    for (size_t k = 0; k < u->n_points; k++) u->Y[k * m + a] -= mean;
  }

  for (size_t a = 0; a < m; a++) {
    const double noise = bramah_sensor_variance(&u->sensor[u->used[a]]);
    for (size_t b = 0; b < m; b++) {
      double sum = 0.0;
      for (size_t k = 1; k < u->n_points; k++) sum += u->Y[k * m + a] * u->Y[k * m + b];
      u->S[a * m + b] = u->weight * sum + u->central * u->Y[a] * u->Y[b] + (a == b ? noise : 0.0);
    }
    for (size_t i = 0; i < u->n; i++) {
      double sum = 0.0;
      for (size_t k = 1; k < u->n_points; k++) sum += u->X[k * u->n + i] * u->Y[k * m + a];
      u->cross[i * m + a] = u->weight * sum;
    }
  }

  for (size_t a = 0; a < m; a++) {
    const double S = u->S[a * m + a], nis = u->y[a] * u->y[a] / S;
    u->innovation[u->used[a]] =
        (bramah_innovation){.present = 1, .accepted = 1, .innovation = u->y[a], .sigma = sqrt(S), .nis = nis};
    if (!(S > 0.0) || !isfinite(nis))
      return bramah__fail(diag, BRAMAH_E_NOT_SPD, u->sensor[u->used[a]].name,
                          "the variance of the innovation is not positive and finite");
  }
  return BRAMAH_OK;
}

/* K = cross S^-1 row by row and y' S^-1 y, through the correlations of the innovations. Overwrites S and Y. */
static bramah_status gain(bramah_ukf *u, size_t m, bramah_diag *diag)
{
  for (size_t a = 0; a < m; a++) u->scale[a] = sqrt(u->S[a * m + a]);
  for (size_t a = 0; a < m; a++)
    for (size_t b = 0; b < m; b++) u->S[a * m + b] /= u->scale[a] * u->scale[b];
  const size_t bad = bramah__cholesky_factor(m, u->S);
  if (bad)
    return bramah__fail(diag, BRAMAH_E_NOT_SPD, u->sensor[u->used[bad - 1]].name,
                        "the covariance of the innovations is not positive definite");
  for (size_t i = 0; i < u->n; i++) {
    double *row = u->K + i * m;
    for (size_t a = 0; a < m; a++) row[a] = u->cross[i * m + a] / u->scale[a];
    bramah__cholesky_solve(m, u->S, row);
    for (size_t a = 0; a < m; a++) row[a] /= u->scale[a];
  }

  double *z = u->Y;
  for (size_t a = 0; a < m; a++) z[a] = u->y[a] / u->scale[a];
  bramah__cholesky_solve(m, u->S, z);
  for (size_t a = 0; a < m; a++) u->nis += z[a] * u->y[a] / u->scale[a];
  u->nis_dof = m;
  return BRAMAH_OK;
}

static void clear_innovations(bramah_ukf *u)
{
  for (size_t i = 0; i < u->n_sensors; i++) {
    u->innovation[i] = (bramah_innovation){0};
    u->innovation[i].innovation = u->innovation[i].sigma = u->innovation[i].nis = NAN;
  }
  u->nis = 0.0;
  u->nis_dof = 0;
}

bramah_status bramah_ukf_correct(bramah_ukf *ukf, const double *y, const unsigned char *present,
                                 bramah_diag *diag)
{
  bramah_ukf *u = ukf;
  size_t m = 0;
  clear_innovations(u);
  for (size_t i = 0; i < u->n_sensors; i++) {
    if (!present[i]) continue;
    if (!isfinite(y[i]))
      return bramah__fail(diag, BRAMAH_E_NOT_FINITE, u->sensor[i].name,
                          "the measurement is not a finite number");
    u->innovation[i].present = u->innovation[i].saturated = bramah_sensor_is_saturated(&u->sensor[i], y[i]);
    if (!u->innovation[i].saturated) u->used[m++] = i;
  }
  if (m == 0) return BRAMAH_OK;

  const size_t n = u->n;
  keep(u);
  bramah_status status = draw(u, diag);
  if (status == BRAMAH_OK) status = innovate(u, m, y, diag);
  if (status == BRAMAH_OK) status = gain(u, m, diag);
  if (status == BRAMAH_OK) {
    bramah__apply(n, m, u->K, u->y, u->dx);
    bramah__multiply_transposed(n, m, n, u->K, u->cross, u->work);
    for (size_t i = 0; i < n * n; i++) u->P[i] -= u->work[i];
    bramah__symmetrise(n, u->P);
    status = check_covariance(u, diag);
  }
  if (status == BRAMAH_OK) status = move(u, u->dx, diag);
  if (status == BRAMAH_OK) return BRAMAH_OK;
  clear_innovations(u);
  return go_back(u, status);
}

/* ---- results ---- */

bramah_ukf_report bramah_ukf_get_report(const bramah_ukf *ukf)
{
  return (bramah_ukf_report){.time_ns = ukf->time_ns,
                             .innovation = ukf->innovation,
                             .nis = ukf->nis,
                             .nis_dof = ukf->nis_dof,
                             .covariance = ukf->P};
}

double bramah_ukf_output_sigma(bramah_ukf *ukf, size_t i)
{
  if (!bramah__row_of_output(&ukf->plant, i, ukf->row, ukf->row_snap, ukf->row_dx)) return NAN;
  return sqrt(bramah__variance(ukf->n, ukf->row, ukf->P));
}
