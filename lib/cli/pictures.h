/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Plots of a report as a picture. */
#ifndef BRAMAH_LIB_CLI_PICTURES_H
#define BRAMAH_LIB_CLI_PICTURES_H

#include "bramah/report.h"

/* Does the path end as a picture that can be written? */
int cli_is_picture(const char *path);

/* Write all plots, or those of these titles (separated by commas; NULL: all). Errors: those of
 * bramah_report_write_picture. */
bramah_status cli_write_picture(const bramah_report *report, const char *path, const char *titles,
                                bramah_diag *diag);

#endif
