/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/cli/tune_validate.h"
#include "lib/cli/message.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Half the 95 % quantile of chi-square with one degree of freedom. */
static const double level = 1.920729;

static bramah_status fail_memory(bramah_diag *diag)
{
  return cli_fail(diag, BRAMAH_E_MEMORY, NULL, 0, NULL, "out of memory");
}

/* Where cost crosses the level between two points of a scale. */
static double crossing(double z0, double cost0, double z1, double cost1, double limit)
{
  const double a = sqrt(fmax(cost0, 0.0)), b = sqrt(fmax(cost1, 0.0));
  return b > a ? z0 + (z1 - z0) * (sqrt(limit) - a) / (b - a) : z1;
}

/* ---- figures that the slope tells little of ---- */

/* Where the other figures go when figure j moves by dz, as the information tells: they solve I_oo d = -I_oj
 * dz, by Gauss-Seidel, which converges for it and is as good as needed as a start. */
static void lean(const cli_tune_certainty *c, const double *information, size_t j, double dz, double *z)
{
  const size_t n = c->n;
  double d[CLI_TUNE_MOST] = {0};
  d[j] = dz;
  for (int round = 0; round < 100; round++)
    for (size_t i = 0; i < n; i++) {
      if (i == j || c->held[i]) continue;
      double sum = 0.0;
      for (size_t k = 0; k < n; k++)
        if (k != i) sum += information[i * n + k] * d[k];
      d[i] = -sum / information[i * n + i];
    }
  for (size_t i = 0; i < n; i++) z[i] += d[i];
}

enum { N_LOOKS = 24 };
/* A standard error on a logarithmic scale from which on the cost is no parabola. */
static const double weak = 0.15;

typedef struct tune_stretch {
  size_t j;
  double low, high; /* looked at, on the figure's scale */
} tune_stretch;

static double look_at(const tune_stretch *s, size_t i)
{
  return s->low + (s->high - s->low) * (double)i / (N_LOOKS - 1);
}

static tune_stretch choose_stretch(const cli_tune_certainty *c, const cli_tuned *t, size_t j)
{
  tune_stretch s = {j, cli_tune_scaled(t, t->least), cli_tune_scaled(t, t->most)};
  const double z = cli_tune_scaled(t, c->x[j]);
  if (c->held[j]) return s;
  /* Downwards a noise that is weak may vanish altogether. */
  s.high = fmin(s.high, z + 6.0 * c->sigma[j]);
  s.low = fmax(s.low, z - 8.0 * fmax(c->sigma[j], t->linear ? 0.0 : 1.0));
  return s;
}

/* The set in which figure j stands at z_j and the others lean with it. Variances add up, so what a logarithm
 * loses downwards counts ever less. */
static void lean_set(const cli_tune_lab *lab, const char *set, const cli_tune_certainty *c,
                     const double *information, size_t j, double z_j, char *out)
{
  double x[CLI_TUNE_MOST], z[CLI_TUNE_MOST] = {0};
  cli_tune_set_numbers(lab, set, x);
  for (size_t i = 0; i < lab->n; i++) z[i] = cli_tune_scaled(&lab->tuned[i], x[i]);
  const double dz = z_j - z[j];
  if (information[j * lab->n + j] > 0.0 && !c->held[j])
    lean(c, information, j, lab->tuned[j].linear || dz > 0.0 ? dz : 0.5 * expm1(2.0 * dz), z);
  z[j] = z_j;
  for (size_t i = 0; i < lab->n; i++) x[i] = cli_tune_unscaled(&lab->tuned[i], z[i]);
  cli_tune_set_text(lab, x, out);
}

/* Costs at looks across a stretch. */
static bramah_status look_across(cli_tune_search *s, const char *set, const cli_tune_certainty *c,
                                 const double *information, const tune_stretch *stretch, double *cost,
                                 bramah_diag *diag)
{
  const size_t size = cli_tune_n_figures(s->lab, 0), n = N_LOOKS * s->n_logs;
  char(*sets)[CLI_TUNE_TEXT] = calloc(N_LOOKS, sizeof *sets);
  double *block = calloc(n * size + 1, sizeof *block), **figures = calloc(n + 1, sizeof *figures);
  bramah_status status = sets && block && figures ? BRAMAH_OK : fail_memory(diag);
  for (size_t i = 0; !status && i < n; i++) figures[i] = block + i * size;
  for (size_t i = 0; !status && i < N_LOOKS; i++)
    lean_set(s->lab, set, c, information, stretch->j, look_at(stretch, i), sets[i]);
  if (!status) status = cli_tune_evaluate_all(s, N_LOOKS, sets, 1000, figures, diag);
  for (size_t i = 0; !status && i < N_LOOKS; i++) {
    const cli_tune_verdict v = cli_tune_judge(s->lab, s->n_logs, s->logs, figures + i * s->n_logs);
    double x[CLI_TUNE_MOST];
    cli_tune_set_numbers(s->lab, sets[i], x);
    cost[i] = cli_tune_criterion_value(&v, BRAMAH_TUNE_LIKELIHOOD) + cli_tune_penalty(s, x, NULL, NULL);
    cli_tune_note_tried(s, sets[i], 0, &v, cost[i]);
  }
  free(sets);
  free(block);
  free(figures);
  return status;
}

/* From the outermost looks below the level outwards. */
static void bound(cli_tune_certainty *c, const cli_tuned *t, const tune_stretch *s, const double *cost,
                  double least, double limit)
{
  size_t first = N_LOOKS, last = N_LOOKS;
  for (size_t i = 0; i < N_LOOKS; i++) {
    if (!(cost[i] - least < limit)) continue;
    if (first == N_LOOKS) first = i;
    last = i;
  }
  if (first == N_LOOKS) return; /* narrower than the looks are apart */
  const double z = cli_tune_scaled(t, c->x[s->j]);
  double low = look_at(s, first), high = look_at(s, last);
  if (first > 0)
    low = crossing(low, cost[first] - least, look_at(s, first - 1), cost[first - 1] - least, limit);
  if (last + 1 < N_LOOKS)
    high = crossing(high, cost[last] - least, look_at(s, last + 1), cost[last + 1] - least, limit);
  c->low[s->j] = cli_tune_unscaled(t, fmin(low, z));
  c->high[s->j] = cli_tune_unscaled(t, fmax(high, z));
}

static int is_weak(const cli_tune_certainty *c, const cli_tuned *t, size_t j)
{
  return c->held[j] != CLI_TUNE_FREE || (!t->linear && c->sigma[j] > weak);
}

bramah_status cli_tune_bound_weak(cli_tune_certainty *certainty, cli_tune_search *search, const char *set,
                                  const double *information, bramah_diag *diag)
{
  cli_tune_certainty *c = certainty;
  bramah_status status = BRAMAH_OK;
  search->phase = "range";
  for (size_t j = 0; !status && j < c->n; j++) {
    const cli_tuned *t = &search->lab->tuned[j];
    double cost[N_LOOKS], least;
    cli_tune_verdict verdict;
    if (!is_weak(c, t, j)) continue;
    const tune_stretch s = choose_stretch(c, t, j);
    status = look_across(search, set, c, information, &s, cost, diag);
    if (!status) status = cli_tune_evaluate(search, set, 0, 0, &least, &verdict, diag);
    for (size_t i = 0; !status && i < N_LOOKS; i++) least = fmin(least, cost[i]);
    /* As much wider as the scatter of the slopes makes the standard error. */
    const double wider = c->held[j] ? 1.0 : c->sigma[j] / c->fisher[j];
    if (!status) bound(c, t, &s, cost, least, level * wider * wider);
  }
  return status;
}

/* ---- cross-validation ---- */

static void take_over_tried(cli_tune_search *to, cli_tune_search *from)
{
  cli_tune_tried *tried = realloc(to->tried, (to->n_tried + from->n_tried + 1) * sizeof *tried);
  if (!tried) return;
  to->tried = tried;
  for (size_t i = 0; i < from->n_tried; i++) to->tried[to->n_tried++] = from->tried[i];
  to->room = to->n_tried;
  from->n_tried = 0;
}

static cli_tune_search *branch_off(const cli_tune_search *search, cli_tune_search *out, size_t n,
                                   const size_t *logs, bramah_diag *diag)
{
  if (cli_tune_search_open(out, search->lab, search->crew, n, logs, diag)) return NULL;
  out->criterion = search->criterion;
  out->method = search->method;
  out->penalty = search->penalty;
  out->budget = 0;
  out->until = search->until;
  out->seed = search->seed;
  out->starts = search->starts;
  out->unit = search->unit;
  out->phase = "fold";
  out->talks = search->talks;
  memcpy(out->white, search->white, search->lab->n * sizeof *out->white);
  memcpy(out->samples, search->samples, search->lab->n * sizeof *out->samples);
  return out;
}

/* Tune on some logs, beginning at set, which becomes the outcome. */
static bramah_status tune_on(cli_tune_search *search, size_t n, const size_t *logs, char *set,
                             bramah_diag *diag)
{
  cli_tune_search other = {0};
  bramah_optimum optimum;
  bramah_status status = branch_off(search, &other, n, logs, diag) ? BRAMAH_OK : diag->status;
  if (!status) status = cli_tune_optimise(&other, set, NULL, &optimum, diag);
  search->evaluations += other.evaluations;
  take_over_tried(search, &other);
  cli_tune_search_close(&other);
  return status;
}

static bramah_status judge_on(cli_tune_search *search, size_t n, const size_t *logs, const char *set,
                              cli_tune_verdict *verdict, bramah_diag *diag)
{
  cli_tune_search other = {0};
  double value;
  bramah_status status = branch_off(search, &other, n, logs, diag) ? BRAMAH_OK : diag->status;
  if (!status) status = cli_tune_evaluate(&other, set, 0, 0, &value, verdict, diag);
  search->evaluations += other.evaluations;
  take_over_tried(search, &other);
  cli_tune_search_close(&other);
  return status;
}

static bramah_status run_fold(cli_tune_fold *fold, cli_tune_search *search, size_t f, size_t n,
                              const char *given, const char *set, bramah_diag *diag)
{
  size_t *kept = calloc(search->n_logs + 1, sizeof *kept), n_kept = 0;
  fold->held = calloc(search->n_logs + 1, sizeof *fold->held);
  if (!kept || !fold->held) {
    free(kept);
    return fail_memory(diag);
  }
  for (size_t k = 0; k < search->n_logs; k++) {
    if (k % n == f)
      fold->held[fold->n_held++] = search->logs[k];
    else
      kept[n_kept++] = search->logs[k];
  }
  memcpy(fold->set, set, CLI_TUNE_TEXT);
  bramah_status status = tune_on(search, n_kept, kept, fold->set, diag);
  free(kept);
  if (!status) status = judge_on(search, fold->n_held, fold->held, given, &fold->given, diag);
  if (!status) status = judge_on(search, fold->n_held, fold->held, fold->set, &fold->found, diag);
  return status ? status : judge_on(search, fold->n_held, fold->held, set, &fold->all, diag);
}

bramah_status cli_tune_cross_validate(cli_tune_folds *folds, cli_tune_search *search, size_t n,
                                      const char *given, const char *set, bramah_diag *diag)
{
  if (n > search->n_logs) n = search->n_logs;
  folds->fold = calloc(n, sizeof *folds->fold);
  if (!folds->fold) return fail_memory(diag);
  folds->n = n;
  bramah_status status = BRAMAH_OK;
  for (size_t f = 0; !status && f < n; f++)
    status = run_fold(&folds->fold[f], search, f, n, given, set, diag);
  return status;
}

void cli_tune_folds_free(cli_tune_folds *folds)
{
  for (size_t f = 0; f < folds->n; f++) free(folds->fold[f].held);
  free(folds->fold);
}

static const char *base_name(const char *path)
{
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

static void add_verdict(cli_table *table, const cli_tune_verdict *v)
{
  cli_table_add(table, "%.5f", v->cost / v->used);
  cli_table_add_number(table, v->nis);
}

cli_table cli_tune_folds_table(const cli_tune_folds *folds, const cli_tune_lab *lab)
{
  static const char *const header[] = {"left out", "as given",      "NIS", "tuned without",
                                       "NIS",      "tuned with it", "NIS"};
  cli_table table = cli_table_make("Cross-validation on logs left out (cost per innovation: less is better)",
                                   "lrrrrrr", header);
  for (size_t f = 0; f < folds->n; f++) {
    const cli_tune_fold *fold = &folds->fold[f];
    if (!fold->n_held) continue;
    if (fold->n_held == 1)
      cli_table_add(&table, "%s", base_name(lab->logs[fold->held[0]].path));
    else
      cli_table_add(&table, "%s and %zu more", base_name(lab->logs[fold->held[0]].path), fold->n_held - 1);
    add_verdict(&table, &fold->given);
    add_verdict(&table, &fold->found);
    add_verdict(&table, &fold->all);
  }
  return table;
}

cli_table cli_tune_spread_table(const cli_tune_folds *folds, const cli_tune_lab *lab)
{
  static const char *const header[] = {"figure", "unit", "least of the folds", "mean", "most of the folds"};
  cli_table table = cli_table_make("Figures found without some of the logs", "llrrr", header);
  double x[CLI_TUNE_MOST];
  for (size_t i = 0; i < lab->n; i++) {
    double least = (double)INFINITY, most = -(double)INFINITY, sum = 0.0;
    for (size_t f = 0; f < folds->n; f++) {
      cli_tune_set_numbers(lab, folds->fold[f].set, x);
      least = fmin(least, x[i]);
      most = fmax(most, x[i]);
      sum += x[i] / (double)folds->n;
    }
    cli_table_add(&table, "%s", lab->tuned[i].name);
    cli_table_add(&table, "%s", lab->tuned[i].unit);
    cli_table_add_number(&table, least);
    cli_table_add_number(&table, sum);
    cli_table_add_number(&table, most);
  }
  return table;
}

/* ---- profiles ---- */

static bramah_status profile_point(cli_tune_search *s, const char *set, const cli_tune_certainty *c,
                                   const double *information, size_t j, double z_j, double *cost,
                                   bramah_diag *diag)
{
  const cli_tune_lab *lab = s->lab;
  double x[CLI_TUNE_MOST], z[CLI_TUNE_MOST] = {0};
  unsigned char fixed[CLI_TUNE_MOST] = {0};
  char trial[CLI_TUNE_TEXT];
  bramah_optimum optimum;
  cli_tune_set_numbers(lab, set, x);
  for (size_t i = 0; i < lab->n; i++) {
    z[i] = cli_tune_scaled(&lab->tuned[i], x[i]);
    fixed[i] = c->held[i] != CLI_TUNE_FREE; /* nothing pulls at them */
  }
  lean(c, information, j, z_j - z[j], z);
  for (size_t i = 0; i < lab->n; i++) x[i] = cli_tune_unscaled(&lab->tuned[i], z[i]);
  cli_tune_set_text(lab, x, trial);
  fixed[j] = 1;
  cli_tune_verdict verdict;
  bramah_status status = cli_tune_optimise(s, trial, fixed, &optimum, diag);
  return status ? status : cli_tune_evaluate(s, trial, 0, 0, cost, &verdict, diag);
}

static void find_crossings(cli_tune_profile *p, const cli_tuned *t, size_t middle)
{
  p->low = t->least;
  p->high = t->most;
  for (size_t i = middle; i-- > 0;)
    if (p->cost[i] >= level) {
      p->low = cli_tune_unscaled(t, crossing(cli_tune_scaled(t, p->x[i + 1]), p->cost[i + 1],
                                             cli_tune_scaled(t, p->x[i]), p->cost[i], level));
      break;
    }
  for (size_t i = middle + 1; i < p->n; i++)
    if (p->cost[i] >= level) {
      p->high = cli_tune_unscaled(t, crossing(cli_tune_scaled(t, p->x[i - 1]), p->cost[i - 1],
                                              cli_tune_scaled(t, p->x[i]), p->cost[i], level));
      break;
    }
}

static bramah_status find_profile(cli_tune_profile *p, cli_tune_search *s, const char *set,
                                  const cli_tune_certainty *c, const double *information, size_t j,
                                  size_t sides, double least, bramah_diag *diag)
{
  const cli_tuned *t = &s->lab->tuned[j];
  const double z = cli_tune_scaled(t, c->x[j]), low = cli_tune_scaled(t, t->least),
               high = cli_tune_scaled(t, t->most);
  /* Without a standard error: over the whole range. */
  const double reach = c->held[j] ? high - low : 3.0 * c->sigma[j];
  bramah_status status = BRAMAH_OK;
  p->n = 2 * sides + 1;
  p->x = calloc(2 * p->n, sizeof *p->x);
  if (!p->x) return fail_memory(diag);
  p->cost = p->x + p->n;
  const size_t points = p->n;
  size_t middle = 0;
  p->n = 0;
  for (size_t i = 0; !status && i < points; i++) {
    const double at = fmin(fmax(z + reach * ((double)i - (double)sides) / (double)sides, low), high);
    double cost = least;
    if (i != sides && at == z) continue; /* at its bound already */
    if (i == sides) middle = p->n;
    if (i != sides) status = profile_point(s, set, c, information, j, at, &cost, diag);
    p->x[p->n] = cli_tune_unscaled(t, at);
    p->cost[p->n++] = cost - least;
  }
  if (!status) find_crossings(p, t, middle);
  return status;
}

bramah_status cli_tune_find_profiles(cli_tune_profile *profiles, cli_tune_search *search, const char *set,
                                     const cli_tune_certainty *certainty, const double *information,
                                     size_t sides, bramah_diag *diag)
{
  double least;
  cli_tune_verdict verdict;
  search->phase = "profile";
  bramah_status status = cli_tune_evaluate(search, set, 0, 0, &least, &verdict, diag);
  for (size_t j = 0; !status && j < certainty->n; j++)
    status = find_profile(&profiles[j], search, set, certainty, information, j, sides, least, diag);
  return status;
}

void cli_tune_profiles_free(cli_tune_profile *profiles, size_t n)
{
  for (size_t j = 0; profiles && j < n; j++) free(profiles[j].x);
  free(profiles);
}

cli_table cli_tune_profile_table(const cli_tune_profile *profiles, const cli_tune_lab *lab)
{
  static const char *const header[] = {"figure",     "unit", "95 % by the profile", "from",
                                       "cost there", "to",   "cost there"};
  cli_table table =
      cli_table_make("Profiles of the likelihood (the other figures made the best of; cost above the least)",
                     "lllrrrr", header);
  for (size_t j = 0; j < lab->n; j++) {
    const cli_tune_profile *p = &profiles[j];
    cli_table_add(&table, "%s", lab->tuned[j].name);
    cli_table_add(&table, "%s", lab->tuned[j].unit);
    cli_table_add(&table, "%.4g to %.4g", p->low, p->high);
    for (size_t end = 0; end < 2; end++) {
      const size_t i = end ? p->n - 1 : 0;
      cli_table_add_number(&table, p->x[i]);
      cli_table_add(&table, "%.3f", p->cost[i]);
    }
  }
  return table;
}

/* ---- criteria against each other ---- */

enum { N_CRITERIA = 4 };

static double value_of(const cli_tune_tried *t, int criterion)
{
  return cli_tune_criterion_value(&t->verdict, (bramah_tune_criterion)criterion);
}

/* Sets over all logs of the search, replayed to their end; parts of logs and folds are not comparable. */
static int comparable(const cli_tune_search *s, size_t i)
{
  const cli_tune_verdict *v = &s->tried[i].verdict;
  return !v->status && !v->stopped && v->used > 0.0 && v->used + v->gated >= s->most_used - 0.5 &&
         strcmp(s->tried[i].phase, "fold") != 0;
}

static int dominates(const cli_tune_tried *a, const cli_tune_tried *b)
{
  int better = 0;
  for (int c = 0; c < N_CRITERIA; c++) {
    const double x = value_of(a, c), y = value_of(b, c);
    if (x > y) return 0;
    better |= x < y;
  }
  return better;
}

void cli_tune_find_front(const cli_tune_search *search, unsigned char *front)
{
  for (size_t i = 0; i < search->n_tried; i++) {
    front[i] = (unsigned char)comparable(search, i);
    for (size_t k = 0; front[i] && k < search->n_tried; k++)
      if (k != i && comparable(search, k) && dominates(&search->tried[k], &search->tried[i])) front[i] = 0;
  }
}

cli_table cli_tune_criteria_table(const cli_tune_search *search)
{
  static const char *const header[] = {"best by",      "evaluation", "cost above the least",
                                       "NIS distance", "RMSE %",     "prediction"};
  cli_table table = cli_table_make("What the criteria prefer among the sets tried", "lrrrrr", header);
  size_t best[N_CRITERIA];
  for (int c = 0; c < N_CRITERIA; c++) {
    best[c] = search->n_tried;
    for (size_t i = 0; i < search->n_tried; i++)
      if (comparable(search, i) && isfinite(value_of(&search->tried[i], c)) &&
          (best[c] == search->n_tried ||
           value_of(&search->tried[i], c) < value_of(&search->tried[best[c]], c)))
        best[c] = i;
  }
  for (int c = 0; c < N_CRITERIA && best[0] < search->n_tried; c++) {
    if (best[c] == search->n_tried) continue;
    const cli_tune_verdict *v = &search->tried[best[c]].verdict;
    cli_table_add(&table, "%s", cli_tune_criterion_name((bramah_tune_criterion)c));
    cli_table_add(&table, "%zu", best[c] + 1);
    cli_table_add(&table, "%.3f", v->cost - search->tried[best[0]].verdict.cost);
    cli_table_add_number(&table, v->distance);
    cli_table_add_number(&table, 100.0 * v->rmse);
    cli_table_add_number(&table, v->prediction);
  }
  return table;
}
