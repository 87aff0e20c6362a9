/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _POSIX_C_SOURCE 200809L /* sigaction */
#include "lib/cli/tune_stop.h"

#include <signal.h>
#include <stddef.h>

static volatile sig_atomic_t asked;

static void hear(int signal)
{
  (void)signal;
  asked = 1;
}

/* A second one ends the program at once. */
void cli_tune_stop_listen(void)
{
  struct sigaction action = {.sa_handler = hear, .sa_flags = (int)SA_RESETHAND};
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, NULL);
  sigaction(SIGTERM, &action, NULL);
}

int cli_tune_stop_asked(void) { return asked != 0; }
