/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/cli/modes_curves.h"
#include "bramah/units.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FREQUENCIES = 400 };
static const double pi = 3.14159265358979323846;

static bramah_status no_memory(bramah_diag *diag)
{
  return cli_fail(diag, BRAMAH_E_MEMORY, NULL, 0, NULL, "out of memory");
}

/* ---- frequency response ---- */

/* A decade beyond the slowest and the fastest mode. */
static void range_of(const bramah_modes *modes, double *low, double *high)
{
  *low = (double)INFINITY;
  *high = 0.0;
  for (size_t k = 0; k < modes->n_modes; k++) {
    const double size = hypot(modes->mode[k].re, modes->mode[k].im);
    if (size > 10.0 * modes->mode[k].error) *low = fmin(*low, size);
    *high = fmax(*high, size);
  }
  if (!(*low <= *high)) *low = *high = 1.0; /* nothing but marginal modes at zero */
  *low *= 0.1;
  *high *= 10.0;
}

static void fill_angles(cli_response *r)
{
  double turn = 0.0, before = 0.0;
  for (size_t k = 0; k < r->n; k++) {
    const double angle = atan2(r->im[k], r->re[k]) * 180.0 / pi;
    if (k && angle + turn - before > 180.0) turn -= 360.0;
    if (k && angle + turn - before < -180.0) turn += 360.0;
    r->phase[k] = before = angle + turn;
    r->magnitude[k] = hypot(r->re[k], r->im[k]);
    r->hz[k] = r->w[k] / (2.0 * pi);
  }
}

bramah_status cli_response_make(const cli_operating_point *point, const cli_modes *modes, const char *text,
                                cli_response *out, bramah_diag *diag)
{
  char input[256];
  const char *colon = strchr(text, ':');
  double low, high;
  *out = (cli_response){.n = FREQUENCIES};
  snprintf(out->name, sizeof out->name, "%s", text);
  if (!colon || colon == text || !colon[1])
    return cli_fail(diag, BRAMAH_E_SYNTAX, "--response", 0, text, "is not of the form INPUT:OUTPUT");
  snprintf(input, sizeof input, "%.*s", (int)(colon - text), text);
  bramah_status status = cli_find_linear_input(point->system, input, &out->u, diag);
  if (!status) status = cli_find_linear_output(point->system, colon + 1, &out->y, diag);
  if (status) return cli_place(diag, "--response", 0), status;
  out->w = calloc(6 * FREQUENCIES, sizeof *out->w);
  if (!out->w) return no_memory(diag);
  out->re = out->w + FREQUENCIES;
  out->im = out->re + FREQUENCIES;
  out->hz = out->im + FREQUENCIES;
  out->magnitude = out->hz + FREQUENCIES;
  out->phase = out->magnitude + FREQUENCIES;
  range_of(modes->modes, &low, &high);
  for (size_t k = 0; k < out->n; k++)
    out->w[k] = low * pow(high / low, (double)k / (double)(FREQUENCIES - 1));
  status = bramah_frequency_response(point->system, out->y, out->u, out->n, out->w, out->re, out->im, diag);
  if (!status) fill_angles(out);
  return status;
}

void cli_response_free(cli_response *response) { free(response->w); }

void cli_response_charts(FILE *page, const cli_operating_point *point, const cli_response *r)
{
  const bramah_linear_system *s = point->system;
  char title[600], unit[256];
  const cli_curve magnitude = {.n = r->n, .x = r->hz, .y = r->magnitude};
  const cli_curve phase = {.n = r->n, .x = r->hz, .y = r->phase, .colour = 1};
  snprintf(title, sizeof title, "%s by %s: magnitude", s->y_name[r->y], s->u_name[r->u]);
  snprintf(unit, sizeof unit, "%s per %s", s->y_unit[r->y], s->u_unit[r->u]);
  cli_page_chart(page,
                 &(cli_chart){title, {"frequency [Hz]", CLI_AXIS_LOG}, {unit, CLI_AXIS_LOG}, 1, &magnitude});
  snprintf(title, sizeof title, "%s by %s: phase", s->y_name[r->y], s->u_name[r->u]);
  cli_page_chart(page,
                 &(cli_chart){title, {"frequency [Hz]", CLI_AXIS_LOG}, {"deg", CLI_AXIS_LINEAR}, 1, &phase});
}

/* ---- root locus ---- */

/* NAME=FROM:TO[:N] */
static bramah_status read_locus(const cli_operating_point *point, const char *text, cli_locus *out,
                                size_t *parameter, double *from, double *to, bramah_diag *diag)
{
  const bramah_plant *plant = &point->machine.plant;
  const char *equals = strchr(text, '=');
  char *end;
  bramah_parameter_info info;
  out->n = 50;
  if (!equals || (size_t)(equals - text) >= sizeof out->name)
    return cli_fail(diag, BRAMAH_E_SYNTAX, "--locus", 0, text,
                    "is not of the form NAME=FROM:TO or NAME=FROM:TO:N");
  snprintf(out->name, sizeof out->name, "%.*s", (int)(equals - text), text);
  const bramah_status status = bramah_plant_parameter_index(plant, out->name, parameter, diag);
  if (status) return cli_place(diag, "--locus", 0), status;
  plant->parameter_info(plant->self, *parameter, &info);
  out->unit = info.unit;
  *from = strtod(equals + 1, &end);
  int good = end != equals + 1 && *end == ':';
  const char *second = good ? end + 1 : "";
  *to = strtod(second, &end);
  good = good && end != second;
  if (good && *end == ':') {
    const char *count = end + 1;
    out->n = strtoul(count, &end, 10);
    good = end != count;
  }
  if (!good || *end || !isfinite(*from) || !isfinite(*to) || out->n < 2 || out->n > 100000)
    return cli_fail(diag, BRAMAH_E_SYNTAX, "--locus", 0, text,
                    "needs numbers in SI, NAME=FROM:TO or NAME=FROM:TO:N, N from 2 to 100000");
  return BRAMAH_OK;
}

static bramah_status take_locus(cli_locus *out, bramah_diag *diag)
{
  out->value = calloc(2 * out->n + 2 * out->n * out->order + 1, sizeof *out->value);
  out->n_unstable = calloc(out->n, sizeof *out->n_unstable);
  if (!out->value || !out->n_unstable) return no_memory(diag);
  out->growth = out->value + out->n;
  out->re = out->growth + out->n;
  out->im = out->re + out->n * out->order;
  return BRAMAH_OK;
}

static bramah_status fill_value(cli_operating_point *point, cli_locus *out, size_t k, size_t parameter,
                                bramah_diag *diag)
{
  const bramah_plant *plant = &point->machine.plant;
  bramah_modes *modes = NULL;
  size_t n = 0;
  bramah_status status = plant->set_parameter(plant->self, parameter, out->value[k], diag);
  if (!status) status = cli_operating_point_again(point, diag);
  if (!status) status = bramah_modes_new(point->system, diag, &modes);
  if (status) return status;
  out->growth[k] = -(double)INFINITY;
  out->n_unstable[k] = modes->n_unstable;
  for (size_t i = 0; i < modes->n_modes; i++)
    for (int half = 0; half < (modes->mode[i].pair ? 2 : 1) && n < out->order; half++, n++) {
      out->re[k * out->order + n] = modes->mode[i].re;
      out->im[k * out->order + n] = half ? -modes->mode[i].im : modes->mode[i].im;
      if (modes->mode[i].stability != BRAMAH_MARGINAL)
        out->growth[k] = fmax(out->growth[k], modes->mode[i].re);
    }
  bramah_modes_free(modes);
  return BRAMAH_OK;
}

/* At which value it failed. */
static void tell_value(const cli_locus *locus, size_t k, bramah_diag *diag)
{
  const size_t used = strlen(diag->message);
  snprintf(diag->message + used, sizeof diag->message - used, " (%s = %.6g)", locus->name, locus->value[k]);
  cli_place(diag, "--locus", 0);
}

bramah_status cli_locus_make(cli_operating_point *point, const char *text, cli_locus *out, bramah_diag *diag)
{
  const bramah_plant *plant = &point->machine.plant;
  size_t parameter;
  double from = 0.0, to = 0.0;
  *out = (cli_locus){.order = point->system->n};
  bramah_status status = read_locus(point, text, out, &parameter, &from, &to, diag);
  if (!status) status = take_locus(out, diag);
  void *snap = status ? NULL : malloc(plant->snapshot_size);
  if (!status && !snap) status = no_memory(diag);
  if (!status) plant->save(plant->self, snap);
  for (size_t k = 0; k < out->n && !status; k++) {
    out->value[k] = from + (to - from) * (double)k / (double)(out->n - 1);
    status = fill_value(point, out, k, parameter, diag);
    if (status) tell_value(out, k, diag);
  }
  if (snap) {
    bramah_diag ignored;
    plant->restore(plant->self, snap);
    if (!bramah_linearization_run(point->linearization, point->machine.coupled, &ignored) &&
        point->has_sensors)
      cli_linear_sensors_fill(&point->sensors, point->base);
  }
  free(snap);
  return status;
}

void cli_locus_free(cli_locus *locus)
{
  free(locus->value);
  free(locus->n_unstable);
}

cli_table cli_locus_table(const cli_locus *locus)
{
  static const char *const header[] = {"value", "eigenvalues that grow",
                                       "largest real part, marginal ones left out [1/s]"};
  cli_table table = cli_table_make("Root locus", "rrr", header);
  const size_t every = locus->n > 20 ? (locus->n + 19) / 20 : 1;
  for (size_t k = 0; k < locus->n; k += every) {
    cli_table_add(&table, "%.6g %s", locus->value[k], strcmp(locus->unit, "1") ? locus->unit : "");
    cli_table_add(&table, "%zu", locus->n_unstable[k]);
    cli_table_add(&table, "%.6g", locus->growth[k]);
  }
  return table;
}

void cli_locus_charts(FILE *page, const cli_locus *locus)
{
  char title[400], name[400];
  const size_t all = locus->n * locus->order, last = all - locus->order;
  const cli_curve curves[3] = {
      {.n = all, .x = locus->re, .y = locus->im, .dots = 1},
      {.name = "first value", .n = locus->order, .x = locus->re, .y = locus->im, .dots = 1, .colour = 2},
      {.name = "last value",
       .n = locus->order,
       .x = locus->re + last,
       .y = locus->im + last,
       .dots = 1,
       .colour = 1}};
  const cli_curve growth = {.n = locus->n, .x = locus->value, .y = locus->growth, .colour = 1};
  snprintf(title, sizeof title, "Root locus over %s", locus->name);
  cli_page_chart(
      page,
      &(cli_chart){
          title, {"real part [1/s]", CLI_AXIS_SIGNED}, {"imaginary part [1/s]", CLI_AXIS_SIGNED}, 3, curves});
  snprintf(name, sizeof name, "%s [%s]", locus->name, locus->unit);
  cli_page_chart(page, &(cli_chart){"Largest real part, marginal ones left out",
                                    {name, CLI_AXIS_LINEAR},
                                    {"1/s", CLI_AXIS_LINEAR},
                                    1,
                                    &growth});
}

/* ---- file ---- */

static void write_rows(FILE *file, size_t n_responses, const cli_response *responses, const cli_locus *locus)
{
  fputs("kind,name,at,re,im\n", file);
  for (size_t i = 0; i < n_responses; i++)
    for (size_t k = 0; k < responses[i].n; k++)
      fprintf(file, "response,%s,%.17g,%.17g,%.17g\n", responses[i].name, responses[i].w[k],
              responses[i].re[k], responses[i].im[k]);
  for (size_t k = 0; locus && k < locus->n; k++)
    for (size_t i = 0; i < locus->order; i++)
      fprintf(file, "locus,%s,%.17g,%.17g,%.17g\n", locus->name, locus->value[k],
              locus->re[k * locus->order + i], locus->im[k * locus->order + i]);
}

bramah_status cli_curves_write(const char *path, size_t n_responses, const cli_response *responses,
                               const cli_locus *locus, bramah_diag *diag)
{
  FILE *file = fopen(path, "w");
  if (!file) return cli_fail(diag, BRAMAH_E_FILE, path, 0, NULL, "cannot be written: %s", strerror(errno));
  write_rows(file, n_responses, responses, locus);
  const int failed = ferror(file) != 0 || fclose(file) != 0;
  return failed ? cli_fail(diag, BRAMAH_E_FILE, path, 0, NULL, "cannot be written") : BRAMAH_OK;
}
