/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Native code for programs (bramah/coupled.h): compiled by the C compiler of this computer, kept in a folder of the user's,
 * loaded and tried. What is there already is in use at once; the rest is compiled by a thread in the background when the
 * program has been in use for a while, so that short runs lose nothing, and taken over while plants run. Whatever fails
 * leaves the program as it was. */
#ifndef BRAMAH_LIB_IO_NATIVE_H
#define BRAMAH_LIB_IO_NATIVE_H

#include "bramah/coupled.h"
#include "bramah/session.h"

typedef struct bramah__native_code bramah__native_code;

/* For a program, until it is freed. NULL: switched off by BRAMAH_NATIVE=off, or no memory. */
bramah__native_code *bramah__native_code_open(bramah_program *program);

/* Ends what is being compiled; before the program is freed, after the plants that use it. NULL allowed. */
void bramah__native_code_close(bramah__native_code *code);

/* What has come of it so far. */
bramah_native_report bramah__native_code_report(bramah__native_code *code);

#endif
