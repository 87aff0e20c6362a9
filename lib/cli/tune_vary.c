/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/cli/tune_vary.h"
#include "lib/tune/optimise.h"
#include "bramah/units.h"
#include "lib/cli/cli.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bramah_status fail_memory(bramah_diag *diag)
{
  return cli_fail(diag, BRAMAH_E_MEMORY, NULL, 0, NULL, "out of memory");
}

static char *copy(const char *text, size_t n)
{
  char *out = malloc(n + 1);
  if (!out) return NULL;
  memcpy(out, text, n);
  out[n] = '\0';
  return out;
}

/* Without blanks at both ends. */
static char *trimmed(const char *text, size_t n)
{
  while (n && *text == ' ') text++, n--;
  while (n && text[n - 1] == ' ') n--;
  return copy(text, n);
}

static bramah_status add_value(cli_tune_values *v, char *text, bramah_diag *diag)
{
  char **more = realloc(v->text, (v->n + 1) * sizeof *more);
  if (more) v->text = more;
  if (!more || !text) {
    free(text);
    return fail_memory(diag);
  }
  v->text[v->n++] = text;
  return BRAMAH_OK;
}

/* A number alone takes the unit of the value that is in the file. */
static int is_bare_number(const char *text)
{
  char *end;
  strtod(text, &end);
  return end != text && *end == '\0';
}

static bramah_status add_text(cli_tune_values *v, const bramah__tune_parameter *t, const char *from, size_t n,
                              bramah_diag *diag)
{
  char whole[256], *text = trimmed(from, n);
  if (!text) return fail_memory(diag);
  if (!*text || strstr(text, "; ") || strlen(text) > 200) {
    cli_fail(diag, BRAMAH_E_SYNTAX, "--vary", 0, t->name, "'%.100s' is no value", text);
    free(text);
    return BRAMAH_E_SYNTAX;
  }
  if (!t->unit || !*t->unit || !is_bare_number(text)) return add_value(v, text, diag);
  const int used = snprintf(whole, sizeof whole, "%s %s", text, t->unit);
  free(text);
  return add_value(v, copy(whole, (size_t)used), diag);
}

static bramah_status read_list(cli_tune_values *v, const bramah__tune_parameter *t, const char *text,
                               bramah_diag *diag)
{
  bramah_status status = BRAMAH_OK;
  for (const char *p = text; !status && p;) {
    const char *comma = strchr(p, ',');
    status = add_text(v, t, p, comma ? (size_t)(comma - p) : strlen(p), diag);
    p = comma ? comma + 1 : NULL;
  }
  return status;
}

/* ---- ranges ---- */

static bramah_status read_end(const bramah__tune_parameter *t, const char *from, size_t n, double *out,
                              bramah_diag *diag)
{
  double si;
  char *text = trimmed(from, n);
  bramah_status status = BRAMAH_OK;
  if (!text) return fail_memory(diag);
  if (is_bare_number(text))
    *out = strtod(text, NULL);
  else if (!(status = bramah_quantity_parse(text, *t->unit ? t->unit : "1", &si, diag)))
    *out = si / t->factor;
  free(text);
  if (status) cli_place(diag, "--vary", 0);
  return status;
}

static void put_number(const bramah__tune_parameter *t, double x, char *out, size_t room)
{
  snprintf(out, room, "%.12g%s%s", x, *t->unit ? " " : "", t->unit);
}

static double between(const cli_tune_values *v, double share)
{
  return v->log ? v->low * pow(v->high / v->low, share) : v->low + share * (v->high - v->low);
}

/* ": 5 log", ": 5", ": log" or nothing. */
static bramah_status read_steps(cli_tune_values *v, const bramah__tune_parameter *t, const char *text,
                                size_t *steps, bramah_diag *diag)
{
  char *end;
  const unsigned long n = strtoul(text, &end, 10);
  *steps = end == text ? 0 : n < 1000000 ? (size_t)n : 0;
  while (*end == ' ') end++;
  v->log = strcmp(end, "log") == 0;
  if (*end && !v->log)
    return cli_fail(
        diag, BRAMAH_E_SYNTAX, "--vary", 0, t->name,
        "'%.100s' is not understood behind the range: a number of values and 'log' may stand there", text);
  if (v->log && !(v->low > 0.0))
    return cli_fail(diag, BRAMAH_E_VALUE, "--vary", 0, t->name, "a logarithmic range must be positive");
  return BRAMAH_OK;
}

static bramah_status read_range(cli_tune_values *v, const bramah__tune_parameter *t, const char *text,
                                const char *dots, int latin, bramah_diag *diag)
{
  const char *colon = strrchr(dots, ':'), *rest = dots + 2;
  size_t steps = 0;
  if (!t->unit)
    return cli_fail(diag, BRAMAH_E_VALUE, "--vary", 0, t->name, "'%s' is no number: list the words", t->text);
  bramah_status status = read_end(t, text, (size_t)(dots - text), &v->low, diag);
  if (!status) status = read_end(t, rest, colon ? (size_t)(colon - rest) : strlen(rest), &v->high, diag);
  if (!status && !(v->low < v->high))
    return cli_fail(diag, BRAMAH_E_VALUE, "--vary", 0, t->name,
                    "the range is inverted: its end must be larger than its begin");
  if (!status && colon) {
    const char *p = colon + 1;
    while (*p == ' ') p++;
    status = read_steps(v, t, p, &steps, diag);
  }
  v->ranged = 1;
  if (status || latin) return status;
  if (steps < 2)
    return cli_fail(diag, BRAMAH_E_SYNTAX, "--vary", 0, t->name,
                    "a range needs a number of values, such as '0.1 .. 10: 5 log', or --latin");
  for (size_t i = 0; !status && i < steps; i++) {
    char value[128];
    put_number(t, between(v, (double)i / (double)(steps - 1)), value, sizeof value);
    status = add_value(v, copy(value, strlen(value)), diag);
  }
  return status;
}

/* ---- all of them ---- */

static bramah_status read_one(cli_tune_vary *vary, bramah__tune_problem *problem, const char *text, int latin,
                              bramah_diag *diag)
{
  cli_tune_values *v = &vary->values[vary->n];
  bramah__tune_parameter *t;
  const char *equals = strchr(text, '=');
  if (!equals || equals == text)
    return cli_fail(diag, BRAMAH_E_SYNTAX, "--vary", 0, NULL, "'%.100s' is not of the form NAME=VALUES",
                    text);
  char *name = vary->names[vary->n++] = trimmed(text, (size_t)(equals - text));
  if (!name) return fail_memory(diag);
  bramah_status status = bramah__tune_problem_add(problem, name, 0, 0, NULL, &t, diag);
  if (status) return status;
  const char *dots = strstr(equals, "..");
  if (dots) return read_range(v, t, equals + 1, dots, latin, diag);
  if (latin)
    return cli_fail(diag, BRAMAH_E_SYNTAX, "--vary", 0, name,
                    "--latin wants ranges, such as '0.1 .. 10: log'");
  return read_list(v, t, equals + 1, diag);
}

static bramah_status take_bounds(cli_tune_vary *vary, bramah__tune_problem *problem, bramah_diag *diag)
{
  const bramah_status status = bramah__tune_problem_add_parameters(problem, diag);
  for (size_t i = 0; !status && i < problem->n; i++) {
    const bramah__tune_parameter *t = &problem->tuned[i];
    vary->values[vary->n++] =
        (cli_tune_values){.ranged = 1, .log = !t->linear, .low = t->least, .high = t->most};
  }
  return status;
}

static bramah_status count_points(cli_tune_vary *vary, uint64_t latin, uint64_t seed, bramah_diag *diag)
{
  vary->n_points = latin ? (size_t)latin : 1;
  for (size_t i = 0; !latin && i < vary->n; i++) {
    if (vary->values[i].n > 10000000 / vary->n_points)
      return cli_fail(diag, BRAMAH_E_VALUE, "--vary", 0, NULL, "more than 10 000 000 points");
    vary->n_points *= vary->values[i].n;
  }
  if (!latin) return BRAMAH_OK;
  vary->cube = calloc(vary->n_points * vary->n + 1, sizeof *vary->cube);
  return vary->cube ? bramah__latin_hypercube(vary->n_points, vary->n, seed, vary->cube, diag)
                    : fail_memory(diag);
}

bramah_status cli_tune_vary_read(cli_tune_vary *vary, bramah__tune_problem *problem,
                                 const cli_arguments *arguments, uint64_t latin, uint64_t seed,
                                 bramah_diag *diag)
{
  const char *text;
  bramah_status status = BRAMAH_OK;
  vary->values = calloc(BRAMAH__TUNE_MOST, sizeof *vary->values);
  vary->names = calloc(BRAMAH__TUNE_MOST, sizeof *vary->names);
  if (!vary->values || !vary->names) return fail_memory(diag);
  for (size_t i = 0; !status && (text = cli_value_again(arguments, "vary", i)); i++) {
    if (i == BRAMAH__TUNE_MOST)
      return cli_fail(diag, BRAMAH_E_VALUE, "--vary", 0, NULL, "more than %d values", (int)BRAMAH__TUNE_MOST);
    status = read_one(vary, problem, text, latin > 0, diag);
  }
  if (!status && !vary->n) status = take_bounds(vary, problem, diag);
  return status ? status : count_points(vary, latin, seed, diag);
}

void cli_tune_vary_free(cli_tune_vary *vary)
{
  for (size_t i = 0; vary->values && i < BRAMAH__TUNE_MOST; i++) {
    for (size_t k = 0; k < vary->values[i].n; k++) free(vary->values[i].text[k]);
    free(vary->values[i].text);
    free(vary->names ? vary->names[i] : NULL);
  }
  free(vary->values);
  free(vary->names);
  free(vary->cube);
}

void cli_tune_vary_set(const cli_tune_vary *vary, const bramah__tune_problem *problem, size_t point,
                       char *set)
{
  size_t index[BRAMAH__TUNE_MOST], rest = point, used = 0;
  for (size_t i = vary->n; !vary->cube && i-- > 0;) {
    index[i] = rest % vary->values[i].n;
    rest /= vary->values[i].n;
  }
  set[0] = '\0';
  for (size_t i = 0; i < vary->n && used < BRAMAH__TUNE_TEXT; i++) {
    char value[256];
    if (vary->cube)
      put_number(&problem->tuned[i], between(&vary->values[i], vary->cube[point * vary->n + i]), value,
                 sizeof value);
    else
      snprintf(value, sizeof value, "%s", vary->values[i].text[index[i]]);
    used += (size_t)snprintf(set + used, BRAMAH__TUNE_TEXT - used, "%s%s", i ? "; " : "", value);
  }
}
