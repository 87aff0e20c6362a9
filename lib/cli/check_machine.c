/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/cli/check.h"
#include "lib/cli/cli.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *plural(size_t n) { return n == 1 ? "" : "s"; }

static double output_named(const bramah_machine_plant *machine, const char *name, const char *suffix)
{
  char full[640];
  snprintf(full, sizeof full, "%s%s", name, suffix);
  const long i = bramah_plant_find_output(&machine->plant, full);
  return i < 0 ? NAN : machine->plant.output(machine->plant.self, (size_t)i);
}

/* A value in the unit people read. */
static void print_value(double value, const char *si)
{
  const cli_readable unit = cli_readable_unit(si);
  printf("%.6g %s", unit.factor * value, unit.unit);
}

static void explain_bodies(const bramah_machine *machine)
{
  printf("  %zu bod%s:", machine->n_bodies, machine->n_bodies == 1 ? "y" : "ies");
  for (size_t i = 0; i < machine->n_bodies; i++)
    printf("%s %s %.6g kg", i ? "," : "", machine->bodies[i].name, machine->bodies[i].mass);
  printf("\n  gravity: %.6g, %.6g, %.6g m/s^2\n", machine->gravity[0], machine->gravity[1],
         machine->gravity[2]);
}

static const char *joint_verb(bramah_joint_type type)
{
  static const char *const verbs[] = {"",
                                      "turns",
                                      "slides",
                                      "welded",
                                      "turns and slides along an axis",
                                      "turns about two axes",
                                      "moves in a plane",
                                      "turns about a point"};
  return (size_t)type < sizeof verbs / sizeof verbs[0] ? verbs[type] : "";
}

/* Where the starting value of a coordinate comes from. */
static const char *origin(const bramah_machine *machine, const bramah_joint *joint, const char *name)
{
  for (size_t i = 0; i < machine->n_motions; i++)
    if (strcmp(machine->motions[i].joint, name) == 0) return "from its motion";
  return joint->initial == BRAMAH_INITIAL_GIVEN ? "given" : "from the loops";
}

/* One coordinate of a joint. */
static void explain_coordinate(const bramah_machine_plant *machine, const bramah_joint *joint,
                               const char *name)
{
  char full[640];
  snprintf(full, sizeof full, "%s.angle", name);
  const int turns = bramah_plant_find_output(&machine->plant, full) >= 0;
  print_value(output_named(machine, name, turns ? ".angle" : ".position"), turns ? "rad" : "m");
  printf(" (%s) with ", origin(machine->machine, joint, name));
  print_value(output_named(machine, name, ".rate"), turns ? "rad/s" : "m/s");
}

static void explain_joint(const bramah_machine_plant *machine, const bramah_joint *joint)
{
  const size_t n = bramah_joint_n_coordinates(joint->type);
  printf("    %s: %s behind %s, %s", joint->name, joint->child, joint->parent, joint_verb(joint->type));
  for (size_t i = 0; i < n; i++) {
    char name[512];
    snprintf(name, sizeof name, "%s%s", joint->name, bramah_joint_suffix(joint->type, i));
    if (n == 1)
      printf(", starts at ");
    else
      printf("%s %s at ", i ? "," : "; starts with", name);
    explain_coordinate(machine, joint, name);
  }
  printf("\n");
}

static void explain_freedom(const bramah_machine_plant *machine)
{
  const bramah_model *model = machine->model;
  const size_t n = bramah_model_degrees_of_freedom(model);
  size_t *joints = calloc(n + 1, sizeof *joints);
  if (!joints) return;
  bramah_model_independent_joints(model, joints);
  printf("  %zu degree%s of freedom; independent at the start:", n, plural(n));
  for (size_t i = 0; i < n; i++) printf("%s %s", i ? "," : "", bramah_model_joint_name(model, joints[i]));
  printf("\n");
  free(joints);
}

static void explain_forces(const bramah_machine *m)
{
  for (size_t i = 0; i < m->n_springs; i++) {
    const bramah_spring *s = &m->springs[i];
    printf("  spring %s: between %s and %s, %.6g N/m from %.6g m on, damping %.6g N s/m\n", s->name,
           s->body[0], s->body[1], s->stiffness, s->free_length, s->damping);
  }
  for (size_t i = 0; i < m->n_joint_springs; i++)
    printf("  spring %s: in joint %s\n", m->joint_springs[i].name, m->joint_springs[i].joint);
  for (size_t i = 0; i < m->n_forces; i++)
    printf("  force %s: on %s, in %s axes\n", m->forces[i].name, m->forces[i].body,
           m->forces[i].axes == BRAMAH_AXES_BODY ? "body" : "inertial");
}

static void explain_rolling(const bramah_machine *m)
{
  for (size_t i = 0; i < m->n_wheels; i++)
    printf("  wheel %s: %s rolls with a radius of %.6g m\n", m->wheels[i].name, m->wheels[i].body,
           m->wheels[i].radius);
  for (size_t i = 0; i < m->n_knife_edges; i++)
    printf("  knife edge %s: of %s\n", m->knife_edges[i].name, m->knife_edges[i].body);
}

static void explain_motion(const bramah_motion *motion)
{
  static const char *const types[] = {"", "at a constant rate", "harmonically", "by a table"};
  printf("  motion %s: moves %s %s", motion->name, motion->joint,
         (size_t)motion->type < sizeof types / sizeof types[0] ? types[motion->type] : "");
  if (motion->type == BRAMAH_MOTION_HARMONIC) printf(" with %.6g Hz", motion->frequency);
  if (motion->n_points)
    printf(" of %zu points, the last at %.6g s", motion->n_points, motion->times[motion->n_points - 1]);
  printf("\n");
}

static void explain_mechanism(const bramah_machine_plant *machine)
{
  const bramah_machine *m = machine->machine;
  explain_bodies(m);
  printf("  %zu joint%s:\n", m->n_joints, plural(m->n_joints));
  for (size_t i = 0; i < m->n_joints; i++) explain_joint(machine, &m->joints[i]);
  for (size_t i = 0; i < m->n_loops; i++)
    printf("  loop %s: joins %s and %s\n", m->loops[i].name, m->loops[i].body[0], m->loops[i].body[1]);
  if (m->n_loops)
    printf("  the loops close to %.2g\n", bramah_coupled_constraint_violation(machine->coupled));
  explain_forces(m);
  explain_rolling(m);
  for (size_t i = 0; i < m->n_motions; i++) explain_motion(&m->motions[i]);
  explain_freedom(machine);
}

static void explain_volumes(const bramah_machine_plant *machine)
{
  const bramah_machine *m = machine->machine;
  for (size_t i = 0; i < m->n_supplies; i++) {
    printf("  supply %s: ", m->supplies[i].name);
    print_value(m->supplies[i].pressure, "Pa");
    printf("\n");
  }
  for (size_t i = 0; i < m->n_volumes; i++) {
    printf("  volume %s: starts at ", m->volumes[i].name);
    print_value(bramah_model_initial_pressure(machine->model, i), "Pa");
    printf("%s, %zu hose%s\n", m->volumes[i].initial == BRAMAH_PRESSURE_EQUILIBRIUM ? " (equilibrium)" : "",
           m->volumes[i].n_hoses, plural(m->volumes[i].n_hoses));
  }
}

static const char *friction_name(bramah_friction_model model)
{
  static const char *const names[] = {"no friction",    "Brown-McPhee friction",   "Bengisu-Akay friction",
                                      "LuGre friction", "modified LuGre friction", "viscous friction"};
  return (size_t)model < sizeof names / sizeof names[0] ? names[model] : "";
}

static void explain_cylinder(const bramah_machine_plant *machine, const bramah_cylinder *c)
{
  const double stroke = output_named(machine, c->name, ".stroke");
  printf("  cylinder %s: from %s to %s, piston side %s, rod side %s; stroke ", c->name, c->body[0],
         c->body[1], c->piston_volume, c->rod_volume);
  print_value(stroke, "m");
  printf(", chambers ");
  print_value(c->piston_chamber_length + stroke - c->reference_stroke, "m");
  printf(" and ");
  print_value(c->rod_chamber_length - stroke + c->reference_stroke, "m");
  printf(", %s\n", friction_name(c->friction.model));
}

static void explain_rotary(const bramah_machine_plant *machine, const bramah_rotary *r)
{
  const double angle = output_named(machine, r->name, ".angle");
  printf("  rotary actuator %s: turns %s, chambers %s and %s, displacement %.6g cm^3/rad; angle ", r->name,
         r->joint, r->a_volume, r->b_volume, 1e6 * r->displacement);
  print_value(angle, "rad");
  printf(", chambers ");
  print_value(r->a_angle + angle - r->reference_angle, "rad");
  printf(" and ");
  print_value(r->b_angle - angle + r->reference_angle, "rad");
  printf(", %s\n", friction_name(r->friction.model));
}

/* Elements by the tables of their keys: what they join, then their values. */
static void explain_elements(const bramah_machine *m)
{
  const bramah_element_kind *kind;
  for (size_t k = 0; (kind = bramah_element_kind_at(k)) != NULL; k++)
    for (size_t i = 0; i < bramah_machine_n_elements(m, kind); i++) {
      const unsigned char *element = bramah_machine_element(m, kind, i);
      printf("  %s %s:", kind->name, ((const bramah_named *)(const void *)element)->name);
      const char *separator = "";
      for (const bramah_element_key *key = kind->keys; key->name; key++) {
        const char *name;
        double value;
        if (key->factor_of || key->type == BRAMAH_KEY_FRICTION) continue;
        if (key->type == BRAMAH_KEY_QUANTITY) {
          memcpy(&value, element + key->offset, sizeof value);
          if (value == 0.0) continue;
          printf("%s %s ", separator, key->name);
          if (strcmp(key->unit, "1") == 0)
            printf("%.6g", value);
          else
            print_value(value, key->unit);
        } else {
          memcpy(&name, element + key->offset, sizeof name);
          if (!name) continue;
          printf(" %s %s", key->name, name);
        }
        separator = key->type == BRAMAH_KEY_QUANTITY ? "," : ";";
      }
      printf("\n");
    }
}

static void explain_metered(const bramah_machine_plant *machine)
{
  const bramah_machine *m = machine->machine;
  for (size_t i = 0; i < m->n_pump_lines; i++) {
    const bramah_pump_line *l = &m->pump_lines[i];
    printf("  pump line %s: %.6g L/min, relief at %.6g bar above %s%s%s\n", l->name, 6e4 * l->flow,
           1e-5 * l->set_pressure, l->tank, l->unloading.input ? ", unloading valve moved by " : "",
           l->unloading.input ? l->unloading.input : "");
  }
  for (size_t i = 0; i < m->n_metered_cylinders; i++) {
    const bramah_metered_cylinder *c = &m->metered_cylinders[i];
    printf("  metered cylinder %s: from %s to %s, on %s, moved by input %s; stroke ", c->name, c->body[0],
           c->body[1], c->pump_line, c->spool.input);
    print_value(output_named(machine, c->name, ".stroke"), "m");
    printf(", load pressure ");
    print_value(output_named(machine, c->name, ".load_pressure"), "Pa");
    printf(", %s\n", friction_name(c->friction.model));
  }
}

/* The trapezoidal rule throws a spool past its command if the step is longer than twice the lag. */
static void note_lag(const char *name, double lag, double step)
{
  if (!(lag > 0.0 && lag < 0.5 * step)) return;
  cli_note(
      "%s: in steps of %.6g ms a spool with a time constant of %.6g ms overshoots: take shorter steps, or "
      "0 for a spool that follows at once",
      name, 1e3 * step, 1e3 * lag);
}

static void note_lags(const bramah_machine_plant *machine)
{
  const bramah_machine *m = machine->machine;
  const double step = 1e-9 * (double)machine->plant.step_ns;
  for (size_t i = 0; i < m->n_valves; i++) note_lag(m->valves[i].name, m->valves[i].time_constant, step);
  for (size_t i = 0; i < m->n_metered_cylinders; i++) {
    const bramah_metered_cylinder *c = &m->metered_cylinders[i];
    note_lag(c->name, c->spool.time_constant, step);
    if (c->regeneration.input) note_lag(c->name, c->regeneration.time_constant, step);
  }
  for (size_t i = 0; i < m->n_pump_lines; i++)
    if (m->pump_lines[i].unloading.input)
      note_lag(m->pump_lines[i].name, m->pump_lines[i].unloading.time_constant, step);
}

static void explain_hydraulics(const bramah_machine_plant *machine)
{
  const bramah_machine *m = machine->machine;
  explain_volumes(machine);
  for (size_t i = 0; i < m->n_valves; i++) {
    const bramah_valve *v = &m->valves[i];
    printf("  valve %s: U > 0 opens %s to %s and %s to %s; time constant %.6g ms, limit %.6g V, moved by "
           "input %s\n",
           v->name, v->pump, v->a, v->b, v->tank, 1e3 * v->time_constant, v->limit, v->input);
  }
  explain_elements(m);
  for (size_t i = 0; i < m->n_cylinders; i++) explain_cylinder(machine, &m->cylinders[i]);
  for (size_t i = 0; i < m->n_rotaries; i++) explain_rotary(machine, &m->rotaries[i]);
  explain_metered(machine);
  note_lags(machine);
}

static void explain_inputs(const bramah_machine *m)
{
  for (size_t i = 0; i < m->n_inputs; i++) {
    const bramah_input *in = &m->inputs[i];
    printf("  input %s: %zu value%s planned", in->name, in->n_points, plural(in->n_points));
    if (in->n_points) printf(", the last from %.6g s on", in->times[in->n_points - 1]);
    printf("\n");
  }
}

void cli_explain_machine(const bramah_machine_plant *machine)
{
  printf("machine: %s\n", bramah_model_name(machine->model));
  explain_mechanism(machine);
  explain_hydraulics(machine);
  explain_inputs(machine->machine);
  printf("  step: %.6g ms\n", 1e-6 * (double)machine->plant.step_ns);
}
