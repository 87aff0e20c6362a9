/* SPDX-License-Identifier: MIT */
/* Outputs of the plant for flow meters: through every element, and through both ports of directional valves.
 * They depend on the pressures alone, as far as the error state goes: spools follow the commands. */
#include "lib/plant/coupled_internal.h"

int bramah__is_flow(bramah__output_code code)
{
  return code >= BRAMAH__ELEMENT_FLOW && code <= BRAMAH__VALVE_FLOW_B;
}

double bramah__output_flow(const bramah_coupled *c, const bramah__output *output, double *by_p)
{
  const bramah__circuit *circuit = &c->model->circuit;
  const bramah__state *state = &c->state;
  const size_t i = output->index;
  if (output->code == BRAMAH__VALVE_FLOW_A || output->code == BRAMAH__VALVE_FLOW_B)
    return bramah__valve_port_flow(circuit, i, output->code == BRAMAH__VALVE_FLOW_B, state->p, state->U[i],
                                   by_p);
  return bramah__element_flow(circuit, i, state->p, by_p);
}
