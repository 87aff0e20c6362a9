/* SPDX-License-Identifier: MIT */
/* The object of a linearization: memory, names, and the order of work. */
#include "lib/linear/linearization_internal.h"
#include "lib/linear/rolling.h"
#include "lib/base/diag.h"
#include "lib/base/text.h"

#include <stdint.h>
#include <string.h>

int bramah__output_has_no_slope(bramah__output_code code)
{
  return code == BRAMAH__CYLINDER_WORK || code == BRAMAH__DRIVE_WORK || code == BRAMAH__METERED_VALVES;
}

/* Work and valves have no derivative; accelerations of a machine that rolls are not those of the free
 * plant. */
static int left_out(const bramah_model *model, bramah__output_code code)
{
  if (bramah__output_has_no_slope(code)) return 1;
  return model->n_rolling && (code == BRAMAH__JOINT_ACCELERATION || code == BRAMAH__DRIVE_FORCE ||
                              bramah__body_accelerates(code));
}

static const char *why_left_out(bramah__output_code code)
{
  if (code == BRAMAH__METERED_VALVES) return "this output tells which valves are open; it has no derivative";
  return bramah__output_has_no_slope(code) ? "this output is summed over time and no function of the state"
                                           : "accelerations of a rolling machine are no outputs";
}

static size_t count_outputs(const bramah_model *model, const bramah_linearization_options *options)
{
  if (!options || !options->all_outputs) return options ? options->n_outputs : 0;
  size_t n = 0;
  for (size_t i = 0; i < model->n_outputs; i++) n += !left_out(model, model->output[i].code);
  return n;
}

static void take_tables(bramah_linearization *l, bramah__arena *arena)
{
  const size_t n = l->system.n, nu = l->system.n_u, ny = l->system.n_y;
  l->parameter = BRAMAH__TAKE(arena, size_t, l->n_parameters);
  l->output = BRAMAH__TAKE(arena, size_t, ny);
  l->spool = BRAMAH__TAKE(arena, size_t, l->system.n_spool);
  l->A = BRAMAH__TAKE(arena, double, n *n);
  l->B = BRAMAH__TAKE(arena, double, n *nu);
  l->C = BRAMAH__TAKE(arena, double, ny *n);
  l->D = BRAMAH__TAKE(arena, double, ny *nu);
  l->x = BRAMAH__TAKE(arena, double, n);
  l->xd = BRAMAH__TAKE(arena, double, n);
  l->u = BRAMAH__TAKE(arena, double, nu);
  l->y = BRAMAH__TAKE(arena, double, ny);
  l->x_name = BRAMAH__TAKE(arena, const char *, n);
  l->x_unit = BRAMAH__TAKE(arena, const char *, n);
  l->u_name = BRAMAH__TAKE(arena, const char *, nu);
  l->u_unit = BRAMAH__TAKE(arena, const char *, nu);
  l->y_name = BRAMAH__TAKE(arena, const char *, ny);
  l->y_unit = BRAMAH__TAKE(arena, const char *, ny);
  l->friction_name = BRAMAH__TAKE(arena, const char *, l->system.n_friction);
  for (int i = 0; i < 3; i++) l->side[i] = BRAMAH__TAKE(arena, double, n + ny);
}

static void take_work(bramah_linearization *l, bramah__arena *arena, const bramah_model *model)
{
  const bramah__circuit *circuit = &model->circuit;
  const size_t nn = model->n, nf = model->n_independent, np = circuit->n_volumes,
               ns = bramah__n_spools(circuit),
               nk = nn + model->n_dependent + bramah__count_rolling_rows(model),
               N = 2 * nn + np + l->system.n_spool + circuit->n_friction_states;
  bramah__state state;
  bramah__arena counted = bramah__arena_make(NULL, 0);
  bramah__state_layout(model, &counted, &state);
  l->by_U = BRAMAH__TAKE(arena, double, np *ns);
  l->x_by_U = BRAMAH__TAKE(arena, double, l->system.n *ns);
  l->y_by_U = BRAMAH__TAKE(arena, double, l->system.n_y *ns);
  l->by_supply = BRAMAH__TAKE(arena, double, np * circuit->n_supplies);
  l->column = BRAMAH__TAKE(arena, double, nn);
  l->row = BRAMAH__TAKE(arena, double, 2 * nf + np);
  l->dx = BRAMAH__TAKE(arena, double, 2 * nf + np);
  l->snap = bramah__arena_take(arena, state.size, 1);
  l->K = BRAMAH__TAKE(arena, double, nk *nk);
  l->rhs = BRAMAH__TAKE(arena, double, nk);
  l->pivot = BRAMAH__TAKE(arena, int, nk);
  for (int i = 0; i < 2; i++) l->F[i] = BRAMAH__TAKE(arena, double, N);
  l->zero = BRAMAH__TAKE(arena, double, nn);
}

static const char *compose(bramah__arena *arena, const char *name, const char *suffix)
{
  char text[512];
  const size_t used = bramah__append(text, sizeof text, 0, name);
  bramah__append(text, sizeof text, used, suffix);
  return bramah__arena_text(arena, text);
}

static void name_friction(bramah_linearization *l, bramah__arena *arena, const bramah_model *model)
{
  static const char *const suffix[BRAMAH__FRICTION_MAX_STATES] = {".bristle", ".film"};
  for (size_t i = 0; i < model->circuit.n_cylinders; i++) {
    const bramah__cylinder *cylinder = &model->circuit.cylinder[i];
    for (size_t k = 0; k < bramah__friction_states(cylinder->friction.kind); k++) {
      const char *name = compose(arena, model->cylinder_name[i], suffix[k]);
      if (l->friction_name) l->friction_name[cylinder->first_state + k] = name;
    }
  }
}

static bramah_linearization *layout(const bramah_model *model, const bramah_linearization_options *options,
                                    bramah__arena *arena)
{
  bramah_linearization *object = BRAMAH__TAKE(arena, bramah_linearization, 1), counted = {0};
  bramah_linearization *l = object ? object : &counted;
  bramah_linear_system *s = &l->system;
  l->model = model;
  l->n_parameters = options ? options->n_parameters : 0;
  s->n_position = s->n_velocity = model->n_independent;
  s->n_pressure = model->circuit.n_volumes;
  s->n_spool = bramah__lagging_valves(&model->circuit, NULL);
  s->n_friction = model->circuit.n_friction_states;
  s->n = 2 * s->n_position + s->n_pressure + s->n_spool + s->n_friction;
  s->n_u = model->n_inputs + l->n_parameters;
  s->n_y = count_outputs(model, options);
  take_tables(l, arena);
  take_work(l, arena, model);
  bramah__roll_layout(model, arena, s->n, &l->roll);
  name_friction(l, arena, model);
  return object;
}

size_t bramah_linearization_size(const bramah_model *model, const bramah_linearization_options *options)
{
  bramah__arena arena = bramah__arena_make(NULL, 0);
  layout(model, options, &arena);
  return arena.used;
}

static bramah_status choose_outputs(bramah_linearization *l, const bramah_linearization_options *options,
                                    bramah_diag *diag)
{
  const bramah_model *model = l->model;
  size_t n = 0;
  if (options->all_outputs) {
    for (size_t i = 0; i < model->n_outputs; i++)
      if (!left_out(model, model->output[i].code)) l->output[n++] = i;
    return BRAMAH_OK;
  }
  for (size_t k = 0; k < options->n_outputs; k++) {
    const size_t i = options->outputs[k];
    if (i >= model->n_outputs)
      return bramah__fail(diag, BRAMAH_E_ARGUMENT, model->name, "there is no output of this number");
    if (left_out(model, model->output[i].code))
      return bramah__fail(diag, BRAMAH_E_UNSUPPORTED, model->output[i].info.name,
                          why_left_out(model->output[i].code));
    l->output[n++] = i;
  }
  return BRAMAH_OK;
}

/* Its column is that of a force, or does not touch the motion. */
static int acts_as_force(bramah__parameter_code code)
{
  return code == BRAMAH__JOINT_LOAD || code == BRAMAH__CYLINDER_LOAD || code == BRAMAH__SUPPLY_PRESSURE ||
         code == BRAMAH__INPUT_OFFSET;
}

static bramah_status choose_parameters(bramah_linearization *l, const bramah_linearization_options *options,
                                       bramah_diag *diag)
{
  for (size_t k = 0; k < options->n_parameters; k++) {
    if (options->parameters[k] >= l->model->n_parameters)
      return bramah__fail(diag, BRAMAH_E_ARGUMENT, l->model->name, "there is no parameter of this number");
    if (l->model->n_rolling && !acts_as_force(l->model->parameter[options->parameters[k]].code))
      return bramah__fail(diag, BRAMAH_E_UNSUPPORTED, l->model->parameter[options->parameters[k]].info.name,
                          "this parameter cannot be an input of a rolling machine");
    l->parameter[k] = options->parameters[k];
  }
  return BRAMAH_OK;
}

/* States of which an output tells, from `first` on: pressures or spools. Number i is that of thing[i], or
 * i. */
static void name_like(bramah_linearization *l, bramah__output_code code, size_t first, size_t n,
                      const size_t *thing)
{
  for (size_t i = 0; i < n; i++) {
    const bramah__output *output = l->model->output;
    while (output->code != code || output->index != (thing ? thing[i] : i)) output++;
    l->x_name[first + i] = output->info.name;
    l->x_unit[first + i] = output->info.unit;
  }
}

/* Names that never change: inputs, outputs, pressures, spools, friction states. */
static void name_all(bramah_linearization *l)
{
  const bramah_model *model = l->model;
  const bramah_linear_system *s = &l->system;
  name_like(l, BRAMAH__VOLUME_PRESSURE, 2 * s->n_position, s->n_pressure, NULL);
  name_like(l, BRAMAH__VALVE_SPOOL, bramah__first_spool(l), s->n_spool, l->spool);
  for (size_t i = 0; i < model->circuit.n_cylinders; i++) {
    const bramah__cylinder *cylinder = &model->circuit.cylinder[i];
    const int turns = i >= model->circuit.n_cylinders - model->n_rotaries;
    for (size_t k = 0; k < bramah__friction_states(cylinder->friction.kind); k++) {
      const size_t at = cylinder->first_state + k;
      l->x_name[bramah__first_friction(l) + at] = l->friction_name[at];
      l->x_unit[bramah__first_friction(l) + at] = k ? "1" : turns ? "rad" : "m";
    }
  }
  for (size_t k = 0; k < l->n_parameters; k++) {
    l->u_name[model->n_inputs + k] = model->parameter[l->parameter[k]].info.name;
    l->u_unit[model->n_inputs + k] = model->parameter[l->parameter[k]].info.unit;
  }
  for (size_t i = 0; i < model->n_outputs; i++)
    if (model->output[i].code == BRAMAH__INPUT_COMMAND) {
      l->u_name[model->output[i].index] = model->output[i].info.name;
      l->u_unit[model->output[i].index] = model->output[i].info.unit;
    }
  for (size_t i = 0; i < s->n_y; i++) {
    l->y_name[i] = model->output[l->output[i]].info.name;
    l->y_unit[i] = model->output[l->output[i]].info.unit;
  }
}

static void connect(bramah_linearization *l)
{
  bramah_linear_system *s = &l->system;
  s->A = l->A, s->B = l->B, s->C = l->C, s->D = l->D;
  s->x = l->x, s->xd = l->xd, s->u = l->u, s->y = l->y;
  s->x_name = l->x_name, s->x_unit = l->x_unit;
  s->u_name = l->u_name, s->u_unit = l->u_unit;
  s->y_name = l->y_name, s->y_unit = l->y_unit;
}

bramah_status bramah_linearization_init(const bramah_model *model,
                                        const bramah_linearization_options *options, void *mem, size_t size,
                                        bramah_diag *diag, bramah_linearization **out)
{
  const bramah_linearization_options none = {0};
  const bramah_linearization_options *o = options ? options : &none;
  if ((uintptr_t)mem % BRAMAH__ALIGN)
    return bramah__fail(diag, BRAMAH_E_ARGUMENT, "linearization", "memory is not aligned to 64 bytes");
  bramah__arena arena = bramah__arena_make(mem, size);
  bramah_linearization *l = mem ? layout(model, o, &arena) : NULL;
  if (!l || arena.overflow)
    return bramah__fail(diag, BRAMAH_E_ARGUMENT, "linearization", "memory is too small");
  bramah__lagging_valves(&model->circuit, l->spool);
  bramah_status status = choose_outputs(l, o, diag);
  if (status == BRAMAH_OK) status = choose_parameters(l, o, diag);
  if (status != BRAMAH_OK) return status;
  name_all(l);
  connect(l);
  *out = l;
  return BRAMAH_OK;
}

bramah_status bramah_linearization_new(const bramah_model *model, const bramah_linearization_options *options,
                                       bramah_diag *diag, bramah_linearization **out)
{
  const size_t size = bramah_linearization_size(model, options);
  void *mem = bramah__aligned_new(size);
  if (!mem) return bramah__fail(diag, BRAMAH_E_MEMORY, "linearization", "out of memory");
  const bramah_status status = bramah_linearization_init(model, options, mem, size, diag, out);
  if (status == BRAMAH_OK)
    (*out)->own_memory = 1;
  else
    bramah__aligned_free(mem);
  return status;
}

void bramah_linearization_free(bramah_linearization *l)
{
  if (l && l->own_memory) bramah__aligned_free(l);
}

const bramah_linear_system *bramah_linearization_system(const bramah_linearization *l) { return &l->system; }

bramah_linearization_counts bramah_linearization_count(const bramah_model *model)
{
  const bramah__circuit *circuit = &model->circuit;
  const size_t other =
      circuit->n_volumes + bramah__lagging_valves(circuit, NULL) + circuit->n_friction_states;
  return (bramah_linearization_counts){.n_coordinates = model->n,
                                       .n_constraints = model->n_dependent,
                                       .n_reduced = 2 * model->n_independent + other,
                                       .n_redundant = 2 * model->n + other};
}

const char *bramah_linearization_body(const bramah_model *model, size_t i)
{
  return i < model->n ? model->body_name[i] : NULL;
}

/* Positions and velocities are named by the coordinates that are independent now. */
static void note_point(bramah_linearization *l, const bramah_coupled *c)
{
  const bramah_model *model = l->model;
  const bramah_linear_system *s = &l->system;
  const size_t nf = s->n_position;
  for (size_t f = 0; f < 2 * nf; f++) {
    const size_t joint = (size_t)c->state.index[model->n_dependent + f % nf];
    const bramah_output_info *info = &model->output[3 * joint + f / nf].info;
    l->x_name[f] = info->name;
    l->x_unit[f] = info->unit;
    l->x[f] = f < nf ? c->state.z[joint] : c->state.zd[joint];
  }
  memcpy(l->x + 2 * nf, c->state.p, s->n_pressure * sizeof(double));
  for (size_t i = 0; i < s->n_spool; i++) l->x[bramah__first_spool(l) + i] = c->state.U[l->spool[i]];
  memcpy(l->x + bramah__first_friction(l), c->state.x, s->n_friction * sizeof(double));
  memcpy(l->u, c->state.u, model->n_inputs * sizeof(double));
  for (size_t k = 0; k < l->n_parameters; k++) l->u[model->n_inputs + k] = c->state.theta[l->parameter[k]];
  bramah__linear_rates(l, c, l->xd);
}

/* As if nothing rolled, and the names that belong to it. */
static void whole_order(bramah_linearization *l)
{
  bramah_linear_system *s = &l->system;
  s->n_position = s->n_velocity = l->model->n_independent;
  s->n = 2 * s->n_position + s->n_pressure + s->n_spool + s->n_friction;
  name_all(l);
}

bramah_status bramah_linearization_run(bramah_linearization *l, bramah_coupled *plant, bramah_diag *diag)
{
  if (plant->base != l->model)
    return bramah__fail(diag, BRAMAH_E_ARGUMENT, l->model->name, "the plant is of another model");
  bramah_status status = bramah__refresh(plant, diag);
  if (status != BRAMAH_OK) return status;
  if (l->roll.rows) whole_order(l);
  if (bramah__linearize_state(l, plant) != BRAMAH_OK)
    return bramah__fail(diag, BRAMAH_E_SINGULAR, l->model->name, "the mass matrix is singular");
  note_point(l, plant);
  status = bramah__linearize_outputs(l, plant, diag);
  if (status == BRAMAH_OK) status = bramah__linearize_inputs(l, plant, diag);
  if (status == BRAMAH_OK && l->roll.rows) status = bramah__roll_on(l, plant, diag);
  return status;
}
