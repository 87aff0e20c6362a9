/* SPDX-License-Identifier: GPL-3.0-or-later */
/* An imported FMU behind the plant interface: steps, corrections, saved states, parameters, derivatives. */
#define _GNU_SOURCE /* locale_t, clock_gettime */
#include "lib/fmi/import_plant.h"
#include "lib/io/fail.h"
#include "lib/math/dense.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* What a snapshot begins with; u, p, v and the FMU's bytes follow. */
typedef struct head {
  uint64_t self, id;
  int64_t k;
  uint32_t is_whole; /* 0: saving failed */
  uint32_t is_stale;
} head;

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
  bramah_diag own;
  if (!diag) bramah__failf(&own, status, NULL, 0, p->fmu->library->name, "the FMU has failed before");
  return broken(p, status, diag ? diag : &own);
}

static bramah_status complain(const bramah_fmu_plant *p, bramah_diag *diag)
{
  if (diag) *diag = p->why;
  return p->broken;
}

/* All that is shown, from the FMU: reals at once, each of the others alone. */
static bramah_status refresh(bramah_fmu_plant *p, bramah_diag *diag)
{
  const bramah_fmu *f = p->fmu;
  const size_t n = n_shown(f);
  size_t n_real = 0;
  for (size_t i = 0; i < n; i++)
    if (!is_whole(observed(f, i))) p->reference[n_real++] = observed(f, i)->reference;
  bramah_status status = n_real ? p->i->calls->get(p->i, n_real, p->reference, p->number, diag) : BRAMAH_OK;
  for (size_t i = 0, k = 0; !status && i < n; i++) {
    const port *of = observed(f, i);
    double value = 0.0;
    if (is_whole(of))
      status =
          p->i->calls->get_whole(p->i, of->reference, of->scalar->type == BRAMAH__FMU_BOOLEAN, &value, diag);
    else
      value = p->number[k++];
    p->v[i] = si(of, value);
    if (!status && !isfinite(p->v[i]))
      return bramah__failf(diag, BRAMAH_E_NOT_FINITE, NULL, 0, of->scalar->name,
                           "the FMU gives no finite number");
  }
  p->is_stale = 0;
  return status;
}

static double input_value(const bramah_fmu_plant *p, size_t i)
{
  return own(&p->fmu->input[i], p->u[i] + p->p[p->fmu->n_parameter + i]);
}

/* Whole numbers and truth values one by one. */
static bramah_status give_whole_inputs(bramah_fmu_plant *p, bramah_diag *diag)
{
  bramah_status status = BRAMAH_OK;
  for (size_t i = 0; !status && i < p->fmu->n_input; i++) {
    const port *to = &p->fmu->input[i];
    if (is_whole(to))
      status = p->i->calls->set_whole(p->i, to->reference, to->scalar->type == BRAMAH__FMU_BOOLEAN,
                                      input_value(p, i), diag);
  }
  return status;
}

/* Of the real inputs references and values, behind n that are there; how many there are then. */
static size_t put_inputs(bramah_fmu_plant *p, size_t n)
{
  for (size_t i = 0; i < p->fmu->n_input; i++) {
    if (is_whole(&p->fmu->input[i])) continue;
    p->reference[n] = p->fmu->input[i].reference;
    p->number[n++] = input_value(p, i);
  }
  return n;
}

static bramah_status give_inputs(bramah_fmu_plant *p, bramah_diag *diag)
{
  const size_t n = put_inputs(p, 0);
  const bramah_status status = n ? p->i->calls->set(p->i, n, p->reference, p->number, diag) : BRAMAH_OK;
  return status ? status : give_whole_inputs(p, diag);
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
  n = put_inputs(p, n);
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
  const bramah_status status = p->i->calls->initialize(p->i, again, &s, diag);
  return status ? status : give_whole_inputs(p, diag);
}

static int starts_anew(const bramah_fmu_plant *p) { return p->fmu->report.saving == BRAMAH_FMU_STARTED_ANEW; }

/* The state differs from all that were saved. */
static void moved(bramah_fmu_plant *p) { p->state_id = 0; }

/* ---- the table's functions ---- */

bramah_status bramah__fmu_step(void *self, bramah_diag *diag)
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

bramah_status bramah__fmu_inject(void *self, const double *dx, bramah_diag *diag)
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

size_t bramah__fmu_snapshot_size(const bramah_fmu *f)
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

void bramah__fmu_save(const void *self, void *snap)
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
  memset(snap, 0, bramah__fmu_snapshot_size(f));
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

void bramah__fmu_restore(void *self, const void *snap)
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
                                   "run, or of a snapshot that was overwritten, cannot be restored");
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
  bramah__fmu_restore(p, snap);
  bramah_status status = p->broken ? complain(p, diag) : BRAMAH_OK;
  if (!status && k >= f->n) {
    status = set_parameter(p, k - f->n, p->p[k - f->n] + by, diag);
  } else if (!status) {
    double *dx = p->column + 2 * f->n;
    memset(dx, 0, f->n * sizeof *dx);
    dx[k] = by;
    status = bramah__fmu_inject(p, dx, diag);
  }
  if (!status) status = bramah__fmu_step(p, diag);
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
  if (!status) status = bramah__fmu_step(p, diag);
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

bramah_status bramah__fmu_transition(bramah_fmu_plant *p, bramah_fmu_derivatives method, double by, double *F,
                                     double *N, bramah_diag *diag)
{
  const bramah_fmu *f = p->fmu;
  bramah_status status = BRAMAH_OK;
  if (method == BRAMAH_FMU_OF_RATES) return step_of_rates(p, F, N, diag);
  if (method == BRAMAH_FMU_DIFFERENCES) {
    bramah__fmu_save(p, p->snap);
    for (size_t k = 0; !status && k < f->n; k++)
      status = difference(p, p->snap, k, by * f->state[k].scale, F, f->n, k, diag);
    bramah__fmu_restore(p, p->snap);
  }
  if (!status) status = bramah__fmu_step(p, diag);
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
  if (n_par) bramah__fmu_save(p, p->snap);
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
      bramah__fmu_restore(p, p->snap);
      if (!status) status = bramah__fmu_step(p, diag);
      memcpy(here, p->v, f->n * sizeof *here);
      for (size_t i = 0; i < f->n; i++) {
        const double d = there[i] - here[i];
        G[i * n_par + k] = (f->state[i].period > 0.0 ? remainder(d, f->state[i].period) : d) / one_sided;
      }
    }
  }
  if (n_par) bramah__fmu_restore(p, p->snap);
  if (!status && p->broken) status = complain(p, diag);
  return status ? status
                : bramah__fmu_transition(p, f->report.derivatives, f->report.difference_step, F, N, diag);
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
                        .snapshot_size = bramah__fmu_snapshot_size(f),
                        .step = bramah__fmu_step,
                        .inject = bramah__fmu_inject,
                        .output = output,
                        .save = bramah__fmu_save,
                        .restore = bramah__fmu_restore,
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
  const size_t n_set = f->n + f->n_parameter + f->n_input + f->n_value[0] + 1, m = 2 * f->n;
  bramah_fmu_plant *p = calloc(1, sizeof *p);
  struct timespec when;
  if (!p) return bramah__fail_memory(diag);
  p->fmu = f;
  clock_gettime(CLOCK_REALTIME, &when);
  if (f->report.saving == BRAMAH_FMU_KEPT) /* snapshots of other runs must not look like ours */
    p->self = (uint64_t)(uintptr_t)p ^ ((uint64_t)when.tv_sec << 30) ^ (uint64_t)when.tv_nsec;
  p->u = calloc(f->n_input + 1, sizeof *p->u);
  p->p = calloc(f->n_parameter + f->n_input + 1, sizeof *p->p);
  p->v = calloc(n_shown(f) + 1, sizeof *p->v);
  p->reference = calloc(n_set + n_shown(f), sizeof *p->reference);
  p->number = calloc(n_set + n_shown(f), sizeof *p->number);
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
