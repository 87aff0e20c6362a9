/* SPDX-License-Identifier: MIT */
#include "lib/graph/equation.h"
#include "lib/math/vector3.h"
#include "lib/multibody/shaft.h"

#include <string.h>

/* ---- the laws ---- */

/* u / limit, 0 ... 1; 1 where nothing commands. */
static bramah__expr part_of(const bramah__shaft *shaft, bramah__expr U)
{
  if (!shaft->is_commanded[0]) return e_number(1.0);
  return e_scale(1.0 / shaft->limit[0], e_max(U, e_number(0.0)));
}

/* Straight between the points and level beyond them, but for parabolas that round each corner within `rounding` of it, so that the
 * derivative is continuous: the first value and, for each corner, how the slope changes there times the way behind it. */
static bramah__expr full_load(const bramah__shaft *engine, bramah__expr w)
{
  const double r = engine->rounding, *x = engine->x, *y = engine->y;
  bramah__expr sum = e_number(y[0]);
  for (size_t i = 0; i < engine->n_points; i++) {
    const double before = i ? (y[i] - y[i - 1]) / (x[i] - x[i - 1]) : 0.0,
                 after = i + 1 < engine->n_points ? (y[i + 1] - y[i]) / (x[i + 1] - x[i]) : 0.0;
    const bramah__expr behind = e_sub(w, e_number(x[i]));
    if (e_excludes(e_add(behind, e_number(r)))) break; /* nor has any further one */
    const bramah__expr within = e_min(e_max(e_add(behind, e_number(r)), e_number(0.0)), e_number(2.0 * r)),
                       way = e_add(e_scale(0.25 / r, e_square(within)),
                                   e_max(e_sub(behind, e_number(r)), e_number(0.0)));
    sum = e_add(sum, e_scale(after - before, way));
  }
  return e_max(sum, e_number(0.0));
}

/* 0 below the speed where it stalls, 1 from a quarter above it on, 3 s^2 - 2 s^3 between. */
static bramah__expr running(const bramah__shaft *engine, bramah__expr w)
{
  const bramah__expr from = e_scale(4.0, e_sub(e_scale(1.0 / engine->stall, w), e_number(1.0))),
                     s = e_min(e_max(from, e_number(0.0)), e_number(1.0));
  return e_mul(e_square(s), e_sub(e_number(3.0), e_scale(2.0, s)));
}

/* The throttle is the greater one of the command's and the governor's, which opens below the idle speed. Fuel: specific
 * consumption b(T, w) times power, at least what it takes when idle (a bowl-shaped map around its best point, ours). */
static void engine_at(const bramah__shaft *engine, const bramah__expr *value, bramah__expr w, bramah__expr U,
                      bramah__expr *torque, bramah__expr *view)
{
  const bramah__expr runs = engine->stall > 0.0 ? running(engine, w) : e_number(1.0);
  bramah__expr throttle = part_of(engine, U);
  if (engine->value[BRAMAH__SHAFT_IDLE_SPEED] > 0.0) {
    const bramah__expr lacks = e_scale(1.0 / engine->idle_band, e_sub(value[BRAMAH__SHAFT_IDLE_SPEED], w));
    throttle = e_max(throttle, e_min(lacks, e_number(1.0)));
  }
  const bramah__expr most = e_mul(value[BRAMAH__SHAFT_SCALE], e_mul(runs, full_load(engine, w))),
                     T = e_mul(throttle, most), P = e_mul(T, w);
  torque[0] = e_sub(T, e_mul(value[BRAMAH__SHAFT_FRICTION], e_tanh(w)));
  view[BRAMAH__SHAFT_TORQUE] = T;
  view[BRAMAH__SHAFT_POWER] = P;
  if (!(engine->consumption > 0.0)) return;
  const bramah__expr off = e_sub(e_number(1.0), e_scale(1.0 / engine->best_torque, T)),
                     past = e_sub(e_scale(1.0 / engine->best_speed, w), e_number(1.0)),
                     b = e_add(e_number(1.0), e_add(e_scale(engine->torque_loss, e_square(off)),
                                                    e_scale(engine->speed_loss, e_square(past))));
  view[BRAMAH__SHAFT_FUEL] =
      e_max(e_scale(engine->consumption, e_mul(b, P)), e_scale(engine->idle_fuel, runs));
}

/* Ratio of the gear whose number is nearest, and 1, or in neutral 0 and 0. */
static bramah__expr ratio_of(const bramah__shaft *clutch, bramah__expr U, bramah__expr *engaged)
{
  bramah__expr ratio = e_number(clutch->n_points ? 0.0 : clutch->ratio);
  *engaged = e_number(clutch->n_points ? 0.0 : 1.0);
  for (size_t i = 0; i < clutch->n_points; i++) {
    const bramah__expr near = e_sub(e_number(0.5), e_abs(e_sub(U, e_number(clutch->x[i]))));
    ratio = e_select(near, e_number(clutch->y[i]), ratio);
    *engaged = e_select(near, e_number(1.0), *engaged);
  }
  return ratio;
}

bramah__expr bramah__clutch_row(const bramah__shaft *clutch, bramah__expr U, bramah__expr *out)
{
  bramah__expr engaged;
  const bramah__expr ratio = ratio_of(clutch, U, &engaged);
  out[0] = e_number(-1.0);
  for (size_t i = 1; i < clutch->n_joints; i++) out[i] = e_scale(clutch->share[i], ratio);
  return engaged;
}

/* Either way, as commanded; with a limit of power no more than P/|w|. */
static void drive_at(const bramah__shaft *drive, const bramah__expr *value, bramah__expr w, bramah__expr U,
                     bramah__expr *torque, bramah__expr *view)
{
  bramah__expr T = e_mul(value[BRAMAH__SHAFT_SCALE], e_scale(drive->torque / drive->limit[0], U));
  if (drive->power > 0.0) T = e_div(T, e_max(e_scale(drive->torque / drive->power, e_abs(w)), e_number(1.0)));
  torque[0] = view[BRAMAH__SHAFT_TORQUE] = T;
  view[BRAMAH__SHAFT_POWER] = e_mul(T, w);
}

void bramah__shaft_at(const bramah__shaft *shaft, const bramah__expr *rate, const bramah__expr *U,
                      bramah__expr *torque, bramah__expr *view)
{
  bramah__expr value[BRAMAH__SHAFT_VALUES];
  for (int i = 0; i < BRAMAH__SHAFT_VALUES; i++) value[i] = e_number(shaft->value[i]);
  bramah__shaft_with(shaft, value, rate, U, torque, view);
}

void bramah__shaft_with(const bramah__shaft *shaft, const bramah__expr *value, const bramah__expr *rate,
                        const bramah__expr *U, bramah__expr *torque, bramah__expr *view)
{
  for (size_t i = 0; i < shaft->n_joints; i++) torque[i] = e_number(0.0);
  for (int i = 0; i < BRAMAH__SHAFT_VIEWS; i++) view[i] = e_number(0.0);
  if (shaft->kind == BRAMAH__ENGINE) engine_at(shaft, value, rate[0], U[0], torque, view);
  if (shaft->kind == BRAMAH__JOINT_TORQUE) drive_at(shaft, value, rate[0], U[0], torque, view);
}

/* ---- with numbers ---- */

typedef struct arguments {
  bramah__expr rate[BRAMAH__MOST_SHAFT_JOINTS], U[BRAMAH__SHAFT_COMMANDS];
} arguments;

static arguments arguments_of(const bramah__tree *tree, const bramah__shaft *shaft, const bramah__pose *pose,
                              const double *Z, const double *U)
{
  arguments a;
  for (size_t i = 0; i < shaft->n_joints; i++) {
    const size_t j = shaft->joint[i];
    const int parent = tree->link[j].parent;
    double rate = bramah__dot3(pose[j].n, Z + 6 * j + 3);
    if (parent >= 0) rate -= bramah__dot3(pose[j].n, Z + 6 * (size_t)parent + 3);
    a.rate[i] = e_number(rate);
  }
  for (size_t k = 0; k < BRAMAH__SHAFT_COMMANDS; k++)
    a.U[k] = e_number(shaft->is_commanded[k] ? U[shaft->spool[k]] : 0.0);
  return a;
}

void bramah__shafts_evaluate(const bramah__tree *tree, size_t n, const bramah__shaft *shaft,
                             const bramah__pose *pose, const double *Z, const double *U,
                             bramah__shaft_state *out)
{
  for (size_t i = 0; i < n; i++, shaft++, out++) {
    arguments at = arguments_of(tree, shaft, pose, Z, U);
    for (size_t k = 0; k < shaft->n_joints; k++) {
      bramah__expr torque[BRAMAH__MOST_SHAFT_JOINTS], view[BRAMAH__SHAFT_VIEWS];
      at.rate[k].slope = 1.0;
      bramah__shaft_at(shaft, at.rate, at.U, torque, view);
      at.rate[k].slope = 0.0;
      for (size_t a = 0; a < shaft->n_joints; a++) {
        out->torque[a] = torque[a].value;
        out->by_rate[a * BRAMAH__MOST_SHAFT_JOINTS + k] = torque[a].slope;
      }
    }
  }
}

double bramah__shaft_shows(const bramah__tree *tree, const bramah__shaft *shaft, bramah__shaft_view which,
                           const bramah__pose *pose, const double *Z, const double *U, double *by_rate,
                           double *by_command)
{
  arguments at = arguments_of(tree, shaft, pose, Z, U);
  bramah__expr torque[BRAMAH__MOST_SHAFT_JOINTS], view[BRAMAH__SHAFT_VIEWS];
  for (size_t k = 0; by_rate && k < shaft->n_joints + BRAMAH__SHAFT_COMMANDS; k++) {
    const int is_rate = k < shaft->n_joints;
    bramah__expr *x = is_rate ? &at.rate[k] : &at.U[k - shaft->n_joints];
    x->slope = 1.0;
    bramah__shaft_at(shaft, at.rate, at.U, torque, view);
    x->slope = 0.0;
    *(is_rate ? &by_rate[k] : &by_command[k - shaft->n_joints]) = view[which].slope;
  }
  bramah__shaft_at(shaft, at.rate, at.U, torque, view);
  return view[which].value;
}

void bramah__shafts_subtract(size_t n, const bramah__shaft *shaft, const bramah__shaft_state *state,
                             double *tau)
{
  for (size_t i = 0; i < n; i++)
    for (size_t a = 0; a < shaft[i].n_joints; a++) tau[shaft[i].joint[a]] -= state[i].torque[a];
}

void bramah__shafts_add_tangent(const bramah__tree *tree, size_t n, const bramah__shaft *shaft,
                                const bramah__shaft_state *state, double *C)
{
  for (size_t i = 0; i < n; i++)
    for (size_t a = 0; a < shaft[i].n_joints; a++)
      for (size_t b = 0; b < shaft[i].n_joints; b++)
        C[shaft[i].joint[a] * tree->n + shaft[i].joint[b]] -=
            state[i].by_rate[a * BRAMAH__MOST_SHAFT_JOINTS + b];
}
