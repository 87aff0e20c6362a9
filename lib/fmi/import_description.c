/* SPDX-License-Identifier: GPL-3.0-or-later */
/* modelDescription.xml of FMI 2.0 and 3.0: what an estimator needs of it. */
#define _GNU_SOURCE /* strtod_l */
#include "lib/fmi/import.h"
#include "lib/io/fail.h"

#include <errno.h>
#include <expat.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LARGEST_FILE = 1 << 28, MOST_MEMORY = 1 << 30, MOST_THINGS = 1 << 21, DEEPEST = 64, BLOCK = 1 << 16 };
enum { MOST_STATES = 2000, MOST_INDICATORS = 100000 }; /* the solver's matrices are full */

typedef struct reading {
  bramah__fmu_description *d;
  const char *file;
  bramah_diag *diag;
  bramah_status status;
  XML_Parser parser;
  locale_t c_locale;
  int depth, in_variables, in_units, in_types, in_structure, in_derivatives, has_root;
  long unit, scalar, type; /* that is being read; -1: none */
} reading;

/* The first mistake ends it. */
static void fail(reading *r, bramah_status status, const char *thing, const char *message)
{
  if (r->status) return;
  r->status =
      bramah__failf(r->diag, status, r->file, (int)XML_GetCurrentLineNumber(r->parser), thing, "%s", message);
  XML_StopParser(r->parser, XML_FALSE);
}

static const char *attribute(const char **attributes, const char *name)
{
  for (; *attributes; attributes += 2)
    if (strcmp(attributes[0], name) == 0) return attributes[1];
  return NULL;
}

/* Texts will stand in messages. */
static const char *keep(reading *r, const char *text)
{
  char *copy = text ? bramah__pool_text(&r->d->pool, text, strlen(text)) : NULL;
  if (copy) bramah_make_printable(copy);
  if (text && !copy)
    fail(r, r->d->pool.full ? BRAMAH_E_VALUE : BRAMAH_E_MEMORY, NULL, "the description is too large");
  return copy;
}

static int number(reading *r, const char **attributes, const char *name, double *out)
{
  char *end;
  const char *text = attribute(attributes, name);
  if (!text) return 0;
  const double value = strtod_l(text, &end, r->c_locale);
  if (end == text || end[strspn(end, " \t\r\n")] || !isfinite(value)) {
    fail(r, BRAMAH_E_SYNTAX, name, "this attribute must be a finite number");
    return 0;
  }
  *out = value;
  return 1;
}

/* Infinite: there is none. */
static int limit(reading *r, const char **attributes, const char *name, double *out)
{
  const char *text = attribute(attributes, name);
  return text && isfinite(strtod_l(text, NULL, r->c_locale)) && number(r, attributes, name, out);
}

/* An unsigned number of 32 bits. */
static int reference(reading *r, const char **attributes, const char *name, uint32_t *out)
{
  char *end;
  const char *text = attribute(attributes, name);
  if (!text) return 0;
  errno = 0;
  const unsigned long long value = strtoull(text, &end, 10);
  if (end == text || *end || *text == '-' || errno || value > UINT32_MAX) {
    fail(r, BRAMAH_E_SYNTAX, name, "this attribute must be a whole number of 32 bits");
    return 0;
  }
  *out = (uint32_t)value;
  return 1;
}

static int is_true(const char **attributes, const char *name)
{
  const char *text = attribute(attributes, name);
  return text && (strcmp(text, "true") == 0 || strcmp(text, "1") == 0);
}

/* Room for one more of n things of `size` bytes. */
static void *more(reading *r, void *list, size_t size, size_t *n, size_t *capacity)
{
  if (*n == *capacity) {
    const size_t grown = *capacity ? 2 * *capacity : 64;
    void *copy = grown > MOST_THINGS ? NULL : realloc(list, grown * size);
    if (!copy) {
      fail(r, grown > MOST_THINGS ? BRAMAH_E_VALUE : BRAMAH_E_MEMORY, NULL, "the description is too large");
      return NULL;
    }
    list = copy;
    *capacity = grown;
  }
  memset((unsigned char *)list + *n * size, 0, size);
  *n += 1;
  return list;
}

/* ---- elements ---- */

static void begin_root(reading *r, const char *element, const char **a)
{
  bramah__fmu_description *d = r->d;
  const char *version = attribute(a, "fmiVersion");
  if (strcmp(element, "fmiModelDescription") != 0) {
    fail(r, BRAMAH_E_SYNTAX, element,
         "this is no modelDescription.xml: its root must be 'fmiModelDescription'");
    return;
  }
  r->has_root = 1;
  d->version = version && strcmp(version, "2.0") == 0 ? 2 : version && strncmp(version, "3.", 2) == 0 ? 3 : 0;
  if (!d->version)
    fail(r, BRAMAH_E_UNSUPPORTED, version ? version : "fmiVersion",
         "FMUs of FMI 2.0 and 3.0 can be used, not of this version");
  d->model = keep(r, attribute(a, "modelName"));
  d->tool = keep(r, attribute(a, "generationTool"));
  d->token = keep(r, attribute(a, d->version == 2 ? "guid" : "instantiationToken"));
  if (!d->token)
    fail(r, BRAMAH_E_SYNTAX, d->version == 2 ? "guid" : "instantiationToken",
         "this attribute of the description is missing");
  uint32_t indicators = 0;
  reference(r, a, "numberOfEventIndicators", &indicators);
  d->n_indicators = indicators;
  if (indicators > MOST_THINGS)
    fail(r, BRAMAH_E_VALUE, "numberOfEventIndicators", "the description is too large");
}

/* Co-simulation, and model exchange of an FMU that has no co-simulation. */
static void begin_interface(reading *r, const char **a, int is_exchange)
{
  bramah__fmu_description *d = r->d;
  const int is2 = d->version == 2;
  if (is_exchange && d->co_simulation) return;
  *(is_exchange ? &d->exchange : &d->co_simulation) = 1;
  d->identifier = keep(r, attribute(a, "modelIdentifier"));
  d->needs_tool = is_true(a, "needsExecutionTool");
  d->once = is_true(a, "canBeInstantiatedOnlyOncePerProcess");
  d->can_get_set = is_true(a, is2 ? "canGetAndSetFMUstate" : "canGetAndSetFMUState");
  d->can_serialize = d->can_get_set && is_true(a, is2 ? "canSerializeFMUstate" : "canSerializeFMUState");
  d->directional = is_true(a, is2 ? "providesDirectionalDerivative" : "providesDirectionalDerivatives");
  d->varying_step = is_exchange || is_true(a, "canHandleVariableCommunicationStepSize");
  d->wants_completed =
      is2 ? !is_true(a, "completedIntegratorStepNotNeeded") : is_true(a, "needsCompletedIntegratorStep");
  if (!is_exchange) number(r, a, "fixedInternalStepSize", &d->fixed_step);
  if (!d->identifier || !*d->identifier || strchr(d->identifier, '/') || strlen(d->identifier) > 200)
    fail(r, BRAMAH_E_SYNTAX, "modelIdentifier", "the name of the library is missing or none");
}

/* The derivative of a continuous state: FMI 2 has its place among the variables, from 1, FMI 3 its reference. */
static void begin_derivative(reading *r, const char **a)
{
  bramah__fmu_description *d = r->d;
  void *grown = more(r, d->rate, sizeof *d->rate, &d->n_state, &d->state_capacity);
  if (!grown) return;
  d->rate = grown;
  if (!reference(r, a, d->version == 2 ? "index" : "valueReference", &d->rate[d->n_state - 1]))
    fail(r, BRAMAH_E_SYNTAX, "ModelStructure", "the derivative of a state is not named");
}

static const bramah__fmu_scalar *scalar_at(const bramah__fmu_description *d, uint32_t index_or_reference)
{
  if (d->version == 2)
    return index_or_reference >= 1 && index_or_reference <= d->n ? &d->scalars[index_or_reference - 1] : NULL;
  for (size_t i = 0; i < d->n; i++)
    if (d->scalars[i].reference == index_or_reference) return &d->scalars[i];
  return NULL;
}

/* The states of model exchange by their derivatives. */
static bramah_status find_states(reading *r)
{
  bramah__fmu_description *d = r->d;
  if (d->n_state > MOST_STATES || d->n_indicators > MOST_INDICATORS)
    return bramah__failf(r->diag, BRAMAH_E_UNSUPPORTED, r->file, 0, d->model,
                         "model exchange with more than %d states or %d event indicators is not done here",
                         (int)MOST_STATES, (int)MOST_INDICATORS);
  d->state = calloc(d->n_state + 1, sizeof *d->state);
  if (!d->state) return bramah__fail_memory(r->diag);
  for (size_t i = 0; i < d->n_state; i++) {
    const bramah__fmu_scalar *rate = scalar_at(d, d->rate[i]);
    const bramah__fmu_scalar *state = rate && rate->has_derivative ? scalar_at(d, rate->derivative) : NULL;
    if (!state || rate->type != BRAMAH__FMU_REAL || state->type != BRAMAH__FMU_REAL)
      return bramah__failf(r->diag, BRAMAH_E_SYNTAX, r->file, 0, rate ? rate->name : d->model,
                           "the model structure has a derivative that is that of no real variable");
    if (state->is_array)
      return bramah__failf(r->diag, BRAMAH_E_UNSUPPORTED, r->file, 0, state->name,
                           "this state is an array: model exchange with such states is not done here");
    d->state[i] = state->reference;
    d->rate[i] = rate->reference;
  }
  return BRAMAH_OK;
}

static bramah__fmu_type type_of(int version, const char *element)
{
  if (version == 2)
    return strcmp(element, "Real") == 0                                             ? BRAMAH__FMU_REAL
           : strcmp(element, "Integer") == 0 || strcmp(element, "Enumeration") == 0 ? BRAMAH__FMU_INTEGER
           : strcmp(element, "Boolean") == 0                                        ? BRAMAH__FMU_BOOLEAN
                                                                                    : BRAMAH__FMU_OTHER;
  return strcmp(element, "Float64") == 0   ? BRAMAH__FMU_REAL
         : strcmp(element, "Int32") == 0   ? BRAMAH__FMU_INTEGER
         : strcmp(element, "Boolean") == 0 ? BRAMAH__FMU_BOOLEAN
                                           : BRAMAH__FMU_OTHER;
}

/* What FMI 2 has in the element inside, FMI 3 in the variable's own. */
static void take_type(reading *r, bramah__fmu_scalar *s, const char *element, const char **a)
{
  s->type = type_of(r->d->version, element);
  s->kind = keep(r, element);
  s->unit = keep(r, attribute(a, "unit"));
  s->declared_type = keep(r, attribute(a, "declaredType"));
  s->has_derivative = reference(r, a, "derivative", &s->derivative);
  if (s->type == BRAMAH__FMU_BOOLEAN) s->start = is_true(a, "start");
  if (s->type == BRAMAH__FMU_INTEGER) {
    const char *start = attribute(a, "start");
    if (start && !strpbrk(start, " \t\r\n")) number(r, a, "start", &s->start);
  }
  if (s->type == BRAMAH__FMU_REAL) {
    const char *start = attribute(a, "start"); /* an array has several */
    number(r, a, "nominal", &s->nominal);
    if (start && !strpbrk(start, " \t\r\n")) s->has_start = number(r, a, "start", &s->start);
    s->has_least = limit(r, a, "min", &s->least);
    s->has_most = limit(r, a, "max", &s->most);
  }
}

static void begin_scalar(reading *r, const char *element, const char **a)
{
  bramah__fmu_description *d = r->d;
  void *grown = more(r, d->scalars, sizeof *d->scalars, &d->n, &d->capacity);
  if (!grown) return;
  d->scalars = grown;
  r->scalar = (long)d->n - 1;
  bramah__fmu_scalar *s = &d->scalars[r->scalar];
  const char *causality = attribute(a, "causality"), *variability = attribute(a, "variability"),
             *initial = attribute(a, "initial");
  s->name = keep(r, attribute(a, "name"));
  if (!s->name || !reference(r, a, "valueReference", &s->reference))
    fail(r, BRAMAH_E_SYNTAX, s->name ? s->name : element, "a variable needs a name and a valueReference");
  s->causality = !causality ? 'l' : strcmp(causality, "independent") == 0 ? 't' : *causality;
  s->variability = !variability ? '~' : strcmp(variability, "continuous") == 0 ? '~' : *variability;
  s->initial = initial ? *initial : '\0';
  s->type = BRAMAH__FMU_OTHER;
  s->kind = "?";
  if (d->version == 3) take_type(r, s, element, a);
}

/* Another name of the variable that is being read (FMI 3). */
static void begin_alias(reading *r, const char **a)
{
  bramah__fmu_description *d = r->d;
  const bramah__fmu_scalar original = d->scalars[r->scalar];
  const char *name = attribute(a, "name");
  void *grown = name ? more(r, d->scalars, sizeof *d->scalars, &d->n, &d->capacity) : NULL;
  if (!grown) return;
  d->scalars = grown;
  d->scalars[d->n - 1] = original;
  d->scalars[d->n - 1].name = keep(r, name);
}

/* Of the variable and of its other names, which stand behind it. */
static void take_dimension(bramah__fmu_description *d, long first)
{
  for (size_t i = (size_t)first; i < d->n; i++) d->scalars[i].is_array = 1;
}

static void begin_unit(reading *r, const char **a)
{
  bramah__fmu_description *d = r->d;
  void *grown = more(r, d->units, sizeof *d->units, &d->n_units, &d->unit_capacity);
  if (!grown) return;
  d->units = grown;
  r->unit = (long)d->n_units - 1;
  d->units[r->unit].name = keep(r, attribute(a, "name"));
  d->units[r->unit].factor = 1.0;
  if (!d->units[r->unit].name) fail(r, BRAMAH_E_SYNTAX, "Unit", "a unit needs a name");
}

static void begin_base_unit(reading *r, const char **a)
{
  static const char *const base[8] = {"kg", "m", "s", "A", "K", "mol", "cd", "rad"};
  bramah__fmu_unit *unit = &r->d->units[r->unit];
  unit->has_base = 1;
  number(r, a, "factor", &unit->factor);
  number(r, a, "offset", &unit->offset);
  if (unit->factor == 0.0) fail(r, BRAMAH_E_VALUE, unit->name, "the factor of a unit must not be 0");
  for (size_t i = 0; i < 8; i++) {
    double exponent = 0.0;
    number(r, a, base[i], &exponent);
    if (fabs(exponent) > 20.0)
      fail(r, BRAMAH_E_VALUE, unit->name, "no unit has such an exponent");
    else
      unit->exponent[i] = (int)exponent;
  }
}

static void begin_type(reading *r, const char **a)
{
  bramah__fmu_description *d = r->d;
  void *grown = more(r, d->types, sizeof *d->types, &d->n_types, &d->type_capacity);
  if (!grown) return;
  d->types = grown;
  r->type = (long)d->n_types - 1;
  d->types[r->type] = (bramah__fmu_named_type){keep(r, attribute(a, "name")), keep(r, attribute(a, "unit"))};
}

static void XMLCALL begin(void *user, const char *element, const char **a)
{
  reading *r = user;
  bramah__fmu_description *d = r->d;
  if (r->status) return;
  r->depth++;
  if (r->depth > DEEPEST)
    fail(r, BRAMAH_E_SYNTAX, element, "elements are nested too deep");
  else if (r->depth == 1)
    begin_root(r, element, a);
  else if (r->depth == 2) {
    r->in_variables = strcmp(element, "ModelVariables") == 0;
    r->in_units = strcmp(element, "UnitDefinitions") == 0;
    r->in_types = strcmp(element, "TypeDefinitions") == 0;
    r->in_structure = strcmp(element, "ModelStructure") == 0;
    if (strcmp(element, "CoSimulation") == 0) begin_interface(r, a, 0);
    if (strcmp(element, "ModelExchange") == 0) begin_interface(r, a, 1);
    if (strcmp(element, "DefaultExperiment") == 0) {
      number(r, a, "startTime", &d->start_time);
      number(r, a, "stepSize", &d->step_size);
    }
  } else if (r->depth == 3 && r->in_variables)
    begin_scalar(r, element, a);
  else if (r->depth == 3 && r->in_units && strcmp(element, "Unit") == 0)
    begin_unit(r, a);
  else if (r->depth == 3 && r->in_types)
    begin_type(r, a);
  else if (r->depth == 3 && r->in_structure) {
    r->in_derivatives = strcmp(element, "Derivatives") == 0;
    if (d->version == 3 && strcmp(element, "ContinuousStateDerivative") == 0) begin_derivative(r, a);
    if (d->version == 3 && strcmp(element, "EventIndicator") == 0) d->n_indicators++;
  } else if (r->depth == 4 && r->in_structure && r->in_derivatives && strcmp(element, "Unknown") == 0)
    begin_derivative(r, a);
  else if (r->depth == 4 && r->in_types && d->version == 2 && r->type >= 0 && strcmp(element, "Real") == 0)
    d->types[r->type].unit = keep(r, attribute(a, "unit"));
  else if (r->depth == 4 && r->unit >= 0 && strcmp(element, "BaseUnit") == 0)
    begin_base_unit(r, a);
  else if (r->depth == 4 && r->scalar >= 0) {
    if (d->version == 2 && strcmp(element, "Annotations") != 0)
      take_type(r, &d->scalars[r->scalar], element, a);
    if (d->version == 3 && strcmp(element, "Dimension") == 0) take_dimension(d, r->scalar);
    if (d->version == 3 && strcmp(element, "Alias") == 0) begin_alias(r, a);
    if (d->version == 3 && strcmp(element, "Start") == 0) d->scalars[r->scalar].has_start = 1;
  }
}

static void XMLCALL end(void *user, const char *element)
{
  reading *r = user;
  (void)element;
  if (r->depth == 3) r->scalar = r->unit = r->type = -1;
  if (r->depth == 3) r->in_derivatives = 0;
  if (r->depth == 2) r->in_variables = r->in_units = r->in_types = r->in_structure = 0;
  r->depth--;
}

/* Entities could make gigabytes of a line. */
static void XMLCALL refuse_doctype(void *user, const char *name, const char *system, const char *public,
                                   int subset)
{
  (void)system, (void)public, (void)subset;
  fail(user, BRAMAH_E_SYNTAX, name, "a description has no document type declaration");
}

/* ---- the whole ---- */

static bramah_status finish(reading *r, bramah_status status)
{
  const enum XML_Error error = XML_GetErrorCode(r->parser);
  if (r->status) return r->status;
  if (status == BRAMAH_OK && error)
    status = bramah__failf(r->diag, error == XML_ERROR_NO_MEMORY ? BRAMAH_E_MEMORY : BRAMAH_E_SYNTAX, r->file,
                           (int)XML_GetCurrentLineNumber(r->parser), NULL, "%s", XML_ErrorString(error));
  if (status == BRAMAH_OK && !r->d->co_simulation && !r->d->exchange)
    status = bramah__failf(r->diag, BRAMAH_E_UNSUPPORTED, r->file, 0, r->d->model,
                           "this FMU has neither co-simulation nor model exchange");
  if (status == BRAMAH_OK && r->d->needs_tool)
    status = bramah__failf(r->diag, BRAMAH_E_UNSUPPORTED, r->file, 0, "needsExecutionTool",
                           "this FMU needs the tool that made it: it has no model of its own");
  if (status == BRAMAH_OK && !r->d->co_simulation) status = find_states(r);
  return status;
}

static bramah_status open_reading(reading *r, const char *file, bramah_diag *diag, bramah__fmu_description *d)
{
  *d = (bramah__fmu_description){.pool = {.most = MOST_MEMORY}};
  *r = (reading){.d = d, .file = file, .diag = diag, .unit = -1, .scalar = -1, .type = -1};
  r->parser = XML_ParserCreate(NULL);
  r->c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
  if (!r->parser || !r->c_locale) return bramah__fail_memory(diag);
  XML_SetUserData(r->parser, r);
  XML_SetElementHandler(r->parser, begin, end);
  XML_SetStartDoctypeDeclHandler(r->parser, refuse_doctype);
  return BRAMAH_OK;
}

static void close_reading(reading *r)
{
  if (r->parser) XML_ParserFree(r->parser);
  if (r->c_locale) freelocale(r->c_locale);
}

bramah_status bramah__fmu_describe_text(const char *name, const char *text, size_t length, bramah_diag *diag,
                                        bramah__fmu_description *out)
{
  reading r;
  bramah_status status = open_reading(&r, name, diag, out);
  if (!status && length > LARGEST_FILE)
    status = bramah__failf(diag, BRAMAH_E_VALUE, name, 0, NULL, "the description is too large");
  if (!status) {
    XML_Parse(r.parser, text, (int)length, 1);
    status = finish(&r, status);
  }
  close_reading(&r);
  return status;
}

bramah_status bramah__fmu_describe(const char *path, bramah_diag *diag, bramah__fmu_description *out)
{
  reading r;
  char block[BLOCK];
  size_t total = 0;
  *out = (bramah__fmu_description){0};
  FILE *file = fopen(path, "rbe");
  if (!file)
    return bramah__failf(diag, BRAMAH_E_SYNTAX, NULL, 0, "modelDescription.xml",
                         "the archive has no such file: it is no FMU");
  bramah_status status = open_reading(&r, "modelDescription.xml", diag, out);
  for (size_t n = 1; !status && n > 0;) {
    n = fread(block, 1, sizeof block, file);
    total += n;
    if (total > LARGEST_FILE)
      status = bramah__failf(diag, BRAMAH_E_VALUE, r.file, 0, NULL, "the description is too large");
    if (!status && XML_Parse(r.parser, block, (int)n, n == 0) == XML_STATUS_ERROR) break;
  }
  if (!status) status = finish(&r, status);
  close_reading(&r);
  fclose(file);
  return status;
}

void bramah__fmu_forget(bramah__fmu_description *d)
{
  free(d->scalars);
  free(d->units);
  free(d->types);
  free(d->state);
  free(d->rate);
  bramah__pool_free(&d->pool);
  *d = (bramah__fmu_description){0};
}
