/* SPDX-License-Identifier: MIT */
/* Engines, clutches and torques of joints. */
#include "lib/machine/compile.h"
#include "lib/base/diag.h"

#include <math.h>
#include <string.h>

void bramah__shafts_layout(const bramah_machine *d, bramah__tables *t, bramah__arena *arena)
{
  size_t points = 0;
  for (size_t i = 0; i < d->n_engines; i++) points += d->engines[i].n_points;
  for (size_t i = 0; i < d->n_clutches; i++) points += d->clutches[i].n_gears;
  t->shaft = BRAMAH__TAKE(arena, bramah__shaft, bramah__n_shafts(d));
  t->shaft_points = BRAMAH__TAKE(arena, double, 2 * points);
}

static double otherwise(double value, double usual) { return value != 0.0 ? value : usual; }

/* A joint that turns, behind those that the shaft has already. */
static bramah_status add_joint(const bramah__compiler *k, const void *of, const char *name, double share,
                               bramah__shaft *out)
{
  size_t joint;
  const bramah_status status =
      bramah__find_turning(k, of, name, "its joints must turn about one axis each", &joint);
  if (status != BRAMAH_OK) return status;
  for (size_t i = 0; i < out->n_joints; i++)
    if (out->joint[i] == joint) return bramah__refuse(k, of, "the same joint is named twice");
  out->share[out->n_joints] = share;
  out->parent[out->n_joints] = k->t.link[joint].parent;
  out->joint[out->n_joints++] = joint;
  return BRAMAH_OK;
}

/* Pairs of numbers, the first ascending, into the model. */
static bramah_status add_points(bramah__compiler *k, const void *of, size_t n, const double *x,
                                const double *y, const char *message, bramah__shaft *out)
{
  double *to = k->t.shaft_points;
  k->t.shaft_points += 2 * n;
  for (size_t i = 0; i < n; i++) {
    if (!isfinite(x[i]) || !isfinite(y[i]) || (i > 0 && !(x[i] > x[i - 1])))
      return bramah__refuse(k, of, message);
    to[i] = x[i], to[n + i] = y[i];
  }
  out->n_points = n, out->x = to, out->y = to + n;
  return BRAMAH_OK;
}

static bramah_status fill_engine(bramah__compiler *k, const bramah_engine *in, bramah__shaft *out)
{
  double narrowest = INFINITY;
  out->value[BRAMAH__SHAFT_FRICTION] = in->friction;
  out->value[BRAMAH__SHAFT_IDLE_SPEED] = in->idle_speed;
  out->stall = in->stall, out->idle_band = otherwise(in->idle_band, 10.0);
  out->consumption = in->consumption, out->best_torque = in->best_torque, out->best_speed = in->best_speed;
  out->torque_loss = in->torque_loss, out->speed_loss = in->speed_loss, out->idle_fuel = in->idle_fuel;
  if (in->n_points < 2) return bramah__refuse(k, in, "its full-load curve needs at least two points");
  bramah_status status = add_points(k, in, in->n_points, in->speeds, in->torques,
                                    "the speeds of its full-load curve must ascend", out);
  for (size_t i = 0; i < in->n_points && status == BRAMAH_OK; i++) {
    status = bramah__not_negative(k, in->torques[i], in, "the torques of its full-load curve");
    if (i) narrowest = fmin(narrowest, in->speeds[i] - in->speeds[i - 1]);
  }
  out->rounding = in->rounding != 0.0 ? in->rounding : fmin(2.0, 0.25 * narrowest);
  if (status == BRAMAH_OK && !(out->rounding > 0.0 && 2.0 * out->rounding <= narrowest))
    return bramah__refuse(k, in, "the rounding must be positive and not reach half-way to the next point");
  if (status == BRAMAH_OK) status = bramah__not_negative(k, in->friction, in, "the friction");
  if (status == BRAMAH_OK) status = bramah__not_negative(k, in->idle_speed, in, "the idle speed");
  if (status == BRAMAH_OK) status = bramah__not_negative(k, in->stall, in, "the speed where it stalls");
  if (status == BRAMAH_OK && in->idle_speed > 0.0 && in->idle_speed < 1.25 * in->stall)
    return bramah__refuse(k, in,
                          "it would stall when idle: its idle speed must be a quarter above where it stalls");
  if (status == BRAMAH_OK) status = bramah__positive(k, out->idle_band, in, "the band of the governor");
  if (status == BRAMAH_OK) status = bramah__not_negative(k, in->consumption, in, "the consumption");
  if (status != BRAMAH_OK || !(in->consumption > 0.0)) return status;
  status = bramah__positive(k, in->best_torque, in, "the torque of best consumption");
  if (status == BRAMAH_OK) status = bramah__positive(k, in->best_speed, in, "the speed of best consumption");
  const double more[] = {in->torque_loss, in->speed_loss, in->idle_fuel};
  for (size_t i = 0; i < sizeof more / sizeof *more && status == BRAMAH_OK; i++)
    status = bramah__not_negative(k, more[i], in, "its fuel and losses");
  return status;
}

static bramah_status fill_clutch(bramah__compiler *k, const bramah_clutch *in, bramah__shaft *out)
{
  out->torque = in->torque;
  out->ratio = otherwise(in->ratio, 1.0);
  if (in->n_driven == 0 || in->n_driven >= BRAMAH__MOST_SHAFT_JOINTS)
    return bramah__refuse(k, in, "a clutch drives one joint, or up to eight");
  if (in->n_shares && in->n_shares != in->n_driven)
    return bramah__refuse(k, in, "there must be as many shares as joints that are driven");
  bramah_status status = bramah__positive(k, in->torque, in, "the torque");
  if (status == BRAMAH_OK && !(out->ratio != 0.0 && isfinite(out->ratio)))
    return bramah__refuse(k, in, "the ratio must be finite");
  for (size_t i = 0; i < in->n_driven && status == BRAMAH_OK; i++) {
    const double share = in->n_shares ? in->shares[i] : 1.0 / (double)in->n_driven;
    if (!(share != 0.0 && isfinite(share))) return bramah__refuse(k, in, "a share must not be zero");
    status = add_joint(k, in, in->driven[i], share, out);
  }
  if (status == BRAMAH_OK)
    status =
        add_points(k, in, in->n_gears, in->gears, in->ratios, "the numbers of its gears must ascend", out);
  for (size_t i = 0; i < in->n_gears && status == BRAMAH_OK; i++) {
    if (in->gears[i] != floor(in->gears[i])) return bramah__refuse(k, in, "gears have whole numbers");
    if (in->ratios[i] == 0.0)
      return bramah__refuse(k, in, "a gear needs a ratio; neutral is what is not listed");
  }
  if (status == BRAMAH_OK && (in->n_gears != 0) != (in->gear.input != NULL))
    return bramah__refuse(
        k, in, in->n_gears ? "the command of its gears is missing" : "a command of gears needs gears");
  return status;
}

static bramah_status fill_torque(const bramah__compiler *k, const bramah_joint_torque *in, bramah__shaft *out)
{
  out->torque = in->torque, out->power = in->power;
  if (!in->command.input) return bramah__refuse(k, in, "its command is missing");
  const bramah_status status = bramah__positive(k, in->torque, in, "the torque");
  return status == BRAMAH_OK ? bramah__not_negative(k, in->power, in, "the power") : status;
}

/* Its commands, where they have inputs. */
static bramah_status fill_commands(const bramah__compiler *k, size_t i, const bramah_named *of,
                                   bramah__shaft *out)
{
  for (size_t c = 0; c < BRAMAH__SHAFT_COMMANDS; c++) {
    const bramah_drive *command = bramah__shaft_command(k->source, i, c);
    if (!command || !command->input) continue;
    out->is_commanded[c] = 1;
    out->spool[c] = bramah__spool_of_command(k->source, command);
    const bramah_status status = bramah__check_command(k, command, c == 1, of, &out->limit[c]);
    if (c == 1) k->model->leaps |= bramah__complete_command(command, 1).time_constant == 0.0;
    if (status != BRAMAH_OK) return status;
  }
  for (size_t g = 0; g < out->n_points && out->is_commanded[1]; g++)
    if (fabs(out->x[g]) > out->limit[1])
      return bramah__refuse(k, of, "the number of a gear is beyond the limit of its command");
  return BRAMAH_OK;
}

bramah_status bramah__build_shafts(bramah__compiler *k)
{
  const bramah_machine *d = k->source;
  const size_t n = bramah__n_shafts(d);
  static const char *const kinds[] = {"engine", "clutch", "joint torque"};
  for (size_t i = 0; i < n; i++) {
    const bramah__shaft_thing thing = bramah__shaft_thing_at(d, i);
    const bramah_named *of = thing.of;
    bramah__shaft *out = &k->t.shaft[i];
    *out = (bramah__shaft){.kind = thing.kind, .value = {[BRAMAH__SHAFT_SCALE] = 1.0}};
    bramah_status status = bramah__check_named(k, of, kinds[thing.kind], 0);
    for (size_t l = 0; l < i && status == BRAMAH_OK; l++)
      status = bramah__check_named(k, of, "engine, clutch or joint torque",
                                   strcmp(bramah__shaft_thing_at(d, l).of->name, of->name) == 0);
    if (status != BRAMAH_OK) return status;
    const bramah_engine *engine = thing.kind == BRAMAH__ENGINE ? thing.element : NULL;
    const bramah_clutch *clutch = thing.kind == BRAMAH__CLUTCH ? thing.element : NULL;
    const bramah_joint_torque *torque = thing.element;
    const char *joint = engine ? engine->joint : clutch ? clutch->driving : torque->joint;
    status = add_joint(k, of, joint, 1.0, out);
    if (status == BRAMAH_OK)
      status = engine   ? fill_engine(k, engine, out)
               : clutch ? fill_clutch(k, clutch, out)
                        : fill_torque(k, torque, out);
    if (status == BRAMAH_OK) status = fill_commands(k, i, of, out);
    if (status != BRAMAH_OK) return status;
  }
  k->model->shaft = k->t.shaft;
  return BRAMAH_OK;
}
