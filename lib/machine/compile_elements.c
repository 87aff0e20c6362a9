/* SPDX-License-Identifier: MIT */
/* Elements of the circuit beside volumes, orifices, directional valves and cylinders. */
#include "lib/machine/compile.h"

#include <math.h>
#include <string.h>

/* The two nodes of an element, which must not be one and the same. */
static bramah_status find_nodes(const bramah__compiler *k, const char *thing, int line, const char *from,
                                const char *to, size_t nodes[2])
{
  bramah_status status = bramah__find_node(k, thing, line, from, &nodes[0]);
  if (status == BRAMAH_OK) status = bramah__find_node(k, thing, line, to, &nodes[1]);
  if (status == BRAMAH_OK && nodes[0] == nodes[1])
    return bramah__compile_fail(k, BRAMAH_E_VALUE, thing, line, "both of its ends are the same");
  return status;
}

static bramah_status find_piston(const bramah__compiler *k, const bramah_leakage *in, size_t nodes[2])
{
  const bramah_model *m = k->model;
  const long i = bramah__find_name(m->circuit.n_cylinders, m->cylinder_name, in->cylinder);
  if (i < 0)
    return bramah__no_such(k, in->name, in->line, "cylinder", in->cylinder, m->circuit.n_cylinders,
                           m->cylinder_name);
  if (bramah__metered_cylinder(k, (size_t)i))
    return bramah__compile_fail(k, BRAMAH_E_VALUE, in->name, in->line,
                                "metered cylinders have no chambers between which it could leak");
  nodes[0] = k->t.cylinder[i].piston;
  nodes[1] = k->t.cylinder[i].rod;
  return BRAMAH_OK;
}

static bramah_status build_leakage(bramah__compiler *k, const bramah_leakage *in, bramah__leakage *out)
{
  size_t nodes[2] = {0, 0};
  bramah_status status = bramah__positive(k, in->conductance, in->name, in->line, "the conductance");
  if (status == BRAMAH_OK && in->cylinder && (in->from || in->to))
    status = bramah__compile_fail(k, BRAMAH_E_VALUE, in->name, in->line,
                                  "a leakage has either two nodes or a cylinder whose piston it passes");
  if (status == BRAMAH_OK)
    status =
        in->cylinder ? find_piston(k, in, nodes) : find_nodes(k, in->name, in->line, in->from, in->to, nodes);
  *out = (bramah__leakage){nodes[0], nodes[1], in->conductance};
  return status;
}

static bramah_status build_check_valve(bramah__compiler *k, const bramah_check_valve *in,
                                       bramah__check_valve *out)
{
  size_t nodes[2] = {0, 0};
  bramah_status status =
      bramah__positive(k, in->flow_coefficient, in->name, in->line, "the flow coefficient");
  if (status == BRAMAH_OK && !(in->cracking_pressure >= 0.0 && isfinite(in->cracking_pressure)))
    status = bramah__compile_fail(k, BRAMAH_E_VALUE, in->name, in->line,
                                  "the cracking pressure must not be negative");
  if (status == BRAMAH_OK) status = find_nodes(k, in->name, in->line, in->from, in->to, nodes);
  *out = (bramah__check_valve){nodes[0], nodes[1], in->flow_coefficient, in->cracking_pressure};
  return status;
}

static bramah_status build_relief_valve(bramah__compiler *k, const bramah_relief_valve *in,
                                        bramah__relief_valve *out)
{
  size_t nodes[2] = {0, 0};
  bramah_status status =
      bramah__positive(k, in->flow_coefficient, in->name, in->line, "the flow coefficient");
  if (status == BRAMAH_OK)
    status = bramah__positive(k, in->set_pressure, in->name, in->line, "the set pressure");
  if (status == BRAMAH_OK) status = bramah__positive(k, in->override, in->name, in->line, "the override");
  if (status == BRAMAH_OK) status = find_nodes(k, in->name, in->line, in->from, in->to, nodes);
  *out = (bramah__relief_valve){nodes[0], nodes[1], in->flow_coefficient, in->set_pressure, in->override};
  return status;
}

static bramah_status check_compensator(const bramah__compiler *k, const bramah_pump *in)
{
  if (in->set_pressure == 0.0 && in->band == 0.0) return BRAMAH_OK;
  if (in->set_pressure > 0.0 && isfinite(in->set_pressure) && in->band > 0.0 && in->band <= in->set_pressure)
    return BRAMAH_OK;
  return bramah__compile_fail(k, BRAMAH_E_VALUE, in->name, in->line,
                              "a compensator needs 0 < band <= set pressure");
}

static bramah_status build_pump(bramah__compiler *k, const bramah_pump *in, bramah__pump *out)
{
  size_t nodes[2] = {0, 0};
  const bramah_model *m = k->model;
  bramah_status status = bramah__positive(k, in->flow, in->name, in->line, "the flow");
  if (status == BRAMAH_OK) status = check_compensator(k, in);
  if (status == BRAMAH_OK && bramah__find_name(k->source->n_volumes, m->volume_name, in->into) < 0)
    status = bramah__no_such(k, in->name, in->line, "volume", in->into, k->source->n_volumes, m->volume_name);
  if (status == BRAMAH_OK) status = find_nodes(k, in->name, in->line, in->from, in->into, nodes);
  *out = (bramah__pump){nodes[0], nodes[1], in->flow, in->set_pressure, in->band};
  return status;
}

static bramah_status build_accumulator(bramah__compiler *k, const bramah_accumulator *in,
                                       bramah__accumulator *out)
{
  const bramah_model *m = k->model;
  bramah_status status = bramah__positive(k, in->gas_volume, in->name, in->line, "the gas volume");
  if (status == BRAMAH_OK) status = bramah__positive(k, in->precharge, in->name, in->line, "the precharge");
  if (status == BRAMAH_OK && in->exponent != 0.0 && !(in->exponent >= 1.0 && isfinite(in->exponent)))
    status = bramah__compile_fail(k, BRAMAH_E_VALUE, in->name, in->line,
                                  "the polytropic exponent must not be below 1");
  if (status != BRAMAH_OK) return status;
  const size_t n = k->source->n_volumes;
  const long i = bramah__find_name(n, m->volume_name, in->volume);
  if (i < 0) return bramah__no_such(k, in->name, in->line, "volume", in->volume, n, m->volume_name);
  *out = (bramah__accumulator){(size_t)i, in->gas_volume, in->precharge,
                               in->exponent > 0.0 ? in->exponent : 1.4};
  return BRAMAH_OK;
}

static bramah_status build_end_stop(const bramah__compiler *k, const bramah_cylinder *in,
                                    bramah__cylinder *out)
{
  const bramah_end_stop *stop = &in->end_stop;
  const int cushion = stop->cushion_length != 0.0 || stop->cushion_damping != 0.0;
  out->stop = (bramah__end_stop){stop->stiffness, stop->damping, stop->cushion_length, stop->cushion_damping};
  bramah_status status = BRAMAH_OK;
  if (cushion)
    status = bramah__positive(k, stop->cushion_length, in->name, in->line, "the length of the cushion");
  if (cushion && status == BRAMAH_OK)
    status = bramah__positive(k, stop->cushion_damping, in->name, in->line, "the damping of the cushion");
  if (status != BRAMAH_OK || (stop->stiffness == 0.0 && stop->damping == 0.0)) return status;
  status = bramah__positive(k, stop->stiffness, in->name, in->line, "the stiffness of the end stop");
  if (status != BRAMAH_OK) return status;
  if (!(stop->damping >= 0.0 && isfinite(stop->damping)))
    return bramah__compile_fail(k, BRAMAH_E_VALUE, in->name, in->line,
                                "the damping of the end stop must not be negative");
  if (out->metered) {
    if (isfinite(out->piston_length)) return BRAMAH_OK;
    return bramah__compile_fail(k, BRAMAH_E_VALUE, in->name, in->line, "an end stop needs chamber lengths");
  }
  if (k->t.volume[out->piston].hose_volume > 0.0 && k->t.volume[out->rod].hose_volume > 0.0) return BRAMAH_OK;
  return bramah__compile_fail(k, BRAMAH_E_VALUE, in->name, in->line,
                              "an end stop needs a hose at both volumes: an empty chamber has no compliance");
}

static bramah_status check_air(const bramah__compiler *k)
{
  const bramah_air *air = &k->machine->air;
  const char *message = NULL;
  if (!(air->fraction >= 0.0 && isfinite(air->fraction)))
    message = "the air fraction must not be negative";
  else if (air->exponent != 0.0 && !(air->exponent >= 1.0 && isfinite(air->exponent)))
    message = "the exponent of the air must not be below 1";
  else if (!(air->vapour_pressure >= 0.0 && isfinite(air->vapour_pressure)))
    message = "the vapour pressure must not be negative";
  else if (air->vapour_pressure > 0.0 && air->fraction == 0.0)
    message = "a vapour pressure needs an air fraction";
  return message ? bramah__compile_fail(k, BRAMAH_E_VALUE, "oil", 0, message) : BRAMAH_OK;
}

/* ---- characteristics of valves ---- */

static size_t count_points_of(const bramah_valve *valve)
{
  size_t n = valve->characteristic.n_points;
  for (int w = 0; w < BRAMAH_N_PORTS; w++) n += valve->ports[w].n_points;
  return n;
}

static size_t count_points(const bramah_machine *machine)
{
  size_t n = 0;
  for (size_t i = 0; i < machine->n_valves; i++) n += count_points_of(&machine->valves[i]);
  for (size_t i = 0; i < machine->n_metered_cylinders; i++)
    n += count_points_of(&machine->metered_cylinders[i].spool);
  return n;
}

/* Copy a characteristic to *next and move on. */
static bramah_status build_curve(const bramah__compiler *k, const bramah_valve *valve,
                                 const bramah_characteristic *in, double least, double **next,
                                 bramah__curve *out)
{
  const size_t n = in->n_points;
  double *x = *next, *y = x + n;
  if (n == 0) return BRAMAH_OK;
  if (n < 2)
    return bramah__compile_fail(k, BRAMAH_E_VALUE, valve->name, valve->line,
                                "a characteristic needs at least two points");
  for (size_t i = 0; i < n; i++) {
    x[i] = in->spools[i];
    y[i] = in->openings[i];
    if (!isfinite(x[i]) || !isfinite(y[i]) || (i > 0 && !(x[i] > x[i - 1])))
      return bramah__compile_fail(k, BRAMAH_E_VALUE, valve->name, valve->line,
                                  "the spools of a characteristic must ascend");
    if (!(y[i] >= least))
      return bramah__compile_fail(k, BRAMAH_E_VALUE, valve->name, valve->line,
                                  "the opening of a single way must not be negative");
  }
  *out = (bramah__curve){n, x, y};
  *next = y + n;
  return BRAMAH_OK;
}

static bramah_status build_opening(const bramah__compiler *k, const bramah_valve *in, double **next,
                                   bramah__opening *out)
{
  if (!(in->dead_band >= 0.0 && in->dead_band < in->limit))
    return bramah__compile_fail(k, BRAMAH_E_VALUE, in->name, in->line,
                                "the dead band must lie between 0 and the limit");
  if (in->dead_band > 0.0 && in->characteristic.n_points)
    return bramah__compile_fail(k, BRAMAH_E_VALUE, in->name, in->line,
                                "a valve has either a dead band or a characteristic");
  out->dead_band = in->dead_band;
  bramah_status status = build_curve(k, in, &in->characteristic, -INFINITY, next, &out->common);
  for (int w = 0; w < BRAMAH_N_PORTS && status == BRAMAH_OK; w++)
    status = build_curve(k, in, &in->ports[w], 0.0, next, &out->way[w]);
  return status;
}

void bramah__elements_layout(const bramah_machine *machine, bramah__tables *t, bramah__arena *arena)
{
  t->leakage = BRAMAH__TAKE(arena, bramah__leakage, machine->n_leakages);
  t->check_valve = BRAMAH__TAKE(arena, bramah__check_valve, machine->n_check_valves);
  t->relief_valve = BRAMAH__TAKE(arena, bramah__relief_valve, machine->n_relief_valves);
  t->pump = BRAMAH__TAKE(arena, bramah__pump, machine->n_pumps);
  t->accumulator = BRAMAH__TAKE(arena, bramah__accumulator, machine->n_accumulators);
  t->points = BRAMAH__TAKE(arena, double, 2 * count_points(machine));
}

bramah_status bramah__build_elements(bramah__compiler *k)
{
  const bramah_machine *d = k->machine;
  bramah_status status = check_air(k);
  double *next = k->t.points;
  for (size_t i = 0; i < d->n_valves && status == BRAMAH_OK; i++)
    status = build_opening(k, &d->valves[i], &next, &k->t.valve[i].opening);
  for (size_t i = 0; i < d->n_cylinders && status == BRAMAH_OK; i++)
    status = build_end_stop(k, &d->cylinders[i], &k->t.cylinder[i]);
  for (size_t i = 0; i < d->n_leakages && status == BRAMAH_OK; i++)
    status = build_leakage(k, &d->leakages[i], &k->t.leakage[i]);
  for (size_t i = 0; i < d->n_check_valves && status == BRAMAH_OK; i++)
    status = build_check_valve(k, &d->check_valves[i], &k->t.check_valve[i]);
  for (size_t i = 0; i < d->n_relief_valves && status == BRAMAH_OK; i++)
    status = build_relief_valve(k, &d->relief_valves[i], &k->t.relief_valve[i]);
  for (size_t i = 0; i < d->n_pumps && status == BRAMAH_OK; i++)
    status = build_pump(k, &d->pumps[i], &k->t.pump[i]);
  for (size_t i = 0; i < d->n_accumulators && status == BRAMAH_OK; i++)
    status = build_accumulator(k, &d->accumulators[i], &k->t.accumulator[i]);
  return status;
}

void bramah__elements_connect(bramah__compiler *k)
{
  bramah__circuit *circuit = &k->model->circuit;
  circuit->leakage = k->t.leakage;
  circuit->check_valve = k->t.check_valve;
  circuit->relief_valve = k->t.relief_valve;
  circuit->pump = k->t.pump;
  circuit->accumulator = k->t.accumulator;
  const bramah_air *air = &k->machine->air;
  circuit->air =
      (bramah__air){air->fraction, air->exponent > 0.0 ? air->exponent : 1.4, air->vapour_pressure};
}
