/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Several models of a machine over one log: which is the right one, and what they say together. Part of libbramah-tools.
 *
 *   for (k ...) bramah_session_of_hypothesis(base, k, &diag, &session[k]);       of the study's section `hypotheses`
 *   for (k ...) bramah_assess_new(session[k], bramah_log_stream_next, log[k], NULL, &diag, &member[k]);
 *   bramah_hypotheses_new(n, member, NULL, &diag, &h);
 *   while (!(status = bramah_hypotheses_next(h, &end, &diag)) && !end) ... bramah_hypotheses_estimate(h) ...
 *   bramah_hypotheses_get_result(h, k).probability
 *
 * Multiple-model estimation: a filter for each model, side by side on the same measurements; by Bayes' rule the
 * probability of model k after them is proportional to its prior times their density under it,
 * exp(bramah_filter_log_likelihood). Exactly one of the models is taken to be right, over the whole log; where none is, the
 * nearest one wins all the same, and its verdict says so. Source: D. T. Magill, "Optimal adaptive estimation of sampled
 * stochastic processes", IEEE Trans. AC 10 (1965).
 *
 * Where noise is stated too large or too small, or what is considered (gains, delays) correlates the innovations, these
 * probabilities are too sure of themselves: thousands of samples that are not independent add up. So another number goes
 * along that takes no model for right: by how many standard deviations two log-likelihoods are apart, as their difference
 * varies from second to second. Where that is below 3, and the log-likelihoods are less than 100 apart (which ten samples for
 * one would leave beyond doubt, also where all is decided within a second), the log does not tell the two apart,
 * whatever their probabilities. Source: Q. H.
 * Vuong, "Likelihood ratio tests for model selection and non-nested hypotheses", Econometrica 57 (1989), with sums over
 * seconds for single samples. */
#ifndef BRAMAH_HYPOTHESES_H
#define BRAMAH_HYPOTHESES_H

#include "bramah/assess.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct bramah_hypotheses bramah_hypotheses;

/* What is wanted besides. */
typedef struct bramah_hypotheses_options {
  size_t n_threads; /* default 1; results have the same bits with any number */
  /* Called after each estimate of member k, on any thread, of one member one after the other, and ahead of
   * bramah_hypotheses_next. An error ends that member as one of its own. Default NULL. */
  bramah_status (*each)(void *user, size_t k, bramah_diag *diag);
  void *user;
} bramah_hypotheses_options;

/* All of them at their defaults. */
BRAMAH_API void bramah_hypotheses_options_default(bramah_hypotheses_options *options);

/* Weigh the n hypotheses of a study by n assessments at their start, member k on a session of hypothesis k
 * (bramah_session_of_hypothesis), each with a source of its own that delivers the same rows. They must outlive this and are
 * stepped by it only, some steps ahead. options may be NULL. Allocates. Errors: E_ARGUMENT (other members than the study has
 * hypotheses), E_MEMORY. */
BRAMAH_API bramah_status bramah_hypotheses_new(size_t n, bramah_assess *const *member,
                                               const bramah_hypotheses_options *options, bramah_diag *diag,
                                               bramah_hypotheses **out);
BRAMAH_API void bramah_hypotheses_free(bramah_hypotheses *hypotheses); /* NULL allowed; not the members */

/* Go on to the next estimate; *end = 1 when there is none. A member that fails, because its model cannot follow, drops out
 * with a probability of zero. Errors: where all fail, that of the one that was most probable. */
BRAMAH_API bramah_status bramah_hypotheses_next(bramah_hypotheses *hypotheses, int *end, bramah_diag *diag);

/* The present estimate of all together, in SI: the mean of each value and augmented state by the probabilities, and the
 * standard deviation of the mixture, the spread of the means included: sigma^2 = sum p (sigma_k^2 + (x_k - x)^2).
 * Innovations and NIS are those of the model that is most probable now; truth and model alone are not in it (NaN). */
BRAMAH_API const bramah_estimate *bramah_hypotheses_estimate(const bramah_hypotheses *hypotheses);
/* [n] at the time of this estimate, after its measurements. With samples that come late (delays) what has arrived. */
BRAMAH_API const double *bramah_hypotheses_probability(const bramah_hypotheses *hypotheses);
/* The most probable one; of equal ones the first. */
BRAMAH_API size_t bramah_hypotheses_leading(const bramah_hypotheses *hypotheses);

/* What became of a hypothesis, up to the present estimate. */
typedef struct bramah_hypothesis_result {
  const char *name;
  double prior, probability;
  double log_likelihood; /* of all measurements, see bramah_filter_log_likelihood */
  /* from the most probable one, in standard deviations; 0: it is that; NaN: less than 2 seconds */
  double apart;
  int is_told_apart; /* from it; 1 where it is that */
  /* Since when its probability has been above 0.95 without a break, and when it was so first; INT64_MAX: not */
  int64_t leads_from_ns, first_led_ns;
  bramah_status status; /* why it dropped out; OK: it did not */
  bramah_diag diag;
} bramah_hypothesis_result;

/* Hypothesis k < n. */
BRAMAH_API bramah_hypothesis_result bramah_hypotheses_get_result(const bramah_hypotheses *hypotheses,
                                                                 size_t k);

#ifdef __cplusplus
}
#endif
#endif
