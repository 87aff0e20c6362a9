/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/cli/study_findings.h"

#include <math.h>
#include <string.h>

/* A geometric mean of ratios. */
typedef struct ratio {
  double sum; /* of logarithms */
  size_t n;
} ratio;

static void add(ratio *r, double value)
{
  if (!(value > 0.0) || isinf(value)) return;
  r->sum += log(value);
  r->n++;
}

static double value_of(const ratio *r) { return r->n ? exp(r->sum / (double)r->n) : (double)NAN; }

/* Cases in which a claim is true, out of all. */
typedef struct count {
  size_t right, all;
} count;

static void decide(count *c, int right)
{
  c->right += right != 0;
  c->all++;
}

/* ---- what a finding is about ---- */

typedef struct inquiry {
  const cli_lab *lab;
  const bramah_plan_finding *finding;
  FILE *out;
} inquiry;

static int is_listed(const char *name, size_t n, const bramah_plan_name *list)
{
  for (size_t i = 0; i < n; i++)
    if (strcmp(list[i].name, name) == 0) return 1;
  return !n;
}

static int has_scenario(const inquiry *q, size_t i)
{
  return is_listed(q->lab->scenarios[i].name, q->finding->n_scenarios, q->finding->scenarios);
}

static int has_signal(const inquiry *q, size_t i)
{
  return is_listed(q->lab->plan->signals[i].name, q->finding->n_signals, q->finding->signals);
}

static int has_rate(const inquiry *q, size_t i)
{
  return q->finding->rate == 0.0 || q->finding->rate == q->lab->rates[i];
}

static size_t study_of(const inquiry *q, const bramah_plan_name *name)
{
  for (size_t i = 0; i < q->lab->n_studies; i++)
    if (strcmp(q->lab->plan->studies[i].name, name->name) == 0) return i;
  return 0; /* the reader of plans has checked it */
}

static size_t filter_of(const inquiry *q, const bramah_plan_name *name)
{
  for (size_t i = 0; i < q->lab->n_filters; i++)
    if (strcmp(q->lab->filters[i].name, name->name) == 0) return i;
  return 0;
}

static double rmse(const inquiry *q, cli_lab_place p, size_t signal)
{
  return cli_lab_average(q->lab, &p, signal, CLI_RMSE).mean;
}

/* The next case of a filter: scenario, rate and signal; study 0. 0 after the last. Begin with *signal =
 * SIZE_MAX. */
static int next_case(const inquiry *q, cli_lab_place *p, size_t *signal)
{
  const cli_lab *lab = q->lab;
  do {
    if (++*signal < lab->n_signals) continue;
    *signal = 0;
    if (++p->rate < lab->n_rates) continue;
    p->rate = 0;
    p->scenario++;
  } while (p->scenario < lab->n_scenarios &&
           !(has_scenario(q, p->scenario) && has_rate(q, p->rate) && has_signal(q, *signal)));
  return p->scenario < lab->n_scenarios;
}

/* ---- words ---- */

static void print_verdict(const inquiry *q, const char *filter, int known, int holds)
{
  fprintf(q->out, "  %s%s%s: %s\n    ", q->finding->name, filter ? ", " : "", filter ? filter : "",
          !known  ? "no figures"
          : holds ? "holds"
                  : "does not hold");
}

static void print_cases(const inquiry *q, const char *what, const count *c)
{
  fprintf(q->out, "; %s in %zu of %zu cases\n", what, c->right, c->all);
}

/* ---- kinds ---- */

static void judge_best_study(const inquiry *q, size_t filter)
{
  const cli_lab *lab = q->lab;
  const size_t best = study_of(q, &q->finding->study);
  count cases = {0};
  double worst = HUGE_VAL;
  ratio others[BRAMAH_PLAN_MOST_STUDIES] = {{0}};
  cli_lab_place p = {.filter = filter};
  for (size_t signal = SIZE_MAX; next_case(q, &p, &signal);) {
    p.study = best;
    const double mine = rmse(q, p, signal);
    int smallest = 1, known = 1;
    for (p.study = 0; p.study < lab->n_studies; p.study++) {
      const double other = rmse(q, p, signal);
      add(&others[p.study], other / mine);
      smallest = smallest && !(other < mine);
      known = known && !isnan(other);
    }
    if (known) decide(&cases, smallest);
  }
  for (size_t i = 0; i < lab->n_studies; i++)
    if (i != best) worst = fmin(worst, value_of(&others[i]));
  print_verdict(q, lab->filters[filter].name, cases.all > 0 && lab->n_studies > 1, worst > 1.0);
  fprintf(q->out, "errors relative to %s:", q->finding->study.name);
  const char *between = "";
  for (size_t i = 0; i < lab->n_studies; i++) {
    if (i == best) continue;
    fprintf(q->out, "%s %s %.3g", between, lab->plan->studies[i].name, value_of(&others[i]));
    between = ",";
  }
  print_cases(q, "the smallest", &cases);
}

static void judge_falls_with_rate(const inquiry *q, size_t filter)
{
  const cli_lab *lab = q->lab;
  count cases = {0};
  ratio rates[BRAMAH_PLAN_MOST_RATES] = {{0}};
  cli_lab_place p = {.filter = filter};
  for (size_t signal = SIZE_MAX; next_case(q, &p, &signal);) {
    if (p.rate) continue;
    for (p.study = 0; p.study < lab->n_studies; p.study++) {
      cli_lab_place at = p;
      const double first = rmse(q, at, signal);
      double last = 0.0;
      int grows = 1;
      for (at.rate = 0; at.rate < lab->n_rates; at.rate++) {
        const double now = rmse(q, at, signal);
        add(&rates[at.rate], now / first);
        grows = grows && now > last;
        last = now;
      }
      if (!isnan(first)) decide(&cases, grows);
    }
  }
  int holds = lab->n_rates > 1;
  for (size_t i = 1; i < lab->n_rates; i++) holds = holds && value_of(&rates[i]) > value_of(&rates[i - 1]);
  print_verdict(q, lab->filters[filter].name, cases.all > 0 && lab->n_rates > 1, holds);
  fprintf(q->out, "errors relative to those at %.6g Hz:", lab->rates[0]);
  for (size_t i = 1; i < lab->n_rates; i++)
    fprintf(q->out, " %.6g Hz %.3g%s", lab->rates[i], value_of(&rates[i]), i + 1 < lab->n_rates ? "," : "");
  print_cases(q, "they grow at every step", &cases);
}

static void judge_as_good_as(const inquiry *q, size_t filter)
{
  const bramah_plan_finding *f = q->finding;
  count cases = {0};
  ratio all = {0};
  cli_lab_place p = {.filter = filter};
  for (size_t signal = SIZE_MAX; next_case(q, &p, &signal);) {
    p.study = study_of(q, &f->study);
    const double mine = rmse(q, p, signal);
    p.study = study_of(q, &f->reference);
    const double r = mine / rmse(q, p, signal);
    add(&all, r);
    if (!isnan(r)) decide(&cases, r <= 1.0 + f->within);
  }
  print_verdict(q, q->lab->filters[filter].name, all.n > 0, value_of(&all) <= 1.0 + f->within);
  fprintf(q->out, "error of %s relative to %s: %.3g, at most %.3g wanted", f->study.name, f->reference.name,
          value_of(&all), 1.0 + f->within);
  print_cases(q, "so small", &cases);
}

/* A list of names and means: "(p1 0.5, p2 0.6)"; those without figures are left out. */
static void print_ratios(const inquiry *q, size_t n, const ratio *ratios,
                         const char *(*name)(const cli_lab *, size_t))
{
  const char *between = " (";
  for (size_t i = 0; i < n; i++) {
    if (!ratios[i].n) continue;
    fprintf(q->out, "%s%s %.3g", between, name(q->lab, i), value_of(&ratios[i]));
    between = ", ";
  }
  if (between[0] == ',') fputc(')', q->out);
}

static const char *signal_name(const cli_lab *lab, size_t i) { return lab->plan->signals[i].name; }

static void judge_saw_tooth(const inquiry *q, size_t filter)
{
  const cli_lab *lab = q->lab;
  ratio all = {0}, values[BRAMAH_PLAN_MOST_SIGNALS] = {{0}};
  count cases = {0};
  cli_lab_place p = {.filter = filter};
  for (size_t signal = SIZE_MAX; next_case(q, &p, &signal);)
    for (p.study = 0; p.study < lab->n_studies; p.study++) {
      const double now = cli_lab_average(lab, &p, signal, CLI_SAW_TOOTH).mean;
      add(&all, now);
      add(&values[signal], now);
      if (!isnan(now)) decide(&cases, now >= q->finding->least);
    }
  print_verdict(q, lab->filters[filter].name, all.n > 0, value_of(&all) >= q->finding->least);
  fprintf(q->out, "at %.6g Hz a correction narrows the bands by the factor %.3g", q->finding->rate,
          value_of(&all));
  print_ratios(q, lab->n_signals, values, signal_name);
  print_cases(q, "by enough", &cases);
}

/* Ratios of the errors of the two filters; scenario SIZE_MAX: all. */
static ratio compare_filters(const inquiry *q, size_t scenario, ratio *signals, count *cases)
{
  const size_t mine = filter_of(q, &q->finding->filter), other = filter_of(q, &q->finding->reference);
  ratio all = {0};
  cli_lab_place p = {0};
  for (size_t signal = SIZE_MAX; next_case(q, &p, &signal);)
    for (p.study = 0; p.study < q->lab->n_studies; p.study++) {
      if (scenario != SIZE_MAX && p.scenario != scenario) continue;
      p.filter = mine;
      double r = rmse(q, p, signal);
      p.filter = other;
      r /= rmse(q, p, signal);
      add(&all, r);
      add(&signals[signal], r);
      if (!isnan(r)) decide(cases, r < 1.0);
    }
  return all;
}

/* Each scenario by itself too: a filter that leans on its model more is better only where the model is right.
 * */
static void judge_better_filter(const inquiry *q)
{
  const bramah_plan_finding *f = q->finding;
  ratio signals[BRAMAH_PLAN_MOST_SIGNALS] = {{0}};
  count cases = {0};
  const ratio all = compare_filters(q, SIZE_MAX, signals, &cases);
  print_verdict(q, NULL, all.n > 0, value_of(&all) < 1.0);
  fprintf(q->out, "error of %s relative to %s: %.3g", f->filter.name, f->reference.name, value_of(&all));
  print_ratios(q, q->lab->n_signals, signals, signal_name);
  print_cases(q, "smaller", &cases);
  for (size_t i = 0; q->lab->n_scenarios > 1 && i < q->lab->n_scenarios; i++) {
    ratio alone[BRAMAH_PLAN_MOST_SIGNALS] = {{0}};
    count few = {0};
    const ratio r = compare_filters(q, i, alone, &few);
    if (!r.n) continue;
    fprintf(q->out, "    scenario %s: %.3g", q->lab->scenarios[i].name, value_of(&r));
    print_ratios(q, q->lab->n_signals, alone, signal_name);
    print_cases(q, "smaller", &few);
  }
}

static void judge(const inquiry *q)
{
  if (q->finding->kind == BRAMAH_FINDING_BETTER_FILTER) {
    judge_better_filter(q);
    return;
  }
  for (size_t filter = 0; filter < q->lab->n_filters; filter++) switch (q->finding->kind) {
    case BRAMAH_FINDING_BEST_STUDY:
      judge_best_study(q, filter);
      break;
    case BRAMAH_FINDING_FALLS_WITH_RATE:
      judge_falls_with_rate(q, filter);
      break;
    case BRAMAH_FINDING_AS_GOOD_AS:
      judge_as_good_as(q, filter);
      break;
    case BRAMAH_FINDING_SAW_TOOTH:
      judge_saw_tooth(q, filter);
      break;
    case BRAMAH_FINDING_BETTER_FILTER:
      break;
    }
}

void cli_findings_print(const cli_lab *lab, FILE *out)
{
  if (!lab->plan->n_findings) return;
  fprintf(out, "\nfindings (geometric means over scenarios, studies, rates and signals)\n");
  for (size_t i = 0; i < lab->plan->n_findings; i++)
    judge(&(inquiry){.lab = lab, .finding = &lab->plan->findings[i], .out = out});
}
