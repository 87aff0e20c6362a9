/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bramah check: read files, say in plain words what they mean, report every mistake. */
#include "bramah/sensor_study.h"
#include "lib/cli/cli.h"
#include "lib/cli/log_table.h"
#include "lib/cli/replay.h"
#include "bramah/tune.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Files and folders of a log. */
typedef struct check_logs {
  size_t n;
  const char *const *names;
} check_logs;

static int report(const bramah_diag *diag)
{
  cli_report(diag);
  return 1;
}

static void tell(void *user, const bramah_diag *diag)
{
  int *wrong = user;
  *wrong += report(diag);
}

/* ---- machine ---- */

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
      print_value(output_named(machine, name, turns ? ".angle" : ".position"), turns ? "rad" : "m");
      printf(" (%s) with ", origin(machine->machine, joint, name));
      print_value(output_named(machine, name, ".rate"), turns ? "rad/s" : "m/s");
    }
    printf("\n");
  }
  for (size_t i = 0; i < m->n_loops; i++)
    printf("  loop %s: joins %s and %s\n", m->loops[i].name, m->loops[i].body[0], m->loops[i].body[1]);
  if (m->n_loops)
    printf("  the loops close to %.2g\n", bramah_coupled_constraint_violation(machine->coupled));
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
  for (size_t i = 0; i < m->n_supplies; i++) {
    printf("  supply %s: ", m->supplies[i].name);
    print_value(m->supplies[i].pressure, "Pa");
    printf("\n");
  }
  int equilibrium = m->n_metered_cylinders > 0;
  for (size_t i = 0; i < m->n_volumes; i++) {
    equilibrium |= m->volumes[i].initial == BRAMAH_PRESSURE_EQUILIBRIUM;
    printf("  volume %s: starts at ", m->volumes[i].name);
    print_value(bramah_model_get_info(machine->model).initial_pressures[i], "Pa");
    printf("%s, %zu hose%s\n", m->volumes[i].initial == BRAMAH_PRESSURE_EQUILIBRIUM ? " (equilibrium)" : "",
           m->volumes[i].n_hoses, plural(m->volumes[i].n_hoses));
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
    printf("  cylinder %s: from %s to %s, piston side %s, rod side %s; stroke ", c->name, c->body[0],
           c->body[1], c->piston_volume, c->rod_volume);
    print_value(stroke, "m");
    printf(", chambers ");
    print_value(c->piston_chamber_length + stroke - c->reference_stroke, "m");
    printf(" and ");
    print_value(c->rod_chamber_length - stroke + c->reference_stroke, "m");
    printf(", %s\n", friction_names[c->friction.model]);
  }
  for (size_t i = 0; i < m->n_rotaries; i++) {
    const bramah_rotary *r = &m->rotaries[i];
    const double angle = output_named(machine, r->name, ".angle");
    printf("  rotary actuator %s: turns %s, chambers %s and %s, displacement %.6g cm^3/rad; angle ", r->name,
           r->joint, r->a_volume, r->b_volume, 1e6 * r->displacement);
    print_value(angle, "rad");
    printf(", chambers ");
    print_value(r->a_angle + angle - r->reference_angle, "rad");
    printf(" and ");
    print_value(r->b_angle - angle + r->reference_angle, "rad");
    printf(", %s\n", friction_names[r->friction.model]);
  }
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
    printf(", %s\n", friction_names[c->friction.model]);
  }
}

static void explain_machine(const bramah_machine_plant *machine)
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
  printf("  step: %.6g ms\n  ", 1e-6 * (double)machine->plant.step_ns);
  cli_print_how(machine, NULL, stdout);
}

/* ---- log ---- */

static void list_columns(const bramah_log_info *log, int ignored, const char *title)
{
  size_t n = 0;
  for (size_t i = 0; i < log->n_columns; i++) {
    const bramah_log_column *c = &log->columns[i];
    if (c->ignored != ignored) continue;
    printf(*c->unit ? "%s %s[%s]" : "%s %s", n++ ? "," : title, c->name, c->unit);
  }
  if (n) printf("\n");
}

static void print_files(const bramah_log_stream *log)
{
  const bramah_log_stream_info info = bramah_log_stream_get_info(log);
  for (size_t k = 0; k < info.n_devices; k++) {
    const bramah_log_device device = bramah_log_stream_get_device(log, k);
    printf("log:");
    for (size_t i = 0; i < device.n_files; i++) printf("%s %s", i ? "," : "", device.files[i]);
    if (device.entry) printf(" (log.files.%s)", device.entry);
    printf("\n");
    list_columns(&device.log, 0, "  columns used:");
    list_columns(&device.log, 1, "  columns not used:");
  }
  if (info.unused_files) printf("  %zu files of the folder are not used\n", info.unused_files);
}

static void print_map(const bramah_log_stream *log, size_t slot, const char *name)
{
  bramah_log_feed c;
  if (!bramah_log_stream_get_feed(log, slot, &c) || c.plain) return;
  const cli_readable unit = cli_readable_unit(c.unit);
  printf("  %s = %.9g %s", name, unit.factor * c.offset, unit.unit);
  printf(" %c %.9g %s x %s", c.factor < 0.0 ? '-' : '+', unit.factor * fabs(c.factor), unit.unit, c.column);
  if (c.wrap > 0.0) printf(", which jumps by %.9g", c.wrap);
  printf("\n");
}

/* Only what is not the plain case: commas, points, a header with units, seconds from 0 on. Some of it shows in
 * the rows. */
static void print_format(const bramah_log_stream *log, size_t k)
{
  const bramah_log_device device = bramah_log_stream_get_device(log, k);
  const bramah_log_format format = device.log.format;
  if (device.log.kind) printf("  %s\n", device.log.kind);
  if (format.delimiter != ',')
    printf("  cells between %s\n", format.delimiter == ';'    ? "semicolons"
                                   : format.delimiter == '\t' ? "tabs"
                                   : format.delimiter == ' '  ? "blanks"
                                                              : "a mark of its own");
  if (format.decimal == ',') printf("  decimal commas\n");
  if (format.no_header) printf("  no header: columns are numbered\n");
  if (format.units == BRAMAH_LOG_UNITS_ROW) printf("  units are in a row of their own\n");
  if (format.skip) printf("  %d lines before the header are passed over\n", format.skip);

  if (device.rate > 0.0) printf("  time: %s counts samples at %.9g Hz\n", device.time_column, device.rate);
  if (device.wrap)
    printf("  time: wraps after %.9g %s\n",
           device.rate > 0.0 ? (double)device.wrap : 1e-9 * (double)device.wrap,
           device.rate > 0.0 ? "counts" : "s");
  if (device.offset_ns) printf("  time: %.9g s are added\n", 1e-9 * (double)device.offset_ns);
  if (device.drift != 0.0)
    printf("  time: the clock gains %.6g ppm, taken out from its first row on\n", 1e6 * device.drift);
  if (device.is_date) {
    char text[64];
    bramah_log_time_text(device.zero_ns, text, sizeof text);
    printf("  time: dates; 0 s is %s\n", text);
  } else if (device.zero_ns) {
    printf("  time: 0 s is %.9g s of the clock\n", 1e-9 * (double)device.zero_ns);
  }
}

/* A log of n files and folders, read from its first row to its last without a filter. study NULL: only as the
 * plain log of a machine without study; sensors [n_sensors] of the study on the machine, those that cannot be are
 * all zero. Mistakes are reported as they are found; returns their number. */
static int explain_log(size_t n, const char *const *names, const bramah_machine_plant *machine,
                       const bramah_study *study, const bramah_sensor *sensors)
{
  const size_t n_sensors = study ? study->n_sensors : 0, n_inputs = machine->plant.n_input;
  const int64_t step_ns = machine->plant.step_ns;
  const int64_t longest_gap_ns = study ? study->log.longest_gap_ns : INT64_C(10000000000);
  bramah_log_stream *log;
  bramah_log_survey survey;
  bramah_log_feed feed;
  int wrong = 0;
  if (bramah_log_stream_open_for(study, machine->model, sensors, n, names, tell, &wrong, NULL, &log))
    return wrong;
  print_files(log);
  for (size_t i = 0; i < n_inputs; i++)
    print_map(log, i, bramah_model_get_info(machine->model).input_names[i]);
  for (size_t i = 0; i < n_sensors; i++) print_map(log, n_inputs + i, sensors[i].name);
  bramah_log_survey_read(log, step_ns, longest_gap_ns, tell, &wrong, &survey);
  for (size_t k = 0; k < bramah_log_stream_get_info(log).n_devices; k++) print_format(log, k);
  if (survey.rows) {
    printf("  %llu rows from %.9g s to %.9g s\n", (unsigned long long)survey.rows,
           1e-9 * (double)survey.first_ns, 1e-9 * (double)survey.last_ns);
    if (survey.rows > 1 && survey.longest_ns)
      printf("  between rows: %.6g ms to %.6g ms; the model's step: %.6g ms\n",
             1e-6 * (double)survey.shortest_ns, 1e-6 * (double)survey.longest_ns, 1e-6 * (double)step_ns);
    if (survey.off_grid)
      printf(
          "  %llu rows are off the grid of steps, at most %.3g ms: they are fused at the nearest step with "
          "their own time\n",
          (unsigned long long)survey.off_grid, 1e-6 * (double)survey.most_shift_ns);
    else if (survey.rows > 1)
      printf("  all rows are on the grid of steps\n");
  }
  for (size_t i = 0; i < n_sensors; i++)
    if (bramah_log_stream_get_feed(log, n_inputs + i, &feed)) {
      const bramah_sensor *sensor = &sensors[i];
      const int64_t period = sensor->period_ns ? sensor->period_ns : step_ns;
      printf("  %s: %llu samples", sensor->name, (unsigned long long)survey.samples[i]);
      if (2 * survey.longest_wait_ns[i] > 3 * period)
        printf(", once %.6g ms without a sample where %.6g ms were planned",
               1e-6 * (double)survey.longest_wait_ns[i], 1e-6 * (double)period);
      printf("\n");
    }
  cli_table table = cli_log_table(log, machine->model);
  cli_table_print(&table, stdout);
  cli_table_free(&table);
  bramah_log_survey_free(&survey);
  bramah_log_stream_close(log);
  return wrong;
}

/* ---- study ---- */

/* A standard deviation in a readable unit, and its share of a value that is not 0. */
static void print_sigma(double sigma, const char *si, double value)
{
  if (strcmp(si, "1") == 0)
    printf("%.6g", sigma);
  else
    print_value(sigma, si);
  if (fabs(value) > 0.0 && strcmp(si, "1") != 0) printf(" (%.3g %%)", 100.0 * sigma / fabs(value));
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
    if (sigma > 0.0) print_sigma(sigma, info.unit, info.nominal);
    if (source == BRAMAH_UNCERTAINTY_DEFAULT) printf(" (default)");
    printf("\n");
  }
}

/* Machines that it may be, with values as they are written. */
static void explain_hypotheses(const bramah_study *study)
{
  for (size_t i = 0; i < study->hypotheses.n; i++) {
    const bramah_study_hypothesis *h = &study->hypotheses.list[i];
    printf("  hypothesis %s: prior %.4g %%", h->name, 100.0 * h->prior);
    for (size_t k = 0; k < h->n; k++) {
      const bramah_study_parameter *p = &h->parameters[k];
      if (p->value.text)
        printf(", %s %s", p->name, p->value.text);
      else
        printf(", %s %+.6g %%", p->name, 100.0 * p->share);
    }
    printf("%s\n", h->n ? "" : ", the machine as it is stated");
  }
}

/* What the filter reckons with besides noise. */
static void explain_budget(const bramah_session *session)
{
  const bramah_session_parts *parts = bramah_session_about(session);
  const bramah_plant *plant = bramah_session_plant(session);
  const bramah_augmented *all = parts->options.augmented;
  const size_t n = parts->options.n_augmented, first = n - parts->n_budget;
  if (!parts->study->uncertainty.is_on) {
    double sigma;
    int stated = 0;
    for (size_t i = 0; i < plant->n_parameter; i++)
      stated += bramah_machine_plant_uncertainty(parts->machine, i, &sigma) == BRAMAH_UNCERTAINTY_STATED;
    for (size_t i = 0; i < parts->study->n_sensors; i++) {
      const bramah_study_sensor_errors *e = &parts->study->errors[i];
      stated += (e->bias.sigma.text != NULL) + (e->gain.sigma.text || e->gain.share > 0.0) +
                (e->delay.sigma.text != NULL);
    }
    if (stated)
      cli_note(
          "%d uncertainties are stated, but the study does not reckon with them: 'uncertainty: default' does",
          stated);
    return;
  }
  printf("  uncertainty, one sigma; %s:\n",
         parts->study->hypotheses.n ? "estimated from the start, as likelihoods want it"
                                    : "considered, and estimated once the measurements tell enough");
  for (size_t i = first; i < n; i++) {
    size_t p;
    double nominal = 0.0;
    if (all[i].kind == BRAMAH_AUGMENTED_PARAMETER &&
        !bramah_plant_parameter_index(plant, all[i].at, &p, NULL))
      nominal = plant->parameter(plant->self, p);
    printf("    %s: ", all[i].name);
    print_sigma(all[i].sigma, parts->augmented_unit[i], nominal);
    const cli_readable unit = cli_readable_unit(parts->augmented_unit[i]);
    if (all[i].kind == BRAMAH_AUGMENTED_BIAS && all[i].noise > 0.0)
      printf(", drifts by %.6g %s/s^0.5", unit.factor * all[i].noise, unit.unit);
    if (all[i].role == BRAMAH_AUGMENTED_CONSIDERED) printf(", considered to the end");
    printf("%s\n", parts->is_stated[i - first] ? "" : " (default)");
  }
  printf("    known exactly:");
  const char *separator = "";
  for (size_t k = 0; k < plant->n_parameter + parts->study->n_sensors; k++) {
    const int bias = k >= plant->n_parameter;
    bramah_parameter_info info = {.name = ""};
    if (!bias) plant->parameter_info(plant->self, k, &info);
    const char *name = bias ? parts->study->sensors[k - plant->n_parameter].name : info.name;
    size_t i = 0;
    while (i < n && !((all[i].kind == BRAMAH_AUGMENTED_BIAS) == bias && strcmp(all[i].at, name) == 0)) i++;
    if (i < n) continue;
    printf("%s %s%s", separator, bias ? "bias of " : "", name);
    separator = ",";
  }
  printf("%s\n", *separator ? "" : " nothing");
}

void cli_warn_unobservable(const bramah_session *session)
{
  bramah_diag diag;
  char names[512];
  size_t n = 0;
  double horizon;
  if (bramah_assess_unseen(session, names, sizeof names, &n, &horizon, &diag))
    cli_note("what the sensors see could not be looked at: %s", diag.message);
  else if (n)
    cli_note("warning: the sensors do not see %s: in %.3g s they tell no more of %s than is known at the "
             "start, and errors there do not die out",
             names, horizon, n == 1 ? "it" : "them");
}

void cli_protection(const bramah_session *session, char *text, size_t size)
{
  static const char *const transitions[] = {"", "paper", "paper-exact", "step"};
  const bramah_study *study = bramah_session_study(session);
  const bramah_session_parts *parts = bramah_session_about(session);
  const bramah_augmented *budget = parts->options.augmented + parts->options.n_augmented - parts->n_budget;
  double least = HUGE_VAL, most = 0.0;
  size_t of_sensors = 0;
  for (size_t i = 0; i < study->n_sensors; i++) {
    least = fmin(least, study->gate[i]);
    most = fmax(most, study->gate[i]);
  }
  for (size_t i = 0; i < parts->n_budget; i++) of_sensors += budget[i].kind != BRAMAH_AUGMENTED_PARAMETER;

  int n = snprintf(text, size, "transition %s, ", transitions[study->transition]);
  if (most == 0.0)
    n += snprintf(text + n, size - (size_t)n, "no gates%s, ",
                  study->n_unknown_inputs ? " (unknown inputs may leap)" : "");
  else if (least < most)
    n += snprintf(text + n, size - (size_t)n, "gates of %.6g to %.6g sigma, ", least, most);
  else
    n += snprintf(text + n, size - (size_t)n, "gate %.6g sigma, ", most);
  if (most > 0.0 && study->drift_gate > 0.0)
    n += snprintf(text + n, size - (size_t)n, "drift gate %.6g sigma, ", study->drift_gate);
  if (study->uncertainty.is_on)
    snprintf(text + n, size - (size_t)n, "uncertain values: %zu of the machine, %zu of sensors",
             parts->n_budget - of_sensors, of_sensors);
  else
    snprintf(text + n, size - (size_t)n, "parameters and sensors taken as exact (%s)",
             study->uncertainty.is_stated                  ? "uncertainty: fixed"
             : study->transition == BRAMAH_TRANSITION_STEP ? "preset papers"
                                                           : "so it is with this transition");
}

/* The filter, its augmented states and the noises on parameters. */
static void explain_filter(const bramah_session *session)
{
  const bramah_study *study = bramah_session_study(session);
  static const char *const transitions[] = {"", "paper", "paper-exact", "step"};
  const int resolvent = study->discretisation == BRAMAH_DISCRETISATION_DEFAULT
                            ? study->transition == BRAMAH_TRANSITION_STEP
                            : study->discretisation == BRAMAH_DISCRETISATION_RESOLVENT;
  const int iterations = study->iterations > 1 ? study->iterations : 1;
  printf("  filter: transition %s, noise %s, covariance %s, fusion %s, %d iteration%s\n",
         transitions[study->transition], resolvent ? "resolvent" : "published",
         study->form == BRAMAH_COVARIANCE_SQUARE_ROOT ? "square-root" : "joseph",
         study->fusion == BRAMAH_FUSION_BLOCK ? "block" : "sequential", iterations,
         iterations == 1 ? "" : "s");
  char protection[256];
  cli_protection(session, protection, sizeof protection);
  printf("  protection: %s\n", protection);
  const bramah_filter_options options = bramah_session_about(session)->options;
  for (size_t i = 0; i < study->n_augmented; i++) {
    const bramah_augmented *a = &options.augmented[i];
    const bramah_plant *plant = bramah_session_plant(session);
    const char *what = a->kind == BRAMAH_AUGMENTED_BIAS ? "bias of"
                       : i < study->n_unknown_inputs    ? "unknown input, parameter"
                                                        : "parameter";
    const cli_readable unit = cli_readable_unit(bramah_session_about(session)->augmented_unit[i]);
    size_t p = 0;
    const int is_parameter = a->kind == BRAMAH_AUGMENTED_PARAMETER &&
                             bramah_plant_parameter_index(plant, a->at, &p, NULL) == BRAMAH_OK;
    printf("  estimated %s: %s %s [%s], starts at %.6g, sigma %.6g; ", a->name, what, a->at, unit.unit,
           is_parameter ? unit.factor * plant->parameter(plant->self, p) : 0.0, unit.factor * a->sigma);
    const int oscillates = a->frequency > 0.0 || a->signal_period > 0.0;
    if (a->frequency > 0.0) printf("oscillation of %.6g Hz", a->frequency);
    if (a->signal_period > 0.0) printf("ripple of period %.6g %s", unit.factor * a->signal_period, unit.unit);
    if (oscillates && a->time_constant > 0.0) printf(", time constant %.6g s", a->time_constant);
    if (!oscillates && a->time_constant > 0.0)
      printf("Gauss-Markov of order %d, time constant %.6g s", a->order == 2 ? 2 : 1, a->time_constant);
    if (!oscillates && !(a->time_constant > 0.0)) printf(a->noise > 0.0 ? "random walk" : "constant");
    if (a->noise > 0.0)
      printf(", noise %.6g %s/s^%s", unit.factor * a->noise, unit.unit,
             a->order == 2 && !oscillates ? "1.5" : "0.5");
    if (a->least < a->most && a->least > -HUGE_VAL) printf(", at least %.6g", unit.factor * a->least);
    if (a->least < a->most && a->most < HUGE_VAL) printf(", at most %.6g", unit.factor * a->most);
    printf("\n");
  }
  explain_budget(session);
  explain_hypotheses(bramah_session_study(session));
  for (size_t i = 0; i < options.n_parameter_noise; i++) {
    const cli_readable unit = cli_readable_unit(bramah_session_about(session)->noise_unit[i]);
    printf("  noise on %s: %.6g %s/Hz^0.5\n", options.parameter_noise[i].at,
           unit.factor * options.parameter_noise[i].density, unit.unit);
  }
}

static void explain_study(const bramah_session *session, int parameters)
{
  const bramah_study *study = bramah_session_study(session);
  explain_machine(bramah_session_about(session)->machine);
  if (parameters) list_parameters(bramah_session_about(session)->machine);
  printf("study: %s\n", study->name);
  for (size_t i = 0; i < study->n_changes; i++)
    printf("  the filter's model has %s: %s\n", study->changes[i].path, study->changes[i].value);
  for (size_t i = 0; i < study->n_sensors; i++) {
    const bramah_sensor *sensor = &bramah_session_about(session)->sensors[i];
    const bramah_sensor_options *o = &study->sensors[i];
    const cli_readable unit = cli_readable_unit(sensor->unit);
    printf("  sensor %s: %s at ", o->name, bramah_sensor_kind_name(o->kind));
    /* "v1 less v2", "port a of valve" */
    if (o->kind == BRAMAH_SENSOR_PRESSURE_DIFFERENCE)
      printf("%s less %s", o->at, o->less);
    else if (o->port)
      printf("port %c of %s", o->port == BRAMAH_SENSOR_PORT_A ? 'a' : 'b', o->at);
    else
      printf("%s", o->at);
    printf(", sigma %.6g %s, ", unit.factor * o->sigma, unit.unit);
    if (o->resolution > 0.0) printf("in steps of %.6g %s, ", unit.factor * o->resolution, unit.unit);
    if (o->least < o->most)
      printf("from %.6g to %.6g %s, ", unit.factor * o->least, unit.factor * o->most, unit.unit);
    if (o->period_ns)
      printf("%.6g samples per second", 1e9 / (double)o->period_ns);
    else
      printf("a sample at every step");
    if (o->delay_ns) printf(", delay %.6g ms", 1e-6 * (double)o->delay_ns);
    if (study->gate[i] > 0.0) printf(", gate %.6g sigma", study->gate[i]);
    printf(", column %s\n", study->sensor_columns[i].name);
  }
  explain_filter(session);
  for (size_t i = 0; i < study->n_joints; i++) {
    const bramah_joint_start *j = &study->joints[i];
    const cli_readable position = cli_readable_unit(j->slides ? "m" : "rad");
    const cli_readable rate = cli_readable_unit(j->slides ? "m/s" : "rad/s");
    printf("  joint %s: starts at %.6g %s%s, sigma %.6g %s; rate %.6g %s, sigma %.6g %s; acceleration noise "
           "%.6g %s/s^2/Hz^0.5\n",
           j->joint, position.factor * bramah_session_about(session)->joint_start[i], position.unit,
           j->has_position ? "" : " (the machine's)", position.factor * j->position_sigma, position.unit,
           rate.factor * j->rate, rate.unit, rate.factor * j->rate_sigma, rate.unit, j->acceleration_noise,
           j->slides ? "m" : "rad");
  }
  for (size_t i = 0; i < study->n_volumes; i++) {
    const bramah_volume_start *v = &study->volumes[i];
    printf("  volume %s: sigma %.6g bar, noise %.6g bar/s^0.5", v->volume, 1e-5 * v->sigma, 1e-5 * v->noise);
    if (v->has_pressure) printf(", starts at %.6g bar", 1e-5 * v->pressure);
    printf("\n");
  }
  cli_warn_unobservable(session);
}

/* The tuning a study asks for. */
static int check_tune(const char *path)
{
  bramah_tuning *tuning;
  bramah_diag diag;
  if (bramah_tune_check(path, &diag, &tuning)) {
    fflush(stdout);
    cli_report(&diag);
    return 1;
  }
  const bramah_tune_result *result = bramah_tuning_result(tuning);
  for (size_t i = 0; i < result->n; i++) {
    const bramah_tuned_value *v = &result->values[i];
    printf("  to be tuned: %s, now %s, from %.6g to %.6g%s%s", v->path, v->text, v->least, v->most,
           *v->unit ? " " : "", v->unit);
    for (size_t k = 0; k < v->n_also; k++) printf("%s %s", k ? "," : "; the same for", v->also[k]);
    putchar('\n');
  }
  bramah_tuning_free(tuning);
  return 0;
}

/* After mistakes in a study the log is held against what can be understood of it; without machine or study
 * nothing is known of what the log should contain, but its rows can be read. */
static int check_log_alone(const char *study_path, check_logs logs)
{
  bramah_machine_plant machine = {0};
  bramah_study *study = NULL;
  bramah_sensor *sensors = NULL;
  bramah_diag diag;
  if (!logs.n) return 0;
  bramah_diag_clear(&diag);
  int known = study_path && !bramah_study_load(study_path, 0, NULL, &diag, &study);
  if (known)
    known = !bramah_machine_plant_open(&machine, study->machine_file, study->n_changes, study->changes, 0,
                                       &diag) &&
            (sensors = calloc(study->n_sensors + 1, sizeof *sensors)) != NULL;
  for (size_t i = 0; known && i < study->n_sensors; i++)
    if (bramah_sensor_init(&study->sensors[i], &machine.plant, &diag, &sensors[i]))
      sensors[i] = (bramah_sensor){.name = study->sensors[i].name};
  if (!known) {
    bramah_machine_plant_close(&machine);
    machine = (bramah_machine_plant){.plant = {.step_ns = 1000000}};
  }
  const int wrong = explain_log(logs.n, logs.names, &machine, known ? study : NULL, sensors);
  if (known) bramah_machine_plant_close(&machine);
  bramah_study_free(study);
  free(sensors);
  return wrong;
}

/* `wrong`: mistakes found in the file so far; returns how many there are in all. */
static int check_study(const char *path, int wrong, check_logs logs, int parameters)
{
  bramah_session *session = NULL;
  bramah_diag diag;
  if (!wrong && bramah_session_open(path, &diag, &session)) wrong = report(&diag);
  if (!session) return wrong + check_log_alone(path, logs);
  explain_study(session, parameters);
  if (logs.n)
    wrong = explain_log(logs.n, logs.names, bramah_session_about(session)->machine,
                        bramah_session_study(session), bramah_session_about(session)->sensors);
  if (!wrong && bramah_session_study(session)->tune.line) wrong = check_tune(path);
  bramah_session_close(session);
  return wrong;
}

/* ---- machine ---- */

static int check_machine(const char *path, int wrong, check_logs logs, int parameters)
{
  bramah_machine_plant machine = {0};
  bramah_diag diag;
  if (!wrong && bramah_machine_plant_open(&machine, path, 0, NULL, 0, &diag)) wrong = report(&diag);
  if (wrong) {
    wrong += check_log_alone(NULL, logs);
  } else {
    explain_machine(&machine);
    if (parameters) list_parameters(&machine);
    if (logs.n) wrong += explain_log(logs.n, logs.names, &machine, NULL, NULL);
  }
  bramah_machine_plant_close(&machine);
  return wrong;
}

/* ---- plan ---- */

/* Everything a sensor study needs, as far as the first mistake; the truth is simulated, nothing else is run. */
static int check_plan(const char *path)
{
  const bramah_sensor_study_options one_seed = {.seeds = 1};
  bramah_sensor_study *study = NULL;
  bramah_diag diag;
  if (bramah_sensor_study_open(path, &one_seed, &diag, &study)) return report(&diag);
  const bramah_sensor_study_layout *is = bramah_sensor_study_about(study);
  const bramah_plan *plan = is->plan;
  printf("plan: %s\n", plan->name);
  printf("  truth: %s, %.6g s in steps of %.6g ms\n", plan->machine_file, plan->duration,
         1e-6 * (double)is->step_ns);
  for (size_t i = 0; i < is->n_signals; i++)
    printf("  signal %s: %s, up to %.6g\n", plan->signals[i].name, plan->signals[i].output,
           is->signals[i].largest);
  for (size_t i = 0; i < is->n_studies; i++)
    printf("  study %s: %s, %zu sensors\n", plan->studies[i].name, is->studies[i]->name,
           is->studies[i]->n_sensors);
  for (size_t i = 0; i < is->n_filters; i++)
    printf("  filter %s: %zu changes of the studies\n", is->filters[i].name, is->filters[i].n_changes);
  for (size_t i = 0; i < is->n_scenarios; i++)
    printf("  scenario %s: %s\n", is->scenarios[i].name,
           is->scenarios[i].title ? is->scenarios[i].title : "");
  for (size_t i = 0; i < plan->n_rates; i++) printf("  rate %.6g Hz\n", plan->rates[i]);
  printf("  %zu runs with %d seeds each\n", is->n_runs * (size_t)plan->seeds, plan->seeds);
  bramah_sensor_study_free(study);
  return 0;
}

static int run(const cli_arguments *arguments)
{
  const char *path = arguments->operands[0];
  const check_logs logs = {(size_t)arguments->n_operands - 1, arguments->operands + 1};
  const int parameters = cli_value(arguments, "parameters") != NULL;
  bramah_file_kind kind;
  int wrong = 0;
  bramah_file_check(path, tell, &wrong, &kind);
  if (kind == BRAMAH_FILE_STUDY) wrong = check_study(path, wrong, logs, parameters);
  if (kind == BRAMAH_FILE_PLAN && !wrong) wrong = check_plan(path);
  if (kind == BRAMAH_FILE_MACHINE) wrong = check_machine(path, wrong, logs, parameters);
  if (wrong) {
    fflush(stdout);
    fprintf(stderr, "bramah: %d mistake%s found\n", wrong, wrong == 1 ? "" : "s");
    return CLI_FAILED;
  }
  printf("no mistakes found\n");
  return CLI_OK;
}

static const cli_option options[] = {
    {"parameters", NULL,
     "also list the parameters of the machine\nTheir names, nominal values, units and uncertainty.", 0, 0},
    {0}};

const cli_command cli_check = {
    .name = "check",
    .operands = "MACHINE|STUDY|PLAN [LOG...]",
    .summary = "Read a machine, study or plan, and a log, and say what they mean",
    .details =
        "Says in plain words what was understood: of a machine bodies, joints and where they start, loops,\n"
        "degrees of freedom, hydraulics; of a study sensors, noise, filter; of a log how it is written, its\n"
        "columns, times, samples, and what was dropped, joined or put in order.\n\n"
        "Mistakes are reported with file, line and the thing at fault; then the exit code is 1. After a\n"
        "mistake in one file the others are still read.\n",
    .example = "bramah check sensors-2.yaml log.csv",
    .min_operands = 1,
    .max_operands = INT_MAX,
    .options = options,
    .run = run};
