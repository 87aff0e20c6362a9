/* SPDX-License-Identifier: MIT */
/* How the plant comes to another state than by a step: other values of parameters, corrections. */
#include "lib/plant/coupled_internal.h"
#include "lib/math/vector3.h"
#include "lib/plant/constraints.h"
#include "lib/base/diag.h"

#include <math.h>
#include <string.h>

/* Parameters of the plant. Their values are part of the state; the tables of the plant's own model follow
 * them. */

static void *copy(bramah__arena *arena, const void *from, size_t n, size_t size)
{
  void *to = bramah__arena_take(arena, n, size);
  if (to && n) memcpy(to, from, n * size);
  return to;
}

#define COPY(table, n) copy(arena, (table), (n), sizeof *(table))

static void connect(const bramah_model *model, bramah_coupled *c)
{
  bramah__own *own = &c->own;
  own->model = *model;
  own->model.tree.link = own->link;
  own->model.forces.joint_load = own->joint_load;
  own->model.circuit.supply = own->supply;
  own->model.circuit.cylinder = own->cylinder;
  own->model.circuit.element = own->element;
  own->model.circuit.valve = own->valve;
  own->model.circuit.metered = own->metered;
  own->model.circuit.metered_line = own->metered_line;
  for (size_t i = 0; i < model->n_parameters; i++) own->theta[i] = model->parameter[i].info.nominal;
  c->base = model;
  c->model = &own->model;
}

void bramah__own_layout(const bramah_model *model, bramah__arena *arena, bramah_coupled *c)
{
  const bramah__circuit *circuit = &model->circuit;
  bramah__own counted = {0}, *own = c ? &c->own : &counted;
  own->link = COPY(model->tree.link, model->n);
  own->joint_load = BRAMAH__TAKE(arena, double, model->n);
  own->supply = COPY(circuit->supply, circuit->n_supplies);
  own->cylinder = COPY(circuit->cylinder, circuit->n_cylinders);
  own->element = COPY(circuit->element, circuit->n_elements);
  own->valve = COPY(circuit->valve, bramah__n_spools(circuit));
  own->metered = COPY(circuit->metered, circuit->n_metered);
  own->metered_line = COPY(circuit->metered_line, circuit->n_metered_lines);
  own->theta = BRAMAH__TAKE(arena, double, model->n_parameters);
  if (c && !arena->overflow) connect(model, c);
}

/* One point mass more on a body: mass, centre, and inertia about the new centre (parallel axes). */
static void add_payload(double m, const double *point, bramah__link *link)
{
  const double before = link->mass;
  double d[3];
  if (m == 0.0) return;
  bramah__sub3(point, link->centre, d);
  link->mass = before + m;
  bramah__axpy3(m / link->mass, d, link->centre);
  /* J += m (d.d 1 - d d'): the inertia of a point at d. */
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++)
      link->inertia[3 * i + j] +=
          (before * (m / link->mass)) * ((i == j ? bramah__dot3(d, d) : 0.0) - d[i] * d[j]);
}

/* Every payload on the link anew: welded bodies bring more than one. */
static void load_link(bramah_coupled *c, size_t link)
{
  const bramah_model *base = c->base;
  if (link >= base->n) return; /* on the ground */
  c->own.link[link] = base->tree.link[link];
  for (size_t i = 0; i < base->n_parameters; i++) {
    const bramah__parameter *p = &base->parameter[i];
    if (p->code == BRAMAH__PAYLOAD && p->index == link)
      add_payload(c->own.theta[i], p->point, &c->own.link[link]);
  }
}

static void offset_valves(bramah_coupled *c, size_t input, double offset)
{
  for (size_t i = 0; i < bramah__n_spools(&c->base->circuit); i++)
    if (c->own.valve[i].input == input) c->own.valve[i].offset = offset;
}

static void scale_valves(const bramah__metered *base, double factor, bramah__metered *out)
{
  out->c_ph = factor * base->c_ph;
  out->c_tr = factor * base->c_tr;
  out->c_pr = factor * base->c_pr;
  out->c_th = factor * base->c_th;
  out->c_a = factor * base->c_a;
}

static void apply(bramah_coupled *c, const bramah__parameter *p, double value)
{
  bramah__own *own = &c->own;
  const size_t i = p->index;
  switch (p->code) {
  case BRAMAH__JOINT_LOAD:
    own->joint_load[i] = value;
    break;
  case BRAMAH__CYLINDER_LOAD:
    own->cylinder[i].load = value;
    break;
  case BRAMAH__PAYLOAD:
    load_link(c, i);
    break;
  case BRAMAH__SUPPLY_PRESSURE:
    own->supply[i] = value;
    break;
  case BRAMAH__FRICTION_SCALE:
    own->cylinder[i].friction_scale = value;
    break;
  case BRAMAH__BULK_MODULUS:
    own->model.circuit.oil_bulk_modulus = value;
    break;
  case BRAMAH__ELEMENT_VALUE:
    own->element[i].value[p->value] = value;
    break;
  case BRAMAH__VALVE_COEFFICIENT:
    own->valve[i].coefficient = value;
    break;
  case BRAMAH__INPUT_OFFSET:
    offset_valves(c, i, value);
    break;
  case BRAMAH__LINE_FLOW:
    own->metered_line[i].line.Q = value;
    break;
  case BRAMAH__FLOW_SCALE:
    scale_valves(&c->base->circuit.metered[i], value, &own->metered[i]);
    break;
  case BRAMAH__GRAVITY_SCALE:
    for (int k = 0; k < 3; k++) own->model.tree.gravity[k] = value * c->base->tree.gravity[k];
    break;
  }
}

void bramah__apply_parameters(bramah_coupled *c, const double *theta)
{
  if (!c->base || memcmp(theta, c->own.theta, c->base->n_parameters * sizeof *theta) == 0) return;
  for (size_t i = 0; i < c->base->n_parameters; i++) {
    if (memcmp(&theta[i], &c->own.theta[i], sizeof *theta) == 0) continue;
    c->own.theta[i] = theta[i];
    apply(c, &c->base->parameter[i], theta[i]);
  }
}

/* How the plant comes to another state than by a step: a candidate is closed, its accelerations and pressure rates
 * are found from the equations of motion, and only then it becomes the state. */

bramah_status bramah__refresh(bramah_coupled *c, bramah_diag *diag)
{
  if (c->now_valid) return BRAMAH_OK;
  if (bramah__evaluate(c->model, &c->state, c->now) != BRAMAH_OK)
    return bramah__fail(diag, BRAMAH_E_SINGULAR, c->model->name, "the constraints are singular in this pose");
  c->now_valid = 1;
  return BRAMAH_OK;
}

bramah_status bramah__restart_rates(const bramah_model *model, bramah__state *state, bramah__eval *eval,
                                    double *zdd_i)
{
  if (bramah__factor_mass(model, eval) != BRAMAH_OK) return BRAMAH_E_SINGULAR;
  bramah__evaluate_rhs(model, state, eval);
  bramah__solve_acceleration(model, eval, zdd_i);
  bramah__expand_acceleration(model, eval, zdd_i, state->zdd);
  bramah__drive_forces(model, state, eval, state->drive);
  bramah__evaluate_rates(model, state->p, state->U, eval, state->pd);
  return BRAMAH_OK;
}

/* Is every number of the state finite? Names the first that is not. */
static bramah_status check_finite(const bramah_model *model, const bramah__state *state, bramah_diag *diag)
{
  for (size_t j = 0; j < model->n; j++)
    if (!isfinite(state->z[j]) || !isfinite(state->zd[j]) || !isfinite(state->zdd[j]))
      return bramah__fail(diag, BRAMAH_E_NOT_FINITE, model->joint_name[j],
                          "the motion of this joint is not finite");
  for (size_t i = 0; i < model->circuit.n_volumes; i++)
    if (!isfinite(state->p[i]) || !isfinite(state->pd[i]))
      return bramah__fail(diag, BRAMAH_E_NOT_FINITE, model->volume_name[i], "the pressure is not finite");
  return BRAMAH_OK;
}

/* With the tables that belong to it. */
static bramah_status try_candidate(bramah_coupled *c, bramah_diag *diag)
{
  const bramah_model *model = c->model;
  /* Loops closed by Newton, or left as the linearised position problem leaves them. */
  bramah_status status = c->linearised ? bramah__evaluate_position(c->model, &c->next, c->trial)
                                       : bramah__close_position(c->model, &c->next, c->trial);
  if (status == BRAMAH_E_CLOSURE)
    return bramah__fail(diag, status, bramah__worst_loop(model, c->trial),
                        "the loop cannot be closed at the corrected position");
  if (status == BRAMAH_OK) {
    bramah__set_motion(model, &c->next, c->trial);
    bramah__evaluate_forces(model, c->next.p, c->next.U, c->next.x, c->next.xd, c->trial);
    status = bramah__restart_rates(model, &c->next, c->trial, c->zdd_i);
  }
  if (status != BRAMAH_OK) {
    const char *reason = "the equations of motion are singular";
    const char *joint = bramah__singular_joint(model, c->next.z, &reason);
    return bramah__fail(diag, status, joint ? joint : model->name, reason);
  }
  status = check_finite(model, &c->next, diag);
  if (status != BRAMAH_OK) return status;
  bramah__state_copy(&c->next, &c->state);
  bramah__eval *swap = c->now;
  c->now = c->trial;
  c->trial = swap;
  c->now_valid = 1;
  return BRAMAH_OK;
}

int bramah__place_direct_spools(const bramah_model *model, const double *u, double *U)
{
  int moved = 0;
  for (size_t i = 0; i < bramah__n_spools(&model->circuit); i++) {
    const bramah__valve *valve = &model->circuit.valve[i];
    if (!bramah__is_direct(valve)) continue;
    const double reference = bramah__spool_reference(valve, u[valve->input]);
    moved |= reference != U[i];
    U[i] = reference;
  }
  return moved;
}

bramah_status bramah__adopt_with_spools(bramah_coupled *c, bramah_diag *diag)
{
  bramah__apply_parameters(c, c->next.theta);
  const bramah_status status = try_candidate(c, diag);
  if (status != BRAMAH_OK) bramah__apply_parameters(c, c->state.theta);
  return status;
}

bramah_status bramah__adopt_candidate(bramah_coupled *c, bramah_diag *diag)
{
  bramah__apply_parameters(c, c->next.theta); /* offsets of commands among them */
  bramah__place_direct_spools(c->model, c->next.u, c->next.U);
  return bramah__adopt_with_spools(c, diag);
}

bramah_status bramah__settle_rates(bramah_coupled *c, bramah_diag *diag)
{
  bramah__state_copy(&c->state, &c->next);
  return bramah__adopt_candidate(c, diag);
}
