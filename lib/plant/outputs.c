/* SPDX-License-Identifier: MIT */
/* What the plant shows, its outputs, and how each depends on the error state. */
#include "lib/plant/compiled.h"
#include "lib/plant/definitions.h"
#include "lib/plant/residual_derivative.h"
#include "lib/hydraulics/metering.h"
#include "lib/multibody/tangent.h"
#include "lib/math/vector3.h"

#include <math.h>
#include <string.h>

/* ---- sensors that ride on a body ----
 *
 * All in the axes of the body: its angular rate, the
 * products of two components of it, its angular acceleration, the specific force at the origin of its frame
 * (acceleration minus gravity: what an accelerometer there shows) and the direction against gravity. The
 * specific force at any other point r is a fixed sum of them: f + alpha x r + omega x (omega x r). Of the
 * massless bodies inside a spherical joint they say nothing: those lie otherwise after a re-base.
 *
 * Derivatives: a change of the joints displaces the body by the twist pi (tangent.h). A vector x that the
 * motion carries changes in the axes of the body by A' (dx - theta x x), theta the turning part of pi, which
 * leaves
 *
 *   rate theta',   angular acceleration theta'' + theta' x omega,   up: up x theta,
 *   specific force at the origin o: pi''_o + 2 theta' x o' + theta x g,   pi''_o = pi''_linear + theta'' x o.
 *
 * Source: ours, from the variation of dissertation 2.4-2.12. */

typedef struct body_motion {
  const double *A, *origin, *rate, *gravity;
  const double *Zd;
  double velocity[3]; /* of the origin */
  double up[3];       /* unit vector against gravity, zero without gravity */
} body_motion;

/* Accelerations of all bodies at those of the joints. */
static const double *accelerations(const bramah_coupled *c)
{
  bramah__tree_acceleration(&c->model->tree, c->now->pose, c->now->Z, c->state.zd, c->state.zdd,
                            c->derivative.Y);
  return c->derivative.Y;
}

static body_motion motion_of(const bramah_coupled *c, size_t body)
{
  const bramah__pose *pose = &c->now->pose[body];
  const double *Z = c->now->Z + 6 * body;
  body_motion m = {pose->A, pose->r, Z + 3, c->model->tree.gravity, NULL, {0}, {0}};
  bramah__copy3(Z, m.velocity);
  bramah__add_cross3(Z + 3, pose->r, m.velocity);
  const double length = sqrt(bramah__dot3(m.gravity, m.gravity));
  for (int k = 0; k < 3; k++) m.up[k] = length > 0.0 ? -m.gravity[k] / length : 0.0;
  return m;
}

/* The first code of the vector a component belongs to. */
static bramah__output_code vector_of(bramah__output_code code)
{
  if (code >= BRAMAH__BODY_UP_X) return BRAMAH__BODY_UP_X;
  if (code >= BRAMAH__BODY_TURN_X) return BRAMAH__BODY_TURN_X;
  return code >= BRAMAH__BODY_FORCE_X ? BRAMAH__BODY_FORCE_X : BRAMAH__BODY_RATE_X;
}

static void vector_value(const body_motion *m, bramah__output_code vector, double *out)
{
  double x[3] = {0, 0, 0};
  if (vector == BRAMAH__BODY_RATE_X) bramah__copy3(m->rate, x);
  if (vector == BRAMAH__BODY_TURN_X) bramah__copy3(m->Zd + 3, x);
  if (vector == BRAMAH__BODY_UP_X) bramah__copy3(m->up, x);
  if (vector == BRAMAH__BODY_FORCE_X) {
    bramah__sub3(m->Zd, m->gravity, x);
    bramah__add_cross3(m->Zd + 3, m->origin, x);
    bramah__add_cross3(m->rate, m->velocity, x);
  }
  bramah__unrotate3(m->A, x, out);
}

static double body_value(const bramah_coupled *c, const bramah__output *output)
{
  const size_t body = output->index;
  body_motion m = motion_of(c, body);
  double x[3];
  if (output->code >= BRAMAH__BODY_RATE_XX && output->code <= BRAMAH__BODY_RATE_YZ) {
    const size_t *pair = bramah__rate_pair(output->code);
    vector_value(&m, BRAMAH__BODY_RATE_X, x);
    return x[pair[0]] * x[pair[1]];
  }
  const bramah__output_code vector = vector_of(output->code);
  if (bramah__body_accelerates(vector)) m.Zd = accelerations(c) + 6 * body;
  vector_value(&m, vector, x);
  return x[output->code - vector];
}

/* Change of a vector in the axes of the body for the displacement pi and its derivatives by time. */
static void vector_change(const body_motion *m, bramah__output_code vector, const double *pi,
                          const double *pid, const double *pidd, double *out)
{
  double x[3] = {0, 0, 0};
  if (vector == BRAMAH__BODY_RATE_X) bramah__copy3(pid + 3, x);
  if (vector == BRAMAH__BODY_UP_X) bramah__cross3(m->up, pi + 3, x);
  if (vector == BRAMAH__BODY_TURN_X) {
    bramah__copy3(pidd + 3, x);
    bramah__add_cross3(pid + 3, m->rate, x);
  }
  if (vector == BRAMAH__BODY_FORCE_X) {
    const double twice[3] = {2.0 * pid[3], 2.0 * pid[4], 2.0 * pid[5]};
    bramah__copy3(pidd, x);
    bramah__add_cross3(pidd + 3, m->origin, x);
    bramah__add_cross3(twice, m->velocity, x);
    bramah__add_cross3(pi + 3, m->gravity, x);
  }
  bramah__unrotate3(m->A, x, out);
}

/* Derivatives of the component sum_k along_k x_k of a vector by positions, rates and accelerations of the
 * joints between body and root, added to a, b and q. */
static void add_partials(const bramah_coupled *c, size_t body, bramah__output_code vector,
                         const double *along, double *a, double *b, double *q)
{
  static const double none[6] = {0};
  body_motion m = motion_of(c, body);
  const double *Zd = bramah__body_accelerates(vector) ? accelerations(c) : NULL;
  if (Zd) m.Zd = Zd + 6 * body;
  for (int j = (int)body; j >= 0; j = c->model->tree.link[j].parent) {
    /* the axis b of the joint, b' and b'' */
    const double *axis = c->now->pose[j].b, *Z = c->now->Z + 6 * j;
    double bd[6], bdd[6], turn[6] = {0}, twice[6], change[3];
    bramah__twist_cross(Z, axis, bd);
    bramah__twist_cross(Z, bd, bdd);
    if (Zd) bramah__twist_cross(Zd + 6 * j, axis, turn);
    for (int k = 0; k < 6; k++) {
      bdd[k] += turn[k];
      twice[k] = 2.0 * bd[k];
    }

    vector_change(&m, vector, axis, bd, bdd, change);
    a[j] += bramah__dot3(along, change);
    vector_change(&m, vector, none, axis, twice, change);
    b[j] += bramah__dot3(along, change);
    vector_change(&m, vector, none, none, axis, change);
    q[j] += bramah__dot3(along, change);
  }
}

static void body_partials(const bramah_coupled *c, const bramah__output *output, double *a, double *b,
                          double *q)
{
  double along[3] = {0, 0, 0};
  const bramah__output_code vector = vector_of(output->code);
  if (output->code >= BRAMAH__BODY_RATE_XX && output->code <= BRAMAH__BODY_RATE_YZ) {
    const size_t *pair = bramah__rate_pair(output->code);
    const body_motion m = motion_of(c, output->index);
    double rate[3];
    vector_value(&m, BRAMAH__BODY_RATE_X, rate);
    along[pair[0]] += rate[pair[1]];
    along[pair[1]] += rate[pair[0]];
    add_partials(c, output->index, BRAMAH__BODY_RATE_X, along, a, b, q);
    return;
  }
  along[output->code - vector] = 1.0;
  add_partials(c, output->index, vector, along, a, b, q);
}

/* ---- flow meters: elements, both ports of directional valves, ports of motors ----
 *
 * They depend on the pressures alone, as far as the error state goes (spools follow the commands), but for
 * what passes a motor with its rate. */

static int is_flow(bramah__output_code code)
{
  return code >= BRAMAH__ELEMENT_FLOW && code <= BRAMAH__MOTOR_DRAIN;
}

/* The cylinder that stands for the joint which turns pump `element`; n_cylinders: none. */
static size_t joint_of_pump(const bramah__circuit *circuit, size_t element)
{
  for (size_t k = 0; k < circuit->n_driven; k++)
    if (circuit->driven[k].element == element) return circuit->driven[k].cylinder;
  return circuit->n_cylinders;
}

static int follows_rate(const bramah__circuit *circuit, const bramah__output *output)
{
  if (output->code == BRAMAH__ELEMENT_FLOW)
    return joint_of_pump(circuit, output->index) < circuit->n_cylinders;
  return output->code == BRAMAH__MOTOR_FLOW_A || output->code == BRAMAH__MOTOR_FLOW_B;
}

/* [m^3/s] at the present pressures and spools and, unless they are NULL, its derivatives by the pressures [n_volumes]
 * and by the spools [n_spools], which are not those of a motor. */
static double flow(const bramah_coupled *c, const bramah__output *output, double *by_p, double *by_U)
{
  const bramah__circuit *circuit = &c->model->circuit;
  const bramah__state *state = &c->state;
  const size_t i = output->index;
  if (output->code == BRAMAH__VALVE_FLOW_A || output->code == BRAMAH__VALVE_FLOW_B)
    return bramah__valve_port_flow(circuit, i, output->code == BRAMAH__VALVE_FLOW_B, state->p, state->U, by_p,
                                   by_U);
  if (output->code >= BRAMAH__MOTOR_FLOW_A)
    return bramah__motor_flow(circuit, i, (int)output->code - (int)BRAMAH__MOTOR_FLOW_A, state->p, c->now->v,
                              by_p);
  return bramah__flow_at(circuit, i, state->p, c->now->v, state->U, by_p, NULL, by_U);
}

void bramah__flow_by_spools(const bramah_coupled *c, size_t i, double *by_U)
{
  const bramah__output *output = &c->model->output[i];
  if (is_flow(output->code) && output->code < BRAMAH__MOTOR_FLOW_A) flow(c, output, NULL, by_U);
  if (output->code == BRAMAH__DEFINED)
    bramah__defined_by_spools(c, &c->model->definition[output->index], by_U);
}

/* ---- metered cylinders and pump lines ----
 *
 * Pressures and flows that follow from the load pressures, the stroke velocities and the spools. */

/* The actuator that an output is about; of a line its first one, n_metered if it has none. */
static size_t actuator_of(const bramah__circuit *circuit, const bramah__output *output)
{
  if (output->code != BRAMAH__LINE_PRESSURE) return bramah__metered_of(circuit, output->index);
  const bramah__metered_line *line = &circuit->metered_line[output->index];
  return line->n ? line->first : circuit->n_metered;
}

/* Its place among what can be measured. */
static size_t gauge_of(const bramah__circuit *circuit, const bramah__output *output)
{
  if (output->code == BRAMAH__LINE_PRESSURE) return BRAMAH__GAUGES * circuit->n_metered + output->index;
  return BRAMAH__GAUGES * actuator_of(circuit, output) + output->code - BRAMAH__METERED_VELOCITY;
}

/* Pressure of a line that nobody draws from: what its unloading valve leaves. */
static double pressure_alone(const bramah_coupled *c, const bramah__metered_line *line)
{
  double open = line->unloading_open;
  if (line->unloading != BRAMAH__NO_SPOOL)
    open = bramah__single_opening(&c->model->circuit, line->unloading, c->state.U);
  const double unloading = line->line.U_b * open, root = line->line.Q / unloading;
  return unloading > 0.0 ? fmin(root * root, line->line.P_M) : line->line.P_M;
}

/* v, w and P of the state, which either the program or the evaluation has found. */
static double metered_value(const bramah_coupled *c, const bramah__output *output, const double *v,
                            const double *w, const double *P)
{
  const bramah__circuit *circuit = &c->model->circuit;
  const size_t i = actuator_of(circuit, output);
  double *gauge = c->derivative.gauge;
  if (output->code == BRAMAH__METERED_VALVES)
    return bramah__metered_valves(circuit, i, c->state.p, v, c->state.U, w, P);
  if (i < circuit->n_metered) bramah__metered_gauges(circuit, c->state.p, v, c->state.U, w, P, gauge, NULL);
  const size_t l = output->code == BRAMAH__LINE_PRESSURE ? output->index : bramah__line_of(circuit, i);
  const bramah__metered_line *line = &circuit->metered_line[l];
  const double value = line->n ? gauge[gauge_of(circuit, output)] : pressure_alone(c, line);
  return bramah__is_from_tank(output->code) ? value + circuit->supply[line->tank] : value;
}

/* a, b += factor (derivatives of the stroke velocity of a cylinder by positions and rates). */
static void add_velocity(bramah_coupled *c, size_t cylinder, double factor, double *a, double *b)
{
  const size_t n = c->model->n;
  const double *row = c->now->row + cylinder * n;
  double *rate = c->derivative.rate_row;
  bramah__line_rate_derivative(&c->model->tree, &c->model->line[cylinder], c->now->pose, c->now->Z, rate);
  for (size_t j = 0; j < n; j++) {
    a[j] += factor * rate[j];
    b[j] += factor * row[j];
  }
}

/* Derivatives by the pressures [n_volumes] and by the positions and rates of all joints, added to by_p, a, b: all depends on
 * load pressure and velocity by fbar = A_h pi - B v alone. Not of BRAMAH__METERED_VALVES. */
static void metered_partials(bramah_coupled *c, const bramah__output *output, double *by_p, double *a,
                             double *b)
{
  const bramah__circuit *circuit = &c->model->circuit;
  const bramah__eval *now = c->now;
  if (actuator_of(circuit, output) == circuit->n_metered) return;
  bramah__metered_gauges(circuit, c->state.p, now->v, c->state.U, now->w, now->P, c->derivative.gauge,
                         c->derivative.gauge_load);
  const double *slope = c->derivative.gauge_load + gauge_of(circuit, output) * circuit->n_metered;
  for (size_t k = 0; k < circuit->n_metered; k++) {
    const bramah__metered_port *port = &circuit->metered_port[k];
    by_p[port->volume] += slope[k] * circuit->metered[k].A_h;
    if (slope[k] != 0.0) add_velocity(c, port->cylinder, -slope[k] * port->damping, a, b);
  }
}

/* What the drag of a metered cylinder adds to the derivatives of its force. */
static void drag_partials(bramah_coupled *c, size_t cylinder, double *by_p, double *a, double *b)
{
  const bramah_model *model = c->model;
  const size_t i = bramah__metered_of(&model->circuit, cylinder);
  bramah__derive_circuit(model, c->state.p, c->state.U, c->now, &c->derivative);
  bramah__metered_by_pressure(model, &c->derivative, i, 1.0, by_p);
  for (size_t k = 0; k < model->circuit.n_metered; k++) {
    const double slope = bramah__metered_by_velocity(model, &c->derivative, i, k);
    if (slope != 0.0) add_velocity(c, model->circuit.metered_port[k].cylinder, slope, a, b);
  }
}

/* ---- values ---- */

static int is_tool(bramah__output_code code)
{
  return code >= BRAMAH__TOOL_CARRIED && code <= BRAMAH__TOOL_CUTTING;
}

static double tool_value(const bramah_coupled *c, const bramah__output *output)
{
  static const size_t at[] = {6, 0, 1, 2, 7};
  return c->state.tool[BRAMAH__TOOL_STATE * output->index + at[output->code - BRAMAH__TOOL_CARRIED]];
}

/* Of a plant with a program: what stands in the state. */
static int needs_no_evaluation(const bramah_coupled *c, bramah__output_code code)
{
  if (!c->compiled.program) return 0;
  return code <= BRAMAH__INPUT_COMMAND || code == BRAMAH__CYLINDER_WORK ||
         (code >= BRAMAH__BALL_QW && code <= BRAMAH__BALL_QZ) || is_tool(code) ||
         (code >= BRAMAH__ENERGY_DAMPERS && code <= BRAMAH__ENERGY_CONTACTS) || code == BRAMAH__DEFINED_SUM;
}

/* Position, rate or acceleration; of spherical joints against the axes of the model. */
static double joint_value(const bramah_coupled *c, bramah__output_code code, size_t joint)
{
  const bramah_model *model = c->model;
  const double *const of[3] = {c->state.z, c->state.zd, c->state.zdd};
  const size_t which = (size_t)code - BRAMAH__JOINT_POSITION, ball = model->ball_of[joint];
  double motion[3][3];
  if (!ball) return of[which][joint];
  bramah__ball_motion(model, &c->state, ball - 1, motion[0], motion[1], motion[2]);
  return motion[which][joint - model->ball[ball - 1].first];
}

static int is_contact(bramah__output_code code)
{
  return code >= BRAMAH__CONTACT_NORMAL && code <= BRAMAH__CONTACT_DEPTH;
}

static int is_energy(bramah__output_code code)
{
  return code >= BRAMAH__ENERGY_KINETIC && code <= BRAMAH__ENERGY_CONTACTS;
}

static double energy_value(const bramah_coupled *c, bramah__output_code code)
{
  const bramah_model *model = c->model;
  const double *exchange = c->state.exchange;
  switch (code) {
  case BRAMAH__ENERGY_KINETIC:
    return bramah__tree_kinetic(&model->tree, c->now->pose, c->now->Z);
  case BRAMAH__ENERGY_POTENTIAL:
    return bramah__tree_potential(&model->tree, c->now->pose) +
           bramah__forces_potential(&model->forces, c->now->pose, c->state.z) - model->potential0;
  case BRAMAH__ENERGY_STOPS: /* of actuators and joints */
    return exchange[BRAMAH__STOPS] + exchange[BRAMAH__LIMITS];
  default:
    return exchange[code - BRAMAH__ENERGY_DAMPERS];
  }
}

/* Of all points of a contact, in the axes of its plane. */
static double contact_value(const bramah_coupled *c, const bramah__output *output)
{
  const bramah_model *model = c->model;
  double sum[3] = {0.0, 0.0, 0.0}, deepest = 0.0;
  for (size_t i = model->first_point[output->index]; i < model->first_point[output->index + 1]; i++) {
    const bramah__contact *contact = &model->contact_point[i];
    double f[3];
    bramah__contact_frame at;
    bramah__contact_frame_of(contact, c->now->gear + BRAMAH__MOST_SHAFT_JOINTS * i, c->now->pose, c->now->Z,
                             &at);
    bramah__rotate3(at.axes, c->now->contact + 3 * i, f);
    bramah__axpy3(1.0, f, sum);
    deepest = fmax(deepest, -at.height);
  }
  switch (output->code) {
  case BRAMAH__CONTACT_X:
    return sum[0];
  case BRAMAH__CONTACT_Y:
    return sum[1];
  case BRAMAH__CONTACT_NORMAL:
    return sum[2];
  default:
    return deepest;
  }
}

double bramah__output_value(void *self, size_t index)
{
  bramah_coupled *c = self;
  const bramah_model *model = c->model;
  const bramah__output *output = &model->output[index];
  double value, kinetic, stored;
  if ((bramah__is_of_body(output->code) || output->code == BRAMAH__DEFINED) &&
      bramah__compiled_value(c, index, &value))
    return value;
  if (output->code >= BRAMAH__CYLINDER_STROKE && output->code <= BRAMAH__CYLINDER_FRICTION &&
      bramah__compiled_actuator(c, output, &value))
    return value;
  if (bramah__is_metered(output->code) && bramah__compiled_pose(c))
    return metered_value(c, output, c->compiled.speed, c->compiled.w, c->compiled.P);
  if ((output->code == BRAMAH__ENERGY_KINETIC || output->code == BRAMAH__ENERGY_POTENTIAL) &&
      bramah__compiled_energy(c, &kinetic, &stored))
    return output->code == BRAMAH__ENERGY_KINETIC ? kinetic : stored - kinetic - model->potential0;
  if (!needs_no_evaluation(c, output->code) && bramah__refresh(c, NULL) != BRAMAH_OK) return NAN;
  const bramah__state *state = &c->state;
  const bramah__eval *now = c->now;
  const size_t i = output->index;
  if (is_flow(output->code)) return flow(c, output, NULL, NULL);
  if (is_tool(output->code)) return tool_value(c, output);
  if (is_contact(output->code)) return contact_value(c, output);
  if (output->code >= BRAMAH__BETWEEN_X && output->code <= BRAMAH__BETWEEN_LEFT)
    return bramah__meeting_value(c, output);
  if (is_energy(output->code)) return energy_value(c, output->code);
  if (bramah__is_of_body(output->code)) return body_value(c, output);
  if (bramah__is_metered(output->code)) return metered_value(c, output, now->v, now->w, now->P);

  switch (output->code) {
  case BRAMAH__JOINT_POSITION:
  case BRAMAH__JOINT_RATE:
  case BRAMAH__JOINT_ACCELERATION:
    return joint_value(c, output->code, i);
  case BRAMAH__BALL_QW:
  case BRAMAH__BALL_QX:
  case BRAMAH__BALL_QY:
  case BRAMAH__BALL_QZ: {
    double q[4];
    bramah__ball_quaternion(model, state, i, q);
    return q[output->code - BRAMAH__BALL_QW];
  }
  case BRAMAH__DRIVE_FORCE:
    return state->drive[i];
  case BRAMAH__DRIVE_WORK:
    return state->drive_work[i];
  case BRAMAH__DEFINED:
    return bramah__defined_value(model, state, now, &model->definition[i]);
  case BRAMAH__DEFINED_SUM:
    return state->exchange[BRAMAH__N_EXCHANGES + model->definition[i].sum];
  case BRAMAH__VOLUME_PRESSURE:
    return state->p[i];
  case BRAMAH__VALVE_SPOOL:
    return state->U[i];
  case BRAMAH__CYLINDER_STROKE:
    return now->s[i];
  case BRAMAH__CYLINDER_VELOCITY:
    return now->v[i];
  case BRAMAH__CYLINDER_FORCE:
    return now->force[i] - model->circuit.cylinder[i].load;
  case BRAMAH__CYLINDER_FRICTION:
    return now->friction[i];
  case BRAMAH__CYLINDER_WORK:
    return state->work[i];
  case BRAMAH__INPUT_COMMAND:
    return state->u[i];
  default:
    return NAN;
  }
}

/* ---- derivatives of what the joints show ---- */

/* Turns of a ball by its coordinates, and by its coordinates at constant rates: X and U at the state. */
static void turn_partials(const bramah_coupled *c, size_t ball, double *X, double *U)
{
  const size_t j = c->model->ball[ball].first;
  bramah__turn_matrix(c->state.z + j, X);
  bramah__turn_gradient(c->state.z + j, c->state.zd + j, U);
}

/* An angle of a ball and its rate by the coordinates: X(g) dg = X(z) dz, because both are the same small
 * turn, and X(g) dg' + U(g, g') dg = X(z) dz' + U(z, z') dz. */
static void ball_partials(const bramah_coupled *c, const bramah__output *output, double *a, double *b)
{
  const size_t ball = c->model->ball_of[output->index] - 1, j = c->model->ball[ball].first,
               k = output->index - j;
  double g[3], gd[3], X[9], U[9], Xi[9], Ug[9], G[9], UG[9];
  bramah__ball_motion(c->model, &c->state, ball, g, gd, NULL);
  turn_partials(c, ball, X, U);
  bramah__turn_inverse(g, Xi);
  bramah__multiply3(Xi, X, G);
  double *rest = output->code == BRAMAH__JOINT_POSITION ? a : b;
  memcpy(rest + j, G + 3 * k, 3 * sizeof *G);
  if (rest == a) return;
  bramah__turn_gradient(g, gd, Ug);
  bramah__multiply3(Ug, G, UG);
  for (int i = 0; i < 9; i++) U[i] -= UG[i];
  bramah__multiply3(Xi, U, G);
  memcpy(a + j, G + 3 * k, 3 * sizeof *G);
}

/* M -= A B, all [9] */
static void subtract_product(const double *A, const double *B, double *M)
{
  double AB[9];
  bramah__multiply3(A, B, AB);
  for (int k = 0; k < 9; k++) M[k] -= AB[k];
}

/* How X a'' + U a', the angular acceleration about the axes of the child, follows a and a': P, Q [9]. */
static void turn_acceleration_partials(const double *a, const double *ad, const double *add, double *P,
                                       double *Q)
{
  double U[9];
  bramah__turn_curvature(a, ad, P, Q);
  bramah__turn_gradient(a, add, U);
  for (int k = 0; k < 9; k++) P[k] += U[k];
}

/* The same for the acceleration of an angle g: both sides of X(g) g'' + U(g, g') g' = X(z) z'' + U(z, z') z'
 * change alike, with dg = G dz and dg' = G dz' + V dz from the two equations above. */
static void ball_acceleration_partials(const bramah_coupled *c, const bramah__output *output, double *a,
                                       double *b, double *q)
{
  const size_t ball = c->model->ball_of[output->index] - 1, j = c->model->ball[ball].first,
               k = output->index - j;
  double g[3], gd[3], gdd[3], X[9], U[9], Xi[9], Ug[9], G[9], V[9], P[9], Q[9], Pg[9], Qg[9];
  bramah__ball_motion(c->model, &c->state, ball, g, gd, gdd);
  turn_partials(c, ball, X, U);
  bramah__turn_inverse(g, Xi);
  bramah__multiply3(Xi, X, G);
  bramah__turn_gradient(g, gd, Ug);
  subtract_product(Ug, G, U);
  bramah__multiply3(Xi, U, V);
  turn_acceleration_partials(c->state.z + j, c->state.zd + j, c->state.zdd + j, P, Q);
  turn_acceleration_partials(g, gd, gdd, Pg, Qg);
  subtract_product(Pg, G, P);
  subtract_product(Qg, V, P);
  subtract_product(Qg, G, Q);
  for (size_t l = 0; l < 3; l++)
    for (size_t m = 0; m < 3; m++) {
      a[j + l] += Xi[3 * k + m] * P[3 * m + l];
      b[j + l] += Xi[3 * k + m] * Q[3 * m + l];
    }
  memcpy(q + j, G + 3 * k, 3 * sizeof *G);
}

/* Is the coordinate what is shown, as with all but those of a ball that has been re-based? */
static int is_plain(const bramah_coupled *c, size_t joint)
{
  const size_t ball = c->model->ball_of[joint];
  return !ball || bramah__quaternion_is_identity(c->state.base + 4 * (ball - 1));
}

static void quaternion_partials(const bramah_coupled *c, const bramah__output *output, double *a)
{
  const size_t ball = output->index;
  const double *row;
  double q[4], dq[12], X[9], U[9];
  bramah__ball_quaternion(c->model, &c->state, ball, q);
  bramah__quaternion_by_turns(q, dq);
  turn_partials(c, ball, X, U);
  row = dq + 3 * (output->code - BRAMAH__BALL_QW);
  for (size_t k = 0; k < 3; k++)
    for (size_t l = 0; l < 3; l++) a[c->model->ball[ball].first + k] += row[l] * X[3 * l + k];
}

/* Of all points of a contact, their bristles held; of the depth, the deepest's. */
static void contact_partials(const bramah_coupled *c, const bramah__output *output, double *a, double *b)
{
  const bramah_model *model = c->model;
  const size_t n = model->n, first = model->first_point[output->index],
               axis = output->code == BRAMAH__CONTACT_NORMAL ? 2 : output->code == BRAMAH__CONTACT_Y;
  double *G = c->derivative.contact_rows, *H = G + 4 * n, deepest = 0.0;
  for (size_t i = first; i < model->first_point[output->index + 1]; i++) {
    const bramah__contact *contact = &model->contact_point[i];
    bramah__contact_slope slope;
    bramah__contact_frame at;
    bramah__contact_frame_of(contact, c->now->gear + BRAMAH__MOST_SHAFT_JOINTS * i, c->now->pose, c->now->Z,
                             &at);
    if (!(at.height < 0.0) || (output->code == BRAMAH__CONTACT_DEPTH && at.height >= deepest)) continue;
    bramah__contact_slopes(1, contact, c->now->pose, c->now->Z, c->state.U, 0.0, c->state.x, NULL, &slope);
    bramah__contact_rows(&model->tree, contact, c->now->gear + BRAMAH__MOST_SHAFT_JOINTS * i, c->now->pose,
                         c->now->Z, G);
    const double *by = slope.by_velocity + 3 * axis;
    if (output->code == BRAMAH__CONTACT_DEPTH) memset(a, 0, n * sizeof *a);
    for (int joint = (int)model->n; (joint = bramah__contact_joint(&model->tree, contact, joint)) >= 0;) {
      const size_t j = (size_t)joint;
      if (output->code == BRAMAH__CONTACT_DEPTH) {
        a[j] = -G[2 * n + j];
        continue;
      }
      a[j] += slope.by_height[axis] * G[2 * n + j];
      for (size_t k = 0; k < 3; k++) {
        a[j] += by[k] * H[k * n + j];
        b[j] += by[k] * G[k * n + j];
      }
      a[j] += slope.by_roll[axis] * H[3 * n + j];
      b[j] += slope.by_roll[axis] * G[3 * n + j];
    }
    deepest = at.height;
  }
}

/* Of a friction force, by the bristles that are error states [n_bristles]. */
static void bristle_partials(const bramah_coupled *c, const bramah__output *output, double *by)
{
  const bramah_model *model = c->model;
  const size_t axis = output->code == BRAMAH__CONTACT_Y;
  if (output->code == BRAMAH__CONTACT_NORMAL || output->code == BRAMAH__CONTACT_DEPTH) return;
  for (size_t i = model->first_point[output->index]; i < model->first_point[output->index + 1]; i++) {
    const bramah__contact *contact = &model->contact_point[i];
    bramah__contact_slope slope;
    if (axis >= contact->n_errors) continue;
    bramah__contact_slopes(1, contact, c->now->pose, c->now->Z, c->state.U, 0.0, c->state.x, NULL, &slope);
    by[contact->first_error + axis] = slope.by_bristle;
  }
}

/* Derivatives of an output by all joint positions a [n], rates b [n] and accelerations q [n]; 0 if it has
 * none. */
static int mechanical_partials(const bramah_coupled *c, const bramah__output *output, double *a, double *b,
                               double *q)
{
  const bramah_model *model = c->model;
  const size_t n = model->n, i = output->index;
  memset(a, 0, n * sizeof *a);
  memset(b, 0, n * sizeof *b);
  memset(q, 0, n * sizeof *q);
  if (bramah__is_of_body(output->code)) {
    body_partials(c, output, a, b, q);
    return 1;
  }
  if (is_contact(output->code)) {
    contact_partials(c, output, a, b);
    return 1;
  }
  switch (output->code) {
  case BRAMAH__JOINT_POSITION:
  case BRAMAH__JOINT_RATE:
    if (!is_plain(c, i))
      ball_partials(c, output, a, b);
    else
      (output->code == BRAMAH__JOINT_POSITION ? a : b)[i] = 1.0;
    return 1;
  case BRAMAH__JOINT_ACCELERATION:
    if (is_plain(c, i))
      q[i] = 1.0;
    else
      ball_acceleration_partials(c, output, a, b, q);
    return 1;
  case BRAMAH__BALL_QW:
  case BRAMAH__BALL_QX:
  case BRAMAH__BALL_QY:
  case BRAMAH__BALL_QZ:
    quaternion_partials(c, output, a);
    return 1;
  case BRAMAH__CYLINDER_STROKE:
    memcpy(a, c->now->row + i * n, n * sizeof *a);
    return 1;
  case BRAMAH__CYLINDER_VELOCITY:
    memcpy(b, c->now->row + i * n, n * sizeof *b);
    bramah__line_rate_derivative(&model->tree, &model->line[i], c->now->pose, c->now->Z, a);
    return 1;
  case BRAMAH__ELEMENT_FLOW: {
    const size_t joint = joint_of_pump(&model->circuit, i);
    double *by_v = c->probe_state.work;
    if (joint == model->circuit.n_cylinders) return 0;
    bramah__flow_at(&model->circuit, i, c->state.p, c->now->v, c->state.U, NULL, by_v, NULL);
    b[model->line[joint].joint] = by_v[joint];
    return 1;
  }
  case BRAMAH__MOTOR_FLOW_A:
  case BRAMAH__MOTOR_FLOW_B: { /* likewise; along a coordinate its row is constant */
    const size_t motor = bramah__motor_cylinder(&model->circuit, i);
    for (size_t j = 0; j < n; j++)
      b[j] = model->circuit.cylinder[motor].piston_area * c->now->row[motor * n + j];
    return 1;
  }
  case BRAMAH__CYLINDER_FORCE: { /* pressures are added by pressure_part */
    const double *row = c->now->row + i * n;
    double by_s, by_v;
    bramah__force_slopes(c, i, &by_s, &by_v);
    bramah__line_rate_derivative(&model->tree, &model->line[i], c->now->pose, c->now->Z, a);
    for (size_t j = 0; j < n; j++) {
      a[j] = by_v * a[j] + by_s * row[j];
      b[j] = by_v * row[j];
    }
    return 1;
  }
  default:
    return 0;
  }
}

/* What an output has of the pressures directly, row [2 n_dof + n_volumes]; 1 if that is all. */
static int pressure_part(const bramah_coupled *c, const bramah__output *output, double *row)
{
  double *by_p = row + 2 * c->model->n_independent;
  if (output->code == BRAMAH__CYLINDER_FORCE) {
    const bramah__cylinder *cylinder = &c->model->circuit.cylinder[output->index];
    by_p[cylinder->piston] += cylinder->piston_area;
    by_p[cylinder->rod] -= cylinder->rod_area;
    for (size_t k = 0; k < c->model->circuit.n_driven; k++)
      for (size_t i = 0; i < c->model->n_first_order && c->model->circuit.driven[k].cylinder == output->index;
           i++)
        by_p[i] += c->now->pump_by_p[k * c->model->n_first_order + i];
    return 0;
  }
  if (output->code == BRAMAH__VOLUME_PRESSURE) by_p[output->index] = 1.0;
  if (is_flow(output->code)) flow(c, output, by_p, NULL);
  return output->code == BRAMAH__VOLUME_PRESSURE ||
         (is_flow(output->code) && !follows_rate(&c->model->circuit, output));
}

bramah_status bramah__output_row(void *self, size_t i, double *row)
{
  bramah_coupled *c = self;
  if (bramah__compiled_row(c, i, row)) return BRAMAH_OK;
  bramah_status status = bramah__refresh(c, NULL);
  if (status != BRAMAH_OK) return status;
  const bramah__output *output = &c->model->output[i];
  const int accelerates =
      output->code == BRAMAH__JOINT_ACCELERATION || bramah__body_accelerates(output->code);
  memset(row, 0, bramah__n_error(c->model) * sizeof *row);
  if (output->code == BRAMAH__DEFINED) {
    bramah__defined_row(c, &c->model->definition[output->index], row);
    return BRAMAH_OK;
  }
  if (pressure_part(c, output, row)) return BRAMAH_OK;
  if (accelerates) status = bramah__joint_acceleration_rows(c);
  if (status != BRAMAH_OK) return status;
  double *a = c->probe_state.z, *b = c->probe_state.zd, *q = c->probe_state.zdd;
  double *by_p = row + 2 * c->model->n_independent;
  const int known = mechanical_partials(c, output, a, b, q);
  if (bramah__is_metered(output->code) && output->code != BRAMAH__METERED_VALVES)
    metered_partials(c, output, by_p, a, b);
  else if (!known)
    return BRAMAH_E_UNSUPPORTED;
  else if (output->code == BRAMAH__CYLINDER_FORCE && c->model->circuit.cylinder[output->index].metered)
    drag_partials(c, output->index, by_p, a, b);

  if (is_contact(output->code)) bristle_partials(c, output, by_p + c->model->n_first_order);

  /* row += [ a Rz + b D, b Rz, 0 ] */
  const size_t n = c->model->n, n_dof = c->model->n_independent;
  int moving = 0;
  for (size_t j = 0; j < n; j++) moving |= b[j] != 0.0;
  if (moving) bramah__rate_derivative(c->model, &c->state, c->now);
  for (size_t f = 0; f < n_dof; f++)
    for (size_t j = 0; j < n; j++) {
      row[f] += a[j] * c->now->Rz[j * n_dof + f] + (moving ? b[j] * c->now->D[j * n_dof + f] : 0.0);
      row[n_dof + f] += b[j] * c->now->Rz[j * n_dof + f];
    }
  if (accelerates) {
    /* row += q Q, Q all joint accelerations by the error state. */
    const size_t n_error = bramah__n_error(c->model);
    for (size_t j = 0; j < c->model->n; j++)
      for (size_t k = 0; q[j] != 0.0 && k < n_error; k++) row[k] += q[j] * c->Q[j * n_error + k];
  }
  return BRAMAH_OK;
}

bramah_status bramah__output_by_parameters(void *self, size_t i, size_t n_par, const size_t *par, double *row)
{
  return bramah__compiled_by_parameters(self, i, n_par, par, row) ? BRAMAH_OK : BRAMAH_E_UNSUPPORTED;
}

/* The angles of spherical and floating joints are no measure of uncertainty: near a pitch of +-90 deg a
 * small turn of the body moves yaw and roll by any amount. Their standard deviations and noise mean small
 * turns of the child about its own axes, z for the yaw, y for the pitch, x for the roll: row = (X Rz) of
 * that turn. */
bramah_status bramah__noise_row(void *self, size_t i, double *row)
{
  bramah_coupled *c = self;
  const bramah_model *model = c->model;
  const bramah__output *output = &model->output[i];
  if (output->code != BRAMAH__JOINT_POSITION || !model->ball_of[output->index]) return BRAMAH_E_UNSUPPORTED;
  const double *Rz = bramah__compiled_motion(c);
  const bramah_status status = Rz ? BRAMAH_OK : bramah__refresh(c, NULL);
  if (status != BRAMAH_OK) return status;
  if (!Rz) Rz = c->now->Rz;
  const size_t ball = model->ball_of[output->index] - 1, j = model->ball[ball].first, k = output->index - j,
               n_dof = model->n_independent;
  double X[9], U[9];
  turn_partials(c, ball, X, U);
  memset(row, 0, bramah__n_error(model) * sizeof *row);
  for (size_t f = 0; f < n_dof; f++)
    for (size_t l = 0; l < 3; l++) row[f] += X[3 * k + l] * Rz[(j + l) * n_dof + f];
  return BRAMAH_OK;
}

void bramah__output_by_acceleration(bramah_coupled *c, size_t i, double *row)
{
  const size_t n = c->model->n, n_dof = c->model->n_independent;
  double *a = c->probe_state.z, *b = c->probe_state.zd, *q = c->probe_state.zdd;
  memset(row, 0, n_dof * sizeof *row);
  if (!mechanical_partials(c, &c->model->output[i], a, b, q)) return;
  for (size_t j = 0; j < n; j++)
    for (size_t f = 0; f < n_dof; f++) row[f] += q[j] * c->now->Rz[j * n_dof + f];
}
