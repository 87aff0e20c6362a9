/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Parts of bramah/session.h. */
#ifndef BRAMAH_LIB_IO_SESSION_H
#define BRAMAH_LIB_IO_SESSION_H

#include "bramah/session.h"

/* Start values of the filter, in the order the plant wants them. */
typedef struct bramah__start_values {
  size_t *joints, *basis;  /* [n_position] index of the joint; of the output that is its position */
  double *position, *rate; /* [n_position] [rad] or [m], and per second */
  double *position_sigma, *rate_sigma, *acceleration_noise; /* [n_position] */
  double *pressure, *pressure_sigma, *pressure_noise;       /* [n_pressure] [Pa], [Pa], [Pa/sqrt(s)] */
} bramah__start_values;

/* Augmented states and noise on parameters, bound to the machine. */
typedef struct bramah__bound_augmented {
  bramah_augmented *states;      /* [study->n_augmented] */
  const char **unit;             /* [study->n_augmented] of their values */
  bramah_parameter_noise *noise; /* [study->n_parameter_noise] */
  const char **noise_unit;       /* [study->n_parameter_noise] of the parameters */
} bramah__bound_augmented;

struct bramah_session {
  const bramah_session *shares; /* of a clone: whose study, model and sensors these are; else NULL */
  bramah_study *study;
  int64_t step_ns; /* of the plant; 0: the machine's */
  bramah_machine_plant machine;
  bramah_sensor *sensors; /* [study->n_sensors] */
  bramah__start_values start;
  bramah__bound_augmented augmented;
  bramah_filter *filter;
};

/* Steps of opening a session whose study and step_ns are there and all else is zero, in this order; each
 * needs what comes before it to have gone well. bramah_session_close releases what they take. */
bramah_status bramah__session_open_machine(bramah_session *session, bramah_diag *diag);
bramah_status bramah__session_make_room(bramah_session *session, bramah_diag *diag);
bramah_status bramah__session_bind_sensor(bramah_session *session, size_t i, bramah_diag *diag);
/* The sensor of a bias must be bound. */
bramah_status bramah__session_bind_augmented(bramah_session *session, size_t i, bramah_diag *diag);
bramah_status bramah__session_bind_parameter_noise(bramah_session *session, size_t i, bramah_diag *diag);
bramah_status bramah__session_find_joints(bramah_session *session, bramah_diag *diag);
bramah_status bramah__session_find_volumes(bramah_session *session, bramah_diag *diag);
bramah_status bramah__session_open_filter(bramah_session *session, bramah_diag *diag);

/* All after the machine; all of it. */
bramah_status bramah__session_open_on_machine(bramah_session *session, bramah_diag *diag);
bramah_status bramah__session_open_study(bramah_session *session, bramah_diag *diag);

/* The study's machine with its changes and what was set, from memory. */
bramah_status bramah__study_load_machine(bramah_study *study, bramah_diag *diag, bramah_machine **out);

/* The sensor whose bias augmented state i of the study is; n_sensors for a parameter. */
size_t bramah__study_augmented_sensor(const bramah_study *study, size_t i);

typedef const char *(*bramah__name_of)(const bramah_model *model, size_t i);

/* Index of a name of the study among those of the model. Errors: E_REFERENCE, which suggests the nearest or
 * lists them all; `what` they are goes into the message. */
bramah_status bramah__find_model_name(const bramah_study *study, const bramah_model *model, const char *what,
                                      const char *name, int line, bramah__name_of at, size_t *out,
                                      bramah_diag *diag);

/* Say in which file it was, if the one who found the mistake did not know. */
void bramah__in_file(bramah_diag *diag, const char *file, int line);

bramah_status bramah__make_augmented(bramah__bound_augmented *augmented, const bramah_study *study,
                                     bramah_diag *diag);
void bramah__free_augmented(bramah__bound_augmented *augmented);

#endif
