/* SPDX-License-Identifier: MIT */
#include "lib/hydraulics/circuit_graph.h"
#include "lib/multibody/contact_graph.h"
#include "lib/multibody/rotation.h"
#include "lib/plant/step_builder.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- parameters in place of numbers ---- */

/* Of all points or discs of a contact. */
static void set_contact(bramah__step_builder *b, const bramah__parameter *p, bramah__expr value)
{
  const bramah_model *model = b->model;
  if (p->index >= model->n_contacts) return; /* on the ground */
  const double nominal = p->info.nominal;
  const bramah__expr factor = nominal != 0.0 ? e_div(value, e_number(nominal)) : value;
  for (size_t k = model->first_point[p->index]; k < model->first_point[p->index + 1]; k++) {
    bramah__contact_values *v = bramah__contact_values_in(b, k);
    if (p->code == BRAMAH__CONTACT_STIFFNESS) v->stiffness = e_mul(factor, v->stiffness);
    if (p->code == BRAMAH__CONTACT_DAMPING) v->damping = e_mul(factor, v->damping);
    if (p->code == BRAMAH__CONTACT_FRICTION) v->friction = e_mul(factor, v->friction);
    if (p->code == BRAMAH__CONTACT_BRISTLES) v->bristles = e_mul(factor, v->bristles);
    if (p->code == BRAMAH__CONTACT_PATCH) v->rolling = e_div(v->rolling, factor);
    if (p->code == BRAMAH__CONTACT_GROUND) v->ground = value;
  }
}

static void apply_parameter(bramah__step_builder *b, const bramah__parameter *p, bramah__expr value)
{
  switch (p->code) {
  case BRAMAH__JOINT_LOAD:
    b->joint_load[p->index] = value;
    break;
  case BRAMAH__CYLINDER_LOAD:
    b->cylinder_load[p->index] = value;
    break;
  case BRAMAH__PAYLOAD:
    if (p->index < b->out->n) bramah__link_graph_load(&b->link[p->index], value, p->point);
    break;
  case BRAMAH__LOAD_FORCE:
    for (size_t k = 0; k < 3; k++) {
      bramah__expr *force = &b->load_force[3 * p->index + k];
      *force = e_add(*force, e_scale(p->point[k], value));
    }
    break;
  case BRAMAH__SUPPLY_PRESSURE:
    b->supply[p->index] = value;
    break;
  case BRAMAH__FRICTION_SCALE:
    b->friction_scale[p->index] = value;
    break;
  case BRAMAH__BULK_MODULUS:
    b->oil_bulk_modulus = value;
    break;
  case BRAMAH__ELEMENT_VALUE:
    b->element_value[p->index * BRAMAH__ELEMENT_VALUES + p->value] = value;
    break;
  case BRAMAH__VALVE_COEFFICIENT:
    b->valve_coefficient[p->index] = value;
    break;
  case BRAMAH__GRAVITY_SCALE:
    b->gravity = v_scale(value, b->gravity);
    break;
  case BRAMAH__SHAFT_PARAMETER:
    b->shaft_value[BRAMAH__SHAFT_VALUES * p->index + p->value] = value;
    break;
  case BRAMAH__CONTACT_STIFFNESS:
  case BRAMAH__CONTACT_BRISTLES:
  case BRAMAH__CONTACT_PATCH:
  case BRAMAH__CONTACT_DAMPING:
  case BRAMAH__CONTACT_FRICTION:
  case BRAMAH__CONTACT_GROUND:
    set_contact(b, p, value);
    break;
  case BRAMAH__INPUT_OFFSET: /* these move spools and quasistatic actuators, which are inputs */
  case BRAMAH__LINE_FLOW:
  case BRAMAH__FLOW_SCALE:
    break;
  }
}

static void set_quantities(bramah__step_builder *b)
{
  const bramah_model *model = b->model;
  const bramah__circuit *circuit = &model->circuit;
  b->c1 = e_div(e_number(2.0), b->in_h[0]);
  b->c2 = e_square(b->c1);
  b->gravity = v_number(model->tree.gravity);
  b->oil_bulk_modulus = e_number(circuit->oil_bulk_modulus);
  for (size_t j = 0; j < model->n; j++) b->link[j] = bramah__link_graph_of(&model->tree.link[j]);
  for (size_t i = 0; i < circuit->n_supplies; i++) b->supply[i] = e_number(circuit->supply[i]);
  for (size_t i = 0; i < circuit->n_valves; i++)
    b->valve_coefficient[i] = e_number(circuit->valve[i].coefficient);
  for (size_t i = 0; i < circuit->n_elements * BRAMAH__ELEMENT_VALUES; i++)
    b->element_value[i] =
        e_number(circuit->element[i / BRAMAH__ELEMENT_VALUES].value[i % BRAMAH__ELEMENT_VALUES]);
  for (size_t i = 0; i < circuit->n_cylinders; i++) {
    b->cylinder_load[i] = e_number(circuit->cylinder[i].load);
    b->friction_scale[i] = e_number(circuit->cylinder[i].friction_scale);
  }
  for (size_t i = 0; i < model->n_contact_points; i++)
    *bramah__contact_values_in(b, i) = bramah__contact_values_of(&model->contact_point[i]);
  for (size_t i = 0; i < model->n_shafts; i++)
    for (size_t k = 0; k < BRAMAH__SHAFT_VALUES; k++)
      b->shaft_value[BRAMAH__SHAFT_VALUES * i + k] = e_number(model->shaft[i].value[k]);
  for (size_t i = 0; i < model->n_parameters; i++) apply_parameter(b, &model->parameter[i], b->in_theta[i]);
}

/* What the numbers of pivots are found at: pose and pressures of a state, slow motion, open valves. */
static void set_typical(bramah__step_builder *b)
{
  const bramah_model *model = b->model;
  const bramah__step_inputs *in = &b->out->in;
  BRAMAH__STEP_SIZES(b->out);
  for (size_t i = 0; i < n_par; i++) b->typical[in->theta + i] = model->parameter[i].info.nominal;
  b->typical[in->h] = model->h;
  for (size_t i = 0; i < nb; i++)
    bramah__quaternion_matrix(b->usual->base + 4 * i, b->typical + in->base + 9 * i);
  if (nq) b->typical[in->half] = 0.5 * model->h;
  for (size_t k = 0; k < nk; k++) {
    bramah__plane_axes(b->usual->plane + 4 * k, b->typical + in->plane + 10 * k);
    b->typical[in->plane + 10 * k + 9] = b->usual->plane[4 * k + 3];
  }
  bramah__put_meetings(model, NULL, b->typical + in->meet); /* pivots grow from there */
  for (size_t i = 0; i < ns; i++) {
    b->typical[in->U + i] = 0.3 * model->circuit.valve[i].limit;
    b->typical[in->gate + i] = 1.0;
  }
  for (size_t j = 0; j < n; j++) b->typical[in->z + j] = b->usual->z[j];
  for (size_t i = 0; i < nm; i++) bramah__motion_at(&model->motion[i], 0.0, b->typical + in->motion + 3 * i);
  for (size_t f = 0; f < nf; f++) b->typical[in->zd + f] = 0.01;
  for (size_t i = 0; i < np; i++) b->typical[in->p + i] = b->usual->p[i];
  for (size_t i = 0; i < nw; i++)
    b->typical[in->w_load + i * nw + i] = -0.99 / model->circuit.metered_port[i].damping; /* a light load */
}

/* ---- mechanics ---- */

/* Phi_z, what closes the loops, and Rz: z' = Rz z'_i (D 2.26). */
static bramah_status close_loops(bramah__step_builder *b)
{
  const bramah_model *model = b->model;
  BRAMAH__STEP_SIZES(b->out);
  const int *dependent = b->out->index, *independent = b->out->index + nd, *row = b->out->row;
  for (size_t f = 0; f < nf; f++) b->Rz[(size_t)independent[f] * nr + f] = e_number(1.0);
  if (nd == 0) return BRAMAH_OK;
  for (size_t i = 0; i < model->n_loops; i++)
    bramah__closure_graph(&model->tree, &model->loop[i], b->in_base, b->in_z, b->body,
                          b->Phi + model->loop[i].row);
  for (size_t i = 0; i < nm; i++)
    b->Phi[model->motion[i].row] = e_sub(b->in_z[model->motion[i].joint], b->in_motion[3 * i]);
  for (size_t k = 0; k < nd; k++) b->Phi_used[k] = b->Phi[row[k]];
  for (size_t j = 0; j < n; j++) {
    bramah__seed(b, b->in_z[j], e_number(1.0));
    bramah__derive_along(b, nd, b->Phi_used, b->column);
    bramah__put_column(nd, b->column, b->Phi_z + j, n);
  }
  bramah__expr *block = b->rhs, *sides = b->rhs + nd * nd;
  for (size_t k = 0; k < nd; k++) {
    for (size_t l = 0; l < nd; l++) block[k * nd + l] = b->Phi_z[k * n + (size_t)dependent[l]];
    bramah__expr *side = sides + k * (nr + 1);
    for (size_t f = 0; f < nf; f++) side[f] = e_neg(b->Phi_z[k * n + (size_t)independent[f]]);
    for (size_t i = 0; i < nm; i++) side[nf + i] = e_number(model->motion[i].row == (size_t)row[k]);
    side[nr] = e_neg(b->Phi_used[k]);
  }
  const char *what = nm ? model->motion_name[0] : model->loop_name[0];
  const bramah_status status = bramah__factor_block(b, nd, block, NULL, what, &b->loops);
  if (status != BRAMAH_OK) return status;
  bramah__back_substitute(&b->loops, nr + 1, sides, sides);
  for (size_t k = 0; k < nd; k++) {
    memcpy(b->Rz + (size_t)dependent[k] * nr, sides + k * (nr + 1), nr * sizeof *sides);
    b->closing[k] = sides[k * (nr + 1) + nr];
  }
  return BRAMAH_OK;
}

/* z' = Rz [z'_i; f'] and z'' = Rz [z''_i; f''] + bias, where bias closes Phi'' = Phi_z z'' + gamma: gamma is the second
 * derivative of the loops' equations along rates that are held. */
static void set_motion(bramah__step_builder *b)
{
  BRAMAH__STEP_SIZES(b->out);
  for (size_t j = 0; j < n; j++) {
    b->q_d[j] = e_add(e_sum_products(nf, b->Rz + j * nr, 1, b->in_zd, 1),
                      e_sum_products(nm, b->Rz + j * nr + nf, 1, b->in_motion + 1, 3));
    b->q_dd[j] = e_add(e_sum_products(nf, b->Rz + j * nr, 1, b->in_zdd, 1),
                       e_sum_products(nm, b->Rz + j * nr + nf, 1, b->in_motion + 2, 3));
  }
  if (nd > 0) {
    bramah__expr *rate = b->column;
    bramah__seed_joints(b, b->in_held, 1);
    bramah__derive_along(b, nd, b->Phi_used, rate);
    bramah__seed_joints(b, b->in_held, 1);
    bramah__derive_along(b, nd, rate, b->gamma);
    bramah__substitute(b->graph, n, b->in_held, b->q_d, nd, b->gamma);
    for (size_t k = 0; k < nd; k++) b->gamma[k] = e_neg(b->gamma[k]);
    bramah__back_substitute(&b->loops, 1, b->gamma, b->gamma);
    for (size_t k = 0; k < nd; k++) {
      const size_t j = (size_t)b->out->index[k];
      b->q_dd[j] = e_add(b->q_dd[j], b->gamma[k]);
    }
  }
  bramah__tree_graph_motion(&b->model->tree, b->link, b->gravity, b->q_d, b->q_dd, b->body);
}

/* A length with its rate and, into by [nr], its derivatives along the columns of Rz. */
static bramah__expr measure(bramah__step_builder *b, bramah__expr length, bramah__expr *by)
{
  const size_t nr = b->out->nf + b->out->nm;
  bramah__expr rate;
  for (size_t f = 0; f < nr; f++) {
    bramah__seed_joints(b, b->Rz + f, nr);
    bramah__derive_along(b, 1, &length, &by[f]);
  }
  bramah__seed_joints(b, b->q_d, 1);
  bramah__derive_along(b, 1, &length, &rate);
  return rate;
}

/* r += by force: a generalised force that acts against the motion. by [nr] */
static void resist(bramah__step_builder *b, const bramah__expr *by, bramah__expr force)
{
  const size_t nr = b->out->nf + b->out->nm;
  for (size_t f = 0; f < nr; f++) b->r[f] = e_add(b->r[f], e_mul(by[f], force));
  memcpy(b->arm + b->n_arms * nr, by, nr * sizeof *by);
  b->pull[b->n_arms++] = force;
}

static void add_springs(bramah__step_builder *b, size_t *works)
{
  const bramah__forces *forces = &b->model->forces;
  const size_t nr = b->out->nf + b->out->nm, dampers = b->out->nc + BRAMAH__DAMPERS;
  for (size_t i = 0; i < forces->n_springs; i++) {
    const bramah__spring *spring = &forces->spring[i];
    const bramah__expr s = bramah__line_graph(&b->model->tree, &spring->line, b->in_base, b->in_z, b->body);
    const bramah__expr damper = e_scale(spring->damping, measure(b, s, b->column));
    const bramah__expr stretch = e_sub(s, e_number(spring->free_length));
    resist(b, b->column, e_add(e_scale(spring->stiffness, stretch), damper));
    bramah__add_work(b, works, dampers, damper, s);
  }
  for (size_t i = 0; i < forces->n_joint_springs; i++) {
    const bramah__joint_spring *spring = &forces->joint_spring[i];
    const size_t j = spring->joint;
    const bramah__expr damper = e_scale(spring->damping, b->q_d[j]);
    const bramah__expr turn = e_sub(b->in_z[j], e_number(spring->free_position));
    resist(b, b->Rz + j * nr, e_add(e_scale(spring->stiffness, turn), damper));
    bramah__add_work(b, works, dampers, damper, b->in_z[j]);
  }
}

static void add_loads(bramah__step_builder *b, size_t *works)
{
  const bramah__forces *forces = &b->model->forces;
  const size_t nr = b->out->nf + b->out->nm, loads = b->out->nc + BRAMAH__LOADS;
  for (size_t i = 0; i < forces->n_loads; i++) {
    const bramah__load *load = &forces->load[i];
    const int axes = load->turns ? load->body : -1, is_tool = i >= b->model->first_tool && b->out->no > 0;
    const bramah__expr *tool = is_tool ? b->in_tool + BRAMAH__TOOL_GIVEN * (i - b->model->first_tool) : NULL;
    if (load->body < 0) continue;
    const bramah__vec place = bramah__point_graph(b->body, load->body, load->point),
                      given = is_tool ? (bramah__vec){{tool[0], tool[1], tool[2]}}
                                      : (bramah__vec){{b->load_force[3 * i], b->load_force[3 * i + 1],
                                                       b->load_force[3 * i + 2]}},
                      force = load->turns ? m_rotate(b->body[load->body].A, given) : given,
                      torque = is_tool ? (bramah__vec){{tool[3], tool[4], tool[5]}}
                                       : bramah__direction_graph(b->body, axes, load->torque);
    for (size_t f = 0; f < nr; f++) {
      bramah__vec move;
      bramah__seed_joints(b, b->Rz + f, nr);
      bramah__derive_along(b, 3, place.x, move.x);
      b->r[f] = e_sub(b->r[f], v_dot(move, force));
      for (int j = load->body; j >= 0; j = b->model->tree.link[j].parent)
        if (b->model->tree.link[j].revolute)
          b->r[f] = e_sub(b->r[f], e_mul(b->Rz[(size_t)j * nr + f], v_dot(b->body[j].n, torque)));
    }
    for (int k = 0; k < 3; k++) bramah__add_work(b, works, loads, force.x[k], place.x[k]);
    bramah__add_work(b, works, loads | BRAMAH__IS_POWER,
                     v_dot(torque, bramah__twist_graph(b->body, (size_t)load->body).angular), e_number(0.0));
  }
  for (size_t j = 0; j < b->out->n; j++) {
    resist(b, b->Rz + j * nr, e_neg(b->joint_load[j]));
    bramah__add_work(b, works, loads, b->joint_load[j], b->in_z[j]);
  }
}

static void add_limits(bramah__step_builder *b, size_t *works)
{
  const size_t nr = b->out->nf + b->out->nm;
  for (size_t i = 0; i < b->model->forces.n_limits; i++) {
    const bramah__limit *limit = &b->model->forces.limit[i];
    const size_t j = limit->joint;
    const bramah__expr against = e_neg(bramah__limit_force(limit, b->in_z[j], b->q_d[j]));
    resist(b, b->Rz + j * nr, against);
    bramah__add_work(b, works, b->out->nc + BRAMAH__LIMITS, against, b->in_z[j]);
  }
}

/* A brake or clutch. Returns what it takes. */
static bramah__expr add_brake(bramah__step_builder *b, size_t *works, const bramah__contact *brake,
                              const bramah__contact_values *values, bramah__expr half)
{
  const size_t nr = b->out->nf + b->out->nm, first = brake->first_state;
  const bramah__shaft *clutch = brake->clutch;
  const bramah__expr zero = e_number(0.0);
  const bramah__expr from[2] = {b->in_x[first], zero}, rate[2] = {b->in_xd[first], zero};
  bramah__expr w[4] = {zero, zero, zero, zero}, row[BRAMAH__MOST_SHAFT_JOINTS] = {e_number(1.0)}, f[3], x[2],
               xd[2], engaged = e_number(1.0);
  if (clutch)
    engaged = bramah__clutch_row(clutch, clutch->is_commanded[1] ? b->in_U[clutch->spool[1]] : zero, row);
  for (size_t a = 0; a < bramah__n_rubbed(brake); a++)
    w[0] = e_add(w[0], e_mul(row[a], b->q_d[bramah__rubbed_joint(brake, a)]));
  bramah__contact_with(brake, values, e_number(-1.0), w, half, from, rate, x, xd, f);
  if (brake->is_commanded) f[0] = e_mul(bramah__pressed_part(brake, b->in_U[brake->spool]), f[0]);
  f[0] = e_mul(engaged, f[0]);
  b->x_end[first] = x[0];
  b->xd_end[first] = xd[0];
  for (size_t a = 0; a < bramah__n_rubbed(brake); a++) {
    const size_t j = bramah__rubbed_joint(brake, a);
    const bramah__expr against = e_neg(e_mul(row[a], f[0]));
    resist(b, b->Rz + j * nr, against);
    bramah__add_work(b, works, b->out->nc + BRAMAH__CONTACTS, against, b->in_z[j]);
  }
  return e_neg(e_mul(f[0], w[0]));
}

/* That a contact on the field is given. */
static bramah__plane_graph plane_in(const bramah__step_builder *b, size_t k)
{
  const bramah__expr *in = b->in_plane + 10 * k;
  bramah__plane_graph plane = {.distance = in[9]};
  for (int i = 0; i < 9; i++) plane.axes.m[i / 3][i % 3] = in[i];
  return plane;
}

/* Engines and torques of joints. */
static void add_shafts(bramah__step_builder *b, size_t *works)
{
  const size_t nr = b->out->nf + b->out->nm, nc = b->out->nc;
  for (size_t i = 0; i < b->model->n_shafts; i++) {
    const bramah__shaft *shaft = &b->model->shaft[i];
    bramah__expr torque[BRAMAH__MOST_SHAFT_JOINTS], view[BRAMAH__SHAFT_VIEWS];
    if (shaft->kind == BRAMAH__CLUTCH) continue;
    bramah__shaft_graph(b, shaft, torque, view);
    for (size_t a = 0; a < shaft->n_joints; a++) {
      const size_t j = shaft->joint[a];
      const bramah__expr against = e_neg(torque[a]);
      resist(b, b->Rz + j * nr, against);
      bramah__add_work(b, works, nc + BRAMAH__LOADS, torque[a], b->in_z[j]);
    }
  }
}

/* Force, bristles and their rates of a contact at what it sees, and the derivatives of force and rates: made with inputs in place
 * of that, of which nothing folds away. */
static void set_law(bramah__step_builder *b, size_t i, const bramah__expr *touch, bramah__expr *f)
{
  const bramah__contact *contact = &b->model->contact_point[i];
  const bramah__expr half = b->out->nq ? b->in_half[0] : e_number(0.0), one = e_number(1.0);
  const size_t first = contact->first_state;
  struct {
    bramah__expr x[2], f[3], xd[2], by[BRAMAH__RUBBED * BRAMAH__TOUCHES];
  } law = {0};
  bramah__contact_with(contact, bramah__contact_values_in(b, i), b->in_touch[0], b->in_touch + 1, half,
                       b->in_x + first, b->in_xd + first, law.x, law.xd, law.f);
  const size_t n_rubbed = contact->n_states ? BRAMAH__RUBBED : 3;
  for (size_t k = 0; k < BRAMAH__TOUCHES; k++) {
    bramah__expr by[BRAMAH__RUBBED] = {{0}};
    bramah__derive(b->graph, 1, b->in_touch + k, &one, n_rubbed, law.f, by);
    bramah__put_column(n_rubbed, by, law.by + k, BRAMAH__TOUCHES);
  }
  bramah__substitute(b->graph, BRAMAH__TOUCHES, b->in_touch, touch, sizeof law / sizeof *law.x, law.x);
  memcpy(f, law.f, sizeof law.f);
  memcpy(b->by_touch + i * BRAMAH__RUBBED * BRAMAH__TOUCHES, law.by, sizeof law.by);
  memcpy(b->x_end + first, law.x, contact->n_states * sizeof *law.x);
  memcpy(b->xd_end + first, law.xd, contact->n_states * sizeof *law.xd);
}

/* Points and discs on the ground push the bodies. */
static void add_contacts(bramah__step_builder *b, size_t *works)
{
  const bramah_model *model = b->model;
  const size_t taken = b->out->nc + BRAMAH__CONTACTS;
  bramah__pair *wrench = (bramah__pair *)(void *)b->wrench;
  for (size_t first = 0, end, stands = 0; first < model->n_contact_points; first = end) {
    const bramah__contact *contact = &model->contact_point[first];
    const int on_field = stands < b->out->nk && model->standing[stands].point == first;
    bramah__plane_graph plane;
    end = first + bramah__patch_of(model, first);
    if (contact->pressed > 0.0 || contact->meets) continue;
    if (on_field) plane = plane_in(b, stands++);
    bramah__patch_graph *patch = bramah__patch_at(b, first);
    *patch = bramah__patch_graph_of(contact, on_field ? &plane : NULL, b->body);
    const bramah__vec arm = bramah__patch_arm(contact, patch, b->body),
                      spin = bramah__twist_graph(b->body, (size_t)contact->body).angular;
    for (size_t i = first; i < end; i++) {
      const bramah__contact *one = &model->contact_point[i];
      bramah__expr touch[BRAMAH__TOUCHES], f[3];
      bramah__patch_touch(patch, bramah__patch_offset(one), touch);
      set_law(b, i, touch, f);
      bramah__patch_push(patch, bramah__patch_offset(one), f);
      const bramah__vec force = bramah__patch_force(contact, patch, b->body, f),
                        held = bramah__point_graph(b->body, one->body, one->point);
      if (on_field) {
        const bramah__vec axis = bramah__direction_graph(b->body, one->body, one->spin);
        memcpy(b->stand + 6 * (stands - 1), held.x, sizeof held.x);
        memcpy(b->stand + 6 * (stands - 1) + 3, axis.x, sizeof axis.x);
      }
      for (int k = 0; k < 3; k++) bramah__add_work(b, works, taken, e_neg(force.x[k]), held.x[k]);
      if (one->radius > 0.0)
        bramah__add_work(b, works, taken | BRAMAH__IS_POWER, e_neg(v_dot(v_cross(arm, force), spin)),
                         e_number(0.0));
    }
    wrench[contact->body] = p_add(wrench[contact->body], bramah__patch_wrench(patch));
  }
}

static void add_brakes(bramah__step_builder *b, size_t *works)
{
  const bramah__expr half = b->out->nq ? b->in_half[0] : e_number(0.0);
  for (size_t i = 0; i < b->model->n_contact_points; i++)
    if (b->model->contact_point[i].pressed > 0.0 && !b->model->contact_point[i].meets)
      b->taken[i] = add_brake(b, works, &b->model->contact_point[i], bramah__contact_values_in(b, i), half);
}

/* What a quasistatic actuator exerts beyond its pressure, 0 of others; and what its equations need. */
static bramah__expr drag_of(bramah__step_builder *b, size_t c)
{
  const bramah__circuit *circuit = &b->model->circuit;
  const size_t i = bramah__metered_of(circuit, c);
  if (i == b->out->nw) return e_number(0.0);
  b->load[i] = bramah__metered_load_graph(circuit, i, b->in_p, b->v[c]);
  b->drawn[i] = e_add(e_mul(b->c1, b->s[c]), b->v[c]);
  return bramah__metered_drag_graph(circuit, i, b->in_w[i], b->v[c]);
}

static void add_actuators(bramah__step_builder *b, size_t *works)
{
  const bramah__circuit *circuit = &b->model->circuit;
  const size_t nr = b->out->nf + b->out->nm, nc = b->out->nc;
  const bramah__expr half = b->out->nq ? b->in_half[0] : e_number(0.0);
  for (size_t c = 0; c < nc; c++) {
    const bramah__cylinder *cylinder = &circuit->cylinder[c];
    b->s[c] = bramah__line_graph(&b->model->tree, &b->model->line[c], b->in_base, b->in_z, b->body);
    b->v[c] = measure(b, b->s[c], b->s_i + c * nr);
    const bramah__expr pressure = e_sub(e_scale(cylinder->piston_area, b->in_p[cylinder->piston]),
                                        e_scale(cylinder->rod_area, b->in_p[cylinder->rod]));
    const size_t first = cylinder->first_state;
    const bramah__expr friction = bramah__friction_at(&cylinder->friction, b->v[c], half, b->in_x + first,
                                                      b->in_xd + first, b->x_end + first, b->xd_end + first);
    b->friction[c] = e_mul(b->friction_scale[c], friction);
    b->stop[c] = bramah__stop_force(cylinder, b->s[c], b->v[c]);
    bramah__expr own = e_add(e_add(e_sub(pressure, b->friction[c]), b->stop[c]), drag_of(b, c));
    for (size_t k = 0; k < circuit->n_driven; k++) {
      const bramah__circuit_graph graph = bramah__circuit_of(b);
      if (circuit->driven[k].cylinder == c) own = e_add(own, bramah__driven_torque_graph(circuit, &graph, k));
    }
    b->force[c] = e_add(own, b->cylinder_load[c]);
    resist(b, b->s_i + c * nr, e_neg(b->force[c]));
    bramah__add_work(b, works, c, own, b->s[c]);
    bramah__add_work(b, works, nc + BRAMAH__FRICTION, b->friction[c], b->s[c]);
    bramah__add_work(b, works, nc + BRAMAH__STOPS, e_neg(b->stop[c]), b->s[c]);
    bramah__add_work(b, works, nc + BRAMAH__LOADS, b->cylinder_load[c], b->s[c]);
  }
}

/* Kinetic energy, and with it that in the field of gravity and in springs. */
static void set_energy(bramah__step_builder *b)
{
  const bramah__forces *forces = &b->model->forces;
  bramah__expr kinetic = {0}, potential = {0};
  for (size_t j = 0; j < b->out->n; j++) {
    const bramah__body_graph *body = &b->body[j];
    const bramah__link_graph *link = &b->link[j];
    const bramah__vec centre = v_add(body->place, m_rotate(body->turn, link->centre));
    const bramah__vec height = v_add(body->r, m_rotate(body->A, link->centre));
    const bramah__vec v = v_add(body->Z.linear, v_cross(body->Z.angular, centre));
    const bramah__vec w = m_unrotate(body->turn, body->Z.angular);
    kinetic = e_add(kinetic, e_add(e_mul(link->mass, v_dot(v, v)), v_dot(w, m_rotate(link->inertia, w))));
    potential = e_sub(potential, v_dot(b->gravity, v_scale(link->mass, height)));
  }
  for (size_t i = 0; i < forces->n_springs + forces->n_joint_springs; i++) {
    const size_t k = i - forces->n_springs; /* of a joint; wraps for what is before */
    const bramah__expr stretch =
        i < forces->n_springs
            ? e_sub(
                  bramah__line_graph(&b->model->tree, &forces->spring[i].line, b->in_base, b->in_z, b->body),
                  e_number(forces->spring[i].free_length))
            : e_sub(b->in_z[forces->joint_spring[k].joint], e_number(forces->joint_spring[k].free_position));
    const double stiffness =
        i < forces->n_springs ? forces->spring[i].stiffness : forces->joint_spring[k].stiffness;
    potential = e_add(potential, e_scale(0.5 * stiffness, e_square(stretch)));
  }
  b->energy[0] = e_scale(0.5, kinetic);
  b->energy[1] = e_add(b->energy[0], potential);
}

/* Out of balance r = Rz' (M z'' - Q) (D 2.29), and the rates of the circuit. */
static void set_residual(bramah__step_builder *b)
{
  const bramah_model *model = b->model;
  BRAMAH__STEP_SIZES(b->out);
  size_t works = 0;
  add_contacts(b, &works);
  bramah__tree_graph_force(&model->tree, (bramah__pair *)(void *)b->wrench, b->body, b->tau);
  for (size_t f = 0; f < nr; f++) b->r[f] = e_sum_products(n, b->Rz + f, nr, b->tau, 1);
  add_springs(b, &works);
  add_loads(b, &works);
  add_limits(b, &works);
  add_brakes(b, &works);
  bramah__add_meetings(b, &works);
  add_shafts(b, &works);
  add_actuators(b, &works);
  set_energy(b);
  const bramah__circuit_graph circuit = bramah__circuit_of(b);
  bramah__circuit_graph_rates(&model->circuit, &circuit, b->flow, b->compliance, b->rates);
  for (size_t k = 0; k < nu; k++)
    b->opens[k] = bramah__kink_graph(&model->circuit, &circuit, b->compliance, k, b->yields + 2 * k);
  bramah__load_signals(&model->circuit, &circuit, b->signal);
  for (size_t i = 0; i < model->n_definitions; i++)
    if (model->definition[i].is_summed)
      bramah__add_work(b, &works, (nc + BRAMAH__N_EXCHANGES + model->definition[i].sum) | BRAMAH__IS_POWER,
                       bramah__defined_graph(b, &model->definition[i]), e_number(0.0));
  memcpy(b->f, b->r, nf * sizeof *b->f);
  for (size_t i = 0; i < np; i++) b->f[nf + i] = e_sub(b->in_pd[i], b->rates[i]);
  memcpy(b->f_state, b->f, nx * sizeof *b->f);

  /* Load pressures take the change of the rod's stroke where its rates were: the trapezoidal rule for the actuator's own
   * stroke, which does not change as long as closed valves hold it, whatever its rod does. */
  for (size_t i = 0; i < nw; i++) {
    const bramah__metered_port *port = &model->circuit.metered_port[i];
    const bramah__expr moved = e_sub(e_mul(b->c1, b->s[port->cylinder]), b->in_drawn[i]);
    const bramah__expr rate = e_scale(bramah__load_stiffness(&model->circuit, i), e_sub(b->in_w[i], moved));
    b->f[nf + port->volume] = e_sub(b->in_pd[port->volume], rate);
  }
}

/* Does it not matter how far body j has turned about its joint, a wheel on the disc of its tyre? */
static int is_round(const bramah__step_builder *b, size_t j)
{
  const bramah_model *model = b->model;
  const bramah__link *link = &model->tree.link[j];
  const double *a = link->axis, near = 1e-12, *J = link->inertia;
  double across[3], Ja[3];
  if (!link->revolute || link->ball) return 0;
  for (int k = 0; k < 9; k++) /* a payload beside the axis moves it */
    if (!e_is_number(b->link[j].centre.x[k % 3]) || !e_is_number(b->link[j].inertia.m[k / 3][k % 3]))
      return 0;
  for (size_t k = j + 1; k < model->n; k++)
    if (model->tree.link[k].parent == (int)j) return 0;
  bramah__cross3(a, link->centre, across);
  bramah__rotate3(J, a, Ja);
  const double own = bramah__dot3(a, Ja), rest = 0.5 * (J[0] + J[4] + J[8] - own);
  for (int k = 0; k < 9; k++) {
    const double even = (k % 4 == 0 ? rest : 0.0) + (own - rest) * a[k / 3] * a[k % 3];
    if (!(fabs(J[k] - even) <= near * (own + rest)) || !(fabs(across[k % 3]) <= near)) return 0;
  }
  for (size_t i = 0; i < model->n_contact_points; i++) {
    const bramah__contact *contact = &model->contact_point[i];
    if (bramah__base_of(contact) == (int)j) return 0;
    if (contact->body != (int)j || contact->pressed > 0.0) continue;
    double off[3], tilt[3];
    bramah__cross3(a, contact->point, off);
    bramah__cross3(a, contact->spin, tilt);
    if (!bramah__is_disc(contact) || bramah__dot3(off, off) + bramah__dot3(tilt, tilt) > near * near)
      return 0;
  }
  return 1;
}

bramah_status bramah__add_mechanics(bramah__step_builder *b)
{
  unsigned char round[BRAMAH__MOST_BODIES];
  set_quantities(b);
  set_typical(b);
  for (size_t j = 0; j < b->model->n; j++) round[j] = (unsigned char)is_round(b, j);
  bramah__tree_graph_pose(&b->model->tree, b->in_base, b->in_z, b->out->nd > 0, round, b->body);
  const bramah_status status = close_loops(b);
  if (status != BRAMAH_OK) return status;
  set_motion(b);
  set_residual(b);
  return BRAMAH_OK;
}
