/* SPDX-License-Identifier: MIT */
/* The model: a machine compiled and checked. Immutable, shared by any number of threads and plants. */
#ifndef BRAMAH_MODEL_H
#define BRAMAH_MODEL_H

#include "bramah/machine.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct bramah_model bramah_model;

/* Bytes that bramah_model_init needs for this machine. */
BRAMAH_API size_t bramah_model_size(const bramah_machine *machine);

/* Compile the machine into mem [size bytes, aligned to 64]. Names are copied: the machine may go afterwards.
 * Resolves names, orders the tree from the root, checks values and closes the loops at the initial pose;
 * where volumes ask for it, solves their equilibrium pressures. No allocation. *out is mem on success,
 * untouched otherwise. Errors: E_REFERENCE, E_TOPOLOGY, E_VALUE, E_KEY (a name given twice), E_CLOSURE,
 * E_SINGULAR, E_ARGUMENT (memory too small, or a model lives in it already); diag names the element. */
BRAMAH_API bramah_status bramah_model_init(const bramah_machine *machine, void *mem, size_t size,
                                           bramah_diag *diag, const bramah_model **out);

/* The same in memory taken once; release with bramah_model_free. */
BRAMAH_API bramah_status bramah_model_new(const bramah_machine *machine, bramah_diag *diag,
                                          const bramah_model **out);
/* NULL allowed. Memory of the caller can be used again after it. */
BRAMAH_API void bramah_model_free(const bramah_model *model);

/* Coordinates of a type of joint: how many, and what is appended to the name of the joint to name each (""
 * for revolute and prismatic joints; NULL beyond the last). */
BRAMAH_API size_t bramah_joint_n_coordinates(bramah_joint_type type);
BRAMAH_API const char *bramah_joint_suffix(bramah_joint_type type, size_t i);

/* Counts. In a model a joint is a scalar coordinate: compound joints are chains of them. Behind the volumes
 * of the machine each metered cylinder counts as one, by its name: its load pressure. */
BRAMAH_API size_t bramah_model_n_joints(const bramah_model *model);
BRAMAH_API size_t bramah_model_n_volumes(const bramah_model *model);
BRAMAH_API size_t bramah_model_n_inputs(const bramah_model *model);
BRAMAH_API size_t bramah_model_n_cylinders(const bramah_model *model);
BRAMAH_API size_t bramah_model_n_rotaries(const bramah_model *model);
BRAMAH_API size_t bramah_model_degrees_of_freedom(const bramah_model *model);

/* Names, in the order of the model (joints: from the root outwards). NULL beyond the end. */
BRAMAH_API const char *bramah_model_name(const bramah_model *model);
BRAMAH_API const char *bramah_model_joint_name(const bramah_model *model, size_t i);
BRAMAH_API const char *bramah_model_volume_name(const bramah_model *model, size_t i);
BRAMAH_API const char *bramah_model_input_name(const bramah_model *model, size_t i);

/* Whether joint i turns (1) or slides (0). */
BRAMAH_API int bramah_model_joint_is_revolute(const bramah_model *model, size_t i);

/* Joints whose coordinates are independent at the initial pose: j [degrees_of_freedom] indices. */
BRAMAH_API void bramah_model_independent_joints(const bramah_model *model, size_t *j);

/* Initial pressure of volume i [Pa], solved where the machine asked for equilibrium. */
BRAMAH_API double bramah_model_initial_pressure(const bramah_model *model, size_t i);

/* Length of one step. */
BRAMAH_API int64_t bramah_model_step_ns(const bramah_model *model);

/* The commands that a machine plans for its inputs, over time: each value holds from its time until the next;
 * before the first, 0. Machine and model must outlive it. Errors: E_MEMORY. */
typedef struct bramah_schedule bramah_schedule;
BRAMAH_API bramah_status bramah_schedule_new(const bramah_machine *machine, const bramah_model *model,
                                             bramah_diag *diag, bramah_schedule **out);
BRAMAH_API void bramah_schedule_free(bramah_schedule *schedule); /* NULL allowed */
/* Commands u [inputs of the model], in their order, from this time on; they hold until the next call. Times
 * must not decrease from call to call. Allocates nothing. */
BRAMAH_API const double *bramah_schedule_at(bramah_schedule *schedule, int64_t time_ns);

#ifdef __cplusplus
}
#endif
#endif
