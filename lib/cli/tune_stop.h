/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Ctrl-C and SIGTERM ask a tuning run to end: what is finished is in the journal. */
#ifndef BRAMAH_LIB_CLI_TUNE_STOP_H
#define BRAMAH_LIB_CLI_TUNE_STOP_H

void cli_tune_stop_listen(void);
int cli_tune_stop_asked(void);

#endif
