/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Estimates as tables of columns, for programs that plot them or go on to compute with them. */
#include "lib/assess/assess_internal.h"
#include "lib/base/diag.h"

#include <math.h>

/* Value of a row of `table` that may be unwanted. */
static void put(double *table, size_t at, double value)
{
  if (table) table[at] = value;
}

bramah_status bramah_estimate_table_add(bramah_estimate_table *t, const bramah_assess *a,
                                        const bramah_estimate *e, bramah_diag *diag)
{
  bramah_diag_clear(diag);
  if (t->n >= t->room)
    return bramah__fail(diag, BRAMAH_E_ARGUMENT, NULL, "the table has no room for another time");
  const size_t i = t->n++;
  if (t->time_ns) t->time_ns[i] = e->time_ns;
  put(t->nis, i, e->nis);
  put(t->dof, i, (double)e->dof);
  for (size_t j = 0; j < a->n_outputs; j++) {
    const size_t output = a->outputs[j].output, at = j * t->room + i;
    put(t->value, at, e->value[output]);
    put(t->sigma, at, e->sigma[output]);
    put(t->truth, at, e->truth[output]);
    put(t->model, at, e->model[output]);
  }
  for (size_t j = 0; j < a->n_sensors; j++) {
    const bramah_innovation *in = &e->innovation[j];
    const size_t at = j * t->room + i;
    put(t->measured, at, e->measured[j]);
    put(t->innovation, at, in->present ? in->innovation : (double)NAN);
    put(t->deviation, at, in->present ? in->sigma : (double)NAN);
    put(t->accepted, at, in->present ? (double)in->accepted : (double)NAN);
  }
  for (size_t j = 0; j < a->n_augmented; j++) {
    put(t->augmented, j * t->room + i, e->augmented[j].value);
    put(t->augmented_sigma, j * t->room + i, e->augmented[j].sigma);
  }
  return BRAMAH_OK;
}

bramah_status bramah_assess_fill(bramah_assess *assess, bramah_estimate_table *table, int *end,
                                 bramah_diag *diag)
{
  bramah_status status = BRAMAH_OK;
  for (*end = 0; !status && !*end && table->n < table->room;) {
    status = bramah_assess_next(assess, end, diag);
    if (!status && !*end)
      status = bramah_estimate_table_add(table, assess, bramah_assess_estimate(assess), diag);
  }
  return status;
}
