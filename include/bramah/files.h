/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Machine and study files (YAML). Part of libbramah-tools. */
#ifndef BRAMAH_FILES_H
#define BRAMAH_FILES_H

#include "bramah/filter.h"
#include "bramah/log.h"
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
 * there is none, else the status of the first; nothing is kept. After 1000 mistakes it stops. What only the
 * whole machine shows (a loop that cannot close) is left to bramah_model_new. */
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

/* A figure whose unit depends on the machine: the text that stands in the file, known to be a number with a
 * unit. Its value comes from bramah_quantity_parse with the unit that is expected. */
typedef struct bramah_study_figure {
  const char *text; /* NULL: not given */
  int line, column;
} bramah_study_figure;

/* A column of the log and what it feeds: value = offset + sign * scale * column, in SI; a pressure over the
 * atmosphere has that added. */
typedef struct bramah_study_column {
  const char *name;   /* as in the log's header, without unit */
  const char *target; /* input or sensor */
  int line;
  const char *file;           /* one of log.files, in which the column stands; NULL: wherever it does */
  const char *unit;           /* of the column; "counts": a bare number; NULL: that of the header */
  bramah_study_figure scale;  /* its unit times that of the column is one of the target; not given: 1 */
  bramah_study_figure offset; /* in a unit of the target; not given: 0 */
  bramah_study_figure wrap;   /* scale * column jumps by this much; without unit: the column does */
  double sign;                /* 1 or -1 */
  int gauge;                  /* 1: the column tells the pressure over that of the atmosphere */
} bramah_study_column;

/* The times of a log, or of one of its files. */
typedef struct bramah_study_time {
  const char *column; /* NULL: that of the log, "t" */
  int line;
  const char *unit;           /* NULL: that of the header; "iso8601" */
  bramah_study_figure rate;   /* the column counts samples at this rate; not given: it holds times */
  bramah_study_figure wrap;   /* the clock begins anew after so much; a counter: after so many */
  bramah_study_figure offset; /* what is added to the times */
  double drift;               /* the clock gains so many seconds per second, counted from its first row */
  bramah_study_figure
      origin; /* the log's time that is 0: "first" row, a time, an ISO 8601 text; see README */
} bramah_study_time;

/* One file of a log, or several that follow each other. */
typedef struct bramah_study_file {
  const char *name;
  int line;
  const char *match; /* pattern of file names: imu*.csv */
  bramah_log_format format;
  bramah_study_time time;
} bramah_study_file;

typedef enum bramah_log_resets { BRAMAH_LOG_RESETS_ERROR = 0, BRAMAH_LOG_RESETS_JOIN } bramah_log_resets;

/* How logs are written, and what is done about what is wrong with them. */
typedef struct bramah_study_log {
  int line;                 /* 0: the study has no such section */
  bramah_log_format format; /* of files that match no entry */
  int64_t reorder_ns;       /* rows that come so much late are put in order; 0: none */
  int64_t longest_gap_ns;   /* a longer one is an error; default 10 s */
  bramah_log_resets resets;
  double atmosphere; /* [Pa] absolute; default 1.01325 bar */
  size_t n_files;
  const bramah_study_file *files;
} bramah_study_log;

/* Something estimated beside the state; see bramah_augmented. */
typedef struct bramah_study_augmented {
  const char *name;
  int line;
  bramah_augmented_kind kind;
  const char *at;    /* parameter of the machine, or sensor of the study */
  const char *input; /* the input whose unknown command this is (`at` is its offset), or NULL */
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

/* Noise that adapts while a log is replayed (bramah/adaptive.h): limits as factors on what the study states,
 * [0, 0]: that kind does not adapt. */
typedef struct bramah_study_adapt {
  int line;   /* 0: the study has no such section */
  int method; /* bramah_adaptive_method */
  int window; /* corrections; 0: default */
  double accelerations[2], pressures[2], sensors[2];
} bramah_study_adapt;

/* How `bramah tune` goes about it. */
typedef enum bramah_tune_criterion {
  BRAMAH_TUNE_LIKELIHOOD = 0, /* of the innovations */
  BRAMAH_TUNE_NIS = 1,        /* how far their squares are from being chi-square */
  BRAMAH_TUNE_RMSE = 2,       /* errors against a truth */
  BRAMAH_TUNE_PREDICTION = 3  /* errors of predictions some steps ahead */
} bramah_tune_criterion;

typedef enum bramah_tune_method {
  BRAMAH_TUNE_DEFAULT = 0,    /* scoring for the likelihood, else the simplex */
  BRAMAH_TUNE_SCORING = 1,    /* Fisher scoring by sensitivities of the innovations */
  BRAMAH_TUNE_SIMPLEX = 2,    /* Nelder and Mead */
  BRAMAH_TUNE_MULTISTART = 3, /* the simplex from several starts */
  BRAMAH_TUNE_GLOBAL = 4      /* controlled random search */
} bramah_tune_method;

/* A figure of the study ("volumes.v1.noise") or, behind "machine.", of its machine file, that is to be
 * found. */
typedef struct bramah_study_tuned {
  const char *path;
  int line;
  bramah_study_figure least, most; /* bounds */
  bramah_study_figure step;        /* by which it is changed to see what changes; may be missing */
  int linear;                      /* 1: its scale is linear; 0: logarithmic */
  size_t n_also;
  const char *const *also; /* further paths that take the same value */
} bramah_study_tuned;

/* The section `tune` of a study. */
typedef struct bramah_study_tune {
  int line; /* 0: the study has no such section */
  bramah_tune_criterion criterion;
  bramah_tune_method method;
  double penalty; /* on noise given to a sensor that is white already; -1: not given */
  double settle;  /* [s] from the start of each log: not judged */
  int ahead;      /* steps of a prediction; 0: not given */
  size_t n_outputs;
  const char *const *outputs; /* compared with the truth; none: positions, rates and pressures */
  size_t n_parameters;
  const bramah_study_tuned *parameters;
} bramah_study_tune;

/* A study as its file has it. */
typedef struct bramah_study {
  const char *file;
  const char *name;
  const char *machine_file; /* path, relative ones taken from the folder of the study */
  size_t n_changes;         /* what the filter's model has otherwise than the machine file */
  const bramah_change *changes;
  const char *time_column; /* "t" */
  bramah_study_time time;  /* its column is time_column */
  bramah_study_log log;
  size_t n_inputs; /* those with a column of another name than "<input>.command", or with a unit and scale;
                      unknown ones are augmented states */
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
  size_t n_augmented; /* unknown inputs first */
  const bramah_study_augmented *augmented;
  size_t n_parameter_noise;
  const bramah_study_parameter_noise *parameter_noise;
  size_t n_joints; /* as many as the machine has degrees of freedom: the coordinates the noise is meant in */
  const bramah_joint_start *joints;
  size_t n_volumes; /* every volume once */
  const bramah_volume_start *volumes;
  bramah_study_tune tune;
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
