/* SPDX-License-Identifier: MIT */
/* Questions to a compiled model. */
#include "lib/machine/model_internal.h"
#include "bramah/machine.h"
#include "lib/base/diag.h"

#include <stdlib.h>
#include <string.h>

size_t bramah_model_n_joints(const bramah_model *model) { return model->n; }
size_t bramah_model_n_volumes(const bramah_model *model) { return model->circuit.n_volumes; }
size_t bramah_model_n_inputs(const bramah_model *model) { return model->n_inputs; }
size_t bramah_model_n_cylinders(const bramah_model *model)
{
  return model->circuit.n_cylinders - model->n_rotaries;
}

size_t bramah_model_n_rotaries(const bramah_model *model) { return model->n_rotaries; }
size_t bramah_model_degrees_of_freedom(const bramah_model *model) { return model->n_independent; }
const char *bramah_model_name(const bramah_model *model) { return model->name; }

const char *bramah_model_joint_name(const bramah_model *model, size_t i)
{
  return i < model->n ? model->joint_name[i] : NULL;
}

const char *bramah_model_volume_name(const bramah_model *model, size_t i)
{
  return i < model->circuit.n_volumes ? model->volume_name[i] : NULL;
}

const char *bramah_model_input_name(const bramah_model *model, size_t i)
{
  return i < model->n_inputs ? model->input_name[i] : NULL;
}

int bramah_model_joint_is_revolute(const bramah_model *model, size_t i)
{
  return i < model->n && model->tree.link[i].revolute;
}

void bramah_model_independent_joints(const bramah_model *model, size_t *j)
{
  for (size_t f = 0; f < model->n_independent; f++) j[f] = (size_t)model->index0[model->n_dependent + f];
}

double bramah_model_initial_pressure(const bramah_model *model, size_t i) { return model->p0[i]; }
int64_t bramah_model_step_ns(const bramah_model *model) { return model->step_ns; }

struct bramah_schedule {
  size_t n;
  double *u; /* [n] */
  struct planned {
    const bramah_input *input; /* NULL: none is planned */
    size_t next;               /* first point that has not come yet */
  } planned[];                 /* [n] in the model's order */
};

bramah_status bramah_schedule_new(const bramah_machine *machine, const bramah_model *model, bramah_diag *diag,
                                  bramah_schedule **out)
{
  const size_t n = bramah_model_n_inputs(model);
  bramah_schedule *schedule = calloc(1, sizeof *schedule + n * sizeof schedule->planned[0]);
  if (schedule) schedule->u = calloc(n + 1, sizeof *schedule->u);
  if (!schedule || !schedule->u) {
    free(schedule);
    return bramah__fail(diag, BRAMAH_E_MEMORY, NULL, "out of memory");
  }
  schedule->n = n;
  for (size_t i = 0; i < n; i++)
    for (size_t k = 0; k < machine->n_inputs; k++)
      if (strcmp(machine->inputs[k].name, bramah_model_input_name(model, i)) == 0)
        schedule->planned[i].input = &machine->inputs[k];
  *out = schedule;
  return BRAMAH_OK;
}

void bramah_schedule_free(bramah_schedule *schedule)
{
  if (!schedule) return;
  free(schedule->u);
  free(schedule);
}

const double *bramah_schedule_at(bramah_schedule *schedule, int64_t time_ns)
{
  for (size_t i = 0; i < schedule->n; i++) {
    struct planned *p = &schedule->planned[i];
    /* Whole nanoseconds: a point at 2.5 s is reached in the step that ends there, whatever the rounding of
     * sums. */
    while (p->input && p->next < p->input->n_points && p->input->times[p->next] * 1e9 < (double)time_ns + 0.5)
      schedule->u[i] = p->input->values[p->next++];
  }
  return schedule->u;
}
