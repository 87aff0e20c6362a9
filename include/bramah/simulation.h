/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Simulating a machine: its true motion as a file and, on request, what the noisy sensors of a study would have
 * logged of it. Part of libbramah-tools. */
#ifndef BRAMAH_SIMULATION_H
#define BRAMAH_SIMULATION_H

#include "bramah/log.h"
#include "bramah/session.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A parameter of the plant that is set at a time. */
typedef struct bramah_timed_parameter {
  size_t index;
  double value; /* [SI] */
  int64_t time_ns;
} bramah_timed_parameter;

/* What is simulated in addition to the motion, and where it goes. */
typedef struct bramah_simulation_options {
  const char *truth; /* file for the true motion, a row per step; "-": standard output; NULL: none */
  /* which outputs go there, as bramah_log_choose_columns; NULL: all but the hidden ones */
  const char *columns;
  size_t n_parameters;
  const bramah_timed_parameter *parameters;
  const char *study; /* study file whose sensors measure; NULL: none */
  /* file for what they log; required with `study`, but where bramah_simulation_sample takes it; NULL: none */
  const char *log;
  int exact; /* 1: numbers of the log have all digits, so that a filter on it has the bits of one that got samples */
  uint64_t seed;     /* of the noise; 1 */
  int process_noise; /* 1: the process noise that the study assumes acts on the machine */
  /* Called for each row, after its values are known and before they are written: u [n_input of the plant] has the commands
   * that the machine plans from this time on, to be changed at will. An error ends the run. NULL: nobody does. */
  bramah_status (*commands)(void *user, int64_t time_ns, double *u, bramah_diag *diag);
  void *user; /* of `commands` */
} bramah_simulation_options;
/* Files, parameters, noise and other commands: none; seed 1. */
BRAMAH_API void bramah_simulation_options_default(bramah_simulation_options *options);

typedef struct bramah_simulation bramah_simulation;

/* Prepare a simulation of the machine's plant from where it is now, at t = 0, with the commands the machine
 * plans; the machine must outlive it. Files are created. The same seed gives the same bytes, and the noise of
 * a sensor does not depend on the other sensors. options NULL: default. Errors: those of bramah_log_create,
 * bramah_study_load, bramah_sensor_init, with process noise those of bramah_session_open; E_UNSUPPORTED (a study whose
 * log is not one file with commas, a header and plain seconds); E_MEMORY. */
BRAMAH_API bramah_status bramah_simulation_new(const bramah_machine_plant *machine,
                                               const bramah_simulation_options *options, bramah_diag *diag,
                                               bramah_simulation **out);

/* Write the next row: the first call that at t = 0, each other one after a step. A row shows the parameters
 * and commands that hold from its time on. Errors: those of the plant's step and set_parameter, of writing. */
BRAMAH_API bramah_status bramah_simulation_next(bramah_simulation *simulation, bramah_diag *diag);

/* The next row as a bramah_source (bramah/replay.h) whose user is the simulation: what the sensors of `study`, which is required,
 * say of it, in SI with all digits; it has no end. A filter can so run on a machine that is simulated along with it. Files for
 * the truth and the log are written. Errors: those of bramah_simulation_next. */
BRAMAH_API bramah_status bramah_simulation_sample(void *simulation, bramah_sample *sample, int *end,
                                                  bramah_diag *diag);

/* From the next row on nothing comes from a sensor of the study, as with its plug pulled, or it comes again. No other sensor's noise
 * depends on it. A sensor that is not there: nothing happens. */
BRAMAH_API void bramah_simulation_unplug(bramah_simulation *simulation, size_t sensor, int is_unplugged);

/* What was logged is handed to the system now. Errors: E_FILE. */
BRAMAH_API bramah_status bramah_simulation_flush(bramah_simulation *simulation, bramah_diag *diag);

/* A sensor of the noisy log. Periods and delays are the nearest multiples of the plant's step. */
typedef struct bramah_simulated_sensor {
  const char *name;
  int64_t period_ns, wanted_period_ns; /* 0: every step */
  int64_t delay_ns, wanted_delay_ns;
  uint64_t samples, saturated; /* saturated: at the ends of its range */
} bramah_simulated_sensor;

/* Largest estimated local error of a step in an output (bramah_coupled_step_error), and the end of that step. */
typedef struct bramah_output_error {
  size_t output; /* of the plant: position or rate of a joint, first-order state */
  double largest;
  int64_t time_ns;
} bramah_output_error;

/* What a simulation came to so far. */
typedef struct bramah_simulation_result {
  uint64_t rows;
  int64_t time_ns;      /* of the last row */
  double violation;     /* largest of a loop [m or rad] */
  bramah_energy energy; /* at the rows */
  size_t n_errors;
  const bramah_output_error *errors;         /* [n_errors] */
  bramah_limit_event limit[BRAMAH_N_LIMITS]; /* at the rows */
  size_t n_sensors;                          /* of the study; 0 without one */
  const bramah_simulated_sensor *sensors;    /* [n_sensors] of the noisy log; NULL: none */
  /* what the study's filter has otherwise than this machine, which is simulated as its own file has it */
  size_t n_changes;
  const bramah_change *changes; /* [n_changes] */
} bramah_simulation_result;
/* Of the rows written so far. */
BRAMAH_API bramah_simulation_result bramah_simulation_get_result(const bramah_simulation *simulation);

/* Close the files and release it (NULL allowed); rows written stay written. Errors: E_FILE. */
BRAMAH_API bramah_status bramah_simulation_close(bramah_simulation *simulation, bramah_diag *diag);

#ifdef __cplusplus
}
#endif
#endif
