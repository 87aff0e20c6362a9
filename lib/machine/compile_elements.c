/* SPDX-License-Identifier: MIT */
/* Elements of the circuit other than volumes, orifices, directional valves and cylinders. */
#include "lib/machine/compile.h"
#include "lib/base/diag.h"

#include <math.h>
#include <string.h>

/* The value of a quantity, or what it is when it is not given; refused where it is out of range. */
static bramah_status take_value(const bramah__compiler *k, const bramah_named *in,
                                const bramah_element_key *key, double *out)
{
  memcpy(out, (const unsigned char *)in + key->offset, sizeof *out);
  if (*out == 0.0 && !key->required) {
    *out = key->otherwise;
    return BRAMAH_OK;
  }
  if (key->range == BRAMAH_KEY_ANY && isfinite(*out)) return BRAMAH_OK;
  if (key->range == BRAMAH_KEY_POSITIVE) return bramah__positive(k, *out, in->name, in->line, key->what);
  const int from_one = key->range == BRAMAH_KEY_FROM_ONE;
  if (*out >= (from_one ? 1.0 : 0.0) && isfinite(*out)) return BRAMAH_OK;
  bramah__compile_fail(k, BRAMAH_E_VALUE, in->name, in->line, key->what);
  bramah__add_text(k->diag, from_one ? " must not be below 1" : " must not be negative");
  return BRAMAH_E_VALUE;
}

/* Two nodes, which must not be one and the same, or a cylinder instead; or one volume. */
static bramah_status take_nodes(const bramah__compiler *k, const bramah_named *in,
                                const bramah_element_key *keys, size_t nodes[2])
{
  size_t n = 0, given = 0;
  const char *cylinder = NULL;
  bramah_status status = BRAMAH_OK;
  for (const bramah_element_key *key = keys; key->name; key++) {
    if (key->type != BRAMAH_KEY_NODE && key->type != BRAMAH_KEY_CYLINDER) continue;
    const char *name;
    memcpy(&name, (const unsigned char *)in + key->offset, sizeof name);
    if (key->type == BRAMAH_KEY_CYLINDER)
      cylinder = name;
    else
      given += name != NULL;
  }
  if (cylinder && given)
    return bramah__compile_fail(k, BRAMAH_E_VALUE, in->name, in->line,
                                "it has either two nodes or a cylinder whose piston it passes");
  const bramah_model *m = k->model;
  if (cylinder) { /* the two volumes of it */
    const long i = bramah__find_name(m->circuit.n_cylinders, m->cylinder_name, cylinder);
    if (i < 0)
      return bramah__no_such(k, in->name, in->line, "cylinder", cylinder, m->circuit.n_cylinders,
                             m->cylinder_name);
    if (bramah__metered_cylinder(k, (size_t)i))
      return bramah__compile_fail(k, BRAMAH_E_VALUE, in->name, in->line,
                                  "metered cylinders have no chambers between which it could leak");
    nodes[0] = k->t.cylinder[i].piston;
    nodes[1] = k->t.cylinder[i].rod;
    return BRAMAH_OK;
  }
  for (const bramah_element_key *key = keys; key->name && status == BRAMAH_OK; key++) {
    if (key->type != BRAMAH_KEY_NODE && key->type != BRAMAH_KEY_VOLUME) continue;
    const char *name;
    memcpy(&name, (const unsigned char *)in + key->offset, sizeof name);
    if (key->type == BRAMAH_KEY_VOLUME && bramah__find_name(k->source->n_volumes, m->volume_name, name) < 0)
      return bramah__no_such(k, in->name, in->line, "volume", name, k->source->n_volumes, m->volume_name);
    status = bramah__find_node(k, in->name, in->line, name, &nodes[n++]);
  }
  if (status == BRAMAH_OK && n == 2 && nodes[0] == nodes[1])
    return bramah__compile_fail(k, BRAMAH_E_VALUE, in->name, in->line, "both of its ends are the same");
  return status;
}

static bramah_status build_element(const bramah__compiler *k, const bramah_named *in,
                                   const bramah_element_kind *kind, bramah__element *out)
{
  size_t n = 0;
  bramah_status status = BRAMAH_OK;
  const char *fault;
  for (const bramah_element_key *key = kind->keys; key->name && status == BRAMAH_OK; key++)
    if (key->type == BRAMAH_KEY_QUANTITY && !key->factor_of)
      status = take_value(k, in, key, &out->value[n++]);
  if (status == BRAMAH_OK && kind->check && (fault = kind->check(in, &(const char *){NULL})) != NULL)
    return bramah__compile_fail(k, BRAMAH_E_VALUE, in->name, in->line, fault);
  return status == BRAMAH_OK ? take_nodes(k, in, kind->keys, out->node) : status;
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
                                  "the opening of a single flow path must not be negative");
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
    status = build_curve(k, in, &in->ports[w], 0.0, next, &out->path[w]);
  return status;
}

void bramah__elements_layout(const bramah_machine *machine, bramah__tables *t, bramah__arena *arena)
{
  t->element = BRAMAH__TAKE(arena, bramah__element, bramah__count_elements(machine).n);
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
  size_t next_element = 0;
  for (int kind = 0; kind < BRAMAH__N_ELEMENT_KINDS; kind++) {
    const bramah_element_kind *description = &bramah__element_kinds[kind]->description;
    const size_t n = bramah_machine_n_elements(d, description);
    for (size_t i = 0; i < n && status == BRAMAH_OK; i++) {
      bramah__element *out = &k->t.element[next_element++];
      out->kind = kind;
      status = build_element(k, bramah_machine_element(d, description, i), description, out);
    }
  }
  return status;
}

void bramah__elements_connect(bramah__compiler *k)
{
  bramah__circuit *circuit = &k->model->circuit;
  circuit->element = k->t.element;
  const bramah_air *air = &k->machine->air;
  circuit->air =
      (bramah__air){air->fraction, air->exponent > 0.0 ? air->exponent : 1.4, air->vapour_pressure};
}
