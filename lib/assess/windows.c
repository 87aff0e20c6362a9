/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Innovations in windows. Those of a right filter, over their sigmas, are independent and standard normal: in a window
 * of n their mean is normal with the variance 1/n, the sum of their squares chi-square with n degrees of freedom, and
 * their correlation at lag 1 about normal with the variance 1/n (R. K. Mehra, J. Peschon, Automatica 7, 1971).
 *
 * Where a filter considers states without estimating them, innovations have a share s of their variance in common:
 * x = sqrt(1 - s) w + sqrt(s) c, w white. Their mean has the variance (sum (1 - s) + (sum sqrt(s))^2) / n^2 at most; the
 * others are judged as for the worst c within 4 standard deviations.
 *
 * With many samples every filter fails a statistical test. A deviation that is no accident matters where it says that
 * what the filter predicts of the sensor is off by more than its own standard deviation, a share q of the variance of
 * the innovation: a mean of sqrt(q), a variance of 1 + q, a correlation of q.
 *
 * Only the worst window of each kind and length is kept: memory does not grow with the log. */
#include "lib/assess/assess_internal.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <string.h>

static const int64_t length[BRAMAH__LENGTHS] = {1000000000, 10000000000, INT64_MAX};
static const int64_t settle_ns = 1000000000;  /* of a start that may be wrong: not judged */
static const double no_doubt = 6.0;           /* standard deviations: fails whatever the number of tests */
static const double common = 4.0;             /* standard deviations of what is considered */
enum { FEWEST = 10, FEWEST_CORRELATED = 50 }; /* samples of a window that is judged */
/* What never matters: sigma of a sensor 5 % too small, a correlation of so much, samples rejected [share], a variance
 * so much too small, an anticorrelation. */
static const double VARIANCE_LEAST = 1.1, CORRELATION_LEAST = 0.05, REJECTED_LEAST = 0.1, SMALL = 0.9,
                    ANTI = -0.1;

/* A chi-square variable with so many degrees of freedom as a standard normal one that is exceeded as seldom. */
static double normal_of(double x, double dof)
{
  const double p = bramah__chi_square_above(x, dof), variance = 2.0 / (9.0 * dof);
  if (p > 1e-290 && p < 0.5) return gsl_cdf_ugaussian_Qinv(p);
  return (cbrt(x / dof) - 1.0 + variance) / sqrt(variance); /* Wilson and Hilferty, 1931 */
}

/* One more test: its value, how many standard deviations that is from what is expected, and whether it matters. */
static void test(bramah__windows *w, bramah_check_kind kind, const bramah__window *of, double value,
                 double size, int matters)
{
  bramah__worst *worst = &w->worst[kind - BRAMAH_CHECK_MEAN][of - w->window];
  w->tests++;
  if (matters && size > no_doubt && !worst->fails++) worst->since_ns = of->begin_ns;
  if (worst->tests++ && (matters == worst->matters ? !(size > worst->size) : matters < worst->matters))
    return;
  worst->value = value;
  worst->size = size;
  worst->matters = matters;
  worst->begin_ns = of->begin_ns;
  worst->end_ns = of->last_ns < of->end_ns ? of->last_ns : of->end_ns;
}

static void judge(bramah__windows *w, const bramah__window *of)
{
  const double n = (double)of->n, white = n - of->shares, state = of->state / n;
  const double present = (double)of->present, rejected = (double)of->rejected;
  if (w->has_gate && of->present >= FEWEST)
    test(w, BRAMAH_CHECK_REJECTED, of, 100.0 * rejected / present,
         (rejected - REJECTED_LEAST * present) / sqrt(REJECTED_LEAST * (1.0 - REJECTED_LEAST) * present),
         rejected > REJECTED_LEAST * present);
  if (of->n < FEWEST || white < FEWEST) return;

  const double variance = of->squares / n;
  const double dof = 1.0 / (1.0 / white + 2.0 * common * common * of->crossed / (white * white));
  const double above = fmax(of->squares - common * common * of->shares, 0.0) / white;
  const double below = of->squares / (white * w->expected), spread = 2.0 / (9.0 * white);
  test(w, BRAMAH_CHECK_VARIANCE, of, variance, normal_of(dof * above, dof),
       variance > fmax(VARIANCE_LEAST, 1.0 + state));
  test(w, BRAMAH_CHECK_SMALL, of, variance, (1.0 - spread - cbrt(below)) / sqrt(spread), below < SMALL);
  if (!w->is_sensor) return;

  const double mean = of->sum / n;
  test(w, BRAMAH_CHECK_MEAN, of, mean, fabs(of->sum) / sqrt(white + of->roots * of->roots),
       mean * mean > state);
  if (of->n < FEWEST_CORRELATED) return;
  const double share = common * common * of->shares, shared = share / (white + share);
  const double r = (of->products - (n - 1.0) * mean * mean) / (of->squares - n * mean * mean);
  test(w, BRAMAH_CHECK_CORRELATION, of, r, (r + 1.0 / n - shared) * sqrt(n),
       r > fmax(CORRELATION_LEAST, state));
  test(w, BRAMAH_CHECK_ANTI, of, r, -(r + 1.0 / n) * sqrt(n), r < ANTI);
}

/* The windows that this moment is in: those before it are judged. 0: it is not judged. */
static int reach(bramah__windows *w, int64_t t)
{
  if (t < w->start_ns) return 0;
  for (int l = 0; l < BRAMAH__LENGTHS; l++) {
    bramah__window *of = &w->window[l];
    if (of->open && t < of->end_ns) continue;
    if (of->open) of->last_ns = of->end_ns, judge(w, of);
    const int64_t begin = w->start_ns + (t - w->start_ns) / length[l] * length[l];
    *of = (bramah__window){
        .open = 1, .begin_ns = begin, .end_ns = length[l] == INT64_MAX ? INT64_MAX : begin + length[l]};
  }
  return 1;
}

void bramah__windows_begin(bramah__windows *w, int64_t t, int is_sensor, double gate)
{
  *w = (bramah__windows){.is_sensor = is_sensor,
                         .start_ns = t + settle_ns,
                         .has_gate = gate > 0.0,
                         .expected = bramah__nis_left_by_gate(gate)};
}

void bramah__windows_add(bramah__windows *w, int64_t t, const bramah_innovation *in, double noise)
{
  if (!reach(w, t)) return;
  for (int l = 0; l < BRAMAH__LENGTHS; l++) {
    bramah__window *of = &w->window[l];
    const double x = in->innovation / in->sigma, s = in->considered;
    of->last_ns = t;
    of->present += !in->saturated;
    of->rejected += !in->saturated && !in->accepted;
    if (!in->accepted) continue;
    of->products += of->n ? x * of->before : 0.0;
    of->before = x;
    of->n++;
    of->sum += x;
    of->squares += x * x;
    of->shares += s;
    of->roots += sqrt(s);
    of->crossed += s * (1.0 - s);
    of->state += fmax(1.0 - noise / (in->sigma * in->sigma), 0.0);
  }
}

void bramah__windows_add_all(bramah__windows *w, int64_t t, double nis, size_t dof,
                             const bramah__windows *sensors, size_t n_sensors)
{
  if (!dof || !reach(w, t)) return;
  for (int l = 0; l < BRAMAH__LENGTHS; l++) {
    bramah__window *of = &w->window[l];
    of->last_ns = t;
    of->squares += nis;
    of->n += dof;
    of->shares = of->crossed = of->state = 0.0; /* all that the sensors have so far */
    for (size_t i = 0; i < n_sensors; i++) {
      const bramah__window *one = &sensors[i].window[l];
      if (one->begin_ns != of->begin_ns) continue; /* it has no sample in this window */
      of->shares += one->shares;
      of->crossed += one->crossed;
      of->state += one->state;
    }
  }
}

bramah__windows bramah__windows_close(const bramah__windows *w)
{
  bramah__windows closed = *w;
  for (int l = 0; l < BRAMAH__LENGTHS; l++)
    if (w->window[l].open) judge(&closed, &closed.window[l]);
  return closed;
}

/* The shortest length at which it fails says when; where none does, the largest. */
const bramah__worst *bramah__windows_worst(const bramah__windows *w, bramah_check_kind kind, double limit)
{
  const bramah__worst *worst = w->worst[kind - BRAMAH_CHECK_MEAN], *largest = worst;
  for (int l = 0; l < BRAMAH__LENGTHS; l++) {
    if (worst[l].matters && worst[l].size > limit) return &worst[l];
    if (worst[l].tests && (!largest->tests || worst[l].size > largest->size)) largest = &worst[l];
  }
  return largest;
}

double bramah__windows_limit(uint64_t tests, int two_sided)
{
  const double level = -expm1(log1p(-0.001) / (double)(tests ? tests : 1));
  return gsl_cdf_ugaussian_Qinv(two_sided ? 0.5 * level : level);
}
