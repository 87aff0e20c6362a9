/* SPDX-License-Identifier: MIT */
/* Its torque and its flow are those of a rotary actuator whose chambers have no ends and no volume: a cylinder of
 * the circuit. The leakages are an element like others. */
#include "lib/graph/equation.h"
#include "lib/hydraulics/element.h"

enum { DISPLACEMENT, GEAR_RATIO, LEAKAGE, DRAIN_LEAKAGE };

static const char *check(const void *element, const char **key)
{
  const bramah_motor *motor = element;
  *key = "drain";
  return motor->drain || motor->drain_leakage == 0.0 ? NULL : "a leakage into the case needs a drain";
}

static bramah__expr flow(bramah__quantities of, const bramah__expr *seen, double transition_pressure)
{
  (void)transition_pressure;
  return e_mul(e_of(of, LEAKAGE), seen[BRAMAH__DP]);
}

static bramah__expr drain(bramah__quantities of, bramah__expr dp)
{
  return e_mul(e_of(of, DRAIN_LEAKAGE), dp);
}

static const bramah_element_key keys[] = {
    BRAMAH__NAME_KEY("joint", BRAMAH_KEY_COORDINATE, bramah_motor, joint, 1),
    BRAMAH__VOLUME_KEY("a_volume", bramah_motor, a_volume),
    BRAMAH__VOLUME_KEY("b_volume", bramah_motor, b_volume),
    BRAMAH__QUANTITY_KEY("displacement", bramah_motor, displacement, .required = 1, .unit = "m^3/rad",
                         .what = "the displacement", .range = BRAMAH_KEY_POSITIVE),
    BRAMAH__QUANTITY_KEY("gear_ratio", bramah_motor, gear_ratio, .unit = "1", .what = "the gear ratio",
                         .range = BRAMAH_KEY_POSITIVE, .otherwise = 1.0),
    BRAMAH__QUANTITY_KEY("leakage", bramah_motor, leakage, .unit = "m^3/s/Pa", .what = "the leakage",
                         .range = BRAMAH_KEY_NOT_NEGATIVE, .parameter = BRAMAH_KEY_NOT_NEGATIVE),
    BRAMAH__NAME_KEY("drain", BRAMAH_KEY_NODE, bramah_motor, drain, 0),
    BRAMAH__QUANTITY_KEY("drain_leakage", bramah_motor, drain_leakage, .unit = "m^3/s/Pa",
                         .what = "the leakage to the drain", .range = BRAMAH_KEY_NOT_NEGATIVE,
                         .parameter = BRAMAH_KEY_NOT_NEGATIVE),
    BRAMAH__PART_KEY("friction", bramah_motor, friction, &bramah__rotary_friction_part),
    {0}};

const bramah__element_kind bramah__motor_kind = {
    BRAMAH__DESCRIPTION("motors", "motor", bramah_motor, motors, .keys = keys, .check = check), .flow = flow,
    .drain = drain, .flow_output = ".leakage_flow"};

const bramah_drive *bramah__driven(const bramah_machine *machine, size_t i, const bramah_named **named,
                                   size_t *of)
{
  for (size_t k = 0; k < machine->n_pumps + machine->n_load_sensing_pumps; k++) {
    const int is_plain = k < machine->n_pumps;
    const bramah_pump *pump = is_plain ? &machine->pumps[k] : NULL;
    const bramah_load_sensing_pump *sensing =
        is_plain ? NULL : &machine->load_sensing_pumps[k - machine->n_pumps];
    const bramah_drive *drive = is_plain ? &pump->drive : &sensing->drive;
    if (!drive->joint || i-- > 0) continue;
    *named =
        is_plain ? (const bramah_named *)(const void *)pump : (const bramah_named *)(const void *)sensing;
    if (of) *of = k;
    return drive;
  }
  return NULL;
}

size_t bramah__n_driven(const bramah_machine *machine)
{
  const bramah_named *named;
  size_t n = 0;
  while (bramah__driven(machine, n, &named, NULL)) n++;
  return n;
}

size_t bramah__n_turning(const bramah_machine *machine)
{
  return machine->n_rotaries + machine->n_motors + bramah__n_driven(machine);
}

bramah_rotary bramah__turning(const bramah_machine *machine, size_t i)
{
  if (i < machine->n_rotaries) return machine->rotaries[i];
  if (i - machine->n_rotaries >= machine->n_motors) {
    const bramah_named *named;
    const bramah_drive *drive =
        bramah__driven(machine, i - machine->n_rotaries - machine->n_motors, &named, NULL);
    return (bramah_rotary){.name = named->name, .line = named->line, .joint = drive->joint};
  }
  const bramah_motor *motor = &machine->motors[i - machine->n_rotaries];
  return (bramah_rotary){.name = motor->name,
                         .line = motor->line,
                         .joint = motor->joint,
                         .a_volume = motor->a_volume,
                         .b_volume = motor->b_volume,
                         .displacement =
                             motor->displacement * (motor->gear_ratio > 0.0 ? motor->gear_ratio : 1.0),
                         .friction = motor->friction};
}
