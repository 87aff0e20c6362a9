/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Machine and study files (YAML). Part of libbramah-tools. */
#ifndef BRAMAH_FILES_H
#define BRAMAH_FILES_H

#include "bramah/filter.h"
#include "bramah/machine.h"
#include "bramah/sensor.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A value of a file to be read otherwise: `path` is the keys joined by dots ("bodies.crank.mass"), `value`
 * the text that stands there instead ("18 kg"). `file` and `line` say where the change was written, for
 * messages. */
typedef struct bramah_change {
  const char *path;
  const char *value;
  const char *file;
  int line;
} bramah_change;

/* Read a machine file, with the changes applied. Errors: E_FILE, E_SYNTAX, E_KEY, E_UNIT, E_VALUE,
 * E_REFERENCE; diag gives file, line, column and key. The machine owns its strings; release it with
 * bramah_machine_free. Does not compile it: bramah_model_new does and checks what the file cannot show. */
BRAMAH_API bramah_status bramah_machine_load(const char *path, size_t n_changes, const bramah_change *changes,
                                             bramah_diag *diag, bramah_machine **out);
BRAMAH_API void bramah_machine_free(bramah_machine *machine); /* NULL allowed */

/* Called for each mistake found in a file, in the order of the file's sections. */
typedef void (*bramah_mistake)(void *user, const bramah_diag *diag);

/* Read a machine or study file as *_load does, but go on after a mistake: every value that is wrong by
 * itself, every unknown, missing or doubled key and every name that refers to nothing is told. Returns OK if
 * there is none, else the status of the first; nothing is kept. What only the whole machine shows (a loop
 * that cannot close) is left to bramah_model_new. */
BRAMAH_API bramah_status bramah_machine_check(const char *path, size_t n_changes,
                                              const bramah_change *changes, bramah_mistake tell, void *user);
BRAMAH_API bramah_status bramah_study_check(const char *path, bramah_mistake tell, void *user);

/* Start values and uncertainty of one joint. */
typedef struct bramah_joint_start {
  const char *joint;
  int line;
  int revolute_unit;         /* 1 if the values were written in angle units, 0 in length units */
  int has_position;          /* 0: the machine file's initial position */
  double position;           /* [rad] or [m] */
  double rate;               /* [rad/s] or [m/s]; default 0 */
  double position_sigma;     /* > 0 */
  double rate_sigma;         /* > 0 */
  double acceleration_noise; /* [rad/s^2/sqrt(Hz)] or [m/s^2/sqrt(Hz)], >= 0 */
} bramah_joint_start;

/* Start value and uncertainty of one volume. */
typedef struct bramah_volume_start {
  const char *volume;
  int line;
  int has_pressure; /* 0: the machine file's */
  double pressure;  /* [Pa] */
  double sigma;     /* [Pa] > 0 */
  double noise;     /* [Pa/sqrt(s)] >= 0 */
} bramah_volume_start;

/* A column of the log and what it feeds. */
typedef struct bramah_study_column {
  const char *name;   /* as in the log's header, without unit */
  const char *target; /* input or sensor */
  int line;
} bramah_study_column;

/* A figure whose unit depends on the machine: the text that stands in the file, known to be a number with a
 * unit. Its value comes from bramah_quantity_parse with the unit that is expected. */
typedef struct bramah_study_figure {
  const char *text; /* NULL: not given */
  int line, column;
} bramah_study_figure;

/* Something estimated beside the state; see bramah_augmented. */
typedef struct bramah_study_augmented {
  const char *name;
  int line;
  bramah_augmented_kind kind;
  const char *at; /* parameter of the machine, or sensor of the study */
  int at_line;
  int order;                       /* 1 or 2; 0: not given */
  double time_constant;            /* [s], 0: a random walk */
  bramah_study_figure sigma;       /* in the unit of the parameter or sensor */
  bramah_study_figure noise;       /* unit/s^0.5, order 2: unit/s^1.5; may be missing: none */
  bramah_study_figure least, most; /* either may be missing */
} bramah_study_augmented;

/* White noise on a parameter of the machine. */
typedef struct bramah_study_parameter_noise {
  const char *at;
  int line;
  bramah_study_figure density; /* unit/Hz^0.5 */
} bramah_study_parameter_noise;

/* Noise that adapts while a log is replayed (bramah/adaptive.h): limits as factors on what the study states, [0, 0]: that
 * kind does not adapt. */
typedef struct bramah_study_adapt {
  int line;   /* 0: the study has no such section */
  int method; /* bramah_adaptive_method */
  int window; /* corrections; 0: default */
  double accelerations[2], pressures[2], sensors[2];
} bramah_study_adapt;

/* A study as its file has it. */
typedef struct bramah_study {
  const char *file;
  const char *name;
  const char *machine_file; /* path, relative ones taken from the folder of the study */
  size_t n_changes;         /* what the filter's model has otherwise than the machine file */
  const bramah_change *changes;
  const char *time_column; /* "t" */
  size_t n_inputs;         /* those with a column of another name than "<input>.command" */
  const bramah_study_column *inputs;
  size_t n_sensors;
  const bramah_sensor_options *sensors;
  const bramah_study_column *sensor_columns; /* [n_sensors] default: the sensor's name */
  bramah_transition transition;              /* this and the next ones as in bramah_filter_options */
  bramah_discretisation discretisation;
  bramah_covariance_form form;
  bramah_fusion fusion;
  int iterations, patience; /* 0: not given */
  const double *gate;       /* [n_sensors] 0: none */
  double drift_gate;        /* 0: none */
  int injection;            /* bramah_injection */
  bramah_study_adapt adapt;
  size_t n_augmented;
  const bramah_study_augmented *augmented;
  size_t n_parameter_noise;
  const bramah_study_parameter_noise *parameter_noise;
  size_t n_joints; /* as many as the machine has degrees of freedom: the coordinates the noise is meant in */
  const bramah_joint_start *joints;
  size_t n_volumes; /* every volume once */
  const bramah_volume_start *volumes;
} bramah_study;

/* Read a study file; the machine file is not opened. Errors as for bramah_machine_load. */
BRAMAH_API bramah_status bramah_study_load(const char *path, bramah_diag *diag, bramah_study **out);
/* The same with changes applied to the study file itself ("volumes.v1.noise"), which come before its own
 * `changes` of the machine. */
BRAMAH_API bramah_status bramah_study_load_changed(const char *path, size_t n_changes,
                                                   const bramah_change *changes, bramah_diag *diag,
                                                   bramah_study **out);
BRAMAH_API void bramah_study_free(bramah_study *study); /* NULL allowed */

#ifdef __cplusplus
}
#endif
#endif
