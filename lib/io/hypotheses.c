/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Model hypotheses of a study: their values bound to the machine, and the session on which one of them holds. */
#define _GNU_SOURCE /* locale_t */
#include "lib/base/diag.h"
#include "lib/io/fail.h"
#include "lib/io/session.h"
#include "lib/io/study_file.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bramah_status bramah__refuse_hypotheses(const bramah_study *study, const char *what, bramah_diag *diag)
{
  if (!study->hypotheses.n) return BRAMAH_OK;
  return bramah__failf(diag, BRAMAH_E_UNSUPPORTED, study->file, study->hypotheses.line, "hypotheses",
                       "are for 'bramah replay': %s goes by one model, take this section out", what);
}

/* ---- bound to the machine ---- */

static bramah_status in_study(const bramah_study *study, const bramah_study_hypothesis *hypothesis,
                              const bramah_study_parameter *from, bramah_status status, bramah_diag *diag)
{
  if (!status || !diag) return status;
  snprintf(diag->file, sizeof diag->file, "%s", study->file);
  snprintf(diag->thing, sizeof diag->thing, "hypotheses.%s.%s", hypothesis->name, from->name);
  const int of_value = status != BRAMAH_E_REFERENCE && from->value.text;
  diag->line = of_value ? from->value.line : from->line;
  diag->column = of_value ? from->value.column : 0;
  return status;
}

/* The parameter and its value in SI. */
static bramah_status bind_parameter(const bramah_session *session, const bramah_study_parameter *from,
                                    bramah__fixed *out, bramah_diag *diag)
{
  const bramah_study *study = session->study;
  const bramah_plant *plant = &session->machine.plant;
  bramah_parameter_info info;
  bramah_status status = bramah_plant_parameter_index(plant, from->name, &out->parameter, diag);
  if (status) return status;
  for (size_t i = 0; i < study->n_augmented; i++)
    if (study->augmented[i].kind == BRAMAH_AUGMENTED_PARAMETER &&
        strcmp(study->augmented[i].at, from->name) == 0)
      return bramah__fail(diag, BRAMAH_E_VALUE, NULL,
                          "the study estimates this parameter: it cannot be given a value too");
  plant->parameter_info(plant->self, out->parameter, &info);
  out->value = info.nominal * (1.0 + from->share);
  if (from->value.text) status = bramah__study_value_get(&from->value, info.unit, &out->value, diag);
  if (status) return status;
  if (!from->value.text && info.nominal == 0.0)
    return bramah__fail(diag, BRAMAH_E_VALUE, NULL, "a share of 0: give it with its unit");
  if (out->value >= info.least && out->value <= info.most) return BRAMAH_OK;
  const int is_low = out->value < info.least;
  return bramah__failf(diag, BRAMAH_E_VALUE, NULL, 0, NULL, "the model does not take this value: %s %.6g %s",
                       is_low ? "at least" : "at most", is_low ? info.least : info.most, info.unit);
}

bramah_status bramah__session_take_hypotheses(bramah_session *session, bramah_diag *diag)
{
  const bramah_study *study = session->study;
  const bramah_study_hypotheses *h = &study->hypotheses;
  bramah_status status = BRAMAH_OK;
  size_t n = 0;
  if (session->fixed) return BRAMAH_OK; /* whoever opens the session says what holds */
  for (size_t i = 0; i < h->n; i++) n += h->list[i].n;
  session->fixed = calloc(n + 1, sizeof *session->fixed);
  if (!session->fixed) return bramah__fail_memory(diag);
  session->n_fixed = n;
  n = 0;
  for (size_t i = 0; !status && i < h->n; i++)
    for (size_t k = 0; !status && k < h->list[i].n; k++, n++) {
      const bramah_study_parameter *from = &h->list[i].parameters[k];
      bramah_diag_clear(diag);
      status = bind_parameter(session, from, &session->fixed[n], diag);
      session->fixed[n].hypothesis = i;
      status = in_study(study, &h->list[i], from, status, diag);
    }
  return status;
}

int bramah__session_is_fixed(const bramah_session *session, size_t parameter)
{
  for (size_t i = 0; i < session->n_fixed; i++)
    if (session->fixed[i].parameter == parameter) return 1;
  return 0;
}

bramah_status bramah__session_apply_hypothesis(const bramah_session *session, const bramah_plant *plant,
                                               bramah_diag *diag)
{
  bramah_status status = BRAMAH_OK;
  for (size_t i = 0; !status && session->holds && i < session->n_fixed; i++)
    if (session->fixed[i].hypothesis == session->holds - 1)
      status = plant->set_parameter(plant->self, session->fixed[i].parameter, session->fixed[i].value, diag);
  return status;
}
