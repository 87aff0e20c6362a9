/* SPDX-License-Identifier: MIT */
/* Phases: which noise there is while the machine does one thing and another. Each is on or off, decided at the start
 * of every step from the estimate and from when sensors were last measured, so that it is the same live, in a replay and
 * where late samples make steps anew. */
#include "estimators/filter_internal.h"
#include "lib/base/diag.h"

#include <math.h>
#include <string.h>

void bramah__phases_count(const bramah_filter_options *o, bramah_filter *f)
{
  int hears = 0;
  f->n_phases = o->n_phases;
  f->n_conditions = f->n_processes = 0;
  for (size_t p = 0; p < o->n_phases; p++) {
    const bramah_phase *phase = &o->phases[p];
    f->n_conditions += phase->n_begin + phase->n_end;
    f->n_processes += phase->n_processes;
    for (size_t c = 0; c < phase->n_begin; c++) hears |= phase->begin[c].kind == BRAMAH_CONDITION_SAMPLE;
    for (size_t c = 0; c < phase->n_end; c++) hears |= phase->end[c].kind == BRAMAH_CONDITION_SAMPLE;
  }
  f->n_heard = hears ? f->n_sensors : 0;
}

/* ---- taking them from the options ---- */

static bramah_status fail(bramah_diag *diag, const char *phase, const char *why)
{
  return bramah__fail(diag, BRAMAH_E_VALUE, phase, why);
}

static bramah_status take_conditions(bramah_filter *f, const char *phase, size_t n,
                                     const bramah_condition *from, bramah_condition *out, bramah_diag *diag)
{
  for (size_t c = 0; c < n; c++) {
    const int of_sample = from[c].kind == BRAMAH_CONDITION_SAMPLE;
    if (!of_sample && from[c].kind != BRAMAH_CONDITION_OUTPUT)
      return fail(diag, phase, "the kind of this condition is unknown");
    if (from[c].at >= (of_sample ? f->n_sensors : f->plant.n_output))
      return bramah__fail(diag, BRAMAH_E_REFERENCE, phase, "there is no output or sensor of this number");
    if (!(from[c].least <= from[c].most)) return fail(diag, phase, "the limits of a condition are crossed");
    out[c] = from[c];
    if (!of_sample) continue;
    /* times in steps, a rounding error beyond which does not count */
    out[c].least = ceil(from[c].least / bramah__step_seconds(f) - 1e-6);
    out[c].most = floor(from[c].most / bramah__step_seconds(f) + 1e-6);
  }
  return BRAMAH_OK;
}

static bramah_status take_process(bramah_filter *f, const char *phase, const bramah_phase_process *from,
                                  bramah__phase_process *out, bramah_diag *diag)
{
  const int of_augmented = from->kind == BRAMAH_PHASE_AUGMENTED;
  const size_t n = of_augmented                              ? f->n_augmented
                   : from->kind == BRAMAH_PHASE_ACCELERATION ? f->n_dof
                   : from->kind == BRAMAH_PHASE_FIRST_ORDER  ? f->n_first_order
                                                             : 0;
  if (from->at >= n)
    return bramah__fail(diag, BRAMAH_E_REFERENCE, phase,
                        of_augmented ? "there is no augmented state of this number"
                                     : "there is no noise of this kind and number");
  const bramah_augmented *like = of_augmented ? &f->augmented[from->at] : NULL;
  const char *wrong = NULL;
  if (!(from->noise >= 0.0) || !isfinite(from->noise))
    wrong = "the noise must not be negative";
  else if (!(from->time_constant >= 0.0) || !isfinite(from->time_constant))
    wrong = "the time constant must be positive, or 0 to leave it";
  else if (!like && from->time_constant > 0.0)
    wrong = "only an augmented state has a time constant";
  else if (like &&
           (like->frequency > 0.0 || like->signal_period > 0.0 || like->kind == BRAMAH_AUGMENTED_DELAY))
    wrong = "oscillations and delays do not go with phases";
  if (wrong) {
    fail(diag, phase, wrong);
    bramah__add_text(diag, ": ");
    bramah__add_text(diag, like ? like->name
                           : from->kind == BRAMAH_PHASE_ACCELERATION
                               ? bramah__plant_state_name(&f->plant, from->at)
                               : bramah__plant_state_name(&f->plant, 2 * f->n_dof + from->at));
    return BRAMAH_E_VALUE;
  }
  out->kind = from->kind;
  out->at = from->at;
  if (!like) out->noise[0] = from->noise;
  return BRAMAH_OK;
}

bramah_status bramah__phases_take(bramah_filter *f, const bramah_filter_options *o, bramah_diag *diag)
{
  bramah_status status = BRAMAH_OK;
  size_t condition = 0, process = 0;
  for (size_t i = 0; i < f->n_heard; i++) f->silent[i] = -1;
  for (size_t p = 0; p < f->n_phases && status == BRAMAH_OK; p++) {
    const bramah_phase *from = &o->phases[p];
    bramah__phase *out = &f->phase[p];
    const double off_delay = ceil(from->off_delay / bramah__step_seconds(f) - 1e-6);
    if (!(off_delay >= 0.0) || off_delay >= UINT32_MAX)
      return fail(diag, from->name, "its off_delay must not be negative or without end");
    *out = (bramah__phase){from->name, condition,         from->n_begin,      from->n_end,
                           process,    from->n_processes, (uint32_t)off_delay};
    if (from->n_begin == 0) return fail(diag, from->name, "a phase needs a condition with which it begins");
    status = take_conditions(f, from->name, from->n_begin, from->begin, f->condition + condition, diag);
    condition += from->n_begin;
    if (status == BRAMAH_OK)
      status = take_conditions(f, from->name, from->n_end, from->end, f->condition + condition, diag);
    condition += from->n_end;
    for (size_t k = 0; k < from->n_processes && status == BRAMAH_OK; k++)
      status = take_process(f, from->name, &from->processes[k], &f->process[process++], diag);
  }
  for (size_t i = 0; i < f->n_augmented && f->n_phases; i++) bramah__phases_set_usual(f, i);
  bramah__phases_usual_noise(f, 1);
  return status;
}

void bramah__phases_set_usual(bramah_filter *f, size_t i)
{
  if (!f->n_phases) return;
  bramah__phase_process *usual = &f->usual[i];
  usual->kind = BRAMAH_PHASE_AUGMENTED;
  usual->at = i;
  memcpy(usual->Phi, f->self_state[i].Phi, sizeof usual->Phi);
  memcpy(usual->noise, f->self_state[i].noise, sizeof usual->noise);
}

void bramah__phases_usual_noise(bramah_filter *f, int set)
{
  double *usual = f->usual_noise, *now[2] = {f->noise.acceleration, f->noise.first_order};
  const size_t n[2] = {f->n_dof, f->n_first_order};
  for (size_t k = 0; k < 2 && f->n_phases; usual += n[k], k++)
    if (n[k]) memcpy(set ? usual : now[k], set ? now[k] : usual, n[k] * sizeof(double));
}

/* ---- a step ---- */

static int holds(const bramah_filter *f, const bramah_condition *c)
{
  double x;
  if (c->kind == BRAMAH_CONDITION_SAMPLE)
    x = f->silent[c->at] < 0 ? INFINITY : (double)f->silent[c->at];
  else
    x = f->plant.output(f->plant.self, c->at);
  return c->least <= x && x <= c->most;
}

/* Is it on but for its off_delay? */
static int is_on(const bramah_filter *f, size_t p)
{
  const bramah__phase *phase = &f->phase[p];
  const bramah_condition *begin = f->condition + phase->condition, *end = begin + phase->n_begin;
  size_t n = 0;
  while (n < phase->n_begin && holds(f, &begin[n])) n++;
  if (n == phase->n_begin || f->in_phase[p] <= phase->off_delay) return n == phase->n_begin;
  for (n = 0; n < phase->n_end; n++)
    if (holds(f, &end[n])) return 0;
  return phase->n_end > 0;
}

static void use(bramah_filter *f, const bramah__phase_process *process)
{
  if (process->kind == BRAMAH_PHASE_ACCELERATION) {
    f->noise.acceleration[process->at] = process->noise[0];
    return;
  }
  if (process->kind == BRAMAH_PHASE_FIRST_ORDER) {
    f->noise.first_order[process->at] = process->noise[0];
    return;
  }
  bramah__augmented *own = &f->self_state[process->at];
  memcpy(own->Phi, process->Phi, sizeof own->Phi);
  memcpy(own->noise, process->noise, sizeof own->noise);
}

void bramah__phases_decide(bramah_filter *f)
{
  for (size_t p = 0; p < f->n_phases; p++) {
    const uint32_t before = f->in_phase[p],
                   now = is_on(f, p) ? f->phase[p].off_delay + 1 : before - (before > 0);
    f->phase_begun[p] += now && !before;
    f->phase_steps[p] += now > 0;
    f->in_phase[p] = now;
  }
  bramah__phases_usual_noise(f, 0);
  for (size_t k = 0; k < f->n_processes; k++)
    if (f->process[k].kind == BRAMAH_PHASE_AUGMENTED) use(f, &f->usual[f->process[k].at]);
  for (size_t p = 0; p < f->n_phases; p++)
    for (size_t k = 0; k < f->phase[p].n_processes && f->in_phase[p]; k++)
      use(f, &f->process[f->phase[p].process + k]);
}

void bramah__phases_count_step(bramah_filter *f)
{
  for (size_t i = 0; i < f->n_heard; i++) f->silent[i] += f->silent[i] >= 0;
}

void bramah__phases_hear(bramah_filter *f, const unsigned char *present)
{
  for (size_t i = 0; i < f->n_heard; i++)
    if (present[i]) f->silent[i] = 0;
}

bramah_filter_phase bramah_filter_get_phase(const bramah_filter *f, size_t i)
{
  if (i >= f->n_phases) return (bramah_filter_phase){.name = NULL};
  return (bramah_filter_phase){f->phase[i].name, f->in_phase[i] != 0, f->phase_steps[i], f->phase_begun[i]};
}
