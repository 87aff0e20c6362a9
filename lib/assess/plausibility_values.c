/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Values of machine and study that no machine has: what was written in another unit, at another place, or left at 0. */
#define _POSIX_C_SOURCE 200809L /* locale_t */
#include "lib/assess/plausibility.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- mechanics ---- */

static double length_of(const double v[3]) { return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]); }

/* How far the joints, loops and cylinders of a body are from its origin; 0: only the joint in front of it is known. */
static double extent_of(const bramah_machine *m, const bramah_body *body)
{
  double most = 0.0;
  for (size_t i = 0; i < m->n_joints; i++)
    if (strcmp(m->joints[i].parent, body->name) == 0) {
      const int slides = m->joints[i].type == BRAMAH_JOINT_PRISMATIC; /* along the body, to where it starts */
      most = fmax(most, length_of(m->joints[i].position) + slides * fabs(m->joints[i].initial_position));
    }
  for (int side = 0; side < 2; side++) {
    for (size_t i = 0; i < m->n_loops; i++)
      if (strcmp(m->loops[i].body[side], body->name) == 0)
        most = fmax(most, length_of(m->loops[i].point[side]));
    for (size_t i = 0; i < m->n_cylinders; i++)
      if (strcmp(m->cylinders[i].body[side], body->name) == 0)
        most = fmax(most, length_of(m->cylinders[i].point[side]));
  }
  return most;
}

static void look_at_bodies(bramah__look *look)
{
  const bramah_machine *m = look->machine->machine;
  for (size_t i = 0; i < m->n_bodies; i++) {
    const bramah_body *b = &m->bodies[i];
    const double inertia = fmax(b->inertia[0], fmax(b->inertia[1], b->inertia[2]));
    const double extent = extent_of(m, b), radius = sqrt(inertia / b->mass);
    if (b->mass == 0.0) {
      bramah__doubt_value(
          look, BRAMAH_DOUBT_VALUE, inertia > 0.0, 0.0, BRAMAH__PATH("bodies.%s.mass", b->name),
          "%s has no mass: write the one it has, greater than 0; a body that only joins others "
          "has some grams too",
          b->name);
      continue;
    }
    if (!(extent > 0.0) || !(inertia > 0.0)) continue;
    if (radius > 4.0 * extent || radius < 0.012 * extent) {
      bramah__doubt_value(
          look, BRAMAH_DOUBT_VALUE, radius > 30.0 * extent, radius,
          BRAMAH__PATH("bodies.%s.inertia", b->name),
          "%.4g kg*m^2 with a mass of %.4g kg is a radius of gyration of %.3g m, but %s reaches "
          "%.3g m from its origin: look at the units of mass and inertia (1 kg*m^2 is "
          "1e9 g*mm^2, 1 t is 1000 kg)",
          inertia, b->mass, radius, b->name, extent);
    }
  }
}

static void look_at_gravity(bramah__look *look)
{
  const bramah_machine *m = look->machine->machine;
  const double g = length_of(m->gravity);
  size_t turning = 0, along = 0;
  if (!(g > 0.0)) return;
  if (g < 1.0 || g > 30.0)
    bramah__doubt_value(look, BRAMAH_DOUBT_VALUE, g > 100.0, g, "gravity",
                        "gravity of %.4g m/s^2: on Earth it is 9.81 m/s^2, or 9810 mm/s^2", g);
  else if (m->gravity[0] + m->gravity[1] + m->gravity[2] > 0.9 * g)
    bramah__doubt_value(
        look, BRAMAH_DOUBT_VALUE, 0, g, "gravity",
        "gravity pulls along a positive axis: where that axis points up, bodies fall upwards; write "
        "-9.81 m/s^2");
  for (size_t i = 0; i < m->n_joints; i++) {
    const bramah_joint *j = &m->joints[i];
    if (j->type != BRAMAH_JOINT_REVOLUTE) continue;
    const double dot = j->axis[0] * m->gravity[0] + j->axis[1] * m->gravity[1] + j->axis[2] * m->gravity[2];
    turning++;
    along += fabs(dot) > 0.999 * g * length_of(j->axis) && length_of(j->rotation) == 0.0;
  }
  if (turning > 1 && along == turning && m->n_cylinders)
    bramah__doubt_value(
        look, BRAMAH_DOUBT_VALUE, 0, g, "gravity",
        "gravity points along the axis of every joint, where it moves nothing: is it another axis? "
        "Of a mechanism that lies flat write [0, 0, 0 m/s^2]");
}

static void look_at_joints(bramah__look *look)
{
  const bramah_machine *m = look->machine->machine;
  static const double turns = 2.0 * 6.283185307179586;
  for (size_t i = 0; i < m->n_joints; i++) {
    const bramah_joint *j = &m->joints[i];
    if (j->type == BRAMAH_JOINT_REVOLUTE && fabs(j->initial_position) > turns)
      bramah__doubt_value(
          look, BRAMAH_DOUBT_VALUE, 0, j->initial_position,
          BRAMAH__PATH("joints.%s.%s", j->name, j->initial == BRAMAH_INITIAL_GIVEN ? "initial" : "guess"),
          "%.4g rad are %.3g turns: are degrees meant (%.4g deg)?", j->initial_position,
          j->initial_position / 6.2831853, j->initial_position);
  }
  for (size_t i = 0; look->study && i < look->study->n_joints; i++) {
    const bramah_joint_start *j = &look->study->joints[i];
    if (j->has_position && !j->slides && fabs(j->position) > turns)
      bramah__doubt_value(look, BRAMAH_DOUBT_START, 0, j->position,
                          BRAMAH__PATH("study.joints.%s.position", j->joint),
                          "%.4g rad are %.3g turns: are degrees meant, a factor of 57.3 (%.4g deg)?",
                          j->position, j->position / 6.2831853, j->position);
  }
}

/* Joints that begin outside their stops, which would throw them in. Up to a part of the range they may rest on one. */
static void look_at_stops(bramah__look *look)
{
  const bramah_machine *m = look->machine->machine;
  const bramah_plant *plant = &look->machine->plant;
  for (size_t i = 0; i < m->n_joints; i++) {
    const bramah_joint *j = &m->joints[i];
    const int slides = j->type == BRAMAH_JOINT_PRISMATIC;
    const long output =
        bramah_plant_find_output(plant, BRAMAH__PATH("%s.%s", j->name, slides ? "position" : "angle"));
    if (j->stop.stiffness == 0.0 || output < 0) continue;
    const double at = plant->output(plant->self, (size_t)output),
                 beyond = fmax(j->range[0] - at, at - j->range[1]),
                 factor = slides ? 1e3 : 57.295779513082323;
    if (beyond > 0.01 * (j->range[1] - j->range[0]))
      bramah__doubt_value(look, BRAMAH_DOUBT_START, 1, beyond, BRAMAH__PATH("joints.%s.limits", j->name),
                          "the joint begins at %.4g %s, %.4g %s outside its stops, which would throw it "
                          "in: another range, or another start",
                          factor * at, slides ? "mm" : "deg", factor * beyond, slides ? "mm" : "deg");
  }
}

/* ---- hydraulics ---- */

static const double *supply_of(const bramah_machine *m, const char *name)
{
  for (size_t i = 0; i < m->n_supplies; i++)
    if (strcmp(m->supplies[i].name, name) == 0) return &m->supplies[i].pressure;
  return NULL;
}

static void look_at_pressures(bramah__look *look)
{
  const bramah_machine *m = look->machine->machine;
  const char *pump;
  double most = bramah__highest_supply(m, &pump);
  for (size_t i = 0; i < m->n_valves; i++) {
    const double *high = supply_of(m, m->valves[i].pump), *low = supply_of(m, m->valves[i].tank);
    if (!high || !low || *high > *low) continue;
    most = 0.0; /* nothing can be said of volumes */
    bramah__doubt_value(look, BRAMAH_DOUBT_VALUE, 1, *high,
                        BRAMAH__PATH("hydraulics.supplies.%s.pressure", m->valves[i].pump),
                        "%s has %.4g bar, not more than %s with %.4g bar, so that nothing flows from pump to "
                        "tank: write pump pressure above tank pressure (7.6 MPa is 76 bar)",
                        m->valves[i].pump, 1e-5 * *high, m->valves[i].tank, 1e-5 * *low);
  }
  for (size_t i = 0; i < m->n_volumes; i++) {
    const bramah_volume *v = &m->volumes[i];
    if (v->initial != BRAMAH_PRESSURE_GIVEN || !(most > 0.0) || v->initial_pressure < 1.5 * most) continue;
    /* all of them: it is the supply */
    size_t above = 0;
    for (size_t k = 0; k < m->n_volumes; k++) above += m->volumes[k].initial_pressure > 1.5 * most;
    const int of_supply = above == m->n_volumes && *pump;
    bramah__doubt_value(
        look, BRAMAH_DOUBT_VALUE, v->initial_pressure > 10.0 * most, v->initial_pressure,
        BRAMAH__PATH("hydraulics.%s.%s.pressure", of_supply ? "supplies" : "volumes",
                     of_supply ? pump : v->name),
        "volume %s begins with %.4g bar, but the highest supply has %.4g bar: look at the units of "
        "both (1 MPa is 10 bar, 1 GPa 10,000 bar)",
        v->name, 1e-5 * v->initial_pressure, 1e-5 * most);
    if (of_supply) break;
  }
}

/* Values with a range that every machine is within, with room to spare. */
static void look_at_ranges(bramah__look *look)
{
  const bramah_machine *m = look->machine->machine;
  const double oil = m->oil_bulk_modulus;
  if (m->n_volumes && (oil < 3e7 || oil > 1e10))
    bramah__doubt_value(
        look, BRAMAH_DOUBT_VALUE, 0, oil, "hydraulics.oil.bulk_modulus",
        "oil with a bulk modulus of %.4g MPa: it is about 1500 MPa, with much air some hundred "
        "MPa",
        1e-6 * oil);
  const bramah__node *hydraulics =
      look->machine_file ? bramah__node_find(look->machine_file->root, "hydraulics") : NULL;
  const bramah__node *of_oil = hydraulics ? bramah__node_find(hydraulics, "oil") : NULL;
  const bramah__node *density = of_oil ? bramah__node_find(of_oil, "density") : NULL;
  double rho = 0.0;
  bramah_diag ignored;
  if (density && density->kind == BRAMAH__NODE_SCALAR &&
      !bramah_quantity_parse(density->text, "kg/m^3", &rho, &ignored) && (rho < 500.0 || rho > 2000.0))
    bramah__doubt_value(look, BRAMAH_DOUBT_VALUE, 0, rho, "hydraulics.oil.density",
                        "oil with a density of %.4g kg/m^3: it is about 850 kg/m^3, 0.85 kg/L", rho);
  for (size_t i = 0; i < m->n_valves; i++) {
    if (m->valves[i].time_constant > 0.5)
      bramah__doubt_value(look, BRAMAH_DOUBT_VALUE, 0, m->valves[i].time_constant,
                          BRAMAH__PATH("hydraulics.valves.%s.time_constant", m->valves[i].name),
                          "a spool with a time constant of %.4g s: valves have some ms",
                          m->valves[i].time_constant);
  }
  const double step = 1e-9 * (double)look->machine->plant.step_ns;
  if (m->n_volumes && (step > 0.05 || step < 5e-6))
    bramah__doubt_value(
        look, BRAMAH_DOUBT_TIME, 0, step, "integrator.step",
        "steps of %.4g ms: hydraulic machines are stepped by some tenths of ms to some ms; write "
        "step: 1 ms",
        1e3 * step);
}

/* What nobody recorded and a dead band hides. */
static void look_at_unknown(bramah__look *look)
{
  const bramah_machine *m = look->machine->machine;
  for (size_t i = 0; look->study && i < look->study->n_unknown_inputs; i++) {
    const char *input = look->study->augmented[i].input;
    const double dead = bramah__input_reach_of(m, input).dead_band;
    if (dead > 0.0)
      bramah__doubt_value(
          look, BRAMAH_DOUBT_VALUE, 0, dead, BRAMAH__PATH("study.inputs.%s", input),
          "this command is unknown and its valve has a dead band of %.4g V, within which no sensor "
          "sees it: bands there rest on its noise alone and hold less often than they say; record "
          "the command (column: NAME), or estimate the position of the spool behind the dead band "
          "(dead_band: 0 V among the changes)",
          dead);
  }
}

static void look_at_cylinders(bramah__look *look)
{
  const bramah_machine *m = look->machine->machine;
  for (size_t i = 0; i < m->n_cylinders; i++) {
    const bramah_cylinder *c = &m->cylinders[i];
    const double bore = sqrt(4.0 * c->piston_area / 3.141592653589793);
    if (bore > 1.5 || bore < 3e-3)
      bramah__doubt_value(look, BRAMAH_DOUBT_VALUE, bore > 10.0, bore,
                          BRAMAH__PATH("hydraulics.cylinders.%s.%s", c->name, "bore"),
                          "a bore of %.4g m: cylinders have some centimetres; write %.4g mm", bore,
                          bore > 1.5 ? bore : 1e6 * bore);
    const double travel = c->piston_chamber_length + c->rod_chamber_length;
    const double closed = c->reference_stroke - c->piston_chamber_length;
    if (!(travel > 0.0)) continue;
    if (closed < 0.8 * travel)
      bramah__doubt_value(
          look, BRAMAH_DOUBT_VALUE, 0, closed / travel,
          BRAMAH__PATH("hydraulics.cylinders.%s.piston_chamber_length", c->name),
          "with the piston at its bottom the pins are %.4g m apart (reference_stroke less "
          "piston_chamber_length), less than the travel of %.4g m that has to fit between them: are "
          "piston_chamber_length and rod_chamber_length exchanged?",
          closed, travel);
    char name[256];
    snprintf(name, sizeof name, "%s.stroke", c->name);
    const long output = bramah_plant_find_output(&look->machine->plant, name);
    if (output < 0) continue;
    const double at = look->machine->plant.output(look->machine->plant.self, (size_t)output);
    const double lengths[2] = {c->piston_chamber_length + at - c->reference_stroke,
                               c->rod_chamber_length - at + c->reference_stroke};
    for (int side = 0; side < 2; side++) {
      const char *key = side ? "rod_chamber_length" : "piston_chamber_length";
      if (lengths[side] < 0.02 * travel && c->end_stop.stiffness == 0.0)
        bramah__doubt_value(
            look, BRAMAH_DOUBT_VALUE, lengths[side] <= 0.0, lengths[side],
            BRAMAH__PATH("hydraulics.cylinders.%s.%s", c->name, key),
            "the machine begins with the piston %.3g mm from this end of its travel of %.4g mm, "
            "without an end_stop: a longer %s, or another reference_stroke",
            1e3 * lengths[side], 1e3 * travel, key);
    }
  }
}

void bramah__look_at_values(bramah__look *look)
{
  look_at_bodies(look);
  look_at_gravity(look);
  look_at_joints(look);
  look_at_stops(look);
  look_at_ranges(look);
  look_at_pressures(look);
  look_at_cylinders(look);
  look_at_unknown(look);
}
