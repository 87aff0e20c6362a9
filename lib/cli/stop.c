/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _XOPEN_SOURCE 700 /* sigaction, SA_RESETHAND */
#include "lib/cli/stop.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

/* Any thread may take the signal and any other look: sig_atomic_t is enough for one alone. */
static atomic_int came;
static atomic_int nothing = -1; /* descriptor of a file that is empty */
#if ATOMIC_INT_LOCK_FREE != 2
#error "a signal handler may use atomic objects only where they take no lock"
#endif

static void handle(int number)
{
  const int kept = errno;
  came = number;
  if (nothing >= 0) dup2(nothing, STDIN_FILENO);
  errno = kept;
}

/* Who starts us may want a signal ignored: a shell does so for what runs in the background, nohup too. */
static void catch_one(int number)
{
  struct sigaction action = {.sa_handler = handle, .sa_flags = (int)SA_RESETHAND}, before;
  sigemptyset(&action.sa_mask);
  if (sigaction(number, NULL, &before) == 0 && before.sa_handler == SIG_IGN) return;
  sigaction(number, &action, NULL);
}

void cli_stop_catch(void)
{
  nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
  catch_one(SIGINT);
  catch_one(SIGTERM);
  catch_one(SIGHUP);
}

int cli_stop_signal(void) { return came; }

const char *cli_stop_name(void)
{
  switch (cli_stop_signal()) {
  case SIGTERM:
    return "SIGTERM";
  case SIGHUP:
    return "SIGHUP";
  default:
    return "SIGINT";
  }
}
