/* SPDX-License-Identifier: MIT */
/* Questions to a compiled model. */
#include "lib/machine/model_internal.h"

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
