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
  bramah_transition transition;
  size_t n_joints; /* as many as the machine has degrees of freedom: the coordinates the noise is meant in */
  const bramah_joint_start *joints;
  size_t n_volumes; /* every volume once */
  const bramah_volume_start *volumes;
} bramah_study;

/* Read a study file; the machine file is not opened. Errors as for bramah_machine_load. */
BRAMAH_API bramah_status bramah_study_load(const char *path, bramah_diag *diag, bramah_study **out);
/* The same with changes applied to the study file itself ("volumes.v1.noise"), which come before its own `changes` of
 * the machine. */
BRAMAH_API bramah_status bramah_study_load_changed(const char *path, size_t n_changes,
                                                   const bramah_change *changes, bramah_diag *diag,
                                                   bramah_study **out);
BRAMAH_API void bramah_study_free(bramah_study *study); /* NULL allowed */

#ifdef __cplusplus
}
#endif
#endif
