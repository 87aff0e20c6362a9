/* SPDX-License-Identifier: MIT */
/* Metered cylinders of a machine into the circuit. The expanded machine has for each of them a volume behind
 * the volumes, a cylinder between cylinders and rotary actuators, and a spool behind the valves; then follow
 * the spools of regeneration and unloading valves that have an input. */
#include "lib/machine/compile.h"
#include "lib/base/diag.h"

#include <math.h>
#include <string.h>

static int has_spool(const bramah_metering_valve *valve)
{
  return valve->flow_coefficient != 0.0 && valve->input != NULL;
}

/* Regeneration or unloading valve number k that has a spool, and whose it is; NULL behind the last. */
static const bramah_metering_valve *extra_spool(const bramah_machine *d, size_t k, const char **owner,
                                                int *line, const char **suffix)
{
  for (size_t i = 0; i < d->n_metered_cylinders + d->n_pump_lines; i++) {
    const int is_line = i >= d->n_metered_cylinders;
    const bramah_pump_line *pump = is_line ? &d->pump_lines[i - d->n_metered_cylinders] : NULL;
    const bramah_metered_cylinder *metered = is_line ? NULL : &d->metered_cylinders[i];
    const bramah_metering_valve *valve = is_line ? &pump->unloading : &metered->regeneration;
    if (!has_spool(valve) || k-- > 0) continue;
    *owner = is_line ? pump->name : metered->name;
    *line = is_line ? pump->line : metered->line;
    *suffix = is_line ? ".unloading" : ".regeneration";
    return valve;
  }
  return NULL;
}

size_t bramah__count_metering_spools(const bramah_machine *d)
{
  const char *owner, *suffix;
  int line;
  size_t n = 0;
  while (extra_spool(d, n, &owner, &line, &suffix)) n++;
  return d->n_metered_cylinders + n;
}

const char *bramah__spool_name(const bramah_machine *d, size_t i, const char **suffix)
{
  const char *owner = NULL;
  int line;
  *suffix = "";
  if (i < d->n_valves) return d->valves[i].name;
  i -= d->n_valves;
  if (i < d->n_metered_cylinders) return d->metered_cylinders[i].name;
  extra_spool(d, i - d->n_metered_cylinders, &owner, &line, suffix);
  return owner;
}

const bramah_metered_cylinder *bramah__metered_cylinder(const bramah__compiler *k, size_t cylinder)
{
  const bramah_machine *d = k->source;
  if (cylinder < d->n_cylinders || cylinder >= d->n_cylinders + d->n_metered_cylinders) return NULL;
  return &d->metered_cylinders[cylinder - d->n_cylinders];
}

void bramah__metered_layout(const bramah_machine *machine, bramah_model *model, bramah__tables *t,
                            bramah__arena *arena)
{
  const size_t n = machine->n_metered_cylinders;
  const int any = n + machine->n_pump_lines + machine->n_lines > 0;
  t->volumes = BRAMAH__TAKE(arena, bramah_volume, any ? model->circuit.n_volumes : 0);
  t->valves = BRAMAH__TAKE(arena, bramah_valve, any ? bramah__n_spools(&model->circuit) : 0);
  t->metered = BRAMAH__TAKE(arena, bramah__metered, n);
  t->metered_port = BRAMAH__TAKE(arena, bramah__metered_port, n);
  t->metered_line = BRAMAH__TAKE(arena, bramah__metered_line, machine->n_pump_lines);
}

/* ---- into the expanded machine ---- */

static void expand_cylinder(bramah__compiler *k, size_t i)
{
  const bramah_machine *d = k->source;
  const bramah_metered_cylinder *in = &d->metered_cylinders[i];
  bramah_cylinder *out = &k->t.cylinders[d->n_cylinders + i];
  *out = (bramah_cylinder){.name = in->name,
                           .line = in->line,
                           .reference_stroke = in->reference_stroke,
                           .friction = in->friction,
                           .end_stop = in->end_stop};
  for (int e = 0; e < 2; e++) out->body[e] = in->body[e];
  memcpy(out->point, in->point, sizeof out->point);
  k->t.volumes[d->n_volumes + d->n_lines + i] = (bramah_volume){
      .name = in->name, .line = in->line, .initial_pressure = in->load_pressure, .initial = in->initial};
  bramah_valve *spool = &k->t.valves[d->n_valves + i];
  *spool = in->spool;
  spool->name = in->name;
  spool->line = in->line;
}

void bramah__expand_metered(bramah__compiler *k)
{
  const bramah_machine *d = k->source;
  const size_t n = d->n_metered_cylinders;
  if (n + d->n_pump_lines + d->n_lines == 0) return;
  if (d->n_volumes) memcpy(k->t.volumes, d->volumes, d->n_volumes * sizeof *d->volumes);
  if (d->n_valves) memcpy(k->t.valves, d->valves, d->n_valves * sizeof *d->valves);
  for (size_t i = 0; i < d->n_lines; i++)
    k->t.volumes[d->n_volumes + i] = (bramah_volume){
        .name = d->lines[i].name, .line = d->lines[i].line, .initial_pressure = d->lines[i].initial_flow};
  for (size_t i = 0; i < n; i++) expand_cylinder(k, i);
  const char *owner, *suffix;
  const bramah_metering_valve *valve;
  int line;
  for (size_t i = 0; (valve = extra_spool(d, i, &owner, &line, &suffix)) != NULL; i++) {
    const size_t spool = d->n_valves + n + i;
    k->t.valves[spool] = (bramah_valve){.name = k->model->valve_name[spool],
                                        .line = line,
                                        .input = valve->input,
                                        .time_constant = valve->time_constant,
                                        .limit = valve->limit};
  }
}

/* ---- into the circuit ---- */

/* Number of the spool of this valve among all. */
static size_t spool_of(const bramah__compiler *k, const bramah_metering_valve *valve)
{
  const bramah_machine *d = k->source;
  const char *owner, *suffix;
  int line;
  size_t i = 0;
  while (extra_spool(d, i, &owner, &line, &suffix) != valve) i++;
  return d->n_valves + d->n_metered_cylinders + i;
}

static bramah_status take_one_way(const bramah__compiler *k, const bramah_metering_valve *in,
                                  const char *thing, int line, size_t *spool, double *open)
{
  *spool = BRAMAH__NO_SPOOL;
  *open = 0.0;
  if (in->flow_coefficient == 0.0) return BRAMAH_OK;
  const bramah_status status = bramah__positive(k, in->flow_coefficient, thing, line, "the flow coefficient");
  if (status != BRAMAH_OK) return status;
  if (has_spool(in)) {
    *spool = spool_of(k, in);
    return BRAMAH_OK;
  }
  if (!(in->opening >= 0.0 && in->opening <= 1.0))
    return bramah__compile_fail(k, BRAMAH_E_VALUE, thing, line, "an opening must lie between 0 and 1");
  *open = in->opening;
  return BRAMAH_OK;
}

static bramah_status build_line(bramah__compiler *k, const bramah_pump_line *in, bramah__metered_line *out)
{
  const bramah_model *m = k->model;
  bramah_status status = bramah__positive(k, in->flow, in->name, in->line, "the flow");
  if (status == BRAMAH_OK)
    status = bramah__positive(k, in->set_pressure, in->name, in->line, "the set pressure");
  if (status == BRAMAH_OK)
    status = take_one_way(k, &in->unloading, in->name, in->line, &out->unloading, &out->unloading_open);
  if (status != BRAMAH_OK) return status;
  const long tank = bramah__find_name(m->circuit.n_supplies, m->supply_name, in->tank);
  if (tank < 0)
    return bramah__no_such(k, in->name, in->line, "supply", in->tank, m->circuit.n_supplies, m->supply_name);
  out->tank = (size_t)tank;
  out->line =
      (bramah__pump_line){.Q = in->flow, .P_M = in->set_pressure, .U_b = in->unloading.flow_coefficient};
  return BRAMAH_OK;
}

static bramah_status check_values(const bramah__compiler *k, const bramah_metered_cylinder *in)
{
  const struct {
    double value;
    const char *what;
  } checks[] = {{in->piston_area, "the piston area"},
                {in->rod_area, "the rod area"},
                {in->piston_relief, "the relief setting of the piston side"},
                {in->rod_relief, "the relief setting of the rod side"},
                {in->stiffness, "the stiffness"},
                {in->damping, "the damping"},
                {in->flow_coefficient[BRAMAH_PORT_PUMP_A], "the flow coefficient of pump_a"},
                {in->flow_coefficient[BRAMAH_PORT_B_TANK], "the flow coefficient of b_tank"},
                {in->flow_coefficient[BRAMAH_PORT_A_TANK], "the flow coefficient of a_tank"},
                {in->flow_coefficient[BRAMAH_PORT_PUMP_B], "the flow coefficient of pump_b"}};
  for (size_t i = 0; i < sizeof checks / sizeof checks[0]; i++) {
    const bramah_status status = bramah__positive(k, checks[i].value, in->name, in->line, checks[i].what);
    if (status != BRAMAH_OK) return status;
  }
  if (in->regeneration.flow_coefficient == 0.0 || in->piston_area >= in->rod_area) return BRAMAH_OK;
  return bramah__compile_fail(k, BRAMAH_E_VALUE, in->name, in->line,
                              "regeneration needs a piston area that is not below the rod area");
}

/* Without lengths the stroke has no ends. */
static bramah_status take_lengths(const bramah__compiler *k, const bramah_metered_cylinder *in,
                                  bramah__cylinder *out)
{
  out->piston_length = out->rod_length = INFINITY;
  if (in->reference_stroke == 0.0 && in->piston_chamber_length == 0.0 && in->rod_chamber_length == 0.0)
    return BRAMAH_OK;
  const double lengths[] = {in->reference_stroke, in->piston_chamber_length, in->rod_chamber_length};
  static const char *const names[] = {"the reference stroke", "the piston chamber length",
                                      "the rod chamber length"};
  for (int i = 0; i < 3; i++) {
    const bramah_status status = bramah__positive(k, lengths[i], in->name, in->line, names[i]);
    if (status != BRAMAH_OK) return status;
  }
  out->reference = in->reference_stroke;
  out->piston_length = in->piston_chamber_length;
  out->rod_length = in->rod_chamber_length;
  return BRAMAH_OK;
}

/* The force of the load pressure is that of a cylinder with this piston area and no rod side. */
static bramah_status build_cylinder(bramah__compiler *k, size_t i)
{
  const bramah_machine *d = k->source;
  const bramah_metered_cylinder *in = &d->metered_cylinders[i];
  const bramah_cylinder *expanded = &k->machine->cylinders[d->n_cylinders + i];
  bramah__cylinder *out = &k->t.cylinder[d->n_cylinders + i];
  *out = (bramah__cylinder){.metered = 1,
                            .piston = d->n_volumes + d->n_lines + i,
                            .rod = d->n_volumes + d->n_lines + i,
                            .piston_area = in->piston_area,
                            .friction_scale = 1.0};
  bramah_status status = take_lengths(k, in, out);
  if (status == BRAMAH_OK) status = bramah__build_attachment(k, expanded, &k->t.line[d->n_cylinders + i]);
  return status == BRAMAH_OK ? bramah__build_friction(k, expanded, &out->friction) : status;
}

static bramah_status build_port(bramah__compiler *k, size_t i, size_t slot)
{
  const bramah_machine *d = k->source;
  const bramah_metered_cylinder *in = &d->metered_cylinders[i];
  bramah__metered_port *port = &k->t.metered_port[slot];
  bramah_status status = check_values(k, in);
  if (status == BRAMAH_OK) status = build_cylinder(k, i);
  if (status == BRAMAH_OK)
    status =
        take_one_way(k, &in->regeneration, in->name, in->line, &port->regeneration, &port->regeneration_open);
  port->cylinder = d->n_cylinders + i;
  port->volume = d->n_volumes + d->n_lines + i;
  port->spool = d->n_valves + i;
  port->stiffness = in->stiffness;
  port->damping = in->damping;
  k->t.metered[slot] = (bramah__metered){.A_h = in->piston_area,
                                         .A_r = in->rod_area,
                                         .P_hM = in->piston_relief,
                                         .P_rM = in->rod_relief,
                                         .c_ph = in->flow_coefficient[BRAMAH_PORT_PUMP_A],
                                         .c_tr = in->flow_coefficient[BRAMAH_PORT_B_TANK],
                                         .c_pr = in->flow_coefficient[BRAMAH_PORT_PUMP_B],
                                         .c_th = in->flow_coefficient[BRAMAH_PORT_A_TANK],
                                         .c_a = in->regeneration.flow_coefficient};
  return status;
}

static bramah_status fill_line(bramah__compiler *k, size_t l, size_t *slot)
{
  const bramah_machine *d = k->source;
  const bramah_pump_line *in = &d->pump_lines[l];
  bramah__metered_line *out = &k->t.metered_line[l];
  bramah_status status = build_line(k, in, out);
  out->first = *slot;
  for (size_t i = 0; i < d->n_metered_cylinders && status == BRAMAH_OK; i++) {
    const char *wanted = d->metered_cylinders[i].pump_line;
    if (wanted && strcmp(wanted, in->name) == 0) status = build_port(k, i, (*slot)++);
  }
  out->n = *slot - out->first;
  if (status != BRAMAH_OK || out->n <= BRAMAH__MAX_ON_LINE) return status;
  return bramah__compile_fail(k, BRAMAH_E_VALUE, in->name, in->line,
                              "more than 16 metered cylinders are on this pump line");
}

bramah_status bramah__build_metered(bramah__compiler *k)
{
  const bramah_machine *d = k->source;
  const bramah_model *m = k->model;
  size_t slot = 0;
  for (size_t i = 0; i < d->n_metered_cylinders; i++) {
    const bramah_metered_cylinder *in = &d->metered_cylinders[i];
    if (bramah__find_name(d->n_pump_lines, m->pump_line_name, in->pump_line) < 0)
      return bramah__no_such(k, in->name, in->line, "pump line", in->pump_line, d->n_pump_lines,
                             m->pump_line_name);
  }
  bramah_status status = BRAMAH_OK;
  for (size_t l = 0; l < d->n_pump_lines && status == BRAMAH_OK; l++) status = fill_line(k, l, &slot);
  return status;
}

/* Does the curve stay closed on that side of 0, 0 included? */
static int is_closed(const bramah__curve *curve, double side)
{
  if (curve->n == 0) return 1;
  for (size_t i = 0; i < curve->n; i++)
    if (side * curve->x[i] >= 0.0 && curve->y[i] > 0.0) return 0;
  return !(bramah__curve_tangent(curve, 0.0).value > 0.0);
}

bramah_status bramah__check_flow_paths(const bramah__compiler *k)
{
  const bramah_machine *d = k->source;
  for (size_t i = 0; i < d->n_metered_cylinders; i++) {
    const bramah__opening *opening = &k->t.valve[d->n_valves + i].opening;
    const bramah_metered_cylinder *in = &d->metered_cylinders[i];
    const int common = opening->common.n == 0 || bramah__curve_tangent(&opening->common, 0.0).value == 0.0;
    if (common && is_closed(&opening->path[BRAMAH__PUMP_A], -1.0) &&
        is_closed(&opening->path[BRAMAH__B_TANK], -1.0) && is_closed(&opening->path[BRAMAH__A_TANK], 1.0) &&
        is_closed(&opening->path[BRAMAH__PUMP_B], 1.0))
      continue;
    return bramah__compile_fail(
        k, BRAMAH_E_VALUE, in->name, in->line,
        "flow paths that extend it must be shut for U <= 0, those that retract it for U >= 0");
  }
  return BRAMAH_OK;
}

void bramah__metered_connect(bramah__compiler *k)
{
  bramah__circuit *circuit = &k->model->circuit;
  circuit->metered = k->t.metered;
  circuit->metered_port = k->t.metered_port;
  circuit->metered_line = k->t.metered_line;
}
