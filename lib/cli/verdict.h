/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whether a filter that ran may be believed: its innovations and, where there is a truth, its errors against
 * what it says of them. A statistical band alone would fail any filter on a long enough log, so each check
 * has a tolerance an engineer can live with beside it; it fails beyond both. */
#ifndef BRAMAH_LIB_CLI_VERDICT_H
#define BRAMAH_LIB_CLI_VERDICT_H

#include "lib/cli/accuracy.h"
#include "lib/cli/events.h"
#include "lib/cli/nees.h"

/* datasets/README.md tells why these figures. */
#define CLI_NIS_LEAST (1.0 / 9.0) /* of what the gates leave: innovations a third as large as believed */
#define CLI_NIS_MOST 2.25         /* 1.5 times as large */
#define CLI_LAG_MOST 0.7          /* half the variance of an innovation is known from the one before */
#define CLI_HELD_BACK_MOST 10     /* % of the samples of a sensor */
#define CLI_WITHIN_LEAST 90       /* % of the errors of an output within 2 * 1.96 sigma: twice as large */
#define CLI_NEES_MOST 4.0         /* per degree of freedom: errors twice as large */
enum { CLI_JUDGED_FROM = 50 };    /* samples */

typedef struct cli_verdict_check {
  const char *what;  /* "mean NIS" */
  char at[CLI_CELL]; /* the sensor or output, or "" */
  const char *unit;
  double value, least, most; /* tolerated; most infinite: no limit */
  int passed;
} cli_verdict_check;

typedef struct cli_verdict {
  size_t n, room, failed;
  cli_verdict_check *check;
} cli_verdict;

/* accuracy and nees: NULL without a truth. Released by cli_verdict_free. A check that cannot be made (too few
 * samples) is left out. */
cli_verdict cli_verdict_make(const cli_consistency *consistency, const cli_events *events,
                             const cli_accuracy *accuracy, const cli_nees *nees, const bramah_filter *filter);
void cli_verdict_free(cli_verdict *verdict);

/* "consistent", or what failed. */
void cli_verdict_print(const cli_verdict *verdict, FILE *file);
/* Of each kind of check the one that is nearest to its limit, or furthest beyond. */
cli_table cli_verdict_table(const cli_verdict *verdict);
/* "0.25 to 2", "at most 10" */
const char *cli_verdict_tolerated(const cli_verdict_check *check, char *text, size_t size);

#endif
