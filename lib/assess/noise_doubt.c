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
 * filter's own, over the whole run, where considered states have next to no share in them; and of those of the monitor's, which
 * estimates all it does not know (bramah_monitor_correlation). One of a thousand runs is doubted by chance. What is no accident
 * matters beyond -0.1: runs whose constants were driven off had -0.14 to -0.44, right ones never less than -0.04. A doubted run need
 * not be wrong: of 120 runs of the campaign with a third or a tenth of the stated noise 43 are doubted, all with outputs in their bands. */
#include "lib/assess/assess_internal.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double MATTERS = -0.1, OWN = 0.01;

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

/* The correlation of sensor i that is further from none. */
static bramah_monitor_whiteness correlation_of(const bramah_assess *a, size_t i)
{
  const bramah__innovation_sums *sums = &a->windows[i].window[BRAMAH__LENGTHS - 1].sums;
  bramah_monitor_whiteness white = bramah_monitor_correlation(a->monitor, i);
  bramah__innovation_result results[BRAMAH__TESTS];
  if (sums->n < 50 || sums->shares > OWN * (double)sums->n) return white;
  bramah__innovation_judge(sums, 1, 0, 1.0, results);
  const bramah__innovation_result *anti = &results[BRAMAH__TEST_ANTI];
  if (anti->made && anti->size > -white.size)
    white = (bramah_monitor_whiteness){sums->n, anti->value, -anti->size};
  return white;
}

const bramah_doubt *bramah__noise_doubt(bramah_assess *a)
{
  bramah_doubt *doubt = &a->noise_doubt;
  bramah_diag *diag = &doubt->diag;
  char learned[160];
  size_t sensor = 0, sensors = 0;
  double size = 0.0, correlation = 0.0;
  if (a->adaptive || !name_learned(a, learned, sizeof learned)) return NULL;
  const double limit = bramah__windows_limit(2 * a->n_sensors, 0);
  for (size_t i = 0; i < a->n_sensors; i++) {
    const bramah_monitor_whiteness white = correlation_of(a, i);
    if (!(-white.size > limit) || !(white.correlation < MATTERS)) continue;
    sensors++;
    if (-white.size <= size) continue;
    sensor = i;
    size = -white.size;
    correlation = white.correlation;
  }
  if (!sensors) return NULL;
  *doubt = (bramah_doubt){.kind = BRAMAH_DOUBT_PROCESS_NOISE, .certain = 1, .value = correlation};
  diag->status = BRAMAH_E_VALUE;
  snprintf(diag->file, sizeof diag->file, "%s", a->study->file);
  snprintf(diag->thing, sizeof diag->thing, "%s", a->results.sensor[sensor].name);
  char others[48] = "";
  if (sensors > 1) snprintf(others, sizeof others, "; those of %zu others too", sensors - 1);
  snprintf(diag->message, sizeof diag->message,
           "process noise is overestimated while parameters are learned: innovations of this sensor are "
           "anticorrelated "
           "(%.2f, %.3g sigma%s), which can drive off what is learned (%s) by more than it says; state less "
           "process "
           "noise (bramah tune finds how much)",
           correlation, size, others, learned);
  return doubt;
}
