/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/cli/model_alone.h"
#include "lib/cli/message.h"

bramah_status cli_model_alone_start(cli_model_alone *alone, bramah_session *session, bramah_diag *diag)
{
  bramah_status status = bramah_coupled_new(bramah_session_model(session), diag, &alone->coupled);
  if (!status) status = bramah_session_start(session, alone->coupled, diag);
  if (status) return status;
  alone->plant = bramah_coupled_plant(alone->coupled);
  alone->running = 1;
  return BRAMAH_OK;
}

/* Without corrections the model may run to where it cannot be integrated any more: the comparison ends there,
 * not the replay. */
void cli_model_alone_step(cli_model_alone *alone, const double *inputs, double t)
{
  bramah_diag diag;
  if (!alone->running) return;
  bramah_status status = alone->plant.set_inputs(alone->plant.self, inputs, &diag);
  if (!status) status = alone->plant.step(alone->plant.self, &diag);
  if (!status) return;
  alone->running = 0;
  cli_note("the model without corrections ends at t = %.9g s: %s", t, diag.message);
}
