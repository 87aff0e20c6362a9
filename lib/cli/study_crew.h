/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BRAMAH_LIB_CLI_STUDY_CREW_H
#define BRAMAH_LIB_CLI_STUDY_CREW_H

#include <stddef.h>

/* Processors that are there to be used. */
size_t cli_crew_processors(void);

#endif
