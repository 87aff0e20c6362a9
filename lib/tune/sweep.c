/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sweeps: the points of a grid of values or of a Latin hypercube over ranges, and how they do. */
#include "bramah/units.h"
#include "lib/io/fail.h"
#include "lib/tune/tune_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Points done between two looks at memory. */
enum { CHUNK = 256, MOST_POINTS = 10000000 };

/* The range of a value, in the unit of its file. */
typedef struct range {
  double low, high;
  int log;
} range;

struct bramah_sweep {
  bramah_sweep_options options;
  bramah__tune_problem problem;
  bramah__tune_workers workers;
  range ranges[BRAMAH__TUNE_MOST];
  double *cube;                   /* [n_points x n] of a hypercube; NULL: a grid of what the values list */
  size_t next;                    /* point */
  double (*x)[BRAMAH__TUNE_MOST]; /* [CHUNK] candidates of the chunk */
  size_t *logs;                   /* [n_logs] 0, 1, ... */
  bramah__replay_score *scores;   /* [CHUNK x n_logs] */
  bramah_tune_verdict *verdicts;  /* [n_logs] of the point */
  const char **log_names;         /* [n_logs] */
  char text[BRAMAH__TUNE_MOST][256], best_text[BRAMAH__TUNE_MOST][256];
  const char *names[BRAMAH__TUNE_MOST], *values[BRAMAH__TUNE_MOST], *best_values[BRAMAH__TUNE_MOST];
  bramah_sweep_summary summary;
  int leads; /* other processes, which are to be dismissed */
};

void bramah_sweep_options_default(bramah_sweep_options *options)
{
  *options = (bramah_sweep_options){.seed = 1};
}

/* ---- what varies ---- */

/* Without blanks at both ends. */
static char *trimmed(const char *text, size_t n)
{
  while (n && *text == ' ') text++, n--;
  while (n && text[n - 1] == ' ') n--;
  char *out = malloc(n + 1);
  if (!out) return NULL;
  memcpy(out, text, n);
  out[n] = '\0';
  return out;
}

/* A number alone takes the unit of the value that is in the file. */
static int is_bare_number(const char *text)
{
  char *end;
  strtod(text, &end);
  return end != text && *end == '\0';
}

/* One value of a list. */
static bramah_status list(bramah__tune_parameter *t, const char *from, size_t n, bramah_diag *diag)
{
  char *text = trimmed(from, n);
  char **more = realloc(t->listed, (t->n_listed + 1) * sizeof *more);
  if (more) t->listed = more;
  if (!more || !text) {
    free(text);
    return bramah__fail_memory(diag);
  }
  t->listed[t->n_listed++] = text;
  if (!*text || strstr(text, "; ") || strlen(text) > 200)
    return bramah__failf(diag, BRAMAH_E_SYNTAX, "--vary", 0, t->name, "'%.100s' is no value", text);
  if (!t->unit || !*t->unit || !is_bare_number(text)) return BRAMAH_OK;
  const size_t room = strlen(text) + strlen(t->unit) + 2;
  char *whole = malloc(room);
  if (!whole) return bramah__fail_memory(diag);
  snprintf(whole, room, "%s %s", text, t->unit);
  t->listed[t->n_listed - 1] = whole;
  free(text);
  return BRAMAH_OK;
}

static double between(const range *r, double share)
{
  return r->log ? r->low * pow(r->high / r->low, share) : r->low + share * (r->high - r->low);
}

static bramah_status read_end(const bramah__tune_parameter *t, const char *from, size_t n, double *out,
                              bramah_diag *diag)
{
  double si;
  char *text = trimmed(from, n);
  bramah_status status = BRAMAH_OK;
  if (!text) return bramah__fail_memory(diag);
  if (is_bare_number(text))
    *out = strtod(text, NULL);
  else if (!(status = bramah_quantity_parse(text, *t->unit ? t->unit : "1", &si, diag)))
    *out = si / t->factor;
  free(text);
  return status ? bramah__place(diag, "--vary", 0) : BRAMAH_OK;
}

/* "0.1 .. 10 bar: 5 log", with the dots at `dots`; for a grid its values are listed. */
static bramah_status read_range(range *r, bramah__tune_parameter *t, const char *text, const char *dots,
                                int latin, bramah_diag *diag)
{
  const char *colon = strrchr(dots, ':'), *rest = dots + 2;
  size_t steps = 0;
  if (!t->unit)
    return bramah__failf(diag, BRAMAH_E_VALUE, "--vary", 0, t->name, "'%s' is no number: list the words",
                         t->text);
  bramah_status status = read_end(t, text, (size_t)(dots - text), &r->low, diag);
  if (!status) status = read_end(t, rest, colon ? (size_t)(colon - rest) : strlen(rest), &r->high, diag);
  if (status) return status;
  if (!(r->low < r->high))
    return bramah__failf(diag, BRAMAH_E_VALUE, "--vary", 0, t->name,
                         "the range is inverted: its end must be larger than its begin");

  /* ": 5 log", ": 5", ": log" or nothing. */
  if (colon) {
    const char *p = colon + 1 + strspn(colon + 1, " ");
    char *end;
    const unsigned long n = strtoul(p, &end, 10);
    steps = end == p || n >= 1000000 ? 0 : (size_t)n;
    end += strspn(end, " ");
    r->log = strcmp(end, "log") == 0;
    if (*end && !r->log)
      return bramah__failf(
          diag, BRAMAH_E_SYNTAX, "--vary", 0, t->name,
          "'%.100s' is not understood behind the range: a number of values and 'log' may stand there", p);
    if (r->log && !(r->low > 0.0))
      return bramah__failf(diag, BRAMAH_E_VALUE, "--vary", 0, t->name,
                           "a logarithmic range must be positive");
  }
  if (latin) return BRAMAH_OK;
  if (steps < 2)
    return bramah__failf(diag, BRAMAH_E_SYNTAX, "--vary", 0, t->name,
                         "a range needs a number of values, such as '0.1 .. 10: 5 log', or --latin");
  for (size_t i = 0; !status && i < steps; i++) {
    char value[256];
    snprintf(value, sizeof value, "%.12g%s%s", between(r, (double)i / (double)(steps - 1)),
             *t->unit ? " " : "", t->unit);
    status = list(t, value, strlen(value), diag);
  }
  return status;
}

/* NAME=VALUES */
static bramah_status read_vary(bramah_sweep *s, const char *text, bramah_diag *diag)
{
  const char *equals = strchr(text, '=');
  bramah__tune_parameter *t;
  range *r = &s->ranges[s->problem.n];
  if (!equals || equals == text)
    return bramah__failf(diag, BRAMAH_E_SYNTAX, "--vary", 0, NULL, "'%.100s' is not of the form NAME=VALUES",
                         text);
  char *name = trimmed(text, (size_t)(equals - text));
  if (!name) return bramah__fail_memory(diag);
  bramah_status status = bramah__tune_problem_add(&s->problem, name, 0, 0, NULL, &t, diag);
  free(name);
  if (status) return status;
  const char *dots = strstr(equals, "..");
  if (dots) return read_range(r, t, equals + 1, dots, s->options.latin > 0, diag);
  if (s->options.latin)
    return bramah__failf(diag, BRAMAH_E_SYNTAX, "--vary", 0, t->name,
                         "--latin wants ranges, such as '0.1 .. 10: log'");
  for (const char *p = equals + 1; !status && p;) {
    const char *comma = strchr(p, ',');
    status = list(t, p, comma ? (size_t)(comma - p) : strlen(p), diag);
    p = comma ? comma + 1 : NULL;
  }
  return status;
}

/* All that varies, and how many points that makes. */
static bramah_status choose_points(bramah_sweep *s, bramah_diag *diag)
{
  const bramah_sweep_options *o = &s->options;
  const bramah__tune_problem *problem = &s->problem;
  bramah_status status = BRAMAH_OK;
  if (o->n_vary > BRAMAH__TUNE_MOST)
    return bramah__failf(diag, BRAMAH_E_VALUE, "--vary", 0, NULL, "more than %d values",
                         (int)BRAMAH__TUNE_MOST);
  for (size_t i = 0; !status && i < o->n_vary; i++) status = read_vary(s, o->vary[i], diag);
  if (!status && !o->n_vary) {
    status = bramah__tune_problem_add_parameters(&s->problem, diag);
    for (size_t i = 0; i < problem->n; i++) {
      const bramah__tune_parameter *t = &problem->tuned[i];
      s->ranges[i] = (range){.log = !t->linear, .low = t->least, .high = t->most};
    }
  }
  size_t n_points = o->latin ? o->latin : 1;
  for (size_t i = 0; !status && !o->latin && i < problem->n; i++) {
    if (problem->tuned[i].n_listed > MOST_POINTS / n_points)
      return bramah__failf(diag, BRAMAH_E_VALUE, "--vary", 0, NULL, "more than 10 000 000 points");
    n_points *= problem->tuned[i].n_listed;
  }
  s->summary.n_points = n_points;
  if (status || !o->latin) return status;
  s->cube = calloc(n_points * problem->n + 1, sizeof *s->cube);
  return s->cube ? bramah__latin_hypercube(n_points, problem->n, o->seed, s->cube, diag)
                 : bramah__fail_memory(diag);
}

/* ---- opening ---- */

/* The study, what varies, and the logs. */
static bramah_status prepare(bramah_sweep *s, const char *study, size_t n_logs, const char *const *logs,
                             bramah_diag *diag)
{
  const size_t ahead = s->options.ahead;
  bramah_diag_clear(diag);
  bramah_status status = bramah__tune_problem_open(&s->problem, study, &s->options.run, diag);
  if (status) return status;
  if (!s->options.n_vary && !s->options.latin)
    return bramah__failf(diag, BRAMAH_E_VALUE, study, 0, NULL, "nothing varies");
  if (ahead) s->problem.ahead = ahead < 1000000 ? (int)ahead : 1000000;
  status = choose_points(s, diag);
  if (!status) status = bramah__tune_problem_read(&s->problem, n_logs, logs, 0, diag);
  if (status) return status;

  n_logs = s->problem.n_logs;
  s->x = calloc(CHUNK, sizeof *s->x);
  s->logs = calloc(n_logs + 1, sizeof *s->logs);
  s->verdicts = calloc(n_logs + 1, sizeof *s->verdicts);
  s->log_names = calloc(n_logs + 1, sizeof *s->log_names);
  s->scores = bramah__replay_scores_new(&s->problem, CHUNK * n_logs, 0);
  if (!s->x || !s->logs || !s->log_names || !s->verdicts || !s->scores) return bramah__fail_memory(diag);
  for (size_t i = 0; i < n_logs; i++) {
    s->logs[i] = i;
    s->log_names[i] = s->problem.logs[i].path;
  }
  for (size_t i = 0; i < s->problem.n; i++) {
    s->names[i] = s->problem.tuned[i].name;
    s->values[i] = s->text[i];
    s->best_values[i] = s->best_text[i];
  }
  s->summary = (bramah_sweep_summary){.study = bramah_session_study(s->problem.session),
                                      .n = s->problem.n,
                                      .n_points = s->summary.n_points,
                                      .n_logs = n_logs,
                                      .n_left_out = s->problem.n_left_out,
                                      .names = s->names,
                                      .logs = s->log_names,
                                      .least = (double)INFINITY,
                                      .best_values = s->best_values};
  return BRAMAH_OK;
}

bramah_status bramah_sweep_open(const char *study, size_t n_logs, const char *const *logs,
                                const bramah_sweep_options *options, bramah_diag *diag, bramah_sweep **out)
{
  bramah_sweep *s = calloc(1, sizeof *s);
  *out = NULL;
  if (!s) return bramah__fail_memory(diag);
  s->options = *options;
  const bramah_tune_run *run = &s->options.run;
  const int serves = bramah__tune_serves(run);
  bramah_status status = bramah__tune_agree(&s->problem, run, prepare(s, study, n_logs, logs, diag), diag);
  if (!status) {
    status = serves ? bramah__tune_serve(&s->problem, diag)
                    : bramah__tune_workers_open(&s->workers, &s->problem, diag);
    s->leads = !serves;
  }
  if (status || serves)
    bramah_sweep_close(s);
  else
    *out = s;
  return status;
}

void bramah_sweep_close(bramah_sweep *sweep)
{
  if (!sweep) return;
  if (sweep->leads) bramah__tune_dismiss(&sweep->options.run);
  bramah__tune_workers_close(&sweep->workers);
  bramah__tune_problem_close(&sweep->problem);
  free(sweep->cube);
  free(sweep->x);
  free(sweep->logs);
  free(sweep->scores);
  free(sweep->verdicts);
  free(sweep->log_names);
  free(sweep);
}

/* ---- points ---- */

bramah_status bramah_sweep_next(bramah_sweep *sweep, bramah_sweep_point *point, int *end, bramah_diag *diag)
{
  bramah_sweep *s = sweep;
  const bramah__tune_problem *problem = &s->problem;
  bramah_sweep_summary *is = &s->summary;
  *end = s->next == is->n_points;
  if (*end) return BRAMAH_OK;

  /* The candidates of a chunk at once. */
  const size_t at = s->next % CHUNK, rest = is->n_points - s->next, n = rest < CHUNK ? rest : CHUNK;
  for (size_t k = 0; at == 0 && k < n; k++) {
    size_t digits = s->next + k;
    for (size_t i = problem->n; i-- > 0;) {
      const size_t base = problem->tuned[i].n_listed;
      s->x[k][i] =
          s->cube ? between(&s->ranges[i], s->cube[(s->next + k) * problem->n + i]) : (double)(digits % base);
      if (!s->cube) digits /= base;
    }
    bramah__tune_round(problem, s->x[k]);
  }
  if (at == 0) {
    const bramah_status status =
        bramah__tune_workers_replay(&s->workers, n, s->x, problem->n_logs, s->logs, 1000, s->scores, diag);
    if (status) return status;
    is->replays = s->workers.replays;
  }

  /* How it did, on all logs and on each. */
  const bramah__replay_score *scores = s->scores + at * problem->n_logs;
  for (size_t i = 0; i < problem->n; i++)
    bramah__tune_value_text(&problem->tuned[i], s->x[at][i], s->text[i]);
  for (size_t k = 0; k < problem->n_logs; k++)
    s->verdicts[k] = bramah__tune_judge(problem, 1, &s->logs[k], scores + k);
  *point = (bramah_sweep_point){.values = s->values,
                                .all = bramah__tune_judge(problem, problem->n_logs, s->logs, scores),
                                .logs = s->verdicts};

  /* The first failure, and the best so far. */
  if (point->all.status && !is->n_failed++) {
    is->first_failed = s->next;
    bramah__tune_explain_failure(problem, s->x[at], 0, &point->all, &is->failure);
  }
  const double cost = bramah__tune_criterion_value(&point->all, BRAMAH_TUNE_LIKELIHOOD);
  if (cost < is->least) {
    is->least = cost;
    is->best = s->next;
    memcpy(s->best_text, s->text, sizeof s->text);
  }
  s->next++;
  return BRAMAH_OK;
}

const bramah_sweep_summary *bramah_sweep_get_summary(const bramah_sweep *sweep) { return &sweep->summary; }
