/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Being stopped from outside (Ctrl-C, kill): a run ends at its next step and finishes its files. */
#ifndef BRAMAH_LIB_CLI_STOP_H
#define BRAMAH_LIB_CLI_STOP_H

/* Take SIGINT, SIGTERM and SIGHUP from now on, once each, unless they are ignored: the second one ends the
 * program at once. Standard input then reads as ended, so that nobody waits for a row that does not come. */
void cli_stop_catch(void);
/* The signal that came, 0: none. */
int cli_stop_signal(void);
/* "SIGINT" */
const char *cli_stop_name(void);

#endif
