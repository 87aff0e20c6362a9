/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Progress on the terminal, clocks, and being stopped from outside. */
#define _DEFAULT_SOURCE   /* _SC_NPROCESSORS_ONLN */
#define _XOPEN_SOURCE 700 /* sigaction, SA_RESETHAND, clock_gettime, isatty */
#include "lib/cli/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* ---- progress ---- */

enum { BAR = 30, LINE = 90 };

double cli_clock(void)
{
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

cli_progress cli_progress_begin(int64_t total_ns)
{
  const double now = cli_clock();
  return (cli_progress){
      .shown = isatty(STDERR_FILENO), .total_ns = total_ns, .start = now, .next = now + 0.3};
}

/* How long the rest takes at this speed. */
static const char *remaining(double rest, double speed, char *text, size_t size)
{
  const double seconds = speed > 0.0 && rest > 0.0 ? rest / speed : 0.0;
  const long whole = seconds < 3.6e8 ? (long)(seconds + 0.5) : 0;
  if (whole < 60)
    snprintf(text, size, "%ld s", whole);
  else if (whole < 3600)
    snprintf(text, size, "%ld:%02ld min", whole / 60, whole % 60);
  else
    snprintf(text, size, "%ld:%02ld h", whole / 3600, whole % 3600 / 60);
  return text;
}

void cli_progress_update(cli_progress *progress, int64_t done_ns)
{
  if (!progress->shown) return;
  const double now = cli_clock();
  if (now < progress->next) return;
  const double done = 1e-9 * (double)done_ns, speed = done / (now - progress->start);
  double part = progress->total_ns ? (double)done_ns / (double)progress->total_ns : 0.0;
  if (part > 1.0) part = 1.0;
  char bar[BAR + 1] = "";
  memset(bar, '#', (size_t)(part * BAR));
  char left[32];
  if (progress->total_ns)
    fprintf(stderr, "\r[%-*s] %3.0f %%  %.6g s, %.3g x real time, %s left  ", BAR, bar, 100.0 * part, done,
            speed, remaining(1e-9 * (double)progress->total_ns - done, speed, left, sizeof left));
  else
    fprintf(stderr, "\r%.6g s, %.3g x real time  ", done, speed);
  fflush(stderr);
  progress->drawn = 1;
  progress->next = now + 0.1;
}

void cli_progress_end(cli_progress *progress)
{
  if (progress->drawn) fprintf(stderr, "\r%*s\r", LINE, "");
  progress->drawn = progress->shown = 0;
}

/* ---- stopping ---- */

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

/* ---- processors ---- */

size_t cli_processors(void)
{
  const long n = sysconf(_SC_NPROCESSORS_ONLN);
  return n > 0 ? (size_t)n : 1;
}
