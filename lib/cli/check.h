/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Parts of bramah check: check.c reads files and says what a study means, check_machine.c what a machine is, check_log.c
 * what a log holds and what of it all is doubted. */
#ifndef BRAMAH_LIB_CLI_CHECK_H
#define BRAMAH_LIB_CLI_CHECK_H

#include "bramah/log.h"
#include "bramah/session.h"

/* A standard deviation in a readable unit, and its share of a value that is not 0. */
void cli_print_sigma(double sigma, const char *si, double value);

/* Bodies, joints, hydraulics; the parameters too, if they are wanted. */
void cli_explain_machine(const bramah_machine_plant *machine, int parameters);

/* A log of n files and folders, read from its first row to its last without a filter. study NULL: only as the
 * plain log of a machine without study; sensors [n_sensors] of the study on the machine, those that cannot be are
 * all zero. Mistakes are reported as they are found; returns their number. */
int cli_explain_log(size_t n, const char *const *names, const bramah_machine_plant *machine,
                    const bramah_study *study, const bramah_sensor *sensors);

#endif
