/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A look at machine, study and log: the whole. */
#define _POSIX_C_SOURCE 200809L /* locale_t */
#include "lib/assess/plausibility.h"
#include "lib/assess/assess_internal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

void bramah_plausibility_options_default(bramah_plausibility_options *options)
{
  *options = (bramah_plausibility_options){.from_ns = INT64_MIN, .to_ns = INT64_MAX, .motion = 1};
}

void bramah_plausibility_free(bramah_plausibility *plausibility) { free(plausibility); }

/* The doubts behind their list, what is certain first. */
static bramah_status finish(const bramah__look *look, bramah_diag *diag, bramah_plausibility **out)
{
  bramah_plausibility *p = malloc(sizeof *p + look->n_doubts * sizeof *p->doubt);
  if (!p) return bramah__fail_memory(diag);
  bramah_doubt *doubts = (bramah_doubt *)(void *)(p + 1);
  *p = (bramah_plausibility){.doubt = doubts};
  for (int certain = 1; certain >= 0; certain--) {
    for (size_t i = 0; i < look->n_doubts; i++)
      if (look->doubts[i].certain == certain) doubts[p->n++] = look->doubts[i];
    if (certain) p->n_certain = p->n;
  }
  *out = p;
  return BRAMAH_OK;
}

static bramah_status look_at(bramah__look *look, size_t n, const char *const *logs, bramah_diag *diag,
                             bramah_plausibility **out)
{
  bramah_diag ignored;
  bramah_diag_clear(diag);
  const bramah_machine *machine = look->machine->machine;
  look->n_inputs = look->machine->plant.n_input;
  look->n_slots = look->n_inputs + (look->study ? look->study->n_sensors : 0);
  look->doubts = calloc(BRAMAH__MOST_DOUBTS, sizeof *look->doubts);
  look->columns = calloc(look->n_slots + 1, sizeof *look->columns);
  bramah_status status = look->doubts && look->columns ? BRAMAH_OK : bramah__fail_memory(diag);
  if (!status && machine->file && bramah__source_open(machine->file, &ignored, &look->machine_file))
    look->machine_file = NULL;
  if (!status && look->study && bramah__source_open(look->study->file, &ignored, &look->study_file))
    look->study_file = NULL;
  if (!status) bramah__look_at_values(look);
  for (size_t i = 0; i < look->n_doubts; i++) look->options.motion &= !look->doubts[i].certain;
  if (!status && n) status = bramah__look_at_columns(look, n, logs, diag);
  const int moves = !status && look->n_kept > 2 && look->options.motion && look->machine->coupled;
  if (moves && look->study->n_unknown_inputs) bramah__look_at_filter(look);
  if (moves && !look->study->n_unknown_inputs) status = bramah__look_at_motion(look, diag);
  if (!status) status = finish(look, diag, out);
  bramah__source_free(look->machine_file);
  bramah__source_free(look->study_file);
  bramah_log_stream_close(look->log);
  free(look->doubts);
  free(look->columns);
  free(look->time_ns);
  free(look->value);
  return status;
}

bramah_status bramah_plausibility_new(const bramah_session *session, size_t n, const char *const *logs,
                                      const bramah_plausibility_options *options, bramah_diag *diag,
                                      bramah_plausibility **out)
{
  bramah__look look = {.session = session,
                       .machine = bramah_session_about(session)->machine,
                       .study = bramah_session_study(session)};
  if (options)
    look.options = *options;
  else
    bramah_plausibility_options_default(&look.options);
  return look_at(&look, n, logs, diag, out);
}

bramah_status bramah_plausibility_of_machine(const bramah_machine_plant *machine, bramah_diag *diag,
                                             bramah_plausibility **out)
{
  bramah__look look = {.machine = machine};
  bramah_plausibility_options_default(&look.options);
  return look_at(&look, 0, NULL, diag, out);
}

bramah_status bramah_assess_look_over(bramah_assess *assess, size_t n, const char *const *logs,
                                      int64_t from_ns, bramah_diag *diag, bramah_plausibility **out)
{
  static const int64_t begin_ns = INT64_C(20000000000);
  const bramah_assess_totals totals = bramah_assess_get_totals(assess);
  bramah_plausibility_options options;
  *out = NULL;
  if (!totals.estimates || totals.resumed) return BRAMAH_OK;
  for (size_t i = 0; i < n; i++) {
    struct stat about;
    if (strcmp(logs[i], "-") == 0 || stat(logs[i], &about) != 0 || !S_ISREG(about.st_mode)) return BRAMAH_OK;
  }
  bramah_plausibility_options_default(&options);
  options.from_ns = from_ns;
  options.to_ns = totals.last_ns < totals.first_ns + begin_ns ? totals.last_ns : totals.first_ns + begin_ns;
  options.motion = bramah_assess_get_results(assess)->verdict.contradicted;
  const bramah_status status = bramah_plausibility_new(assess->session, n, logs, &options, diag, out);
  if (!status && (*out)->n_certain) bramah_assess_doubt(assess, (*out)->doubt);
  return status;
}
