/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What would explain innovations that contradict a filter: the log goes once more through a filter of the same study,
 * along with the score tests of all single causes (bramah_filter_get_scores). A short log as a whole; of a long one the
 * stretch around the first window that contradicts, from an estimate on that the assessment has kept. */
#include "lib/assess/assess_internal.h"
#include "lib/io/session.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double alike = 0.98; /* correlation of what two causes show in the innovations */
static const double explained_least =
    12; /* by a cause that is named: chi-square of one degree of freedom, 5e-4 */
static const double share_least = 0.05; /* of the excess */
static const double gain_most = 2.0;
static const double reach = 4.0; /* [sigma] of an opening, as of the filter (estimators/kinks.c) */
static const double nearly_all = 0.9, nearly_as_much = 0.95; /* explained */

/* A cause may have begun before the first window that contradicts, or within it: onsets that are tried, in tenths of its
 * length from its begin on. */
static const int64_t onset_at[] = {-20, -14, -10, -8, -6, -4, -3, -2, -1, 0, 2, 4, 6, 8};
enum {
  REJECTED = sizeof onset_at / sizeof *onset_at + 1, /* from where a gate begins to reject in that window */
  BANKS
}; /* of scores; the first one from the start of the log on */

/* What may be spent: products in the scores of all steps, about a second; or a part of the log. */
static const double most_products = 1e10;
static const int64_t part_of_log = 80;
static const int64_t least_ns = 3000000000; /* are looked at */

typedef struct run {
  bramah_diagnosis found; /* first: what the user has */
  bramah_source source;   /* of the log, from its start */
  void *source_user;
  int64_t from_ns, to_ns; /* looked at */
  int is_part;            /* 1: less than the log; then */
  size_t kept;            /* estimate that it begins with */
  size_t n_sensors;
  bramah_program *program; /* with derivatives by parameters; NULL: the session's has them */
  bramah_another_plant other;
  bramah_plant plant;
  bramah_filter *filter;
  bramah_replay *replay;
  int64_t onset[BANKS]; /* of the scores in each bank */
  bramah_explanation *cause;
  size_t *index;         /* of those causes among the scores */
  unsigned char *blamed; /* [n_sensors] 1: itself or its bias or gain contradicts */
  unsigned *rejected;    /* [n_sensors] in a row */
  double *near; /* [n_kinks] samples of these in the first window at which a valve is about to open */
  double samples;
} run;

void bramah_diagnosis_free(bramah_diagnosis *diagnosis)
{
  run *r = (run *)diagnosis;
  if (!r) return;
  bramah_replay_free(r->replay);
  bramah_filter_free(r->filter);
  bramah_another_plant_free(&r->other);
  bramah_program_free(r->program);
  free(r->cause);
  free(r->index);
  free(r->near);
  free(r->rejected);
  free(r->blamed);
  free(r);
}

/* ---- which part of the log ---- */

/* The first window that contradicts, of those that end with it the shortest; to_ns INT64_MAX: none is known. */
static void first_window(const bramah_verdict *v, int64_t *from_ns, int64_t *to_ns)
{
  *from_ns = INT64_MIN;
  *to_ns = INT64_MAX;
  for (size_t i = 0; i < v->n; i++) {
    const bramah_finding *f = &v->finding[i];
    if (f->passed || isnan(f->amount)) continue;
    const int64_t begin = llround(1e9 * f->since), end = begin + llround(1e9 * (f->end - f->begin));
    if (end > *to_ns || (end == *to_ns && begin < *from_ns)) continue;
    *from_ns = begin;
    *to_ns = end;
  }
}

/* Products in the scores of a step of a filter with n states. */
static double products(const bramah_assess *a, size_t n)
{
  enum { OF_A_SENSOR = 5 }; /* causes */
  const double m = (double)(a->plant->n_parameter + OF_A_SENSOR * a->n_sensors), states = (double)n;
  return BANKS * m * (states * states + (double)a->n_sensors * (0.5 * m + 2.0 * states));
}

/* All of the log, or from the first onset that is tried, or later, to beyond the end of the first window: half of what may be looked
 * at lies behind that. */
static void choose_part(run *r, const bramah_assess *a, int64_t begin_ns, int64_t end_ns)
{
  const bramah_assess_totals *totals = &a->totals;
  const int64_t log_ns = totals->last_ns - totals->first_ns, step_ns = a->plant->step_ns;
  const size_t n = bramah_filter_get_info(a->filter).n_error,
               n_budget = bramah_session_about(a->session)->n_budget;
  r->from_ns = INT64_MIN;
  r->to_ns = totals->last_ns;
  r->is_part = a->n_kept && products(a, n - n_budget) * (double)log_ns > most_products * (double)step_ns;
  if (!r->is_part) return;
  int64_t most_ns = llround(most_products / products(a, n)) * step_ns;
  if (most_ns < log_ns / part_of_log) most_ns = log_ns / part_of_log;
  if (most_ns < least_ns) most_ns = least_ns;
  if (end_ns == INT64_MAX) end_ns = begin_ns = totals->first_ns;
  if (end_ns > begin_ns + most_ns / 2) end_ns = begin_ns + most_ns / 2;
  const int64_t first_ns = begin_ns + onset_at[0] * ((end_ns - begin_ns) / 10);
  const int64_t latest_ns = first_ns < end_ns - most_ns / 2 ? end_ns - most_ns / 2 : first_ns;
  size_t k = 0;
  while (k + 1 < a->n_kept && a->kept_ns[k + 1] <= latest_ns) k++;
  r->kept = k;
  r->from_ns = a->kept_ns[k];
  if (r->to_ns > r->from_ns + most_ns) r->to_ns = r->from_ns + most_ns;
  if (r->to_ns < end_ns) r->to_ns = end_ns;
}

/* Rows from `from_ns` on; the first one with all commands that are in force then. What was measured then is in the estimate. */
static bramah_status rest_of_log(void *user, bramah_sample *sample, int *end, bramah_diag *diag)
{
  run *r = user;
  bramah_status status;
  do {
    memset(sample->present, 0, r->n_sensors * sizeof *sample->present);
    status = r->source(r->source_user, sample, end, diag);
  } while (!status && !*end && sample->time_ns < r->from_ns);
  if (!status && !*end && sample->time_ns == r->from_ns)
    memset(sample->present, 0, r->n_sensors * sizeof *sample->present);
  return status;
}

/* ---- the filter with scores ---- */

/* The estimate of the session's filter at that time becomes that of the filter with scores. */
static bramah_status go_to_kept(run *r, const bramah_assess *a, bramah_diag *diag)
{
  const bramah_session_parts *about = bramah_session_about(a->session);
  bramah_another_plant other;
  bramah_filter *filter = NULL;
  bramah_status status = bramah_session_another(a->session, diag, &other);
  if (!status) {
    status = bramah_filter_new(&other.plant, a->n_sensors, about->sensors, &about->options, diag, &filter);
  }
  if (!status) status = bramah_filter_restore(filter, a->kept + r->kept * a->kept_size);
  if (!status && bramah_filter_take_over(r->filter, filter))
    status = bramah__failf(diag, BRAMAH_E_ARGUMENT, NULL, 0, "diagnosis",
                           "the estimate that was kept is of other states");
  bramah_filter_free(filter);
  bramah_another_plant_free(&other);
  bramah_filter_estimate_all(r->filter); /* so that innovations are white */
  return status;
}

static bramah_status make(run *r, const bramah_assess *a, bramah_diag *diag)
{
  bramah_session *session = a->session;
  const bramah_session_parts *about = bramah_session_about(session);
  const bramah_study *study = bramah_session_study(session);
  bramah_filter_options options = about->options;
  bramah_replay_options replay;
  options.scores = BANKS;
  if (!r->is_part) /* what is considered makes innovations alike, which scores take for white */
    options.n_augmented -= about->n_budget;
  options.transition = BRAMAH_TRANSITION_STEP; /* scores need what errors really become */
  options.fusion = BRAMAH_FUSION_SEQUENTIAL;
  options.iterations = 1;
  bramah_replay_options_default(&replay);
  replay.gather = 1;
  replay.max_gap_ns = study->log.longest_gap_ns;
  bramah_status status = bramah_session_another(session, diag, &r->other);
  const bramah_program *program = about->machine->program;
  if (!status && program &&
      bramah_program_get_info(program).n_parameters < about->machine->plant.n_parameter) {
    r->program = bramah__machine_program(about->machine, BRAMAH_PROGRAM_PARAMETERS, 0, NULL);
    status = bramah_coupled_use(r->other.coupled, r->program, diag);
  }
  if (status) return status;
  r->plant = r->other.plant;
  status = bramah_filter_new(&r->plant, study->n_sensors, about->sensors, &options, diag, &r->filter);
  if (status) return status;
  const size_t n = bramah_filter_get_scores(r->filter, 0).n;
  r->cause = calloc(n + 1, sizeof *r->cause);
  r->index = calloc(n + 1, sizeof *r->index);
  r->near = calloc(r->plant.n_kinks + 1, sizeof *r->near);
  r->rejected = calloc(r->n_sensors + 1, sizeof *r->rejected);
  r->blamed = calloc(r->n_sensors + 1, 1);
  if (!r->cause || !r->index || !r->near || !r->rejected || !r->blamed) return bramah__fail_memory(diag);
  if (!r->is_part) return bramah_replay_new(r->filter, &replay, r->source, r->source_user, diag, &r->replay);
  status = go_to_kept(r, a, diag);
  return status ? status : bramah_replay_new(r->filter, &replay, rest_of_log, r, diag, &r->replay);
}

/* ---- what explains most ---- */

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

/* No explanation are a parameter beyond its limits, a sensor that shows the future, and a gain that is several times too
 * large. */
static int is_possible(const run *r, const bramah_filter_scores *s, size_t j)
{
  bramah_parameter_info info;
  const bramah_cause *cause = &s->cause[j];
  const double change = s->score[j] / s->information[j * s->n + j];
  const double sigma = 1.0 / sqrt(s->information[j * s->n + j]);
  switch (cause->kind) {
  case BRAMAH_CAUSE_PARAMETER:
    r->plant.parameter_info(r->plant.self, cause->target, &info);
    return info.nominal + change >= info.least && info.nominal + change <= info.most;
  case BRAMAH_CAUSE_GAIN:
    return fabs(change) < gain_most;
  case BRAMAH_CAUSE_DELAY:
    return change + 3.0 * sigma >
           -1e-9 * (double)bramah_filter_get_info(r->filter).sensor[cause->target].delay_ns;
  case BRAMAH_CAUSE_BIAS:
    break;
  }
  return 1;
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

/* The cause, behind the n in `index`, that explains most of what the scores have seen, enough to be named, and of what
 * cannot be told from the first one after so many others; s->n: none. */
static size_t next_best(const run *r, const bramah_filter_scores *s, size_t n, const size_t *index)
{
  const double excess = s->chi_square - s->samples, last = n ? explains(s, index[n - 1]) : INFINITY;
  size_t best = s->n;
  for (size_t j = 0; j < s->n; j++) {
    const double e = explains(s, j);
    int taken = e > last || !(e > explained_least) || !(e > share_least * excess);
    for (size_t k = 0; k < n; k++) taken |= index[k] == j;
    if (n >= BRAMAH_EXPLANATIONS && !taken) taken = !(likeness(s, j, index[0]) > alike);
    if (taken || (best != s->n && !(e > explains(s, best))) || has_better_lag(s, j) || !is_possible(r, s, j))
      continue;
    best = j;
  }
  return best;
}

/* The causes that explain enough, the one that explains most first; what cannot be told from the first one of a group
 * belongs to it. */
static void list(run *r, const bramah_filter_scores *s)
{
  static const char *const what[] = {[BRAMAH_CAUSE_PARAMETER] = "parameter",
                                     [BRAMAH_CAUSE_BIAS] = "bias",
                                     [BRAMAH_CAUSE_GAIN] = "gain",
                                     [BRAMAH_CAUSE_DELAY] = "delay"};
  bramah_diagnosis *d = &r->found;
  size_t *index = r->index, best = 0;
  d->excess = s->chi_square - s->samples;
  d->samples = s->samples;
  for (d->n = 0; (best = next_best(r, s, d->n, index)) != s->n; d->n++) {
    bramah_parameter_info parameter = {.nominal = NAN};
    if (s->cause[best].kind == BRAMAH_CAUSE_PARAMETER)
      r->plant.parameter_info(r->plant.self, s->cause[best].target, &parameter);
    bramah_explanation *out = &r->cause[d->n];
    *out = (bramah_explanation){.kind = s->cause[best].kind,
                                .what = what[s->cause[best].kind],
                                .name = s->cause[best].name,
                                .unit = s->cause[best].unit,
                                .change = s->score[best] / s->information[best * s->n + best],
                                .sigma = 1.0 / sqrt(s->information[best * s->n + best]),
                                .nominal = parameter.nominal,
                                .share = d->excess > 0.0 ? fmin(explains(s, best) / d->excess, 1.0) : 0.0,
                                .group = d->n};
    for (size_t k = d->n; k-- > 0;)
      if (r->cause[k].group == k && likeness(s, best, index[k]) > alike) out->group = k;
    index[d->n] = best;
  }
}

/* 1 if what was found explains nearly everything, and no other group of causes nearly as much. */
static int is_settled(const bramah_diagnosis *d)
{
  for (size_t i = 1; i < d->n; i++)
    if (d->cause[i].group && d->cause[i].share > nearly_as_much * d->cause[0].share) return 0;
  return d->n && d->cause[0].share > nearly_all;
}

/* Of all banks the one whose first cause explains most. A longer stretch tells more causes apart, but a cause may have ended in
 * it, or have led the filter too far away: what was found earlier stays where it is settled, or explained more. */
static void rank(run *r, int64_t now)
{
  bramah_filter_scores best = {.n = 0};
  size_t of = 0;
  double most = 0.0;
  for (size_t b = 0; b < BANKS; b++) {
    const bramah_filter_scores s = bramah_filter_get_scores(r->filter, b);
    if (r->onset[b] >= now) continue;
    const size_t j = next_best(r, &s, 0, NULL);
    if (j == s.n || !(explains(&s, j) > most)) continue;
    most = explains(&s, j);
    best = s;
    of = b;
  }
  const double excess = best.chi_square - best.samples;
  if (!best.n || is_settled(&r->found)) return;
  if (r->found.n && !(most > nearly_all * r->found.cause[0].share * excess)) return;
  r->found.begin = 1e-9 * (double)r->onset[of];
  r->found.end = 1e-9 * (double)now;
  list(r, &best);
}

/* ---- valves that open ---- */

/* Sensors that contradict, or whose bias or gain does. */
static void blame(run *r, const bramah_assess_results *results)
{
  for (size_t k = 0; k < results->verdict.n; k++) {
    const bramah_finding *f = &results->verdict.finding[k];
    for (size_t i = 0; !f->passed && !isnan(f->amount) && i < r->n_sensors; i++) {
      const char *name = results->sensor[i].name;
      const size_t n = strlen(name);
      r->blamed[i] |= strncmp(f->at, name, n) == 0 && (f->at[n] == '\0' || f->at[n] == '.');
    }
  }
}

/* 1: `last` has a sample of such a sensor of the volume with this first-order state. */
static int is_blamed(const run *r, const bramah_filter_last *last, size_t n, size_t state)
{
  int is = 0;
  for (size_t i = 0; i < r->n_sensors; i++)
    is |=
        r->blamed[i] && last->innovation[i].present && last->rows[i * n + 2 * r->plant.n_dof + state] != 0.0;
  return is;
}

/* At a sample: which valves at the volumes of such sensors are about to open, by what is believed of the pressures. */
static void note_openings(run *r)
{
  const bramah_filter_last last = bramah_filter_get_last(r->filter);
  const size_t n = bramah_filter_get_info(r->filter).n_error, first = 2 * r->plant.n_dof;
  const double *P = bramah_filter_covariance(r->filter);
  r->samples++;
  for (size_t k = 0; k < r->plant.n_kinks; k++) {
    double variance = 0.0;
    int is_there = 0;
    bramah_kink kink;
    r->plant.kink(r->plant.self, k, &kink);
    for (int a = 0; a < 2; a++) {
      if (kink.by[a] == 0.0) continue;
      is_there |= is_blamed(r, &last, n, kink.state[a]);
      for (int b = 0; b < 2; b++)
        if (kink.by[b] != 0.0)
          variance += kink.by[a] * kink.by[b] * P[(first + kink.state[a]) * n + first + kink.state[b]];
    }
    r->near[k] += is_there && kink.value * kink.value < reach * reach * variance;
  }
}

/* A cause that comes at once is seen by the gates, which reject one sample after the other; what they reject moves nothing. */
static void look_for_rejected(run *r, int64_t t)
{
  enum { IN_A_ROW = 3 };
  const bramah_filter_last last = bramah_filter_get_last(r->filter);
  int is = 0;
  for (size_t i = 0; i < r->n_sensors; i++) {
    const bramah_innovation *in = &last.innovation[i];
    if (in->present) r->rejected[i] = in->accepted ? 0 : r->rejected[i] + 1;
    is |= r->rejected[i] >= IN_A_ROW;
  }
  if (!is) return;
  bramah_filter_restart_scores(r->filter, REJECTED);
  r->onset[REJECTED] = t;
}

static void name_opening(run *r)
{
  for (size_t k = 0; k < r->plant.n_kinks; k++) {
    bramah_kink kink;
    if (!(r->near[k] > 0.5 * r->samples) || !(r->near[k] > r->found.opens_share * r->samples)) continue;
    r->plant.kink(r->plant.self, k, &kink);
    r->found.opens = kink.name;
    r->found.opens_share = r->near[k] / r->samples;
  }
}

bramah_status bramah_diagnose(bramah_assess *assess, bramah_source source, void *source_user,
                              bramah_diag *diag, bramah_diagnosis **out)
{
  run *r = calloc(1, sizeof *r);
  int64_t begin_ns, end_ns, t = INT64_MIN;
  int end = 0, corrected;
  bramah_diag_clear(diag);
  if (!r) return bramah__fail_memory(diag);
  r->source = source;
  r->source_user = source_user;
  r->n_sensors = assess->n_sensors;
  const bramah_assess_results *results = bramah_assess_get_results(assess);
  first_window(&results->verdict, &begin_ns, &end_ns);
  r->onset[REJECTED] = INT64_MAX;
  for (size_t b = 1; b < REJECTED; b++)
    r->onset[b] = end_ns < INT64_MAX ? begin_ns + onset_at[b - 1] * ((end_ns - begin_ns) / 10) : INT64_MAX;
  choose_part(r, assess, begin_ns, end_ns);
  bramah_status status = make(r, assess, diag);
  if (!status) blame(r, results);
  r->found.cause = r->cause;
  for (size_t bank = 0; !status && t < r->to_ns;) {
    const int64_t before = t;
    status = bramah_replay_next(r->replay, &t, &corrected, &end, diag);
    if (status || end) break;
    if (!bank) r->found.from = 1e-9 * (double)t, r->onset[bank++] = t; /* from the start */
    for (; bank < REJECTED && r->onset[bank] <= t; bank++)
      if (r->onset[bank] > r->onset[0]) bramah_filter_restart_scores(r->filter, bank);
    const int is_in_first = corrected && t >= begin_ns && t <= end_ns;
    if (is_in_first && r->onset[REJECTED] == INT64_MAX) look_for_rejected(r, t);
    if (before < end_ns && t >= end_ns) rank(r, t);
    if (is_in_first) note_openings(r);
  }
  if (status) {
    bramah_diagnosis_free(&r->found);
    return status;
  }
  rank(r, t);
  name_opening(r);
  r->found.to = 1e-9 * (double)t;
  r->found.is_part = r->is_part;
  *out = &r->found;
  return BRAMAH_OK;
}
