/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _XOPEN_SOURCE 700 /* sigaction, SA_RESETHAND */
#include "lib/cli/stop.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

static volatile sig_atomic_t came;
static volatile sig_atomic_t nothing = -1; /* descriptor of a file that is empty */

static void handle(int number)
{
  const int kept = errno;
  came = number;
  if (nothing >= 0) dup2(nothing, STDIN_FILENO);
  errno = kept;
}

void cli_stop_catch(void)
{
  struct sigaction action = {.sa_handler = handle, .sa_flags = (int)SA_RESETHAND};
  nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, NULL);
  sigaction(SIGTERM, &action, NULL);
}

int cli_stop_signal(void) { return came; }

const char *cli_stop_name(void) { return came == SIGTERM ? "SIGTERM" : "SIGINT"; }
