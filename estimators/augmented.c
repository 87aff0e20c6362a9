/* SPDX-License-Identifier: MIT */
/* Augmented states: parameters of the plant and errors of sensors as Gauss-Markov processes behind the error
 * state of the plant; and what sensors show with them. */
#include "estimators/filter_internal.h"
#include "lib/base/diag.h"
#include "sensors/kinds.h"
#include "lib/math/dense.h"
#include "lib/math/elementary.h"

#include <math.h>
#include <string.h>

size_t bramah__augmented_states(const bramah_filter_options *o)
{
  size_t n = 0;
  for (size_t i = 0; i < o->n_augmented; i++) n += o->augmented[i].order == 2 ? 2 : 1;
  return n;
}

static int oscillates(const bramah_augmented *a) { return a->frequency > 0.0 || a->signal_period > 0.0; }

/* Value and quadrature turn by so many cycles in a step h. */
static void turn(const bramah_augmented *a, double cycles, double h, bramah__augmented *own)
{
  const double e = a->time_constant > 0.0 ? bramah__exp(-h / a->time_constant) : 1.0;
  double s, c;
  bramah__sincos_any(6.283185307179586 * cycles, &s, &c);
  const double Phi[4] = {e * c, -e * s, e * s, e * c};
  memcpy(own->Phi, Phi, sizeof Phi);
}

/* Transition and noise over a step h of the shaping filter of white noise w of density `noise`: of order 1 x' =
 * -x/T + w; of order 2 critically damped, Phi = e^-s [1 + s, h; -s/T, 1 - s], s = h/T. Of a delay of order 2 what is of second
 * order in it, which does not move. */
static void shape(const bramah_augmented *a, double noise, double h, bramah__augmented *own)
{
  const double T = a->time_constant, s = T > 0.0 ? h / T : 0.0, e = bramah__exp(-s), q = noise * noise;
  if (a->order != 2 || oscillates(a) || a->kind == BRAMAH_AUGMENTED_DELAY) {
    own->Phi[0] = e, own->Phi[3] = 1.0;
    own->noise[0] = noise * (T > 0.0 ? sqrt(-0.5 * T * bramah__expm1(-2.0 * h / T)) : sqrt(h));
    if (oscillates(a)) own->noise[2] = own->noise[0], turn(a, a->frequency * h, h, own);
    return;
  }
  const double Phi[4] = {e * (1.0 + s), e * h, -e * s / T, e * (1.0 - s)};
  memcpy(own->Phi, Phi, sizeof Phi);

  /* The stationary covariance is diag(T^3, T) q/4, so the noise of a step is that less Phi times it times
   * Phi'. For short steps the difference loses its digits: the leading terms of the integral. */
  const double x = 0.25 * q * T * T * T, v = 0.25 * q * T;
  const int is_short = s < 1e-3;
  const double q11 = is_short ? q * h * h * h / 3.0 : x - (Phi[0] * Phi[0] * x + Phi[1] * Phi[1] * v);
  const double q12 = is_short ? q * h * h / 2.0 : -(Phi[0] * Phi[2] * x + Phi[1] * Phi[3] * v);
  const double q22 = is_short ? q * h : v - (Phi[2] * Phi[2] * x + Phi[3] * Phi[3] * v);
  own->noise[0] = sqrt(fmax(q11, 0.0));
  own->noise[1] = own->noise[0] > 0.0 ? q12 / own->noise[0] : 0.0;
  own->noise[2] = sqrt(fmax(q22 - own->noise[1] * own->noise[1], 0.0));
}

bramah_status bramah__augmented_target(const bramah_plant *plant, size_t n_sensors,
                                       const bramah_sensor *sensor, const bramah_augmented *a, size_t *out,
                                       bramah_diag *diag)
{
  const int of_sensor = a->kind != BRAMAH_AUGMENTED_PARAMETER;
  const size_t n = !a->at ? 0 : of_sensor ? n_sensors : plant->n_parameter;
  for (size_t i = 0; i < n; i++) {
    bramah_parameter_info info;
    if (!of_sensor) plant->parameter_info(plant->self, i, &info);
    if (strcmp(of_sensor ? sensor[i].name : info.name, a->at) == 0) return *out = i, BRAMAH_OK;
  }
  bramah__fail(diag, BRAMAH_E_REFERENCE, a->name,
               of_sensor ? "there is no sensor '" : "the plant has no parameter '");
  bramah__add_text(diag, a->at ? a->at : "");
  bramah__add_text(diag, "'");
  return BRAMAH_E_REFERENCE;
}

/* Root of the mean of (x^2 / 2 - x y)^2, x and y standard normal and independent. */
static const double second_order = 1.3228756555322954;

/* Augmented state i, the first of whose error states is `state`. */
static bramah_status take(bramah_filter *f, size_t i, size_t state, bramah_diag *diag)
{
  const bramah_augmented *a = &f->augmented[i];
  bramah__augmented *own = &f->self_state[i];
  const char *wrong = NULL;
  if (!(a->sigma > 0.0) || !isfinite(a->sigma))
    wrong = "the initial standard deviation must be positive";
  else if (!(a->noise >= 0.0) || !isfinite(a->noise))
    wrong = "the noise must not be negative";
  else if (!(a->frequency >= 0.0) || !(a->signal_period >= 0.0) ||
           !isfinite(a->frequency + a->signal_period) || (a->frequency > 0.0 && a->signal_period > 0.0) ||
           (oscillates(a) && a->order != 2))
    wrong = "an oscillation has a frequency or a signal period, and order 2";
  else if (a->signal_period > 0.0 && a->kind != BRAMAH_AUGMENTED_BIAS)
    wrong = "only a bias has a signal period";
  else if (!(a->time_constant >= 0.0) ||
           (a->order == 2 && a->time_constant == 0.0 && !oscillates(a) && a->kind != BRAMAH_AUGMENTED_DELAY))
    wrong = "the time constant must be positive";
  else if (!isfinite(a->time_constant))
    wrong = "the time constant must be finite; of a random walk it is 0";
  else if (a->order < 0 || a->order > 2)
    wrong = "the order must be 1 or 2";
  else if ((int)a->role < 0 || a->role > BRAMAH_AUGMENTED_AUTO)
    wrong = "the role of this augmented state is unknown";
  else if (a->least > a->most)
    wrong = "the limits are crossed";
  else if (a->kind < BRAMAH_AUGMENTED_PARAMETER || a->kind > BRAMAH_AUGMENTED_DELAY)
    wrong = "the kind of this augmented state is unknown";
  else if (a->logarithmic && a->kind != BRAMAH_AUGMENTED_PARAMETER)
    wrong = "only a parameter of the plant can be logarithmic";
  if (wrong) return bramah__fail(diag, BRAMAH_E_VALUE, a->name, wrong);

  *own = (bramah__augmented){.state = state, .column = SIZE_MAX, .least = a->least, .most = a->most};
  const bramah_status status =
      bramah__augmented_target(&f->plant, f->n_sensors, f->sensor, a, &own->target, diag);
  if (status != BRAMAH_OK) return status;

  const int unlimited = a->least == 0.0 && a->most == 0.0;
  double sigma = a->sigma;
  if (a->kind == BRAMAH_AUGMENTED_PARAMETER) {
    bramah_parameter_info info;
    f->plant.parameter_info(f->plant.self, own->target, &info);
    own->column = f->n_par;
    f->par[f->n_par] = own->target;
    f->par_step[f->n_par++] = 1e-3 * a->sigma;
    own->nominal = f->plant.parameter(f->plant.self, own->target);
    own->least = unlimited ? info.least : fmax(own->least, info.least);
    own->most = unlimited ? info.most : fmin(own->most, info.most);
    if (a->logarithmic && !(own->nominal > 0.0))
      return bramah__fail(diag, BRAMAH_E_VALUE, a->name, "a logarithmic parameter must be positive");
    if (a->logarithmic) sigma = a->sigma / own->nominal;
  } else if (unlimited) {
    own->least = -INFINITY, own->most = INFINITY;
  }

  shape(a, sigma == a->sigma ? a->noise : a->noise / a->sigma * sigma, bramah__step_seconds(f), own);
  f->P_initial[state * f->n + state] = sigma * sigma;
  const double second = oscillates(a)                       ? sigma
                        : a->kind == BRAMAH_AUGMENTED_DELAY ? second_order * sigma * sigma
                        : a->order == 2                     ? sigma / a->time_constant
                                                            : 0.0;
  if (a->order == 2) f->P_initial[(state + 1) * f->n + state + 1] = second * second;
  return BRAMAH_OK;
}

/* Phi [4] and noise [3] over a step of augmented state i, were it `like` this with this noise. */
static void shape_like(const bramah_filter *f, size_t i, const bramah_augmented *like, double noise,
                       double *Phi, double *of_step)
{
  bramah__augmented own = f->self_state[i];
  shape(like, like->logarithmic ? noise / own.nominal : noise, bramah__step_seconds(f), &own);
  memcpy(Phi, own.Phi, sizeof own.Phi);
  memcpy(of_step, own.noise, sizeof own.noise);
}

/* What augmented states have in phases. */
static void shape_processes(bramah_filter *f, const bramah_filter_options *o)
{
  bramah__phase_process *out = f->process;
  for (size_t p = 0; p < o->n_phases; p++)
    for (size_t k = 0; k < o->phases[p].n_processes; k++, out++) {
      const bramah_phase_process *from = &o->phases[p].processes[k];
      if (from->kind != BRAMAH_PHASE_AUGMENTED) continue;
      bramah_augmented like = f->augmented[from->at];
      if (from->time_constant > 0.0) like.time_constant = from->time_constant;
      shape_like(f, from->at, &like, from->noise, out->Phi, out->noise);
    }
}

bramah_status bramah_filter_set_augmented_noise(bramah_filter *f, size_t i, double noise, bramah_diag *diag)
{
  bramah_diag_clear(diag);
  if (i >= f->n_augmented)
    return bramah__fail(diag, BRAMAH_E_ARGUMENT, "bramah_filter_set_augmented_noise",
                        "there is no such augmented state");
  bramah_augmented *a = &f->augmented[i];
  if (!(noise >= 0.0) || !isfinite(noise))
    return bramah__fail(diag, BRAMAH_E_VALUE, a->name, "the noise must not be negative");
  if (!(a->noise > 0.0))
    return bramah__fail(diag, BRAMAH_E_VALUE, a->name, "it had no noise when the filter was made");
  bramah__augmented *own = &f->self_state[i];
  shape_like(f, i, a, noise, own->Phi, own->noise);
  bramah__phases_set_usual(f, i);
  return BRAMAH_OK;
}

/* Its value by x more of its error state, from `value`; and how the value goes with it there. */
static double displaced(const bramah_filter *f, size_t i, double value, double x)
{
  return f->augmented[i].logarithmic && x != 0.0 ? value * bramah__exp(x) : value + x;
}

static double slope(const bramah_filter *f, size_t i)
{
  return f->augmented[i].logarithmic ? bramah__augmented_value(f, i) : 1.0;
}

/* Does it depend on how what its sensor measures changes over a step? */
static int is_of_change(const bramah_augmented *a)
{
  return a->kind == BRAMAH_AUGMENTED_DELAY || a->signal_period > 0.0;
}

/* By its own process or that of a phase: does its value move, is it driven by noise? */
static int any_moves(const double *Phi, int of_second_order)
{
  return Phi[0] != 1.0 || (of_second_order && (Phi[1] != 0.0 || Phi[2] != 0.0 || Phi[3] != 1.0));
}

static int any_noise(const double *noise) { return noise[0] != 0.0 || noise[1] != 0.0 || noise[2] != 0.0; }

/* Which sensors they and parameters reach, and what of F and Gamma may not be zero. */
static void find_structure(bramah_filter *f)
{
  bramah__kernel_shape *shape = &f->shape;
  *shape = (bramah__kernel_shape){.n = f->n,
                                  .n_plant = f->n_plant,
                                  .nq = f->nq,
                                  .acting = f->acting,
                                  .moving = f->moving,
                                  .noisy = f->noisy};
  for (size_t k = 0; k < f->n_plant; k++) f->acting[shape->n_acting++] = k;
  for (size_t i = 0; i < f->n_augmented; i++) {
    const bramah_augmented *a = &f->augmented[i];
    bramah__augmented *own = &f->self_state[i];
    const bramah__kernel_block block = {own->state, a->order == 2 ? 2 : 1};
    int is_noisy = any_noise(own->noise);
    own->moves = any_moves(own->Phi, block.order == 2) || a->signal_period > 0.0;
    for (size_t k = 0; k < f->n_processes; k++) {
      const bramah__phase_process *p = &f->process[k];
      if (p->kind != BRAMAH_PHASE_AUGMENTED || p->at != i) continue;
      own->moves |= any_moves(p->Phi, block.order == 2);
      is_noisy |= any_noise(p->noise);
    }
    if (own->column != SIZE_MAX) f->acting[shape->n_acting++] = own->state;
    if (own->moves) f->moving[shape->n_moving++] = block;
    if (is_noisy) f->noisy[shape->n_noisy++] = block;
  }

  for (size_t s = 0; s < f->n_sensors; s++) {
    f->first_error[s] = SIZE_MAX;
    for (size_t t = 0; t < f->sensor[s].n_terms; t++) {
      bramah_output_info info;
      bramah_plant_output_info(&f->plant, f->sensor[s].output[t], &info);
      f->moved_at_once[s] |= (unsigned char)bramah__is_moved_at_once(&info);
    }
  }
  for (size_t i = f->n_augmented; i-- > 0;) {
    bramah__augmented *own = &f->self_state[i];
    if (own->column != SIZE_MAX) continue;
    own->next = f->first_error[own->target];
    f->first_error[own->target] = i;
    f->changes[own->target] |= (unsigned char)is_of_change(&f->augmented[i]);
  }
}

bramah_status bramah__take_augmented(bramah_filter *f, const bramah_filter_options *o, bramah_diag *diag)
{
  bramah_status status = BRAMAH_OK;
  f->n_par = 0;
  size_t state = f->n_plant;
  for (size_t i = 0; i < o->n_augmented && status == BRAMAH_OK; i++) {
    f->augmented[i] = o->augmented[i];
    status = take(f, i, state, diag);
    state += o->augmented[i].order == 2 ? 2 : 1;
  }
  if (status == BRAMAH_OK) status = bramah__phases_take(f, o, diag);
  if (status == BRAMAH_OK) shape_processes(f, o);
  f->first_noise = f->n_par;
  for (size_t j = 0; j < o->n_parameter_noise && status == BRAMAH_OK; j++) {
    const bramah_parameter_noise *noise = &o->parameter_noise[j];
    const bramah_augmented noisy = {.kind = BRAMAH_AUGMENTED_PARAMETER, .name = noise->at, .at = noise->at};
    status = bramah__augmented_target(&f->plant, 0, NULL, &noisy, &f->par[f->n_par], diag);
    if (status == BRAMAH_OK && (!(noise->density > 0.0) || !isfinite(noise->density)))
      status = bramah__fail(diag, BRAMAH_E_VALUE, noise->at, "the noise of a parameter must be positive");
    f->par_noise[j] = noise->density;
    f->par_step[f->n_par++] = 1e-3 * noise->density / sqrt(bramah__step_seconds(f));
  }
  if (status == BRAMAH_OK) find_structure(f);
  return status;
}

/* ---- edges ----
 *
 * A valve inside its dead band passes nothing, and the derivative there says that its command does nothing. If the
 * command may as well lie outside, that is wrong: nothing would ever be learned, and the covariance of the motion
 * would not grow. Statistical linearisation (A. Gelb, Applied Optimal Estimation, 1974, 6.2) takes the slope that fits
 * best over all that is believed of it; what no straight line fits is noise of the step. The step goes with
 * the parameter by its derivative up to the edges, and beyond them by that and two ramps, whose slopes a displaced
 * step tells on each side; of a normal parameter the moments of ramps are known. */

/* What is believed of the parameter in use j: its value, standard deviation, limits and nearest edges. */
typedef struct belief {
  double value, sigma, least, most, below, above;
} belief;

static belief belief_of(const bramah_filter *f, size_t j)
{
  const bramah_plant *plant = &f->plant;
  bramah_parameter_info info;
  plant->parameter_info(plant->self, f->par[j], &info);
  belief b = {.value = plant->parameter(plant->self, f->par[j]),
              .sigma = f->par_step[j], /* of a score test */
              .least = info.least,
              .most = info.most,
              .below = -INFINITY,
              .above = INFINITY};
  if (plant->parameter_edges) plant->parameter_edges(plant->self, f->par[j], &b.below, &b.above);
  for (size_t i = 0; i < f->n_augmented; i++) {
    const bramah__augmented *own = &f->self_state[i];
    if (own->column != j) continue;
    b.sigma = slope(f, i) * sqrt(f->P[own->state * f->n + own->state]);
    b.least = own->least, b.most = own->most;
  }
  if (j >= f->first_noise && j < f->first_noise + f->n_par_noise)
    b.sigma = f->par_noise[j - f->first_noise] / sqrt(bramah__step_seconds(f));
  return b;
}

bramah__ramp bramah__ramp_from(double a)
{
  const double density = 0.3989422804014327 * bramah__exp(-0.5 * a * a),
               tail = 0.5 * bramah__erfc(0.7071067811865476 * a);
  return (bramah__ramp){density - a * tail, (1.0 + a * a) * tail - a * density, tail};
}

/* An edge further away than so many standard deviations does not count. */
static const double far = 4.0;

int bramah__augmented_reaches(double value, double sigma, double below, double above)
{
  return (value - below) / sigma < far || (above - value) / sigma < far;
}

size_t bramah__augmented_edges(const bramah_plant *plant, const bramah_filter_options *o)
{
  size_t n = 0;
  for (size_t j = 0; j < o->n_augmented + o->n_parameter_noise; j++) {
    const int noisy = j >= o->n_augmented;
    const char *at = noisy ? o->parameter_noise[j - o->n_augmented].at : o->augmented[j].at;
    double below = -INFINITY, above = INFINITY;
    size_t i;
    if (!plant->parameter_edges || (!noisy && o->augmented[j].kind != BRAMAH_AUGMENTED_PARAMETER)) continue;
    if (!at || bramah_plant_parameter_index(plant, at, &i, NULL) != BRAMAH_OK) continue;
    plant->parameter_edges(plant->self, i, &below, &above);
    n += isfinite(below) || isfinite(above);
  }
  return n;
}

/* Where a displaced step is made beyond an edge that is `away` standard deviations off; 0: it does not count, or the
 * parameter cannot go there. */
static double beyond(const belief *b, double away, double room)
{
  const double by = b->sigma * fmax(away + 1.0, 1.7320508075688772);
  if (!(b->sigma > 0.0) || !(away < far)) return 0.0;
  return fmin(by, room) > away * b->sigma ? fmin(by, room) : 0.0;
}

void bramah__augmented_spread(bramah_filter *f)
{
  const bramah_plant *plant = &f->plant;
  const size_t ne = f->n_plant;
  for (size_t j = 0; j < f->n_par; j++) {
    double *x = f->work.spread + j * (2 * ne + 5), *edge = x + 2 * ne, below = -INFINITY, above = INFINITY;
    if (plant->parameter_edges) plant->parameter_edges(plant->self, f->par[j], &below, &above);
    edge[3] = edge[4] = 0.0;
    if (!(isfinite(below) || isfinite(above))) continue;
    const belief b = belief_of(f, j);
    edge[0] = b.sigma;
    for (int side = 0; side < 2; side++) { /* below, above */
      const double away = (side ? b.above - b.value : b.value - b.below) / b.sigma;
      edge[1 + side] = away;
      edge[3 + side] =
          f->has_coordinates ? beyond(&b, away, side ? b.most - b.value : b.value - b.least) : 0.0;
      if (edge[3 + side] == 0.0) continue;
      plant->save(plant->self, f->work.row_snap);
      bramah_status status =
          plant->set_parameter(plant->self, f->par[j], b.value + (side ? 1.0 : -1.0) * edge[3 + side], NULL);
      if (status == BRAMAH_OK) status = plant->step(plant->self, NULL);
      bramah_plant_coordinates(plant, x + (size_t)side * ne);
      /* where it cannot go there, or goes over to other coordinates: the local derivative */
      if (status != BRAMAH_OK || (plant->basis_change && plant->basis_change(plant->self, f->work.T)))
        edge[3 + side] = 0.0;
      plant->restore(plant->self, f->work.row_snap);
    }
  }
}

/* Slopes b [2] and what is left of the ramps below and above, as the factor L of its second moments about the step at
 * the value itself: standard deviations `away` off, 0 where there is none (by = 0). */
static void fit_ramps(const double *away, const double *by, double sigma, double *b, double *L)
{
  double mean[2] = {0}, at[2] = {0}, square[2] = {0};
  b[0] = b[1] = 0.0;
  for (int k = 0; k < 2; k++) {
    const double sign = k ? 1.0 : -1.0;
    if (by[k] == 0.0) continue;
    const bramah__ramp u = bramah__ramp_from(away[k]);
    b[k] = u.slope;
    mean[k] = sign * u.mean;
    at[k] = sign * fmax(0.0, -away[k]);
    square[k] = u.square - u.slope * u.slope - 2.0 * at[k] * mean[k] + at[k] * at[k];
  }
  const double cross = -b[0] * b[1] - at[0] * mean[1] - at[1] * mean[0] + at[0] * at[1];
  L[0] = sigma * sqrt(fmax(0.0, square[0]));
  L[1] = L[0] > 0.0 ? sigma * sigma * cross / L[0] : 0.0;
  L[2] = sqrt(fmax(0.0, sigma * sigma * square[1] - L[1] * L[1]));
}

/* As what is left goes with the error of the parameter it lasts as long: white noise of the same effect is so much
 * greater in each step. Of an error with standard deviation sigma that noise q drives, what is orthogonal to a
 * straight line has the correlation time sigma^2 / q^2 (second Hermite polynomial of a Gauss-Markov process), no
 * longer than there has been a filter. */
static double lasting(const bramah_filter *f, size_t j, double sigma)
{
  const double most = 2.0 * (double)f->progress.report.predictions + 1.0;
  for (size_t i = 0; i < f->n_augmented; i++) {
    const bramah__augmented *own = &f->self_state[i];
    if (own->column != j) continue;
    const double noise = slope(f, i) * own->noise[0]; /* q sqrt(h) */
    return 2.0 * sigma * sigma < most * noise * noise ? fmax(1.0, 2.0 * sigma * sigma / (noise * noise))
                                                      : most;
  }
  return 1.0; /* new in each step */
}

void bramah__augmented_use_spread(bramah_filter *f)
{
  const bramah_plant *plant = &f->plant;
  const size_t ne = f->n_plant, nr = 2 * f->n_edges;
  double *now = f->work.coordinates, *dx = now + ne;
  size_t column = 0;
  if (f->n_par == 0) return;
  memset(f->work.residual, 0, ne * nr * sizeof(double));
  if (f->progress.rebased) return; /* what a step is displaced by would be of other coordinates */
  bramah_plant_coordinates(plant, now);
  for (size_t j = 0; j < f->n_par; j++) {
    double *x = f->work.spread + j * (2 * ne + 5), b[2], L[3];
    const double sigma = x[2 * ne], *away = x + 2 * ne + 1, *by = away + 2;
    if (by[0] == 0.0 && by[1] == 0.0) continue;
    fit_ramps(away, by, sigma, b, L);
    /* what the ramps add to the derivative, in the places of the displaced steps */
    for (size_t side = 0; side < 2; side++) {
      double *added = x + side * ne;
      const double sign = side ? 1.0 : -1.0, run = by[side] - away[side] * sigma;
      if (by[side] > 0.0) bramah__plant_subtract(plant, added, now, dx);
      for (size_t r = 0; r < ne; r++)
        added[r] = by[side] > 0.0 ? (sign * dx[r] - f->work.G[r * f->n_par + j] * by[side]) / run : 0.0;
    }
    const int noisy = j < f->first_noise + f->n_par_noise && column < nr;
    const double scale = sqrt(lasting(f, j, sigma));
    for (size_t r = 0; r < ne; r++) {
      f->work.G[r * f->n_par + j] += b[0] * x[r] + b[1] * x[ne + r];
      if (!noisy) continue;
      f->work.residual[r * nr + column] = scale * (L[0] * x[r] + L[1] * x[ne + r]);
      f->work.residual[r * nr + column + 1] = scale * L[2] * x[ne + r];
    }
    column += noisy ? 2 : 0;
  }
}

/* ---- effects over the spread of the estimate ----
 *
 * What a parameter does to the motion goes with the motion: of the bulk modulus nothing at rest. A filter takes the
 * effect G on a step at its estimate x; where that is hardly more than its own error dx, noise gives an effect, and what
 * follows from the noise would be learned of the parameter, as often as it is measured (a boom at rest with an encoder
 * alone: 19,400 +- 2,000 bar of oil that has 15,000). Such is a property of first-order filters: L. Ljung, "Asymptotic
 * behavior of the extended Kalman filter as a parameter estimator", IEEE AC-24 (1979). One step in four is made from the
 * estimate displaced by a standard deviation too, along the columns of a root of P in turn; with what its G differs by,
 *   1. role AUTO learns only where the square of G is more than twice that, by running means in standard deviations of the
 *      states;
 *   2. what is of second order in dx and the parameter's error together is noise of the step, the same until the next
 *      displaced one, as large as if it stood for all columns. */

size_t bramah__augmented_displaced(const bramah_filter_options *o)
{
  size_t n = 0;
  for (size_t i = 0; i < o->n_augmented; i++)
    n += o->augmented[i].kind == BRAMAH_AUGMENTED_PARAMETER && o->augmented[i].role == BRAMAH_AUGMENTED_AUTO;
  return o->transition == BRAMAH_TRANSITION_STEP ? n : 0; /* of other transitions nothing is known */
}

int bramah__augmented_is_displaced(const bramah_filter *f, size_t i)
{
  return f->n_displaced && f->augmented[i].role == BRAMAH_AUGMENTED_AUTO &&
         f->self_state[i].column != SIZE_MAX;
}

static int is_significant(const bramah_filter *f, size_t i)
{
  return !bramah__augmented_is_displaced(f, i) ||
         f->effect[i] > bramah__significant_effect * f->effect_spread[i];
}

int bramah__augmented_displace(bramah_filter *f)
{
  const size_t ne = f->n_plant;
  const uint64_t turn = (uint64_t)(f->progress.time_ns / f->plant.step_ns);
  double *L = f->work.square;
  if (!f->n_displaced) return 0;
  const size_t k = (size_t)(turn / BRAMAH__DISPLACE_EVERY % ne);
  f->work.displaced[0] = NAN;
  if (turn % BRAMAH__DISPLACE_EVERY) return 0;
  for (size_t r = 0; r < ne; r++) memcpy(L + r * ne, f->P + r * f->n, ne * sizeof(double));
  if (bramah__cholesky_factor(ne, L)) return 0;
  for (size_t r = 0; r < ne; r++) f->work.dx[r] = r < k ? 0.0 : L[r * ne + k];
  return 1;
}

void bramah__augmented_compare(bramah_filter *f)
{
  const size_t ne = f->n_plant;
  if (!f->n_displaced || isnan(f->work.displaced[0])) return;
  if (f->progress.rebased) { /* what it is displaced by would be of other coordinates */
    f->work.displaced[0] = NAN;
    return;
  }
  for (size_t k = 0; k < ne * f->n_par; k++) f->work.displaced[k] -= f->work.G[k];
  for (size_t i = 0; i < f->n_augmented; i++) {
    double effect = 0.0, spread = 0.0;
    if (!bramah__augmented_is_displaced(f, i)) continue;
    for (size_t r = 0; r < ne; r++) {
      const size_t at = r * f->n_par + f->self_state[i].column;
      effect += f->work.G[at] * f->work.G[at] / f->P[r * f->n + r];
      spread += f->work.displaced[at] * f->work.displaced[at] / f->P[r * f->n + r];
    }
    f->effect[i] += bramah__effect_share * (effect - f->effect[i]);
    f->effect_spread[i] += bramah__effect_share * ((double)ne * spread - f->effect_spread[i]);
  }
}

/* Columns of Gamma from `column` on: of second order. */
static void second_order_noise(bramah_filter *f, size_t column)
{
  if (f->n_displaced == 0) return;
  for (size_t r = 0; r < f->n_plant; r++)
    memset(f->Gamma + r * f->nq + column, 0, f->n_displaced * sizeof(double));
  for (size_t i = 0; i < f->n_augmented; i++) {
    const bramah__augmented *own = &f->self_state[i];
    if (!bramah__augmented_is_displaced(f, i) || isnan(f->work.displaced[0])) continue;
    const double by = BRAMAH__DISPLACE_EVERY * sqrt((double)f->n_plant) * slope(f, i) *
                      sqrt(f->P[own->state * f->n + own->state]);
    for (size_t r = 0; r < f->n_plant; r++)
      f->Gamma[r * f->nq + column] = by * f->work.displaced[r * f->n_par + own->column];
    column++;
  }
}

void bramah__augmented_start_step(bramah_filter *f)
{
  for (size_t s = 0; s < f->n_sensors; s++)
    if (f->changes[s]) f->work.before[s] = bramah_sensor_predict(&f->sensor[s], &f->plant);
}

void bramah__augmented_blocks(bramah_filter *f)
{
  const size_t n = f->n, nq = f->nq;
  for (size_t i = 0; i < f->n_augmented; i++) {
    const bramah__augmented *own = &f->self_state[i];
    double *F = f->F + own->state * n + own->state, *Gamma = f->Gamma + own->state * nq + own->state;
    F[0] = own->Phi[0];
    Gamma[0] = own->noise[0];
    if (f->augmented[i].order != 2) continue;
    F[1] = own->Phi[1], F[n] = own->Phi[2], F[n + 1] = own->Phi[3];
    Gamma[nq] = own->noise[1], Gamma[nq + 1] = own->noise[2];
  }
}

void bramah__augmented_transition(bramah_filter *f)
{
  const size_t n = f->n;
  for (size_t s = 0; s < f->n_sensors; s++) {
    if (!f->changes[s]) continue;
    const double before = f->change[s];
    f->change[s] = bramah__sensor_innovation(&f->sensor[s], bramah_sensor_predict(&f->sensor[s], &f->plant),
                                             f->work.before[s]);
    f->bend[s] = f->change[s] - before;
  }
  for (size_t i = 0; i < f->n_augmented; i++) {
    bramah__augmented *own = &f->self_state[i];
    if (f->augmented[i].signal_period > 0.0)
      turn(&f->augmented[i], f->change[own->target] / f->augmented[i].signal_period, bramah__step_seconds(f),
           own);
    if (own->column == SIZE_MAX) continue;
    const double by = slope(f, i);
    for (size_t r = 0; r < f->n_plant; r++)
      f->F[r * n + own->state] = by * f->work.G[r * f->n_par + own->column];
  }
}

void bramah__augmented_noise(bramah_filter *f)
{
  size_t column = f->n;
  bramah__augmented_blocks(f);
  for (size_t j = 0; j < f->n_par_noise; j++, column++) {
    const size_t par = f->first_noise + j;
    for (size_t r = 0; r < f->n_plant; r++)
      f->Gamma[r * f->nq + column] =
          f->work.G[r * f->n_par + par] * f->par_noise[j] / sqrt(bramah__step_seconds(f));
  }
  for (size_t r = 0; r < f->n_plant && f->n_edges; r++)
    memcpy(f->Gamma + r * f->nq + column, f->work.residual + r * 2 * f->n_edges,
           2 * f->n_edges * sizeof(double));
  second_order_noise(f, column + 2 * f->n_edges);
}

double bramah__augmented_value(const bramah_filter *f, size_t i)
{
  const bramah__augmented *own = &f->self_state[i];
  if (own->column == SIZE_MAX) return f->mean[own->state - f->n_plant];
  return f->plant.parameter(f->plant.self, own->target);
}

/* Give it a value within its limits; a parameter of the plant with others, of which n are waiting, when all are known. */
static void set_value(bramah_filter *f, size_t i, double value, size_t *n)
{
  const bramah__augmented *own = &f->self_state[i];
  const double held = fmin(fmax(value, own->least), own->most);
  if (held != value) f->progress.report.limited++;
  if (own->column == SIZE_MAX) {
    f->mean[own->state - f->n_plant] = held;
  } else if (held != f->plant.parameter(f->plant.self, own->target)) {
    f->work.waiting[*n] = own->target;
    f->work.par_row[(*n)++] = held;
  }
}

static bramah_status set_waiting(bramah_filter *f, size_t n, bramah_diag *diag)
{
  const bramah_plant *plant = &f->plant;
  bramah_status status = BRAMAH_OK;
  if (n && plant->set_parameters)
    return plant->set_parameters(plant->self, n, f->work.waiting, f->work.par_row, diag);
  for (size_t j = 0; j < n && status == BRAMAH_OK; j++)
    status = plant->set_parameter(plant->self, f->work.waiting[j], f->work.par_row[j], diag);
  return status;
}

bramah_status bramah__augmented_advance(bramah_filter *f, bramah_diag *diag)
{
  size_t waiting = 0;
  for (size_t i = 0; i < f->n_augmented; i++) {
    const bramah__augmented *own = &f->self_state[i];
    if (!own->moves) continue;
    const double value = bramah__augmented_value(f, i);
    const double x = f->augmented[i].logarithmic ? bramah__log(value / own->nominal) : value - own->nominal;
    double next = own->Phi[0] * x;
    if (f->augmented[i].order == 2) {
      double *rate = &f->mean[own->state + 1 - f->n_plant];
      next += own->Phi[1] * *rate;
      *rate = own->Phi[2] * x + own->Phi[3] * *rate;
    }
    if (next != x) set_value(f, i, displaced(f, i, own->nominal, next), &waiting);
  }
  return set_waiting(f, waiting, diag);
}

bramah_status bramah__augmented_inject(bramah_filter *f, const double *dx, bramah_diag *diag)
{
  size_t waiting = 0;
  for (size_t i = 0; i < f->n_augmented; i++) {
    const bramah__augmented *own = &f->self_state[i];
    if (f->considered && f->held[own->state]) continue;
    if (f->augmented[i].order == 2) f->mean[own->state + 1 - f->n_plant] += dx[own->state + 1];
    set_value(f, i, displaced(f, i, bramah__augmented_value(f, i), dx[own->state]), &waiting);
  }
  return set_waiting(f, waiting, diag);
}

/* ---- what is considered ---- */

int bramah__augmented_is_estimated(const bramah_filter *f, size_t i)
{
  const bramah_augmented_role role = f->augmented[i].role;
  return role == BRAMAH_AUGMENTED_ESTIMATED ||
         (role == BRAMAH_AUGMENTED_AUTO && f->information[i] >= bramah__enough_information);
}

void bramah__augmented_hold(bramah_filter *f)
{
  int any = 0;
  for (size_t i = 0; i < f->n_augmented; i++) {
    const size_t first = f->self_state[i].state, end = first + (f->augmented[i].order == 2 ? 2 : 1);
    const unsigned char hold = !bramah__augmented_is_estimated(f, i) || !is_significant(f, i);
    for (size_t k = first; k < end; k++) {
      f->held[k] = hold;
      f->weight[k] = hold ? 1.0 / sqrt(f->P[k * f->n + k]) : 0.0;
    }
    any |= hold;
  }
  f->considered = any ? f->held : NULL;
}

/* Covariances among states that are considered stay as they were before any measurement: none but those of value
 * and rate of one state, which are left out here. */
/* What the innovation has of each, by their correlation. And of its own bias: what a correction would have taken off
 * the bias stays in the innovations that follow. */
double bramah__augmented_share(bramah_filter *f, size_t i, double S)
{
  if (f->n_augmented == 0) return 0.0;
  if (!f->considered) {
    memset(f->correlation + i * f->n_augmented, 0, f->n_augmented * sizeof(double));
    return 0.0;
  }
  const double *H = f->H + i * f->n, *PH = f->PH + i * f->n, inverse = 1.0 / S, root = sqrt(inverse);
  const size_t *entry = f->entry + i * f->n;
  double share = 0.0;
  for (size_t k = f->n_plant; k < f->n; k++) { /* weight 0: estimated */
    const double rho = PH[k] * f->weight[k] * root;
    share += rho * rho;
  }
  for (size_t e = 0; e < f->n_entries[i]; e++) {
    const size_t k = entry[e];
    const double rho = PH[k] * f->weight[k] * root, own = H[k] * PH[k] * inverse;
    if (k >= f->n_plant && f->held[k] && own > rho * rho) share += own - rho * rho;
  }
  for (size_t m = 0; m < f->n_augmented; m++) {
    const size_t k = f->self_state[m].state;
    f->correlation[i * f->n_augmented + m] = PH[k] * f->weight[k] * root;
  }
  return share < 1.0 ? share : 1.0;
}

/* By the covariance before the correction: of sensors that say the same at one time more is counted than they
 * tell together. Sum of log(1 - rho^2) over them, by one logarithm of the product. */
void bramah__augmented_learn(bramah_filter *f)
{
  static const double most = 1.0 - 1e-12;
  for (size_t i = 0; i < f->n_augmented; i++) {
    double told = 0.0; /* one less the product */
    if (f->augmented[i].role != BRAMAH_AUGMENTED_AUTO || bramah__augmented_is_estimated(f, i) ||
        !is_significant(f, i))
      continue;
    for (size_t m = 0; m < f->n_sensors; m++) {
      if (!f->innovation[m].accepted) continue;
      const double rho = f->correlation[m * f->n_augmented + i];
      told += (rho * rho < most ? rho * rho : most) * (1.0 - told);
    }
    f->information[i] -= 0.5 * bramah__log1p(-(told < most ? told : most));
  }
}

/* ---- what sensors show ---- */

int bramah__is_moved_at_once(const bramah_output_info *info)
{
  return info->kind == BRAMAH_OUTPUT_ACCELERATION || info->kind == BRAMAH_OUTPUT_OTHER;
}

bramah_status bramah__sensor_by_parameter(const bramah_plant *plant, const bramah_sensor *sensor,
                                          size_t parameter, double back, double on, void *snap, double *out,
                                          bramah_diag *diag)
{
  int at_once = 0;
  for (size_t t = 0; t < sensor->n_terms; t++) {
    bramah_output_info info;
    bramah_plant_output_info(plant, sensor->output[t], &info);
    at_once |= bramah__is_moved_at_once(&info);
  }
  *out = 0.0;
  if (!at_once) return BRAMAH_OK;
  if (back == 0.0 && bramah__sensor_slope(sensor, plant, parameter, out) == BRAMAH_OK) return BRAMAH_OK;
  const double value = plant->parameter(plant->self, parameter);
  plant->save(plant->self, snap);
  bramah_status status = BRAMAH_OK;
  if (back != 0.0) status = plant->set_parameter(plant->self, parameter, value - back, diag);
  const double at = bramah_sensor_predict(sensor, plant);
  if (status == BRAMAH_OK) status = plant->set_parameter(plant->self, parameter, value + on, diag);
  *out = (bramah_sensor_predict(sensor, plant) - at) / (back + on);
  plant->restore(plant->self, snap);
  return status;
}

bramah_status bramah__sensor_by_used(bramah_filter *f, size_t i, size_t j, double *out, bramah_diag *diag)
{
  /* over an edge in reach by the quotient over sqrt(3) standard deviations to both sides */
  const belief b = belief_of(f, j);
  const double reach = 1.7320508075688772 * b.sigma, low = fmin(reach, b.value - b.least),
               high = fmin(reach, b.most - b.value);
  const int over = (b.value - low < b.below || b.value + high > b.above) && low + high > 0.0;
  const double back = over ? low : 0.0, on = over ? high : f->par_step[j];
  return bramah__sensor_by_parameter(&f->plant, &f->sensor[i], f->par[j], back, on, f->work.row_snap, out,
                                     diag);
}

/* Outputs that parameters move and whose derivatives the plant does not say, by all augmented parameters; the others are 0.
 * The plant is at row_snap. */
static void difference_outputs(bramah_filter *f)
{
  const bramah_plant *plant = &f->plant;
  const size_t n_output = plant->n_output;
  double *shown = f->work.shown;
  for (size_t o = 0; o < n_output; o++) {
    bramah_output_info info;
    bramah_plant_output_info(plant, o, &info);
    const int moves = info.has_row && bramah__is_moved_at_once(&info);
    f->work.differs[o] =
        (unsigned char)(moves && !(plant->output_by_parameters &&
                                   plant->output_by_parameters(plant->self, o, 0, NULL, NULL) == BRAMAH_OK));
    if (f->work.differs[o]) shown[o] = plant->output(plant->self, o);
  }
  for (size_t k = 0; k < f->n_augmented; k++) {
    const bramah__augmented *own = &f->self_state[k];
    double *by = f->work.by_parameter + k * n_output;
    if (own->column == SIZE_MAX) continue;
    const double value = plant->parameter(plant->self, own->target), step = f->par_step[own->column];
    const int moved = plant->set_parameter(plant->self, own->target, value + step, NULL) == BRAMAH_OK;
    for (size_t o = 0; o < n_output; o++)
      by[o] = moved && f->work.differs[o] ? (plant->output(plant->self, o) - shown[o]) / step : 0.0;
    plant->restore(plant->self, f->work.row_snap);
  }
}

/* As the plant says; else all outputs by all parameters anew where the plant is no longer where it was. */
void bramah__output_by_augmented(bramah_filter *f, size_t i, double *H)
{
  const bramah_plant *plant = &f->plant;
  const size_t n_output = plant->n_output;
  double *row = f->work.par_row;
  if (plant->output_by_parameters &&
      plant->output_by_parameters(plant->self, i, f->n_par, f->par, row) == BRAMAH_OK) {
    for (size_t k = 0; k < f->n_augmented; k++)
      if (f->self_state[k].column != SIZE_MAX)
        H[f->self_state[k].state] = slope(f, k) * row[f->self_state[k].column];
    return;
  }
  plant->save(plant->self, f->work.row_snap);
  if (!f->by_parameter_known ||
      memcmp(f->work.by_parameter_snap, f->work.row_snap, plant->snapshot_size) != 0) {
    difference_outputs(f);
    memcpy(f->work.by_parameter_snap, f->work.row_snap, plant->snapshot_size);
    f->by_parameter_known = 1;
  }
  for (size_t k = 0; k < f->n_augmented; k++)
    if (f->self_state[k].column != SIZE_MAX)
      H[f->self_state[k].state] = slope(f, k) * f->work.by_parameter[k * n_output + i];
}

/* ---- errors of sensors: shown = (1 + gain) h(x) + bias - delay dh/dt + delay^2/2 d2h/dt2 ----
 *
 * The rates are those of the last steps' predictions and do not go with corrections; what a delay has to do with the row
 * of the state, of first order in it, is left out. Of order 2 a delay d has a second state, not correlated with it: the
 * factor of d2h/dt2, which is d^2/2 - d D where the estimate lags by D, the delays of the other sensors it rests on. */

static double rate_of(const bramah_filter *f, size_t sensor)
{
  return f->changes[sensor] ? f->change[sensor] / bramah__step_seconds(f) : 0.0;
}

static double bend_of(const bramah_filter *f, size_t sensor)
{
  return f->bend[sensor] / (bramah__step_seconds(f) * bramah__step_seconds(f));
}

double bramah__sensor_by_error(const bramah_filter *f, size_t i, bramah_augmented_kind kind, double rate)
{
  if (kind == BRAMAH_AUGMENTED_GAIN) return bramah_sensor_predict(&f->sensor[i], &f->plant);
  return kind == BRAMAH_AUGMENTED_DELAY ? -rate : 1.0;
}

bramah_status bramah__row(bramah_filter *f, size_t i, double *H, bramah_diag *diag)
{
  bramah_status status =
      bramah_sensor_row(&f->sensor[i], &f->plant, H, f->work.term, f->work.row_snap, f->work.dx, diag);
  if (status != BRAMAH_OK || f->n == f->n_plant) return status;
  for (size_t k = f->n_plant; k < f->n; k++) H[k] = 0.0;
  double gain = 1.0;
  for (size_t k = f->first_error[i]; k != SIZE_MAX; k = f->self_state[k].next) {
    const size_t s = f->self_state[k].state;
    const bramah_augmented_kind kind = f->augmented[k].kind;
    H[s] = bramah__sensor_by_error(f, i, kind, rate_of(f, i));
    if (kind == BRAMAH_AUGMENTED_DELAY && f->augmented[k].order == 2) H[s + 1] = bend_of(f, i);
    if (kind == BRAMAH_AUGMENTED_GAIN) gain += f->mean[s - f->n_plant];
  }
  for (size_t k = 0; k < f->n_plant && gain != 1.0; k++) H[k] *= gain;
  for (size_t k = 0; k < f->n_augmented && f->moved_at_once[i] && status == BRAMAH_OK; k++) {
    const bramah__augmented *own = &f->self_state[k];
    if (own->column == SIZE_MAX) continue;
    status = bramah__sensor_by_used(f, i, own->column, &H[own->state], diag);
    H[own->state] *= slope(f, k) * gain;
  }
  return status;
}

double bramah__prediction(const bramah_filter *f, size_t i)
{
  double errors = 0.0;
  if (f->first_error[i] == SIZE_MAX) return bramah_sensor_predict(&f->sensor[i], &f->plant);
  for (size_t k = f->first_error[i]; k != SIZE_MAX; k = f->self_state[k].next) {
    const double *mean = f->mean + f->self_state[k].state - f->n_plant;
    const bramah_augmented_kind kind = f->augmented[k].kind;
    if (*mean == 0.0) continue;
    errors += *mean * bramah__sensor_by_error(f, i, kind, rate_of(f, i));
    if (kind == BRAMAH_AUGMENTED_DELAY && f->augmented[k].order == 2) errors += mean[1] * bend_of(f, i);
  }
  return bramah_sensor_predict(&f->sensor[i], &f->plant) + errors;
}
