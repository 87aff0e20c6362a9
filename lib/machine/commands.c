/* SPDX-License-Identifier: MIT */
/* Commands of the mechanics: what the elements of shafts are, and which inputs move them and brakes. */
#include "lib/machine/compile.h"
#include "lib/base/diag.h"

#include <math.h>

size_t bramah__n_shafts(const bramah_machine *d) { return d->n_engines + d->n_clutches + d->n_joint_torques; }

static const bramah_engine *engine_of(const bramah_machine *d, size_t i)
{
  return i < d->n_engines ? &d->engines[i] : NULL;
}

static const bramah_clutch *clutch_of(const bramah_machine *d, size_t i)
{
  return i - d->n_engines < d->n_clutches ? &d->clutches[i - d->n_engines] : NULL;
}

static const bramah_joint_torque *torque_of(const bramah_machine *d, size_t i)
{
  return &d->joint_torques[i - d->n_engines - d->n_clutches];
}

bramah__shaft_thing bramah__shaft_thing_at(const bramah_machine *d, size_t i)
{
  const bramah_engine *engine = engine_of(d, i);
  const bramah_clutch *clutch = clutch_of(d, i);
  const void *of = engine   ? (const void *)engine
                   : clutch ? (const void *)clutch
                            : (const void *)torque_of(d, i);
  return (bramah__shaft_thing){.kind = engine   ? BRAMAH__ENGINE
                                       : clutch ? BRAMAH__CLUTCH
                                                : BRAMAH__JOINT_TORQUE,
                               .of = of,
                               .element = of,
                               .takes_fuel = engine && engine->consumption > 0.0};
}

const bramah_drive *bramah__shaft_command(const bramah_machine *d, size_t i, size_t k)
{
  const bramah_engine *engine = engine_of(d, i);
  const bramah_clutch *clutch = clutch_of(d, i);
  if (k) return clutch ? &clutch->gear : NULL;
  return engine ? &engine->throttle : clutch ? &clutch->command : &torque_of(d, i)->command;
}

bramah_drive bramah__complete_command(const bramah_drive *command, int of_gears)
{
  bramah_drive out = *command;
  if (out.limit == 0.0) out.limit = 10.0;
  if (out.time_constant == 0.0 && !of_gears) out.time_constant = 0.02;
  return out;
}

bramah_status bramah__check_command(const bramah__compiler *k, const bramah_drive *command, int of_gears,
                                    const void *of, double *limit)
{
  const bramah_drive c = bramah__complete_command(command, of_gears);
  bramah_status status = bramah__positive(k, c.limit, of, "the limit of its command");
  if (status == BRAMAH_OK && (!of_gears || c.time_constant != 0.0))
    status = bramah__positive(k, c.time_constant, of, "the time constant of its command");
  if (status == BRAMAH_OK && !(fabs(c.initial) <= c.limit))
    return bramah__refuse(k, of, "its command must start within the limit");
  *limit = c.limit;
  return status;
}
