/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The runs of a work file: read, cut into cycles, measured, compared. */
#define _POSIX_C_SOURCE 200809L /* strdup */
#include "bramah/log.h"
#include "bramah/work_cycles.h"
#include "lib/assess/assess_internal.h"
#include "lib/io/fail.h"

#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- a log as arrays ---- */

/* The columns every run has a place for, then four of each cylinder (the fourth is none). */
enum { LOAD, LOAD_SIGMA, SWING, ARM, FUEL, POWER, OF_CYLINDERS };

/* Rows of a log, by columns; what is not there is NaN. */
typedef struct table {
  size_t n, room, n_columns;
  double *t;
  double **column; /* [n_columns] [n]; NULL: the log does not have it */
  const char *unit[OF_CYLINDERS];
} table;

static void free_table(table *w)
{
  for (size_t k = 0; w->column && k < w->n_columns; k++) free(w->column[k]);
  free(w->column);
  free(w->t);
}

/* Find a column in one of several units [ends with NULL]; `needed` 0: *at is SIZE_MAX where there is none. */
static bramah_status find(const bramah_log_reader *reader, const char *name, const char *const *units,
                          int needed, size_t *at, const char **unit, bramah_diag *diag)
{
  bramah_status status = BRAMAH_OK;
  bramah_diag first;
  *at = SIZE_MAX;
  for (size_t i = 0; units[i]; i++) {
    bramah_diag_clear(diag);
    status = bramah_log_find(reader, name, units[i], at, diag);
    if (!status && unit) *unit = units[i];
    if (!status) return status;
    *at = SIZE_MAX;
    if (i == 0) first = *diag;
    if (status != BRAMAH_E_UNIT) break;
  }
  if (status == BRAMAH_E_COLUMN && !needed) return BRAMAH_OK;
  if (status == BRAMAH_E_UNIT) *diag = first;
  return bramah__place(diag, bramah_log_get_info(reader).path, 0);
}

/* Which columns of the file are wanted, and where they go: place [n_columns of w] in the file. */
static bramah_status find_all(const bramah_work *work, const bramah_log_reader *reader, table *w,
                              size_t *time, size_t *place, bramah_diag *diag)
{
  static const char *const units[OF_CYLINDERS][6] = {[LOAD] = {"kg", "Pa", "N", "V", "1"},
                                                     [SWING] = {"rad/s", "m/s"},
                                                     [ARM] = {"m"},
                                                     [FUEL] = {"kg/s", "m^3/s"},
                                                     [POWER] = {"W"}};
  static const char *const seconds[] = {"s", NULL}, *const metres[] = {"m", NULL},
                           *const pascals[] = {"Pa", NULL};
  char sigma[1024];
  snprintf(sigma, sizeof sigma, "%s.sigma", work->payload);
  const char *const name[OF_CYLINDERS] = {work->payload, sigma,           work->swing_rate,
                                          work->arm,     work->fuel_rate, work->power};
  const int needed[OF_CYLINDERS] = {1, 0, 1, work->has_arm, work->has_fuel_rate, work->has_power};
  bramah_status status = find(reader, work->time, seconds, 1, time, NULL, diag);
  for (size_t k = 0; k < OF_CYLINDERS && !status; k++) {
    const char *const of_load[] = {w->unit[LOAD], NULL};
    status =
        find(reader, name[k], k == LOAD_SIGMA ? of_load : units[k], needed[k], &place[k], &w->unit[k], diag);
  }
  for (size_t i = 0; i < work->n_cylinders && !status; i++) {
    const bramah_work_cylinder *c = &work->cylinders[i];
    size_t *at = place + OF_CYLINDERS + 3 * i;
    status = find(reader, c->stroke, metres, 1, &at[0], NULL, diag);
    if (!status) status = find(reader, c->piston_pressure, pascals, 1, &at[1], NULL, diag);
    at[2] = SIZE_MAX;
    if (!status && c->rod_pressure) status = find(reader, c->rod_pressure, pascals, 1, &at[2], NULL, diag);
  }
  return status;
}

static bramah_status grow(table *w, const size_t *place, bramah_diag *diag)
{
  if (w->n < w->room) return BRAMAH_OK;
  const size_t room = 2 * w->room + 1024;
  double *more = realloc(w->t, room * sizeof *more);
  if (more) w->t = more;
  for (size_t k = 0; k < w->n_columns && more; k++) {
    if (place[k] == SIZE_MAX) continue;
    more = realloc(w->column[k], room * sizeof *more);
    if (more) w->column[k] = more;
  }
  if (!more) return bramah__fail_memory(diag);
  w->room = room;
  return BRAMAH_OK;
}

static bramah_status read_rows(bramah_log_reader *reader, table *w, size_t time, const size_t *place,
                               bramah_diag *diag)
{
  const size_t n = bramah_log_get_info(reader).n_columns;
  double *values = malloc(n * sizeof *values);
  unsigned char *present = malloc(n);
  bramah_status status = values && present ? BRAMAH_OK : bramah__fail_memory(diag);
  while (!status) {
    int end;
    status = bramah_log_next(reader, values, present, &end, diag);
    if (status || end) break;
    status = grow(w, place, diag);
    if (status) break;
    const bramah_log_info info = bramah_log_get_info(reader);
    if (!present[time])
      status = bramah__failf(diag, BRAMAH_E_TIME, info.path, info.line, info.columns[time].name,
                             "the time of this row is missing");
    else if (w->n && !(values[time] > w->t[w->n - 1]))
      status = bramah__failf(diag, BRAMAH_E_TIME, info.path, info.line, info.columns[time].name,
                             "time does not go forward");
    if (status) break;
    w->t[w->n] = values[time];
    for (size_t k = 0; k < w->n_columns; k++)
      if (place[k] != SIZE_MAX) w->column[k][w->n] = present[place[k]] ? values[place[k]] : (double)NAN;
    w->n++;
  }
  free(values);
  free(present);
  return status;
}

static bramah_status read_log(const bramah_work *work, const char *path, table *w, bramah_diag *diag)
{
  bramah_log_reader *reader = NULL;
  w->n_columns = OF_CYLINDERS + 3 * work->n_cylinders;
  w->column = calloc(w->n_columns, sizeof *w->column);
  size_t time, *place = calloc(w->n_columns, sizeof *place);
  bramah_diag_clear(diag);
  bramah_status status = w->column && place ? BRAMAH_OK : bramah__fail_memory(diag);
  if (!status) status = bramah_log_open(path, NULL, diag, &reader);
  if (!status) status = find_all(work, reader, w, &time, place, diag);
  if (!status) status = read_rows(reader, w, time, place, diag);
  if (status) bramah__place(diag, path, 0);
  bramah_log_close(reader);
  free(place);
  return status;
}

/* ---- measures ---- */

/* The integral of x over [begin, end], by the trapezoidal rule between samples; NaN: not known. */
static double integral(const table *w, const double *x, double begin, double end)
{
  double sum = 0.0, reaches = (double)NAN;
  size_t last = w->n;
  for (size_t i = 0; x && i < w->n; i++) {
    if (isnan(x[i])) continue;
    if (last < w->n && w->t[i] > begin && w->t[last] < end) {
      const double a = fmax(w->t[last], begin), b = fmin(w->t[i], end), step = w->t[i] - w->t[last];
      const double slope = (x[i] - x[last]) / step;
      sum += (b - a) * (x[last] + slope * (0.5 * (a + b) - w->t[last]));
      reaches = 0.0;
    }
    last = i;
  }
  return sum + reaches;
}

/* Rows within [begin, end]: the first, and how many. */
static size_t rows_within(const table *w, double begin, double end, size_t *first)
{
  size_t n = 0;
  for (*first = 0; *first < w->n && w->t[*first] < begin; ++*first) continue;
  for (n = *first; n < w->n && w->t[n] <= end; n++) continue;
  return n - *first;
}

/* From begin to end. What the log does not have is NaN, all cylinders if it knows one for less than two rows. */
static bramah_work_measures measure(const bramah_work *work, const table *w, double begin, double end)
{
  static const double pi = 3.14159265358979323846;
  const double none = work->n_cylinders ? 0.0 : (double)NAN;
  bramah_work_measures m = {.begin = begin,
                            .end = end,
                            .fuel = integral(w, w->column[FUEL], begin, end),
                            .energy = integral(w, w->column[POWER], begin, end),
                            .work = none,
                            .positive_work = none,
                            .near_stalls = (double)NAN};
  size_t first;
  const size_t n = rows_within(w, begin, end, &first);
  if (w->column[ARM] &&
      bramah_movement_of(n, w->t + first, w->column[ARM] + first, work->band, &m.arm, NULL) != BRAMAH_OK)
    m.arm = (bramah_movement){0};
  for (size_t i = 0; i < work->n_cylinders; i++) {
    const bramah_work_cylinder *c = &work->cylinders[i];
    double *const *column = w->column + OF_CYLINDERS + 3 * i;
    bramah_cylinder_work of = {(double)NAN, (double)NAN, 0};
    const bramah_cylinder_log log = {.n = n,
                                     .t = w->t + first,
                                     .stroke = column[0] + first,
                                     .piston_pressure = column[1] + first,
                                     .rod_pressure = column[2] ? column[2] + first : NULL,
                                     .piston_area = 0.25 * pi * c->bore * c->bore,
                                     .rod_area = 0.25 * pi * (c->bore * c->bore - c->rod * c->rod),
                                     .stall_pressure = c->stall_pressure};
    const int is_known = bramah_cylinder_work_of(&log, &of, NULL) == BRAMAH_OK;
    m.work += c->number * of.work;
    m.positive_work += c->number * of.positive;
    if (is_known && c->stall_pressure > 0.0)
      m.near_stalls = fmax(m.near_stalls, 0.0) + (double)of.near_stalls;
  }
  return m;
}

/* A column at the times of a cut, by straight lines between its samples; NaN before the first and after the last. */
static double *at_times(const table *w, const double *x, const bramah_work_cut *cut)
{
  double *out = malloc((cut->n + 1) * sizeof *out);
  size_t last = w->n, next = 0;
  for (size_t g = 0; out && g < cut->n; g++) {
    const double t = cut->start + (double)g * cut->step;
    for (; next < w->n && (isnan(x[next]) || w->t[next] <= t); next++)
      if (!isnan(x[next])) last = next;
    out[g] = (double)NAN;
    if (last < w->n && w->t[last] == t) out[g] = x[last];
    if (last < w->n && next < w->n)
      out[g] = x[last] + (x[next] - x[last]) * (t - w->t[last]) / (w->t[next] - w->t[last]);
  }
  return out;
}

/* Cut and measure the run whose rows these are. */
static bramah_status measure_run(const bramah_work *work, const table *w, bramah_work_run_result *run,
                                 bramah_diag *diag)
{
  const bramah_work_signals s = {w->n, w->t, w->column[LOAD], w->column[LOAD_SIGMA], w->column[SWING]};
  bramah_status status = bramah_work_cut_new(&s, diag, &run->cut);
  if (status) return status;
  const size_t n = run->cut->n_cycles;
  const bramah_work_cycle *cycles = run->cut->cycles;
  bramah_work_measures *measures = calloc(n + 1, sizeof *measures);
  double *times = malloc((n + 1) * sizeof *times);
  size_t complete = 0;
  run->cycles = measures;
  if (w->column[ARM]) run->arm = at_times(w, w->column[ARM], run->cut);
  if (!measures || !times || (w->column[ARM] && !run->arm)) return free(times), bramah__fail_memory(diag);
  const double begin = n ? cycles[0].begin[0].t : w->t[0],
               end = n ? cycles[n - 1].begin[BRAMAH_WORK_N_PHASES].t : w->t[w->n - 1];
  run->whole = measure(work, w, begin, end);
  for (size_t i = 0; i < n; i++) {
    const bramah_work_cycle *c = &cycles[i];
    bramah_work_measures *m = &measures[i];
    *m = measure(work, w, c->begin[0].t, c->begin[BRAMAH_WORK_N_PHASES].t);
    for (int k = 0; k < BRAMAH_WORK_N_PHASES; k++) {
      m->time[k] = c->begin[k + 1].t - c->begin[k].t;
      if (c->complete) run->whole.time[k] += m->time[k];
    }
    m->load = c->load;
    m->load_sigma = c->load_sigma;
    run->whole.load += c->load;
    run->whole.load_sigma += c->load_sigma;
    if (c->complete) times[complete++] = m->end - m->begin;
  }
  gsl_sort(times, 1, complete);
  run->cycle_time = complete ? gsl_stats_median_from_sorted_data(times, 1, complete) : (double)NAN;
  free(times);
  const int is_mass = strcmp(w->unit[LOAD], "kg") == 0;
  const double amount = is_mass ? 1e-3 * run->whole.load : (double)n;
  run->effort[0] = amount > 0.0 ? (end - begin) / amount : (double)NAN;
  run->effort[1] = amount > 0.0 ? run->whole.fuel / amount : (double)NAN;
  return BRAMAH_OK;
}

/* What the replay that wrote the log says of it, and what speaks against the run: that, or the cut. */
static bramah_status find_doubt(bramah_work_run_result *run, bramah_diag *diag)
{
  static const char *const bad[] = {"contradicted", "doubted", "none"};
  char text[1200];
  run->doubt = run->cut->doubt;
  if (!bramah__verdict_kept(run->log, text, sizeof text)) return BRAMAH_OK;
  run->verdict = strdup(text);
  if (!run->verdict) return bramah__fail_memory(diag);
  for (size_t i = 0; i < sizeof bad / sizeof bad[0] && !run->doubt; i++)
    if (strncmp(text, bad[i], strlen(bad[i])) == 0) run->doubt = run->verdict;
  return BRAMAH_OK;
}

/* ---- comparing ---- */

enum { MOST_QUESTIONS = 6 };

typedef struct whole_work {
  bramah_work_results result; /* first: the caller's pointer is ours */
  bramah_work_run_result *runs;
  bramah_work_person *persons;
  bramah_work_question questions[MOST_QUESTIONS];
} whole_work;

static size_t person_of(const whole_work *w, const char *name)
{
  size_t p = 0;
  while (p < w->result.n_persons && strcmp(w->persons[p].name, name) != 0) p++;
  return p;
}

/* Who has made which runs. */
static void find_persons(whole_work *w)
{
  for (size_t i = 0; i < w->result.n_runs; i++) {
    bramah_work_run_result *run = &w->runs[i];
    const size_t p = person_of(w, run->person);
    if (p == w->result.n_persons)
      w->persons[w->result.n_persons++] = (bramah_work_person){.name = run->person, .score = (double)NAN};
    run->attempt = ++w->persons[p].attempts;
  }
}

/* What of a run is asked for. */
typedef enum quantity { TIME, FUEL_USED, REVERSALS, DEVIATION } quantity;

static double value_of_run(const bramah_work_run_result *run, quantity q)
{
  const bramah_movement *arm = &run->whole.arm;
  if (run->doubt) return (double)NAN;
  if (q == TIME || q == FUEL_USED) return run->effort[q == FUEL_USED];
  if (!(arm->duration > 0.0)) return (double)NAN;
  return q == REVERSALS ? arm->reversals_per_minute : arm->deviation;
}

static bramah_status score(whole_work *w, bramah_diag *diag)
{
  const size_t n = w->result.n_runs, m = w->result.n_persons;
  bramah_attempt *attempts = calloc(n + 1, sizeof *attempts);
  double *scores = calloc(m + 1, sizeof *scores);
  bramah_status status = attempts && scores ? BRAMAH_OK : bramah__fail_memory(diag);
  double *weight = w->result.weight;
  size_t used = 0;
  for (int k = 0; k < 3; k++) weight[k] = 1.0;
  for (size_t i = 0; i < n && !status; i++) {
    const bramah_work_run_result *run = &w->runs[i];
    if (run->doubt) continue;
    attempts[used++] = (bramah_attempt){person_of(w, run->person), run->effort[0], run->effort[1], run->hits};
    if (!(run->effort[0] > 0.0)) weight[0] = 0.0;
    if (!(run->effort[1] > 0.0)) weight[1] = 0.0;
    if (isnan(run->hits)) weight[2] = 0.0;
  }
  if (!status && used && weight[0] + weight[1] + weight[2] > 0.0)
    status = bramah_leaderboard(used, attempts, weight, m, scores, diag);
  for (size_t p = 0; p < m && !status && used; p++) w->persons[p].score = scores[p];
  for (size_t i = 0; i < n && !status; i++) /* who has a doubtful run is not compared */
    if (w->runs[i].doubt) w->persons[person_of(w, w->runs[i].person)].score = (double)NAN;
  for (size_t p = 0; p < m && !status; p++) {
    if (isnan(w->persons[p].score)) continue;
    w->persons[p].place = 1;
    for (size_t other = 0; other < m; other++)
      w->persons[p].place += w->persons[other].score < w->persons[p].score;
  }
  free(attempts);
  free(scores);
  return status;
}

/* Means of a quantity over an operator's runs, with this attachment (NULL: any), of this attempt (0: any); NaN: none. */
static double mean_of_person(const whole_work *w, size_t p, quantity q, const char *attachment,
                             size_t attempt)
{
  double sum = 0.0, n = 0.0;
  for (size_t i = 0; i < w->result.n_runs; i++) {
    const bramah_work_run_result *run = &w->runs[i];
    const double x = value_of_run(run, q);
    const int wanted = strcmp(run->person, w->persons[p].name) == 0 &&
                       (!attempt || run->attempt == attempt) &&
                       (!attachment || (run->attachment && strcmp(run->attachment, attachment) == 0));
    if (wanted && !isnan(x)) sum += x, n += 1.0;
  }
  return n > 0.0 ? sum / n : (double)NAN;
}

/* Friedman over the operators that have all attempts, or all attachments. */
static bramah_status ask_treatments(whole_work *w, bramah_work_question *question, quantity q,
                                    int by_attachment, bramah_diag *diag)
{
  enum { MOST_TREATMENTS = 64 };
  const char *attachment[MOST_TREATMENTS] = {NULL};
  size_t k = 0, rows = 0;
  for (size_t i = 0; i < w->result.n_runs; i++) {
    const char *has = w->runs[i].attachment;
    size_t j = 0;
    while (by_attachment && has && j < k && strcmp(attachment[j], has) != 0) j++;
    if (by_attachment && has && j == k && k < MOST_TREATMENTS) attachment[k++] = has;
    if (!by_attachment && w->runs[i].attempt > k && w->runs[i].attempt <= MOST_TREATMENTS)
      k = w->runs[i].attempt;
  }
  double *values = calloc(w->result.n_persons * k + 1, sizeof *values);
  if (!values) return bramah__fail_memory(diag);
  for (size_t p = 0; p < w->result.n_persons && k > 1; p++) {
    int whole = 1;
    for (size_t j = 0; j < k; j++) {
      double *x = &values[rows * k + j];
      *x = mean_of_person(w, p, q, attachment[j], by_attachment ? 0 : j + 1);
      whole &= !isnan(*x);
    }
    rows += (size_t)whole;
  }
  bramah_status status = BRAMAH_OK;
  question->is_friedman = 1;
  if (k < 2)
    question->why_not = by_attachment ? "there are no two attachments" : "nobody has two attempts";
  else if (rows < 2)
    question->why_not = by_attachment ? "fewer than two operators have used every attachment"
                                      : "fewer than two operators have made every attempt";
  else
    status = bramah_friedman(rows, k, values, 1, &question->test, diag);
  if (status == BRAMAH_E_VALUE) status = BRAMAH_OK, question->why_not = "all values are equal";
  free(values);
  return status;
}

/* Spearman over the operators. */
static bramah_status ask_together(whole_work *w, bramah_work_question *question, quantity a, quantity b,
                                  bramah_diag *diag)
{
  double *x = calloc(2 * w->result.n_persons + 1, sizeof *x), *y = x + w->result.n_persons;
  size_t n = 0;
  if (!x) return bramah__fail_memory(diag);
  for (size_t p = 0; p < w->result.n_persons; p++) {
    x[n] = mean_of_person(w, p, a, NULL, 0);
    y[n] = mean_of_person(w, p, b, NULL, 0);
    n += !isnan(x[n]) && !isnan(y[n]);
  }
  bramah_status status = BRAMAH_OK;
  if (n < 4)
    question->why_not = "fewer than four operators have both";
  else
    status = bramah_spearman(n, x, y, 1, &question->test, diag);
  if (status == BRAMAH_E_VALUE) status = BRAMAH_OK, question->why_not = "all values are equal";
  free(x);
  return status;
}

/* The questions of publication VI, and p adjusted for there being several (Holm). */
static bramah_status ask(whole_work *w, bramah_diag *diag)
{
  static const struct {
    const char *what;
    int is_friedman, by_attachment;
    quantity a, b;
  } asked[MOST_QUESTIONS] = {{"time and reversals per minute", 0, 0, TIME, REVERSALS},
                             {"time and deviation of the arm", 0, 0, TIME, DEVIATION},
                             {"time and fuel", 0, 0, TIME, FUEL_USED},
                             {"time by attempt", 1, 0, TIME, TIME},
                             {"time by attachment", 1, 1, TIME, TIME},
                             {"fuel by attachment", 1, 1, FUEL_USED, TIME}};
  bramah_status status = BRAMAH_OK;
  size_t n = 0;
  for (size_t i = 0; i < MOST_QUESTIONS && !status; i++) {
    bramah_work_question *q = &w->questions[i];
    q->what = asked[i].what;
    q->adjusted = (double)NAN;
    status = asked[i].is_friedman ? ask_treatments(w, q, asked[i].a, asked[i].by_attachment, diag)
                                  : ask_together(w, q, asked[i].a, asked[i].b, diag);
    n += !q->why_not;
  }
  w->result.n_questions = MOST_QUESTIONS;
  double least = 0.0;
  for (size_t left = n; left > 0 && !status; left--) { /* the smallest p that is not adjusted yet */
    bramah_work_question *next = NULL;
    for (size_t i = 0; i < MOST_QUESTIONS; i++) {
      bramah_work_question *q = &w->questions[i];
      if (!q->why_not && isnan(q->adjusted) && (!next || q->test.p < next->test.p)) next = q;
    }
    next->adjusted = least = fmin(1.0, fmax(least, (double)left * next->test.p));
  }
  return status;
}

/* ---- the whole ---- */

/* Logs are compared with each other, so what is in different units is not one thing. */
static bramah_status check_units(bramah_work_results *r, const table *w, const char *log, bramah_diag *diag)
{
  const char **kept[] = {&r->load_unit, &r->swing_unit, &r->fuel_unit};
  const char *const is[] = {w->unit[LOAD], w->unit[SWING], w->column[FUEL] ? w->unit[FUEL] : NULL};
  const char *const name[] = {"load", "swing rate", "fuel rate"};
  for (int i = 0; i < 3; i++) {
    if (!*kept[i]) *kept[i] = is[i];
    if (is[i] && strcmp(is[i], *kept[i]) != 0)
      return bramah__failf(diag, BRAMAH_E_UNIT, log, 0, name[i], "its unit is %s, but %s in the logs before",
                           is[i], *kept[i]);
  }
  return BRAMAH_OK;
}

bramah_status bramah_work_run(const bramah_work *work, size_t n, const char *const *logs, bramah_diag *diag,
                              bramah_work_results **out)
{
  const size_t n_runs = n ? n : work->n_runs;
  whole_work *w = calloc(1, sizeof *w);
  if (!w) return bramah__fail_memory(diag);
  w->result.runs = w->runs = calloc(n_runs + 1, sizeof *w->runs);
  w->result.persons = w->persons = calloc(n_runs + 1, sizeof *w->persons);
  w->result.questions = w->questions;
  bramah_status status = w->runs && w->persons ? BRAMAH_OK : bramah__fail_memory(diag);
  if (!status && !n_runs)
    status = bramah__failf(diag, BRAMAH_E_EMPTY, work->file, 0, NULL,
                           "there are no runs here, and no logs were given");
  for (size_t i = 0; i < n_runs && !status; i++) {
    bramah_work_run_result *run = &w->runs[i];
    table rows = {0};
    if (n) {
      *run =
          (bramah_work_run_result){.name = logs[i], .log = logs[i], .person = logs[i], .hits = (double)NAN};
    } else {
      const bramah_work_entry *e = &work->runs[i];
      *run = (bramah_work_run_result){.name = e->name,
                                      .log = e->log,
                                      .person = e->person ? e->person : e->name,
                                      .attachment = e->attachment,
                                      .hits = e->has_hits ? e->hits : (double)NAN};
    }
    w->result.n_runs++;
    status = read_log(work, run->log, &rows, diag);
    if (!status) status = check_units(&w->result, &rows, run->log, diag);
    if (!status) status = measure_run(work, &rows, run, diag);
    if (!status) status = find_doubt(run, diag);
    if (status) bramah__place(diag, run->log, 0);
    free_table(&rows);
  }
  if (!status) find_persons(w);
  if (!status) status = score(w, diag);
  if (!status) status = ask(w, diag);
  if (status)
    bramah_work_results_free(&w->result);
  else
    *out = &w->result;
  return status;
}

void bramah_work_results_free(bramah_work_results *results)
{
  whole_work *w = (whole_work *)results;
  if (!w) return;
  for (size_t i = 0; w->runs && i < w->result.n_runs; i++) {
    bramah_work_cut_free(w->runs[i].cut);
    free(w->runs[i].cycles);
    free(w->runs[i].arm);
    free(w->runs[i].verdict);
  }
  free(w->runs);
  free(w->persons);
  free(w);
}
