/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From files to a running filter: what was tuned on logs with a study file runs in a program with the same
 * file, figure for figure. Part of libbramah-tools. Memory is taken while opening and never afterwards.
 *
 *   bramah_session s;
 *   if (bramah_session_open(&s, "boom-study.yaml", &diag)) ... diag says what and where ...
 *   bramah_filter_step(s.filter, &cycle, &result, &diag);    again and again
 *   bramah_session_close(&s);
 *
 * Everything but the functions' own arguments is to be read only. A session stays where it was opened: its
 * parts point into it. Nothing is shared between sessions; each may live on a thread of its own. */
#ifndef BRAMAH_SESSION_H
#define BRAMAH_SESSION_H

#include "bramah/adaptive.h"
#include "bramah/coupled.h"
#include "bramah/files.h"
#include "bramah/filter.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A machine file and the plant made from it. */
typedef struct bramah_machine_plant {
  bramah_machine *machine;
  bramah_valve *valves;             /* the machine's when they differ from its file, else NULL */
  bramah_metered_cylinder *metered; /* likewise */
  const bramah_model *model;
  bramah_coupled *coupled;
  bramah_plant plant;
} bramah_machine_plant;

/* Load, compile, make the plant; it stands where the machine file says. step_ns 0: that of the file. *out is
 * filled whatever it held before, and is released by bramah_machine_plant_close, after an error too. Errors:
 * those of bramah_machine_load, bramah_model_new, E_MEMORY. */
BRAMAH_API bramah_status bramah_machine_plant_open(bramah_machine_plant *out, const char *path,
                                                   size_t n_changes, const bramah_change *changes,
                                                   int64_t step_ns, bramah_diag *diag);
BRAMAH_API void bramah_machine_plant_close(bramah_machine_plant *machine);

/* Start values of the filter, in the order the plant wants them. */
typedef struct bramah_session_values {
  size_t *joints, *basis;  /* [n_position] index of the joint; of the output that is its position */
  double *position, *rate; /* [n_position] [rad] or [m], and per second */
  double *position_sigma, *rate_sigma, *acceleration_noise; /* [n_position] */
  double *pressure, *pressure_sigma, *pressure_noise;       /* [n_pressure] [Pa], [Pa], [Pa/sqrt(s)] */
} bramah_session_values;

/* What the filter estimates beside the state, and noise on parameters, bound to the machine. */
typedef struct bramah_session_augmented {
  bramah_augmented *states;      /* [study->n_augmented] */
  const char **unit;             /* [study->n_augmented] of their values */
  bramah_parameter_noise *noise; /* [study->n_parameter_noise] */
  const char **noise_unit;       /* [study->n_parameter_noise] of the parameters */
} bramah_session_augmented;

/* A study with its machine, sensors and filter. */
typedef struct bramah_session {
  bramah_study *study;
  int64_t step_ns; /* of the plant; 0: the machine's */
  bramah_machine_plant machine;
  bramah_sensor *sensors; /* [study->n_sensors] */
  bramah_session_values start;
  bramah_session_augmented augmented;
  bramah_filter *filter; /* NULL until bramah_session_open_filter */
} bramah_session;

/* All of it: the filter stands at the study's start, t = 0. Inputs are those of the machine in its order
 * (bramah_model_input_name), sensors those of the study in its order. *out is filled whatever it held before.
 * Whatever was made is released by bramah_session_close, after an error too. Not set up here: `adapt`
 * (bramah_session_new_adaptive), `log` (bramah/log.h), and the buffer that sensors with a `delay` need
 * (bramah/rewind.h). Errors: those of bramah_study_load and bramah_machine_load; E_REFERENCE (a joint, volume,
 * input or output that the machine has not), E_VALUE, E_UNIT, E_KEY, each with its line; those of
 * bramah_coupled_start and bramah_filter_new. */
BRAMAH_API bramah_status bramah_session_open(bramah_session *out, const char *path, bramah_diag *diag);
BRAMAH_API void bramah_session_close(bramah_session *session);

/* Put the session's plant, or another of its model, where the filter starts. Allocates nothing. Errors: those
 * of bramah_coupled_start. */
BRAMAH_API bramah_status bramah_session_start(const bramah_session *session, bramah_coupled *coupled,
                                              bramah_diag *diag);

/* Options of the session's filter, to make another (bramah_filter_new, on session->sensors); they point into
 * the session. */
BRAMAH_API bramah_filter_options bramah_session_filter_options(const bramah_session *session);

/* What the study's section `adapt` asks for, on the session's filter, which must outlive it; *out is NULL
 * where there is none. Release it with bramah_adaptive_free; it is told of every step (bramah/adaptive.h) and
 * does not go together with a rewind buffer. Errors: those of bramah_adaptive_new (E_VALUE: nothing is left to
 * adapt; a figure of zero stays zero), with their place. */
BRAMAH_API bramah_status bramah_session_new_adaptive(const bramah_session *session, bramah_diag *diag,
                                                     bramah_adaptive **out);

/* ---- its steps, for who wants to tell every mistake or to change something in between ---- */

/* All of it when session->study, which it takes over, and step_ns are there already and all else is zero. */
BRAMAH_API bramah_status bramah_session_open_study(bramah_session *session, bramah_diag *diag);

/* What comes after the machine, when session->machine is there too. */
BRAMAH_API bramah_status bramah_session_open_on_machine(bramah_session *session, bramah_diag *diag);

/* The same one after the other, in this order, each once; all need what stands before them to have gone well.
 * They take memory where that is said; bramah_session_close gives it back. Mistakes have their line.
 *
 * The study's machine with its changes, its model and plant. Takes memory. Errors: those of
 * bramah_machine_plant_open. bramah_study_check_inputs comes after it. */
BRAMAH_API bramah_status bramah_session_open_machine(bramah_session *session, bramah_diag *diag);
/* Memory for sensors, start values and augmented states. Errors: E_MEMORY. */
BRAMAH_API bramah_status bramah_session_make_room(bramah_session *session, bramah_diag *diag);
/* Sensor i < study->n_sensors on the plant. Errors: those of bramah_sensor_init. */
BRAMAH_API bramah_status bramah_session_bind_sensor(bramah_session *session, size_t i, bramah_diag *diag);
/* Augmented state i < study->n_augmented (the sensor of a bias must be bound), noise of parameter i <
 * study->n_parameter_noise. Errors: E_REFERENCE (no such parameter), E_UNIT, E_VALUE (limits). */
BRAMAH_API bramah_status bramah_session_bind_augmented(bramah_session *session, size_t i, bramah_diag *diag);
BRAMAH_API bramah_status bramah_session_bind_parameter_noise(bramah_session *session, size_t i,
                                                             bramah_diag *diag);
/* Start values of the joints; there must be as many as degrees of freedom. Errors: E_REFERENCE, E_UNIT (of
 * the other kind of joint), E_VALUE (too few or many; says which would do), E_MEMORY. */
BRAMAH_API bramah_status bramah_session_find_joints(bramah_session *session, bramah_diag *diag);
/* Start values of the volumes, each once. Errors: E_REFERENCE, E_KEY (one is missing). */
BRAMAH_API bramah_status bramah_session_find_volumes(bramah_session *session, bramah_diag *diag);
/* Plant to the start, filter on it. Takes memory. Errors: those of bramah_session_start, bramah_filter_new. */
BRAMAH_API bramah_status bramah_session_open_filter(bramah_session *session, bramah_diag *diag);

/* ---- inputs of a study ---- */

/* Every input that the study gives a column or calls unknown must exist. Errors: E_REFERENCE (with the
 * nearest name), E_VALUE (unknown, but the filter's transition cannot estimate it). */
BRAMAH_API bramah_status bramah_study_check_inputs(const bramah_study *study, const bramah_model *model,
                                                   bramah_diag *diag);

/* What the study says of an input whose command nobody knows; NULL: it is known. Its valves have no lag in
 * the filter's model: spools are no states of the filter, and the random walk can be as slow as they are. */
BRAMAH_API const bramah_study_augmented *bramah_study_unknown_input(const bramah_study *study,
                                                                    const char *input);
/* How many there are: they come first among the augmented states. */
BRAMAH_API size_t bramah_study_n_unknown_inputs(const bramah_study *study);

/* The sensor whose bias augmented state i of the study is; n_sensors for a parameter. */
BRAMAH_API size_t bramah_study_augmented_sensor(const bramah_study *study, size_t i);

#ifdef __cplusplus
}
#endif
#endif
