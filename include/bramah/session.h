/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From files to a running filter: what was tuned on logs with a study file runs in a program with the same
 * file, to the last digit. Part of libbramah-tools. Memory is taken while opening and never afterwards.
 *
 *   bramah_session *s;
 *   if (bramah_session_open("boom-study.yaml", &diag, &s)) ... diag says what and where ...
 *   bramah_filter_step(bramah_session_filter(s), &cycle, &result, &diag);    again and again
 *   bramah_session_close(s);
 *
 * Nothing is shared between sessions (but see bramah_session_clone); each may live on a thread of its own. */
#ifndef BRAMAH_SESSION_H
#define BRAMAH_SESSION_H

#include "bramah/adaptive.h"
#include "bramah/coupled.h"
#include "bramah/study.h"
#include "bramah/filter.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- a machine file and the plant made from it ---- */

/* To be read only; its parts point into each other. */
typedef struct bramah_machine_plant {
  bramah_machine *machine;
  bramah_valve *valves;             /* the machine's when they differ from its file, else NULL */
  bramah_metered_cylinder *metered; /* likewise */
  const bramah_model *model;
  bramah_coupled *coupled;
  bramah_plant plant;
} bramah_machine_plant;

/* Load, compile, make the plant; it is where the machine file says. step_ns 0: that of the file. *out is
 * filled whatever it held before, and is released by bramah_machine_plant_close, after an error too. Errors:
 * those of bramah_machine_load, bramah_model_new, E_MEMORY. */
BRAMAH_API bramah_status bramah_machine_plant_open(bramah_machine_plant *out, const char *path,
                                                   size_t n_changes, const bramah_change *changes,
                                                   int64_t step_ns, bramah_diag *diag);
BRAMAH_API void bramah_machine_plant_close(bramah_machine_plant *machine);

/* ---- a study with its machine, sensors and filter ---- */

typedef struct bramah_session bramah_session;

/* Read the study file and its machine, and put the filter at the study's start, t = 0. Inputs are those of
 * the machine in its order (bramah_model_input_name), sensors those of the study in its order. Not set up
 * here: `adapt` (bramah_session_new_adaptive), `log` (bramah/log.h), and the buffer that sensors with a
 * `delay` need (bramah/replay.h). Errors (*out is NULL then): those of bramah_study_load and
 * bramah_machine_load; E_REFERENCE (a joint, volume, input or output that the machine has not), E_VALUE,
 * E_UNIT, E_KEY, each with its line; those of bramah_coupled_start and bramah_filter_new. */
BRAMAH_API bramah_status bramah_session_open(const char *path, bramah_diag *diag, bramah_session **out);

/* The same from a study in memory, which becomes the session's, after an error too. step_ns: of the plant; 0:
 * that of the machine. Errors: those of bramah_session_open but for the study file. */
BRAMAH_API bramah_status bramah_session_new(bramah_study *study, int64_t step_ns, bramah_diag *diag,
                                            bramah_session **out);

/* Another plant and filter at the study's start, on study, model and sensors of `session`, which must outlive
 * it. Clones of one session may live on threads of their own. Errors: E_MEMORY, those of
 * bramah_coupled_start. */
BRAMAH_API bramah_status bramah_session_clone(const bramah_session *session, bramah_diag *diag,
                                              bramah_session **out);

BRAMAH_API void bramah_session_close(bramah_session *session); /* NULL allowed */

/* Read a study file and all it names and go on after a mistake: what bramah_study_check and
 * bramah_machine_check tell and, if that is nothing, every name and unit of the study that does not fit the
 * machine. Returns OK if there is no mistake, else the status of the first. */
BRAMAH_API bramah_status bramah_session_check(const char *path, bramah_mistake tell, void *user);

/* Its parts; they live as long as the session. */
BRAMAH_API const bramah_study *bramah_session_study(const bramah_session *session);
BRAMAH_API const bramah_machine_plant *bramah_session_machine(const bramah_session *session);
BRAMAH_API const bramah_model *bramah_session_model(const bramah_session *session);
BRAMAH_API const bramah_plant *bramah_session_plant(const bramah_session *session);
BRAMAH_API bramah_coupled *bramah_session_coupled(const bramah_session *session);
BRAMAH_API bramah_filter *bramah_session_filter(const bramah_session *session);
BRAMAH_API size_t bramah_session_n_sensors(const bramah_session *session);
/* [n_sensors] in the order of the study. */
BRAMAH_API const bramah_sensor *bramah_session_sensors(const bramah_session *session);

/* Index by name, -1: there is none. */
BRAMAH_API long bramah_session_find_input(const bramah_session *session, const char *name);
BRAMAH_API long bramah_session_find_sensor(const bramah_session *session, const char *name);
/* The sensor that shows this output of the plant and nothing else; -1: none does. */
BRAMAH_API long bramah_session_sensor_of_output(const bramah_session *session, size_t output);

/* Joint i of the study: the output of the plant that is its position (its rate is the next one), and where it
 * starts [rad] or [m]. */
BRAMAH_API size_t bramah_session_joint_output(const bramah_session *session, size_t i);
BRAMAH_API double bramah_session_joint_start(const bramah_session *session, size_t i);

/* Unit (SI) of augmented state i of the study; of the parameter that noise i of the study acts on. */
BRAMAH_API const char *bramah_session_augmented_unit(const bramah_session *session, size_t i);
BRAMAH_API const char *bramah_session_noise_unit(const bramah_session *session, size_t i);

/* Put the session's plant, or another of its model, where the filter starts. Allocates nothing. Errors: those
 * of bramah_coupled_start. */
BRAMAH_API bramah_status bramah_session_start(const bramah_session *session, bramah_coupled *coupled,
                                              bramah_diag *diag);

/* Options of the session's filter, to make another (bramah_filter_new, on bramah_session_sensors); they point
 * into the session. */
BRAMAH_API bramah_filter_options bramah_session_filter_options(const bramah_session *session);

/* What the study's section `adapt` asks for, on the session's filter, which must outlive it; *out is NULL
 * where there is none. Release it with bramah_adaptive_free; it is told of every step (bramah/adaptive.h) and
 * does not go together with a rewind buffer. Errors: those of bramah_adaptive_new (E_VALUE: nothing is left to
 * adapt; a noise of zero stays zero), with their place. */
BRAMAH_API bramah_status bramah_session_new_adaptive(const bramah_session *session, bramah_diag *diag,
                                                     bramah_adaptive **out);

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

#ifdef __cplusplus
}
#endif
#endif
