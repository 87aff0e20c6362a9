/* SPDX-License-Identifier: MIT */
#include "lib/plant/step_source.h"
#include "lib/base/diag.h"
#include "lib/base/text.h"
#include "lib/multibody/rotation.h"
#include "lib/plant/coupled_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Texts that the build puts into the library. */
extern const char bramah__elementary_text[], bramah__elementary_single_text[], bramah__metered_types_text[],
    bramah__metered_text[], bramah__metered_code[], bramah__ground_code[], bramah__step_header[],
    bramah__step_code[];

/* "four-bar" as four_bar_ and FOUR_BAR_; 0 where nothing of it can begin a name of C. */
static int make_names(bramah__source *s, const char *name)
{
  size_t n = 0;
  for (; *name && n < BRAMAH__SOURCE_NAME; name++) {
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

const char *bramah__source_fill(const bramah__source *s, const char *text)
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

void bramah__source_text(const bramah__source *s, const char *text)
{
  static const char last[] = "/* ---- behind this line";
  char line[256];
  int guarded = 0;
  while (*text) {
    const char *end = strchr(text, '\n');
    size_t n = end ? (size_t)(end - text) + 1 : strlen(text);
    if (n >= sizeof line) n = sizeof line - 1; /* the rest is another one */
    memcpy(line, text, n);
    line[n] = '\0';
    guarded |= strncmp(line, "#ifndef BRAMAH_LIB", 18) == 0;
    if (strncmp(line, last, sizeof last - 1) == 0) {
      bramah__page_write(s->page, guarded ? "#endif\n" : "");
      return;
    }
    if (strncmp(line, "#include", 8) != 0) bramah__page_write(s->page, "%s", line);
    text += n;
  }
}

void bramah__source_define(const bramah__source *s, const char *name, size_t n)
{
  bramah__page_write(s->page, "#define %s%s %d\n", s->upper, name, n);
}

/* ---- the header ---- */

static void write_sizes(const bramah__source *s, int derivatives)
{
  const bramah_program *p = s->program;
  const bramah_model *model = s->start->model;
  const struct {
    const char *name;
    size_t n;
  } sizes[] = {{"JOINTS", p->n},
               {"DEPENDENT", p->nd},
               {"INDEPENDENT", p->nf},
               {"FIRST_ORDER", p->np},
               {"UNKNOWNS", p->nx},
               {"SPOOLS", p->ns},
               {"ACTUATORS", p->nc},
               {"INPUTS", model->n_inputs},
               {"PARAMETERS", p->n_par},
               {"ITERATIONS", (size_t)model->max_iterations},
               {"MOTIONS", p->nm},
               {"BRISTLES", p->nq},
               {"BRISTLE_ERRORS", p->nh},
               {"BALLS", p->nb},
               {"METERED", p->nw},
               {"STANDING", p->nk},
               {"FACTORS", derivatives == 1 ? 0 : p->n_factors},
               {"COARSE_TANGENT", derivatives == 1 ? 0 : p->n_coarse > 0},
               {"LEAPS", p->nw > 0 || model->leaps},
               {"STEP_NS", (size_t)model->step_ns}};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
    bramah__source_define(s, sizes[i].name, sizes[i].n);
  bramah__page_write(s->page, "#define %sSTEP %g /* [s] */\n", s->upper, model->h);
  bramah__page_write(s->page,
                     "#define %sTOLERANCE %g /* of the error of a position in a step [rad or m] */\n",
                     s->upper, model->tolerance);
}

/* ---- the code ---- */

void bramah__source_numbers(const bramah__source *s, const char *name, size_t n, const double *x)
{
  bramah__page_write(s->page, "static const double %s[] = {", name);
  for (size_t i = 0; i < n; i++) bramah__page_write(s->page, i ? ", %g" : "%g", x[i]);
  bramah__page_write(s->page, n ? "};\n" : "0.0};\n");
}

static void write_list(const bramah__source *s, size_t n, const double *x)
{
  bramah__page_write(s->page, "{");
  for (size_t i = 0; i < n; i++) bramah__page_write(s->page, i ? ", %g" : "%g", x[i]);
  bramah__page_write(s->page, n ? "}" : "0.0}");
}

void bramah__source_names(const bramah__source *s, const char *what, const char *length, size_t n,
                          const char *const *name)
{
  bramah__page_write(s->page, "#ifndef BRAMAH_DEVICE\nconst char *const %s%s[%sROOM(%s%s)] = {", s->lower,
                     what, s->upper, s->upper, length);
  for (size_t i = 0; i < n; i++) bramah__page_write(s->page, i ? ", \"%s\"" : "\"%s\"", name[i]);
  bramah__page_write(s->page, n ? "};\n#endif\n" : "\"\"};\n#endif\n");
}

void bramah__source_indices(const bramah__source *s, const char *name, size_t n, const int *x)
{
  bramah__page_write(s->page, "static const int %s[] = {", name);
  for (size_t i = 0; i < n; i++)
    bramah__page_write(s->page, "%s%s%d", i ? ", " : "", x[i] < 0 ? "-" : "", (size_t)abs(x[i]));
  bramah__page_write(s->page, n ? "};\n" : "0};\n");
}

/* Valves: input, limit, lag; which parameter, if any, is the offset of the input. */
static void write_valves(const bramah__source *s, double *x, int *index)
{
  const bramah_model *model = s->start->model;
  const size_t ns = s->program->ns;
  const bramah__valve *valve = model->circuit.valve;
  for (size_t i = 0; i < ns; i++) x[i] = valve[i].limit;
  bramah__source_numbers(s, "spool_limit", ns, x);
  for (size_t i = 0; i < ns; i++) x[i] = valve[i].time_constant;
  bramah__source_numbers(s, "time_constant", ns, x);
  for (size_t i = 0; i < ns; i++) index[i] = (int)valve[i].input;
  bramah__source_indices(s, "spool_input", ns, index);
  for (size_t i = 0; i < ns; i++) {
    index[i] = -1;
    for (size_t k = 0; k < model->n_parameters; k++)
      if (model->parameter[k].code == BRAMAH__INPUT_OFFSET && model->parameter[k].index == valve[i].input)
        index[i] = (int)k;
  }
  bramah__source_indices(s, "offset_parameter", ns, index);
}

/* Strokes between which a cylinder without end stop must stay. */
static void write_strokes(const bramah__source *s, double *x)
{
  const bramah__circuit *circuit = &s->start->model->circuit;
  for (int most = 0; most < 2; most++) {
    for (size_t i = 0; i < circuit->n_cylinders; i++) {
      const bramah__cylinder *c = &circuit->cylinder[i];
      x[i] = most ? c->reference + c->rod_length : c->reference - c->piston_length;
      if (c->stop.stiffness > 0.0) x[i] = most ? (double)INFINITY : -(double)INFINITY;
    }
    bramah__source_numbers(s, most ? "most_stroke" : "least_stroke", circuit->n_cylinders, x);
  }
}

/* Prescribed motions, and what spherical joints count from. */
static void write_mechanics(const bramah__source *s, double *x, int *index)
{
  const bramah_model *model = s->start->model;
  const size_t nm = s->program->nm, nb = s->program->nb;
  if (nm)
    bramah__page_write(s->page, "typedef struct motion {\n"
                                "  double position, rate, amplitude, omega, phase;\n"
                                "} motion;\n"
                                "static const motion motions[] = {\n");
  for (size_t i = 0; i < nm; i++) {
    const bramah__motion *m = &model->motion[i];
    const int turns = m->type == BRAMAH__MOTION_HARMONIC;
    bramah__page_write(s->page, "  {%g, %g, %g, %g, %g},\n", m->position, turns ? 0.0 : m->rate,
                       turns ? m->amplitude : 0.0, turns ? m->omega : 0.0, turns ? m->phase : 0.0);
  }
  if (nm) bramah__page_write(s->page, "};\n");
  if (nb == 0) return;
  bramah__page_write(s->page, "#define %sSINGULAR_COSINE %g\n", s->upper, BRAMAH__SINGULAR_COSINE);
  for (size_t i = 0; i < nb; i++) {
    bramah__quaternion_matrix(s->start->state.base + 4 * i, x + 9 * i);
    index[i] = (int)model->ball[i].first + 1;
  }
  bramah__source_numbers(s, "ball_base", 9 * nb, x);
  bramah__source_indices(s, "ball_pitch", nb, index);
}

/* Contacts on a field: how large they are and where it is looked at below them (ground.c). */
static void write_standing(const bramah__source *s, double *x)
{
  const bramah_model *model = s->start->model;
  const size_t nk = s->program->nk;
  if (nk == 0) return;
  bramah__source_numbers(s, "field_axes", 9, model->field_axes);
  for (size_t k = 0; k < nk; k++) x[k] = model->contact_point[model->standing[k].point].radius;
  bramah__source_numbers(s, "stand_radius", nk, x);
  for (size_t k = 0; k < 2 * nk; k++) x[k] = model->standing[k / 2].patch[k % 2];
  bramah__source_numbers(s, "stand_patch", 2 * nk, x);
  for (size_t k = 0; k < 2 * nk; k++) x[k] = (double)bramah__patch_parts(x[k], model->terrain.cell);
  bramah__source_numbers(s, "stand_parts", 2 * nk, x);
}

/* ---- quasistatic actuators ---- */

static void write_spool(const bramah__source *s, const char *name, size_t spool)
{
  bramah__page_write(s->page, spool == BRAMAH__NO_SPOOL ? ", .%s = BRAMAH__NO_SPOOL" : ", .%s = %d", name,
                     spool);
}

/* Parameters that move them at held motion and pressures; by_theta: by which derivatives are wanted. */
static void write_metering_parameters(const bramah__source *s, const bramah__source_addition *a)
{
  const bramah_model *model = s->program->model;
  bramah__page_write(s->page,
                     "enum { INPUT_OFFSET, LINE_FLOW, FLOW_SCALE };\nstatic const struct {\n  int parameter, "
                     "code, index, by_theta;\n} metering[] = {");
  for (size_t k = 0; k < model->n_parameters; k++) {
    const bramah__parameter *p = &model->parameter[k];
    size_t wanted = 0;
    for (size_t i = 0; a && i < a->n_par; i++) wanted |= a->par[i] == k;
    if (!bramah__moves_metered(p)) continue;
    bramah__page_write(s->page, "\n  {%d, %s, %d, %d},", k,
                       p->code == BRAMAH__LINE_FLOW    ? "LINE_FLOW"
                       : p->code == BRAMAH__FLOW_SCALE ? "FLOW_SCALE"
                                                       : "INPUT_OFFSET",
                       p->index, wanted);
  }
  bramah__page_write(s->page, "\n  {-1, 0, 0, 0}};\n");
}

/* As in the circuit. */
static void write_metered(const bramah__source *s, const bramah__source_addition *a)
{
  const bramah__circuit *circuit = &s->program->model->circuit;
  size_t most = 0;
  for (size_t l = 0; l < circuit->n_metered_lines; l++)
    if (circuit->metered_line[l].n > most) most = circuit->metered_line[l].n;
  bramah__page_write(s->page, "#define BRAMAH__METERED static inline\n#define BRAMAH__MAX_ON_LINE %d\n",
                     most);
  bramah__page_write(s->page, "#define BRAMAH__VARIED %g\n", s->single ? 1e-3 : 1e-6);
  bramah__source_text(s, bramah__metered_types_text);
  bramah__source_text(s, bramah__metered_text);
  bramah__page_write(s->page, "\nenum { LINES = %d };\nstatic const bramah__metered metered[] = {\n",
                     circuit->n_metered_lines);
  for (size_t i = 0; i < circuit->n_metered; i++) {
    const bramah__metered *m = &circuit->metered[i];
    bramah__page_write(s->page, "  {.A_h = %g, .A_r = %g, .P_hM = %g, .P_rM = %g, .c_ph = %g, .c_tr = %g",
                       m->A_h, m->A_r, m->P_hM, m->P_rM, m->c_ph, m->c_tr);
    bramah__page_write(s->page, ", .c_pr = %g, .c_th = %g, .c_a = %g},\n", m->c_pr, m->c_th, m->c_a);
  }
  bramah__page_write(s->page, "};\nstatic const bramah__metered_port metered_port[] = {\n");
  for (size_t i = 0; i < circuit->n_metered; i++) {
    const bramah__metered_port *port = &circuit->metered_port[i];
    bramah__page_write(s->page,
                       "  {.cylinder = %d, .volume = %d, .spool = %d, .stiffness = %g, .damping = %g",
                       port->cylinder, port->volume, port->spool, port->stiffness, port->damping);
    write_spool(s, "regeneration", port->regeneration);
    bramah__page_write(s->page, ", .regeneration_open = %g},\n", port->regeneration_open);
  }
  bramah__page_write(s->page, "};\nstatic const bramah__metered_line metered_line[] = {\n");
  for (size_t l = 0; l < circuit->n_metered_lines; l++) {
    const bramah__metered_line *line = &circuit->metered_line[l];
    bramah__page_write(s->page, "  {.line = {%g, %g, %g}, .tank = %d", line->line.Q, line->line.P_M,
                       line->line.U_b, line->tank);
    write_spool(s, "unloading", line->unloading);
    bramah__page_write(s->page, ", .unloading_open = %g, .first = %d, .n = %d},\n", line->unloading_open,
                       line->first, line->n);
  }
  bramah__page_write(s->page, "};\n");
  write_metering_parameters(s, a);
}

/* ---- tables of all machines ---- */

/* x [as long as anything], index likewise: scratch. */
static void write_tables(const bramah__source *s, double *x, int *index, const char **name)
{
  const bramah_program *p = s->program;
  const bramah_model *model = s->start->model;
  const bramah__state *at = &s->start->state;
  /* What rounding leaves of a correction to an angle or of a metre; what a small number is. */
  const double rounding = s->single ? 2e-6 : 0.0;
  const struct {
    const char *name;
    double x;
  } numbers[] = {{"CLOSED", fmax(0.01 * model->position_tolerance, rounding)},
                 {"PLACED", s->single ? 1e-6 : 1e-9},
                 {"LONGEST_GUESS", 0.1 * model->circuit.transition_pressure},
                 {"NEGLIGIBLE", s->single ? 1e-30 : 1e-250},
                 {"MOST_SIGMAS", s->single ? 1e15 : 1e100}};
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
    bramah__page_write(s->page, "#define %s%s %g\n", s->upper, numbers[i].name, numbers[i].x);
  bramah__source_indices(s, "joint", p->n, p->index);
  for (size_t k = 0; k < p->nx; k++)
    x[k] = k < p->nf ? fmax(model->position_tolerance, rounding)
                     : fmax(model->first_order_tolerance[k - p->nf],
                            5.0 * rounding * model->first_order_scale[k - p->nf]);
  bramah__source_numbers(s, "tolerance", p->nx, x);
  bramah__source_numbers(s, "usual_pivot", p->nx + p->nl, p->pivot);
  bramah__source_numbers(s, "usual_closure_pivot", p->nd, p->closure_pivot);
  bramah__source_numbers(s, "usual_mass_pivot", p->nf, p->mass_pivot);
  write_valves(s, x, index);
  write_strokes(s, x);
  write_mechanics(s, x, index);
  write_standing(s, x);
  for (size_t k = 0; k < p->nk; k++) {
    bramah__plane_axes(at->plane + 4 * k, x + 10 * k);
    x[10 * k + 9] = at->plane[4 * k + 3];
  }

  bramah__page_write(s->page, "\n%sFUNCTION const double %snominal[%sROOM(%sPARAMETERS)] = ", s->upper,
                     s->lower, s->upper, s->upper);
  write_list(s, p->n_par, at->theta);
  bramah__page_write(s->page, ";\n%sFUNCTION const %sstate %sstart = {", s->upper, s->lower, s->lower);
  const struct {
    const char *name;
    size_t n;
    const double *x;
  } start[] = {{".z = ", p->n, at->z},
               {", .zd = ", p->n, at->zd},
               {", .zdd = ", p->n, at->zdd},
               {", .p = ", p->np, at->p},
               {", .pd = ", p->np, at->pd},
               {", .U = ", p->ns, at->U},
               {", .u = ", model->n_inputs, at->u},
               {", .x = ", p->nq, at->x},
               {", .xd = ", p->nq, at->xd},
               {", .plane = ", 10 * p->nk, x}};
  for (size_t i = 0; i < sizeof start / sizeof *start; i++) {
    if (strchr(start[i].name, 'x') && p->nq == 0) continue;
    if (start[i].x == x && p->nk == 0) continue;
    bramah__page_write(s->page, start[i].name);
    write_list(s, start[i].n, start[i].x);
  }
  bramah__page_write(s->page, "};\n\n");
  bramah__source_names(s, "joint_names", "JOINTS", p->n, model->joint_name);
  bramah__source_names(s, "first_order_names", "FIRST_ORDER", p->np, model->volume_name);
  if (p->nh) bramah__source_names(s, "bristle_names", "BRISTLE_ERRORS", p->nh, model->bristle_name);
  bramah__source_names(s, "actuator_names", "ACTUATORS", p->nc, model->cylinder_name);
  bramah__source_names(s, "input_names", "INPUTS", model->n_inputs, model->input_name);
  for (size_t i = 0; i < p->n_par; i++) name[i] = model->parameter[i].info.name;
  bramah__source_names(s, "parameter_names", "PARAMETERS", p->n_par, name);
  bramah__page_write(s->page, "\n");
}

/* ---- which parts, inputs and results the step has ---- */

enum { MOST_MEMBERS = 48 };

/* Derivatives of a source: 0 none, 1 by the state, 2 by parameters, too. */
static int derivatives_of(const bramah__source_addition *a)
{
  return a ? 1 + (a->n_par > 0 || a->makes_steps) : 0;
}

/* Is what is wanted `with` so many derivatives in a source that has some? PLAIN: where steps are made without; a filter makes
 * those from other values of its parameters. */
enum { PLAIN = -1 };
static int is_with(int with, int derivatives)
{
  return with == PLAIN ? derivatives != 1 : derivatives >= with;
}

/* Results by their part and what they are called in the struct: A of a state is what the step's end is differentiated
 * with. The first ones are those of a step alone. */
static const struct {
  size_t part;
  const char *result, *name;
  int derivative;
} wanted[] = {{BRAMAH__PART_SPEEDS, "speed", "speed", 0},
              {BRAMAH__PART_SPEEDS, "open", "open", 0},
              {BRAMAH__PART_ITERATE, "correction", "correction", 0},
              {BRAMAH__PART_ITERATE, "closing", "closing", 0},
              {BRAMAH__PART_ITERATE, "closure_pivot", "closure_pivot", 0},
              {BRAMAH__PART_ITERATE, "pivot", "pivot", 0},
              {BRAMAH__PART_ITERATE, "factor", "factor", PLAIN},
              {BRAMAH__PART_AGAIN, "correction_again", "correction_again", PLAIN},
              {BRAMAH__PART_AGAIN, "closing_again", "closing_again", PLAIN},
              {BRAMAH__PART_AGAIN, "closure_pivot_again", "closure_pivot_again", PLAIN},
              {BRAMAH__PART_COARSE, "correction_coarse", "correction", PLAIN},
              {BRAMAH__PART_COARSE, "closing_coarse", "closing", PLAIN},
              {BRAMAH__PART_COARSE, "closure_pivot_coarse", "closure_pivot", PLAIN},
              {BRAMAH__PART_COARSE, "pivot_coarse", "pivot", PLAIN},
              {BRAMAH__PART_COARSE, "factor_coarse", "factor", PLAIN},
              {BRAMAH__PART_POSE, "zd_all", "zd_all", 0},
              {BRAMAH__PART_POSE, "stroke", "stroke", 0},
              {BRAMAH__PART_POSE, "velocity", "velocity", 0},
              {BRAMAH__PART_POSE, "force", "force", 0},
              {BRAMAH__PART_POSE, "stand", "stand", 0},
              {BRAMAH__PART_POSE, "opens", "opens", 1},
              {BRAMAH__PART_POSE, "yields", "yields", 1},
              {BRAMAH__PART_POSE, "x_end", "x_end", 0},
              {BRAMAH__PART_POSE, "xd_end", "xd_end", 0},
              {BRAMAH__PART_ENDS, "zdd_all", "zdd_all", 0},
              {BRAMAH__PART_FLOWS, "pd_state", "pd_state", 0},
              {BRAMAH__PART_RATES, "zdd_state", "zdd_state", 0},
              {BRAMAH__PART_RATES, "mass_pivot", "mass_pivot", 0},
              {BRAMAH__PART_TRANSITION, "F", "F", 1},
              {BRAMAH__PART_TRANSITION, "N", "N", 1},
              {BRAMAH__PART_PLACE, "closing_alone", "closing", 1},
              {BRAMAH__PART_PLACE, "place_pivot", "closure_pivot", 1},
              {BRAMAH__PART_POSE, "Rz", "Rz", 1},
              {BRAMAH__PART_POSE, "friction", "friction", 1},
              {BRAMAH__PART_SLOPES, "A_state", "A", 1},
              {BRAMAH__PART_SLOPES, "xd_state", "xd_by", 1},
              {BRAMAH__PART_SLOPES, "xd_yield_state", "xd_yield", 1},
              {BRAMAH__PART_SLOPES, "drawn_state", "drawn_by", 1},
              {BRAMAH__PART_GUESS, "guess", "guess", 1},
              {BRAMAH__PART_GUESS, "guess_dependent", "guess_dependent", 1}};

/* Is this of friction, of quasistatic actuators or of what opens? Machines without have no such member. */
static int is_special(const char *name)
{
  return strchr("xoy", *name) || strcmp(name, "speed") == 0 || strcmp(name, "stand") == 0 ||
         strcmp(name, "drawn_by") == 0;
}

static size_t list_results(const bramah_program *p, int derivatives, bramah__c_member *out)
{
  const size_t n = p->n, nd = p->nd, nf = p->nf, np = p->np, nx = p->nx, ne = p->ne, ns = p->ns, nc = p->nc,
               nn = p->nn, nw = p->nw, nm = p->nm, nq = p->nq, nk = p->nk, nh = p->nh, nl = p->nl, nu = p->nu,
               n_works = p->n_works, n_factors = p->n_factors, n_coarse = p->n_coarse;
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
      if (strcmp(all[i].name, wanted[k].result) == 0 && is_with(wanted[k].derivative, derivatives) &&
          (all[i].n || (!is_special(wanted[k].name) && wanted[k].part != BRAMAH__PART_COARSE)))
        out[n_out++] = (bramah__c_member){
            wanted[k].name, wanted[k].part,
            (size_t)(all[i].at - bramah__tape_results(&p->tape, wanted[k].part)), all[i].n};
  return n_out;
}

static size_t list_inputs(const bramah_program *p, bramah__c_member *out)
{
  const size_t n = p->n, nf = p->nf, np = p->np, nx = p->nx, nv = p->nv, ne = p->ne, ns = p->ns, nw = p->nw,
               nm = p->nm, nq = p->nq, nh = p->nh, nk = p->nk, no = p->no, ng = p->ng, nb = p->nb, ny = p->ny,
               n_par = p->n_par;
  size_t n_out = 0;
#define INPUT(name, rate, count) out[n_out++] = (bramah__c_member){#name, 0, p->in.name, (count)};
  BRAMAH__STEP_INPUTS(INPUT)
  out[n_out++] = (bramah__c_member){"factor", 0, p->first_factor, p->n_factors};
  return n_out;
}

/* Is an input in use? From A on only some machines have them. derivatives: 0 none, 1 by the state, 2 by parameters, too. */
static int is_used(const bramah__c_member *m, int derivatives)
{
  static const struct {
    const char *name;
    int derivatives;
  } wants[] = {{"A", 1},       {"xd_by", 1},   {"xd_yield", 1}, {"drawn_by", 1},
               {"carried", 2}, {"w_theta", 2}, {"held", 3},     {"touch", 3}};
  if (strcmp(m->name, "factor") == 0) return derivatives != 1;
  for (size_t k = 0; k < sizeof wants / sizeof *wants; k++)
    if (strcmp(m->name, wants[k].name) == 0 && derivatives < wants[k].derivatives) return 0;
  return m->n > 0;
}

/* Members of the struct, each once: of the inputs those that are in use; without what is read, which has a member alone. */
static void write_members(const bramah__source *s, int derivatives, const bramah__c_source *parts)
{
  const size_t n_in = parts->n_inputs, n_all = n_in + parts->n_results;
  int optional = 0;
  for (size_t i = 0; i < n_all; i++) {
    const bramah__c_member *m = i < n_in ? &parts->input[i] : &parts->result[i - n_in];
    optional |= i < n_in && m->n > 0 && m->first == s->program->in.A;
    int again = i < n_in ? optional && !is_used(m, derivatives) : strchr(m->name, '[') != NULL;
    for (size_t k = 0; k < i && !again; k++)
      again = strcmp(m->name, (k < n_in ? &parts->input[k] : &parts->result[k - n_in])->name) == 0;
    if (!again) bramah__page_write(s->page, "  double %s[%d];\n", m->name, m->n ? m->n : 1);
  }
  bramah__page_write(s->page, "  double kept[%d];", parts->n_kept ? parts->n_kept : 1);
}

/* ---- outputs ---- */

/* The member of name_state that holds it, with its index; NULL: none. */
static const char *member_of(const bramah__output *output)
{
  switch (output->code) {
  case BRAMAH__JOINT_POSITION:
    return "z";
  case BRAMAH__JOINT_RATE:
    return "zd";
  case BRAMAH__JOINT_ACCELERATION:
    return "zdd";
  case BRAMAH__VOLUME_PRESSURE:
    return "p";
  case BRAMAH__VALVE_SPOOL:
    return "U";
  case BRAMAH__CYLINDER_STROKE:
    return "work.stroke";
  case BRAMAH__CYLINDER_VELOCITY:
    return "work.velocity";
  case BRAMAH__CYLINDER_FORCE:
    return "work.force";
  case BRAMAH__CYLINDER_FRICTION:
    return "work.friction";
  default:
    return NULL;
  }
}

int bramah__source_has_output(const bramah_program *program, const bramah__state *start, size_t output)
{
  if (!bramah__shows_coordinate(program->model, start, output)) return 0;
  return member_of(&program->model->output[output]) || program->reading[output].part;
}

/* Result k of an output's reading where that is always the same number; NAN: it is not. */
static double always(const bramah_program *program, size_t output, size_t k)
{
  const bramah__tape *tape = &program->tape;
  const bramah__reading *reading = &program->reading[output];
  const size_t r = bramah__tape_results(tape, reading->part)[reading->first + k];
  return r >= tape->n_inputs && r < tape->n_inputs + tape->n_numbers ? tape->number[r - tape->n_inputs]
                                                                     : (double)NAN;
}

static int is_zero(const bramah_program *program, size_t output, size_t k)
{
  return always(program, output, k) == 0.0;
}

/* Of an output that is a state or an independent acceleration itself the only one of its derivatives that is not zero, which
 * is one: nothing has to be computed for it. -1: it is another. */
static int only_entry(const bramah_program *program, size_t output)
{
  int only = -1;
  if (!member_of(&program->model->output[output]) || !program->reading[output].part) return -1;
  for (size_t k = 1; k < bramah__reading_width(program); k++) {
    const double x = always(program, output, k);
    if (x == 0.0) continue;
    if (x != 1.0 || only >= 0) return -1;
    only = (int)k - 1;
  }
  return only;
}

static int is_computed(const bramah_program *program, size_t output)
{
  return program->reading[output].part && only_entry(program, output) < 0;
}

static int accelerates(const bramah_program *program, size_t output)
{
  int any = 0;
  for (size_t k = 0; k < program->nf && program->reading[output].part; k++)
    any |= !is_zero(program, output, 1 + program->ne + k);
  return any;
}

int bramah__source_follows(const bramah_program *program, size_t output, size_t n_par, const size_t *par)
{
  int any = n_par && accelerates(program, output);
  for (size_t i = 0; i < n_par && program->reading[output].part; i++)
    any |= !is_zero(program, output, 1 + program->ne + program->nf + par[i]);
  return any;
}

int bramah__source_row(const bramah_program *program, size_t output, size_t *from, size_t *to)
{
  const int whole = accelerates(program, output), has_row = program->reading[output].part != 0;
  *from = *to = 0;
  for (size_t k = 0; has_row && k < program->ne; k++) {
    if (!whole && is_zero(program, output, 1 + k)) continue;
    if (*to == 0) *from = k;
    *to = k + 1;
  }
  return has_row;
}

/* The load of a cylinder is no part of its own force. */
static void write_load(const bramah__source *s, size_t cylinder)
{
  const bramah_model *model = s->program->model;
  for (size_t i = 0; i < model->n_parameters; i++)
    if (model->parameter[i].code == BRAMAH__CYLINDER_LOAD && model->parameter[i].index == cylinder) {
      bramah__page_write(s->page, " - s->work.theta[%d]", i);
      return;
    }
  bramah__page_write(s->page, " - %g", model->circuit.cylinder[cylinder].load);
}

/* How many outputs in the list before output i are computed in the same part. */
static size_t slot_of(const bramah__source *s, const bramah__source_addition *a, size_t i)
{
  const bramah__reading *all = s->program->reading;
  size_t n = 0;
  for (size_t k = 0; k < i; k++)
    n += all[a->output[k]].part == all[a->output[i]].part && is_computed(s->program, a->output[k]);
  return n;
}

/* What the filter has to know of each. */
static void write_output_table(const bramah__source *s, const bramah__source_addition *a)
{
  bramah__page_write(s->page, "static const struct {\n"
                              "  int has_row, slot, only, is_read, follows, follows_ends, accelerates;\n"
                              "} output_table[] = {\n");
  for (size_t i = 0; i < a->n_outputs; i++) {
    const size_t output = a->output[i];
    const bramah__reading *reading = &s->program->reading[output];
    const int columns[] = {reading->part != 0,
                           is_computed(s->program, output) ? (int)slot_of(s, a, i) : 0,
                           only_entry(s->program, output),
                           !member_of(&s->program->model->output[output]),
                           bramah__source_follows(s->program, output, a->n_par, a->par),
                           reading->follows_ends,
                           accelerates(s->program, output)};
    for (size_t k = 0; k < sizeof columns / sizeof *columns; k++)
      bramah__page_write(s->page, "%s%s%d", k ? ", " : "  {", columns[k] < 0 ? "-" : "",
                         (size_t)abs(columns[k]));
    bramah__page_write(s->page, "},\n");
  }
  bramah__page_write(s->page, a->n_outputs ? "};\n" : "  {0}};\n");
}

static void write_outputs(const bramah__source *s, const bramah__source_addition *a)
{
  const bramah__output *all = s->program->model->output;
  bramah__page_write(s->page, "\n/* ---- outputs ---- */\n\n");
  write_output_table(s, a);
  bramah__page_write(s->page, "\nstatic double %soutput(const %sstate *s, int i)\n{\n  switch (i) {\n",
                     s->lower, s->lower);
  for (size_t i = 0; i < a->n_outputs; i++) {
    const bramah__output *output = &all[a->output[i]];
    const char *member = member_of(output);
    if (member)
      bramah__page_write(s->page, "  case %d:\n    return s->%s[%d]", i, member, output->index);
    else
      bramah__page_write(s->page, "  case %d:\n    return s->work.read[%d][0]", i, slot_of(s, a, i));
    if (output->code == BRAMAH__CYLINDER_FORCE) write_load(s, output->index);
    bramah__page_write(s->page, ";\n");
  }
  bramah__page_write(s->page, "  default:\n    return 0.0;\n  }\n}\n\n");
  bramah__page_write(s->page, "static void %sread(%swork *w, int i)\n{\n  switch (i) {\n", s->lower,
                     s->lower);
  for (size_t i = 0; i < a->n_outputs; i++) {
    const char *shown = bramah__is_metered(all[a->output[i]].code) ? "    show_metered(w);\n" : "",
               *by = s->program->nw && a->n_par ? "    move_metered_by_parameters(w);\n" : "";
    if (is_computed(s->program, a->output[i]))
      bramah__page_write(s->page, "  case %d:\n%s%s    %sread_%d(w);\n    break;\n", i, shown, by, s->lower,
                         s->program->reading[a->output[i]].part);
  }
  bramah__page_write(s->page, "  default:\n    break;\n  }\n}\n");
}

/* ---- both files ---- */

enum { PART_NAME = 24 };

typedef struct bramah__lists {
  bramah__c_source source;
  bramah__c_member input[MOST_MEMBERS], *result;
  bramah__c_part *part;
  char (*name)[PART_NAME]; /* of functions and members that readings are */
  size_t n_slots;          /* most readings in a part */
} bramah__lists;

static const struct {
  size_t part;
  const char *name;
  int derivative;
} step_parts[] = {{BRAMAH__PART_SETUP, "setup", 0},     {BRAMAH__PART_STEP, "before", 0},
                  {BRAMAH__PART_SPEEDS, "speeds", 0},   {BRAMAH__PART_ITERATE, "iterate", 0},
                  {BRAMAH__PART_AGAIN, "again", PLAIN}, {BRAMAH__PART_COARSE, "coarse", PLAIN},
                  {BRAMAH__PART_INERTIA, "inertia", 1}, {BRAMAH__PART_TRANSITION, "transition", 1},
                  {BRAMAH__PART_PLACE, "place", 1},     {BRAMAH__PART_POSE, "pose", 0},
                  {BRAMAH__PART_ENDS, "ends", 0},       {BRAMAH__PART_FLOWS, "flows", 0},
                  {BRAMAH__PART_RATES, "rates", 0},     {BRAMAH__PART_SLOPES, "slopes", 1},
                  {BRAMAH__PART_GUESS, "guess", 1}};
enum { N_STEP_PARTS = sizeof step_parts / sizeof *step_parts };

static const char *numbered(char *name, const char *begin, size_t number, const char *end)
{
  size_t n = bramah__append(name, PART_NAME, 0, begin);
  n += bramah__format_integer(name + n, (int64_t)number);
  bramah__append(name, PART_NAME, n, end);
  return name;
}

/* Those by parameters only where these are wanted. */
static size_t reading_width(const bramah__source *s, const bramah__source_addition *a)
{
  return 1 + s->program->ne + s->program->nf + (a->n_par ? s->program->n_par : 0);
}

/* Parts behind the step in which outputs of the list are; value and derivatives of each by state and accelerations. */
static void list_readings(const bramah__source *s, const bramah__source_addition *a, bramah__lists *out)
{
  bramah__c_source *source = &out->source;
  char(*name)[PART_NAME] = out->name;
  for (size_t part = BRAMAH__PART_PARAMETERS; part < s->program->tape.n_parts; part++) {
    size_t n = 0;
    for (size_t i = 0; i < a->n_outputs; i++) {
      const bramah__reading *reading = &s->program->reading[a->output[i]];
      if (reading->part != part || !is_computed(s->program, a->output[i])) continue;
      if (n == 0)
        out->part[source->n_parts++] = (bramah__c_part){part, numbered(*name++, "read_", part, ""), 0};
      out->result[source->n_results++] =
          (bramah__c_member){numbered(*name++, "read[", n++, "]"), part, reading->first, reading_width(s, a)};
    }
    if (n > out->n_slots) out->n_slots = n;
  }
}

/* Parts of the parameters: of the step and of its start, which stand in this order. */
static void list_parameters(const bramah__source *s, const bramah__source_addition *a, bramah__lists *out)
{
  bramah__c_source *source = &out->source;
  char(*name)[PART_NAME] = out->name + 2 * a->n_outputs;
  for (size_t k = 0; k < s->program->n_par; k++)
    for (size_t i = 0; i < a->n_par; i++) {
      const size_t part = BRAMAH__PART_PARAMETERS + 2 * k;
      if (a->par[i] != k) continue;
      for (size_t start = 0; start < 2; start++) {
        out->part[source->n_parts++] =
            (bramah__c_part){part + start, numbered(*name++, start ? "start_" : "follow_", i, ""), 0};
        out->result[source->n_results++] =
            (bramah__c_member){numbered(*name++, start ? "start[" : "G[", i, "]"), part + start, 0,
                               start ? s->program->nv : s->program->ne};
      }
    }
}

static void write_parameters(const bramah__source *s, const bramah__source_addition *a)
{
  const char *first = s->program->nw ? "  move_metered_by_parameters(w);\n" : "";
  if (a->n_par == 0) return;
  bramah__page_write(s->page, "\nstatic void %sstart_parameters(%swork *w)\n{\n%s", s->lower, s->lower,
                     first);
  for (size_t i = 0; i < a->n_par; i++) bramah__page_write(s->page, "  %sstart_%d(w);\n", s->lower, i);
  bramah__page_write(s->page, "}\n\nstatic void %sfollow_parameters(%swork *w)\n{\n%s", s->lower, s->lower,
                     first);
  for (size_t i = 0; i < a->n_par; i++)
    bramah__page_write(s->page, "  memcpy(w->carried, w->start[%d], sizeof w->carried);\n  %sfollow_%d(w);\n",
                       i, s->lower, i);
  bramah__page_write(s->page, "}\n");
}

/* All that is wanted of the program, in the order of its parts. */
static int make_lists(const bramah__source *s, const bramah__source_addition *a, bramah__lists *out)
{
  const size_t n_rows = a ? a->n_outputs : 0, n_par = a ? a->n_par : 0;
  bramah__c_source *source = &out->source;
  out->result = calloc(MOST_MEMBERS + n_rows + 2 * n_par, sizeof *out->result);
  out->part = calloc(N_STEP_PARTS + n_rows + 2 * n_par, sizeof *out->part);
  out->name = calloc(2 * n_rows + 4 * n_par + 1, sizeof *out->name);
  if (!out->result || !out->part || !out->name) return 0;
  *source = (bramah__c_source){.prefix = s->lower,
                               .input = out->input,
                               .result = out->result,
                               .part = out->part,
                               .n_inputs = list_inputs(s->program, out->input),
                               .n_results = list_results(s->program, derivatives_of(a), out->result)};
  for (size_t i = 0; i < N_STEP_PARTS; i++)
    if (is_with(step_parts[i].derivative, derivatives_of(a)) &&
        (s->program->nw || step_parts[i].part != BRAMAH__PART_SPEEDS) &&
        (s->program->n_coarse || step_parts[i].part != BRAMAH__PART_COARSE))
      out->part[source->n_parts++] = (bramah__c_part){step_parts[i].part, step_parts[i].name, 0};
  if (a) list_parameters(s, a, out);
  if (a) list_readings(s, a, out);
  return 1;
}

static size_t operations(const bramah__lists *lists, size_t part)
{
  for (size_t i = 0; i < lists->source.n_parts; i++)
    if (lists->part[i].part == part) return lists->part[i].n_operations;
  return 0;
}

static void write_header(bramah__source *s, const bramah__source_addition *a, const bramah__lists *lists)
{
  static const char alone[] =
      "This is the plant alone, the motion of the machine under its commands: no sensors and no "
      "filter.\n * ";
  const bramah_model *model = s->start->model;
  const char *text = bramah__source_fill(s, bramah__step_header);
  bramah__page_write(s->page, "%s\"%s", model->name, a ? a->what : "");
  text = bramah__source_fill(s, text);
  bramah__page_write(s->page, a ? "" : alone);
  text = bramah__source_fill(s, text);
  write_sizes(s, derivatives_of(a));
  text = bramah__source_fill(s, text);
  write_members(s, derivatives_of(a), &lists->source);
  if (a && a->n_par)
    bramah__page_write(s->page, "\n  double start[%d][%d], G[%d][%d];", a->n_par, s->program->nv, a->n_par,
                       s->program->ne);
  if (a)
    bramah__page_write(s->page, "\n  double read[%d][%d];", lists->n_slots ? lists->n_slots : 1,
                       reading_width(s, a));
  text = bramah__source_fill(s, text);
  if (a) bramah__page_write(s->page, "%s\n", a->header);
  bramah__source_fill(s, text);
}

static int write_code(bramah__source *s, const bramah__source_addition *a, const char *equations)
{
  const bramah_model *model = s->start->model;
  const size_t longest = model->n + model->n_first_order + model->n_parameters + s->program->ns +
                         s->program->nc + 9 * s->program->nb + 10 * s->program->nk + 1;
  double *x = calloc(longest, sizeof *x);
  int *index = calloc(longest, sizeof *index);
  const char **name = calloc(longest, sizeof *name);
  const int fine = x && index && name;
  if (fine) {
    const char *text = bramah__source_fill(s, bramah__step_code);
    bramah__page_write(s->page, "%s\"%s", model->name, a ? a->what : "");
    text = bramah__source_fill(s, text);
    bramah__source_text(s, s->single ? bramah__elementary_single_text : bramah__elementary_text);
    bramah__page_write(s->page, "\n/* ---- the machine ---- */\n\n");
    write_tables(s, x, index, name);
    if (s->program->nw) write_metered(s, a);
    text = bramah__source_fill(s, text);
    bramah__page_write(s->page, "%s", equations);
    const char *metered = s->program->nw ? bramah__source_fill(s, bramah__metered_code) : "";
    if (a && a->n_par) bramah__source_fill(s, metered);
    if (a) write_parameters(s, a);
    if (a) write_outputs(s, a);
    bramah__source_fill(s, text);
    if (s->program->nk) bramah__source_fill(s, bramah__ground_code);
    if (a) bramah__page_write(s->page, "\n%s", a->code);
  }
  free(x);
  free(index);
  free(name);
  return fine;
}

/* Do the pivots of the program hold in a step from there? They have one order, which contacts that begin to act may
 * upset: the source would refuse from the first step on what the plant makes without its program. */
static bramah_status try_first_step(const bramah_program *program, const bramah_coupled *start,
                                    bramah_diag *diag)
{
  const char *name = start->model->name;
  bramah_coupled *trial = NULL;
  bramah_status status = bramah_coupled_new(start->base, diag, &trial);
  if (!status) status = bramah_coupled_use(trial, program, diag);
  const bramah_plant plant = status ? (bramah_plant){0} : bramah_coupled_plant(trial);
  void *snap = status ? NULL : malloc(plant.snapshot_size);
  if (!status && !snap) status = bramah__fail(diag, BRAMAH_E_MEMORY, name, "no memory for a first step");
  if (!status) {
    plant.save(start, snap);
    plant.restore(trial, snap);
    status = plant.step(trial, diag);
  }
  const bramah_step_report report = status ? (bramah_step_report){0} : bramah_coupled_report(trial);
  free(snap);
  bramah_coupled_free(trial);
  if (status || report.compiled > 0 || !report.left_pivot) return status;
  return bramah__fail(
      diag, BRAMAH_E_UNSUPPORTED, name,
      "its first step meets a small pivot in the order of the program, which the source would refuse; "
      "the library makes such steps");
}

bramah_status bramah__source_begin(const bramah_program *program, const bramah_coupled *start,
                                   const char *name, bramah_precision precision, bramah_diag *diag,
                                   bramah__source *out)
{
  if (program->model != start->base)
    return bramah__fail(diag, BRAMAH_E_ARGUMENT, start->model->name, "the program is that of another model");
  if (program->scope != BRAMAH_PROGRAM_PARAMETERS)
    return bramah__fail(diag, BRAMAH_E_ARGUMENT, start->model->name, "the program lacks derivatives");
  while (program && !bramah__program_knows(program, &start->state)) program = program->next;
  *out = (bramah__source){.program = program, .start = start, .single = precision == BRAMAH_PRECISION_SINGLE};
  if (!program)
    return bramah__fail(diag, BRAMAH_E_ARGUMENT, start->model->name,
                        "the plant has other independent coordinates than its program");
  if (start->model->n_tools)
    return bramah__fail(diag, BRAMAH_E_UNSUPPORTED, start->model->name,
                        "tools in soil are not written as C; leave them out of the machine");
  if (start->model->n_meetings)
    return bramah__fail(diag, BRAMAH_E_UNSUPPORTED,
                        start->model->contact_name[start->model->meeting[0].contact],
                        "contacts between bodies are not written as C, for where shapes touch is looked for "
                        "before every step; the library runs this machine");
  int table = 0;
  for (size_t i = 0; i < program->nm; i++) table |= start->model->motion[i].type == BRAMAH__MOTION_TABLE;
  if (table)
    return bramah__fail(diag, BRAMAH_E_UNSUPPORTED, start->model->name,
                        "motions prescribed by a table are not written as C");
  if (!make_names(out, name))
    return bramah__fail(diag, BRAMAH_E_ARGUMENT, name, "a name with a letter in it is needed");
  return try_first_step(program, start, diag);
}

bramah_status bramah__source_end(bramah__source *s, const bramah__source_addition *a, bramah_diag *diag,
                                 bramah_c_source *out)
{
  bramah__lists lists = {.result = NULL};
  bramah__page header = {0}, code = {0}, equations = {0};
  *out = (bramah_c_source){0};
  if (a && s->program->nk)
    return bramah__fail(
        diag, BRAMAH_E_UNSUPPORTED, s->start->model->name,
        "contacts on a terrain are written as C without a filter; let its model stand on a plane");
  int fine = make_lists(s, a, &lists) && bramah__c_source_write(&s->program->tape, &lists.source, &equations);
  if (fine) {
    s->page = &header;
    write_header(s, a, &lists);
    s->page = &code;
    fine = write_code(s, a, equations.text);
  }
  if (s->single) {
    bramah__page_make_single(&header);
    bramah__page_make_single(&code);
  }
  memcpy(out->name, s->lower, strlen(s->lower) - 1); /* ends with _ */
  out->n_iterate = operations(&lists, BRAMAH__PART_ITERATE);
  out->n_step = operations(&lists, BRAMAH__PART_STEP) + operations(&lists, BRAMAH__PART_POSE) +
                operations(&lists, BRAMAH__PART_ENDS);
  /* of a filter: the derivatives, and state and pose once more after the correction */
  for (size_t i = 0; a && i < N_STEP_PARTS; i++)
    out->n_step += operations(&lists, step_parts[i].part) *
                   (step_parts[i].derivative > 0 || step_parts[i].part == BRAMAH__PART_FLOWS ||
                    step_parts[i].part == BRAMAH__PART_POSE || step_parts[i].part == BRAMAH__PART_RATES);
  out->n_kept = lists.source.n_kept;
  out->step = s->program->model->h;
  out->header = header.text;
  out->code = code.text;
  free(equations.text);
  free(lists.result);
  free(lists.part);
  free(lists.name);
  if (fine && !header.failed && !code.failed) return BRAMAH_OK;
  bramah_c_source_free(out);
  return bramah__fail(diag, BRAMAH_E_MEMORY, s->start->model->name, "no memory for the C source");
}

bramah_status bramah_program_c_source(const bramah_program *program, const bramah_coupled *start,
                                      const char *name, bramah_precision precision, bramah_diag *diag,
                                      bramah_c_source *out)
{
  bramah__source s;
  *out = (bramah_c_source){0};
  const bramah_status status = bramah__source_begin(program, start, name, precision, diag, &s);
  return status == BRAMAH_OK ? bramah__source_end(&s, NULL, diag, out) : status;
}

/* The error states of its bristles among all. */
static void write_bristles(const bramah__source *s)
{
  const size_t nh = s->program->nh;
  bramah__page_write(
      s->page, "#define N_PAR 0\n#define BRAMAH__INLINE static inline\nenum { N = %sERRORS };\n", s->upper);
  if (nh) bramah__page_write(s->page, "static const int bristle[] = {");
  for (size_t i = 0; i < nh; i++)
    bramah__page_write(s->page, i ? ", %d" : "%d", s->program->model->bristle_state[i]);
  if (nh) bramah__page_write(s->page, "};\n");
}

bramah_status bramah_plant_c_source(const bramah_program *program, const bramah_coupled *start,
                                    const char *name, bramah_diag *diag, bramah_c_source *out)
{
  bramah__source s;
  bramah__page header = {0}, code = {0};
  *out = (bramah_c_source){0};
  bramah_status status = bramah__source_begin(program, start, name, BRAMAH_PRECISION_DOUBLE, diag, &s);
  if (status != BRAMAH_OK) return status;
  const size_t n = start->model->n_outputs;
  size_t *output = calloc(n + 1, sizeof *output), n_shown = 0;
  for (size_t i = 0; output && i < n; i++)
    if (bramah__source_has_output(s.program, &start->state, i) &&
        !bramah__is_of_body(start->model->output[i].code))
      output[n_shown++] = i;
  s.page = &header;
  const char *text = bramah__source_fill(&s, bramah__plant_header);
  bramah__source_define(&s, "ERRORS", s.program->ne);
  bramah__source_define(&s, "OUTPUTS", n_shown);
  bramah__source_fill(&s, text);
  s.page = &code;
  write_bristles(&s);
  text = bramah__source_fill(&s, bramah__plant_code);
  bramah__source_fill(&s, text);
  const bramah__source_addition addition = {.what = ", step by step",
                                            .header = header.text,
                                            .code = code.text,
                                            .n_outputs = n_shown,
                                            .output = output,
                                            .makes_steps = 1};
  status = output && !header.failed && !code.failed
               ? bramah__source_end(&s, &addition, diag, out)
               : bramah__fail(diag, BRAMAH_E_MEMORY, start->model->name, "no memory for the C source");
  free(header.text);
  free(code.text);
  if (status != BRAMAH_OK)
    free(output);
  else
    out->n_outputs = n_shown, out->output = output;
  return status;
}

void bramah_c_source_free(bramah_c_source *source)
{
  free(source->output);
  free(source->header);
  free(source->code);
  *source = (bramah_c_source){0};
}
