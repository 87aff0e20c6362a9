/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Who drives a simulated machine, and where its levers are. */
#include "bramah/serve.h"
#include "lib/io/fail.h"

#include <math.h>
#include <string.h>

bramah_status bramah_levers_of(const bramah_display_file *file, size_t n_inputs, const char *const *inputs,
                               bramah_diag *diag, bramah_levers *levers)
{
  bramah_diag_clear(diag);
  *levers = (bramah_levers){.n = n_inputs};
  if (!file || !file->n_levers)
    return bramah__failf(diag, BRAMAH_E_KEY, file ? file->file : NULL, 0, "drive",
                         "the display has no levers: its section `drive` says how commands are given");
  if (n_inputs > BRAMAH_LEVERS)
    return bramah__failf(diag, BRAMAH_E_VALUE, file->file, 0, "drive",
                         "machines with at most %d inputs can be driven", BRAMAH_LEVERS);
  for (size_t i = 0; i < n_inputs; i++)
    for (size_t k = 0; k < file->n_levers; k++) {
      const bramah_display_lever *from = &file->levers[k];
      if (strcmp(from->name, inputs[i]) != 0) continue;
      levers->lever[i] =
          (struct bramah_lever){1, from->range[0], from->range[1], from->neutral, from->neutral};
    }
  return BRAMAH_OK;
}

static void let_go(bramah_levers *levers)
{
  levers->driver = 0;
  for (size_t i = 0; i < levers->n; i++) levers->lever[i].value = levers->lever[i].neutral;
}

static int is_gone(const bramah_levers *levers, double now)
{
  return levers->driver && now - levers->heard > BRAMAH_DEAD_MAN;
}

int bramah_levers_move(bramah_levers *levers, const bramah_control *control, double now)
{
  if (is_gone(levers, now)) let_go(levers);
  if (levers->driver && levers->driver != control->driver) return 0;
  levers->driver = control->driver;
  levers->heard = now;
  for (size_t i = 0; i < control->n_levers && i < levers->n; i++)
    if (!isnan(control->lever[i]))
      levers->lever[i].value = fmin(fmax(control->lever[i], levers->lever[i].low), levers->lever[i].high);
  if (!control->n_levers) let_go(levers);
  return 1;
}

int bramah_levers_at(bramah_levers *levers, double now, double *u)
{
  const int gone = is_gone(levers, now);
  if (gone) let_go(levers);
  for (size_t i = 0; i < levers->n; i++)
    if (levers->lever[i].is_driven) u[i] = levers->lever[i].value;
  return gone;
}
