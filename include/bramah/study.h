/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Machine and study files (YAML), held in memory. Part of libbramah-tools. */
#ifndef BRAMAH_STUDY_H
#define BRAMAH_STUDY_H

#include "bramah/filter.h"
#include "bramah/log.h"
#include "bramah/machine.h"
#include "bramah/sensor.h"
#include "bramah/units.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- machine and study files ---- */

/* A value of a file to be read otherwise: `path` is the keys joined by dots ("bodies.crank.mass"), `value`
 * the text that is there instead ("18 kg"). `file` and `line` say where the change was written, for
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

/* Start values and uncertainty of one joint. */
typedef struct bramah_joint_start {
  const char *joint;
  int line;
  int slides;                /* 1: the values were written in units of length, 0: of angle */
  int has_position;          /* 0: the machine file's initial position */
  double position;           /* [rad] or [m] */
  int has_rate;              /* 0: the machine file's */
  double rate;               /* [rad/s] or [m/s] */
  double position_sigma;     /* > 0 */
  double rate_sigma;         /* > 0 */
  double acceleration_noise; /* [rad/s^2/sqrt(Hz)] or [m/s^2/sqrt(Hz)], >= 0 */
} bramah_joint_start;

/* An independent position of an FMU and its rate (bramah/fmu.h). */
typedef struct bramah_study_position {
  bramah_joint_start start; /* first: begins with name and line; also among the study's joints */
  const char *variable,
      *rate_variable; /* of the FMU; rate NULL: what the FMU calls the derivative of the position */
  double scale, rate_scale, period; /* 0: not given */
} bramah_study_position;

/* Start value and uncertainty of one volume. */
typedef struct bramah_volume_start {
  const char *volume;
  int line;
  int has_pressure; /* 0: the machine file's */
  double pressure;  /* [Pa] */
  double sigma;     /* [Pa] > 0; of a line, whose state is its flow, [m^3/s] */
  double noise;     /* [Pa/sqrt(s)] >= 0; [m^3/s/sqrt(s)] */
  int flow_unit;    /* 1: the units are those of a line */
} bramah_volume_start;

/* Bristles of a contact, tyre, brake or clutch as error states of the filter: uncertainty of each of them. */
typedef struct bramah_contact_start {
  const char *contact;
  int line;
  int turns;    /* 1: the values were written in units of angle, of a brake */
  double sigma; /* [m], of a brake [rad]; 0: a tenth of how far they bend before they slide */
  int has_noise;
  double noise; /* [m/sqrt(s)], [rad/sqrt(s)] > 0; not given: a hundredth of that, in a second */
} bramah_contact_start;

/* A value whose unit depends on the machine: the text of the file, known to be a number with a unit. What it is
 * in that unit is found when a session is made. */
typedef struct bramah_study_value {
  const char *text; /* NULL: not given */
  int line, column;
  int is_set; /* 1: by bramah_study_set; then `si` counts and not the text */
  double si;
  bramah_dimension dimension;
} bramah_study_value;

/* A column of the log and what it feeds: value = offset + sign * scale * column, in SI, or offset + sign * what the
 * straight line through two points has for the column; a pressure over the atmosphere has that added. A current
 * whose points begin above 0 (4 to 20 mA) measures nothing 10 % below the first or 5 % above the last of them. */
typedef struct bramah_study_column {
  const char *name;   /* as in the log's header, without unit */
  const char *target; /* input or sensor */
  int line;
  const char *file;             /* one of log.files, in which the column is; NULL: any that has it */
  const char *unit;             /* of the column; "counts": a bare number; NULL: that of the header */
  bramah_study_value scale;     /* its unit times that of the column is one of the target; not given: 1 */
  bramah_study_value offset;    /* in a unit of the target; not given: 0 */
  bramah_study_value wrap;      /* scale * column jumps by this much; without unit: the column does */
  double sign;                  /* 1 or -1 */
  int gauge;                    /* 1: the column tells the pressure over that of the atmosphere */
  bramah_study_value points[4]; /* instead of the scale: column, value, column, value; or not given */
  const char *measured;         /* of a sensor of type output: unit in which its sigma is given; else NULL */
} bramah_study_column;

/* The times of a log, or of one of its files. */
typedef struct bramah_study_time {
  const char *column; /* NULL: that of the log, "t" */
  int line;
  const char *unit;          /* NULL: that of the header; "iso8601" */
  bramah_study_value rate;   /* the column counts samples at this rate; not given: it holds times */
  bramah_study_value wrap;   /* the clock begins anew after so much; a counter: after so many */
  bramah_study_value offset; /* what is added to the times */
  double drift;              /* the clock gains so many seconds per second, counted from its first row */
  bramah_study_value origin; /* the log's time that is 0: "first" row, a time, an ISO 8601 text; see README */
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

/* An augmented state; see bramah_augmented. */
typedef struct bramah_study_augmented {
  const char *name;
  int line;
  bramah_augmented_kind kind;
  const char *at;    /* parameter of the machine, or sensor of the study */
  const char *input; /* the input whose unknown command this is (`at` is its offset), or NULL */
  int at_line;
  int order;                        /* 1 or 2; 0: not given */
  double time_constant;             /* [s], 0: a random walk */
  double frequency;                 /* [Hz], 0: not given; with it or a signal period `order` is 2 */
  bramah_study_value signal_period; /* in the unit of the sensor; may be missing */
  bramah_study_value sigma;         /* in the unit of the parameter or sensor */
  bramah_study_value noise;         /* unit/s^0.5, order 2 without these two: unit/s^1.5; may be missing */
  bramah_study_value least, most;   /* either may be missing */
} bramah_study_augmented;

/* How well a parameter of the machine is known, or a sensor: a standard deviation. */
typedef struct bramah_study_uncertain {
  const char *name; /* of the parameter */
  int is_stated;    /* of a sensor 0: the default */
  int line;         /* 0: by a change */
  double share;     /* of its value (of a payload: of the mass of its body); 0: fixed, or given by sigma */
  bramah_study_value sigma; /* in its unit; text NULL: a share */
} bramah_study_uncertain;

/* The section `uncertainty`: what the filter reckons with besides noise. */
typedef struct bramah_study_budget {
  /* 1: with what machine and study state, and the table of defaults for the rest. Default: of all filters with
   * BRAMAH_TRANSITION_STEP but the papers' preset */
  int is_on;
  int is_stated; /* 1: the study has this section */
  int line;
  int others_fixed; /* 1: no defaults */
  size_t n;
  const bramah_study_uncertain *parameters;
} bramah_study_budget;

/* A parameter of the machine with another value. */
typedef struct bramah_study_parameter {
  const char *name;
  int line;
  double share;             /* what is added, by its nominal value: -0.2 of "-20 %" */
  bramah_study_value value; /* the value itself, in its unit; text NULL: a share */
} bramah_study_parameter;

/* A model of the machine that may be the right one: it has these values, all else as stated. */
typedef struct bramah_study_hypothesis {
  const char *name;
  int line;
  double prior; /* probability before any measurement, > 0; those of all add up to 1 */
  size_t n;     /* 0: the machine as it is stated */
  const bramah_study_parameter *parameters;
} bramah_study_hypothesis;

/* The section `hypotheses`: models that a replay weighs against each other (bramah/hypotheses.h). */
typedef struct bramah_study_hypotheses {
  int line;
  size_t n; /* 0: there is no such section; else >= 2 */
  const bramah_study_hypothesis *list;
} bramah_study_hypotheses;

/* What a sensor may show wrong: a bias that walks, in its unit and its unit/s^0.5; a gain [1]; a delay [s]. */
typedef struct bramah_study_sensor_errors {
  bramah_study_uncertain bias, drift, gain, delay;
} bramah_study_sensor_errors;

/* When a phase begins or ends; see bramah_phase. */
typedef struct bramah_study_condition {
  const char *name; /* of an output of the machine, or of a sensor of the study */
  int line;
  bramah_study_value above, below; /* of an output, in its unit; either may be missing */
  double within;                   /* of a sensor: it was measured within so much [s]; 0: not given */
} bramah_study_condition;

/* The noise of an augmented state, a joint, a volume or a contact while a phase is on. */
typedef struct bramah_study_phase_process {
  const char *name;
  int line;
  bramah_study_value noise; /* as there, of a joint its acceleration_noise */
  double time_constant;     /* [s] of an augmented state; 0: as there */
} bramah_study_phase_process;

/* A phase of what the machine does. */
typedef struct bramah_study_phase {
  const char *name;
  int line;
  size_t n_begin, n_end; /* n_end 0: it ends when `begin` does not hold */
  const bramah_study_condition *begin, *end;
  double off_delay; /* [s] it stays on for so much longer */
  size_t n_augmented, n_joints, n_volumes, n_contacts;
  const bramah_study_phase_process *augmented, *joints, *volumes, *contacts;
} bramah_study_phase;

/* White noise on a parameter of the machine. */
typedef struct bramah_study_parameter_noise {
  const char *at;
  int line;
  bramah_study_value density; /* unit/Hz^0.5 */
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
  BRAMAH_TUNE_DEFAULT = 0, /* scoring for the likelihood, else the simplex */
  BRAMAH_TUNE_SCORING = 1, /* Fisher scoring by sensitivities of the innovations */
  BRAMAH_TUNE_SIMPLEX = 2  /* Nelder and Mead */
} bramah_tune_method;

/* A value of the study ("volumes.v1.noise") or, behind "machine.", of its machine file, that is to be
 * found. */
typedef struct bramah_study_tuned {
  const char *path;
  int line;
  bramah_study_value least, most; /* bounds */
  bramah_study_value step;        /* by which it is changed to see what changes; may be missing */
  int linear;                     /* 1: its scale is linear; 0: logarithmic */
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

/* A first-order state of an FMU, in the unit that the FMU gives it. */
typedef struct bramah_study_state {
  const char *name;
  int line;
  const char *variable;
  bramah_study_value start, scale; /* either may be missing */
  bramah_study_value sigma, noise; /* noise: unit/s^0.5 */
} bramah_study_state;

/* A name of the study for a variable of an FMU. */
typedef struct bramah_study_port {
  const char *name;
  int line;
  const char *variable;
} bramah_study_port;

/* A parameter of an FMU that starts with another value, in the FMU's unit. */
typedef struct bramah_study_fmu_value {
  const char *variable;
  int line;
  double value;
} bramah_study_fmu_value;

/* The section `plant`: an FMU instead of a machine. */
typedef struct bramah_study_plant {
  int line; /* 0: the study has no such section, but a machine */
  const char *fmu;
  int64_t step_ns; /* 0: not given */
  int differences, isolate;
  double time_limit; /* 0: not given */
  size_t n_positions, n_states, n_inputs, n_outputs, n_parameters, n_values;
  const bramah_study_position *positions;
  const bramah_study_state *states;
  const bramah_study_port *inputs, *outputs, *parameters;
  const bramah_study_fmu_value *values;
} bramah_study_plant;

/* A study as its file has it. */
typedef struct bramah_study {
  const char *file;
  const char *name;
  const char
      *machine_file; /* path, relative ones taken from the folder of the study; of an FMU its archive */
  bramah_study_plant plant;
  size_t n_changes; /* what the filter's model has otherwise than the machine file */
  const bramah_change *changes;
  /* what a machine that is simulated in place of the real one has otherwise than the machine file */
  size_t n_simulated;
  const bramah_change *simulated;
  const char *time_column; /* "t" */
  bramah_study_time time;  /* its column is time_column */
  bramah_study_log log;
  size_t n_inputs; /* those with a column of another name than "<input>.command", or with a unit and scale;
                      unknown ones are augmented states */
  const bramah_study_column *inputs;
  size_t n_sensors;
  const bramah_sensor_options *sensors;
  const bramah_study_column *sensor_columns; /* [n_sensors] default: the sensor's name */
  const bramah_study_sensor_errors *errors;  /* [n_sensors] */
  bramah_study_budget uncertainty;
  bramah_study_hypotheses hypotheses;
  bramah_transition transition; /* this and the next ones as in bramah_filter_options */
  bramah_discretisation discretisation;
  bramah_covariance_form form;
  bramah_fusion fusion;
  int iterations, patience; /* 0: not given */
  const double *gate;       /* [n_sensors] 0: none */
  double drift_gate;        /* 0: none */
  int injection;            /* bramah_injection */
  bramah_study_adapt adapt;
  size_t n_augmented, n_unknown_inputs; /* the unknown inputs are the first ones */
  const bramah_study_augmented *augmented;
  size_t n_phases;
  const bramah_study_phase *phases;
  size_t n_parameter_noise;
  const bramah_study_parameter_noise *parameter_noise;
  size_t n_joints; /* as many as the machine has degrees of freedom: the coordinates the noise is meant in */
  const bramah_joint_start *joints;
  size_t n_volumes; /* every volume once */
  const bramah_volume_start *volumes;
  size_t n_contacts; /* whose bristles are error states */
  const bramah_contact_start *contacts;
  bramah_study_tune tune;
  const char *display_file; /* as machine_file; NULL: none */
} bramah_study;

/* Read a study file, with changes of the file itself applied ("volumes.v1.noise"), which come before its own
 * `changes` of the machine; the machine file is not opened. Errors as for bramah_machine_load. */
BRAMAH_API bramah_status bramah_study_load(const char *path, size_t n_changes, const bramah_change *changes,
                                           bramah_diag *diag, bramah_study **out);
BRAMAH_API void bramah_study_free(bramah_study *study); /* NULL allowed */

/* ---- a study in memory ----
 *
 * A study keeps what its file held when it was read, and so it does with its machine file from the first time
 * that one is needed; neither is read again. Values are changed in memory, by references. */

/* A single value of the study ("volumes.v1.noise", "sensors.p2.sigma") or, behind "machine.", of its machine
 * with the study's changes ("machine.hydraulics.oil.bulk_modulus"). Good for the study it was found in and its
 * copies; texts live as long as that study. */
typedef struct bramah_study_ref {
  const char *path;
  const char *text; /* as it is written */
  int line;         /* in its file, 0: unknown */
  int is_number;    /* 0: a word; then what follows means nothing */
  double number;    /* as written, before its unit */
  const char *unit; /* as written, "" for none */
  double factor;    /* of the unit, to SI */
  bramah_dimension dimension;
  int in_machine;
  size_t depth;
  unsigned short at[16]; /* [depth] which element, from the root down */
} bramah_study_ref;

/* Find a value by its path: keys joined by dots, elements of lists by their number from 0; "changes." is
 * followed by a path of the machine. Errors: E_KEY (nothing there; suggests the nearest key), E_VALUE (keys
 * and values or a list are there), E_UNIT; those of reading the machine file. */
BRAMAH_API bramah_status bramah_study_find(bramah_study *study, const char *path, bramah_study_ref *out,
                                           bramah_diag *diag);

/* A value for a reference: `si` (with the dimension of the reference), or `text` where that is not NULL, as a
 * file would have it. */
typedef struct bramah_study_setting {
  const bramah_study_ref *ref;
  double si;
  const char *text;
} bramah_study_setting;

/* Set values, all or none; of several for one place the last one counts. Whatever points into the study
 * (names, arrays) is to be fetched anew. Errors: those of bramah_study_load, with the place of the value. What
 * a value of the machine is worth shows when a session is made. */
BRAMAH_API bramah_status bramah_study_set(bramah_study *study, size_t n, const bramah_study_setting *settings,
                                          bramah_diag *diag);

/* A study of its own with the same values; the original, which holds the contents of the files, must outlive
 * it. Copies may be made and set on threads of their own. Errors: E_MEMORY; those of reading the machine file. */
BRAMAH_API bramah_status bramah_study_copy(bramah_study *study, bramah_diag *diag, bramah_study **out);

#ifdef __cplusplus
}
#endif
#endif
