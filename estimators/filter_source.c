/* SPDX-License-Identifier: MIT */
/* A filter as C source, behind the steps of its machine: tables of what it is made of, and the filter around them, which
 * is the same text for all (filter_source.c.in, filter_source.h.in). The text does what predict.c and correct.c do, in
 * their order and with the same kernel, so that the same bits come out. */
#include "estimators/filter_internal.h"
#include "lib/base/diag.h"
#include "lib/math/elementary.h"
#include "lib/plant/coupled_internal.h"
#include "lib/plant/step_source.h"
#include "sensors/kinds.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Texts that the build puts into the library. */
extern const char bramah__filter_header[], bramah__filter_code[], bramah__augmented_code[],
    bramah__root_code[], bramah__late_code[], bramah__kernel_shape_text[], bramah__kernel_text[];

static bramah_status refuse(bramah_diag *diag, const char *thing, const char *why)
{
  return bramah__fail(diag, BRAMAH_E_UNSUPPORTED, thing, why);
}

/* Steps by which samples come late; for each of them the source keeps a filter. */
enum { MOST_LATE = 1000 };

static size_t most_late(const bramah_filter *f)
{
  int64_t most = 0;
  for (size_t i = 0; i < f->n_sensors; i++)
    if (f->sensor[i].delay_ns > most) most = f->sensor[i].delay_ns;
  return (size_t)(most / f->plant.step_ns);
}

static bramah_status check_filter(const bramah_filter *f, const bramah_coupled *start, bramah_diag *diag)
{
  const bramah_filter_report *report = &f->progress.report;
  const struct {
    int is_so;
    const char *thing, *why;
  } refused[] = {
      {report->predictions || report->corrections, "filter", "a filter is compiled where it starts"},
      {f->transition != BRAMAH_TRANSITION_STEP, "transition", "only the transition of the step is compiled"},
      {!f->resolvent, "discretisation", "only noise through the resolvent is compiled"},
      {f->block, "fusion", "only sequential fusion is compiled"},
      {f->iterations > 1, "iterations", "an iterated update is not compiled"},
      {f->n_par_noise && !f->n_augmented, "parameter_noise",
       "noise on parameters is compiled with augmented states only"},
      {start->injection == BRAMAH_INJECTION_LINEARISED, "injection", "linearised injection is not compiled"},
  };
  for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
    if (refused[i].is_so) return refuse(diag, refused[i].thing, refused[i].why);
  for (size_t i = 0; i < f->n_sensors; i++) {
    if (f->sensor[i].delay_ns % f->plant.step_ns || f->sensor[i].delay_ns / f->plant.step_ns > MOST_LATE)
      return refuse(diag, f->sensor[i].name,
                    "a delay is compiled that is a whole number of steps, at most 1000");
  }
  return BRAMAH_OK;
}

/* ---- what the tables need ---- */

/* Parameters in use by the filter itself: augmented and noisy ones. */
static size_t parameters_of(const bramah_filter *f) { return f->first_noise + f->n_par_noise; }

static int has_edges(const bramah_filter *f, size_t parameter)
{
  double below = -INFINITY, above = INFINITY;
  if (f->plant.parameter_edges) f->plant.parameter_edges(f->plant.self, parameter, &below, &above);
  return isfinite(below) || isfinite(above);
}

/* Does one with edges move what this sensor shows at once? */
static int shows_edges(const bramah_filter *f, const bramah_program *program, const bramah_sensor *sensor)
{
  int any = 0;
  for (size_t j = 0; j < f->first_noise; j++)
    for (size_t t = 0; t < sensor->n_terms && has_edges(f, f->par[j]); t++)
      any |= bramah__source_follows(program, sensor->output[t], 1, &f->par[j]);
  return any;
}

typedef struct filter_lists {
  size_t n_outputs, *output; /* of the plant that the source has */
  int *place;                /* of each output of the plant among them; -1: none */
  double *number;            /* [longest] scratch */
  int *index;                /* [longest] scratch */
  int *column;               /* [n_sensors n] scratch */
  const char **name;         /* [longest] scratch */
} filter_lists;

/* Is it in a condition of a phase? */
static int is_asked(const bramah_filter *f, size_t output)
{
  for (size_t c = 0; c < f->n_conditions; c++)
    if (f->condition[c].kind == BRAMAH_CONDITION_OUTPUT && f->condition[c].at == output) return 1;
  return 0;
}

static int is_command(const bramah_program *program, size_t output)
{
  return program->model->output[output].code == BRAMAH__INPUT_COMMAND;
}

/* An output of the machine that the source has; those of bodies only where a sensor needs them. */
static int is_shown(const bramah_filter *f, const bramah_program *program, size_t output)
{
  const bramah_coupled *start = f->plant.self;
  if (!bramah__source_has_output(program, &start->state, output)) return 0;
  for (size_t i = 0; i < f->n_sensors; i++)
    for (size_t t = 0; t < f->sensor[i].n_terms; t++)
      if (f->sensor[i].output[t] == output) return 1;
  return is_asked(f, output) || !bramah__is_of_body(program->model->output[output].code);
}

static bramah_status list_outputs(const bramah_filter *f, const bramah_program *program, filter_lists *out,
                                  bramah_diag *diag)
{
  const size_t n = f->plant.n_output,
               longest = n + f->n_sensors * BRAMAH_SENSOR_MAX_TERMS + f->n + 2 * f->n_kinks + 2;
  out->output = calloc(n + 1, sizeof *out->output);
  out->place = calloc(n + 1, sizeof *out->place);
  out->number = calloc(longest, sizeof *out->number);
  out->index = calloc(longest, sizeof *out->index);
  out->column = calloc(f->n_sensors * f->n + 1, sizeof *out->column);
  out->name = calloc(longest, sizeof *out->name);
  if (!out->column || !out->output || !out->place || !out->number || !out->index || !out->name)
    return bramah__fail(diag, BRAMAH_E_MEMORY, "filter", "no memory for the C source");
  for (size_t i = 0; i < n; i++) {
    out->place[i] = -1;
    if (!is_shown(f, program, i)) continue;
    out->place[i] = (int)out->n_outputs;
    out->output[out->n_outputs++] = i;
  }
  for (size_t i = 0; i < n; i++)
    if (out->place[i] < 0 && is_asked(f, i) && !is_command(program, i)) {
      bramah_output_info info;
      bramah_plant_output_info(&f->plant, i, &info);
      return refuse(diag, info.name, "what this condition of a phase is about is not compiled");
    }
  for (size_t i = 0; i < f->n_sensors; i++)
    for (size_t t = 0; t < f->sensor[i].n_terms; t++) {
      const size_t output = f->sensor[i].output[t];
      size_t from, to;
      if (out->place[output] < 0 || !bramah__source_row(program, output, &from, &to))
        return refuse(diag, f->sensor[i].name, "what this sensor measures is not compiled");
    }
  return BRAMAH_OK;
}

/* ---- tables ---- */

static void write_number(const bramah__source *s, const char *name, double x)
{
  bramah__page_write(s->page, "#define %s %g\n", name, x);
}

/* `static const size_t name[] = {...};` */
static void write_sizes_of(const bramah__source *s, const char *name, size_t n, const int *x)
{
  bramah__page_write(s->page, "static const size_t %s[] = {", name);
  for (size_t k = 0; k < n; k++) bramah__page_write(s->page, k ? ", %d" : "%d", (size_t)x[k]);
  bramah__page_write(s->page, n ? "};\n" : "0};\n");
}

/* A text of each sensor's own takes a compiler as long as 200 operations of the machine. */
enum { FEW_SENSORS = 8 };

/* The list of numbers that a member of each sensor is. */
static void write_sensors(const bramah__source *s, const bramah_filter *f, const filter_lists *lists)
{
  const size_t n = f->n_sensors;
  double *x = lists->number;
  bramah__page_write(s->page, "#define EACH_SENSOR(X)");
  for (size_t i = 0; i < n && n <= FEW_SENSORS; i++)
    bramah__page_write(s->page, " case %d: return X(%d);", i, i);
  bramah__page_write(s->page, n <= FEW_SENSORS ? "\n" : " default: return X(i);\n");
  for (size_t i = 0; i < n; i++) x[i] = bramah_sensor_variance(&f->sensor[i]);
  bramah__source_numbers(s, "sensor_variance", n, x);
  bramah__source_numbers(s, "sensor_gate", n, f->gate);
  for (size_t i = 0; i < n; i++) x[i] = f->sensor[i].period;
  bramah__source_numbers(s, "sensor_period", n, x);
  for (size_t i = 0; i < n; i++) lists->index[i] = f->sensor[i].group;
  bramah__source_indices(s, "sensor_group", n, lists->index);
  for (size_t i = 0; i < n; i++) lists->index[i] = (int)(f->sensor[i].delay_ns / f->plant.step_ns);
  if (most_late(f)) bramah__source_indices(s, "sensor_delay", n, lists->index);
  size_t shapes = 0, edges = 0;
  for (size_t i = 0; i < n; i++) {
    shapes |= f->sensor[i].shape != BRAMAH_SENSOR_SUM;
    lists->index[i] = shows_edges(f, s->program, &f->sensor[i]);
    edges |= (size_t)lists->index[i];
  }
  bramah__page_write(s->page, "#define SHAPES %d\n#define EDGES_SHOWN %d\n", shapes, edges);
  if (edges) bramah__source_indices(s, "sensor_edges", n, lists->index);
  for (size_t i = 0; i < n; i++) lists->index[i] = (int)f->sensor[i].shape;
  if (shapes) bramah__source_indices(s, "sensor_shape", n, lists->index);
  for (size_t i = 0; i < n; i++) lists->index[i] = (int)bramah__sensor_first(&f->sensor[i]);
  if (shapes) bramah__source_indices(s, "sensor_first", n, lists->index);
  for (int most = 0; most < 2; most++) {
    for (size_t i = 0; i < n; i++) x[i] = bramah__sensor_end(&f->sensor[i], most);
    bramah__source_numbers(s, most ? "sensor_most" : "sensor_least", n, x);
  }
}

/* The columns of the row of sensor i that may differ from zero, ascending; the number of them. Parameters that move it at
 * once are those of the first n_par in use. */
static size_t list_columns(const bramah__source *s, const bramah_filter *f, size_t i, size_t n_par, int *out)
{
  const bramah_sensor *sensor = &f->sensor[i];
  size_t least = f->n_plant, most = 0, n = 0;
  int follows = 0;
  for (size_t t = 0; t < sensor->n_terms; t++) {
    size_t from, to;
    bramah__source_row(s->program, sensor->output[t], &from, &to);
    follows |= bramah__source_follows(s->program, sensor->output[t], n_par, f->par);
    if (from < least) least = from;
    if (to > most) most = to;
  }
  for (size_t k = least; k < most; k++) out[n++] = (int)k;
  for (size_t k = 0; k < f->n_augmented; k++) {
    const bramah__augmented *own = &f->self_state[k];
    const size_t order = f->augmented[k].order == 2 ? 2 : 1;
    if (own->column == SIZE_MAX ? own->target != i : !follows) continue;
    for (size_t e = 0; e < order; e++) out[n++] = (int)(own->state + e);
  }
  return n;
}

/* Terms of all sensors one behind the other, and the columns of each one's row. */
static void write_terms(const bramah__source *s, const bramah_filter *f, const filter_lists *lists)
{
  int *first = lists->index, n_terms = 0, n_columns = 0, *column = lists->column;
  for (size_t i = 0; i < f->n_sensors; i++) {
    first[i] = n_terms;
    n_terms += (int)f->sensor[i].n_terms;
  }
  first[f->n_sensors] = n_terms;
  bramah__source_indices(s, "first_term", f->n_sensors + 1, first);
  for (size_t i = 0; i < f->n_sensors; i++) {
    first[i] = n_columns;
    n_columns += (int)list_columns(s, f, i, parameters_of(f), column + n_columns);
  }
  first[f->n_sensors] = n_columns;
  bramah__source_indices(s, "first_column", f->n_sensors + 1, first);
  write_sizes_of(s, "row_column", (size_t)n_columns, column);
  n_terms = 0;
  for (size_t i = 0; i < f->n_sensors; i++)
    for (size_t t = 0; t < f->sensor[i].n_terms; t++) {
      lists->number[n_terms] = f->sensor[i].weight[t];
      lists->index[n_terms++] = lists->place[f->sensor[i].output[t]];
    }
  bramah__source_numbers(s, "term_weight", (size_t)n_terms, lists->number);
  bramah__source_indices(s, "term_output", (size_t)n_terms, lists->index);
}

/* Columns of F and blocks as the kernel wants them. */
static void write_shape(const bramah__source *s, const bramah_filter *f)
{
  const bramah__kernel_shape *shape = &f->shape;
  const int whole = f->n_augmented == 0;
  for (size_t k = 0; k < shape->n_acting && !whole; k++)
    bramah__page_write(s->page, "%s%d", k ? ", " : "static const size_t acting[] = {", shape->acting[k]);
  if (!whole) bramah__page_write(s->page, "};\n");
  for (int noisy = 0; noisy < 2; noisy++) {
    const bramah__kernel_block *block = noisy ? shape->noisy : shape->moving;
    const size_t n = noisy ? shape->n_noisy : shape->n_moving;
    for (size_t k = 0; k < n; k++)
      bramah__page_write(s->page, "%s{%d, %d}",
                         k       ? ", "
                         : noisy ? "static const bramah__kernel_block noisy[] = {"
                                 : "static const bramah__kernel_block moving[] = {",
                         block[k].state, block[k].order);
    if (n) bramah__page_write(s->page, "};\n");
  }
  bramah__page_write(
      s->page, "static const bramah__kernel_shape shape = {%d, %d, %d, %d, %d, %d, %s, %s, %s};\n", shape->n,
      shape->n_plant, shape->nq, shape->n_acting, shape->n_moving, shape->n_noisy, whole ? "NULL" : "acting",
      shape->n_moving ? "moving" : "NULL", shape->n_noisy ? "noisy" : "NULL");
}

/* What is in use of what the text knows. */
static void write_features(const bramah__source *s, const bramah_filter *f)
{
  size_t holds = 0, changes = 0, ripples = 0;
  for (size_t i = 0; i < f->n_augmented; i++) {
    holds |= f->augmented[i].role != BRAMAH_AUGMENTED_ESTIMATED;
    ripples |= f->augmented[i].signal_period > 0.0;
  }
  for (size_t i = 0; i < f->n_sensors; i++) changes |= f->changes[i];
  const struct {
    const char *name;
    size_t n;
  } features[] = {{"N_PAR", parameters_of(f)},
                  {"N_PAR_NOISE", f->n_par_noise},
                  {"NQ", f->nq},
                  {"HOLDS", holds},
                  {"CHANGES", changes},
                  {"RIPPLES", ripples},
                  {"DISPLACED", f->n_displaced},
                  {"N_EDGES", f->n_edges},
                  {"KINKS", f->n_kinks},
                  {"ROOT", (size_t)f->square_root}};
  for (size_t i = 0; i < sizeof features / sizeof *features; i++)
    bramah__page_write(s->page, "#define %s %d\n", features[i].name, features[i].n);
}

/* Of each spool the places at which it begins or ceases to move openings, ascending. */
static void write_edges(const bramah__source *s, const filter_lists *lists)
{
  const size_t ns = s->program->ns;
  int n = 0;
  bramah__page_write(s->page, "static const double spool_edge[] = {");
  for (size_t i = 0; i < ns; i++) {
    double below, edge, from = -INFINITY;
    lists->index[i] = n;
    for (;; from = nextafter(edge, INFINITY)) {
      bramah__opening_edges(&s->start->model->circuit.valve[i].opening, from, &below, &edge);
      if (!isfinite(edge)) break;
      bramah__page_write(s->page, n++ ? ", %g" : "%g", edge);
    }
  }
  lists->index[ns] = n;
  bramah__page_write(s->page, n ? "};\n" : "0.0};\n");
  bramah__source_indices(s, "first_edge", ns + 1, lists->index);
}

/* Of each parameter in use its place among all, its limits, and which augmented state it is (-1: none). */
static void write_parameters(const bramah__source *s, const bramah_filter *f, const filter_lists *lists)
{
  const size_t n = parameters_of(f);
  for (size_t j = 0; j < n; j++) lists->index[j] = (int)f->par[j];
  bramah__source_indices(s, "used_parameter", n, lists->index);
  for (size_t j = 0; j < n; j++) {
    lists->index[j] = -1;
    for (size_t i = 0; i < f->n_augmented; i++)
      if (f->self_state[i].column == j) lists->index[j] = (int)i;
  }
  bramah__source_indices(s, "used_augmented", n, lists->index);
  for (int most = 0; most < 2; most++) {
    for (size_t j = 0; j < n; j++) {
      const bramah_parameter_info *info = &s->program->model->parameter[f->par[j]].info;
      const int i = lists->index[j];
      lists->number[j] =
          i < 0 ? (most ? info->most : info->least) : (most ? f->self_state[i].most : f->self_state[i].least);
    }
    bramah__source_numbers(s, most ? "used_most" : "used_least", n, lists->number);
  }
}

/* A member of the table of augmented states. */
static void write_index(const bramah__source *s, size_t index, int is_none)
{
  bramah__page_write(s->page, is_none ? "-1, " : "%d, ", index);
}

static void write_augmented(const bramah__source *s, const bramah_filter *f, const filter_lists *lists)
{
  static const char type[] = "typedef struct augmented {\n"
                             "  int state, order, kind, role, logarithmic, moves;\n"
                             "  int column, parameter, sensor; /* -1: none */\n"
                             "  double nominal, least, most, Phi[4], noise[3], signal_period, remains;\n"
                             "} augmented;\n"
                             "static const augmented extra[NAME_AUGMENTED] = {\n@";
  const size_t n = f->n_augmented;
  int changes = 0;
  if (!f->square_root) write_shape(s, f);
  for (size_t i = 0; i < n; i++) lists->name[i] = f->augmented[i].name;
  bramah__source_names(s, "augmented_names", "AUGMENTED", n, lists->name);
  if (n == 0) return;
  if (f->n_par_noise) bramah__source_numbers(s, "parameter_noise", f->n_par_noise, f->par_noise);
  if (f->n_edges) write_edges(s, lists);
  if (f->n_edges) write_parameters(s, f, lists);
  for (size_t i = 0; i < f->n_sensors; i++) {
    lists->index[i] = f->changes[i];
    changes |= f->changes[i];
  }
  if (changes) bramah__source_indices(s, "sensor_changes", f->n_sensors, lists->index);
  bramah__page_write(s->page, "enum { ESTIMATED = %d, AUTO = %d };\nenum { GAIN = %d, DELAY = %d };\n",
                     (size_t)BRAMAH_AUGMENTED_ESTIMATED, (size_t)BRAMAH_AUGMENTED_AUTO,
                     (size_t)BRAMAH_AUGMENTED_GAIN, (size_t)BRAMAH_AUGMENTED_DELAY);
  bramah__source_fill(s, type);
  for (size_t i = 0; i < n; i++) {
    const bramah_augmented *a = &f->augmented[i];
    const bramah__augmented *own = &f->self_state[i];
    const int of_sensor = own->column == SIZE_MAX, order = a->order == 2 ? 2 : 1;
    bramah__page_write(s->page, "  {%d, %d, %d, %d, %d, %d, ", own->state, (size_t)order, (size_t)a->kind,
                       (size_t)a->role, (size_t)a->logarithmic, (size_t)own->moves);
    write_index(s, own->column, of_sensor);
    write_index(s, own->target, of_sensor);
    write_index(s, own->target, !of_sensor);
    bramah__page_write(s->page, "%g, %g, %g, {%g, %g, %g, %g}, {%g, %g, %g}, %g, %g},\n", own->nominal,
                       own->least, own->most, own->Phi[0], own->Phi[1], own->Phi[2], own->Phi[3],
                       own->noise[0], own->noise[1], own->noise[2], a->signal_period,
                       a->time_constant > 0.0 ? bramah__exp(-bramah__step_seconds(f) / a->time_constant)
                                              : 1.0);
  }
  bramah__page_write(s->page, "};\n");
}

/* Of each kink the first-order states on its two sides (-1: none). */
static void write_kinks(const bramah__source *s, const bramah_filter *f, const filter_lists *lists)
{
  for (size_t k = 0; k < f->n_kinks; k++) {
    bramah_kink kink;
    f->plant.kink(f->plant.self, k, &kink);
    for (size_t a = 0; a < 2; a++) lists->index[2 * k + a] = kink.by[a] != 0.0 ? (int)kink.state[a] : -1;
  }
  write_number(s, "STEP_SECONDS", bramah__step_seconds(f));
  bramah__source_indices(s, "kink_volume", 2 * f->n_kinks, lists->index);
}

/* Phases, their conditions and processes. */
static void write_phases(const bramah__source *s, const bramah_filter *f, const filter_lists *lists)
{
  static const char types[] = "enum { OF_OUTPUT, OF_SAMPLE, OF_COMMAND };\n"
                              "typedef struct condition {\n"
                              "  int kind, at;\n"
                              "  double least, most; /* of samples: steps since the last one */\n"
                              "} condition;\n"
                              "enum { OF_AUGMENTED, OF_ACCELERATION, OF_FIRST_ORDER };\n"
                              "typedef struct process {\n"
                              "  int kind, at;\n"
                              "  double Phi[4], noise[3];\n"
                              "} process;\n"
                              "typedef struct phase {\n"
                              "  int condition, n_begin, n_end, process, n_processes;\n"
                              "  uint32_t off_delay; /* steps */\n"
                              "} phase;\n@";
  if (!f->n_phases) return;
  bramah__source_fill(s, types);
  bramah__page_write(s->page, "static const condition conditions[] = {\n");
  for (size_t k = 0; k < f->n_conditions; k++) {
    const bramah_condition *c = &f->condition[k];
    const int of_sample = c->kind == BRAMAH_CONDITION_SAMPLE,
              of_command = !of_sample && is_command(s->program, c->at);
    const size_t at = of_sample    ? c->at
                      : of_command ? s->program->model->output[c->at].index
                                   : (size_t)lists->place[c->at];
    bramah__page_write(s->page, "  {%s, %d, %g, %g},\n",
                       of_sample    ? "OF_SAMPLE"
                       : of_command ? "OF_COMMAND"
                                    : "OF_OUTPUT",
                       at, c->least, c->most);
  }
  bramah__page_write(s->page, "};\nstatic const process processes[] = {\n");
  for (size_t k = 0; k < f->n_processes; k++) {
    const bramah__phase_process *p = &f->process[k];
    const double scale = p->kind == BRAMAH_PHASE_FIRST_ORDER ? sqrt(bramah__step_seconds(f)) : 1.0;
    bramah__page_write(s->page, "  {%d, %d, {%g, %g, %g, %g}, {%g, %g, %g}},\n", (size_t)p->kind, p->at,
                       p->Phi[0], p->Phi[1], p->Phi[2], p->Phi[3], scale * p->noise[0], p->noise[1],
                       p->noise[2]);
  }
  bramah__page_write(s->page, "%s};\nstatic const phase phases[] = {\n", f->n_processes ? "" : "  {0}");
  for (size_t k = 0; k < f->n_phases; k++) {
    const bramah__phase *p = &f->phase[k];
    bramah__page_write(s->page, "  {%d, %d, %d, %d, %d, %d}, /* %s */\n", p->condition, p->n_begin, p->n_end,
                       p->process, p->n_processes, (size_t)p->off_delay, p->name);
  }
  bramah__page_write(s->page, "};\n");
}

static void write_outputs(const bramah__source *s, const bramah_filter *f, const filter_lists *lists)
{
  bramah_output_info info;
  for (int unit = 0; unit < 2; unit++) {
    for (size_t i = 0; i < f->n_sensors; i++) lists->name[i] = unit ? f->sensor[i].unit : f->sensor[i].name;
    bramah__source_names(s, unit ? "sensor_units" : "sensor_names", "SENSORS", f->n_sensors, lists->name);
    for (size_t i = 0; i < lists->n_outputs; i++) {
      bramah_plant_output_info(&f->plant, lists->output[i], &info);
      lists->name[i] = unit ? info.unit : info.name;
    }
    bramah__source_names(s, unit ? "output_units" : "output_names", "OUTPUTS", lists->n_outputs, lists->name);
  }
}

static void write_tables(const bramah__source *s, const bramah_filter *f, const filter_lists *lists)
{
  const double h = bramah__step_seconds(f), drift_share = 1.0 / 50.0;
  write_features(s, f);
  write_number(s, "LEAST_LEFT", s->single ? 1e-6 : 1e-12);
  write_number(s, "ROOT_STEP", sqrt(h));
  write_number(s, "ROOT_CUBED_STEP", sqrt(h * h * h / 12.0));
  write_number(s, "DRIFT_GATE", f->drift_gate);
  write_number(s, "DRIFT_SIGMA", sqrt((1.0 - 0.0) * drift_share / (2.0 - drift_share) + 0.0));
  for (size_t r = 0; r < f->n_dof; r++)
    lists->index[r] = (int)s->program->model->output[f->noise.basis[r]].index;
  bramah__source_indices(s, "basis", f->n_dof, lists->index);
  for (size_t i = 0; i < s->program->nh; i++) lists->index[i] = (int)s->program->model->bristle_state[i];
  if (s->program->nh) bramah__source_indices(s, "bristle", s->program->nh, lists->index);
  bramah__source_numbers(s, "acceleration_noise", f->n_dof, f->noise.acceleration);
  for (size_t i = 0; i < f->n_first_order; i++) lists->number[i] = sqrt(h) * f->noise.first_order[i];
  bramah__source_numbers(s, "first_order_noise", f->n_first_order, lists->number);
  bramah__source_numbers(s, "initial_covariance", f->n * f->n, f->P_initial);
  if (f->n_kinks) write_kinks(s, f, lists);
  write_sensors(s, f, lists);
  write_terms(s, f, lists);
  write_outputs(s, f, lists);
  write_augmented(s, f, lists);
  write_phases(s, f, lists);
}

/* ---- both texts ---- */

static void write_texts(bramah__source *s, const bramah_filter *f, const filter_lists *lists,
                        bramah__page *header, bramah__page *code)
{
  s->page = header;
  const char *text = bramah__source_fill(s, bramah__filter_header);
  bramah__source_define(s, "ERRORS", f->n);
  bramah__source_define(s, "AUGMENTED", f->n_augmented);
  bramah__source_define(s, "SENSORS", f->n_sensors);
  bramah__source_define(s, "OUTPUTS", lists->n_outputs);
  bramah__source_define(s, "PATIENCE", f->patience);
  bramah__source_define(s, "ROOT", (size_t)f->square_root);
  bramah__source_define(s, "LATE", most_late(f));
  bramah__source_define(s, "PHASES", f->n_phases);
  bramah__source_fill(s, text);
  s->page = code;
  text = bramah__source_fill(s, bramah__filter_code);
  bramah__source_text(s, bramah__kernel_shape_text);
  bramah__source_text(s, bramah__kernel_text);
  text = bramah__source_fill(s, text);
  write_tables(s, f, lists);
  text = bramah__source_fill(s, text);
  bramah__source_fill(s, bramah__plant_code);
  text = bramah__source_fill(s, text);
  const char *augmented = bramah__augmented_code;
  for (int part = 0; part < 4; part++) {
    const int of_root = part == 2;
    if (of_root && f->square_root) bramah__source_fill(s, bramah__root_code);
    if (!of_root && f->n_augmented) augmented = bramah__source_fill(s, augmented);
    text = bramah__source_fill(s, text);
  }
  if (most_late(f)) bramah__source_fill(s, bramah__late_code);
}

bramah_status bramah_filter_c_source(const bramah_filter *f, const bramah_program *program,
                                     const bramah_coupled *start, const char *name,
                                     bramah_precision precision, bramah_diag *diag, bramah_c_source *out)
{
  bramah__source s;
  filter_lists lists = {0};
  bramah__page header = {0}, code = {0};
  *out = (bramah_c_source){0};
  bramah_status status = bramah__source_begin(program, start, name, precision, diag, &s);
  if (status == BRAMAH_OK && f->plant.self != start)
    status = bramah__fail(diag, BRAMAH_E_ARGUMENT, "filter", "the filter has another plant");
  if (status == BRAMAH_OK) status = check_filter(f, start, diag);
  if (status == BRAMAH_OK) status = list_outputs(f, s.program, &lists, diag);
  if (status == BRAMAH_OK) {
    write_texts(&s, f, &lists, &header, &code);
    if (header.failed || code.failed)
      status = bramah__fail(diag, BRAMAH_E_MEMORY, "filter", "no memory for the C source");
  }
  const bramah__source_addition addition = {" and its filter", header.text,      code.text, lists.n_outputs,
                                            lists.output,      parameters_of(f), f->par,    0};
  if (status == BRAMAH_OK) status = bramah__source_end(&s, &addition, diag, out);
  if (status == BRAMAH_OK) {
    out->n_outputs = lists.n_outputs;
    out->output = lists.output;
    lists.output = NULL;
  }
  free(header.text);
  free(code.text);
  free(lists.output);
  free(lists.place);
  free(lists.number);
  free(lists.index);
  free(lists.column);
  free(lists.name);
  return status;
}
