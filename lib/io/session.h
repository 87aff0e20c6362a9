/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Parts of bramah/session.h and bramah/study.h that only the library uses. */
#ifndef BRAMAH_LIB_IO_SESSION_H
#define BRAMAH_LIB_IO_SESSION_H

#include "bramah/sensor_study.h"
#include "bramah/session.h"

/* Start values of the filter, in the order the plant wants them. */
typedef struct bramah__start_values {
  size_t *joints, *basis;  /* [n_position] index of the joint; of the output that is its position */
  double *position, *rate; /* [n_position] [rad] or [m], and per second */
  double *position_sigma, *rate_sigma, *acceleration_noise; /* [n_position] */
  double *pressure, *pressure_sigma,
      *pressure_noise; /* [n_first_order] [Pa], [Pa], [Pa/sqrt(s)]; of an FMU NaN: its own start */
} bramah__start_values;

/* Augmented states and noise on parameters, bound to the machine. */
typedef struct bramah__bound_augmented {
  bramah_augmented *states; /* [study->n_augmented], then [n_budget] of the uncertainty budget */
  const char **unit;        /* likewise, of their values */
  size_t n_budget;
  unsigned char *is_stated;      /* [n_budget] 1: by a file, 0: a default */
  char *names;                   /* of errors of sensors */
  bramah_parameter_noise *noise; /* [study->n_parameter_noise] */
  const char **noise_unit;       /* [study->n_parameter_noise] of the parameters */
} bramah__bound_augmented;

/* The study's phases, bound to machine and sensors. */
typedef struct bramah__bound_phases {
  bramah_phase *phases; /* [study->n_phases] */
  bramah_condition *conditions;
  bramah_phase_process *processes;
} bramah__bound_phases;

/* A parameter that a hypothesis of the study gives a value. */
typedef struct bramah__fixed {
  size_t hypothesis, parameter;
  double value; /* SI */
} bramah__fixed;

struct bramah_session {
  const bramah_session *shares; /* of a clone: whose study, model and sensors these are; else NULL */
  bramah_study *study;
  int64_t step_ns; /* of the plant; 0: the machine's */
  bramah_machine_plant machine;
  bramah_sensor *sensors; /* [study->n_sensors] */
  bramah__start_values start;
  bramah__bound_augmented augmented;
  bramah__bound_phases phases;
  size_t n_fixed;
  bramah__fixed *fixed; /* [n_fixed] of all hypotheses, or of a candidate of a tuning */
  size_t holds;         /* the number of the hypothesis that this session is of, plus 1; 0: none */
  bramah_filter *filter;
  bramah_session_parts parts; /* for the user */
};

/* Steps of opening a session whose study and machine are there and all else is zero, in this order.
 * bramah_session_close releases what they take. */
bramah_status bramah__session_make_room(bramah_session *session, bramah_diag *diag);
bramah_status bramah__session_find_joints(bramah_session *session, bramah_diag *diag);
bramah_status bramah__session_find_volumes(bramah_session *session, bramah_diag *diag);
/* The augmented states of the study's uncertainty budget behind those it lists itself, in the arrays of the session,
 * which have room for them. Errors: E_REFERENCE, E_UNIT, E_VALUE with their places. */
bramah_status bramah__session_take_budget(bramah_session *session, bramah_diag *diag);

/* The study's phases, after its sensors and augmented states. Errors: E_REFERENCE, E_UNIT, E_VALUE with their places. */
bramah_status bramah__session_take_phases(bramah_session *session, bramah_diag *diag);

/* Names and values of the study's hypotheses. Errors: E_REFERENCE, E_UNIT, E_VALUE with their places. */
bramah_status bramah__session_take_hypotheses(bramah_session *session, bramah_diag *diag);
/* Has any of them a value for this parameter of the plant? */
int bramah__session_is_fixed(const bramah_session *session, size_t parameter);
/* Values of the one that holds, into a plant of the session's model. Errors: those of the plant's set_parameter. */
bramah_status bramah__session_apply_hypothesis(const bramah_session *session, const bramah_plant *plant,
                                               bramah_diag *diag);
/* What needs the machine itself refuses a study with an FMU. Errors: E_UNSUPPORTED, with its place. */
bramah_status bramah__refuse_fmu(const bramah_study *study, const char *what, bramah_diag *diag);
/* What goes by one model refuses a study with hypotheses. Errors: E_UNSUPPORTED, with its place. */
bramah_status bramah__refuse_hypotheses(const bramah_study *study, const char *what, bramah_diag *diag);

/* The machine's program of a scope; NULL: it cannot be compiled, or is faster without. */
bramah_program *bramah__machine_program(const bramah_machine_plant *machine, bramah_program_scope scope,
                                        size_t n_par, const size_t *par);

/* Another plant of a machine or an FMU, not yet at a start. Errors: E_MEMORY, those of bramah_fmu_plant_new. */
bramah_status bramah__machine_another(const bramah_machine_plant *machine, bramah_diag *diag,
                                      bramah_another_plant *out);

/* All of it; all after the machine. */
bramah_status bramah__session_open_study(bramah_session *session, bramah_diag *diag);
bramah_status bramah__session_open_on_machine(bramah_session *session, bramah_diag *diag);

/* The sensor that shows this output of the plant and nothing else; -1: none does. */
long bramah__session_sensor_of_output(const bramah_session *session, size_t output);

/* ---- studies ---- */

/* Take a sensor out of a study, as if its file had none of this name, and no bias of it among the augmented states. Errors: E_REFERENCE
 * (there is none), E_VALUE (no other one is left). */
bramah_status bramah__study_leave_out(bramah_study *study, const char *sensor, bramah_diag *diag);

/* The study's machine with its changes and what was set, from memory. */
bramah_status bramah__study_load_machine(bramah_study *study, bramah_diag *diag, bramah_machine **out);

/* A number for what is in memory: the contents of the study and its machine file and all values that were
 * set. Errors: those of reading the machine file. */
bramah_status bramah__study_hash(bramah_study *study, uint64_t *out, bramah_diag *diag);

/* The number of a value, in SI, where a unit of the dimension of `expected` is wanted ("m", "Pa"). Errors:
 * E_UNIT, E_VALUE, without a place. */
bramah_status bramah__study_value_get(const bramah_study_value *value, const char *expected, double *si,
                                      bramah_diag *diag);

/* Every input that the study gives a column or calls unknown must exist. Errors: E_REFERENCE (with the
 * nearest name), E_VALUE (unknown, but the filter's transition cannot estimate it). */
bramah_status bramah__study_check_inputs(const bramah_study *study, const bramah_plant *plant,
                                         bramah_diag *diag);
/* Input i of a plant, and its unit (SI). */
const char *bramah__input_name(const bramah_plant *plant, size_t i);
const char *bramah__input_unit(const bramah_plant *plant, size_t i);

/* The largest limit and dead band of the valves that an input moves [V]; 0: it moves none. */
typedef struct bramah__input_reach {
  double limit, dead_band;
} bramah__input_reach;
bramah__input_reach bramah__input_reach_of(const bramah_machine *machine, const char *input);

/* What the study says of an input whose command nobody knows; NULL: it is known. Its valves have no lag in
 * the filter's model: spools are no states of the filter, and the random walk can be as slow as they are. */
const bramah_study_augmented *bramah__study_unknown_input(const bramah_study *study, const char *input);

/* ---- files ---- */

/* As bramah_machine_load and bramah_study_load do, but go on after a mistake; see bramah_file_check. */
bramah_status bramah__machine_check(const char *path, size_t n_changes, const bramah_change *changes,
                                    bramah_mistake tell, void *user);
bramah_status bramah__study_check(const char *path, bramah_mistake tell, void *user);

/* Read a plan of a sensor study; no other file is opened. Errors as for bramah_machine_load. */
bramah_status bramah__plan_load(const char *path, bramah_diag *diag, bramah_plan **out);
void bramah__plan_free(bramah_plan *plan); /* NULL allowed */

/* ---- a file of which some values are exchanged; all else, comments included, stays as written ---- */

typedef struct bramah__edit bramah__edit;

/* Edit the file of a study as it is in memory; the study must outlive the edit. Errors: E_MEMORY. */
bramah_status bramah__edit_study(const bramah_study *study, bramah_diag *diag, bramah__edit **out);
/* The same of a file that was read. */
struct bramah__source; /* lib/io/yaml.h */
bramah_status bramah__edit_source(const struct bramah__source *source, bramah_diag *diag, bramah__edit **out);
void bramah__edit_free(bramah__edit *edit); /* NULL allowed */

/* Write another value at a path of keys joined by dots ("volumes.v1.noise", elements of lists by their index;
 * behind "changes." all that follows is one key), and a comment line above it (NULL: none). A key that `changes`
 * does not have yet is added, the section too. Of several values for one place the last one counts. Texts are
 * copied. Errors: E_KEY (nothing there; suggests the nearest key), E_VALUE (keys and values or a list are
 * there), E_UNSUPPORTED where an alias shares the value with another place, where a value is empty or goes over
 * several lines, or where a key to be added has more than 600 characters or its value more than 100. */
bramah_status bramah__edit_set(bramah__edit *edit, const char *path, const char *value, const char *comment,
                               bramah_diag *diag);

/* Write the text with all changes, `head` (NULL: none) as a comment in front, to a file ("-": standard
 * output). Errors: E_FILE, E_MEMORY. */
bramah_status bramah__edit_write(const bramah__edit *edit, const char *path, const char *head,
                                 bramah_diag *diag);

#endif
