/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Opening an FMU, and the trials by which it shows what it can do: saved states, corrections, derivatives. */
#define _GNU_SOURCE /* locale_t, clock_gettime */
#include "lib/fmi/import_plant.h"
#include "lib/io/fail.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- trials ---- */

enum { BEFORE = 3, AFTER = 4, FREE = 10 };

static double seconds(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* `steps` steps; values after each into v [steps x n_shown]. */
static bramah_status run(bramah_fmu_plant *p, size_t steps, double *v, bramah_diag *diag)
{
  const size_t n = n_shown(p->fmu);
  bramah_status status = BRAMAH_OK;
  for (size_t k = 0; !status && k < steps; k++) {
    status = bramah__fmu_step(p, diag);
    if (n) memcpy(v + k * n, p->v, n * sizeof *v);
  }
  return status;
}

/* Different bits of what is shown, by name; NULL: the same. */
static const char *differing(const bramah_fmu *f, size_t steps, const double *a, const double *b)
{
  const size_t n = n_shown(f);
  for (size_t i = 0; i < steps * n; i++)
    if (memcmp(&a[i], &b[i], sizeof *a) != 0) return observed(f, i % n)->scalar->name;
  return NULL;
}

/* Can each state be set, and does the step go by it? Otherwise `why` says what happens. */
static int sets_states(bramah_fmu_plant *p, const void *snap, double *v, char *why, size_t size)
{
  const bramah_fmu *f = p->fmu;
  const size_t n = f->n;
  bramah_diag diag = {.status = BRAMAH_OK};
  double *base = v, *dx = v + n;
  bramah__fmu_restore(p, snap);
  if (p->broken || bramah__fmu_step(p, &diag)) return snprintf(why, size, "%.290s", p->why.message), 0;
  memcpy(base, p->v, n * sizeof *base);
  for (size_t i = 0; i < n; i++) {
    const char *name = f->state[i].scalar->name;
    bramah__fmu_restore(p, snap);
    const double wanted = p->v[i] + 1e-3 * f->state[i].scale;
    memset(dx, 0, n * sizeof *dx);
    dx[i] = 1e-3 * f->state[i].scale;
    if (p->broken || bramah__fmu_inject(p, dx, &diag)) {
      snprintf(why, size, "'%s' cannot be set in step mode: %.200s", name, p->why.message);
      return 0;
    }
    double off = p->v[i] - wanted;
    if (f->state[i].period > 0.0) off = remainder(off, f->state[i].period);
    if (fabs(off) > 1e-6 * f->state[i].scale) {
      snprintf(why, size, "'%s' is accepted in step mode but stays what it was", name);
      return 0;
    }
    if (bramah__fmu_step(p, &diag))
      return snprintf(why, size, "after '%s' was set: %.200s", name, p->why.message), 0;
    if (memcmp(base, p->v, n * sizeof *base) == 0) {
      snprintf(why, size, "setting '%s' in step mode changes nothing of the next step", name);
      return 0;
    }
  }
  return 1;
}

/* Room for the trials. */
typedef struct trial {
  double *a, *b; /* [FREE x n_shown + 3 n] */
  unsigned char *snap;
  bramah_fmu_abilities *report; /* what is found */
} trial;

/* Goes the FMU on from a saved state to the same bits, and do corrections take effect? */
static int saves(bramah_fmu *f, trial *t, char *why, size_t size)
{
  bramah_diag diag = {.status = BRAMAH_OK};
  bramah_fmu_plant *p;
  int good = 0;
  if (bramah_fmu_plant_new(f, &diag, &p)) return snprintf(why, size, "%.290s", diag.message), 0;
  bramah_status status = run(p, BEFORE, t->a, &diag);
  const double t0 = seconds();
  if (!status) bramah__fmu_save(p, t->snap);
  const double t1 = seconds();
  if (!status) status = run(p, AFTER, t->a, &diag);
  const double t2 = seconds();
  if (!status) bramah__fmu_restore(p, t->snap);
  f->report.save_seconds = t1 - t0 + (seconds() - t2);
  f->report.step_seconds = (t2 - t1) / AFTER;
  if (!status && !p->broken) status = run(p, AFTER, t->b, &diag);
  const char *name = status || p->broken ? NULL : differing(f, AFTER, t->a, t->b);
  if (status || p->broken)
    snprintf(why, size, "%.290s", p->why.message);
  else if (name)
    snprintf(why, size, "from a saved state it does not go on as it did before: '%s' differs", name);
  else
    good = f->n == 0 || sets_states(p, t->snap, t->b, why, size);
  bramah_fmu_plant_free(p);
  return good;
}

/* Inputs that move things: 0 what the FMU starts with, 1 the middle of their range, or their nominal values, or 1. */
static void excite(bramah_fmu_plant *p, int how)
{
  for (size_t i = 0; how && i < p->fmu->n_input; i++) {
    const bramah__fmu_scalar *s = p->fmu->input[i].scalar;
    const double middle = s->has_least && s->has_most ? 0.25 * s->least + 0.75 * s->most
                          : s->nominal != 0.0         ? s->nominal
                                                      : 1.0;
    p->u[i] = si(&p->fmu->input[i], middle);
  }
}

/* Does it go the same way whether it is started anew at each step or not? */
static int can_start_anew(bramah_fmu *f, trial *t, char *why, size_t size)
{
  int good = 1;
  for (int how = 0; good && how < 2; how++) {
    double *values[2] = {t->a, t->b};
    for (int anew = 0; good && anew < 2; anew++) {
      bramah_diag diag = {.status = BRAMAH_OK};
      bramah_fmu_plant *p;
      f->report.saving = anew ? BRAMAH_FMU_STARTED_ANEW : BRAMAH_FMU_KEPT;
      bramah_status status = bramah_fmu_plant_new(f, &diag, &p);
      if (!status) excite(p, how);
      const double from = seconds();
      if (!status) status = run(p, FREE, values[anew], &diag);
      f->report.step_seconds = (seconds() - from) / FREE;
      if (status && (anew || !how)) {
        snprintf(why, size, "started anew: %.300s", diag.message);
        good = 0;
      }
      if (status && !anew && how) values[0] = NULL; /* it does not stand such inputs: nothing is learned */
      bramah_fmu_plant_free(p);
      if (!values[0]) break;
    }
    for (size_t i = 0; good && values[0] && i < FREE * n_shown(f); i++) {
      const port *of = observed(f, i % n_shown(f));
      const double scale = fmax(of->scale, fmax(fabs(t->a[i]), 1e-300));
      if (fabs(t->a[i] - t->b[i]) <= 1e-6 * scale) continue;
      snprintf(why, size,
               "started anew at each step it goes elsewhere ('%s' is off by %.3g %s after %zu steps): it has "
               "states besides those that are named",
               of->scalar->name, fabs(t->a[i] - t->b[i]), of->unit, i / n_shown(f) + 1);
      good = 0;
    }
  }
  return good;
}

/* Largest difference of two derivatives of a step, by the scales of the states. */
static double mismatch(const bramah_fmu *f, const double *F, const double *other)
{
  double worst = 0.0;
  for (size_t i = 0; i < f->n; i++)
    for (size_t k = 0; k < f->n; k++) {
      const double by = f->state[k].scale / f->state[i].scale, a = by * F[i * f->n + k],
                   b = by * other[i * f->n + k];
      const double off = fabs(a - b) / fmax(1.0, fabs(b));
      if (!(off <= worst)) worst = isfinite(off) ? off : HUGE_VAL;
    }
  return worst;
}

/* The length of differences at which ten times it makes no difference: solvers with tolerances want longer ones. By it the derivative
 * best [n x n]; room [2 n x n]. */
static bramah_status choose_length(bramah_fmu_plant *p, trial *t, double *best, double *room,
                                   bramah_diag *diag)
{
  static const double lengths[] = {1e-6, 1e-5, 1e-4, 1e-3};
  bramah_fmu_abilities *r = t->report;
  const bramah_fmu *f = p->fmu;
  const size_t n2 = f->n * f->n;
  double *F = room, *wider = room + n2;
  bramah_status status = BRAMAH_OK;
  r->mismatch = HUGE_VAL;
  for (size_t k = 0; !status && f->n && r->mismatch > 1e-4 && k < sizeof lengths / sizeof *lengths; k++) {
    bramah__fmu_restore(p, t->snap);
    status = bramah__fmu_transition(p, BRAMAH_FMU_DIFFERENCES, lengths[k], F, NULL, diag);
    bramah__fmu_restore(p, t->snap);
    if (!status)
      status = bramah__fmu_transition(p, BRAMAH_FMU_DIFFERENCES, 10.0 * lengths[k], wider, NULL, diag);
    const double off = status ? HUGE_VAL : mismatch(f, F, wider);
    if (off >= r->mismatch && k) continue;
    r->mismatch = off;
    r->difference_step = lengths[k];
    memcpy(best, F, n2 * sizeof *best);
  }
  return status;
}

/* Are the FMU's own derivatives, made to those of a step by this method, the ones of the differences? Otherwise why not. */
static int are_derivatives(bramah_fmu_plant *p, trial *t, bramah_fmu_derivatives method, const double *best,
                           double *F, char *why, size_t size)
{
  static const double good_enough = 1e-3;
  const bramah_fmu *f = p->fmu;
  bramah_diag own;
  if (!f->description.directional) return snprintf(why, size, "it has no directional derivatives"), 0;
  if (method == BRAMAH_FMU_OF_RATES && !f->has_rates) {
    snprintf(why, size,
             "its directional derivatives are not those of its steps, and not all states have a variable "
             "that the FMU "
             "calls their derivative");
    return 0;
  }
  bramah__fmu_restore(p, t->snap);
  if (bramah__fmu_transition(p, method, 0.0, F, NULL, &own))
    return snprintf(why, size, "%.300s", own.message), 0;
  const double off = mismatch(f, F, best);
  if (off > good_enough) {
    snprintf(why, size, "its directional derivatives are not those of its steps (off by %.3g)", off);
    return 0;
  }
  t->report->mismatch = off;
  *why = '\0';
  return 1;
}

/* Differences, and what the FMU itself gives where it is the same. */
static bramah_status choose_derivatives(bramah_fmu *f, trial *t, bramah_diag *diag)
{
  bramah_fmu_plant *p;
  bramah_fmu_abilities *r = &f->report;
  const size_t n2 = f->n * f->n;
  double *best = calloc(3 * n2 + 1, sizeof *best), *room = best + n2;
  if (!best) return bramah__fail_memory(diag);
  bramah_status status = bramah_fmu_plant_new(f, diag, &p);
  if (!status) status = run(p, BEFORE, t->a, diag);
  if (!status) bramah__fmu_save(p, t->snap);
  r->derivatives = BRAMAH_FMU_DIFFERENCES;
  if (!status) status = choose_length(p, t, best, room, diag);
  const int first = f->description.co_simulation ? BRAMAH_FMU_OF_STEP : BRAMAH_FMU_OF_RATES;
  for (int method = first; !status && !f->map.differences && method < (int)r->derivatives; method++)
    if (are_derivatives(p, t, (bramah_fmu_derivatives)method, best, room, f->why_differences,
                        sizeof f->why_differences))
      r->derivatives = (bramah_fmu_derivatives)method;
  r->steps = r->derivatives == BRAMAH_FMU_DIFFERENCES ? 2 * f->n + 1 : 1;
  bramah_fmu_plant_free(p);
  free(best);
  return status;
}

static bramah_status find_out(bramah_fmu *f, bramah_diag *diag)
{
  bramah_fmu_abilities *r = &f->report;
  const bramah__fmu_description *d = &f->description;
  bramah_fmu_plant *p = NULL;
  trial t = {.report = r};
  bramah_diag own;
  char first[512] = "it has no functions to save its state", second[512] = ""; /* as long as messages */

  /* Does it run at all? And how much is its state? */
  r->saving = BRAMAH_FMU_KEPT;
  bramah_status status = bramah_fmu_plant_new(f, diag, &p);
  if (!status) status = bramah__fmu_step(p, diag);
  const int has_bytes =
      !status && d->can_serialize && p->i->calls->state_size(p->i, &f->state_bytes, &own) == BRAMAH_OK;
  if (!status && d->can_serialize && !has_bytes) snprintf(first, sizeof first, "%.290s", own.message);
  if (has_bytes && f->state_bytes > (size_t)1 << 28)
    status = bramah__failf(diag, BRAMAH_E_UNSUPPORTED, NULL, 0, f->library->name, "its state takes %zu bytes",
                           f->state_bytes);
  bramah_fmu_plant_free(p);
  if (status) return status;

  r->saving = BRAMAH_FMU_SERIALIZED; /* the largest snapshot */
  t.snap = calloc(1, bramah__fmu_snapshot_size(f));
  t.a = calloc(2 * (FREE * n_shown(f) + 3 * f->n + 1), sizeof *t.a);
  if (!t.snap || !t.a) {
    free(t.snap);
    free(t.a);
    return bramah__fail_memory(diag);
  }
  t.b = t.a + FREE * n_shown(f) + 3 * f->n + 1;
  int good = has_bytes && saves(f, &t, first, sizeof first);
  if (!status && !good && d->can_get_set) {
    r->saving = BRAMAH_FMU_KEPT;
    good = saves(f, &t, first, sizeof first);
  }
  if (!status && !good) {
    good = can_start_anew(f, &t, second, sizeof second);
    r->saving = BRAMAH_FMU_STARTED_ANEW;
    snprintf(f->why_not_saved, sizeof f->why_not_saved, "%.299s", first);
    if (!good)
      status = bramah__failf(diag, BRAMAH_E_UNSUPPORTED, NULL, 0, f->library->name,
                             "the FMU cannot be estimated: %s; %s", first, second);
  }
  r->snapshot_bytes = bramah__fmu_snapshot_size(f);
  if (!status) status = choose_derivatives(f, &t, diag);
  free(t.snap);
  free(t.a);
  return status;
}

/* ---- opening and closing ---- */

bramah_status bramah_fmu_open(const bramah_fmu_mapping *mapping, bramah_diag *diag, bramah_fmu **out)
{
  char path[4200];
  *out = NULL;
  bramah_diag_clear(diag);
  bramah_fmu *f = calloc(1, sizeof *f);
  if (!f) return bramah__fail_memory(diag);
  bramah_status status = bramah__fmu_take_room(f, mapping, diag);
  if (!status) status = bramah__fmu_unpack(f->map.path, diag, &f->folder);
  if (!status) {
    snprintf(path, sizeof path, "%s/modelDescription.xml", f->folder);
    status = bramah__fmu_describe(path, diag, &f->description);
    if (status && diag)
      snprintf(diag->file, sizeof diag->file, diag->line ? "%s/modelDescription.xml" : "%s", f->map.path);
  }
  if (!status) status = bramah__fmu_bind(f, diag);
  if (!status && f->map.isolate)
    status = bramah__fmu_isolate(f->folder, &f->description, f->map.path,
                                 f->map.time_limit > 0.0 ? f->map.time_limit : BRAMAH_FMU_TIME_LIMIT, diag,
                                 &f->library);
  else if (!status)
    status = bramah__fmu_load(f->folder, &f->description, f->map.path, diag, &f->library);
  if (!status) status = find_out(f, diag);
  f->map.positions = NULL, f->map.states = NULL, f->map.inputs = f->map.outputs = f->map.parameters = NULL,
  f->map.values = NULL;
  bramah__fmu_at(f, diag, status, 0);
  if (status)
    bramah_fmu_close(f);
  else
    *out = f;
  return status;
}

void bramah_fmu_close(bramah_fmu *f)
{
  if (!f) return;
  if (f->library) f->library->unload(f->library);
  bramah__fmu_forget(&f->description);
  bramah__fmu_remove(f->folder);
  bramah__pool_free(&f->pool);
  free(f);
}

bramah_fmu_abilities bramah_fmu_get_abilities(const bramah_fmu *f)
{
  bramah_fmu_abilities r = f->report;
  r.model = f->description.model ? f->description.model : "";
  r.tool = f->description.tool ? f->description.tool : "";
  r.version = f->description.version;
  r.n_variables = f->description.n;
  r.is_isolated = f->map.isolate;
  r.is_exchange = !f->description.co_simulation;
  r.why_not_saved = f->why_not_saved;
  r.not_estimated = f->not_estimated;
  r.why_differences = f->why_differences;
  return r;
}
