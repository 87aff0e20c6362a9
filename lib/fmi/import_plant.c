/* SPDX-License-Identifier: GPL-3.0-or-later */
/* An imported FMU as a plant (bramah/fmu.h): its variables as states, inputs, outputs and parameters, saved states, derivatives, and
 * the trials by which it shows what it can do. */
#define _GNU_SOURCE /* locale_t */
#include "lib/fmi/import.h"
#include "bramah/units.h"
#include "lib/base/text.h"
#include "lib/io/fail.h"
#include "lib/math/dense.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* A variable of the FMU under a name of ours: value [unit, SI] = factor value + offset. */
typedef struct port {
  const char *name, *unit;
  const bramah__fmu_scalar *scalar;
  uint32_t reference;
  double factor, offset;
  double scale, period; /* of states */
  bramah_output_kind kind;
} port;

struct bramah_fmu {
  bramah__pool pool;
  bramah_fmu_mapping map;
  char *folder;
  bramah__fmu_description description;
  bramah__fmu_library *library;
  size_t n_dof, n, n_input, n_output, n_parameter; /* n: states; outputs of the mapping alone */
  port *state;                                     /* [n] positions, rates, first-order states */
  port *output;                                    /* [n_output] */
  port *input;                                     /* [n_input] */
  port *parameter;                                 /* [n_parameter], then [n_input] the offsets of inputs */
  uint32_t *observed;                              /* [n + n_output] states, outputs */
  port *before; /* [n] where the last step began: `previous.` and the state's name, or the state itself */
  uint32_t *rate_of; /* [n] the variable that is the derivative of each state */
  int has_rates;
  uint32_t *value_reference[3]; /* real, integer, truth */
  double *value[3];
  size_t n_value[3];
  size_t state_bytes;
  char why_not_saved[400], why_differences[400], not_estimated[200];
  bramah_fmu_abilities report;
};

/* A state that stays in the FMU, for the snapshot at this address. */
typedef struct slot {
  const void *address;
  uint64_t id;
  void *kept;
} slot;

struct bramah_fmu_plant {
  const bramah_fmu *fmu;
  bramah__fmu_instance *i;
  bramah_status broken; /* after an error, until a restore */
  bramah_diag why;
  int64_t k; /* steps since the start */
  uint64_t self,
      state_id; /* KEPT: this instance; the state it has (0: none that was saved). Else 0: same state, same bytes */
  uint64_t last_id;
  double *u, *p; /* [n_input] SI; [n_parameter + n_input] SI */
  double *v;     /* [n + n_output] SI */
  int has_run;   /* it was initialized before */
  int is_stale;  /* STARTED_ANEW: of v only the states are of now */
  size_t n_slots, slot_capacity;
  slot *slots;
  uint32_t *reference; /* [n + n_parameter + n_input + values] scratch */
  double *number;      /* likewise, and [n + n_output] */
  unsigned char *snap; /* scratch of derivatives */
  double *column;      /* [3 n] */
  double *matrix;      /* [room for exponentials] */
};

/* What a snapshot begins with; u, p, v and the FMU's bytes follow. */
typedef struct head {
  uint64_t self, id;
  int64_t k;
  uint32_t is_whole; /* 0: saving failed */
  uint32_t is_stale;
} head;

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

static bramah_status at(const bramah_fmu *f, bramah_diag *diag, bramah_status status, int line)
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
  for (size_t i = 0; i < d->n; i++) {
    if (strcmp(d->scalars[i].name, of->variable) == 0) {
      *out = &d->scalars[i];
      return BRAMAH_OK;
    }
    const char *two[2] = {d->scalars[i].name, nearest};
    if (i < 100000) nearest = bramah__nearest(of->variable, nearest ? 2 : 1, two);
  }
  bramah__failf(diag, BRAMAH_E_REFERENCE, NULL, 0, of->variable,
                nearest ? "the FMU has no variable of this name; did you mean '%s'?"
                        : "the FMU has no variable of this name%s",
                nearest ? nearest : "");
  return at(f, diag, BRAMAH_E_REFERENCE, of->line);
}

/* A real number; `what` it is to be. */
static bramah_status bind(bramah_fmu *f, const char *name, const bramah_fmu_variable *of, const char *what,
                          port *out, bramah_diag *diag)
{
  const bramah__fmu_scalar *scalar;
  bramah_status status = find_scalar(f, of, &scalar, diag);
  if (status) return status;
  if (scalar->type != BRAMAH__FMU_REAL || scalar->is_array) {
    bramah__failf(diag, BRAMAH_E_UNSUPPORTED, NULL, 0, of->variable,
                  "this variable is %s %s%s: %s must be %s", strchr("AEIO", *scalar->kind) ? "an" : "a",
                  scalar->kind, scalar->is_array ? " array" : "", what,
                  f->description.version == 2 ? "Real" : "Float64, and no array");
    return at(f, diag, BRAMAH_E_UNSUPPORTED, of->line);
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
  return at(f, diag, BRAMAH_E_UNIT, line);
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
  bramah_status status = bind(f, name, &from->position, "a position", q, diag);
  if (!status) status = want_unit(f, q, from->slides ? "m" : "rad", from->position.line, diag);
  bramah_fmu_variable rate = from->rate;
  if (!status && !rate.variable) {
    const bramah__fmu_scalar *derivative = derivative_of(f, q->scalar);
    rate = (bramah_fmu_variable){derivative ? derivative->name : NULL, from->position.line};
    if (!derivative) {
      bramah__failf(
          diag, BRAMAH_E_KEY, NULL, 0, from->position.variable,
          "the FMU says of no variable that it is the derivative of this one: name it, 'rate_variable: ...'");
      return at(f, diag, BRAMAH_E_KEY, from->position.line);
    }
  }
  if (!status) status = bind(f, rate_name, &rate, "a rate", w, diag);
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
  const bramah_status status = bind(f, from->name, &from->of, "a state", x, diag);
  if (status) return status;
  bramah_dimension scale, unit;
  double factor;
  if (from->scale_unit && (bramah_unit_parse(from->scale_unit, &factor, &scale, NULL) ||
                           bramah_unit_parse(x->unit, &factor, &unit, NULL) || !same(scale, unit))) {
    bramah__failf(diag, BRAMAH_E_UNIT, NULL, 0, from->name,
                  "its scale is in %s, the FMU has this variable in %s", from->scale_unit, x->unit);
    return at(f, diag, BRAMAH_E_UNIT, from->of.line);
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
  return at(f, diag, BRAMAH_E_UNSUPPORTED, of->line);
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
      return at(f, diag, BRAMAH_E_VALUE, i < f->n ? 0 : f->map.outputs[i - f->n].of.line);
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
    status = bind(f, m->outputs[i].name, &m->outputs[i].of, "an output", &f->output[i], diag);
  for (size_t i = 0; !status && i < m->n_inputs; i++) {
    status = bind(f, m->inputs[i].name, &m->inputs[i].of, "an input", &f->input[i], diag);
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
    status = bind(f, m->parameters[i].name, &m->parameters[i].of, "a parameter", &f->parameter[i], diag);
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
        status = at(f, diag,
                    bramah__failf(diag, BRAMAH_E_VALUE, NULL, 0, f->state[i].scalar->name,
                                  "'%s' and '%s' are the same variable", f->state[k].name, f->state[i].name),
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

/* ---- values ---- */

static bramah_status broken(bramah_fmu_plant *p, bramah_status status, const bramah_diag *why)
{
  p->broken = status;
  p->why = *why;
  p->state_id = 0;
  return status;
}

/* Note a failure of the FMU: it stays until a restore. */
static bramah_status note(bramah_fmu_plant *p, bramah_status status, bramah_diag *diag)
{
  if (!status) return status;
  bramah_diag own = {.status = status};
  return broken(p, status, diag ? diag : &own);
}

static bramah_status complain(const bramah_fmu_plant *p, bramah_diag *diag)
{
  if (diag) *diag = p->why;
  return p->broken;
}

static double si(const port *of, double value) { return of->factor * value + of->offset; }
static double own(const port *of, double value) { return (value - of->offset) / of->factor; }

static const port *observed(const bramah_fmu *f, size_t i)
{
  return i < f->n ? &f->state[i] : &f->output[i - f->n];
}

/* All that is shown, from the FMU. */
static bramah_status refresh(bramah_fmu_plant *p, bramah_diag *diag)
{
  const bramah_fmu *f = p->fmu;
  const size_t n = f->n + f->n_output;
  if (n == 0) return BRAMAH_OK;
  const bramah_status status = p->i->calls->get(p->i, n, f->observed, p->number, diag);
  for (size_t i = 0; !status && i < n; i++) {
    p->v[i] = si(observed(f, i), p->number[i]);
    if (!isfinite(p->v[i]))
      return bramah__failf(diag, BRAMAH_E_NOT_FINITE, NULL, 0, observed(f, i)->scalar->name,
                           "the FMU gives no finite number");
  }
  p->is_stale = 0;
  return status;
}

static double input_value(const bramah_fmu_plant *p, size_t i)
{
  return own(&p->fmu->input[i], p->u[i] + p->p[p->fmu->n_parameter + i]);
}

static bramah_status give_inputs(bramah_fmu_plant *p, bramah_diag *diag)
{
  const bramah_fmu *f = p->fmu;
  if (f->n_input == 0) return BRAMAH_OK;
  for (size_t i = 0; i < f->n_input; i++) {
    p->reference[i] = f->input[i].reference;
    p->number[i] = input_value(p, i);
  }
  return p->i->calls->set(p->i, f->n_input, p->reference, p->number, diag);
}

static bramah_status give_parameters(bramah_fmu_plant *p, bramah_diag *diag)
{
  const bramah_fmu *f = p->fmu;
  if (f->n_parameter == 0) return BRAMAH_OK;
  for (size_t i = 0; i < f->n_parameter; i++) {
    p->reference[i] = f->parameter[i].reference;
    p->number[i] = own(&f->parameter[i], p->p[i]);
  }
  return p->i->calls->set(p->i, f->n_parameter, p->reference, p->number, diag);
}

static double now(const bramah_fmu_plant *p)
{
  return p->fmu->description.start_time + 1e-9 * (double)(p->k * p->fmu->map.step_ns);
}

/* Start at this time from values, inputs and parameters, and from states x where they are numbers. */
static bramah_status start(bramah_fmu_plant *p, const double *x, bramah_diag *diag)
{
  const bramah_fmu *f = p->fmu;
  bramah__fmu_start s = {.time = now(p)};
  size_t n = f->n_value[0];
  if (n) {
    memcpy(p->reference, f->value_reference[0], n * sizeof *p->reference);
    memcpy(p->number, f->value[0], n * sizeof *p->number);
  }
  for (size_t i = 0; i < f->n_parameter; i++) {
    p->reference[n] = f->parameter[i].reference;
    p->number[n++] = own(&f->parameter[i], p->p[i]);
  }
  for (size_t i = 0; i < f->n_input; i++) {
    p->reference[n] = f->input[i].reference;
    p->number[n++] = input_value(p, i);
  }
  for (size_t i = 0; x && i < f->n; i++) {
    if (isnan(x[i])) continue;
    p->reference[n] = f->state[i].reference;
    p->number[n++] = own(&f->state[i], x[i]);
  }
  s.n[0] = n, s.reference[0] = p->reference, s.value[0] = p->number;
  for (int kind = 1; kind < 3; kind++)
    s.n[kind] = f->n_value[kind], s.reference[kind] = f->value_reference[kind],
    s.value[kind] = f->value[kind];
  const int again = p->has_run;
  p->has_run = 1;
  return p->i->calls->initialize(p->i, again, &s, diag);
}

static int starts_anew(const bramah_fmu_plant *p) { return p->fmu->report.saving == BRAMAH_FMU_STARTED_ANEW; }

/* The state differs from all that were saved. */
static void moved(bramah_fmu_plant *p) { p->state_id = 0; }

/* ---- the table's functions ---- */

static bramah_status step(void *self, bramah_diag *diag)
{
  bramah_fmu_plant *p = self;
  const double length = 1e-9 * (double)p->fmu->map.step_ns;
  bramah_status status = p->broken ? complain(p, diag) : BRAMAH_OK;
  if (status) return status;
  moved(p);
  status = starts_anew(p) ? start(p, p->v, diag) : give_inputs(p, diag);
  if (!status) status = p->i->calls->step(p->i, now(p), length, diag);
  if (!status) p->k++;
  if (!status) status = refresh(p, diag);
  return note(p, status, diag);
}

/* States to v, which is changed already. */
static bramah_status give_states(bramah_fmu_plant *p, bramah_diag *diag)
{
  const bramah_fmu *f = p->fmu;
  if (starts_anew(p)) return p->is_stale = 1, BRAMAH_OK;
  for (size_t i = 0; i < f->n; i++) {
    p->reference[i] = f->state[i].reference;
    p->number[i] = own(&f->state[i], p->v[i]);
  }
  const bramah_status status = p->i->calls->set(p->i, f->n, p->reference, p->number, diag);
  return status ? status : refresh(p, diag);
}

static bramah_status inject(void *self, const double *dx, bramah_diag *diag)
{
  bramah_fmu_plant *p = self;
  if (p->broken) return complain(p, diag);
  moved(p);
  for (size_t i = 0; i < p->fmu->n; i++) {
    p->v[i] += dx[i];
    if (!isfinite(p->v[i]))
      return note(p,
                  bramah__failf(diag, BRAMAH_E_NOT_FINITE, NULL, 0, p->fmu->state[i].name,
                                "the correction is not finite"),
                  diag);
    if (starts_anew(p) && p->fmu->state[i].period > 0.0)
      p->v[i] = remainder(p->v[i], p->fmu->state[i].period);
  }
  return note(p, give_states(p, diag), diag);
}

/* Outputs of a plant that is started anew for each step are made when they are asked for; its states keep our digits. */
static double shown(bramah_fmu_plant *p, size_t i)
{
  const size_t bytes = p->fmu->n * sizeof *p->v;
  bramah_diag why;
  if (!p->is_stale || i < p->fmu->n || p->broken) return p->v[i];
  memcpy(p->column, p->v, bytes);
  bramah_status status = start(p, p->v, &why);
  if (!status) status = refresh(p, &why);
  memcpy(p->v, p->column, bytes);
  return note(p, status, &why) ? (double)NAN : p->v[i];
}

/* Outputs of the plant: of each position itself and its rate, first-order states, commands of inputs, those of the mapping. */
static double output(void *self, size_t i)
{
  bramah_fmu_plant *p = self;
  const bramah_fmu *f = p->fmu;
  if (i < 2 * f->n_dof) return p->v[i / 2 + (i % 2) * f->n_dof];
  if (i < f->n) return p->v[i];
  if (i < f->n + f->n_input) return p->u[i - f->n];
  return shown(p, i - f->n_input);
}

static void output_info(const void *self, size_t i, bramah_output_info *info)
{
  const bramah_fmu *f = ((const bramah_fmu_plant *)self)->fmu;
  const int is_command = i >= f->n && i < f->n + f->n_input;
  const port *from = i < 2 * f->n_dof ? &f->state[i / 2 + (i % 2) * f->n_dof]
                     : i < f->n       ? &f->state[i]
                     : is_command     ? &f->input[i - f->n]
                                      : &f->output[i - f->n - f->n_input];
  *info = (bramah_output_info){from->name, from->unit, from->kind, !is_command, 0};
  if (is_command) info->name = from->name + strlen(from->name) + 1; /* kept behind it */
}

static void state_info(const void *self, size_t i, bramah_state_info *info)
{
  const port *from = &((const bramah_fmu_plant *)self)->fmu->state[i];
  *info = (bramah_state_info){
      .name = from->name, .unit = from->unit, .scale = from->scale, .period = from->period};
}

static const char *input_name(const void *self, size_t i)
{
  return ((const bramah_fmu_plant *)self)->fmu->input[i].name;
}
static const char *input_unit(const void *self, size_t i)
{
  return ((const bramah_fmu_plant *)self)->fmu->input[i].unit;
}

static void coordinates(void *self, double *x)
{
  const bramah_fmu_plant *p = self;
  memcpy(x, p->v, p->fmu->n * sizeof *x);
}

static bramah_status set_inputs(void *self, const double *u, bramah_diag *diag)
{
  bramah_fmu_plant *p = self;
  for (size_t i = 0; i < p->fmu->n_input; i++)
    if (!isfinite(u[i]))
      return bramah__failf(diag, BRAMAH_E_NOT_FINITE, NULL, 0, p->fmu->input[i].name,
                           "the input is not finite");
  if (p->fmu->n_input == 0 || memcmp(p->u, u, p->fmu->n_input * sizeof *u) == 0) return BRAMAH_OK;
  memcpy(p->u, u, p->fmu->n_input * sizeof *u);
  moved(p);
  return BRAMAH_OK;
}

/* ---- saved states ---- */

static size_t n_numbers(const bramah_fmu *f)
{
  return f->n_input + (f->n_parameter + f->n_input) + f->n + f->n_output;
}

static size_t snapshot_size(const bramah_fmu *f)
{
  const size_t size = sizeof(head) + n_numbers(f) * sizeof(double) +
                      (f->report.saving == BRAMAH_FMU_SERIALIZED ? f->state_bytes : 0);
  return (size + 7) / 8 * 8;
}

/* Numbers between the plant and a snapshot. */
static void move_numbers(bramah_fmu_plant *p, unsigned char *at_snap, int back)
{
  const bramah_fmu *f = p->fmu;
  const size_t n[3] = {f->n_input, f->n_parameter + f->n_input, f->n + f->n_output};
  double *const mine[3] = {p->u, p->p, p->v};
  for (int i = 0; i < 3; i++) {
    if (n[i])
      memcpy(back ? (unsigned char *)mine[i] : at_snap, back ? at_snap : (unsigned char *)mine[i],
             n[i] * sizeof(double));
    at_snap += n[i] * sizeof(double);
  }
}

/* Where the state for the snapshot of this address is kept; NULL: no memory. */
static slot *slot_of(bramah_fmu_plant *p, const void *address)
{
  for (size_t i = 0; i < p->n_slots; i++)
    if (p->slots[i].address == address) return &p->slots[i];
  if (p->n_slots == p->slot_capacity) {
    const size_t grown = p->slot_capacity ? 2 * p->slot_capacity : 32;
    slot *more = realloc(p->slots, grown * sizeof *more);
    if (!more) return NULL;
    p->slots = more;
    p->slot_capacity = grown;
  }
  p->slots[p->n_slots] = (slot){.address = address};
  return &p->slots[p->n_slots++];
}

/* A copy of a snapshot is as good, until its original is overwritten. */
static const slot *kept_as(const bramah_fmu_plant *p, uint64_t id)
{
  for (size_t i = 0; i < p->n_slots; i++)
    if (p->slots[i].id == id && p->slots[i].kept) return &p->slots[i];
  return NULL;
}

static void save(const void *self, void *snap)
{
  bramah_fmu_plant *p = (bramah_fmu_plant *)(uintptr_t)self; /* the FMU's functions want it changeable */
  const bramah_fmu *f = p->fmu;
  unsigned char *numbers = (unsigned char *)snap + sizeof(head),
                *bytes = numbers + n_numbers(f) * sizeof(double);
  head h = {.k = p->k, .is_stale = (uint32_t)p->is_stale};
  if (f->report.saving == BRAMAH_FMU_KEPT) {
    h.self = p->self;
    h.id = p->state_id ? p->state_id : ++p->last_id;
  }
  memset(snap, 0, snapshot_size(f));
  move_numbers(p, numbers, 0);
  bramah_status status = p->broken;
  if (!status && f->report.saving == BRAMAH_FMU_SERIALIZED)
    status = note(p, p->i->calls->serialize(p->i, f->state_bytes, bytes, &p->why), &p->why);
  if (!status && f->report.saving == BRAMAH_FMU_KEPT) {
    slot *kept = slot_of(p, snap);
    bramah_diag why;
    status = note(p, kept ? p->i->calls->keep(p->i, &kept->kept, &why) : bramah__fail_memory(&why), &why);
    if (kept) kept->id = status ? 0 : h.id;
  }
  h.is_whole = !status;
  if (!status) p->state_id = h.id;
  memcpy(snap, &h, sizeof h);
}

static void restore(void *self, const void *snap)
{
  bramah_fmu_plant *p = self;
  const bramah_fmu *f = p->fmu;
  const unsigned char *numbers = (const unsigned char *)snap + sizeof(head),
                      *bytes = numbers + n_numbers(f) * sizeof(double);
  bramah_diag why;
  head h;
  memcpy(&h, snap, sizeof h);
  if (h.self == p->self && h.id == p->state_id && p->state_id && !p->broken) return; /* here it is */
  bramah_status status = h.is_whole ? BRAMAH_OK
                                    : bramah__failf(&why, BRAMAH_E_ARGUMENT, NULL, 0, f->library->name,
                                                    "its state was not saved: %s",
                                                    p->broken ? p->why.message : "the FMU failed to");
  if (!status) {
    p->broken = BRAMAH_OK;
    p->k = h.k;
    move_numbers(p, (unsigned char *)(uintptr_t)numbers, 1);
    p->is_stale = (int)h.is_stale;
    if (f->report.saving == BRAMAH_FMU_SERIALIZED)
      status = p->i->calls->deserialize(p->i, f->state_bytes, bytes, &why);
    if (f->report.saving == BRAMAH_FMU_KEPT) {
      const slot *kept = kept_as(p, h.id);
      status = h.self == p->self && kept
                   ? p->i->calls->take_back(p->i, kept->kept, &why)
                   : bramah__failf(&why, BRAMAH_E_UNSUPPORTED, NULL, 0, f->library->name,
                                   "its states stay inside the FMU: that of another instance, of another "
                                   "run, or of a snapshot that was "
                                   "overwritten, cannot be restored");
    }
    p->state_id = h.self == p->self ? h.id : 0;
  }
  if (status) broken(p, status, &why);
}

static int is_sound(const void *self, const void *snap)
{
  const bramah_fmu_plant *p = self;
  const size_t n = n_numbers(p->fmu);
  head h;
  memcpy(&h, snap, sizeof h);
  for (size_t i = 0; i < n; i++) {
    double x;
    memcpy(&x, (const unsigned char *)snap + sizeof h + i * sizeof x, sizeof x);
    if (!isfinite(x)) return 0;
  }
  return h.is_whole == 1 && h.k >= 0 && (p->fmu->report.saving != BRAMAH_FMU_KEPT || h.self == p->self);
}

/* ---- parameters ---- */

static void parameter_info(const void *self, size_t i, bramah_parameter_info *info)
{
  const bramah_fmu *f = ((const bramah_fmu_plant *)self)->fmu;
  const port *from = &f->parameter[i];
  const bramah__fmu_scalar *s = from->scalar;
  *info =
      (bramah_parameter_info){.name = from->name, .unit = from->unit, .least = -HUGE_VAL, .most = HUGE_VAL};
  if (i >= f->n_parameter) return; /* an offset */
  info->nominal = si(from, s->start);
  for (size_t k = 0; k < f->n_value[0]; k++)
    if (f->value_reference[0][k] == from->reference) info->nominal = si(from, f->value[0][k]);
  if (s->has_least) info->least = si(from, s->least);
  if (s->has_most) info->most = si(from, s->most);
}

static double parameter(const void *self, size_t i) { return ((const bramah_fmu_plant *)self)->p[i]; }

static bramah_status set_parameter(void *self, size_t i, double value, bramah_diag *diag)
{
  bramah_fmu_plant *p = self;
  const bramah_fmu *f = p->fmu;
  if (p->broken) return complain(p, diag);
  if (i >= f->n_parameter + f->n_input)
    return bramah__failf(diag, BRAMAH_E_ARGUMENT, NULL, 0, "parameter", "there is no such parameter");
  bramah_parameter_info info;
  parameter_info(self, i, &info);
  if (!isfinite(value))
    return bramah__failf(diag, BRAMAH_E_NOT_FINITE, NULL, 0, info.name, "the value is not finite");
  if (value < info.least || value > info.most)
    return bramah__failf(diag, BRAMAH_E_VALUE, NULL, 0, info.name,
                         "the FMU accepts values from %.9g to %.9g %s, not %.9g", info.least, info.most,
                         info.unit, value);
  if (value == p->p[i]) return BRAMAH_OK;
  moved(p);
  p->p[i] = value;
  if (starts_anew(p)) return p->is_stale = 1, BRAMAH_OK;
  if (i >= f->n_parameter) return BRAMAH_OK; /* an offset acts with the next step */
  bramah_status status = give_parameters(p, diag);
  if (!status) status = refresh(p, diag);
  return note(p, status, diag);
}

/* ---- derivatives ---- */

/* x [n] after a step from the state of `snap`, displaced by `by` in state k, or with parameter k - n changed. */
static bramah_status displaced(bramah_fmu_plant *p, const void *snap, size_t k, double by, double *x,
                               bramah_diag *diag)
{
  const bramah_fmu *f = p->fmu;
  restore(p, snap);
  bramah_status status = p->broken ? complain(p, diag) : BRAMAH_OK;
  if (!status && k >= f->n) {
    status = set_parameter(p, k - f->n, p->p[k - f->n] + by, diag);
  } else if (!status) {
    double *dx = p->column + 2 * f->n;
    memset(dx, 0, f->n * sizeof *dx);
    dx[k] = by;
    status = inject(p, dx, diag);
  }
  if (!status) status = step(p, diag);
  memcpy(x, p->v, f->n * sizeof *x);
  return status;
}

/* Column k of the derivative of a step from the state of `snap`, D [n x width]. */
static bramah_status difference(bramah_fmu_plant *p, const void *snap, size_t k, double by, double *D,
                                size_t width, size_t at_column, bramah_diag *diag)
{
  const bramah_fmu *f = p->fmu;
  double *above = p->column, *below = p->column + f->n;
  bramah_status status = displaced(p, snap, k, by, above, diag);
  if (!status) status = displaced(p, snap, k, -by, below, diag);
  for (size_t i = 0; !status && i < f->n; i++) {
    double d = above[i] - below[i];
    if (f->state[i].period > 0.0) d = remainder(d, f->state[i].period);
    D[i * width + at_column] = d / (2.0 * by);
  }
  return status;
}

/* J [n x n_known] of the FMU's `unknown` variables by these ports, SI; factors of `unknown` are those of states. */
static bramah_status ask(bramah_fmu_plant *p, const uint32_t *unknown, size_t n_known, const port *known,
                         double *J, bramah_diag *diag)
{
  const bramah_fmu *f = p->fmu;
  for (size_t k = 0; k < n_known; k++) p->reference[k] = known[k].reference;
  const bramah_status status = p->i->calls->directional(p->i, f->n, unknown, n_known, p->reference, J, diag);
  for (size_t i = 0; !status && i < f->n; i++)
    for (size_t k = 0; k < n_known; k++) {
      J[i * n_known + k] *= f->state[i].factor / known[k].factor;
      if (!isfinite(J[i * n_known + k]))
        return bramah__failf(diag, BRAMAH_E_NOT_FINITE, NULL, 0, f->state[i].scalar->name,
                             "its directional derivative is not finite");
    }
  return status;
}

/* exp of A [m x m], in place; scratch [3 m m]. Scaling and squaring of its series. */
static void exponential(size_t m, double *A, double *scratch)
{
  double *term = scratch, *sum = scratch + m * m, *other = scratch + 2 * m * m, norm = 0.0;
  for (size_t i = 0; i < m; i++) {
    double row = 0.0;
    for (size_t k = 0; k < m; k++) row += fabs(A[i * m + k]);
    norm = fmax(norm, row);
  }
  int halvings = 0;
  for (; norm > 0.25 && halvings < 60; halvings++) norm *= 0.5;
  for (size_t i = 0; i < m * m; i++) {
    A[i] = ldexp(A[i], -halvings);
    term[i] = sum[i] = i % (m + 1) == 0;
  }
  for (int order = 1; order <= 12; order++) {
    bramah__multiply(m, m, m, term, A, other);
    for (size_t i = 0; i < m * m; i++) {
      term[i] = other[i] / order;
      sum[i] += term[i];
    }
  }
  for (; halvings > 0; halvings--) {
    bramah__multiply(m, m, m, sum, sum, other);
    memcpy(sum, other, m * m * sizeof *sum);
  }
  memcpy(A, sum, m * m * sizeof *A);
}

/* Step, with F by the mean of the rates' derivatives at its ends: exp of [A h, h; 0, 0] has F and the integral of it, from which N. */
static bramah_status step_of_rates(bramah_fmu_plant *p, double *F, double *N, bramah_diag *diag)
{
  const bramah_fmu *f = p->fmu;
  const size_t n = f->n, m = 2 * n, nx = n - f->n_dof;
  const double h = 1e-9 * (double)f->map.step_ns;
  double *whole = p->matrix, *first = whole + 4 * m * m, *last = first + n * n;
  bramah_status status = ask(p, f->rate_of, n, f->state, first, diag);
  if (!status) status = step(p, diag);
  if (!status) status = ask(p, f->rate_of, n, f->state, last, diag);
  if (status) return status;
  memset(whole, 0, m * m * sizeof *whole);
  for (size_t i = 0; i < n; i++) {
    for (size_t k = 0; k < n; k++) whole[i * m + k] = 0.5 * h * (first[i * n + k] + last[i * n + k]);
    whole[i * m + n + i] = 1.0;
  }
  exponential(m, whole, whole + m * m);
  for (size_t i = 0; i < n; i++) {
    memcpy(F + i * n, whole + i * m, n * sizeof *F);
    if (N) memcpy(N + i * nx, whole + i * m + n + f->n_dof, nx * sizeof *N);
  }
  return BRAMAH_OK;
}

/* What comes evenly over the step comes half at its start and half at its end: exact for the trapezoidal rule. */
static void even_noise(const bramah_fmu *f, const double *F, double *N)
{
  const size_t n = f->n, nx = n - f->n_dof;
  for (size_t i = 0; N && i < n; i++)
    for (size_t k = 0; k < nx; k++) N[i * nx + k] = 0.5 * (F[i * n + f->n_dof + k] + (i == f->n_dof + k));
}

static bramah_status make_transition(bramah_fmu_plant *p, bramah_fmu_derivatives method, double by, double *F,
                                     double *N, bramah_diag *diag)
{
  const bramah_fmu *f = p->fmu;
  bramah_status status = BRAMAH_OK;
  if (method == BRAMAH_FMU_OF_RATES) return step_of_rates(p, F, N, diag);
  if (method == BRAMAH_FMU_DIFFERENCES) {
    save(p, p->snap);
    for (size_t k = 0; !status && k < f->n; k++)
      status = difference(p, p->snap, k, by * f->state[k].scale, F, f->n, k, diag);
    restore(p, p->snap);
  }
  if (!status) status = step(p, diag);
  if (!status && method == BRAMAH_FMU_OF_STEP) status = ask(p, f->observed, f->n, f->before, F, diag);
  if (!status) even_noise(f, F, N);
  return status;
}

/* By parameters: differences, unless the derivatives of the step are the FMU's own. */
static bramah_status step_transition(void *self, double *F, double *N, size_t n_par, const size_t *par,
                                     double *G, bramah_diag *diag)
{
  bramah_fmu_plant *p = self;
  const bramah_fmu *f = p->fmu;
  if (p->broken) return complain(p, diag);
  bramah_status status = BRAMAH_OK;
  if (n_par) save(p, p->snap);
  for (size_t k = 0; !status && k < n_par; k++) {
    bramah_parameter_info info;
    parameter_info(p, par[k], &info);
    double by = 1e-4 * fmax(fabs(info.nominal), fabs(p->p[par[k]]));
    if (!(by > 0.0)) by = 1e-4;
    const double value = p->p[par[k]];
    if (value + by > info.most || value - by < info.least)
      by = fmin(by, fmax(info.most - value, value - info.least));
    if (value + by <= info.most && value - by >= info.least) {
      status = difference(p, p->snap, f->n + par[k], by, G, n_par, k, diag);
    } else { /* at its limit: to the other side alone */
      const double one_sided = value + by <= info.most ? by : -by;
      double *there = p->column, *here = p->column + f->n;
      status = displaced(p, p->snap, f->n + par[k], one_sided, there, diag);
      restore(p, p->snap);
      if (!status) status = step(p, diag);
      memcpy(here, p->v, f->n * sizeof *here);
      for (size_t i = 0; i < f->n; i++) {
        const double d = there[i] - here[i];
        G[i * n_par + k] = (f->state[i].period > 0.0 ? remainder(d, f->state[i].period) : d) / one_sided;
      }
    }
  }
  if (n_par) restore(p, p->snap);
  if (!status && p->broken) status = complain(p, diag);
  return status ? status : make_transition(p, f->report.derivatives, f->report.difference_step, F, N, diag);
}

/* States are states; other outputs by differences through inject. */
static bramah_status output_row(void *self, size_t i, double *row)
{
  const bramah_fmu *f = ((const bramah_fmu_plant *)self)->fmu;
  if (i >= f->n) return BRAMAH_E_UNSUPPORTED;
  memset(row, 0, f->n * sizeof *row);
  row[i < 2 * f->n_dof ? i / 2 + (i % 2) * f->n_dof : i] = 1.0;
  return BRAMAH_OK;
}

bramah_plant bramah_fmu_plant_table(bramah_fmu_plant *p)
{
  const bramah_fmu *f = p->fmu;
  return (bramah_plant){BRAMAH_PLANT_HEAD,
                        .self = p,
                        .step_ns = f->map.step_ns,
                        .n_dof = f->n_dof,
                        .n_first_order = f->n - 2 * f->n_dof,
                        .n_input = f->n_input,
                        .n_output = f->n + f->n_input + f->n_output,
                        .n_parameter = f->n_parameter + f->n_input,
                        .snapshot_size = snapshot_size(f),
                        .step = step,
                        .inject = inject,
                        .output = output,
                        .save = save,
                        .restore = restore,
                        .set_inputs = set_inputs,
                        .state_info = state_info,
                        .output_info = output_info,
                        .input_name = input_name,
                        .coordinates = coordinates,
                        .step_transition = step_transition,
                        .output_row = output_row,
                        .parameter_info = parameter_info,
                        .parameter = parameter,
                        .set_parameter = set_parameter,
                        .is_sound = is_sound,
                        .input_unit = input_unit};
}

/* ---- instances ---- */

bramah_status bramah_fmu_plant_start(bramah_fmu_plant *p, const double *x, bramah_diag *diag)
{
  const bramah_fmu *f = p->fmu;
  bramah_parameter_info info;
  bramah_status status = BRAMAH_OK;
  p->broken = BRAMAH_OK;
  p->k = 0;
  moved(p);
  for (size_t i = 0; i < f->n_parameter + f->n_input; i++) {
    parameter_info(p, i, &info);
    p->p[i] = info.nominal;
  }
  for (size_t i = 0; i < f->n_input; i++) p->u[i] = si(&f->input[i], f->input[i].scalar->start);
  status = start(p, starts_anew(p) ? x : NULL, diag);
  if (!status) status = refresh(p, diag);
  int differs = 0;
  for (size_t i = 0; !status && x && i < f->n; i++)
    if (!isnan(x[i])) differs |= p->v[i] != x[i], p->v[i] = x[i];
  if (!status && differs) status = give_states(p, diag);
  return note(p, status, diag);
}

bramah_status bramah_fmu_plant_new(const bramah_fmu *f, bramah_diag *diag, bramah_fmu_plant **out)
{
  *out = NULL;
  const size_t n_set = f->n + f->n_parameter + f->n_input + f->n_value[0] + 1, n_shown = f->n + f->n_output,
               m = 2 * f->n;
  bramah_fmu_plant *p = calloc(1, sizeof *p);
  struct timespec when;
  if (!p) return bramah__fail_memory(diag);
  p->fmu = f;
  clock_gettime(CLOCK_REALTIME, &when);
  if (f->report.saving == BRAMAH_FMU_KEPT) /* snapshots of other runs must not look like ours */
    p->self = (uint64_t)(uintptr_t)p ^ ((uint64_t)when.tv_sec << 30) ^ (uint64_t)when.tv_nsec;
  p->u = calloc(f->n_input + 1, sizeof *p->u);
  p->p = calloc(f->n_parameter + f->n_input + 1, sizeof *p->p);
  p->v = calloc(n_shown + 1, sizeof *p->v);
  p->reference = calloc(n_set, sizeof *p->reference);
  p->number = calloc(n_set + n_shown, sizeof *p->number);
  p->snap = calloc(1, sizeof(head) + n_numbers(f) * sizeof(double) + f->state_bytes + 8);
  p->column = calloc(3 * f->n + 1, sizeof *p->column);
  p->matrix = calloc(4 * m * m + 2 * f->n * f->n + 1, sizeof *p->matrix);
  bramah_status status =
      p->u && p->p && p->v && p->reference && p->number && p->snap && p->column && p->matrix
          ? BRAMAH_OK
          : bramah__fail_memory(diag);
  if (!status) status = f->library->instantiate(f->library, diag, &p->i);
  if (!status) status = bramah_fmu_plant_start(p, NULL, diag);
  if (status)
    bramah_fmu_plant_free(p);
  else
    *out = p;
  return status;
}

void bramah_fmu_plant_free(bramah_fmu_plant *p)
{
  if (!p) return;
  for (size_t i = 0; i < p->n_slots; i++) p->i->calls->drop(p->i, &p->slots[i].kept);
  if (p->i) p->i->calls->release(p->i);
  free(p->slots);
  free(p->u);
  free(p->p);
  free(p->v);
  free(p->reference);
  free(p->number);
  free(p->snap);
  free(p->column);
  free(p->matrix);
  free(p);
}

/* ---- trials ---- */

enum { BEFORE = 3, AFTER = 4, FREE = 10 };

static size_t n_shown(const bramah_fmu *f) { return f->n + f->n_output; }

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
    status = step(p, diag);
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
  restore(p, snap);
  if (p->broken || step(p, &diag)) return snprintf(why, size, "%s", p->why.message), 0;
  memcpy(base, p->v, n * sizeof *base);
  for (size_t i = 0; i < n; i++) {
    const char *name = f->state[i].scalar->name;
    restore(p, snap);
    const double wanted = p->v[i] + 1e-3 * f->state[i].scale;
    memset(dx, 0, n * sizeof *dx);
    dx[i] = 1e-3 * f->state[i].scale;
    if (p->broken || inject(p, dx, &diag)) {
      snprintf(why, size, "'%s' cannot be set in step mode: %.200s", name, p->why.message);
      return 0;
    }
    double off = p->v[i] - wanted;
    if (f->state[i].period > 0.0) off = remainder(off, f->state[i].period);
    if (fabs(off) > 1e-6 * f->state[i].scale) {
      snprintf(why, size, "'%s' is accepted in step mode but stays what it was", name);
      return 0;
    }
    if (step(p, &diag)) return snprintf(why, size, "after '%s' was set: %.200s", name, p->why.message), 0;
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
} trial;

/* Goes the FMU on from a saved state to the same bits, and do corrections take effect? */
static int saves(bramah_fmu *f, trial *t, char *why, size_t size)
{
  bramah_diag diag = {.status = BRAMAH_OK};
  bramah_fmu_plant *p;
  int good = 0;
  if (bramah_fmu_plant_new(f, &diag, &p)) return snprintf(why, size, "%s", diag.message), 0;
  bramah_status status = run(p, BEFORE, t->a, &diag);
  const double t0 = seconds();
  if (!status) save(p, t->snap);
  const double t1 = seconds();
  if (!status) status = run(p, AFTER, t->a, &diag);
  const double t2 = seconds();
  if (!status) restore(p, t->snap);
  f->report.save_seconds = t1 - t0 + (seconds() - t2);
  f->report.step_seconds = (t2 - t1) / AFTER;
  if (!status && !p->broken) status = run(p, AFTER, t->b, &diag);
  const char *name = status || p->broken ? NULL : differing(f, AFTER, t->a, t->b);
  if (status || p->broken)
    snprintf(why, size, "%s", p->why.message);
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
      if (status && (anew || !how)) good = snprintf(why, size, "started anew: %.300s", diag.message) < 0;
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
               "states besides "
               "those that are named",
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

/* The length of differences at which ten times it makes no difference: solvers with tolerances want longer ones. Then what the FMU itself
 * gives, where it is the same. */
static bramah_status choose_derivatives(bramah_fmu *f, trial *t, bramah_diag *diag)
{
  static const double lengths[] = {1e-6, 1e-5, 1e-4, 1e-3};
  static const double good_enough = 1e-3;
  bramah_fmu_plant *p;
  bramah_fmu_abilities *r = &f->report;
  const size_t n2 = f->n * f->n;
  double *F = calloc(3 * n2 + 1, sizeof *F), *wider = F + n2, *best = F + 2 * n2;
  if (!F) return bramah__fail_memory(diag);
  bramah_status status = bramah_fmu_plant_new(f, diag, &p);
  if (!status) status = run(p, BEFORE, t->a, diag);
  if (!status) save(p, t->snap);
  r->mismatch = HUGE_VAL;
  r->derivatives = BRAMAH_FMU_DIFFERENCES;
  for (size_t k = 0; !status && f->n && r->mismatch > 1e-4 && k < sizeof lengths / sizeof *lengths; k++) {
    restore(p, t->snap);
    status = make_transition(p, BRAMAH_FMU_DIFFERENCES, lengths[k], F, NULL, diag);
    restore(p, t->snap);
    if (!status) status = make_transition(p, BRAMAH_FMU_DIFFERENCES, 10.0 * lengths[k], wider, NULL, diag);
    const double off = status ? HUGE_VAL : mismatch(f, F, wider);
    if (off >= r->mismatch && k) continue;
    r->mismatch = off;
    r->difference_step = lengths[k];
    memcpy(best, F, n2 * sizeof *best);
  }
  for (int method = BRAMAH_FMU_OF_STEP; !status && !f->map.differences && method < (int)r->derivatives;
       method++) {
    bramah_diag own;
    if (!f->description.directional) {
      snprintf(f->why_differences, sizeof f->why_differences, "it has no directional derivatives");
    } else if (method == BRAMAH_FMU_OF_RATES && !f->has_rates) {
      snprintf(f->why_differences, sizeof f->why_differences,
               "its directional derivatives are not those of its steps, and not all "
               "states have a variable that the FMU calls their derivative");
    } else {
      restore(p, t->snap);
      const bramah_status made = make_transition(p, (bramah_fmu_derivatives)method, 0.0, F, NULL, &own);
      const double off = made ? HUGE_VAL : mismatch(f, F, best);
      if (off <= good_enough) {
        r->derivatives = (bramah_fmu_derivatives)method;
        r->mismatch = off;
        f->why_differences[0] = '\0';
      } else if (made) {
        snprintf(f->why_differences, sizeof f->why_differences, "%.300s", own.message);
      } else {
        snprintf(f->why_differences, sizeof f->why_differences,
                 "its directional derivatives are not those of its steps (off by %.3g)", off);
      }
    }
  }
  r->steps = r->derivatives == BRAMAH_FMU_DIFFERENCES ? 2 * f->n + 1 : 1;
  bramah_fmu_plant_free(p);
  free(F);
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

static bramah_status find_out(bramah_fmu *f, bramah_diag *diag)
{
  bramah_fmu_abilities *r = &f->report;
  const bramah__fmu_description *d = &f->description;
  bramah_fmu_plant *p = NULL;
  trial t = {0};
  bramah_diag own;
  char first[300] = "it has no functions to save its state", second[400] = "";

  /* Does it run at all? And how much is its state? */
  r->saving = BRAMAH_FMU_KEPT;
  bramah_status status = bramah_fmu_plant_new(f, diag, &p);
  if (!status) status = step(p, diag);
  const int has_bytes =
      !status && d->can_serialize && p->i->calls->state_size(p->i, &f->state_bytes, &own) == BRAMAH_OK;
  if (!status && d->can_serialize && !has_bytes) snprintf(first, sizeof first, "%.290s", own.message);
  if (has_bytes && f->state_bytes > (size_t)1 << 28)
    status = bramah__failf(diag, BRAMAH_E_UNSUPPORTED, NULL, 0, f->library->name, "its state takes %zu bytes",
                           f->state_bytes);
  bramah_fmu_plant_free(p);
  if (status) return status;

  r->saving = BRAMAH_FMU_SERIALIZED; /* the largest snapshot */
  t.snap = calloc(1, snapshot_size(f));
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
    snprintf(f->why_not_saved, sizeof f->why_not_saved, "%s", first);
    if (!good)
      status = bramah__failf(diag, BRAMAH_E_UNSUPPORTED, NULL, 0, f->library->name,
                             "the FMU cannot be estimated: %s; %s", first, second);
  }
  r->snapshot_bytes = snapshot_size(f);
  if (!status) status = choose_derivatives(f, &t, diag);
  free(t.snap);
  free(t.a);
  return status;
}

/* ---- opening and closing ---- */

static int copy_text(bramah_fmu *f, const char **text)
{
  if (*text) *text = bramah__pool_text(&f->pool, *text, strlen(*text));
  return *text != NULL;
}

static bramah_status take_room(bramah_fmu *f, const bramah_fmu_mapping *map, bramah_diag *diag)
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

static bramah_status choose_step(bramah_fmu *f, bramah_diag *diag)
{
  const bramah__fmu_description *d = &f->description;
  const double given = d->step_size > 0.0 ? d->step_size : d->fixed_step;
  if (f->map.step_ns == 0 && given > 0.0 && given < 1e6) f->map.step_ns = llround(1e9 * given);
  if (f->map.step_ns <= 0)
    return at(f, diag,
              bramah__failf(diag, BRAMAH_E_KEY, NULL, 0, "step",
                            "the FMU does not say how long its steps are: give 'step'"),
              0);
  const double ratio = d->fixed_step > 0.0 ? 1e-9 * (double)f->map.step_ns / d->fixed_step : 1.0;
  if (fabs(ratio - round(ratio)) > 1e-6 * ratio || ratio < 0.5)
    return at(f, diag,
              bramah__failf(diag, BRAMAH_E_VALUE, NULL, 0, "step",
                            "the FMU makes steps of %.9g s inside: its step must be a multiple of that",
                            d->fixed_step),
              0);
  return BRAMAH_OK;
}

bramah_status bramah_fmu_open(const bramah_fmu_mapping *mapping, bramah_diag *diag, bramah_fmu **out)
{
  char path[4200];
  *out = NULL;
  bramah_diag_clear(diag);
  bramah_fmu *f = calloc(1, sizeof *f);
  if (!f) return bramah__fail_memory(diag);
  bramah_status status = take_room(f, mapping, diag);
  if (!status) status = bramah__fmu_unpack(f->map.path, diag, &f->folder);
  if (!status) {
    snprintf(path, sizeof path, "%s/modelDescription.xml", f->folder);
    status = bramah__fmu_describe(path, diag, &f->description);
    if (status && diag)
      snprintf(diag->file, sizeof diag->file, diag->line ? "%s/modelDescription.xml" : "%s", f->map.path);
  }
  if (!status) status = choose_step(f, diag);
  if (!status) status = bind_ports(f, diag);
  if (!status) status = bind_values(f, diag);
  if (!status && f->description.n < 20000) list_others(f);
  if (!status) status = bramah__fmu_load(f->folder, &f->description, f->map.path, diag, &f->library);
  if (!status) status = find_out(f, diag);
  f->map.positions = NULL, f->map.states = NULL, f->map.inputs = f->map.outputs = f->map.parameters = NULL,
  f->map.values = NULL;
  at(f, diag, status, 0);
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
  r.why_not_saved = f->why_not_saved;
  r.not_estimated = f->not_estimated;
  r.why_differences = f->why_differences;
  return r;
}
