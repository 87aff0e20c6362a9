/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What would explain innovations that contradict a filter: the log goes once more through a filter of the same study,
 * along with the score tests of all single causes (bramah_filter_get_scores). */
#include "lib/assess/assess_internal.h"

#include <math.h>
#include <stdlib.h>

static const double alike = 0.98; /* correlation of what two causes show in the innovations */
static const double explained_least =
    12; /* by a cause that is named: chi-square of one degree of freedom, 5e-4 */
static const double share_least = 0.05; /* of the excess */

typedef struct run {
  bramah_diagnosis found; /* first: what the user has */
  bramah_coupled *coupled;
  bramah_plant plant;
  bramah_filter *filter;
  bramah_replay *replay;
  bramah_explanation *cause;
} run;

void bramah_diagnosis_free(bramah_diagnosis *diagnosis)
{
  run *r = (run *)diagnosis;
  if (!r) return;
  bramah_replay_free(r->replay);
  bramah_filter_free(r->filter);
  bramah_coupled_free(r->coupled);
  free(r->cause);
  free(r);
}

static bramah_status make(run *r, bramah_session *session, bramah_source source, void *source_user,
                          bramah_diag *diag)
{
  const bramah_session_parts *about = bramah_session_about(session);
  const bramah_study *study = bramah_session_study(session);
  bramah_filter_options options = about->options;
  bramah_replay_options replay;
  options.scores = 1;
  options.transition = BRAMAH_TRANSITION_STEP; /* scores need what errors really become */
  options.fusion = BRAMAH_FUSION_SEQUENTIAL;
  options.iterations = 1;
  bramah_replay_options_default(&replay);
  replay.gather = 1;
  replay.max_gap_ns = study->log.longest_gap_ns;
  bramah_status status = bramah_coupled_new(about->machine->model, diag, &r->coupled);
  if (!status) status = bramah_session_start(session, r->coupled, diag);
  if (status) return status;
  bramah_coupled_set_injection(r->coupled, (bramah_injection)study->injection);
  r->plant = bramah_coupled_plant(r->coupled);
  status = bramah_filter_new(&r->plant, study->n_sensors, about->sensors, &options, diag, &r->filter);
  if (status) return status;
  r->cause = calloc(bramah_filter_get_scores(r->filter).n + 1, sizeof *r->cause);
  if (!r->cause) return bramah__fail_memory(diag);
  return bramah_replay_new(r->filter, &replay, source, source_user, diag, &r->replay);
}

static double explains(const bramah_filter_scores *s, size_t j)
{
  const double information = s->information[j * s->n + j];
  return information > 0.0 ? s->score[j] * s->score[j] / information : 0.0;
}

static double likeness(const bramah_filter_scores *s, size_t j, size_t k)
{
  const double shared = s->information[j > k ? j * s->n + k : k * s->n + j];
  return fabs(shared) / sqrt(s->information[j * s->n + j] * s->information[k * s->n + k]);
}

/* A parameter beyond its limits is no explanation. */
static int is_possible(const run *r, const bramah_filter_scores *s, size_t j)
{
  bramah_parameter_info info;
  if (s->cause[j].kind != BRAMAH_CAUSE_PARAMETER) return 1;
  r->plant.parameter_info(r->plant.self, s->cause[j].target, &info);
  const double value = info.nominal + s->score[j] / s->information[j * s->n + j];
  return value >= info.least && value <= info.most;
}

/* 1 if a delay of the same sensor over another lag says more. */
static int has_better_lag(const bramah_filter_scores *s, size_t j)
{
  for (size_t k = 0; s->cause[j].kind == BRAMAH_CAUSE_DELAY && k < s->n; k++)
    if (k != j && s->cause[k].kind == BRAMAH_CAUSE_DELAY && s->cause[k].target == s->cause[j].target &&
        explains(s, k) > explains(s, j))
      return 1;
  return 0;
}

/* The causes that explain enough, the one that explains most first; what cannot be told from an earlier one belongs
 * to its group. */
static void rank(run *r)
{
  const bramah_filter_scores s = bramah_filter_get_scores(r->filter);
  bramah_diagnosis *d = &r->found;
  size_t index[BRAMAH_EXPLANATIONS];
  double last = INFINITY;
  static const char *const what[] = {[BRAMAH_CAUSE_PARAMETER] = "parameter",
                                     [BRAMAH_CAUSE_BIAS] = "bias",
                                     [BRAMAH_CAUSE_GAIN] = "gain",
                                     [BRAMAH_CAUSE_DELAY] = "delay"};
  d->excess = s.chi_square - s.samples;
  d->samples = s.samples;
  d->cause = r->cause;
  while (d->n < BRAMAH_EXPLANATIONS) {
    size_t best = s.n;
    for (size_t j = 0; j < s.n; j++) {
      const double e = explains(&s, j);
      int taken = e > last || has_better_lag(&s, j) || !is_possible(r, &s, j);
      for (size_t k = 0; k < d->n; k++) taken |= index[k] == j;
      if (!taken && e > explained_least && e > share_least * d->excess &&
          (best == s.n || e > explains(&s, best)))
        best = j;
    }
    if (best == s.n) return;
    bramah_parameter_info parameter = {.nominal = NAN};
    if (s.cause[best].kind == BRAMAH_CAUSE_PARAMETER)
      r->plant.parameter_info(r->plant.self, s.cause[best].target, &parameter);
    bramah_explanation *out = &r->cause[d->n];
    *out = (bramah_explanation){.kind = s.cause[best].kind,
                                .what = what[s.cause[best].kind],
                                .name = s.cause[best].name,
                                .unit = s.cause[best].unit,
                                .change = s.score[best] / s.information[best * s.n + best],
                                .sigma = 1.0 / sqrt(s.information[best * s.n + best]),
                                .nominal = parameter.nominal,
                                .share = d->excess > 0.0 ? fmin(explains(&s, best) / d->excess, 1.0) : 0.0,
                                .group = d->n};
    for (size_t k = d->n; k-- > 0;)
      if (likeness(&s, best, index[k]) > alike) out->group = r->cause[k].group;
    index[d->n++] = best;
    last = explains(&s, best);
  }
}

bramah_status bramah_diagnose(bramah_session *session, bramah_source source, void *source_user,
                              int64_t from_ns, int64_t to_ns, bramah_diag *diag, bramah_diagnosis **out)
{
  run *r = calloc(1, sizeof *r);
  int end = 0, corrected, begun = 0;
  int64_t t = 0;
  bramah_diag_clear(diag);
  if (!r) return bramah__fail_memory(diag);
  bramah_status status = make(r, session, source, source_user, diag);
  while (!status && !(begun && t >= to_ns)) {
    status = bramah_replay_next(r->replay, &t, &corrected, &end, diag);
    if (status || end) break;
    if (!begun && t >= from_ns) {
      bramah_filter_restart_scores(r->filter);
      r->found.begin = 1e-9 * (double)t;
      begun = 1;
    }
    r->found.end = 1e-9 * (double)t;
  }
  if (status) {
    bramah_diagnosis_free(&r->found);
    return status;
  }
  if (begun) rank(r);
  *out = &r->found;
  return BRAMAH_OK;
}
