/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The variables of an FMU as a study has them: under names of ours, in SI, as states, inputs, outputs and parameters. */
#define _GNU_SOURCE /* locale_t */
#include "bramah/units.h"
#include "lib/base/text.h"
#include "lib/fmi/import_plant.h"
#include "lib/io/fail.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- room ---- */

static int copy_text(bramah_fmu *f, const char **text)
{
  if (*text) *text = bramah__pool_text(&f->pool, *text, strlen(*text));
  return *text != NULL;
}

bramah_status bramah__fmu_take_room(bramah_fmu *f, const bramah_fmu_mapping *map, bramah_diag *diag)
{
  f->map = *map;
  bramah_fmu_mapping *m = &f->map;
  f->n_dof = m->n_positions, f->n = 2 * m->n_positions + m->n_states;
  f->n_input = m->n_inputs, f->n_output = m->n_outputs, f->n_parameter = m->n_parameters;
  f->state = bramah__pool_take(&f->pool, f->n, sizeof *f->state);
  f->output = bramah__pool_take(&f->pool, f->n_output, sizeof *f->output);
  f->input = bramah__pool_take(&f->pool, f->n_input, sizeof *f->input);
  f->parameter = bramah__pool_take(&f->pool, f->n_parameter + f->n_input, sizeof *f->parameter);
  f->observed = bramah__pool_take(&f->pool, f->n + f->n_output, sizeof *f->observed);
  f->rate_of = bramah__pool_take(&f->pool, f->n, sizeof *f->rate_of);
  f->before = bramah__pool_take(&f->pool, f->n, sizeof *f->before);
  int good = f->state && f->output && f->input && f->parameter && f->observed && f->rate_of && f->before;
  for (int kind = 0; kind < 3; kind++) {
    f->value_reference[kind] = bramah__pool_take(&f->pool, m->n_values, sizeof *f->value_reference[kind]);
    f->value[kind] = bramah__pool_take(&f->pool, m->n_values, sizeof *f->value[kind]);
    good = good && f->value_reference[kind] && f->value[kind];
  }
  good = good && copy_text(f, &m->path) && (!m->file || copy_text(f, &m->file));
  return good ? BRAMAH_OK : bramah__fail_memory(diag);
}

/* ---- units ---- */

static int same(bramah_dimension a, bramah_dimension b) { return memcmp(&a, &b, sizeof a) == 0; }

/* The text of what the FMU builds of base units; 0: there is no such unit here (kelvin, mole, candela). */
static int si_text(const bramah__fmu_unit *unit, char *text, size_t size)
{
  static const char *const usual[] = {"1", "m",   "m/s",  "m/s^2", "rad", "rad/s", "rad/s^2", "Pa",
                                      "N", "N*m", "kg",   "m^3/s", "m^3", "s",     "V",       "J",
                                      "W", "Hz",  "kg/s", "Pa/s",  "N/m", "N*s/m", "kg/m^3",  "kg*m^2"};
  const int *e = unit->exponent; /* kg m s A K mol cd rad; an ampere is a watt per volt */
  const int volt = -e[3], kg = e[0] + e[3], m = e[1] + 2 * e[3], s = e[2] - 3 * e[3];
  bramah_dimension own, other;
  double factor;
  if (e[4] || e[5] || e[6]) return 0;
  snprintf(text, size, "kg^%d*m^%d*s^%d*V^%d*rad^%d", kg, m, s, volt, e[7]);
  if (bramah_unit_parse(text, &factor, &own, NULL)) return 0;
  for (size_t i = 0; i < sizeof usual / sizeof *usual; i++)
    if (bramah_unit_parse(usual[i], &factor, &other, NULL) == BRAMAH_OK && same(own, other)) {
      snprintf(text, size, "%s", usual[i]);
      break;
    }
  return 1;
}

/* Unit and conversion of a variable. One that the FMU does not explain, and that is none here, is taken for a plain number. */
static bramah_status take_unit(bramah_fmu *f, const bramah__fmu_scalar *scalar, port *out, bramah_diag *diag)
{
  const bramah__fmu_description *d = &f->description;
  const char *name = scalar->unit;
  char text[64];
  bramah_dimension dimension;
  for (size_t i = 0; !name && scalar->declared_type && i < d->n_types; i++)
    if (d->types[i].name && strcmp(d->types[i].name, scalar->declared_type) == 0) name = d->types[i].unit;
  out->unit = "1";
  out->factor = 1.0;
  if (!name) return BRAMAH_OK;
  for (size_t i = 0; i < d->n_units; i++) {
    const bramah__fmu_unit *unit = &d->units[i];
    if (strcmp(unit->name, name) != 0 || !unit->has_base || !si_text(unit, text, sizeof text)) continue;
    out->factor = unit->factor;
    out->offset = unit->offset;
    out->unit = bramah__pool_text(&f->pool, text, strlen(text));
    return out->unit ? BRAMAH_OK : bramah__fail_memory(diag);
  }
  if (bramah_unit_parse(name, &out->factor, &dimension, NULL)) return out->factor = 1.0, BRAMAH_OK;
  const bramah__fmu_unit own = {
      .exponent = {dimension.kg / 2, dimension.m / 2, dimension.s / 2, 0, 0, 0, 0, dimension.rad / 2}};
  if (dimension.volt || ((dimension.kg | dimension.m | dimension.s | dimension.rad) & 1) ||
      !si_text(&own, text, sizeof text)) {
    out->factor = 1.0;
    return BRAMAH_OK;
  }
  out->unit = bramah__pool_text(&f->pool, text, strlen(text));
  return out->unit ? BRAMAH_OK : bramah__fail_memory(diag);
}

/* ---- variables by their names ---- */

bramah_status bramah__fmu_at(const bramah_fmu *f, bramah_diag *diag, bramah_status status, int line)
{
  if (status && diag && f->map.file && !diag->line) {
    if (diag->file[0]) { /* of the archive, which must stay named: FMU: ENTRY */
      char thing[sizeof diag->thing];
      const char *folder = strrchr(diag->file, '/');
      size_t n = bramah__append(thing, sizeof thing, 0, folder ? folder + 1 : diag->file);
      if (diag->thing[0]) n = bramah__append(thing, sizeof thing, n, ": ");
      bramah__append(thing, sizeof thing, n, diag->thing);
      memcpy(diag->thing, thing, sizeof thing);
    }
    snprintf(diag->file, sizeof diag->file, "%s", f->map.file);
    diag->line = line ? line : f->map.line;
  }
  return status;
}

static bramah_status find_scalar(const bramah_fmu *f, const bramah_fmu_variable *of,
                                 const bramah__fmu_scalar **out, bramah_diag *diag)
{
  const bramah__fmu_description *d = &f->description;
  const char *nearest = NULL;
  *out = NULL;
  for (size_t i = 0; i < d->n; i++)
    if (strcmp(d->scalars[i].name, of->variable) == 0) {
      *out = &d->scalars[i];
      return BRAMAH_OK;
    }
  for (size_t i = 0; i < d->n && i < 100000; i++) {
    const char *two[2] = {d->scalars[i].name, nearest};
    nearest = bramah__nearest(of->variable, nearest ? 2 : 1, two);
  }
  bramah__failf(diag, BRAMAH_E_REFERENCE, NULL, 0, of->variable,
                nearest ? "the FMU has no variable of this name; did you mean '%s'?"
                        : "the FMU has no variable of this name%s",
                nearest ? nearest : "");
  return bramah__fmu_at(f, diag, BRAMAH_E_REFERENCE, of->line);
}

/* A real number, or where it says so a whole number or a truth value; `what` it is to be. */
static bramah_status bind(bramah_fmu *f, const char *name, const bramah_fmu_variable *of, const char *what,
                          int may_be_whole, port *out, bramah_diag *diag)
{
  const bramah__fmu_scalar *scalar;
  bramah_status status = find_scalar(f, of, &scalar, diag);
  if (status) return status;
  const int fits =
      scalar->type == BRAMAH__FMU_REAL ||
      (may_be_whole && (scalar->type == BRAMAH__FMU_INTEGER || scalar->type == BRAMAH__FMU_BOOLEAN));
  if (!fits || scalar->is_array) {
    bramah__failf(diag, BRAMAH_E_UNSUPPORTED, NULL, 0, of->variable,
                  "this variable is %s %s%s: %s must be %s", strchr("AEIO", *scalar->kind) ? "an" : "a",
                  scalar->kind, scalar->is_array ? " array" : "", what,
                  f->description.version == 2 ? (may_be_whole ? "Real, Integer or Boolean" : "Real")
                  : may_be_whole              ? "Float64, Int32 or Boolean, and no array"
                                              : "Float64, and no array");
    return bramah__fmu_at(f, diag, BRAMAH_E_UNSUPPORTED, of->line);
  }
  *out = (port){.scalar = scalar, .reference = scalar->reference, .kind = BRAMAH_OUTPUT_OTHER};
  out->name = bramah__pool_text(&f->pool, name, strlen(name));
  if (!out->name) return bramah__fail_memory(diag);
  return take_unit(f, scalar, out, diag);
}

/* A state must have this unit; without one the FMU is believed to mean it. */
static bramah_status want_unit(const bramah_fmu *f, port *state, const char *unit, int line,
                               bramah_diag *diag)
{
  if (strcmp(state->unit, "1") == 0) state->unit = unit;
  if (strcmp(state->unit, unit) == 0) return BRAMAH_OK;
  bramah__failf(diag, BRAMAH_E_UNIT, NULL, 0, state->scalar->name,
                "the FMU has this variable in %s, %s is expected", state->unit, unit);
  return bramah__fmu_at(f, diag, BRAMAH_E_UNIT, line);
}

/* The variable that the FMU calls the derivative of this one. */
static const bramah__fmu_scalar *derivative_of(const bramah_fmu *f, const bramah__fmu_scalar *of)
{
  const bramah__fmu_description *d = &f->description;
  for (size_t i = 0; i < d->n; i++) {
    const bramah__fmu_scalar *s = &d->scalars[i];
    if (!s->has_derivative || s->type != BRAMAH__FMU_REAL) continue;
    if (d->version == 3 ? s->derivative == of->reference
                        : s->derivative >= 1 && s->derivative <= d->n &&
                              d->scalars[s->derivative - 1].reference == of->reference)
      return s;
  }
  return NULL;
}

static const char *joined(bramah_fmu *f, const char *a, const char *b)
{
  char *text = bramah__pool_take(&f->pool, strlen(a) + strlen(b) + 1, 1);
  return text ? strcat(strcpy(text, a), b) : NULL;
}

/* NAME, and behind its end NAME.command. */
static const char *with_command(bramah_fmu *f, const char *name)
{
  const size_t n = strlen(name);
  char *text = bramah__pool_take(&f->pool, 2 * n + sizeof ".command" + 1, 1);
  if (text) strcat(strcpy(strcpy(text, name) + n + 1, name), ".command");
  return text;
}

static bramah_status bind_position(bramah_fmu *f, size_t i, bramah_diag *diag)
{
  const bramah_fmu_position *from = &f->map.positions[i];
  port *q = &f->state[i], *w = &f->state[f->n_dof + i];
  const char *name = joined(f, from->name, from->slides ? ".position" : ".angle"),
             *rate_name = joined(f, from->name, ".rate");
  if (!name || !rate_name) return bramah__fail_memory(diag);
  bramah_status status = bind(f, name, &from->position, "a position", 0, q, diag);
  if (!status) status = want_unit(f, q, from->slides ? "m" : "rad", from->position.line, diag);
  bramah_fmu_variable rate = from->rate;
  if (!status && !rate.variable) {
    const bramah__fmu_scalar *derivative = derivative_of(f, q->scalar);
    rate = (bramah_fmu_variable){derivative ? derivative->name : NULL, from->position.line};
    if (!derivative) {
      bramah__failf(
          diag, BRAMAH_E_KEY, NULL, 0, from->position.variable,
          "the FMU says of no variable that it is the derivative of this one: name it, 'rate_variable: ...'");
      return bramah__fmu_at(f, diag, BRAMAH_E_KEY, from->position.line);
    }
  }
  if (!status) status = bind(f, rate_name, &rate, "a rate", 0, w, diag);
  if (!status) status = want_unit(f, w, from->slides ? "m/s" : "rad/s", rate.line, diag);
  q->scale = from->scale > 0.0 ? from->scale : 1.0;
  w->scale = from->rate_scale > 0.0 ? from->rate_scale : 1.0;
  q->period = from->period;
  q->kind = BRAMAH_OUTPUT_POSITION, w->kind = BRAMAH_OUTPUT_RATE;
  return status;
}

static bramah_status bind_state(bramah_fmu *f, size_t i, bramah_diag *diag)
{
  const bramah_fmu_state *from = &f->map.states[i];
  port *x = &f->state[2 * f->n_dof + i];
  const bramah_status status = bind(f, from->name, &from->of, "a state", 0, x, diag);
  if (status) return status;
  bramah_dimension scale, unit;
  double factor;
  if (from->scale_unit && (bramah_unit_parse(from->scale_unit, &factor, &scale, NULL) ||
                           bramah_unit_parse(x->unit, &factor, &unit, NULL) || !same(scale, unit))) {
    bramah__failf(diag, BRAMAH_E_UNIT, NULL, 0, from->name,
                  "its scale is in %s, the FMU has this variable in %s", from->scale_unit, x->unit);
    return bramah__fmu_at(f, diag, BRAMAH_E_UNIT, from->of.line);
  }
  const int is_pressure = strcmp(x->unit, "Pa") == 0;
  if (is_pressure && !(x->name = joined(f, from->name, ".pressure"))) return bramah__fail_memory(diag);
  x->scale = from->scale > 0.0           ? from->scale
             : x->scalar->nominal != 0.0 ? fabs(x->factor * x->scalar->nominal)
             : is_pressure               ? 1e6
                                         : 1.0;
  x->kind = BRAMAH_OUTPUT_FIRST_ORDER;
  return BRAMAH_OK;
}

static bramah_status fail_variable(const bramah_fmu *f, const bramah_fmu_variable *of, const char *message,
                                   bramah_diag *diag)
{
  bramah__failf(diag, BRAMAH_E_UNSUPPORTED, NULL, 0, of->variable, "%s", message);
  return bramah__fmu_at(f, diag, BRAMAH_E_UNSUPPORTED, of->line);
}

/* An output that has the name of a state's would never be seen. */
static bramah_status names_differ(const bramah_fmu *f, bramah_diag *diag)
{
  for (size_t i = 0; i < f->n + f->n_output; i++)
    for (size_t k = 0; k < i; k++) {
      const port *a = k < f->n ? &f->state[k] : &f->output[k - f->n],
                 *b = i < f->n ? &f->state[i] : &f->output[i - f->n];
      if (strcmp(a->name, b->name) != 0) continue;
      bramah__failf(diag, BRAMAH_E_VALUE, NULL, 0, b->name,
                    "the variables '%s' and '%s' are both given this name", a->scalar->name, b->scalar->name);
      return bramah__fmu_at(f, diag, BRAMAH_E_VALUE, i < f->n ? 0 : f->map.outputs[i - f->n].of.line);
    }
  return BRAMAH_OK;
}

static bramah_status bind_ports(bramah_fmu *f, bramah_diag *diag)
{
  const bramah_fmu_mapping *m = &f->map;
  bramah_status status = BRAMAH_OK;
  for (size_t i = 0; !status && i < m->n_positions; i++) status = bind_position(f, i, diag);
  for (size_t i = 0; !status && i < m->n_states; i++) status = bind_state(f, i, diag);
  for (size_t i = 0; !status && i < m->n_outputs; i++)
    status = bind(f, m->outputs[i].name, &m->outputs[i].of, "an output", 1, &f->output[i], diag);
  for (size_t i = 0; !status && i < m->n_inputs; i++) {
    status = bind(f, m->inputs[i].name, &m->inputs[i].of, "an input", 1, &f->input[i], diag);
    if (!status && !(f->input[i].name = with_command(f, m->inputs[i].name)))
      status = bramah__fail_memory(diag);
    if (!status && f->input[i].scalar->causality != 'i')
      status = fail_variable(f, &m->inputs[i].of, "this variable of the FMU is no input", diag);
    port *offset = &f->parameter[f->n_parameter + i];
    if (!status) {
      *offset = f->input[i];
      offset->offset = 0.0;
      if (!(offset->name = joined(f, f->input[i].name, ".offset"))) status = bramah__fail_memory(diag);
    }
  }
  for (size_t i = 0; !status && i < m->n_parameters; i++) {
    status = bind(f, m->parameters[i].name, &m->parameters[i].of, "a parameter", 0, &f->parameter[i], diag);
    if (!status && f->parameter[i].scalar->causality != 'p')
      status = fail_variable(f, &m->parameters[i].of, "this variable of the FMU is no parameter", diag);
    if (!status && f->parameter[i].scalar->variability != 't')
      status = fail_variable(f, &m->parameters[i].of,
                             "this parameter of the FMU is not tunable: it cannot change, and 'values' is "
                             "where a fixed one is set",
                             diag);
  }
  for (size_t i = 0; i < f->n && !status; i++)
    for (size_t k = 0; k < i && !status; k++)
      if (f->state[i].reference == f->state[k].reference)
        status = bramah__fmu_at(f, diag,
                                bramah__failf(diag, BRAMAH_E_VALUE, NULL, 0, f->state[i].scalar->name,
                                              "'%s' and '%s' are the same variable", f->state[k].name,
                                              f->state[i].name),
                                0);
  if (!status) status = names_differ(f, diag);
  f->has_rates = 1;
  for (size_t i = 0; !status && i < f->n; i++) {
    const bramah__fmu_scalar *rate = derivative_of(f, f->state[i].scalar);
    if (rate)
      f->rate_of[i] = rate->reference;
    else
      f->has_rates = 0;
    f->observed[i] = f->state[i].reference;
    f->before[i] = f->state[i];
    const char *name = joined(f, "previous.", f->state[i].scalar->name);
    for (size_t k = 0; name && k < f->description.n; k++)
      if (strcmp(f->description.scalars[k].name, name) == 0)
        f->before[i].reference = f->description.scalars[k].reference;
  }
  for (size_t i = 0; !status && i < f->n_output; i++) f->observed[f->n + i] = f->output[i].reference;
  return status;
}

/* A start value of a parameter, by its type. */
static bramah_status bind_value(bramah_fmu *f, size_t i, bramah_diag *diag)
{
  const bramah_fmu_mapping *m = &f->map;
  const bramah__fmu_scalar *s;
  const bramah_status status = find_scalar(f, &m->values[i].of, &s, diag);
  if (status) return status;
  const int kind = s->type == BRAMAH__FMU_INTEGER ? 1 : s->type == BRAMAH__FMU_BOOLEAN ? 2 : 0;
  if (s->type == BRAMAH__FMU_OTHER || s->is_array)
    return fail_variable(f, &m->values[i].of,
                         "start values of real and whole numbers and truth values can be set, no others",
                         diag);
  if (s->variability == 'c' || s->causality == 't' || s->causality == 'c' || s->initial == 'c')
    return fail_variable(f, &m->values[i].of, "the FMU does not let this variable be set", diag);
  for (size_t k = 0; k < f->n_input; k++)
    if (s->type == f->input[k].scalar->type && f->input[k].reference == s->reference)
      return fail_variable(f, &m->values[i].of, "'inputs' has this variable, whose values come from the log",
                           diag);
  const double value = m->values[i].value;
  if (kind && (value != floor(value) || fabs(value) > (kind == 2 ? 1.0 : 2147483647.0)))
    return fail_variable(f, &m->values[i].of,
                         "this variable of the FMU takes whole numbers, or 0 and 1 for a truth value", diag);
  f->value_reference[kind][f->n_value[kind]] = s->reference;
  f->value[kind][f->n_value[kind]++] = value;
  return BRAMAH_OK;
}

static bramah_status bind_values(bramah_fmu *f, bramah_diag *diag)
{
  const bramah_fmu_mapping *m = &f->map;
  bramah_status status = BRAMAH_OK;
  for (size_t i = 0; !status && i < m->n_values; i++) status = bind_value(f, i, diag);
  for (size_t i = 0; !status && i < m->n_parameters; i++) {
    int has_start = f->parameter[i].scalar->has_start;
    for (size_t k = 0; k < f->n_value[0]; k++)
      has_start |= f->value_reference[0][k] == f->parameter[i].reference;
    if (!has_start)
      status = fail_variable(f, &m->parameters[i].of,
                             "the FMU gives this parameter no start value: give one in 'values'", diag);
  }
  return status;
}

/* Variables of which others are the derivatives, and that are no states of ours. */
static void list_others(bramah_fmu *f)
{
  const bramah__fmu_description *d = &f->description;
  size_t used = 0;
  for (size_t i = 0; i < d->n; i++) {
    int known = 0;
    for (size_t k = 0; k < f->n; k++) known |= f->state[k].reference == d->scalars[i].reference;
    if (known || d->scalars[i].type != BRAMAH__FMU_REAL || !derivative_of(f, &d->scalars[i])) continue;
    used = bramah__append(f->not_estimated, sizeof f->not_estimated, used, used ? ", " : "");
    used = bramah__append(f->not_estimated, sizeof f->not_estimated, used, d->scalars[i].name);
  }
}

/* ---- all of it ---- */

static bramah_status choose_step(bramah_fmu *f, bramah_diag *diag)
{
  const bramah__fmu_description *d = &f->description;
  const double given = d->step_size > 0.0 ? d->step_size : d->fixed_step;
  if (f->map.step_ns == 0 && given > 0.0 && given < 1e6) f->map.step_ns = llround(1e9 * given);
  if (f->map.step_ns <= 0)
    return bramah__fmu_at(f, diag,
                          bramah__failf(diag, BRAMAH_E_KEY, NULL, 0, "step",
                                        "the FMU does not say how long its steps are: give 'step'"),
                          0);
  const double ratio = d->fixed_step > 0.0 ? 1e-9 * (double)f->map.step_ns / d->fixed_step : 1.0;
  if (fabs(ratio - round(ratio)) > 1e-6 * ratio || ratio < 0.5)
    return bramah__fmu_at(
        f, diag,
        bramah__failf(diag, BRAMAH_E_VALUE, NULL, 0, "step",
                      "the FMU makes steps of %.9g s inside: its step must be a multiple of that",
                      d->fixed_step),
        0);
  return BRAMAH_OK;
}

bramah_status bramah__fmu_bind(bramah_fmu *f, bramah_diag *diag)
{
  bramah_status status = choose_step(f, diag);
  if (!status) status = bind_ports(f, diag);
  if (!status) status = bind_values(f, diag);
  if (!status && f->description.n < 20000) list_others(f);
  return status;
}
