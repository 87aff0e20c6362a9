/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/cli/modes_table.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double degree = 57.295779513082320877;

/* ---- energies ---- */

static bramah_status share_of(cli_operating_point *point, const bramah_mode *mode, size_t n_bodies, size_t n,
                              double *share, double *work, bramah_diag *diag)
{
  const double *const parts[2] = {mode->shape_re, mode->shape_im};
  double sum = 0.0;
  memset(share, 0, n * sizeof *share);
  for (int part = 0; part < 2; part++) {
    const bramah_status status = bramah_linearization_energies(point->linearization, point->machine.coupled,
                                                               parts[part], work, work + n_bodies, diag);
    if (status) return status;
    for (size_t i = 0; i < n; i++) share[i] += work[i];
  }
  for (size_t i = 0; i < n; i++) sum += share[i];
  for (size_t i = 0; i < n && sum > 0.0; i++) share[i] /= sum;
  return BRAMAH_OK;
}

bramah_status cli_modes_find(cli_operating_point *point, cli_modes *out, bramah_diag *diag)
{
  *out = (cli_modes){.n_volumes = point->system->n_pressure};
  while (bramah_linearization_body(point->machine.model, out->n_bodies)) out->n_bodies++;
  bramah_status status = bramah_modes_new(point->system, diag, &out->modes);
  if (status) return status;
  const size_t n = out->n_bodies + out->n_volumes;
  out->share = calloc(out->modes->n_modes * n + n + 1, sizeof *out->share);
  if (!out->share) return cli_fail(diag, BRAMAH_E_MEMORY, NULL, 0, NULL, "out of memory");
  double *work = out->share + out->modes->n_modes * n;
  for (size_t k = 0; k < out->modes->n_modes && !status; k++)
    status = share_of(point, &out->modes->mode[k], out->n_bodies, n, out->share + k * n, work, diag);
  return status;
}

void cli_modes_free(cli_modes *modes)
{
  bramah_modes_free(modes->modes);
  free(modes->share);
}

/* ---- words ---- */

const char *cli_stability_name(bramah_stability stability)
{
  return stability == BRAMAH_STABLE ? "stable" : stability == BRAMAH_MARGINAL ? "marginal" : "unstable";
}

void cli_modes_verdict(const cli_modes *modes, char *out, size_t size)
{
  const bramah_modes *m = modes->modes;
  const int drifts = m->stability == BRAMAH_UNSTABLE && m->n_unstable == 0;
  size_t used = (size_t)snprintf(out, size, "%s: of %zu eigenvalues %zu grow, %zu neither grow nor decay",
                                 drifts ? "drifts" : cli_stability_name(m->stability), m->n, m->n_unstable,
                                 m->n_marginal);
  if (used < size && m->n_defective)
    snprintf(out + used, size - used, ", %zu are defective%s", m->n_defective,
             drifts ? " (share an eigenvector: grow in proportion to time)" : " (share an eigenvector)");
}

/* The largest of some shares, as "crank 62 %, v2 30 %". */
static void name_shares(size_t n, const double *share, const char *(*name)(const void *, size_t),
                        const void *of, char *out, size_t size)
{
  unsigned char told[512] = {0};
  size_t used = 0;
  out[0] = '\0';
  for (int k = 0; k < 3; k++) {
    size_t best = n;
    for (size_t i = 0; i < n && i < sizeof told; i++)
      if (!told[i] && (best == n || share[i] > share[best])) best = i;
    if (best == n || share[best] < 0.01 || used >= size) return;
    told[best] = 1;
    used += (size_t)snprintf(out + used, size - used, "%s%s %.0f %%", k ? ", " : "", name(of, best),
                             100.0 * share[best]);
  }
}

typedef struct names {
  const cli_operating_point *point;
  const cli_modes *modes;
} names;

static const char *thing_name(const void *of, size_t i)
{
  const names *n = of;
  const bramah_model *model = n->point->machine.model;
  if (i < n->modes->n_bodies) return bramah_linearization_body(model, i);
  return bramah_model_volume_name(model, i - n->modes->n_bodies);
}

static const char *state_name(const void *of, size_t i)
{
  const names *n = of;
  return n->point->system->x_name[i];
}

/* ---- tables ---- */

static void add_mode(cli_table *table, const names *of, size_t k)
{
  const cli_modes *modes = of->modes;
  const bramah_mode *m = &modes->modes->mode[k];
  const size_t n = modes->n_bodies + modes->n_volumes;
  char text[CLI_CELL];
  cli_table_add(table, "%zu", k + 1);
  if (m->pair)
    cli_table_add(table, "%.6g ± %.6gi", m->re, m->im);
  else
    cli_table_add(table, "%.6g", m->re);
  if (m->pair)
    cli_table_add_number(table, m->frequency);
  else
    cli_table_add(table, "%s", "");
  if (m->pair || m->stability != BRAMAH_MARGINAL)
    cli_table_add(table, "%.4g", m->damping);
  else
    cli_table_add(table, "%s", "");
  cli_table_add(table, "%s%s", cli_stability_name(m->stability), m->defective ? ", defective" : "");
  name_shares(n, modes->share + k * n, thing_name, of, text, sizeof text);
  cli_table_add(table, "%s", text);
  name_shares(modes->modes->n, m->participation, state_name, of, text, sizeof text);
  cli_table_add(table, "%s", text);
}

cli_table cli_modes_table(const cli_operating_point *point, const cli_modes *modes)
{
  static const char *const header[] = {"mode", "eigenvalue [1/s]", "f [Hz]",          "damping",
                                       "",     "energy in",        "states concerned"};
  cli_table table = cli_table_make("Modes, slowest first", "rrrrlll", header);
  const names of = {point, modes};
  for (size_t k = 0; k < modes->modes->n_modes; k++) add_mode(&table, &of, k);
  return table;
}

/* What an output does in a mode. */
static void motion(const bramah_linear_system *s, size_t y, const bramah_mode *mode, double *re, double *im)
{
  *re = *im = 0.0;
  for (size_t i = 0; i < s->n; i++) {
    *re += s->C[y * s->n + i] * mode->shape_re[i];
    *im += s->C[y * s->n + i] * mode->shape_im[i];
  }
}

/* Kinds that are compared among each other; -1: left out. */
static int kind_of(const bramah_linear_system *s, size_t y)
{
  static const char *const ends[] = {".angle", ".position", ".pressure", ".spool"};
  const size_t length = strlen(s->y_name[y]);
  for (int k = 0; k < 4; k++) {
    const size_t n = strlen(ends[k]);
    if (length > n && strcmp(s->y_name[y] + length - n, ends[k]) == 0) return k;
  }
  return -1;
}

cli_table cli_shape_table(const cli_operating_point *point, const cli_modes *modes, size_t k, char *title,
                          size_t size)
{
  static const char *const header[] = {"output", "amplitude", "of its kind", "phase [deg]"};
  const bramah_linear_system *s = point->system;
  const bramah_mode *mode = &modes->modes->mode[k];
  double largest[4] = {0};
  snprintf(title, size, "Shape of mode %zu", k + 1);
  cli_table table = cli_table_make(title, "lrrr", header);
  for (size_t y = 0; y < s->n_y; y++) {
    double re, im;
    if (kind_of(s, y) < 0) continue;
    motion(s, y, mode, &re, &im);
    largest[kind_of(s, y)] = fmax(largest[kind_of(s, y)], hypot(re, im));
  }
  for (size_t y = 0; y < s->n_y; y++) {
    double re, im;
    const int kind = kind_of(s, y);
    if (kind < 0) continue;
    motion(s, y, mode, &re, &im);
    const double part = largest[kind] > 0.0 ? hypot(re, im) / largest[kind] : 0.0;
    cli_table_add(&table, "%s", s->y_name[y]);
    cli_table_add(&table, "%.4g %s", hypot(re, im), s->y_unit[y]);
    cli_table_add(&table, "%.4f", part);
    cli_table_add(&table, "%.1f", part > 1e-9 ? degree * atan2(im, re) : 0.0);
  }
  return table;
}

/* ---- approaches ---- */

/* Largest distance of an eigenvalue of the modes from the nearest one of the spectrum, against its size or 1/s. */
static double distance(const bramah_modes *modes, const bramah_spectrum *s)
{
  double largest = 0.0;
  for (size_t k = 0; k < modes->n_modes; k++) {
    const bramah_mode *m = &modes->mode[k];
    double least = (double)INFINITY;
    for (size_t i = 0; i < s->n; i++) least = fmin(least, hypot(s->re[i] - m->re, fabs(s->im[i]) - m->im));
    largest = fmax(largest, least / fmax(hypot(m->re, m->im), 1.0));
  }
  return largest;
}

bramah_status cli_approaches_table(cli_operating_point *point, const cli_modes *modes, cli_table *out,
                                   bramah_diag *diag)
{
  static const char *const header[] = {"approach",      "eigenvalues", "spurious",
                                       "told apart by", "off by",      "largest real part [1/s]"};
  static const char *const name[] = {"minimal", "redundant", "penalty (1e7, 1, 10)"};
  *out = cli_table_make("Approaches, in all joint coordinates", "lrrrrr", header);
  double *work = calloc(bramah_linearization_constrained_work(point->machine.model) + 1, sizeof *work);
  if (!work) return cli_fail(diag, BRAMAH_E_MEMORY, NULL, 0, NULL, "out of memory");
  bramah_constrained system;
  bramah_status status =
      bramah_linearization_constrained(point->linearization, point->machine.coupled, work, &system, diag);
  for (int a = 0; a < 3 && !status; a++) {
    bramah_spectrum *s;
    double growth = -(double)INFINITY;
    status = bramah_spectrum_new(&system, (bramah_approach)a, NULL, diag, &s);
    if (status) break;
    for (size_t i = 0; i < s->n; i++) growth = fmax(growth, s->re[i]);
    cli_table_add(out, "%s", name[a]);
    cli_table_add(out, "%zu", s->n);
    cli_table_add(out, "%zu", s->n_spurious);
    cli_table_add_number(out, s->gap);
    cli_table_add(out, "%.1e", distance(modes->modes, s));
    cli_table_add_number(out, growth);
    bramah_spectrum_free(s);
  }
  free(work);
  return status;
}

/* ---- file ---- */

static void write_rows(FILE *file, const names *of)
{
  const bramah_linear_system *s = of->point->system;
  const size_t n = of->modes->n_bodies + of->modes->n_volumes;
  fputs("mode,re[1/s],im[1/s],frequency[Hz],damping,condition,error[1/s],stability,defective", file);
  for (size_t i = 0; i < n; i++) fprintf(file, ",energy:%s", thing_name(of, i));
  for (size_t i = 0; i < s->n; i++) fprintf(file, ",participation:%s", s->x_name[i]);
  fputc('\n', file);
  for (size_t k = 0; k < of->modes->modes->n_modes; k++) {
    const bramah_mode *m = &of->modes->modes->mode[k];
    fprintf(file, "%zu,%.17g,%.17g,%.17g,%.17g,%.6g,%.6g,%s,%d", k + 1, m->re, m->im, m->frequency,
            m->damping, m->condition, m->error, cli_stability_name(m->stability), m->defective);
    for (size_t i = 0; i < n; i++) fprintf(file, ",%.9g", of->modes->share[k * n + i]);
    for (size_t i = 0; i < s->n; i++) fprintf(file, ",%.9g", m->participation[i]);
    fputc('\n', file);
  }
}

bramah_status cli_modes_write(const cli_operating_point *point, const cli_modes *modes, const char *path,
                              bramah_diag *diag)
{
  FILE *file = strcmp(path, "-") == 0 ? stdout : fopen(path, "w");
  if (!file) return cli_fail(diag, BRAMAH_E_FILE, path, 0, NULL, "cannot be written: %s", strerror(errno));
  write_rows(file, &(names){point, modes});
  const int failed = ferror(file) != 0 || (file != stdout && fclose(file) != 0);
  return failed ? cli_fail(diag, BRAMAH_E_FILE, path, 0, NULL, "cannot be written") : BRAMAH_OK;
}
