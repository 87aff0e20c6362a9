/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The point at which a machine is linearized, from the options that `bramah linearize` and `bramah modes`
 * share. */
#ifndef BRAMAH_LIB_CLI_OPERATING_POINT_H
#define BRAMAH_LIB_CLI_OPERATING_POINT_H

#include "bramah/linear.h"
#include "lib/cli/cli.h"

/* Lines of the option table of a command. */
#define CLI_OPERATING_POINT_OPTIONS                                                                          \
  {"at", "POINT", "start (default), a time (\"2 s\", simulated), FILE@TIME (a row of a log), or rest", 0,    \
   0},                                                                                                       \
      {"set", "PATH=VALUE", "another value for a key of the machine file", 0, 1},                            \
      {"parameter", "NAME=VALUE", "set a parameter of the plant at the start", 0, 1},                        \
      {"command", "NAME=VALUE", "another command [V] from the point on", 0, 1},                              \
      {"hold", "OUTPUT=VALUE", "search an equilibrium where an output has this value", 0, 1},                \
      {"free", "INPUT", "a command or parameter this search may choose", 0, 1},                              \
      {"input", "PARAMETER", "a parameter that counts as an input, a load say", 0, 1},                       \
  {                                                                                                          \
    "sensors", "STUDY", "also the sensors of this study as outputs", 0, 0                                    \
  }

/* bramah_operating_point_new as these options say. */
bramah_status cli_operating_point(const cli_arguments *arguments, bramah_operating_point **out,
                                  bramah_diag *diag);

/* "four-bar, linearized at 2 s" */
void cli_say_where(const cli_arguments *arguments, const bramah_operating_point *point, char *out,
                   size_t size);

#endif
