/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The point at which a machine is linearized, from the options that `bramah linearize` and `bramah modes`
 * share. */
#ifndef BRAMAH_LIB_CLI_OPERATING_POINT_H
#define BRAMAH_LIB_CLI_OPERATING_POINT_H

#include "bramah/linear.h"
#include "lib/cli/linear_sensors.h"
#include "lib/cli/parameters.h"
#include "bramah/session.h"

typedef struct cli_operating_point {
  bramah_machine_plant machine;
  cli_parameters parameters;
  bramah_linearization *linearization;
  const bramah_linear_system *base;   /* all outputs that have a derivative */
  const bramah_linear_system *system; /* the same, or with sensors behind */
  int has_sensors;
  cli_linear_sensors sensors;
  bramah_equilibrium_report rest;
  bramah_trim trim; /* if something is held or free */
  size_t *columns;  /* parameters that are inputs */
  double *work;
  int at_rest;    /* 1: an equilibrium was searched for */
  char file[512]; /* of a log, "": none */
  int64_t file_ns;
  char what[160]; /* "at 2 s", "at rest" */
} cli_operating_point;

/* Lines of the option table of a command. */
#define CLI_OPERATING_POINT_OPTIONS                                                                          \
  {"at", "POINT", "start (default), a time (\"2 s\", simulated), FILE@TIME (a row of a log), or rest", 0,    \
   0},                                                                                                       \
      {"set", "PATH=VALUE", "another value for a key of the machine file; may be repeated", 0, 1},           \
      {"parameter", "NAME=VALUE", "set a parameter of the plant at the start; may be repeated", 0, 1},       \
      {"command", "NAME=VALUE", "another command [V] from the point on; may be repeated", 0, 1},             \
      {"hold", "OUTPUT=VALUE", "search an equilibrium where an output has this value; may be repeated", 0,   \
       1},                                                                                                   \
      {"free", "INPUT", "a command or parameter this search may choose; may be repeated", 0, 1},             \
      {"input", "PARAMETER", "a parameter that counts as an input, a load say; may be repeated", 0, 1},      \
  {                                                                                                          \
    "sensors", "STUDY", "also the sensors of this study as outputs", 0, 0                                    \
  }

/* All of it; returns the exit code, with the message printed. Released by cli_operating_point_close in any
 * case. */
int cli_operating_point_open(const cli_arguments *arguments, cli_operating_point *point);
void cli_operating_point_close(cli_operating_point *point);

/* Search the equilibrium again, where one was asked for, and linearize: after a change of parameters. */
bramah_status cli_operating_point_again(cli_operating_point *point, bramah_diag *diag);

/* Index of an input or output of the linear system; the message suggests the nearest. An input may be named
 * without ".command". */
bramah_status cli_find_linear_input(const bramah_linear_system *system, const char *name, size_t *out,
                                    bramah_diag *diag);
bramah_status cli_find_linear_output(const bramah_linear_system *system, const char *name, size_t *out,
                                     bramah_diag *diag);

#endif
