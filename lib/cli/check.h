/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Explaining files in plain words. */
#ifndef BRAMAH_LIB_CLI_CHECK_H
#define BRAMAH_LIB_CLI_CHECK_H

#include "bramah/session.h"

/* What a machine consists of, after its loops were closed. */
void cli_explain_machine(const bramah_machine_plant *machine);

/* A log of n files and folders: columns, rows, times, samples. study NULL: only as the plain log of a machine
 * without study; sensors [n_sensors] of the study on the machine, those that cannot be are all zero. Mistakes
 * are reported as they are found; returns their number. */
int cli_explain_log(size_t n, const char *const *names, const bramah_machine_plant *machine,
                    const bramah_study *study, const bramah_sensor *sensors);

#endif
