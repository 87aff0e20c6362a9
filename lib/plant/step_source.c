/* SPDX-License-Identifier: MIT */
/* A machine's step as C source: its equations from the tape, tables of the machine, and the step around them, which is
 * the same text for all machines (step_source.c.in, step_source.h.in; NAME_ and name_ stand for the machine's name, @
 * for what differs) and does what compiled.c does with a tape. */
#include "lib/base/diag.h"
#include "lib/graph/c_source.h"
#include "lib/plant/coupled_internal.h"
#include "lib/plant/step_graph.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Texts that the build puts into the library. */
extern const char bramah__elementary_text[], bramah__step_header[], bramah__step_code[];

enum { LONGEST_NAME = 63 };

typedef struct writing {
  const bramah_program *program;
  const bramah_coupled *start;
  char lower[LONGEST_NAME + 2], upper[LONGEST_NAME + 2]; /* of all that the files define, with _ behind it */
  bramah__page *page;
} writing;

/* "four-bar" as four_bar_ and FOUR_BAR_; 0 where nothing of it can begin a name of C. */
static int make_names(writing *s, const char *name)
{
  size_t n = 0;
  for (; *name && n < LONGEST_NAME; name++) {
    char c = *name;
    if (c >= 'A' && c <= 'Z') c = (char)(c - 'A' + 'a');
    const int letter = c >= 'a' && c <= 'z', digit = c >= '0' && c <= '9';
    if (n == 0 && !letter) continue;
    if (!letter && !digit && s->lower[n - 1] == '_') continue;
    s->lower[n] = letter || digit ? c : '_';
    s->upper[n] = letter ? (char)(c - 'a' + 'A') : s->lower[n];
    n++;
  }
  if (n == 0) return 0;
  if (s->lower[n - 1] != '_') s->lower[n] = s->upper[n] = '_', n++;
  s->lower[n] = s->upper[n] = '\0';
  return 1;
}

/* Text up to the next @, with the machine's name in it; returns what follows. */
static const char *fill(const writing *s, const char *text)
{
  bramah__page *page = s->page;
  char other[2] = "";
  for (; *text && *text != '@'; text++) {
    const int upper = strncmp(text, "NAME_", 5) == 0, lower = strncmp(text, "name_", 5) == 0,
              file = strncmp(text, "name.h", 6) == 0;
    if (upper || lower || file) {
      bramah__page_write(page, "%s", upper ? s->upper : s->lower);
      if (file && page->used) page->text[--page->used] = '\0'; /* no _ behind it */
      text += file ? 3 : 4;
    } else {
      other[0] = *text;
      bramah__page_write(page, "%s", other);
    }
  }
  return *text ? text + 1 : text;
}

/* ---- the header ---- */

static void write_sizes(const writing *s)
{
  const bramah_program *p = s->program;
  const bramah_model *model = s->start->model;
  const struct {
    const char *name;
    size_t n;
  } sizes[] = {{"JOINTS", p->n},         {"DEPENDENT", p->nd},
               {"INDEPENDENT", p->nf},   {"FIRST_ORDER", p->np},
               {"UNKNOWNS", p->nx},      {"SPOOLS", p->ns},
               {"ACTUATORS", p->nc},     {"INPUTS", model->n_inputs},
               {"PARAMETERS", p->n_par}, {"ITERATIONS", (size_t)model->max_iterations}};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
    bramah__page_write(s->page, "#define %s%s %d\n", s->upper, sizes[i].name, sizes[i].n);
  bramah__page_write(s->page, "#define %sSTEP %g /* [s] */\n", s->upper, model->h);
  bramah__page_write(s->page,
                     "#define %sTOLERANCE %g /* of the error of a position in a step [rad or m] */\n",
                     s->upper, model->tolerance);
}

/* ---- the code ---- */

static void write_numbers(const writing *s, const char *name, size_t n, const double *x)
{
  bramah__page_write(s->page, "static const double %s[] = {", name);
  for (size_t i = 0; i < n; i++) bramah__page_write(s->page, i ? ", %g" : "%g", x[i]);
  bramah__page_write(s->page, n ? "};\n" : "0.0};\n");
}

static void write_list(const writing *s, size_t n, const double *x)
{
  bramah__page_write(s->page, "{");
  for (size_t i = 0; i < n; i++) bramah__page_write(s->page, i ? ", %g" : "%g", x[i]);
  bramah__page_write(s->page, n ? "}" : "0.0}");
}

static void write_names(const writing *s, const char *what, const char *length, size_t n,
                        const char *const *name)
{
  bramah__page_write(s->page, "const char *const %s%s_names[%sROOM(%s%s)] = {", s->lower, what, s->upper,
                     s->upper, length);
  for (size_t i = 0; i < n; i++) bramah__page_write(s->page, i ? ", \"%s\"" : "\"%s\"", name[i]);
  bramah__page_write(s->page, n ? "};\n" : "\"\"};\n");
}

static void write_indices(const writing *s, const char *name, size_t n, const int *x)
{
  bramah__page_write(s->page, "static const int %s[] = {", name);
  for (size_t i = 0; i < n; i++)
    bramah__page_write(s->page, "%s%s%d", i ? ", " : "", x[i] < 0 ? "-" : "", (size_t)abs(x[i]));
  bramah__page_write(s->page, n ? "};\n" : "0};\n");
}

/* Valves: input, limit, lag; which parameter, if any, is the offset of the input. */
static void write_valves(const writing *s, double *x, int *index)
{
  const bramah_model *model = s->start->model;
  const size_t ns = s->program->ns;
  const bramah__valve *valve = model->circuit.valve;
  for (size_t i = 0; i < ns; i++) x[i] = valve[i].limit;
  write_numbers(s, "spool_limit", ns, x);
  for (size_t i = 0; i < ns; i++) x[i] = valve[i].time_constant;
  write_numbers(s, "time_constant", ns, x);
  for (size_t i = 0; i < ns; i++) index[i] = (int)valve[i].input;
  write_indices(s, "spool_input", ns, index);
  for (size_t i = 0; i < ns; i++) {
    index[i] = -1;
    for (size_t k = 0; k < model->n_parameters; k++)
      if (model->parameter[k].code == BRAMAH__INPUT_OFFSET && model->parameter[k].index == valve[i].input)
        index[i] = (int)k;
  }
  write_indices(s, "offset_parameter", ns, index);
}

/* Strokes between which a cylinder without end stop must stay. */
static void write_strokes(const writing *s, double *x)
{
  const bramah__circuit *circuit = &s->start->model->circuit;
  for (int most = 0; most < 2; most++) {
    for (size_t i = 0; i < circuit->n_cylinders; i++) {
      const bramah__cylinder *c = &circuit->cylinder[i];
      x[i] = most ? c->reference + c->rod_length : c->reference - c->piston_length;
      if (c->stop.stiffness > 0.0) x[i] = most ? (double)INFINITY : -(double)INFINITY;
    }
    write_numbers(s, most ? "most_stroke" : "least_stroke", circuit->n_cylinders, x);
  }
}

/* x [as long as anything], index likewise: scratch. */
static void write_tables(const writing *s, double *x, int *index, const char **name)
{
  const bramah_program *p = s->program;
  const bramah_model *model = s->start->model;
  const bramah__state *at = &s->start->state;
  bramah__page_write(s->page, "#define %sPOSITION_TOLERANCE %g\n#define %sLONGEST_GUESS %g\n\n", s->upper,
                     model->position_tolerance, s->upper, 0.1 * model->circuit.transition_pressure);
  write_indices(s, "joint", p->n, p->index);
  for (size_t k = 0; k < p->nx; k++)
    x[k] = k < p->nf ? model->position_tolerance : model->first_order_tolerance[k - p->nf];
  write_numbers(s, "tolerance", p->nx, x);
  write_numbers(s, "usual_pivot", p->nx, p->pivot);
  write_numbers(s, "usual_closure_pivot", p->nd, p->closure_pivot);
  write_numbers(s, "usual_mass_pivot", p->nf, p->mass_pivot);
  write_valves(s, x, index);
  write_strokes(s, x);

  bramah__page_write(s->page, "\nconst double %snominal[%sROOM(%sPARAMETERS)] = ", s->lower, s->upper,
                     s->upper);
  write_list(s, p->n_par, at->theta);
  bramah__page_write(s->page, ";\nconst %sstate %sstart = {", s->lower, s->lower);
  const struct {
    const char *name;
    size_t n;
    const double *x;
  } start[] = {{".z = ", p->n, at->z},    {", .zd = ", p->n, at->zd},  {", .zdd = ", p->n, at->zdd},
               {", .p = ", p->np, at->p}, {", .pd = ", p->np, at->pd}, {", .U = ", p->ns, at->U}};
  for (size_t i = 0; i < sizeof start / sizeof *start; i++) {
    bramah__page_write(s->page, start[i].name);
    write_list(s, start[i].n, start[i].x);
  }
  bramah__page_write(s->page, "};\n\n");
  write_names(s, "joint", "JOINTS", p->n, model->joint_name);
  write_names(s, "first_order", "FIRST_ORDER", p->np, model->volume_name);
  write_names(s, "actuator", "ACTUATORS", p->nc, model->cylinder_name);
  write_names(s, "input", "INPUTS", model->n_inputs, model->input_name);
  for (size_t i = 0; i < p->n_par; i++) name[i] = model->parameter[i].info.name;
  write_names(s, "parameter", "PARAMETERS", p->n_par, name);
  bramah__page_write(s->page, "\n");
}

/* ---- which parts, inputs and results the step has ---- */

/* Results in the order of step_graph.h; those that the step does not want have no name. */
static size_t list_results(const bramah_program *p, bramah__c_member *out)
{
  static const struct {
    size_t part;
    const char *name;
  } wanted[] = {{BRAMAH__PART_ITERATE, "correction"},    {BRAMAH__PART_ITERATE, "closing"},
                {BRAMAH__PART_ITERATE, "closure_pivot"}, {BRAMAH__PART_ITERATE, "pivot"},
                {BRAMAH__PART_POSE, "zd_all"},           {BRAMAH__PART_POSE, "stroke"},
                {BRAMAH__PART_POSE, "velocity"},         {BRAMAH__PART_POSE, "force"},
                {BRAMAH__PART_ENDS, "zdd_all"},          {BRAMAH__PART_RATES, "zdd_state"},
                {BRAMAH__PART_RATES, "pd_state"},        {BRAMAH__PART_RATES, "mass_pivot"}};
  const size_t n = p->n, nd = p->nd, nf = p->nf, np = p->np, nx = p->nx, ne = p->ne, nc = p->nc, nw = p->nw,
               nm = p->nm, nq = p->nq, nb = p->nb, n_works = p->n_works;
  const struct {
    const char *name;
    const uint16_t *at;
    size_t n;
  } all[] = {
#define RESULT(name, count) {#name, p->out.name, (count)},
      BRAMAH__STEP_RESULTS(RESULT)};
  size_t n_out = 0;
  for (size_t k = 0; k < sizeof wanted / sizeof *wanted; k++)
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
      if (strcmp(all[i].name, wanted[k].name) == 0)
        out[n_out++] = (bramah__c_member){
            wanted[k].name, wanted[k].part,
            (size_t)(all[i].at - bramah__tape_results(&p->tape, wanted[k].part)), all[i].n};
  return n_out;
}

enum { MOST_MEMBERS = 32 };

static size_t list_inputs(const writing *s, bramah__c_member *out)
{
  const bramah_program *p = s->program;
  const size_t n = p->n, nf = p->nf, np = p->np, nx = p->nx, ne = p->ne, ns = p->ns, nw = p->nw, nm = p->nm,
               nq = p->nq, nb = p->nb, n_par = p->n_par;
  size_t n_out = 0;
#define INPUT(name, rate, count) out[n_out++] = (bramah__c_member){#name, 0, p->in.name, (count)};
  BRAMAH__STEP_INPUTS(INPUT)
  return n_out;
}

/* Members of the struct; of the inputs those that steps have. */
static void write_members(const writing *s, const bramah__c_source *parts)
{
  for (size_t list = 0; list < 2; list++)
    for (size_t i = 0; i < (list ? parts->n_results : parts->n_inputs); i++) {
      const bramah__c_member *m = list ? &parts->result[i] : &parts->input[i];
      if (!list && m->first >= s->program->in.A) continue; /* of derivatives */
      bramah__page_write(s->page, "  double %s[%d];\n", m->name, m->n ? m->n : 1);
    }
  bramah__page_write(s->page, "  double kept[%d];", parts->n_kept ? parts->n_kept : 1);
}

/* ---- both files ---- */

static void write_files(writing *s, bramah__page *header, bramah__page *code, bramah__page *parts,
                        bramah_c_source *out)
{
  bramah__c_member input[MOST_MEMBERS], result[MOST_MEMBERS];
  bramah__c_part part[] = {{BRAMAH__PART_SETUP, "setup", 0},     {BRAMAH__PART_STEP, "before", 0},
                           {BRAMAH__PART_ITERATE, "iterate", 0}, {BRAMAH__PART_POSE, "pose", 0},
                           {BRAMAH__PART_ENDS, "ends", 0},       {BRAMAH__PART_RATES, "rates", 0}};
  enum { N_PARTS = sizeof part / sizeof *part };
  bramah__c_source equations = {.prefix = s->lower,
                                .input = input,
                                .result = result,
                                .part = part,
                                .n_inputs = list_inputs(s, input),
                                .n_results = list_results(s->program, result),
                                .n_parts = N_PARTS};
  const bramah_model *model = s->start->model;
  const size_t longest =
      model->n + model->n_first_order + model->n_parameters + s->program->ns + s->program->nc + 1;
  double *x = calloc(longest, sizeof *x);
  int *index = calloc(longest, sizeof *index);
  const char **name = calloc(longest, sizeof *name);
  if (x && index && name && bramah__c_source_write(&s->program->tape, &equations, parts)) {
    s->page = header;
    const char *text = fill(s, bramah__step_header);
    bramah__page_write(header, "%s", model->name);
    text = fill(s, text);
    write_sizes(s);
    text = fill(s, text);
    write_members(s, &equations);
    fill(s, text);
    s->page = code;
    text = fill(s, bramah__step_code);
    bramah__page_write(code, "%s", model->name);
    text = fill(s, text);
    bramah__page_write(code, "%s\n/* ---- the machine ---- */\n\n", bramah__elementary_text);
    write_tables(s, x, index, name);
    text = fill(s, text);
    bramah__page_write(code, "%s", parts->text);
    fill(s, text);
    out->n_iterate = part[2].n_operations;
    out->n_step = part[1].n_operations + part[3].n_operations + part[4].n_operations;
    out->n_kept = equations.n_kept;
  } else {
    code->failed = 1;
  }
  free(x);
  free(index);
  free(name);
}

bramah_status bramah_program_c_source(const bramah_program *program, const bramah_coupled *start,
                                      const char *name, bramah_diag *diag, bramah_c_source *out)
{
  *out = (bramah_c_source){0};
  writing s = {.program = program, .start = start};
  if (program->model != start->base)
    return bramah__fail(diag, BRAMAH_E_ARGUMENT, start->model->name, "the program is that of another model");
  if (memcmp(program->index, start->state.index, program->n * sizeof(int)) != 0 ||
      memcmp(program->row, start->state.row, start->model->m * sizeof(int)) != 0)
    return bramah__fail(diag, BRAMAH_E_ARGUMENT, start->model->name,
                        "the plant has other independent coordinates than its program");
  if (program->nw || program->nm || program->nq || program->nb)
    return bramah__fail(
        diag, BRAMAH_E_UNSUPPORTED, start->model->name,
        "quasistatic actuators, prescribed motions, friction with states and spherical joints are not "
        "written as C");
  if (!make_names(&s, name))
    return bramah__fail(diag, BRAMAH_E_ARGUMENT, name, "a name with a letter in it is needed");
  bramah__page header = {0}, code = {0}, parts = {0};
  write_files(&s, &header, &code, &parts, out);
  const int failed = header.failed || code.failed;
  free(parts.text);
  out->header = header.text;
  out->code = code.text;
  if (!failed) {
    memcpy(out->name, s.lower, strlen(s.lower) - 1); /* ends with _ */
    return BRAMAH_OK;
  }
  bramah_c_source_free(out);
  return bramah__fail(diag, BRAMAH_E_MEMORY, name, "no memory for the C source");
}

void bramah_c_source_free(bramah_c_source *source)
{
  free(source->header);
  free(source->code);
  *source = (bramah_c_source){0};
}
