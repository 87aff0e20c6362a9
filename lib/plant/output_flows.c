/* SPDX-License-Identifier: MIT */
/* Outputs of the plant for flow meters: through every element, and through both ports of directional valves.
 * They depend on the pressures alone, as far as the error state goes: spools follow the commands. */
#include "lib/plant/coupled_internal.h"
#include "lib/hydraulics/flows.h"

int bramah__is_flow(bramah__output_code code)
{
  return code >= BRAMAH__ORIFICE_FLOW && code <= BRAMAH__VALVE_FLOW_B;
}

double bramah__output_flow(const bramah_coupled *c, const bramah__output *output, double *by_p)
{
  const bramah__circuit *circuit = &c->model->circuit;
  const bramah__state *state = &c->state;
  const size_t i = output->index;
  if (output->code == BRAMAH__VALVE_FLOW_A || output->code == BRAMAH__VALVE_FLOW_B)
    return bramah__valve_port_flow(circuit, i, output->code == BRAMAH__VALVE_FLOW_B, state->p, state->U[i],
                                   by_p);
  const int kind = BRAMAH__ORIFICE + (int)output->code - (int)BRAMAH__ORIFICE_FLOW;
  return bramah__two_port_flow(circuit, (bramah__two_port_kind)kind, i, state->p, by_p);
}
