/* SPDX-License-Identifier: MIT */
/* The built-in plant behind the plant interface. */
#include "lib/plant/compiled.h"
#include "lib/base/diag.h"
#include "lib/math/dense.h"

#include <math.h>
#include <string.h>

#define TAKE(type, name, count) c->name = BRAMAH__TAKE(arena, type, count);
#define TAKE_NEWTON(type, name, count) c->newton.name = BRAMAH__TAKE(arena, type, count);
#define TAKE_DERIVATIVE(type, name, count) c->derivative.name = BRAMAH__TAKE(arena, type, count);
#define TAKE_ERROR(type, name, count) c->error.name = BRAMAH__TAKE(arena, type, count);
#define TAKE_TRANSITION(type, name, count) c->transition.name = BRAMAH__TAKE(arena, type, count);

bramah_coupled *bramah__coupled_layout(const bramah_model *model, bramah__arena *arena)
{
  const size_t n = model->n, nc = model->circuit.n_cylinders, n_first_order = model->n_first_order,
               nx = n + n_first_order, n_error = n + nx + model->n_bristles;
  bramah_coupled *object = BRAMAH__TAKE(arena, bramah_coupled, 1), counted = {0};
  bramah_coupled *c = object ? object : &counted;
  c->model = model;
  c->field = model->field;
  bramah__state_layout(model, arena, &c->state);
  bramah__state_layout(model, arena, &c->next);
  bramah__state_layout(model, arena, &c->probe_state);
  for (int i = 0; i < 3; i++) bramah__eval_layout(model, arena, &c->eval[i]);
  c->now = &c->eval[0];
  c->trial = &c->eval[1];
  c->probe = &c->eval[2];
  BRAMAH__COUPLED_FIELDS(TAKE)
  bramah__state_layout(model, arena, &c->start);
  bramah__state_layout(model, arena, &c->kept);
  BRAMAH__STEP_ERROR_FIELDS(TAKE_ERROR)
  BRAMAH__NEWTON_FIELDS(TAKE_NEWTON)
  BRAMAH__DERIVATIVE_FIELDS(TAKE_DERIVATIVE)
  c->derivative.variation.pi = BRAMAH__TAKE(arena, double, 6 * n);
  c->derivative.variation.pid = BRAMAH__TAKE(arena, double, 6 * n);
  c->derivative.variation.pidd = BRAMAH__TAKE(arena, double, 6 * n);
  BRAMAH__TRANSITION_FIELDS(TAKE_TRANSITION)
  bramah__state_layout(model, arena, &c->transition.start);
  return object;
}

size_t bramah_coupled_size(const bramah_model *model)
{
  bramah__arena arena = bramah__arena_make(NULL, 0);
  bramah__coupled_layout(model, &arena);
  bramah__own_layout(model, &arena, NULL);
  return arena.used;
}

/* Shorter trees are solved faster as one matrix (test/bench/bench_machines.c). */
static const size_t shortest_sweep = 6;

bramah_status bramah_coupled_init(const bramah_model *model, void *mem, size_t size, bramah_diag *diag,
                                  bramah_coupled **out)
{
  bramah__arena arena;
  bramah_status status = bramah__arena_in("plant", mem, size, bramah_coupled_size(model), &arena, diag);
  if (status != BRAMAH_OK) return status;
  bramah_coupled *c = bramah__coupled_layout(model, &arena);
  bramah__own_layout(model, &arena, c);
  c->sweeps = model->formulation == BRAMAH_FORMULATION_PARTITIONING && model->n >= shortest_sweep &&
              model->n_dependent == 0 && model->circuit.n_volumes == 0 && model->circuit.n_cylinders == 0 &&
              model->forces.n_springs == 0 && model->forces.n_loads == 0 && model->forces.n_limits == 0 &&
              model->n_contact_points == 0 && model->n_shafts == 0;
  status = bramah_coupled_reset(c, diag);
  if (status != BRAMAH_OK) return status;
  c->mark = bramah__mark_of(mem);
  *out = c;
  return BRAMAH_OK;
}

bramah_status bramah_coupled_new(const bramah_model *model, bramah_diag *diag, bramah_coupled **out)
{
  BRAMAH__MAKE_IN_OWN("plant", bramah_coupled_size(model), bramah_coupled_init(model, mem, size, diag, out));
}

void bramah_coupled_free(bramah_coupled *plant)
{
  if (!plant) return;
  plant->mark = 0;
  bramah_coupled_use(plant, NULL, NULL);
  if (plant->own_memory) bramah__aligned_free(plant);
}

bramah_status bramah_coupled_reset(bramah_coupled *plant, bramah_diag *diag)
{
  const bramah_model *model = plant->model;
  bramah__state *next = &plant->next;
  memset(next->block, 0, next->size);
  memcpy(next->z, model->z0, model->n * sizeof(double));
  memcpy(next->zd, model->zd0, model->n * sizeof(double));
  memcpy(next->p, model->p0, model->n_first_order * sizeof(double));
  memcpy(next->U, model->U0, bramah__n_spools(&model->circuit) * sizeof(double));
  memcpy(next->index, model->index0, model->n * sizeof(int));
  memcpy(next->row, model->row0, model->m * sizeof(int));
  memcpy(next->base, model->base0, 4 * model->n_balls * sizeof(double));
  for (size_t i = 0; i < model->n_parameters; i++) next->theta[i] = model->parameter[i].info.nominal;
  plant->report = (bramah_step_report){0};
  const bramah_status status = plant->site ? plant->lay(plant->site, diag) : BRAMAH_OK;
  if (status != BRAMAH_OK) return status;
  plant->error.end_ns = -1;
  plant->basis_changed = 0;
  return bramah__adopt_candidate(plant, diag);
}

static bramah_status step(void *self, bramah_diag *diag)
{
  const bramah_status status = bramah__controlled_step(self, &(bramah__wanted){0}, diag);
  if (status == BRAMAH_OK) bramah__update_basis(self);
  return status;
}

static bramah_status step_transition(void *self, double *F, double *N, size_t n_par, const size_t *par,
                                     double *G, bramah_diag *diag)
{
  const bramah_model *model = ((const bramah_coupled *)self)->model;
  if (n_par > BRAMAH__LISTED * model->n_parameters)
    return bramah__fail(diag, BRAMAH_E_ARGUMENT, model->name, "parameters are listed more than three times");
  const bramah_status status = bramah__controlled_step(self, &(bramah__wanted){F, N, n_par, par, G}, diag);
  if (status == BRAMAH_OK) bramah__update_basis(self);
  return status;
}

static const char *carrier(const void *self, const char *body, double R[9], double r[3])
{
  const bramah_model *model = ((const bramah_coupled *)self)->model;
  for (size_t i = 0; i < model->n_welds; i++)
    if (strcmp(model->weld[i].name, body) == 0) {
      memcpy(R, model->weld[i].R, sizeof model->weld[i].R);
      memcpy(r, model->weld[i].r, sizeof model->weld[i].r);
      return model->weld[i].carrier;
    }
  return NULL;
}

static bramah_status set_inputs(void *self, const double *u, bramah_diag *diag)
{
  bramah_coupled *c = self;
  for (size_t i = 0; i < c->model->n_inputs; i++)
    if (!isfinite(u[i]))
      return bramah__fail(diag, BRAMAH_E_NOT_FINITE, c->model->input_name[i], "the command is not finite");
  memcpy(c->state.u, u, c->model->n_inputs * sizeof(double));

  /* Valves without lag open at once: the pressure rates leap, and with metered cylinders and gears the forces. */
  if (!bramah__place_direct_spools(c->model, c->state.u, c->state.U)) return BRAMAH_OK;
  if (c->model->circuit.n_metered || c->model->leaps) return bramah__follow_spools(c, diag);
  if (bramah__compiled_settle(c)) return BRAMAH_OK;
  const bramah_status status = bramah__refresh(c, diag);
  if (status == BRAMAH_OK) bramah__evaluate_rates(c->model, c->state.p, c->state.U, c->now, c->state.pd);
  return status;
}

/* The candidate by dx. */
static bramah_status displace(bramah_coupled *c, const double *dx, bramah_diag *diag)
{
  const bramah_model *model = c->model;
  const size_t n_dependent = model->n_dependent, n_dof = model->n_independent,
               n_first_order = model->n_first_order;
  for (size_t i = 0; i < bramah__n_error(model); i++)
    if (!isfinite(dx[i]))
      return bramah__fail(diag, BRAMAH_E_NOT_FINITE, model->name, "the correction is not finite");
  const double *Rz = bramah__compiled_motion(c);
  const bramah_status status = Rz ? BRAMAH_OK : bramah__refresh(c, diag);
  if (status != BRAMAH_OK) return status;
  if (!Rz) Rz = c->now->Rz;
  bramah__state_copy(&c->state, &c->next);
  for (size_t j = 0; j < model->n; j++)
    for (size_t f = 0; f < n_dof; f++) c->next.z[j] += Rz[j * n_dof + f] * dx[f];
  for (size_t f = 0; f < n_dof; f++) c->next.zd[c->next.index[n_dependent + f]] += dx[n_dof + f];
  for (size_t i = 0; i < n_first_order; i++) c->next.p[i] += dx[2 * n_dof + i];
  const double *bristle = dx + 2 * n_dof + n_first_order;
  for (size_t i = 0; i < model->n_bristles; i++) c->next.x[model->bristle_state[i]] += bristle[i];
  return BRAMAH_OK;
}

static bramah_status adopt_displaced(bramah_coupled *c, bramah_diag *diag)
{
  c->linearised = c->injection == BRAMAH_INJECTION_LINEARISED && c->model->n_motions == 0;
  const bramah_status adopted = bramah__adopt_candidate(c, diag);
  c->linearised = 0;
  return adopted;
}

static bramah_status inject(void *self, const double *dx, bramah_diag *diag)
{
  const bramah_status status = displace(self, dx, diag);
  return status == BRAMAH_OK ? adopt_displaced(self, diag) : status;
}

static bramah_status accelerations(void *self, double *zdd, bramah_diag *diag)
{
  bramah_coupled *c = self;
  const bramah_status status = bramah__refresh(c, diag);
  if (status != BRAMAH_OK) return status;
  if (bramah__accelerations(c->model, &c->state, c->now, zdd) == BRAMAH_OK) return BRAMAH_OK;
  return bramah__fail(diag, BRAMAH_E_SINGULAR, c->model->name, "the mass matrix is singular");
}

static void save(const void *self, void *snap)
{
  const bramah_coupled *c = self;
  memcpy(snap, c->state.block, c->state.size);
}

static void restore(void *self, const void *snap)
{
  bramah_coupled *c = self;
  memcpy(c->state.block, snap, c->state.size);
  bramah__follow_state(c);
  c->now_valid = 0;
  c->basis_changed = 0;
}

static bramah_status displaced_parameters(void *self, const double *dx, size_t n_par, const size_t *par,
                                          double *G, bramah_diag *diag)
{
  bramah_coupled *c = self;
  bramah_status status = displace(c, dx, diag);
  if (status != BRAMAH_OK) return status;
  bramah__state_copy(&c->state, &c->kept);
  bramah__compiled_turn_aside(c);
  status = adopt_displaced(c, diag);
  if (status == BRAMAH_OK) status = step_transition(c, NULL, NULL, n_par, par, G, diag);
  if (status == BRAMAH_OK && c->basis_changed)
    status = bramah__fail(diag, BRAMAH_E_UNSUPPORTED, c->model->name, "the step ends in other coordinates");
  bramah__compiled_turn_aside(c);
  c->now->by_program = 0;
  restore(c, c->kept.block);
  return status;
}

/* Does the array of a snapshot that lies where `list` lies in the state hold each number below n once? */
static int is_permutation(const bramah_coupled *c, const void *snap, const int *list, size_t n)
{
  const unsigned char *at =
      (const unsigned char *)snap + ((const unsigned char *)list - (const unsigned char *)c->state.block);
  for (size_t i = 0; i < n; i++) {
    size_t found = 0;
    for (size_t k = 0; k < n; k++) {
      int number;
      memcpy(&number, at + k * sizeof number, sizeof number);
      found += number == (int)i;
    }
    if (found != 1) return 0;
  }
  return 1;
}

/* Numbers may be any; what they are looked up by must be in order. */
static int is_sound(const void *self, const void *snap)
{
  const bramah_coupled *c = self;
  return is_permutation(c, snap, c->state.index, c->model->n) &&
         is_permutation(c, snap, c->state.row, c->model->m);
}

static int basis_change(void *self, double *T)
{
  bramah_coupled *c = self;
  if (!c->basis_changed) return 0;
  const size_t n = bramah__n_error(c->model);
  memcpy(T, c->T, n * n * sizeof *T);
  c->basis_changed = 0;
  return 1;
}

static unsigned iterations(const void *self)
{
  return ((const bramah_coupled *)self)->report.last_iterations;
}

static void coordinates(void *self, double *x)
{
  const bramah_coupled *c = self;
  const bramah_model *model = c->model;
  const size_t n_dof = model->n_independent;
  for (size_t f = 0; f < n_dof; f++) {
    const size_t j = (size_t)c->state.index[model->n_dependent + f];
    x[f] = c->state.z[j];
    x[n_dof + f] = c->state.zd[j];
  }
  memcpy(x + 2 * n_dof, c->state.p, model->n_first_order * sizeof *x);
  for (size_t i = 0; i < model->n_bristles; i++)
    x[2 * n_dof + model->n_first_order + i] = c->state.x[model->bristle_state[i]];
}

static void parameter_info(const void *self, size_t i, bramah_parameter_info *info)
{
  const bramah_coupled *c = self;
  *info = c->model->parameter[i].info;
}

static double parameter(const void *self, size_t i)
{
  const bramah_coupled *c = self;
  return c->state.theta[i];
}

static bramah_status check_parameter(const bramah_coupled *c, size_t i, double value, bramah_diag *diag)
{
  if (i >= c->model->n_parameters)
    return bramah__fail(diag, BRAMAH_E_ARGUMENT, c->model->name, "there is no parameter of this number");
  const bramah_parameter_info *info = &c->model->parameter[i].info;
  if (!isfinite(value))
    return bramah__fail(diag, BRAMAH_E_NOT_FINITE, info->name, "the value of the parameter is not finite");
  if (value >= info->least && value <= info->most) return BRAMAH_OK;
  const int low = value < info->least;
  bramah__fail(diag, BRAMAH_E_VALUE, info->name, low ? "must be at least " : "must be at most ");
  bramah__add_number(diag, low ? info->least : info->most, 6);
  if (strcmp(info->unit, "1") != 0) {
    bramah__add_text(diag, " ");
    bramah__add_text(diag, info->unit);
  }
  bramah__add_text(diag, ", not ");
  bramah__add_number(diag, value, 6);
  return BRAMAH_E_VALUE;
}

static bramah_status set_parameters(void *self, size_t n, const size_t *par, const double *value,
                                    bramah_diag *diag)
{
  bramah_coupled *c = self;
  int any = 0;
  for (size_t j = 0; j < n; j++) {
    const bramah_status status = check_parameter(c, par[j], value[j], diag);
    if (status != BRAMAH_OK) return status;
    any |= value[j] != c->state.theta[par[j]];
  }
  if (!any) return BRAMAH_OK;
  bramah__state_copy(&c->state, &c->next);
  for (size_t j = 0; j < n; j++) {
    const bramah__parameter *p = &c->model->parameter[par[j]];
    c->next.theta[par[j]] = value[j];

    /* An offset lasts: spools go along with its changes at once, as they would have done long ago. */
    for (size_t k = 0; p->code == BRAMAH__INPUT_OFFSET && k < bramah__n_spools(&c->model->circuit); k++) {
      const bramah__valve *valve = &c->model->circuit.valve[k];
      if (valve->input != p->index) continue;
      bramah__valve other = *valve;
      other.offset = value[j];
      const double u = c->state.u[p->index];
      c->next.U[k] += bramah__spool_reference(&other, u) - bramah__spool_reference(valve, u);
    }
  }
  return bramah__adopt_candidate(c, diag);
}

bramah_status bramah__set_parameter(void *self, size_t i, double value, bramah_diag *diag)
{
  return set_parameters(self, 1, &i, &value, diag);
}

/* An offset does nothing where the openings of the valves that it moves are flat, nor at their limits. */
static void parameter_edges(void *self, size_t i, double *below, double *above)
{
  const bramah_coupled *c = self;
  const bramah__parameter *p = &c->model->parameter[i];
  const bramah__circuit *circuit = &c->model->circuit;
  const double value = c->state.theta[i];
  *below = -INFINITY;
  *above = INFINITY;
  for (size_t k = 0; p->code == BRAMAH__INPUT_OFFSET && k < bramah__n_spools(circuit); k++) {
    const bramah__valve *valve = &circuit->valve[k];
    if (valve->input != p->index) continue;
    const double U = c->state.U[k];
    double low, high;
    bramah__opening_edges(&valve->opening, U, &low, &high);
    *below = fmax(*below, value + (low - U));
    *above = fmin(*above, value + (high - U));
    for (int side = -1; side <= 1; side += 2) {
      const double limit = side * valve->limit - c->state.u[p->index];
      if (limit <= value) *below = fmax(*below, limit);
      if (limit >= value) *above = fmin(*above, limit);
    }
  }
}

/* Typical magnitudes: how far they bend before they slide. */
static bramah_state_info bristle_info(const bramah_model *model, size_t bristle)
{
  const bramah__contact *contact = model->contact_point;
  while (!(bristle >= contact->first_error && bristle < contact->first_error + contact->n_errors)) contact++;
  return (bramah_state_info){.name = model->bristle_name[bristle],
                             .unit = contact->pressed > 0.0 ? "rad" : "m",
                             .scale = contact->static_friction / contact->bristles};
}

/* Typical magnitudes: a radian or a metre, and as much per second; 100 bar. */
static void state_info(const void *self, size_t i, bramah_state_info *info)
{
  const bramah_coupled *c = self;
  const bramah_model *model = c->model;
  const size_t n_dof = model->n_independent;
  if (i >= 2 * n_dof + model->n_first_order) {
    *info = bristle_info(model, i - 2 * n_dof - model->n_first_order);
    return;
  }
  const size_t joint = i < 2 * n_dof ? (size_t)c->state.index[model->n_dependent + i % n_dof] : 0;
  const bramah_output_info *output =
      &model->output[i < 2 * n_dof ? 3 * joint + i / n_dof : 3 * model->n + (i - 2 * n_dof)].info;
  *info = (bramah_state_info){.name = output->name, .unit = output->unit, .scale = i < 2 * n_dof ? 1.0 : 1e7};
  const size_t state =
      i - 2 * n_dof - bramah__n_filled(&model->circuit); /* of an element; wraps for what is before */
  if (i >= 2 * n_dof && state < model->circuit.n_states)
    info->scale = model->first_order_scale[i - 2 * n_dof];
}

static const char *input_name(const void *self, size_t i)
{
  const bramah_coupled *c = self;
  return c->model->input_name[i];
}

static void output_info(const void *self, size_t i, bramah_output_info *info)
{
  const bramah_coupled *c = self;
  *info = c->model->output[i].info;
}

/* Elements that open. */
static void kink(void *self, size_t i, bramah_kink *out)
{
  const bramah_coupled *c = self;
  const bramah__circuit *circuit = &c->model->circuit;
  const size_t at = bramah__kink_element(circuit, i);
  const bramah__element *e = &circuit->element[at];
  const int back = bramah__element_kinds[e->kind]->opens_back;
  const double above = bramah__node_pressure(circuit, c->state.p, e->node[back]) -
                       bramah__node_pressure(circuit, c->state.p, e->node[1 - back]);
  *out = (bramah_kink){
      .name = c->model->element_name[at],
      .value = above - bramah__element_kinds[e->kind]
                           ->opens((bramah__quantities){.number = e->value}, circuit->transition_pressure)
                           .at.value};
  for (int side = 0; side < 2; side++) {
    if (e->node[side ^ back] >= circuit->n_volumes) continue;
    out->state[side] = e->node[side ^ back];
    out->by[side] = side ? -1.0 : 1.0;
  }
}

static void kink_effect(void *self, size_t i, double effect[2])
{
  bramah_coupled *c = self;
  const bramah__circuit *circuit = &c->model->circuit;
  if (bramah__compiled_kink(c, i, effect)) return;
  const bramah__element *e = &circuit->element[bramah__kink_element(circuit, i)];
  const bramah__kink kink = bramah__element_kinds[e->kind]->opens((bramah__quantities){.number = e->value},
                                                                  circuit->transition_pressure);
  const int known = bramah__refresh(c, NULL) == BRAMAH_OK, back = bramah__element_kinds[e->kind]->opens_back;
  for (int side = 0; side < 2; side++) {
    const size_t node = e->node[side ^ back];
    effect[side] = 0.0;
    if (!known || node >= circuit->n_volumes) continue;
    const double by = kink.slope.value / bramah__compliance(circuit, node, c->state.p, c->now->s);
    effect[side] = side ? by : -by;
  }
}

bramah_plant bramah_coupled_plant(bramah_coupled *plant)
{
  const bramah_model *model = plant->model;
  return (bramah_plant){
      BRAMAH_PLANT_HEAD,
      .self = plant,
      .step_ns = model->step_ns,
      .n_dof = model->n_independent,
      .n_first_order = model->n_first_order + model->n_bristles,
      .n_input = model->n_inputs,
      .n_output = model->n_outputs,
      .n_parameter = model->n_parameters,
      .snapshot_size = plant->state.size,
      .state_info = state_info,
      .input_name = input_name,
      .output_info = output_info,
      .set_inputs = set_inputs,
      .step = step,
      .inject = inject,
      .accelerations = accelerations,
      .output = bramah__output_value,
      .save = save,
      .restore = restore,
      .acceleration_jacobian = bramah__acceleration_jacobian,
      .output_row = bramah__output_row,
      .basis_change = basis_change,
      .acceleration_derivative = bramah__acceleration_derivative,
      .step_transition = step_transition,
      .noise_row = bramah__noise_row,
      .coordinates = coordinates,
      .parameter_info = parameter_info,
      .parameter = parameter,
      .set_parameter = bramah__set_parameter,
      .iterations = iterations,
      .is_sound = is_sound,
      .parameter_edges = parameter_edges,
      .output_by_parameters = bramah__output_by_parameters,
      .set_parameters = set_parameters,
      .displaced_parameters = displaced_parameters,
      .carrier = carrier,
      .n_kinks = bramah__n_kinks(&model->circuit),
      .kink = kink,
      .kink_effect = kink_effect,
  };
}

void bramah_coupled_set_injection(bramah_coupled *plant, bramah_injection injection)
{
  plant->injection = injection;
}

bramah_step_report bramah_coupled_report(const bramah_coupled *plant)
{
  return plant ? plant->report : (bramah_step_report){0};
}

double bramah_coupled_constraint_violation(bramah_coupled *plant)
{
  const bramah_model *model = plant->model;
  if (bramah__refresh(plant, NULL) != BRAMAH_OK) return NAN;
  bramah__constraint_residual(model, &plant->state, plant->now);
  double largest = 0.0;
  for (size_t k = 0; k < model->m; k++) largest = fmax(largest, fabs(plant->now->Phi[k]));
  return largest;
}
