/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a machine is, in plain words: for bramah check. */
#include "bramah/worksite.h"
#include "lib/cli/check.h"
#include "lib/cli/cli.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* A standard deviation in a readable unit, and its share of a value that is not 0. */
void cli_print_sigma(double sigma, const char *si, double value)
{
  if (strcmp(si, "1") == 0)
    printf("%.6g", sigma);
  else
    printf("%s", CLI_IN(si, sigma));
  if (fabs(value) > 0.0 && strcmp(si, "1") != 0) printf(" (%.3g %%)", 100.0 * sigma / fabs(value));
}

static const char *plural(size_t n) { return n == 1 ? "" : "s"; }

static double output_named(const bramah_machine_plant *machine, const char *name, const char *suffix)
{
  char full[640];
  snprintf(full, sizeof full, "%s%s", name, suffix);
  const long i = bramah_plant_find_output(&machine->plant, full);
  return i < 0 ? NAN : machine->plant.output(machine->plant.self, (size_t)i);
}

static const char *const joint_verbs[] = {"",
                                          "turns",
                                          "slides",
                                          "welded",
                                          "turns and slides along an axis",
                                          "turns about two axes",
                                          "moves in a plane",
                                          "turns about a point",
                                          "moves freely"};

/* Where the starting value of a coordinate comes from. */
static const char *origin(const bramah_machine *machine, const bramah_joint *joint, const char *name)
{
  for (size_t i = 0; i < machine->n_motions; i++)
    if (strcmp(machine->motions[i].joint, name) == 0) return "from its motion";
  return joint->initial == BRAMAH_INITIAL_GIVEN ? "given" : "from the loops";
}

/* Bodies, joints and loops. */
static void explain_mechanism(const bramah_machine_plant *machine)
{
  const bramah_machine *m = machine->machine;
  printf("  %zu bod%s:", m->n_bodies, m->n_bodies == 1 ? "y" : "ies");
  for (size_t i = 0; i < m->n_bodies; i++)
    printf("%s %s %.6g kg", i ? "," : "", m->bodies[i].name, m->bodies[i].mass);
  printf("\n  gravity: %.6g, %.6g, %.6g m/s^2\n", m->gravity[0], m->gravity[1], m->gravity[2]);
  printf("  %zu joint%s:\n", m->n_joints, plural(m->n_joints));
  for (size_t i = 0; i < m->n_joints; i++) {
    const bramah_joint *joint = &m->joints[i];
    const size_t n = bramah_joint_n_coordinates(joint->type);
    printf("    %s: %s behind %s, %s", joint->name, joint->child, joint->parent, joint_verbs[joint->type]);
    for (size_t k = 0; k < n; k++) {
      char name[512], full[640];
      snprintf(name, sizeof name, "%s%s", joint->name, bramah_joint_suffix(joint->type, k));
      if (n == 1)
        printf(", starts at ");
      else
        printf("%s %s at ", k ? "," : "; starts with", name);
      snprintf(full, sizeof full, "%s.angle", name);
      const int turns = bramah_plant_find_output(&machine->plant, full) >= 0;
      printf("%s (%s) with %s",
             CLI_IN(turns ? "rad" : "m", output_named(machine, name, turns ? ".angle" : ".position")),
             origin(machine->machine, joint, name),
             CLI_IN(turns ? "rad/s" : "m/s", output_named(machine, name, ".rate")));
    }
    printf("\n");
  }
  for (size_t i = 0; i < m->n_loops; i++)
    printf("  loop %s: joins %s and %s\n", m->loops[i].name, m->loops[i].body[0], m->loops[i].body[1]);
  if (m->n_loops)
    printf("  the loops close to %.2g\n", bramah_coupled_constraint_violation(machine->coupled));
}

/* Engines, clutches, commanded torques. */
static void explain_power(const bramah_machine *m)
{
  for (size_t i = 0; i < m->n_engines; i++) {
    const bramah_engine *e = &m->engines[i];
    double most = 0.0;
    size_t at = 0;
    for (size_t k = 0; k < e->n_points; k++)
      if (e->torques[k] > most) most = e->torques[k], at = k;
    printf("  engine %s: turns %s with at most %s at %.6g rad/s", e->name, e->joint, CLI_IN("N*m", most),
           e->speeds[at]);
    if (e->idle_speed > 0.0) printf(", idles at %.6g rad/s", e->idle_speed);
    if (e->stall > 0.0) printf(", stalls below %.6g rad/s", e->stall);
    printf(e->throttle.input ? ", as far as %s opens it\n" : ", with full throttle\n", e->throttle.input);
  }
  for (size_t i = 0; i < m->n_clutches; i++) {
    const bramah_clutch *c = &m->clutches[i];
    printf("  clutch %s: %s drives", c->name, c->driving);
    for (size_t k = 0; k < c->n_driven; k++) printf("%s %s", k ? "," : "", c->driven[k]);
    printf(" with at most %s", CLI_IN("N*m", c->torque));
    if (c->n_gears) printf(", %zu gear%s by %s", c->n_gears, plural(c->n_gears), c->gear.input);
    printf(c->command.input ? ", engaged by %s\n" : ", always engaged\n", c->command.input);
  }
  for (size_t i = 0; i < m->n_pumps; i++)
    if (m->pumps[i].drive.joint)
      printf("  joint %s turns pump %s\n", m->pumps[i].drive.joint, m->pumps[i].name);
  for (size_t i = 0; i < m->n_load_sensing_pumps; i++)
    if (m->load_sensing_pumps[i].drive.joint)
      printf("  joint %s turns pump %s\n", m->load_sensing_pumps[i].drive.joint,
             m->load_sensing_pumps[i].name);
  for (size_t i = 0; i < m->n_joint_torques; i++) {
    const bramah_joint_torque *t = &m->joint_torques[i];
    printf("  torque %s: on %s, at most %s, by %s\n", t->name, t->joint, CLI_IN("N*m", t->torque),
           t->command.input);
  }
}

/* How much higher a wheel would ride that felt all of its rim, at a place and along one direction of the field, than one that is held
 * by the mean below its patch. */
static double unfelt_at(const bramah_terrain *soil, double radius, double patch, double x, double y,
                        int along_y, double spacing)
{
  double mean = 0.0, highest = -HUGE_VAL;
  size_t n = 0;
  const long most = (long)(radius / spacing);
  for (long k = -most; k <= most; k++) {
    const double s = (double)k * spacing,
                 height = bramah_terrain_height(soil, along_y ? x : x + s, along_y ? y + s : y, NULL);
    highest = fmax(highest, height - (radius - sqrt(radius * radius - s * s)));
    if (fabs(s) <= 0.5 * patch) mean += height, n++;
  }
  return highest - mean / (double)n;
}

/* What tyres of one size do not feel of the field as it is given, where that is more than a hundredth of their radius. */
static void explain_unfelt(const bramah_machine_plant *machine, const bramah_terrain *soil,
                           const bramah_tyre *tyre)
{
  const bramah_terrain_options *o = &machine->machine->terrain.options;
  const double patch = tyre->patch_length > 0.0 ? tyre->patch_length : 1.0 / 3.0;
  const size_t stride = 1 + (o->nx * o->ny) / 40000;
  double worst = 0.0, at[2] = {0.0, 0.0};
  for (size_t c = 0; c < o->nx * o->ny; c += stride)
    for (int along_y = 0; along_y < 2; along_y++) {
      const double x = o->origin[0] + ((double)(c / o->ny) + 0.5) * o->cell,
                   y = o->origin[1] + ((double)(c % o->ny) + 0.5) * o->cell,
                   unfelt = unfelt_at(soil, tyre->radius, patch, x, y, along_y, 0.5 * o->cell);
      if (unfelt > worst) worst = unfelt, at[0] = x, at[1] = y;
    }
  if (!(worst > 0.01 * tyre->radius)) return;
  printf("  note: tyres feel the ground below their patches, not what is in front of them: near [%.4g, %.4g] "
         "m one as %s would ride %s higher than it does\n",
         at[0], at[1], tyre->name, CLI_IN("m", worst));
}

static void explain_ground(const bramah_machine_plant *machine)
{
  const bramah_machine *m = machine->machine;
  bramah_worksite *site;
  bramah_diag diag = {0};
  if (m->terrain.options.nx == 0 || bramah_worksite_new(machine->coupled, &diag, &site)) return;
  for (size_t i = 0; i < m->n_tyres; i++) {
    size_t same = 0;
    while (same < i && !(m->tyres[same].on_terrain && m->tyres[same].radius == m->tyres[i].radius &&
                         m->tyres[same].patch_length == m->tyres[i].patch_length))
      same++;
    if (same == i && m->tyres[i].on_terrain)
      explain_unfelt(machine, bramah_worksite_terrain(site), &m->tyres[i]);
  }
  bramah_worksite_free(site);
}

static void explain_contact(const bramah_machine_plant *machine, const bramah_contact *contact)
{
  const bramah_machine *m = machine->machine;
  printf("  contact %s: ", contact->name);
  for (size_t i = 0; i < contact->n_between; i++)
    printf("%s%s", !i ? "between " : i + 1 < contact->n_between ? ", " : " and ", contact->between[i]);
  for (size_t b = 0; !contact->n_between && b < m->n_bodies; b++) {
    if (strcmp(m->bodies[b].name, contact->body) != 0) continue;
    const size_t n = contact->n_points ? contact->n_points : m->bodies[b].n_shapes;
    printf("%zu %s%s of %s on the %s", n, contact->n_points ? "point" : "shape", plural(n), contact->body,
           contact->on_terrain ? "terrain" : "ground");
  }
  printf(", %s\n", isnan(output_named(machine, contact->name, ".normal_force"))
                       ? "to which it is welded: it does not act"
                   : contact->friction.model ? "with friction"
                                             : "without friction");
}

/* Forces, rolling, prescribed motions and what freedom is left. */
static void explain_motion(const bramah_machine_plant *machine)
{
  const bramah_machine *m = machine->machine;
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
  const bramah_terrain_options *field = &m->terrain.options;
  if (field->nx)
    printf("  terrain: %zu x %zu cells of %s, from [%.6g, %.6g] to [%.6g, %.6g] m; its soil moves in "
           "simulations\n",
           field->nx, field->ny, CLI_IN("m", field->cell), field->origin[0], field->origin[1],
           field->origin[0] + (double)field->nx * field->cell,
           field->origin[1] + (double)field->ny * field->cell);
  for (size_t i = 0; i < m->n_tools; i++)
    printf("  tool %s: of %s, %s\n", m->tools[i].name, m->tools[i].body,
           m->tools[i].tool.has_edge ? "cuts with an edge" : "cuts nothing");
  for (size_t i = 0; i < m->n_contacts; i++) explain_contact(machine, &m->contacts[i]);
  for (size_t i = 0; i < m->n_tyres; i++)
    printf("  tyre %s: of %s, with a radius of %s\n", m->tyres[i].name, m->tyres[i].body,
           CLI_IN("m", m->tyres[i].radius));
  explain_ground(machine);
  for (size_t i = 0; i < m->n_brakes; i++) {
    printf("  brake %s: holds %s with %s", m->brakes[i].name, m->brakes[i].joint,
           CLI_IN("N*m", m->brakes[i].torque));
    if (m->brakes[i].command.input) printf(" as far as %s presses it", m->brakes[i].command.input);
    printf("\n");
  }
  explain_power(m);
  for (size_t i = 0; i < m->n_joints; i++) {
    const bramah_joint *joint = &m->joints[i];
    const char *unit = joint->type == BRAMAH_JOINT_PRISMATIC ? "m" : "rad";
    if (joint->stop.stiffness != 0.0)
      printf("  stops of %s: at %s and %s\n", joint->name, CLI_IN(unit, joint->range[0]),
             CLI_IN(unit, joint->range[1]));
  }
  for (size_t i = 0; i < m->n_wheels; i++)
    printf("  wheel %s: %s rolls with a radius of %.6g m\n", m->wheels[i].name, m->wheels[i].body,
           m->wheels[i].radius);
  for (size_t i = 0; i < m->n_knife_edges; i++)
    printf("  knife edge %s: of %s\n", m->knife_edges[i].name, m->knife_edges[i].body);
  for (size_t i = 0; i < m->n_motions; i++) {
    const bramah_motion *motion = &m->motions[i];
    static const char *const types[] = {"", "at a constant rate", "harmonically", "by a table"};
    printf("  motion %s: moves %s %s", motion->name, motion->joint, types[motion->type]);
    if (motion->type == BRAMAH_MOTION_HARMONIC) printf(" with %.6g Hz", motion->frequency);
    if (motion->n_points)
      printf(" of %zu points, the last at %.6g s", motion->n_points, motion->times[motion->n_points - 1]);
    printf("\n");
  }

  const bramah_model_info info = bramah_model_get_info(machine->model);
  printf("  %zu degree%s of freedom; independent at the start:", info.n_dof, plural(info.n_dof));
  for (size_t i = 0; i < info.n_dof; i++)
    printf("%s %s", i ? "," : "", info.joint_names[info.independent_joints[i]]);
  printf("\n");
}

static const char *const friction_names[] = {
    "no friction",    "Brown-McPhee friction",   "Bengisu-Akay friction",
    "LuGre friction", "modified LuGre friction", "viscous friction"};

/* Elements by the tables of their keys: what they join, then their values. */
static void explain_elements(const bramah_machine *m)
{
  const bramah_element_kind *kind;
  for (size_t k = 0; (kind = bramah_element_kind_at(k)) != NULL && !kind->device; k++)
    for (size_t i = 0; i < bramah_machine_n_elements(m, kind); i++) {
      const unsigned char *element = bramah_machine_element(m, kind, i);
      printf("  %s %s:", kind->name, ((const bramah_named *)(const void *)element)->name);
      const char *separator = "";
      for (const bramah_element_key *key = kind->keys; key->name; key++) {
        const char *name;
        double value;
        if (key->factor_of || key->type == BRAMAH_KEY_PART) continue;
        if (key->type == BRAMAH_KEY_QUANTITY) {
          memcpy(&value, element + key->offset, sizeof value);
          if (value == 0.0) continue;
          printf("%s %s ", separator, key->name);
          cli_print_sigma(value, key->unit, 0.0);
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

/* The trapezoidal rule throws a spool past its command if the step is longer than twice the lag. */
static void note_lag(const char *name, double lag, double step)
{
  if (!(lag > 0.0 && lag < 0.5 * step)) return;
  cli_note(
      "%s: in steps of %.6g ms a spool with a time constant of %.6g ms overshoots: take shorter steps, or "
      "0 for a spool that follows at once",
      name, 1e3 * step, 1e3 * lag);
}

/* Supplies, volumes and valves; a note where a spool lags less than the step can follow. */
static void explain_circuit(const bramah_machine_plant *machine)
{
  const bramah_machine *m = machine->machine;
  for (size_t i = 0; i < m->n_supplies; i++)
    printf("  supply %s: %s\n", m->supplies[i].name, CLI_IN("Pa", m->supplies[i].pressure));
  int equilibrium = m->n_metered_cylinders > 0;
  for (size_t i = 0; i < m->n_volumes; i++) {
    const bramah_volume *v = &m->volumes[i];
    equilibrium |= v->initial == BRAMAH_PRESSURE_EQUILIBRIUM;
    printf("  volume %s: starts at %s%s, %zu hose%s\n", v->name,
           CLI_IN("Pa", bramah_model_get_info(machine->model).initial_pressures[i]),
           v->initial == BRAMAH_PRESSURE_EQUILIBRIUM ? " (equilibrium)" : "", v->n_hoses, plural(v->n_hoses));
  }
  for (size_t i = 0; equilibrium && i < machine->plant.n_output; i++) {
    bramah_output_info info;
    bramah_plant_output_info(&machine->plant, i, &info);
    if (info.kind != BRAMAH_OUTPUT_ACCELERATION) continue;
    const double value = machine->plant.output(machine->plant.self, i);
    if (fabs(value) > 1e-6)
      printf("  not at rest with these pressures: %s %.4g %s\n", info.name, value, info.unit);
  }
  for (size_t i = 0; i < m->n_valves; i++) {
    const bramah_valve *v = &m->valves[i];
    printf("  valve %s: U > 0 opens %s to %s and %s to %s; time constant %.6g ms, limit %.6g V, moved by "
           "input %s\n",
           v->name, v->pump, v->a, v->b, v->tank, 1e3 * v->time_constant, v->limit, v->input);
  }

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

/* What a run may come to that the model does not have. */
static void explain_limits(const bramah_machine *m)
{
  size_t free_ends = 0;
  for (size_t i = 0; i < m->n_cylinders; i++) free_ends += m->cylinders[i].end_stop.stiffness == 0.0;
  for (size_t i = 0; i < m->n_rotaries; i++) free_ends += m->rotaries[i].end_stop.stiffness == 0.0;
  if (m->n_volumes && m->air.vapour_pressure == 0.0)
    printf("  left out: cavitation (oil.vapour_pressure); runs say where a pressure falls below 0 bar "
           "absolute\n");
  if (free_ends)
    printf("  left out: the ends of %zu cylinder%s or actuator%s (end_stop); runs end where a piston gets "
           "there\n",
           free_ends, plural(free_ends), plural(free_ends));
}

/* Cylinders, rotary actuators, and what is metered separately at both ports. */
static void explain_actuators(const bramah_machine_plant *machine)
{
  const bramah_machine *m = machine->machine;
  for (size_t i = 0; i < m->n_cylinders; i++) {
    const bramah_cylinder *c = &m->cylinders[i];
    const double stroke = output_named(machine, c->name, ".stroke");
    printf("  cylinder %s: from %s to %s, piston side %s, rod side %s; stroke %s, chambers %s and %s, %s\n",
           c->name, c->body[0], c->body[1], c->piston_volume, c->rod_volume, CLI_IN("m", stroke),
           CLI_IN("m", c->piston_chamber_length + stroke - c->reference_stroke),
           CLI_IN("m", c->rod_chamber_length - stroke + c->reference_stroke),
           friction_names[c->friction.model]);
  }
  for (size_t i = 0; i < m->n_rotaries; i++) {
    const bramah_rotary *r = &m->rotaries[i];
    const double angle = output_named(machine, r->name, ".angle");
    printf("  rotary actuator %s: turns %s, chambers %s and %s, displacement %.6g cm^3/rad; angle %s, "
           "chambers %s "
           "and %s, %s\n",
           r->name, r->joint, r->a_volume, r->b_volume, 1e6 * r->displacement, CLI_IN("rad", angle),
           CLI_IN("rad", r->a_angle + angle - r->reference_angle),
           CLI_IN("rad", r->b_angle - angle + r->reference_angle), friction_names[r->friction.model]);
  }
  for (size_t i = 0; i < m->n_pump_lines; i++) {
    const bramah_pump_line *l = &m->pump_lines[i];
    printf("  pump line %s: %.6g L/min, relief at %.6g bar above %s%s%s\n", l->name, 6e4 * l->flow,
           1e-5 * l->set_pressure, l->tank, l->unloading.input ? ", unloading valve moved by " : "",
           l->unloading.input ? l->unloading.input : "");
  }
  for (size_t i = 0; i < m->n_metered_cylinders; i++) {
    const bramah_metered_cylinder *c = &m->metered_cylinders[i];
    printf(
        "  metered cylinder %s: from %s to %s, on %s, moved by input %s; stroke %s, load pressure %s, %s\n",
        c->name, c->body[0], c->body[1], c->pump_line, c->spool.input,
        CLI_IN("m", output_named(machine, c->name, ".stroke")),
        CLI_IN("Pa", output_named(machine, c->name, ".load_pressure")), friction_names[c->friction.model]);
  }
}

static void explain_outputs(const bramah_machine *m)
{
  static const char *const words[] = {"",
                                      "height of",
                                      "distance between",
                                      "position of",
                                      "pose of",
                                      "payload of",
                                      "force",
                                      "hydraulic power of",
                                      "energy from",
                                      "flow of",
                                      "fuel rate by the hydraulic power of"};
  for (size_t i = 0; i < m->n_outputs; i++) {
    const bramah_output_definition *output = &m->outputs[i];
    const int is_between = output->kind == BRAMAH_OUTPUT_OF_DISTANCE,
              is_above = output->kind == BRAMAH_OUTPUT_OF_HEIGHT;
    printf("  output %s: %s", output->name, words[output->kind]);
    for (size_t k = 0; k < output->n_of; k++)
      printf("%s%s", k == 0 ? " " : is_between ? " and " : is_above ? " above " : ", ", output->of[k]);
    printf("\n");
  }
}

/* Names, nominal values, units, and how well they are known. */
static void list_parameters(const bramah_machine_plant *machine)
{
  const bramah_plant *plant = &machine->plant;
  printf("parameters:\n");
  for (size_t i = 0; i < plant->n_parameter; i++) {
    bramah_parameter_info info;
    plant->parameter_info(plant->self, i, &info);
    printf("  %s: %.6g", info.name, info.nominal);
    if (strcmp(info.unit, "1") != 0) printf(" %s", info.unit);
    if (info.least > -HUGE_VAL) printf(", at least %.6g", info.least);
    if (info.most < HUGE_VAL) printf(", at most %.6g", info.most);
    double sigma;
    const bramah_uncertainty_source source = bramah_machine_plant_uncertainty(machine, i, &sigma);
    if (sigma > 0.0) printf(", uncertain by ");
    if (sigma > 0.0) cli_print_sigma(sigma, info.unit, info.nominal);
    if (source == BRAMAH_UNCERTAINTY_DEFAULT) printf(" (default)");
    printf("\n");
  }
}

void cli_explain_machine(const bramah_machine_plant *machine, int parameters)
{
  printf("machine: %s\n", bramah_model_get_info(machine->model).name);
  explain_mechanism(machine);
  explain_motion(machine);
  explain_circuit(machine);
  explain_elements(machine->machine);
  explain_actuators(machine);
  explain_limits(machine->machine);
  for (size_t i = 0; i < machine->machine->n_inputs; i++) {
    const bramah_input *in = &machine->machine->inputs[i];
    printf("  input %s: %zu value%s planned", in->name, in->n_points, plural(in->n_points));
    if (in->n_points) printf(", the last from %.6g s on", in->times[in->n_points - 1]);
    printf("\n");
  }
  explain_outputs(machine->machine);
  printf("  step: %.6g ms\n  ", 1e-6 * (double)machine->plant.step_ns);
  cli_print_how(machine, NULL, stdout);
  if (parameters) list_parameters(machine);
}
