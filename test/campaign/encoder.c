/* SPDX-License-Identifier: GPL-3.0-or-later */
/* An encoder alone on a boom: whatever the filter believes of its oil, payload and valve, it learns nothing from noise.
 * BRAMAH_SEEDS: runs. */
#include "bramah/log.h"
#include "test/support/four_bar.h"
#include "test/support/run.h"
#include "test/support/twin.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 3001, FEW = 20, SHOWN = 4, CAUSES = 8 };

static bramah_diag diag;

/* Parameters and biases drawn from the uncertainty budget. */
static size_t draw(const twin *t, uint64_t seed, twin_cause *cause)
{
  const bramah_filter_options *o = &t->about->options;
  bramah_noise *noise;
  size_t n = 0;
  must(bramah_noise_new(seed, "budget", &diag, &noise), &diag);
  for (size_t i = 0; i < o->n_augmented; i++) {
    const bramah_augmented *a = &o->augmented[i];
    const double z = bramah_noise_gaussian(noise, 1.0);
    if (a->kind != BRAMAH_AUGMENTED_PARAMETER && a->kind != BRAMAH_AUGMENTED_BIAS) continue;
    if (n == CAUSES) abort();
    cause[n] = (twin_cause){.kind = BRAMAH_CAUSE_BIAS, .size = a->sigma * z, .end_s = INFINITY};
    if (a->kind == BRAMAH_AUGMENTED_PARAMETER) {
      cause[n].kind = BRAMAH_CAUSE_PARAMETER;
      cause[n].target = must_find_parameter(&t->plant, a->at);
      const double nominal = t->plant.parameter(t->plant.self, cause[n].target);
      if (a->logarithmic) cause[n].size = nominal * (exp(a->sigma / nominal * z) - 1.0);
    }
    n++;
  }
  bramah_noise_free(noise);
  return n;
}

/* The oil's bulk modulus: how far off, in its standard deviations. */
static double oil_off(const twin *t, size_t n_causes, const twin_cause *cause)
{
  const size_t oil = must_find_parameter(&t->plant, "oil.bulk_modulus");
  bramah_parameter_info info;
  t->plant.parameter_info(t->plant.self, oil, &info);
  double truth = info.nominal;
  for (size_t c = 0; c < n_causes; c++)
    if (cause[c].kind == BRAMAH_CAUSE_PARAMETER && cause[c].target == oil) truth += cause[c].size;
  for (size_t i = 0;; i++) {
    const bramah_filter_augmented a = bramah_filter_get_augmented(bramah_session_filter(t->session), i);
    if (strcmp(t->about->options.augmented[i].at, "oil.bulk_modulus") == 0)
      return log(a.value / truth) / (a.sigma / a.value);
  }
}

/* As the model has it, or drawn. */
EACH_TEST(nothing_is_learned_from_noise, 0, 2)
{
  static const char *const name[SHOWN] = {"boom.angle", "boom.rate", "bottom.pressure", "top.pressure"};
  const char *text = getenv("BRAMAH_SEEDS");
  const int as_model = _i == 0, runs = text ? atoi(text) : FEW;
  double sum = 0.0, oil = 0.0;
  int wrong = 0;
  for (int run = 0; run < runs; run++) {
    double outside[SHOWN] = {0.0};
    size_t shown[SHOWN];
    int64_t time_ns;
    int corrected, end;
    twin_cause cause[CAUSES];
    bramah_replay *replay;
    twin t;
    twin_open(&t, &(twin_options){.study = "../test/campaign/boom-encoder.yaml",
                                  .rows = ROWS,
                                  .protect = 1,
                                  .budget = 1,
                                  .as_model = as_model});
    for (int i = 0; i < SHOWN; i++) shown[i] = must_find(&t.plant, name[i]);
    const size_t n_causes = as_model ? 0 : draw(&t, (uint64_t)run, cause);
    twin_run(&t, ROWS, (uint64_t)run, n_causes, cause, 0);
    must(bramah_replay_new(bramah_session_filter(t.session), NULL, twin_source, &t, &diag, &replay), &diag);
    for (size_t k = 0; k < ROWS; k++) {
      double e[SHOWN], ratio[SHOWN], nees;
      must(bramah_replay_next(replay, &time_ns, &corrected, &end, &diag), &diag);
      twin_compare(&t, k, SHOWN, shown, e, ratio, &nees);
      sum += nees / ROWS;
      for (int i = 0; i < SHOWN; i++) outside[i] += (ratio[i] > 3.92) / (double)ROWS;
    }
    int is_wrong = 0;
    for (int i = 0; i < SHOWN; i++) is_wrong |= outside[i] > 0.1;
    wrong += is_wrong;
    oil += pow(oil_off(&t, n_causes, cause), 2);
    bramah_replay_free(replay);
    twin_close(&t);
  }
  printf("%s: mean NEES %.2f, mean square of the oil's error %.2f, outside 3.92 sigma for a tenth of the "
         "time: %d of %d\n",
         as_model ? "as the model" : "drawn", sum / runs, oil / runs, wrong, runs);
  ck_assert_int_eq(wrong, 0);
  ck_assert_double_le(oil / runs, 2.0);
  ck_assert_double_le(sum / runs, 1.5);
  ck_assert(as_model || sum / runs > 0.5); /* bands are not wider than they need be */
}

int main(void) { return run_tests("encoder"); }
