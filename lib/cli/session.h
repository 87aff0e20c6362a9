/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From files to a running plant and filter, in the steps in which mistakes are looked for: machine, study,
 * sensors, start, filter. Every message knows the file it comes from. */
#ifndef BRAMAH_LIB_CLI_SESSION_H
#define BRAMAH_LIB_CLI_SESSION_H

#include "bramah/coupled.h"
#include "bramah/files.h"
#include "lib/cli/augmented.h"

/* A machine with the plant made from it. */
typedef struct cli_machine {
  bramah_machine *machine;
  bramah_valve *valves; /* the machine's when they differ from its file, else NULL */
  const bramah_model *model;
  bramah_coupled *coupled;
  bramah_plant plant;
} cli_machine;

/* Load, compile, make the plant. step_ns 0: that of the file. Whatever was made is released by
 * cli_machine_close. */
bramah_status cli_machine_open(cli_machine *machine, const char *path, size_t n_changes,
                               const bramah_change *changes, int64_t step_ns, bramah_diag *diag);
void cli_machine_close(cli_machine *machine);

/* Start values of the filter, in the order the plant wants them. */
typedef struct cli_start {
  size_t *joints, *basis;  /* [n_position] index of the joint; of the output that is its position */
  double *position, *rate; /* [n_position] */
  double *position_sigma, *rate_sigma, *acceleration_noise; /* [n_position] */
  double *pressure, *pressure_sigma, *pressure_noise;       /* [n_pressure] */
} cli_start;

/* A study with its machine, sensors and filter. */
typedef struct cli_session {
  bramah_study *study;
  int64_t step_ns; /* of the plant; 0: the machine's */
  cli_machine machine;
  bramah_sensor *sensors; /* [study->n_sensors] */
  cli_start start;
  cli_augmented augmented;
  bramah_filter *filter;
} cli_session;

/* All of it, for a replay. Whatever was made is released by cli_session_close. */
bramah_status cli_session_open(cli_session *session, const char *path, bramah_diag *diag);
/* The same when session->study and step_ns are there already. */
bramah_status cli_session_open_study(cli_session *session, bramah_diag *diag);
void cli_session_close(cli_session *session);

/* The steps of it. */
bramah_status cli_session_open_machine(cli_session *session, bramah_diag *diag);
bramah_status cli_session_make_room(cli_session *session, bramah_diag *diag);
bramah_status cli_session_bind_sensor(cli_session *session, size_t i, bramah_diag *diag);
/* All augmented states and noise of parameters. */
bramah_status cli_session_bind_augmented(cli_session *session, bramah_diag *diag);
bramah_status cli_session_find_joints(cli_session *session, bramah_diag *diag);
bramah_status cli_session_find_volumes(cli_session *session, bramah_diag *diag);
bramah_status cli_session_open_filter(cli_session *session, bramah_diag *diag);

/* Put a plant of the session's model where the filter starts. */
bramah_status cli_session_start(const cli_session *session, bramah_coupled *coupled, bramah_diag *diag);

/* Name of the log's column for an input of the machine: "<input>.command" unless the study says otherwise.
 * *line of the study, 0 for the default. */
void cli_session_input_column(const bramah_study *study, const char *input, char *out, size_t n, int *line);
/* Every input the study gives a column or calls unknown must exist. */
bramah_status cli_session_check_inputs(const bramah_study *study, const bramah_model *model,
                                       bramah_diag *diag);

/* What the study says of an input whose command nobody knows; NULL: the log has it. Its valves have no lag in
 * the filter's model: spools are no states of the filter, and the random walk can be as slow as they are. */
const bramah_study_augmented *cli_session_unknown(const bramah_study *study, const char *input);

/* How many there are: they come first among the augmented states. */
size_t cli_session_n_unknown(const bramah_study *study);

/* Options of the session's filter; they point into the session. */
bramah_filter_options cli_session_filter_options(const cli_session *session);

/* The sensor of the session that measures this output and nothing else with weight 1, or -1. */
long cli_session_sensor_of(const cli_session *session, size_t output);

#endif
