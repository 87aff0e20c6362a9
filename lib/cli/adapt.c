/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/cli/adapt.h"
#include "lib/cli/message.h"

#include <math.h>
#include <stdlib.h>

static bramah_status predicted(void *user, bramah_filter *filter, bramah_diag *diag)
{
  (void)filter, (void)diag;
  bramah_adaptive_predicted(user);
  return BRAMAH_OK;
}

static bramah_status corrected(void *user, bramah_filter *filter, bramah_diag *diag)
{
  (void)filter, (void)diag;
  bramah_adaptive_corrected(user);
  return BRAMAH_OK;
}

/* What was stated, for the table at the end. */
static bramah_status keep_stated(cli_adapt *adapt, const bramah_filter *filter, bramah_diag *diag)
{
  const bramah_plant *plant = bramah_filter_plant(filter);
  const size_t nf = plant->n_dof, np = plant->n_first_order, ns = bramah_filter_n_sensors(filter);
  adapt->stated = calloc(nf + np + ns + 1, sizeof *adapt->stated);
  if (!adapt->stated) return cli_fail(diag, BRAMAH_E_MEMORY, NULL, 0, NULL, "out of memory");
  for (size_t i = 0; i < nf; i++) adapt->stated[i] = bramah_filter_acceleration_noise(filter)[i];
  for (size_t i = 0; i < np; i++) adapt->stated[nf + i] = bramah_filter_first_order_noise(filter)[i];
  for (size_t i = 0; i < ns; i++) adapt->stated[nf + np + i] = bramah_filter_sensor(filter, i)->sigma;
  return BRAMAH_OK;
}

bramah_status cli_adapt_open(cli_adapt *adapt, const bramah_session *session, bramah_replay *replay,
                             bramah_diag *diag)
{
  const bramah_study *study = bramah_session_study(session);
  if (!study->adapt.line) return BRAMAH_OK;
  bramah_diag_clear(diag);
  if (bramah_replay_rewind(replay))
    return cli_fail(diag, BRAMAH_E_VALUE, study->file, study->adapt.line, "adapt",
                    "noise does not adapt where sensors have a delay");
  bramah_status status = keep_stated(adapt, bramah_session_filter(session), diag);
  if (!status) status = bramah_session_new_adaptive(session, diag, &adapt->adaptive);
  if (status) return status;
  const bramah_watcher watcher = {adapt->adaptive, predicted, corrected, NULL};
  bramah_replay_watch(replay, &watcher);
  return BRAMAH_OK;
}

void cli_adapt_close(cli_adapt *adapt)
{
  bramah_adaptive_free(adapt->adaptive);
  free(adapt->stated);
}

/* Name of a figure, and what was stated for it. */
static const char *figure_name(const bramah_filter *filter, const bramah_adaptive_figure *figure)
{
  const bramah_plant *plant = bramah_filter_plant(filter);
  if (figure->kind == BRAMAH_ADAPTIVE_SENSOR) return bramah_filter_sensor(filter, figure->index)->name;
  return bramah_plant_state_name(plant, figure->kind == BRAMAH_ADAPTIVE_FIRST_ORDER
                                            ? 2 * plant->n_dof + figure->index
                                            : plant->n_dof + figure->index);
}

cli_table cli_adapt_table(const cli_adapt *adapt, const bramah_filter *filter)
{
  static const char *const header[] = {"noise of", "times what is stated", "sigma of this", ""};
  const bramah_plant *plant = bramah_filter_plant(filter);
  const size_t first[] = {0, 0, plant->n_dof, plant->n_dof + plant->n_first_order};
  cli_table table = cli_table_make("Adapted noise, at the end", "lrrl", header);
  for (size_t k = 0; k < bramah_adaptive_count(adapt->adaptive); k++) {
    const bramah_adaptive_figure figure = bramah_adaptive_get(adapt->adaptive, k);
    const double stated = adapt->stated[first[figure.kind] + figure.index];
    cli_table_add(&table, "%s", figure_name(filter, &figure));
    cli_table_add(&table, "%.3g", figure.value / stated);
    cli_table_add_number(&table, figure.sigma / stated);
    cli_table_add(&table, "%s", figure.limited ? "at its limit" : "");
  }
  return table;
}
