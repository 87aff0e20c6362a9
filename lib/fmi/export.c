/* SPDX-License-Identifier: GPL-3.0-or-later */
/* An FMU of a machine or a study: C source as `bramah compile` writes it, behind fmu.c.in, which is the same for all, with a table of
 * variables; compiled here; described as the standard wants it. */
#define _DEFAULT_SOURCE /* mkdtemp */
#define _POSIX_C_SOURCE 200809L
#include "bramah/alarm.h"
#include "bramah/fmu.h"
#include "bramah/sensor.h"
#include "bramah/units.h"
#include "lib/base/text.h"
#include "lib/io/fail.h"
#include "lib/io/session.h"

#ifndef BRAMAH_FMI
bramah_status bramah_fmu_write(const char *path, int64_t step_ns, int version, const char *output,
                               bramah_diag *diag, bramah_fmu_report *report)
{
  (void)step_ns, (void)version, (void)output, (void)report;
  return bramah__failf(diag, BRAMAH_E_UNSUPPORTED, path, 0, NULL,
                       "this bramah was built without libzip and expat, which FMUs need");
}
#else

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zip.h>

extern char **environ;

/* Texts that the build puts into the library. */
extern const char bramah__fmu_elementary_h[], bramah__fmu_elementary_c[], bramah__innovation_tests_h[],
    bramah__innovation_tests_c[], bramah__alarm_windows[];
extern const char bramah__fmu_icon[], bramah__fmu_code[], bramah__fmi2_functions[],
    bramah__fmi2_function_types[], bramah__fmi2_platform[], bramah__fmi3_functions[],
    bramah__fmi3_function_types[], bramah__fmi3_platform[];

/* ---- what is described ---- */

/* Kinds of fmu.c.in, by the names they have there. */
typedef struct variable {
  char *name;
  const char *unit; /* NULL: a Boolean or an integer */
  const char *kind, *causality, *variability, *initial, *what;
  size_t index;
  int has_start;
  double start, least, most, nominal; /* least, most: infinite where there is none; nominal: 0 */
} variable;

typedef struct description {
  const char *title;
  int version, is_filter;
  const bramah_plant *plant;
  const bramah_machine_plant *machine;
  const bramah_session *session; /* of a study */
  bramah_c_source source;
  size_t n_variables, room;
  variable *variables;
  char token[40];
  bramah_fmu_report report;
  char *page[16]; /* what is written, to be released */
  size_t n_pages;
  int failed;    /* no memory */
  variable none; /* that is filled in then */
} description;

static variable *add(description *d, const char *kind, size_t index, const char *prefix, const char *name,
                     const char *unit)
{
  if (d->n_variables == d->room) {
    const size_t room = 2 * d->room + 64;
    variable *more = realloc(d->variables, room * sizeof *more);
    if (!more) {
      d->failed = 1;
      return &d->none;
    }
    d->variables = more;
    d->room = room;
  }
  const size_t n = strlen(prefix) + strlen(name) + 1;
  char *own = malloc(n);
  if (!own) {
    d->failed = 1;
    return &d->none;
  }
  snprintf(own, n, "%s%s", prefix, name);
  variable *v = &d->variables[d->n_variables++];
  *v = (variable){.name = own,
                  .unit = unit,
                  .kind = kind,
                  .index = index,
                  .causality = "output",
                  .variability = unit ? "continuous" : "discrete",
                  .initial = "calculated",
                  .what = "",
                  .least = -INFINITY,
                  .most = INFINITY};
  return v;
}

static void start_at(variable *v, double start)
{
  v->has_start = 1;
  v->start = start;
}

static void add_inputs(description *d)
{
  const bramah_plant *plant = d->plant;
  for (size_t i = 0; i < plant->n_input; i++) {
    const char *name = plant->input_name ? plant->input_name(plant->self, i) : "input";
    char command[256];
    bramah_output_info info = {.unit = "1"};
    snprintf(command, sizeof command, "%s.command", name);
    const long output = bramah_plant_find_output(plant, command);
    if (output >= 0) bramah_plant_output_info(plant, (size_t)output, &info);
    variable *v = add(d, "INPUT", i, "", name, info.unit);
    v->causality = "input";
    v->initial = NULL;
    v->what = "Held over a step";
    start_at(v, output >= 0 ? plant->output(plant->self, (size_t)output) : 0.0);
    d->report.n_inputs++;
  }
}

static void add_measurements(description *d)
{
  const bramah_session_parts *parts = bramah_session_about(d->session);
  for (size_t i = 0; i < parts->study->n_sensors; i++) {
    const bramah_sensor *sensor = &parts->sensors[i];
    variable *y = add(d, "MEASUREMENT", i, "measured.", sensor->name, sensor->unit);
    y->what = "Measurement of the present time, where it is valid";
    variable *valid = add(d, "VALID", i, "valid.", sensor->name, NULL);
    valid->what = "Is there such a measurement?";
    for (size_t k = 0; k < 2; k++) {
      variable *v = &d->variables[d->n_variables - 1 - k];
      if (d->failed) return;
      v->causality = "input";
      v->initial = NULL;
      start_at(v, 0.0);
    }
    d->report.n_inputs += 2;
  }
}

/* States may be set where they start. */
static void be_state(description *d, variable *v, size_t k, const double *x)
{
  bramah_state_info state;
  bramah_plant_state_info(d->plant, k, &state);
  v->kind = "STATE";
  v->index = k;
  v->initial = "exact";
  v->nominal = state.scale;
  v->what = d->is_filter ? "Estimate; may be set where it starts" : "State; may be set";
  start_at(v, x[k]);
}

static void add_outputs(description *d, const double *x)
{
  const bramah_plant *plant = d->plant;
  const size_t n = bramah_plant_n_error(plant);
  for (size_t i = 0; i < d->source.n_outputs; i++) {
    bramah_output_info info;
    bramah_plant_output_info(plant, d->source.output[i], &info);
    variable *v = add(d, "OUTPUT", i, "", info.name, info.unit);
    v->what = d->is_filter ? "Estimate" : "";
    for (size_t k = 0; k < n; k++) {
      bramah_state_info state;
      bramah_plant_state_info(plant, k, &state);
      if (strcmp(state.name, info.name) == 0) be_state(d, v, k, x);
    }
    d->report.n_outputs++;
  }
  for (size_t k = 0; k < n; k++) { /* those that no output shows */
    bramah_state_info state;
    int shown = 0;
    bramah_plant_state_info(plant, k, &state);
    for (size_t i = 0; i < d->n_variables; i++)
      shown |= strcmp(d->variables[i].kind, "STATE") == 0 && d->variables[i].index == k;
    if (!shown) be_state(d, add(d, "STATE", k, "", state.name, state.unit), k, x);
    d->report.n_outputs += !shown;
  }
}

/* Outputs that the source does not have; commands are inputs. */
static void count_left_out(description *d)
{
  for (size_t i = 0; i < d->plant->n_output; i++) {
    bramah_output_info info;
    bramah_plant_output_info(d->plant, i, &info);
    int there = info.hidden;
    for (size_t k = 0; k < d->source.n_outputs; k++) there |= d->source.output[k] == i;
    for (size_t k = 0; k < d->plant->n_input; k++) {
      const char *name = d->plant->input_name(d->plant->self, k);
      const size_t n = strlen(name);
      there |= strncmp(info.name, name, n) == 0 && strcmp(info.name + n, ".command") == 0;
    }
    if (there) continue;
    char *text = d->report.left_out;
    const size_t used = strlen(text), room = sizeof d->report.left_out - used;
    if (snprintf(text + used, room, "%s%s", used ? ", " : "", info.name) >= (int)room)
      memcpy(text + used + room - 4, "...", 4);
    if (used + 4 >= sizeof d->report.left_out) return;
  }
}

/* Where the last step began: for derivatives of a step. */
static void add_previous(description *d)
{
  for (size_t k = 0; k < bramah_plant_n_error(d->plant); k++) {
    bramah_state_info state;
    bramah_plant_state_info(d->plant, k, &state);
    variable *v = add(d, "PREVIOUS", k, "previous.", state.name, state.unit);
    v->causality = "local";
    v->variability = "discrete";
    v->what = "Where the last step began; directional derivatives by it are those of that step";
  }
}

static void add_estimator(description *d)
{
  const bramah_session_parts *parts = bramah_session_about(d->session);
  for (size_t i = 0; i < d->source.n_outputs; i++) {
    bramah_output_info info;
    bramah_plant_output_info(d->plant, d->source.output[i], &info);
    if (info.has_row)
      add(d, "SIGMA", i, "sigma.", info.name, info.unit)->what = "Standard deviation; -1: there is none now";
  }
  for (size_t i = 0; i < parts->options.n_augmented; i++) {
    const char *name = parts->options.augmented[i].name, *unit = parts->augmented_unit[i];
    add(d, "ESTIMATED", i, "estimated.", name, unit)->what =
        "Estimated or considered besides the machine's states";
    add(d, "ESTIMATED_SIGMA", i, "sigma.estimated.", name, unit)->what = "Standard deviation";
  }
  for (size_t i = 0; i < parts->study->n_sensors; i++) {
    const bramah_sensor *s = &parts->sensors[i];
    add(d, "INNOVATION", i, "innovation.", s->name, s->unit)->what =
        "Measured less predicted, 0 without a measurement";
    add(d, "NIS", i, "nis.", s->name, "1")->what = "Its square by its variance";
    add(d, "ACCEPTED", i, "accepted.", s->name, NULL)->what = "It was fused";
    add(d, "FAULTY", i, "faulty.", s->name, NULL)->what = "Alarm: rejected time after time";
    add(d, "ALARM", i, "alarm.", s->name, NULL)->what =
        "Alarm: innovations whose mean, variance or correlation is no accident";
  }
  add(d, "ALL_NIS", 0, "", "nis", "1")->what = "Of all that was fused together";
  add(d, "ALL_DOF", 0, "", "nis_dof", NULL)->what = "How many measurements that were";
  add(d, "ALARM", parts->study->n_sensors, "", "alarm", NULL)->what =
      "Alarm: the innovations of all sensors jointly are too large to be an accident";
  add(d, "CONTRADICTED", 0, "", "contradicted", NULL)->what =
      "Verdict so far: one of these alarms has been raised since the start";
  add(d, "RECOVERED", 0, "", "recovered", NULL)->what =
      "Alarm: no sensor agreed with the filter, whose covariance was inflated";
}

static void add_parameters(description *d)
{
  const bramah_session_parts *parts = d->session ? bramah_session_about(d->session) : NULL;
  for (size_t i = 0; i < d->plant->n_parameter; i++) {
    bramah_parameter_info info;
    int estimated = 0;
    d->plant->parameter_info(d->plant->self, i, &info);
    for (size_t k = 0; parts && k < parts->options.n_augmented; k++)
      estimated |= parts->options.augmented[k].kind == BRAMAH_AUGMENTED_PARAMETER &&
                   strcmp(parts->options.augmented[k].at, info.name) == 0;
    if (estimated) continue;
    variable *v = add(d, "PARAMETER", i, "parameter.", info.name, info.unit);
    v->causality = "parameter";
    v->variability = "tunable";
    v->initial = "exact";
    v->what = "From the next step on";
    v->least = info.least;
    v->most = info.most;
    start_at(v, d->plant->parameter(d->plant->self, i));
  }
}

static bramah_status describe(description *d, const char *path, bramah_diag *diag)
{
  double *x = calloc(bramah_plant_n_error(d->plant) + 1, sizeof *x);
  if (!x) return bramah__fail_memory(diag);
  (void)bramah_plant_coordinates(d->plant, x);
  variable *time = add(d, "TIME", 0, "", "time", "s");
  time->causality = "independent";
  time->initial = NULL;
  add_inputs(d);
  if (d->is_filter) add_measurements(d);
  add_outputs(d, x);
  count_left_out(d);
  if (d->is_filter)
    add_estimator(d);
  else
    add_previous(d);
  add(d, "COARSE", 0, "", "coarse", NULL)->what = "The error of the last step was larger than the tolerance";
  add_parameters(d);
  free(x);
  if (d->failed) return bramah__fail_memory(diag);
  for (size_t i = 0; i < d->n_variables; i++)
    for (size_t k = 0; k < i; k++)
      if (strcmp(d->variables[i].name, d->variables[k].name) == 0)
        return bramah__failf(diag, BRAMAH_E_UNSUPPORTED, path, 0, d->variables[i].name,
                             "two variables of the FMU would have this name");
  d->report.n_variables = d->n_variables;
  return BRAMAH_OK;
}

/* ---- texts ---- */

static void put_number(FILE *file, double x)
{
  char text[BRAMAH__NUMBER_SIZE];
  bramah__format_number(text, x, 17);
  fputs(text, file);
}

/* Between tags or in quotes. */
static void put_text(FILE *file, const char *text)
{
  for (; *text; text++) switch (*text) {
    case '<':
      fputs("&lt;", file);
      break;
    case '>':
      fputs("&gt;", file);
      break;
    case '&':
      fputs("&amp;", file);
      break;
    case '"':
      fputs("&quot;", file);
      break;
    default:
      if ((unsigned char)*text >= ' ') fputc(*text, file);
    }
}

static void put_attribute(FILE *file, const char *name, const char *value)
{
  if (!value || !*value) return;
  fprintf(file, " %s=\"", name);
  put_text(file, value);
  fputc('"', file);
}

static void put_attribute_number(FILE *file, const char *name, double value)
{
  fprintf(file, " %s=\"", name);
  put_number(file, value);
  fputc('"', file);
}

/* Units that people read. */
static const struct {
  const char *unit, *display;
} displays[] = {
    {"rad", "deg"}, {"rad/s", "deg/s"}, {"rad/s^2", "deg/s^2"}, {"Pa", "bar"}, {"m^3/s", "L/min"}};

static const char *display_of(const char *unit)
{
  for (size_t k = 0; k < sizeof displays / sizeof *displays; k++)
    if (strcmp(unit, displays[k].unit) == 0) return displays[k].display;
  return NULL;
}

static void put_unit(FILE *file, const char *unit)
{
  bramah_dimension e;
  double factor, shown;
  fputs("    <Unit", file);
  put_attribute(file, "name", unit);
  fputs(">\n", file);
  if (bramah_unit_parse(unit, &factor, &e, NULL) == BRAMAH_OK) {
    /* V = kg m^2 s^-3 A^-1; exponents are counted in halves */
    const struct {
      const char *name;
      int twice;
    } base[] = {{"kg", e.kg + e.volt},
                {"m", e.m + 2 * e.volt},
                {"s", e.s - 3 * e.volt},
                {"A", -e.volt},
                {"rad", e.rad}};
    int odd = 0;
    for (size_t k = 0; k < 5; k++) odd |= base[k].twice % 2;
    if (!odd) fputs("      <BaseUnit", file);
    for (size_t k = 0; k < 5 && !odd; k++)
      if (base[k].twice) fprintf(file, " %s=\"%d\"", base[k].name, base[k].twice / 2);
    if (!odd && factor != 1.0) put_attribute_number(file, "factor", factor);
    if (!odd) fputs("/>\n", file);
    const char *display = display_of(unit);
    if (display && bramah_unit_parse(display, &shown, &e, NULL) == BRAMAH_OK) {
      fputs("      <DisplayUnit", file);
      put_attribute(file, "name", display);
      put_attribute_number(file, "factor", factor / shown);
      fputs("/>\n", file);
    }
  }
  fputs("    </Unit>\n", file);
}

static void put_units(FILE *file, const description *d)
{
  fputs("  <UnitDefinitions>\n", file);
  for (size_t i = 0; i < d->n_variables; i++) {
    int known = !d->variables[i].unit;
    for (size_t k = 0; k < i && !known; k++)
      known = d->variables[k].unit && strcmp(d->variables[k].unit, d->variables[i].unit) == 0;
    if (!known) put_unit(file, d->variables[i].unit);
  }
  fputs("  </UnitDefinitions>\n", file);
}

/* The position of which this variable is the rate; d->n_variables: of none. Estimates jump where measurements correct them. */
static size_t position_of(const description *d, const variable *v)
{
  const size_t n = d->plant->n_dof;
  size_t k = 0;
  if (d->is_filter || strcmp(v->kind, "STATE") != 0 || v->index < n || v->index >= 2 * n)
    return d->n_variables;
  while (k < d->n_variables &&
         (strcmp(d->variables[k].kind, "STATE") != 0 || d->variables[k].index != v->index - n))
    k++;
  return k;
}

static void put_variable(FILE *file, const description *d, size_t i)
{
  const variable *v = &d->variables[i];
  const int is_integer = strcmp(v->kind, "ALL_DOF") == 0;
  const char *type = v->unit      ? (d->version == 3 ? "Float64" : "Real")
                     : is_integer ? (d->version == 3 ? "Int32" : "Integer")
                                  : "Boolean";
  fprintf(file, "    <%s", d->version == 3 ? type : "ScalarVariable");
  put_attribute(file, "name", v->name);
  fprintf(file, " valueReference=\"%zu\"", i);
  put_attribute(file, "description", v->what);
  put_attribute(file, "causality", v->causality);
  put_attribute(file, "variability", v->variability);
  put_attribute(file, "initial", v->initial);
  if (d->version == 2) fprintf(file, "><%s", type);
  put_attribute(file, "unit", v->unit);
  if (v->unit) put_attribute(file, "displayUnit", display_of(v->unit));
  if (isfinite(v->least)) put_attribute_number(file, "min", v->least);
  if (isfinite(v->most)) put_attribute_number(file, "max", v->most);
  if (v->nominal > 0.0) put_attribute_number(file, "nominal", v->nominal);
  if (v->has_start && v->unit) put_attribute_number(file, "start", v->start);
  const size_t position = position_of(d, v);
  if (position < d->n_variables)
    fprintf(file, " derivative=\"%zu\"", d->version == 3 ? position : position + 1);
  if (v->has_start && !v->unit) put_attribute(file, "start", "false");
  fputs(d->version == 3 ? "/>\n" : "/></ScalarVariable>\n", file);
}

/* Outputs, and what has to be computed before it is known at the start; of version 2 by place, from 1. */
static void put_structure(FILE *file, const description *d)
{
  fputs("  <ModelStructure>\n", file);
  if (d->version == 2) fputs("    <Outputs>\n", file);
  for (size_t i = 0; i < d->n_variables; i++)
    if (strcmp(d->variables[i].causality, "output") == 0)
      fprintf(file,
              d->version == 3 ? "    <Output valueReference=\"%zu\"/>\n" : "      <Unknown index=\"%zu\"/>\n",
              d->version == 3 ? i : i + 1);
  if (d->version == 2) fputs("    </Outputs>\n    <InitialUnknowns>\n", file);
  for (size_t i = 0; i < d->n_variables; i++)
    if (strcmp(d->variables[i].causality, "output") == 0 &&
        strcmp(d->variables[i].initial, "calculated") == 0)
      fprintf(file,
              d->version == 3 ? "    <InitialUnknown valueReference=\"%zu\"/>\n"
                              : "      <Unknown index=\"%zu\"/>\n",
              d->version == 3 ? i : i + 1);
  if (d->version == 2) fputs("    </InitialUnknowns>\n", file);
  fputs("  </ModelStructure>\n", file);
}

/* Are all names such that simulators may show them as a tree? */
static int is_structured(const description *d)
{
  for (size_t i = 0; i < d->n_variables; i++) {
    int begins = 1;
    for (const char *c = d->variables[i].name; *c; c++) {
      const int letter = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || *c == '_';
      if (!letter && (begins || !((*c >= '0' && *c <= '9') || *c == '.'))) return 0;
      begins = *c == '.';
    }
    if (begins) return 0;
  }
  return 1;
}

static void put_simulation(FILE *file, const description *d)
{
  const char *yes = d->is_filter ? "false" : "true";
  fputs("  <CoSimulation", file);
  put_attribute(file, "modelIdentifier", d->source.name);
  if (d->version == 3) {
    fprintf(
        file,
        " canGetAndSetFMUState=\"true\" canSerializeFMUState=\"true\" providesDirectionalDerivatives=\"%s\"",
        yes);
    put_attribute_number(file, "fixedInternalStepSize", d->source.step);
    fputs("/>\n", file);
    return;
  }
  fprintf(
      file,
      " canHandleVariableCommunicationStepSize=\"false\" canNotUseMemoryManagementFunctions=\"true\" "
      "canGetAndSetFMUstate=\"true\" canSerializeFMUstate=\"true\" providesDirectionalDerivative=\"%s\">\n"
      "    <SourceFiles><File name=\"fmu.c\"/><File name=\"%s.c\"/></SourceFiles>\n  </CoSimulation>\n",
      yes, d->source.name);
}

static void put_description(FILE *file, const description *d)
{
  fprintf(file, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<fmiModelDescription fmiVersion=\"%d.0\"",
          d->version);
  put_attribute(file, "modelName", d->title);
  put_attribute(file, d->version == 3 ? "instantiationToken" : "guid", d->token);
  put_attribute(file, "description",
                d->is_filter ? "Error-state Kalman filter of a hydraulic machine" : "Hydraulic machine");
  put_attribute(file, "generationTool", "bramah " BRAMAH_VERSION);
  put_attribute(file, "variableNamingConvention", is_structured(d) ? "structured" : "flat");
  if (d->version == 2) fputs(" numberOfEventIndicators=\"0\"", file);
  fputs(">\n", file);
  put_simulation(file, d);
  put_units(file, d);
  fputs("  <LogCategories>\n    <Category name=\"logStatus\" description=\"What is refused, and why\"/>\n  "
        "</LogCategories>\n",
        file);
  fputs("  <DefaultExperiment startTime=\"0\" stopTime=\"10\"", file);
  put_attribute_number(file, "stepSize", d->source.step);
  fputs("/>\n  <ModelVariables>\n", file);
  for (size_t i = 0; i < d->n_variables; i++) put_variable(file, d, i);
  fputs("  </ModelVariables>\n", file);
  put_structure(file, d);
  fputs("</fmiModelDescription>\n", file);
}

/* What the alarm of an estimator has to know. */
static void put_alarm(FILE *file, const description *d, const char *upper)
{
  const bramah_session_parts *parts = bramah_session_about(d->session);
  bramah_alarm_options o;
  bramah_alarm_options_default(&o);
  fprintf(file, "#define N_SENSORS %s_SENSORS\n#define PATIENCE %s_PATIENCE\n#define FALSE_PER_HOUR ", upper,
          upper);
  put_number(file, o.false_per_hour);
  fprintf(file, "\n#define SETTLE_NS INT64_C(%lld)\n", (long long)o.settle_ns);
  for (int noise = 0; noise < 2; noise++) {
    fprintf(file, "static const double sensor_%s[ROOM(N_SENSORS)] = {", noise ? "noise" : "every");
    for (size_t i = 0; i < parts->study->n_sensors; i++) {
      const bramah_sensor *s = &parts->sensors[i];
      put_number(file, noise ? bramah_sensor_variance(s) : 1e-9 * (double)s->period_ns);
      fputs(", ", file);
    }
    fputs("};\n", file);
  }
}

/* alarm.h: texts of ours in one, whose functions stay inside. */
static void put_alarm_text(FILE *file, const description *d)
{
  static const char *const texts[] = {bramah__fmu_elementary_h, bramah__fmu_elementary_c,
                                      bramah__innovation_tests_h, bramah__innovation_tests_c,
                                      bramah__alarm_windows};
  (void)d;
  for (size_t k = 0; k < sizeof texts / sizeof *texts; k++)
    for (const char *line = texts[k]; *line;) {
      const size_t n = strcspn(line, "\n") + 1;
      const int is_function =
          strncmp(line, "void bramah__", 13) == 0 || strncmp(line, "double bramah__", 15) == 0;
      if (is_function) fputs("static inline ", file);
      if (strncmp(line, "#include \"", 10) != 0) fwrite(line, 1, n, file);
      line += n;
    }
}

/* variables.h of fmu.c.in. */
static void put_table(FILE *file, const description *d)
{
  const bramah_plant *plant = d->plant;
  const char *name = d->source.name;
  char upper[sizeof d->source.name];
  size_t n = 0;
  for (; name[n]; n++) upper[n] = (char)(name[n] >= 'a' && name[n] <= 'z' ? name[n] - 'a' + 'A' : name[n]);
  upper[n] = '\0';
  fprintf(file, "/* What fmu.c has to know of the model. Written by bramah. */\n#include \"%s.h\"\n\n", name);
  fprintf(file, "#define FMI_VERSION %d\n#define IS_FILTER %d\n#define TOKEN \"%s\"\n", d->version,
          d->is_filter, d->token);
  fprintf(file,
          "#define MODEL(x) %s_##x\n#define MODEL_STATUS(x) %s_##x\n#define ROOM(n) ((n) > 0 ? (n) : 1)\n",
          name, upper);
  fprintf(file, "#define STEP_NS %s_STEP_NS\n#define N_INPUTS %s_INPUTS\n#define N_OUTPUTS %s_OUTPUTS\n",
          upper, upper, upper);
  fprintf(file,
          "#define N_PARAMETERS %s_PARAMETERS\n#define N_ERRORS %s_ERRORS\n#define MOVES_BY_TIME (%s_MOTIONS "
          "> 0)\n",
          upper, upper, upper);
  fprintf(file, "#define N_STATES (2 * %s_INDEPENDENT + %s_FIRST_ORDER + %s_BRISTLE_ERRORS)\n", upper, upper,
          upper);
  if (d->is_filter)
    put_alarm(file, d, upper);
  else
    fputs("#define N_SENSORS 0\n", file);
  fputs("\nstatic const struct {\n  int kind, index;\n} variables[] = {\n", file);
  for (size_t i = 0; i < d->n_variables; i++)
    fprintf(file, "  {%s, %zu}, /* %s */\n", d->variables[i].kind, d->variables[i].index,
            d->variables[i].name);
  fputs("};\nstatic const double input_start[ROOM(N_INPUTS)] = {", file);
  for (size_t i = 0; i < d->n_variables; i++) {
    if (strcmp(d->variables[i].kind, "INPUT") != 0) continue;
    put_number(file, d->variables[i].start);
    fputs(", ", file);
  }
  for (int most = 0; most < 2; most++) {
    fprintf(file, "};\nstatic const double parameter_%s[ROOM(N_PARAMETERS)] = {", most ? "most" : "least");
    for (size_t i = 0; i < plant->n_parameter; i++) {
      bramah_parameter_info info;
      plant->parameter_info(plant->self, i, &info);
      const double x = most ? info.most : info.least;
      if (isfinite(x))
        put_number(file, x);
      else
        fputs(x < 0.0 ? "-INFINITY" : "INFINITY", file);
      fputs(", ", file);
    }
  }
  fputs("};\n", file);
}

static void put_build(FILE *file, const description *d)
{
  fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<fmiBuildDescription fmiVersion=\"3.0\">\n  "
        "<BuildConfiguration",
        file);
  put_attribute(file, "modelIdentifier", d->source.name);
  fprintf(file,
          ">\n    <SourceFileSet language=\"C11\" compilerOptions=\"-ffp-contract=off\">\n      <SourceFile "
          "name=\"fmu.c\"/>\n"
          "      <SourceFile name=\"%s.c\"/>\n    </SourceFileSet>\n  "
          "</BuildConfiguration>\n</fmiBuildDescription>\n",
          d->source.name);
}

/* What stands before the last dot of a name: its length, 0: there is no dot. */
static size_t group_of(const char *name)
{
  const char *dot = strrchr(name, '.');
  return dot ? (size_t)(dot - name) : 0;
}

/* Is it shown at a terminal: of a joint, a cylinder, a volume, a valve; of a sensor? */
static int is_member(const variable *v, size_t *group)
{
  const int sensor = strcmp(v->kind, "MEASUREMENT") == 0 || strcmp(v->kind, "VALID") == 0;
  *group = sensor ? strlen(v->name) : group_of(v->name);
  return sensor || ((strcmp(v->kind, "STATE") == 0 || strcmp(v->kind, "OUTPUT") == 0) && *group > 0);
}

/* Of one terminal with the first of them? `begin`: where the terminal's name begins, behind what says measured or valid. */
static const char *terminal_of(const variable *v, size_t *n)
{
  size_t group;
  if (!is_member(v, &group)) return NULL;
  const char *begin = strcmp(v->kind, "MEASUREMENT") == 0 || strcmp(v->kind, "VALID") == 0
                          ? strchr(v->name, '.') + 1
                          : v->name;
  *n = group - (size_t)(begin - v->name);
  return begin;
}

static void put_terminal(FILE *file, const description *d, size_t first)
{
  size_t n, n_other;
  const char *name = terminal_of(&d->variables[first], &n);
  const int sensor = name != d->variables[first].name;
  fprintf(file, "    <Terminal name=\"%s", sensor ? "sensor." : "");
  for (size_t k = 0; k < n; k++) put_text(file, (char[]){name[k], '\0'});
  fputs("\" matchingRule=\"bus\">\n", file);
  for (size_t i = first; i < d->n_variables; i++) {
    const variable *v = &d->variables[i];
    const char *other = terminal_of(v, &n_other);
    if (!other || (other != v->name) != sensor || n_other != n || strncmp(other, name, n) != 0) continue;
    fputs("      <TerminalMemberVariable", file);
    put_attribute(file, "variableName", v->name);
    put_attribute(file, "memberName", !sensor ? v->name + n + 1 : v->unit ? "measured" : "valid");
    fputs(" variableKind=\"signal\"/>\n", file);
  }
  fputs("    </Terminal>\n", file);
}

static void put_terminals(FILE *file, const description *d)
{
  fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<fmiTerminalsAndIcons fmiVersion=\"3.0\">\n  "
        "<GraphicalRepresentation>\n"
        "    <CoordinateSystem x1=\"-100\" y1=\"-100\" x2=\"100\" y2=\"100\" "
        "suggestedScalingFactorTo_mm=\"0.1\"/>\n"
        "    <Icon x1=\"-100\" y1=\"-100\" x2=\"100\" y2=\"100\"/>\n  </GraphicalRepresentation>\n  "
        "<Terminals>\n",
        file);
  for (size_t i = 0; i < d->n_variables; i++) {
    size_t n, n_other;
    const char *name = terminal_of(&d->variables[i], &n);
    int first = name != NULL;
    for (size_t k = 0; k < i && first; k++) {
      const char *other = terminal_of(&d->variables[k], &n_other);
      first = !other || (other != d->variables[k].name) != (name != d->variables[i].name) || n_other != n ||
              strncmp(other, name, n) != 0;
    }
    if (first) put_terminal(file, d, i);
  }
  fputs("  </Terminals>\n</fmiTerminalsAndIcons>\n", file);
}

/* Of a PNG picture: up to the end of its last chunk. */
static size_t size_of_picture(const char *picture)
{
  const unsigned char *p = (const unsigned char *)picture + 8;
  for (;;) {
    const size_t n = (size_t)p[0] << 24 | (size_t)p[1] << 16 | (size_t)p[2] << 8 | p[3];
    const int last = memcmp(p + 4, "IEND", 4) == 0;
    p += n + 12;
    if (last) return (size_t)(p - (const unsigned char *)picture);
  }
}

static void put_page(FILE *file, const description *d)
{
  fputs("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>", file);
  put_text(file, d->title);
  fputs("</title><style>body{font:16px sans-serif;max-width:60em;margin:2em "
        "auto}table{border-collapse:collapse}"
        "td,th{border-bottom:1px solid #ccc;padding:.2em .6em;text-align:left}</style></head>\n<body><h1>",
        file);
  put_text(file, d->title);
  fprintf(file,
          "</h1>\n<p>%s, written by bramah " BRAMAH_VERSION
          " for co-simulation by FMI %d.0. Its own step is ",
          d->is_filter ? "An error-state Kalman filter of a hydraulic machine" : "A hydraulic machine",
          d->version);
  put_number(file, d->source.step);
  fputs(" s; a communication step is a whole number of these, others are refused. Numbers are SI, pressures "
        "absolute. Inputs are held "
        "over a step.</p>\n",
        file);
  fputs(d->is_filter ? "<p>Measurements that are valid correct the estimate at the communication point where "
                       "they are set, and outputs follow "
                       "at once; where they are left as they are, the next step begins with them once more, "
                       "so that valid.* must be set to "
                       "false where nothing new has come. After a step outputs are predictions. Directional "
                       "derivatives there are none.</p>\n"
                     : "<p>States may be set at any communication point; what depends on them follows so "
                       "that loops stay closed. "
                       "Directional derivatives by previous.* are those of the last step, exactly; by states "
                       "those of outputs as they are; by "
                       "inputs and parameters they are central differences of the last step.</p>\n",
        file);
  if (*d->report.left_out) {
    fputs("<p>Outputs of the machine that are not written as C and left out: ", file);
    put_text(file, d->report.left_out);
    fputs(".</p>\n", file);
  }
  fputs("<table><tr><th>variable</th><th>unit</th><th>causality</th><th></th></tr>\n", file);
  for (size_t i = 0; i < d->n_variables; i++) {
    const variable *v = &d->variables[i];
    fputs("<tr><td>", file);
    put_text(file, v->name);
    fputs("</td><td>", file);
    put_text(file, v->unit ? v->unit : "");
    fprintf(file, "</td><td>%s</td><td>", v->causality);
    put_text(file, v->what);
    fputs("</td></tr>\n", file);
  }
  fputs("</table></body></html>\n", file);
}

/* A text that `put` writes, which lives as long as the description; NULL: no memory. */
static const char *page_of(description *d, void (*put)(FILE *file, const description *d))
{
  char *text = NULL;
  size_t size = 0;
  FILE *file = open_memstream(&text, &size);
  if (file) put(file, d);
  if (file && fclose(file) != 0) d->failed = 1;
  if (!file || !text || d->failed) {
    d->failed = 1;
    free(text);
    return NULL;
  }
  return d->page[d->n_pages++] = text;
}

/* What tells this FMU from all others: of its source and all it says of itself. */
static void make_token(description *d)
{
  const char *table = page_of(d, put_table), *about = page_of(d, put_description);
  if (!table || !about) return;
  uint64_t hash[2] = {0};
  for (uint64_t k = 0; k < 2; k++) {
    hash[k] = bramah__fnv(0, &k, sizeof k);
    hash[k] = bramah__fnv(hash[k], d->source.code, strlen(d->source.code));
    hash[k] = bramah__fnv(hash[k], bramah__fmu_code, strlen(bramah__fmu_code));
    hash[k] = bramah__fnv(hash[k], table, strlen(table));
    hash[k] = bramah__fnv(hash[k], about, strlen(about));
  }
  snprintf(d->token, sizeof d->token, "{%016llx%016llx}", (unsigned long long)hash[0],
           (unsigned long long)hash[1]);
}

/* ---- the archive ---- */

typedef struct entry {
  char path[192];
  const char *data;
  size_t size;
} entry;

typedef struct entries {
  entry at[20];
  size_t n;
} entries;

static void put_entry(entries *all, const char *folder, const char *name, const char *ending,
                      const char *data, size_t size)
{
  entry *e = &all->at[all->n++];
  snprintf(e->path, sizeof e->path, "%s%s%s", folder, name, ending);
  e->data = data;
  e->size = size;
}

static void list_sources(description *d, entries *all)
{
  const int three = d->version == 3;
  if (d->is_filter) {
    const char *alarm = page_of(d, put_alarm_text);
    if (alarm) put_entry(all, "sources/", "alarm.h", "", alarm, strlen(alarm));
  }
  const struct {
    const char *name, *text;
  } files[] = {{"fmu.c", bramah__fmu_code},
               {"variables.h", page_of(d, put_table)},
               {three ? "fmi3Functions.h" : "fmi2Functions.h",
                three ? bramah__fmi3_functions : bramah__fmi2_functions},
               {three ? "fmi3FunctionTypes.h" : "fmi2FunctionTypes.h",
                three ? bramah__fmi3_function_types : bramah__fmi2_function_types},
               {three ? "fmi3PlatformTypes.h" : "fmi2TypesPlatform.h",
                three ? bramah__fmi3_platform : bramah__fmi2_platform}};
  for (size_t k = 0; k < sizeof files / sizeof *files && !d->failed; k++)
    put_entry(all, "sources/", files[k].name, "", files[k].text, strlen(files[k].text));
  put_entry(all, "sources/", d->source.name, ".c", d->source.code, strlen(d->source.code));
  put_entry(all, "sources/", d->source.name, ".h", d->source.header, strlen(d->source.header));
}

static bramah_status fail_zip(zip_t *archive, const char *path, bramah_diag *diag)
{
  bramah__failf(diag, BRAMAH_E_FILE, path, 0, NULL, "cannot write the archive: %s", zip_strerror(archive));
  zip_discard(archive);
  return BRAMAH_E_FILE;
}

static bramah_status write_archive(const entries *all, const char *path, bramah_diag *diag)
{
  int error = 0;
  zip_t *archive = zip_open(path, ZIP_CREATE | ZIP_TRUNCATE, &error);
  if (!archive) {
    zip_error_t e;
    zip_error_init_with_code(&e, error);
    bramah__failf(diag, BRAMAH_E_FILE, path, 0, NULL, "cannot create the archive: %s",
                  zip_error_strerror(&e));
    zip_error_fini(&e);
    return BRAMAH_E_FILE;
  }
  for (size_t i = 0; i < all->n; i++) {
    zip_source_t *source = zip_source_buffer(archive, all->at[i].data, all->at[i].size, 0);
    const zip_int64_t at = source ? zip_file_add(archive, all->at[i].path, source, ZIP_FL_ENC_UTF_8) : -1;
    if (at < 0) zip_source_free(source);
    /* the first of January 1980: the same file of the same model */
    if (at < 0 || zip_file_set_dostime(archive, (zip_uint64_t)at, 0, 0x21, 0) != 0)
      return fail_zip(archive, path, diag);
  }
  return zip_close(archive) == 0 ? BRAMAH_OK : fail_zip(archive, path, diag);
}

/* ---- the binary ---- */

enum { PATH_ROOM = 1024 };

static void path_in(char *out, const char *folder, const char *name, const char *ending)
{
  snprintf(out, PATH_ROOM, "%s/%s%s", folder, name, ending);
}

/* Runs the compiler; what it says goes into the file log.txt. 0, or what is wrong as errno has it, -1: it has failed. */
static int run_compiler(const char *folder, const char *name)
{
  static const char *const flags[] = {
      "-std=c11",        "-O1", "-w", "-fPIC", "-shared", "-fvisibility=hidden", "-ffp-contract=off",
      "-fno-math-errno", "-o"};
  enum { N_FLAGS = sizeof flags / sizeof *flags, MOST_WORDS = 8 };
  char object[PATH_ROOM], adapter[PATH_ROOM], model[PATH_ROOM], log[PATH_ROOM], compiler[256], math[] = "-lm";
  char *words[MOST_WORDS + N_FLAGS + 5], *rest;
  const char *named = getenv("CC");
  size_t n = 0;
  path_in(object, folder, name, ".so");
  path_in(adapter, folder, "fmu", ".c");
  path_in(model, folder, name, ".c");
  path_in(log, folder, "log", ".txt");
  snprintf(compiler, sizeof compiler, "%s", named && *named ? named : "cc");
  for (char *word = strtok_r(compiler, " \t", &rest); word && n < MOST_WORDS;
       word = strtok_r(NULL, " \t", &rest))
    words[n++] = word;
  if (n == 0) return ENOENT;
  for (size_t k = 0; k < N_FLAGS; k++) words[n++] = (char *)(uintptr_t)flags[k];
  words[n++] = object, words[n++] = adapter, words[n++] = model, words[n++] = math;
  words[n] = NULL;

  posix_spawn_file_actions_t files;
  pid_t child;
  int status = -1;
  if (posix_spawn_file_actions_init(&files) != 0) return ENOMEM;
  posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&files, 1, log, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&files, 1, 2);
  const int failed = posix_spawnp(&child, words[0], &files, NULL, words, environ);
  posix_spawn_file_actions_destroy(&files);
  if (failed) return failed;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) return errno;
  return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : -1;
}

/* The bytes of a file, to be freed; NULL. */
static char *read_whole(const char *path, size_t *size)
{
  FILE *file = fopen(path, "rb");
  char *bytes = NULL;
  long n = -1;
  if (file && fseek(file, 0, SEEK_END) == 0) n = ftell(file);
  if (n > 0) bytes = malloc((size_t)n + 1);
  if (bytes && (fseek(file, 0, SEEK_SET) != 0 || fread(bytes, 1, (size_t)n, file) != (size_t)n)) {
    free(bytes);
    bytes = NULL;
  }
  if (bytes) bytes[n] = '\0';
  if (file) fclose(file);
  *size = bytes ? (size_t)n : 0;
  return bytes;
}

static int write_whole(const char *path, const char *data, size_t size)
{
  FILE *file = fopen(path, "wb");
  if (!file) return 0;
  const int good = fwrite(data, 1, size, file) == size;
  return (fclose(file) == 0) & good;
}

/* From the sources among the entries, in a folder that goes again. */
static bramah_status make_binary(const entries *all, const char *name, char **binary, size_t *size,
                                 bramah_diag *diag)
{
  const char *temporary = getenv("TMPDIR"), *compiler = getenv("CC");
  char folder[PATH_ROOM / 2], path[PATH_ROOM];
  static const char *const others[] = {"log.txt"};
  if (!compiler || !*compiler) compiler = "cc";
  snprintf(folder, sizeof folder, "%.400s/bramah-XXXXXX", temporary && *temporary ? temporary : "/tmp");
  if (!mkdtemp(folder))
    return bramah__failf(diag, BRAMAH_E_FILE, folder, 0, NULL, "cannot make this folder: %s",
                         strerror(errno));
  int good = 1, failed = -1;
  for (size_t i = 0; i < all->n && good; i++) {
    path_in(path, folder, strrchr(all->at[i].path, '/') + 1, "");
    good = write_whole(path, all->at[i].data, all->at[i].size);
  }
  if (!good) bramah__failf(diag, BRAMAH_E_FILE, path, 0, NULL, "cannot be written: %s", strerror(errno));
  if (good) failed = run_compiler(folder, name);
  path_in(path, folder, name, ".so");
  *binary = good && !failed ? read_whole(path, size) : NULL;
  (void)unlink(path);
  path_in(path, folder, others[0], "");
  if (good && !*binary) {
    size_t n;
    char *log = failed > 0 ? NULL : read_whole(path, &n);
    if (failed > 0)
      bramah__failf(diag, BRAMAH_E_FILE, NULL, 0, compiler,
                    "the C compiler, which makes the binary of an FMU, cannot be started: %s",
                    strerror(failed));
    else
      bramah__failf(diag, BRAMAH_E_FILE, NULL, 0, compiler, "the C compiler has failed: %.300s",
                    log ? log : "");
    free(log);
  }
  (void)unlink(path);
  for (size_t i = 0; i < all->n; i++) {
    path_in(path, folder, strrchr(all->at[i].path, '/') + 1, "");
    (void)unlink(path);
  }
  (void)rmdir(folder);
  return *binary ? BRAMAH_OK : BRAMAH_E_FILE;
}

/* Where the standard wants it. */
static void name_platform(int version, char *folder, size_t n)
{
  struct utsname about;
  const char *machine = uname(&about) == 0 ? about.machine : "unknown";
  const int is_64 = strcmp(machine, "x86_64") == 0,
            is_32 = machine[0] == 'i' && strcmp(machine + 2, "86") == 0;
  if (version == 2 && (is_64 || is_32))
    snprintf(folder, n, "binaries/%s/", is_64 ? "linux64" : "linux32");
  else
    snprintf(folder, n, "binaries/%s-linux/", is_32 ? "x86" : machine);
}

static bramah_status write_fmu(description *d, const char *output, bramah_diag *diag)
{
  entries all = {.n = 0};
  char *binary = NULL, platform[96];
  size_t size = 0;
  make_token(d);
  if (!d->failed) list_sources(d, &all);
  const char *about = page_of(d, put_description), *page = page_of(d, put_page);
  if (d->failed) return bramah__fail_memory(diag);
  bramah_status status = make_binary(&all, d->source.name, &binary, &size, diag);
  if (status == BRAMAH_OK) {
    put_entry(&all, "", "modelDescription", ".xml", about, strlen(about));
    put_entry(&all, "documentation/", "index", ".html", page, strlen(page));
    if (d->version == 3) {
      const char *build = page_of(d, put_build);
      const char *terminals = page_of(d, put_terminals);
      if (build) put_entry(&all, "sources/", "buildDescription", ".xml", build, strlen(build));
      if (terminals)
        put_entry(&all, "terminalsAndIcons/", "terminalsAndIcons", ".xml", terminals, strlen(terminals));
    }
    put_entry(&all, d->version == 3 ? "terminalsAndIcons/" : "", d->version == 3 ? "icon" : "model", ".png",
              bramah__fmu_icon, size_of_picture(bramah__fmu_icon));
    name_platform(d->version, platform, sizeof platform);
    put_entry(&all, platform, d->source.name, ".so", binary, size);
    status = d->failed ? bramah__fail_memory(diag) : write_archive(&all, output, diag);
  }
  free(binary);
  return status;
}

/* ---- from files ---- */

/* "machines/four-bar.yaml": four-bar */
static void name_of_file(const char *path, char *out, size_t n)
{
  const char *slash = strrchr(path, '/');
  snprintf(out, n, "%s", slash ? slash + 1 : path);
  char *suffix = strrchr(out, '.');
  if (suffix) *suffix = '\0';
}

/* The source of the study's filter, from where it starts. */
static bramah_status write_filter(description *d, const bramah_study *study, const char *path,
                                  const char *name, bramah_diag *diag)
{
  const bramah_session_parts *parts = bramah_session_about(d->session);
  bramah_program *program = NULL;
  for (size_t i = 0; i < study->n_sensors; i++)
    if (parts->sensors[i].delay_ns)
      return bramah__failf(diag, BRAMAH_E_UNSUPPORTED, path, 0, parts->sensors[i].name,
                           "its samples come late, which an FMU does not know");
  bramah_status status = bramah_program_new(d->machine->model, diag, &program);
  if (status == BRAMAH_OK)
    status = bramah_filter_c_source(bramah_session_filter(d->session), program, d->machine->coupled, name,
                                    BRAMAH_PRECISION_DOUBLE, diag, &d->source);
  bramah_program_free(program);
  return status;
}

static bramah_status open_study(description *d, const char *path, const char *name, int64_t step_ns,
                                bramah_session **session, bramah_diag *diag)
{
  bramah_study *study = NULL;
  bramah_status status = bramah_study_load(path, 0, NULL, diag, &study);
  if (status != BRAMAH_OK) return status;
  if (study->adapt.line || study->hypotheses.n) {
    bramah__failf(diag, BRAMAH_E_UNSUPPORTED, path, study->hypotheses.n ? 0 : study->adapt.line,
                  study->hypotheses.n ? "hypotheses" : "adapt",
                  study->hypotheses.n ? "one filter is written as an FMU, not several that are weighed"
                                      : "a filter whose noise adapts is not written as an FMU");
    bramah_study_free(study);
    return BRAMAH_E_UNSUPPORTED;
  }
  status = bramah__refuse_fmu(study, "the FMU of a filter", diag);
  if (status != BRAMAH_OK) return bramah_study_free(study), status;
  status = bramah_session_new(study, step_ns, diag, session);
  if (status != BRAMAH_OK) return status;
  d->session = *session;
  d->machine = bramah_session_about(*session)->machine;
  d->plant = bramah_session_plant(*session);
  return write_filter(d, bramah_session_study(*session), path, name, diag);
}

static bramah_status open_machine(description *d, const char *path, const char *name, int64_t step_ns,
                                  bramah_machine_plant *machine, bramah_diag *diag)
{
  bramah_program *program = NULL;
  bramah_status status = bramah_machine_plant_open(machine, path, 0, NULL, step_ns, diag);
  if (status == BRAMAH_OK) status = bramah_program_new(machine->model, diag, &program);
  if (status == BRAMAH_OK) status = bramah_plant_c_source(program, machine->coupled, name, diag, &d->source);
  bramah_program_free(program);
  d->machine = machine;
  d->plant = &machine->plant;
  return status;
}

bramah_status bramah_fmu_write(const char *path, int64_t step_ns, int version, const char *output,
                               bramah_diag *diag, bramah_fmu_report *report)
{
  description d = {.version = version, .is_filter = bramah_file_kind_of(path) == BRAMAH_FILE_STUDY};
  bramah_machine_plant machine = {0};
  bramah_session *session = NULL;
  char name[64];
  if (version != 2 && version != 3)
    return bramah__failf(diag, BRAMAH_E_ARGUMENT, path, 0, NULL, "FMI has the versions 2 and 3 here");
  name_of_file(path, name, sizeof name);
  d.title = name;
  bramah_status status = d.is_filter ? open_study(&d, path, name, step_ns, &session, diag)
                                     : open_machine(&d, path, name, step_ns, &machine, diag);
  if (status == BRAMAH_OK) status = describe(&d, path, diag);
  if (status == BRAMAH_OK) status = write_fmu(&d, output, diag);
  if (status != BRAMAH_OK) bramah__place(diag, path, 0);
  if (status == BRAMAH_OK && report) {
    *report = d.report;
    snprintf(report->name, sizeof report->name, "%s", d.source.name);
    report->is_estimator = d.is_filter;
    report->step = d.source.step;
  }
  for (size_t i = 0; i < d.n_variables; i++) free(d.variables[i].name);
  for (size_t i = 0; i < d.n_pages; i++) free(d.page[i]);
  free(d.variables);
  bramah_c_source_free(&d.source);
  bramah_session_close(session);
  bramah_machine_plant_close(&machine);
  return status;
}
#endif
