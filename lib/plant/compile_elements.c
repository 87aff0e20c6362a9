/* SPDX-License-Identifier: MIT */
/* Elements of the circuit beside volumes, throttles, directional valves and cylinders. */
#include "lib/plant/compile_internal.h"

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

void bramah__elements_layout(const bramah_machine *machine, bramah__tables *t, bramah__arena *arena)
{
  t->leakage = BRAMAH__TAKE(arena, bramah__leakage, machine->n_leakages);
}

bramah_status bramah__build_elements(bramah__compiler *k)
{
  const bramah_machine *d = k->machine;
  bramah_status status = BRAMAH_OK;
  for (size_t i = 0; i < d->n_leakages && status == BRAMAH_OK; i++)
    status = build_leakage(k, &d->leakages[i], &k->t.leakage[i]);
  return status;
}

void bramah__elements_connect(bramah__compiler *k)
{
  bramah__circuit *circuit = &k->model->circuit;
  circuit->n_leakages = k->machine->n_leakages;
  circuit->leakage = k->t.leakage;
}
