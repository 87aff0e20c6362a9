/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bramah cycles: work cycles of excavators and loaders, and what their operators do. JSON keys and columns are listed in
 * datasets/README.md. */
#include "bramah/work_cycles.h"
#include "lib/cli/cli.h"
#include "lib/cli/json.h"

#include <gsl/gsl_sort.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PHASES = BRAMAH_WORK_N_PHASES, MOST_PRINTED_RUNS = 3, MOST_PLOTTED_RUNS = 12 };
static const char *const phase_names[PHASES] = {"dig", "swing loaded", "dump", "swing empty"};

/* What every function here needs. */
typedef struct showing {
  const bramah_work *work;
  const bramah_work_results *r;
  bramah_report *page; /* NULL: none is wanted */
  bramah_status paged; /* of the first thing it could not take */
  FILE *out;
} showing;

/* On the terminal and into the page. Releases it. */
static void show_table(showing *v, cli_table *table)
{
  cli_table_print(table, v->out);
  if (v->page && !v->paged) v->paged = cli_table_report(table, v->page);
  cli_table_free(table);
}

static int is_mass(const showing *v) { return strcmp(v->r->load_unit, "kg") == 0; }

/* A pressure as load is read in bar. */
static cli_readable load_unit(const showing *v) { return cli_readable_unit(v->r->load_unit); }

/* What effort counts by. */
static const char *per(const showing *v) { return is_mass(v) ? "per 1000 kg" : "per cycle"; }

/* The factor and unit for fuel: kg as they are, m^3 as litres. */
static cli_readable fuel_unit(const showing *v)
{
  const char *unit = v->r->fuel_unit;
  return !unit || strcmp(unit, "kg/s") == 0 ? (cli_readable){"kg", 1.0} : (cli_readable){"L", 1e3};
}

static void add_load(cli_table *table, double factor, double load, double sigma)
{
  if (isfinite(sigma))
    cli_table_add(table, "%.4g ± %.2g", factor * load, factor * sigma);
  else
    cli_table_add(table, "%.4g", factor * load);
}

/* Of the borders of a cycle: the widest 95 % interval [s], and the least probability that there is such a border. */
static void worst_borders(const bramah_work_cycle *cycle, double *widest, double *least)
{
  *widest = 0.0;
  *least = 1.0;
  for (int k = 0; k <= PHASES; k++) {
    const bramah_work_border *border = &cycle->begin[k];
    *widest = fmax(*widest, border->high - border->low);
    *least = fmin(*least, border->probability);
  }
}

/* ---- the terminal ---- */

static void show_cycles(showing *v, const bramah_work_run_result *run)
{
  char title[256], load[32], fuel[32];
  const cli_readable loads = load_unit(v), fuels = fuel_unit(v);
  snprintf(load, sizeof load, "load %s", loads.unit);
  snprintf(fuel, sizeof fuel, "fuel %s", fuels.unit);
  const char *const header[] = {"cycle",        "begins s", "dig s",    "swing s", "dump s",
                                "swing back s", "whole s",  load,       fuel,      "energy kJ",
                                "reversals",    "range m",  "border s", "certain", "doubt"};
  snprintf(title, sizeof title, "Cycles of %s", run->name);
  cli_table table = cli_table_make(title, "rrrrrrrrrrrrrrl", header);
  for (size_t i = 0; i < run->cut->n_cycles; i++) {
    const bramah_work_cycle *c = &run->cut->cycles[i];
    const bramah_work_measures *m = &run->cycles[i];
    double widest, least;
    worst_borders(c, &widest, &least);
    cli_table_add(&table, "%zu%s\t%.2f", i + 1, c->complete ? "" : "*", m->begin);
    for (int k = 0; k < PHASES; k++) cli_table_add(&table, "%.2f", m->time[k]);
    cli_table_add(&table, "%.2f", m->end - m->begin);
    add_load(&table, loads.factor, m->load, m->load_sigma);
    cli_table_add(&table, "%s\t%s\t%s\t%s\t± %.2f\t%.3f\t%s", CLI_NUMBER(fuels.factor * m->fuel),
                  CLI_NUMBER(1e-3 * m->energy),
                  CLI_NUMBER(m->arm.duration > 0.0 ? (double)m->arm.reversals : (double)NAN),
                  CLI_NUMBER(m->arm.duration > 0.0 ? m->arm.range : (double)NAN), 0.5 * widest, least,
                  c->doubt ? c->doubt : "");
  }
  show_table(v, &table);
}

static void show_runs(showing *v)
{
  char load[32], fuel[32];
  const cli_readable loads = load_unit(v), fuels = fuel_unit(v);
  snprintf(load, sizeof load, "moved %s", loads.unit);
  snprintf(fuel, sizeof fuel, "fuel %s", fuels.unit);
  const char *const header[] = {"run",     "operator", "attachment", "cycles",        "time s",
                                "cycle s", load,       fuel,         "reversals/min", "deviation m",
                                "range m", "travel m", "work kJ",    "positive",      "near-stalls"};
  cli_table table = cli_table_make("Runs", "lllrrrrrrrrrrrr", header);
  for (size_t i = 0; i < v->r->n_runs; i++) {
    const bramah_work_run_result *run = &v->r->runs[i];
    const bramah_work_measures *m = &run->whole;
    const bramah_movement none = {.reversals_per_minute = NAN, .deviation = NAN, .range = NAN, .travel = NAN},
                          *arm = m->arm.duration > 0.0 ? &m->arm : &none;
    cli_table_add(&table, "%s%s\t%s\t%s\t%zu\t%.1f\t%s", run->name, run->doubt ? " !" : "", run->person,
                  run->attachment ? run->attachment : "", run->cut->n_cycles, m->end - m->begin,
                  CLI_NUMBER(run->cycle_time));
    add_load(&table, loads.factor, m->load, m->load_sigma);
    cli_table_add(&table, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s", CLI_NUMBER(fuels.factor * m->fuel),
                  CLI_NUMBER(arm->reversals_per_minute), CLI_NUMBER(arm->deviation), CLI_NUMBER(arm->range),
                  CLI_NUMBER(arm->travel), CLI_NUMBER(1e-3 * m->work), CLI_NUMBER(1e-3 * m->positive_work),
                  CLI_NUMBER(m->near_stalls));
  }
  show_table(v, &table);
}

/* Runs and cycles that are not what they should be. Returns the number of runs with a doubt. */
static size_t show_doubts(const showing *v)
{
  size_t doubtful = 0, unknown = 0;
  for (size_t i = 0; i < v->r->n_runs; i++) {
    const bramah_work_run_result *run = &v->r->runs[i];
    doubtful += run->doubt != NULL;
    unknown += !run->verdict;
    if (run->doubt)
      fprintf(v->out, "%s%s %s: %s; it is in no comparison%s\n", cli_colour_of(v->out, CLI_RED), run->name,
              run->cut->doubt ? "does not fit the model of work cycles"
                              : "is no better than the verdict of its replay",
              run->doubt, cli_colour_of(v->out, CLI_PLAIN));
    for (size_t k = 0; k < run->cut->n_cycles; k++) {
      const bramah_work_cycle *c = &run->cut->cycles[k];
      if (c->doubt)
        fprintf(v->out, "%s, cycle %zu at %.2f s: %s\n", run->name, k + 1, c->begin[0].t, c->doubt);
    }
  }
  if (unknown)
    fprintf(v->out,
            "verdict of their replay: not known of %zu of %zu logs (no LOG.verdict that belongs to them)\n",
            unknown, v->r->n_runs);
  return doubtful;
}

static void show_leaderboard(showing *v)
{
  const double *w = v->r->weight;
  char title[160];
  snprintf(title, sizeof title, "Leaderboard: mean over the attempts of%s%s%s",
           w[0] > 0.0 ? " time/best," : "", w[1] > 0.0 ? " fuel/best," : "", w[2] > 0.0 ? " 1 + hits" : "");
  if (title[strlen(title) - 1] == ',') title[strlen(title) - 1] = '\0';
  static const char *const header[] = {"place", "operator", "attempts", "score"};
  cli_table table = cli_table_make(title, "rlrr", header);
  for (size_t place = 0; place <= v->r->n_persons; place++)
    for (size_t p = 0; p < v->r->n_persons; p++) { /* the last ones are those without score */
      const bramah_work_person *person = &v->r->persons[p];
      if (person->place != (place < v->r->n_persons ? place + 1 : 0)) continue;
      if (person->place)
        cli_table_add(&table, "%zu", person->place);
      else
        cli_table_add(&table, "%s", "");
      cli_table_add(&table, "%s\t%zu\t%s", person->name, person->attempts, CLI_NUMBER(person->score));
    }
  show_table(v, &table);
}

/* What an answer means, and what so few operators can show at all. */
static void explain(const bramah_work_question *q, char *text, size_t size)
{
  const bramah_rank_test *t = &q->test;
  const size_t n = (size_t)t->n;
  const int found = q->adjusted < 0.05;
  char from[128] = "so few cannot show any";
  if (isfinite(t->critical))
    snprintf(from, sizeof from, "from %.3g on it would have been shown, asked for alone", t->critical);
  if (q->why_not)
    snprintf(text, size, "%s: not asked, %s.", q->what, q->why_not);
  else if (q->is_friedman && found)
    snprintf(text, size, "%s: they differ, in the ranks of %zu operators (p = %.2g).", q->what, n,
             q->adjusted);
  else if (q->is_friedman)
    snprintf(text, size,
             "%s: no difference is shown by %zu operators (p = %.2g; Friedman's statistic is %.3g, %s). That "
             "is not to "
             "say that there is none.",
             q->what, n, q->adjusted, t->statistic, from);
  else if (found)
    snprintf(text, size,
             "%s: %s (p = %.2g), with a rank correlation of %+.2f; %zu operators leave it anywhere from "
             "%+.2f to %+.2f.",
             q->what, t->effect > 0.0 ? "they rise together" : "the one rises where the other falls",
             q->adjusted, t->effect, n, t->low, t->high);
  else
    snprintf(
        text, size,
        "%s: %zu operators do not show whether they go together (rank correlation %+.2f, p = %.2g; %s): "
        "anything "
        "from %+.2f to %+.2f fits. Only one of %.2f or more would be found in four of five such comparisons.",
        q->what, n, t->effect, q->adjusted, from, t->low, t->high, t->detectable);
}

static void show_questions(showing *v)
{
  static const char *const header[] = {"question", "test", "n",        "statistic",
                                       "95 %",     "p",    "p of all", "critical"};
  cli_table table = cli_table_make("Comparisons: p by permutation, then adjusted for all questions (Holm)",
                                   "llrrrrrr", header);
  size_t asked = 0;
  char text[512];
  for (size_t i = 0; i < v->r->n_questions; i++) {
    const bramah_work_question *q = &v->r->questions[i];
    const bramah_rank_test *t = &q->test;
    if (q->why_not) continue;
    asked++;
    cli_table_add(&table, "%s\t%s\t%zu\t%.3f", q->what, q->is_friedman ? "Friedman" : "Spearman",
                  (size_t)t->n, t->statistic);
    if (q->is_friedman)
      cli_table_add(&table, "W %.3f", t->effect);
    else
      cli_table_add(&table, "%.2f to %.2f", t->low, t->high);
    cli_table_add(&table, "%.4f\t%.4f\t%s", t->p, q->adjusted, CLI_NUMBER(t->critical));
  }
  if (asked)
    show_table(v, &table);
  else
    cli_table_free(&table);
  fprintf(v->out, "\nwhat these runs show (time and fuel %s, means over the runs of an operator):\n", per(v));
  for (size_t i = 0; i < v->r->n_questions; i++) {
    explain(&v->r->questions[i], text, sizeof text);
    fprintf(v->out, "  %s\n", text);
  }
}

/* ---- CSV: a row per cycle ---- */

static void put_text(FILE *file, const char *text)
{
  const int quoted = strpbrk(text, ",\"\n") != NULL;
  if (quoted) fputc('"', file);
  for (; *text; text++) {
    if (*text == '"') fputc('"', file);
    fputc(*text, file);
  }
  if (quoted) fputc('"', file);
}

static bramah_status write_csv(const showing *v, const char *path, bramah_diag *diag)
{
  FILE *file = cli_create(path, diag);
  if (!file) return diag->status;
  const char *fuel = strcmp(fuel_unit(v).unit, "kg") == 0 ? "kg" : "m^3";
  fprintf(
      file,
      "run,operator,attachment,attempt,cycle,complete,dig[s],swing_loaded[s],dump[s],swing_empty[s],end[s],"
      "widest_border[s],least_probability,load[%s],load.sigma[%s],fuel[%s],energy[J],arm.mean[m],arm."
      "deviation[m],"
      "arm.range[m],arm.travel[m],arm.reversals,work[J],positive_work[J],near_stalls,doubt\n",
      v->r->load_unit, v->r->load_unit, fuel);
  for (size_t i = 0; i < v->r->n_runs; i++) {
    const bramah_work_run_result *run = &v->r->runs[i];
    for (size_t k = 0; k < run->cut->n_cycles; k++) {
      const bramah_work_cycle *c = &run->cut->cycles[k];
      const bramah_work_measures *m = &run->cycles[k];
      const int arm = m->arm.duration > 0.0;
      double widest, least;
      worst_borders(c, &widest, &least);
      put_text(file, run->name);
      fputc(',', file);
      put_text(file, run->person);
      fputc(',', file);
      put_text(file, run->attachment ? run->attachment : "");
      fprintf(file, ",%zu,%zu,%d", run->attempt, k + 1, c->complete);
      for (int p = 0; p <= PHASES; p++) cli_put_number(file, c->begin[p].t, 9);
      const double rest[] = {widest,
                             least,
                             m->load,
                             m->load_sigma,
                             m->fuel,
                             m->energy,
                             arm ? m->arm.mean : (double)NAN,
                             arm ? m->arm.deviation : (double)NAN,
                             arm ? m->arm.range : (double)NAN,
                             arm ? m->arm.travel : (double)NAN,
                             arm ? (double)m->arm.reversals : (double)NAN,
                             m->work,
                             m->positive_work,
                             m->near_stalls};
      for (size_t p = 0; p < sizeof rest / sizeof rest[0]; p++) cli_put_number(file, rest[p], 9);
      fputc(',', file);
      put_text(file, c->doubt ? c->doubt : "");
      fputc('\n', file);
    }
  }
  return cli_finish(file, path, diag);
}

/* ---- JSON ---- */

static const cli_json_field movement_fields[] = {
    {"duration", CLI_JSON_NUMBER, offsetof(bramah_movement, duration)},
    {"mean", CLI_JSON_NUMBER, offsetof(bramah_movement, mean)},
    {"deviation", CLI_JSON_NUMBER, offsetof(bramah_movement, deviation)},
    {"range", CLI_JSON_NUMBER, offsetof(bramah_movement, range)},
    {"travel", CLI_JSON_NUMBER, offsetof(bramah_movement, travel)},
    {"reversals", CLI_JSON_COUNT, offsetof(bramah_movement, reversals)},
    {"reversals_per_minute", CLI_JSON_NUMBER, offsetof(bramah_movement, reversals_per_minute)},
    {0}};
static const cli_json_field measure_fields[] = {
    {"begin", CLI_JSON_NUMBER, offsetof(bramah_work_measures, begin)},
    {"end", CLI_JSON_NUMBER, offsetof(bramah_work_measures, end)},
    {"load", CLI_JSON_NUMBER, offsetof(bramah_work_measures, load)},
    {"load_sigma", CLI_JSON_NUMBER, offsetof(bramah_work_measures, load_sigma)},
    {"fuel", CLI_JSON_NUMBER, offsetof(bramah_work_measures, fuel)},
    {"energy", CLI_JSON_NUMBER, offsetof(bramah_work_measures, energy)},
    {"work", CLI_JSON_NUMBER, offsetof(bramah_work_measures, work)},
    {"positive_work", CLI_JSON_NUMBER, offsetof(bramah_work_measures, positive_work)},
    {"near_stalls", CLI_JSON_NUMBER, offsetof(bramah_work_measures, near_stalls)},
    {0}};
static const cli_json_field border_fields[] = {
    {"t", CLI_JSON_NUMBER, offsetof(bramah_work_border, t)},
    {"low", CLI_JSON_NUMBER, offsetof(bramah_work_border, low)},
    {"high", CLI_JSON_NUMBER, offsetof(bramah_work_border, high)},
    {"probability", CLI_JSON_NUMBER, offsetof(bramah_work_border, probability)},
    {0}};
static const cli_json_field cut_fields[] = {
    {"empty", CLI_JSON_NUMBER, offsetof(bramah_work_cut, empty)},
    {"empty_spread", CLI_JSON_NUMBER, offsetof(bramah_work_cut, empty_spread)},
    {"full", CLI_JSON_NUMBER, offsetof(bramah_work_cut, full)},
    {"full_spread", CLI_JSON_NUMBER, offsetof(bramah_work_cut, full_spread)},
    {"usual_rate", CLI_JSON_NUMBER, offsetof(bramah_work_cut, usual_rate)},
    {"separation", CLI_JSON_NUMBER, offsetof(bramah_work_cut, separation)},
    {"certain", CLI_JSON_NUMBER, offsetof(bramah_work_cut, certain)},
    {"unexplained", CLI_JSON_NUMBER, offsetof(bramah_work_cut, unexplained)},
    {"longest_gap", CLI_JSON_NUMBER, offsetof(bramah_work_cut, longest_gap)},
    {"doubt", CLI_JSON_TEXT, offsetof(bramah_work_cut, doubt)},
    {0}};
static const cli_json_field test_fields[] = {
    {"n", CLI_JSON_COUNT, offsetof(bramah_rank_test, n)},
    {"statistic", CLI_JSON_NUMBER, offsetof(bramah_rank_test, statistic)},
    {"effect", CLI_JSON_NUMBER, offsetof(bramah_rank_test, effect)},
    {"low", CLI_JSON_NUMBER, offsetof(bramah_rank_test, low)},
    {"high", CLI_JSON_NUMBER, offsetof(bramah_rank_test, high)},
    {"p", CLI_JSON_NUMBER, offsetof(bramah_rank_test, p)},
    {"p_low", CLI_JSON_NUMBER, offsetof(bramah_rank_test, p_low)},
    {"p_high", CLI_JSON_NUMBER, offsetof(bramah_rank_test, p_high)},
    {"critical", CLI_JSON_NUMBER, offsetof(bramah_rank_test, critical)},
    {"detectable", CLI_JSON_NUMBER, offsetof(bramah_rank_test, detectable)},
    {0}};

static void put_measures(cli_json *json, const bramah_work_measures *m)
{
  cli_json_fields(json, m, measure_fields);
  if (m->arm.duration > 0.0) cli_json_object(json, "arm", &m->arm, movement_fields);
}

static void put_run(cli_json *json, const bramah_work_run_result *run)
{
  cli_json_open(json, NULL, '{');
  cli_json_text(json, "run", run->name);
  cli_json_text(json, "log", run->log);
  cli_json_text(json, "operator", run->person);
  cli_json_text(json, "attachment", run->attachment);
  cli_json_count(json, "attempt", run->attempt);
  cli_json_number(json, "hits", run->hits);
  cli_json_text(json, "verdict", run->verdict);
  cli_json_text(json, "doubt", run->doubt);
  cli_json_number(json, "cycle_time", run->cycle_time);
  put_measures(json, &run->whole);
  cli_json_object(json, "model", run->cut, cut_fields);
  cli_json_open(json, "cycles", '[');
  for (size_t i = 0; i < run->cut->n_cycles; i++) {
    const bramah_work_cycle *c = &run->cut->cycles[i];
    cli_json_open(json, NULL, '{');
    put_measures(json, &run->cycles[i]);
    cli_json_flag(json, "complete", c->complete);
    cli_json_text(json, "doubt", c->doubt);
    cli_json_list(json, "borders", PHASES + 1, c->begin, sizeof c->begin[0], border_fields);
    cli_json_close(json, '}');
  }
  cli_json_close(json, ']');
  cli_json_close(json, '}');
}

static bramah_status write_json(const showing *v, const char *path, int code, bramah_diag *diag)
{
  cli_json json = {0};
  char text[512];
  const bramah_status status = cli_json_create(&json, path, diag);
  if (status) return status;
  cli_json_begin(&json, "cycles");
  cli_json_text(&json, "work", v->work->name);
  cli_json_text(&json, "load_unit", v->r->load_unit);
  cli_json_open(&json, "runs", '[');
  for (size_t i = 0; i < v->r->n_runs; i++) put_run(&json, &v->r->runs[i]);
  cli_json_close(&json, ']');
  cli_json_open(&json, "operators", '[');
  for (size_t i = 0; i < v->r->n_persons; i++) {
    const bramah_work_person *p = &v->r->persons[i];
    cli_json_open(&json, NULL, '{');
    cli_json_text(&json, "operator", p->name);
    cli_json_count(&json, "attempts", p->attempts);
    cli_json_number(&json, "score", p->score);
    cli_json_number(&json, "place", p->place ? (double)p->place : (double)NAN);
    cli_json_close(&json, '}');
  }
  cli_json_close(&json, ']');
  cli_json_open(&json, "comparisons", '[');
  for (size_t i = 0; i < v->r->n_questions; i++) {
    const bramah_work_question *q = &v->r->questions[i];
    explain(q, text, sizeof text);
    cli_json_open(&json, NULL, '{');
    cli_json_text(&json, "question", q->what);
    cli_json_text(&json, "test", q->is_friedman ? "friedman" : "spearman");
    if (!q->why_not) cli_json_fields(&json, &q->test, test_fields);
    cli_json_number(&json, "p_adjusted", q->adjusted);
    cli_json_text(&json, "text", text);
    cli_json_close(&json, '}');
  }
  cli_json_close(&json, ']');
  return cli_json_end(&json, code, diag);
}

/* ---- the page ---- */

/* A plot over time of a signal of a cut; sigma NULL: none. */
static void plot_signal(showing *v, const bramah_work_run_result *run, const char *name, cli_readable unit,
                        const double *x, const double *sigma)
{
  const bramah_work_cut *cut = run->cut;
  char section[256], title[320];
  size_t plot;
  snprintf(section, sizeof section, "Run %.200s", run->name);
  snprintf(title, sizeof title, "%s, %s", run->name, name);
  const bramah_report_plot look = {
      .section = section, .title = title, .unit = unit.unit, .factor = unit.factor, .names = {name}};
  if (!x || v->paged) return;
  v->paged = bramah_report_add(v->page, &look, &plot);
  for (size_t i = 0; i < cut->n && !v->paged; i++) {
    const double half = sigma ? 1.96 * sigma[i] : (double)NAN;
    v->paged = bramah_report_point(v->page, plot, BRAMAH_REPORT_ESTIMATE, cut->start + (double)i * cut->step,
                                   x[i], x[i] - half, x[i] + half);
  }
}

static void plot_phases(showing *v, const bramah_work_run_result *run)
{
  const bramah_work_cut *cut = run->cut;
  char section[256], title[320], text[256];
  size_t plot;
  snprintf(section, sizeof section, "Run %.200s", run->name);
  snprintf(title, sizeof title, "%s, phase: 1 %s, 2 %s, 3 %s, 4 %s", run->name, phase_names[0],
           phase_names[1], phase_names[2], phase_names[3]);
  const bramah_report_plot look = {
      .section = section,
      .text = "What the phases were found in. The dashed line is the probability of the phase.",
      .title = title,
      .unit = "1",
      .factor = 1.0,
      .names = {"phase", NULL, NULL, "probability"}};
  if (v->paged) return;
  v->paged = bramah_report_add(v->page, &look, &plot);
  for (size_t i = 0; i < cut->n && !v->paged; i++) {
    const double t = cut->start + (double)i * cut->step;
    v->paged = bramah_report_point(v->page, plot, BRAMAH_REPORT_ESTIMATE, t, 1.0 + cut->phase[i], NAN, NAN);
    if (!v->paged)
      v->paged = bramah_report_point(v->page, plot, BRAMAH_REPORT_MODEL, t, cut->probability[i], NAN, NAN);
  }
  for (size_t i = 0; i < cut->n_cycles && !v->paged; i++) {
    const bramah_work_cycle *c = &cut->cycles[i];
    if (!c->doubt && v->r->n_runs > MOST_PRINTED_RUNS) continue; /* runs have their times each for itself */
    snprintf(text, sizeof text, "%s: cycle %zu begins%s%s", run->name, i + 1, c->doubt ? "; " : "",
             c->doubt ? c->doubt : "");
    v->paged = bramah_report_event(v->page, c->begin[0].t, c->doubt ? "doubt" : "cycle", text);
  }
}

/* The duration of the phases of each cycle of a run. */
static void plot_durations(showing *v, const bramah_work_run_result *run)
{
  size_t plot;
  const bramah_report_plot look = {.section = "Cycles",
                                   .text = "How long the cycles of each run took.",
                                   .title = run->name,
                                   .unit = "s",
                                   .factor = 1.0,
                                   .axis = BRAMAH_REPORT_LAG,
                                   .names = {"whole cycle", "dig"},
                                   .x = "cycle"};
  if (v->paged || !run->cut->n_cycles) return;
  v->paged = bramah_report_add(v->page, &look, &plot);
  for (size_t i = 0; i < run->cut->n_cycles && !v->paged; i++) {
    const bramah_work_measures *m = &run->cycles[i];
    const double at = (double)(i + 1);
    v->paged = bramah_report_point(v->page, plot, BRAMAH_REPORT_ESTIMATE, at, m->end - m->begin, NAN, NAN);
    if (!v->paged)
      v->paged = bramah_report_point(v->page, plot, BRAMAH_REPORT_TRUTH, at, m->time[0], NAN, NAN);
  }
}

/* Runs as dots: how their time goes with a measure of the arm. */
static void plot_runs(showing *v, const char *x_name, int deviation)
{
  double(*at)[2] = calloc(v->r->n_runs + 1, sizeof *at);
  char title[160];
  size_t plot, n = 0;
  snprintf(title, sizeof title, "time %s by %s", per(v), x_name);
  const bramah_report_plot look = {.section = "Runs",
                                   .text = "Each dot is a run without doubts.",
                                   .title = title,
                                   .unit = "s",
                                   .factor = 1.0,
                                   .axis = BRAMAH_REPORT_CURVE,
                                   .names = {NULL, NULL, "runs"},
                                   .x = x_name};
  if (!at) v->paged = BRAMAH_E_MEMORY;
  for (size_t i = 0; i < v->r->n_runs && !v->paged; i++) {
    const bramah_work_run_result *run = &v->r->runs[i];
    const bramah_movement *arm = &run->whole.arm;
    if (run->doubt || !(arm->duration > 0.0) || !isfinite(run->effort[0])) continue;
    at[n][0] = deviation ? arm->deviation : arm->reversals_per_minute;
    at[n++][1] = run->effort[0];
  }
  if (n > 1 && !v->paged) {
    gsl_sort2(at[0], 2, at[0] + 1, 2, n); /* by x */
    v->paged = bramah_report_add(v->page, &look, &plot);
    for (size_t i = 0; i < n && !v->paged; i++)
      v->paged = bramah_report_point(v->page, plot, BRAMAH_REPORT_MEASURED, at[i][0], at[i][1], NAN, NAN);
  }
  free(at);
}

static bramah_status write_page(showing *v, size_t doubtful, const char *path, bramah_diag *diag)
{
  char headline[160], reason[1024] = "", text[512];
  size_t cycles = 0, used = 0;
  for (size_t i = 0; i < v->r->n_runs; i++) cycles += v->r->runs[i].cut->n_cycles;
  snprintf(headline, sizeof headline, "%zu work cycles in %zu run%s", cycles, v->r->n_runs,
           v->r->n_runs == 1 ? "" : "s");
  for (size_t i = 0; i < v->r->n_questions && v->r->n_persons > 1; i++) {
    if (v->r->questions[i].why_not || used >= sizeof reason - 1) continue;
    explain(&v->r->questions[i], text, sizeof text);
    used += (size_t)snprintf(reason + used, sizeof reason - used, "%s%s", used ? " " : "", text);
  }
  const bramah_report_answer said = {
      .level = doubtful == v->r->n_runs ? BRAMAH_REPORT_WRONG
               : doubtful               ? BRAMAH_REPORT_UNSURE
                                        : BRAMAH_REPORT_FINE,
      .headline = headline,
      .reason = *reason ? reason : NULL,
      .advice = doubtful ? "Runs with an exclamation mark do not fit the model of work cycles, or the replay "
                           "that made them was doubted: look at their "
                           "signals."
                         : NULL,
      .begin = NAN,
      .end = NAN};
  if (!v->paged) v->paged = bramah_report_say(v->page, &said);
  if (!v->paged) v->paged = bramah_report_note(v->page, "work", v->work->file);
  plot_runs(v, "reversals per minute", 0);
  plot_runs(v, "deviation of the arm [m]", 1);
  for (size_t i = 0; i < v->r->n_runs && i < MOST_PLOTTED_RUNS; i++) plot_durations(v, &v->r->runs[i]);
  for (size_t i = 0; i < v->r->n_runs && i < MOST_PLOTTED_RUNS; i++) {
    const bramah_work_run_result *run = &v->r->runs[i];
    plot_phases(v, run);
    plot_signal(v, run, "load", load_unit(v), run->cut->load, run->cut->load_sigma);
    plot_signal(v, run, "swing rate", cli_readable_unit(v->r->swing_unit), run->cut->swing, NULL);
    plot_signal(v, run, "arm", (cli_readable){"m", 1.0}, run->arm, NULL);
  }
  if (v->paged) return cli_fail(diag, v->paged, path, 0, NULL, "the report cannot be completed");
  return bramah_report_write(v->page, BRAMAH_REPORT_PAGE, path, diag);
}

/* ---- the command ---- */

/* No file is written over one that is read, or twice. */
static bramah_status check_files(const showing *v, size_t n_logs, const char *const *logs,
                                 const char *const outputs[3], bramah_diag *diag)
{
  bramah_status status = BRAMAH_OK;
  for (size_t i = 0; i < 3 && !status; i++) {
    status = cli_check_output(outputs[i], i, outputs, diag);
    if (!status) status = cli_check_output(outputs[i], 1, &v->work->file, diag);
    if (!status) status = cli_check_output(outputs[i], n_logs, logs, diag);
    for (size_t k = 0; k < v->work->n_runs && !status; k++)
      status = cli_check_output(outputs[i], 1, &v->work->runs[k].log, diag);
    if (!status) status = cli_check_place(outputs[i], diag);
  }
  return status;
}

static int show_all(showing *v, const char *const outputs[3], bramah_diag *diag)
{
  v->out = cli_summary_stream(2, outputs);
  fprintf(v->out, "work: %s (%s)\n", v->work->name, v->work->file);
  show_runs(v);
  for (size_t i = 0; i < v->r->n_runs && v->r->n_runs <= MOST_PRINTED_RUNS; i++)
    if (v->r->runs[i].cut->n_cycles) show_cycles(v, &v->r->runs[i]);
  fprintf(v->out,
          "\n* cut by an end of the log; ± of a load is one standard deviation, of a border half of its "
          "95 %% interval\n");
  const size_t doubtful = show_doubts(v);
  if (v->r->n_persons > 1) show_leaderboard(v);
  if (v->r->n_persons > 1) show_questions(v);
  const int code = doubtful ? CLI_UNTRUSTED : CLI_OK;
  bramah_status status = outputs[0] ? write_csv(v, outputs[0], diag) : BRAMAH_OK;
  if (!status && outputs[1]) status = write_json(v, outputs[1], code, diag);
  if (!status && outputs[2]) status = write_page(v, doubtful, outputs[2], diag);
  return status ? cli_report(diag) : code;
}

static int run(const cli_arguments *arguments)
{
  const char *const outputs[3] = {cli_value(arguments, "output"), cli_value(arguments, "json"),
                                  cli_value(arguments, "report")};
  const size_t n = (size_t)arguments->n_operands - 1;
  const char *const *logs = arguments->operands + 1;
  bramah_work *work = NULL;
  bramah_work_results *results = NULL;
  showing v = {0};
  bramah_diag diag;
  bramah_diag_clear(&diag);
  bramah_status status = bramah_work_load(arguments->operands[0], &diag, &work);
  v.work = work;
  if (!status) status = check_files(&v, n, logs, outputs, &diag);
  if (!status) status = bramah_work_run(work, n, logs, &diag, &results);
  if (!status && outputs[2]) status = bramah_report_new(work->name, &diag, &v.page);
  v.r = results;
  const int code = status ? cli_report(&diag) : show_all(&v, outputs, &diag);
  bramah_report_free(v.page);
  bramah_work_results_free(results);
  bramah_work_free(work);
  return code;
}

static const cli_option options[] = {{"output", "FILE", "a row per cycle, CSV; - is standard output", 0, 0},
                                     {"json", "FILE", "the result for programs; - is standard output", 0, 0},
                                     {"report", "FILE", "HTML page with plots and tables", 0, 0},
                                     {0}};

const cli_command cli_cycles = {
    .name = "cycles",
    .operands = "WORK [LOG...]",
    .summary = "Cut logs into work cycles, measure them, compare operators",
    .details =
        "Logs of an excavator or a loader, best estimates that `replay` has written, are cut into digging,\n"
        "swinging loaded, dumping and swinging empty by a hidden Markov model of the load and the swing\n"
        "rate. The work file says which columns these are, and of runs who worked with which attachment.\n"
        "LOGs are taken instead of its runs.\n\n"
        "Printed are time, load with its standard deviation, fuel, energy, movements of the arm and work of\n"
        "the cylinders, by cycle and by run; with several operators a leaderboard, rank tests with p-values\n"
        "by permutation, and what so many operators can show at all.\n\n"
        "A run that the model does not fit is named and left out of comparisons; then the exit code is 3.\n",
    .example = "bramah cycles work.yaml estimate.csv --report cycles.html",
    .min_operands = 1,
    .max_operands = INT_MAX,
    .options = options,
    .run = run};
