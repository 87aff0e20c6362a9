/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _POSIX_C_SOURCE 200809L /* clock_gettime, isatty */
#include "lib/cli/progress.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

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

static void draw(const cli_progress *progress, int64_t done_ns, double now)
{
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
}

void cli_progress_update(cli_progress *progress, int64_t done_ns)
{
  if (!progress->shown) return;
  const double now = cli_clock();
  if (now < progress->next) return;
  draw(progress, done_ns, now);
  progress->drawn = 1;
  progress->next = now + 0.1;
}

void cli_progress_end(cli_progress *progress)
{
  if (progress->drawn) fprintf(stderr, "\r%*s\r", LINE, "");
  progress->drawn = progress->shown = 0;
}
