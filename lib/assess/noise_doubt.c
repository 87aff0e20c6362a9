/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Process noise that is claimed and is not there, while parameters are learned.
 *
 * Such a filter has gains that are too high: it follows the noise of its sensors, and each innovation takes back a part of what
 * the one before had done. What it believes of forces and accelerations then has noise in common with the innovations that
 * correct masses, friction and valves by them, and their product has a mean: constants are driven off, by many times what
 * they say, while innovations are smaller than stated (L. Ljung, IEEE Trans. Automatic Control AC-24, 1979). A noise of sensors that is
 * overestimated does no such thing, and makes no innovation change sides; nor does process noise where all that is learned is linear.
 *
 * The test: of a right filter the correlation of the innovations of a sensor at lag 1 is normal with the variance 1/n about -1/n. Of the
 * filter's own, where considered states have next to no share in them; and of those of the monitor's, which estimates all it does not
 * know (bramah_monitor_correlation). Over the whole run, and over windows of 10 s, else what digging does is lost in a long way home: at 100 Hz
 * a correlation of -0.1 is 3 sigma of so many samples, and shorter windows would not show it. One of a thousand runs is doubted by
 * chance, half of it for windows, however many sensors and windows there are. What is no accident
 * matters beyond -0.1: runs whose constants were driven off had -0.14 to -0.44, right ones never less than -0.04 (windows of them: -0.086). A doubted run need
 * not be wrong: of 120 runs of the campaign with a third or a tenth of the stated noise 43 are doubted, all with outputs in their bands.
 *
 * Parameters that move by noise of their own need less than that to go wrong, where what is measured tells little of them: a load in a
 * bucket whose cylinder is held by its end stop, which takes up any weight. There is a test of just what happens. Gains K go with the
 * estimate, since effects of a parameter do (those of a mass with the acceleration); what a right filter has estimated so far tells nothing
 * of its next innovation y, so that the sum of (K - K') y is 0 but for chance, K' any mean of past gains: that of half a second. Over windows of
 * 10 s it is doubted from 5 of its standard deviations on, if it is more than the parameter's own. Held on the stop (excavator, soil claimed all the
 * time) it is 9 with the load off by 2 to 3 sigma; off the stop, digging and swinging up to 3.6 with the load in its band. */
#include "lib/assess/assess_internal.h"
#include "lib/math/elementary.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double OWN = 0.01; /* share of considered states */

static const double WINDOW = 10.0, MEAN = 0.5; /* [s] */
static const double NO_CHANCE = 5.0;           /* [standard deviations] */

static int is_moving(const bramah_augmented *state)
{
  return state->kind == BRAMAH_AUGMENTED_PARAMETER && state->role == BRAMAH_AUGMENTED_ESTIMATED &&
         state->noise > 0.0;
}

/* Correction by sensor s of the augmented state k, of error state r: what the change of its gain adds. */
static void gather(bramah_assess *a, const bramah_filter_last *last, size_t k, size_t r, size_t s)
{
  const size_t n = bramah_filter_get_info(a->filter).n_error;
  const double *P = bramah_filter_covariance(a->filter) + r * n, *H = last->rows + s * n;
  const bramah_innovation *in = &last->innovation[s];
  bramah__gathered *own = &a->gathered[k];
  bramah__mean_gain *mean = &a->mean_gain[k * a->n_sensors + s];
  double gain = 0.0;
  for (size_t i = 0; i < n; i++) gain += P[i] * H[i];
  gain /= last->variances[s];
  if (!mean->is_known) *mean = (bramah__mean_gain){gain, own->last_ns, 1};
  const double change = gain - mean->value;
  own->sum += change * in->innovation;
  own->variance += change * change * in->sigma * in->sigma;
  mean->value += change * -bramah__expm1(-1e-9 * (double)(own->last_ns - mean->time_ns) / MEAN);
  mean->time_ns = own->last_ns;
}

/* The window that is open is over. */
static void close_window(bramah__gathered *own, double sigma)
{
  const double size = own->variance > 0.0 ? fabs(own->sum) / sqrt(own->variance) : 0.0;
  if (fabs(own->sum) > sigma && size > own->worst) {
    own->worst = size;
    own->share = fabs(own->sum) / sigma;
    own->start = 1e-9 * (double)own->from_ns;
  }
  own->sum = own->variance = 0.0;
  own->from_ns = own->last_ns;
}

/* ---- correlation at lag 1 ---- */

/* Innovations so far of sensor k / 2: the filter's own (k even), the monitor's. */
static bramah__innovation_sums sums_of(const bramah_assess *a, size_t k)
{
  if (k % 2 == 0) return a->windows[k / 2].window[BRAMAH__LENGTHS - 1].sums;
  const bramah_monitor_whiteness white = bramah_monitor_correlation(a->monitor, k / 2);
  return (bramah__innovation_sums){
      .n = white.n, .sum = white.sum, .squares = white.squares, .products = white.products};
}

/* The test of what came after `from`, in a window or in the whole run. */
static void judge(const bramah_assess *a, size_t k, const bramah__innovation_sums *from, bramah__lag_1 *worst)
{
  bramah__innovation_sums sums = sums_of(a, k);
  bramah__innovation_result results[BRAMAH__TESTS];
  sums.n -= from->n;
  sums.sum -= from->sum;
  sums.squares -= from->squares;
  sums.products -= from->products;
  sums.shares -= from->shares;
  if (sums.shares > OWN * (double)sums.n) return;
  bramah__innovation_judge(&sums, 1, 0, 1.0, results);
  const bramah__innovation_result *anti = &results[BRAMAH__TEST_ANTI];
  worst->tests += (uint64_t)anti->made;
  if (!anti->made || !anti->matters || !(anti->size > worst->size)) return;
  worst->correlation = anti->value;
  worst->size = anti->size;
  worst->begin_ns = worst->from_ns;
  worst->end_ns = bramah_filter_time_ns(a->filter);
}

/* After a correction: windows that are over are judged. */
static void watch_lag_1(bramah_assess *a, int64_t now)
{
  for (size_t k = 0; a->monitor && k < 2 * a->n_sensors; k++) {
    bramah__lag_1 *worst = &a->lag_1[k];
    if ((double)(now - worst->from_ns) < 1e9 * WINDOW) continue;
    judge(a, k, &worst->from, worst);
    worst->from = sums_of(a, k);
    worst->from_ns = now;
  }
}

void bramah__noise_doubt_watch(bramah_assess *a)
{
  const bramah_filter_info info = bramah_filter_get_info(a->filter);
  const bramah_filter_last last = bramah_filter_get_last(a->filter);
  const int64_t now = bramah_filter_time_ns(a->filter);
  size_t r = bramah_plant_n_error(a->plant);
  watch_lag_1(a, now);
  for (size_t k = 0; k < a->n_augmented; r += info.augmented[k++].order == 2 ? 2 : 1) {
    bramah__gathered *own = &a->gathered[k];
    if (!is_moving(&info.augmented[k]) || now <= own->last_ns) continue; /* fused again after a late sample */
    own->last_ns = now;
    if ((double)(now - own->from_ns) > 1e9 * WINDOW)
      close_window(own, sqrt(bramah_filter_covariance(a->filter)[r * info.n_error + r]));
    for (size_t s = 0; s < a->n_sensors; s++)
      if (last.innovation[s].present && last.innovation[s].accepted) gather(a, &last, k, r, s);
  }
}

/* The parameter whose changing gains gathered most, beyond chance, in a window that is over or half so; NULL: none. */
static const char *gathers(bramah_assess *a, bramah_doubt *doubt)
{
  const bramah_filter_info info = bramah_filter_get_info(a->filter);
  const double *P = bramah_filter_covariance(a->filter);
  bramah__gathered worst = {.worst = NO_CHANCE};
  const char *name = NULL;
  size_t r = bramah_plant_n_error(a->plant);
  for (size_t k = 0; k < a->n_augmented; r += info.augmented[k++].order == 2 ? 2 : 1) {
    bramah__gathered own = a->gathered[k]; /* a copy: the run may go on */
    if (2e-9 * (double)(own.last_ns - own.from_ns) > WINDOW)
      close_window(&own, sqrt(P[r * info.n_error + r]));
    if (own.worst > worst.worst) worst = own, name = a->augmented[k].name;
  }
  if (!name) return NULL;
  doubt->value = worst.share;
  const double zero = 1e-9 * (double)(a->totals.last_ns - bramah_filter_time_ns(a->filter));
  snprintf(
      doubt->diag.message, sizeof doubt->diag.message,
      "process noise is overestimated: in 10 s from %.6g s on noise of the estimate, by way of its gain, "
      "has pushed this by %.3g of its standard deviations to one side (%.3g sigma of what is chance); "
      "state less process noise, that of other forces too, where there is less (phases)",
      zero + worst.start, worst.share, worst.worst);
  return name;
}

/* Whether a state is a parameter that is being learned as a constant: of the budget, or one the study gives no noise. A bias is none:
 * what it adds to a sensor has no noise in it. */
static int is_learned(const bramah_assess *a, size_t k)
{
  const bramah_augmented *state = &bramah_filter_get_info(a->filter).augmented[k];
  return state->kind == BRAMAH_AUGMENTED_PARAMETER && a->estimated_from[k] != INT64_MAX &&
         (state->role != BRAMAH_AUGMENTED_ESTIMATED || state->noise == 0.0);
}

/* How many are, and the names of the first ones. */
static size_t name_learned(const bramah_assess *a, char *out, size_t size)
{
  size_t n = 0, used = 0;
  *out = '\0';
  for (size_t k = 0; k < a->n_augmented; k++) {
    if (!is_learned(a, k)) continue;
    if (n++ < 3 && used < size)
      used += (size_t)snprintf(out + used, size - used, "%s%.40s", n > 1 ? ", " : "", a->augmented[k].name);
  }
  if (n > 3 && used < size) snprintf(out + used, size - used, " and %zu more", n - 3);
  return n;
}

/* Of all sensors the worst window, or else the worst whole run, that is beyond what chance does in one of a thousand runs; the chance
 * is halved between both. Returns how many sensors are; sensor and worst: of them. */
static size_t anticorrelated(bramah_assess *a, size_t *sensor, bramah__lag_1 *worst)
{
  const bramah__lag_1 whole = {.from_ns = 0};
  const int64_t now = bramah_filter_time_ns(a->filter);
  uint64_t tests = 0;
  size_t n = 0;
  *worst = (bramah__lag_1){0};
  for (size_t k = 0; k < 2 * a->n_sensors; k++) tests += a->lag_1[k].tests + 1;
  const double limit[2] = {bramah__windows_limit(4 * a->n_sensors, 0), bramah__windows_limit(2 * tests, 0)};
  for (size_t i = 0; i < a->n_sensors; i++) {
    int is = 0;
    for (size_t k = 2 * i; k < 2 * i + 2; k++) {
      bramah__lag_1 found[2] = {whole, a->lag_1[k]}; /* copies: the run may go on */
      judge(a, k, &whole.from, &found[0]);
      if (2e-9 * (double)(now - found[1].from_ns) > WINDOW) judge(a, k, &a->lag_1[k].from, &found[1]);
      for (int w = 0; w < 2; w++) {
        if (!(found[w].size > limit[w])) continue;
        is = 1;
        if (!(found[w].size > worst->size)) continue;
        *worst = found[w];
        *sensor = i;
      }
    }
    n += (size_t)is;
  }
  return n;
}

const bramah_doubt *bramah__noise_doubt(bramah_assess *a)
{
  bramah_doubt *doubt = &a->noise_doubt;
  bramah_diag *diag = &doubt->diag;
  char learned[130];
  size_t sensor = 0;
  bramah__lag_1 worst;
  *doubt = (bramah_doubt){.kind = BRAMAH_DOUBT_PROCESS_NOISE, .certain = 1};
  diag->status = BRAMAH_E_VALUE;
  snprintf(diag->file, sizeof diag->file, "%s", a->study->file);
  if (a->adaptive) return NULL;
  const char *gathering = gathers(a, doubt);
  snprintf(diag->thing, sizeof diag->thing, "%s", gathering ? gathering : "");
  if (gathering) return doubt;
  if (!name_learned(a, learned, sizeof learned)) return NULL;
  const size_t sensors = anticorrelated(a, &sensor, &worst);
  if (!sensors) return NULL;
  doubt->value = worst.correlation;
  snprintf(diag->thing, sizeof diag->thing, "%s", a->results.sensor[sensor].name);
  char others[48] = "";
  if (sensors > 1) snprintf(others, sizeof others, "; those of %zu others too", sensors - 1);
  const double zero = 1e-9 * (double)(a->totals.last_ns - bramah_filter_time_ns(a->filter));
  snprintf(diag->message, sizeof diag->message,
           "process noise is overestimated while parameters are learned: from %.6g to %.6g s innovations of "
           "this sensor are anticorrelated (%.2f, %.3g sigma%s), which can drive off what is learned (%s) by "
           "more than it says; state less process noise (bramah tune finds how much; phases)",
           zero + 1e-9 * (double)worst.begin_ns, zero + 1e-9 * (double)worst.end_ns, worst.correlation,
           worst.size, others, learned);
  return doubt;
}
