/* SPDX-License-Identifier: MIT */
#include "lib/hydraulics/metering.h"
#include "lib/plant/step_builder.h"
#include "lib/plant/definitions.h"

/* A component of what a sensor on a body shows, in the axes of the body (outputs.c). */
static bramah__expr output_of_body(const bramah__step_builder *b, bramah__output_code code,
                                   const bramah__body_graph *body)
{
  const bramah__vec w = body->Z.angular;
  const bramah__vec rate = m_unrotate(body->axes, w);
  if (code <= BRAMAH__BODY_RATE_Z) return rate.x[code - BRAMAH__BODY_RATE_X];
  if (code >= BRAMAH__BODY_RATE_XX) {
    const size_t *pair = bramah__rate_pair(code);
    return e_mul(rate.x[pair[0]], rate.x[pair[1]]);
  }
  if (code >= BRAMAH__BODY_UP_X) {
    const bramah__expr square = v_dot(b->gravity, b->gravity);
    const bramah__expr scale = e_select(square, e_neg(e_inv(e_sqrt(square))), e_number(0.0));
    return m_unrotate(body->A, v_scale(scale, b->gravity)).x[code - BRAMAH__BODY_UP_X];
  }
  if (code >= BRAMAH__BODY_TURN_X)
    return m_unrotate(body->axes, body->Zd.angular).x[code - BRAMAH__BODY_TURN_X];
  const bramah__vec velocity = v_add(body->Z.linear, v_cross(w, body->place));
  const bramah__vec turning = v_add(v_cross(body->Zd.angular, body->place), v_cross(w, velocity));
  return m_unrotate(body->axes, v_add(body->Zd.linear, turning)).x[code - BRAMAH__BODY_FORCE_X];
}

void bramah__shaft_graph(const bramah__step_builder *b, const bramah__shaft *shaft, bramah__expr *torque,
                         bramah__expr *view)
{
  bramah__expr rate[BRAMAH__MOST_SHAFT_JOINTS], U[BRAMAH__SHAFT_COMMANDS];
  for (size_t i = 0; i < shaft->n_joints; i++) rate[i] = b->q_d[shaft->joint[i]];
  for (size_t k = 0; k < BRAMAH__SHAFT_COMMANDS; k++)
    U[k] = shaft->is_commanded[k] ? b->in_U[shaft->spool[k]] : e_number(0.0);
  const bramah__expr *value = b->shaft_value + BRAMAH__SHAFT_VALUES * (size_t)(shaft - b->model->shaft);
  bramah__shaft_with(shaft, value, rate, U, torque, view);
}

static bramah__expr factor_graph(bramah__step_builder *b, const bramah__factor *factor)
{
  const size_t i = factor->index;
  const bramah__circuit_graph circuit = bramah__circuit_of(b);
  switch (factor->kind) {
  case BRAMAH__FACTOR_PLACE:
    return bramah__point_graph(b->body, (int)i, factor->local).x[factor->axis];
  case BRAMAH__FACTOR_DIRECTION:
    return bramah__direction_graph(b->body, (int)i, factor->local).x[factor->axis];
  case BRAMAH__FACTOR_FIRST_ORDER:
    return b->in_p[i];
  case BRAMAH__FACTOR_SUPPLY:
    return b->supply[i];
  case BRAMAH__FACTOR_FLOW:
    return bramah__element_flow_graph(&b->model->circuit, &circuit, i);
  case BRAMAH__FACTOR_DRAWN:
    return e_neg(b->flow[b->out->np + i]);
  case BRAMAH__FACTOR_PARAMETER:
    return b->in_theta[i];
  case BRAMAH__FACTOR_SHAFT: {
    bramah__expr torque[BRAMAH__MOST_SHAFT_JOINTS], view[BRAMAH__SHAFT_VIEWS];
    if (b->model->shaft[i].kind == BRAMAH__CLUTCH) return b->taken[b->model->shaft[i].contact];
    bramah__shaft_graph(b, &b->model->shaft[i], torque, view);
    return view[factor->axis];
  }
  case BRAMAH__FACTOR_CARRIED:
    return b->in_tool[BRAMAH__TOOL_GIVEN * i + BRAMAH__TOOL_MASS];
  default:
    return e_number(1.0);
  }
}

bramah__expr bramah__defined_graph(bramah__step_builder *b, const bramah__definition *definition)
{
  bramah__expr q[3] = {{0}};
  for (size_t t = 0; t < definition->n_terms; t++) {
    const bramah__term *term = &definition->term[t];
    const bramah__expr product = e_mul(factor_graph(b, &term->factor[0]), factor_graph(b, &term->factor[1]));
    q[term->sum] = e_add(q[term->sum], e_scale(term->weight, product));
  }
  return bramah__shape_sums(definition->shape, q);
}

/* Is this output among those below? The angles of spherical joints are shown so as long as they count from the axes of the model. */
static int has_reading(const bramah_model *model, const bramah__output *output)
{
  const bramah__output_code code = output->code;
  return bramah__is_of_body(code) || code == BRAMAH__DEFINED || code <= BRAMAH__VOLUME_PRESSURE ||
         (code >= BRAMAH__CYLINDER_STROKE && code <= BRAMAH__CYLINDER_FORCE) ||
         (bramah__is_metered(code) && code != BRAMAH__METERED_VALVES && model->circuit.n_metered);
}

/* What can be measured of quasistatic actuators, in the order of metering.h. */
static bramah__expr gauge_of(const bramah__step_builder *b, const bramah__output *output)
{
  const bramah__circuit *circuit = &b->model->circuit;
  const bramah__expr *gauge = b->in_w + b->out->nw;
  if (output->code == BRAMAH__LINE_PRESSURE)
    return e_add(gauge[BRAMAH__GAUGES * b->out->nw + output->index],
                 b->supply[circuit->metered_line[output->index].tank]);
  const size_t i = bramah__metered_of(circuit, output->index);
  if (output->code == BRAMAH__METERED_VELOCITY) return b->in_w[i];
  const bramah__expr shown = gauge[BRAMAH__GAUGES * i + output->code - BRAMAH__METERED_VELOCITY];
  if (!bramah__is_from_tank(output->code)) return shown;
  return e_add(shown, b->supply[circuit->metered_line[bramah__line_of(circuit, i)].tank]);
}

/* An output as an expression of positions, rates, accelerations and first-order states. */
static bramah__expr output_of(bramah__step_builder *b, const bramah__output *output)
{
  const size_t i = output->index;
  if (bramah__is_of_body(output->code)) return output_of_body(b, output->code, &b->body[i]);
  if (bramah__is_metered(output->code) && b->out->nw && output->code != BRAMAH__METERED_VALVES)
    return gauge_of(b, output);
  switch (output->code) {
  case BRAMAH__DEFINED:
    return bramah__defined_graph(b, &b->model->definition[i]);
  case BRAMAH__JOINT_POSITION:
    return b->in_z[i];
  case BRAMAH__JOINT_RATE:
    return b->q_d[i];
  case BRAMAH__JOINT_ACCELERATION:
    return b->q_dd[i];
  case BRAMAH__VOLUME_PRESSURE:
    return b->in_p[i];
  case BRAMAH__CYLINDER_STROKE:
    return b->s[i];
  case BRAMAH__CYLINDER_VELOCITY:
    return b->v[i];
  case BRAMAH__CYLINDER_FORCE:
    return e_sub(b->force[i], b->cylinder_load[i]);
  default:
    return e_number(0.0);
  }
}

/* Outputs that have most of their derivatives in common share a part: those of a body, of a definition, all accelerations, all
 * of metered actuators. */
static int share_a_part(const bramah_model *model, const bramah__output *a, const bramah__output *b)
{
  if (a->code == BRAMAH__DEFINED)
    return b->code == a->code && model->definition[a->index].thing == model->definition[b->index].thing;
  if (bramah__is_of_body(a->code)) return bramah__is_of_body(b->code) && a->index == b->index;
  if (bramah__is_metered(a->code)) return bramah__is_metered(b->code);
  return a == b || (a->code == BRAMAH__JOINT_ACCELERATION && a->code == b->code);
}

/* All outputs with what the program's scope has of their derivatives: by the error state, the independent accelerations, and
 * parameters at given accelerations. */
static void set_readings(bramah__step_builder *b)
{
  BRAMAH__STEP_SIZES(b->out);
  const size_t n_outputs = b->model->n_outputs, width = bramah__reading_width(b->out);
  b->n_follow = ny;
  for (size_t i = 0; i < n_outputs; i++) b->shown[i * width] = output_of(b, &b->model->output[i]);
  for (size_t i = 0; i < n_outputs; i++) b->output[i] = b->shown[i * width];
  for (size_t k = 0; k + 1 < width; k++) {
    if (k >= ne + nf && !b->out->follows[k - ne - nf]) continue;
    if (k < ne)
      bramah__seed_state(b, k);
    else if (k < ne + nf)
      bramah__seed(b, b->in_zdd[k - ne], e_number(1.0));
    else
      bramah__seed_parameter(b, k - ne - nf);
    bramah__derive_along(b, n_outputs, b->output, b->slope);
    bramah__put_column(n_outputs, b->slope, b->shown + 1 + k, width);
  }
}

void bramah__add_readings(bramah__step_builder *b)
{
  const bramah_model *model = b->model;
  const size_t width = bramah__reading_width(b->out);
  bramah__reading *reading = b->out->reading;
  set_readings(b);
  for (size_t i = 0; i < model->n_outputs; i++) {
    const bramah__output_code code = model->output[i].code;
    if (reading[i].part || !has_reading(model, &model->output[i])) continue;
    const int accelerates = bramah__is_of_body(code) || code == BRAMAH__JOINT_ACCELERATION;
    const size_t part = BRAMAH__FIRST_PART + b->n_parts;
    bramah__begin_part(b, accelerates ? BRAMAH__PART_ENDS : BRAMAH__PART_POSE);
    for (size_t k = i; k < model->n_outputs; k++) {
      if (reading[k].part || !has_reading(model, &model->output[k]) ||
          !share_a_part(model, &model->output[i], &model->output[k]))
        continue;
      reading[k] = (bramah__reading){part, b->part[b->n_parts - 1].n, accelerates};
      bramah__give(b, width, b->shown + k * width, 1);
    }
  }
}
